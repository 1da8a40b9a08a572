"""Registry: the parameters, the modules or the buffers of a module by their names."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any
from weakref import ref

from ..operation import structure


class Registry(dict[str, Any]):
    """A dict whose values are attributes of a module too: what is written here is found there, as in PyTorch.

    The values lie in the module's own `__dict__`, so that reading one costs no more than any other attribute.
    """

    __slots__ = ("owner",)
    methods: frozenset[str] = frozenset()  # of Module, which stay what they are: `self.parameters = nn.ParameterList()`

    def __init__(self, owner: ref[Any], values: dict[str, Any] | None = None) -> None:
        self.owner = owner  # a weak reference: a module without other owners is freed at once
        self.update(values or {})

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        structure.version += 1
        own = self.owner().__dict__
        if name in self.methods:
            own.pop(name, None)
        else:
            own[name] = value

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        structure.version += 1
        self.owner().__dict__.pop(name, None)

    def pop(self, name: str, *default: Any) -> Any:
        if name not in self and default:
            return default[0]
        value = self[name]
        del self[name]
        return value

    def popitem(self) -> tuple[str, Any]:
        if not self:
            raise KeyError("popitem: there is none")
        name = next(reversed(self))
        return name, self.pop(name)

    # those of a dict would bypass __setitem__ and __delitem__
    clear = MutableMapping.clear
    setdefault = MutableMapping.setdefault
    update = MutableMapping.update

    def __reduce__(self) -> Any:
        return dict, (dict(self),)  # a copy is a plain dict, which the copy of the module makes its own
