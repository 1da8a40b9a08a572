"""RNN, LSTM, GRU and their cells: the formulas in plain Python, shapes, both derivatives, options, refusals."""

import math
import random

import pytest
from compare import close

import norch
from norch import nn
from norch.autograd import gradcheck, gradgradcheck

KINDS = {
    "RNN": lambda *sizes, **options: nn.RNN(*sizes, **options),
    "RNN relu": lambda *sizes, **options: nn.RNN(*sizes, nonlinearity="relu", **options),
    "LSTM": lambda *sizes, **options: nn.LSTM(*sizes, **options),
    "GRU": lambda *sizes, **options: nn.GRU(*sizes, **options),
}
CELLS = {"RNN": nn.RNNCell, "LSTM": nn.LSTMCell, "GRU": nn.GRUCell}
every_kind = pytest.mark.parametrize("kind", KINDS)


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def rows(matrix, vector, bias):
    return [sum(w * x for w, x in zip(row, vector)) + b for row, b in zip(matrix, bias)]


def step_in_python(kind, weights, x, h, c):
    """One step for one sequence, as the formulas stand in the papers; returns h and c."""
    w_ih, w_hh, b_ih, b_hh = weights
    a, b, size = rows(w_ih, x, b_ih), rows(w_hh, h, b_hh), len(h)
    total = [s + t for s, t in zip(a, b)]
    if kind == "RNN":
        return [math.tanh(t) for t in total], c
    if kind == "RNN relu":
        return [max(t, 0.0) for t in total], c
    gate = [total[k * size : (k + 1) * size] for k in range(len(total) // size)]
    if kind == "LSTM":
        i, f, o = ([sigmoid(t) for t in gate[k]] for k in (0, 1, 3))
        c = [f[k] * c[k] + i[k] * math.tanh(gate[2][k]) for k in range(size)]
        return [o[k] * math.tanh(c[k]) for k in range(size)], c
    r, z = ([sigmoid(t) for t in gate[k]] for k in (0, 1))
    n = [math.tanh(a[2 * size + k] + r[k] * b[2 * size + k]) for k in range(size)]
    return [(1 - z[k]) * n[k] + z[k] * h[k] for k in range(size)], c


@every_kind
def test_against_plain_python(kind):
    random.seed(3)
    layer = KINDS[kind](3, 2).double()
    weights = [parameter.tolist() for parameter in layer.parameters()]
    x = [[random.uniform(-2, 2) for _ in range(3)] for _ in range(5)]
    h, c, expected = [0.0, 0.0], [0.0, 0.0], []
    for step in x:
        h, c = step_in_python(kind, weights, step, h, c)
        expected.append(h)
    output, state = layer(norch.tensor(x, dtype=norch.float64))
    close(output, expected, 1e-12)
    close(state[0] if kind == "LSTM" else state, [h], 1e-12)
    if kind == "LSTM":
        close(state[1], [c], 1e-12)


@every_kind
def test_names_and_shapes_are_those_of_pytorch(kind):
    gates = {"LSTM": 4, "GRU": 3}.get(kind, 1)
    layer = KINDS[kind](3, 5, 2, bidirectional=True)
    shapes = {name: list(value.shape) for name, value in layer.state_dict().items()}
    expected = {}
    for number, inputs in ((0, 3), (1, 10)):
        for suffix in (f"l{number}", f"l{number}_reverse"):
            expected[f"weight_ih_{suffix}"] = [gates * 5, inputs]
            expected[f"weight_hh_{suffix}"] = [gates * 5, 5]
            expected[f"bias_ih_{suffix}"] = expected[f"bias_hh_{suffix}"] = [gates * 5]
    assert shapes == expected and list(shapes) == list(expected)
    bound = 1 / math.sqrt(5)
    values = [value for parameter in layer.parameters() for value in parameter.reshape(-1).tolist()]
    assert all(abs(value) <= bound for value in values) and max(values) > 0.9 * bound and min(values) < -0.9 * bound
    assert len(list(KINDS[kind](3, 5, bias=False).parameters())) == 2


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("directions", [1, 2])
@every_kind
def test_shapes_of_results(kind, directions, batch_first, device):
    layer = KINDS[kind](3, 4, 2, batch_first=batch_first, bidirectional=directions == 2).to(device)
    x = norch.randn(*([5, 7, 3] if batch_first else [7, 5, 3]), device=device)
    output, state = layer(x)
    assert output.shape == [*x.shape[:2], 4 * directions] and output.device == x.device
    states = state if kind == "LSTM" else (state,)
    assert all(s.shape == [2 * directions, 5, 4] for s in states) and isinstance(state, tuple) == (kind == "LSTM")
    alone, alone_state = layer(x[2] if batch_first else x[:, 2])
    for mine, whole in zip(alone_state if kind == "LSTM" else (alone_state,), states):
        assert mine.shape == [2 * directions, 4]
        close(mine, whole[:, 2].tolist(), 1e-6)
    close(alone, (output[2] if batch_first else output[:, 2]).tolist(), 1e-6)


@every_kind
def test_a_sequence_in_two_halves(kind):
    """The last state of the first half starts the second."""
    layer = KINDS[kind](3, 4, 2)
    x = norch.randn(8, 2, 3)
    whole, last = layer(x)
    first, state = layer(x[:5])
    second, state = layer(x[5:], state)
    close(norch.cat([first, second]), whole.tolist(), 1e-6)
    for mine, expected in zip(state if kind == "LSTM" else [state], last if kind == "LSTM" else [last]):
        close(mine, expected.tolist(), 1e-6)


@every_kind
def test_gradients_of_both_orders(kind):
    random.seed(1)
    layer = KINDS[kind](2, 2, bidirectional=True).double()
    x = norch.randn(3, 2, 2, dtype=norch.float64, requires_grad=True)
    start = norch.randn(2, 2, 2, dtype=norch.float64, requires_grad=True)
    parameters = list(layer.parameters())

    def run(x, start, *_):
        output, state = layer(x, (start, start * 0.5) if kind == "LSTM" else start)
        return output, *(state if kind == "LSTM" else (state,))

    assert gradcheck(run, (x, start, *parameters))
    if kind != "RNN relu":  # of slope 0 or 1
        assert gradgradcheck(run, (x, start, *parameters[:2]))


def test_the_last_state_alone_has_gradients():
    """Steps whose output nobody used, and gates without a gradient."""
    layer = nn.LSTM(2, 2)
    x = norch.randn(4, 1, 2, requires_grad=True)
    output, (h, c) = layer(x)
    c.sum().backward()
    assert x.grad.shape == [4, 1, 2] and (x.grad != 0).all() and layer.weight_hh_l0.grad is not None
    layer.zero_grad()
    x.grad = None
    output, _ = layer(x)
    output[1].sum().backward()
    assert (x.grad[:2] != 0).all() and (x.grad[2:] == 0).all()


@every_kind
def test_graph_rules(kind):
    """A retained graph goes back twice, a freed one not; what backward reads must not change, what it returned may."""
    layer = KINDS[kind](3, 4)
    output, state = layer(norch.randn(5, 2, 3))
    output.sum().backward(retain_graph=True)
    once = layer.weight_hh_l0.grad.tolist()
    output.sum().backward(retain_graph=True)
    close(layer.weight_hh_l0.grad, [[2 * value for value in row] for row in once])
    output.sum().backward()
    with pytest.raises(RuntimeError, match="freed"):
        output.sum().backward()

    layer.zero_grad()
    output, state = layer(norch.randn(5, 2, 3))
    with norch.no_grad():
        for result in (output, *(state if kind == "LSTM" else (state,))):
            result.zero_()
    output.sum().backward()
    assert layer.weight_hh_l0.grad.abs().sum().item() > 0
    output, state = layer(norch.randn(5, 2, 3))
    with norch.no_grad():
        layer.weight_hh_l0.mul_(2.0)
    with pytest.raises(RuntimeError, match="modified by an in-place operation"):
        output.sum().backward()


@every_kind
def test_frozen_parts_get_no_gradient(kind):
    layer = KINDS[kind](3, 4)
    layer.weight_hh_l0.requires_grad_(False)
    layer.bias_ih_l0.requires_grad_(False)
    x = norch.randn(5, 2, 3)
    layer(x)[0].sum().backward()
    assert layer.weight_hh_l0.grad is None and layer.bias_ih_l0.grad is None and x.grad is None
    assert layer.weight_ih_l0.grad is not None and layer.bias_hh_l0.grad is not None
    layer.requires_grad_(False)
    assert not layer(x)[0].requires_grad
    start = norch.zeros(1, 2, 4, requires_grad=True)
    layer(x, (start, start) if kind == "LSTM" else start)[0].sum().backward()
    assert start.grad.shape == [1, 2, 4]


@every_kind
def test_dropout_acts_between_layers_in_training_only(kind):
    layer = KINDS[kind](3, 4, 2, dropout=0.5)
    x = norch.randn(6, 2, 3)
    layer.eval()
    still = layer(x)[0].tolist()
    assert layer(x)[0].tolist() == still
    layer.train()
    norch.manual_seed(4)
    first = layer(x)[0].tolist()
    norch.manual_seed(4)
    assert layer(x)[0].tolist() == first != still
    layer.dropout = 1.0  # all that reaches the second layer are its biases
    steps = layer(x)[0]
    close(steps[:, 0], steps[:, 1].tolist(), 1e-6)


@pytest.mark.parametrize("kind", CELLS)
def test_cells_are_single_steps(kind):
    layer = KINDS[kind](3, 4)
    cell = CELLS[kind](3, 4)
    cell.load_state_dict({name[:-3]: value for name, value in layer.state_dict().items()})
    x = norch.randn(5, 2, 3)
    state = None
    for step in range(5):
        state = cell(x[step], state)
    expected = layer(x)[1]
    for mine, last in zip(state if kind == "LSTM" else [state], expected if kind == "LSTM" else [expected]):
        close(mine, last[0].tolist(), 1e-6)
    alone = cell(x[0, 1])
    close(alone[0] if kind == "LSTM" else alone, layer(x[:1])[0][0, 1].tolist(), 1e-6)
    assert str(cell).startswith(f"{kind}Cell(\n   (parameters): 3, 4")
    assert CELLS[kind](3, 4, bias=False).bias_ih is None


def test_an_lstm_learns_to_remember():
    """The first of four signs, recalled at the end: nothing without a memory can do it."""
    norch.manual_seed(1)
    layer, head = nn.LSTM(1, 8), nn.Linear(8, 1)
    optimizer = norch.optim.SGD([*layer.parameters(), *head.parameters()], lr=0.1, momentum=0.9)
    x = norch.randint(0, 2, (4, 64, 1)).float() * 2 - 1
    losses = []
    for _ in range(150):
        loss = nn.MSELoss()(head(layer(x)[0][-1]), x[0])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[0] > 0.5 and losses[-1] < 0.05


@every_kind
def test_nothing_leaks(kind, no_leak):
    layer = KINDS[kind](3, 4, 2, bidirectional=True)
    output, _ = layer(norch.randn(6, 2, 3))
    output.sum().backward()


LSTM = nn.LSTM(3, 4)


@pytest.mark.parametrize(
    "use, error, words",
    [
        (lambda: nn.RNN(3, 4, nonlinearity="sin"), ValueError, "'sin'.*'relu'"),
        (lambda: nn.RNNCell(3, 4, nonlinearity="sin"), ValueError, "'sin'.*'relu'"),
        (lambda: nn.LSTM(0, 4), ValueError, "input_size is 0"),
        (lambda: nn.LSTM(3, 4.0), TypeError, "hidden_size is 4.0"),
        (lambda: nn.GRU(3, 4, 0), ValueError, "num_layers is 0"),
        (lambda: nn.GRU(3, 4, dropout=1.5), ValueError, "1.5"),
        (lambda: LSTM([[1.0]]), TypeError, "LSTM.*list"),
        (lambda: LSTM(norch.ones(2, 5, 2)), ValueError, r"\[2, 5, 2\].*\[T, N, 3\]"),
        (lambda: LSTM(norch.ones(3)), ValueError, r"\[3\]"),
        (lambda: LSTM(norch.ones(0, 5, 3)), ValueError, "at least one step"),
        (lambda: LSTM(norch.ones(2, 5, 3), norch.ones(1, 5, 4)), TypeError, "h_0, c_0"),
        (lambda: LSTM(norch.ones(2, 5, 3), (norch.ones(1, 5, 4), None)), TypeError, "c_0.*NoneType"),
        (lambda: LSTM(norch.ones(2, 5, 3), (norch.ones(1, 5, 4),) * 3), TypeError, "h_0, c_0"),
        (lambda: nn.GRU(3, 4)(norch.ones(2, 5, 3), norch.ones(5, 4)), ValueError, r"\[5, 4\].*\[1, 5, 4\]"),
        (lambda: nn.GRU(3, 4, batch_first=True)(norch.ones(2, 5, 2)), ValueError, r"\[N, T, 3\]"),
        (lambda: nn.GRUCell(3, 4)(norch.ones(2, 2)), ValueError, r"\[2, 2\].*\[N, 3\] or \[3\]"),
        (lambda: nn.GRUCell(3, 4)(norch.ones(2, 3), norch.ones(2, 3)), ValueError, r"\[2, 3\].*\[2, 4\]"),
        (lambda: nn.LSTMCell(3, 4)(norch.ones(2, 3), norch.ones(2, 4)), TypeError, r"\(h, c\)"),
        (lambda: nn.RNNCell(3, 4)([1.0]), TypeError, "list"),
    ],
)
def test_refusals(use, error, words):
    with pytest.raises(error, match=words):
        use()


def test_printed():
    assert str(nn.LSTM(3, 4, 2, dropout=0.1, bidirectional=True)).split("\n")[1].strip() == (
        "(parameters): 3, 4, num_layers=2, dropout=0.1, bidirectional=True"
    )
    assert nn.RNN(3, 4).inner_repr() == "3, 4" and nn.RNN(3, 4, nonlinearity="relu").nonlinearity == "relu"
