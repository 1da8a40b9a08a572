"""Rows for CASES: convolution, pooling and normalization, against definitions in plain Python."""

from __future__ import annotations

import itertools
import math
from typing import Callable

from arrays import REAL, Array, indices


def functional(name: str, *arguments, **options) -> Callable:
    return lambda lib, *tensors: getattr(lib.nn.functional, name)(*tensors, *arguments, **options)


def taps(shape, kernel, stride, padding, dilation):
    """For each output place along the last axes: the (place in the window, place in the input) that it sees."""
    axes = []
    for size, k, s, p, d in zip(shape, kernel, stride, padding, dilation):
        count = (size + 2 * p - d * (k - 1) - 1) // s + 1
        axes.append([[(t, o * s - p + t * d) for t in range(k) if 0 <= o * s - p + t * d < size] for o in range(count)])
    out = tuple(map(len, axes))
    seen = {
        place: [tuple(zip(*pairs)) for pairs in itertools.product(*(axes[d][o] for d, o in enumerate(place)))]
        for place in indices(out)
    }
    return out, seen


def spread(value, rank):
    return value if isinstance(value, tuple) else (value,) * rank


def convolution(stride=1, padding=0, dilation=1, groups=1) -> Callable:
    def reference(x, weight, bias=None):
        rank = len(x.shape) - 2
        settings = (spread(value, rank) for value in (stride, padding, dilation))
        out, seen = taps(x.shape[2:], weight.shape[2:], *settings)
        outputs, inputs = weight.shape[:2]
        shape = (x.shape[0], outputs, *out)

        def element(n, o, *place):
            first = o // (outputs // groups) * inputs
            terms = [
                weight.at((o, c, *tap)) * x.at((n, first + c, *source))
                for c in range(inputs)
                for tap, source in seen[place]
            ]
            return math.fsum(terms) + (bias.at((o,)) if bias else 0.0)

        return Array([element(*index) for index in indices(shape)], shape)

    return reference


def unfolded(kernel, stride=1, padding=0, dilation=1) -> Callable:
    def reference(x):
        out, seen = taps(x.shape[2:], kernel, *(spread(value, 2) for value in (stride, padding, dilation)))
        places = list(indices(out))
        sources = {place: dict(pairs) for place, pairs in seen.items()}
        window = list(indices(kernel))
        shape = (x.shape[0], x.shape[1] * len(window), len(places))

        def element(n, row, position):
            source = sources[places[position]].get(window[row % len(window)])
            return x.at((n, row // len(window), *source)) if source else 0.0

        return Array([element(*index) for index in indices(shape)], shape)

    return reference


def folded(size, kernel, stride=1, padding=0, dilation=1) -> Callable:
    """The sum of the columns over the places that `unfolded` takes them from."""

    def reference(columns):
        out, seen = taps(size, kernel, *(spread(value, 2) for value in (stride, padding, dilation)))
        places, window = list(indices(out)), list(indices(kernel))
        shape = (columns.shape[0], columns.shape[1] // len(window), *size)
        flat = dict.fromkeys(indices(shape), 0.0)
        for n, c in indices(shape[:2]):
            for position, place in enumerate(places):
                for tap, source in seen[place]:
                    flat[(n, c, *source)] += columns.at((n, c * len(window) + window.index(tap), position))
        return Array(list(flat.values()), shape)

    return reference


def pooled(combine: Callable, kernel, stride, padding=0, dilation=1) -> Callable:
    """combine(elements, number in the window with padding) of what each window sees."""

    def reference(x):
        rank = len(x.shape) - 2
        out, seen = taps(
            x.shape[2:], spread(kernel, rank), *(spread(value, rank) for value in (stride, padding, dilation))
        )
        shape = (*x.shape[:2], *out)
        count = math.prod(spread(kernel, rank))

        def element(n, c, *place):
            return combine([x.at((n, c, *at)) for _, at in seen[place]], count)

        return Array([element(*index) for index in indices(shape)], shape)

    return reference


def adaptive(size) -> Callable:
    def reference(x):
        shape = (*x.shape[:2], *size)

        def span(o, count, length):
            return range(o * length // count, -(-(o + 1) * length // count))

        def element(n, c, *place):
            seen = [span(o, count, length) for o, count, length in zip(place, size, x.shape[2:])]
            values = [x.at((n, c, *at)) for at in itertools.product(*seen)]
            return math.fsum(values) / len(values)

        return Array([element(*index) for index in indices(shape)], shape)

    return reference


def normalized(group: Callable, affine: Callable, eps: float = 1e-5) -> Callable:
    """To mean 0 and variance 1 within each group(index); weight and bias at affine(index)."""

    def reference(x, weight=None, bias=None):
        groups: dict = {}
        for index in indices(x.shape):
            groups.setdefault(group(*index), []).append(x.at(index))
        means = {key: math.fsum(values) / len(values) for key, values in groups.items()}
        rates = {
            key: 1 / math.sqrt(math.fsum((value - means[key]) ** 2 for value in values) / len(values) + eps)
            for key, values in groups.items()
        }

        def element(index):
            key, place = group(*index), affine(*index)
            y = (x.at(index) - means[key]) * rates[key]
            return y * (weight.at(place) if weight else 1) + (bias.at(place) if bias else 0)

        return Array([element(index) for index in indices(x.shape)], x.shape)

    return reference


def window_cases(case: Callable) -> list:
    def row(name, shapes, call, reference, *backward):
        return case(name, shapes, call, reference, *backward, accepted=REAL)

    def conv(name, *shapes, **options):
        backward = ("ConvolutionBackward", "TransposedConvolutionBackward")
        return row(name, list(shapes), functional(name, **options), convolution(**options), *backward)

    def average(values, count):
        return math.fsum(values) / count

    def average_inside(values, count):
        return math.fsum(values) / len(values)

    def largest(values, count):
        return max(values)

    def max_pool(name, shape, *settings):
        return row(name, [shape], functional(name, *settings), pooled(largest, *settings), "MaxPoolBackward")

    def avg_pool(name, shape, *settings, average=average, **options):
        backward = ("AvgPoolBackward", "AvgUnpoolBackward")
        return row(name, [shape], functional(name, *settings, **options), pooled(average, *settings), *backward)

    def columns(name, shape, *settings, stride=1, padding=0, dilation=1):
        options = {"stride": stride, "padding": padding, "dilation": dilation}
        reference = (unfolded if name == "unfold" else folded)(*settings, **options)
        call = functional(name, *settings, **options)
        return row(name, [shape], call, reference, "UnfoldBackward", "FoldBackward")

    def even(shape, size):
        backward = ("AdaptiveAvgPoolBackward", "AdaptiveAvgUnpoolBackward")
        return row("adaptive_avg_pool2d", [shape], functional("adaptive_avg_pool2d", size), adaptive(size), *backward)

    def batch_norm(lib, x, weight, bias):
        return lib.nn.functional.batch_norm(x, None, None, weight, bias, training=True)

    def layer_norm(lib, x, weight, bias):
        return lib.nn.functional.layer_norm(x, weight.shape, weight, bias)

    def group_norm(lib, x, weight, bias):
        return lib.nn.functional.group_norm(x, 2, weight, bias, eps=0.1)

    def batch_norm_eval(lib, x, weight, bias):
        ones = weight.detach() * 0 + 1
        return lib.nn.functional.batch_norm(x, ones, ones * 3, weight, bias, eps=1.0)

    def scaled_and_shifted(x, weight, bias):
        elements = [(x.at(at) - 1) / 2 * weight.at(at[1:2]) + bias.at(at[1:2]) for at in indices(x.shape)]
        return Array(elements, x.shape)

    by_channel = normalized(lambda n, c, *_: c, lambda n, c, *_: (c,))
    by_row = normalized(lambda *index: index[:-1], lambda *index: index[-1:])
    by_group = normalized(lambda n, c, *_: (n, c // 2), lambda n, c, *_: (c,), eps=0.1)

    return [
        conv("conv2d", (2, 2, 4, 5), (3, 2, 2, 3), (3,)),
        conv("conv2d", (2, 3, 4, 4), (2, 3, 1, 1)),
        conv("conv2d", (1, 4, 5, 4), (4, 2, 3, 2), (4,), stride=(2, 1), padding=(1, 2), dilation=(1, 2), groups=2),
        conv("conv2d", (3, 2, 3, 3), (2, 1, 2, 2), stride=2, padding=1, groups=2),
        conv("conv1d", (2, 3, 7), (4, 3, 3), (4,), stride=2, padding=2, dilation=2),
        conv("conv1d", (1, 4, 5), (4, 1, 2), groups=4),
        columns("unfold", (2, 2, 4, 5), (2, 3)),
        columns("unfold", (1, 2, 5, 4), (2, 2), stride=(2, 1), padding=(1, 2), dilation=(3, 1)),
        columns("fold", (2, 12, 9), (4, 5), (2, 3)),
        columns("fold", (1, 8, 14), (5, 4), (2, 2), stride=(2, 1), padding=(1, 2), dilation=(3, 1)),
        max_pool("max_pool2d", (2, 2, 4, 5), 2, 2),
        max_pool("max_pool2d", (1, 2, 5, 6), (3, 2), (1, 2), 1, (1, 2)),
        max_pool("max_pool1d", (2, 3, 7), 3, 2, 1),
        max_pool("max_pool1d", (7, 5, 4), 2, 2, 1),  # more images than the CPU takes at a time
        max_pool("max_pool2d", (1, 1, 2, 50), 2, 1, 1),  # wide rows
        avg_pool("avg_pool2d", (2, 2, 4, 5), 2, 2),
        avg_pool("avg_pool2d", (1, 2, 5, 4), (3, 2), (1, 2), 1),
        avg_pool("avg_pool2d", (1, 2, 5, 4), 3, 2, 1, average=average_inside, count_include_pad=False),
        avg_pool("avg_pool1d", (2, 3, 7), 3, 2, 1),
        avg_pool("avg_pool1d", (7, 5, 4), 2, 2, 1),
        avg_pool("avg_pool2d", (1, 1, 2, 50), 2, 1, 1),
        even((1, 2, 5, 4), (3, 2)),
        even((2, 1, 3, 4), (4, 6)),
        row("batch_norm", [(3, 2, 2, 2), (2,), (2,)], batch_norm, by_channel, "NormalizeBackward"),
        row("batch_norm", [(5, 3), (3,), (3,)], batch_norm, by_channel, "NormalizeBackward"),
        row("scale_and_shift", [(3, 2, 2), (2,), (2,)], batch_norm_eval, scaled_and_shifted, "NormalizeByBackward"),
        row("layer_norm", [(3, 2, 5), (5,), (5,)], layer_norm, by_row, "NormalizeBackward"),
        row("group_norm", [(2, 4, 3), (4,), (4,)], group_norm, by_group, "NormalizeBackward"),
    ]
