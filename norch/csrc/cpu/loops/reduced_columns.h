// Reductions across the reduced dimension: a row of results from many rows, a block of columns at a time.

#pragma once
#include <string.h>

#include "cpu/loops/chunks.h"
#include "cpu/loops/small_groups.h"
#include "host/parallel.h"
#include "ops/reduced_dims.h"

inline namespace NORCH_ISA {
namespace {

enum {
    ROWS = 128,   // rows added into partial results before these are added to the totals
    ABREAST = 8,  // rows at least that are packed where they have gaps or are widened
    NARROW = 64,  // columns of which several rows are taken side by side
};

// Combines FEW rows or less x[j], x[j + stride], ..., a vector of columns through all of them, and calls put(j, total).
// Returns the number of these columns; those after them fill no vector.
template <class Op, class T, class F>
int64_t combine_few_rows(const T* x, int64_t count, int64_t stride, int64_t columns, F put) {
    using Partial = typename Op::Partial;
    enum { LANES = 2 * LANE_BYTES / sizeof(Partial) };
    int64_t j = 0;
    for (; j + LANES <= columns; j += LANES) {
        Partial lanes[LANES];
        for (int k = 0; k < LANES; k++) lanes[k] = Partial(Op::empty());
        for (int64_t i = 0; i < count; i++) {
            const T* row = x + i * stride + j;
            for_lanes<LANES>(lanes, [=](Partial lane, int k) { return Op::combine(lane, Op::lift(row[k])); });
        }
        INDEPENDENT for (int k = 0; k < LANES; k++) put(j + k, typename Op::Total(lanes[k]));
    }
    return j;
}
// The same, added to totals.
template <class Op, class T>
int64_t add_few_rows(const T* x, int64_t count, int64_t stride, int64_t columns, typename Op::Total* totals) {
    return combine_few_rows<Op>(x, count, stride, columns, [=](int64_t j, typename Op::Total total) {
        totals[j] = Op::combine(totals[j], total);
    });
}

// Adds `count` rows to totals: few at once, of more of them several in a pass, so that the buffer is seldom touched.
template <class Op, class T>
__attribute__((noinline)) void add_rows(const T* x, int64_t count, int64_t stride, int64_t columns,
                                        typename Op::Total* totals) {
    using Partial = typename Op::Partial;
    using Total = typename Op::Total;
    constexpr bool IS_TOTAL = std::is_same_v<Partial, Total>;
    if (count <= FEW) {
        const int64_t done = add_few_rows<Op>(x, count, stride, columns, totals);
        x += done, totals += done, columns -= done;
        if (columns == 0) return;
    }
    alignas(VECTOR_BYTES) Partial buffer[IS_TOTAL ? 1 : COLUMNS], *partial = buffer;
    if constexpr (IS_TOTAL) partial = totals;
    for (int64_t start = 0; start < count; start += ROWS) {
        const int64_t end = start + ROWS < count ? start + ROWS : count;
        int64_t i = start;
        if constexpr (!IS_TOTAL)
            for (int64_t j = 0; j < columns; j++) partial[j] = Partial(Op::empty());
        for (; i + 8 <= end; i += 8) {
            const T* row = x + i * stride;
            INDEPENDENT for (int64_t j = 0; j < columns; j++) {
                auto pair = [&](int k) {
                    return Op::combine(Op::lift(row[k * stride + j]), Op::lift(row[(k + 1) * stride + j]));
                };
                const Partial eight = Op::combine(Op::combine(pair(0), pair(2)), Op::combine(pair(4), pair(6)));
                partial[j] = Op::combine(partial[j], eight);
            }
        }
        for (; i + 2 <= end; i += 2) {
            const T* row = x + i * stride;
            INDEPENDENT for (int64_t j = 0; j < columns; j++) partial[j] =
                Op::combine(partial[j], Op::combine(Op::lift(row[j]), Op::lift(row[stride + j])));
        }
        const T* last = x + i * stride;
        if (i < end)
            INDEPENDENT for (int64_t j = 0; j < columns; j++) partial[j] = Op::combine(partial[j], Op::lift(last[j]));
        if constexpr (!IS_TOTAL)
            for (int64_t j = 0; j < columns; j++) totals[j] = Op::combine(totals[j], Total(partial[j]));
    }
}

#ifdef __AVX2__
template <>
void add_rows<Prod<float>>(const float* x, int64_t count, int64_t stride, int64_t columns, double* totals) {
    enum { TOGETHER = 8, LANES = 4 };
    if (count < TOGETHER) {
        const int64_t done = add_few_rows<Prod<float>>(x, count, stride, columns, totals);
        x += done, totals += done, columns -= done;
    }
    int64_t i = 0;
    for (; i + TOGETHER <= count; i += TOGETHER) {
        const float* row = x + i * stride;
        int64_t j = 0;
        for (; j + LANES <= columns; j += LANES) {
            __m256d product[TOGETHER];
            UNROLL for (int k = 0; k < TOGETHER; k++) product[k] = _mm256_cvtps_pd(_mm_loadu_ps(row + k * stride + j));
            UNROLL for (int half = TOGETHER / 2; half > 0; half /= 2) UNROLL for (int k = 0; k < half; k++)
                product[k] *= product[k + half];
            _mm256_storeu_pd(totals + j, _mm256_loadu_pd(totals + j) * product[0]);
        }
        for (; j < columns; j++)
            for (int k = 0; k < TOGETHER; k++) totals[j] *= double(row[k * stride + j]);
    }
    for (; i < count; i++)
        for (int64_t j = 0; j < columns; j++) totals[j] *= double(x[i * stride + j]);
}
#endif

#ifdef __AVX2__
// Sums of halves, which are widened in registers
template <class T>
int64_t add_narrow_rows(const T* x, int64_t count, int64_t stride, int64_t columns, double* totals) {
    enum { VECTORS = 4 };
    int64_t j = 0;
    for (; j + VECTORS * FLOATS <= columns; j += VECTORS * FLOATS) {
        for (int64_t start = 0; start < count; start += ROWS) {
            Floats sum[VECTORS] = {};
            for (int64_t i = start; i < smaller(start + ROWS, count); i++)
                UNROLL for (int v = 0; v < VECTORS; v++) sum[v] += widened(x + i * stride + j + v * FLOATS);
            UNROLL for (int v = 0; v < VECTORS; v++) KEPT_TOGETHER for (int k = 0; k < FLOATS; k++)
                totals[j + v * FLOATS + k] += double(sum[v][k]);
        }
    }
    return j;
}
#endif

// The same for columns that are `step` apart.
template <class Op, class T>
void add_rows(const T* x, int64_t count, int64_t stride, int64_t columns, int64_t step, typename Op::Total* totals) {
    if constexpr (!is_half<T>) {
        if (step == 1) return add_rows<Op>(x, count, stride, columns, totals);
        if (step == 2) {  // the elements between, which are there, are reduced too
            typename Op::Total both[COLUMNS];
            for (int64_t first = 0; first < columns; first += COLUMNS / 2) {
                const int64_t width = smaller(COLUMNS / 2, columns - first);
                for (int64_t c = 0; c < 2 * width; c++) both[c] = Op::empty();
                add_rows<Op>(x + 2 * first, count, stride, 2 * width - 1, both);
                for (int64_t c = 0; c < width; c++) totals[first + c] = Op::combine(totals[first + c], both[2 * c]);
            }
            return;
        }
    }
#ifdef __AVX2__
    if constexpr (is_half<T> && std::is_same_v<Op, Sum<float>>) {
        const int64_t done = step == 1 ? add_narrow_rows(x, count, stride, columns, totals) : 0;
        x += done, totals += done, columns -= done;
    }
#endif
    alignas(VECTOR_BYTES) Wide<T> packed[PACKED];
    for (int64_t first = 0; first < columns; first += PACKED / ABREAST) {
        const int64_t width = smaller(PACKED / ABREAST, columns - first), height = PACKED / width;
        for (int64_t start = 0; start < count; start += height) {
            const int64_t rows = smaller(height, count - start);
            for (int64_t i = 0; i < rows; i++)
                side_by_side(packed + i * width, x + (start + i) * stride + first * step, width, step);
            add_rows<Op>(packed, rows, width, width, totals + first);
        }
    }
}

template <class Op, class To>
void write_results(const typename Op::Total* totals, int64_t columns, int64_t repeats, To* out, int64_t step) {
    using Result = typename Op::Result;
    if constexpr (is_half<To>) {
        float results[COLUMNS];
        for (int64_t c = 0; c < columns; c++) results[c] = Result(Op::repeated(totals[c], repeats));
        scatter(results, out, columns, step);
    } else {
        if (repeats == 1 && step == 1)
            INDEPENDENT for (int64_t c = 0; c < columns; c++) out[c] = Result(totals[c]);
        else
            for (int64_t c = 0; c < columns; c++) out[c * step] = Result(Op::repeated(totals[c], repeats));
    }
}

// A single row of results, at most COLUMNS of them, from many rows: totals of pieces, whose height does not depend on
// the number of threads.
template <class Op, class T, class To>
void reduce_long_columns(const Layout<2>& kept, const Layout<1>& reduced, int64_t repeats, const T* x, To* out) {
    using Total = typename Op::Total;
    const int across = kept.ndim - 1;
    const int64_t width = kept.shape[across], step = kept.strides[0][across];
    const bool touch = reduced.strides[0][0] == width * step;  // then columns that are few come several times a row
    const int64_t abreast = touch && width < NARROW ? NARROW / width : 1, columns = width * abreast;
    const int64_t rows = reduced.shape[0] / abreast, row = reduced.strides[0][0] * abreast;
    const int64_t height = 1 + BLOCK / columns, pieces = (rows + height - 1) / height;
    Scratch<Total> totals(pieces * columns);
    parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; k++) {
            Total* piece = &totals[k * columns];
            for (int64_t c = 0; c < columns; c++) piece[c] = Op::empty();
            add_rows<Op>(x + k * height * row, smaller(height, rows - k * height), row, columns, step, piece);
        }
    });
    for (int64_t start = width; start < pieces * columns; start += width)
        INDEPENDENT for (int64_t c = 0; c < width; c++) totals[c] = Op::combine(totals[c], totals[start + c]);
    add_rows<Op>(x + rows * row, reduced.shape[0] % abreast, reduced.strides[0][0], width, step, totals.data);
    write_results<Op>(totals.data, width, repeats, out, kept.strides[1][across]);
}

// Columns that are few, in many groups of rows that are reduced: see small_groups.h.
template <class Op, class T, class To>
void reduce_small_groups(const Layout<2>& kept, const Layout<1>& reduced, int64_t repeats, const T* x, To* out) {
    const int64_t n = reduced.shape[0], step = kept.strides[1][kept.ndim - 1];
    for_small_groups(kept, n, reduced.strides[0][0], x, [=](const T* packed, Groups groups) {
        alignas(VECTOR_BYTES) typename Op::Total totals[COLUMNS];
        for (int64_t c = 0; c < groups.columns; c++) totals[c] = Op::empty();
        add_rows<Op>(packed, n, groups.columns, groups.columns, 1, totals);
        To* to = out + groups.place;
        const int64_t width = step == 1 && groups.next == groups.width ? groups.columns : groups.width;
        for (int64_t c = 0; c < groups.columns; c += width, to += groups.next)
            write_results<Op>(totals + c, width, repeats, to, step);
    });
}

// The last dimension of kept has the smallest stride in x.
template <class Op, class T, class To>
void reduce_columns(const Layout<2>& kept, const Layout<1>& reduced, int64_t repeats, const T* x, To* out) {
    using Total = typename Op::Total;
    const int last = reduced.ndim - 1, across = kept.ndim - 1;
    const int64_t width = kept.shape[across], step = kept.strides[0][across];
    if (kept.size == width && width <= COLUMNS && reduced.ndim == 1 && reduced.size * width > 2 * BLOCK)
        return reduce_long_columns<Op>(kept, reduced, repeats, x, out);
    if (last == 0 && are_small_groups(kept, reduced.size))
        return reduce_small_groups<Op>(kept, reduced, repeats, x, out);
    const int64_t blocks = (width + COLUMNS - 1) / COLUMNS, items = kept.size / width * blocks;
    const bool are_few = reduced.size <= FEW && last == 0 && repeats == 1 && step == 1 && kept.strides[1][across] == 1;
    parallel_for(items, 1 + SMALL_WORK / (reduced.size * smaller(width, COLUMNS)), [&](int64_t begin, int64_t end) {
        alignas(VECTOR_BYTES) Total totals[COLUMNS];
        Odometer<2> at(kept, across);
        at.seek(begin / blocks);
        for (int64_t k = begin; k < end; k++) {
            int64_t j = k % blocks * COLUMNS, columns = smaller(width - j, COLUMNS);
            if constexpr (!is_half<T>) {
                if (are_few) {
                    To* to = out + at.offset[1] + j;
                    const int64_t done =
                        combine_few_rows<Op>(x + at.offset[0] + j, reduced.size, reduced.strides[0][0], columns,
                                             [=](int64_t c, Total total) { to[c] = typename Op::Result(total); });
                    j += done, columns -= done;
                }
            }
            for (int64_t c = 0; c < columns; c++) totals[c] = Op::empty();
            Odometer<1> row(reduced, last);
            do {
                const T* start = x + at.offset[0] + row.offset[0] + j * step;
                add_rows<Op>(start, reduced.shape[last], reduced.strides[0][last], columns, step, totals);
            } while (row.next());
            const int64_t out_step = kept.strides[1][across];
            write_results<Op>(totals, columns, repeats, out + at.offset[1] + j * out_step, out_step);
            if (j + columns == width) at.next();
        }
    });
}

}  // namespace
}  // namespace NORCH_ISA
