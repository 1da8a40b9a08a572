"""Normalization: BatchNorm keeps running statistics for evaluation, LayerNorm and GroupNorm need none."""

from __future__ import annotations

from typing import Any

from ..._C import ShapeError
from ...autograd import no_grad
from ...functions.creation import ones, zeros
from ...tensor import Tensor
from ...types import DType, Sizes, int64
from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import Parameter, ParameterOrNone

__all__ = ["BatchNorm1d", "BatchNorm2d", "GroupNorm", "LayerNorm"]


class _BatchNorm(Module):
    """What BatchNorm1d and BatchNorm2d share; they differ in the ranks of their inputs."""

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
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self.register_parameter("weight", Parameter(ones(num_features)) if affine else None)
        self.register_parameter("bias", Parameter(zeros(num_features)) if affine else None)
        tracked = track_running_stats
        self.register_buffer("running_mean", zeros(num_features) if tracked else None)
        self.register_buffer("running_var", ones(num_features) if tracked else None)
        self.register_buffer("num_batches_tracked", zeros((), dtype=int64) if tracked else None)
        self.to(device, dtype)

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
        if self.affine:
            init.ones_(self.weight)
            init.zeros_(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        if x.ndim not in self.ranks:
            raise ShapeError(f"{self.get_name()}: input has shape {list(x.shape)}, expected {self.expected}")
        if x.shape[1] != self.num_features:
            raise ShapeError(
                f"{self.get_name()}: input has shape {list(x.shape)}, expected {self.num_features} channels"
            )
        momentum = 0.0
        if self.training and self.track_running_stats:
            with no_grad():
                self.num_batches_tracked.add_(1)
            # no momentum: the average over all batches
            momentum = 1 / self.num_batches_tracked.item() if self.momentum is None else self.momentum
        used = self.track_running_stats or not self.training
        mean, variance = (self.running_mean, self.running_var) if used else (None, None)
        training = self.training or self.running_mean is None
        return F.batch_norm(x, mean, variance, self.weight, self.bias, training, momentum, self.eps)

    def inner_repr(self) -> str:
        words = f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}"
        return f"{words}, track_running_stats={self.track_running_stats}"


class BatchNorm1d(_BatchNorm):
    """Each feature of [N, C], or channel of [N, C, length], to mean 0 and variance 1; see `functional.batch_norm`.

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
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        shape = self.normalized_shape
        self.register_parameter("weight", Parameter(ones(shape)) if elementwise_affine else None)
        self.register_parameter("bias", Parameter(zeros(shape)) if elementwise_affine and bias else None)
        self.to(device, dtype)

    def forward(self, x: Tensor) -> Tensor:
        return F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)

    def inner_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


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
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        if num_groups < 1 or num_channels % num_groups:
            raise ValueError(f"GroupNorm: {num_channels} channels do not divide into {num_groups} groups")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self.register_parameter("weight", Parameter(ones(num_channels)) if affine else None)
        self.register_parameter("bias", Parameter(zeros(num_channels)) if affine else None)
        self.to(device, dtype)

    def forward(self, x: Tensor) -> Tensor:
        return F.group_norm(x, self.num_groups, self.weight, self.bias, self.eps)

    def inner_repr(self) -> str:
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}"
