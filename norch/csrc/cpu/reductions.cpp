// CPU reductions: sum prod max min any all over any axes.
//
// Two ways through memory, both with the contiguous dimension innermost: along a reduced dimension, in vectors of
// partial results (reduce_rows), or across it, with a buffer of results for a block of columns (reduce_columns).
// ops/reductions.h has the operations.

#include <string.h>

#include "cpu/backend.h"
#include "cpu/loops/reduced_columns.h"
#include "ops/dtype_rules.h"
#include "ops/reduced_dims.h"

inline namespace NORCH_ISA {
namespace {

enum {
    SHORT_BYTES = 32,  // of a row that is reduced faster beside others than on its own
    FEW_BYTES = 1024,  // partial results of a row that is over before more lanes pay
};

// ---- Along the reduced dimension ---------------------------------------------------------------------------------

#ifdef __AVX2__
// Floats are multiplied in double, in vectors of 32 bytes: some processors convert these twice as fast as those of 64.
template <>
double reduce_chunk<Prod<float>>(const float* x, int64_t n) {
    enum { VECTORS = 8, LANES = 4 * VECTORS };
    __m256d product[VECTORS];
    UNROLL for (int k = 0; k < VECTORS; k++) product[k] = _mm256_set1_pd(1);
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        UNROLL for (int k = 0; k < VECTORS; k++) product[k] *= _mm256_cvtps_pd(_mm_loadu_ps(x + i + 4 * k));
    UNROLL for (int k = 1; k < VECTORS; k++) product[0] *= product[k];
    double total = product[0][0] * product[0][1] * product[0][2] * product[0][3];
    for (; i < n; i++) total *= double(x[i]);
    return total;
}

// The floats of n halves for reduce_chunk<Sum<float>>, of which those that fill its lanes are added up on the way.
// Returns how many there are.
template <class T>
int64_t widen_and_add(const T* x, float* buffer, int64_t n) {
    enum { LANES = 2 * LANE_BYTES / sizeof(float), VECTORS = LANES / FLOATS };
    if (n < LANES) return widen_line(x, buffer, n), n;
    Floats sum[VECTORS] = {};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) UNROLL for (int v = 0; v < VECTORS; v++) sum[v] += widened(x + i + v * FLOATS);
    memcpy(buffer, sum, sizeof sum);
    widen_line(x + i, buffer + LANES, n - i);
    return LANES + n - i;
}
#endif

template <class Op, class T>
typename Op::Total reduce_row(const T* x, int64_t n, int64_t stride) {
    // Chunks keep rounding errors small; without any, a row is one chunk. (Those of doubles in place of floats do not count,
    // nor those of halves in longer chunks.)
    constexpr bool is_exact = std::is_same_v<typename Op::Partial, typename Op::Total> && !std::is_same_v<T, double>;
    if constexpr (is_exact && !is_half<T>)
        if (stride == 1) return reduce_chunk<Op>(x, n);
    enum { LENGTH = is_half<T> ? COLUMNS : CHUNK };
    alignas(VECTOR_BYTES) Wide<T> buffer[LENGTH];
    typename Op::Total total = Op::empty();
    for (int64_t i = 0; i < n; i += LENGTH) {
        const int64_t length = smaller(n - i, LENGTH);
#ifdef __AVX2__
        if constexpr (is_half<T> && std::is_same_v<Op, Sum<float>>)
            if (stride == 1) {
                total += reduce_chunk<Op>(buffer, widen_and_add(x + i, buffer, length));
                continue;
            }
#endif
        total = Op::combine(total, reduce_chunk<Op>(side_by_side(buffer, x + i * stride, length, stride), length));
    }
    return total;
}

// The reduced rows from `begin` to `end`, counted from x.
template <class Op, class T>
typename Op::Total reduce_some_rows(const Layout<1>& reduced, const T* x, int64_t begin, int64_t end) {
    const int last = reduced.ndim - 1;
    if (last == 0) return reduce_row<Op>(x, reduced.shape[0], reduced.strides[0][0]);  // the only row
    const int64_t n = reduced.shape[last], stride = reduced.strides[0][last], down = reduced.strides[0][last - 1];
    typename Op::Total total = Op::empty();
    Odometer<1> row(reduced, last);
    row.seek(begin);
    if (n > CHUNK / 8) {
        for (int64_t i = begin; i < end; i++, row.next())
            total = Op::combine(total, reduce_row<Op>(x + row.offset[0], n, stride));
        return total;
    }
    alignas(VECTOR_BYTES) T packed[CHUNK];  // short rows are reduced together
    for (int64_t i = begin, count; i < end; i += count, row.seek(i)) {
        count = smaller(smaller(end - i, CHUNK / n), reduced.shape[last - 1] - row.index[last - 1]);
        T* rows = const_cast<T*>(x) + row.offset[0];
        copy_tile<false>(sizeof(T), reinterpret_cast<char*>(packed), reinterpret_cast<char*>(rows), count, n, down,
                         stride);
        total = Op::combine(total, reduce_row<Op>(packed, count * n, 1));
    }
    return total;
}

// A single result from many elements: totals of blocks, whose size does not depend on the number of threads.
template <class Op, class T>
typename Op::Total reduce_all(const Layout<1>& reduced, const T* x) {
    const int last = reduced.ndim - 1;
    const int64_t n = reduced.shape[last], stride = reduced.strides[0][last], rows = reduced.size / n;
    const int64_t rows_per_block = n < BLOCK ? BLOCK / n : 1, pieces = n < BLOCK ? 1 : (n + BLOCK - 1) / BLOCK;
    const int64_t blocks = (rows + rows_per_block - 1) / rows_per_block * pieces;
    Scratch<typename Op::Total> totals(blocks);
    parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; k++) {
            const int64_t row = k / pieces * rows_per_block, start = k % pieces * BLOCK;
            if (pieces == 1) {
                totals[k] =
                    reduce_some_rows<Op>(reduced, x, row, row + rows_per_block < rows ? row + rows_per_block : rows);
            } else {
                Odometer<1> at(reduced, last);
                at.seek(row);
                totals[k] = reduce_row<Op>(x + at.offset[0] + start * stride,
                                           n - start < BLOCK ? n - start : int64_t(BLOCK), stride);
            }
        }
    });
    typename Op::Total total = Op::empty();
    for (int64_t k = 0; k < blocks; k++) total = Op::combine(total, totals[k]);
    return total;
}

// What operations need to write a total.
template <class Op, class To>
struct Writing {
    int64_t repeats;
    To of(typename Op::Total total) const { return convert<To>(typename Op::Result(Op::repeated(total, repeats))); }
};

// Nothing is reduced: each element by itself.
template <class Op, class T, class To>
void reduce_none(const Layout<2>& kept, Writing<Op, To> writing, const T* x, To* out) {
    using Total = typename Op::Total;
    const int64_t step = kept.strides[0][0], out_step = kept.strides[1][0];
    parallel_for(kept.size, SMALL_WORK, [=](int64_t begin, int64_t end) {
        if constexpr (is_half<To>) {
            alignas(VECTOR_BYTES) float buffer[CHUNK];
            for (int64_t i = begin; i < end; i += CHUNK) {
                const int64_t count = smaller(end - i, CHUNK);
                gather(buffer, x + i * step, count, step);
                for (int64_t k = 0; k < count; k++)
                    buffer[k] = float(Op::repeated(Total(Op::lift(buffer[k])), writing.repeats));
                scatter(buffer, out + i * out_step, count, out_step);
            }
        } else {
            for (int64_t i = begin; i < end; i++)
                out[i * out_step] = writing.of(Total(Op::lift(convert<Wide<T>>(x[i * step]))));
        }
    });
}

// Rows of n elements, `step` apart: those with gaps are packed, those of 16 bits widened, many together.
template <class Op, class T, class To>
void reduce_short_rows(int64_t rows, int64_t n, int64_t stride, int64_t step, Writing<Op, To> writing, const T* x,
                       To* out, int64_t out_step) {
    parallel_for(rows, 1 + SMALL_WORK / (n + 1), [=](int64_t begin, int64_t end) {
        alignas(VECTOR_BYTES) T packed[CHUNK];
        alignas(VECTOR_BYTES) Wide<T> buffer[CHUNK];
        const int64_t most = stride == 1 && !is_half<T> ? rows : CHUNK / n;
        for (int64_t i = begin, count; i < end; i += count) {
            count = smaller(most, end - i);
            T* first = const_cast<T*>(x) + i * step;
            const bool packs = stride != 1 || (is_half<T> && step != n);
            if (packs)
                copy_tile<false>(sizeof(T), reinterpret_cast<char*>(packed), reinterpret_cast<char*>(first), count, n,
                                 step, stride);
            const Wide<T>* row = side_by_side(buffer, packs ? packed : first, count * n, 1);
            for (int64_t k = 0, down = packs ? n : step; k < count; k++)
                out[(i + k) * out_step] = writing.of(reduce_few<Op>(row + k * down, n));
        }
    });
}

// For each element of out (operand 1 of kept) the reduced dimensions are walked, row by row.
template <class Op, class T, class To>
void reduce_rows(const Layout<2>& kept, const Layout<1>& reduced, int64_t repeats, const T* x, To* out) {
    const Writing<Op, To> writing = {repeats};
    if (kept.size == 1 && reduced.size > BLOCK) {
        *out = writing.of(reduce_all<Op>(reduced, x));
        return;
    }
    if (reduced.size == 1 && kept.ndim == 1) return reduce_none(kept, writing, x, out);
    const int64_t n = reduced.shape[reduced.ndim - 1], rows = reduced.size > 0 ? reduced.size / n : 0;
    const int64_t step = kept.strides[0][0], out_step = kept.strides[1][0];
    const int64_t stride = reduced.strides[0][reduced.ndim - 1];
    if (kept.ndim == 1 && rows == 1 && n <= smaller(CHUNK, FEW_BYTES / sizeof(typename Op::Partial)))
        return reduce_short_rows(kept.size, n, stride, step, writing, x, out, out_step);
    parallel_for(kept.size, 1 + SMALL_WORK / (reduced.size + 1), [&](int64_t begin, int64_t end) {
        auto reduce = [&](int64_t from, int64_t to) {
            out[to] = writing.of(reduce_some_rows<Op>(reduced, x + from, 0, rows));
        };
        if (kept.ndim == 1) {  // the rows are evenly spaced
            for (int64_t i = begin; i < end; i++) reduce(i * step, i * out_step);
            return;
        }
        Odometer<2> at(kept, kept.ndim);
        at.seek(begin);
        for (int64_t i = begin; i < end; i++, at.next()) reduce(at.offset[0], at.offset[1]);
    });
}

// ---- The choice between the two ----------------------------------------------------------------------------------

template <template <class> class Op>
void reduce(const Tensor& x, Tensor& out) {
    if (out.size == 0) return;
    Tensor once = x, result = out;  // where x repeats along a kept dimension, the result does
    for (int d = 0; d < x.ndim; d++)
        if (x.strides[d] == 0 && out.shape[d] == x.shape[d]) once.shape[d] = result.shape[d] = 1, result.strides[d] = 0;
    result.size = count_elements(result.shape, result.ndim);
    if (result.size < out.size) {
        once.size = count_elements(once.shape, once.ndim);
        reduce<Op>(once, result);
        memcpy(result.shape, out.shape, sizeof out.shape);
        result.size = out.size;
        return assign_tensor_cpu(result, out);
    }
    ReducedDims dims = reduced_dims(x, out);
    const int64_t repeats = take_repeats(dims.reduced), step = dims.reduced.strides[0][dims.reduced.ndim - 1];
    const int64_t few = step == 1 ? smaller(FEW, SHORT_BYTES / item_size(x.dtype)) : int64_t(FEW);
    const bool is_short = dims.reduced.size <= few;    // then rows side by side, even along the smallest stride
    const int64_t least = dims.kept.ndim > 1 ? 1 : 2;  // of a single row nothing is reduced
    const bool across = dims.reduced.size >= least && (step != 1 || is_short) &&
                        bring_columns_last(dims.kept, is_short ? FEW + 1 : step);
    auto run = [&](auto type) {
        using T = AsByte<typename decltype(type)::type>;
        using Reducing = Op<Wide<T>>;
        using Result = typename Reducing::Result;
        const T* from = data_as<const T>(x);
        if constexpr (std::is_same_v<T, float> && std::is_same_v<typename Reducing::Total, double>)
            if (out.dtype == FLOAT64) {  // the total of a block, not rounded (recording/chains.cpp)
                *data_as<double>(out) = reduce_some_rows<Reducing>(dims.reduced, from, 0, 1);
                return;
            }
        auto to = static_cast<std::conditional_t<std::is_same_v<Result, Wide<T>>, T, Result>*>(out.data);
        if (across) return reduce_columns<Reducing>(dims.kept, dims.reduced, repeats, from, to);
        reduce_rows<Reducing>(dims.kept, dims.reduced, repeats, from, to);
    };
    if (x.dtype == FLOAT16) return run(Type<Half>());
    if (x.dtype == BFLOAT16) return run(Type<BFloat16>());
    if constexpr (std::is_same_v<Op<float>, SumSquares<float>>) return for_real(x.dtype, run);
    if (x.dtype == INT64) return run(Type<int64_t>());  // for every instruction set
#ifndef NORCH_REALS_ONLY
    constexpr bool tests = std::is_same_v<typename Op<float>::Result, bool>;  // bytes, whose sign does not count
    if (x.dtype == INT8) return run(Type<std::conditional_t<tests, uint8_t, int8_t>>());
    if (x.dtype == INT16) return run(Type<int16_t>());
#endif
    for_any(x.dtype, run);
}

}  // namespace

// K(sum, Sum, ...) becomes
//
//     void sum_tensor_cpu(const Tensor& x, Tensor& out) {
//         for (int64_t i = 0; i < x.size; i++) total = Sum::combine(total, x.data[i]);
//         out.data[0] = total;
//     }
//
// for each element of out and the elements of x along the reduced axes, in any order.
#define REDUCTION_CPU(name, Op, result, has_empty)         \
    void name##_tensor_cpu(const Tensor& x, Tensor& out) { \
        if (x.dtype != INT64) {                            \
            INTEGERS_IN_AVX2(x.dtype, name, x, out);   \
        }                                                  \
        reduce<Op>(x, out);                                \
    }
REDUCTIONS(REDUCTION_CPU)
void sum_squares_tensor_cpu(const Tensor& x, Tensor& out) { reduce<SumSquares>(x, out); }

}  // namespace NORCH_ISA
