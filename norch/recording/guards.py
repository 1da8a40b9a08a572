"""Guards: places that a function may look into, and which objects were there when it was recorded.

Before each replay C compares them by identity (csrc/recording/watching.cpp); an object that is another one is compared
here, and may be equal. A change of what a module or a tensor is made of ticks `operation.structure`, one guard for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter, is_
from typing import Any

from .. import operation
from .._C import lib
from ..nn.module import Module
from ..tensor import Tensor
from ..types import default

PLAIN = (int, float, complex, str, bytes, bool, type(None))
PLAIN_TYPES = frozenset(PLAIN)
ABSENT = object()  # what a guard holds in place of a value that is not there
_ITEMS, _ATTRIBUTES, _DICTS, _LISTS = range(4)  # as C numbers the lists of `guards`
_KINDS = 5
_STRUCTURE = vars(operation.structure)
_edge_of, address_of = attrgetter("_edge"), attrgetter("_ptr")


class Guards:
    """Places, and what was there."""

    def __init__(self) -> None:
        self.modules: list[Module] = []
        self.tensors: list[Tensor] = []
        self.layers: list[tuple[dict[str, Any], dict[str, Any]]] = []  # attributes of norch's own modules, and copies
        self.items: list[Any] = [_STRUCTURE, "version", _STRUCTURE.get("version", ABSENT)]  # a dict, a key, a value
        self.attributes: list[Any] = []  # an object, a name, a value
        self.dicts: list[Any] = []  # a dict, and a copy
        self.lists: list[Any] = []
        # for C; the last list is a program's
        self.guards: tuple[Any, ...] = self.items, self.attributes, self.dicts, self.lists, [], ABSENT
        self.reads: list[tuple[Callable[[], Iterable[Any]], list[Any]]] = []  # what C does not compare
        self.state: list[Any] = []  # what modules and tensors are made of

    # Each guards a place, and returns what is there.

    def guard_items(self, values: dict[str, Any], keys: Iterable[str]) -> list[tuple[Any, Any]]:
        """What a dict has under these keys, with the keys."""
        found, items = [], self.items
        for key in keys:
            value = values.get(key, ABSENT)
            items += values, key, value
            if value is not ABSENT:
                found.append((key, value))
        return found

    def guard_attribute(self, value: Any, name: str) -> Any:
        found = attribute_of(value, name)
        self.attributes += value, name, found
        return found

    def guard_dict(self, values: dict[Any, Any]) -> None:
        self.dicts += values, dict(values)

    def guard_list(self, values: list[Any]) -> None:
        self.lists += values, list.copy(values)

    def guard_read(self, read: Callable[[], Iterable[Any]]) -> list[Any]:
        found = list(read())
        self.reads.append((read, found))
        return found

    def state_of_all(self) -> list[Any]:
        """What modules and tensors are made of."""
        nodes = list(map(_edge_of, self.tensors))
        hooked = [(id(x), bool(x.hooks), bool(x.after)) for x in nodes if x is not None and (x.hooks or x.after)]
        return [default.dtype, *map(type, self.modules), *map(address_of, self.tensors), *map(id, nodes), *hooked]

    def hold(self) -> bool:
        """Whether all is as it was."""
        last = -1
        while (place := lib.first_change(self.guards)) >= 0:
            if place == last or not self._is_equal(place % _KINDS, place // _KINDS):
                return False
            last = place
        return not self.reads or all(all_same(list(read()), before) for read, before in self.reads)

    def is_made_as_before(self) -> bool:
        return self.state_of_all() == self.state and all(_same_items(values, copy) for values, copy in self.layers)

    def _is_equal(self, kind: int, i: int) -> bool:
        """Whether what C found to be another object is equal; then it is guarded instead."""
        if kind >= _DICTS:
            guards, place = self.dicts if kind == _DICTS else self.lists, 2 * i + 1
            holder, before = guards[2 * i : 2 * i + 2]
            now = holder.copy() if kind == _LISTS else dict(holder)
            equal = all_same(now, before) if kind == _LISTS else _same_items(now, before)
        else:
            guards, place = self.attributes if kind == _ATTRIBUTES else self.items, 3 * i + 2
            holder, name, before = guards[3 * i : 3 * i + 3]
            now = attribute_of(holder, name) if kind == _ATTRIBUTES else dict.get(holder, name, ABSENT)
            equal = self.is_made_as_before() if holder is _STRUCTURE else same(now, before)
        if equal:
            guards[place] = now
        return equal


def same(x: Any, y: Any) -> bool:
    """Whether two values are one object, or plain and equal: 0.0 and -0.0, or 1 and True, are not."""
    return x is y or type(x) is type(y) and isinstance(x, PLAIN) and x == y and repr(x) == repr(y)


def all_same(xs: Any, ys: Any) -> bool:
    return len(xs) == len(ys) and (all(map(is_, xs, ys)) or all(map(same, xs, ys)))  # the first is quicker


def _same_items(x: dict[Any, Any], y: dict[Any, Any]) -> bool:
    """Whether two dicts hold the same, in the same order."""
    return all_same([*x], [*y]) and all_same([*x.values()], [*y.values()])


def attribute_of(value: Any, name: str) -> Any:
    try:
        return getattr(value, name)
    except (AttributeError, ValueError):  # the latter of a cell that is empty
        return ABSENT
