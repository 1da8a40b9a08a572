"""Reading and writing `t[...]`. (advanced_indexing.py has the meaning of an index, with its masks and arrays.)

Integers, slices, `...` and None read a view (an integer for each dimension: one of no dimensions), and writing goes
through that view. Masks and arrays read a copy, and writing goes to the places that they name.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from .. import operation
from .._C import SHAPE_ERROR, lib, number, raise_error
from ..autograd.in_place import after_write
from ..types import bool_
from .advanced_indexing import locate, parts_of, values_for
from .places import CONVERTED, is_recorded, put_, read
from .selection import one_value

if TYPE_CHECKING:
    from ..forward_declarations import Tensor


def get(x: Tensor, index: object) -> Tensor:
    """x[index]: a copy by masks or arrays, else a view."""
    if _is_the_article_s(x, index):
        return x
    packed = lib.parts_of_index(index)
    if packed is not None:
        return x._part(packed)
    found, place = locate(x, parts_of(index))
    if place is not None:
        return read(found, place)
    return found.expand(found.shape) if found is x else found  # x[:] and x[...] are tensors of their own


def set(x: Tensor, index: object, value: Any) -> None:
    """x[index] = value: the value is broadcast to the selection and converted to x's dtype."""
    is_tensor = isinstance(value, operation.Tensor)
    is_number = not is_tensor and isinstance(value, (int, float))
    if is_number and isinstance(index, operation.Tensor) and index.dtype is bool_ and index.shape == x.shape:
        if x.dtype.itemsize != 2:  # in which masked_fill_ refuses what becomes infinite here
            x.masked_fill_(index, value)
            return
    parts = parts_of(index)
    packed = lib.parts_of_index(parts)
    if packed is not None and _assigned(x, packed, value, is_number):
        return
    if (packed is not None and packed in _WHOLES) or _is_the_article_s(x, index):
        target, place = x, None
    else:
        target, place = locate(x, parts) if packed is None else (x._part(packed), None)
    if place is None:
        target.copy_(value if is_number else values_for(x, value, target.ndim))
    elif is_number:
        put_(target, place, number(value))
    elif is_tensor and not is_recorded(target, value):
        fit = value if lib.ndim_of(value._ptr) else one_value(target, value, "x[index] = value")
        after_write(target, place.write(target, fit, CONVERTED))
    else:
        put_(target, place, values_for(x, value, place.ndim(target)))


def _assigned(x: Tensor, packed: bytes, value: Any, is_number: bool) -> bool:
    """Write to a part where nothing is recorded. False if that is not so, or if they do not fit as they are."""
    if not is_number and not isinstance(value, operation.Tensor):
        return False
    given = number(value) if is_number else value
    if is_recorded(x, given) or (not is_number and lib.device_of(value._ptr) != lib.device_of(x._ptr)):
        return False
    part = lib.part_tensor(x._ptr, packed, len(packed) // _FOUR.size)
    if not part:
        return False
    if lib.assign_tensor(part, given._ptr) == 0:
        if x._base is not None or x._views is not None:
            after_write(x, 0)
        return True
    if lib.error_kind() != SHAPE_ERROR:
        raise_error()
    return False


_FOUR = struct.Struct("4q")  # a part as part_tensor in csrc/api.h takes it
_WHOLES = (b"", _FOUR.pack(1, 0, 2**63 - 1, 1), _FOUR.pack(3, 0, 0, 0))  # those that make no other view: (), :, ...


def _is_the_article_s(x: Tensor, index: object) -> bool:
    """Whether x[index] is loss[0] of a scalar: in the article scalars have shape [1]."""
    return type(index) is int and index == 0 and x.ndim == 0
