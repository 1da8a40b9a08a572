"""weight_norm by a hook, as before the parametrizations: other names, the same formula."""

from __future__ import annotations

from typing import Any

from ...arguments import one_size
from ...given import warn
from ...operation import check_kind
from ...tensor import Tensor
from ...types import shown
from ..module import Module
from ..parameter import Parameter, is_lazy
from .parametrizations import norm_except

__all__ = ["remove_weight_norm", "weight_norm"]


class ByHook:
    """Computes a weight before each forward."""

    def __init__(self, name: str, dim: int) -> None:
        self.name, self.dim = name, dim

    def compute(self, module: Module) -> Any:
        raise NotImplementedError

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute(module))

    def check_alone(self, module: Module) -> None:
        """Raise RuntimeError if the weight is computed already."""
        own = vars(module).get("_hooks")
        hooks = [] if own is None else [getattr(call, "hook", None) for call in own.before.values()]
        if any(isinstance(hook, type(self)) and hook.name == self.name for hook in hooks):
            raise RuntimeError(f"{shown(self.name)} has this norm already: remove it first")

    def add_to(self, module: Module, now: Tensor) -> Module:
        """Compute the weight at each forward from the next on; until then it is `now`."""
        setattr(module, self.name, now)
        module.register_forward_pre_hook(self)
        return module


def parameter_of(module: Module, name: str, function: str) -> Parameter:
    if name not in module._parameters:
        raise KeyError(f"{function}: {module.get_name()} has no parameter {shown(name)}")
    parameter = module._parameters[name]
    if parameter is None:
        raise ValueError(f"{function}: the parameter {shown(name)} is None")
    if is_lazy(parameter):
        raise ValueError(f"{function}: the parameter {shown(name)} has no shape before the first call of its module")
    return parameter


def remove(kind: type[ByHook], module: Module, name: str, leftovers: tuple[str, ...]) -> Module:
    """Make the weight a parameter again, with its value now."""
    check_kind(module, Module, kind.__name__.lower())
    own = vars(module).get("_hooks")
    hooks = {} if own is None else own.before
    for key, call in list(hooks.items()):
        found = getattr(call, "hook", None)
        if isinstance(found, kind) and found.name == name:
            value = found.compute(module).detach()
            del hooks[key]
            delattr(module, name)
            for suffix in leftovers:
                delattr(module, name + suffix)
            module.register_parameter(name, Parameter(value))
            return module
    raise ValueError(f"{kind.__name__.lower()} of {shown(name)} not found in {module.get_name()}")


class WeightNorm(ByHook):
    def compute(self, module: Module) -> Any:
        v = getattr(module, self.name + "_v")
        return v * (getattr(module, self.name + "_g") / norm_except(v, self.dim))


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Split a weight into its length `weight_g` and its direction `weight_v`; `parametrizations.weight_norm` is newer.

    Returns the module. Raises AttributeError or KeyError if there is no such parameter, RuntimeError if it is
    split already.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     layer = nn.utils.weight_norm(nn.Linear(3, 2))
    >>> [name for name, _ in layer.named_parameters()]
    ['bias', 'weight_g', 'weight_v']
    """
    warn(
        "`nn.utils.weight_norm` is deprecated in favor of `nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
    )
    made = WeightNorm(name, -1 if dim is None else one_size(dim, "weight_norm: dim"))
    made.check_alone(check_kind(module, Module, "weight_norm"))
    if not hasattr(module, name):
        raise AttributeError(f"weight_norm: {module.get_name()} has no attribute {shown(name)}")
    weight = parameter_of(module, name, "weight_norm").detach()
    delattr(module, name)
    module.register_parameter(name + "_g", Parameter(norm_except(weight, made.dim)))
    module.register_parameter(name + "_v", Parameter(weight))
    return made.add_to(module, made.compute(module))


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """Make a weight of `weight_norm` an ordinary one again, with its value now. Raises ValueError if it is none.

    >>> nn.utils.remove_weight_norm.__name__
    'remove_weight_norm'
    """
    return remove(WeightNorm, module, name, ("_g", "_v"))
