"""arange and linspace element by element, promotion of dtypes, and conversions between them, at their limits too."""

from __future__ import annotations

import itertools
import math

import pytest
from arrays import DTYPES, REAL, WHOLE, promote, wrap
from compare import assert_close
from tensors import dtype_named

import norch

inf, nan = math.inf, math.nan

# ---- arange and linspace ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bounds", [(5,), (0,), (2, 7), (7, 2, -1), (0, 10, 3), (10, 0, -3), (-5, 5, 2), (3, 3), (2**62, 2**62 + 5, 2)]
)
def test_arange_of_integers_is_a_range(bounds, device):
    assert_close(norch.arange(*bounds, device=device), list(range(*bounds)), "int64")


def test_arange_of_integers_beyond_64_bits_is_refused():
    for bounds in ((2**64, 2**64 + 3), (0, 2**65, 2**64), (-(2**64), -(2**64) + 2)):
        with pytest.raises(OverflowError, match="does not fit into norch.int64"):
            norch.arange(*bounds)
    assert norch.arange(2.0**64, 2.0**64 + 8192, 4096, dtype=norch.float64).tolist() == [2.0**64, 2.0**64 + 4096]


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize(
    "bounds", [(0.0, 1.0, 0.1), (1.0, -1.0, -0.25), (0, 1000, 0.1), (-3.7, 12.2, 0.03), (0.5, 0.6)]
)
def test_arange_of_floats_rounds_each_element_once(bounds, dtype, device):
    start, end, step = (*bounds, 1)[:3]
    count = math.ceil((end - start) / step)
    expected = [wrap(start + i * step, dtype) for i in range(count)]
    result = norch.arange(*bounds, dtype=dtype_named(dtype), device=device)
    assert result.tolist() == expected and result.dtype is dtype_named(dtype)


def test_arange_dtypes(device):
    assert norch.arange(3.0).dtype is norch.arange(0, 3, 1.0).dtype is norch.float32
    assert_close(norch.arange(3, dtype=norch.float64, device=device), [0.0, 1.0, 2.0], "float64")
    assert_close(norch.arange(0.5, 3, dtype=norch.int32, device=device), [0, 1, 2], "int32")
    assert_close(norch.arange(norch.tensor([3]), device=device), [0, 1, 2], "int64")
    assert norch.arange(2.0, requires_grad=True).requires_grad
    assert norch.arange(1_000_000, device=device)[999_999].__index__() == 999_999
    assert norch.arange(2**53, 2**53 + 3).tolist() == [2**53, 2**53 + 1, 2**53 + 2]


def test_arange_refuses_what_it_cannot_count():
    for bounds, error, text in [
        ((0, 5, 0), ValueError, "nonzero"),
        ((5, 0), ValueError, "sign"),
        ((0.0, inf), ValueError, "inf"),
        ((nan,), ValueError, "nan"),
        ((2**70,), MemoryError, "many"),
        ((1e30,), MemoryError, "many"),
        ((2**60,), MemoryError, "too large|allocate"),
        (("a",), TypeError, "str"),
    ]:
        with pytest.raises(error, match=text):
            norch.arange(*bounds)


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize(
    "start, end, steps", [(0, 1, 11), (-2.5, 7, 100), (3, -4, 6), (1, 1, 3), (2, 5, 1), (0, 1, 0), (0, 3, 2)]
)
def test_linspace_is_symmetric_and_ends_where_it_should(start, end, steps, dtype, device):
    result = norch.linspace(start, end, steps, dtype=dtype_named(dtype), device=device)
    step = (end - start) / (steps - 1) if steps > 1 else 0.0
    expected = [start + i * step if i < steps // 2 else end - (steps - 1 - i) * step for i in range(steps)]
    assert result.tolist() == [wrap(x, dtype) for x in (expected if steps != 1 else [start])]
    if steps > 1:
        assert result[0] == start and result[steps - 1] == end
        backwards = norch.linspace(-end, -start, steps, dtype=dtype_named(dtype), device=device)
        middle = steps // 2 if steps % 2 else steps
        assert all(x == -y or i == middle for i, (x, y) in enumerate(zip(result.tolist(), backwards.tolist()[::-1])))


def test_linspace_of_integers_truncates(device):
    assert_close(norch.linspace(0, 10, 5, dtype=norch.int64, device=device), [0, 2, 5, 7, 10], "int64")
    assert_close(norch.linspace(3, -4, 6, dtype=norch.int32, device=device), [3, 1, 0, -1, -2, -4], "int32")


def test_new_tensors_of_another(device):
    x = norch.zeros(2, dtype=norch.float64, device=device)
    assert_close(x.new_zeros(1, 2), [[0.0, 0.0]], "float64")
    assert_close(x.new_ones((2,), dtype=norch.int64), [1, 1], "int64")
    assert_close(x.new_full((2,), 7), [7.0, 7.0], "float64")
    assert_close(x.new_tensor([1, 2]), [1.0, 2.0], "float64")
    assert x.new_empty(3, 0).shape == [3, 0]
    assert norch.eye(2, 3).tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    with pytest.raises(TypeError, match=r"2\.5"):
        norch.eye(2.5)
    with pytest.raises(norch.ShapeError, match="eye: .* 2 and -1"):
        norch.eye(2, -1)


# ---- dtypes among each other -----------------------------------------------------------------------------------------


def category(dtype):
    return 2 if dtype in REAL else 0 if dtype == "bool" else 1


@pytest.mark.parametrize("first, second", list(itertools.product(DTYPES, DTYPES)))
def test_promotion_of_tensors(first, second, device):
    """With dimensions the larger dtype wins; a tensor of none, and a number, count only in a higher category."""
    a, b = dtype_named(first), dtype_named(second)
    larger = dtype_named(promote(first, second))
    raised = larger if category(second) > category(first) else a
    one, other, zero_d = norch.ones(2, dtype=a, device=device), norch.ones(2, dtype=b, device=device), None
    zero_d = other[:1].reshape(())
    assert norch.promote_types(a, b) is norch.result_type(one, other) is (one + other).dtype is larger
    assert norch.result_type(one, zero_d) is norch.result_type(zero_d, one) is (one * zero_d).dtype is raised
    assert norch.result_type(one[:1].reshape(()), zero_d) is larger
    assert norch.can_cast(b, a) is (category(second) <= category(first))
    if norch.can_cast(larger, a):
        assert one.clone().add_(other).dtype is a
    else:
        with pytest.raises(RuntimeError, match="cast"):
            one.clone().add_(other)


@pytest.mark.parametrize("dtype", DTYPES)
def test_promotion_with_numbers(dtype, device):
    x = norch.ones(2, dtype=dtype_named(dtype), device=device)
    for value, kind in ((True, "bool"), (3, "int64"), (2.5, "float32")):
        expected = dtype_named(kind if category(kind) > category(dtype) else dtype)
        assert norch.result_type(x, value) is norch.result_type(value, x) is (x + value).dtype is (value * x).dtype
        assert (x + value).dtype is expected
        assert norch.result_type(x[:1].reshape(()), value) is expected
    assert norch.result_type(1, 2.0) is norch.float32 and norch.result_type(1, True) is norch.int64


def test_limits_of_dtypes():
    assert norch.get_default_dtype() is norch.float32 is norch.rand(1).dtype
    for dtype, kind in (("float32", norch.finfo(norch.float32)), ("float64", norch.finfo(norch.float64))):
        one = 1.0

        def number(x, dtype=dtype):
            return norch.tensor([x], dtype=dtype_named(dtype))[0]

        assert number(one + kind.eps) > one and number(one + kind.eps / 2) == one
        assert number(kind.max) == kind.max < inf and number(kind.max * (1 + kind.eps)) == inf
        assert kind.min == -kind.max and number(kind.tiny) == kind.tiny and kind.bits == dtype_named(dtype).itemsize * 8
    assert (norch.iinfo(norch.uint8).min, norch.iinfo(norch.uint8).max) == (0, 255)
    assert (norch.iinfo(norch.int64).min, norch.iinfo(norch.int64).max) == (-(2**63), 2**63 - 1)
    assert repr(norch.iinfo(norch.int32)) == "iinfo(min=-2147483648, max=2147483647, dtype=int32)"
    for bad in (lambda: norch.finfo(norch.int32), lambda: norch.iinfo(norch.float32), lambda: norch.iinfo(norch.bool)):
        with pytest.raises(TypeError, match="expected"):
            bad()


# ---- conversions -----------------------------------------------------------------------------------------------------

LOWEST = {"int32": -(2**31), "int64": -(2**63)}
NUMBERS = [
    nan,
    inf,
    -inf,
    1e20,
    -1e20,
    3e9,
    -3e9,
    2.0**31,
    -(2.0**31),
    2.0**63,
    -(2.0**63),
    300.7,
    -300.7,
    -1.5,
    0.5,
    -0.0,
]


@pytest.mark.parametrize("source", REAL)
@pytest.mark.parametrize("target", WHOLE)
def test_floats_out_of_range_become_defined_integers(source, target, device):
    """NaN and numbers that do not fit become the lowest integer, as on x86, whose last bytes are 0; in bool True."""

    def reference(x):
        if target == "bool":
            return x != 0
        wide = {"uint8": "int64", "int8": "int32", "int16": "int32"}.get(target, target)
        fits = math.isfinite(x) and LOWEST[wide] <= int(x) < -LOWEST[wide]
        return wrap(int(x) if fits else LOWEST[wide], target)

    values = [wrap(x, source) for x in NUMBERS] * 3  # alone and in vectors
    result = norch.tensor(values, dtype=dtype_named(source), device=device).to(dtype_named(target))
    assert_close(result, [reference(x) for x in values], target)


def test_numbers_that_do_not_fit_are_refused(device):
    x = norch.zeros(2, dtype=norch.int32, device=device)
    for value in (nan, inf, 1e10, -3e9, 2**40):
        with pytest.raises(RuntimeError, match="does not fit into int32"):
            x.fill_(value)
    assert_close(x.fill_(2.9), [2, 2], "int32")
    assert_close(norch.full((1,), -1.5, dtype=norch.int64, device=device), [-1], "int64")


def test_to_takes_device_and_dtype_in_any_form(device):
    x = norch.tensor([1.5, 2.5], device=device)
    for result in (x.to(norch.int64), x.to(device, norch.int64), x.to(dtype=norch.int64, device=device), x.long()):
        assert_close(result, [1, 2], "int64")
    assert x.to(x) is x and x.to(device) is x
    assert x.to(norch.zeros(1, dtype=norch.float64, device=device)).dtype is norch.float64


def test_a_device_is_its_name(device):
    assert norch.device("cpu") == "cpu" and norch.device("cuda", 1) == "cuda:1" and norch.device("cuda:0") == "cuda:0"
    assert norch.zeros(2, device=norch.device(device)).device == norch.zeros(2, device=device).device
    assert repr(norch.device("cpu")) == "device(type='cpu')" and str(norch.device("cuda", 1)) == "cuda:1"
    assert (norch.device("cuda").type, norch.device("cuda").index, norch.device("cuda:1").index) == ("cuda", None, 1)
    with norch.device(device):
        assert norch.get_default_device() == norch.zeros(2, device=device).device
    with pytest.raises(TypeError, match="got 1.5"):
        norch.device(1.5)
    with pytest.raises(RuntimeError, match='"cuda:-1"'):
        norch.device("cuda", -1)


def test_strides_that_would_wrap_around():
    for shape in ((2**31, 2**31, 2**31, 0), (2**62, 4, 0)):
        with pytest.raises(MemoryError, match="too large"):
            norch.zeros(shape)
    assert norch.zeros(2**62, 0).stride() == (1, 1)
