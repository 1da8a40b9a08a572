"""Normalization as functions: to mean 0 and variance 1 over a batch, a layer, or groups of channels."""

from __future__ import annotations

import math
from typing import Any, Sequence

from norch._C import ShapeError
from norch.autograd import no_grad
from norch.tensor import Tensor


def batch_norm(
    x: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """(x - mean) / sqrt(var + eps) * weight + bias for each channel of x [N, C, ...]; all others are [C].

    When training, mean and variance are those of the batch (the variance divided by n), and the running ones, where
    given, move towards them in place: running += momentum * (batch - running), with the variance divided by n - 1.
    Otherwise they are the running ones. Formula: Ioffe and Szegedy, "Batch normalization" (2015). Raises ValueError for
    a batch of one value a channel when training.
    """
    _check("batch_norm", x)
    if x.ndim < 2:
        raise ShapeError(f"batch_norm: input has shape {list(x.shape)}, expected [N, C, ...]")
    channels = x.shape[1]
    _check_sizes("batch_norm", [channels], running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    shape, axes = [1, channels] + [1] * (x.ndim - 2), (0, *range(2, x.ndim))
    if not training:
        if running_mean is None or running_var is None:
            raise ValueError("batch_norm: expected running_mean and running_var when not training")
        scale = (running_var + eps).rsqrt()
        scale = scale if weight is None else scale * weight
        shift = -running_mean * scale if bias is None else bias - running_mean * scale
        return x * scale.reshape(shape) + shift.reshape(shape)
    count = math.prod(x.shape) // max(channels, 1)
    if count == 1:
        raise ValueError(
            f"batch_norm: input has shape {list(x.shape)}, expected more than one value a channel in training"
        )
    result, mean, variance = _standardized(x, axes, eps)
    with no_grad():
        for running, batch in ((running_mean, mean), (running_var, variance * (count / max(count - 1, 1)))):
            if running is not None:
                running.mul_(1 - momentum).add_(batch.reshape(channels) * momentum)
    return _affine(result, weight, bias, shape)


def layer_norm(
    x: Tensor,
    normalized_shape: Any,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """(x - mean) / sqrt(var + eps) * weight + bias over the last dimensions, of the sizes `normalized_shape`.

    Weight and bias have that shape. The variance is divided by n. Formula: Ba, Kiros and Hinton, "Layer normalization"
    (2016).
    """
    _check("layer_norm", x)
    shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    if not shape or x.ndim < len(shape) or list(x.shape[-len(shape) :]) != shape:
        raise ShapeError(f"layer_norm: input has shape {list(x.shape)}, expected one that ends in {shape}")
    _check_sizes("layer_norm", shape, weight=weight, bias=bias)
    result, _, _ = _standardized(x, tuple(range(-len(shape), 0)), eps)
    return _affine(result, weight, bias, shape)


def group_norm(
    x: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """layer_norm over each of `num_groups` parts of the channels of x [N, C, ...]; weight and bias are [C].

    Formula: Wu and He, "Group normalization" (2018).
    """
    _check("group_norm", x)
    if x.ndim < 2 or num_groups < 1 or x.shape[1] % num_groups:
        raise ShapeError(f"group_norm: input has shape {list(x.shape)}, expected [N, C, ...], C in {num_groups} groups")
    channels = x.shape[1]
    _check_sizes("group_norm", [channels], weight=weight, bias=bias)
    parts = x.reshape(x.shape[0], num_groups, math.prod(x.shape[1:]) // num_groups)
    result, _, _ = _standardized(parts, (2,), eps)
    return _affine(result.reshape(x.shape), weight, bias, [1, channels] + [1] * (x.ndim - 2))


def _standardized(x: Tensor, axes: Sequence[int], eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """(x - mean) / sqrt(var + eps) over the axes; and mean and var, with their axes as size 1 and without a graph."""
    mean = x.mean(axes, keepdim=True)
    centred = x - mean
    variance = (centred * centred).mean(axes, keepdim=True)
    return centred * (variance + eps).rsqrt(), mean.detach(), variance.detach()


def _affine(x: Tensor, weight: Tensor | None, bias: Tensor | None, shape: Sequence[int]) -> Tensor:
    x = x if weight is None else x * weight.reshape(shape)
    return x if bias is None else x + bias.reshape(shape)


def _check(name: str, x: Any) -> None:
    if not isinstance(x, Tensor):
        raise TypeError(f"{name} was given a {type(x).__name__}, expected a Tensor")
    if not x.dtype.is_floating_point:
        raise RuntimeError(f"{name}: expected a floating dtype, got {x.dtype}")


def _check_sizes(name: str, shape: list[int], **tensors: Tensor | None) -> None:
    for what, tensor in tensors.items():
        if tensor is not None and list(tensor.shape) != shape:
            raise ShapeError(f"{name}: {what} has shape {list(tensor.shape)}, expected {shape}")
