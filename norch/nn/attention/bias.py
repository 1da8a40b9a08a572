"""Causal masks of attention for queries and keys of different numbers."""

from __future__ import annotations

from ...functions.creation import ones
from ...tensor import Tensor
from ...types import bool_

__all__ = ["causal_lower_right", "causal_upper_left"]


def causal_upper_left(queries: int, keys: int) -> Tensor:
    """Query i sees the keys up to i: both begin at the same time. (PyTorch's is a class that its kernels know.)

    >>> nn.attention.bias.causal_upper_left(2, 3)
    tensor([[ True, False, False],
            [ True,  True, False]])
    """
    return ones(queries, keys, dtype=bool_).tril()


def causal_lower_right(queries: int, keys: int) -> Tensor:
    """The last query sees all keys, the one before it all but the last: as with a cache. A query that sees none gets 0.

    >>> nn.attention.bias.causal_lower_right(2, 3)
    tensor([[ True,  True, False],
            [ True,  True,  True]])
    """
    return ones(queries, keys, dtype=bool_).tril(keys - queries)
