// CUDA kernels of layers and losses: softmax, cross-entropy and the losses of pairs, with their
// gradients. A part of cuda.cu. All work on contiguous rows of n elements: a row of threads for each (threadIdx.y), and
// as many of those in a block as fit. A row that is read again comes out of the cache near the processor.

#pragma once
#include "cuda/block.cuh"

namespace {

enum { LONG_ROW = 4096 };  // which a block of MAX_THREADS works on, so that few long rows are in the cache at once

// Calls f(row, length) for each row that falls to this row of threads. All threads of a block go along equally often;
// past the last row the length is 0.
template <class F>
__device__ void for_rows(int64_t rows, int64_t n, F f) {
    for (int64_t first = blockIdx.x * int64_t(blockDim.y); first < rows; first += gridDim.x * int64_t(blockDim.y)) {
        const int64_t row = first + threadIdx.y;
        f(row < rows ? row : 0, row < rows ? n : 0);  // one call: threads meet at the same barriers
    }
}

// The largest element of a row; a NaN is passed over (exp(NaN - max) brings it into the sum anyway).
template <class T>
__device__ T row_max(const T* x, int64_t n) {
    T largest = T(-INFINITY);
    for (int64_t j = threadIdx.x; j < n; j += blockDim.x) largest = x[j] > largest ? x[j] : largest;
    return combine_row(largest, [](T a, T b) { return a > b ? a : b; });
}

// The sum of exp(x - max) over a row.
template <class T>
__device__ double row_exp(const T* x, int64_t n, T max) {
    double sum = 0;
    for (int64_t j = threadIdx.x; j < n; j += blockDim.x) sum += double(formula::exp(x[j] - max));
    return sum_row(sum);
}

// ---- Softmax -----------------------------------------------------------------------------------------------------

// out = exp(x - max) / sum(exp(x - max)) along each row
template <class T>
__global__ void __launch_bounds__(MAX_THREADS)
    softmax_kernel(const T* __restrict__ x, T* __restrict__ out, int64_t rows, int64_t n) {
    for_rows(rows, n, [=](int64_t row, int64_t length) {
        const T* from = x + row * n;
        const T max = row_max(from, length), factor = T(1 / row_exp(from, length, max));
        for (int64_t j = threadIdx.x; j < length; j += blockDim.x)
            out[row * n + j] = formula::exp(from[j] - max) * factor;
    });
}

// out = x - max - log(sum(exp(x - max))) along each row
template <class T>
__global__ void __launch_bounds__(MAX_THREADS)
    log_softmax_kernel(const T* __restrict__ x, T* __restrict__ out, int64_t rows, int64_t n) {
    for_rows(rows, n, [=](int64_t row, int64_t length) {
        const T* from = x + row * n;
        const T max = row_max(from, length), log_sum = T(::log(row_exp(from, length, max)));
        for (int64_t j = threadIdx.x; j < length; j += blockDim.x) out[row * n + j] = from[j] - max - log_sum;
    });
}

// out = (gradient - sum(gradient * y)) * y, with y the softmax
template <class T>
__global__ void __launch_bounds__(MAX_THREADS)
    softmax_backward_kernel(const T* __restrict__ gradient, const T* __restrict__ y, T* __restrict__ out, int64_t rows,
                            int64_t n) {
    for_rows(rows, n, [=](int64_t row, int64_t length) {
        const T *g = gradient + row * n, *p = y + row * n;
        double sum = 0;
        for (int64_t j = threadIdx.x; j < length; j += blockDim.x) sum += double(g[j] * p[j]);
        const T mean = T(sum_row(sum));
        for (int64_t j = threadIdx.x; j < length; j += blockDim.x) out[row * n + j] = (g[j] - mean) * p[j];
    });
}

// out = gradient - exp(y) * sum(gradient), with y the log softmax
template <class T>
__global__ void __launch_bounds__(MAX_THREADS)
    log_softmax_backward_kernel(const T* __restrict__ gradient, const T* __restrict__ y, T* __restrict__ out,
                                int64_t rows, int64_t n) {
    for_rows(rows, n, [=](int64_t row, int64_t length) {
        const T *g = gradient + row * n, *p = y + row * n;
        double sum = 0;
        for (int64_t j = threadIdx.x; j < length; j += blockDim.x) sum += double(g[j]);
        const T total = T(sum_row(sum));
        for (int64_t j = threadIdx.x; j < length; j += blockDim.x) out[row * n + j] = g[j] - formula::exp(p[j]) * total;
    });
}

// ---- Cross-entropy -----------------------------------------------------------------------------------------------

// Block by block the number of labels that are not to be ignored, into a buffer; each must be a class.
__global__ void count_labels_kernel(const int64_t* labels, int64_t size, Fault bounds, Fault* found, int64_t* counts) {
    int64_t count = 0;
    for (int64_t i = first_of_thread(); i < size; i += all_threads()) {
        const int64_t label = labels[i];
        if (label == bounds.ignored) continue;
        if (label < 0 || label >= bounds.size) report(found, bounds, label);
        count++;
    }
    count = count_row(count);
    if (threadIdx.x == 0) counts[blockIdx.x] = count;
}

// scale = 1 / the sum of the counts, or 1 unless mean; in one block
__global__ void label_scale_kernel(const int64_t* counts, int64_t blocks, bool mean, double* scale) {
    int64_t count = 0;
    for (int64_t b = threadIdx.x; b < blocks; b += blockDim.x) count += counts[b];
    count = count_row(count);
    if (threadIdx.x == 0) *scale = mean ? 1 / double(count) : 1;
}

// losses[row] = scale * (log(sum(exp(logits))) - logits[label]); 0 for ignored labels, or NaN if all are
// ignored: the mean of nothing. NaN for a label that is not a class.
template <class T>
__global__ void __launch_bounds__(MAX_THREADS)
    cross_entropy_kernel(const T* logits, const int64_t* labels, const double* scale, T* losses, int64_t rows, int64_t n,
                         int64_t ignored) {
    for_rows(rows, n, [=](int64_t row, int64_t length) {
        const T* x = logits + row * n;
        const T max = row_max(x, length);
        const double log_sum = ::log(row_exp(x, length, max));
        const int64_t label = labels[row];
        if (threadIdx.x > 0 || length == 0) return;
        const bool known = label >= 0 && label < n;
        const double loss = known ? log_sum - (double(x[label]) - double(max)) : double(NAN);
        losses[row] = T(*scale * (label == ignored ? 0 : loss));
    });
}

// out = gradient[row] * scale * (softmax(logits) - 1 at the label); 0 for ignored labels
template <class T>
__global__ void __launch_bounds__(MAX_THREADS)
    cross_entropy_backward_kernel(const T* gradient, int64_t gradient_step, const T* __restrict__ logits,
                                  const int64_t* labels, const double* scale, T* __restrict__ out, int64_t rows,
                                  int64_t n, int64_t ignored) {
    for_rows(rows, n, [=](int64_t row, int64_t length) {
        const T* x = logits + row * n;
        const int64_t label = labels[row];
        const T max = row_max(x, length), share = T(*scale * gradient[row * gradient_step]);
        const T factor = T(share / row_exp(x, length, max));
        for (int64_t j = threadIdx.x; j < length; j += blockDim.x) {
            const T slope = formula::exp(x[j] - max) * factor - (j == label ? share : T(0));
            out[row * n + j] = label == ignored ? T(0) : slope;
        }
    });
}

// ---- Losses of pairs ---------------------------------------------------------------------------------------------

// Block by block the sum of what the pairs add, into a buffer.
template <class Row, class T>
__global__ void loss_kernel(const T* x, const T* y, double* sums, int64_t size, T parameter) {
    double sum = 0;
    for (int64_t i = first_of_thread(); i < size; i += all_threads())
        sum += double(Row::loss_of(x[i], y[i], parameter));
    const double total = sum_row(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

// out[0] = scale * sum(sums), in one block
template <class T>
__global__ void scaled_sum_kernel(const double* sums, int64_t count, T* out, double scale) {
    double sum = 0;
    for (int64_t i = threadIdx.x; i < count; i += blockDim.x) sum += sums[i];
    const double total = sum_row(sum);
    if (threadIdx.x == 0) *out = T(scale * total);
}

// out = gradient[0] * scale * the slopes along x
template <class Row, class T>
__global__ void loss_backward_kernel(const T* gradient, const T* x, const T* y, T* out, int64_t size, T parameter,
                                     double scale) {
    const T factor = T(scale * gradient[0]);
    for (int64_t i = first_of_thread(); i < size; i += all_threads())
        out[i] = factor * Row::slope_of(x[i], y[i], parameter);
}

// ---- The launchers -----------------------------------------------------------------------------------------------

// Rows of a tensor, and the block that works on them.
struct Rows {
    int64_t n, count;
    int blocks;
    dim3 block;
    explicit Rows(const Tensor& x) : n(x.shape[x.ndim - 1]), count(n ? x.size / n : 0) {
        const int across = power_of_two(n, n >= LONG_ROW ? MAX_THREADS : THREADS);
        const int rows = across < THREADS ? power_of_two(count, THREADS / across) : 1;
        block = dim3(across, rows);
        blocks = at_most(divided_up(count, rows), MAX_BLOCKS);
    }
};

// How many blocks sum up so many elements, in the first of two stages.
int sum_blocks(int64_t size) {
    enum { ELEMENTS = 32 };  // of a thread
    const int blocks = at_most(divided_up(size, THREADS * ELEMENTS), ENOUGH_BLOCKS);
    return blocks > 1 ? blocks : 1;
}

}  // namespace

void softmax_tensor_cuda(const Tensor& x, Tensor& out) {
    cudaStream_t stream = use(out.device);
    const Rows rows(out);
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        softmax_kernel<T><<<rows.blocks, rows.block, 0, stream>>>(data_as<T>(x), data_as<T>(out), rows.count, rows.n);
    });
    check_launch("softmax");
}

void log_softmax_tensor_cuda(const Tensor& x, Tensor& out) {
    cudaStream_t stream = use(out.device);
    const Rows rows(out);
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        log_softmax_kernel<T><<<rows.blocks, rows.block, 0, stream>>>(data_as<T>(x), data_as<T>(out), rows.count, rows.n);
    });
    check_launch("log_softmax");
}

void softmax_backward_tensor_cuda(const Tensor& gradient, const Tensor& y, Tensor& out) {
    cudaStream_t stream = use(out.device);
    const Rows rows(out);
    for_real(y.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        softmax_backward_kernel<T><<<rows.blocks, rows.block, 0, stream>>>(data_as<T>(gradient), data_as<T>(y),
                                                                          data_as<T>(out), rows.count, rows.n);
    });
    check_launch("softmax_backward");
}

void log_softmax_backward_tensor_cuda(const Tensor& gradient, const Tensor& y, Tensor& out) {
    cudaStream_t stream = use(out.device);
    const Rows rows(out);
    for_real(y.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        log_softmax_backward_kernel<T><<<rows.blocks, rows.block, 0, stream>>>(data_as<T>(gradient), data_as<T>(y),
                                                                              data_as<T>(out), rows.count, rows.n);
    });
    check_launch("log_softmax_backward");
}

void label_scale_tensor_cuda(const Tensor& labels, const Fault& bounds, bool mean, Tensor& scale) {
    cudaStream_t stream = use(labels.device);
    const int blocks = sum_blocks(labels.size);
    DeviceScratch<int64_t> counts(blocks, labels.device);
    count_labels_kernel<<<blocks, power_of_two(labels.size, THREADS), 0, stream>>>(
        data_as<int64_t>(labels), labels.size, bounds, fault_of(labels.device), counts.data);
    check_launch("cross_entropy");
    label_scale_kernel<<<1, power_of_two(blocks, THREADS), 0, stream>>>(counts.data, blocks, mean, data_as<double>(scale));
    check_launch("cross_entropy");
}

void cross_entropy_tensor_cuda(const Tensor& logits, const Tensor& labels, const Tensor& scale, Tensor& losses,
                               int64_t ignored) {
    cudaStream_t stream = use(losses.device);
    const Rows rows(logits);
    if (rows.count == 0) return;  // no classes: label_scale has refused every label
    for_real(logits.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        cross_entropy_kernel<T><<<rows.blocks, rows.block, 0, stream>>>(
            data_as<T>(logits), data_as<int64_t>(labels), data_as<double>(scale), data_as<T>(losses), rows.count, rows.n,
            ignored);
    });
    check_launch("cross_entropy");
}

// The gradient has one element for each row, or one for all.
void cross_entropy_backward_tensor_cuda(const Tensor& gradient, const Tensor& logits, const Tensor& labels,
                                        const Tensor& scale, Tensor& out, int64_t ignored) {
    cudaStream_t stream = use(out.device);
    const Rows rows(logits);
    for_real(logits.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        cross_entropy_backward_kernel<T><<<rows.blocks, rows.block, 0, stream>>>(
            data_as<T>(gradient), int64_t(gradient.size != 1), data_as<T>(logits), data_as<int64_t>(labels),
            data_as<double>(scale), data_as<T>(out), rows.count, rows.n, ignored);
    });
    check_launch("cross_entropy_backward");
}

namespace {

// out[0] = scale * the sum of what the pairs add, in two stages
template <class Row>
void sum_of_pairs(const char* name, const Tensor& x, const Tensor& y, Tensor& out, double parameter, double scale) {
    cudaStream_t stream = use(out.device);
    const int blocks = sum_blocks(x.size);
    DeviceScratch<double> sums(blocks, out.device);
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        loss_kernel<Row, T><<<blocks, power_of_two(x.size, THREADS), 0, stream>>>(
            data_as<T>(x), data_as<T>(y), sums.data, x.size, T(parameter));
        check_launch(name);
        scaled_sum_kernel<T><<<1, power_of_two(blocks, THREADS), 0, stream>>>(
            sums.data, blocks, data_as<T>(out), scale);
    });
    check_launch(name);
}

template <class Row>
void slopes_of_pairs(const char* name, const Tensor& gradient, const Tensor& x, const Tensor& y, Tensor& out,
                     double parameter, double scale) {
    cudaStream_t stream = use(out.device);
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        loss_backward_kernel<Row, T><<<blocks_for(out.size), threads_for(out.size), 0, stream>>>(
            data_as<T>(gradient), data_as<T>(x), data_as<T>(y), data_as<T>(out), out.size, T(parameter), scale);
    });
    check_launch(name);
}

}  // namespace

#define LOSS_CUDA(name, loss, slope)                                                                            \
    namespace {                                                                                                 \
    struct name##_row {                                                                                         \
        template <class T>                                                                                      \
        static __device__ T loss_of(T x, T y, [[maybe_unused]] T p) {                                           \
            return loss;                                                                                        \
        }                                                                                                       \
        template <class T>                                                                                      \
        static __device__ T slope_of([[maybe_unused]] T x, T y, [[maybe_unused]] T p) {                         \
            return slope;                                                                                       \
        }                                                                                                       \
    };                                                                                                          \
    }                                                                                                           \
    void name##_tensor_cuda(const Tensor& x, const Tensor& y, Tensor& out, double parameter, double scale) {    \
        sum_of_pairs<name##_row>(#name, x, y, out, parameter, scale);                                           \
    }                                                                                                           \
    void name##_backward_tensor_cuda(const Tensor& gradient, const Tensor& x, const Tensor& y, Tensor& out,     \
                                     double parameter, double scale) {                                          \
        slopes_of_pairs<name##_row>(#name, gradient, x, y, out, parameter, scale);                              \
    }
LOSSES(LOSS_CUDA)
