"""Node: a place in the autograd graph, where an operation's derivative stands.

A tensor that was computed from inputs requiring gradients has a `grad_fn`: the Node that remembers the inputs, and
whose `backward(gradient)` returns a list with a gradient for each of them. The classes for norch's own operations are
in functions.py and derivatives/; engine.py walks over the graph; operation.py records it.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable, ClassVar, Hashable, NamedTuple, Optional, Sequence, TypeVar
from weakref import WeakSet, ref

from .. import operation
from .._C import CPYTHON, Number, lib, write_clock
from ..guards import within
from ..operation import mode, next_age, wrap
from .hooks import HookHandle, HookMethods, Hooks, call_with_gradient, call_with_leaf, call_with_tuple
from .saved import pack, unpacked

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

T = TypeVar("T")
Gradients = Sequence[Optional["Tensor"]]  # one for each operand, None if it gets none
Edge = Optional["Node"]  # where a gradient goes; None if nowhere
_FOR_ALL = ((mode, {"walk": (None, None)}),)


def _operand(index: int) -> property:
    """`node.x`, `node.y` or `node.z`."""

    def read(node: Node) -> Any:
        """An operand, unchanged since the operation; a number if one was given as such."""
        found = node.input[index]
        if write_clock.value > node.stamp:
            node.unchanged(found)
        return found.value if type(found) is Number else found

    return property(read)


def _saved(name: str) -> property:
    """`node.x`, `node.y` or `node.output`, as hooks of saved tensors unpack it."""

    def read(node: Node) -> Any:
        """A value that backward needs, unchanged since it was saved."""
        if node.packed is None:
            return getattr(node, name)
        with unpacked(node):
            return getattr(node, name)

    return property(read)


class Node(HookMethods):
    """A node of the graph.

    `input` are the operands as they were given. `edges` say where the gradient of each goes: to the Node that
    computed it, to the AccumulateGrad of a leaf, or nowhere (None). In a `backward`, `self.x`, `self.y`, `self.z` are
    the operands, and `self.output` is the result if the class says `saves_output`, each checked not to have
    changed since. `needs(i)` tells whether operand i needs its gradient.
    """

    # What a class says of its operation
    keeps_input: ClassVar[bool] = True  # False: backward reads no operand, so their memory may go
    saves_output = False  # True: backward reads the result
    broadcasts: ClassVar[bool] = False  # True: an operand may be smaller than the result
    only_sizes: ClassVar[bool] = False  # True: of the operands backward reads the sizes alone
    overwrites: ClassVar[bool] = False  # True: in place, nothing of the first operand remains
    is_leaf: ClassVar[bool] = False
    refuses_writes: ClassVar[bool] = False  # True: a leaf, which a write in place would take out of the graph
    calls_hook: ClassVar[bool] = False  # True: backward calls a hook of a module
    keeps_nothing: ClassVar[bool] = False  # True: it reads no value at all, so that it may run again
    simple: ClassVar[bool] = False  # True: it has no `broadcasts`, no `shown` and no release of its own
    shown: ClassVar[str] = ""  # the method that makes the result, a view of the operand whose other parts get zero
    # The gradients of `backward` by one call into C. The engine prefers it, unless backward is to be differentiated.
    fused: ClassVar[Callable[..., Any] | None] = None
    gathering: ClassVar[WeakSet[Any] | None] = None  # hooks of several tensors, which ask for what a walk visits

    # What `record` notes on a node (operation.py explains it)
    input: tuple[Any, ...] = ()
    edges: Sequence[Edge] = ()
    age = 0
    stamp = 0
    result: Callable[[], Tensor | None] = staticmethod(lambda: None)  # a weak reference, if there is one

    grad: Tensor | None = None  # the `.grad` of the result
    after: Hooks | None = None  # of a leaf: called when `.grad` holds all that a backward adds to it
    freed = False
    packed: dict[str, Any] | None = None  # what hooks of saved tensors packed (saved.py)
    _output: Tensor | None = None
    _output_stamp = 0  # later than `stamp` if the operation wrote its result in place

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        releases = cls.release is not Node.release
        cls.keeps_nothing = not cls.keeps_input and not cls.saves_output and not releases
        cls.simple = not cls.broadcasts and not cls.shown and not releases

    def __init__(self, *input: Any) -> None:
        self.input = input

    def backward(self, *gradients: Any, **_: Any) -> Any:  # checkers let any signature override this one
        """Return a list with a gradient for each of `input`."""
        raise NotImplementedError(f"{type(self).__name__}.backward is not defined")

    # ---- What a backward may ask

    def needs(self, index: int) -> bool:
        """Whether the gradient of operand `index` goes anywhere, in this walk."""
        target, (_, asked) = self.edges[index], mode.walk
        return target is not None and (asked is None or target in asked)

    def needed(self) -> int:
        """The same for all operands at once, as C takes it: bit i for operand i."""
        if CPYTHON:
            return lib.needed_bits(self.edges, mode.walk[1])
        bits, bit, asked = 0, 1, mode.walk[1]
        for target in self.edges:
            if target is not None and (asked is None or target in asked):
                bits |= bit
            bit += bit
        return bits

    def part_of(self, whole: Any) -> Any:
        """What the result shows of a tensor like the operand, of a class that says what is `shown`."""
        raise NotImplementedError(type(self).__name__)

    def reads_x(self) -> bool:
        """Whether `backward` reads the first operand: an operation in place must then keep a copy of it."""
        return self.keeps_input and not self.only_sizes

    def keeps_x(self) -> bool:
        """The same for any walk: one that the operation is a part of, as of a checkpoint, may ask for less."""
        return self.reads_x() if mode.walk[1] is None else within(_FOR_ALL, self.reads_x, (), {})

    x, y, z = _operand(0), _operand(1), _operand(2)

    def operands(self) -> Sequence[Any]:
        """All operands as they were given, unchanged since the operation."""
        if write_clock.value > self.stamp:
            for x in self.input:
                self.unchanged(x)
        return self.input

    @property
    def output(self) -> Any:
        """The result, unchanged since the operation; if backward is recorded itself, part of the graph."""
        result = self.result_values()
        if mode.enabled:
            result = wrap(lib.alias_tensor(result._ptr))
            result._edge = self
        return result

    def result_values(self) -> Any:
        """The result, unchanged since the operation, as `fused` takes it: apart from any graph."""
        result = self._output
        if result is None:
            raise RuntimeError(FREED)
        if write_clock.value > self._output_stamp:
            self.unchanged(result, self._output_stamp)
        return result

    # PyTorch's names, by which its tutorials show them, in and outside of a walk
    _saved_self, _saved_other, _saved_result = map(_saved, ("x", "y", "output"))

    def unchanged(self, saved: T, stamp: int | None = None) -> T:
        """A value that backward needs. Raises RuntimeError if its memory was written to since it was saved."""
        if isinstance(saved, operation.Tensor):
            check_unchanged(type(self).__name__, saved, self.stamp if stamp is None else stamp)
        return saved

    # ---- What the rest of autograd asks

    def save(self, result: Tensor) -> None:
        """Keep the result's values, and let go of the operands, as the class says."""
        if self.saves_output:
            self._output, self._output_stamp = wrap(result._ptr), write_clock.value
        if not self.keeps_input:
            self.input = ()

    def pack(self) -> None:
        """Let the hooks of saved tensors pack what the node keeps."""
        pack(self)

    def release(self) -> None:
        """Let go of everything. What keeps no values stays, as in PyTorch, where the walk may go on that way again."""
        self.freed = True
        if not self.keeps_nothing:
            self.edges = self.input = ()
            self._output = self.packed = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def name(self) -> str:
        """The name of the class."""
        return type(self).__name__

    @property
    def next_functions(self) -> tuple[tuple[Edge, int], ...]:
        """Where the gradients go: (node, 0) for each operand, as PyTorch lists them."""
        return tuple((target, 0) for target in self.edges)


FREED = (
    "backward through a graph that was freed: its saved values are gone after the first backward. Call "
    "backward(retain_graph=True) the first time to go through it again"
)


def check_unchanged(name: str, saved: Tensor, since: int) -> None:
    if lib.written_at(saved._ptr) > since:
        raise RuntimeError(
            f"{name} needs a value that was modified by an in-place operation after it was saved for backward; "
            "clone() the tensor before changing it, or use the operation that returns a new one"
        )


# ---- Leaves -----------------------------------------------------------------------------------------------------


class AccumulateGrad(Node):
    """The end of the chain rule: the gradient that arrives here is added to the `.grad` of a leaf tensor."""

    is_leaf = True
    refuses_writes = True
    awaited: ClassVar[WeakSet[AccumulateGrad] | None] = None  # those with `after`, which backward finishes early

    def __init__(self, leaf: Tensor) -> None:
        self.age = next_age()
        self.result = ref(leaf)

    @property
    def variable(self) -> Tensor | None:
        """The leaf."""
        return self.result()

    def register_hook(self, fn: Callable[[Gradients, Gradients], object]) -> HookHandle:
        """Call `fn((), (gradient,))` in backward as soon as the leaf's `.grad` is complete."""
        return self._register_after(fn, call_with_gradient)

    def register_prehook(self, fn: Callable[[Gradients], Gradients | None]) -> HookHandle:
        """Call `fn((gradient,))` before the leaf gets its gradient; the tuple that it returns replaces it."""
        self.hooks, self.plain = self.hooks or Hooks(), False
        handle = HookHandle(self.hooks, fn)
        self.hooks[handle.id] = functools.partial(call_with_tuple, fn)
        return handle

    def register_after(self, hook: Callable[[Tensor], None]) -> HookHandle:
        """Call `hook(leaf)` in backward as soon as the leaf's `.grad` is complete."""
        return self._register_after(hook, call_with_leaf)

    def _register_after(self, hook: Callable[..., object], call: Callable[..., object]) -> HookHandle:
        """A hook that is called as call(hook, leaf, gradient)."""
        self.after = Hooks() if self.after is None else self.after
        handle = HookHandle(self.after, hook)
        self.after[handle.id] = functools.partial(call, hook)
        if AccumulateGrad.awaited is None:
            AccumulateGrad.awaited = WeakSet()
        AccumulateGrad.awaited.add(self)
        return handle


# ---- Several results: each has an OutputBackward, which passes its gradient on to the node of the operation --------


class OutputGradients(dict[Hashable, "Tensor"]):
    """The gradients of a node's outputs by their keys; an output that was not used has none."""

    def __add__(self, other: OutputGradients) -> OutputGradients:
        for key, gradient in other.items():  # an output sends one twice if a second derivative reads it as well
            self[key] = self[key] + gradient if key in self else gradient
        return self  # nothing but the walk holds this


class MultiOutput(Node):
    """A node with several outputs, whose `backward` takes their OutputGradients.

    It is made before its outputs, so it is older than they are, and backward reaches it last.
    """

    keeps_input = False
    outputs_count: int = 0

    def __init__(self, edges: Sequence[Edge]) -> None:
        self.edges = edges
        self.age = next_age()

    def record_outputs(self, outputs: Sequence[Tensor]) -> None:
        """Make the tensors the outputs 0, 1, ... of this node."""
        self.outputs_count = len(outputs)
        edges = (self,)
        for i, output in enumerate(outputs):  # as `record`, of nodes that save nothing
            output._edge = node = OutputBackward(i)
            node.edges, node.age, node.result = edges, next_age(), ref(output)
        if mode.hooks_of_saved is not None:
            self.pack()


class OutputBackward(Node):
    """One output of a node with several: the gradient goes to that node, under this output's key."""

    keeps_input = False

    def __init__(self, key: Hashable) -> None:
        self.key = key

    def backward(self, gradient: Tensor) -> Sequence[object]:
        return [OutputGradients({self.key: gradient})]

    def register_hook(self, fn: Callable[[Gradients, Gradients], Gradients | None]) -> HookHandle:
        """As a hook of the operation, whose node PyTorch gives to each of its results."""
        return self._operation().register_hook(fn)

    def register_prehook(self, fn: Callable[[Gradients], Gradients | None]) -> HookHandle:
        """As a hook of the operation, whose node PyTorch gives to each of its results."""
        return self._operation().register_prehook(fn)

    def name(self) -> str:
        """That of the operation, whose node PyTorch gives to each of its results."""
        return self._operation().name()

    def _operation(self) -> Node:
        node = self.edges[-1] if self.edges else None
        if node is None:
            raise RuntimeError(FREED)
        return node


class GradientEdge(NamedTuple):
    """The place of a graph where the gradient of a tensor arrives, which outlives the tensor."""

    node: Node
    output_nr: int = 0
    ownership_token: Node | None = None
