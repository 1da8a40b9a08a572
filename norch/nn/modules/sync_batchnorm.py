"""SyncBatchNorm: batch normalization with the statistics of all ranks' batches together."""

from __future__ import annotations

from typing import Any

from ... import distributed as dist
from ..._C import ShapeError
from ...autograd.function import Function
from ...autograd.mode import no_grad
from ...distributed.group import is_initialized, of
from ...functions.creation import tensor
from ...functions.joining import cat
from ...tensor import Tensor
from ...types import DType, contiguous_format, float64
from ..module import Module
from .normalization import _BatchNorm

__all__ = ["SyncBatchNorm"]


class _Total(Function):
    """The sum of a tensor over the ranks. Each rank's result depends on it, so its gradient is summed over them too."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Any) -> Tensor:
        ctx.group = group
        total = x.clone(memory_format=contiguous_format)
        dist.all_reduce(total, group=group)
        return total

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return _Total.apply(gradient, ctx.group), None


class SyncBatchNorm(_BatchNorm):
    """Each channel of [N, C, ...] to mean 0 and variance 1 over the batches of all ranks, as if they were one batch.

    Options and buffers as for `BatchNorm1d`; batches may have different sizes. In evaluation, in one process and
    without a process group it is a BatchNorm. `convert_sync_batchnorm` replaces the layers of a model. Raises
    ShapeError for other shapes.

    >>> nn.SyncBatchNorm(2)(norch.tensor([[1.0, 10.0], [3.0, 30.0]])).detach()
    tensor([[-1.0000, -1.0000],
            [ 1.0000,  1.0000]])
    """

    ranks, expected = tuple(range(2, 9)), "[N, C, ...]"

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: str | int | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def forward(self, input: Tensor) -> Tensor:
        group = of(self.process_group) if self.process_group is not None or is_initialized() else None
        if group is None or group.size() == 1 or not (self.training or self.running_mean is None):
            return super().forward(input)
        if self._channels_of(input) != self.num_features:
            raise ShapeError(
                f"{self.get_name()}: input has shape {list(input.shape)}, expected {self.num_features} channels"
            )
        axes = [d for d in range(input.ndim) if d != 1]
        shape = [1, -1, *[1] * (input.ndim - 2)]
        count = tensor([input.numel() / self.num_features], dtype=float64, device=input.device)
        sums = _Total.apply(cat([input.double().sum(axes), count]), self.process_group)
        count, mean = sums[-1].detach(), sums[:-1] / sums[-1].detach()
        centered = input.double() - mean.reshape(shape)
        variance = _Total.apply((centered * centered).sum(axes), self.process_group) / count
        if self.training and self.track_running_stats:
            self._remember(mean.detach(), variance.detach() * (count / (count - 1)))
        result = (centered * ((variance + self.eps) ** -0.5).reshape(shape)).to(input.dtype)
        if self.weight is not None:
            result = result * self.weight.reshape(shape)
        return result if self.bias is None else result + self.bias.reshape(shape)

    def _remember(self, mean: Tensor, variance: Tensor) -> None:
        """Move the running statistics towards those of this batch, the variance with n - 1."""
        with no_grad():
            self.num_batches_tracked += 1
            share = 1 / self.num_batches_tracked.double() if self.momentum is None else self.momentum
            for running, new in ((self.running_mean, mean), (self.running_var, variance)):
                running.copy_(running * (1 - share) + new.to(running.dtype) * share)

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """The module with a SyncBatchNorm, which has the same parameters and buffers, for each of its BatchNorms.

        >>> model = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)))
        >>> type(model[1]).__name__
        'SyncBatchNorm'
        """
        made = module
        if isinstance(module, _BatchNorm) and not isinstance(module, SyncBatchNorm):
            made = cls(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
            )
            for name in ("weight", "bias", "running_mean", "running_var", "num_batches_tracked"):
                setattr(made, name, getattr(module, name))
            made.training = module.training
        for name, child in module.named_children():
            setattr(made, name, cls.convert_sync_batchnorm(child, process_group))
        return made
