"""Changes of what a module is made of, all of them or none."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Iterator, Sequence

from ...operation import structure
from ...tensor import Tensor
from ..module import Module
from ..registry import Registry


@contextmanager
def all_or_nothing(*modules: Module, data: Sequence[Tensor] = ()) -> Iterator[None]:
    """A block that fails, or is interrupted, leaves the modules with the classes, names and hooks that they had.

    And the tensors of `data` with their memory.
    """
    memory = [(x, x.data) for x in data]
    kept = [(module, type(module), dict(vars(module))) for module in modules]
    entries: list[tuple[dict[Any, Any], dict[Any, Any]]]
    entries = [(x, dict(x)) for _, _, had in kept for x in had.values() if isinstance(x, Registry)]
    entries += [(x.before, dict(x.before)) for x in (vars(module).get("_hooks") for module in modules) if x is not None]
    try:
        yield
    except BaseException:
        structure.version += 1
        for module, cls, attributes in kept:
            object.__setattr__(module, "__class__", cls)
            vars(module).clear()
            vars(module).update(attributes)
        for x, values in memory:
            x.data = values
        for known, before in entries:
            dict.clear(known)
            dict.update(known, before)
        raise
