"""Several results of one node: the parts that a tensor is cut into, and the tensors that enter or leave a module.

A node of the graph has one result. Where there are several, each is a Part, and the node that they share gets all
their gradients at once, as Pieces: a dict that the walk of backward adds up like any other gradient.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any, Callable, Sequence

from .. import operation as _tensor
from .._C import lib, raise_error
from .function import Function, next_age, record
from .mode import mode


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

    holders = 0  # no tensor is the result of this

    def __init__(self, edges: Sequence[Any]) -> None:
        self.edges = edges
        self.age = next_age()


# ---- Cutting --------------------------------------------------------------------------------------------------------


class CutBackward(Joint):
    """x cut along an axis into parts: their gradients side by side, zeros where a part was not used.

    (Each view of `unbind` or `split` has a gradient of x's whole size; for n parts that is n times the work.)
    """

    def __init__(self, x: Any, axis: int, parts: Sequence[Any]) -> None:
        super().__init__((x._edge,))
        self.shape, self.axis, self.shapes = x.shape, axis, [part.shape for part in parts]

    def backward(self, pieces: Any) -> list[Any]:
        from ..functions.joining import cat

        if len(pieces) < len(self.shapes):
            known = next(iter(pieces.values()))
            for i, shape in enumerate(self.shapes):
                if i not in pieces:
                    pieces[i] = known.new_zeros(shape)
        return [cat([pieces[i] for i in range(len(self.shapes))], self.axis).reshape(self.shape)]


def unbind(x: Any) -> Sequence[Any]:
    """The rows x[0], x[1], ... of a tensor, as `x.unbind()` gives them, not to be written to."""
    return _cut(x, [lib.select_tensor(x._ptr, 0, i) for i in range(x.shape[0])], 0)


def split(x: Any, sizes: Sequence[int]) -> Sequence[Any]:
    """Parts of these sizes of a tensor along its last dimension, as `x.split(sizes, -1)`, not to be written to."""
    starts = accumulate(sizes, initial=0)
    return _cut(x, [lib.slice_tensor(x._ptr, -1, start, size, 1) for start, size in zip(starts, sizes)], -1)


def _cut(x: Any, addresses: Sequence[Any], axis: int) -> Sequence[Any]:
    parts = [_tensor.wrap(ptr or raise_error()) for ptr in addresses]
    if x._edge is not None and mode.enabled:
        joint = CutBackward(x, axis, parts)
        for key, part in enumerate(parts):
            record(part, Part(key), (joint,))
    return parts


# ---- What passes through a module -----------------------------------------------------------------------------------


class PassageBackward(Joint):
    """A module whose hooks see, and may replace, the gradients of its inputs once all of them are known.

    `inputs` are its arguments, tensors or not; `hook(grad_input, grad_output)` takes and returns tuples, with None for
    what has no gradient.
    """

    def __init__(self, inputs: Sequence[Any], hook: Callable[[Any, Any], Any]) -> None:
        self.gated = [i for i, x in enumerate(inputs) if isinstance(x, _tensor.Tensor) and x._edge is not None]
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
            if isinstance(y, _tensor.Tensor) and y._edge is not None
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
    return record(_tensor.wrap(lib.alias_tensor(x._ptr) or raise_error()), node, edges)
