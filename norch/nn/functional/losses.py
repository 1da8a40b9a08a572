"""Losses of two tensors of one shape, as functions: how far each prediction is from what it should be."""

from __future__ import annotations

import warnings

import norch
from norch._C import ShapeError
from norch.autograd.derivatives import losses
from norch.tensor import Tensor

from .reduction import REDUCTIONS, check_pair, check_reduction, check_tensors, check_weight, reduced

# ---- Distances ------------------------------------------------------------------------------------------------------


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """(input - target)^2, reduced: "mean", "sum" or "none".

    Both have one shape and a floating dtype; the loss has shape [1], or theirs where reduction is "none". Raises
    ShapeError where the shapes differ, RuntimeError for the mean of integers.

    >>> F.mse_loss(norch.tensor([1.0, 2.0]), norch.tensor([1.0, 4.0]))
    tensor([2.])
    """
    if reduction not in REDUCTIONS:
        check_reduction(reduction)
    if not isinstance(input, Tensor) or not isinstance(target, Tensor):
        check_tensors("mse_loss", input, target)
    result = None if reduction == "none" else losses.mse(input, target, reduction)
    if result is not None:
        return result
    if target.shape != input.shape:
        raise ShapeError(f"Labels and predictions shape does not match: {list(target.shape)} and {list(input.shape)}")
    return reduced((input - target) ** 2, reduction)


def l1_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """|input - target|, reduced.

    Both have one shape and a floating dtype; the loss has shape [1], or theirs where reduction is "none". Raises
    ShapeError where the shapes differ, TypeError for another dtype.

    >>> F.l1_loss(norch.tensor([1.0, 2.0]), norch.tensor([1.0, 4.0]))
    tensor([1.])
    """
    check_pair("l1_loss", input, target, reduction)
    return reduced((input - target).abs(), reduction)


def smooth_l1_loss(input: Tensor, target: Tensor, *, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """d^2 / (2 beta) where |d| < beta, else |d| - beta / 2, for d = input - target; reduced. (Girshick 2015.)

    With beta 0 that is `l1_loss`. Both have one shape and a floating dtype; the loss has shape [1], or theirs where
    reduction is "none". Raises ShapeError where the shapes differ, TypeError for another dtype, RuntimeError for a beta
    below 0.

    >>> F.smooth_l1_loss(norch.tensor([0.5, 10.0]), norch.zeros(2), reduction="none")
    tensor([0.1250, 9.5000])
    """
    if not beta >= 0:
        raise RuntimeError(f"smooth_l1_loss: beta is {beta}, expected at least 0")
    if beta == 0:
        return l1_loss(input, target, reduction=reduction)
    check_pair("smooth_l1_loss", input, target, reduction)
    return reduced(losses.huber(input - target, beta), reduction) / beta


def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2), for d = input - target; reduced. (Huber 1964.)

    Both have one shape and a floating dtype; the loss has shape [1], or theirs where reduction is "none". Raises
    ShapeError where the shapes differ, TypeError for another dtype, RuntimeError for a delta that is
    not above 0.

    >>> F.huber_loss(norch.tensor([0.5, 10.0]), norch.zeros(2), reduction="none")
    tensor([0.1250, 9.5000])
    """
    if not delta > 0:
        raise RuntimeError(f"huber_loss: delta is {delta}, expected above 0")
    check_pair("huber_loss", input, target, reduction)
    return reduced(losses.huber(input - target, delta), reduction)


# ---- Probabilities --------------------------------------------------------------------------------------------------


def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, *, reduction: str = "mean"
) -> Tensor:
    """-weight (target log(input) + (1 - target) log(1 - input)), reduced, with no logarithm below -100.

    Both have one shape and a floating dtype; the loss has shape [1], or theirs where reduction is "none". Raises
    ShapeError where the shapes differ, TypeError for another dtype, RuntimeError for an input that is no
    probability. The weight broadcasts to the input's shape.

    >>> F.binary_cross_entropy(norch.tensor([0.5, 0.9]), norch.tensor([1.0, 1.0]))
    tensor([0.3993])
    """
    check_pair("binary_cross_entropy", input, target, reduction)
    if input.numel:
        low, high = input.detach().min().item(), input.detach().max().item()
        if not (low >= 0 and high <= 1):  # true of NaN too
            wrong = high if low >= 0 else low
            raise RuntimeError(f"binary_cross_entropy: input {wrong} is no probability, expected 0 to 1")
    return reduced(_weighted("binary_cross_entropy", losses.bce(input, target), weight), reduction)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """-weight (pos_weight target log s(x) + (1 - target) log s(-x)), reduced; x is the input (logits), s the sigmoid.

    It is the binary cross-entropy of s(x), computed so that neither large logits nor small ones overflow. Both weights
    broadcast to the input's shape; a pos_weight above 1 makes it worse to miss a target of 1.
    Shapes, dtypes and errors as for `binary_cross_entropy`, but any number will do.

    >>> F.binary_cross_entropy_with_logits(norch.tensor([0.0, 100.0]), norch.tensor([1.0, 1.0]))
    tensor([0.3466])
    """
    name = "binary_cross_entropy_with_logits"
    check_pair(name, input, target, reduction)
    if pos_weight is None:
        loss = losses.bce_with_logits(input, target)
    else:
        check_weight(name, pos_weight, input)
        loss = (1 - target) * losses.bce_with_logits(input, 0.0)
        loss = loss + pos_weight * target * losses.bce_with_logits(input, 1.0)
    return reduced(_weighted(name, loss, weight), reduction)


def _weighted(name: str, loss: Tensor, weight: Tensor | None) -> Tensor:
    if weight is None:
        return loss
    check_weight(name, weight, loss)
    return loss * weight


def kl_div(input: Tensor, target: Tensor, *, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """target (log(target) - input), the divergence of Kullback and Leibler, for an input of log-probabilities; reduced.

    With `log_target` the target holds logarithms too. A probability of 0 costs nothing. "batchmean" divides the sum by
    the size of the first dimension, as the definition does; "mean", which divides by the number of elements, warns.
    Both have one shape and a floating dtype; the loss has shape [1], or theirs where reduction is "none". Raises
    ShapeError where the shapes differ, TypeError for another dtype.

    >>> F.kl_div(norch.tensor([[0.5, 0.5]]).log(), norch.tensor([[1.0, 0.0]]), reduction="sum")
    tensor([0.6931])
    """
    check_pair("kl_div", input, target, "sum" if reduction == "batchmean" else reduction)
    if reduction == "mean":
        warnings.warn(
            "kl_div: the reduction 'mean' divides by the number of elements; 'batchmean' divides by the number of "
            "samples, as the definition of the divergence does",
            stacklevel=2,
        )
    if log_target:
        loss = target.exp() * (target - input)
    else:
        loss = target * norch.where(target == 0, 1.0, target).log() - losses.share(target, input)
    if reduction == "batchmean":
        return loss.sum() / input.shape[0] if input.ndim else loss.sum()
    return reduced(loss, reduction)
