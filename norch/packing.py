"""From Python's data to a tensor's memory: numbers, nested lists, arrays."""

from __future__ import annotations

import ctypes
import functools
import math
import struct
import sys
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Sequence, cast

from . import _C, operation
from ._C import RangeError, int64_array, lib, number, raise_error
from .operation import refuse_recording, wrap
from .types import DTYPES, HALVES, Operand, bool_, default, dtype, float32, int64, promoted, shown, uint8

if TYPE_CHECKING:
    from .forward_declarations import Tensor


def address_of(data: object, kind: dtype | None, device: str | int | None) -> _C.Handle:
    """The Handle of a new C tensor with the elements of `data`; `kind` is a dtype, or None to infer it."""
    number = 0 if device == "cpu" else _C.device_number(device)
    if number == 0:
        handle: _C.Handle = lib.tensor_of_values(data, -1 if kind is None else kind.number)  # of what is plain
        if handle:
            return handle
    if type(data) not in _PLAIN:
        array: Tensor | None = data if isinstance(data, operation.Tensor) else _from_array(data)
        if array is not None:
            return _copied(array, kind or array.dtype, number)
        data = _plain(data)
    values, shape = flatten(data)
    if values and _is_array(values[0]):
        return _joined(values, shape, kind, number)
    kind = kind or inferred(values)
    if kind in HALVES:
        return _copied(tensor_of(data, float32), kind, number)
    packed = _packed(values, kind)
    return lib.create_tensor(packed, int64_array(shape), len(shape), kind.number, number) or raise_error()


_PLAIN = {list, tuple, int, float, bool}


def _joined(arrays: Sequence[Any], shape: tuple[int, ...], kind: dtype | None, device: int) -> _C.Handle:
    """The Handle of a new C tensor of arrays, and lists, of one shape, in the shape of the list that holds them."""
    parts = [tensor_of(array, kind) for array in arrays]
    for part in parts:
        if part.shape != parts[0].shape:
            raise ValueError(
                f"ragged nested lists: expected arrays of one shape, got {list(parts[0].shape)} and {list(part.shape)}"
            )
    rows = [part.reshape(-1) for part in parts]
    whole = wrap(lib.cat_tensors([row._ptr for row in rows], len(rows), 0))
    whole = whole.reshape([*shape, *parts[0].shape])
    return _copied(whole, kind or whole.dtype, device)


def _copied(source: Tensor, kind: dtype, device: int) -> _C.Handle:
    rows = wrap(lib.contiguous_tensor(source._ptr))
    copy = wrap(lib.cast_tensor(rows._ptr, kind.number))
    if lib.device_of(copy._ptr) != device:
        copy = wrap(lib.to_device(copy._ptr, device))
    return copy._ptr


def flatten(data: object) -> tuple[Sequence[Any], tuple[int, ...]]:
    """Nested sequences as a flat list and its shape: [[1, 2, 3], [-5, 2, 0]] gives [1, 2, 3, -5, 2, 0] and (2, 3).

    What the list holds may be arrays with dimensions, if they come first.
    """
    if type(data) not in (list, tuple) and not _is_sequence(data):
        return [data], ()
    level: Any = _own(data)
    shape: tuple[int, ...] = (len(level),)
    while level and _is_sequence(level[0]) and not _is_array(level[0]):
        if len(shape) == _C.MAX_DIMS:
            raise ValueError(f"a tensor has at most {_C.MAX_DIMS} dimensions, got lists nested {len(shape) + 1} deep")
        size = len(level[0])
        for i, row in enumerate(level):
            if type(row) not in (list, tuple) and _is_sequence(row):
                row = level[i] = _own(row)
            if not _is_sequence(row) or len(row) != size:
                found = f"a list of length {len(row)}" if _is_sequence(row) else repr(row)
                raise ValueError(
                    f"ragged nested lists: expected a list of length {size} at depth {len(shape)}, got {found}"
                )
        shape += (size,)
        count, level = len(level) * size, list(chain.from_iterable(level))
        if len(level) != count:
            raise RuntimeError(f"nested lists changed while they were read: {count} elements became {len(level)}")
    return level, shape


def _own(sequence: Any) -> list[Any]:
    """The elements in a list that nobody else changes. Raises ValueError if there are not as many as `len` says."""
    if type(sequence) in (list, tuple):
        return list(sequence)
    size = len(sequence)
    elements = list(islice(sequence, size + 1))
    if len(elements) != size:
        raise ValueError(f"{type(sequence).__name__} has a length of {size}, and not as many elements")
    return elements


def _is_sequence(value: Any) -> bool:
    """Whether a value stands for several numbers: a list, an array, or anything else with a length and elements."""
    if isinstance(value, (list, tuple)):
        return True
    if isinstance(value, (int, float, str, bytes, dict, operation.Tensor)) or not hasattr(value, "__len__"):
        return False
    return hasattr(value, "__getitem__") and getattr(value, "shape", None) != ()


def _is_array(value: Any) -> bool:
    """Whether a value is an array with dimensions."""
    if type(value) in _PLAIN or isinstance(value, operation.Tensor):
        return False
    if hasattr(value, "__array__"):
        return getattr(value, "shape", None) != ()
    return hasattr(value, "itemsize") and _is_sequence(value)


def inferred(values: Sequence[object]) -> dtype:
    """The dtype of numbers: bool if all of them are, int64 if all are integers, else the default; an array's own."""
    kinds = set(map(type, values))
    if kinds <= _PLAIN:
        return default.dtype if not kinds or float in kinds else int64 if int in kinds else bool_
    examples = {kind: value for kind, value in zip(map(type, values), values) if kind is not operation.Tensor}
    found = [_dtype_of(value) for value in examples.values()]
    found += [value.dtype for value in values if isinstance(value, operation.Tensor)]
    return functools.reduce(promoted, found)


def _dtype_of(value: object) -> dtype:
    """The dtype of one number."""
    array = None if type(value) in _PLAIN else _from_array(value)
    if array is not None:
        return array.dtype
    if isinstance(value, bool):
        return bool_
    return int64 if isinstance(value, int) else default.dtype


_packers: dict[tuple[int, str], struct.Struct] = {}


def _packed(values: Sequence[Any], kind: dtype) -> bytes | ctypes.Array[Any]:
    """Numbers as the memory of a C array."""
    count = len(values)
    packer = _packers.get((count, kind.format))
    if packer is None:
        packer = struct.Struct(f"{count}{kind.format}")
        if count <= 64:  # small tensors are made over and over
            _packers[count, kind.format] = packer
    try:
        if kind is not bool_ or {int, float, bool}.issuperset(map(type, values)):  # struct takes the truth of anything
            return packer.pack(*values)
    except (struct.error, OverflowError, TypeError, RuntimeError):
        pass  # floats for an integer dtype, 1e40 for float32, or elements that are not numbers
    for value in values:
        if isinstance(value, operation.Tensor) and value.numel != 1:
            shape = list(value.shape)
            raise ValueError(f"a tensor among numbers must have one element, got shape {shape}; stack() joins tensors")
        if _is_sequence(value):
            raise ValueError(f"ragged nested lists: expected a number, got a list of length {len(value)}")
        if not hasattr(value, "__float__") or isinstance(value, str):
            raise TypeError(f"expected numbers, got {shown(value)} ({type(value).__name__})")
    if kind is bool_:
        return struct.pack(f"{count}?", *[float(value) != 0 for value in values])
    if kind.is_floating_point:
        return (kind.ctype * len(values))(*[float(value) for value in values])  # too large is infinite
    whole = math.floor if kind is uint8 else int  # -0.5 is below its limits
    try:
        return struct.pack(f"{len(values)}{kind.format}", *[whole(value) for value in values])
    except (struct.error, OverflowError, ValueError):
        raise RangeError(f"a value does not fit into {kind!r}, among {shown(values)}") from None


def over_array(array: Any) -> Tensor | None:
    """A tensor over the memory of an array of NumPy's own class; None for what needs a closer look, or an error."""
    numpy = sys.modules.get("numpy")  # without NumPy there are no arrays
    ptr = lib.buffer_tensor(array) if numpy and _C.CPYTHON and type(array) is numpy.ndarray else None
    return wrap(ptr) if ptr else None


def _from_array(data: Any) -> Tensor | None:
    """The tensor of an object with a buffer (a NumPy array, a memoryview), DLPack or `__array__`, else None.

    It may lie over the memory of the object.
    """
    if (array := over_array(data)) is not None:
        if not lib.is_read_only(array._ptr):
            refuse_recording("the elements of an array are copied")
        return array
    try:
        buffer = memoryview(data)
    except (TypeError, BufferError):
        if hasattr(data, "__dlpack__"):  # a tensor of another library; None if it does not share its memory
            return cast("Tensor | None", operation.Tensor._over(data))
        if not hasattr(data, "__array__") or hasattr(data, "dtype"):
            return None
        return _from_array(data.__array__())
    except ValueError:  # a dtype that buffers cannot name, such as the bfloat16 of ml_dtypes
        return cast("Tensor | None", operation.Tensor._over(data))
    code = {"l": "q", "=d": "d", "<d": "d", "=f": "f", "<f": "f", "<q": "q", "<i": "i"}.get(
        buffer.format, buffer.format
    )
    kind = next((d for d in DTYPES if d.format == code and d.itemsize == buffer.itemsize), None)
    is_other = getattr(data, "shape", buffer.shape) != buffer.shape  # a numpy.datetime64, which shows its bytes
    if kind is None or buffer.ndim > _C.MAX_DIMS or is_other:
        return None
    if not buffer.readonly:
        refuse_recording("the elements of an array are copied")
    raw = buffer.tobytes()  # in row order, for any strides
    shape = list(buffer.shape or ())
    return wrap(lib.create_tensor(raw, int64_array(shape), len(shape), kind.number, 0))


def _plain(data: Any) -> object:
    """What is no list, number or array, as one of these."""
    if isinstance(data, (list, tuple, int, float)):
        return data
    if hasattr(data, "tolist"):
        if getattr(getattr(data, "dtype", None), "names", None):
            raise TypeError(f"an array of records, {data.dtype}, is no tensor; take one of its fields")
        return data.tolist()
    if _is_sequence(data):
        return [data[i] for i in range(len(data))]
    if hasattr(data, "__float__") and not isinstance(data, str):
        return float(data)
    raise TypeError(
        f"cannot make a tensor of {type(data).__name__}: expected numbers, nested lists, a tensor or an array"
    )


# ---- New tensors -------------------------------------------------------------------------------------------------


def tensor_of(data: object, kind: dtype | None, device: str | int | None = "cpu") -> Tensor:
    """A new tensor with the elements of `data`; the dtype is inferred if `kind` is None."""
    return wrap(address_of(data, kind, device))


def empty_of(sizes: tuple[bytes, int], kind: dtype, device: str | int | None) -> Tensor:
    """A tensor of `packed` sizes whose elements are not set."""
    return wrap(lib.empty_tensor(*sizes, kind.number, _C.device_number(device)))


def full_of(sizes: tuple[bytes, int], value: Operand, kind: dtype, device: str | int | None) -> Tensor:
    """A tensor of `packed` sizes with one value in every element."""
    if not isinstance(value, (int, float)):
        return empty_of(sizes, kind, device).fill_(value)
    return wrap(lib.full_tensor(*sizes, kind.number, _C.device_number(device), number(value)._ptr))


def uninitialized(shape: Sequence[int], kind: dtype, device: str | int | None) -> Tensor:
    """A tensor of a shape whose elements are not set."""
    return empty_of((int64_array(shape), len(shape)), kind, device)


def filled(shape: Sequence[int], value: Operand, kind: dtype, device: str | int | None) -> Tensor:
    """A tensor of a shape with one value in every element."""
    return full_of((int64_array(shape), len(shape)), value, kind, device)


def counting(count: int, device: str | int | None) -> Tensor:
    """0, 1, ... count - 1 as int64."""
    return wrap(lib.integer_arange_tensor(0, 1, count, int64.number, _C.device_number(device)))
