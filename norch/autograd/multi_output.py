"""Nodes with several outputs: the parts that a tensor is split into, and the tensors that enter or leave a module.

A tensor has one node as its `_edge`. If one operation makes several tensors, each gets an OutputBackward, which passes
its gradient on to the node of the operation. That node waits for all of them and takes their gradients at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

from .. import operation
from .._C import lib
from ..operation import record, wrap
from .node import Edge, Gradients, MultiOutput, Node, OutputBackward, OutputGradients

if TYPE_CHECKING:
    from ..forward_declarations import Tensor


# ---- Modules with backward hooks ------------------------------------------------------------------------------------


class ModuleBackward(MultiOutput):
    """A module whose hooks see, and may replace, the gradients of its inputs once all of them are known.

    `inputs` are its arguments, tensors or not. `hook(grad_input, grad_output)` takes two tuples, in which None stands
    for no gradient, and returns the first or another one like it.
    """

    calls_hook = True

    def __init__(self, inputs: Sequence[Any], hook: Callable[[Gradients, Gradients], Gradients]) -> None:
        self.inputs_count, self.outputs_count, self.hook = len(inputs), 0, hook
        self.tracked = [i for i, x in enumerate(inputs) if _has_graph(x)]
        super().__init__([inputs[i]._edge for i in self.tracked])

    def enter(self, inputs: Sequence[Any]) -> tuple[Any, ...]:
        """The inputs as the module is to see them: outputs of this node."""
        return tuple(
            _behind(x, OutputBackward(("input", i)), (self,)) if _has_graph(x) else x for i, x in enumerate(inputs)
        )

    def leave(self, outputs: Sequence[Any]) -> list[Any]:
        """The module's outputs as others are to see them."""
        self.outputs_count = len(outputs)
        return [
            _behind(y, ModuleOutputBackward(("output", i)), (y._edge, self)) if _has_graph(y) else y
            for i, y in enumerate(outputs)
        ]

    def backward(self, gradients: OutputGradients) -> Gradients:
        grad_input: Gradients = tuple(gradients.get(("input", i)) for i in range(self.inputs_count))
        grad_output = tuple(gradients.get(("output", i)) for i in range(self.outputs_count))
        if any(gradient is not None for gradient in grad_output):  # or the walk of a derivative began inside the module
            grad_input = self.hook(grad_input, grad_output)
        return [grad_input[i] for i in self.tracked]


class ModuleOutputBackward(OutputBackward):
    """An output of a module: the gradient goes on into the module, and to the module's hooks."""

    def backward(self, gradient: Tensor) -> Sequence[object]:
        return [gradient, *super().backward(gradient)]

    def _operation(self) -> Node:
        return self.edges[0] or super()._operation()


class ModuleOutputs(MultiOutput):
    """The outputs of a module whose hooks see, and may replace, their gradients once all of them are known."""

    calls_hook = True

    def __init__(self, outputs: Sequence[Any], hook: Callable[[Gradients], Gradients]) -> None:
        self.outputs_count, self.hook = len(outputs), hook
        self.tracked = [i for i, y in enumerate(outputs) if _has_graph(y)]
        super().__init__([outputs[i]._edge for i in self.tracked])

    def leave(self, outputs: Sequence[Any]) -> list[Any]:
        """The module's outputs as others are to see them."""
        return [_behind(y, OutputBackward(i), (self,)) if _has_graph(y) else y for i, y in enumerate(outputs)]

    def backward(self, gradients: OutputGradients) -> Gradients:
        replaced = self.hook(tuple(gradients.get(i) for i in range(self.outputs_count)))
        return [replaced[i] for i in self.tracked]


def _has_graph(x: object) -> bool:
    return isinstance(x, operation.Tensor) and x._edge is not None


def _behind(x: Tensor, node: Node, edges: Sequence[Edge]) -> Tensor:
    """x again, with a node of its own."""
    return record(wrap(lib.alias_tensor(x._ptr)), node, edges)
