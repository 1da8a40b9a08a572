"""The signatures of what norch and torch both have: python tests/oracle/databases/signatures.py [names or patterns].

A call that torch accepts must mean the same in norch: the same names of parameters, in the same order, with the same
defaults. torch's functions written in C++ have no signature in Python; theirs are the schemas of their overloads.
"""

from __future__ import annotations

import fnmatch
import inspect
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parents[3])]

import torch  # noqa: E402

import norch  # noqa: E402

ROOMS = (
    "", "Tensor", "autograd", "cuda", "distributions", "fft", "linalg", "nn", "nn.functional", "nn.init", "nn.utils",
    "nn.utils.parametrizations", "nn.utils.rnn", "optim", "optim.lr_scheduler", "optim.swa_utils", "special",
    "utils.data",
)  # fmt: skip
# Names of dimensions, and options of devices and layouts that norch lacks.
UNUSED = {
    "names",
    "dimname",
    "pin_memory",
    "layout",
    "stable_layout",
    "out_dtype",
    "profile",
    "grad_variables",
    "orig_func",
}
SCRIPT = {"a", "b", "l", "t", "list", "reverse", "i"}  # of overloads for numbers and lists in TorchScript alone
ENCODED = {"dtype", "layout", "memory_format", "pin_memory"}  # whose defaults a schema tells as numbers
EMPTY = inspect.Parameter.empty


@dataclass(frozen=True)
class Argument:
    name: str
    default: Any = EMPTY
    keyword_only: bool = False


def pairs() -> Iterator[tuple[str, Any, Any]]:
    """The name of each public function, method and class of both, norch's and torch's."""
    for room in ROOMS:
        ours, theirs = norch, torch
        for part in filter(None, room.split(".")):
            ours, theirs = getattr(ours, part, None), getattr(theirs, part, None)
        if ours is None or theirs is None:
            continue
        for name in sorted(public(theirs)):
            try:
                our, their = getattr(ours, name, None), getattr(theirs, name)
            except ImportError:
                continue  # norch imports some modules at their first use, from packages that may not be there
            if callable(our) and callable(their) and not isinstance(our, type(None)):
                yield f"{room}.{name}".lstrip("."), our, their
                if inspect.isclass(their) and room == "nn" and "forward" in vars(their):
                    yield f"nn.{name}.forward", our.forward, their.forward


def public(room: Any) -> set[str]:
    names = getattr(room, "__all__", None) or dir(room)
    return {name for name in [*names, *dir(room)] if not name.startswith("_") and hasattr(room, name)}


def overloads(name: str, theirs: Any) -> list[list[Argument]]:
    """The parameters of each way that torch accepts a call, as far as it tells."""
    signature = own_signature(theirs, name)
    if signature is not None:
        return [signature] if signature else []
    bare = name.rpartition(".")[2]
    prefix = {"linalg": "linalg_", "special": "special_", "fft": "fft_"}.get(name.partition(".")[0], "")
    found = []
    for schema in torch._C._jit_get_schemas_for_operator(f"aten::{prefix}{bare}"):
        if any("Dimname" in str(a.type) or "complex" in str(a.type) or a.name in SCRIPT for a in schema.arguments):
            continue
        if schema.overload_name.endswith(("out", "_out")) or any(a.is_out for a in schema.arguments):
            continue
        if not any(a.name == "self" for a in schema.arguments) and name.startswith("Tensor."):
            continue
        arguments = sorted(schema.arguments, key=lambda a: name.startswith("Tensor.") and a.name != "self")
        found.append(
            [
                Argument(
                    called(a.name),
                    a.default_value if a.has_default_value() else EMPTY,
                    a.kwarg_only,
                )
                for a in arguments
            ]
        )
    return found


def own_signature(function: Any, name: str) -> list[Argument] | None:
    """What `inspect` tells of a function, method or class, None if it tells nothing."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (ValueError, TypeError):
        return None
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
        return []  # it may take anything
    parameters = without_self(parameters, name)
    return [Argument(called(p.name), p.default, p.kind == p.KEYWORD_ONLY) for p in parameters]


def without_self(parameters: list[inspect.Parameter], name: str) -> list[inspect.Parameter]:
    """The parameters that a call of a module's forward gives."""
    return parameters[1:] if name.endswith(".forward") else parameters


def called(name: str) -> str:
    """The first parameter of a method is what the function of its name calls input."""
    return "input" if name == "self" else name


def difference(name: str, ours: Any, theirs: Any) -> str | None:
    """What a program that calls torch would stumble over in norch."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ways = overloads(name, theirs)
    if not ways:
        return None
    try:
        parameters = without_self(list(inspect.signature(ours).parameters.values()), name)
    except (ValueError, TypeError):
        return None
    kinds = {p.kind for p in parameters}
    any_keyword, any_position = inspect.Parameter.VAR_KEYWORD in kinds, inspect.Parameter.VAR_POSITIONAL in kinds
    named = [p for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    names = {called(p.name): p for p in named}
    ways = [[a for a in way if a.name not in UNUSED or a.name in names] for way in ways]
    said = []
    for argument in {a.name: a for way in ways for a in way}.values():
        if argument.name in names:
            our, their = names[argument.name].default, argument.default
            if len(ways) == 1 and argument.name not in ENCODED and different_defaults(our, their):
                said.append(f"{argument.name}={shown(our)}, torch has {shown(their)}")
        elif not any_keyword and not argument.name.startswith("_"):
            said.append(f"no {argument.name}=")
    positions = [list(dict.fromkeys(way[i].name for way in ways if i < len(way) and not way[i].keyword_only))
                 for i in range(max(len(way) for way in ways))]  # fmt: skip
    positional = [n for n, p in names.items() if p.kind != p.KEYWORD_ONLY]
    for index, expected in enumerate(positions):
        if not expected or (any_position and index >= len(positional) - 1):
            continue
        got = positional[index] if index < len(positional) else None
        if got is None and not any_position:
            said.append(f"takes {index} positional arguments, torch has {' or '.join(expected)} there")
            break
        if got not in expected and not any_position and got in {a.name for way in ways for a in way}:
            said.append(f"argument {index} is {got}, torch has {' or '.join(expected)} there")
            break
    return "; ".join(said) or None


def different_defaults(ours: Any, theirs: Any) -> bool:
    """Whether two defaults differ that can be compared: numbers, strings and None."""
    plain = (bool, int, float, str, type(None), tuple)
    ours = None if ours == "cpu" else ours  # the default device
    if ours is EMPTY or theirs is EMPTY:
        return ours is EMPTY and theirs is not EMPTY
    return isinstance(ours, plain) and isinstance(theirs, plain) and ours != theirs


def shown(default: Any) -> str:
    return "required" if default is EMPTY else repr(default)


def differences(patterns: list[str] | None = None) -> dict[str, str]:
    """What differs, by name."""
    found = {}
    for name, ours, theirs in pairs():
        words = (name, name.split(".")[-1])
        if not patterns or any(fnmatch.fnmatchcase(word, pattern) for word in words for pattern in patterns):
            if said := difference(name, ours, theirs):
                found[name] = said
    return found


if __name__ == "__main__":
    found = differences(sys.argv[1:])
    for name, said in found.items():
        print(f"{name:40} {said}")
    print(f"{len(found)} of {len(list(pairs()))} differ")
