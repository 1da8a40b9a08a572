"""The formulas of float64 (csrc/ops/double_math.h, double_angles.h): at most 2 ULP from the truth, which Decimal and
Fraction tell, and those of C at the extremes. test_formulas.py has exp, log, sin and their like."""

import math
import random
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

import norch

PI = Decimal("3.1415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253421170680")
EXTREMES = [0.0, -0.0, 1.0, -1.0, 2.0, 5e-324, 1e-310, 1e300, -1e300, math.inf, -math.inf, math.nan]


def series(first, following, digits=Decimal(10) ** -70):
    """first, and the terms that following(term, k) makes of those before, while they count."""
    total, term, k = Decimal(0), first, 1
    while abs(term) > digits * abs(first):
        total, term, k = total + term, following(term, k), k + 1
    return total


def erf(x):
    # DLMF 7.6.2: all terms have one sign
    return 2 / PI.sqrt() * (-x * x).exp() * series(x, lambda term, k: term * 2 * x * x / (2 * k + 1)) if x else x


def erfc(x):
    if abs(x) < 6:
        return 1 - erf(x)
    fraction = x  # DLMF 7.9.1
    for k in range(400, 0, -1):
        fraction = x + Decimal(k) / 2 / fraction
    return (-x * x).exp() / PI.sqrt() / fraction


def atan(x):
    if abs(x) > 1:
        return (PI / 2).copy_sign(x) - atan(1 / x)
    if abs(x) > Decimal("0.1"):
        return 2 * atan(x / (1 + (1 + x * x).sqrt()))
    odd = [(-1) ** k * x ** (2 * k + 1) / (2 * k + 1) for k in range(50)]
    return sum(odd, Decimal(0))


def asin(x):
    return atan(x / (1 - x * x).sqrt())


def sine(x):
    r = x - 2 * PI * (x / (2 * PI)).to_integral_value()
    return series(r, lambda term, k: -term * r * r / (2 * k * (2 * k + 1))) if r else r


TRUTH = {
    "tanh": lambda x: ((2 * x).exp() - 1) / ((2 * x).exp() + 1),
    "asinh": lambda x: ((abs(x) + (x * x + 1).sqrt()).ln()).copy_sign(x),
    "acosh": lambda x: (x + (x * x - 1).sqrt()).ln(),
    "atanh": lambda x: ((1 + x) / (1 - x)).ln() / 2,
    "log2": lambda x: x.ln() / Decimal(2).ln(),
    "log10": lambda x: x.log10(),
    "erf": erf,
    "erfc": erfc,
    "tan": lambda x: sine(x) / sine(x + PI / 2),
    "asin": asin,
    "acos": lambda x: PI / 2 - asin(x),
    "atan": atan,
}


def inputs_of(name):
    chance = random.Random(name)
    inputs = [chance.uniform(-1, 1) * 10.0 ** -chance.choice([0, 0, 0, 1, 2, 5, 12]) for _ in range(400)]
    if name in ("asin", "acos", "atanh"):
        return inputs + [0.5, 0.4999, 0.999999, -0.75]
    inputs += [chance.uniform(-6, 6) for _ in range(400)] + [0.7499, 0.75, 0.7501]
    if name in ("log2", "log10"):
        return [abs(x) for x in inputs] + [2.0**k * chance.uniform(1, 2) for k in range(-1070, 1023, 17)] + [1e-310]
    if name == "acosh":
        return [1 + abs(x) for x in inputs] + [1e4, 268435460.0, 3e8, 1e150]
    if name == "erfc":
        return inputs + [chance.uniform(6, 26) for _ in range(100)]
    return inputs + ([] if name in ("tanh", "erf") else [chance.uniform(-900, 900) for _ in range(200)] + [1e6, -4e8])


def assert_close(actual, truth, given):
    assert abs(Decimal(actual) - truth) <= 2 * Decimal(math.ulp(float(truth))), (given, actual, truth)


def doubles(values, device="cpu"):
    return norch.tensor(values, dtype=norch.float64, device=device)


@pytest.mark.parametrize("name", TRUTH)
def test_functions_of_one_double(name, device):
    inputs = inputs_of(name)
    results = getattr(doubles(inputs, device), name)().tolist()
    with localcontext() as context:
        context.prec = 90
        for x, result in zip(inputs, results):
            assert_close(result, TRUTH[name](Decimal(x)), x)


def of_c(function, *arguments):
    try:
        return function(*arguments)
    except ValueError:
        return math.nan
    except OverflowError:
        return math.inf


def same(x, y):
    return math.isnan(x) and math.isnan(y) or (x == y and math.copysign(1, x) == math.copysign(1, y))


@pytest.mark.parametrize("name", sorted(set(TRUTH) - {"log2", "log10", "atanh"}))
def test_extreme_doubles(name, device):
    inputs = [x for x in EXTREMES if abs(x) not in (1, 2) and (name != "tan" or abs(x) != 1e300)]
    for x, result in zip(inputs, getattr(doubles(inputs, device), name)().tolist()):
        expected = of_c(getattr(math, name), x)
        assert same(result, expected) or result == pytest.approx(expected, rel=4e-16), (x, result)


def test_poles_of_logarithms(device):
    inputs = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan]
    for name in ("log2", "log10"):
        expected = [-math.inf, -math.inf, 0.0, math.nan, math.inf, math.nan, math.nan]
        assert [repr(x) for x in getattr(doubles(inputs, device), name)().tolist()] == [repr(x) for x in expected]
    expected = [0.0, -0.0, math.inf, -math.inf, math.nan, math.nan, math.nan]
    assert [repr(abs(x) if x != x else x) for x in doubles(inputs, device).atanh().tolist()] == [
        repr(x) for x in expected
    ]


def power(x, y):
    if x == 0 and y < 0:
        return math.copysign(math.inf, x) if y % 2 == 1 else math.inf
    value = of_c(math.pow, x, y)
    return -value if value == math.inf and x < 0 and math.isfinite(x) and y % 2 == 1 else value


def test_pow_of_doubles(device):
    chance = random.Random(4)
    pairs = [(chance.uniform(0, 3), chance.uniform(-4, 4)) for _ in range(300)]
    pairs += [(2.0 ** chance.uniform(-900, 900), chance.uniform(-1, 1)) for _ in range(300)]
    pairs += [(1 + chance.uniform(-1, 1) * 1e-6, chance.uniform(-7e8, 7e8)) for _ in range(300)]
    x, y = (doubles([pair[k] for pair in pairs], device) for k in (0, 1))
    with localcontext() as context:
        context.prec = 60
        for (a, b), result in zip(pairs, x.pow(y).tolist()):
            assert_close(result, (Decimal(a).ln() * Decimal(b)).exp(), (a, b))
    special = [*EXTREMES, -2.0, 3.0, -3.0, 0.5, 9007199254740991.0, 9007199254740992.0]
    pairs = [(a, b) for a in special for b in special]
    x, y = (doubles([pair[k] for pair in pairs], device) for k in (0, 1))
    for (a, b), result in zip(pairs, x.pow(y).tolist()):
        expected = power(a, b)
        assert same(result, expected) or result == pytest.approx(expected, rel=4e-16), (a, b, result)


@pytest.mark.parametrize("name", ["atan2", "hypot"])
def test_functions_of_two_doubles(name, device):
    chance = random.Random(name)
    pairs = [(chance.uniform(-3, 3) * s, chance.uniform(-3, 3)) for s in (1, 1e-5, 1e8) for _ in range(100)]
    pairs += [(1e300, 1e300), (3e-310, 4e-310)] if name == "hypot" else []
    x, y = (doubles([pair[k] for pair in pairs], device) for k in (0, 1))
    with localcontext() as context:
        context.prec = 60
        for (a, b), result in zip(pairs, getattr(x, name)(y).tolist()):
            p, q = Decimal(a), Decimal(b)
            turn = Decimal(0) if b > 0 else PI.copy_sign(p)
            assert_close(result, (p * p + q * q).sqrt() if name == "hypot" else atan(p / q) + turn, (a, b))
    pairs = [(a, b) for a in EXTREMES for b in EXTREMES]
    x, y = (doubles([pair[k] for pair in pairs], device) for k in (0, 1))
    for (a, b), result in zip(pairs, getattr(x, name)(y).tolist()):
        expected = getattr(math, name)(a, b)
        assert same(result, expected) or result == pytest.approx(expected, rel=4e-16), (a, b, result)


def test_remainders_of_doubles_are_exact(device):
    chance = random.Random(7)
    pairs = [(chance.uniform(-1, 1) * 10.0**k, chance.uniform(-1, 1)) for k in (0, 2, 5, 9, 17) for _ in range(100)]
    pairs += [(n * 0.7, 0.7) for n in range(-20, 20)] + [(n / 8, d / 8) for n in range(-9, 9) for d in (-3, 1, 4)]
    pairs += [(a, b) for a in EXTREMES for b in EXTREMES]
    x, y = (doubles([pair[k] for pair in pairs], device) for k in (0, 1))
    for (a, b), rest, floored in zip(pairs, x.fmod(y).tolist(), x.remainder(y).tolist()):
        expected = math.fmod(a, b) if math.isfinite(a) and b and b == b else math.nan
        assert same(rest, expected), (a, b, rest)
        if math.isfinite(a) and math.isfinite(b) and b:
            exact = Fraction(a) % Fraction(b)
            assert floored == float(exact), (a, b, floored)
    for (a, b), whole in zip(pairs, x.floor_divide(y).tolist()):
        if math.isfinite(a) and math.isfinite(b) and b and abs(a / b) < 2**50:
            assert whole == Fraction(a) // Fraction(b), (a, b, whole)


def test_the_normal_distribution_of_doubles(device):
    chance = random.Random(3)
    inputs = [chance.uniform(-37, 8) for _ in range(150)] + [chance.uniform(-2, 2) for _ in range(150)]
    x = doubles(inputs, device)
    with localcontext() as context:
        context.prec = 60
        for value, below, gelu in zip(inputs, norch.special.ndtr(x).tolist(), norch.nn.functional.gelu(x).tolist()):
            true = erfc(-Decimal(value) / Decimal(2).sqrt()) / 2
            assert abs(Decimal(below) - true) <= Decimal("2.5") * Decimal(math.ulp(float(true))), (value, below)
            product = Decimal(value) * true
            assert abs(Decimal(gelu) - product) <= 3 * Decimal(math.ulp(float(product))), (value, gelu)


def test_erfinv_of_doubles(device):
    inputs = [k / 200 for k in range(-199, 200)] + [1 - 2.0**-k for k in range(2, 54)] + [1e-300]
    with localcontext() as context:
        context.prec = 60
        for x, y in zip(inputs, doubles(inputs, device).erfinv().tolist()):
            exact, root = Decimal(y), PI.sqrt() / 2
            for _ in range(3):
                off = erfc(exact) - (1 - Decimal(x)) if abs(x) > 0.5 else Decimal(x) - erf(exact)
                exact += off * root * (exact * exact).exp()
            assert_close(y, exact, x)
    ends = [1.0, -1.0, 1.5, math.nan, 0.0, -0.0]
    assert [repr(abs(y) if y != y else y) for y in doubles(ends, device).erfinv().tolist()] == [
        repr(y) for y in (math.inf, -math.inf, math.nan, math.nan, 0.0, -0.0)
    ]


def test_neighbours_of_doubles(device):
    pairs = [(a, b) for a in EXTREMES for b in EXTREMES] + [(0.1, 1.0), (-3.0, 7.0)]
    x, y = (doubles([pair[k] for pair in pairs], device) for k in (0, 1))
    for (a, b), result in zip(pairs, x.nextafter(y).tolist()):
        assert same(result, math.nextafter(a, b)), (a, b, result)
