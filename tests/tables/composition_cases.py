"""Rows for CASES: methods made of others (norch/methods/composed.py)."""

from __future__ import annotations

import math
from typing import Callable

from arrays import REAL, Array, elementwise, matmul, reduce


def compositions(case: Callable) -> list:
    """Each at numbers where it is smooth."""

    def norm(p):
        return lambda xs: math.fsum(abs(x) ** p for x in xs) ** (1 / p)

    def by_rows(function):
        return lambda x: reduce(function, x, [1])

    def row(name, shapes, call, reference, *backward, **more):
        return case(name, shapes, call, reference, *backward, accepted=REAL, **more)

    def part(x, k):
        size = len(x.flat) // x.shape[0]
        return Array(x.flat[k * size : (k + 1) * size], x.shape[1:])

    three = [(2, 3), (3,), (2, 1)]
    return [
        row("square", [(2, 3)], lambda lib, x: lib.square(x), lambda x: elementwise(lambda v: v * v, x)),
        row(
            "addcmul",
            three,
            lambda lib, x, y, z: lib.addcmul(x, y, z, value=0.5),
            lambda *arrays: elementwise(lambda x, y, z: x + 0.5 * y * z, *arrays),
            "AddcmulBackward",
        ),
        row(
            "addcdiv",
            three,
            lambda lib, x, y, z: lib.addcdiv(x, y, z * z + 1, value=2),
            lambda *arrays: elementwise(lambda x, y, z: x + 2 * y / (z * z + 1), *arrays),
            "AddcdivBackward",
        ),
        row(
            "lerp",
            three[:2],
            lambda lib, x, y: lib.lerp(x, y, 0.25),
            lambda *arrays: elementwise(lambda x, y: x + 0.25 * (y - x), *arrays),
            "LerpBackward",
        ),
        case(
            "logsumexp",
            [(2, 3)],
            lambda lib, x: lib.logsumexp(x, 1),
            by_rows(lambda xs: math.log(math.fsum(map(math.exp, xs)))),
            "LogSumExpBackward",
            accepted=REAL,
        ),
        *(row(f"norm {p}", [(2, 3)], lambda lib, x, p=p: x.norm(p, 1), by_rows(norm(p))) for p in (1, 2, 3)),
        row("dot", [(3,), (3,)], lambda lib, x, y: lib.dot(x, y), matmul, "MatmulBackward"),
        row("mv", [(2, 3), (3,)], lambda lib, x, y: lib.mv(x, y), matmul, "MatmulBackward"),
        row("bmm", [(2, 2, 3), (2, 3, 2)], lambda lib, x, y: lib.bmm(x, y), matmul, "MatmulBackward"),
        row(
            "outer",
            [(2,), (3,)],
            lambda lib, x, y: lib.outer(x, y),
            lambda x, y: Array([a * b for a in x.flat for b in y.flat], (2, 3)),
            "OuterBackward",
        ),
        row(
            "kron",
            [(2,), (2, 3)],
            lambda lib, x, y: lib.kron(x, y),
            lambda x, y: Array([a * b for i in range(2) for a in x.flat for b in y.flat[3 * i : 3 * i + 3]], (2, 6)),
            "KronBackward",
        ),
        row(
            "addmm",
            [(3,), (2, 3), (3, 3)],
            lambda lib, x, y, z: lib.addmm(x, y, z, beta=2, alpha=0.5),
            lambda x, y, z: elementwise(lambda a, b: 2 * a + 0.5 * b, x, matmul(y, z)),
            "AddedProductBackward",
        ),
        row(
            "addbmm",
            [(3,), (2, 2, 3), (2, 3, 3)],
            lambda lib, x, y, z: lib.addbmm(x, y, z, beta=2, alpha=0.5),
            lambda x, y, z: elementwise(
                lambda a, b, c: 2 * a + 0.5 * (b + c), x, *(matmul(part(y, k), part(z, k)) for k in (0, 1))
            ),
            "AddedProductBackward",
        ),
    ]
