"""embedding_bag against torch's: bags of every kind, in every mode and dtype, with gradients; what both refuse."""

from __future__ import annotations

import pytest
import torch

import norch

TOLERANCE = {"float64": 1e-12, "float32": 1e-5, "float16": 2e-2, "bfloat16": 2e-1}  # of sums of up to ten or so
OFFSETS = {  # of 40 integers, and whether the last offset is the end
    "whole": ([0], False),
    "ragged": ([0, 3, 3, 17, 39, 40], False),
    "first empty": ([0, 0, 0, 25], False),
    "last empty": ([0, 40], False),
    "ended": ([0, 5, 5, 40], True),
    "rows": (None, False),
}  # (torch reads memory that it never wrote if the last offset ends before the input does)
WEIGHTED = [("sum", True), ("sum", False), ("mean", False), ("max", False)]


def results(lib, mode, weighted, size, dtype, kind, numbers="int64", **options):
    """Values and gradients of one call, of torch's random numbers: 40 integers below 11."""
    torch.manual_seed(0)
    offsets, ended = OFFSETS[kind]
    shape = (5, 8) if offsets is None else (40,)
    table, scales, index = torch.randn(11, size).round(decimals=1), torch.randn(shape), torch.randint(0, 11, shape)
    weight, factors = (lib.tensor(x.tolist(), dtype=getattr(lib, dtype)).requires_grad_() for x in (table, scales))
    places = lib.tensor(index.tolist(), dtype=getattr(lib, numbers))
    starts = None if offsets is None else lib.tensor(offsets, dtype=getattr(lib, numbers))
    y = lib.nn.functional.embedding_bag(
        places,
        weight,
        starts,
        mode=mode,
        per_sample_weights=factors if weighted else None,
        include_last_offset=ended,
        **options,
    )
    y.backward(lib.tensor(torch.randn(y.shape).tolist(), dtype=y.dtype))
    return [y, weight.grad, *([factors.grad] if weighted else [])]


def check(*case, dtype="float64", **options):
    mode, weighted, size, *bags = case
    for mine, theirs in zip(*(results(lib, mode, weighted, size, dtype, *bags, **options) for lib in (norch, torch))):
        assert str(mine.dtype).partition(".")[2] == str(theirs.dtype).partition(".")[2] == dtype
        given, expected = torch.tensor(mine.tolist(), dtype=torch.float64), theirs.detach().double()
        torch.testing.assert_close(given, expected, rtol=0, atol=TOLERANCE[dtype])


@pytest.mark.parametrize("kind", OFFSETS)
@pytest.mark.parametrize("padding", [None, 4, -1])
@pytest.mark.parametrize("mode, weighted", WEIGHTED)
def test_bags(mode, weighted, padding, kind):
    for size, numbers in ((1, "int64"), (3, "int32"), (16, "int64"), (37, "int64"), (150, "int32")):
        check(mode, weighted, size, kind, numbers, padding_idx=padding)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("kind", ["ragged", "rows"])
@pytest.mark.parametrize("mode, weighted", WEIGHTED)
def test_dtypes(mode, weighted, kind, dtype):
    check(mode, weighted, 21, kind, dtype=dtype)


@pytest.mark.parametrize("kind", ["ragged", "rows"])
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_rows_of_a_largest_norm(mode, kind):
    check(mode, False, 5, kind, max_norm=1.5, norm_type=1)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_infinite_rows(mode):
    inf = float("inf")
    for table in ([[inf, -inf], [1.0, -inf]], [[-inf, 2.0], [-inf, inf]]):
        found = []
        for lib in (norch, torch):
            weight = lib.tensor(table).requires_grad_()
            y = lib.nn.functional.embedding_bag(lib.tensor([[1, 0], [1, 1]]), weight, mode=mode)
            y.sum().backward()
            found.append(str([y.tolist(), weight.grad.tolist()]))
        assert found[0] == found[1]


def test_no_bags_and_no_integers():
    for mode in ("sum", "mean", "max"):
        for shape, offsets in (((0, 3), None), ((0,), [0, 0]), ((0,), [])):
            found = []
            for lib in (norch, torch):
                weight = lib.ones(5, 2).requires_grad_()
                starts = None if offsets is None else lib.tensor(offsets, dtype=lib.int64)
                y = lib.nn.functional.embedding_bag(lib.zeros(shape, dtype=lib.int64), weight, starts, mode=mode)
                y.sum().backward()
                found.append((y.tolist(), tuple(y.shape), weight.grad.tolist()))
            assert found[0] == found[1], (mode, shape, offsets)


@pytest.mark.parametrize(
    "integers, offsets",
    [([0, 11], [0]), ([-1], [0]), ([0, 1], [1]), ([0, 1], [0, 3]), ([0, 1], [-1, 1])],
)
def test_what_both_refuse(integers, offsets):
    for lib in (norch, torch):
        with pytest.raises((IndexError, RuntimeError)):
            lib.nn.functional.embedding_bag(lib.tensor(integers), lib.ones(11, 2), lib.tensor(offsets))
