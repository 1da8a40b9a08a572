"""Hooks, the functions that users register with tensors, nodes, modules and optimizers, and the handles of them."""

from __future__ import annotations

from itertools import count
from typing import Any, Callable
from weakref import ref

from .. import operation


class Hooks(dict[int, Callable[..., Any]]):
    """The hooks of a tensor, node or module in the order of their calls. (A dict that can be referenced weakly.)"""


class HookHandle:
    """What registers a hook returns: `remove()`, or the end of a `with` block, takes the hook away again.

    >>> x = norch.ones(1, requires_grad=True)
    >>> with x.register_hook(lambda gradient: 2 * gradient):
    ...     (3 * x).backward()
    >>> x.grad
    tensor([6.])
    """

    _next = count().__next__
    _entered = False

    def __init__(self, hooks: Hooks, hook: Callable[..., Any]) -> None:
        if not callable(hook):
            raise TypeError(f"a hook must be callable, got {type(hook).__name__}")
        operation.refuse_recording("a hook is registered")
        operation.structure.version += 1
        self._hooks, self.id = ref(hooks), HookHandle._next()
        hooks[self.id] = hook

    def remove(self) -> None:
        """Take the hook away."""
        hooks = self._hooks()
        if hooks is not None:
            hooks.pop(self.id, None)

    def __getstate__(self) -> tuple[Hooks | None, int]:
        return self._hooks(), self.id

    def __setstate__(self, state: tuple[Hooks | None, int]) -> None:
        hooks, self.id = state
        self._hooks = ref(Hooks() if hooks is None else hooks)

    def __enter__(self) -> HookHandle:
        self._entered = True
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def __del__(self) -> None:
        if self._entered:  # an interrupt may have come between the end of the block and `__exit__`
            self.remove()
