"""Memory shared with Python objects: NumPy's arrays, and others that show a buffer or an array interface.

Nothing here copies, and only `numpy()`, which returns an array, imports NumPy. (DLPack is in dlpack.py.)
"""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

import ctypes
import operator
import sys
from typing import TYPE_CHECKING, Any, Sequence

from .. import _C, operation
from .._C import CPYTHON, int64_array, lib
from ..arguments import flags, one_size
from ..devices import of_number
from ..operation import mode, wrap
from ..packing import over_array, tensor_of
from ..types import (
    DTYPES,
    HALVES,
    DType,
    bfloat16,
    bool_,
    check_dtype,
    dtype,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    shown,
    uint8,
)
from .dlpack import from_dlpack

if TYPE_CHECKING:
    import numpy as np
    from _typeshed import ReadableBuffer

    from ..forward_declarations import Tensor

    NumPyArray = np.ndarray[Any, Any]

# ---- Tensors over the memory of others --------------------------------------------------------------------------

_ORDER = "<" if sys.byteorder == "little" else ">"

# As the array interface names dtypes: a byte order, a kind, and the bytes of an element.
_TYPESTRS = {
    bool_: "|b1",
    uint8: "|u1",
    int8: "|i1",
    int16: f"{_ORDER}i2",
    int32: f"{_ORDER}i4",
    int64: f"{_ORDER}i8",
    float16: f"{_ORDER}f2",
    bfloat16: f"{_ORDER}V2",  # as the package ml_dtypes, which adds it to NumPy, has it
    float32: f"{_ORDER}f4",
    float64: f"{_ORDER}f8",
}
_BY_TYPESTR = {typestr: kind for kind, typestr in _TYPESTRS.items()}


def _over(
    owner: object, address: int, shape: Sequence[int], byte_strides: Sequence[int] | None, kind: dtype, read_only: bool
) -> Tensor:
    """A tensor over memory that lives as long as `owner`, which the tensor's storage keeps alive."""
    if not CPYTHON:
        raise BufferError("this Python cannot share the memory of an object: expected CPython, or copy it")
    strides = None
    if byte_strides is not None:
        if any(size > 1 and step % kind.itemsize for size, step in zip(shape, byte_strides)):
            raise ValueError(f"strides {byte_strides} in bytes are not multiples of {kind.itemsize}: copy() the array")
        strides = int64_array([step // kind.itemsize for step in byte_strides])
    sizes = int64_array(shape)
    ptr = lib.external_tensor(address, sizes, strides, len(shape), kind.number, read_only, id(owner))
    return wrap(ptr)


def from_numpy(array: NumPyArray) -> Tensor:
    """A tensor over the memory of a NumPy array: a change of either shows in both, and either may go first.

    Shape and dtype are the array's. A read-only array makes a tensor that refuses writes. Raises TypeError if it is not
    an array or has an unsupported dtype, ValueError for negative strides or a foreign byte order.

    >>> import numpy
    >>> norch.from_numpy(numpy.array([1.0, 2.0]))
    tensor([1., 2.], dtype=norch.float64)
    """
    numpy = sys.modules.get("numpy")  # without NumPy there are no arrays
    if numpy is None or not isinstance(array, numpy.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    if (found := over_array(array)) is not None:
        return found
    if not array.dtype.isnative and array.dtype.kind in "iuf":
        raise ValueError("given numpy array has a byte order that is not this machine's; convert it with astype()")
    interface = array.__array_interface__
    kind = _BY_TYPESTR.get(interface["typestr"])
    if kind is None or kind is bfloat16 or type(array) is not numpy.ndarray:
        return _over_array(array, interface)
    address, read_only = interface["data"]
    return _over(array, address, interface["shape"], interface["strides"], kind, read_only)


def _over_array(array: object, interface: Any) -> Tensor:
    address, shape, strides, read_only = _checked(interface)
    kind = _BY_TYPESTR.get(interface["typestr"])
    if kind is None or (kind is bfloat16 and getattr(getattr(array, "dtype", None), "name", "") != "bfloat16"):
        supported = ", ".join(kind.name for kind in DTYPES)
        name = getattr(array, "dtype", interface["typestr"])
        raise TypeError(f"can't convert an array of {name}: the only supported types are {supported}")
    # the interface may own the memory, as that of a NumPy scalar does
    return _over((array, interface), address, shape, strides, kind, read_only)


def _checked(interface: Any) -> tuple[int, tuple[int, ...], tuple[int, ...] | None, bool]:
    """The address, shape, strides and protection in an array interface. Raises TypeError or ValueError for others."""
    try:
        (address, read_only), shape, strides = interface["data"], tuple(interface["shape"]), interface.get("strides")
        address, strides = operator.index(address), strides if strides is None else tuple(strides)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise TypeError("__array_interface__: expected a dict with typestr, shape and the address in data") from None
    if not 0 <= address < 2**64 or (strides is not None and len(strides) != len(shape)):
        raise ValueError(f"__array_interface__: shape {shape}, strides {strides} at {address} describe no memory")
    return address, shape, strides, bool(read_only)


class _Buffer(ctypes.Structure):
    """Py_buffer of Python's C API, for the one field that a memoryview does not show: the address."""

    _fields_ = [
        ("address", ctypes.c_void_p),
        ("object", ctypes.c_void_p),
        ("nbytes", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("read_only", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_void_p),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    ]


_WRITABLE, _FULL_READ_ONLY = 0x1, 0x11C  # PyBUF_WRITABLE, PyBUF_FULL_RO
if CPYTHON:
    _python = ctypes.PyDLL(None)
    _python.PyObject_GetBuffer.argtypes = [ctypes.py_object, ctypes.POINTER(_Buffer), ctypes.c_int]
    _python.PyBuffer_Release.argtypes = [ctypes.POINTER(_Buffer)]


def _address_of(view: memoryview) -> int:
    if not CPYTHON:
        raise BufferError("this Python does not show the memory of a buffer: expected CPython, or copy it")
    buffer = _Buffer()
    _python.PyObject_GetBuffer(view, buffer, _FULL_READ_ONLY)
    address = buffer.address or 0
    _python.PyBuffer_Release(buffer)
    return address


@flags
def frombuffer(
    buffer: ReadableBuffer, *, dtype: DType, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """A vector [count] over the bytes of a buffer (bytes, bytearray, array.array, mmap, ...) from byte `offset` on.

    `count` is the number of elements, of `dtype`, -1 for as many as there are. Over bytes, which cannot change, the
    tensor refuses writes. Raises ValueError if the object has no buffer, or one that is empty or too short.

    >>> norch.frombuffer(b"\\x01\\x02\\x03", dtype=norch.uint8)
    tensor([1, 2, 3], dtype=norch.uint8)
    """
    kind = check_dtype(dtype)
    try:
        view = memoryview(buffer)
    except TypeError:
        raise ValueError(f"frombuffer: expected an object with a buffer, got {type(buffer).__name__}") from None
    if not view.c_contiguous:
        raise ValueError("frombuffer: expected a contiguous buffer, got one with gaps")
    size, width = view.nbytes, kind.itemsize
    count, offset = one_size(count, "frombuffer: count"), one_size(offset, "frombuffer: offset")
    if size == 0 or count == 0:
        raise ValueError(f"frombuffer: both buffer length ({size}) and count ({count}) must not be 0")
    if not 0 <= offset < size:
        raise ValueError(
            f"frombuffer: offset ({offset} bytes) must be non-negative and no greater than buffer length ({size} "
            "bytes) minus 1"
        )
    if count < 0 and (size - offset) % width:
        raise ValueError(
            f"frombuffer: buffer length ({size - offset} bytes) after offset ({offset} bytes) must be a multiple of "
            f"element size ({width})"
        )
    length = (size - offset) // width if count < 0 else count
    if length * width > size - offset:
        raise ValueError(
            f"frombuffer: requested buffer length ({length} * {width} bytes) after offset ({offset} bytes) must not be "
            f"greater than actual buffer length ({size} bytes)"
        )
    result = _over(view, _address_of(view) + offset, [length], None, kind, view.readonly)
    return result.requires_grad_() if requires_grad else result


def _over_buffer(view: memoryview) -> Tensor | None:
    """A tensor of a buffer's own shape and dtype, None if norch has no such dtype."""
    code = view.format.lstrip(f"@={_ORDER}")
    code = {"l": "q", "L": "Q"}.get(code, code) if view.itemsize == 8 else code
    kind = next((d for d in DTYPES if d.format == code and d.itemsize == view.itemsize), None)
    if kind is None or view.suboffsets:
        return None
    return _over(view, _address_of(view), view.shape or (), view.strides, kind, view.readonly)


def shared(data: Any) -> Tensor | None:
    """A tensor over the memory of an array or buffer; None if only a copy can make a tensor of it."""
    if (found := over_array(data)) is not None:
        return found
    try:
        if hasattr(data, "__array_interface__"):
            interface = data.__array_interface__
            if not isinstance(interface, dict):
                raise TypeError(f"__array_interface__: expected a dict, got {shown(interface)}")
            return _over_array(data, interface) if interface.get("mask") is None else None
        if hasattr(data, "__dlpack__") or type(data).__name__ == "PyCapsule":
            return from_dlpack(data)
        if isinstance(data, (list, tuple, int, float, str)):
            return None
        return _over_buffer(memoryview(data))
    except (AttributeError, TypeError, ValueError, KeyError, RuntimeError, BufferError):
        return None


def as_tensor(data: object, dtype: DType | None = None, device: str | int | None = None) -> Tensor:
    """A tensor of `data` that shares its memory if that can be: a tensor, a NumPy array, a buffer, or a DLPack tensor.

    A tensor that has the dtype and device already is returned itself, else `to` converts it, differentiably. Lists, and
    arrays of unsupported dtypes or strides, are copied as by `norch.tensor`. The shape is that of the data. Raises
    ValueError for ragged lists, TypeError if an element is not a number. What is no tensor goes to the default device.

    >>> x = norch.ones(2)
    >>> norch.as_tensor(x) is x
    True
    >>> norch.as_tensor([1, 2])
    tensor([1, 2])
    """
    found: Tensor | None = data if isinstance(data, operation.Tensor) else shared(data)
    if found is None:
        return tensor_of(data, None if dtype is None else check_dtype(dtype), device)
    if found is not data and device is None and _C.default.device:
        device = of_number(_C.default.device)
    return found if device is dtype is None else found.to(device, dtype)


@flags
def asarray(
    obj: object,
    *,
    dtype: DType | None = None,
    device: str | int | None = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """A tensor of `obj` as by `as_tensor`; with `copy=True` it never shares memory, with `copy=False` always.

    With `requires_grad=False` it leaves the graph of `obj`, with True it requires gradients.

    Raises ValueError if it takes a copy that is forbidden, and as `as_tensor`.

    >>> norch.asarray([1, 2], dtype=norch.float32)
    tensor([1., 2.])
    """
    found: Tensor | None = obj if isinstance(obj, operation.Tensor) else shared(obj)
    result = as_tensor(obj if found is None else found, dtype, device)
    is_copy = found is None or not lib.shares_memory(result._ptr, found._ptr)
    if copy is False and is_copy:
        raise ValueError(f"asarray: {type(obj).__name__} cannot become a tensor without a copy")
    result = result.clone() if copy and not is_copy else result
    if requires_grad is None or requires_grad == result.requires_grad:
        return result
    return result.detach().requires_grad_(requires_grad)


# ---- Tensors as the memory of others ----------------------------------------------------------------------------


class InteropMethods:
    """The methods of Tensor by which NumPy and others see its memory."""

    _over = staticmethod(shared)

    @flags
    def numpy(self: Tensor, *, force: bool = False) -> NumPyArray:
        """A NumPy array of the same shape and dtype over the same memory: a change of either shows in both.

        Either may go first. Outside of `no_grad` it raises RuntimeError for a tensor that requires gradients; it raises
        TypeError for one on a CUDA device. `force=True` is `detach().cpu().numpy()`. Raises ImportError without NumPy.

        >>> x = norch.ones(2)
        >>> x.numpy()[0] = 5  # NumPy must be installed
        >>> x
        tensor([5., 1.])
        """
        if force:
            return self.detach().cpu().numpy()
        if self._edge is not None and mode.enabled:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        if lib.device_of(self._ptr):
            raise TypeError(
                f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host "
                "memory first."
            )
        try:
            import numpy
        except ImportError:
            raise ImportError("numpy() needs NumPy, which is not installed: pip install numpy") from None
        kind = DTYPES[lib.dtype_of(self._ptr)]
        return _array_over(self, kind, numpy) if kind is not bfloat16 else _bfloat16_array(self, numpy)

    def __array__(self: Tensor, dtype: Any = None, copy: bool | None = None) -> NumPyArray:
        array = self.numpy()
        if dtype is None or array.dtype == dtype:
            return array.copy() if copy else array
        if copy is False:
            raise ValueError(f"a tensor of {self.dtype} cannot become an array of {dtype} without a copy")
        return array.astype(dtype)

    def __array_wrap__(self: Tensor, array: Any, context: Any = None, return_scalar: bool = False) -> Tensor:
        """What a function of NumPy made of this tensor, as a tensor again."""
        return from_numpy(array)

    @property
    def __array_interface__(self: Tensor) -> dict[str, Any]:
        if (self._edge is not None and mode.enabled) or self.is_cuda:
            raise AttributeError("__array_interface__: only for tensors on the CPU that require no gradients")
        if self.dtype is bfloat16:  # which the interface cannot name: NumPy asks __array__ next
            raise AttributeError("__array_interface__: NumPy has no bfloat16; __array__ gives that of ml_dtypes")
        self.untyped_storage()  # the tensor keeps it, and the array keeps the tensor
        return _interface(self, self.dtype)

    def __buffer__(self: Tensor, flags: int) -> memoryview:
        """Python 3.12 and later: the memory as a buffer, so that `memoryview(t)` and `bytes(t)` work."""
        if (self._edge is not None and mode.enabled) or self.is_cuda:
            raise BufferError("only tensors on the CPU that require no gradients have a buffer; use detach(), cpu()")
        if self.dtype in HALVES:
            raise BufferError(f"memoryview knows no {self.dtype.name}: use float(), or view(norch.int16) for the bits")
        if not self.is_contiguous():
            raise BufferError(f"strides {self.stride()} of shape {list(self.shape)} leave gaps; use contiguous()")
        read_only = bool(lib.is_read_only(self._ptr))
        if read_only and flags & _WRITABLE:
            raise BufferError("the tensor is over memory that is read-only")
        if self.numel == 0:
            return memoryview((self.dtype.ctype * 0)()) if self.ndim == 1 else _empty_buffer(self)
        memory: Any = (ctypes.c_char * self.nbytes).from_address(self.data_ptr())
        memory.storage = self.untyped_storage()  # so that the memory lives as long as the buffer
        view: Any = memoryview(memory).cast("B")
        view = view.cast(self.dtype.format, list(self.shape))
        return view.toreadonly() if read_only else view


def array_of(x: Tensor) -> NumPyArray:
    """The elements as a NumPy array, of a tensor in a graph or on a GPU too: for what only reads them."""
    import numpy

    x = x.detach().to("cpu") if x.is_cuda else x
    return _array_over(x, x.dtype, numpy)


def _array_over(x: Tensor, kind: dtype, numpy: Any) -> NumPyArray:
    return numpy.asarray(x._ptr if CPYTHON else _Memory(x, kind))  # a Handle has a buffer there


class _Memory:
    """What an array over a tensor keeps: the storage, and how NumPy finds the elements in there."""

    __slots__ = ("__array_interface__", "_storage")

    def __init__(self, tensor: Tensor, kind: dtype) -> None:
        self._storage = lib.hold_storage(tensor._ptr)
        self.__array_interface__ = _interface(tensor, kind)


def _interface(x: Tensor, kind: dtype) -> dict[str, Any]:
    ptr = x._ptr
    strides = None if lib.is_in_row_order(ptr) else tuple([step * kind.itemsize for step in lib.strides_of(ptr)])
    data = (x.data_ptr(), lib.is_read_only(ptr) != 0)
    return {"version": 3, "typestr": _TYPESTRS[kind], "shape": lib.shape_of(ptr), "strides": strides, "data": data}


def _bfloat16_array(tensor: Tensor, numpy: Any) -> NumPyArray:
    try:
        from ml_dtypes import bfloat16 as element
    except ImportError:
        raise TypeError(
            "NumPy has no bfloat16: install ml_dtypes, which adds it, or convert the tensor first, with float()"
        ) from None
    return numpy.asarray(tensor.view(int16)).view(element)


def _empty_buffer(tensor: Tensor) -> memoryview:
    """A buffer whose shape has a 0 in it, which memoryview.cast cannot make."""
    kind: Any = tensor.dtype.ctype
    for size in reversed(tensor.shape):
        kind = kind * size
    return memoryview(kind())
