"""Convolution as functions: `conv1d`, `conv2d`, and the columns behind them, `unfold` and `fold`."""

from __future__ import annotations

from typing import Sequence

from ..._C import ShapeError
from ...autograd.derivatives import convolution as kernels
from ...tensor import Tensor
from ...types import Sizes
from .checks import check_tensors
from .windows import as_images, from_images, per_axis, window, window_of

__all__ = ["conv1d", "conv2d", "fold", "unfold"]


def conv1d(
    x: Tensor,
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
    length of x, for a stride of 1. All have one floating dtype. Raises ShapeError if the shapes do not fit,
    RuntimeError for another dtype.

    >>> F.conv1d(norch.tensor([[[1.0, 2.0, 4.0]]]), norch.tensor([[[-1.0, 1.0]]]))
    tensor([[[1., 2.]]])
    """
    return _convolve("conv1d", 1, x, weight, bias, stride, padding, dilation, groups)


def conv2d(
    x: Tensor,
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
    return _convolve("conv2d", 2, x, weight, bias, stride, padding, dilation, groups)


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
    if not isinstance(weight, Tensor) or not (bias is None or isinstance(bias, Tensor)):
        raise TypeError(
            f"{name}: expected Tensors as weight and bias, got {type(weight).__name__} and {type(bias).__name__}"
        )
    if weight.ndim != axes + 2:
        rest = "kernel" if axes == 1 else "height, width"
        raise ShapeError(f"{name}: weight has shape {list(weight.shape)}, expected [out, in / groups, {rest}]")
    if not isinstance(groups, int):
        raise TypeError(f"{name}: groups is {groups!r}, expected an int")
    kernel = weight.shape[2:]
    steps, spreads = per_axis(stride, axes, f"{name}: stride"), per_axis(dilation, axes, f"{name}: dilation")
    window = window_of(kernel, steps, spreads, *padding_of(name, padding, kernel, steps, spreads))
    filters = weight if axes == 2 else weight.unsqueeze(-2)
    result = kernels.convolution(as_images(name, axes, x), filters, bias, window, groups)
    return from_images(result, axes, x)


def padding_of(
    name: str, padding: Sizes | str, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The padding before and after each axis: numbers, "valid" for none, "same" for a result of the input's size."""
    if padding == "valid":
        padding = 0
    if not isinstance(padding, str):
        given = per_axis(padding, len(kernel), f"{name}: padding")
        return given, given
    if padding != "same":
        raise ValueError(f"{name}: padding is {padding!r}, expected numbers, 'valid' or 'same'")
    if any(step != 1 for step in stride):
        raise ValueError(f"{name}: padding 'same' needs a stride of 1, got {list(stride)}")
    total = [spread * (size - 1) for spread, size in zip(dilation, kernel)]
    return tuple(count // 2 for count in total), tuple(count - count // 2 for count in total)


def unfold(x: Tensor, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1) -> Tensor:
    """What a window sees at each of its L positions, as columns: [N, C, height, width] to [N, C * kernel elements, L].

    An image [C, height, width] gives [C * kernel elements, L]. In the dtype of x, which is floating. Raises ShapeError
    for other shapes, RuntimeError for another dtype.

    >>> F.unfold(norch.ones(1, 1, 3, 3), kernel_size=2).shape
    norch.Size([1, 4, 4])
    """
    taps = window("unfold", 2, kernel_size, stride, dilation, padding)
    columns = kernels.unfold(as_images("unfold", 2, x), taps)
    return columns if x.ndim == 4 else columns.squeeze(0)


def fold(
    x: Tensor, output_size: Sizes, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1
) -> Tensor:
    """Columns [N, C * kernel elements, L] added up to images [N, C, *output_size], where `unfold` takes them from.

    Columns of one image [C * kernel elements, L] give [C, *output_size]. In the dtype of x, which is floating. Raises
    ShapeError for other shapes, RuntimeError for another dtype.

    >>> F.fold(norch.ones(1, 4, 4), output_size=3, kernel_size=2)
    tensor([[[[1., 2., 1.],
              [2., 4., 2.],
              [1., 2., 1.]]]])
    """
    height, width = per_axis(output_size, 2, "fold: output_size")
    taps = window("fold", 2, kernel_size, stride, dilation, padding)
    check_tensors("fold", x)
    if x.ndim not in (2, 3):
        expected = "[N, C * kernel elements, L] or [C * kernel elements, L]"
        raise ShapeError(f"fold: input has shape {list(x.shape)}, expected {expected}")
    images = kernels.fold(x if x.ndim == 3 else x.unsqueeze(0), taps, height, width)
    return images if x.ndim == 3 else images.squeeze(0)
