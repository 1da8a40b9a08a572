"""The Kullback-Leibler divergence: one formula for each pair of kinds, found by the classes of the pair."""

from __future__ import annotations

import math
from typing import Any, Callable

from ..linalg import solve_triangular
from ..tensor import Tensor
from ..types import shown
from .composed import Independent, LogNormal
from .continuous import Cauchy, Exponential, Laplace, Normal, Uniform
from .discrete import Bernoulli, Categorical, Geometric, OneHotCategorical, Poisson
from .gamma import Beta, Dirichlet, Gamma
from .matrices import Wishart
from .multivariate_normal import MultivariateNormal, _batch_mahalanobis
from .positive import HalfCauchy, HalfNormal
from .utils import digamma, softplus, sum_rightmost

Formula = Callable[[Any, Any], Tensor]
_FORMULAS: dict[tuple[type, type], Formula] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Formula], Formula]:
    """A decorator: the function computes kl_divergence(p, q) for these classes, and their subclasses.

    Raises TypeError for what is no class.

    >>> d = norch.distributions
    >>> @d.register_kl(d.Exponential, d.Uniform)
    ... def kl_exponential_uniform(p, q):
    ...     return p.mean * float("inf")
    >>> d.kl_divergence(d.Exponential(1.0), d.Uniform(0.0, 1.0))
    tensor(inf)
    """
    for kind in (type_p, type_q):
        if not isinstance(kind, type):
            raise TypeError(f"register_kl: expected a class of distributions, got {shown(kind)}")

    def decorate(function: Formula) -> Formula:
        _FORMULAS[type_p, type_q] = function
        return function

    return decorate


def kl_divergence(p: Any, q: Any) -> Tensor:
    """The mean of log p(x) - log q(x) over draws x of p. Raises NotImplementedError for a pair without a formula.

    >>> d = norch.distributions
    >>> d.kl_divergence(d.Normal(0.0, 1.0), d.Normal(1.0, 1.0))
    tensor(0.5000)
    """
    for first in type(p).__mro__:
        for second in type(q).__mro__:
            if (first, second) in _FORMULAS:
                return _FORMULAS[first, second](p, q)
    raise NotImplementedError(
        f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
    )


@register_kl(Normal, Normal)
def _normal(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(HalfCauchy, HalfCauchy)
@register_kl(HalfNormal, HalfNormal)
def _halves(p: Any, q: Any) -> Tensor:
    return kl_divergence(p._both_sides, q._both_sides)


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Cauchy, q: Cauchy) -> Tensor:
    return (((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)) / (4 * p.scale * q.scale)).log()


@register_kl(LogNormal, LogNormal)
def _log_normal(p: LogNormal, q: LogNormal) -> Tensor:
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    t1 = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    t2 = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    sure = (q.probs == 0)._choose((p.probs > 0)._choose(math.inf, t1), t1)
    unsure = (q.probs == 1)._choose((p.probs < 1)._choose(math.inf, t2), t2)
    return (p.probs == 0)._choose(0.0, sure) + (p.probs == 1)._choose(0.0, unsure)


@register_kl(Categorical, Categorical)
def _categorical(p: Categorical, q: Categorical) -> Tensor:
    t = p.probs * (p.logits - q.logits)
    t = (q.probs == 0).expand(t.shape)._choose(math.inf, t)
    return (p.probs == 0).expand(t.shape)._choose(0.0, t).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: OneHotCategorical, q: OneHotCategorical) -> Tensor:
    return kl_divergence(p._categorical, q._categorical)


@register_kl(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Tensor:
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return ((q.low > p.low) | (q.high < p.high))._choose(math.inf, result)


@register_kl(Exponential, Exponential)
def _exponential(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@register_kl(Laplace, Laplace)
def _laplace(p: Laplace, q: Laplace) -> Tensor:
    ratio, apart = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + apart / q.scale + ratio * (-apart / p.scale).exp() - 1


@register_kl(Gamma, Gamma)
def _gamma(p: Gamma, q: Gamma) -> Tensor:
    t = q.concentration * (p.rate / q.rate).log() + q.concentration.lgamma() - p.concentration.lgamma()
    t = t + (p.concentration - q.concentration) * digamma(p.concentration)
    return t + (q.rate - p.rate) * (p.concentration / p.rate)


@register_kl(Beta, Beta)
def _beta(p: Beta, q: Beta) -> Tensor:
    return kl_divergence(p._dirichlet, q._dirichlet)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    total_p, total_q = p.concentration.sum(-1), q.concentration.sum(-1)
    t = total_p.lgamma() - total_q.lgamma() - (p.concentration.lgamma() - q.concentration.lgamma()).sum(-1)
    apart = digamma(p.concentration) - digamma(total_p).unsqueeze(-1)
    return t + ((p.concentration - q.concentration) * apart).sum(-1)


@register_kl(Geometric, Geometric)
def _geometric(p: Geometric, q: Geometric) -> Tensor:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(Poisson, Poisson)
def _poisson(p: Poisson, q: Poisson) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p: MultivariateNormal, q: MultivariateNormal) -> Tensor:
    trace = solve_triangular(q.scale_tril, p.scale_tril, upper=False).pow(2).sum((-1, -2))
    distance = _batch_mahalanobis(q.scale_tril, q.loc - p.loc)
    return q._half_log_det - p._half_log_det + 0.5 * (trace + distance - p.event_shape[0])


@register_kl(Wishart, Wishart)
def _wishart(p: Wishart, q: Wishart) -> Tensor:
    n = p.event_shape[0]
    scale = q.df * (q._half_log_det - p._half_log_det)
    trace = p.df / 2 * (solve_triangular(q.scale_tril, p.scale_tril, upper=False).pow(2).sum((-1, -2)) - n)
    return scale + trace + (q.df / 2).mvlgamma(n) - (p.df / 2).mvlgamma(n) + (p.df - q.df) / 2 * p._slope_of_mvlgamma


@register_kl(Independent, Independent)
def _independent(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("KL of Independents needs the same reinterpreted_batch_ndims")
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
