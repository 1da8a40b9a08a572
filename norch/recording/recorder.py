"""One call, recorded while it runs."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Callable, Sequence, TypeVar

from .._C import lib, raise_error
from ..operation import array_of, mode
from ..optim.optimizer import Optimizer
from ..tensor import Tensor

T = TypeVar("T")
Line = tuple[str, int]  # a file, and the number of a line

_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class _Line(ctypes.Structure):
    """The mirror of Line in csrc/api.h."""

    _fields_ = [("file", ctypes.c_char_p), ("number", ctypes.c_int32)]


class Recorder:
    """Records what a function launches in this thread, for calls with these tensors as inputs."""

    def __init__(self, inputs: Sequence[Tensor]) -> None:
        self.inputs = inputs
        self.steps: list[Optimizer] = []  # whose step ran in C, in their order
        self.generators: dict[int, tuple[Any, Any]] = {}  # by the address of their state
        addresses = array_of([x._ptr for x in inputs])
        self.handle = lib.new_recording(len(inputs), addresses, os.fsencode(_OWN)) or raise_error()

    def record(self, function: Callable[[], T]) -> T:
        """The function's result. One call of C, which ends the recording whatever the function raises."""
        return lib.call_recorded(self.handle, ((mode, {"recorder": self}),), function, (), {})

    def begin_backward(self, gradients: Sequence[Tensor]) -> None:
        """What is recorded from now on is the backward of results, from these gradients."""
        if lib.add_recording_inputs(self.handle, len(gradients), array_of([x._ptr for x in gradients])):
            raise_error()

    def uses(self, number: int) -> bool:
        """Whether an input is read or written."""
        return bool(lib.recording_uses(self.handle, number))

    def note_draw(self, generator: Any, state: Any) -> None:
        """A random number is drawn."""
        self.generators[ctypes.addressof(state)] = (generator, state)

    def refused(self) -> tuple[str, Line | None] | None:
        """Why the call cannot be replayed, and the line that says so."""
        return _told(lib.recording_refusal, self.handle)

    def differs(self, other: Recorder) -> tuple[str, Line | None] | None:
        """What another recording of the same call does otherwise, and the line."""
        if len(self.steps) != len(other.steps) or any(x is not y for x, y in zip(self.steps, other.steps)):
            return "another optimizer takes its step", None
        return _told(lib.compare_recordings, self.handle, other.handle)


def _told(function: Any, *handles: Any) -> tuple[str, Line | None] | None:
    line = _Line()
    text = function(*handles, ctypes.addressof(line))
    return None if text is None else (text.decode(), (os.fsdecode(line.file), line.number) if line.file else None)
