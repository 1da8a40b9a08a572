"""Module: the base of every layer and model. It knows its parameters, its buffers and the modules inside it."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..autograd import no_grad
from ..tensor import Tensor
from ..types import check_dtype, float32, float64
from ..utils.utils import clear_gradient
from .hooks import ModuleHooks, post_hook, pre_hook
from .parameter import Parameter

__all__ = ["Module"]

IncompatibleKeys = namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])


class _MadeByInit:
    """An attribute that Module.__init__ makes: found on the class, it says that this has not run."""

    def __get__(self, module, owner):
        raise AttributeError(
            f"{owner.__name__}: Module.__init__() has not run; call super().__init__() first in its __init__"
        )


class Module:
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

    # (a __getattr__ that says the same would slow down every attribute of every module)
    _parameters: Any = _MadeByInit()
    _modules: Any = _parameters
    _buffers: Any = _parameters
    _transient_buffers: Any = _parameters
    training: Any = _parameters
    _hooks: Any = None  # a ModuleHooks where there are hooks

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self):
        self._parameters = OrderedDict()
        self._modules = OrderedDict()
        self._buffers = OrderedDict()
        self._transient_buffers = set()  # buffers that state_dict leaves out
        self.training = True

    def forward(self, *inputs, **kwargs):
        """What calling the module computes; each subclass defines its own. Raises NotImplementedError without one."""
        raise NotImplementedError(f"{self.get_name()} does not define forward()")

    def __call__(self, *inputs, **kwargs):
        if self._hooks is not None:
            return self._hooks.call(self, inputs, kwargs)
        return self.forward(*inputs, **kwargs)

    # ---- Attributes: assigning registers, deleting forgets ------------------------------------------------------

    def __setattr__(self, name: str, value) -> None:
        if isinstance(value, Parameter):
            self._register(self._parameters, name, value)
        elif isinstance(value, Module):
            self._register(self._modules, name, value)
        else:
            self._check_replacement(name, value)
            object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        object.__delattr__(self, name)
        for registry in self._registries():
            registry.pop(name, None)
        self._transient_buffers.discard(name)

    def _registries(self) -> tuple[dict, dict, dict]:
        return self._parameters, self._modules, self._buffers

    def _register(self, registry: dict, name: str, value) -> None:
        """Set the attribute and list it in `registry`, and in no other."""
        for other in self._registries():
            if other is not registry:
                other.pop(name, None)
        self._transient_buffers.discard(name)
        registry[name] = value
        self.__dict__[name] = value

    def _check_replacement(self, name: str, value) -> None:
        """Let a registered name take None or (a buffer) a tensor; refuse what would silently unregister it."""
        state = self.__dict__
        if name in state.get("_parameters", ()):
            registry, expected = self._parameters, "a Parameter or None; to change its values: copy_() under no_grad()"
        elif name in state.get("_modules", ()):
            registry, expected = self._modules, "a Module or None"
        elif name in state.get("_buffers", ()):
            registry, expected = self._buffers, "a Tensor or None"
            if isinstance(value, Tensor):
                registry[name] = value
                return
        else:
            return
        if value is not None:
            raise TypeError(f"{self.get_name()}.{name} was given a {type(value).__name__}, expected {expected}")
        registry[name] = None

    def _check_name(self, registry: dict, name: str, kind: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{kind} name is a {type(name).__name__}, expected a string")
        if name == "" or "." in name:
            raise KeyError(f"{kind} name is {name!r}, expected one without '.' that is not empty")
        if hasattr(self, name) and name not in registry:
            raise KeyError(f"{self.get_name()} already has an attribute {name!r}")

    def register_parameter(self, name: str, parameter: Parameter | None) -> None:
        """Add a parameter by name. None reserves the name, as Linear does with bias=False."""
        self._check_name(self._parameters, name, "parameter")
        if parameter is not None and not isinstance(parameter, Parameter):
            raise TypeError(f"parameter {name!r} is a {type(parameter).__name__}, expected a Parameter or None")
        self._register(self._parameters, name, parameter)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that belongs to the module's state and follows `.to()`, but is not trained.

        With `persistent=False`, state_dict leaves it out.
        """
        self._check_name(self._buffers, name, "buffer")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"buffer {name!r} is a {type(tensor).__name__}, expected a Tensor or None")
        self._register(self._buffers, name, tensor)
        if not persistent:
            self._transient_buffers.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a child module by name."""
        self._check_name(self._modules, name, "module")
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"module {name!r} is a {type(module).__name__}, expected a Module or None")
        self._register(self._modules, name, module)

    register_module = add_module

    # ---- Walking the tree: each value once, however many names it has -------------------------------------------

    def named_modules(self, memo=None, prefix: str = "", remove_duplicate: bool = True):
        """Yield (dotted name, module) for this module, named `prefix`, and for every module inside it."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        children = self._modules
        yield prefix, self
        for name, module in children.items():
            if module is not None:
                yield from module.named_modules(memo, _join(prefix, name), remove_duplicate)

    def _named(self, registry: str, prefix: str, recurse: bool, remove_duplicate: bool = True):
        """Yield (dotted name, value) for what `registry` lists here and, with `recurse`, in the modules inside."""
        seen: set[int] = set()
        modules = self.named_modules(None, prefix, remove_duplicate) if recurse else [(prefix, self)]
        for module_prefix, module in modules:
            for name, value in getattr(module, registry).items():
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
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Yield each parameter of this module and, with `recurse`, of all modules inside it."""
        return (parameter for _, parameter in self._named("_parameters", "", recurse))

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Yield each buffer of this module and, with `recurse`, of all modules inside it."""
        return (buffer for _, buffer in self._named("_buffers", "", recurse))

    def modules(self) -> Iterator[Module]:
        """Yield this module and every module inside it."""
        return (module for _, module in self.named_modules())

    def children(self) -> Iterator[Module]:
        """Yield the modules directly inside this one."""
        return (module for _, module in self.named_children())

    def gradients(self) -> Iterator[Tensor | None]:
        """Yield each parameter's gradient, None where it has none."""
        return (parameter.grad for parameter in self.parameters())

    def apply(self, function: Callable[[Module], None]):
        """Call `function` on every module inside this one, then on this one; returns self."""
        for _, module in self.named_children():
            module.apply(function)
        function(self)
        return self

    # ---- Hooks: each returns a handle, whose remove() takes the hook away ---------------------------------------

    def register_forward_pre_hook(self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False):
        """Call `hook(module, args)` before every forward; what it returns replaces the arguments.

        With `with_kwargs` it is hook(module, args, kwargs), which returns None or (args, kwargs).
        """
        return self._add_hook("before", pre_hook(hook, with_kwargs), prepend)

    def register_forward_hook(self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False):
        """Call `hook(module, args, output)` after every forward; what it returns replaces the output.

        With `with_kwargs` it is hook(module, args, kwargs, output).
        """
        return self._add_hook("after", post_hook(hook, with_kwargs), prepend)

    def register_full_backward_hook(self, hook: Callable, prepend: bool = False):
        """Call `hook(module, grad_input, grad_output)` in backward, once the gradients of its inputs are all known.

        Both are tuples, grad_input of the positional inputs, with None for what is no tensor or has no gradient. What
        the hook returns replaces grad_input.
        """
        return self._add_hook("backward", hook, prepend)

    def _add_hook(self, kind: str, hook: Callable, prepend: bool):
        self._hooks = self._hooks or ModuleHooks()
        return self._hooks.add(kind, hook, prepend)

    # ---- Modes, devices, dtypes ---------------------------------------------------------------------------------

    def train(self, mode: bool = True):
        """Set `training` here and in every module inside; nothing is frozen or thawed. Returns self."""
        if not isinstance(mode, bool):
            raise ValueError(f"train: mode is {mode!r}, expected True or False")
        for _, module in self.named_modules():
            module.training = mode
        return self

    def eval(self):
        """Set `training` to False here and in every module inside. Freezing is `requires_grad_(False)`."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True):
        """Have autograd record (or not) operations on every parameter. Returns self."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget every parameter's gradient, or fill it with zeros if `set_to_none` is False."""
        for parameter in self.parameters():
            clear_gradient(parameter, set_to_none)

    def to(self, *args, **kwargs):
        """Move all parameters and buffers to a device and/or a floating dtype, in place; returns self.

        `to("cuda")`, `to(norch.float64)`, `to(device, dtype)` or `to(tensor)`, also by keyword. Each Parameter stays
        the same object, so an optimizer made before still holds it. Integer buffers change device only.
        """
        device, dtype = _parse_to(*args, **kwargs)
        with no_grad():
            for tensor in [*self.parameters(), *self.buffers()]:
                own_dtype = dtype if tensor.dtype.is_floating_point else None
                tensor.data = tensor.to(device, own_dtype)
                if tensor.grad is not None:
                    tensor.grad = tensor.grad.to(device, own_dtype)
        return self

    def float(self):
        """Turn all floating parameters and buffers into float32, in place; returns self."""
        return self.to(float32)

    def double(self):
        """Turn all floating parameters and buffers into float64, in place; returns self."""
        return self.to(float64)

    def cpu(self):
        """Move all parameters and buffers to the CPU, in place; returns self."""
        return self.to("cpu")

    def cuda(self, device: int | str = "cuda"):
        """Move all parameters and buffers to a CUDA device, in place; returns self."""
        return self.to(f"cuda:{device}" if isinstance(device, int) else device)

    # ---- State --------------------------------------------------------------------------------------------------

    def _named_state(self):
        """Yield (dotted name, tensor) for what is saved: parameters, then persistent buffers, module by module."""
        for module_prefix, module in self.named_modules(remove_duplicate=False):
            for name, tensor in [*module._parameters.items(), *module._buffers.items()]:
                if tensor is not None and name not in module._transient_buffers:
                    yield _join(module_prefix, name), tensor

    def state_dict(self, *, prefix: str = "", keep_vars: bool = False) -> dict[str, Tensor]:
        """Return {dotted name: tensor} of all parameters and persistent buffers.

        The tensors share storage with the model and carry no gradient; with `keep_vars` they are the very parameters.
        """
        pairs = self._named_state()
        return OrderedDict((prefix + name, tensor if keep_vars else tensor.detach()) for name, tensor in pairs)

    def load_state_dict(self, state_dict: Mapping[str, Tensor], strict: bool = True) -> IncompatibleKeys:
        """Copy the values of `state_dict` into this module's own parameters and buffers.

        Raises one RuntimeError that names every missing, unexpected (these two only if `strict`) and misshapen entry;
        then nothing was copied. Returns (missing_keys, unexpected_keys).
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"load_state_dict was given a {type(state_dict).__name__}, expected a dict of tensors")
        own = dict(self._named_state())
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        problems = []
        if strict and unexpected:
            problems.append("Unexpected key(s) in state_dict: " + _quoted(unexpected))
        if strict and missing:
            problems.append("Missing key(s) in state_dict: " + _quoted(missing))
        found = [(name, tensor, state_dict[name]) for name, tensor in own.items() if name in state_dict]
        problems += [problem for name, tensor, given in found for problem in _mismatch(name, tensor, given)]
        if problems:
            raise RuntimeError(f"Error(s) in loading state_dict for {self.get_name()}:\n\t" + "\n\t".join(problems))
        with no_grad():
            for _, tensor, given in found:
                tensor.copy_(given.to(tensor.device))
        return IncompatibleKeys(missing, unexpected)

    # ---- Printing, in the article's form ------------------------------------------------------------------------

    def get_name(self) -> str:
        """The class's name, as printed."""
        return type(self).__name__

    def inner_repr(self) -> str:
        """What stands between the parentheses: the settings of a layer, to be defined by a subclass."""
        return self.extra_repr()

    def extra_repr(self) -> str:
        """PyTorch's name for `inner_repr`."""
        return ""

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
            text = "None" if module is None else module._nested_repr()
            lines += f"({name}): {text}".split("\n")
        return f"{self.get_name()}(\n" + "".join(f"   {line}\n" for line in lines) + ")"


def _join(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _mismatch(name: str, tensor: Tensor, given) -> list[str]:
    """What keeps `given` from being copied into `tensor`: nothing, or one line."""
    if not isinstance(given, Tensor):
        return [f"{name}: given a {type(given).__name__}, expected a Tensor"]
    if given.shape != tensor.shape:
        return [f"size mismatch for {name}: given shape {list(given.shape)}, expected {list(tensor.shape)}"]
    return []


def _parse_to(*args, device=None, dtype=None, non_blocking=False):
    """The (device, dtype) that the arguments of `to` ask for, None for what stays; copies are never asynchronous."""
    for argument in args:
        if isinstance(argument, Tensor):
            device, dtype = argument.device, argument.dtype
        elif isinstance(argument, str):
            device = argument
        elif argument is not None:
            dtype = argument
    if device is not None:
        Tensor([]).to(device)  # an unknown or missing device is an error for a module without parameters too
    if dtype is not None and not check_dtype(dtype).is_floating_point:
        raise TypeError(f"to: dtype is {dtype}, expected a floating dtype for a module's parameters")
    return device, dtype and check_dtype(dtype)
