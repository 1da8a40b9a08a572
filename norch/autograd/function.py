"""Function: a node of the autograd graph, and what a user derives operations of one's own from.

Every tensor that an operation computed from inputs requiring gradients has a `grad_fn`: a Function that remembers the
inputs and whose `backward(gradient)` returns a list with a gradient for each of them. The classes for norch's own
operations are in functions.py; the walk over the graph is in engine.py.
"""

from __future__ import annotations

from itertools import count
from typing import Any, Sequence
from weakref import ref

from .. import _C
from .. import operation as _tensor  # the module: its Tensor is not defined yet when this one loads
from .mode import mode, no_grad

_clock = _C.write_clock
next_age = count(1).__next__
_new = object.__new__


class Function:
    """A node of the graph.

    `input` are the operands as they were given. `edges` say where each gradient goes: to the Function that computed an
    operand, to the AccumulateGrad of a leaf, or nowhere (None). In a `backward`, `self.x` and `self.y` are the
    first and second operand, checked not to have changed since; `self.output` is the result, where the class says
    `saves_output`. `needs(i)` tells whether the gradient of operand i is wanted at all.

    Own operations derive from Function and define two static methods, as in PyTorch.

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

    keeps_input = True  # False: backward reads no operand, so their memory may go
    saves_output = False
    broadcasts = False  # whether operands may be smaller than the result
    overwrites = False  # in place: whether nothing of the first operand remains

    input: Any = ()
    edges: Any = ()
    age = 0  # grows from node to node: a node is younger than all it depends on; 0 at the leaves
    stamp = 0  # the write clock when the operation ran
    hooks: Any = None
    grad: Any = None  # what has arrived so far: the `.grad` of the result
    holders = 1  # how many tensors have this as their `_edge`: where none is left, nobody can ask for `grad`
    _saves = False  # whether there is anything to do about values when the operation is recorded
    _output: Any = None
    _output_stamp = 0
    _saved: Any = ()

    def __init__(self, *input: Any) -> None:
        self.input = input

    def __init_subclass__(cls) -> None:
        cls._saves = cls.saves_output or not cls.keeps_input

    # ---- What a backward may ask

    def needs(self, index: int) -> bool:
        """Whether the gradient of operand `index` goes anywhere."""
        return self.edges[index] is not None

    def reads_x(self) -> bool:
        """Whether `backward` reads the first operand: an operation in place must then keep a copy of it."""
        return self.keeps_input

    @property
    def x(self) -> Any:
        """The first operand, unchanged since the operation."""
        if _clock.value == self.stamp:  # nothing at all was written since
            return self.input[0]
        return self._unchanged(self.input[0], self.stamp)

    @property
    def y(self) -> Any:
        """The second operand, unchanged since the operation."""
        if _clock.value == self.stamp:
            return self.input[1]
        return self._unchanged(self.input[1], self.stamp)

    @property
    def output(self) -> Any:
        """The result, unchanged since the operation; where the walk itself is recorded, as part of the graph."""
        result = self._unchanged(self._output, self._output_stamp)
        if mode.enabled:
            result = _tensor.wrap(_C.lib.alias_tensor(result._ptr) or _C.raise_error())
            result._edge = held(self)
        return result

    def _unchanged(self, operand: Any, stamp: int) -> Any:
        if operand is None or (
            _clock.value != stamp and isinstance(operand, _tensor.Tensor) and _C.lib.written_at(operand._ptr) > stamp
        ):
            raise RuntimeError(
                f"{type(self).__name__} needs a value that was modified by an in-place operation after it was saved "
                "for backward; clone() the tensor before changing it, or use the operation that returns a new one"
            )
        return operand

    def backward(self, *gradients: Any) -> Any:
        """Return a list with a gradient for each of `input`."""
        raise NotImplementedError(f"{type(self).__name__}.backward is not defined")

    def register_hook(self, hook: Any) -> Any:
        """Call `hook(gradient)` when the gradient of the result is known; what it returns replaces the gradient."""
        self.hooks = self.hooks or Hooks()
        return HookHandle(self.hooks, hook)

    def release(self) -> None:
        """Let go of everything: the graph behind this node is freed."""
        self.edges = self.input = self._output = self._saved = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def save(self, result: Any) -> None:
        """Keep the result's values, and let go of the operands, as the class says."""
        if self.saves_output:
            self._output = _tensor.wrap(_C.lib.alias_tensor(result._ptr) or _C.raise_error())
            self._output_stamp = self.stamp
        if not self.keeps_input:
            self.input = None

    # ---- Operations of one's own

    def save_for_backward(self, *tensors: Any) -> None:
        """In a `forward`: keep tensors for `backward`, where `saved_tensors` returns them."""
        self._saved = tensors

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What `save_for_backward` kept, checked not to have changed since."""
        if self._saved is None:
            raise RuntimeError(FREED)
        return tuple(
            self.output if t is _OUTPUT else t if t is None else self._unchanged(t, self.stamp) for t in self._saved
        )

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:
        """For each argument of `forward`, whether its gradient is wanted."""
        return tuple(edge is not None for edge in self.edges)

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        """Compute the result, with autograd off; `ctx` is the node, to keep on it what `backward` needs."""
        raise NotImplementedError("an operation of one's own defines forward(ctx, ...)")

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Run `forward(ctx, *args)` and make this a node of the graph."""
        node = cls.__new__(cls)
        node.input = list(args)
        node.edges = [edge(x) for x in args] if mode.enabled else [None] * len(args)
        node.stamp = _clock.value
        with no_grad():
            result = cls.forward(node, *args)
        if not isinstance(result, _tensor.Tensor):
            raise TypeError(f"{cls.__name__}.forward must return one Tensor, got {type(result).__name__}")
        if not mode.enabled or not any(e is not None for e in node.edges):
            return result
        if any(result is x for x in args):  # an operand returned as it is: the result is a tensor of its own
            result = _tensor.wrap(_C.lib.alias_tensor(result._ptr) or _C.raise_error())
        if any(t is result for t in node._saved):
            node._saved = tuple(_OUTPUT if t is result else t for t in node._saved)
            node.saves_output = node._saves = True
        node.input = [x if isinstance(x, _tensor.Tensor) else None for x in args]
        return record(result, node, node.edges)


_OUTPUT = object()  # stands for the result among saved tensors: a strong reference would be a cycle

FREED = (
    "backward through a graph that was freed: its saved values are gone after the first backward. Call "
    "backward(retain_graph=True) the first time to go through it again"
)


class Hooks(dict):
    """The hooks of a tensor or node by number. (A dict that can be referenced weakly.)"""

    def run(self, gradient: Any) -> Any:
        """Pass a gradient through every hook in order."""
        for hook in list(self.values()):
            replaced = hook(gradient)
            if replaced is not None:
                gradient = replaced
        return gradient


class HookHandle:
    """What registers a hook returns: `remove()`, or the end of a `with` block, takes the hook away again."""

    _next = 0

    def __init__(self, hooks: Hooks, hook: Any) -> None:
        if not callable(hook):
            raise TypeError(f"a hook must be callable, got {type(hook).__name__}")
        HookHandle._next += 1
        self._hooks, self._key = ref(hooks), HookHandle._next
        hooks[self._key] = hook

    def remove(self) -> None:
        """Take the hook away."""
        hooks = self._hooks()
        if hooks is not None:
            hooks.pop(self._key, None)

    def __enter__(self) -> HookHandle:
        return self

    def __exit__(self, *_: Any) -> None:
        self.remove()


# ---- Recording --------------------------------------------------------------------------------------------------


class AccumulateGrad(Function):
    """The end of the chain rule: the gradient that arrives here is added to the `.grad` of a leaf tensor."""

    def __init__(self, leaf: Any) -> None:
        self.hooks, self.edges, self.age, self.grad = None, (), 0, None  # older than every operation
        self.leaf = ref(leaf)


def node(kind: Any, input: Sequence[Any]) -> Any:
    """kind(*input), for a Function that has no parameters, without the cost of a call to __init__."""
    made = _new(kind)
    made.input = input
    return made


def edge(x: Any) -> Any:
    """Where the gradient of an operand goes: a Function, or None (numbers have no gradient)."""
    return x._edge if isinstance(x, _tensor.Tensor) else None


def held(target: Any) -> Any:
    """An edge, for one more tensor to have as its own; None as it is."""
    if target is not None:
        target.holders += 1
    return target


def record(result: Any, node: Function, edges: Sequence[Any]) -> Any:
    """Make `node` the grad_fn of `result`, with the edges of the tensors it was computed from; return `result`.

    (`binary` in operation.py writes this out: what changes here changes there.)
    """
    node.edges = edges
    node.age = next_age()
    node.stamp = _clock.value
    node.hooks, node.holders = None, 1
    if node._saves:
        node.save(result)
    result._edge = node
    return result


def rerecord(x: Any, node: Function, edges: Sequence[Any]) -> Any:
    """`record` for a tensor that may have a grad_fn already, which it leaves behind."""
    if x._edge is not None:
        x._edge.holders -= 1
    return record(x, node, edges)
