"""What a function looks at besides its arguments, and whether it still is as it was.

Modules, optimizers, tensors and plain values are found through the function's globals, its closure, the objects that
its methods belong to, and containers of them. Before each replay C compares what was noted of them, by identity; what
is another object is compared here. A change of what a module or a tensor is ticks `operation.structure`.
"""

from __future__ import annotations

import functools
import gc
import types
import weakref
from collections import deque
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from operator import attrgetter
from typing import Any

from ..autograd.function import Hooks
from ..functions.creation import ones
from ..nn.module import Module
from ..nn.parameter import Parameter
from ..optim.optimizer import Optimizer
from ..tensor import Tensor
from .noted import ABSENT, PLAIN_TYPES, Noted, attribute_of
from .reading import OWN, imported, is_installed, line_of, names_of, package_of, restless, root_of

_MOST = 100_000  # objects that are looked at
_REGISTRIES = {"_parameters", "_modules", "_buffers", "_hooks", "_transient_buffers"}
_OF_OPTIMIZERS = "state", "param_groups", "defaults", "step", "zero_grad", "_renewed", "_before", "_after"
_OF_TENSORS = frozenset(vars(Parameter(ones(1))))
_OF_OBJECTS = {"__init__", "__new__", "__post_init__", "__del__", "__repr__", "__str__"}  # no part of a computation
_READ_SETTINGS = {"param_groups", "defaults", "state_dict"}
_RESTLESS = {"builtins", "ctypes", "logging"}  # packages whose objects change, and decide nothing that norch computes
_OWN_RESTLESS = {f"{OWN}.recording.function", f"{OWN}.functions.generator"}  # modules: these follow by themselves
_edge_of = attrgetter("_edge")
_REMEDY = "which changes unseen; use it outside, and pass a tensor"


class Watch(Noted):
    """What was found behind a function."""

    def __init__(self, function: Any, arguments: Iterable[Any] = ()) -> None:
        super().__init__()
        self.optimizers: list[Optimizer] = []
        self.leaves: list[Tensor] = []
        self.enclosed: list[tuple[str, Any]] = []  # the names of cells, for display.py
        self.obstacle: tuple[str, tuple[str, int] | None] | None = None  # why it cannot be compared, and the line
        self._restless: list[tuple[Any, str]] = []  # what changes unseen if it is used, and what it is
        self._modules: list[Any] = []  # of Python
        self._own: list[Any] = []  # objects of norch, which count if their names are read
        self._seen: dict[int, Any] = {}
        self._classes: set[type] = set()
        self._functions: list[tuple[Any, set[str]]] = []  # that were found, and the names that they read
        self._users = {package_of(function)}  # packages that are the user's, also if they are installed
        self._walk([function, *arguments])
        if self._modules:
            self._walk(self._among_modules(self._modules, set().union(*[names for _, names in self._functions])))
        if self._own or self._restless or self._may_read(_READ_SETTINGS):
            self._look_at_names(function)
        if states := self._states():
            self.reads.append((self._states, states))
        if self.tensors:
            self.leaves = [x for x in self.tensors if x._leaf is not None or x.is_leaf and x.dtype.is_floating_point]
        self.state = self.state_of_all()

    def _walk(self, waiting: list[Any]) -> None:
        seen = self._seen
        while waiting and len(seen) < _MOST:
            value = waiting.pop()
            if type(value) not in PLAIN_TYPES and id(value) not in seen:
                seen[id(value)] = value
                waiting += self._behind(value)
        if waiting:
            self.obstacle = "it may look at too many objects to compare them", None

    # ---- By name: what counts only if the function, or what it calls, reads its name ------------------------------

    def _may_read(self, wanted: set[str]) -> bool:
        for _, names in self._functions:
            if not wanted.isdisjoint(names):
                return True
        return False

    def _look_at_names(self, function: Any) -> None:
        read = self._names_read(function)
        for value in self._own:
            if self._is_read(value, read):
                self._walk(list(self._behind_object(value)))
        for value, what in self._restless:
            if self._is_read(value, read):
                called = [function.__code__ for function, _ in self._functions if self._is_called(function, read)]
                self.obstacle = self.obstacle or (what, line_of(self._names_for(value), called))
        if not _READ_SETTINGS.isdisjoint(read):  # else a program follows new settings
            for optimizer in self.optimizers:
                for settings in (optimizer.defaults, *optimizer.param_groups):
                    self.note_dict(settings)

    def _names_read(self, function: Any) -> set[str]:
        """The names that a call may read: a function counts if something reads its name, or if it has none."""
        while isinstance(function, functools.partial):
            function = function.func
        read, others = {"<lambda>", "__call__", "forward", getattr(function, "__name__", "")}, self._functions
        while called := [names for found, names in others if self._is_called(found, read)]:
            read.update(*called)
            others = [(found, names) for found, names in others if not names <= read]
        return read

    def _is_called(self, function: Any, read: set[str]) -> bool:
        name = function.__name__
        if name in read or self._is_read(function, read):
            return True
        of_users = name.startswith("__")  # Python calls it, with an object that is read
        return of_users and any(self._is_read(x, read) for x in self._seen.values() if _has(type(x), name, function))

    def _is_read(self, value: Any, read: set[str]) -> bool:
        """Whether a name under which a value was found is among those; or it was found without a name."""
        names = self._names_for(value)
        return not names or not names.isdisjoint(read)

    def _names_for(self, value: Any) -> set[Any]:
        """The names under which a value was found."""
        names = {name for name, x in self.enclosed if x is value}
        for noted in (self.entries, self.attributes):
            names.update(name for name, x in zip(noted[1::3], noted[2::3]) if x is value)
        for values in self.dicts[1::2]:
            names.update(name for name, x in values.items() if x is value)
        return names

    # ---- What a value leads to --------------------------------------------------------------------------------------

    def _behind(self, value: Any) -> Iterable[Any]:
        """What a value leads to; notes what it is."""
        if type(value) is types.FunctionType:
            return self._behind_function(value)
        if isinstance(value, Tensor):
            return self._behind_tensor(value)
        if isinstance(value, Module):
            return self._behind_module(value)
        if isinstance(value, Optimizer):
            return self._behind_optimizer(value)
        return self._behind_other(value)

    def _behind_tensor(self, tensor: Tensor) -> Iterable[Any]:
        self.tensors.append(tensor)
        node, found = tensor._edge or tensor._leaf, list[Any]()
        if node is not None and (node.hooks or node.after):
            found += self._behind_hooks(node.hooks, node.after)
        if not _OF_TENSORS.issuperset(vars(tensor)):
            found += self.note_entries(vars(tensor), vars(tensor).keys() - _OF_TENSORS)
        return found

    def _behind_module(self, module: Module) -> list[Any]:
        self.modules.append(module)
        values, kind = vars(module), type(module)
        found = [x for key, x in values.items() if type(x) not in PLAIN_TYPES and key not in _REGISTRIES]
        for hooks in filter(None, {values.get("_hooks"), kind._hooks}):  # its own, and those of all modules
            found += self._behind_hooks(hooks.before, hooks.after, hooks.backward, hooks.before_backward)
        if root_of(kind.__module__) == OWN:
            self.layers.append((values, values.copy()))  # with what is in the registries
        else:
            self.note_dict(values)
            self._users.add(package_of(kind))
            found += self._behind_class(kind)
        return found

    def _behind_optimizer(self, optimizer: Optimizer) -> list[Any]:
        self.optimizers.append(optimizer)
        found: list[Any] = []
        kind, values = type(optimizer), vars(optimizer)
        self.lists += optimizer.param_groups, optimizer.param_groups.copy()
        if not optimizer.state:
            self.note_dict(optimizer.state)
        for group in optimizer.param_groups:
            parameters = group["params"]
            self.entries += group, "params", parameters
            self.lists += parameters, parameters.copy()
            found += parameters
            if optimizer.fused is None or group.get("differentiable"):
                self.note_dict(group)  # else a program follows new settings
        if optimizer._before is not None or optimizer._after is not None:
            found += self._behind_hooks(optimizer._before, optimizer._after)
        if root_of(kind.__module__) == OWN:
            for key in _OF_OPTIMIZERS:
                self.entries += values, key, values.get(key, ABSENT)
        else:
            self.note_dict(values)
            self._users.add(package_of(kind))
            found += [x for key, x in values.items() if key not in _OF_OPTIMIZERS]
            found += self._behind_class(kind)
        return found

    def _behind_other(self, value: Any) -> Iterator[Any]:
        if isinstance(value, types.ModuleType):
            self._modules.append(value)
        elif isinstance(value, (list, tuple, set, frozenset, deque, dict)):
            yield from self._behind_container(value)
        elif isinstance(value, functools.partial):
            yield from (value.func, value.args, value.keywords)
        elif isinstance(value, (types.MethodType, types.BuiltinFunctionType)):
            what = restless(value.__self__) or ("the clock" if value.__module__ == "time" else None)
            if what:
                self._restless.append((value, f"it looks at {what}, {_REMEDY}"))
            else:
                yield from (value.__self__, getattr(value, "__func__", None))
        elif isinstance(value, (staticmethod, classmethod)):
            yield value.__func__
        elif isinstance(value, property):
            yield value.fget
        elif isinstance(value, type):
            yield from self._behind_class(value)
        elif isinstance(value, weakref.ref):
            self.note_read(lambda: (value(),))
            yield value()
        elif isinstance(value, types.MappingProxyType):
            yield from gc.get_referents(value)
        elif isinstance(value, ContextVar):
            self.note_read(lambda: (value.get(ABSENT),))
            yield value.get(ABSENT)
        elif package_of(type(value)) == OWN:
            if type(value).__module__ not in _OWN_RESTLESS:
                self._own.append(value)
            yield getattr(value, "__wrapped__", None)  # of a compiled function
        elif what := restless(value):
            self._restless.append((value, f"it looks at {what}, {_REMEDY}"))
        else:
            yield from self._behind_object(value)

    def _behind_container(self, value: Any) -> Iterator[Any]:
        if type(value).__module__ != "builtins":
            yield from self._behind_object(value)  # of a class that may have methods
        if isinstance(value, dict):
            if type(value).__iter__ is dict.__iter__:
                self.note_dict(value)
            else:  # an OrderedDict has an order that C does not see
                self.note_read(lambda: (*value, *value.values()))
            yield from value.values()
            return
        if isinstance(value, list):
            self.lists += value, list.copy(value)
        elif isinstance(value, (set, deque)):
            self.note_read(lambda: value)
        yield from value

    def _behind_object(self, value: Any) -> Iterator[Any]:
        if package_of(type(value)) in _RESTLESS:
            return
        self.attributes += value, "__class__", type(value)
        values = getattr(value, "__dict__", None)
        if isinstance(values, dict):
            self.attributes += value, "__dict__", values
            self.note_dict(values)
            yield from values.values()
        for kind in type(value).__mro__:
            for name, x in vars(kind).items() if "__slots__" in vars(kind) else ():
                if isinstance(x, types.MemberDescriptorType):
                    found = attribute_of(value, name)
                    self.attributes += value, name, found
                    yield found
        yield from self._behind_class(type(value))

    def _behind_hooks(self, *several: Hooks | None) -> Iterator[Any]:
        for hooks in several:
            if hooks is not None:
                self.note_dict(hooks)
                for hook in hooks.values():
                    yield getattr(hook, "hook", hook)  # which nn/hooks.py wraps

    def _behind_class(self, kind: type) -> Iterator[Any]:
        for part in (*kind.__mro__, *type.mro(type(kind))):
            if part in self._classes:
                continue
            self._classes.add(part)
            if self._is_users(part):
                for values in gc.get_referents(vars(part)):  # the dict behind the proxy
                    self.note_dict(values)
                    yield from [x for name, x in values.items() if _may_be_read(name, x)]

    def _behind_function(self, function: types.FunctionType) -> list[Any]:
        if not self._is_users(function):
            return []
        code = function.__code__
        self.attributes += function, "__code__", code
        found: list[Any] = []
        if code.co_argcount:
            self.attributes += function, "__defaults__", function.__defaults__
            found.append(function.__defaults__)
        if code.co_kwonlyargcount:
            self.attributes += function, "__kwdefaults__", function.__kwdefaults__
            found.append(function.__kwdefaults__)
        if vars(function):
            self.note_dict(vars(function))
            found += vars(function).values()
        for name, cell in zip(code.co_freevars, function.__closure__ or ()):
            value = attribute_of(cell, "cell_contents")
            self.attributes += cell, "cell_contents", value
            self.enclosed.append((name, value))
            found.append(value)
        names = names_of(code)
        self._functions.append((function, names.union(code.co_freevars)))
        values = [*self.note_entries(function.__globals__, names), *imported(function, names)]
        return found + (self._among_modules(values, names) if values else [])

    def _among_modules(self, values: list[Any], names: set[str]) -> list[Any]:
        """The values, with what modules of Python among them have under these names, and modules in them."""
        found: list[Any] = []
        seen = set[int]()
        while values:
            value = values.pop()
            if not isinstance(value, types.ModuleType):
                found.append(value)
            elif id(value) not in seen:
                seen.add(id(value))
                root, has = root_of(value.__name__), vars(value)
                behind = self.note_entries(has, names & has.keys() if is_installed(root) else names)
                values += behind if root != OWN else [x for x in behind if isinstance(x, types.ModuleType)]
        return found

    def _is_users(self, value: Any) -> bool:
        """Whether a function or a class is one whose variables the user may change."""
        package = package_of(value)
        return package in self._users and package != OWN or not is_installed(package)

    def _states(self) -> list[Any]:
        """What optimizers remember of all parameters."""
        return [x for optimizer in self.optimizers for state in optimizer.state.values() for x in state.values()]

    def edges(self) -> list[Any]:
        """Where the gradients of the tensors go."""
        return list(map(_edge_of, self.tensors))


def _has(kind: type, name: str, function: Any) -> bool:
    return getattr(kind, name, None) is function


def _may_be_read(name: str, value: Any) -> bool:
    """Whether what a class has under a name may be called or looked at by those who have an object."""
    return not name.startswith("__") or (isinstance(value, types.FunctionType) and name not in _OF_OBJECTS)
