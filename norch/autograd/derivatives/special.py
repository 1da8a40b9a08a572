"""The derivatives of special functions: of the gamma, error and Bessel families, and of functions that choose."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..._C import lib
from ...functions.promotion import finite_numbers
from ...operation import computed, wrap
from ..node import Gradients, Node

if TYPE_CHECKING:
    from ...forward_declarations import Tensor
    from ...types import Operand

# ---- Composed functions, whose parts would be infinite where the whole is not -----------------------------------


class LogitBackward(Node):
    """d logit(x)/dx = 1 / (x (1 - x)), NaN outside of [0, 1]"""

    def backward(self, gradient: Tensor) -> Gradients:
        x = self.x
        return [(x >= 0).logical_and(x <= 1)._choose(gradient / (x * (1.0 - x)), math.nan)]


class EntrBackward(Node):
    """d(-x log(x))/dx = -log(x) - 1"""

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient * (-self.x.log() - 1.0)]


class NanToNumBackward(Node):
    """What was replaced is constant."""

    def backward(self, gradient: Tensor) -> Gradients:
        return [self.x.isfinite()._choose(gradient, 0.0)]

    def fused(self, gradient: Tensor) -> Gradients:
        _, largest, least = finite_numbers(self.x.dtype)
        return [wrap(lib.clamp_backward_tensor(gradient._ptr, self.x._ptr, least._ptr, largest._ptr))]


class SincBackward(Node):
    """d sinc(x)/dx = (cos(pi x) - sinc(x)) / x, 0 at 0"""

    def backward(self, gradient: Tensor) -> Gradients:
        zero = self.x == 0
        x = zero._choose(1.0, self.x)
        angle = x * math.pi
        finite = gradient.isfinite()._choose(gradient, 0.0)
        tangent = finite * self.x * (-(math.pi**2) / 3)  # 0 at 0, but not its derivative
        return [zero._choose(tangent, gradient * ((angle.cos() - angle.sin() / angle) / x))]


# ---- Inverse hyperbolic functions -------------------------------------------------------------------------------


class AsinhBackward(Node):
    """d asinh(x)/dx = 1 / sqrt(x^2 + 1)"""

    def backward(self, gradient: Tensor) -> Gradients:
        x = self.x
        return [gradient * (x * x + 1.0).rsqrt()]


class AcoshBackward(Node):
    """d acosh(x)/dx = 1 / sqrt(x^2 - 1)"""

    def backward(self, gradient: Tensor) -> Gradients:
        x = self.x
        return [gradient * (x * x - 1.0).rsqrt()]


class AtanhBackward(Node):
    """d atanh(x)/dx = 1 / (1 - x^2)"""

    def backward(self, gradient: Tensor) -> Gradients:
        x = self.x
        return [gradient / (1.0 - x * x)]


# ---- Gamma and zeta ---------------------------------------------------------------------------------------------


class LgammaBackward(Node):
    """d lgamma(x)/dx = digamma(x)"""

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient * self.x.digamma()]


class DigammaBackward(Node):
    """d digamma(x)/dx = trigamma(x)"""

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient * trigamma(self.x)]


class TrigammaBackward(Node):
    """d trigamma(x)/dx = -2 zeta(3, x)"""

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient * (-2.0 * zeta(3.0, self.x))]


class ZetaBackward(Node):
    """d zeta(s, q)/dq = -s zeta(s + 1, q)"""

    broadcasts = True

    def backward(self, gradient: Tensor) -> Gradients:
        if self.needs(0):
            raise NotImplementedError("zeta: the derivative for its first operand is not implemented")
        s, q = self.x, self.y
        return [None, gradient * (-s * zeta(s + 1.0, q))]


def trigamma(x: Tensor) -> Tensor:
    """The derivative of digamma, zeta(2, x)."""
    return computed("trigamma", TrigammaBackward, x)


def zeta(s: Operand, q: Operand) -> Tensor:
    """Hurwitz's zeta function: the sum of (q + k)^-s over k = 0, 1, 2 ..."""
    return computed("zeta", ZetaBackward, s, q)


class _IncompleteGammaBackward(Node):
    """The density x^(a - 1) e^-x / gamma(a), of which the functions are integrals."""

    broadcasts = True
    sign = 1.0

    def backward(self, gradient: Tensor) -> Gradients:
        if self.needs(0):
            raise NotImplementedError("igamma: the derivative for its first operand is not implemented")
        a, x = as_tensor(self.x, gradient), self.y
        return [None, gradient * (self.sign * ((a - 1.0).xlogy(x) - x - a.lgamma()).exp())]


class IgammaBackward(_IncompleteGammaBackward):
    """d P(a, x)/dx = x^(a - 1) e^-x / gamma(a)"""


class IgammacBackward(_IncompleteGammaBackward):
    """d Q(a, x)/dx = -x^(a - 1) e^-x / gamma(a)"""

    sign = -1.0


# ---- Error function ---------------------------------------------------------------------------------------------


class ErfinvBackward(Node):
    """d erfinv(x)/dx = sqrt(pi) / 2 exp(erfinv(x)^2)"""

    keeps_input, saves_output = False, True

    def backward(self, gradient: Tensor) -> Gradients:
        y = self.output
        return [gradient * (0.5 * math.sqrt(math.pi) * (y * y).exp())]


class ErfcxBackward(Node):
    """d erfcx(x)/dx = 2 x erfcx(x) - 2 / sqrt(pi)"""

    saves_output = True

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient * (2.0 * self.x * self.output - 2.0 / math.sqrt(math.pi))]


class NdtrBackward(Node):
    """d ndtr(x)/dx = exp(-x^2 / 2) / sqrt(2 pi)"""

    def backward(self, gradient: Tensor) -> Gradients:
        x = self.x
        return [gradient * ((-0.5 * x * x).exp() / math.sqrt(2.0 * math.pi))]


class LogNdtrBackward(Node):
    """d log(ndtr(x))/dx = sqrt(2 / pi) / erfcx(-x / sqrt(2))"""

    def backward(self, gradient: Tensor) -> Gradients:
        scaled = computed("erfcx", ErfcxBackward, self.x * -math.sqrt(0.5))
        return [gradient * (math.sqrt(2.0 / math.pi) / scaled)]


class NdtriBackward(Node):
    """d ndtri(p)/dp = sqrt(2 pi) exp(ndtri(p)^2 / 2)"""

    keeps_input, saves_output = False, True

    def backward(self, gradient: Tensor) -> Gradients:
        y = self.output
        return [gradient * (math.sqrt(2.0 * math.pi) * (0.5 * y * y).exp())]


# ---- Bessel functions -------------------------------------------------------------------------------------------


class I0Backward(Node):
    """d I0(x)/dx = I1(x)"""

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient * computed("i1", I1Backward, self.x)]


class I1Backward(Node):
    """d I1(x)/dx = I0(x) - I1(x) / x, 1/2 at 0"""

    saves_output = True

    def backward(self, gradient: Tensor) -> Gradients:
        x = self.x
        zero = x == 0
        return [gradient * zero._choose(0.5, x.i0() - self.output / zero._choose(1.0, x))]


class I0eBackward(Node):
    """d(e^-|x| I0(x))/dx = e^-|x| I1(x) - sign(x) e^-|x| I0(x)"""

    saves_output = True

    def backward(self, gradient: Tensor) -> Gradients:
        x = self.x
        return [gradient * (computed("i1e", I1eBackward, x) - x.sign() * self.output)]


class I1eBackward(Node):
    """d(e^-|x| I1(x))/dx = e^-|x| I0(x) - (sign(x) + 1 / x) e^-|x| I1(x), 1/2 at 0"""

    saves_output = True

    def backward(self, gradient: Tensor) -> Gradients:
        x = self.x
        zero = x == 0
        slope = computed("i0e", I0eBackward, x) - self.output * (x.sign() + zero._choose(1.0, x).reciprocal())
        return [gradient * zero._choose(0.5, slope)]


# ---- Two operands -----------------------------------------------------------------------------------------------


class _LogaddexpBackward(Node):
    """d log(b^x + b^y)/dx = sigmoid((x - y) log b), and likewise for y"""

    broadcasts = True
    base = 1.0  # the logarithm of the base

    def backward(self, gradient: Tensor) -> Gradients:
        difference = as_tensor(self.x - self.y, gradient) * self.base
        return [
            gradient * difference.sigmoid() if self.needs(0) else None,
            gradient * (-difference).sigmoid() if self.needs(1) else None,
        ]


class LogaddexpBackward(_LogaddexpBackward):
    """d log(e^x + e^y)/dx = sigmoid(x - y), and likewise for y"""


class Logaddexp2Backward(_LogaddexpBackward):
    """d log2(2^x + 2^y)/dx = sigmoid((x - y) log 2), and likewise for y"""

    base = math.log(2.0)


class XlogyBackward(Node):
    """d(x log y)/dx = log y, 0 at x = 0, y <= 0, and where no gradient arrives; d(x log y)/dy = x / y"""

    broadcasts = True

    def backward(self, gradient: Tensor) -> Gradients:
        x, y = as_tensor(self.x, gradient), as_tensor(self.y, gradient)
        settled = (x == 0).logical_and(y <= 0)
        return [
            settled._choose(0.0, gradient.xlogy(settled._choose(1.0, y))) if self.needs(0) else None,
            gradient * (x / y) if self.needs(1) else None,
        ]


class Xlog1pyBackward(Node):
    """d(x log(1 + y))/dx = log(1 + y), 0 as in XlogyBackward; d(x log(1 + y))/dy = x / (1 + y)"""

    broadcasts = True

    def backward(self, gradient: Tensor) -> Gradients:
        x, y = as_tensor(self.x, gradient), as_tensor(self.y, gradient)
        settled = (x == 0).logical_and(y <= -1)
        return [
            settled._choose(0.0, computed("xlog1py", Xlog1pyBackward, gradient, settled._choose(0.0, y)))
            if self.needs(0)
            else None,
            gradient * (x / (1.0 + y)) if self.needs(1) else None,
        ]


class _FirstChosenBackward(Node):
    """The gradient goes to the operand that was chosen; to x where they are equal, or y is NaN."""

    broadcasts = True

    def to_chosen(self, gradient: Tensor, first: Tensor) -> Gradients:
        return [
            first._choose(gradient, 0.0) if self.needs(0) else None,
            first._choose(0.0, gradient) if self.needs(1) else None,
        ]


class FmaxBackward(_FirstChosenBackward):
    """d fmax(x, y)/dx = 1 where x >= y, d fmax(x, y)/dy = 1 elsewhere"""

    def backward(self, gradient: Tensor) -> Gradients:
        x, y = as_tensor(self.x, gradient), as_tensor(self.y, gradient)
        return self.to_chosen(gradient, (x >= y).logical_or(y.isnan()))


class FminBackward(_FirstChosenBackward):
    """d fmin(x, y)/dx = 1 where x <= y, d fmin(x, y)/dy = 1 elsewhere"""

    def backward(self, gradient: Tensor) -> Gradients:
        x, y = as_tensor(self.x, gradient), as_tensor(self.y, gradient)
        return self.to_chosen(gradient, (x <= y).logical_or(y.isnan()))


class CopysignBackward(Node):
    """d copysign(x, y)/dx = sign(x) with the sign of y, 0 at 0; d copysign(x, y)/dy = 0"""

    broadcasts = True

    def backward(self, gradient: Tensor) -> Gradients:
        x, y = as_tensor(self.x, gradient), as_tensor(self.y, gradient)
        return [
            gradient * (x.sign() * x.sign().abs().copysign(y)) if self.needs(0) else None,
            gradient.zeros_like() if self.needs(1) else None,
        ]


class NextafterBackward(Node):
    """nextafter(x, y) moves with x, by steps too small to see; where they are equal PyTorch's derivatives are 0."""

    broadcasts = True

    def backward(self, gradient: Tensor) -> Gradients:
        same = as_tensor(self.x, gradient) == as_tensor(self.y, gradient)
        return [
            same._choose(0.0, gradient) if self.needs(0) else None,
            gradient.zeros_like() if self.needs(1) else None,
        ]


class RoundedDivBackward(Node):
    """A rounded quotient is a function of steps: its derivative is 0 wherever there is one."""

    broadcasts = True

    def reads_x(self) -> bool:
        return False

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient.zeros_like() if self.needs(i) else None for i in (0, 1)]


class FrexpBackward(Node):
    """The mantissa is x / 2^exponent, whose exponent is constant between its steps."""

    keeps_input = False

    def __init__(self, x: Tensor, exponent: Tensor) -> None:
        super().__init__(x)
        self.exponent = exponent

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient / self.unchanged(self.exponent).to(gradient.dtype).exp2()]

    def release(self) -> None:
        super().release()
        del self.exponent


def as_tensor(value: Tensor | float, like: Tensor) -> Tensor:
    """An operand that may have been given as a number, as a tensor beside another."""
    return like.new_full((), value) if isinstance(value, (int, float)) else value
