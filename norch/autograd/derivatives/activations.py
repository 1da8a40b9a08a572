"""Activation functions that C computes in one pass (ACTIVATION_OPS, SHAPED_OPS in
csrc/ops/operations.h), and their derivatives.

As everywhere, `backward` is the formula, in tensor operations, and `fused` the same gradient by one call into C.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Callable

from ..._C import Handle, lib, number, raise_error
from ...arguments import flag, plain_number
from ...operation import recorded, wrap
from ..in_place import write
from ..node import Gradients, Node
from .joining import cat

if TYPE_CHECKING:
    from ...forward_declarations import Tensor

SELU_ALPHA, SELU_SCALE = 1.6732632423543772, 1.0507009873554805  # Klambauer et al., "Self-Normalizing ..." (2017)

# ---- The functions ----------------------------------------------------------------------------------------------


def _row(name: str, backward: Callable[..., Node], parameters: int = 0) -> Callable[..., Tensor]:
    """The function of a row of csrc/ops/operations.h: of x and its parameters, numbers; `inplace` writes it into x.

    There is one for each number of parameters: to pass on `*parameters` takes longer than a small kernel.
    """
    function, into = f"{name}_tensor", f"{name}_into"  # by name: an export to ONNX has others in `lib` meanwhile

    def of_x(x: Tensor, *, inplace: bool = False) -> Tensor:
        if inplace is False or (inplace is not True and not flag(inplace, f"{name}: inplace")):
            result = wrap(getattr(lib, function)(x._ptr))
            return result if x._edge is None else recorded(result, backward, (x,))
        if x._edge is x._base is x._views is None:  # no graph
            return x if getattr(lib, into)(x._ptr, x._ptr) == 0 else raise_error()
        return _written(x, backward, getattr(lib, into), ())

    def with_one(x: Tensor, first: float, *, inplace: bool = False) -> Tensor:
        a = _parameter(first)
        if inplace is False or (inplace is not True and not flag(inplace, f"{name}: inplace")):
            result = wrap(getattr(lib, function)(x._ptr, a))
            return result if x._edge is None else recorded(result, backward, (x,), first)
        if x._edge is x._base is x._views is None:
            return x if getattr(lib, into)(x._ptr, x._ptr, a) == 0 else raise_error()
        return _written(x, backward, getattr(lib, into), (first,))

    def with_two(x: Tensor, first: float, second: float, *, inplace: bool = False) -> Tensor:
        a, b = _parameter(first), _parameter(second)
        if inplace is False or (inplace is not True and not flag(inplace, f"{name}: inplace")):
            result = wrap(getattr(lib, function)(x._ptr, a, b))
            return result if x._edge is None else recorded(result, backward, (x,), first, second)
        if x._edge is x._base is x._views is None:
            return x if getattr(lib, into)(x._ptr, x._ptr, a, b) == 0 else raise_error()
        return _written(x, backward, getattr(lib, into), (first, second))

    return (of_x, with_one, with_two)[parameters]


def _written(x: Tensor, backward: Callable[..., Node], into: Callable[..., int], parameters: Any) -> Tensor:
    """A row's kernel of x and its parameters, which writes into x; apart, because its closures make a call slower."""
    numbers = [_parameter(value) for value in parameters]
    return write(x, lambda old: backward(old, *parameters), (), into, x._ptr, x._ptr, *numbers)


def _parameter(value: Any) -> Handle:
    """The parameter of an activation, a number, as C takes it."""
    value = value if type(value) is float else plain_number(value, "the parameter of an activation")
    return number(value)._ptr


# ---- Without a parameter ----------------------------------------------------------------------------------------


class _SlopeBackward(Node):
    """The derivative of a function of x alone, of which `kernel` gives gradient * slope in C."""

    kernel: Any

    def fused(self, gradient: Tensor) -> Gradients:
        return [wrap(self.kernel(gradient._ptr, self.x._ptr))]


class GeluBackward(_SlopeBackward):
    """d(x P(x))/dx = P(x) + x p(x), with P the probability that a normal variable is at most x and p its density"""

    kernel = lib.gelu_backward_tensor

    def backward(self, gradient: Tensor) -> Gradients:
        x = self.x
        below, density = 0.5 * (x * -math.sqrt(0.5)).erfc(), (x * x * -0.5).exp() / math.sqrt(2 * math.pi)
        return [gradient * (below + x * density)]


class GeluTanhBackward(_SlopeBackward):
    """d(x s(v))/dx = s(v) + x s(v) (1 - s(v)) dv/dx, with s the sigmoid and v = 2 sqrt(2 / pi) (x + 0.044715 x^3)"""

    kernel = lib.gelu_tanh_backward_tensor

    def backward(self, gradient: Tensor) -> Gradients:
        x, scale = self.x, 2 * math.sqrt(2 / math.pi)
        v = x * (scale + 0.044715 * scale * (x * x))
        s, rest = v.sigmoid(), (-v).sigmoid()  # 1 - s would lose its digits where s is near 1
        return [gradient * (s + x * (s * rest) * (scale + 3 * 0.044715 * scale * (x * x)))]


class SiluBackward(_SlopeBackward):
    """d(x s(x))/dx = s(x) (1 + x (1 - s(x))), with s the sigmoid"""

    kernel = lib.silu_backward_tensor

    def backward(self, gradient: Tensor) -> Gradients:
        x, s = self.x, self.x.sigmoid()
        return [gradient * (s * (1.0 + x * (1.0 - s)))]


class MishBackward(_SlopeBackward):
    """y = x t with t = tanh(softplus(x)): dy/dx = t + x sigmoid(x) (1 - t^2)"""

    kernel = lib.mish_backward_tensor

    def backward(self, gradient: Tensor) -> Gradients:
        x = self.x
        t = softplus(x, math.inf).tanh()
        return [gradient * (t + x * x.sigmoid() * (1 - t * t))]


class SeluBackward(_SlopeBackward):
    """y = s x if x > 0, else s a (e^x - 1): dy/dx = s if x > 0, else s a e^x"""

    kernel = lib.selu_backward_tensor

    def backward(self, gradient: Tensor) -> Gradients:
        x, positive = self.x, self.x > 0
        below = SELU_SCALE * SELU_ALPHA * (x >= 0)._choose(0.0, x).exp()  # at 0 the second derivative is 0
        return [gradient * positive._choose(SELU_SCALE, below)]


class LogsigmoidBackward(_SlopeBackward):
    """d log(s(x))/dx = s(-x), with s the sigmoid"""

    kernel = lib.logsigmoid_backward_tensor

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient * (-self.x).sigmoid()]


class HardsigmoidBackward(_SlopeBackward):
    """y = relu6(x + 3) / 6: dy/dx = 1/6 between -3 and 3, 0 elsewhere and for NaN"""

    kernel = lib.hardsigmoid_backward_tensor

    def backward(self, gradient: Tensor) -> Gradients:
        x = self.x.detach()
        return [(x > -3.0).logical_and(x < 3.0)._choose(gradient / 6.0, 0.0)]


class HardswishBackward(_SlopeBackward):
    """y = x relu6(x + 3) / 6: dy/dx = 0 up to -3, 1 from 3 on, x / 3 + 1 / 2 between"""

    kernel = lib.hardswish_backward_tensor

    def backward(self, gradient: Tensor) -> Gradients:
        x, values = self.x, self.x.detach()
        between = (values >= 3.0)._choose(gradient, gradient * (x / 3.0 + 0.5))
        return [(values <= -3.0)._choose(0.0, between)]


# ---- With a parameter -------------------------------------------------------------------------------------------


def prelu(x: Tensor, slopes: Tensor) -> Tensor:
    """x if x > 0, else slopes x; the slopes broadcast"""
    return recorded(wrap(lib.leaky_relu_tensor(x._ptr, slopes._ptr)), PReluBackward, (x, slopes))


class _ParametricBackward(Node):
    """The derivative of a function of x that has a number as its parameter."""

    def __init__(self, x: Tensor, parameter: float) -> None:
        super().__init__(x)
        self.parameter = parameter


class LeakyReluBackward(_ParametricBackward):
    """y = x if x > 0, else a x: dy/dx = 1 if x > 0, else a"""

    def backward(self, gradient: Tensor) -> Gradients:
        return [(self.x > 0)._choose(gradient, self.parameter * gradient)]

    def fused(self, gradient: Tensor) -> Gradients:
        return [wrap(lib.leaky_relu_backward_tensor(gradient._ptr, self.x._ptr, _parameter(self.parameter)))]


class PReluBackward(Node):
    """y = x if x > 0, else a x: dy/dx = 1 or a, dy/da = 0 or x"""

    broadcasts = True

    def backward(self, gradient: Tensor) -> Gradients:
        x, slopes = self.x, self.y
        positive = x > 0
        return [
            positive._choose(gradient, gradient * slopes) if self.needs(0) else None,
            positive._choose(0.0, gradient * x) if self.needs(1) else None,
        ]

    def fused(self, gradient: Tensor) -> Gradients:
        x = self.x
        to_x = wrap(lib.leaky_relu_backward_tensor(gradient._ptr, x._ptr, self.y._ptr)) if self.needs(0) else None
        return [to_x, gradient * x.clamp(max=0.0) if self.needs(1) else None]


class EluBackward(_ParametricBackward):
    """y = x if x > 0, else a (e^x - 1): dy/dx = 1 if x > 0, else a e^x"""

    def backward(self, gradient: Tensor) -> Gradients:
        x, positive = self.x, self.x > 0
        negative_x = (x >= 0)._choose(0.0, x)  # at 0 the second derivative is 0
        return [gradient * positive._choose(1.0, self.parameter * negative_x.exp())]

    def fused(self, gradient: Tensor) -> Gradients:
        return [gradient * wrap(lib.elu_slope_tensor(self.x._ptr, _parameter(self.parameter)))]


class SoftplusBackward(_ParametricBackward):
    """y = log(1 + e^x), or x if x > threshold: dy/dx = sigmoid(x), or 1"""

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient * (self.x > self.parameter)._choose(1.0, self.x.sigmoid())]

    def fused(self, gradient: Tensor) -> Gradients:
        return [gradient * wrap(lib.softplus_slope_tensor(self.x._ptr, _parameter(self.parameter)))]


class ShrinkBackward(_ParametricBackward):
    """y = 0 if |x| <= a, else x or x moved towards 0 by a: dy/dx = 0 or 1; a NaN lets its gradient through"""

    def backward(self, gradient: Tensor) -> Gradients:
        return [(self.x.detach().abs() <= self.parameter)._choose(0.0, gradient)]

    def fused(self, gradient: Tensor) -> Gradients:
        return [wrap(lib.shrink_backward_tensor(gradient._ptr, self.x._ptr, _parameter(self.parameter)))]


class ThresholdBackward(_ParametricBackward):
    """y = x if x > a, else a number: dy/dx = 1 or 0; a NaN lets its gradient through"""

    def __init__(self, x: Tensor, parameter: float, value: float) -> None:
        super().__init__(x, parameter)

    def backward(self, gradient: Tensor) -> Gradients:
        return [(self.x.detach() <= self.parameter)._choose(0.0, gradient)]

    def fused(self, gradient: Tensor) -> Gradients:
        return [wrap(lib.floor_backward_tensor(gradient._ptr, self.x._ptr, _parameter(self.parameter)))]


class HardtanhBackward(Node):
    """y = x moved into [low, high]: dy/dx = 1 between them, 0 from each on; a NaN lets its gradient through"""

    def __init__(self, x: Tensor, low: float, high: float) -> None:
        super().__init__(x)
        self.low, self.high = low, high

    def backward(self, gradient: Tensor) -> Gradients:
        x = self.x.detach()
        return [(x <= self.low).logical_or(x >= self.high)._choose(0.0, gradient)]

    def fused(self, gradient: Tensor) -> Gradients:
        low, high = _parameter(self.low), _parameter(self.high)
        return [wrap(lib.hardtanh_backward_tensor(gradient._ptr, self.x._ptr, low, high))]


# ---- The rows ---------------------------------------------------------------------------------------------------

gelu = _row("gelu", GeluBackward)  # x P(Z <= x) for a normal Z
gelu_tanh = _row("gelu_tanh", GeluTanhBackward)  # x sigmoid(2 sqrt(2 / pi) (x + 0.044715 x^3)), which is near gelu
silu = _row("silu", SiluBackward)  # x sigmoid(x)
mish = _row("mish", MishBackward)  # x tanh(softplus(x))
selu = _row("selu", SeluBackward)  # SELU_SCALE elu(x, SELU_ALPHA)
logsigmoid = _row("logsigmoid", LogsigmoidBackward)  # log(1 / (1 + e^-x))
hardsigmoid = _row("hardsigmoid", HardsigmoidBackward)  # relu6(x + 3) / 6
hardswish = _row("hardswish", HardswishBackward)  # x relu6(x + 3) / 6
leaky_relu = _row("leaky_relu", LeakyReluBackward, 1)  # of x and a slope: x if x > 0, else slope x
elu = _row("elu", EluBackward, 1)  # of x and alpha: x if x > 0, else alpha (e^x - 1)
softplus = _row("softplus", SoftplusBackward, 1)  # of x and a threshold: log(1 + e^x), or x if x > threshold
hardtanh = _row("clamp", HardtanhBackward, 2)  # of x, low and high: x moved into [low, high]
hardshrink = _row("hardshrink", ShrinkBackward, 1)  # of x and a size: 0 if |x| <= size, else x
softshrink = _row("softshrink", ShrinkBackward, 1)  # of x and a size: 0 if |x| <= size, else x moved towards 0 by size
threshold = _row("threshold", ThresholdBackward, 2)  # of x, a limit and a value: value if x <= limit, else x

# ---- Halves -----------------------------------------------------------------------------------------------------


def glu(x: Tensor, axis: int) -> Tensor:
    """a sigmoid(b) for the halves a and b of x along an axis"""
    return recorded(wrap(lib.glu_tensor(x._ptr, axis)), GluBackward, (x,), axis)


def _halves(x: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    size = x.shape[axis] // 2
    return x._slice(axis, 0, size, 1), x._slice(axis, size, size, 1)


class GluBackward(Node):
    """y = a s(b), with s the sigmoid: dy/da = s(b), dy/db = a s(b) (1 - s(b))"""

    def __init__(self, x: Tensor, axis: int) -> None:
        super().__init__(x)
        self.axis = axis

    def backward(self, gradient: Tensor) -> Gradients:
        a, b = _halves(self.x, self.axis)
        s = b.sigmoid()
        return [cat([gradient * s, gradient * a * (s * (1.0 - s))], self.axis)]

    def fused(self, gradient: Tensor) -> Gradients:
        return [wrap(lib.glu_backward(gradient._ptr, self.x._ptr, self.axis))]


# ---- Softmax ----------------------------------------------------------------------------------------------------


class _AlongBackward(Node):
    """A function along a dimension, whose derivative takes its result."""

    keeps_input, saves_output = False, True

    def __init__(self, x: Tensor, dim: int) -> None:
        super().__init__(x)
        self.dim = dim


class SoftmaxBackward(_AlongBackward):
    """y = softmax(x): dL/dx = (G - sum(G y)) y, summed along the dimension"""

    def backward(self, gradient: Tensor) -> Gradients:
        y = self.output
        return [(gradient - (gradient * y).sum(self.dim, keepdim=True)) * y]

    def fused(self, gradient: Tensor) -> Gradients:
        return [wrap(lib.softmax_backward(gradient._ptr, self.result_values()._ptr, self.dim))]


class LogSoftmaxBackward(_AlongBackward):
    """y = log softmax(x): dL/dx = G - exp(y) sum(G), summed along the dimension"""

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient - self.output.exp() * gradient.sum(self.dim, keepdim=True)]

    def fused(self, gradient: Tensor) -> Gradients:
        return [wrap(lib.log_softmax_backward(gradient._ptr, self.result_values()._ptr, self.dim))]
