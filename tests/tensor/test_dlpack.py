"""Tensors exchanged by DLPack, with a producer written in ctypes: what is shared, given back, refused and copied."""

from __future__ import annotations

import ctypes

import pytest
from arrays import DTYPES
from tensors import dtype_named

import norch
from norch import _C

pytestmark = pytest.mark.usefixtures("no_leak")


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("type", ctypes.c_uint8 * 2),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Versioned(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_uint32 * 2),
        ("context", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    ]


class Unversioned(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


NAMES = {Unversioned: b"dltensor", Versioned: b"dltensor_versioned"}
python = ctypes.PyDLL(None)
python.PyCapsule_New.restype = ctypes.py_object
python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
python.PyCapsule_GetPointer.restype = ctypes.c_void_p
python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


LENT = []  # producers live on, as their memory must: the collector would take one that only its own deleter refers to


class Producer:
    """A struct of another library: four floats as [2, 2], with a count of how often they were given back."""

    def __init__(self, kind, strides=(2, 1), code=(2, 32), lanes=1, device=(1, 0), version=(1, 0), flags=0, offset=0):
        self.returned = 0
        self.memory = (ctypes.c_float * 4)(1, 2, 3, 4)
        self.shape, self.strides = (ctypes.c_int64 * 2)(2, 2), strides and (ctypes.c_int64 * 2)(*strides)
        self.managed, self.name = kind(), NAMES[kind]
        tensor = self.managed.tensor
        tensor.data, tensor.ndim, tensor.lanes = ctypes.addressof(self.memory), 2, lanes
        tensor.type[:], tensor.device[:] = code, device
        tensor.shape, tensor.byte_offset = self.shape, offset
        if strides:
            tensor.strides = self.strides
        self.managed.deleter = DELETER(self._returned)
        if kind is Versioned:
            self.managed.version[:], self.managed.flags = version, flags
        LENT.append(self)

    def _returned(self, managed):
        assert managed == ctypes.addressof(self.managed)
        self.returned += 1

    def __dlpack_device__(self):
        return tuple(self.managed.tensor.device)

    def __dlpack__(self, **arguments):
        return python.PyCapsule_New(ctypes.addressof(self.managed), self.name, None)


@pytest.mark.parametrize("kind", NAMES)
def test_import_shares_and_gives_back_once(kind):
    producer = Producer(kind)
    x = norch.from_dlpack(producer)
    assert x.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    x[0, 1] = 9
    assert producer.memory[1] == 9
    row = x[1]
    del x
    assert producer.returned == 0 and row.tolist() == [3.0, 4.0]
    del row
    assert producer.returned == 1


@pytest.mark.parametrize("kind", NAMES)
def test_import_of_strides(kind):
    assert norch.from_dlpack(Producer(kind, strides=(1, 2))).tolist() == [[1.0, 3.0], [2.0, 4.0]]
    assert norch.from_dlpack(Producer(kind, strides=None)).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert norch.from_dlpack(Producer(kind, strides=(1, 1), offset=4)).tolist() == [[2.0, 3.0], [3.0, 4.0]]


def test_a_flag_makes_it_read_only():
    x = norch.from_dlpack(Producer(Versioned, flags=1))
    with pytest.raises(RuntimeError, match="read-only"):
        x.zero_()
    assert x.clone().zero_().sum().item() == 0


REFUSED = {
    "negative strides": ({"strides": (-2, 1)}, ValueError, "negative strides"),
    "strides beyond memory": ({"strides": (2**62, 2**62)}, ValueError, "too large"),
    "float8": ({"code": (7, 8)}, TypeError, "type code 7 of 8 bits"),
    "unsigned 32": ({"code": (1, 32)}, TypeError, "type code 1 of 32 bits"),
    "vectors": ({"lanes": 4}, TypeError, "4 lanes"),
    "other devices": ({"device": (8, 0)}, RuntimeError, "device type 8"),
    "misaligned": ({"offset": 2}, ValueError, "multiples of 4"),
}


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("name", REFUSED)
def test_what_import_refuses_stays_with_its_owner(kind, name):
    changes, error, message = REFUSED[name]
    producer = Producer(kind, **changes)
    capsule = producer.__dlpack__()
    with pytest.raises(error, match=message):
        norch.from_dlpack(capsule)
    assert producer.returned == 0
    assert python.PyCapsule_GetPointer(capsule, producer.name) == ctypes.addressof(producer.managed)  # not renamed


def test_a_version_that_norch_does_not_know():
    with pytest.raises(RuntimeError, match="version 2.7"):
        norch.from_dlpack(Producer(Versioned, version=(2, 7)))


def test_a_capsule_is_consumed_once():
    producer = Producer(Versioned)
    capsule = producer.__dlpack__()
    x = norch.from_dlpack(capsule)
    with pytest.raises(ValueError, match="used_dltensor_versioned"):
        norch.from_dlpack(capsule)
    del x, capsule
    assert producer.returned == 1


def test_copies_are_norchs_own():
    producer = Producer(Versioned)
    x = norch.from_dlpack(producer, copy=True)
    assert producer.returned == 1
    x[0, 0] = 9
    assert producer.memory[0] == 1 and norch.from_dlpack(producer, device="cpu", copy=False)[0, 0] == 1.0


def test_only_what_has_dlpack():
    with pytest.raises(TypeError, match="__dlpack__.*list"):
        norch.from_dlpack([1])


def exported(x, **arguments):
    capsule = x.__dlpack__(**arguments)
    kind = Versioned if arguments.get("max_version") else Unversioned
    return capsule, kind.from_address(python.PyCapsule_GetPointer(capsule, NAMES[kind]))


@pytest.mark.parametrize("version", [None, (1, 0), (1, 3), (2, 0)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_export(dtype, version):
    x = norch.tensor([[1, 0, 1], [0, 1, 1]], dtype=dtype_named(dtype)).T[1:]
    capsule, managed = exported(x, max_version=version)
    shown = managed.tensor
    code = {"bool": 6, "uint8": 1, "bfloat16": 4}.get(dtype, 2 if "float" in dtype else 0)
    assert (shown.data, shown.ndim, list(shown.device), shown.byte_offset) == (x.data_ptr(), 2, [1, 0], 0)
    assert (list(shown.type), shown.lanes) == ([code, 8 * x.element_size()], 1)
    assert (shown.shape[:2], tuple(shown.strides[:2])) == ([2, 2], x.stride())
    if version:
        assert (managed.version[0], managed.flags) == (1, 0)


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_an_exported_tensor_lives_until_it_is_given_back(version):
    before = norch.memory_allocated()
    x = norch.ones(1000)
    capsule, managed = exported(x, max_version=version)
    del x
    assert norch.memory_allocated() == before + 4000
    assert list((ctypes.c_float * 2).from_address(managed.tensor.data)) == [1.0, 1.0]
    del capsule  # nobody consumed it
    assert norch.memory_allocated() == before
    y = norch.from_dlpack(norch.ones(1000))  # somebody did
    assert norch.memory_allocated() == before + 4000 and y.sum().item() == 1000
    del y
    assert norch.memory_allocated() == before


def test_what_export_refuses():
    with pytest.raises(BufferError, match="require gradient, use tensor.detach"):
        norch.ones(2, requires_grad=True).__dlpack__()
    with pytest.raises(BufferError, match="stream"):
        norch.ones(2).__dlpack__(stream=1)
    with pytest.raises(TypeError, match="stream"):
        norch.ones(2).__dlpack__(stream="main")
    with pytest.raises(BufferError, match=r"device \(1, 0\).*\(2, 0\)"):
        norch.ones(2).__dlpack__(dl_device=(2, 0))
    fixed = norch.frombuffer(bytes(4), dtype=norch.float32)
    with pytest.raises(BufferError, match="read-only"):
        fixed.__dlpack__()
    assert exported(fixed, max_version=(1, 0))[1].flags == 1
    assert exported(fixed, max_version=(1, 0), copy=True)[1].flags == 2
    assert exported(fixed, copy=True)[1].tensor.data != fixed.data_ptr()
    assert norch.ones(2).__dlpack_device__() == (1, 0)


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_a_failed_export_leaves_nothing(version):
    x = norch.ones(2)
    _C.fail_allocation(1)
    with pytest.raises(MemoryError):
        x.__dlpack__(max_version=version)
    _C.fail_allocation(0)
