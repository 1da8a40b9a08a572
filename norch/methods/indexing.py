"""Reading and writing `t[...]`. (advanced_indexing.py has the meaning of an index, with its masks and arrays.)

Integers, slices, `...` and None read a view (an integer for each dimension: one of no dimensions), and writing goes
through that view. Masks and arrays read a copy, and writing goes to the places that they name.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from .. import operation
from .._C import lib
from ..types import bool_
from .advanced_indexing import locate, parts_of, values_for

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
        return found._read(place)
    return found.expand(found.shape) if found is x else found  # x[:] and x[...] are tensors of their own


def set(x: Tensor, index: object, value: Any) -> None:
    """x[index] = value: the value is broadcast to the selection and converted to x's dtype."""
    parts = parts_of(index)
    is_number = isinstance(value, (int, float))
    if is_number and len(parts) == 1 and isinstance(parts[0], operation.Tensor):
        if parts[0].dtype is bool_ and parts[0].shape == x.shape:
            x.masked_fill_(parts[0], value)
            return
    packed = lib.parts_of_index(parts)
    if packed in _WHOLES or _is_the_article_s(x, index):
        target, place = x, None
    else:
        target, place = locate(x, parts) if packed is None else (x._part(packed), None)
    if place is not None:
        target._put_(place, values_for(x, value, place.ndim(target)))
    else:
        target.copy_(value if is_number else values_for(x, value, target.ndim))


_FOUR = struct.Struct("4q")  # a part as part_tensor in csrc/api.h takes it
_WHOLES = (b"", _FOUR.pack(1, 0, 2**63 - 1, 1), _FOUR.pack(3, 0, 0, 0))  # those that make no other view: (), :, ...


def _is_the_article_s(x: Tensor, index: object) -> bool:
    """Whether x[index] is loss[0] of a scalar: in the article scalars have shape [1]."""
    return type(index) is int and index == 0 and x.ndim == 0
