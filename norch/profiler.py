"""The profiler under PyTorch's newer path."""

from __future__ import annotations

import os
import socket
import time
from enum import Enum
from typing import Any, Callable

from .autograd.profiler import profile as _profile
from .autograd.profiler import record_function

__all__ = [
    "ProfilerActivity", "ProfilerAction", "kineto_available", "profile", "record_function", "schedule",
    "supported_activities", "tensorboard_trace_handler",
]  # fmt: skip


class ProfilerActivity:
    """What PyTorch's profiler can watch, as names.

    >>> norch.profiler.ProfilerActivity.CPU
    'CPU'
    """

    CPU, CUDA, XPU = "CPU", "CUDA", "XPU"


class ProfilerAction(Enum):
    """What the profiler does in a step: NONE and WARMUP note nothing, RECORD_AND_SAVE is the last of those that do.

    >>> norch.profiler.ProfilerAction.RECORD
    <ProfilerAction.RECORD: 2>
    """

    NONE, WARMUP, RECORD, RECORD_AND_SAVE = range(4)


def kineto_available() -> bool:
    """Whether PyTorch's library that watches processors is there: no.

    >>> norch.profiler.kineto_available()
    False
    """
    return False


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """What to do in a step: after `skip_first` steps `repeat` cycles of `wait`, `warmup` and `active` ones (0: no end).

    With `skip_first_wait` the first cycle does not wait. Raises ValueError for numbers out of range.

    >>> plan = norch.profiler.schedule(wait=1, warmup=1, active=2)
    >>> [plan(step).name for step in range(5)]
    ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    length = wait + warmup + active
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        numbers = f"wait={wait}, warmup={warmup}, active={active}, repeat={repeat}, skip_first={skip_first}"
        raise ValueError(f"schedule: expected active > 0 and no negative numbers, got {numbers}")

    def action(step: int) -> ProfilerAction:
        step = step - skip_first + (wait if skip_first_wait and step >= skip_first else 0)
        place = step % length
        if step < 0 or (repeat and step >= repeat * length) or place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if place < length - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


class profile(_profile):
    """The profiler of `autograd.profiler`, that notes the steps which `schedule` chooses (default: all).

    `step()` begins the next step. `on_trace_ready(profiler)` is called after the last step of each cycle, and at the
    end if something was noted since.

    >>> with norch.profiler.profile(schedule=norch.profiler.schedule(wait=1, warmup=0, active=2)) as profiler:
    ...     for _ in range(3):
    ...         with norch.profiler.record_function("sum"):
    ...             x = norch.ones(3).sum()
    ...         profiler.step()
    >>> profiler.key_averages()[0][:2]
    ('sum', 2)
    """

    def __init__(
        self,
        *,
        activities: Any = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], object] | None = None,
        **_: Any,
    ) -> None:
        super().__init__()
        self.schedule = schedule or (lambda step: ProfilerAction.RECORD)
        self.on_trace_ready = on_trace_ready
        self.current_action = ProfilerAction.NONE

    def _turn(self, action: ProfilerAction) -> None:
        """Do from now on what `action` says."""
        before, self.current_action = self.current_action, action
        if before in _NOTED and (action not in _NOTED or before is ProfilerAction.RECORD_AND_SAVE):
            super().__exit__()
            if self.on_trace_ready is not None:
                self.on_trace_ready(self)
            before = ProfilerAction.NONE
        if action in _NOTED and before not in _NOTED:
            self._found.clear()
            super().__enter__()

    def __enter__(self) -> profile:
        self._turn(self.schedule(self.step_num))
        return self

    def __exit__(self, *exception: object) -> None:
        self._turn(ProfilerAction.NONE)

    def step(self) -> None:
        """Begin the next step."""
        self.step_num += 1
        self._turn(self.schedule(self.step_num))


_NOTED = ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE


def supported_activities() -> set[str]:
    """What can be watched: the CPU.

    >>> norch.profiler.supported_activities()
    {'CPU'}
    """
    return {ProfilerActivity.CPU}


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[_profile], None]:
    """What `on_trace_ready` takes: it writes `<worker>.<time>.pt.trace.json` in the folder, for chrome://tracing.

    >>> handler = norch.profiler.tensorboard_trace_handler("log", worker_name="first")
    """

    def write(profiler: _profile) -> None:
        os.makedirs(dir_name, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        path = os.path.join(dir_name, f"{worker}.{time.time_ns()}.pt.trace.json")
        profiler.export_chrome_trace(path + ".gz" if use_gzip else path)

    return write
