"""The activations of nn.functional and their modules: values, both derivatives, NaN, the far ends, in place."""

import math

import pytest
from arrays import REAL
from compare import assert_close
from tensors import dtype_named

import norch
from norch import nn
from norch.autograd import gradcheck, gradgradcheck
from norch.nn import functional as F


def normal_cdf(x):
    return 0.5 * math.erfc(-x / math.sqrt(2))


def gelu_tanh(x):
    return x / (1 + math.exp(-2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def softplus(beta, threshold):
    return lambda x: x if beta * x > threshold else math.log1p(math.exp(beta * x)) / beta


# name -> (function, its module, the formula on a Python float, its values and slopes at -1000 and 1000)
ACTIVATIONS = {
    "leaky_relu": (F.leaky_relu, nn.LeakyReLU(), lambda x: x if x > 0 else 0.01 * x, (-10.0, 1000.0), (0.01, 1.0)),
    "leaky_relu 0.2": (
        lambda x: F.leaky_relu(x, 0.2),
        nn.LeakyReLU(0.2),
        lambda x: x if x > 0 else 0.2 * x,
        (-200.0, 1000.0),
        (0.2, 1.0),
    ),
    "elu": (F.elu, nn.ELU(), lambda x: x if x > 0 else math.expm1(x), (-1.0, 1000.0), (0.0, 1.0)),
    "elu 2": (
        lambda x: F.elu(x, 2.0),
        nn.ELU(2.0),
        lambda x: x if x > 0 else 2 * math.expm1(x),
        (-2.0, 1000.0),
        (0.0, 1.0),
    ),
    "gelu": (F.gelu, nn.GELU(), lambda x: x * normal_cdf(x), (0.0, 1000.0), (0.0, 1.0)),
    "gelu tanh": (lambda x: F.gelu(x, "tanh"), nn.GELU("tanh"), gelu_tanh, (0.0, 1000.0), (0.0, 1.0)),
    "silu": (F.silu, nn.SiLU(), lambda x: x / (1 + math.exp(-x)), (0.0, 1000.0), (0.0, 1.0)),
    "softplus": (F.softplus, nn.Softplus(), softplus(1.0, 20.0), (0.0, 1000.0), (0.0, 1.0)),
    "softplus 3 2": (
        lambda x: F.softplus(x, 3.0, 2.0),
        nn.Softplus(3.0, 2.0),
        softplus(3.0, 2.0),
        (0.0, 1000.0),
        (0.0, 1.0),
    ),
    "hardtanh": (F.hardtanh, nn.Hardtanh(), lambda x: max(-1.0, min(1.0, x)), (-1.0, 1.0), (0.0, 0.0)),
    "hardtanh 0 2": (
        lambda x: F.hardtanh(x, 0.0, 2.0),
        nn.Hardtanh(0.0, 2.0),
        lambda x: max(0.0, min(2.0, x)),
        (0.0, 2.0),
        (0.0, 0.0),
    ),
}
IN_PLACE = {
    "relu": (F.relu, nn.ReLU),
    "leaky_relu": (F.leaky_relu, nn.LeakyReLU),
    "elu": (F.elu, nn.ELU),
    "silu": (F.silu, nn.SiLU),
    "hardtanh": (F.hardtanh, nn.Hardtanh),
}
POINTS = [-6.5, -3.1, -1.0, -0.9, -0.3, 0.0, 1e-4, 0.2, 0.7, 1.0, 1.9, 4.3, 9.0]
each = pytest.mark.parametrize("name", ACTIVATIONS)


@pytest.mark.parametrize("dtype", REAL)
@each
def test_values(name, dtype, device):
    function, module, formula = ACTIVATIONS[name][:3]
    x = norch.tensor(POINTS, dtype=dtype_named(dtype), device=device)
    expected = [formula(point) for point in x.tolist()]
    for y in (function(x), module.to(x.dtype)(x)):
        assert_close(y, expected, dtype)
        assert y.device == x.device
    assert function(x[:0]).shape == [0] and function(x.reshape(1, -1).T).shape == [len(POINTS), 1]


@each
def test_gradients_of_both_orders(name, device):
    points = [0.05 + 0.37 * i for i in range(-9, 10)]  # none within a finite difference of a kink
    x = norch.tensor(points, dtype=norch.float64, device=device, requires_grad=True)
    assert gradcheck(ACTIVATIONS[name][0], x) and gradgradcheck(ACTIVATIONS[name][0], x)


@pytest.mark.parametrize("dtype", REAL)
@each
def test_far_ends_and_nan(name, dtype):
    function, _, _, limits, slopes = ACTIVATIONS[name]
    x = norch.tensor([-1000.0, 1000.0, math.nan], dtype=dtype_named(dtype), requires_grad=True)
    y = function(x)
    assert_close(y[:2], list(limits))
    assert math.isnan(y[2])
    (first,) = norch.autograd.grad(y.sum(), x, create_graph=True)
    assert_close(first[:2], list(slopes))
    if first.requires_grad:  # the slopes of piecewise linear ones are constants
        assert norch.autograd.grad(first.sum(), x)[0][:2].tolist() == [0.0, 0.0]


@each
def test_nan_reaches_the_gradient(name):
    """Where the slope depends on x, that of NaN is NaN; piecewise linear ones have one all the same, as in PyTorch."""
    x = norch.tensor([math.nan], requires_grad=True)
    ACTIVATIONS[name][0](x).sum().backward()
    assert math.isnan(x.grad[0]) or name.split()[0] in ("leaky_relu", "hardtanh")


@pytest.mark.parametrize(
    "function, at, slope",
    [(F.leaky_relu, 0.0, 0.01), (F.elu, 0.0, 1.0), (F.gelu, 0.0, 0.5), (F.hardtanh, 1.0, 0.0), (F.hardtanh, -1.0, 0.0)],
)
def test_slopes_at_kinks_are_those_of_pytorch(function, at, slope):
    x = norch.tensor([at], requires_grad=True)
    function(x).sum().backward()
    assert x.grad.tolist() == [pytest.approx(slope)]


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place(name):
    function, module = IN_PLACE[name]
    for inplace in (lambda x: function(x, inplace=True), module(inplace=True)):
        x = norch.tensor(POINTS, dtype=norch.float64)
        expected = function(x)
        assert inplace(x) is x and x.tolist() == expected.tolist()
        leaf = norch.tensor([p + 0.05 for p in POINTS], dtype=norch.float64, requires_grad=True)
        assert gradcheck(lambda t: inplace(t * 1.0), leaf)  # noqa: B023
        with pytest.raises(RuntimeError, match="leaf"):
            inplace(leaf)  # noqa: B023


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: F.silu([1.0]), TypeError, "silu.*list"),
        (lambda: F.elu(norch.arange(3)), RuntimeError, "elu.*int64"),
        (lambda: F.gelu(norch.ones(2), "exact"), RuntimeError, "'exact'.*'tanh'"),
        (lambda: norch.ones(2, 2).softmax((0, 1)), TypeError, r"softmax: expected one integer, got \(0, 1\)"),
        (lambda: F.hardtanh(norch.ones(2), 1.0, -1.0), ValueError, "1.0.*-1.0"),
        (lambda: nn.Hardtanh(1.0, -1.0), ValueError, "1.0.*-1.0"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_modules_are_printed_with_their_settings():
    modules = [nn.LeakyReLU(0.2, True), nn.ELU(), nn.GELU(), nn.SiLU(), nn.Softplus(), nn.Hardtanh(0.0, 6.0)]
    assert str(nn.Sequential(*modules)).split("\n")[1:-1] == [
        "   (0): LeakyReLU(negative_slope=0.2, inplace=True)",
        "   (1): ELU(alpha=1.0)",
        "   (2): GELU(approximate='none')",
        "   (3): SiLU()",
        "   (4): Softplus(beta=1.0, threshold=20.0)",
        "   (5): Hardtanh(min_val=0.0, max_val=6.0)",
    ]


def test_nothing_leaks(no_leak):
    for function, *_ in ACTIVATIONS.values():
        x = norch.ones(100, requires_grad=True)
        function(x).sum().backward()
        del x
