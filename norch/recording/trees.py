"""Values in lists, tuples, dicts and dataclasses as a flat list, and back."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Iterator

from ..nn.parameter import Parameter
from ..tensor import Tensor

LEAF = "*"
DEEP = "**"  # the form of what holds itself, or is nested too deeply
_DEEPEST = 100
LEAVES = {Tensor, Parameter, int, float, str, bool, type(None)}  # no need to look closer


def flatten(value: Any, leaves: list[Any]) -> Any:
    """Append what is in a tree of containers to `leaves`; return its form, which is hashable."""
    if type(value) in LEAVES:  # most often
        leaves.append(value)
        return LEAF
    try:
        return _flatten(value, leaves, 0)
    except RecursionError:
        return DEEP


def _flatten(value: Any, leaves: list[Any], depth: int) -> Any:
    if depth > _DEEPEST:
        raise RecursionError
    kind, depth = type(value), depth + 1
    if kind in LEAVES:
        leaves.append(value)
        return LEAF
    if kind in (list, tuple) and LEAVES.issuperset(map(type, value)):
        leaves += value
        return (kind, (LEAF,) * len(value))
    if kind in (list, tuple) or (isinstance(value, tuple) and hasattr(value, "_fields")):
        return (kind, tuple([_flatten(x, leaves, depth) for x in value]))
    if kind in (dict, OrderedDict):
        return (kind, tuple([(key, _flatten(x, leaves, depth)) for key, x in value.items()]))
    if hasattr(kind, "__dataclass_fields__"):
        return (kind, tuple([(key, _flatten(getattr(value, key), leaves, depth)) for key in _attributes(value)]))
    leaves.append(value)
    return LEAF


def unflatten(form: Any, leaves: Iterator[Any]) -> Any:
    """The tree of that form."""
    if form == LEAF:
        return next(leaves)
    kind, parts = form
    if kind in (dict, OrderedDict):
        return kind((key, unflatten(part, leaves)) for key, part in parts)
    if hasattr(kind, "__dataclass_fields__"):
        made = object.__new__(kind)
        for key, part in parts:
            object.__setattr__(made, key, unflatten(part, leaves))
        return made
    values = [unflatten(part, leaves) for part in parts]
    return values if kind is list else tuple(values) if kind is tuple else kind(*values)


def replaced(value: Any, others: dict[int, Any]) -> Any:
    """The same containers, with other leaves, by the ids of those that are there; tuples are made anew."""
    if not others:
        return value
    kind = type(value)
    if kind in (list, dict, OrderedDict):
        for key in range(len(value)) if kind is list else list(value):
            value[key] = replaced(value[key], others)
        return value
    if kind is tuple or (isinstance(value, tuple) and hasattr(value, "_fields")):
        made = [replaced(x, others) for x in value]
        return tuple(made) if kind is tuple else kind(*made)
    if hasattr(kind, "__dataclass_fields__"):
        for key in _attributes(value):
            object.__setattr__(value, key, replaced(getattr(value, key), others))
        return value
    return others.get(id(value), value)


def containers_in(value: Any) -> set[int]:
    """The ids of the containers in a tree that can be changed."""
    if hasattr(type(value), "__dataclass_fields__"):
        parts = [getattr(value, name) for name in _attributes(value)]
    elif isinstance(value, (dict, list, tuple)):
        parts = [*(value.values() if isinstance(value, dict) else value)]
    else:
        return set()
    own = set() if isinstance(value, tuple) else {id(value)}
    return own.union(*map(containers_in, parts))


def _attributes(value: Any) -> list[str]:
    """The names of a dataclass's fields that have values, and of its other attributes."""
    names = dict.fromkeys((*type(value).__dataclass_fields__, *getattr(value, "__dict__", ())))
    return [name for name in names if hasattr(value, name)]
