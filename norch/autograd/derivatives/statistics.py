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


class CdistBackward(Node):
    """The norm of the difference of each row of x and each row of y"""

    saves_output = broadcasts = True

    def __init__(self, x: Tensor, y: Tensor, p: float) -> None:
        super().__init__(x, y)
        self.p = p

    def backward(self, gradient: Tensor) -> Gradients:
        x, y, distance = self.x, self.y, self.output
        if gradient.numel * x.shape[-1] <= _PART:
            return self._of_rows(x, y, distance, gradient)
        batch = gradient.shape[:-2]
        operands = (t.expand(*batch, *t.shape[-2:]).reshape(-1, *t.shape[-2:]) for t in (x, y, distance, gradient))
        found = self._of_batch(*operands)
        return [None if each is None else each.reshape(*batch, *each.shape[-2:]) for each in found]

    def _of_batch(self, x: Tensor, y: Tensor, distance: Tensor, gradient: Tensor) -> Gradients:
        """The gradients of [B, rows, n], from halves of the batch or the rows, until the differences fit a cache."""
        samples, rows, others = gradient.shape
        if samples * rows == 1 or samples * rows * others * x.shape[-1] <= _PART:
            return self._of_rows(x, y, distance, gradient)
        d = 0 if samples > 1 else 1
        size = gradient.shape[d]
        halves = [(0, size // 2), (size // 2, size - size // 2)]
        parts = [[t.narrow(d, *half) for t in (x, distance, gradient)] for half in halves]
        of_y = [y.narrow(0, *half) if d == 0 else y for half in halves]
        found = [self._of_batch(x, y, distance, gradient) for (x, distance, gradient), y in zip(parts, of_y)]
        (x1, y1), (x2, y2) = found
        to_x = cat([x1, x2], d) if x1 is not None and x2 is not None else None
        if y1 is None or y2 is None:
            return [to_x, None]
        return [to_x, cat([y1, y2], 0) if d == 0 else y1 + y2]

    def _of_rows(self, x: Tensor, y: Tensor, distance: Tensor, gradient: Tensor) -> Gradients:
        slopes = _slopes(x.unsqueeze(-2) - y.unsqueeze(-3), distance, gradient, self.p)
        return [slopes.sum(-2) if self.needs(0) else None, -slopes.sum(-3) if self.needs(1) else None]


class PdistBackward(Node):
    """The same of each pair of rows of x, whose indices are given"""

    saves_output = True

    def __init__(self, x: Tensor, p: float, pairs: Sequence[Tensor]) -> None:
        super().__init__(x)
        self.p, self.pairs = p, pairs

    def backward(self, gradient: Tensor) -> Gradients:
        x, (first, second) = self.x, self.pairs
        slopes = _slopes(x.index_select(0, first) - x.index_select(0, second), self.output, gradient, self.p)
        return [x.detach().zeros_like().index_add(0, first, slopes).index_add(0, second, -slopes)]
