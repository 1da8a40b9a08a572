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

// The same along the middle axis of [outer, n, inner]: a thread for each column, so that neighbours read neighbours. The
// formula gets the column's maximum and the sum of its exponentials: f(x, max, sum).
template <class T, class F>
__global__ void columns_kernel(const T* x, T* out, int64_t columns, int64_t n, int64_t inner, F f) {
    for (int64_t c = first_of_thread(); c < columns; c += all_threads()) {
        const int64_t first = c / inner * n * inner + c % inner;
        const T* from = x + first;
        T max = T(-INFINITY);
        for (int64_t j = 0; j < n; j++) max = from[j * inner] > max ? from[j * inner] : max;
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += double(formula::exp(from[j * inner] - max));
        for (int64_t j = 0; j < n; j++) out[first + j * inner] = f(from[j * inner], max, sum);
    }
}

// Backward: the sum of term(gradient, y) over the column, then f(gradient, y, sum).
template <class T, class Term, class F>
__global__ void columns_backward_kernel(const T* gradient, const T* y, T* out, int64_t columns, int64_t n, int64_t inner,
                                        Term term, F f) {
    for (int64_t c = first_of_thread(); c < columns; c += all_threads()) {
        const int64_t first = c / inner * n * inner + c % inner;
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += double(term(gradient[first + j * inner], y[first + j * inner]));
        for (int64_t j = 0; j < n; j++)
            out[first + j * inner] = f(gradient[first + j * inner], y[first + j * inner], T(sum));
    }
}

// ---- Cross-entropy -----------------------------------------------------------------------------------------------

// loss = -weight[label] * log_p[label] of each column; a weight of 0 gives 0 even of an infinite log_p. NaN for a label
// that is not a class.
template <class T>
__global__ void nll_kernel(const T* log_p, const int64_t* labels, const T* weight, T* losses, int64_t* chosen, T* shares,
                           int64_t rows, int64_t classes, int64_t inner, int64_t ignored) {
    for (int64_t row = first_of_thread(); row < rows; row += all_threads()) {
        const int64_t label = labels[row], j = row % inner;
        const bool counts = label != ignored, known = counts && label >= 0 && label < classes;
        chosen[row] = known ? label : 0;
        shares[row] = !counts ? T(0) : known && weight ? weight[label] : T(1);
        const T score = known ? log_p[(row - j) * classes + label * inner + j] : counts ? T(NAN) : T(0);
        losses[row] = (shares[row] == 0) & (score == score) ? T(0) : -shares[row] * score;
    }
}

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

// losses[row] = scale * (log(sum(exp(logits))) - logits[label]), with a part of the mean of all logits in place of the
// label's; 0 for ignored labels, or NaN if all are ignored: the mean of nothing. NaN for a label that is not a class.
template <class T>
__global__ void __launch_bounds__(MAX_THREADS)
    cross_entropy_kernel(const T* logits, const int64_t* labels, const double* scale, T* losses, int64_t rows, int64_t n,
                         int64_t ignored, double smoothing) {
    for_rows(rows, n, [=](int64_t row, int64_t length) {
        const T* x = logits + row * n;
        const T max = row_max(x, length);
        const double log_sum = ::log(row_exp(x, length, max));
        double mean = 0;
        for (int64_t j = threadIdx.x; smoothing != 0 && j < length; j += blockDim.x) mean += double(x[j] - max);
        mean = sum_row(mean) / double(n);
        const int64_t label = labels[row];
        if (threadIdx.x > 0 || length == 0) return;
        const bool known = label >= 0 && label < n;
        double target = known ? double(x[label]) - double(max) : double(NAN);
        if (smoothing != 0) target = (1 - smoothing) * target + smoothing * mean;
        const double loss = log_sum - target;
        losses[row] = T(*scale * (label == ignored ? 0 : loss));
    });
}

// out = gradient[row] * scale * (softmax(logits) - 1 at the label); 0 for ignored labels
template <class T>
__global__ void __launch_bounds__(MAX_THREADS)
    cross_entropy_backward_kernel(const T* gradient, int64_t gradient_step, const T* __restrict__ logits,
                                  const int64_t* labels, const double* scale, T* __restrict__ out, int64_t rows,
                                  int64_t n, int64_t ignored, double smoothing) {
    for_rows(rows, n, [=](int64_t row, int64_t length) {
        const T* x = logits + row * n;
        const int64_t label = labels[row];
        const T max = row_max(x, length), share = T(*scale * gradient[row * gradient_step]);
        const T factor = T(share / row_exp(x, length, max));
        for (int64_t j = threadIdx.x; j < length; j += blockDim.x) {
            const T goal = T(smoothing / double(n)) + (j == label ? T(1 - smoothing) : T(0));
            const T slope = formula::exp(x[j] - max) * factor - share * goal;
            out[row * n + j] = label == ignored ? T(0) : slope;
        }
    });
}

// The same for the columns of [outer, n, inner], a thread for each.
template <class T>
__global__ void columns_cross_entropy_kernel(const T* logits, const int64_t* labels, const double* scale, T* losses,
                                             int64_t columns, int64_t n, int64_t inner, int64_t ignored,
                                             double smoothing) {
    for (int64_t c = first_of_thread(); c < columns; c += all_threads()) {
        const T* x = logits + (c / inner * n * inner + c % inner);
        T max = T(-INFINITY);
        for (int64_t j = 0; j < n; j++) max = x[j * inner] > max ? x[j * inner] : max;
        double sum = 0, mean = 0;
        for (int64_t j = 0; j < n; j++) sum += double(formula::exp(x[j * inner] - max));
        for (int64_t j = 0; smoothing != 0 && j < n; j++) mean += double(x[j * inner] - max) / double(n);
        const int64_t label = labels[c];
        const bool known = label >= 0 && label < n;
        const double target = known ? double(x[label * inner]) - double(max) : double(NAN);
        const double loss = ::log(sum) - (1 - smoothing) * target - smoothing * mean;
        losses[c] = T(*scale * (label == ignored ? 0 : loss));
    }
}

template <class T>
__global__ void columns_cross_entropy_backward_kernel(const T* gradient, int64_t gradient_step, const T* logits,
                                                      const int64_t* labels, const double* scale, T* out,
                                                      int64_t columns, int64_t n, int64_t inner, int64_t ignored,
                                                      double smoothing) {
    for (int64_t c = first_of_thread(); c < columns; c += all_threads()) {
        const int64_t first = c / inner * n * inner + c % inner, label = labels[c];
        const T* x = logits + first;
        const T share = T(*scale * gradient[c * gradient_step]);
        T max = T(-INFINITY);
        for (int64_t j = 0; j < n; j++) max = x[j * inner] > max ? x[j * inner] : max;
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += double(formula::exp(x[j * inner] - max));
        const T factor = T(share / sum);
        for (int64_t j = 0; j < n; j++) {
            const T goal = T(smoothing / double(n)) + (j == label ? T(1 - smoothing) : T(0));
            const T slope = formula::exp(x[j * inner] - max) * factor - share * goal;
            out[first + j * inner] = label == ignored ? T(0) : slope;
        }
    }
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
    explicit Rows(const Tensor& x) : Rows(x, x.shape[x.ndim - 1]) {}
    Rows(const Tensor& x, int64_t n) : n(n), count(n ? x.size / n : 0) {
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

// A __device__ function object for the launchers below.
#define COLUMN_FORMULA(name, arguments, value)    \
    namespace {                                   \
    template <class T>                            \
    struct name {                                 \
        __device__ T operator() arguments const { \
            return value;                         \
        }                                         \
    };                                            \
    }
COLUMN_FORMULA(SoftmaxOf, (T x, T max, double sum), formula::exp(x - max) * T(1 / sum))
COLUMN_FORMULA(LogSoftmaxOf, (T x, T max, double sum), x - max - T(::log(sum)))
COLUMN_FORMULA(ProductOf, (T g, T y), g * y)
COLUMN_FORMULA(GradientOf, (T g, T), g)
COLUMN_FORMULA(SoftmaxSlope, (T g, T y, T mean), (g - mean) * y)
COLUMN_FORMULA(LogSoftmaxSlope, (T g, T y, T total), g - formula::exp(y) * total)

namespace {

// Whether x [outer, n, inner] has columns, which are then computed; else it has rows.
template <class T, class F>
bool along_columns(const char* name, const Tensor& x, Tensor& out, F formula) {
    if (out.shape[2] == 1) return false;
    const Rows rows(out, out.shape[1]);
    columns_kernel<T><<<blocks_for(rows.count), threads_for(rows.count), 0, use(out.device)>>>(
        data_as<T>(x), data_as<T>(out), rows.count, rows.n, out.shape[2], formula);
    check_launch(name);
    return true;
}

template <class T, class Term, class F>
bool backward_along_columns(const char* name, const Tensor& gradient, const Tensor& y, Tensor& out, Term term, F formula) {
    if (out.shape[2] == 1) return false;
    const Rows rows(out, out.shape[1]);
    columns_backward_kernel<T><<<blocks_for(rows.count), threads_for(rows.count), 0, use(out.device)>>>(
        data_as<T>(gradient), data_as<T>(y), data_as<T>(out), rows.count, rows.n, out.shape[2], term, formula);
    check_launch(name);
    return true;
}

}  // namespace

void softmax_tensor_cuda(const Tensor& x, Tensor& out) {
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        if (along_columns<T>("softmax", x, out, SoftmaxOf<T>())) return;
        const Rows rows(out, out.shape[1]);
        softmax_kernel<T><<<rows.blocks, rows.block, 0, use(out.device)>>>(data_as<T>(x), data_as<T>(out), rows.count, rows.n);
        check_launch("softmax");
    });
}

void log_softmax_tensor_cuda(const Tensor& x, Tensor& out) {
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        if (along_columns<T>("log_softmax", x, out, LogSoftmaxOf<T>())) return;
        const Rows rows(out, out.shape[1]);
        log_softmax_kernel<T><<<rows.blocks, rows.block, 0, use(out.device)>>>(data_as<T>(x), data_as<T>(out), rows.count, rows.n);
        check_launch("log_softmax");
    });
}

void softmax_backward_tensor_cuda(const Tensor& gradient, const Tensor& y, Tensor& out) {
    for_real(y.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        if (backward_along_columns<T>("softmax_backward", gradient, y, out, ProductOf<T>(), SoftmaxSlope<T>())) return;
        const Rows rows(out, out.shape[1]);
        softmax_backward_kernel<T><<<rows.blocks, rows.block, 0, use(out.device)>>>(
            data_as<T>(gradient), data_as<T>(y), data_as<T>(out), rows.count, rows.n);
        check_launch("softmax_backward");
    });
}

void log_softmax_backward_tensor_cuda(const Tensor& gradient, const Tensor& y, Tensor& out) {
    for_real(y.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        if (backward_along_columns<T>("log_softmax_backward", gradient, y, out, GradientOf<T>(), LogSoftmaxSlope<T>())) return;
        const Rows rows(out, out.shape[1]);
        log_softmax_backward_kernel<T><<<rows.blocks, rows.block, 0, use(out.device)>>>(
            data_as<T>(gradient), data_as<T>(y), data_as<T>(out), rows.count, rows.n);
        check_launch("log_softmax_backward");
    });
}

void nll_tensor_cuda(const Tensor& log_p, const Tensor& labels, const Tensor* weight, Tensor& losses, Tensor& classes,
                     Tensor& shares, int64_t ignored) {
    cudaStream_t stream = use(losses.device);
    for_real(log_p.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        nll_kernel<T><<<blocks_for(labels.size), threads_for(labels.size), 0, stream>>>(
            data_as<T>(log_p), data_as<int64_t>(labels), data_as<T>(weight), data_as<T>(losses),
            data_as<int64_t>(classes), data_as<T>(shares), labels.size, log_p.shape[1], log_p.shape[2],
            ignored);
    });
    check_launch("nll");
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
                               int64_t ignored, double smoothing) {
    cudaStream_t stream = use(losses.device);
    const Rows rows(logits, logits.shape[1]);
    const int64_t inner = logits.shape[2];
    if (rows.count == 0) return;  // no classes: label_scale has refused every label
    for_real(logits.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        if (inner > 1) {
            columns_cross_entropy_kernel<T><<<blocks_for(rows.count), threads_for(rows.count), 0, stream>>>(
                data_as<T>(logits), data_as<int64_t>(labels), data_as<double>(scale), data_as<T>(losses), rows.count,
                rows.n, inner, ignored, smoothing);
            return;
        }
        cross_entropy_kernel<T><<<rows.blocks, rows.block, 0, stream>>>(
            data_as<T>(logits), data_as<int64_t>(labels), data_as<double>(scale), data_as<T>(losses), rows.count, rows.n,
            ignored, smoothing);
    });
    check_launch("cross_entropy");
}

// The gradient has one element for each row, or one for all.
void cross_entropy_backward_tensor_cuda(const Tensor& gradient, const Tensor& logits, const Tensor& labels,
                                        const Tensor& scale, Tensor& out, int64_t ignored, double smoothing) {
    cudaStream_t stream = use(out.device);
    const Rows rows(logits, logits.shape[1]);
    const int64_t inner = logits.shape[2];
    for_real(logits.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        if (inner > 1) {
            columns_cross_entropy_backward_kernel<T><<<blocks_for(rows.count), threads_for(rows.count), 0, stream>>>(
                data_as<T>(gradient), int64_t(gradient.size != 1), data_as<T>(logits), data_as<int64_t>(labels),
                data_as<double>(scale), data_as<T>(out), rows.count, rows.n, inner, ignored, smoothing);
            return;
        }
        cross_entropy_backward_kernel<T><<<rows.blocks, rows.block, 0, stream>>>(
            data_as<T>(gradient), int64_t(gradient.size != 1), data_as<T>(logits), data_as<int64_t>(labels),
            data_as<double>(scale), data_as<T>(out), rows.count, rows.n, ignored, smoothing);
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
