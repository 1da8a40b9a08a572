"""kl_divergence of all pairs of kinds for which torch has a formula, with its gradients."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import norch  # noqa: E402

PARAMETERS = {
    "Normal": ([0.3, -1.0], [0.8, 2.0]),
    "Laplace": ([0.2, 1.0], [0.5, 1.5]),
    "Gumbel": ([0.1, 0.5], [1.2, 0.7]),
    "Exponential": ([1.5, 0.4],),
    "Gamma": ([2.0, 0.7], [1.3, 2.0]),
    "Beta": ([2.0, 0.8], [1.5, 3.0]),
    "ContinuousBernoulli": ([0.3, 0.8],),
    "Pareto": ([0.5, 1.0], [2.5, 3.0]),
    "Uniform": ([0.1, -0.2], [0.8, 1.5]),
    "Bernoulli": ([0.3, 0.7],),
    "Binomial": ([5.0, 3.0], [0.3, 0.6]),
    "Poisson": ([2.0, 0.5],),
    "LogNormal": ([0.1, 0.2], [0.5, 0.6]),
}


def divergence(library, first: str, second: str):
    """The divergence, and the gradients of the first distribution's parameters."""
    leaves = [library.tensor(v, dtype=library.float64, requires_grad=first != "Binomial") for v in PARAMETERS[first]]
    others = [library.tensor(v, dtype=library.float64) for v in PARAMETERS[second]]
    kinds = library.distributions
    result = kinds.kl_divergence(getattr(kinds, first)(*leaves), getattr(kinds, second)(*others))
    finite = result[result.isfinite()]
    gradients = library.autograd.grad(finite.sum(), leaves, allow_unused=True) if finite.requires_grad else ()
    return [result.detach().numpy(), *(np.nan_to_num(g.numpy()) for g in gradients if g is not None)]


@pytest.mark.parametrize("first", PARAMETERS)
def test_divergences_of_two_kinds(first):
    for second in PARAMETERS:
        try:
            expected = divergence(torch, first, second)
        except NotImplementedError:
            with pytest.raises(NotImplementedError, match="KL"):
                divergence(norch, first, second)
            continue
        for got, wanted in zip(divergence(norch, first, second), expected):
            np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-9, err_msg=second)
