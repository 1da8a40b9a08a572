"""Hooks of modules: functions called before and after `forward`, and when backward has passed through a module."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from ..autograd.hooks import HookHandle, Hooks
from ..autograd.multi_output import ModuleBackward, ModuleOutputs
from ..given import given, warn
from ..operation import structure
from ..tensor import Tensor
from ..types import shown

T = TypeVar("T")

if TYPE_CHECKING:
    from typing import Protocol

    from typing_extensions import ParamSpec

    P = ParamSpec("P")
    Result = TypeVar("Result", covariant=True)

    class HasForward(Protocol[P, Result]):
        """A module, seen as the function that it computes."""

        _hooks: ModuleHooks | None

        def forward(self, *inputs: P.args, **kwargs: P.kwargs) -> Result: ...


class ModuleHooks:
    """The hooks of one module, in the order in which they are called."""

    def __init__(self) -> None:
        self.before, self.after, self.backward, self.before_backward = Hooks(), Hooks(), Hooks(), Hooks()

    def add(self, kind: str, hook: Callable[..., object], prepend: bool) -> HookHandle:
        """Add a hook of a kind ("before", "after", "backward", ...), last or first; the handle removes it."""
        hooks = getattr(self, kind)
        earlier = list(hooks.items())
        handle = HookHandle(hooks, hook)
        if prepend:
            for key, other in earlier:  # to the end, in their order
                del hooks[key]
                hooks[key] = other
        return handle

    def all(self, kind: str) -> list[tuple[int, Callable[..., Any]]]:
        """The hooks of a kind that a call meets: those of all modules, then the module's own."""
        own = list(getattr(self, kind).items())
        return own if self is EVERY or Hookable._hooks is None else [*getattr(EVERY, kind).items(), *own]

    def call(self, module: HasForward[..., T], inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> T:
        """module.forward(*inputs, **kwargs) between its hooks."""
        if not (self.before or self.after or self.backward or self.before_backward):
            if self is EVERY:  # all were removed; what the module computes is the same
                Hookable._hooks = None
                return module.forward(*inputs, **kwargs)
            vars(module).pop("_hooks", None)
            return module(*inputs, **kwargs)  # type: ignore[operator]
        if not any(getattr(hook, "always_call", False) for _, hook in self.all("after")):
            return self._between(module, inputs, kwargs, [])
        called: list[int] = []
        try:
            return self._between(module, inputs, kwargs, called)
        except Exception:
            for key, hook in self.all("after"):
                if getattr(hook, "always_call", False) and key not in called:
                    try:
                        hook(module, inputs, kwargs, None)
                    except Exception as error:  # the first error is the one to tell
                        warn(f"a forward hook called after an error raised one itself: {error}")
            raise

    def _between(
        self, module: HasForward[..., T], inputs: tuple[Any, ...], kwargs: dict[str, Any], called: list[int]
    ) -> T:
        """The result of forward, passed through the hooks; `called` gets the keys of those after it.

        Backward meets the hooks that are there now, as in PyTorch.
        """
        through, outside = ([hook for _, hook in self.all(kind)] for kind in ("backward", "before_backward"))
        for _, hook in self.all("before"):
            inputs, kwargs = hook(module, inputs, kwargs)
        node = None
        if through:
            node = ModuleBackward(inputs, lambda *gradients: _through_backward(through, module, *gradients))
            inputs = node.enter(inputs)
        result = module.forward(*inputs, **kwargs)
        for key, hook in self.all("after"):
            called.append(key)
            replaced = hook(module, inputs, kwargs, result)
            result = result if replaced is None else replaced
        if (node or outside) and not isinstance(result, (Tensor, tuple, list)):
            warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors, "
                f"given {given(result)}"
            )
            if node is not None:
                node.hook = lambda grad_input, _: grad_input
            return result
        if node is not None:
            result = _leave(node if node.tracked else _first(through, module, inputs, result), result)
        if outside:
            outputs = ModuleOutputs(_listed(result), lambda gradients: _before_backward(outside, module, gradients))
            result = _leave(outputs, result)
        return result


def _through_backward(
    hooks: list[Callable[..., Any]],
    module: object,
    grad_input: tuple[Tensor | None, ...],
    grad_output: tuple[Tensor | None, ...],
) -> tuple[Tensor | None, ...]:
    for hook in hooks:
        replaced = hook(module, grad_input, grad_output)
        if replaced is not None:
            grad_input = _checked(replaced, grad_input)
    return grad_input


def _first(hooks: list[Callable[..., Any]], module: object, inputs: tuple[Any, ...], result: Any) -> ModuleOutputs:
    """The node of a module whose inputs require no gradients: its hooks are called before backward enters it."""

    def call(grad_output: Iterable[Tensor | None]) -> tuple[Tensor | None, ...]:
        gradients = tuple(grad_output)
        warn(
            "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs "
            "require gradients"
        )
        _through_backward(hooks, module, (None,) * len(inputs), gradients)
        return gradients

    return ModuleOutputs(_listed(result), call)


def _before_backward(
    hooks: list[Callable[..., Any]], module: object, gradients: Iterable[Tensor | None]
) -> tuple[Tensor | None, ...]:
    grad_output = tuple(gradients)
    for hook in hooks:
        replaced = hook(module, grad_output)
        if replaced is not None:
            grad_output = _checked(replaced, grad_output)
    return grad_output


_NO_HOOKS = ModuleHooks()
EVERY = ModuleHooks()  # the hooks of all modules, which run before a module's own


class _Registered(MutableMapping[int, Callable[..., Any]]):
    """The hooks of a kind as they were registered: programs look at them, and clear them."""

    def __init__(self, module: Hookable, kind: str) -> None:
        self._module, self._kind = module, kind

    @property
    def _hooks(self) -> Hooks:
        return getattr(vars(self._module).get("_hooks") or _NO_HOOKS, self._kind)

    def __getitem__(self, key: int) -> Callable[..., Any]:
        hook = self._hooks[key]
        return getattr(hook, "hook", hook)

    def __setitem__(self, key: int, hook: Callable[..., Any]) -> None:
        if "_hooks" not in vars(self._module):
            self._module._hooks = ModuleHooks()
        structure.version += 1
        self._hooks[key] = _FORMS.get(self._kind, lambda hook: hook)(hook)

    def __delitem__(self, key: int) -> None:
        structure.version += 1
        del self._hooks[key]

    def __iter__(self) -> Iterator[int]:
        return iter(list(self._hooks))

    def __len__(self) -> int:
        return len(self._hooks)

    def copy(self) -> OrderedDict[int, Callable[..., Any]]:
        return OrderedDict(self)

    def __repr__(self) -> str:
        return repr(self.copy())


def _registered(kind: str) -> property:
    """The attribute of a module that is its hooks of a kind; what is put there replaces them."""

    def put(module: Hookable, hooks: Mapping[int, Callable[..., Any]]) -> None:
        registered, hooks = _Registered(module, kind), dict(hooks)
        registered.clear()
        registered.update(hooks)

    return property(lambda module: _Registered(module, kind), put)


def _marked(kind: str, mark: str) -> property:
    """An attribute of a module: the numbers of its hooks of a kind that were registered with a mark."""

    def get(module: Hookable) -> Mapping[int, bool]:
        hooks = getattr(vars(module).get("_hooks") or _NO_HOOKS, kind)
        return MappingProxyType({key: True for key, hook in hooks.items() if getattr(hook, mark)})

    return property(get)


class Hookable:
    """The part of Module that takes hooks. Each `register_...` returns a handle, whose remove() takes the hook away."""

    _hooks: ModuleHooks | None = None  # made with the first hook

    def register_forward_pre_hook(
        self, hook: Callable[..., object], *, prepend: bool = False, with_kwargs: bool = False
    ) -> HookHandle:
        """Call `hook(module, args)` before every forward; what it returns replaces the arguments.

        With `with_kwargs` it is hook(module, args, kwargs), which returns None or (args, kwargs).
        """
        return self._add_hook("before", PreHook(hook, with_kwargs), prepend)

    def register_forward_hook(
        self,
        hook: Callable[..., object],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> HookHandle:
        """Call `hook(module, args, output)` after every forward; what it returns replaces the output.

        With `with_kwargs` it is hook(module, args, kwargs, output). With `always_call` it is called, with the output
        None, even if the forward raises an error.
        """
        return self._add_hook("after", PostHook(hook, with_kwargs, always_call), prepend)

    def register_full_backward_hook(self, hook: Callable[..., object], prepend: bool = False) -> HookHandle:
        """Call `hook(module, grad_input, grad_output)` in backward, once the gradients of its inputs are all known.

        Both are tuples, grad_input of the positional inputs, with None for a value that has no gradient. What the hook
        returns replaces grad_input.
        """
        return self._add_hook("backward", hook, prepend)

    register_backward_hook = register_full_backward_hook  # the name before PyTorch 1.8

    def register_full_backward_pre_hook(self, hook: Callable[..., object], prepend: bool = False) -> HookHandle:
        """Call `hook(module, grad_output)` in backward, once the gradients of the outputs are all known.

        What it returns replaces grad_output, a tuple.
        """
        return self._add_hook("before_backward", hook, prepend)

    def _add_hook(self, kind: str, hook: Callable[..., object], prepend: bool) -> HookHandle:
        hooks = vars(self).get("_hooks") or ModuleHooks()
        self._hooks = hooks
        return hooks.add(kind, hook, prepend)

    _forward_pre_hooks, _forward_hooks = _registered("before"), _registered("after")
    _backward_hooks, _backward_pre_hooks = _registered("backward"), _registered("before_backward")
    _forward_pre_hooks_with_kwargs = _marked("before", "with_kwargs")
    _forward_hooks_with_kwargs = _marked("after", "with_kwargs")
    _forward_hooks_always_called = _marked("after", "always_call")


# ---- Hooks of all modules ---------------------------------------------------------------------------------------


def _add_to_every(kind: str, hook: Callable[..., object]) -> HookHandle:
    handle = EVERY.add(kind, hook, False)
    Hookable._hooks = EVERY
    return handle


def register_module_forward_pre_hook(hook: Callable[..., object]) -> HookHandle:
    """Call `hook(module, args)` before every forward of every module, before the module's own hooks.

    >>> with nn.modules.module.register_module_forward_pre_hook(lambda module, args: (args[0] + 1,)):
    ...     nn.Identity()(norch.zeros(1))
    tensor([1.])
    """
    return _add_to_every("before", PreHook(hook, False))


def register_module_forward_hook(
    hook: Callable[..., object], *, with_kwargs: bool = False, always_call: bool = False
) -> HookHandle:
    """Call `hook(module, args, output)` after every forward of every module, before the module's own hooks.

    `with_kwargs` and `always_call` are those of `Module.register_forward_hook`.

    >>> def hook(module, args, output):
    ...     print(type(module).__name__, list(output.shape))
    >>> with nn.modules.module.register_module_forward_hook(hook):
    ...     _ = nn.Sequential(nn.Linear(2, 3), nn.ReLU())(norch.ones(1, 2))
    Linear [1, 3]
    ReLU [1, 3]
    Sequential [1, 3]
    """
    return _add_to_every("after", PostHook(hook, with_kwargs, always_call))


def register_module_full_backward_hook(hook: Callable[..., object]) -> HookHandle:
    """Call `hook(module, grad_input, grad_output)` in backward for every module, as `register_full_backward_hook`.

    >>> x = norch.ones(2, requires_grad=True)
    >>> with nn.modules.module.register_module_full_backward_hook(lambda module, given, of_output: print(of_output)):
    ...     nn.Identity()(x).sum().backward()
    (tensor([1., 1.]),)
    """
    return _add_to_every("backward", hook)


def register_module_full_backward_pre_hook(hook: Callable[..., object]) -> HookHandle:
    """Call `hook(module, grad_output)` in backward for every module, as `register_full_backward_pre_hook`.

    >>> x = norch.ones(2, requires_grad=True)
    >>> with nn.modules.module.register_module_full_backward_pre_hook(lambda module, grads: (grads[0] * 3,)):
    ...     nn.Identity()(x).sum().backward()
    >>> x.grad
    tensor([3., 3.])
    """
    return _add_to_every("before_backward", hook)


register_module_backward_hook = register_module_full_backward_hook  # the name before PyTorch 1.8


# ---- Hooks of what modules register -----------------------------------------------------------------------------

_registering = {"_parameters": Hooks(), "_modules": Hooks(), "_buffers": Hooks()}


def register_module_parameter_registration_hook(hook: Callable[..., object]) -> HookHandle:
    """Call `hook(module, name, parameter)` before any module registers a parameter; what it returns replaces it.

    >>> def hook(module, name, parameter):
    ...     print(name, list(parameter.shape))
    >>> with nn.modules.module.register_module_parameter_registration_hook(hook):
    ...     _ = nn.Linear(3, 2)
    weight [2, 3]
    bias [2]
    """
    return HookHandle(_registering["_parameters"], hook)


def register_module_module_registration_hook(hook: Callable[..., object]) -> HookHandle:
    """Call `hook(module, name, child)` before any module registers another; what it returns replaces the child.

    >>> with nn.modules.module.register_module_module_registration_hook(lambda module, name, child: nn.Identity()):
    ...     nn.Sequential(nn.ReLU())[0].get_name()
    'Identity'
    """
    return HookHandle(_registering["_modules"], hook)


def register_module_buffer_registration_hook(hook: Callable[..., object]) -> HookHandle:
    """Call `hook(module, name, tensor)` before any module registers a buffer; what it returns replaces the tensor.

    >>> with nn.modules.module.register_module_buffer_registration_hook(lambda module, name, tensor: tensor + 1):
    ...     nn.BatchNorm1d(1).running_var
    tensor([2.])
    """
    return HookHandle(_registering["_buffers"], hook)


def replaced_by_hooks(registry: str, module: object, name: str, value: object) -> object:
    """What the hooks make of a value, if there is one, that is about to be registered."""
    for hook in list(_registering[registry].values()) if value is not None else ():
        replaced = hook(module, name, value)
        value = value if replaced is None else replaced
    return value


class _Hook:
    """A hook in one form, whatever it takes. (A class, as pickle finds no function inside a function.)"""

    always_call = False

    def __init__(self, hook: Callable[..., Any], with_kwargs: bool) -> None:
        if not callable(hook):
            raise TypeError(f"a hook must be callable, got {type(hook).__name__}")
        self.hook, self.with_kwargs = hook, with_kwargs  # nn.utils and norch.compile find the hook by its name


class PreHook(_Hook):
    """(module, inputs, kwargs) -> (inputs, kwargs)."""

    def __call__(self, module: object, inputs: tuple[object, ...], kwargs: dict[str, object]) -> object:
        replaced = self.hook(module, inputs, kwargs) if self.with_kwargs else self.hook(module, inputs)
        if replaced is None:
            return inputs, kwargs
        if not self.with_kwargs:
            return (replaced if isinstance(replaced, tuple) else (replaced,)), kwargs
        if not isinstance(replaced, tuple) or len(replaced) != 2:
            raise RuntimeError(f"a forward pre-hook with_kwargs returns None or (args, kwargs), got {shown(replaced)}")
        return replaced


class PostHook(_Hook):
    """(module, inputs, kwargs, result) -> another result or None."""

    def __init__(self, hook: Callable[..., Any], with_kwargs: bool, always_call: bool) -> None:
        super().__init__(hook, with_kwargs)
        self.always_call = always_call

    def __call__(self, module: object, inputs: object, kwargs: object, result: object) -> object:
        return self.hook(module, inputs, kwargs, result) if self.with_kwargs else self.hook(module, inputs, result)


_FORMS: dict[str, Callable[[Any], _Hook]] = {
    "before": lambda hook: PreHook(hook, False),
    "after": lambda hook: PostHook(hook, False, False),
}


def _listed(result: Any) -> list[Any]:
    """The result of a module, a tensor or a tuple or list of them, as a list."""
    return [result] if isinstance(result, Tensor) else list(result)


def _leave(node: ModuleBackward | ModuleOutputs, result: Any) -> Any:
    """The result of a module as outputs of the module's node."""
    results = node.leave(_listed(result))
    if isinstance(result, Tensor):
        return results[0]
    return type(result)(*results) if hasattr(result, "_fields") else type(result)(results)


def _checked(replaced: object, grad_input: tuple[Tensor | None, ...]) -> tuple[Tensor | None, ...]:
    """What a backward hook returned for these gradients, of the same number, shapes and dtypes."""
    replaced = replaced if isinstance(replaced, tuple) else (replaced,)
    if len(replaced) != len(grad_input):
        raise RuntimeError(f"a backward hook returned {len(replaced)} gradients, expected {len(grad_input)}")
    if all(old is None for old in grad_input) and any(new is not None for new in replaced):
        raise RuntimeError("a backward hook returned a gradient of inputs that require none, expected None")
    for new, old in zip(replaced, grad_input):
        if new is None or old is None:
            continue
        if not isinstance(new, Tensor) or new.shape != old.shape or new.dtype is not old.dtype:
            raise RuntimeError(
                f"a backward hook must return a gradient of shape {list(old.shape)} and {old.dtype}, got {shown(new)}"
            )
    return replaced
