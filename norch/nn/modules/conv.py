"""Convolution over sequences, images and volumes, its transposes, and the columns behind it."""

from __future__ import annotations

import math
from typing import Callable, Sequence

from ..._C import ShapeError
from ...arguments import sizes_in, sizes_of
from ...functions.creation import empty
from ...tensor import Tensor
from ...types import DType, Sizes, shown
from .. import functional as F
from .. import init
from ..common_types import _size_1_t as _size_1_t
from ..common_types import _size_2_t as _size_2_t
from ..common_types import _size_3_t as _size_3_t
from ..functional.convolution import padding_of
from ..functional.windows import per_axis
from ..module import Module
from ..parameter import Parameter, ParameterOrNone

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "Fold",
    "Unfold",
]

_MODES = ("zeros", "reflect", "replicate", "circular")  # of the padding


class _ConvNd(Module):
    """What convolutions and their transposes share. Programs derive from it, with PyTorch's arguments."""

    axes = 0  # as many as the kernel has, in a program's own class
    weight: Parameter
    bias: ParameterOrNone

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes,
        padding: Sizes | str,
        dilation: Sizes,
        transposed: bool,
        output_padding: Sizes,
        groups: int,
        bias: bool,
        padding_mode: str,
        device: str | int | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.axes = axes = self.axes or len(sizes_of((kernel_size,), f"{self.get_name()}: kernel_size"))
        name, self.transposed = self.get_name(), transposed
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        for what in ("out_channels", "groups"):
            self._check_count(what)
        if padding_mode not in _MODES:
            expected = ", ".join(map(repr, _MODES))
            raise ValueError(f"{name}: padding_mode is {shown(padding_mode)}, expected {expected}")
        self.kernel_size = per_axis(kernel_size, axes, f"{name}: kernel_size")
        self.stride = per_axis(stride, axes, f"{name}: stride")
        self.dilation = per_axis(dilation, axes, f"{name}: dilation")
        self._sides = padding_of(name, padding, self.kernel_size, self.stride, self.dilation)  # or it raises
        self.padding = padding if isinstance(padding, str) else self._sides[0]
        self._reversed_padding_repeated_twice = [side for pair in reversed(list(zip(*self._sides))) for side in pair]
        self.output_padding = per_axis(output_padding, axes, f"{name}: output_padding")
        self.padding_mode = padding_mode
        if min(self.kernel_size) < 1:
            raise ShapeError(f"{name}: kernel_size is {kernel_size}, expected at least 1")
        self._make_parameters(bias)
        self.to(device=device, dtype=dtype)

    def _check_count(self, what: str) -> None:
        """Make one of the counts an int. Raises TypeError for what is none, ValueError for one below 1."""
        setattr(self, what, per_axis(getattr(self, what), 1, f"{self.get_name()}: {what}")[0])
        if getattr(self, what) < 1:
            raise ValueError(f"{self.get_name()}: {what} is {getattr(self, what)}, expected at least 1")

    def _make_parameters(self, bias: bool) -> None:
        shape = self._weight_shape()
        self.weight = Parameter(empty(shape))
        self.register_parameter("bias", Parameter(empty(self.out_channels)) if bias else None)
        self.reset_parameters()

    def _weight_shape(self) -> list[int]:
        """The shape that the numbers of channels and the kernel give the weight; ValueError if they do not fit."""
        self._check_count("in_channels")
        inputs, outputs, groups = self.in_channels, self.out_channels, self.groups
        if inputs % groups or outputs % groups:
            raise ValueError(
                f"{self.get_name()}: {inputs} in_channels and {outputs} out_channels in {groups} groups: "
                "expected both to be divisible"
            )
        channels = [inputs, outputs // groups] if self.transposed else [outputs, inputs // groups]
        return [*channels, *self.kernel_size]

    def reset_parameters(self) -> None:
        """Draw weight and bias from U(-b, b) with b = 1 / sqrt(channels * kernel elements), the channels of the weight.

        That is `init.kaiming_uniform_(weight, a=sqrt(5))`: sqrt(6 / (1 + 5) / fan_in).
        """
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(math.prod(self.weight.shape[1:]))
            init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        words = [f"{self.in_channels}, {self.out_channels}", f"kernel_size={self.kernel_size}", f"stride={self.stride}"]
        nothing = {"padding": (0,) * self.axes, "dilation": (1,) * self.axes, "output_padding": (0,) * self.axes}
        words += [f"{name}={getattr(self, name)}" for name in nothing if getattr(self, name) != nothing[name]]
        words += [f"groups={self.groups}"] if self.groups != 1 else []
        words += [] if self.bias is not None else ["bias=False"]
        return ", ".join(words + ([f"padding_mode={self.padding_mode}"] if self.padding_mode != "zeros" else []))


class _Convolution(_ConvNd):
    """What Conv1d, 2d and 3d share: all but the function. Programs call and override `_conv_forward`, as in PyTorch."""

    function: Callable[..., Tensor]

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
        device: str | int | None = None,
        dtype: DType | None = None,
    ) -> None:
        windows = kernel_size, stride, padding, dilation, False, 0
        super().__init__(in_channels, out_channels, *windows, groups, bias, padding_mode, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        padding: Sizes | str = self.padding
        if self.padding_mode != "zeros":  # with zeros, the function itself pads
            input, padding = F.pad(input, self._reversed_padding_repeated_twice, self.padding_mode), 0
        return self.function(input, weight, bias, self.stride, padding, self.dilation, self.groups)


class Conv1d(_Convolution):
    """[N, in_channels, length] to [N, out_channels, length']; without N too. See `functional.conv1d` for the formula.

    length' = (length + 2 * padding - dilation * (kernel_size - 1) - 1) // stride + 1. Weight [out_channels,
    in_channels / groups, kernel_size] and bias [out_channels]. With another `padding_mode` than "zeros", the input is
    padded as by `functional.pad`.

    >>> nn.Conv1d(3, 16, kernel_size=5)(norch.zeros(8, 3, 100)).shape
    norch.Size([8, 16, 96])
    """

    axes, function = 1, staticmethod(F.conv1d)


class Conv2d(_Convolution):
    """[N, in_channels, height, width] to [N, out_channels, height', width']; without N too. See `functional.conv2d`.

    Each size becomes (size + 2 * padding - dilation * (kernel_size - 1) - 1) // stride + 1. Weight [out_channels,
    in_channels / groups, *kernel_size] and bias [out_channels]. With another `padding_mode` than "zeros", the input is
    padded as by `functional.pad`.

    >>> nn.Conv2d(3, 16, kernel_size=5, stride=2, padding=2)(norch.zeros(8, 3, 28, 28)).shape
    norch.Size([8, 16, 14, 14])
    """

    axes, function = 2, staticmethod(F.conv2d)


class Conv3d(_Convolution):
    """[N, in_channels, depth, height, width] to [N, out_channels, ...], or without N; sizes and options as `Conv2d`.

    Raises ValueError if the channels do not divide into the groups.

    >>> nn.Conv3d(3, 4, kernel_size=3, padding=1)(norch.zeros(2, 3, 8, 8, 8)).shape
    norch.Size([2, 4, 8, 8, 8])
    """

    axes, function = 3, staticmethod(F.conv3d)


# ---- Transposed -------------------------------------------------------------------------------------------------


class _ConvTransposeNd(_ConvNd):
    """What ConvTranspose1d, 2d and 3d share with a program's own class."""

    def _output_padding(self, x: Tensor, output_size: Sequence[int] | None) -> tuple[int, ...]:
        """The output_padding with which the result has this size: of its last axes, or of all its dimensions."""
        if output_size is None:
            return self.output_padding
        sizes = sizes_in(output_size, f"{self.get_name()}: output_size")
        if len(sizes) not in (self.axes, x.ndim):
            raise ValueError(f"{self.get_name()}: output_size is {sizes}, expected {self.axes} or {x.ndim} sizes")
        wanted, before = sizes[-self.axes :], self._sides[0]
        settings = zip(x.shape[-self.axes :], self.stride, before, self.dilation, self.kernel_size)
        least = [(size - 1) * step - 2 * pad + spread * (width - 1) + 1 for size, step, pad, spread, width in settings]
        extra = tuple(size - low for size, low in zip(wanted, least))
        if any(not 0 <= count < step for count, step in zip(extra, self.stride)):
            most = [low + step - 1 for low, step in zip(least, self.stride)]
            raise ValueError(f"{self.get_name()}: output_size is {wanted}, expected {least} to {most}")
        return extra


class _Transposed(_ConvTransposeNd):
    """What ConvTranspose1d, 2d and 3d share."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        padding_mode: str = "zeros",
        device: str | int | None = None,
        dtype: DType | None = None,
    ) -> None:
        windows = kernel_size, stride, padding, dilation, True, output_padding
        super().__init__(in_channels, out_channels, *windows, groups, bias, padding_mode, device, dtype)
        if padding_mode != "zeros":
            raise ValueError(f"{self.get_name()}: padding_mode is {shown(padding_mode)}, expected 'zeros'")


class ConvTranspose1d(_Transposed):
    """[N, in_channels, length] to [N, out_channels, length']; without N too. See `functional.conv_transpose1d`.

    length' = (length - 1) * stride - 2 * padding + dilation * (kernel_size - 1) + output_padding + 1. Weight
    [in_channels, out_channels / groups, kernel_size] and bias [out_channels]. A call can name the `output_size`
    instead of the output_padding, as a convolution with a stride gives one size for several sizes of its input.

    >>> nn.ConvTranspose1d(16, 3, kernel_size=4, stride=2)(norch.zeros(8, 16, 10)).shape
    norch.Size([8, 3, 22])
    """

    axes = 1

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        settings = self.stride, self._sides[0], self._output_padding(input, output_size), self.groups, self.dilation
        return F.conv_transpose1d(input, self.weight, self.bias, *settings)


class ConvTranspose2d(_Transposed):
    """[N, in_channels, height, width] to [N, out_channels, height', width'], or without N; see
    `functional.conv_transpose2d`. Otherwise as `ConvTranspose1d`.

    >>> up = nn.ConvTranspose2d(16, 3, kernel_size=3, stride=2, padding=1)
    >>> up(norch.zeros(8, 16, 7, 7), output_size=(14, 14)).shape
    norch.Size([8, 3, 14, 14])
    """

    axes = 2

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        settings = self.stride, self._sides[0], self._output_padding(input, output_size), self.groups, self.dilation
        return F.conv_transpose2d(input, self.weight, self.bias, *settings)


class ConvTranspose3d(_Transposed):
    """[N, in_channels, depth, height, width] to [N, out_channels, ...], or without N.

    See `functional.conv_transpose3d`. Otherwise as `ConvTranspose1d`.

    >>> nn.ConvTranspose3d(4, 3, kernel_size=2, stride=2)(norch.zeros(2, 4, 3, 3, 3)).shape
    norch.Size([2, 3, 6, 6, 6])
    """

    axes = 3

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        settings = self.stride, self._sides[0], self._output_padding(input, output_size), self.groups, self.dilation
        return F.conv_transpose3d(input, self.weight, self.bias, *settings)


# ---- Columns ----------------------------------------------------------------------------------------------------


class _Columns(Module):
    """What Unfold and Fold share."""

    _shown: tuple[str, ...] = ("kernel_size", "dilation", "padding", "stride")

    def __init__(self, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1) -> None:
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride


class Unfold(_Columns):
    """[N, C, height, width] to the columns [N, C * kernel elements, L] that a window sees at its L positions.

    See `functional.unfold` for dtypes and errors.

    >>> nn.Unfold(kernel_size=2)(norch.ones(1, 3, 4, 4)).shape
    norch.Size([1, 12, 9])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)


class Fold(_Columns):
    """Columns [N, C * kernel elements, L] added up to [N, C, *output_size], at the places where Unfold takes them.

    See `functional.fold` for dtypes and errors.

    >>> nn.Fold(output_size=3, kernel_size=2)(norch.ones(1, 4, 4)).shape
    norch.Size([1, 1, 3, 3])
    """

    _shown = ("output_size", *_Columns._shown)

    def __init__(
        self, output_size: Sizes, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1
    ) -> None:
        super().__init__(kernel_size, dilation, padding, stride)
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)
