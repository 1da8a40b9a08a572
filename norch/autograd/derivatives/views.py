"""The derivatives of views, copies and joins: a gradient goes back to the places that an element came from."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Callable, Sequence

from ..._C import int64_array, lib
from ...operation import recorded, wrap
from ...packing import counting
from ...types import contiguous_format
from ..mode import no_grad
from ..node import Gradients, Node

if TYPE_CHECKING:
    from ...forward_declarations import Tensor

View = Callable[["Tensor"], "Tensor"]  # takes the part of a tensor that a view shows
Place = tuple[Sequence[int], Sequence[int], int]  # the shape and strides of a view, and its offset in the base


class ReshapeBackward(Node):
    """The gradient takes the old shape."""

    keeps_input = False

    def __init__(self, x: Tensor) -> None:
        super().__init__(x)
        self.shape = x.shape

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient.reshape(self.shape)]


class TransposeBackward(Node):
    """Two axes exchanged: exchange them back."""

    keeps_input = False

    def __init__(self, x: Tensor, axis1: int, axis2: int) -> None:
        super().__init__(x)
        self.axes = axis1, axis2

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient.transpose(*self.axes)]


class ReverseBackward(Node):
    """All axes in reverse order (`.T`): once more restores them."""

    keeps_input = False

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient.T]


class PermuteBackward(Node):
    """Axes reordered: the inverse order restores them."""

    keeps_input = False

    def __init__(self, x: Tensor, axes: bytes, count: int) -> None:
        super().__init__(x)
        self.inverse = [0] * count
        for place, axis in enumerate(memoryview(axes).cast("q")):
            self.inverse[axis % count] = place

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient.permute(self.inverse)]


def rearranged(x: Tensor, split: Sequence[int], order: Sequence[int], shape: Sequence[int]) -> Tensor:
    """A copy of x, seen with the sizes `split`, with its axes in another order, seen with the sizes `shape`."""
    sizes = int64_array(split), int64_array(order), len(split), int64_array(shape), len(shape)
    return recorded(wrap(lib.rearranged_tensor(x._ptr, *sizes)), RearrangeBackward, (x,), split, order)


class RearrangeBackward(Node):
    """Axes split and reordered: the inverse order of the reordered parts restores them."""

    keeps_input = False

    def __init__(self, x: Tensor, split: Sequence[int], order: Sequence[int]) -> None:
        super().__init__(x)
        self.shape, self.parts = x.shape, [split[axis] for axis in order]
        self.inverse = sorted(range(len(order)), key=order.__getitem__)

    def backward(self, gradient: Tensor) -> Gradients:
        return [rearranged(gradient, self.parts, self.inverse, self.shape)]


class ExpandBackward(Node):
    """An element that was repeated gets the sum of its gradients (the engine sums to the operand's shape)."""

    broadcasts = only_sizes = True

    def release(self) -> None:
        self.freed = True  # the operand stays, for its size: it is in the result's memory

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient]


class _ShownBackward(Node):
    """What a view does not show gets zero. `shown` is the method of Tensor that makes the view of a place."""

    keeps_input = False

    def __init__(self, x: Tensor, *place: Any) -> None:
        super().__init__(x)
        self.shape, self.place = x.shape, place

    def part_of(self, whole: Tensor) -> Tensor:
        part: Tensor = getattr(whole, self.shown)(*self.place)
        return part

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient._placed(self.shape, self.part_of)]


class SelectBackward(_ShownBackward):
    """y = x.select(axis, index)"""

    shown = "select"


class PartBackward(_ShownBackward):
    """y = x[parts], of integers, slices, None and `...`"""

    shown = "_part"


class SliceBackward(_ShownBackward):
    """y is a slice of one axis, by its start, length and step."""

    shown = "_slice"


class DiagonalBackward(_ShownBackward):
    """y = x.diagonal(offset, axis1, axis2)"""

    shown = "diagonal"


class FlipBackward(Node):
    """Axes reversed: reverse them again."""

    keeps_input = False

    def __init__(self, x: Tensor, axes: Sequence[int]) -> None:
        super().__init__(x)
        self.axes = axes

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient.flip(self.axes)]


class RollBackward(Node):
    """What entered at one end goes back to the other."""

    keeps_input = False

    def __init__(self, x: Tensor, moves: Sequence[int], axes: Sequence[int] | None) -> None:
        super().__init__(x)
        self.moves, self.axes = [-move for move in moves], axes

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient.roll(self.moves, self.axes)]


class RepeatBackward(Node):
    """An element gets the sum of the gradients of its copies, along one dimension after another."""

    keeps_input = False

    def __init__(self, x: Tensor, counts: Sequence[int]) -> None:
        super().__init__(x)
        self.shape, self.counts = x.shape, counts

    def backward(self, gradient: Tensor) -> Gradients:
        sizes = [1] * (len(self.counts) - len(self.shape)) + list(self.shape)
        for axis, (count, size) in enumerate(zip(self.counts, sizes)):
            if count != 1:
                shape = gradient.shape
                parts = gradient.reshape(math.prod(shape[:axis]), count, size, math.prod(shape[axis + 1 :]))
                gradient = parts.sum(1).reshape(*shape[:axis], size, *shape[axis + 1 :])
        return [gradient.reshape(self.shape)]


class InterleaveBackward(Node):
    """An element gets the sum of the gradients of its copies, which are neighbours."""

    keeps_input = False

    def __init__(self, x: Tensor, count: int, axis: int) -> None:
        super().__init__(x)
        self.shape, self.count, self.axis = x.shape, count, axis

    def backward(self, gradient: Tensor) -> Gradients:
        before, after = math.prod(self.shape[: self.axis]), math.prod(self.shape[self.axis + 1 :])
        size = self.shape[self.axis] if self.shape else 1
        return [gradient.reshape(before, size, self.count, after).sum(2).reshape(self.shape)]


class DiagEmbedBackward(Node):
    """The zeros beside the diagonal are constant."""

    keeps_input = False

    def __init__(self, x: Tensor, *place: int) -> None:
        super().__init__(x)
        self.place = place

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient.diagonal(*self.place)]


class TraceBackward(Node):
    """The gradient on the diagonal, zeros beside it."""

    keeps_input = False

    def __init__(self, x: Tensor) -> None:
        super().__init__(x)
        self.shape = x.shape

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient.expand(min(self.shape))._placed(self.shape, lambda whole: whole.diagonal())]


class UnfoldBackward(Node):
    """An element gets the sum of its gradients in all windows that it is part of."""

    keeps_input = False

    def __init__(self, x: Tensor, axis: int, size: int, step: int) -> None:
        super().__init__(x)
        self.shape, self.axis, self.size, self.step = x.shape, axis, size, step

    def backward(self, gradient: Tensor) -> Gradients:
        if not self.shape:
            return [gradient.reshape(())]
        places = counting(self.shape[self.axis], gradient.device).unfold(0, self.size, self.step).reshape(-1)
        parts = gradient.movedim(-1, self.axis + 1).flatten(self.axis, self.axis + 1)
        return [gradient.new_zeros(self.shape).index_add(self.axis, places, parts)]


class AsStridedBackward(Node):
    """A view given by shape, strides and offset: each place of memory gets the sum of its gradients, x what it shows.

    `offset` counts from x's first element. Memory that x does not show has no gradient.
    """

    keeps_input = False

    def __init__(self, x: Tensor, shape: Sequence[int], strides: Sequence[int], offset: int) -> None:
        super().__init__(x)
        self.x_shape, self.x_strides = x.shape, x.stride()
        start = min(offset, 0)  # of the stretch of memory that holds x and the view
        self.geometry = list(shape), list(strides), offset - start
        self.x_offset = -start
        self.extent = max(_extent(*self.geometry), _extent(x.shape, self.x_strides, self.x_offset))

    def backward(self, gradient: Tensor) -> Gradients:
        memory = gradient.new_zeros(self.extent)
        with no_grad():
            _add_strided(memory, gradient, *self.geometry)
        memory = recorded(memory, PlaceBackward, (gradient,), lambda g: strided(g, *self.geometry))
        where = self.x_shape, self.x_strides, self.x_offset
        if _overlapping_axis(self.x_shape, self.x_strides) is not None:  # elements of one place share its gradient
            with no_grad():
                sharing = gradient.new_zeros(self.extent)
                _add_strided(sharing, gradient.new_ones(self.x_shape), *where)
            memory = memory / sharing.clamp_(min=1)
        return [memory.as_strided(*where)]


class VariableBackward(Node):
    """What a transform differentiates by: like a leaf it refuses writes, which would take it out of the graph."""

    keeps_input = False
    refuses_writes = True

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient]


class UntrackedViewBackward(Node):
    """A view that no graph knows, whose base was written to in one: nobody can say what its gradient would be."""

    keeps_input = False

    def __init__(self, x: Tensor, *place: object) -> None:
        super().__init__(x)

    def backward(self, gradient: Tensor) -> Gradients:
        raise RuntimeError(
            "this tensor is a view that was made under norch.no_grad(), or by a custom operation, and its base was "
            "modified in place with gradients since; do both inside of no_grad or both outside, or clone() the view"
        )


def strided(x: Tensor, shape: Sequence[int], strides: Sequence[int], offset: int) -> Tensor:
    """x.as_strided, where x's elements count in row order whatever their layout, from its first one."""
    x = x.contiguous()
    return x.as_strided(shape, strides, lib.offset_of(x._ptr) + offset)


def _extent(shape: Sequence[int], strides: Sequence[int], offset: int) -> int:
    """How many elements of memory a tensor reaches over, from 0 on."""
    if 0 in shape:
        return offset
    return offset + 1 + sum((size - 1) * stride for size, stride in zip(shape, strides))


def _overlapping_axis(shape: Sequence[int], strides: Sequence[int]) -> int | None:
    """An axis whose steps do not pass what smaller steps reach, so that elements may share memory; None without one."""
    if 0 in shape:
        return None
    reach = 0
    for stride, axis in sorted((stride, axis) for axis, stride in enumerate(strides) if shape[axis] != 1):
        if stride <= reach:
            return axis
        reach += (shape[axis] - 1) * stride
    return None


def _add_strided(memory: Tensor, gradient: Tensor, shape: Sequence[int], strides: Sequence[int], offset: int) -> None:
    """memory.as_strided(shape, strides, offset) += gradient, in which elements that share a place add up."""
    axis = _overlapping_axis(shape, strides)
    if axis is None:
        memory.as_strided(shape, strides, offset).add_(gradient)
        return
    sizes, steps = [*shape[:axis], *shape[axis + 1 :]], [*strides[:axis], *strides[axis + 1 :]]
    for i in range(shape[axis]):
        _add_strided(memory, gradient.select(axis, i), sizes, steps, offset + i * strides[axis])


class PlaceBackward(Node):
    """Zeros with a tensor written into a view of them: the gradient is that view of the gradient."""

    keeps_input = False

    def __init__(self, x: Tensor, view: View) -> None:
        super().__init__(x)
        self.view = view

    def backward(self, gradient: Tensor) -> Gradients:
        return [self.view(gradient)]


class CopySlicesBackward(Node):
    """A view of x was overwritten by y: y gets its part of the gradient, x the rest."""

    keeps_input = False

    def __init__(self, x: Tensor, y: Tensor, place: Place) -> None:
        super().__init__(x, y)
        geometry = x.shape, x.stride(), 0
        self.extent = [_extent(*geometry)]
        self.base: View | None = None if x.is_contiguous() else lambda memory: strided(memory, *geometry)
        self.view: View = lambda memory: strided(memory, *place)

    def backward(self, gradient: Tensor) -> Gradients:
        memory = gradient if self.base is None else gradient._placed(self.extent, self.base)  # as x lies in memory
        part, rest = self.view(memory), None
        if self.needs(0):
            rest = memory.clone(memory_format=contiguous_format)  # the order in which `view` can write
            self.view(rest).zero_()
            rest = rest if self.base is None else self.base(rest)
        return [rest, part if self.needs(1) else None]


class ReplacedBackward(Node):
    """What a view shows of a copy of x is y: y gets its part of the gradient, x the rest."""

    keeps_input = False

    def __init__(self, x: Tensor, y: Tensor, view: View) -> None:
        super().__init__(x, y)
        self.view = view

    def backward(self, gradient: Tensor) -> Gradients:
        rest = None
        if self.needs(0):
            rest = gradient.clone(memory_format=contiguous_format)
            self.view(rest).zero_()
        return [rest, self.view(gradient) if self.needs(1) else None]


class CopyBackward(Node):
    """Every element was replaced by that of y, broadcast: all of the gradient is y's, and x's is 0."""

    broadcasts = overwrites = True

    def reads_x(self) -> bool:
        return False

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient.zeros_like() if self.needs(0) else None, gradient]


class ConstantBackward(Node):
    """Every element was replaced by one that has no derivative: all gradients are 0."""

    broadcasts = overwrites = True

    def reads_x(self) -> bool:
        return False

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient.zeros_like() if target is not None else None for target in self.edges]


class CloneBackward(Node):
    """A copy passes the gradient on."""

    keeps_input = False

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient]


class ToBackward(Node):
    """A copy in another dtype or on another device: the gradient goes back to where x lives."""

    keeps_input = False

    def __init__(self, x: Tensor) -> None:
        super().__init__(x)
        self.device, self.dtype = x.device, x.dtype

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient.to(self.device, self.dtype)]


class SumToBackward(Node):
    """Broadcasting undone: an element that was summed gets the gradient of its sum."""

    keeps_input = False

    def __init__(self, x: Tensor) -> None:
        super().__init__(x)
        self.shape, self.dtype = x.shape, x.dtype

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient.expand(self.shape).to(self.dtype)]
