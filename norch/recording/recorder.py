"""What C notes of a call while it runs."""

from __future__ import annotations

import builtins
import ctypes
import io
import os
from typing import Any, Callable, Sequence, TypeVar

from .._C import lib, raise_error, write_clock
from ..autograd.engine import summed
from ..autograd.mode import set_grad_enabled
from ..autograd.node import Node
from ..operation import mode, refuse_recording
from ..optim.groups import Group, numbers_in, tensors_in
from ..optim.optimizer import Optimizer
from ..tensor import Tensor
from .guards import address_of

T = TypeVar("T")
Line = tuple[str, int]  # a file, and the number of a line


def _refused(there: dict[str, Any], name: str, why: str) -> Callable[..., Any]:
    """What stands for a function while a recording runs: a replay would not call it."""

    def call(*values: Any, **options: Any) -> Any:
        refuse_recording(why)
        return there[name](*values, **options)

    return call


def _standing(module: Any, reasons: dict[str, str]) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """The names of a module, what stands for some while a recording runs, and what was there when it began."""
    there = {name: getattr(module, name) for name in reasons}
    return vars(module), {name: _refused(there, name, why) for name, why in reasons.items()}, there


_OPENED = {"open": "a file is opened"}
_LOOKED_AT = dict.fromkeys(("stat", "lstat", "listdir", "scandir", "access", "getcwd"), "files are looked at")
_STANDING = (
    _standing(builtins, {"print": "something is printed", "input": "somebody is asked", **_OPENED}),
    _standing(io, _OPENED),
    _standing(os, _LOOKED_AT),
)

_OWN = os.fsencode(os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep)


class Recorder:
    """Records what a function launches in this thread, for calls with these tensors as inputs.

    With a `model`, the recorder of an earlier call, it notes as it goes on what this call does otherwise.
    """

    def __init__(
        self, inputs: Sequence[Tensor], model: Recorder | None, optimizers: Sequence[Optimizer], notes_lines: bool
    ) -> None:
        self.inputs = inputs
        groups = (group for optimizer in optimizers for group in optimizer.param_groups if tensors_in(group))
        self.numbers: list[tuple[Group, Group]] = [(group, numbers_in(group)) for group in groups]
        self.began = write_clock.value
        self.steps: list[Optimizer] = []  # whose step ran in C, in their order
        self.generators: dict[int, tuple[Any, Any]] = {}  # by the address of their state
        self.asked: dict[int, Tensor] = {}  # what an argument is asked for, by the id of it or of what stands for it
        given = list(map(address_of, inputs))
        model_handle = model and model.handle
        self.handle: Any = lib.new_recording(len(inputs), given, _OWN, model_handle, notes_lines) or raise_error()

    def record(self, function: Callable[[], T]) -> T:
        """The function's result. One call of C, which ends the recording whatever the function raises."""
        return lib.call_recorded(self.handle, ((mode, {"recorder": self}),), _STANDING, function, (), {})

    def begin_backward(self, gradients: Sequence[Tensor]) -> None:
        """What is recorded from now on is the backward of results, from these gradients."""
        if lib.add_recording_inputs(self.handle, len(gradients), [x._ptr for x in gradients]):
            raise_error()

    def settings_of(self, group: Group) -> Group:
        """A group of an optimizer with the numbers that tensors in it were when the call began."""
        for given, numbers in self.numbers:
            if given is group:
                return numbers
        return dict(group)

    def current_settings_of(self, group: Group) -> Group:
        """The same, if nothing was written to these tensors since: a replay reads them when it begins."""
        if not self.numbers or any(lib.written_at(x._ptr) > self.began for x in tensors_in(group)):
            return group
        return self.settings_of(group)

    def uses_inputs(self, first: int) -> bool:
        """Whether one of the inputs from number `first` on is read or written."""
        return bool(lib.recording_uses(self.handle, first))

    def behind(self, x: Tensor) -> Tensor:
        """The argument that a tensor stands for: what is asked of it may be otherwise in the next call."""
        argument = self.asked.get(id(x))
        if argument is None:
            return x
        refuse_recording("the graph, the gradient or the memory of an argument is looked at")
        node = x._edge
        if argument is not x and node is not argument._edge and node is not None and node.is_leaf:
            pass_on(node, argument)
            x._edge, x._leaf = argument._edge, argument._leaf
        return argument

    def note_draw(self, generator: Any, state: Any) -> None:
        """A random number is drawn."""
        self.generators[ctypes.addressof(state)] = (generator, state)

    def refused(self) -> tuple[str, Line | None] | None:
        """Why the call cannot be replayed, and the line that says so."""
        return _placed(lib.recording_refusal(self.handle))

    def differs(self, model: Recorder) -> tuple[str, Line | None] | None:
        """What this recording did otherwise than its model, and the line."""
        if list(map(id, self.steps)) != list(map(id, model.steps)):
            return "another optimizer takes its step", None
        return _placed(lib.recording_difference(self.handle))


class PassOn(Node):
    """The node of a stand-in that became part of a larger graph: it hands its gradient on."""

    is_leaf = False

    def backward(self, gradient: Tensor) -> list[Tensor]:
        return [gradient]

    def release(self) -> None:  # there is nothing to free, and other graphs come this way
        pass


def pass_on(node: Node, argument: Tensor) -> None:
    """Let the argument have the gradients of its stand-in, whose node this is: those that came, and those to come."""
    if node.is_leaf:
        if node.grad is not None:
            add_gradient(argument, node.grad)
        if node.hooks:  # what the function registered is the argument's
            behind: Any = argument._edge
            if behind.hooks:
                behind.hooks.update(node.hooks)
            else:
                behind.hooks, behind.plain = node.hooks, False
            node.hooks = None
        node.__class__, node.edges, node.grad = PassOn, (argument._edge,), None
        del node.result


def add_gradient(x: Tensor, gradient: Any) -> None:
    """Hand an argument what a backward in the function found."""
    if x.grad is not None:
        with set_grad_enabled(gradient.requires_grad):  # as that backward
            gradient = summed(x.grad, gradient, x.is_leaf)
    x.grad = gradient


def _placed(told: tuple[str, str | None, int] | None) -> tuple[str, Line | None] | None:
    """What a recording tells, with the line if it has one."""
    return told and (told[0], None if told[1] is None else (told[1], told[2]))
