"""Random numbers in place: `uniform_ normal_ random_ bernoulli_ exponential_` and others. A Generator draws them."""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from .. import operation
from .._C import Number, lib, number
from ..arguments import plain_number
from ..autograd.in_place import overwrite
from ..functions.generator import state_of
from ..operation import check_range
from ..types import bool_, dtype

if TYPE_CHECKING:
    from ..forward_declarations import Tensor
    from ..functions.generator import Generator

# The largest integer up to which a dtype holds every one.
LARGEST = {"bool": 1, "uint8": 2**8 - 1, "int8": 2**7 - 1, "int16": 2**15 - 1, "int32": 2**31 - 1, "int64": 2**63 - 1}
LARGEST |= {"bfloat16": 2**8, "float16": 2**11, "float32": 2**24, "float64": 2**53}


class RandomFillMethods:
    """The methods of Tensor that overwrite it with random numbers."""

    def uniform_(
        self: Tensor, from_: float = 0.0, to: float = 1.0, *, generator: Generator | None = None, **bounds: float
    ) -> Tensor:
        """Fill with numbers uniform in [from, to), of 53 random bits (float64) or 24, rounded to the dtype.

        Shape and dtype stay. Raises RuntimeError if the dtype is not floating or from > to, TypeError for an
        unknown argument.

        >>> x = norch.zeros(100).uniform_(-1, 1)
        >>> x.min() >= -1, x.max() < 1
        (tensor(True), tensor(True))
        """
        low = bounds.pop("from", from_)  # a keyword of Python, and PyTorch's name
        if bounds:
            raise TypeError(f"uniform_: unknown arguments {', '.join(bounds)}")
        low, high = plain_number(low, "uniform_"), plain_number(to, "uniform_")
        state = state_of(generator)
        return overwrite(self, lib.uniform_into, state, low, high)

    def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None) -> Tensor:
        """Fill with numbers of the normal distribution, by the method of Box and Muller; shape and dtype stay.

        Raises RuntimeError if the dtype is not floating or std is negative.

        >>> norch.zeros(2).normal_(mean=5.0, std=0.0)
        tensor([5., 5.])
        """
        if not (type(mean) is type(std) is float):
            mean, std = plain_number(mean, "normal_"), plain_number(std, "normal_")
        return overwrite(self, lib.normal_into, state_of(generator), mean, std)

    def random_(
        self: Tensor,
        from_: int | None = None,
        to: Any = ...,  # an integer, or None
        *,
        generator: Generator | None = None,
        **bounds: int | None,
    ) -> Tensor:
        """Fill with integers: `random_()` over all that the dtype holds exactly, `random_(to)`, `random_(from, to)`.

        If `to` is None they go up to the largest. Shape and dtype stay. Raises RuntimeError for an empty range, or
        numbers that the dtype does not hold, TypeError for an unknown argument.

        >>> x = norch.zeros(100).random_(1, 7)
        >>> x.min() >= 1, x.max() <= 6
        (tensor(True), tensor(True))
        """
        low_bound = bounds.pop("from", from_)
        if bounds:
            raise TypeError(f"random_: unknown arguments {', '.join(bounds)}")
        low, count = range_of(self.dtype, *((None, low_bound) if to is ... else (low_bound, to)))
        state = state_of(generator)
        return overwrite(self, lib.integers_into, state, low, count)

    def bernoulli_(self: Tensor, p: Tensor | float = 0.5, *, generator: Generator | None = None) -> Tensor:
        """Fill with 1 with probability `p`, a number or a tensor that broadcasts, and with 0 otherwise.

        Shape and dtype stay. Raises RuntimeError for a probability outside [0, 1].

        >>> norch.zeros(3).bernoulli_(1.0)
        tensor([1., 1., 1.])
        """
        found = _probabilities("bernoulli_", p)
        state = state_of(generator)
        return overwrite(self, lib.bernoulli_into, found._ptr, state)

    # ---- From uniform numbers of double precision ---------------------------------------------------------------

    def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
        """Fill with numbers of the exponential distribution of rate `lambd`; shape and dtype stay.

        Raises RuntimeError if the dtype is not floating or the rate is not positive.

        >>> bool((norch.zeros(100).exponential_(2.0) >= 0).all())
        True
        """
        _check_fill("exponential_", self, lambd > 0, "a rate > 0", lambd)
        rate = plain_number(lambd, "exponential_")
        state = state_of(generator)
        return overwrite(self, lib.exponential_into, state, rate)

    def cauchy_(self: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Generator | None = None) -> Tensor:
        """Fill with numbers of the Cauchy distribution around `median`, of width `sigma`; shape and dtype stay.

        Raises RuntimeError if the dtype is not floating or sigma is not positive.

        >>> norch.zeros(2).cauchy_(5.0, 1e-30)
        tensor([5., 5.])
        """
        _check_fill("cauchy_", self, sigma > 0, "sigma > 0", sigma)
        median, width = plain_number(median, "cauchy_"), plain_number(sigma, "cauchy_")
        state = state_of(generator)
        return overwrite(self, lib.cauchy_into, state, median, width)

    def log_normal_(self: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Generator | None = None) -> Tensor:
        """Fill with exp of normal numbers of this mean and std; shape and dtype stay.

        Raises RuntimeError if the dtype is not floating or std is not positive.

        >>> bool((norch.zeros(100).log_normal_() > 0).all())
        True
        """
        _check_fill("log_normal_", self, std > 0, "std > 0", std)
        mean, std = plain_number(mean, "log_normal_"), plain_number(std, "log_normal_")
        state = state_of(generator)
        return overwrite(self, lib.log_normal_into, state, mean, std)

    def geometric_(self: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
        """Fill with the number of trials up to the first success, whose probability is `p`; shape and dtype stay.

        Raises RuntimeError for a probability outside (0, 1), and for bool.

        >>> norch.zeros(2).geometric_(1 - 1e-16)
        tensor([1., 1.])
        """
        if not 0 < p < 1 or self.dtype is bool_:
            raise RuntimeError(f"geometric_: expected a probability within (0, 1) and numbers, got {p}, {self.dtype}")
        chance = plain_number(p, "geometric_")
        state = state_of(generator)
        return overwrite(self, lib.geometric_into, state, chance)


def _check_fill(name: str, x: Tensor, valid: bool, expected: str, given: float) -> None:
    if not valid or not x.is_floating_point():
        raise RuntimeError(f"{name}: expected a floating dtype and {expected}, got {given}, for {x.dtype}")


def _probabilities(name: str, p: Tensor | float) -> Tensor | Number:
    """Probabilities as an operand. Raises RuntimeError for a number outside [0, 1], or another dtype."""
    if isinstance(p, operation.Tensor):
        if not p.is_floating_point():
            raise RuntimeError(f"{name}: expected probabilities of a floating dtype, got {p.dtype}")
        check_range(p, 0.0, 1.0, f"{name}: expected probabilities from 0 to 1, got others")
        return p
    if not 0 <= p <= 1:
        raise RuntimeError(f"{name}: expected probabilities from 0 to 1, got {p}")
    return number(p)


def range_of(kind: dtype, low: Any, high: Any) -> tuple[int, int]:
    """The first of the integers from low to high - 1, and how many there are; without `high` all that fit the dtype.

    Raises RuntimeError if there are none, or if the dtype does not hold them.
    """
    largest = LARGEST[kind.name]
    first, end = operator.index(low or 0), largest + 1 if high is None else operator.index(high)
    if first >= end:
        raise RuntimeError(f"random_: expected from < to, got from {first}, to {end}")
    lowest = -largest - 1 if kind.is_signed else 0
    if first < lowest or end > largest + 1:
        raise RuntimeError(f"random_: {first} to {end - 1} does not fit into {kind}")
    return first, (end - first) % 2**64
