// CUDA kernels that fill a tensor: evenly spaced numbers and random numbers. A part of cuda.cu.
//
// The formulas are those of ops/linspace.h and ops/philox.h, so that a seed gives the CPU's numbers.

#pragma once
#include "cuda/block.cuh"
#include "ops/counts.h"

namespace {

// out[i] = start + i * step
template <class T>
__global__ void evenly_spaced_kernel(T* out, int64_t size, Spacing spacing) {
    for (int64_t i = first_of_thread(); i < size; i += all_threads())
        out[i] = spaced_element<T>(spacing, i, size);
}

// Each thread draws the PER_BLOCK elements that come from one block of random bits.
template <class T, class Draw>
__global__ void random_kernel(T* out, int64_t size, Stream stream, Draw draw) {
    for (int64_t b = first_of_thread(); b * Draw::PER_BLOCK < size; b += all_threads()) {
        T values[Draw::PER_BLOCK];
        draw.elements(philox(stream, uint64_t(b)), values);
        for (int k = 0; k < Draw::PER_BLOCK; k++)
            if (b * Draw::PER_BLOCK + k < size) out[b * Draw::PER_BLOCK + k] = values[k];
    }
}

__global__ void places_kernel(int64_t* out, int64_t size, Stream stream) {
    for (int64_t i = first_of_thread(); i < size; i += all_threads())
        out[i] = int64_t(below(uint64_t(i + 1), philox(stream, uint64_t(i))));
}

// p is null for Poisson's counts
__global__ void counts_kernel(const double* x, const double* p, double* out, int64_t size, Stream stream) {
    for (int64_t i = first_of_thread(); i < size; i += all_threads()) {
        Uniforms uniform(stream, i);
        out[i] = p ? binomial_count(x[i], p[i], uniform) : poisson_count(x[i], uniform);
    }
}

template <class T, class Draw>
void launch_random(const char* name, Tensor& out, Stream stream, const Draw& draw) {
    const int64_t draws = divided_up(out.size, Draw::PER_BLOCK);
    random_kernel<T, Draw>
        <<<blocks_for(draws), threads_for(draws), 0, use(out.device)>>>(data_as<T>(out), out.size, stream, draw);
    check_launch(name);
}

}  // namespace

void evenly_spaced_tensor_cuda(Tensor& out, const Spacing& spacing) {
    for_any(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        cudaStream_t stream = use(out.device);
        evenly_spaced_kernel<T><<<blocks_for(out.size), threads_for(out.size), 0, stream>>>(data_as<T>(out), out.size, spacing);
    });
    check_launch("evenly_spaced");
}

void uniform_tensor_cuda(Tensor& out, Stream stream, double low, double high) {
    for_real(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        launch_random<T>("uniform", out, stream, UniformDraw<T>{low, high});
    });
}

void normal_tensor_cuda(Tensor& out, Stream stream, double mean, double std) {
    for_real(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        launch_random<T>("normal", out, stream, NormalDraw<T>{mean, std});
    });
}

void integers_tensor_cuda(Tensor& out, Stream stream, int64_t low, uint64_t range) {
    for_any(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        launch_random<T>("integers", out, stream, IntegerDraw<T>{low, range});
    });
}

void places_tensor_cuda(Tensor& out, Stream stream) {
    cudaStream_t queue = use(out.device);
    places_kernel<<<blocks_for(out.size), threads_for(out.size), 0, queue>>>(data_as<int64_t>(out), out.size, stream);
    check_launch("places");
}

void counts_tensor_cuda(const Tensor& means, const Tensor* chances, Tensor& out, Stream stream) {
    cudaStream_t queue = use(out.device);
    counts_kernel<<<blocks_for(out.size), threads_for(out.size), 0, queue>>>(
        data_as<const double>(means), data_as<const double>(chances), data_as<double>(out), out.size,
        stream);
    check_launch("counts");
}
