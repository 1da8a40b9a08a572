"""Random counts: of the Poisson and the binomial distribution, by inversion for small means and rejection for large."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Callable

from ..operation import check_floating, check_tensor
from ..types import float64

if TYPE_CHECKING:
    from ..forward_declarations import Tensor
    from .generator import Generator

__all__ = ["binomial", "poisson"]

LARGE = 10  # means from which rejection is used: few draws are refused there


def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Counts of the Poisson distribution with the mean that `input` gives for each element; in its shape and dtype.

    Raises RuntimeError for a negative or infinite mean or a dtype that is not floating.

    >>> norch.poisson(norch.zeros(2))
    tensor([0., 0.])
    """
    rates = check_floating(check_tensor(input, "poisson"), "poisson").detach().reshape(-1).to(float64)
    if not bool((rates >= 0).logical_and(rates < math.inf).all()):
        raise RuntimeError("poisson: expected finite means that are not negative")
    result = rates.new_zeros(rates.shape)
    _by_parts(result, rates < LARGE, lambda mean: _arrivals(mean, generator), rates)
    _by_parts(result, rates >= LARGE, lambda mean: _poisson_by_rejection(mean, generator), rates)
    return result.to(input.dtype).reshape(input.shape)


def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """How many of `count` trials succeed, each with probability `prob`; both broadcast, and are of one floating dtype.

    Raises RuntimeError for a negative or infinite count, a probability outside [0, 1] or other dtypes.

    >>> norch.binomial(norch.tensor([5.0, 5.0]), norch.tensor([0.0, 1.0]))
    tensor([0., 5.])
    """
    dtype = check_floating(check_tensor(count, "binomial"), "binomial").dtype
    if check_tensor(prob, "binomial").dtype is not dtype:
        raise RuntimeError(f"binomial: expected one dtype, got {dtype} and {prob.dtype}")
    like = count.detach() + prob.detach()
    trials, chances = (t.detach().expand(like.shape).reshape(-1).to(float64) for t in (count, prob))
    finite = (trials >= 0).logical_and(trials < math.inf)
    if not bool(finite.logical_and(chances >= 0).logical_and(chances <= 1).all()):
        raise RuntimeError("binomial: expected finite counts that are not negative and probabilities from 0 to 1")
    trials, often = trials.floor(), chances > 0.5
    chances = often._choose(1.0 - chances, chances)  # of the rarer outcome
    result = trials.new_zeros(trials.shape)
    large = trials * chances >= LARGE
    _by_parts(result, large.logical_not(), lambda n, p: _successes(n, p, generator), trials, chances)
    _by_parts(result, large, lambda n, p: _binomial_by_rejection(n, p, generator), trials, chances)
    return often._choose(trials - result, result).to(dtype).reshape(like.shape)


def _by_parts(result: Tensor, mask: Tensor, draw: Callable[..., Tensor], *parameters: Tensor) -> None:
    """Set the elements of a result where a mask is true to what is drawn for their parameters."""
    if bool(mask.any()):
        result[mask] = draw(*(parameter[mask] for parameter in parameters))


def _uniform(like: Tensor, generator: Generator | None) -> Tensor:
    return like.new_empty(like.shape).uniform_(generator=generator)


# ---- Small means ------------------------------------------------------------------------------------------------


def _arrivals(rates: Tensor, generator: Generator | None) -> Tensor:
    """How many exponential times of rate 1 fit into each rate."""
    result, time = rates.new_zeros(rates.shape), rates.new_zeros(rates.shape)
    while True:
        time = time - (-_uniform(rates, generator)).log1p()
        inside = time < rates
        if not bool(inside.any()):
            return result
        result = result + inside.to(result.dtype)


def _successes(trials: Tensor, chances: Tensor, generator: Generator | None) -> Tensor:
    """How many waits for a success, each of geometrically many trials, fit into the trials."""
    result, used = trials.new_zeros(trials.shape), trials.new_zeros(trials.shape)
    scale = (-chances).log1p()
    while True:
        waits = ((-_uniform(trials, generator)).log1p() / scale).ceil().clamp(min=1)
        used = used + (chances > 0)._choose(waits, math.inf)
        inside = used <= trials
        if not bool(inside.any()):
            return result
        result = result + inside.to(result.dtype)


# ---- Large means: the transformed rejection of W. Hoermann (1993) ------------------------------------------------


def _by_rejection(
    parameters: tuple[Tensor, ...], propose: Callable[..., tuple[Tensor, Tensor]], generator: Generator | None
) -> Tensor:
    """Numbers that `propose` (of two uniform numbers and the parameters) draws, again where it refuses."""
    result = parameters[0].new_zeros(parameters[0].shape)
    left = result.new_ones(result.shape).nonzero().reshape(-1)
    while left.numel:
        given = [parameter.index_select(0, left) for parameter in parameters]
        proposed, accepted = propose(_uniform(given[0], generator) - 0.5, _uniform(given[0], generator), *given)
        result.index_copy_(0, left[accepted], proposed[accepted])
        left = left[accepted.logical_not()]
    return result


def _poisson_by_rejection(rates: Tensor, generator: Generator | None) -> Tensor:
    def propose(u: Tensor, v: Tensor, rate: Tensor) -> tuple[Tensor, Tensor]:
        b = 0.931 + 2.53 * rate.sqrt()
        a = -0.059 + 0.02483 * b
        edge = 0.5 - u.abs()
        k = ((2.0 * a / edge + b) * u + rate + 0.43).floor()
        height = (v * (1.1239 + 1.1328 / (b - 3.4)) / (a / (edge * edge) + b)).log()
        below = height <= k * rate.log() - rate - _log_factorial(k)
        return k, (k >= 0).logical_and(below)

    return _by_rejection((rates,), propose, generator)


def _binomial_by_rejection(trials: Tensor, chances: Tensor, generator: Generator | None) -> Tensor:
    def propose(u: Tensor, v: Tensor, n: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
        spread = (n * p * (1.0 - p)).sqrt()
        b = 1.15 + 2.53 * spread
        a = -0.0873 + 0.0248 * b + 0.01 * p
        edge = 0.5 - u.abs()
        k = ((2.0 * a / edge + b) * u + n * p + 0.5).floor()
        mode = ((n + 1.0) * p).floor()
        inside = (k >= 0).logical_and(k <= n)
        height = (v * (2.83 + 5.1 / b) * spread / (a / (edge * edge) + b)).log()
        safe = inside._choose(k, mode)
        ratio = _log_factorial(mode) + _log_factorial(n - mode) - _log_factorial(safe) - _log_factorial(n - safe)
        return k, inside.logical_and(height <= ratio + (safe - mode) * (p / (1.0 - p)).log())

    return _by_rejection((trials, chances), propose, generator)


def _log_factorial(k: Tensor) -> Tensor:
    """log(k!), by Stirling's series at k + 10, from which the missing factors are taken away."""
    x = k.clamp(min=0) + 10.0
    series = (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * x * x)) / (x * x)) / x
    factors = x
    for j in range(1, 10):
        factors = factors * (x - float(j))
    return (x + 0.5) * x.log() - x + 0.5 * math.log(2 * math.pi) + series - factors.log()
