"""Function: a node of the autograd graph, and the base class of custom operations.

A tensor that was computed from inputs requiring gradients has a `grad_fn`: the Function that remembers the inputs, and
whose `backward(gradient)` returns a list with a gradient for each of them. The classes for norch's own operations are
in functions.py and derivatives/; engine.py walks over the graph; operation.py records it.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, Callable, ClassVar, Optional, Sequence, TypeVar
from weakref import ref

from .. import operation
from .._C import Number, lib, write_clock
from ..operation import edge, mode, next_age, record, wrap
from .mode import no_grad

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

T = TypeVar("T")
Gradients = Sequence[Optional["Tensor"]]  # one for each operand, None if it gets none
Edge = Optional["Function"]  # where a gradient goes; None if nowhere


class Function:
    """A node of the graph.

    `input` are the operands as they were given. `edges` say where the gradient of each goes: to the Function that
    computed it, to the AccumulateGrad of a leaf, or nowhere (None). In a `backward`, `self.x` and `self.y` are the
    first and second operand, and `self.output` is the result if the class says `saves_output`, each checked not to have
    changed since. `needs(i)` tells whether operand i needs its gradient.

    Custom operations derive from Function and define two static methods, as in PyTorch.

    >>> class Square(norch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...
    ...     @staticmethod
    ...     def backward(ctx, gradient):
    ...         (x,) = ctx.saved_tensors
    ...         return 2 * x * gradient
    >>> x = norch.Tensor([3], requires_grad=True)
    >>> Square.apply(x).backward()
    >>> x.grad
    tensor([6.])
    """

    # What a class says of its operation
    keeps_input: ClassVar[bool] = True  # False: backward reads no operand, so their memory may go
    saves_output = False  # True: backward reads the result
    broadcasts: ClassVar[bool] = False  # True: an operand may be smaller than the result
    overwrites: ClassVar[bool] = False  # True: in place, nothing of the first operand remains
    is_leaf: ClassVar[bool] = False
    # The gradients of `backward` by one call into C. The engine prefers it, unless backward is to be differentiated.
    fused: ClassVar[Callable[..., Any] | None] = None

    # What `record` notes on a node (operation.py explains it)
    input: tuple[Any, ...] = ()
    edges: Sequence[Edge] = ()
    age = 0
    stamp = 0
    result: ref[Tensor] | None = None

    grad: Tensor | None = None  # the `.grad` of the result
    hooks: Hooks | None = None
    freed = False
    _output: Tensor | None = None
    _output_stamp = 0  # later than `stamp` if the operation wrote its result in place
    _saved: tuple[Any, ...] = ()

    def __init__(self, *input: Any) -> None:
        self.input = input

    def backward(self, *gradients: Any, **_: Any) -> Any:  # checkers let any signature override this one
        """Return a list with a gradient for each of `input`."""
        raise NotImplementedError(f"{type(self).__name__}.backward is not defined")

    # ---- What a backward may ask

    def needs(self, index: int) -> bool:
        """Whether the gradient of operand `index` goes anywhere."""
        return self.edges[index] is not None

    def needed(self) -> int:
        """The same for all operands at once, as C takes it: bit i for operand i."""
        bits = 0
        for i, target in enumerate(self.edges):
            if target is not None:
                bits |= 1 << i
        return bits

    def reads_x(self) -> bool:
        """Whether `backward` reads the first operand: an operation in place must then keep a copy of it."""
        return self.keeps_input

    @property
    def x(self) -> Tensor:
        """The first operand, unchanged since the operation; a number if it was given as one."""
        return self.operand(0)

    @property
    def y(self) -> Tensor:
        """The second operand, unchanged since the operation; a number if it was given as one."""
        return self.operand(1)

    def operand(self, index: int) -> Any:
        """Any operand, likewise."""
        found = self.input[index]
        if write_clock.value > self.stamp:
            self.unchanged(found)
        return found.value if type(found) is Number else found

    @property
    def output(self) -> Tensor:
        """The result, unchanged since the operation; if backward is recorded itself, as part of the graph."""
        if self._output is None:
            raise RuntimeError(FREED)
        result = self.unchanged(self._output, self._output_stamp)
        if mode.enabled:
            result = wrap(lib.alias_tensor(result._ptr))
            result._edge = self
        return result

    def unchanged(self, saved: T, stamp: int | None = None) -> T:
        """A value that backward needs. Raises RuntimeError if its memory was written to since it was saved."""
        since = self.stamp if stamp is None else stamp
        if isinstance(saved, operation.Tensor) and lib.written_at(saved._ptr) > since:
            raise RuntimeError(
                f"{type(self).__name__} needs a value that was modified by an in-place operation after it was saved "
                "for backward; clone() the tensor before changing it, or use the operation that returns a new one"
            )
        return saved

    # ---- What the rest of autograd asks

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> HookHandle:
        """Call `hook(gradient)` when the gradient of the result is known; what it returns replaces the gradient."""
        self.hooks = self.hooks or Hooks()
        return HookHandle(self.hooks, hook)

    def save(self, result: Tensor) -> None:
        """Keep the result's values, and let go of the operands, as the class says."""
        if self.saves_output:
            self._output, self._output_stamp = wrap(lib.alias_tensor(result._ptr)), write_clock.value
        if not self.keeps_input:
            self.input = ()

    def release(self) -> None:
        """Let go of everything: the graph behind this node is freed."""
        self.freed = True
        self.edges = self.input = self._saved = ()
        self._output = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    # ---- Custom operations

    @staticmethod
    def forward(ctx: Any, *args: Any, **_: Any) -> Any:
        """Compute the result, with autograd off; `ctx` is the node, to keep on it what `backward` needs."""
        raise NotImplementedError("a custom operation defines forward(ctx, ...)")

    @classmethod
    def apply(cls, *args: Any) -> Tensor:
        """Run `forward(ctx, *args)` and make this a node of the graph."""
        node = cls.__new__(cls)
        node.input = tuple(x if isinstance(x, operation.Tensor) else None for x in args)
        node.edges = [edge(x) for x in args] if mode.enabled else [None] * len(args)
        node.stamp = write_clock.value
        with no_grad():
            result = cls.forward(node, *args)
        if not isinstance(result, operation.Tensor):
            raise TypeError(f"{cls.__name__}.forward must return one Tensor, got {type(result).__name__}")
        if not any(node.edges):
            return result
        if any(result is x for x in args):  # the result must be a tensor of its own
            result = wrap(lib.alias_tensor(result._ptr))
        if any(t is result for t in node._saved):
            node._saved = tuple(_OUTPUT if t is result else t for t in node._saved)
            node.saves_output = True
        return record(result, node, node.edges)

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """In a `forward`: keep tensors for `backward`, where `saved_tensors` returns them."""
        self._saved = tensors

    @property
    def saved_tensors(self) -> tuple[Tensor, ...]:
        """What `save_for_backward` kept, checked not to have changed since."""
        if self.freed:
            raise RuntimeError(FREED)
        return tuple(self.output if t is _OUTPUT else self.unchanged(t) for t in self._saved)

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:
        """For each argument of `forward`, whether its gradient is needed."""
        return tuple(edge is not None for edge in self.edges)


_OUTPUT = object()  # stands for the result among saved tensors: a strong reference would be a cycle

FREED = (
    "backward through a graph that was freed: its saved values are gone after the first backward. Call "
    "backward(retain_graph=True) the first time to go through it again"
)


# ---- Hooks ------------------------------------------------------------------------------------------------------


class Hooks(dict[int, Callable[..., Any]]):
    """The hooks of a tensor, node or module in the order of their calls. (A dict that can be referenced weakly.)"""


class HookHandle:
    """What registers a hook returns: `remove()`, or the end of a `with` block, takes the hook away again."""

    _next = count().__next__

    def __init__(self, hooks: Hooks, hook: Callable[..., Any]) -> None:
        if not callable(hook):
            raise TypeError(f"a hook must be callable, got {type(hook).__name__}")
        self._hooks, self._key = ref(hooks), HookHandle._next()
        hooks[self._key] = hook

    def remove(self) -> None:
        """Take the hook away."""
        hooks = self._hooks()
        if hooks is not None:
            hooks.pop(self._key, None)

    def __enter__(self) -> HookHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


# ---- Leaves -----------------------------------------------------------------------------------------------------


class AccumulateGrad(Function):
    """The end of the chain rule: the gradient that arrives here is added to the `.grad` of a leaf tensor."""

    is_leaf = True

    def __init__(self, leaf: Tensor) -> None:
        self.age = next_age()
        self.result = ref(leaf)
