"""Convolution, and the columns it is made of: `unfold` and `fold`, each the derivative of the other.

Images are [N, C, ...] with one to three axes. A window is what `window_array` makes: kernel, stride, dilation, padding
before and after, each for every axis. csrc/ops/windows.h describes its geometry.
"""

from __future__ import annotations

import functools
import struct
from typing import TYPE_CHECKING

from ..._C import RangeError, int64_array, lib
from ...operation import address, recorded, several, wrap
from ...types import shown
from ..node import Gradients, Node

if TYPE_CHECKING:
    from ...tensor import Tensor

Window = bytes


@functools.lru_cache(maxsize=256)
def window_array(*settings: tuple[int, ...]) -> Window:
    """The C array of a window's five settings, of each a number for each axis.

    Raises OverflowError for integers beyond 64 bits.
    """
    numbers = [number for setting in settings for number in setting]
    try:
        return struct.pack(f"{len(numbers)}q", *numbers)
    except struct.error:
        raise RangeError(f"expected integers of 64 bits, got {shown(numbers)}") from None


# ---- Columns ----------------------------------------------------------------------------------------------------


def unfold(x: Tensor, window: Window) -> Tensor:
    """What each tap of the window sees in each channel, [N, C * taps, positions]."""
    return recorded(wrap(lib.unfold_tensor(x._ptr, window)), UnfoldBackward, (x,), window)


def fold(columns: Tensor, window: Window, *size: int) -> Tensor:
    """The images [N, C, *size] that the columns add up to, each at the place where `unfold` takes it."""
    result = wrap(lib.fold_tensor(columns._ptr, window, int64_array(size), len(size)))
    return recorded(result, FoldBackward, (columns,), window)


class UnfoldBackward(Node):
    """An element counts once for each window that sees it: dL/dx = fold(G)"""

    keeps_input = False

    def __init__(self, x: Tensor, window: Window) -> None:
        super().__init__(x)
        self.window, self.size = window, x.shape[2:]

    def backward(self, gradient: Tensor) -> Gradients:
        return [fold(gradient, self.window, *self.size)]


class FoldBackward(Node):
    """A column is added once to what it came from: dL/dcolumns = unfold(G)"""

    keeps_input = False

    def __init__(self, columns: Tensor, window: Window) -> None:
        super().__init__(columns)
        self.window = window

    def backward(self, gradient: Tensor) -> Gradients:
        return [unfold(gradient, self.window)]


# ---- Convolution ------------------------------------------------------------------------------------------------


def convolution(x: Tensor, weight: Tensor, bias: Tensor | None, window: Window, groups: int) -> Tensor:
    """weight @ unfold(x) + bias for x [N, C, ...], weight [out, C / groups, ...] and bias [out] or None."""
    ptr = lib.conv_tensor(x._ptr, weight._ptr, address(bias), window, groups)
    return recorded(wrap(ptr), ConvolutionBackward, (x, weight, bias), window, groups)


def transposed_convolution(x: Tensor, weight: Tensor, window: Window, groups: int, *size: int) -> Tensor:
    """fold(weight.T @ x): the derivative of `convolution` by its images, [N, C, *size], for a gradient x."""
    shape = int64_array((x.shape[0], weight.shape[1] * groups, *size))
    one = wrap(lib.empty_tensor(_ONE, 1, lib.dtype_of(x._ptr), lib.device_of(x._ptr)))
    images = wrap(lib.as_strided_tensor(one._ptr, shape, _ZEROS, x.ndim, 0))  # of which only the shape is read
    (result, _, _) = several(lib.conv_backward(x._ptr, images._ptr, weight._ptr, window, groups, _INPUT))
    return recorded(result, TransposedConvolutionBackward, (x, weight), window, groups)


_ONE, _ZEROS = int64_array((1,)), int64_array((0,) * 5)
_INPUT, _WEIGHT = 1, 2  # the bits of what conv_backward shall compute


class ConvolutionBackward(Node):
    """y = W unfold(x) + b: dL/dx = fold(W^T G), dL/dW = G unfold(x)^T, dL/db = the sum of G; for each group"""

    def __init__(self, x: Tensor, weight: Tensor, bias: Tensor | None, window: Window, groups: int) -> None:
        super().__init__(x, weight, bias)
        self.window, self.groups = window, groups

    def backward(self, gradient: Tensor) -> Gradients:
        to_x = to_weight = None
        if self.needs(0):
            size = self.input[0].shape[2:]
            to_x = transposed_convolution(gradient, self.y, self.window, self.groups, *size)
        if self.needs(1):
            to_weight = _correlation(gradient, self.x, self.input[1], self.window, self.groups)
        return [to_x, to_weight, gradient.sum((0, *range(2, gradient.ndim))) if self.needs(2) else None]

    def fused(self, gradient: Tensor) -> Gradients:
        # the gradient of the weight reads x, and the other way round
        x = self.x if self.needs(1) else self.input[0]
        weight = self.y if self.needs(0) else self.input[1]
        operands = gradient._ptr, x._ptr, weight._ptr, self.window, self.groups
        return several(lib.conv_backward(*operands, self.needed()))


class TransposedConvolutionBackward(Node):
    """y = fold(W^T x): dL/dx = W unfold(G), dL/dW = x unfold(G)^T; for each group"""

    def __init__(self, x: Tensor, weight: Tensor, window: Window, groups: int) -> None:
        super().__init__(x, weight)
        self.window, self.groups = window, groups

    def backward(self, gradient: Tensor) -> Gradients:
        to_weight = None
        if self.needs(1):
            to_weight = _correlation(self.x, gradient, self.input[1], self.window, self.groups)
        return [self._to_x(gradient), to_weight]

    def fused(self, gradient: Tensor) -> Gradients:
        to_weight = None
        if self.needs(1):
            operands = self.x._ptr, gradient._ptr, self.input[1]._ptr, self.window, self.groups
            to_weight = several(lib.conv_backward(*operands, _WEIGHT))[1]
        return [self._to_x(gradient), to_weight]

    def _to_x(self, gradient: Tensor) -> Tensor | None:
        return convolution(gradient, self.y, None, self.window, self.groups) if self.needs(0) else None


def _correlation(outputs: Tensor, images: Tensor, weight: Tensor, window: Window, groups: int) -> Tensor:
    """outputs @ unfold(images).T, summed over the samples, in the shape of the weight."""
    rows = outputs.flatten(2).unflatten(1, (groups, -1))
    columns = unfold(images, window).unflatten(1, (groups, -1))
    return (rows @ columns.transpose(2, 3)).sum(0).reshape(weight.shape)
