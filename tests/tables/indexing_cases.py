"""Rows of the table in cases.py for indexing, selection by name, sorting and running totals."""

from __future__ import annotations

import itertools
import operator
from typing import Callable

from arrays import DTYPES, Array, elementwise, indices
from operations import into_int64


def indexing(case: Callable, along: Callable, taken: Callable, written: Callable) -> list:
    """Reading and writing by masks, index arrays and names."""
    rows, columns, pairs = [1, 0, 1], [0, 2, 2], [[1, 0], [0, 0], [1, 1]]

    def on(x, lib, values):
        return lib.tensor(values, device=x.device)

    def row_by_row(lib, x):
        return x[lib.tensor(rows)]

    def set_pairs(x, y):
        x[[0, 1], [2, 0]] = y

    def set_column(x, y):
        x[:, [1]] = y

    def set_masked(x, y):
        x[[[True, False, False], [False, True, True]],] = y

    def at(values):
        """An array whose element at `place` is replaced or kept, as the function says of (place, x, y)."""
        return lambda x, y: Array([values(index, x, y) for index in indices(x.shape)], x.shape)

    def put(index, x, y):
        return {(0, 2): y.at((0,)), (1, 0): y.at((1,))}.get(index, x.at(index))

    def column(index, x, y):
        return y.at((index[0], 0)) if index[1] == 1 else x.at(index)

    def masked(index, x, y):
        order = [(0, 0), (1, 1), (1, 2)]
        return y.at((order.index(index),)) if index in order else x.at(index)

    def plus(index, x, y):
        """Row r of y goes to row rows[r] of x: places repeat."""
        element = x.at(index)
        for r, row in enumerate(rows):
            element = element + y.at((r, index[1])) if row == index[0] else element
        return element

    def plus_scattered(index, x, y):
        """y[i][j] goes to x[pairs[i][j]][j]."""
        element = x.at(index)
        for i, j in indices((3, 2)):
            element = element + y.at((i, j)) if (pairs[i][j], j) == index else element
        return element

    def scattered(index, x, y):
        found = [y.at((i, j)) for i, j in indices((2, 2)) if (i, [2, 0][j] if i else [0, 1][j]) == index]
        return found[0] if found else x.at(index)

    def running(operation):
        def of_line(xs):
            totals = list(itertools.accumulate(xs, operation))
            return [int(total) if isinstance(total, bool) else total for total in totals]

        return of_line

    def largest(count):
        return lambda xs: sorted(xs, reverse=True)[:count]

    def filled(x, y):
        return elementwise(
            lambda keep, a, b: b if keep else a, Array([True, False, True], (3,)), x, Array(y.flat[:1], ())
        )

    numbers = DTYPES[1:]  # adding to bools is a logical or: test_indexing has it
    return [
        case("[rows]", [(2, 3)], row_by_row, taken([3, 3], lambda i, j: (rows[i], j)), "IndexBackward"),
        case(
            "[[..]]",
            [(2, 3)],
            lambda lib, x: x[:, pairs],
            taken([2, 3, 2], lambda i, j, k: (i, pairs[j][k])),
            "IndexBackward",
        ),
        case(
            "[rows, columns]",
            [(2, 3)],
            lambda lib, x: x[rows, columns],
            taken([3], lambda i: (rows[i], columns[i])),
            "IndexBackward",
        ),
        case(
            "[rows, :, columns]",
            [(2, 3, 3)],
            lambda lib, x: x[rows, :, columns],
            taken([3, 3], lambda i, j: (rows[i], j, columns[i])),
            "IndexBackward",
        ),
        case("[mask]", [(2, 3)], lambda lib, x: x[[False, True]], taken([1, 3], lambda i, j: (1, j)), "IndexBackward"),
        case(
            "[1, ::2][mask]",
            [(2, 3)],
            lambda lib, x: x[1, ::2, None][lib.tensor([True, False])],
            taken([1, 1], lambda i, j: (1, 0)),
            "IndexBackward",
            "PartBackward",
        ),
        case("[i, j] = y", [(2, 3), (2,)], written(set_pairs), at(put), "IndexPutBackward"),
        case("[:, [1]] = y", [(2, 3), (2, 1)], written(set_column), at(column), "IndexPutBackward"),
        case("[mask] = y", [(2, 3), (3,)], written(set_masked), at(masked), "IndexPutBackward"),
        case(
            "index_put",
            [(2, 3), (3, 3)],
            lambda lib, x, y: x.index_put((on(x, lib, rows),), y, True),
            at(plus),
            "IndexPutBackward",
            accepted=numbers,
        ),
        case(
            "index_add",
            [(2, 3), (3, 3)],
            lambda lib, x, y: lib.index_add(x, 0, on(x, lib, rows), y),
            at(plus),
            "IndexPutBackward",
            accepted=numbers,
        ),
        case(
            "index_select",
            [(2, 3)],
            lambda lib, x: lib.index_select(x, -1, on(x, lib, columns)),
            taken([2, 3], lambda i, j: (i, columns[j])),
            "IndexBackward",
        ),
        case(
            "take",
            [(2, 3)],
            lambda lib, x: lib.take(x, on(x, lib, [[5], [-6]])),
            taken([2, 1], lambda i, j: (1 - i, 2 - 2 * i)),
            "IndexBackward",
        ),
        case(
            "gather",
            [(2, 3)],
            lambda lib, x: x.gather(0, on(x, lib, pairs)),
            taken([3, 2], lambda i, j: (pairs[i][j], j)),
            "GatherBackward",
        ),
        case(
            "take_along_dim",
            [(2, 3)],
            lambda lib, x: lib.take_along_dim(x, on(x, lib, [[-1, 0]]), 1),
            taken([2, 2], lambda i, j: (i, 2 - 2 * j)),
            "GatherBackward",
        ),
        case(
            "scatter",
            [(2, 3), (2, 2)],
            lambda lib, x, y: x.scatter(1, on(x, lib, [[0, 1], [2, 0]]), y),
            at(scattered),
            "ScatterBackward",
        ),
        case(
            "scatter_add",
            [(2, 3), (3, 2)],
            lambda lib, x, y: x.scatter_add(0, on(x, lib, pairs), y),
            at(plus_scattered),
            "ScatterBackward",
            accepted=numbers,
        ),
        case(
            "masked_fill",
            [(2, 3), (1,)],
            lambda lib, x, y: x.masked_fill(on(x, lib, [True, False, True]), y.reshape(())),
            filled,
            "MaskedFillBackward",
        ),
        case(
            "masked_select",
            [(2, 3)],
            lambda lib, x: x.masked_select(on(x, lib, [True, False, True])),
            taken([4], lambda i: (i // 2, i % 2 * 2)),
            "IndexBackward",
        ),
        case(
            "tril",
            [(2, 3)],
            lambda lib, x: lib.tril(x),
            lambda x: Array([v * (j <= i) for v, (i, j) in zip(x.flat, indices(x.shape))], x.shape),
            "TriangleBackward",
        ),
        case(
            "triu",
            [(2, 3)],
            lambda lib, x: x.triu(1),
            lambda x: Array([v * (j > i) for v, (i, j) in zip(x.flat, indices(x.shape))], x.shape),
            "TriangleBackward",
        ),
        case(
            "diag of a matrix",
            [(2, 3)],
            lambda lib, x: lib.diag(x, 1),
            taken([2], lambda i: (i, i + 1)),
            "DiagonalBackward",
        ),
        case(
            "diag of a vector",
            [(2,)],
            lambda lib, x: x.diag(-1),
            lambda x: Array([x.flat[j] if i == j + 1 else 0 * x.flat[0] for i, j in indices((3, 3))], (3, 3)),
            "DiagEmbedBackward",
        ),
        case(
            "trace",
            [(2, 3)],
            lambda lib, x: x.trace(),
            lambda x: Array([x.flat[0] + x.flat[4]], ()),
            "TraceBackward",
            dtype=into_int64,
        ),
        case("sort", [(3, 4)], lambda lib, x: x.sort(0)[0], along(sorted, 0), "PickBackward"),
        case("topk", [(3, 4)], lambda lib, x: x.topk(4).values, along(largest(4), 1), "PickBackward", accepted=numbers),
        case(
            "cumsum",
            [(3, 4)],
            lambda lib, x: x.cumsum(0),
            along(running(operator.add), 0),
            "CumsumBackward",
            dtype=into_int64,
        ),
        case(
            "cumprod",
            [(3, 4)],
            lambda lib, x: lib.cumprod(x, -1),
            along(running(operator.mul), 1),
            "CumprodBackward",
            dtype=into_int64,
        ),
    ]
