"""The Kullback-Leibler divergence of two kinds: KL(p || q) = -H(p) - E[log q(x)], with x of p.

The second kind says of which means of p its log q(x) needs: x, x^2, log(x) or exp(-x / scale).
"""

from __future__ import annotations

import math
from typing import Any, Callable

from ..tensor import Tensor
from .composed import TransformedDistribution
from .continuous import Exponential, Gumbel, Laplace, Normal, Uniform
from .discrete import Bernoulli, Binomial, Poisson
from .gamma import Beta, Gamma
from .kl import kl_divergence, register_kl
from .positive import ContinuousBernoulli, Pareto
from .utils import EULER, LOG_2PI, digamma

__all__: list[str] = []

_REAL = (Normal, Laplace, Gumbel)  # those that reach every number
_POSITIVE = (Exponential, Gamma)
_SHARE = (Beta, ContinuousBernoulli)  # in [0, 1]


def _register(firsts: Any, second: type, formula: Callable[[Any, Any], Tensor]) -> None:
    for first in firsts:
        register_kl(first, second)(formula)


def _outside(p: Any, q: Any) -> Tensor:
    """Infinite, where p reaches what q does not."""
    return (p.mean + q.mean).zeros_like() + math.inf


for _second in (Beta, ContinuousBernoulli, Pareto, Uniform):
    _register([*_REAL, *_POSITIVE], _second, _outside)
_register(_REAL, Exponential, _outside)
_register(_REAL, Gamma, _outside)
for _second in (Beta, ContinuousBernoulli, Uniform):
    _register([Pareto], _second, _outside)
_register(_SHARE, Pareto, _outside)
_register([Poisson], Bernoulli, _outside)
_register([Poisson], Binomial, _outside)


def _to_normal(p: Any, q: Normal) -> Tensor:
    variance = q.scale.pow(2)
    return -p.entropy() + 0.5 * (LOG_2PI + variance.log() + (p.variance + (p.mean - q.loc).pow(2)) / variance)


_register([*_POSITIVE, *_SHARE, Gumbel, Laplace, Pareto, Uniform], Normal, _to_normal)


def _to_exponential(p: Any, q: Exponential) -> Tensor:
    return -p.entropy() - q.rate.log() + q.rate * p.mean


_register([*_SHARE, Gamma, Pareto], Exponential, _to_exponential)


@register_kl(Uniform, Exponential)
def _uniform_exponential(p: Uniform, q: Exponential) -> Tensor:
    return (p.low < 0)._choose(math.inf, _to_exponential(p, q))


def _mean_log(p: Any) -> Tensor:
    """The mean of log(x)."""
    if isinstance(p, Beta):
        return digamma(p.concentration1) - digamma(p.concentration1 + p.concentration0)
    if isinstance(p, Exponential):
        return -EULER - p.rate.log()
    if isinstance(p, Pareto):
        return p.scale.log() + p.alpha.reciprocal()
    ends = p.high.xlogy(p.high) - p.low.xlogy(p.low)
    return ends / (p.high - p.low) - 1


def _to_gamma(p: Any, q: Gamma) -> Tensor:
    constant = q.concentration.lgamma() - q.concentration * q.rate.log()
    result = -p.entropy() + constant - (q.concentration - 1) * _mean_log(p) + q.rate * p.mean
    return (p.low < 0)._choose(math.inf, result) if isinstance(p, Uniform) else result


_register([Beta, Exponential, Pareto, Uniform], Gamma, _to_gamma)


def _mean_exp(p: Any, q: Gumbel) -> Tensor:
    """The mean of exp((q.loc - x) / q.scale), whose terms are added before exp(), which may be too large of each."""
    if isinstance(p, (Exponential, Gamma)):
        concentration = p.concentration if isinstance(p, Gamma) else 1
        return (q.loc / q.scale - concentration * (p.rate * q.scale).reciprocal().log1p()).exp()
    if isinstance(p, Uniform):
        return q.scale / (p.high - p.low) * (((q.loc - p.low) / q.scale).exp() - ((q.loc - p.high) / q.scale).exp())
    return ((q.loc - p.loc) / q.scale + 0.5 * (p.scale / q.scale).pow(2)).exp()


def _to_gumbel(p: Any, q: Gumbel) -> Tensor:
    return -p.entropy() + q.scale.log() + (p.mean - q.loc) / q.scale + _mean_exp(p, q)


_register([*_POSITIVE, Normal, Uniform], Gumbel, _to_gumbel)


@register_kl(Gumbel, Gumbel)
def _gumbel_gumbel(p: Gumbel, q: Gumbel) -> Tensor:
    ratio, apart = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return apart - ratio.log() + EULER * (ratio - 1) + ((1 + ratio).lgamma() - apart).expm1()


@register_kl(Normal, Laplace)
def _normal_laplace(p: Normal, q: Laplace) -> Tensor:
    apart = p.loc - q.loc
    steps = apart / p.scale
    mean = math.sqrt(2 / math.pi) * p.scale * (-0.5 * steps.pow(2)).exp() + apart * (math.sqrt(0.5) * steps).erf()
    return -p.entropy() + (2 * q.scale).log() + mean / q.scale  # mean: of |x - q.loc|


def _share_uniform(p: Any, q: Uniform) -> Tensor:
    result = -p.entropy() + (q.high - q.low).log()
    return ((q.low > 0) | (q.high < 1))._choose(math.inf, result)


_register(_SHARE, Uniform, _share_uniform)


@register_kl(Uniform, Beta)
def _uniform_beta(p: Uniform, q: Beta) -> Tensor:
    total, a, b = q.concentration1 + q.concentration0, q.concentration1, q.concentration0
    rest = Uniform(1 - p.high, 1 - p.low, validate_args=False)  # 1 - x
    result = a.lgamma() + b.lgamma() - total.lgamma() - p.entropy() - (a - 1) * _mean_log(p) - (b - 1) * _mean_log(rest)
    return ((p.low < 0) | (p.high > 1))._choose(math.inf, result)


@register_kl(Uniform, Pareto)
def _uniform_pareto(p: Uniform, q: Pareto) -> Tensor:
    result = -p.entropy() - q.alpha.log() - q.alpha * q.scale.log() + (q.alpha + 1) * _mean_log(p)
    return (p.low < q.scale)._choose(math.inf, result)


def _to_continuous_bernoulli(p: Any, q: ContinuousBernoulli) -> Tensor:
    return -p.entropy() - p.mean * q.logits - (-q.probs).log1p() - q._log_norm()


_register(_SHARE, ContinuousBernoulli, _to_continuous_bernoulli)


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_continuous_bernoulli(p: Uniform, q: ContinuousBernoulli) -> Tensor:
    return ((p.low < 0) | (p.high > 1))._choose(math.inf, _to_continuous_bernoulli(p, q))


@register_kl(Pareto, Pareto)
def _pareto(p: Pareto, q: Pareto) -> Tensor:
    ratio = q.alpha / p.alpha
    result = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return (p.scale < q.scale)._choose(math.inf, result)


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Bernoulli, q: Poisson) -> Tensor:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Binomial, Binomial)
def _binomial(p: Binomial, q: Binomial) -> Tensor:
    if bool((p.total_count < q.total_count).any()):
        raise NotImplementedError("No KL(p || q) is implemented for a Binomial p of fewer trials than q")
    rows = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return (p.total_count > q.total_count)._choose(math.inf, p.total_count * rows)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: TransformedDistribution, q: TransformedDistribution) -> Tensor:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("No KL(p || q) is implemented for p and q of different transforms or event shapes")
    return kl_divergence(p.base_dist, q.base_dist)
