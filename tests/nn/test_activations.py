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


def hard(x):
    return max(0.0, min(6.0, x + 3.0))


def slope(a):
    return lambda x: x if x > 0 else a * x


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
    "relu6": (F.relu6, nn.ReLU6(), lambda x: max(0.0, min(6.0, x)), (0.0, 6.0), (0.0, 0.0)),
    "hardsigmoid": (F.hardsigmoid, nn.Hardsigmoid(), lambda x: hard(x) / 6, (0.0, 1.0), (0.0, 0.0)),
    "hardswish": (F.hardswish, nn.Hardswish(), lambda x: x * hard(x) / 6, (0.0, 1000.0), (0.0, 1.0)),
    "selu": (
        F.selu,
        nn.SELU(),
        lambda x: 1.0507009873554805 * (x if x > 0 else 1.6732632423543772 * math.expm1(x)),
        (-1.7580993408473766, 1050.7009873554805),
        (0.0, 1.0507009873554805),
    ),
    "celu": (F.celu, nn.CELU(), lambda x: x if x > 0 else math.expm1(x), (-1.0, 1000.0), (0.0, 1.0)),
    "celu 2": (
        lambda x: F.celu(x, 2.0),
        nn.CELU(2.0),
        lambda x: x if x > 0 else 2 * math.expm1(x / 2),
        (-2.0, 1000.0),
        (0.0, 1.0),
    ),
    "rrelu": (lambda x: F.rrelu(x, 0.1, 0.3), nn.RReLU(0.1, 0.3).eval(), slope(0.2), (-200.0, 1000.0), (0.2, 1.0)),
    "threshold": (
        lambda x: F.threshold(x, 0.5, -2.0),
        nn.Threshold(0.5, -2.0),
        lambda x: x if x > 0.5 else -2.0,
        (-2.0, 1000.0),
        (0.0, 1.0),
    ),
    "hardshrink": (F.hardshrink, nn.Hardshrink(), lambda x: x if abs(x) > 0.5 else 0.0, (-1000.0, 1000.0), (1.0, 1.0)),
    "softshrink": (
        F.softshrink,
        nn.Softshrink(),
        lambda x: math.copysign(max(abs(x) - 0.5, 0.0), x),
        (-999.5, 999.5),
        (1.0, 1.0),
    ),
    "tanhshrink": (F.tanhshrink, nn.Tanhshrink(), lambda x: x - math.tanh(x), (-999.0, 999.0), (1.0, 1.0)),
    "softsign": (
        F.softsign,
        nn.Softsign(),
        lambda x: x / (1 + abs(x)),
        (-1000 / 1001, 1000 / 1001),
        (1 / 1001**2,) * 2,
    ),
    "logsigmoid": (F.logsigmoid, nn.LogSigmoid(), lambda x: -math.log1p(math.exp(-x)), (-1000.0, 0.0), (1.0, 0.0)),
    "mish": (F.mish, nn.Mish(), lambda x: x * math.tanh(math.log1p(math.exp(x))), (0.0, 1000.0), (0.0, 1.0)),
}
IN_PLACE = {
    "relu6": (F.relu6, nn.ReLU6),
    "hardsigmoid": (F.hardsigmoid, nn.Hardsigmoid),
    "hardswish": (F.hardswish, nn.Hardswish),
    "selu": (F.selu, nn.SELU),
    "celu": (F.celu, nn.CELU),
    "mish": (F.mish, nn.Mish),
    "rrelu": (F.rrelu, lambda inplace: nn.RReLU(inplace=inplace).eval()),
    "relu": (F.relu, nn.ReLU),
    "leaky_relu": (F.leaky_relu, nn.LeakyReLU),
    "elu": (F.elu, nn.ELU),
    "silu": (F.silu, nn.SiLU),
    "hardtanh": (F.hardtanh, nn.Hardtanh),
}
PIECEWISE_LINEAR = "leaky_relu hardtanh relu6 hardsigmoid rrelu threshold hardshrink softshrink".split()
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


@pytest.mark.parametrize("dtype", REAL[1:])  # the square of 1000 is no float16
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
        assert norch.autograd.grad(first.sum(), x)[0][:2].abs().max() < 1e-8


@each
def test_nan_reaches_the_gradient(name):
    """Where the slope depends on x, that of NaN is NaN; piecewise linear ones have one all the same, as in PyTorch."""
    x = norch.tensor([math.nan], requires_grad=True)
    ACTIVATIONS[name][0](x).sum().backward()
    assert math.isnan(x.grad[0]) or name.split()[0] in PIECEWISE_LINEAR


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


def test_prelu_has_a_slope_for_each_channel():
    x = norch.tensor([[[-1.0, 2.0], [-3.0, 4.0]]], dtype=norch.float64, requires_grad=True)
    weight = norch.tensor([0.5, 2.0], dtype=norch.float64, requires_grad=True)
    assert F.prelu(x, weight).tolist() == [[[-0.5, 2.0], [-6.0, 4.0]]]
    assert gradcheck(F.prelu, (x, weight)) and gradgradcheck(F.prelu, (x, weight))
    module = nn.PReLU(2)
    assert module.weight.tolist() == [0.25, 0.25] and module(norch.full([1, 2], -4.0)).tolist() == [[-1.0, -1.0]]
    for wrong in (norch.ones(3), norch.ones(2, 1)):
        with pytest.raises(RuntimeError, match="prelu"):
            F.prelu(norch.ones(1, 2), wrong)
    with pytest.raises(RuntimeError, match="float64"):
        F.prelu(norch.ones(1, 2), norch.ones(1).double())


def test_glu_gates_one_half_by_the_other():
    x = norch.tensor([[1.0, -2.0, 0.3, 0.7]], dtype=norch.float64, requires_grad=True)
    expected = [1.0 / (1 + math.exp(-0.3)), -2.0 / (1 + math.exp(-0.7))]
    assert F.glu(x).tolist() == [pytest.approx(expected)] and nn.GLU(1)(x).tolist() == [pytest.approx(expected)]
    assert gradcheck(F.glu, x) and gradgradcheck(F.glu, x)
    with pytest.raises(RuntimeError, match="3"):
        F.glu(norch.ones(3))


def test_random_slopes_of_rrelu_are_within_their_bounds():
    norch.manual_seed(1)
    x = norch.full([1000], -1.0).requires_grad_()
    y = nn.RReLU(0.2, 0.4)(x)
    y.sum().backward()
    assert -0.4 <= y.min() and y.max() <= -0.2 and y.std() > 0.03 and x.grad.tolist() == (-y).tolist()
    with pytest.raises(RuntimeError, match="lower"):
        F.rrelu(x, 0.4, 0.2)


def test_gumbel_softmax_chooses_by_the_probabilities():
    norch.manual_seed(3)
    logits = norch.tensor([0.7, 0.2, 0.1]).log().expand(4000, 3).clone().requires_grad_()
    hard = F.gumbel_softmax(logits, hard=True)
    assert ((hard - hard.round()).abs() < 1e-6).all() and ((hard.sum(1) - 1).abs() < 1e-6).all()
    assert hard.mean(0).tolist() == pytest.approx([0.7, 0.2, 0.1], abs=0.03)
    soft = F.gumbel_softmax(logits, tau=0.5)
    assert ((soft.sum(1) - 1).abs() < 1e-5).all() and soft.min() >= 0
    (hard * norch.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert logits.grad.abs().max() > 0


def test_softmax_in_another_dtype():
    x = norch.tensor([[1, 2]])
    for function in (F.softmax, F.log_softmax, F.softmin):
        assert function(x, dim=1, dtype=norch.float64).dtype is norch.float64
    assert x.softmax(1, dtype=norch.float32).dtype is norch.float32
    image = norch.ones(2, 3, 4, 5)
    assert nn.Softmax2d()(image).sum(1).allclose(norch.ones(2, 4, 5))
    with pytest.raises(ValueError, match="Softmax2d"):
        nn.Softmax2d()(norch.ones(2, 3))


def test_integers_where_torch_takes_them():
    x = norch.tensor([-5, 2, 9])
    assert F.relu6(x).tolist() == [0, 2, 6] and F.hardtanh(x, -2, 3).tolist() == [-2, 2, 3]
    assert F.threshold(x, 3, 7).tolist() == [7, 7, 9]


@pytest.mark.parametrize("name", ["relu_", "leaky_relu_", "elu_", "selu_", "celu_", "hardtanh_", "rrelu_"])
def test_functions_in_place(name):
    x = norch.tensor(POINTS)
    expected = getattr(F, name[:-1])(x)
    assert getattr(F, name)(x) is x and x.tolist() == expected.tolist()


def test_threshold_in_place():
    x = norch.tensor([1.0, 3.0])
    assert F.threshold_(x, 2.0, 0.0) is x and x.tolist() == [0.0, 3.0]
    assert nn.Threshold(2.0, 5.0, inplace=True)(x) is x and x.tolist() == [5.0, 3.0]


def test_prelu_is_one_node_with_the_gradients_of_its_definition():
    x = norch.tensor([[-2.0, 3.0, 0.0], [1.0, -1.0, -4.0]], requires_grad=True)
    slopes = norch.tensor([0.5, 0.25, 2.0], requires_grad=True)
    y = F.prelu(x, slopes)
    assert type(y.grad_fn).__name__ == "PReluBackward"
    y.backward(norch.ones_like(y))
    assert x.grad.tolist() == [[0.5, 1.0, 2.0], [1.0, 0.25, 2.0]]
    assert slopes.grad.tolist() == [-2.0, -1.0, -4.0]
