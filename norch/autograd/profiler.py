"""A profiler: the times of the `record_function` blocks inside a `profile`. (Operations alone are not timed.)"""

from __future__ import annotations

import gzip
import json
import time
from typing import Any, NamedTuple

from ..files import written
from ..missing import missing


class _Row(NamedTuple):
    key: str
    calls: int
    seconds: float


class _Block(_Row):
    """A block's name, how often it ran, and its seconds in all; microseconds under PyTorch's names."""

    __slots__ = ()

    name = property(lambda self: self.key)
    count = property(lambda self: self.calls)  # (a tuple counts its elements)
    cpu_time_total = property(lambda self: self.seconds * 1e6)
    self_cpu_time_total = cpu_time_total
    cpu_time = property(lambda self: self.seconds * 1e6 / self.calls)


class EventList(list[_Block]):
    """The blocks of a run."""

    def table(self, sort_by: str | None = None, row_limit: int = 100, **_: Any) -> str:
        """The blocks as text, the longest first."""
        rows = sorted(self, key=lambda row: -row.seconds)[:row_limit]
        return "\n".join(f"{name:<40} {count:>6} calls {seconds * 1e3:>12.3f} ms" for name, count, seconds in rows)

    @property
    def self_cpu_time_total(self) -> float:
        """The microseconds of all blocks."""
        return 1e6 * sum(row.seconds for row in self)

    def total_average(self) -> _Block:
        """All blocks as one."""
        return _Block("Total", sum(row.calls for row in self), sum(row.seconds for row in self))

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
        self._found: list[tuple[str, float, float]] = []  # name, start, seconds
        self.step_num = 0

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
        """Count a step: all steps are timed."""
        self.step_num += 1

    def key_averages(self, *_: Any, **__: Any) -> EventList:
        """(key, count, seconds) of each block."""
        names = dict.fromkeys(name for name, _, _ in self._found)
        times = {name: [seconds for other, _, seconds in self._found if other == name] for name in names}
        return EventList(_Block(name, len(found), sum(found)) for name, found in times.items())

    def events(self) -> EventList:
        """Each run of a block alone."""
        return EventList(_Block(name, 1, seconds) for name, _, seconds in self._found)

    @property
    def self_cpu_time_total(self) -> float:
        """The microseconds of all blocks."""
        return self.key_averages().self_cpu_time_total

    def table(self, **options: Any) -> str:
        """The blocks as text."""
        return self.key_averages().table(**options)

    def export_chrome_trace(self, path: str) -> None:
        """Write the blocks as a trace that chrome://tracing shows."""
        names = ("name", "ts", "dur")
        events = [dict(zip(names, (name, at * 1e6, seconds * 1e6)), ph="X") for name, at, seconds in self._found]
        trace = {"traceEvents": [{**event, "pid": 0, "tid": 0} for event in events]}
        data = json.dumps(trace).encode()
        with written(path, "export_chrome_trace") as file:
            file.write(gzip.compress(data) if str(path).endswith(".gz") else data)

    def add(self, name: str, start: float, seconds: float) -> None:
        """Note that a block began then and took so long."""
        self._found.append((name, start, seconds))


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
            running.add(self.name, self._begin, time.perf_counter() - self._begin)


__getattr__ = missing("autograd.profiler")
