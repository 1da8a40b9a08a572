"""Attention without a matrix of all scores, and its derivative."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._C import lib
from ...operation import address, recorded, several
from ...types import HALVES, bool_, float32
from ..node import Gradients, Node

if TYPE_CHECKING:
    from ...tensor import Tensor


class Settings(NamedTuple):
    """What the kernels are told: query i sees keys up to i if `causal`; dropout's share, and the draw that chooses."""

    scale: float
    causal: bool
    dropout: float
    seed: int
    draw: int


def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, settings: Settings) -> Tensor:
    """softmax(query key^T * scale + mask) value, in memory that grows with the lengths and not with their product.

    No operand is empty; the mask is of bool or of the wide dtype, and gets no gradient.
    """
    operands = query._ptr, key._ptr, value._ptr, address(mask)
    result, log_sum = several(lib.attention_tensor(*operands, *settings))
    return recorded(result, AttentionBackward, (query, key, value, mask), log_sum, settings)


def attention_weights(query: Tensor, key: Tensor, mask: Tensor | None, scale: float, causal: bool = False) -> Tensor:
    """softmax(query key^T * scale + mask), [..., L, S]: each row sums to 1, or is 0 if the mask forbids all keys."""
    scores = (query * scale) @ key.mT
    if causal:
        mask = query.new_ones(*scores.shape[-2:], dtype=bool_).tril()
    if mask is None:
        return scores.softmax(-1)
    if mask.dtype is bool_:
        scores, seen = scores.masked_fill(~mask, -math.inf), mask.any(-1, keepdim=True)
    else:
        scores, seen = scores + mask, (mask != -math.inf).any(-1, keepdim=True)
    if seen.all():
        return scores.softmax(-1)
    # 0 for -inf in the rows that see nothing: their softmax and gradients would be NaN
    return scores.masked_fill(~seen, 0.0).softmax(-1).masked_fill(~seen, 0.0)


class AttentionBackward(Node):
    """z = P v, P = softmax(S), S = q k^T c: dL/dv = P^T G, dL/dS = P (G v^T - sum(G z)), dL/dq = c dL/dS k,
    dL/dk = c (dL/dS)^T q; dropout multiplies P, in z and dL/dv, and G v^T with 0 or 1 / (1 - p)"""

    saves_output = True

    def __init__(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, log_sum: Tensor | None, settings: Settings
    ) -> None:
        super().__init__(query, key, value, mask)
        self.log_sum, self.settings = log_sum, settings

    def backward(self, gradient: Tensor) -> Gradients:
        narrow = gradient.dtype
        operands: tuple[Any, ...] = self.x, self.y, self.z, gradient
        if narrow in HALVES:  # scores of 16 bits would give weights of no digits
            operands = tuple(x.float() for x in operands)
        query, key, value, gradient = operands
        mask = self.operands()[3]
        scale, causal, dropout, seed, draw = self.settings
        weights = attention_weights(query, key, mask, scale, causal)
        kept = weights
        for_weights = gradient @ value.mT
        if dropout:
            drawn = weights.new_empty(weights.shape, dtype=float32)
            lib.uniform_again(drawn._ptr, seed, draw)
            factor = (drawn >= dropout).to(weights.dtype) * (1 / (1 - dropout) if dropout < 1 else 0.0)
            kept, for_weights = weights * factor, for_weights * factor
        for_scores = weights * (for_weights - (for_weights * weights).sum(-1, keepdim=True)) * scale
        found = for_scores @ key, for_scores.mT @ query, kept.mT @ gradient
        return [*(x.to(narrow) for x in found), None]

    def fused(self, gradient: Tensor) -> Gradients:
        operands = [address(x) for x in self.operands()]
        results = self.result_values()._ptr, address(self.log_sum)
        pointers = gradient._ptr, *operands, *results
        return [*several(lib.attention_backward(*pointers, *self.settings, self.needed())), None]

    def release(self) -> None:
        super().release()
        self.log_sum = None
