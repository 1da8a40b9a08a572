"""Paths at which PyTorch has what norch has in the package above: `from norch.distributions.beta import Beta`.

A module of these names is made when it is imported, from the names of its package.
"""

from __future__ import annotations

import importlib
import re
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

# The distributions whose paths are their names: HalfNormal is in half_normal.
_DISTRIBUTIONS = (
    "Bernoulli Beta Binomial Categorical Cauchy Chi2 ContinuousBernoulli Dirichlet Exponential Geometric Gumbel "
    "HalfCauchy HalfNormal Independent InverseGamma Kumaraswamy Laplace LogNormal LogisticNormal "
    "MixtureSameFamily Multinomial NegativeBinomial Normal Pareto Poisson RelaxedBernoulli "
    "TransformedDistribution Uniform VonMises Weibull Wishart"
)

_TABLE = {
    "_dynamo": {"eval_frame": "OptimizedModule"},
    "distributions": {
        **{re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower(): name for name in _DISTRIBUTIONS.split()},
        "exp_family": "ExponentialFamily",
        "fishersnedecor": "FisherSnedecor",
        "generalized_pareto": "GeneralizedPareto",
        "lkj_cholesky": "LKJCholesky",
        "lowrank_multivariate_normal": "LowRankMultivariateNormal",
        "one_hot_categorical": "OneHotCategorical OneHotCategoricalStraightThrough",
        "relaxed_categorical": "RelaxedOneHotCategorical",
        "studentT": "StudentT",
    },
    "nn.modules": {
        "adaptive": "AdaptiveLogSoftmaxWithLoss",
        "channelshuffle": "ChannelShuffle",
        "pixelshuffle": "PixelShuffle PixelUnshuffle",
    },
    "nn.parallel": {"scatter_gather": "gather scatter scatter_kwargs"},
    "amp": {"autocast_mode": "autocast custom_bwd custom_fwd"},
    "cuda": {
        "memory": "empty_cache max_memory_allocated max_memory_reserved memory_allocated memory_reserved "
        "memory_summary reset_peak_memory_stats",
        "random": "get_rng_state get_rng_state_all initial_seed manual_seed manual_seed_all seed seed_all "
        "set_rng_state set_rng_state_all",
        "streams": "Event Stream",
    },
    "": {"storage": "TypedStorage UntypedStorage"},
    "cuda.amp": {"autocast_mode": "autocast custom_bwd custom_fwd", "grad_scaler": "GradScaler OptState"},
}
PATHS = {
    f"norch.{package}.{path}".replace("..", "."): names.split()
    for package, rows in _TABLE.items()
    for path, names in rows.items()
}


class _Paths:
    """Asked by `import` for what is no file."""

    @staticmethod
    def find_spec(fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        return ModuleSpec(fullname, _Paths) if fullname in PATHS else None  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: ModuleSpec) -> None:
        return None

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        package: Any = importlib.import_module(module.__name__.rpartition(".")[0])
        vars(module).update({name: getattr(package, name) for name in PATHS[module.__name__]})


sys.meta_path.append(_Paths)  # (a class does for an instance)
