"""What norch.onnx.export writes, run by onnxruntime: the outputs are the model's, for inputs of other sizes too."""

from __future__ import annotations

import io
import math
import sys
from pathlib import Path

import numpy as np
import pytest

import norch
import norch.nn.functional as F
from norch import nn

onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

ACTIVATIONS = """
ReLU Sigmoid Tanh GELU SiLU LeakyReLU ELU Softplus Hardtanh ReLU6 Hardswish Hardsigmoid Mish SELU CELU Softsign
Tanhshrink Softshrink Hardshrink LogSigmoid PReLU GLU Identity RReLU Threshold
""".split()
OPTIONS = {"Threshold": (0.1, 2.0)}

# name: the model, the shapes of its inputs; the first dimension of each is the batch
LAYERS = {
    **{name: (lambda name=name: getattr(nn, name)(*OPTIONS.get(name, ())), [(2, 4)]) for name in ACTIVATIONS},
    "Linear": (lambda: nn.Linear(3, 4), [(2, 3)]),
    "Linear of sequences": (lambda: nn.Linear(3, 4), [(2, 5, 3)]),
    "Softmax": (lambda: nn.Softmax(-1), [(2, 3)]),
    "LogSoftmax": (lambda: nn.LogSoftmax(1), [(2, 3, 4)]),
    "Dropout": (lambda: nn.Dropout(0.5), [(2, 3)]),
    "Flatten": (lambda: nn.Flatten(), [(2, 3, 4)]),
    "LayerNorm": (lambda: nn.LayerNorm([3, 4]), [(2, 3, 4)]),
    "RMSNorm": (lambda: nn.RMSNorm(4), [(2, 3, 4)]),
    "GroupNorm": (lambda: nn.GroupNorm(2, 4), [(2, 4, 5)]),
    "BatchNorm1d": (lambda: nn.BatchNorm1d(4), [(2, 4)]),
    "BatchNorm2d": (lambda: nn.BatchNorm2d(4), [(2, 4, 3, 3)]),
    "InstanceNorm2d": (lambda: nn.InstanceNorm2d(4, affine=True), [(2, 4, 3, 3)]),
    "Conv1d": (lambda: nn.Conv1d(2, 4, 3, stride=2, padding=1), [(2, 2, 9)]),
    "Conv2d": (lambda: nn.Conv2d(2, 4, (3, 2), dilation=(1, 2), groups=2), [(2, 2, 6, 7)]),
    "Conv3d": (lambda: nn.Conv3d(2, 4, 3), [(2, 2, 5, 5, 5)]),
    "ConvTranspose1d": (lambda: nn.ConvTranspose1d(2, 4, 3, stride=2), [(2, 2, 5)]),
    "ConvTranspose2d": (lambda: nn.ConvTranspose2d(2, 4, 3, 2, padding=1, output_padding=1), [(2, 2, 5, 5)]),
    "MaxPool1d": (lambda: nn.MaxPool1d(2), [(2, 3, 7)]),
    "MaxPool2d": (lambda: nn.MaxPool2d(3, 2, 1), [(2, 3, 7, 7)]),
    "AvgPool2d": (lambda: nn.AvgPool2d(3, 2, 1, count_include_pad=False), [(2, 3, 7, 7)]),
    "AdaptiveAvgPool2d": (lambda: nn.AdaptiveAvgPool2d((1, 2)), [(2, 3, 6, 6)]),
    "Upsample": (lambda: nn.Upsample(scale_factor=2), [(2, 2, 3, 3)]),
    "Upsample bilinear": (lambda: nn.Upsample(scale_factor=2, mode="bilinear"), [(2, 2, 3, 3)]),
    "PixelShuffle": (lambda: nn.PixelShuffle(2), [(2, 4, 3, 3)]),
    "ZeroPad2d": (lambda: nn.ZeroPad2d(1), [(2, 4, 3, 3)]),
    "ReflectionPad2d": (lambda: nn.ReflectionPad2d(1), [(2, 4, 3, 3)]),
    "ReplicationPad2d": (lambda: nn.ReplicationPad2d(1), [(2, 3, 3, 3)]),
    "CircularPad2d": (lambda: nn.CircularPad2d(1), [(2, 3, 3, 3)]),
    "Bilinear": (lambda: nn.Bilinear(3, 4, 2), [(2, 3), (2, 4)]),
    "Unfold": (lambda: nn.Unfold(3, padding=1), [(2, 2, 5, 5)]),
    "Fold": (lambda: nn.Fold((4, 5), 2, stride=(2, 1), padding=1), [(2, 8, 18)]),
    "MaxPool3d": (lambda: nn.MaxPool3d(2), [(2, 2, 4, 4, 4)]),
    "AvgPool3d": (lambda: nn.AvgPool3d(2), [(2, 2, 4, 4, 4)]),
    "AdaptiveMaxPool2d": (lambda: nn.AdaptiveMaxPool2d(2), [(2, 2, 5, 4)]),
    "AdaptiveAvgPool2d of no multiple": (lambda: nn.AdaptiveAvgPool2d((3, 2)), [(2, 2, 5, 7)]),
    "LPPool2d": (lambda: nn.LPPool2d(2, 2), [(2, 2, 4, 4)]),
    "LocalResponseNorm": (lambda: nn.LocalResponseNorm(2), [(2, 4, 3, 3)]),
    "CosineSimilarity": (lambda: nn.CosineSimilarity(), [(2, 4), (2, 4)]),
    "PairwiseDistance": (lambda: nn.PairwiseDistance(), [(2, 4), (2, 4)]),
    "ConvTranspose3d": (lambda: nn.ConvTranspose3d(2, 3, 2, stride=2), [(2, 2, 3, 3, 3)]),
    "BatchNorm3d": (lambda: nn.BatchNorm3d(2), [(2, 2, 3, 3, 3)]),
    "bicubic": (lambda: nn.Upsample(scale_factor=2, mode="bicubic"), [(2, 1, 3, 3)]),
    "trilinear": (lambda: nn.Upsample(scale_factor=2, mode="trilinear"), [(2, 1, 3, 3, 3)]),
    "PixelUnshuffle": (lambda: nn.PixelUnshuffle(2), [(2, 1, 4, 4)]),
    "Unflatten": (lambda: nn.Unflatten(1, (2, 2)), [(2, 4)]),
    "LSTMCell": (lambda: nn.LSTMCell(3, 4), [(2, 3)]),
    "projected LSTM": (lambda: nn.LSTM(3, 4, proj_size=2, batch_first=True), [(2, 5, 3)]),
    "Transformer": (lambda: nn.Transformer(8, 2, 1, 1, 16, batch_first=True), [(2, 3, 8), (2, 4, 8)]),
    "LSTM": (lambda: nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True), [(2, 5, 3)]),
    "GRU": (lambda: nn.GRU(3, 4, batch_first=True), [(2, 5, 3)]),
    "RNN": (lambda: nn.RNN(3, 4, batch_first=True), [(2, 5, 3)]),
    "MultiheadAttention": (lambda: nn.MultiheadAttention(8, 2, batch_first=True), [(2, 5, 8)] * 3),
    "TransformerEncoderLayer": (lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), [(2, 5, 8)]),
    "TransformerDecoderLayer": (lambda: nn.TransformerDecoderLayer(8, 2, 16, batch_first=True), [(2, 5, 8)] * 2),
}

FUNCTIONS = {
    "reductions": lambda x: (x.sum(), x.mean(0), x.var(1), x.std(0), x.norm(dim=1), x.prod(1), x.logsumexp(1)),
    "order": lambda x: (x.max(1).values, x.argmax(1), x.argmin(), x.topk(2).values, x.sort(1, descending=True)[0]),
    "logic": lambda x: ((x > 0) & (x < 1), (x != 0).any(1), (x > -9).all(), norch.where(x > 0, x, -x), ~(x > 0)),
    "shapes": lambda x: (x.T, x.flip([0]), x.chunk(2, 1)[1], norch.stack([x, x]), x.expand(2, 3, 4), x.repeat(2, 1)),
    "indices": lambda x: (
        x[:, 1],
        x[1, 2],
        x[norch.tensor([0, 2])],
        x[[0, 1], [1, 2]],
        x[1:, ::2],
        x.gather(1, x.argsort(1)),
    ),
    "places": lambda x: (
        *(x.roll(1), x.roll((1, -2), (0, 1)), F.pad(x, (1, -1, 0, 2), value=3.0), x.diagonal(1), x.diagonal(-1, 1, 0)),
        *(x.repeat(2, 1, 3), x.repeat_interleave(2, 1), x.diag_embed(1), x.diag_embed(-1, 0, 2), x.T.ravel()),
        F.one_hot(x.argmax(1), 5),
    ),
    "composed": lambda x: (
        norch.cat([x, x / norch.zeros(1), x - math.inf]).nan_to_num(nan=0.5, posinf=3.0),
        *(x.sinc(), (x * 0).sinc(), x.sigmoid().logit(), x.trace(), (10 * x).int().trace()),
        *(norch.linalg.cross(x, 2 * x[:, :1] + 1, dim=0), norch.block_diag(x, x[0], x[1, 1])),
    ),
    "three operands": lambda x: (
        norch.addcmul(x, x, x + 1, value=0.5),
        norch.addcdiv(x, x, x * x + 1),
        x.lerp(x * x, 0.3),
        x.sub(x * x, alpha=2),
    ),
    "arithmetic": lambda x: (
        x // 0.3,
        x % 0.3,
        2**x,
        x.pow(2),
        x + 1,
        1 / x,
        x.long() // 2,
        x.long() % 3,
        x.clamp(0, 1),
    ),
    "losses": lambda x: (F.mse_loss(x, x + 1), F.huber_loss(x, 2 * x), F.cross_entropy(x, norch.tensor([0, 3, 1]))),
    "losses of pairs": lambda x: (
        F.binary_cross_entropy(x.sigmoid(), (2 * x).sigmoid()),
        F.l1_loss(x, 2 * x, reduction="sum"),
        F.smooth_l1_loss(x, 3 * x, beta=0.5),
        F.binary_cross_entropy_with_logits(x, (2 * x).sigmoid()),
        F.soft_margin_loss(x, -x.sign()),
        F.margin_ranking_loss(x, 2 * x, x.sign(), 0.5),
        F.hinge_embedding_loss(x, x.sign(), 0.5),
        F.poisson_nll_loss(x, x.exp()),
        F.kl_div(x.log_softmax(1), (2 * x).softmax(1), reduction="batchmean"),
    ),
    "weighted losses": lambda x: (
        F.cross_entropy(x, norch.tensor([0, 3, 1]), weight=norch.tensor([1.0, 2.0, 0.5, 3.0])),
        F.nll_loss(x, norch.tensor([0, 3, -100])),
        F.cross_entropy(x, norch.tensor([0, 3, -100]), label_smoothing=0.2),
        F.cross_entropy(x, norch.tensor([0, 3, -100]), label_smoothing=0.2, reduction="sum"),
        F.cross_entropy(x, norch.tensor([0, 3, -100]), label_smoothing=0.2, reduction="none"),
        F.multi_margin_loss(x, norch.tensor([0, 3, 1]), margin=0.5),
    ),
    "borders": lambda x: [F.pad(x[None, None], (1, 2, 0, 1), mode) for mode in ("reflect", "replicate", "circular")],
    "grids": lambda x: [
        F.grid_sample(x[None, None], (x[None, :, :2] * 0.7).unsqueeze(1), mode, border, align_corners=False)
        for mode, border in (("bilinear", "zeros"), ("bilinear", "reflection"), ("nearest", "border"))
    ],
    "halves": lambda x: (F.glu(x), F.glu(x.T, 0)),
    "steps": lambda x: (x.cumsum(1), x.masked_fill(x > 0, 0.0), x.tril(), x.clone().mul_(2).add_(x), F.normalize(x)),
}


MASKS = {
    "no mask": {},
    "causal": {"is_causal": True},
    "bool": {"attn_mask": norch.tensor([[True, False, True], [False, False, False]]).repeat(2, 1)},
    "float": {"attn_mask": norch.tensor([[0.5, -math.inf, 0.0], [-math.inf] * 3]).repeat(2, 1)},
}


def ran(model, inputs, others=(), **options):
    """Exports the model, and compares what onnxruntime computes with what the model does."""
    file, names = io.BytesIO(), [f"x{number}" for number in range(len(inputs))]
    norch.onnx.export(model, tuple(inputs), file, input_names=names, **options)
    session = onnxruntime.InferenceSession(file.getvalue(), providers=["CPUExecutionProvider"])
    if isinstance(model, nn.Module):
        model.eval()
    for given in (inputs, *others):
        found = session.run(None, {name: x.numpy() for name, x in zip(names, given)})
        expected = norch.onnx._tensors(model(*given))
        assert len(found) == len(expected)
        for result, value in zip(found, expected):
            wanted = value.detach().numpy()
            assert (result.shape, result.dtype) == (wanted.shape, wanted.dtype)
            np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", MASKS)
def test_attention(name):
    """Also of rows that see no key, which are 0."""
    norch.manual_seed(0)
    inputs = [norch.randn(2, length, 4) for length in (4, 3, 3)]
    ran(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, **MASKS[name]), inputs)


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name):
    norch.manual_seed(0)
    make, shapes = LAYERS[name]
    model = make()
    inputs, others = ([norch.randn(size, *shape[1:]) for shape in shapes] for size in (2, 5))
    ran(model, inputs, [others], dynamic_axes={f"x{number}": {0: "batch"} for number in range(len(shapes))})


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    norch.manual_seed(0)
    ran(FUNCTIONS[name], [norch.randn(3, 4)])


def test_embeddings_and_tied_weights():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(11, 4)
            self.head = nn.Linear(4, 11, bias=False)
            self.head.weight = self.embedding.weight

        def forward(self, x):
            places = norch.arange(x.shape[1])
            return self.head(self.embedding(x) + places.unsqueeze(-1))

    norch.manual_seed(0)
    ran(Model(), [norch.randint(0, 11, (2, 5))], [[norch.randint(0, 11, (7, 5))]], dynamic_axes={"x0": [0]})


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags(mode, tmp_path):
    norch.manual_seed(0)
    layer, numbers = nn.EmbeddingBag(11, 4, mode=mode), norch.randint(0, 11, (2, 5))
    ran(layer, [numbers], [[norch.randint(0, 11, (7, 5))]], dynamic_axes={"x0": [0]})
    if mode == "sum":
        ran(lambda x: layer(numbers, per_sample_weights=x), [norch.randn(2, 5)])
    with pytest.raises(RuntimeError, match="embedding_bag with offsets"):
        norch.onnx.export(lambda x: layer(x, norch.tensor([0, 2])), numbers[0], tmp_path / "m.onnx")


def test_models_of_the_examples():
    from char_transformer import CONTEXT, Transformer
    from digits_cnn import Network
    from lstm_sequence import Forecaster
    from wine import Standardize

    norch.manual_seed(0)
    dynamic = {"dynamic_axes": {"x0": {0: "batch"}}}
    ran(Network(), [norch.randn(2, 64)], [[norch.randn(5, 64)]], **dynamic)
    ran(Forecaster(), [norch.randn(2, 9, 1)], [[norch.randn(5, 9, 1)]], **dynamic)
    ran(nn.Sequential(Standardize(norch.randn(9, 3)), nn.Linear(3, 2)), [norch.randn(2, 3)], **dynamic)
    letters = [norch.randint(0, 7, (size, CONTEXT)) for size in (2, 3)]
    ran(Transformer(7), letters[:1], [letters[1:]], **dynamic)


def test_refusals(tmp_path):
    model = nn.Linear(2, 1)
    with pytest.raises(ValueError, match="3 input_names for 1 tensors"):
        norch.onnx.export(model, norch.ones(1, 2), tmp_path / "m.onnx", input_names=["a", "b", "c"])
    with pytest.raises(RuntimeError, match="has no equivalent in ONNX"):
        norch.onnx.export(lambda x: x.nonzero(), norch.ones(3), tmp_path / "m.onnx")
    recurrent = nn.LSTM(2, 3)
    with pytest.raises(RuntimeError, match="other steps"):
        norch.onnx.export(recurrent, norch.ones(4, 1, 2), tmp_path / "m.onnx", dynamic_axes={"input": [0]})
    recurrent(norch.ones(1, 1, 2))[0].sum().backward()
    assert recurrent.training and recurrent.weight_ih_l0.grad is not None, "usable afterwards"
