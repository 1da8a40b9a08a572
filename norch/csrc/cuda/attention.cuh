// CUDA attention: a block for each query, or (for the gradients of keys and values) for each key. Its threads compute
// as many weights at a time, which all of them then read. A part of cuda.cu; ops/attention.h has the formulas.

#pragma once
#include "cuda/block.cuh"
#include "ops/attention.h"

namespace {

enum { ATTENTION_THREADS = 128 };

template <class T>
struct AttentionOperand {
    T* data = nullptr;
    Batch batch;
    AttentionOperand() = default;
    explicit AttentionOperand(const Tensor& tensor) : data(data_as<T>(tensor)), batch(tensor) {}
    __device__ T* row(int64_t index, int64_t i) const { return data + batch.offset(index) + i * batch.row; }
    __device__ T& at(int64_t index, int64_t i, int64_t c) const { return row(index, i)[c * batch.column]; }
};

template <class T>
struct Attention {
    AttentionOperand<const T> query, key, value;
    const void* mask;
    bool is_bool;
    Batch masks;
    int64_t queries, keys, features, width;  // of a value
    Attending how;

    Attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor* mask, const Attending& how)
        : query(query),
          key(key),
          value(value),
          mask(mask ? mask->data : nullptr),
          is_bool(mask && mask->dtype == BOOL),
          masks(mask ? *mask : query),
          queries(query.shape[query.ndim - 2]),
          keys(key.shape[key.ndim - 2]),
          features(key.shape[key.ndim - 1]),
          width(value.shape[value.ndim - 1]),
          how(how) {
        if (mask && is_bool) this->mask = data_as<const bool>(*mask);
        if (mask && !is_bool) this->mask = data_as<const T>(*mask);
    }

    __device__ bool sees(int64_t i, int64_t j) const { return j < keys && i < queries && (!how.causal || j <= i); }
    __device__ T score(int64_t index, int64_t i, int64_t j) const {
        const T *x = query.row(index, i), *y = key.row(index, j);
        T sum = 0;
        for (int64_t e = 0; e < features; e++) sum += x[e * query.batch.column] * y[e * key.batch.column];
        sum *= T(how.scale);
        if (!mask) return sum;
        const int64_t at = masks.offset(index) + i * masks.row + j * masks.column;
        if (is_bool) return static_cast<const bool*>(mask)[at] ? sum : T(-INFINITY);
        return sum + static_cast<const T*>(mask)[at];
    }
    // What dropout multiplies a weight with.
    __device__ T factor(int64_t index, int64_t i, int64_t j) const {
        if (how.dropout <= 0) return T(1);
        return is_kept(how, (index * queries + i) * keys + j) ? T(how.kept()) : T(0);
    }
};

template <class T>
__global__ void __launch_bounds__(ATTENTION_THREADS)
    attention_kernel(Attention<T> of, int64_t rows, AttentionOperand<T> out, T* log_sum) {
    __shared__ T weights[ATTENTION_THREADS];
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const int64_t index = row / of.queries, i = row % of.queries;
        T top = -INFINITY;
        double total = 0;
        T* sums = out.row(index, i);
        for (int64_t c = threadIdx.x; c < of.width; c += blockDim.x) sums[c] = 0;
        for (int64_t start = 0; of.sees(i, start); start += blockDim.x) {
            const int64_t j = start + threadIdx.x;
            const T s = of.sees(i, j) ? of.score(index, i, j) : T(-INFINITY);
            const T high = combine_row(s == s ? s : T(-INFINITY), [](T a, T b) { return a > b ? a : b; });
            const T most = high > top ? high : top, shift = most == T(-INFINITY) ? T(0) : most;
            const T weight = of.sees(i, j) ? formula::exp(T(s - shift)) : T(0),
                    smaller_by = formula::exp(T(top - shift));
            total = total * double(smaller_by) + sum_row(double(weight));
            top = most;
            weights[threadIdx.x] = of.sees(i, j) ? weight * of.factor(index, i, j) : T(0);
            __syncthreads();
            for (int64_t c = threadIdx.x; c < of.width; c += blockDim.x) {
                T sum = sums[c] * smaller_by;
                for (int64_t k = 0; k < blockDim.x && of.sees(i, start + k); k++)
                    sum += weights[k] * of.value.at(index, start + k, c);
                sums[c] = sum;
            }
            __syncthreads();
        }
        for (int64_t c = threadIdx.x; c < of.width; c += blockDim.x)
            sums[c] = total == 0 ? T(0) : T(double(sums[c]) / total);
        if (threadIdx.x == 0) log_sum[row] = total == 0 ? T(INFINITY) : T(double(top) + ::log(total));
    }
}

// The weight of key j for query i after dropout, and the slope of its score.
template <class T>
struct Weight {
    T kept, slope;
    __device__ Weight(const Attention<T>& of, const AttentionOperand<const T>& gradient,
                      const AttentionOperand<const T>& out, const T* log_sum, int64_t index, int64_t i, int64_t j) {
        const T p = formula::exp(T(of.score(index, i, j) - log_sum[index * of.queries + i])),
                factor = of.factor(index, i, j);
        T for_weight = 0, mean = 0;
        for (int64_t c = 0; c < of.width; c++) {
            const T g = gradient.at(index, i, c);
            for_weight += g * of.value.at(index, j, c);
            mean += g * out.at(index, i, c);
        }
        kept = p * factor;
        slope = p * (factor * for_weight - mean) * T(of.how.scale);
    }
};

template <class T>
__global__ void __launch_bounds__(ATTENTION_THREADS)
    attention_query_kernel(Attention<T> of, AttentionOperand<const T> gradient, int64_t rows,
                           AttentionOperand<const T> out, const T* log_sum, AttentionOperand<T> for_query) {
    __shared__ T slopes[ATTENTION_THREADS];
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const int64_t index = row / of.queries, i = row % of.queries;
        T* sums = for_query.row(index, i);
        for (int64_t c = threadIdx.x; c < of.features; c += blockDim.x) sums[c] = 0;
        for (int64_t start = 0; of.sees(i, start); start += blockDim.x) {
            const int64_t j = start + threadIdx.x;
            slopes[threadIdx.x] = of.sees(i, j) ? Weight<T>(of, gradient, out, log_sum, index, i, j).slope : T(0);
            __syncthreads();
            for (int64_t c = threadIdx.x; c < of.features; c += blockDim.x) {
                T sum = 0;
                for (int64_t k = 0; k < blockDim.x && of.sees(i, start + k); k++)
                    sum += slopes[k] * of.key.at(index, start + k, c);
                sums[c] += sum;
            }
            __syncthreads();
        }
    }
}

template <class T>
__global__ void __launch_bounds__(ATTENTION_THREADS)
    attention_key_kernel(Attention<T> of, AttentionOperand<const T> gradient, int64_t rows,
                         AttentionOperand<const T> out, const T* log_sum, AttentionOperand<T> for_key,
                         AttentionOperand<T> for_value) {
    __shared__ T slopes[ATTENTION_THREADS];
    __shared__ T weights[ATTENTION_THREADS];
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const int64_t index = row / of.keys, j = row % of.keys;
        T* const key_sums = for_key.data ? for_key.row(index, j) : nullptr;
        T* const value_sums = for_value.data ? for_value.row(index, j) : nullptr;
        for (int64_t c = threadIdx.x; key_sums && c < of.features; c += blockDim.x) key_sums[c] = 0;
        for (int64_t c = threadIdx.x; value_sums && c < of.width; c += blockDim.x) value_sums[c] = 0;
        for (int64_t start = of.how.causal ? j : 0; start < of.queries; start += blockDim.x) {
            const int64_t i = start + threadIdx.x;
            slopes[threadIdx.x] = weights[threadIdx.x] = 0;
            if (of.sees(i, j)) {
                const Weight<T> weight(of, gradient, out, log_sum, index, i, j);
                slopes[threadIdx.x] = weight.slope;
                weights[threadIdx.x] = weight.kept;
            }
            __syncthreads();
            const int64_t count = of.queries - start < blockDim.x ? of.queries - start : int64_t(blockDim.x);
            for (int64_t c = threadIdx.x; key_sums && c < of.features; c += blockDim.x) {
                T sum = 0;
                for (int64_t k = 0; k < count; k++) sum += slopes[k] * of.query.at(index, start + k, c);
                key_sums[c] += sum;
            }
            for (int64_t c = threadIdx.x; value_sums && c < of.width; c += blockDim.x) {
                T sum = 0;
                for (int64_t k = 0; k < count; k++) sum += weights[k] * gradient.at(index, start + k, c);
                value_sums[c] += sum;
            }
            __syncthreads();
        }
    }
}

}  // namespace

void attention_tensor_cuda(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor* mask, Tensor& out,
                           Tensor& log_sum, const Attending& how) {
    cudaStream_t stream = use(out.device);
    for_real(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        attention_kernel<T><<<at_most(log_sum.size, MAX_BLOCKS), ATTENTION_THREADS, 0, stream>>>(
            Attention<T>(query, key, value, mask, how), log_sum.size, AttentionOperand<T>(out), data_as<T>(log_sum));
    });
    check_launch("attention");
}

void attention_backward_tensor_cuda(const Tensor& gradient, const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor* mask, const Tensor& out, const Tensor& log_sum, Tensor* for_query,
                                    Tensor* for_key, Tensor* for_value, const Attending& how) {
    cudaStream_t stream = use(out.device);
    for_real(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const Attention<T> of(query, key, value, mask, how);
        const AttentionOperand<const T> from(gradient), result(out);
        auto target = [](Tensor* made) { return made ? AttentionOperand<T>(*made) : AttentionOperand<T>(); };
        if (for_query) {
            attention_query_kernel<T><<<at_most(log_sum.size, MAX_BLOCKS), ATTENTION_THREADS, 0, stream>>>(
                of, from, log_sum.size, result, data_as<T>(log_sum), target(for_query));
            check_launch("attention_backward");
        }
        if (!for_key && !for_value) return;
        const int64_t rows = key.size / of.features;
        attention_key_kernel<T><<<at_most(rows, MAX_BLOCKS), ATTENTION_THREADS, 0, stream>>>(
            of, from, rows, result, data_as<T>(log_sum), target(for_key), target(for_value));
        check_launch("attention_backward");
    });
}
