"""How many threads an operation may use, and locks for what the threads of a program share."""

from __future__ import annotations

import os
import threading
from functools import partial
from typing import Any, Callable, TypeVar

from ._C import CPYTHON, lib
from .arguments import whole
from .operation import refuse_recording

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


def set_num_threads(count: int) -> None:
    """Use up to `count` threads for large operations, as NORCH_NUM_THREADS does. Raises ValueError below 1.

    >>> before = norch.get_num_threads()
    >>> norch.set_num_threads(1)
    >>> norch.get_num_threads()
    1
    >>> norch.set_num_threads(before)
    """
    _checked(count)
    lib.set_num_threads(count)


def _checked(count: int) -> None:
    if whole(count, "set_num_threads", high=2**31) < 1:
        raise ValueError(f"set_num_threads: expected a positive number, got {count}")


def with_num_threads(count: int, function: Callable[..., T], *arguments: Any) -> T:
    """function(*arguments) with up to `count` threads: one call of C sets the number and sets it back."""
    _checked(count)
    begin, end = (partial(lib.set_num_threads, number) for number in (count, lib.get_num_threads()))
    if CPYTHON:
        return lib.call_between(begin, end, function, arguments)  # no interrupt comes in between
    try:
        begin()
        return function(*arguments)
    finally:
        end()


def get_num_threads() -> int:
    """How many threads a large operation may use: at first, as many as this process has processors.

    >>> norch.get_num_threads() >= 1
    True
    """
    refuse_recording("the number of threads is read")
    return lib.get_num_threads()


def get_num_interop_threads() -> int:
    """How many operations can run at once: one, in each thread of the program.

    >>> norch.get_num_interop_threads()
    1
    """
    return 1


def set_num_interop_threads(count: int) -> None:
    """Do nothing: operations of one thread run one after another. Raises ValueError below 1.

    >>> norch.set_num_interop_threads(1)
    """
    if whole(count, "set_num_interop_threads", high=2**31) < 1:
        raise ValueError(f"set_num_interop_threads: expected a positive number, got {count}")


def shared_lock() -> Any:
    """A new lock, which a thread may take again. A fork waits for it, so that a child finds it free."""
    lock = threading.RLock()  # finalizers can run at any time, also in the thread that holds it
    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock


def holding(lock: Any) -> Callable[[F], F]:
    """What makes a function hold a lock, in one call of C: an interrupt after a `with` block could leave it held."""
    acquire, release = lock.acquire, lock.release

    def decorated(function: Any) -> Any:
        def call(*arguments: Any) -> Any:
            if CPYTHON:
                return lib.call_between(acquire, release, function, arguments)
            with lock:
                return function(*arguments)

        return call

    return decorated


def held(lock: Any, function: Callable[..., T], *arguments: Any) -> T:
    """function(*arguments), which holds a lock meanwhile."""
    return holding(lock)(function)(*arguments)
