"""Images and volumes read at the points of a grid, and the grids of affine maps."""

from __future__ import annotations

import itertools
import math
import struct
from functools import partial
from typing import Sequence

from ..._C import ShapeError
from ...arguments import flags, sizes_in
from ...autograd.derivatives import by_formula
from ...functions.creation import ones, tensor, zeros
from ...functions.joining import stack
from ...given import warn
from ...operation import own
from ...tensor import Tensor
from ...types import float32, float64, shown
from .checks import check_floats, check_tensors
from .fused import fused_or
from .resampling import cubic

__all__ = ["affine_grid", "grid_sample"]

_MODES, _BORDERS = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")  # in csrc/ops/grid.h's order


def _warn_of_corners(name: str, align_corners: bool | None) -> None:
    if align_corners is None:
        warn(f"{name}: align_corners is False since PyTorch 1.3.0; give it to say which of both is meant")


@flags
def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The points that affine maps `theta` [N, 2, 3] give the pixels of images of this size [N, C, height, width].

    The result [N, height, width, 2] holds x and y, both from -1 to 1 over the image: at the centres of its outermost
    pixels with `align_corners`, else at their outer edges. With theta [N, 3, 4] and a size of 5 numbers, of volumes:
    [N, depth, height, width, 3]. In the dtype of theta, which is floating. Raises ValueError for another dtype,
    ShapeError for shapes that do not fit.

    >>> F.affine_grid(norch.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), (1, 1, 1, 2), align_corners=False)
    tensor([[[[-0.5000,  0.0000],
              [ 0.5000,  0.0000]]]])
    """
    check_tensors("affine_grid", theta)
    if not theta.is_floating_point():
        raise ValueError(f"affine_grid: expected a floating dtype, got {theta.dtype}")
    sizes = sizes_in(size, "affine_grid")
    axes = len(sizes) - 2
    if axes not in (2, 3) or min(sizes) < 1 or list(theta.shape) != [sizes[0], axes, axes + 1]:
        raise ShapeError(
            f"affine_grid: theta of shape {list(theta.shape)} and size {sizes}, expected [N, 2, 3] and [N, C, height, "
            "width], or [N, 3, 4] and [N, C, depth, height, width], all at least 1"
        )
    _warn_of_corners("affine_grid", align_corners)
    if align_corners and min(sizes[2:]) == 1:
        warn("affine_grid: with align_corners the only point of an axis of size 1 is its centre, since PyTorch 1.3.0")
    last = ones(sizes[2:], dtype=theta.dtype, device=theta.device)  # first, as it fails where memory is short
    points = []  # of each axis, the last first
    for axis, length in reversed(list(enumerate(sizes[2:]))):
        places = _places(length, theta)
        if not align_corners:
            places = places * (length - 1) / length
        points.append(places.reshape([-1 if k == axis else 1 for k in range(axes)]).expand(sizes[2:]))
    base = stack([*points, last], -1).reshape(-1, axes + 1)
    grids = base @ theta.reshape(-1, axes + 1).T  # a product for all maps fills vectors
    return own(grids.reshape(-1, sizes[0], axes).transpose(0, 1).reshape(sizes[0], *sizes[2:], axes))


def _places(length: int, like: Tensor) -> Tensor:
    """`length` numbers from -1 to 1, rounded as PyTorch rounds them: a point between two pixels must not cross over."""
    if length == 1:
        return zeros(1, dtype=like.dtype, device=like.device)
    step = 2 / (length - 1)
    if like.dtype is float32:
        (step,) = struct.unpack("f", struct.pack("f", step))
    elif like.dtype is not float64:
        step = float((ones(1, dtype=like.dtype) * 2 / (length - 1)).item())
    places = [i * step - 1 if i < length // 2 else 1 - (length - 1 - i) * step for i in range(length)]
    return tensor(places, dtype=like.dtype, device=like.device)


@flags
def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """x [N, C, height, width] read at the points of a grid [N, rows, columns, 2]: [N, C, rows, columns].

    A point holds x and y from -1 to 1 over the image, as in `affine_grid`. Mode "nearest" takes the nearest pixel,
    "bilinear" interpolates between 4 of them, "bicubic" between 16. Beyond the image, `padding_mode` is "zeros",
    "border" (its outermost pixels) or "reflection". Volumes [N, C, depth, height, width] take grids of 3 numbers, but
    not "bicubic". All have one floating dtype. Raises ValueError for another mode, ShapeError for other shapes,
    RuntimeError for other dtypes.

    >>> F.grid_sample(norch.tensor([[[[1.0, 3.0]]]]), norch.tensor([[[[0.0, 0.0]]]]), align_corners=True)
    tensor([[[[2.]]]])
    """
    check_floats("grid_sample", input, grid)
    axes = input.ndim - 2
    if mode not in _MODES:
        raise ValueError(f"grid_sample: mode is {shown(mode)}, expected 'bilinear', 'nearest' or 'bicubic'")
    if padding_mode not in _BORDERS:
        raise ValueError(
            f"grid_sample: padding_mode is {shown(padding_mode)}, expected 'zeros', 'border' or 'reflection'"
        )
    if input.dtype is not grid.dtype:
        raise RuntimeError(f"grid_sample: expected one dtype, got {input.dtype} and {grid.dtype}")
    if axes not in (2, 3) or grid.ndim != input.ndim or grid.shape[-1] != axes or grid.shape[0] != input.shape[0]:
        raise ShapeError(
            f"grid_sample: input of shape {list(input.shape)} and grid of shape {list(grid.shape)}, expected "
            "[N, C, height, width] and [N, rows, columns, 2], or an axis and a number of a point more"
        )
    if min(input.shape[2:]) < 1 or (mode == "bicubic" and axes == 3):
        raise RuntimeError(f"grid_sample: mode {shown(mode)} does not take an input of shape {list(input.shape)}")
    _warn_of_corners("grid_sample", align_corners)
    settings = _MODES.index(mode), _BORDERS.index(padding_mode), bool(align_corners)
    return fused_or(partial(by_formula.grid_sample, _sampled), _sampled, input, grid, *settings)


def _sampled(input: Tensor, grid: Tensor, mode_code: int, border: int, align_corners: bool) -> Tensor:
    mode, padding_mode, places = _MODES[mode_code], _BORDERS[border], []
    for size, point in zip(input.shape[2:], reversed(grid.unbind(-1))):
        place = (point + 1) * ((size - 1) / 2) if align_corners else ((point + 1) * size - 1) / 2
        if padding_mode != "zeros" and mode != "bicubic":
            place = _inside(place, size, padding_mode, align_corners)
        places.append(place)
    taps = [_taps(place, size, mode, padding_mode, align_corners) for place, size in zip(places, input.shape[2:])]
    return _gathered(input, taps)


Tap = tuple[Tensor, Tensor, Tensor]  # the index along an axis that each point reads, its weight, and if it is there


def _taps(place: Tensor, size: int, mode: str, padding_mode: str, align: bool) -> list[Tap]:
    """What the points read along one axis."""
    if mode == "nearest":
        near = place.detach().round()
        found = [(near, near.isnan()._choose(place, 1.0))]  # a constant, so that a grid has a gradient: of 0
    else:
        below = place.detach().floor()
        offset = place - below
        if mode == "bilinear":
            found = [(below, 1 - offset), (below + 1, offset)]
        else:
            kernel = cubic(-0.75)
            found = [(below + tap, kernel(offset - tap)) for tap in range(-1, 3)]
    taps = []
    for index, weight in found:
        if mode == "bicubic" and padding_mode != "zeros":  # which reads each of its pixels beyond the border
            index = _inside(index, size, padding_mode, align)
        seen = (index >= 0).logical_and(index <= size - 1)  # NaN is not
        taps.append((seen._choose(index, 0.0).long(), seen._choose(weight, weight * 0.0), seen))
    return taps


def _gathered(x: Tensor, taps: Sequence[Sequence[Tap]]) -> Tensor:
    """The sum over all combinations of taps, one of each axis, of the elements there times the product of weights."""
    samples, channels, shape = x.shape[0], x.shape[1], taps[0][0][0].shape
    lines, result = x.flatten(2), None
    for corner in itertools.product(*taps):
        index, weight, seen = corner[0]
        for size, (more, factor, inside) in zip(x.shape[3:], corner[1:]):
            index, weight, seen = index * size + more, weight * factor, seen.logical_and(inside)
        read = lines.gather(2, index.reshape(samples, 1, math.prod(shape[1:])).expand(-1, channels, -1))
        read, weight = read.reshape(samples, channels, *shape[1:]), weight.unsqueeze(1)
        passes = seen.unsqueeze(1).logical_and(weight == weight)  # a gradient to the image; a NaN weight does not
        term = passes._choose(read, read.detach()) * weight
        result = term if result is None else result + term
    assert result is not None
    return result


def _inside(place: Tensor, size: int, padding_mode: str, align: bool) -> Tensor:
    """Places moved into [0, size - 1]: by reflection at the borders, then by clipping, which has no gradient."""
    if padding_mode == "reflection":
        place = _reflected(place, 0.0, size - 1.0) if align else _reflected(place, -0.5, size - 0.5)
    values = place.detach()
    place = (values > 0)._choose(place, 0.0)  # NaN becomes 0
    return (values < size - 1)._choose(place, size - 1.0)


def _reflected(place: Tensor, low: float, high: float) -> Tensor:
    """Places reflected at both ends of [low, high] until they lie within."""
    span = high - low
    if span == 0:
        return place * 0
    distance = (place - low).abs()
    flips = (distance.detach() / span).floor()
    extra = distance - flips * span
    return (flips % 2 == 0)._choose(extra + low, high - extra)
