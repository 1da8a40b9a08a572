"""What the calls of order statistics, norms, differences and distances are in ONNX."""

from __future__ import annotations

import math
from typing import Any

from ..types import bool_, int64
from .nodes import Nodes
from .operators import _axes, _variance, emits
from .trace import Call

END = 2**63 - 1


def _part(graph: Nodes, name: str, axis: int, start: int, stop: int) -> str:
    return graph.add("Slice", name, *graph.vectors(start, stop, axis, 1))


def _without(graph: Nodes, names: list[str], axis: int, keepdim: bool) -> list[str]:
    """Tensors of size 1 along an axis, which goes away unless `keepdim`."""
    return names if keepdim else [graph.add("Squeeze", name, graph.integers([axis])) for name in names]


# ---- Order ----------------------------------------------------------------------------------------------------------


@emits("order_statistic_tensor")
def _order_statistic(graph: Nodes, call: Call) -> list[str]:
    axis, keepdim, how, place = call.arguments
    x, name = call.operands[0], graph.name(call.operands[0])
    if not x.shape:
        return [graph.add("Identity", name), graph.integers(0)]
    size = x.shape[axis]
    sorted_, order = graph.add("TopK", name, *graph.vectors(size), outputs=2, axis=axis, largest=0, sorted=1)
    along = [1 if d == axis else n for d, n in enumerate(x.shape)]
    if how == 0 or not x.dtype.is_floating_point:
        found = graph.integers([place - 1 if how == 0 else (size - 1) // 2])
    else:
        number = graph.add("Not", graph.add("IsNaN", name))
        found = graph.add("ReduceSum", graph.cast(number, bool_, int64), graph.integers([axis]), keepdims=1)
        below = graph.add("Div", graph.add("Sub", found, graph.integers(1)), graph.integers(2))
        if how == 1:
            whole = graph.add("Equal", found, graph.integers(size))
            found = graph.add("Where", whole, graph.integers((size - 1) // 2), found)
        else:
            found = graph.add("Max", below, graph.integers(0))
    places = graph.add("Expand", found, graph.joined_sizes(*along))
    picked = [graph.add("GatherElements", each, places, axis=axis) for each in (sorted_, order)]
    return _without(graph, picked, axis, keepdim)


@emits("mode_tensor")
def _mode(graph: Nodes, call: Call) -> list[str]:
    """The smallest of the elements that equal the most others, and the last place of it."""
    (axis, keepdim), x, name = call.arguments, call.operands[0], graph.name(call.operands[0])
    if not x.shape:
        return [graph.add("Identity", name), graph.integers(0)]
    along, across = graph.integers([axis]), graph.integers([axis + 1])
    equal = graph.add("Equal", graph.add("Unsqueeze", name, across), graph.add("Unsqueeze", name, along))
    counts = graph.add("ReduceSum", graph.cast(equal, bool_, int64), across, keepdims=0)
    rare = graph.add("Less", counts, graph.add("ReduceMax", counts, along, keepdims=1))
    frequent = graph.add("Where", rare, graph.add("ReduceMax", name, along, keepdims=1), name)
    value = graph.add("ReduceMin", frequent, along, keepdims=1)
    same = graph.cast(graph.add("Equal", name, value), bool_, int64)
    place = graph.add("ArgMax", same, axis=axis, keepdims=1, select_last_index=1)
    return _without(graph, [value, place], axis, keepdim)


@emits("aminmax_tensor")
def _aminmax(graph: Nodes, call: Call) -> list[str]:
    (axes, keepdim), name = _axes(call), graph.name(call.operands[0])
    along = graph.integers(axes)
    return [
        graph.add(kind, name, along, keepdims=int(keepdim), noop_with_empty_axes=1)
        for kind in ("ReduceMin", "ReduceMax")
    ]


@emits("extreme_tensor")
def _extreme(graph: Nodes, call: Call) -> list[str]:
    (axis, keepdim, largest), x, name = call.arguments, call.operands[0], graph.name(call.operands[0])
    if not x.shape:
        return [graph.add("Identity", name), graph.integers(0)]
    kind = "Max" if largest else "Min"
    value = graph.add(f"Reduce{kind}", name, graph.integers([axis % len(x.shape)]), keepdims=int(keepdim))
    return [value, graph.add(f"Arg{kind}", name, axis=axis, keepdims=int(keepdim))]


@emits("logcumsumexp_tensor")
def _logcumsumexp(graph: Nodes, call: Call) -> str:
    """For each place the logarithm of the sum over all up to it."""
    x, name = call.operands[0], graph.name(call.operands[0])
    if not x.shape:
        return graph.add("Identity", name)
    axis = call.arguments[0] % len(x.shape)
    behind = len(x.shape) - axis - 1  # dimensions
    count = graph.add("Squeeze", *graph.vectors(x.shape[axis]))
    places = graph.add("Range", graph.integers(0), count, graph.integers(1))
    row = graph.add("Unsqueeze", places, graph.integers([0, *range(2, 2 + behind)]))
    column = graph.add("Unsqueeze", places, graph.integers([*range(1, 2 + behind)]))
    lines = graph.add("Unsqueeze", name, graph.integers([axis]))
    nothing = graph.number(-math.inf, x.dtype)
    before = graph.add("Where", graph.add("LessOrEqual", row, column), lines, nothing)
    return graph.add("ReduceLogSumExp", before, graph.integers([axis + 1]), keepdims=0)


# ---- Norms ----------------------------------------------------------------------------------------------------------


def _norm(graph: Nodes, name: str, axes: list[int], keepdim: bool, p: float, kind: Any) -> str:
    options = {"keepdims": int(keepdim), "noop_with_empty_axes": 1}
    along = graph.integers(axes)
    if p in (1, 2):
        return graph.add(f"ReduceL{int(p)}", name, along, **options)
    size = graph.add("Abs", name)
    if math.isinf(p):
        return graph.add("ReduceMax", size, along, **options)
    if p == 0:
        there = graph.cast(graph.add("Not", graph.add("Equal", size, graph.number(0.0, kind))), bool_, kind)
        return graph.add("ReduceSum", there, along, **options)
    total = graph.add("ReduceSum", graph.add("Pow", size, graph.number(p, kind)), along, **options)
    return graph.add("Pow", total, graph.number(1 / p, kind))


@emits("norm_tensor")
def _normed(graph: Nodes, call: Call) -> str:
    *reduction, p = call.arguments
    call.arguments = reduction
    return _norm(graph, graph.name(call.operands[0]), *_axes(call), p, call.kind)


@emits("deviation_tensor")
def _deviation(graph: Nodes, call: Call) -> str:
    return graph.add("Sqrt", _variance(graph, call))


@emits("renorm_tensor")
def _renormed(graph: Nodes, call: Call) -> str:
    axis, p, most = call.arguments
    x, name = call.operands[0], graph.name(call.operands[0])
    norm = _norm(graph, name, [d for d in range(len(x.shape)) if d != axis], True, p, call.kind)
    limit = graph.number(most, call.kind)
    factor = graph.add("Div", limit, graph.add("Add", norm, graph.number(1e-7, call.kind)))
    factor = graph.add("Where", graph.add("Greater", norm, limit), factor, graph.number(1.0, call.kind))
    return graph.add("Mul", name, factor)


@emits("distances_tensor")
def _distances(graph: Nodes, call: Call) -> str:
    (x, y), p = call.operands, call.arguments[0]
    if y is None:
        rows = range(x.shape[0])
        pairs = [(i, j) for i in rows for j in rows if i < j]
        parts = [graph.add("Gather", graph.name(x), graph.integers([pair[k] for pair in pairs])) for k in (0, 1)]
    else:
        parts = [graph.add("Unsqueeze", graph.name(each), graph.integers([k])) for each, k in ((x, -2), (y, -3))]
    return _norm(graph, graph.add("Sub", *parts), [-1], False, p, call.kind)


# ---- Differences ----------------------------------------------------------------------------------------------------


@emits("diff_tensor")
def _diff(graph: Nodes, call: Call) -> str:
    axis, times = call.arguments
    found = graph.name(call.operands[0])
    for _ in range(times):
        later, earlier = _part(graph, found, axis, 1, END), _part(graph, found, axis, 0, -1)
        differ = call.kind is bool_
        found = graph.add("Xor", later, earlier) if differ else graph.add("Sub", later, earlier)
    return found


@emits("trapezoid_tensor")
def _trapezoid(graph: Nodes, call: Call) -> str:
    axis, dx, runs = call.arguments
    name, half = graph.name(call.operands[0]), graph.number(0.5 * dx, call.kind)
    areas = graph.add("Add", _part(graph, name, axis, 1, END), _part(graph, name, axis, 0, -1))
    if runs:
        return graph.add("Mul", graph.add("CumSum", areas, graph.integers(axis)), half)
    return graph.add("Mul", graph.add("ReduceSum", areas, graph.integers([axis]), keepdims=0), half)


@emits("slopes_tensor")
def _slopes(graph: Nodes, call: Call) -> str:
    axis, step = call.arguments
    name = graph.name(call.operands[0])

    def slope(later: tuple[int, int], earlier: tuple[int, int], width: float) -> str:
        apart = graph.add("Sub", _part(graph, name, axis, *later), _part(graph, name, axis, *earlier))
        return graph.add("Div", apart, graph.number(width, call.kind))

    begin, end = slope((1, 2), (0, 1), step), slope((-1, END), (-2, -1), step)
    return graph.add("Concat", begin, slope((2, END), (0, -2), 2 * step), end, axis=axis)
