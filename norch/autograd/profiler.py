"""A profiler: the times of the `record_function` blocks inside a `profile`. (Operations alone are not timed.)"""

from __future__ import annotations

import time
from typing import Any


class _Times(list[Any]):
    """Names of blocks with their counts and seconds."""

    def table(self, sort_by: str | None = None, row_limit: int = 100, **_: Any) -> str:
        """The blocks as text, the longest first."""
        rows = sorted(self, key=lambda row: -row[2])[:row_limit]
        return "\n".join(f"{name:<40} {count:>6} calls {seconds * 1e3:>12.3f} ms" for name, count, seconds in rows)

    def __str__(self) -> str:
        return self.table()


class profile:
    """In a `with` block, time the `record_function` blocks; `key_averages().table()` shows them.

    The options are PyTorch's and change nothing.

    >>> with norch.autograd.profiler.profile() as profiler:
    ...     with norch.autograd.profiler.record_function("sum"):
    ...         x = norch.ones(3).sum()
    >>> profiler.key_averages()[0][:2]
    ('sum', 1)
    """

    _running: list[profile] = []

    def __init__(self, *_: Any, **__: Any) -> None:
        self._found: dict[str, tuple[int, float]] = {}

    def __enter__(self) -> profile:
        profile._running.append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        profile._running.remove(self)

    def start(self) -> None:
        """Begin, as `with` does."""
        self.__enter__()

    def stop(self) -> None:
        """End, as the `with` block does."""
        self.__exit__()

    def step(self) -> None:
        """Do nothing: all steps are timed."""

    def key_averages(self, *_: Any, **__: Any) -> _Times:
        """(name, calls, seconds) of each block."""
        return _Times((name, count, seconds) for name, (count, seconds) in self._found.items())

    def add(self, name: str, seconds: float) -> None:
        """Note that a block took so long."""
        count, total = self._found.get(name, (0, 0.0))
        self._found[name] = count + 1, total + seconds


class record_function:
    """A named block, whose time the `profile` around it notes.

    >>> with norch.autograd.profiler.record_function("forward"):
    ...     x = norch.ones(2)
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name

    def __enter__(self) -> record_function:
        self._begin = time.perf_counter()
        return self

    def __exit__(self, *exception: object) -> None:
        for running in profile._running:
            running.add(self.name, time.perf_counter() - self._begin)
