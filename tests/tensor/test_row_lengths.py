"""Rows of every length around those that fill vectors: kernels take the elements at their ends with masks."""

from __future__ import annotations

import math

import pytest

import norch
from norch.nn import functional as F

LENGTHS = [*range(1, 71), 95, 96, 97, 127, 128, 129, 191, 192, 193, 511, 512, 513, 1023, 1025]
ROWS = 5
DTYPES = ["float32", "float64", "float16", "bfloat16", "int8", "int64"]


def drawn(length: int) -> list[list[int]]:
    """Small whole numbers, of which every dtype holds the sums exactly, or nearly."""
    return [[(7 * row + 5 * j * j + j) % 7 - 3 for j in range(length)] for row in range(ROWS)]


@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions_of_rows(dtype):
    for length in LENGTHS:
        values = drawn(length)
        x = norch.tensor(values, dtype=getattr(norch, dtype))
        assert x.sum(-1).tolist() == [sum(row) for row in values]
        assert x.amax(-1).tolist() == [max(row) for row in values]
        assert x.amin(-1).tolist() == [min(row) for row in values]
        assert x.argmax(-1).tolist() == [row.index(max(row)) for row in values]
        assert x.clamp(1, 1).prod(-1).tolist() == [1] * ROWS
        assert (x > 2).any(-1).tolist() == [max(row) > 2 for row in values]
        assert (x > -4).all(-1).tolist() == [True] * ROWS
        assert x[:, : length - 1].sum(-1).tolist() == [sum(row[:-1]) for row in values]  # rows with a gap between
        if x.is_floating_point():
            expected = [math.sqrt(sum(v * v for v in row)) for row in values]
            assert x.norm(dim=-1).tolist() == pytest.approx(expected, rel=1e-2 if x.dtype.itemsize == 2 else 1e-6)


@pytest.mark.parametrize("dtype", [*DTYPES, "uint8"])
@pytest.mark.parametrize("rows", [2, 3, 7, 8, 9, 15, 16, 17, 40])
def test_reductions_of_columns(dtype, rows):
    for length in LENGTHS:
        values = [[(7 * row + 5 * j * j + j) % 3 for j in range(length)] for row in range(rows)]
        x = norch.tensor(values, dtype=getattr(norch, dtype))
        columns = list(zip(*values))
        assert x.sum(0).tolist() == [sum(column) for column in columns]
        assert x.amax(0).tolist() == [max(column) for column in columns]
        assert x.amin(0).tolist() == [min(column) for column in columns]
        assert x.argmax(0).tolist() == [column.index(max(column)) for column in columns]
        if dtype != "uint8":
            assert (x - 1).prod(0).tolist() == [math.prod(v - 1 for v in column) for column in columns]
        assert x.any(0).tolist() == [any(column) for column in columns]
        assert x.all(0).tolist() == [all(column) for column in columns]
        assert x[:, ::3].sum(0).tolist() == [sum(column) for column in columns[::3]]


def test_truths_of_bytes_are_not_their_bits():
    for length in LENGTHS:
        x = norch.tensor([[1, 2] * length, [4, 2] * length, [0, 128] * length], dtype=norch.uint8)
        assert x.all(1).tolist() == [True, True, False] and x.any(1).tolist() == [True] * 3
        assert x.all(0).tolist() == [False, True] * length and x[:2].all(0).tolist() == [True] * 2 * length
        assert (x == 0).any(1).tolist() == [False, False, True] and not (x * 0).any()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_extremes_of_rows_with_nan(dtype):
    for length in LENGTHS:
        x = norch.tensor([[float(j % 5) for j in range(length)]] * 3, dtype=getattr(norch, dtype))
        for at in {0, length // 2, length - 1}:
            y = x.clone()
            y[1, at:] = math.nan
            assert y.argmax(1).tolist()[1] == y.argmin(1).tolist()[1] == at
            assert y.isnan().any(1).tolist() == y.amax(1).isnan().tolist() == [False, True, False]
            assert y.amax(0).isnan().tolist() == y.amin(0).isnan().tolist() == [j >= at for j in range(length)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_softmax_and_cross_entropy_of_rows(dtype):
    for length in LENGTHS:
        values = drawn(length)
        x = norch.tensor(values, dtype=getattr(norch, dtype), requires_grad=True)
        sums = [sum(math.exp(v) for v in row) for row in values]
        shares = [math.exp(v) / total for row, total in zip(values, sums) for v in row]
        assert x.softmax(-1).flatten().tolist() == pytest.approx(shares, rel=1e-6)
        assert x.log_softmax(-1).flatten().tolist() == pytest.approx([math.log(v) for v in shares], rel=1e-6, abs=1e-6)
        labels = [(3 * row) % length for row in range(ROWS)]
        loss = F.cross_entropy(x, norch.tensor(labels))
        logs = [math.log(total) - row[label] for row, total, label in zip(values, sums, labels)]
        assert loss.item() == pytest.approx(sum(logs) / ROWS, rel=1e-6, abs=1e-6)
        loss.backward()
        for row, label in enumerate(labels):
            shares[row * length + label] -= 1
        assert x.grad.flatten().tolist() == pytest.approx([v / ROWS for v in shares], rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_beside_each_other(dtype):
    for length in LENGTHS:
        values = drawn(length)
        x = norch.tensor(values, dtype=getattr(norch, dtype))
        assert (x[:, 1:] - x[:, :-1]).tolist() == [[b - a for a, b in zip(row, row[1:])] for row in values]
        assert (x - x[:, :1]).tolist() == [[v - row[0] for v in row] for row in values]
        assert (x + x[:1]).tolist() == [[v + w for v, w in zip(row, values[0])] for row in values]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_dot_products_of_rows(dtype):
    for length in LENGTHS:
        values = drawn(length)
        x = norch.tensor(values, dtype=getattr(norch, dtype))
        squares = [sum(v * v for v in row) for row in values]
        assert (x[:, None] @ x[:, :, None]).flatten().tolist() == squares
        assert norch.einsum("ij,ij->i", x, x).tolist() == squares
        assert (x[0] @ x[0]).item() == squares[0]


@pytest.mark.parametrize("length", [1, 2, 3, 7, 15, 16, 17, 40])
@pytest.mark.parametrize("rows", [1, 2, 127, 128, 129, 300])
def test_places_in_many_rows(rows, length):
    x = norch.arange(rows * length).reshape(rows, length)
    at = [[(3 * row + 5 * j) % length for j in range(length)] for row in range(rows)]
    places = norch.tensor(at)
    taken = [[row * length + place for place in line] for row, line in enumerate(at)]
    assert x.gather(1, places).tolist() == taken
    assert x.index_select(1, places[0]).tolist() == [[row * length + place for place in at[0]] for row in range(rows)]
    put, added = [[0] * length for _ in range(rows)], [[0] * length for _ in range(rows)]
    for row, line in enumerate(at):
        for j, place in enumerate(line):
            put[row][place] = row * length + j  # the last one wins
            added[row][place] += row * length + j
    assert norch.zeros(rows, length, dtype=norch.int64).scatter(1, places, x).tolist() == put
    assert norch.zeros(rows, length, dtype=norch.int64).scatter_add(1, places, x).tolist() == added
    below = [[0] * length for _ in range(length)]  # rows share columns
    for row, line in enumerate(at):
        for j, place in enumerate(line):
            below[place][j] += row * length + j
    assert norch.zeros(length, length, dtype=norch.int64).scatter_add(0, places, x).tolist() == below
    with pytest.raises(RuntimeError, match="out of range"):
        x.gather(1, places.clone().index_fill_(0, norch.tensor([rows - 1]), length))


@pytest.mark.parametrize("dtype", [*DTYPES, "uint8", "bool"])
@pytest.mark.parametrize("step", [1, 2, 3])
def test_many_short_rows(step, dtype):
    kind = norch.bool if dtype == "bool" else getattr(norch, dtype)
    most = 2 if dtype == "bool" else 7
    for length in [*range(1, 20), 33, 70]:
        values = [[(7 * row + 5 * j * j + j) % most for j in range(length)] for row in range(90)]
        rows, part = [row[::step] for row in values], norch.tensor(values, dtype=kind).view(2, 45, length)[..., ::step]
        assert part.contiguous().reshape(90, -1).tolist() == rows
        assert part.flip(-1).reshape(90, -1).tolist() == [row[::-1] for row in rows]
        assert part.sum() == norch.tensor(sum(map(sum, rows))).to(part.sum().dtype)
        assert part.sum(-1).reshape(-1).tolist() == [sum(row) for row in rows]
        assert part.amax().item() == max(map(max, rows))
        padded = F.pad(part, (1, 2, 0, 1))
        assert padded[:, :-1].reshape(90, -1).tolist() == [[0, *row, 0, 0] for row in rows]
        assert not padded[:, -1].any()
        for diagonal in (-50, -3, 0, 2, 80):
            kept = [[v if j - i % 45 <= diagonal else 0 for j, v in enumerate(row)] for i, row in enumerate(rows)]
            rest = [[v - k for v, k in zip(row, lower)] for row, lower in zip(rows, kept)]
            for expected, name, edge in ((kept, "tril", diagonal), (rest, "triu", diagonal + 1)):
                assert getattr(part, name)(edge).reshape(90, -1).tolist() == expected
                assert getattr(part.clone(), name + "_")(edge).reshape(90, -1).tolist() == expected
