"""The dtype that several dtypes are promoted to, and the limits of each."""

from __future__ import annotations

import functools
import math
from typing import Any

from .. import operation
from .._C import Number, lib, number
from ..operation import check, check_operand
from ..types import (
    ABSENT_DTYPES,
    DTYPES,
    DType,
    Operand,
    bfloat16,
    bool_,
    check_dtype,
    default,
    dtype,
    float16,
    float32,
    float64,
    int64,
    promoted,
    shown,
    uint8,
)

__all__ = [
    "can_cast",
    "finfo",
    "get_default_dtype",
    "iinfo",
    "promote_types",
    "result_type",
    "set_default_dtype",
]


def promote_types(type1: DType, type2: DType) -> dtype:
    """The smallest dtype that holds both: mostly the later in the order of `norch.types.DTYPES`.

    uint8 and int8 give int16, float16 and bfloat16 give float32; integers and a float give that float.

    >>> norch.promote_types(norch.uint8, norch.float32)
    norch.float32
    """
    return promoted(check_dtype(type1), check_dtype(type2))


def result_type(tensor1: Operand, tensor2: Operand) -> dtype:
    """The dtype of an arithmetic operation on two tensors or numbers.

    Tensors with dimensions decide. Tensors of 0 dimensions, and after them Python numbers, count only if they are of a
    higher category (bool, integer, float).

    >>> norch.result_type(norch.tensor([1]), 2.5)
    norch.float32
    """
    x, y = check_operand(tensor1, "result_type"), check_operand(tensor2, "result_type")
    return DTYPES[lib.promoted_dtype(x._ptr, y._ptr)]


def common_type(*operands: Operand) -> dtype:
    """The `result_type` of any number of operands."""
    found = {value.dtype if isinstance(value, operation.Tensor) else None for value in operands}
    if len(found) == 1 and None not in found:  # most often: tensors of one dtype
        return found.pop()  # type: ignore[return-value]
    return _common_type(*[_kind(value) for value in operands])


def _kind(value: Operand) -> tuple[int, dtype]:
    """The dtype of an operand, and its rank among them: of tensors with dimensions, without, or of numbers."""
    if isinstance(value, operation.Tensor):
        return (0 if value.ndim else 1), value.dtype
    check_operand(value, "result_type")
    return 2, bool_ if isinstance(value, bool) else int64 if isinstance(value, int) else default.dtype


@functools.lru_cache(None)
def _common_type(*kinds: tuple[int, dtype]) -> dtype:
    groups = [[kind for group, kind in kinds if group == rank] for rank in range(3)]
    found = [functools.reduce(promote_types, group) for group in groups if group]
    return max(found, key=_category)  # the first of the highest category


def can_cast(from_: DType, to: DType) -> bool:
    """Whether an in-place operation may convert one dtype to another: not floats to integers, nor integers to bool.

    >>> norch.can_cast(norch.int64, norch.float32), norch.can_cast(norch.float32, norch.int64)
    (True, False)
    """
    return _category(check_dtype(from_)) <= _category(check_dtype(to))


def _category(kind: dtype) -> int:
    return 2 if kind.is_floating_point else 0 if kind is bool_ else 1


def get_default_dtype() -> dtype:
    """The dtype of floats if none is given: norch.float32 unless `set_default_dtype` changed it.

    >>> norch.get_default_dtype()
    norch.float32
    """
    return default.dtype


def set_default_dtype(d: DType) -> None:
    """Let a floating dtype be that of floats if none is given: in `tensor`, `zeros`, `rand`, `arange`, integers / 2.

    Raises TypeError for another dtype.

    >>> norch.set_default_dtype(norch.float64)
    >>> norch.tensor([1.5]).dtype
    norch.float64
    >>> norch.set_default_dtype(norch.float32)
    """
    kind = check_dtype(d)
    operation.structure.version += 1
    before = default.dtype
    try:
        check(lib.set_default_dtype(kind.number))
        default.dtype = kind
        _Once.__call__.cache_clear()
    except BaseException:  # an interrupt between the two
        lib.set_default_dtype(before.number)
        raise


# Floating dtypes by their bits: those of the mantissa, the largest exponent, and the decimals that every number has.
_LAYOUTS = {float16: (10, 15, 3), bfloat16: (7, 127, 2), float32: (23, 127, 6), float64: (52, 1023, 15)}

# Float8, whose limits programs read although no tensor has it: two of them lack infinity, and count to a larger number.
_FLOAT8: dict[Any, tuple[int, int, float]] = {
    ABSENT_DTYPES[f"float8_{name}"]: layout
    for name, layout in {
        "e4m3fn": (3, 7, 448.0),
        "e4m3fnuz": (3, 8, 240.0),
        "e5m2": (2, 15, 57344.0),
        "e5m2fnuz": (3, 16, 57344.0),
    }.items()
}


class _Once(type):
    """A class whose object for a dtype is made once."""

    @functools.lru_cache(None)  # noqa: B019 (of classes, which stay)
    def __call__(cls, type: Any = None) -> Any:
        return cls(default.dtype) if type is None else super().__call__(type)


class finfo(metaclass=_Once):
    """The limits of a floating dtype.

    `bits`, `max`, `min`, `eps` (from 1 to the next number), `tiny` and `smallest_normal`, `resolution` (of decimals).

    >>> norch.finfo(norch.float32).eps, norch.finfo(norch.float16).max
    (1.1920928955078125e-07, 65504.0)
    """

    def __init__(self, type: DType | None = None) -> None:
        kind: Any = type if type in _FLOAT8 else check_dtype(type)
        if not kind.is_floating_point:
            raise TypeError(f"finfo: expected a floating dtype, got {kind}; iinfo is for integers")
        mantissa, exponent, decimals = _LAYOUTS.get(kind) or (*_FLOAT8[kind][:2], 0)
        self.dtype, self.bits = kind.name, kind.itemsize * 8
        self.eps = 2.0**-mantissa
        self.max = (2 - self.eps) * 2.0**exponent if kind in _LAYOUTS else _FLOAT8[kind][2]
        self.min = -self.max
        self.tiny = self.smallest_normal = 2.0 ** (1 - exponent)
        self.resolution = float(f"1e-{decimals}")

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


_UNSIGNED: list[Any] = [ABSENT_DTYPES[f"uint{bits}"] for bits in (16, 32, 64)]


class iinfo(metaclass=_Once):
    """The limits of an integer dtype: `bits`, `max`, `min`.

    >>> norch.iinfo(norch.uint8).max
    255
    """

    def __init__(self, type: DType) -> None:
        kind: Any = type if type in _UNSIGNED else check_dtype(type)
        if kind.is_floating_point or kind is bool_:
            raise TypeError(f"iinfo: expected an integer dtype, got {kind}")
        self.dtype, self.bits = kind.name, kind.itemsize * 8
        self.max = 2 ** (self.bits - kind.is_signed) - 1
        self.min = -self.max - 1 if kind.is_signed else 0

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


def limits_of(kind: dtype) -> Any:
    return finfo(kind) if kind.is_floating_point else iinfo(kind)


@functools.lru_cache(None)
def finite_numbers(kind: dtype) -> tuple[Number, Number, Number]:
    """What `nan_to_num` puts in place of NaN and the infinities: 0 and the limits of a floating dtype."""
    largest = limits_of(kind).max
    return number(0.0), number(largest), number(-largest)


def fitting(value: float, kind: dtype, name: str) -> float:
    """A number as elements of a dtype are, whole for integers. Raises RuntimeError if it is beyond the limits.

    Negative integers of uint8 wrap around: -1 is 255.
    """
    if kind is bool_ or (kind.is_floating_point and -65504 <= value <= 65504):  # which all floating dtypes hold
        return value
    if kind is uint8 and isinstance(value, int) and -255 <= value < 0:
        return value + 256
    limits = limits_of(kind)
    if not (limits.min <= value <= limits.max or (kind.is_floating_point and not math.isfinite(value))):
        raise RuntimeError(f"{name}: the number {shown(value)} does not fit into {kind.name}")
    return value if kind.is_floating_point else int(value)
