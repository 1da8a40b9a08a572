"""Rows of the table in cases.py for writing with a reduction, order statistics, running values and distances."""

from __future__ import annotations

import itertools
import math
import statistics
from typing import Any, Callable

from arrays import Array, elementwise, indices, reduce

PAIRS = [[1, 0], [0, 0], [1, 1]]  # of scatter_reduce: src[i][j] goes to x[PAIRS[i][j]][j]
ROWS = [1, 0, 1]  # of index_reduce: source[i] goes to x[ROWS[i]]

REDUCTIONS = {
    "sum": math.fsum,
    "prod": math.prod,
    "mean": lambda xs: math.fsum(xs) / len(xs),
    "amax": max,
    "amin": min,
}


def statistics_cases(case: Callable, along: Callable) -> list:
    """Rows of float32 and float64, as PyTorch has most of them; test_statistics.py has what has no gradient."""

    def row(name, shapes, call, reference, *backward, **more):
        return case(name, shapes, call, reference, *backward, accepted=["float32", "float64"], **more)

    def on(x, lib, values):
        return lib.tensor(values, device=x.device)

    def collected(function: Callable, to: Callable, include_self: bool) -> Callable:
        """The function of all values that go to one place."""

        def of_arrays(x, source):
            flat = []
            for place in indices(x.shape):
                values = [source.at(index) for index in indices(source.shape) if to(*index) == place]
                flat.append(function([x.at(place)] * include_self + values) if values else x.at(place))
            return Array(flat, x.shape)

        return of_arrays

    def by_scatter(reduce, include_self):
        return row(
            f"scatter_reduce {reduce} {include_self}",
            [(2, 3), (3, 2)],
            lambda lib, x, y: x.scatter_reduce(0, on(x, lib, PAIRS), y, reduce, include_self=include_self),
            collected(REDUCTIONS[reduce], lambda i, j: (PAIRS[i][j], j), include_self),
            *{"prod": ["MultiplyBackward"], "amax": ["ExtremeBackward"]}.get(reduce, []),
        )

    def by_index(reduce, include_self):
        return row(
            f"index_reduce {reduce} {include_self}",
            [(2, 3), (3, 3)],
            lambda lib, x, y: lib.index_reduce(x, 0, on(x, lib, ROWS), y, reduce, include_self=include_self),
            collected(REDUCTIONS[reduce], lambda i, j: (ROWS[i], j), include_self),
        )

    def rows_of(function: Callable) -> Callable:
        return lambda x: reduce(function, x, [1])

    def running(function: Callable) -> Callable:
        return along(lambda xs: [function(xs[: i + 1]) for i in range(len(xs))], 1)

    def log_sum(xs):
        return max(xs) + math.log(math.fsum(math.exp(x - max(xs)) for x in xs))

    def flattened(x):
        return Array([value for values in x.flat for value in values], (*x.shape, len(x.flat[0])))

    def distance(p, xs, ys):
        return math.fsum(abs(a - b) ** p for a, b in zip(xs, ys)) ** (1 / p)

    def lines(x):
        return [[x.at((i, j)) for j in range(x.shape[1])] for i in range(x.shape[0])]

    def covariance(xs, ys):
        mean_x, mean_y = statistics.fmean(xs), statistics.fmean(ys)
        return math.fsum((a - mean_x) * (b - mean_y) for a, b in zip(xs, ys)) / (len(xs) - 1)

    def covariances(x):
        return Array([covariance(a, b) for a in lines(x) for b in lines(x)], (x.shape[0],) * 2)

    def scaled_down(x):
        sizes = [math.sqrt(math.fsum(v * v for v in line)) for line in lines(x)]
        factors = Array([1.5 / (size + 1e-7) if size > 1.5 else 1.0 for size in sizes], (x.shape[0], 1))
        return elementwise(lambda v, factor: v * factor, x, factors)

    def filled(x, y):
        return elementwise(lambda a, b, keep: b if keep else a, x, y, Array([True, False, True], (3,)))

    def slopes(xs):
        inside = [(b - a) / 2 for a, b in zip(xs, xs[2:])]
        return [xs[1] - xs[0], *inside, xs[-1] - xs[-2]]

    return [
        *(by_scatter(name, include_self) for name in REDUCTIONS for include_self in (True, False)),
        *(by_index(name, include_self) for name in REDUCTIONS if name != "sum" for include_self in (True, False)),
        row(
            "index_fill",
            [(2, 3), ()],
            lambda lib, x, y: x.index_fill(1, on(x, lib, [0, 2, 0]), y),
            filled,
            "IndexFillBackward",
        ),
        row(
            "index_copy",
            [(2, 3), (2, 1)],
            lambda lib, x, y: x.index_copy(1, on(x, lib, [2]), y),
            lambda x, y: elementwise(lambda a, b, keep: b if keep else a, x, y, Array([False, False, True], (3,))),
        ),
        row(
            "put",
            [(2, 3), (2,)],
            lambda lib, x, y: x.put(on(x, lib, [1, -2]), y),
            lambda x, y: Array([x.flat[0], y.flat[0], *x.flat[2:4], y.flat[1], x.flat[5]], x.shape),
        ),
        row(
            "masked_scatter",
            [(2, 3), (5,)],
            lambda lib, x, y: x.masked_scatter(on(x, lib, [True, False, True]), y),
            lambda x, y: Array([y.flat[0], x.flat[1], y.flat[1], y.flat[2], x.flat[4], y.flat[3]], x.shape),
            "MaskedScatterBackward",
        ),
        row(
            "slice_scatter",
            [(2, 3), (2, 1)],
            lambda lib, x, y: x.slice_scatter(y, 1, 2),
            lambda x, y: Array([*x.flat[:2], y.flat[0], *x.flat[3:5], y.flat[1]], x.shape),
            "ReplacedBackward",
        ),
        row("median", [(3, 5)], lambda lib, x: x.median(1).values, rows_of(statistics.median_low), "PickBackward"),
        row("nanmedian", [(3, 4)], lambda lib, x: lib.nanmedian(x, 1)[0], rows_of(statistics.median_low)),
        row("kthvalue", [(3, 4)], lambda lib, x: x.kthvalue(2, 1)[0], rows_of(lambda xs: sorted(xs)[1])),
        row("mode", [(3, 4)], lambda lib, x: x.mode(1)[0], rows_of(lambda xs: min(statistics.multimode(xs)))),
        row(
            "quantile",
            [(3, 4)],
            lambda lib, x: lib.quantile(x, 0.25, 1),
            rows_of(lambda xs: sorted(xs)[0] + 0.75 * (sorted(xs)[1] - sorted(xs)[0])),
        ),
        row("msort", [(4, 3)], lambda lib, x: x.msort(), along(sorted, 0)),
        row("aminmax", [(3, 4)], lambda lib, x: x.aminmax(dim=1)[0], rows_of(min)),
        row("cummax", [(3, 5)], lambda lib, x: x.cummax(1)[0], running(max)),
        row("cummin", [(3, 5)], lambda lib, x: x.cummin(1)[0], running(min)),
        row("logcumsumexp", [(3, 5)], lambda lib, x: x.logcumsumexp(1), running(log_sum), "LogcumsumexpBackward"),
        row(
            "diff",
            [(3, 4)],
            lambda lib, x: x.diff(n=2, dim=1),
            lambda x: flattened(reduce(lambda xs: [c - b - (b - a) for a, b, c in zip(xs, xs[1:], xs[2:])], x, [1])),
            "DiffBackward",
        ),
        row("cov", [(2, 4)], lambda lib, x: lib.cov(x), covariances),
        row(
            "corrcoef",
            [(2, 4)],
            lambda lib, x: lib.corrcoef(x + on(x, lib, [1.0, 3.0, 0.0, 7.0]).to(x.dtype)),
            lambda x: correlations(elementwise(lambda a, b: a + b, x, Array([1.0, 3.0, 0.0, 7.0], (4,))), covariances),
        ),
        row("renorm", [(2, 4)], lambda lib, x: x.renorm(2, 0, 1.5), scaled_down, "RenormBackward"),
        row(
            "trapezoid",
            [(3, 4)],
            lambda lib, x: lib.trapezoid(x, dx=0.5),
            rows_of(lambda xs: math.fsum(a + b for a, b in zip(xs, xs[1:])) / 4),
            "TrapezoidBackward",
        ),
        row(
            "cumulative_trapezoid",
            [(3, 4)],
            lambda lib, x: lib.cumulative_trapezoid(x, dim=1),
            lambda x: flattened(
                reduce(lambda xs: list(itertools.accumulate((a + b) / 2 for a, b in zip(xs, xs[1:]))), x, [1])
            ),
            "CumulativeTrapezoidBackward",
        ),
        row("gradient", [(3, 5)], lambda lib, x: lib.gradient(x, dim=1)[0], along(slopes, 1), "SlopesBackward"),
        *(
            row(
                f"cdist {p}",
                [(2, 3), (4, 3)],
                lambda lib, x, y, p=p: lib.cdist(x, y, p=p),
                lambda x, y, p=p: Array([distance(p, a, b) for a in lines(x) for b in lines(y)], (2, 4)),
            )
            for p in (1.0, 2.0, 3.0, 0.5)
        ),
        row(
            "cdist inf",
            [(2, 3), (4, 3)],
            lambda lib, x, y: lib.cdist(x, y, p=math.inf),
            lambda x, y: Array([max(abs(c - d) for c, d in zip(a, b)) for a in lines(x) for b in lines(y)], (2, 4)),
            "CdistBackward",
        ),
        row(
            "cdist of batches",
            [(2, 1, 2, 3), (3, 1, 3)],
            lambda lib, x, y: lib.cdist(x, y, p=1.0),
            lambda x, y: Array(
                [
                    math.fsum(abs(x.at((i, 0, k, m)) - y.at((j, 0, m))) for m in range(3))
                    for i in range(2)
                    for j in range(3)
                    for k in range(2)
                ],
                (2, 3, 2, 1),
            ),
        ),
        row(
            "cdist by a product",
            [(2, 3), (4, 3)],
            lambda lib, x, y: lib.cdist(x, y, compute_mode="use_mm_for_euclid_dist"),
            lambda x, y: Array([distance(2, a, b) for a in lines(x) for b in lines(y)], (2, 4)),
        ),
        row(
            "pdist",
            [(3, 2)],
            lambda lib, x: lib.pdist(x),
            lambda x: Array([distance(2, a, b) for a, b in itertools.combinations(lines(x), 2)], (3,)),
            "PdistBackward",
        ),
        row(
            "pdist 3",
            [(4, 5)],
            lambda lib, x: lib.pdist(x, 3.0),
            lambda x: Array([distance(3, a, b) for a, b in itertools.combinations(lines(x), 2)], (6,)),
        ),
        row(
            "norm 2.5",
            [(2, 3)],
            lambda lib, x: x.norm(2.5, 1),
            rows_of(lambda xs: math.fsum(abs(x) ** 2.5 for x in xs) ** 0.4),
            "NormBackward",
        ),
    ]


def correlations(x: Array, covariances: Callable) -> Any:
    found = covariances(x)
    return Array(
        [found.at((i, j)) / math.sqrt(found.at((i, i)) * found.at((j, j))) for i, j in indices(found.shape)],
        found.shape,
    )
