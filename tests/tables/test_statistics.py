"""Statistics, searching and writing with a reduction where a row of the table does not fit: options, ties, errors."""

from __future__ import annotations

import bisect
import math
import statistics

import pytest
from compare import assert_close

import norch

NAN, INF = math.nan, math.inf


def listed(result):
    """A result as Python's values: tensors as lists, tuples as tuples."""
    if isinstance(result, (tuple, list)):
        return tuple(listed(part) for part in result)
    return result.tolist()


# An expression and its value; x is [[4, 1, 4], [2, 2, 3]].
VALUES = {
    # unique elements
    "x.unique()": [1, 2, 3, 4],
    "x.unique(return_inverse=True, return_counts=True)": ([1, 2, 3, 4], [[3, 0, 3], [1, 1, 2]], [1, 2, 1, 2]),
    "norch.unique(norch.tensor([[2, 1], [1, 9], [2, 1]]), dim=0, return_inverse=True)": ([[1, 9], [2, 1]], [1, 0, 1]),
    "norch.unique(norch.tensor([[2, 1, 2], [3, 0, 3]]), dim=1, return_counts=True)": ([[1, 2], [0, 3]], [1, 2]),
    "norch.tensor([], dtype=norch.int64).unique(return_inverse=True)": ([], []),
    "norch.tensor(5).unique(return_counts=True)": ([5], [1]),
    "(x > 1).unique(return_inverse=True, return_counts=True)": ([False, True], [[1, 0, 1], [1, 1, 1]], [1, 5]),
    "(x > 0).unique(return_counts=True)": ([True], [6]),
    "(x - 3).to(norch.int8).unique(return_inverse=True)": ([-2, -1, 0, 1], [[3, 0, 3], [1, 1, 2]]),
    "(x + 124 * (x > 3)).to(norch.uint8).unique(return_counts=True)": ([1, 2, 3, 128], [1, 2, 1, 2]),
    "x.unique_consecutive()": [4, 1, 4, 2, 3],
    "x.unique_consecutive(dim=1, return_counts=True)": ([[4, 1, 4], [2, 2, 3]], [1, 1, 1]),
    "norch.tensor([1, 1, 0]).unique_consecutive(True, True)": ([1, 0], [0, 0, 1], [2, 1]),
    # order
    "x.mode(1)": ([4, 2], [2, 1]),
    "x.median()": 2,
    "x.median(0)": ([2, 1, 3], [1, 0, 1]),
    "x.median(0, keepdim=True).values.shape": (1, 3),
    "norch.tensor([]).nanmedian().isnan()": True,
    "norch.tensor([1.0, float('nan'), 0.0]).median(0).indices": 1,
    "norch.tensor([1.0, float('nan'), 0.0]).nanmedian(0)": (0.0, 2),
    "norch.tensor([[3.0, 1.0, 2.0, 4.0]]).quantile(0.5, dim=1, interpolation='lower')": [2.0],
    "norch.tensor([[3.0, 1.0, 2.0, 4.0]]).quantile(0.5, dim=1, interpolation='higher')": [3.0],
    "norch.tensor([[3.0, 1.0, 2.0, 4.0]]).quantile(0.5, dim=1, interpolation='midpoint')": [2.5],
    "norch.tensor([3.0, 1.0, 2.0]).quantile(0.3, interpolation='nearest')": 2.0,
    "norch.tensor([3.0, 1.0, 2.0]).quantile(norch.tensor([0.0, 1.0]), 0, True)": [[1.0], [3.0]],
    "norch.tensor([3.0, float('nan')]).quantile(0.0).isnan()": True,
    "norch.tensor([float('nan'), float('nan')]).nanquantile(0.5).isnan()": True,
    "norch.tensor([1, 3, 3, 2]).cummax(0)": ([1, 3, 3, 3], [0, 1, 2, 2]),
    "norch.tensor([1, float('nan'), 3]).cummin(0).indices": [0, 1, 1],
    "norch.tensor([-float('inf'), -float('inf'), 0.0]).logcumsumexp(0)": [-INF, -INF, 0.0],
    "x.aminmax()": (1, 4),
    "x.sort(stable=True, descending=True).indices": [[0, 2, 1], [2, 0, 1]],
    # counts
    "norch.tensor([0, 3, 0]).bincount(minlength=5)": [2, 0, 0, 1, 0],
    "norch.tensor([0, 2]).bincount(norch.tensor([0.5, 4.0]))": [0.5, 0.0, 4.0],
    "norch.tensor([], dtype=norch.int64).bincount(minlength=2)": [0, 0],
    "norch.tensor([0.0, 1.0, 2.0, 5.0]).histc(2, 0, 2)": [1.0, 2.0],
    "norch.tensor([7.0, 7.0]).histc(2)": [0.0, 2.0],
    "norch.tensor([float('nan'), -1.0, 0.0, 0.5, 2.0, 3.0] * 9).histc(2, 0, 2)": [18.0, 9.0],
    "norch.tensor([[0.0, 0.5, 2.0, 3.0]] * 9, dtype=norch.float16).T.histc(2, 0, 2)": [18.0, 9.0],
    "norch.tensor([0.0, 1.0, 2.0, 9.0]).histogram(norch.tensor([0.0, 1.0, 2.0]))": ([1.0, 2.0], [0.0, 1.0, 2.0]),
    "norch.tensor([0.0, 1.0]).histogram(2, range=(0.0, 2.0), weight=norch.tensor([3.0, 1.0]), density=True).hist": [
        0.75,
        0.25,
    ],
    "norch.tensor([0.0, 1.2, 9.0]).histogram(2, range=(1.0, 1.0))": ([0.0, 1.0], [0.5, 1.0, 1.5]),
    "norch.histogramdd(norch.tensor([[0.0, 0.0], [1.0, 2.0]]), [1, 2], range=[0.0, 1.0, 0.0, 2.0])": (
        [[1.0, 1.0]],
        ([0.0, 1.0], [0.0, 1.0, 2.0]),
    ),
    "x.count_nonzero((0, 1))": 6,
    # searching
    "norch.isin(x, norch.tensor([4, 3]))": [[True, False, True], [False, False, True]],
    "norch.isin(x, 2, invert=True)": [[True, True, True], [False, False, True]],
    "norch.isin(element=2, test_elements=x)": True,
    "norch.isin(x, norch.tensor([]))": [[False] * 3] * 2,
    "norch.searchsorted(norch.tensor([[1, 3], [2, 4]]), norch.tensor([[3], [3]]), right=True)": [[2], [1]],
    "norch.searchsorted(norch.tensor([3, 1, 2]), 2, sorter=norch.tensor([1, 2, 0]))": 1,
    "norch.searchsorted(norch.tensor([1.0, float('nan')]), norch.tensor([float('nan'), 9.0]))": [1, 1],
    "norch.searchsorted(norch.tensor([1.0, float('nan')]), norch.tensor([1.0, 9.0]), right=True)": [1, 1],
    "norch.searchsorted(norch.tensor([1.0, 2.0]), norch.tensor([1.5]), out_int32=True).dtype == norch.int32": True,
    "norch.bucketize(norch.tensor([[1, 2], [3, 9]]), norch.tensor([1, 3]), right=True)": [[1, 1], [2, 2]],
    "norch.unravel_index(norch.tensor([5, -1]), (2, 3))": ([1, 1], [2, 2]),
    "norch.tensor([[0, 2], [3, 0]]).argwhere()": [[0, 1], [1, 0]],
    "norch.tensor([0, 2]).nonzero_static(size=2, fill_value=7)": [[1], [7]],
    # writing
    "norch.tensor([9, 9]).scatter_reduce(0, norch.tensor([0, 0]), norch.tensor([2, 5]), 'mean', include_self=False)": [
        3,
        9,
    ],
    "norch.tensor([1, 2]).scatter(0, norch.tensor([0, 0]), norch.tensor([3, 4]), reduce='multiply')": [12, 2],
    "norch.tensor([1, 2]).scatter(0, norch.tensor([1]), 5, reduce='add')": [1, 7],
    "norch.tensor([True, True]).scatter_reduce(0, norch.tensor([1]), norch.tensor([False]), 'prod')": [True, False],
    "norch.zeros(2).put_(norch.tensor([[0, 0]]), norch.tensor([1.0, 2.0]), accumulate=True)": [3.0, 0.0],
    "norch.zeros(2, 2).t().put_(norch.tensor([1, -1]), norch.tensor([1.0, 2.0]))": [[0.0, 1.0], [0.0, 2.0]],
    "norch.arange(6).view(1, 2, 3).permute(2, 0, 1).put_(norch.tensor([[1], [-2]]), norch.tensor([7, 8]))": [
        [[0, 7]],
        [[1, 4]],
        [[8, 5]],
    ],
    "norch.zeros(8, 3).t().put(norch.tensor([1, 1, -1]), norch.tensor([2.0, 3.0, 4.0]), True)[:, ::6]": [
        [0.0, 0.0],
        [0.0, 0.0],
        [0.0, 0.0],
    ],
    "norch.zeros(8, 3).t().put(norch.tensor([1, 1, -1]), norch.tensor([2.0, 3.0, 4.0]), True)[:, 1::6]": [
        [5.0, 0.0],
        [0.0, 0.0],
        [0.0, 4.0],
    ],
    "norch.tensor(5.0).index_fill(0, norch.tensor([0]), 2.0)": 2.0,
    "norch.tensor(5.0).index_add(0, norch.tensor([0]), norch.tensor(2.0), alpha=3)": 11.0,
    "norch.tensor(5.0).index_select(0, norch.tensor([0]))": 5.0,
    # options of reductions
    "x.sum(dtype=norch.int32).dtype == norch.int32": True,
    "x.prod(1, dtype=norch.uint8)": [16, 12],
    "x.cumsum(1, dtype=norch.float32)": [[4.0, 5.0, 9.0], [2.0, 4.0, 7.0]],
    "x.sum(1, keepdims=True)": [[9], [7]],
    "x.float().var(False)": statistics.pvariance([4, 1, 4, 2, 2, 3]),
    "x.float().var(1, False)": [2.0, statistics.pvariance([2, 2, 3])],
    "norch.var(x.double(), 1, False, True).shape": (2, 1),
    "x.double().var(correction=2)": statistics.variance([4, 1, 4, 2, 2, 3]) * 5 / 4,
    "norch.var_mean(x.float(), 1, correction=0)": ([2.0, statistics.pvariance([2, 2, 3])], [3.0, 7 / 3]),
    "norch.std_mean(x.double(), unbiased=False)[0]": statistics.pstdev([4, 1, 4, 2, 2, 3]),
    "x.any(0).dtype == norch.bool": True,
    "x.to(norch.uint8).all(0).dtype == norch.uint8": True,
    "x.max(other=norch.tensor(3))": [[4, 3, 4], [3, 3, 3]],
    "x.cumsum_(1)": [[4, 5, 9], [2, 4, 7]],
    "norch.tensor([1.0, float('nan')]).nansum(dtype=norch.float64).dtype == norch.float64": True,
    "norch.tensor([0.0, 0.0]).norm(p=2, dtype=norch.float64)": 0.0,
    # differences
    "norch.tensor([True, True, False]).diff()": [False, True],
    "norch.tensor([1, 4]).diff(prepend=norch.tensor([0]), append=norch.tensor([9]))": [1, 3, 5],
    "norch.gradient(norch.tensor([1.0, 4.0, 9.0]), spacing=norch.tensor([1.0, 2.0, 3.0]), edge_order=2)": (
        [2.0, 4.0, 6.0],
    ),
    "norch.trapezoid(norch.tensor([1.0, 3.0]), norch.tensor([0.0, 2.0]))": 4.0,
    "norch.cov(norch.tensor([1.0, 3.0, 9.0]), fweights=norch.tensor([1, 1, 0]))": 2.0,
    "norch.cdist(norch.zeros(2, 0), norch.zeros(3, 0))": [[0.0] * 3] * 2,
    "norch.cdist(norch.tensor([[1.0, 2.0]]), norch.tensor([[3.0, 2.0]]), p=0)": [[1.0]],
    "norch.cdist(norch.tensor([[1.0, 2.0]]), norch.tensor([[4.0, 4.0]]), p=float('inf'))": [[3.0]],
}


@pytest.mark.parametrize("expression", VALUES)
def test_value(expression, device):
    with norch.device(device):
        x = norch.tensor([[4, 1, 4], [2, 2, 3]])
        found = eval(expression, {"norch": norch, "x": x})
    found = tuple(found) if isinstance(found, norch.Size) else found if isinstance(found, bool) else listed(found)
    assert_nested(found, VALUES[expression])


def assert_nested(found, expected):
    if isinstance(expected, (tuple, list)):
        assert type(found) is type(expected) and len(found) == len(expected)
        for part, other in zip(found, expected):
            assert_nested(part, other)
    else:
        assert type(found) is type(expected)
        assert found == pytest.approx(expected, rel=1e-6, nan_ok=True)


# An expression and the error that it raises: PyTorch's.
ERRORS = {
    "x.sum(True)": TypeError,
    "x.max(False)": TypeError,
    "x.mean()": RuntimeError,
    "x.float().var(unbiased=True, correction=1)": TypeError,
    "norch.ones(2, 0).amax(1)": IndexError,
    "norch.ones(0).max()": RuntimeError,
    "norch.ones(2, 0).median(1)": IndexError,
    "norch.ones(2, 0).mode(1)": IndexError,
    "x.kthvalue(4)": RuntimeError,
    "x.kthvalue(0)": RuntimeError,
    "x.quantile(0.5)": RuntimeError,
    "x.float().quantile(1.5)": RuntimeError,
    "x.float().quantile(norch.tensor([0.5]).double())": RuntimeError,
    "x.float().quantile(0.5, interpolation='cubic')": RuntimeError,
    "norch.ones(0).quantile(0.5)": RuntimeError,
    "norch.tensor([-1]).bincount()": RuntimeError,
    "x.bincount()": RuntimeError,
    "x.float().histc(0)": RuntimeError,
    "x.float().histc(2, 3, 1)": RuntimeError,
    "norch.tensor([float('inf')]).histc()": RuntimeError,
    "x.float().histogram(norch.tensor([0.0, 1.0]).double())": RuntimeError,
    "x.float().histogram(norch.ones(0))": RuntimeError,
    "x.float().histogram(x.float())": RuntimeError,
    "norch.histogramdd(x.float(), [1, 1])": RuntimeError,
    "norch.searchsorted(x, norch.ones(3))": RuntimeError,
    "norch.searchsorted(norch.arange(3), x, right=True, side='left')": RuntimeError,
    "norch.bucketize(x, x)": RuntimeError,
    "norch.isin(1, 2)": TypeError,
    "norch.isin(x)": TypeError,
    "norch.unravel_index(norch.tensor([6]), (2, 3))": ValueError,
    "norch.unravel_index(norch.tensor([0.5]), (2, 3))": TypeError,
    "norch.unravel_index(norch.tensor([1]), norch.tensor([2, 3]))": TypeError,
    "norch.zeros(2).scatter_reduce(0, norch.tensor([0]), norch.ones(1), 'median')": RuntimeError,
    "norch.zeros(2).scatter(0, norch.tensor([0]), norch.ones(1), reduce='amax')": RuntimeError,
    "norch.zeros(2).scatter_reduce(0, norch.tensor([2]), norch.ones(1), 'sum')": RuntimeError,
    "norch.zeros(2).gather(0, norch.tensor([2]))": RuntimeError,
    "norch.zeros(2).index_select(0, norch.tensor([2]))": IndexError,
    "norch.zeros(2).index_copy(0, norch.tensor([0]), norch.ones(2))": RuntimeError,
    "norch.zeros(2).put(norch.tensor([0, 1]), norch.ones(1))": IndexError,
    "norch.zeros(2).put(norch.tensor([2]), norch.ones(1))": IndexError,
    "norch.zeros(2, 2).t().put(norch.tensor([-5]), norch.ones(1))": IndexError,
    "norch.zeros(2).masked_scatter(norch.tensor([True, True]), norch.ones(1))": RuntimeError,
    "norch.zeros(2).masked_fill(norch.tensor([True, True]), norch.ones(1))": RuntimeError,
    "x.index_add(1, norch.tensor([0]), norch.ones(2, 1, dtype=norch.int64), alpha=0.5)": RuntimeError,
    "norch.tensor(1).diff()": RuntimeError,
    "x.diff(-1)": RuntimeError,
    "norch.gradient(norch.ones(1))": RuntimeError,
    "norch.gradient(x, spacing=[1.0, 1.0, 1.0])": RuntimeError,
    "norch.trapezoid(norch.ones(3), norch.ones(2))": RuntimeError,
    "norch.cdist(norch.ones(2, 3), norch.ones(2, 2))": RuntimeError,
    "norch.cdist(norch.ones(2, 3), norch.ones(2, 3), p=-1)": RuntimeError,
    "norch.cdist(norch.ones(2, 3), norch.ones(2, 3), compute_mode='fast')": ValueError,
    "norch.pdist(norch.ones(3))": RuntimeError,
    "norch.ones(2, 2, 2).cov()": RuntimeError,
    "x.cov(fweights=norch.tensor([1, 2]))": RuntimeError,
    "norch.ones(2).renorm(2, 0, 1.0)": RuntimeError,
    "x.unique(dim=2)": IndexError,
}


@pytest.mark.parametrize("expression", ERRORS)
def test_error(expression):
    x = norch.tensor([[4, 1, 4], [2, 2, 3]])
    with pytest.raises(ERRORS[expression]):
        eval(expression, {"norch": norch, "x": x})


def test_searchsorted_agrees_with_bisect(device, rng):
    """For sequences of every length up to a few powers of two."""
    for size in (0, 1, 2, 3, 4, 7, 8, 9, 31, 32, 33):
        edges = sorted(rng.randint(0, 20) for _ in range(size))
        values = [rng.randint(-1, 21) for _ in range(50)]
        x, y = norch.tensor(edges, dtype=norch.int64, device=device), norch.tensor(values, device=device)
        assert norch.searchsorted(x, y).tolist() == [bisect.bisect_left(edges, value) for value in values]
        assert norch.searchsorted(x, y, right=True).tolist() == [bisect.bisect_right(edges, value) for value in values]


def test_large_inputs_stay_fast(device):
    """A way that compares all pairs would need 10^10 steps."""
    x = norch.arange(100_000, device=device) % 1000
    assert x.unique().numel() == 1000
    assert bool(norch.isin(x, norch.arange(1000, device=device)).all())
    assert norch.searchsorted(norch.arange(100_000, device=device), x).equal(x)
    assert x.cummax(0).values[-1] == 999
    assert x.mode().values == 0


# ---- Gradients where a function has a corner -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call, values, expected",
    [
        (lambda x: x.median(), [1.0, 3.0, 3.0, 5.0], [0.0, 0.5, 0.5, 0.0]),
        (lambda x: x.norm(), [0.0, 0.0], [0.0, 0.0]),
        (lambda x: x.norm(1.5), [0.0, 0.0], [0.0, 0.0]),
        (lambda x: x.norm(0.5), [0.0, 1.0], [0.0, 1.0]),
        (lambda x: x.norm(INF), [2.0, -2.0, 1.0], [0.5, -0.5, 0.0]),
        (lambda x: x.std(), [2.0, 2.0], [0.0, 0.0]),
        (lambda x: x.aminmax()[1], [2.0, 2.0], [0.5, 0.5]),
        (lambda x: x.dist(x.detach()), [2.0, 2.0], [0.0, 0.0]),
        (lambda x: norch.cdist(x.reshape(2, 1), x.detach().reshape(2, 1)).diagonal().sum(), [1.0, 2.0], [0.0, 0.0]),
        (lambda x: norch.pdist(x.reshape(2, 1)).sum(), [1.0, 1.0], [0.0, 0.0]),
        (lambda x: x.logcumsumexp(0)[2], [-INF, 0.0, 0.0], [0.0, 0.5, 0.5]),
        (lambda x: x.reshape(()).logcumsumexp(0), [INF], [1.0]),
        (lambda x: x.logcumsumexp(0)[1] * NAN, [0.0, 1.0, 2.0], [NAN, NAN, 0.0]),
        (lambda x: x.scatter_reduce(0, norch.tensor([0]), x[1:2].detach(), "amax")[0], [2.0, 2.0], [0.5, 0.0]),
        (
            lambda x: norch.ones(1).double().scatter_reduce(0, norch.tensor([0, 0]), x, "prod")[0],
            [0.0, 3.0],
            [3.0, 0.0],
        ),
        (
            lambda x: norch.ones(1).double().scatter_reduce(0, norch.tensor([0, 0]), x, "prod")[0],
            [0.0, 0.0],
            [0.0, 0.0],
        ),
        (lambda x: norch.zeros(3).double().index_fill(0, norch.tensor([0, 0]), x[0]).sum(), [1.0, 2.0], [1.0, 0.0]),
        (lambda x: x.quantile(0.5), [1.0, 5.0, 3.0, 9.0], [0.0, 0.5, 0.5, 0.0]),
        (lambda x: x.cummax(0).values.sum(), [2.0, 2.0, 1.0], [1.0, 2.0, 0.0]),
    ],
)
def test_gradient_at_a_corner(call, values, expected):
    x = norch.tensor(values, dtype=norch.float64, requires_grad=True)
    call(x).backward()
    assert_close(x.grad, expected)


def test_writing_with_a_reduction_in_place_is_recorded():
    x = norch.tensor([1.0, 2.0], dtype=norch.float64, requires_grad=True)
    y = x * 1.0
    y.scatter_reduce_(0, norch.tensor([0, 0]), x, "sum")
    y.cumsum_(0)
    y.sum().backward()
    assert_close(x.grad, [4.0, 3.0])


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.0, INF])
def test_gradients_of_distances_in_parts(p, monkeypatch):
    shapes = ([3, 1, 7, 4], [2, 5, 4]), ([1, 4], [9, 4]), ([6, 1, 4], [1, 4])
    for shape_x, shape_y in shapes:
        x = (norch.arange(norch.Size(shape_x).numel()) * 7 % 11).double().reshape(shape_x).requires_grad_()
        y = (norch.arange(norch.Size(shape_y).numel()) * 5 % 13).double().reshape(shape_y).requires_grad_()
        distances = norch.cdist(x, y, p=p)
        gradient = (norch.arange(distances.numel()) % 3 - 1).double().reshape(distances.shape)
        whole = norch.autograd.grad(distances, (x, y), gradient, retain_graph=True)
        monkeypatch.setattr("norch.autograd.derivatives.statistics._PART", 8)
        for leaf, one, other in zip((x, y), whole, norch.autograd.grad(distances, (x, y), gradient, retain_graph=True)):
            assert one.shape == other.shape == leaf.shape
            assert_nested(other.tolist(), one.tolist())
        (only,) = norch.autograd.grad(distances, (y,), gradient)
        assert_nested(only.tolist(), whole[1].tolist())
        monkeypatch.undo()
    x = (norch.arange(28) * 7 % 11).double().reshape(7, 4).requires_grad_()
    pairs = norch.pdist(x, p)
    gradient = (norch.arange(21) % 3 - 1).double()
    (whole,) = norch.autograd.grad(pairs, (x,), gradient, retain_graph=True)
    monkeypatch.setattr("norch.autograd.derivatives.statistics._PART", 8)
    assert_nested(norch.autograd.grad(pairs, (x,), gradient)[0].tolist(), whole.tolist())
