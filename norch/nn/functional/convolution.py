"""Convolution as functions: `conv1d`, `conv2d`, and `unfold` and `fold` on which they stand."""

from __future__ import annotations

from typing import Any

from norch._C import ShapeError
from norch.autograd.derivatives import convolution
from norch.tensor import Tensor

from .windows import over_images, sizes, with_height


def conv1d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """y[n, o, p] = bias[o] + sum over c, k of weight[o, c, k] * x[n, c, p * stride - padding + k * dilation].

    For x [N, C, length] or [C, length], weight [out, C / groups, kernel] and bias [out]. Beyond its ends x is 0. Each
    of the `groups` parts of the channels gives its own part of the outputs. Padding "valid" is 0; "same" gives y the
    length of x, for a stride of 1. All are of one floating dtype. Raises ShapeError where shapes do not fit,
    RuntimeError for another dtype.

    >>> F.conv1d(norch.tensor([[[1.0, 2.0, 4.0]]]), norch.tensor([[[-1.0, 1.0]]]))
    tensor([[[1., 2.]]])
    """
    return _convolve("conv1d", 1, x, weight, bias, stride, padding, dilation, groups)


def conv2d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """conv1d along two axes: x [N, C, height, width] or [C, height, width], weight [out, C / groups, height, width].

    Dtypes and errors as for `conv1d`.

    Stride, padding and dilation are numbers, or pairs of them: for the height, then for the width.

    >>> F.conv2d(norch.ones(8, 3, 28, 28), norch.ones(16, 3, 5, 5), padding=2).shape
    norch.Size([8, 16, 28, 28])
    """
    return _convolve("conv2d", 2, x, weight, bias, stride, padding, dilation, groups)


def _convolve(
    name: str, axes: int, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
):
    if not isinstance(weight, Tensor) or not (bias is None or isinstance(bias, Tensor)):
        raise TypeError(
            f"{name}: expected Tensors as weight and bias, got {type(weight).__name__} and {type(bias).__name__}"
        )
    if weight.ndim != axes + 2:
        rest = "kernel" if axes == 1 else "height, width"
        raise ShapeError(f"{name}: weight has shape {list(weight.shape)}, expected [out, in / groups, {rest}]")
    if not isinstance(groups, int):
        raise TypeError(f"{name}: groups is {groups!r}, expected an int")
    kernel = tuple(weight.shape[2:])
    strides, dilations = sizes(stride, axes, f"{name}: stride"), sizes(dilation, axes, f"{name}: dilation")
    before, after = padding_of(name, padding, kernel, strides, dilations)
    window = convolution.window_array(
        with_height(kernel, 1),
        with_height(strides, 1),
        with_height(dilations, 1),
        with_height(before, 0),
        with_height(after, 0),
    )
    filters = weight if axes == 2 else weight.unsqueeze(-2)
    return over_images(name, axes, x, lambda images: convolution.convolution(images, filters, bias, window, groups))


def padding_of(name: str, padding: Any, kernel: Any, stride: Any, dilation: Any) -> tuple[Any, Any]:
    """The padding before and after each axis: numbers, "valid" for none, "same" for a result of the input's size."""
    if padding == "valid":
        padding = 0
    if not isinstance(padding, str):
        given = sizes(padding, len(kernel), f"{name}: padding")
        return given, given
    if padding != "same":
        raise ValueError(f"{name}: padding is {padding!r}, expected numbers, 'valid' or 'same'")
    if any(step != 1 for step in stride):
        raise ValueError(f"{name}: padding 'same' needs a stride of 1, got {list(stride)}")
    total = [spread * (size - 1) for spread, size in zip(dilation, kernel)]
    return tuple(count // 2 for count in total), tuple(count - count // 2 for count in total)


def unfold(x: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """What a window sees at each of its L positions, as columns: [N, C, height, width] to [N, C * kernel elements, L].

    An image [C, height, width] gives [C * kernel elements, L]. In the dtype of x, which is floating. Raises ShapeError
    for other shapes, RuntimeError for another dtype.

    >>> F.unfold(norch.ones(1, 1, 3, 3), kernel_size=2).shape
    norch.Size([1, 4, 4])
    """
    window = _window("unfold", kernel_size, dilation, padding, stride)
    _check("unfold", x, 3, "[N, C, height, width] or [C, height, width]")
    return convolution.unfold(x, window) if x.ndim == 4 else convolution.unfold(x.unsqueeze(0), window).squeeze(0)


def fold(x: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Columns [N, C * kernel elements, L] added up to images [N, C, *output_size], where `unfold` takes them from.

    Columns of one image [C * kernel elements, L] give [C, *output_size]. In the dtype of x, which is floating. Raises
    ShapeError for other shapes, RuntimeError for another dtype.

    >>> F.fold(norch.ones(1, 4, 4), output_size=3, kernel_size=2)
    tensor([[[[1., 2., 1.],
              [2., 4., 2.],
              [1., 2., 1.]]]])
    """
    size, window = sizes(output_size, 2, "fold: output_size"), _window("fold", kernel_size, dilation, padding, stride)
    _check("fold", x, 2, "[N, C * kernel elements, L] or [C * kernel elements, L]")
    return convolution.fold(x, window, *size) if x.ndim == 3 else convolution.fold(x[None], window, *size).squeeze(0)


def _window(name: str, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    settings = {"kernel_size": kernel_size, "stride": stride, "dilation": dilation, "padding": padding}
    kernel, step, spread, before = (sizes(value, 2, f"{name}: {what}") for what, value in settings.items())
    return convolution.window_array(kernel, step, spread, before, before)


def _check(name: str, x: Any, rank: int, expected: str) -> None:
    if not isinstance(x, Tensor):
        raise TypeError(f"{name} was given a {type(x).__name__}, expected a Tensor")
    if x.ndim not in (rank, rank + 1):
        raise ShapeError(f"{name}: input has shape {list(x.shape)}, expected {expected}")
