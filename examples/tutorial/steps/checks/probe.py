"""Calls the functions of step 1, before there is a tensor.py."""

import ctypes
import resource
import sys


class CTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.POINTER(ctypes.c_float)),
        ("strides", ctypes.c_int64 * 8),
        ("shape", ctypes.c_int64 * 8),
        ("ndim", ctypes.c_int64),
        ("size", ctypes.c_int64),
    ]


TENSOR, SIZES = ctypes.POINTER(CTensor), ctypes.POINTER(ctypes.c_int64)
lib = ctypes.CDLL("./libtensor.so")
lib.create_tensor.restype = TENSOR
lib.create_tensor.argtypes = [ctypes.POINTER(ctypes.c_float), SIZES, ctypes.c_int64]
lib.free_tensor.restype, lib.free_tensor.argtypes = None, [TENSOR]
lib.get_item.restype, lib.get_item.argtypes = ctypes.c_float, [TENSOR, SIZES]
lib.add_tensor.restype, lib.add_tensor.argtypes = TENSOR, [TENSOR, TENSOR]


def sizes(*numbers):
    return (ctypes.c_int64 * len(numbers))(*numbers)


def create_tensor(numbers, shape):
    """The struct itself: its fields can be read."""
    values = (ctypes.c_float * len(numbers))(*numbers)
    return lib.create_tensor(values, sizes(*shape), len(shape)).contents


def get_item(tensor, *index):
    return lib.get_item(tensor, sizes(*index))


def add_tensor(x, y):
    return lib.add_tensor(x, y).contents


def megabytes():
    """The most memory that this process has used so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)


def growth(times, size):
    """By how many megabytes the process grows while it makes and frees a tensor so many times."""
    values, shape = (ctypes.c_float * size)(), sizes(size)
    before = megabytes()
    for _ in range(times):
        lib.free_tensor(lib.create_tensor(values, shape, 1))
    return megabytes() - before
