"""The walk of `backward`: the article's chain rule over the whole graph, each node once, in topological order.

The article calls `backward` of every input recursively. That visits a shared node once for every path to it, 2^n times
in the worst case, and a deep graph overflows Python's stack. Here a node waits until the gradients of everything that
used its result have arrived, is given their sum, and passes the chain rule on once. Nothing needs to be sorted for
that: an operation runs after those it depends on, so the youngest node first is a topological order.
"""

from __future__ import annotations

import sys
from heapq import heappop, heappush
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Iterable, Optional, Sequence, Union

from .. import _C, operation
from .._C import CPYTHON, lib
from ..arguments import flags
from ..guards import within
from ..operation import check, check_tensor, mode, own, wrap
from ..threads import holding, shared_lock
from ..types import contiguous_format, preserve_format, shown
from .callbacks import running_callbacks
from .derivatives.joining import stack
from .hooks import Hooks
from .node import FREED, AccumulateGrad, Edge, GradientEdge, Gradients, Node, OutputBackward, OutputGradients
from .node_hooks import through_posthooks, through_prehooks
from .saved import unpacked

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

Flow = Iterable[tuple[Edge, Optional["Tensor"]]]  # gradients, each with the edge that it goes along
Arrived = dict[Node, "Tensor"]  # node -> the sum of the gradients that have reached it
Waiting = list[tuple[float, Node]]  # the same nodes as a heap in which the youngest comes first
Fresh = dict[Node, bool]  # those whose sum lies in memory that only the walk knows; whether parts were added to it
Turns = dict[Node, float]  # leaf -> the age at which its turn comes, if not its own
Tensors = Union["Tensor", GradientEdge, Sequence[Union["Tensor", GradientEdge]]]

# of the walk, without and with a graph of its own; gradients have the dtypes of the forward
_MODES: list[Any] = [
    ((mode, {"enabled": recorded, "autocast": {}, "walk": (None, None)}),) for recorded in (False, True)
]
_accumulating = shared_lock()


def walk(
    starts: Flow,
    retain_graph: bool,
    create_graph: bool,
    wanted: set[Node] | None = None,
    given: set[int] | None = None,
    turns: Turns | None = None,
) -> Arrived:
    """Send gradients through the graph from `starts`, and return those that arrive at `wanted`.

    Only the nodes on the way there are visited; without `wanted` all are, and the gradients are those of each leaf, and
    of every other tensor of the graph that is still alive. If `given`, the ids of gradients that are in use elsewhere,
    is not None, these tensors accumulate their `.grad`. `turns` are the leaves to finish early.
    """
    if given is not None:
        refuse_rehearsal()
    return within(_MODES[create_graph], _walk, (starts, retain_graph, create_graph, wanted, given, turns), {})


def refuse_rehearsal() -> None:
    """Raise RuntimeError in a walk that a program records before its gradients are known."""
    if mode.rehearses:
        raise RuntimeError("a backward in it, as of a checkpoint, accumulates gradients by itself")


def _walk(
    starts: Flow,
    retain_graph: bool,
    create_graph: bool,
    wanted: set[Node] | None,
    given: set[int] | None,
    turns: Turns | None,
) -> Arrived:
    oldest = min(node.age for node in wanted) if wanted else 0  # nothing behind it is asked for
    needed = None if wanted is None else _needed(starts, wanted, oldest)
    # for hooks of several tensors all are listed now: freed nodes forget their operands
    mode.walk = starts, set(reached(starts)) if needed is None and Node.gathering else needed
    arrived: Arrived = {}
    waiting: Waiting = []
    found: Arrived = {}
    fresh: Fresh = {}
    anomaly = mode.anomaly
    in_c = CPYTHON and turns is None and anomaly is None  # then C takes the steps that need no more than a rule
    parts = starts
    while True:
        for target, part in parts:
            if target is None or part is None or (needed is not None and target not in needed):
                continue
            if target in arrived:
                arrived[target] = arrived[target] + part
                fresh.setdefault(target, False)
                continue
            arrived[target] = part
            if turns is not None:
                heappush(waiting, (-turns.get(target, target.age), target))
            elif not target.is_leaf:  # the gradients of leaves stay until the end
                heappush(waiting, (-target.age, target))
        if in_c and lib.walk_plain(waiting, arrived, found, fresh, needed, wanted, create_graph, not retain_graph):
            break
        if not waiting:
            _find_leaves(arrived, found, fresh)
            break
        node = heappop(waiting)[1]
        gradient = arrived.pop(node)  # complete: everything that used this result is younger and has been processed
        if fresh.get(node):
            _without_signs(gradient)
        if node.freed and not node.edges and (wanted is None or node.age > oldest):
            raise RuntimeError(FREED)
        if node.hooks:
            gradient = _through_hooks(node.hooks, gradient)
        if node.after and given is not None:
            _finish(node, gradient, given)
        elif node in wanted if wanted is not None else node.result() is not None:
            found[node] = gradient
        parts = ()
        if not node.is_leaf and (needed is None or not needed.isdisjoint(node.edges)):
            if node.shown and not create_graph and anomaly is None and _add_part(node, gradient, arrived, fresh):
                pass
            elif node.packed is None:
                parts = _chain_rule(node, gradient, create_graph)
            else:
                with unpacked(node):
                    parts = _chain_rule(node, gradient, create_graph)
            if anomaly is not None:
                parts = _without_nan(node, list(parts))
            if not retain_graph:
                node.release()
    if given is not None:
        _accumulate(found, given)
    return found


def _find_leaves(arrived: Arrived, found: Arrived, fresh: Fresh) -> None:
    """Put the gradients of the leaves, which are all that remain, among those that were found."""
    for leaf, gradient in arrived.items():
        if fresh.get(leaf):
            _without_signs(gradient)
        found[leaf] = _through_hooks(leaf.hooks, gradient) if leaf.hooks else gradient


def _add_part(node: Node, gradient: Tensor, arrived: Arrived, fresh: Fresh) -> bool:
    """Add the gradient of a view to that of its base, in place; False if there is none yet that may be written to.

    (Many views of one tensor would each have a gradient of the tensor's size.)
    """
    if node.around is not None:  # hooks see what the rule returns
        return False
    target = node.edges[0]
    whole = None if target is None else arrived.get(target)
    if target is not None and whole is None:
        fresh[target] = False  # as the rule makes it
    if target is None or target not in fresh or type(whole) is not operation.Tensor:
        return False
    part = node.part_of(whole)
    check(lib.add_into(part._ptr, part._ptr, gradient._ptr))
    fresh[target] = True
    return True


def _without_signs(whole: Tensor) -> None:
    """0 for every -0, as the sum of gradients of the tensor's size has it: replays give the same bits."""
    check(lib.add_into(whole._ptr, whole._ptr, _C.number(0.0)._ptr))


def visited() -> set[Node]:
    """The nodes that the walk of this thread visits: for a hook."""
    starts, asked = mode.walk
    return set(reached(starts)) if asked is None else asked


def reached(starts: Flow) -> list[Node]:
    """The nodes that `starts` depend on, the oldest first: the operands of an operation are older than it is."""
    reached: set[Any] = {None}
    following: list[Any] = [target for target, _ in starts]
    while following:
        node = following.pop()
        if node not in reached:
            reached.add(node)
            following += node.edges
    reached.remove(None)
    return sorted(reached, key=attrgetter("age"))


def _turns(starts: Flow) -> Turns:
    """For each leaf whose hooks wait for it, the age at which its turn comes: right after the oldest node that uses it.

    (By its own age its turn would come after every node, because parameters are older than what is computed from them.)
    """
    oldest: dict[Node, int] = {}
    for node in reached(starts):
        for target in node.edges:
            if target is not None and target.after:
                oldest.setdefault(target, node.age)
    between = len(oldest) + 1  # no two in the heap may be equal
    return {leaf: age - number / between for number, (leaf, age) in enumerate(oldest.items(), 1)}


def _needed(starts: Flow, wanted: set[Node], oldest: float) -> set[Node]:
    """The nodes on a path from `starts` to one of `wanted`, and the freed ones that may have been, which forgot."""
    needed: set[Node] = set()
    for node in reached(starts):
        forgot = node.freed and not node.edges and node.age > oldest
        if node in wanted or forgot or not needed.isdisjoint(node.edges):
            needed.add(node)
    return needed


def _chain_rule(node: Node, gradient: Tensor, create_graph: bool) -> Flow:
    """The edges of a node, each with the gradient that goes along it: summed to the shape of the operand."""
    kind, edges, around = type(node), node.edges, node.around
    if around is not None and around.before:
        gradient = through_prehooks(node, around.before, gradient)
    rule = kind.backward if create_graph or kind.fused is None else kind.fused
    # a method of the class, or a static method of a custom operation
    results: Sequence[Any] = _one_each(node, rule(node, gradient), edges)
    if node.broadcasts:
        results = [
            part if part is None or target is None or x is None else part._sum_to(x)
            for target, part, x in zip(edges, results, node.input)
        ]
    if around is not None and around.after:
        results = through_posthooks(node, around.after, results, gradient)
    return zip(edges, results)


def _one_each(node: Node, results: Any, edges: Sequence[Edge]) -> list[Any]:
    """What a rule returned, as a list of a gradient for each operand. Raises RuntimeError for another number."""
    listed = [*results] if isinstance(results, (list, tuple)) else [results]
    if len(listed) != len(edges):
        raise RuntimeError(f"{type(node).__name__}.backward returned {len(listed)} gradients for {len(edges)} operands")
    return listed


def _without_nan(node: Node, parts: Sequence[Any]) -> Flow:
    """The same gradients; RuntimeError if anomaly detection looks for NaN and one is NaN."""
    for number, (_, part) in enumerate(parts):
        if mode.anomaly and isinstance(part, operation.Tensor) and bool(part.isnan().any()):
            raise RuntimeError(f"{type(node).__name__} returned NaN as the gradient of operand {number}")
    return parts


def _through_hooks(hooks: Hooks, gradient: Tensor) -> Tensor:
    """The gradient, or what the hooks replace it with."""
    replaced = gradient
    for hook in list(hooks.values()):
        returned = hook(replaced)
        replaced = replaced if returned is None else returned
    if not isinstance(replaced, operation.Tensor):
        raise TypeError(f"a hook must return a Tensor or None, got {type(replaced).__name__}")
    if not lib.same_kind(replaced._ptr, gradient._ptr):
        raise RuntimeError(
            f"a hook must return a gradient of shape {list(gradient.shape)} and {gradient.dtype}, got {shown(replaced)}"
        )
    return replaced


def _accumulate(found: Arrived, given: set[int]) -> None:
    """node.grad += gradient for each whose tensor is still alive. A first gradient has memory that is its alone."""
    others = lib.accumulate_plain(found, given) if CPYTHON else found.items()
    if others:  # than those that C could take as they are
        _accumulate_each(others, given)


@holding(_accumulating)  # or of two threads that add to a leaf, one would be lost
def _accumulate_each(gradients: Iterable[tuple[Node, Tensor]], given: set[int]) -> None:
    for node, gradient in gradients:
        tensor = node.result()
        if tensor is None or tensor._edge is not node:  # it may have left the graph, or been written to
            continue
        fit = lib.fits_as_gradient(gradient._ptr, tensor._ptr)
        if fit < 0:
            gradient, fit = _fitting(gradient, tensor), 0
        if node.grad is not None:
            gradient = summed(node.grad, gradient, node.is_leaf)
        elif fit == 0 or id(gradient) in given:
            alike = gradient.stride() == tensor.stride()
            gradient = gradient.clone(memory_format=preserve_format if alike else contiguous_format)
        if gradient._untracked:  # a rule computed it as a view
            own(gradient)
        given.add(id(gradient))
        node.grad = gradient


def summed(before: Tensor, gradient: Tensor, is_leaf: bool) -> Tensor:
    """The `.grad` of a tensor after another backward. Who holds that of a leaf sees it grow, unless it has a graph."""
    if is_leaf and not (mode.enabled or before.requires_grad):
        return before.add_(gradient)
    return before + gradient


def _fitting(gradient: Tensor, tensor: Tensor) -> Tensor:
    """A gradient in the dtype of its tensor, and one of shape [1] of a scalar, as the article's are, without dimension.

    Raises RuntimeError for another shape or device.
    """
    if gradient.shape == (1,) and tensor.ndim == 0:
        gradient = gradient.reshape(())
    if gradient.dtype is not tensor.dtype:
        gradient = gradient.to(tensor.dtype)
    if not lib.same_kind(gradient._ptr, tensor._ptr):
        raise RuntimeError(
            f"a gradient of shape {list(gradient.shape)} on {gradient.device} does not fit a tensor of shape "
            f"{list(tensor.shape)} on {tensor.device}"
        )
    return gradient


def _finish(leaf: Node, gradient: Tensor, given: set[int]) -> None:
    """Accumulate the gradient of a leaf, and call the hooks that wait for it."""
    _accumulate({leaf: gradient}, given)
    tensor = leaf.result()
    if tensor is not None and leaf.after is not None:
        for hook in list(leaf.after.values()):
            hook(tensor, gradient)


if CPYTHON:
    _functions = heappush, heappop, _add_part, _one_each, sys.getrefcount, Node.release
    _locking = _accumulating.acquire, _accumulating.release
    lib.know_walk((*_functions, *_locking, AccumulateGrad, OutputBackward, OutputGradients))

# ---- The public functions ---------------------------------------------------------------------------------------


def backward(
    tensors: Tensors,
    grad_tensors: Tensor | Gradients | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensors | None = None,
) -> None:
    """Accumulate into `.grad` the sum of the gradients of `tensors` with respect to everything they depend on.

    `grad_tensors` are the gradients to start from, of the shapes of `tensors`; for tensors of one element they may be
    left out (1). With `inputs`, only those tensors accumulate. `retain_graph` keeps the graph for another backward
    (default: only with `create_graph`, which records the walk itself so that it can be differentiated again).

    >>> x = norch.Tensor([1, 2], requires_grad=True)
    >>> norch.autograd.backward((x * x).sum())
    >>> x.grad
    tensor([2., 4.])
    """
    starts, given = _starts(tensors, grad_tensors)
    retain = create_graph if retain_graph is None else retain_graph
    targets = None if inputs is None else {target for target in _edges_of(inputs, "backward") if target is not None}
    if AccumulateGrad.awaited:
        with running_callbacks():
            walk(starts, retain, create_graph, targets, given, _turns(starts))
    else:
        walk(starts, retain, create_graph, targets, given)


@flags
def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: Tensor | Gradients | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...]:
    """Return the gradients of the sum of `outputs` with respect to each of `inputs`, touching no `.grad`.

    Raises RuntimeError for an input that the outputs do not depend on, unless `allow_unused` (its gradient is None) or
    `materialize_grads` (zeros). With `is_grads_batched` each of `grad_outputs` is a batch of gradients, passed on
    one after another, and the results are batches too. (`only_inputs` changes nothing.)

    >>> x = norch.Tensor([3], requires_grad=True)
    >>> norch.autograd.grad(x**2, x)
    (tensor([6.]),)
    """
    if is_grads_batched:
        rows = _rows_of(grad_outputs)
        retained = [True] * (len(rows) - 1) + [create_graph if retain_graph is None else retain_graph]
        settings = create_graph, only_inputs, allow_unused, False, materialize_grads
        each = [grad(outputs, inputs, row, keep, *settings) for row, keep in zip(rows, retained)]
        joined: list[Any] = [None if parts[0] is None else stack(parts, 0) for parts in zip(*each)]
        return tuple(joined)
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: False.")
    starts, _ = _starts(outputs, grad_outputs)
    targets = _edges_of(inputs, "grad")
    retain = create_graph if retain_graph is None else retain_graph
    found = walk(starts, retain, create_graph, set(targets))
    for number, target in enumerate(targets):
        if target not in found and not allow_unused and not materialize_grads:
            raise RuntimeError(
                f"grad: input {number} was not used to compute the outputs; allow_unused=True gives None for it"
            )
    gradients: list[Any] = [found.get(target) for target in targets]  # None only if the caller allows it
    over: dict[int, Tensor] = {}  # a gradient for each memory
    for number, gradient in enumerate(gradients):
        if gradient is None:
            continue
        expanded = not lib.is_in_row_order(gradient._ptr) and 0 in gradient.stride()
        if expanded or over.setdefault(lib.storage_of(gradient._ptr), gradient) is not gradient:
            gradients[number] = gradient.clone()  # a write to a part would spread
        elif gradient._untracked:  # a rule computed it as a view
            own(gradient)
    if materialize_grads:
        gradients = [
            _zeros_of(x).requires_grad_(create_graph) if part is None else part
            for x, part in zip(_listed(inputs), gradients)
        ]
    return tuple(gradients)


def _zeros_of(x: Any) -> Tensor:
    if isinstance(x, GradientEdge):
        raise RuntimeError("grad: materialize_grads cannot be used with a GradientEdge, which does not know its tensor")
    return x.zeros_like()


def _rows_of(batches: Tensor | Gradients | None) -> list[list[Tensor]]:
    """What batches of gradients have at each place. Raises RuntimeError for none, empty ones, and several sizes."""
    listed: list[Any] = [batches] if isinstance(batches, operation.Tensor) else list(batches or ())
    shapes = [list(x.shape) if isinstance(x, operation.Tensor) else x for x in listed]
    if not shapes or not all(shapes) or shapes[0][0] == 0 or len({shape[0] for shape in shapes}) > 1:
        raise RuntimeError(f"grad: is_grads_batched needs batches of one size as grad_outputs, got the shapes {shapes}")
    return [list(row) for row in zip(*(x.unbind(0) for x in listed))]


def _listed(tensors: Tensors) -> list[Tensor]:
    listed: list[Any] = [tensors] if isinstance(tensors, (operation.Tensor, GradientEdge)) else list(tensors)
    for tensor in listed:
        if not isinstance(tensor, GradientEdge):
            check_tensor(tensor, "the graph")
    return listed


def _edge_of(x: Any) -> Node | None:
    return x.node if isinstance(x, GradientEdge) else x._edge


def _edges_of(inputs: Tensors, name: str) -> list[Node]:
    """Where the gradients of inputs arrive. Raises RuntimeError for none, and for one that requires no gradient."""
    listed = _listed(inputs)
    if not listed:
        raise RuntimeError(f"{name}: expected at least one input, got none")
    edges = [edge for edge in map(_edge_of, listed) if edge is not None]
    if len(edges) < len(listed):
        raise RuntimeError(f"{name}: expected inputs that require gradients, got one that does not")
    return edges


def _starts(tensors: Tensors, gradients: Tensor | Gradients | None) -> tuple[Flow, set[int]]:
    """The edges of `tensors` with the gradients to start from, 1 if left out; and the ids of those that were given."""
    if isinstance(tensors, operation.Tensor) and (gradients is None or isinstance(gradients, operation.Tensor)):
        return [(tensors._edge, _start_of(tensors, gradients))], {id(gradients)}
    tensors = _listed(tensors)
    if gradients is None:
        gradients = [None] * len(tensors)
    elif isinstance(gradients, operation.Tensor):
        gradients = [gradients]
    if len(gradients) != len(tensors):
        raise RuntimeError(f"got {len(gradients)} gradients for {len(tensors)} tensors")
    starts = [(_edge_of(tensor), _start_of(tensor, gradient)) for tensor, gradient in zip(tensors, gradients)]
    return starts, {id(gradient) for gradient in gradients}


def _start_of(tensor: Any, gradient: Tensor | None) -> Tensor:
    if not isinstance(tensor, operation.Tensor):  # but a GradientEdge
        if not isinstance(gradient, operation.Tensor):
            raise RuntimeError("a GradientEdge does not know its tensor: backward from it needs a gradient")
        return gradient
    if tensor._edge is None:
        raise RuntimeError(
            "this tensor does not require gradients and has no grad_fn: there is nothing to differentiate "
            "(compute it from parameters, not under no_grad() and not from detach())"
        )
    if gradient is None:
        return wrap(lib.unit_gradient(tensor._ptr))
    if not isinstance(gradient, operation.Tensor):
        raise TypeError(f"expected a Tensor or None as gradient, got {type(gradient).__name__}")
    return gradient if lib.same_kind(gradient._ptr, tensor._ptr) else _fitting(gradient, tensor)
