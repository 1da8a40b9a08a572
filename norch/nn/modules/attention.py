"""MultiheadAttention: attention in several subspaces at once, with PyTorch's parameters."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Sequence

from ..._C import ShapeError
from ...autograd.derivatives.joining import split
from ...functions.creation import empty, full_like, where, zeros
from ...functions.joining import cat
from ...tensor import Tensor
from ...types import DType, bool_
from .. import functional as F
from .. import init
from ..functional.attention import attention_weights, checked_mask
from ..functional.checks import check_probability
from ..functional.dropout import dropout
from ..module import Module
from ..parameter import Parameter, ParameterOrNone
from .linear import Linear

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """Attention in `num_heads` subspaces of E / num_heads features each, joined again by a Linear.

    Query [L, N, E], key [S, N, kdim] and value [S, N, vdim]; with `batch_first` [N, L, E] and so on; without N for one
    sequence. Returns the output, shaped as the query, and the weights: [N, L, S], their mean over the heads, with
    `average_attn_weights=False` [N, H, L, S], or None without `need_weights`.

    Masks, as in PyTorch, say where NOT to look: `key_padding_mask` [N, S] and `attn_mask` [L, S] or [N * H, L, S] are
    bool, True for keys to leave out, or numbers to add to the scores. `is_causal` says that the attn_mask, which must
    be given, is causal. A query that may see no key gets weights of 0 (with `need_weights` PyTorch gives NaN).
    All have the dtype of the weights. Raises ValueError if E is not a multiple of num_heads, ShapeError for other
    shapes.

    >>> attention = nn.MultiheadAttention(8, 2, batch_first=True)
    >>> x = norch.ones(4, 5, 8)
    >>> output, weights = attention(x, x, x)
    >>> output.shape, weights.shape
    (norch.Size([4, 5, 8]), norch.Size([4, 5, 5]))
    """

    in_proj_weight: ParameterOrNone
    q_proj_weight: ParameterOrNone
    k_proj_weight: ParameterOrNone
    v_proj_weight: ParameterOrNone
    in_proj_bias: ParameterOrNone
    bias_k: ParameterOrNone
    bias_v: ParameterOrNone

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        for name, size in (("embed_dim", embed_dim), ("num_heads", num_heads)):
            if size <= 0:
                raise ValueError(f"MultiheadAttention: {name} is {size}, expected at least 1")
        if embed_dim % num_heads:
            raise ValueError(f"MultiheadAttention: embed_dim {embed_dim} is not a multiple of num_heads {num_heads}")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim, self.vdim = kdim or embed_dim, vdim or embed_dim
        self.dropout, self.batch_first, self.add_zero_attn = check_probability(dropout), batch_first, add_zero_attn
        self._add_projections(bias)
        self.out_proj = Linear(embed_dim, embed_dim, bias)
        init.kaiming_uniform_(self.out_proj.weight, a=math.sqrt(5))
        if bias:
            init.zeros_(self.out_proj.bias)
        for name in ("bias_k", "bias_v"):
            extra = _drawn([1, 1, embed_dim], init.xavier_normal_) if add_bias_kv else None
            self.register_parameter(name, extra)
        self.to(device, dtype)

    def _add_projections(self, bias: bool) -> None:
        """in_proj_weight [3E, E] if query, key and value have one size, else a weight for each."""
        size = self.embed_dim
        shapes = {
            "in_proj_weight": [3 * size, size],
            "q_proj_weight": [size, size],
            "k_proj_weight": [size, self.kdim],
            "v_proj_weight": [size, self.vdim],
        }
        joint = self.kdim == self.vdim == size
        for name, shape in shapes.items():
            used = (name == "in_proj_weight") == joint
            self.register_parameter(name, _drawn(shape, init.xavier_uniform_) if used else None)
        self.register_parameter("in_proj_bias", Parameter(zeros(3 * size)) if bias else None)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | Any]:
        batched = self._check_inputs(query, key, value)
        if is_causal and attn_mask is None:
            raise RuntimeError("MultiheadAttention: is_causal says that attn_mask is causal, but there is none")
        q, k, v = self._projected(query, key, value)
        if not batched:
            q, k, v = (x.unsqueeze(0) for x in (q, k, v))
        elif not self.batch_first:
            q, k, v = (x.transpose(0, 1) for x in (q, k, v))
        mask = self._mask(q, k.shape[1], batched, key_padding_mask, attn_mask)
        k, v, mask = self._with_extra_keys(k, v, mask)
        # [N, H, ., E/H]
        q, k, v = (x.unflatten(-1, (self.num_heads, self.head_dim)).transpose(1, 2) for x in (q, k, v))

        weights = attention_weights(q, k, mask)
        if self.dropout and self.training:
            weights = dropout(weights, self.dropout)
        heads = (weights @ v).transpose(1, 2).flatten(2)  # [N, L, E]
        output = F.linear(heads, self.out_proj.weight, self.out_proj.bias)
        if not batched:
            output, weights = output[0], weights[0]
        elif not self.batch_first:
            output = output.transpose(0, 1)
        if not need_weights:
            return output, None
        return output, weights.mean(-3) if average_attn_weights else weights

    def _projected(self, query: Tensor, key: Tensor, value: Tensor) -> Sequence[Tensor]:
        """Query, key and value times their weights; in one product if they are the same tensor."""
        if self.in_proj_weight is not None and query is key and key is value:
            return split(F.linear(query, self.in_proj_weight, self.in_proj_bias), [self.embed_dim] * 3)
        if self.in_proj_weight is not None:
            weights = self.in_proj_weight.chunk(3)
        else:
            weights = self.q_proj_weight, self.k_proj_weight, self.v_proj_weight
        biases = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        return [F.linear(x, weight, bias) for x, weight, bias in zip((query, key, value), weights, biases)]

    def _with_extra_keys(self, k: Tensor, v: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor, Tensor | None]:
        """Keys and values [N, S, E] with the learnt and the zero ones, if any, which every query sees."""
        extra = 0
        if self.bias_k is not None:
            k, v = (cat([x, b.expand(len(x), 1, -1)], 1) for x, b in ((k, self.bias_k), (v, self.bias_v)))
            extra += 1
        if self.add_zero_attn:
            k, v = (cat([x, x.new_zeros(len(x), 1, x.shape[-1])], 1) for x in (k, v))
            extra += 1
        if extra and mask is not None:
            mask = cat([mask, mask.new_zeros(*mask.shape[:-1], extra)], -1)
        return k, v, mask

    def _mask(self, q: Tensor, keys: int, batched: bool, padding: Tensor | None, mask: Tensor | None) -> Tensor | None:
        """Both masks as numbers to add to scores of [N, H, L, S]; None if neither is given."""
        samples, queries = q.shape[:2]
        mask, padding = checked_mask("attn_mask", mask, q), checked_mask("key_padding_mask", padding, q)
        parts = []
        if mask is not None:
            if mask.shape == [samples * self.num_heads, queries, keys]:
                mask = mask.unflatten(0, (samples, self.num_heads))
            elif mask.shape != [queries, keys]:
                each = f"[{queries}, {keys}] or [{samples * self.num_heads}, {queries}, {keys}]"
                raise ShapeError(f"MultiheadAttention: attn_mask has shape {list(mask.shape)}, expected {each}")
            parts.append(_added(mask, q))
        if padding is not None:
            expected = [samples, keys] if batched else [keys]
            if padding.shape != expected:
                found = list(padding.shape)
                raise ShapeError(f"MultiheadAttention: key_padding_mask has shape {found}, expected {expected}")
            parts.append(_added(padding, q).reshape(samples, 1, 1, keys))
        return sum(parts[1:], parts[0]) if parts else None

    def _check_inputs(self, query: Tensor, key: Tensor, value: Tensor) -> bool:
        """Whether the inputs are batches; raises if their shapes do not fit."""
        sizes = {"query": self.embed_dim, "key": self.kdim, "value": self.vdim}
        for (name, size), x in zip(sizes.items(), (query, key, value)):
            if not isinstance(x, Tensor):
                raise TypeError(f"MultiheadAttention: {name} is a {type(x).__name__}, expected a Tensor")
            if x.ndim not in (2, 3) or x.ndim != query.ndim or x.shape[-1] != size:
                order = f"[N, length, {size}]" if self.batch_first else f"[length, N, {size}]"
                raise ShapeError(
                    f"MultiheadAttention: {name} has shape {list(x.shape)}, expected {order} or [length, {size}], and "
                    "query, key and value alike"
                )
        batch = 0 if self.batch_first else 1
        if key.shape[:-1] != value.shape[:-1] or (query.ndim == 3 and query.shape[batch] != key.shape[batch]):
            shapes = ", ".join(f"{name} {list(x.shape)}" for name, x in zip(sizes, (query, key, value)))
            raise ShapeError(f"MultiheadAttention: lengths or batches do not agree: {shapes}")
        return query.ndim == 3

    def inner_repr(self) -> str:
        return f"embed_dim={self.embed_dim}, num_heads={self.num_heads}"


def _drawn(shape: list[int], initialize: Callable[[Tensor], Tensor]) -> Parameter:
    parameter = Parameter(empty(shape))
    initialize(parameter)
    return parameter


def _added(mask: Tensor, like: Tensor) -> Tensor:
    """A mask as numbers: -inf where a bool says to leave out."""
    if mask.dtype is not bool_:
        return mask
    return where(mask, full_like(mask, -math.inf, dtype=like.dtype), 0.0)
