"""Margins, likelihoods and CTC: values by hand, both derivatives, shapes, old names of options, bad input."""

import itertools
import math
import warnings

import pytest
from compare import close

import norch
from norch import nn
from norch.autograd import gradcheck, gradgradcheck
from norch.nn import functional as F


def tensor(values, requires_grad=False):
    return norch.tensor(values, dtype=norch.float64, requires_grad=requires_grad)


X = [[0.5, -1.0, 2.0], [3.25, 0.1, -0.75]]
Y = [[0.25, 1.0, 2.5], [-2.0, 0.7, -0.5]]
Z = [[1.5, -0.5, 0.4], [0.3, -1.2, 0.8]]


def norm(x, y):
    return math.sqrt(sum((a - b + 1e-6) ** 2 for a, b in zip(x, y)))


def cosine(x, y):
    return sum(a * b for a, b in zip(x, y)) / math.sqrt(sum(a * a for a in x) * sum(b * b for b in y))


def softplus(x):
    return math.log1p(math.exp(x))


def triplet(a, p, n, swap=False):
    far = min(norm(a, n), norm(p, n)) if swap else norm(a, n)
    return max(0.0, 1.0 + norm(a, p) - far)


def multi_margin(x, y, p=1, weight=(1.0, 1.0, 1.0)):
    return weight[y] * sum(max(0.0, 1 - x[y] + v) ** p for i, v in enumerate(x) if i != y) / len(x)


def poisson(x, t, log_input=True, full=False):
    loss = math.exp(x) - t * x if log_input else x - t * math.log(x + 1e-8)
    return loss + (t * math.log(t) - t + 0.5 * math.log(2 * math.pi * t) if full and t > 1 else 0.0)


SIGNS = [[1.0, -1.0, -1.0], [1.0, -1.0, 1.0]]
COUNTS = [[0.0, 1.0, 4.0], [2.0, 7.0, 1.0]]
POSITIVE = [[0.5, 1.5, 4.0], [2.5, 6.0, 0.7]]


def pairs(formula, *operands):
    """The formula of every element of matrices."""
    return [[formula(*values) for values in zip(*rows)] for rows in zip(*operands)]


def by_rows(formula, *operands):
    return [formula(*rows) for rows in zip(*operands)]


# the function, its module, options, operands, how many of them are floating inputs, the expected losses
ROWS = [
    (
        "margin_ranking_loss",
        "MarginRankingLoss",
        {},
        [X, Y, SIGNS],
        2,
        pairs(lambda x, y, t: max(0.0, -t * (x - y)), X, Y, SIGNS),
    ),
    (
        "margin_ranking_loss",
        "MarginRankingLoss",
        {"margin": 0.3},
        [X, Y, SIGNS],
        2,
        pairs(lambda x, y, t: max(0.0, 0.3 - t * (x - y)), X, Y, SIGNS),
    ),
    (
        "hinge_embedding_loss",
        "HingeEmbeddingLoss",
        {"margin": 0.9},
        [X, SIGNS],
        1,
        pairs(lambda x, t: x if t == 1 else max(0.0, 0.9 - x), X, SIGNS),
    ),
    ("soft_margin_loss", "SoftMarginLoss", {}, [X, SIGNS], 1, pairs(lambda x, t: softplus(-t * x), X, SIGNS)),
    (
        "cosine_embedding_loss",
        "CosineEmbeddingLoss",
        {"margin": -0.9},
        [X, Y, [1.0, -1.0]],
        2,
        [1 - cosine(X[0], Y[0]), max(0.0, cosine(X[1], Y[1]) + 0.9)],
    ),
    ("triplet_margin_loss", "TripletMarginLoss", {}, [X, Y, Z], 3, by_rows(triplet, X, Y, Z)),
    (
        "triplet_margin_loss",
        "TripletMarginLoss",
        {"swap": True},
        [X, Y, Z],
        3,
        by_rows(lambda *rows: triplet(*rows, swap=True), X, Y, Z),
    ),
    (
        "triplet_margin_with_distance_loss",
        "TripletMarginWithDistanceLoss",
        {"distance_function": lambda x, y: ((x - y + 1e-6) ** 2).sum(-1).sqrt()},
        [X, Y, Z],
        3,
        by_rows(triplet, X, Y, Z),
    ),
    ("multi_margin_loss", "MultiMarginLoss", {}, [X, [2, 1]], 1, by_rows(multi_margin, X, [2, 1])),
    (
        "multi_margin_loss",
        "MultiMarginLoss",
        {"p": 2, "weight": [1.0, 2.0, 0.5]},
        [X, [2, 1]],
        1,
        by_rows(lambda x, y: multi_margin(x, y, 2, [1.0, 2.0, 0.5]), X, [2, 1]),
    ),
    (
        "multilabel_margin_loss",
        "MultiLabelMarginLoss",
        {},
        [X, [[2, 0, -1], [1, -1, 0]]],
        1,
        [
            (max(0, 1 - 2.0 - 1.0) + max(0, 1 - 0.5 - 1.0)) / 3,
            (max(0, 1 - 0.1 + 3.25) + max(0, 1 - 0.1 - 0.75)) / 3,
        ],
    ),
    (
        "multilabel_soft_margin_loss",
        "MultiLabelSoftMarginLoss",
        {"weight": [1.0, 2.0, 0.5]},
        [X, [[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]]],
        1,
        by_rows(
            lambda x, t: sum(w * softplus(-v if s else v) for v, s, w in zip(x, t, (1.0, 2.0, 0.5))) / 3,
            X,
            [[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]],
        ),
    ),
    ("poisson_nll_loss", "PoissonNLLLoss", {}, [X, COUNTS], 1, pairs(poisson, X, COUNTS)),
    (
        "poisson_nll_loss",
        "PoissonNLLLoss",
        {"log_input": False, "full": True},
        [POSITIVE, COUNTS],
        1,
        pairs(lambda x, t: poisson(x, t, False, True), POSITIVE, COUNTS),
    ),
    (
        "gaussian_nll_loss",
        "GaussianNLLLoss",
        {},
        [X, Y, POSITIVE],
        3,
        pairs(lambda x, t, v: 0.5 * (math.log(v) + (x - t) ** 2 / v), X, Y, POSITIVE),
    ),
    (
        "gaussian_nll_loss",
        "GaussianNLLLoss",
        {"full": True},
        [X, Y, POSITIVE],
        3,
        pairs(lambda x, t, v: 0.5 * (math.log(v) + (x - t) ** 2 / v + math.log(2 * math.pi)), X, Y, POSITIVE),
    ),
]
rows = pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0] + "".join(f" {k}" for k in row[2]))


def operands_of(row):
    options = {k: tensor(v) if k == "weight" else v for k, v in row[2].items()}
    integers = "multi_margin" in row[0] or "multilabel_margin" in row[0]
    given = [norch.tensor(v) if integers and i else tensor(v) for i, v in enumerate(row[3])]
    return given, options


@rows
def test_values(row):
    given, options = operands_of(row)
    flat = [x for line in row[5] for x in line] if isinstance(row[5][0], list) else row[5]
    for call in (getattr(F, row[0]), lambda *given, **more: getattr(nn, row[1])(**more)(*given)):
        close(call(*given, reduction="none", **options), row[5], 1e-6)
        close(call(*given, reduction="sum", **options), sum(flat), 1e-6)
        close(call(*given, **options), sum(flat) / len(flat), 1e-6)


@rows
def test_derivatives(row):
    given, options = operands_of(row)
    inputs = [x.requires_grad_() for x in given[: row[4]]]

    def loss(*inputs):
        return getattr(F, row[0])(*inputs, *given[row[4] :], reduction="none", **options)

    assert gradcheck(loss, inputs) and gradgradcheck(loss, inputs)


def test_single_samples_and_variances_of_other_shapes():
    assert F.cosine_embedding_loss(tensor(X[0]), tensor(Y[0]), tensor(1.0)).shape == ()
    assert F.multi_margin_loss(tensor(X[0]), norch.tensor(2)).shape == ()
    assert F.multilabel_margin_loss(tensor(X[0]), norch.tensor([2, -1, 0]), reduction="none").shape == ()
    full = F.gaussian_nll_loss(tensor(X), tensor(Y), norch.full([2, 3], 2.0, dtype=norch.float64))
    for var in (2.0, tensor([2.0, 2.0]), tensor([[2.0], [2.0]]), tensor([2.0, 2.0, 2.0])):
        close(F.gaussian_nll_loss(tensor(X), tensor(Y), var), full.item(), 1e-12)
    assert F.soft_margin_loss(tensor([1e4]), tensor([-1.0])).item() == 1e4


def test_a_small_variance_counts_as_eps_and_has_a_derivative_all_the_same():
    var = tensor([0.0], requires_grad=True)
    F.gaussian_nll_loss(tensor([1.0]), tensor([1.0]), var, eps=0.5).backward()
    assert var.grad.tolist() == [1.0]


# ---- CTC ------------------------------------------------------------------------------------------------------------


def ways(probabilities, labels, blank):
    """The probability of the labels: the sum over all paths that read so once repetitions and blanks are left out."""
    total = 0.0
    for path in itertools.product(range(len(probabilities[0])), repeat=len(probabilities)):
        read = [c for i, c in enumerate(path) if c != blank and (i == 0 or path[i - 1] != c)]
        if read == labels:
            total += math.prod(step[c] for step, c in zip(probabilities, path))
    return total


TARGETS = [[1, 2], [2, 2], [1], []]


@pytest.mark.parametrize("blank", [0, 3])
def test_ctc_sums_over_all_paths(blank):
    norch.manual_seed(4)
    scores = norch.randn(5, 4, 4, dtype=norch.float64).log_softmax(2)
    lengths = [5, 4, 3, 2]
    expected = [
        -math.log(ways([scores[t, n].exp().tolist() for t in range(lengths[n])], labels, blank))
        for n, labels in enumerate(TARGETS)
    ]
    padded = norch.tensor([labels + [1] * (2 - len(labels)) for labels in TARGETS])
    joined = norch.tensor([label for labels in TARGETS for label in labels])
    sizes = [len(labels) for labels in TARGETS]
    for targets in (padded, joined):
        loss = F.ctc_loss(scores, targets, lengths, norch.tensor(sizes), blank, reduction="none")
        close(loss, expected, 1e-12)
        mean = sum(e / max(n, 1) for e, n in zip(expected, sizes)) / 4
        close(nn.CTCLoss(blank)(scores, targets, tuple(lengths), tuple(sizes)), mean, 1e-12)
    one = F.ctc_loss(scores[:4, 1], norch.tensor([2, 2]), norch.tensor(4), norch.tensor(2), blank, reduction="sum")
    assert one.shape == () and one.item() == pytest.approx(expected[1], rel=1e-12)


def test_ctc_derivatives():
    norch.manual_seed(5)
    logits = norch.randn(4, 2, 3, dtype=norch.float64).requires_grad_()

    def loss(logits):
        return F.ctc_loss(logits.log_softmax(2), norch.tensor([[1, 2], [1, 0]]), [4, 3], [2, 1], reduction="none")

    assert gradcheck(loss, (logits,))


def test_ctc_of_a_target_that_does_not_fit():
    logits = norch.zeros(2, 1, 3, requires_grad=True)
    arguments = (norch.tensor([[1, 1]]), [2], [2])
    assert F.ctc_loss(logits.log_softmax(2), *arguments).item() == math.inf
    loss = F.ctc_loss(logits.log_softmax(2), *arguments, zero_infinity=True)
    loss.backward()
    assert loss.item() == 0.0 and logits.grad.abs().max().item() == 0.0


def test_ctc_of_impossible_classes_and_long_sequences():
    scores = norch.tensor([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]], dtype=norch.float64).log().requires_grad_()
    loss = F.ctc_loss(scores, norch.tensor([1]), 2, 1, reduction="sum")
    loss.backward()
    assert loss.item() == pytest.approx(-math.log(0.75)) and scores.grad.isfinite().all()
    scores = norch.full([400, 1, 3], math.log(1 / 3))
    assert F.ctc_loss(scores, norch.ones(1, 20, dtype=norch.int64), [400], [20]).isfinite()


# ---- Old names, weights, broadcasting --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "old, reduction",
    [
        ({"size_average": False}, "sum"),
        ({"size_average": True}, "mean"),
        ({"reduce": False}, "none"),
        ({"size_average": False, "reduce": True}, "sum"),
        ({"size_average": True, "reduce": False}, "none"),
    ],
)
def test_old_names_of_reductions(old, reduction):
    x, y = tensor(X), tensor(Y)
    expected = F.mse_loss(x, y, reduction=reduction)
    for call in (lambda: F.mse_loss(x, y, **old), lambda: nn.MSELoss(**old)(x, y)):
        with pytest.warns(UserWarning, match=f"size_average and reduce.*{reduction}"):
            assert call().tolist() == expected.tolist()
    with pytest.warns(UserWarning, match="size_average"):
        assert nn.CrossEntropyLoss(None, *list(old.values())[:1]).reduction in ("mean", "sum")


@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"])
def test_distances_broadcast_with_a_warning(name):
    function = getattr(F, name)
    with pytest.warns(UserWarning, match=r"\[3, 1\].*\[3\]"):
        loss = function(tensor([1.0, 2.0, 3.0]), tensor([[1.0], [2.0], [3.0]]), reduction="none")
    assert loss.shape == [3, 3]
    with pytest.raises(RuntimeError, match=r"\[3\].*\[2\]"):
        function(norch.ones(3), norch.ones(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        function(norch.ones(3), norch.ones(3))


@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "huber_loss"])
def test_weights_of_distances(name):
    function, x, y, weight = getattr(F, name), tensor(X), tensor(Y), tensor(POSITIVE)
    each = function(x, y, reduction="none")
    divisor = each.numel() if name == "huber_loss" else weight.sum()  # as in PyTorch
    close(function(x, y, weight=weight), ((each * weight).sum() / divisor).item(), 1e-12)
    close(function(x, y, reduction="sum", weight=weight), (each * weight).sum().item(), 1e-12)
    with pytest.raises(ValueError, match=r"\[3\]"):
        function(x, y, weight=norch.ones(3))


def test_labels_may_be_whole_floats():
    logits = tensor(X)
    expected = F.cross_entropy(logits, norch.tensor([2, 0])).item()
    assert F.cross_entropy(logits, norch.tensor([2.0, 0.0])).item() == expected
    assert nn.CrossEntropyLoss()(logits, norch.tensor([2.0, 0.0])).item() == expected
    assert F.nll_loss(logits.log_softmax(1), norch.tensor([2.0, 0.0])).item() == pytest.approx(expected)
    with pytest.raises((ValueError, TypeError)):
        F.cross_entropy(logits, norch.tensor([0.5, 1.0]))


def test_linear_cross_entropy_is_linear_and_cross_entropy():
    x, weight, bias, target = tensor(X), tensor(Y + Z), tensor([0.1, 0.2, 0.3, 0.4]), norch.tensor([3, 1])
    expected = F.cross_entropy(F.linear(x, weight, bias), target, label_smoothing=0.1)
    loss = F.linear_cross_entropy(x, weight, target, linear_bias=bias, label_smoothing=0.1)
    assert loss.item() == expected.item()


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda x: F.margin_ranking_loss(x, x, x[0]), RuntimeError, "dimensions"),
        (lambda x: F.cosine_embedding_loss(x, x, x), RuntimeError, "cosine"),
        (lambda x: F.triplet_margin_loss(x, x, x, margin=0.0), ValueError, "margin is 0"),
        (lambda x: nn.TripletMarginLoss(-1.0), ValueError, "margin is -1"),
        (lambda x: nn.TripletMarginWithDistanceLoss(margin=0.0), ValueError, "margin is 0"),
        (lambda x: F.triplet_margin_loss(x, x[0], x), RuntimeError, "dimensions"),
        (lambda x: F.multi_margin_loss(x, norch.tensor([0]), p=3), ValueError, "p is 3"),
        (lambda x: nn.MultiMarginLoss(p=3), ValueError, "p is 3"),
        (lambda x: F.multi_margin_loss(x, norch.tensor([0])), RuntimeError, "multi_margin"),
        (lambda x: F.multi_margin_loss(x, x), RuntimeError, "multi_margin"),
        (lambda x: F.multi_margin_loss(x, x[:, 0]), RuntimeError, "float64"),
        (lambda x: F.multilabel_margin_loss(x, x), RuntimeError, "float64"),
        (lambda x: F.multilabel_margin_loss(x[:, :0], x[:, :0]), RuntimeError, "0"),
        (lambda x: F.multilabel_margin_loss(x, norch.tensor([0])), RuntimeError, "multilabel_margin"),
        (lambda x: F.poisson_nll_loss(x, x, reduction="max"), ValueError, "'max'"),
        (lambda x: F.gaussian_nll_loss(x, x, -x * x), ValueError, "negative"),
        (lambda x: F.gaussian_nll_loss(x, x, norch.ones(7)), ValueError, "7"),
        (lambda x: F.soft_margin_loss(x.long(), x), RuntimeError, "int64"),
        (lambda x: F.ctc_loss(x, norch.tensor([1]), 2, 1, blank=3), RuntimeError, "blank is 3"),
        (lambda x: F.ctc_loss(x, norch.tensor([1]), 3, 1), RuntimeError, "input_lengths has 3"),
        (lambda x: F.ctc_loss(x, norch.tensor([1]), 2, 2), RuntimeError, "2 labels"),
        (lambda x: F.ctc_loss(x[0], norch.tensor([1]), 2, 1), ValueError, "log_probs"),
        (lambda x: F.ctc_loss(x, norch.tensor([1]), [2, 2], 1), RuntimeError, "2 lengths"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call(tensor(X))


def test_multilabel_soft_margin_of_a_target_of_more_dimensions():
    """The classes are the input's last axis, counted from the front of what both broadcast to, as in PyTorch."""
    loss = F.multilabel_soft_margin_loss(norch.ones(2), norch.ones(1, 2), -norch.ones(2))
    close(loss, -0.15663084)


def test_ctc_takes_lengths_of_integers():
    scores, labels = norch.rand(5, 1, 3).log_softmax(2), norch.tensor([[1, 2]])
    for lengths in ((norch.tensor([5.0]), norch.tensor([2])), (norch.tensor([5]), norch.tensor([2.0]))):
        with pytest.raises(RuntimeError, match="lengths has dtype norch.float32"):
            F.ctc_loss(scores, labels, *lengths)
