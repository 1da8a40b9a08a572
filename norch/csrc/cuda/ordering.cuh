// CUDA kernels of running extremes and of places among sorted edges. A part of cuda.cu.

#pragma once
#include "cuda/layout.cuh"
#include "cuda/sort.cuh"
#include "ops/ordering.h"

namespace {

// A thread takes a line.
template <class T>
__global__ void running_extreme_kernel(const T* x, T* values, int64_t* indices, int64_t n, int64_t step,
                                       int64_t value_step, int64_t index_step, bool largest, Strides<3> lines) {
    for (int64_t line = first_of_thread(); line < lines.size; line += all_threads()) {
        const Offsets<3> at = lines.locate(line);
        T extreme = x[at.of[0]];
        int64_t index = 0;
        for (int64_t i = 0; i < n; i++) {
            const T next = x[at.of[0] + i * step];
            if (extends(next, extreme, largest)) extreme = next, index = i;
            values[at.of[1] + i * value_step] = extreme;
            indices[at.of[2] + i * index_step] = index;
        }
    }
}

// edges is a line of n for each `line` values in a row
template <class T>
__global__ void bins_kernel(const T* edges, const T* values, int64_t* out, int64_t n, int64_t line, int64_t size,
                            bool right) {
    for (int64_t i = first_of_thread(); i < size; i += all_threads()) {
        const T* edge = edges + i / line * n;
        int64_t low = 0, high = n;
        while (low < high) {
            const int64_t middle = (low + high) / 2;
            if (is_below(edge[middle], values[i], right))
                low = middle + 1;
            else
                high = middle;
        }
        out[i] = low;
    }
}

}  // namespace

void running_extreme_tensor_cuda(const Tensor& x, Tensor& values, Tensor& indices, int axis, bool largest) {
    cudaStream_t stream = use(x.device);
    const Strides<3> lines = lines_along(axis, x, values, indices);
    for_any(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        running_extreme_kernel<T><<<blocks_for(lines.size), threads_for(lines.size), 0, stream>>>(
            data_as<T>(x), data_as<T>(values), data_as<int64_t>(indices), x.shape[axis], x.strides[axis],
            values.strides[axis], indices.strides[axis], largest, lines);
    });
    check_launch("running_extreme");
}

void bins_tensor_cuda(const Tensor& edges, const Tensor& values, bool right, Tensor& out) {
    cudaStream_t stream = use(out.device);
    const int64_t n = edges.shape[edges.ndim - 1];
    const int64_t line = edges.ndim == 1 ? values.size : values.shape[values.ndim - 1];
    for_any(edges.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        bins_kernel<T><<<blocks_for(values.size), threads_for(values.size), 0, stream>>>(
            data_as<T>(edges), data_as<T>(values), data_as<int64_t>(out), n, line, values.size, right);
    });
    check_launch("bins");
}
