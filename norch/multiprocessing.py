"""Python's multiprocessing, by forking: a child shares the tensors that `share_memory_` moved to common memory.

`set_start_method("spawn")` is accepted, and processes are forked all the same: shared memory reaches a child in no
other way. What goes through a Queue or a Pipe is pickled, tensors too.
"""

from __future__ import annotations

import multiprocessing as _python
import signal
import sys
import traceback
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext, ForkContext
from typing import Any, Callable, cast

from .distributed import is_initialized, mpi
from .types import shown

_fork: ForkContext = _python.get_context("fork")

__all__ = [
    "Barrier", "BoundedSemaphore", "Condition", "Event", "JoinableQueue", "Lock", "Manager", "Pipe", "Pool",
    "Process", "ProcessContext", "ProcessExitedException", "ProcessRaisedException",
    "Queue", "RLock", "Semaphore", "SimpleQueue", "Value", "Array", "active_children", "cpu_count",
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


class ProcessException(RuntimeError):
    """One of the processes of `spawn` failed."""

    def __init__(self, msg: str, error_index: int, error_pid: int | None) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.error_pid = msg, error_index, error_pid


class ProcessRaisedException(ProcessException):
    """It raised an exception, whose traceback the message has."""


class ProcessExitedException(ProcessException):
    """It ended otherwise: by a signal, or with an exit code."""

    def __init__(self, msg: str, error_index: int, error_pid: int | None, exit_code: int) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code = exit_code
        self.signal_name = signal.Signals(-exit_code).name if exit_code < 0 else None


def _reporting(error: Connection, fn: Callable[..., object], *args: Any) -> None:
    """Run in a process: send the traceback of what `fn` raises."""
    try:
        fn(*args)
    except KeyboardInterrupt:
        pass  # the parent is interrupted too
    except Exception:
        error.send(traceback.format_exc()[-10_000:])  # less than a pipe holds: nobody reads before the end
        sys.exit(1)


class ProcessContext:
    """The processes that `spawn` starts.

    >>> context = norch.multiprocessing.spawn(print, args=("in a process",), nprocs=0, join=False)
    >>> context.join()
    True
    """

    def __init__(self, fn: Callable[..., object], args: tuple[Any, ...], nprocs: int, daemon: bool) -> None:
        pipes = [Pipe(duplex=False) for _ in range(nprocs)]
        self._errors = [reading for reading, _ in pipes]
        self.processes = [
            Process(target=_reporting, args=(writing, fn, number, *args), daemon=daemon)
            for number, (_, writing) in enumerate(pipes)
        ]
        for process, (_, writing) in zip(self.processes, pipes):
            process.start()
            writing.close()
        self._running = {process.sentinel: number for number, process in enumerate(self.processes)}

    def pids(self) -> list[int | None]:
        """The numbers of the processes."""
        return [process.pid for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until one has ended, at most `timeout` seconds; True if all have.

        If one failed, ends the others, for which it waits `grace_period` seconds before, and raises a ProcessException.
        """
        failed = None
        for sentinel in wait(list(self._running), timeout) if self._running else ():
            number = self._running.pop(cast(int, sentinel))
            self.processes[number].join()
            if self.processes[number].exitcode != 0:
                failed = number if failed is None else failed
        if failed is None:
            return not self._running
        for process in self.processes:
            if grace_period is not None:
                process.join(grace_period)
            process.terminate()
            process.join()
        self._running.clear()
        raise self._failure(failed)

    def _failure(self, number: int) -> ProcessException:
        process, error = self.processes[number], self._errors[number]
        with suppress(EOFError):  # it sent nothing
            if error.poll():
                text = f"\n\n-- Process {number} terminated with the following error:\n{error.recv()}"
                return ProcessRaisedException(text, number, process.pid)
        code = process.exitcode or 0
        ended = f"exit code {code}" if code > 0 else f"signal {signal.Signals(-code).name}"
        return ProcessExitedException(f"process {number} terminated with {ended}", number, process.pid, code)


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

    If one of them fails, the others are ended; raises a ProcessException, a RuntimeError, with its traceback.

    >>> norch.multiprocessing.spawn(print, args=("in a process",), nprocs=0)
    """
    _check(start_method)
    if nprocs > 1 and nprocs == mpi.launched_size() and not is_initialized():
        fn(mpi.told(mpi.RANKS, 0), *args)
        return None if join else ProcessContext(fn, args, 0, daemon)
    context = ProcessContext(fn, args, nprocs, daemon)
    if not join:
        return context
    while not context.join():
        pass
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
