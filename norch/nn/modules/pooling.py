"""Pooling over sequences, images and volumes: the largest element, or the average, of what a window sees."""

from __future__ import annotations

from typing import Any, Sequence

from ...tensor import Tensor
from ...types import Sizes
from .. import functional as F
from ..functional.adaptive_pooling import OutputSize
from ..functional.windows import per_axis
from ..module import Module

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]

# ---- The largest element ----------------------------------------------------------------------------------------


class _MaxPoolNd(Module):
    """What MaxPool1d, 2d and 3d share. With `return_indices` they return the pair (values, indices)."""

    _shown = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")

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


class MaxPool1d(_MaxPoolNd):
    """The largest element that each window sees, of [N, C, length] or [C, length]; see `functional.max_pool1d`.

    >>> nn.MaxPool1d(2)(norch.tensor([[[1.0, 3.0, 5.0, 7.0]]]))
    tensor([[[3., 7.]]])
    """

    def forward(self, input: Tensor) -> Tensor | Any:
        return F.max_pool1d(input, *self._arguments())


class MaxPool2d(_MaxPoolNd):
    """The largest element that each window sees, of [N, C, height, width] or without N; see `functional.max_pool2d`.

    >>> nn.MaxPool2d(2)(norch.ones(8, 3, 28, 28)).shape
    norch.Size([8, 3, 14, 14])
    """

    def forward(self, input: Tensor) -> Tensor | Any:
        return F.max_pool2d(input, *self._arguments())


class MaxPool3d(_MaxPoolNd):
    """The largest element that each window sees, of [N, C, depth, height, width] or without N.

    See `functional.max_pool3d`.

    >>> nn.MaxPool3d(2)(norch.ones(2, 3, 8, 8, 8)).shape
    norch.Size([2, 3, 4, 4, 4])
    """

    def forward(self, input: Tensor) -> Tensor | Any:
        return F.max_pool3d(input, *self._arguments())


class _MaxUnpoolNd(Module):
    """What MaxUnpool1d, 2d and 3d share."""

    axes: int

    _shown = ("kernel_size", "stride", "padding")

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0) -> None:
        super().__init__()
        name, axes = self.get_name(), self.axes
        self.kernel_size = per_axis(kernel_size, axes, f"{name}: kernel_size")
        self.stride = per_axis(kernel_size if stride is None else stride, axes, f"{name}: stride")
        self.padding = per_axis(padding, axes, f"{name}: padding")


class MaxUnpool1d(_MaxUnpoolNd):
    """What MaxPool1d found, back at its place, and zeros elsewhere; see `functional.max_unpool1d`.

    >>> values, indices = nn.MaxPool1d(2, return_indices=True)(norch.ones(8, 3, 28))
    >>> nn.MaxUnpool1d(2)(values, indices).shape
    norch.Size([8, 3, 28])
    """

    axes = 1

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        return F.max_unpool1d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool2d(_MaxUnpoolNd):
    """What MaxPool2d found, back at its place, and zeros elsewhere; see `functional.max_unpool2d`.

    >>> values, indices = nn.MaxPool2d(2, return_indices=True)(norch.ones(8, 3, 28, 28))
    >>> nn.MaxUnpool2d(2)(values, indices).shape
    norch.Size([8, 3, 28, 28])
    """

    axes = 2

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        return F.max_unpool2d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool3d(_MaxUnpoolNd):
    """What MaxPool3d found, back at its place, and zeros elsewhere; see `functional.max_unpool3d`.

    >>> values, indices = nn.MaxPool3d(2, return_indices=True)(norch.ones(2, 3, 8, 8, 8))
    >>> nn.MaxUnpool3d(2)(values, indices).shape
    norch.Size([2, 3, 8, 8, 8])
    """

    axes = 3

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        return F.max_unpool3d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


# ---- The average ------------------------------------------------------------------------------------------------


class _AvgPoolNd(Module):
    """What AvgPool1d, 2d and 3d share."""

    _shown = ("kernel_size", "stride", "padding")


class AvgPool1d(_AvgPoolNd):
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
        self.kernel_size = per_axis(kernel_size, 1, "AvgPool1d: kernel_size")
        self.stride = per_axis(kernel_size if stride is None else stride, 1, "AvgPool1d: stride")
        self.padding = per_axis(padding, 1, "AvgPool1d: padding")
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        settings = self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad
        return F.avg_pool1d(input, *settings)


class _WindowsOfAxes(_AvgPoolNd):
    """What AvgPool2d and 3d share."""

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.ceil_mode, self.count_include_pad = padding, ceil_mode, count_include_pad
        self.divisor_override = divisor_override

    def _arguments(self) -> tuple[Sizes, Sizes, Sizes, bool, bool, int | None]:
        settings = self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad
        return *settings, self.divisor_override


class AvgPool2d(_WindowsOfAxes):
    """The average of what each window sees, of [N, C, height, width] or without N; see `functional.avg_pool2d`.

    >>> nn.AvgPool2d(2)(norch.ones(8, 3, 28, 28)).shape
    norch.Size([8, 3, 14, 14])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool2d(input, *self._arguments())


class AvgPool3d(_WindowsOfAxes):
    """The average of what each window sees, of [N, C, depth, height, width] or without N.

    See `functional.avg_pool3d`.

    >>> nn.AvgPool3d(2)(norch.ones(2, 3, 8, 8, 8)).shape
    norch.Size([2, 3, 4, 4, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool3d(input, *self._arguments())


class _LPPoolNd(Module):
    """What LPPool1d, 2d and 3d share."""

    _shown = ("norm_type", "kernel_size", "stride", "ceil_mode")

    def __init__(
        self, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode


class LPPool1d(_LPPoolNd):
    """(The sum of x^p over each window)^(1/p), of [N, C, length] or [C, length]; see `functional.lp_pool1d`.

    >>> nn.LPPool1d(2, 2)(norch.tensor([[[3.0, 4.0, 6.0, 8.0]]]))
    tensor([[[ 5., 10.]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool1d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool2d(_LPPoolNd):
    """(The sum of x^p over each window)^(1/p), of [N, C, height, width] or without N; see `functional.lp_pool2d`.

    >>> nn.LPPool2d(2, 2)(norch.ones(8, 3, 28, 28)).shape
    norch.Size([8, 3, 14, 14])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool2d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool3d(_LPPoolNd):
    """(The sum of x^p over each window)^(1/p), of [N, C, depth, height, width] or without N.

    See `functional.lp_pool3d`.

    >>> nn.LPPool3d(2, 2)(norch.ones(2, 3, 8, 8, 8)).shape
    norch.Size([2, 3, 4, 4, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool3d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


# ---- To a given size --------------------------------------------------------------------------------------------


class _AdaptivePool(Module):
    """What the adaptive pools share."""

    _shown = ("output_size",)

    def __init__(self, output_size: OutputSize) -> None:
        super().__init__()
        self.output_size = output_size


class _AdaptiveAvgPoolNd(_AdaptivePool):
    """The averages among them."""


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """Averages of windows that divide [N, C, length] or [C, length] evenly.

    See `functional.adaptive_avg_pool2d`.

    >>> nn.AdaptiveAvgPool1d(2)(norch.tensor([[[1.0, 3.0, 5.0, 7.0]]]))
    tensor([[[2., 6.]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Averages of windows that divide [N, C, height, width] or without N evenly.

    See `functional.adaptive_avg_pool2d`.

    >>> nn.AdaptiveAvgPool2d(1)(norch.ones(8, 3, 7, 9)).shape
    norch.Size([8, 3, 1, 1])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Averages of windows that divide [N, C, depth, height, width] or without N evenly.

    See `functional.adaptive_avg_pool2d`.

    >>> nn.AdaptiveAvgPool3d(1)(norch.ones(2, 3, 7, 9, 5)).shape
    norch.Size([2, 3, 1, 1, 1])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool3d(input, self.output_size)


class _AdaptiveMaxPoolNd(_AdaptivePool):
    """What AdaptiveMaxPool1d, 2d and 3d share. With `return_indices` they return the pair (values, indices)."""

    def __init__(self, output_size: OutputSize, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The largest elements of windows that divide [N, C, length] or [C, length] evenly.

    See `functional.adaptive_max_pool2d`.

    >>> nn.AdaptiveMaxPool1d(2)(norch.tensor([[[1.0, 3.0, 5.0, 7.0]]]))
    tensor([[[3., 7.]]])
    """

    def forward(self, input: Tensor) -> Tensor | Any:
        return F.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The largest elements of windows that divide [N, C, height, width] or without N evenly.

    See `functional.adaptive_max_pool2d`.

    >>> nn.AdaptiveMaxPool2d(1)(norch.ones(8, 3, 7, 9)).shape
    norch.Size([8, 3, 1, 1])
    """

    def forward(self, input: Tensor) -> Tensor | Any:
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The largest elements of windows that divide [N, C, depth, height, width] or without N evenly.

    See `functional.adaptive_max_pool2d`.

    >>> nn.AdaptiveMaxPool3d(1)(norch.ones(2, 3, 7, 9, 5)).shape
    norch.Size([2, 3, 1, 1, 1])
    """

    def forward(self, input: Tensor) -> Tensor | Any:
        return F.adaptive_max_pool3d(input, self.output_size, self.return_indices)


class _FractionalMaxPool(Module):
    """What FractionalMaxPool2d and 3d share. With `return_indices` they return the pair (values, indices)."""

    axes: int
    _random_samples: Tensor | Any

    def __init__(
        self,
        kernel_size: Sizes,
        output_size: Sizes | None = None,
        output_ratio: float | Sequence[float] | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        name, axes = self.get_name(), self.axes
        self.kernel_size = per_axis(kernel_size, axes, f"{name}: kernel_size")
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else per_axis(output_size, axes, f"{name}: output_size")
        ratios = (output_ratio,) * axes if isinstance(output_ratio, (int, float)) else output_ratio
        self.output_ratio = None if ratios is None else tuple(ratios)
        if (output_size is None) == (output_ratio is None):
            raise ValueError(f"{name}: expected one of output_size ({output_size}) and output_ratio ({output_ratio})")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"{name}: output_ratio is {output_ratio}, expected numbers between 0 and 1")

    def _arguments(self) -> tuple[Any, ...]:
        return self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples


class FractionalMaxPool2d(_FractionalMaxPool):
    """The largest elements of windows at random places, of [N, C, height, width] or without N.

    See `functional.fractional_max_pool2d`.

    >>> nn.FractionalMaxPool2d(2, output_ratio=0.7)(norch.ones(8, 3, 28, 28)).shape
    norch.Size([8, 3, 19, 19])
    """

    axes = 2

    def forward(self, input: Tensor) -> Tensor | Any:
        return F.fractional_max_pool2d(input, *self._arguments())


class FractionalMaxPool3d(_FractionalMaxPool):
    """The largest elements of windows at random places, of [N, C, depth, height, width] or without N.

    See `functional.fractional_max_pool3d`.

    >>> nn.FractionalMaxPool3d(2, output_size=5)(norch.ones(2, 3, 8, 8, 8)).shape
    norch.Size([2, 3, 5, 5, 5])
    """

    axes = 3

    def forward(self, input: Tensor) -> Tensor | Any:
        return F.fractional_max_pool3d(input, *self._arguments())
