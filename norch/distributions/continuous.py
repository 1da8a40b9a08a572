"""Distributions of real numbers: Normal, Uniform, Exponential, Laplace, Gumbel, Cauchy."""

from __future__ import annotations

import math
from typing import Any, Sequence

from ..functions.random import rand, randn
from ..tensor import Tensor
from . import constraints
from .distribution import Distribution, ExponentialFamily
from .utils import EULER, LOG_2PI, broadcast_all, smallest_step


class _LocScale(Distribution):
    """loc + scale * z, for numbers z of a fixed distribution."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    loc: Tensor
    scale: Tensor

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def _z(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return (value - self.loc) / self.scale

    def _uniform(self, sample_shape: Sequence[int]) -> Tensor:
        """In (0, 1), both ends excluded."""
        u = rand(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        return u.clamp(min=smallest_step(u) / 4)


class Normal(_LocScale, ExponentialFamily):
    """The normal distribution of mean `loc` and standard deviation `scale`.

    >>> normal = norch.distributions.Normal(0.0, 1.0)
    >>> normal.log_prob(norch.tensor(0.0))
    tensor(-0.9189)
    """

    mean = mode = property(lambda self: self.loc)
    stddev = property(lambda self: self.scale)
    variance = property(lambda self: self.scale.pow(2))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        noise = randn(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + noise * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        z = self._z(value)
        return -(z * z) / 2 - self.scale.log() - LOG_2PI / 2

    def cdf(self, value: Tensor) -> Tensor:
        return 0.5 * (1 + (self._z(value) / math.sqrt(2)).erf())

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * (2 * value - 1).erfinv() * math.sqrt(2)

    def entropy(self) -> Tensor:
        return 0.5 + 0.5 * LOG_2PI + self.scale.log()


class Laplace(_LocScale):
    """Density exp(-|x - loc| / scale) / (2 scale).

    >>> norch.distributions.Laplace(0.0, 1.0).log_prob(norch.tensor(0.0))
    tensor(-0.6931)
    """

    mean = mode = property(lambda self: self.loc)
    variance = property(lambda self: 2 * self.scale.pow(2))
    stddev = property(lambda self: math.sqrt(2) * self.scale)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        u = self._uniform(sample_shape) - 0.5
        return self.loc - self.scale * u.sign() * (-2 * u.abs()).log1p()

    def log_prob(self, value: Tensor) -> Tensor:
        return -(2 * self.scale).log() - self._z(value).abs()

    def cdf(self, value: Tensor) -> Tensor:
        z = self._z(value)
        return 0.5 - 0.5 * z.sign() * (-z.abs()).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        term = value - 0.5
        return self.loc - self.scale * term.sign() * (-2 * term.abs()).log1p()

    def entropy(self) -> Tensor:
        return 1 + (2 * self.scale).log()


class Cauchy(_LocScale):
    """Density 1 / (pi scale (1 + z^2)), z = (x - loc) / scale. It has no mean.

    >>> norch.distributions.Cauchy(0.0, 1.0).cdf(norch.tensor(0.0))
    tensor(0.5000)
    """

    mode = property(lambda self: self.loc)
    mean = property(lambda self: self.loc.new_full(self.loc.shape, math.nan))
    variance = property(lambda self: self.loc.new_full(self.loc.shape, math.inf))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.icdf(self._uniform(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        z = self._z(value)
        return -math.log(math.pi) - self.scale.log() - (z * z).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        return self._z(value).atan() / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + self.scale.log()


class Gumbel(_LocScale):
    """The distribution of the largest of many numbers: cdf exp(-exp(-z)), z = (x - loc) / scale.

    >>> norch.distributions.Gumbel(0.0, 1.0).log_prob(norch.tensor(0.0))
    tensor(-1.)
    """

    mode = property(lambda self: self.loc)
    mean = property(lambda self: self.loc + self.scale * EULER)
    stddev = property(lambda self: math.pi / math.sqrt(6) * self.scale)
    variance = property(lambda self: self.stddev.pow(2))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.icdf(self._uniform(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        z = self._z(value)
        return -z - (-z).exp() - self.scale.log()

    def cdf(self, value: Tensor) -> Tensor:
        return (-(-self._z(value)).exp()).exp()

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc - self.scale * (-value.log()).log()

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + EULER)


class Uniform(Distribution):
    """Every number in [low, high) alike.

    >>> norch.distributions.Uniform(0.0, 4.0).log_prob(norch.tensor(1.0))
    tensor(-1.3863)
    """

    arg_constraints = {"low": constraints.dependent, "high": constraints.dependent}
    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.shape, validate_args=validate_args)
        if self._validate_args and not bool((self.low < self.high).all()):
            raise ValueError("Uniform is not defined when low>= high")

    @property
    def support(self) -> constraints.Constraint:
        """[low, high]."""
        return constraints.interval(self.low, self.high)

    mean = property(lambda self: (self.high + self.low) / 2)
    mode = property(lambda self: self.high * math.nan)
    variance = property(lambda self: (self.high - self.low).pow(2) / 12)
    stddev = property(lambda self: (self.high - self.low) / math.sqrt(12))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        u = rand(self._extended_shape(sample_shape), dtype=self.low.dtype, device=self.low.device)
        return self.low + u * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        inside = (self.low <= value) & (self.high > value)
        return inside.to(self.low.dtype).log() - (self.high - self.low).log()

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Tensor) -> Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        return (self.high - self.low).log()


class GeneralizedPareto(Distribution):
    """The tail of a distribution from `loc` on, of width `scale`; heavy if `concentration` is above 0, ending below 0.

    >>> norch.distributions.GeneralizedPareto(0.0, 1.0, 0.0).cdf(norch.tensor(1.0))
    tensor(0.6321)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @constraints.dependent_property
    def support(self) -> Any:
        """The values from `loc` to the end."""
        end = self.loc - self.scale / self.concentration
        return constraints.interval(self.loc, (self.concentration < 0)._choose(end, math.inf))

    mode = property(lambda self: self.loc)

    @property
    def mean(self) -> Tensor:
        """The mean; NaN for a concentration of 1 or more."""
        c = self.concentration
        return (c < 1)._choose(self.loc + self.scale / (1 - (c < 1)._choose(c, 0.5)), math.nan)

    @property
    def variance(self) -> Tensor:
        """The variance; NaN for a concentration of 1/2 or more."""
        c = (self.concentration < 0.5)._choose(self.concentration, 0.25)
        variance = self.scale.pow(2) / ((1 - c).pow(2) * (1 - 2 * c))
        return (self.concentration < 0.5)._choose(variance, math.nan)

    def _concentration(self) -> tuple[Tensor, Tensor]:
        """Where it is 0, and 1 in these places."""
        zero = self.concentration.isclose(self.concentration.zeros_like())
        return zero, zero._choose(1.0, self.concentration)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.icdf(rand(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        zero, c = self._concentration()
        z = (value - self.loc) / self.scale
        y = 1 / c + 1
        return -self.scale.log() - zero._choose(z, (y == 0)._choose(0.0, y * (c * z).log1p()))

    def log_survival_function(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of more than a value."""
        self._check_value(value)
        zero, c = self._concentration()
        z = (value - self.loc) / self.scale
        return zero._choose(-z, -(c * z).log1p() / c)

    def log_cdf(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of at most a value."""
        return (-self.log_survival_function(value).exp()).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        return self.log_cdf(value).exp()

    def icdf(self, value: Tensor) -> Tensor:
        zero, c = self._concentration()
        log = (-value).log1p()
        return zero._choose(self.loc - self.scale * log, self.loc + self.scale / c * (-c * log).expm1())

    def entropy(self) -> Tensor:
        return self.scale.log() + self.concentration + 1


class Exponential(ExponentialFamily):
    """The time to the next of events that come at a rate: density rate exp(-rate x).

    >>> norch.distributions.Exponential(2.0).mean
    tensor(0.5000)
    """

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    mean = stddev = property(lambda self: self.rate.reciprocal())
    mode = property(lambda self: self.rate.zeros_like())
    variance = property(lambda self: self.rate.pow(-2))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        u = rand(self._extended_shape(sample_shape), dtype=self.rate.dtype, device=self.rate.device)
        return -(-u).log1p() / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return 1 - (-self.rate * value).exp()

    def icdf(self, value: Tensor) -> Tensor:
        return -(-value).log1p() / self.rate

    def entropy(self) -> Tensor:
        return 1 - self.rate.log()
