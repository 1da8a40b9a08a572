"""Memory: flat over a thousand training steps, zero at the end, and every allocation made to fail in turn."""

from __future__ import annotations

import gc
import random

import pytest

import norch
from norch import _C, nn, optim


def live():
    gc.collect()
    return norch.memory_allocated(), _C.live_tensors()


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 16)
        self.activation = nn.Tanh()
        self.second = nn.Linear(16, 2)

    def forward(self, x):
        return self.second(self.activation(self.first(x)))


def train(steps, watch):
    random.seed(3)
    model, criterion = Network(), nn.MSELoss()
    optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    x = norch.Tensor([[random.uniform(-1, 1) for _ in range(3)] for _ in range(8)])
    target = norch.Tensor([[random.uniform(-1, 1) for _ in range(2)] for _ in range(8)])
    losses = []
    for step in range(steps):
        loss = criterion(model(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        watch(step)
    return losses


def test_training_is_flat_and_ends_at_zero():
    before = live()
    seen = []
    losses = train(1000, lambda step: seen.append((norch.memory_allocated(), _C.live_tensors())))
    assert losses[-1] < 0.2 * losses[0]
    assert len(set(seen[5:])) == 1, "memory moved between steps"
    assert live() == before


def test_nothing_waits_for_the_garbage_collector():
    """Graphs and modules hold no cycles: dropping the last name frees the memory at once."""
    before = live()
    gc.disable()
    try:
        train(3, lambda step: None)
        x = norch.ones(100).requires_grad_()
        for name in ("exp", "tanh", "sigmoid", "sqrt", "softmax", "log_softmax"):
            y = getattr(x, name)(*(0,) if "softmax" in name else ())
            (first,) = norch.autograd.grad(y.sum(), x, create_graph=True)
            del y, first
        view = x[10:20].T
        del view, x
        assert (norch.memory_allocated(), _C.live_tensors()) == before
    finally:
        gc.enable()


def test_views_keep_their_storage_alive_and_free_it():
    before = norch.memory_allocated()
    view = norch.ones(1000, 1000)[5:6].T
    assert norch.memory_allocated() == before + 4_000_000
    assert view.sum().item() == 1000
    del view
    assert norch.memory_allocated() == before


def test_dropping_a_deep_graph():
    before = live()
    x = norch.ones(2).requires_grad_()
    y = x
    for _ in range(100_000):
        y = y + 1
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    del x, y
    assert live() == before


# ---- allocations that fail -------------------------------------------------------------------------------------------


def create():
    norch.Tensor([[1.0, 2.0], [3.0, 4.0]])
    norch.zeros(3, 2)
    norch.arange(10)
    norch.linspace(0, 1, 5)
    norch.full((2,), 3.0, dtype=norch.float64)
    norch.eye(3)
    norch.ones(2, 2).ones_like().zeros_like().clone()


def compute():
    x, y = norch.Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), norch.tensor([1, 2, 3])
    x + y * 2.5 - x.T.contiguous().T
    (x > y).logical_not()
    norch.where(x > 2, x, y)
    x.clamp(1, 2).exp().double()
    7 // y % 2


def change_in_place():
    x = norch.Tensor([[1.0, 2.0], [3.0, 4.0]])
    x += x.T
    x *= norch.tensor([2, 3])
    x[0] = norch.tensor([5, 6])
    x[:, 1] = 7
    x.fill_(2).exp_().zero_()
    x.copy_(norch.ones(2))


def reduce():
    x = norch.Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    for name in ("sum", "mean", "prod", "max", "min", "argmax", "var", "std", "any", "all"):
        getattr(x, name)()
        getattr(x.T, name)(axis=0)
    x.max(dim=1)
    x.sum(axis=(0, 1), keepdim=True)
    x.softmax(1)
    x.T.log_softmax(0)


def multiply():
    a, b = norch.ones(2, 3, 40), norch.ones(40, 50)
    a @ b
    b.T @ b
    a[0, 0] @ b
    norch.ones(40) @ a[0, 0]


def view():
    x = norch.arange(24.0).reshape(2, 3, 4)
    x.permute(2, 0, 1).reshape(4, 6).T[1:, ::2].unsqueeze(0).squeeze()
    x.expand(2, 2, 3, 4).flatten(1)
    norch.cat([x[:1], x[1:]], 1)
    norch.stack([x, x])
    repr(x), x.tolist(), x[0, 0, 0], list(x)


def differentiate():
    x = norch.Tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    w = norch.ones(2, 2).requires_grad_()
    y = (x @ w).tanh() * x.sigmoid() + (x**2).sum(0) / w.exp()
    loss = norch.cat([y, x.softmax(1)]).max(dim=1)[0].mean() + y.std() + x[0].prod()
    loss.backward(retain_graph=True)
    loss.backward()
    (gradient,) = norch.autograd.grad((x * x * x).sum(), x, create_graph=True)
    gradient.sum().backward()


def learn():
    random.seed(1)
    train(2, lambda step: None)
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2))
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01)
    loss = nn.CrossEntropyLoss()(model(norch.ones(4, 2)), norch.tensor([0, 1, 1, 0]))
    loss.backward()
    optimizer.step()


@pytest.mark.parametrize(
    "script",
    [create, compute, change_in_place, reduce, multiply, view, differentiate, learn],
    ids=lambda script: script.__name__,
)
def test_every_allocation_fails_in_turn(script):
    """The n-th allocation fails, for every n: MemoryError, nothing leaked, and the script runs again at once."""
    script()
    before = live()
    for countdown in range(1, 5000):
        _C.fail_allocation(countdown)
        try:
            script()
        except MemoryError as error:
            assert "allocate" in str(error)
        else:
            break  # it has fewer allocations than that
        finally:
            _C.fail_allocation(0)
        assert live() == before, f"allocation {countdown} failed and left memory behind"
    else:
        pytest.fail("the script never ran to its end")
    assert countdown > 10, "the script allocates too little to test anything"
    script()
    assert live() == before
