"""Operands whose layouts have nothing in common: permuted, with steps, repeated, of long and of short dimensions."""

from __future__ import annotations

import math
import random

import pytest

import norch

SHAPES = [(3, 700), (700, 3), (4, 70, 9), (2, 3, 5, 7, 9), (40, 2, 3, 8), (3, 1, 150, 5), (90, 7, 7), (6, 33, 20, 2)]


def laid_out(values: norch.Tensor, rng: random.Random) -> norch.Tensor:
    """The same values in another place: dimensions in some order, with steps and a direction."""
    order = rng.sample(range(values.ndim), values.ndim)
    steps = [rng.choice([1, 1, 1, 2, 3]) for _ in order]
    place = norch.zeros([values.shape[d] * step for d, step in zip(order, steps)]).to(values.dtype)
    view = place[tuple(slice(None, None, step) for step in steps)]
    back = sorted(range(values.ndim), key=order.__getitem__)
    view = view.permute(back)
    view.copy_(values)
    assert view.tolist() == values.tolist()
    if rng.random() < 0.2:  # a dimension that repeats
        d = rng.randrange(values.ndim)
        return view.narrow(d, 0, 1).expand(values.shape)
    return view


def drawn(shape: tuple[int, ...], dtype: norch.dtype, rng: random.Random) -> norch.Tensor:
    values = [rng.randrange(0, 9) for _ in range(math.prod(shape))]
    return norch.tensor(values).to(dtype).reshape(shape)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "uint8"])
def test_the_layout_of_operands_is_no_matter(shape, dtype):
    rng = random.Random(f"{shape} {dtype}")
    for _ in range(8):
        x, y, z = (laid_out(drawn(shape, getattr(norch, dtype), rng), rng) for _ in range(3))
        a, b, c = (norch.tensor(t.tolist(), dtype=t.dtype) for t in (x, y, z))
        assert (x + y).tolist() == (a + b).tolist()
        assert (x < y).tolist() == (a < b).tolist()
        assert norch.where(x > y, z, y).tolist() == norch.where(a > b, c, b).tolist()
        assert x.transpose(0, -1).reshape(-1).tolist() == a.transpose(0, -1).reshape(-1).tolist()
        target = norch.zeros(shape[::-1], dtype=x.dtype).permute(*reversed(range(x.ndim)))
        target.copy_(z)
        assert target.add_(x, alpha=2).tolist() == (c + 2 * a).tolist()
        for dim in range(x.ndim):
            assert x.sum(dim).tolist() == a.sum(dim).tolist()
            assert x.amax(dim).tolist() == a.amax(dim).tolist()
            assert x.argmax(dim).tolist() == a.argmax(dim).tolist()


@pytest.mark.parametrize("shape", [*SHAPES, (5, 300, 4), (300, 2, 3)])
@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
def test_parts_of_any_layout(shape, dtype):
    rng = random.Random(f"{shape} {dtype}")
    for _ in range(4):
        x, y = (laid_out(drawn(shape, getattr(norch, dtype), rng), rng) for _ in range(2))
        a, b = (norch.tensor(t.tolist(), dtype=t.dtype) for t in (x, y))
        for dim, size in enumerate(shape):
            places = [0, size - 1, 0]
            expected = norch.stack([a.select(dim, place) for place in places], dim)
            assert x.index_select(dim, norch.tensor(places)).tolist() == expected.tolist()
        rows, columns = shape[-2:]
        for diagonal in (-columns, -1, 0, 2, rows // 2, rows + 1):
            lower = norch.tensor([[j - i <= diagonal for j in range(columns)] for i in range(rows)])
            assert x.tril(diagonal).tolist() == norch.where(lower, a, a * 0).tolist()
            assert x.triu(diagonal + 1).tolist() == norch.where(lower, a * 0, a).tolist()
            z = norch.empty(shape[::-1], dtype=x.dtype).permute(*reversed(range(x.ndim))).copy_(x)
            assert z.tril_(diagonal).tolist() == norch.where(lower, a, a * 0).tolist()
        if dtype != "uint8":
            assert norch.einsum("...i,...i->...", x, y).tolist() == (a * b).sum(-1).tolist()


@pytest.mark.parametrize("shape", SHAPES)
def test_cosines_along_each_dimension(shape):
    rng = random.Random(str(shape))
    x, y = (laid_out(drawn(shape, norch.float64, rng) + 1, rng) for _ in range(2))
    for dim in range(x.ndim):
        a, b = (norch.tensor(t.tolist(), dtype=t.dtype, requires_grad=True) for t in (x, y))
        expected = (a * b).sum(dim) / (a.norm(dim=dim) * b.norm(dim=dim))
        p, q = (t.detach().requires_grad_() for t in (x, y))
        found = norch.nn.functional.cosine_similarity(p, q, dim=dim)
        assert norch.allclose(found, expected)
        (found * found).sum().backward()
        (expected * expected).sum().backward()
        assert norch.allclose(p.grad, a.grad) and norch.allclose(q.grad, b.grad)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "uint8"])
def test_a_number_for_each_row(dtype):
    rng = random.Random(dtype)
    for width in [*range(1, 50), 63, 64, 65, 100, 130]:
        x, number = (drawn((37, n), getattr(norch, dtype), rng) for n in (width, 1))
        rows, numbers = x.tolist(), [row[0] for row in number.tolist()]
        assert (x * number).tolist() == [[a * b for a in row] for row, b in zip(rows, numbers)]
        assert (number - x.float()).tolist() == [[b - a for a in row] for row, b in zip(rows, numbers)]
        assert (x > number).tolist() == [[a > b for a in row] for row, b in zip(rows, numbers)]
        assert number.expand(37, width).contiguous().tolist() == [[b] * width for b in numbers]
