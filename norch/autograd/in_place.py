"""Tensors that share memory: views, and writes in place that every graph over that memory follows.

A view knows its base, and a base knows its views. After a write into a graph the tensor that was written has a new
node; if it is a view, so has its base (CopySlices: the old values with a part replaced), and every other view of that
base becomes a view of the new values. A base that enters the graph only by this write takes its views with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence
from weakref import ref

from .._C import CPYTHON, lib, raise_error, write_clock
from ..operation import check, edge, mode, record, recorded, set_at_once, structure, wrap
from .derivatives.views import (
    AsStridedBackward,
    ConstantBackward,
    CopyBackward,
    CopySlicesBackward,
    Place,
    UntrackedViewBackward,
)
from .node import Edge, Node

if TYPE_CHECKING:
    from ..forward_declarations import Tensor
    from ..types import Operand

# ---- Views ------------------------------------------------------------------------------------------------------


def view(base: Tensor, ptr: int, backward: Callable[..., Node] | None, *parameters: Any) -> Tensor:
    """The Tensor of a view of `base`, recorded with backward(base, *parameters); without a graph that may be None."""
    result = wrap_view(ptr, base, mode.enabled)
    if base._edge is not None and backward is not None and mode.enabled:
        record(result, backward(base, *parameters), (base._edge,))
    return result


def wrap_view(ptr: int, base: Tensor, tracked: bool) -> Tensor:
    """The Tensor of a view of `base`, which no graph knows yet; one made under no_grad is not `tracked`."""
    result: Tensor = wrap(ptr)
    if base._untracked or not tracked:
        result._untracked = True
    join(result, base)
    return result


def wrap_views(ptrs: Sequence[int], base: Tensor, tracked: bool) -> tuple[Tensor, ...]:
    """The same of several views."""
    return tuple([wrap_view(ptr, base, tracked) for ptr in ptrs])


if CPYTHON and not TYPE_CHECKING:
    wrap_view, wrap_views = lib.wrap_view, lib.wrap_views  # the same in C


def join(result: Tensor, base: Tensor) -> None:
    """Make a tensor that shares the memory of another one a view of it."""
    # A leaf is the base of its views, even if it is a view itself: writing through them must find it.
    result._base = root = base if base._base is None or _is_recorded_leaf(base) else base._base
    if root._views is None:
        root._views = Views()
    root._views.append(ref(result))
    if len(root._views) % OFTEN == 0:
        root._views.forget()


def view_or_copy(base: Tensor, ptr: int, backward: Callable[..., Node], *parameters: Any) -> Tensor:
    """The same for a result that may have its own memory: if it has, it is recorded as a copy."""
    if ptr and not lib.shares_memory(ptr, base._ptr):
        return recorded(wrap(ptr), backward, (base,), *parameters)
    return view(base, ptr, backward, *parameters)


OFTEN = 32  # views of a base, after which those that are gone are counted (also in csrc/api/objects.cpp)


class Views(list["ref[Tensor]"]):
    """The views of a base, not kept alive by it."""

    limit = OFTEN
    # Whether one is in a graph, which the base left or a custom operation made: until the base is written to
    outlived = False

    def forget(self) -> None:
        """Let go of those that are gone, once they may be half of all."""
        if len(self) >= self.limit:
            self[:] = [reference for reference in self if reference() is not None]
            self.limit = 2 * len(self) + OFTEN


def _is_recorded_leaf(x: Tensor) -> bool:
    return x._edge is not None and x._edge.refuses_writes


def become(x: Tensor, ptr: Any, backward: Callable[..., Node], *parameters: Any) -> Tensor:
    """Make x, in place, what a view of x is: `x.unsqueeze_()` from the view of `x.unsqueeze()`."""
    if not ptr:
        raise_error()
    if x._edge is not None and mode.enabled:
        check_writable(x)
        node: Any = view(x, ptr, backward, *parameters)._edge
        node.result = ref(x)
        lib.mark_as_written(ptr)  # a graph that saved x must not use it in its new shape
        set_at_once(x, _ptr=ptr, _shape=None, _edge=node)
    else:
        lib.mark_as_written(ptr)
        x._shape = None  # before: what is kept of the old shape must not outlive it
        x._ptr = ptr
    structure.version += 1
    return x


# ---- Writes -----------------------------------------------------------------------------------------------------


def write(
    x: Tensor,
    backward: Callable[..., Node] | None,
    others: tuple[Operand, ...],
    kernel: Callable[..., int],
    *arguments: Any,
) -> Tensor:
    """Let kernel(*arguments) write into x's memory, and its graph follow: backward(x, *others) differentiates x now.

    Without `backward` what is written has no derivative: no gradient passes to what x was.

    PyTorch's rules: a leaf that requires gradients refuses; a write through a view shows in its base's graph too.
    """
    base = x._base
    in_graph = x._edge is not None or (base is not None and base._edge is not None)
    for t in others:
        if getattr(t, "_edge", None) is not None:
            in_graph = True
    if not (in_graph and mode.enabled and x.is_floating_point()):  # integers have no gradients
        if kernel(*arguments):
            raise_error()
        return x if base is None and x._views is None else after_write(x, 0)
    check_writable(x)
    edges = [x._edge, *map(edge, others)]
    node = (backward or ConstantBackward)(x, *others)
    if node.overwrites and base is not None:
        edges[0] = None  # the base's graph says what becomes of the old values
    node.edges = edges
    node.input = (_copy(x, edges[0]) if node.keeps_x() else None, *node.input[1:])
    stamp = write_clock.value
    try:
        check(kernel(*arguments))
        rebase(x, node, edges, stamp)
    except BaseException:  # an interrupt must not leave new values with the old graph
        if lib.written_at(x._ptr) > stamp:
            rebase(x, node, edges, stamp)
        raise
    return x


def overwrite(x: Tensor, kernel: Callable[..., int], *arguments: Any) -> Tensor:
    """The same for a kernel(x's address, *arguments) that sets all elements: what x was gets the gradient 0."""
    if x._edge is None and x._base is None and x._views is None:  # most often: no graph
        if kernel(x._ptr, *arguments):
            raise_error()
        return x
    return write(x, CopyBackward, (0.0,), kernel, x._ptr, *arguments)


def after_write(x: Tensor, status: int) -> Tensor:
    """x after a kernel wrote to it and recorded nothing. Raises what the kernel left behind."""
    if status:
        raise_error()
    root = x if x._base is None else x._base
    if root._views is not None and root._views.outlived:
        _follow_all(root, root)
        root._views.outlived = False
    return x


def check_writable(x: Tensor) -> None:
    """Raise RuntimeError if a graph forbids writing to x: for a leaf, its views, and a view that no graph knows."""
    leaf = x if x._base is None or _is_recorded_leaf(x) else x._base
    if _is_recorded_leaf(leaf):
        what = "a leaf tensor that requires grad" if leaf is x else "a view of a leaf tensor that requires grad"
        raise RuntimeError(
            f"{what} is being used in an in-place operation; do it under norch.no_grad(), or out of place"
        )
    if x._untracked:
        raise RuntimeError(
            "a view that was made under norch.no_grad(), or by a custom operation, is being used in an in-place "
            "operation with gradients; do both inside of no_grad or both outside, or clone() the view"
        )


def _copy(x: Tensor, target: Edge) -> Tensor:
    """A copy of what is about to be overwritten, at x's place in the graph."""
    copy = wrap(lib.clone_tensor(x._ptr))
    copy._edge = target
    return copy


def rebase(x: Tensor, node: Node, edges: Sequence[Edge], stamp: int) -> None:
    """Give x, whose memory was written to after `stamp`, its new grad_fn, and likewise what shares that memory."""
    base = x if x._base is None else x._base
    old = base._edge
    _renew(x, node, edges)
    node.stamp = stamp  # the write may have changed a saved operand
    if base is not x:  # the new values of the view, written into the base
        _renew(base, CopySlicesBackward(base, x, _place(x, base)), (old, node))
        _follow(x, base)
    _follow_all(base, x)


def _follow_all(base: Tensor, written: Tensor) -> None:
    """The same for its views, but for leaves and the one that was written to."""
    for reference in list(base._views or ()):
        view = reference()
        if view is None or view is written or _is_recorded_leaf(view):
            continue
        if view._edge or base._edge:
            _follow(view, base)


def _follow(x: Tensor, base: Tensor) -> None:
    """Give a view the grad_fn that its base has now: the base was written to since the view was taken."""
    backward = UntrackedViewBackward if x._untracked else AsStridedBackward
    _renew(x, backward(base, *_place(x, base)), (base._edge,))


def _renew(x: Tensor, node: Node, edges: Sequence[Edge]) -> None:
    """Give x another grad_fn. The gradient that it had stays."""
    before = x._edge or x._leaf
    gradient = None if before is None else before.grad
    record(x, node, edges)
    node.grad = gradient


def _place(x: Tensor, base: Tensor) -> Place:
    """The shape, strides and offset of x in its base."""
    return x.shape, x.stride(), lib.offset_of(x._ptr) - lib.offset_of(base._ptr)
