"""How a program looks: the nodes that `print(program)` and `norch.draw_graph(program)` show.

An operation is a node; what it reads is the operation that wrote it last, or a leaf: an input, a parameter, a gradient
that the call came with, the state of an optimizer.
"""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_int32, c_int64, c_void_p
from typing import Any, NamedTuple

from .._C import CTensor, device_name, lib
from ..display.graph.reading import LEAF, OPERATION, Node, Operand, operation_name
from ..display.graph.summary import plural
from ..tensor import Tensor
from ..types import DTYPES

_FIXED, _INPUT, _SAVED, _FRESH, _GRADIENT = 1, 2, 4, 5, 6  # Place::Kind in csrc/recording/program.h
_MOST = 24  # MAX_SHOWN in csrc/recording/api.h


class _StepShown(ctypes.Structure):
    """The mirror of StepShown in csrc/recording/api.h."""

    _fields_ = [
        ("name", c_char_p),
        ("operands", c_int32),
        *[(name, c_int32 * _MOST) for name in ("memory", "place", "written", "number")],
        ("offset", c_int64 * _MOST),
        ("tensor", c_void_p * _MOST),
    ]


class _Value(NamedTuple):
    """An operand of a step."""

    tensor: CTensor
    memory: int  # its number; -1 for a Python number
    place: int
    number: int
    offset: int
    written: bool

    @property
    def shape(self) -> str:
        tensor = self.tensor
        dtype, device = DTYPES[tensor.dtype].name, device_name(tensor.device)
        kind = "" if dtype == "float32" else f" {dtype}"
        return str(list(tensor.shape[: tensor.ndim])) + kind + ("" if device == "cpu" else f" {device}")

    @property
    def nbytes(self) -> int:
        return self.tensor.size * DTYPES[self.tensor.dtype].itemsize

    def text(self) -> str:
        """A Python number as an operand."""
        field = CTensor.value.offset
        value = DTYPES[self.tensor.dtype].ctype.from_address(ctypes.addressof(self.tensor) + field).value
        return f"{value:g}" if isinstance(value, float) else str(value)


def nodes_of(program: Any) -> list[Node]:
    """The steps of a program, and of its backward, with the leaves that they read, operands before their users."""
    reader = _Reader(program)
    for backward in (0, 1):
        for number in range(lib.program_steps(program.handle, backward)):
            reader.add_step(backward, number)
    return reader.nodes


def header(program: Any) -> str:
    """What a program has, in one line."""
    forward, backward = (lib.program_steps(program.handle, phase) for phase in (0, 1))
    parts = [plural(forward, "operation")]
    if backward:
        parts.append(f"{backward:,} of its backward")
    parts.append(f"{plural(program.bytes, 'byte')} to work in")
    return f"program of {program.name}: {', '.join(parts)}"


class _Reader:
    """Makes nodes of steps, in their order."""

    def __init__(self, program: Any) -> None:
        self.program = program
        self.names = _names(program)
        self.nodes: list[Node] = []
        self.last: dict[int, int] = {}  # of each memory, the place of the node that has its value now
        self.count = 0

    def add_step(self, backward: int, number: int) -> None:
        """The node of a step, after those of leaves that it is the first to use."""
        shown = _StepShown()
        lib.step_of_program(self.program.handle, backward, number, ctypes.addressof(shown))
        columns = (shown.memory, shown.place, shown.number, shown.offset, shown.written)
        values = [
            _Value(CTensor.from_address(shown.tensor[i]), *[x[i] for x in columns]) for i in range(shown.operands)
        ]
        written = [x for x in values if x.written]
        changed = [x for x in written if x.memory in self.last or x.place in (_FIXED, _INPUT)]
        operands = [self._operand(x, backward) for x in values if not x.written or x in changed]
        operation = operation_name(shown.name.decode())
        self.count += 1
        shape = ", ".join(dict.fromkeys(x.shape for x in written))
        node = Node(OPERATION, f"%{self.count}", operation, operation, shape, operands)
        if any(x.source is None for x in operands):  # numbers go into the title: mul(·, 3)
            node.title = node.call(lambda o: "·" if o.source is not None else o.text, most=5)
        places = ", ".join(dict.fromkeys(self._place(x, backward) for x in written))
        size = plural(sum(x.nbytes for x in written), "byte") if written else ""
        node.notes = (size, places, "in place" if changed else "")
        self.last.update((x.memory, len(self.nodes)) for x in written)
        self.nodes.append(node)

    def _operand(self, value: _Value, backward: int) -> Operand:
        if value.memory < 0:
            return Operand(value.text())
        if value.memory not in self.last:
            name = self._place(value, backward)
            kind = {_INPUT: "input", _GRADIENT: "gradient"}.get(value.place) or self._named(value.tensor.storage)[1]
            leaf = Node(LEAF, name, name, kind, value.shape)
            leaf.notes = (plural(value.nbytes, "byte"), "", "")
            self.last[value.memory] = len(self.nodes)
            self.nodes.append(leaf)
        place = self.last[value.memory]
        return Operand(self.nodes[place].name, place)

    def _place(self, value: _Value, backward: int) -> str:
        """Where a value lies."""
        program, number = self.program, value.number
        if value.place == _FIXED:
            return self._named(value.tensor.storage)[0]
        if value.place == _GRADIENT:
            return self._gradient_name(program.changed[number])
        if value.place == _INPUT:
            recorded, entry = len(program.recorder.inputs), program.outcome.entry
            if number >= recorded:
                return f"gradient of result {number - recorded}"
            given = sum(program.are_tensors) - len(entry)
            return f"input {number}" if number < given else self._gradient_name(entry[number - given])
        if value.place == _FRESH and backward and number >= 0:
            edge = program.outcome.backward_edges[program.backward_slots[number]]
            if not isinstance(edge, int):
                return self._gradient_name(edge)
            return f"gradient of input {sum(program.are_tensors[:edge])}"
        if value.place == _FRESH:
            return "result" if number < 0 else f"result {number}"
        return f"{'saved' if value.place == _SAVED else 'arena'} +{value.offset}"

    def _named(self, storage: int) -> tuple[str, str]:
        return self.names.get(storage, ("a tensor", "tensor"))

    def _gradient_name(self, node: Any) -> str:
        leaf = node.result()
        return "a gradient" if leaf is None else f"{self._named(lib.storage_of(leaf._ptr))[0]}.grad"


def _names(program: Any) -> dict[int, tuple[str, str]]:
    """By its storage, the name of each tensor that a program works on, and what it is: a parameter, a state."""
    names: dict[int, tuple[str, str]] = {}
    modules = program.watch.modules
    inner = {id(child) for module in modules for child in module.modules() if child is not module}
    for module in (module for module in modules if id(module) not in inner):  # the outermost know the longest names
        for kind, pairs in ("parameter", module.named_parameters()), ("buffer", module.named_buffers()):
            for name, x in pairs:
                names.setdefault(lib.storage_of(x._ptr), (name, kind))
    watch = program.watch
    for x in watch.tensors:
        for name in sorted(filter(None, watch.names_for(x))):
            names.setdefault(lib.storage_of(x._ptr), (name, "tensor"))
    for optimizer in watch.optimizers:
        for parameter, state in optimizer.state.items():
            whose = names.get(lib.storage_of(parameter._ptr), ("a tensor", ""))[0]
            for name, x in state.items():
                if isinstance(x, Tensor):
                    names.setdefault(lib.storage_of(x._ptr), (f"{whose}.{name}", "state"))
    return names
