"""norch beside NumPy, torch, safetensors and h5py: memory shared in both directions, lifetimes, and files."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from pathlib import Path

import h5py
import ml_dtypes
import numpy
import pytest
import safetensors.numpy
import safetensors.torch
import torch
from arrays import DTYPES
from hostile_files import HOSTILE
from tensors import dtype_named

import norch

ROOT = Path(norch.__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def clean(no_leak):
    """Every test here gives back what it takes."""


def grid(dtype, library=numpy):
    """[3, 4] of 0, 1, 2, ... (of truths for bool)."""
    counted = library.arange(12).reshape(3, 4)
    return counted.astype(dtype) if library is numpy else counted.to(dtype)


LAYOUTS = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.T,
    "stepped": lambda x: x[1:, ::2],
    "column": lambda x: x[:, 1],
    "one element": lambda x: x[2:, 3:],
    "no dimensions": lambda x: x[1, 1, ...] if isinstance(x, numpy.ndarray) else x[1, 1],
    "empty": lambda x: x[:0],
    "empty within": lambda x: x[:, 4:],
}
IN_NUMPY = [dtype for dtype in DTYPES if dtype != "bfloat16"]
ACROSS = {
    "from_numpy": norch.from_numpy,
    "as_tensor": norch.as_tensor,
    "from_dlpack": norch.from_dlpack,
}


# ---- NumPy to norch --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ACROSS)
@pytest.mark.parametrize("dtype", IN_NUMPY)
def test_an_array_becomes_a_tensor_over_the_same_memory(way, dtype):
    for layout in LAYOUTS.values():
        check_tensor_over(layout(grid(dtype)), ACROSS[way], dtype)


def check_tensor_over(array, convert, dtype):
    x = convert(array)
    oracle = torch.from_numpy(array)
    assert (x.dtype, x.shape, x.tolist()) == (dtype_named(dtype), list(array.shape), array.tolist())
    if array.size > 1:
        assert x.stride() == oracle.stride() and x.data_ptr() == oracle.data_ptr()
    array[...] = 1
    assert x.tolist() == array.tolist()
    x.zero_()
    assert not array.any()


@pytest.mark.parametrize("way", ACROSS)
def test_a_read_only_array(way):
    array = grid("float32")
    array.setflags(write=False)
    x = ACROSS[way](array)
    for write in (x.zero_, lambda: x.add_(1), lambda: x[0].copy_(2)):
        with pytest.raises(RuntimeError, match="read-only"):
            write()
    assert (x * 2).tolist() == (array * 2).tolist() and not x.numpy().flags.writeable


def refused_like_torch(make, of_norch, *, message):
    with pytest.raises(Exception) as expected:
        make(torch.from_numpy)
    with pytest.raises(expected.type, match=message):
        make(of_norch)


def test_what_from_numpy_refuses():
    refused_like_torch(lambda convert: convert([1.0]), norch.from_numpy, message=r"expected np.ndarray \(got list\)")
    refused_like_torch(lambda convert: convert(numpy.arange(3)[::-1]), norch.from_numpy, message="negative strides")
    refused_like_torch(lambda convert: convert(numpy.zeros(2, ">f4")), norch.from_numpy, message="byte order")
    refused_like_torch(lambda convert: convert(numpy.array(["a"])), norch.from_numpy, message="can't convert.*<U1")
    for dtype in ("uint16", "uint32", "uint64", "complex64"):
        with pytest.raises(TypeError, match=f"{dtype}: the only supported types are bool, uint8, int8"):
            norch.from_numpy(numpy.zeros(2, dtype))
    with pytest.raises(ValueError, match="at most 8 dimensions"):
        norch.from_numpy(numpy.zeros((1,) * 9))
    fields = numpy.zeros(3, [("a", "i1"), ("b", "f4")])
    with pytest.raises(ValueError, match="not multiples of 4"):
        norch.from_numpy(fields["b"])


def test_as_tensor_copies_where_it_must():
    backwards = numpy.arange(3)[::-1]
    for array in (backwards, numpy.arange(3, dtype=">f8")):
        x = norch.as_tensor(array)
        assert x.tolist() == array.tolist()
        x[0] = 9
        assert 9 not in array
    with pytest.raises(ValueError, match="negative strides"):
        norch.from_dlpack(backwards)
    assert norch.as_tensor(numpy.float32(2.5)).tolist() == 2.5
    masked = numpy.ma.masked_array([1.0, 2.0], mask=[True, False])
    assert norch.as_tensor(masked.data).tolist() == [1.0, 2.0]


# ---- norch to NumPy --------------------------------------------------------------------------------------------------

BACK = {
    "numpy": lambda x: x.numpy(),
    "asarray": numpy.asarray,
    "from_dlpack": numpy.from_dlpack,
    "__array__": lambda x: x.__array__(),
}


@pytest.mark.parametrize("way", BACK)
@pytest.mark.parametrize("dtype", IN_NUMPY)
def test_a_tensor_becomes_an_array_over_the_same_memory(way, dtype):
    for layout, view in LAYOUTS.items():
        whole = norch.arange(12).reshape(3, 4).to(dtype_named(dtype))
        x = view(whole) if layout != "no dimensions" else whole[1, 1:2].reshape(())
        check_array_over(x, BACK[way], dtype)


def check_array_over(x, convert, dtype):
    array = convert(x)
    assert (array.dtype, array.shape, array.tolist()) == (dtype, tuple(x.shape), x.tolist())
    if array.size > 1:
        assert array.strides == tuple(step * x.element_size() for step in x.stride())
    if array.size:
        x.fill_(1)
        assert array.all()
        if array.flags.writeable:  # what from_dlpack makes is read-only in some versions of NumPy
            array[...] = 0
            assert not x.any().item()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_bfloat16_is_that_of_ml_dtypes(layout):
    """Both ways over the same memory; NumPy's DLPack has no bfloat16, and torch no arrays of it."""
    whole = norch.arange(12).reshape(3, 4).bfloat16()
    x = LAYOUTS[layout](whole) if layout != "no dimensions" else whole[1, 1:2].reshape(())
    for convert in (BACK[way] for way in ("numpy", "asarray", "__array__")):
        check_array_over(x, convert, ml_dtypes.bfloat16)
    for convert in (norch.from_numpy, norch.as_tensor):
        array = LAYOUTS[layout](grid(ml_dtypes.bfloat16))
        y = convert(array)
        assert (y.dtype, y.shape, y.tolist()) == (norch.bfloat16, list(array.shape), array.tolist())
        y.zero_()
        assert not numpy.asarray(array).any() or not array.ndim
    with pytest.raises((BufferError, RuntimeError)):
        numpy.from_dlpack(x)


def test_dtype_and_copy_arguments():
    x = norch.arange(3)
    assert numpy.asarray(x, dtype="float32").dtype == "float32" and numpy.array(x).base is None
    for copy in (True, None, False):
        array = x.__array__(copy=copy)
        assert (array.ctypes.data == x.data_ptr()) is (copy is not True)
    assert x.__array__("float64").tolist() == [0.0, 1.0, 2.0] and x.__array__("int64", copy=False)[1] == 1
    with pytest.raises(ValueError, match="without a copy"):
        x.__array__("float64", copy=False)
    assert numpy.sin(x).tolist() == numpy.sin(numpy.arange(3)).tolist()
    assert numpy.stack([x, x]).shape == (2, 3) and numpy.array([x, x]).tolist() == [[0, 1, 2]] * 2


def test_gradients_stop_at_numpy_as_in_torch():
    x, y = norch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError) as expected:
        y.numpy()
    for convert in (lambda t: t.numpy(), numpy.asarray, numpy.array):
        with pytest.raises(RuntimeError) as found:
            convert(x)
        assert str(found.value) == str(expected.value)
    for convert in (numpy.from_dlpack, torch.from_dlpack, norch.from_dlpack):
        with pytest.raises(BufferError, match="Can't export tensors that require gradient"):
            convert(x)
    array = x.numpy(force=True)
    array[0] = 5
    assert x.tolist() == [5.0, 1.0] and x.detach().numpy()[0] == 5


# ---- norch and torch -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_torch_and_norch_share_by_dlpack(dtype):
    for layout in LAYOUTS.values():
        check_shared_with_torch(layout(grid(getattr(torch, dtype), torch)), dtype)


def check_shared_with_torch(theirs, dtype):
    ours = norch.from_dlpack(theirs)
    back = torch.from_dlpack(ours)
    assert (ours.dtype, ours.shape, ours.tolist()) == (dtype_named(dtype), list(theirs.shape), theirs.tolist())
    assert back.dtype == theirs.dtype and back.tolist() == theirs.tolist()
    if theirs.numel() > 1:
        assert ours.stride() == theirs.stride() == back.stride()
    ours.fill_(1)
    assert bool(theirs.all()) and bool(back.all())
    back.zero_()
    assert not theirs.any() and not ours.any().item()
    assert norch.as_tensor(theirs).tolist() == theirs.tolist()


def test_three_libraries_over_one_memory():
    x = norch.zeros(2, 3)
    array, tensor = x.T.numpy(), torch.from_dlpack(x)
    again = norch.from_numpy(torch.from_dlpack(norch.from_dlpack(array)).numpy())
    again[2, 1] = 7
    assert x[1, 2] == array[2, 1] == tensor[1, 2] == 7


def test_dlpack_refuses_as_it_should():
    with pytest.raises(TypeError, match="type code 5 of 64 bits"):
        norch.from_dlpack(torch.zeros(2, dtype=torch.complex64))
    with pytest.raises(BufferError):
        norch.from_dlpack(torch.zeros(2, requires_grad=True))
    fixed = norch.frombuffer(bytes(8), dtype=norch.float32)
    array = numpy.from_dlpack(fixed)
    assert not array.flags.writeable and array.tolist() == [0.0, 0.0]
    assert numpy.from_dlpack(fixed, copy=True).flags.writeable


@pytest.mark.parametrize("transposed", [False, True])
def test_storage_strides_and_offsets_agree_with_torch(transposed):
    for index in ((slice(1, None),), (slice(None), 1), (Ellipsis, slice(None, None, 2)), (2, slice(1, 3))):
        ours, theirs = norch.arange(12).reshape(3, 4), torch.arange(12).reshape(3, 4)
        if transposed:
            ours, theirs = ours.T, theirs.T
        ours, theirs = ours[index], theirs[index]
        assert (ours.storage_offset(), ours.stride()) == (theirs.storage_offset(), theirs.stride())
        assert ours.is_contiguous() is theirs.is_contiguous() and ours.nbytes == theirs.nbytes
        assert ours.untyped_storage().nbytes() == theirs.untyped_storage().nbytes()
        assert ours.untyped_storage().tolist() == theirs.untyped_storage().tolist()


@pytest.mark.parametrize(
    "arguments",
    [{}, {"count": 1}, {"offset": 4}, {"count": 0}, {"offset": 8}, {"offset": -1}, {"count": 3}, {"offset": 3}],
)
def test_frombuffer_as_torch(arguments):
    def outcome(library):
        try:
            return library.frombuffer(bytearray(range(8)), dtype=library.int32, **arguments).tolist()
        except ValueError as error:
            return str(error).replace("frombuffer: ", "")

    assert outcome(norch) == outcome(torch)


# ---- operators -------------------------------------------------------------------------------------------------------


def test_operators_between_tensors_and_arrays_give_tensors():
    x, array = norch.tensor([[1.0, 2.0], [3.0, 4.0]]), numpy.array([10.0, 20.0], "float32")
    oracle = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    for operation in (
        lambda a, b: a + b,
        lambda a, b: a - b,
        lambda a, b: a * b,
        lambda a, b: a / b,
        lambda a, b: a % b,
        lambda a, b: a == b,
        lambda a, b: a < b,
    ):
        theirs = torch.from_numpy(array)
        for left, right in (((x, array), (oracle, theirs)), ((array, x), (theirs, oracle))):
            found, expected = operation(*left), operation(*right)
            assert isinstance(found, norch.Tensor) and found.tolist() == expected.tolist()
    assert (x @ array).tolist() == (oracle @ torch.from_numpy(array)).tolist()
    assert (array @ x).tolist() == (torch.from_numpy(array) @ oracle).tolist()
    assert (x + array.astype("float64")).dtype is norch.float64 and (x + numpy.float64(1)).dtype is norch.float32


def test_gradients_flow_past_arrays():
    x, array = norch.ones(2, requires_grad=True), numpy.array([2.0, 3.0], "float32")
    product = array * x + x / array
    array[:] = 100
    product.sum().backward()
    assert x.grad.tolist() == pytest.approx([2.5, 3 + 1 / 3])


# ---- lifetimes -------------------------------------------------------------------------------------------------------

LEND = {"numpy": lambda x: x.numpy(), "dlpack": numpy.from_dlpack, "torch": torch.from_dlpack, "buffer": numpy.asarray}


@pytest.mark.parametrize("way", LEND)
def test_either_side_may_go_first(way):
    before = norch.memory_allocated()
    x = norch.full([1000], 3.0)
    other = LEND[way](x[10:])
    del x
    gc.collect()
    assert norch.memory_allocated() == before + 4000 and float(other.sum()) == 2970
    del other
    gc.collect()
    assert norch.memory_allocated() == before
    x = norch.ones(1000)
    other = LEND[way](x)
    del other
    gc.collect()
    assert x.sum().item() == 1000


@pytest.mark.parametrize("way", ACROSS)
def test_an_array_lives_as_long_as_its_tensors(way):
    array = numpy.ones(1000)
    released = weakref.ref(array)
    x = ACROSS[way](array)[3:]
    del array
    gc.collect()
    assert released() is not None and x.sum().item() == 997
    del x
    gc.collect()
    assert released() is None


def test_memory_lent_to_numpy_outlives_a_change_of_data():
    x = norch.tensor([1.0, 2.0])
    array = x.numpy()
    x.data = norch.zeros(2)
    x.data = norch.ones(2)
    assert array.tolist() == [1.0, 2.0] and x.numpy().tolist() == [1.0, 1.0]


AT_EXIT = """
import numpy, torch, norch
keep = [norch.ones(3).numpy(), numpy.from_dlpack(norch.ones(3)), torch.from_dlpack(norch.ones(3))]
norch.keep = [norch.from_numpy(numpy.ones(3)), norch.from_dlpack(torch.ones(3)), norch.from_dlpack(numpy.ones(3)), keep]
numpy.keep = torch.keep = norch.keep
norch.keep.append(norch.keep)
"""


def test_nothing_goes_wrong_at_exit():
    run = subprocess.run([sys.executable, "-c", AT_EXIT], capture_output=True, text=True, cwd=ROOT)
    assert (run.returncode, run.stderr) == (0, "")


# ---- the book's cells -----------------------------------------------------------------------------------------------


def test_cells_55_and_56_numpy_and_back():
    grid = norch.ones(3, 4)
    array = grid.numpy()
    row = "[1., 1., 1., 1.]"
    assert repr(array) == f"array([{row},\n       {row},\n       {row}], dtype=float32)"
    array[0, 0] = 5
    again = norch.from_numpy(array)
    again[2, 3] = 7
    assert (grid[0, 0], grid[2, 3], array[2, 3]) == (5.0, 7.0, 7.0)
    assert norch.from_numpy(numpy.ones(2)).dtype is norch.float64  # NumPy's default is the wider one


# ---- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_safetensors_reads_what_norch_writes(dtype, tmp_path):
    tensors = {name: norch.arange(6).reshape(2, 3).to(dtype_named(dtype)) for name in "ba"}
    turned = norch.arange(6.0).reshape(2, 3).T
    tensors.update(flag=norch.tensor([True, False, True]), empty=norch.empty(0, 2), turned=turned)
    norch.save(tensors, tmp_path / "file")
    by_numpy, by_torch = (library.load_file(tmp_path / "file") for library in (safetensors.numpy, safetensors.torch))
    assert set(by_numpy) == set(by_torch) == set(tensors)
    for name, tensor in tensors.items():
        for found in (by_numpy[name], by_torch[name]):
            assert (found.tolist(), list(found.shape)) == (tensor.tolist(), tensor.shape)
            assert str(found.dtype).split(".")[-1] == tensor.dtype.name
    with safetensors.safe_open(tmp_path / "file", "numpy") as file:
        assert set(file.metadata()) == {"norch"}
        assert file.get_slice("a")[1:, :2].tolist() == tensors["a"][1:, :2].tolist()


@pytest.mark.parametrize("dtype", DTYPES)
def test_norch_reads_what_safetensors_writes(dtype, tmp_path):
    arrays = {"b": grid(dtype), "a": grid(dtype)[0], "none": numpy.zeros((2, 0), dtype), "flag": numpy.array(True)}
    safetensors.numpy.save_file(arrays, tmp_path / "file", metadata={"format": "np", "epoch": "3"})
    found = norch.load(tmp_path / "file")
    assert type(found) is dict and set(found) == set(arrays)
    for name, array in arrays.items():
        assert (found[name].tolist(), found[name].shape) == (array.tolist(), list(array.shape))
        assert found[name].dtype.name == str(array.dtype)


def test_safetensors_too_refuses_what_norch_refuses(tmp_path):
    ours_alone = ("structure", "a bool of 2", "nine dimensions", "unknown dtype", "a name twice")
    for name, (content, _) in HOSTILE.items():
        if not name.startswith(ours_alone):
            with pytest.raises(Exception, match="."):
                safetensors.numpy.load(content)


def test_hdf5_as_in_the_book(tmp_path):
    points = norch.ones(3, 4)
    points[1:] = 2
    with h5py.File(tmp_path / "points.hdf5", "w") as file:
        file.create_dataset("coords", data=points.numpy())
    with h5py.File(tmp_path / "points.hdf5", "r") as file:
        last = norch.from_numpy(file["coords"][-2:])
    assert last.tolist() == [[2.0] * 4] * 2 and last.dtype is norch.float32


@pytest.mark.parametrize("kind", ["float32", "float64", "bfloat16", "float16", "int64", "uint8", "bool"])
@pytest.mark.parametrize("shape", [(), (2,), (0, 3), (2, 0), (2, 3)])
def test_a_tensor_of_torch_is_copied_with_its_shape_and_dtype(kind, shape):
    theirs = torch.ones(shape, dtype=getattr(torch, kind))
    ours = norch.tensor(theirs)
    assert (ours.shape, ours.dtype.name, ours.tolist()) == (tuple(shape), kind, theirs.tolist())
    ours.zero_()
    assert bool((theirs == 1).all())
