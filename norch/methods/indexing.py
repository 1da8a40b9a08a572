"""Reading and writing `t[...]`. (advanced_indexing.py has the meaning of an index, with its masks and arrays.)

Integers, slices, `...` and None read a view (an integer for each dimension: one of no dimensions), and writing goes
through that view. Masks and arrays read a copy, and writing goes to the places that they name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import operation
from ..types import bool_
from .advanced_indexing import ALL, FIRST, locate, packed_parts, parts_of, values_for

if TYPE_CHECKING:
    from ..forward_declarations import Tensor


def get(x: Tensor, index: object) -> Tensor:
    """x[index]: a copy by masks or arrays, else a view."""
    parts = index if type(index) is tuple else parts_of(index)
    packed = packed_parts(parts)
    if packed is not None:
        return x if _is_the_article_s(x, packed) else x._part(packed)
    found, place = locate(x, parts)
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
    packed = packed_parts(parts)
    if packed is not None and (_is_the_article_s(x, packed) or parts in _WHOLES):
        target, place = x, None
    else:
        target, place = locate(x, parts) if packed is None else (x._part(packed), None)
    if place is not None:
        target._put_(place, values_for(x, value, place.ndim(target)))
    else:
        target.copy_(value if is_number else values_for(x, value, target._struct.ndim))


_WHOLES = ((), (ALL,), (Ellipsis,))  # parts that make no other view of x


def _is_the_article_s(x: Tensor, packed: bytes) -> bool:
    """Whether x[parts] is loss[0] of a scalar: in the article scalars have shape [1]."""
    return packed == FIRST and x._struct.ndim == 0
