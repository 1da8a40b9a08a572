"""The dtype that several dtypes are promoted to, and the limits of each."""

from __future__ import annotations

import functools
import sys

from ..operation import check_operand
from ..tensor import Tensor
from ..types import DTYPES, DType, Operand, bool_, check_dtype, dtype, float32, float64


def promote_types(type1: DType, type2: DType) -> dtype:
    """The smallest dtype that holds both: the later in bool, uint8, int32, int64, float32, float64.

    >>> norch.promote_types(norch.uint8, norch.float32)
    norch.float32
    """
    return DTYPES[max(check_dtype(type1).number, check_dtype(type2).number)]


def result_type(tensor1: Operand, tensor2: Operand) -> dtype:
    """The dtype of an arithmetic operation on two tensors or numbers.

    Tensors with dimensions decide. Tensors of 0 dimensions, and after them Python numbers, count only if they are of a
    higher category (bool, integer, float).

    >>> norch.result_type(norch.tensor([1]), 2.5)
    norch.float32
    """
    groups: list[list[dtype]] = [[], [], []]
    for value in (tensor1, tensor2):
        check_operand(value, "result_type")
        if isinstance(value, Tensor):
            groups[0 if value.ndim else 1].append(value.dtype)
        else:
            groups[2].append(check_dtype(bool if isinstance(value, bool) else int if isinstance(value, int) else float))
    kinds = [functools.reduce(promote_types, group) for group in groups if group]
    return max(kinds, key=_category)  # the first of the highest category


def can_cast(from_: DType, to: DType) -> bool:
    """Whether an in-place operation may convert one dtype to another: not floats to integers, nor integers to bool.

    >>> norch.can_cast(norch.int64, norch.float32), norch.can_cast(norch.float32, norch.int64)
    (True, False)
    """
    return _category(check_dtype(from_)) <= _category(check_dtype(to))


def _category(kind: dtype) -> int:
    return 2 if kind.is_floating_point else 0 if kind is bool_ else 1


def get_default_dtype() -> dtype:
    """The dtype of floats if none is given: norch.float32.

    >>> norch.get_default_dtype()
    norch.float32
    """
    return float32


class finfo:
    """The limits of a floating dtype.

    `bits`, `max`, `min`, `eps` (from 1 to the next number), `tiny` and `smallest_normal`, `resolution` (of decimals).

    >>> norch.finfo(norch.float32).eps
    1.1920928955078125e-07
    """

    def __init__(self, type: DType = float32) -> None:
        kind = check_dtype(type)
        if not kind.is_floating_point:
            raise TypeError(f"finfo: expected a floating dtype, got {kind}; iinfo is for integers")
        single = kind is not float64
        self.dtype, self.bits = kind.name, kind.itemsize * 8
        self.eps = 2.0**-23 if single else sys.float_info.epsilon
        self.max = (2 - 2.0**-23) * 2.0**127 if single else sys.float_info.max
        self.min = -self.max
        self.tiny = self.smallest_normal = 2.0**-126 if single else sys.float_info.min
        self.resolution = 1e-6 if single else 1e-15

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo:
    """The limits of an integer dtype: `bits`, `max`, `min`.

    >>> norch.iinfo(norch.uint8).max
    255
    """

    def __init__(self, type: DType) -> None:
        kind = check_dtype(type)
        if kind.is_floating_point or kind is bool_:
            raise TypeError(f"iinfo: expected an integer dtype, got {kind}")
        self.dtype, self.bits = kind.name, kind.itemsize * 8
        self.max = 255 if kind.name == "uint8" else 2 ** (self.bits - 1) - 1
        self.min = 0 if kind.name == "uint8" else -(2 ** (self.bits - 1))

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"
