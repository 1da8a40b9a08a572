"""Reference arrays in plain Python, the layouts a tensor can have, and the comparison that every test uses."""

from __future__ import annotations

import ctypes
import importlib
import itertools
import math
import pkgutil
import re
from collections.abc import Sequence
from typing import Any, Callable, NamedTuple

import pytest

import norch

DTYPES = ["bool", "uint8", "int32", "int64", "float32", "float64"]  # in the order of promotion
REAL = ["float32", "float64"]
WHOLE = ["bool", "uint8", "int32", "int64"]
LAYOUTS = ["contiguous", "transposed", "stepped", "expanded"]
TOLERANCE = {"float32": 2e-6, "float64": 1e-12}

CTYPES = {
    "bool": ctypes.c_bool,
    "uint8": ctypes.c_uint8,
    "int32": ctypes.c_int32,
    "int64": ctypes.c_int64,
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}


def wrap(value: Any, dtype: str) -> Any:
    """The Python number that an element of this dtype holds: floats rounded, integers modulo their range."""
    return CTYPES[dtype](value).value


def derivative_classes() -> dict[str, type]:
    """Every Function that norch.autograd defines for an operation: those from which no other is derived."""
    for module in pkgutil.walk_packages(norch.autograd.__path__, "norch.autograd."):
        importlib.import_module(module.name)
    found, waiting = {}, [norch.autograd.Function]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if kind.__module__.startswith("norch.") and not kind.__subclasses__():
            found[kind.__name__] = kind
    return found


def promote(*dtypes: str) -> str:
    return max(dtypes, key=DTYPES.index)


def by_name(rows: list) -> Any:
    """Runs a test once for each row of a table."""
    return pytest.mark.parametrize("row", rows, ids=repr)


def drawn(rng: Any, draw: Callable, dtype: str) -> Callable:
    return lambda count: draw(rng, count, dtype)


def dtype_named(name: str) -> Any:
    return getattr(norch, name)


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
    """The function of the list of elements along the axes; over all axes (None) the shape is [1]."""
    if axes is None:
        return Array([function(array.flat)], (1,) * len(array.shape) if keepdim else (1,))
    rank = len(array.shape)
    axes = [axis % rank for axis in axes]
    kept = tuple(1 if d in axes else size for d, size in enumerate(array.shape))
    groups: dict = {index: [] for index in indices(kept)}
    for index in indices(array.shape):
        groups[tuple(0 if d in axes else i for d, i in enumerate(index))].append(array.at(index))
    shape = kept if keepdim else tuple(size for d, size in enumerate(array.shape) if d not in axes) or (1,)
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
    return Array(flat, shape or (1,))


# ---- where elements are drawn from -----------------------------------------------------------------------------------


def any_numbers(rng, count, dtype):
    """Of both signs, with zeros, ties and halves among the floats."""
    if dtype == "bool":
        return [rng.random() < 0.5 for _ in range(count)]
    if dtype in REAL:
        return [rng.choice([rng.uniform(-3, 3), rng.randint(-6, 6) / 2]) for _ in range(count)]
    return [rng.randint(0 if dtype == "uint8" else -9, 9) for _ in range(count)]


def nonzero(rng, count, dtype):
    return [x if x else wrap(rng.randint(1, 5), dtype) for x in any_numbers(rng, count, dtype)]


def exponents(rng, count, dtype):
    """Any number for floats; not negative for integers, whose negative powers are no integers."""
    return [x if dtype in REAL else abs(x) for x in any_numbers(rng, count, dtype)]


def truths(rng, count, dtype):
    return [rng.random() < 0.5 for _ in range(count)]


def smooth(rng, count, low=-30, high=30):
    """Different numbers, none near an integer, a half or zero: no ties and no kinks within a finite difference."""
    crowd = range(1 + count // (high - low))  # as many to each tenth as it takes
    return rng.sample([(2 * i + 1) / 20 + k / 1000 for i in range(low, high) for k in crowd], count)


def smooth_unit(rng, count):
    """Between -0.9 and 0.9."""
    return smooth(rng, count, low=-9, high=9)


def smooth_positive(rng, count):
    return smooth(rng, count, low=3, high=50)


def smooth_either(rng, count):
    """Away from zero, of both signs."""
    return [rng.choice([-1, 1]) * x for x in smooth_positive(rng, count)]


# ---- tensors of every layout -----------------------------------------------------------------------------------------


def tensor_of(array: Array, dtype: str, device: str = "cpu") -> norch.Tensor:
    return norch.tensor(array.flat, dtype=dtype_named(dtype), device=device).reshape(array.shape)


def operand(draw: Callable, shape: tuple, dtype: str, layout: str, device: str = "cpu") -> tuple:
    """A tensor of this shape, dtype and memory layout with drawn elements, and the same as a reference array.

    `draw(count)` gives the elements. transposed: axes reversed in memory; stepped: every second element along every
    axis of something larger; expanded: the first axis repeats its only element with a stride of 0.
    """
    if layout == "contiguous" or len(shape) == 0:
        array = Array([wrap(x, dtype) for x in draw(math.prod(shape))], shape)
        return tensor_of(array, dtype, device), array
    if layout == "transposed":
        tensor, array = operand(draw, shape[::-1], dtype, "contiguous", device)
        return tensor.permute(*reversed(range(len(shape)))), rearrange(array, shape, lambda *index: index[::-1])
    if layout == "stepped":
        tensor, array = operand(draw, tuple(2 * size + 1 for size in shape), dtype, "contiguous", device)
        every_second = (slice(1, None, 2),) * len(shape)
        return tensor[every_second], rearrange(array, shape, lambda *index: [2 * i + 1 for i in index])
    assert layout == "expanded"
    tensor, array = operand(draw, (1,) + shape[1:], dtype, "contiguous", device)
    return tensor.expand(*shape), rearrange(array, shape, lambda *index: index)


# ---- comparison ------------------------------------------------------------------------------------------------------


def same_number(actual: Any, expected: Any, rtol: float, atol: float) -> bool:
    if isinstance(expected, float) and math.isnan(expected):
        return math.isnan(actual)
    if actual == expected:  # infinities too
        return True
    return bool(rtol or atol) and abs(actual - expected) <= atol + rtol * abs(expected)


def assert_close(
    tensor: norch.Tensor, expected: Any, dtype: str | None = None, rtol: float | None = None, atol: float | None = None
) -> None:
    """Shape first, then dtype, then element by element: never a comparison that broadcasts.

    `expected` is an Array or a nested list. Integers and bool must be equal; floats within the dtype's tolerance.
    """
    if not isinstance(expected, Array):
        flat, shape = [], []
        level = expected
        while isinstance(level, list):
            shape.append(len(level))
            level = level[0] if level else None
        flat = expected if shape else [expected]
        for _ in shape[1:]:
            flat = [element for row in flat for element in row]
        expected = Array(flat, tuple(shape))
    assert isinstance(tensor, norch.Tensor), f"expected a Tensor, got {tensor!r}"
    assert tuple(tensor.shape) == tuple(expected.shape), f"shape {tuple(tensor.shape)}, expected {expected.shape}"
    name = str(tensor.dtype).split(".")[-1]
    if dtype is not None:
        assert name == dtype, f"dtype {name}, expected {dtype}"
    tolerance = TOLERANCE.get(name, 0)
    rtol = tolerance if rtol is None else rtol
    atol = tolerance if atol is None else atol
    actual = tensor.detach().tolist()
    for _ in tensor.shape[1:]:
        actual = [element for row in actual for element in row]
    actual = actual if tensor.ndim else [actual]
    assert len(actual) == len(expected.flat)
    for index, got, want in zip(indices(expected.shape), actual, expected.flat):
        kind = bool if name == "bool" else float if name in REAL else int
        assert type(got) is kind, f"element {list(index)} is {got!r}, expected a {kind.__name__}"
        assert same_number(got, want, rtol, atol), f"element {list(index)} is {got!r}, expected {want!r}"


_NUMBER = re.compile(r"(?<![\w#.])-?\d+(?:\.\d+)?")


def same_picture(ours: str, theirs: str) -> list:
    """Compares two SVGs whose coordinates may differ in their last digit; returns the pairs of numbers."""
    assert _NUMBER.sub("#", ours) == _NUMBER.sub("#", theirs), "another picture: run `make pictures notebook`"
    pairs = [(float(a), float(b)) for a, b in zip(_NUMBER.findall(ours), _NUMBER.findall(theirs))]
    assert all(abs(a - b) < 0.11 for a, b in pairs)
    return pairs
