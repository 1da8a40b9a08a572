"""Normalization as functions: over a batch, a layer, groups of channels or neighbouring ones, or to a norm of 1."""

from __future__ import annotations

import math
from functools import partial
from typing import Sequence

from ..._C import ShapeError, lib
from ...arguments import flags, one_size, sizes_of
from ...autocasting import under_autocast
from ...autograd import no_grad
from ...autograd.derivatives import normalization as kernels
from ...functions.out import into
from ...functions.promotion import finfo
from ...operation import address, assigning, at_once, check_tensor
from ...tensor import Tensor
from ...types import Sizes
from .checks import check_floats, check_tensors
from .padding import pad
from .pooling import avg_pool2d

__all__ = [
    "batch_norm",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "local_response_norm",
    "normalize",
    "rms_norm",
]


@flags
def batch_norm(
    input: Tensor,
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
    dtype. Raises ValueError for a batch of one value a channel or no `eps` when training, ShapeError for statistics
    or weights of other shapes, RuntimeError for another dtype, or if statistics are missing.

    >>> x = norch.tensor([[1.0, 10.0], [3.0, 30.0]])
    >>> F.batch_norm(x, None, None, training=True)
    tensor([[-1.0000, -1.0000],
            [ 1.0000,  1.0000]])
    """
    return _batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def _batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None,
    bias: Tensor | None,
    training: bool,
    momentum: float | Tensor,
    eps: float,
    batches: tuple[Tensor, Tensor] | None = None,
) -> Tensor:
    """The same for a layer, which counts: `batches` are a tensor and what it becomes together with the statistics."""
    check_floats("batch_norm", input)
    if input.numel == 0:
        for x in (running_mean, running_var, weight, bias):
            _ = x is None or check_tensor(x, "batch_norm")
        _move([], momentum, 1.0, batches)
        return _affine(input.clone(), weight, bias, _by_channel(input)) if input.ndim > 1 else input.clone()
    if input.ndim < 2:
        raise ShapeError(f"batch_norm: input has shape {list(input.shape)}, expected [N, C, ...]")
    if eps < 0 or (training and eps == 0):
        raise ValueError(f"batch_norm: eps is {eps}, expected a number above 0, or 0 when not training")
    channels = input.shape[1]
    _check_sizes("batch_norm", [channels], running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    if not training:
        if running_mean is None or running_var is None:
            raise RuntimeError("batch_norm: expected running_mean and running_var when not training")
        others, dtype = (running_mean, running_var, weight, bias), input.dtype
        mixed = [x for x in others if x is not None and x.dtype is not dtype]
        if not mixed and running_mean._edge is running_var._edge is None:
            return kernels.normalize_by(input, weight, bias, running_mean, running_var, eps)
        shape = _by_channel(input)
        rate = (running_var + eps).rsqrt()
        return _affine((input - running_mean.reshape(shape)) * rate.reshape(shape), weight, bias, shape)
    count = input.numel // max(channels, 1)
    if count < 2:
        raise ValueError(
            f"batch_norm: input has shape {list(input.shape)}, expected more than one value a channel in training"
        )

    def move(mean: Tensor, variance: Tensor) -> None:
        _move([(running_mean, mean), (running_var, variance)], momentum, count / (count - 1), batches)

    return kernels.normalize(input, weight, bias, input.shape[0], channels, kernels.BY_GROUP, eps, move)[0]


@flags
def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """(x - mean) / sqrt(var + eps) * weight + bias for each channel of each sample of x [N, C, ...]; others are [C].

    Mean and variance (divided by n) are those of the elements; the running ones, if given, move towards their averages
    over the samples as in `batch_norm`. Without `use_input_stats` they are the running ones. Formula: Ulyanov and
    others, "Instance normalization" (2016). All have one floating dtype. Raises ValueError for one element a channel,
    ShapeError for statistics or weights of other shapes, RuntimeError for another dtype.

    >>> F.instance_norm(norch.tensor([[[1.0, 3.0], [10.0, 30.0]]]))
    tensor([[[-1.0000,  1.0000],
             [-1.0000,  1.0000]]])
    """
    check_floats("instance_norm", input)
    if input.ndim < 2:
        raise ShapeError(f"instance_norm: input has shape {list(input.shape)}, expected [N, C, ...]")
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    samples, channels, count = *input.shape[:2], math.prod(input.shape[2:])
    state = {"running_mean": running_mean, "running_var": running_var}
    _check_sizes("instance_norm", [channels], **state, weight=weight, bias=bias)
    if count == 1:
        raise ValueError(
            f"instance_norm: input has shape {list(input.shape)}, expected more than one element a channel of a sample"
        )
    if input.numel == 0:
        return _affine(input.clone(), weight, bias, _by_channel(input))
    settings = 1, samples * channels, kernels.BY_CHANNEL, eps
    result, mean, variance = kernels.normalize(input, weight, bias, *settings)
    if running_mean is not None or running_var is not None:
        means, variances = (of_all.reshape(samples, channels).mean(0) for of_all in (mean, variance))
        _move([(running_mean, means), (running_var, variances)], momentum, count / (count - 1))
    return result


def _move(
    moves: list[tuple[Tensor | None, Tensor]],
    momentum: float | Tensor,
    factor: float,
    batches: tuple[Tensor, Tensor] | None = None,
) -> None:
    """Move the running mean and variance towards new ones, this times a factor, and count the batch, at once."""
    counted = [] if batches is None else [batches]
    if moves and not isinstance(momentum, Tensor):
        (mean, new_mean), (variance, new_variance) = moves
        statistics = address(mean), new_mean._ptr, address(variance), new_variance._ptr
        calls = [partial(lib.move_statistics, *statistics, momentum, factor)]
        calls += [assigning([old], [new]) for old, new in counted]
        return at_once(*calls)
    with no_grad():
        pairs = [(x, _moved(x, new, momentum, scale)) for (x, new), scale in zip(moves, (1.0, factor)) if x is not None]
    pairs += counted
    at_once(assigning([old for old, _ in pairs], [new for _, new in pairs]))


def _moved(x: Tensor, new: Tensor, momentum: float | Tensor, factor: float) -> Tensor:
    return kernels.scale_and_shift(new, momentum * factor, x * (1 - momentum)).to(x.dtype)


def layer_norm(
    input: Tensor, normalized_shape: Sizes, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """(x - mean) / sqrt(var + eps) * weight + bias over the last dimensions, of the sizes `normalized_shape`.

    Weight and bias have that shape. The variance is divided by n. Formula: Ba, Kiros and Hinton, "Layer normalization"
    (2016). All have one floating dtype. Raises ShapeError if the input does not end in that shape, RuntimeError for
    another dtype.

    >>> F.layer_norm(norch.tensor([[1.0, 3.0], [10.0, 30.0]]), [2])
    tensor([[-1.0000,  1.0000],
            [-1.0000,  1.0000]])
    """
    check_floats("layer_norm", input)
    shape = sizes_of((normalized_shape,), "layer_norm")
    if not shape or list(input.shape)[-len(shape) :] != shape:
        raise ShapeError(f"layer_norm: input has shape {list(input.shape)}, expected one that ends in {shape}")
    _check_sizes("layer_norm", shape, weight=weight, bias=bias)
    count = input.numel
    if count == 0:
        return _affine(input, weight, bias, shape)
    in_kernel = None if weight is None else bias  # which takes a bias only with a weight
    result = kernels.normalize(input, weight, in_kernel, 1, count // math.prod(shape), kernels.BY_PLACE, eps)[0]
    return result if in_kernel is bias else _affine(result, None, bias, shape)


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """layer_norm over each of `num_groups` parts of the channels of x [N, C, ...]; weight and bias are [C].

    Formula: Wu and He, "Group normalization" (2018). All have one floating dtype. Raises ShapeError if the channels do
    not divide into the groups, ValueError if a part of a single sample has one element, RuntimeError for another dtype.

    >>> F.group_norm(norch.tensor([[1.0, 3.0, 10.0, 30.0]]), num_groups=2)
    tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """
    check_floats("group_norm", input)
    num_groups = one_size(num_groups, "group_norm")
    if input.ndim < 2 or num_groups < 1 or input.shape[1] % num_groups:
        raise ShapeError(
            f"group_norm: input has shape {list(input.shape)}, expected [N, C, ...], C in {num_groups} groups"
        )
    if input.numel == num_groups and input.shape[0] == 1:
        raise ValueError(
            f"group_norm: input has shape {list(input.shape)}, expected more than one element in each of the "
            f"{num_groups} groups"
        )
    _check_sizes("group_norm", [input.shape[1]], weight=weight, bias=bias)
    if input.numel == 0:
        return _affine(input, weight, bias, _by_channel(input))
    return kernels.normalize(input, weight, bias, 1, input.shape[0] * num_groups, kernels.BY_CHANNEL, eps)[0]


def rms_norm(input: Tensor, normalized_shape: Sizes, weight: Tensor | None = None, eps: float | None = None) -> Tensor:
    """x / sqrt(mean(x^2) + eps) * weight over the last dimensions, of the sizes `normalized_shape`.

    The weight has that shape; an `eps` of None is the distance from 1 to the next number of the dtype, for 16 bits of
    float32, which they are computed in. Formula: Zhang and Sennrich, "Root mean square layer normalization" (2019). All
    have one floating dtype. Raises ShapeError if the input does not end in that shape, RuntimeError for another dtype.

    >>> F.rms_norm(norch.tensor([[1.0, 1.0], [10.0, 10.0]]), [2])
    tensor([[1., 1.],
            [1., 1.]])
    """
    check_floats("rms_norm", input)
    shape = sizes_of((normalized_shape,), "rms_norm")
    if not shape or input.ndim < len(shape) or list(input.shape[-len(shape) :]) != shape:
        raise ShapeError(f"rms_norm: input has shape {list(input.shape)}, expected one that ends in {shape}")
    _check_sizes("rms_norm", shape, weight=weight)
    last = tuple(range(-len(shape), 0))
    x = input.float() if input.dtype.itemsize < 4 else input  # squares of halves overflow
    x = x.contiguous()
    squares = (x * x).mean(last, keepdim=True)
    result = x * (squares + (finfo(x.dtype).eps if eps is None else eps)).rsqrt()
    return (result if weight is None else result * weight).to(input.dtype)


def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """x / (k + alpha * mean(x^2))^beta, the mean over `size` neighbouring channels of x [N, C, ...].

    Beyond the first and last channel there are zeros. In the dtype of x; integers give float32. Formula: Krizhevsky,
    Sutskever and Hinton, "ImageNet classification with deep convolutional neural networks" (2012). Raises ShapeError
    for fewer than 3 dimensions.

    >>> F.local_response_norm(norch.ones(1, 2, 1), size=2, alpha=2.0, beta=1.0).flatten()
    tensor([0.5000, 0.3333])
    """
    check_tensors("local_response_norm", input)
    if input.ndim < 3:
        raise ShapeError(f"local_response_norm: input has shape {list(input.shape)}, expected [N, C, ...]")
    if input.numel == 0:
        return input
    images = (input * input).flatten(2).unsqueeze(1)  # [N, 1, C, all others]
    padded = pad(images, (0, 0, size // 2, (size - 1) // 2))
    mean = avg_pool2d if input.ndim == 3 else _mean_of_images
    return input / (mean(padded, (size, 1), stride=1).reshape(input.shape) * alpha + k) ** beta


_mean_of_images = under_autocast(avg_pool2d, "avg_pool3d")  # which PyTorch calls there


def normalize(
    input: Tensor, p: float = 2.0, dim: int | Sequence[int] = 1, eps: float = 1e-12, out: Tensor | None = None
) -> Tensor:
    """x divided by its p-norm over `dim`, or by `eps` if that is larger; in the shape and dtype of x, floating.

    Raises IndexError for a dim out of range, RuntimeError for another dtype.

    >>> F.normalize(norch.tensor([[3.0, 4.0]]))
    tensor([[0.6000, 0.8000]])
    """
    check_floats("normalize", input)
    return into(out, input / input.norm(p, dim, keepdim=True).clamp(min=eps), "normalize")


def _by_channel(x: Tensor) -> list[int]:
    """The shape in which [C] broadcasts with x [N, C, ...]."""
    return [1, x.shape[1]] + [1] * (x.ndim - 2)


def _affine(x: Tensor, weight: Tensor | None, bias: Tensor | None, shape: Sequence[int]) -> Tensor:
    x = x if weight is None else x * weight.reshape(shape)
    return x if bias is None else x + bias.reshape(shape)


def _check_sizes(name: str, shape: list[int], **tensors: Tensor | None) -> None:
    size = tuple(shape)
    for what, tensor in tensors.items():
        if tensor is None or tuple.__eq__(getattr(tensor, "shape", ()), size) is True:
            continue
        check_tensors(f"{name}: {what}", tensor)
        raise ShapeError(f"{name}: {what} has shape {list(tensor.shape)}, expected {shape}")
