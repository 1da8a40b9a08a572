"""The C library, loaded, and the handles that own its objects."""

from __future__ import annotations

import ctypes
import os
import sys
from ctypes import c_int32, c_int64, c_uint64, c_void_p
from typing import TYPE_CHECKING, Any, NoReturn

from .version import release


def _load() -> ctypes.CDLL:
    # The package norch-cuda of this version brings the second; that of another version has other functions.
    names = "libnorch.so", f"libnorch_cuda-{release}.so"
    own, with_cuda = (os.path.join(os.path.dirname(__file__), name) for name in names)
    path = os.environ.get("NORCH_LIBRARY") or (with_cuda if os.path.exists(with_cuda) else own)
    if not os.path.exists(path):
        raise ImportError(f"norch's C library is not built: {path} does not exist. Run `make` in the repository.")
    return ctypes.CDLL(os.path.realpath(path))


library = _load()

CPYTHON = sys.implementation.name == "cpython"  # elsewhere ctypes has no PyDLL, and no functions of the interpreter

# A CDLL gives the interpreter's lock back around every call; this keeps it.
keeping_lock = ctypes.PyDLL(library._name, handle=library._handle) if CPYTHON else library

# ---- Ownership --------------------------------------------------------------------------------------------------
#
# A C object lives as long as the Handle by which Python knows it. Every call that is given the Handle holds it, so that
# nothing is freed under a kernel, whatever other threads assign meanwhile; and who brings a tensor back from a
# finalizer has its Handle, too. It is made inside of the call that made the C object, and C frees it: there is no
# moment in which an interrupt could lose the object.

# Functions of Python's C API, in the order of PythonFunctions (core/interpreter.h) and ObjectFunctions (api/objects.h).
_TOLD_TO_C = (
    "Py_IsInitialized PyGILState_Ensure PyGILState_Release Py_IncRef Py_DecRef PyCapsule_IsValid "
    "PyCapsule_GetPointer PyGILState_Check PyEval_SaveThread PyEval_RestoreThread",
    "PyUnicode_InternFromString PyType_FromSpecWithBases PyObject_Type PyObject_Free PyLong_AsVoidPtr "
    "PyObject_GetAttr PyDict_New PyDict_Next PyDict_GetItemWithError PyDict_SetItem PyDict_Update PyList_New "
    "PyList_Append PyList_Size PyTuple_Size PyList_GetItem PyTuple_GetItem PyList_SetSlice PyErr_Clear PyTuple_New "
    "PyTuple_SetItem PyLong_FromVoidPtr PyObject_Call PyErr_Fetch PyErr_Restore PyEval_GetFrame PyFrame_GetBack "
    "PyFrame_GetCode PyFrame_GetLineNumber PyUnicode_AsUTF8 PyCFunction_NewEx PyLong_AsLongLong "
    "PyLong_AsUnsignedLongLong PyFloat_AsDouble PyBytes_AsString PyLong_FromLongLong PyLong_FromUnsignedLongLong "
    "PyFloat_FromDouble PyErr_Occurred PyErr_ExceptionMatches PyErr_Format PyObject_IsInstance PyObject_GetBuffer "
    "PyBuffer_Release PyList_SetItem PySlice_Unpack PyBytes_FromStringAndSize PyType_GenericAlloc PyType_GetSlot "
    "PyObject_SetAttr PyWeakref_NewRef PyDict_DelItem PyDict_Clear PyNumber_Add PyObject_IsTrue PySet_Contains "
    "PySet_Add PySet_Size PyObject_VectorcallDict PyObject_VectorcallMethod",
)


def _addresses_of(names: list[str]) -> Any:
    return (c_void_p * len(names))(*[ctypes.cast(getattr(ctypes.pythonapi, name), c_void_p).value for name in names])


if CPYTHON:
    keeping_lock.use_python(*[_addresses_of(names.split()) for names in _TOLD_TO_C])


def _handle_type(number: int, name: str, free: str) -> Any:
    """The type of handles that own what they hold the address of, which int() gives; the C function `free` frees it.

    (In CPython they are no integers themselves: those would take twice as long to make, beside a small kernel's time.)
    """
    if CPYTHON:
        make = keeping_lock.handle_type
        make.restype, make.argtypes = ctypes.py_object, [c_int32, ctypes.py_object, c_int64]
        made = make(number, (object,), object.__basicsize__)
        made._as_parameter_ = property(int)  # for ctypes
    else:
        give_back = getattr(library, free)
        made = type(name, (int,), {"__slots__": (), "__del__": lambda self: give_back(c_void_p(int(self)))})
    made.__reduce_ex__ = _refuse_to_copy
    return made


def _refuse_to_copy(handle: object, protocol: object) -> NoReturn:
    raise TypeError("a handle of a C object cannot be copied: the copy would free it, too")


if TYPE_CHECKING:

    class Handle(int):  # as it is where there is no CPython
        """What owns a C tensor; false after an error."""

else:
    Handle = _handle_type(0, "Handle", "free_tensor")


def _owned_by(owner: Any) -> Any:
    """The type of a result that Python owns: ctypes calls `_check_retval_` with the address before it returns."""
    return type("Result", (ctypes._SimpleCData,), {"_type_": "Q", "_check_retval_": owner})


RESULT = _owned_by(Handle)
STORAGE_RESULT = _owned_by(_handle_type(1, "StorageHandle", "free_storage"))
RECORDING = _owned_by(_handle_type(2, "RecordingHandle", "free_recording"))
PROGRAM = _owned_by(_handle_type(3, "ProgramHandle", "free_program"))
_handle_type(4, "SavedHandle", "free_saved")  # C makes them (csrc/recording/program.cpp)


def _handles(address: int) -> tuple[Handle, ...]:
    """What C makes of several results in CPython: a tuple of Handles."""
    if not address:
        return ()
    count = c_int64.from_address(address).value
    made = tuple(map(Handle, (c_uint64 * count).from_address(address + 8)))
    keeping_lock.free_results(c_void_p(address))
    return made


RESULTS = ctypes.py_object if CPYTHON else _owned_by(_handles)
