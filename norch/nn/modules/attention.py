"""MultiheadAttention: attention in several subspaces at once, with PyTorch's parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._C import ShapeError
from ...functions.creation import empty, zeros
from ...given import given
from ...tensor import Tensor
from ...types import DType
from .. import functional as F
from .. import init
from ..functional.checks import check_probability
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

    _shown = ("embed_dim", "num_heads")

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
        device: str | int | None = None,
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
        self._qkv_same_embed_dim = self.kdim == self.vdim == embed_dim  # which decides about the weights
        self.dropout, self.batch_first, self.add_zero_attn = check_probability(dropout), batch_first, add_zero_attn
        self._add_projections(bias)
        self.out_proj = Linear(embed_dim, embed_dim, bias)
        if bias:
            init.zeros_(self.out_proj.bias)
        for name in ("bias_k", "bias_v"):
            extra = _drawn([1, 1, embed_dim], init.xavier_normal_) if add_bias_kv else None
            self.register_parameter(name, extra)
        self.to(device=device, dtype=dtype)

    def _add_projections(self, bias: bool) -> None:
        """in_proj_weight [3E, E] if query, key and value have one size, else a weight for each."""
        size = self.embed_dim
        shapes = {
            "in_proj_weight": [3 * size, size],
            "q_proj_weight": [size, size],
            "k_proj_weight": [size, self.kdim],
            "v_proj_weight": [size, self.vdim],
        }
        for name, shape in shapes.items():
            used = (name == "in_proj_weight") == self._qkv_same_embed_dim
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
        swapped = batched and self.batch_first
        if swapped:  # one tensor stays one: the function then needs one product for all three
            same = query is key and key is value
            query = query.transpose(0, 1)
            key, value = (query, query) if same else (key.transpose(0, 1), value.transpose(0, 1))
        output, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            self.training,
            key_padding_mask,
            need_weights,
            attn_mask,
            self.in_proj_weight is None,
            self.q_proj_weight,
            self.k_proj_weight,
            self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return (output.transpose(0, 1) if swapped else output), weights

    def _check_inputs(self, query: Tensor, key: Tensor, value: Tensor) -> bool:
        """Whether the inputs are batches; raises if their shapes do not fit."""
        sizes = {"query": self.embed_dim, "key": self.kdim, "value": self.vdim}
        for (name, size), x in zip(sizes.items(), (query, key, value)):
            if not isinstance(x, Tensor):
                raise TypeError(f"MultiheadAttention: {name} is {given(x)}, expected a Tensor")
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


def _drawn(shape: list[int], initialize: Callable[[Tensor], Tensor]) -> Parameter:
    parameter = Parameter(empty(shape))
    initialize(parameter)
    return parameter
