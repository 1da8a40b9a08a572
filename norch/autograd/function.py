"""Function: the base class of operations that users define.

In a graph such an operation has a CustomBackward as its node (node.py), which calls the `backward` of the class.
"""

from __future__ import annotations

import functools
import inspect
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Callable, Sequence
from weakref import ref

from .. import operation
from .._C import lib, write_clock
from ..arguments import flags
from ..operation import edge, mode, next_age, record, wrap
from ..packing import filled
from .mode import no_grad
from .node import FREED, Edge, Node, OutputBackward, check_unchanged
from .saved import Packed

if TYPE_CHECKING:
    from ..forward_declarations import Tensor


class Function:
    """A custom operation; an instance is the `ctx` of one use.

    It derives from Function and defines two static methods, as in PyTorch. `forward(ctx, *args)` returns a
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

    edges: Sequence[Edge] = ()  # where the gradient of each argument goes
    freed = False  # whether the graph behind this operation is
    _saved: Sequence[Any] = ()
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
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward(ctx, *args)` and make its result part of the graph; arguments by name are put in their order."""
        ctx = cls()
        sets_up = cls.setup_context is not Function.setup_context
        if kwargs:
            args = _in_order(cls.forward if sets_up else functools.partial(cls.forward, ctx), args, kwargs)
        if sets_up:  # which finds an argument that was left out among its inputs
            args = (*args, *_defaults_after(cls.forward, len(args)))
        ctx.edges = [edge(x) for x in args] if mode.enabled else [None] * len(args)
        with no_grad():
            result = cls.forward(*args) if sets_up else cls.forward(ctx, *args)
            if sets_up:
                cls.setup_context(ctx, args, result)
        single = isinstance(result, operation.Tensor)
        if not single and not isinstance(result, (tuple, list)):
            return result
        outputs = [result] if single else result
        made = custom_results(ctx, args, outputs, single) if any(ctx.edges) else [_apart(ctx, args, x) for x in outputs]
        return made[0] if single else made if isinstance(result, list) else tuple(made)

    @staticmethod
    def backward(*gradients: Any, **_: Any) -> Any:  # checkers let any signature override this one
        """Return the gradients of the arguments."""
        raise NotImplementedError("a custom operation defines backward(ctx, ...)")

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """In a `forward`: keep tensors for `backward`, where `saved_tensors` returns them."""
        self._saved = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Nothing: `jvp` is not called, since norch goes forward by two passes backward."""

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


def _in_order(forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments of a `forward`, of which some are given by name. Raises TypeError for other names."""
    bound = inspect.signature(forward).bind(*args, **kwargs)
    if bound.kwargs:  # behind one that is left out
        bound.apply_defaults()
    if bound.kwargs:
        raise TypeError(f"apply: {', '.join(bound.kwargs)} cannot be given by position, as forward gets its arguments")
    return bound.args


def _defaults_after(function: Any, given: int) -> tuple[Any, ...]:
    """The default values of a function's parameters from a position on."""
    code, defaults = getattr(function, "__code__", None), getattr(function, "__defaults__", None) or ()
    given += hasattr(function, "__self__")  # of a class method
    missing = 0 if code is None else code.co_argcount - given
    return defaults[-missing:] if 0 < missing <= len(defaults) else ()


class SavedTensor:
    """A tensor that `save_for_backward` kept. Of a result only the values: a strong reference would be a cycle."""

    def __init__(self, tensor: Tensor, node: Node | None) -> None:
        self.stamp = write_clock.value
        self.node = None if node is None else ref(node)
        self.value: Any = tensor if node is None else wrap(lib.alias_tensor(tensor._ptr))
        if mode.hooks_of_saved is not None:
            self.value = Packed(self.value)

    def tensor(self, name: str) -> Tensor:
        """The tensor; a result as part of the graph, whether or not backward is recorded itself."""
        value = self.value
        if isinstance(value, Packed):
            value = value.tensor()
        else:
            check_unchanged(name, value, self.stamp)
        if self.node is None:
            return value
        alias = wrap(lib.alias_tensor(value._ptr))
        alias._edge = self.node()
        return alias


class CustomBackward(Node):
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

    x, y, z, output = (property(attrgetter(f"ctx.{name}")) for name in ("x", "y", "z", "output"))  # that, too

    @property
    def saved_tensors(self) -> tuple[Tensor, ...]:
        return self.ctx.saved_tensors

    def pack(self) -> None:
        """What is packed is what `save_for_backward` was given."""

    def release(self) -> None:
        self.freed = True
        if self.ctx._saved:  # else it may be walked again
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
    nodes: dict[int, Node] = {}
    for i, output in enumerate(outputs):
        if not isinstance(output, operation.Tensor):
            continue
        if _among(output, ctx._constant) or not output.is_floating_point():
            made[i] = _apart(ctx, args, output)
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


def _apart(ctx: Function, args: Sequence[Any], x: Any) -> Any:
    """A result that is in no graph: an argument, unless it was written to, becomes another tensor over its memory."""
    if not isinstance(x, operation.Tensor) or not (x.requires_grad or _among(x, args) and not _among(x, ctx._dirty)):
        return x
    return x.detach()


def _among(tensor: object, tensors: Sequence[Any]) -> bool:
    return any(tensor is other for other in tensors)


class _TwiceBackward(Node):
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


FunctionCtx = Function  # an instance is the `ctx`
InplaceFunction = Function  # PyTorch's base for what may write to its input
