"""New vectors of numbers that follow each other at equal distances, or as powers of one base."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, SupportsIndex

from .. import operation
from .._C import RangeError, ShapeError, device_number, lib
from ..arguments import plain_number, whole
from ..operation import wrap
from ..types import DType, Operand, dtype, float64, int64, layout
from .creation import floating, made, sequence
from .promotion import fitting

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

__all__ = ["arange", "linspace", "logspace"]


def arange(
    start: Operand | None = None,
    end: Operand | None = None,
    step: Operand = 1,
    dtype: DType | None = None,
    device: str | int | None = None,
    requires_grad: bool = False,
    *,
    out: Tensor | None = None,
    layout: layout | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """start, start + step, ... before `end`: a vector [n]. int64 for integers, else the default dtype.

    A single number is `end`, and start is 0. Each element is start + i * step, rounded once to the dtype; for int64 all
    three are rounded towards 0 first. Raises ShapeError for a step of 0 or of the wrong sign and for infinite bounds,
    TypeError if an argument is not a number, MemoryError for too many elements.

    >>> norch.arange(2, 10, 3)
    tensor([2, 5, 8])
    """
    if end is None:
        start, end = 0, start
        if end is None:
            raise TypeError("arange: missing the argument end")
    if isinstance(start, int) and isinstance(end, int) and isinstance(step, int) and dtype is out is None:
        if 0 < step < 2**62 and -(2**62) < start <= end < 2**62:  # most often
            count, place = -((end - start) // -step), device_number(device)
            result = wrap(lib.integer_arange_tensor(int(start), int(step), count, int64.number, place))
            return made(result, "arange", requires_grad, pin_memory, layout)
    first, last, hop = (plain_number(value, "arange") for value in (0 if start is None else start, end, step))
    whole = all(isinstance(value, int) for value in (first, last, hop))
    kind = int64 if whole and dtype is None and out is None else floating(dtype, out)
    if not all(math.isfinite(value) for value in (first, last, hop)):
        raise ShapeError(f"arange: expected finite bounds, got {first} to {last} by {hop}")
    if kind is int64:
        _steps_between(first, last, hop, whole)  # whose errors are those of the numbers that were given
        first, last, hop = int(first), int(last), int(hop)
        whole = True
    count = _steps_between(first, last, hop, whole)
    if not kind.is_floating_point:
        first, hop, whole = int(first), int(hop), True
    place = count, kind.number, device_number(device)
    in_int64 = whole and all(-(2**63) <= value < 2**63 for value in (first, hop))
    if not (in_int64 or kind.is_floating_point):
        raise RangeError(f"arange: {first} by {hop} does not fit into {kind}")
    if in_int64:
        first, hop = int(first), int(hop)  # they may be bools
    fill = lib.integer_arange_tensor if in_int64 else lib.arange_tensor
    return sequence(wrap(fill(first, hop, *place)), "arange", requires_grad, pin_memory, layout, out)


def range_(
    start: float = 0,
    end: float | None = None,
    step: float = 1,
    *,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: str | int | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """start, start + step, ... up to `end`, which is included: a vector [n] of the default dtype.

    `norch.range`, as in old programs of PyTorch: others use `arange`. Raises TypeError without `end`, ShapeError for a
    step of 0 or of the wrong sign, RuntimeError for numbers that are not finite.

    >>> norch.range(0, 2)
    tensor([0., 1., 2.])
    """
    if end is None:
        raise TypeError("range: missing the argument end")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"range: expected finite numbers, got {start} and {end}")
    if not step or (end - start) / step < 0:
        raise ShapeError(f"range: no steps of {step} lead from {start} to {end}")
    places = arange(int((end - start) / step) + 1, dtype=floating(dtype, out), device=device)
    return sequence(places * step + start, "range", requires_grad, False, None, out)


def _steps_between(first: float, last: float, hop: float, whole: bool) -> int:
    """The number of elements of an arange, `whole` if all three are integers; raises an error if there is none."""
    if hop == 0:
        raise ShapeError("arange: expected a nonzero step, got 0")
    if (last - first) * hop < 0:
        raise ShapeError(f"arange: bounds {first} and {last} do not fit the sign of step {hop}")
    if not math.isfinite((last - first) / hop):
        raise ShapeError(f"arange: expected finite bounds, got {first} to {last} by {hop}")
    count = int(-((last - first) // -hop)) if whole else math.ceil((last - first) / hop)
    if count >= 2**63:
        raise MemoryError(f"arange: {count} elements are too many")
    return count


def linspace(
    start: Operand,
    end: Operand,
    steps: int,
    dtype: DType | None = None,
    device: str | int | None = None,
    requires_grad: bool = False,
    *,
    out: Tensor | None = None,
    layout: layout | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """`steps` evenly spaced numbers, the first `start`, the last `end`; computed in double, rounded once.

    A vector [steps], of the default dtype without `dtype`; for integers the ends are rounded towards 0 first. Ends
    that are scalars get no gradients. Raises ShapeError for a negative number of steps, TypeError if an argument is not
    a number.

    >>> norch.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    kind = floating(dtype, out)
    result = evenly_spaced(start, end, steps, kind, kind, device, "linspace")
    return sequence(result, "linspace", requires_grad, pin_memory, layout, out)


def logspace(
    start: Operand,
    end: Operand,
    steps: int,
    base: float = 10.0,
    dtype: DType | None = None,
    device: str | int | None = None,
    requires_grad: bool = False,
    *,
    out: Tensor | None = None,
    layout: layout | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """`base` to the powers of `steps` evenly spaced numbers, from `start` to `end`; computed in double, rounded once.

    A vector [steps], of the default dtype without `dtype`; for integers the ends are rounded towards 0 first. Raises
    ShapeError for a negative number of steps, TypeError if an argument is not a number.

    >>> norch.logspace(0, 2, 3)
    tensor([  1.,  10., 100.])
    """
    kind = floating(dtype, out)
    exponents = evenly_spaced(start, end, steps, kind, float64, device, "logspace")
    result = float(plain_number(base, "logspace")) ** exponents
    return sequence(result.to(kind), "logspace", requires_grad, pin_memory, layout, out)


def evenly_spaced(
    start: Operand,
    end: Operand,
    steps: SupportsIndex,
    kind: dtype,
    computed: dtype,
    device: str | int | None,
    name: str,
) -> Tensor:
    """Evenly spaced numbers for a result of dtype `kind`, in the dtype `computed`."""
    count = whole(steps, name)
    if count < 0:
        raise ShapeError(f"{name}: expected a number of steps that is not negative, got {steps}")
    ends = []
    for value in (start, end):
        if isinstance(value, operation.Tensor):
            if value.ndim:
                raise RuntimeError(f"{name}: expected numbers or scalars, got a tensor of shape {list(value.shape)}")
            value = value.item()  # which passes no gradient on
        ends.append(float(fitting(plain_number(value, name), kind, name)))
    return wrap(lib.linspace_tensor(*ends, count, computed.number, device_number(device)))
