"""NumPy's names of arguments, and functions of old and new programs, beside torch."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import norch  # noqa: E402

AXES = {
    "softmax": lambda lib, x: [x.softmax(axis=1), lib.softmax(x, axis=0)],
    "log_softmax": lambda lib, x: [x.log_softmax(axis=1)],
    "squeeze": lambda lib, x: [x[:1].squeeze(axis=0), lib.squeeze(x[:, :1], axis=1)],
    "unsqueeze": lambda lib, x: [x.unsqueeze(axis=1), lib.unsqueeze(x, axis=0)],
    "unbind": lambda lib, x: lib.unbind(x, axis=1),
    "median": lambda lib, x: [x.median(axis=1).values, lib.median(x, axis=0, keepdims=True).values],
    "logsumexp": lambda lib, x: [x.logsumexp(axis=(0, 1)), lib.logsumexp(x, axis=0)],
    "quantile": lambda lib, x: [x.quantile(0.3, axis=1, keepdims=True)],
    "argsort": lambda lib, x: [x.argsort(axis=0), lib.argsort(x, axis=1, descending=True)],
    "topk": lambda lib, x: [x.topk(2, axis=1).values],
    "mode": lambda lib, x: [x.round().mode(axis=1).values, x.kthvalue(2, axis=1).values],
    "diff": lambda lib, x: [x.diff(axis=0), lib.diff(x, axis=1)],
    "cummax": lambda lib, x: [x.cummax(axis=1).values, lib.cummin(x, axis=0).values],
    "nansum": lambda lib, x: [x.nansum(axis=0, keepdims=True), x.nanmean(axis=1)],
    "count_nonzero": lambda lib, x: [x.count_nonzero(axis=1)],
    "repeat_interleave": lambda lib, x: [x.repeat_interleave(2, axis=1)],
    "range": lambda lib, x: [lib.range(0, 3), lib.range(1, 2, 0.5), lib.range(3, 1, -1), lib.range(0, 3.5)],
    "where": lambda lib, x: [lib.where((x > 0).to(lib.uint8), x, -x)],
    "einsum": lambda lib, x: [lib.einsum("i,j->ij", lib.arange(3), x[0])],
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", AXES)
def test_as_in_torch(name):
    values = np.random.RandomState(0).randn(3, 4).astype("float32")
    for got, wanted in zip(*(AXES[name](lib, lib.from_numpy(values.copy())) for lib in (norch, torch))):
        assert str(got.dtype).split(".")[1] == str(wanted.dtype).split(".")[1] and got.shape == tuple(wanted.shape)
        np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("maximize", [False, True])
def test_sparse_adam_changes_the_rows_that_were_read(maximize):
    weights = np.random.RandomState(0).randn(6, 3).astype("float32")
    found = []
    for lib in (torch, norch):
        table = lib.nn.Embedding(6, 3, sparse=True)
        table.weight.data.copy_(lib.from_numpy(weights.copy()))
        optimizer = lib.optim.SparseAdam(list(table.parameters()), lr=0.05, betas=(0.8, 0.9), maximize=maximize)
        for i in range(5):
            optimizer.zero_grad()
            (table(lib.tensor([[0, 2], [2, i]])) ** 2).sum().backward()
            optimizer.step()
        state = optimizer.state_dict()["state"][0]
        found.append([table.weight.detach(), state["exp_avg"], state["exp_avg_sq"]])
    for wanted, got in zip(*found):
        np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-5, atol=1e-6)
    assert (found[1][0][5].numpy() == weights[5]).all()
    with pytest.raises(ValueError, match="learning rate"):
        norch.optim.SparseAdam([norch.nn.Parameter([[1.0]])], lr=-1.0)


@pytest.mark.parametrize("shape", [(20, 5), (5, 20), (2, 8, 4)])
def test_decompositions_of_low_rank(shape):
    values = (np.random.RandomState(1).randn(*shape) * 2.0 ** -np.arange(shape[-1])).astype("float32")
    for name, options in [("svd_lowrank", {"q": 3, "niter": 20}), ("pca_lowrank", {"q": 3, "niter": 20})]:
        (u, s, v), (_, expected, axes) = (
            getattr(lib, name)(lib.from_numpy(values), **options) for lib in (norch, torch)
        )
        np.testing.assert_allclose(s.numpy(), expected.numpy(), rtol=1e-4)
        np.testing.assert_allclose(v.abs().numpy(), axes.abs().numpy(), rtol=1e-2, atol=1e-3)
        assert norch.allclose(u.mT @ u, norch.eye(3).expand(*u.shape[:-2], 3, 3), atol=1e-4)
    for refused in [{"q": 99}, {"q": 2, "niter": -1}]:
        with pytest.raises(ValueError, match="pca_lowrank"):
            norch.pca_lowrank(norch.from_numpy(values), **refused)


def test_buffers_register_where_they_are_assigned():
    states = []
    for lib in (torch, norch):
        module = lib.nn.Module()
        module.kept, module.passing = lib.nn.Buffer(lib.ones(2)), lib.nn.Buffer(lib.ones(1), persistent=False)
        module.kept = module.kept * 3
        states.append(({k: v.tolist() for k, v in module.state_dict().items()}, [k for k, _ in module.named_buffers()]))
    assert states[0] == states[1] == ({"kept": [3.0, 3.0]}, ["kept", "passing"])
