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
