"""Pooling as functions: the largest element, or the average, of what a window sees; and the way back, unpooling."""

from __future__ import annotations

import math
from typing import Any, Sequence

from ..._C import ShapeError
from ...arguments import flags, one_size, sizes_in
from ...autograd.derivatives import pooling as kernels
from ...functions.out import into
from ...operation import check_tensor, own
from ...tensor import Tensor
from ...types import Sizes, int64, shown
from .checks import check_tensors
from .windows import Windows, as_given, batch_of, check_not_empty, per_axis, window

__all__ = [
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
]

# ---- The largest element ----------------------------------------------------------------------------------------


@flags
def max_pool1d(
    input: Tensor,
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
    axis, int64). In the dtype of x. Raises ShapeError for other shapes, RuntimeError for bool.

    >>> F.max_pool1d(norch.tensor([[[1.0, 3.0, 5.0, 7.0]]]), kernel_size=2)
    tensor([[[3., 7.]]])
    """
    taps = window("max_pool1d", 1, kernel_size, _stride(stride, kernel_size), dilation, padding)
    return _max_pool("max_pool1d", 1, input, taps, ceil_mode, return_indices)


@flags
def max_pool2d(
    input: Tensor,
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
    return _max_pool("max_pool2d", 2, input, taps, ceil_mode, return_indices)


@flags
def max_pool3d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor | Any:
    """max_pool1d along three axes, of [N, C, depth, height, width] or without N; otherwise as `max_pool1d`.

    Indices are (z * height + y) * width + x.

    >>> F.max_pool3d(norch.ones(2, 3, 8, 8, 8), kernel_size=2).shape
    norch.Size([2, 3, 4, 4, 4])
    """
    taps = window("max_pool3d", 3, kernel_size, _stride(stride, kernel_size), dilation, padding)
    return _max_pool("max_pool3d", 3, input, taps, ceil_mode, return_indices)


def _max_pool(name: str, axes: int, x: Tensor, taps: Windows, ceil: bool, pair: bool) -> Tensor | tuple[Tensor, Tensor]:
    batch = batch_of(name, axes, x)
    check_not_empty(name, batch)
    values, indices = kernels.max_pool(batch, taps.all_axes(), bool(ceil), pair)
    values = as_given(values, axes, x)
    return (values, as_given(indices, axes, x)) if pair else values


# ---- The average ------------------------------------------------------------------------------------------------


@flags
def avg_pool1d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The average of what each window sees along the last axis of [N, C, length] or [C, length].

    The stride is the kernel size unless given; with `ceil_mode` a last window may reach beyond the end. Padding, at
    most half of the window, is zeros, which count unless `count_include_pad` is False. In the dtype of x: averages of
    integers are rounded towards zero. Raises ShapeError for other shapes.

    >>> F.avg_pool1d(norch.tensor([[[1.0, 3.0, 5.0, 7.0]]]), kernel_size=2)
    tensor([[[2., 6.]]])
    """
    taps = window("avg_pool1d", 1, kernel_size, _stride(stride, kernel_size), 1, padding)
    return _avg_pool("avg_pool1d", 1, input, taps, ceil_mode, count_include_pad, None)


@flags
def avg_pool2d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """avg_pool1d along two axes, of [N, C, height, width] or [C, height, width]; otherwise as `avg_pool1d`.

    With `divisor_override` the sums are divided by that number.

    >>> F.avg_pool2d(norch.ones(8, 3, 28, 28), kernel_size=2).shape
    norch.Size([8, 3, 14, 14])
    """
    taps = window("avg_pool2d", 2, kernel_size, _stride(stride, kernel_size), 1, padding)
    result = _avg_pool("avg_pool2d", 2, input, taps, ceil_mode, count_include_pad, divisor_override)
    return result if out is None else into(out, result, "avg_pool2d")


@flags
def avg_pool3d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """avg_pool1d along three axes, of [N, C, depth, height, width] or without N; otherwise as `avg_pool2d`.

    >>> F.avg_pool3d(norch.ones(2, 3, 8, 8, 8), kernel_size=2).shape
    norch.Size([2, 3, 4, 4, 4])
    """
    taps = window("avg_pool3d", 3, kernel_size, _stride(stride, kernel_size), 1, padding)
    result = _avg_pool("avg_pool3d", 3, input, taps, ceil_mode, count_include_pad, divisor_override)
    return result if out is None else into(out, result, "avg_pool3d")


def _avg_pool(name: str, axes: int, x: Tensor, taps: Windows, ceil: bool, counts: bool, divisor: int | None) -> Tensor:
    if divisor is not None and not one_size(divisor, f"{name}: divisor_override"):
        raise RuntimeError(f"{name}: divisor_override is {shown(divisor)}, expected a number other than 0")

    batch = batch_of(name, axes, x)
    check_not_empty(name, batch)
    settings = taps.all_axes(), bool(ceil), bool(counts)
    if x.is_floating_point():
        result = kernels.avg_pool(batch, *settings, float(divisor or 0))
        return result if batch is x else as_given(result, axes, x)
    whole = batch.double()  # whose sums are exact up to 2^53; what they are divided by is a whole number, too
    numbers: Tensor | float = float(divisor or 0)
    if not divisor:
        one = whole[:1, :1] * 0 + 1
        numbers = (kernels.avg_pool(one, *settings, 1.0) / kernels.avg_pool(one, *settings, 0.0)).round()
    return as_given((kernels.avg_pool(whole, *settings, 1.0) / numbers).trunc().to(x.dtype), axes, x)


# ---- The p-norm -------------------------------------------------------------------------------------------------


@flags
def lp_pool1d(
    input: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None, ceil_mode: bool = False
) -> Tensor:
    """(The sum of x^p over each window)^(1/p), p = `norm_type`, along the last axis of [N, C, length] or [C, length].

    The stride is the kernel size unless given; with `ceil_mode` a last window may reach beyond the end, and its sum is
    taken for as many elements as the others have. In the dtype of x, which is floating. Raises ShapeError for other
    shapes.

    >>> F.lp_pool1d(norch.tensor([[[3.0, 4.0, 6.0, 8.0]]]), 2, kernel_size=2)
    tensor([[[ 5., 10.]]])
    """
    return _lp_pool(1, input, norm_type, kernel_size, stride, ceil_mode)


@flags
def lp_pool2d(
    input: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None, ceil_mode: bool = False
) -> Tensor:
    """lp_pool1d along two axes, of [N, C, height, width] or [C, height, width]; otherwise as `lp_pool1d`.

    >>> F.lp_pool2d(norch.ones(8, 3, 28, 28), 2, kernel_size=2).shape
    norch.Size([8, 3, 14, 14])
    """
    return _lp_pool(2, input, norm_type, kernel_size, stride, ceil_mode)


@flags
def lp_pool3d(
    input: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None, ceil_mode: bool = False
) -> Tensor:
    """lp_pool1d along three axes, of [N, C, depth, height, width] or without N; otherwise as `lp_pool1d`.

    >>> F.lp_pool3d(norch.ones(2, 3, 8, 8, 8), 2, kernel_size=2).shape
    norch.Size([2, 3, 4, 4, 4])
    """
    return _lp_pool(3, input, norm_type, kernel_size, stride, ceil_mode)


def _lp_pool(rank: int, x: Tensor, p: float, kernel_size: Sizes, stride: Sizes | None, ceil_mode: bool) -> Tensor:
    """The p-th root of the sums; at 0 its derivative is that of relu, as in PyTorch. An infinite p: the largest."""
    check_tensor(x, "lp_pool")
    if isinstance(p, float) and math.isinf(p):
        sign, largest = math.copysign(1.0, p), (max_pool1d, max_pool2d, max_pool3d)[rank - 1]
        return sign * largest(sign * x.abs(), kernel_size, stride, 0, 1, ceil_mode)
    averages = (avg_pool1d, avg_pool2d, avg_pool3d)[rank - 1](x**p, kernel_size, stride, 0, ceil_mode)
    count = math.prod(per_axis(kernel_size, rank, f"lp_pool{rank}d: kernel_size"))
    return (averages.sign() * averages.abs().relu() * count) ** (1.0 / p)


# ---- The way back -----------------------------------------------------------------------------------------------


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Zeros, but for the elements of `input`, which go to their `indices`: the places that `max_pool1d` gave with them.

    For [N, C, length] or [C, length]. The result has the size (length - 1) * stride - 2 * padding + kernel_size, or
    `output_size`, which may differ from it by less than a stride. In the dtype of x. Raises ValueError for another
    size, ShapeError for indices of another shape, IndexError for indices outside the result.

    >>> values, indices = F.max_pool1d(norch.tensor([[[1.0, 3.0, 7.0, 5.0]]]), 2, return_indices=True)
    >>> F.max_unpool1d(values, indices, 2)
    tensor([[[0., 3., 7., 0.]]])
    """
    taps = window("max_unpool1d", 1, kernel_size, _stride(stride, kernel_size), 1, padding)
    return _max_unpool("max_unpool1d", 1, input, indices, taps, output_size)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """max_unpool1d along two axes, of [N, C, height, width] or [C, height, width]; otherwise as `max_unpool1d`.

    >>> values, indices = F.max_pool2d(norch.ones(8, 3, 28, 28), 2, return_indices=True)
    >>> F.max_unpool2d(values, indices, 2).shape
    norch.Size([8, 3, 28, 28])
    """
    taps = window("max_unpool2d", 2, kernel_size, _stride(stride, kernel_size), 1, padding)
    return _max_unpool("max_unpool2d", 2, input, indices, taps, output_size)


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """max_unpool1d along three axes, of [N, C, depth, height, width] or without N; otherwise as `max_unpool1d`.

    >>> values, indices = F.max_pool3d(norch.ones(2, 3, 8, 8, 8), 2, return_indices=True)
    >>> F.max_unpool3d(values, indices, 2).shape
    norch.Size([2, 3, 8, 8, 8])
    """
    taps = window("max_unpool3d", 3, kernel_size, _stride(stride, kernel_size), 1, padding)
    return _max_unpool("max_unpool3d", 3, input, indices, taps, output_size)


def _max_unpool(
    name: str, axes: int, x: Tensor, indices: Tensor, taps: Windows, output_size: Sequence[int] | None
) -> Tensor:
    batch = batch_of(name, axes, x)
    check_tensors(name, indices)
    if indices.dtype is not int64:
        raise RuntimeError(f"{name}: indices have dtype {indices.dtype}, expected int64")
    if indices.shape != x.shape:
        raise ShapeError(f"{name}: indices have shape {list(indices.shape)}, expected {list(x.shape)}")
    sizes = [(n - 1) * s + k - 2 * p for n, k, s, p in zip(batch.shape[2:], taps.kernel, taps.stride, taps.before)]
    if output_size is not None:
        wanted = sizes_in(output_size, f"{name}: output_size")[-axes:]
        if len(output_size) not in (axes, axes + 1, axes + 2) or any(
            abs(size - given) >= stride for size, given, stride in zip(sizes, wanted, taps.stride)
        ):
            raise ValueError(f"{name}: output_size is {list(output_size)}, expected {sizes}, give or take a stride")
        sizes = wanted
    places = batch_of(name, axes, indices).flatten(2)
    result = batch.new_zeros(*batch.shape[:2], math.prod(sizes)).scatter(2, places, batch.flatten(2))
    return own(result.reshape(*x.shape[:-axes], *sizes))


def _stride(stride: Sizes | None, kernel_size: Sizes) -> Sizes:
    return kernel_size if stride is None or (isinstance(stride, (tuple, list)) and not stride) else stride
