"""Resampling as functions: sequences, images and volumes of other sizes, and images read at the points of a grid.

One axis is resampled after the other: an element of the result is the sum of a few elements along the axis, each times
a weight that is the same in all lines.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Sequence

from ..._C import ShapeError
from ...arguments import flags, sizes_of
from ...autograd.in_place import copied
from ...functions.creation import arange, zeros
from ...tensor import Tensor
from ...types import float32, float64, int64, shown, uint8
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
    _check_mode(input, mode, align_corners, antialias)
    sizes, factors = _sizes(input, size, scale_factor, recompute_scale_factor)
    if mode == "area":
        pool = (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[input.ndim - 3]
        return pool(input, sizes)
    if math.prod(sizes) > 2**20:
        input.new_empty([*input.shape[:2], *sizes])  # MemoryError before the first axis takes its time
    if min([*sizes, *input.shape[1:]]) < 1:
        raise ShapeError(f"interpolate: from shape {list(input.shape)} to {sizes}, expected sizes of at least 1")
    given = input
    if mode not in _SMOOTH:
        for axis, (new, factor) in enumerate(zip(sizes, factors), 2):
            if new != input.shape[axis]:
                places = _nearest(input.shape[axis], new, factor, mode == "nearest-exact")
                input = input.index_select(axis, places.to(input.device))
        return copied(input, given)
    if not input.is_floating_point() and (input.dtype is not uint8 or input.ndim != 4):
        raise NotImplementedError(
            f"interpolate: mode {shown(mode)} takes no {input.dtype} of shape {list(input.shape)}"
        )
    for axis, new, factor in reversed(list(zip(range(2, input.ndim), sizes, factors))):
        input = _resampled(input, axis, new, factor, mode == "bicubic", bool(align_corners), antialias)
    return copied(input, given)


def _check_mode(x: Tensor, mode: str, align_corners: bool | None, antialias: bool) -> None:
    """Raise an error for a mode that does not fit the shape, and for options that do not fit the mode."""
    check_tensors("interpolate", x)
    axes = x.ndim - 2
    if not 1 <= axes <= 3:
        raise ShapeError(f"interpolate: input has shape {list(x.shape)}, expected [N, C, ...] with 1 to 3 more axes")
    expected = {"nearest", "nearest-exact", "area", _LINEAR[axes]} | ({"bicubic"} if axes == 2 else set())
    if mode not in expected:
        raise NotImplementedError(
            f"interpolate: mode is {shown(mode)}, expected one of {sorted(expected)} for shape {list(x.shape)}"
        )
    if align_corners is not None and mode not in _SMOOTH:
        raise ValueError(f"interpolate: mode {shown(mode)} does not take align_corners")
    if antialias and mode not in ("bilinear", "bicubic"):
        raise ValueError(f"interpolate: mode {shown(mode)} does not take antialias, only 'bilinear' and 'bicubic' do")


def _sizes(
    x: Tensor, size: int | Sequence[int] | None, scale: float | Sequence[float] | None, recompute: bool | None
) -> tuple[list[int], list[float | None]]:
    """The new size along each axis, and the scale factor if it is to be used as given."""
    axes = x.ndim - 2
    if (size is None) == (scale is None):
        raise ValueError(f"interpolate: size is {size} and scale_factor {scale}, expected one of them")
    if recompute and scale is None:
        raise ValueError("interpolate: recompute_scale_factor needs a scale_factor")
    given = size if scale is None else scale
    numbers: list[Any] = list(given) if isinstance(given, (list, tuple)) else [given] * axes
    if len(numbers) != axes:
        raise ValueError(f"interpolate: expected a number or {axes} of them for shape {list(x.shape)}, got {given}")
    if scale is None:
        return sizes_of((numbers,), "interpolate: size"), [None] * axes
    wanted = [float(now) * factor for now, factor in zip(x.shape[2:], numbers)]
    if not all(map(math.isfinite, wanted)):
        raise RuntimeError(f"interpolate: scale_factor is {shown(scale)}, expected finite numbers")
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

    >>> F.upsample(norch.tensor([[[1.0, 3.0]]]), scale_factor=2)
    tensor([[[1., 1., 3., 3.]]])
    """
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(
    input: Tensor, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None
) -> Tensor:
    """The same as `interpolate` with mode "nearest".

    >>> F.upsample_nearest(norch.tensor([[[1.0, 3.0]]]), scale_factor=2)
    tensor([[[1., 1., 3., 3.]]])
    """
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(
    input: Tensor, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None
) -> Tensor:
    """The same as `interpolate` with mode "bilinear" and aligned corners.

    >>> F.upsample_bilinear(norch.tensor([[[[1.0, 3.0]]]]), size=(1, 3))
    tensor([[[[1., 2., 3.]]]])
    """
    return interpolate(input, size, scale_factor, "bilinear", align_corners=True)


# ---- Where an element of the result lies in the input -----------------------------------------------------------


def _nearest(size: int, new: int, factor: float | None, exact: bool) -> Tensor:
    """The place that each of the `new` elements takes; computed in float32, as PyTorch does."""
    step = arange(1, dtype=float32) + (size / new if factor is None else 1 / factor)
    places = arange(new, dtype=float32) + (0.5 if exact else 0.0)
    return (places * step).floor().to(int64).clamp(0, size - 1)


def _step(size: int, new: int, factor: float | None, align: bool) -> float:
    """The distance in the input between neighbours of the result."""
    if align:
        return (size - 1) / (new - 1) if new > 1 else 0.0
    return size / new if factor is None else 1 / factor


def _resampled(
    x: Tensor, axis: int, new: int, factor: float | None, is_cubic: bool, align: bool, antialias: bool
) -> Tensor:
    """One axis with `new` elements, each the sum of a few of x times a weight."""
    size = x.shape[axis]
    step = _step(size, new, factor, align)
    if new == size and step == 1:
        return x
    if antialias:
        return _product(x, axis, _filter(size, new, step, cubic(-0.5) if is_cubic else _triangle, 2 if is_cubic else 1))
    centres = arange(new, dtype=float64)
    centres = centres * step if align else (centres + 0.5) * step - 0.5
    centres = centres if is_cubic else centres.clamp(min=0.0)
    below, taps = centres.floor(), (arange(-1, 3) if is_cubic else arange(2)).unsqueeze(1)
    weights = (cubic(-0.75) if is_cubic else _triangle)(centres - below - taps)  # [taps, new]
    places = (below.to(int64) + taps).clamp(0, size - 1)
    if x.dtype is uint8:
        return _product(x, axis, zeros(new, size, dtype=float64).scatter_add(1, places.T, weights.T))
    places, weights = places.to(x.device), weights.to(x.device, x.dtype)
    shape = [new if k == axis else 1 for k in range(x.ndim)]
    terms = [x.index_select(axis, at) * weight.reshape(shape) for at, weight in zip(places.unbind(), weights.unbind())]
    return sum(terms[1:], terms[0])


def _product(x: Tensor, axis: int, weights: Tensor) -> Tensor:
    """weights [new, size] @ x along an axis, in the dtype of x."""
    if x.dtype is uint8:  # as in PyTorch, the weights are integers below 2^15 over a power of 2, and halves go up
        scale, largest = 2.0**22, float(weights.max())
        while math.floor(largest * scale + 0.5) >= 2**15:
            scale /= 2
        weights = (weights.abs() * scale + 0.5).floor() * weights.sign() / scale
        return (_product(x.double(), axis, weights) + 0.5).floor().clamp(0, 255).to(uint8)
    return (x.movedim(axis, -1) @ weights.to(x.device, x.dtype).T).movedim(-1, axis)


def _filter(size: int, new: int, step: float, kernel: Callable[[Tensor], Tensor], reach: int) -> Tensor:
    """The weights [new, size] of a filter that is as wide as the distance between neighbours of the result."""
    width = max(step, 1.0)
    centres = ((arange(new, dtype=float64) + 0.5) * step).unsqueeze(1)
    first = (centres - reach * width + 0.5).trunc().clamp(min=0.0)
    last = (centres + reach * width + 0.5).trunc().clamp(max=float(size))
    places = arange(size, dtype=float64)
    seen = (places >= first).logical_and(places < last)
    weights = kernel((places - centres + 0.5) / width) * seen.double()
    return weights / weights.sum(1, keepdim=True)


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
