"""Indexing, gather, scatter, sorting and running totals against torch and NumPy, in thousands of random cases.

Every case is a line of Python in which `lib` is norch or torch, `x` and `y` are tensors of random layouts: what fails
prints the seed and the line, which can be pasted into a session.
"""

from __future__ import annotations

import math

import numpy
import pytest
import torch
from arrays import DTYPES
from draws import any_numbers, smooth
from random_cases import RandomCase, evaluate

import norch

# norch sums halves in float32; torch rounds at every step, so that their last digit differs
TOLERANCE = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 3e-6, "float64": 1e-11}


def assert_same(result, expected):
    dtype = str(result.dtype).replace("norch.", "")
    assert dtype == str(expected.dtype).replace("torch.", "")
    shape = tuple(result.shape)
    assert shape == tuple(expected.shape) or (shape == (1,) and expected.ndim == 0), f"{shape} != {expected.shape}"
    actual = torch.tensor(result.detach().tolist(), dtype=expected.dtype).reshape(expected.shape)
    tolerance = TOLERANCE.get(dtype, 0)
    torch.testing.assert_close(actual, expected.detach(), rtol=tolerance, atol=tolerance, equal_nan=True)


# ---- random indices --------------------------------------------------------------------------------------------------


def array(rng, shape, size, low=None):
    """Nested lists of this shape with indices of an axis."""
    if not shape:
        return rng.randint(-size if low is None else low, size - 1)
    return [array(rng, shape[1:], size, low) for _ in range(shape[0])]


def mask(rng, shape):
    return [mask(rng, shape[1:]) for _ in range(shape[0])] if shape else rng.random() < 0.5


def random_slice(rng, size):
    bounds = [rng.choice([None, rng.randint(-size - 1, size + 1)]) for _ in range(2)]
    start, stop = ("" if bound is None else str(bound) for bound in bounds)
    return f"{start}:{stop}" + rng.choice(["", "", ":1", ":2", ":3"])


def spelled(rng, nested, kind):
    """An index array as a list, a tensor, or a NumPy array."""
    text = repr(nested)
    forms = [f"lib.tensor({text}, dtype=lib.{kind})", text]
    if kind == "int64":
        forms += [f"lib.tensor({text}, dtype=lib.int32)", f"numpy.array({text}, dtype='int64')"]
    return rng.choice(forms)


def random_index(rng, shape):
    """The text between the brackets of an index that fits a shape of sizes above 0."""
    common = [rng.choice([1, 2, 3]) for _ in range(rng.choice([1, 1, 2]))]  # what the index arrays broadcast to
    parts, axis, masked = [], 0, False
    skipped = sorted(rng.randint(0, len(shape)) for _ in range(2))  # the dimensions that `...` stands for
    dots = rng.random() < 0.4
    while axis < len(shape):
        draw = rng.random()
        left = (skipped[0] if dots and axis < skipped[0] else len(shape)) - axis
        if dots and axis == skipped[0]:
            parts.append("...")
            axis, dots = skipped[1], False
        elif draw < 0.08:
            parts.append("None")
        elif draw < 0.12 and not masked:
            parts.append(rng.choice(["True", "False"]))
            common, masked = [1], True
        elif draw < 0.3:
            parts.append(str(array(rng, (), shape[axis])))
            axis += 1
        elif draw < 0.55:
            parts.append(random_slice(rng, shape[axis]))
            axis += 1
        elif draw < 0.65 and not masked:
            dims = rng.randint(1, min(2, left))
            nested = mask(rng, shape[axis : axis + dims])
            # torch counts a list as one dimension when it writes out `...`
            parts.append(spelled(rng, nested, "bool") if dims == 1 else f"lib.tensor({nested}, dtype=lib.bool)")
            common, axis, masked = [1], axis + dims, True
        elif draw < 0.92 or "..." in parts:  # what follows the dots reaches the last dimension
            own = [1 if rng.random() < 0.2 else size for size in common[rng.randint(0, len(common) - 1) :]]
            parts.append(spelled(rng, array(rng, own, shape[axis]), "int64"))
            axis, masked = axis + 1, masked or common != [1]
        else:
            break
    return ", ".join(parts) + "," if parts else "..."


def run(text, lib, **names):
    return eval(text, {"lib": lib, "numpy": numpy, **names})


def execute(text, lib, **names):
    exec(text, {"lib": lib, "numpy": numpy, **names})


SIZES = (1, 2, 2, 3, 3, 4)

# ---- x[index] --------------------------------------------------------------------------------------------------------


def test_reading():
    for seed in range(2500):
        case = RandomCase(("reading", seed))
        with case.reporting():
            shape = case.shape(sizes=SIZES)
            text = case.tensor(shape, case.rng.choice(DTYPES), any_numbers)
            line = f"x[{random_index(case.rng, shape)}]"
            case.expressions.append(line)
            mine, theirs = (run(line, lib, x=evaluate(text, lib)) for lib in (norch, torch))
            if isinstance(mine, norch.Tensor):
                assert_same(mine, theirs)
            else:
                assert theirs.ndim == 0
                assert mine == theirs.item() and type(mine) is type(theirs.item())


def test_writing():
    """A number, or a tensor that broadcasts; through views too, so that the whole base is compared."""
    for seed in range(2000):
        case = RandomCase(("writing", seed))
        rng = case.rng
        with case.reporting():
            shape = case.shape(sizes=SIZES)
            dtype = rng.choice(DTYPES)
            text = case.tensor(shape, dtype, any_numbers) + ".clone()"
            view = rng.choice(["x", "x", "x.T", "x[1:]", "x[..., ::2]"]) if len(shape) == 2 else "x"
            target = run(view, torch, x=evaluate(text, torch))
            if 0 in target.shape:
                continue
            index = random_index(rng, tuple(target.shape))
            chosen = run(f"x[{index}]", torch, x=target)
            if rng.random() < 0.4:
                value = repr(any_numbers(rng, 1, "uint8" if "uint8" in dtype else dtype)[0])
            else:
                own = [1 if rng.random() < 0.3 else size for size in chosen.shape[rng.randint(0, chosen.ndim) :]]
                value = case.tensor(tuple(own), dtype, any_numbers)
            line = f"{view}[{index}] = {value}"
            case.expressions.append(line)
            mine, theirs = (evaluate(text, lib) for lib in (norch, torch))
            execute(line, norch, x=mine)
            execute(line, torch, x=theirs)
            assert_same(mine, theirs)


def test_reading_and_writing_like_numpy():
    """Arrays, slices and masks, without integers between slices: there NumPy orders dimensions in a way of its own."""
    for seed in range(1000):
        case = RandomCase(("numpy", seed))
        rng = case.rng
        with case.reporting():
            shape = case.shape(sizes=SIZES)
            index = random_index(rng, shape)
            if any(part.strip().lstrip("-").isdigit() for part in index.rstrip(",").split(", ")) or "int32" in index:
                continue
            numbers = numpy.array(any_numbers(rng, math.prod(shape), "float64")).reshape(shape)
            tensor = norch.tensor(numbers.reshape(-1).tolist(), dtype=norch.float64).reshape(shape)
            case.expressions.append(f"x[{index}] for shape {shape}")
            theirs = eval(f"x[{index}]", {"x": numbers, "lib": AsNumPy, "numpy": numpy})
            mine = run(f"x[{index}]", norch, x=tensor)
            assert tuple(mine.shape) == theirs.shape
            assert mine.tolist() == theirs.tolist()
            exec(f"x[{index}] = 7", {"x": numbers, "lib": AsNumPy, "numpy": numpy})
            execute(f"x[{index}] = 7", norch, x=tensor)
            assert tensor.tolist() == numbers.tolist()


class AsNumPy:
    """numpy under the names that the lines of these tests use."""

    int64, int32, bool = numpy.int64, numpy.int32, numpy.bool_
    tensor = staticmethod(numpy.array)


def test_gradients_of_reading_and_writing():
    for seed in range(600):
        case = RandomCase(("index gradient", seed))
        rng = case.rng
        with case.reporting():
            shape = case.shape(sizes=SIZES)
            text = case.tensor(shape, "float64", lambda rng, n, d: smooth(rng, n))
            index = random_index(rng, shape)
            chosen = run(f"x[{index}]", torch, x=evaluate(text, torch))
            if chosen.ndim == 0:
                continue
            value = case.tensor(tuple(chosen.shape), "float64", lambda rng, n, d: smooth(rng, n))
            case.expressions.append(f"x[{index}]")
            gradients = []
            for lib in (norch, torch):
                x, y = (evaluate(each, lib).detach().clone().requires_grad_() for each in (text, value))
                copy = x * 2
                if seed % 2:
                    execute(f"x[{index}] = y", lib, x=copy, y=y * y)
                (run(f"x[{index}]", lib, x=copy * copy) * y).sum().backward()
                gradients.append((x.grad, y.grad))
            for mine, theirs in zip(*gradients):
                assert_same(mine, theirs)


# ---- by name ---------------------------------------------------------------------------------------------------------


def along(rng, shape, axis, least=0):
    """An index array for gather: no larger than the shape but along the axis."""
    own = [rng.randint(1, 4) if d == axis else rng.randint(1, size) for d, size in enumerate(shape)]
    return own, f"lib.tensor({array(rng, own, shape[axis], least)}, dtype=lib.int64)"


def vector(rng, size, length, least=0):
    return f"lib.tensor({array(rng, [length], size, least)}, dtype=lib.int64)"


def distinct(rng, size):
    return f"lib.tensor({rng.sample(range(size), rng.randint(1, size))}, dtype=lib.int64)"


def gather(case, shape, axis, dtype):
    return f"x.gather({axis}, {along(case.rng, shape, axis)[1]})"


def take_along_dim(case, shape, axis, dtype):
    own, index = along(case.rng, shape, axis, least=-shape[axis])
    own = [size if d == axis else case.rng.choice([1, full]) for d, (size, full) in enumerate(zip(own, shape))]
    nested = array(case.rng, own, shape[axis], -shape[axis])
    return f"lib.take_along_dim(x, lib.tensor({nested}, dtype=lib.int64), {axis})"


def scatter(case, shape, axis, dtype):
    own, index = along(case.rng, shape, axis)
    larger = tuple(size + case.rng.randint(0, 1) for size in own)
    number = repr(any_numbers(case.rng, 1, dtype)[0])
    return f"x.scatter({axis}, {index}, {case.rng.choice([number, case.tensor(larger, dtype, any_numbers)])})"


def scatter_add(case, shape, axis, dtype):
    own, index = along(case.rng, shape, axis)
    return f"x.scatter_add({axis}, {index}, {case.tensor(tuple(own), dtype, any_numbers)})"


def index_select(case, shape, axis, dtype):
    return f"lib.index_select(x, {axis}, {vector(case.rng, shape[axis], case.rng.randint(0, 4))})"


def index_fill(case, shape, axis, dtype):
    number = repr(any_numbers(case.rng, 1, dtype)[0])
    return f"x.index_fill({axis}, {vector(case.rng, shape[axis], 3, -shape[axis])}, {number})"


def index_add(case, shape, axis, dtype):
    length = case.rng.randint(1, 4)
    source = case.tensor(tuple(length if d == axis else size for d, size in enumerate(shape)), dtype, any_numbers)
    alpha = ", alpha=2" if dtype != "bool" and case.rng.random() < 0.3 else ""
    return f"x.index_add({axis}, {vector(case.rng, shape[axis], length)}, {source}{alpha})"


def index_put(case, shape, axis, dtype):
    rows = vector(case.rng, shape[0], 3, -shape[0])
    values = case.tensor((3, *(1 for _ in shape[1:])), dtype, any_numbers)
    return f"x.index_put(({rows},), {values}, accumulate={case.rng.random() < 0.7})"


def take(case, shape, axis, dtype):
    count = math.prod(shape)
    return f"x.take(lib.tensor({array(case.rng, [2, 2], count)}, dtype=lib.int64))"


def masked_fill(case, shape, axis, dtype):
    number = repr(any_numbers(case.rng, 1, dtype)[0])
    return f"x.masked_fill({case.tensor(shape[axis:], 'bool', any_numbers)}, {number})"


def masked_select(case, shape, axis, dtype):
    return f"lib.masked_select(x, {case.tensor(shape[axis:], 'bool', any_numbers)})"


def nonzero(case, shape, axis, dtype):
    return case.rng.choice(["x.nonzero()", f"x.nonzero(as_tuple=True)[{axis}]"])


def triangle(case, shape, axis, dtype):
    return f"lib.{case.rng.choice(['tril', 'triu'])}(x.expand(2, *x.shape), {case.rng.randint(-3, 3)})"


def diag(case, shape, axis, dtype):
    return f"lib.diag(x.reshape({case.rng.choice(['-1', f'-1, {shape[-1]}'])}), {case.rng.randint(-2, 2)})"


def sort(case, shape, axis, dtype):
    which = case.rng.choice(["[0]", ".indices", ".values"])
    return f"x.sort(dim={axis}, descending={case.rng.random() < 0.5}, stable=True){which}"


def argsort(case, shape, axis, dtype):
    return f"lib.argsort(x, dim={axis}, descending={case.rng.random() < 0.5}, stable=True)"


def topk(case, shape, axis, dtype):
    x = "x.int()" if dtype == "bool" else "x"  # which torch does not order by topk
    return f"{x}.topk({case.rng.randint(0, shape[axis])}, {axis}, largest={case.rng.random() < 0.5})[0]"


def cumsum(case, shape, axis, dtype):
    return f"x.cumsum({case.rng.choice([axis, axis - len(shape)])})"


def cumprod(case, shape, axis, dtype):
    return f"lib.cumprod(x, dim={axis})"


NAMED = [
    gather,
    take_along_dim,
    scatter,
    scatter_add,
    index_select,
    index_fill,
    index_add,
    index_put,
    take,
    masked_fill,
]
NAMED += [masked_select, nonzero, triangle, diag, sort, argsort, topk, cumsum, cumprod]
NO_GRADIENT = [nonzero, argsort, topk]  # which of equal elements topk takes is torch's own affair


@pytest.mark.parametrize("draw", NAMED, ids=lambda draw: draw.__name__)
def test_by_name(draw):
    """Values in every dtype and layout; the gradient in float64."""
    for seed in range(120):
        case = RandomCase((draw.__name__, seed))
        rng = case.rng
        with case.reporting():
            shape = case.shape(max_rank=3, sizes=SIZES) or (3,)
            dtype = rng.choice(DTYPES)
            text = case.tensor(shape, dtype, any_numbers)
            line = draw(case, shape, rng.randrange(len(shape)), dtype)
            case.expressions.append(line)
            assert_same(*(run(line, lib, x=evaluate(text, lib)) for lib in (norch, torch)))
            if dtype != "float64" or draw in NO_GRADIENT or ".indices" in line:
                continue
            gradients = []
            for lib in (norch, torch):
                x = evaluate(text, lib).detach().clone().requires_grad_()
                result = run(line, lib, x=x)
                (result * result.detach().cos()).sum().backward()
                gradients.append(x.grad)
            assert_same(*gradients)


def test_nan_is_the_largest():
    values = [2.0, math.nan, -math.inf, math.inf, math.nan, 0.0]
    for line in [
        "x.sort()[0]",
        "x.sort(stable=True)[1]",
        "x.sort(descending=True)[0]",
        "x.sort(descending=True, stable=True)[1]",
        "x.topk(3)[0]",
        "x.topk(3, largest=False)[0]",
        "x.cumsum(0)",
        "x.cumprod(0)",
    ]:
        assert_same(*(run(line, lib, x=lib.tensor(values)) for lib in (norch, torch)))


REFUSED = [
    "x[[0, 1], [0, 1, 2]]",
    "x[5]",
    "x[0, [9]]",
    "x[[True, False, True]]",
    "x[lib.zeros(2, 2, dtype=lib.bool)]",
    "x[lib.tensor([1.5])]",
    "x[0, 0, 0]",
    "x[[0], [0], [0]]",
    "x.index_select(0, lib.tensor([[0]]))",
    "x.index_select(0, lib.tensor([9]))",
    "x.gather(0, lib.tensor([[0.5]]))",
    "x.gather(0, lib.tensor([0]))",
    "x.gather(1, lib.zeros(3, 1, dtype=lib.int64))",
    "x.scatter(0, lib.tensor([[0]]), lib.tensor([[1]]))",
    "x.scatter(0, lib.zeros(2, 4, dtype=lib.int64), x)",
    "x.index_add(0, lib.tensor([0]), x)",
    "x.index_put((lib.tensor([0]),), lib.tensor([1]))",
    "x.index_put((lib.tensor([0, 1]),), lib.zeros(5, 3))",
    "x.masked_fill(x, 1)",
    "x.masked_fill(x > 0, lib.tensor([1.0, 2.0]))",
    "x.masked_fill_(lib.ones(4, 2, 3) > 0, 1)",
    "x.masked_select(lib.ones(4) > 0)",
    "x.topk(9)",
    "x.topk(1, 5)",
    "x[0].tril()",
    "x.cumsum(2)",
    "x.take(lib.tensor([77]))",
]


@pytest.mark.parametrize("line", REFUSED)
def test_errors_are_of_the_same_kind(line):
    with pytest.raises(Exception) as theirs:
        run(line, torch, x=torch.zeros(2, 3))
    with pytest.raises(type(theirs.value)):
        run(line, norch, x=norch.zeros(2, 3))
