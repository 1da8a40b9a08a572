// CPU kernels behind api/indexing.cpp: offsets, nonzero, running totals. (cpu/indexing.cpp reads and writes.)

#include <string.h>

#include <type_traits>

#include "cpu/backend.h"
#include "host/lines.h"
#include "ops/ordering.h"
#include "ops/range.h"

void expect_tensor_cpu(const Tensor& truth, const Fault& fault) {
    if (!*data_as<const bool>(truth)) fail_with(fault, 0);
}

void expect_range_tensor_cpu(const Tensor& x, const Range& range, const Fault& fault) {
    const auto check = [&](auto type) {
        const auto* values = data_as<const typename decltype(type)::type>(x);
        for (int64_t i = 0; i < x.size; i++)
            if (!is_in(range, double(values[i]))) fail_with(fault, bits_of(double(values[i])));
    };
    if (x.dtype == INT64) return check(Type<int64_t>());
    for_real(x.dtype, check);
}

// offsets = stride * index, or += if it is not the first; if it wraps, an index below 0 counts from the end.
void locate_tensor_cpu(const Tensor& index, const Fault& bounds, bool wraps, int64_t stride, bool first,
                       Tensor& offsets) {
    const int64_t size = bounds.size, least = wraps ? -size : 0;
    const int64_t* from = data_as<const int64_t>(index);
    int64_t* to = data_as<int64_t>(offsets);
    const Layout<2> layout = collapse<2>({&index, &offsets});
    const int last = layout.ndim - 1;
    const int64_t n = layout.shape[last], step = layout.strides[0][last], out_step = layout.strides[1][last];
    unlocked_if_large(index.size, [&] {
        Odometer<2> at(layout, last);
        do {
            const int64_t* i = from + at.offset[0];
            int64_t* out = to + at.offset[1];
            for (int64_t j = 0; j < n; j++) {
                const int64_t given = i[j * step], place = given < 0 ? given + size : given;
                if (given < least || given >= size) fail_with(bounds, given);
                out[j * out_step] = (first ? 0 : out[j * out_step]) + place * stride;
            }
        } while (at.next());
    });
}

// loss = -weight[label] * log_p[label] of each column; a weight of 0 gives 0 even of an infinite log_p
void nll_tensor_cpu(const Tensor& log_p, const Tensor& labels, const Tensor* weight, Tensor& losses, Tensor& classes,
                    Tensor& shares, int64_t ignored) {
    const int64_t n = log_p.shape[1], inner = log_p.shape[2], *label = data_as<const int64_t>(labels);
    int64_t* chosen = data_as<int64_t>(classes);
    for_real(log_p.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const T *x = data_as<const T>(log_p), *w = data_as<const T>(weight);
        T *loss = data_as<T>(losses), *share = data_as<T>(shares);
        for (int64_t row = 0, j = 0; row < labels.size; row++, j = j + 1 < inner ? j + 1 : 0) {
            const bool counts = label[row] != ignored;
            chosen[row] = counts ? label[row] : 0;
            share[row] = !counts ? T(0) : w ? w[label[row]] : T(1);
            const T score = counts ? x[(row - j) * n + label[row] * inner + j] : T(0);
            loss[row] = (share[row] == 0) & (score == score) ? T(0) : -share[row] * score;
        }
    });
}

// scale = 1 / the number of labels that are not ignored, or 1 unless mean
void label_scale_tensor_cpu(const Tensor& labels, const Fault& bounds, bool mean, Tensor& scale) {
    const int64_t* label = data_as<const int64_t>(labels);
    int64_t counted = 0;
    for (int64_t i = 0; i < labels.size; i++) {
        if (label[i] == bounds.ignored) continue;
        if (label[i] < 0 || label[i] >= bounds.size) fail_with(bounds, label[i]);
        counted++;
    }
    *data_as<double>(scale) = mean ? 1 / double(counted) : 1;
}

// ---- nonzero -----------------------------------------------------------------------------------------------------

namespace {

enum { CHUNK = 4096 };  // elements that a thread looks through at once

// Calls f(at, first, count, chunk) for the pieces of lines along the last dimension that each chunk is made of: at.offset
// is where a line begins, and the piece its elements from `first` on. Several threads call it, each for whole chunks.
template <class F>
void for_chunks(const Layout<2>& layout, F f) {
    const int last = layout.ndim - 1;
    const int64_t n = layout.shape[last];
    parallel_for((layout.size + CHUNK - 1) / CHUNK, SMALL_WORK / CHUNK, [&](int64_t begin, int64_t end) {
        Odometer<2> at(layout, last);
        at.seek(begin * CHUNK / n);
        int64_t j = begin * CHUNK % n;
        for (; begin < end; begin++) {
            int64_t left = smaller(CHUNK, layout.size - begin * CHUNK);
            while (left > 0) {
                const int64_t count = smaller(left, n - j);
                f(at, j, count, begin);
                left -= count;
                j += count;
                if (j == n) j = 0, at.next();
            }
        }
    });
}

// Of x, and of a tensor like it if places in its memory are asked for. Otherwise the dimensions are the result.
Layout<2> layout_of(const Tensor& x, const Tensor* like) {
    if (like) return collapse<2>({&x, like});
    Layout<2> layout;
    layout.ndim = x.ndim;
    layout.size = x.size;
    memcpy(layout.shape, x.shape, sizeof x.shape);
    memcpy(layout.strides[0], x.strides, sizeof x.strides);
    memcpy(layout.strides[1], x.strides, sizeof x.strides);
    return layout;
}

}  // namespace

// The chunks are counted first, so that each knows where its results begin; a few follow one another anyway.
void nonzero_tensor_cpu(const Tensor& x, const Tensor* like, Tensor& out) {
    const Layout<2> layout = layout_of(x, like);
    const int last = layout.ndim - 1;
    const int64_t step = layout.strides[0][last], like_step = layout.strides[1][last];
    int64_t* results = data_as<int64_t>(out);
    Scratch<int64_t> counts((layout.size + CHUNK - 1) / CHUNK);
    memset(counts.data, 0, size_t(counts.count) * sizeof(int64_t));
    const bool in_turn = counts.count <= SMALL_WORK / CHUNK;
    for_any(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* data = data_as<const T>(x);
        const auto count_chunk = [&](const Odometer<2>& at, int64_t first, int64_t count, int64_t chunk) {
            const T* from = data + at.offset[0] + first * step;
            int32_t found = 0;
            for (int64_t j = 0; j < count; j++) found += from[j * step] != T(0);
            counts[chunk] += found;
        };
        if (!in_turn) for_chunks(layout, count_chunk);
        int64_t total = 0;
        for (int64_t k = 0; k < counts.count; k++) {
            const int64_t before = total;
            total += counts[k];
            counts[k] = before;
        }
        for_chunks(layout, [&](const Odometer<2>& at, int64_t first, int64_t count, int64_t chunk) {
            const T* from = data + at.offset[0] + first * step;
            int64_t& done = counts[in_turn ? 0 : chunk];
            int32_t places[CHUNK], found = 0;
            for (int64_t j = 0; j < count; j++) {  // without a branch, which would be guessed wrong half of the time
                places[found] = int32_t(j);
                found += from[j * step] != T(0);
            }
            if (like) {
                int64_t* to = results + done;
                for (int32_t k = 0; k < found; k++) to[k] = at.offset[1] + (first + places[k]) * like_step;
            } else {
                int64_t* row = results + done * layout.ndim;
                for (int32_t k = 0; k < found; k++) {
                    for (int d = 0; d < last; d++) *row++ = at.index[d];
                    *row++ = first + places[k];
                }
            }
            done += found;
        });
    });
}

// ---- Running totals ----------------------------------------------------------------------------------------------

namespace {

// out[i] = x[0] combined with x[1] ... x[i] along axis, in double or int64. -0 changes no first element, 0 changes -0.
template <class T, class F>
void scan_of(const Tensor& x, Tensor& out, int axis, F combine, double empty = -0.0) {
    using Total = std::conditional_t<std::is_floating_point<T>::value, double, int64_t>;
    using Result = std::conditional_t<std::is_floating_point<T>::value, T, int64_t>;
    const int64_t n = x.shape[axis];
    const auto walk = [&](auto lines, auto neighbours, const int64_t* start, const int64_t* apart, auto step,
                          auto out_step) {
        constexpr int LINES = decltype(lines)::value;
        const int64_t from = neighbours ? 1 : apart[0], to = neighbours ? 1 : apart[1];
        const T* source = data_as<const T>(x) + start[0];
        Result* target = data_as<Result>(out) + start[1];
        Total total[LINES];
        for (int k = 0; k < LINES; k++) {
            total[k] = Total(source[k * from]) + Total(empty);
            target[k * to] = Result(total[k]);
        }
        for (int64_t i = 1; i < n; i++) {
            source += step, target += out_step;
            for (int k = 0; k < LINES; k++) {
                total[k] = combine(total[k], Total(source[k * from]));
                target[k * to] = Result(total[k]);
            }
        }
    };
    for_lines_together(x, out, out, axis, [&](auto lines, auto neighbours, const int64_t* start, const int64_t* apart) {
        const std::integral_constant<int64_t, 1> one;
        if (x.strides[axis] == 1 && out.strides[axis] == 1) return walk(lines, neighbours, start, apart, one, one);
        walk(lines, neighbours, start, apart, x.strides[axis], out.strides[axis]);
    });
}

template <class F>
void scan(const Tensor& x, Tensor& out, int axis, double empty, F combine) {
    for_any(x.dtype, [&](auto type) { scan_of<typename decltype(type)::type>(x, out, axis, combine, empty); });
}

}  // namespace

void cumsum_tensor_cpu(const Tensor& x, Tensor& out, int axis) {
    scan(x, out, axis, 0.0, [](auto total, auto value) { return total + value; });
}
void cumprod_tensor_cpu(const Tensor& x, Tensor& out, int axis) {
    scan(x, out, axis, -0.0, [](auto total, auto value) { return total * value; });
}
void logcumsumexp_tensor_cpu(const Tensor& x, Tensor& out, int axis) {
    for_real(x.dtype, [&](auto type) { scan_of<typename decltype(type)::type>(x, out, axis, log_sum); });
}
