"""The encoder of a transformer, with PyTorch's parameters; under a causal mask it is a language model's decoder."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable

from ...tensor import Tensor
from ...types import DType
from .. import functional as F
from .. import init
from ..module import Module
from .attention import MultiheadAttention
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear
from .normalization import LayerNorm

__all__ = ["TransformerEncoder", "TransformerEncoderLayer"]

_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": F.relu, "gelu": F.gelu}


class TransformerEncoderLayer(Module):
    """Self-attention, then two Linears with an activation between; each with dropout, added to its input, normalized.

    x = norm1(x + attention(x)), x = norm2(x + linear2(activation(linear1(x)))) (Vaswani et al. 2017); with
    `norm_first` x = x + attention(norm1(x)) and so on. Input and output are [T, N, E], with `batch_first` [N, T, E], or
    [T, E]; the masks are MultiheadAttention's. Weights start as in PyTorch.
    Shapes, dtypes and errors otherwise as for `MultiheadAttention`.

    >>> nn.TransformerEncoderLayer(8, 2, dim_feedforward=16, batch_first=True)(norch.ones(4, 5, 8)).shape
    norch.Size([4, 5, 8])
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        if isinstance(activation, str) and activation not in _ACTIVATIONS:
            raise RuntimeError(f"TransformerEncoderLayer: activation is {activation!r}, expected 'relu' or 'gelu'")
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first)
        self.linear1 = _linear(d_model, dim_feedforward, bias)
        self.dropout = Dropout(dropout)
        self.linear2 = _linear(dim_feedforward, d_model, bias)
        self.norm1, self.norm2 = (LayerNorm(d_model, layer_norm_eps, bias=bias) for _ in range(2))
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        self.norm_first = norm_first
        self.activation = _ACTIVATIONS[activation] if isinstance(activation, str) else activation
        self.to(device, dtype)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        def attend(x: Tensor) -> Tensor:
            y, _ = self.self_attn(x, x, x, src_key_padding_mask, False, src_mask, is_causal=is_causal)
            return self.dropout1(y)

        if self.norm_first:
            x = src + attend(self.norm1(src))
            return x + self._feed_forward(self.norm2(x))
        x = self.norm1(src + attend(src))
        return self.norm2(x + self._feed_forward(x))

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerEncoder(Module):
    """`num_layers` copies of a layer one after the other, then `norm` if given.

    Shapes, dtypes and errors as for `TransformerEncoderLayer`.

    >>> layer = nn.TransformerEncoderLayer(8, 2, dim_feedforward=16, batch_first=True)
    >>> nn.TransformerEncoder(layer, num_layers=3)(norch.ones(4, 5, 8)).shape
    norch.Size([4, 5, 8])
    """

    norm: Module | None

    def __init__(self, encoder_layer: TransformerEncoderLayer, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        if num_layers < 1:
            raise ValueError(f"TransformerEncoder: num_layers is {num_layers}, expected at least 1")
        self.layers = ModuleList(copy.deepcopy(encoder_layer) for _ in range(num_layers))
        self.num_layers = num_layers
        self.add_module("norm", norm)

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask, is_causal)
        return src if self.norm is None else self.norm(src)


def _linear(inputs: int, outputs: int, bias: bool) -> Linear:
    """A Linear that starts as PyTorch's do, in U(-1 / sqrt(inputs), 1 / sqrt(inputs)), which suits wide layers."""
    linear = Linear(inputs, outputs, bias)
    bound = 1 / math.sqrt(inputs)
    for parameter in linear.parameters():
        init.uniform_(parameter, -bound, bound)
    return linear
