"""Statements found by trying: each callable that torch and norch both have is called, in torch, in a few usual ways."""

from __future__ import annotations

import functools
import inspect
import re
import warnings
from collections.abc import Iterator
from typing import Any

import torch

import norch

from .modules_and_transforms import SET

ROOMS = ["Tensor", "", "nn.functional", "linalg", "special"]

# How a tensor is called, with an example for each operand that is tried.
ARGUMENTS = {
    "": [],
    "{like}": [torch.full((1,), 0.6, dtype=torch.float64)],
    "{number}": [0.7],
    "{dim}": [0],
    "{dim}, {flag}": [0, True],
    "{dim}, {dim2}": [0, 1],
    "{like}, {like2}": [torch.full((1,), 0.6, dtype=torch.float64)] * 2,
    "{number}, {number2}": [0.1, 0.7],
}
OPERANDS = {
    "{x}": torch.rand(2, 3, dtype=torch.float64),
    "{vector}": torch.rand(3, dtype=torch.float64),
    "{square}": torch.rand(3, 3, dtype=torch.float64) + 3 * torch.eye(3, dtype=torch.float64),
    "{batch}": torch.rand(2, 2, 4, dtype=torch.float64),
    "{image}": torch.rand(1, 2, 4, 4, dtype=torch.float64),
    "{i}": torch.tensor([[1, 2, 0], [2, 1, 1]]),
    "{m}": torch.tensor([[True, False, True], [False, True, True]]),
}

# Whose results depend on chance, on what memory held, on the process, or on signs that anybody may choose
LEFT_OUT = re.compile(
    r"rand|dropout|syncbatch|normal_|^normal$|uniform_|bernoulli|multinomial|poisson$|exponential_|geometric_|cauchy_|rrelu|gumbel|fractional"
    r"|binomial|empty|resize|seed|rng|set_|share_memory|pin_memory|storage|data_ptr|_grad|backward|grad$|apply_|map"
    r"|eig|svd|^qr$|^lu$|lu_|geqrf|ormqr|orgqr|householder|cholesky_ex|autocast|default|printoptions|threads|deterministic|warn"
    r"|numpy|dlpack|typename|stft|fft|sparse|module_load|hook|lstsq|sspaddmm|_nd$|to_|^new$|type$|lobpcg|pinv|inv$|inverse$|solve|tensorinv|det$"
    r"|hardsigmoid|airy|bessel|polynomial|zeta|cross$|adaptive|topk|^to$|chain_matmul|hash_tensor|lowrank|dequantize|^index$|masked_scatter"
)

# Keyword arguments, each tried beside the first of these, with an example
OPTIONS: dict[str, tuple[str, Any]] = {
    **dict.fromkeys(
        "keepdim keepdims unbiased descending stable sorted largest return_inverse return_counts upper ceil_mode "
        "inplace count_include_pad equal_nan full log_input log_target swap out_int32 right increasing as_tuple "
        "with_replacement invert assume_unique size_average reduce density requires_grad copy accumulate".split(),
        ("{flag}", True),
    ),
    **dict.fromkeys("dim axis dim0 dim1 start_dim".split(), ("{dim}", 0)),
    **dict.fromkeys("alpha beta value min max nan posinf neginf margin dx threshold lambd".split(), ("{number}", 0.5)),
    **dict.fromkeys("n decimals minlength correction bins k chunks steps".split(), ("{integer}", 1)),
    **dict.fromkeys("eps rtol atol delta".split(), ("{rate}", 0.1)),
    **dict.fromkeys("diagonal offset".split(), ("{offset}", 1)),
    **dict.fromkeys("p norm_type ord maxnorm".split(), ("{norm}", 2)),
    **dict.fromkeys("prepend append weight".split(), ("{like_tensor}", torch.rand(2, 3, dtype=torch.float64))),
    **dict.fromkeys("interpolation interpolation_mode".split(), ("{interpolation}", "linear")),
    "dtype": ("{any_dtype}", torch.float64),
    "out": ("{out}", torch.empty(0, dtype=torch.float64)),
    "reduction": ("{reduction}", "sum"),
    "rounding_mode": ("{rounding}", "floor"),
    "memory_format": ("lib.contiguous_format", torch.contiguous_format),
}

# Arguments of modules, tried in this order
SETTINGS = ["", "2", "3", "0.5", "2, 2", "3, 2", "2, 2, 2", "0.1, 0.5"]

OF_LAYOUT = {"contiguous", "flatten", "ravel", "reshape", "view"}  # which copy or not


@functools.lru_cache(None)
def found_statements() -> list[str]:
    """The statements that torch accepts, the shortest form for each operand first; in the same order each time."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for room in ROOMS:
            theirs, ours = (functools.reduce(getattr, filter(None, room.split(".")), lib) for lib in (torch, norch))
            for name in sorted(set(dir(theirs)) & set(dir(ours))):
                if not name.startswith("_") and not LEFT_OUT.search(name):
                    function = getattr(theirs, name)
                    if callable(function) and not inspect.isclass(function):
                        found += _forms(room, name, function)
        for name in sorted(set(dir(torch.nn)) & set(dir(norch.nn))):
            if not LEFT_OUT.search(name.lower()) and not name.startswith(("Lazy", "Uninit", "Param")):
                found += _module_forms(name)
    return found


def _module_forms(name: str) -> list[str]:
    """The statements that make a module and call it, for the first settings and operand that it takes."""
    for settings in SETTINGS:
        for operand, example in OPERANDS.items():
            for text in ("", "{same}"):
                try:
                    module = eval(f"torch.nn.{name}({settings})").double()
                except Exception:  # no module, or not with these settings
                    break
                if _accepts(module, [example, *([example.flip(-1)] if text else [])]):
                    if any(p.numel() for p in module.parameters()):
                        made = f"{{new}} = lib.nn.{name}({settings}).double(); {SET}; {{new}} = {{new}}"
                    else:
                        made = f"{{new}} = lib.nn.{name}({settings})"
                    return [f"{made}({operand}{', ' if text else ''}{text})"]
    return []


def _forms(room: str, name: str, function: Any) -> list[str]:
    """The statements that call a function, or a method, on the first kind of operand that it takes."""
    for operand, example in OPERANDS.items():
        tried = {text: _accepts(function, [example, *values]) for text, values in ARGUMENTS.items()}
        if any(tried.values()):
            forms = [text for text, accepted in tried.items() if accepted]
            return [
                _statement(room, name, operand, text) for text in [*forms, *_options(room, name, forms[0], example)]
            ]
        if None in tried.values() and False not in tried.values():
            break
    return []


def _options(room: str, name: str, form: str, example: torch.Tensor) -> Iterator[str]:
    """The same arguments with one option more, of those that norch has and torch takes."""
    theirs, ours = (functools.reduce(getattr, filter(None, [*room.split("."), name]), lib) for lib in (torch, norch))
    for option in inspect.signature(ours).parameters:
        if option in OPTIONS:
            hole, value = OPTIONS[option]
            if _accepts(theirs, [example, *ARGUMENTS[form]], **{option: value}):
                yield ", ".join(filter(None, [form, f"{option}={hole}"]))


def _accepts(function: Any, values: list[Any], **options: Any) -> bool | None:
    """Whether torch computes tensors of real numbers from these values; None if it takes no such arguments at all."""
    try:
        result = function(*[x.clone() if isinstance(x, torch.Tensor) else x for x in values], **options)
    except TypeError:
        return None
    except Exception:  # torch's own refusal, of whatever kind
        return False
    results = result if isinstance(result, (tuple, list)) else [result]
    return bool(results) and all(
        isinstance(x, torch.Tensor) and not x.is_complex() and x.layout == torch.strided for x in results
    )


def _statement(room: str, name: str, operand: str, arguments: str) -> str:
    if name in OF_LAYOUT:
        operand = operand.replace("{x}", "{plain}")
    if room == "Tensor":
        call = f"{operand}.{name}({arguments})"
        return call if name.endswith("_") else "{new} = " + call
    path = ".".join(part for part in ("lib", room, name) if part)
    return "{new} = " + f"{path}({operand}{', ' if arguments else ''}{arguments})"
