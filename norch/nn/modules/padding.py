"""Padding layers: each calls `functional.pad` in one mode, for inputs with 1, 2 or 3 dimensions after the channels."""

from __future__ import annotations

from ...tensor import Tensor
from ...types import Sizes
from .. import functional as F
from ..functional.windows import per_axis
from ..module import Module

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]


class _Pad(Module):
    """What the padding layers share; they differ in the mode and in the number of axes."""

    mode: str
    axes: int

    def __init__(self, padding: Sizes) -> None:
        super().__init__()
        self.padding = per_axis(padding, 2 * self.axes, f"{self.get_name()}: padding")

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPadNd(_Pad):
    mode = "constant"

    def __init__(self, padding: Sizes, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self.mode, self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """[..., length] with elements of one value around it.

    `padding` is a number for every side, or (left, right).
    See `functional.pad`, mode "constant", for dtypes and errors.

    >>> nn.ConstantPad1d((1, 2), 9.0)(norch.tensor([[1.0, 2.0, 3.0]]))
    tensor([[9., 1., 2., 3., 9., 9.]])
    """

    axes = 1


class ConstantPad2d(_ConstantPadNd):
    """[..., height, width] with elements of one value around it.

    `padding` is a number for every side, or (left, right, top, bottom).
    See `functional.pad`, mode "constant", for dtypes and errors.

    >>> nn.ConstantPad2d(1, 9.0)(norch.ones(2, 3, 4, 5)).shape
    norch.Size([2, 3, 6, 7])
    """

    axes = 2


class ConstantPad3d(_ConstantPadNd):
    """[..., depth, height, width] with elements of one value around it.

    `padding` is a number for every side, or (left, right, top, bottom, front, back).
    See `functional.pad`, mode "constant", for dtypes and errors.

    >>> nn.ConstantPad3d(1, 9.0)(norch.ones(2, 3, 4, 5, 6)).shape
    norch.Size([2, 3, 6, 7, 8])
    """

    axes = 3


class _ZeroPad(_ConstantPadNd):
    def __init__(self, padding: Sizes) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_ZeroPad, ConstantPad1d):
    """[..., length] with zeros around it.

    `padding` is a number for every side, or (left, right).
    See `functional.pad`, mode "constant", for dtypes and errors.

    >>> nn.ZeroPad1d((1, 2))(norch.tensor([[1.0, 2.0, 3.0]]))
    tensor([[0., 1., 2., 3., 0., 0.]])
    """


class ZeroPad2d(_ZeroPad, ConstantPad2d):
    """[..., height, width] with zeros around it.

    `padding` is a number for every side, or (left, right, top, bottom).
    See `functional.pad`, mode "constant", for dtypes and errors.

    >>> nn.ZeroPad2d(1)(norch.ones(2, 3, 4, 5)).shape
    norch.Size([2, 3, 6, 7])
    """


class ZeroPad3d(_ZeroPad, ConstantPad3d):
    """[..., depth, height, width] with zeros around it.

    `padding` is a number for every side, or (left, right, top, bottom, front, back).
    See `functional.pad`, mode "constant", for dtypes and errors.

    >>> nn.ZeroPad3d(1)(norch.ones(2, 3, 4, 5, 6)).shape
    norch.Size([2, 3, 6, 7, 8])
    """


class _ReflectionPadNd(_Pad):
    mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """[..., length] with its mirror image around it.

    `padding` is a number for every side, or (left, right).
    See `functional.pad`, mode "reflect", for dtypes and errors.

    >>> nn.ReflectionPad1d((1, 2))(norch.tensor([[1.0, 2.0, 3.0]]))
    tensor([[2., 1., 2., 3., 2., 1.]])
    """

    axes = 1


class ReflectionPad2d(_ReflectionPadNd):
    """[..., height, width] with its mirror image around it.

    `padding` is a number for every side, or (left, right, top, bottom).
    See `functional.pad`, mode "reflect", for dtypes and errors.

    >>> nn.ReflectionPad2d(1)(norch.ones(2, 3, 4, 5)).shape
    norch.Size([2, 3, 6, 7])
    """

    axes = 2


class ReflectionPad3d(_ReflectionPadNd):
    """[..., depth, height, width] with its mirror image around it.

    `padding` is a number for every side, or (left, right, top, bottom, front, back).
    See `functional.pad`, mode "reflect", for dtypes and errors.

    >>> nn.ReflectionPad3d(1)(norch.ones(2, 3, 4, 5, 6)).shape
    norch.Size([2, 3, 6, 7, 8])
    """

    axes = 3


class _ReplicationPadNd(_Pad):
    mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """[..., length] with its outermost elements around it.

    `padding` is a number for every side, or (left, right).
    See `functional.pad`, mode "replicate", for dtypes and errors.

    >>> nn.ReplicationPad1d((1, 2))(norch.tensor([[1.0, 2.0, 3.0]]))
    tensor([[1., 1., 2., 3., 3., 3.]])
    """

    axes = 1


class ReplicationPad2d(_ReplicationPadNd):
    """[..., height, width] with its outermost elements around it.

    `padding` is a number for every side, or (left, right, top, bottom).
    See `functional.pad`, mode "replicate", for dtypes and errors.

    >>> nn.ReplicationPad2d(1)(norch.ones(2, 3, 4, 5)).shape
    norch.Size([2, 3, 6, 7])
    """

    axes = 2


class ReplicationPad3d(_ReplicationPadNd):
    """[..., depth, height, width] with its outermost elements around it.

    `padding` is a number for every side, or (left, right, top, bottom, front, back).
    See `functional.pad`, mode "replicate", for dtypes and errors.

    >>> nn.ReplicationPad3d(1)(norch.ones(2, 3, 4, 5, 6)).shape
    norch.Size([2, 3, 6, 7, 8])
    """

    axes = 3


class _CircularPadNd(_Pad):
    mode = "circular"


class CircularPad1d(_CircularPadNd):
    """[..., length] with what stands at the other end around it.

    `padding` is a number for every side, or (left, right).
    See `functional.pad`, mode "circular", for dtypes and errors.

    >>> nn.CircularPad1d((1, 2))(norch.tensor([[1.0, 2.0, 3.0]]))
    tensor([[3., 1., 2., 3., 1., 2.]])
    """

    axes = 1


class CircularPad2d(_CircularPadNd):
    """[..., height, width] with what stands at the other end around it.

    `padding` is a number for every side, or (left, right, top, bottom).
    See `functional.pad`, mode "circular", for dtypes and errors.

    >>> nn.CircularPad2d(1)(norch.ones(2, 3, 4, 5)).shape
    norch.Size([2, 3, 6, 7])
    """

    axes = 2


class CircularPad3d(_CircularPadNd):
    """[..., depth, height, width] with what stands at the other end around it.

    `padding` is a number for every side, or (left, right, top, bottom, front, back).
    See `functional.pad`, mode "circular", for dtypes and errors.

    >>> nn.CircularPad3d(1)(norch.ones(2, 3, 4, 5, 6)).shape
    norch.Size([2, 3, 6, 7, 8])
    """

    axes = 3
