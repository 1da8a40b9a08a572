"""Assertions for tests: tensors that are close to each other."""

from __future__ import annotations

import math
from typing import Any, Mapping, Sequence

from .functions.random import rand, randint
from .given import given
from .methods.interop import as_tensor
from .tensor import Tensor
from .types import bfloat16, check_dtype, dtype, float16, float32, float64, index_in, int64, shown

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

    For tensors, numbers, arrays and None, and for sequences and dicts of them. Shapes, dtypes (of numbers, types) and
    devices must be the same (strides too, if `check_stride`). Tolerances are those of the dtype: 1.3e-6 and 1e-5 for
    float32, 1e-7 for float64 and numbers, 0 for integers; both are given, or none. `msg` replaces the message, or is a
    function of it. ValueError for one tolerance alone.

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
            missing, more = list(expected.keys() - actual.keys()), list(actual.keys() - expected.keys())
            named = f"Missing keys in the actual mapping: {missing}\nAdditional keys in the actual mapping: {more}"
            return f"The keys of the mappings do not match:\n{named}{where}"
        pairs = [(actual[key], expected[key], f"\n\nThe failure occurred for item [{key!r}]") for key in expected]
    elif _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            return f"The length of the sequences mismatch: {len(actual)} != {len(expected)}{where}"
        pairs = [(x, y, f"\n\nThe failure occurred for item [{i}]") for i, (x, y) in enumerate(zip(actual, expected))]
    elif actual is None or expected is None:
        return None if actual is expected else f"None mismatch: {actual} is not {expected}{where}"
    else:
        compare = _of_numbers if _is_number(actual) and _is_number(expected) else _of_tensors
        return compare(actual, expected, rtol, atol, equal_nan, checks, where)
    found = (_difference(x, y, rtol, atol, equal_nan, checks, where + place) for x, y, place in pairs)
    return next((problem for problem in found if problem is not None), None)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _is_number(value: Any) -> bool:
    """Whether it is one of Python's, or a scalar of NumPy's; no tensor, no array without dimensions."""
    return isinstance(value, (int, float)) or (hasattr(value, "item") and not hasattr(value, "__len__"))


def _of_numbers(
    actual: Any, expected: Any, rtol: Any, atol: Any, equal_nan: bool, checks: Mapping[str, bool], where: str
) -> str | None:
    actual, expected = (value.item() if hasattr(value, "item") else value for value in (actual, expected))
    kinds = {type(actual), type(expected)}
    if bool in kinds and len(kinds) > 1:
        raise TypeError(f"assert_close: got {given(actual)} and {given(expected)}, expected two of a kind")
    if checks["dtype"] and len(kinds) > 1:
        return f"The (d)types do not match: {type(actual)} != {type(expected)}.{where}"
    if actual == expected or (equal_nan and actual != actual and expected != expected):
        return None
    if bool in kinds:
        return f"Booleans mismatch: {actual} is not {expected}{where}"
    rtol, atol = _tolerances([float64] if float in kinds else [], rtol, atol)
    absolute = abs(actual - expected)
    if math.isfinite(absolute) and absolute <= atol + rtol * abs(expected):
        return None
    return _of_scalars(actual, expected, rtol, atol) + where


def _tolerances(kinds: Sequence[dtype], rtol: Any, atol: Any) -> tuple[float, float]:
    """The given tolerances, or the largest of these dtypes."""
    known = [_TOLERANCES[kind] for kind in kinds] or [(0.0, 0.0)]
    return (max(pair[0] for pair in known), max(pair[1] for pair in known)) if rtol is None else (rtol, atol)


def _of_tensors(
    actual: Any, expected: Any, rtol: Any, atol: Any, equal_nan: bool, checks: Mapping[str, bool], where: str
) -> str | None:
    if isinstance(actual, Tensor) != isinstance(expected, Tensor):
        raise TypeError(f"assert_close: got {given(actual)} and {given(expected)}, expected two of a kind")
    x, y = as_tensor(actual).detach(), as_tensor(expected).detach()
    if x.shape != y.shape:
        return f"The values for attribute 'shape' do not match: {x.shape} != {y.shape}.{where}"
    for attribute, value, other in (
        ("device", x.device, y.device),
        ("dtype", x.dtype, y.dtype),
        ("stride", x.stride(), y.stride()),
    ):
        if checks[attribute] and value != other:
            return f"The values for attribute '{attribute}' do not match: {value} != {other}.{where}"
    kinds = [kind for kind in (x.dtype, y.dtype) if kind.is_floating_point]
    rtol, atol = _tolerances(kinds, rtol, atol)
    wide = float64 if kinds or rtol or atol else int64  # integers beyond 2**53 are equal only if they are the same
    a, b = x.cpu().to(wide), y.cpu().to(wide)
    close = a.isclose(b, rtol=rtol, atol=atol, equal_nan=equal_nan)
    if bool(close.all()):
        return None
    if a.ndim == 0:
        return _of_scalars(x.item(), y.item(), rtol, atol) + where
    return _of_elements(a, b, close, rtol, atol) + where


def _of_scalars(actual: float, expected: float, rtol: float, atol: float) -> str:
    absolute = abs(actual - expected)
    relative = absolute / abs(expected) if expected else math.inf
    differences = f"Absolute difference: {absolute}{_allowed(atol, rtol)}\nRelative difference: {relative}"
    return f"{_head('Scalars', rtol, atol)}Expected {expected} but got {actual}.\n{differences}{_allowed(rtol, atol)}"


def _of_elements(a: Tensor, b: Tensor, close: Tensor, rtol: float, atol: float) -> str:
    wrong = int((~close).sum().item())
    absolute = (a - b).abs().masked_fill(close, 0)
    relative = (absolute / b.abs()).masked_fill(close, 0)
    head = f"{_head('Tensor-likes', rtol, atol)}Mismatched elements: {wrong} / {a.numel()} ({wrong / a.numel():.1%})\n"
    lines = []
    for kind, values, allowed in (
        ("absolute", absolute, _allowed(atol, rtol)),
        ("relative", relative, _allowed(rtol, atol)),
    ):
        at = int(values.argmax().item())
        index = index_in(a.shape, at)
        lines.append(f"Greatest {kind} difference: {values.reshape(-1)[at].item()} at index {index}{allowed}")
    return head + "\n".join(lines)


def _head(name: str, rtol: float, atol: float) -> str:
    return f"{name} are not {'close' if rtol or atol else 'equal'}!\n\n"


def _allowed(limit: float, other: float) -> str:
    return f" (up to {limit} allowed)" if limit or other else ""


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
