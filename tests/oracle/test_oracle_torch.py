"""norch against torch: thousands of random shapes, layouts and dtypes, values and gradients, and the printed text."""

from __future__ import annotations

import math
import random

import pytest
import torch
from arrays import DTYPES, REAL, WHOLE
from cases import CASES
from draws import any_numbers
from operations import ACCEPTED, BINARY, ELEMENTWISE, REDUCTIONS, UNARY, by_name
from random_cases import RandomCase, evaluate
from tensors import LAYOUTS, operand

import norch

TOLERANCE = {"float32": 3e-6, "float64": 1e-11, "float16": 2e-3, "bfloat16": 1e-2}
FLOATS = ["float32", "float64"]
ACCEPTED_BY_TORCH = {  # where norch accepts more
    "frac": REAL,
    "hypot": REAL,
    **dict.fromkeys(("nextafter", "logaddexp", "logaddexp2", "igamma", "igammac"), FLOATS),
    **dict.fromkeys(("gcd", "lcm", "bitwise_left_shift", "bitwise_right_shift"), [d for d in WHOLE if d != "bool"]),
}


def accepted(row):
    return ACCEPTED_BY_TORCH.get(row.name, ACCEPTED[row.rule])


def assert_same(result: norch.Tensor, expected: torch.Tensor, scale: float = 1.0) -> None:
    """Shape (norch keeps [1] where torch has none), dtype, then every element."""
    dtype = str(result.dtype).replace("norch.", "")
    shape = tuple(result.shape)
    assert shape == tuple(expected.shape) or (shape == (1,) and expected.ndim == 0), f"{shape} != {expected.shape}"
    assert dtype == str(expected.dtype).replace("torch.", "")
    actual = torch.tensor(result.detach().tolist(), dtype=expected.dtype).reshape(expected.shape)
    tolerance = TOLERANCE.get(dtype, 0) * scale
    torch.testing.assert_close(actual, expected.detach(), rtol=tolerance, atol=tolerance, equal_nan=True)


def assert_same_gradients(case, function, expressions, seeds=None):
    """The function of the same leaves in both libraries, and what backward leaves in their `.grad`."""
    results, leaves = [], []
    for lib in (norch, torch):
        inputs = [evaluate(text, lib).detach().requires_grad_() for text in expressions]
        leaves.append(inputs)
        results.append(function(lib, *inputs))
    assert_same(*results)
    weights = [case.rng.uniform(-1, 1) for _ in range(math.prod(results[0].shape))]
    (results[0] * norch.tensor(weights, dtype=norch.float64).reshape(results[0].shape)).sum().backward()
    (results[1] * torch.tensor(weights, dtype=torch.float64).reshape(results[1].shape)).sum().backward()
    for mine, theirs in zip(*leaves):
        assert_same(mine.grad, theirs.grad, scale=100)


# ---- elementwise -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@by_name(UNARY)
def test_unary(row, dtype):
    if dtype not in accepted(row):
        return
    for seed in range(12):
        case = RandomCase((row.name, dtype, seed))
        with case.reporting():
            text = case.tensor(case.shape(), dtype, row.draws[0])
            assert_same(
                getattr(norch, row.name)(evaluate(text, norch)), getattr(torch, row.name)(evaluate(text, torch))
            )


@by_name(BINARY)
def test_binary(row):
    """Random pairs of dtypes; tensors of no dimensions do not widen the others."""
    for seed in range(150):
        case = RandomCase((row.name, seed))
        with case.reporting():
            first, second = case.broadcastable(2)
            dtypes = [case.rng.choice(accepted(row)) for _ in range(2)]
            if row.name == "heaviside":
                dtypes[1] = dtypes[0]  # torch refuses two
            texts = []
            for shape, dtype, draw in zip((first, second), dtypes, row.draws):
                # no negative numbers beside unsigned ones: what they become is left to the machine
                elements = "uint8" if dtype != "bool" and {"uint8", "bool"} & set(dtypes) else dtype
                texts.append(case.tensor(shape, dtype, lambda rng, n, _, d=elements, draw=draw: draw(rng, n, d)))
            mine, theirs = ([evaluate(text, lib) for text in texts] for lib in (norch, torch))
            assert_same(getattr(norch, row.name)(*mine), getattr(torch, row.name)(*theirs))


@by_name([row for row in BINARY if row.symbol])
def test_python_numbers(row):
    for seed in range(60):
        case = RandomCase((row.name, "number", seed))
        with case.reporting():
            dtype = case.rng.choice(accepted(row))
            number = case.rng.choice([1, 2, 3, True] if row.rule == "whole" else [1, 2, 3, 0.5, 2.5, True])
            if number is True and row.rule == "numeric":
                continue  # torch refuses to subtract True; to norch it is 1
            case.expressions.append(repr(number))
            for draw, call in zip(row.draws, (lambda t: row.symbol(t, number), lambda t: row.symbol(number, t))):  # noqa: B023
                text = case.tensor(
                    case.shape(), dtype, lambda rng, n, d, draw=draw: draw(rng, n, d if d == "bool" else "uint8")
                )
                if row.name in ("floor_divide", "remainder", "pow") and dtype == "bool":
                    continue  # a False divisor, or a result that torch computes in another dtype on some platforms
                assert_same(call(evaluate(text, norch)), call(evaluate(text, torch)))


@by_name([row for row in ELEMENTWISE if row.backward])
def test_elementwise_gradient(row):
    for seed in range(60):
        case = RandomCase((row.name, "gradient", seed))
        with case.reporting():
            arity = 1 if row in UNARY else 2
            draws = row.gradient_draws if seed % 2 or row.gradient_draws != ELEMENTWISE[0].gradient_draws else row.draws
            texts = [
                case.tensor(
                    shape,
                    "float64",
                    lambda rng, n, d, draw=draw: draw(rng, n) if draw not in row.draws else draw(rng, n, d),
                )
                for shape, draw in zip(case.broadcastable(arity), draws)
            ]
            assert_same_gradients(case, lambda lib, *inputs: getattr(lib, row.name)(*inputs), texts)


# ---- reductions ------------------------------------------------------------------------------------------------------


def reduction_arguments(case, row, rank):
    """Keyword arguments for both: none, one axis, or several."""
    choices = [{}]
    if rank:
        choices += [{"dim": case.rng.randrange(-rank, rank)}] * 2
    if rank > 1 and row.several_axes and row.name not in ("prod",):
        choices.append({"dim": tuple(case.rng.sample(range(rank), 2))})
    arguments = dict(case.rng.choice(choices))
    if arguments and case.rng.random() < 0.5:
        arguments["keepdim"] = True
    case.expressions.append(f"{row.name}({arguments})")
    return arguments


def values_of(result):
    return result if isinstance(result, (norch.Tensor, torch.Tensor)) else result[0]


@by_name(REDUCTIONS)
def test_reduction(row):
    for seed in range(200):
        case = RandomCase((row.name, seed))
        with case.reporting():
            dtype = case.rng.choice(row.accepted)
            shape = case.shape(sizes=(1, 2, 3, 3, 5) if row.empty is None or row.least > 1 else (0, 1, 2, 3, 5))
            if row.least > 1:
                shape = tuple(max(size, 2) for size in shape) or (2,)
            if row.name in ("argmax", "argmin") and dtype == "bool":
                dtype = "uint8"  # torch has none for bool
            ties = not row.name.startswith("arg")
            text = case.tensor(shape, dtype, any_numbers if ties else distinct, repeats=ties)
            arguments = reduction_arguments(case, row, len(shape))
            mine = getattr(evaluate(text, norch), row.name)(**arguments)
            theirs = getattr(evaluate(text, torch), row.name)(**arguments)
            assert_same(values_of(mine), values_of(theirs), scale=10)


def distinct(rng, count, dtype):
    """No ties among what uint8 can hold: which of them torch's argmax takes is not defined."""
    numbers = rng.sample(range(count + 5), count)
    return [x / 4 if dtype in REAL else x % 256 - 128 * (dtype == "int8") for x in numbers]


@by_name([row for row in REDUCTIONS if row.backward])
def test_reduction_gradient(row):
    for seed in range(80):
        case = RandomCase((row.name, "gradient", seed))
        with case.reporting():
            shape = case.shape(sizes=(2, 3, 4)) or (3,)
            tied = row.name in ("max", "min") and case.rng.random() < 0.5
            text = case.tensor(
                shape,
                "float64",
                any_numbers if not tied else lambda rng, n, d: [rng.choice([1.0, 2.0]) for _ in range(n)],
            )
            arguments = {} if tied else reduction_arguments(case, row, len(shape))
            assert_same_gradients(case, lambda lib, x: values_of(getattr(x, row.name)(**arguments)), [text])  # noqa: B023


# ---- the rest of the table -------------------------------------------------------------------------------------------


def broadcasts_first(row):
    """torch cannot differentiate a clamp whose bounds are larger than its operand."""
    return row.name == "clamp" and row.shapes[0] != (2, 3)


@pytest.mark.parametrize("layout", LAYOUTS[:3])
@pytest.mark.filterwarnings("ignore:index_reduce")  # which is in beta
@by_name(CASES)
def test_case(row, layout):
    if row.name == "view" and layout != "contiguous":
        return
    rng = random.Random(repr(row) + layout)
    for dtype in row.accepted:
        if row.name == "trace" and dtype == "bool":
            continue  # torch has none for bool
        draws = row.draws or (any_numbers,) * len(row.shapes)
        kinds = ["bool" if draw.__name__ == "truths" else dtype for draw in draws]
        mine = [
            operand(lambda n: draw(rng, n, kind), shape, kind, layout)[0]  # noqa: B023
            for draw, kind, shape in zip(draws, kinds, row.shapes)
        ]
        theirs = [
            torch.tensor(x.reshape(-1).tolist(), dtype=getattr(torch, kind)).reshape(tuple(x.shape))
            for x, kind in zip(mine, kinds)
        ]
        differentiates = dtype == "float64" and row.backward and not broadcasts_first(row)
        if differentiates:
            mine = [x.detach().requires_grad_() if kind == dtype else x for x, kind in zip(mine, kinds)]
            theirs = [x.requires_grad_() if kind == dtype else x for x, kind in zip(theirs, kinds)]
        result, expected = row.call(norch, *mine), row.call(torch, *theirs)
        assert_same(result, expected)
        if differentiates:
            (result * result).sum().backward()
            (expected * expected).sum().backward()
            for x, y in zip(mine, theirs):
                if y.requires_grad:
                    assert_same(x.grad, y.grad, scale=10)


def matmul_shapes(case):
    rng = case.rng
    rows, inner, columns = (rng.choice([0, 1, 2, 3, 5, 17, 33]) for _ in range(3))
    batch = [rng.choice([1, 2, 3]) for _ in range(rng.randint(0, 2))]
    left = [1 if rng.random() < 0.3 else size for size in batch][rng.randint(0, len(batch)) :] + [rows, inner]
    right = [1 if rng.random() < 0.3 else size for size in batch][rng.randint(0, len(batch)) :] + [inner, columns]
    if rng.random() < 0.2:
        left = [inner]
    if rng.random() < 0.2:
        right = [inner]
    return tuple(left), tuple(right)


def test_matmul():
    for seed in range(400):
        case = RandomCase(("matmul", seed))
        with case.reporting():
            dtype = case.rng.choice(["float32", "float64", "int64", "int32"])
            texts = [case.tensor(shape, dtype, any_numbers) for shape in matmul_shapes(case)]
            assert_same(
                evaluate(texts[0], norch) @ evaluate(texts[1], norch),
                evaluate(texts[0], torch) @ evaluate(texts[1], torch),
                scale=20,
            )


def test_matmul_gradient():
    for seed in range(150):
        case = RandomCase(("matmul gradient", seed))
        with case.reporting():
            texts = [case.tensor(shape, "float64", any_numbers) for shape in matmul_shapes(case)]
            assert_same_gradients(case, lambda lib, a, b: a @ b, texts)


def random_index(case, shape):
    """Slices, integers, None and one `...` in any order, that leave at least one dimension."""
    rng = case.rng
    parts = []
    for size in shape[: rng.randint(0, len(shape))]:
        start, stop = (rng.choice(["", str(rng.randint(-size - 1, size + 1))]) for _ in range(2))
        parts.append(
            str(rng.randrange(-size, size)) if size and rng.random() < 0.3 else f"{start}:{stop}:{rng.randint(1, 3)}"
        )
    integers = sum(":" not in part for part in parts)
    if integers == len(shape):
        parts.append("...") if integers == 0 else parts.__setitem__(0, ":")
    if rng.random() < 0.3:
        parts.insert(rng.randint(0, len(parts)), "None")
    return f"[{', '.join(parts)}]" if parts else "[...]"


def test_indexing():
    for seed in range(500):
        case = RandomCase(("index", seed))
        with case.reporting():
            shape = case.shape() or (3,)
            text = case.tensor(shape, case.rng.choice(DTYPES), any_numbers)
            index = random_index(case, shape)
            case.expressions.append(index)
            mine, theirs = evaluate(text, norch), evaluate(text, torch)
            assert_same(evaluate(text + index, norch), evaluate(text + index, torch))
            if ".expand" in text:
                continue  # torch refuses to write to what repeats
            exec(f"x{index} = 1", {"x": mine})
            exec(f"x{index} = 1", {"x": theirs})
            assert_same(mine, theirs)


def test_indexing_gradient():
    for seed in range(150):
        case = RandomCase(("index gradient", seed))
        with case.reporting():
            shape = case.shape() or (3,)
            text = case.tensor(shape, "float64", any_numbers)
            index = random_index(case, shape)
            case.expressions.append(index)
            assert_same_gradients(case, lambda lib, x: eval(f"x{index}", {"x": x}) * 2, [text])  # noqa: B023


def test_reshape_shares_storage_exactly_where_torch_does():
    for seed in range(300):
        case = RandomCase(("reshape", seed))
        with case.reporting():
            shape = case.shape(sizes=(1, 2, 3, 4))
            text = case.tensor(shape, "float32", any_numbers)
            sizes = list(shape)
            case.rng.shuffle(sizes)
            while len(sizes) > 1 and case.rng.random() < 0.5:
                sizes[:2] = [sizes[0] * sizes[1]]
            case.expressions.append(f".reshape({sizes})")
            mine, theirs = evaluate(text, norch), evaluate(text, torch)
            result, expected = mine.reshape(sizes), theirs.reshape(sizes)
            assert_same(result, expected)
            shares = expected.untyped_storage().data_ptr() == theirs.untyped_storage().data_ptr()
            assert (result.tensor.contents.storage == mine.tensor.contents.storage) == shares


# ---- expressions of several operations -------------------------------------------------------------------------------

PIECES = [
    "{a} * {b}",
    "{a} + {b}",
    "{a} - 2 * {b}",
    "{a} / ({b} * {b} + 1)",
    "({a} * 0.3).tanh()",
    "{a}.sigmoid() * {b}",
    "({a} * 0.1).exp()",
    "({a} * {a} + 0.5).log()",
    "({a} * {a} + 1).sqrt()",
    "{a}.sin() + {b}.cos()",
    "lib.maximum({a}, {b})",
    "lib.where({a} > {b}, {a}, {b} * 2)",
    "{a} @ {b}",
    "{a} @ {b}.T",
    "({a} - {b}.sum(0))",
    "{a} * {b}.mean(1, keepdim=True)",
    "{a}.softmax(1)",
    "{a}.log_softmax(0)",
    "{a}.T",
    "{a}.reshape(9).reshape(3, 3)",
    "lib.cat([{a}[:1], {b}[1:]])",
    "{a}[:, 1:2] * {b}",
    "{a}.clamp(-1, 1)",
    "{a}.relu()",
    "{a} ** 2",
    "{a}.abs()",
]


def test_random_graphs():
    """Long expressions where values are used several times: gradients of every leaf, against torch."""
    for seed in range(200):
        case = RandomCase(("graph", seed))
        with case.reporting():
            names = ["p", "q", "r"]
            program = []
            for step in range(case.rng.randint(3, 12)):
                a, b = case.rng.choice(names), case.rng.choice(names)
                program.append(f"v{step} = {case.rng.choice(PIECES).format(a=a, b=b)}")
                names.append(f"v{step}")
            program.append(f"loss = ({' + '.join(names[3:])}).sum()")
            case.expressions += program
            leaves = [case.tensor((3, 3), "float64", any_numbers) for _ in range(3)]
            values = []
            for lib in (norch, torch):
                scope = {
                    "lib": lib,
                    **{name: evaluate(text, lib).detach().requires_grad_() for name, text in zip("pqr", leaves)},
                }
                exec("\n".join(program), scope)
                scope["loss"].backward()
                values.append(scope)
            mine, theirs = values
            assert math.isclose(mine["loss"].item(), theirs["loss"].item(), rel_tol=1e-9, abs_tol=1e-9)
            for name in "pqr":
                if theirs[name].grad is None:
                    assert mine[name].grad is None
                else:
                    torch.testing.assert_close(
                        torch.tensor(mine[name].grad.tolist(), dtype=torch.float64),
                        theirs[name].grad,
                        rtol=1e-8,
                        atol=1e-8,
                    )


# ---- printing --------------------------------------------------------------------------------------------------------

MAGNITUDES = [
    lambda rng: float(rng.randint(-9, 9)),
    lambda rng: rng.uniform(-3, 3),
    lambda rng: 10 ** rng.uniform(-6, 9),
    lambda rng: rng.uniform(0, 1e-3),
    lambda rng: rng.uniform(90, 1e5),
    lambda rng: float(rng.randint(0, 10**9)),
    lambda rng: rng.choice([0.0, -0.0, 1e-45, 99999.99999, 1e8, 1e-4]),
]


def printed_numbers(rng, dtype, count):
    kinds = rng.sample(MAGNITUDES, rng.randint(1, 2))
    numbers = [
        rng.choice(kinds)(rng) if rng.random() > 0.03 else rng.choice([math.nan, math.inf, -math.inf])
        for _ in range(count)
    ]
    if dtype in REAL:
        return numbers
    limit = 2 if dtype == "bool" else 2 ** rng.choice([1, 7, 30])
    numbers = [int(x) % limit if math.isfinite(x) else 0 for x in numbers]
    ranges = {"uint8": 2**8, "int8": 2**7, "int16": 2**15}
    return [bool(x) if dtype == "bool" else x % ranges.get(dtype, 2**31) for x in numbers]


@pytest.fixture
def options():
    def both(**given):
        norch.set_printoptions(**given)
        torch.set_printoptions(**given)

    yield both
    both(precision=4, threshold=1000, edgeitems=3, linewidth=80)


def test_printing(options):
    for seed in range(1500):
        case = RandomCase(("print", seed))
        rng = case.rng
        if seed >= 700:
            options(
                precision=rng.choice([4, 2, 0]),
                threshold=rng.choice([1000, 20, 0]),
                edgeitems=rng.choice([3, 1, 0]),
                linewidth=rng.choice([80, 40, 1]),
                sci_mode=rng.choice([None, True, False]),
            )
        shape = tuple(
            rng.choice([0, 1, 2, 3, 7, 8, 9, 30]) if rng.random() < 0.9 else 100 for _ in range(rng.randint(0, 4))
        )
        count = math.prod(shape)
        if count > 5000:
            continue
        dtype = rng.choice(DTYPES)
        numbers = printed_numbers(rng, dtype, count)
        mine, theirs = (lib.tensor(numbers, dtype=getattr(lib, dtype)).reshape(shape) for lib in (norch, torch))
        if dtype in REAL and rng.random() < 0.5:
            mine.requires_grad_()
            theirs.requires_grad_()
            if rng.random() < 0.5:
                mine, theirs = mine.clone(), theirs.clone()
        # norch names its nodes without torch's number; what fits on a line is decided with it left out, too
        expected = repr(theirs).replace("torch.", "norch.")
        if theirs.grad_fn is not None:
            expected, text = expected.replace("Backward0", "Backward").split(), repr(mine).split()
        else:
            text = repr(mine)
        assert text == expected, f"seed {seed}: {numbers} {shape} {dtype}"
