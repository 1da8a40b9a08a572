"""norch against torch: promotion over all pairs of dtypes, conversions, arange and linspace, and the newer views."""

from __future__ import annotations

import itertools
import math
import operator
from collections import deque

import numpy as np
import pytest
import torch
from arrays import DTYPES, REAL
from draws import any_numbers
from random_cases import RandomCase, evaluate
from test_oracle_torch import assert_same, assert_same_gradients

import norch

ARITHMETIC = ["add", "mul", "truediv", "floordiv", "mod", "pow", "lt", "eq", "and_"]
IN_PLACE = ["iadd", "imul", "itruediv", "ifloordiv", "imod", "ipow", "iand"]


def name_of(dtype):
    return str(dtype).split(".")[-1]


def dtype_after(name, *operands):
    """The dtype of an operation's result, or "refused"."""
    try:
        return name_of(getattr(operator, name)(*operands).dtype)
    except RuntimeError:
        return "refused"


@pytest.mark.parametrize("first, second", list(itertools.product(DTYPES, DTYPES)))
def test_promotion(first, second):
    for shapes in itertools.product([(2,), ()], [(2,), ()]):
        found = []
        for lib in (norch, torch):
            x, y = (lib.ones(shape, dtype=getattr(lib, d)) for shape, d in zip(shapes, (first, second)))
            types = [dtype_after(name, x, y) for name in ARITHMETIC]
            types += [dtype_after(name, x.clone(), y) for name in IN_PLACE]
            types += [name_of(lib.result_type(x, y)), name_of(lib.promote_types(x.dtype, y.dtype))]
            found.append([*types, lib.can_cast(x.dtype, y.dtype)])
        assert found[0] == found[1], shapes


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("number", [True, 2, 2.5])
def test_promotion_with_numbers(dtype, number):
    names = [name for name in ARITHMETIC + IN_PLACE if not (name.endswith("pow") and dtype == "bool")]
    for shape in ((2,), ()):
        found = []
        for lib in (norch, torch):
            x = lib.ones(shape, dtype=getattr(lib, dtype))
            types = [dtype_after(name, x.clone(), number) for name in names]
            types += [dtype_after(name, number, x) for name in ARITHMETIC if name in names]
            found.append([*types, name_of(lib.result_type(x, number))])
        assert found[0] == found[1], shape


@pytest.mark.parametrize("source, target", list(itertools.product(DTYPES, DTYPES)))
def test_conversions(source, target):
    """Of numbers out of range too, as x86 converts them."""
    if source in REAL:
        numbers = [math.nan, math.inf, -math.inf, 1e20, -1e20, 3e9, -3e9, 2147483647.5, -2147483648.5, 300.7, -1.5]
    else:
        largest = norch.iinfo(getattr(norch, source)).max if source != "bool" else 1
        numbers = [0, 1, largest, largest // 3]
    mine, theirs = (lib.tensor(numbers * 5, dtype=getattr(lib, source)) for lib in (norch, torch))
    assert_same(mine.to(getattr(norch, target)), theirs.to(getattr(torch, target)))


def test_ramps():
    """norch rounds once; torch's last digits depend on the width of the machine's vectors."""
    for seed in range(300):
        case = RandomCase(("ramp", seed))
        start, end = (round(case.rng.uniform(-20, 20), case.rng.randint(0, 3)) for _ in range(2))
        step = math.copysign(round(case.rng.uniform(0.01, 3), 2), end - start)
        dtype = case.rng.choice(REAL)
        case.expressions.append(f"{start}, {end}, {step}, {dtype}")
        with case.reporting():
            results = [lib.arange(start, end, step, dtype=getattr(lib, dtype)) for lib in (norch, torch)]
            assert_same(*results, scale=10)
            count = case.rng.randint(0, 50)
            results = [lib.linspace(start, end, count, dtype=getattr(lib, dtype)) for lib in (norch, torch)]
            assert_same(*results, scale=10)
            whole = [case.rng.randint(-30, 30), case.rng.randint(31, 99), case.rng.randint(1, 9)]
            assert_same(norch.arange(*whole), torch.arange(*whole))


VIEWS = [
    ".diagonal({k}, 0, 1)",
    ".diagonal({k}, -1, 0)",
    ".movedim(0, -1)",
    ".movedim((0, 1), (1, 2))",
    ".unbind(1)[0]",
    ".split(2, 1)[-1]",
    ".chunk(2, -1)[0]",
    ".narrow(1, 1, 1)",
    ".mT",
    ".flip(0, -1)",
    ".roll({k}, 1)",
    ".roll(({k}, 1), (0, 2))",
    ".roll({k})",
    ".repeat(2, 1, 2, 1)",
    ".tile(2, 1)",
    ".repeat_interleave(2, 1)",
    ".unflatten(-1, (-1, 1))",
    ".swapaxes(0, 2)",
]


@pytest.mark.parametrize("step", VIEWS)
def test_views_and_their_gradients(step):
    for seed in range(25):
        case = RandomCase((step, seed))
        with case.reporting():
            shape = tuple(case.rng.randint(2, 4) for _ in range(3))
            text = case.tensor(shape, "float64", any_numbers)
            call = step.format(k=case.rng.randint(-2, 2))
            case.expressions.append(call)
            assert_same_gradients(case, lambda lib, x: eval(f"x{call}", {"x": x}) * 2, [text])  # noqa: B023


def test_as_strided_gradients():
    """Overlapping windows, over tensors of other strides."""
    for seed in range(100):
        case = RandomCase(("as_strided", seed))
        rng = case.rng
        with case.reporting():
            base = f"lib.tensor({any_numbers(rng, 24, 'float64')}, dtype=lib.float64).reshape(6, 4)"
            change = rng.choice(["", ".T", "[1:]", "[::2]"])
            size, stride = [rng.randint(1, 3) for _ in range(2)], [rng.randint(0, 3) for _ in range(2)]
            call = f"{change}.as_strided({size}, {stride}, {rng.randint(4, 9)})"
            case.expressions += [base, call]
            assert_same_gradients(case, lambda lib, x: eval(f"(x * 3){call}", {"x": x}), [base])  # noqa: B023


def test_compositions():
    for seed in range(60):
        case = RandomCase(("composed", seed))
        with case.reporting():
            text = case.tensor((3, 4), "float64", any_numbers)
            dim, keepdim = case.rng.choice([0, 1, (0, 1)]), case.rng.random() < 0.5
            x, y = evaluate(text, norch), evaluate(text, torch)
            assert_same(x.logsumexp(dim, keepdim), y.logsumexp(dim, keepdim))
            for p in (0, 1, 2, 3, math.inf, -math.inf, "fro"):
                assert_same(x.norm(p, dim, keepdim), y.norm(p, dim, keepdim))
            assert_same(x.count_nonzero(dim), y.count_nonzero(dim))
            assert_same(x.isclose(x + 1e-6 * x), y.isclose(y + 1e-6 * y))
    extremes = [[math.inf, 1.0], [-math.inf, -math.inf], [math.nan, 0.0], [1000.0, 999.0]]
    assert_same(norch.tensor(extremes).logsumexp(1), torch.tensor(extremes).logsumexp(1))
    assert_same(norch.tensor(extremes).nansum(1), torch.tensor(extremes).nansum(1))
    assert_same(norch.tensor(extremes).nanmean(0), torch.tensor(extremes).nanmean(0))


# ---- Data -------------------------------------------------------------------------------------------------------

DATA = {
    "arrays": [np.array([1.0, 2]), np.array([3.0, 4])],
    "arrays of float32": [np.array([1, 2], np.float32), np.array([3, 4], np.float32)],
    "arrays of two dtypes": [np.array([1, 2]), np.array([3, 4], np.float32)],
    "an array and a list": [np.array([1, 2]), [3.5, 4]],
    "a list and an array": [[3.5, 4], np.array([1, 2])],
    "nested arrays": [[np.array([1, 2])], [np.array([3, 4])]],
    "a deque of arrays": deque([np.array([1.0, 2]), np.array([3.0, 4])]),
    "float64": np.float64(2.5),
    "float32": np.float32(2.5),
    "int32": np.int32(2),
    "bool": np.bool_(True),
    "float64s": [np.float64(2.5), np.float64(1)],
    "float32s": [np.float32(2.5), np.float32(1)],
    "int64s": [np.int64(2), np.int64(1)],
    "int32s": [np.int32(2), np.int32(1)],
    "int32 and float": [np.int32(2), 1.5],
    "bools": [np.bool_(True), False],
    "a masked array": np.ma.array([1, 2, 3]),
    "empty": np.zeros((0, 3)),
}


@pytest.mark.filterwarnings("ignore:Creating a tensor from a list")
@pytest.mark.parametrize("data", list(DATA.values()), ids=list(DATA))
def test_data_of_numpy(data):
    for make in ("tensor", "as_tensor"):
        ours, theirs = getattr(norch, make)(data), getattr(torch, make)(data)
        assert str(ours.dtype).split(".")[-1] == str(theirs.dtype).split(".")[-1]
        assert tuple(ours.shape) == tuple(theirs.shape) and ours.tolist() == theirs.tolist()


def test_arrays_of_two_shapes_are_ragged():
    with pytest.raises(ValueError, match=r"\[2\].*\[3\]"):
        norch.tensor([np.ones(2), np.ones(3)])
