"""Probability distributions: draws, densities, moments, divergences, under PyTorch's names.

>>> normal = norch.distributions.Normal(norch.zeros(2), norch.ones(2))
>>> normal.log_prob(norch.zeros(2))
tensor([-0.9189, -0.9189])
"""

from typing import TYPE_CHECKING

from . import constraint_registry, constraints, kl, kl_mixed, transforms, utils
from .circular import VonMises
from .composed import (
    Independent,
    LogisticNormal,
    LogNormal,
    MixtureSameFamily,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
    TransformedDistribution,
)
from .constraint_registry import biject_to, transform_to
from .continuous import Cauchy, Exponential, GeneralizedPareto, Gumbel, Laplace, Normal, Uniform
from .discrete import (
    Bernoulli,
    Binomial,
    Categorical,
    Geometric,
    Multinomial,
    NegativeBinomial,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
    Poisson,
)
from .distribution import Distribution, ExponentialFamily
from .gamma import Beta, Chi2, Dirichlet, Gamma, StudentT
from .kl import kl_divergence, register_kl
from .matrices import LKJCholesky, Wishart
from .multivariate_normal import LowRankMultivariateNormal, MultivariateNormal
from .positive import (
    ContinuousBernoulli,
    FisherSnedecor,
    HalfCauchy,
    HalfNormal,
    InverseGamma,
    Kumaraswamy,
    Pareto,
    Weibull,
)
from .transforms import (
    AbsTransform,
    AffineTransform,
    CatTransform,
    ComposeTransform,
    CorrCholeskyTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    PowerTransform,
    ReshapeTransform,
    SigmoidTransform,
    SoftmaxTransform,
    SoftplusTransform,
    StackTransform,
    StickBreakingTransform,
    TanhTransform,
    Transform,
    identity_transform,
)

__all__ = [
    "AbsTransform", "AffineTransform", "Bernoulli", "Beta", "Binomial", "CatTransform", "Categorical", "Cauchy",
    "Chi2", "ComposeTransform", "ContinuousBernoulli", "CorrCholeskyTransform", "CumulativeDistributionTransform",
    "Dirichlet", "Distribution", "ExpTransform", "Exponential", "ExponentialFamily", "FisherSnedecor", "Gamma",
    "GeneralizedPareto", "Geometric", "Gumbel", "HalfCauchy", "HalfNormal", "Independent", "IndependentTransform",
    "InverseGamma", "Kumaraswamy", "LKJCholesky", "Laplace", "LogNormal", "LogisticNormal",
    "LowRankMultivariateNormal", "LowerCholeskyTransform", "MixtureSameFamily", "Multinomial", "MultivariateNormal",
    "NegativeBinomial", "Normal", "OneHotCategorical", "OneHotCategoricalStraightThrough", "Pareto", "Poisson",
    "PositiveDefiniteTransform", "PowerTransform", "RelaxedBernoulli", "RelaxedOneHotCategorical",
    "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform", "SoftplusTransform", "StackTransform",
    "StickBreakingTransform", "StudentT", "TanhTransform", "Transform", "TransformedDistribution", "Uniform",
    "VonMises", "Weibull", "Wishart", "biject_to", "constraint_registry", "constraints", "identity_transform", "kl",
    "kl_divergence", "register_kl", "transform_to", "transforms", "utils",
]  # fmt: skip

if not TYPE_CHECKING:  # (a checker knows what is missing)
    from ..missing import missing as _missing

    __getattr__ = _missing("distributions")
