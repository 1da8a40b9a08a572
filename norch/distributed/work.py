"""Work: a collective under way. It is polled, so that a wait has a deadline: nothing hangs."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from typing import Any, Callable, Union

Timeout = Union[float, timedelta, None]

# A waiting rank polls; then it lets others have the processor between polls; then it sleeps between them.
_EAGER = 100  # polls
_PATIENT, _NAP = 20e-3, 1e-3  # seconds: of polling, and the longest sleep


class DistError(RuntimeError):
    """Processes that train together failed to communicate.

    >>> issubclass(norch.distributed.DistError, RuntimeError)
    True
    """


class DistBackendError(DistError):
    """A collective failed, or did not finish in time, or the ranks called different ones.

    >>> issubclass(norch.distributed.DistBackendError, norch.distributed.DistError)
    True
    """


def seconds(timeout: Timeout, default: float) -> float:
    """A timeout in seconds, given as such or as a timedelta. Raises ValueError unless it is positive."""
    if timeout is None:
        return default
    found = timeout.total_seconds() if isinstance(timeout, timedelta) else float(timeout)
    if not found > 0:
        raise ValueError(f"timeout: expected a positive number of seconds, got {timeout}")
    return found


class Work:
    """A collective under way, as `async_op=True` returns it: `wait()` returns when its result is in the tensor.

    >>> norch.distributed.init_process_group()
    >>> x = norch.ones(2)
    >>> work = norch.distributed.all_reduce(x, async_op=True)
    >>> work.wait(timeout=10)
    True
    >>> norch.distributed.destroy_process_group()
    """

    __slots__ = ("_finish", "_group", "_keep", "_number", "_request", "_what")

    def __init__(
        self, group: Any, number: int, what: str, request: Any, finish: Callable[[], object] | None, keep: Any
    ) -> None:
        self._group, self._number, self._what = group, number, what
        self._request, self._finish, self._keep = request, finish, keep  # memory that MPI reads and writes is kept

    def is_completed(self) -> bool:
        """Whether the result is there. This call lets MPI go on with it. Raises DistBackendError if it failed."""
        if self._request is not None:
            try:
                if not self._request.Test():
                    return False
            except Exception as error:  # mpi4py's exception
                self._request = None
                raise DistBackendError(f"{self._group.who}: {self._what} failed: {error}") from error
            self._end()
        return True

    def wait(self, timeout: Timeout = None) -> bool:
        """Wait for the result, and return True.

        Raises DistBackendError if it has not come after `timeout` seconds (or a timedelta; default: the group's), or
        if the ranks called different collectives.
        """
        for _ in range(_EAGER):
            if self.is_completed():
                return True
        limit = seconds(timeout, self._group.timeout)
        started = time.monotonic()
        patient = self._group.crowded or _PATIENT
        nap = 0.0
        while not self.is_completed():
            waited = time.monotonic() - started
            if waited > limit:
                raise self._group.too_late(self._number, self._what, limit)
            if waited > patient:
                self._group.compare(self._number, self._what)
                nap = min(nap + 2e-5, _NAP)
                time.sleep(nap)
            else:
                os.sched_yield()
        return True

    def _end(self) -> None:
        self._request = self._keep = None
        self._group.compare(self._number, self._what)
        finish, self._finish = self._finish, None
        if finish is not None:
            finish()

    def is_success(self) -> bool:
        """Whether the result has come."""
        return self.is_completed()
