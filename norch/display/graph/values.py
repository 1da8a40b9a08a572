"""Values and gradients for the nodes of a graph, as text: `value 6` and `grad [1, 2]`.

A node does not hold its result. Its value is that of the tensor, if somebody holds it, or what an operation saved for
backward; its gradient is the tensor's `.grad`.
"""

from __future__ import annotations

from ...autograd.node import Node as GradFn
from ...tensor import Tensor
from ..formatting import Nested

_MOST = 9  # elements that are written out; of more, the smallest and the largest are


def notes(functions: list[GradFn]) -> dict[GradFn, tuple[str, ...]]:
    """The lines of each node; `functions` are the operations, and the leaves are found as their operands."""
    found: dict[GradFn, tuple[str, ...]] = {}
    for function in functions:
        saved = function.input or ()
        for place, edge in enumerate(function.edges or ()):
            if edge is not None and not found.get(edge):
                found[edge] = _lines(edge, saved[place] if place < len(saved) else None)
        if not found.get(function):
            found[function] = _lines(function)
    return found


def _lines(function: GradFn, saved: object = None) -> tuple[str, ...]:
    tensor = function.result()
    if tensor is not None and tensor._edge is not function:  # another operation wrote to it since
        tensor = None
    lines = []
    for value in (tensor, function._output, saved):
        if isinstance(value, Tensor):
            lines.append(f"value {text(value)}")
            break
    if tensor is not None and tensor.grad is not None:
        lines.append(f"grad {text(tensor.grad)}")
    return tuple(lines)


def text(tensor: Tensor) -> str:
    """The numbers of a tensor to four digits, or of a large one the range in which they lie."""
    if tensor.numel() <= _MOST:
        return _nested(tensor.detach().tolist())
    low, high = (_nested(bound.item()) for bound in (tensor.detach().min(), tensor.detach().max()))
    return f"from {low} to {high}"


def _nested(numbers: Nested) -> str:
    if isinstance(numbers, list):
        return f"[{', '.join(map(_nested, numbers))}]"
    return f"{numbers + 0.0:.4g}" if isinstance(numbers, float) else str(numbers)  # + 0.0: -0 is 0
