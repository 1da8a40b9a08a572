"""Normalization as functions: to mean 0 and variance 1 over a batch, a layer, or groups of channels."""

from __future__ import annotations

import math
from typing import Sequence

from ..._C import ShapeError
from ...autograd import no_grad
from ...autograd.derivatives.normalization import normalize
from ...tensor import Tensor
from ...types import Sizes
from .checks import check_floating

__all__ = ["batch_norm", "group_norm", "layer_norm"]


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

    When training, mean and variance are those of the batch (the variance divided by n), and the running ones, if
    given, move towards them in place: running += momentum * (batch - running), with the variance divided by n - 1.
    Otherwise they are the running ones. Formula: Ioffe and Szegedy, "Batch normalization" (2015). All have one floating
    dtype. Raises ValueError for a batch of one value a channel when training, ShapeError for statistics or weights of
    other shapes, RuntimeError for another dtype.

    >>> x = norch.tensor([[1.0, 10.0], [3.0, 30.0]])
    >>> F.batch_norm(x, None, None, training=True)
    tensor([[-1.0000, -1.0000],
            [ 1.0000,  1.0000]])
    """
    check_floating("batch_norm", x)
    if x.ndim < 2:
        raise ShapeError(f"batch_norm: input has shape {list(x.shape)}, expected [N, C, ...]")
    channels = x.shape[1]
    _check_sizes("batch_norm", [channels], running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    if not training:
        if running_mean is None or running_var is None:
            raise ValueError("batch_norm: expected running_mean and running_var when not training")
        scale = (running_var + eps).rsqrt()
        scale = scale if weight is None else scale * weight
        shift = -running_mean * scale if bias is None else bias - running_mean * scale
        return _affine(x, scale, shift, _by_channel(x))
    count = x.numel // max(channels, 1)
    if count < 2:
        raise ValueError(
            f"batch_norm: input has shape {list(x.shape)}, expected more than one value a channel in training"
        )
    result, mean, variance = normalize(x, weight, bias, x.shape[0], channels, True, eps)
    with no_grad():
        for running, batch in ((running_mean, mean), (running_var, variance * (count / (count - 1)))):
            if running is not None:
                running.mul_(1 - momentum).add_(batch * momentum)
    return result


def layer_norm(
    x: Tensor, normalized_shape: Sizes, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """(x - mean) / sqrt(var + eps) * weight + bias over the last dimensions, of the sizes `normalized_shape`.

    Weight and bias have that shape. The variance is divided by n. Formula: Ba, Kiros and Hinton, "Layer normalization"
    (2016). All have one floating dtype. Raises ShapeError if the input does not end in that shape, RuntimeError for
    another dtype.

    >>> F.layer_norm(norch.tensor([[1.0, 3.0], [10.0, 30.0]]), [2])
    tensor([[-1.0000,  1.0000],
            [-1.0000,  1.0000]])
    """
    check_floating("layer_norm", x)
    shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    if not shape or x.ndim < len(shape) or list(x.shape[-len(shape) :]) != shape:
        raise ShapeError(f"layer_norm: input has shape {list(x.shape)}, expected one that ends in {shape}")
    _check_sizes("layer_norm", shape, weight=weight, bias=bias)
    if x.numel == 0:
        return _affine(x, weight, bias, shape)
    rows = x.numel // math.prod(shape)
    if weight is None:  # the kernel takes a bias only with a weight
        return _affine(normalize(x, None, None, 1, rows, False, eps)[0], None, bias, shape)
    return normalize(x, weight, bias, 1, rows, False, eps)[0]


def group_norm(
    x: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """layer_norm over each of `num_groups` parts of the channels of x [N, C, ...]; weight and bias are [C].

    Formula: Wu and He, "Group normalization" (2018). All have one floating dtype. Raises ShapeError if the channels do
    not divide into the groups, RuntimeError for another dtype.

    >>> F.group_norm(norch.tensor([[1.0, 3.0, 10.0, 30.0]]), num_groups=2)
    tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """
    check_floating("group_norm", x)
    if x.ndim < 2 or num_groups < 1 or x.shape[1] % num_groups:
        raise ShapeError(f"group_norm: input has shape {list(x.shape)}, expected [N, C, ...], C in {num_groups} groups")
    _check_sizes("group_norm", [x.shape[1]], weight=weight, bias=bias)
    if x.numel:
        normal = normalize(x, None, None, 1, x.shape[0] * num_groups, True, eps)[0]
    else:
        normal = x
    return _affine(normal, weight, bias, _by_channel(x))


def _by_channel(x: Tensor) -> list[int]:
    """The shape in which [C] broadcasts with x [N, C, ...]."""
    return [1, x.shape[1]] + [1] * (x.ndim - 2)


def _affine(x: Tensor, weight: Tensor | None, bias: Tensor | None, shape: Sequence[int]) -> Tensor:
    x = x if weight is None else x * weight.reshape(shape)
    return x if bias is None else x + bias.reshape(shape)


def _check_sizes(name: str, shape: list[int], **tensors: Tensor | None) -> None:
    for what, tensor in tensors.items():
        if tensor is not None and list(tensor.shape) != shape:
            raise ShapeError(f"{name}: {what} has shape {list(tensor.shape)}, expected {shape}")
