"""The walk of `backward`: the article's chain rule over the whole graph, each node once, in topological order.

The article calls `backward` of every input recursively. Where a node is shared that visits it once for every path to
it, 2^n times in the worst case, and a deep graph overflows Python's stack. Here a node waits until the gradients of
everything that used its result have arrived, is given their sum, and passes the chain rule on once.
"""

from __future__ import annotations

from typing import Any, Sequence

from .. import _C
from .. import operation as _tensor
from .function import FREED, Function, edge
from .mode import set_grad_enabled


def topological_order(roots: Sequence[Function]) -> list[Function]:
    """Every node that the roots depend on, a node always after those it depends on."""
    order: list[Function] = []
    seen: set[Function] = set()
    done: set[Function] = set()
    stack = list(roots)
    while stack:
        node = stack[-1]
        if node in seen:
            stack.pop()
            if node not in done:
                done.add(node)
                order.append(node)
            continue
        if node.edges is None:
            raise RuntimeError(FREED)
        seen.add(node)
        for target in node.edges:
            if isinstance(target, Function) and target not in seen:
                stack.append(target)
    return order


def walk(
    outputs: Sequence[Any],
    gradients: Sequence[Any],
    retain_graph: bool,
    create_graph: bool,
    wanted: Any = None,
) -> dict[Any, Any]:
    """Send gradients from outputs through the graph.

    With `wanted`, a set of edges, their gradients are returned in a dict and no `.grad` is touched; without, each leaf
    and every other tensor of the graph that is still held, accumulates its `.grad`.
    """
    arrived: dict[Any, Any] = {}  # edge -> the sum of the gradients that reached it
    result: dict[Any, Any] = {}
    given = {id(gradient) for gradient in gradients}  # the gradients that are in use elsewhere
    for output, gradient in zip(outputs, gradients):
        target = edge(output)
        arrived[target] = arrived[target] + gradient if target in arrived else gradient
    order = topological_order([target for target in arrived if isinstance(target, Function)])

    with set_grad_enabled(create_graph):
        while order:
            node = order.pop()
            gradient = arrived.pop(node, None)
            if gradient is not None:
                if node.hooks:
                    gradient = _through_hooks(node.hooks, gradient)
                if wanted is None:
                    tensor = node._result()
                    if tensor is not None and tensor.grad_fn is node:
                        _accumulate(tensor, gradient, given)
                elif node in wanted:
                    result[node] = gradient
                _pass_on(node, gradient, arrived)
            if not retain_graph:
                node.release()
        for leaf, gradient in arrived.items():  # the nodes have taken theirs
            if leaf._hooks:
                gradient = _through_hooks(leaf._hooks, gradient)
            if wanted is None:
                _accumulate(leaf, gradient, given)
            elif leaf in wanted:
                result[leaf] = gradient
    return result


def _pass_on(node: Function, gradient: Any, arrived: dict[Any, Any]) -> None:
    """The chain rule of one node: a gradient for each operand, summed to the operand's shape, to each edge."""
    results = type(node).backward(node, gradient)
    if not isinstance(results, (list, tuple)):
        results = [results]
    edges = node.edges
    if len(results) != len(edges):
        raise RuntimeError(
            f"{type(node).__name__}.backward returned {len(results)} gradients for {len(edges)} operands"
        )
    for index, target in enumerate(edges):
        part = results[index]
        if target is None or part is None:
            continue
        if node.broadcasts and node.input[index] is not None:
            part = part._sum_to(node.input[index])
        arrived[target] = arrived[target] + part if target in arrived else part


def _through_hooks(hooks: Any, gradient: Any) -> Any:
    replaced = hooks.run(gradient)
    if not isinstance(replaced, _tensor.Tensor) or not _C.lib.same_kind(replaced._ptr, gradient._ptr):
        raise RuntimeError(
            f"a hook must return a gradient of shape {list(gradient.shape)} and {gradient.dtype}, got {replaced!r}"
        )
    return replaced


def _accumulate(tensor: Any, gradient: Any, given: set[int]) -> None:
    """tensor.grad += gradient, in memory that no other tensor shares."""
    if not _C.lib.same_kind(gradient._ptr, tensor._ptr):
        raise RuntimeError(
            f"a gradient of shape {list(gradient.shape)}, {gradient.dtype} on {gradient.device} reached a tensor of "
            f"shape {list(tensor.shape)}, {tensor.dtype} on {tensor.device}"
        )
    if tensor.grad is not None:
        gradient = tensor.grad + gradient
    elif id(gradient) in given or not _C.lib.owns_memory(gradient._ptr):
        gradient = gradient.clone()
    given.add(id(gradient))
    tensor.grad = gradient


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
    """
    tensors, gradients = _start(tensors, grad_tensors)
    retain = create_graph if retain_graph is None else retain_graph
    if inputs is None:
        walk(tensors, gradients, retain, create_graph)
        return
    inputs = [inputs] if isinstance(inputs, _tensor.Tensor) else list(inputs)
    found = walk(tensors, gradients, retain, create_graph, {edge(x) for x in inputs})
    given: set[int] = set()
    for x in inputs:
        if edge(x) in found:
            _accumulate(x, found[edge(x)], given)


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
    """
    outputs, gradients = _start(outputs, grad_outputs)
    inputs = [inputs] if isinstance(inputs, _tensor.Tensor) else list(inputs)
    for x in inputs:
        if not isinstance(x, _tensor.Tensor) or not x.requires_grad:
            raise RuntimeError(f"grad: expected inputs that require gradients, got {x!r}")
    targets = [edge(x) for x in inputs]
    retain = create_graph if retain_graph is None else retain_graph
    found = walk(outputs, gradients, retain, create_graph, set(targets))
    for number, target in enumerate(targets):
        if target not in found and not allow_unused:
            raise RuntimeError(
                f"grad: input {number} was not used to compute the outputs; allow_unused=True gives None for it"
            )
    return tuple(found.get(target) for target in targets)


def _start(tensors: Any, gradients: Any) -> tuple[list[Any], list[Any]]:
    """Check the tensors to differentiate, and fill in the gradient 1 where there is one element."""
    tensors = [tensors] if isinstance(tensors, _tensor.Tensor) else list(tensors)
    gradients = [gradients] if gradients is None or isinstance(gradients, _tensor.Tensor) else list(gradients)
    if len(gradients) == 1 and gradients[0] is None:
        gradients = [None] * len(tensors)
    if len(gradients) != len(tensors):
        raise RuntimeError(f"got {len(gradients)} gradients for {len(tensors)} tensors")
    starts = []
    for tensor, gradient in zip(tensors, gradients):
        if not tensor.requires_grad:
            raise RuntimeError(
                "this tensor does not require gradients and has no grad_fn: there is nothing to differentiate"
            )
        if gradient is None:
            if tensor.numel != 1:
                raise RuntimeError(
                    f"a gradient must be given for a tensor of shape {list(tensor.shape)}: it is 1 for one element only"
                )
            gradient = tensor.ones_like()
        elif not isinstance(gradient, _tensor.Tensor):
            raise TypeError(f"expected a Tensor or None as gradient, got {type(gradient).__name__}")
        elif not _C.lib.same_kind(gradient._ptr, tensor._ptr):
            raise RuntimeError(
                f"the gradient has shape {list(gradient.shape)}, {gradient.dtype} on {gradient.device}, the tensor "
                f"{list(tensor.shape)}, {tensor.dtype} on {tensor.device}"
            )
        starts.append(gradient)
    return tensors, starts
