"""The dtypes that operations return under autocast, and a training step, beside PyTorch's."""

from __future__ import annotations

import warnings

import pytest
import torch

import norch

# Each is called with a library, its nn.functional, and operands of float32 or bfloat16: a vector, a matrix, a batch of
# them, an image and a volume; and with labels.
CALLS = {
    "matmul": lambda lib, F, t: t.m @ t.m,
    "mm": lambda lib, F, t: lib.mm(t.m, t.m),
    "bmm": lambda lib, F, t: lib.bmm(t.b, t.b),
    "mv": lambda lib, F, t: t.m.mv(t.v),
    "dot": lambda lib, F, t: t.v.dot(t.v),
    "outer": lambda lib, F, t: lib.outer(t.v, t.v),
    "addmm": lambda lib, F, t: lib.addmm(t.m, t.m, t.m),
    "baddbmm": lambda lib, F, t: lib.baddbmm(t.b, t.b, t.b),
    "addbmm": lambda lib, F, t: lib.addbmm(t.m, t.b, t.b),
    "einsum": lambda lib, F, t: lib.einsum("ij,jk->ik", t.m, t.m),
    "tensordot": lambda lib, F, t: lib.tensordot(t.m, t.m, 1),
    "inner": lambda lib, F, t: lib.inner(t.m, t.m),
    "linear": lambda lib, F, t: F.linear(t.m, t.m, t.v),
    "conv2d": lambda lib, F, t: F.conv2d(t.image, t.image[:, :, :2, :2]),
    "conv3d": lambda lib, F, t: F.conv3d(t.volume, t.volume[:, :, :2, :2, :2]),
    "conv_transpose2d": lambda lib, F, t: F.conv_transpose2d(t.image, t.kernel),
    "attention": lambda lib, F, t: F.scaled_dot_product_attention(t.b, t.b, t.b),
    "prelu": lambda lib, F, t: F.prelu(t.m, t.v[:1]),
    "exp": lambda lib, F, t: t.m.exp(),
    "pow": lambda lib, F, t: t.m**2.0,
    "sum": lambda lib, F, t: t.m.sum(),
    "mean": lambda lib, F, t: t.m.mean(),
    "prod": lambda lib, F, t: t.m.prod(),
    "trace": lambda lib, F, t: t.m.trace(),
    "cumsum": lambda lib, F, t: t.m.cumsum(0),
    "norm": lambda lib, F, t: t.m.norm(),
    "softmax": lambda lib, F, t: t.m.softmax(1),
    "log_softmax": lambda lib, F, t: F.log_softmax(t.m, 1),
    "gelu": lambda lib, F, t: F.gelu(t.m),
    "layer_norm": lambda lib, F, t: F.layer_norm(t.m, (3,)),
    "group_norm": lambda lib, F, t: F.group_norm(t.image, 2),
    "normalize": lambda lib, F, t: F.normalize(t.m),
    "local_response_norm": lambda lib, F, t: F.local_response_norm(t.b, 2),
    "local_response_norm of images": lambda lib, F, t: F.local_response_norm(t.image, 2),
    "cosine_similarity": lambda lib, F, t: F.cosine_similarity(t.m, t.m),
    "cdist": lambda lib, F, t: lib.cdist(t.m, t.m),
    "max_pool2d": lambda lib, F, t: F.max_pool2d(t.image, 2),
    "avg_pool2d": lambda lib, F, t: F.avg_pool2d(t.image, 2),
    "max_pool3d": lambda lib, F, t: F.max_pool3d(t.volume, 2),
    "adaptive_avg_pool3d": lambda lib, F, t: F.adaptive_avg_pool3d(t.volume, 2),
    "mse_loss": lambda lib, F, t: F.mse_loss(t.m, t.m),
    "l1_loss": lambda lib, F, t: F.l1_loss(t.m, t.m),
    "huber_loss": lambda lib, F, t: F.huber_loss(t.m, t.m),
    "cross_entropy": lambda lib, F, t: F.cross_entropy(t.m, t.labels),
    "nll_loss": lambda lib, F, t: F.nll_loss(t.m, t.labels),
    "kl_div": lambda lib, F, t: F.kl_div(t.m, t.m, reduction="sum"),
    "bce": lambda lib, F, t: F.binary_cross_entropy(t.m, t.m),
    "bce_with_logits": lambda lib, F, t: F.binary_cross_entropy_with_logits(t.m, t.m),
    "cat": lambda lib, F, t: lib.cat([t.m, t.wide]),
    "stack": lambda lib, F, t: lib.stack([t.m, t.wide]),
    "add": lambda lib, F, t: t.m + t.wide,
    "matmul of two dtypes": lambda lib, F, t: t.m @ t.wide,
    "matmul of doubles": lambda lib, F, t: t.m.double() @ t.m.double(),
    "convolution": lambda lib, F, t: lib.convolution(t.b, t.b[0][:, :, None], None, [1], [0], [1], False, [0], 1),
    "vecdot": lambda lib, F, t: lib.linalg.vecdot(t.m, t.m),
    "inverse": lambda lib, F, t: t.positive.inverse(),
    "linalg.inv": lambda lib, F, t: lib.linalg.inv(t.positive),
    "pinverse": lambda lib, F, t: lib.pinverse(t.positive),
    "linalg.solve": lambda lib, F, t: lib.linalg.solve(t.positive, t.v),
    "lstsq": lambda lib, F, t: lib.linalg.lstsq(t.positive, t.m)[0],
    "lu_solve": lambda lib, F, t: t.m.lu_solve(*lib.linalg.lu_factor(t.positive.float())),
    "triangular_solve": lambda lib, F, t: lib.triangular_solve(t.m, t.positive)[0],
    "cholesky": lambda lib, F, t: lib.cholesky(t.positive),
    "cholesky_solve": lambda lib, F, t: t.m.cholesky_solve(t.positive),
    "qr": lambda lib, F, t: lib.linalg.qr(t.positive)[1].abs(),
    "svdvals": lambda lib, F, t: lib.linalg.svdvals(t.positive),
    "eigvalsh": lambda lib, F, t: lib.linalg.eigvalsh(t.positive),
    "cond": lambda lib, F, t: lib.linalg.cond(t.positive),
    "matrix_rank": lambda lib, F, t: lib.linalg.matrix_rank(t.positive),
    "reflect": lambda lib, F, t: F.pad(t.b, (1, 2), mode="reflect"),
    "reflect volumes": lambda lib, F, t: F.pad(t.volume, (1, 0, 1, 0, 1, 2), mode="reflect"),
    "replicate": lambda lib, F, t: F.pad(t.volume, (1, 0, 1, 0, 1, 2), mode="replicate"),
    "circular": lambda lib, F, t: F.pad(t.b, (1, 2), mode="circular"),
    "embedding": lambda lib, F, t: F.embedding(t.labels, t.m),
}

# Whose values have been rounded on the way in one of the libraries
OF_DTYPE = {
    "bilinear": lambda lib, F, t: F.bilinear(t.m, t.m, t.b[:, :, :3]),
    "matrix_exp": lambda lib, F, t: lib.linalg.matrix_exp(t.m),
    "linear_cross_entropy": lambda lib, F, t: F.linear_cross_entropy(t.m, t.m, t.labels),
}


class Operands:
    def __init__(self, lib, kind):
        values = [0.1 * i for i in range(1, 10)]
        self.wide = lib.tensor(values).reshape(3, 3)
        self.m = self.wide.to(kind)
        self.positive = (self.wide @ self.wide.mT + lib.eye(3)).to(kind)
        self.v, self.b = self.m[0], lib.stack([self.m, self.m])
        self.image = lib.arange(72).reshape(1, 2, 6, 6).to(kind) * 0.01
        self.kernel = self.image[:, :, :3, :3].permute(1, 0, 2, 3)
        self.volume = lib.arange(432).reshape(1, 2, 6, 6, 6).to(kind) * 0.01
        self.labels = lib.tensor([0, 1, 2])


@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", [*CALLS, *OF_DTYPE])
def test_dtype_and_values(name, kind):
    call = CALLS.get(name) or OF_DTYPE[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autocast("cpu"):
            expected = call(torch, torch.nn.functional, Operands(torch, getattr(torch, kind)))
        with norch.autocast("cpu"):
            found = call(norch, norch.nn.functional, Operands(norch, getattr(norch, kind)))
    assert str(found.dtype).split(".")[1] == str(expected.dtype).split(".")[1]
    if name in OF_DTYPE:
        return
    tolerance = 2e-5 if found.dtype is norch.float32 and kind == "float32" else 2e-2
    torch.testing.assert_close(
        torch.tensor(found.tolist()), torch.tensor(expected.tolist()), rtol=tolerance, atol=tolerance
    )


@pytest.mark.parametrize("kind", ["bfloat16", "float16"])
def test_training_with_a_scaler(kind):
    """Twenty steps of a small net: losses as PyTorch's, but for roundings."""

    def train(lib):
        nn = lib.nn
        model = nn.Sequential(nn.Linear(4, 16), nn.LayerNorm(16), nn.ReLU(), nn.Linear(16, 3))
        with lib.no_grad():
            for k, p in enumerate(model.parameters()):
                count = p.numel()
                p.copy_((lib.arange(count) * 7 % 11 / 11 - 0.45).reshape(p.shape) * (0.5 if k % 2 == 0 else 0.1))
        optimizer = lib.optim.SGD(model.parameters(), lr=0.1)
        scaler = lib.amp.GradScaler("cpu", init_scale=256.0, growth_interval=5)
        x = (lib.arange(48) * 5 % 13 / 13).reshape(12, 4)
        y = lib.arange(12) % 3
        losses = []
        for _ in range(20):
            optimizer.zero_grad()
            with lib.autocast("cpu", dtype=getattr(lib, kind)):
                loss = nn.functional.cross_entropy(model(x), y)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            losses.append(loss.item())
        return losses, scaler.get_scale()

    (found, scale), (expected, expected_scale) = train(norch), train(torch)
    assert scale == expected_scale == 4096.0
    assert found == pytest.approx(expected, rel=1e-2)


LAYERS = {
    "LSTM": {},
    "LSTM, projected": {"proj_size": 2},
    "LSTM, two projected": {"num_layers": 2, "proj_size": 2, "dropout": 0.5},
    "LSTM, both ways": {"bidirectional": True, "proj_size": 2, "bias": False},
    "LSTM, two": {"num_layers": 2},
    "GRU": {"num_layers": 2},
    "RNN": {},
}


def dtypes(tensors):
    return [(str(x.dtype).split(".")[1], tuple(x.shape)) for x in tensors]


@pytest.mark.filterwarnings("ignore:LSTM with projections")  # torch tells which kernel it takes
@pytest.mark.parametrize("kind", ["float32", "bfloat16", "float16", "float64", "packed", "state"])
@pytest.mark.parametrize("name", LAYERS)
def test_dtypes_of_recurrent_layers(name, kind):
    found = []
    for lib in (torch, norch):
        layer, x = getattr(lib.nn, name.split(",")[0])(3, 4, **LAYERS[name]), lib.ones(5, 2, 3)
        try:
            with lib.autocast("cpu"):
                if kind == "packed":
                    y, states = layer(lib.nn.utils.rnn.pack_padded_sequence(x, [5, 3]))
                    y = y.data
                elif kind == "state":
                    _, states = layer(x)
                    y, states = layer(x, states)
                else:
                    y, states = layer(x.to(getattr(lib, kind)))
            found.append(dtypes([y, *states] if isinstance(states, tuple) else [y, states]))
        except RuntimeError as error:
            if lib is torch and "primitive descriptor" in str(error):
                pytest.skip("torch has no LSTM in bfloat16 on this processor, without AVX-512")
            found.append("RuntimeError")
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", ["covariance_matrix", "precision_matrix", "scale_tril"])
def test_dtypes_and_values_of_normal_vectors(kind):
    found = []
    for lib in (torch, norch):
        matrix = lib.tensor([[2.0, 0.0], [0.5, 1.0]])
        matrix = matrix if kind == "scale_tril" else matrix @ matrix.mT
        for context in (lib.autocast("cpu", enabled=False), lib.autocast("cpu")):
            with context:
                d = lib.distributions.MultivariateNormal(lib.zeros(2), **{kind: matrix})
                parts = [d.scale_tril, d.precision_matrix, d.covariance_matrix, d.variance, d.entropy(), d.rsample()]
                found.append(([str(x.dtype).split(".")[1] for x in parts], [x.tolist() for x in parts[:5]]))
    for theirs, ours, tolerance in ((found[0], found[2], 1e-5), (found[1], found[3], 2e-2)):
        assert ours[0] == theirs[0]
        for mine, wanted in zip(ours[1], theirs[1]):
            torch.testing.assert_close(torch.tensor(mine), torch.tensor(wanted), rtol=tolerance, atol=tolerance)
