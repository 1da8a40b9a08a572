"""A scalar is a tensor of no dimensions, wherever it comes from. It serves as a number does, and as in the article."""

from __future__ import annotations

import math
import operator
import random

import pytest
from compare import assert_close

import norch
from norch import nn

x = norch.tensor([[1.5, 2.5], [3.5, 4.5]])
SCALARS = {
    "tensor": lambda: norch.tensor(2.5),
    "Tensor": lambda: norch.Tensor(2.5),
    "sum": lambda: norch.tensor([1.0, 1.5]).sum(),
    "mean": lambda: norch.tensor([2.0, 3.0]).mean(),
    "max": lambda: x[0].max(),
    "an index for each dimension": lambda: x[0, 1],
    "an index after another": lambda: x[0][1],
    "an element of an iteration": lambda: list(x[0])[1],
    "a loss": lambda: nn.MSELoss()(norch.tensor([1.0, 2.0]), norch.tensor([2.0, 4.0])),
    "a product": lambda: norch.tensor([1.0, 0.5]) @ norch.tensor([2.0, 1.0]),
    "arithmetic": lambda: norch.tensor(5) / 2,
    "squeeze": lambda: norch.tensor([[2.5]]).squeeze(),
    "reshape": lambda: norch.tensor([2.5]).reshape(()),
}


@pytest.mark.parametrize("name", SCALARS)
def test_it_has_no_dimensions_and_serves_as_a_number(name):
    s = SCALARS[name]()
    assert s.shape == () and s.ndim == 0 and s.numel() == 1 and s.dtype is norch.float32
    assert float(s) == 2.5 and int(s) == 2 and bool(s) and s.item() == s.tolist() == 2.5 and complex(s) == 2.5
    assert str(s) == "2.5" and f"{s}" == "2.5" and f"{s:.2f}" == "2.50"
    assert repr(s.detach()) == "tensor(2.5000)"
    assert math.exp(s) == math.exp(2.5) and math.floor(s) == 2 and round(s) == 2 and round(s, 1) == 2.5
    assert s == 2.5 and s in [s] and sorted([s, 1.0])[0] == 1.0 and sum([s, s]) == 5 and max(s, norch.tensor(1.0)) is s
    assert {s: 1}[s] == 1 and hash(s) == hash(s)


def test_whole_numbers_are_indices():
    three = norch.tensor(3)
    assert operator.index(three) == 3 and list(range(three)) == [0, 1, 2] and [0, 1, 2, 3][three] == 3
    assert "ab" * three == "ababab" and str(three) == "3" and f"{three:03d}" == "003"
    assert norch.zeros(three, 2).shape == (3, 2) and norch.arange(5)[three] == 3
    with pytest.raises(TypeError):
        operator.index(norch.tensor(3.0))
    with pytest.raises(TypeError):
        len(three)
    with pytest.raises(TypeError):
        iter(three)


@pytest.mark.parametrize(
    "value, dtype, text",
    [
        (0.1, "float32", "0.1"),
        (0.1, "float64", "0.1"),
        (1 / 3, "float32", "0.33333334"),
        (1 / 3, "float64", "0.3333333333333333"),
        (1e-7, "float32", "1e-07"),
        (3.0, "float32", "3.0"),
        (float("inf"), "float32", "inf"),
        (True, "bool", "True"),
        (7, "int64", "7"),
    ],
)
def test_its_text_is_the_shortest_that_names_it(value, dtype, text):
    assert str(norch.tensor(value, dtype=getattr(norch, dtype))) == text


def test_elements_are_views_with_gradients():
    w = norch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    (w[0, 1] * w[1, 0] + norch.stack([row[0] for row in w]).sum()).backward()
    assert_close(w.grad, [[1.0, 3.0], [3.0, 0.0]])
    y = norch.zeros(2, 2)
    y[0, 1].add_(5)
    y[1][0] = 7
    assert_close(y, [[0.0, 5.0], [7.0, 0.0]])
    with pytest.raises(IndexError, match="index 2 is out of range for axis 1 of size 2"):
        w[0, 2]
    with pytest.raises(IndexError, match="too many indices"):
        w[0, 0, 0]
    with pytest.raises(IndexError):
        w[2**64]


def test_the_article_s_habits():
    losses = []
    for target in (1.0, 2.0):
        prediction = norch.tensor([0.0], requires_grad=True)
        loss = nn.MSELoss()(prediction, norch.tensor([target]))
        loss.backward(norch.ones(1))
        losses.append(loss[0])
    assert [f"{loss[0]:.4f}" for loss in losses] == ["1.0000", "4.0000"] and losses[0] == 1.0
    assert_close(prediction.grad, [-4.0])
    scalar = norch.tensor(1.0)
    scalar[0] = 3.0
    assert scalar.item() == 3.0
    with pytest.raises(IndexError):
        scalar[1]


@pytest.mark.parametrize(
    "tensor, scalar, expected",
    [("float32", "float64", "float32"), ("int32", "int64", "int32"), ("int64", "float32", "float32"),
     ("uint8", "int64", "uint8"), ("bool", "int64", "int64"), ("float32", "int64", "float32")],
)  # fmt: skip
def test_it_widens_no_dtype_of_its_category(tensor, scalar, expected):
    vector = norch.ones(2, dtype=getattr(norch, tensor))
    number = norch.tensor(2, dtype=getattr(norch, scalar))
    assert (vector * number).dtype is (number * vector).dtype is getattr(norch, expected)


def test_python_takes_tensors_for_numbers():
    assert random.Random(0).choice(norch.arange(5)).ndim == 0
    assert norch.tensor([norch.tensor(1.0), 2.0, norch.tensor(3.0)]).tolist() == [1.0, 2.0, 3.0]
    assert norch.stack([norch.tensor(1), norch.tensor(2)]).shape == (2,)
    assert [n for n, value in enumerate(norch.tensor([3, 5])) if value == 5] == [1]
    assert dict(zip("ab", norch.tensor([1, 2])))["b"].item() == 2
