"""norch against NumPy: values of elementwise operations, reductions, products, joins and views, in random layouts."""

from __future__ import annotations

import math

import ml_dtypes  # noqa: F401  (whose import tells NumPy of bfloat16)
import numpy
import pytest
from arrays import DTYPES, REAL
from draws import any_numbers
from operations import ACCEPTED, ELEMENTWISE, REDUCTIONS, UNARY, by_name
from random_cases import RandomCase, evaluate

import norch

# norch's name -> NumPy's, where they differ
NAMES = {"neg": "negative", "mul": "multiply", "sub": "subtract", "div": "divide", "pow": "power", "round": "rint"}
NAMES.update(
    {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}
)
NAMES.update({"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "bitwise_not": "invert"})
HALVES = {"float16", "bfloat16"}  # whose sums NumPy rounds at every step, and norch once
TOLERANCE = {"float16": 2e-3, "bfloat16": 2**-7, "float32": 3e-6, "float64": 1e-11}

BY_NUMPY = {
    "relu": lambda x: numpy.maximum(x, 0),
    "sigmoid": lambda x: 1 / (1 + numpy.exp(-x)),
    "frac": lambda x: numpy.fmod(x, 1),
    "rsqrt": lambda x: 1 / numpy.sqrt(x),
    "erf": numpy.vectorize(math.erf, otypes="d"),
    "erfc": numpy.vectorize(math.erfc, otypes="d"),
}


def oracle(name):
    return BY_NUMPY.get(name) or getattr(numpy, NAMES.get(name) or name)


def array_of(tensor):
    """The tensor's elements as an array of its shape and dtype."""
    return numpy.array(tensor.tolist(), dtype=str(tensor.dtype).replace("norch.", "")).reshape(tuple(tensor.shape))


def assert_same(result, expected, dtype=None, scale=1):
    expected = numpy.asarray(expected)
    shape = tuple(result.shape)
    assert shape == expected.shape or (shape == (1,) and expected.shape == ()), f"{shape} != {expected.shape}"
    actual = array_of(result)
    if dtype is not None:
        assert actual.dtype == numpy.dtype(dtype), f"{actual.dtype} != {dtype}"
    name = str(actual.dtype)
    tolerance = TOLERANCE.get(name, 0) * (1 if name in HALVES else scale)
    numpy.testing.assert_allclose(actual.reshape(expected.shape), expected, rtol=tolerance, atol=tolerance)


NOT_IN_NUMPY = {"erfinv", "lgamma", "digamma", "xlogy", "igamma", "igammac"}
NOT_FOR_BOOL = {"sign", "gcd", "lcm", "bitwise_left_shift", "bitwise_right_shift"}


@by_name([row for row in ELEMENTWISE if row.name not in NOT_IN_NUMPY])
def test_elementwise(row):
    arity = 1 if row in UNARY else 2
    for seed in range(80):
        case = RandomCase((row.name, "numpy", seed))
        dtype = case.rng.choice(ACCEPTED[row.rule])
        if dtype == "bfloat16" or (dtype == "bool" and row.name in NOT_FOR_BOOL):
            continue  # NumPy has none for it
        with case.reporting(), numpy.errstate(all="ignore"):
            texts = [case.tensor(shape, dtype, draw) for shape, draw in zip(case.broadcastable(arity), row.draws)]
            tensors = [evaluate(text, norch) for text in texts]
            arrays = [array_of(tensor) for tensor in tensors]
            if row.rule == "real" and dtype not in REAL:
                arrays = [array.astype("float32") for array in arrays]
            expected = oracle(row.name)(*arrays)
            assert_same(getattr(norch, row.name)(*tensors), expected, "bool" if row.rule == "test" else arrays[0].dtype)


@by_name(REDUCTIONS)
def test_reduction(row):
    for seed in range(100):
        case = RandomCase((row.name, "numpy", seed))
        with case.reporting(), numpy.errstate(all="ignore"):
            dtype = case.rng.choice(row.accepted)
            shape = case.shape(sizes=(2, 3, 4)) or (3,)
            tensor = evaluate(case.tensor(shape, dtype, any_numbers), norch)
            axis = case.rng.choice([None, *range(-len(shape), len(shape))])
            if row.several_axes and len(shape) > 1 and case.rng.random() < 0.3:
                axis = tuple(case.rng.sample(range(len(shape)), 2))
            keepdim = axis is not None and case.rng.random() < 0.5
            case.expressions.append(f"{row.name}(axis={axis}, keepdim={keepdim})")
            array = array_of(tensor)
            if dtype in HALVES or row.name in ("sum", "prod"):
                array = array.astype("float64" if dtype in REAL else "int64")
            more = {"ddof": 1} if row.name in ("var", "std") else {}
            expected = getattr(numpy, row.name)(array, axis=axis, keepdims=keepdim, **more)
            result = getattr(tensor, row.name)(axis=axis, keepdim=keepdim)
            assert_same(result, expected, row.dtype(dtype), scale=10)


def test_matmul():
    for seed in range(300):
        case = RandomCase(("matmul", "numpy", seed))
        rng = case.rng
        with case.reporting():
            rows, inner, columns = (rng.choice([1, 2, 3, 8, 31, 64]) for _ in range(3))
            batch = [rng.choice([1, 2, 3]) for _ in range(rng.randint(0, 2))]
            left, right = [[1 if rng.random() < 0.3 else size for size in batch] for _ in range(2)]
            shapes = rng.choice([[*left, rows, inner], [inner]]), rng.choice([[*right, inner, columns], [inner]])
            dtype = rng.choice(["float32", "float64", "int64"])
            tensors = [evaluate(case.tensor(tuple(shape), dtype, any_numbers), norch) for shape in shapes]
            assert_same(norch.matmul(*tensors), numpy.matmul(*map(array_of, tensors)), dtype, scale=50)


@pytest.mark.parametrize("dtype", DTYPES)
def test_joins_and_choices(dtype):
    for seed in range(60):
        case = RandomCase(("join", dtype, seed))
        rng = case.rng
        with case.reporting():
            shape = list(case.shape() or (2,))
            axis = rng.randrange(-len(shape), len(shape))
            tensors = []
            for _ in range(rng.randint(1, 4)):
                shape[axis] = rng.randint(0, 4)
                tensors.append(evaluate(case.tensor(tuple(shape), dtype, any_numbers), norch))
            assert_same(norch.cat(tensors, axis), numpy.concatenate([array_of(t) for t in tensors], axis), dtype)
            same = [evaluate(case.tensor(tuple(shape), dtype, any_numbers), norch) for _ in range(3)]
            assert_same(norch.stack(same, axis), numpy.stack([array_of(t) for t in same], axis), dtype)
            texts = [
                case.tensor(each, kind, any_numbers)
                for each, kind in zip(case.broadcastable(3), ("bool", dtype, dtype))
            ]
            operands = [evaluate(text, norch) for text in texts]
            assert_same(norch.where(*operands), numpy.where(*map(array_of, operands)), dtype)


def test_views():
    for seed in range(300):
        case = RandomCase(("views", seed))
        rng = case.rng
        with case.reporting():
            shape = case.shape() or (2,)
            dtype = rng.choice(DTYPES)
            tensor = evaluate(case.tensor(shape, dtype, any_numbers), norch)
            array = array_of(tensor)
            axis, other = (rng.randrange(-len(shape), len(shape)) for _ in range(2))
            order = rng.sample(range(len(shape)), len(shape))
            assert_same(tensor.transpose(axis, other), array.swapaxes(axis, other), dtype)
            assert_same(tensor.permute(order), array.transpose(order), dtype)
            assert_same(tensor.unsqueeze(axis), numpy.expand_dims(array, axis), dtype)
            assert_same(tensor.squeeze(), array.squeeze(), dtype)
            assert_same(tensor.expand(2, *shape), numpy.broadcast_to(array, (2, *shape)), dtype)
            assert_same(tensor.flatten(), array.reshape(-1), dtype)
            for to in DTYPES:
                target = getattr(norch, to)
                if to == "uint8" and dtype != "bool":
                    continue  # negative floats have no defined byte
                assert_same(tensor.to(target), array.astype(to), to)


def test_sums_are_as_precise_as_in_double():
    """Float sums of many elements of any size, along every axis, within a few units of the exactly rounded one."""
    generator = numpy.random.default_rng(1)
    for shape in [(1_000_000,), (1000, 777), (777, 1000), (100, 70, 90)]:
        values = generator.uniform(-1, 2, shape).astype("float32")
        tensor = norch.tensor(values.reshape(-1).tolist()).reshape(shape)
        for axis in (None, *range(len(shape))):
            exact = values.astype("float64").sum(axis)
            scale = numpy.abs(values.astype("float64")).sum(axis)
            error = numpy.abs(array_of(tensor.sum(axis=axis)).reshape(exact.shape) - exact) / scale
            assert error.max() < 3e-7, (shape, axis)
    assert math.isclose(tensor.mean().item(), values.astype("float64").mean(), rel_tol=1e-6)
