"""Hooks, the functions that users register with tensors, nodes, modules and optimizers, and the handles of them."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence
from weakref import ref

from .. import operation

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

Gradients = Sequence[Optional["Tensor"]]


class Hooks(dict[int, Callable[..., Any]]):
    """The hooks of a tensor, node or module in the order of their calls. (A dict that can be referenced weakly.)"""


class NodeHooks:
    """Hooks of a node: `before` its rule for the gradients of its results, `after` it for those of its operands."""

    def __init__(self) -> None:
        self.before, self.after = Hooks(), Hooks()


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


class HookMethods:
    """The hooks of a node: of its result, and of its rule."""

    hooks: Hooks | None = None  # of the result: called when its gradient is known
    around: NodeHooks | None = None
    plain = True  # False: a walk finds more than the rule here, hooks or packed values

    def register_gradient_hook(self, hook: Callable[[Tensor], Tensor | None]) -> HookHandle:
        """Call `hook(gradient)` when the gradient of the result is known; what it returns replaces the gradient."""
        self.hooks, self.plain = self.hooks or Hooks(), False
        return HookHandle(self.hooks, hook)

    def register_hook(self, fn: Callable[[Gradients, Gradients], Gradients | None]) -> HookHandle:
        """Call `fn(grad_inputs, grad_outputs)` after the rule of this node; what it returns replaces `grad_inputs`.

        Both are tuples, in which None stands for no gradient.

        >>> x = norch.ones(2, requires_grad=True)
        >>> y = x.exp()
        >>> handle = y.grad_fn.register_hook(lambda grad_inputs, grad_outputs: (10 * grad_outputs[0],))
        >>> y.sum().backward()
        >>> x.grad
        tensor([10., 10.])
        """
        self.around, self.plain = self.around or NodeHooks(), False
        return HookHandle(self.around.after, fn)

    def register_prehook(self, fn: Callable[[Gradients], Gradients | None]) -> HookHandle:
        """Call `fn(grad_outputs)` before the rule of this node; the tuple that it returns replaces `grad_outputs`.

        >>> x = norch.ones(2, requires_grad=True)
        >>> y = 2 * x
        >>> handle = y.grad_fn.register_prehook(lambda grad_outputs: (10 * grad_outputs[0],))
        >>> y.sum().backward()
        >>> x.grad
        tensor([20., 20.])
        """
        self.around, self.plain = self.around or NodeHooks(), False
        return HookHandle(self.around.before, fn)


# ---- The hooks of a leaf, all of which the walk calls with the leaf and its gradient --------------------------------


def call_with_leaf(hook: Callable[[Tensor], object], leaf: Tensor, _: Tensor) -> None:
    if (returned := hook(leaf)) is not None:
        raise RuntimeError(f"a hook after accumulation must return None, got {type(returned).__name__}")


def call_with_gradient(hook: Callable[[Gradients, Gradients], object], _: Tensor, gradient: Tensor) -> None:
    hook((), (gradient,))


def call_with_tuple(hook: Callable[[Gradients], Gradients | None], gradient: Tensor) -> Tensor | None:
    replaced = hook((gradient,))
    return gradient if replaced is None else replaced[0]
