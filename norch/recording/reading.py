"""What the code of a function may read: names, the modules and packages behind them, and what changes unseen."""

from __future__ import annotations

import dis
import functools
import io
import os
import random
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

OWN = __name__.partition(".")[0]
_STANDARD = os.path.dirname(os.__file__) + os.sep  # where the standard library is
# What functions of these modules look at, but for the pure ones of them.
_OUTSIDE = {
    "time": "the clock",
    "datetime": "the clock",
    "genericpath": "files",
    "uuid": "random numbers that are not norch's",
    "secrets": "random numbers that are not norch's",
}
_OF_SYSTEM = {"getcwd", "listdir", "scandir", "stat", "lstat", "urandom", "getpid"}
_PURE = {"commonprefix", "UUID", "fromtimestamp", "fromisoformat", "fromordinal", "strptime", "combine"}
_IMPORT = dis.opmap["IMPORT_NAME"]


@functools.lru_cache(1000)
def names_in(code: types.CodeType) -> tuple[frozenset[str], bool]:
    """The names of globals and attributes that a function, and those inside of it, may read, also as texts; and
    whether it imports modules."""
    names, imports = set(code.co_names), _IMPORT in code.co_code[::2]
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner, imports_too = names_in(constant)
            names |= inner
            imports |= imports_too
        elif type(constant) is str and constant.isidentifier():
            names.add(constant)
    return frozenset(names), imports


def line_of(names: set[Any], codes: list[types.CodeType]) -> tuple[str, int] | None:
    """The first line of these functions that reads one of the names."""
    for code in codes:
        for step in dis.get_instructions(code):
            if step.argval in names:
                return code.co_filename, max(
                    line for at, line in dis.findlinestarts(code) if at <= step.offset and line
                )
    return None


def modules_named(names: Iterable[str], package: str | None) -> list[tuple[str, Any]]:
    """The modules that code of a package may import by these names."""
    texts = [(name, text) for name in names for text in (name, f"{package}.{name}")]
    return [(name, sys.modules[text]) for name, text in texts if text in sys.modules]


@functools.cache
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


def outside(function: Any) -> str | None:
    """What a function of Python's own looks at that no program sees."""
    if function is os.getenv:
        return "the environment"
    owner = getattr(function, "__self__", None)
    module = owner.__module__ if isinstance(owner, type) else function.__module__
    if module == "posix":  # which has names that methods of other objects have, too
        return "the operating system" if function.__name__ in _OF_SYSTEM else None
    return None if function.__name__ in _PURE else _OUTSIDE.get(module)


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
