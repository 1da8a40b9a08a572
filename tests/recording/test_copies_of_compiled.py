"""Copies and pickles of what is compiled: they begin without programs, and look at the copied objects."""

from __future__ import annotations

import copy
import io
import pickle

import pytest

import norch
from norch import nn

COPIES = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
}
copies = pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)


@norch.compile
def doubled(x):
    return x * 2


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.doubled = nn.Linear(2, 2), doubled

    @norch.compile
    def forward(self, x):
        return self.doubled(self.layer(x))


def called(function, times=5):
    for _ in range(times):
        result = function(norch.ones(1, 2))
    return result.tolist()


@copies
def test_a_module_with_compiled_methods(copied):
    model = Scaled()
    before = called(model)
    other = copied(model)
    assert called(other) == before and model.forward.programs and other.forward.programs
    with norch.no_grad():
        other.layer.weight.zero_()
        other.layer.bias.zero_()
    other.layer.weight = nn.Parameter(norch.zeros(2, 2))
    assert called(other) == [[0.0, 0.0]] and called(model) == before


@copies
def test_a_compiled_module(copied):
    model = norch.compile(nn.Linear(2, 2))
    before = called(model)
    other = copied(model)
    assert type(other) is type(model) and called(other) == before and other.programs
    other.weight = nn.Parameter(norch.zeros(2, 2))
    assert called(other) != before and called(model) == before


@copies
def test_compiled_functions(copied):
    called(doubled)
    assert copied(doubled) is doubled  # a global one, as functions are


def test_a_local_function():
    function = norch.compile(lambda x: x + 1, fullgraph=True)
    called(function)
    for other in (copy.copy(function), copy.deepcopy(function)):
        assert other.fullgraph and not other.programs and called(other) == called(function) and other.programs


def test_a_compiled_module_in_a_file():
    file = io.BytesIO()
    model = norch.compile(nn.Linear(2, 2))
    norch.save(model, file)
    file.seek(0)
    assert called(norch.load(file, weights_only=False)) == called(model)
