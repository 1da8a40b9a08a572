"""Normalization: BatchNorm and InstanceNorm can keep running statistics for evaluation, the others need none."""

from __future__ import annotations

from typing import Any

from ..._C import ShapeError
from ...arguments import sizes_of
from ...autograd import no_grad
from ...functions.creation import ones, zeros
from ...given import warn
from ...operation import check_tensor
from ...tensor import Tensor
from ...types import DType, Sizes, int64
from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import Parameter, ParameterOrNone

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "GroupNorm",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LayerNorm",
    "LocalResponseNorm",
    "RMSNorm",
]


class _NormBase(Module):
    """What BatchNorm and InstanceNorm share; they differ in the ranks of their inputs and in the function they call."""

    _version = 2  # of the state that has num_batches_tracked
    ranks: tuple[int, ...]
    expected: str
    weight: ParameterOrNone
    bias: ParameterOrNone
    running_mean: Tensor | Any  # None without track_running_stats
    running_var: Tensor | Any
    num_batches_tracked: Tensor | Any

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: str | int | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self._make_state(affine, affine and bias, track_running_stats)
        self.to(device=device, dtype=dtype)

    def _make_state(self, affine: bool, bias: bool, tracked: bool) -> None:
        self.register_parameter("weight", Parameter(ones(self.num_features)) if affine else None)
        self.register_parameter("bias", Parameter(zeros(self.num_features)) if bias else None)
        self.register_buffer("running_mean", zeros(self.num_features) if tracked else None)
        self.register_buffer("running_var", ones(self.num_features) if tracked else None)
        self.register_buffer("num_batches_tracked", zeros((), dtype=int64) if tracked else None)

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], *rest: Any
    ) -> None:
        """A state of the first version, or of none, may lack the number of batches."""
        if (local_metadata.get("version") or 1) < 2 and self.num_batches_tracked is not None:
            state_dict.setdefault(prefix + "num_batches_tracked", self.num_batches_tracked)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def reset_running_stats(self) -> None:
        """Forget all batches: running mean 0, running variance 1."""
        if self.track_running_stats:
            with no_grad():
                self.running_mean.zero_()
                self.running_var.fill_(1)
                self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Reset the weight to 1, the bias to 0, and the running statistics."""
        self.reset_running_stats()
        _reset(self.weight, self.bias)

    def _channels_of(self, x: Tensor) -> int:
        """The number of channels of an input, whose rank is checked."""
        if check_tensor(x, self.get_name()).ndim not in self.ranks:
            raise ShapeError(f"{self.get_name()}: input has shape {list(x.shape)}, expected {self.expected}")
        return x.shape[1]

    def extra_repr(self) -> str:
        words = f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}"
        return f"{words}, bias={self.bias is not None}, track_running_stats={self.track_running_stats}"


class _BatchNorm(_NormBase):
    """What BatchNorm1d, 2d and 3d share."""

    def forward(self, input: Tensor) -> Tensor:
        if self._channels_of(input) != self.num_features:
            raise ShapeError(
                f"{self.get_name()}: input has shape {list(input.shape)}, expected {self.num_features} channels"
            )
        momentum: float | Tensor = 0.0 if self.momentum is None else self.momentum
        batches = None
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            batches = self.num_batches_tracked, self.num_batches_tracked + 1
            if self.momentum is None:  # the average over all batches
                momentum = 1 / batches[1].double()
        used = self.track_running_stats or not self.training
        mean, variance = (self.running_mean, self.running_var) if used else (None, None)
        training = self.training or self.running_mean is None
        options = training, momentum, self.eps, batches
        return F._batch_norm(input, mean, variance, self.weight, self.bias, *options)


class BatchNorm1d(_BatchNorm):
    """Each channel of [N, C] or [N, C, length] to mean 0 and variance 1; see `functional.batch_norm`.

    Buffers: running_mean and running_var [C], num_batches_tracked. A `momentum` of None averages over all batches;
    without `track_running_stats` it uses the batch's own statistics in evaluation too. Raises ShapeError for other
    shapes.

    >>> nn.BatchNorm1d(2)(norch.tensor([[1.0, 10.0], [3.0, 30.0]])).detach()
    tensor([[-1.0000, -1.0000],
            [ 1.0000,  1.0000]])
    """

    ranks, expected = (2, 3), "[N, C] or [N, C, length]"


class BatchNorm2d(_BatchNorm):
    """Each channel of [N, C, height, width] to mean 0 and variance 1; options and buffers as for `BatchNorm1d`.

    Raises ShapeError for other shapes.

    >>> nn.BatchNorm2d(3)(norch.ones(8, 3, 4, 4)).shape
    norch.Size([8, 3, 4, 4])
    """

    ranks, expected = (4,), "[N, C, height, width]"


class BatchNorm3d(_BatchNorm):
    """Each channel of [N, C, depth, height, width] to mean 0 and variance 1; options and buffers as for `BatchNorm1d`.

    Raises ShapeError for other shapes.

    >>> nn.BatchNorm3d(3)(norch.ones(2, 3, 4, 4, 4)).shape
    norch.Size([2, 3, 4, 4, 4])
    """

    ranks, expected = (5,), "[N, C, depth, height, width]"


class _InstanceNorm(_NormBase):
    """What InstanceNorm1d, 2d and 3d share."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: str | int | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _channels_of(self, x: Tensor) -> int:
        super()._channels_of(x)
        return x.shape[1 if x.ndim == self.ranks[1] else 0]

    def forward(self, input: Tensor) -> Tensor:
        if self._channels_of(input) != self.num_features:
            given = f"input has shape {list(input.shape)}, expected {self.num_features} channels"
            if self.affine:
                raise ShapeError(f"{self.get_name()}: {given}")
            warn(f"{self.get_name()}: {given}; without affine it makes no difference")
        batch = input if input.ndim == self.ranks[1] else input.unsqueeze(0)
        from_input = self.training or not self.track_running_stats
        momentum = 0.0 if self.momentum is None else self.momentum
        state = self.running_mean, self.running_var, self.weight, self.bias
        result = F.instance_norm(batch, *state, from_input, momentum, self.eps)
        return result if input.ndim == self.ranks[1] else result.squeeze(0)


class InstanceNorm1d(_InstanceNorm):
    """Each channel of each sample of [N, C, length], or of [C, length], to mean 0 and variance 1.

    See `functional.instance_norm`. Buffers, with `track_running_stats`, are those of `BatchNorm1d`, and are used in
    evaluation. Raises ShapeError for other shapes.

    >>> nn.InstanceNorm1d(2)(norch.tensor([[[1.0, 3.0], [10.0, 30.0]]]))
    tensor([[[-1.0000,  1.0000],
             [-1.0000,  1.0000]]])
    """

    ranks, expected = (2, 3), "[N, C, length] or [C, length]"


class InstanceNorm2d(_InstanceNorm):
    """Each channel of each sample of [N, C, height, width], or without N; otherwise as `InstanceNorm1d`.

    >>> nn.InstanceNorm2d(3)(norch.ones(8, 3, 4, 4)).shape
    norch.Size([8, 3, 4, 4])
    """

    ranks, expected = (3, 4), "[N, C, height, width] or [C, height, width]"


class InstanceNorm3d(_InstanceNorm):
    """Each channel of each sample of [N, C, depth, height, width], or without N; otherwise as `InstanceNorm1d`.

    >>> nn.InstanceNorm3d(3)(norch.ones(2, 3, 4, 4, 4)).shape
    norch.Size([2, 3, 4, 4, 4])
    """

    ranks, expected = (4, 5), "[N, C, depth, height, width] or [C, depth, height, width]"


class LayerNorm(Module):
    """The last dimensions, of shape `normalized_shape`, to mean 0 and variance 1; see `functional.layer_norm`.

    >>> nn.LayerNorm(2)(norch.tensor([[1.0, 3.0], [10.0, 30.0]])).detach()
    tensor([[-1.0000,  1.0000],
            [-1.0000,  1.0000]])
    """

    weight: ParameterOrNone
    bias: ParameterOrNone

    def __init__(
        self,
        normalized_shape: Sizes,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: str | int | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = tuple(sizes_of((normalized_shape,), self.get_name()))
        self.eps, self.elementwise_affine = eps, elementwise_affine
        shape = self.normalized_shape
        self.register_parameter("weight", Parameter(ones(shape)) if elementwise_affine else None)
        self.register_parameter("bias", Parameter(zeros(shape)) if elementwise_affine and bias else None)
        self.to(device=device, dtype=dtype)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        words = f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        return f"{words}, bias={self.bias is not None}"

    def reset_parameters(self) -> None:
        """Reset the weight to 1 and the bias to 0."""
        _reset(self.weight, self.bias)


class GroupNorm(Module):
    """Each of `num_groups` parts of the channels of [N, C, ...] to mean 0, variance 1; see `functional.group_norm`.

    Raises ValueError if the channels do not divide into the groups.

    >>> nn.GroupNorm(2, 4)(norch.tensor([[1.0, 3.0, 10.0, 30.0]])).detach()
    tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """

    weight: ParameterOrNone
    bias: ParameterOrNone

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: str | int | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_groups < 1 or num_channels % num_groups:
            raise ValueError(f"GroupNorm: {num_channels} channels do not divide into {num_groups} groups")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self.register_parameter("weight", Parameter(ones(num_channels)) if affine else None)
        self.register_parameter("bias", Parameter(zeros(num_channels)) if affine and bias else None)
        self.to(device=device, dtype=dtype)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        words = f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}"
        return f"{words}, bias={self.bias is not None}"

    def reset_parameters(self) -> None:
        """Reset the weight to 1 and the bias to 0."""
        _reset(self.weight, self.bias)


class RMSNorm(Module):
    """The last dimensions, of shape `normalized_shape`, to a mean square of 1; see `functional.rms_norm`.

    >>> nn.RMSNorm(2)(norch.tensor([[1.0, 1.0], [10.0, 10.0]])).detach()
    tensor([[1., 1.],
            [1., 1.]])
    """

    weight: ParameterOrNone

    def __init__(
        self,
        normalized_shape: Sizes,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: str | int | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = tuple(sizes_of((normalized_shape,), self.get_name()))
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self.register_parameter("weight", Parameter(ones(self.normalized_shape)) if elementwise_affine else None)
        self.to(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Reset the weight to 1."""
        _reset(self.weight, None)

    def forward(self, input: Tensor) -> Tensor:
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class LocalResponseNorm(Module):
    """[N, C, ...] divided by a power of the mean square of neighbouring channels; see `functional.local_response_norm`.

    >>> nn.LocalResponseNorm(2)(norch.ones(8, 3, 4, 4)).shape
    norch.Size([8, 3, 4, 4])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


def _reset(weight: Parameter | None, bias: Parameter | None) -> None:
    if weight is not None:
        init.ones_(weight)
    if bias is not None:
        init.zeros_(bias)
