"""Resampling as functions: sequences, images and volumes of other sizes, and images read at the points of a grid.

One axis is resampled after the other: an element of the result is the sum of a few elements along the axis, each times
a weight that is the same in all lines.
"""

from __future__ import annotations

import functools
import math
from typing import Any, Callable, Sequence

from ..._C import ShapeError
from ...arguments import flags, sizes_of
from ...autograd.derivatives.resampling import Table, resampled
from ...functions.creation import ones_like, zeros
from ...functions.ranges import arange
from ...given import warn
from ...tensor import Tensor
from ...types import HALVES, Size, bool_, float32, float64, int64, shown, uint8
from ...types import dtype as DType
from .adaptive_pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from .checks import check_tensors

__all__ = ["interpolate", "upsample", "upsample_bilinear", "upsample_nearest"]

_LINEAR = {1: "linear", 2: "bilinear", 3: "trilinear"}
_SMOOTH = (*_LINEAR.values(), "bicubic")


@flags
def interpolate(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """x [N, C, ...], with 1, 2 or 3 axes more, resampled to `size`, or to floor(size * scale_factor) of its own.

    Modes: "nearest" takes the element below a place, "nearest-exact" the one whose centre is nearest; "linear" (1
    axis), "bilinear" (2), "trilinear" (3) and "bicubic" (2) interpolate; "area" averages. Elements are squares of size
    1; with `align_corners` they are points, and the first and last of both sizes lie upon each other. `antialias`
    (bilinear, bicubic) widens the filter when an image shrinks. With `recompute_scale_factor` distances follow from the
    sizes, not from the factor. In the dtype of x: floating, or uint8 for the nearest modes and for images.
    Raises NotImplementedError for a mode that does not fit the shape, ValueError for options that do not fit,
    ShapeError for other shapes.

    >>> F.interpolate(norch.tensor([[[1.0, 3.0]]]), scale_factor=2, mode="linear")
    tensor([[[1.0000, 1.5000, 2.5000, 3.0000]]])
    """
    check_tensors("interpolate", input)
    if (size is None) == (scale_factor is None):
        raise ValueError(f"interpolate: size is {size} and scale_factor {scale_factor}, expected one of them")
    given, shape, kind = size if scale_factor is None else scale_factor, input.shape, input.dtype
    numbers = tuple(given) if isinstance(given, (list, tuple)) else (given,) * (len(shape) - 2)
    plan = _plan if _PLAIN.issuperset(map(type, numbers)) else _plan.__wrapped__
    options = mode, align_corners, antialias, recompute_scale_factor, scale_factor is not None
    sizes, steps = plan(shape, kind, *options, *numbers)
    if mode == "area":
        pool = (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[len(sizes) - 1]
        return pool(input, sizes)
    if math.prod(sizes) > 2**20:
        input.new_empty([*shape[:2], *sizes])  # MemoryError before the first axis takes its time
    if not steps:
        return input.clone()
    result = input.float() if kind in HALVES else input
    for axis, settings in steps:
        if kind.is_floating_point:
            kept = _table if settings[0] + settings[1] < 2**16 else _large_table
            result = resampled(result, axis, kept(*settings, result.dtype, result.device))
        elif mode in _SMOOTH:
            result = _product(result, axis, *settings)
        else:
            result = result.index_select(axis, _table(*settings, float32, "cpu").places[0].to(input.device))
    return result.to(kind) if kind in HALVES else result


_PLAIN = {int, float}  # whose equal values are the same size or factor, if they have one type


@functools.lru_cache(256, typed=True)
def _plan(
    shape: Size,
    kind: DType,
    mode: str,
    align: bool | None,
    antialias: bool,
    recompute: bool | None,
    are_factors: bool,
    *numbers: Any,
) -> tuple[list[int], list[tuple[int, tuple[Any, ...]]]]:
    """The new sizes, and the axes in the order in which they are resampled, each with the arguments of `_taps`.

    What is checked here needs no second look for arguments that are as before.
    """
    _check_mode(shape, mode, align, antialias)
    sizes, factors = _sizes(shape, are_factors, recompute, numbers)
    if mode == "area":
        return sizes, []
    if min([*sizes, *shape[1:]]) < 1:
        raise ShapeError(f"interpolate: from shape {list(shape)} to {sizes}, expected sizes of at least 1")
    is_smooth = mode in _SMOOTH
    if is_smooth and not kind.is_floating_point and (kind is not uint8 or len(shape) != 4):
        raise NotImplementedError(f"interpolate: mode {shown(mode)} takes no {kind} of shape {list(shape)}")
    steps = []
    for axis, (size, new, factor) in reversed(list(enumerate(zip(shape[2:], sizes, factors), 2))):
        # As in PyTorch, this mode alone moves the elements of an axis that keeps its size, by a factor of, say, 1.1
        may_move = mode == "bicubic" and not antialias
        if new != size or (may_move and _step(size, new, factor, bool(align)) != 1):
            steps.append((axis, (size, new, factor, mode, bool(align), antialias)))
    if kind is not uint8:  # of images of bytes the order shows in what is rounded
        steps.sort(key=lambda step: step[1][1] / step[1][0])  # what shrinks most comes first: it leaves least to do
    return sizes, steps


def _check_mode(shape: Size, mode: str, align_corners: bool | None, antialias: bool) -> None:
    """Raise an error for a mode that does not fit the shape, and for options that do not fit the mode."""
    axes = len(shape) - 2
    if not 1 <= axes <= 3:
        raise ShapeError(f"interpolate: input has shape {list(shape)}, expected [N, C, ...] with 1 to 3 more axes")
    expected = {"nearest", "nearest-exact", "area", _LINEAR[axes]} | ({"bicubic"} if axes == 2 else set())
    if mode not in expected:
        raise NotImplementedError(
            f"interpolate: mode is {shown(mode)}, expected one of {sorted(expected)} for shape {list(shape)}"
        )
    if align_corners is not None and mode not in _SMOOTH:
        raise ValueError(f"interpolate: mode {shown(mode)} does not take align_corners")
    if antialias and mode not in ("bilinear", "bicubic"):
        raise ValueError(f"interpolate: mode {shown(mode)} does not take antialias, only 'bilinear' and 'bicubic' do")


def _sizes(
    shape: Size, are_factors: bool, recompute: bool | None, numbers: tuple[Any, ...]
) -> tuple[list[int], list[float | None]]:
    """The new size along each axis, and the scale factor if it is to be used as given."""
    axes = len(shape) - 2
    if recompute and not are_factors:
        raise ValueError("interpolate: recompute_scale_factor needs a scale_factor")
    if len(numbers) != axes:
        raise ValueError(f"interpolate: expected a number or {axes} of them for shape {list(shape)}, got {numbers}")
    if not are_factors:
        return sizes_of((numbers,), "interpolate: size"), [None] * axes
    wanted = [float(now) * factor for now, factor in zip(shape[2:], numbers)]
    if not all(map(math.isfinite, wanted)):
        raise RuntimeError(f"interpolate: scale_factor is {shown(numbers)}, expected finite numbers")
    return [math.floor(size) for size in wanted], [None if recompute else float(factor) for factor in numbers]


@flags
def upsample(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """The older name, the same as `interpolate`.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     F.upsample(norch.tensor([[[1.0, 3.0]]]), scale_factor=2)
    tensor([[[1., 1., 3., 3.]]])
    """
    _warn_of_name("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(
    input: Tensor, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None
) -> Tensor:
    """The same as `interpolate` with mode "nearest".

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     F.upsample_nearest(norch.tensor([[[1.0, 3.0]]]), scale_factor=2)
    tensor([[[1., 1., 3., 3.]]])
    """
    _warn_of_name("upsample_nearest")
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(
    input: Tensor, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None
) -> Tensor:
    """The same as `interpolate` with mode "bilinear" and aligned corners.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     F.upsample_bilinear(norch.tensor([[[[1.0, 3.0]]]]), size=(1, 3))
    tensor([[[[1., 2., 3.]]]])
    """
    _warn_of_name("upsample_bilinear")
    return interpolate(input, size, scale_factor, "bilinear", align_corners=True)


def _warn_of_name(name: str) -> None:
    warn(f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.")


# ---- Where an element of the result lies in the input -----------------------------------------------------------


def _taps(
    size: int, new: int, factor: float | None, mode: str, align: bool, antialias: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """The places that each of the `new` elements reads, their weights, and whether it has the tap: [taps, new]."""
    if mode in _SMOOTH:
        step, is_cubic = _step(size, new, factor, align), mode == "bicubic"
        if antialias:
            return _filter(size, new, step, cubic(-0.5) if is_cubic else _triangle, 2 if is_cubic else 1)
        centres = arange(new, dtype=float64, device="cpu")
        centres = centres * step if align else (centres + 0.5) * step - 0.5
        centres = centres if is_cubic else centres.clamp(min=0.0)
        below, taps = centres.floor(), arange(-1 if is_cubic else 0, 3 if is_cubic else 2, device="cpu").unsqueeze(1)
        weights = (cubic(-0.75) if is_cubic else _triangle)(centres - below - taps)
        places = below.to(int64) + taps
    else:  # in float32, as PyTorch computes them
        distance = arange(1, dtype=float32, device="cpu") + (size / new if factor is None else 1 / factor)
        centres = arange(new, dtype=float32, device="cpu") + (0.5 if mode == "nearest-exact" else 0.0)
        places = (centres * distance).floor().to(int64).unsqueeze(0)
        weights = ones_like(places, dtype=float64)
    return places.clamp(0, size - 1), weights, ones_like(places, dtype=bool_)


def _step(size: int, new: int, factor: float | None, align: bool) -> float:
    """The distance in the input between neighbours of the result."""
    if align:
        return (size - 1) / (new - 1) if new > 1 else 0.0
    return size / new if factor is None else 1 / factor


@functools.lru_cache(256)
def _table(*settings: Any) -> Table:
    """What `_taps` finds, in a dtype and on a device, which come last."""
    *arguments, kind, device = settings
    places, weights, seen = _taps(*arguments)
    return Table(arguments[0], places, weights.to(kind), seen, device)


_large_table = functools.lru_cache(8)(_table.__wrapped__)


def _product(x: Tensor, axis: int, size: int, new: int, *settings: Any) -> Tensor:
    """An axis of an image of bytes."""
    places, weights, seen = _taps(size, new, *settings)
    weights = zeros(new, size, dtype=float64, device="cpu").scatter_add(1, places.T, (weights * seen).T)
    # As in PyTorch, the weights are integers below 2^15 over a power of 2, and halves go up
    scale, largest = 2.0**22, float(weights.max())
    while math.floor(largest * scale + 0.5) >= 2**15:
        scale /= 2
    weights = (weights.abs() * scale + 0.5).floor() * weights.sign() / scale
    summed = (x.double().movedim(axis, -1) @ weights.to(x.device).T).movedim(-1, axis)
    return (summed + 0.5).floor().clamp(0, 255).to(uint8)


def _filter(
    size: int, new: int, step: float, kernel: Callable[[Tensor], Tensor], reach: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The taps of a filter that is as wide as the distance between neighbours of the result."""
    width = max(step, 1.0)
    centres = (arange(new, dtype=float64, device="cpu") + 0.5) * step
    first = (centres - reach * width + 0.5).trunc().clamp(min=0.0)
    last = (centres + reach * width + 0.5).trunc().clamp(max=float(size))
    places = first + arange(int((last - first).max()), dtype=float64, device="cpu").unsqueeze(1)
    seen = places < last
    weights = kernel((places - centres + 0.5) / width) * seen.double()
    return seen._choose(places, 0.0).to(int64), weights / weights.sum(0), seen


def _triangle(distance: Tensor) -> Tensor:
    return (1 - distance.abs()).clamp(min=0.0)


def cubic(a: float) -> Callable[[Tensor], Tensor]:
    """The kernel of cubic convolution with the slope `a` at distance 1 (Keys, 1981)."""

    def kernel(distance: Tensor) -> Tensor:
        d = distance.abs()
        near = ((a + 2) * d - (a + 3)) * d * d + 1
        far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
        return (d <= 1)._choose(near, (d < 2)._choose(far, 0.0))

    return kernel
