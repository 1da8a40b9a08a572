"""What random programs and programs written by hand beside torch found after test_later_findings.py."""

from __future__ import annotations

import copy
import math
import pickle

import pytest

import norch
from norch import nn, tensor


def test_a_tangent_of_logcumsumexp_is_no_zero():
    x, v = tensor([1.0, 2.0, 0.5, 3.0], dtype=norch.float64), tensor([1.0, -1.0, 0.0, 2.0], dtype=norch.float64)
    _, tangent = norch.func.jvp(lambda x: x.logcumsumexp(0), (x,), (v,))
    jacobian = norch.func.jacrev(lambda x: x.logcumsumexp(0))(x)
    assert tangent.tolist() == pytest.approx((jacobian @ v).tolist())
    assert norch.autograd.gradgradcheck(lambda x: x.logcumsumexp(0), x.requires_grad_())


def test_gradients_of_logcumsumexp_have_all_digits_far_from_0():
    x = tensor([-300.0, 800.0, -math.inf, 801.0], dtype=norch.float64, requires_grad=True)
    x.logcumsumexp(0).backward(tensor([1.0, 2.0, 3.0, 4.0], dtype=norch.float64))
    e = math.e
    assert x.grad.tolist() == pytest.approx([1.0, 5 + 4 / (1 + e), 0.0, 4 * e / (1 + e)])


@pytest.mark.parametrize("dtype", [norch.float32, norch.float64])
def test_columns_that_depend_on_each_other_have_reflections(dtype):
    row = tensor([2.207, -2.27, 1.0, 1.481, 0.536, -0.677, 0.094] * 10, dtype=dtype)
    matrix = row.expand(70, 70)
    q, r = norch.linalg.qr(matrix)
    close = 1e-4 if dtype is norch.float32 else 1e-12
    assert norch.allclose(q @ r, matrix, atol=close)
    assert norch.allclose(q.mT @ q, norch.eye(70, dtype=dtype), atol=close)
    tiny = norch.full((3, 3), 1e-42 if dtype is norch.float32 else 1e-315, dtype=dtype)
    q, r = norch.linalg.qr(tiny)
    assert norch.allclose(q.mT @ q, norch.eye(3, dtype=dtype), atol=close) and (q @ r).equal(tiny)


@pytest.mark.parametrize("kind", ["module", "optimizer"])
def test_gradients_become_zeros_where_they_are(kind):
    layer = nn.Linear(2, 1)
    whole = norch.ones(3)
    layer.weight.grad, layer.bias.grad = whole[:2].view(1, 2), whole[2:]
    held = layer.weight.grad
    (layer if kind == "module" else norch.optim.SGD(layer.parameters(), lr=1.0)).zero_grad(set_to_none=False)
    assert whole.tolist() == [0.0, 0.0, 0.0] and layer.weight.grad is held
    layer.weight.square().sum().backward(create_graph=True)
    layer.zero_grad(set_to_none=False)
    assert not layer.weight.grad.requires_grad and not layer.weight.grad.any()


def test_generators_are_pickled_with_their_states():
    generator = norch.Generator().manual_seed(3)
    norch.rand(2, generator=generator)
    others = [pickle.loads(pickle.dumps(generator)), copy.deepcopy(generator)]
    drawn = norch.rand(2, generator=generator)
    assert all(norch.rand(2, generator=other).equal(drawn) and other.initial_seed() == 3 for other in others)


def test_a_parametrized_module_says_how_to_save_it():
    layer = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))
    with pytest.raises(RuntimeError, match="state_dict"):
        pickle.dumps(layer)
    assert copy.deepcopy(layer).weight.equal(layer.weight)
