"""Sorting along a dimension, and what sorting finds: medians, quantiles, modes, unique elements.

NaN counts as larger than every number, and equal elements keep their order.
"""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

import math
from ctypes import c_float
from typing import TYPE_CHECKING, Any, Sequence

from .. import operation
from .._C import lib, raise_error
from ..arguments import axis_of, checked_dim, flags, one_size
from ..autograd.derivatives.indexing import PickBackward
from ..autograd.functions import ExtremumBackward
from ..operation import check_floating, own, recorded, several
from ..packing import counting
from ..return_types import PICKED, Picked
from ..types import bool_, float32, float64, shown

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

KTH, MEDIAN, NANMEDIAN = range(3)  # OrderStatistic in csrc/ops/ordering.h
INTERPOLATIONS = ("linear", "lower", "higher", "nearest", "midpoint")


class SortingMethods:
    """The methods of Tensor that order elements."""

    @flags
    def sort(
        self: Tensor, dim: int = -1, descending: bool = False, stable: bool | None = None, *, axis: int | None = None
    ) -> Picked:
        """The pair (values, indices) of the elements in order along `dim`, in the shape of x; the indices are int64.

        `stable` is accepted as in PyTorch; norch always keeps the order of equal elements. Raises IndexError for a dim
        out of range.

        >>> norch.tensor([3, 1, 2]).sort().values
        tensor([1, 2, 3])
        """
        return _sorted(self, dim if axis is None else axis, -1, descending)

    @flags
    def argsort(self: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
        """The indices, int64 and in the shape of x, that put the elements in order along `dim`.

        Raises IndexError for a dim out of range.

        >>> norch.tensor([3, 1, 2]).argsort()
        tensor([1, 2, 0])
        """
        return _sorted(self.detach(), dim, -1, descending).indices

    def msort(self: Tensor) -> Tensor:
        """The elements in order along the first dimension, in the shape and dtype of x.

        >>> norch.tensor([3, 1, 2]).msort()
        tensor([1, 2, 3])
        """
        return self.sort(0).values

    @flags
    def topk(self: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Picked:
        """The pair (values, indices) of the `k` largest, or smallest, elements along `dim`, in order.

        Both have the shape of x with `k` in place of that size; the values have its dtype, the indices are int64.
        Raises RuntimeError if there are fewer than `k`, IndexError for a dim out of range.

        >>> values, indices = norch.tensor([3, 1, 2]).topk(2)
        >>> values, indices
        (tensor([3, 2]), tensor([0, 2]))
        """
        count = one_size(k, "topk")
        if count < 0:
            raise RuntimeError(f"topk: k is {count}, expected at least 0")
        return _sorted(self, dim, count, largest)

    # ---- One element in order -----------------------------------------------------------------------------------

    @flags
    def kthvalue(self: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Picked:
        """The pair (values, indices) of the k-th smallest element along `dim`, counted from 1, which goes away.

        With `keepdim` that dimension has size 1. Shapes and dtypes as for `max`. Raises RuntimeError for a k out of
        range, IndexError for a dim out of range.

        >>> norch.tensor([5, 1, 3]).kthvalue(2)
        norch.return_types.kthvalue(
        values=tensor(3),
        indices=tensor(2))
        """
        axis, place = axis_of(self, dim, "kthvalue"), one_size(k, "kthvalue")
        handles = lib.order_statistic_tensor(self._ptr, axis, keepdim, KTH, place)
        return _picked("kthvalue", self, axis, keepdim, handles)

    @flags
    def median(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
        """The element in the middle, the lower of two; along `dim` the pair (values, indices). NaN if there is one.

        Shapes and dtype as for `max`. Raises IndexError over no elements along `dim`, and for a dim out of range.

        >>> norch.tensor([4, 1, 3, 2]).median()
        tensor(2)
        >>> norch.tensor([[5, 1, 3]]).median(1)
        norch.return_types.median(
        values=tensor([3]),
        indices=tensor([2]))
        """
        return _median("median", MEDIAN, self, dim, keepdim)

    @flags
    def nanmedian(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
        """The median of the elements that are not NaN; otherwise as `median`.

        >>> norch.tensor([4.0, float("nan"), 3.0]).nanmedian()
        tensor(3.)
        """
        return _median("nanmedian", NANMEDIAN, self, dim, keepdim)

    @flags
    def mode(self: Tensor, dim: int = -1, keepdim: bool = False) -> Picked:
        """The pair (values, indices) of the most frequent element along `dim`, the smallest of several such.

        The index is its last one. Shapes and dtype as for `max`; raises IndexError over no elements, and for a dim out
        of range.

        >>> norch.tensor([3, 1, 3, 1, 2]).mode()
        norch.return_types.mode(
        values=tensor(1),
        indices=tensor(3))
        """
        axis = axis_of(self, dim, "mode")
        return _picked("mode", self, axis, keepdim, lib.mode_tensor(self._ptr, axis, keepdim))

    @flags
    def quantile(
        self: Tensor, q: float | Tensor, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
    ) -> Tensor:
        """What a share `q` of the elements lies below: of all, or along `dim`; a vector of shares comes first.

        Between two elements the value is linear, or that of `interpolation`: "lower", "higher", "nearest", "midpoint".
        NaN if there is one. Raises RuntimeError for q outside [0, 1] or of another dtype, for no elements, and if the
        dtype is not floating, IndexError for a dim out of range.

        >>> norch.tensor([0.0, 1.0, 2.0, 4.0]).quantile(norch.tensor([0.5, 0.75]))
        tensor([1.5000, 2.5000])
        """
        return _quantile("quantile", self, q, dim, keepdim, interpolation, skip_nan=False)

    @flags
    def nanquantile(
        self: Tensor, q: float | Tensor, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
    ) -> Tensor:
        """The quantile of the elements that are not NaN; otherwise as `quantile`.

        >>> norch.tensor([0.0, float("nan"), 2.0]).nanquantile(0.5)
        tensor(1.)
        """
        return _quantile("nanquantile", self, q, dim, keepdim, interpolation, skip_nan=True)

    # ---- Unique elements ----------------------------------------------------------------------------------------

    @flags
    def unique(
        self: Tensor,
        sorted: bool = True,
        return_inverse: bool = False,
        return_counts: bool = False,
        dim: int | None = None,
    ) -> Any:
        """The different elements in order, a vector [n], or the different slices along `dim`, of the dtype of x.

        With `return_inverse` also the place of each element among them, with `return_counts` how often each occurs,
        both int64, as a tuple. Each NaN differs from all others. Raises IndexError for a dim out of range. (norch sorts
        even if `sorted` is False.)

        >>> norch.tensor([3, 1, 3]).unique()
        tensor([1, 3])
        >>> norch.tensor([3, 1, 3]).unique(return_inverse=True, return_counts=True)
        (tensor([1, 3]), tensor([1, 0, 1]), tensor([1, 2]))
        """
        if dim is None:
            return _different(self, True, return_inverse, return_counts)
        rows = _rows("unique", self, dim)
        return _different_rows(self, *_order_of_rows(rows), dim, return_inverse, return_counts)

    @flags
    def unique_consecutive(
        self: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
    ) -> Any:
        """The first of each run of equal elements, or of equal slices along `dim`; shapes and options as for `unique`.

        >>> norch.tensor([1, 1, 2, 1]).unique_consecutive(return_counts=True)
        (tensor([1, 2, 1]), tensor([2, 1, 1]))
        """
        if dim is None:
            return _different(self, False, return_inverse, return_counts)
        rows = _rows("unique_consecutive", self, dim)
        order = counting(rows.shape[0], self.device)
        return _different_rows(self, rows, order, dim, return_inverse, return_counts)


# ---- Parts of the methods ---------------------------------------------------------------------------------------


def _sorted(x: Tensor, dim: int, count: int, descending: bool) -> Picked:
    axis = one_size(checked_dim(dim, "sort"), "sort")
    values, indices = several(lib.sort_tensor(x._ptr, axis, count, descending))
    return PICKED["sort" if count < 0 else "topk"](recorded(values, PickBackward, (x,), indices, axis, True), indices)


def _picked(name: str, x: Tensor, axis: int, keepdim: bool, handles: Sequence[int]) -> Picked:
    """The pair that C made: an element of each line along an axis, and its index."""
    values, indices = several(handles)
    return PICKED[name](recorded(values, PickBackward, (x,), indices, axis, keepdim), indices)


def _median(name: str, how: int, x: Tensor, dim: int | None, keepdim: bool) -> Tensor | Picked:
    if dim is not None:
        axis = axis_of(x, dim, name)
        return _picked(name, x, axis, keepdim, lib.order_statistic_tensor(x._ptr, axis, keepdim, how, 0))
    if x.numel == 0:
        return x.new_full((), math.nan, dtype=float64).to(x.dtype)
    elements = lib.flatten_tensor(x._ptr, 0, -1) or raise_error()
    value, _ = several(lib.order_statistic_tensor(elements, 0, False, how, 0))
    return recorded(value, ExtremumBackward, (x,), None, False)


def _quantile(
    name: str, x: Tensor, q: float | Tensor, dim: int | None, keepdim: bool, interpolation: str, skip_nan: bool
) -> Tensor:
    check_floating(x, name)
    shares: Tensor = q if isinstance(q, operation.Tensor) else x.new_tensor(q)
    if shares.dtype is not x.dtype or shares.ndim > 1:
        shape = list(shares.shape)
        raise RuntimeError(
            f"{name}: expected q as a number or a vector of {x.dtype}, got {shares.dtype} of shape {shape}"
        )
    inside = 0 <= q <= 1 if shares is not q else q.is_cuda or bool((q >= 0).logical_and(q <= 1).all())
    if not inside:  # elements on a GPU are not looked at: the host would wait
        raise RuntimeError(f"{name}: expected q from 0 to 1, got {q}")
    if interpolation not in INTERPOLATIONS:
        raise RuntimeError(
            f"{name}: expected an interpolation of {', '.join(INTERPOLATIONS)}, got {shown(interpolation)}"
        )
    axis = None if dim is None else axis_of(x, dim, name)
    if isinstance(q, (int, float)) and not skip_nan and x.numel and x.dtype in (float32, float64):
        line = x.reshape(-1) if axis is None or x.ndim == 0 else x
        result = own(_at_share(line, axis or 0, q, interpolation))
        ones = [1 if axis is None or d == axis else size for d, size in enumerate(x.shape)]
        return own(result.reshape(ones)) if keepdim else result
    lines = x.reshape(-1) if axis is None else (x if x.ndim else x.unsqueeze(0)).movedim(axis, -1)
    if lines.numel == 0:
        raise RuntimeError(f"{name}: expected elements, got shape {list(x.shape)}")
    found = _at_shares(lines, shares.reshape(-1), interpolation, skip_nan)  # [..., q]
    shape = [1] * x.ndim if axis is None else [1 if d == axis else size for d, size in enumerate(x.shape)]
    kept = shape if keepdim else lines.shape[:-1]
    result = found.movedim(-1, 0)
    return own(result.reshape([*shares.shape, *kept]))


def _at_share(x: Tensor, axis: int, share: float, interpolation: str) -> Tensor:
    """The quantile along an axis at one share, which is a Python number: the host knows the ranks."""
    ordered, last = x.sort(axis).values, x.shape[axis] - 1
    rank = share * last
    if x.dtype is float32:
        rank = c_float(c_float(share).value * last).value
    below, above = math.floor(rank), math.ceil(rank)
    if interpolation in ("linear", "midpoint"):
        weight = rank - below if interpolation == "linear" else 0.5 * (above - below)
        found = ordered.select(axis, below).lerp(ordered.select(axis, above), weight)
    else:
        found = ordered.select(axis, {"lower": below, "higher": above, "nearest": round(rank)}[interpolation])
    largest = ordered.select(axis, last)
    return largest.isnan()._choose(largest, found)


def _at_shares(lines: Tensor, shares: Tensor, interpolation: str, skip_nan: bool) -> Tensor:
    """The quantiles of each line (the last dimension) at some shares."""
    ordered = lines.sort(-1).values
    last, valid = lines.shape[-1] - 1, (ordered == ordered).sum(-1, keepdim=True)
    if skip_nan:
        ranks = shares * (valid - 1).clamp(0).to(shares.dtype)
    else:
        ranks = (valid > last)._choose(shares * float(last), float(last))  # a NaN is the last element
    if interpolation not in ("linear", "midpoint"):
        ranks = {"lower": ranks.floor, "higher": ranks.ceil, "nearest": ranks.round}[interpolation]()
        return ordered.gather(-1, ranks.long())
    below, above = ranks.floor(), ranks.ceil()
    low, high = ordered.gather(-1, below.long()), ordered.gather(-1, above.long())
    weight = ranks - below if interpolation == "linear" else (above != below).to(ranks.dtype) * 0.5
    return low.lerp(high, weight)


# ---- Runs of equal elements -------------------------------------------------------------------------------------


def _rows(name: str, x: Tensor, dim: int) -> Tensor:
    """The slices along a dimension as rows [count, elements]."""
    axis = axis_of(x, dim, name)
    x = x.detach() if x.ndim else x.detach().unsqueeze(0)
    if x.numel == 0 and (x.shape[axis] or any(size == 0 for d, size in enumerate(x.shape) if d != axis)):
        raise RuntimeError(f"{name}: no elements along another dimension than {dim} of shape {list(x.shape)}")
    return x.movedim(axis, 0).reshape(x.shape[axis], -1 if x.numel else 1)


def _order_of_rows(rows: Tensor) -> tuple[Tensor, Tensor]:
    """The rows in order, the first column before the second, and their indices: sorted from the last column on.

    Mostly a few columns tell the rows apart, and the others need no sorting. (On a GPU the host would wait to know.)
    """
    count, width = rows.shape
    for last in {width} if rows.is_cuda else sorted({min(4, width), min(32, width), width}):
        order = counting(count, rows.device)
        for column in reversed(range(last)):
            order = order.index_select(0, rows.select(1, column).index_select(0, order).argsort(0))
        ordered = rows.index_select(0, order)
        first = ordered.narrow(1, 0, last)
        if last < width and count > 1 and bool((first[1:] > first[:-1]).any(1).all()):
            break
    return ordered, order


def _different(x: Tensor, sort: bool, inverse: bool, counts: bool) -> Any:
    """The different elements, or the first of each run of equal ones, and what else is asked for."""
    values, *others = several(lib.unique_tensor(x._ptr, sort, inverse, counts))
    return (values, *[part for part in others if part is not None]) if inverse or counts else values


def _different_rows(x: Tensor, ordered: Tensor, order: Tensor, dim: int, inverse: bool, counts: bool) -> Any:
    """The first of each run of equal rows, which have these indices, and what else is asked for."""
    count = ordered.shape[0]
    fresh = ordered.new_ones(count, dtype=bool_)
    if count > 1:
        changes = ordered.narrow(0, 1, count - 1) != ordered.narrow(0, 0, count - 1)
        fresh.narrow(0, 1, count - 1).copy_(changes.any(1))
    starts = own(fresh.nonzero().reshape(-1))
    chosen = order.index_select(0, starts)
    results = [(x.detach() if x.ndim else x.detach().unsqueeze(0)).index_select(dim, chosen)]
    if inverse:
        results.append(order.new_empty(count).scatter_(0, order, fresh.cumsum(0) - 1))
    if counts:
        results.append(starts.diff(append=starts.new_full([1], count)))
    return results[0] if len(results) == 1 else tuple(results)
