"""The rest of the table of operations: products, joins, choices, distributions, views. One row is one call."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Callable

from arrays import DTYPES, REAL, Array, elementwise, indices, matmul, rearrange, reduce
from composition_cases import compositions
from draws import any_numbers, truths
from indexing_cases import indexing
from spatial_cases import spatial_cases
from statistics_cases import statistics_cases
from window_cases import window_cases


@dataclass(frozen=True)
class Case:
    """One call: shapes of the operands, the call itself on norch (or torch, as `lib`), and its reference on Arrays."""

    name: str
    shapes: list
    call: Callable
    reference: Callable
    backward: tuple = ()  # classes that its gradient, or the gradient of that, passes through
    accepted: list = field(default_factory=lambda: DTYPES)
    dtype: Callable = lambda dtype: dtype  # of the operands -> of the result
    draws: tuple = ()  # one for each operand; any_numbers where not given
    alone: bool = True  # each operand may be the only one that requires a gradient
    view: bool = False  # the result shares the operand's storage

    def __repr__(self) -> str:
        return f"{self.name}-{'x'.join(str(list(shape)).replace(' ', '') for shape in self.shapes)}"


def case(name: str, shapes: list, call: Callable, reference: Callable, *backward: str, **more: Any) -> Case:
    return Case(name, shapes, call, reference, backward, **more)


def softmax(xs):
    weights = [math.exp(x - max(xs)) for x in xs]
    return [weight / math.fsum(weights) for weight in weights]


def log_softmax(xs):
    scale = math.log(math.fsum(math.exp(x - max(xs)) for x in xs))
    return [x - max(xs) - scale for x in xs]


def along(function: Callable, axis: int) -> Callable:
    """The function of each line of elements along an axis, which gives as many."""

    def of_array(array):
        lines = reduce(function, array, [axis], keepdim=True)
        flat = [lines.at(index)[index[axis]] for index in indices(array.shape)]
        return Array(flat, array.shape)

    return of_array


def joined(axis: int) -> Callable:
    """Arrays one after the other along an existing axis."""

    def of_arrays(*arrays):
        starts, total = [], 0
        for array in arrays:
            starts.append(total)
            total += array.shape[axis]
        shape = list(arrays[0].shape)
        shape[axis] = total

        def element(index):
            which = max(k for k, start in enumerate(starts) if start <= index[axis] and arrays[k].shape[axis])
            inner = list(index)
            inner[axis] -= starts[which]
            return arrays[which].at(inner)

        return Array([element(index) for index in indices(shape)], tuple(shape))

    return of_arrays


def stacked(axis: int) -> Callable:
    """Arrays one after the other along a new axis."""

    def of_arrays(*arrays):
        shape = list(arrays[0].shape)
        shape.insert(axis, len(arrays))
        flat = [arrays[index[axis]].at(index[:axis] + index[axis + 1 :]) for index in indices(shape)]
        return Array(flat, tuple(shape))

    return of_arrays


def reshaped(*shape: int) -> Callable:
    return lambda x: Array(x.flat, shape)


def taken(shape: list, source: Callable) -> Callable:
    return lambda x: rearrange(x, shape, source)


def cast(to: Callable) -> Callable:
    return lambda x: elementwise(to, x)


transposed = taken([3, 2], lambda i, j: (j, i))


def choose(condition, x, y):
    return x if condition else y


def clamp(x, low, high):
    return min(max(x, low), high)


def times_transposed(a, b):
    return matmul(a, rearrange(b, b.shape[::-1], lambda i, j: (j, i)))


def maxima(x):
    return reduce(max, x, [1])


def minima(x):
    return reduce(min, x, [1])


def products() -> list:
    """matmul and @, as numpy.matmul: every rank of the left operand against every rank of the right one."""
    shapes = [
        [(2, 3), (3, 4)],
        [(1, 1), (1, 1)],
        [(5,), (5,)],
        [(3,), (3, 2)],
        [(2, 3), (3,)],
        [(2, 3, 4), (2, 4, 2)],
        [(2, 3, 4), (4, 2)],
        [(3, 4), (2, 4, 2)],
        [(2, 1, 3, 4), (5, 4, 2)],
        [(3,), (2, 3, 2)],
        [(2, 2, 3), (3,)],
        [(0, 3), (3, 2)],
        [(2, 0), (0, 3)],
        [(0, 2, 3), (3, 1)],
        [(17, 33), (33, 9)],
    ]
    rows = [
        case("matmul", pair, lambda lib, a, b: lib.matmul(a, b), matmul, "MatmulBackward", accepted=DTYPES[1:])
        for pair in shapes
    ]
    return rows + [
        case(
            "@",
            [(3,), (2, 3, 2)],
            lambda lib, a, b: a @ b,
            matmul,
            "MatmulBackward",
            "SumToBackward",
            accepted=DTYPES[1:],
        ),
        case(
            "A @ B.T",
            [(4, 3), (2, 3)],
            lambda lib, a, b: a @ b.T,
            times_transposed,
            "MatmulBackward",
            accepted=DTYPES[1:],
        ),
    ]


def diagonal(*blocks: Array) -> Array:
    """Matrices, and vectors as rows, one below and beside the other."""
    shapes = [(1, *block.shape)[-2:] for block in blocks]
    width, rows, left = sum(columns for _, columns in shapes), [], 0
    for block, (height, columns) in zip(blocks, shapes):
        for i in range(height):
            zeros = [0 * block.flat[0]] * width
            rows += zeros[:left] + block.flat[i * columns : (i + 1) * columns] + zeros[left + columns :]
        left += columns
    return Array(rows, (len(rows) // width, width))


def joins() -> list:
    return [
        case("cat dim=0", [(2, 3), (1, 3), (4, 3)], lambda lib, *ts: lib.cat(ts), joined(0), "CatBackward"),
        case("cat dim=1", [(2, 3), (2, 2)], lambda lib, *ts: lib.cat(list(ts), dim=1), joined(1), "CatBackward"),
        case("cat dim=-1", [(2, 2, 1), (2, 2, 3)], lambda lib, *ts: lib.cat(ts, -1), joined(-1), "CatBackward"),
        case("cat of one", [(2, 2)], lambda lib, *ts: lib.cat(ts), joined(0), "CatBackward"),
        case("cat with empty", [(0, 3), (2, 3)], lambda lib, *ts: lib.cat(ts), joined(0), "CatBackward"),
        case("block_diag", [(2, 3), (2,), (1, 2)], lambda lib, *ts: lib.block_diag(*ts), diagonal, "BlockDiagBackward"),
        case("stack dim=0", [(2, 3), (2, 3)], lambda lib, *ts: lib.stack(ts), stacked(0), "StackBackward"),
        case("stack dim=1", [(2, 3)] * 3, lambda lib, *ts: lib.stack(ts, dim=1), stacked(1), "StackBackward"),
        case("stack dim=-1", [(2, 3), (2, 3)], lambda lib, *ts: lib.stack(ts, dim=-1), stacked(2), "StackBackward"),
    ]


def choices() -> list:
    def where(lib, condition, x, y):
        return lib.where(condition, x, y)

    def first_bool(x, y):
        return (truths, x, y)

    draws = first_bool(any_numbers, any_numbers)
    return [
        *(
            case(
                "where", list(shapes), where, lambda *arrays: elementwise(choose, *arrays), "WhereBackward", draws=draws
            )
            for shapes in [
                ((2, 3), (2, 3), (2, 3)),
                ((3,), (2, 1), (4, 1, 1)),
                ((2, 3), (1,), (3,)),
                ((0, 3), (3,), (1, 3)),
            ]
        ),
        *(
            case(
                "clamp",
                list(shapes),
                lambda lib, x, low, high: lib.clamp(x, low, high),
                lambda *arrays: elementwise(clamp, *arrays),
                "ClampBackward",
                accepted=DTYPES[1:],
            )
            for shapes in [((2, 3), (2, 3), (2, 3)), ((2, 3), (3,), (2, 1)), ((3,), (2, 3), (1,))]
        ),
        case(
            "threshold",
            [(2, 5)],
            lambda lib, x: lib.nn.functional.threshold(x, 1, 3),
            lambda x: elementwise(lambda v: v if v > 1 else 3, x),
            "ThresholdBackward",
            accepted=DTYPES[1:],
        ),
        case("max(dim)", [(3, 4)], lambda lib, x: x.max(dim=1)[0], maxima, "PickBackward"),
        case("min(dim)", [(3, 4)], lambda lib, x: x.min(1).values, minima, "PickBackward"),
        case(
            "clamp min max",
            [(2, 5)],
            lambda lib, x: lib.clamp(x, 1, 2),
            lambda x: elementwise(lambda v: clamp(v, 1, 2), x),
            "ClampBackward",
            accepted=DTYPES[1:],
        ),
        case(
            "clamp min",
            [(2, 5)],
            lambda lib, x: x.clamp(min=1),
            lambda x: elementwise(lambda v: max(v, 1), x),
            "ClampBackward",
            accepted=DTYPES[1:],
        ),
        case(
            "clamp max",
            [(2, 5)],
            lambda lib, x: x.clamp(max=1),
            lambda x: elementwise(lambda v: min(v, 1), x),
            "ClampBackward",
            accepted=DTYPES[1:],
        ),
    ]


def distributions() -> list:
    rows = []
    for shape, axis in [((2, 3), 1), ((2, 3), 0), ((2, 3, 4), -2), ((1, 1), 0), ((5,), 0)]:
        rows.append(
            case(
                f"softmax dim={axis}",
                [shape],
                lambda lib, x, axis=axis: lib.softmax(x, axis),
                along(softmax, axis),
                "SoftmaxBackward",
                accepted=REAL,
            )
        )
        rows.append(
            case(
                f"log_softmax dim={axis}",
                [shape],
                lambda lib, x, axis=axis: x.log_softmax(dim=axis),
                along(log_softmax, axis),
                "LogSoftmaxBackward",
                accepted=REAL,
            )
        )
    return rows


def written(write: Callable) -> Callable:
    """A call that writes into a copy of its first operand and returns it."""

    def call(lib, x, *others):
        copy = x.clone()
        write(copy, *others)
        return copy

    return call


def read_after_write(lib, x, y):
    """A view shows what was written to its base after it was taken."""
    base = x.clone()
    column = base[:, 1]
    base.mul_(y)
    return column * 2


def writes() -> list:
    """Writes in place, whose gradients follow."""

    def set_row(x, y):
        x[1] = y

    def set_columns(x, y):
        x[:, ::2] = y

    def row_of(x, y):
        return rearrange(Array(x.flat + y.flat, (3, 3)), (2, 3), lambda i, j: (2 * i, j))

    def columns_of(x, y):
        return Array([y.at((i, j // 2)) if j % 2 == 0 else x.at((i, j)) for i, j in indices((2, 3))], (2, 3))

    def copied(x, y):
        return rearrange(y, (2, 3), lambda i, j: (i, j))

    def product(x, y):
        return Array([x.at((i, 1)) * y.at((i, 1)) * 2 for i in range(2)], (2,))

    copy_slices = ("CopySlicesBackward", "CopyBackward")
    return [
        case("x[1] = y", [(2, 3), (3,)], written(set_row), row_of, *copy_slices),
        case("x[:, ::2] = y", [(2, 3), (2, 1)], written(set_columns), columns_of, *copy_slices),
        case("copy_", [(2, 3), (3,)], written(lambda x, y: x.copy_(y)), copied, "CopyBackward"),
        case(
            "view after mul_",
            [(2, 3), (2, 3)],
            read_after_write,
            product,
            "AsStridedBackward",
            accepted=DTYPES[1:],
            alone=False,
        ),
    ]


def views() -> list:
    def view(name, shapes, call, reference, *backward):
        return case(name, shapes, call, reference, *backward, view=True)

    return [
        view("reshape", [(2, 6)], lambda lib, x: x.reshape(3, -1), reshaped(3, 4), "ReshapeBackward"),
        view("reshape list", [(2, 6)], lambda lib, x: x.reshape([4, 3]), reshaped(4, 3), "ReshapeBackward"),
        view("reshape to 0-d", [(1, 1)], lambda lib, x: x.reshape(()), reshaped(), "ReshapeBackward"),
        view("reshape empty", [(0, 4)], lambda lib, x: x.reshape(2, 0), reshaped(2, 0), "ReshapeBackward"),
        view("view", [(2, 6)], lambda lib, x: x.view(-1), reshaped(12), "ReshapeBackward"),
        view("flatten", [(2, 3, 2)], lambda lib, x: x.flatten(), reshaped(12), "ReshapeBackward"),
        view("flatten 1", [(2, 3, 2)], lambda lib, x: x.flatten(1), reshaped(2, 6), "ReshapeBackward"),
        view(
            "transpose",
            [(2, 3, 4)],
            lambda lib, x: x.transpose(0, -1),
            taken([4, 3, 2], lambda i, j, k: (k, j, i)),
            "TransposeBackward",
        ),
        view("T", [(2, 3)], lambda lib, x: x.T, transposed, "ReverseBackward"),
        view(
            "permute",
            [(2, 3, 4)],
            lambda lib, x: x.permute(1, 2, 0),
            taken([3, 4, 2], lambda i, j, k: (k, i, j)),
            "PermuteBackward",
        ),
        view("squeeze", [(1, 3, 1)], lambda lib, x: x.squeeze(), reshaped(3), "ReshapeBackward"),
        view("squeeze 0", [(1, 3, 1)], lambda lib, x: x.squeeze(0), reshaped(3, 1), "ReshapeBackward"),
        view("unsqueeze", [(2, 3)], lambda lib, x: x.unsqueeze(1), reshaped(2, 1, 3), "ReshapeBackward"),
        view("unsqueeze -1", [(2, 3)], lambda lib, x: x.unsqueeze(-1), reshaped(2, 3, 1), "ReshapeBackward"),
        view(
            "expand",
            [(3, 1)],
            lambda lib, x: x.expand(2, -1, 4),
            taken([2, 3, 4], lambda i, j, k: (j, 0)),
            "ExpandBackward",
        ),
        view("[1]", [(2, 3)], lambda lib, x: x[1], taken([3], lambda j: (1, j)), "PartBackward"),
        view("[-1]", [(2, 3)], lambda lib, x: x[-1], taken([3], lambda j: (1, j)), "PartBackward"),
        view(
            "[1:, ::2]",
            [(3, 5)],
            lambda lib, x: x[1:, ::2],
            taken([2, 3], lambda i, j: (i + 1, 2 * j)),
            "PartBackward",
            "PlaceBackward",
        ),
        view("[..., 0]", [(2, 3, 2)], lambda lib, x: x[..., 0], taken([2, 3], lambda *ij: (*ij, 0)), "PartBackward"),
        view(
            "narrow",
            [(2, 3)],
            lambda lib, x: x.narrow(1, 1, 2),
            taken([2, 2], lambda i, j: (i, j + 1)),
            "SliceBackward",
        ),
        view("[:, None]", [(2, 3)], lambda lib, x: x[:, None], reshaped(2, 1, 3), "PartBackward"),
        view("[5:]", [(2, 3)], lambda lib, x: x[5:], taken([0, 3], lambda i, j: (i, j)), "PartBackward"),
        view("unflatten", [(2, 6)], lambda lib, x: x.unflatten(1, (2, -1)), reshaped(2, 2, 3), "ReshapeBackward"),
        view("ravel", [(2, 6)], lambda lib, x: x.ravel(), reshaped(12), "ReshapeBackward"),
        view(
            "movedim",
            [(2, 3, 4)],
            lambda lib, x: x.movedim((0, 1), (-1, 0)),
            taken([3, 4, 2], lambda i, j, k: (k, i, j)),
            "PermuteBackward",
        ),
        view(
            "mT",
            [(2, 3, 4)],
            lambda lib, x: x.mT,
            taken([2, 4, 3], lambda i, j, k: (i, k, j)),
            "TransposeBackward",
        ),
        view("split", [(3, 4)], lambda lib, x: x.split([1, 3], 1)[1], taken([3, 3], lambda i, j: (i, j + 1))),
        view("chunk", [(3, 4)], lambda lib, x: lib.chunk(x, 2)[1], taken([1, 4], lambda i, j: (2, j))),
        view("unbind", [(3, 4)], lambda lib, x: x.unbind(1)[2], taken([3], lambda i: (i, 2)), "SplitBackward"),
        view("diagonal", [(3, 4)], lambda lib, x: x.diagonal(), taken([3], lambda i: (i, i)), "DiagonalBackward"),
        view(
            "diagonal 1 of matrices",
            [(3, 2, 4)],
            lambda lib, x: x.diagonal(1, 0, 2),
            taken([2, 3], lambda i, j: (j, i, j + 1)),
            "DiagonalBackward",
        ),
        view(
            "as_strided",
            [(3, 4)],
            lambda lib, x: x.contiguous().as_strided((2, 3), (1, 2), 1),
            taken([2, 3], lambda i, j: divmod(1 + i + 2 * j, 4)),
            "AsStridedBackward",
        ),
        view(
            "windows",
            [(6,)],
            lambda lib, x: x.contiguous().as_strided((4, 3), (1, 1)),
            taken([4, 3], lambda i, j: (i + j,)),
            "AsStridedBackward",
            "PlaceBackward",
        ),
        case("clone", [(2, 3)], lambda lib, x: x.clone(), reshaped(2, 3), "CloneBackward"),
        case("T.contiguous", [(2, 3)], lambda lib, x: x.T.contiguous(), transposed, "ReverseBackward"),
        case("double", [(2, 3)], lambda lib, x: x.double(), cast(float), dtype=lambda d: "float64"),
        case("float", [(2, 3)], lambda lib, x: x.float(), cast(float), dtype=lambda d: "float32"),
        case("long", [(2, 3)], lambda lib, x: x.long(), cast(int), dtype=lambda d: "int64"),
        case("int", [(2, 3)], lambda lib, x: x.int(), cast(int), dtype=lambda d: "int32"),
        case("bool", [(2, 3)], lambda lib, x: x.bool(), cast(bool), dtype=lambda d: "bool"),
    ]


def rearrangements() -> list:
    """Copies in another order."""
    rows = [
        ("flip", (2, 3), lambda lib, x: x.flip(0, 1), [2, 3], lambda i, j: (1 - i, 2 - j), "FlipBackward"),
        (
            "flip -1",
            (2, 3, 2),
            lambda lib, x: lib.flip(x, (-1,)),
            [2, 3, 2],
            lambda i, j, k: (i, j, 1 - k),
            "FlipBackward",
        ),
        ("roll", (2, 3), lambda lib, x: x.roll(1, 1), [2, 3], lambda i, j: (i, (j - 1) % 3), "RollBackward"),
        (
            "roll flat",
            (2, 3),
            lambda lib, x: x.roll(-1),
            [2, 3],
            lambda i, j: divmod((3 * i + j + 1) % 6, 3),
            "RollBackward",
        ),
        ("repeat", (2, 3), lambda lib, x: x.repeat(2, 1, 2), [2, 2, 6], lambda i, j, k: (j, k % 3), "RepeatBackward"),
        ("tile", (2, 3), lambda lib, x: x.tile(2), [2, 6], lambda i, j: (i, j % 3), "RepeatBackward"),
        (
            "repeat_interleave",
            (2, 3),
            lambda lib, x: x.repeat_interleave(2, 0),
            [4, 3],
            lambda i, j: (i // 2, j),
            "InterleaveBackward",
        ),
    ]
    return [case(name, [shape], call, taken(to, source), *more) for name, shape, call, to, source, *more in rows]


CASES = products() + joins() + choices() + distributions() + writes() + views() + rearrangements()
CASES += compositions(case)
CASES += indexing(case, along, taken, written)
CASES += window_cases(case)
CASES += spatial_cases(case)
CASES += statistics_cases(case, along)
TERNARY_NAMES = [
    "where",
    "clamp",
    "addcmul",
    "addcdiv",
    "lerp",
    "threshold",
    "scale_and_shift",
]  # the rows of operations.h with three operands, which CASES covers
