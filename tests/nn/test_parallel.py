"""The parts of data parallel, on one device."""

from __future__ import annotations

from collections import namedtuple

import pytest

import norch
from norch import nn
from norch.nn.parallel import data_parallel, gather, parallel_apply, replicate, scatter
from norch.nn.parallel.scatter_gather import scatter_kwargs

Pair = namedtuple("Pair", "x y")
X = norch.arange(6).reshape(3, 2)


@pytest.mark.parametrize("tree", [X, (X, X), [X, (X,)], {"x": X, "y": [X]}, Pair(X, X)])
def test_gather_joins_what_scatter_divides(tree):
    parts = scatter(tree, ["cpu", "cpu"])
    assert len(parts) == 2 and type(parts[0]) is type(tree)
    assert norch.testing.assert_close(gather(parts, "cpu"), tree) is None


def test_what_is_no_tensor_goes_to_each_device():
    assert gather([None, None], "cpu") is None and scatter(("a", ()), [0, 1]) == (("a", ()), ("a", ()))
    assert scatter_kwargs((X,), {"k": 1}, ["cpu"] * 2)[1] == ({"k": 1}, {"k": 1})
    assert scatter_kwargs((), {"k": 1}, ["cpu"])[0] == ((),)


def test_the_loss_is_divided_as_scripts_do():
    model, criterion = nn.Linear(2, 1), nn.MSELoss()
    x, y = X.float(), norch.ones(3, 1)
    devices = ["cpu", "cpu"]
    outputs = parallel_apply(replicate(model, devices), scatter(x, devices))
    losses = parallel_apply(replicate(criterion, devices), list(zip(outputs, scatter(y, devices))))
    expected = [criterion(model(part), norch.ones(len(part), 1)).item() for part in (x[:2], x[2:])]
    assert gather(losses, "cpu").tolist() == pytest.approx(expected)
    assert norch.equal(data_parallel(model, x), model(x))


def test_errors():
    with pytest.raises(RuntimeError, match="one device"):
        replicate(nn.Linear(1, 1), ["cuda:0"])
    with pytest.raises(ValueError, match="2 modules, but 1 inputs"):
        parallel_apply([nn.Identity()] * 2, [X])
