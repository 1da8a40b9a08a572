"""Modes that are changed for a while, and are as before afterwards wherever an interrupt comes."""

from __future__ import annotations

import ctypes
import functools
from typing import TYPE_CHECKING, Any, Callable, Sequence, TypeVar

from ._C import CPYTHON, lib

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


def _method(function: Any) -> Any:
    """A C function as a method, which gets `self`."""
    method_of = ctypes.pythonapi.PyInstanceMethod_New
    method_of.restype, method_of.argtypes = ctypes.py_object, [ctypes.py_object]
    return method_of(function)


class GuardMethods:
    """The methods of Guard, for what has the attributes `_changes` and `_entered`.

    Each is one call of C (csrc/api/objects.cpp), so that an interrupt comes before or after it. Should one come between
    the end of the block and `__exit__`, the guard restores the values when it goes.
    """

    __slots__ = ()

    _changes: Sequence[tuple[Any, dict[str, Any]]]
    _entered: list[Any]

    if CPYTHON and not TYPE_CHECKING:
        __enter__, __exit__, __del__ = map(_method, (lib.enter_guard, lib.leave_guard, lib.drop_guard))
    else:  # the same without C's protection: this Python has no C API

        def __enter__(self) -> Any:
            self._entered.append(
                [(vars(target), {name: getattr(target, name) for name in values}) for target, values in self._changes]
            )
            for target, values in self._changes:
                vars(target).update(values)
            return self

        def __exit__(self, *exception: object) -> None:
            for attributes, before in self._entered.pop():
                attributes.update(before)


class Guard(GuardMethods):
    """In its `with` block, attributes of objects have other values: `Guard((mode, {"enabled": False}))`.

    A function that it decorates runs in such a block. The values are those of this thread if the objects are
    `threading.local`.
    """

    def __init__(self, *changes: tuple[Any, dict[str, Any]]) -> None:
        self._entered, self._changes = [], changes

    def __call__(self, function: F) -> F:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return call  # type: ignore[return-value]


if CPYTHON and not TYPE_CHECKING:
    within = lib.call_within
else:

    def within(
        changes: tuple[tuple[Any, dict[str, Any]], ...],
        function: Callable[..., T],
        arguments: tuple[Any, ...],
        named: dict[str, Any],
    ) -> T:
        """function(*arguments, **named) within Guard(*changes), in one call of C."""
        with Guard(*changes):
            return function(*arguments, **named)
