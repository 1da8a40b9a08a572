"""The formulas of float32 (csrc/ops/vector_math.h, wide_math.h and wide_special.h): at most 2 ULP from the truth, and
right at the extremes. tools/ulps.cpp walks all floats."""

import math
import struct
from decimal import Decimal, Overflow, localcontext
from fractions import Fraction

import pytest

import norch

LARGEST = 3.4028234663852886e38


def float32(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def ulps(actual, expected):
    """How many units in the last place of a float32 lie between actual and the true value."""
    if math.isnan(expected) or math.isinf(expected) or abs(expected) > LARGEST * (1 + 2.0**-25):
        wanted = math.copysign(math.inf, expected) if not math.isnan(expected) else expected
        return 0.0 if actual == wanted or (actual != actual and wanted != wanted) else math.inf
    if not math.isfinite(actual):
        return math.inf
    unit = 2.0 ** (max(math.frexp(expected)[1], -125) - 24) if expected else 2.0**-149
    return abs(actual - expected) / unit


def sigmoid(x):
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(max(x, -745.0)) / (1 + math.exp(max(x, -745.0)))


def exp(x):
    return math.exp(x) if x < 709 else math.inf


def log(x):
    return math.log(x) if x > 0 else -math.inf if x == 0 else math.nan


def expm1(x):
    return math.expm1(x) if x < 709 else math.inf


def log1p(x):
    return math.log1p(x) if x > -1 else -math.inf if x == -1 else math.nan


# Every exponent and sign, with mantissas that step through all of their range.
ALL_MAGNITUDES = [float32(bits) for bits in range(0, 1 << 32, 200_003)]
DENORMALS = [float32(bits) for bits in range(1, 1 << 23, 9_001)]
NEAR = [-110 + 220 * i / 20_000 for i in range(20_001)]
# Where tools/ulps.cpp found the largest errors among all floats: of sin and cos, once 2.4 ULP, and of some others.
WORST = [963887.688, 892081.875, 276519.781, 296329.125, 0.517457247, 0.756516576, 3.7625742, -1.09993458, 0.38809222]
WORST += [-113986.406, -231244.781, 0.567302167, 8.30852509, 0.00100385712]
INPUTS = [x for x in ALL_MAGNITUDES + DENORMALS + NEAR + WORST if not math.isnan(x)] + [math.inf, -math.inf, 0.0, -0.0]


FUNCTIONS = {"exp": exp, "log": log, "tanh": math.tanh, "sigmoid": sigmoid, "sin": math.sin, "cos": math.cos}
FUNCTIONS |= {"expm1": expm1, "log1p": log1p, "erf": math.erf, "erfc": math.erfc, "tan": math.tan}
FUNCTIONS |= {"asin": math.asin, "acos": math.acos, "atan": math.atan, "sinh": math.sinh, "cosh": math.cosh}
FUNCTIONS |= {"asinh": math.asinh, "acosh": math.acosh, "atanh": math.atanh, "lgamma": math.lgamma}
FUNCTIONS |= {"exp2": lambda x: 2.0**x, "log2": math.log2, "log10": math.log10}


def true_value(name, x):
    try:
        return FUNCTIONS[name](x)
    except OverflowError:
        return math.copysign(math.inf, x) if name == "sinh" else math.inf
    except ValueError:  # a pole, or out of the domain
        if name == "atanh" and abs(x) == 1:
            return math.copysign(math.inf, x)
        return math.inf if name == "lgamma" else -math.inf if x == 0 and name.startswith("log") else math.nan


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_one_argument(name):
    def reference(x):
        return true_value(name, x)

    x = norch.tensor(INPUTS)
    worst = max((ulps(y, reference(v)), v, y) for v, y in zip(x.tolist(), getattr(x, name)().tolist()))
    assert worst[0] <= 2, worst


def test_the_normal_distribution():
    x = norch.tensor([*NEAR, *(-5 + i / 4_000 for i in range(40_000)), -1.0187391])
    pairs = zip(x.tolist(), norch.special.ndtr(x).tolist())
    assert max(ulps(y, 0.5 * math.erfc(-v * math.sqrt(0.5))) for v, y in pairs) <= 2


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nan_stays(name):
    assert all(math.isnan(y) for y in getattr(norch.tensor([math.nan] * 40), name)().tolist())


def test_the_sign_of_zero():
    for name in "sin tanh expm1 log1p erf tan asin atan sinh asinh atanh".split():
        assert [math.copysign(1, y) for y in getattr(norch.tensor([0.0, -0.0] * 20), name)().tolist()] == [1, -1] * 20


def test_huge_arguments_of_sin_and_cos_among_small_ones():
    values = [0.5, 1e6, 1000001.0, -3e9, 1e20, LARGEST, -1.0] * 300
    x = norch.tensor(values)
    for name in ("sin", "cos", "tan"):
        for v, y in zip(x.tolist(), getattr(x, name)().tolist()):
            assert ulps(y, getattr(math, name)(v)) <= 2


@pytest.mark.parametrize("name, shift", [("sin", 0.5), ("cos", 0.0)])
def test_sin_and_cos_never_exceed_1(name, shift):
    x = norch.tensor([(k // 50 + shift) * math.pi * (1 + (k % 50 - 25) * 2.0**-22) for k in range(20_000)])
    result = getattr(x, name)()
    assert result.abs().max().item() == 1
    assert max(ulps(y, getattr(math, name)(v)) for v, y in zip(x.tolist(), result.tolist())) <= 2


@pytest.mark.parametrize("name", ["exp", "log", "sin", "cos", "tan", "sigmoid"])
def test_extreme_neighbours_do_not_change_a_result(name):
    ordinary = [v for v in NEAR if 1e-3 < abs(v) <= 87 and (v > 0 or name != "log")]
    for length in (5, 17, len(ordinary)):
        alone, beside = norch.tensor(ordinary[:length]), norch.tensor(ordinary[:length] + [math.nan, -math.inf])
        assert getattr(alone, name)().tolist() == getattr(beside, name)().tolist()[:length]


def power(x, y):
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0 and y % 2 == 1 else math.inf
    except ValueError:  # C gives an infinity where the base is 0, NaN where it is negative
        if x == 0:
            return math.copysign(math.inf, x) if y % 2 == 1 else math.inf
        return math.nan


def test_pow():
    special = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 0.5, -0.5, 2.5, 1e-40, -1e-40, 3e38, -3e38]
    special += [16777215.0, -16777215.0, 16777216.0, 33554434.0, math.inf, -math.inf, math.nan]
    pairs = [(a, b) for a in special for b in special]
    pairs += [(math.exp(-87 + i % 174), math.sin(i) * 12) for i in range(5000)]
    pairs += [(math.sin(i) * 9, float(i % 31 - 15)) for i in range(5000)]
    x, y = norch.tensor([a for a, _ in pairs]), norch.tensor([b for _, b in pairs])
    for a, b, z in zip(x.tolist(), y.tolist(), (x**y).tolist()):
        true = power(a, b)
        assert ulps(z, true) <= 2, (a, b, z, true)
        if true == 0 or math.isinf(true):
            assert math.copysign(1, z) == math.copysign(1, true), (a, b, z)


SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.1, -7.3, 5.0, 1e-40, -1e-40, 3e38, -3e38, math.inf, -math.inf, math.nan]
PAIRS = [(a, b) for a in SPECIAL for b in SPECIAL]
PAIRS += [(math.exp(-80 + i % 160) * (-1) ** i, math.sin(i) * 12) for i in range(3000)]
PAIRS += [(math.sin(i) * 900, math.sin(i * i) * 3) for i in range(3000)]


def pairs_of_floats():
    x, y = norch.tensor([a for a, _ in PAIRS]), norch.tensor([b for _, b in PAIRS])
    return x, y, list(zip(x.tolist(), y.tolist()))


def fmod(x, y):
    return math.nan if x != x or y != y or math.isinf(x) or y == 0 else math.fmod(x, y)


def remainder(x, y):
    rest = fmod(x, y)
    if rest == rest and rest and (rest < 0) != (y < 0):
        return y if math.isinf(y) else float(Fraction(rest) + Fraction(y))
    return rest


@pytest.mark.parametrize("name, true", [("fmod", fmod), ("remainder", remainder)])
def test_remainders_are_exact(name, true):
    x, y, pairs = pairs_of_floats()
    for (a, b), z in zip(pairs, getattr(x, name)(y).tolist()):
        expected = norch.tensor(true(a, b)).item()
        assert z == expected or (z != z and expected != expected), (a, b, z, expected)
        assert math.copysign(1, z) == math.copysign(1, expected) or z != z, (a, b, z)


def test_one_extreme_quotient_does_not_change_its_neighbours():
    x = norch.tensor([math.sin(i) * 900 for i in range(200)])
    y = norch.tensor([math.cos(i * i) * 3 for i in range(200)])
    for name in ("fmod", "remainder", "floor_divide"):
        alone = getattr(x, name)(y).tolist()
        beside = getattr(norch.cat([x, norch.tensor([1e30])]), name)(norch.cat([y, norch.tensor([1e-3])])).tolist()
        assert beside[:200] == alone


@pytest.mark.parametrize("name", ["atan2", "hypot"])
def test_functions_of_two_arguments(name):
    x, y, pairs = pairs_of_floats()
    for (a, b), z in zip(pairs, getattr(x, name)(y).tolist()):
        true = getattr(math, name)(a, b)
        assert ulps(z, true) <= 1, (a, b, z, true)
        assert true or math.copysign(1, z) == math.copysign(1, true), (a, b, z)


def test_nextafter_and_frexp():
    x, y, pairs = pairs_of_floats()
    for (a, b), z in zip(pairs, x.nextafter(y).tolist()):
        if a != a or b != b or a == b:
            assert z != z if a != a or b != b else z == b
        else:
            assert (z > a) == (b > a) and z not in (a,) and norch.tensor(z).nextafter(norch.tensor(a)).item() == a
    mantissas, exponents = norch.frexp(x)
    for (a, _), mantissa, exponent in zip(pairs, mantissas.tolist(), exponents.tolist()):
        if math.isfinite(a):
            assert (mantissa, exponent) == math.frexp(a)


def test_powers_that_are_numbers():
    x = norch.tensor([0.5, 2.0, 3.0, 1e-3, 7.7])
    for power in (2, 3, -1, 0.5, 2.0, 3.0):
        assert (x**power).tolist() == pytest.approx([v**power for v in x.tolist()], rel=2e-7)
    y = x.clone()
    y **= 3
    assert y.tolist() == pytest.approx([v**3 for v in x.tolist()], rel=2e-7)


@pytest.mark.parametrize("name", ["exp", "log"])
def test_exp_and_log_of_doubles(name, device):
    inputs = (
        [x / 7.0 for x in range(-5300, 5000, 9)]
        + [1 + k * 2.0**-40 for k in range(-50, 50)]
        + [5e-324, 1e-310, 1.7e308]
    )
    if name == "log":
        inputs = [abs(x) for x in inputs if x] + [2.0**k for k in range(-1074, 1024, 37)]
    results = getattr(norch.tensor(inputs, dtype=norch.float64, device=device), name)().tolist()
    with localcontext() as context:
        context.prec, context.traps[Overflow] = 40, False
        for x, result in zip(inputs, results):
            truth = Decimal(x).exp() if name == "exp" else Decimal(x).ln()
            if truth > Decimal(1.7976931348623157e308):
                assert result == math.inf, x
                continue
            unit = Decimal(math.ulp(float(truth)))
            assert abs(Decimal(result) - truth) <= 2 * unit, (x, result)
    extremes = norch.tensor([math.inf, -math.inf, 0.0, -0.0, math.nan], dtype=norch.float64, device=device)
    expected = (
        [math.inf, 0.0, 1.0, 1.0, math.nan] if name == "exp" else [math.inf, math.nan, -math.inf, -math.inf, math.nan]
    )
    assert [repr(x) for x in getattr(extremes, name)().tolist()] == [repr(x) for x in expected]


PI = Decimal("3.1415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253421170680")


def _sine(x):
    """The sine of a Decimal, by its series around the nearest multiple of 2 pi."""
    r = x - 2 * PI * (x / (2 * PI)).to_integral_value()
    total, term, k = Decimal(0), r, 1
    while abs(term) > Decimal(10) ** -60:
        total, term, k = total + term, -term * r * r / ((k + 1) * (k + 2)), k + 2
    return total


OF_DOUBLES = {
    "exp2": lambda x: (x * Decimal(2).ln()).exp(),
    "expm1": lambda x: x.exp() - 1,
    "log1p": lambda x: (1 + x).ln(),
    "sinh": lambda x: (x.exp() - (-x).exp()) / 2,
    "cosh": lambda x: (x.exp() + (-x).exp()) / 2,
    "sin": _sine,
    "cos": lambda x: _sine(x + PI / 2),
}


@pytest.mark.parametrize("name", OF_DOUBLES)
def test_functions_of_doubles(name, device):
    inputs = [x / 64.0 + 1e-3 for x in range(-2000, 2000, 7)] + [s * 10.0**-k for k in range(20) for s in (0.7, -0.3)]
    inputs += [-700.25, 300.5, 700.5] if name in ("exp2", "expm1", "sinh", "cosh") else [40000.0, 1e15]
    inputs = [x for x in inputs if x > -1] if name == "log1p" else inputs
    results = getattr(norch.tensor(inputs, dtype=norch.float64, device=device), name)().tolist()
    with localcontext() as context:
        context.prec = 90
        for x, result in zip(inputs, results):
            truth = OF_DOUBLES[name](Decimal(x))
            assert abs(Decimal(result) - truth) <= 2 * Decimal(math.ulp(float(truth))), (x, result)
    extremes = [math.inf, -math.inf, 0.0, -0.0, math.nan, 5e-324]
    found = getattr(norch.tensor(extremes, dtype=norch.float64, device=device), name)().tolist()
    assert [repr(v) for v in found] == [repr(_plain(name, x)) for x in extremes]


def _plain(name, x):
    """Python's own function, NaN where it raises."""
    if name == "exp2":
        return 2.0**x
    if name == "log1p" and x == -math.inf:
        return math.nan
    try:
        return getattr(math, name)(x)
    except ValueError:
        return math.nan


@pytest.mark.parametrize("name", ["bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "spherical_bessel_j0"])
def test_bessel_functions_of_floats(name):
    """At most 2 ULP from those of doubles, and next to a zero within the absolute error that these have."""
    function = getattr(norch.special, name)
    multiples = norch.arange(1, 1100) * 0.7853982
    x = norch.cat([norch.linspace(1e-3, 40.0, 20001), norch.logspace(-30, 3.2, 3000), multiples])
    x = x if "y" in name.partition("_")[2] else norch.cat([x, -x])
    values, true = function(x).tolist(), function(x.double()).tolist()
    for v, y, z in zip(x.tolist(), values, true):
        assert ulps(y, z) <= 2 + 1e-15 / abs(v or 1) ** 0.5 / 2.0 ** (math.frexp(z)[1] - 24), (v, y, z)


def test_ordinary_bessel_functions_beside_others():
    x = norch.linspace(0.1, 900.0, 200)
    for name in ("bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "spherical_bessel_j0"):
        function = getattr(norch.special, name)
        assert function(norch.cat([x, norch.tensor([math.nan])]))[:200].tolist() == function(x).tolist()
