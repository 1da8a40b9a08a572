// CUDA kernels behind api/rows.cpp: margins between classes, pairs of rows, sequences of labels; and the steps of an
// LSTM. A part of cuda.cu. As in layers.cuh, a row of threads works on a row; here it has a block of its own.

#pragma once
#include "cuda/layers.cuh"
#include "ops/row_pairs.h"

namespace {

// ---- Margins between classes -------------------------------------------------------------------------------------

// other[n, i] = whether class i is none of the labels of row n; counts[n] = how many there are. A block for each row.
__global__ void mark_labels_kernel(const int64_t* labels, uint8_t* other, int64_t* counts, int64_t rows, int64_t classes,
                                   int64_t listed, bool until, Fault fault, Fault* found) {
    for (int64_t n = blockIdx.x; n < rows; n += gridDim.x) {
        for (int64_t i = threadIdx.x; i < classes; i += blockDim.x) other[n * classes + i] = 1;
        __syncthreads();
        if (threadIdx.x == 0) {
            int64_t count = 0;
            for (; count < listed; count++) {
                const int64_t label = labels[n * listed + count];
                if (until && label < 0) break;
                if (label < 0 || label >= classes) {
                    report(found, fault, label);
                    break;
                }
                other[n * classes + label] = 0;
            }
            counts[n] = count;
        }
    }
}

// What class i adds beside a wanted one: missed^power, and its derivative.
template <class T>
__device__ T missed_by(T missed, const Margins& how, bool slope) {
    if (!(missed > 0)) return T(0);
    return how.power == 1 ? (slope ? T(1) : missed) : (slope ? 2 * missed : missed * missed);
}

// A block for each row; all its threads come to each sum.
template <class T>
__global__ void class_margin_kernel(const T* scores, const int64_t* labels, const T* weight, const uint8_t* other,
                                    const int64_t* counts, T* losses, int64_t rows, int64_t classes, int64_t listed,
                                    Margins how) {
    for (int64_t n = blockIdx.x; n < rows; n += gridDim.x) {
        double loss = 0;
        for (int64_t k = 0; k < counts[n]; k++) {
            const int64_t label = labels[n * listed + k];
            const T wanted = T(how.margin) - scores[n * classes + label];
            double sum = 0;
            for (int64_t i = threadIdx.x; i < classes; i += blockDim.x)
                if (other[n * classes + i]) sum += double(missed_by(wanted + scores[n * classes + i], how, false));
            loss += sum_row(sum) * (weight ? double(weight[label]) : 1);
        }
        if (threadIdx.x == 0) losses[n] = T(loss / double(classes));
    }
}

template <class T>
__global__ void class_margin_backward_kernel(const T* gradient, int64_t gradient_step, const T* scores,
                                             const int64_t* labels, const T* weight, const uint8_t* other,
                                             const int64_t* counts, T* out, int64_t rows, int64_t classes,
                                             int64_t listed, Margins how, double scale) {
    for (int64_t n = blockIdx.x; n < rows; n += gridDim.x) {
        T* to = out + n * classes;
        for (int64_t i = threadIdx.x; i < classes; i += blockDim.x) to[i] = T(0);
        const double part = scale * double(gradient[n * gradient_step]) / double(classes);
        for (int64_t k = 0; k < counts[n]; k++) {
            const int64_t label = labels[n * listed + k];
            const T wanted = T(how.margin) - scores[n * classes + label];
            const T factor = T(weight ? part * double(weight[label]) : part);
            double sum = 0;
            for (int64_t i = threadIdx.x; i < classes; i += blockDim.x) {
                if (!other[n * classes + i]) continue;
                const T slope = factor * missed_by(wanted + scores[n * classes + i], how, true);
                to[i] += slope;
                sum += double(slope);
            }
            const double total = sum_row(sum);
            if (threadIdx.x == 0) to[label] -= T(total);
            __syncthreads();
        }
    }
}

// ---- Pairs of rows -----------------------------------------------------------------------------------------------

template <class T>
__device__ PairSums sums_of_pair(const T* x, const T* y, int64_t n, const RowPairs& how) {
    double xy = 0, xx = 0, yy = 0;
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
        const T d = x[i] - y[i] + T(how.eps);
        xy += how.kind == RowPairs::DISTANCE ? double(d * d) : double(x[i] * y[i]);
        xx += double(x[i] * x[i]);
        yy += double(y[i] * y[i]);
    }
    xy = sum_row(xy), xx = sum_row(xx), yy = sum_row(yy);
    return {xy, xx, yy};
}

template <class T>
__global__ void __launch_bounds__(MAX_THREADS)
    row_pairs_kernel(const T* x, const T* y, T* out, int64_t rows, int64_t n, RowPairs how) {
    for_rows(rows, n, [=](int64_t row, int64_t length) {
        const PairSums sums = sums_of_pair(x + row * n, y + row * n, length, how);
        if (threadIdx.x == 0 && length) out[row] = T(pair_value(how, sums));
    });
}

template <class T>
__global__ void __launch_bounds__(MAX_THREADS)
    row_pairs_backward_kernel(const T* gradient, const T* x, const T* y, T* for_x, T* for_y, int64_t rows, int64_t n,
                              RowPairs how) {
    for_rows(rows, n, [=](int64_t row, int64_t length) {
        const T *a = x + row * n, *b = y + row * n;
        const PairSums sums = sums_of_pair(a, b, length, how);
        const double g = double(gradient[row]);
        const PairSlope of_x = pair_slope(how, sums), of_y = pair_slope(how, {sums.xy, sums.yy, sums.xx});
        for (int64_t i = threadIdx.x; i < length; i += blockDim.x) {
            const T distance = T(g * of_x.other) * (a[i] - b[i] + T(how.eps));
            const bool apart = how.kind == RowPairs::DISTANCE;
            if (for_x) for_x[row * n + i] = apart ? distance : T(g * of_x.other) * b[i] + T(g * of_x.own) * a[i];
            if (for_y) for_y[row * n + i] = apart ? -distance : T(g * of_y.other) * a[i] + T(g * of_y.own) * b[i];
        }
    });
}

// ---- Sequences of labels -----------------------------------------------------------------------------------------
//
// A block for each sequence, whose threads share the states of a step; cpu/rows.cpp tells what alpha holds.

template <class T>
struct LabelStates {
    const T* log_probs;
    const int64_t* labels;
    int64_t step, steps, states, blank, classes;

    // Lengths and labels that are out of range were reported, and do not lead out of memory.
    __device__ LabelStates(const T* x, const int64_t* labels, const int64_t* lengths, int64_t n, int64_t samples,
                           int64_t classes, int64_t listed, int64_t all_steps, int64_t blank)
        : log_probs(x + n * classes),
          labels(labels + n * listed),
          step(samples * classes),
          steps(within(lengths[n], all_steps)),
          states(2 * within(lengths[samples + n], listed) + 1),
          blank(blank),
          classes(classes) {}
    static __device__ int64_t within(int64_t x, int64_t most) { return x < 0 ? 0 : x < most ? x : most; }
    __device__ int64_t label(int64_t s) const { return s % 2 ? within(labels[s / 2], classes - 1) : blank; }
    __device__ bool skips(int64_t s) const { return s < states && s % 2 && s > 1 && label(s) != label(s - 2); }
    __device__ T score(int64_t t, int64_t s) const { return log_probs[t * step + label(s)]; }
};

template <class T>
__device__ T log_sum(T a, T b, T c) {
    const T ab = a > b ? a : b, high = ab > c ? ab : c, shift = high > T(-INFINITY) ? high : T(0);
    return shift + formula::log(formula::exp(a - shift) + formula::exp(b - shift) + formula::exp(c - shift));
}

template <class T>
__global__ void ctc_kernel(const T* log_probs, const int64_t* labels, const int64_t* lengths, T* alpha, T* losses,
                           int64_t samples, int64_t classes, int64_t listed, int64_t all_steps, int64_t blank) {
    const T never = T(-INFINITY);
    const int64_t width = 2 * listed + 3;
    for (int64_t n = blockIdx.x; n < samples; n += gridDim.x) {
        const LabelStates<T> at(log_probs, labels, lengths, n, samples, classes, listed, all_steps, blank);
        T* ways = alpha + n * all_steps * width + 2;
        for (int64_t t = 0; t < at.steps; t++, ways += width) {
            const T* before = ways - width;
            if (threadIdx.x < 2) ways[int64_t(threadIdx.x) - 2] = never;
            for (int64_t s = threadIdx.x; s < at.states; s += blockDim.x) {
                const T reached = t ? log_sum(before[s], before[s - 1], at.skips(s) ? before[s - 2] : never)
                                    : s < 2 ? T(0) : never;
                ways[s] = reached + at.score(t, s);
            }
            __syncthreads();
        }
        if (threadIdx.x > 0) continue;
        const T* last = ways - width + at.states - 1;  // without a step only the empty target is read
        losses[n] = -(at.steps ? log_sum(last[0], last[-1], never) : at.states == 1 ? T(0) : never);
    }
}

// beta is a buffer of two steps for each sequence
template <class T>
__global__ void ctc_backward_kernel(const T* gradient, const T* log_probs, const int64_t* labels, const int64_t* lengths,
                                    const T* alpha, const T* losses, T* out, T* beta, int64_t samples, int64_t classes,
                                    int64_t listed, int64_t all_steps, int64_t blank) {
    const T never = T(-INFINITY);
    const int64_t width = 2 * listed + 3;
    for (int64_t n = blockIdx.x; n < samples; n += gridDim.x) {
        const LabelStates<T> at(log_probs, labels, lengths, n, samples, classes, listed, all_steps, blank);
        const T loss = losses[n], g = gradient[n];
        for (int64_t t = all_steps - 1; t >= 0; t--) {
            const bool counts = t < at.steps && loss != T(INFINITY);
            T *now = beta + (2 * n + t % 2) * width, *after = beta + (2 * n + (t + 1) % 2) * width;
            T* to = out + t * at.step + n * classes;
            const T *p = at.log_probs + t * at.step, *ways = alpha + (n * all_steps + t) * width + 2;
            for (int64_t s = threadIdx.x; counts && s < width; s += blockDim.x) {
                const T first = s < at.states && s + 2 >= at.states ? T(0) : never;
                const T from = t + 1 < at.steps && s < at.states
                                   ? log_sum(after[s], after[s + 1], at.skips(s + 2) ? after[s + 2] : never)
                                   : first;
                now[s] = s < at.states ? from + at.score(t, s) : never;
            }
            for (int64_t c = threadIdx.x; c < classes; c += blockDim.x) to[c] = counts ? g * formula::exp(p[c]) : T(0);
            __syncthreads();
            for (int64_t s = 0; counts && threadIdx.x == 0 && s < at.states; s++) {
                const T way = ways[s] + now[s];
                if (way != never) to[at.label(s)] -= g * formula::exp(way + loss - p[at.label(s)]);
            }
        }
    }
}

// ---- Steps of an LSTM --------------------------------------------------------------------------------------------

// A thread for each element of the state [N, n].
template <class T>
__global__ void lstm_step_kernel(const T* x, const T* c, T* gates, T* c_new, T* h, int64_t size, int64_t n) {
    for (int64_t e = first_of_thread(); e < size; e += all_threads()) {
        const int64_t at = e / n * 4 * n + e % n;
        const T i = formula::sigmoid(x[at] + gates[at]), f = formula::sigmoid(x[at + n] + gates[at + n]);
        const T g = formula::tanh(x[at + 2 * n] + gates[at + 2 * n]);
        const T o = formula::sigmoid(x[at + 3 * n] + gates[at + 3 * n]);
        gates[at] = i, gates[at + n] = f, gates[at + 2 * n] = g, gates[at + 3 * n] = o;
        const T next = f * c[e] + i * g;
        c_new[e] = next;
        h[e] = o * formula::tanh(next);
    }
}

template <class T>
__global__ void lstm_step_backward_kernel(const T* to_h, const T* to_out, const T* gates, const T* c, const T* c_new,
                                          T* to_c, T* d, T* h, int64_t size, int64_t n) {
    for (int64_t e = first_of_thread(); e < size; e += all_threads()) {
        const int64_t at = e / n * 4 * n + e % n;
        const T i = gates[at], f = gates[at + n], g = gates[at + 2 * n], o = gates[at + 3 * n];
        const T shown = formula::tanh(c_new[e]), out = to_out ? to_h[e] + to_out[e] : to_h[e];
        const T inner = to_c[e] + out * o * (1 - shown * shown);
        d[at] = inner * g * i * (1 - i);
        d[at + n] = inner * c[e] * f * (1 - f);
        d[at + 2 * n] = inner * i * (1 - g * g);
        d[at + 3 * n] = out * shown * o * (1 - o);
        to_c[e] = inner * f;
        if (h) h[e] = o * shown;
    }
}

// ---- The launchers -----------------------------------------------------------------------------------------------

// The labels of each row, marked; then f(blocks, threads, the marks, the counts).
template <class F>
void with_marked_labels(const Tensor& scores, const Tensor& labels, const Margins& how, F f) {
    cudaStream_t stream = use(scores.device);
    const int64_t rows = scores.shape[0], classes = scores.shape[1];
    const int blocks = at_most(rows, MAX_BLOCKS), threads = power_of_two(classes, THREADS);
    const Fault fault = {Fault::PLACE, 1, how.until ? "multilabel_margin_loss" : "multi_margin_loss", classes, 0, 0};
    DeviceScratch<uint8_t> other(rows * classes, scores.device);
    DeviceScratch<int64_t> counts(rows, scores.device);
    mark_labels_kernel<<<blocks, threads, 0, stream>>>(data_as<int64_t>(labels), other.data, counts.data, rows, classes,
                                                       labels.shape[1], bool(how.until), fault, fault_of(scores.device));
    check_launch("class_margin");
    for_real(scores.dtype, [&](auto type) { f(type, blocks, threads, stream, other.data, counts.data); });
    check_launch("class_margin");
}

}  // namespace

void class_margin_tensor_cuda(const Tensor& scores, const Tensor& labels, const Tensor* weight, Tensor& losses,
                              const Margins& how) {
    with_marked_labels(scores, labels, how, [&](auto type, int blocks, int threads, cudaStream_t stream,
                                                const uint8_t* other, const int64_t* counts) {
        using T = typename decltype(type)::type;
        class_margin_kernel<T><<<blocks, threads, 0, stream>>>(
            data_as<T>(scores), data_as<int64_t>(labels), data_as<T>(weight), other, counts, data_as<T>(losses),
            scores.shape[0], scores.shape[1], labels.shape[1], how);
    });
}

void class_margin_backward_tensor_cuda(const Tensor& gradient, const Tensor& scores, const Tensor& labels,
                                       const Tensor* weight, Tensor& out, const Margins& how, double scale) {
    with_marked_labels(scores, labels, how, [&](auto type, int blocks, int threads, cudaStream_t stream,
                                                const uint8_t* other, const int64_t* counts) {
        using T = typename decltype(type)::type;
        class_margin_backward_kernel<T><<<blocks, threads, 0, stream>>>(
            data_as<T>(gradient), int64_t(gradient.size != 1), data_as<T>(scores), data_as<int64_t>(labels),
            data_as<T>(weight), other, counts, data_as<T>(out), scores.shape[0], scores.shape[1], labels.shape[1], how,
            scale);
    });
}

void row_pairs_tensor_cuda(const Tensor& x, const Tensor& y, Tensor& out, const RowPairs& how) {
    cudaStream_t stream = use(out.device);
    const Rows rows(x);
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        row_pairs_kernel<T><<<rows.blocks, rows.block, 0, stream>>>(data_as<T>(x), data_as<T>(y), data_as<T>(out),
                                                                    rows.count, rows.n, how);
    });
    check_launch("row_pairs");
}

void row_pairs_backward_tensor_cuda(const Tensor& gradient, const Tensor& x, const Tensor& y, Tensor* for_x,
                                    Tensor* for_y, const RowPairs& how) {
    cudaStream_t stream = use(x.device);
    const Rows rows(x);
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        row_pairs_backward_kernel<T><<<rows.blocks, rows.block, 0, stream>>>(
            data_as<T>(gradient), data_as<T>(x), data_as<T>(y), data_as<T>(for_x), data_as<T>(for_y), rows.count, rows.n,
            how);
    });
    check_launch("row_pairs_backward");
}

void ctc_tensor_cuda(const Tensor& log_probs, const Tensor& labels, const Tensor& lengths, Tensor& alpha, Tensor& losses,
                     int64_t blank) {
    cudaStream_t stream = use(losses.device);
    const int64_t samples = log_probs.shape[1];
    for_real(log_probs.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        ctc_kernel<T><<<at_most(samples, MAX_BLOCKS), THREADS, 0, stream>>>(
            data_as<T>(log_probs), data_as<int64_t>(labels), data_as<int64_t>(lengths), data_as<T>(alpha),
            data_as<T>(losses), samples, log_probs.shape[2], labels.shape[1], log_probs.shape[0], blank);
    });
    check_launch("ctc");
}

void ctc_backward_tensor_cuda(const Tensor& gradient, const Tensor& log_probs, const Tensor& labels,
                              const Tensor& lengths, const Tensor& alpha, const Tensor& losses, Tensor& out,
                              int64_t blank) {
    cudaStream_t stream = use(out.device);
    const int64_t samples = log_probs.shape[1];
    for_real(log_probs.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        DeviceScratch<T> beta(2 * samples * alpha.shape[2], out.device);
        ctc_backward_kernel<T><<<at_most(samples, MAX_BLOCKS), THREADS, 0, stream>>>(
            data_as<T>(gradient), data_as<T>(log_probs), data_as<int64_t>(labels), data_as<int64_t>(lengths),
            data_as<T>(alpha), data_as<T>(losses), data_as<T>(out), beta.data, samples, log_probs.shape[2],
            labels.shape[1], log_probs.shape[0], blank);
    });
    check_launch("ctc_backward");
}

void lstm_step_tensor_cuda(const Tensor& x, const Tensor& c, Tensor& gates, Tensor& c_new, Tensor& h) {
    cudaStream_t stream = use(h.device);
    for_real(c.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        lstm_step_kernel<T><<<blocks_for(c.size), threads_for(c.size), 0, stream>>>(
            data_as<T>(x), data_as<T>(c), data_as<T>(gates), data_as<T>(c_new), data_as<T>(h), c.size, c.shape[1]);
    });
    check_launch("lstm_step");
}

void lstm_step_backward_tensor_cuda(const Tensor& to_h, const Tensor* to_out, const Tensor& gates, const Tensor& c,
                                    const Tensor& c_new, Tensor& to_c, Tensor& d, Tensor* h) {
    cudaStream_t stream = use(d.device);
    for_real(c.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        lstm_step_backward_kernel<T><<<blocks_for(c.size), threads_for(c.size), 0, stream>>>(
            data_as<T>(to_h), data_as<T>(to_out), data_as<T>(gates), data_as<T>(c), data_as<T>(c_new), data_as<T>(to_c),
            data_as<T>(d), data_as<T>(h), c.size, c.shape[1]);
    });
    check_launch("lstm_step_backward");
}
