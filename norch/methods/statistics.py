"""Statistics: running extremes, differences, histograms, counts, covariances, and norms of slices."""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

from .. import operation
from .._C import int64_array, lib
from ..arguments import axis_of, flags, one_axis, one_size
from ..autograd.derivatives.indexing import LogcumsumexpBackward, PickBackward
from ..autograd.derivatives.joining import cat
from ..autograd.derivatives.statistics import DiffBackward, RenormBackward
from ..autograd.functions import MaxBackward, MinBackward
from ..autograd.in_place import write
from ..functions.ranges import linspace
from ..operation import address, check_floating, check_tensor, own, recorded, several, wrap
from ..precision import in_float32
from ..return_types import PICKED, Picked, printed
from ..types import HALVES, bool_, float32, float64, shown

if TYPE_CHECKING:
    from ..forward_declarations import Tensor


@printed("aminmax")
class Extremes(NamedTuple):
    """The pair that `aminmax` returns."""

    min: Tensor
    max: Tensor


@printed("histogram")
class Histogram(NamedTuple):
    """The pair that `histogram` returns."""

    hist: Tensor
    bin_edges: Tensor


class StatisticsMethods:
    """The methods of Tensor that describe its elements."""

    @flags
    def aminmax(self: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Extremes:
        """The pair (min, max) of all elements or along `dim`: what `amin` and `amax` give.

        Shapes, dtypes and errors as for `amin`.

        >>> norch.tensor([3, 1, 2]).aminmax()
        norch.return_types.aminmax(
        min=tensor(1),
        max=tensor(3))
        """
        axes = None if dim is None else [axis_of(self, dim, "aminmax")]
        handles = lib.aminmax_tensor(self._ptr, int64_array(axes or ()), -1 if axes is None else 1, keepdim)
        least, most = several(handles)
        return Extremes(
            recorded(least, MinBackward, (self,), axes, keepdim), recorded(most, MaxBackward, (self,), axes, keepdim)
        )

    # ---- Running values -----------------------------------------------------------------------------------------

    def cummax(self: Tensor, dim: int | None = None, *, axis: int | None = None) -> Picked:
        """The pair (values, indices): along `dim` the largest of each element and all before it, and its last place.

        In the shape of x; the values have its dtype, the indices are int64. Raises IndexError for a dim out of range.

        >>> norch.tensor([1, 3, 2]).cummax(0)
        norch.return_types.cummax(
        values=tensor([1, 3, 3]),
        indices=tensor([0, 1, 1]))
        """
        return _running_extreme("cummax", self, one_axis("cummax", dim, axis), True)

    def cummin(self: Tensor, dim: int | None = None, *, axis: int | None = None) -> Picked:
        """The pair (values, indices): along `dim` the smallest of each element and all before it, and its last place.

        In the shape of x; the values have its dtype, the indices are int64. Raises IndexError for a dim out of range.

        >>> norch.tensor([3, 1, 2]).cummin(0)
        norch.return_types.cummin(
        values=tensor([3, 1, 1]),
        indices=tensor([0, 1, 1]))
        """
        return _running_extreme("cummin", self, one_axis("cummin", dim, axis), False)

    @flags
    def logcumsumexp(self: Tensor, dim: int) -> Tensor:
        """log(cumsum(exp(x))) along `dim`, in which nothing overflows; in the shape and dtype of x.

        Raises RuntimeError if the dtype is not floating, IndexError for a dim out of range.

        >>> norch.tensor([1000.0, 1000.0]).logcumsumexp(0)
        tensor([1000.0000, 1000.6932])
        """
        x, axis = check_floating(self, "logcumsumexp"), axis_of(self, dim, "logcumsumexp")
        return recorded(wrap(lib.logcumsumexp_tensor(x._ptr, axis)), LogcumsumexpBackward, (x,), axis)

    # ---- Differences --------------------------------------------------------------------------------------------

    def diff(
        self: Tensor,
        n: int = 1,
        dim: int = -1,
        prepend: Tensor | None = None,
        append: Tensor | None = None,
        *,
        axis: int | None = None,
    ) -> Tensor:
        """Along `dim` each element less the one before it, n times; of bools whether they differ.

        In the dtype and shape of x, but the size of `dim` falls by n; `prepend` and `append` are joined to x first.
        Raises RuntimeError for a tensor of no dimensions or a negative n, IndexError for a dim out of range.

        >>> norch.tensor([1, 4, 9]).diff()
        tensor([3, 5])
        """
        if self.ndim == 0:
            raise RuntimeError("diff: expected at least one dimension, got a tensor of none")
        n = one_size(n, "diff: n")
        if n < 0:
            raise RuntimeError(f"diff: expected n >= 0, got {n}")
        axis = axis_of(self, dim if axis is None else axis, "diff")
        if n == 0:
            return self.clone()
        result = self
        if prepend is not None or append is not None:
            for part in (prepend, append):
                if part is not None and check_tensor(part, "diff").ndim != self.ndim:
                    raise RuntimeError(f"diff: expected {self.ndim} dimensions to join, got shape {list(part.shape)}")
            result = cat([part for part in (prepend, self, append) if part is not None], axis)
        times = min(n, result.shape[axis])
        backward = None if result.dtype is bool_ else DiffBackward
        return recorded(wrap(lib.diff_tensor(result._ptr, axis, times)), backward, (result,), axis, times)

    # ---- Counts -------------------------------------------------------------------------------------------------

    def bincount(self: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
        """How often each of 0, 1, ... occurs in a vector of integers; with `weights` the sum of theirs.

        A vector of at least `minlength` elements, int64, or for weights float32 if they are, else float64. Raises
        RuntimeError for another shape or dtype, and for negative integers.

        >>> norch.tensor([1, 3, 1]).bincount()
        tensor([0, 2, 0, 1])
        """
        if self.ndim != 1 or self.is_floating_point() or self.dtype is bool_:
            raise RuntimeError(f"bincount: expected a vector of integers, got {self.dtype} of shape {list(self.shape)}")
        if one_size(minlength, "bincount") < 0:
            raise RuntimeError(f"bincount: expected minlength >= 0, got {minlength}")
        if weights is not None and check_tensor(weights, "bincount").shape != self.shape:
            raise RuntimeError(f"bincount: weights of shape {list(weights.shape)} for {self.numel} elements")
        if weights is not None and weights.dtype is not float32:
            weights = weights.to(float64)
        return wrap(lib.bincount_tensor(self._ptr, address(weights), minlength))

    def histc(self: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
        """How many elements fall into each of `bins` ranges of one width from `min` to `max`: [bins], the dtype of x.

        If both are equal they are the smallest and largest element. Others, and NaN, do not count. Raises RuntimeError
        for fewer than one bin, max < min, and bounds that are not finite.

        >>> norch.tensor([1.0, 2.0, 1.0, 4.0]).histc(bins=3, min=1, max=4)
        tensor([2., 1., 1.])
        """
        bounds = None if min == max else (min, max)
        low, high = _range_of("histc", check_floating(self, "histc"), bins, bounds, 1)
        return wrap(lib.histc_tensor(self._ptr, one_size(bins, "histc"), low, high))

    @flags
    def histogram(
        self: Tensor,
        bins: int | Tensor = 100,
        *,
        range: Sequence[float] | None = None,
        weight: Tensor | None = None,
        density: bool = False,
    ) -> Histogram:
        """The pair (hist, bin_edges): how many elements, or how much of their `weight`, fall into each bin.

        `bins` is a number, for bins of one width over `range` (of the data, if it is None), or a vector of edges. The
        last bin includes its upper edge. With `density` the integral is 1. Shapes [n] and [n + 1], the dtype of x.
        Raises RuntimeError as `histc`, and for a weight or edges of another dtype.

        >>> norch.tensor([1.0, 2.0, 1.0, 4.0]).histogram(3, range=(1.0, 4.0)).hist
        tensor([2., 1., 1.])
        """
        given = None if range is None else list(range)
        edges_given = [bins] if isinstance(bins, operation.Tensor) else [one_size(bins, "histogram")]
        hist, edges = histogram_of(
            "histogram", check_floating(self, "histogram").reshape(-1, 1), edges_given, given, weight, density
        )
        return Histogram(hist, edges[0].clone())

    # ---- Covariances --------------------------------------------------------------------------------------------

    def cov(
        self: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
    ) -> Tensor:
        """The covariances [rows, rows] of variables, the rows of x, over observations, its columns.

        `fweights` say how often each observation counts (integers), `aweights` how much (floats). Of one variable a
        tensor of no dimensions. Raises RuntimeError for more than two dimensions, weights of other shapes or dtypes,
        and negative weights.

        >>> norch.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]).cov()
        tensor([[ 1., -1.],
                [-1.,  1.]])
        """
        if self.ndim > 2 or self.dtype is bool_:
            raise RuntimeError(f"cov: expected at most two dimensions of numbers, got {self.dtype} {list(self.shape)}")
        x = self if self.ndim == 2 else self.reshape(1, -1)
        count = x.shape[1]
        total: Any
        weights = _cov_weights(x, fweights, aweights)
        x = x if x.is_floating_point() else x.float()
        if weights is None:
            total, centred = float(count), x - (x.mean(1, keepdim=True) if count else 0.0)
            weighted = centred
        else:
            total = weights.sum()
            if bool(total == 0):
                raise RuntimeError("cov: the weights sum to zero")
            centred = x - (x * weights).sum(1, keepdim=True) / total
            weighted = centred * weights
        divisor: Any = total
        if fweights is not None and aweights is not None and correction:
            divisor = total - correction * (weights * aweights).sum() / total  # type: ignore[operator]
        elif aweights is not None and correction:
            divisor = total - correction * (aweights * aweights).sum() / total
        else:
            divisor = total - correction
        divisor = divisor.clamp(min=0) if isinstance(divisor, operation.Tensor) else max(divisor, 0.0)
        result = (weighted @ centred.t()) / divisor
        return result if self.ndim == 2 and x.shape[0] != 1 else result.reshape(())

    def corrcoef(self: Tensor) -> Tensor:
        """The correlation coefficients [rows, rows] of variables, the rows of x: covariances over both deviations.

        Shapes and errors as for `cov`.

        >>> norch.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]).corrcoef()
        tensor([[ 1., -1.],
                [-1.,  1.]])
        """
        covariances = self.cov()
        if covariances.ndim == 0:
            return covariances / covariances
        deviations = covariances.diagonal().sqrt()
        return (covariances / deviations.unsqueeze(1) / deviations).clamp(-1, 1)

    # ---- Norms --------------------------------------------------------------------------------------------------

    @in_float32
    @flags
    def renorm(self: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
        """A copy in which each slice along `dim` whose p-norm is larger than `maxnorm` is scaled down to it.

        Shape and dtype stay. Raises RuntimeError for fewer than two dimensions, p <= 0 or a negative maxnorm,
        IndexError for a dim out of range.

        >>> norch.tensor([[3.0, 4.0], [0.3, 0.4]]).renorm(2, 0, 1.0)
        tensor([[0.6000, 0.8000],
                [0.3000, 0.4000]])
        """
        axis = _renorm_axis(self, p, dim, maxnorm)
        result = wrap(lib.renorm_tensor(self._ptr, axis, p, maxnorm)).contiguous()
        return recorded(result, RenormBackward, (self,), axis, p, float(maxnorm))

    @flags
    def renorm_(self: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
        """In place: slices along `dim` scaled down to `maxnorm`. Shape, dtype and errors as for `renorm`.

        >>> norch.tensor([[3.0, 4.0]]).renorm_(2, 0, 1.0)
        tensor([[0.6000, 0.8000]])
        """
        if self.dtype in HALVES:
            x = self if self._edge is None else self.clone()  # whose old values the derivative takes
            return self.copy_(x.renorm(p, dim, maxnorm))
        axis = _renorm_axis(self, p, dim, maxnorm)
        backward = functools.partial(RenormBackward, axis=axis, p=p, most=float(maxnorm))
        return write(self, backward, (), lib.renorm_into, self._ptr, self._ptr, axis, p, maxnorm)

    def dist(self: Tensor, other: Tensor, p: float = 2) -> Tensor:
        """The p-norm of x - other, whose shapes broadcast: a scalar of their dtype.

        Raises ShapeError if they do not, RuntimeError for integers.

        >>> norch.tensor([0.0, 0.0]).dist(norch.tensor([3.0, 4.0]))
        tensor(5.)
        """
        if p is None:
            raise TypeError("dist: expected a number as p, got None")
        return (self - check_tensor(other, "dist")).norm(p)


def _running_extreme(name: str, x: Tensor, dim: int, largest: bool) -> Picked:
    axis = axis_of(x, dim, name)
    values, indices = several(lib.running_extreme_tensor(x._ptr, axis, largest))
    return PICKED[name](recorded(values, PickBackward, (x,), indices, axis, True), indices)


# ---- Histograms -----------------------------------------------------------------------------------------------------


def _range_of(name: str, x: Tensor, bins: int, bounds: Sequence[float] | None, margin: float) -> tuple[float, float]:
    """The bounds of a histogram: those given, or of the data if there are none; a margin around equal ones."""
    if one_size(bins, name) < 1:
        raise RuntimeError(f"{name}: expected at least one bin, got {bins}")
    try:
        low, high = bounds or ((x.min().item(), x.max().item()) if x.numel else (0, 1))
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected a range of two numbers, got {shown(bounds)}") from None
    if low == high:
        low, high = low - margin, high + margin
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"{name}: range of [{low}, {high}] is not finite")
    if low > high:
        raise RuntimeError(f"{name}: expected max >= min, got {low} to {high}")
    return low, high


def bins_of(sorted_edges: Tensor, values: Tensor, right: bool) -> Tensor:
    """For each value the first place in a sorted last dimension where it fits.

    `right`: behind elements equal to it. The edges have the leading sizes of the values, or are a vector.
    """
    return wrap(lib.bins_tensor(sorted_edges._ptr, values._ptr, right))


def histogram_of(
    name: str,
    x: Tensor,
    bins: Sequence[Any],
    bounds: Sequence[float] | None,
    weight: Tensor | None,
    density: bool,
) -> tuple[Tensor, list[Tensor]]:
    """The histogram of points, the rows of x [count, D], and the edges in each of the D dimensions."""
    x = x.detach()
    if weight is not None and check_tensor(weight, f"{name}: weight").dtype is not x.dtype:
        raise RuntimeError(f"{name}: expected a weight of the tensor's dtype {x.dtype}, got {weight.dtype}")
    if weight is not None and weight.numel != x.shape[0]:
        raise RuntimeError(f"{name}: weight has {weight.numel} elements for {x.shape[0]} points")
    edges = []
    for d, given in enumerate(bins):
        if isinstance(given, operation.Tensor):
            if given.dtype is not x.dtype:
                raise RuntimeError(f"{name}: expected edges of the tensor's dtype {x.dtype}, got {given.dtype}")
            if given.ndim != 1 or not given.numel:
                raise RuntimeError(f"{name}: expected a vector of edges, got shape {list(given.shape)}")
            edges.append(given.detach())
            continue
        ends = None if bounds is None else bounds[2 * d : 2 * d + 2]
        low, high = _range_of(name, x.select(1, d), given, ends, 0.5)
        edges.append(linspace(low, high, given + 1, dtype=x.dtype, device=x.device))
    place: Any = 0
    inside: Any = True
    for d, edge in enumerate(edges):
        value, last = x.select(1, d), edge.shape[0] - 2
        found = (bins_of(edge, value, right=True) - 1).clamp(0, last)  # the last bin includes its upper edge
        within = (value >= edge.select(0, 0)).logical_and(value <= edge.select(0, last + 1))
        place, inside = (place * (last + 1) + found, inside.logical_and(within)) if d else (found, within)
    sizes = [edge.shape[0] - 1 for edge in edges]
    amounts = inside.to(x.dtype) if weight is None else inside._choose(weight.detach().reshape(-1), 0.0)
    hist = own(x.new_zeros(math.prod(sizes)).scatter_add_(0, place, amounts).reshape(sizes))
    if density:
        hist = hist / hist.sum()
        for d, edge in enumerate(edges):
            hist = hist / edge.diff().reshape([-1 if k == d else 1 for k in range(len(edges))])
    return hist, edges


def _renorm_axis(x: Tensor, p: float, dim: int, maxnorm: float) -> int:
    """`dim` counted from the front. Raises RuntimeError if `renorm` refuses its arguments."""
    axis = axis_of(x, dim, "renorm")
    if x.ndim < 2 or p <= 0 or maxnorm < 0:
        given = f"shape {list(x.shape)}, p {p}, maxnorm {maxnorm}"
        raise RuntimeError(f"renorm: expected two dimensions, p > 0 and maxnorm >= 0, got {given}")
    check_floating(x, "renorm")
    return axis


def _cov_weights(x: Tensor, fweights: Tensor | None, aweights: Tensor | None) -> Tensor | None:
    """How much each observation counts: the product of both weights; None if there are none."""
    for weights, real in ((fweights, False), (aweights, True)):
        if weights is None:
            continue
        kind = "floats" if real else "integers"
        if check_tensor(weights, "cov").is_floating_point() != real or weights.ndim > 1 or weights.numel != x.shape[1]:
            found = f"{weights.dtype} of shape {list(weights.shape)}"
            raise RuntimeError(f"cov: expected {kind} for {x.shape[1]} observations, got {found}")
        if not bool((weights >= 0).all()):
            raise RuntimeError("cov: expected weights that are not negative")
    if fweights is None or aweights is None:
        return fweights if aweights is None else aweights
    return fweights * aweights
