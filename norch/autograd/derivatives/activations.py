"""Activation functions that C computes in one pass (ACTIVATION_OPS, SHAPED_OPS in
csrc/ops/operations.h), and their derivatives.

As in fused.py, a backward takes the slope from C, or where it is itself to be differentiated writes the formula out.
"""

from __future__ import annotations

import math
from typing import Any

from ..._C import lib, number
from ...methods.elementwise import ternary
from ...operation import mode, recorded, wrap
from ..function import Function


def gelu(x: Any) -> Any:
    """x P(Z <= x) for a normal Z; of each element, as all functions here."""
    return recorded(wrap(lib.gelu_tensor(x._ptr)), GeluBackward, (x,))


def gelu_tanh(x: Any) -> Any:
    """x sigmoid(2 u) with u = sqrt(2 / pi) (x + 0.044715 x^3), which is near gelu."""
    return recorded(wrap(lib.gelu_tanh_tensor(x._ptr)), GeluTanhBackward, (x,))


def silu(x: Any) -> Any:
    """x sigmoid(x)"""
    return recorded(wrap(lib.silu_tensor(x._ptr)), SiluBackward, (x,))


def leaky_relu(x: Any, slope: float) -> Any:
    """x where x > 0, else slope x"""
    return recorded(_shaped(lib.leaky_relu_tensor, x, slope), LeakyReluBackward, (x,), slope)


def elu(x: Any, alpha: float) -> Any:
    """x where x > 0, else alpha (e^x - 1)"""
    return recorded(_shaped(lib.elu_tensor, x, alpha), EluBackward, (x,), alpha)


def softplus(x: Any, threshold: float) -> Any:
    """log(1 + e^x), or x where x > threshold"""
    return recorded(_shaped(lib.softplus_tensor, x, threshold), SoftplusBackward, (x,), threshold)


def hardtanh(x: Any, low: float, high: float) -> Any:
    """x moved into [low, high]"""
    return ternary("clamp", HardtanhBackward, x, low, high)


def _shaped(function: Any, x: Any, parameter: float) -> Any:
    return wrap(function(x._ptr, number(float(parameter))._ptr))


# ---- Without a parameter: the slope times the gradient in one pass ----------------------------------------------


class GeluBackward(Function):
    """d(x P(x))/dx = P(x) + x p(x), with P the probability that a normal variable is at most x and p its density"""

    def backward(self, gradient: Any) -> list[Any]:
        x = self.x
        if not mode.enabled:
            return [wrap(lib.gelu_backward_tensor(gradient._ptr, x._ptr))]
        below, density = 0.5 * (x * -math.sqrt(0.5)).erfc(), (x * x * -0.5).exp() / math.sqrt(2 * math.pi)
        return [gradient * (below + x * density)]


class GeluTanhBackward(Function):
    """d(x s(v))/dx = s(v) + x s(v) (1 - s(v)) dv/dx, with s the sigmoid and v = 2 sqrt(2 / pi) (x + 0.044715 x^3)"""

    def backward(self, gradient: Any) -> list[Any]:
        x = self.x
        if not mode.enabled:
            return [wrap(lib.gelu_tanh_backward_tensor(gradient._ptr, x._ptr))]
        scale = 2 * math.sqrt(2 / math.pi)
        v = x * (scale + 0.044715 * scale * (x * x))
        s, rest = v.sigmoid(), (-v).sigmoid()  # as 1 - s would keep no digits where s is near 1
        return [gradient * (s + x * (s * rest) * (scale + 3 * 0.044715 * scale * (x * x)))]


class SiluBackward(Function):
    """d(x s(x))/dx = s(x) (1 + x (1 - s(x))), with s the sigmoid"""

    def backward(self, gradient: Any) -> list[Any]:
        x = self.x
        if not mode.enabled:
            return [wrap(lib.silu_backward_tensor(gradient._ptr, x._ptr))]
        s = x.sigmoid()
        return [gradient * (s * (1.0 + x * (1.0 - s)))]


# ---- With a parameter -------------------------------------------------------------------------------------------


class Shaped(Function):
    """The derivative of a function of x and a number, which is its parameter."""

    def __init__(self, x: Any, parameter: float) -> None:
        super().__init__(x)
        self.parameter = parameter


class LeakyReluBackward(Shaped):
    """y = x where x > 0, else a x: dy/dx = 1 where x > 0, else a"""

    def backward(self, gradient: Any) -> list[Any]:
        return [gradient * _shaped(lib.leaky_relu_slope_tensor, self.x, self.parameter)]


class EluBackward(Shaped):
    """y = x where x > 0, else a (e^x - 1): dy/dx = 1 where x > 0, else a e^x"""

    def backward(self, gradient: Any) -> list[Any]:
        x = self.x
        if not mode.enabled:
            return [gradient * _shaped(lib.elu_slope_tensor, x, self.parameter)]
        positive = x > 0
        return [gradient * positive._choose(1.0, self.parameter * positive._choose(0.0, x).exp())]


class SoftplusBackward(Shaped):
    """y = log(1 + e^x), or x where x > threshold: dy/dx = sigmoid(x), there 1"""

    def backward(self, gradient: Any) -> list[Any]:
        x = self.x
        if not mode.enabled:
            return [gradient * _shaped(lib.softplus_slope_tensor, x, self.parameter)]
        return [gradient * (x > self.parameter)._choose(1.0, x.sigmoid())]


class HardtanhBackward(Function):
    """y = x moved into [low, high]: dy/dx = 1 between them, 0 from each on; a NaN lets its gradient through"""

    def backward(self, gradient: Any) -> list[Any]:
        x = self.x.detach()
        _, low, high = self.input
        return [(x <= low).logical_or(x >= high)._choose(0.0, gradient), None, None]
