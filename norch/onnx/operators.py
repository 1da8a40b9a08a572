"""What each call of the C library is in ONNX: a function (graph, call) that adds nodes and names the results."""

from __future__ import annotations

import math
from typing import Any, Callable, Sequence

from ..methods.places import ELEMENTS, FLAT, MASK
from ..types import bool_, dtype, float32, int32, int64
from .nodes import Nodes
from .trace import Call, Value

Emit = Callable[[Nodes, Call], Any]
_EMITTERS: dict[str, Emit] = {}


def emitter(name: str) -> Emit | None:
    """The function for a call. One that writes into a tensor is the one that makes a new tensor of its dtype."""
    if name in _EMITTERS or not name.endswith("_into"):
        return _EMITTERS.get(name)
    plain = _EMITTERS.get(f"{name[: -len('_into')]}_tensor")
    return plain and (lambda graph, call: plain(graph, call.without_target()))


def emits(*names: str) -> Callable[[Emit], Emit]:
    def add(emit: Emit) -> Emit:
        _EMITTERS.update(dict.fromkeys(names, emit))
        return emit

    return add


# ---- Elementwise ----------------------------------------------------------------------------------------------------


def _names(graph: Nodes, values: Sequence[Value], kind: dtype) -> list[str]:
    return [graph.cast(graph.name(value), value.dtype, kind) for value in values]


def _category(kind: dtype) -> int:
    return 2 if kind.is_floating_point else 0 if kind is bool_ else 1


def _common(values: Sequence[Value]) -> dtype:
    """The dtype that values of different ones are computed in: tensors decide, then scalars, then Python numbers."""
    found: dtype | None = None
    for rank in range(3):
        for value in values:
            if (2 if value.number else 0 if value.shape else 1) != rank:
                continue
            kind = float32 if value.number and value.dtype.is_floating_point else value.dtype
            if found is None or _category(kind) > _category(found) or (rank == 0 and kind.number > found.number):
                found = kind
    assert found is not None
    return found


def _simple(kind: str, **attributes: Any) -> Emit:
    """One node, of operands in the dtype of the result."""
    return lambda graph, call: graph.add(kind, *_names(graph, call.operands, call.kind), **attributes)


def _formula(formula: Callable[..., str]) -> Emit:
    """Several nodes: formula(graph, number, names...), where number makes a constant of the dtype of the result."""

    def emit(graph: Nodes, call: Call) -> str:
        return formula(graph, lambda n: graph.number(n, call.kind), *_names(graph, call.operands, call.kind))

    return emit


_SAME = {
    **{name: name.capitalize() for name in "neg abs sign floor ceil round exp log sqrt sin cos tanh tan".split()},
    **{name: name.capitalize() for name in "asin acos atan sinh cosh asinh acosh atanh erf relu sigmoid".split()},
    **{name: name.capitalize() for name in "add sub div pow reciprocal".split()},
    "elementwise_mul": "Mul",
    "minimum": "Min",
    "maximum": "Max",
    "where": "Where",
}
FORMULAS: dict[str, Callable[..., str]] = {
    "trunc": lambda g, n, x: g.add("Mul", g.add("Sign", x), g.add("Floor", g.add("Abs", x))),
    "frac": lambda g, n, x: g.add("Sub", x, g.add("Mul", g.add("Sign", x), g.add("Floor", g.add("Abs", x)))),
    "exp2": lambda g, n, x: g.add("Pow", n(2), x),
    "expm1": lambda g, n, x: g.add("Sub", g.add("Exp", x), n(1)),
    "log1p": lambda g, n, x: g.add("Log", g.add("Add", x, n(1))),
    "log2": lambda g, n, x: g.add("Div", g.add("Log", x), n(math.log(2))),
    "log10": lambda g, n, x: g.add("Div", g.add("Log", x), n(math.log(10))),
    "rsqrt": lambda g, n, x: g.add("Reciprocal", g.add("Sqrt", x)),
    "erfc": lambda g, n, x: g.add("Sub", n(1), g.add("Erf", x)),
    "gelu": lambda g, n, x: g.add("Gelu", x, approximate="none"),
    "gelu_tanh": lambda g, n, x: g.add("Gelu", x, approximate="tanh"),
    "silu": lambda g, n, x: g.add("Mul", x, g.add("Sigmoid", x)),
    "mish": lambda g, n, x: g.add("Mul", x, g.add("Tanh", g.add("Softplus", x))),
    "selu": lambda g, n, x: g.add("Selu", x),
    "logsigmoid": lambda g, n, x: g.add("Neg", g.add("Softplus", g.add("Neg", x))),
    "hardsigmoid": lambda g, n, x: g.add("HardSigmoid", x, alpha=1 / 6, beta=0.5),
    "hardswish": lambda g, n, x: g.add("HardSwish", x),
    "hardshrink": lambda g, n, x, a: g.add("Where", g.add("LessOrEqual", g.add("Abs", x), a), n(0), x),
    "softshrink": lambda g, n, x, a: g.add("Mul", g.add("Sign", x), g.add("Relu", g.add("Sub", g.add("Abs", x), a))),
    "threshold": lambda g, n, x, limit, value: g.add("Where", g.add("LessOrEqual", x, limit), value, x),
    "scale_and_shift": lambda g, n, x, scale, shift: g.add("Add", g.add("Mul", x, scale), shift),
    "leaky_relu": lambda g, n, x, slope: g.add("Where", g.add("Greater", x, n(0)), x, g.add("Mul", x, slope)),
    "elu": lambda g, n, x, a: g.add(
        "Where", g.add("Greater", x, n(0)), x, g.add("Mul", a, g.add("Sub", g.add("Exp", x), n(1)))
    ),
    "softplus": lambda g, n, x, limit: g.add("Where", g.add("Greater", x, limit), x, g.add("Softplus", x)),
    "addcmul": lambda g, n, x, y, z: g.add("Add", x, g.add("Mul", y, z)),
    "addcdiv": lambda g, n, x, y, z: g.add("Add", x, g.add("Div", y, z)),
    "add_scaled_product": lambda g, n, x, y, z, value: g.add("Add", x, g.add("Mul", value, g.add("Mul", y, z))),
    "add_scaled_quotient": lambda g, n, x, y, z, value: g.add("Add", x, g.add("Mul", value, g.add("Div", y, z))),
    "lerp": lambda g, n, x, y, z: g.add("Add", x, g.add("Mul", z, g.add("Sub", y, x))),
    "hypot": lambda g, n, x, y: g.add("Sqrt", g.add("Add", g.add("Mul", x, x), g.add("Mul", y, y))),
    "huber": lambda g, n, x, d: g.add(
        "Where",
        g.add("LessOrEqual", g.add("Abs", x), d),
        g.add("Mul", n(0.5), g.add("Mul", x, x)),
        g.add("Mul", d, g.add("Sub", g.add("Abs", x), g.add("Mul", n(0.5), d))),
    ),
    "bce_with_logits": lambda g, n, x, y: g.add(
        "Add",
        g.add("Sub", g.add("Relu", x), g.add("Mul", x, y)),
        g.add("Log", g.add("Add", n(1), g.add("Exp", g.add("Neg", g.add("Abs", x))))),
    ),
    "fmod": lambda g, n, x, y: g.add("Mod", x, y, fmod=1),
}
_EMITTERS.update({f"{name}_tensor": _simple(kind) for name, kind in _SAME.items()})
_EMITTERS.update({f"{name}_tensor": _formula(formula) for name, formula in FORMULAS.items()})


@emits("where_tensor")
def _where(graph: Nodes, call: Call) -> str:
    condition, *values = call.operands
    return graph.add(
        "Where", graph.cast(graph.name(condition), condition.dtype, bool_), *_names(graph, values, call.kind)
    )


@emits("clamp_tensor")
def _clamp(graph: Nodes, call: Call) -> str:
    """A bound may be missing."""
    result, *bounds = (value and _names(graph, [value], call.kind)[0] for value in call.operands)
    for kind, bound in zip(("Max", "Min"), bounds):
        result = result if bound is None else graph.add(kind, result, bound)
    return result


@emits("remainder_tensor", "floor_divide_tensor")
def _floored(graph: Nodes, call: Call) -> str:
    """x - y * floor(x / y), which has the sign of y; and the quotient."""
    x, y = _names(graph, call.operands, call.kind)
    if call.kind.is_floating_point:
        quotient = graph.add("Floor", graph.add("Div", x, y))
        return quotient if "divide" in call.name else graph.add("Sub", x, graph.add("Mul", y, quotient))
    rest = graph.add("Mod", x, y)
    return graph.add("Div", graph.add("Sub", x, rest), y) if "divide" in call.name else rest


def _compared(kind: str, negated: bool = False) -> Emit:
    def emit(graph: Nodes, call: Call) -> str:
        common = _common(call.operands)
        common = int32 if common is bool_ else common
        result = graph.add(kind, *_names(graph, call.operands, common))
        return graph.add("Not", result) if negated else result

    return emit


for _name, _kind in (("lt", "Less"), ("le", "LessOrEqual"), ("gt", "Greater"), ("ge", "GreaterOrEqual")):
    _EMITTERS[f"{_name}_tensor"] = _compared(_kind)
_EMITTERS["eq_tensor"], _EMITTERS["ne_tensor"] = _compared("Equal"), _compared("Equal", negated=True)


@emits("logical_and_tensor", "logical_or_tensor", "logical_xor_tensor", "logical_not_tensor")
def _logical(graph: Nodes, call: Call) -> str:
    return graph.add(call.name.split("_")[1].capitalize(), *_names(graph, call.operands, bool_))


@emits("bitwise_and_tensor", "bitwise_or_tensor", "bitwise_xor_tensor", "bitwise_not_tensor")
def _bitwise(graph: Nodes, call: Call) -> str:
    kind = call.name.split("_")[1].capitalize()
    return graph.add(kind if call.kind is bool_ else f"Bitwise{kind}", *_names(graph, call.operands, call.kind))


@emits("isnan_tensor", "isinf_tensor", "isfinite_tensor")
def _is_special(graph: Nodes, call: Call) -> str:
    x = graph.cast(graph.name(call.operands[0]), call.operands[0].dtype, float32)
    if call.name != "isfinite_tensor":
        return graph.add("IsNaN" if "nan" in call.name else "IsInf", x)
    return graph.add("Not", graph.add("Or", graph.add("IsNaN", x), graph.add("IsInf", x)))


# ---- Copies and views -----------------------------------------------------------------------------------------------


@emits("alias_tensor", "data_tensor", "clone_tensor", "contiguous_tensor", "to_device")
def _same(graph: Nodes, call: Call) -> str:
    return graph.name(call.operands[0])


@emits("cast_tensor")
def _cast(graph: Nodes, call: Call) -> str:
    return graph.cast(graph.name(call.operands[0]), call.operands[0].dtype, call.kind)


@emits("assign_tensor", "full_like_tensor", "full_tensor")
def _assigned(graph: Nodes, call: Call) -> str:
    source = call.operands[-1]
    return graph.add("Expand", graph.cast(graph.name(source), source.dtype, call.kind), graph.shape(call.results[0]))


@emits("reshape_tensor", "view_tensor", "flatten_tensor", "squeeze_tensor", "unsqueeze_tensor")
def _reshaped(graph: Nodes, call: Call) -> str:
    return graph.add("Reshape", graph.name(call.operands[0]), graph.shape(call.results[0]))


@emits("expand_tensor")
def _expanded(graph: Nodes, call: Call) -> str:
    return graph.add("Expand", graph.name(call.operands[0]), graph.shape(call.results[0]))


@emits("reverse_tensor", "transpose_tensor", "permute_tensor")
def _permuted(graph: Nodes, call: Call) -> str:
    order = list(range(len(call.operands[0].shape)))
    if call.name == "reverse_tensor":
        order.reverse()
    elif call.name == "permute_tensor":
        order = [axis % len(order) for axis in call.arguments[0]]
    elif order:
        a, b = call.arguments
        order[a], order[b] = order[b], order[a]
    return graph.add("Transpose", graph.name(call.operands[0]), perm=order)


@emits("select_tensor")
def _selected(graph: Nodes, call: Call) -> str:
    axis, place = call.arguments
    return graph.add("Gather", graph.name(call.operands[0]), graph.index(place), axis=axis)


@emits("slice_tensor")
def _sliced(graph: Nodes, call: Call) -> str:
    axis, start, length, step = call.arguments
    stop = graph.sliced_to(start, length, step)
    return graph.add("Slice", graph.name(call.operands[0]), *graph.vectors(start, stop, axis, step))


@emits("put_slice")
def _put_slice(graph: Nodes, call: Call) -> str:
    """A tensor with a part along an axis replaced: what is before it, the part, what is after it."""
    whole, part = call.operands
    axis, start, length = call.arguments
    stop, name = graph.sliced_to(start, length, 1), graph.name(whole)
    parts = [graph.name(part)]
    if start != 0:
        parts.insert(0, graph.add("Slice", name, *graph.vectors(0, start, axis, 1)))
    if stop != whole.shape[axis]:
        parts.append(graph.add("Slice", name, *graph.vectors(stop, 2**63 - 1, axis, 1)))
    return graph.add("Concat", *parts, axis=axis) if len(parts) > 1 else parts[0]


@emits("flipped_tensor")
def _flipped(graph: Nodes, call: Call) -> str:
    axes = call.arguments[0]
    count = len(axes)
    ends = [[-1] * count, [-(2**63)] * count, list(axes), [-1] * count]
    return graph.add("Slice", graph.name(call.operands[0]), *map(graph.integers, ends))


@emits("roll_tensor")
def _rolled(graph: Nodes, call: Call) -> str:
    """Along each axis the last elements, then those before them."""
    moves, axes, *_ = call.arguments if len(call.arguments) == 3 else (call.arguments[0], None)
    name, shape = graph.name(call.operands[0]), call.operands[0].shape
    if axes is None:
        name, shape = graph.add("Reshape", name, graph.integers([-1])), (math.prod(shape),)
    for move, axis in zip(moves, axes or [0]):
        shift = move % shape[axis] if shape[axis] else 0
        if shift:
            last = graph.add("Slice", name, *graph.vectors(-shift, 2**63 - 1, axis, 1))
            name = graph.add("Concat", last, graph.add("Slice", name, *graph.vectors(0, -shift, axis, 1)), axis=axis)
    return name if axes is not None else graph.add("Reshape", name, graph.shape(call.results[0]))


@emits("pad_tensor")
def _padded(graph: Nodes, call: Call) -> str:
    x, value = call.operands
    amounts, rank, mode = list(call.arguments[0]), len(x.shape), call.arguments[2]
    amounts += [0] * (2 * rank - len(amounts))
    pads = amounts[-2::-2] + amounts[::-2]  # before each axis, from the first one on, then after each
    if mode:
        return graph.add("Pad", graph.name(x), graph.integers(pads), mode=("", "reflect", "edge", "wrap")[mode])
    number = graph.cast(graph.name(value), value.dtype, call.kind)
    return graph.add("Pad", graph.name(x), graph.integers(pads), number)


@emits("repeat_tensor", "interleave_tensor")
def _repeated(graph: Nodes, call: Call) -> str:
    name, rank = graph.name(call.operands[0]), len(call.operands[0].shape)
    if call.name == "repeat_tensor":
        counts = list(call.arguments[0])
        added = graph.integers([*range(len(counts) - rank)])
        return graph.add("Tile", graph.add("Unsqueeze", name, added), graph.integers(counts))
    count, axis = call.arguments
    counts = [count if d == axis + 1 else 1 for d in range(max(rank, 1) + 1)]
    name = graph.add("Unsqueeze", name, graph.integers([axis + 1] if rank else [0, 1]))
    return graph.add("Reshape", graph.add("Tile", name, graph.integers(counts)), graph.shape(call.results[0]))


@emits("diagonal_tensor")
def _diagonal(graph: Nodes, call: Call) -> str:
    """Its elements among those of the two axes, which are made one."""
    x, (offset, *axes) = call.operands[0], call.arguments[0]
    rows, columns = (axis % len(x.shape) for axis in axes)
    others = [axis for axis in range(len(x.shape)) if axis not in (rows, columns)]
    moved = graph.add("Transpose", graph.name(x), perm=[*others, rows, columns])
    flat = graph.add("Reshape", moved, graph.joined_sizes(*[x.shape[axis] for axis in others], -1))
    width, length = x.shape[columns], call.results[0].shape[-1]
    first = offset if offset >= 0 else -offset * width
    places = graph.integers([first + i * (width + 1) for i in range(length)])
    return graph.add("Gather", flat, places, axis=len(others))


@emits("diag_embed_tensor")
def _diag_embed(graph: Nodes, call: Call) -> str:
    """A column of the vector's elements, where a constant matrix says so."""
    x, (offset, *axes) = call.operands[0], call.arguments[0]
    rank, size = len(x.shape), x.shape[-1] + abs(offset)
    before, after = max(-offset, 0), max(offset, 0)
    zero = graph.number(0, call.kind)
    pads = graph.integers([0] * (rank - 1) + [before] + [0] * (rank - 1) + [after])
    column = graph.add("Unsqueeze", graph.add("Pad", graph.name(x), pads, zero), graph.integers([-1]))
    places = [int(j == i + offset) for i in range(size) for j in range(size)]
    mask = graph.constant(f"diagonal_{size}_{offset}", bool_, [size, size], places)
    rows, columns = (axis % (rank + 1) for axis in axes)
    order = [axis for axis in range(rank + 1) if axis not in (rows, columns)] + [rows, columns]
    return graph.add(
        "Transpose", graph.add("Where", mask, column, zero), perm=[order.index(d) for d in range(rank + 1)]
    )


@emits("one_hot_tensor")
def _one_hot(graph: Nodes, call: Call) -> str:
    name = graph.cast(graph.name(call.operands[0]), call.operands[0].dtype, int64)
    numbers = graph.integers([*range(call.arguments[0])])
    return graph.cast(graph.add("Equal", graph.add("Unsqueeze", name, graph.integers([-1])), numbers), bool_, int64)


@emits("stack_tensors")
def _stacked(graph: Nodes, call: Call) -> str:
    axis = call.arguments[-1] % len(call.results[0].shape)
    parts = [graph.cast(graph.name(value), value.dtype, call.kind) for value in call.operands[0]]
    return graph.add("Concat", *[graph.add("Unsqueeze", part, graph.integers([axis])) for part in parts], axis=axis)


@emits("triangle_tensor")
def _triangle(graph: Nodes, call: Call) -> str:
    diagonal, upper = call.arguments
    return graph.add("Trilu", graph.name(call.operands[0]), graph.index(diagonal), upper=int(upper))


@emits("cat_tensors")
def _joined(graph: Nodes, call: Call) -> str:
    return graph.add(
        "Concat", *[graph.cast(graph.name(v), v.dtype, call.kind) for v in call.operands[0]], axis=call.arguments[-1]
    )


# ---- Reductions -----------------------------------------------------------------------------------------------------


def _axes(call: Call) -> tuple[list[int], bool]:
    axes, count, keepdim = call.arguments
    rank = len(call.operands[0].shape)
    return ([*range(rank)] if count < 0 else [axis % rank for axis in axes]), bool(keepdim)


@emits("sum_tensor", "prod_tensor", "max_tensor", "min_tensor", "any_tensor", "all_tensor")
def _reduced(graph: Nodes, call: Call) -> str:
    axes, keepdim = _axes(call)
    name = call.name.split("_")[0]
    kind = {"any": "Max", "all": "Min"}.get(name, name.capitalize())
    x = call.operands[0]
    inner = int32 if call.kind is bool_ else call.kind
    source = graph.cast(graph.name(x), x.dtype, bool_) if call.kind is bool_ else graph.name(x)
    source = graph.cast(source, bool_ if call.kind is bool_ else x.dtype, inner)
    result = graph.add(f"Reduce{kind}", source, graph.integers(axes), keepdims=int(keepdim), noop_with_empty_axes=1)
    return graph.cast(result, inner, call.kind)


@emits("mean_tensor", "logsumexp_tensor")
def _averaged(graph: Nodes, call: Call) -> str:
    axes, keepdim = _axes(call)
    kind = "ReduceMean" if call.name == "mean_tensor" else "ReduceLogSumExp"
    name = graph.name(call.operands[0])
    return graph.add(kind, name, graph.integers(axes), keepdims=int(keepdim), noop_with_empty_axes=1)


@emits("variance_tensor")
def _variance(graph: Nodes, call: Call) -> str:
    """sum((x - mean)^2) / max(0, n - lost), for n elements a result."""
    *reduction, lost = call.arguments
    call.arguments = reduction
    axes, keepdim = _axes(call)
    name, along = graph.name(call.operands[0]), graph.integers(axes)
    distance = graph.add("Sub", name, graph.add("ReduceMean", name, along, keepdims=1, noop_with_empty_axes=1))
    square = graph.add("Mul", distance, distance)
    total = graph.add("ReduceSum", square, along, keepdims=int(keepdim), noop_with_empty_axes=1)
    count = graph.cast(graph.add("Div", graph.add("Size", name), graph.add("Size", total)), int64, call.kind)
    left = graph.add("Max", graph.add("Sub", count, graph.number(lost, call.kind)), graph.number(0.0, call.kind))
    return graph.add("Div", total, left)


@emits("argmax_tensor", "argmin_tensor")
def _picked(graph: Nodes, call: Call) -> str:
    axis, over_all, keepdim = call.arguments
    name, x = graph.name(call.operands[0]), call.operands[0]
    kind = "ArgMax" if call.name == "argmax_tensor" else "ArgMin"
    if not over_all and x.shape:
        return graph.add(kind, name, axis=axis, keepdims=int(keepdim))
    flat = graph.add("Reshape", name, graph.integers([-1]))
    return graph.add("Reshape", graph.add(kind, flat, axis=0, keepdims=0), graph.shape(call.results[0]))


@emits("softmax_tensor", "log_softmax_tensor")
def _softmax(graph: Nodes, call: Call) -> str:
    kind = "Softmax" if call.name == "softmax_tensor" else "LogSoftmax"
    return graph.add(kind, graph.name(call.operands[0]), axis=call.arguments[0])


@emits("cumsum_tensor")
def _cumsum(graph: Nodes, call: Call) -> str:
    axis, reverse = call.arguments
    return graph.add("CumSum", *_names(graph, call.operands, call.kind), graph.integers(axis), reverse=int(reverse))


@emits("sort_tensor")
def _sorted(graph: Nodes, call: Call) -> list[str]:
    axis, count, descending = call.arguments
    size = call.operands[0].shape[axis]
    k = graph.vectors(size if count < 0 else count)[0]
    return graph.add("TopK", graph.name(call.operands[0]), k, outputs=2, axis=axis, largest=int(descending), sorted=1)


# ---- Indexing -------------------------------------------------------------------------------------------------------


@emits("gather_tensor")
def _gathered(graph: Nodes, call: Call) -> str:
    x, index = (graph.name(operand) for operand in call.operands)
    axis, kind = call.arguments
    if kind & 7 == MASK:
        raise RuntimeError("onnx.export: the shape of a selection by a mask depends on values")
    if kind & 7 == ELEMENTS:
        return graph.add("GatherElements", x, index, axis=axis)
    if kind & 7 == FLAT:
        x, axis = graph.add("Reshape", x, graph.integers([-1])), 0
    return graph.add("Gather", x, index, axis=axis)


@emits("scatter_into", "scatter_tensor")
def _scattered(graph: Nodes, call: Call) -> str:
    target, index, source = call.operands
    axis, kind, how = call.arguments
    if kind & 7 != ELEMENTS or how > 4:
        raise RuntimeError("onnx.export: of writes by an index only scatter, scatter_add and scatter_reduce are known")
    reduction = ("none", "add", "mul", "max", "min")[how]
    name = graph.cast(graph.name(source), source.dtype, call.kind)
    if source.number:
        name = graph.add("Expand", name, graph.add("Shape", graph.name(index)))
    return graph.add("ScatterElements", graph.name(target), graph.name(index), name, axis=axis, reduction=reduction)


@emits("index_tensor")
def _indexed(graph: Nodes, call: Call) -> str:
    x, indices = call.operands
    places = [place for place, index in enumerate(indices) if index is not None]
    if len(places) == 1:
        return graph.add("Gather", graph.name(x), graph.name(indices[places[0]]), axis=places[0])
    if places != list(range(len(places))):
        raise RuntimeError("onnx.export: an index with several arrays that are not the first dimensions")
    shape = graph.integers([1])
    for index in indices:
        if index is not None:
            shape = graph.add("Max", graph.add("Shape", graph.name(index)), shape) if index.shape else shape
    columns = [
        graph.add("Unsqueeze", graph.add("Expand", graph.name(indices[p]), shape), graph.integers([-1])) for p in places
    ]
    return graph.add("GatherND", graph.name(x), graph.add("Concat", *columns, axis=-1))
