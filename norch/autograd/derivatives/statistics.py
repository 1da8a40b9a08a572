"""The derivatives of norms, deviations, differences, integrals and distances, one class each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Sequence

from ...packing import counting
from ..functions import Axes, _ReductionBackward, _SpreadBackward
from ..node import Gradients, Node
from .joining import cat
from .padding import padded

if TYPE_CHECKING:
    from ...forward_declarations import Tensor

# ---- Norms ----------------------------------------------------------------------------------------------------------


def norm_slope(x: Tensor, norm: Tensor, p: float) -> Tensor:
    """d norm(x)/dx for p > 0: sign(x) (|x| / norm)^(p - 1), and 0 where that would be infinite."""
    if p == 1:
        return x.sign()
    if math.isinf(p):  # shared by the elements that attain it
        attained = x.detach().abs() == norm.detach()
        along = [d for d in range(x.ndim) if norm.shape[d] == 1]
        return attained._choose(x.sign(), 0.0) / attained.sum(along, keepdim=True).to(x.dtype)
    nothing = norm.detach() == 0
    safe = nothing._choose(1.0, norm)
    if p == 2:
        return nothing._choose(0.0, x / safe)
    zero = x.detach() == 0
    ratio = zero._choose(1.0, x.abs()) / safe
    return zero._choose(0.0, x.sign() * ratio ** (p - 1))


class NormBackward(_ReductionBackward):
    """y = (sum |x|^p)^(1/p), over some axes; for p = 0 the number of elements that are not 0, which has no gradient"""

    saves_output = True

    def __init__(self, x: Tensor, axes: Axes, keepdim: bool, p: float) -> None:
        super().__init__(x, axes, keepdim)
        self.p = p

    def backward(self, gradient: Tensor) -> Gradients:
        if self.p == 0:
            return [None]
        return [self.whole(gradient) * norm_slope(self.x, self.whole(self.output), self.p)]


class RenormBackward(Node):
    """y = x f, with f = most / (n + 1e-7) where a slice's norm n is too large, else 1: df/dn = -f / (n + 1e-7)"""

    def __init__(self, x: Tensor, axis: int, p: float, most: float) -> None:
        super().__init__(x)
        self.axis, self.p, self.most = axis, p, most

    def backward(self, gradient: Tensor) -> Gradients:
        x = self.x
        others = [d for d in range(x.ndim) if d != self.axis]
        norm = x.norm(self.p, others, keepdim=True)
        large, divisor = norm.detach() > self.most, norm + 1e-7
        factor = self.most / divisor
        slope = (gradient * x).sum(others, keepdim=True) * -factor / divisor
        return [large._choose(gradient * factor + slope * norm_slope(x, norm, self.p), gradient)]


class DeviationBackward(_SpreadBackward):
    """s = sqrt(sum((x - m)^2) / n), with m the mean: ds/dx = (x - m) / (n s), and 0 where s is 0"""

    saves_output = True

    def backward(self, gradient: Tensor) -> Gradients:
        x, deviation = self.x, self.whole(self.output)
        none = deviation.detach() == 0
        rate = none._choose(0.0, self.whole(gradient) / none._choose(1.0, deviation)) / self.divisor(gradient)
        return [rate * (x - x.mean(self.axes, keepdim=True))]


# ---- Differences ----------------------------------------------------------------------------------------------------


def _widened(x: Tensor, axis: int, count: int = 1) -> Tensor:
    """x between `count` zeros on each side of an axis."""
    return padded(x, [count if d == axis else 0 for d in range(x.ndim - 1, axis - 1, -1) for _ in range(2)], 0)


class DiffBackward(Node):
    """An element is subtracted from the next, and the one before it from that."""

    keeps_input = False

    def __init__(self, x: Tensor, axis: int, times: int) -> None:
        super().__init__(x)
        self.shape, self.axis, self.times = x.shape, axis, times

    def backward(self, gradient: Tensor) -> Gradients:
        if gradient.numel == 0:
            return [gradient.new_zeros(self.shape)]
        found = _widened(gradient, self.axis, self.times).diff(self.times, self.axis)
        return [-found if self.times % 2 else found]


class _AreasBackward(Node):
    keeps_input = False

    def __init__(self, x: Tensor, axis: int, dx: float) -> None:
        super().__init__(x)
        self.shape, self.axis, self.dx = x.shape, axis, dx


class TrapezoidBackward(_AreasBackward):
    """Every element counts for dx, the two at the ends for half of it."""

    def backward(self, gradient: Tensor) -> Gradients:
        size = self.shape[self.axis]
        places = counting(size, gradient.device)
        ends = (places == 0).logical_or(places == size - 1)
        weights = ends._choose(0.5 * self.dx, gradient.new_full((size,), self.dx))
        along = [size if d == self.axis else 1 for d in range(len(self.shape))]
        return [gradient.unsqueeze(self.axis) * weights.reshape(along)]


class CumulativeTrapezoidBackward(_AreasBackward):
    """Half of dx for the areas on both sides of an element, and for all behind them."""

    def backward(self, gradient: Tensor) -> Gradients:
        areas = _widened(gradient._cumsum(self.axis, True) * (0.5 * self.dx), self.axis)
        size = self.shape[self.axis]
        return [areas.narrow(self.axis, 0, size) + areas.narrow(self.axis, 1, size)]


class SlopesBackward(Node):
    """(x[i + 1] - x[i - 1]) / 2 step inside, (x[i + 1] - x[i]) / step at the ends"""

    keeps_input = False

    def __init__(self, x: Tensor, axis: int, step: float) -> None:
        super().__init__(x)
        self.shape, self.axis, self.step = x.shape, axis, step

    def backward(self, gradient: Tensor) -> Gradients:
        axis, size = self.axis, self.shape[self.axis]
        share = gradient / self.step
        first, last = share.narrow(axis, 0, 1), share.narrow(axis, size - 1, 1)
        inside = share.narrow(axis, 1, size - 2) * 0.5
        whole = cat([-first, first, inside, last, -last], axis)  # as if from -1 to size
        return [whole.narrow(axis, 0, size) - whole.narrow(axis, 2, size)]


# ---- Distances ------------------------------------------------------------------------------------------------------


def _slopes(apart: Tensor, distance: Tensor, gradient: Tensor, p: float) -> Tensor:
    """What differences of rows [..., n] get from the gradient of their distances [...]."""
    if p == 0:
        return apart.zeros_like()
    nothing = distance.detach() == 0
    gradient = nothing._choose(0.0, gradient)  # also one that is NaN
    if p == 2:
        return (gradient / nothing._choose(1.0, distance)).unsqueeze(-1) * apart
    distance = distance.unsqueeze(-1)
    if math.isinf(p):  # whole to each element that attains it, as in PyTorch, and not shared as by a norm
        return (apart.detach().abs() == distance.detach())._choose(gradient.unsqueeze(-1) * apart.sign(), 0.0)
    return gradient.unsqueeze(-1) * norm_slope(apart, distance, p)


_PART = 1 << 19  # differences of rows that are made at once


def _of_pairs(
    x: Tensor, y: Tensor, distance: Tensor, gradient: Tensor, p: float, needs: tuple[bool, bool]
) -> Gradients:
    """What rows of x and of y get from the gradient of their distances [..., rows of x, rows of y]."""
    slopes = _slopes(x.unsqueeze(-2) - y.unsqueeze(-3), distance, gradient, p)
    return [slopes.sum(-2) if needs[0] else None, -slopes.sum(-3) if needs[1] else None]


def _in_parts(
    x: Tensor, y: Tensor, distance: Tensor, gradient: Tensor, p: float, needs: tuple[bool, bool]
) -> Gradients:
    """The same for a batch, from halves of it or of the rows of x, until the differences fit a cache."""
    samples, rows, others = gradient.shape
    if samples * rows == 1 or samples * rows * others * x.shape[-1] <= _PART:
        return _of_pairs(x, y, distance, gradient, p, needs)
    d = 0 if samples > 1 else 1
    found = []
    for begin, end in ((0, gradient.shape[d] // 2), (gradient.shape[d] // 2, gradient.shape[d])):
        x_part, distance_part, gradient_part = (t.narrow(d, begin, end - begin) for t in (x, distance, gradient))
        y_part = y.narrow(0, begin, end - begin) if d == 0 else y
        found.append(_in_parts(x_part, y_part, distance_part, gradient_part, p, needs))
    (x1, y1), (x2, y2) = found
    to_x = None if x1 is None or x2 is None else cat([x1, x2], d)
    return [to_x, None if y1 is None or y2 is None else cat([y1, y2], 0) if d == 0 else y1 + y2]


class CdistBackward(Node):
    """The norm of the difference of each row of x and each row of y"""

    saves_output = broadcasts = True

    def __init__(self, x: Tensor, y: Tensor, p: float) -> None:
        super().__init__(x, y)
        self.p = p

    def backward(self, gradient: Tensor) -> Gradients:
        operands, needs = (self.x, self.y, self.output, gradient), (self.needs(0), self.needs(1))
        if gradient.numel * self.x.shape[-1] <= _PART:
            return _of_pairs(*operands, self.p, needs)
        batch = gradient.shape[:-2]
        x, y, distance, gradient = (t.expand(*batch, *t.shape[-2:]).reshape(-1, *t.shape[-2:]) for t in operands)
        found = _in_parts(x, y, distance, gradient, self.p, needs)
        return [None if part is None else part.reshape(*batch, *part.shape[-2:]) for part in found]


class PdistBackward(Node):
    """The same of each pair of rows of x, whose indices are given: of all pairs in both orders"""

    saves_output = True

    def __init__(self, x: Tensor, p: float, pairs: Sequence[Tensor]) -> None:
        super().__init__(x)
        self.p, self.pairs = p, pairs

    def backward(self, gradient: Tensor) -> Gradients:
        x = self.x.unsqueeze(0)
        found, _ = _in_parts(x, x, self._square(self.output), self._square(gradient), self.p, (True, False))
        return [None if found is None else found.squeeze(0)]

    def _square(self, values: Tensor) -> Tensor:
        """Numbers of the pairs as a matrix [1, rows, rows], 0 on its diagonal."""
        (first, second), rows = self.pairs, self.x.shape[0]
        upper = values.new_zeros(rows * rows).index_copy(0, first * rows + second, values).reshape(rows, rows)
        return (upper + upper.mT).unsqueeze(0)
