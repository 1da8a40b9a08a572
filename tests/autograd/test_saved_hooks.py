"""Hooks of saved tensors: what backward needs goes through them, whatever the operation, and comes back."""

from __future__ import annotations

import gc

import pytest

import norch
import norch.nn.functional as F
from norch import nn
from norch.autograd.graph import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks


class Cube(norch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        result = x**3
        ctx.save_for_backward(x, result)
        return result

    @staticmethod
    def backward(ctx, gradient):
        x, result = ctx.saved_tensors
        return 3 * result / x * gradient


def in_place(x):
    y = x * 2
    y.mul_(x).exp_()
    return y


OPERATIONS = {
    "exp": lambda x: x.exp(),
    "power": lambda x: x**3,
    "product": lambda x: x * x,
    "broadcast": lambda x: x * x[0] + x[:, :1],
    "quotient": lambda x: 1 / x,
    "matmul": lambda x: (x @ x.T).sigmoid(),
    "in place": in_place,
    "indices": lambda x: x[[0, 2, 0]] * x.gather(1, norch.tensor([[0], [1], [2]])),
    "maximum": lambda x: x.max(dim=1).values,
    "sorted": lambda x: x.sort().values * x.cumsum(0),
    "split": lambda x: norch.cat([part.exp() for part in x.split(1, dim=1)]),
    "softmax": lambda x: F.softmax(x, dim=1),
    "cross entropy": lambda x: F.cross_entropy(x, norch.tensor([0, 1, 2])),
    "layer norm": lambda x: F.layer_norm(x, (4,)),
    "batch norm": lambda x: F.batch_norm(x, None, None, training=True),
    "convolution": lambda x: F.conv1d(x[None], x.reshape(2, 3, 2)),
    "pooling": lambda x: F.max_pool1d(x, 2),
    "attention": lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None]),
    "lstm": lambda x: lstm(x)[0],
    "custom": Cube.apply,
}
norch.manual_seed(0)
lstm = nn.LSTM(4, 3)


def gradients(operation, values, again=False):
    x = norch.tensor(values, requires_grad=True)
    (first,) = norch.autograd.grad(operation(x).square().sum(), x, create_graph=again)
    return [first] + ([norch.autograd.grad(first.square().sum(), x)[0]] if again else [])


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("name", OPERATIONS)
def test_gradients_go_through_the_hooks(name, again):
    values = norch.rand(3, 4, generator=norch.Generator().manual_seed(1)).add(0.5).tolist()
    packed, unpacked = [], []

    def pack(x):
        assert not norch.is_grad_enabled()
        packed.append(x)
        return x.detach().tolist(), x.dtype

    def unpack(kept):
        unpacked.append(kept)
        return norch.tensor(kept[0], dtype=kept[1])

    expected = gradients(OPERATIONS[name], values, again)
    with saved_tensors_hooks(pack, unpack):
        found = gradients(OPERATIONS[name], values, again)
    assert packed and unpacked
    for x, y in zip(found, expected):
        assert norch.allclose(x, y, rtol=1e-4), (x, y)


def test_what_is_unpacked_is_what_backward_reads():
    x = norch.ones(2, requires_grad=True)
    with saved_tensors_hooks(lambda x: None, lambda kept: norch.full((2,), 5.0)):
        y = x.exp()
    y.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [5, 5]
    y.sum().backward()
    assert x.grad.tolist() == [10, 10]


def test_inner_hooks_alone_pack_and_nothing_is_packed_for_a_sum():
    seen = []
    x = norch.ones(2, requires_grad=True)
    with saved_tensors_hooks(lambda x: seen.append("outer") or x, lambda x: x):
        with saved_tensors_hooks(lambda x: seen.append("inner") or x, lambda x: x):
            y = x.exp()
        z = y + x
    z.sum().backward()
    assert seen == ["inner"] and norch.autograd.grad(x.exp().sum(), x)


def test_a_write_after_packing_is_no_error_as_the_hook_keeps_the_values():
    x = norch.ones(2, requires_grad=True)
    with saved_tensors_hooks(lambda x: x.clone(), lambda x: x):
        y = x * 3
        z = y.square()
    y.detach().mul_(10)
    z.sum().backward()
    assert x.grad.tolist() == [18, 18]


def test_what_is_packed_goes_with_the_graph():
    class Kept:
        def __init__(self, x):
            self.x = x
            kept.append(1)

        def __del__(self):
            kept.pop()

    kept = []
    x = norch.ones(2, requires_grad=True)
    with saved_tensors_hooks(Kept, lambda kept: kept.x):
        y = x.exp().square().sum()
    assert kept
    y.backward()
    gc.collect()
    assert not kept


def test_errors():
    x = norch.ones(2, requires_grad=True)
    with saved_tensors_hooks(lambda x: x, lambda x: 3):
        y = x.exp().sum()
    with pytest.raises(TypeError, match="unpack_hook expected to be a Tensor but got int"):
        y.backward()
    with disable_saved_tensors_hooks("none here"), pytest.raises(RuntimeError, match="none here"):
        saved_tensors_hooks(lambda x: x, lambda x: x).__enter__()
    with saved_tensors_hooks(lambda x: 1 / 0, lambda x: x), pytest.raises(ZeroDivisionError):
        x.exp()
    assert x.exp().grad_fn.packed is None
    with saved_tensors_hooks(lambda x: x.add_(1), lambda x: x), pytest.raises(RuntimeError, match="in place"):
        norch.ones(2, requires_grad=True).clone().exp()


def test_save_on_cpu():
    x = norch.ones(2, requires_grad=True)
    with save_on_cpu():
        y = x.exp().sum()
    y.backward()
    assert norch.allclose(x.grad, norch.ones(2).exp())


def test_names_of_what_a_node_saved():
    x, y = norch.ones(2, requires_grad=True), norch.ones(2)
    product, exponential = x * y, x.exp()
    assert product.grad_fn._saved_self is x and product.grad_fn._saved_other is y
    assert norch.equal(exponential.grad_fn._saved_result, exponential)
    with saved_tensors_hooks(lambda x: x * 2, lambda x: x / 2):
        product, exponential = x * y, x.exp()
    assert norch.equal(product.grad_fn._saved_self, x) and norch.equal(exponential.grad_fn._saved_result, exponential)
