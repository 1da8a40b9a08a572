// CUDA kernels of the optimizers: the steps of ops/optimizer_formulas.h, a thread for each element. A part of cuda.cu.

#pragma once
#include "cuda/device.cuh"
#include "cuda/layout.cuh"
#include "ops/optimizer_formulas.h"

namespace {

template <class T, int COUNT>
struct Changed {
    T* of[COUNT];
};

template <class Step, class T>
__global__ void step_kernel(const T* gradient, Changed<T, Step::COUNT> changed, Step step,
                            Strides<Step::COUNT + 1> strides) {
#pragma unroll 1
    for (int64_t i = blockIdx.x * int64_t(THREADS) + threadIdx.x; i < strides.size; i += gridDim.x * int64_t(THREADS)) {
        const auto at = strides.locate(i);
        T x[Step::COUNT];
#pragma unroll
        for (int k = 0; k < Step::COUNT; k++) x[k] = changed.of[k][at.of[k + 1]];
        step(gradient[at.of[0]], x);
#pragma unroll
        for (int k = 0; k < Step::COUNT; k++) changed.of[k][at.of[k + 1]] = x[k];
    }
}

// Queues a step with every element of tensors of one shape and of any layouts.
struct OnCUDA {
    const char* name;

    template <class Step>
    void operator()(const Step& step, const Tensor& gradient, Tensor* const (&tensors)[Step::COUNT]) const {
        using T = typename Step::Element;
        cudaStream_t stream = use(gradient.device);
        Changed<T, Step::COUNT> changed;
        const Tensor* operands[Step::COUNT + 1] = {&gradient};
        for (int k = 0; k < Step::COUNT; k++) {
            changed.of[k] = static_cast<T*>(tensors[k]->data);
            operands[k + 1] = tensors[k];
        }
        const Strides<Step::COUNT + 1> strides = elementwise_strides<Step::COUNT + 1>(operands);
        step_kernel<Step, T><<<blocks_for(gradient.size), threads_for(gradient.size), 0, stream>>>(
            data_as<const T>(gradient), changed, step, strides);
        check_launch(name);
    }
};

}  // namespace

void sgd_tensor_cuda(Tensor& parameter, const Tensor& gradient, Tensor* velocity, bool first,
                     const SGDOptions& options) {
    with_sgd(parameter, gradient, velocity, first, options, OnCUDA{"sgd"});
}

#define OPTIMIZER_CUDA(name, Options, ...)                                                                      \
    void name##_tensor_cuda(Tensor& parameter, const Tensor& gradient, Tensor* const* state, const Tensor& step, \
                            const Options& options) {                                                           \
        with_##name(parameter, gradient, state, step, options, OnCUDA{#name});                                  \
    }
OPTIMIZERS(OPTIMIZER_CUDA)
