"""The derivatives of losses that C computes for each pair of a prediction and a target (LOSS_OPS in
csrc/ops/operations.h).

As in fused.py, a backward takes the slope from C, or where it is itself to be differentiated writes the formula out.
"""

from __future__ import annotations

from typing import Any

from ..._C import lib
from ...operation import mode, operand, recorded, wrap
from ..function import Function


def huber(difference: Any, delta: float) -> Any:
    """d^2 / 2 where |d| <= delta, elsewhere delta (|d| - delta / 2); of each element, delta above 0."""
    return recorded(_call(lib.huber_tensor, difference, float(delta)), HuberBackward, (difference,), delta)


def share(x: Any, y: Any) -> Any:
    """x y of each pair, broadcast, where a share x of 0 gives 0 even of an infinite y."""
    return recorded(_call(lib.share_tensor, x, y), ShareBackward, (x, y))


def bce(x: Any, y: Any) -> Any:
    """-(y log(x) + (1 - y) log(1 - x)) of each pair, with no logarithm below -100."""
    return recorded(_call(lib.bce_tensor, x, y), BCEBackward, (x, y))


def bce_with_logits(x: Any, y: Any) -> Any:
    """-(y log sigmoid(x) + (1 - y) log sigmoid(-x)) of each pair; y may be a number."""
    return recorded(_call(lib.bce_with_logits_tensor, x, y), BCEWithLogitsBackward, (x, y))


def _call(function: Any, x: Any, y: Any) -> Any:
    return wrap(function(operand(x)._ptr, operand(y)._ptr))


class HuberBackward(Function):
    """L = d^2 / 2 within delta, delta (|d| - delta / 2) beyond: dL/dd = d, clamped to -delta and delta"""

    def __init__(self, difference: Any, delta: float) -> None:
        super().__init__(difference)
        self.delta = delta

    def backward(self, gradient: Any) -> list[Any]:
        return [gradient * self.x.clamp(-self.delta, self.delta)]


class ShareBackward(Function):
    """L = x y: dL/dx = y, dL/dy = x; where x is 0 and y infinite, L and both derivatives are 0"""

    broadcasts = True

    def backward(self, gradient: Any) -> list[Any]:
        x, y = self.x, self.y
        to_x = None
        if self.needs(0):
            to_x = gradient * (x == 0).logical_and(y.isinf())._choose(0.0, y)
        return [to_x, gradient * x if self.needs(1) else None]


class BCEBackward(Function):
    """L = -(y log x + (1 - y) log(1 - x)): dL/dx = (x - y) / (x (1 - x)), dL/dy = log(1 - x) - log x

    The denominator is at least 1e-12, as in PyTorch, and the logarithms are at least -100, as in the loss.
    """

    broadcasts = True

    def backward(self, gradient: Any) -> list[Any]:
        x, y = self.x, self.y
        to_x = to_y = None
        if self.needs(0):
            to_x = gradient * (self._slope(x, y) if mode.enabled else _call(lib.bce_slope_tensor, x, y))
        if self.needs(1):
            to_y = gradient * ((1 - x).log().clamp(min=-100) - x.log().clamp(min=-100))
        return [to_x, to_y]

    @staticmethod
    def _slope(x: Any, y: Any) -> Any:
        return (x - y) / (x * (1 - x)).clamp(min=1e-12)


class BCEWithLogitsBackward(Function):
    """L = -(y log s(x) + (1 - y) log s(-x)), with s the sigmoid: dL/dx = (1 - y) s(x) - y s(-x), dL/dy = -x"""

    broadcasts = True

    def backward(self, gradient: Any) -> list[Any]:
        x, y = self.x, self.y
        to_x = to_y = None
        if self.needs(0):
            to_x = gradient * (self._slope(x, y) if mode.enabled else _call(lib.bce_with_logits_slope_tensor, x, y))
        if self.needs(1):
            to_y = gradient * -x
        return [to_x, to_y]

    @staticmethod
    def _slope(x: Any, y: Any) -> Any:
        return (1 - y) * x.sigmoid() - y * (-x).sigmoid()
