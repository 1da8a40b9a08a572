"""The hooks of nodes, which the walk calls before and after the rule of a node."""

from __future__ import annotations

from typing import Any, Sequence

from .. import operation
from .function import CustomBackward
from .hooks import Hooks
from .node import Node, OutputGradients


def _outputs(node: Any, gradient: Any) -> tuple[Any, ...]:
    """The gradients of the results of a node."""
    if isinstance(gradient, OutputGradients):
        return tuple(gradient.get(i) for i in range(node.outputs_count))
    return (gradient,)


def through_prehooks(node: Node, hooks: Hooks, gradient: Any) -> Any:
    """The gradients of the results, or what the node's hooks replace them with."""
    given = _outputs(node, gradient)
    for hook in list(hooks.values()):
        given = _replacement(hook(given), given, "grad_outputs")
    if isinstance(gradient, OutputGradients):
        replaced: dict[Any, Any] = {i: part for i, part in enumerate(given) if part is not None}
        return OutputGradients({**gradient, **replaced})
    return given[0]


def through_posthooks(node: Node, hooks: Hooks, results: Sequence[Any], gradient: Any) -> Sequence[Any]:
    """The gradients of the operands, or what the node's hooks replace them with."""
    outputs, found = _outputs(node, gradient), list(results)
    places = node.tensor_operands() if isinstance(node, CustomBackward) else range(len(found))
    inputs = tuple(found[i] for i in places)
    for hook in list(hooks.values()):
        inputs = _replacement(hook(inputs, outputs), inputs, "grad_inputs")
    for i, part in zip(places, inputs):
        found[i] = part
    return found


def _replacement(returned: Any, given: tuple[Any, ...], name: str) -> tuple[Any, ...]:
    """What a hook of a node returned, or what it was given. Raises TypeError and RuntimeError if it does not fit."""
    if returned is None:
        return given
    listed = returned if isinstance(returned, (tuple, list)) else (returned,)
    if len(listed) != len(given):
        raise RuntimeError(f"hook of a node has returned {len(listed)} {name}, expected {len(given)}")
    for part in listed:
        if part is not None and not isinstance(part, operation.Tensor):
            raise TypeError(f"hook of a node: expected Tensors or None as {name}, got {type(part).__name__}")
    return tuple(listed)
