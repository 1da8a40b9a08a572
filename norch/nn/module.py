"""Module: the base of every layer and model. It knows its parameters, its buffers and the modules inside it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from inspect import isdatadescriptor
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import ref

from ..arguments import cuda_place, destination, flags
from ..autograd import no_grad
from ..functions.creation import empty_like
from ..given import given
from ..operation import structure
from ..sparse.coo import SparseTensor
from ..tensor import Tensor
from ..tensor_types import type_of
from ..types import DType, bfloat16, float16, float32, float64, shown
from ..utils.utils import clear_gradient
from .hooks import Hookable, replaced_by_hooks
from .parameter import Buffer, Parameter, UninitializedBuffer
from .registry import Registry
from .state import ModuleState

if TYPE_CHECKING:
    from typing_extensions import ParamSpec, Self

    from ..types import memory_format
    from .hooks import HasForward

    P = ParamSpec("P")

__all__ = ["Module"]

T = TypeVar("T")


class _MadeByInit:
    """An attribute that Module.__init__ makes. It is found on the class only if that has not run, and says so."""

    def __get__(self, module: object, owner: type) -> Any:
        if module is None:  # asked of the class, as by what copies the attributes of one
            return self
        raise AttributeError(
            f"{owner.__name__}: Module.__init__() has not run; call super().__init__() first in its __init__"
        )


def _registry(name: str) -> property:
    """The attribute `_parameters`, `_modules` or `_buffers`: a dict put there becomes a Registry of this module.

    (A property, as programs that swap parameters put theirs by `object.__setattr__`, or after copying `__dict__`.)
    """

    def get(module: Module) -> Any:
        try:
            return module.__dict__[name]
        except KeyError:
            _MadeByInit().__get__(module, type(module))

    def put(module: Module, values: Mapping[str, Any]) -> None:
        structure.version += 1
        own = module.__dict__
        for earlier in own.get(name, ()):
            own.pop(earlier, None)
        own[name] = Registry(ref(module), dict(values))

    return property(get, put)


class Module(Hookable, ModuleState):
    """Base class for layers and models: subclass it, call `super().__init__()`, define `forward`.

    Assigning a Parameter or a Module to an attribute registers it. Registered values stay ordinary attributes, so
    that reading `self.weight` in `forward` costs no more than any other attribute.

    >>> class Scale(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = nn.Parameter([2.0])
    ...
    ...     def forward(self, x):
    ...         return self.factor * x
    >>> model = Scale()
    >>> model(norch.tensor([1.0, 3.0])).detach()
    tensor([2., 6.])
    >>> [name for name, _ in model.named_parameters()]
    ['factor']
    """

    if TYPE_CHECKING:
        _parameters: dict[str, Any]  # Parameters, or None
        _modules: dict[str, Any]  # Modules, or None
        _buffers: dict[str, Tensor | None]
        _non_persistent_buffers_set: set[str]  # those that state_dict leaves out
        training: bool
    else:  # (a __getattr__ that says the same would slow down every attribute of every module)
        _parameters, _modules, _buffers = map(_registry, ("_parameters", "_modules", "_buffers"))
        _non_persistent_buffers_set = training = _MadeByInit()

    _shown: tuple[str, ...] = ()  # the settings that the repr of a layer names

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in vars(cls) and cls.__module__.startswith("norch."):
            cls.__init__ = flags(cls.__init__)  # type: ignore[method-assign]

    call_super_init = False  # whether `__init__` hands its arguments to the class that follows Module in a subclass

    @flags
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if (args or kwargs) and not self.call_super_init:
            few = f"takes 1 positional argument but {len(args) + 1} were given"
            what = f"got an unexpected keyword argument '{next(iter(kwargs))}'" if kwargs else few
            raise TypeError(f"{type(self).__name__}.__init__() {what}")
        own = self.__dict__
        for name in _REPLACEMENTS:
            if name in own:  # from a call before
                object.__setattr__(self, name, {})
            else:
                own[name] = Registry(ref(self))
        own["_non_persistent_buffers_set"] = set()
        self.training = True
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What calling the module computes; each subclass defines it. Raises NotImplementedError if one does not."""
        raise NotImplementedError(f"{self.get_name()} does not define forward()")

    # The types say: a module takes what its `forward` takes, and returns what that returns.
    def __call__(self: HasForward[P, T], *inputs: P.args, **kwargs: P.kwargs) -> T:
        if self._hooks is not None:
            return self._hooks.call(self, inputs, kwargs)
        return self.forward(*inputs, **kwargs)

    _call_impl = __call__  # what wrappers call that define a `__call__` of their own

    # ---- Attributes: assigning registers, deleting forgets ------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        structure.version += 1
        if isinstance(value, Parameter):
            self._register("_parameters", name, value)
        elif isinstance(value, Module):
            if name in self._parameters:
                self._check_replacement(name, value)
            self._register("_modules", name, value)
        elif type(value) in (Buffer, UninitializedBuffer):
            self.register_buffer(name, value, value.persistent)
        else:
            self._check_replacement(name, value)
            object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        structure.version += 1
        if not self._forget(name):
            object.__delattr__(self, name)

    def __getstate__(self) -> dict[str, Any]:
        """What copies and pickles hold: the attributes, and the registries as plain dicts, as in PyTorch."""
        state = {name: dict(value) if name in _REPLACEMENTS else value for name, value in self.__dict__.items()}
        for registry in _REPLACEMENTS:
            for name in state.get(registry, ()):
                state.pop(name, None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in _REPLACEMENTS:
            if name in state:
                object.__setattr__(self, name, state[name])

    def _forget(self, name: str) -> bool:
        """Take a name out of the registries; whether one had it."""
        self._non_persistent_buffers_set.discard(name)
        found = [registry for registry in (self._parameters, self._modules, self._buffers) if name in registry]
        for registry in found:
            del registry[name]
        return bool(found)

    def _register(self, registry: str, name: str, value: object) -> None:
        """Set the attribute and list it in the registry of this name, and in no other."""
        registered = getattr(self, registry)
        if name not in registered:
            computed = registry != "_modules" and isdatadescriptor(getattr(type(self), name, None))
            if computed and hasattr(self, name):  # a property may wait for what is registered
                raise KeyError(f"{self.get_name()} already computes its attribute {shown(name)}")
            self._forget(name)
        registered[name] = replaced_by_hooks(registry, self, name, value)

    def _check_replacement(self, name: str, value: object) -> None:
        """Let a registered name take None or (a buffer) a tensor; refuse what would silently unregister it."""
        for registry, expected in _REPLACEMENTS.items():
            registered = self.__dict__.get(registry, ())
            if name in registered:
                if value is not None and not (registry == "_buffers" and isinstance(value, (Tensor, SparseTensor))):
                    raise TypeError(f"{self.get_name()}.{name} was given {given(value)}, expected {expected}")
                registered[name] = value

    def _add(self, registry: str, name: str, value: T | None, expected: type[T]) -> None:
        """Register a value, or None, after checking it and its name."""
        kind = registry[1:-1]  # "parameter", "module" or "buffer"
        self._check_name(kind, name, getattr(self, registry))
        is_sparse = kind == "buffer" and isinstance(value, SparseTensor)
        if value is not None and not isinstance(value, expected) and not is_sparse:
            raise TypeError(f"{kind} {shown(name)} is {given(value)}, expected a {expected.__name__} or None")
        self._register(registry, name, value)

    def _check_name(self, kind: str, name: str, known: Container[str]) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{kind} name is {given(name)}, expected a string")
        if name == "" or "." in name:
            raise KeyError(f"{kind} name is {shown(name)}, expected one without '.' that is not empty")
        if hasattr(self, name) and name not in known:
            raise KeyError(f"{self.get_name()} already has an attribute {shown(name)}")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter by name. None reserves the name, as Linear does with bias=False."""
        self._add("_parameters", name, param, Parameter)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that belongs to the module's state and follows `.to()`, but is not trained.

        With `persistent=False`, state_dict leaves it out. A type checker knows the attribute if the class annotates it,
        as in `mask: norch.Tensor`.
        """
        self._add("_buffers", name, tensor, Tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a child module by name."""
        self._add("_modules", name, module, Module)

    register_module = add_module

    # ---- Values by their dotted names ---------------------------------------------------------------------------

    def get_submodule(self, target: str) -> Module:
        """The module of a dotted name, such as "encoder.0"; "" is this one. AttributeError if there is none."""
        module: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{module.get_name()} has no attribute {shown(name)}, of {shown(target)}")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"{shown(name)} of {shown(target)} is {given(module)}, expected a Module")
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put a module under a dotted name; with `strict` the name must be there already.

        Raises ValueError for an empty name or no module, AttributeError if the module around it is missing.
        """
        if not target or not isinstance(module, Module):
            raise ValueError(
                f"set_submodule was given {shown(target)} and {shown(module)}, expected a name and a Module"
            )
        if strict:
            self.get_submodule(target)
        path, _, name = target.rpartition(".")
        setattr(self.get_submodule(path), name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter of a dotted name, such as "encoder.0.weight". AttributeError if there is none."""
        return self._get(target, "_parameters", "Parameter")

    def get_buffer(self, target: str) -> Tensor:
        """The buffer of a dotted name. AttributeError if there is none."""
        return self._get(target, "_buffers", "buffer")

    def _get(self, target: str, registry: str, kind: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module.get_name()} has no attribute {shown(name)}, of {shown(target)}")
        found = getattr(module, name)
        # A parametrization may return a Parameter.
        if not isinstance(found, Parameter) if kind == "Parameter" else name not in getattr(module, registry):
            raise AttributeError(f"{shown(target)} is {given(found)}, expected a {kind}")
        return found

    # ---- Walking the tree: each value once, however many names it has -------------------------------------------

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Yield (dotted name, module) for this module, named `prefix`, and for every module inside it."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        children = self._modules  # first of all, for it raises if __init__ has not run
        yield prefix, self
        for name, module in children.items():
            if module is not None:
                yield from module.named_modules(memo, _join(prefix, name), remove_duplicate)

    def _named(self, registry: str, prefix: str, recurse: bool, remove_duplicate: bool) -> Iterator[tuple[str, Any]]:
        """Yield (dotted name, value) of this module's `registry` and, with `recurse`, of those of all inside."""
        getattr(self, registry)  # raises if __init__ has not run
        return self._named_members(lambda module: vars(module)[registry].items(), prefix, recurse, remove_duplicate)

    def _named_members(
        self,
        get_members_fn: Callable[[Module], Any],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        """The same of what a function says of each module, as (name, value) pairs."""
        seen: set[Any] = set()
        modules = self.named_modules(None, prefix, remove_duplicate) if recurse else [(prefix, self)]
        for module_prefix, module in modules:
            for name, value in get_members_fn(module):
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield _join(module_prefix, name), value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Yield (dotted name, parameter), such as ("fc1.weight", Parameter)."""
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Yield (dotted name, buffer)."""
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Yield (name, module) for the modules directly inside this one."""
        return self._named("_modules", "", False, True)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Yield each parameter of this module and, with `recurse`, of all modules inside it."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Yield each buffer of this module and, with `recurse`, of all modules inside it."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """Yield this module and every module inside it."""
        return (module for _, module in self.named_modules(remove_duplicate=remove_duplicate))

    def children(self) -> Iterator[Module]:
        """Yield the modules directly inside this one."""
        return (module for _, module in self.named_children())

    def gradients(self) -> Iterator[Tensor | None]:
        """Yield each parameter's gradient, None if it has none."""
        return (parameter.grad for parameter in self.parameters())

    def apply(self, fn: Callable[[Module], object]) -> Self:
        """Call `fn` on every module inside this one, then on this one; returns self."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    # ---- Modes, devices, dtypes ---------------------------------------------------------------------------------

    def train(self, mode: bool = True) -> Self:
        """Set `training` here and in every module inside; parameters stay trainable or frozen. Returns self."""
        if not isinstance(mode, bool):
            raise ValueError(f"train: mode is {shown(mode)}, expected True or False")
        children = list(self.children())  # first of all, for it raises if __init__ has not run
        self.training = mode
        for module in children:
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Set `training` to False here and in every module inside. `requires_grad_(False)` freezes. Returns self."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Have autograd record (or not) operations on every parameter. Returns self."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget every parameter's gradient, or fill it with zeros if `set_to_none` is False."""
        for parameter in self.parameters():
            clear_gradient(parameter, set_to_none)

    def to(
        self,
        *args: Tensor | str | DType | None,
        device: str | int | None = None,
        dtype: DType | None = None,
        non_blocking: bool = False,
        memory_format: memory_format | None = None,
    ) -> Self:
        """Move all parameters and buffers to a device and/or a floating dtype, in place; returns self.

        `to("cuda")`, `to(norch.float64)`, `to(device, dtype)` or `to(tensor)`, also by keyword; `non_blocking` changes
        nothing. Each Parameter stays the same object, so an optimizer made before still holds it. Integer buffers
        change device only. `memory_format` (`norch.channels_last`) orders the elements of those of 4 or 5 dimensions.
        """
        device, dtype = destination(*args, device=device, dtype=dtype)
        if device is None and dtype is None and memory_format is None:
            return self
        if device is not None:
            Tensor([]).to(device)  # a missing device is an error for a module without parameters too
        if dtype is not None and not dtype.is_floating_point:
            raise TypeError(f"to: dtype is {dtype}, expected a floating dtype for a module's parameters")

        def moved(tensor: Tensor) -> Tensor:
            order = memory_format if tensor.ndim in (4, 5) else None
            return tensor.to(device, dtype if tensor.is_floating_point() else None, memory_format=order)

        return self._apply(moved)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replace the data of every parameter, of its gradient and of every buffer by what `fn` makes of it.

        Modules inside are asked first, by their own `_apply`: one that holds tensors which it has not registered may
        define one that moves them too.
        """
        for module in self.children() if recurse else ():
            module._apply(fn)
        with no_grad():
            for tensor in [*self._parameters.values(), *self._buffers.values()]:
                if tensor is None:
                    continue
                tensor.data = fn(tensor.detach())
                if tensor.grad is not None:
                    tensor.grad = fn(tensor.grad)
        return self

    def type(self, dst_type: DType) -> Self:
        """Convert all parameters and buffers to a dtype, those of integers too, in place; returns self."""
        kind = type_of(dst_type)[0]
        return self._apply(lambda tensor: tensor.to(kind))

    def to_empty(self, *, device: str | int | None, recurse: bool = True) -> Self:
        """Move all parameters and buffers to a device, in place, without their values; returns self."""
        return self._apply(lambda tensor: empty_like(tensor, device=device), recurse)

    def float(self) -> Self:
        """Turn all floating parameters and buffers into float32, in place; returns self."""
        return self.to(float32)

    def double(self) -> Self:
        """Turn all floating parameters and buffers into float64, in place; returns self."""
        return self.to(float64)

    def half(self) -> Self:
        """Turn all floating parameters and buffers into float16, in place; returns self."""
        return self.to(float16)

    def bfloat16(self) -> Self:
        """Turn all floating parameters and buffers into bfloat16, in place; returns self."""
        return self.to(bfloat16)

    def cpu(self) -> Self:
        """Move all parameters and buffers to the CPU, in place; returns self."""
        return self.to("cpu")

    def cuda(self, device: int | str | None = None) -> Self:
        """Move all parameters and buffers to a CUDA device, in place; returns self."""
        return self.to(device=cuda_place(device))

    def share_memory(self) -> Self:
        """Move all parameters and buffers to memory that forked processes share; returns self."""
        for tensor in [*self.parameters(), *self.buffers()]:
            tensor.share_memory_()
        return self

    def compile(self, *_: Any, **__: Any) -> None:
        """Do nothing: `norch.compile(model)` gives a compiled one."""

    # ---- Printing, in the article's form ------------------------------------------------------------------------

    def get_name(self) -> str:
        """The class's name, as printed."""
        return type(self).__name__

    _get_name = get_name

    def inner_repr(self) -> str:
        """What stands between the parentheses: the settings of a layer. A class defines this, or `extra_repr`."""
        return self.extra_repr()

    def extra_repr(self) -> str:
        """PyTorch's name for `inner_repr`, which norch's own layers define: the settings that `_shown` names."""
        values = ((name, getattr(self, name)) for name in self._shown)
        return ", ".join(f"{name}={value!r}" if isinstance(value, str) else f"{name}={value}" for name, value in values)

    def __repr__(self) -> str:
        if not self._modules:
            return f"{self.get_name()}(\n   (parameters): {self.inner_repr()}\n)"
        return self._nested_repr()

    def _nested_repr(self) -> str:
        """One line for a layer; a line for each child, three spaces further in, for a module with children."""
        if not self._modules:
            return f"{self.get_name()}({self.inner_repr()})"
        lines = [f"(parameters): {self.inner_repr()}"] if self.inner_repr() else []
        for name, module in self._modules.items():
            own = type(module).__repr__ is not Module.__repr__  # None's, or one that the class defines
            text = repr(module) if own else module._nested_repr()
            lines += f"({name}): {text}".split("\n")
        return f"{self.get_name()}(\n" + "".join(f"   {line}\n" for line in lines) + ")"


# (`gradients` is a method of norch's alone, whose name a model may have for a module)
Registry.methods = frozenset(name for name in dir(Module) if callable(getattr(Module, name))) - {"gradients"}


def _join(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


_REPLACEMENTS = {  # what a registered attribute may become
    "_parameters": "a Parameter or None; to change its values: copy_() under no_grad()",
    "_modules": "a Module or None",
    "_buffers": "a Tensor or None",
}
