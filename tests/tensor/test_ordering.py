"""Sorting of lines of every length, running extremes, and places among sorted edges, beside plain Python."""

import bisect
import math

import pytest

import norch

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]


def drawn(rng, dtype, count):
    """Numbers with ties, of both signs where the dtype has them; floats with zeros of both signs and NaNs."""
    if dtype == "bool":
        return [rng.random() < 0.5 for _ in range(count)]
    if not dtype.startswith("float"):
        largest = {"uint8": 255, "int8": 127, "int16": 32767}.get(dtype, 2**31 - 1 if dtype == "int32" else 2**63 - 1)
        extremes = [largest, 0 if dtype == "uint8" else -largest - 1]
        return [rng.choice([rng.randint(0, 9), rng.choice(extremes), rng.randint(0, largest)]) for _ in range(count)]
    special = [0.0, -0.0, math.nan, math.inf, -math.inf]
    return [rng.choice([float(rng.randint(-9, 9)), rng.gauss(0, 100), rng.choice(special)]) for _ in range(count)]


def order_of(values, descending=False):
    """The indices that sort values, NaN being the largest, equals in their order."""
    sign = -1 if descending else 1
    ranks = [(sign, 0) if v != v else (0, sign * v) for v in values]
    return sorted(range(len(values)), key=ranks.__getitem__)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [1, 2, 17, 255, 257, 2000])
def test_sort_of_any_length(dtype, count, device, rng):
    x = norch.tensor(drawn(rng, dtype, count), dtype=getattr(norch, dtype), device=device)
    values = [int(v) for v in x.tolist()] if dtype == "bool" else x.tolist()
    for descending in (False, True):
        found = x.sort(0, descending=descending)
        assert found.indices.tolist() == order_of(values, descending)
        chosen = x.index_select(0, found.indices)
        assert bool(((found.values == chosen).logical_or(chosen != chosen)).all())
    for k in {1, count // 8, count // 3, count}:
        assert x.topk(k, 0, largest=False).indices.tolist() == order_of(values)[:k]


def test_sort_along_each_axis_of_each_layout(device, rng):
    x = norch.tensor([[rng.randint(0, 30) for _ in range(300)] for _ in range(40)], device=device)
    for view in (x, x.T, x[::2, ::3], x.flip(1)):
        rows = view.tolist()
        assert view.sort(1).values.tolist() == [sorted(row) for row in rows]
        assert view.sort(0).values.T.tolist() == [sorted(column) for column in zip(*rows)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [1, 2, 7, 16, 17, 100, 1000])
def test_one_element_of_each_line(dtype, count, device, rng):
    """kthvalue, median, nanmedian and mode, beside what sorting says."""
    x = norch.tensor([drawn(rng, dtype, count) for _ in range(3)], dtype=getattr(norch, dtype), device=device)
    lines = [[int(v) for v in line] if dtype == "bool" else line for line in x.tolist()]
    orders = [order_of(line) for line in lines]
    numbers = [sum(v == v for v in line) for line in lines]
    expected = {
        "median": [order[(count - 1) // 2 if n == count else n] for order, n in zip(orders, numbers)],
        "nanmedian": [order[max(n - 1, 0) // 2] for order, n in zip(orders, numbers)],
        "mode": [place_of_mode(line) for line in lines],
    }
    for axis, view in ((1, x), (-1, x), (0, x.T), (1, x.flip(0).flip(0))):
        for name, places in expected.items():
            values, indices = getattr(view, name)(axis)
            assert indices.tolist() == places, name
            chosen = norch.stack([line[place] for line, place in zip(x, places)])
            assert bool(((values == chosen).logical_or(chosen != chosen)).all()), name
        for k in {1, count // 3 + 1, count}:
            assert view.kthvalue(k, axis, keepdim=True).indices.reshape(-1).tolist() == [o[k - 1] for o in orders]


def place_of_mode(values):
    """Where the smallest of the most frequent values is last."""
    runs = {}
    for place in order_of(values):
        value = values[place]
        runs.setdefault("nan" if value != value else value, []).append(place)
    return max(runs.values(), key=len)[-1]  # the first of equally long runs


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float16", "float32", "float64"])
@pytest.mark.parametrize("descending", [False, True])
def test_the_first_few_of_a_line(dtype, descending, device, rng):
    x = norch.tensor([drawn(rng, dtype, 333) for _ in range(4)], dtype=getattr(norch, dtype), device=device)
    for axis, view in ((1, x), (0, x.T)):
        for k in (1, 4, 16, 17):
            places = view.topk(k, axis, largest=descending).indices
            rows = (places if axis == 1 else places.T).tolist()
            assert rows == [order_of(line, descending)[:k] for line in x.tolist()]


@pytest.mark.parametrize("dtype", DTYPES)
def test_running_extremes(dtype, device, rng):
    x = norch.tensor(drawn(rng, dtype, 60), dtype=getattr(norch, dtype), device=device).reshape(3, 20)
    for view, axis in ((x, 1), (x.T, 0), (x[:, ::2], 1), (x, 0)):
        lines = (view if axis == 1 else view.T).tolist()
        for name in ("cummax", "cummin"):
            values, indices = getattr(view, name)(axis)
            places = (indices if axis == 1 else indices.T).tolist()
            for line, place in zip(lines, places):
                best = 0
                for i, v in enumerate(line):
                    extends = v >= line[best] if name == "cummax" else v <= line[best]
                    best = i if extends or v != v else best
                    assert place[i] == best
            assert view.gather(axis, indices).isclose(values, equal_nan=True).all()


def test_running_extremes_of_none_and_of_a_scalar(device):
    assert norch.zeros(0, 3, device=device).cummax(0).values.shape == [0, 3]
    assert norch.tensor(2.0, device=device).cummin(0).indices.item() == 0


@pytest.mark.parametrize("right", [False, True])
def test_places_among_lines_of_edges(right, device, rng):
    edges = [sorted(rng.randint(0, 20) for _ in range(11)) for _ in range(6)]
    values = [[rng.randint(-1, 21) for _ in range(5)] for _ in range(6)]
    find = bisect.bisect_right if right else bisect.bisect_left
    x, y = norch.tensor(edges, device=device).reshape(2, 3, 11), norch.tensor(values, device=device).reshape(2, 3, 5)
    found = norch.searchsorted(x, y, right=right).reshape(6, 5).tolist()
    assert found == [[find(line, v) for v in row] for line, row in zip(edges, values)]
    strided = norch.tensor(values, device=device).T.contiguous().T.reshape(2, 3, 5)
    assert norch.searchsorted(x, strided, right=right).reshape(6, 5).tolist() == found


def test_different_rows_that_the_last_columns_tell_apart():
    rows = norch.zeros(5, 40)
    rows[1, 39], rows[2, 20], rows[3, 0] = 1.0, 1.0, -1.0
    found, inverse = rows.unique(dim=0, return_inverse=True)
    assert inverse.tolist() == [1, 2, 3, 0, 1]
    assert norch.equal(found[inverse], rows)
    found, inverse = norch.tensor([[float("nan"), 2.0, 0, 0, 0], [float("nan"), 1.0, 0, 0, 0]]).unique(
        dim=0, return_inverse=True
    )
    assert inverse.tolist() == [1, 0]
