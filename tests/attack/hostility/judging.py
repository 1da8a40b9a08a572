"""Whether what a hostile program did is right: its error, and the state that it left."""

from __future__ import annotations

import ctypes
import linecache
import os
import re
import struct
import traceback
import warnings
from typing import Any

import norch

# Errors that say that norch itself went wrong, if torch does not raise them of the same program.
WRONG = (
    ctypes.ArgumentError, AttributeError, SystemError, NameError, ZeroDivisionError, KeyError, AssertionError,
    RecursionError, OverflowError, StopIteration, struct.error, BufferError, NotImplementedError,
)  # fmt: skip
ATTACK = "<attack>"
HOME = os.path.dirname(norch.__file__) + os.sep


def trace(error: BaseException) -> list[traceback.FrameSummary]:
    return traceback.extract_tb(error.__traceback__)


def wrong_error(error: BaseException) -> str | None:
    """The kind of fault of an error that norch raised, None if it may be right."""
    frames = trace(error)
    if not any(frame.filename.startswith(HOME) for frame in frames):
        return None  # Python's own, about the program itself
    if frames[-1].filename == ATTACK:
        return None  # the same, of a function of the program that norch calls
    if frames[-1].filename.endswith("hostility/values.py") or type(error).__name__ == "Refusal":
        return None  # what a hostile object raised
    if isinstance(error, KeyError) and is_raised(frames[-1]):
        return None  # of a table of names
    if isinstance(error, norch.RangeError):
        return None
    if isinstance(error, WRONG):
        return type(error).__name__
    if isinstance(error, (ValueError, IndexError)) and not is_raised(frames[-1]):
        return f"{type(error).__name__} by accident"
    if not isinstance(error, Exception):
        return type(error).__name__
    return None if str(error) else f"{type(error).__name__} without a word"


def is_raised(frame: traceback.FrameSummary) -> bool:
    """Whether a line of norch raises it by itself."""
    if not frame.filename.startswith(HOME):
        return False
    lines = "".join(linecache.getline(frame.filename, n) for n in range(frame.lineno or 0, (frame.end_lineno or 0) + 1))
    return bool(re.search(r"\braise\b", lines or frame.line or "")) or "raise_error" in (frame.line or "")


class State:
    """What a call that fails must leave as it is."""

    def __init__(self) -> None:
        self.dtype = norch.get_default_dtype()
        self.device = norch.get_default_device()
        self.control = norch.arange(6.0, dtype=norch.float32).reshape(2, 3).requires_grad_()
        self.right = self.computed()

    def computed(self) -> list[Any]:
        self.control.grad = None
        result = (self.control * 2).softmax(1).sum(0)
        result.pow(2).sum().backward()
        return [result.tolist(), self.control.grad.tolist(), result.dtype.name]

    def settings(self) -> dict[str, Any]:
        return {
            "grad mode": norch.is_grad_enabled(),
            "inference mode": norch.is_inference_mode_enabled(),
            "default dtype": norch.get_default_dtype(),
            "default device": norch.get_default_device(),
            "autocast": norch.is_autocast_enabled(),
            "anomaly mode": norch.is_anomaly_enabled(),
            "threads": norch.get_num_threads(),
            "files": [is_open(number) for number in range(3)],
        }

    def restore(self, settings: dict[str, Any]) -> None:
        norch.set_grad_enabled(settings["grad mode"])
        norch.set_default_dtype(self.dtype)
        norch.set_default_device(self.device)
        norch.set_num_threads(settings["threads"])
        norch.autograd.set_detect_anomaly(False)
        warnings.resetwarnings()  # which an example may have set, too
        warnings.simplefilter("ignore")

    def damage(self) -> str | None:
        """What is wrong with a computation that has nothing to do with the call."""
        try:
            found = self.computed()
        except Exception as error:
            return f"a computation raises {type(error).__name__}: {error}"
        return None if found == self.right else f"a computation gives {found}, before {self.right}"


def is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def kept(names: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The values of the program's tensors."""
    tensors = {name: value for name, value in names.items() if isinstance(value, norch.Tensor)}
    return {name: (x, values_of(x)) for name, x in tensors.items()}


def values_of(x: Any) -> Any:
    try:
        return (tuple(x.shape), x.dtype.name, x.device, x.requires_grad, repr(x.tolist()) if x.numel <= 1000 else None)
    except Exception as error:
        return type(error)


def changed(before: dict[str, tuple[Any, Any]]) -> str | None:
    """The tensor that is not as it was."""
    for name, (x, values) in before.items():
        now = values_of(x)
        if now != values:
            return f"{name} was {values}, is {now}"
    return None
