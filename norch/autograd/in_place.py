"""Tensors that share memory: views, and writes in place that every graph over that memory follows.

A view knows its base, and a base in a graph knows its views. After a write the tensor that was written has a new node;
if it is a view, so has its base (CopySlices: the old values with a part replaced), and every other view of that base
becomes a view of the new values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence
from weakref import ref

from .._C import lib, write_clock
from ..operation import check, edge, mode, record, wrap
from .derivatives.views import AsStridedBackward, CopySlicesBackward, View, strided
from .function import Edge, Function

if TYPE_CHECKING:
    from ..forward_declarations import Tensor
    from ..types import Operand

# ---- Views ------------------------------------------------------------------------------------------------------


def view(base: Tensor, ptr: int, backward: Callable[..., Function] | None, *parameters: Any) -> Tensor:
    """The Tensor of a view of `base`, recorded with backward(base, *parameters); without a graph that may be None."""
    result = wrap(ptr)
    # A leaf is the base of its views, even if it is a view itself: writing through them must find it.
    root = base if base._base is None or _is_recorded_leaf(base) else base._base
    result._base = root
    if base._edge is not None and mode.enabled and backward is not None:
        record(result, backward(base, *parameters), (base._edge,))
        if not _is_recorded_leaf(root):
            root._views = root._views or []
            root._views.append(ref(result))
    return result


def _is_recorded_leaf(x: Tensor) -> bool:
    return x._edge is not None and x._edge.is_leaf


# ---- Writes -----------------------------------------------------------------------------------------------------


def write(
    x: Tensor, backward: Callable[..., Function] | None, others: tuple[Operand, ...], kernel: Callable[[], int]
) -> Tensor:
    """Let a kernel write into x's memory, and its graph follow: x is now what backward(x, *others) differentiates.

    PyTorch's rules: a leaf that requires gradients refuses; a write through a view shows in its base's graph too.
    """
    node = None
    edges = [edge(t) for t in (x, *others)]
    if mode.enabled and (any(edges) or (x._base is not None and x._base._edge is not None)):
        _check_leaf(x)
        if backward is not None:
            node = backward(x, *others)
            if node.overwrites and x._base is not None:
                edges[0] = None  # the base's graph says what becomes of the old values
            node.edges = edges
            node.input = (_copy(x, edges[0]) if node.reads_x() else None, *node.input[1:])
            _check_aliases(x)
    stamp = write_clock.value
    check(kernel())
    if node is not None:
        _rebase(x, node, edges, stamp)
    return x


def _check_leaf(x: Tensor) -> None:
    leaf = x if x._base is None or _is_recorded_leaf(x) else x._base
    if _is_recorded_leaf(leaf):
        what = "a leaf tensor that requires grad" if leaf is x else "a view of a leaf tensor that requires grad"
        raise RuntimeError(
            f"{what} is being used in an in-place operation; do it under norch.no_grad(), or out of place"
        )


def _check_aliases(x: Tensor) -> None:
    """Raise RuntimeError if x is to enter a graph only now, of which its other views would not learn."""
    if x._base is None and x._edge is None and lib.shares_memory(x._ptr):
        raise RuntimeError(
            "an in-place operation would make this tensor require gradients while views of it exist that do not; "
            "clone() it first, or take the views afterwards"
        )


def _copy(x: Tensor, target: Edge) -> Tensor:
    """A copy of what is about to be overwritten, at x's place in the graph."""
    copy = wrap(lib.clone_tensor(x._ptr))
    copy._edge = target
    return copy


def _rebase(x: Tensor, node: Function, edges: Sequence[Edge], stamp: int) -> None:
    """Give x, whose memory was written to after `stamp`, its new grad_fn, and likewise what shares that memory."""
    base = x if x._base is None else x._base
    old = base._edge
    record(x, node, edges)
    node.stamp = stamp  # the write may have changed a saved operand
    if base is not x:  # the new values of the view, written into the base
        record(base, CopySlicesBackward(base, x, _part(x, base)), (old, node))
        _follow(x, base)
    views = [reference() for reference in base._views or []]
    base._views = [ref(view) for view in views if view is not None]
    for view in views:
        if view is not None and view is not x:
            _follow(view, base)


def _follow(x: Tensor, base: Tensor) -> None:
    """Give a view the grad_fn that its base has now: the base was written to since the view was taken."""
    record(x, AsStridedBackward(base, *_place(x, base)), (base._edge,))


def _part(x: Tensor, base: Tensor) -> View:
    """The function that takes from a gradient of the base the part that x is."""
    if not base.is_contiguous():
        raise RuntimeError(
            "in-place operations with gradients need a contiguous base; use clone() or contiguous() first"
        )
    place = _place(x, base)
    return lambda gradient: strided(gradient, *place)


def _place(x: Tensor, base: Tensor) -> tuple[Sequence[int], Sequence[int], int]:
    """The shape, strides and offset of x in its base."""
    return x.shape, x.stride(), x.storage_offset() - base.storage_offset()
