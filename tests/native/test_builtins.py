"""C functions as builtin functions (csrc/api/builtins.cpp), and Python's objects that C reads itself."""

import ctypes
import gc
import math
import sys

import pytest

import norch
from norch import _C, prototypes

pytestmark = pytest.mark.skipif(not _C.READS_OBJECTS, reason="this interpreter leaves objects to norch's Python")


def test_functions_are_builtin_unless_ctypes_knows_more():
    builtin = {name for name, function in vars(_C.lib).items() if isinstance(function, type(len))}
    assert {"add_tensor", "linear_backward", "enter_guard", "conv_tensor", "next_draw"} <= builtin
    text_or_many = {name for name in vars(_C.lib) if name not in builtin}
    for name in text_or_many:
        result, arguments = prototypes.PROTOTYPES[name]
        assert result in (ctypes.c_char_p, ctypes.c_void_p) or len(arguments) > 8, name


x = norch.ones(2, 3)
WRONG = {
    "too few": (lambda: _C.lib.add_tensor(x._ptr), TypeError, "add_tensor: expected 2 arguments, got 1"),
    "too many": (lambda: _C.lib.exp_tensor(x._ptr, 1), TypeError, "expected 1 arguments, got 2"),
    "a list for an address": (lambda: _C.lib.exp_tensor([1]), TypeError, "an address or an array, got .1."),
    "text for an integer": (
        lambda: _C.lib.select_tensor(x._ptr, "a", 0),
        TypeError,
        "select: expected an integer, got 'a'",
    ),
    "a float for an integer": (lambda: _C.lib.select_tensor(x._ptr, 0.0, 0), TypeError, "expected an integer, got 0.0"),
    "a bool for an integer": (lambda: _C.lib.select_tensor(x._ptr, True, 0), TypeError, "got True"),
    "65 bits": (lambda: _C.lib.select_tensor(x._ptr, 0, 2**63), norch.RangeError, "9223372036854775808 does not fit"),
    "33 bits": (lambda: _C.lib.set_num_threads(2**31), norch.RangeError, "2147483648 does not fit"),
    "a negative seed": (lambda: _C.lib.philox_block(-1, 0, 0, None), norch.RangeError, "-1 does not fit"),
    "text for a float": (lambda: _C.lib.uniform_into(x._ptr, None, "a", 1.0), TypeError, "uniform: expected a number"),
    "an address of 65 bits": (lambda: _C.lib.exp_tensor(2**64), OverflowError, "too (large|big)"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments_are_refused_before_the_call(case):
    call, error, message = WRONG[case]
    with pytest.raises(error, match=message):
        call()
    assert x.tolist() == [[1.0] * 3] * 2


def test_arguments_and_results_keep_no_references():
    index, data = (0, slice(1, 2)), [[1.5, 2.5]]
    for call in (lambda: x[index], lambda: norch.tensor(data), lambda: norch.tensor(data).tolist(), lambda: x + x):
        call()
        gc.collect()
        before = sys.getrefcount(index), sys.getrefcount(data[0]), sys.getrefcount(None), _C.live_tensors()
        for _ in range(1000):
            call()
        gc.collect()
        after = sys.getrefcount(index), sys.getrefcount(data[0]), sys.getrefcount(None), _C.live_tensors()
        assert all(abs(a - b) < 100 for a, b in zip(before, after)), (before, after)


recursive = []
recursive.append(recursive)
DATA = [
    3, 2.5, True, [], (), [[]], [[], []], [1, 2], [1, True], [True, False], [1, 2.5], (1, (2,)), [[1, 2], (3, 4)],
    [[[1.0]]], [[1], [1, 2]], [1, [2]], [[1], 2], [[], [1]], [[1], []], [[[1]], [[1, 2]]], [None], ["a"], "a", [1, "a"],
    recursive, [2**62], [2**63], [-(2**63)], [2**64, 1.5], [10**400], [10**400, 1.5], [1e300],
    [math.nan, -math.inf, -0.0], [[[[[[[[[1]]]]]]]]], [[[[[[[[1]]]]]]]], [norch.ones(2), norch.ones(2)],
    [norch.tensor(2.0), 1], range(3), [range(2)],
]  # fmt: skip


def outcome(call):
    """What a call gives, so that two of them can be compared."""
    try:
        made = call()
    except Exception as error:
        return type(error), str(error)
    return (made.shape, made.dtype, repr(made.tolist())) if isinstance(made, norch.Tensor) else made


@pytest.mark.parametrize(
    "kind", [None, norch.float32, norch.float64, norch.int64, norch.int8, norch.bool, norch.float16]
)
@pytest.mark.parametrize("place", range(len(DATA)))
def test_lists_are_read_as_norchs_python_reads_them(monkeypatch, place, kind):
    found = outcome(lambda: norch.tensor(DATA[place], dtype=kind))
    monkeypatch.setattr(_C.lib, "tensor_of_values", _C._left_to_python)
    assert found == outcome(lambda: norch.tensor(DATA[place], dtype=kind))


SHAPES = [(), (0,), (1,), (3,), (2, 0), (2, 3), (1, 1, 1), (2, 1, 3)]


@pytest.mark.parametrize("kind", [norch.bool, norch.uint8, norch.int16, norch.int64, norch.float16, norch.float64])
@pytest.mark.parametrize("shape", SHAPES)
def test_values_are_given_as_norchs_python_gives_them(monkeypatch, shape, kind):
    made = (norch.arange(max(1, math.prod(shape)))[: math.prod(shape)].view(shape) % 2).to(kind)
    for tensor in (made, made.T, made[..., None].expand(*shape, 2)):
        found = outcome(tensor.tolist), outcome(tensor.item)
        with monkeypatch.context() as patch:
            patch.setattr(_C.lib, "values_of", _C._left_to_python)
            assert found == (outcome(tensor.tolist), outcome(tensor.item))


INDICES = [
    0, -1, 1, 5, -5, True, None, ..., (), slice(None), slice(1, None), slice(None, -1), slice(0, 9, 2), slice(2, 1),
    2**70, slice(None, None, -1), slice(None, None, 0), slice(-(2**70), 2**70), (0, 1), (..., 0), (None, 0), (0, 0, 0),
    (..., ...), (slice(None), 1), [0], [0, 1], (0, [0]), "a", 1.0, slice(0.5), slice("a"), (slice(1), None, -1),
    (None,) * 7, (None,) * 20, norch.tensor(1), slice(norch.tensor(1), None), (norch.tensor([0, 1]), 0),
]  # fmt: skip


@pytest.mark.parametrize("place", range(len(INDICES)))
def test_indices_are_read_as_norchs_python_reads_them(monkeypatch, place):
    table = norch.arange(6).view(2, 3)
    found = outcome(lambda: table[INDICES[place]])
    monkeypatch.setattr(_C.lib, "parts_of_index", _C._left_to_python)
    slow = outcome(lambda: table[INDICES[place]])
    assert found == slow or (isinstance(found[0], type) and issubclass(found[0], slow[0])), (found, slow)


def test_a_scalar_has_an_index_0_as_in_the_article(monkeypatch):
    number = norch.tensor(4)
    assert number[0] is number
    monkeypatch.setattr(_C.lib, "parts_of_index", _C._left_to_python)
    assert number[0] is number
