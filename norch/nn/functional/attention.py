"""Scaled dot-product attention (Vaswani et al., "Attention Is All You Need", 2017).

Sizes: B batch, H heads, L queries, S keys and values, E features of a query, V of a value.
"""

from __future__ import annotations

import math

from ..._C import ShapeError
from ...arguments import broadcast_shapes, flags
from ...autograd.derivatives import attention as kernels
from ...autograd.derivatives.attention import Settings, attention_weights
from ...functions.generator import draw_of
from ...given import given
from ...tensor import Tensor
from ...types import bool_
from .checks import check_floats, check_probability
from .dropout import dropout

__all__ = ["scaled_dot_product_attention"]


@flags
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """softmax(query key^T * scale + mask) value: [..., L, E], [..., S, E] and [..., S, V] give [..., L, V].

    `attn_mask` broadcasts to [..., L, S]: bool, True where a query may see a key, or numbers to add to the scores.
    `is_causal` lets query i see the keys up to i, of those that a mask lets it see. `scale` is 1 / sqrt(E) unless
    given. A query that may see no key gets zeros. With `enable_gqa` a query [..., H, L, E] may have more heads than
    key and value, each of which serves the same number of them ("grouped query attention", Ainslie et al. 2023). With
    `dropout_p`, that share of the weights is dropped in every mode: pass 0 when not training. Memory grows with L and
    S, not with L * S (Dao and others, "FlashAttention", 2022), except for second derivatives and for a mask that
    requires gradients. All have one floating dtype. Raises ShapeError for other shapes, RuntimeError for another
    dtype, or for a mask together with is_causal unless all have four dimensions.

    >>> query, key, value = norch.ones(2, 5, 8), norch.ones(2, 7, 8), norch.ones(2, 7, 3)
    >>> F.scaled_dot_product_attention(query, key, value).shape
    norch.Size([2, 5, 3])
    """
    check_floats("scaled_dot_product_attention", query, key, value)
    if enable_gqa:
        key, value = (_for_heads(x, query) for x in (key, value))
    _check_shapes(query, key, value)
    dropout_p = check_probability(dropout_p)
    mask = checked_mask("attn_mask", attn_mask, query)
    if is_causal and mask is not None and query.ndim != 4:  # PyTorch's kernel for four takes both
        raise RuntimeError("scaled_dot_product_attention: expected attn_mask or is_causal, got both")
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    return attended(query, key, value, mask, scale, is_causal, dropout_p)


def attended(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    scale: float,
    causal: bool = False,
    dropout_p: float = 0.0,
) -> Tensor:
    """Attention after all checks: by one kernel, or by its formula if a mask is learnt or an operand is empty."""
    operands = (query, key, value)
    q, k, v = (tuple(x.shape) for x in operands)  # whose slices are quicker than those of a Size
    is_learnt = mask is not None and mask.requires_grad
    if is_learnt or 0 in q + k + v:
        weights = attention_weights(query, key, mask, scale, causal)
        return (dropout(weights, dropout_p) if dropout_p else weights) @ value
    if mask is not None and mask.dtype.itemsize == 2:  # before it is expanded
        mask = mask.float()
    if not q[:-2] == k[:-2] == v[:-2]:  # the kernel's gradients have the common shape
        common = broadcast_shapes(q[:-2], k[:-2], v[:-2], name="scaled_dot_product_attention")
        query, key, value = (x.expand(*common, *x.shape[-2:]) for x in operands)
    settings = Settings(scale, causal, dropout_p, *(draw_of(None) if dropout_p else (0, 0)))
    return kernels.attention(query, key, value, mask, settings)


def _for_heads(x: Tensor, query: Tensor) -> Tensor:
    """Keys or values whose heads are repeated for those of the query."""
    if min(x.ndim, query.ndim) < 3 or not x.shape[-3] or query.shape[-3] % x.shape[-3]:
        shapes = f"{list(query.shape)} and {list(x.shape)}"
        raise ShapeError(f"scaled_dot_product_attention: enable_gqa expects heads for each head, got shapes {shapes}")
    return x.repeat_interleave(query.shape[-3] // x.shape[-3], -3)


def checked_mask(name: str, mask: Tensor | None, query: Tensor) -> Tensor | None:
    """A mask of bool, or of numbers in the query's dtype."""
    if mask is None:
        return None
    if not isinstance(mask, Tensor):
        raise TypeError(f"{name} is {given(mask)}, expected a Tensor or None")
    if mask.dtype is bool_:
        return mask
    if not mask.is_floating_point():
        raise RuntimeError(f"{name} has dtype {mask.dtype}, expected bool or a floating dtype")
    return mask.to(query.dtype)


def _check_shapes(query: Tensor, key: Tensor, value: Tensor) -> None:
    q, k, v = tuple(query.shape), tuple(key.shape), tuple(value.shape)
    if min(len(q), len(k), len(v)) < 2:
        expected = "at least 2 dimensions each"
    elif q[-1] != k[-1] or k[-2] != v[-2]:
        expected = "query [..., L, E], key [..., S, E], value [..., S, V]"
    else:
        return
    raise ShapeError(
        f"scaled_dot_product_attention: query {list(q)}, key {list(k)} and value {list(v)}, expected {expected}"
    )
