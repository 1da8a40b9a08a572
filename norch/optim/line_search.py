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
    start = Point(0, loss, gradient.clone(), slope)

    def at(length: Any) -> Point:
        loss, gradient = evaluate(length)
        gradient = gradient.clone()
        return Point(length, loss, gradient, gradient.dot(direction))

    def too_high(point: Point) -> bool:
        return point.loss > start.loss + c1 * point.length * start.slope

    def flat(point: Point) -> bool:
        return bool(abs(point.slope) <= -c2 * start.slope)

    last, point, tried = start, at(length), 0
    done, bracket = False, [start, point]
    while tried < most:
        if too_high(point) or (tried > 1 and point.loss >= last.loss) or point.slope >= 0 or flat(point):
            done = not (too_high(point) or (tried > 1 and point.loss >= last.loss)) and flat(point)
            bracket = [point, point] if done else [last, point]
            break
        grown = point.length - last.length
        bounds = point.length + 0.01 * grown, point.length * 10
        last, point = point, at(lowest_of_cubic(last, point, bounds))
        tried += 1
    else:
        bracket = [start, point]
    calls = tried + 1

    # From here on `low` is the better end of the bracket, which holds a length that fulfils the conditions.
    scale = direction.abs().max().item()
    low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
    stuck = False
    while not done and tried < most and abs(bracket[1].length - bracket[0].length) * scale >= tolerance:
        length = lowest_of_cubic(bracket[0], bracket[1])
        left, right = sorted(end.length for end in bracket)
        margin = 0.1 * (right - left)
        if min(right - length, length - left) < margin:  # close to an end: the second time, go inward
            if stuck or length >= right or length <= left:
                length = right - margin if abs(length - right) < abs(length - left) else left + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        point = at(length)
        calls, tried = calls + 1, tried + 1
        if too_high(point) or point.loss >= bracket[low].loss:
            bracket[high] = point
            low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
            continue
        if flat(point):
            done = True
        elif point.slope * (bracket[high].length - bracket[low].length) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = point
    best = bracket[low]
    return best.length, best.loss, best.gradient, calls


def lowest_of_cubic(a: Point, b: Point, bounds: tuple[Any, Any] | None = None) -> Any:
    """The lowest point, within bounds, of the cubic with the losses and slopes of two points; the middle if none."""
    left, right = (a, b) if a.length <= b.length else (b, a)
    least, greatest = bounds or (left.length, right.length)
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.length - b.length)
    square = d1 * d1 - a.slope * b.slope
    if square < 0:
        return (least + greatest) / 2
    d2 = square**0.5
    share = (right.slope + d2 - d1) / (right.slope - left.slope + 2 * d2)
    return min(max(right.length - (right.length - left.length) * share, least), greatest)
