"""Rows for CASES: padding, transposed and 3-d convolution, more pools, resampling, against plain Python."""

from __future__ import annotations

import itertools
import math
from typing import Any, Callable

from arrays import DTYPES, REAL, Array, elementwise, indices, reduce
from window_cases import adaptive, convolution, functional, pooled, spread, taps

# ---- Padding ----------------------------------------------------------------------------------------------------

SOURCES = {  # by mode: the place that a place beyond the ends repeats
    "reflect": lambda i, n: -i if i < 0 else 2 * (n - 1) - i if i >= n else i,
    "replicate": lambda i, n: min(max(i, 0), n - 1),
    "circular": lambda i, n: i % n,
}


def padded(amounts, mode="constant", value=0) -> Callable:
    def reference(x):
        rank = len(x.shape)
        pairs = [(0, 0)] * (rank - len(amounts) // 2) + list(zip(amounts[0::2], amounts[1::2]))[::-1]
        shape = tuple(before + size + after for size, (before, after) in zip(x.shape, pairs))

        def element(index):
            places = [i - before for i, (before, _) in zip(index, pairs)]
            if mode == "constant":
                inside = all(0 <= i < size for i, size in zip(places, x.shape))
                return x.at(places) if inside else type(x.flat[0])(value)
            return x.at([SOURCES[mode](i, size) for i, size in zip(places, x.shape)])

        return Array([element(index) for index in indices(shape)], shape)

    return reference


# ---- Convolution and pooling ------------------------------------------------------------------------------------


def transposed(stride=1, padding=0, output_padding=0, groups=1, dilation=1) -> Callable:
    """Each element of x adds the weight, times itself, around its place."""

    def reference(x, weight, bias=None):
        rank = len(x.shape) - 2
        settings = [spread(value, rank) for value in (stride, padding, output_padding, dilation)]
        out = tuple(
            (size - 1) * s - 2 * p + d * (k - 1) + extra + 1
            for size, k, s, p, extra, d in zip(x.shape[2:], weight.shape[2:], *settings)
        )
        inputs, outputs = weight.shape[0] // groups, weight.shape[1]
        shape = (x.shape[0], outputs * groups, *out)
        terms: dict[Any, list[float]] = {index: [] for index in indices(shape)}
        for n, c, *place in indices(x.shape):
            for o, *tap in indices(weight.shape[1:]):
                moved = zip(place, tap, *settings)
                to = (n, c // inputs * outputs + o, *(i * s - p + t * d for i, t, s, p, _, d in moved))
                if to in terms:
                    terms[to].append(x.at((n, c, *place)) * weight.at((c, o, *tap)))
        return Array([math.fsum(sums) + (bias.at(index[1:2]) if bias else 0.0) for index, sums in terms.items()], shape)

    return reference


def adaptive_max(size) -> Callable:
    def reference(x):
        shape = (*x.shape[:2], *size)

        def element(n, c, *place):
            spans = [
                range(o * length // count, -(-(o + 1) * length // count))
                for o, count, length in zip(place, size, x.shape[2:])
            ]
            return max(x.at((n, c, *at)) for at in itertools.product(*spans))

        return Array([element(*index) for index in indices(shape)], shape)

    return reference


def places_of_max(kernel) -> Callable:
    """Where the largest element of each window lies in its image, in row order."""

    def reference(x):
        rank = len(x.shape) - 2
        out, seen = taps(x.shape[2:], spread(kernel, rank), *(spread(value, rank) for value in (kernel, 0, 1)))
        shape = (*x.shape[:2], *out)

        def element(n, c, *place):
            sources = [source for _, source in seen[place]]
            best = max(sources, key=lambda at: x.at((n, c, *at)))  # the first of several
            position = 0
            for i, size in zip(best, x.shape[2:]):
                position = position * size + i
            return position

        return Array([element(*index) for index in indices(shape)], shape)

    return reference


# ---- Resampling -------------------------------------------------------------------------------------------------


def triangle(distance):
    return max(0.0, 1 - abs(distance))


def cubic(a):
    def kernel(distance):
        d = abs(distance)
        if d <= 1:
            return (a + 2) * d**3 - (a + 3) * d**2 + 1
        return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else 0.0

    return kernel


def by_kernel(kernel, reach, align=False) -> Callable:
    """The weights of an element o of `new` along an axis, by the places that it reads."""

    def weights(o, size, new):
        centre = o * (size - 1) / (new - 1) if align else (o + 0.5) * size / new - 0.5
        if reach == 1:
            centre = max(centre, 0.0)
        found: dict[int, float] = {}
        for i in range(math.floor(centre) - reach + 1, math.floor(centre) + reach + 1):
            place = min(max(i, 0), size - 1)
            found[place] = found.get(place, 0.0) + kernel(centre - i)
        return found

    return weights


def by_wide_kernel(kernel, reach) -> Callable:
    def weights(o, size, new):
        width, centre = max(size / new, 1.0), (o + 0.5) * size / new
        first, last = max(int(centre - reach * width + 0.5), 0), min(int(centre + reach * width + 0.5), size)
        found = {i: kernel((i + 0.5 - centre) / width) for i in range(first, last)}
        return {i: weight / math.fsum(found.values()) for i, weight in found.items()}

    return weights


def nearest(shift) -> Callable:
    return lambda o, size, new: {min(int((o + shift) * size / new), size - 1): 1.0}


def resampled(sizes, weights) -> Callable:
    def reference(x):
        shape = (*x.shape[:2], *sizes)

        def element(n, c, *place):
            axes = [weights(o, size, new) for o, size, new in zip(place, x.shape[2:], sizes)]
            combined = itertools.product(*(axis.items() for axis in axes))
            return math.fsum(
                x.at((n, c, *(i for i, _ in pairs))) * math.prod(weight for _, weight in pairs) for pairs in combined
            )

        return Array([element(*index) for index in indices(shape)], shape)

    return reference


def sampled(kernel, reach, padding, align) -> Callable:
    """An image read at the points of a grid, whose numbers come as 0.4 times those drawn."""

    def reference(x, grid):
        sizes = x.shape[2:]
        shape = (*x.shape[:2], *grid.shape[1:-1])

        def element(n, c, *place):
            terms = []
            for axis, size in enumerate(sizes):
                point = 0.4 * grid.at((n, *place, len(sizes) - 1 - axis))
                at = (point + 1) / 2 * (size - 1) if align else ((point + 1) * size - 1) / 2
                if padding == "border":
                    at = min(max(at, 0), size - 1)
                if padding == "reflection":
                    low, high = (0, size - 1) if align else (-0.5, size - 0.5)
                    while not low <= at <= high:
                        at = 2 * low - at if at < low else 2 * high - at
                    at = min(max(at, 0), size - 1)
                if kernel is None:
                    terms.append([(round(at), 1.0)])
                else:
                    first = math.floor(at) - reach + 1
                    terms.append([(i, kernel(at - i)) for i in range(first, first + 2 * reach)])
            total = 0.0
            for corner in itertools.product(*terms):
                index = [i for i, _ in corner]
                if all(0 <= i < size for i, size in zip(index, sizes)):
                    total += x.at((n, c, *index)) * math.prod(weight for _, weight in corner)
            return total

        return Array([element(*index) for index in indices(shape)], shape)

    return reference


# ---- Rows -------------------------------------------------------------------------------------------------------


def spatial_cases(case: Callable) -> list:
    exact = REAL[2:]  # float32 and float64: halves are rounded between the steps, in torch others

    def row(name, shapes, call, reference, *backward, accepted=REAL, **more):
        return case(name, shapes, call, reference, *backward, accepted=accepted, **more)

    def pad(shape, amounts, *settings):
        call = functional("pad", amounts, *settings)
        accepted = DTYPES if not settings or settings[0] in ("constant", "circular") else DTYPES[1:]  # as torch
        return row("pad", [shape], call, padded(amounts, *settings), "PadBackward", accepted=accepted)

    def conv3d(*shapes, **options):
        call = functional("conv3d", **options)
        return row("conv3d", list(shapes), call, convolution(**options), "ConvolutionBackward", "UnfoldBackward")

    def transpose(name, *shapes, **options):
        backward = ("TransposedConvolutionBackward", "ConvolutionBackward")
        return row(name, list(shapes), functional(name, **options), transposed(**options), *backward, accepted=exact)

    def interpolate(shape, size, mode, weights, accepted=exact, **options):
        call = functional("interpolate", size, mode=mode, **options)
        return row("interpolate", [shape], call, resampled(size, weights), "ResampleBackward", accepted=accepted)

    def sample(mode, padding, align, *kernel, shape=(2, 2, 3, 4), grid=(2, 3, 2, 2)):
        def call(lib, x, points):
            return lib.nn.functional.grid_sample(x, points * 0.4, mode, padding, align)

        return row(
            "grid_sample", [shape, grid], call, sampled(*kernel, padding, align), "GridSampleBackward", accepted=exact
        )

    def largest(values, count):
        return max(values)

    def average(values, count):
        return math.fsum(values) / count

    def second_norm(values, count):
        return math.sqrt(math.fsum(value * value for value in values))

    def normal(lib, x):
        return lib.nn.functional.normalize(x, dim=0)

    def by_columns(x):
        norms = reduce(lambda xs: math.sqrt(math.fsum(value * value for value in xs)), x, [0], keepdim=True)
        return elementwise(lambda value, norm: value / max(norm, 1e-12), x, norms)

    def cosine(lib, x, y):
        return lib.nn.functional.cosine_similarity(x, y, dim=1)

    def cosines(x, y):
        rows, columns = x.shape
        flat = []
        for i in range(rows):
            a, b = [x.at((i, j)) for j in range(columns)], [y.at((i, j)) for j in range(columns)]
            lengths = [max(math.sqrt(math.fsum(value * value for value in values)), 1e-8) for values in (a, b)]
            flat.append(math.fsum(p * q for p, q in zip(a, b)) / lengths[0] / lengths[1])
        return Array(flat, (rows,))

    def distances(x, y):
        rows, columns = x.shape
        gaps = [[abs(x.at((i, j)) - y.at((i, j)) + 1e-6) ** 3 for j in range(columns)] for i in range(rows)]
        return Array([math.fsum(gap) ** (1 / 3) for gap in gaps], (rows,))

    def root_mean_square(x, weight):
        def scaled(index):
            squares = [x.at((*index[:-1], j)) ** 2 for j in range(x.shape[-1])]
            return x.at(index) / math.sqrt(math.fsum(squares) / len(squares) + 0.1) * weight.at(index[-1:])

        return Array([scaled(index) for index in indices(x.shape)], x.shape)

    def responses(x):
        def scaled(index):
            n, c, *rest = index
            near = range(max(c - 1, 0), min(c + 2, x.shape[1]))  # of 3 channels
            squares = math.fsum(x.at((n, i, *rest)) ** 2 for i in near) / 3
            return x.at(index) / (2 + 0.5 * squares) ** 0.75

        return Array([scaled(index) for index in indices(x.shape)], x.shape)

    def instances(x, weight, bias):
        def scaled(index):
            n, c, _ = index
            values = [x.at((n, c, i)) for i in range(x.shape[2])]
            mean = math.fsum(values) / len(values)
            variance = math.fsum((value - mean) ** 2 for value in values) / len(values)
            return (x.at(index) - mean) / math.sqrt(variance + 0.1) * weight.at((c,)) + bias.at((c,))

        return Array([scaled(index) for index in indices(x.shape)], x.shape)

    def affine_points(theta):
        shape = (theta.shape[0], 3, 2, 2)

        def element(n, row, column, axis):
            x, y = (column + 0.5) * 2 / 2 - 1, (row + 0.5) * 2 / 3 - 1
            return theta.at((n, axis, 0)) * x + theta.at((n, axis, 1)) * y + theta.at((n, axis, 2))

        return Array([element(*index) for index in indices(shape)], shape)

    def shuffled(x):
        shape = (x.shape[0], 2, x.shape[2] * 2, x.shape[3] * 2)
        flat = [x.at((n, c * 4 + i % 2 * 2 + j % 2, i // 2, j // 2)) for n, c, i, j in indices(shape)]
        return Array(flat, shape)

    def unshuffled(x):
        shape = (x.shape[0], 8, x.shape[2] // 2, x.shape[3] // 2)
        flat = [x.at((n, c // 4, i * 2 + c // 2 % 2, j * 2 + c % 2)) for n, c, i, j in indices(shape)]
        return Array(flat, shape)

    def channels(x):
        return Array([x.at((n, c % 3 * 2 + c // 3, i)) for n, c, i in indices(x.shape)], x.shape)

    def there_and_back(lib, x):
        values, places = lib.nn.functional.max_pool2d(x, 2, return_indices=True)
        return lib.nn.functional.max_unpool2d(values, places, 2)

    def only_largest(x):
        places = places_of_max(2)(x)
        kept = {(n, c, places.at((n, c, i, j))) for n, c, i, j in indices(places.shape)}
        return Array(
            [x.at(at) if (*at[:2], at[2] * x.shape[3] + at[3]) in kept else 0.0 for at in indices(x.shape)], x.shape
        )

    def where(name):
        return lambda lib, x: getattr(lib.nn.functional, name)(x, 2, return_indices=True)[1]

    normalize_backward = "NormalizeBackward"
    return [
        pad((2, 3), (1, 2)),
        pad((2, 3, 2), (1, -1, -1, 2, 0, 1), "constant", 1),
        pad((2, 2, 4), (3, 1), "reflect"),
        pad((1, 2, 3, 4), (2, -1, 1, 2), "reflect"),
        pad((2, 3, 2), (1, 3, 2, 0), "replicate"),
        pad((1, 2, 2, 3, 2), (1, 2, 0, 3, 1, 1), "replicate"),
        pad((2, 3, 4), (4, 1), "circular"),
        pad((1, 2, 3, 2), (1, 2, 3, 0), "circular"),
        conv3d((2, 2, 3, 2, 3), (3, 2, 2, 1, 2), (3,)),
        conv3d((2, 2, 4, 2, 3), (3, 2, 2, 1, 1), (3,), stride=(2, 1, 1), padding=(1, 0, 0)),
        conv3d((2, 4, 2, 2, 3), (2, 2, 1, 1, 1), groups=2),
        conv3d((1, 4, 3, 2, 3), (2, 2, 2, 2, 2), (2,), stride=(2, 1, 2), padding=1, dilation=(1, 2, 1), groups=2),
        transpose("conv_transpose1d", (2, 3, 4), (3, 2, 3), (2,), stride=2, padding=1, output_padding=1),
        transpose("conv_transpose1d", (1, 4, 3), (4, 1, 2), groups=2, dilation=3, output_padding=2),
        transpose("conv_transpose2d", (2, 2, 3, 2), (2, 3, 2, 3), (3,)),
        transpose("conv_transpose2d", (1, 4, 2, 3), (4, 1, 3, 2), (2,), stride=(3, 2), padding=(2, 0), groups=2),
        transpose("conv_transpose3d", (1, 2, 2, 3, 2), (2, 2, 2, 1, 2), (2,), stride=(2, 1, 1), padding=(1, 0, 0)),
        transpose("conv_transpose3d", (1, 4, 2, 1, 2), (4, 1, 2, 2, 2), (2,), groups=2, dilation=(1, 2, 1)),
        row("max_pool3d", [(1, 2, 4, 3, 4)], functional("max_pool3d", 2, 1, 1), pooled(largest, 2, 1, 1),
            "MaxPoolBackward"),
        row("max_pool3d", [(1, 2, 4, 2, 4)], where("max_pool3d"), places_of_max(2), dtype=lambda _: "int64"),
        row("max_pool2d", [(1, 2, 4, 5)], where("max_pool2d"), places_of_max(2), dtype=lambda _: "int64"),
        row("max_unpool2d", [(2, 2, 4, 4)], there_and_back, only_largest, "ScatterBackward"),
        row("avg_pool3d", [(1, 2, 4, 3, 4)], functional("avg_pool3d", (2, 1, 3), 1, (1, 0, 1)),
            pooled(average, (2, 1, 3), 1, (1, 0, 1)), "AvgPoolBackward", accepted=exact),
        row("lp_pool2d", [(1, 2, 4, 5)], functional("lp_pool2d", 2.0, 2), pooled(second_norm, 2, 2), "AvgPoolBackward",
            accepted=exact),
        row("adaptive_avg_pool3d", [(1, 2, 4, 3, 4)], functional("adaptive_avg_pool3d", (3, 2, 4)), adaptive((3, 2, 4)),
            "AdaptiveAvgPoolBackward", accepted=exact),
        row("adaptive_max_pool1d", [(2, 2, 7)], functional("adaptive_max_pool1d", 3), adaptive_max((3,)),
            "MaxPoolBackward"),
        row("adaptive_max_pool2d", [(1, 2, 5, 6)], functional("adaptive_max_pool2d", (3, 4)), adaptive_max((3, 4)),
            "MaxPoolBackward"),
        row("adaptive_max_pool3d", [(1, 1, 4, 3, 5)], functional("adaptive_max_pool3d", (2, 2, 3)),
            adaptive_max((2, 2, 3)), "MaxPoolBackward"),
        interpolate((2, 2, 3), (7,), "nearest", nearest(0.0), accepted=REAL),
        interpolate((1, 2, 3, 4), (5, 2), "nearest-exact", nearest(0.5), accepted=REAL),
        interpolate((2, 2, 3), (5,), "linear", by_kernel(triangle, 1)),
        interpolate((1, 2, 3, 4), (5, 3), "bilinear", by_kernel(triangle, 1)),
        interpolate((1, 2, 3, 4), (5, 3), "bilinear", by_kernel(triangle, 1, align=True), align_corners=True),
        interpolate((1, 1, 3, 4), (5, 3), "bicubic", by_kernel(cubic(-0.75), 2)),
        interpolate((1, 1, 3, 4), (4, 6), "bicubic", by_kernel(cubic(-0.75), 2, align=True), align_corners=True),
        interpolate((1, 1, 3, 2, 4), (2, 3, 5), "trilinear", by_kernel(triangle, 1)),
        row("interpolate", [(1, 2, 5, 7)], functional("interpolate", (2, 3), mode="bilinear", antialias=True),
            resampled((2, 3), by_wide_kernel(triangle, 1)), "ResampleBackward", accepted=exact),
        row("interpolate", [(1, 2, 5, 7)], functional("interpolate", (8, 3), mode="bicubic", antialias=True),
            resampled((8, 3), by_wide_kernel(cubic(-0.5), 2)), "ResampleBackward", accepted=exact),
        sample("bilinear", "zeros", False, triangle, 1),
        sample("bilinear", "border", True, triangle, 1),
        sample("bilinear", "reflection", False, triangle, 1),
        sample("bilinear", "reflection", True, triangle, 1, shape=(1, 2, 2, 3, 2), grid=(1, 2, 1, 3, 3)),
        sample("bicubic", "zeros", False, cubic(-0.75), 2),
        row("affine_grid", [(2, 2, 3)], lambda lib, theta: lib.nn.functional.affine_grid(theta, (2, 1, 3, 2), False),
            affine_points, "MatmulBackward", accepted=exact),
        row("pixel_shuffle", [(2, 8, 2, 3)], functional("pixel_shuffle", 2), shuffled, "RearrangeBackward",
            accepted=DTYPES),
        row("pixel_unshuffle", [(2, 2, 4, 6)], functional("pixel_unshuffle", 2), unshuffled, "RearrangeBackward",
            accepted=DTYPES),
        row("channel_shuffle", [(2, 6, 3)], functional("channel_shuffle", 3), channels, "RearrangeBackward",
            accepted=DTYPES),
        row("instance_norm", [(2, 3, 5), (3,), (3,)],
            lambda lib, x, weight, bias: lib.nn.functional.instance_norm(x, None, None, weight, bias, eps=0.1),
            instances, normalize_backward, accepted=exact),
        row("rms_norm", [(3, 2, 5), (5,)], lambda lib, x, weight: lib.nn.functional.rms_norm(x, [5], weight, 0.1),
            root_mean_square, "RsqrtBackward", accepted=exact),
        row("local_response_norm", [(2, 4, 3)], functional("local_response_norm", 3, 0.5, 0.75, 2.0), responses,
            "AvgPoolBackward", accepted=exact),
        row("normalize", [(3, 4)], normal, by_columns, "ClampBackward", accepted=exact),
        row("cosine_similarity", [(3, 4), (3, 4)], cosine, cosines, "RowPairsBackward", accepted=exact),
        row("pairwise_distance", [(3, 4), (3, 4)], functional("pairwise_distance", 3.0), distances, "PowBackward",
            accepted=exact),
    ]  # fmt: skip
