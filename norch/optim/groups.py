"""What a group of an optimizer holds, its parameters and settings, and the checks of both."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..given import given, no_parameters, warn
from ..tensor import Tensor
from ..types import shown

Group = dict[str, Any]  # "params", a list of tensors, and the settings by name


class _Required:
    """A setting without a default: every group has to give a value."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


def settings_of(arguments: dict[str, Any]) -> Group:
    """The `defaults` of a constructor of which every other argument is a setting: its `locals()` without these."""
    return {name: value for name, value in arguments.items() if name not in ("self", "params", "__class__")}


_USUAL = {float, int, bool, type(None), list}  # (the parameters are a list)


def tensors_in(group: Group) -> list[Tensor]:
    """The tensors among a group's settings."""
    if _USUAL.issuperset(map(type, group.values())):
        return []
    parts = [x if isinstance(x, tuple) else (x,) for x in group.values()]
    return [x for part in parts for x in part if isinstance(x, Tensor)]


def numbers_in(group: Group) -> Group:
    """A group's settings, with the value of a tensor in its place."""
    if not tensors_in(group):
        return dict(group)
    return {name: x if name == "params" else _number_in(x) for name, x in group.items()}


def _number_in(x: Any) -> Any:
    return tuple(map(_number_in, x)) if isinstance(x, tuple) else x.item() if isinstance(x, Tensor) else x


def check_number(name: str, value: Any) -> None:
    """Raise TypeError if a setting is text, a list or something else that has no order."""
    if not hasattr(value, "__float__"):
        raise TypeError(f"{name} is {shown(value)} ({type(value).__name__}), expected a number")


def check_not_negative(settings: Group, *names: str) -> None:
    """Raise ValueError if one of the settings of these names is below 0, or NaN."""
    labels = {"lr": "learning rate", "eps": "epsilon value"}
    for name in names:
        check_number(name, settings[name])
        if not settings[name] >= 0:
            raise ValueError(f"Invalid {labels.get(name, f'{name} value')}: {settings[name]}, expected at least 0")


def check_betas(settings: Group) -> None:
    """Raise TypeError if "betas" are no pair, and ValueError if they are not two numbers from 0 to below 1."""
    if not isinstance(settings["betas"], (list, tuple)):
        raise TypeError(f"Invalid betas: {settings['betas']}, expected two")
    if len(settings["betas"]) != 2:
        raise ValueError(f"Invalid betas: {settings['betas']}, expected two")
    if len({isinstance(beta, Tensor) for beta in settings["betas"]}) == 2:
        raise ValueError(f"betas are {settings['betas']}, expected two floats or two tensors")
    for index, beta in enumerate(settings["betas"]):
        if isinstance(beta, Tensor) and beta.numel() != 1:
            raise ValueError(f"betas[{index}] is a tensor of {beta.numel()} elements, expected one")
        if not 0 <= beta < 1:
            raise ValueError(f"Invalid beta parameter at index {index}: {beta}, expected 0 to below 1")


def check_implementation(settings: Group) -> None:
    """Raise RuntimeError for a choice of implementation that contradicts itself."""
    if settings.get("fused") and (settings.get("foreach") or settings.get("differentiable")):
        raise RuntimeError("fused=True was given with foreach=True or differentiable=True, expected one of them")


def tensors_and_names(entries: object) -> tuple[list[Tensor], list[str]]:
    """The tensors of a group, each once, out of tensors, (name, tensor) pairs and (module, name, tensor) triples.

    The names are those of pairs, which all of the group have to be then.
    """
    if isinstance(entries, Tensor):
        entries = [entries]
    if isinstance(entries, (set, frozenset)) or not isinstance(entries, Iterable):
        raise TypeError(f"parameters are {given(entries)}, expected a list or another ordered iterable")
    unique: dict[int, Tensor] = {}
    names: dict[int, str] = {}
    named = 0
    listed = list(entries)
    for entry in listed:
        parameter = entry[-1] if isinstance(entry, tuple) and len(entry) in (2, 3) else entry
        if not isinstance(parameter, Tensor):
            raise TypeError(f"the optimizer was given {no_parameters(parameter)}")
        unique[id(parameter)] = parameter
        if isinstance(entry, tuple) and len(entry) == 2:
            names[id(parameter)] = entry[0]
            named += 1
    if names and named < len(listed):
        raise ValueError("some parameters of a group have names and others have none, expected names for all or none")
    if len(unique) < len(listed):
        warn("a parameter group with duplicate parameters was given: each is kept once")
    return list(unique.values()), list(names.values())


def names_of(group: Group) -> Group:
    return {"param_names": group["param_names"]} if "param_names" in group else {}
