"""The derivatives of reading and writing through indices, of sorting and of running totals.

A gradient of what was read goes back to where it was read; the gradient of what was written is read there. So reading
and writing are each other's derivatives.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Union

from ..._C import number
from ...operation import mode, wrap
from ...packing import counting
from ...types import bool_
from ..node import Gradients, Node
from .joining import cat

if TYPE_CHECKING:
    from ...forward_declarations import AtIndices, Places, Tensor

REPLACE, ADD = 0, 1  # of Combining (methods/places.py)

Place = Union["AtIndices", "Places"]  # what index tensors name

# ---- Places -----------------------------------------------------------------------------------------------------


class _PlaceFunction(Node):
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
        return [gradient.new_zeros(self.shape)._put_(self.place, gradient, ADD)]


class IndexBackward(_ReadBackward):
    """y = x[indices]"""


class EmbeddingBackward(_ReadBackward):
    """Rows of a table were read: each gradient, divided by a count if there are some, is added to its row; the row
    `padding` gets none."""

    def __init__(self, table: Tensor, place: Place, padding: int | None, counts: Tensor | None) -> None:
        super().__init__(table, place)
        self.padding, self.counts = padding, counts

    def backward(self, gradient: Tensor) -> Gradients:
        gradient = gradient if self.counts is None else gradient / self.counts
        table = gradient.new_zeros(self.shape)._put_(self.place, gradient, ADD)
        if self.padding is not None:
            table[self.padding] = 0
        return [table]


class GatherBackward(_ReadBackward):
    """y = x.gather(dim, index)"""


class _CombineBackward(_PlaceFunction):
    """y was combined with what is at places in x."""

    keeps_input = True

    def __init__(self, x: Tensor, y: Tensor, place: Place, how: int) -> None:
        super().__init__(x, y)
        self._place, self.how = place, how


class _WriteBackward(_CombineBackward):
    """y was written to places in x, or added: y's gradient is read there; x's is the rest, or all of it."""

    broadcasts = True  # keeps_input: the engine needs the shape of y

    def reads_x(self) -> bool:
        return False

    def backward(self, gradient: Tensor) -> Gradients:
        rest = gradient
        if self.needs(0) and self.how == REPLACE:
            rest = gradient._put(self.place, number(0))
        return [rest, gradient._read(self.place) if self.needs(1) else None]


class IndexPutBackward(_WriteBackward):
    """x[indices] = y"""


class ScatterBackward(_WriteBackward):
    """x.scatter_(dim, index, y)"""


class IndexFillBackward(_WriteBackward):
    """y was written to whole slices of x: y's gradient is the sum of what is there, each place counted once."""

    def __init__(self, x: Tensor, y: Tensor, place: Place) -> None:
        super().__init__(x, y, place, REPLACE)

    def backward(self, gradient: Tensor) -> Gradients:
        mask = gradient.new_zeros(gradient.shape, dtype=bool_)._put_(self.place, number(True))
        return [
            gradient.masked_fill(mask, 0) if self.needs(0) else None,
            mask._choose(gradient, 0.0).sum().reshape(self.input[1].shape) if self.needs(1) else None,
        ]


class ExtremeBackward(_CombineBackward):
    """y entered the maxima or minima at places in x: the elements of x and y that attain one share its gradient."""

    saves_output = True

    def backward(self, gradient: Tensor) -> Gradients:
        place, output = self.place, self.output.detach()
        from_x = (self.x.detach() == output).to(gradient.dtype)
        from_y = (self.y.detach() == wrap(place.read(output))).to(gradient.dtype)
        share = gradient / from_x._put(place, from_y, ADD)
        return [
            from_x * share if self.needs(0) else None,
            _as_given(from_y * share._read(place), self.y) if self.needs(1) else None,
        ]


class MultiplyBackward(_CombineBackward):
    """y was multiplied to places in x: each factor gets the product of the others, also beside a zero."""

    saves_output = True

    def backward(self, gradient: Tensor) -> Gradients:
        return [
            self._to_x(gradient) if self.needs(0) else None,
            self._to_y(gradient) if self.needs(1) else None,
        ]

    def _product(self, x: Tensor, y: Tensor) -> Tensor:
        return x._put(self.place, y, self.how)

    def _to_x(self, gradient: Tensor) -> Tensor:
        safe = (self.x == 0)._choose(1.0, self.x)
        return gradient * self._product(safe, self.y) / safe

    def _to_y(self, gradient: Tensor) -> Tensor:
        place, y = self.place, self.y
        zero = y == 0
        count = gradient.new_zeros(gradient.shape)._put_(place, zero.to(gradient.dtype), ADD)._read(place)
        single = zero.logical_and(count == 1)  # the only zero among the factors in y
        alone = (gradient * self._product(self.x, single._choose(1.0, y)))._read(place)
        return _as_given(single._choose(alone, (gradient * self.output)._read(place) / zero._choose(1.0, y)), y)


def _as_given(read: Tensor, y: Tensor) -> Tensor:
    """What was read at the places of y, which may have had other dimensions: none, or those of no elements."""
    return read if read.ndim == y.ndim else read.reshape(y.shape)


class MaskedScatterBackward(Node):
    """The first elements of y were written where a mask is true: their gradient is what is there, x's the rest."""

    keeps_input = False

    def __init__(self, x: Tensor, y: Tensor, mask: Tensor) -> None:
        super().__init__(x, y)
        self.shape, self.mask = y.shape, mask

    def backward(self, gradient: Tensor) -> Gradients:
        mask, chosen = self.unchanged(self.mask), None
        if self.needs(1):
            chosen = gradient.masked_select(mask)
            unused = chosen.new_zeros(math.prod(self.shape) - chosen.numel)
            chosen = cat([chosen, unused]).reshape(self.shape)
        return [gradient.masked_fill(mask, 0) if self.needs(0) else None, chosen]

    def release(self) -> None:
        super().release()
        del self.mask


class MaskedFillBackward(Node):
    """y was written where a mask is true: y's gradient is the sum of what is there, x's the rest."""

    keeps_input = False

    def __init__(self, x: Tensor, y: Tensor, mask: Tensor) -> None:
        super().__init__(x, y)
        self.shape, self.mask = getattr(y, "shape", ()), mask  # y may be a number

    def backward(self, gradient: Tensor) -> Gradients:
        mask = self.unchanged(self.mask)
        return [
            gradient.masked_fill(mask, 0) if self.needs(0) else None,
            mask._choose(gradient, 0.0).sum().reshape(self.shape) if self.needs(1) else None,
        ]

    def release(self) -> None:
        super().release()
        del self.mask


class TriangleBackward(Node):
    """Zeros on one side of a diagonal: the gradient has zeros there, too."""

    keeps_input = False

    def __init__(self, x: Tensor, diagonal: int, upper: bool) -> None:
        super().__init__(x)
        self.diagonal, self.upper = diagonal, upper

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient.triu(self.diagonal) if self.upper else gradient.tril(self.diagonal)]


class PickBackward(Node):
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

    def release(self) -> None:
        super().release()
        del self.indices


# ---- Running totals ---------------------------------------------------------------------------------------------


class CumsumBackward(Node):
    """An element is in every sum from its own on: the gradient is summed from the other end."""

    keeps_input = False

    def __init__(self, x: Tensor, axis: int, reverse: bool) -> None:
        super().__init__(x)
        self.axis, self.reverse = axis, reverse

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient._cumsum(self.axis, not self.reverse)]


class CumprodBackward(Node):
    """d(x_0 ... x_k)/dx_i for k >= i is the product of the others: the product / x_i where x_i is not 0"""

    saves_output = True

    def __init__(self, x: Tensor, axis: int) -> None:
        super().__init__(x)
        self.axis = axis

    def backward(self, gradient: Tensor) -> Gradients:
        x = self.x
        if x.ndim == 0 or x.shape[self.axis] <= 1:
            return [gradient]
        if (x == 0).any():
            return [self._without_division(gradient, x)]
        return [(gradient * self.output)._cumsum(self.axis, True) / x]

    def fused(self, gradient: Tensor) -> Gradients:
        """Only products up to the second zero have a derivative: up to the first, or by the first zero itself."""
        if self.x.ndim == 0 or self.x.shape[self.axis] <= 1:
            return [gradient]
        zero = self.x == 0
        if mode.recorder is None and not zero.any():  # (a recording must not look at values)
            return [(gradient * self.output)._cumsum(self.axis, True) / self.x]
        count, safe = zero.cumsum(self.axis), zero._choose(1.0, self.x)
        before, first = count == 0, zero.logical_and(count == 1)
        terms = gradient * safe.cumprod(self.axis)
        sums = before._choose(terms, 0.0)._cumsum(self.axis, True) / safe
        return [before._choose(sums, first._choose((count == 1)._choose(terms, 0.0)._cumsum(self.axis, True), 0.0))]

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


class LogcumsumexpBackward(Node):
    """y_j = log(exp(x_0) + ... + exp(x_j)): dy_j/dx_i = exp(x_i - y_j) for j >= i, whose factors are at most 1"""

    saves_output = True

    def __init__(self, x: Tensor, axis: int) -> None:
        super().__init__(x)
        self.axis = axis

    def backward(self, gradient: Tensor) -> Gradients:
        """exp(x_i - y_i) s_i with the sums s_i = g_i + exp(y_i - y_(i+1)) s_(i+1), which double in each round."""
        dtype, x, y = self.x.dtype, self.x, self.output
        if not x.ndim:
            return [gradient]
        if dtype.itemsize < 4:  # exp() of a logarithm that was rounded to 16 bits has a digit or none
            x, gradient = x.float(), gradient.float()
            y = x.logcumsumexp(self.axis)
        sums, count, step = gradient, x.shape[self.axis], 1
        while step < count:
            (first, last), (low, _) = (z.split([count - step, step], self.axis) for z in (sums, y))
            rest, high = (z.narrow(self.axis, step, count - step) for z in (sums, y))
            sums = cat([first + rest * (low == high)._choose(0.0, low - high).exp(), last], self.axis)
            step *= 2
        return [((x == -math.inf)._choose(0.0, sums * (x - y).exp())).to(dtype)]
