"""Elementwise functions that are no methods, or whose operands come in another order."""

from __future__ import annotations

from ..methods.composed import scaled
from ..operation import check_operand, check_tensor
from ..tensor import Tensor
from ..types import Operand
from .creation import empty_like
from .out import into
from .promotion import result_type

__all__ = ["fill", "imag", "polygamma", "real", "rsub"]


def polygamma(n: int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The n-th derivative of digamma, element by element, in the shape of x; integers and bool become float32.

    Raises RuntimeError for a negative n, TypeError if it is no integer.

    >>> norch.polygamma(1, norch.tensor([1.0, 2.0]))
    tensor([1.6449, 0.6449])
    """
    return into(out, check_tensor(input, "polygamma").polygamma(n), "polygamma")


def rsub(input: Tensor, other: Operand, alpha: float = 1) -> Tensor:
    """other - alpha * x, element by element; shapes, dtypes and errors as for `sub`.

    >>> norch.rsub(norch.tensor([1, 2]), 10)
    tensor([9, 8])
    """
    x = check_tensor(input, "rsub")
    if isinstance(other, Tensor):
        return other.sub(x, alpha=alpha)
    return other - (x if alpha == 1 else scaled("rsub", x, alpha, result_type(x, other)))


def fill(input: Tensor, value: Operand) -> Tensor:
    """A tensor of the shape and dtype of another, with one value, a number or a tensor of no dimensions, everywhere.

    Raises RuntimeError for a tensor with dimensions.

    >>> norch.fill(norch.zeros(2), 7)
    tensor([7., 7.])
    """
    x = check_tensor(input, "fill")
    check_operand(value, "fill")
    return empty_like(x).fill_(value) if x._edge is None else x.clone().fill_(value)


def real(input: Tensor) -> Tensor:
    """The real part of real numbers: the tensor itself, of its shape and dtype. Raises TypeError for what is no tensor.

    >>> norch.real(norch.tensor([1, 2]))
    tensor([1, 2])
    """
    return check_tensor(input, "real")


def imag(input: Tensor) -> Tensor:
    """The imaginary part, which real numbers have not: raises RuntimeError for every shape and dtype.

    >>> norch.imag(norch.tensor([1.0]))
    Traceback (most recent call last):
    RuntimeError: imag is not implemented for tensors with non-complex dtypes
    """
    return check_tensor(input, "imag").imag
