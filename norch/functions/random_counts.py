"""Random counts: of the Poisson and the binomial distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._C import lib
from ..operation import check_floating, check_tensor, wrap
from .generator import state_of

if TYPE_CHECKING:
    from ..forward_declarations import Tensor
    from .generator import Generator

__all__ = ["binomial", "poisson"]


def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Counts of the Poisson distribution with the mean that `input` gives for each element; in its shape and dtype.

    Raises RuntimeError for a negative or infinite mean or a dtype that is not floating.

    >>> norch.poisson(norch.zeros(2))
    tensor([0., 0.])
    """
    check_floating(check_tensor(input, "poisson"), "poisson")
    return wrap(lib.counts_tensor(input._ptr, None, state_of(generator)))


def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """How many of `count` trials succeed, each with probability `prob`; both broadcast, and are of one floating dtype.

    Raises RuntimeError for a negative or infinite count, a probability outside [0, 1] or other dtypes.

    >>> norch.binomial(norch.tensor([5.0, 5.0]), norch.tensor([0.0, 1.0]))
    tensor([0., 5.])
    """
    dtype = check_floating(check_tensor(count, "binomial"), "binomial").dtype
    if check_tensor(prob, "binomial").dtype is not dtype:
        raise RuntimeError(f"binomial: expected one dtype, got {dtype} and {prob.dtype}")
    return wrap(lib.counts_tensor(count._ptr, prob._ptr, state_of(generator)))
