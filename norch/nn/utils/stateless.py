"""A module as a function of its parameters: one call with other tensors in their place."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Iterator, Mapping

from ...guards import Guard
from ...operation import check_kind, structure
from ...tensor import Tensor
from ..module import Module

__all__ = ["functional_call"]


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """module(*args, **kwargs), computed with other tensors in the place of its parameters and buffers.

    The dict names them as `named_parameters` does; a tuple of dicts counts as one. Those left out stay. With
    `tie_weights` a tensor given for one name stands for all names of the same parameter. With `strict` a RuntimeError
    says which names are missing or unexpected. Gradients reach the tensors that were given.

    >>> layer = nn.Linear(2, 1)
    >>> norch.func.functional_call(layer, {"weight": norch.ones(1, 2), "bias": norch.zeros(1)}, norch.ones(1, 2))
    tensor([[2.]])
    """
    check_kind(module, Module, "functional_call")
    dicts = parameter_and_buffer_dicts
    given: dict[str, Tensor] = {}
    for part in dicts if isinstance(dicts, (tuple, list)) else (dicts,):
        if not isinstance(part, Mapping):
            raise ValueError(
                f"functional_call: expected a dict of tensors or a tuple of them, got {type(part).__name__}"
            )
        if repeated := given.keys() & part.keys():
            raise ValueError(f"functional_call: {sorted(repeated)} appear in several dicts")
        given.update(part)
    positional = () if args is None else args if isinstance(args, tuple) else (args,)
    with replaced(module, given, tie_weights, strict):
        return module(*positional, **(kwargs or {}))


@contextmanager
def replaced(module: Module, given: Mapping[str, Tensor], tie_weights: bool, strict: bool) -> Iterator[None]:
    """In this block the module has other tensors under these names."""
    own = {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }
    if strict and own.keys() != given.keys():
        missing, unexpected = sorted(own.keys() - given.keys()), sorted(given.keys() - own.keys())
        raise RuntimeError(f"functional_call: missing {missing}, unexpected {unexpected}")
    empty = _left_out(module)
    values = {name: value for name, value in given.items() if name in own or name in empty}
    if tie_weights:
        by_tensor: dict[int, Tensor] = {}
        for name, value in values.items():
            if name in own and by_tensor.setdefault(id(own[name]), value) is not value:
                raise ValueError(f"functional_call: {name} is tied to another one that was given another tensor")
        values.update({name: by_tensor[id(tensor)] for name, tensor in own.items() if id(tensor) in by_tensor})
    changes: list[tuple[Any, dict[str, Tensor]]] = []
    for name, value in values.items():
        path, _, last = name.rpartition(".")
        owner = module.get_submodule(path)
        registry = owner._parameters if last in owner._parameters else owner._buffers
        changes += [(owner, {last: value}), (_Entries(registry), {last: value})]
    try:
        structure.version += 1
        with Guard(*changes):  # which an interrupt does not leave half done
            yield
    finally:
        structure.version += 1


@contextmanager
def _reparametrize_module(
    module: Module,
    parameters_and_buffers: dict[str, Tensor],
    tie_weights: bool = False,
    strict: bool = False,
    stack_weights: bool = False,
) -> Iterator[None]:
    """In this block the module has other parameters and buffers; buffers that it replaces are put into the dict."""
    with replaced(module, parameters_and_buffers, tie_weights, strict):
        try:
            yield
        finally:
            own = {**dict(module.named_parameters()), **dict(module.named_buffers())}
            parameters_and_buffers.update({k: own[k] for k in parameters_and_buffers if k in own})


def _left_out(module: Module) -> set[str]:
    """The names of parameters and buffers that are registered as None, as the bias of a layer without one."""
    return {
        f"{path}.{name}" if path else name
        for path, part in module.named_modules(remove_duplicate=False)
        for registry in (part._parameters, part._buffers)
        for name, value in registry.items()
        if value is None
    }


class _Entries:
    """The entries of a registry as attributes, for a guard to change."""

    def __init__(self, registry: dict[str, Any]) -> None:
        self.__dict__ = registry
