"""`inputs=` of backward, and grad(): only what leads to the inputs is visited."""

from __future__ import annotations

import math

import pytest

import norch
from norch import autograd


class Refusing(autograd.Function):
    """Its backward must not run."""

    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, gradient):
        raise AssertionError("this branch is not needed")


@pytest.fixture
def branches():
    """Two leaves, what was made of them, and a loss of both; the branch of x refuses."""
    x, z = norch.tensor([2.0], requires_grad=True), norch.tensor([3.0], requires_grad=True)
    hidden = z * 4
    return x, z, hidden, (Refusing.apply(x * 2) * hidden).sum()


def test_backward_visits_what_the_inputs_need(branches):
    x, z, hidden, loss = branches
    loss.backward(inputs=[z])
    assert z.grad.tolist() == [16.0] and x.grad is None and hidden.grad is None


def test_an_intermediate_result_may_be_an_input(branches):
    x, z, hidden, loss = branches
    loss.backward(inputs=hidden)
    assert hidden.grad.tolist() == [4.0] and z.grad is None
    hidden.sum().backward()  # what lies behind it was neither visited nor freed
    assert z.grad.tolist() == [4.0]


def test_grad_visits_what_the_inputs_need(branches):
    x, z, hidden, loss = branches
    assert autograd.grad(loss, (hidden, z), retain_graph=True)[1].tolist() == [16.0]
    with pytest.raises(AssertionError, match="not needed"):
        autograd.grad(loss, (x, z))


def test_a_value_changed_in_a_branch_that_is_not_needed():
    x, z = norch.tensor([2.0], requires_grad=True), norch.tensor([3.0], requires_grad=True)
    y = x * 1
    loss = (y.sin() + z * z).sum()
    y.mul_(2)
    assert autograd.grad(loss, z, retain_graph=True)[0].tolist() == [6.0]
    with pytest.raises(RuntimeError, match="in-place"):
        autograd.grad(loss, x)


def test_a_hook_in_a_branch_that_is_not_needed():
    x, z = norch.tensor([2.0], requires_grad=True), norch.tensor([3.0], requires_grad=True)
    y, calls = x * 1, []
    y.register_hook(calls.append)
    loss = (y * z).sum()
    loss.backward(inputs=[z], retain_graph=True)
    assert calls == []
    loss.backward()
    assert len(calls) == 1 and x.grad.tolist() == [3.0] and z.grad.tolist() == [4.0]


def test_a_freed_branch_is_not_silently_left_out():
    x, z = norch.tensor([2.0], requires_grad=True), norch.tensor([3.0], requires_grad=True)
    shared = x * z
    shared.sum().backward()
    with pytest.raises(RuntimeError, match="freed"):
        (shared + z * z).sum().backward(inputs=[z])


def test_a_shared_node_gets_all_of_its_gradient():
    x = norch.tensor([2.0], requires_grad=True)
    y = x * x
    loss = (y * y + y).sum()
    assert autograd.grad(loss, y, retain_graph=True)[0].tolist() == [9.0]
    assert autograd.grad(loss, x)[0].tolist() == [36.0]


def test_second_derivatives_of_a_part():
    x, z = norch.tensor([2.0], requires_grad=True), norch.tensor([3.0], requires_grad=True)
    (first,) = autograd.grad((x.pow(3) * z).sum(), x, create_graph=True)
    assert autograd.grad(first.sum(), z, retain_graph=True)[0].tolist() == [12.0]
    assert autograd.grad(first.sum(), x)[0].tolist() == [36.0]


def test_a_deep_graph_needs_no_stack():
    x = norch.tensor([1.0], requires_grad=True)
    y = x
    for _ in range(20_000):
        y = y + 0.0
    assert autograd.grad(y.sum(), x)[0].tolist() == [1.0]


def test_no_inputs_are_refused():
    x = norch.tensor([2.0], requires_grad=True)
    for call in (lambda: (x * x).backward(inputs=[]), lambda: autograd.grad((x * x).sum(), [])):
        with pytest.raises(RuntimeError, match="at least one"):
            call()


# ---- The gradients of integers and repeated places


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "int32", "int64", "bool"])
def test_totals_in_the_dtype_that_is_asked_for(kind):
    kind = getattr(norch, kind)
    x = norch.tensor([1.9, 2.9, 0.5])
    for total in (x.sum(dtype=kind), x.prod(dtype=kind), x.sum(0, dtype=kind), x.prod(0, dtype=kind)):
        assert total.dtype is kind and total.shape == ()
    assert x.cumsum(0, dtype=kind).dtype is kind and x.cumprod(0, dtype=kind).dtype is kind
    if kind is not norch.bool:
        assert x.sum(dtype=kind).item() == 3 and x.prod(dtype=kind).item() == 0  # the elements are cut first
        assert x.cumsum(0, dtype=kind).tolist() == [1, 3, 3] and x.cumprod(0, dtype=kind).tolist() == [1, 2, 0]


def test_narrow_totals_wrap():
    x = norch.tensor([100, 100], dtype=norch.int8)
    assert x.sum(dtype=norch.int8).item() == -56 and x.prod(dtype=norch.int8).item() == 16
    assert x.cumsum(0, dtype=norch.int8).tolist() == [100, -56] and x.sum().item() == 200


def test_index_fill_counts_a_place_once():
    value = norch.tensor(1.0, requires_grad=True)
    norch.zeros(4, 2).index_fill(0, norch.tensor([1, 1, 2]), value).sum().backward()
    assert value.grad.item() == 4.0


@pytest.mark.parametrize("name", ["floor", "ceil", "round", "trunc", "sign", "frac"])
@pytest.mark.parametrize("upstream", [math.nan, math.inf])
def test_steps_have_no_gradient_at_all(name, upstream):
    x = norch.tensor([1.5, -0.5], requires_grad=True)
    getattr(x, name)().backward(norch.full((2,), upstream))
    expected = upstream if name == "frac" else 0.0
    assert all(g == expected or (g != g and expected != expected) for g in x.grad.tolist())
