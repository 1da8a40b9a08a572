"""Elementwise methods composed of others, with the options of PyTorch's: `alpha`, `rounding_mode`, `decimals`."""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from .._C import Number, lib, number
from ..arguments import one_size, whole
from ..autograd.derivatives.elementary import AddcmulBackward
from ..autograd.derivatives.special import (
    FrexpBackward,
    RoundedDivBackward,
    trigamma,
    zeta,
)
from ..autograd.functions import RoundBackward, SignBackward
from ..autograd.in_place import write
from ..functions.promotion import result_type
from ..operation import check_floating, check_operand, check_tensor, computed, recorded, wrap
from ..packing import counting
from ..return_types import printed
from ..types import HALVES, Operand, float64, int32, shown
from .composed import are_floats, scaled
from .elementwise import in_place, ternary

if TYPE_CHECKING:
    from ..forward_declarations import Tensor


@printed("frexp")
class Frexp(NamedTuple):
    """The pair that `frexp` returns."""

    mantissa: Tensor  # in [0.5, 1), with the sign of x
    exponent: Tensor  # of 2, int32


class ElementaryMethods:
    """The methods of Tensor that compute each element by itself."""

    # ---- Arithmetic with options

    def add(self: Tensor, other: Operand, *legacy: Operand, alpha: float = 1) -> Tensor:
        """x + alpha * other, element by element. (`add(alpha, other)` is an older order of the same.)

        x and `other`, a tensor, array or number, broadcast and are promoted to one dtype. Raises ShapeError if the
        shapes do not fit, TypeError if `other` is none of these, RuntimeError for two devices, and for an alpha of a
        higher kind than the dtypes (bool, integer, float).

        >>> norch.tensor([1, 2]).add(norch.tensor([10, 20]), alpha=2)
        tensor([21, 42])
        """
        if type(alpha) in (int, float) and alpha != 1 and not legacy and are_floats(self, other):
            return _addcmul(self, other, alpha)
        return self + _times_alpha("add", self, other, legacy, alpha)

    def add_(self: Tensor, other: Operand, *legacy: Operand, alpha: float = 1) -> Tensor:
        """In place: x + alpha * other. (`add_(alpha, other)` is an older order of the same.)

        `other`, a tensor, array or number, broadcasts to this tensor, which keeps shape and dtype and is returned.
        Raises ShapeError if it does not fit, TypeError if it is none of these, RuntimeError for a leaf that requires
        gradients, for two devices, and for a result of a higher kind than this dtype (bool, integer, float).

        >>> norch.tensor([1, 2]).add_(norch.tensor([10, 20]), alpha=2)
        tensor([21, 42])
        """
        if type(alpha) in (int, float) and alpha != 1 and not legacy and are_floats(self, other):
            return _add_into(self, other, alpha)
        self += _times_alpha("add_", self, other, legacy, alpha)
        return self

    def sub(self: Tensor, other: Operand, *legacy: Operand, alpha: float = 1) -> Tensor:
        """x - alpha * other, element by element. (`sub(alpha, other)` is an older order of the same.)

        Shapes, dtypes and errors as for `add`; raises RuntimeError for bool.

        >>> norch.tensor([1, 2]).sub(norch.tensor([10, 20]), alpha=2)
        tensor([-19, -38])
        """
        if type(alpha) in (int, float) and alpha != 1 and not legacy and are_floats(self, other):
            return _addcmul(self, other, -alpha)
        return self - _times_alpha("sub", self, other, legacy, alpha)

    def sub_(self: Tensor, other: Operand, *legacy: Operand, alpha: float = 1) -> Tensor:
        """In place: x - alpha * other. (`sub_(alpha, other)` is an older order of the same.)

        Shapes, dtypes and errors as for `add_`; raises RuntimeError for bool.

        >>> norch.tensor([1, 2]).sub_(norch.tensor([10, 20]), alpha=2)
        tensor([-19, -38])
        """
        if type(alpha) in (int, float) and alpha != 1 and not legacy and are_floats(self, other):
            return _add_into(self, other, -alpha)
        self -= _times_alpha("sub_", self, other, legacy, alpha)
        return self

    def div(self: Tensor, other: Operand, *, rounding_mode: str | None = None) -> Tensor:
        """x / other, element by element; rounded towards zero with "trunc", down with "floor", in the promoted dtype.

        Shapes and errors as for `add`; without a rounding_mode integers and bool become float32. Raises RuntimeError
        for another rounding_mode, and if an integer is divided by 0 and rounded.

        >>> norch.tensor([7.0, -7.0]).div(2), norch.tensor([7, -7]).div(2, rounding_mode="trunc")
        (tensor([ 3.5000, -3.5000]), tensor([ 3, -3]))
        """
        divisor = check_operand(other, "div")
        if rounding_mode is None:
            return self / other
        if rounding_mode not in ("floor", "trunc"):
            raise RuntimeError(f"div: expected rounding_mode None, 'trunc' or 'floor', got {shown(rounding_mode)}")
        if rounding_mode == "floor":
            quotient = self // other
        else:
            quotient = wrap(lib.div_trunc_tensor(self._ptr, divisor._ptr))
        return recorded(quotient, RoundedDivBackward, (self, other))

    def div_(self: Tensor, other: Operand, *, rounding_mode: str | None = None) -> Tensor:
        """In place: x / other, rounded as `div` rounds. Shapes, dtypes and errors as for `add_`.

        Raises RuntimeError for integers and bool without a rounding_mode.

        >>> norch.tensor([7, -7]).div_(2, rounding_mode="floor")
        tensor([ 3, -4])
        """
        if rounding_mode is None:
            self /= check_operand(other, "div_")
            return self
        return self._div_(other, rounding_mode=rounding_mode)

    def pow(self: Tensor, exponent: Operand) -> Tensor:
        """x to the power of `exponent`, element by element. Shapes, dtypes and errors as for `add`; not for bool.

        >>> norch.tensor([2, 3]).pow(norch.tensor([3, 2]))
        tensor([8, 9])
        """
        check_operand(exponent, "pow")
        return self**exponent

    def pow_(self: Tensor, exponent: Operand) -> Tensor:
        """In place: x to the power of `exponent`. Shapes, dtypes and errors as for `add_`; not for bool.

        >>> norch.tensor([2, 3]).pow_(norch.tensor([3, 2]))
        tensor([8, 9])
        """
        self **= check_operand(exponent, "pow_")
        return self

    def round(self: Tensor, *, decimals: int = 0) -> Tensor:
        """The nearest number with so many decimals, in the shape and dtype of x; halves go to the even one.

        A negative number rounds to tens, hundreds and so on. Raises RuntimeError for bool and decimals of integers.

        >>> norch.tensor([0.5, 1.5, 2.4]).round(), norch.tensor([1.2345]).round(decimals=2)
        (tensor([0., 2., 2.]), tensor([1.2300]))
        """
        decimals = 0 if type(decimals) is int and not decimals else one_size(decimals, "round: decimals")
        if decimals == 0:
            return self._round()
        if not self.is_floating_point():
            raise RuntimeError(f"round: decimals are for floating dtypes, got {self.dtype}")
        if decimals > 0:
            ptr = lib.round_scaled_tensor(self._ptr, _scale_of(decimals)._ptr)
            return recorded(wrap(ptr), RoundBackward, (self,))
        scale = _scale_of(-decimals).value
        if self.dtype in HALVES:  # whose numbers may be rounded to a tenth of the scale
            return self.float().round(decimals=decimals).to(self.dtype)
        return (self / scale)._round() * scale

    def float_power(self: Tensor, exponent: Operand) -> Tensor:
        """x to the power of `exponent`, in float64. Shapes and errors as for `add`.

        >>> norch.tensor([2.0, 4.0], dtype=norch.float64).float_power(-1)
        tensor([0.5000, 0.2500], dtype=norch.float64)
        """
        power = check_operand(exponent, "float_power")
        wide: Any = power if isinstance(power, Number) else power.double()
        return self.double() ** wide

    def float_power_(self: Tensor, exponent: Operand) -> Tensor:
        """In place: x to the power of `exponent`, for x of float64. Shapes, dtypes and errors as for `add_`.

        Raises RuntimeError for another dtype.

        >>> norch.tensor([2.0, 4.0], dtype=norch.float64).float_power_(-1)
        tensor([0.5000, 0.2500], dtype=norch.float64)
        """
        if self.dtype is not float64:
            raise RuntimeError(f"float_power_: the result is float64, the tensor {self.dtype}")
        return self.pow_(exponent)

    def ldexp(self: Tensor, other: Operand) -> Tensor:
        """x * 2^other, element by element. Shapes and errors as for `add`. A floating x keeps its dtype beside
        integers; integers become float32.

        >>> norch.tensor([1.5, 1.0]).ldexp(norch.tensor([1, 4]))
        tensor([ 3., 16.])
        """
        power = check_tensor(other, "ldexp")
        is_whole = self.is_floating_point() and not power.is_floating_point()
        return self * 2.0 ** (power.to(self.dtype) if is_whole else power)

    # ---- Bounds

    def clamp_min(self: Tensor, min: Operand) -> Tensor:
        """max(x, min), element by element: `clamp` with one bound. Shapes, dtypes and errors as for `add`.

        >>> norch.tensor([1, 5]).clamp_min(2)
        tensor([2, 5])
        """
        return self.clamp(min=min)

    def clamp_max(self: Tensor, max: Operand) -> Tensor:
        """min(x, max), element by element: `clamp` with one bound. Shapes, dtypes and errors as for `add`.

        >>> norch.tensor([1, 5]).clamp_max(2)
        tensor([1, 2])
        """
        return self.clamp(max=max)

    # ---- Functions of one variable

    def logit(self: Tensor, eps: float | None = None) -> Tensor:
        """log(x / (1 - x)), the inverse of sigmoid; with `eps` >= 0 x is moved into [eps, 1 - eps] first.

        Element by element, in the shape of x; integers and bool become float32. NaN outside of [0, 1].
        Raises TypeError if `eps` is no number.

        >>> norch.tensor([0.25, 0.5]).logit()
        tensor([-1.0986,  0.0000])
        """
        x = self if self.is_floating_point() else self.float()
        if eps is None or not eps >= 0:
            return x._logit()
        wide = x.float() if x.dtype.itemsize < 4 else x  # 1 - eps has few digits in 16 bits
        return wide.clamp(eps, 1.0 - eps)._logit().to(x.dtype)

    def deg2rad(self: Tensor) -> Tensor:
        """Degrees in radians, element by element, in the shape of x; integers and bool become float32.

        >>> norch.tensor([180.0, 90.0]).deg2rad()
        tensor([3.1416, 1.5708])
        """
        return self * (math.pi / 180)

    def rad2deg(self: Tensor) -> Tensor:
        """Radians in degrees, element by element, in the shape of x; integers and bool become float32.

        >>> norch.tensor([3.141592653589793, 0.0]).rad2deg()
        tensor([180.,   0.])
        """
        return self * (180 / math.pi)

    def positive(self: Tensor) -> Tensor:
        """x itself, of the same shape and dtype, as +x. Raises RuntimeError for bool.

        >>> norch.tensor([1, -2]).positive()
        tensor([ 1, -2])
        """
        if self.dtype.name == "bool":
            raise RuntimeError("positive: not defined for bool tensors")
        return self

    def frexp(self: Tensor) -> Frexp:
        """The pair (mantissa, exponent) with x = mantissa * 2^exponent and |mantissa| in [0.5, 1), or 0.

        Both have the shape of x, the exponent is int32. Raises RuntimeError if the dtype is not floating.

        >>> norch.tensor([10.0, 0.25]).frexp().exponent
        tensor([ 4, -1], dtype=norch.int32)
        """
        check_floating(self, "frexp")
        exponent = wrap(lib.frexp_exponent_tensor(self._ptr)).to(int32)
        mantissa = wrap(lib.frexp_mantissa_tensor(self._ptr))
        return Frexp(recorded(mantissa, FrexpBackward, (self,), exponent), exponent)

    def polygamma(self: Tensor, n: int) -> Tensor:
        """The n-th derivative of digamma, element by element, in the shape of x; integers and bool become float32.

        Raises RuntimeError for a negative n, TypeError if it is no integer.

        >>> norch.tensor([1.0, 2.0]).polygamma(1)
        tensor([1.6449, 0.6449])
        """
        order = one_size(n, "polygamma")
        if order < 0:
            raise RuntimeError(f"polygamma: n must not be negative, got {order}")
        if order < 2:
            return trigamma(self) if order else self.digamma()
        return zeta(order + 1.0, self) * ((-1.0) ** (order + 1) * (math.gamma(order + 1) if order < 170 else math.inf))

    def mvlgamma(self: Tensor, p: int) -> Tensor:
        """The logarithm of the gamma function of dimension p: p (p - 1) / 4 log(pi) + sum of lgamma(x - i / 2), i < p.

        Element by element, in the shape of x; integers and bool become float32. Raises RuntimeError for p below 1.

        >>> norch.tensor([2.0, 3.0]).mvlgamma(2)
        tensor([0.4516, 1.5502])
        """
        if whole(p, "mvlgamma") < 1:
            raise RuntimeError(f"mvlgamma: p has to be at least 1, got {p}")
        steps = counting(p, self.device).to(self.lgamma().dtype)
        total = (self.unsqueeze(-1) - 0.5 * steps).lgamma().sum(-1)
        return total + 0.25 * p * (p - 1) * math.log(math.pi)

    # ---- As of complex numbers

    def angle(self: Tensor) -> Tensor:
        """The angle of a number in the complex plane: 0, or pi for a negative one; NaN stays.

        Element by element, in the shape of x; integers and bool become float32.

        >>> norch.tensor([1.0, -2.0]).angle()
        tensor([0.0000, 3.1416])
        """
        return computed("angle", SignBackward, self)

    def conj(self: Tensor) -> Tensor:
        """The complex conjugate of real numbers: this tensor itself, of its shape and dtype.

        >>> norch.tensor([1, 2]).conj()
        tensor([1, 2])
        """
        return self

    def isreal(self: Tensor) -> Tensor:
        """Whether each element is a real number: always, in the shape of x, as bool.

        >>> norch.tensor([1.0, 2.0]).isreal()
        tensor([True, True])
        """
        return self.new_full(self.shape, True, dtype=bool)

    @property
    def real(self: Tensor) -> Tensor:
        """The real part: this tensor itself, of its shape and dtype.

        >>> norch.tensor([1, 2]).real
        tensor([1, 2])
        """
        return self

    @property
    def imag(self: Tensor) -> Tensor:
        """The imaginary part, which real numbers have not: raises RuntimeError for every shape and dtype.

        >>> norch.tensor([1.0]).imag
        Traceback (most recent call last):
        RuntimeError: imag is not implemented for tensors with non-complex dtypes
        """
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes")

    conj_physical = resolve_conj = resolve_neg = conj

    def conj_physical_(self: Tensor) -> Tensor:
        """In place: the complex conjugate of real numbers, this tensor itself, of its shape and dtype.

        >>> norch.tensor([1, 2]).conj_physical_()
        tensor([1, 2])
        """
        return self

    subtract = sub
    subtract_ = sub_
    divide = true_divide = div
    divide_ = true_divide_ = div_
    _div_ = in_place(div, lambda x, other, rounding_mode: _divide_into(x, other, rounding_mode))
    round_ = in_place(round, lambda x, decimals=0: _round_into(x, decimals))
    ldexp_ = in_place(ldexp)
    logit_ = in_place(logit, lambda x, eps=None: _logit_into(x, eps))
    deg2rad_ = in_place(deg2rad, lambda x: x.mul_(math.pi / 180))
    rad2deg_ = in_place(rad2deg, lambda x: x.mul_(180 / math.pi))
    polygamma_ = in_place(polygamma)
    mvlgamma_ = in_place(mvlgamma)

    def clamp_min_(self: Tensor, min: Operand) -> Tensor:
        """In place: max(x, min), as `clamp_` with one bound. Shapes, dtypes and errors as for `add_`.

        >>> norch.tensor([1, 5]).clamp_min_(2)
        tensor([2, 5])
        """
        return self.clamp_(min=min)

    def clamp_max_(self: Tensor, max: Operand) -> Tensor:
        """In place: min(x, max), as `clamp_` with one bound. Shapes, dtypes and errors as for `add_`.

        >>> norch.tensor([1, 5]).clamp_max_(2)
        tensor([1, 2])
        """
        return self.clamp_(max=max)


_addcmul = ternary("addcmul", AddcmulBackward)


def _add_into(x: Tensor, y: Any, alpha: float) -> Tensor:
    """x += alpha * y, all of one floating dtype."""
    z = number(alpha)
    return write(x, AddcmulBackward, (y, alpha), lib.addcmul_into, x._ptr, x._ptr, y._ptr, z._ptr)


def _times_alpha(name: str, x: Tensor, other: Operand, legacy: tuple[Operand, ...], alpha: float) -> Any:
    """alpha * other, the second operand of a sum; `legacy` has the operand where alpha came first."""
    if legacy:
        if len(legacy) > 1 or isinstance(other, type(x)):
            raise TypeError(f"{name}: expected other, or alpha and other, got {1 + len(legacy)} operands")
        alpha, other = other, legacy[0]  # type: ignore[assignment]
    operand = check_operand(other, name)
    return operand if alpha == 1 and alpha is not True else scaled(name, other, alpha, result_type(x, other))


def _divide_into(x: Tensor, other: Operand, rounding_mode: str) -> Tensor | None:
    """x divided in place by a row of csrc/ops/operations.h, if there is one for its dtype and this rounding."""
    row = {"floor": "floor_divide_into", "trunc": "div_trunc_into"}.get(rounding_mode)
    if row is None:
        return None
    into, y = getattr(lib, row), check_operand(other, "div_")
    return write(x, RoundedDivBackward, (y,), into, x._ptr, x._ptr, y._ptr)


def _round_into(x: Tensor, decimals: int) -> Tensor | None:
    """x rounded in place, but for tens and hundreds."""
    if type(decimals) is not int or not 0 <= decimals < 2**63 or (decimals and not x.is_floating_point()):
        return None
    if not decimals:
        return x._round_()
    scale = _scale_of(decimals)
    return write(x, RoundBackward, (), lib.round_scaled_into, x._ptr, x._ptr, scale._ptr)


def _scale_of(decimals: int) -> Number:
    return number(10.0**decimals if decimals < 309 else math.inf)


def _logit_into(x: Tensor, eps: float | None) -> Tensor | None:
    """The logit of floats in place."""
    if eps is None or (x.is_floating_point() and not eps >= 0):
        return x._logit_()
    return x.clamp_(eps, 1.0 - eps)._logit_() if x.is_floating_point() and x.dtype.itemsize >= 4 else None
