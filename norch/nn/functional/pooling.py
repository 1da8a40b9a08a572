"""Pooling as functions: the largest element, or the average, of what a window sees."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union

from ...autograd.derivatives import pooling as kernels
from ...autograd.derivatives.convolution import Window
from ...tensor import Tensor
from ...types import Sizes
from .windows import as_images, from_images, per_axis, window

__all__ = ["adaptive_avg_pool1d", "adaptive_avg_pool2d", "avg_pool1d", "avg_pool2d", "max_pool1d", "max_pool2d"]

OutputSize = Union[int, Sequence[Optional[int]], None]  # None: the size of the input


def max_pool1d(
    x: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor | Any:
    """The largest element that each window sees along the last axis of [N, C, length] or [C, length].

    The stride is the kernel size unless given; with `ceil_mode` a last window may reach beyond the end. Padding, at
    most half of the window, is never the largest. With `return_indices` it returns the pair (values, indices along the
    axis, int64). In the dtype of x, which is floating. Raises ShapeError for other shapes, RuntimeError for another
    dtype.

    >>> F.max_pool1d(norch.tensor([[[1.0, 3.0, 5.0, 7.0]]]), kernel_size=2)
    tensor([[[3., 7.]]])
    """
    taps = window("max_pool1d", 1, kernel_size, _stride(stride, kernel_size), dilation, padding)
    return _max_pool("max_pool1d", 1, x, taps, ceil_mode, return_indices)


def max_pool2d(
    x: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor | Any:
    """max_pool1d along two axes, of [N, C, height, width] or [C, height, width]; otherwise as `max_pool1d`.

    Indices are y * width + x.

    >>> F.max_pool2d(norch.ones(8, 3, 28, 28), kernel_size=2).shape
    norch.Size([8, 3, 14, 14])
    """
    taps = window("max_pool2d", 2, kernel_size, _stride(stride, kernel_size), dilation, padding)
    return _max_pool("max_pool2d", 2, x, taps, ceil_mode, return_indices)


def avg_pool1d(
    x: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The average of what each window sees along the last axis of [N, C, length] or [C, length].

    The stride is the kernel size unless given; with `ceil_mode` a last window may reach beyond the end. Padding, at
    most half of the window, is zeros, which count unless `count_include_pad` is False. In the dtype of x, which is
    floating. Raises ShapeError for other shapes, RuntimeError for another dtype.

    >>> F.avg_pool1d(norch.tensor([[[1.0, 3.0, 5.0, 7.0]]]), kernel_size=2)
    tensor([[[2., 6.]]])
    """
    taps = window("avg_pool1d", 1, kernel_size, _stride(stride, kernel_size), 1, padding)
    return _avg_pool("avg_pool1d", 1, x, taps, ceil_mode, count_include_pad, None)


def avg_pool2d(
    x: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """avg_pool1d along two axes, of [N, C, height, width] or [C, height, width]; otherwise as `avg_pool1d`.

    With `divisor_override` the sums are divided by that number.

    >>> F.avg_pool2d(norch.ones(8, 3, 28, 28), kernel_size=2).shape
    norch.Size([8, 3, 14, 14])
    """
    taps = window("avg_pool2d", 2, kernel_size, _stride(stride, kernel_size), 1, padding)
    return _avg_pool("avg_pool2d", 2, x, taps, ceil_mode, count_include_pad, divisor_override)


def adaptive_avg_pool1d(x: Tensor, output_size: OutputSize) -> Tensor:
    """Averages over windows that divide [N, C, length] or [C, length] evenly; otherwise as `adaptive_avg_pool2d`.

    >>> F.adaptive_avg_pool1d(norch.tensor([[[1.0, 3.0, 5.0, 7.0]]]), 2)
    tensor([[[2., 6.]]])
    """
    return _adaptive_avg_pool("adaptive_avg_pool1d", 1, x, output_size)


def adaptive_avg_pool2d(x: Tensor, output_size: OutputSize) -> Tensor:
    """Averages over windows that divide [N, C, height, width] evenly, to [N, C, *output_size].

    Output i averages the inputs from floor(i * in / out) to ceil((i + 1) * in / out). A None in `output_size` keeps the
    size of the input; x may be [C, height, width] too. In the dtype of x, which is floating. Raises ShapeError for
    other shapes, RuntimeError for another dtype.

    >>> F.adaptive_avg_pool2d(norch.ones(8, 3, 7, 9), (1, 2)).shape
    norch.Size([8, 3, 1, 2])
    """
    return _adaptive_avg_pool("adaptive_avg_pool2d", 2, x, output_size)


def _adaptive_avg_pool(name: str, axes: int, x: Tensor, output_size: OutputSize) -> Tensor:
    given = tuple(output_size) if isinstance(output_size, (tuple, list)) else (output_size,)
    per_axis([1 if size is None else size for size in given], axes, f"{name}: output_size")  # or it raises
    wanted = given * axes if len(given) == 1 else given
    images = as_images(name, axes, x)
    sizes = [now if size is None else size for size, now in zip((1, *wanted)[-2:], images.shape[2:])]
    return from_images(kernels.adaptive_avg_pool(images, *sizes), axes, x)


def _max_pool(name: str, axes: int, x: Tensor, taps: Window, ceil: bool, pair: bool) -> Tensor | tuple[Tensor, Tensor]:
    values, indices = kernels.max_pool(as_images(name, axes, x), taps, bool(ceil))
    values, indices = from_images(values, axes, x), from_images(indices, axes, x)
    return (values, indices) if pair else values


def _avg_pool(name: str, axes: int, x: Tensor, taps: Window, ceil: bool, counts: bool, divisor: int | None) -> Tensor:
    if divisor is not None and not divisor:
        raise ValueError(f"{name}: divisor_override is {divisor!r}, expected a number other than 0")
    images = as_images(name, axes, x)
    return from_images(kernels.avg_pool(images, taps, bool(ceil), bool(counts), float(divisor or 0)), axes, x)


def _stride(stride: Sizes | None, kernel_size: Sizes) -> Sizes:
    return kernel_size if stride is None or stride == () or stride == [] else stride
