"""The von Mises distribution, of angles."""

from __future__ import annotations

import math
from typing import Any, Sequence

from .. import special
from ..autograd.mode import no_grad
from ..functions.random import rand, randn
from ..tensor import Tensor
from ..types import float64
from . import constraints
from .distribution import Distribution
from .utils import broadcast_all


class VonMises(Distribution):
    """Density proportional to exp(concentration cos(x - loc)) of angles x, the normal distribution on a circle.

    >>> norch.distributions.VonMises(norch.tensor([0.0]), norch.tensor([1.0])).mean
    tensor([0.])
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    mean = mode = property(lambda self: self.loc)

    @property
    def variance(self) -> Tensor:
        """1 minus the length of the mean direction."""
        return 1 - special.i1e(self.concentration) / special.i0e(self.concentration)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        k = self.concentration
        return k * (value - self.loc).cos() - math.log(2 * math.pi) - (special.i0e(k).log() + k)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw by rejection from a wrapped Cauchy distribution (Best and Fisher, 1979)."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            k = self.concentration.to(float64).expand(shape)
            k = (k == 0)._choose(1e-100, k)
            tau = 1 + (1 + 4 * k.square()).sqrt()
            rho = (tau - (2 * tau).sqrt()) / (2 * k)
            exact = (1 + rho.square()) / (2 * rho)
            r = (k < 1e-5)._choose(1 / k + k, exact)  # where tau is 2, and rho 0 by rounding
            found = randn(shape, dtype=float64, device=k.device) / k.sqrt()  # what it is if k is large
            waiting = k.abs() < 1e8
            while bool(waiting.any()):
                u1, u2, u3 = (rand(shape, dtype=float64, device=k.device) for _ in range(3))
                z = (math.pi * u1).cos()
                f = (1 + r * z) / (r + z)
                c = k * (r - f)
                accepted = waiting & ((c * (2 - c) - u2 > 0) | ((c / u2).log() + 1 - c >= 0))
                found = accepted._choose((u3 - 0.5).sign() * f.clamp(min=-1, max=1).acos(), found)
                waiting = waiting & ~accepted
            angle = found + math.pi + self.loc.to(float64)
            return (angle % (2 * math.pi) - math.pi).to(self.loc.dtype)
