"""The derivatives of further elementary functions, one class each: angles, exponentials, logarithms, remainders."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..node import Gradients, Node

if TYPE_CHECKING:
    from ...forward_declarations import Tensor

# ---- Angles -----------------------------------------------------------------------------------------------------


class TanBackward(Node):
    """d tan(x)/dx = 1 + tan(x)^2"""

    keeps_input, saves_output = False, True

    def backward(self, gradient: Tensor) -> Gradients:
        y = self.output
        return [gradient * (1.0 + y * y)]


class AsinBackward(Node):
    """d asin(x)/dx = 1 / sqrt(1 - x^2)"""

    def backward(self, gradient: Tensor) -> Gradients:
        x = self.x
        return [gradient * (1.0 - x * x).rsqrt()]


class AcosBackward(Node):
    """d acos(x)/dx = -1 / sqrt(1 - x^2)"""

    def backward(self, gradient: Tensor) -> Gradients:
        x = self.x
        return [-gradient * (1.0 - x * x).rsqrt()]


class AtanBackward(Node):
    """d atan(x)/dx = 1 / (1 + x^2)"""

    def backward(self, gradient: Tensor) -> Gradients:
        x = self.x
        return [gradient / (1.0 + x * x)]


class Atan2Backward(Node):
    """d atan2(x, y)/dx = y / (x^2 + y^2), d atan2(x, y)/dy = -x / (x^2 + y^2); 0 in the origin, which has no angle"""

    broadcasts = True

    def backward(self, gradient: Tensor) -> Gradients:
        x, y = self.x, self.y
        squares = x * x + y * y
        share = gradient / (squares == 0)._choose(1.0, squares)
        return [share * y if self.needs(0) else None, -share * x if self.needs(1) else None]


class SinhBackward(Node):
    """d sinh(x)/dx = cosh(x)"""

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient * self.x.cosh()]


class CoshBackward(Node):
    """d cosh(x)/dx = sinh(x)"""

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient * self.x.sinh()]


class HypotBackward(Node):
    """d hypot(x, y)/dx = x / hypot(x, y), and likewise for y"""

    broadcasts = saves_output = True

    def backward(self, gradient: Tensor) -> Gradients:
        share = gradient / self.output
        return [share * self.x if self.needs(0) else None, share * self.y if self.needs(1) else None]


# ---- Exponentials and logarithms --------------------------------------------------------------------------------


class Exp2Backward(Node):
    """d 2^x/dx = 2^x log 2"""

    keeps_input, saves_output = False, True

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient * (self.output * math.log(2.0))]


class Expm1Backward(Node):
    """d(exp(x) - 1)/dx = exp(x)"""

    keeps_input, saves_output = False, True

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient * (self.output + 1.0)]


class Log1pBackward(Node):
    """d log(1 + x)/dx = 1 / (1 + x)"""

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient / (1.0 + self.x)]


class Log2Backward(Node):
    """d log2(x)/dx = 1 / (x log 2)"""

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient / (self.x * math.log(2.0))]


class Log10Backward(Node):
    """d log10(x)/dx = 1 / (x log 10)"""

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient / (self.x * math.log(10.0))]


class RsqrtBackward(Node):
    """d x^(-1/2)/dx = -1/2 x^(-3/2)"""

    keeps_input, saves_output = False, True

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient * (-0.5 * self.output**3)]


class ReciprocalBackward(Node):
    """d(1 / x)/dx = -1 / x^2"""

    keeps_input, saves_output = False, True

    def backward(self, gradient: Tensor) -> Gradients:
        y = self.output
        return [-gradient * (y * y)]


class ErfBackward(Node):
    """d erf(x)/dx = 2 / sqrt(pi) exp(-x^2)"""

    def backward(self, gradient: Tensor) -> Gradients:
        x = self.x
        return [gradient * (2.0 / math.sqrt(math.pi) * (-x * x).exp())]


class ErfcBackward(Node):
    """d erfc(x)/dx = -2 / sqrt(pi) exp(-x^2)"""

    def backward(self, gradient: Tensor) -> Gradients:
        x = self.x
        return [gradient * (-2.0 / math.sqrt(math.pi) * (-x * x).exp())]


# ---- Division ---------------------------------------------------------------------------------------------------


class FmodBackward(Node):
    """fmod(x, y) = x - y trunc(x / y), whose truncated quotient is constant between its steps"""

    broadcasts = True

    def reads_x(self) -> bool:
        return self.needs(1)

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient, -gradient * (self.x / self.y).trunc() if self.needs(1) else None]


# ---- Of three operands ------------------------------------------------------------------------------------------


class AddcmulBackward(Node):
    """d(x + y z)/dx = 1, d(x + y z)/dy = z, d(x + y z)/dz = y"""

    broadcasts = True

    def reads_x(self) -> bool:
        return False

    def backward(self, gradient: Tensor) -> Gradients:
        return [
            gradient,
            gradient * self.z if self.needs(1) else None,
            gradient * self.y if self.needs(2) else None,
        ]


class AddcdivBackward(Node):
    """d(x + y / z)/dx = 1, d(x + y / z)/dy = 1 / z, d(x + y / z)/dz = -y / z^2"""

    broadcasts = True

    def reads_x(self) -> bool:
        return False

    def backward(self, gradient: Tensor) -> Gradients:
        return [
            gradient,
            gradient / self.z if self.needs(1) else None,
            -gradient * ((self.y / self.z) / self.z) if self.needs(2) else None,
        ]


class LerpBackward(Node):
    """Of x + z (y - x): 1 - z along x, z along y, y - x along z"""

    broadcasts = True

    def reads_x(self) -> bool:
        return self.needs(2)

    def backward(self, gradient: Tensor) -> Gradients:
        return [
            gradient * (1 - self.z) if self.needs(0) else None,
            gradient * self.z if self.needs(1) else None,
            gradient * (self.y - self.x) if self.needs(2) else None,
        ]
