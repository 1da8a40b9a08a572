"""norch.nn.init: values, spread, and the random stream."""

import math
import random

import pytest

import norch
from norch import nn
from norch.nn import init


def moments(tensor):
    values = tensor.reshape(-1).tolist()
    mean = sum(values) / len(values)
    return mean, math.sqrt(sum((value - mean) ** 2 for value in values) / len(values)), min(values), max(values)


def test_constants_are_written_into_the_same_tensor():
    weight = nn.Parameter(shape=[2, 3])
    assert init.constant_(weight, 2.5) is weight and weight.tolist() == [[2.5] * 3] * 2
    assert init.ones_(weight).tolist() == [[1.0] * 3] * 2
    assert init.zeros_(weight).tolist() == [[0.0] * 3] * 2
    assert init.eye_(weight).tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    assert weight.requires_grad and weight.is_leaf and weight.grad_fn is None


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_uniform_and_normal_follow_random_in_row_order(dtype):
    dtype = getattr(norch, dtype)
    tensor = norch.zeros(3, 2, dtype=dtype).T  # not contiguous: order is by index, not by memory
    random.seed(11)
    expected = [random.uniform(-2.0, 5.0) for _ in range(6)]
    random.seed(11)
    init.uniform_(tensor, -2.0, 5.0)
    assert tensor.reshape(-1).tolist() == norch.tensor(expected, dtype=dtype).tolist()
    random.seed(11)
    expected = [random.gauss(1.0, 3.0) for _ in range(6)]
    random.seed(11)
    init.normal_(tensor, 1.0, 3.0)
    assert tensor.reshape(-1).tolist() == norch.tensor(expected, dtype=dtype).tolist()


@pytest.mark.parametrize(
    "function, options, bound",
    [
        (init.xavier_uniform_, {}, math.sqrt(6 / 300)),
        (init.xavier_uniform_, {"gain": 2.0}, 2 * math.sqrt(6 / 300)),
        (init.kaiming_uniform_, {}, math.sqrt(2) * math.sqrt(3 / 200)),
        (init.kaiming_uniform_, {"a": math.sqrt(5)}, math.sqrt(1 / 3) * math.sqrt(3 / 200)),
        (init.kaiming_uniform_, {"mode": "fan_out", "nonlinearity": "tanh"}, 5 / 3 * math.sqrt(3 / 100)),
    ],
)
def test_uniform_families_fill_their_interval(function, options, bound):
    random.seed(2)
    mean, std, low, high = moments(function(norch.zeros(100, 200), **options))
    assert -bound <= low < -0.99 * bound and 0.99 * bound < high <= bound * (1 + 1e-6)
    assert abs(mean) < 0.03 * bound and std == pytest.approx(bound / math.sqrt(3), rel=0.03)


@pytest.mark.parametrize(
    "function, options, expected",
    [
        (init.xavier_normal_, {}, math.sqrt(2 / 300)),
        (init.xavier_normal_, {"gain": 3.0}, 3 * math.sqrt(2 / 300)),
        (init.kaiming_normal_, {}, math.sqrt(2 / 200)),
        (init.kaiming_normal_, {"mode": "fan_out", "nonlinearity": "relu"}, math.sqrt(2 / 100)),
    ],
)
def test_normal_families_have_their_spread(function, options, expected):
    random.seed(2)
    mean, std, low, high = moments(function(norch.zeros(100, 200), **options))
    assert abs(mean) < 0.03 * expected and std == pytest.approx(expected, rel=0.03)
    assert low < -3 * expected and high > 3 * expected


def test_gains_and_fans():
    assert init.calculate_gain("linear") == 1 and init.calculate_gain("sigmoid") == 1
    assert init.calculate_gain("tanh") == 5 / 3 and init.calculate_gain("relu") == math.sqrt(2)
    assert init.calculate_gain("leaky_relu") == math.sqrt(2 / (1 + 0.01**2))
    assert init.calculate_gain("leaky_relu", 1) == 1.0 and init.calculate_gain("selu") == 0.75
    assert init._calculate_fan_in_and_fan_out(norch.zeros(7, 5)) == (5, 7)
    assert init._calculate_fan_in_and_fan_out(norch.zeros(7, 5, 3, 2)) == (30, 42)


def test_an_empty_tensor_stays_empty():
    assert init.kaiming_uniform_(norch.zeros(3, 0)).shape == [3, 0]
    assert init.xavier_normal_(norch.zeros(0, 0)).shape == [0, 0]


@pytest.mark.parametrize(
    "use, error, words",
    [
        (lambda: init.uniform_(norch.zeros(1), 2.0, 1.0), ValueError, "2.0.*1.0"),
        (lambda: init.normal_(norch.zeros(1), 0.0, -1.0), ValueError, "-1.0"),
        (lambda: init.uniform_([1.0]), TypeError, "list"),
        (lambda: init.normal_(norch.tensor([1])), TypeError, "int64"),
        (lambda: init.zeros_([1.0]), TypeError, "constant_: expected a Tensor, got list"),
        (lambda: init.eye_(norch.zeros(3)), ValueError, r"\[3\]"),
        (lambda: init.xavier_uniform_(norch.zeros(3)), ValueError, r"\[3\]"),
        (lambda: init.kaiming_normal_(norch.zeros(3, 2), mode="fan"), ValueError, "fan_in"),
        (lambda: init.calculate_gain("swish"), ValueError, "swish"),
        (lambda: init.calculate_gain("leaky_relu", "x"), ValueError, "x"),
    ],
)
def test_init_refuses(use, error, words):
    with pytest.raises(error, match=words):
        use()
