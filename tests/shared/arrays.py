"""Reference arrays in plain Python: their elements by dtype, and what operations make of them."""

from __future__ import annotations

import ctypes
import itertools
import math
import struct
from collections.abc import Sequence
from typing import Any, Callable, NamedTuple

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
REAL = DTYPES[6:]
WHOLE = DTYPES[:6]

CTYPES = {
    "bool": ctypes.c_bool,
    "uint8": ctypes.c_uint8,
    "int8": ctypes.c_int8,
    "int16": ctypes.c_int16,
    "int32": ctypes.c_int32,
    "int64": ctypes.c_int64,
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}


def wrap(value: Any, dtype: str) -> Any:
    """The Python number that an element of this dtype holds: floats rounded, integers modulo their range."""
    if dtype == "float16":
        try:
            return struct.unpack("e", struct.pack("e", value))[0]
        except OverflowError:
            return math.copysign(math.inf, value)
    if dtype == "bfloat16":
        return to_bfloat16(float(value))
    return CTYPES[dtype](value).value


def to_bfloat16(x: float) -> float:
    """The nearest number of 8 binary digits, of two the even one, with the exponent of a float32."""
    if x == 0 or not math.isfinite(x):
        return x
    place = max(math.frexp(x)[1] - 8, -133)
    rounded = round(math.ldexp(x, -place)) * 2.0**place
    return math.copysign(rounded if abs(rounded) < 2.0**128 else math.inf, x)


def promote(*dtypes: str) -> str:
    """The larger dtype, in the order above; but two pairs give one that holds both."""
    if {"uint8", "int8"} == set(dtypes):
        return "int16"
    return "float32" if {"float16", "bfloat16"} == set(dtypes) else max(dtypes, key=DTYPES.index)


class Array(NamedTuple):
    """A reference array: its elements in row order and its shape."""

    flat: list
    shape: tuple

    def nested(self) -> Any:
        return nest(self.flat, self.shape)

    def at(self, index: Sequence[int]) -> Any:
        """The element at a full index; missing leading axes and axes of size 1 repeat."""
        index = index[len(index) - len(self.shape) :]
        position = 0
        for i, size in zip(index, self.shape):
            position = position * size + (i if size > 1 else 0)
        return self.flat[position]


def nest(flat: list, shape: Sequence[int]) -> Any:
    if len(shape) == 0:
        return flat[0]
    width = math.prod(shape[1:])
    return [nest(flat[i * width : (i + 1) * width], shape[1:]) for i in range(shape[0])]


def indices(shape: Sequence[int]) -> Any:
    return itertools.product(*map(range, shape))


def broadcast_shapes(*shapes: Sequence[int]) -> tuple:
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    # a size of 1 gives way to any other, 0 included
    return tuple(next((size for size in sizes if size != 1), 1) for sizes in zip(*padded))


def elementwise(function: Callable, *arrays: Array) -> Array:
    """The function of each element, after broadcasting."""
    shape = broadcast_shapes(*(array.shape for array in arrays))
    return Array([function(*(array.at(index) for array in arrays)) for index in indices(shape)], shape)


def rearrange(array: Array, shape: Sequence[int], source: Callable) -> Array:
    """The array of this shape whose element at `index` is the given array's at `source(*index)`."""
    return Array([array.at(source(*index)) for index in indices(shape)], tuple(shape))


def reduce(function: Callable, array: Array, axes: Sequence[int] | None, keepdim: bool = False) -> Array:
    """The function of the list of elements along the axes; over all axes (None) the shape is []."""
    if axes is None:
        return Array([function(array.flat)], (1,) * len(array.shape) if keepdim else ())
    rank = len(array.shape)
    axes = [axis % rank for axis in axes]
    kept = tuple(1 if d in axes else size for d, size in enumerate(array.shape))
    groups: dict = {index: [] for index in indices(kept)}
    for index in indices(array.shape):
        groups[tuple(0 if d in axes else i for d, i in enumerate(index))].append(array.at(index))
    shape = kept if keepdim else tuple(size for d, size in enumerate(array.shape) if d not in axes)
    return Array([function(group) for group in groups.values()], shape)


def total(xs: list) -> Any:
    """The sum, exactly rounded where the elements are floats."""
    return math.fsum(xs) if xs and isinstance(xs[0], float) else sum(xs)


def matmul(a: Array, b: Array) -> Array:
    """numpy.matmul: batched, broadcasting, a 1-D operand is a row on the left and a column on the right."""
    left = a if len(a.shape) > 1 else Array(a.flat, (1,) + a.shape)
    right = b if len(b.shape) > 1 else Array(b.flat, b.shape + (1,))
    batch = broadcast_shapes(left.shape[:-2], right.shape[:-2])
    rows, inner, columns = left.shape[-2], left.shape[-1], right.shape[-1]
    flat = [
        total([left.at((*index, i, k)) * right.at((*index, k, j)) for k in range(inner)])
        for index in indices(batch)
        for i in range(rows)
        for j in range(columns)
    ]
    shape = batch + ((rows,) if len(a.shape) > 1 else ()) + ((columns,) if len(b.shape) > 1 else ())
    return Array(flat, shape)
