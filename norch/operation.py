"""The one way from Python to a kernel and back: call, wrap the result, record its grad_fn.

`unary("exp", ExpBackward, ...)` makes the methods `exp` and `exp_` from the C functions `exp_tensor` and `exp_into`;
`binary` makes an operator, its reflected and in-place forms and the named methods. tensor.py uses them, a line for each
operation.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence
from weakref import ref

from ._C import lib, number, raise_error, write_clock
from .autograd.function import edge, held, next_age, node, record, rerecord
from .autograd.mode import mode, silent
from .docstrings import documentation

Tensor: Any = None  # the class; tensor.py, which is built with this module, puts it here
shared: Any = None  # interop.py's function

_new = object.__new__


def wrap(ptr: int) -> Any:
    """The Tensor that owns a C tensor."""
    result = _new(Tensor)
    result._ptr = ptr
    result._edge = None
    return result


def operand(value: Any) -> Any:
    """A Tensor as it is, a Python number as a Number, an array as a tensor; NotImplemented for anything else."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (int, float)):
        return number(value)
    if getattr(value, "shape", None) == () and hasattr(value, "item"):  # a NumPy scalar
        return number(value.item())
    if hasattr(value, "__array_interface__"):
        array = shared(value)
        if array is None:
            return NotImplemented
        return array.clone() if mode.enabled else array  # a graph that kept it would not notice a change of the array
    return NotImplemented


def check_tensor(value: Any, name: str) -> Any:
    """Return a Tensor; raise TypeError for anything else."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{name}: expected a Tensor, got {type(value).__name__}")
    return value


def check_operand(value: Any, name: str) -> Any:
    """Like `operand`, but raise TypeError for what is neither a tensor nor a number."""
    found = operand(value)
    if found is NotImplemented:
        raise TypeError(f"{name}: expected a Tensor or a number, got {type(value).__name__}")
    return found


# ---- Methods from rows of csrc/ops/operations.h ---------------------------------------------------------------------


def unary(name: str, backward: Any, doc: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The methods `name()` and `name_()` of a unary operation; `backward` is None where it has no derivative."""
    function, into = getattr(lib, f"{name}_tensor"), getattr(lib, f"{name}_into")

    def method(self: Any) -> Any:
        result = wrap(function(self._ptr) or raise_error())
        if backward is not None and self._edge is not None and (not silent or mode.enabled):
            record(result, node(backward, (self,)), (self._edge,))
        return result

    def method_(self: Any) -> Any:
        return write(self, backward, (), lambda: into(self._ptr, self._ptr))

    return _documented(method, name, doc, 1), _documented(method_, f"{name}_", doc, 1)


def binary(name: str, backward: Any, doc: str, method_name: str = "") -> Any:
    """The operator of a binary operation, reflected and in place, and its methods `name(other)`, `name_(other)`."""
    function, into = getattr(lib, f"{name}_tensor"), getattr(lib, f"{name}_into")
    method_name = method_name or name
    saves = backward is not None and backward._saves

    def forward(self: Any, other: Any) -> Any:
        if isinstance(other, Tensor):
            b = other
        else:
            b = operand(other)
            if b is NotImplemented:
                return NotImplemented
            other = b if isinstance(b, Tensor) else other  # an array; a number stays a number
        result = _new(Tensor)  # wrap(), node() and record() written out: each call less is a thirtieth of x + y
        result._ptr = function(self._ptr, b._ptr) or raise_error()
        x, y = self._edge, b._edge
        if (x or y) and backward is not None and (not silent or mode.enabled):
            made = _new(backward)
            made.input, made.edges, made.age, made.stamp = (self, other), (x, y), next_age(), write_clock.value
            made.hooks, made.holders = None, 1
            if saves:
                made.save(result)
            result._edge = made
        else:
            result._edge = None
        return result

    def reflected(self: Any, other: Any) -> Any:
        a = operand(other)
        if a is NotImplemented:
            return NotImplemented
        result = wrap(function(a._ptr, self._ptr) or raise_error())
        first = a if isinstance(a, Tensor) else other
        return result if backward is None else recorded(result, backward, (first, self))

    def in_place(self: Any, other: Any) -> Any:
        b = operand(other)
        if b is NotImplemented:
            return NotImplemented
        source = b if isinstance(b, Tensor) else other
        return write(self, backward, (source,), lambda: into(self._ptr, self._ptr, b._ptr))

    def method(self: Any, other: Any) -> Any:
        check_operand(other, method_name)
        return forward(self, other)

    def method_(self: Any, other: Any) -> Any:
        check_operand(other, f"{method_name}_")
        return in_place(self, other)

    return (
        _named(forward, f"__{method_name}__", doc),
        _named(reflected, f"__r{method_name}__", doc),
        _named(in_place, f"__i{method_name}__", doc),
        _documented(method, method_name, doc, 2),
        _documented(method_, f"{method_name}_", doc, 2),
    )


def _named(function: Any, name: str, doc: str) -> Any:
    function.__name__ = name
    function.__qualname__ = f"Tensor.{name}"
    function.__doc__ = doc
    return function


def _documented(function: Any, name: str, doc: str, operands: int) -> Any:
    return _named(function, name, documentation(name, doc, operands))


def ternary(name: str, backward: Any, x: Any, y: Any, z: Any) -> Any:
    """The result of a ternary operation on tensors and numbers."""
    operands = [check_operand(value, name) for value in (x, y, z)]
    result = wrap(getattr(lib, f"{name}_tensor")(*[o._ptr for o in operands]) or raise_error())
    return recorded(result, backward, [o if isinstance(o, Tensor) else v for o, v in zip(operands, (x, y, z))])


def recorded(result: Any, backward: Any, inputs: Sequence[Any], *parameters: Any) -> Any:
    """Make backward(*inputs, *parameters) the grad_fn of `result` where an input requires gradients."""
    edges = [edge(x) for x in inputs]
    if any(edges) and (not silent or mode.enabled):
        return record(result, backward(*inputs, *parameters), edges)
    return result


def view(base: Any, ptr: int, backward: Any, *parameters: Any) -> Any:
    """The Tensor of a view of `base`, recorded with backward(base, *parameters)."""
    result = wrap(ptr or raise_error())
    edge, root = base._edge, base._base
    # a leaf is the base of its views, though it may be a view itself: writing through them must find it
    result._base = root = base if root is None or (edge is not None and edge.age == 0) else root
    if edge is not None and (not silent or mode.enabled):
        record(result, backward(base, *parameters), (edge,))
        if not root._edge.age == 0:
            root._views = root._views or []
            root._views.append(ref(result))
    return result


# ---- Writing in place -------------------------------------------------------------------------------------------


def write(x: Any, backward: Any, others: tuple[Any, ...], kernel: Callable[[], int]) -> Any:
    """Let a kernel write into x's memory, and its graph follow: x is now what backward(x, *others) differentiates.

    PyTorch's rules: a leaf that requires gradients refuses; a write through a view shows in its base's graph too.
    """
    node: Any = None
    edges = [edge(t) for t in (x, *others)]
    if mode.enabled and (any(edges) or (x._base is not None and x._base._edge is not None)):
        _check_leaf(x)
        if backward is not None:
            node = backward(x, *others)
            if node.overwrites and x._base is not None:
                edges[0] = None  # the base's graph says what becomes of the old values
            node.edges = edges
            node.input = (_kept(x, edges[0]) if node.reads_x() else None, *node.input[1:])
            _check_aliases(x)
    stamp = write_clock.value
    if kernel() != 0:
        raise_error()
    if node is not None:
        _rebase(x, node, edges, stamp)
    return x


def _check_leaf(x: Any) -> None:
    leaf = x if x._base is None or (x._edge is not None and x._edge.age == 0) else x._base
    if leaf._edge is not None and leaf._edge.age == 0:
        what = "a leaf tensor that requires grad" if leaf is x else "a view of a leaf tensor that requires grad"
        raise RuntimeError(
            f"{what} is being used in an in-place operation; do it under norch.no_grad(), or out of place"
        )


def _check_aliases(x: Any) -> None:
    """Other views of a tensor that is to enter a graph only now would not learn of it."""
    if x._base is None and x._edge is None and lib.shares_memory(x._ptr):
        raise RuntimeError(
            "an in-place operation would make this tensor require gradients while views of it exist that do not; "
            "clone() it first, or take the views afterwards"
        )


def _kept(x: Any, target: Any) -> Any:
    """A copy of what is about to be overwritten, at x's place in the graph."""
    copy = wrap(lib.clone_tensor(x._ptr) or raise_error())
    copy._edge = held(target)
    return copy


def _rebase(x: Any, node: Any, edges: Any, stamp: int) -> None:
    """Give x, whose memory was written into at `stamp`, its new grad_fn, and likewise what shares that memory."""
    base = x if x._base is None else x._base
    target = base._edge
    rerecord(x, node, edges)
    node.stamp = stamp
    if base is not x:  # the new values of the view, written into the base
        rerecord(base, _view_functions().CopySlicesBackward(base, x, geometry(x)), (target, node))
        follow_base(x)
    views = base._views or []
    base._views = [view for view in views if view() is not None]
    for view in base._views:
        if view() is not x:
            follow_base(view())


def geometry(x: Any) -> Callable[[Any], Any]:
    """The function that takes from a gradient of x's base the part that x is."""
    base = x._base
    if not base.is_contiguous():
        raise RuntimeError(
            "in-place operations with gradients need a contiguous base; use clone() or contiguous() first"
        )
    shape, strides, offset = x.shape, x.stride(), x.storage_offset() - base.storage_offset()
    return lambda gradient: _view_functions().strided(gradient, shape, strides, offset)


def follow_base(x: Any) -> None:
    """Give a view the grad_fn that its base has now: the base was written to since the view was taken."""
    base = x._base
    parameters = (x.shape, x.stride(), x.storage_offset() - base.storage_offset())
    rerecord(x, _view_functions().AsStridedBackward(base, *parameters), (base._edge,))


def _view_functions() -> Any:
    from .autograd.derivatives import views as view_functions

    return view_functions
