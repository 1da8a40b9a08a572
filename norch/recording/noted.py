"""What is noted of all that a function looks at, and whether it still is so.

Before each replay C compares it by identity (csrc/recording/watching.cpp); what is another object is compared here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import is_
from typing import Any

from .. import operation
from .._C import lib
from ..nn.module import Module
from ..tensor import Tensor
from ..types import default

PLAIN = (int, float, complex, str, bytes, bool, type(None))
PLAIN_TYPES = frozenset(PLAIN)
ABSENT = object()  # what is noted in place of a value that is not there
_ENTRIES, _ATTRIBUTES, _DICTS, _LISTS = range(4)  # as C numbers the lists of `noted`
_KINDS = 5
_STRUCTURE = vars(operation.structure)


class Noted:
    """Values as they were, and where they are."""

    def __init__(self) -> None:
        self.modules: list[Module] = []
        self.tensors: list[Tensor] = []
        self.layers: list[tuple[dict[str, Any], dict[str, Any]]] = []  # attributes of norch's own modules, and copies
        self.entries: list[Any] = [_STRUCTURE, "version", _STRUCTURE.get("version", ABSENT)]  # a dict, a key, a value
        self.attributes: list[Any] = []  # an object, a name, a value
        self.dicts: list[Any] = []  # a dict, and a copy
        self.lists: list[Any] = []
        # for C; the last list is a program's
        self.noted: tuple[Any, ...] = self.entries, self.attributes, self.dicts, self.lists, [], ABSENT
        self.reads: list[tuple[Callable[[], Iterable[Any]], list[Any]]] = []  # what C does not compare
        self.state: list[Any] = []  # what modules and tensors are made of

    def note_entries(self, values: dict[str, Any], keys: Iterable[str]) -> list[Any]:
        """Note what a dict has under these keys; returns it."""
        found = []
        for key in keys:
            value = values.get(key, ABSENT)
            self.entries += values, key, value
            if value is not ABSENT:
                found.append(value)
        return found

    def note_dict(self, values: dict[Any, Any]) -> None:
        self.dicts += values, dict(values)

    def note_read(self, read: Callable[[], Iterable[Any]]) -> None:
        self.reads.append((read, list(read())))

    def state_of_all(self) -> list[Any]:
        """What modules and tensors are made of."""
        state: list[Any] = [default.dtype, *map(type, self.modules)]
        for x in self.tensors:
            node = x._edge
            state += (x._ptr, id(node), node is not None and (bool(node.hooks), bool(node.after)))
        return state

    def holds(self) -> bool:
        """Whether all is as it was."""
        last = -1
        while (place := lib.first_change(self.noted)) >= 0:
            if place == last or not self._is_equal(place % _KINDS, place // _KINDS):
                return False
            last = place
        for read, before in self.reads:
            if not _all_same(list(read()), before):
                return False
        return True

    def _is_made_as_before(self) -> bool:
        return self.state_of_all() == self.state and all(_same_items(values, copy) for values, copy in self.layers)

    def _is_equal(self, kind: int, i: int) -> bool:
        """Whether what C found to be another object is equal; then it is noted instead."""
        if kind >= _DICTS:
            noted, place = self.dicts if kind == _DICTS else self.lists, 2 * i + 1
            holder, before = noted[2 * i : 2 * i + 2]
            now = holder.copy() if kind == _LISTS else dict(holder)
            equal = _all_same(now, before) if kind == _LISTS else _same_items(now, before)
        else:
            noted, place = self.attributes if kind == _ATTRIBUTES else self.entries, 3 * i + 2
            holder, name, before = noted[3 * i : 3 * i + 3]
            now = attribute_of(holder, name) if kind == _ATTRIBUTES else dict.get(holder, name, ABSENT)
            equal = self._is_made_as_before() if holder is _STRUCTURE else _same(now, before)
        if equal:
            noted[place] = now
        return equal


def _same(x: Any, y: Any) -> bool:
    """Whether two values are one object, or plain and equal: 0.0 and -0.0, or 1 and True, are not."""
    return x is y or type(x) is type(y) and isinstance(x, PLAIN) and x == y and repr(x) == repr(y)


def _all_same(xs: Any, ys: Any) -> bool:
    return len(xs) == len(ys) and (all(map(is_, xs, ys)) or all(map(_same, xs, ys)))  # the first is quicker


def _same_items(x: dict[Any, Any], y: dict[Any, Any]) -> bool:
    """Whether two dicts hold the same, in the same order."""
    return _all_same([*x], [*y]) and _all_same([*x.values()], [*y.values()])


def attribute_of(value: Any, name: str) -> Any:
    try:
        return getattr(value, name)
    except (AttributeError, ValueError):  # the latter of a cell that is empty
        return ABSENT
