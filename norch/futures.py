"""Results that are still to come, under PyTorch's names."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Iterable
from typing import Any, Callable, Generic, TypeVar

from .operation import check_kind

T = TypeVar("T")

__all__ = ["Future", "collect_all", "wait_all"]


class Future(Generic[T]):
    """A value that another thread sets; `wait` waits for it.

    >>> future = norch.futures.Future()
    >>> doubled = future.then(lambda future: 2 * future.value())
    >>> future.set_result(3)
    >>> doubled.wait()
    6
    """

    def __init__(self, *, devices: Any = None) -> None:
        self._future: concurrent.futures.Future[T] = concurrent.futures.Future()

    def done(self) -> bool:
        """Whether there is a value, or an exception."""
        return self._future.done()

    def wait(self) -> T:
        """The value, once there is one; raises the exception that was set in its place."""
        return self._future.result()

    def value(self) -> T:
        """The value. Raises RuntimeError if there is none yet."""
        if not self.done():
            raise RuntimeError("value() of a Future that is not done: wait() waits for it")
        return self._future.result()

    def then(self, callback: Callable[[Future[T]], Any]) -> Future[Any]:
        """A Future of callback(this Future), which is called once this one is done."""
        made: Future[Any] = Future()

        def run(_: object) -> None:
            try:
                made.set_result(callback(self))
            except Exception as error:
                made.set_exception(error)

        self._future.add_done_callback(run)
        return made

    def add_done_callback(self, callback: Callable[[Future[T]], Any]) -> None:
        """Call callback(this Future) once it is done, or at once if it is."""
        self._future.add_done_callback(lambda _: callback(self))

    def set_result(self, result: T) -> None:
        """Set the value. Raises RuntimeError if there is one."""
        self._check_open()
        self._future.set_result(result)

    def set_exception(self, result: BaseException) -> None:
        """Set an exception, which `wait` raises. Raises RuntimeError if there is a value, or an exception."""
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._check_open()
        self._future.set_exception(result)

    def _check_open(self) -> None:
        if self.done():
            raise RuntimeError("Attempting to mark a completed Future as complete again")


def _checked(futures: Iterable[Any], name: str) -> list[Future[Any]]:
    return [check_kind(future, Future, name) for future in futures]


def collect_all(futures: list[Future[Any]]) -> Future[list[Future[Any]]]:
    """A Future of the list, which is done when all of them are.

    >>> future = norch.futures.Future()
    >>> future.set_result(1)
    >>> norch.futures.collect_all([future]).wait() == [future]
    True
    """
    made: Future[list[Future[Any]]] = Future()
    left = list(range(len(_checked(futures, "collect_all"))))  # pop() gives each number once, whatever threads call it
    for future in futures:
        future.add_done_callback(lambda _: None if left.pop() else made.set_result(futures))
    if not futures:
        made.set_result(futures)
    return made


def wait_all(futures: list[Future[T]]) -> list[T]:
    """The values of all; raises the first exception.

    >>> future = norch.futures.Future()
    >>> future.set_result(1)
    >>> norch.futures.wait_all([future])
    [1]
    """
    return [future.wait() for future in _checked(futures, "wait_all")]
