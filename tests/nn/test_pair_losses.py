"""Losses of a prediction and a target of one shape: values by hand, derivatives, extremes, both devices, bad input."""

import math
import warnings

import pytest
from compare import close

import norch
from norch import nn
from norch.autograd import grad, gradcheck, gradgradcheck
from norch.nn import functional as F


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def bce(p, y):
    return -(y * math.log(p) + (1 - y) * math.log(1 - p))


def huber(d, delta):
    return d * d / 2 if abs(d) <= delta else delta * (abs(d) - delta / 2)


# name of the function, its module, options, the loss of one pair in plain Python, predictions, targets
REAL, OTHER = [[0.5, -1.0, 2.0], [3.25, 0.0, -0.75]], [[0.25, 1.0, 2.5], [-2.0, 0.75, -0.5]]
UNIT, SHARES = [[0.1, 0.5, 0.9], [0.25, 0.99, 0.6]], [[0.0, 1.0, 0.75], [0.5, 0.25, 1.0]]
LOGS = [[math.log(p) for p in row] for row in UNIT]
ROWS = [
    ("mse_loss", "MSELoss", {}, lambda x, y: (x - y) ** 2, REAL, OTHER),
    ("l1_loss", "L1Loss", {}, lambda x, y: abs(x - y), REAL, OTHER),
    ("smooth_l1_loss", "SmoothL1Loss", {}, lambda x, y: huber(x - y, 1.0), REAL, OTHER),
    ("smooth_l1_loss", "SmoothL1Loss", {"beta": 0.4}, lambda x, y: huber(x - y, 0.4) / 0.4, REAL, OTHER),
    ("smooth_l1_loss", "SmoothL1Loss", {"beta": 0}, lambda x, y: abs(x - y), REAL, OTHER),
    ("huber_loss", "HuberLoss", {}, lambda x, y: huber(x - y, 1.0), REAL, OTHER),
    ("huber_loss", "HuberLoss", {"delta": 0.4}, lambda x, y: huber(x - y, 0.4), REAL, OTHER),
    ("binary_cross_entropy", "BCELoss", {}, bce, UNIT, SHARES),
    ("binary_cross_entropy_with_logits", "BCEWithLogitsLoss", {}, lambda x, y: bce(sigmoid(x), y), REAL, SHARES),
    ("kl_div", "KLDivLoss", {}, lambda x, y: y * (math.log(y) - x) if y else 0.0, LOGS, SHARES),
    ("kl_div", "KLDivLoss", {"log_target": True}, lambda x, y: math.exp(y) * (y - x), LOGS, OTHER),
]
rows = pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0] + "".join(f" {k}={v}" for k, v in row[2].items()))


@pytest.fixture(autouse=True)
def kl_div_may_take_the_mean():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="kl_div: the reduction 'mean'")
        yield


def tensor(values, dtype="float64", device="cpu", requires_grad=False):
    return norch.tensor(values, dtype=getattr(norch, dtype), device=device, requires_grad=requires_grad)


@rows
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values(row, dtype, device):
    name, module, options, formula, predictions, targets = row
    each = [[formula(x, y) for x, y in zip(*pair)] for pair in zip(predictions, targets)]
    total = sum(map(sum, each))
    x, y = tensor(predictions, dtype, device), tensor(targets, dtype, device)
    tolerance = {"float32": 2e-6, "float64": 1e-12}[dtype]
    for reduction, expected in (("none", each), ("sum", total), ("mean", total / 6)):
        for call in (getattr(F, name), lambda x, y, **more: getattr(nn, module)(**more)(x, y)):
            loss = call(x, y, reduction=reduction, **options)
            close(loss, expected, tolerance)
            assert loss.dtype is x.dtype and loss.device == x.device
    close(getattr(nn, module)(**options)(x, y), total / 6, tolerance)


@rows
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_derivatives_of_both_operands(row, reduction):
    name, _, options, _, predictions, targets = row
    if name in ("binary_cross_entropy", "kl_div") and not options:
        targets = [[0.2, 0.9, 0.75], [0.5, 0.25, 0.99]]  # the slope along y has no limit at 0 and 1
    x, y = tensor(predictions, requires_grad=True), tensor(targets, requires_grad=True)

    def loss(x, y):
        return getattr(F, name)(x, y, reduction=reduction, **options)

    assert gradcheck(loss, (x, y))
    if "l1" not in name or options.get("beta", 1):
        assert gradgradcheck(loss, (x, y))
    # the fused backward and the formula behind second derivatives
    for one, other in zip(grad(loss(x, y).sum(), [x, y]), grad(loss(x, y).sum(), [x, y], create_graph=True)):
        close(one, other.tolist(), 1e-12)


@rows
def test_gradients_on_every_device(row, device):
    name, _, options, _, predictions, targets = row
    x, y = tensor(predictions, "float32", device, True), tensor(targets, "float32", device)
    getattr(F, name)(x, y, reduction="sum", **options).backward()
    reference = tensor(predictions, requires_grad=True)
    getattr(F, name)(reference, tensor(targets), reduction="sum", **options).backward()
    assert x.grad.device == x.device
    close(x.grad, reference.grad.tolist(), 1e-5)


@rows
def test_an_empty_batch(row):
    name, _, options, *_ = row
    x = norch.zeros(0, 3).requires_grad_()
    assert getattr(F, name)(x, norch.zeros(0, 3), reduction="none", **options).shape == (0, 3)
    assert getattr(F, name)(x, norch.zeros(0, 3), reduction="sum", **options).item() == 0.0
    assert math.isnan(getattr(F, name)(x, norch.zeros(0, 3), **options)[0])
    getattr(F, name)(x, norch.zeros(0, 3), reduction="sum", **options).backward()
    assert x.grad.shape == (0, 3)


@rows
def test_no_memory_is_kept(row, no_leak):
    name, _, options, _, predictions, targets = row
    x, y = tensor(predictions, requires_grad=True), tensor(targets)
    getattr(F, name)(x, y, **options).backward()


# ---- Weights ---------------------------------------------------------------------------------------------------------

WEIGHTS = [[[1.0, 2.0, 0.0], [0.5, 1.0, 3.0]], [2.0, 0.5, 1.0], [[3.0], [0.0]]]


def spread(weight):
    """A weight as [2, 3]."""
    return tensor(weight).expand(2, 3).tolist()


@pytest.mark.parametrize("weight", WEIGHTS)
def test_weights_of_elements(weight):
    each = [[w * bce(p, y) for w, p, y in zip(*row)] for row in zip(spread(weight), UNIT, SHARES)]
    x, y, w = tensor(UNIT), tensor(SHARES), tensor(weight)
    close(F.binary_cross_entropy(x, y, w, reduction="none"), each, 1e-12)
    close(nn.BCELoss(w)(x, y), sum(map(sum, each)) / 6, 1e-12)  # the mean is over elements, not over weights
    logits = (x / (1 - x)).log()
    close(F.binary_cross_entropy_with_logits(logits, y, w, reduction="none"), each, 1e-10)
    close(nn.BCEWithLogitsLoss(w, reduction="sum")(logits, y), sum(map(sum, each)), 1e-10)


@pytest.mark.parametrize("weight", WEIGHTS)
def test_weights_of_positive_targets(weight):
    each = [
        [-(w * y * math.log(sigmoid(x)) + (1 - y) * math.log(sigmoid(-x))) for w, x, y in zip(*row)]
        for row in zip(spread(weight), REAL, SHARES)
    ]
    x, y, w = tensor(REAL, requires_grad=True), tensor(SHARES, requires_grad=True), tensor(weight)
    close(F.binary_cross_entropy_with_logits(x, y, pos_weight=w, reduction="none"), each, 1e-12)
    close(nn.BCEWithLogitsLoss(pos_weight=w)(x, y), sum(map(sum, each)) / 6, 1e-12)

    def loss(x, y):
        return F.binary_cross_entropy_with_logits(x, y, tensor(WEIGHTS[0]), pos_weight=w)

    assert gradcheck(loss, (x, y)) and gradgradcheck(loss, (x, y))


def test_weights_belong_to_the_state_and_are_not_trained():
    loss = nn.BCEWithLogitsLoss(norch.ones(3), pos_weight=norch.ones(3))
    assert list(loss.state_dict()) == ["weight", "pos_weight"] and not list(loss.parameters())
    assert list(nn.BCELoss(norch.ones(3)).state_dict()) == ["weight"]


# ---- Extremes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_large_logits(dtype, device):
    x = tensor([1000.0, -1000.0, 1000.0, -1000.0, 0.0, 30.0], dtype, device, True)
    y = tensor([1.0, 0.0, 0.0, 1.0, 0.5, 1.0], dtype, device)
    loss = F.binary_cross_entropy_with_logits(x, y, reduction="none")
    close(loss, [0.0, 0.0, 1000.0, 1000.0, math.log(2), math.exp(-30)], 1e-6)
    assert loss[5].item() == pytest.approx(math.exp(-30), rel=1e-5)  # small, and no digit lost
    loss.sum().backward()
    close(x.grad, [0.0, 0.0, 1.0, -1.0, 0.0, -math.exp(-30)], 1e-6)
    assert x.grad[5].item() == pytest.approx(-math.exp(-30), rel=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_certain_probabilities(dtype, device):
    x = tensor([0.0, 1.0, 0.0, 1.0, 1e-30], dtype, device, True)
    loss = F.binary_cross_entropy(x, tensor([0.0, 1.0, 1.0, 0.0, 0.0], dtype, device), reduction="none")
    close(loss, [0.0, 0.0, 100.0, 100.0, 1e-30], 1e-6)
    assert loss[4].item() == pytest.approx(1e-30, rel=1e-6)
    loss.sum().backward()
    close(x.grad, [0.0, 0.0, -1e12, 1e12, 1e-18], 1e-6)


def test_an_impossible_class_costs_nothing_where_the_target_is_0():
    x = norch.Tensor([[-math.inf, 0.0]], requires_grad=True)
    y = norch.Tensor([[0.0, 1.0]], requires_grad=True)
    loss = F.kl_div(x, y, reduction="batchmean")
    loss.backward()
    assert loss.item() == 0.0 and x.grad.tolist() == [[0.0, -1.0]] and y.grad.tolist() == [[0.0, 1.0]]


def test_batchmean_divides_by_the_samples_and_mean_warns():
    x, y = tensor(LOGS), tensor(SHARES)
    total = F.kl_div(x, y, reduction="sum").item()
    assert nn.KLDivLoss(reduction="batchmean")(x, y).item() == pytest.approx(total / 2)
    with pytest.warns(UserWarning, match="'batchmean' divides by the number of samples"):
        nn.KLDivLoss()(x, y)


def test_nan_comes_through():
    x, y = norch.Tensor([math.nan]), norch.Tensor([0.5])
    for loss in (F.l1_loss, F.smooth_l1_loss, F.huber_loss, F.binary_cross_entropy_with_logits, F.mse_loss):
        assert math.isnan(loss(x, y)[0])


# ---- Bad input -------------------------------------------------------------------------------------------------------

X = norch.zeros(2, 3)
PAIRS = [
    "l1_loss",
    "smooth_l1_loss",
    "huber_loss",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "kl_div",
]


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_that_do_not_fit(name):
    function = getattr(F, name)
    differ = rf"{name}: input and target differ in shape: \[2, 3\] and \[4\]"
    with pytest.raises(ValueError, match=differ if name.startswith("binary") else r"shapes .*\[4\]"):
        function(X, norch.zeros(4))
    with pytest.raises(TypeError, match=f"{name} was given a list"):
        function(X, [0.0])
    with pytest.raises(RuntimeError, match=f"{name}: input has dtype norch.int64"):
        function(X.long(), X)
    with pytest.raises(ValueError, match="'avg', expected 'none', 'mean' or 'sum'"):
        function(X, X, reduction="avg")


@pytest.mark.parametrize(
    "use, error, words",
    [
        (lambda: F.binary_cross_entropy(X + 1.5, X), RuntimeError, "input is 1.5, expected probabilities from 0 to 1"),
        (lambda: F.binary_cross_entropy(X - 0.5, X), RuntimeError, "input is -0.5, expected"),
        (lambda: F.binary_cross_entropy(X + math.nan, X), RuntimeError, "input is nan, expected"),
        (lambda: F.binary_cross_entropy(X, X + 1.5), RuntimeError, "target is 1.5, expected"),
        (lambda: F.binary_cross_entropy(X, X + math.nan), RuntimeError, "target is nan, expected"),
        (lambda: F.binary_cross_entropy(X, X, norch.ones(2)), ValueError, r"weight of shape \[2\] .* \[2, 3\]"),
        (lambda: F.binary_cross_entropy(X, X, norch.ones(1, 2, 3)), ValueError, r"weight of shape \[1, 2, 3\]"),
        (lambda: F.binary_cross_entropy_with_logits(X, X, pos_weight=norch.ones(2)), ValueError, r"\[2\] does not"),
        (lambda: F.binary_cross_entropy_with_logits(X, X, pos_weight=2.0), TypeError, "float"),
        (lambda: F.smooth_l1_loss(X, X, beta=-1), RuntimeError, "beta is -1"),
        (lambda: F.huber_loss(X, X, delta=0), RuntimeError, "delta is 0"),
        (lambda: nn.BCELoss(1.0), TypeError, "'weight' is a float"),
        (lambda: nn.L1Loss(reduction="batchmean"), ValueError, "batchmean"),
        (lambda: nn.KLDivLoss(reduction="avg"), ValueError, "avg"),
        (lambda: F.cross_entropy(X, X, ignore_index=1), RuntimeError, "ignore_index 1 is for class indices, not for"),
    ],
)
def test_losses_refuse(use, error, words):
    with pytest.raises(error, match=words):
        use()
