"""Watches the calls that norch makes into its C library."""

from __future__ import annotations

import ctypes
import sys
import time
from typing import Any, Callable

Report = Callable[[str, int], None]  # name of the function, nanoseconds that its call took
CALLS_BACK = {"call_within", "call_between", "walk_plain"}  # their time counts as that of the Python that they call


def import_watched(report: Report) -> Any:
    """Import norch so that `report` follows each of its calls into C; it must not be imported already.

    norch keeps references to C functions all over its modules: they are replaced where they come from, in ctypes.
    """
    if "norch" in sys.modules:
        raise RuntimeError("norch is imported already: its calls can no longer be watched")
    originals = {name: getattr(ctypes, name) for name in ("CDLL", "PyDLL")}
    for name, original in originals.items():
        setattr(ctypes, name, watched_library(original, report))
    try:
        import norch
    finally:
        for name, original in originals.items():
            setattr(ctypes, name, original)
    return norch


def watched_library(original: Any, report: Report) -> Any:
    """A class of libraries like `original`, whose functions report; but not those of the interpreter itself."""
    interpreter = ctypes.pythonapi._handle

    class Library(original):
        def __getitem__(self, name: str) -> Any:
            function = super().__getitem__(name)
            return function if self._handle == interpreter else Watched(function, name, report)

    return Library


class Watched:
    """A C function that reports each call of it."""

    def __init__(self, function: Any, name: str, report: Report) -> None:
        vars(self).update(function=function, name=name, report=report)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.function, name, value)  # restype and argtypes

    def __call__(self, *arguments: Any) -> Any:
        if self.name == "new_builtin":  # of _C.py: a C function that is called without ctypes
            return Watched(self.function(*arguments), arguments[1].decode(), self.report)
        clock = time.perf_counter_ns
        start = clock()
        result = self.function(*arguments)
        self.report(self.name, 0 if self.name in CALLS_BACK else clock() - start)
        return result


def cost_of_clock() -> int:
    """Nanoseconds that `Watched` measures where nothing happens."""
    clock = time.perf_counter_ns
    return min(-(clock() - clock()) for _ in range(10_000))
