"""norch.nn's losses against torch: values, both derivatives, reductions, weights and labels."""

from __future__ import annotations

import random

import pytest
import torch
from test_oracle_train import assert_same, to_norch

import norch

REDUCTIONS = ["none", "mean", "sum"]
SHAPES = [(4,), (3, 5), (2, 3, 4), (0, 3)]

real = (-3.0, 3.0)
wide = (-60.0, 60.0)
unit = (0.01, 0.99)
logarithm = (-4.0, 0.0)

# name, ranges of input and target, shapes of the tensors among the options (of an input's shape), other options
DISTANCES = [
    ("mse_loss", real, real, {}, {}),
    ("l1_loss", real, real, {}, {}),
    *(("smooth_l1_loss", real, real, {}, {"beta": beta}) for beta in (1.0, 0.3, 2.5, 0.0)),
    *(("huber_loss", real, real, {}, {"delta": delta}) for delta in (1.0, 0.3, 2.5)),
    ("binary_cross_entropy", unit, unit, {}, {}),
    ("binary_cross_entropy", unit, unit, {"weight": lambda shape: shape}, {}),
    ("binary_cross_entropy", unit, unit, {"weight": lambda shape: shape[-1:]}, {}),
    ("binary_cross_entropy_with_logits", real, unit, {}, {}),
    ("binary_cross_entropy_with_logits", wide, unit, {}, {}),
    ("binary_cross_entropy_with_logits", real, unit, {"weight": lambda shape: shape}, {}),
    ("binary_cross_entropy_with_logits", wide, unit, {"pos_weight": lambda shape: shape[-1:]}, {}),
    (
        "binary_cross_entropy_with_logits",
        real,
        unit,
        {"weight": lambda shape: shape[-1:], "pos_weight": lambda shape: shape},
        {},
    ),
    ("kl_div", logarithm, unit, {}, {}),
    ("kl_div", logarithm, logarithm, {}, {"log_target": True}),
    ("kl_div", logarithm, unit, {}, {"reduction": "batchmean"}),
]
CLASSIFICATIONS = [
    (name, {**options, **weight})
    for name in ("cross_entropy", "nll_loss")
    for options in ({}, {"ignore_index": 1}, {"label_smoothing": 0.2}, {"label_smoothing": 0.2, "ignore_index": 2})
    for weight in ({}, {"weight": True})
    if name == "cross_entropy" or "label_smoothing" not in options
]


def uniform(rng, bounds, shape):
    values = [rng.uniform(*bounds) for _ in range(torch.Size(shape).numel())]
    return torch.tensor(values, dtype=torch.float64).reshape(shape)


def assert_same_derivatives(function, operands, rng, dtype):
    """A loss of tensors that require gradients: its value, then first and second derivatives in random directions."""
    found = []
    state = rng.getstate()
    for lib, convert in ((norch, to_norch), (torch, torch.clone)):
        rng.setstate(state)

        def direction(like, convert=convert):
            shape = tuple(like.shape)
            return convert(uniform(rng, (-1, 1), shape).to(getattr(torch, dtype)))

        leaves = [convert(operand.to(getattr(torch, dtype))).requires_grad_() for operand in operands]
        loss = function(lib, *leaves)
        directions = direction(loss) if loss.numel() != 1 else convert(torch.ones(1, dtype=getattr(torch, dtype)))
        first = lib.autograd.grad((loss * directions).sum(), leaves, create_graph=True)
        along = sum((gradient * direction(leaf)).sum() for gradient, leaf in zip(first, leaves))
        second = lib.autograd.grad(along, leaves, allow_unused=True) if along.requires_grad else []
        zeros = [None if gradient is None or not gradient.any() else gradient for gradient in second]
        plain = lib.autograd.grad((function(lib, *leaves) * directions).sum(), leaves)  # by the fused backward
        found.append([loss, *first, *plain, zeros])
    (*mine, my_second), (*theirs, their_second) = found
    for ours, wanted in zip(mine, theirs):
        assert_same(ours, wanted, dtype)
    for ours, wanted in zip(my_second, their_second):
        assert (ours is None) == (wanted is None)
        if ours is not None:
            assert_same(ours, wanted, dtype, scale=10)


@pytest.mark.filterwarnings("ignore:.*divides")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("row", DISTANCES, ids=lambda row: f"{row[0]}-{list(row[3])}-{row[4]}")
def test_losses_of_pairs(row, dtype):
    name, inputs, targets, weights, options = row
    rng = random.Random(repr(row[0]))
    for shape in SHAPES:
        given = {key: uniform(rng, (0.2, 3), of(shape)).to(getattr(torch, dtype)) for key, of in weights.items()}
        for reduction in REDUCTIONS:

            def loss(lib, input, target):
                kept = {key: to_norch(value) if lib is norch else value for key, value in given.items()}  # noqa: B023
                return getattr(lib.nn.functional, name)(input, target, **{"reduction": reduction, **options}, **kept)  # noqa: B023

            operands = [uniform(rng, inputs, shape), uniform(rng, targets, shape)]
            assert_same_derivatives(loss, operands, rng, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name, options", CLASSIFICATIONS, ids=repr)
def test_losses_of_classes(name, options, dtype):
    rng = random.Random(name)
    for shape in [(3,), (5, 3), (2, 3, 4), (2, 3, 2, 2)]:
        samples = shape[:1] + shape[2:] if len(shape) > 1 else ()
        target = torch.tensor([rng.randrange(3) for _ in range(torch.Size(samples).numel())]).reshape(samples)
        if not samples:
            target.fill_(0)  # a lone sample that is ignored makes NaN
        given = {**options}
        if "weight" in options:
            given["weight"] = uniform(rng, (0.2, 3), (3,)).to(getattr(torch, dtype))
        for reduction in REDUCTIONS:

            def loss(lib, input):
                convert = to_norch if lib is norch else lambda value: value
                labels, kept = convert(target), {key: convert(value) for key, value in given.items()}  # noqa: B023
                return getattr(lib.nn.functional, name)(input, labels, reduction=reduction, **kept)  # noqa: B023

            assert_same_derivatives(loss, [uniform(rng, real, shape)], rng, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("label_smoothing", [0.0, 0.3])
def test_losses_of_class_probabilities(label_smoothing, weighted, dtype):
    rng = random.Random(0)
    for shape in [(3,), (5, 3), (2, 3, 4)]:
        weight = uniform(rng, (0.2, 3), (3,)).to(getattr(torch, dtype)) if weighted else None
        for reduction in REDUCTIONS:

            def loss(lib, input, target):
                given = to_norch(weight) if lib is norch else weight  # noqa: B023
                options = {"reduction": reduction, "label_smoothing": label_smoothing}  # noqa: B023
                return lib.nn.functional.cross_entropy(input, target, given, **options)

            assert_same_derivatives(loss, [uniform(rng, real, shape), uniform(rng, unit, shape)], rng, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_losses_at_the_extremes(dtype):
    logits = [[1000.0, -1000.0, 50.0, -50.0, 0.0, 1e-8]] * 2
    certain = [[0.0, 1.0, 1e-7, 1 - 1e-7, 1e-38, 0.5]] * 2
    targets = [[0.0] * 6, [1.0] * 6]
    for name, inputs in [("binary_cross_entropy_with_logits", logits), ("binary_cross_entropy", certain)]:
        found = []
        for lib in (norch, torch):
            x = lib.tensor(inputs, dtype=getattr(lib, dtype), requires_grad=True)
            loss = getattr(lib.nn.functional, name)(x, lib.tensor(targets, dtype=x.dtype), reduction="none")
            loss.sum().backward()
            found.append((loss, x.grad))
        for mine, theirs in zip(*found):
            assert_same(mine, theirs, dtype, scale=100)  # torch's 1e-12 is a float32 in its double formula too


@pytest.mark.parametrize("name", "L1Loss SmoothL1Loss HuberLoss MSELoss BCELoss BCEWithLogitsLoss KLDivLoss".split())
@pytest.mark.filterwarnings("ignore:.*divides")
def test_modules_of_pairs(name):
    x, y = torch.tensor([[0.2, 0.9], [0.5, 0.1]]), torch.tensor([[0.0, 1.0], [0.5, 3.0]])
    for options in ({}, {"reduction": "sum"}):
        if name.startswith("BCE") and not options:
            options = {"weight": torch.tensor([1.0, 2.0])}
        mine, theirs = getattr(norch.nn, name)(**to_norch(options)), getattr(torch.nn, name)(**options)
        assert_same(mine(to_norch(x), to_norch(y.clamp(max=1))), theirs(x, y.clamp(max=1)), "float32")
        assert set(mine.state_dict()) == set(theirs.state_dict())
