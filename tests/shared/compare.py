"""The comparisons that tests use: shape and dtype first, then each element."""

from __future__ import annotations

import math
from typing import Any

import pytest
from arrays import REAL, Array, indices

import norch

TOLERANCE = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 2e-6, "float64": 1e-12}  # of halves: two places


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


def close(tensor, expected, tolerance=1e-5):
    """Same shape as the nested list, and every element within a relative or absolute tolerance."""
    wanted = norch.tensor(expected, dtype=norch.float64)
    assert list(tensor.shape) == list(wanted.shape)
    for got, want in zip(tensor.reshape(-1).tolist(), wanted.reshape(-1).tolist()):
        assert got == pytest.approx(want, rel=tolerance, abs=tolerance), (tensor.tolist(), expected)
