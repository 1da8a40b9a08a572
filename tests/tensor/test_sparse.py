"""Sparse tensors: what they hold, their products and sums against dense ones, and gradients of their values."""

from __future__ import annotations

import pytest
from compare import assert_close

import norch
from norch import nn
from norch.autograd import gradcheck, gradgradcheck

INDICES = [[0, 1, 1, 3, 0], [2, 0, 2, 1, 2]]  # (0, 2) comes twice
VALUES = [3.0, 4.0, 5.0, -1.0, 2.0]
DENSE = [[0, 0, 5], [4, 0, 5], [0, 0, 0], [0, -1, 0]]


def sparse(values=None, indices=None, size=(4, 3), device="cpu"):
    values = norch.tensor(VALUES, dtype=norch.float64, device=device) if values is None else values
    return norch.sparse_coo_tensor(norch.tensor(indices or INDICES, device=device), values, size)


def other(device="cpu"):
    return sparse(norch.tensor([1.0, 2.0], dtype=norch.float64, device=device), [[0, 2], [2, 0]], device=device)


def matrix(rows, columns, device="cpu"):
    return norch.arange(1.0, rows * columns + 1, dtype=norch.float64, device=device).reshape(rows, columns)


def test_a_sparse_tensor_tells_what_it_holds(device):
    x = sparse(device=device)
    assert x.is_sparse and not norch.ones(2).is_sparse and x.layout is norch.sparse_coo
    assert x.shape == x.size() == (4, 3) and x.size(0) == len(x) == 4 and x.dim() == x.ndim == 2 and x.numel() == 12
    assert x._nnz() == 5 and x._indices().tolist() == INDICES and x._values().tolist() == VALUES
    assert not x.is_coalesced()
    for refused in (x.indices, x.values):
        with pytest.raises(RuntimeError, match="coalesce"):
            refused()
    whole = x.coalesce()
    assert whole.is_coalesced() and whole.coalesce() is whole
    assert whole.indices().tolist() == [[0, 1, 1, 3], [2, 0, 2, 1]] and whole.values().tolist() == [5, 4, 5, -1]
    assert x.to_dense().tolist() == whole.to_dense().tolist() == DENSE
    with pytest.raises(AttributeError, match="to_dense"):
        x.cumsum(0)


def test_dense_tensors_become_sparse_and_back(device):
    dense = norch.tensor(DENSE, device=device)
    x = dense.to_sparse()
    assert x.is_coalesced() and x.dtype is norch.int64 and x.to_dense().equal(dense)
    rows = dense.to_sparse(1)
    assert (rows.sparse_dim(), rows.dense_dim(), rows._nnz()) == (1, 1, 3) and rows.to_dense().equal(dense)
    assert norch.zeros(2, 2).to_sparse()._nnz() == 0
    with pytest.raises(RuntimeError, match="from 1 to 2"):
        dense.to_sparse(3)


# Each is computed of a sparse x [4, 3], dense a [3, 2], b [2, 4] and c [4, 3], and of the same dense.
OPERATIONS = {
    "x @ a": lambda x, y, a, b, c: x @ a,
    "x @ vector": lambda x, y, a, b, c: x @ a[:, 0],
    "b @ x": lambda x, y, a, b, c: b @ x,
    "norch.mm": lambda x, y, a, b, c: norch.mm(x, a),
    "norch.spmm": lambda x, y, a, b, c: norch.spmm(x, a),
    "sparse.mm": lambda x, y, a, b, c: norch.sparse.mm(x, a),
    "sparse.addmm": lambda x, y, a, b, c: norch.sparse.addmm(b.t(), x, a, beta=2, alpha=3),
    "x @ sparse": lambda x, y, a, b, c: x @ y.t(),
    "t": lambda x, y, a, b, c: x.t() @ b.t(),
    "x + sparse": lambda x, y, a, b, c: x + y,
    "x - sparse": lambda x, y, a, b, c: x - y,
    "x * sparse": lambda x, y, a, b, c: x * y,
    "x * c": lambda x, y, a, b, c: x * c,
    "c + x": lambda x, y, a, b, c: c + x,
    "2 * x / 3": lambda x, y, a, b, c: 2 * x / 3,
    "-x": lambda x, y, a, b, c: -x,
    "x ** 2": lambda x, y, a, b, c: x**2,
    "tanh": lambda x, y, a, b, c: x.tanh(),
    "x[0]": lambda x, y, a, b, c: x[0],
    "sum": lambda x, y, a, b, c: x.sum(),
    "sum(0)": lambda x, y, a, b, c: x.sum(0),
    "sum(1)": lambda x, y, a, b, c: x.sum(1),
    "to float32": lambda x, y, a, b, c: x.to(norch.float32),
}


def densified(x):
    return x.to_dense()


@pytest.mark.parametrize("operation", list(OPERATIONS.values()), ids=list(OPERATIONS))
def test_operations_agree_with_dense_ones(operation, device):
    dense = [matrix(3, 2, device), matrix(2, 4, device), matrix(4, 3, device)]
    x, y = sparse(device=device), other(device)
    if operation is OPERATIONS["sparse.addmm"]:
        expected = dense[1].t() * 2 + x.to_dense() @ dense[0] * 3
    elif operation is OPERATIONS["norch.spmm"] or operation is OPERATIONS["sparse.mm"]:
        expected = x.to_dense() @ dense[0]
    else:
        expected = operation(x.to_dense(), y.to_dense(), *dense)
    result = operation(x, y, *dense)
    assert_close(densified(result), expected.tolist(), expected.dtype.name)


@pytest.mark.parametrize("operation", list(OPERATIONS.values())[:-1], ids=list(OPERATIONS)[:-1])
def test_gradients_reach_the_values_and_dense_operands(operation):
    values = norch.tensor(VALUES, dtype=norch.float64, requires_grad=True)
    a, b, c = (t.requires_grad_() for t in (matrix(3, 2) / 7, matrix(2, 4) / 7, matrix(4, 3) / 7))

    def call(values, a, b, c):
        return densified(operation(sparse(values), other(), a, b, c)) + 0 * (a.sum() + b.sum() + c.sum())

    assert gradcheck(call, (values, a, b, c))
    assert gradgradcheck(call, (values, a, b, c))


def test_softmax_is_over_what_is_held(device):
    x = sparse(device=device)
    held = norch.tensor(DENSE, dtype=norch.float64, device=device)
    masked = held.masked_fill(held == 0, -float("inf"))
    for dim in (0, 1):
        expected = masked.softmax(dim).nan_to_num(0)
        assert_close(norch.sparse.softmax(x, dim).to_dense(), expected.tolist(), "float64")
        logarithms = norch.sparse.log_softmax(x, dim)
        assert_close(logarithms.values(), expected[expected > 0].log().tolist(), "float64")
    values = norch.tensor(VALUES, dtype=norch.float64, requires_grad=True)
    assert gradcheck(lambda v: norch.sparse.softmax(sparse(v), 1).values(), (values,))


def test_a_leaf_gets_a_sparse_gradient():
    x = norch.sparse_coo_tensor(INDICES, VALUES, (4, 3), requires_grad=True)
    assert x.requires_grad and x.is_leaf and x.grad is None
    (x @ norch.ones(3, 1)).sum().backward()
    assert x.grad.is_sparse and x.grad._values().tolist() == [1] * 5


def test_what_does_not_fit_is_refused():
    refused = {
        r"index does not lie": lambda: norch.sparse_coo_tensor([[0, 5]], [1.0, 2.0], (3,)),
        r"index does not.*lie": lambda: norch.sparse_coo_tensor([[0, -1]], [1.0, 2.0], (3,)),
        r"\[1, 2\] and \[3\]": lambda: norch.sparse_coo_tensor([[0, 1]], [1.0, 2.0, 3.0]),
        r"size \[3, 3\]": lambda: norch.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (3, 3)),
        r"integer dtype": lambda: norch.sparse_coo_tensor([[0.5, 1]], [1.0, 2.0], (3,)),
        r"\[4, 3\].*\[4, 3\]": lambda: sparse() @ matrix(4, 3),
        r"float64.*float32": lambda: sparse() @ norch.ones(3, 2),
        r"\[4, 3\].*\[3, 4\]": lambda: sparse() + sparse().t(),
        r"^mm: expected a matrix, got shape \[3\]": lambda: sparse().mm(matrix(3, 1)[:, 0]),
        r"^sparse.mm: expected a matrix, got shape \[4\]": lambda: norch.sparse.mm(matrix(4, 1)[:, 0], sparse()),
        r"addmm: expected a matrix": lambda: norch.sparse.addmm(matrix(4, 1), sparse(), matrix(3, 1)[:, 0]),
        r"mv: expected a vector, got shape \[3, 2\]": lambda: sparse().mv(matrix(3, 2)),
    }
    for message, call in refused.items():
        with pytest.raises(RuntimeError, match=message):
            call()


def test_sizes_and_dtypes_are_inferred():
    assert norch.sparse_coo_tensor([[0, 1], [1, 4]], [1, 2]).shape == (2, 5)
    assert norch.sparse_coo_tensor([[0, 1]], [[1.0, 2.0], [3.0, 4.0]]).to_dense().tolist() == [[1, 2], [3, 4]]
    assert norch.sparse_coo_tensor((2, 3)).to_dense().tolist() == [[0, 0, 0]] * 2
    assert norch.sparse_coo_tensor(size=(2, 3)).to_dense().tolist() == [[0, 0, 0]] * 2
    assert norch.sparse_coo_tensor([[0]], [1], dtype=norch.float64).dtype is norch.float64
    assert norch.sparse.FloatTensor(norch.tensor([[0]]), norch.tensor([1]), norch.Size([2])).dtype is norch.float32


def test_repr():
    assert repr(sparse().coalesce()).splitlines() == [
        "tensor(indices=tensor([[0, 1, 1, 3],",
        "                       [2, 0, 2, 1]]),",
        "       values=tensor([ 5.,  4.,  5., -1.], dtype=norch.float64),",
        "       size=(4, 3), nnz=4, dtype=norch.float64, layout=norch.sparse_coo)",
    ]


def test_a_graph_network_learns():
    norch.manual_seed(0)
    edges = norch.tensor([[0, 1, 2, 3, 4, 5], [1, 2, 0, 4, 5, 3]])
    both = norch.cat([edges, edges.flip(0), norch.arange(6).expand(2, 6)], 1)
    adjacency = norch.sparse_coo_tensor(both, norch.ones(18) / 3, (6, 6))
    classes = norch.tensor([0, 0, 0, 1, 1, 1])
    layers = nn.Linear(6, 4), nn.Linear(4, 2)
    optimizer = norch.optim.Adam([p for layer in layers for p in layer.parameters()], lr=0.1)
    for _ in range(60):
        hidden = norch.spmm(adjacency, layers[0](norch.eye(6))).relu()
        loss = nn.functional.cross_entropy(norch.spmm(adjacency, layers[1](hidden)), classes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.05


def test_a_module_keeps_a_sparse_buffer():
    module, other = nn.Module(), nn.Module()
    module.register_buffer("adjacency", sparse())
    other.register_buffer("adjacency", sparse(norch.zeros(5).double()))
    assert norch.is_tensor(module.adjacency) and list(module.state_dict()) == ["adjacency"]
    other.load_state_dict(module.state_dict())
    assert other.adjacency.to_dense().tolist() == DENSE
    module.to(norch.float32)
    assert module.adjacency.dtype is norch.float32 and other.adjacency.dtype is norch.float64
    module.adjacency = None
    assert module.adjacency is None


def test_any_is_over_all_dimensions():
    x = norch.tensor([0.0, 2.0]).to_sparse()
    assert x.any() and norch.any(x)
    with pytest.raises(TypeError, match="over all dimensions alone, got dim=0"):
        norch.any(x, 0)


def test_t_leaves_fewer_dimensions():
    x = norch.tensor([0.0, 2.0]).to_sparse()
    assert x.t() is x
    with pytest.raises(RuntimeError, match="at most 2 dimensions"):
        norch.ones(2, 2, 2).to_sparse().t()
