"""Losses of a choice among classes, as functions. Shapes: N samples, C classes, ... any further dimensions."""

from __future__ import annotations

import math

import norch
from norch._C import ShapeError
from norch.autograd import fused
from norch.tensor import Tensor

from ._reduction import check_reduction, check_tensors


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """-sum over classes of target * log softmax(input), for logits [N, C, ...] or [C].

    The target holds class indices (an integer dtype, [N, ...]) or probabilities (floating, [N, C, ...]). `weight` [C]
    scales each class; samples whose index is `ignore_index` count for nothing; `label_smoothing` mixes the target
    with the uniform distribution. "mean" divides by the sum of the targets' weights (indices) or by the number of
    samples (probabilities), as in PyTorch. Raises IndexError for a class out of range.
    """
    check_reduction(reduction)
    check_smoothing(label_smoothing)
    check_tensors("cross_entropy", input, target)
    dim = _class_dim("cross_entropy", input)
    soft = target.dtype.is_floating_point
    if weight is None and label_smoothing == 0 and not soft:
        return fused.cross_entropy(input, target, ignore_index, reduction)
    log_p = input.log_softmax(dim)
    if soft:
        if ignore_index >= 0:
            raise RuntimeError(f"cross_entropy: ignore_index {ignore_index} is of no use for a target of probabilities")
        return _probability_loss(log_p, target, weight, reduction, label_smoothing)
    if label_smoothing == 0:
        return nll_loss(log_p, target, weight, ignore_index=ignore_index, reduction=reduction)

    index, counted = _class_index("cross_entropy", target, input, ignore_index)
    scale = _class_weights("cross_entropy", weight, input)
    hard, shares = _chosen(log_p, index, counted, scale)
    even = _expected(norch.full_like(log_p, 1 / input.shape[dim]) * scale, log_p, dim)
    smooth = norch.where(counted, even.unsqueeze(dim), 0.0)
    loss = (1 - label_smoothing) * hard + label_smoothing * smooth
    return _reduced(loss.sum(dim=dim), reduction, shares.sum())


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """-input[class] of each sample, for log-probabilities [N, C, ...] or [C], classes [N, ...]; see cross_entropy."""
    check_reduction(reduction)
    check_tensors("nll_loss", input, target)
    dim = _class_dim("nll_loss", input)
    index, counted = _class_index("nll_loss", target, input, ignore_index)
    loss, shares = _chosen(input, index, counted, _class_weights("nll_loss", weight, input))
    return _reduced(loss.sum(dim=dim), reduction, shares.sum())


def _chosen(log_p, index, counted, scale):
    """-scale * log_p at the class of each sample, 0 where it does not count, and its weight; both [N, 1, ...]."""
    dim = min(1, log_p.ndim - 1)
    loss = -log_p.gather(dim, index)
    if isinstance(scale, float):
        return norch.where(counted, loss, 0.0), counted
    # A class of weight 0 is left out, not multiplied: its log-probability may be -inf.
    shares = norch.where(counted, scale.expand(log_p.shape).gather(dim, index), 0.0)
    return shares * norch.where(shares != 0, loss, 0.0), shares


def _probability_loss(log_p, target, weight, reduction, label_smoothing):
    if target.shape != log_p.shape:
        raise ShapeError(
            f"cross_entropy: target of probabilities has shape {list(target.shape)}, expected that of the logits "
            f"{list(log_p.shape)} (class indices have an integer dtype)"
        )
    dim = _class_dim("cross_entropy", log_p)
    classes = log_p.shape[dim]
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / classes
    loss = _expected(target * _class_weights("cross_entropy", weight, log_p), log_p, dim)
    return _reduced(loss, reduction, math.prod(log_p.shape) // classes if classes else 0)


def _expected(mixture, log_p, dim):
    """-sum(mixture * log_p) along `dim`, where 0 * -inf counts as 0, in the gradients too."""
    impossible = (mixture == 0).logical_and(log_p == -math.inf)
    return -(mixture * norch.where(impossible, 0.0, log_p)).sum(dim=dim)


def _reduced(loss, reduction, total):
    """Each loss, or their sum, or that divided by the total weight of the samples."""
    if reduction == "none":
        return loss
    return loss.sum() / total if reduction == "mean" else loss.sum()


# ---- Classes and samples --------------------------------------------------------------------------------------------


def _class_dim(name: str, scores) -> int:
    """The dimension of the classes: 1 in [N, C, ...], 0 in [C]."""
    if scores.ndim == 0:
        raise ShapeError(f"{name}: input has no dimensions, expected [C] or [N, C, ...]")
    if not scores.dtype.is_floating_point:
        raise TypeError(f"{name}: input has dtype {scores.dtype}, expected a floating dtype")
    return min(1, scores.ndim - 1)


def _classes(scores, values) -> Tensor:
    """A value for each class as a tensor that broadcasts with `scores`: [C] or [C, 1, ...]."""
    return values.reshape([-1] + [1] * (scores.ndim - 2)) if scores.ndim > 2 else values


def _class_weights(name: str, weight, scores):
    """The class weights, ready to broadcast with `scores`; 1 where there are none."""
    if weight is None:
        return 1.0
    classes = scores.shape[_class_dim(name, scores)]
    check_tensors(name, weight)
    if weight.shape != (classes,):
        raise ShapeError(f"{name}: weight has shape {list(weight.shape)}, expected [{classes}], one for each class")
    return _classes(scores, weight)


def _class_index(name: str, target, scores, ignore_index: int) -> tuple[Tensor, Tensor]:
    """The class of each sample along the dimension of the classes, and whether the sample counts; both [N, 1, ...].

    A sample to be ignored gets class 0.
    """
    dim = _class_dim(name, scores)
    check_integers(name, target)
    expected = list(scores.shape[:dim]) + list(scores.shape[dim + 1 :])
    # A lone sample's class is a scalar, which in norch has shape [1].
    if list(target.shape) != expected and not (scores.ndim == 1 and list(target.shape) == [1]):
        raise ShapeError(
            f"{name}: target has shape {list(target.shape)}, expected {expected} for an input of {list(scores.shape)}"
        )
    target = target.long()
    counted = target != ignore_index
    index = target.masked_fill(~counted, 0)
    _check_range(name, index, scores.shape[dim], ignore_index)
    one_each = list(scores.shape[:dim]) + [1] + list(scores.shape[dim + 1 :])
    return index.reshape(one_each), counted.reshape(one_each)


def _check_range(name: str, target, classes: int, ignore_index: int) -> None:
    if not target.numel:
        return
    low, high = target.min().item(), target.max().item()
    if low < 0 or high >= classes:
        wrong = low if low < 0 else high
        raise IndexError(
            f"{name}: target {wrong} is out of range, expected 0 to {classes - 1} or ignore_index {ignore_index}"
        )


def check_integers(name: str, target) -> None:
    """Raise TypeError for a target that holds no class indices."""
    if target.dtype not in (norch.int64, norch.int32, norch.uint8):
        raise TypeError(f"{name}: target has dtype {target.dtype}, expected int64, int32 or uint8")


def check_smoothing(label_smoothing: float) -> float:
    """`label_smoothing` itself, or ValueError."""
    if not 0 <= label_smoothing <= 1:
        raise ValueError(f"label_smoothing is {label_smoothing}, expected 0 to 1")
    return label_smoothing
