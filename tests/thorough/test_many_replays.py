"""Nothing of a compiled function leaks, over many replays and many functions."""

import gc
import resource

import norch
import norch.nn as nn
from norch._C import live_tensors


def trained():
    """A compiled step, and the model and optimizer that it trains."""
    model = nn.Sequential(nn.Linear(1, 4), nn.Sigmoid(), nn.Dropout(0.5), nn.Linear(4, 1))
    optimizer = norch.optim.Adam(model.parameters(), lr=0.01)

    @norch.compile
    def step(x, y):
        loss = ((model(x) - y) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return step, model, optimizer


def in_use():
    gc.collect()
    return live_tensors(), norch.memory_allocated()


def test_a_hundred_thousand_replays():
    step, _, _ = trained()
    x, y = norch.ones(3, 1), norch.zeros(3, 1)
    for _ in range(1000):
        step(x, y)
    assert len(step.programs) == 1
    before, peak = in_use(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(100_000):
        step(x, y)
    assert in_use() == before
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 1024  # KiB


def test_the_backward_of_a_module_replayed_many_times():
    model = norch.compile(nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)))
    x = norch.ones(4, 2, requires_grad=True)

    def step():
        x.grad = None
        model.zero_grad()
        model(x).sum().backward()

    for _ in range(100):
        step()
    assert len(model.programs) == 1
    before = in_use()
    for _ in range(10_000):
        step()
    assert in_use() == before


def test_a_thousand_functions_made_and_dropped():
    x, y = norch.ones(3, 1), norch.zeros(3, 1)

    def once():
        step, _, _ = trained()
        for _ in range(5):
            step(x, y)
        assert len(step.programs) == 1

    once()
    before = in_use()
    for _ in range(1000):
        once()
    assert in_use() == before
