"""Convolution as functions, its transpose, and the columns behind both, `unfold` and `fold`."""

from __future__ import annotations

import functools
import math
from typing import Sequence

from ..._C import ShapeError
from ...arguments import index_of
from ...autograd.derivatives import convolution as kernels
from ...autograd.derivatives.convolution import Window
from ...operation import own
from ...tensor import Tensor
from ...types import Sizes, shown
from .checks import check_tensors
from .padding import pad
from .windows import Windows, as_given, batch_of, check_not_empty, per_axis, window

__all__ = [
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "fold",
    "unfold",
]

# ---- Convolution ------------------------------------------------------------------------------------------------


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """y[n, o, p] = bias[o] + sum over c, k of weight[o, c, k] * x[n, c, p * stride - padding + k * dilation].

    For x [N, C, length] or [C, length], weight [out, C / groups, kernel] and bias [out]. Beyond its ends x is 0. Each
    of the `groups` parts of the channels gives its own part of the outputs. Padding "valid" is 0; "same" gives y the
    length of x, for a stride of 1. All have one dtype, not bool. Raises ShapeError if the shapes do not fit,
    RuntimeError for other dtypes.

    >>> F.conv1d(norch.tensor([[[1.0, 2.0, 4.0]]]), norch.tensor([[[-1.0, 1.0]]]))
    tensor([[[1., 2.]]])
    """
    return _convolve("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """conv1d along two axes: x [N, C, height, width] or [C, height, width], weight [out, C / groups, height, width].

    Stride, padding and dilation are numbers, or pairs of them: for the height, then for the width. Dtypes and errors
    as for `conv1d`.

    >>> F.conv2d(norch.ones(8, 3, 28, 28), norch.ones(16, 3, 5, 5), padding=2).shape
    norch.Size([8, 16, 28, 28])
    """
    return _convolve("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """conv1d along three axes: x [N, C, depth, height, width], or without N; otherwise as `conv1d`.

    The weight is [out, C / groups, depth, height, width].

    >>> F.conv3d(norch.ones(2, 3, 8, 8, 8), norch.ones(4, 3, 3, 3, 3), padding=1).shape
    norch.Size([2, 4, 8, 8, 8])
    """
    return _convolve("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


def _convolve(
    name: str,
    axes: int,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sizes,
    padding: Sizes | str,
    dilation: Sizes,
    groups: int,
) -> Tensor:
    _check_weights(name, axes, weight, bias, groups, "[out, in / groups")
    _, _, *kernel = weight.shape
    given = [tuple(x) if isinstance(x, list) else x for x in (stride, padding, dilation)]
    taps, seen = _taps(name, tuple(kernel), *given)
    images = batch_of(name, axes, x)
    if images.shape[0]:
        check_not_empty(name, images, first=2)
    return as_given(_product(images, weight, bias, seen, groups, taps), axes, x)


@functools.lru_cache(256, typed=True)  # layers repeat theirs
def _taps(
    name: str, kernel: tuple[int, ...], stride: Sizes, padding: Sizes | str, dilation: Sizes
) -> tuple[Windows, Window]:
    """The window, and the same as C takes it."""
    axes = len(kernel)
    steps, spreads = per_axis(stride, axes, f"{name}: stride"), per_axis(dilation, axes, f"{name}: dilation")
    taps = Windows(kernel, steps, spreads, *padding_of(name, padding, kernel, steps, spreads))
    return taps, taps.all_axes()


def _product(images: Tensor, filters: Tensor, bias: Tensor | None, seen: Window, groups: int, taps: Windows) -> Tensor:
    """weight @ unfold(images) + bias. For floating dtypes a kernel does it block by block."""
    if images.is_floating_point() or filters.is_floating_point():
        return kernels.convolution(images, filters, bias, seen, groups)
    _check_dtypes(images, filters, bias)
    positions = taps.positions(images.shape[2:])
    samples, outputs = images.shape[0], filters.shape[0]
    columns = kernels.unfold(images, seen).reshape(samples, groups, math.prod(filters.shape[1:]), math.prod(positions))
    result = (filters.reshape(groups, outputs // groups, -1) @ columns).reshape(samples, outputs, *positions)
    return result if bias is None else result + bias.reshape([-1] + [1] * len(positions))


def _check_dtypes(x: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    dtypes = [tensor.dtype for tensor in (x, weight, bias) if tensor is not None]
    if any(dtype is not x.dtype for dtype in dtypes):
        raise RuntimeError(f"convolution: expected one dtype of input, weight and bias, got {dtypes}")


def _check_weights(name: str, axes: int, weight: Tensor, bias: Tensor | None, groups: int, form: str) -> None:
    if not isinstance(weight, Tensor) or not (bias is None or isinstance(bias, Tensor)):
        raise TypeError(
            f"{name}: expected Tensors as weight and bias, got {type(weight).__name__} and {type(bias).__name__}"
        )
    if weight.ndim != axes + 2:
        rest = ("kernel", "height, width", "depth, height, width")[axes - 1]
        raise ShapeError(f"{name}: weight has shape {list(weight.shape)}, expected {form}, {rest}]")
    if index_of(groups) is None:
        raise TypeError(f"{name}: groups is {shown(groups)}, expected an int")


def padding_of(
    name: str, padding: Sizes | str, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The padding before and after each axis: numbers, "valid" for none, "same" for a result of the input's size."""
    if isinstance(padding, str) and padding == "valid":
        padding = 0
    if not isinstance(padding, str):
        given = per_axis(padding, len(kernel), f"{name}: padding")
        return given, given
    if padding != "same":
        raise ShapeError(f"{name}: padding is {shown(padding)}, expected numbers, 'valid' or 'same'")
    if any(step != 1 for step in stride):
        raise ShapeError(f"{name}: padding 'same' needs a stride of 1, got {list(stride)}")
    total = [spread * (size - 1) for spread, size in zip(dilation, kernel)]
    return tuple(count // 2 for count in total), tuple(count - count // 2 for count in total)


# ---- Transposed convolution -------------------------------------------------------------------------------------


def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    groups: int = 1,
    dilation: Sizes = 1,
) -> Tensor:
    """The transpose of `conv1d` (its derivative by x): y[n, o, p * stride - padding + k * dilation] sums x[n, c, p]
    * weight[c, o, k] over c, p and k, plus bias[o].

    For x [N, C, length] or [C, length], weight [C, out / groups, kernel] and bias [out]. The length of y is
    (length - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1. All have one dtype, not bool.
    Raises ShapeError if the shapes do not fit, RuntimeError for an output_padding that is not smaller than the stride
    or the dilation.

    >>> F.conv_transpose1d(norch.tensor([[[1.0, 2.0]]]), norch.tensor([[[1.0, 10.0]]]), stride=2)
    tensor([[[ 1., 10.,  2., 20.]]])
    """
    return _transpose("conv_transpose1d", 1, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    groups: int = 1,
    dilation: Sizes = 1,
) -> Tensor:
    """conv_transpose1d along two axes: x [N, C, height, width], or without N; otherwise as `conv_transpose1d`.

    The weight is [C, out / groups, height, width].

    >>> F.conv_transpose2d(norch.ones(8, 16, 7, 7), norch.ones(16, 3, 4, 4), stride=2, padding=1).shape
    norch.Size([8, 3, 14, 14])
    """
    return _transpose("conv_transpose2d", 2, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    groups: int = 1,
    dilation: Sizes = 1,
) -> Tensor:
    """conv_transpose1d along three axes: x [N, C, depth, height, width]; otherwise as `conv_transpose1d`.

    The weight is [C, out / groups, depth, height, width].

    >>> F.conv_transpose3d(norch.ones(2, 4, 3, 3, 3), norch.ones(4, 5, 2, 2, 2), stride=2).shape
    norch.Size([2, 5, 6, 6, 6])
    """
    return _transpose("conv_transpose3d", 3, input, weight, bias, stride, padding, output_padding, groups, dilation)


def _transpose(
    name: str,
    axes: int,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sizes,
    padding: Sizes,
    output_padding: Sizes,
    groups: int,
    dilation: Sizes,
) -> Tensor:
    _check_weights(name, axes, weight, bias, groups, "[in, out / groups")
    batch = batch_of(name, axes, x)
    given = [tuple(x) if isinstance(x, list) else x for x in (stride, padding, output_padding, dilation)]
    seen, sizes, beyond = _reach(name, tuple(x.shape), tuple(weight.shape[2:]), *given)
    if groups < 1 or batch.shape[1] != weight.shape[0] or weight.shape[0] % groups:
        raise ShapeError(
            f"{name}: input of shape {list(x.shape)} and weight of shape {list(weight.shape)}, expected as many "
            f"channels of the input as of the weight, divisible into {groups} groups"
        )
    if bias is not None and list(bias.shape) != [weight.shape[1] * groups]:
        raise ShapeError(f"{name}: bias has shape {list(bias.shape)}, expected [{weight.shape[1] * groups}]")
    if bias is not None:
        _check_dtypes(x, weight, bias)
    result = _spread(batch, weight, seen, groups, sizes)
    if any(beyond):
        result = pad(result, [number for count in reversed(beyond) for number in (0, count)])
    result = as_given(result, axes, x)
    return result if bias is None else result + bias.reshape([-1] + [1] * axes)


@functools.lru_cache(256, typed=True)  # layers repeat theirs
def _reach(
    name: str,
    shape: tuple[int, ...],
    kernel: tuple[int, ...],
    stride: Sizes,
    padding: Sizes,
    output_padding: Sizes,
    dilation: Sizes,
) -> tuple[Window, list[int], list[int]]:
    """The window of a transposed convolution as C takes it, the sizes of the result, and how many elements follow that
    nothing reaches."""
    axes = len(kernel)
    steps, spreads = per_axis(stride, axes, f"{name}: stride"), per_axis(dilation, axes, f"{name}: dilation")
    before = per_axis(padding, axes, f"{name}: padding")
    extra = per_axis(output_padding, axes, f"{name}: output_padding")
    if any(not 0 <= count < max(step, spread) for count, step, spread in zip(extra, steps, spreads)):
        raise RuntimeError(f"{name}: output_padding is {list(extra)}, expected less than the stride or the dilation")
    # The elements of output_padding stand where otherwise padding was cut off; beyond that, nothing reaches them.
    kept = tuple(map(min, extra, before))
    taps = Windows(kernel, steps, spreads, before, tuple(p - k for p, k in zip(before, kept)))
    sizes = [
        (size - 1) * step - first - last + spread * (count - 1) + 1
        for size, count, step, spread, first, last in zip(shape[-axes:], *taps)
    ]
    if min(sizes) < 1 or min(before) < 0:
        raise ShapeError(f"{name}: input of shape {list(shape)} gives sizes {sizes}, expected at least 1")
    return taps.all_axes(), sizes, [count - k for count, k in zip(extra, kept)]


def _spread(x: Tensor, filters: Tensor, seen: Window, groups: int, sizes: Sequence[int]) -> Tensor:
    """fold(weight.T @ x) to images of these sizes. For floating dtypes a kernel does it block by block."""
    if x.is_floating_point() or filters.is_floating_point():
        return kernels.transposed_convolution(x, filters, seen, groups, *sizes)
    _check_dtypes(x, filters, None)
    samples, inputs = x.shape[:2]
    transposed = filters.reshape(groups, inputs // groups, -1).transpose(1, 2)
    columns = transposed @ x.reshape(samples, groups, inputs // groups, math.prod(x.shape[2:]))
    return kernels.fold(columns.flatten(1, 2), seen, *sizes)


# ---- Columns ----------------------------------------------------------------------------------------------------


def unfold(input: Tensor, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1) -> Tensor:
    """What a window sees at each of its L positions, as columns: [N, C, height, width] to [N, C * kernel elements, L].

    An image [C, height, width] gives [C * kernel elements, L]. In the dtype of x. Raises ShapeError for other
    shapes.

    >>> F.unfold(norch.ones(1, 1, 3, 3), kernel_size=2).shape
    norch.Size([1, 4, 4])
    """
    taps = window("unfold", 2, kernel_size, stride, dilation, padding)
    columns = kernels.unfold(batch_of("unfold", 2, input), taps.all_axes())
    return columns if input.ndim == 4 else own(columns.squeeze(0))


def fold(
    input: Tensor, output_size: Sizes, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1
) -> Tensor:
    """Columns [N, C * kernel elements, L] added up to images [N, C, *output_size], where `unfold` takes them from.

    Columns of one image [C * kernel elements, L] give [C, *output_size]. In the dtype of x. Raises ShapeError for
    other shapes, RuntimeError for bool.

    >>> F.fold(norch.ones(1, 4, 4), output_size=3, kernel_size=2)
    tensor([[[[1., 2., 1.],
              [2., 4., 2.],
              [1., 2., 1.]]]])
    """
    height, width = per_axis(output_size, 2, "fold: output_size")
    taps = window("fold", 2, kernel_size, stride, dilation, padding)
    check_tensors("fold", input)
    if input.ndim not in (2, 3):
        expected = "[N, C * kernel elements, L] or [C * kernel elements, L]"
        raise ShapeError(f"fold: input has shape {list(input.shape)}, expected {expected}")
    images = kernels.fold(input if input.ndim == 3 else input.unsqueeze(0), taps.all_axes(), height, width)
    return images if input.ndim == 3 else own(images.squeeze(0))
