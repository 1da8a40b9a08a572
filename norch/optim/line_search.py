"""The line search of LBFGS: a length of step at which the loss has fallen enough, and its slope is flat enough.

These are the strong Wolfe conditions, with c1 and c2 of the slope at the start. The search first looks for a bracket
that must hold such a length, then narrows it (Nocedal and Wright, "Numerical Optimization", algorithms 3.5 and 3.6).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..tensor import Tensor


class Point(NamedTuple):
    """A length of step, with the loss, the gradient and the slope along the direction there."""

    length: Any
    loss: float
    gradient: Tensor
    slope: Tensor


def strong_wolfe(
    evaluate: Callable[[Any], tuple[float, Tensor]],
    length: Any,
    direction: Tensor,
    loss: float,
    gradient: Tensor,
    slope: Tensor,
    most: int = 25,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance: float = 1e-9,
) -> tuple[Any, float, Tensor, int]:
    """The length found, the loss and the gradient there, and how often `evaluate` was called."""
    search = _Search(evaluate, direction, Point(0, loss, gradient.clone(), slope), most, c1, c2)
    best = search.narrowed(search.bracket(length), tolerance)
    return best.length, best.loss, best.gradient, search.tried + 1


class _Search:
    """Points along a direction, and whether they fulfil the conditions; at most `most` after the first."""

    def __init__(
        self,
        evaluate: Callable[[Any], tuple[float, Tensor]],
        direction: Tensor,
        start: Point,
        most: int,
        c1: float,
        c2: float,
    ) -> None:
        self.evaluate, self.direction, self.start = evaluate, direction, start
        self.most, self.c1, self.c2 = most, c1, c2
        self.tried = -1  # points after the first

    def at(self, length: Any) -> Point:
        loss, gradient = self.evaluate(length)
        self.tried += 1
        gradient = gradient.clone()
        return Point(length, loss, gradient, gradient.dot(self.direction))

    def is_too_high(self, point: Point) -> bool:
        return point.loss > self.start.loss + self.c1 * point.length * self.start.slope

    def is_flat(self, point: Point) -> bool:
        return bool(abs(point.slope) <= -self.c2 * self.start.slope)

    def bracket(self, length: Any) -> list[Point]:
        """Two points around a length that fulfils the conditions; twice the same one if it does."""
        last, point = self.start, self.at(length)
        while self.tried < self.most:
            rises = self.is_too_high(point) or (self.tried > 1 and point.loss >= last.loss)
            if not rises and self.is_flat(point):
                return [point, point]
            if rises or point.slope >= 0:
                return [last, point]
            bounds = point.length + 0.01 * (point.length - last.length), point.length * 10
            last, point = point, self.at(lowest_of_cubic(last, point, bounds))
        return [self.start, point]

    def narrowed(self, bracket: list[Point], tolerance: float) -> Point:
        """The better end of a bracket that was narrowed until that end fulfils the conditions, or up to `tolerance`."""
        scale, stuck = self.direction.abs().max().item(), False
        low, high = _better_first(bracket)
        while bracket[0] is not bracket[1] and self.tried < self.most:
            if not abs(bracket[1].length - bracket[0].length) * scale >= tolerance:  # NaN ends the search, too
                break
            length, stuck = _kept_inside(lowest_of_cubic(bracket[0], bracket[1]), bracket, stuck)
            point = self.at(length)
            if self.is_too_high(point) or point.loss >= bracket[low].loss:
                bracket[high] = point
                low, high = _better_first(bracket)
                continue
            if self.is_flat(point):
                return point
            if point.slope * (bracket[high].length - bracket[low].length) >= 0:
                bracket[high] = bracket[low]
            bracket[low] = point
        return bracket[low]


def _better_first(bracket: list[Point]) -> tuple[int, int]:
    return (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)


def _kept_inside(length: Any, bracket: list[Point], stuck: bool) -> tuple[Any, bool]:
    """A length that is close to an end of the bracket moved inward the second time; and whether this was the first."""
    left, right = sorted(end.length for end in bracket)
    margin = 0.1 * (right - left)
    if not min(right - length, length - left) < margin:
        return length, False
    if not (stuck or length >= right or length <= left):
        return length, True
    return (right - margin if abs(length - right) < abs(length - left) else left + margin), False


def lowest_of_cubic(a: Point, b: Point, bounds: tuple[Any, Any] | None = None) -> Any:
    """The lowest point, within bounds, of the cubic with the losses and slopes of two points; the middle if none."""
    left, right = (a, b) if a.length <= b.length else (b, a)
    least, greatest = bounds or (left.length, right.length)
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.length - b.length)
    square = d1 * d1 - a.slope * b.slope
    if not square >= 0:  # also of infinities, which make NaN
        return (least + greatest) / 2
    d2 = square**0.5
    share = (right.slope + d2 - d1) / (right.slope - left.slope + 2 * d2)
    return min(max(right.length - (right.length - left.length) * share, least), greatest)
