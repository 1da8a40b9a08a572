"""The derivatives of reading and writing through indices, of sorting and of running totals.

A gradient of what was read goes back to where it was read; the gradient of what was written is read there. So reading
and writing are each other's derivatives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Union

from ...packing import counting
from ..function import Function, Gradients

if TYPE_CHECKING:
    from ...forward_declarations import AlongAxis, AtIndices, Tensor

Place = Union["AtIndices", "AlongAxis"]  # what index tensors name

# ---- Places -----------------------------------------------------------------------------------------------------


class _PlaceFunction(Function):
    """An operation at places, whose index tensors must be unchanged in backward."""

    keeps_input = False
    _place: Place

    @property
    def place(self) -> Place:
        for index in self._place.tensors:
            self.unchanged(index)
        return self._place

    def release(self) -> None:
        super().release()
        del self._place


class _ReadBackward(_PlaceFunction):
    """Elements were read at places: each gradient is added where its element came from."""

    def __init__(self, x: Tensor, place: Place) -> None:
        super().__init__(x)
        self.shape, self._place = x.shape, place

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient.new_zeros(self.shape)._put_(self.place, gradient, accumulate=True)]


class IndexBackward(_ReadBackward):
    """y = x[indices]"""


class GatherBackward(_ReadBackward):
    """y = x.gather(dim, index)"""


class _WriteBackward(_PlaceFunction):
    """y was written to places in x, or added: y's gradient is read there; x's is the rest, or all of it."""

    broadcasts = keeps_input = True  # the engine needs the shape of y

    def __init__(self, x: Tensor, y: Tensor, place: Place, accumulate: bool) -> None:
        super().__init__(x, y)
        self._place, self.accumulate = place, accumulate

    def reads_x(self) -> bool:
        return False

    def backward(self, gradient: Tensor) -> Gradients:
        rest = gradient
        if self.needs(0) and not self.accumulate:
            rest = gradient.clone()._put_(self.place, self.place.spread(gradient.new_zeros(())))
        return [rest, gradient._read(self.place) if self.needs(1) else None]


class IndexPutBackward(_WriteBackward):
    """x[indices] = y"""


class ScatterBackward(_WriteBackward):
    """x.scatter_(dim, index, y)"""


class MaskedFillBackward(Function):
    """y was written where a mask is true: y's gradient is the sum of what is there, x's the rest."""

    keeps_input = False

    def __init__(self, x: Tensor, y: Tensor, mask: Tensor) -> None:
        super().__init__(x, y)
        self.shape, self.mask = y.shape, mask

    def backward(self, gradient: Tensor) -> Gradients:
        mask = self.unchanged(self.mask)
        return [
            gradient.masked_fill(mask, 0) if self.needs(0) else None,
            mask._choose(gradient, 0.0).sum().reshape(self.shape) if self.needs(1) else None,
        ]


class PickBackward(Function):
    """The values that indices name along an axis, as max(dim), sort and topk return them: the gradient goes there."""

    keeps_input = False

    def __init__(self, x: Tensor, indices: Tensor, axis: int, keepdim: bool) -> None:
        super().__init__(x)
        self.shape, self.indices, self.axis, self.keepdim = x.shape, indices, axis, keepdim

    def backward(self, gradient: Tensor) -> Gradients:
        indices = self.unchanged(self.indices)
        if not self.keepdim:  # back to the rank of x
            shape = [1 if d == self.axis % len(self.shape) else size for d, size in enumerate(self.shape)]
            gradient, indices = gradient.reshape(shape), indices.reshape(shape)
        return [gradient.new_zeros(self.shape).scatter_add_(self.axis, indices, gradient)]


# ---- Running totals ---------------------------------------------------------------------------------------------


class CumsumBackward(Function):
    """An element is in every sum from its own on: the gradient is summed from the other end."""

    keeps_input = False

    def __init__(self, x: Tensor, axis: int, reverse: bool) -> None:
        super().__init__(x)
        self.axis, self.reverse = axis, reverse

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient._cumsum(self.axis, not self.reverse)]


class CumprodBackward(Function):
    """d(x_0 ... x_k)/dx_i for k >= i is the product of the others: the product / x_i where x_i is not 0"""

    saves_output = True

    def __init__(self, x: Tensor, axis: int) -> None:
        super().__init__(x)
        self.axis = axis

    def backward(self, gradient: Tensor) -> Gradients:
        x = self.x
        if (x == 0).any():
            return [self._without_division(gradient, x)]
        return [(gradient * self.output)._cumsum(self.axis, True) / x]

    def _without_division(self, gradient: Tensor, x: Tensor) -> Tensor:
        """The same for zeros too: for each element the running products with a 1 in its place."""
        if x.ndim == 0:
            return gradient
        places = counting(x.shape[self.axis], x.device)
        itself = places.unsqueeze(1) == places  # [n, n]
        rows = x.transpose(self.axis, -1).unsqueeze(-2)  # [..., 1, n]
        products = itself._choose(1.0, rows).cumprod(-1)  # [..., i, k]: of the first k, without x_i
        sums = (gradient.transpose(self.axis, -1).unsqueeze(-2) * products).triu().sum(-1)
        return sums.transpose(self.axis, -1)
