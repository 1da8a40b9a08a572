"""`__torch_function__`, which norch does not ask for: functions copied from PyTorch test their arguments for it."""

from __future__ import annotations

from typing import Any, NoReturn

from .missing import missing
from .tensor import Tensor


def has_torch_function(relevant_args: Any) -> bool:
    """Whether an argument would compute the function in its own way: none does.

    >>> norch.overrides.has_torch_function((norch.ones(2),))
    False
    """
    return False


def has_torch_function_unary(x: Any) -> bool:
    """The same of one argument.

    >>> norch.overrides.has_torch_function_unary(norch.ones(2))
    False
    """
    return False


def has_torch_function_variadic(*args: Any) -> bool:
    """The same of several.

    >>> norch.overrides.has_torch_function_variadic(norch.ones(2), 3)
    False
    """
    return False


def handle_torch_function(public_api: Any, relevant_args: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Raise TypeError: no argument has a `__torch_function__` that norch calls.

    >>> norch.overrides.has_torch_function(())  # so nothing calls it
    False
    """
    raise TypeError(f"norch calls no __torch_function__, so none computes {public_api}")


def is_tensor_like(inp: Any) -> bool:
    """Whether this is a tensor, or has a `__torch_function__`.

    >>> norch.overrides.is_tensor_like([1.0])
    False
    """
    return isinstance(inp, Tensor) or hasattr(inp, "__torch_function__")


__getattr__ = missing("overrides")
