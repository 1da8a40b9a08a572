"""The order in which elementwise results, conversions and *_like tensors lie in memory: that of torch's."""

from __future__ import annotations

import random

import pytest
import torch

import norch

RESULTS = """
-x
x.exp()
x + 1
1 - x
x * y
y * x
x > y
x.int() + y
lib.where(x > 0, y, x)
lib.where(x > 0, 1.0, x)
x + column
column + x
row * x + y
row + y
x.clamp(-1, 1)
x.to(lib.float64)
x.bool()
lib.empty_like(x)
lib.zeros_like(x)
lib.ones_like(x, dtype=lib.int32)
lib.full_like(x, 3)
lib.rand_like(x)
lib.zeros_like(x, memory_format=lib.contiguous_format)
x.clone()
x.contiguous()
x.flip(0)
x.flip(-1, 0)
x.int().addcmul(x.int(), y.int(), value=2)
lib.lerp(x, y, 0.5)
x.add_(y)
x.mul_(row)
x.masked_fill(y > 0, 2.0)
x.masked_fill(row > 2, 2.0)
x.renorm(2, 0, 1.0)
lib.nn.functional.logsigmoid(x)
""".split("\n")[1:-1]
VIEWS = 25


def _views(rng: random.Random) -> tuple[str, str]:
    """Two views of one shape, each of a memory of its own, as code."""
    rank = rng.randrange(2, 5)
    sizes = [rng.choice([2, 3, 4, 4, 5]) for _ in range(rank)]
    codes = []
    for _ in range(2):
        order = rng.sample(range(rank), rank)
        steps = [rng.choice([1, 1, 1, 2]) for _ in range(rank)]
        code = f"lib.ones({', '.join(str(sizes[axis] * steps[axis]) for axis in order)})"
        code += f"[{', '.join(f'::{steps[axis]}' for axis in order)}]"
        codes.append(f"{code}.permute({', '.join(str(order.index(axis)) for axis in range(rank))})")
    return codes[0], codes[1]


@pytest.mark.parametrize("code", RESULTS)
def test_results_lie_in_memory_as_torchs_do(code):
    rng = random.Random(code)
    for _ in range(VIEWS):
        first, second = _views(rng)
        found = []
        for lib in (norch, torch):
            x, y = (eval(view, {"lib": lib}) for view in (first, second))
            row, column = lib.ones(x.shape[-1]), lib.ones(*x.shape[:-1], 1)
            result = eval(code, {"lib": lib, "x": x, "y": y, "row": row, "column": column})
            found.append((tuple(result.shape), result.stride()))
        assert found[0] == found[1], f"{code} of x = {first}, y = {second}"
