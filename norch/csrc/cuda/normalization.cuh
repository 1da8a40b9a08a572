// CUDA normalization: a block for each group of elements. A part of cuda.cu; the formulas are those of
// cpu/normalization.cpp.

#pragma once
#include "cuda/layers.cuh"

namespace {

// Where element i of a group lies in a tensor [outer, groups, inner].
__device__ int64_t place_of(int64_t i, int64_t group, const Normalizing& sizes) {
    const int64_t o = i / sizes.inner;
    return (o * sizes.groups + group) * sizes.inner + (i - o * sizes.inner);
}

template <class T>
__global__ void __launch_bounds__(MAX_THREADS) normalize_kernel(const T* x, const T* weight, const T* bias, T* out, T* mean, T* variance,
                                 Normalizing sizes) {
    const int64_t n = sizes.outer * sizes.inner;
    for (int64_t group = blockIdx.x; group < sizes.groups; group += gridDim.x) {
        double sum = 0;
        for (int64_t i = threadIdx.x; i < n; i += blockDim.x) sum += double(x[place_of(i, group, sizes)]);
        const T centre = T(sum_row(sum) / double(n));
        double squares = 0;
        for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
            const T distance = x[place_of(i, group, sizes)] - centre;
            squares += double(distance * distance);
        }
        const T spread = T(sum_row(squares) / double(n)), rate = T(1 / ::sqrt(double(spread) + sizes.eps));
        if (threadIdx.x == 0) {
            mean[group] = centre;
            variance[group] = spread;
        }
        for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
            const int64_t at = place_of(i, group, sizes), k = sizes.affine_of(group, i);
            const T y = (x[at] - centre) * rate;
            out[at] = (weight ? y * weight[k] : y) + (bias ? bias[k] : T(0));
        }
    }
}

// dx = rate * (g - sum(g) / n - y * sum(g * y) / n) for g = gradient * weight; by group also the gradients of weight
// and bias
template <class T>
__global__ void __launch_bounds__(MAX_THREADS) normalize_backward_kernel(const T* gradient, const T* x, const T* weight, const T* mean, const T* variance,
                                          T* for_x, T* for_weight, T* for_bias, Normalizing sizes) {
    const int64_t n = sizes.outer * sizes.inner;
    for (int64_t group = blockIdx.x; group < sizes.groups; group += gridDim.x) {
        const T centre = mean[group], rate = T(1 / ::sqrt(double(variance[group]) + sizes.eps));
        const bool varies = weight && sizes.affine != Normalizing::BY_GROUP;  // within the group
        double sum = 0, sum_y = 0;
        for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
            const int64_t at = place_of(i, group, sizes);
            const T g = varies ? gradient[at] * weight[sizes.affine_of(group, i)] : gradient[at];
            sum += double(g);
            sum_y += double(g * ((x[at] - centre) * rate));
        }
        sum = sum_row(sum);
        sum_y = sum_row(sum_y);
        if (threadIdx.x == 0 && for_weight) for_weight[group] = T(sum_y);
        if (threadIdx.x == 0 && for_bias) for_bias[group] = T(sum);
        if (!for_x) continue;
        const T mean_g = T(sum / double(n)), mean_gy = T(sum_y / double(n));
        const T factor = weight && !varies ? weight[group] : T(1);
        for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
            const int64_t at = place_of(i, group, sizes);
            const T g = varies ? gradient[at] * weight[sizes.affine_of(group, i)] : gradient[at];
            const T y = (x[at] - centre) * rate;
            for_x[at] = factor * (sizes.fixed ? rate * g : rate * (g - mean_g - y * mean_gy));
        }
    }
}

// The gradients of weight and bias by place: a thread for each place goes down the groups.
template <class T>
__global__ void places_backward_kernel(const T* gradient, const T* x, const T* mean, const T* variance, T* for_weight,
                                       T* for_bias, Normalizing sizes) {
    const int64_t step = gridDim.x * int64_t(blockDim.x);
    for (int64_t j = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; j < sizes.inner; j += step) {
        double sum = 0, sum_y = 0;
        for (int64_t group = 0; group < sizes.groups; group++) {
            const int64_t at = group * sizes.inner + j;
            const T rate = T(1 / ::sqrt(double(variance[group]) + sizes.eps));
            sum += double(gradient[at]);
            sum_y += double(gradient[at] * ((x[at] - mean[group]) * rate));
        }
        if (for_weight) for_weight[j] = T(sum_y);
        if (for_bias) for_bias[j] = T(sum);
    }
}

// The same by channel: a thread for each channel goes through its elements in all samples.
template <class T>
__global__ void channels_backward_kernel(const T* gradient, const T* x, const T* mean, const T* variance, T* for_weight,
                                         T* for_bias, Normalizing sizes) {
    const int64_t step = gridDim.x * int64_t(blockDim.x), of_group = sizes.inner / sizes.span;
    const int64_t channels = sizes.cycle * of_group;
    for (int64_t c = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; c < channels; c += step) {
        double sum = 0, sum_y = 0;
        for (int64_t group = c / of_group; group < sizes.groups; group += sizes.cycle) {
            const T rate = T(1 / ::sqrt(double(variance[group]) + sizes.eps));
            const int64_t start = group * sizes.inner + c % of_group * sizes.span;
            for (int64_t at = start; at < start + sizes.span; at++) {
                sum += double(gradient[at]);
                sum_y += double(gradient[at] * ((x[at] - mean[group]) * rate));
            }
        }
        if (for_weight) for_weight[c] = T(sum_y);
        if (for_bias) for_bias[c] = T(sum);
    }
}

int group_threads(const Normalizing& sizes) {
    const int64_t n = sizes.outer * sizes.inner;
    return power_of_two(n, n >= LONG_ROW ? MAX_THREADS : THREADS);
}

}  // namespace

void normalize_tensor_cuda(const Tensor& x, const Tensor* weight, const Tensor* bias, Tensor& out, Tensor& mean,
                           Tensor& variance, const Normalizing& sizes) {
    cudaStream_t stream = use(out.device);
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        normalize_kernel<T><<<at_most(sizes.groups, MAX_BLOCKS), group_threads(sizes), 0, stream>>>(
            data_as<T>(x), data_as<T>(weight), data_as<T>(bias), data_as<T>(out), data_as<T>(mean), data_as<T>(variance), sizes);
    });
    check_launch("normalize");
}

void normalize_backward_tensor_cuda(const Tensor& gradient, const Tensor& x, const Tensor* weight, const Tensor& mean,
                                    const Tensor& variance, Tensor* for_x, Tensor* for_weight, Tensor* for_bias,
                                    const Normalizing& sizes) {
    cudaStream_t stream = use(x.device);
    const bool by_group = sizes.affine == Normalizing::BY_GROUP;
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        if (for_x || by_group) {
            normalize_backward_kernel<T><<<at_most(sizes.groups, MAX_BLOCKS), group_threads(sizes), 0, stream>>>(
                data_as<T>(gradient), data_as<T>(x), data_as<T>(weight), data_as<T>(mean), data_as<T>(variance), data_as<T>(for_x),
                by_group ? data_as<T>(for_weight) : nullptr, by_group ? data_as<T>(for_bias) : nullptr, sizes);
            check_launch("normalize_backward");
        }
        if (by_group || !(for_weight || for_bias)) return;
        if (sizes.affine == Normalizing::BY_CHANNEL) {
            const int64_t channels = sizes.cycle * (sizes.inner / sizes.span);
            channels_backward_kernel<T><<<blocks_for(channels), threads_for(channels), 0, stream>>>(
                data_as<T>(gradient), data_as<T>(x), data_as<T>(mean), data_as<T>(variance), data_as<T>(for_weight),
                data_as<T>(for_bias), sizes);
            return check_launch("normalize_backward");
        }
        places_backward_kernel<T><<<blocks_for(sizes.inner), threads_for(sizes.inner), 0, stream>>>(
            data_as<T>(gradient), data_as<T>(x), data_as<T>(mean), data_as<T>(variance), data_as<T>(for_weight),
            data_as<T>(for_bias), sizes);
        check_launch("normalize_backward");
    });
}
