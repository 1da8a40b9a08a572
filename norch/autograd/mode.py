"""Whether operations record a graph: `no_grad`, `enable_grad`, `set_grad_enabled`, each a context and a decorator."""

from __future__ import annotations

import functools
from typing import Any, Callable, Generator, TypeVar, cast, overload

from ..operation import mode

F = TypeVar("F", bound=Callable[..., Any])


def is_grad_enabled() -> bool:
    """Whether operations of this thread record a graph.

    >>> with norch.no_grad():
    ...     print(norch.is_grad_enabled())
    False
    """
    return mode.enabled


class _Context:
    """The mode that holds in a `with` block, or while a decorated function runs."""

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled
        self._before: list[bool] = []

    def __enter__(self) -> _Context:
        self._before.append(mode.enabled)
        mode.enabled = self.enabled
        return self

    def __exit__(self, *exception: object) -> None:
        mode.enabled = self._before.pop()

    def __call__(self, function: F) -> F:
        return _decorated(function, self.enabled)


_GENERATOR = 0x20  # inspect.CO_GENERATOR, without the slow import of inspect


def _decorated(function: F, enabled: bool) -> F:
    if getattr(function, "__code__", None) and function.__code__.co_flags & _GENERATOR:

        @functools.wraps(function)
        def generator(*args: Any, **kwargs: Any) -> Generator[object, object, object]:
            # the mode holds while the body runs, not while its caller does between two values
            body = function(*args, **kwargs)
            try:
                with _Context(enabled):
                    value = next(body)
                while True:
                    sent = yield value
                    with _Context(enabled):
                        value = body.send(sent)
            except StopIteration as stop:
                return stop.value
            finally:
                body.close()

        return cast(F, generator)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> object:
        with _Context(enabled):
            return function(*args, **kwargs)

    return cast(F, call)


class set_grad_enabled(_Context):
    """Turn the recording of graphs on or off: as a call, a context (`with set_grad_enabled(False):`) or a decorator.

    >>> with norch.set_grad_enabled(False):
    ...     print(norch.is_grad_enabled())
    False
    """

    def __init__(self, enabled: bool) -> None:
        super().__init__(bool(enabled))
        self._outer = mode.enabled
        mode.enabled = self.enabled  # at once: it may be used as a plain call

    def __enter__(self) -> _Context:
        mode.enabled = self._outer
        self._outer = self.enabled
        return super().__enter__()

    def __call__(self, function: F) -> F:
        mode.enabled = self._outer  # a decorator changes nothing until the function runs
        return super().__call__(function)


@overload
def no_grad() -> _Context: ...
@overload
def no_grad(function: F) -> F: ...
def no_grad(function: F | None = None) -> _Context | F:
    """Record nothing: results inside do not require gradients. A context, or a decorator (`@no_grad()`).

    >>> x = norch.ones(1, requires_grad=True)
    >>> with norch.no_grad():
    ...     y = 2 * x
    >>> y.requires_grad
    False
    """
    return _Context(False) if function is None else _decorated(function, False)


@overload
def enable_grad() -> _Context: ...
@overload
def enable_grad(function: F) -> F: ...
def enable_grad(function: F | None = None) -> _Context | F:
    """Record again inside a `no_grad`. A context, or a decorator (`@enable_grad()`).

    >>> x = norch.ones(1, requires_grad=True)
    >>> with norch.no_grad(), norch.enable_grad():
    ...     y = 2 * x
    >>> y.requires_grad
    True
    """
    return _Context(True) if function is None else _decorated(function, True)
