"""Pooling over sequences and images: the largest element, or the average, of what a window sees."""

from __future__ import annotations

from typing import Any

from ...tensor import Tensor
from ...types import Sizes
from .. import functional as F
from ..functional.pooling import OutputSize
from ..module import Module

__all__ = ["AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AvgPool1d", "AvgPool2d", "MaxPool1d", "MaxPool2d"]


class _MaxPool(Module):
    """What MaxPool1d and MaxPool2d share. With `return_indices` they return the pair (values, indices)."""

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def _arguments(self) -> tuple[Sizes, Sizes, Sizes, Sizes, bool, bool]:
        return self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices

    def inner_repr(self) -> str:
        names = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")
        return ", ".join(f"{name}={getattr(self, name)}" for name in names)


class MaxPool1d(_MaxPool):
    """The largest element that each window sees, of [N, C, length] or [C, length]; see `functional.max_pool1d`.

    >>> nn.MaxPool1d(2)(norch.tensor([[[1.0, 3.0, 5.0, 7.0]]]))
    tensor([[[3., 7.]]])
    """

    def forward(self, x: Tensor) -> Tensor | Any:
        return F.max_pool1d(x, *self._arguments())


class MaxPool2d(_MaxPool):
    """The largest element that each window sees, of [N, C, height, width] or without N; see `functional.max_pool2d`.

    >>> nn.MaxPool2d(2)(norch.ones(8, 3, 28, 28)).shape
    norch.Size([8, 3, 14, 14])
    """

    def forward(self, x: Tensor) -> Tensor | Any:
        return F.max_pool2d(x, *self._arguments())


class AvgPool1d(Module):
    """The average of what each window sees: [N, C, length] or [C, length]. See `functional.avg_pool1d`.

    >>> nn.AvgPool1d(2)(norch.tensor([[[1.0, 3.0, 5.0, 7.0]]]))
    tensor([[[2., 6.]]])
    """

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, kernel_size if stride is None else stride, padding
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, x: Tensor) -> Tensor:
        return F.avg_pool1d(x, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)

    def inner_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool2d(AvgPool1d):
    """The average of what each window sees, of [N, C, height, width] or without N; see `functional.avg_pool2d`.

    >>> nn.AvgPool2d(2)(norch.ones(8, 3, 28, 28)).shape
    norch.Size([8, 3, 14, 14])
    """

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, ceil_mode, count_include_pad)
        self.divisor_override = divisor_override

    def forward(self, x: Tensor) -> Tensor:
        settings = (self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)
        return F.avg_pool2d(x, *settings, self.divisor_override)


class AdaptiveAvgPool1d(Module):
    """Averages of windows that divide [N, C, length] or [C, length] evenly. See `functional.adaptive_avg_pool2d`.

    >>> nn.AdaptiveAvgPool1d(2)(norch.tensor([[[1.0, 3.0, 5.0, 7.0]]]))
    tensor([[[2., 6.]]])
    """

    def __init__(self, output_size: OutputSize) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, x: Tensor) -> Tensor:
        return F.adaptive_avg_pool1d(x, self.output_size)

    def inner_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool2d(AdaptiveAvgPool1d):
    """Averages of windows that divide [N, C, height, width] evenly. See `functional.adaptive_avg_pool2d`.

    >>> nn.AdaptiveAvgPool2d(1)(norch.ones(8, 3, 7, 9)).shape
    norch.Size([8, 3, 1, 1])
    """

    def forward(self, x: Tensor) -> Tensor:
        return F.adaptive_avg_pool2d(x, self.output_size)
