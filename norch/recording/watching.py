"""What a function looks at besides its arguments: the guards under which what was recorded of it holds.

A replay is right while each place that the function may look into holds the same objects as when it was recorded. So
this walks from the function to all that it may reach (the variables that its code names, closures, attributes,
containers, classes, functions that it may call) and guards each place on its way (guards.py).

Whatever is found has a way to it: a name, of a variable or an attribute, or the object that holds it. Three kinds count
only where called code reads a name on their ways: norch's own objects, such as schedulers, which change themselves;
the settings of optimizers, which a program follows; and what changes unseen, for which a function stays eager.
"""

from __future__ import annotations

import functools
import gc
import types
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, MappingView
from contextvars import ContextVar
from typing import Any, Union

from ..autograd.hooks import Hooks
from ..functions.creation import ones
from ..nn.module import Module
from ..nn.parameter import Parameter
from ..optim.optimizer import Optimizer
from ..tensor import Tensor
from .guards import ABSENT, PLAIN_TYPES, Guards, address_of
from .reading import OWN, is_installed, line_of, modules_named, names_in, outside, package_of, restless, root_of

Way = Union[str, int, None]  # to an object: a name, the id of the object that holds it, or None: the call itself
Found = tuple[Way, Any]

_MOST = 100_000  # objects that are looked at
_REGISTRIES = {"_parameters", "_modules", "_buffers", "_hooks", "_non_persistent_buffers_set"}
_OF_OPTIMIZERS = "state", "param_groups", "defaults", "step", "zero_grad", "_renewed", "_before", "_after"
OF_TENSORS = frozenset(vars(Parameter(ones(1)))) | {"_untracked"}  # (a view that was made under no_grad)
_OF_OBJECTS = {"__init__", "__new__", "__post_init__", "__del__", "__repr__", "__str__"}  # no part of a computation
_READ_SETTINGS = {"param_groups", "defaults", "state_dict"}
_CALLED = {None, "forward", "backward"}  # the names that the call itself and norch read
_QUIET = {"builtins", "ctypes", "logging"}  # packages whose objects change, and decide nothing that norch computes
_OWN_QUIET = {f"{OWN}.recording.function", f"{OWN}.functions.generator"}  # modules: these follow by themselves
_REMEDY = "which changes unseen; use it outside, and pass a tensor"


class Watch(Guards):
    """What was found behind a function."""

    def __init__(self, function: Any, arguments: Iterable[Any] = ()) -> None:
        super().__init__()
        self.optimizers: list[Optimizer] = []
        self.obstacle: tuple[str, tuple[str, int] | None] | None = None  # why it cannot be compared, and the line
        self._ways: dict[int, list[Any]] = {}  # by the id of each object that was found: it, and its ways
        self._functions: list[tuple[types.FunctionType, frozenset[str]]] = []  # and the names that they read
        self._modules: list[types.ModuleType] = []  # that are no variables of functions
        self._own: list[Any] = []  # objects of norch, which count if they are read
        self._restless: list[tuple[Any, str]] = []  # what changes unseen if it is read, and what it is
        self._users = {package_of(function)}  # packages that are the user's, also if they are installed
        self._walk([(None, function), *[(None, x) for x in arguments]])
        if self._modules:
            names = frozenset(name for _, names in self._functions for name in names)
            self._walk(self._among_modules([(id(x), x) for x in self._modules], names))
        if self._own or self._restless or self._may_read_settings():
            self._look_at_what_is_read()
        if states := self._states():
            self.reads.append((self._states, states))
        self.leaves = [x for x in self.tensors if x._leaf is not None or x.is_leaf and x.dtype.is_floating_point]
        self.state = self.state_of_all()

    def _walk(self, found: list[Found]) -> None:
        ways = self._ways
        for way, value in found:  # which grows meanwhile
            if type(value) in PLAIN_TYPES:
                continue
            known = ways.get(id(value))
            if known is not None:
                known.append(way)
            elif len(ways) < _MOST:
                ways[id(value)] = [value, way]
                found += self._behind(value)
            else:
                self.obstacle = "it may look at too many objects to compare them", None
                return

    # ---- By name ----------------------------------------------------------------------------------------------------

    def _may_read_settings(self) -> bool:
        return bool(self.optimizers) and not all(_READ_SETTINGS.isdisjoint(names) for _, names in self._functions)

    def _look_at_what_is_read(self) -> None:
        read: set[Way] = {*_CALLED}  # by functions that may be called: those that are read
        called: list[types.CodeType] = []
        others = self._functions
        while found := [(function, names) for function, names in others if self._is_read(function, read)]:
            called += [function.__code__ for function, _ in found]
            read.update(*[names for _, names in found])
            others = [x for x in others if x not in found]
        for value in self._own:
            if self._is_read(value, read):
                self._walk(list(self._behind_object(value)))
        for value, what in self._restless:
            if self.obstacle is None and self._is_read(value, read):
                self.obstacle = f"it looks at {what}, {_REMEDY}", line_of(self.names_for(value), called)
        if not _READ_SETTINGS.isdisjoint(read):  # else a program follows new settings
            for optimizer in self.optimizers:
                for settings in (optimizer.defaults, *optimizer.param_groups):
                    self.guard_dict(settings)

    def knows(self, key: int) -> bool:
        """Whether the object of this id was found."""
        return key in self._ways

    def _is_read(self, value: Any, read: set[Way]) -> bool:
        return not self.names_for(value).isdisjoint(read)

    def names_for(self, value: Any) -> set[Any]:
        """The names on all ways to a value; for what is in a container those of the container."""
        names: set[Way] = set()
        seen: set[int] = set()
        waiting = [id(value)]
        while waiting:
            holder = waiting.pop()
            if holder in seen:
                continue
            seen.add(holder)
            for way in self._ways[holder][1:]:
                if isinstance(way, int):
                    waiting.append(way)
                else:
                    names.add(way)
        return names

    # ---- What a value leads to --------------------------------------------------------------------------------------

    def _behind(self, value: Any) -> Iterable[Found]:
        """What a value leads to; guards it."""
        if type(value) is types.FunctionType:
            return self._behind_function(value)
        if isinstance(value, Tensor):
            return self._behind_tensor(value)
        if isinstance(value, Module):
            return self._behind_module(value)
        if isinstance(value, Optimizer):
            return self._behind_optimizer(value)
        return self._behind_other(value)

    def _behind_tensor(self, tensor: Tensor) -> list[Found]:
        self.tensors.append(tensor)
        if type(tensor) is Tensor:  # a parameter ticks `structure`
            self.guard_attribute(tensor, "_edge")
        found: list[Found] = []
        node = tensor._edge or tensor._leaf
        if node is not None and (node.hooks or node.after):
            found += self._behind_hooks(node.hooks, node.after)
        if not OF_TENSORS.issuperset(vars(tensor)):
            found += self.guard_items(vars(tensor), vars(tensor).keys() - OF_TENSORS)
        return found

    def _behind_module(self, module: Module) -> list[Found]:
        self.modules.append(module)
        values, kind = vars(module), type(module)
        found: list[Found] = [x for x in values.items() if x[0] not in _REGISTRIES]
        for hooks in (values.get("_hooks"), kind._hooks):  # its own, and those of all modules
            if hooks is not None:
                found += self._behind_hooks(hooks.before, hooks.after, hooks.backward, hooks.before_backward)
        if root_of(kind.__module__) == OWN:
            self.layers.append((values, values.copy()))  # with what is in the registries
        else:
            self.guard_dict(values)
            found += self._behind_users(module)
        return found

    def _behind_optimizer(self, optimizer: Optimizer) -> list[Found]:
        self.optimizers.append(optimizer)
        found: list[Found] = []
        values = vars(optimizer)
        self.guard_list(optimizer.param_groups)
        if not optimizer.state:
            self.guard_dict(optimizer.state)
        for group in optimizer.param_groups:
            self.items += group, "params", group["params"]
            self.guard_list(group["params"])
            found += [("params", x) for x in group["params"]]
            if optimizer.fused is None or group.get("differentiable"):
                self.guard_dict(group)  # else a program follows new settings
        found += self._behind_hooks(optimizer._before, optimizer._after)
        if root_of(type(optimizer).__module__) == OWN:
            self.guard_items(values, _OF_OPTIMIZERS)
        else:
            self.guard_dict(values)
            found += [x for x in values.items() if x[0] not in _OF_OPTIMIZERS]
            found += self._behind_users(optimizer)
        return found

    def _behind_users(self, value: Any) -> list[Found]:
        """The class of a module or an optimizer that is the user's, also if it is installed."""
        self._users.add(package_of(type(value)))
        return [(id(value), type(value))]

    def _behind_other(self, value: Any) -> Iterator[Found]:
        inside = id(value)  # the way to what has no name of its own
        if isinstance(value, types.ModuleType):
            self._modules.append(value)
        elif isinstance(value, (list, tuple, set, frozenset, deque, dict)):
            yield from self._behind_container(value)
        elif isinstance(value, functools.partial):
            yield from ((inside, x) for x in (value.func, value.args, value.keywords))
        elif isinstance(value, (types.MethodType, types.BuiltinFunctionType)):
            if what := restless(value.__self__) or outside(value):
                self._restless.append((value, what))
            else:
                yield from ((inside, x) for x in (value.__self__, getattr(value, "__func__", None)))
        elif isinstance(value, (staticmethod, classmethod)):
            yield inside, value.__func__
        elif isinstance(value, property):
            yield inside, value.fget
        elif isinstance(value, type):
            yield from self._behind_class(value)
        elif isinstance(value, weakref.ref):
            yield inside, self.guard_read(lambda: (value(),))[0]
        elif isinstance(value, (types.MappingProxyType, MappingView)):
            yield from ((inside, x) for x in gc.get_referents(value))
        elif isinstance(value, ContextVar):
            yield inside, self.guard_read(lambda: (value.get(ABSENT),))[0]
        elif package_of(type(value)) == OWN:
            if type(value).__module__ not in _OWN_QUIET:
                self._own.append(value)
            yield inside, getattr(value, "__wrapped__", None)  # of a compiled function
        elif what := restless(value):
            self._restless.append((value, what))
        else:
            yield from self._behind_object(value)

    def _behind_container(self, value: Any) -> Iterator[Found]:
        if type(value).__module__ != "builtins":
            yield from self._behind_object(value)  # of a class that may have methods
        if isinstance(value, dict) and type(value).__iter__ is dict.__iter__:
            self.guard_dict(value)
        elif isinstance(value, dict):  # an OrderedDict has an order that C does not see
            self.guard_read(lambda: (*value, *value.values()))
        elif isinstance(value, list):
            self.guard_list(value)
        elif isinstance(value, (set, deque)):
            self.guard_read(lambda: value)
        yield from ((id(value), x) for x in (value.values() if isinstance(value, dict) else value))

    def _behind_object(self, value: Any) -> Iterator[Found]:
        if package_of(type(value)) in _QUIET:
            return
        self.guard_attribute(value, "__class__")
        values = getattr(value, "__dict__", None)
        if isinstance(values, dict):
            self.attributes += value, "__dict__", values
            self.guard_dict(values)
            if self._has_hidden_readers(type(value)):
                yield from ((id(value), x) for x in values.values())
            yield from values.items()
        for kind in type(value).__mro__:
            for name, x in vars(kind).items() if "__slots__" in vars(kind) else ():
                if isinstance(x, types.MemberDescriptorType):
                    yield name, self.guard_attribute(value, name)
        yield id(value), type(value)

    def _behind_hooks(self, *several: Hooks | None) -> Iterator[Found]:
        for hooks in several:
            if hooks is not None:
                self.guard_dict(hooks)
                for hook in hooks.values():
                    yield None, getattr(hook, "hook", hook)  # which nn/hooks.py wraps

    def _behind_class(self, kind: type) -> Iterator[Found]:
        if kind.__module__ == "datetime":
            yield from ((name, getattr(kind, name)) for name in ("now", "today", "utcnow") if hasattr(kind, name))
        yield from ((id(kind), x) for x in (*kind.__mro__, *type.mro(type(kind))))
        if self._is_users(kind):
            for values in gc.get_referents(vars(kind)):  # the dict behind the proxy
                self.guard_dict(values)
                for name, x in values.items():
                    if not name.startswith("__"):
                        yield name, x
                    elif isinstance(x, types.FunctionType) and name not in _OF_OBJECTS:
                        yield id(kind), x  # Python calls it, for objects of the class

    def _behind_function(self, function: types.FunctionType) -> list[Found]:
        if not self._is_users(function):
            if what := outside(function):
                self._restless.append((function, what))
            return []
        code = function.__code__
        self.attributes += function, "__code__", code
        found: list[Found] = []
        if code.co_argcount:
            found.append((id(function), self.guard_attribute(function, "__defaults__")))
        if code.co_kwonlyargcount:
            found.append((id(function), self.guard_attribute(function, "__kwdefaults__")))
        if function.__dict__:
            self.guard_dict(function.__dict__)
            found += function.__dict__.items()
        names, imports = names_in(code)
        values = self.guard_items(function.__globals__, names)
        if function.__closure__:
            for name, cell in zip(code.co_freevars, function.__closure__):
                values.append((name, self.guard_attribute(cell, "cell_contents")))
            self._functions.append((function, names.union(code.co_freevars)))
        else:
            self._functions.append((function, names))
        if imports:
            values += modules_named(names, function.__globals__.get("__package__"))
        return found + (self._among_modules(values, names) if values else [])

    def _among_modules(self, waiting: list[Found], names: frozenset[str]) -> list[Found]:
        """What was found, with what modules of Python among it have under these names, and modules in them."""
        found: list[Found] = []
        seen: set[int] = set()
        for way, value in waiting:  # which grows meanwhile
            if not isinstance(value, types.ModuleType):
                found.append((way, value))
            elif id(value) not in seen:
                seen.add(id(value))
                root, has = root_of(value.__name__), vars(value)
                behind = self.guard_items(has, names & has.keys() if is_installed(root) else names)
                waiting += behind if root != OWN else [x for x in behind if isinstance(x[1], types.ModuleType)]
        return found

    def _is_users(self, value: Any) -> bool:
        """Whether a function or a class is one whose variables the user may change."""
        package = package_of(value)
        return package in self._users and package != OWN or not is_installed(package)

    def _has_hidden_readers(self, kind: type) -> bool:
        """Whether methods of a class look at its objects' attributes, in code that is not looked at for names."""
        return any(
            isinstance(x, (types.FunctionType, property)) and not name.startswith("_")
            for part in kind.__mro__
            if not self._is_users(part)
            for name, x in vars(part).items()
        )

    def _states(self) -> list[Any]:
        """What optimizers remember of all parameters."""
        return [x for optimizer in self.optimizers for state in optimizer.state.values() for x in state.values()]

    def addresses(self) -> list[Any]:
        """The tensors, and those of optimizers, as C knows them."""
        return list(map(address_of, self.tensors + [x for x in self._states() if isinstance(x, Tensor)]))
