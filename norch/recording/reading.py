"""What the code of a function may read: names, the modules and packages behind them, and what changes unseen."""

from __future__ import annotations

import dis
import functools
import io
import os
import random
import sys
import types
from collections.abc import Iterator
from typing import Any

OWN = __name__.partition(".")[0]
_STANDARD = os.path.dirname(os.__file__) + os.sep  # where the standard library is
_IMPORT = dis.opmap["IMPORT_NAME"]


def names_of(code: types.CodeType) -> set[str]:
    """The global names that a function, and those inside of it, may read; and of attributes, which may be texts."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= names_of(constant)
        elif type(constant) is str and constant.isidentifier():
            names.add(constant)
    return names


def line_of(names: set[Any], codes: list[types.CodeType]) -> tuple[str, int] | None:
    """The first line of these functions that reads one of the names."""
    for code in codes:
        for step in dis.get_instructions(code):
            if step.argval in names:
                return code.co_filename, max(
                    line for at, line in dis.findlinestarts(code) if at <= step.offset and line
                )
    return None


def imported(function: types.FunctionType, names: set[str]) -> list[Any]:
    """The modules that a function may import itself."""
    package = function.__globals__.get("__package__")
    texts = (*names, *[f"{package}.{name}" for name in names]) if package else names
    found = [sys.modules[text] for text in texts if text in sys.modules]
    return found if found and _IMPORT in function.__code__.co_code[::2] else []


def root_of(module: str | None) -> str:
    return (module or "").partition(".")[0]


def package_of(value: Any) -> str:
    """The outermost package in which a function or a class was defined; of another object that of its class."""
    while isinstance(value, (functools.partial, types.MethodType)):
        value = value.func if isinstance(value, functools.partial) else value.__func__
    return root_of(getattr(value, "__module__", None))


@functools.cache
def is_installed(package: str) -> bool:
    """Whether a package is norch, of the standard library or installed: its functions keep what they look at."""
    if package == OWN:
        return True
    path = getattr(sys.modules.get(package), "__file__", None) or ""
    return package in sys.builtin_module_names or "site-packages" in path or path.startswith(_STANDARD)


def restless(value: Any) -> str | None:
    """What a value is that changes when it is used, or whose elements change unseen."""
    kind = type(value)
    if isinstance(value, random.Random) or kind.__module__.startswith("numpy.random"):
        return "random numbers that are not norch's"
    if (
        isinstance(value, Iterator)
        and not isinstance(value, io.IOBase)
        and not isinstance(kind.__next__, types.FunctionType)
    ):
        return f"an iterator ({kind.__name__})"
    if hasattr(kind, "__array_interface__"):
        return f"an array ({kind.__name__})" if hasattr(kind, "__setitem__") else None  # else a number of NumPy
    try:
        return None if memoryview(value).readonly else f"an array ({kind.__name__})"
    except TypeError:
        return None
