"""Reading and writing `t[...]`. (advanced_indexing.py has the meaning of an index, with its masks and arrays.)

An integer for every dimension reads a Python number; other integers, slices, `...` and None read a view, and writing
goes through that view. Masks and arrays read a copy, and writing goes to the places that they name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from .. import operation
from .._C import int64_array, lib
from ..types import Scalar, bool_
from .advanced_indexing import locate, values_for
from .views import selected

if TYPE_CHECKING:
    from ..forward_declarations import Tensor


def get(x: Tensor, index: object) -> Any:
    """x[index]: a Python number by an integer for every dimension, a copy by masks or arrays, else a view."""
    parts = index if isinstance(index, tuple) else (index,)
    if all(type(part) is int for part in parts):
        if len(parts) == x._struct.ndim:
            return _element(x, parts)
        if len(parts) == 1:
            return selected(x, 0, parts[0], 0)
    view, place = locate(x, parts)
    if place is not None:
        return view._read(place)
    if view.ndim == 0 and x.ndim > 0 and not any(part is Ellipsis for part in parts):
        return view.item()
    return view.expand(view.shape) if view is x else view  # x[:] and x[...] are tensors of their own


def set(x: Tensor, index: object, value: Any) -> None:
    """x[index] = value: the value is broadcast to the selection and converted to x's dtype."""
    parts = index if isinstance(index, tuple) else (index,)
    is_number = isinstance(value, (int, float))
    if is_number and len(parts) == 1 and isinstance(parts[0], operation.Tensor):
        if parts[0].dtype is bool_ and parts[0].shape == x.shape:
            x.masked_fill_(parts[0], value)
            return
    view, place = locate(x, parts)
    if place is not None:
        view._put_(place, values_for(x, value, place.ndim(view)))
    else:
        view.copy_(value if is_number else values_for(x, value, view.ndim))


def _element(x: Tensor, indices: Sequence[int]) -> Scalar:
    if not x.dtype.is_floating_point or x._struct.device:  # a double cannot hold every int64; a GPU reports errors once
        return locate(x, tuple(indices))[0].item()
    try:
        value = lib.get_item(x._ptr, int64_array(indices))
    except OverflowError:
        raise IndexError(f"index {indices} is out of range for shape {list(x.shape)}") from None
    if value != value:
        return locate(x, tuple(indices))[0].item()  # NaN, or an error, which this raises
    return value
