"""Sparse tensors (COO) beside torch's: what its page `torch.sparse` lists, each row computed in both."""

from __future__ import annotations

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import norch  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # torch warns of its layouts


def dense(t, *shape):
    return t.arange(1.0, math.prod(shape) + 1).reshape(*shape)


def sparse(t):
    """[2, 3]; one index comes twice."""
    return t.sparse_coo_tensor(t.tensor([[0, 1, 1, 0], [2, 0, 2, 2]]), t.tensor([3.0, 4.0, -5.0, 0.25]), (2, 3))


def square(t):
    return t.sparse_coo_tensor(t.tensor([[0], [1]]), t.tensor([2.0]), (2, 2))


def hybrid(t):
    return t.sparse_coo_tensor(t.tensor([[0, 2]]), dense(t, 2, 2), (3, 2))


UNARY = """
abs absolute asin asinh atan atanh arcsin arctan ceil erf erfinv expm1 floor frac log1p neg negative relu round sgn sign
signbit sin sinh sqrt square tan tanh trunc deg2rad rad2deg isinf isnan isneginf isposinf nan_to_num positive
half double bool int long
""".split()

ROWS = {
    "mm": lambda t, x: [t.mm(x, dense(t, 3, 2)), x.mm(dense(t, 3, 2)), t.mm(x, x.t()), t.sparse.mm(x, dense(t, 3, 2))],
    "mm of dense": lambda t, x: [t.mm(dense(t, 4, 2), x), dense(t, 4, 2).mm(x), t.sparse.mm(dense(t, 4, 2), x)],
    "matmul": lambda t, x: [x @ dense(t, 3, 2), dense(t, 4, 2) @ x, dense(t, 2) @ x, x @ dense(t, 3), x @ x.t()],
    "matmul by name": lambda t, x: [t.matmul(x, dense(t, 3)), t.matmul(dense(t, 4, 2), x), dense(t, 4, 2).matmul(x)],
    "mv": lambda t, x: [t.mv(x, dense(t, 3)), x.mv(dense(t, 3))],
    "addmm": lambda t, x: [
        t.addmm(dense(t, 2, 2), x, dense(t, 3, 2), beta=0.5, alpha=2.0),
        t.sparse.addmm(dense(t, 2, 2), x, dense(t, 3, 2), beta=0.5, alpha=2.0),
        dense(t, 2, 2).addmm(x, dense(t, 3, 2)),
    ],
    "addmm_": lambda t, x: dense(t, 2, 2).addmm_(x, dense(t, 3, 2), beta=3.0),
    "addmm of NaN": lambda t, x: t.addmm(dense(t, 2, 2) * math.nan, x, dense(t, 3, 2), beta=0),
    "smm": lambda t, x: [t.smm(x, dense(t, 3, 2)), x.smm(dense(t, 3, 2))],
    "hspmm": lambda t, x: t.hspmm(x, dense(t, 3, 2)),
    "sspaddmm": lambda t, x: [
        t.sspaddmm(square(t), x, dense(t, 3, 2)),
        square(t).sspaddmm(x, dense(t, 3, 2), beta=2, alpha=0.5),
    ],
    "bmm": lambda t, x: t.stack([x, x * 2]).bmm(dense(t, 2, 3, 2)),
    "linear": lambda t, x: [
        t.nn.functional.linear(x, dense(t, 2, 3), dense(t, 2)),
        t.nn.functional.linear(dense(t, 2, 3), x),
    ],
    "spdiags": lambda t, x: [
        t.sparse.spdiags(dense(t, 2, 3), t.tensor([0, 1]), (3, 3)),
        t.sparse.spdiags(dense(t, 3, 4), t.tensor([-1, 2, 0]), (2, 5)),
        t.sparse.spdiags(dense(t, 3), t.tensor(1), (3, 3)),
    ],
    "sum": lambda t, x: [
        x.sum(),
        x.sum(0),
        x.sum(0, keepdim=True),
        t.sparse.sum(x, [0, 1], dtype=t.float64),
        t.sum(x, 1),
    ],
    "softmax": lambda t, x: [
        t.sparse.softmax(x, 1),
        t.sparse.log_softmax(x, 0),
        t.sparse.softmax(x, 0, dtype=t.float64),
    ],
    "unary": lambda t, x: [getattr(x / 6, name)() for name in UNARY],
    "unary in place": lambda t, x: [
        getattr(x.coalesce() / 6, f"{name}_")() for name in UNARY[:30] if name not in ("signbit", "square")
    ],
    "arithmetic": lambda t, x: [
        x + x,
        x - x,
        x * x,
        x / 2,
        x * 2,
        2 * x,
        x // 2,
        x**2,
        -x,
        x.div(2, rounding_mode="floor"),
    ],
    "arithmetic by name": lambda t, x: [t.add(x, x, alpha=2), x.sub(x, alpha=3), t.mul(x, x), x.floor_divide(2)],
    "with dense": lambda t, x: [dense(t, 2, 3) + x, dense(t, 2, 3) - x, dense(t, 2, 3) * x, x * dense(t, 2, 3)],
    "dense in place": lambda t, x: [dense(t, 2, 3).add_(x), dense(t, 2, 3).sub_(x), dense(t, 2, 3).mul_(x)],
    "in place": lambda t, x: [
        x.clone().add_(x),
        x.clone().sub_(x),
        x.clone().mul_(2),
        x.clone().div_(2),
        x.clone().zero_(),
    ],
    "orders": lambda t, x: [x.t(), x.T, x.transpose(0, 1), x.permute(1, 0), t.t(x), hybrid(t).permute(0, 1)],
    "unsqueeze": lambda t, x: [
        x.unsqueeze(0),
        x.unsqueeze(1),
        x.unsqueeze(-1),
        hybrid(t).unsqueeze(2),
        hybrid(t).unsqueeze(1),
    ],
    "parts": lambda t, x: [x[1], x[-1], x.select(1, 2), x[1, 2], x[0][2], *x.unbind(), *x.unbind(1), hybrid(t)[2]],
    "index_select": lambda t, x: [
        x.index_select(0, t.tensor([1, 1, 0, 1])),
        t.index_select(x, 1, t.tensor([2, 0])),
        x.index_select(1, t.tensor([1])),
        hybrid(t).index_select(1, t.tensor([1, 0])),
    ],
    "narrow_copy": lambda t, x: [x.narrow_copy(1, 1, 2), x.narrow_copy(0, 1, 1), x.narrow_copy(1, 0, 0)],
    "joined": lambda t, x: [
        t.cat([x, x]),
        t.cat([x, x], 1),
        t.stack([x, x]),
        t.stack([x, x], 1),
        t.hstack([x, x]),
        t.vstack([x, x]),
    ],
    "sparse_mask": lambda t, x: [
        dense(t, 2, 3).sparse_mask(x.coalesce()),
        dense(t, 3, 2).sparse_mask(hybrid(t).coalesce()),
    ],
    "like": lambda t, x: [t.zeros_like(x), t.zeros(2, 3, layout=t.sparse_coo), x.new_zeros(2, 3), x.new_tensor([1.0])],
    "questions": lambda t, x: [
        t.tensor(x.is_same_size(x)),
        t.tensor(t.tensor([5.0]).to_sparse().item()),
        t.tensor(bool(t.tensor(1.0).to_sparse())),
        x.any(),
        x.norm(),
    ],
    "sizes": lambda t, x: [
        x.clone().sparse_resize_((4, 4), 2, 0),
        x.clone().sparse_resize_and_clear_((4, 4), 2, 0),
        t.zeros(4, 2).to_sparse().resize_as_sparse_(x),
    ],
    "nothing": lambda t, x: [(x * 0).sum(), t.zeros(2, 3).to_sparse() @ dense(t, 3, 2), t.zeros(0, 3).to_sparse().t()],
}


def told(value):
    parts = value if isinstance(value, (list, tuple)) else [value]
    return [(part.is_sparse, str(part.dtype).split(".")[-1], tuple(part.shape)) for part in parts], [
        np.array((part.to_dense() if part.is_sparse else part).tolist()) for part in parts
    ]


@pytest.mark.parametrize("name", ROWS)
def test_rows(name):
    (kinds, ours), (wanted, theirs) = (told(ROWS[name](t, sparse(t))) for t in (norch, torch))
    assert kinds == wanted
    for mine, other in zip(ours, theirs):
        np.testing.assert_allclose(mine, other, rtol=2e-6, atol=1e-6)


PRODUCTS = {
    "mm": lambda t, x, y: t.sparse.mm(x, y),
    "addmm": lambda t, x, y: t.addmm(dense(t, 2, 2), x, y, beta=0.5, alpha=2),
    "sparse.addmm": lambda t, x, y: t.sparse.addmm(dense(t, 2, 2), x, y),
    "@": lambda t, x, y: x @ y,
    "dense mm": lambda t, x, y: y.t().mm(x.t()),
    "bmm": lambda t, x, y: t.stack([x, x]).bmm(t.stack([y, 2 * y])),
    "mv": lambda t, x, y: x.mv(y.sum(1)),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_gradients(name):
    """Those of a sparse tensor are at its places here, of all elements in some products of torch's."""
    found = {}
    for t in (torch, norch):
        x, y = sparse(t).coalesce().requires_grad_(), dense(t, 3, 2).requires_grad_()
        result = PRODUCTS[name](t, x, y)
        (result * dense(t, *result.shape)).sum().backward()
        mask = (sparse(t).to_dense() != 0).float()
        found[t] = [((x.grad.to_dense() if x.grad.is_sparse else x.grad) * mask).tolist(), y.grad.tolist()]
    for mine, other in zip(found[norch], found[torch]):
        np.testing.assert_allclose(np.array(mine), np.array(other), rtol=1e-5)


REFUSED = {
    "==": lambda t, x: x == x,
    "a smaller size": lambda t, x: x.sparse_resize_((1, 1), 2, 0),
    "another size of mask": lambda t, x: dense(t, 3, 3).sparse_mask(x.coalesce()),
    "an index out of range": lambda t, x: x.index_select(0, t.tensor([2])),
    "a part out of range": lambda t, x: x.narrow_copy(0, 1, 2),
    "shapes that do not chain": lambda t, x: t.addmm(dense(t, 2, 2), x, dense(t, 2, 2)),
    "a vector for a matrix": lambda t, x: dense(t, 2).mm(x),
    "other shapes to join": lambda t, x: t.cat([x, x.t()]),
    "a dense tensor to join": lambda t, x: t.cat([x, dense(t, 2, 3)]),
    "a leaf in place": lambda t, x: x.requires_grad_().mul_(2),
    "offsets that come twice": lambda t, x: t.sparse.spdiags(dense(t, 2, 3), t.tensor([1, 1]), (3, 3)),
    "too many elements for a truth": lambda t, x: bool(x),
    "an order that is none": lambda t, x: x.permute(0, 0),
    "a slice": lambda t, x: x[:, 1:],
    "a tuple for a sparse factor": lambda t, x: x.sspaddmm((1,), dense(t, 3, 2)),
    "a list for a batch": lambda t, x: x.bmm([1]),
    "a number for a layout": lambda t, x: t.sparse.spdiags(dense(t, 2, 3), t.tensor([0, 1]), (3, 3), 5),
    "a tuple to add": lambda t, x: x.add((1,), alpha=3),
    "a batch of another size": lambda t, x: t.stack([x, x]).bmm(dense(t, 3, 3, 2)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_both_refuse(name):
    for t in (torch, norch):
        with pytest.raises((RuntimeError, IndexError, TypeError, ValueError)):
            REFUSED[name](t, sparse(t))


def test_what_is_written_stays_in_the_graph():
    values = norch.ones(2, requires_grad=True)
    x = norch.sparse_coo_tensor([[0, 1], [1, 0]], values, (2, 2))
    x.mul_(3).add_(x)
    x.to_dense().sum().backward()
    assert values.grad.tolist() == [6.0, 6.0]
