"""The examples of norch's docstrings as workloads: found by walking the package, so that a new name brings its own."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import inspect
import io
import os
import pkgutil
import random
import shutil
import tempfile
from types import ModuleType, SimpleNamespace
from typing import Any, Iterator

import norch

from .attempt import restore, settings
from .workloads import Workload

# Examples that start processes, wait, or print what differs from run to run
UNSUITABLE = ("norch.distributed", "norch.hub", "norch.multiprocessing", "norch.utils.tensorboard", "norch.jit")


def examples() -> Iterator[Example]:
    """One for each docstring with an example, by name."""
    for name, text in sorted(docstrings().items()):
        parts = doctest.DocTestParser().get_examples(text)
        if parts and not name.startswith(UNSUITABLE):
            yield Example(name, [part for part in parts if not part.exc_msg])


def docstrings() -> dict[str, str]:
    found: dict[str, str] = {}
    for info in pkgutil.walk_packages(norch.__path__, "norch."):
        with contextlib.suppress(ImportError):
            module = importlib.import_module(info.name)
            for value in vars(module).values():
                if getattr(value, "__module__", "") == module.__name__ and not isinstance(value, ModuleType):
                    collect(value, found)
    return found


def collect(value: Any, found: dict[str, str]) -> None:
    name = f"{value.__module__}.{getattr(value, '__qualname__', '')}"
    text = value.__doc__ if isinstance(getattr(value, "__doc__", None), str) else ""
    if ">>>" in (text or ""):
        found[name] = inspect.cleandoc(text)
    if inspect.isclass(value):
        for member in vars(value).values():
            function = getattr(member, "fget", None) or getattr(member, "__func__", member)
            if inspect.isfunction(function) and function.__doc__ and ">>>" in function.__doc__:
                found[f"{function.__module__}.{function.__qualname__}"] = inspect.cleandoc(function.__doc__)


class Example(Workload):
    """All statements of an example are one phase; its result is what they print."""

    def __init__(self, name: str, parts: list[doctest.Example]) -> None:
        super().__init__(f"example: {name}", self.beginning, self.run)
        self.sets = any("set_" in part.source for part in parts)  # settings, which stay where it is interrupted
        self.code = [compile(part.source, f"<{name}>", "single") for part in parts]

    def beginning(self) -> Any:
        home, folder = os.getcwd(), tempfile.mkdtemp(prefix="norch-attack-")
        os.chdir(folder)
        random.seed(1)
        return SimpleNamespace(home=home, folder=folder)

    def run(self, s: Any) -> None:
        names = {"norch": norch, "nn": norch.nn, "optim": norch.optim, "F": norch.nn.functional, "random": random}
        random.seed(1)
        kept = settings()
        s.printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(s.printed):
                for code in self.code:
                    exec(code, names)
        finally:
            names.clear()
            if self.sets:
                restore(kept)
            if norch.distributed.is_initialized():
                norch.distributed.destroy_process_group()

    def state(self, s: Any) -> Any:
        return None

    def results(self, s: Any) -> Any:
        return s.printed.getvalue()

    def end(self, s: Any) -> None:
        os.chdir(s.home)
        shutil.rmtree(s.folder, ignore_errors=True)
        super().end(s)
