"""norch.draw_graph: its text and DOT to the letter, its pictures without overlaps, its summaries, its errors."""

from __future__ import annotations

import random
import re
import sys
import xml.etree.ElementTree as ET

import pytest

import norch
from norch import nn
from norch.display.graph.layout import arrange

SVG = "{http://www.w3.org/2000/svg}"

CUBES_TEXT = """\
3 operations, 2 leaves
x  = leaf         [2, 3]
y  = leaf         [2, 3]
%1 = sub(x, y)    [2, 3]
%2 = pow(%1, 3)   [2, 3]
%3 = sum(%2)      []"""

CUBES_DOT = """\
digraph autograd {
  node [shape=box, style="rounded,filled", fontname="monospace", fontsize=11];
  edge [color="#8a97a5"];
  n0 [label="x\\n[2, 3]", fillcolor="#e7f5ea", color="#2f855a"];
  n1 [label="y\\n[2, 3]", fillcolor="#e7f5ea", color="#2f855a"];
  n2 [label="sub\\n[2, 3]", fillcolor="#e6f0fa", color="#2b6cb0"];
  n3 [label="pow(·, 3)\\n[2, 3]", fillcolor="#e6f0fa", color="#2b6cb0"];
  n4 [label="sum\\n[]", fillcolor="#e6f0fa", color="#2b6cb0"];
  n0 -> n2;
  n1 -> n2;
  n2 -> n3;
  n3 -> n4;
}"""

MLP_TEXT = """\
4 operations, 4 leaves
0.weight = parameter                          [8, 2]
0.bias   = parameter                          [8]
%1       = linear([4, 2], 0.weight, 0.bias)   [4, 8]
%2       = tanh(%1)                           [4, 8]
2.weight = parameter                          [1, 8]
2.bias   = parameter                          [1]
%3       = linear(%2, 2.weight, 2.bias)       [4, 1]
%4       = mse(%3, [4, 1])                    []"""

SHARED_TEXT = """\
4 operations, 1 leaf
%1 = leaf          [2]
h  = exp(%1)       [2]
%2 = mul(h, h)     [2]
%3 = add(%2, h)    [2]
%4 = mul(%3, %1)   [2]"""

CHAIN_TEXT = """\
100,001 operations, 1 leaf
x       = leaf           [2]
%1      = sin(x)         [2]
…         sin, 99,999 times more
%100001 = sum(%100000)   []"""


def cubes():
    x = norch.Tensor([[1, 2, 3], [3, 2, 1]], requires_grad=True)
    y = norch.Tensor([[3, 2, 1], [1, 2, 3]], requires_grad=True)
    return ((x - y) ** 3).sum(), {"x": x, "y": y}


def leaf(*shape):
    return norch.ones(*shape, requires_grad=True)


def mlp():
    model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
    return nn.MSELoss()(model(norch.zeros(4, 2)), norch.zeros(4, 1)), model


def chain(length, x, step=lambda y: y.sin()):
    y = x
    for _ in range(length):
        y = step(y)
    return y.sum()


# ---- What is drawn --------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("no_leak")
def test_the_article_s_graph():
    loss, names = cubes()
    drawing = norch.draw_graph(loss, params=names)
    assert str(drawing) == repr(drawing) == drawing.text == CUBES_TEXT
    assert drawing.dot == str(norch.draw_graph(loss, "dot", names)) == CUBES_DOT
    assert drawing.svg == str(norch.draw_graph(loss, "svg", names)) == drawing._repr_svg_()


@pytest.mark.usefixtures("no_leak")
@pytest.mark.parametrize("naming", [lambda m: m, lambda m: dict(m.named_parameters()), lambda m: m.named_parameters()])
def test_a_model_with_the_names_of_its_parameters(naming):
    loss, model = mlp()
    assert str(norch.draw_graph(loss, params=naming(model))) == MLP_TEXT


def test_a_shared_node_is_drawn_once_and_every_use_of_it():
    x = leaf(2)
    h = x.exp()
    drawing = norch.draw_graph((h * h + h) * x, params={"h": h})
    assert str(drawing) == SHARED_TEXT
    assert re.findall(r"n\d -> n\d", drawing.dot) == [
        "n0 -> n1",
        "n1 -> n2",
        "n1 -> n2",
        "n2 -> n3",
        "n1 -> n3",
        "n3 -> n4",
        "n0 -> n4",
    ]
    assert '"h = exp\\n[2]"' in drawing.dot


def test_operands_without_gradient_are_told_in_the_operation():
    x, mask, label = leaf(2), norch.tensor([True, False]), norch.tensor([1.0, 2.0], dtype=norch.float64)
    text = str(norch.draw_graph(norch.where(mask, x, 0.5) - label, params={"label": label}))
    assert "%2 = where([2] bool, %1, 0.5)   [2]\n" in text
    assert "%3 = sub(%2, label)             [2] float64" in text


def test_dtype_and_device_are_told_where_they_are_unusual(device):
    x = norch.ones(2, dtype=norch.float64, device=device, requires_grad=True)
    suffix = "" if device == "cpu" else f" {x.device}"
    assert str(norch.draw_graph(x * 2)).splitlines()[1:] == [
        f"%1 = leaf         [2] float64{suffix}",
        f"%2 = mul(%1, 2)   [2] float64{suffix}",
    ]


def test_a_leaf_alone():
    assert str(norch.draw_graph(leaf(2, 3), params={"w": 1 * leaf(1)})) == "0 operations, 1 leaf\n%1 = leaf   [2, 3]"


SHAPES = {  # a result that nobody holds, whose shape only its users can tell
    "kept by the user": (lambda y: y * y, "[2, 3]"),
    "the user changes no shape": (lambda y: y.tanh(), "[2, 3]"),
    "softmax": (lambda y: y.softmax(1), "[2, 3]"),
    "summed": (lambda y: y.sum(), "[2, 3]"),
    "reshaped": (lambda y: y.reshape(6), "[2, 3]"),
    "a slice": (lambda y: y[:, 1:], "[2, 3]"),
    "one row": (lambda y: y[0], "[2, 3]"),
    "gathered": (lambda y: y[norch.tensor([1, 1])], "[2, 3]"),
    "reversed": (lambda y: y.T.exp(), "[2, 3]"),
    "transposed": (lambda y: y.transpose(0, 1), "[2, 3]"),
    "joined": (lambda y: norch.cat([y, norch.zeros(1, 3)]), ""),  # nothing says how much was whose
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_of_results_that_nobody_holds(name):
    use, expected = SHAPES[name]
    last = use(leaf(3, 2).reshape(2, 3).neg())
    lines = str(norch.draw_graph(last)).splitlines()
    line = next(line for line in lines if "neg" in line)
    assert line.split(")")[1].strip() == expected


def test_a_custom_operation_has_its_own_name():
    class Square(norch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            return 2 * x * gradient

    assert "%2 = square(%1)   [3]" in str(norch.draw_graph(Square.apply(leaf(3))))


def test_a_module_with_hooks():
    layer = nn.Linear(2, 2)
    layer.register_full_backward_hook(lambda *gradients: None)
    text = str(norch.draw_graph(layer(leaf(3, 2)).sum(), params=layer))
    assert "= module(%1)" in text and "= linear(%3, weight, bias)" in text and "= module_output(%4, %2)" in text


def test_no_value_is_read_and_nothing_is_changed():
    loss, names = cubes()
    before = [t._version for t in (loss, *names.values())]
    norch.draw_graph(loss, params=names)
    assert [t._version for t in (loss, *names.values())] == before
    loss.backward()
    assert names["x"].grad.tolist() == [[12, 0, 12], [12, 0, 12]]


def test_a_drawing_keeps_nothing_alive():
    before = norch.memory_allocated()
    loss, names = cubes()
    drawing = norch.draw_graph(loss, params=names)
    assert norch.memory_allocated() > before
    del loss, names
    assert norch.memory_allocated() == before
    assert str(drawing) == CUBES_TEXT


# ---- Freed graphs and other errors ----------------------------------------------------------------------------------


def test_a_freed_graph():
    loss, _ = cubes()
    loss.backward()
    with pytest.raises(RuntimeError, match="draw_graph: this graph was freed by a backward.*retain_graph=True"):
        norch.draw_graph(loss)


def test_a_part_that_was_freed_is_marked():
    x = leaf(2)
    h = x.exp()
    h.sum().backward()
    drawing = norch.draw_graph((h + x).sum())
    assert "%1 = exp (freed)" in str(drawing)
    assert 'label="exp (freed)\\n[2]"' in drawing.dot
    boxes_of(drawing.svg)


def test_a_retained_graph_is_drawn():
    loss, names = cubes()
    loss.backward(retain_graph=True)
    assert str(norch.draw_graph(loss, params=names)) == CUBES_TEXT


BAD = {
    "no graph": (lambda: norch.draw_graph(norch.ones(2)), RuntimeError, "does not require gradients"),
    "no tensor": (lambda: norch.draw_graph([1]), TypeError, "draw_graph: expected a Tensor, got list"),
    "format": (lambda: norch.draw_graph(leaf(1), "png"), ValueError, "format is 'png', expected one of 'text'"),
    "max_nodes": (lambda: norch.draw_graph(leaf(1), max_nodes=3), ValueError, "max_nodes is 3, expected at least 4"),
    "half a node": (lambda: norch.draw_graph(leaf(1), max_nodes=9.5), TypeError, "max_nodes is 9.5, expected an int"),
    "params": (lambda: norch.draw_graph(leaf(1), params=3), TypeError, "params is an int, expected a Module"),
    "a tensor": (lambda: norch.draw_graph(leaf(1), params=leaf(1)), TypeError, "params is a Tensor, expected a Module"),
    "no pairs": (lambda: norch.draw_graph(leaf(1), params=[leaf(1)]), TypeError, "not a pair"),
    "no value": (lambda: norch.draw_graph(leaf(1), params={"x": 1}), TypeError, r"params\['x'\] is an int"),
}


@pytest.mark.usefixtures("no_leak")
@pytest.mark.parametrize("name", BAD)
def test_bad_arguments(name):
    call, error, message = BAD[name]
    with pytest.raises(error, match=message):
        call()


# ---- Long graphs ----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("no_leak")
def test_a_chain_of_100_000_operations():
    x = leaf(2)
    loss = chain(100_000, x)
    drawing = norch.draw_graph(loss, params={"x": x})
    assert str(drawing) == CHAIN_TEXT
    assert len(boxes_of(drawing.svg)) == 4


def test_a_picture_of_many_nodes_where_one_asks_for_it():
    drawing = norch.draw_graph(chain(3 * sys.getrecursionlimit(), leaf(2)), max_nodes=10**6)
    assert len(boxes_of(drawing.svg, overlaps=False)) == 3 * sys.getrecursionlimit() + 2


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(4, 8), nn.Linear(8, 4)

    def forward(self, x):
        return x + self.down(self.up(x).relu())


def test_blocks_that_repeat_are_folded():
    net = nn.Sequential(*[Block() for _ in range(12)], nn.Linear(4, 3))
    loss = nn.CrossEntropyLoss()(net(norch.zeros(5, 4)), norch.tensor([0, 1, 2, 0, 1]))
    full, short = norch.draw_graph(loss, params=net), norch.draw_graph(loss, params=net, max_nodes=30)
    assert len(str(full).splitlines()) == 101
    lines = str(short).splitlines()
    assert len(lines) <= 31
    assert "…               the 4 operations before, 11 times more (22 linear, 11 relu, 11 add, 44 leaves)" in lines
    words = [line.split() for line in str(full).splitlines()]
    assert [line for line in lines if line.split() not in words] == [lines[9]]  # nothing else is told differently
    assert lines[-1].split() == words[-1]


def test_the_steps_of_a_recurrent_cell_are_folded():
    cell, state = nn.LSTMCell(4, 8), None
    for x in norch.zeros(30, 2, 4):
        state = cell(x, state)
    text = str(norch.draw_graph(state[0].sum(), max_nodes=40))
    assert "the 17 operations before, 29 times more (116 output, 87 sigmoid, 87 mul, 203 others)" in text


def test_the_layers_of_a_transformer_are_folded():
    layer = nn.TransformerEncoderLayer(8, 2, dim_feedforward=16, batch_first=True)
    encoder = nn.TransformerEncoder(layer, num_layers=6)
    drawing = norch.draw_graph(encoder(norch.ones(2, 5, 8)).sum(), params=encoder, max_nodes=100)
    assert "operations before, 4 times more (" in str(drawing) and "48 leaves)" in str(drawing)
    assert "layers.0.self_attn.in_proj_weight" in str(drawing) and "layers.1." not in str(drawing)
    boxes_of(drawing.svg)


def random_graph(rng, size):
    values = [leaf(2) for _ in range(4)]
    for _ in range(size):
        a, b = rng.choice(values[-9:]), rng.choice(values[-9:])
        make = [lambda: a * b, lambda: a + b, lambda: a.sin(), lambda: norch.stack([a, b, a]).sum(0)]  # noqa: B023
        values.append(rng.choice(make)())
    last = values[-1]
    for value in values[-9:-1]:
        last = last + value
    return last


@pytest.mark.parametrize("seed", range(4))
def test_summaries_of_any_graph_fit_and_stay_graphs(seed):
    rng = random.Random(seed)
    tensor = random_graph(rng, 120)
    lines = str(norch.draw_graph(tensor, max_nodes=10**6)).splitlines()
    for most in (4, 5, 8, 13, 40, 90):
        drawing = norch.draw_graph(tensor, max_nodes=most)
        found = str(drawing).splitlines()
        assert len(found) <= most + 1 and found[0] == lines[0]
        assert found[-1].split() == lines[-1].split()  # the result is always shown
        edges = [tuple(map(int, edge)) for edge in re.findall(r"n(\d+) -> n(\d+)", drawing.dot)]
        assert all(source < target for source, target in edges)  # operands first: no cycle
        reached = {len(found) - 2}
        for source, target in sorted(edges, key=lambda edge: -edge[1]):
            reached |= {source} if target in reached else set()
        assert reached == set(range(len(found) - 1))  # and all of it behind the result
        boxes_of(drawing.svg)


def test_an_operation_with_many_operands():
    joined = norch.cat([leaf(1) for _ in range(500)]).sum()
    lines = str(norch.draw_graph(joined, max_nodes=10)).splitlines()
    assert lines[2].split() == ["…", "499", "leaves", "more"]
    assert lines[3].split("   ")[0] == "%501 = cat(%1, %2, %3, %4, %5, %6, 493 more, %500)"
    boxes_of(norch.draw_graph(joined, max_nodes=400).svg)


# ---- Pictures and files ---------------------------------------------------------------------------------------------


def boxes_of(svg, overlaps=True):
    """The boxes of a picture, which must be well-formed; they lie inside of it and, looked at in pairs, apart."""
    root = ET.fromstring(svg)
    width, height = float(root.get("width")), float(root.get("height"))
    rects = [[float(rect.get(name)) for name in ("x", "y", "width", "height")] for rect in root.findall(f"{SVG}rect")]
    frame, *boxes = rects
    assert frame == [0.5, 0.5, width - 1, height - 1]
    for x, y, w, h in boxes:
        assert 0 < x and x + w < width and 0 < y and y + h < height
    if overlaps:
        for i, (x, y, w, h) in enumerate(boxes):
            for a, b, c, d in boxes[:i]:
                assert x + w < a or a + c < x or y + h < b or b + d < y
    return boxes


def test_a_picture_says_what_the_text_says():
    loss, model = mlp()
    svg = norch.draw_graph(loss, params=model).svg
    assert len(boxes_of(svg)) == 8
    texts = [text.text for text in ET.fromstring(svg).findall(f"{SVG}text")]
    assert texts[:4] == ["0.weight", "[8, 2]", "0.bias", "[8]"]
    assert "linear([4, 2], ·, ·)" in texts and "mse(·, [4, 1])" in texts
    assert len(ET.fromstring(svg).findall(f"{SVG}polygon")) == 7  # an arrow for each operand with a gradient


def test_edges_of_a_picture_run_between_boxes():
    x = leaf(2)
    h = x.sin()
    deep = h
    for _ in range(4):
        deep = deep.exp() * leaf(2)
    svg = norch.draw_graph(deep + h).svg
    boxes = boxes_of(svg)
    for path in ET.fromstring(svg).findall(f"{SVG}path"):
        for x, top in re.findall(r"([\d.]+) ([\d.]+) V", path.get("d")):  # where an edge passes a layer
            assert not any(a < float(x) < a + w and b <= float(top) <= b + h for a, b, w, h in boxes)


def test_names_of_any_kind_stay_inside_their_box_and_the_picture_well_formed():
    names = ['<&">', "\x00\x1b", "\ud800", "层.权重" * 6, "a\nb", "x" * 200, "\\"]
    leaves = [leaf(1) for _ in names]
    total = leaves[0]
    for other in leaves[1:]:
        total = total + other
    drawing = norch.draw_graph(total, params=dict(zip(names, leaves)))
    boxes_of(drawing.svg)
    assert len(str(drawing).splitlines()) == 1 + 2 * len(names) - 1
    assert '"<&\\">\\n[1]"' in drawing.dot and '"\\\\\\n[1]"' in drawing.dot


def test_save(tmp_path):
    loss, names = cubes()
    drawing = norch.draw_graph(loss, params=names)
    for ending, kind in ((".txt", "text"), (".dot", "dot"), (".gv", "dot"), (".svg", "svg"), (".SVG", "svg")):
        drawing.save(tmp_path / f"graph{ending}")
        assert (tmp_path / f"graph{ending}").read_text(encoding="utf-8") == getattr(drawing, kind) + "\n"
    with pytest.raises(ValueError, match=r"graph.png', expected a name that ends in .txt, .dot, .gv, .svg"):
        drawing.save(str(tmp_path / "graph.png"))


def test_a_layout_without_room_for_points_still_places_every_box():
    widths = [50.0] * 400
    edges = [(i, j) for j in range(400) for i in (j - 1, 0, j // 2) if 0 <= i < j]
    layout = arrange(widths, edges, set())
    assert layout.layer == list(range(400)) and all(not points for points in layout.points)


# ---- Tensors in a notebook ------------------------------------------------------------------------------------------


def cells(tensor):
    root = ET.fromstring(tensor._repr_html_())
    tables = [[[cell.text for cell in row] for row in table] for table in root.findall("table")]
    return tables, root[-1].text, [div[0].text if len(div) else div.text for div in root.findall("div")]


HTML = {
    "a matrix": (
        lambda: norch.tensor([[1.5, 2], [3, 40]], requires_grad=True),
        [[["1.5000", "2.0000"], ["3.0000", "40.0000"]]],
        "Tensor · shape [2, 2] · float32 · cpu · requires_grad",
    ),
    "a vector": (lambda: norch.arange(3), [[["0", "1", "2"]]], "Tensor · shape [3] · int64 · cpu"),
    "no dimensions": (lambda: norch.tensor([7]).reshape(()), [[["7"]]], "Tensor · shape [] · int64 · cpu"),
    "empty": (lambda: norch.zeros(0, 3), [], "Tensor · shape [0, 3] · float32 · cpu"),
    "computed": (
        lambda: 2 * leaf(1),
        [[["2."]]],
        "Tensor · shape [1] · float32 · cpu · grad_fn ElementwiseMulBackward",
    ),
    "a parameter": (
        lambda: nn.Parameter([[1.0]]),
        [[["1."]]],
        "Parameter · shape [1, 1] · float32 · cpu · requires_grad",
    ),
}


@pytest.mark.parametrize("name", HTML)
def test_a_tensor_in_a_notebook(name):
    make, tables, caption = HTML[name]
    found, text, _ = cells(make())
    assert (found, text) == (tables, caption)


def test_large_tensors_in_a_notebook_show_their_edges():
    tables, caption, _ = cells(norch.arange(10_000).reshape(100, 100))
    (table,) = tables
    assert table[0] == ["0", "1", "2", "…", "97", "98", "99"]
    assert table[3] == ["⋮"] * 7 and table[6][-1] == "9999" and len(table) == 7
    assert caption == "Tensor · shape [100, 100] · int64 · cpu"


def test_matrices_of_a_tensor_stand_under_their_index():
    tables, _, titles = cells(norch.arange(2000).reshape(100, 1, 20))
    assert titles == [i if i == "⋮" else f"[{i}, :, :]" for i in (0, 1, 2, "⋮", 97, 98, 99)]
    assert len(tables) == 6 and tables[-1][0][-1] == "1999"
