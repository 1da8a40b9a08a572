"""DLPack: tensors handed between libraries without copying, as PyCapsules around a C struct.

The struct is built, read and given back by csrc/api/external.cpp; here is the Python side: `__dlpack__`
makes a capsule, `from_dlpack` consumes one. Both know its versions 0 ("dltensor") and 1 ("dltensor_versioned").
"""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

import ctypes
from ctypes import c_int, c_void_p, py_object
from typing import TYPE_CHECKING, Any

from .. import _C
from .._C import CPYTHON, lib, raise_error
from ..arguments import flags
from ..operation import refuse_recording, wrap
from ..types import shown

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

_python: Any = None  # functions of the interpreter that runs this; others than CPython have no capsules
if CPYTHON:
    _python = ctypes.PyDLL(None)
    _python.PyCapsule_New.restype, _python.PyCapsule_New.argtypes = py_object, [c_void_p, c_void_p, c_void_p]
    _python.PyCapsule_IsValid.restype, _python.PyCapsule_IsValid.argtypes = c_int, [py_object, c_void_p]
    _python.PyCapsule_GetPointer.restype, _python.PyCapsule_GetPointer.argtypes = c_void_p, [py_object, c_void_p]
    _python.PyCapsule_SetName.restype, _python.PyCapsule_SetName.argtypes = c_int, [py_object, c_void_p]

_CPU, _CUDA = 1, 2  # DLDeviceType
_VERSIONS = (False, True)


@flags
def from_dlpack(ext_tensor: object, *, device: str | int | None = None, copy: bool | None = None) -> Tensor:
    """A tensor over the memory of an object with `__dlpack__` (an array or tensor of another library), or its capsule.

    Shape and dtype are those of the object. `copy=True` copies always; `copy=False` never, and raises ValueError if
    `device` needs a copy. Raises the other library's error if that cannot share its memory, TypeError for an
    unsupported dtype, ValueError for negative strides.

    >>> x = norch.ones(2)
    >>> y = norch.from_dlpack(x)
    >>> y.fill_(5)
    tensor([5., 5.])
    >>> x
    tensor([5., 5.])
    """
    result = _consumed(_exported_by(ext_tensor))
    if device is not None and _C.device_number(device) != result._struct.device:
        if copy is False:
            raise ValueError(f"from_dlpack: a tensor on {result.device} cannot be on {device} without a copy")
        return result.to(device)
    return result.clone() if copy else result


def _exported_by(producer: Any) -> object:
    """The capsule of an object with `__dlpack__`, or the object itself if it is a capsule."""
    if type(producer).__name__ == "PyCapsule":
        return producer
    if not hasattr(producer, "__dlpack__"):
        raise TypeError(f"from_dlpack: expected an object with __dlpack__, or a capsule, got {type(producer).__name__}")
    kind, index = producer.__dlpack_device__()
    # norch computes on this stream: the producer finishes its own work before it
    stream = {"stream": lib.stream_of(1 + index) or raise_error()} if kind == _CUDA else {}
    try:
        return producer.__dlpack__(max_version=(1, 0), **stream)
    except TypeError:
        return producer.__dlpack__(**stream)  # an older library without versions


def _consumed(capsule: object) -> Tensor:
    if not CPYTHON:
        raise RuntimeError("from_dlpack: this Python has no capsules: expected CPython")
    for versioned in _VERSIONS:
        name = lib.dlpack_name(versioned, False)
        if _python.PyCapsule_IsValid(capsule, name):
            managed = _python.PyCapsule_GetPointer(capsule, name)
            # First: an interrupt may then lose the struct, but not let it be given back twice.
            _python.PyCapsule_SetName(capsule, lib.dlpack_name(versioned, True))
            handle = lib.tensor_of_dlpack(managed, versioned)
            if not handle:
                _python.PyCapsule_SetName(capsule, name)  # which owns it still
            return wrap(handle)
    raise ValueError(f"from_dlpack: expected a capsule named dltensor or dltensor_versioned, got {shown(capsule)}")


class DLPackMethods:
    """The methods of Tensor by which other libraries take its memory, as in `numpy.from_dlpack(t)`."""

    def __dlpack_device__(self: Tensor) -> tuple[int, int]:
        device = self._struct.device
        return (_CUDA, device - 1) if device else (_CPU, 0)

    def __dlpack__(
        self: Tensor,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """A capsule for `from_dlpack` of any library. Raises BufferError if the memory cannot be shared."""
        if not CPYTHON:
            raise BufferError("__dlpack__: this Python has no capsules: expected CPython")
        if self._edge is not None:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        refuse_recording("memory is shared through DLPack")
        if not isinstance(stream, (int, type(None))):
            raise TypeError(f"__dlpack__: expected an integer or None as stream, got {shown(stream)}")
        source, own = self, self.__dlpack_device__()
        if stream not in (None, -1) and own[0] == _CPU:
            raise BufferError(f"__dlpack__: expected no stream for a tensor on the CPU, got {shown(stream)}")
        if dl_device is not None and tuple(dl_device) != own:
            if tuple(dl_device) != (_CPU, 0):
                raise BufferError(f"__dlpack__: expected device {own} or ({_CPU}, 0), got {tuple(dl_device)}")
            if copy is False:
                raise BufferError("__dlpack__: a tensor cannot move to the CPU without a copy")
            source = self.cpu()
        elif copy:
            source = self.clone()
        versioned = max_version is not None and max_version[0] >= 1
        if not versioned and lib.is_read_only(source._ptr):
            raise BufferError("__dlpack__: memory that is read-only needs max_version (1, 0) or later, or copy=True")
        if own[0] == _CUDA and source._struct.device and stream != -1:  # -1: the consumer wants no synchronization
            lib.let_stream_wait(source._struct.device, 1 if stream is None else stream) == 0 or raise_error()
        managed = lib.dlpack_tensor(source._ptr, versioned, source is not self) or raise_error()
        return _python.PyCapsule_New(managed, lib.dlpack_name(versioned, False), lib.dlpack_destructor())
