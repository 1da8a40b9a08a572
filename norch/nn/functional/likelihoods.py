"""Losses that are the negative logarithm of a probability: of counts (Poisson) and of numbers (Gauss)."""

from __future__ import annotations

import math

from ..._C import ShapeError
from ...arguments import broadcast_shapes, flags
from ...autograd import no_grad
from ...autograd.derivatives import losses
from ...functions.creation import where
from ...operation import check_range
from ...tensor import Tensor
from .checks import check_tensors
from .fused import fused_or
from .losses import Flag, check_reduction, reduced, reduction_of

__all__ = ["gaussian_nll_loss", "poisson_nll_loss"]


@flags
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: Flag = None,
    eps: float = 1e-8,
    reduce: Flag = None,
    reduction: str = "mean",
) -> Tensor:
    """e^x - target * x for counts whose expectation is e^x, or x - target * log(x + eps) if not `log_input`; reduced.

    `full` adds log(target!) by Stirling's formula where the target is above 1. The shapes broadcast, and dtypes are
    promoted. Raises ShapeError if they do not, ValueError for an unknown reduction.

    >>> F.poisson_nll_loss(norch.tensor([0.0, 1.0]), norch.tensor([1.0, 2.0]), reduction="none")
    tensor([1.0000, 0.7183])
    """
    reduction = reduction_of(size_average, reduce, reduction)
    check_tensors("poisson_nll_loss", input, target)
    if log_input and not full and reduction != "none":
        return fused_or(losses.poisson_nll_loss, _poisson_nll, input, target, reduction)
    return _poisson_nll(input, target, reduction, log_input, full, eps)


def _poisson_nll(
    input: Tensor, target: Tensor, reduction: str, log_input: bool = True, full: bool = False, eps: float = 0.0
) -> Tensor:
    loss = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        count = where(target > 1, target, 1.0)
        term = where(target > 1, count * count.log() - count + 0.5 * (2 * math.pi * count).log(), 0.0)
        loss = loss + term.to(loss.dtype)
    return reduced(loss, reduction)


@flags
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """(log(var) + (input - target)^2 / var) / 2, reduced: the input is the expectation, `var` the variance.

    The variance is a number or a tensor of the input's shape, or without its last dimension, or with 1 there; it counts
    as `eps` if it is smaller. `full` adds log(2 pi) / 2. All are of a floating dtype. Raises ValueError for a variance
    that is negative, ShapeError for one of another shape.

    >>> F.gaussian_nll_loss(norch.tensor([1.0]), norch.tensor([3.0]), norch.tensor([4.0]))
    tensor(1.1931)
    """
    check_reduction(reduction)
    check_tensors("gaussian_nll_loss", input, target)
    variance = input.detach().ones_like() * var if isinstance(var, (int, float)) else _fitting(input, var)
    message = "gaussian_nll_loss: var has a negative element, {}"
    check_range(variance, 0, math.inf, message, ValueError, nan_fits=True)
    variance = variance.clone()
    with no_grad():
        variance.clamp_(min=eps)  # whose derivative is 1 all the same
    loss = 0.5 * (variance.log() + (input - target) ** 2 / variance)
    return reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


def _fitting(input: Tensor, var: Tensor) -> Tensor:
    """The variance in a shape that broadcasts with the input's."""
    check_tensors("gaussian_nll_loss", var)
    if var.shape == input.shape:
        return var
    if var.shape == input.shape[:-1]:
        return var.unsqueeze(-1)
    try:
        if broadcast_shapes(var.shape, input.shape) == list(input.shape):
            return var
    except ShapeError:
        pass
    raise ShapeError(f"gaussian_nll_loss: var has shape {list(var.shape)}, which does not fit {list(input.shape)}")
