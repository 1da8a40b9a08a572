"""Modules that hold modules in order."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator

from ..module import Module

__all__ = ["ModuleDict", "ModuleList", "Sequential"]


class ModuleSequence(Module):
    """What Sequential and ModuleList share: children named "0", "1", ..., used as a list is."""

    def _replace(self, named_modules: dict[str, Module]) -> None:
        """Make `named_modules` the only children."""
        for name in list(self._modules):
            delattr(self, name)
        for name, module in named_modules.items():
            self.add_module(name, module)

    def _renumber(self, modules: Iterable[Module]) -> None:
        self._replace({str(i): module for i, module in enumerate(modules)})

    def _name(self, index) -> str:
        """The name of the child at `index`, which may count from the end."""
        position, count = operator.index(index), len(self)
        if not -count <= position < count:
            raise IndexError(f"{self.get_name()}: index {position} is out of range for {count} modules")
        return list(self._modules)[position]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(list(self._modules.values()))

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self._sliced(list(self._modules.items())[index])
        return self._modules[self._name(index)]

    def _sliced(self, items: list[tuple[str, Module]]):
        raise NotImplementedError

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._name(index), _checked(module))

    def __delitem__(self, index) -> None:
        if isinstance(index, slice):
            gone = set(list(self._modules)[index])
        else:
            gone = {self._name(index)}
        self._renumber([module for name, module in self._modules.items() if name not in gone])

    def append(self, module: Module):
        """Add a module at the end; returns self."""
        self.add_module(str(len(self)), _checked(module))
        return self

    def extend(self, modules: Iterable[Module]):
        """Add each of `modules` at the end; returns self."""
        if isinstance(modules, Module) and not isinstance(modules, ModuleSequence):
            raise TypeError(f"extend was given a {type(modules).__name__}, expected an iterable of modules")
        for module in list(modules):
            self.append(module)
        return self

    __iadd__ = extend

    def insert(self, index: int, module: Module):
        """Add a module before position `index`; returns self."""
        modules = list(self)
        modules.insert(index, _checked(module))
        self._renumber(modules)
        return self

    def pop(self, index: int = -1) -> Module:
        """Take the module at `index` out and return it."""
        module = self[index]
        del self[index]
        return module


class Sequential(ModuleSequence):
    """Calls its modules one after the other. Takes modules, or an OrderedDict that names them.

    >>> model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    >>> model(norch.ones(4, 2)).shape
    norch.Size([4, 1])
    """

    def __init__(self, *modules):
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], dict):
            self._replace({name: _checked(module) for name, module in modules[0].items()})
        else:
            self._renumber([_checked(module) for module in modules])

    def _sliced(self, items):
        return type(self)(OrderedDict(items))

    def forward(self, x):
        for module in self._modules.values():
            x = module(x)
        return x


class ModuleList(ModuleSequence):
    """A list of modules whose parameters the module around it finds. It has no forward of its own.

    >>> layers = nn.ModuleList([nn.Linear(2, 3), nn.Linear(3, 1)])
    >>> len(layers), len(list(layers.parameters()))
    (2, 4)
    """

    def __init__(self, modules: Iterable[Module] = ()):
        super().__init__()
        self.extend(() if modules is None else modules)

    def _sliced(self, items):
        return type(self)(module for _, module in items)


class ModuleDict(Module):
    """A dict of modules, in the order given, whose parameters the module around it finds. It has no forward.

    >>> layers = nn.ModuleDict({"in": nn.Linear(2, 3), "out": nn.Linear(3, 1)})
    >>> layers["out"](layers["in"](norch.ones(4, 2))).shape
    norch.Size([4, 1])
    """

    def __init__(self, modules=None):
        super().__init__()
        self.update({} if modules is None else modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, _checked(module))

    def __delitem__(self, key: str) -> None:
        if key not in self._modules:
            raise KeyError(key)
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._modules))

    def __contains__(self, key) -> bool:
        return key in self._modules

    def keys(self):
        """The names."""
        return self._modules.keys()

    def values(self):
        """The modules."""
        return self._modules.values()

    def items(self):
        """Pairs of a name and a module."""
        return self._modules.items()

    def pop(self, key: str) -> Module:
        """Take the module of this name out and return it."""
        module = self[key]
        del self[key]
        return module

    def clear(self) -> None:
        """Take all modules out."""
        for key in self:
            del self[key]

    def update(self, modules) -> None:
        """Add modules from a dict, another ModuleDict or pairs of a name and a module, or replace them."""
        pairs = modules.items() if hasattr(modules, "items") else modules
        if isinstance(pairs, Module) or not isinstance(pairs, Iterable):
            raise TypeError(f"ModuleDict was given a {type(modules).__name__}, expected a dict or pairs")
        for key, module in list(pairs):
            self[key] = module


def _checked(module) -> Module:
    if not isinstance(module, Module):
        raise TypeError(f"given a {type(module).__name__}, expected a Module")
    return module
