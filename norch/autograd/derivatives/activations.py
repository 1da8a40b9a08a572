"""Activation functions that C computes in one pass (ACTIVATION_OPS, SHAPED_OPS in
csrc/ops/operations.h), and their derivatives.

As everywhere, `backward` is the formula, in tensor operations, and `fused` the same gradient by one call into C.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Callable

from ..._C import lib, number
from ...operation import check_operand, recorded, wrap
from ..function import Function, Gradients

if TYPE_CHECKING:
    from ...forward_declarations import Tensor

# ---- Without a parameter ----------------------------------------------------------------------------------------


def gelu(x: Tensor) -> Tensor:
    """x P(Z <= x) for a normal Z."""
    return recorded(wrap(lib.gelu_tensor(x._ptr)), GeluBackward, (x,))


def gelu_tanh(x: Tensor) -> Tensor:
    """x sigmoid(2 u) with u = sqrt(2 / pi) (x + 0.044715 x^3), which is near gelu."""
    return recorded(wrap(lib.gelu_tanh_tensor(x._ptr)), GeluTanhBackward, (x,))


def silu(x: Tensor) -> Tensor:
    """x sigmoid(x)"""
    return recorded(wrap(lib.silu_tensor(x._ptr)), SiluBackward, (x,))


class GeluBackward(Function):
    """d(x P(x))/dx = P(x) + x p(x), with P the probability that a normal variable is at most x and p its density"""

    def backward(self, gradient: Tensor) -> Gradients:
        x = self.x
        below, density = 0.5 * (x * -math.sqrt(0.5)).erfc(), (x * x * -0.5).exp() / math.sqrt(2 * math.pi)
        return [gradient * (below + x * density)]

    def fused(self, gradient: Tensor) -> Gradients:
        return [wrap(lib.gelu_backward_tensor(gradient._ptr, self.x._ptr))]


class GeluTanhBackward(Function):
    """d(x s(v))/dx = s(v) + x s(v) (1 - s(v)) dv/dx, with s the sigmoid and v = 2 sqrt(2 / pi) (x + 0.044715 x^3)"""

    def backward(self, gradient: Tensor) -> Gradients:
        x, scale = self.x, 2 * math.sqrt(2 / math.pi)
        v = x * (scale + 0.044715 * scale * (x * x))
        s, rest = v.sigmoid(), (-v).sigmoid()  # 1 - s would lose its digits where s is near 1
        return [gradient * (s + x * (s * rest) * (scale + 3 * 0.044715 * scale * (x * x)))]

    def fused(self, gradient: Tensor) -> Gradients:
        return [wrap(lib.gelu_tanh_backward_tensor(gradient._ptr, self.x._ptr))]


class SiluBackward(Function):
    """d(x s(x))/dx = s(x) (1 + x (1 - s(x))), with s the sigmoid"""

    def backward(self, gradient: Tensor) -> Gradients:
        x, s = self.x, self.x.sigmoid()
        return [gradient * (s * (1.0 + x * (1.0 - s)))]

    def fused(self, gradient: Tensor) -> Gradients:
        return [wrap(lib.silu_backward_tensor(gradient._ptr, self.x._ptr))]


# ---- With a parameter -------------------------------------------------------------------------------------------


def leaky_relu(x: Tensor, slope: float) -> Tensor:
    """x if x > 0, else slope x"""
    return recorded(_with_number(lib.leaky_relu_tensor, x, slope), LeakyReluBackward, (x,), slope)


def prelu(x: Tensor, slopes: Tensor) -> Tensor:
    """x if x > 0, else slopes x; the slopes broadcast"""
    return recorded(wrap(lib.leaky_relu_tensor(x._ptr, slopes._ptr)), PReluBackward, (x, slopes))


def elu(x: Tensor, alpha: float) -> Tensor:
    """x if x > 0, else alpha (e^x - 1)"""
    return recorded(_with_number(lib.elu_tensor, x, alpha), EluBackward, (x,), alpha)


def mish(x: Tensor) -> Tensor:
    """x tanh(softplus(x)), element by element."""
    values = x.detach()
    return recorded(values * softplus(values, math.inf).tanh(), MishBackward, (x,))


def softplus(x: Tensor, threshold: float) -> Tensor:
    """log(1 + e^x), or x if x > threshold"""
    return recorded(_with_number(lib.softplus_tensor, x, threshold), SoftplusBackward, (x,), threshold)


def hardtanh(x: Tensor, low: float, high: float) -> Tensor:
    """x moved into [low, high]"""
    bounds = (check_operand(bound, "hardtanh")._ptr for bound in (low, high))
    return recorded(wrap(lib.clamp_tensor(x._ptr, *bounds)), HardtanhBackward, (x,), low, high)


def _with_number(function: Callable[..., int], x: Tensor, parameter: float) -> Tensor:
    if not isinstance(parameter, (int, float)):
        raise TypeError(f"an activation has a number as its parameter, got {type(parameter).__name__}")
    return wrap(function(x._ptr, number(float(parameter))._ptr))


class _ParametricBackward(Function):
    """The derivative of a function of x that has a number as its parameter."""

    def __init__(self, x: Tensor, parameter: float) -> None:
        super().__init__(x)
        self.parameter = parameter


class LeakyReluBackward(_ParametricBackward):
    """y = x if x > 0, else a x: dy/dx = 1 if x > 0, else a"""

    def backward(self, gradient: Tensor) -> Gradients:
        return [(self.x > 0)._choose(gradient, self.parameter * gradient)]

    def fused(self, gradient: Tensor) -> Gradients:
        return [gradient * _with_number(lib.leaky_relu_slope_tensor, self.x, self.parameter)]


class PReluBackward(Function):
    """y = x if x > 0, else a x: dy/dx = 1 or a, dy/da = 0 or x"""

    broadcasts = True

    def backward(self, gradient: Tensor) -> Gradients:
        x, slopes = self.x, self.y
        positive = x > 0
        return [
            positive._choose(gradient, gradient * slopes) if self.needs(0) else None,
            positive._choose(0.0, gradient * x) if self.needs(1) else None,
        ]


class EluBackward(_ParametricBackward):
    """y = x if x > 0, else a (e^x - 1): dy/dx = 1 if x > 0, else a e^x"""

    def backward(self, gradient: Tensor) -> Gradients:
        x, positive = self.x, self.x > 0
        return [gradient * positive._choose(1.0, self.parameter * positive._choose(0.0, x).exp())]

    def fused(self, gradient: Tensor) -> Gradients:
        return [gradient * _with_number(lib.elu_slope_tensor, self.x, self.parameter)]


class SoftplusBackward(_ParametricBackward):
    """y = log(1 + e^x), or x if x > threshold: dy/dx = sigmoid(x), or 1"""

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient * (self.x > self.parameter)._choose(1.0, self.x.sigmoid())]

    def fused(self, gradient: Tensor) -> Gradients:
        return [gradient * _with_number(lib.softplus_slope_tensor, self.x, self.parameter)]


class MishBackward(Function):
    """y = x t with t = tanh(softplus(x)): dy/dx = t + x sigmoid(x) (1 - t^2)"""

    def backward(self, gradient: Tensor) -> Gradients:
        x = self.x
        t = softplus(x, math.inf).tanh()
        return [gradient * (t + x * x.sigmoid() * (1 - t * t))]


class HardtanhBackward(Function):
    """y = x moved into [low, high]: dy/dx = 1 between them, 0 from each on; a NaN lets its gradient through"""

    def __init__(self, x: Tensor, low: float, high: float) -> None:
        super().__init__(x)
        self.low, self.high = low, high

    def backward(self, gradient: Tensor) -> Gradients:
        x = self.x.detach()
        return [(x <= self.low).logical_or(x >= self.high)._choose(0.0, gradient)]


# ---- Softmax ----------------------------------------------------------------------------------------------------


class SoftmaxBackward(Function):
    """y = softmax(x): dL/dx = (G - sum(G y)) y, summed along the dimension"""

    keeps_input, saves_output = False, True

    def __init__(self, x: Tensor, dim: int) -> None:
        super().__init__(x)
        self.dim = dim

    def backward(self, gradient: Tensor) -> Gradients:
        y = self.output
        return [(gradient - (gradient * y).sum(self.dim, keepdim=True)) * y]

    def fused(self, gradient: Tensor) -> Gradients:
        return [wrap(lib.softmax_backward(gradient._ptr, self.output._ptr, self.dim))]


class LogSoftmaxBackward(Function):
    """y = log softmax(x): dL/dx = G - exp(y) sum(G), summed along the dimension"""

    keeps_input, saves_output = False, True

    def __init__(self, x: Tensor, dim: int) -> None:
        super().__init__(x)
        self.dim = dim

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient - self.output.exp() * gradient.sum(self.dim, keepdim=True)]

    def fused(self, gradient: Tensor) -> Gradients:
        return [wrap(lib.log_softmax_backward(gradient._ptr, self.output._ptr, self.dim))]
