"""Whether operations record a graph: `no_grad`, `enable_grad`, `set_grad_enabled`, each a context and a decorator."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable, Generator, TypeVar, cast, overload

from ..arguments import flag, flags
from ..guards import Guard
from ..operation import mode

state = mode  # for a function whose parameter has that name

F = TypeVar("F", bound=Callable[..., Any])


def is_grad_enabled() -> bool:
    """Whether operations of this thread record a graph.

    >>> with norch.no_grad():
    ...     print(norch.is_grad_enabled())
    False
    """
    return mode.enabled


def is_inference_mode_enabled() -> bool:
    """Whether this thread is inside an `inference_mode`.

    >>> with norch.inference_mode():
    ...     print(norch.is_inference_mode_enabled())
    True
    """
    return mode.inference


class _Context(Guard):
    """The mode that holds in a `with` block, or while a decorated function runs."""

    def __init__(self, enabled: bool, inference: bool | None = None) -> None:
        self.enabled, self.inference = enabled, inference
        values = {"enabled": enabled}
        super().__init__((mode, values if inference is None else {**values, "inference": inference}))

    def __call__(self, function: F) -> F:
        return _decorated(function, self.enabled, self.inference)


_GENERATOR = 0x20  # inspect.CO_GENERATOR, without the slow import of inspect


def _decorated(function: F, enabled: bool, inference: bool | None = None) -> F:
    if getattr(function, "__code__", None) and function.__code__.co_flags & _GENERATOR:

        @functools.wraps(function)
        def generator(*args: Any, **kwargs: Any) -> Generator[object, object, object]:
            # the mode holds while the body runs, not while its caller does between two values
            body = function(*args, **kwargs)
            step, sent = body.send, None
            try:
                while True:
                    with _Context(enabled, inference):
                        value = step(sent)
                    try:
                        step, sent = body.send, (yield value)
                    except GeneratorExit:
                        raise
                    except BaseException as error:
                        step, sent = body.throw, error
            except StopIteration as stop:
                return stop.value
            finally:
                with _Context(enabled, inference):
                    body.close()

        return cast(F, generator)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> object:
        with _Context(enabled, inference):
            return function(*args, **kwargs)

    return cast(F, call)


class set_grad_enabled(_Context):
    """Turn the recording of graphs on or off: as a call, a context (`with set_grad_enabled(False):`) or a decorator.

    >>> with norch.set_grad_enabled(False):
    ...     print(norch.is_grad_enabled())
    False
    """

    def __init__(self, mode: bool) -> None:
        if mode is not True and mode is not False:
            mode = flag(mode, "set_grad_enabled: mode", numbers=mode is not None)
        super().__init__(mode)
        self._outer = state.enabled
        state.enabled = self.enabled  # at once: it may be used as a plain call

    def __enter__(self) -> _Context:
        mode.enabled = self._outer
        self._outer = self.enabled
        return super().__enter__()

    def __call__(self, function: F) -> F:
        mode.enabled = self._outer  # a decorator changes nothing until the function runs
        return super().__call__(function)


if TYPE_CHECKING:  # checkers cannot follow a class whose call may return a decorated function

    @overload
    def no_grad() -> _Context: ...
    @overload
    def no_grad(function: F) -> F: ...
    def no_grad(function: F | None = None) -> _Context | F: ...

    @overload
    def enable_grad() -> _Context: ...
    @overload
    def enable_grad(function: F) -> F: ...
    def enable_grad(function: F | None = None) -> _Context | F: ...

    @overload
    def inference_mode(mode: bool = True) -> _Context: ...
    @overload
    def inference_mode(mode: F) -> F: ...
    def inference_mode(mode: bool | F = True) -> _Context | F: ...

else:

    class _Fixed(_Context):
        """A context of one mode, which also decorates without parentheses (`@no_grad`)."""

        fixed: bool

        def __new__(cls, function: F | None = None) -> Any:
            return super().__new__(cls) if function is None else _decorated(function, cls.fixed)

        def __init__(self) -> None:
            super().__init__(self.fixed)

    class no_grad(_Fixed):
        """Record nothing: results inside do not require gradients. A context, or a decorator (`@no_grad()`).

        >>> x = norch.ones(1, requires_grad=True)
        >>> with norch.no_grad():
        ...     y = 2 * x
        >>> y.requires_grad
        False
        """

        fixed = False

    class enable_grad(_Fixed):
        """Record again inside a `no_grad`. A context, or a decorator (`@enable_grad()`).

        >>> x = norch.ones(1, requires_grad=True)
        >>> with norch.no_grad(), norch.enable_grad():
        ...     y = 2 * x
        >>> y.requires_grad
        True
        """

        fixed = True

    class inference_mode(_Context):
        """As `no_grad`, for code that only predicts: a context, or a decorator (`@inference_mode()`).

        `inference_mode(False)` turns it off again, and recording on. (PyTorch also refuses to use its results in a
        graph later; norch lets them be constants there.)

        >>> with norch.inference_mode():
        ...     y = 2 * norch.ones(1, requires_grad=True)
        >>> y.requires_grad
        False
        """

        def __new__(cls, mode: bool | F = True) -> Any:
            return _decorated(mode, False, True) if callable(mode) else super().__new__(cls)

        @flags
        def __init__(self, mode: bool = True) -> None:
            super().__init__(not mode, bool(mode))
