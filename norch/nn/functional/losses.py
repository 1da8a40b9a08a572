"""Losses of two tensors of one shape, as functions: how far each prediction is from its target."""

from __future__ import annotations

from typing import Optional

from ..._C import ShapeError
from ...arguments import broadcast_shapes, flags, plain_number
from ...autograd.derivatives import losses
from ...functions.creation import where
from ...given import to_floating, warn
from ...operation import check_range
from ...tensor import Tensor
from ...types import shown
from .checks import check_tensors
from .fused import fused_or

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "mse_loss",
    "smooth_l1_loss",
]

Flag = Optional[bool]  # of size_average and reduce, the old names of reductions

# ---- Distances ------------------------------------------------------------------------------------------------------


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: Flag = None,
    reduce: Flag = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """(input - target)^2, reduced: "mean", "sum" or "none".

    The two broadcast, with a warning if their shapes differ, and have a floating dtype; the loss has no dimensions, or
    their shape if reduction is "none". A `weight` of the losses' shape scales each; "mean" then divides by its sum.
    Raises ShapeError if the shapes do not fit, RuntimeError for the mean of integers.

    >>> F.mse_loss(norch.tensor([1.0, 2.0]), norch.tensor([1.0, 4.0]))
    tensor(2.)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    if reduction == "none" or weight is not None:  # the kernel always reduces
        return _mse(input, target, reduction, weight)
    return fused_or(losses.mse, _mse, input, target, reduction)


def _mse(input: Tensor, target: Tensor, reduction: str, weight: Tensor | None = None) -> Tensor:
    check_tensors("mse_loss", input, target)
    if reduction == "mean" and not target.is_floating_point():  # or mean() would say it, of the squares
        _check_floating("mse_loss", input, target)
    input, target = _broadcast("mse_loss", input, target)
    return _mean_of_weighted((input - target) ** 2, input, weight, reduction)


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: Flag = None,
    reduce: Flag = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """|input - target|, reduced.

    Shapes and the weight as for `mse_loss`; raises ShapeError if the shapes do not fit, RuntimeError for another
    dtype.

    >>> F.l1_loss(norch.tensor([1.0, 2.0]), norch.tensor([1.0, 4.0]))
    tensor(1.)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    if reduction == "none" or weight is not None:
        return _l1(input, target, reduction, weight)
    return fused_or(losses.l1_loss, _l1, input, target, reduction)


def _l1(input: Tensor, target: Tensor, reduction: str, weight: Tensor | None = None) -> Tensor:
    input, target = _pair_of_floats("l1_loss", input, target)
    return _mean_of_weighted((input - target).abs(), input, weight, reduction)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: Flag = None,
    reduce: Flag = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """d^2 / (2 beta) where |d| < beta, else |d| - beta / 2, for d = input - target; reduced. (Girshick 2015.)

    With beta 0 that is |d|. Shapes, dtypes and errors as for `l1_loss`; raises RuntimeError unless beta >= 0.

    >>> F.smooth_l1_loss(norch.tensor([0.5, 10.0]), norch.zeros(2), reduction="none")
    tensor([0.1250, 9.5000])
    """
    beta = plain_number(beta, "smooth_l1_loss: beta")
    if not beta >= 0:
        raise RuntimeError(f"smooth_l1_loss: beta is {beta}, expected at least 0")
    reduction = reduction_of(size_average, reduce, reduction)
    if reduction == "none" or beta == 0:
        return _smooth_l1(input, target, reduction, beta)
    return fused_or(losses.smooth_l1_loss, _smooth_l1, input, target, reduction, beta)


def _smooth_l1(input: Tensor, target: Tensor, reduction: str, beta: float) -> Tensor:
    input, target = _pair_of_floats("smooth_l1_loss", input, target)
    if beta == 0:
        return reduced((input - target).abs(), reduction)
    loss = reduced(losses.huber(input - target, beta), reduction)
    return loss if beta == 1 else loss / beta


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2), for d = input - target; reduced. (Huber 1964.)

    Shapes, dtypes and errors as for `l1_loss`, also of a weight, but "mean" divides by the number of losses; raises
    RuntimeError unless delta > 0.

    >>> F.huber_loss(norch.tensor([0.5, 10.0]), norch.zeros(2), reduction="none")
    tensor([0.1250, 9.5000])
    """
    delta = plain_number(delta, "huber_loss: delta")
    if not delta > 0:
        raise RuntimeError(f"huber_loss: delta is {delta}, expected above 0")
    check_reduction(reduction)
    if reduction == "none" or weight is not None:
        return _huber(input, target, reduction, delta, weight)
    return fused_or(losses.huber_loss, _huber, input, target, reduction, delta)


def _huber(input: Tensor, target: Tensor, reduction: str, delta: float, weight: Tensor | None = None) -> Tensor:
    input, target = _pair_of_floats("huber_loss", input, target)
    loss = losses.huber(input - target, delta).to(input.dtype)  # as in PyTorch, unlike the others
    return reduced(loss if weight is None else loss * _like(weight, input), reduction)  # the mean of all, as in PyTorch


# ---- Probabilities --------------------------------------------------------------------------------------------------


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Flag = None,
    reduce: Flag = None,
    reduction: str = "mean",
) -> Tensor:
    """-weight (target log(input) + (1 - target) log(1 - input)), reduced, with no logarithm below -100.

    Input and target have one shape, to which the weight broadcasts, and a floating dtype. Raises ShapeError for other
    shapes, RuntimeError for another dtype, and for an input or a target outside [0, 1].

    >>> F.binary_cross_entropy(norch.tensor([0.5, 0.9]), norch.tensor([1.0, 1.0]))
    tensor(0.3993)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    _check_pair("binary_cross_entropy", input, target)
    for name, x in ("input", input), ("target", target):
        check_range(x, 0, 1, f"binary_cross_entropy: {name} is {{}}, expected probabilities from 0 to 1")
    if weight is None and reduction != "none" and input.dtype is target.dtype:
        return losses.bce_loss(input, target, reduction)
    return reduced(_weighted("binary_cross_entropy", losses.bce(input, target), weight), reduction)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Flag = None,
    reduce: Flag = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """-weight (pos_weight target log s(x) + (1 - target) log s(-x)), reduced; x is the input (logits), s the sigmoid.

    It is the binary cross-entropy of s(x), without overflow for large or small logits. Both weights broadcast to
    the input's shape; a pos_weight above 1 makes it worse to miss a target of 1. The input may be any number; shapes,
    dtypes and errors otherwise as for `binary_cross_entropy`.

    >>> F.binary_cross_entropy_with_logits(norch.tensor([0.0, 100.0]), norch.tensor([1.0, 1.0]))
    tensor(0.3466)
    """
    name = "binary_cross_entropy_with_logits"
    reduction = reduction_of(size_average, reduce, reduction)
    _check_pair(name, input, target)
    if weight is None and pos_weight is None and reduction != "none" and input.dtype is target.dtype:
        return losses.bce_with_logits_loss(input, target, reduction)
    if pos_weight is None:
        loss = losses.bce_with_logits(input, target)
    else:
        _check_weight(name, pos_weight, input)
        loss = (1 - target) * losses.bce_with_logits(input, 0.0)
        loss = loss + pos_weight * target * losses.bce_with_logits(input, 1.0)
    return reduced(_weighted(name, loss, weight), reduction)


@flags
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: Flag = None,
    reduce: Flag = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """target (log(target) - input), the divergence of Kullback and Leibler, for an input of log-probabilities; reduced.

    With `log_target` the target holds logarithms too. A probability of 0 costs nothing. "batchmean" divides the sum by
    the size of the first dimension, as the definition does; "mean", which divides by the number of elements, warns.
    The shapes broadcast, and both have a floating dtype. Raises ShapeError if they do not, RuntimeError for another
    dtype.

    >>> F.kl_div(norch.tensor([[0.5, 0.5]]).log(), norch.tensor([[1.0, 0.0]]), reduction="sum")
    tensor(0.6931)
    """
    if size_average is not None or reduce is not None or reduction != "batchmean":
        reduction = reduction_of(size_average, reduce, reduction)
    _check_floating("kl_div", input, target)
    if not target.is_floating_point():
        raise RuntimeError(f"kl_div: target has dtype {target.dtype}, expected a floating dtype")
    if reduction == "mean":
        warn(
            "kl_div: the reduction 'mean' divides by the number of elements; 'batchmean' divides by the number of "
            "samples, as the definition of the divergence does",
        )
    if log_target or reduction == "none" or target._edge is not None:
        return _kl_div(input, target, reduction, log_target)
    return fused_or(losses.kl_div_loss, _kl_div, input, target, reduction)


def _kl_div(input: Tensor, target: Tensor, reduction: str, log_target: bool = False) -> Tensor:
    if log_target:
        loss = target.exp() * (target - input)
    else:
        loss = target.xlogy(where(target == 0, 1.0, target)) - losses.share(target, input)
    if reduction == "batchmean":
        return loss.sum() / input.shape[0] if input.ndim else loss.sum()
    return reduced(loss, reduction)


# ---- The reduction to one number, and checks -------------------------------------------------------------------------


def check_reduction(reduction: str) -> str:
    """`reduction` itself; ValueError if it is unknown."""
    if not isinstance(reduction, str) or reduction not in ("none", "mean", "sum"):
        raise ValueError(f"reduction is {shown(reduction)}, expected 'none', 'mean' or 'sum'")
    return reduction


def reduction_of(size_average: Flag, reduce: Flag, reduction: str, warns: bool = True) -> str:
    """The reduction, checked; or what its old names `size_average` and `reduce` say, with a warning."""
    if size_average is None and reduce is None:
        return check_reduction(reduction)
    averages, reduces = (flag is None or bool(flag) for flag in (size_average, reduce))
    meant = "none" if not reduces else "mean" if averages else "sum"
    if warns:
        warn(f"size_average and reduce args will be deprecated, please use reduction={meant!r} instead.")
    return meant


def reduced(loss: Tensor, reduction: str) -> Tensor:
    """Each loss, or their mean or sum, of no dimensions."""
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss


def _mean_of_weighted(loss: Tensor, input: Tensor, weight: Tensor | None, reduction: str) -> Tensor:
    """The losses times their weights, reduced; "mean" divides by the sum of the weights."""
    if weight is None:
        return reduced(loss, reduction)
    loss = loss * _like(weight, input)
    return loss.sum() / weight.sum() if reduction == "mean" else reduced(loss, reduction)


def _like(weight: Tensor, input: Tensor) -> Tensor:
    """The weight, whose shape must be the input's."""
    check_tensors("the weight of a loss", weight)
    if weight.shape != input.shape:
        raise ShapeError(f"the weight has shape {list(weight.shape)}, expected the input's {list(input.shape)}")
    return weight


def _weighted(name: str, loss: Tensor, weight: Tensor | None) -> Tensor:
    """loss * weight, which must broadcast to the loss."""
    if weight is None:
        return loss
    _check_weight(name, weight, loss)
    return loss * weight


def _pair_of_floats(name: str, input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Both in one shape; raises unless they are floating tensors that broadcast, and warns if they do."""
    _check_floating(name, input, target)
    return _broadcast(name, input, target)


def _broadcast(name: str, input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    if input.shape != target.shape:
        shape = broadcast_shapes(input.shape, target.shape, name=name)
        warn(
            f"{name}: the target's shape {list(target.shape)} is not the input's {list(input.shape)}. They are "
            "broadcast, which likely leads to incorrect results; please ensure they have the same shape.",
        )
        return input.expand(shape), target.expand(shape)  # so that a scalar counts when dtypes are promoted
    return input, target


def _check_floating(name: str, input: Tensor, target: Tensor) -> None:
    check_tensors(name, input, target)
    if not input.is_floating_point():
        hint = to_floating(input.dtype)
        raise RuntimeError(f"{name}: input has dtype {input.dtype}, expected a floating dtype{hint}")


def _check_pair(name: str, input: Tensor, target: Tensor) -> None:
    """Raise unless both are tensors of one shape, and the input is floating."""
    _check_floating(name, input, target)
    if input.shape != target.shape:
        raise ShapeError(f"{name}: input and target differ in shape: {list(input.shape)} and {list(target.shape)}")


def _check_weight(name: str, weight: Tensor, input: Tensor) -> None:
    """Raise unless the weight broadcasts to the input's shape."""
    check_tensors(name, weight)
    shape, rank = list(weight.shape), weight.ndim
    fits = rank <= input.ndim and all(n in (1, size) for n, size in zip(shape, input.shape[input.ndim - rank :]))
    if not fits:
        raise ShapeError(f"{name}: a weight of shape {shape} does not broadcast to the input's {list(input.shape)}")
