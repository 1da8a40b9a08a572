"""The bridge to the C library: mirrors its Tensor, makes its functions, raises its errors.

Tensors cross the boundary as addresses. A function that builds a tensor returns a Handle (handles.py), which owns it,
or a false one after an error; `wrap` in operation.py makes a Tensor of the one and raises the other.
"""

from __future__ import annotations

import ctypes
import functools
import struct
import sys
import threading
from ctypes import c_double, c_int32, c_int64, c_uint64, c_void_p
from typing import TYPE_CHECKING, Any, NoReturn

from .given import number_in
from .handles import CPYTHON
from .handles import Handle as Handle
from .handles import keeping_lock as _keeping_lock
from .handles import library as _library
from .missing import missing
from .prototypes import OBJECT, PROTOTYPES, QUICK, TENSORS
from .types import NAMES, bool_, float64, int64, shown
from .types import RangeError as RangeError

MAX_DIMS = 8


class CTensor(ctypes.Structure):
    """The mirror of `Tensor` in csrc/tensor.h, field by field. `tensor.tensor.contents` reads it.

    >>> x = norch.Tensor([[1, 2], [3, 4]])
    >>> x.tensor.contents.ndim, x.tensor.contents.data[3]
    (2, 4.0)
    """

    _fields_ = [
        ("data", ctypes.POINTER(ctypes.c_float)),  # the first element, where the dtype is float32
        ("strides", c_int64 * MAX_DIMS),  # in elements
        ("shape", c_int64 * MAX_DIMS),
        ("ndim", c_int32),
        ("device", c_int32),  # 0 is the CPU, 1 + i is cuda:i
        ("size", c_int64),  # number of elements
        ("dtype", c_int32),
        ("is_number", c_int32),
        ("offset", c_int64),  # of the first element in the storage, in elements
        ("storage", c_void_p),
        ("value", c_double),
        ("writes", c_void_p),
    ]


# ---- Functions --------------------------------------------------------------------------------------------------


class ShapeError(ValueError, RuntimeError):
    """Shapes that do not fit each other: a ValueError as in the article, and a RuntimeError as in PyTorch."""

    __module__ = "norch"  # its public place, which tracebacks show


class LinAlgError(RuntimeError):
    """A matrix is singular, not positive-definite, or an iteration does not converge."""

    __module__ = "norch.linalg"


_LinAlgError = LinAlgError  # PyTorch's name here


LIMITS = {c_int32: (-(2**31), 2**31), c_int64: (-(2**63), 2**63), c_uint64: (0, 2**64)}

# How csrc/api/builtins.cpp calls a letter for the type of a result or parameter.
_KINDS = {c_void_p: "p", TENSORS: "t", c_int32: "i", c_int64: "l", c_uint64: "u", c_double: "d", OBJECT: "o"}
_RESULT_KINDS = {c_int32: "i", c_int64: "l", c_uint64: "u", c_double: "d", OBJECT: "o", None: "n"}

if CPYTHON:
    # as KnownObjects in api/objects.h
    _known: list[Any] = [int, bool, float, bytes, list, tuple, slice, ctypes.Array, None, True, False, ...]
    _known += [OverflowError, ValueError, TypeError, MemoryError, RangeError, BufferError, shown]
    _keeping_lock.know_objects((ctypes.py_object * len(_known))(*_known))
    _new_builtin = _keeping_lock.new_builtin
    _new_builtin.restype, _new_builtin.argtypes = OBJECT, [c_void_p, c_void_p, c_void_p, OBJECT, c_int32]


def _builtin(name: str, result: Any, arguments: list[Any]) -> Any:
    """The function as one of the interpreter's own, called in a third of ctypes' time; None if it cannot be."""
    owner = getattr(result, "_check_retval_", None)
    kinds = "h" if owner else _RESULT_KINDS.get(result)
    reals = arguments.count(c_double)
    if not CPYTHON or kinds is None or reals > 4 or len(arguments) - reals > 8:  # MOST_REALS, MOST_WORDS
        return None
    kinds += "".join(map(_KINDS.__getitem__, arguments))
    return _new_builtin(_library._handle, name.encode(), kinds.encode(), owner, name not in QUICK)


def _foreign(name: str, result: Any, arguments: list[Any]) -> Any:
    """The function as ctypes calls it, with errors for what is no number, and for integers that ctypes would cut.

    (A `from_param` would have to do without Ctrl-C: ctypes makes an ArgumentError of any exception in there.)
    """
    function = getattr(_keeping_lock if name in QUICK else _library, name)
    function.restype, function.argtypes = result, arguments
    limits = [(i, *LIMITS[kind]) for i, kind in enumerate(arguments) if kind in LIMITS]

    def call(*given: Any) -> Any:
        for i, low, high in limits:
            if not low <= given[i] < high:
                raise RangeError(f"{given[i]} does not fit into {arguments[i].__name__}")
        try:
            return function(*given)
        except ctypes.ArgumentError:
            reals = [value for kind, value in zip(arguments, given) if kind is c_double]
            wrong = [value for value in reals if not isinstance(value, (int, float))]
            if not wrong:
                raise
            raise TypeError(f"{name.rpartition('_')[0]}: expected a number, got {shown(wrong[0])}") from None

    # A check of each integer would take as long as a quick function: their callers pass what arguments.py gave.
    return call if limits and name not in QUICK else function


# Elsewhere, and where another thread may change a list meanwhile, norch's Python reads lists and indices.
READS_OBJECTS = CPYTHON and getattr(sys, "_is_gil_enabled", lambda: True)()


def _left_to_python(*arguments: Any) -> Any:
    return None


def _sizes_in(struct: CTensor, field: str) -> tuple[int, ...]:
    return tuple(getattr(struct, field)[: struct.ndim])


class Library:
    """The C functions by name, as plain attributes, which Python finds faster than those of a CDLL."""

    path: str = _library._name

    def __init__(self) -> None:
        for name, prototype in PROTOTYPES.items():
            setattr(self, name, _builtin(name, *prototype) or _foreign(name, *prototype))
        if not READS_OBJECTS:
            self.tensor_of_values = self.values_of = self.parts_of_index = _left_to_python
            self.shape_of = lambda handle: _sizes_in(CTensor.from_address(int(handle)), "shape")
            self.strides_of = lambda handle: _sizes_in(CTensor.from_address(int(handle)), "strides")

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


lib = Library()

if lib.instruction_set_error():
    raise ImportError(lib.instruction_set_error().decode())

write_clock = c_int64.in_dll(_library, "write_clock")  # ticks at every write in place

# ---- Errors -----------------------------------------------------------------------------------------------------


SHAPE_ERROR = 6  # the ErrorKind of a ShapeError (csrc/core/errors.h)

_EXCEPTIONS = {
    1: ValueError,
    2: TypeError,
    3: IndexError,
    4: RuntimeError,
    5: MemoryError,
    SHAPE_ERROR: ShapeError,
    7: LinAlgError,
}


def raise_error() -> NoReturn:
    """Raise what the last failed call of this thread left behind."""
    kind, message = lib.error_kind(), lib.error_message().decode(errors="replace")
    raise _EXCEPTIONS.get(kind, RuntimeError)(message)


# ---- Arguments --------------------------------------------------------------------------------------------------

_arrays: dict[tuple[int, ...], bytes] = {}
_MAX_KEPT = 1024


def int64_array(values: Any) -> bytes:
    """Sizes or axes in the memory of a C array. Raises TypeError if one is not an integer, ShapeError for too many."""
    key = values if type(values) is tuple else tuple(values)
    found = _arrays.get(key)  # a training loop repeats its shapes, and C only reads them
    if found is not None:
        return found
    if len(key) > MAX_DIMS + 1:
        raise ShapeError(f"a tensor has at most {MAX_DIMS} dimensions, got {len(key)}")
    try:
        array = struct.pack(f"{len(key)}q", *key)
    except struct.error:
        if all(hasattr(value, "__index__") for value in key):
            raise RangeError(f"expected integers of 64 bits, got {shown(key)}") from None
        raise TypeError(f"expected integers, got {shown(key)}") from None
    if len(_arrays) >= _MAX_KEPT:
        _arrays.clear()
    _arrays[key] = array
    return array


_address_packers: dict[int, Any] = {}


def addresses(values: Any) -> bytes:
    """Addresses (0 for null) and 64-bit integers in the memory of a C array or struct."""
    pack = _address_packers.get(len(values))
    if pack is None:
        pack = _address_packers[len(values)] = struct.Struct(f"{len(values)}Q").pack
    return pack(*values)


class Number:
    """A Python number as an operand: a tensor of no dimensions, with its value inline, that widens no dtype."""

    __slots__ = ("_ptr", "value")
    _edge = None  # a number has no gradient

    _ptr: Any  # a Handle, or None for null

    def __init__(self, value: float) -> None:
        self.value = value
        if isinstance(value, float):
            self._ptr = lib.number_tensor(value, 0, float64.number) or raise_error()
        elif not -(2**63) <= value < 2**63:
            raise RangeError(f"the number {shown(value)} does not fit into int64")
        else:
            kind = bool_ if isinstance(value, bool) else int64
            self._ptr = lib.number_tensor(0.0, int(value), kind.number) or raise_error()


_wholes: dict[Any, Number] = {}
_others: dict[Any, Number] = {}


def number(value: Any) -> Number:
    """The Number of an int, float or bool, also out of a tensor or a NumPy scalar.

    The constants of a training loop come back, so they are kept. Raises TypeError for anything else.
    """
    # 2.0, 2 and True, or 0.0 and -0.0, are equal but not the same
    kind = type(value)
    if kind is not int and kind is not float and kind is not bool:
        value = number_in(value)
        kind = type(value)
    kept = _wholes if kind is int else _others
    key = value if kind is int or (kind is float and value) else (kind, str(value))
    found = kept.get(key)
    if found is None:
        if len(kept) >= _MAX_KEPT:
            kept.clear()
        found = kept[key] = Number(value)
    return found


# ---- Counters and test hooks ------------------------------------------------------------------------------------


def live_tensors() -> int:
    """How many C tensors are alive, kept numbers not counted."""
    return lib.live_tensors() - len(_wholes) - len(_others)


def fail_allocation(countdown: int) -> None:
    """Make the countdown-th allocation from now fail (for tests); 0 disarms."""
    lib.fail_allocation(countdown)


# ---- Devices ----------------------------------------------------------------------------------------------------


class _Default(threading.local):
    device = 0  # the number of the device of new tensors (devices.py changes it)


default = _Default()


def device_number(device: Any) -> int:
    """The C library's number of "cpu", "cuda" or "cuda:1": 0, 1, 2; None is the default device. Raises for others.

    An integer is the index of a CUDA device.
    "meta", where PyTorch's tensors have no memory, is the CPU: models are made there to be filled later.
    """
    if device is None:
        return default.device
    if not isinstance(device, str):
        if isinstance(device, bool) or not isinstance(device, int):
            raise TypeError(f'expected a device such as "cpu", "cuda:0" or 0, got {shown(device)}')
        device = accelerator(device)
    return _number_of(device)


def accelerator(index: int) -> str:
    """The name of the CUDA device of this index. Raises RuntimeError if it is negative, or if there is no device."""
    if index < 0:
        raise RuntimeError(f"the index of a device must not be negative, got {index}")
    if not lib.device_count():
        raise RuntimeError(f"cuda:{index} is not available: {lib.why_no_cuda().decode()}")
    return f"cuda:{index}"


@functools.lru_cache(256)
def _number_of(device: str) -> int:
    kind, colon, index = device.partition(":")
    if device == "meta":
        return 0
    if kind not in ("cpu", "cuda") or (colon and not index.isdecimal()) or (kind == "cpu" and index not in ("", "0")):
        hint = f"; the dtype is norch.{device}" if device in NAMES else '; a GPU is "cuda"' * (kind == "gpu")
        raise RuntimeError(f'unknown device "{device:.100}": expected "cpu", "cuda" or "cuda:0"{hint}')
    if len(index) > 9:  # beyond 32 bits, in which C takes it
        raise RuntimeError(f"unknown device {shown(device)}: the index is too large")
    return 0 if kind == "cpu" else 1 + int(index or 0)


def device_name(number: int) -> str:
    """The inverse of `device_number`: "cpu" or "cuda:i"."""
    return "cpu" if number == 0 else f"cuda:{number - 1}"


# ---- What programs call in PyTorch's module of this name: switches of its compiler, and counts of uses --------------


def _log_api_usage_once(event: str) -> None:
    """Do nothing."""


def _get_tracing_state() -> None:
    """None: nothing is traced."""


def _is_tracing() -> bool:
    """False: nothing is traced."""
    return False


def _are_functorch_transforms_active() -> bool:
    """False: functions under `vmap` get ordinary tensors, one sample after another."""
    return False


def _jit_set_profiling_executor(on: bool) -> bool:
    """False, as the setting that was there before: it changes nothing."""
    return False


_jit_set_profiling_mode = _jit_set_texpr_fuser_enabled = _jit_set_nvfuser_enabled = _jit_set_profiling_executor
_jit_override_can_fuse_on_cpu = _jit_override_can_fuse_on_gpu = _jit_set_profiling_executor

__getattr__ = missing("_C")
