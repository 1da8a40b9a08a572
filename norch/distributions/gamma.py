"""The gamma distribution and those made of it: Chi2, Dirichlet, Beta, StudentT."""

from __future__ import annotations

import math
from typing import Any, Sequence

from ..autograd.function import Function
from ..autograd.mode import no_grad
from ..functions.joining import stack
from ..functions.promotion import finfo
from ..functions.random import rand, randn
from ..operation import check_tensor
from ..tensor import Tensor
from ..types import float64
from . import constraints
from .distribution import Distribution, ExponentialFamily
from .utils import as_value, broadcast_all, digamma


def _draw_gamma(concentration: Tensor) -> Tensor:
    """Gamma(concentration, 1), of float64, by rejection (Marsaglia and Tsang, 2000); infinite if the concentration is.

    Below 1, a draw for concentration + 1 times u^(1 / concentration). NaN of NaN and of what is negative.
    """
    alpha = concentration.to(float64)
    small = alpha < 1
    d = small._choose(alpha + 1, alpha) - 1 / 3
    c = 1 / (9 * d).sqrt()
    result = (d > 0)._choose(d, math.nan)
    waiting = (d > 0) & (d < math.inf)  # or no draw would ever be accepted
    while bool(waiting.any()):
        z = randn(d.shape, dtype=float64, device=d.device)
        u = rand(d.shape, dtype=float64, device=d.device)
        v = (1 + c * z) ** 3
        accepted = waiting & (v > 0) & ((1 - u).log() < 0.5 * z * z + d - d * v + d * v.clamp(min=1e-300).log())
        result = accepted._choose(d * v, result)
        waiting = waiting & ~accepted
    u = 1 - rand(d.shape, dtype=float64, device=d.device)
    return small._choose(result * u ** (1 / alpha), result)


class _StandardGamma(Function):
    """A draw of Gamma(concentration, 1), differentiable by the implicit function theorem: dx/da = -(dF/da) / f.

    F(x; a) = sum over n of x^(a + n) e^-x / Gamma(a + n + 1), so with t_n = x^(n + 1) Gamma(a) / Gamma(a + n + 1):
    dx/da = sum over n of t_n (digamma(a + n + 1) - log x). From a = 1e5 on, where that takes thousands of terms, the
    cube root of x / a is normal up to 1e-8 (Wilson and Hilferty, 1931).
    """

    @staticmethod
    def forward(ctx: Any, concentration: Tensor) -> Tensor:
        draw = _draw_gamma(concentration)
        tiny = 1.1754943508222875e-38 if concentration.dtype is not float64 else 2.2250738585072014e-308
        result = draw.to(concentration.dtype).clamp(min=tiny)
        ctx.save_for_backward(concentration, result)
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        concentration, result = ctx.saved_tensors
        with no_grad():
            a, x = concentration.to(float64), result.to(float64)
            root, summed = (x / a) ** (1 / 3), (a > 0) & (a < 1e5)
            normal = root**3 + 3 * root**2 * (1 / (18 * a) - (root - 1) / 2)
            a, x = summed._choose(a, 1.0), summed._choose(x, 1.0)
            term, psi, log_x = x / a, (a + 1).digamma(), x.log()
            total = term * (psi - log_x)
            largest = float((x.maximum(a)).max().item()) if x.numel() else 0.0
            above = max(0.0, float((x - a).max().item())) if x.numel() else 0.0
            for n in range(1, int(above + 12 * math.sqrt(largest)) + 40):  # after these the terms are below rounding
                term = term * x / (a + n)
                psi = psi + 1 / (a + n)
                total = total + term * (psi - log_x)
            total = summed._choose(total, normal)
        return gradient * total.to(gradient.dtype)


def standard_gamma(concentration: Tensor) -> Tensor:
    """A draw of the gamma distribution of rate 1 for each concentration, differentiable once."""
    return _StandardGamma.apply(concentration)


class Gamma(ExponentialFamily):
    """Density rate^a x^(a - 1) e^(-rate x) / Gamma(a) of positive numbers, a the concentration.

    >>> norch.distributions.Gamma(norch.tensor([2.0]), norch.tensor([4.0])).mean
    tensor([0.5000])
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    concentration: Tensor
    rate: Tensor

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.shape, validate_args=validate_args)

    mean = property(lambda self: self.concentration / self.rate)
    mode = property(lambda self: ((self.concentration - 1) / self.rate).clamp(min=0))
    variance = property(lambda self: self.concentration / self.rate.pow(2))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)

    def log_prob(self, value: Tensor) -> Tensor:
        value = as_value(value, self.rate)
        self._check_value(value)
        a, rate = self.concentration, self.rate
        return a.xlogy(rate) + (a - 1).xlogy(value) - rate * value - a.lgamma()

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return self.concentration.igamma(self.rate * value)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a - self.rate.log() + a.lgamma() + (1 - a) * digamma(a)


class Chi2(Gamma):
    """The sum of `df` squares of normal numbers: Gamma(df / 2, 1 / 2).

    >>> norch.distributions.Chi2(norch.tensor([3.0])).mean
    tensor([3.])
    """

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        (df,) = broadcast_all(df)
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    def _expanded(self) -> Sequence[str]:
        return ("concentration", "rate")

    df = property(lambda self: self.concentration * 2, doc="How many squares are summed.")


class Dirichlet(ExponentialFamily):
    """Vectors of positive numbers that sum to 1, with density proportional to the product of x_i^(a_i - 1).

    >>> norch.distributions.Dirichlet(norch.tensor([1.0, 3.0])).mean
    tensor([0.2500, 0.7500])
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if check_tensor(concentration, "Dirichlet").ndim < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        small = self.concentration.expand(self._extended_shape(sample_shape)).double()  # whose draws may underflow
        drawn = standard_gamma(small)
        limits = finfo(self.concentration.dtype)  # no part is 0 or 1, where densities may be infinite
        parts = (drawn / drawn.sum(-1, keepdim=True)).to(self.concentration.dtype)
        return parts.clamp(limits.tiny, 1 - limits.eps / 2)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        a = self.concentration
        return (a - 1).xlogy(value).sum(-1) + a.sum(-1).lgamma() - a.lgamma().sum(-1)

    mean = property(lambda self: self.concentration / self.concentration.sum(-1, keepdim=True))

    @property
    def mode(self) -> Tensor:
        """The most likely vector; where no density has a peak inside, 1 at the largest concentration."""
        less = (self.concentration - 1).clamp(min=0)
        mode = less / less.sum(-1, keepdim=True)
        corner = (self.concentration < 1).all(-1, keepdim=True)
        at = self.concentration == self.concentration.amax(-1, keepdim=True)
        return corner._choose(at.to(mode.dtype), mode)

    @property
    def variance(self) -> Tensor:
        """The variance of each number."""
        total = self.concentration.sum(-1, keepdim=True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def entropy(self) -> Tensor:
        a = self.concentration
        k, total = a.shape[-1], a.sum(-1)
        return a.lgamma().sum(-1) - total.lgamma() - (k - total) * digamma(total) - ((a - 1) * digamma(a)).sum(-1)


class Beta(ExponentialFamily):
    """Density proportional to x^(a - 1) (1 - x)^(b - 1) of numbers from 0 to 1.

    >>> norch.distributions.Beta(norch.tensor([1.0]), norch.tensor([3.0])).mean
    tensor([0.2500])
    """

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        super().__init__(self.concentration1.shape, validate_args=validate_args)

    @property
    def _dirichlet(self) -> Dirichlet:
        return Dirichlet(stack([self.concentration1, self.concentration0], -1), validate_args=False)

    mean = property(lambda self: self.concentration1 / (self.concentration1 + self.concentration0))
    mode = property(lambda self: self._dirichlet.mode.select(-1, 0))

    @property
    def variance(self) -> Tensor:
        """The variance."""
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return self._dirichlet.log_prob(stack([value, 1.0 - value], -1))

    def entropy(self) -> Tensor:
        return self._dirichlet.entropy()


class StudentT(Distribution):
    """loc + scale * z / sqrt(chi2(df) / df) for normal numbers z: heavier tails than the normal distribution.

    >>> norch.distributions.StudentT(norch.tensor([4.0])).variance
    tensor([2.])
    """

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        super().__init__(self.df.shape, validate_args=validate_args)

    mode = property(lambda self: self.loc)
    mean = property(lambda self: (self.df > 1)._choose(self.loc, math.nan))

    @property
    def variance(self) -> Tensor:
        """df / (df - 2) for df > 2, infinite for df > 1, else NaN."""
        finite = self.scale.pow(2) * self.df / (self.df - 2)
        return (self.df > 2)._choose(finite, (self.df > 1)._choose(self.df.new_tensor(math.inf), math.nan))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        z = randn(shape, dtype=self.df.dtype, device=self.df.device)
        chi2 = 2 * standard_gamma((self.df / 2).expand(shape))
        return self.loc + self.scale * z * (chi2 / self.df).rsqrt()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        z = (value - self.loc) / self.scale
        norm = self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi)
        norm = norm + (0.5 * self.df).lgamma() - (0.5 * (self.df + 1)).lgamma()
        return -0.5 * (self.df + 1) * (z * z / self.df).log1p() - norm

    def entropy(self) -> Tensor:
        half, above = self.df / 2, (self.df + 1) / 2
        log_beta = half.lgamma() + math.lgamma(0.5) - above.lgamma()
        return self.scale.log() + above * (digamma(above) - digamma(half)) + 0.5 * self.df.log() + log_beta
