"""The walk of `backward`: the article's chain rule over the whole graph, each node once, in topological order.

The article calls `backward` of every input recursively. Where a node is shared that visits it once for every path to
it, 2^n times in the worst case, and a deep graph overflows Python's stack. Here a node waits until the gradients of
everything that used its result have arrived, is given their sum, and passes the chain rule on once. Nothing needs to
be sorted for that: an operation runs after those it depends on, so the youngest node first is a topological order.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any, Iterable

from .. import operation
from .._C import lib
from ..operation import mode, wrap
from .function import FREED, Function


def walk(
    starts: Iterable[tuple[Any, Any]],
    given: set[int],
    retain_graph: bool,
    create_graph: bool,
    wanted: Any = None,
) -> dict[Any, Any]:
    """Send gradients through the graph from `starts`, pairs of an edge and a gradient.

    `given` are the ids of gradients that are in use elsewhere. With `wanted`, a set of edges, their gradients are
    returned in a dict and no `.grad` is touched; without, each leaf, and every other tensor of the graph that is still
    held, accumulates its `.grad`.
    """
    arrived: dict[Any, Any] = {}  # edge -> the sum of the gradients that reached it
    waiting: list[tuple[int, Function]] = []  # the nodes among them, a heap: the youngest comes first
    leaves: list[Function] = []  # the others, which come last
    found: dict[Any, Any] = {}
    before = mode.enabled
    mode.enabled = create_graph
    try:
        _send(starts, arrived, waiting, leaves)
        while waiting or leaves:
            node = heappop(waiting)[1] if waiting else leaves.pop()
            gradient = arrived.pop(node)  # complete: everything that used this result is younger and has been processed
            if node.edges is None:
                raise RuntimeError(FREED)
            if node.hooks:
                gradient = _through_hooks(node.hooks, gradient)
            if wanted is None:
                if node.holders > 0:
                    _accumulate(node, gradient, given)
            elif node in wanted:
                found[node] = gradient
            if node.edges:  # a leaf has none
                _send(_chain_rule(node, gradient), arrived, waiting, leaves)
                if not retain_graph:
                    node.release()
    finally:
        mode.enabled = before
    return found


def _chain_rule(node: Function, gradient: Any) -> Iterable[tuple[Any, Any]]:
    """The edges of a node, each with the gradient that goes along it: summed to the shape of the operand."""
    kind = type(node)
    rule = kind.backward if mode.enabled or kind.fused is None else kind.fused
    edges, results = node.edges, rule(node, gradient)  # a method, or static as in PyTorch
    if not isinstance(results, (list, tuple)):
        results = [results]
    if len(results) != len(edges):
        raise RuntimeError(
            f"{type(node).__name__}.backward returned {len(results)} gradients for {len(edges)} operands"
        )
    if node.broadcasts:
        results = [
            part if part is None or target is None or x is None else part._sum_to(x)
            for target, part, x in zip(edges, results, node.input)
        ]
    return zip(edges, results)


def _send(parts: Iterable[tuple[Any, Any]], arrived: Any, waiting: Any, leaves: Any) -> None:
    """Add gradients to what has arrived at their edges; each edge waits for its turn."""
    for target, part in parts:
        if target is None or part is None:
            continue
        if target in arrived:
            arrived[target] = arrived[target] + part
            continue
        arrived[target] = part
        if target.is_leaf:
            leaves.append(target)
        else:
            heappush(waiting, (-target.age, target))


def _through_hooks(hooks: Any, gradient: Any) -> Any:
    replaced = hooks.run(gradient)
    if not isinstance(replaced, operation.Tensor) or not lib.same_kind(replaced._ptr, gradient._ptr):
        raise RuntimeError(
            f"a hook must return a gradient of shape {list(gradient.shape)} and {gradient.dtype}, got {replaced!r}"
        )
    return replaced


def _accumulate(node: Any, gradient: Any, given: set[int]) -> None:
    """node.grad += gradient, in memory that no other tensor shares."""
    tensor = node.leaf() if node.is_leaf else gradient
    if tensor is None:  # a leaf that nobody has any more
        return
    fit = lib.fits_as_gradient(gradient._ptr, tensor._ptr)
    if fit < 0:
        raise RuntimeError(
            f"a gradient of shape {list(gradient.shape)}, {gradient.dtype} on {gradient.device} reached a tensor of "
            f"shape {list(tensor.shape)}, {tensor.dtype} on {tensor.device}"
        )
    if node.grad is not None:
        gradient = node.grad + gradient
    elif fit == 0 or id(gradient) in given:
        gradient = gradient.clone()
    given.add(id(gradient))
    node.grad = gradient


# ---- The public functions ---------------------------------------------------------------------------------------


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
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
    if inputs is None:
        walk(starts, given, retain, create_graph)
        return
    inputs = [inputs] if isinstance(inputs, operation.Tensor) else list(inputs)
    found = walk(starts, given, retain, create_graph, {x._edge for x in inputs})
    for x in inputs:
        if x._edge in found:
            _accumulate(x._edge, found[x._edge], given)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[Any, ...]:
    """Return the gradients of the sum of `outputs` with respect to each of `inputs`, touching no `.grad`.

    Raises RuntimeError for an input that the outputs do not depend on, unless `allow_unused` (its gradient is None).

    >>> x = norch.Tensor([3], requires_grad=True)
    >>> norch.autograd.grad(x**2, x)
    (tensor([6.]),)
    """
    starts, given = _starts(outputs, grad_outputs)
    inputs = [inputs] if isinstance(inputs, operation.Tensor) else list(inputs)
    for x in inputs:
        if not isinstance(x, operation.Tensor) or not x.requires_grad:
            raise RuntimeError(f"grad: expected inputs that require gradients, got {x!r}")
    targets = [x._edge for x in inputs]
    retain = create_graph if retain_graph is None else retain_graph
    found = walk(starts, given, retain, create_graph, set(targets))
    for number, target in enumerate(targets):
        if target not in found and not allow_unused:
            raise RuntimeError(
                f"grad: input {number} was not used to compute the outputs; allow_unused=True gives None for it"
            )
    return tuple(found.get(target) for target in targets)


def _starts(tensors: Any, gradients: Any) -> tuple[list[tuple[Any, Any]], set[int]]:
    """The edges of `tensors` with the gradients to start from, 1 if left out; and the ids of those that were given."""
    if isinstance(tensors, operation.Tensor) and gradients is None:
        return [(tensors._edge, _start_of(tensors, None))], set()
    tensors = [tensors] if isinstance(tensors, operation.Tensor) else list(tensors)
    if gradients is None:
        gradients = [None] * len(tensors)
    elif isinstance(gradients, operation.Tensor):
        gradients = [gradients]
    if len(gradients) != len(tensors):
        raise RuntimeError(f"got {len(gradients)} gradients for {len(tensors)} tensors")
    starts = [(tensor._edge, _start_of(tensor, gradient)) for tensor, gradient in zip(tensors, gradients)]
    return starts, {id(gradient) for gradient in gradients}


def _start_of(tensor: Any, gradient: Any) -> Any:
    if tensor._edge is None:
        raise RuntimeError(
            "this tensor does not require gradients and has no grad_fn: there is nothing to differentiate"
        )
    if gradient is None:
        return wrap(lib.unit_gradient(tensor._ptr))
    if not isinstance(gradient, operation.Tensor):
        raise TypeError(f"expected a Tensor or None as gradient, got {type(gradient).__name__}")
    if not lib.same_kind(gradient._ptr, tensor._ptr):
        raise RuntimeError(
            f"the gradient has shape {list(gradient.shape)}, {gradient.dtype} on {gradient.device}, the tensor "
            f"{list(tensor.shape)}, {tensor.dtype} on {tensor.device}"
        )
    return gradient
