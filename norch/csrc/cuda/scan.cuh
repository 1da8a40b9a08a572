// CUDA kernels of running totals along an axis: cumsum, cumprod and logcumsumexp. A part of cuda.cu.
//
// If neighbouring lines are adjacent in memory, a thread takes a line. Otherwise a block takes a stretch of a line,
// so many elements at a time as it has threads; of a long line several blocks take a stretch each, after a first launch
// has found what every stretch comes to. The order of the sums depends on the shapes alone.

#pragma once
#include "cuda/block.cuh"
#include "cuda/layout.cuh"
#include "cuda/sort.cuh"
#include "ops/ordering.h"

namespace {

struct Adding {
    template <class T>
    static __device__ T combine(T a, T b) {
        return a + b;
    }
    static constexpr double empty = 0;
};
struct Multiplying {
    template <class T>
    static __device__ T combine(T a, T b) {
        return a * b;
    }
    static constexpr double empty = 1;
};
struct AddingLogarithms {
    static __device__ double combine(double a, double b) { return log_sum(a, b); }
    static constexpr double empty = -INFINITY;
};

enum {
    MANY_LINES = 4096,  // that a thread each may take
    SHORT_LINE = 32,    // that a thread takes in any case
    STRETCH = 4096      // elements that a block takes at least
};

// Where elements lie: n of them in each line, so far apart.
struct Lines {
    int64_t n, x_step, out_step;
    Strides<3> begin;  // of x and of out
};

template <class Op, class Total, class T, class R>
__global__ void scan_each_kernel(const T* __restrict__ x, R* __restrict__ out, Lines lines) {
    for (int64_t line = first_of_thread(); line < lines.begin.size; line += all_threads()) {
        const Offsets<3> at = lines.begin.locate(line);
        Total total = Total(Op::empty);
        for (int64_t i = 0; i < lines.n; i++) {
            total = Op::combine(total, Total(x[at.of[0] + i * lines.x_step]));
            out[at.of[1] + i * lines.out_step] = R(total);
        }
    }
}

// totals[line, s] = what the s-th stretch of a line comes to
template <class Op, class Total, class T>
__global__ void stretch_totals_kernel(const T* x, Total* totals, Lines lines, int64_t stretch, int64_t stretches) {
    for (int64_t k = blockIdx.x; k < lines.begin.size * stretches; k += gridDim.x) {
        const int64_t from = lines.begin.locate(k / stretches).of[0], start = k % stretches * stretch;
        const int64_t end = start + stretch < lines.n ? start + stretch : lines.n;
        Total mine = Total(Op::empty);
        for (int64_t i = start + threadIdx.x; i < end; i += blockDim.x)
            mine = Op::combine(mine, Total(x[from + i * lines.x_step]));
        mine = combine_row(mine, [](Total a, Total b) { return Op::combine(a, b); });
        if (threadIdx.x == 0) totals[k] = mine;
    }
}

template <class Op, class Total, class T, class R>
__global__ void scan_kernel(const T* __restrict__ x, const Total* totals, R* __restrict__ out, Lines lines,
                            int64_t stretch, int64_t stretches) {
    auto combine = [](Total a, Total b) { return Op::combine(a, b); };
    for (int64_t k = blockIdx.x; k < lines.begin.size * stretches; k += gridDim.x) {
        const Offsets<3> at = lines.begin.locate(k / stretches);
        const int64_t number = k % stretches, start = number * stretch;
        const int64_t end = start + stretch < lines.n ? start + stretch : lines.n;
        Total before = Total(Op::empty);
        if (stretches > 1) {
            for (int64_t s = threadIdx.x; s < number; s += blockDim.x) before = combine(before, totals[k - number + s]);
            before = combine_row(before, combine);
        }
        for (int64_t first = start; first < end; first += blockDim.x) {
            const int64_t i = first + threadIdx.x;
            Total mine = i < end ? Total(x[at.of[0] + i * lines.x_step]) : Total(Op::empty), all;
            mine = combine(before, scan_block(mine, all, combine));
            if (i < end) out[at.of[1] + i * lines.out_step] = R(mine);
            before = combine(before, all);
        }
    }
}

template <class Op, class Total, class T, class R>
void launch_scan(const char* name, const T* x, R* out, const Lines& lines, int32_t device, cudaStream_t stream) {
    const int64_t count = lines.begin.size, n = lines.n;
    if (n <= SHORT_LINE || (lines.x_step != 1 && count >= MANY_LINES)) {
        scan_each_kernel<Op, Total><<<blocks_for(count), threads_for(count), 0, stream>>>(x, out, lines);
        return check_launch(name);
    }
    const int64_t wanted = count < ENOUGH_BLOCKS ? ENOUGH_BLOCKS / count : 1, useful = divided_up(n, STRETCH);
    const int64_t stretch = divided_up(n, wanted < useful ? wanted : useful), stretches = divided_up(n, stretch);
    const int threads = power_of_two(n, THREADS), blocks = at_most(count * stretches, MAX_BLOCKS);
    DeviceScratch<Total> totals(stretches > 1 ? count * stretches : 0, device);
    if (stretches > 1) {
        stretch_totals_kernel<Op><<<blocks, threads, 0, stream>>>(x, totals.data, lines, stretch, stretches);
        check_launch(name);
    }
    scan_kernel<Op>
        <<<blocks, threads, 0, stream>>>(x, static_cast<const Total*>(totals.data), out, lines, stretch, stretches);
    check_launch(name);
}

template <class Op, class T>
void scan_of(const char* name, const Tensor& x, Tensor& out, int axis) {
    using Total = std::conditional_t<std::is_floating_point<T>::value, double, int64_t>;
    using R = std::conditional_t<std::is_floating_point<T>::value, T, int64_t>;
    cudaStream_t stream = use(out.device);
    const Lines lines = {x.shape[axis], x.strides[axis], out.strides[axis], lines_along(axis, x, out, out)};
    launch_scan<Op, Total>(name, data_as<T>(x), data_as<R>(out), lines, out.device, stream);
}

template <class Op>
void scan(const char* name, const Tensor& x, Tensor& out, int axis) {
    for_any(x.dtype, [&](auto type) { scan_of<Op, typename decltype(type)::type>(name, x, out, axis); });
}

}  // namespace

void cumsum_tensor_cuda(const Tensor& x, Tensor& out, int axis) { scan<Adding>("cumsum", x, out, axis); }
void cumprod_tensor_cuda(const Tensor& x, Tensor& out, int axis) { scan<Multiplying>("cumprod", x, out, axis); }
void logcumsumexp_tensor_cuda(const Tensor& x, Tensor& out, int axis) {
    for_real(x.dtype, [&](auto type) {
        scan_of<AddingLogarithms, typename decltype(type)::type>("logcumsumexp", x, out, axis);
    });
}
