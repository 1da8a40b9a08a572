"""Helpers of distributions: parameters that broadcast, and probabilities with their logarithms."""

from __future__ import annotations

import math
from typing import Any, Callable

from ..autograd.mode import enable_grad
from ..functions.creation import empty, tensor
from ..functions.joining import broadcast_tensors
from ..functions.layouts import tril_indices
from ..methods.interop import as_tensor
from ..nn import functional
from ..operation import check_tensor
from ..tensor import Tensor
from ..types import float64

EULER = 0.5772156649015329
LOG_2PI = math.log(2 * math.pi)


def broadcast_all(*values: Any) -> tuple[Any, ...]:
    """Numbers and tensors as tensors of one shape; numbers take the dtype of the tensors.

    >>> norch.distributions.utils.broadcast_all(1.0, norch.zeros(2))
    (tensor([1., 1.]), tensor([0., 0.]))
    """
    tensors = [value for value in values if isinstance(value, Tensor)]
    for value in values:
        if not isinstance(value, (Tensor, int, float)):
            raise ValueError(f"expected numbers or tensors as parameters, got {type(value).__name__}")
    like = next((x for x in tensors if x.is_floating_point()), None)
    kind, device = (None, None) if like is None else (like.dtype, like.device)
    made = [value if isinstance(value, Tensor) else tensor(float(value), dtype=kind, device=device) for value in values]
    return tuple(broadcast_tensors(*made))


def as_value(value: Any, like: Tensor) -> Tensor:
    """A value of which the density is asked, as a tensor like a parameter.

    >>> norch.distributions.utils.as_value(1, norch.ones(2))
    tensor(1.)
    """
    return as_tensor(value, dtype=like.dtype, device=like.device)


def smallest_step(x: Tensor) -> float:
    """The distance from 1 to the next number of x's dtype.

    >>> norch.distributions.utils.smallest_step(norch.ones(1)) == 2.0**-23
    True
    """
    return {"float64": 2.0**-52, "float16": 2.0**-10, "bfloat16": 2.0**-7}.get(x.dtype.name, 2.0**-23)


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities kept off 0 and 1 by the smallest step.

    >>> bool(norch.distributions.utils.clamp_probs(norch.tensor([0.0])) > 0)
    True
    """
    step = smallest_step(probs)
    return probs.clamp(min=step, max=1 - step)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """sigmoid(logits) of two outcomes; softmax over the last dimension of several.

    >>> norch.distributions.utils.logits_to_probs(norch.zeros(2))
    tensor([0.5000, 0.5000])
    """
    return logits.sigmoid() if is_binary else logits.softmax(-1)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """log(p), or log(p / (1 - p)) of two outcomes; finite for 0 and 1 too.

    >>> norch.distributions.utils.probs_to_logits(norch.tensor([0.5]), is_binary=True)
    tensor([0.])
    """
    clamped = clamp_probs(probs)
    return clamped.log() - (-clamped).log1p() if is_binary else clamped.log()


def sum_rightmost(value: Tensor, count: int) -> Tensor:
    """The sum over the last `count` dimensions; raises IndexError if there are fewer.

    >>> norch.distributions.utils.sum_rightmost(norch.ones(2, 3), 1)
    tensor([3., 3.])
    """
    if count > check_tensor(value, "sum_rightmost").ndim:
        raise IndexError(f"sum_rightmost: {count} dimensions of a tensor that has {value.ndim}")
    return value if count == 0 else value.sum(tuple(range(-count, 0)))


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The elements of matrices up to a diagonal, row by row, as vectors.

    >>> norch.distributions.utils.tril_matrix_to_vec(norch.tensor([[1, 2], [3, 4]]))
    tensor([1, 3, 4])
    """
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = tril_indices(n, n, diag, device=mat.device)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """The square matrices with these elements up to a diagonal, row by row, and zeros above.

    >>> norch.distributions.utils.vec_to_tril_matrix(norch.tensor([1.0, 3.0, 4.0]))
    tensor([[1., 0.],
            [3., 4.]])
    """
    size = vec.shape[-1]
    n = (-(1 + 2 * diag) + ((1 + 2 * diag) ** 2 + 8 * size + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2
    if round(n) != n:
        raise ValueError(
            f"The size of last dimension is {size} which cannot be expressed as the lower triangular part of a square "
            "D x D matrix."
        )
    side = round(n)
    rows, columns = tril_indices(side, side, diag, device=vec.device)
    matrix = vec.new_zeros((*vec.shape[:-1], side, side))
    matrix[..., rows, columns] = vec
    return matrix


_sum_rightmost = sum_rightmost  # PyTorch's names, which distributions of other programs import


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Tensor:
    return empty(shape, dtype=dtype, device=device).normal_()


class lazy_property:
    """A property that is computed once, when it is first asked for."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function, self.__doc__ = function, function.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        with enable_grad():  # it is kept, and may be asked for next where a graph is recorded
            value = self.function(instance)
        instance.__dict__[self.function.__name__] = value
        return value


def softplus(x: Tensor) -> Tensor:
    """log(1 + exp(x)), which cannot overflow; its derivative is sigmoid(x) everywhere.

    >>> norch.distributions.utils.softplus(norch.zeros(1))
    tensor([0.6931])
    """
    return functional.softplus(x, threshold=50)


def digamma(x: Tensor) -> Tensor:
    """The derivative of log gamma, of any floating dtype.

    >>> norch.distributions.utils.digamma(norch.tensor([1.0]))
    tensor([-0.5772])
    """
    return x.to(float64).digamma().to(x.dtype)
