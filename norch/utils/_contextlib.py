"""The base class of contexts that are decorators too, at the path from which programs import it."""

from __future__ import annotations

import functools
from typing import Any, Callable, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


class _DecoratorContextManager:
    """Lets a context, whose subclass defines `__enter__` and `__exit__`, decorate a function, which then runs in it.

    >>> class Loud(norch.utils._contextlib._DecoratorContextManager):
    ...     def __enter__(self):
    ...         print("in")
    ...
    ...     def __exit__(self, *error):
    ...         print("out")
    >>> Loud()(abs)(-1)
    in
    out
    1
    """

    def __call__(self, function: F) -> F:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return cast(F, call)

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, *error: Any) -> Any:
        raise NotImplementedError

    def clone(self) -> Any:
        """A context for one call, made without arguments unless a subclass says otherwise."""
        return type(self)()
