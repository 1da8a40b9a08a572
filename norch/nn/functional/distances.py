"""How far apart, or how alike, vectors are."""

from __future__ import annotations

from functools import partial

from ...arguments import broadcast_shapes, flags, one_size, plain_number
from ...autograd import no_grad
from ...autograd.derivatives import by_formula
from ...functions.promotion import result_type
from ...functions.statistics import pdist
from ...precision import in_float32
from ...tensor import Tensor
from .checks import check_floats, check_tensors
from .fused import fused_or

__all__ = ["cosine_similarity", "pairwise_distance", "pdist"]

FEW = 16384  # elements that are sooner copied, so that rows lie along a dimension, than taken through the formula


@flags
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between x1 and x2 along `dim`: their product over both norms (or `eps`, if larger).

    The shapes broadcast; the result lacks `dim`. Dtypes are promoted, to a floating one. Raises IndexError for a dim
    out of range, RuntimeError for integers.

    >>> F.cosine_similarity(norch.tensor([[1.0, 0.0]]), norch.tensor([[3.0, 3.0]]))
    tensor([0.7071])
    """
    check_tensors("cosine_similarity", x1, x2)
    dim = one_size(dim, "cosine_similarity: dim")
    if dim not in (-1, max(x1.ndim, x2.ndim) - 1) and x1.numel() > FEW:
        return _cosine(x1, x2, eps, dim)
    return fused_or(partial(by_formula.row_pairs, _cosine, by_formula.COSINE), _cosine, x1, x2, eps, dim)


@in_float32
def _cosine(x1: Tensor, x2: Tensor, eps: float, dim: int = -1) -> Tensor:
    shape = broadcast_shapes(x1.shape, x2.shape, name="cosine_similarity")
    a, b = (x.expand(shape) for x in (x1, x2))
    dtype = result_type(a, b)
    a, b = a.to(dtype), b.to(dtype)
    check_floats("cosine_similarity", a)
    product = _direction(a, dim, eps) * _direction(b, dim, eps)
    return product.sum(dim)


def _direction(x: Tensor, dim: int, eps: float) -> Tensor:
    length = x.norm(2, dim, keepdim=True).clone()
    with no_grad():
        length.clamp_(min=eps)  # which, as in PyTorch, does not stop the gradient
    return x / length


@flags
def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The p-norm of x1 - x2 + eps over the last dimension, which goes away unless `keepdim`.

    The shapes broadcast. Dtypes are promoted, to a floating one. Raises ShapeError if they do not fit.

    >>> F.pairwise_distance(norch.tensor([[0.0, 0.0]]), norch.tensor([[3.0, 4.0]]))
    tensor([5.0000])
    """
    check_tensors("pairwise_distance", x1, x2)
    p = plain_number(p, "pairwise_distance")
    return (x1 - x2 + eps).norm(p, -1, keepdim) if keepdim else p_distance(x1, x2, p, eps)


def p_distance(x: Tensor, y: Tensor, p: float, eps: float) -> Tensor:
    """The p-norm of x - y + eps over the last dimension."""
    if p != 2:
        return (x - y + eps).norm(p, -1)
    return fused_or(partial(by_formula.row_pairs, _distance, by_formula.DISTANCE), _distance, x, y, eps)


def _distance(x: Tensor, y: Tensor, eps: float) -> Tensor:
    return (x - y + eps).norm(2, -1)
