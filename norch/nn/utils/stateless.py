"""A module as a function of its parameters: one call with other tensors in their place."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Iterator, Mapping

from ...guards import Guard
from ...operation import check_kind, structure
from ...tensor import Tensor
from ...types import shown
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

    The dict names them as `named_parameters` does; a tuple of dicts counts as one. Those left out stay. A dict has the
    new tensor, where the module replaced one. With `tie_weights` a tensor given for one name stands for all names of
    the same parameter. With `strict` a RuntimeError says which names are missing or unexpected. Raises AttributeError
    for a name in no part of the module, TypeError for what is no tensor. Gradients reach the tensors that were given.

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
    with replaced(module, dicts if isinstance(dicts, dict) else given, tie_weights, strict):
        return module(*positional, **(kwargs or {}))


@contextmanager
def replaced(module: Module, given: dict[str, Any], tie_weights: bool, strict: bool) -> Iterator[None]:
    """In this block the module has other tensors under these names; what it replaces them by is put into the dict."""
    places = {name: _place(module, name, value) for name, value in _untied(module, given, tie_weights, strict).items()}
    added = [(vars(owner), last) for owner, last, _, _ in places.values() if last not in vars(owner)]
    changes: list[tuple[Any, dict[str, Any]]] = []
    for owner, last, registry, value in places.values():
        changes += [(owner, {last: value}), *([] if registry is None else [(_Entries(registry), {last: value})])]
    try:
        structure.version += 1
        for attributes, name in added:
            attributes[name] = None
        with Guard(*changes):  # which an interrupt does not leave half done
            try:
                yield
            finally:
                for name, (owner, last, _, value) in places.items():
                    if name in given and (now := getattr(owner, last, value)) is not value:
                        given[name] = now
    finally:
        for attributes, name in added:
            attributes.pop(name, None)
        structure.version += 1


def _untied(module: Module, given: dict[str, Any], tie_weights: bool, strict: bool) -> dict[str, Any]:
    """What was given, with `tie_weights` also under other names of the same tensor. `strict` checks the names."""
    values = dict(given)
    if not tie_weights and not strict:
        return values
    own = {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }
    if tie_weights:
        by_tensor: dict[int, Any] = {}
        for name, value in given.items():
            if name in own and by_tensor.setdefault(id(own[name]), value) is not value:
                raise ValueError(f"functional_call: {name} is tied to another one that was given another tensor")
        values.update({name: by_tensor[id(tensor)] for name, tensor in own.items() if id(tensor) in by_tensor})
    if strict and own.keys() != values.keys():
        missing, unexpected = sorted(own.keys() - values.keys()), sorted(values.keys() - own.keys())
        raise RuntimeError(f"functional_call: missing {missing}, unexpected {unexpected}")
    return values


def _place(module: Module, name: str, value: Any) -> tuple[Module, str, dict[str, Any] | None, Any]:
    """Where a value goes: the module part, the attribute, and the registry that has it, if any.

    Raises AttributeError for a part that the module lacks, TypeError for what is no tensor, or would replace none.
    """
    path, _, last = name.rpartition(".")
    owner = module.get_submodule(path)
    registry = next((each for each in (owner._parameters, owner._buffers) if last in each), None)
    if not isinstance(value, Tensor) and (value is not None or registry is None):
        raise TypeError(f"functional_call: {name}: expected a Tensor, got {shown(value)}")
    if registry is None and isinstance(getattr(type(owner), last, None), property):
        raise TypeError(f"functional_call: {name} is computed by {type(owner).__name__}, expected what it holds itself")
    old = getattr(owner, last, value)
    if registry is None and not isinstance(old, Tensor):
        raise TypeError(f"functional_call: {name} is {shown(old)}, expected a tensor to put another in its place")
    return owner, last, registry, value


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
        yield


class _Entries:
    """The entries of a registry as attributes, for a guard to change."""

    def __init__(self, registry: dict[str, Any]) -> None:
        self.__dict__ = registry
