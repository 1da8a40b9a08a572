"""Elements of operands: drawn from a seed, for values and for gradients."""

from __future__ import annotations

from typing import Any, Callable

from arrays import REAL, wrap


def drawn(rng: Any, draw: Callable, dtype: str) -> Callable:
    return lambda count: draw(rng, count, dtype)


def any_numbers(rng, count, dtype):
    """Of both signs, with zeros, ties and halves among the floats."""
    if dtype == "bool":
        return [rng.random() < 0.5 for _ in range(count)]
    if dtype in REAL:
        return [rng.choice([rng.uniform(-3, 3), rng.randint(-6, 6) / 2]) for _ in range(count)]
    return [rng.randint(0 if dtype == "uint8" else -9, 9) for _ in range(count)]


def nonzero(rng, count, dtype):
    return [x if x else wrap(rng.randint(1, 5), dtype) for x in any_numbers(rng, count, dtype)]


def positive(rng, count, dtype):
    return [abs(x) or wrap(1, dtype) for x in any_numbers(rng, count, dtype)]


def exponents(rng, count, dtype):
    """Any numbers for floats; for integers none below 0, because negative powers are not integers."""
    return [x if dtype in REAL else abs(x) for x in any_numbers(rng, count, dtype)]


def truths(rng, count, dtype):
    return [rng.random() < 0.5 for _ in range(count)]


def smooth(rng, count, low=-30, high=30):
    """Different numbers, none near an integer, a half or zero: no ties and no kinks within a finite difference."""
    crowd = range(1 + count // (high - low))  # as many to each tenth as it takes
    return rng.sample([(2 * i + 1) / 20 + k / 1000 for i in range(low, high) for k in crowd], count)


def smooth_unit(rng, count):
    """Between -0.9 and 0.9."""
    return smooth(rng, count, low=-9, high=9)


def smooth_positive(rng, count):
    return smooth(rng, count, low=3, high=50)


def smooth_above_one(rng, count):
    return smooth(rng, count, low=13, high=50)


def smooth_either(rng, count):
    """Away from zero, of both signs."""
    return [rng.choice([-1, 1]) * x for x in smooth_positive(rng, count)]
