"""Attention in several subspaces at once, as a function (Vaswani et al. 2017); `nn.MultiheadAttention` has the weights.

Sizes: L queries, S keys and values, N sequences, E features, H heads.
"""

from __future__ import annotations

import math
from typing import Sequence

from ..._C import ShapeError
from ...arguments import flags
from ...autograd.derivatives.joining import split
from ...functions.creation import full_like, where
from ...functions.joining import cat
from ...tensor import Tensor
from ...types import bool_
from .attention import attended, attention_weights, checked_mask
from .checks import check_tensors
from .dropout import dropout
from .linear import linear

__all__ = ["multi_head_attention_forward"]

_NAME = "multi_head_attention_forward"


@flags
def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Query [L, N, E], key [S, N, E_k], value [S, N, E_v], projected, attended and joined: the output [L, N, E].

    Without N for one sequence. The second result are the weights: [N, L, S], their mean over the heads, with
    `average_attn_weights=False` [N, H, L, S], or None without `need_weights`. in_proj_weight [3E, E] projects all
    three, or with `use_separate_proj_weight` the three others do. `bias_k` and `bias_v` [1, 1, E] are one more key and
    value, `add_zero_attn` adds one of zeros; `static_k` and `static_v` [N * H, S, E / H] stand for the projected ones.
    Masks are those of `nn.MultiheadAttention`; all have one floating dtype. Raises ShapeError for other shapes,
    RuntimeError for a mask of integers.

    >>> x, weight = norch.ones(3, 1, 2), norch.ones(2, 2)
    >>> output, _ = F.multi_head_attention_forward(
    ...     x, x, x, 2, 1, norch.ones(6, 2), None, None, None, False, 0.0, weight, None
    ... )
    >>> output.shape
    norch.Size([3, 1, 2])
    """
    batched = _check(query, key, value, embed_dim_to_check, num_heads)
    if is_causal and attn_mask is None:
        raise RuntimeError(f"{_NAME}: is_causal says that attn_mask is causal, but there is none")
    weights = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else in_proj_weight
    q, k, v = projected((query, key, value), weights, in_proj_bias, embed_dim_to_check)
    if not batched:
        q, k, v = (x.unsqueeze(1) for x in (q, k, v))
    q, k, v = (x.transpose(0, 1) for x in (q, k, v))  # [N, ., E]

    rows = q.shape[0] * num_heads
    for name, x in (("static_k", static_k), ("static_v", static_v)):
        if x is not None and (x.ndim != 3 or x.shape[0] != rows):
            raise ShapeError(f"{_NAME}: {name} has shape {list(x.shape)}, expected [{rows}, S, E / H]")
    keys = k.shape[1] if static_k is None else static_k.shape[1]
    mask = _mask(q, keys, num_heads, batched, key_padding_mask, attn_mask)
    if bias_k is not None and bias_v is not None:
        k, v = (cat([x, b.expand(len(x), 1, -1)], 1) for x, b in ((k, bias_k), (v, bias_v)))
    q, k, v = (x.unflatten(-1, (num_heads, -1)).transpose(1, 2) for x in (q, k, v))  # [N, H, ., E/H]
    k, v = (x if fixed is None else fixed.unflatten(0, q.shape[:2]) for x, fixed in ((k, static_k), (v, static_v)))
    if add_zero_attn:
        k, v = (cat([x, x.new_zeros(*x.shape[:2], 1, x.shape[-1])], 2) for x in (k, v))
    added = int(bias_k is not None) + int(add_zero_attn)  # keys that no mask leaves out
    if added and mask is not None:
        mask = cat([mask, mask.new_zeros(*mask.shape[:-1], added)], -1)
    heads, attention = _attend(q, k, v, mask, dropout_p if training else 0.0, need_weights)
    output = linear(heads.permute(2, 0, 1, 3).flatten(2), out_proj_weight, out_proj_bias)  # [L, N, E]
    output = output if batched else output.squeeze(1)
    if attention is None:
        return output, None
    # A view, as in PyTorch: the output does not depend on the weights that are returned.
    attention = attention.mean(1) if average_attn_weights else attention.view_as(attention)
    return output, attention if batched else attention[0]


def _attend(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout_p: float, need_weights: bool
) -> tuple[Tensor, Tensor | None]:
    """What each head attends to, [N, H, L, E/H], and the weights [N, H, L, S] if they are needed."""
    scale = 1 / math.sqrt(q.shape[-1])
    if not need_weights:
        return attended(q, k, v, mask, scale, dropout_p=dropout_p), None
    attention = attention_weights(q, k, mask, scale)
    attention = dropout(attention, dropout_p) if dropout_p else attention
    return attention @ v, attention


def projected(
    inputs: tuple[Tensor, Tensor, Tensor],
    weights: Tensor | tuple[Tensor | None, ...] | None,
    bias: Tensor | None,
    size: int,
) -> Sequence[Tensor]:
    """Query, key and value times their weights; in one product if they are the same tensor."""
    if isinstance(weights, Tensor):
        if inputs[0] is inputs[1] and inputs[1] is inputs[2]:
            return split(linear(inputs[0], weights, bias), [size] * 3)
        weights = weights.chunk(3)
    if weights is None or None in [w if w is None else 0 for w in weights]:
        raise RuntimeError(f"{_NAME}: a weight of the projections is None")
    biases: Sequence[Tensor | None] = (None,) * 3 if bias is None else bias.chunk(3)
    return [linear(x, weight, b) for x, weight, b in zip(inputs, weights, biases) if weight is not None]


def _mask(
    q: Tensor, keys: int, heads: int, batched: bool, padding: Tensor | None, mask: Tensor | None
) -> Tensor | None:
    """Both masks as numbers to add to scores of [N, H, L, S]; None if neither is given."""
    samples, queries = q.shape[:2]
    mask, padding = checked_mask("attn_mask", mask, q), checked_mask("key_padding_mask", padding, q)
    parts = []
    if mask is not None:
        if mask.shape == [samples * heads, queries, keys]:
            mask = mask.unflatten(0, (samples, heads))
        elif mask.shape != [queries, keys]:
            each = f"[{queries}, {keys}] or [{samples * heads}, {queries}, {keys}]"
            raise ShapeError(f"{_NAME}: attn_mask has shape {list(mask.shape)}, expected {each}")
        parts.append(_added(mask, q))
    if padding is not None:
        expected = [samples, keys] if batched else [keys]
        if padding.shape != expected:
            raise ShapeError(f"{_NAME}: key_padding_mask has shape {list(padding.shape)}, expected {expected}")
        parts.append(_added(padding, q).reshape(samples, 1, 1, keys))
    return sum(parts[1:], parts[0]) if parts else None


def _added(mask: Tensor, like: Tensor) -> Tensor:
    """A mask as numbers: -inf where a bool says to leave out."""
    if mask.dtype is not bool_:
        return mask
    return where(mask, full_like(mask, -math.inf, dtype=like.dtype), 0.0)


def _check(query: Tensor, key: Tensor, value: Tensor, size: int, heads: int) -> bool:
    """Whether the inputs are batches; raises if their shapes do not fit."""
    check_tensors(_NAME, query, key, value)
    shapes = f"query {list(query.shape)}, key {list(key.shape)} and value {list(value.shape)}"
    if query.ndim not in (2, 3) or not query.ndim == key.ndim == value.ndim:
        raise ShapeError(f"{_NAME}: {shapes}, expected 3 dimensions each, or 2 for one sequence")
    if query.shape[-1] != size or size % heads:
        raise ShapeError(f"{_NAME}: {shapes}, expected a query of {size} features, in {heads} heads")
    if key.shape[:-1] != value.shape[:-1] or query.shape[1:-1] != key.shape[1:-1]:
        raise ShapeError(f"{_NAME}: lengths or batches do not agree: {shapes}")
    return query.ndim == 3
