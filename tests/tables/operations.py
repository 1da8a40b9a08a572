"""The table of operations: one row each, read by test_operations.py and by the checks against torch and NumPy.

To add an elementwise operation to norch is to add a row to UNARY or BINARY here: its name, its formula for one element
in plain Python, its rule for dtypes and its Backward class. Everything else follows: dtypes, layouts, broadcasting,
operators, in-place forms, gradients.
"""

from __future__ import annotations

import itertools
import math
import operator
import statistics
from dataclasses import dataclass, field
from typing import Any, Callable

import pytest
from arrays import DTYPES, REAL, WHOLE, promote, total
from draws import (
    any_numbers,
    exponents,
    nonzero,
    positive,
    smooth,
    smooth_above_one,
    smooth_either,
    smooth_positive,
    smooth_unit,
)

# How a row treats dtypes (operations.h): which it accepts, and the dtype of the result.
ACCEPTED = {"same": DTYPES, "numeric": DTYPES[1:], "real": DTYPES, "test": DTYPES, "whole": WHOLE}


def result_dtype(rule: str, *dtypes: str) -> str:
    dtype = promote(*dtypes)
    return "bool" if rule == "test" else "float32" if rule == "real" and dtype not in REAL else dtype


def by_name(rows: list) -> Any:
    """Runs a test once for each row of a table."""
    return pytest.mark.parametrize("row", rows, ids=repr)


# ---- elementwise operations ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Elementwise:
    """An elementwise operation: what it computes of one element, in Python numbers."""

    name: str  # of the method and of the function
    reference: Callable
    rule: str
    backward: str = ""  # the name of its Backward class; "" where it has no derivative
    c_name: str = ""  # its row in operations.h, where that is named otherwise
    draws: tuple = (any_numbers, any_numbers)  # one for each operand
    gradient_draws: tuple = (smooth, smooth)
    symbol: Callable | None = None  # Python's operator
    inexact: bool = (
        False  # the reference loses digits somewhere in the range (tests/tensor/test_special.py has true ones)
    )

    @property
    def c_row(self) -> str:
        return self.c_name or self.name

    def __repr__(self) -> str:
        return self.name


inf, nan = math.inf, math.nan


def guarded(function: Callable) -> Callable:
    """A function of the math module with IEEE results where Python raises: overflow is inf, out of domain nan."""

    def of_element(*operands):
        try:
            return function(*operands)
        except OverflowError:
            return inf
        except ValueError:
            return nan

    return of_element


def log(x):
    return -inf if x == 0 else guarded(math.log)(x)


def log_at_zero(function: Callable, zero: float) -> Callable:
    """A logarithm, with -inf where its argument is `zero`."""
    return lambda x: -inf if x == zero else guarded(function)(x)


def odd(function: Callable) -> Callable:
    """A function with f(-x) = -f(x), also where it overflows."""
    return lambda x: math.copysign(guarded(function)(abs(x)), x)


def atanh(x):
    return math.copysign(inf, x) if abs(x) == 1 else guarded(math.atanh)(x)


def exp2(x):
    return guarded(math.pow)(2.0, x)


def reciprocal(x):
    return div(1.0, x)


def rsqrt(x):
    return nan if x < 0 else div(1.0, guarded(math.sqrt)(x))


def sigmoid(x):
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def sign(x):
    return (x > 0) - (x < 0)


def whole(function: Callable) -> Callable:
    """floor, ceil and round keep the type of the element, nan and inf."""
    return lambda x: function(x) if isinstance(x, int) or math.isfinite(x) else x


def div(x, y):
    if y == 0:
        return nan if x == 0 or x != x else math.copysign(inf, x) * math.copysign(1.0, y)
    return x / y


def power(x, y):
    if isinstance(x, int):
        return x**y
    if x == 0 and y < 0:
        return math.copysign(inf, x) if y == math.floor(y) and y % 2 else inf
    if x < 0 and math.isfinite(y) and y == math.floor(y) and y % 2:
        return -guarded(math.pow)(-x, y)
    return guarded(math.pow)(x, y)


def floor_divide(x, y):
    return x // y if y else div(x, y)


def remainder(x, y):
    return x % y if y else nan


def fmod(x, y):
    if isinstance(x, int):
        return int(math.copysign(abs(x) % abs(y), x))
    return guarded(math.fmod)(x, y) if y else nan


def minimum(x, y):
    return nan if x != x or y != y else min(x, y)


def maximum(x, y):
    return nan if x != x or y != y else max(x, y)


def erfinv(x):
    if abs(x) >= 1:
        return math.copysign(inf, x) if abs(x) == 1 else nan
    return statistics.NormalDist().inv_cdf((x + 1) / 2) / math.sqrt(2)


def lgamma(x):
    return inf if x == 0 or (x < 0 and x == math.floor(x)) else math.lgamma(x)


def digamma(x):
    """By the recurrence up to 40, where three terms of the asymptotic series are enough."""
    if x <= 0 and x == math.floor(x):
        return math.copysign(inf, -x) if x == 0 else nan
    shift = max(0, math.ceil(40 - x))
    y = x + shift
    return math.log(y) - 0.5 / y - 1 / (12 * y**2) + 1 / (120 * y**4) - math.fsum(1 / (x + k) for k in range(shift))


def i0(x):
    return math.fsum((x / 2) ** (2 * k) / math.factorial(k) ** 2 for k in range(30))


def signbit(x):
    return math.copysign(1, x) < 0 if isinstance(x, float) else x < 0


def other_if_nan(function: Callable) -> Callable:
    return lambda x, y: y if x != x else x if y != y else function(x, y)


def logaddexp(base: float) -> Callable:
    return lambda x, y: math.log(base**x + base**y, base)


def xlogy(x, y):
    return 0.0 if x == 0 and y == y else x * log(y)


def igamma(a, x):
    return math.fsum(math.exp((a + k) * math.log(x) - x - math.lgamma(a + k + 1)) for k in range(80))


def left_shift(x, y):
    return x and not y if isinstance(x, bool) else x << y if y >= 0 else 0


def right_shift(x, y):
    return x and not y if isinstance(x, bool) else x >> (y if y >= 0 else 64)


POSITIVE, EITHER, UNIT = (smooth_positive,), (smooth, smooth_either), (smooth_unit,)

UNARY = [
    Elementwise("neg", operator.neg, "numeric", "NegBackward", symbol=operator.neg),
    Elementwise("abs", abs, "numeric", "AbsBackward", symbol=abs),
    Elementwise("sign", sign, "same", "SignBackward"),
    Elementwise("relu", lambda x: max(x, 0), "numeric", "ReluBackward"),
    Elementwise("floor", whole(math.floor), "numeric", "FloorBackward"),
    Elementwise("ceil", whole(math.ceil), "numeric", "CeilBackward"),
    Elementwise("round", whole(round), "numeric", "RoundBackward"),
    Elementwise("exp", guarded(math.exp), "real", "ExpBackward"),
    Elementwise("log", log, "real", "LogBackward", gradient_draws=POSITIVE),
    Elementwise("sqrt", guarded(math.sqrt), "real", "SqrtBackward", gradient_draws=POSITIVE),
    Elementwise("sin", guarded(math.sin), "real", "SinBackward"),
    Elementwise("cos", guarded(math.cos), "real", "CosBackward"),
    Elementwise("tanh", math.tanh, "real", "TanhBackward"),
    Elementwise("sigmoid", sigmoid, "real", "SigmoidBackward"),
    Elementwise("trunc", whole(math.trunc), "numeric", "TruncBackward"),
    Elementwise("frac", lambda x: x - math.trunc(x) if math.isfinite(x) else math.nan, "numeric", "FracBackward"),
    Elementwise("tan", guarded(math.tan), "real", "TanBackward", gradient_draws=UNIT),
    Elementwise("asin", guarded(math.asin), "real", "AsinBackward", gradient_draws=UNIT),
    Elementwise("acos", guarded(math.acos), "real", "AcosBackward", gradient_draws=UNIT),
    Elementwise("atan", math.atan, "real", "AtanBackward"),
    Elementwise("sinh", odd(math.sinh), "real", "SinhBackward"),
    Elementwise("cosh", guarded(math.cosh), "real", "CoshBackward"),
    Elementwise("asinh", math.asinh, "real", "AsinhBackward"),
    Elementwise("acosh", guarded(math.acosh), "real", "AcoshBackward", gradient_draws=(smooth_above_one,)),
    Elementwise("atanh", atanh, "real", "AtanhBackward", gradient_draws=UNIT),
    Elementwise("exp2", exp2, "real", "Exp2Backward"),
    Elementwise("expm1", guarded(math.expm1), "real", "Expm1Backward"),
    Elementwise("log1p", log_at_zero(math.log1p, -1), "real", "Log1pBackward", gradient_draws=POSITIVE),
    Elementwise("log2", log_at_zero(math.log2, 0), "real", "Log2Backward", gradient_draws=POSITIVE),
    Elementwise("log10", log_at_zero(math.log10, 0), "real", "Log10Backward", gradient_draws=POSITIVE),
    Elementwise("rsqrt", rsqrt, "real", "RsqrtBackward", gradient_draws=POSITIVE),
    Elementwise("reciprocal", reciprocal, "real", "ReciprocalBackward", gradient_draws=(smooth_either,)),
    Elementwise("erf", math.erf, "real", "ErfBackward"),
    Elementwise("erfc", math.erfc, "real", "ErfcBackward"),
    Elementwise("erfinv", erfinv, "real", "ErfinvBackward", gradient_draws=UNIT, inexact=True),
    Elementwise("lgamma", lgamma, "real", "LgammaBackward", gradient_draws=POSITIVE, inexact=True),
    Elementwise("digamma", digamma, "real", "DigammaBackward", gradient_draws=POSITIVE, inexact=True),
    Elementwise("i0", i0, "real", "I0Backward", inexact=True),
    Elementwise("signbit", signbit, "test"),
    Elementwise("isnan", math.isnan, "test"),
    Elementwise("isinf", math.isinf, "test"),
    Elementwise("isfinite", math.isfinite, "test"),
    Elementwise("logical_not", operator.not_, "test"),
    Elementwise("bitwise_not", lambda x: not x if isinstance(x, bool) else ~x, "whole", symbol=operator.invert),
]

BINARY = [
    Elementwise("add", operator.add, "same", "AddBackward", symbol=operator.add),
    Elementwise("sub", operator.sub, "numeric", "SubBackward", symbol=operator.sub),
    Elementwise("mul", operator.mul, "same", "ElementwiseMulBackward", "elementwise_mul", symbol=operator.mul),
    Elementwise("div", div, "real", "DivBackward", symbol=operator.truediv, gradient_draws=EITHER),
    Elementwise(
        "pow",
        power,
        "numeric",
        "PowBackward",
        symbol=operator.pow,
        draws=(any_numbers, exponents),
        gradient_draws=(smooth_positive, smooth),
    ),
    Elementwise("floor_divide", floor_divide, "numeric", symbol=operator.floordiv, draws=(any_numbers, nonzero)),
    Elementwise(
        "remainder",
        remainder,
        "numeric",
        "RemainderBackward",
        symbol=operator.mod,
        draws=(any_numbers, nonzero),
        gradient_draws=EITHER,
    ),
    Elementwise(
        "fmod", fmod, "numeric", "FmodBackward", draws=(any_numbers, nonzero), gradient_draws=(smooth, smooth_either)
    ),
    Elementwise("atan2", math.atan2, "real", "Atan2Backward"),
    Elementwise("hypot", math.hypot, "real", "HypotBackward", gradient_draws=(smooth_either, smooth_either)),
    Elementwise("minimum", minimum, "same", "MinimumBackward"),
    Elementwise("maximum", maximum, "same", "MaximumBackward"),
    Elementwise("fmin", other_if_nan(min), "same", "FminBackward"),
    Elementwise("fmax", other_if_nan(max), "same", "FmaxBackward"),
    Elementwise("copysign", math.copysign, "real", "CopysignBackward", gradient_draws=EITHER),
    Elementwise("nextafter", math.nextafter, "real", "NextafterBackward"),
    Elementwise("heaviside", lambda x, y: y if x == 0 else x > 0, "same"),
    Elementwise("logaddexp", logaddexp(math.e), "real", "LogaddexpBackward"),
    Elementwise("logaddexp2", logaddexp(2.0), "real", "Logaddexp2Backward"),
    Elementwise("xlogy", xlogy, "real", "XlogyBackward", gradient_draws=(smooth, smooth_positive)),
    Elementwise("igamma", igamma, "real", draws=(positive, positive)),
    Elementwise("igammac", lambda a, x: 1 - igamma(a, x), "real", draws=(positive, positive)),
    Elementwise("gcd", lambda x, y: type(x)(math.gcd(x, y)), "whole"),
    Elementwise("lcm", lambda x, y: type(x)(math.lcm(x, y)), "whole"),
    Elementwise("bitwise_left_shift", left_shift, "whole", symbol=operator.lshift),
    Elementwise("bitwise_right_shift", right_shift, "whole", symbol=operator.rshift),
    Elementwise("eq", operator.eq, "test", symbol=operator.eq),
    Elementwise("ne", operator.ne, "test", symbol=operator.ne),
    Elementwise("lt", operator.lt, "test", symbol=operator.lt),
    Elementwise("le", operator.le, "test", symbol=operator.le),
    Elementwise("gt", operator.gt, "test", symbol=operator.gt),
    Elementwise("ge", operator.ge, "test", symbol=operator.ge),
    Elementwise("logical_and", lambda x, y: bool(x and y), "test"),
    Elementwise("logical_or", lambda x, y: bool(x or y), "test"),
    Elementwise("logical_xor", lambda x, y: bool(x) != bool(y), "test"),
    Elementwise("bitwise_and", operator.and_, "whole", symbol=operator.and_),
    Elementwise("bitwise_or", operator.or_, "whole", symbol=operator.or_),
    Elementwise("bitwise_xor", operator.xor, "whole", symbol=operator.xor),
]

ELEMENTWISE = UNARY + BINARY

# ---- reductions ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reduction:
    """A reduction: what it makes of a list of elements."""

    name: str
    reference: Callable
    dtype: Callable  # the dtype of the input -> that of the result
    backward: str = ""  # a class that its gradient passes through
    accepted: list = field(default_factory=lambda: DTYPES)
    several_axes: bool = True
    empty: Any = None  # the result over no elements; None where that is an error
    least: int = 1  # how many elements the reference needs

    def __repr__(self) -> str:
        return self.name

    def axes(self, shape: tuple) -> list:
        """All axes (None), each axis by its positive and its negative number, and pairs where the row takes several."""
        rank = len(shape)
        pairs = itertools.combinations(range(-1, rank - 1), 2) if self.several_axes and rank > 1 else ()
        return [None, *((axis,) for axis in range(-rank, rank)), *pairs]

    def of(self, tensor: Any, axes: tuple | None, keepdim: bool = False) -> Any:
        """The reduction of a tensor, with no more arguments than needed."""
        keywords: dict = {} if axes is None else {"axis": axes if len(axes) > 1 else axes[0]}
        return getattr(tensor, self.name)(**keywords, **({"keepdim": True} if keepdim else {}))


def into_int64(dtype):
    return dtype if dtype in REAL else "int64"


def same(dtype):
    return dtype


def into_bool(dtype):
    return "uint8" if dtype == "uint8" else "bool"


def mean(xs):
    return math.fsum(xs) / len(xs)


def variance(xs):
    """Of a sample: divided by n - 1."""
    centre = mean(xs)
    return math.fsum((x - centre) ** 2 for x in xs) / (len(xs) - 1)


def position(best: Callable) -> Callable:
    """The index of the first nan, else of the first extreme."""
    return lambda xs: next((i for i, x in enumerate(xs) if x != x), None) or xs.index(best(xs))


REDUCTIONS = [
    Reduction("sum", total, into_int64, "SumBackward", empty=0),
    Reduction("mean", mean, same, "MeanBackward", accepted=REAL, empty=nan),
    Reduction("prod", math.prod, into_int64, "ProdBackward", empty=1),
    Reduction("max", max, same, "MaxBackward", several_axes=False),
    Reduction("min", min, same, "MinBackward", several_axes=False),
    Reduction("argmax", position(max), lambda dtype: "int64", several_axes=False),
    Reduction("argmin", position(min), lambda dtype: "int64", several_axes=False),
    Reduction("var", variance, same, "VarianceBackward", accepted=REAL, empty=nan, least=2),
    Reduction("std", lambda xs: math.sqrt(variance(xs)), same, "DeviationBackward", accepted=REAL, empty=nan, least=2),
    Reduction("any", any, into_bool, empty=False),
    Reduction("all", all, into_bool, empty=True),
]
