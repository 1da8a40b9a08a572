"""norch.nn.summary: the table, and that nothing about the model changes."""

import pytest

import norch
from norch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.BatchNorm1d(8))
        self.head = nn.Linear(8, 3, bias=False)
        self.unused = nn.Linear(2, 2)
        self.scale = nn.Parameter([1.0])

    def forward(self, x, twice=False):
        y = self.head(self.body(x)) * self.scale
        return self.head(self.body(x)) + y if twice else y


def test_table():
    model = Model()
    model.unused.requires_grad_(False)
    table = nn.summary(model, norch.ones(5, 4))
    assert str(table) == repr(table)
    assert str(table).split("\n") == [
        "layer     type         output shape  parameters",
        "-----------------------------------------------",
        "(model)   Model        [5, 3]                 1",
        "  body    Sequential   [5, 8]",
        "    0     Linear       [5, 8]                40",
        "    1     ReLU         [5, 8]",
        "    2     BatchNorm1d  [5, 8]                16",
        "  head    Linear       [5, 3]                24",
        "  unused  Linear                              6",
        "-----------------------------------------------",
        "87 parameters, 81 of them trainable",
    ]
    assert (table.total, table.trainable) == (87, 81) and table.rows[2].name == "body.0"


def test_nothing_changes(no_leak):
    model = Model()
    model.body.eval()
    before = {name: value.tolist() for name, value in model.state_dict().items()}
    modes = [module.training for module in model.modules()]
    norch.manual_seed(1)
    expected = norch.rand(1).item()
    norch.manual_seed(1)
    table = nn.summary(model, norch.ones(5, 4), twice=True)
    assert norch.rand(1).item() == expected
    assert "[5, 3] (2 calls)" in str(table)
    assert [module.training for module in model.modules()] == modes
    assert {name: value.tolist() for name, value in model.state_dict().items()} == before
    model(norch.ones(5, 4))
    assert all(module._hooks is None for module in model.modules() if module is not model.unused)
    assert all(parameter.grad is None for parameter in model.parameters())


def test_it_is_left_as_it_was_after_an_error():
    model = Model()
    with pytest.raises(ValueError, match=r"\[5, 3\]"):
        nn.summary(model, norch.ones(5, 3))
    assert all(module.training for module in model.modules())
    assert not any(module._hooks.after for module in model.modules() if module._hooks is not None)


def test_nested_results_shared_parameters_and_no_input():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(2, 4)
            self.a = nn.Linear(4, 4)
            self.b = nn.Linear(4, 4)
            self.b.weight = self.a.weight

        def forward(self, x):
            y, state = self.lstm(x)
            return {"y": self.b(self.a(y)), "state": state, "name": "tied"}

    table = nn.summary(Tied(), norch.ones(3, 5, 2))
    text = str(table)
    assert "([3, 5, 4], ([1, 5, 4], [1, 5, 4]))" in text
    assert "{y: [3, 5, 4], state: ([1, 5, 4], [1, 5, 4]), name: str}" in text
    assert table.total == 128 + 16 + 4 + 4
    assert "output shape" in str(nn.summary(Tied())) and all(row.output == "" for row in nn.summary(Tied()).rows)
    assert str(nn.summary(nn.Linear(1000, 1000))).split("\n")[2].endswith("1,001,000")
    with pytest.raises(TypeError, match="function"):
        nn.summary(lambda x: x, norch.ones(1))
