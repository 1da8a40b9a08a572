"""Memory shared with the outside world, as far as the standard library goes: buffers, array interfaces."""

from __future__ import annotations

import array
import ctypes
import gc
import mmap
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import pytest
from tensors import dtype_named

import norch
from norch import _C

ROOT = Path(norch.__file__).resolve().parents[1]

pytestmark = pytest.mark.usefixtures("no_leak")

FORMATS = {"bool": "?", "uint8": "B", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "float32": "f"}
FORMATS["float64"] = "d"


class Interface:
    """An object with an array interface over its memory."""

    def __init__(self, values, shape, strides=None, typestr="<f4", read_only=False, **entries):
        self.memory = (ctypes.c_float * len(values))(*values)
        self.__array_interface__ = {
            "version": 3,
            "typestr": typestr,
            "shape": shape,
            "strides": strides,
            "data": (ctypes.addressof(self.memory), read_only),
            **entries,
        }


# ---- frombuffer ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FORMATS)
def test_frombuffer_shares_in_both_directions(dtype):
    buffer = memoryview(bytearray(4 * dtype_named(dtype).itemsize)).cast(FORMATS[dtype])
    x = norch.frombuffer(buffer, dtype=dtype_named(dtype))
    assert x.tolist() == [0, 0, 0, 0] and x.dtype is dtype_named(dtype)
    buffer[1] = 1
    x[2] = 1
    assert x.tolist() == [0, 1, 1, 0] == buffer.tolist()


def test_frombuffer_takes_a_part():
    numbers = array.array("d", range(6))
    assert norch.frombuffer(numbers, dtype=norch.float64, count=2, offset=16).tolist() == [2.0, 3.0]
    assert norch.frombuffer(numbers, dtype=norch.float64, offset=40).tolist() == [5.0]
    assert norch.frombuffer(numbers, dtype=norch.uint8, count=8, offset=8).tolist() == list(numbers.tobytes()[8:16])
    assert norch.frombuffer(numbers, dtype=norch.float64, requires_grad=True).requires_grad


WRITES = ["x[0] = 1", "x.zero_()", "x.add_(1)", "x.sqrt_()", "x[1:].copy_(2)", "x.storage()[0] = 1", "x[[0]] = 1"]
WRITES += ["x.uniform_()", "x.normal_()", "x.scatter_(0, norch.tensor([0]), 1.0)", "x[x > 0] = 1"]
WRITES += ["x.masked_fill_(x > 0, 1)", "x.index_put_((norch.tensor([0]),), norch.ones(1))"]


@pytest.mark.parametrize("write", WRITES)
def test_bytes_cannot_be_written_to(write):
    original = bytes(bytearray(array.array("f", [4.0, 5.0])))
    x = norch.frombuffer(original, dtype=norch.float32)
    with pytest.raises(RuntimeError, match="read-only"):
        exec(write, {"x": x, "norch": norch})
    assert x.tolist() == [4.0, 5.0] and original == bytes(bytearray(array.array("f", [4.0, 5.0])))
    assert (x + 1).tolist() == [5.0, 6.0]
    copy = x.clone()
    copy[0] = 9
    assert copy[0] == 9


def test_an_optimizer_does_not_write_to_read_only_memory():
    x = norch.frombuffer(bytes(8), dtype=norch.float32).requires_grad_()
    x.grad = norch.ones(2)
    with pytest.raises(RuntimeError, match="read-only"):
        norch.optim.SGD([x], lr=1.0).step()
    assert x.tolist() == [0.0, 0.0]


FLOATS = {"dtype": norch.float32}
BAD_BUFFERS = {
    "no buffer": (lambda: norch.frombuffer([1.0], **FLOATS), ValueError, "list"),
    "empty": (lambda: norch.frombuffer(b"", **FLOATS), ValueError, "must not be 0"),
    "count 0": (lambda: norch.frombuffer(bytes(8), count=0, **FLOATS), ValueError, "must not be 0"),
    "ragged": (lambda: norch.frombuffer(bytes(5), **FLOATS), ValueError, r"5 bytes.*multiple of element size \(4\)"),
    "offset past the end": (lambda: norch.frombuffer(bytes(8), offset=8, **FLOATS), ValueError, "offset .8 bytes"),
    "offset below 0": (lambda: norch.frombuffer(bytes(8), offset=-4, **FLOATS), ValueError, "offset .-4 bytes"),
    "too many": (lambda: norch.frombuffer(bytes(8), count=3, **FLOATS), ValueError, r"3 \* 4 bytes.*8 bytes"),
    "enormous": (lambda: norch.frombuffer(bytes(8), count=2**62, **FLOATS), ValueError, "8 bytes"),
    "misaligned": (lambda: norch.frombuffer(bytes(9), offset=1, **FLOATS), ValueError, "multiples of 4"),
    "with gaps": (lambda: norch.frombuffer(memoryview(bytes(8))[::2], dtype=norch.uint8), ValueError, "contiguous"),
    "dtype": (lambda: norch.frombuffer(bytes(8), dtype="f4"), TypeError, "f4"),
}


@pytest.mark.parametrize("name", BAD_BUFFERS)
def test_a_bad_buffer(name):
    make, error, message = BAD_BUFFERS[name]
    with pytest.raises(error, match=message):
        make()


# ---- lifetimes -------------------------------------------------------------------------------------------------------


def test_the_tensor_keeps_the_owner_alive_and_lets_it_go():
    owner = array.array("f", [1.0, 2.0])
    released, x = weakref.ref(owner), norch.frombuffer(owner, **FLOATS)
    del owner
    gc.collect()
    assert released() is not None and x.tolist() == [1.0, 2.0]
    view = x[1:]
    del x
    assert released() is not None and view.tolist() == [2.0]
    del view
    assert released() is None


def test_a_buffer_in_use_cannot_be_resized():
    buffer = bytearray(8)
    x = norch.frombuffer(buffer, **FLOATS)
    with pytest.raises(BufferError):
        buffer.append(1)
    del x
    buffer.append(1)


def test_a_refused_buffer_is_let_go():
    buffer = bytearray(9)
    with pytest.raises(ValueError, match="multiples"):
        norch.frombuffer(buffer, offset=1, **FLOATS)
    _C.fail_allocation(2)
    with pytest.raises(MemoryError):
        norch.frombuffer(buffer, dtype=norch.uint8)
    _C.fail_allocation(0)
    buffer.append(1)


def test_foreign_memory_is_not_counted():
    before = norch.memory_allocated()
    x = norch.frombuffer(bytearray(10**6), dtype=norch.uint8)
    assert norch.memory_allocated() == before
    assert x.clone().numel == 10**6


def test_the_last_reference_may_go_in_any_thread():
    owner = array.array("d", [1.0])
    released, held = weakref.ref(owner), [norch.frombuffer(owner, dtype=norch.float64)]
    del owner
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    assert released() is None


AT_EXIT = """
import array, norch, threading
owner = array.array("f", [1, 2])
norch.kept = norch.frombuffer(owner, dtype=norch.float32)
capsule, unused = norch.ones(3).__dlpack__(), norch.ones(3).__dlpack__(max_version=(1, 0))
storage = norch.ones(3).storage()
cycle = [norch.from_dlpack(norch.ones(2)), storage, norch.kept]; cycle.append(cycle)
print("end")
"""


def test_nothing_goes_wrong_at_exit():
    run = subprocess.run([sys.executable, "-c", AT_EXIT], capture_output=True, text=True, cwd=ROOT)
    assert (run.returncode, run.stdout, run.stderr) == (0, "end\n", "")


def test_files_mapped_into_memory(tmp_path):
    path = tmp_path / "numbers"
    path.write_bytes(array.array("f", range(4)).tobytes())
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        x = norch.frombuffer(mapped, **FLOATS)
        x.mul_(2)
        del x
        mapped.flush()
    assert array.array("f", path.read_bytes()).tolist() == [0.0, 2.0, 4.0, 6.0]


# ---- as_tensor -------------------------------------------------------------------------------------------------------


def test_as_tensor_shares_a_buffer_of_its_own_shape():
    numbers = array.array("d", range(6))
    x = norch.as_tensor(memoryview(numbers).cast("B").cast("d", [2, 3]))
    assert (x.shape, x.dtype) == ([2, 3], norch.float64)
    x[1, 2] = 9
    assert numbers[5] == 9
    assert norch.as_tensor(memoryview(numbers)[::2]).tolist() == [0.0, 2.0, 4.0]
    assert norch.as_tensor(array.array("l", [1, 2])).dtype is norch.int64


def test_as_tensor_copies_what_cannot_be_shared():
    numbers = array.array("h", [1, 2])  # 16 bits
    assert norch.as_tensor(numbers).tolist() == [1, 2]
    backwards = norch.as_tensor(memoryview(array.array("f", [1, 2]))[::-1])
    assert backwards.tolist() == [2.0, 1.0]
    assert norch.as_tensor([1, 2]).dtype is norch.int64 and norch.as_tensor([1.5]).dtype is norch.float32
    assert norch.as_tensor(array.array("f", [1.5]), dtype=norch.float64).dtype is norch.float64


def test_as_tensor_of_a_tensor():
    x = norch.ones(2, requires_grad=True)
    assert norch.as_tensor(x) is x and norch.as_tensor(x, dtype=norch.float32, device="cpu") is x
    norch.as_tensor(x, dtype=norch.float64).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


# ---- the array interface ---------------------------------------------------------------------------------------------


def test_an_array_interface_is_shared():
    owner = Interface([1, 2, 3, 4, 5, 6], (3, 2), strides=(4, 12))
    x = norch.as_tensor(owner)
    assert x.tolist() == [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
    x[0, 0] = 9
    assert owner.memory[0] == 9
    released = weakref.ref(owner)
    del owner
    assert x[2, 1] == 6.0
    del x
    gc.collect()
    assert released() is None


def test_an_array_interface_that_is_read_only():
    x = norch.as_tensor(Interface([1, 2], (2,), read_only=True))
    with pytest.raises(RuntimeError, match="read-only"):
        x[0] = 1


def test_operators_take_what_has_an_array_interface():
    other, x = Interface([1, 2], (2,)), norch.tensor([3.0, 4.0], requires_grad=True)
    results = [x + other, other - x, x * other, x.maximum(other)]
    assert [result.tolist() for result in results] == [[4, 6], [-2, -2], [3, 8], [3, 4]]
    product = x * other
    other.memory[0] = 100  # after the operation: the graph has its own copy
    product.sum().backward()
    assert x.grad.tolist() == [1.0, 2.0]
    y = norch.ones(2)
    y += Interface([1, 2], (2,))
    assert y.tolist() == [2.0, 3.0]
    assert (y @ Interface([1, 2], (2,))).item() == 8.0 and (Interface([1, 2], (2,)) @ y).item() == 8.0


@pytest.mark.parametrize("index", [slice(1, 3), [1, 2], norch.tensor([False, True, True])])
def test_an_array_interface_is_assigned(index):
    x = norch.zeros(3)
    x[index] = Interface([5, 6], (2,))
    assert x.tolist() == [0, 5, 6]


def test_a_tensor_shows_its_array_interface():
    x = norch.tensor([[1, 2, 3], [4, 5, 6]], dtype=norch.int32)
    shown = x.__array_interface__
    assert shown == {"version": 3, "typestr": "<i4", "shape": (2, 3), "strides": None, "data": (x.data_ptr(), False)}
    view = x.T[1:].__array_interface__
    assert (view["shape"], view["strides"], view["data"][0]) == ((2, 2), (4, 12), x.data_ptr() + 4)
    assert norch.frombuffer(bytes(4), **FLOATS).__array_interface__["data"][1] is True
    assert not hasattr(norch.ones(2, requires_grad=True), "__array_interface__")


def test_memory_lent_outlives_a_change_of_data():
    x = norch.tensor([1.0, 2.0])
    address = x.__array_interface__["data"][0]  # whoever reads it holds the tensor
    x.data = norch.zeros(3)
    others = [norch.full([2], 7.0) for _ in range(100)]
    assert list((ctypes.c_float * 2).from_address(address)) == [1.0, 2.0]
    del others


def test_overlapping_memory_of_two_storages():
    buffer = bytearray(array.array("f", [1, 2, 3, 4]))
    x, y = norch.frombuffer(buffer, count=3, offset=4, **FLOATS), norch.frombuffer(buffer, count=3, **FLOATS)
    x.copy_(y)
    assert array.array("f", bytes(buffer)).tolist() == [1.0, 1.0, 2.0, 3.0]


# ---- the buffer protocol ---------------------------------------------------------------------------------------------


def buffer_of(x, flags=0):
    """memoryview(x), which Python makes of `__buffer__` from 3.12 on."""
    return memoryview(x) if sys.version_info >= (3, 12) and not flags else x.__buffer__(flags)


@pytest.mark.parametrize("dtype", FORMATS)
def test_a_buffer_of_a_tensor(dtype):
    x = norch.tensor([[1, 0, 1], [0, 1, 1]], dtype=dtype_named(dtype))
    view = buffer_of(x)
    assert (view.shape, view.format, view.itemsize) == ((2, 3), FORMATS[dtype], x.element_size())
    assert view.tolist() == x.tolist()
    view[0, 1] = 1
    assert x[0, 1] == 1
    del x
    assert view[0, 1] == 1


def test_buffers_of_few_elements():
    assert buffer_of(norch.tensor([2.5]).reshape(())).tolist() == 2.5
    for shape in ((0,), (0, 3), (2, 0)):
        view = buffer_of(norch.empty(shape))
        assert (view.shape, view.nbytes) == (shape, 0)


def test_buffers_that_cannot_be():
    for kind in (norch.float16, norch.bfloat16):
        with pytest.raises(BufferError, match=kind.name):
            norch.ones(2, dtype=kind).__buffer__(0)
    assert norch.frombuffer(b"\x00\x3c", dtype=norch.float16).item() == 1.0
    assert norch.frombuffer(b"\x80\x3f", dtype=norch.bfloat16).item() == 1.0
    with pytest.raises(BufferError, match="gaps"):
        norch.ones(2, 3).T.__buffer__(0)
    with pytest.raises(BufferError, match="gradients"):
        norch.ones(2, requires_grad=True).__buffer__(0)
    fixed = norch.frombuffer(bytes(4), dtype=norch.uint8)
    assert fixed.__buffer__(0).readonly
    with pytest.raises(BufferError, match="read-only"):
        fixed.__buffer__(1)


# ---- without NumPy ---------------------------------------------------------------------------------------------------


def test_numpy_is_optional_and_never_imported_by_norch_alone():
    code = "import sys, norch; norch.ones(3) + 1; norch.as_tensor([1.0]); norch.frombuffer(bytes(4), dtype=norch.uint8)"
    heavy = "print([name for name in ('numpy', 'torch', 'safetensors', 'h5py') if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", f"{code}; {heavy}"], capture_output=True, text=True, cwd=ROOT)
    assert (run.stdout, run.stderr) == ("[]\n", "")


def test_without_numpy_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(ImportError, match="pip install numpy"):
        norch.ones(2).numpy()
    with pytest.raises(TypeError, match=r"expected np.ndarray \(got list\)"):
        norch.from_numpy([1.0])


def test_numpy_of_a_tensor_that_requires_gradients():
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad. Use tensor.detach\(\)"):
        norch.ones(2, requires_grad=True).numpy()
    with norch.no_grad():  # as in the forward of a custom operation
        assert norch.ones(2, requires_grad=True).__array_interface__["shape"] == (2,)


def test_asarray_takes_a_capsule():
    x = norch.ones(2)
    norch.asarray(x.__dlpack__())[0] = 5
    assert x.tolist() == [5.0, 1.0]
