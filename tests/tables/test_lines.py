"""What orders or adds up along lines, for lines of many lengths, layouts and kinds of values, beside plain Python."""

import math
from itertools import accumulate

import pytest

import norch

LENGTHS = (1, 2, 3, 8, 9, 16, 17, 40, 48, 49, 64, 65, 100, 300)
WIDE = {"float32": 1 << 24, "float64": 1 << 50, "int64": 1 << 62, "int32": (1 << 31) - 1, "uint8": 255, "bool": 1}
SPECIAL = (math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0)
KINDS = {
    "few": lambda rng, n, wide: [rng.randint(0, min(2, wide)) for _ in range(n)],
    "wide": lambda rng, n, wide: [rng.randint(0 if wide < 256 else -wide, wide) for _ in range(n)],
    "near": lambda rng, n, wide: [wide - rng.randint(0, min(99, wide)) for _ in range(n)],
    "rising": lambda rng, n, wide: sorted(rng.randint(0, min(n, wide)) for _ in range(n)),
    "falling": lambda rng, n, wide: sorted((rng.randint(0, min(n, wide)) for _ in range(n)), reverse=True),
    "special": lambda rng, n, wide: [rng.choice(SPECIAL) for _ in range(n)],
}


def place(x):
    """Where an element comes: NaN last, zeros of both signs as one."""
    return (x != x, 0 if x != x else x)


def text(values):
    """With all NaNs as one, and the sign of a zero."""
    return [str(float(x)) if isinstance(x, float) else int(x) for x in values]


def lines_in_layouts(rows, dtype, device):
    """The same lines as rows, as columns, in the middle and with steps: pairs (tensor, its dim)."""
    x = norch.tensor(rows, dtype=getattr(norch, dtype), device=device)
    yield x, 1
    yield x.t().contiguous(), 0
    yield x.unsqueeze(2).repeat(1, 1, 2)[:, :, :1], 1
    yield x.repeat_interleave(2, 1)[:, ::2], 1


def rows_of(x, dim):
    return (x.squeeze(2) if x.ndim == 3 else x if dim else x.t()).tolist()


@pytest.fixture(params=[(dtype, kind) for dtype in WIDE for kind in KINDS if kind != "special" or dtype[0] == "f"])
def samples(request, rng, device):
    """A function that yields lines, the dtype's name, and their layouts, for each length."""
    dtype, kind = request.param

    def yield_samples(counts):
        for n in LENGTHS:
            for count in counts:
                cast = {"b": bool, "f": float}.get(dtype[0], int)
                rows = [[cast(v) for v in KINDS[kind](rng, n, WIDE[dtype])] for _ in range(count)]
                yield rows, list(lines_in_layouts(rows, dtype, device))

    return yield_samples


def test_sort_and_topk_are_stable(samples):
    for rows, layouts in samples([3]):
        n = len(rows[0])
        rising = [sorted(range(n), key=lambda i: place(row[i])) for row in rows]
        falling = [sorted(range(n), key=lambda i: place(row[i]), reverse=True) for row in rows]
        for x, dim in layouts:
            for descending, orders in ((False, rising), (True, falling)):
                values, indices = x.sort(dim, descending=descending)
                assert rows_of(indices, dim) == orders
                for row, order, got in zip(rows, orders, rows_of(values, dim)):
                    assert text(got) == text([row[i] for i in order])
                for k in {1, min(n, 3), min(n, 16), min(n, 20), (n + 3) // 4}:
                    found = x.topk(k, dim, largest=descending)[1]
                    assert rows_of(found, dim) == [order[:k] for order in orders]


def test_mode_is_the_smallest_of_the_most_frequent(samples):
    for rows, layouts in samples([2]):
        for x, dim in layouts:
            values, indices = x.mode(dim, keepdim=True)
            for row, (value,), (index,) in zip(rows, rows_of(values, dim), rows_of(indices, dim)):
                counts = {}
                for v in row:
                    counts[place(v)] = counts.get(place(v), 0) + 1
                most = min(key for key in counts if counts[key] == max(counts.values()))
                assert index == max(i for i, v in enumerate(row) if place(v) == most)
                assert text([value]) == text([row[index]])


@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_running_extremes_take_the_last_of_equals(samples, name):
    for rows, layouts in samples([3, 6, 18]):
        expected = []
        for row in rows:
            best, places = 0, []
            for i, x in enumerate(row):
                y = row[best]
                if x != x or (x >= y if name == "cummax" else x <= y):
                    best = i
                places.append(best)
            expected.append(places)
        for x, dim in layouts:
            values, indices = getattr(x, name)(dim)
            assert rows_of(indices, dim) == expected
            for row, places, got in zip(rows, expected, rows_of(values, dim)):
                assert text(got) == text([row[i] for i in places])


def test_running_totals_of_small_integers(device, rng):
    for n in LENGTHS:
        for count in (1, 3, 4, 6, 18):
            rows = [[rng.randint(-1, 1) or 1 for _ in range(n)] for _ in range(count)]
            for dtype in ("float32", "float64", "int64", "int32"):
                for x, dim in lines_in_layouts(rows, dtype, device):
                    assert rows_of(x.cumsum(dim), dim) == [list(accumulate(row)) for row in rows]
                    products = [list(accumulate(row, lambda a, b: a * b)) for row in rows]
                    assert rows_of(x.cumprod(dim), dim) == products
                    assert rows_of(x.flip(dim).cumsum(dim), dim) == [list(accumulate(row[::-1])) for row in rows]


# ---- Copies of many short rows ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "int64"])
def test_short_rows_are_copied_in_words(dtype, device):
    """Of every number of bytes that another word serves, and with steps between the rows."""
    for n in (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 40, 65):
        rows = [[(7 * i + j) % 251 for j in range(n)] for i in range(1 + 9000 // n)]
        x = norch.tensor(rows, dtype=getattr(norch, dtype), device=device)
        assert x.flip(0).tolist() == rows[::-1]
        assert x.flip(1).tolist() == [row[::-1] for row in rows]
        assert x.roll(1, 1).tolist() == [row[-1:] + row[:-1] for row in rows]
        assert x[1:, 1:].contiguous().tolist() == [row[1:] for row in rows[1:]]
        assert (x[:, 1:] * 1).tolist() == [row[1:] for row in rows]
        wider = norch.zeros(len(rows), n + 2, dtype=x.dtype, device=device)
        wider[:, 1:-1] = x
        assert wider.tolist() == [[0, *row, 0] for row in rows]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
def test_bincount_counts_integers_of_every_dtype(dtype, device, rng):
    values = [rng.randint(0, 9) for _ in range(1000)]
    x = norch.tensor(values, dtype=getattr(norch, dtype), device=device)
    for given, kept in ((x, values), (x[::3], values[::3]), (x.flip(0), values)):
        assert given.bincount(minlength=12).tolist() == [kept.count(k) for k in range(12)]
    if dtype != "uint8":
        with pytest.raises(RuntimeError, match="not negative"):
            (x - 10).bincount()
