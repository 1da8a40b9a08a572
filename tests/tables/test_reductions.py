"""Reductions, products, joins, choices and views of the table, in every dtype and layout: values, shapes, dtypes."""

from __future__ import annotations

import itertools
import math

import pytest
from arrays import DTYPES, REAL, Array, reduce, wrap
from cases import CASES
from compare import assert_close
from draws import any_numbers, drawn
from operations import REDUCTIONS, by_name
from tensors import LAYOUTS, dtype_named, operand

import norch

# ---- reductions ------------------------------------------------------------------------------------------------------

REDUCED = [((2, 3, 4), layout) for layout in LAYOUTS] + [
    ((5,), "stepped"),
    ((1,), "contiguous"),
    ((3, 1, 2), "contiguous"),
    ((40, 3), "contiguous"),
]


@pytest.mark.parametrize("dtype", DTYPES)
@by_name(REDUCTIONS)
def test_reduction(row, dtype, device, rng):
    if dtype not in row.accepted:
        with pytest.raises(RuntimeError, match=f"floating dtype.*{dtype}"):
            getattr(norch.ones(3, dtype=dtype_named(dtype), device=device), row.name)()
        return
    for shape, layout in REDUCED:
        tensor, array = operand(drawn(rng, any_numbers, dtype), shape, dtype, layout, device)
        for axes, keepdim in itertools.product(row.axes(shape), (False, True)):
            result_type = row.dtype(dtype)
            count = math.prod(shape) if axes is None else math.prod(shape[axis] for axis in axes)
            if count < row.least:
                assert all(math.isnan(x) for x in row.of(tensor, axes).reshape(-1).tolist())
                continue
            expected = reduce(lambda xs: wrap(row.reference(xs), result_type), array, axes, keepdim)  # noqa: B023
            try:
                assert_close(
                    row.of(tensor, axes, keepdim), expected, result_type, rtol=1e-5 if dtype == "float32" else 1e-12
                )
            except AssertionError as error:
                raise AssertionError(
                    f"{row.name} of {shape} {layout} over {axes}, keepdim={keepdim}: {error}"
                ) from None


@by_name(REDUCTIONS)
def test_reduction_of_nothing(row, device):
    dtype = "float32"
    for shape, axes in [((0,), None), ((0, 3), (0,)), ((2, 0), (-1,))]:
        tensor = norch.zeros(*shape, device=device)
        if row.empty is None:
            with pytest.raises((RuntimeError, IndexError, ValueError), match="no elements|empty"):
                row.of(tensor, axes)
            continue
        result = row.dtype(dtype)
        kept = () if axes is None else tuple(size for d, size in enumerate(shape) if d != axes[0] % len(shape))
        expected = Array([wrap(row.empty, result)] * math.prod(kept), kept)
        assert_close(row.of(tensor, axes), expected, result)
    # nothing to keep: no lines, so no results either
    assert tuple(getattr(norch.zeros(0, 3, device=device), row.name)(axis=1).shape) == (0,)


def test_full_reduction_has_no_dimensions_and_functions_equal_methods(device):
    x = norch.tensor([[1.0, 2.0], [3.0, 5.0]], device=device)
    for row in REDUCTIONS:
        assert tuple(getattr(norch, row.name)(x).shape) == (), row.name
        assert getattr(norch, row.name)(x, axis=0).tolist() == getattr(x, row.name)(axis=0).tolist(), row.name


@pytest.mark.parametrize("shape", [(3000, 3), (50, 20, 5), (70_000, 2), (1000, 16)])
def test_short_rows_and_narrow_columns(shape, device):
    """Both are taken several side by side; whole numbers give exact sums."""
    x = norch.randint(-9, 10, shape, device=device).float()
    for y in (x, x[::2], x.repeat_interleave(3, -1)[..., ::3]):
        rows = y.reshape(-1, shape[-1]).tolist()
        assert y.sum(-1).reshape(-1).tolist() == [sum(row) for row in rows]
        assert y.amax(-1).reshape(-1).tolist() == [max(row) for row in rows]
        assert y.argmin(-1).reshape(-1).tolist() == [row.index(min(row)) for row in rows]
        assert (y > 0).sum(-1).reshape(-1).tolist() == [sum(v > 0 for v in row) for row in rows]
        columns = list(zip(*rows))
        assert y.reshape(-1, shape[-1]).sum(0).tolist() == [sum(column) for column in columns]
        assert y.reshape(-1, shape[-1]).amin(0).tolist() == [min(column) for column in columns]


def test_max_with_dim_gives_values_and_indices(device):
    x = norch.tensor([[1, 5, 5], [7, 2, 0]], device=device)
    values, positions = x.max(dim=1)
    assert_close(values, [5, 7], "int64")
    assert_close(positions, [1, 0], "int64")
    values, positions = x.min(1, keepdim=True)
    assert_close(values, [[1], [0]], "int64")
    assert_close(positions, [[0], [2]], "int64")
    assert_close(x.max(axis=0), [7, 5, 5], "int64")
    assert_close(x.min(axis=(0, 1)), 0, "int64")


@pytest.mark.parametrize("length", [3, 100])
@pytest.mark.parametrize("dtype", REAL)
def test_nan_wins_in_max_and_argmax(dtype, length, device):
    for place in (0, 1, length - 1):
        values = [float(i % 7) for i in range(length)]
        values[place] = math.nan
        x = norch.tensor([values, values], dtype=dtype_named(dtype), device=device)
        for name in ("max", "min"):
            assert_close(getattr(x, name)(), math.nan, dtype)
            assert_close(getattr(x, name)(axis=1), [math.nan] * 2, dtype)
            column = [math.nan if i == place else values[i] for i in range(length)]
            assert_close(getattr(x, name)(axis=0), column, dtype)
            assert_close(getattr(x, "arg" + name)(axis=1), [place] * 2, "int64")
            assert_close(getattr(x, "arg" + name)(), place, "int64")


@pytest.mark.parametrize("shape", [(9, 7), (16, 12), (25, 33), (8, 1), (300, 5)])
def test_products_of_columns(shape, device):
    x = 1 + 0.01 * norch.arange(math.prod(shape), dtype=norch.float32, device=device).reshape(shape).sin()
    assert_close(x.prod(0), [math.prod(column) for column in x.T.tolist()])
    assert_close(x.T.prod(1), x.prod(0).tolist())


def test_dtype_converts_first(device):
    x = norch.tensor([[1, 2], [3, 5]], device=device)
    assert_close(x.mean(dtype=norch.float64), 2.75, "float64")
    assert_close(x.mean(0, dtype=norch.float32), [2.0, 3.5], "float32")
    assert_close(x.prod(1, dtype=norch.float32), [2.0, 15.0], "float32")
    assert_close((0.25 * x).prod(dtype=norch.int64), 0, "int64")
    y = norch.ones(2, device=device, requires_grad=True)
    y.mean(dtype=norch.float64).backward()
    assert_close(y.grad, [0.5, 0.5], "float32")


def test_argmax_takes_the_first_of_equals(device):
    x = norch.tensor([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]], device=device)
    assert_close(x.argmax(axis=1), [1, 0], "int64")
    assert_close(x.argmax(), 1, "int64")
    assert_close(x.T.argmin(axis=0), [0, 0], "int64")
    zeros = norch.tensor([-0.0, 0.0] * 20, device=device)
    assert_close(zeros.argmax(), 0, "int64")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_sums_of_halves_are_rounded_once(dtype, device):
    """No partial sum is a half: beyond 2048 (or 256) adding 1 to one would change nothing."""
    ones = norch.ones(64, 64, dtype=dtype_named(dtype), device=device)
    assert_close(ones.sum(), 4096.0, dtype, rtol=0)
    assert_close(ones @ ones, [[64.0] * 64] * 64, dtype, rtol=0)
    assert_close(ones.reshape(-1) @ ones.reshape(-1), 4096.0, dtype, rtol=0)
    assert_close(ones.reshape(-1).cumsum(0)[-1:], [4096.0], dtype, rtol=0)
    index = norch.zeros(4096, dtype=norch.int64, device=device)
    assert_close(norch.zeros_like(ones[0]).index_add_(0, index, ones.reshape(-1))[:1], [4096.0], dtype, rtol=0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sum_of_a_million_tenths(dtype, device):
    tenths = norch.full((1000, 1000), 0.1, dtype=dtype_named(dtype), device=device)
    exact = wrap(0.1, dtype) * 1_000_000
    for total in (
        tenths.sum(),
        tenths.T.sum(),
        tenths.reshape(-1)[:].sum(0),
        tenths.sum(0).sum(),
        tenths.sum(1).sum(),
        tenths.mean() * 1e6,
    ):
        assert abs(total.item() - exact) <= 1e-6 * exact
    skewed = norch.full((1000, 1003), 0.1, dtype=dtype_named(dtype), device=device)[:, 3:]
    assert abs(skewed.sum().item() - exact) <= 1e-6 * exact


# ---- products, joins, choices, views ---------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", LAYOUTS[:3])
@pytest.mark.parametrize("dtype", DTYPES)
@by_name(CASES)
def test_case(row, dtype, layout, device, rng):
    if dtype not in row.accepted:
        return
    draws = row.draws or (any_numbers,) * len(row.shapes)
    dtypes = ["bool" if draw.__name__ == "truths" else dtype for draw in draws]
    pairs = [
        operand(drawn(rng, draw, each), shape, each, layout, device)
        for draw, shape, each in zip(draws, row.shapes, dtypes)
    ]
    tensors, arrays = [tensor for tensor, _ in pairs], [array for _, array in pairs]
    if row.name == "view" and layout != "contiguous":
        with pytest.raises((RuntimeError, ValueError), match="reshape"):
            row.call(norch, *tensors)
        return
    result_type = row.dtype(dtype)
    expected = row.reference(*arrays)
    expected = Array([wrap(x, result_type) for x in expected.flat], expected.shape)
    result = row.call(norch, *tensors)
    assert_close(result, expected, result_type, rtol=2e-6 if dtype == "float32" else None)
    if row.view and layout == "contiguous" and math.prod(result.shape):
        tensors[0].zero_()
        assert not any(result.reshape(-1).tolist()), "a view shares storage with its base"


def test_an_empty_slice_of_bytes_reduces_to_nothing():
    """An empty dimension before one that cannot be merged with it: no row may be looked for."""
    empty = norch.ones(4, 3, 5, dtype=norch.uint8)[0:0, :, ::2]
    assert empty.sum().tolist() == 0 and empty.prod().tolist() == 1
    assert empty.sum(axis=0).tolist() == [[0] * 3] * 3
