"""Checks of arguments that several functions share."""

from __future__ import annotations

from ... import operation
from ...arguments import plain_number
from ...given import no_tensor
from ...tensor import Tensor
from ...types import bool_, shown


def check_tensors(name: str, *values: object) -> None:
    """Raise TypeError if a value is not a Tensor."""
    for value in values:
        if not isinstance(value, Tensor):
            raise TypeError(f"{name} was given {no_tensor(value)}")


def check_floats(name: str, *values: Tensor) -> None:
    """Raise TypeError if a value is not a Tensor, RuntimeError if its dtype is not floating."""
    for value in values:
        if not isinstance(value, Tensor):
            check_tensors(name, value)
        if not value.dtype.is_floating_point:  # asked here, for the sake of small layers
            operation.check_floating(value, name)


def check_integers(name: str, what: str, x: Tensor) -> None:
    """Raise RuntimeError if a tensor does not hold integers."""
    if x.dtype is bool_ or x.is_floating_point():
        raise RuntimeError(f"{name}: {what} has dtype {x.dtype}, expected int64 or another integer dtype")


def check_probability(p: float) -> float:
    """`p` itself; TypeError if it is not a number, ValueError if it is not a probability."""
    p = plain_number(p, "dropout probability") if hasattr(p, "item") else p  # of NumPy, or a tensor
    if isinstance(p, bool) or not isinstance(p, (int, float)):
        raise TypeError(f"dropout probability is {shown(p)}, expected a number")
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability is {shown(p)}, expected 0 to 1")
    return p
