"""Elementwise methods with options, and those composed of others: values, dtypes, gradients, forms in place."""

from __future__ import annotations

import math

import pytest
from compare import assert_close

import norch
from norch import _C
from norch.autograd import gradcheck, gradgradcheck
from norch.nn import functional as F
from norch.operation import check

inf, nan = math.inf, math.nan


def test_alpha(device):
    x, y = norch.tensor([1, 2], device=device), norch.tensor([10, 20], device=device)
    assert_close(x.add(y, alpha=3), [31, 62], "int64")
    assert_close(norch.sub(x, y, alpha=2), [-19, -38], "int64")
    assert_close(norch.add(x.float(), y, alpha=0.5), [6.0, 12.0])
    assert_close(norch.rsub(x, y, alpha=2), [8, 16], "int64")
    assert_close(norch.rsub(x, 1, alpha=2), [-1, -3], "int64")
    assert_close(x.clone().add_(y, alpha=-1), [-9, -18], "int64")
    assert_close(x.clone().sub_(1, alpha=2), [-1, 0], "int64")
    for alpha, match in ((1.5, "floating"), (True, "bool")):
        with pytest.raises(RuntimeError, match=match):
            x.add(y, alpha=alpha)


@pytest.mark.parametrize("name", ["addcmul_", "addcdiv_"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_scaled_terms_in_place(name, dtype, device):
    kind = getattr(norch, dtype)
    values = [-2 + k / 8 for k in range(35)]
    x, y, row = (norch.tensor(v, dtype=kind, device=device) for v in (values, values[::-1], values[:5]))
    z = row.abs() + 1
    for a, b, c in ((x, y, x + 4), (x.view(5, 7).T, y.view(7, 5), z), (x.view(7, 5), row, y.view(5, 7).T + 4)):
        c = c.expand(a.shape)
        terms = [0.3 * p * q if name == "addcmul_" else 0.3 * p / q for p, q in zip(spread(b, a), spread(c, a))]
        expected = [v + term for v, term in zip(spread(a, a), terms)]
        written = a.clone()
        assert getattr(written, name)(b, c, value=0.3) is written and written.dtype is kind
        rounding = {"float32": 1e-6, "float64": 1e-14, "float16": 3e-3}[dtype]
        assert written.flatten().tolist() == pytest.approx(expected, rel=rounding, abs=rounding)
    with pytest.raises(norch.ShapeError):
        x.clone().view(7, 5).addcmul_(row, norch.ones(3, 7, 5, dtype=kind, device=device), value=0.3)


def spread(x, like):
    return x.expand(like.shape).flatten().tolist()


def test_a_scaled_term_in_place_passes_its_gradient():
    x, y = norch.ones(3, requires_grad=True), norch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    z = x * 2
    z[1:].addcmul_(y[:2], y[1:].detach(), value=0.5)
    z.sum().backward()
    assert_close(x.grad, [2.0, 2.0, 2.0])
    assert_close(y.grad, [1.0, 1.5, 0.0])


def test_older_orders_of_operands():
    x, y = norch.tensor([1.0, 2.0]), norch.tensor([10.0, 20.0])
    assert_close(x.add(0.5, y), [6.0, 12.0])
    assert_close(x.clone().add_(-0.1, y), [0.0, 0.0])
    assert_close(x.sub(0.5, y), [-4.0, -8.0])
    assert_close(x.addcmul(2, y, y), [201.0, 802.0])
    assert_close(x.clone().addcdiv_(2, y, y), [3.0, 4.0])
    with pytest.raises(TypeError):
        x.add(1, y, y)


@pytest.mark.parametrize("dtype", ["int64", "float32"])
def test_rounding_mode(dtype, device):
    x = norch.tensor([7, -7, 6], dtype=getattr(norch, dtype), device=device)
    assert_close(x.div(2, rounding_mode="trunc"), [3, -3, 3], dtype)
    assert_close(norch.div(x, 2, rounding_mode="floor"), [3, -4, 3], dtype)
    assert_close(x.clone().div_(2, rounding_mode="floor"), [3, -4, 3], dtype)
    assert_close(norch.divide(x, x, rounding_mode=None), [1.0, 1.0, 1.0])
    with pytest.raises(RuntimeError, match="rounding_mode"):
        x.div(2, rounding_mode="up")


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8"])
def test_truncated_quotients_of_integers(dtype, device):
    kind = getattr(norch, dtype)
    low, high = norch.iinfo(kind).min, norch.iinfo(kind).max
    x, y = norch.tensor([7, high, low, low], dtype=kind, device=device), [2, 3, 2, -1 if low else 1]
    expected = [int(a / b) if b > 0 else low for a, b in zip(x.tolist(), y)]  # the smallest one negated wraps around
    expected[1] = high // 3
    divisor = norch.tensor(y, dtype=kind, device=device)
    assert_close(x.div(divisor, rounding_mode="trunc"), expected, dtype)
    assert_close(x.clone().div_(divisor, rounding_mode="trunc"), expected, dtype)
    assert x.div(2.0, rounding_mode="trunc").dtype is norch.float32
    with pytest.raises(RuntimeError, match="zero|by 0"):
        x.div(0, rounding_mode="trunc")
    with pytest.raises(RuntimeError):
        x.div_(0.5, rounding_mode="trunc")


def test_a_power_of_one_is_a_copy(device):
    x = norch.tensor([2.0, -3.0, nan], device=device)
    y = x.pow(1)
    assert_close(y, x.tolist())
    assert not y.is_set_to(x) and y.data_ptr() != x.data_ptr()
    assert_close(x.clone().pow_(1.0), x.tolist())


def test_a_rounded_quotient_has_a_gradient_of_zeros():
    x = norch.tensor([7.0, 1.0], requires_grad=True)
    y = norch.tensor([2.0, 0.0], requires_grad=True)
    norch.div(x, y, rounding_mode="trunc").sum().backward()
    assert_close(x.grad, [0.0, 0.0])
    assert_close(y.grad, [0.0, 0.0])


def test_decimals(device):
    x = norch.tensor([1.2345, -567.5], dtype=norch.float64, device=device)
    assert_close(x.round(decimals=2), [1.23, -567.5], "float64")
    assert_close(norch.round(x, decimals=-2), [0.0, -600.0], "float64")
    assert_close(x.clone().round_(decimals=1), [1.2, -567.5], "float64")
    with pytest.raises(RuntimeError, match="float"):
        norch.tensor([15]).round(decimals=-1)


def test_float_power(device):
    x = norch.tensor([2, 4], device=device)
    assert_close(x.float_power(-1), [0.5, 0.25], "float64")
    assert_close(norch.float_power(2, x), [4.0, 16.0], "float64")
    assert_close(norch.float_power(x.float(), x), [4.0, 256.0], "float64")
    with pytest.raises(RuntimeError, match="float64.*int64"):
        x.float_power_(2)


def test_nan_to_num(device):
    x = norch.tensor([nan, inf, -inf, 1.5], device=device)
    largest = norch.finfo(norch.float32).max
    assert_close(x.nan_to_num(), [0.0, largest, -largest, 1.5])
    assert_close(norch.nan_to_num(x, 1.0, posinf=2.0, neginf=-3.0), [1.0, 2.0, -3.0, 1.5])
    assert_close(norch.tensor([1, 2]).nan_to_num(5.0), [1, 2], "int64")
    x.requires_grad_()
    x.nan_to_num().sum().backward()
    assert_close(x.grad, [0.0, 0.0, 0.0, 1.0])
    with pytest.raises(TypeError, match="expected a number, got a tensor"):
        check(_C.lib.hardtanh_backward_tensor(x._ptr, x._ptr, _C.number(1.0)._ptr, x._ptr))


@pytest.mark.parametrize("dtype, below", [("float16", 1.0), ("bfloat16", 0.0)])
def test_bounds_beside_a_narrow_dtype(dtype, below):
    """The bounds of clamp are rounded as comparisons round them, those of hardtanh are not: 0.1 may be below 0.1."""
    for bounded, passes in ((lambda x: x.clamp(-1.0, 0.1), 1.0), (lambda x: F.hardtanh(x, -1.0, 0.1), below)):
        x = norch.tensor([0.1, inf, 0.05], dtype=getattr(norch, dtype), requires_grad=True)
        bounded(x).sum().backward()
        assert_close(x.grad, [passes, 0.0, 1.0], dtype)


def test_bounds_on_one_side(device):
    x = norch.tensor([1, 5], device=device)
    assert_close(x.clamp_min(2), [2, 5], "int64")
    assert_close(norch.clamp_max(x, norch.tensor([0.5, 7.0], device=device)), [0.5, 5.0])
    assert_close(x.clone().clamp_max_(2), [1, 2], "int64")
    y = norch.tensor([2.0, 2.0], requires_grad=True)
    norch.clamp_min(y, norch.tensor([2.0, 3.0])).sum().backward()  # a bound that is met lets the gradient through
    assert_close(y.grad, [1.0, 0.0])


def test_frexp(device):
    x = norch.tensor([10.0, -0.25, 0.0, inf, 1.0], device=device)
    mantissa, exponent = norch.frexp(x)
    assert_close(mantissa, [0.625, -0.5, 0.0, inf, 0.5])
    assert_close(exponent, [4, -1, 0, 0, 1], "int32")
    assert x.frexp().mantissa.equal(mantissa)
    assert_close(norch.ldexp(mantissa, exponent), x.tolist())
    y = norch.tensor([10.0, -0.3], dtype=norch.float64, requires_grad=True)
    assert gradcheck(lambda t: t.frexp().mantissa, (y,))
    with pytest.raises(RuntimeError, match="int64"):
        norch.tensor([1]).frexp()


def test_neighbours(device):
    x = norch.tensor([1.0, 0.0, -1.0], dtype=norch.float64, device=device)
    assert norch.nextafter(x, x + 1).tolist() == [1.0 + 2**-52, 5e-324, -1.0 + 2**-53]
    assert norch.nextafter(x.float(), x.float() - 1).tolist() == [1.0 - 2**-24, -(2.0**-149), -1.0 - 2**-23]


def test_shifts_beyond_the_width(device):
    x = norch.tensor([3, -3], device=device)
    assert_close(x << 64, [0, 0], "int64")
    assert_close(x << -1, [0, 0], "int64")
    assert_close(x >> 64, [0, -1], "int64")
    assert_close(x >> -1, [0, -1], "int64")
    for dtype, last in ((norch.int8, -1), (norch.int32, -1), (norch.uint8, 0)):
        small = norch.tensor([3, 253 if last == 0 else -3], device=device).to(dtype)
        assert (small >> 8 * dtype.itemsize).tolist() == [0, last]
        assert (small >> 1).tolist() == [1, 126 if last == 0 else -2]
    assert_close(1 << norch.tensor([1, 2], device=device), [2, 4], "int64")
    x <<= 2
    assert_close(x, [12, -12], "int64")
    lowest = norch.tensor([-(2**63)], device=device)
    assert_close(norch.gcd(lowest, norch.tensor([6], device=device)), [2], "int64")


def test_as_of_complex_numbers(device):
    x = norch.tensor([1.0, -2.0, nan], device=device)
    assert x.conj() is x and norch.real(x) is x and x.real is x and x.resolve_conj() is x
    assert_close(x.angle(), [0.0, math.pi, nan])
    assert_close(norch.isreal(x), [True] * 3, "bool")
    for imaginary in (lambda: x.imag, lambda: norch.imag(x)):
        with pytest.raises(RuntimeError, match="non-complex"):
            imaginary()


def test_sinc_is_smooth_at_zero():
    x = norch.tensor([0.0, 0.5], dtype=norch.float64, requires_grad=True)
    x.sinc().sum().backward()
    assert_close(x.grad, [0.0, -4 / math.pi], "float64")
    (slope,) = norch.autograd.grad(x.sinc().sum(), x, create_graph=True)
    (curvature,) = norch.autograd.grad(slope.sum(), x)
    assert curvature[x == 0].item() == pytest.approx(-(math.pi**2) / 3, rel=1e-6)


COMPOSED = {
    "ldexp": lambda x: x.ldexp(norch.tensor(2)),
    "float_power": lambda x: x.float_power(1.5),
    "deg2rad": norch.deg2rad,
    "rad2deg": norch.rad2deg,
    "logit": lambda x: x.logit(0.4),
    "polygamma": lambda x: x.polygamma(1),
    "sinc": norch.sinc,
}


@pytest.mark.parametrize("name", COMPOSED)
def test_gradients(name):
    x = norch.tensor([0.3, 0.45, 0.7], dtype=norch.float64, requires_grad=True)
    assert gradcheck(COMPOSED[name], (x,)) and gradgradcheck(COMPOSED[name], (x,))


def test_a_composed_operation_in_place():
    """It has the gradient of the operation, may write into a view, and keeps the dtype."""
    x = norch.tensor([0.3, 0.7], dtype=norch.float64, requires_grad=True)
    y = x * 1.0
    assert y.sinc_() is y
    y.sum().backward()
    expected = norch.tensor([0.3, 0.7], dtype=norch.float64, requires_grad=True)
    expected.sinc().sum().backward()
    assert_close(x.grad, expected.grad.tolist(), "float64")
    base = norch.zeros(2, 2)
    base[0].deg2rad_().add_(1)
    assert_close(base, [[1.0, 1.0], [0.0, 0.0]])
    with pytest.raises(RuntimeError, match="float32.*int64"):
        norch.tensor([1, 2]).sinc_()
    with pytest.raises(RuntimeError, match="leaf"):
        x.logit_()


def test_other_names():
    x = norch.tensor([0.25, 0.5])
    for name, other in (
        ("arcsin", "asin"),
        ("arctanh", "atanh"),
        ("fix", "trunc"),
        ("sgn", "sign"),
        ("absolute", "abs"),
    ):
        assert getattr(norch, name)(x).equal(getattr(x, other)())
        assert getattr(x.clone(), f"{name}_")().equal(getattr(x, other)())
    for name, other in (("greater", "gt"), ("less_equal", "le"), ("not_equal", "ne"), ("arctan2", "atan2")):
        assert getattr(norch, name)(x, x.flip(0)).equal(getattr(x, other)(x.flip(0)))
    for name in ("subtract", "multiply", "divide", "true_divide"):
        assert hasattr(norch.Tensor, f"{name}_")


def test_fill():
    x = norch.tensor([1, 2])
    assert_close(norch.fill(x, 7), [7, 7], "int64")
    assert_close(x, [1, 2], "int64")
    with pytest.raises(RuntimeError, match="dimensions"):
        norch.fill(x, norch.tensor([1]))


def test_terms_are_computed_in_the_dtype_of_the_result(device):
    x = norch.ones(1, dtype=norch.float64, device=device)
    flag, count, third = (norch.tensor([value], device=device) for value in (True, 1, 3.0))
    assert norch.add(x, flag, alpha=3.7).item() == 4.7
    assert norch.sub(x, count, alpha=0.1).item() == 0.9
    assert norch.addcmul(x, count, count, value=-0.3).item() == 0.7
    assert norch.addcdiv(x, flag.float(), third).item() == pytest.approx(4 / 3, rel=1e-15)
    assert norch.add(flag, flag, alpha=2).dtype is norch.bool
    assert norch.add(flag, True, alpha=-1).dtype is norch.bool


def test_rsub_takes_alpha_in_its_place(device):
    assert norch.rsub(norch.tensor([1.0], device=device), 10, 2).item() == 8


IN_PLACE = [
    ("round", {}),
    ("round", {"decimals": 1}),
    ("nan_to_num", {}),
    ("nan_to_num", {"nan": 7.0, "posinf": 9.0}),
    ("sinc", {}),
    ("logit", {}),
    ("logit", {"eps": 0.1}),
    ("deg2rad", {}),
    ("rad2deg", {}),
    ("polygamma", {"n": 1}),
    ("div", {"other": 0.3, "rounding_mode": "trunc"}),
    ("div", {"other": 0.3, "rounding_mode": "floor"}),
    ("cumsum", {"dim": 0}),
    ("cumprod", {"dim": 0}),
]


@pytest.mark.parametrize("name, options", IN_PLACE)
@pytest.mark.parametrize("dtype", [norch.float32, norch.float64, norch.float16])
def test_forms_in_place_compute_the_same(name, options, dtype, device):
    """Of a tensor alone, of a part of one in a graph, and where norch.compile replays them."""
    values = norch.tensor([[0.25, 0.75, inf], [0.5, nan, 0.125]], dtype=dtype, device=device)
    finite = norch.tensor([[0.25, 0.75], [0.5, 0.125]], dtype=dtype, device=device)
    for x in (values, values.T, finite):
        expected = getattr(x.clone(), name)(**options)
        written = x.clone()
        assert getattr(written, f"{name}_")(**options) is written
        assert norch.equal(written.nan_to_num(5.0, 6.0, 7.0), expected.nan_to_num(5.0, 6.0, 7.0))

    def gradient(form):
        leaf = finite.clone().requires_grad_()
        x = leaf * 1.0
        column = x[:, 0]
        result = getattr(column, form)(**options)
        ((result if form == name else x[:, 0]) * norch.tensor([1.0, 2.0], dtype=dtype, device=device)).sum().backward()
        return leaf.grad

    assert norch.equal(gradient(f"{name}_"), gradient(name))
    compiled = norch.compile(lambda x: getattr(x * 1.0, f"{name}_")(**options))
    expected = getattr(finite * 1.0, name)(**options)
    for _ in range(5):
        assert norch.equal(compiled(finite), expected)


def test_powers_of_two_have_no_error():
    exponents = norch.arange(-20, 20)
    expected = [2.0**n for n in range(-20, 20)]
    assert norch.pow(2, exponents.float()).tolist() == expected
    assert (2 ** exponents.double()).tolist() == expected
    assert norch.ones(40).ldexp(exponents).tolist() == expected
    x = norch.tensor([1.0, 3.0], requires_grad=True)
    norch.pow(2, x).sum().backward()
    assert_close(x.grad, [2 * math.log(2), 8 * math.log(2)])
