"""From Python's data to a tensor's memory: numbers, nested lists, arrays."""

from __future__ import annotations

import struct
from itertools import chain
from typing import TYPE_CHECKING, Any, Sequence

from . import _C, operation
from ._C import int64_array, lib, raise_error
from .operation import wrap
from .types import DTYPES, Operand, bool_, dtype, float32, int64

if TYPE_CHECKING:
    import ctypes

    from .forward_declarations import Tensor


def address_of(data: object, kind: dtype | None, device: str) -> int:
    """The address of a new C tensor with the elements of `data`; `kind` is a dtype, or None to infer it."""
    number = 0 if device == "cpu" else _C.device_number(device)
    if not isinstance(data, (list, tuple, int, float)):
        array: Tensor | None = data if isinstance(data, operation.Tensor) else _from_buffer(data)
        if array is not None:
            return _copied(array, kind or array.dtype, number)
        data = _as_lists(data)
    values, shape = flatten(data)
    kind = kind or inferred(values)
    packed = _packed(values, kind)
    return lib.create_tensor(packed, int64_array(shape), len(shape), kind.number, number) or raise_error()


def _copied(source: Tensor, kind: dtype, device: int) -> int:
    copy = wrap(lib.cast_tensor(source._ptr, kind.number))
    if copy._struct.device != device:
        copy = wrap(lib.to_device(copy._ptr, device))
    ptr, copy._ptr = copy._ptr, None
    return ptr


def flatten(data: object) -> tuple[Sequence[Any], tuple[int, ...]]:
    """Nested lists as a flat list and its shape: [[1, 2, 3], [-5, 2, 0]] gives [1, 2, 3, -5, 2, 0] and (2, 3)."""
    if not isinstance(data, (list, tuple)):
        return [data], (1,)
    level: Any = data
    shape: tuple[int, ...] = (len(data),)
    while level and isinstance(level[0], (list, tuple)):
        size = len(level[0])
        for row in level:
            if not isinstance(row, (list, tuple)) or len(row) != size:
                found = f"a list of length {len(row)}" if isinstance(row, (list, tuple)) else repr(row)
                raise ValueError(
                    f"ragged nested lists: expected a list of length {size} at depth {len(shape)}, got {found}"
                )
        shape += (size,)
        level = level[0] if len(level) == 1 else list(chain.from_iterable(level))
    return level, shape


def inferred(values: Sequence[object]) -> dtype:
    """The dtype of Python numbers: bool if all of them are, int64 if all are integers, else float32."""
    if not values or not all(isinstance(value, int) for value in values):
        return float32
    return bool_ if all(isinstance(value, bool) for value in values) else int64


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
        return packer.pack(*values)
    except (struct.error, OverflowError, TypeError):
        pass  # floats for an integer dtype, 1e40 for float32, or elements that are not numbers
    for value in values:
        if isinstance(value, (list, tuple)):
            raise ValueError(f"ragged nested lists: expected a number, got a list of length {len(value)}")
        if not hasattr(value, "__float__") or isinstance(value, str):
            raise TypeError(f"expected numbers, got {value!r} ({type(value).__name__})")
    if kind.is_floating_point:
        return (kind.ctype * len(values))(*[float(value) for value in values])  # too large is infinite
    try:
        return struct.pack(f"{len(values)}{kind.format}", *[int(value) for value in values])
    except (struct.error, OverflowError, ValueError):
        raise OverflowError(f"a value does not fit into {kind!r}") from None


def _from_buffer(data: Any) -> Tensor | None:
    """The tensor of an object with a buffer (a NumPy array, array.array, memoryview), None for others."""
    try:
        buffer = memoryview(data)
    except TypeError:
        return None
    code = {"l": "q", "=d": "d", "<d": "d", "=f": "f", "<f": "f", "<q": "q", "<i": "i"}.get(
        buffer.format, buffer.format
    )
    kind = next((d for d in DTYPES if d.format == code and d.itemsize == buffer.itemsize), None)
    if kind is None or buffer.ndim > _C.MAX_DIMS:
        return None
    raw = buffer.tobytes()  # in row order, for any strides
    shape = list(buffer.shape or ()) or [1]
    return wrap(lib.create_tensor(raw, int64_array(shape), len(shape), kind.number, 0))


def _as_lists(data: Any) -> object:
    if hasattr(data, "tolist"):
        return data.tolist()
    if isinstance(data, range):
        return list(data)
    if hasattr(data, "__float__") and not isinstance(data, str):
        return float(data)
    raise TypeError(
        f"cannot make a tensor of {type(data).__name__}: expected numbers, nested lists, a tensor or an array"
    )


# ---- New tensors -------------------------------------------------------------------------------------------------


def tensor_of(data: object, kind: dtype | None, device: str = "cpu") -> Tensor:
    """A new tensor with the elements of `data`; the dtype is inferred if `kind` is None."""
    return wrap(address_of(data, kind, device))


def uninitialized(shape: Sequence[int], kind: dtype, device: str) -> Tensor:
    """A tensor whose elements are not set."""
    return wrap(lib.empty_tensor(int64_array(shape), len(shape), kind.number, _C.device_number(device)))


def filled(shape: Sequence[int], value: Operand, kind: dtype, device: str) -> Tensor:
    """A tensor with one value in every element."""
    return uninitialized(shape, kind, device).fill_(value)


def counting(count: int, device: str) -> Tensor:
    """0, 1, ... count - 1 as int64."""
    return wrap(lib.integer_arange_tensor(0, 1, count, int64.number, _C.device_number(device)))
