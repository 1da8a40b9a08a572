// CUDA reductions: sum prod max min any all over any axes, argmax and argmin along one. A part of cuda.cu.
//
// A block is a rectangle of threads: threadIdx.x counts results, threadIdx.y the elements that are combined into one of
// them, first by each thread for itself, then by halves through shared memory. If there are few results of many
// elements, several rows of blocks share the elements, write partial results into a buffer, and a second launch
// combines them. Every order is fixed by the shapes alone: a sum is the same in every run.

#pragma once
#include "cuda/block.cuh"
#include "cuda/layout.cuh"
#include "ops/reductions.h"
#include "ops/reduced_dims.h"

namespace {

enum {
    REDUCE_THREADS = 256,
    PARTIAL = 8,              // elements combined in the type of partial results
    COLUMNS = 32,             // results of a block if x is contiguous across the reduced dimensions
    ELEMENTS_PER_THREAD = 32  // before the elements of a result are dealt out to several blocks
};

// ---- The index of the extreme, as one more operation -------------------------------------------------------------

// A candidate for argmax: its value and where it is; the index is -1 before the first.
template <class T>
struct Candidate {
    T value;
    int64_t index;
};

template <class T, bool LARGEST>
struct ArgExtreme {
    using Total = Candidate<T>;
    using Partial = Total;
    using Result = int64_t;
    static __device__ Total empty() { return {T(), -1}; }
    // The first of equals wins, and the first NaN over all: the order in which candidates meet does not matter.
    static __device__ Total combine(Total a, Total b) {
        if (a.index < 0 || b.index < 0) return a.index < 0 ? b : a;
        const Total early = a.index < b.index ? a : b, late = a.index < b.index ? b : a;
        return Extreme<T, LARGEST>::replaces(late.value, early.value) ? late : early;
    }
};
template <class T>
using ArgMax = ArgExtreme<T, true>;
template <class T>
using ArgMin = ArgExtreme<T, false>;

// An element as the operation takes it; of a total of the first stage it is the total itself.
template <class Op, class T>
struct Lift {
    static __device__ typename Op::Partial of(T x, int64_t) { return Op::lift(x); }
};
template <class T, bool LARGEST>
struct Lift<ArgExtreme<T, LARGEST>, T> {
    static __device__ Candidate<T> of(T x, int64_t index) { return {x, index}; }
};

// The second stage: combines totals.
template <class Op>
struct Again : Op {
    using Partial = typename Op::Total;
};
template <class Op>
struct Lift<Again<Op>, typename Op::Total> {
    static __device__ typename Op::Total of(typename Op::Total x, int64_t) { return x; }
};

// What is written: a total for the second stage, or the result.
template <class T, class R>
__device__ void store(R* out, T total) {
    *out = R(total);
}
template <class T>
__device__ void store(int64_t* out, Candidate<T> total) {
    *out = total.index;
}

// ---- The kernel --------------------------------------------------------------------------------------------------

// Combines elements start, start + step, ... below end; along the fast path PARTIAL of them at a time.
template <class Op, class T>
__device__ typename Op::Total reduce_part(const T* x, const Strides<1>& reduced, int64_t start, int64_t end,
                                          int64_t step) {
    using Total = typename Op::Total;
    Total total = Op::empty();
    int64_t i = start;
#pragma unroll 1
    for (; reduced.simple() && i + (PARTIAL - 1) * step < end; i += PARTIAL * step) {
        T values[PARTIAL];
#pragma unroll
        for (int k = 0; k < PARTIAL; k++) values[k] = x[reduced.step_to(i + k * step).of[0]];
        typename Op::Partial partial = Lift<Op, T>::of(values[0], i);
#pragma unroll
        for (int k = 1; k < PARTIAL; k++) partial = Op::combine(partial, Lift<Op, T>::of(values[k], i + k * step));
        total = Op::combine(total, Total(partial));
    }
#pragma unroll 1
    for (; i < end; i += step) total = Op::combine(total, Total(Lift<Op, T>::of(x[reduced.locate(i).of[0]], i)));
    return total;
}

// Block (bx, by) combines the by-th stretch of elements of results bx * blockDim.x ... and writes them to the by-th row
// of out: the buffer of the first stage, or the result where a single row of blocks is enough.
template <class Op, class T, class R>
__global__ void __launch_bounds__(REDUCE_THREADS)
    reduce_kernel(const T* x, R* out, Strides<2> kept, Strides<1> reduced, int64_t stretch) {
    using Total = typename Op::Total;
    __shared__ Total totals[REDUCE_THREADS];
    Total* mine = totals + threadIdx.y * blockDim.x + threadIdx.x;
    const int64_t start = blockIdx.y * stretch;
    const int64_t end = start + stretch < reduced.size ? start + stretch : reduced.size;
    const int64_t step = int64_t(gridDim.x) * blockDim.x;
#pragma unroll 1
    for (int64_t first = int64_t(blockIdx.x) * blockDim.x; first < kept.size; first += step) {
        const int64_t result = first + threadIdx.x;
        const Offsets<2> at = kept.locate(result < kept.size ? result : 0);
        *mine = Op::empty();
        if (result < kept.size) *mine = reduce_part<Op>(x + at.of[0], reduced, start + threadIdx.y, end, blockDim.y);
        __syncthreads();
#pragma unroll 1
        for (int half = blockDim.y / 2; half > 0; half /= 2) {
            if (int(threadIdx.y) < half) *mine = Op::combine(*mine, mine[half * blockDim.x]);
            __syncthreads();
        }
        if (threadIdx.y == 0 && result < kept.size) store(out + blockIdx.y * kept.size + at.of[1], *mine);
    }
}

// ---- The launchers -----------------------------------------------------------------------------------------------

// How the threads of a block are shared between results and the elements of one; few of both do with a smaller block.
dim3 block_for(bool across, int64_t results, int64_t elements) {
    unsigned rows = 1, columns = 1;
    const unsigned limit = across ? REDUCE_THREADS / COLUMNS : REDUCE_THREADS;
    while (rows < elements && rows < limit) rows *= 2;
    while ((columns < results || rows * columns < WARP) && rows * columns < REDUCE_THREADS) columns *= 2;
    return dim3(columns, rows);
}

template <class Op, class T, class R>
void launch_reduce(const T* x, R* out, const Layout<2>& kept, const Layout<1>& reduced, dim3 block, int64_t rows,
                   cudaStream_t stream, const char* name) {
    int64_t columns = (kept.size + block.x - 1) / block.x;
    if (columns > MAX_BLOCKS) columns = MAX_BLOCKS;
    const int64_t stretch = (reduced.size + rows - 1) / rows;
    reduce_kernel<Op, T, R><<<dim3(unsigned(columns), unsigned(rows)), block, 0, stream>>>(
        x, out, Strides<2>(kept), Strides<1>(reduced), stretch);
    check_launch(name);
}

// The number of blocks that the elements of a result are dealt out to.
int64_t rows_of_blocks(int64_t results, int64_t elements, dim3 block) {
    const int64_t columns = (results + block.x - 1) / block.x, work = int64_t(block.y) * ELEMENTS_PER_THREAD;
    const int64_t wanted = (ENOUGH_BLOCKS + columns - 1) / columns, useful = (elements + work - 1) / work;
    const int64_t rows = wanted < useful ? wanted : useful;
    return rows > 1 ? rows : 1;
}

Layout<1> one_dimension(int64_t size, int64_t stride) {
    Layout<1> layout = {};
    layout.ndim = 1;
    layout.size = layout.shape[0] = size;
    layout.strides[0][0] = stride;
    return layout;
}

// Element i of both operands lies at i: what the first stage writes and the second reads.
Layout<2> side_by_side(int64_t size) {
    Layout<2> layout = {};
    layout.ndim = 1;
    layout.size = layout.shape[0] = size;
    layout.strides[0][0] = layout.strides[1][0] = 1;
    return layout;
}

template <class Op, class T, class R>
void reduce(const char* name, const Tensor& x, Tensor& out) {
    cudaStream_t stream = use(out.device);
    ReducedDims dims = reduced_dims(x, out);
    const Layout<1>& reduced = dims.reduced;
    const bool along = reduced.size <= 1 || reduced.strides[0][reduced.ndim - 1] == 1;
    const bool across = !along && bring_columns_last(dims.kept) && dims.kept.shape[dims.kept.ndim - 1] >= COLUMNS / 2;
    const dim3 block = block_for(across, out.size, reduced.size);
    const int64_t results = out.size, rows = rows_of_blocks(results, reduced.size, block);
    const T* from = data_as<const T>(x);
    R* to = data_as<R>(out);
    if (rows == 1) return launch_reduce<Op, T, R>(from, to, dims.kept, reduced, block, 1, stream, name);

    using Total = typename Op::Total;
    DeviceScratch<Total> totals(rows * results, out.device);
    launch_reduce<Op, T, Total>(from, totals.data, dims.kept, reduced, block, rows, stream, name);
    launch_reduce<Again<Op>, Total, R>(totals.data, to, side_by_side(results), one_dimension(rows, results),
                                       block_for(results >= COLUMNS, results, rows), 1, stream, name);
}

template <template <class> class Op>
void reduce_any(const char* name, const Tensor& x, Tensor& out) {
    for_any(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        reduce<Op<T>, T, typename Op<T>::Result>(name, x, out);
    });
}

}  // namespace

// All of them: for each element of out, combine the elements of x along the reduced axes.
#define REDUCTION_CUDA(name, Op, result, has_empty) \
    void name##_tensor_cuda(const Tensor& x, Tensor& out) { reduce_any<Op>(#name, x, out); }
REDUCTIONS(REDUCTION_CUDA)
void sum_squares_tensor_cuda(const Tensor& x, Tensor& out) { reduce_any<SumSquares>("sum_squares", x, out); }

// x's axes other than `axis` stay as they are in out, so that out says which axis is searched; of size 1 it is found.
void argmax_tensor_cuda(const Tensor& x, Tensor& out, int) { reduce_any<ArgMax>("argmax", x, out); }
void argmin_tensor_cuda(const Tensor& x, Tensor& out, int) { reduce_any<ArgMin>("argmin", x, out); }

// ---- Distances of rows -----------------------------------------------------------------------------------------------

namespace {

// A thread takes a pair of rows; of `pairs` those of the upper triangle, row by row.
template <class T>
__global__ void distances_kernel(const T* x, const T* y, T* out, int64_t rows, int64_t others, int64_t n, int64_t size,
                                 double p, bool pairs) {
    for (int64_t k = first_of_thread(); k < size; k += all_threads()) {
        int64_t i = k / others, j = k % others;  // i counts the rows of all matrices
        if (pairs) {
            i = int64_t(rows - 0.5 - ::sqrt((rows - 0.5) * (rows - 0.5) - 2.0 * k));  // or one beside it
            auto begin = [=](int64_t row) { return row * (2 * rows - row - 1) / 2; };
            while (begin(i) > k) i--;
            while (begin(i + 1) <= k) i++;
            j = k - begin(i) + i + 1;
        }
        const T *a = x + i * n, *b = y + (pairs ? j : i / rows * others + j) * n;
        double total = 0;
        for (int64_t m = 0; m < n; m++) {
            const double distance = ::fabs(double(a[m] - b[m]));
            if (::isinf(p))
                total = (distance > total) | (distance != distance) ? distance : total;
            else
                total += p == 0   ? (distance != distance ? distance : double(distance != 0))
                         : p == 1 ? distance
                         : p == 2 ? distance * distance
                                  : ::pow(distance, p);
        }
        out[k] = T(::isinf(p) || p == 0 || p == 1 ? total : p == 2 ? ::sqrt(total) : ::pow(total, 1 / p));
    }
}

}  // namespace

void distances_tensor_cuda(const Tensor& x, const Tensor& y, Tensor& out, double p, bool pairs) {
    cudaStream_t stream = use(out.device);
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        distances_kernel<T><<<blocks_for(out.size), threads_for(out.size), 0, stream>>>(
            data_as<T>(x), data_as<T>(y), data_as<T>(out), x.shape[1], y.shape[1], x.shape[2], out.size, p, pairs);
    });
    check_launch("distances");
}
