"""Reading and writing `t[...]` by integers, slices, `...` and None.

An integer for every dimension reads a Python number; anything less reads a view, and writing goes through that view.
"""

from __future__ import annotations

import operator
from typing import Any

from ._C import int64_array, lib


def get(x: Any, index: Any) -> Any:
    """x[index]: a Python number where the index has an integer for every dimension, else a view."""
    parts = index if isinstance(index, tuple) else (index,)
    if len(parts) == x._struct.ndim and all(type(part) is int for part in parts):
        return _element(x, parts)
    result = _view(x, _parse(x, parts))
    complete = result.ndim == 0 and x.ndim > 0 and not any(part is Ellipsis for part in parts)
    return result.item() if complete else result


def set(x: Any, index: Any, value: Any) -> None:
    """x[index] = value: the value is broadcast to the view and converted to its dtype."""
    parts = index if isinstance(index, tuple) else (index,)
    target = _view(x, _parse(x, parts))
    if not hasattr(value, "_ptr") and not isinstance(value, (int, float)):
        from .creation import tensor

        value = tensor(value, dtype=x.dtype, device=x.device)
    extra = getattr(value, "ndim", 0) - target.ndim
    if extra > 0 and all(size == 1 for size in value.shape[:extra]):  # as in PyTorch: leading sizes of 1 do not count
        value = value.reshape(value.shape[extra:])
    target.copy_(value)


def _element(x: Any, indices: Any) -> Any:
    if not x.dtype.is_floating_point:
        return _view(x, list(indices)).item()  # a double does not hold every int64
    try:
        value = lib.get_item(x._ptr, int64_array(indices))
    except OverflowError:
        raise IndexError(f"index {indices} is out of range for shape {list(x.shape)}") from None
    if value != value:
        return _view(x, list(indices)).item()  # NaN, or an error, which this raises
    return value


def _parse(x: Any, parts: tuple[Any, ...]) -> list[Any]:
    """The index with an entry for each dimension: integers, slices and Nones, `...` written out."""
    parsed: list[Any] = []
    for part in parts:
        if part is None or part is Ellipsis or isinstance(part, slice):
            parsed.append(part)
            continue
        try:
            if isinstance(part, bool):
                raise TypeError
            parsed.append(operator.index(part))
        except TypeError:
            raise TypeError(f"an index is made of integers, slices, `...` and None; got {part!r} ({type(part).__name__})") from None
    used = sum(part is not None and part is not Ellipsis for part in parsed)
    ellipses = sum(part is Ellipsis for part in parsed)
    if used > x.ndim:
        raise IndexError(f"too many indices: got {used} for a tensor of {x.ndim} dimensions")
    if ellipses > 1:
        raise IndexError("an index can have one ellipsis (`...`) only")
    if not ellipses:
        parsed.append(Ellipsis)
    at = next(i for i, part in enumerate(parsed) if part is Ellipsis)
    return parsed[:at] + [slice(None)] * (x.ndim - used) + parsed[at + 1 :]


def _view(x: Any, parsed: list[Any]) -> Any:
    axis, result = 0, x
    for part in parsed:
        if part is None:
            result = result.unsqueeze(axis)
        elif isinstance(part, slice):
            if part != slice(None):
                result = result._slice(axis, *_range(part, result.shape[axis]))
        else:
            if not -(2**63) <= part < 2**63:
                raise IndexError(f"index {part} is out of range for axis {axis} of size {result.shape[axis]}")
            result = result.select(axis, part)
            continue
        axis += 1
    if result is x:  # x[:] and x[...] are tensors of their own
        result = x.expand(x.shape)
    return result


def _range(part: slice, size: int) -> tuple[int, int, int]:
    """Start, length and step of a slice of a dimension."""
    if part.step is not None and operator.index(part.step) < 1:
        raise ValueError(f"a slice needs a positive step, got {part.step}; flip() reverses a dimension")
    start, stop, step = part.indices(size)
    length = max(0, (stop - start + step - 1) // step)
    return (start if length else 0), length, step
