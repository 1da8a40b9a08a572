"""NaN, the infinities, and the numbers next to others: `nan_to_num`, `isposinf`, `isneginf`, `nextafter`."""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .._C import Number, lib, number
from ..arguments import broadcast_shapes, plain_number
from ..autograd.derivatives.special import NanToNumBackward, NextafterBackward
from ..autograd.in_place import write
from ..autograd.mode import no_grad
from ..functions.promotion import finite_numbers, limits_of, result_type
from ..operation import recorded, wrap
from ..types import HALVES, dtype, int16
from .elementwise import in_place

if TYPE_CHECKING:
    from ..forward_declarations import Tensor


def _replace_into(
    x: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor | None:
    """`nan_to_num` written into x."""
    kind, plain = x.dtype, nan is posinf is neginf is None
    if not kind.is_floating_point:
        return None
    none, above, below = finite_numbers(kind) if plain else _finite_numbers(kind, nan, posinf, neginf)
    operands = x._ptr, none._ptr, x._ptr, above._ptr, below._ptr
    return write(x, NanToNumBackward, (), lib.nan_to_num_into, *operands)


class SpecialValueMethods:
    """The methods of Tensor that know the special values of floats."""

    def nan_to_num(
        self: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
    ) -> Tensor:
        """x with NaN replaced by `nan` (0), infinities by `posinf` and `neginf` (the limits of the dtype).

        Element by element, in the shape and dtype of x. Integers have none of them. Raises
        TypeError if a replacement is no number.

        >>> norch.tensor([1.0, float("nan"), -float("inf")]).nan_to_num(neginf=-9.0)
        tensor([ 1.,  0., -9.])
        """
        kind, plain = self.dtype, nan is posinf is neginf is None
        if not kind.is_floating_point:
            _numbers(nan, posinf, neginf)
            return self.clone()
        none, above, below = finite_numbers(kind) if plain else _finite_numbers(kind, nan, posinf, neginf)
        result = wrap(lib.nan_to_num_tensor(none._ptr, self._ptr, above._ptr, below._ptr))
        return result if self._edge is None else recorded(result, NanToNumBackward, (self,))

    nan_to_num_ = in_place(nan_to_num, _replace_into)

    def isposinf(self: Tensor) -> Tensor:
        """Whether x is plus infinity, element by element, in the shape of x, as bool.

        >>> norch.tensor([1.0, float("inf")]).isposinf()
        tensor([False,  True])
        """
        return self == math.inf

    def isneginf(self: Tensor) -> Tensor:
        """Whether x is minus infinity, element by element, in the shape of x, as bool.

        >>> norch.tensor([1.0, -float("inf")]).isneginf()
        tensor([False,  True])
        """
        return self == -math.inf

    def nextafter(self: Tensor, other: Tensor) -> Tensor:
        """The number next to x in the direction of `other`, element by element. Shapes, dtypes and errors as for `add`.

        Integers and bool become float32. Raises TypeError for a number.

        >>> norch.tensor([1.0, 4.0]).nextafter(norch.tensor([1.0, 4.0]))
        tensor([1., 4.])
        """
        halves = self.dtype in HALVES or getattr(other, "dtype", None) in HALVES
        if halves and not isinstance(other, (int, float)) and (kind := result_type(self, other)) in HALVES:
            with no_grad():
                result = _next_half(self.to(kind), other.to(kind))
            return recorded(result, NextafterBackward, (self, other))
        return self._nextafter(other)

    nextafter_ = in_place(nextafter, lambda x, other: None if x.dtype in HALVES else x._nextafter_(other))


def _numbers(*replacements: object) -> list[float | None]:
    return [None if given is None else plain_number(given, "nan_to_num") for given in replacements]


def _finite_numbers(
    kind: dtype, nan: float | None, posinf: float | None, neginf: float | None
) -> tuple[Number, Number, Number]:
    """What `nan_to_num` puts in place of NaN, infinity and minus infinity, if it is given numbers."""
    nan, posinf, neginf = _numbers(nan, posinf, neginf)
    largest = limits_of(kind).max
    chosen = (nan or 0.0, largest if posinf is None else posinf, -largest if neginf is None else neginf)
    none, above, below = (number(math.copysign(math.inf, x) if abs(x) > largest else x) for x in chosen)
    return none, above, below


def _next_half(x: Tensor, y: Tensor) -> Tensor:
    """`nextafter` of floats of 16 bits: on each side of 0 their bits are integers in the order of the numbers."""
    x, y = x.broadcast_to(broadcast_shapes(x.shape, y.shape, name="nextafter")), y.detach()
    away, zero = (y > x) == (x > 0), x == 0
    bits = zero._choose(1, x.detach().contiguous().view(int16) + 2 * away - 1)  # from 0 to the least number
    moved = bits.to(int16).view(x.dtype)
    moved = zero._choose(moved.copysign(y), moved)
    return (x == y)._choose(y, (x != x).logical_or(y != y)._choose(math.nan, moved))
