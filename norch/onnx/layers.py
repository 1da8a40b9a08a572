"""What layers and losses are in ONNX, where one call of the C library does them (see operators.py)."""

from __future__ import annotations

import math
from typing import Any, Callable, Sequence

from ..methods.products import OUTER
from ..types import bool_, dtype, int64
from .nodes import Nodes
from .operators import FORMULAS, emits
from .trace import Call, Value

# ---- Losses ---------------------------------------------------------------------------------------------------------

_REDUCTIONS = ("none", "mean", "sum")


def _distance(g: Nodes, x: str, y: str) -> str:
    return g.add("Abs", g.add("Sub", x, y))


def _log(g: Nodes, n: Callable[[float], str], x: str) -> str:
    return g.add("Max", g.add("Log", x), n(-100))


# The rows of LOSSES in csrc/ops/operations.h: what a pair adds
_LOSSES: dict[str, Callable[..., str]] = {
    "mse": lambda g, n, x, y, p: g.add("Mul", _distance(g, x, y), _distance(g, x, y)),
    "l1_loss": lambda g, n, x, y, p: _distance(g, x, y),
    "huber_loss": lambda g, n, x, y, p: FORMULAS["huber"](g, n, g.add("Sub", x, y), p),
    "smooth_l1_loss": lambda g, n, x, y, p: g.add("Div", FORMULAS["huber"](g, n, g.add("Sub", x, y), p), p),
    "bce_loss": lambda g, n, x, y, p: g.add(
        "Neg",
        g.add(
            "Add",
            g.add("Mul", y, _log(g, n, x)),
            g.add("Mul", g.add("Sub", n(1), y), _log(g, n, g.add("Sub", n(1), x))),
        ),
    ),
    "bce_with_logits_loss": lambda g, n, x, y, p: FORMULAS["bce_with_logits"](g, n, x, y),
    "soft_margin_loss": lambda g, n, x, y, p: g.add("Softplus", g.add("Neg", g.add("Mul", y, x))),
    "margin_loss": lambda g, n, x, y, p: g.add("Relu", g.add("Sub", p, g.add("Mul", y, x))),
    "hinge_embedding_loss": lambda g, n, x, y, p: g.add(
        "Add",
        g.add("Where", g.add("Equal", y, n(1)), n(0), g.add("Relu", g.add("Sub", p, x))),
        g.add("Where", g.add("Equal", y, n(-1)), n(0), x),
    ),
    "poisson_nll_loss": lambda g, n, x, y, p: g.add("Sub", g.add("Exp", x), g.add("Mul", y, x)),
    "kl_div_loss": lambda g, n, x, y, p: g.add(
        "Where", g.add("Equal", y, n(0)), n(0), g.add("Mul", y, g.add("Sub", g.add("Log", y), x))
    ),
}


@emits(*(f"{name}_tensor" for name in _LOSSES))
def _summed_loss(graph: Nodes, call: Call) -> str:
    parameter, reduction = call.arguments
    pair = _LOSSES[call.name[: -len("_tensor")]]

    def number(value: float) -> str:
        return graph.number(value, call.kind)

    each = pair(graph, number, *map(graph.name, call.operands), number(parameter))
    if reduction == 1:
        return graph.add("ReduceMean", each, keepdims=0)
    total = graph.add("ReduceSum", each, keepdims=0)
    sizes = call.operands[0].shape
    if reduction == 2 or not sizes:
        return total
    return graph.add("Div", total, graph.cast(graph.index(sizes[0]), int64, call.kind))


@emits("cross_entropy_tensor")
def _cross_entropy(graph: Nodes, call: Call) -> str:
    logits, labels = call.operands
    ignored, reduction, smoothing = call.arguments
    target = graph.cast(graph.name(labels), labels.dtype, int64)
    names, settings = (graph.name(logits), target), {"ignore_index": ignored}
    if not smoothing:
        return graph.add("SoftmaxCrossEntropyLoss", *names, reduction=_REDUCTIONS[reduction], **settings)
    log_p = graph.add("LogSoftmax", names[0], axis=1)
    hard = graph.add("NegativeLogLikelihoodLoss", log_p, target, reduction="none", **settings)
    zero, part = graph.number(0.0, call.kind), graph.number(smoothing, call.kind)
    missing = graph.add("Equal", target, graph.integers(ignored))
    even = graph.add("Neg", graph.add("ReduceMean", log_p, graph.integers([1]), keepdims=0))
    even = graph.add("Where", missing, zero, even)
    each = graph.add("Add", hard, graph.add("Mul", part, graph.add("Sub", even, hard)))
    if reduction == 0:
        return each
    total = graph.add("ReduceSum", each, keepdims=0)
    if reduction == 2:
        return total
    counted = graph.add("Where", missing, zero, graph.number(1.0, call.kind))
    return graph.add("Div", total, graph.add("ReduceSum", counted, keepdims=0))


@emits("nll_tensor")
def _nll(graph: Nodes, call: Call) -> list[str]:
    scores, labels, weight = call.operands
    ignored, reduction = call.arguments
    names = [graph.name(scores), graph.cast(graph.name(labels), labels.dtype, int64)]
    names += [] if weight is None else [graph.name(weight)]
    loss = graph.add("NegativeLogLikelihoodLoss", *names, ignore_index=ignored, reduction=_REDUCTIONS[reduction])
    return [loss, "", "", ""]


# ---- Layers ---------------------------------------------------------------------------------------------------------


@emits("matmul_tensor")
def _matmul(graph: Nodes, call: Call) -> str:
    return graph.add("MatMul", *map(graph.name, call.operands))


@emits("product_tensor")
def _product(graph: Nodes, call: Call) -> str:
    return _product_of(graph, call, call.operands, call.arguments[0])


@emits("added_product_tensor")
def _added_product(graph: Nodes, call: Call) -> str:
    x, y, z, beta, alpha = call.operands
    product = _product_of(graph, call, [y, z], call.arguments[0])
    if alpha is not None:
        product = graph.add("Mul", product, graph.cast(graph.name(alpha), alpha.dtype, call.kind))
    added = graph.cast(graph.name(x), x.dtype, call.kind)
    if beta is not None and not beta.constant.item():
        return product
    if beta is not None:
        added = graph.add("Mul", added, graph.cast(graph.name(beta), beta.dtype, call.kind))
    return graph.add("Add", added, product)


def _product_of(graph: Nodes, call: Call, operands: Sequence[Value], kind: int) -> str:
    x, y = (graph.cast(graph.name(value), value.dtype, call.kind) for value in operands)
    if kind != OUTER:
        return graph.add("MatMul", x, y)
    return graph.add("Mul", graph.add("Unsqueeze", x, graph.integers([1])), y)


@emits("linear_tensor")
def _linear(graph: Nodes, call: Call) -> str:
    x, weight, bias = call.operands
    if len(x.shape) == 2:
        return graph.add("Gemm", *[graph.name(v) for v in (x, weight, bias) if v is not None], transB=1)
    product = graph.add("MatMul", graph.name(x), graph.add("Transpose", graph.name(weight), perm=[1, 0]))
    return product if bias is None else graph.add("Add", product, graph.name(bias))


@emits("glu_tensor")
def _glu(graph: Nodes, call: Call) -> str:
    value, gate = graph.add("Split", graph.name(call.operands[0]), outputs=2, axis=call.arguments[0], num_outputs=2)
    return graph.add("Mul", value, graph.add("Sigmoid", gate))


@emits("grid_sample_tensor")
def _grid_sample(graph: Nodes, call: Call) -> str:
    mode, border, align = call.arguments
    borders = ("zeros", "border", "reflection")
    names, kind = map(graph.name, call.operands), ("linear", "nearest", "cubic")[mode]
    return graph.add("GridSample", *names, mode=kind, padding_mode=borders[border], align_corners=int(align))


@emits("resample_tensor")
def _resample(graph: Nodes, call: Call) -> str:
    """A sum over all taps: what an output does not have has the weight 0."""
    x, _, places, weights = call.operands
    (axis,) = call.arguments
    elements = graph.add("Gather", graph.name(x), graph.name(places), axis=axis)
    factors, after = graph.name(weights), list(range(2, len(x.shape) - axis + 1))
    factors = graph.add("Unsqueeze", factors, graph.integers(after)) if after else factors
    return graph.add("ReduceSum", graph.add("Mul", elements, factors), graph.integers([axis]), keepdims=0)


@emits("embedding_bag_tensor")
def _embedding_bag(graph: Nodes, call: Call) -> list[str]:
    """Of bags of one size, in which every integer counts."""
    table, index, offsets, weights = call.operands
    mode, padding, *_ = call.arguments
    if offsets is not None or padding >= 0:
        raise RuntimeError("embedding_bag with offsets or padding_idx has no equivalent in ONNX")
    rows = graph.add("Gather", graph.name(table), graph.name(index))
    if weights is not None:
        rows = graph.add("Mul", rows, graph.add("Unsqueeze", graph.name(weights), graph.integers([2])))
    return [graph.add(("ReduceSum", "ReduceMean", "ReduceMax")[mode], rows, graph.integers([1]), keepdims=0), ""]


def _window(array: Sequence[int], names: tuple[str, ...] = ("kernel_shape", "strides", "dilations")) -> dict[str, Any]:
    """The attributes of a window: the kernel, stride and dilation of each axis, and the padding around them."""
    axes = len(array) // 5
    settings = {name: list(array[axes * i : axes * (i + 1)]) for i, name in enumerate(names)}
    return {**settings, "pads": list(array[3 * axes :])}


@emits("conv_tensor")
def _conv(graph: Nodes, call: Call) -> str:
    window, groups = call.arguments
    operands = [graph.name(v) for v in call.operands if v is not None]
    return graph.add("Conv", *operands, group=groups, **_window(window))


@emits("conv_backward")
def _conv_transposed(graph: Nodes, call: Call) -> list[str]:
    """The gradient of a convolution by its images, which is a transposed convolution."""
    gradient, images, weight = call.operands
    window, groups, _ = call.arguments
    settings, axes = _window(window), len(images.shape) - 2
    pads = settings["pads"]
    for axis in range(axes):
        size, stride = gradient.shape[2 + axis], settings["strides"][axis]
        full = (size - 1) * stride + settings["dilations"][axis] * (settings["kernel_shape"][axis] - 1) + 1
        pads[axes + axis] = full - images.shape[2 + axis] - pads[axis]
    settings["pads"] = [max(pad, 0) for pad in pads]
    settings["output_padding"] = [max(-pad, 0) for pad in pads[axes:]]
    name = graph.add("ConvTranspose", graph.name(gradient), graph.name(weight), group=groups, **settings)
    return [name, "", ""]


def _taps(graph: Nodes, channels: int, window: Sequence[int], kind: dtype) -> str:
    """A weight [C * taps, 1, ...] whose outputs are what each tap of the window sees of each channel."""
    kernel = window[: len(window) // 5]
    taps = math.prod(kernel)
    ones = [float(i % taps == j) for i in range(channels * taps) for j in range(taps)]
    return graph.constant(
        f"taps_{channels}_{'_'.join(map(str, kernel))}_{kind}", kind, [channels * taps, 1, *kernel], ones
    )


@emits("unfold_tensor")
def _unfolded(graph: Nodes, call: Call) -> str:
    x, (window,) = call.operands[0], call.arguments
    weight = _taps(graph, x.shape[1], window, call.kind)
    seen = graph.add("Conv", graph.name(x), weight, group=x.shape[1], **_window(window))
    return graph.add("Reshape", seen, graph.shape(call.results[0]))


@emits("fold_tensor")
def _folded(graph: Nodes, call: Call) -> str:
    """The columns of each tap, added where the tap saw them: the transpose of what unfold does."""
    columns, out = call.operands[0], call.results[0]
    window, size, axes = call.arguments
    settings, places = _window(window), []
    pads = settings["pads"]
    for axis in range(axes):
        span = settings["dilations"][axis] * (settings["kernel_shape"][axis] - 1) + 1
        stride = settings["strides"][axis]
        places.append((size[axis] + pads[axis] + pads[axes + axis] - span) // stride + 1)
        pads[axes + axis] = (places[-1] - 1) * stride + span - size[axis] - pads[axis]
    settings["pads"], settings["output_padding"] = [max(pad, 0) for pad in pads], [max(-pad, 0) for pad in pads[axes:]]
    seen = graph.add("Reshape", graph.name(columns), graph.joined_sizes(*columns.shape[:2], *places))
    weight = _taps(graph, out.shape[1], window, call.kind)
    return graph.add("ConvTranspose", seen, weight, group=out.shape[1], **settings)


@emits("max_pool_tensor")
def _max_pool(graph: Nodes, call: Call) -> list[str]:
    """The values, and their places in each image; ONNX counts them through the whole tensor."""
    window, ceil, with_places = call.arguments
    x = call.operands[0]
    if not with_places:
        return [graph.add("MaxPool", graph.name(x), ceil_mode=int(ceil), **_window(window)), ""]
    values, places = graph.add("MaxPool", graph.name(x), outputs=2, ceil_mode=int(ceil), **_window(window))
    return [values, graph.add("Mod", places, graph.integers(math.prod(x.shape[2:])))]


@emits("avg_pool_tensor")
def _avg_pool(graph: Nodes, call: Call) -> str:
    window, ceil, counts_padding, divisor = call.arguments
    settings = _window(window)
    counts = 1 if divisor else int(counts_padding)
    name = graph.add(
        "AveragePool", graph.name(call.operands[0]), ceil_mode=int(ceil), count_include_pad=counts, **settings
    )
    taps = math.prod(settings["kernel_shape"])
    return name if divisor in (0, taps) else graph.add("Mul", name, graph.number(taps / divisor, call.kind))


@emits("adaptive_avg_pool_tensor")
def _adaptive_avg_pool(graph: Nodes, call: Call) -> str:
    """Windows of one size where the input is a multiple of the output; else products with the shares of each output."""
    x, (out,) = call.operands[0], call.arguments
    window = _even(x.shape[2:], out)
    if window:
        return graph.add("AveragePool", graph.name(x), kernel_shape=window, strides=window)
    result, last = graph.name(x), len(x.shape) - 1
    for axis, size, count in zip(range(2, last + 1), x.shape[2:], out):
        order = list(range(last + 1))
        order[axis], order[last] = last, axis
        shares = graph.add("Transpose", _shares(graph, size, count, call.kind), perm=[1, 0])
        result = graph.add("MatMul", graph.add("Transpose", result, perm=order), shares)
        result = graph.add("Transpose", result, perm=order)
    return result


@emits("adaptive_max_pool_tensor")
def _adaptive_max_pool(graph: Nodes, call: Call) -> list[str]:
    """As _max_pool, of a copy of the input in which all windows have one size and lie side by side."""
    x, (out,) = call.operands[0], call.arguments
    copy, window, places = graph.name(x), [], [0]
    for axis, size, count in zip(range(2, len(x.shape)), x.shape[2:], out):
        spans = [(o * size // count, -(-(o + 1) * size // count)) for o in range(count)]
        window.append(max(end - begin for begin, end in spans))
        # a shorter window sees its last element several times
        seen = [min(begin + k, end - 1) for begin, end in spans for k in range(window[-1])]
        copy = graph.add("Gather", copy, graph.integers(seen), axis=axis)
        places = [place * size + i for place in places for i in seen]
    values, found = graph.add("MaxPool", copy, outputs=2, kernel_shape=window, strides=window)
    found = graph.add("Mod", found, graph.integers(len(places)))
    return [values, graph.add("Gather", graph.integers(places), found, axis=0)]


def _even(sizes: Sequence[int], counts: Sequence[int]) -> list[int]:
    """The window of each axis if all divide evenly, else an empty list."""
    uneven = any(size % count for size, count in zip(sizes, counts))
    return [] if uneven else [size // count for size, count in zip(sizes, counts)]


def _shares(graph: Nodes, size: int, count: int, kind: dtype) -> str:
    """A matrix [count, size]: the share of each input in the average of output o, from floor(o * size / count) on."""
    shares = [0.0] * (count * size)
    for o in range(count):
        first, last = o * size // count, -(-(o + 1) * size // count)
        for i in range(first, last):
            shares[o * size + i] = 1 / (last - first)
    return graph.constant(f"shares_{count}_{size}_{kind}", kind, [count, size], shares)


@emits("attention_tensor")
def _attention(graph: Nodes, call: Call) -> list[str]:
    """softmax(query key^T * scale + mask) value; a row that sees no key is 0 (autograd/derivatives/attention.py)."""
    query, key, value, mask = call.operands
    scale, causal, dropout, *_ = call.arguments
    if dropout:
        raise RuntimeError("onnx.export: attention with dropout draws random numbers; call model.eval() first")
    axes = list(range(len(key.shape)))
    turned = graph.add("Transpose", graph.name(key), perm=[*axes[:-2], axes[-1], axes[-2]])
    scores = graph.add("MatMul", graph.name(query), turned)
    scores = graph.add("Mul", scores, graph.number(scale, call.kind))
    zero, never = graph.number(0.0, call.kind), graph.number(-math.inf, call.kind)
    if causal:
        ones = graph.add("Expand", graph.integers(1), graph.joined_sizes(query.shape[-2], key.shape[-2]))
        past = graph.cast(graph.add("Trilu", ones, upper=0), int64, bool_)
        scores = graph.add("Where", past, scores, never)
    if mask is None:
        return [graph.add("MatMul", graph.add("Softmax", scores, axis=-1), graph.name(value)), ""]
    name = graph.name(mask)
    scores = graph.add("Add", scores, graph.add("Where", name, zero, never) if mask.dtype is bool_ else name)
    top = graph.add("ReduceMax", scores, graph.integers([-1]), keepdims=1)
    blind = graph.add("Equal", top, never)
    weights = graph.add("Softmax", graph.add("Where", blind, zero, scores), axis=-1)
    return [graph.add("MatMul", graph.add("Where", blind, zero, weights), graph.name(value)), ""]


@emits("normalize_tensor")
def _normalized(graph: Nodes, call: Call) -> list[str]:
    """(x - mean) / sqrt(variance + eps) * weight + bias over [outer, groups, inner] (autograd/derivatives)."""
    x, weight, bias = call.operands
    outer, groups, affine, eps = call.arguments
    seen = graph.add("Reshape", graph.name(x), graph.joined_sizes(outer, groups, -1))
    axes = graph.integers([0, 2])
    mean = graph.add("ReduceMean", seen, axes, keepdims=1)
    centred = graph.add("Sub", seen, mean)
    variance = graph.add("ReduceMean", graph.add("Mul", centred, centred), axes, keepdims=1)
    result = graph.add("Div", centred, graph.add("Sqrt", graph.add("Add", variance, graph.number(eps, call.kind))))
    shape = graph.integers({0: [1, 1, -1], 1: [1, -1, 1]}.get(affine, [1, -1, *[1] * (len(x.shape) - 2)]))
    if affine == 2:  # by channel
        result = graph.add("Reshape", result, graph.shape(call.results[0]))
    for value, kind in ((weight, "Mul"), (bias, "Add")):
        if value is not None:
            result = graph.add(kind, result, graph.add("Reshape", graph.name(value), shape))
    flat = graph.integers([-1])
    return [
        graph.add("Reshape", result, graph.shape(call.results[0])),
        *(graph.add("Reshape", v, flat) for v in (mean, variance)),
    ]


@emits("normalize_by_tensor")
def _normalized_by(graph: Nodes, call: Call) -> str:
    """(x - mean) / sqrt(variance + eps) * weight + bias of each channel; ONNX wants weight and bias."""
    x, weight, bias, mean, variance = call.operands
    (channels,) = mean.shape

    def known(value: Value | None, otherwise: float) -> str:
        if value is not None:
            return graph.name(value)
        return graph.constant(f"{otherwise}_{call.kind}_{channels}", call.kind, [channels], [otherwise] * channels)

    names = graph.name(x), known(weight, 1.0), known(bias, 0.0), graph.name(mean), graph.name(variance)
    return str(graph.add("BatchNormalization", *names, epsilon=call.arguments[-1]))
