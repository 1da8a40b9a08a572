"""Linear, and two layers that only return or reshape their input."""

from __future__ import annotations

from typing import overload

from ..._C import ShapeError
from ...arguments import index_of
from ...functions.creation import empty
from ...operation import check_tensor
from ...tensor import Tensor
from ...types import DType, shown
from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import Parameter, ParameterOrNone

__all__ = ["Flatten", "Identity", "Linear"]


class Linear(Module):
    """y = x W^T + b for rows x of shape [..., input_dim]; y has shape [..., output_dim].

    A column [..., input_dim, 1], as in the article, gives [..., output_dim, 1] if input_dim > 1 (at input_dim 1 a
    column is a row). PyTorch's keywords in_features and out_features name the same two sizes. Weight [output_dim,
    input_dim], then bias [output_dim], are drawn from [-1, 1] for up to ten inputs, as in the article, with numbers of
    Python's `random` until `norch.manual_seed` is called; from ±1 / sqrt(inputs) beyond, as in PyTorch. Errors as for
    `functional.linear`; raises TypeError for sizes that are not integers.

    >>> nn.Linear(3, 2)(norch.ones(5, 3)).shape
    norch.Size([5, 2])
    """

    weight: Parameter
    bias: ParameterOrNone

    @overload
    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        bias: bool = True,
        device: str | int | None = None,
        dtype: DType | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self,
        *,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: str | int | None = None,
        dtype: DType | None = None,
    ) -> None: ...
    def __init__(
        self,
        input_dim: int | None = None,
        output_dim: int | None = None,
        bias: bool = True,
        device: str | int | None = None,
        dtype: DType | None = None,
        *,
        in_features: int | None = None,
        out_features: int | None = None,
    ) -> None:
        super().__init__()
        self.input_dim = _one_size(input_dim, in_features, "input_dim", "in_features")
        self.output_dim = _one_size(output_dim, out_features, "output_dim", "out_features")
        self.weight = Parameter(empty(self.output_dim, self.input_dim))
        self.register_parameter("bias", Parameter(empty(self.output_dim)) if bias else None)
        self.reset_parameters()
        self.to(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw weight, then bias: from ±1 for up to ten inputs, as in the article, from ±1 / sqrt(inputs) beyond."""
        for parameter in self.parameters():
            init.draw_linear(parameter, self.input_dim)

    @property
    def in_features(self) -> int:
        """PyTorch's name for input_dim; as there it may be set, by code that replaces the weight."""
        return self.input_dim

    @in_features.setter
    def in_features(self, size: int) -> None:
        self.input_dim = size

    @property
    def out_features(self) -> int:
        """PyTorch's name for output_dim; as there it may be set, by code that replaces the weight."""
        return self.output_dim

    @out_features.setter
    def out_features(self, size: int) -> None:
        self.output_dim = size

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"input_dim={self.input_dim}, output_dim={self.output_dim}, bias={self.bias is not None}"


def _one_size(ours: int | None, theirs: int | None, our_name: str, their_name: str) -> int:
    """The size given under one of its two names."""
    if (ours is None) == (theirs is None):
        given = "neither" if ours is None else "both"
        raise TypeError(f"Linear: expected {our_name} or {their_name}, two names of one size; got {given}")
    value = theirs if ours is None else ours
    size = index_of(value)
    if size is None:
        raise TypeError(f"Linear: {our_name} is {shown(value)}, expected an int")
    if size < 0:
        raise ShapeError(f"Linear: {our_name} is {size}, expected no negative size")
    return size


class NonDynamicallyQuantizableLinear(Linear):
    """A Linear under the name that PyTorch gives the last one of an attention, so that copies of that layer run.

    >>> nn.modules.linear.NonDynamicallyQuantizableLinear(3, 2)(norch.ones(1, 3)).shape
    norch.Size([1, 2])
    """


class Identity(Module):
    """Returns its input, of any shape and dtype. Ignores the arguments it is made with, so it can replace any layer.

    >>> nn.Identity()(norch.tensor([1, 2]))
    tensor([1, 2])
    """

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Flatten(Module):
    """Joins the dimensions start_dim to end_dim into one: [N, C, H, W] to [N, C*H*W]; otherwise as `flatten`.

    >>> nn.Flatten()(norch.zeros(8, 3, 4, 5)).shape
    norch.Size([8, 60])
    """

    _shown = ("start_dim", "end_dim")

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        return check_tensor(input, "Flatten").flatten(self.start_dim, self.end_dim)
