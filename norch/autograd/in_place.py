"""Tensors that share memory: views, and writes in place that every graph over that memory follows.

A view knows its base, and a base in a graph knows its views. After a write the tensor that was written has a new node;
if it is a view, so has its base (CopySlices: the old values with a part replaced), and every other view of that base
becomes a view of the new values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable
from weakref import ref

from .._C import lib, write_clock
from ..operation import check, edge, held, mode, record, wrap
from .derivatives.views import AsStridedBackward, CopySlicesBackward, strided

if TYPE_CHECKING:
    pass


def view(base: Any, ptr: int, backward: Any, *parameters: Any) -> Any:
    """The Tensor of a view of `base`, recorded with backward(base, *parameters)."""
    result = wrap(ptr)
    edge, root = base._edge, base._base
    # A leaf is the base of its views, though it may be a view itself: writing through them must find it.
    result._base = root = base if root is None or (edge is not None and edge.is_leaf) else root
    if edge is not None and mode.enabled:
        record(result, backward(base, *parameters), (edge,))
        if not root._edge.is_leaf:
            root._views = root._views or []
            root._views.append(ref(result))
    return result


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
    check(kernel())
    if node is not None:
        _rebase(x, node, edges, stamp)
    return x


def _check_leaf(x: Any) -> None:
    leaf = x if x._base is None or (x._edge is not None and x._edge.is_leaf) else x._base
    if leaf._edge is not None and leaf._edge.is_leaf:
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
    copy = wrap(lib.clone_tensor(x._ptr))
    copy._edge = held(target)
    return copy


def _rebase(x: Any, node: Any, edges: Any, stamp: int) -> None:
    """Give x, whose memory was written into at `stamp`, its new grad_fn, and likewise what shares that memory."""
    base = x if x._base is None else x._base
    target = base._edge
    record(x, node, edges)
    node.stamp = stamp
    if base is not x:  # the new values of the view, written into the base
        record(base, CopySlicesBackward(base, x, geometry(x)), (target, node))
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
    return lambda gradient: strided(gradient, shape, strides, offset)


def follow_base(x: Any) -> None:
    """Give a view the grad_fn that its base has now: the base was written to since the view was taken."""
    base = x._base
    parameters = (x.shape, x.stride(), x.storage_offset() - base.storage_offset())
    record(x, AsStridedBackward(base, *parameters), (base._edge,))
