"""norch.nn's losses: values, gradients, extremes and bad input."""

import math

import pytest
from compare import close

import norch
from norch import nn
from norch.autograd import gradcheck, gradgradcheck
from norch.nn import functional as F

LOGITS = [[1.0, 2.0, 3.0], [1.0, 0.0, 0.0]]
# log_softmax of LOGITS, worked out by hand: x - log(sum(e^x))
LOG_P = [
    [x - math.log(sum(math.exp(y) for y in row)) for x in row]
    for row in LOGITS
]  # fmt: skip


def test_mse_loss():
    predictions, labels = norch.Tensor([1.0, 2.0, 4.0], requires_grad=True), norch.Tensor([1.0, 4.0, 1.0])
    loss = nn.MSELoss()(predictions, labels)
    assert loss.shape == () and loss.item() == pytest.approx(13 / 3)
    loss.backward()
    close(predictions.grad, [0.0, -4 / 3, 2.0])
    assert nn.MSELoss(reduction="sum")(predictions, labels)[0] == 13.0
    assert F.mse_loss(predictions, labels, reduction="none").tolist() == [0.0, 4.0, 9.0]


def test_mse_loss_refuses():
    with pytest.raises(ValueError, match=r"mse_loss: shapes \[3, 1\], \[2, 2\]"):
        nn.MSELoss()(norch.zeros(3, 1), norch.zeros(2, 2))
    with pytest.raises(TypeError, match="float"):
        nn.MSELoss()(norch.zeros(1), 1.0)
    with pytest.raises(ValueError, match="average"):
        nn.MSELoss(reduction="average")


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8"])
def test_cross_entropy_of_class_indices(dtype):
    target = norch.tensor([2, 1], dtype=getattr(norch, dtype))
    expected = [-LOG_P[0][2], -LOG_P[1][1]]
    logits = norch.Tensor(LOGITS)
    loss = nn.CrossEntropyLoss()(logits, target)
    assert loss.shape == () and loss.item() == pytest.approx(sum(expected) / 2, rel=1e-6)
    close(nn.CrossEntropyLoss(reduction="none")(logits, target), expected)
    close(nn.CrossEntropyLoss(reduction="sum")(logits, target), sum(expected))
    close(F.nll_loss(F.log_softmax(logits, dim=1), target, reduction="none"), expected)


def test_cross_entropy_gradient_is_softmax_minus_target_and_scales_with_what_comes_in():
    logits = norch.Tensor(LOGITS, requires_grad=True)
    (2 * F.cross_entropy(logits, norch.tensor([2, 1]))).backward()
    p = [[math.exp(x) for x in row] for row in LOG_P]
    close(logits.grad, [[p[0][0], p[0][1], p[0][2] - 1], [p[1][0], p[1][1] - 1, p[1][2]]])


def test_cross_entropy_with_class_weights():
    weight, target = norch.Tensor([1.0, 2.0, 5.0]), norch.tensor([2, 1])
    parts = [-5 * LOG_P[0][2], -2 * LOG_P[1][1]]
    close(F.cross_entropy(norch.Tensor(LOGITS), target, weight), sum(parts) / 7)
    close(F.cross_entropy(norch.Tensor(LOGITS), target, weight, reduction="none"), parts)
    loss = nn.CrossEntropyLoss(weight)
    close(loss(norch.Tensor(LOGITS), target), sum(parts) / 7)
    assert list(loss.state_dict()) == ["weight"] and list(loss.parameters()) == []


def test_cross_entropy_ignores_an_index():
    logits = norch.Tensor(LOGITS, requires_grad=True)
    loss = F.cross_entropy(logits, norch.tensor([-100, 0]))
    close(loss, -LOG_P[1][0])
    loss.backward()
    assert logits.grad[0].tolist() == [0.0, 0.0, 0.0] and logits.grad[1, 1] > 0
    target = norch.tensor([2, 1])
    close(F.cross_entropy(norch.Tensor(LOGITS), target, ignore_index=2, reduction="none"), [0.0, -LOG_P[1][1]])
    close(F.cross_entropy(norch.Tensor(LOGITS), target, ignore_index=2, label_smoothing=0.5, reduction="none"),
          [0.0, -0.5 * LOG_P[1][1] - sum(LOG_P[1]) / 6])  # fmt: skip
    assert math.isnan(F.cross_entropy(norch.Tensor(LOGITS), norch.tensor([-100, -100]))[0])


def test_cross_entropy_smooths_labels():
    target, weight = norch.tensor([2, 1]), norch.Tensor([1.0, 2.0, 5.0])
    parts = [-0.7 * LOG_P[0][2] - 0.1 * sum(LOG_P[0]), -0.7 * LOG_P[1][1] - 0.1 * sum(LOG_P[1])]
    close(nn.CrossEntropyLoss(label_smoothing=0.3)(norch.Tensor(LOGITS), target), sum(parts) / 2)
    weighted = [
        -0.7 * 5 * LOG_P[0][2] - 0.1 * (LOG_P[0][0] + 2 * LOG_P[0][1] + 5 * LOG_P[0][2]),
        -0.7 * 2 * LOG_P[1][1] - 0.1 * (LOG_P[1][0] + 2 * LOG_P[1][1] + 5 * LOG_P[1][2]),
    ]
    close(F.cross_entropy(norch.Tensor(LOGITS), target, weight, label_smoothing=0.3), sum(weighted) / 7)


def test_cross_entropy_of_probabilities():
    target = norch.Tensor([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]])
    parts = [-0.2 * LOG_P[0][0] - 0.3 * LOG_P[0][1] - 0.5 * LOG_P[0][2], -LOG_P[1][0]]
    close(F.cross_entropy(norch.Tensor(LOGITS), target), sum(parts) / 2)
    close(F.cross_entropy(norch.Tensor(LOGITS), target, reduction="none"), parts)
    weight = norch.Tensor([1.0, 2.0, 5.0])
    parts = [-0.2 * LOG_P[0][0] - 0.6 * LOG_P[0][1] - 2.5 * LOG_P[0][2], -LOG_P[1][0]]
    close(F.cross_entropy(norch.Tensor(LOGITS), target, weight), sum(parts) / 2)
    hard = norch.Tensor([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    close(F.cross_entropy(norch.Tensor(LOGITS), hard, label_smoothing=0.3),
          F.cross_entropy(norch.Tensor(LOGITS), norch.tensor([2, 1]), label_smoothing=0.3).tolist())  # fmt: skip


def test_cross_entropy_of_further_dimensions_and_of_one_sample():
    # [N, C, d] = [1, 3, 2]: the two rows of LOGITS as columns
    logits = norch.Tensor([[[row[c] for row in LOGITS] for c in range(3)]])
    expected = [[-LOG_P[0][2], -LOG_P[1][1]]]
    close(F.cross_entropy(logits, norch.tensor([[2, 1]]), reduction="none"), expected)
    close(F.cross_entropy(logits, norch.tensor([[2, 1]])), sum(expected[0]) / 2)
    weight = norch.Tensor([1.0, 2.0, 5.0])
    close(F.cross_entropy(logits, norch.tensor([[2, 1]]), weight), (-5 * LOG_P[0][2] - 2 * LOG_P[1][1]) / 7)
    probabilities = norch.Tensor([[[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]]])
    close(F.cross_entropy(logits, probabilities), sum(expected[0]) / 2)
    for target in (norch.tensor([2]), norch.tensor([2]).reshape(())):
        assert F.cross_entropy(norch.Tensor(LOGITS[0]), target).item() == pytest.approx(-LOG_P[0][2], rel=1e-6)


def test_cross_entropy_stays_finite_where_softmax_underflows():
    logits = norch.Tensor([[1000.0, 0.0]], requires_grad=True)
    loss = F.cross_entropy(logits, norch.tensor([1]))
    assert loss[0] == 1000.0
    loss.backward()
    close(logits.grad, [[1.0, -1.0]])


@pytest.mark.parametrize(
    "target, options",
    [
        (norch.tensor([0]), {}),
        (norch.tensor([0]), {"weight": norch.Tensor([1.0, 0.0])}),
        (norch.Tensor([[1.0, 0.0]]), {}),
    ],
)
def test_an_impossible_class_that_is_not_the_target_costs_nothing(target, options):
    logits = norch.Tensor([[0.0, -math.inf]], requires_grad=True)
    target, options = beside(logits, target, options)
    loss = F.cross_entropy(logits, target, **options)
    assert loss[0] == 0.0
    loss.backward()
    assert logits.grad.tolist() == [[0.0, 0.0]]


def float64(values):
    return norch.tensor(values, dtype=norch.float64, requires_grad=True)


def beside(logits, target, options):
    """What a table holds, on the device of the logits."""
    moved = {key: value.to(logits.device) if key == "weight" else value for key, value in options.items()}
    return target.to(logits.device), moved


@pytest.mark.parametrize(
    "target, options",
    [
        (norch.tensor([2, 1]), {}),
        (norch.tensor([2, -100]), {"reduction": "sum"}),
        (norch.tensor([2, 1]), {"weight": norch.tensor([1.0, 2.0, 5.0], dtype=norch.float64), "reduction": "none"}),
        (norch.tensor([2, 1]), {"label_smoothing": 0.3}),
        (norch.tensor([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]], dtype=norch.float64), {}),
    ],
)
def test_first_and_second_derivatives_of_cross_entropy(target, options):
    target, options = beside(float64(LOGITS), target, options)

    def loss(logits):
        return F.cross_entropy(logits, target, **options)

    assert gradcheck(loss, (float64(LOGITS),))
    assert gradgradcheck(loss, (float64(LOGITS),))


def log_softmax(values):
    scale = math.log(sum(math.exp(x) for x in values))
    return [x - scale for x in values]


def of_classes(rows, target, weight=(1.0, 1.0, 1.0), ignore_index=-100, label_smoothing=0.0):
    """Cross-entropy by its definition: the loss of each sample, and the weights that a mean divides by."""
    losses, shares = [], []
    for row, label in zip(rows, target):
        share = 0.0 if label == ignore_index else weight[label]
        log_p = log_softmax(row)
        even = sum(w * x for w, x in zip(weight, log_p)) / 3 if label != ignore_index else 0.0
        hard = share * log_p[label] if share else 0.0
        losses.append(-(1 - label_smoothing) * hard - label_smoothing * even)
        shares.append(share)
    return losses, shares


OPTIONS = [
    {},
    {"ignore_index": 1},
    {"weight": [1.0, 2.0, 5.0]},
    {"weight": [0.0, 2.0, 5.0], "ignore_index": 1},
    {"label_smoothing": 0.3},
    {"label_smoothing": 0.3, "ignore_index": 2},
    {"label_smoothing": 1.0, "weight": [1.0, 2.0, 5.0], "ignore_index": 0},
]
SAMPLES = [[1.0, 2.0, 3.0], [1.0, 0.0, 0.0], [-2.0, 0.5, 1.0], [0.0, 3.0, -1.0]]
TARGET = [2, 1, 0, 0]


@pytest.mark.parametrize("options", OPTIONS, ids=repr)
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("name", ["cross_entropy", "nll_loss"])
def test_losses_of_classes_with_every_option(name, reduction, options, device):
    if name == "nll_loss" and "label_smoothing" in options:
        return
    losses, shares = of_classes(SAMPLES, TARGET, **options)
    expected = {"none": losses, "sum": sum(losses), "mean": sum(losses) / sum(shares)}[reduction]
    given = {key: norch.Tensor(value, device) if key == "weight" else value for key, value in options.items()}
    rows = SAMPLES if name == "cross_entropy" else [log_softmax(row) for row in SAMPLES]
    logits, target = norch.Tensor(rows, device, requires_grad=True), norch.tensor(TARGET, device=device)
    kind = {"cross_entropy": nn.CrossEntropyLoss, "nll_loss": nn.NLLLoss}[name]
    loss = getattr(F, name)(logits, target, reduction=reduction, **given)
    close(loss, expected)
    close(kind(reduction=reduction, **given)(logits, target), expected)

    # [N, C, d1, d2] = [2, 3, 1, 2]: the same samples, their classes along dimension 1
    images = logits.reshape(2, 1, 2, 3).permute(0, 3, 1, 2)
    nested = [[losses[:2]], [losses[2:]]] if reduction == "none" else expected
    spread = getattr(F, name)(images, target.reshape(2, 1, 2), reduction=reduction, **given)
    close(spread, nested)
    assert spread.device == logits.device

    (2 * loss).sum().backward()
    of_rows = logits.grad
    logits.grad = None
    (2 * spread).sum().backward()
    close(logits.grad, of_rows.tolist())


@pytest.mark.parametrize("options", OPTIONS, ids=repr)
def test_derivatives_with_every_option(options):
    given = {key: float64(value).detach() if key == "weight" else value for key, value in options.items()}
    images = float64([[[[1.0, 0.5]], [[2.0, 0.0]], [[3.0, -1.0]]], [[[-2.0, 0.0]], [[0.5, 3.0]], [[1.0, -1.0]]]])
    target = norch.tensor([[[2, 1]], [[0, 0]]])

    def loss(logits):
        return F.cross_entropy(logits, target, **given)

    assert gradcheck(loss, (images,)) and gradgradcheck(loss, (images,))
    if "label_smoothing" not in options:
        assert gradcheck(lambda x: F.nll_loss(x, target, **given), (images,))


@pytest.mark.parametrize("options", [{}, {"label_smoothing": 0.3}, {"weight": [1.0, 2.0, 5.0], "label_smoothing": 0.3}])
def test_derivatives_of_class_probabilities(options):
    given = {key: float64(value).detach() if key == "weight" else value for key, value in options.items()}
    target = float64([[0.2, 0.3, 0.5], [0.9, 0.1, 0.2]])

    def loss(logits, target):
        return F.cross_entropy(logits, target, **given)

    assert gradcheck(loss, (float64(LOGITS), target)) and gradgradcheck(loss, (float64(LOGITS), target))


def test_derivative_by_the_target_probabilities():
    logits = norch.tensor(LOGITS, dtype=norch.float64)
    assert gradcheck(lambda target: F.cross_entropy(logits, target), (float64([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]]),))


def test_derivatives_of_mse_loss():
    labels = norch.tensor([1.0, 4.0], dtype=norch.float64)
    assert gradcheck(lambda x: F.mse_loss(x, labels), (float64([1.5, 2.0]),))
    assert gradgradcheck(lambda x: F.mse_loss(x, labels), (float64([1.5, 2.0]),))


@pytest.mark.parametrize(
    "use, error, words",
    [
        (lambda x: F.cross_entropy(x, norch.tensor([3, 0])), IndexError, "target 3 .*0 to 2"),
        (lambda x: F.cross_entropy(x, norch.tensor([0, -1])), IndexError, "target -1 .*0 to 2"),
        (lambda x: F.cross_entropy(x, norch.tensor([0, 3]), label_smoothing=0.1), IndexError, "(target|index) 3"),
        (lambda x: F.cross_entropy(x, norch.tensor([0])), ValueError, r"\[1\].*\[2\]"),
        (lambda x: F.cross_entropy(x, norch.zeros(2) + 0.5), ValueError, r"\[2\].*\[2, 3\]"),
        (lambda x: F.cross_entropy(x, norch.tensor([True, False])), RuntimeError, "bool"),
        (lambda x: F.cross_entropy(x.long(), norch.tensor([0, 1])), RuntimeError, "int64"),
        (lambda x: F.cross_entropy(x, [0, 1]), TypeError, "list"),
        (lambda x: F.cross_entropy(x, norch.tensor([0, 1]), norch.ones(2)), ValueError, r"\[2\].*\[3\]"),
        (lambda x: F.cross_entropy(x, norch.tensor([0, 1]), reduction="avg"), ValueError, "avg"),
        (lambda x: nn.CrossEntropyLoss(label_smoothing=2), RuntimeError, "2"),
        (lambda x: F.cross_entropy(x.sum().reshape(()), norch.tensor([0])), ValueError, "dimensions"),
        (lambda x: F.nll_loss(x, norch.tensor([0, 9])), IndexError, "nll_loss: target 9|index 9"),
    ],
)
def test_losses_refuse(use, error, words):
    with pytest.raises(error, match=words):
        use(norch.Tensor(LOGITS)).tolist()  # on a GPU a wrong class is found when a value is read


def test_one_hot():
    assert F.one_hot(norch.tensor([2, 0])).tolist() == [[0, 0, 1], [1, 0, 0]]
    encoded = F.one_hot(norch.tensor([[1]]), 4)
    assert encoded.tolist() == [[[0, 1, 0, 0]]] and encoded.dtype is norch.int64
    with pytest.raises(RuntimeError, match="class 4 .*0 to 3"):
        F.one_hot(norch.tensor([4]), 4).tolist()
    with pytest.raises(RuntimeError, match="class -1 is out of range"):
        F.one_hot(norch.tensor([-1])).tolist()
    with pytest.raises(RuntimeError, match="float32"):
        F.one_hot(norch.zeros(1))


def test_weighted_classes_are_two_calls_with_the_formula_s_values():
    """The fused negative log-likelihood against its formula, with classes that do not count and weights of 0."""
    scores, target = norch.rand(3, 4, 2, requires_grad=True), norch.tensor([[0, 3], [-100, 1], [2, 2]])
    weight, formula = norch.tensor([0.5, 0.0, 2.0, 1.0]), norch.tensor([0.5, 0.0, 2.0, 1.0], requires_grad=True)
    for reduction in ("none", "mean", "sum"):
        fast = F.nll_loss(scores, target, weight, reduction=reduction)
        slow = F.nll_loss(scores, target, formula, reduction=reduction)  # weights with a graph take the formula
        assert type(fast.grad_fn).__name__ == "NLLBackward"
        assert fast.shape == slow.shape and fast.allclose(slow.detach())
        (first,) = norch.autograd.grad(fast.sum(), scores)
        (second,) = norch.autograd.grad(slow.sum(), scores)
        assert first.allclose(second)


def test_a_score_that_does_not_count_may_be_anything():
    scores = norch.tensor([[float("nan"), -float("inf")], [-1.0, -2.0]])
    assert F.nll_loss(scores, norch.tensor([-100, 0])).item() == 1.0


@pytest.mark.parametrize("shape", [(0, 3), (0, 3, 5, 7), (2, 3, 0, 7), (2, 3, 5, 7, 0), (1, 3, 1, 1)])
def test_gradients_of_losses_of_few_elements(shape):
    x, target = norch.rand(*shape, requires_grad=True), norch.zeros(shape[0], *shape[2:], dtype=norch.int64)
    F.nll_loss(x, target, reduction="none").sum().backward()
    assert x.grad.shape == x.shape and x.grad.sum().item() == -target.numel()


@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("weight", [None, [0.5, 1.0, 2.0]])
@pytest.mark.parametrize("smoothing", [None, 0.0, 0.1])
def test_the_mean_of_no_counted_samples_has_a_gradient_of_0(smoothing, weight, twice):
    x = norch.rand(2, 3, requires_grad=True)
    weight = None if weight is None else norch.tensor(weight)
    target = norch.tensor([-100, -100])
    options = {} if smoothing is None else {"label_smoothing": smoothing}
    loss = (F.nll_loss if smoothing is None else F.cross_entropy)(x, target, weight, **options)
    (gradient,) = norch.autograd.grad(loss, x, create_graph=twice)
    assert math.isnan(loss.item()) and not gradient.any()
    if twice and gradient.requires_grad:
        assert not norch.autograd.grad(gradient.sum(), x)[0].any()
