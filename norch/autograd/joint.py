"""Several results of one node: the parts that a tensor is cut into, and the tensors that enter or leave a module.

A node of the graph has one result. Where there are several, each is a Part, and the node that they share gets all
their gradients at once, as Pieces: a dict that the walk of backward adds up like any other gradient.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence

from .. import operation
from .._C import lib
from ..operation import next_age, record, wrap
from .function import Function


class Pieces(dict):
    """Gradients by the key of the part that they belong to; the sum of two has the parts of both."""

    def __add__(self, other: Any) -> Pieces:
        self.update(other)  # each part is visited once in a walk, and the walk alone holds these
        return self


class Part(Function):
    """One of several results: the gradient goes to the node behind all of them, under this part's key."""

    keeps_input = False

    def __init__(self, key: Any) -> None:
        self.key = key

    def backward(self, gradient: Any) -> list[Any]:
        return [Pieces({self.key: gradient})]


class Joint(Function):
    """The node behind several Parts, whose `backward` takes their Pieces. It is older than they are, so it waits."""

    holders = 0  # no tensor has this node as its edge

    def __init__(self, edges: Sequence[Any]) -> None:
        self.edges = edges
        self.age = next_age()


# ---- What passes through a module -----------------------------------------------------------------------------------


class PassageBackward(Joint):
    """A module whose hooks see, and may replace, the gradients of its inputs once all of them are known.

    `inputs` are its arguments, tensors or not; `hook(grad_input, grad_output)` takes and returns tuples, with None for
    what has no gradient.
    """

    def __init__(self, inputs: Sequence[Any], hook: Callable[[Any, Any], Any]) -> None:
        self.gated = [i for i, x in enumerate(inputs) if isinstance(x, operation.Tensor) and x._edge is not None]
        super().__init__([inputs[i]._edge for i in self.gated] or (None,))  # a node without edges is a leaf
        self.count, self.results, self.hook = len(inputs), 0, hook

    def enter(self, inputs: Sequence[Any]) -> tuple[Any, ...]:
        """The inputs as the module is to see them."""
        return tuple(_through(x, Part(i), (self,)) if i in self.gated else x for i, x in enumerate(inputs))

    def leave(self, results: Sequence[Any]) -> list[Any]:
        """The module's results as others are to see them."""
        self.results = len(results)
        return [
            _through(y, Exit(("result", i)), (y._edge, self))
            if isinstance(y, operation.Tensor) and y._edge is not None
            else y
            for i, y in enumerate(results)
        ]

    def backward(self, pieces: Any) -> list[Any]:
        grad_input = tuple(pieces.get(i) for i in range(self.count))
        grad_input = self.hook(grad_input, tuple(pieces.get(("result", i)) for i in range(self.results)))
        return [grad_input[i] for i in self.gated] or [None]


class Exit(Part):
    """A result of a module: the gradient goes on into the module, and is noted for the module's hooks."""

    def backward(self, gradient: Any) -> list[Any]:
        return [gradient, Pieces({self.key: gradient})]


def _through(x: Any, node: Function, edges: Sequence[Any]) -> Any:
    """x again, behind a node of its own."""
    return record(wrap(lib.alias_tensor(x._ptr)), node, edges)
