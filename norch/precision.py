"""Functions that are composed of several operations, for floats of 16 bits: computed in float32, and rounded once.

A single operation of the library rounds its result once anyhow. Composed of several, the mean of float16 numbers would
be infinite if their sum is, and a variance would lose what little digits there are.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, TypeVar

from . import operation
from .types import HALVES, dtype, float32

F = TypeVar("F", bound=Callable[..., Any])


def in_float32(function: F) -> F:
    """A function whose tensors of float16 or bfloat16 it gets as float32; its results come back in their dtype.

    Not if there are other floating tensors, or the caller asks for a dtype.
    """

    @functools.wraps(function)
    def rounded(*args: Any, **options: Any) -> Any:
        if args and getattr(args[0], "dtype", None) is float32:  # most often
            return function(*args, **options)
        kind = _half_of([*args, *options.values()])
        if kind is None or options.get("dtype") is not None:
            return function(*args, **options)
        result = function(*map(_widened, args), **{name: _widened(value) for name, value in options.items()})
        return _narrowed(result, kind)

    return rounded  # type: ignore[return-value]


def derived_in_float32(function: F) -> F:
    """The same for one that rounds once itself: only if a graph records it, as its derivative is composed."""
    in_floats = in_float32(function)

    @functools.wraps(function)
    def rounded(input: Any, *args: Any, **options: Any) -> Any:
        return (function if getattr(input, "_edge", None) is None else in_floats)(input, *args, **options)

    return rounded  # type: ignore[return-value]


def input_in_float32(function: F) -> F:
    """A layer whose input of 16 bits it gets as float32 if its parameters are that, as they are under autocast."""

    @functools.wraps(function)
    def rounded(input: Any, *args: Any, **options: Any) -> Any:
        if isinstance(input, operation.Tensor) and input.dtype in HALVES:
            others = [x for x in (*args, *options.values()) if isinstance(x, operation.Tensor)]
            if any(x.dtype is float32 for x in others):
                return function(input.float(), *args, **options).to(input.dtype)
        return function(input, *args, **options)

    return rounded  # type: ignore[return-value]


def _half_of(values: list[Any]) -> dtype | None:
    """The one dtype of 16 bits of all floating tensors among the values; None if there are others, too."""
    half = None
    for value in values:
        kind = value.dtype if isinstance(value, operation.Tensor) else None
        if kind is not None and kind.is_floating_point:
            if kind not in HALVES or half not in (None, kind):
                return None
            half = kind
    return half


def _widened(value: Any) -> Any:
    return value.float() if isinstance(value, operation.Tensor) and value.dtype in HALVES else value


def _narrowed(result: Any, kind: dtype) -> Any:
    if isinstance(result, tuple):
        parts = [_narrowed(part, kind) for part in result]
        return type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)
    return result.to(kind) if isinstance(result, operation.Tensor) and result.dtype is float32 else result
