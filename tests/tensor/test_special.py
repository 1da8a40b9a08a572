"""norch.special, and the special functions that are methods: true values (by mpmath), gradients."""

from __future__ import annotations

import math

import pytest
from compare import assert_close

import norch
from norch import special
from norch.autograd import gradcheck, gradgradcheck

inf, nan = math.inf, math.nan

# name: rows of (operands..., value)
TRUE_VALUES = {
    "erfcx": [
        (-5.0, 144009798674.66104),
        (-0.5, 1.952360489182557),
        (0.0, 1.0),
        (3.0, 0.17900115118138996),
        (9.5, 0.05906467835256389),
        (11.0, 0.051080594758088446),
        (100000000.0, 5.641895835477562e-09),
    ],
    "ndtr": [(-6.0, 9.86587645037698e-10), (-1.0, 0.15865525393145705), (0.0, 0.5), (2.0, 0.9772498680518208)],
    "log_ndtr": [
        (-100.0, -5005.524208694205),
        (-2.0, -3.783184333682032),
        (-0.5, -1.1759117615936185),
        (1.0, -0.17275377902344988),
        (5.0, -2.866516129637636e-07),
    ],
    "ndtri": [
        (1e-20, -9.262340089798407),
        (0.125, -1.150349380376008),
        (0.375, -0.31863936396437514),
        (0.75, 0.6744897501960817),
        (0.96875, 1.8627318674216515),
    ],
    "erfinv": [
        (1e-10, 8.862269254527581e-11),
        (0.25, 0.2253120550121781),
        (-0.75, -0.8134198475976185),
        (0.999, 2.3267537655135246),
    ],
    "lgamma": [
        (-2.5, -0.056243716497674054),
        (1e-10, 23.025850929882736),
        (0.25, 1.2880225246980774),
        (10.5, 13.940625219403763),
        (100000.0, 1051287.7089736569),
    ],
    "digamma": [
        (-2.25, 4.158583564657972),
        (0.125, -8.388492663295855),
        (1.0, -0.5772156649015329),
        (10.5, 2.3030010342976865),
        (100000.0, 11.512920464961896),
    ],
    "i0": [
        (-2.5, 3.289839144050123),
        (0.5, 1.0634833707413236),
        (15.0, 339649.3732979139),
        (19.5, 26760525.339838766),
        (25.0, 5774560606.4663105),
        (700.0, 1.5295933476718737e302),
    ],
    "i0e": [
        (-2.5, 0.27004644161220276),
        (0.5, 0.6450352704491501),
        (19.5, 0.09093943209515648),
        (25.0, 0.0801967735474367),
        (100000.0, 0.0012615678379767768),
    ],
    "i1": [
        (-2.5, -2.5167162452886984),
        (0.5, 0.2578943053908963),
        (19.5, 26065069.264457166),
        (25.0, 5657865129.878701),
    ],
    "i1e": [
        (-2.5, -0.20658464953126657),
        (0.5, 0.1564208031848717),
        (19.5, 0.08857608609431485),
        (25.0, 0.07857611331929278),
        (100000.0, 0.0012615615301218171),
    ],
    "bessel_j0": [(-5.0, -0.1775967713143383), (0.5, 0.9384698072408129), (20.0, 0.16702466434058316)],
    "bessel_j1": [(-5.0, 0.32757913759146523), (0.5, 0.2422684576748739), (20.0, 0.06683312417585005)],
    "bessel_y0": [(0.5, -0.44451873350670656), (5.0, -0.30851762524903376), (20.0, 0.06264059680938383)],
    "bessel_y1": [(0.5, -1.471472392670243), (5.0, 0.14786314339122683), (20.0, -0.1655116143625213)],
    "modified_bessel_k0": [
        (1e-10, 23.14178244559887),
        (0.5, 0.9244190712276659),
        (1.5, 0.21380556264752573),
        (30.0, 2.1324774964630563e-14),
        (600.0, 1.3558285309948523e-262),
    ],
    "modified_bessel_k1": [
        (1e-10, 10000000000.0),
        (0.5, 1.656441120003301),
        (1.5, 0.2773878004568438),
        (30.0, 2.1677320018915495e-14),
        (600.0, 1.356957918112806e-262),
    ],
    "scaled_modified_bessel_k0": [
        (0.5, 1.5241093857739094),
        (1.5, 0.9582100532948965),
        (10000.0, 0.012532984717699286),
    ],
    "scaled_modified_bessel_k1": [(0.5, 2.731009708211786), (1.5, 1.243165873552553), (10000.0, 0.012533611351270506)],
    "spherical_bessel_j0": [(-2.0, 0.45464871341284085), (0.25, 0.9896158370180917), (10.0, -0.05440211108893698)],
    "airy_ai": [
        (-30.0, -0.08796818845684216),
        (-9.5, 0.3191032477191282),
        (-8.5, -0.33029023763020887),
        (-4.0, -0.07026553294928951),
        (-0.5, 0.4757280916105396),
        (1.0, 0.13529241631288141),
        (1.75, 0.05056988080579487),
        (2.5, 0.01572592338047049),
        (30.0, 3.2082175915504954e-49),
    ],
    "zeta": [
        (2.0, 1.0, 1.6449340668482264),
        (3.5, 0.25, 128.54695896428436),
        (20.0, 7.0, 1.3493973313343205e-17),
        (4.0, -1.5, 32.432379369864606),
    ],
    "igamma": [
        (0.5, 0.25, 0.5204998778130465),
        (3.0, 10.0, 0.9972306042844884),
        (200.0, 180.0, 0.07485803498415958),
        (200.0, 220.0, 0.9181943116110617),
        (10000.0, 10100.0, 0.8413487504471796),
        (1e9, 1e9, 0.50000420522087006),
        (1e12, 1e12 - 6e6, 9.8651676196455505e-10),
        (1e16, 1e16 + 3e8, 0.99865010185018728),
    ],
    "igammac": [
        (0.5, 0.25, 0.4795001221869535),
        (3.0, 10.0, 0.002769395715511576),
        (200.0, 180.0, 0.9251419650158405),
        (200.0, 220.0, 0.08180568838893833),
        (10000.0, 10100.0, 0.15865124955282037),
    ],
    "xlog1py": [(2.0, 1e-10, 1.9999999999000001e-10), (0.5, 3.0, 0.6931471805599453)],
    "chebyshev_polynomial_t": [(0.5, 3.0, -1.0), (-1.5, 6.0, 161.0), (0.25, 40.0, -0.7760410416371997)],
    "chebyshev_polynomial_u": [(0.5, 3.0, -1.0), (-1.5, 6.0, 377.0), (0.25, 40.0, -0.6131995437126534)],
    "chebyshev_polynomial_v": [(0.5, 3.0, -1.0), (0.25, 40.0, -1.2645655354108385)],
    "chebyshev_polynomial_w": [(0.5, 3.0, -1.0), (0.25, 40.0, 0.038166447985531704)],
    "shifted_chebyshev_polynomial_t": [(0.125, 5.0, 0.890625)],
    "shifted_chebyshev_polynomial_u": [(0.125, 5.0, 1.40625)],
    "hermite_polynomial_h": [(0.5, 5.0, 41.0), (-1.5, 8.0, 5217.0)],
    "hermite_polynomial_he": [(0.5, 5.0, 6.28125), (-1.5, 8.0, -70.18359375)],
    "laguerre_polynomial_l": [(0.5, 5.0, -0.44557291666666665), (3.0, 8.0, -1.1087053571428571)],
    "legendre_polynomial_p": [(0.5, 5.0, 0.08984375), (-0.75, 8.0, 0.1976093053817749)],
}

AT_THE_EDGES = {
    "erfcx": [(inf, 0.0), (-inf, inf), (-30.0, inf), (nan, nan)],
    "log_ndtr": [(inf, 0.0), (-inf, -inf), (nan, nan)],
    "ndtri": [(0.0, -inf), (1.0, inf), (0.5, 0.0), (-0.5, nan), (2.0, nan), (nan, nan)],
    "i0e": [(0.0, 1.0), (inf, 0.0), (nan, nan)],
    "i1": [(0.0, 0.0), (inf, inf), (-inf, -inf), (nan, nan)],
    "i1e": [(0.0, 0.0), (inf, 0.0), (nan, nan)],
    "bessel_y0": [(0.0, -inf), (-1.0, nan), (inf, 0.0)],
    "bessel_y1": [(0.0, -inf), (-1.0, nan), (inf, 0.0)],
    "modified_bessel_k0": [(0.0, inf), (-1.0, nan), (inf, 0.0), (nan, nan)],
    "modified_bessel_k1": [(0.0, inf), (-1.0, nan), (inf, 0.0), (nan, nan)],
    "spherical_bessel_j0": [(0.0, 1.0), (inf, 0.0), (nan, nan)],
    "airy_ai": [(inf, 0.0), (-inf, 0.0), (nan, nan)],
    "entr": [(0.0, 0.0), (-1.0, -inf), (1.0, 0.0), (0.5, 0.34657359027997264), (nan, nan)],
    "zeta": [(1.0, 2.0, inf), (0.5, 2.0, nan), (2.0, 0.0, inf), (2.0, -3.0, inf), (2.5, -1.5, nan), (nan, 1.0, nan)]
    + [(inf, 1.0, 1.0), (inf, 2.0, 0.0), (2.0, inf, 0.0)],
    "xlog1py": [(0.0, -1.0, 0.0), (0.0, nan, nan), (1.0, -1.0, -inf)],
    "legendre_polynomial_p": [(0.5, 0.0, 1.0), (0.5, -1.0, 0.0), (0.5, 2.9, -0.125), (nan, 2.0, nan)]
    + [(0.5, -inf, 0.0), (0.5, -0.5, 1.0), (nan, 0.0, 1.0)],
    **{  # the sign of a power, and NaN behind it, where infinities are subtracted
        name: [(-inf, 1.0, -sign), (-inf, 2.0, inf), (-inf, 3.0, nan), (inf, 1.0, sign), (inf, 2.0, inf)]
        for name, sign in (
            ("chebyshev_polynomial_t", inf),
            ("chebyshev_polynomial_u", inf),
            ("chebyshev_polynomial_v", inf),
            ("chebyshev_polynomial_w", inf),
            ("hermite_polynomial_h", inf),
            ("hermite_polynomial_he", inf),
            ("laguerre_polynomial_l", -inf),
        )
    },
}


def functions(name):
    """The function in norch.special, and in norch if it is there."""
    return [getattr(room, name) for room in (special, norch) if hasattr(room, name)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", TRUE_VALUES)
def test_values(name, dtype, device):
    for *operands, value in TRUE_VALUES[name]:
        tensors = [norch.tensor([x, x], dtype=getattr(norch, dtype), device=device) for x in operands]
        if dtype == "float32" and any(t[0].item() != x for t, x in zip(tensors, operands)):
            continue  # a number that only float64 has
        if dtype == "float32" and value > 3.5e38:
            value = inf
        for function in functions(name):
            assert_close(function(*tensors), [value] * 2, dtype, rtol=3e-7 if dtype == "float32" else 1e-13, atol=1e-38)


@pytest.mark.parametrize("name", AT_THE_EDGES)
def test_edges(name, device):
    for *operands, value in AT_THE_EDGES[name]:
        for function in functions(name):
            got = function(*[norch.tensor(x, device=device) for x in operands])
            assert_close(got, norch.tensor(value).tolist(), "float32")


def test_a_number_for_one_of_two_operands():
    n = norch.tensor([0, 1, 2])
    assert_close(special.chebyshev_polynomial_t(0.5, n), [1.0, 0.5, -0.5])
    assert_close(special.hermite_polynomial_h(norch.tensor([0.5]), 2), [-1.0])
    assert_close(special.shifted_chebyshev_polynomial_t(norch.tensor([0, 1], dtype=norch.uint8), 3), [-1.0, 1.0])
    assert_close(special.zeta(2, norch.tensor([1.0])), [math.pi**2 / 6])
    with pytest.raises(TypeError, match="two numbers"):
        special.zeta(2, 1)
    with pytest.raises(TypeError, match="Tensor"):
        special.erfcx(1.0)


@pytest.mark.parametrize("order", range(5))
def test_polygamma(order):
    """The derivative of one is the next."""
    x = norch.tensor([0.3, 1.0, 2.5, 20.0], dtype=norch.float64, requires_grad=True)
    y = norch.polygamma(order, x)
    y.sum().backward()
    assert_close(x.grad, norch.polygamma(order + 1, x.detach()).tolist(), "float64", rtol=1e-12)
    assert_close(y.detach(), x.detach().polygamma_(order).tolist(), "float64")
    with pytest.raises(RuntimeError, match="negative"):
        norch.polygamma(-1, x)


def test_trigamma_is_a_zeta_function(device):
    x = norch.cat([norch.linspace(-5.9375, 40.0, 736), norch.logspace(-6, 6, 25), -norch.logspace(-6, 1, 15)])
    x = x[x != x.round()].to(device)
    error = (x.polygamma(1).double() / special.zeta(2.0, x.double()) - 1).abs().max()
    assert error < 1e-7


TRIGAMMA = {
    -1e9 - 0.25: 19.739208801178718,  # which no recurrence reaches
    -7.25: 19.610354539293269,
    -0.5: 8.934802200544679,
    0.001953125: 262145.64025088743,
    0.125: 65.388133444988028,
    2.5: 0.49035775610023485,
    8.0: 0.13313701469403141,
    100000.0: 1.0000050000166667e-5,
    inf: 0.0,
    0.0: inf,
    -3.0: inf,
    -inf: inf,
    nan: nan,
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_trigamma(dtype, device):
    """The first polygamma function, which is the derivative of digamma."""
    points = [x for x in TRIGAMMA if dtype == "float64" or x != -1e9 - 0.25]  # a float32 is whole there
    expected = [TRIGAMMA[x] for x in points]
    x = norch.tensor(points, dtype=getattr(norch, dtype), device=device, requires_grad=True)
    rtol = 1e-7 if dtype == "float32" else 1e-13
    assert_close(x.detach().polygamma(1), expected, dtype, rtol=rtol)
    x.digamma().sum().backward()
    assert_close(x.grad, expected, dtype, rtol=rtol)


def test_mvlgamma():
    x = norch.tensor([2.0, 5.5], dtype=norch.float64)
    expected = [0.5 * math.log(math.pi) + math.lgamma(v) + math.lgamma(v - 0.5) for v in x.tolist()]
    assert_close(norch.mvlgamma(x, 2), expected, "float64")
    assert_close(special.multigammaln(x, p=2), expected, "float64")
    with pytest.raises(RuntimeError, match="at least 1"):
        x.mvlgamma(0)


DIFFERENTIABLE = {
    "erfcx": [-1.5, 0.5, 3.0, 11.0],
    "ndtr": [-1.5, 0.5, 3.0],
    "log_ndtr": [-12.0, -1.5, 0.5, 3.0],
    "ndtri": [0.1, 0.4, 0.7],
    "erfinv": [-0.7, 0.1, 0.6],
    "i0e": [-1.5, 0.5, 3.0],
    "i1": [-1.5, 0.5, 3.0],
    "i1e": [-1.5, 0.5, 3.0],
    "entr": [0.3, 1.5],
    "sinc": [-1.3, 0.4],
    "logit": [0.2, 0.7],
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients(name):
    x = norch.tensor(DIFFERENTIABLE[name], dtype=norch.float64, requires_grad=True)
    assert gradcheck(getattr(special, name), (x,)) and gradgradcheck(getattr(special, name), (x,))


@pytest.mark.parametrize("name", ["zeta", "igamma", "igammac"])
def test_gradients_of_the_second_operand(name):
    function = functions(name)[0] if name == "zeta" else getattr(norch, name)
    a = norch.tensor([[1.5], [3.0]], dtype=norch.float64)
    x = norch.tensor([0.7, 2.0, 5.0], dtype=norch.float64, requires_grad=True)
    assert gradcheck(lambda t: function(a, t), (x,)) and gradgradcheck(lambda t: function(a, t), (x,))
    with pytest.raises(NotImplementedError, match="first operand"):
        function(a.requires_grad_(), x).sum().backward()


@pytest.mark.parametrize("name", ["igamma", "igammac"])
def test_incomplete_gamma_functions_of_float32_are_those_of_float64(name):
    """Rounded: a float32 has a way of its own for a up to 32 and x up to 128."""
    norch.manual_seed(5)
    a = (norch.rand(3, 1000) * norch.tensor([[4.0], [40.0], [1.0]])).clamp(min=1e-6)
    parts = [norch.rand(1000) * 8, a[1] * (norch.rand(1000) + 0.5), (norch.rand(1000) * 60 - 30).exp()]
    x = norch.stack(parts)
    expected, found = getattr(a.double(), name)(x.double()), getattr(a, name)(x)
    unit = 2.0 ** (norch.frexp(expected)[1].clamp(min=-125).double() - 24)
    assert ((found.double() - expected).abs() / unit).max().item() <= 0.51
    few = getattr(norch.cat([a[0], norch.tensor([1e-9])]), name)(norch.cat([x[0], norch.tensor([1e4])]))
    assert few[:1000].equal(found[0])  # one extreme does not change its neighbours


@pytest.mark.parametrize("name, low, high", [("erfcx", -9.2, 30.0), ("airy_ai", 0.0, 24.0)])
def test_values_of_float32_are_those_of_float64(name, low, high):
    """Rounded: a float32 has a way of its own."""
    norch.manual_seed(6)
    function, x = getattr(special, name), norch.rand(3000) * (high - low) + low
    expected, found = function(x.double()), function(x)
    unit = 2.0 ** (norch.frexp(expected)[1].clamp(min=-125).double() - 24)
    assert ((found.double() - expected).abs() / unit).max().item() <= 0.55
    assert function(norch.cat([x, norch.tensor([-9.5])]))[:3000].equal(found)  # one does not change its neighbours


def test_xlog1py_gradients():
    x = norch.tensor([[0.5], [-2.0]], dtype=norch.float64, requires_grad=True)
    y = norch.tensor([0.7, 2.0], dtype=norch.float64, requires_grad=True)
    assert gradcheck(special.xlog1py, (x, y)) and gradgradcheck(special.xlog1py, (x, y))
    zero = norch.zeros(2, requires_grad=True)
    special.xlog1py(zero, norch.tensor([-1.0, 1.0])).sum().backward()
    assert_close(zero.grad, [0.0, math.log(2)])


@pytest.mark.parametrize("name", ["i1", "i1e", "i0e"])
def test_gradients_at_zero(name):
    x = norch.zeros(1, requires_grad=True)
    getattr(special, name)(x).sum().backward()
    assert_close(x.grad, [0.0 if name == "i0e" else 0.5])


def test_other_names():
    x = norch.tensor([0.25, 0.5])
    pairs = [("gammaln", "lgamma"), ("psi", "digamma"), ("expit", "sigmoid"), ("modified_bessel_i0", "i0")]
    for name, other in pairs:
        assert getattr(special, name)(x).equal(getattr(norch, other)(x))
    assert special.gammainc(x, x).equal(norch.igamma(x, x))
    assert set(special.__all__) <= set(dir(special))
