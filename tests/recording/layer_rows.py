"""A row for each class of norch.nn: how to make it, and the inputs of a call.

An input is a shape (drawn from a normal distribution), ("whole", below, shape), ("share", shape) for numbers between 0
and 1, ("sign", shape) for 1 and -1, or a function that makes it.
"""

from __future__ import annotations

from typing import Any

import norch
from norch import nn

SEQUENCES = "Transformer(8, 2, 1, 1, 16, batch_first=True)"


def pooled(dims: int) -> Any:
    """What a MaxUnpool takes: the values and the indices of a pooling."""
    size = {1: (2, 3, 8), 2: (2, 3, 8, 8), 3: (2, 3, 4, 4, 4)}[dims]
    pool = {1: nn.functional.max_pool1d, 2: nn.functional.max_pool2d, 3: nn.functional.max_pool3d}[dims]
    return pool(norch.randn(*size), 2, return_indices=True)


def in_dimensions(code: str, channels: int, sizes: tuple[int, int, int]) -> dict[str, list[Any]]:
    """The rows of a layer for one, two and three dimensions."""
    return {code.replace("#", str(d)): [(2, channels, *[sizes[d - 1]] * d)] for d in (1, 2, 3)}


ACTIVATIONS = (
    "CELU() ELU() GELU() GELU('tanh') GLU(1) Hardshrink() Hardsigmoid() Hardswish() Hardtanh() "
    "LeakyReLU() LogSigmoid() LogSoftmax(1) Mish() PReLU() PReLU(4) RReLU() ReLU() ReLU6() SELU() SiLU() "
    "Sigmoid() Softmax(1) Softmin(1) Softplus() Softshrink() Softsign() Tanh() Tanhshrink() "
    "Threshold(0.1,2.0) Identity() Flatten() Dropout(0.4) AlphaDropout(0.4) FeatureAlphaDropout(0.4) "
    "Unflatten(1,(2,2)) LayerNorm(4) RMSNorm(4) Linear(4,3) LazyLinear(3) LazyLinear(3,bias=False)"
)

LAYERS: dict[str, list[Any]] = {
    **{code: [(5, 4)] for code in ACTIVATIONS.split()},
    "Softmax2d()": [(2, 3, 4, 4)],
    "Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5), nn.Dropout(0.2), nn.ReLU(), nn.Linear(5, 2))": [(6, 4)],
    "DataParallel(nn.Linear(4, 5))": [(6, 4)],
    "Bilinear(3, 4, 2)": [(5, 3), (5, 4)],
    "CosineSimilarity()": [(5, 4), (5, 4)],
    "PairwiseDistance()": [(5, 4), (5, 4)],
    **in_dimensions("AdaptiveAvgPool#d(2)", 2, (7, 5, 4)),
    **in_dimensions("AdaptiveMaxPool#d(2)", 2, (7, 5, 4)),
    **in_dimensions("AvgPool#d(2)", 2, (8, 6, 4)),
    **in_dimensions("MaxPool#d(2)", 2, (8, 6, 4)),
    **in_dimensions("LPPool#d(2, 2)", 2, (8, 6, 4)),
    **in_dimensions("BatchNorm#d(3)", 3, (6, 4, 3)),
    **in_dimensions("LazyBatchNorm#d()", 3, (6, 4, 3)),
    **in_dimensions("InstanceNorm#d(3, affine=True, track_running_stats=True)", 3, (6, 4, 3)),
    **in_dimensions("LazyInstanceNorm#d(affine=True)", 3, (6, 4, 3)),
    **in_dimensions("Conv#d(2, 3, 3)", 2, (8, 6, 4)),
    **in_dimensions("LazyConv#d(3, 2)", 2, (8, 6, 4)),
    **in_dimensions("ConvTranspose#d(2, 3, 2)", 2, (5, 4, 3)),
    **in_dimensions("LazyConvTranspose#d(3, 2)", 2, (5, 4, 3)),
    **in_dimensions("Dropout#d(0.5)", 4, (6, 4, 3)),
    **in_dimensions("CircularPad#d(1)", 2, (6, 4, 3)),
    **in_dimensions("ConstantPad#d(1, 3.5)", 2, (6, 4, 3)),
    **in_dimensions("ReflectionPad#d(1)", 2, (6, 4, 3)),
    **in_dimensions("ReplicationPad#d(1)", 2, (6, 4, 3)),
    **in_dimensions("ZeroPad#d(1)", 2, (6, 4, 3)),
    "BatchNorm1d(4, momentum=None)": [(6, 4)],
    "SyncBatchNorm(4)": [(6, 4)],
    "FractionalMaxPool2d(2, 3)": [(2, 2, 7, 7)],
    "FractionalMaxPool3d(2, 2)": [(2, 2, 5, 5, 5)],
    **{f"MaxUnpool{d}d(2)": [lambda d=d: pooled(d)] for d in (1, 2, 3)},
    "GroupNorm(2, 4)": [(3, 4, 5)],
    "LocalResponseNorm(3)": [(2, 4, 5, 5)],
    "ChannelShuffle(2)": [(2, 4, 3, 3)],
    "PixelShuffle(2)": [(2, 4, 3, 3)],
    "PixelUnshuffle(2)": [(2, 2, 4, 4)],
    "Fold((4, 4), 2)": [(2, 8, 9)],
    "Unfold(2)": [(2, 2, 4, 4)],
    "Upsample(scale_factor=2)": [(2, 2, 3, 3)],
    "Upsample(size=5, mode='bilinear')": [(2, 2, 3, 3)],
    "Upsample(scale_factor=0.7, mode='bicubic')": [(2, 2, 5, 4)],
    "UpsamplingBilinear2d(scale_factor=2)": [(2, 2, 3, 3)],
    "UpsamplingNearest2d(scale_factor=2)": [(2, 2, 3, 3)],
    "Embedding(7, 3)": [("whole", 7, (4, 5))],
    "Embedding(7, 3, padding_idx=0)": [("whole", 7, (4, 5))],
    "Embedding(7, 3, max_norm=1.0)": [("whole", 7, (4, 5))],
    "EmbeddingBag(7, 3)": [("whole", 7, (4, 5))],
    "EmbeddingBag(7, 3, mode='max')": [("whole", 7, (4, 5))],
    "EmbeddingBag(7, 3, mode='sum', padding_idx=2, scale_grad_by_freq=True)": [("whole", 7, (4, 5))],
    "RNN(3, 4, 2, dropout=0.3)": [(5, 2, 3)],
    "LSTM(3, 4, 2, batch_first=True, bidirectional=True)": [(2, 5, 3)],
    "LSTM(3, 4)": [(5, 2, 3)],
    "GRU(3, 4)": [(5, 2, 3)],
    "RNNCell(3, 4)": [(2, 3)],
    "LSTMCell(3, 4)": [(2, 3)],
    "GRUCell(3, 4)": [(2, 3)],
    "MultiheadAttention(8, 2, dropout=0.1, batch_first=True)": [(2, 5, 8), (2, 5, 8), (2, 5, 8)],
    "TransformerEncoderLayer(8, 2, 16, batch_first=True)": [(2, 5, 8)],
    "TransformerDecoderLayer(8, 2, 16, batch_first=True)": [(2, 5, 8), (2, 4, 8)],
    "TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2)": [(2, 5, 8)],
    "TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, batch_first=True), 2)": [(2, 5, 8), (2, 4, 8)],
    SEQUENCES: [(2, 5, 8), (2, 4, 8)],
}

LOSSES: dict[str, list[Any]] = {
    "AdaptiveLogSoftmaxWithLoss(8, 10, [4, 7])": [(6, 8), ("whole", 10, (6,))],
    "BCELoss()": [("share", (5, 3)), ("share", (5, 3))],
    "BCEWithLogitsLoss()": [(5, 3), ("share", (5, 3))],
    "CTCLoss()": [
        lambda: [norch.randn(6, 2, 5).log_softmax(2), norch.randint(1, 5, (2, 3))],
        lambda: [norch.tensor([6, 6]), norch.tensor([3, 2])],
    ],
    "CosineEmbeddingLoss()": [(5, 3), (5, 3), ("sign", (5,))],
    "CrossEntropyLoss()": [(5, 3), ("whole", 3, (5,))],
    "CrossEntropyLoss(label_smoothing=0.1, ignore_index=1)": [(5, 3), ("whole", 3, (5,))],
    "CrossEntropyLoss(weight=norch.tensor([0.2, 0.5, 1.0]))": [(5, 3), ("whole", 3, (5,))],
    "GaussianNLLLoss()": [(5, 3), (5, 3), ("share", (5, 3))],
    "HingeEmbeddingLoss()": [(5, 3), ("sign", (5, 3))],
    "HuberLoss()": [(5, 3), (5, 3)],
    "KLDivLoss(reduction='batchmean')": [(5, 3), ("share", (5, 3))],
    "L1Loss()": [(5, 3), (5, 3)],
    "LinearCrossEntropyLoss(8, 4)": [(6, 8), ("whole", 4, (6,))],
    "MSELoss()": [(5, 3), (5, 3)],
    "MSELoss(reduction='none')": [(5, 3), (5, 3)],
    "MarginRankingLoss()": [(5,), (5,), ("sign", (5,))],
    "MultiLabelMarginLoss()": [(5, 3), lambda: [norch.tensor([[0, 2, -1]] * 5)]],
    "MultiLabelSoftMarginLoss()": [(5, 3), ("share", (5, 3))],
    "MultiMarginLoss()": [(5, 3), ("whole", 3, (5,))],
    "NLLLoss()": [(5, 3), ("whole", 3, (5,))],
    "NLLLoss2d()": [(5, 3, 2, 2), ("whole", 3, (5, 2, 2))],
    "PoissonNLLLoss()": [(5, 3), ("share", (5, 3))],
    "SmoothL1Loss()": [(5, 3), (5, 3)],
    "SoftMarginLoss()": [(5, 3), ("sign", (5, 3))],
    "TripletMarginLoss()": [(5, 3), (5, 3), (5, 3)],
    "TripletMarginWithDistanceLoss()": [(5, 3), (5, 3), (5, 3)],
}

# Classes that hold others, or are no layers
OTHERS = {"Module", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "RNNBase"}


def layer_of(code: str) -> nn.Module:
    """The layer of a row."""
    return eval(f"nn.{code}", {"nn": nn, "norch": norch})


def inputs_of(row: list[Any]) -> list[norch.Tensor]:
    """Inputs for one call, drawn now."""
    made: list[norch.Tensor] = []
    for kind in row:
        if callable(kind):
            made += kind()
        elif kind[0] == "whole":
            made.append(norch.randint(0, kind[1], kind[2]))
        elif kind[0] == "share":
            made.append(norch.rand(*kind[1]) * 0.9 + 0.05)
        elif kind[0] == "sign":
            made.append(norch.randint(0, 2, kind[1]).float() * 2 - 1)
        else:
            made.append(norch.randn(*kind))
    return made


def floats_in(value: object) -> list[norch.Tensor]:
    """The floating tensors of a result."""
    if isinstance(value, norch.Tensor):
        return [value] if value.dtype.is_floating_point else []
    return [x for part in value for x in floats_in(part)] if isinstance(value, (list, tuple)) else []
