// The index of the largest or smallest element along an axis, on the CPU: argmax and argmin.

#include "cpu/backend.h"
#include "cpu/loops/small_groups.h"
#include "host/parallel.h"
#include "ops/dtype_rules.h"
#include "ops/reduced_dims.h"

inline namespace NORCH_ISA {
namespace {

// The first of n <= CHUNK elements that is `best`, or NaN: the smallest of all such indices, which g++ takes in vectors.
template <class T>
int32_t index_of(const T* x, int32_t n, T best) {
    int32_t first = n;
    for (int32_t j = 0; j < n; j++) {
        const int32_t here = (x[j] == best) | (x[j] != x[j]) ? j : n;
        first = here < first ? here : first;
    }
    return first;
}

// Chunk by chunk: the extreme of a chunk is found in vectors; only a chunk that improves on the best is searched.
template <class Op, class T>
int64_t index_of_extreme(const T* x, int64_t n, int64_t stride) {
    T buffer[CHUNK];
    T best = x[0];
    int64_t index = 0;
    for (int64_t i = 0; i < n; i += CHUNK) {
        const int64_t length = smaller(CHUNK, n - i);
        const T* chunk = side_by_side(buffer, x + i * stride, length, stride);
        const T extreme = reduce_chunk<Op>(chunk, length);
        if (!Op::replaces(extreme, best)) continue;
        best = extreme;
        index = i + index_of(chunk, int32_t(length), best);
    }
    return index;
}

// The same of many elements: of blocks, then among those that are found.
template <class Op, class T>
int64_t index_among_all(const T* x, int64_t n, int64_t stride) {
    const int64_t blocks = (n + BLOCK - 1) / BLOCK;
    Scratch<int64_t> found(blocks);
    parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
        for (int64_t k = begin * BLOCK; k < smaller(end * BLOCK, n); k += BLOCK)
            found[k / BLOCK] = k + index_of_extreme<Op>(x + k * stride, smaller(BLOCK, n - k), stride);
    });
    int64_t index = found[0];
    for (int64_t k = 1; k < blocks; k++)
        if (Op::replaces(x[found[k] * stride], x[index * stride])) index = found[k];
    return index;
}

enum { INDEX_COLUMNS = COLUMNS / 4 };  // at a time, for several threads

// Across the axis x has steps of STEP: the rows are compared one after another, INDEX_COLUMNS of them at a time.
template <class Op, int STEP, class T>
void index_rows(const T* x, int64_t n, int64_t stride, int64_t columns, int64_t* out, int64_t out_stride) {
    T best[INDEX_COLUMNS];
    int64_t index[INDEX_COLUMNS];
    for (int64_t j = 0; j < columns; j++) best[j] = x[j * STEP], index[j] = 0;
    for (int64_t i = 1; i < n; i++) {
        const T* row = x + i * stride;
        for (int64_t j = 0; j < columns; j++) {
            const T next = row[j * STEP];
            const bool better = Op::replaces(next, best[j]);
            index[j] = better ? i : index[j];
            best[j] = better ? next : best[j];
        }
    }
    for (int64_t j = 0; j < columns; j++) out[j * out_stride] = index[j];
}

// The same for any step, which a few rows are packed for.
template <class Op, class T>
void index_rows(const T* x, int64_t n, int64_t stride, int64_t columns, int64_t step, int64_t* out,
                int64_t out_stride) {
    if (step == 1) return index_rows<Op, 1>(x, n, stride, columns, out, out_stride);
    if (step == 2) return index_rows<Op, 2>(x, n, stride, columns, out, out_stride);
    T packed[FEW * INDEX_COLUMNS];
    for (int64_t i = 0; i < n; i++)
        copy_line<T, false>(packed + i * columns, const_cast<T*>(x) + i * stride, columns, step);
    index_rows<Op, 1>(packed, n, columns, columns, out, out_stride);
}

// Columns that are few, in many groups
template <class Op, class T>
void index_small_groups(const Layout<2>& kept, const T* x, int64_t n, int64_t stride, int64_t* out) {
    const int64_t step = kept.strides[1][kept.ndim - 1];
    for_small_groups(kept, n, stride, x, [=](const T* packed, Groups groups) {
        int64_t index[COLUMNS], *to = out + groups.place;
        for (int64_t j = 0; j < groups.columns; j += INDEX_COLUMNS)
            index_rows<Op, 1>(packed + j, n, groups.columns, smaller(INDEX_COLUMNS, groups.columns - j), index + j, 1);
        for (int64_t c = 0; c < groups.columns; c += groups.width, to += groups.next)
            for (int64_t j = 0; j < groups.width; j++) to[j * step] = index[c + j];
    });
}

template <template <class> class Op>
void arg_reduce(const Tensor& x, Tensor& out, int axis) {
    if (out.size == 0) return;
    const int64_t n = x.shape[axis], stride = x.strides[axis];
    Layout<2> kept = reduced_dims(x, out).kept;
    const int last = kept.ndim - 1;
    const bool across = (stride != 1 || n <= FEW) && bring_columns_last(kept, n <= FEW ? FEW + 1 : 3) &&
                        (are_small_groups(kept, n) || kept.shape[last] >= FEW / 2);
    const int64_t width = across ? kept.shape[last] : 1, columns = smaller(width, INDEX_COLUMNS);
    const int64_t blocks = (width + columns - 1) / columns;  // of columns, for each position of the other dimensions
    for_any(x.dtype, [&](auto type) {
        using T = AsByte<typename decltype(type)::type>;
        const T* from = data_as<const T>(x);
        int64_t* to = data_as<int64_t>(out);
        if (kept.size == 1 && n > BLOCK) {
            *to = index_among_all<Op<T>>(from, n, stride);
            return;
        }
        if (across && are_small_groups(kept, n)) return index_small_groups<Op<T>>(kept, from, n, stride, to);
        parallel_for(kept.size / width * blocks, 1 + SMALL_WORK / (n * columns), [&](int64_t begin, int64_t end) {
            Odometer<2> at(kept, across ? last : kept.ndim);
            at.seek(begin / blocks);
            for (int64_t k = begin; k < end; k++) {
                const T* start = from + at.offset[0];
                int64_t* result = to + at.offset[1];
                const int64_t j = k % blocks * columns, out_stride = kept.strides[1][last];
                const int64_t count = smaller(columns, width - j);
                const int64_t step = kept.strides[0][last];
                if (across)
                    index_rows<Op<T>>(start + j * step, n, stride, count, step, result + j * out_stride, out_stride);
                else
                    *result = index_of_extreme<Op<T>>(start, n, stride);
                if (j + columns >= width) at.next();
            }
        });
    });
}

}  // namespace

void argmax_tensor_cpu(const Tensor& x, Tensor& out, int axis) {
    INTEGERS_IN_AVX2(x.dtype, argmax, x, out, axis);
    arg_reduce<Max>(x, out, axis);
}
void argmin_tensor_cpu(const Tensor& x, Tensor& out, int axis) {
    INTEGERS_IN_AVX2(x.dtype, argmin, x, out, axis);
    arg_reduce<Min>(x, out, axis);
}

}  // namespace NORCH_ISA
