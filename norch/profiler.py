"""The profiler under PyTorch's newer path."""

from __future__ import annotations

from typing import Any, Callable

from .autograd.profiler import profile, record_function

__all__ = [
    "ProfilerActivity", "ProfilerAction", "profile", "record_function", "schedule", "supported_activities",
    "tensorboard_trace_handler",
]  # fmt: skip


class ProfilerActivity:
    """What PyTorch's profiler can watch, as names.

    >>> norch.profiler.ProfilerActivity.CPU
    'CPU'
    """

    CPU, CUDA, XPU = "CPU", "CUDA", "XPU"


def schedule(**_: Any) -> Callable[[int], None]:
    """Which steps to watch: norch watches all.

    >>> norch.profiler.schedule(wait=1, warmup=1, active=2)(0)
    """
    return lambda step: None


class ProfilerAction:
    """What PyTorch's profiler does in a step, as names.

    >>> norch.profiler.ProfilerAction.RECORD
    'RECORD'
    """

    NONE, WARMUP, RECORD, RECORD_AND_SAVE = "NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE"


def supported_activities() -> set[str]:
    """What can be watched: the CPU.

    >>> norch.profiler.supported_activities()
    {'CPU'}
    """
    return {ProfilerActivity.CPU}


def tensorboard_trace_handler(dir_name: str, worker_name: str | None = None, use_gzip: bool = False) -> Any:
    """What `on_trace_ready` takes: here it writes nothing, `key_averages().table()` shows the times.

    >>> norch.profiler.tensorboard_trace_handler("log")(None)
    """
    return lambda profiler: None
