"""nan, infinities, zeros of both signs, the far ends of the range, and how precise the formulas are between them."""

from __future__ import annotations

import math
import random

import pytest
from arrays import REAL, wrap
from operations import UNARY, by_name
from tensors import dtype_named

import norch

inf, nan = math.inf, math.nan

# name -> rows of (operands..., exact result)
SPECIAL = {
    "neg": [(0.0, -0.0), (inf, -inf)],
    "abs": [(-0.0, 0.0), (-inf, inf), (nan, nan)],
    "sign": [(-inf, -1.0), (0.0, 0.0), (-1e-300, -1.0)],
    "relu": [(nan, nan), (-inf, 0.0), (inf, inf)],
    "floor": [(-0.5, -1.0), (1e300, 1e300), (nan, nan)],
    "ceil": [(-0.5, -0.0), (inf, inf), (nan, nan)],
    "round": [(0.5, 0.0), (1.5, 2.0), (2.5, 2.0), (-0.5, -0.0), (-2.5, -2.0), (4503599627370498.0, 4503599627370498.0)],
    "exp": [(710.0, inf), (-800.0, 0.0), (-inf, 0.0), (inf, inf), (nan, nan), (0.0, 1.0)],
    "log": [(0.0, -inf), (-0.0, -inf), (-1.0, nan), (inf, inf), (1.0, 0.0), (5e-324, -744.4400719213812)],
    "sqrt": [(-0.0, -0.0), (-1.0, nan), (inf, inf), (4.0, 2.0)],
    "sin": [(-0.0, -0.0), (inf, nan), (nan, nan)],
    "cos": [(-0.0, 1.0), (-inf, nan), (nan, nan)],
    "tanh": [(300.0, 1.0), (-300.0, -1.0), (inf, 1.0), (-inf, -1.0), (-0.0, -0.0), (nan, nan)],
    "sigmoid": [(800.0, 1.0), (-800.0, 0.0), (-inf, 0.0), (inf, 1.0), (0.0, 0.5), (nan, nan)],
    "trunc": [(-0.5, -0.0), (1e300, 1e300), (-inf, -inf), (nan, nan)],
    "frac": [(-1.25, -0.25), (-0.0, 0.0), (1e300, 0.0), (inf, nan), (nan, nan)],
    "tan": [(-0.0, -0.0), (inf, nan), (nan, nan)],
    "asin": [(-0.0, -0.0), (1.0, math.pi / 2), (1.5, nan), (nan, nan)],
    "acos": [(1.0, 0.0), (-1.0, math.pi), (-1.5, nan), (nan, nan)],
    "atan": [(-0.0, -0.0), (inf, math.pi / 2), (-inf, -math.pi / 2), (nan, nan)],
    "sinh": [(-0.0, -0.0), (-800.0, -inf), (inf, inf), (nan, nan)],
    "cosh": [(0.0, 1.0), (-800.0, inf), (-inf, inf), (nan, nan)],
    "exp2": [(3.0, 8.0), (-2000.0, 0.0), (inf, inf), (-inf, 0.0), (nan, nan)],
    "expm1": [(-0.0, -0.0), (1e-30, 1e-30), (-inf, -1.0), (inf, inf), (nan, nan)],
    "log1p": [(-0.0, -0.0), (1e-30, 1e-30), (-1.0, -inf), (-2.0, nan), (inf, inf), (nan, nan)],
    "log2": [(8.0, 3.0), (0.0, -inf), (-1.0, nan), (inf, inf)],
    "log10": [(1000.0, 3.0), (0.0, -inf), (-1.0, nan), (inf, inf)],
    "rsqrt": [(4.0, 0.5), (0.0, inf), (-1.0, nan), (inf, 0.0)],
    "reciprocal": [(-0.0, -inf), (0.0, inf), (-inf, -0.0), (nan, nan)],
    "erf": [(-0.0, -0.0), (30.0, 1.0), (-inf, -1.0), (nan, nan)],
    "erfc": [(0.0, 1.0), (-30.0, 2.0), (inf, 0.0), (nan, nan)],
    "asinh": [(-0.0, -0.0), (inf, inf), (1e30, 69.77069997038132), (nan, nan)],
    "acosh": [(1.0, 0.0), (0.5, nan), (inf, inf), (nan, nan)],
    "atanh": [(-0.0, -0.0), (1.0, inf), (-1.0, -inf), (1.5, nan), (nan, nan)],
    "erfinv": [(-0.0, -0.0), (1.0, inf), (-1.0, -inf), (1.5, nan), (nan, nan)],
    "lgamma": [(0.0, inf), (-2.0, inf), (1.0, 0.0), (inf, inf), (-inf, inf), (nan, nan)],
    "digamma": [(0.0, -inf), (-0.0, inf), (-2.0, nan), (inf, inf), (nan, nan)],
    "i0": [(0.0, 1.0), (inf, inf), (-inf, inf), (nan, nan)],
    "signbit": [(-0.0, True), (0.0, False), (-nan, True), (nan, False), (-inf, True)],
    "isnan": [(nan, True), (inf, False)],
    "isinf": [(nan, False), (inf, True), (-inf, True), (1e308, False)],
    "isfinite": [(nan, False), (-inf, False), (1e308, True)],
    "logical_not": [(nan, False), (-0.0, True)],
    "add": [(inf, -inf, nan), (-0.0, 0.0, 0.0)],
    "sub": [(inf, inf, nan), (0.0, 0.0, 0.0)],
    "mul": [(inf, 0.0, nan), (-1.0, 0.0, -0.0)],
    "div": [(1.0, 0.0, inf), (1.0, -0.0, -inf), (0.0, 0.0, nan), (1.0, inf, 0.0)],
    "pow": [(0.0, 0.0, 1.0), (nan, 0.0, 1.0), (1.0, nan, 1.0), (-8.0, 0.5, nan), (-2.0, 3.0, -8.0), (0.0, -1.0, inf)],
    "floor_divide": [(-7.0, 2.0, -4.0), (1.0, 0.0, inf), (0.0, 0.0, nan), (1.0, 0.1, 9.0), (-1.0, inf, -1.0)],
    "remainder": [(-7.0, 3.0, 2.0), (7.0, -3.0, -2.0), (1.0, 0.0, nan), (inf, 2.0, nan)],
    "fmod": [(-7.0, 3.0, -1.0), (7.0, -3.0, 1.0), (-0.0, 2.0, -0.0), (1.0, 0.0, nan), (inf, 2.0, nan), (1.0, inf, 1.0)],
    "atan2": [(0.0, -1.0, math.pi), (-0.0, -1.0, -math.pi), (0.0, 0.0, 0.0), (inf, inf, math.pi / 4), (nan, 1.0, nan)],
    "hypot": [(3.0, 4.0, 5.0), (inf, nan, inf), (nan, 1.0, nan), (0.0, -0.0, 0.0)],
    "minimum": [(nan, 1.0, nan), (1.0, nan, nan), (-inf, inf, -inf)],
    "maximum": [(nan, 1.0, nan), (1.0, nan, nan), (-inf, inf, inf)],
    "fmin": [(nan, 1.0, 1.0), (1.0, nan, 1.0), (nan, nan, nan), (-inf, inf, -inf)],
    "fmax": [(nan, 1.0, 1.0), (1.0, nan, 1.0), (nan, nan, nan), (-inf, inf, inf)],
    "copysign": [(0.0, -0.0, -0.0), (nan, 1.0, nan), (-inf, 0.0, inf)],
    "nextafter": [(1.0, 1.0, 1.0), (inf, inf, inf), (nan, 1.0, nan), (1.0, nan, nan)],
    "heaviside": [(nan, 1.0, 0.0), (0.0, nan, nan), (-0.0, 2.0, 2.0), (inf, 2.0, 1.0)],
    "logaddexp": [
        (inf, inf, inf),
        (-inf, -inf, -inf),
        (-inf, inf, inf),
        (nan, 1.0, nan),
        (1000.0, 1000.0, 1000.6931471805599),
    ],
    "logaddexp2": [(inf, inf, inf), (-inf, -inf, -inf), (1.0, nan, nan), (2000.0, 2000.0, 2001.0)],
    "xlogy": [(0.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, nan, nan), (1.0, 0.0, -inf), (1.0, -1.0, nan)],
    "igamma": [(0.0, 1.0, 1.0), (0.0, 0.0, nan), (1.0, 0.0, 0.0), (1.0, inf, 1.0), (inf, 1.0, 0.0), (-1.0, 1.0, nan)],
    "igammac": [(0.0, 1.0, 0.0), (1.0, 0.0, 1.0), (1.0, inf, 0.0), (inf, 1.0, 1.0), (1.0, -1.0, nan), (nan, 1.0, nan)],
    "eq": [(nan, nan, False), (0.0, -0.0, True), (inf, inf, True)],
    "ne": [(nan, nan, True), (0.0, -0.0, False)],
    "lt": [(nan, 1.0, False), (-inf, inf, True)],
    "le": [(nan, nan, False), (-0.0, 0.0, True)],
    "gt": [(1.0, nan, False), (0.0, -0.0, False)],
    "ge": [(nan, nan, False), (inf, inf, True)],
    "logical_and": [(nan, 1.0, True), (nan, 0.0, False)],
    "logical_or": [(0.0, nan, True), (0.0, -0.0, False)],
    "logical_xor": [(nan, 0.0, True), (nan, inf, False)],
}


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("name", SPECIAL)
def test_special_values(name, dtype, device):
    """nan, inf, zeros of both signs and the far ends of the range, alone and inside a long vectorised loop."""
    for *operands, exact in SPECIAL[name]:
        if [repr(wrap(x, dtype)) for x in operands] != [repr(x) for x in operands]:
            continue  # a number that only float64 has
        for length in (1, 37):
            tensors = [norch.tensor([x] * length, dtype=dtype_named(dtype), device=device) for x in operands]
            for got in getattr(norch, name)(*tensors).tolist():
                message = f"{name}{tuple(operands)} is {got}, expected {exact}"
                if isinstance(exact, bool):
                    assert got is exact, message
                elif math.isnan(exact):
                    assert math.isnan(got), message
                else:
                    expected = wrap(exact, dtype)
                    assert math.isclose(got, expected, rel_tol=2e-7 if dtype == "float32" else 1e-15), message
                    assert math.copysign(1, got) == math.copysign(1, expected), message + " (the sign of zero)"


@pytest.mark.parametrize("dtype", REAL)
@by_name([row for row in UNARY if row.rule in ("real", "numeric") and not row.inexact])
def test_precision_over_the_range(row, dtype, device):
    """A few units in the last place over the whole range of the inputs, through every branch of the formula."""
    rng = random.Random(5)
    values = [wrap(sign * rng.uniform(1, 10) * 10.0**e, dtype) for e in range(-30, 30) for sign in (-1, 1)]
    values += [wrap(rng.uniform(-100, 100), dtype) for _ in range(500)]
    tolerance = 5e-7 if dtype == "float32" else 2e-15
    result = getattr(norch, row.name)(norch.tensor(values, dtype=dtype_named(dtype), device=device)).tolist()
    for x, got in zip(values, result):
        exact = row.reference(x)
        smallest = 2e-38 if dtype == "float32" else 1e-307
        if math.isfinite(exact) and 0 < abs(exact) < smallest:  # denormal results have fewer digits
            assert abs(got) <= smallest, (row.name, x)
        else:
            expected = wrap(exact, dtype)
            assert (
                got == expected or math.isclose(got, expected, rel_tol=tolerance) or got != got and expected != expected
            ), f"{row.name}({x!r}) is {got!r}, expected {expected!r}"


@pytest.mark.parametrize("name", ["floor", "ceil", "round", "trunc", "sign"])
def test_steps_pass_no_gradient_however_large(name, device):
    x = norch.tensor([0.3, -1.7, 2.5], device=device, requires_grad=True)
    getattr(x, name)().backward(norch.tensor([nan, inf, -inf], device=device))
    assert x.grad.tolist() == [0, 0, 0]


def test_rounded_quotients_pass_no_gradient_however_large(device):
    x = norch.tensor([0.3, -1.7], device=device, requires_grad=True)
    for rounding_mode in ("floor", "trunc"):
        x.div(2, rounding_mode=rounding_mode).backward(norch.tensor([nan, inf], device=device))
    assert x.grad.tolist() == [0, 0]


@pytest.mark.parametrize("function", [norch.xlogy, norch.special.xlog1py])
def test_a_logarithm_that_no_gradient_reaches_has_none(function, device):
    x = norch.tensor([0.5, 2.0], device=device, requires_grad=True)
    function(x, norch.tensor([-4.0, -4.0], device=device)).backward(norch.zeros(2, device=device))
    assert x.grad.tolist() == [0, 0]


def test_nan_counts_as_not_zero(device):
    assert norch.linalg.vector_norm(norch.tensor([nan, 0.0, 1.0], device=device), 0).item() == 2
