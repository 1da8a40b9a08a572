"""Parameters that are computed: a module whose `weight` is a function of others, which are the ones that are trained.

`register_parametrization(layer, "weight", f)` moves the parameter to `layer.parametrizations.weight.original`, and from
then on `layer.weight` is f(original). The names are PyTorch's, so that saved weights load.
"""
# mypy: disable-error-code="attr-defined"
# a module has `parametrizations` once it is given one

from __future__ import annotations

import copy
import sys
from contextlib import contextmanager, suppress
from typing import Any, Iterator, Sequence

from ...arguments import flags
from ...autograd import no_grad
from ...guards import Guard
from ...operation import check_kind
from ...tensor import Tensor
from ...types import shown
from ..module import Module
from ..modules.container import ModuleDict, ModuleList
from ..parameter import Parameter, is_lazy
from .undoing import all_or_nothing

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

_cache: dict[tuple[int, str], Tensor] | None = None  # in a `with cached()`


@contextmanager
def cached() -> Iterator[None]:
    """In this block, or in each call of a decorated function, each computed parameter is computed once.

    >>> with nn.utils.parametrize.cached():
    ...     pass
    """
    with Guard((sys.modules[__name__], {"_cache": {} if _cache is None else _cache})):
        yield


@no_grad()
def _write(own: Tensor, new: Tensor) -> None:
    if own.shape == new.shape and own.dtype is new.dtype:
        own.copy_(new)
    else:
        own.data = new


class ParametrizationList(ModuleList):
    """The parametrizations of one parameter, in the order of their calls, and its original values.

    `original` is the parameter that is trained; several, `original0`, `original1` and so on, if the last
    parametrization's `right_inverse` returns several. Raises ValueError if the result has another shape or dtype.

    >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(1, 1))
    >>> len(layer.parametrizations.weight), layer.parametrizations.weight.ntensors
    (1, 2)
    """

    @flags
    def __init__(self, modules: list[Module], original: Tensor, unsafe: bool = False) -> None:
        super().__init__(modules)
        self.unsafe = unsafe
        with no_grad():
            values: Any = original
            for module in reversed(modules):
                if hasattr(module, "right_inverse"):
                    with suppress(NotImplementedError):  # then the first value is not kept
                        values = module.right_inverse(values)
        self.is_tensor = isinstance(values, Tensor)
        if not self.is_tensor and not (isinstance(values, Sequence) and all(isinstance(x, Tensor) for x in values)):
            raise ValueError(f"right_inverse gives {shown(values)}, expected a tensor or a sequence of tensors")
        self.ntensors = 1 if self.is_tensor else len(values)
        trained = isinstance(original, Parameter)
        for name, value in zip(self._names(), [values] if self.is_tensor else values):
            if self.is_tensor and value.dtype is not original.dtype:
                raise ValueError(f"right_inverse gives {value.dtype}, expected {original.dtype}, as the parameter")
            if self.is_tensor:  # the optimizer may hold it already
                _write(original, value)
                value = original
            elif trained:
                value = Parameter(value.detach(), original.requires_grad)
            (self.register_parameter if trained else self.register_buffer)(name, value)
        if not unsafe:
            result = self()
            if not isinstance(result, Tensor) or result.shape != original.shape or result.dtype is not original.dtype:
                found = f"{list(result.shape)}, {result.dtype}" if isinstance(result, Tensor) else type(result).__name__
                raise ValueError(
                    f"a parametrization gives {found}, expected {list(original.shape)}, {original.dtype}, as the "
                    "parameter; unsafe=True lets it"
                )

    def _names(self) -> list[str]:
        return ["original"] if self.is_tensor else [f"original{i}" for i in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Set the original values so that the parametrizations give `value`, by the `right_inverse` of each."""
        with no_grad():
            values: Any = value
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"{type(module).__name__} has no right_inverse, which assigning needs")
                values = module.right_inverse(values)
            for name, new in zip(self._names(), [values] if self.is_tensor else values):
                _write(getattr(self, name), new)

    def forward(self) -> Tensor:
        modules = iter(self)
        result = next(modules)(*(getattr(self, name) for name in self._names()))
        for module in modules:
            result = module(result)
        return result


@flags
def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Make a parameter or buffer of a module the result of `parametrization`, a module; returns the module.

    Shape and dtype stay, unless `unsafe`. Several are applied one after the other. Raises ValueError if the module has
    no such parameter, or if the result has another shape or dtype.

    >>> class Positive(nn.Module):
    ...     def forward(self, x):
    ...         return x.exp()
    >>> layer = nn.utils.parametrize.register_parametrization(nn.Linear(1, 1), "weight", Positive())
    >>> bool(layer.weight > 0), [name for name, _ in layer.named_parameters()]
    (True, ['bias', 'parametrizations.weight.original'])
    """
    check_kind(parametrization, Module, "register_parametrization: parametrization")
    parametrization.train(check_kind(module, Module, "register_parametrization").training)
    if is_parametrized(module, tensor_name):
        chain = module.parametrizations[tensor_name]
        if not unsafe:
            before = getattr(module, tensor_name)
            after = parametrization(before)
            for given in (after, *_undone(parametrization, after)):
                if not isinstance(given, Tensor) or given.shape != before.shape or given.dtype is not before.dtype:
                    raise ValueError(f"a parametrization gives {shown(given)}, expected a tensor like {shown(before)}")
        chain.append(parametrization)
        chain.unsafe |= unsafe
        return module
    if tensor_name not in module._parameters and tensor_name not in module._buffers:
        raise ValueError(f"{module.get_name()} has no parameter or buffer {shown(tensor_name)}")
    original = getattr(module, tensor_name)
    if is_lazy(original):
        raise ValueError(f"{shown(tensor_name)} has no shape before the first call of {module.get_name()}")
    chain = ParametrizationList([parametrization], original, unsafe)
    with all_or_nothing(module, *_chains(module)):
        delattr(module, tensor_name)
        if "parametrizations" not in module._modules:
            _derive_class(module)
            module.parametrizations = ModuleDict()
        module.parametrizations[tensor_name] = chain
        setattr(type(module), tensor_name, _property(tensor_name))
    return module


def _undone(parametrization: Module, value: Tensor) -> list[Any]:
    """What the parametrization's `right_inverse` makes of a value, if it has one."""
    with suppress(NotImplementedError):
        return [parametrization.right_inverse(value)] if hasattr(parametrization, "right_inverse") else []
    return []


def _chains(module: Module) -> list[Module]:
    return [module.parametrizations] if is_parametrized(module) else []


def _derive_class(module: Module) -> None:
    """Give the module a class of its own, derived from its class, to hold the computed attributes."""
    cls = type(module)

    def copied(self: Module, memo: dict[int, Any]) -> Module:
        """A deep copy with a class of its own again."""
        other = memo[id(self)] = cls.__new__(cls)
        other.__setstate__(copy.deepcopy(self.__getstate__(), memo))
        _derive_class(other)
        for name in other._modules["parametrizations"]:
            setattr(type(other), name, _property(name))
        return other

    def refused(self: Module, protocol: Any) -> None:
        raise RuntimeError(f"a parametrized {cls.__name__} cannot be pickled: save its state_dict() instead")

    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), {"__deepcopy__": copied, "__reduce_ex__": refused})


def _property(name: str) -> property:
    def read(self: Module) -> Tensor:
        chain = self.parametrizations[name]
        if _cache is None:
            return chain()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = chain()
        return _cache[key]

    def assign(self: Module, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    return property(read, assign)


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a module has computed parameters, or whether this one is.

    >>> nn.utils.parametrize.is_parametrized(nn.Linear(1, 1))
    False
    """
    chains = getattr(module, "__dict__", {}).get("parametrizations")
    if not isinstance(chains, ModuleDict):
        return False
    return len(chains) > 0 if tensor_name is None else tensor_name in chains


def type_before_parametrizations(module: Module) -> type[Module]:
    """The class of a module without the parametrizations.

    >>> nn.utils.parametrize.type_before_parametrizations(nn.Linear(1, 1)).__name__
    'Linear'
    """
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


@flags
def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Make a computed parameter an ordinary one again, with its value now, or with the original one.

    Returns the module. Raises ValueError if it is not computed, or if there are several originals and
    `leave_parametrized` is False.

    >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(1, 1))
    >>> nn.utils.parametrize.remove_parametrizations(layer, "weight")
    Linear(
       (parameters): input_dim=1, output_dim=1, bias=True
    )
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"{shown(module)} has no parametrization of {shown(tensor_name)}")
    chain = module.parametrizations[tensor_name]
    if not leave_parametrized and not chain.is_tensor:
        raise ValueError(f"{tensor_name} has {chain.ntensors} originals, none of which is its value")
    original = chain.original if chain.is_tensor else chain.original0
    value = chain().detach() if leave_parametrized else original
    result, writes = value, False
    if isinstance(original, Parameter):
        writes = value is not original and chain.is_tensor and original.shape == value.shape
        result = original if writes else value if isinstance(value, Parameter) else Parameter(value)
    cls = type(module)
    with all_or_nothing(module, module.parametrizations):
        del module.parametrizations[tensor_name]
        if len(module.parametrizations):
            delattr(cls, tensor_name)
        else:
            del module.parametrizations
            module.__class__ = cls.__bases__[0]
        if isinstance(original, Parameter):
            module.register_parameter(tensor_name, result)
        else:
            module.register_buffer(tensor_name, result)
        if writes:
            with no_grad():
                original.copy_(value)  # the optimizer's parameter stays the same
    return module


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Let a module share the parametrizations of another one, and the parameters behind them; returns it.

    Does nothing if the other one is not parametrized; raises KeyError if it is, but not `tensor_name`, AttributeError
    if neither module has that.

    >>> source = nn.utils.parametrizations.weight_norm(nn.Linear(1, 1))
    >>> target = nn.utils.parametrize.transfer_parametrizations_and_params(source, nn.Linear(1, 1))
    >>> nn.utils.parametrize.is_parametrized(target, "weight")
    True
    """
    check_kind(from_module, Module, "transfer_parametrizations_and_params")
    if not is_parametrized(from_module):
        return to_module
    given = tensor_name if tensor_name is None else check_kind(tensor_name, str, "transfer_parametrizations_and_params")
    for name in list(from_module.parametrizations) if given is None else [given]:
        made = None if hasattr(to_module, name) else Parameter(getattr(from_module, name).detach().clone())
        source = from_module.parametrizations[name]
        if made is not None:
            to_module.register_parameter(name, made)
        for module in list(source):
            register_parametrization(to_module, name, module)
        for own in source._names():
            setattr(to_module.parametrizations[name], own, getattr(source, own))
    return to_module
