"""What tensors are made of: lists of anything that stands for numbers; and options of the functions that make them."""

from __future__ import annotations

import array
from collections import deque

import pytest

import norch


class Sequence:
    def __init__(self, *values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, index):
        return self.values[index]


class Exporter:
    def __array__(self):
        return array.array("d", [1, 2])


number, vector = norch.tensor(2.5), norch.tensor([1, 2])

FORMS = {
    "0-d tensors": ([number, norch.tensor(1.0)], "float32", [2.5, 1]),
    "0-d tensors of integers": ([norch.tensor(1), norch.tensor(2)], "int64", [1, 2]),
    "tensors of one element": ([norch.tensor([1.5]), norch.tensor([2.0])], "float32", [1.5, 2]),
    "tensors of two dtypes": ([norch.tensor(1), norch.tensor(2.0, dtype=norch.float64)], "float64", [1, 2]),
    "tensors and numbers": ([[number, 1], [True, 2.0]], "float32", [[2.5, 1], [1, 2]]),
    "a tensor that requires gradients": ([norch.ones((), requires_grad=True)], "float32", [1]),
    "a deque": (deque([1, 2]), "int64", [1, 2]),
    "deques": ([deque([1, 2]), deque([3, 4])], "int64", [[1, 2], [3, 4]]),
    "a deque of tuples": (deque([(1, 2.0), (3, 4)]), "float32", [[1, 2], [3, 4]]),
    "a range": (range(3), "int64", [0, 1, 2]),
    "ranges": ([range(2), range(2, 4)], "int64", [[0, 1], [2, 3]]),
    "a sequence": (Sequence(1, 2), "int64", [1, 2]),
    "sequences": ([Sequence(1, 2), [3, 4]], "int64", [[1, 2], [3, 4]]),
    "an array": (array.array("f", [1, 2]), "float32", [1, 2]),
    "arrays": ([array.array("d", [1, 2]), array.array("d", [3, 4])], "float64", [[1, 2], [3, 4]]),
    "arrays of two dtypes": ([array.array("q", [1, 2]), array.array("f", [3, 4])], "float32", [[1, 2], [3, 4]]),
    "an array and a list": ([array.array("i", [1, 2]), [3, 4]], "int64", [[1, 2], [3, 4]]),
    "nested arrays": ([[array.array("i", [1])], [array.array("i", [2])]], "int32", [[[1]], [[2]]]),
    "memory": (memoryview(bytes([1, 2])), "uint8", [1, 2]),
    "what exports an array": (Exporter(), "float64", [1, 2]),
    "a list of what exports arrays": ([Exporter(), Exporter()], "float64", [[1, 2], [1, 2]]),
    "what a size is": (vector.shape, "int64", [2]),
    "bools": ([True, False], "bool", [True, False]),
    "bools and integers": ([True, 2], "int64", [1, 2]),
    "nothing": ([], "float32", []),
    "nothing twice": ([[], []], "float32", [[], []]),
}


@pytest.mark.parametrize("data, dtype, expected", list(FORMS.values()), ids=list(FORMS))
def test_data(data, dtype, expected):
    for made in (norch.tensor(data), norch.as_tensor(data)):
        assert made.dtype.name == dtype and made.tolist() == expected and not made.requires_grad
    assert norch.tensor(data, dtype=norch.float64).tolist() == expected
    assert norch.Tensor(list(data) if isinstance(data, range) else data).dtype is norch.float32


def itself():
    data: list = []
    data.append(data)
    return data


@pytest.mark.parametrize(
    "data, error",
    [
        ([vector, vector], ValueError),
        ([array.array("d", [1]), array.array("d", [1, 2])], ValueError),
        ([1, [2]], ValueError),
        ([[1], 2], ValueError),
        ([Sequence(1), Sequence(1, 2)], ValueError),
        (itself(), ValueError),
        ([itself(), itself()], ValueError),
        (None, TypeError),
        ([None], TypeError),
        ({1: 2}, TypeError),
        ({1, 2}, TypeError),
        (iter([1]), TypeError),
        ("12", TypeError),
        (["12"], TypeError),
    ],
)
def test_what_is_no_data(data, error):
    with pytest.raises(error):
        norch.tensor(data)


# ---- Options of creation ----------------------------------------------------------------------------------------

ZEROS = [[0.0, 0.0]] * 2

OPTIONS = {
    "zeros(size=)": (lambda: norch.zeros(size=(2, 2)), ZEROS),
    "zeros(out=)": (lambda: norch.zeros(2, 2, out=norch.ones(2, 2)), ZEROS),
    "zeros(layout=)": (lambda: norch.zeros(2, 2, layout=norch.strided, pin_memory=False), ZEROS),
    "ones(out=) keeps the dtype": (lambda: norch.ones(1, out=norch.zeros(1, dtype=norch.int64)), [1]),
    "full(size=)": (lambda: norch.full(size=(2,), fill_value=3, layout=None), [3, 3]),
    "full(out=)": (lambda: norch.full((2,), 3, out=norch.empty(0)), [3.0, 3.0]),
    "arange(end=)": (lambda: norch.arange(end=3), [0, 1, 2]),
    "arange(start=, end=)": (lambda: norch.arange(start=1, end=2.5), [1.0, 2.0]),
    "arange(out=)": (lambda: norch.arange(2, out=norch.empty(2)), [0.0, 1.0]),
    "arange of int64 rounds first": (lambda: norch.arange(-0.9, 2.1, 2.0, dtype=norch.int64), [0]),
    "arange of int8 rounds elements": (lambda: norch.arange(2.1, -2.9, -1.0, dtype=norch.int8), [2, 1, 0, -1, -2]),
    "arange of a scalar": (lambda: norch.arange(norch.tensor(2)), [0, 1]),
    "linspace of scalars": (lambda: norch.linspace(norch.tensor(0), norch.tensor(1.0), 3), [0, 0.5, 1]),
    "linspace(out=)": (lambda: norch.linspace(0, 2, 3, out=norch.empty(3, dtype=norch.int64)), [0, 1, 2]),
    "linspace of integers": (lambda: norch.linspace(1.9, 3.9, 3, dtype=norch.int32), [1, 2, 3]),
    "logspace": (lambda: norch.logspace(start=0, end=2, steps=3), [1, 10, 100]),
    "logspace(base=)": (lambda: norch.logspace(0, 2, 3, base=2, dtype=norch.int64), [1, 2, 4]),
    "logspace of one": (lambda: norch.logspace(1, 9, 1), [10]),
    "eye(n=)": (lambda: norch.eye(n=1, m=2, out=norch.empty(1, 2)), [[1, 0]]),
    "scalar_tensor": (lambda: norch.scalar_tensor(3), 3.0),
    "zeros_like(layout=)": (lambda: norch.zeros_like(norch.ones(2), layout=norch.strided), [0, 0]),
    "new_zeros(size=)": (lambda: norch.ones(1).new_zeros(size=(2, 2)), ZEROS),
    "new_full": (lambda: norch.ones(1).new_full((2,), 3, layout=norch.strided), [3, 3]),
    "tril_indices": (lambda: norch.tril_indices(3, 2, -1), [[1, 2, 2], [0, 0, 1]]),
    "triu_indices": (lambda: norch.triu_indices(2, 3, 1, dtype=norch.int32), [[0, 0, 1], [1, 2, 2]]),
    "where of a condition": (lambda: norch.where(norch.tensor([False, True]))[0], [1]),
    "asarray": (lambda: norch.asarray([1, 2], dtype=norch.float64), [1, 2]),
}


@pytest.mark.parametrize("call, expected", list(OPTIONS.values()), ids=list(OPTIONS))
def test_options(call, expected, no_leak):
    assert call().tolist() == expected


def test_options_that_are_refused():
    with pytest.raises(TypeError, match="layout"):
        norch.ones(2, layout=norch.sparse_coo)
    with pytest.raises(TypeError, match="twice"):
        norch.zeros(2, size=(2,))
    with pytest.raises(RuntimeError, match="negative"):
        norch.logspace(0, 1, -1)
    with pytest.raises(RuntimeError, match="shape"):
        norch.linspace(norch.ones(1), 1, 2)
    with pytest.raises(RuntimeError, match="negative"):
        norch.tril_indices(-1, 2)
    with pytest.raises(TypeError, match="both"):
        norch.where(norch.tensor([True]), 1)


# ---- Memory -----------------------------------------------------------------------------------------------------


def test_strides_of_new_tensors():
    assert norch.empty_strided((2, 3), (1, 2)).stride() == (1, 2)
    assert norch.ones(1).new_empty_strided((2, 3), (4, 1)).stride() == (4, 1)
    assert norch.empty_permuted((2, 3, 4), (2, 0, 1)).stride() == (3, 1, 6)
    assert norch.empty_strided((2, 0), (1, 1)).shape == (2, 0)
    for refused in (lambda: norch.empty_strided((2,), (1, 1)), lambda: norch.empty_strided((2,), (-1,))):
        with pytest.raises(ValueError, match="stride"):
            refused()
    with pytest.raises(TypeError, match="empty_permuted: size: expected a list"):
        norch.empty_permuted({2, 3}, (1, 0))
    with pytest.raises(RuntimeError, match="once"):
        norch.empty_permuted((2, 3), (0, 0))


def test_memory_formats():
    x = norch.arange(24.0).reshape(1, 2, 3, 4)
    for last in (
        x.contiguous(memory_format=norch.channels_last),
        x.clone(memory_format=norch.channels_last),
        x.to(memory_format=norch.channels_last),
        x.to(norch.float64, memory_format=norch.channels_last),
        norch.zeros_like(x, memory_format=norch.channels_last).add(x),
    ):
        assert last.tolist() == x.tolist()
    assert norch.empty_like(x, memory_format=norch.channels_last).stride() == (24, 1, 8, 2)
    assert norch.empty_like(x, memory_format=norch.legacy_contiguous_format).is_contiguous()  # old gumbel_softmax
    assert norch.empty(1, 2, 3, 4, memory_format=norch.channels_last).stride() == (24, 1, 8, 2)
    assert norch.empty(1, 2, 3, 4, 5, memory_format=norch.channels_last_3d).stride() == (120, 1, 40, 10, 2)
    last = x.contiguous(memory_format=norch.channels_last)
    assert last.is_contiguous(memory_format=norch.channels_last) and not last.is_contiguous()
    assert last.contiguous(memory_format=norch.channels_last) is last
    assert x.is_contiguous(memory_format=norch.contiguous_format) and x.contiguous() is x
    assert not x.is_contiguous(memory_format=norch.channels_last_3d)  # of another rank
    assert x.clone(memory_format=norch.preserve_format).stride() == x.stride()
    with pytest.raises(RuntimeError, match="4 dimensions"):
        norch.ones(2).clone(memory_format=norch.channels_last)
    assert repr(norch.channels_last) == "norch.channels_last"


def test_options_of_to():
    x = norch.ones(2)
    assert x.to("cpu", norch.float32, True) is x and x.to(norch.float32, non_blocking=True) is x
    for copy in (x.to("cpu", copy=True), x.to(norch.float32, True, True), x.to(x, copy=True)):
        assert copy is not x and copy.data_ptr() != x.data_ptr() and copy.tolist() == [1, 1]
    assert x.to(dtype=norch.int64, device="cpu", non_blocking=True, copy=True).dtype is norch.int64
    w = norch.ones(2, requires_grad=True)
    w.to("cpu", copy=True).sum().backward()
    assert w.grad.tolist() == [1, 1]


def test_asarray_shares_memory_or_not():
    memory = array.array("f", [1, 2])
    shared, copied = norch.asarray(memory), norch.asarray(memory, copy=True)
    memory[0] = 5
    assert shared.tolist() == [5, 2] and copied.tolist() == [1, 2]
    assert norch.asarray(shared) is shared and norch.asarray(shared, copy=True) is not shared
    assert norch.asarray([1.0], requires_grad=True).requires_grad
    with pytest.raises(ValueError, match="copy"):
        norch.asarray([1, 2], copy=False)
