"""Pooling to a given size as functions: windows that divide an input evenly (adaptive) or at random (fractional)."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union

from ..._C import ShapeError
from ...arguments import flags
from ...autograd import no_grad
from ...autograd.derivatives import pooling as kernels
from ...functions.joining import cat
from ...functions.random import rand
from ...functions.ranges import arange
from ...operation import check_tensor, own
from ...tensor import Tensor
from ...types import Sizes, int64
from .checks import check_floats
from .windows import Windows, as_given, batch_of, check_not_empty, listed, per_axis

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
]

OutputSize = Union[int, Sequence[Optional[int]], None]  # None: the size of the input

# ---- The average ------------------------------------------------------------------------------------------------


def adaptive_avg_pool1d(input: Tensor, output_size: OutputSize) -> Tensor:
    """Averages over windows that divide [N, C, length] or [C, length] evenly; otherwise as `adaptive_avg_pool2d`.

    Raises TypeError for None as the size.

    >>> F.adaptive_avg_pool1d(norch.tensor([[[1.0, 3.0, 5.0, 7.0]]]), 2)
    tensor([[[2., 6.]]])
    """
    if output_size is None:
        raise TypeError("adaptive_avg_pool1d: expected a size, got None")
    return _adaptive_avg_pool("adaptive_avg_pool1d", 1, input, output_size)


def adaptive_avg_pool2d(input: Tensor, output_size: OutputSize) -> Tensor:
    """Averages over windows that divide [N, C, height, width] evenly, to [N, C, *output_size].

    Output i averages the inputs from floor(i * in / out) to ceil((i + 1) * in / out). A None in `output_size` keeps the
    size of the input; x may be [C, height, width] too. In the dtype of x, which is floating. Raises ShapeError for
    other shapes, RuntimeError for another dtype.

    >>> F.adaptive_avg_pool2d(norch.ones(8, 3, 7, 9), (1, 2)).shape
    norch.Size([8, 3, 1, 2])
    """
    return _adaptive_avg_pool("adaptive_avg_pool2d", 2, input, output_size)


def adaptive_avg_pool3d(input: Tensor, output_size: OutputSize) -> Tensor:
    """`adaptive_avg_pool2d` along three axes, of [N, C, depth, height, width]; otherwise as `adaptive_avg_pool2d`.

    >>> F.adaptive_avg_pool3d(norch.ones(2, 3, 7, 9, 5), (1, 2, None)).shape
    norch.Size([2, 3, 1, 2, 5])
    """
    return _adaptive_avg_pool("adaptive_avg_pool3d", 3, input, output_size)


def _adaptive_avg_pool(name: str, axes: int, x: Tensor, output_size: OutputSize) -> Tensor:
    output_size = listed(output_size)  # before it is compared
    if output_size == 1 and isinstance(x, Tensor) and x.ndim == axes + 2 and x.numel and x.is_floating_point():
        return x.mean(_LAST[axes], keepdim=True)
    batch = batch_of(name, axes, x)
    check_not_empty(name, batch, first=2)
    sizes = _sizes(name, axes, batch, output_size)
    if min(sizes) < 0:
        raise ShapeError(f"{name}: from shape {list(x.shape)} to {sizes}, expected sizes of at least 0")
    if 0 in sizes:
        result = batch.new_zeros(*batch.shape[:2], *sizes)
    elif max(sizes) == 1 and batch.is_floating_point():
        result = batch.mean(list(range(2, batch.ndim)), keepdim=True)
    else:
        result = kernels.adaptive_avg_pool(batch, sizes)
    return as_given(result, axes, x)


_LAST = {1: [-1], 2: [-2, -1], 3: [-3, -2, -1]}  # axes


def _sizes(name: str, axes: int, batch: Tensor, output_size: OutputSize) -> list[int]:
    if type(output_size) is int:
        return [output_size] * axes
    output_size = listed(output_size)
    given = tuple(output_size) if isinstance(output_size, (tuple, list)) else (output_size,)
    per_axis([1 if size is None else size for size in given], axes, f"{name}: output_size")  # or it raises
    wanted = given * axes if len(given) == 1 else given
    return [now if size is None else size for size, now in zip(wanted, batch.shape[2:])]


# ---- The largest element ----------------------------------------------------------------------------------------


@flags
def adaptive_max_pool1d(input: Tensor, output_size: OutputSize, return_indices: bool = False) -> Tensor | Any:
    """The largest elements of windows that divide [N, C, length] or [C, length] evenly; as `adaptive_max_pool2d`.

    >>> F.adaptive_max_pool1d(norch.tensor([[[1.0, 3.0, 5.0, 7.0]]]), 2)
    tensor([[[3., 7.]]])
    """
    return _adaptive_max_pool("adaptive_max_pool1d", 1, input, output_size, return_indices)


@flags
def adaptive_max_pool2d(input: Tensor, output_size: OutputSize, return_indices: bool = False) -> Tensor | Any:
    """The largest elements of windows that divide [N, C, height, width] evenly, [N, C, *output_size].

    Windows and `output_size` are those of `adaptive_avg_pool2d`. With `return_indices` it returns the pair (values,
    indices y * width + x, int64). In the dtype of x. Raises ShapeError for other shapes, RuntimeError for bool.

    >>> F.adaptive_max_pool2d(norch.ones(8, 3, 7, 9), (1, 2)).shape
    norch.Size([8, 3, 1, 2])
    """
    return _adaptive_max_pool("adaptive_max_pool2d", 2, input, output_size, return_indices)


@flags
def adaptive_max_pool3d(input: Tensor, output_size: OutputSize, return_indices: bool = False) -> Tensor | Any:
    """`adaptive_max_pool2d` along three axes, of [N, C, depth, height, width]; otherwise as `adaptive_max_pool2d`.

    >>> F.adaptive_max_pool3d(norch.ones(2, 3, 7, 9, 5), (1, 2, None)).shape
    norch.Size([2, 3, 1, 2, 5])
    """
    return _adaptive_max_pool("adaptive_max_pool3d", 3, input, output_size, return_indices)


def _adaptive_max_pool(name: str, axes: int, x: Tensor, output_size: OutputSize, pair: bool) -> Any:
    batch = batch_of(name, axes, x)
    check_not_empty(name, x)
    sizes = _sizes(name, axes, batch, output_size)
    if 0 in batch.shape[2:] or min(sizes) < 0:
        raise ShapeError(f"{name}: from shape {list(x.shape)} to {sizes}, expected sizes of at least 1")
    if 0 in sizes:
        shape = [*x.shape[:-axes], *sizes]
        values, indices = x.new_zeros(shape), x.new_zeros(shape, dtype=int64)
    else:
        values, indices = kernels.adaptive_max_pool(batch, sizes)
        values, indices = as_given(values, axes, x), as_given(indices, axes, x)
    return (values, indices) if pair else values


# ---- The largest element of windows at random places ------------------------------------------------------------


@flags
def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Sizes,
    output_size: Sizes | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Tensor | Any:
    """The largest elements of windows whose places are drawn at random, as many along each axis as `output_size` says.

    For [N, C, height, width] or [C, height, width]; `output_ratio` gives the output size as a share of the input's.
    Windows of `kernel_size` begin at steps of about input / output, in each channel others; they depend on two numbers
    in [0, 1), `_random_samples` [N, C, 2]. With `return_indices` it returns the pair (values, indices y * width + x,
    int64). In the dtype of x, which is floating. Formula: Graham, "Fractional max-pooling" (2014). Raises ValueError
    unless one of size and ratio is given, RuntimeError if the windows do not fit.

    >>> F.fractional_max_pool2d(norch.ones(8, 3, 28, 28), 2, output_ratio=0.7).shape
    norch.Size([8, 3, 19, 19])
    """
    name = "fractional_max_pool2d"
    samples = (1, 0)  # which of the samples the axes take
    return _fractional(name, samples, input, kernel_size, output_size, output_ratio, return_indices, _random_samples)


@flags
def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Sizes,
    output_size: Sizes | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Tensor | Any:
    """`fractional_max_pool2d` of [N, C, depth, height, width], or without N; otherwise as `fractional_max_pool2d`.

    >>> F.fractional_max_pool3d(norch.ones(2, 3, 8, 8, 8), 2, output_size=5).shape
    norch.Size([2, 3, 5, 5, 5])
    """
    name = "fractional_max_pool3d"
    samples = (0, 1, 2)
    return _fractional(name, samples, input, kernel_size, output_size, output_ratio, return_indices, _random_samples)


def _fractional(
    name: str,
    order: Sequence[int],
    x: Tensor,
    kernel_size: Sizes,
    output_size: Sizes | None,
    output_ratio: float | Sequence[float] | None,
    pair: bool,
    samples: Tensor | None,
) -> Any:
    check_floats(name, x)
    axes = len(order)
    batch, kernel = batch_of(name, axes, x), per_axis(kernel_size, axes, f"{name}: kernel_size")
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name}: output_size and output_ratio are None, expected one of them")
    if output_size is None and output_ratio is not None:
        ratios = [output_ratio] * axes if isinstance(output_ratio, (int, float)) else list(output_ratio)
        if len(ratios) != axes or not all(0 < ratio < 1 for ratio in ratios):
            raise ValueError(f"{name}: output_ratio is {output_ratio}, expected a number between 0 and 1, or {axes}")
        output_size = [int(size * ratio) for size, ratio in zip(batch.shape[2:], ratios)]
    assert output_size is not None
    sizes = per_axis(output_size, axes, f"{name}: output_size")
    if samples is None:
        samples = rand(*batch.shape[:2], axes, dtype=x.dtype, device=x.device)
    found = check_tensor(samples, f"{name}: _random_samples").shape
    if len(found) != 3 or found[0] < batch.shape[0] or found[1:] != (batch.shape[1], axes):
        expected = [*batch.shape[:2], axes]
        raise ShapeError(f"{name}: _random_samples have shape {list(found)}, expected {expected} or more samples")
    if samples.dtype is not x.dtype:
        raise RuntimeError(f"{name}: _random_samples are {samples.dtype}, expected {x.dtype}, as the input")
    samples, seen = samples[: batch.shape[0]], []
    for which, size, out, width in zip(order, batch.shape[2:], sizes, kernel):
        if out < 1 or width < 1 or out + width - 1 > size:
            raise ShapeError(f"{name}: {out} windows of {width} along an axis of {size}, expected room for them")
        starts = _starts(samples.select(2, which), size, out, width)
        seen.append((starts.unsqueeze(-1) + arange(width, device=x.device)).flatten(2))
    values, indices = (as_given(t, axes, x) for t in _max_of(batch, seen, kernel))
    return (values, indices) if pair else values


def _max_of(batch: Tensor, seen: Sequence[Tensor], kernel: Sequence[int]) -> tuple[Tensor, Tensor]:
    """The largest elements of windows of `kernel` elements, and their places in row order.

    `seen` are the places along each axis that the windows see, one window after the other, [N, C, windows * kernel].
    """
    axes = len(kernel)
    places = seen[0].new_zeros([1] * batch.ndim)
    for axis, (along, size) in enumerate(zip(seen, batch.shape[2:])):
        shape = [*along.shape[:2], *[1] * axis, along.shape[2], *[1] * (axes - 1 - axis)]
        places = places * size + along.reshape(shape)
    with no_grad():
        windows = batch.flatten(2).gather(2, places.flatten(2)).reshape(places.shape)
        still = (0,) * axes
        window = Windows(tuple(kernel), tuple(kernel), (1,) * axes, still, still).all_axes()
        values, found = kernels.max_pool(windows, window, False, True)
        indices = own(places.flatten(2).gather(2, found.flatten(2)).reshape(found.shape))
    return kernels.largest(batch, values, indices), indices


def _starts(sample: Tensor, size: int, count: int, width: int) -> Tensor:
    """Where windows begin, [N, C, count]; the last one ends with the axis."""
    last = sample.new_full([*sample.shape, 1], size - width, dtype=int64)
    if count == 1:
        return last
    sample, step = sample.unsqueeze(-1), (size - width) / (count - 1)
    others = ((arange(count - 1, device=sample.device) + sample) * step).long() - (sample * step).long()
    return cat([others, last], -1)
