"""Lazy layers, whose sizes follow from their first input; after it they are the ordinary layers."""

from __future__ import annotations

from typing import Any, ClassVar, Union

from ...autograd import no_grad
from ...operation import check_tensor
from ...tensor import Tensor
from ...types import DType, Sizes
from ..module import Module
from ..parameter import UninitializedBuffer, UninitializedParameter, is_lazy
from .conv import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
    _ConvNd,
    _Convolution,
    _Transposed,
)
from .linear import Linear
from .normalization import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
    _NormBase,
)

__all__ = [
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
    "LazyLinear",
]

Uninitialized = Union[UninitializedParameter, UninitializedBuffer]


class LazyModuleMixin(Module):
    """The first base class of modules whose sizes follow from their first input.

    Such a module makes its parameters and buffers as `UninitializedParameter` and `UninitializedBuffer`, and defines
    `initialize_parameters`, which its first call calls with the arguments of `forward`. Afterwards the module is of the
    class `cls_to_become`, if there is one.

    >>> class LazyScale(nn.modules.lazy.LazyModuleMixin, nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = nn.UninitializedParameter()
    ...
    ...     def initialize_parameters(self, x):
    ...         if self.has_uninitialized_params():
    ...             self.factor.materialize(x.shape[-1:])
    ...             nn.init.ones_(self.factor)
    ...
    ...     def forward(self, x):
    ...         return self.factor * x
    >>> LazyScale()(norch.ones(2, 3)).shape
    norch.Size([2, 3])
    """

    cls_to_become: ClassVar[type[Module] | None] = None
    _ready = False

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        if self._ready:
            return super().__call__(*inputs, **kwargs)
        self._become(*inputs, **kwargs)
        return self(*inputs, **kwargs)

    def _become(self, *inputs: Any, **kwargs: Any) -> None:
        with no_grad():
            self.initialize_parameters(*inputs, **kwargs)
        if self.has_uninitialized_params():
            raise RuntimeError(f"{self.get_name()}: initialize_parameters() left {[*self._waiting()]} without a shape")
        if self.cls_to_become is None:
            self._ready = True
        else:
            self.__class__ = self.cls_to_become  # type: ignore[assignment]  # for good

    def initialize_parameters(self, *inputs: Any, **kwargs: Any) -> None:
        """Take the sizes from the first inputs, and initial values unless a state was loaded."""
        raise NotImplementedError(f"{self.get_name()} does not define initialize_parameters()")

    def has_uninitialized_params(self) -> bool:
        """Whether no input and no state has told the shapes yet."""
        return bool(self._waiting())

    def _waiting(self) -> dict[str, Uninitialized]:
        return {name: tensor for name, tensor in {**self._parameters, **self._buffers}.items() if is_lazy(tensor)}

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        for name, tensor in self._waiting().items():
            given = state_dict.get(prefix + name)
            if isinstance(given, Tensor) and not is_lazy(given):
                tensor.materialize(given.shape)
        super()._load_from_state_dict(state_dict, prefix, *rest)


class LazyLinear(LazyModuleMixin, Linear):
    """Linear whose number of inputs is that of its first input; otherwise as `functional.linear`.

    Raises TypeError for a size that is no integer.

    >>> nn.LazyLinear(2)(norch.ones(5, 3)).shape
    norch.Size([5, 2])
    """

    cls_to_become = Linear

    def __init__(
        self, out_features: int, bias: bool = True, device: str | int | None = None, dtype: DType | None = None
    ) -> None:
        Linear.__init__(self, 0, out_features, bias)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def initialize_parameters(self, input: Tensor, *_: Any, **__: Any) -> None:
        self.input_dim = check_tensor(input, "LazyLinear").shape[-1]
        waiting = self._waiting()
        for name, own in waiting.items():
            own.materialize([self.output_dim, self.input_dim] if name == "weight" else [self.output_dim])
        if waiting:
            self.reset_parameters()


# ---- Convolutions -----------------------------------------------------------------------------------------------


class _LazyConvolution(LazyModuleMixin, _ConvNd):
    def _make_parameters(self, bias: bool) -> None:
        self.weight = UninitializedParameter()
        self.register_parameter("bias", UninitializedParameter() if bias else None)

    def initialize_parameters(self, input: Tensor, *_: Any, **__: Any) -> None:
        if check_tensor(input, self.get_name()).ndim not in (self.axes + 1, self.axes + 2):
            expected = f"{self.axes + 1} or {self.axes + 2} dimensions"
            raise RuntimeError(f"{self.get_name()}: input has shape {list(input.shape)}, expected {expected}")
        self.in_channels = input.shape[-self.axes - 1]
        shape = self._weight_shape()
        waiting = self._waiting()
        if "weight" in waiting:
            waiting["weight"].materialize(shape)
            if "bias" in waiting:
                waiting["bias"].materialize([self.out_channels])
            self.reset_parameters()


class _LazyConv(_LazyConvolution, _Convolution):
    def __init__(
        self,
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
        settings = kernel_size, stride, padding, dilation, groups, bias, padding_mode, device, dtype
        super().__init__(0, out_channels, *settings)


class LazyConv1d(_LazyConv, Conv1d):
    """Conv1d whose in_channels are those of its first input; otherwise as `Conv1d`.

    Raises ValueError if these do not divide into the groups.

    >>> nn.LazyConv1d(16, kernel_size=5)(norch.zeros(8, 3, 100)).shape
    norch.Size([8, 16, 96])
    """

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """Conv2d whose in_channels are those of its first input; otherwise as `Conv2d`.

    Raises ValueError if these do not divide into the groups.

    >>> nn.LazyConv2d(16, kernel_size=5)(norch.zeros(8, 3, 28, 28)).shape
    norch.Size([8, 16, 24, 24])
    """

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """Conv3d whose in_channels are those of its first input; otherwise as `Conv3d`.

    Raises ValueError if these do not divide into the groups.

    >>> nn.LazyConv3d(16, kernel_size=5)(norch.zeros(2, 3, 8, 8, 8)).shape
    norch.Size([2, 16, 4, 4, 4])
    """

    cls_to_become = Conv3d


class _LazyConvTranspose(_LazyConvolution, _Transposed):
    def __init__(
        self,
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
        settings = kernel_size, stride, padding, output_padding, groups, bias, dilation, padding_mode, device, dtype
        super().__init__(0, out_channels, *settings)


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """ConvTranspose1d whose in_channels are those of its first input; otherwise as `ConvTranspose1d`.

    Raises ValueError if these do not divide into the groups.

    >>> nn.LazyConvTranspose1d(16, kernel_size=2, stride=2)(norch.zeros(8, 3, 10)).shape
    norch.Size([8, 16, 20])
    """

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """ConvTranspose2d whose in_channels are those of its first input; otherwise as `ConvTranspose2d`.

    Raises ValueError if these do not divide into the groups.

    >>> nn.LazyConvTranspose2d(16, kernel_size=2, stride=2)(norch.zeros(8, 3, 7, 7)).shape
    norch.Size([8, 16, 14, 14])
    """

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """ConvTranspose3d whose in_channels are those of its first input; otherwise as `ConvTranspose3d`.

    Raises ValueError if these do not divide into the groups.

    >>> nn.LazyConvTranspose3d(16, kernel_size=2, stride=2)(norch.zeros(2, 3, 4, 4, 4)).shape
    norch.Size([2, 16, 8, 8, 8])
    """

    cls_to_become = ConvTranspose3d


# ---- Normalizations ---------------------------------------------------------------------------------------------


class _LazyNorm(LazyModuleMixin, _NormBase):
    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: str | int | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        settings = eps, momentum, affine, track_running_stats, device, dtype
        super().__init__(0, *settings, bias=bias)

    def _make_state(self, affine: bool, bias: bool, tracked: bool) -> None:
        super()._make_state(affine, bias, tracked)
        for name in ("weight", "bias"):
            if getattr(self, name) is not None:
                setattr(self, name, UninitializedParameter())
        if tracked:
            self.running_mean, self.running_var = UninitializedBuffer(), UninitializedBuffer()

    def initialize_parameters(self, input: Tensor, *_: Any, **__: Any) -> None:
        self.num_features = self._channels_of(input)
        waiting = self._waiting()
        for tensor in waiting.values():
            tensor.materialize([self.num_features])
        if waiting:
            self.reset_parameters()


class LazyBatchNorm1d(_LazyNorm, BatchNorm1d):
    """BatchNorm1d whose num_features are the channels of its first input; otherwise as `BatchNorm1d`.

    >>> nn.LazyBatchNorm1d()(norch.rand(8, 3, 5)).shape
    norch.Size([8, 3, 5])
    """

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d):
    """BatchNorm2d whose num_features are the channels of its first input; otherwise as `BatchNorm2d`.

    >>> nn.LazyBatchNorm2d()(norch.rand(8, 3, 4, 4)).shape
    norch.Size([8, 3, 4, 4])
    """

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d):
    """BatchNorm3d whose num_features are the channels of its first input; otherwise as `BatchNorm3d`.

    >>> nn.LazyBatchNorm3d()(norch.rand(2, 3, 2, 4, 4)).shape
    norch.Size([2, 3, 2, 4, 4])
    """

    cls_to_become = BatchNorm3d


class LazyInstanceNorm1d(_LazyNorm, InstanceNorm1d):
    """InstanceNorm1d whose num_features are the channels of its first input; otherwise as `InstanceNorm1d`.

    >>> nn.LazyInstanceNorm1d()(norch.rand(8, 3, 5)).shape
    norch.Size([8, 3, 5])
    """

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, InstanceNorm2d):
    """InstanceNorm2d whose num_features are the channels of its first input; otherwise as `InstanceNorm2d`.

    >>> nn.LazyInstanceNorm2d()(norch.rand(8, 3, 4, 4)).shape
    norch.Size([8, 3, 4, 4])
    """

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, InstanceNorm3d):
    """InstanceNorm3d whose num_features are the channels of its first input; otherwise as `InstanceNorm3d`.

    >>> nn.LazyInstanceNorm3d()(norch.rand(2, 3, 2, 4, 4)).shape
    norch.Size([2, 3, 2, 4, 4])
    """

    cls_to_become = InstanceNorm3d
