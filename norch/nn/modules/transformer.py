"""Transformers with PyTorch's parameters: the encoder, under a causal mask a language model, the decoder, and both."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from ...arguments import whole
from ...functions.creation import full
from ...operation import check_tensor
from ...tensor import Tensor
from ...types import DType, shown
from .. import functional as F
from .. import init
from ..module import Module
from .attention import MultiheadAttention
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear
from .normalization import LayerNorm

__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]

Activation = Callable[[Tensor], Tensor]
_ACTIVATIONS: dict[str, Activation] = {"relu": F.relu, "gelu": F.gelu}


# ---- Layers ---------------------------------------------------------------------------------------------------------


def _get_activation_fn(activation: str) -> Activation:
    """The function of a name. Raises RuntimeError for another one."""
    if activation not in _ACTIVATIONS:
        raise RuntimeError(f"activation is {shown(activation)}, expected 'relu' or 'gelu'")
    return _ACTIVATIONS[activation]


def _get_clones(module: Module, N: int) -> ModuleList:
    """So many copies of a module."""
    return ModuleList(copy.deepcopy(module) for _ in range(whole(N, "num_layers", high=_MANY)))


_MANY = 2**20  # layers, more than memory has room for


class _Layer(Module):
    """What the two layers share: self-attention, and two Linears with an activation between."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: str | int | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self._add_attention(lambda: MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first))
        self.linear1 = Linear(d_model, dim_feedforward, bias)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias)
        self.norm_first = norm_first
        for i in range(1, self.parts + 1):
            setattr(self, f"norm{i}", LayerNorm(d_model, layer_norm_eps, bias=bias))
        for i in range(1, self.parts + 1):
            setattr(self, f"dropout{i}", Dropout(dropout))
        self.activation = _get_activation_fn(activation) if isinstance(activation, str) else activation
        self.to(device=device, dtype=dtype)

    parts = 2  # with a norm and a dropout each
    self_attn: MultiheadAttention
    norm1: LayerNorm
    norm2: LayerNorm
    dropout1: Dropout
    dropout2: Dropout

    def _add_attention(self, make: Callable[[], MultiheadAttention]) -> None:
        self.self_attn = make()

    def _sa_block(
        self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool = False
    ) -> Tensor:
        y, _ = self.self_attn(x, x, x, key_padding_mask, False, attn_mask, is_causal=is_causal)
        return self.dropout1(y)

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_Layer):
    """Self-attention, then two Linears with an activation between; each with dropout, added to its input, normalized.

    x = norm1(x + attention(x)), x = norm2(x + linear2(activation(linear1(x)))) (Vaswani et al. 2017); with
    `norm_first` x = x + attention(norm1(x)) and so on. Input and output are [T, N, E], with `batch_first` [N, T, E], or
    [T, E]; the masks are MultiheadAttention's. The activation is "relu", "gelu" or a function. Weights start as in
    PyTorch. Shapes, dtypes and errors otherwise as for `MultiheadAttention`; raises ShapeError for other shapes.

    >>> nn.TransformerEncoderLayer(8, 2, dim_feedforward=16, batch_first=True)(norch.ones(4, 5, 8)).shape
    norch.Size([4, 5, 8])
    """

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        masks = (src_mask, src_key_padding_mask, is_causal)
        if self.norm_first:
            x = src + self._sa_block(self.norm1(src), *masks)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(src + self._sa_block(src, *masks))
        return self.norm2(x + self._ff_block(x))

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout2(self._feed_forward(x))


class TransformerDecoderLayer(_Layer):
    """As TransformerEncoderLayer, with attention to a `memory`, the encoder's output, between the two parts.

    The target `tgt` [T, N, E] attends to itself and to the memory [S, N, E], with `batch_first` [N, T, E] and
    [N, S, E], or without N. The result is shaped as the target. Masks of the memory are [T, S], and [N, S] for padding.
    Shapes, dtypes and errors otherwise as for `TransformerEncoderLayer`; raises ShapeError for other shapes.

    >>> layer = nn.TransformerDecoderLayer(8, 2, dim_feedforward=16, batch_first=True)
    >>> layer(norch.ones(4, 5, 8), norch.ones(4, 7, 8)).shape
    norch.Size([4, 5, 8])
    """

    parts = 3
    multihead_attn: MultiheadAttention
    norm3: LayerNorm
    dropout3: Dropout

    def _add_attention(self, make: Callable[[], MultiheadAttention]) -> None:
        self.self_attn, self.multihead_attn = make(), make()

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        own = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        other = (memory, memory_mask, memory_key_padding_mask, memory_is_causal)
        if self.norm_first:
            x = tgt + self._sa_block(self.norm1(tgt), *own)
            x = x + self._mha_block(self.norm2(x), *other)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(tgt + self._sa_block(tgt, *own))
        x = self.norm2(x + self._mha_block(x, *other))
        return self.norm3(x + self._ff_block(x))

    def _mha_block(
        self,
        x: Tensor,
        mem: Tensor,
        attn_mask: Tensor | None,
        key_padding_mask: Tensor | None,
        is_causal: bool = False,
    ) -> Tensor:
        y, _ = self.multihead_attn(x, mem, mem, key_padding_mask, False, attn_mask, is_causal=is_causal)
        return self.dropout2(y)

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout3(self._feed_forward(x))


# ---- Stacks of layers -----------------------------------------------------------------------------------------------


class _Stack(Module):
    """`num_layers` copies of a layer, and a norm after them or None."""

    norm: Module | None

    def __init__(self, layer: Module, num_layers: int, norm: Module | None) -> None:
        super().__init__()
        if num_layers < 1:
            raise ValueError(f"{self.get_name()}: num_layers is {num_layers}, expected at least 1")
        self.layers = _get_clones(layer, num_layers)
        self.num_layers = num_layers
        self.add_module("norm", norm)


class TransformerEncoder(_Stack):
    """`num_layers` copies of a layer one after the other, then `norm` if given.

    Shapes, dtypes and errors as for `TransformerEncoderLayer`; raises ShapeError for other shapes. `is_causal` says
    that the mask, which must be given, is causal; `enable_nested_tensor` and `mask_check` change nothing.

    >>> layer = nn.TransformerEncoderLayer(8, 2, dim_feedforward=16, batch_first=True)
    >>> nn.TransformerEncoder(layer, num_layers=3)(norch.ones(4, 5, 8)).shape
    norch.Size([4, 5, 8])
    """

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__(encoder_layer, num_layers, norm)

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        for layer in self.layers:
            src = layer(src, src_mask=mask, src_key_padding_mask=src_key_padding_mask, is_causal=bool(is_causal))
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(_Stack):
    """`num_layers` copies of a layer one after the other, each with the same memory, then `norm` if given.

    Shapes, dtypes and errors as for `TransformerDecoderLayer`; raises ShapeError for other shapes.

    >>> layer = nn.TransformerDecoderLayer(8, 2, dim_feedforward=16, batch_first=True)
    >>> nn.TransformerDecoder(layer, num_layers=2)(norch.ones(4, 5, 8), norch.ones(4, 7, 8)).shape
    norch.Size([4, 5, 8])
    """

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        for layer in self.layers:
            tgt = layer(
                tgt,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=bool(tgt_is_causal),
                memory_is_causal=memory_is_causal,
            )
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder of the source and a decoder of the target, which attends to the encoder's output.

    Source [S, N, E] and target [T, N, E], with `batch_first` [N, S, E] and [N, T, E], or without N, give [T, N, E]. The
    other options are those of the layers; `custom_encoder` and `custom_decoder` stand for the two. Weights of two
    dimensions are drawn by `init.xavier_uniform_`. Shapes, dtypes and errors as for `TransformerDecoderLayer`; raises
    RuntimeError if batches or features differ.

    >>> model = nn.Transformer(8, 2, 1, 1, dim_feedforward=16)
    >>> model(norch.ones(7, 4, 8), norch.ones(5, 4, 8)).shape
    norch.Size([5, 4, 8])
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = F.relu,
        custom_encoder: Any | None = None,
        custom_decoder: Any | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: str | int | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        settings = (
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias
        )  # fmt: skip

        def norm() -> LayerNorm:
            return LayerNorm(d_model, layer_norm_eps, bias=bias)

        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*settings), num_encoder_layers, norm()
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*settings), num_decoder_layers, norm()
        )
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)
        self.to(device=device, dtype=dtype)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        check_tensor(src, "Transformer: src"), check_tensor(tgt, "Transformer: tgt")
        batch = 0 if self.batch_first else 1
        if src.ndim == 3 and tgt.ndim == 3 and src.shape[batch] != tgt.shape[batch]:
            raise RuntimeError(f"Transformer: batches differ: src {list(src.shape)}, tgt {list(tgt.shape)}")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            shapes = f"src {list(src.shape)}, tgt {list(tgt.shape)}"
            raise RuntimeError(f"Transformer: expected {self.d_model} features, got {shapes}")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: str | int | None = None, dtype: DType | None = None) -> Tensor:
        """The causal mask [sz, sz] to add to scores: 0 up to the diagonal, -inf beyond."""
        return full([sz, sz], -math.inf, dtype=dtype, device=device).triu(1)
