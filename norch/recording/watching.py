"""What a function looks at besides its arguments, and whether it still is as it was.

Modules, optimizers, tensors and plain values are found through the function's globals, its closure, the objects that
its methods belong to, and containers of them. A change of a module or a parameter ticks `operation.structure`; the
rest is compared before each replay.
"""

from __future__ import annotations

import functools
import os
import sys
import types
from collections import deque
from itertools import chain
from operator import is_
from typing import Any, Iterable, Iterator, Mapping

from .. import operation
from ..autograd.function import Hooks
from ..nn.module import Module
from ..optim.optimizer import Optimizer
from ..tensor import Tensor
from ..types import default

_PLAIN = (int, float, complex, str, bytes, bool, type(None))
_PLAIN_TYPES = frozenset(_PLAIN)
_CONTAINERS = (list, tuple, set, frozenset, deque, dict)
_MOST = 100_000  # objects that are looked at
_REGISTRIES = {"_parameters", "_modules", "_buffers", "_hooks", "_transient_buffers"}
_OF_OPTIMIZERS = {"state", "param_groups", "defaults", "_owned"}  # attributes that are compared in other ways
_OF_OBJECTS = {"__init__", "__new__", "__post_init__", "__del__", "__repr__", "__str__"}  # no part of a computation
_OWN = __name__.partition(".")[0]
_STANDARD = os.path.dirname(os.__file__) + os.sep  # where the standard library is
# Packages whose objects change by themselves and decide nothing that norch computes.
_RESTLESS = {_OWN, "builtins", "threading", "weakref", "ctypes", "logging"}


class Watch:
    """What was found behind a function."""

    def __init__(self, function: Any, arguments: Iterable[Any] = ()) -> None:
        self.modules: list[Module] = []
        self.optimizers: list[Optimizer] = []
        self.tensors: list[Tensor] = []
        self.names: list[tuple[Mapping[Any, Any], Any, Any]] = []  # a dict, a key, the value under it
        self.cells: list[tuple[Any, Any]] = []
        self.enclosed: list[tuple[str, Any]] = []  # the names of cells, for display.py
        self.lists: list[tuple[Any, Any]] = []  # containers of plain values, and copies
        self.objects: list[tuple[Any, list[Any]]] = []  # lists whose elements are compared by identity
        self.sizes: list[tuple[Any, int]] = []  # of containers
        self.leaves: list[Tensor] = []
        self.attributes: list[tuple[Module, dict[str, Any]]] = []  # of modules
        self.renewed: list[tuple[Optimizer, int]] = []
        self.kept: list[list[Any]] = []  # what optimizers remember, which keeps the ids in `states` theirs
        self.states: list[tuple[Optimizer, list[int]]] = []
        self._seen: dict[int, Any] = {}
        self._classes: set[type] = set()
        self._functions: list[tuple[str, set[str]]] = []  # that were found: their names, and the names that they read
        self._users = {_package_of(function)}  # packages that are the user's, also if they are installed
        waiting = [function, *arguments]
        while waiting and len(self._seen) < _MOST:
            value = waiting.pop()
            if type(value) not in _PLAIN_TYPES and id(value) not in self._seen:
                self._seen[id(value)] = value
                waiting += self._behind(value)
        self.is_complete = not waiting
        if self.optimizers:
            self._note_settings(function)
        if self.tensors:
            self.leaves = [x for x in self.tensors if x._leaf is not None or x.is_leaf and x.dtype.is_floating_point]
        if self.modules:
            self.attributes = [(x, vars(x).copy()) for x in self.modules]  # what is in their registries is there, too
        self.version = operation.structure.version
        self.state = self._state()

    def _note_settings(self, function: Any) -> None:
        """Note what optimizers were told and what they remember."""
        settings_are_read = self._may_read("param_groups") and "param_groups" in self._names_read(function)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                if optimizer.fused is None or group.get("differentiable") or settings_are_read:
                    self.names += [(group, key, x) for key, x in group.items()]  # else a program follows new settings
            self.renewed.append((optimizer, optimizer._renewed))
            if optimizer.state:
                self.kept.append(list(_states_of(optimizer)))
                self.states.append((optimizer, list(map(id, self.kept[-1]))))

    def _may_read(self, name: str) -> bool:
        for _, names in self._functions:
            if name in names:
                return True
        return False

    def _names_read(self, function: Any) -> set[str]:
        """The names that a call may read: a function counts if something reads its name, or if it has none."""
        while isinstance(function, functools.partial):
            function = function.func
        read, others = {"<lambda>", "__call__", "forward", getattr(function, "__name__", "")}, self._functions
        while called := [names for name, names in others if name in read]:
            read.update(*called)
            others = [(name, names) for name, names in others if not names <= read]
        return read

    def _behind(self, value: Any) -> Iterable[Any]:
        """What a value leads to; notes what it is."""
        if type(value) is types.FunctionType:
            return self._behind_function(value)
        if isinstance(value, Tensor):
            self.tensors.append(value)
            node = value._edge or value._leaf
            return self._behind_hooks(node.hooks, node.after) if node and (node.hooks or node.after) else ()
        if isinstance(value, Module):
            return self._behind_module(value)
        if isinstance(value, Optimizer):
            return self._behind_optimizer(value)
        return self._behind_other(value)

    def _behind_module(self, module: Module) -> list[Any]:
        self.modules.append(module)
        found = [
            x for key, x in vars(module).items() if type(x) not in _PLAIN_TYPES and key not in _REGISTRIES
        ]  # with what is in the registries
        for hooks in filter(None, {vars(module).get("_hooks"), type(module)._hooks}):
            found += self._behind_hooks(hooks.before, hooks.after, hooks.backward, hooks.before_backward)
        kind = type(module)
        if _root(kind.__module__) != _OWN:
            self._users.add(_package_of(kind))
            found += self._behind_class(kind)
        return found

    def _behind_optimizer(self, optimizer: Optimizer) -> list[Any]:
        self.optimizers.append(optimizer)
        self.sizes.append((optimizer.state, len(optimizer.state)))
        found: list[Any] = optimizer.parameters
        if optimizer._before or optimizer._after:
            found += self._behind_hooks(optimizer._before, optimizer._after)
        kind = type(optimizer)
        if _root(kind.__module__) != _OWN:
            self._users.add(_package_of(kind))
            found += self._entries(vars(optimizer), vars(optimizer).keys() - _OF_OPTIMIZERS)
            found += self._behind_class(kind)
        return found

    def _behind_other(self, value: Any) -> Iterator[Any]:
        if isinstance(value, _PLAIN):  # of a class derived from one
            return
        if isinstance(value, _CONTAINERS) and type(value).__module__ != "builtins":
            yield from self._behind_object(value)  # of a class that may have methods
        if isinstance(value, (list, tuple, set, frozenset, deque)):
            is_plain = all(isinstance(x, _PLAIN) for x in value)
            if isinstance(value, set) or (is_plain and isinstance(value, (list, deque))):
                self.lists.append((value, value.copy()))
            elif isinstance(value, (list, deque)):
                self.objects.append((value, list(value)))
            if not is_plain:
                yield from value
        elif isinstance(value, dict):
            self.sizes.append((value, len(value)))
            yield from self._entries(value, value)
        elif isinstance(value, functools.partial):
            yield from (value.func, value.args, value.keywords)
        elif isinstance(value, types.MethodType):
            yield from (value.__self__, value.__func__)
        elif isinstance(value, (staticmethod, classmethod)):
            yield value.__func__
        elif isinstance(value, property):
            yield value.fget
        elif isinstance(value, type):
            yield from self._behind_class(value)
        elif _package_of(type(value)) == _OWN:
            yield getattr(value, "__wrapped__", None)  # of a compiled function
        elif not isinstance(value, types.ModuleType):
            yield from self._behind_object(value)

    def _behind_object(self, value: Any) -> Iterator[Any]:
        if _package_of(type(value)) in _RESTLESS:
            return
        if hasattr(value, "__dict__"):
            self.sizes.append((vars(value), len(vars(value))))
            yield from self._entries(vars(value), vars(value))
        slots = [name for kind in type(value).__mro__ for name in _slots_of(kind)]
        yield from self._entries(_Attributes(value), slots)
        yield from self._behind_class(type(value))

    def _behind_hooks(self, *several: Hooks | None) -> Iterator[Any]:
        for hooks in several:
            if hooks:
                self.sizes.append((hooks, len(hooks)))
                for hook in self._entries(hooks, hooks):
                    yield getattr(hook, "hook", hook)  # which nn/hooks.py wraps

    def _behind_class(self, kind: type) -> Iterator[Any]:
        for part in kind.__mro__:
            if part in self._classes:
                continue
            self._classes.add(part)
            if self._is_users(part):
                yield from self._entries(vars(part), [name for name, x in vars(part).items() if _may_be_read(name, x)])

    def _behind_function(self, function: types.FunctionType) -> Iterator[Any]:
        if not self._is_users(function):
            return
        if vars(function):
            yield from self._entries(vars(function), vars(function))
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            if _filled(cell):
                self.cells.append((cell, cell.cell_contents))
                self.enclosed.append((name, cell.cell_contents))
                yield cell.cell_contents
        yield function.__defaults__
        yield function.__kwdefaults__
        names = _names_of(function.__code__)
        self._functions.append((function.__name__, names))
        yield from self._entries(function.__globals__, names)
        waiting, found = [function.__globals__], set[int]()
        while waiting:  # modules of Python, and what they have under these names
            values = waiting.pop()
            for name in names:
                module = values.get(name)
                if isinstance(module, types.ModuleType) and id(module) not in found and _root(module.__name__) != _OWN:
                    found.add(id(module))
                    waiting.append(vars(module))
                    yield from self._entries(vars(module), names)

    def _is_users(self, value: Any) -> bool:
        """Whether a function or a class is one whose variables the user may change."""
        package = _package_of(value)
        return package != _OWN and (package in self._users or not _is_installed(package))

    def _entries(self, values: Mapping[Any, Any], keys: Any) -> Iterator[Any]:
        for key in keys:
            value = values.get(key, self)
            if value is not self and not isinstance(value, (types.ModuleType, types.BuiltinFunctionType)):
                self.names.append((values, key, value))
                yield value

    def _state(self) -> list[Any]:
        """What optimizers and tensors are made of."""
        state: list[Any] = [default.dtype]
        for optimizer in self.optimizers:
            state += [len(optimizer.param_groups), bool(optimizer._before), bool(optimizer._after)]
        for x in self.tensors:
            node = x._edge
            state += (x._ptr, id(node), node is not None and (bool(node.hooks), bool(node.after)))
        return state

    def edges(self) -> list[Any]:
        """Where the gradients of the tensors go."""
        return [x._edge for x in self.tensors]

    def _is_made_as_before(self) -> bool:
        return self._state() == self.state and all(_same_values(vars(x), copy) for x, copy in self.attributes)

    def holds(self) -> bool:
        """Whether all is as it was."""
        if operation.structure.version != self.version:
            if not self._is_made_as_before():
                return False
            self.version = operation.structure.version
        for values, key, value in self.names:
            found = values.get(key)
            if found is not value and not _same_plain(found, value):
                return False
        for cell, value in self.cells:
            if cell.cell_contents is not value:
                return False
        for numbers, copy in self.lists:
            if numbers != copy:
                return False
        for objects, copy in self.objects:
            if len(objects) != len(copy) or not all(map(is_, objects, copy)):
                return False
        for optimizer, ids in self.states:
            if list(map(id, _states_of(optimizer))) != ids:
                return False
        for optimizer, number in self.renewed:
            if optimizer._renewed != number:
                return False
        for container, size in self.sizes:
            if len(container) != size:
                return False
        return True


def _same_plain(x: Any, y: Any) -> bool:
    return type(x) is type(y) and isinstance(x, _PLAIN) and x == y


def _same_values(x: dict[Any, Any], y: dict[Any, Any]) -> bool:
    """Whether two dicts hold the same, in the same order."""
    return list(x) == list(y) and all(a is b or _same_plain(a, b) for a, b in zip(x.values(), y.values()))


def _names_of(code: types.CodeType) -> set[str]:
    """The global names that a function, and those inside of it, may read."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names_of(constant)
    return names


def _may_be_read(name: str, value: Any) -> bool:
    """Whether what a class has under a name may be called or looked at by those who have an object."""
    return not name.startswith("__") or (isinstance(value, types.FunctionType) and name not in _OF_OBJECTS)


def _filled(cell: Any) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True


def _states_of(optimizer: Optimizer) -> Iterator[Any]:
    """What an optimizer remembers of all parameters."""
    return chain.from_iterable(map(dict.values, optimizer.state.values()))


class _Attributes(dict[Any, Any]):
    """The attributes of an object without a __dict__, as a mapping."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def get(self, key: Any, default: Any = None) -> Any:
        return getattr(self.value, key, default)


def _slots_of(kind: type) -> tuple[str, ...]:
    slots = vars(kind).get("__slots__", ())
    names = (slots,) if isinstance(slots, str) else tuple(slots)
    return tuple(name for name in names if not name.startswith("__"))


def _root(module: str | None) -> str:
    return (module or "").partition(".")[0]


def _package_of(value: Any) -> str:
    """The outermost package in which a function or a class was defined; of another object that of its class."""
    while isinstance(value, (functools.partial, types.MethodType)):
        value = value.func if isinstance(value, functools.partial) else value.__func__
    return _root(getattr(value, "__module__", None))


@functools.cache
def _is_installed(package: str) -> bool:
    """Whether a package is of the standard library or installed: its functions keep what they look at."""
    path = getattr(sys.modules.get(package), "__file__", None) or ""
    return package in sys.builtin_module_names or "site-packages" in path or path.startswith(_STANDARD)
