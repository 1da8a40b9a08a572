"""Storage as an object: reading and writing through it, its identity, its lifetime, and where tensors lie in it."""

from __future__ import annotations

import copy
import ctypes
import gc
import sys

import pytest
from concurrently import in_threads

import norch
from norch import _C

pytestmark = pytest.mark.usefixtures("no_leak")


def points():
    return norch.tensor([[4.0, 1.0], [5.0, 3.0], [2.0, 1.0]])


# ---- reading -------------------------------------------------------------------------------------------------------


def test_elements_are_those_of_memory_whatever_the_view():
    x = points()
    for view in (x, x.t(), x[1], x[:, 1]):
        assert view.storage().tolist() == list(view.storage()) == [4.0, 1.0, 5.0, 3.0, 2.0, 1.0]
    assert x.t().contiguous().storage().tolist() == [4.0, 5.0, 2.0, 1.0, 3.0, 1.0]


def test_sizes_and_address():
    x = points()
    storage, raw = x[1:].storage(), x[1:].untyped_storage()
    assert (len(storage), storage.size(), storage.nbytes(), storage.element_size()) == (6, 6, 24, 4)
    assert sys.getsizeof(storage) - sys.getsizeof(norch.ones(0).storage()) == 24  # what summaries of models add up
    assert (len(raw), raw.size(), raw.nbytes(), raw.element_size()) == (24, 24, 24, 1)
    assert storage.data_ptr() == raw.data_ptr() == x.data_ptr() == x[1:].data_ptr() - 8
    assert (storage.dtype, raw.dtype, storage.device, storage.is_cuda) == (norch.float32, norch.uint8, "cpu", False)
    assert ctypes.string_at(raw.data_ptr(), 24) == bytes(raw.tolist())


@pytest.mark.parametrize("index", [6, -7, 2**70])
def test_an_index_out_of_range(index):
    storage = points().storage()
    with pytest.raises(IndexError, match="6 elements"):
        storage[index]
    with pytest.raises(IndexError, match="6 elements"):
        storage[index] = 1.0
    assert (storage[-1], storage[5], storage[0]) == (1.0, 1.0, 4.0)


@pytest.mark.parametrize("index", [(0, 1), slice(2), 1.0, None])
def test_a_storage_has_one_dimension(index):
    with pytest.raises(TypeError, match="one dimension"):
        points().storage()[index]


@pytest.mark.parametrize(
    ("dtype", "values", "text"),
    [
        ("float32", [0.5, -2], " 0.5\n -2.0\n[norch.FloatStorage of size 2]"),
        ("float64", [0.1, 2], " 0.1\n 2.0\n[norch.DoubleStorage of size 2]"),
        ("int64", [7, 8], " 7\n 8\n[norch.LongStorage of size 2]"),
        ("int32", [7, 8], " 7\n 8\n[norch.IntStorage of size 2]"),
        ("uint8", [7, 8], " 7\n 8\n[norch.ByteStorage of size 2]"),
        ("bool", [True, False], " True\n False\n[norch.BoolStorage of size 2]"),
        ("float32", [], "[norch.FloatStorage of size 0]"),
    ],
)
def test_it_prints_a_line_for_each_element(dtype, values, text):
    assert repr(norch.tensor(values, dtype=getattr(norch, dtype)).storage()) == text


def test_bytes_and_long_storages_print_too():
    assert repr(norch.tensor([258], dtype=norch.int32).untyped_storage()) == (
        " 2\n 1\n 0\n 0\n[norch.UntypedStorage of size 4]"
    )
    assert repr(norch.arange(2000).storage()) == (
        " 0\n 1\n 2\n ...\n 1997\n 1998\n 1999\n[norch.LongStorage of size 2000]"
    )


# ---- writing -------------------------------------------------------------------------------------------------------


def test_a_write_shows_in_every_tensor_over_it():
    x = points()
    row, turned, storage = x[1], x.t(), x.storage()
    storage[0], storage[-3] = 2.0, 10
    assert x.tolist() == [[2.0, 1.0], [5.0, 10.0], [2.0, 1.0]]
    assert (row.tolist(), turned[0].tolist()) == ([5.0, 10.0], [2.0, 5.0, 2.0])


def test_bytes_can_be_written():
    x = norch.tensor([1, 0], dtype=norch.int32)
    x.untyped_storage()[5] = 1
    assert x.tolist() == [1, 256]


def test_a_write_is_noticed_by_autograd():
    x = norch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    z = y * y
    before = y._version
    y.storage()[0] = 5.0
    assert y._version == before + 1
    with pytest.raises(RuntimeError, match="in-place"):
        z.sum().backward()


def test_a_parameter_can_be_written_through_its_storage():
    x = norch.tensor([1.0, 2.0], requires_grad=True)
    x.storage()[1] = 7.0
    assert x.tolist() == [1.0, 7.0] and x.requires_grad and x.is_leaf


def test_holding_a_storage_does_not_stop_in_place_operations():
    x, w = norch.ones(2), norch.ones(2, requires_grad=True)
    held = x.storage()
    x.mul_(w)
    x.sum().backward()
    assert w.grad.tolist() == [1.0, 1.0] and held.tolist() == [1.0, 1.0]


# ---- identity and lifetime -----------------------------------------------------------------------------------------


def test_tensors_that_share_give_one_object():
    x = points()
    assert id(x.storage()) == id(x.t().storage())
    held = x.storage()
    assert x[1].storage() is held and x.view(6).storage() is held and x.detach().storage() is held
    assert x.untyped_storage() is x[1].untyped_storage()
    assert x.clone().storage() is not held and x.untyped_storage() is not held


def test_new_memory_has_an_object_of_its_own():
    for _ in range(5):  # the same addresses come back
        x = norch.tensor([1.0, 2.0])
        storage = x.storage()
        assert storage.tolist() == [1.0, 2.0] and x.storage() is storage
        del x, storage


def test_it_keeps_the_memory_alive_by_itself():
    gc.collect()  # of tests before
    before = norch.memory_allocated()
    storage = norch.full([1000], 3.0)[10:].storage()
    gc.collect()
    assert norch.memory_allocated() == before + 4000
    assert storage[999] == 3.0
    storage[0] = 1.0
    assert storage[0] == 1.0
    del storage
    assert norch.memory_allocated() == before


def test_threads_get_the_same_object():
    x, found = points(), []
    in_threads(8, lambda _: found.append(x.t().storage()))
    assert len(found) == 8 and all(storage is x.storage() for storage in found)


def test_new_data_has_new_storage():
    x = points()
    old = x.storage()
    x.data = norch.zeros(2)
    assert x.storage() is not old and x.storage().tolist() == [0.0, 0.0] and old[0] == 4.0


def test_failed_allocations_leave_nothing():
    x = points()
    storage = x.storage()
    _C.fail_allocation(1)
    with pytest.raises(MemoryError):
        storage.tolist()
    _C.fail_allocation(0)
    assert storage.tolist()[0] == 4.0


# ---- where tensors lie ---------------------------------------------------------------------------------------------


def test_metadata():
    x = points()
    second = x[1]
    assert (second.storage_offset(), second.size(), second.stride()) == (2, norch.Size([2]), (1,))
    assert (x.stride(), x.t().stride(), x.stride(0), x.t().stride(-1)) == ((2, 1), (1, 2), 2, 2)
    assert (x.is_contiguous(), x.t().is_contiguous()) == (True, False)
    assert x.contiguous() is x and x.t().contiguous().stride() == (3, 1)
    assert (x.element_size(), x.nbytes, x[:, 1].nbytes, norch.ones(2, dtype=norch.float64).nbytes) == (4, 24, 12, 16)
    assert (x.is_cuda, x.layout is norch.strided, repr(x.layout)) == (False, True, "norch.strided")
    assert isinstance(norch.strided, norch.layout)


def test_an_element_is_where_offset_and_strides_say():
    x = norch.arange(24).reshape(2, 3, 4).permute(2, 0, 1)[1:, :, 1:]
    storage = x.storage()
    for i in range(3):
        for j in range(2):
            for k in range(2):
                place = x.storage_offset() + i * x.stride(0) + j * x.stride(1) + k * x.stride(2)
                assert storage[place] == x[i, j, k]


def test_deep_copies_of_what_shares_memory_share_theirs():
    base = norch.arange(6.0)
    whole, part, turned = copy.deepcopy([base, base[1:3], base.view(2, 3).T])
    whole.zero_()
    assert part.tolist() == [0, 0] and turned.tolist() == [[0, 0]] * 3 and turned.stride() == (1, 3)
    assert base.tolist() == [0, 1, 2, 3, 4, 5]

    module = norch.nn.Module()
    module.register_buffer("whole", base)
    module.register_buffer("part", base[1:3])
    copied = copy.deepcopy(module)
    copied.whole.zero_()
    assert copied.part.tolist() == [0, 0] and module.part.tolist() == [1, 2]


def test_a_deep_copy_has_what_the_tensor_was_given():
    x = norch.ones(2, requires_grad=True)
    x.words, x.itself = ["a"], x
    (3 * x).sum().backward()
    y, gradient = copy.deepcopy([x, x.grad])
    assert y.words == ["a"] and y.words is not x.words and y.itself is y
    assert y.grad is gradient and gradient is not x.grad and gradient.tolist() == [3, 3] and y.requires_grad


def test_a_storage_is_seen_as_bytes():
    x = norch.ones(2)
    seen = x.storage().untyped()
    assert seen.nbytes() == len(seen) == 8 and seen.data_ptr() == x.data_ptr()
