"""Distributions of positive numbers, and of numbers from 0 to 1, that are functions of simpler ones."""

from __future__ import annotations

import math
from typing import Any, Sequence

from ..functions.random import rand
from ..tensor import Tensor
from . import constraints
from .composed import TransformedDistribution
from .continuous import Cauchy, Exponential, Normal, Uniform
from .discrete import _one_given
from .distribution import Distribution, ExponentialFamily
from .gamma import Gamma
from .transforms import AffineTransform, ExpTransform, PowerTransform
from .utils import EULER, as_value, broadcast_all, clamp_probs, smallest_step, softplus


class _Half(Distribution):
    """|x| for x of a distribution that is symmetric about 0."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _kind: type[Cauchy] | type[Normal]

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        (self.scale,) = broadcast_all(scale)
        super().__init__(self.scale.shape, validate_args=validate_args)

    @property
    def _both_sides(self) -> Any:
        return self._kind(0.0, self.scale, validate_args=False)

    base_dist = property(lambda self: self._both_sides, doc="The distribution of x.")
    mode = property(lambda self: self.scale.zeros_like())

    def _converted(self, value: Any) -> Tensor:
        """A value in the dtype in which its density is computed."""
        return value

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._both_sides.rsample(sample_shape).abs()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        value = self._converted(value)
        return (value >= 0)._choose(self._both_sides.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return 2 * self._both_sides.cdf(value) - 1

    def icdf(self, value: Tensor) -> Tensor:
        return self._both_sides.icdf((value + 1) / 2)

    def entropy(self) -> Tensor:
        return self._both_sides.entropy() - math.log(2)


class HalfNormal(_Half):
    """|x| for normal x of mean 0 and standard deviation `scale`.

    >>> norch.distributions.HalfNormal(1.0).mean
    tensor(0.7979)
    """

    _kind = Normal
    mean = property(lambda self: self.scale * math.sqrt(2 / math.pi))
    variance = property(lambda self: self.scale.pow(2) * (1 - 2 / math.pi))


class HalfCauchy(_Half):
    """|x| for x of a Cauchy distribution around 0.

    >>> norch.distributions.HalfCauchy(1.0).log_prob(norch.tensor(0.0))
    tensor(-0.4516)
    """

    _kind = Cauchy

    def _converted(self, value: Any) -> Tensor:
        return as_value(value, self.scale)

    mean = variance = property(lambda self: self.scale.new_full(self.scale.shape, math.inf))


class Pareto(TransformedDistribution):
    """Density alpha scale^alpha / x^(alpha + 1) of numbers x above scale.

    >>> norch.distributions.Pareto(norch.tensor(1.0), norch.tensor(3.0)).mean
    tensor(1.5000)
    """

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        transforms = [ExpTransform(), AffineTransform(0.0, self.scale)]
        super().__init__(Exponential(self.alpha, validate_args=validate_args), transforms, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Pareto:
        return self._made_anew(Pareto, _instance, self.scale.expand(batch_shape), self.alpha.expand(batch_shape))

    mode = property(lambda self: self.scale)
    support = property(lambda self: constraints.greater_than_eq(self.scale))

    @property
    def mean(self) -> Tensor:
        """alpha scale / (alpha - 1), infinite for alpha up to 1."""
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def variance(self) -> Tensor:
        """Infinite for alpha up to 2."""
        a = self.alpha.clamp(min=2)
        return self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))

    def entropy(self) -> Tensor:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class Weibull(TransformedDistribution):
    """scale x^(1 / concentration) for x of Exponential(1): times until a failure.

    >>> norch.distributions.Weibull(norch.tensor([1.0]), norch.tensor([1.0])).mean
    tensor([1.])
    """

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        transforms = [PowerTransform(self.concentration.reciprocal()), AffineTransform(0.0, self.scale)]
        base = Exponential(self.scale.detach().ones_like(), validate_args=validate_args)
        super().__init__(base, transforms, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Weibull:
        expanded = self.scale.expand(batch_shape), self.concentration.expand(batch_shape)
        return self._made_anew(Weibull, _instance, *expanded)

    mean = property(lambda self: self.scale * (1 + self.concentration.reciprocal()).lgamma().exp())

    @property
    def mode(self) -> Tensor:
        """The most likely number, 0 for a concentration up to 1."""
        c = self.concentration
        return self.scale * ((c - 1).clamp(min=0) / c) ** c.reciprocal()

    @property
    def variance(self) -> Tensor:
        """The variance."""
        c = self.concentration.reciprocal()
        return self.scale.pow(2) * ((1 + 2 * c).lgamma().exp() - (2 * (1 + c).lgamma()).exp())

    def entropy(self) -> Tensor:
        c = self.concentration.reciprocal()
        return EULER * (1 - c) + (self.scale * c).log() + 1


class Kumaraswamy(TransformedDistribution):
    """Like Beta, of numbers from 0 to 1, with the cdf 1 - (1 - x^a)^b, a and b the concentrations.

    >>> norch.distributions.Kumaraswamy(norch.tensor([1.0]), norch.tensor([1.0])).mean
    tensor([0.5000])
    """

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        zeros = self.concentration0.detach().zeros_like()
        base = Uniform(zeros, zeros + 1, validate_args=validate_args)
        powers = self.concentration0.reciprocal(), self.concentration1.reciprocal()
        transforms = [PowerTransform(powers[0]), AffineTransform(1.0, -1.0), PowerTransform(powers[1])]
        super().__init__(base, transforms, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Kumaraswamy:
        expanded = self.concentration1.expand(batch_shape), self.concentration0.expand(batch_shape)
        return self._made_anew(Kumaraswamy, _instance, *expanded)

    def _moment(self, n: int) -> Tensor:
        a, b = self.concentration1, self.concentration0
        first = 1 + n / a
        return (first.lgamma() + b.log() + b.lgamma() - (first + b).lgamma()).exp()

    mean = property(lambda self: self._moment(1))
    variance = property(lambda self: self._moment(2) - self._moment(1).pow(2))

    @property
    def mode(self) -> Tensor:
        """The most likely number, NaN where there is none inside."""
        a, b = self.concentration1, self.concentration0
        outside = (a < 1) | (b < 1) | (a * b == 1)
        a, b = outside._choose(2.0, a), outside._choose(2.0, b)
        return outside._choose(math.nan, ((a - 1) / (a * b - 1)) ** a.reciprocal())

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        harmonic = (b + 1).digamma() + EULER
        return (1 - a.reciprocal()) * harmonic + (1 - b.reciprocal()) - a.log() - b.log()


class InverseGamma(TransformedDistribution):
    """1 / x for x of Gamma(concentration, rate).

    >>> norch.distributions.InverseGamma(norch.tensor([3.0]), norch.tensor([4.0])).mean
    tensor([2.])
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args=validate_args)

    concentration = property(lambda self: self.base_dist.concentration, doc="The concentration of 1 / x.")
    rate = property(lambda self: self.base_dist.rate, doc="The rate of 1 / x.")
    mode = property(lambda self: self.rate / (self.concentration + 1))

    @property
    def mean(self) -> Tensor:
        """rate / (concentration - 1), infinite for a concentration up to 1."""
        return (self.concentration > 1)._choose(self.rate / (self.concentration - 1), math.inf)

    @property
    def variance(self) -> Tensor:
        """Infinite for a concentration up to 2."""
        a = self.concentration
        return (a > 2)._choose(self.rate.square() / ((a - 1).square() * (a - 2)), math.inf)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()


class FisherSnedecor(Distribution):
    """(x / df1) / (y / df2) for independent x of Chi2(df1) and y of Chi2(df2).

    >>> norch.distributions.FisherSnedecor(norch.tensor([1.0]), norch.tensor([4.0])).mean
    tensor([2.])
    """

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        super().__init__(self.df1.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """df2 / (df2 - 2), NaN for df2 up to 2."""
        return (self.df2 > 2)._choose(self.df2 / (self.df2 - 2), math.nan)

    @property
    def mode(self) -> Tensor:
        """The most likely number, NaN for df1 up to 2."""
        found = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return (self.df1 > 2)._choose(found, math.nan)

    @property
    def variance(self) -> Tensor:
        """NaN for df2 up to 4."""
        a, b = self.df1, self.df2
        found = 2 * b.pow(2) * (a + b - 2) / (a * (b - 2).pow(2) * (b - 4))
        return (b > 4)._choose(found, math.nan)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        first, second = (Gamma(df * 0.5, df * 0.5, False).rsample(sample_shape) for df in (self.df1, self.df2))
        return first / second.clamp(min=1.1754943508222875e-38)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        half1, half2, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        shape = (half1 + half2).lgamma() - half1.lgamma() - half2.lgamma()
        powers = half1 * ratio.log() + (half1 - 1) * value.log()
        return shape + powers - (half1 + half2) * (ratio * value).log1p()


# The Bernoulli numbers B_2, B_4, ... over (2k)!: coth(x / 2) / 2 - 1 / x is the sum of these times x ** (2k - 1)
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)
_COTH = [number / math.factorial(2 * k) for k, number in enumerate(_BERNOULLI, 1)]
_COTH_SLOPE = [(2 * k - 1) * factor for k, factor in enumerate(_COTH, 1)]
_LOG_COTH = [math.log(2)] + [(4**k - 2) * factor / (2 * k) for k, factor in enumerate(_COTH, 1)]  # log(x / tanh(x / 2))


def _series(square: Tensor, factors: Sequence[float]) -> Tensor:
    """The sum of the factors times the powers of a square, from power 0 on."""
    total = square.zeros_like()
    for factor in reversed(factors):
        total = total * square + factor
    return total


class ContinuousBernoulli(ExponentialFamily):
    """Density proportional to p^x (1 - p)^(1 - x) of numbers x from 0 to 1: pixels between black and white.

    Between the `lims` around p = 1/2 it draws, and has the `cdf`, of a uniform distribution.

    >>> norch.distributions.ContinuousBernoulli(norch.tensor([0.5])).mean
    tensor([0.5000])
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        (given,) = broadcast_all(_one_given(probs, logits)[1])
        self.probs = clamp_probs(given.sigmoid() if probs is None else given)
        self.logits = given if probs is None else self.probs.log() - (-self.probs).log1p()
        self._lims = lims
        super().__init__(given.shape, validate_args=validate_args)

    @property
    def _rate(self) -> Tensor:
        """r of the density, proportional to exp(r x)."""
        step = smallest_step(self.logits)
        return self.logits.clamp(math.log(step) - math.log1p(-step), math.log1p(-step) - math.log(step))

    def _near_and_far(self) -> tuple[Tensor, Tensor, Tensor]:
        """Where the rate is near 0, for which the formulas subtract alike numbers; it there, and elsewhere."""
        near = self._rate.abs() < 0.5
        return near, near._choose(self._rate, 0.0), near._choose(1.0, self._rate)

    def _outside(self) -> tuple[Tensor, Tensor]:
        """Where p is outside of the lims, and the rate there."""
        outside = (self.probs <= self._lims[0]) | (self.probs > self._lims[1])
        return outside, outside._choose(self._rate, 1.0)

    def _log_norm(self) -> Tensor:
        near, small, rate = self._near_and_far()
        return near._choose(_series(small.pow(2), _LOG_COTH), (rate / (rate / 2).tanh()).log())

    @property
    def mean(self) -> Tensor:
        """The mean."""
        near, small, rate = self._near_and_far()
        return 0.5 + near._choose(small * _series(small.pow(2), _COTH), 0.5 / (rate / 2).tanh() - 1 / rate)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        near, small, rate = self._near_and_far()
        return near._choose(_series(small.pow(2), _COTH_SLOPE), rate.pow(-2) - (2 * (rate / 2).sinh()).pow(-2))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return value * self.logits - softplus(self.logits) + self._log_norm()

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        outside, rate = self._outside()
        inside = outside._choose((rate * value).expm1() / rate.expm1(), value)
        return (value <= 0)._choose(0.0, (value >= 1)._choose(1.0, inside))

    def icdf(self, value: Tensor) -> Tensor:
        outside, rate = self._outside()
        return outside._choose((value * rate.expm1()).log1p() / rate, value)

    def entropy(self) -> Tensor:
        return softplus(self._rate) - self._rate * self.mean - self._log_norm()
