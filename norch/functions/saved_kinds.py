"""Values that a file holds as their parts: a Size, a device, a Counter, and what later modules register.

    saved_in_parts(Size, list, lambda *sizes: Size(sizes))

`save` writes {"Size": [2, 3]} for Size([2, 3]), and `load` calls the function with the parts. A file names kinds of
this table alone, so it runs no other code.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Callable, NamedTuple, Sequence

from ..devices import device
from ..types import Size


class Kind(NamedTuple):
    """How a value is taken apart, and made of its parts again."""

    parts: Callable[[Any], Sequence[Any]]
    made: Callable[..., Any]


SAVED_KINDS: dict[str, Kind] = {}
_BY_CLASS: dict[type, str] = {}


def saved_in_parts(cls: type, parts: Callable[[Any], Sequence[Any]], made: Callable[..., Any]) -> None:
    """Let `save` write values of a class (and of none derived from it) as the parts that `parts` gives."""
    _BY_CLASS[cls] = name = cls.__name__[0].upper() + cls.__name__[1:]  # a tensor's "device" is a field of its own
    SAVED_KINDS[name] = Kind(parts, made)


def kind_of(value: object) -> str | None:
    """The name under which a value is saved in parts, None if it is not."""
    return _BY_CLASS.get(type(value))


def made_of_parts(name: str, parts: list[Any]) -> Any:
    """The value of a kind that has these parts. Raises ValueError for parts that make none."""
    try:
        return SAVED_KINDS[name].made(*parts)
    except Exception as error:  # a file may hold anything
        raise ValueError(f"its structure has a {name} of wrong parts: {error}") from None


def _bytearray(content: bytes) -> bytearray:
    if type(content) is not bytes:  # of a number it would be that many zeros
        raise TypeError("bytes are expected")
    return bytearray(content)


saved_in_parts(bytearray, lambda content: [bytes(content)], _bytearray)
saved_in_parts(Size, list, lambda *sizes: Size(sizes))
saved_in_parts(device, lambda named: [str(named)], device)
saved_in_parts(Counter, lambda counts: [dict(counts)], Counter)
