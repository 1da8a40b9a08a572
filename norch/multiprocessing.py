"""Python's multiprocessing, by forking: a child shares the tensors that `share_memory_` moved to common memory.

`set_start_method("spawn")` is accepted, and processes are forked all the same: shared memory reaches a child in no
other way. What goes through a Queue or a Pipe is pickled, tensors too.
"""

from __future__ import annotations

import multiprocessing as _python
from multiprocessing.context import BaseContext, ForkContext
from typing import Any, Callable, Iterable

from .distributed import is_initialized, mpi
from .types import shown

_fork: ForkContext = _python.get_context("fork")

__all__ = [
    "Barrier", "BoundedSemaphore", "Condition", "Event", "JoinableQueue", "Lock", "Manager", "Pipe", "Pool",
    "Process", "Queue", "RLock", "Semaphore", "SimpleQueue", "Value", "Array", "active_children", "cpu_count",
    "current_process", "get_all_sharing_strategies", "get_all_start_methods", "get_context", "get_sharing_strategy",
    "get_start_method", "set_sharing_strategy", "set_start_method", "spawn", "start_processes",
]  # fmt: skip

Process = _fork.Process
Queue, SimpleQueue, JoinableQueue = _fork.Queue, _fork.SimpleQueue, _fork.JoinableQueue
Lock, RLock, Event, Condition, Semaphore = _fork.Lock, _fork.RLock, _fork.Event, _fork.Condition, _fork.Semaphore
Barrier, Pipe, Pool, Manager, Value, Array = (
    _fork.Barrier, _fork.Pipe, _fork.Pool, _fork.Manager, _fork.Value, _fork.Array,
)  # fmt: skip
active_children, cpu_count, current_process = _python.active_children, _python.cpu_count, _python.current_process
freeze_support, get_all_start_methods, get_logger = (
    _python.freeze_support, _python.get_all_start_methods, _python.get_logger,
)  # fmt: skip
BoundedSemaphore, ProcessError, TimeoutError = _fork.BoundedSemaphore, _fork.ProcessError, _fork.TimeoutError


def get_context(method: str | None = None) -> BaseContext:
    """The context of forked processes, whatever the method.

    >>> norch.multiprocessing.get_context("spawn").get_start_method()
    'fork'
    """
    _check(method)
    return _fork


def set_start_method(method: str | None, force: bool = False) -> None:
    """Accept "fork", "spawn" or "forkserver": processes are forked. Raises ValueError for another method.

    >>> norch.multiprocessing.set_start_method("spawn")
    """
    _check(method)


def _check(method: str | None) -> None:
    if method not in (None, "fork", "spawn", "forkserver"):
        raise ValueError(f"cannot find context for {shown(method)}")


def get_start_method(allow_none: bool = False) -> str:
    """How processes start: "fork".

    >>> norch.multiprocessing.get_start_method()
    'fork'
    """
    return "fork"


def get_all_sharing_strategies() -> set[str]:
    """How tensors can be shared: by common memory of a fork.

    >>> norch.multiprocessing.get_all_sharing_strategies()
    {'file_descriptor'}
    """
    return {"file_descriptor"}


def get_sharing_strategy() -> str:
    """How tensors are shared.

    >>> norch.multiprocessing.get_sharing_strategy()
    'file_descriptor'
    """
    return "file_descriptor"


def set_sharing_strategy(new_strategy: str) -> None:
    """Accept PyTorch's strategies: norch has one.

    >>> norch.multiprocessing.set_sharing_strategy("file_system")
    """


class ProcessContext:
    """The processes that `spawn` started."""

    def __init__(self, processes: Iterable[Any]) -> None:
        self.processes = list(processes)

    def pids(self) -> list[int | None]:
        """The numbers of the processes."""
        return [process.pid for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait for all; True if all have ended. Raises RuntimeError if one failed."""
        for process in self.processes:
            process.join(timeout)
        for number, process in enumerate(self.processes):
            if process.exitcode not in (0, None):
                raise RuntimeError(f"process {number} terminated with exit code {process.exitcode}")
        return all(process.exitcode is not None for process in self.processes)


def spawn(
    fn: Callable[..., object],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run `fn(i, *args)` in `nprocs` processes; wait for them, or return a context that can.

    If `python -m norch.distributed.run` or mpirun started that many ranks, they are the processes, unless they have
    a process group already: each calls `fn` with its own number.

    Raises RuntimeError if one of them fails.

    >>> norch.multiprocessing.spawn(print, args=("in a process",), nprocs=0)
    """
    _check(start_method)
    if nprocs > 1 and nprocs == mpi.launched_size() and not is_initialized():
        fn(mpi.told(mpi.RANKS, 0), *args)
        return None if join else ProcessContext([])
    context = ProcessContext(Process(target=fn, args=(i, *args), daemon=daemon) for i in range(nprocs))
    for process in context.processes:
        process.start()
    if not join:
        return context
    context.join()
    return None


def start_processes(
    fn: Callable[..., object],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run a function in several processes, as `spawn`.

    >>> norch.multiprocessing.start_processes(print, nprocs=0)
    """
    return spawn(fn, args, nprocs, join, daemon, start_method)
