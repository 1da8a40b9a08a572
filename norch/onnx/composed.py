"""What is several operators in ONNX, where one call of the C library composes kernels (see operators.py)."""

from __future__ import annotations

import math

from ..types import bool_
from .nodes import Nodes
from .operators import FORMULAS, emits
from .trace import Call

FORMULAS_OF_CALLS = {
    "sinc_tensor": lambda g, n, x: g.add(
        "Where",
        g.add("Equal", x, n(0)),
        n(1),
        g.add("Div", g.add("Sin", g.add("Mul", x, n(math.pi))), g.add("Mul", x, n(math.pi))),
    ),
    "logit_tensor": lambda g, n, x: g.add("Sub", g.add("Log", x), FORMULAS["log1p"](g, n, g.add("Neg", x))),
}


@emits(*FORMULAS_OF_CALLS)
def _formula(graph: Nodes, call: Call) -> str:
    name = graph.cast(graph.name(call.operands[0]), call.operands[0].dtype, call.kind)
    return FORMULAS_OF_CALLS[call.name](graph, lambda n: graph.number(n, call.kind), name)


@emits("nan_to_num_tensor")
def _finite(graph: Nodes, call: Call) -> str:
    nan, name, above, below = (graph.cast(graph.name(x), x.dtype, call.kind) for x in call.operands)
    result = graph.add("Where", graph.add("IsInf", name, detect_negative=0), above, name)
    result = graph.add("Where", graph.add("IsInf", name, detect_positive=0), below, result)
    return graph.add("Where", graph.add("IsNaN", name), nan, result)


@emits("rearranged_tensor")
def _rearranged(graph: Nodes, call: Call) -> str:
    split, order = call.arguments[:2]
    parts = graph.add("Reshape", graph.name(call.operands[0]), graph.joined_sizes(*split))
    return graph.add("Reshape", graph.add("Transpose", parts, perm=list(order)), graph.shape(call.results[0]))


@emits("trace_tensor")
def _trace(graph: Nodes, call: Call) -> str:
    (x,) = call.operands
    name = graph.cast(graph.name(x), x.dtype, call.kind)
    rows, columns = x.shape
    diagonal = [int(i == j) for i in range(rows) for j in range(columns)]
    mask = graph.constant(f"diagonal_{rows}_{columns}", bool_, [rows, columns], diagonal)
    return graph.add("ReduceSum", graph.add("Where", mask, name, graph.number(0, call.kind)), keepdims=0)


@emits("cross_tensor")
def _cross(graph: Nodes, call: Call) -> str:
    axis = call.arguments[0]
    next_one, last = graph.integers([1, 2, 0]), graph.integers([2, 0, 1])
    x, y = (graph.cast(graph.name(value), value.dtype, call.kind) for value in call.operands)

    def product(first: str, second: str) -> str:
        parts = graph.add("Gather", x, first, axis=axis), graph.add("Gather", y, second, axis=axis)
        return str(graph.add("Mul", *parts))

    return graph.add("Sub", product(next_one, last), product(last, next_one))


@emits("block_diag_tensors")
def _block_diag(graph: Nodes, call: Call) -> str:
    width, left, rows = call.results[0].shape[1], 0, []
    for value in call.operands[0]:
        height, own = (1,) * (2 - len(value.shape)) + value.shape
        block = graph.cast(graph.name(value), value.dtype, call.kind)
        block = graph.add("Reshape", block, graph.joined_sizes(height, own))
        pads = graph.integers([0, left, 0, width - left - own])
        rows.append(graph.add("Pad", block, pads, graph.number(0, call.kind)))
        left += own
    return graph.add("Concat", *rows, axis=0)
