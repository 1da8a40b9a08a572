"""What all losses share: the reduction of a loss for each element to one number, and checks of what they are given."""

from __future__ import annotations

from norch._C import ShapeError
from norch.tensor import Tensor

REDUCTIONS = ("none", "mean", "sum")


def reduced(loss: Tensor, reduction: str) -> Tensor:
    """Each loss, or their mean or sum of shape [1]."""
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss


def check_reduction(reduction: str) -> str:
    """`reduction` itself, or ValueError."""
    if reduction not in REDUCTIONS:
        raise ValueError(f"reduction is {reduction!r}, expected 'none', 'mean' or 'sum'")
    return reduction


def check_tensors(name: str, *values) -> None:
    """Raise TypeError for what is no Tensor."""
    for value in values:
        if not isinstance(value, Tensor):
            raise TypeError(f"{name} was given a {type(value).__name__}, expected a Tensor")


def check_pair(name: str, input: Tensor, target: Tensor, reduction: str) -> None:
    """Raise where a loss of two tensors of one shape is given anything else."""
    check_reduction(reduction)
    check_tensors(name, input, target)
    if input.shape != target.shape:
        raise ShapeError(f"{name}: input and target differ in shape: {list(input.shape)} and {list(target.shape)}")
    if not input.dtype.is_floating_point:
        raise TypeError(f"{name}: input has dtype {input.dtype}, expected a floating dtype")


def check_weight(name: str, weight: Tensor, input: Tensor) -> None:
    """Raise where a weight does not broadcast to the input's shape."""
    check_tensors(name, weight)
    shape, rank = list(weight.shape), weight.ndim
    fits = rank <= input.ndim and all(n in (1, size) for n, size in zip(shape, input.shape[input.ndim - rank :]))
    if not fits:
        raise ShapeError(f"{name}: a weight of shape {shape} does not broadcast to the input's {list(input.shape)}")
