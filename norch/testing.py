"""Assertions for tests: tensors that are close to each other."""

from __future__ import annotations

import math
from typing import Any, Mapping, Sequence

from .functions.random import rand, randint
from .methods.interop import as_tensor
from .tensor import Tensor
from .types import bfloat16, check_dtype, dtype, float16, float32, float64, index_in, shown

__all__ = ["assert_allclose", "assert_close", "make_tensor"]

# rtol and atol of each dtype; integers and bools are equal
_TOLERANCES = {float16: (1e-3, 1e-5), bfloat16: (1.6e-2, 1e-5), float32: (1.3e-6, 1e-5), float64: (1e-7, 1e-7)}


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: Any = None,
) -> None:
    """Raise AssertionError unless |actual - expected| <= atol + rtol * |expected| everywhere.

    For tensors, numbers and arrays, and for sequences and dicts of them. Shapes, dtypes and devices must be the same
    (strides too, if `check_stride`). Tolerances are those of the dtype: 1.3e-6 and 1e-5 for float32; both are given, or
    none. `msg` replaces the message, or is a function of it. ValueError for one tolerance alone.

    >>> norch.testing.assert_close(norch.ones(2) + 1e-7, norch.ones(2))
    """
    if (rtol is None) != (atol is None):
        raise ValueError(f"rtol and atol must both be specified or both be unspecified, got rtol={rtol}, atol={atol}")
    checks = {"device": check_device, "dtype": check_dtype, "stride": check_stride}
    problem = _difference(actual, expected, rtol, atol, equal_nan, checks, "")
    if problem is not None:
        raise AssertionError(problem if msg is None else msg(problem) if callable(msg) else msg)


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: Any = "",
) -> None:
    """The older form of `assert_close`: dtypes and devices may differ.

    >>> norch.testing.assert_allclose(norch.ones(2), [1.0, 1.0])
    """
    actual, expected = as_tensor(actual), as_tensor(expected, dtype=as_tensor(actual).dtype)
    assert_close(
        actual,
        expected,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_device=False,
        check_dtype=False,
        msg=msg or None,
    )


def _difference(
    actual: Any, expected: Any, rtol: Any, atol: Any, equal_nan: bool, checks: Mapping[str, bool], where: str
) -> str | None:
    """What differs, in words; None if nothing does."""
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        if actual.keys() != expected.keys():
            missing = [list(expected.keys() - actual.keys()), list(actual.keys() - expected.keys())]
            return f"The keys of the mappings do not match:\nMissing keys: {missing[0]}\nAdditional keys: {missing[1]}"
        pairs = [(actual[key], expected[key], f"\n\nThe failure occurred for item [{key!r}]") for key in expected]
    elif _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            return f"The length of the sequences mismatch: {len(actual)} != {len(expected)}{where}"
        pairs = [(x, y, f"\n\nThe failure occurred for item [{i}]") for i, (x, y) in enumerate(zip(actual, expected))]
    else:
        return _of_tensors(actual, expected, rtol, atol, equal_nan, checks, where)
    found = (_difference(x, y, rtol, atol, equal_nan, checks, where + place) for x, y, place in pairs)
    return next((problem for problem in found if problem is not None), None)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _of_tensors(
    actual: Any, expected: Any, rtol: Any, atol: Any, equal_nan: bool, checks: Mapping[str, bool], where: str
) -> str | None:
    name = "Tensor-likes" if isinstance(actual, Tensor) or isinstance(expected, Tensor) else "Scalars"
    if isinstance(actual, Tensor) != isinstance(expected, Tensor):
        raise TypeError(
            f"assert_close: got {type(actual).__name__} and {type(expected).__name__}, expected two of a kind"
        )
    checked = checks if name == "Tensor-likes" else {}
    x, y = as_tensor(actual).detach(), as_tensor(expected).detach()
    if x.shape != y.shape:
        return f"The values for attribute 'shape' do not match: {x.shape} != {y.shape}.{where}"
    for attribute, value, other in (
        ("device", x.device, y.device),
        ("dtype", x.dtype, y.dtype),
        ("stride", x.stride(), y.stride()),
    ):
        if checked.get(attribute) and value != other:
            return f"The values for attribute '{attribute}' do not match: {value} != {other}.{where}"
    kinds = [kind for kind in (x.dtype, y.dtype) if kind.is_floating_point]
    defaults = [_TOLERANCES[kind] for kind in kinds] or [(0.0, 0.0)]
    rtol = max(pair[0] for pair in defaults) if rtol is None else rtol
    atol = max(pair[1] for pair in defaults) if atol is None else atol
    a, b = x.to(float64).cpu(), y.to(float64).cpu()
    close = a.isclose(b, rtol=rtol, atol=atol, equal_nan=equal_nan)
    if bool(close.all()):
        return None
    return _description(name, a, b, close, rtol, atol) + where


def _description(name: str, a: Tensor, b: Tensor, close: Tensor, rtol: float, atol: float) -> str:
    wrong = int((~close).sum().item())
    absolute = (a - b).abs().masked_fill(close, 0)
    relative = (absolute / b.abs()).masked_fill(close, 0)
    head = f"{name} are not {'close' if rtol or atol else 'equal'}!\n\n"
    if a.ndim == 0:
        head += f"Expected {b.item()} but got {a.item()}.\n"
    else:
        head += f"Mismatched elements: {wrong} / {a.numel()} ({wrong / a.numel():.1%})\n"
    lines = []
    for kind, values, limit in (("absolute", absolute, atol), ("relative", relative, rtol)):
        at = int(values.argmax().item())
        index = index_in(a.shape, at)
        place = f" at index {index}" if a.ndim else ""
        allowed = f" (up to {limit} allowed)" if rtol or atol else ""
        lines.append(f"Greatest {kind} difference: {values.reshape(-1)[at].item()}{place}{allowed}")
    return head + "\n".join(lines)


def make_tensor(
    *shape: Any,
    dtype: dtype = float32,
    device: str | int | None = None,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Random numbers of a dtype, from low up to but without high: [-9, 9), [0, 9) of uint8, True and False of bool.

    Raises TypeError if a bound is no number.

    >>> norch.testing.make_tensor((2, 3), dtype=norch.int64, device="cpu", low=0, high=2).max() < 2
    tensor(True)
    """
    sizes = list(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else list(shape)
    if noncontiguous and sizes:
        sizes = [*sizes[:-1], 2 * sizes[-1]]
    dtype = check_dtype(dtype)
    low = (0 if not _signed(dtype) else -9) if low is None else low
    high = (2 if str(dtype).endswith("bool") else 9) if high is None else high
    for bound in (low, high):
        if not isinstance(bound, (int, float)):
            raise TypeError(f"make_tensor: expected numbers as low and high, got {shown(bound)}")
    if not -math.inf < low <= high < math.inf:
        raise ValueError(f"make_tensor: expected low <= high, both finite, got {low} and {high}")
    if dtype.is_floating_point:
        made = (rand(sizes, device=device) * (high - low) + low).to(dtype)
    else:
        made = randint(int(low), int(high), sizes, device=device).to(dtype)
    if exclude_zero:
        made[made == 0] = 1
    if noncontiguous and sizes:
        made = made[..., ::2]
    if memory_format is not None:
        made = made.contiguous(memory_format=memory_format)
    return made.requires_grad_(requires_grad)


def _signed(kind: dtype) -> bool:
    return str(kind).split(".")[-1] not in ("uint8", "bool")
