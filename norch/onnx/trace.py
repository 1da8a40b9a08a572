"""What a run does, as the calls of the C library that depend on the inputs."""

from __future__ import annotations

import ctypes
import struct
from contextlib import contextmanager
from itertools import accumulate
from types import FunctionType
from typing import Any, Callable, Iterator, Sequence

from .. import _C
from .._C import lib
from ..methods.splitting import BY_INDEX
from ..operation import wrap
from ..prototypes import OBJECT, PROTOTYPES, RESULT, RESULTS, TENSOR, TENSORS
from ..tensor import Tensor
from ..types import DTYPES, dtype

# What ONNX has no operator for: the formula is exported in its place (nn/functional/fused.py, the steps of an LSTM).
BY_FORMULA = {"class_margin_tensor", "row_pairs_tensor", "ctc_tensor", "lstm_tensor"}
# What writes into its first operand, beside the functions named `..._into`.
WRITES = {"assign_tensor", "index_put"}
# Of what writes, those that also read what was there.
_PARTLY = {"index_put", "scatter_into", "masked_scatter_into"}

# What reads a tensor into an object of Python, as which several results come, too.
READS = {"shape_of", "strides_of", "values_of"}

_UNTRACED = {
    name: getattr(lib, name) for name, (_, kinds) in PROTOTYPES.items() if OBJECT not in kinds and name not in READS
}


class Value:
    """A tensor of the run: one that depends on the inputs, or a constant with its elements."""

    def __init__(self, shape: Sequence[int], kind: dtype, constant: Tensor | None = None, number: bool = False) -> None:
        self.shape, self.dtype, self.constant = tuple(shape), kind, constant
        self.number = number  # a Python number, which widens no dtype
        self.source: Any = None  # of a constant: the address, shape and strides of the tensor it was


class Call:
    """A call: the operands in order (None, a Value, or a list of them), its other arguments, what it gave."""

    def __init__(self, name: str, operands: list[Any], arguments: list[Any]) -> None:
        self.name, self.operands, self.arguments = name, operands, arguments
        self.results: list[Any] = []

    @property
    def kind(self) -> dtype:
        """The dtype of the first result."""
        return next(value.dtype for value in self.results if value is not None)

    def sources(self) -> list[Value]:
        """The operands that there are."""
        listed = [v for operand in self.operands for v in (operand if isinstance(operand, list) else [operand])]
        return [value for value in listed if value is not None]

    def without_target(self) -> Call:
        """A call that writes into its first operand, as one that makes a new tensor."""
        plain = Call(self.name.replace("_into", "_tensor"), self.operands[1:], self.arguments)
        plain.results = self.results
        return plain


class Trace:
    def __init__(self, inputs: Sequence[Tensor]) -> None:
        self.calls: list[Call] = []
        self.live: dict[int, Value] = {}  # by the address of the C tensor
        self.inputs = [self._new(int(x._ptr)) for x in inputs]
        self.outputs: list[Value] = []
        self.slices: dict[int, tuple[int, list[Any]]] = {}  # of a slice: the whole, then axis, start and length in turn

    def finish(self, outputs: Sequence[Tensor]) -> None:
        """Keep the calls that the outputs depend on."""
        self.outputs = [self._value(int(x._ptr)) for x in outputs]
        needed, kept = set(self.outputs), []
        for call in reversed(self.calls):
            if needed.intersection(call.results):
                needed.update(call.sources())
                kept.append(call)
        self.calls = kept[::-1]

    def _new(self, ptr: int) -> Value:
        struct = _C.CTensor.from_address(ptr)
        value = self.live[ptr] = Value(struct.shape[: struct.ndim], DTYPES[struct.dtype])
        return value

    def _value(self, ptr: int | None) -> Any:
        if not ptr or ptr in self.live:
            return self.live.get(ptr or 0)
        copy = wrap(_UNTRACED["clone_tensor"](ptr))
        struct = _C.CTensor.from_address(ptr)
        value = Value(copy.shape, copy.dtype, copy, bool(struct.is_number))
        data = ctypes.cast(struct.data, ctypes.c_void_p).value
        value.source = data, tuple(struct.shape[: struct.ndim]), tuple(struct.strides[: struct.ndim])
        return value

    def noted(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, whose calls are noted where they depend on the inputs."""
        result, kinds = PROTOTYPES[name]
        writes = name in WRITES or name.endswith("_into")
        changes = writes or result in (RESULT, RESULTS)  # others check something

        def call(*arguments: Any) -> Any:
            operands = [int(a or 0) for a, kind in zip(arguments, kinds) if _is_tensor(a, kind)]
            listed = [int(a or 0) for given, kind in zip(arguments, kinds) if kind is TENSORS for a in given]
            replaced = writes and name not in _PARTLY
            sources = operands[1:] if replaced else operands + listed
            kept = [None, *operands[1:]] if replaced else operands
            record = changes and any(ptr in self.live for ptr in sources if ptr)
            note = Call(name, [self._value(ptr) for ptr in kept], _plain(arguments, kinds)) if record else None
            if note is not None and listed:
                note.operands.append([self._value(ptr) for ptr in listed])
            whole = self._value(self.slices[operands[0]][0]) if note and writes and operands[0] in self.slices else None
            found = function(*arguments)
            results = found if result is RESULTS else [found] if result is RESULT else []  # null: there is no memory
            made = [operands[0]] if writes else [int(ptr or 0) for ptr in results]
            if note is None:
                for ptr in made:
                    self.live.pop(ptr, None)
                return found
            if changes:
                note.results = [self._new(ptr) if ptr else None for ptr in made]
                self.calls.append(note)
            if writes:
                self._write_through(operands[0], whole)
            if result is RESULTS:
                return tuple(_TracedHandle(handle, self) if handle else handle for handle in found)
            return _TracedHandle(found, self) if result is RESULT and found else found

        def noted_slice(*arguments: Any) -> Any:
            found = call(*arguments)
            if found and arguments[4] == 1:
                source = int(arguments[0])
                whole, places = self.slices.get(source, (source, []))
                self.slices[int(found)] = whole, [*places, arguments[1:4]]
            return found

        return noted_slice if name == "slice_tensor" else call

    def forget(self, ptr: int) -> None:
        """A tensor has gone, and another may get its address."""
        self.live.pop(ptr, None)
        self.slices = {view: whole for view, whole in self.slices.items() if ptr not in (view, whole[0])}

    def _write_through(self, ptr: int, before: Value | None) -> None:
        """After a write: what the tensor is a slice of, with the values `before`, has new ones too."""
        whole, places = self.slices.get(ptr, (ptr, []))
        layers = [] if before is None else [before]
        for axis, start, length in places[:-1]:
            note = Call("slice_tensor", [layers[-1]], [axis, start, length, 1])
            shape = [length if d == axis else size for d, size in enumerate(layers[-1].shape)]
            note.results = [Value(shape, layers[-1].dtype)]
            self.calls.append(note)
            layers += note.results
        part = self.live[ptr]
        for layer, place in zip(reversed(layers), reversed(places)):
            note = Call("put_slice", [layer, part], list(place))
            note.results = [Value(layer.shape, layer.dtype)]
            self.calls.append(note)
            (part,) = note.results
        self.live[whole] = part
        for other in self.live:
            if other not in (ptr, whole) and _UNTRACED["shares_memory"](other, ptr):
                raise RuntimeError("onnx.export: an operation in place writes into memory that other tensors share")


def _refused(*_: Any) -> Any:
    """As a function of the library refuses what only the formula takes."""
    raise _C.ShapeError("onnx.export: a formula takes the place of this call")


def _part(ptr: Any, parts: bytes, count: int) -> Any:
    """part_tensor as slices, selected indices and new axes one by one, which the trace follows."""
    listed = [struct.unpack_from("4q", parts, 32 * k) for k in range(count)]
    rank, axis, found = _C.CTensor.from_address(int(ptr)).ndim, 0, ptr
    used = sum(kind < 2 for kind, *_ in listed)
    if used > rank or sum(kind == 3 for kind, *_ in listed) > 1:
        return _UNTRACED["part_tensor"](ptr, parts, count)  # which says what is wrong
    for kind, start, stop, step in listed:
        size = _C.CTensor.from_address(int(found)).shape[axis] if kind < 2 else 0
        if kind == 0:
            found = lib.select_tensor(found, axis, start)
        elif kind == 1:
            places = range(*slice(start, stop, step).indices(size))
            if len(places) < size:
                found = lib.slice_tensor(found, axis, places.start if places else 0, len(places), step)
        elif kind == 2:
            found = lib.unsqueeze_tensor(found, axis)
        if not found:
            return found
        axis += {0: 0, 3: rank - used}.get(kind, 1)
    return lib.alias_tensor(ptr) if found is ptr else found


def _split(ptr: Any, axis: int, sizes: bytes | None, count: int, how: int) -> tuple[Any, ...]:
    """split_tensor as slices or selected indices."""
    parts = _UNTRACED["split_tensor"](ptr, axis, sizes, count, how)
    axis %= _C.CTensor.from_address(int(ptr)).ndim or 1
    if how == BY_INDEX:
        return tuple(lib.select_tensor(ptr, axis, k) for k in range(len(parts)))
    listed = [_C.CTensor.from_address(int(part)).shape[axis] for part in parts]
    starts = accumulate(listed, initial=0)
    return tuple(lib.slice_tensor(ptr, axis, start, size, 1) for start, size in zip(starts, listed))


class _TracedHandle(int):
    """A Handle that tells its trace when it goes."""

    handle: _C.Handle
    trace: Trace

    def __new__(cls, handle: _C.Handle, trace: Trace) -> Any:
        traced: Any = super().__new__(cls, int(handle))
        traced.handle, traced.trace = handle, trace
        return traced

    def __del__(self) -> None:
        self.trace.forget(int(self))


def _is_tensor(argument: Any, kind: Any) -> bool:
    """Whether an argument is the address of a tensor, or None for one that is left out; arrays are objects."""
    return kind is TENSOR and (argument is None or isinstance(argument, (int, _C.Handle)))


def _plain(arguments: Sequence[Any], kinds: Sequence[Any]) -> list[Any]:
    """The arguments that are no tensors, arrays as tuples."""
    plain = [a for a, kind in zip(arguments, kinds) if kind is not TENSORS and not _is_tensor(a, kind)]
    return [a if isinstance(a, (int, float)) else _listed(a) for a in plain]


def _listed(array: Any) -> tuple[Any, ...]:
    """The elements of an array: bytes hold integers of 64 bits."""
    return tuple(memoryview(array).cast("q") if isinstance(array, bytes) else array)


@contextmanager
def tracing(inputs: Sequence[Tensor]) -> Iterator[Trace]:
    """Note the calls inside. Functions of the library are called through `lib`, and by methods that hold them."""
    trace = Trace(inputs)
    noted = {name: trace.noted(name, function) for name, function in _UNTRACED.items()}
    noted.update(part_tensor=_part, split_tensor=_split, **dict.fromkeys(BY_FORMULA, _refused))
    names = {id(function): name for name, function in _UNTRACED.items()}
    cells = [cell for cell in _cells() if id(cell.cell_contents) in names]
    before = [cell.cell_contents for cell in cells]
    try:
        vars(lib).update(noted)
        for cell, function in zip(cells, before):
            cell.cell_contents = noted[names[id(function)]]
        yield trace
    finally:
        vars(lib).update(_UNTRACED)
        for cell, function in zip(cells, before):
            cell.cell_contents = function


def _cells() -> Iterator[Any]:
    """The cells of the closures of Tensor's methods, in which the rows of tensor.py keep their C functions."""
    waiting: list[Any] = [method for kind in Tensor.__mro__ for method in vars(kind).values()]
    seen: set[int] = set()
    while waiting:
        method = waiting.pop()
        if isinstance(method, FunctionType) and id(method) not in seen:
            seen.add(id(method))
            yield from method.__closure__ or ()
            waiting += [cell.cell_contents for cell in method.__closure__ or ()]
