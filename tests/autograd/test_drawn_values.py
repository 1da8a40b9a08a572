"""norch.draw_graph(values=True): the value and the gradient of each node."""

from __future__ import annotations

import gc
import re
import weakref
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import norch

SVG = "{http://www.w3.org/2000/svg}"


def held():
    """A shared node and a broadcast; every tensor is held."""
    x = norch.Tensor([2, 1 / 3], requires_grad=True)
    w = norch.Tensor([3], requires_grad=True)
    h = x * w
    s = h * h
    loss = s + h
    return {"x": x, "w": w, "h": h, "s": s, "L": loss}


def notes_of(text):
    """name -> (value, gradient) of a drawing's text."""
    found = re.findall(r"^(\S+) += .*?(?:   value (.*?))?(?:   grad (.*?))? *$", text, re.MULTILINE)
    return {name: (value.strip(), gradient) for name, value, gradient in found}


def test_values_and_gradients_of_each_node():
    tensors = held()
    loss = tensors["L"]
    before = norch.draw_graph(loss, params=tensors, values=True)
    loss.backward(norch.ones(2), retain_graph=True)
    after = norch.draw_graph(loss, params=tensors, values=True)
    assert notes_of(before.text)["h"] == ("[6, 1]", "") and "grad" not in before.text
    assert notes_of(after.text) == {
        "x": ("[2, 0.3333]", "[39, 9]"),
        "w": ("[3]", "[27]"),
        "h": ("[6, 1]", "[13, 3]"),
        "s": ("[36, 1]", "[1, 1]"),
        "L": ("[42, 2]", "[1, 1]"),
    }
    for line in ("value [6, 1]", "grad [13, 3]"):
        assert f"\\n{line}" in after.dot
        assert line in [text.text for text in ET.fromstring(after.svg).iter(f"{SVG}text")]
    assert "value" not in norch.draw_graph(loss, params=tensors).text  # unless asked for


def test_a_box_has_room_for_its_numbers():
    tensors = held()
    tensors["L"].backward(norch.ones(2), retain_graph=True)
    root = ET.fromstring(norch.draw_graph(tensors["L"], params=tensors, values=True).svg)
    boxes = [[float(r.get(k)) for k in ("x", "y", "width", "height")] for r in list(root.iter(f"{SVG}rect"))[1:]]
    texts = [(float(t.get("x")), float(t.get("y")), len(t.text)) for t in root.iter(f"{SVG}text")]
    assert len(boxes) == 5 and len(texts) == 20
    for x, y, letters in texts:
        inside = [
            b
            for b in boxes
            if b[0] <= x - 3 * letters and x + 3 * letters <= b[0] + b[2] and b[1] + 8 < y < b[1] + b[3]
        ]
        assert len(inside) == 1


def test_what_nobody_holds_has_the_value_that_an_operation_saved():
    x = norch.Tensor([0.5], requires_grad=True)
    loss = (x.exp() * 2 + 1).tanh().sum()
    loss.backward(retain_graph=True)
    notes = notes_of(norch.draw_graph(loss, params={"x": x}, values=True).text)
    assert notes["%1"][0] == "[1.649]"  # exp keeps its result
    assert notes["%3"] == ("", "")  # the sum with 1 keeps nothing, and nobody holds it
    assert notes["%4"][0] == "[0.9996]" and notes["x"][1]


def test_a_tensor_written_to_shows_the_value_it_has_in_the_graph():
    x = norch.Tensor([1, 2], requires_grad=True)
    y = x * 3
    z = y.exp()
    y.detach_()
    shown = notes_of(norch.draw_graph(z.sum(), params={"x": x}, values=True).text)
    assert shown["x"][0] == "[1, 2]" and shown["%1"] == ("", "")


@pytest.mark.parametrize(
    "tensor, expected",
    [
        (lambda: norch.zeros(0), "[]"),
        (lambda: norch.ones(9) * 0.1, "[" + ", ".join(["0.1"] * 9) + "]"),
        (lambda: norch.arange(10.0) - 3, "from -3 to 6"),
        (lambda: norch.Tensor([float("nan"), float("inf"), -0.0]), "[nan, inf, 0]"),
        (lambda: norch.full((4, 4), float("nan")), "from nan to nan"),
        (lambda: norch.tensor([[1.5, 2e-9]], dtype=norch.float64), "[[1.5, 2e-09]]"),
    ],
)
def test_numbers_are_short(tensor, expected):
    text = norch.draw_graph(tensor().requires_grad_(), values=True).text
    assert text.endswith("value " + expected)


def test_values_keep_no_tensor_alive():
    x = norch.Tensor([1, 2], requires_grad=True)
    y = x * 3
    drawing = norch.draw_graph(y.sum(), values=True)
    gone = weakref.ref(y)
    del x, y
    gc.collect()
    assert gone() is None and "value [3, 6]" in drawing.text


def test_a_folded_graph_shows_the_numbers_of_what_is_left():
    x = norch.ones(3, requires_grad=True)
    y = x
    for _ in range(300):
        y = y.sin()
    lines = norch.draw_graph(y, values=True, max_nodes=5).text.splitlines()
    assert [("value" in line) for line in lines] == [False, True, True, False, True]


def test_widths_in_formats_have_an_alignment():
    """Python 3.9 takes a width of 0 for "=", which strings do not have."""
    for path in Path(norch.__file__).parent.rglob("*.py"):
        assert re.findall(r"\{[^{}\"]+:\{\w+\}\}", path.read_text(encoding="utf-8")) == [], path
