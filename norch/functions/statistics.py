"""Statistics that are functions alone: pairs of moments, integrals, gradients on grids, distances of points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

from .. import operation
from .._C import ShapeError, lib
from ..arguments import axis_of, flags
from ..autograd.derivatives.statistics import (
    CdistBackward,
    CumulativeTrapezoidBackward,
    PdistBackward,
    SlopesBackward,
    TrapezoidBackward,
)
from ..given import type_name
from ..methods.reductions import spread_and_mean
from ..methods.statistics import histogram_of
from ..operation import check_floating, check_tensor, recorded, wrap
from ..precision import derived_in_float32
from ..return_types import printed
from ..types import Dims, bool_, promoted, shown
from .joining import cat
from .layouts import triu_indices

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

__all__ = [
    "cdist",
    "cumulative_trapezoid",
    "gradient",
    "histogramdd",
    "pdist",
    "std_mean",
    "trapezoid",
    "trapz",
    "var_mean",
]


@printed("histogramdd")
class PointHistogram(NamedTuple):
    """The pair that `histogramdd` returns."""

    hist: Tensor
    bin_edges: tuple[Tensor, ...]


# ---- Moments ----------------------------------------------------------------------------------------------------


@derived_in_float32
@flags
def var_mean(
    input: Tensor,
    dim: Dims | bool = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """The pair of `var` and `mean`, over all elements or over `dim`; options and errors as for `var`.

    >>> norch.var_mean(norch.tensor([1.0, 3.0]))
    (tensor(2.), tensor(2.))
    """
    return spread_and_mean("var_mean", check_tensor(input, "var_mean"), dim, unbiased, keepdim, correction)


@derived_in_float32
@flags
def std_mean(
    input: Tensor,
    dim: Dims | bool = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """The pair of `std` and `mean`, over all elements or over `dim`; options and errors as for `var`.

    >>> norch.std_mean(norch.tensor([1.0, 3.0]))
    (tensor(1.4142), tensor(2.))
    """
    return spread_and_mean("std_mean", check_tensor(input, "std_mean"), dim, unbiased, keepdim, correction)


# ---- Integrals --------------------------------------------------------------------------------------------------


@flags
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: float = 1, dim: int = -1) -> Tensor:
    """The integral of y along `dim` by the trapezoidal rule, at points `x` or points `dx` apart; `dim` goes away.

    Of the dtype of y. `x` has the shape of y, or is a vector along `dim`. Raises IndexError for a dim out of range,
    ShapeError if the shapes do not fit.

    >>> norch.trapezoid(norch.tensor([1.0, 2.0, 3.0]))
    tensor(4.)
    """
    axis = _axis("trapezoid", y, dim, dx)
    size = y.shape[axis]
    if x is None and size > 1 and _is_simple(y, dx):
        return recorded(wrap(lib.trapezoid_tensor(y._ptr, axis, dx, False)), TrapezoidBackward, (y,), axis, dx)
    if size == 0:
        return y.new_zeros(y.shape[:axis] + y.shape[axis + 1 :])
    if y.dtype is bool_:
        raise RuntimeError("trapezoid: expected numbers, got norch.bool; .float() converts it")
    if x is not None:
        return _areas("trapezoid", y, x, dim).sum(dim) / 2.0
    ends = (y.select(axis, 0) + y.select(axis, size - 1)) / 2.0
    return (y.narrow(axis, 1, size - 2).sum(dim) + ends if size > 1 else y.select(axis, 0) - ends) * dx


trapz = trapezoid


@flags
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: float = 1, dim: int = -1) -> Tensor:
    """The running integrals of y along `dim`, whose size falls by one; shapes, dtypes and errors as for `trapezoid`.

    >>> norch.cumulative_trapezoid(norch.tensor([1.0, 2.0, 3.0]))
    tensor([1.5000, 4.0000])
    """
    axis = _axis("cumulative_trapezoid", y, dim, dx)
    if x is None and y.shape[axis] > 1 and _is_simple(y, dx):
        result = wrap(lib.trapezoid_tensor(y._ptr, axis, dx, True))
        return recorded(result, CumulativeTrapezoidBackward, (y,), axis, dx)
    areas = _areas("cumulative_trapezoid", y, x, dim).cumsum(dim)
    return areas / 2.0 if x is not None else areas * (dx / 2.0)


def _is_simple(x: Tensor, step: Any) -> bool:
    """Whether C takes it at once: floats at equal distances."""
    return x.is_floating_point() and isinstance(step, (int, float))


def _axis(name: str, y: Tensor, dim: int, dx: float = 1) -> int:
    if isinstance(dx, bool):
        raise TypeError(f"{name}: dx: expected a number, got bool")
    axis = axis_of(check_tensor(y, name), dim, name)
    if y.ndim == 0:
        raise IndexError(f"{name}: expected at least one dimension, got a tensor of none")
    return axis


def _areas(name: str, y: Tensor, x: Tensor | None, dim: int) -> Tensor:
    """Twice the areas of the trapezoids between neighbours along a dimension; without x they are 1 wide."""
    axis = _axis(name, y, dim)
    left = max(y.shape[axis] - 1, 0)
    both = y.narrow(axis, min(1, y.shape[axis]), left) + y.narrow(axis, 0, left)
    if x is None:
        return both
    if check_tensor(x, name).ndim == 1:
        if x.shape[0] != y.shape[axis]:
            raise ShapeError(f"{name}: {x.shape[0]} points for the size {y.shape[axis]} of dimension {dim}")
        x = x.reshape([-1 if d == axis else 1 for d in range(y.ndim)])
    elif x.ndim < y.ndim:
        x = x.reshape([1] * (y.ndim - x.ndim) + list(x.shape))
    return both * x.diff(dim=dim)


# ---- Derivatives on grids ---------------------------------------------------------------------------------------


@flags
def gradient(
    input: Tensor, *, spacing: Any = None, dim: int | Sequence[int] | None = None, edge_order: int = 1
) -> tuple[Tensor, ...]:
    """The derivative of samples along each of `dim` (all), by differences of second order inside; a tuple of tensors.

    Each has the shape of x and a floating dtype. `spacing` is a distance (1), or a list of one for each dim: a distance
    or a vector of coordinates. At the edges the differences are of order `edge_order`, 1 or 2. Raises RuntimeError for
    too few elements, or if there are not as many spacings as dims, IndexError for a dim out of range.

    >>> norch.gradient(norch.tensor([1.0, 4.0, 9.0, 16.0]))
    (tensor([3., 4., 6., 7.]),)
    """
    x = check_tensor(input, "gradient")
    given = range(x.ndim) if dim is None else [dim] if isinstance(dim, int) else dim
    axes = [axis_of(x, axis, "gradient") for axis in given]
    spacing = 1 if spacing is None else spacing
    many = isinstance(spacing, (list, tuple))
    spacings = list(spacing) if many else [spacing] * len(axes)
    if len(spacings) != len(axes):
        raise RuntimeError(f"gradient: expected a spacing for each of {len(axes)} dims, got {len(spacings)}")
    if len(set(axes)) < len(axes):
        raise RuntimeError(f"gradient: dim appears more than once in {dim}")
    if edge_order not in (1, 2):
        raise RuntimeError(f"gradient: expected edge_order 1 or 2, got {edge_order}")
    return (*[_gradient_along(x, axis, step, edge_order) for axis, step in zip(axes, spacings)],)


def _gradient_along(x: Tensor, axis: int, spacing: Any, edge_order: int) -> Tensor:
    size = x.shape[axis]
    if size < edge_order + 1:
        raise RuntimeError(f"gradient: expected at least {edge_order + 1} elements along dimension {axis}, got {size}")

    def part(start: int, length: int = size - 2) -> Tensor:
        return x.narrow(axis, start, length)

    if edge_order == 1 and _is_simple(x, spacing):
        return recorded(wrap(lib.slopes_tensor(x._ptr, axis, spacing)), SlopesBackward, (x,), axis, spacing)
    x = x if x.is_floating_point() else x.float()
    if isinstance(spacing, operation.Tensor) and spacing.ndim > 0:
        if spacing.ndim != 1 or spacing.shape[0] != size:
            raise RuntimeError(f"gradient: expected {size} coordinates, got shape {list(spacing.shape)}")
        steps = spacing.diff().reshape([-1 if d == axis else 1 for d in range(x.ndim)])  # between neighbours
        before, after = steps.narrow(axis, 0, size - 2), steps.narrow(axis, 1, size - 2)
        inside = (
            part(0) * (-after / (before * (before + after)))
            + part(1) * ((after - before) / (before * after))
            + part(2) * (before / (after * (before + after)))
        )
        first, second = steps.narrow(axis, 0, 1), steps.narrow(axis, min(1, size - 2), 1)
        last, previous = steps.narrow(axis, size - 2, 1), steps.narrow(axis, max(size - 3, 0), 1)
    else:
        inside = (part(2) - part(0)) / spacing / 2.0
        first = second = last = previous = spacing
    if edge_order == 1:
        begin, end = (part(1, 1) - part(0, 1)) / first, (part(size - 1, 1) - part(size - 2, 1)) / last
    else:
        begin = _edge(part(0, 1), part(1, 1), part(2, 1), first, second)
        end = -_edge(part(size - 1, 1), part(size - 2, 1), part(size - 3, 1), last, previous)
    return cat([begin, inside, end], axis)


def _edge(x0: Tensor, x1: Tensor, x2: Tensor, near: Any, far: Any) -> Tensor:
    """The derivative at x0 of the parabola through three points, `near` and then `far` apart."""
    return (
        x0 * (-(2.0 * near + far) / (near * (near + far)))
        + x1 * ((near + far) / (near * far))
        + x2 * (-near / (far * (near + far)))
    )


# ---- Histograms of points ---------------------------------------------------------------------------------------


@flags
def histogramdd(
    input: Tensor,
    bins: int | Sequence[int] | Sequence[Tensor],
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> PointHistogram:
    """The pair (hist, bin_edges): how many points [..., D] fall into each bin of a grid of D dimensions.

    `bins` is a number, or a number or the edges for each dimension, `range` the lowest and highest for each in turn;
    otherwise as `histogram`. Raises RuntimeError if there are not as many.

    >>> norch.histogramdd(norch.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), bins=[2, 2]).hist
    tensor([[0., 1.],
            [1., 1.]])
    """
    x = check_floating(check_tensor(input, "histogramdd"), "histogramdd")
    if x.ndim < 2:
        raise RuntimeError(f"histogramdd: expected at least two dimensions, got shape {list(x.shape)}")
    points = x.reshape(-1, x.shape[-1])
    if not isinstance(bins, (int, list, tuple)):
        raise TypeError(f"histogramdd: expected a number, or a list of numbers or of edges, got {type_name(bins)}")
    given = [bins] * points.shape[1] if isinstance(bins, int) else list(bins)
    if len(given) != points.shape[1]:
        raise RuntimeError(f"histogramdd: expected bins for {points.shape[1]} dimensions, got {len(given)}")
    if range is not None and len(range) != 2 * len(given):
        raise RuntimeError(f"histogramdd: expected a range of {2 * len(given)} numbers, got {len(range)}")
    hist, edges = histogram_of("histogramdd", points, given, range, weight, density)
    return PointHistogram(hist, tuple(edges))


# ---- Distances --------------------------------------------------------------------------------------------------

MM_OFF, MM_ON = "donot_use_mm_for_euclid_dist", "use_mm_for_euclid_dist"
MM_IF_NECESSARY = "use_mm_for_euclid_dist_if_necessary"
MM_MODES = (MM_OFF, MM_ON, MM_IF_NECESSARY, None)


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str | None = MM_IF_NECESSARY) -> Tensor:
    """The p-norm distance of each row of x1 [..., P, M] to each row of x2 [..., R, M]: [..., P, R].

    Euclidean distances of more than 25 rows come from one matrix product unless `compute_mode` is
    "donot_use_mm_for_euclid_dist". A distance of zero has the gradient zero. Raises RuntimeError for other shapes or
    dtypes, or p < 0, ValueError for an unknown mode.

    >>> norch.cdist(norch.tensor([[0.0, 0.0], [3.0, 0.0]]), norch.tensor([[0.0, 4.0]]))
    tensor([[4.],
            [5.]])
    """
    shapes = [check_floating(check_tensor(x, "cdist"), "cdist").shape for x in (x1, x2)]
    for shape in shapes:
        if len(shape) < 2:
            raise RuntimeError(f"cdist: expected at least two dimensions, got shape {list(shape)}")
    if shapes[0][-1] != shapes[1][-1]:
        raise RuntimeError(f"cdist: rows of {shapes[0][-1]} and {shapes[1][-1]} elements are not the same")
    if p < 0:
        raise RuntimeError(f"cdist: expected p >= 0, got {p}")
    if compute_mode not in MM_MODES:
        raise ValueError(f"cdist: expected a compute_mode of {', '.join(MM_MODES[:3])}, got {shown(compute_mode)}")
    rows = max(shape[-2] for shape in shapes)
    if p == 2 and compute_mode != MM_OFF and (rows > 25 or compute_mode == MM_ON):
        return _euclidean(x1, x2)
    if x1.dtype is not x2.dtype:
        kind = promoted(x1.dtype, x2.dtype)
        x1, x2 = x1.to(kind), x2.to(kind)
    return recorded(wrap(lib.distances_tensor(x1._ptr, x2._ptr, p)), CdistBackward, (x1, x2), p)


def _euclidean(x1: Tensor, x2: Tensor) -> Tensor:
    """sqrt(|x|^2 - 2 x y + |y|^2), around a common centre, which keeps the digits; 0 where rounding goes below."""
    if x1.numel:
        centre = x1.detach().mean(-2, keepdim=True)
        x1, x2 = x1 - centre, x2 - centre
    squares = (x1 * x1).sum(-1, keepdim=True) + (x2 * x2).sum(-1).unsqueeze(-2) - 2.0 * (x1 @ x2.transpose(-1, -2))
    positive = squares.detach() > 0
    return positive._choose(positive._choose(squares, 1.0).sqrt(), 0.0)


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norm distances of each pair of rows [N, M], the upper triangle of `cdist` row by row: [N (N - 1) / 2].

    A distance of zero has the gradient zero. Raises RuntimeError for another shape or dtype, or p < 0.

    >>> norch.pdist(norch.tensor([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]]))
    tensor([3., 4., 5.])
    """
    if check_floating(check_tensor(input, "pdist"), "pdist").ndim != 2:
        raise RuntimeError(f"pdist: expected two dimensions, got shape {list(input.shape)}")
    if p < 0:
        raise RuntimeError(f"pdist: expected p >= 0, got {p}")
    result = wrap(lib.distances_tensor(input._ptr, None, p))
    if input._edge is None:
        return result
    pairs = triu_indices(input.shape[0], input.shape[0], 1, device=input.device)
    return recorded(result, PdistBackward, (input,), p, tuple(pairs))
