"""Function: a node of the autograd graph, and the base class of custom operations.

A tensor that was computed from inputs requiring gradients has a `grad_fn`: the Function that remembers the inputs, and
whose `backward(gradient)` returns a list with a gradient for each of them. The classes for norch's own operations are
in functions.py and derivatives/; engine.py walks over the graph; operation.py records it.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable, ClassVar, Hashable, NamedTuple, Optional, Sequence, TypeVar
from weakref import WeakSet, ref

from .. import operation
from .._C import Number, lib, write_clock
from ..arguments import flags
from ..guards import within
from ..operation import edge, mode, next_age, record, wrap
from ..packing import filled
from .hooks import HookHandle, HookMethods, Hooks, call_with_gradient, call_with_leaf, call_with_tuple
from .mode import no_grad
from .saved import Packed, pack

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

T = TypeVar("T")
Gradients = Sequence[Optional["Tensor"]]  # one for each operand, None if it gets none
Edge = Optional["Function"]  # where a gradient goes; None if nowhere
_FOR_ALL = ((mode, {"asked": None}),)


class _Operand:
    """`node.x`, `node.y` and `node.z`: the operands, unchanged since the operation; a number if one was given as such.

    (A property would keep custom operations from setting `ctx.x`.)
    """

    def __init__(self, index: int) -> None:
        self.index = index

    def __get__(self, node: Function, owner: type) -> Any:
        found = node.input[self.index]
        if write_clock.value > node.stamp:
            node.unchanged(found)
        return found.value if type(found) is Number else found


class _Output:
    """`node.output`: the result, unchanged since the operation; if backward is recorded itself, part of the graph."""

    def __get__(self, node: Function, owner: type) -> Tensor:
        if node._output is None:
            raise RuntimeError(FREED)
        result = node._output
        if write_clock.value > node._output_stamp:
            node.unchanged(result, node._output_stamp)
        if mode.enabled:
            result = wrap(lib.alias_tensor(result._ptr))
            result._edge = node
        return result


class Function(HookMethods):
    """A node of the graph.

    `input` are the operands as they were given. `edges` say where the gradient of each goes: to the Function that
    computed it, to the AccumulateGrad of a leaf, or nowhere (None). In a `backward`, `self.x`, `self.y`, `self.z` are
    the operands, and `self.output` is the result if the class says `saves_output`, each checked not to have
    changed since. `needs(i)` tells whether operand i needs its gradient.

    Custom operations derive from Function and define two static methods, as in PyTorch. `forward(ctx, *args)` returns a
    tensor, or a tuple of them; `backward(ctx, *gradients)` takes a gradient for each of these and returns one for each
    argument, None for one that has none. `ctx` carries what backward needs: tensors through `save_for_backward`, all
    else as attributes. Or `forward(*args)` computes alone, and `setup_context(ctx, inputs, output)` fills `ctx`.

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
    only_sizes: ClassVar[bool] = False  # True: of the operands backward reads the sizes alone
    overwrites: ClassVar[bool] = False  # True: in place, nothing of the first operand remains
    is_leaf: ClassVar[bool] = False
    refuses_writes: ClassVar[bool] = False  # True: a leaf, which a write in place would take out of the graph
    calls_hook: ClassVar[bool] = False  # True: backward calls a hook of a module
    # The gradients of `backward` by one call into C. The engine prefers it, unless backward is to be differentiated.
    fused: ClassVar[Callable[..., Any] | None] = None

    # What `record` notes on a node (operation.py explains it)
    input: tuple[Any, ...] = ()
    edges: Sequence[Edge] = ()
    age = 0
    stamp = 0
    result: ref[Tensor] | None = None

    grad: Tensor | None = None  # the `.grad` of the result
    after: Hooks | None = None  # of a leaf: called when `.grad` holds all that a backward adds to it
    freed = False
    packed: dict[str, Any] | None = None  # what hooks of saved tensors packed (saved.py)
    _output: Tensor | None = None
    _output_stamp = 0  # later than `stamp` if the operation wrote its result in place
    _saved: Sequence[Any] = ()

    def __init__(self, *input: Any) -> None:
        self.input = input

    def backward(self, *gradients: Any, **_: Any) -> Any:  # checkers let any signature override this one
        """Return a list with a gradient for each of `input`."""
        raise NotImplementedError(f"{type(self).__name__}.backward is not defined")

    # ---- What a backward may ask

    def needs(self, index: int) -> bool:
        """Whether the gradient of operand `index` goes anywhere, in this walk."""
        target, asked = self.edges[index], mode.asked
        return target is not None and (asked is None or target in asked)

    def needed(self) -> int:
        """The same for all operands at once, as C takes it: bit i for operand i."""
        bits, bit, asked = 0, 1, mode.asked
        for target in self.edges:
            if target is not None and (asked is None or target in asked):
                bits |= bit
            bit += bit
        return bits

    def reads_x(self) -> bool:
        """Whether `backward` reads the first operand: an operation in place must then keep a copy of it."""
        return self.keeps_input and not self.only_sizes

    def keeps_x(self) -> bool:
        """The same for any walk: one that the operation is a part of, as of a checkpoint, may ask for less."""
        return self.reads_x() if mode.asked is None else within(_FOR_ALL, self.reads_x, (), {})

    x = _Operand(0)
    y = _Operand(1)
    z = _Operand(2)

    output = _Output()
    _saved_self, _saved_other, _saved_result = x, y, output  # PyTorch's names, by which its tutorials show them

    def unchanged(self, saved: T, stamp: int | None = None) -> T:
        """A value that backward needs. Raises RuntimeError if its memory was written to since it was saved."""
        if isinstance(saved, operation.Tensor):
            _check_unchanged(type(self).__name__, saved, self.stamp if stamp is None else stamp)
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
        """Let go of everything: the graph behind this node is freed."""
        self.freed = True
        self.edges = self.input = self._saved = ()
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

    # ---- Custom operations: `self` is their ctx

    _constant: Sequence[Any] = ()
    _dirty: Sequence[Any] = ()
    materialize_grads = True
    generate_vmap_rule = False  # as in PyTorch, where vmap asks; norch's takes sample by sample

    @staticmethod
    def forward(*args: Any, **_: Any) -> Any:
        """Compute the result, with autograd off."""
        raise NotImplementedError("a custom operation defines forward(ctx, ...)")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Fill `ctx` after a `forward` that does not take it."""
        raise NotImplementedError("this custom operation does not define setup_context(ctx, inputs, output)")

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Run `forward(ctx, *args)` and make its result part of the graph."""
        ctx = cls()
        ctx.edges = [edge(x) for x in args] if mode.enabled else [None] * len(args)
        with no_grad():
            if cls.setup_context is Function.setup_context:
                result = cls.forward(ctx, *args)
            else:
                result = cls.forward(*args)
                cls.setup_context(ctx, args, result)
        if isinstance(result, operation.Tensor):
            return custom_results(ctx, args, [result], single=True)[0] if any(ctx.edges) else result
        if isinstance(result, (tuple, list)) and any(ctx.edges):
            return tuple(custom_results(ctx, args, result, single=False))
        return result

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """In a `forward`: keep tensors for `backward`, where `saved_tensors` returns them."""
        self._saved = tensors

    @property
    def saved_tensors(self) -> tuple[Tensor, ...]:
        """What `save_for_backward` kept, checked not to have changed since."""
        if self.freed:
            raise RuntimeError(FREED)
        name = type(self).__name__
        return tuple(saved.tensor(name) if isinstance(saved, SavedTensor) else saved for saved in self._saved)

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:
        """For each argument of `forward`, whether its gradient is needed."""
        return tuple(edge is not None for edge in self.edges)

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """In a `forward`: these results do not require gradients."""
        self._constant = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """In a `forward`: these arguments were changed in place, and are returned as results."""
        self._dirty = tensors

    @flags
    def set_materialize_grads(self, value: bool) -> None:
        """In a `forward`: with False, backward gets None, not zeros, for a result without a gradient."""
        self.materialize_grads = bool(value)


FREED = (
    "backward through a graph that was freed: its saved values are gone after the first backward. Call "
    "backward(retain_graph=True) the first time to go through it again"
)


def _check_unchanged(name: str, saved: Tensor, since: int) -> None:
    if lib.written_at(saved._ptr) > since:
        raise RuntimeError(
            f"{name} needs a value that was modified by an in-place operation after it was saved for backward; "
            "clone() the tensor before changing it, or use the operation that returns a new one"
        )


# ---- Leaves -----------------------------------------------------------------------------------------------------


class AccumulateGrad(Function):
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
        return None if self.result is None else self.result()

    def register_hook(self, fn: Callable[[Gradients, Gradients], object]) -> HookHandle:
        """Call `fn((), (gradient,))` in backward as soon as the leaf's `.grad` is complete."""
        return self._register_after(fn, call_with_gradient)

    def register_prehook(self, fn: Callable[[Gradients], Gradients | None]) -> HookHandle:
        """Call `fn((gradient,))` before the leaf gets its gradient; the tuple that it returns replaces it."""
        self.hooks = self.hooks or Hooks()
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


class MultiOutput(Function):
    """A node with several outputs, whose `backward` takes their OutputGradients.

    It is made before its outputs, so it is older than they are, and backward reaches it last.
    """

    outputs_count: int = 0

    def __init__(self, edges: Sequence[Edge]) -> None:
        self.edges = edges
        self.age = next_age()

    def record_outputs(self, outputs: Sequence[Tensor]) -> None:
        """Make the tensors the outputs 0, 1, ... of this node."""
        self.outputs_count = len(outputs)
        for i, output in enumerate(outputs):
            record(output, OutputBackward(i), (self,))
        if mode.hooks_of_saved is not None:
            self.pack()


class OutputBackward(Function):
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

    def _operation(self) -> Function:
        node = self.edges[-1] if self.edges else None
        if node is None:
            raise RuntimeError(FREED)
        return node


# ---- Custom operations ---------------------------------------------------------------------------------------------


class SavedTensor:
    """A tensor that `save_for_backward` kept. Of a result only the values: a strong reference would be a cycle."""

    def __init__(self, tensor: Tensor, node: Function | None) -> None:
        self.stamp = write_clock.value
        self.node = None if node is None else ref(node)
        self.value: Any = tensor if node is None else wrap(lib.alias_tensor(tensor._ptr))
        if mode.hooks_of_saved is not None:
            self.value = Packed(self.value)

    def tensor(self, name: str) -> Tensor:
        """The tensor; a result as part of the graph, if backward is recorded itself."""
        value = self.value
        if isinstance(value, Packed):
            value = value.tensor()
        else:
            _check_unchanged(name, value, self.stamp)
        if self.node is None or not mode.enabled:
            return value
        alias = wrap(lib.alias_tensor(value._ptr))
        alias._edge = self.node()
        return alias


class CustomBackward(Function):
    """The node of a custom operation: its backward is that of the operation's class, with the same ctx as forward."""

    broadcasts = True  # whatever shape and dtype a gradient has, it becomes its operand's, or is refused

    def __init__(self, ctx: Function, args: Sequence[Any], outputs: Sequence[Any], single: bool) -> None:
        self.ctx, self.edges, self.single = ctx, ctx.edges, single
        self.input = tuple(x if isinstance(x, operation.Tensor) else None for x in args)
        self.age = next_age()
        # what the zeros for an unused output are made of
        self.outputs_count = len(outputs)
        self.kinds = [(y.shape, y.dtype, y.device) if isinstance(y, operation.Tensor) else None for y in outputs]

    def backward(self, gradient: Any) -> Sequence[Any]:
        given = [gradient] if self.single else [gradient.get(i) for i in range(len(self.kinds))]
        if self.ctx.materialize_grads:
            given = [
                filled(kind[0], 0, kind[1], kind[2]) if part is None and kind is not None else part
                for part, kind in zip(given, self.kinds)
            ]
        results = type(self.ctx).backward(self.ctx, *given)
        results = list(results) if isinstance(results, (list, tuple)) else [results]
        while len(results) > len(self.edges) and results[-1] is None:
            results.pop()
        for part in results:
            if part is not None and not isinstance(part, operation.Tensor):
                name = type(self.ctx).__name__
                raise RuntimeError(f"{name}.backward must return Tensors or None, got {type(part).__name__}")
        return results

    def tensor_operands(self) -> Sequence[int]:
        """The arguments that are tensors: hooks of the node see the gradients of these alone."""
        return [i for i, x in enumerate(self.input) if x is not None]

    def __getattr__(self, name: str) -> Any:
        """What `forward` left on its ctx, which in PyTorch is this node."""
        if "ctx" not in vars(self):
            raise AttributeError(name)
        return getattr(self.ctx, name)

    @property
    def saved_tensors(self) -> tuple[Tensor, ...]:
        return self.ctx.saved_tensors

    def pack(self) -> None:
        """What is packed is what `save_for_backward` was given."""

    def release(self) -> None:
        super().release()
        self.ctx.freed, self.ctx._saved = True, ()


def custom_results(ctx: Function, args: Sequence[Any], outputs: Sequence[Any], single: bool) -> list[Any]:
    """The outputs of a custom operation as results of its node; what `ctx` saved knows the nodes of those saved."""
    name = type(ctx).__name__
    for saved in ctx._saved:
        if saved is not None and not isinstance(saved, operation.Tensor):
            raise TypeError(f"{name}: save_for_backward takes Tensors, got {type(saved).__name__}")
    if not all(_among(changed, outputs) for changed in ctx._dirty):
        raise RuntimeError(f"{name}.forward must return the arguments that it changed in place (mark_dirty)")
    node = type(f"{name}Backward", (CustomBackward,), {})(ctx, args, outputs, single)
    made = list(outputs)
    nodes: dict[int, Function] = {}
    for i, output in enumerate(outputs):
        if not isinstance(output, operation.Tensor) or _among(output, ctx._constant):
            continue
        if not output.is_floating_point():
            continue
        nodes[id(output)] = target = node if single else OutputBackward(i)
        edges = node.edges if single else (node,)
        if _among(output, ctx._dirty):
            output._written(target, edges)
            continue
        if _among(output, args):
            made[i] = wrap(lib.alias_tensor(output._ptr))  # the result must be a tensor of its own
        if output._base is not None and output._base._views is not None:
            output._base._views.outlived = True  # forward made a view, which no write to its base may go past
        record(made[i], target, edges)
    ctx._saved = [SavedTensor(t, nodes.get(id(t))) if isinstance(t, operation.Tensor) else t for t in ctx._saved]
    return made


def _among(tensor: object, tensors: Sequence[Any]) -> bool:
    return any(tensor is other for other in tensors)


class _TwiceBackward(Function):
    keeps_input = False

    def backward(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")


def once_differentiable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a `backward` that is not to be differentiated itself: it runs with autograd off.

    >>> class Double(norch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return 2 * x
    ...
    ...     @staticmethod
    ...     @norch.autograd.function.once_differentiable
    ...     def backward(ctx, gradient):
    ...         return 2 * gradient
    >>> x = norch.ones(1, requires_grad=True)
    >>> norch.autograd.grad(Double.apply(x), x)
    (tensor([2.]),)
    """

    @functools.wraps(function)
    def call(ctx: Any, *gradients: Any) -> Any:
        with no_grad():
            results = function(ctx, *gradients)
        if not mode.enabled or not any(edge(gradient) for gradient in gradients):
            return results
        several = results if isinstance(results, (tuple, list)) else (results,)
        sources = [edge(gradient) for gradient in gradients]
        made = tuple(
            record(part.detach(), _TwiceBackward(), sources) if isinstance(part, operation.Tensor) else part
            for part in several
        )
        return made if several is results else made[0]

    return call


class GradientEdge(NamedTuple):
    """The place of a graph where the gradient of a tensor arrives, which outlives the tensor."""

    node: Function
    output_nr: int = 0
    ownership_token: Function | None = None


FunctionCtx = Function  # the `ctx` of a custom operation is its node
InplaceFunction = Function  # PyTorch's base for what may write to its input
