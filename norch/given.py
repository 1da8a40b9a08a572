"""What messages and reprs say of a value: its type, and how to make of it what was expected."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep

_MAKES = {  # a Tensor of a value of this type
    "torch.Tensor": "norch.from_dlpack(x)",
    "torch.Parameter": "norch.from_dlpack(x.detach())",
    "ndarray": "norch.from_numpy(x)",
    "list": "norch.tensor(x)",
    "tuple": "norch.tensor(x)",
    "float": "norch.tensor(x)",
    "int": "norch.tensor(x)",
}


def type_name(value: object) -> str:
    """The name of a value's type, with its package if norch has a type of this name: "list", "torch.Tensor"."""
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    return f"{package}.{kind.__name__}" if package in ("torch", "tensorflow", "jax") else kind.__name__


def given(value: object) -> str:
    """What was given: "a list", "an int", "a torch.Tensor", "the class ReLU"."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    name = type_name(value)
    return f"{'an' if name[0] in 'aeiouAEIO' or name == 'ndarray' else 'a'} {name}"


def number_in(value: Any, name: str = "") -> float:
    """A number of Python's, also out of a tensor of one element or a NumPy scalar.

    Raises TypeError for anything else, and for a tensor that requires gradients, which a number would not pass on.
    """
    start = f"{name}: " if name else ""
    if getattr(value, "requires_grad", False) is True:
        raise TypeError(f"{start}expected a number, got a tensor that requires gradients: take tensor.item()")
    value = value.item() if hasattr(value, "item") else value
    if not isinstance(value, (int, float)):
        raise TypeError(f"{start}expected a number, got {type(value).__name__}")
    return value


def no_tensor(value: object) -> str:
    """What was given in place of a Tensor, and what makes one of it."""
    if value is None:
        return "None, expected a Tensor: does forward() return its result?"
    if isinstance(value, (list, tuple)) and value and all(type_name(each) == "Tensor" for each in value):
        return f"{given(value)} of Tensors, expected a Tensor: take one of them, x[0], or norch.stack(x)"
    if isinstance(value, tuple) and any(type_name(each) == "Tensor" for each in value):
        return f"{given(value)}, expected a Tensor: take one of it, as in `output, state = lstm(x)`"
    makes = _MAKES.get(type_name(value))
    return f"{given(value)}, expected a Tensor" + (f": {makes} makes one" if makes else "")


def no_parameters(value: Any) -> str:
    """What was given in place of parameters, and what a beginner meant."""
    if hasattr(value, "parameters"):
        return f"{given(value)}, expected its parameters: model.parameters()"
    if getattr(value, "__name__", "") in ("parameters", "named_parameters"):
        return f"the method {value.__name__}, expected its result: model.{value.__name__}()"
    return f"{given(value)}, expected tensors"


def to_floating(dtype: Any) -> str:
    """How to convert a tensor that holds integers; nothing if it does not."""
    return "" if dtype.is_floating_point else "; .float() converts it"


def settings(**values: object) -> str:
    """What stands in the parentheses of a repr: the settings that say something in a line."""
    plain = {name: value for name, value in values.items() if _is_plain(value)}
    return ", ".join(f"{name}={value!r}" for name, value in plain.items())


def _is_plain(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return 0 < len(value) <= 8 and all(map(_is_plain, value))
    return isinstance(value, (bool, int, float, str))


def length_of(collection: Any) -> int | None:
    """How many elements a user's collection says that it has; None if it cannot."""
    try:
        return len(collection)
    except Exception:  # a repr never fails
        return None


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warns at the user's line: the innermost outside of norch, however many of its functions lie between."""
    depth, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OWN):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, category, stacklevel=depth)
