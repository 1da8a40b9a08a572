"""Losses of a choice among classes, as functions. Shapes: N samples, C classes, ... any further dimensions."""

from __future__ import annotations

import math
from typing import Any

from ..._C import ShapeError
from ...autograd.derivatives import losses
from ...functions.creation import where
from ...operation import check_range, check_tensor
from ...tensor import Tensor
from .checks import check_integers, check_tensors
from .fused import fused_or
from .linear import linear
from .losses import Flag, reduction_of

__all__ = ["cross_entropy", "linear_cross_entropy", "nll_loss"]


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Flag = None,
    ignore_index: int = -100,
    reduce: Flag = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """-sum over classes of target * log softmax(input), for logits [N, C, ...] or [C].

    The target holds class indices (integers, or whole floats, [N, ...]) or probabilities (floating, [N, C, ...]).
    `weight` [C] scales each class; samples whose index is `ignore_index` count for nothing; `label_smoothing` mixes the
    target with the uniform distribution. The loss has no dimensions, or [N, ...] if reduction is "none", and the dtype
    of the input, which is floating. "mean" divides by the sum of the targets' weights (indices) or by the number of
    samples (probabilities), as in PyTorch. Raises IndexError for a class out of range, ShapeError for a target of
    another shape, RuntimeError for an input of another dtype.

    >>> F.cross_entropy(norch.tensor([[2.0, 1.0], [0.0, 3.0]]), norch.tensor([0, 1]))
    tensor(0.1809)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    check_smoothing(label_smoothing)
    check_tensors("cross_entropy", input, target)
    dim = _class_dim("cross_entropy", input)
    alike = target.shape == input.shape
    if not alike:
        target = _labels(input, target)
    soft = target.is_floating_point()
    if alike and not soft and input.ndim > 1:
        shape, kind = list(target.shape), target.dtype
        raise ShapeError(
            f"cross_entropy: target of shape {shape} has dtype {kind}, expected probabilities (target.float()) or "
            f"one class for each sample, {shape[:dim] + shape[dim + 1 :]}"
        )
    if weight is None and not soft:
        return losses.cross_entropy(input, target, ignore_index, reduction, label_smoothing)
    log_p = input.log_softmax(dim)
    if soft:
        if ignore_index >= 0:
            raise RuntimeError(
                f"cross_entropy: ignore_index {ignore_index} is for class indices, not for probabilities"
            )
        return _probability_loss(log_p, target, weight, reduction, label_smoothing)
    if label_smoothing == 0:
        return nll_loss(log_p, target, weight, ignore_index=ignore_index, reduction=reduction)

    hard, shares, counted = _chosen("cross_entropy", log_p, target, weight, ignore_index)
    scale: Any = _class_weights("cross_entropy", weight, log_p)
    even = losses.share(scale, log_p).sum(dim) / input.shape[dim]
    loss = (1 - label_smoothing) * hard + label_smoothing * where(counted, -even, 0.0)
    return _reduced(loss, reduction, shares.sum(), counted)


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: object = None,
) -> Tensor:
    """`cross_entropy` of the logits `linear(input, linear_weight, linear_bias)`, for an input [N, size] or [size].

    A linear_weight [C, size] has a row for each class; with [C, d1, ..., size] the logits are [N, C, d1, ...]. The
    `options`, which save memory in PyTorch, change nothing. Shapes, dtypes and errors otherwise as for the two; raises
    ShapeError if they do not fit.

    >>> F.linear_cross_entropy(norch.ones(1, 2), norch.zeros(3, 2), norch.tensor([0]))
    tensor(1.0986)
    """
    check_tensors("linear_cross_entropy", input, linear_weight, target)
    if linear_weight.ndim < 2 or (linear_weight.ndim > 2 and input.ndim != 2):
        shapes = f"linear_weight has shape {list(linear_weight.shape)} for an input of {list(input.shape)}"
        raise ShapeError(f"linear_cross_entropy: {shapes}, expected [C, size], or [C, d1, ..., size] for [N, size]")
    outputs = linear_weight.shape[:-1]
    bias = None if linear_bias is None else check_tensor(linear_bias, "linear_cross_entropy").flatten()
    logits = linear(input, linear_weight.flatten(0, -2) if linear_weight.ndim > 2 else linear_weight, bias)
    if len(outputs) > 1:
        logits = logits.unflatten(-1, outputs)
    ignored = -100 if ignore_index is None else ignore_index
    return cross_entropy(
        logits, target, weight, ignore_index=ignored, reduction=reduction, label_smoothing=label_smoothing
    )


def _labels(scores: Tensor, target: Tensor) -> Tensor:
    """Class indices given as whole floats, as int64; any other target as it is."""
    if not target.is_floating_point() or target.ndim >= scores.ndim or (target != target.trunc()).any():
        return target
    return target.long()


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Flag = None,
    ignore_index: int = -100,
    reduce: Flag = None,
    reduction: str = "mean",
) -> Tensor:
    """-input[class] of each sample, for log-probabilities [N, C, ...] or [C], classes [N, ...].

    Options, shapes, dtypes and errors otherwise as for `cross_entropy`.

    >>> F.nll_loss(norch.tensor([[-0.1, -2.0]]), norch.tensor([0]))
    tensor(0.1000)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    if weight is None or getattr(weight, "_edge", None) is None:
        return fused_or(losses.nll, _nll_loss, input, target, weight, ignore_index, reduction)
    return _nll_loss(input, target, weight, ignore_index, reduction)


def _nll_loss(input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: str) -> Tensor:
    check_tensors("nll_loss", input, target)
    target = _labels(input, target)
    loss, shares, counted = _chosen("nll_loss", input, target, weight, ignore_index)
    return _reduced(loss, reduction, shares.sum(), counted)


def _chosen(
    name: str, log_p: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int
) -> tuple[Tensor, Tensor, Tensor]:
    """-weight * log_p at the class of each sample, its weight, and whether it counts; all [N, ...].

    A sample that does not count has the loss and the weight 0.
    """
    dim = _class_dim(name, log_p)
    _check_target(name, target, log_p)
    scale = _class_weights(name, weight, log_p)
    shape, target = target.shape, target.long() if log_p.ndim > 1 else target.long().reshape(1)
    counted = target != ignore_index
    index = where(counted, target, 0)
    try:
        loss = -(log_p.gather(dim, index.unsqueeze(dim)).squeeze(dim) if log_p.ndim > 1 else log_p.gather(0, index))
    except RuntimeError:
        _check_range(name, index, log_p.shape[dim], ignore_index)  # says it in terms of classes
        raise
    if weight is None or scale is None:
        return where(counted, loss, 0.0).reshape(shape), counted, counted.reshape(shape)
    shares = where(counted, weight.take(index), 0.0)
    return losses.share(shares, loss).reshape(shape), shares, counted.reshape(shape)


def _probability_loss(
    log_p: Tensor, target: Tensor, weight: Tensor | None, reduction: str, label_smoothing: float
) -> Tensor:
    if target.shape != log_p.shape:
        raise ShapeError(
            f"cross_entropy: target of probabilities has shape {list(target.shape)}, expected that of the logits "
            f"{list(log_p.shape)} (class indices have an integer dtype)"
        )
    dim = _class_dim("cross_entropy", log_p)
    classes, scale = log_p.shape[dim], _class_weights("cross_entropy", weight, log_p)
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / max(classes, 1)
    shares = losses.share(target if scale is None else target * scale, log_p)
    if reduction == "mean":
        return shares.sum() / -(math.prod(log_p.shape) // classes if classes else 0.0)
    return -(shares.sum(dim=dim) if reduction == "none" else shares.sum())


def _reduced(loss: Tensor, reduction: str, total: Tensor, counted: Tensor) -> Tensor:
    """Each loss, or their sum, or that divided by the total weight of the samples.

    If no sample counts, the mean is NaN and its gradient 0.
    """
    if reduction == "none":
        return loss
    if reduction == "sum":
        return loss.sum()
    nothing = counted.any().logical_not()
    return (loss.sum() / (total + nothing)).masked_fill(nothing, math.nan)


# ---- Classes and samples --------------------------------------------------------------------------------------------


def _class_dim(name: str, scores: Tensor) -> int:
    """The dimension of the classes: 1 in [N, C, ...], 0 in [C]."""
    if scores.ndim == 0:
        raise ShapeError(f"{name}: input has no dimensions, expected [C] or [N, C, ...]")
    if not scores.is_floating_point():
        expected = "a floating dtype: scores come before the labels"
        raise RuntimeError(f"{name}: input has dtype {scores.dtype}, expected {expected}")
    return min(1, scores.ndim - 1)


def _class_weights(name: str, weight: Tensor | None, scores: Tensor) -> Tensor | None:
    """The class weights in a shape that broadcasts with `scores`: [C] or [C, 1, ...]."""
    if weight is None:
        return None
    check_tensors(name, weight)
    classes = scores.shape[_class_dim(name, scores)]
    if weight.shape != (classes,):
        raise ShapeError(f"{name}: weight has shape {list(weight.shape)}, expected [{classes}], one for each class")
    return weight.reshape([-1] + [1] * (scores.ndim - 2)) if scores.ndim > 2 else weight


def _check_target(name: str, target: Tensor, scores: Tensor) -> None:
    """Raise unless the target is a class index for each sample."""
    check_integers(name, "target", target)
    dim = _class_dim(name, scores)
    expected = list(scores.shape[:dim]) + list(scores.shape[dim + 1 :])
    # the class of a single sample may be a scalar, or of shape [1]
    if list(target.shape) != expected and not (scores.ndim == 1 and list(target.shape) == [1]):
        raise ShapeError(
            f"{name}: target has shape {list(target.shape)}, expected {expected} for an input of {list(scores.shape)}"
        )


def _check_range(name: str, target: Tensor, classes: int, ignore_index: int) -> None:
    message = f"{name}: target {{}} is out of range, expected 0 to {classes - 1} or ignore_index {ignore_index}"
    check_range(target, 0, classes - 1, message, IndexError)


def check_smoothing(label_smoothing: float) -> float:
    """`label_smoothing` itself; RuntimeError if it is outside [0, 1]."""
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing is {label_smoothing}, expected 0 to 1")
    return label_smoothing
