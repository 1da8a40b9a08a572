"""Kernels on every layout: tiles of transposed operands, and results that are too large for the cache."""

import pytest
from arrays import DTYPES
from tensors import dtype_named

import norch


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows, columns", [(64, 64), (65, 131), (3, 200), (200, 3), (16, 17), (257, 130)])
def test_transposed(dtype, rows, columns):
    dtype = dtype_named(dtype)
    x = (norch.arange(rows * columns) % 251).to(dtype).reshape(rows, columns)
    wanted = [list(column) for column in zip(*x.tolist())]
    assert x.T.contiguous().tolist() == wanted
    target = norch.zeros(columns, rows).to(dtype)
    target.T.copy_(x)
    assert target.tolist() == wanted
    if dtype == norch.float32:
        other = norch.arange(rows * columns).float().reshape(columns, rows)
        assert (x.T - other).tolist() == [[a - b for a, b in zip(*pair)] for pair in zip(wanted, other.tolist())]


def test_permuted():
    x = norch.arange(20 * 30 * 40).float().reshape(20, 30, 40)
    y = x.permute(2, 0, 1).contiguous()
    assert all(y[k].tolist() == x[:, :, k].tolist() for k in (0, 17, 39))


LARGE = 8_400_000  # floats: more than runs.h lets into the cache


def test_large_results():
    x = norch.arange(LARGE).float()
    y = x + 1.0
    assert (y - x).min().item() == (y - x).max().item() == 1
    target = norch.zeros(LARGE + 8)
    for offset in (1, 5):  # off a cache line's start
        target[:] = -1.0
        target[offset : offset + LARGE] = x
        assert (target[offset : offset + LARGE] == x).all().item()
        assert target[:offset].tolist() == [-1.0] * offset and target[offset + LARGE :].tolist() == [-1.0] * (
            8 - offset
        )
    x += 1.0
    assert (x == y).all().item()


def test_large_transposed_results():
    x = norch.arange(2901 * 2903).float().reshape(2901, 2903)
    y = x.T.contiguous()
    assert (y.T == x).all().item() and (x.T + y == y * 2.0).all().item()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "shape, row",
    [((7, 3), (3,)), ((1001, 10), (10,)), ((5, 70, 33), (5, 1, 33)), ((3, 50, 4, 9), (50, 1, 9)), ((9, 500), (500,))],
)
def test_rows_that_repeat(dtype, shape, row):
    dtype = dtype_named(dtype)
    x, y = ((norch.rand(size) * 2).to(dtype) for size in (shape, row))
    alike = y.expand(shape).contiguous()
    assert (x == y).tolist() == (x == alike).tolist()
    assert norch.maximum(y, x).tolist() == norch.maximum(alike, x).tolist()
    assert norch.where(y > 0, x, y).tolist() == norch.where(alike > 0, x, alike).tolist()
    for value in (x.clone(), x.clone()[..., : row[-1] - 1]):  # of which the second has gaps
        wanted = norch.minimum(value, alike[..., : value.shape[-1]])
        value.copy_(norch.minimum(value, y[..., : value.shape[-1]]))
        assert value.tolist() == wanted.tolist()


@pytest.mark.parametrize("dtype", DTYPES)
def test_long_rows_with_a_step(dtype):
    x = (norch.arange(40_002) % 251).to(dtype_named(dtype))
    values = x.tolist()
    assert x.flip(0).tolist() == x.reshape(6, -1).flip(0, 1).reshape(-1).tolist() == values[::-1]
    assert x[::2].clone().tolist() == values[::2] and x[::3].clone().tolist() == values[::3]
