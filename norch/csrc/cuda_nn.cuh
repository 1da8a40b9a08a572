// CUDA kernels of layers and losses: the linear layer, softmax, cross-entropy and the mean squared error, with their
// gradients. A part of cuda.cu. All work on rows of n elements side by side, a block for each row.

#pragma once
#include "cuda_device.cuh"

namespace {

enum { ROW_THREADS = 256 };

// A power of two, so that halves can be combined.
int row_threads(int64_t n) {
    int threads = WARP;
    while (threads < n && threads < ROW_THREADS) threads *= 2;
    return threads;
}
int row_blocks(int64_t rows) { return int(rows < MAX_BLOCKS ? rows : int64_t(MAX_BLOCKS)); }

// What the threads of a block bring, combined: the same for all of them.
template <class F>
__device__ double combine_block(double mine, F combine) {
    __shared__ double parts[ROW_THREADS];
    parts[threadIdx.x] = mine;
    __syncthreads();
#pragma unroll 1
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (int(threadIdx.x) < half) parts[threadIdx.x] = combine(parts[threadIdx.x], parts[threadIdx.x + half]);
        __syncthreads();
    }
    const double total = parts[0];
    __syncthreads();  // before the next call writes there
    return total;
}
__device__ double sum_block(double mine) {
    return combine_block(mine, [](double a, double b) { return a + b; });
}

// The largest element of a row; a NaN is passed over (exp(NaN - max) brings it into the sum anyway).
template <class T>
__device__ T row_max(const T* x, int64_t n) {
    T largest = T(-INFINITY);
    for (int64_t j = threadIdx.x; j < n; j += blockDim.x) largest = x[j] > largest ? x[j] : largest;
    return T(combine_block(double(largest), [](double a, double b) { return a > b ? a : b; }));
}

// The sum of exp(x - max) over a row.
template <class T>
__device__ double row_exp(const T* x, int64_t n, T max) {
    double sum = 0;
    for (int64_t j = threadIdx.x; j < n; j += blockDim.x) sum += double(formula::exp(x[j] - max));
    return sum_block(sum);
}

// ---- Softmax ----------------------------------------------------------------------------------------------------

// out = exp(x - max) / sum(exp(x - max)) along each row
template <class T>
__global__ void softmax_kernel(const T* x, T* out, int64_t rows, int64_t n) {
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const T* from = x + row * n;
        const T max = row_max(from, n), factor = T(1 / row_exp(from, n, max));
        for (int64_t j = threadIdx.x; j < n; j += blockDim.x) out[row * n + j] = formula::exp(from[j] - max) * factor;
    }
}

// out = x - max - log(sum(exp(x - max))) along each row
template <class T>
__global__ void log_softmax_kernel(const T* x, T* out, int64_t rows, int64_t n) {
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const T* from = x + row * n;
        const T max = row_max(from, n), log_sum = T(::log(row_exp(from, n, max)));
        for (int64_t j = threadIdx.x; j < n; j += blockDim.x) out[row * n + j] = from[j] - max - log_sum;
    }
}

// out = (gradient - sum(gradient * y)) * y, with y the softmax
template <class T>
__global__ void softmax_backward_kernel(const T* gradient, const T* y, T* out, int64_t rows, int64_t n) {
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const T *g = gradient + row * n, *p = y + row * n;
        double sum = 0;
        for (int64_t j = threadIdx.x; j < n; j += blockDim.x) sum += double(g[j] * p[j]);
        const T mean = T(sum_block(sum));
        for (int64_t j = threadIdx.x; j < n; j += blockDim.x) out[row * n + j] = (g[j] - mean) * p[j];
    }
}

// out = gradient - exp(y) * sum(gradient), with y the log softmax
template <class T>
__global__ void log_softmax_backward_kernel(const T* gradient, const T* y, T* out, int64_t rows, int64_t n) {
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const T *g = gradient + row * n, *p = y + row * n;
        double sum = 0;
        for (int64_t j = threadIdx.x; j < n; j += blockDim.x) sum += double(g[j]);
        const T total = T(sum_block(sum));
        for (int64_t j = threadIdx.x; j < n; j += blockDim.x) out[row * n + j] = g[j] - formula::exp(p[j]) * total;
    }
}

// ---- Cross-entropy ----------------------------------------------------------------------------------------------

// losses[row] = scale * (log(sum(exp(logits))) - logits[label]); 0 where the label is to be ignored
template <class T>
__global__ void cross_entropy_kernel(const T* logits, const int64_t* labels, T* losses, int64_t rows, int64_t n,
                                     int64_t ignored, double scale) {
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const T* x = logits + row * n;
        const T max = row_max(x, n);
        const double log_sum = ::log(row_exp(x, n, max));
        const int64_t label = labels[row];
        if (threadIdx.x == 0)
            losses[row] = label == ignored ? T(0) : T(scale * (log_sum - (double(x[label]) - double(max))));
    }
}

// out = gradient[row] * scale * (softmax(logits) - 1 at the label); 0 where the label is to be ignored
template <class T>
__global__ void cross_entropy_backward_kernel(const T* gradient, int64_t gradient_step, const T* logits,
                                              const int64_t* labels, T* out, int64_t rows, int64_t n, int64_t ignored,
                                              double scale) {
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const T* x = logits + row * n;
        const int64_t label = labels[row];
        const T max = row_max(x, n), share = T(scale * gradient[row * gradient_step]);
        const T factor = T(share / row_exp(x, n, max));
        for (int64_t j = threadIdx.x; j < n; j += blockDim.x) {
            const T slope = formula::exp(x[j] - max) * factor - (j == label ? share : T(0));
            out[row * n + j] = label == ignored ? T(0) : slope;
        }
    }
}

// ---- Mean squared error -----------------------------------------------------------------------------------------

// Block by block the sum of (x - y)^2, into a buffer.
template <class T>
__global__ void squared_error_kernel(const T* x, const T* y, double* sums, int64_t size) {
    double sum = 0;
    const int64_t step = gridDim.x * int64_t(blockDim.x);
    for (int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; i < size; i += step) {
        const T difference = x[i] - y[i];
        sum += double(difference * difference);
    }
    const double total = sum_block(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

// out[0] = scale * sum(sums), in one block
template <class T>
__global__ void scaled_sum_kernel(const double* sums, int64_t count, T* out, double scale) {
    double sum = 0;
    for (int64_t i = threadIdx.x; i < count; i += blockDim.x) sum += sums[i];
    const double total = sum_block(sum);
    if (threadIdx.x == 0) *out = T(scale * total);
}

// out = gradient[0] * 2 * scale * (x - y)
template <class T>
__global__ void mse_backward_kernel(const T* gradient, const T* x, const T* y, T* out, int64_t size, double scale) {
    const T factor = T(2 * scale * gradient[0]);
    const int64_t step = gridDim.x * int64_t(blockDim.x);
    for (int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; i < size; i += step) out[i] = factor * (x[i] - y[i]);
}

// ---- The launchers ----------------------------------------------------------------------------------------------

template <class T>
const T* values(const Tensor& tensor) {
    return static_cast<const T*>(tensor.data);
}
template <class T>
T* values(Tensor& tensor) {
    return static_cast<T*>(tensor.data);
}

struct Rows {
    int64_t n, count;
    int threads, blocks;
    explicit Rows(const Tensor& x)
        : n(x.shape[x.ndim - 1]), count(n ? x.size / n : 0), threads(row_threads(n)), blocks(row_blocks(count)) {}
};

// Launches a kernel of rows with the shape of out.
template <class Kernel, class... Pointers>
void launch_rows(const char* name, Kernel* kernel, const Tensor& out, Pointers... pointers) {
    cudaStream_t stream = use(out.device);
    const Rows rows(out);
    kernel<<<rows.blocks, rows.threads, 0, stream>>>(pointers..., rows.count, rows.n);
    check_launch(name);
}

}  // namespace

// out = x @ weight.T + bias
void linear_tensor_cuda(const Tensor& x, const Tensor& weight, const Tensor* bias, Tensor& out) {
    Tensor transposed = weight;
    swap(transposed.shape[0], transposed.shape[1]);
    swap(transposed.strides[0], transposed.strides[1]);
    matmul_tensor_cuda(x, transposed, out);
    if (bias) add_tensor_cuda(out, expanded(*bias, out.shape, out.ndim, "linear"), out);
}

void softmax_tensor_cuda(const Tensor& x, Tensor& out) {
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        launch_rows("softmax", softmax_kernel<T>, out, values<T>(x), values<T>(out));
    });
}

void log_softmax_tensor_cuda(const Tensor& x, Tensor& out) {
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        launch_rows("log_softmax", log_softmax_kernel<T>, out, values<T>(x), values<T>(out));
    });
}

void softmax_backward_tensor_cuda(const Tensor& gradient, const Tensor& y, Tensor& out) {
    for_real(y.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        launch_rows("softmax_backward", softmax_backward_kernel<T>, out, values<T>(gradient), values<T>(y), values<T>(out));
    });
}

void log_softmax_backward_tensor_cuda(const Tensor& gradient, const Tensor& y, Tensor& out) {
    for_real(y.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        launch_rows("log_softmax_backward", log_softmax_backward_kernel<T>, out, values<T>(gradient), values<T>(y),
                    values<T>(out));
    });
}

void cross_entropy_tensor_cuda(const Tensor& logits, const Tensor& labels, Tensor& losses, int64_t ignored, double scale) {
    cudaStream_t stream = use(losses.device);
    const Rows rows(logits);
    for_real(logits.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        cross_entropy_kernel<T><<<rows.blocks, rows.threads, 0, stream>>>(
            values<T>(logits), values<int64_t>(labels), values<T>(losses), rows.count, rows.n, ignored, scale);
    });
    check_launch("cross_entropy");
}

// The gradient has one element for each row, or one for all.
void cross_entropy_backward_tensor_cuda(const Tensor& gradient, const Tensor& logits, const Tensor& labels, Tensor& out,
                                        int64_t ignored, double scale) {
    cudaStream_t stream = use(out.device);
    const Rows rows(logits);
    for_real(logits.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        cross_entropy_backward_kernel<T><<<rows.blocks, rows.threads, 0, stream>>>(
            values<T>(gradient), int64_t(gradient.size != 1), values<T>(logits), values<int64_t>(labels),
            values<T>(out), rows.count, rows.n, ignored, scale);
    });
    check_launch("cross_entropy_backward");
}

// out[0] = scale * sum((x - y)^2), in two stages
void mse_tensor_cuda(const Tensor& x, const Tensor& y, Tensor& out, double scale) {
    enum { ELEMENTS = 32, BLOCKS = 1024 };  // of a thread; at most
    cudaStream_t stream = use(out.device);
    int64_t blocks = (x.size + ROW_THREADS * ELEMENTS - 1) / (ROW_THREADS * ELEMENTS);
    blocks = blocks < 1 ? 1 : blocks < BLOCKS ? blocks : int64_t(BLOCKS);
    DeviceScratch<double> sums(blocks, out.device);
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        squared_error_kernel<T><<<int(blocks), row_threads(x.size), 0, stream>>>(values<T>(x), values<T>(y), sums.data, x.size);
        check_launch("mse");
        scaled_sum_kernel<T><<<1, row_threads(blocks), 0, stream>>>(sums.data, blocks, values<T>(out), scale);
    });
    check_launch("mse");
}

void mse_backward_tensor_cuda(const Tensor& gradient, const Tensor& x, const Tensor& y, Tensor& out, double scale) {
    cudaStream_t stream = use(out.device);
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        mse_backward_kernel<T><<<blocks_for(out.size), threads_for(out.size), 0, stream>>>(
            values<T>(gradient), values<T>(x), values<T>(y), values<T>(out), out.size, scale);
    });
    check_launch("mse_backward");
}
