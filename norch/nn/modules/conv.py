"""Convolution over sequences and images, and the columns behind it."""

from __future__ import annotations

import math

from ...tensor import Tensor
from ...types import DType, Sizes
from .. import functional as F
from .. import init
from ..functional.convolution import padding_of
from ..functional.windows import per_axis
from ..module import Module
from ..parameter import Parameter, ParameterOrNone

__all__ = ["Conv1d", "Conv2d", "Fold", "Unfold"]


class _Convolution(Module):
    """What Conv1d and Conv2d share; they differ in the number of axes and in the function they call."""

    axes: int
    bias: ParameterOrNone

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes | str = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        name, axes = self.get_name(), self.axes
        for channels, what in ((in_channels, "in_channels"), (out_channels, "out_channels"), (groups, "groups")):
            if per_axis(channels, 1, f"{name}: {what}")[0] < 1:
                raise ValueError(f"{name}: {what} is {channels}, expected at least 1")
        if in_channels % groups or out_channels % groups:
            raise ValueError(
                f"{name}: {in_channels} in_channels and {out_channels} out_channels in {groups} groups: "
                "expected both to be divisible"
            )
        if padding_mode != "zeros":
            raise ValueError(f"{name}: padding_mode is {padding_mode!r}, expected 'zeros'")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size = per_axis(kernel_size, axes, f"{name}: kernel_size")
        self.stride = per_axis(stride, axes, f"{name}: stride")
        self.dilation = per_axis(dilation, axes, f"{name}: dilation")
        padding_of(name, padding, self.kernel_size, self.stride, self.dilation)  # or it raises
        self.padding = padding if isinstance(padding, str) else per_axis(padding, axes, f"{name}: padding")
        self.padding_mode = padding_mode
        if min(self.kernel_size) < 1:
            raise ValueError(f"{name}: kernel_size is {kernel_size}, expected at least 1")
        self.weight = Parameter(shape=[out_channels, in_channels // groups, *self.kernel_size])
        self.register_parameter("bias", Parameter(shape=[out_channels]) if bias else None)
        self.reset_parameters()
        self.to(device, dtype)

    def reset_parameters(self) -> None:
        """Draw weight and bias from U(-b, b) with b = 1 / sqrt(in_channels / groups * kernel elements).

        That is `init.kaiming_uniform_(weight, a=sqrt(5))`: sqrt(6 / (1 + 5) / fan_in).
        """
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_channels // self.groups * math.prod(self.kernel_size))
            init.uniform_(self.bias, -bound, bound)

    def inner_repr(self) -> str:
        words = [f"{self.in_channels}, {self.out_channels}", f"kernel_size={self.kernel_size}", f"stride={self.stride}"]
        nothing = {"padding": (0,) * self.axes, "dilation": (1,) * self.axes, "groups": 1}
        words += [f"{name}={getattr(self, name)!r}" for name in nothing if getattr(self, name) != nothing[name]]
        return ", ".join(words + ([] if self.bias is not None else ["bias=False"]))


class Conv1d(_Convolution):
    """[N, in_channels, length] to [N, out_channels, length']; without N too. See `functional.conv1d` for the formula.

    length' = (length + 2 * padding - dilation * (kernel_size - 1) - 1) // stride + 1. Weight [out_channels,
    in_channels / groups, kernel_size] and bias [out_channels].

    >>> nn.Conv1d(3, 16, kernel_size=5)(norch.zeros(8, 3, 100)).shape
    norch.Size([8, 16, 96])
    """

    axes = 1

    def forward(self, x: Tensor) -> Tensor:
        return F.conv1d(x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class Conv2d(_Convolution):
    """[N, in_channels, height, width] to [N, out_channels, height', width']; without N too. See `functional.conv2d`.

    Each size becomes (size + 2 * padding - dilation * (kernel_size - 1) - 1) // stride + 1. Weight [out_channels,
    in_channels / groups, *kernel_size] and bias [out_channels].

    >>> nn.Conv2d(3, 16, kernel_size=5, stride=2, padding=2)(norch.zeros(8, 3, 28, 28)).shape
    norch.Size([8, 16, 14, 14])
    """

    axes = 2

    def forward(self, x: Tensor) -> Tensor:
        return F.conv2d(x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class Unfold(Module):
    """[N, C, height, width] to the columns [N, C * kernel elements, L] that a window sees at its L positions.

    See `functional.unfold` for dtypes and errors.

    >>> nn.Unfold(kernel_size=2)(norch.ones(1, 3, 4, 4)).shape
    norch.Size([1, 12, 9])
    """

    def __init__(self, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1) -> None:
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def forward(self, x: Tensor) -> Tensor:
        return F.unfold(x, self.kernel_size, self.dilation, self.padding, self.stride)

    def inner_repr(self) -> str:
        return ", ".join(f"{name}={getattr(self, name)}" for name in ("kernel_size", "dilation", "padding", "stride"))


class Fold(Unfold):
    """Columns [N, C * kernel elements, L] added up to [N, C, *output_size], at the places where Unfold takes them.

    See `functional.fold` for dtypes and errors.

    >>> nn.Fold(output_size=3, kernel_size=2)(norch.ones(1, 4, 4)).shape
    norch.Size([1, 1, 3, 3])
    """

    def __init__(
        self, output_size: Sizes, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1
    ) -> None:
        super().__init__(kernel_size, dilation, padding, stride)
        self.output_size = output_size

    def forward(self, x: Tensor) -> Tensor:
        return F.fold(x, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def inner_repr(self) -> str:
        return f"output_size={self.output_size}, {super().inner_repr()}"
