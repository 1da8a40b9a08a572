"""Probability distributions: draws, densities, moments, divergences, under PyTorch's names.

>>> normal = norch.distributions.Normal(norch.zeros(2), norch.ones(2))
>>> normal.log_prob(norch.zeros(2))
tensor([-0.9189, -0.9189])
"""

from typing import TYPE_CHECKING

from . import constraints, kl, transforms, utils
from .composed import (
    HalfNormal,
    Independent,
    LogNormal,
    MixtureSameFamily,
    RelaxedBernoulli,
    TransformedDistribution,
)
from .continuous import Cauchy, Exponential, Gumbel, Laplace, Normal, Uniform
from .discrete import (
    Bernoulli,
    Binomial,
    Categorical,
    Geometric,
    Multinomial,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
    Poisson,
)
from .distribution import Distribution
from .gamma import Beta, Chi2, Dirichlet, Gamma, StudentT
from .kl import kl_divergence, register_kl
from .multivariate_normal import MultivariateNormal
from .transforms import (
    AbsTransform,
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    SoftplusTransform,
    TanhTransform,
    Transform,
    identity_transform,
)

__all__ = [
    "AbsTransform", "AffineTransform", "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2",
    "ComposeTransform", "Dirichlet", "Distribution", "ExpTransform", "Exponential", "Gamma", "Geometric", "Gumbel",
    "HalfNormal", "Independent", "Laplace", "LogNormal", "MixtureSameFamily", "Multinomial", "MultivariateNormal",
    "Normal", "OneHotCategorical", "OneHotCategoricalStraightThrough", "Poisson", "PowerTransform", "RelaxedBernoulli",
    "SigmoidTransform", "SoftplusTransform", "StudentT", "TanhTransform", "Transform", "TransformedDistribution",
    "Uniform", "constraints", "identity_transform", "kl", "kl_divergence", "register_kl", "transforms", "utils",
]  # fmt: skip

if not TYPE_CHECKING:  # (a checker knows what is missing)
    from ..missing import missing as _missing

    __getattr__ = _missing("distributions")
