"""Reading and writing `t[...]`: here by integers, slices, `...` and None; advanced_indexing.py has masks and arrays.

An integer for every dimension reads a Python number; fewer read a view, and writing goes through that view.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Sequence, Union

from .._C import int64_array, lib
from ..types import Scalar, bool_
from . import advanced_indexing
from .views import selected, sliced

if TYPE_CHECKING:
    from ..tensor import Tensor
    from .advanced_indexing import Part

    Basic = Union[None, slice, int]


def get(x: Tensor, index: object) -> Any:
    """x[index]: a Python number by an integer for every dimension, a copy by masks or arrays, else a view."""
    parts = index if isinstance(index, tuple) else (index,)
    if all(type(part) is int for part in parts):
        if len(parts) == x._struct.ndim:
            return _element(x, parts)
        if len(parts) == 1:
            return selected(x, 0, parts[0], 0)
    parsed = _parse(x, parts)
    if parsed is None:
        return advanced_indexing.get(x, parts)
    result = _view(x, parsed)
    complete = result.ndim == 0 and x.ndim > 0 and not any(part is Ellipsis for part in parts)
    return result.item() if complete else result


def set(x: Tensor, index: object, value: object) -> None:
    """x[index] = value: the value is broadcast to the view and converted to its dtype."""
    parts = index if isinstance(index, tuple) else (index,)
    parsed = _parse(x, parts)
    if parsed is None:
        advanced_indexing.set(x, parts, value)
        return
    target = _view(x, parsed)
    if not isinstance(value, (int, float)):
        value = advanced_indexing.values_for(x, value, target.ndim)
    target.copy_(value)


def _element(x: Tensor, indices: Sequence[int]) -> Scalar:
    if not x.dtype.is_floating_point or x._struct.device:
        return _view(x, list(indices)).item()  # a double cannot hold every int64; a GPU reports an error once
    try:
        value = lib.get_item(x._ptr, int64_array(indices))
    except OverflowError:
        raise IndexError(f"index {indices} is out of range for shape {list(x.shape)}") from None
    if value != value:
        return _view(x, list(indices)).item()  # NaN, or an error, which this raises
    return value


def _parse(x: Tensor, parts: tuple[Any, ...]) -> list[Basic] | None:
    """The index with `...` written out as slices; None if there is more than integers, slices, `...` and None."""
    parsed: list[Part] = []
    for part in parts:
        if type(part) is int or part is None or part is Ellipsis or isinstance(part, slice):
            parsed.append(part)
        elif isinstance(part, (bool, list)) or getattr(part, "shape", None) or getattr(part, "dtype", None) is bool_:
            return None
        else:
            try:
                parsed.append(operator.index(part))
            except TypeError:
                return None
    return advanced_indexing.written_out(x, parsed)


def _view(x: Tensor, parsed: Sequence[Basic]) -> Tensor:
    at, axis, result = 0, 0, x  # at: of the result's dimensions, axis: of x's
    for part in parsed:
        if part is None:
            result = result.unsqueeze(at)
        elif isinstance(part, slice):
            result, axis = sliced(result, at, part), axis + 1
        else:
            result, axis = selected(result, at, part, axis), axis + 1
            continue
        at += 1
    if result is x:  # x[:] and x[...] are tensors of their own
        result = x.expand(x.shape)
    return result
