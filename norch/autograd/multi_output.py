"""Nodes with several outputs: the parts that a tensor is split into, and the tensors that enter or leave a module.

A tensor has one node as its `_edge`. If one operation makes several tensors, each gets an OutputBackward, which passes
its gradient on to the node of the operation. That node waits for all of them and takes their gradients at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Hashable, Sequence

from .. import operation
from .._C import lib
from ..operation import next_age, record, wrap
from .function import Edge, Function, Gradients

if TYPE_CHECKING:
    from ..forward_declarations import Tensor


class OutputGradients(dict[Hashable, "Tensor"]):
    """The gradients of a node's outputs by their keys; an output that was not used has none."""

    def __add__(self, other: OutputGradients) -> OutputGradients:
        self.update(other)  # each output sends its gradient once in a walk, and nothing but the walk holds this
        return self


class MultiOutput(Function):
    """A node with several outputs, whose `backward` takes their OutputGradients.

    It is made before its outputs, so it is older than they are, and backward reaches it last.
    """

    def __init__(self, edges: Sequence[Edge]) -> None:
        self.edges = edges
        self.age = next_age()

    def record_outputs(self, outputs: Sequence[Tensor]) -> None:
        """Make the tensors the outputs 0, 1, ... of this node."""
        for i, output in enumerate(outputs):
            record(output, OutputBackward(i), (self,))


class OutputBackward(Function):
    """One output of a node with several: the gradient goes to that node, under this output's key."""

    keeps_input = False

    def __init__(self, key: Hashable) -> None:
        self.key = key

    def backward(self, gradient: Tensor) -> Sequence[object]:
        return [OutputGradients({self.key: gradient})]


# ---- Modules with backward hooks ------------------------------------------------------------------------------------


class ModuleBackward(MultiOutput):
    """A module whose hooks see, and may replace, the gradients of its inputs once all of them are known.

    `inputs` are its arguments, tensors or not. `hook(grad_input, grad_output)` takes two tuples, in which None stands
    for no gradient, and returns the first or another one like it.
    """

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
        grad_input = tuple(gradients.get(("input", i)) for i in range(self.inputs_count))
        grad_output = tuple(gradients.get(("output", i)) for i in range(self.outputs_count))
        replaced = self.hook(grad_input, grad_output)
        return [replaced[i] for i in self.tracked]


class ModuleOutputBackward(OutputBackward):
    """An output of a module: the gradient goes on into the module, and to the module's hooks."""

    def backward(self, gradient: Tensor) -> Sequence[object]:
        return [gradient, *super().backward(gradient)]


def _has_graph(x: object) -> bool:
    return isinstance(x, operation.Tensor) and x._edge is not None


def _behind(x: Tensor, node: Function, edges: Sequence[Edge]) -> Tensor:
    """x again, with a node of its own."""
    return record(wrap(lib.alias_tensor(x._ptr)), node, edges)
