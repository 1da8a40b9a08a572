"""Timing of small pieces of code: how long a statement takes, and a table that compares several.

>>> timer = norch.utils.benchmark.Timer("x + x", globals={"x": norch.ones(10)})
>>> timer.timeit(5).mean > 0
True
"""

from __future__ import annotations

import statistics
import timeit
from typing import Any, Callable, Iterable, NamedTuple

from ..arguments import whole
from ..operation import check_kind
from ..threads import with_num_threads
from ..types import shown

__all__ = ["Compare", "Measurement", "TaskSpec", "Timer", "timer"]

timer = timeit.default_timer


class TaskSpec(NamedTuple):
    """What was timed, and under which names it is shown.

    >>> norch.utils.benchmark.TaskSpec("x + y", label="sum").title
    'sum'
    """

    stmt: str
    setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label, or the statement."""
        return self.label or self.stmt


class Measurement:
    """Seconds for a run, measured several times, each time over `number_per_run` runs.

    >>> spec = norch.utils.benchmark.TaskSpec("x + y")
    >>> norch.utils.benchmark.Measurement(10, [1.0, 2.0, 6.0], spec).median
    0.2
    """

    def __init__(self, number_per_run: int, raw_times: list[float], task_spec: TaskSpec) -> None:
        self.number_per_run = whole(number_per_run, "Measurement: number_per_run", 1)
        self.raw_times, self.task_spec = [float(seconds) for seconds in raw_times], task_spec
        if not self.raw_times:
            raise ValueError("Measurement: expected at least one time, got none")

    @property
    def times(self) -> list[float]:
        """Seconds for a run, of each measurement."""
        return [seconds / self.number_per_run for seconds in self.raw_times]

    mean = property(lambda self: statistics.mean(self.times), doc="The mean of the times.")
    median = property(lambda self: statistics.median(self.times), doc="The median of the times.")
    num_threads = property(lambda self: self.task_spec.num_threads, doc="How many threads there were.")
    title = property(lambda self: self.task_spec.title, doc="The label of what was timed, or its statement.")

    @property
    def iqr(self) -> float:
        """The distance between the quartiles."""
        if len(self.raw_times) < 2:
            return 0.0
        quartiles = statistics.quantiles(self.times, n=4, method="inclusive")
        return quartiles[2] - quartiles[0]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in TaskSpec._fields:
            raise AttributeError(f"a Measurement has no attribute {name!r}")
        return getattr(self.task_spec, name)

    def __repr__(self) -> str:
        unit, scale = _unit(self.median)
        spec = self.task_spec
        head = spec.title + (f": {spec.sub_label}" if spec.sub_label else "")
        lines = [f"{type(self).__name__}: {head}", *([spec.description] if spec.description else [])]
        if len(self.raw_times) > 1:
            lines += [f"  Median: {self.median / scale:.2f} {unit}", f"  IQR:    {self.iqr / scale:.2f} {unit}"]
        else:
            lines.append(f"  {self.median / scale:.2f} {unit}")
        threads = "thread" if spec.num_threads == 1 else "threads"
        lines.append(f"  {len(self.raw_times)} measurements, {self.number_per_run} runs per measurement, "
                     f"{spec.num_threads} {threads}")  # fmt: skip
        return "\n".join(lines)


def _unit(seconds: float) -> tuple[str, float]:
    for unit, scale in (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3)):
        if seconds < 1000 * scale:
            return unit, scale
    return "s", 1.0


class Timer:
    """A statement to be timed: Python code as text, with the names of `globals`, after `setup`.

    It runs with `num_threads` threads, one unless told otherwise. The labels are for `Compare`. Raises ValueError for
    another language than Python.

    >>> norch.utils.benchmark.Timer("x * 2", globals={"x": 3}).timeit(10).number_per_run
    10
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: str = "python",
    ) -> None:
        if str(language).lower() not in ("python", "language.python", "py"):
            raise ValueError(f"Timer: language is {shown(language)}, expected 'python'")
        check_kind({} if globals is None else globals, dict, "Timer: globals")
        self._timer = timeit.Timer(stmt, setup, timer, globals=dict(globals or {}))
        self._spec = TaskSpec(stmt, setup, label, sub_label, description, env, num_threads)

    def _time(self, number: int) -> float:
        return with_num_threads(self._spec.num_threads, self._timer.timeit, max(number, 1))

    def timeit(self, number: int = 1000000) -> Measurement:
        """One measurement over so many runs, after a few that are not counted."""
        number = whole(number, "Timer.timeit")
        self._time(max(number // 100, 2))
        return Measurement(number, [self._time(number)], self._spec)

    def blocked_autorange(
        self, callback: Callable[[int, float], object] | None = None, min_run_time: float = 0.2
    ) -> Measurement:
        """Measurements of so many runs each that the clock costs nothing, for at least `min_run_time` seconds."""
        number, seconds = 1, self._time(1)
        while seconds < min(min_run_time / 100, 1e-3) and number < 10**7:
            number *= 10
            seconds = self._time(number)
        times: list[float] = []
        while sum(times) < min_run_time:
            times.append(self._time(number))
            if callback is not None:
                callback(number, times[-1])
        return Measurement(number, times, self._spec)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], object] | None = None,
    ) -> Measurement:
        """As `blocked_autorange`, until the quartiles lie `threshold` medians apart, or `max_run_time` is over."""
        found = self.blocked_autorange(callback, min_run_time)
        while found.iqr > threshold * found.median and sum(found.raw_times) < max_run_time:
            found.raw_times.append(self._time(found.number_per_run))
        return found


class Compare:
    """A table of measurements: a row for each sub_label, a column for each description.

    >>> timer = norch.utils.benchmark.Timer("1 + 1", label="sums", sub_label="small", description="ints")
    >>> print("small" in str(norch.utils.benchmark.Compare([timer.timeit(10)])))
    True
    """

    def __init__(self, results: Iterable[Measurement]) -> None:
        self._results: list[Measurement] = []
        self.extend_results(results)

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add measurements."""
        self._results += [check_kind(result, Measurement, "Compare") for result in results]

    def trim_significant_figures(self) -> None:
        """Do nothing: all times have the same number of digits."""

    colorize = highlight_warnings = trim_significant_figures

    def print(self) -> None:
        """Print the table."""
        print(self)

    def __str__(self) -> str:
        labels = dict.fromkeys(result.title for result in self._results)
        return "\n\n".join(_table(label, [r for r in self._results if r.title == label]) for label in labels)


def _table(label: str, results: list[Measurement]) -> str:
    """The medians: rows are numbers of threads and sub_labels, columns the descriptions."""
    unit, scale = _unit(min(result.median for result in results))
    cells: dict[tuple[int, str], dict[str, list[float]]] = {}
    for result in sorted(results, key=lambda result: result.num_threads):
        spec = result.task_spec
        row = cells.setdefault((spec.num_threads, spec.sub_label or spec.stmt), {})
        row.setdefault(spec.description or spec.env or "", []).append(result.median)
    columns = list(dict.fromkeys(name for row in cells.values() for name in row))
    lines, before = [[label, *columns]], 0
    for (threads, name), row in cells.items():
        if threads != before:
            lines.append([f"{threads} threads:"])
        medians = [f"{statistics.median(row[column]) / scale:.1f}" if column in row else "" for column in columns]
        lines.append([f"      {name}", *medians])
        before = threads
    return _aligned(lines) + f"\n\nTimes are in {_WORDS[unit]} ({unit})."


_WORDS = {"ns": "nanoseconds", "us": "microseconds", "ms": "milliseconds", "s": "seconds"}


def _aligned(lines: list[list[str]]) -> str:
    count = max(map(len, lines))
    widths = [max((len(line[i]) for line in lines if len(line) > i), default=0) for i in range(count)]
    return "\n".join(
        "  |  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(line, widths))
        )
        for line in lines
    )
