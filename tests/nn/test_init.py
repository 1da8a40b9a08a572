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
@pytest.mark.parametrize("function", [init.uniform_, init.normal_, init.xavier_uniform_, init.kaiming_normal_])
def test_a_seed_or_a_generator_repeats_the_numbers(function, dtype):
    def drawn(**options):
        return function(norch.zeros(3, 2, dtype=getattr(norch, dtype)).T, **options).tolist()

    state = random.getstate()
    norch.manual_seed(11)
    first = drawn()
    assert drawn() != first
    norch.manual_seed(11)
    assert drawn() == first == drawn(generator=norch.Generator().manual_seed(11))
    assert random.getstate() == state, "a program's own random numbers"


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
    assert init.xavier_normal_(norch.zeros(0, 0)).shape == [0, 0]
    for init_, shape in ((init.kaiming_uniform_, [3, 0]), (init.kaiming_normal_, [0])):
        with pytest.warns(UserWarning, match="zero-element"):
            assert init_(norch.zeros(shape)).shape == shape


@pytest.mark.parametrize(
    "use, error, words",
    [
        (lambda: init.uniform_(norch.zeros(1), 2.0, 1.0), RuntimeError, "2.0.*1.0"),
        (lambda: init.normal_(norch.zeros(1), 0.0, -1.0), RuntimeError, "-1.0"),
        (lambda: init.uniform_([1.0]), TypeError, "list"),
        (lambda: init.normal_(norch.tensor([1])), RuntimeError, "int64"),
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


# ---- Truncated, orthogonal, sparse, Dirac ----------------------------------------------------------------------------


def test_trunc_normal_is_the_normal_distribution_between_bounds():
    norch.manual_seed(1)
    x = nn.init.trunc_normal_(norch.empty(20000), 1.0, 2.0, -1.0, 3.0)
    assert -1 <= x.min() and x.max() <= 3
    assert x.mean().item() == pytest.approx(1.0, abs=0.03)  # the bounds are one std away on either side
    assert x.std().item() == pytest.approx(2 * 0.5396, abs=0.03)  # sqrt(1 - 2 p(1) / (1 - 2 P(-1))), p(1) = 0.242
    with pytest.warns(UserWarning, match="two std"):
        nn.init.trunc_normal_(norch.empty(3), mean=9.0)


@pytest.mark.parametrize("shape", [(4, 4), (3, 7), (7, 3), (4, 2, 3), (150, 150), (1, 1)])
def test_orthogonal(shape):
    norch.manual_seed(2)
    x = nn.init.orthogonal_(norch.empty(*shape), gain=2.0).flatten(1).double() / 2
    x = x if x.shape[0] <= x.shape[1] else x.T
    assert (x @ x.T - norch.eye(len(x), dtype=norch.float64)).abs().max() < 1e-5
    with pytest.raises(ValueError, match="two dimensions"):
        nn.init.orthogonal_(norch.empty(3))
    assert nn.init.orthogonal_(norch.empty(0, 3)).shape == [0, 3]


def test_orthogonal_matrices_are_drawn_evenly():
    """Each element of one of size 3 has mean 0 and variance 1/3."""
    norch.manual_seed(3)
    many = norch.stack([nn.init.orthogonal_(norch.empty(3, 3)) for _ in range(600)])
    assert many.mean(0).abs().max() < 0.1 and ((many * many).mean(0) - 1 / 3).abs().max() < 0.06


def test_sparse():
    x = nn.init.sparse_(norch.empty(10, 40), 0.25, std=0.5)
    assert (x == 0).sum(0).tolist() == [3] * 40 and 0.4 < x[x != 0].std() < 0.6
    assert len({tuple(column) for column in (x == 0).T.tolist()}) > 10  # other rows in each column
    with pytest.raises(ValueError, match="two dimensions"):
        nn.init.sparse_(norch.empty(3), 0.5)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_dirac_keeps_the_input(axes):
    weight = nn.init.dirac_(norch.empty(4, 2, *[3] * axes), groups=2)
    middle = weight[(slice(None), slice(None), *[1] * axes)]
    assert middle.tolist() == [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]] and weight.sum() == 4
    x = norch.randn(1, 3, 6)
    assert nn.functional.conv1d(x, nn.init.dirac_(norch.empty(3, 3, 3)), padding=1).tolist() == x.tolist()
    for wrong in (lambda: nn.init.dirac_(norch.empty(2, 2)), lambda: nn.init.dirac_(norch.empty(3, 2, 3), 2)):
        with pytest.raises(ValueError, match="dirac_"):
            wrong()


def test_generators_repeat_the_draws():
    for draw in (
        nn.init.trunc_normal_,
        nn.init.orthogonal_,
        lambda x, generator: nn.init.sparse_(x, 0.3, generator=generator),
        nn.init.xavier_uniform_,
        nn.init.kaiming_normal_,
    ):
        first, second = (draw(norch.empty(5, 6), generator=norch.Generator().manual_seed(7)).tolist() for _ in range(2))
        assert first == second


@pytest.mark.parametrize("name", ["uniform", "normal", "xavier_uniform", "kaiming_normal", "orthogonal"])
def test_old_names_warn(name):
    with pytest.warns(FutureWarning, match=f"{name} is now deprecated in favor of nn.init.{name}_"):
        assert getattr(nn.init, name)(norch.empty(3, 4)).shape == [3, 4]
