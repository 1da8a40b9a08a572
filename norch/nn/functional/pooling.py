"""Pooling as functions: the largest element, or the average, of what a window sees."""

from __future__ import annotations

from typing import Any

from norch.autograd.derivatives import convolution, pooling
from norch.tensor import Tensor

from .windows import over_images, sizes, with_height


def max_pool1d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element that each window sees along the last axis of [N, C, length] or [C, length].

    The stride is the kernel size unless given; with `ceil_mode` a last window may reach beyond the end. Padding, at
    most half of the window, is never the largest. With `return_indices` the pair (values, indices along the axis,
    int64). In the dtype of x, which is floating. Raises ShapeError for other shapes, RuntimeError for another dtype.

    >>> F.max_pool1d(norch.tensor([[[1.0, 3.0, 5.0, 7.0]]]), kernel_size=2)
    tensor([[[3., 7.]]])
    """
    return _max_pool("max_pool1d", 1, x, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool2d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """max_pool1d along two axes, of [N, C, height, width] or [C, height, width]; otherwise as `max_pool1d`.

    Indices are y * width + x.

    >>> F.max_pool2d(norch.ones(8, 3, 28, 28), kernel_size=2).shape
    norch.Size([8, 3, 14, 14])
    """
    return _max_pool("max_pool2d", 2, x, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def avg_pool1d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
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
    return _avg_pool("avg_pool1d", 1, x, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


def avg_pool2d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """avg_pool1d along two axes, of [N, C, height, width] or [C, height, width]; otherwise as `avg_pool1d`.

    With `divisor_override` the sums are divided by that number.

    >>> F.avg_pool2d(norch.ones(8, 3, 28, 28), kernel_size=2).shape
    norch.Size([8, 3, 14, 14])
    """
    return _avg_pool("avg_pool2d", 2, x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def adaptive_avg_pool1d(x: Tensor, output_size: Any) -> Tensor:
    """Averages over windows that share out [N, C, length] or [C, length] evenly; otherwise as `adaptive_avg_pool2d`.

    >>> F.adaptive_avg_pool1d(norch.tensor([[[1.0, 3.0, 5.0, 7.0]]]), 2)
    tensor([[[2., 6.]]])
    """
    (width,) = (None,) if output_size is None else sizes(output_size, 1, "adaptive_avg_pool1d: output_size")
    return over_images("adaptive_avg_pool1d", 1, x, lambda images: _adaptive(images, 1, width))


def adaptive_avg_pool2d(x: Tensor, output_size: Any) -> Tensor:
    """Averages over windows that share out [N, C, height, width] evenly, to [N, C, *output_size].

    Output i averages the inputs from floor(i * in / out) to ceil((i + 1) * in / out). A None in `output_size` keeps the
    size of the input; [C, height, width] will do. In the dtype of x, which is floating. Raises
    ShapeError for other shapes, RuntimeError for another dtype.

    >>> F.adaptive_avg_pool2d(norch.ones(8, 3, 7, 9), (1, 2)).shape
    norch.Size([8, 3, 1, 2])
    """
    given = tuple(output_size) if isinstance(output_size, (tuple, list)) else (output_size, output_size)
    sizes([1 if size is None else size for size in given], 2, "adaptive_avg_pool2d: output_size")
    height, width = given * (3 - len(given))
    return over_images("adaptive_avg_pool2d", 2, x, lambda images: _adaptive(images, height, width))


def _adaptive(images: Tensor, height: int | None, width: int | None) -> Tensor:
    return pooling.adaptive_avg_pool(
        images, images.shape[2] if height is None else height, images.shape[3] if width is None else width
    )


def _max_pool(
    name: str, axes: int, x: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil: bool, pair: bool
) -> Any:
    window = _window(name, axes, kernel_size, stride, dilation, padding)
    values, indices = over_images(name, axes, x, lambda images: pooling.max_pool(images, window, bool(ceil)))
    return (values, indices) if pair else values


def _avg_pool(
    name: str, axes: int, x: Any, kernel_size: Any, stride: Any, padding: Any, ceil: bool, counts: bool, divisor: Any
) -> Any:
    window = _window(name, axes, kernel_size, stride, 1, padding)
    if divisor is not None and not divisor:
        raise ValueError(f"{name}: divisor_override is {divisor!r}, expected a number other than 0")
    settings = (window, bool(ceil), bool(counts), float(divisor or 0))
    return over_images(name, axes, x, lambda images: pooling.avg_pool(images, *settings))


def _window(name: str, axes: int, kernel_size: Any, stride: Any, dilation: Any, padding: Any) -> Any:
    kernel = sizes(kernel_size, axes, f"{name}: kernel_size")
    step = kernel if stride is None or stride == () or stride == [] else sizes(stride, axes, f"{name}: stride")
    spread, before = sizes(dilation, axes, f"{name}: dilation"), sizes(padding, axes, f"{name}: padding")
    pad = with_height(before, 0)
    return convolution.window_array(with_height(kernel, 1), with_height(step, 1), with_height(spread, 1), pad, pad)
