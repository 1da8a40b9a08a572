"""autocast: which dtypes operations run in, gradients, nesting, threads; and what it leaves alone."""

from __future__ import annotations

import threading

import pytest

import norch
from norch import nn
from norch.autocasting import NAMES
from norch.nn import functional as F

M = norch.tensor([[0.5, 0.25], [0.125, 1.0]])


def test_every_listed_name_is_there_or_to_come():
    """A name that norch does not have is a spelling mistake, unless PyTorch has it."""
    to_come = {"multi_dot", "stft", "vecdot", "bilinear", "pdist", "max_unpool3d", "erfinv", "renorm", "dist"}
    rooms, of_padding = (norch, norch.Tensor, F, norch.linalg), {"pad_by_edges"}
    assert {name for name in NAMES if not any(hasattr(x, name) for x in rooms)} <= to_come | of_padding


@pytest.mark.parametrize("kind", [norch.bfloat16, norch.float16])
def test_products_run_in_16_bits_losses_in_float32(kind):
    half = M.to(kind)
    with norch.autocast("cpu", dtype=kind):
        assert (M @ M).dtype is kind and (half @ M).dtype is kind and F.linear(M, half).dtype is kind
        assert norch.addmm(M, half, M).dtype is kind and M.mm(M).dtype is kind
        assert F.conv1d(M.unsqueeze(0), norch.ones(1, 2, 1)).dtype is kind
        assert F.mse_loss(half, half).dtype is F.cross_entropy(half, norch.tensor([0, 1])).dtype is norch.float32
        assert half.prod().dtype is norch.float32
        assert norch.cat([half, M]).dtype is norch.float32 and norch.cat([half, half]).dtype is kind
        assert (M + M).dtype is M.exp().dtype is norch.float32 and (half + half).dtype is half.sum().dtype is kind
        assert (M.double() @ M.double()).dtype is norch.float64 and (M.long() @ M.long()).dtype is norch.int64
        assert nn.LSTM(2, 3)(M)[0].dtype is kind and nn.RNNCell(2, 3)(M).dtype is kind
        assert nn.MultiheadAttention(2, 1)(M, M, M)[0].dtype is kind
        assert norch.einsum("ij,jk->ik", M, half).dtype is kind
        for equation, tensors in (("ii->i", [M]), ("ij->i", [M]), ("ij,ij->ij", [M, half])):  # no products are summed
            assert norch.einsum(equation, *tensors).dtype is norch.float32
        assert norch.tensordot(M, M, 0).dtype is norch.tensordot(M, M, 1).dtype is kind
        assert norch.tensordot(M, M, 2).dtype is norch.float32  # a dot product
        assert norch.svd_lowrank(M, 2)[0].dtype is norch.pca_lowrank(M, 2)[0].dtype is kind
        sparse = M.to_sparse()
        assert (sparse @ M).dtype is (M @ sparse).dtype is norch.sparse.mm(sparse, half).dtype is sparse.mv(M[0]).dtype
        assert sparse.mv(M[0]).dtype is norch.sparse.addmm(M, sparse, half).dtype is kind
    assert (M @ M).dtype is norch.float32
    expected = (M.to(kind).float() @ M.to(kind).float()).to(kind)
    with norch.autocast("cpu", dtype=kind):
        assert (M @ M).tolist() == expected.tolist()


@pytest.mark.parametrize("layer", [nn.GRU(2, 3, 2, bidirectional=True), nn.GRUCell(2, 3), nn.LSTMCell(2, 3)], ids=repr)
def test_a_state_that_is_wider_than_the_autocast_stays_so(layer):
    """As in PyTorch on the CPU; the states of RNN and LSTM become narrow, and those of what is narrow stay narrow."""
    with norch.autocast("cpu"):
        hidden, narrow = layer(M)[0], layer(M.bfloat16())[0]
    assert hidden.dtype is norch.float32 and narrow.dtype is norch.bfloat16
    assert (hidden - layer(M)[0]).abs().max() < 0.02
    hidden.sum().backward()
    assert all(p.grad.dtype is norch.float32 for p in layer.parameters())


def test_gradients_have_the_dtype_of_the_leaves():
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.LayerNorm(3), nn.Linear(3, 1))
    x = M.clone().requires_grad_()
    with norch.autocast("cpu"):
        y = model(x)
        loss = F.mse_loss(y, norch.zeros(2, 1))
        assert y.dtype is norch.bfloat16 and loss.dtype is norch.float32
    loss.backward()
    for tensor in (x, *model.parameters()):
        assert tensor.grad.dtype is norch.float32
    exact = nn.Sequential(*model)(x.detach())
    assert (exact - y.float()).abs().max() < 0.05


@pytest.mark.parametrize("layer", [nn.LayerNorm(4), nn.BatchNorm1d(2), nn.GroupNorm(1, 2), nn.RMSNorm(4)], ids=repr)
def test_norms_take_halves_beside_parameters_of_float32(layer):
    x = norch.randn(3, 2, 4).bfloat16()
    for module in (layer.train(), layer.eval()):
        y = module(x)
        assert y.dtype is norch.bfloat16 and y.tolist() == module(x.float()).bfloat16().tolist()


def test_a_parameter_is_converted_once_and_again_after_a_write():
    w = nn.Parameter(M)
    with norch.autocast("cpu"):
        first, second = (M @ w), (M @ w)
        assert first.grad_fn.edges[1] is second.grad_fn.edges[1]
        (first.sum() + second.sum()).backward()  # inside, too: backward is no operation of the list
        assert w.grad.dtype is norch.float32 and w.grad.tolist() == [[1.25, 1.25], [2.5, 2.5]]
        (M @ w).sum().backward()  # the graph of the copy is spent
        with norch.no_grad():
            w.zero_()
            assert (M @ w).abs().max() == 0
        with norch.autocast("cpu", cache_enabled=False):
            assert (M @ w).grad_fn.edges[1] is not (M @ w).grad_fn.edges[1]
    assert norch.is_autocast_cache_enabled()


def test_contexts_nest_and_threads_are_apart():
    seen = []
    with norch.autocast("cpu"):
        thread = threading.Thread(target=lambda: seen.append((M @ M).dtype))
        thread.start()
        thread.join()
        with norch.no_grad(), norch.autocast("cpu", dtype=norch.float16):
            assert (M @ M).dtype is norch.float16 and norch.get_autocast_dtype("cpu") is norch.float16
            with norch.autocast("cpu", enabled=False):
                assert (M @ M).dtype is norch.float32 and not norch.is_autocast_enabled("cpu")
        assert (M @ M).dtype is norch.bfloat16 and norch.is_autocast_cpu_enabled()
    assert seen == [norch.float32] and not norch.is_autocast_enabled("cpu")
    with pytest.raises(ZeroDivisionError), norch.autocast("cpu"):
        raise ZeroDivisionError
    assert (M @ M).dtype is norch.float32

    @norch.autocast("cpu")
    def product(x):
        return x @ x

    assert product(M).dtype is norch.bfloat16 and (M @ M).dtype is norch.float32
    norch.set_autocast_enabled("cpu", True)
    assert (M @ M).dtype is norch.bfloat16
    norch.set_autocast_enabled("cpu", False)
    assert (M @ M).dtype is norch.float32


def test_refusals_and_warnings():
    with pytest.raises(ValueError, match="str"):
        norch.autocast(norch.float16)
    with pytest.raises(RuntimeError, match="'abacus'"):
        norch.autocast("abacus")
    with pytest.warns(UserWarning, match="float32 is not supported"), norch.autocast("cpu", dtype=norch.float32):
        assert (M @ M).dtype is norch.float32
    with pytest.warns(FutureWarning, match="norch.amp.autocast"), norch.cpu.amp.autocast():
        assert (M @ M).dtype is norch.bfloat16


def test_cuda(device):
    if device == "cpu":
        if not norch.cuda.is_available():
            with pytest.warns(UserWarning, match="not available"), norch.autocast("cuda"):
                assert not norch.is_autocast_enabled() and (M @ M).dtype is norch.float32
        return
    x = M.to(device)
    with norch.autocast("cuda"):
        assert (x @ x).dtype is x.half().mv(x[0]).dtype is norch.float16 and (M @ M).dtype is norch.float32
        assert x.half().exp().dtype is (x.half() ** 2).dtype is x.half().sum().dtype is norch.float32
        assert x.half().softmax(1).dtype is F.layer_norm(x.half(), [2]).dtype is norch.float32
        assert x.half().sqrt().dtype is norch.float16


def test_custom_forward_and_backward():
    kinds = []

    class Product(norch.autograd.Function):
        @staticmethod
        @norch.amp.custom_fwd(device_type="cpu")
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x @ x

        @staticmethod
        @norch.amp.custom_bwd(device_type="cpu")
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            kinds.append((x @ x).dtype)
            return (gradient.float() @ x.float().T + x.float().T @ gradient.float()).float()

    x = M.clone().requires_grad_()
    with norch.autocast("cpu"):
        y = Product.apply(x)
    y.sum().backward()
    assert y.dtype is norch.bfloat16 and kinds == [norch.bfloat16] and x.grad.dtype is norch.float32


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_maxima_go_back_to_their_places_in_float32(axes):
    x, places = norch.ones(1, 1, *[2] * axes, dtype=norch.bfloat16), norch.arange(2**axes).reshape(1, 1, *[2] * axes)
    with norch.autocast("cpu", norch.bfloat16):
        assert getattr(norch.nn.functional, f"max_unpool{axes}d")(x, places, 2).dtype is norch.float32


def test_devices_of_pytorch_alone_have_no_autocast():
    assert not any(norch.is_autocast_enabled(kind) for kind in ("mps", "xpu"))
    with pytest.raises(RuntimeError, match="gpu"):
        norch.is_autocast_enabled("gpu")
