"""Losses that ask for a margin: between two scores, two distances, or a score and the others.

Sizes: N samples, C classes. Where a margin is just kept, its derivative is PyTorch's.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Callable

from ..._C import ShapeError
from ...arguments import flags, plain_number
from ...autograd.derivatives import activations as kernels
from ...autograd.derivatives import by_formula, losses
from ...functions.creation import where
from ...tensor import Tensor
from ...types import bool_
from .checks import check_floats, check_tensors
from .distances import p_distance
from .fused import fused_or
from .losses import Flag, check_reduction, reduced, reduction_of

__all__ = [
    "cosine_embedding_loss",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]

# ---- Of two scores, or one and a target of 1 or -1 -------------------------------------------------------------------


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: Flag = None,
    reduce: Flag = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, margin - target * (input1 - input2)), reduced: a target of 1 wants input1 the larger one, -1 input2.

    Of any dtypes, which are promoted; the three have one number of dimensions, and their shapes broadcast. Raises
    ShapeError if they do not.

    >>> F.margin_ranking_loss(norch.tensor([1.0, 5.0]), norch.tensor([2.0, 2.0]), norch.tensor([1.0, 1.0]))
    tensor(0.5000)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    check_tensors("margin_ranking_loss", input1, input2, target)
    if not input1.ndim == input2.ndim == target.ndim:
        shapes = ", ".join(str(list(x.shape)) for x in (input1, input2, target))
        raise ShapeError(f"margin_ranking_loss: expected one number of dimensions, got shapes {shapes}")
    formula = _margin if reduction == "none" else partial(fused_or, losses.margin_loss, _margin)
    return formula(input1 - input2, target, reduction, float(plain_number(margin, "margin_ranking_loss")))


def _margin(x: Tensor, target: Tensor, reduction: str, margin: float) -> Tensor:
    return reduced((margin - target * x).clamp(min=0), reduction)


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: Flag = None,
    reduce: Flag = None,
    reduction: str = "mean",
) -> Tensor:
    """input (a distance) where the target is 1, max(0, margin - input) where it is -1, both elsewhere; reduced.

    The shapes broadcast, and dtypes are promoted. Raises ShapeError if they do not.

    >>> F.hinge_embedding_loss(norch.tensor([0.5, 0.25]), norch.tensor([1, -1]), reduction="none")
    tensor([0.5000, 0.7500])
    """
    reduction = reduction_of(size_average, reduce, reduction)
    check_tensors("hinge_embedding_loss", input, target)
    target = target.detach()  # it chooses
    formula = _hinge if reduction == "none" else partial(fused_or, losses.hinge_embedding_loss, _hinge)
    return formula(input, target, reduction, margin)


def _hinge(input: Tensor, target: Tensor, reduction: str, margin: float) -> Tensor:
    return reduced(where(target != 1, (margin - input).clamp(min=0), 0) + where(target != -1, input, 0), reduction)


def soft_margin_loss(
    input: Tensor, target: Tensor, size_average: Flag = None, reduce: Flag = None, reduction: str = "mean"
) -> Tensor:
    """log(1 + e^(-target * input)) for targets of 1 and -1, reduced; no exponential overflows.

    The shapes broadcast, and the input is floating. Raises ShapeError if they do not, RuntimeError for another dtype.

    >>> F.soft_margin_loss(norch.tensor([0.0, 1000.0]), norch.tensor([1.0, -1.0]), reduction="none")
    tensor([6.9315e-01, 1.0000e+03])
    """
    reduction = reduction_of(size_average, reduce, reduction)
    check_tensors("soft_margin_loss", target)
    check_floats("soft_margin_loss", input)
    formula = _soft_margin if reduction == "none" else partial(fused_or, losses.soft_margin_loss, _soft_margin)
    return formula(input, target, reduction)


def _soft_margin(input: Tensor, target: Tensor, reduction: str) -> Tensor:
    return reduced(kernels.softplus(-input * target, math.inf), reduction)


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: Flag = None,
    reduce: Flag = None,
    reduction: str = "mean",
) -> Tensor:
    """1 - cos where the target is 1, max(0, cos - margin) where it is -1, for the angle of two vectors; reduced.

    The inputs are [N, size] with a target [N], or [size] with a target of no dimensions, of any dtypes. Raises
    ShapeError for other shapes.

    >>> x, y = norch.tensor([[1.0, 0.0], [1.0, 0.0]]), norch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> F.cosine_embedding_loss(x, y, norch.tensor([1, 1]), reduction="none")
    tensor([0., 1.])
    """
    reduction = reduction_of(size_average, reduce, reduction)
    check_tensors("cosine_embedding_loss", input1, input2, target)
    if target.ndim > 1 or input1.ndim != target.ndim + 1 or input2.ndim != target.ndim + 1:
        shapes = ", ".join(str(list(x.shape)) for x in (input1, input2, target))
        raise ShapeError(f"cosine_embedding_loss: expected [N, size] twice and [N], got shapes {shapes}")
    kernel = partial(by_formula.row_pairs, _embedded_cosine, by_formula.EMBEDDING)
    cosine = fused_or(kernel, _embedded_cosine, input1, input2, 1e-12)  # PyTorch's: a vector of zeros has an angle
    zero = cosine.zeros_like()
    loss = where(target == 1, 1 - cosine, zero) + where(target == -1, (cosine - margin).clamp(min=0), zero)
    return reduced(loss, reduction)


def _embedded_cosine(x: Tensor, y: Tensor, eps: float) -> Tensor:
    return (x * y).sum(-1) / (((x * x).sum(-1) + eps) * ((y * y).sum(-1) + eps)).sqrt()


# ---- Of two distances -----------------------------------------------------------------------------------------------


@flags
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: Flag = None,
    reduce: Flag = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, margin + d(anchor, positive) - d(anchor, negative)) for d(x, y) the p-norm of x - y + eps; reduced.

    With `swap` d(positive, negative) counts if it is the smaller of the negative's distances. Vectors are along the
    last dimension of [N, size] or [size], of any dtypes; the three broadcast. Raises ShapeError if they do not,
    ValueError for a margin that is not above 0.

    >>> anchor, positive, negative = norch.zeros(1, 1), norch.ones(1, 1), norch.full([1, 1], 1.5)
    >>> F.triplet_margin_loss(anchor, positive, negative)
    tensor(0.5000)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    distance = partial(p_distance, p=p, eps=eps)
    return _triplet("triplet_margin_loss", (anchor, positive, negative), distance, margin, swap, reduction)


@flags
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """`triplet_margin_loss` with a distance of one's own: a function of two tensors; shapes, dtypes, errors as there.

    Raises ValueError for a margin that is not above 0, ShapeError for shapes that do not broadcast.

    >>> x = norch.zeros(1, 2)
    >>> F.triplet_margin_with_distance_loss(x, x, x + 0.5, distance_function=lambda x, y: (x - y).abs().amax(-1))
    tensor(0.5000)
    """
    check_reduction(reduction)
    distance = distance_function or partial(p_distance, p=2, eps=1e-6)
    name = "triplet_margin_with_distance_loss"
    return _triplet(name, (anchor, positive, negative), distance, margin, swap, reduction)


def _triplet(
    name: str,
    triple: tuple[Tensor, Tensor, Tensor],
    distance: Callable[[Tensor, Tensor], Tensor],
    margin: float,
    swap: bool,
    reduction: str,
) -> Tensor:
    check_tensors(name, *triple)
    if not margin > 0:
        raise ValueError(f"{name}: margin is {margin}, expected above 0")
    anchor, positive, negative = triple
    if not anchor.ndim == positive.ndim == negative.ndim:
        shapes = ", ".join(str(list(x.shape)) for x in triple)
        raise ShapeError(f"{name}: expected one number of dimensions, got shapes {shapes}")
    far = distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    return reduced((margin + distance(anchor, positive) - far).clamp(min=0), reduction)


# ---- Of the scores of classes ----------------------------------------------------------------------------------------


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: Flag = None,
    reduce: Flag = None,
    reduction: str = "mean",
) -> Tensor:
    """sum over the other classes i of max(0, margin - x[y] + x[i])^p / C, times weight[y], for a class y; reduced.

    Scores [N, C] or [C] of a floating dtype, classes [N] or a single one; p is 1 or 2. Raises ShapeError for other
    shapes, ValueError for another p, RuntimeError for a target of no integers.

    >>> F.multi_margin_loss(norch.tensor([[0.1, 0.2, 0.4, 0.8]]), norch.tensor([3]))
    tensor(0.3250)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    check_tensors("multi_margin_loss", input, target)
    if p not in (1, 2):
        raise ValueError(f"multi_margin_loss: p is {p}, expected 1 or 2")
    count = input.shape[-1] if input.ndim else 1
    rows = input.shape[0] if input.ndim == 2 else 1
    if not count or input.ndim > 2 or target.ndim > 1 or target.numel != rows:
        shapes = f"{list(input.shape)} and {list(target.shape)}"
        raise ShapeError(f"multi_margin_loss: expected scores [N, C] and classes [N], got shapes {shapes}")
    if weight is not None and weight.shape != (count,):
        raise ShapeError(f"multi_margin_loss: weight has shape {list(weight.shape)}, expected [{count}]")
    _check_classes("multi_margin_loss", target)
    if weight is not None and weight._edge is not None:
        return _multi_margin(input, target, weight, margin, p, reduction)
    kernel = partial(by_formula.class_margin, _multi_margin)
    return fused_or(kernel, _multi_margin, input, target, weight, margin, p, reduction)


def _multi_margin(
    input: Tensor, target: Tensor, weight: Tensor | None, margin: float, p: int, reduction: str
) -> Tensor:
    scores, classes = input.reshape(-1, input.shape[-1] if input.ndim else 1), target.reshape(-1).long()
    index = classes.unsqueeze(1)
    missed = (margin - scores.gather(1, index) + scores).relu()
    missed = missed if p == 1 else missed * missed
    if weight is not None:
        missed = missed * weight[classes].unsqueeze(1)
    loss = missed.scatter(1, index, 0.0).sum(1) / scores.shape[1]
    return reduced(loss.reshape(target.shape), reduction)


def multilabel_margin_loss(
    input: Tensor, target: Tensor, size_average: Flag = None, reduce: Flag = None, reduction: str = "mean"
) -> Tensor:
    """sum over classes j of the target and i of no target of max(0, 1 - x[j] + x[i]) / C; reduced.

    Scores [N, C] or [C] of a floating dtype; the target, of the same shape, lists classes up to the first -1. Raises
    ShapeError for other shapes, RuntimeError for a target of no integers.

    >>> F.multilabel_margin_loss(norch.tensor([0.1, 0.2, 0.4, 0.8]), norch.tensor([3, 0, -1, 1]))
    tensor(0.8500)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    check_tensors("multilabel_margin_loss", input, target)
    if input.shape != target.shape or input.ndim > 2 or input.shape[-1:] == (0,):
        shapes = f"{list(input.shape)} and {list(target.shape)}"
        raise ShapeError(f"multilabel_margin_loss: expected scores [N, C] and a target like them, got shapes {shapes}")
    _check_classes("multilabel_margin_loss", target)
    kernel = partial(by_formula.class_margin, _multilabel_margin)
    return fused_or(kernel, _multilabel_margin, input, target, None, 1.0, 0, reduction)


def _multilabel_margin(
    input: Tensor, target: Tensor, weight: None, margin: float, power: int, reduction: str
) -> Tensor:
    count = input.shape[-1] if input.ndim else 1
    scores, classes = input.reshape(-1, count), target.long().reshape(-1, count)
    listed = (classes < 0).long().cumsum(1) == 0  # before the first -1
    index = where(listed, classes, 0)
    wanted = scores.detach().zeros_like().scatter_add(1, index, listed.to(scores.dtype)) > 0
    missed = (margin - scores.gather(1, index).unsqueeze(2) + scores.unsqueeze(1)).relu()  # [N, j, i]
    counted = listed.unsqueeze(2).logical_and(wanted.logical_not().unsqueeze(1))
    loss = where(counted, missed, 0.0).sum((1, 2)) / count
    return reduced(loss.reshape(()) if input.ndim < 2 else loss, reduction)


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Flag = None,
    reduce: Flag = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over C classes of weight * `binary_cross_entropy_with_logits`, for each of N samples; reduced.

    Logits and targets [N, C] or [C], a weight [C]. Raises ShapeError for other shapes, RuntimeError for another dtype.

    >>> F.multilabel_soft_margin_loss(norch.zeros(1, 3), norch.tensor([[1.0, 0.0, 1.0]]))
    tensor(0.6931)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    check_tensors("multilabel_soft_margin_loss", target)
    check_floats("multilabel_soft_margin_loss", input)
    loss = losses.bce_with_logits(input, target)
    classes = input.shape[-1] if input.ndim else 1
    loss = loss if weight is None else loss * weight
    return reduced(loss.sum(input.ndim - 1) / classes, reduction)  # PyTorch's axis, also for a target that has more


def _check_classes(name: str, target: Tensor) -> None:
    if target.is_floating_point() or target.dtype is bool_:
        raise RuntimeError(f"{name}: target has dtype {target.dtype}, expected an integer dtype")
