// CPU kernels of layers and losses: softmax, log softmax, cross-entropy and the losses of pairs, and their gradients.
//
// Most work on contiguous rows of n elements, softmax also on columns (api/layers.cpp sees to that). exp(x - max) of a row cannot overflow, so
// max comes first; the sum of the exponentials follows in vectors, LANES partial sums at a time.

#include <math.h>
#include <string.h>

#include <type_traits>

#include "cpu/backend.h"
#include "host/parallel.h"
#include "cpu/loops/row_sum.h"
#include "cpu/loops/wide_rows.h"

inline namespace NORCH_ISA {
namespace {

enum {
    BUFFER = 4096,  // longest row whose exponentials wait in the cache to be scaled
    TOGETHER = 16,  // rows whose logarithms are computed at once
};

template <class T>
struct Range {
    T low, high;
};

// The smallest and the largest element; a NaN is passed over (exp(NaN - high) brings it into the sum anyway).
template <int LANES, class T>
Range<T> row_range(const T* x, int64_t n) {
    auto less = [](T a, T b) { return a < b ? a : b; };
    auto more = [](T a, T b) { return a > b ? a : b; };
    T low[LANES], high[LANES];
    for (int j = 0; j < LANES; j++) low[j] = INFINITY, high[j] = -INFINITY;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        for_lanes<LANES>(low, [=](T lane, int j) { return less(x[i + j], lane); });
        for_lanes<LANES>(high, [=](T lane, int j) { return more(x[i + j], lane); });
    }
    for (; i + TAIL <= n; i += TAIL) {
        for_lanes<TAIL>(low, [=](T lane, int j) { return less(x[i + j], lane); });
        for_lanes<TAIL>(high, [=](T lane, int j) { return more(x[i + j], lane); });
    }
    const int left = int(n - i);
    for_lanes<TAIL>(low, [=](T lane, int j) { return less(j < left ? x[i + j] : lane, lane); });
    for_lanes<TAIL>(high, [=](T lane, int j) { return more(j < left ? x[i + j] : lane, lane); });
    return {fold<LANES>(low, less), fold<LANES>(high, more)};
}
template <class T>
Range<T> row_range(const T* x, int64_t n) {
    return n < SHORT ? row_range<TAIL>(x, n) : row_range<LANES>(x, n);
}

// The sum of e(x - shift); e is exp. With STORE the exponentials go into out, and from there soon to `target`; of a row
// of up to BUFFER out has room for TAIL more.
template <bool STORE, class T, class Exp>
double row_exp(const T* x, int64_t n, T shift, T* out, T* target, Exp e) {
    auto term = [=](int64_t i) {
        const T y = e(x[i] - shift);
        if (STORE) out[i] = y;
        return y;
    };
    // Filled up with zeros, a short rest goes through the same vectors.
    auto last = [=](int64_t i, int64_t count) {
        T rest[TAIL];
        for_lanes<TAIL>(rest, [=](T, int j) { return e((j < int(count) ? x[i + j] : shift) - shift); });
        if (STORE && n <= BUFFER)
            for (int j = 0; j < TAIL; j++) out[i + j] = rest[j];  // of the buffer
        else if (STORE)
            in_vectors<TAIL>(count, [&](int64_t j) { out[i + j] = rest[j]; });
        for_lanes<TAIL>(rest, [=](T v, int j) { return j < int(count) ? v : T(0); });
        return fold<TAIL>(rest, [](T a, T b) { return a + b; });
    };
    // While the processor computes, memory brings the next row, and makes place for this one's result.
    auto ahead = [=](int64_t i) {
        for (int line = 0; n >= SHORT && line < LANES; line += 64 / sizeof(T)) {
            __builtin_prefetch(x + n + i + line);
            if (STORE) __builtin_prefetch(target + i + line, 1);
        }
    };
    return row_sum<T>(n, term, last, ahead);
}

// shift is the row's maximum, so that no exponential overflows. If none is tiny, all arguments are Ordinary
// (vector_math.h).
template <bool STORE, class T>
double row_exp(const T* x, int64_t n, Range<T> range, T* out, T* target) {
    if constexpr (std::is_same<T, float>::value)
        if (range.low - range.high >= -formula::LARGEST_EXPONENT)
            return row_exp<STORE>(x, n, range.high, out, target,
                                  [](float v) { return formula::exp(formula::Ordinary(v)); });
    return row_exp<STORE>(x, n, range.high, out, target, [](T v) { return formula::exp(v); });
}

// The logarithms of rows, which are neighbours, at once: high[k] = max(x), logs[k] = log(sum(exp(x))) - max(x)
template <class T>
void log_sums_exp(const T* x, int64_t n, int64_t count, T* high, double* logs) {
    for (int64_t k = 0; k < count; k++, x += n) {
        const Range<T> range = row_range(x, n);
        high[k] = range.high;
        logs[k] = row_exp<false, T>(x, n, range, nullptr, nullptr);
    }
    INDEPENDENT for (int64_t k = 0; k < count; k++) logs[k] = formula::log(logs[k]);
}

// Calls f(row) for each row of n elements, in parallel.
template <class F>
void for_each_row(const Tensor& x, int64_t n, F f) {
    if (x.size == 0) return;
    parallel_for(x.size / n, 1 + SMALL_WORK / 4 / n, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; row++) f(row);
    });
}

// Calls f(row, how many) for up to TOGETHER rows, in parallel; long ones come alone.
template <class F>
void for_rows_together(const Tensor& x, int64_t n, F f) {
    if (x.size == 0) return;
    const int64_t together = n < 4 * SHORT ? TOGETHER : 1;
    parallel_for(x.size / n, together + SMALL_WORK / 4 / n, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; row += together) f(row, smaller(together, end - row));
    });
}

// Calls f(place of the first element, n, from one element to the next, width) for each block of neighbouring columns of
// x [outer, n, inner], in parallel: columns go through vectors together.
template <class F>
void for_columns(const Tensor& x, F f) {
    const int64_t n = x.shape[1], inner = x.shape[2], blocks = (inner + LANES - 1) / LANES;
    parallel_for(x.shape[0] * blocks, 1 + SMALL_WORK / 4 / LANES / n, [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; k++) {
            const int64_t column = k % blocks * LANES, rest = inner - column;
            f(k / blocks * n * inner + column, n, inner, rest < LANES ? rest : int64_t(LANES));
        }
    });
}

// f(i, j) for the elements i of columns, row by row: j counts the columns.
template <class F>
inline __attribute__((always_inline)) void each_of_columns(int64_t n, int64_t step, int64_t width, F f) {
    for (int64_t r = 0; r < n; r++) {
        if (width == LANES) {
            INDEPENDENT for (int64_t j = 0; j < LANES; j++) f(r * step + j, j);
        } else {
            INDEPENDENT for (int64_t j = 0; j < width; j++) f(r * step + j, j);
        }
    }
}

// sums[j] = the sum of term(i, j) over column j; term gives a T
template <class T, class Sum, class F>
void column_sums(int64_t n, int64_t step, int64_t width, Sum* sums, F term) {
    enum { ROWS = 64 };  // that are summed in T
    double totals[LANES] = {};
    for (int64_t r = 0; r < n; r += ROWS) {
        T part[LANES] = {};
        each_of_columns(n - r < ROWS ? n - r : int64_t(ROWS), step, width,
                        [&](int64_t i, int64_t j) { part[j] += term(r * step + i, j); });
        for (int64_t j = 0; j < width; j++) totals[j] += part[j];
    }
    for (int64_t j = 0; j < width; j++) sums[j] = Sum(totals[j]);
}

// high[j] = the largest element of column j; a NaN is passed over
template <class T>
void column_max(const T* x, int64_t n, int64_t step, int64_t width, T* high) {
    for (int64_t j = 0; j < LANES; j++) high[j] = -INFINITY;
    each_of_columns(n, step, width, [&](int64_t i, int64_t j) { high[j] = x[i] > high[j] ? x[i] : high[j]; });
}

// The exponentials of a row over the sum of them; with a class, minus 1 there, of which all classes share a part; all
// times scale. (Softmax, and the gradient of cross-entropy.)
template <class T>
void scaled_softmax(const T* x, int64_t n, T* out, int64_t label, double smoothing, T scale) {
    T buffer[BUFFER + TAIL];
    T* exponentials = n <= BUFFER ? buffer : out;
    const T factor = T(scale / row_exp<true>(x, n, row_range(x, n), exponentials, out));
    const T share = T(scale * smoothing / double(n));
    if (smoothing == 0)
        in_vectors<TAIL>(n, [=](int64_t j) { out[j] = exponentials[j] * factor; });
    else
        in_vectors<TAIL>(n, [=](int64_t j) { out[j] = exponentials[j] * factor - share; });
    if (label >= 0) out[label] -= T(scale * (1 - smoothing));
}

}  // namespace

// ---- Softmax -----------------------------------------------------------------------------------------------------

// out = exp(x - max) / sum(exp(x - max)) along each row or column
void softmax_tensor_cpu(const Tensor& x, Tensor& out) {
    if (is_narrow(x.dtype))
        return in_wide_parts({&x, &out}, 1, [](Tensor* part) { softmax_tensor_cpu(part[0], part[1]); });
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* from = data_as<T>(x);
        T* to = data_as<T>(out);
        const int64_t n = x.shape[1];
        if (x.shape[2] == 1)
            return for_each_row(x, n,
                                [=](int64_t row) { scaled_softmax(from + row * n, n, to + row * n, -1, 0., T(1)); });
        for_columns(x, [=](int64_t first, int64_t n, int64_t step, int64_t width) {
            T high[LANES], sums[LANES], *y = to + first;
            column_max(from + first, n, step, width, high);
            column_sums<T>(n, step, width, sums,
                           [&](int64_t i, int64_t j) { return y[i] = formula::exp(from[first + i] - high[j]); });
            for (int64_t j = 0; j < width; j++) sums[j] = 1 / sums[j];
            each_of_columns(n, step, width, [&](int64_t i, int64_t j) { y[i] *= sums[j]; });
        });
    });
}

// out = (gradient - sum(gradient * y)) * y, with y the softmax
void softmax_backward_tensor_cpu(const Tensor& gradient, const Tensor& y, Tensor& out) {
    if (is_narrow(y.dtype))
        return in_wide_parts({&gradient, &y, &out}, 1,
                             [](Tensor* part) { softmax_backward_tensor_cpu(part[0], part[1], part[2]); });
    const int64_t n = y.shape[1];
    for_real(y.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        if (y.shape[2] > 1)
            return for_columns(y, [&](int64_t first, int64_t n, int64_t step, int64_t width) {
                const T *g = data_as<T>(gradient) + first, *p = data_as<T>(y) + first;
                T means[LANES], *to = data_as<T>(out) + first;
                column_sums<T>(n, step, width, means, [=](int64_t i, int64_t) { return g[i] * p[i]; });
                each_of_columns(n, step, width, [&](int64_t i, int64_t j) { to[i] = (g[i] - means[j]) * p[i]; });
            });
        for_each_row(y, n, [&](int64_t row) {
            const T *g = data_as<T>(gradient) + row * n, *p = data_as<T>(y) + row * n;
            T* to = data_as<T>(out) + row * n;
            const T mean = T(row_sum<T>(n, [=](int64_t j) { return g[j] * p[j]; }));
            in_vectors<TAIL>(n, [=](int64_t j) { to[j] = (g[j] - mean) * p[j]; });
        });
    });
}

// out = x - max - log(sum(exp(x - max))) along each row
void log_softmax_tensor_cpu(const Tensor& x, Tensor& out) {
    if (is_narrow(x.dtype))
        return in_wide_parts({&x, &out}, 1, [](Tensor* part) { log_softmax_tensor_cpu(part[0], part[1]); });
    const int64_t n = x.shape[1];
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        if (x.shape[2] > 1)
            return for_columns(x, [&](int64_t first, int64_t n, int64_t step, int64_t width) {
                const T* from = data_as<T>(x) + first;
                T high[LANES], logs[LANES], *to = data_as<T>(out) + first;
                column_max(from, n, step, width, high);
                column_sums<T>(n, step, width, logs,
                               [&](int64_t i, int64_t j) { return formula::exp(from[i] - high[j]); });
                for (int64_t j = 0; j < width; j++) logs[j] = formula::log(logs[j]);
                each_of_columns(n, step, width, [&](int64_t i, int64_t j) { to[i] = from[i] - high[j] - logs[j]; });
            });
        for_rows_together(x, n, [&](int64_t row, int64_t count) {
            const T* from = data_as<T>(x) + row * n;
            T high[TOGETHER], *to = data_as<T>(out) + row * n;
            double logs[TOGETHER];
            log_sums_exp(from, n, count, high, logs);
            for (int64_t k = 0; k < count; k++, from += n, to += n) {
                const T max = high[k], log_sum = T(logs[k]);
                in_vectors<TAIL>(n, [=](int64_t j) { to[j] = from[j] - max - log_sum; });
            }
        });
    });
}

// out = gradient - exp(y) * sum(gradient), with y the log softmax
void log_softmax_backward_tensor_cpu(const Tensor& gradient, const Tensor& y, Tensor& out) {
    if (is_narrow(y.dtype))
        return in_wide_parts({&gradient, &y, &out}, 1,
                             [](Tensor* part) { log_softmax_backward_tensor_cpu(part[0], part[1], part[2]); });
    const int64_t n = y.shape[1];
    for_real(y.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        if (y.shape[2] > 1)
            return for_columns(y, [&](int64_t first, int64_t n, int64_t step, int64_t width) {
                const T *g = data_as<T>(gradient) + first, *p = data_as<T>(y) + first;
                T sums[LANES], *to = data_as<T>(out) + first;
                column_sums<T>(n, step, width, sums, [=](int64_t i, int64_t) { return g[i]; });
                each_of_columns(n, step, width,
                                [&](int64_t i, int64_t j) { to[i] = g[i] - formula::exp(p[i]) * sums[j]; });
            });
        for_each_row(y, n, [&](int64_t row) {
            const T *g = data_as<T>(gradient) + row * n, *p = data_as<T>(y) + row * n;
            T* to = data_as<T>(out) + row * n;
            const T sum = T(row_sum<T>(n, [=](int64_t j) { return g[j]; }));
            in_vectors<TAIL>(n, [=](int64_t j) { to[j] = g[j] - formula::exp(p[j]) * sum; });
        });
    });
}

// ---- Cross-entropy -----------------------------------------------------------------------------------------------

namespace {

template <class T>
T loss_of_row(const T* x, int64_t n, T high, double log_sum, int64_t label, double scale, double smoothing) {
    double target = double(x[label]) - double(high);
    if (smoothing != 0) {
        const double mean = row_sum<T>(n, [=](int64_t j) { return x[j] - high; }) / double(n);
        target = (1 - smoothing) * target + smoothing * mean;
    }
    return T(scale * (log_sum - target));
}

template <class T>
void losses_of_columns(const T* x, int64_t n, int64_t step, int64_t width, const int64_t* labels, T* losses,
                       double scale, int64_t ignored, double smoothing) {
    T high[LANES];
    double logs[LANES], means[LANES] = {};
    column_max(x, n, step, width, high);
    column_sums<T>(n, step, width, logs, [&](int64_t i, int64_t j) { return formula::exp(x[i] - high[j]); });
    INDEPENDENT for (int64_t j = 0; j < width; j++) logs[j] = formula::log(logs[j]);
    if (smoothing != 0) column_sums<T>(n, step, width, means, [&](int64_t i, int64_t j) { return x[i] - high[j]; });
    for (int64_t j = 0; j < width; j++) {
        double loss = 0;
        if (labels[j] != ignored) {
            const double target = double(x[labels[j] * step + j]) - double(high[j]);
            loss = logs[j] - (1 - smoothing) * target - smoothing * means[j] / double(n);
        }
        losses[j] = T(scale * loss);
    }
}

template <class T>
void slopes_of_columns(const T* x, int64_t n, int64_t step, int64_t width, const int64_t* labels, const T* gradient,
                       int64_t gradient_step, T* out, double scale, int64_t ignored, double smoothing) {
    T high[LANES], sums[LANES], factors[LANES], shares[LANES];
    column_max(x, n, step, width, high);
    column_sums<T>(n, step, width, sums, [&](int64_t i, int64_t j) { return out[i] = formula::exp(x[i] - high[j]); });
    for (int64_t j = 0; j < width; j++) {
        factors[j] = T(scale * gradient[j * gradient_step]);
        shares[j] = T(factors[j] * smoothing / double(n));
        sums[j] = factors[j] / sums[j];
    }
    each_of_columns(n, step, width, [&](int64_t i, int64_t j) { out[i] = out[i] * sums[j] - shares[j]; });
    for (int64_t j = 0; j < width; j++) {
        if (labels[j] != ignored)
            out[labels[j] * step + j] -= T(factors[j] * (1 - smoothing));
        else
            for (int64_t i = 0; i < n; i++) out[i * step + j] = 0;
    }
}

}  // namespace

// losses[c] = scale * (log(sum(exp(logits))) - logits[label]) of column c, with a part of the mean of all its logits in
// place of the label's; 0 for ignored labels, or NaN if all are ignored: the mean of nothing
void cross_entropy_tensor_cpu(const Tensor& logits, const Tensor& labels, const Tensor& scales, Tensor& losses,
                              int64_t ignored, double smoothing) {
    const double scale = *data_as<double>(scales);
    const int64_t* label = data_as<int64_t>(labels);
    for_real(logits.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* x = data_as<T>(logits);
        T* to = data_as<T>(losses);
        if (logits.shape[2] > 1)
            return for_columns(logits, [=](int64_t first, int64_t n, int64_t step, int64_t width) {
                const int64_t c = first / (n * step) * step + first % step;
                losses_of_columns(x + first, n, step, width, label + c, to + c, scale, ignored, smoothing);
            });
        const int64_t n = logits.shape[1];
        for_rows_together(logits, n, [=](int64_t row, int64_t count) {
            T high[TOGETHER];
            double logs[TOGETHER];
            log_sums_exp(x + row * n, n, count, high, logs);
            for (int64_t k = 0; k < count; k++, row++)
                to[row] = label[row] == ignored
                              ? T(0 * scale)
                              : loss_of_row(x + row * n, n, high[k], logs[k], label[row], scale, smoothing);
        });
    });
}

// out = gradient[c] * scale * (softmax(logits) - the target) in column c; 0 for ignored labels. The gradient has one
// element for each column, or one for all.
void cross_entropy_backward_tensor_cpu(const Tensor& gradient, const Tensor& logits, const Tensor& labels,
                                       const Tensor& scales, Tensor& out, int64_t ignored, double smoothing) {
    const int64_t gradient_step = gradient.size != 1;
    const double scale = *data_as<double>(scales);
    const int64_t* label = data_as<int64_t>(labels);
    for_real(logits.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const T *x = data_as<T>(logits), *g = data_as<T>(gradient);
        T* to = data_as<T>(out);
        if (logits.shape[2] > 1)
            return for_columns(logits, [=](int64_t first, int64_t n, int64_t step, int64_t width) {
                const int64_t c = first / (n * step) * step + first % step;
                slopes_of_columns(x + first, n, step, width, label + c, g + c * gradient_step, gradient_step,
                                  to + first, scale, ignored, smoothing);
            });
        const int64_t n = logits.shape[1];
        for_each_row(logits, n, [=](int64_t row) {
            if (label[row] == ignored)
                memset(to + row * n, 0, size_t(n) * sizeof(T));
            else
                scaled_softmax(x + row * n, n, to + row * n, label[row], smoothing, T(scale * g[row * gradient_step]));
        });
    });
}

// ---- Losses of pairs ---------------------------------------------------------------------------------------------

namespace {

// out[0] = scale * the sum of what the pairs add, in blocks of fixed length: threads do not change the result
template <class Row>
void sum_of_pairs(const Tensor& x, const Tensor& y, Tensor& out, double parameter, double scale) {
    enum { BLOCK = 16 * CHUNK };
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const T *a = data_as<T>(x), *b = data_as<T>(y), p = T(parameter);
        auto block_sum = [=](int64_t start, int64_t n) {
            return row_sum<T>(n, [=](int64_t i) { return Row::loss_of(a[start + i], b[start + i], p); });
        };
        double total = 0;
        if (x.size <= BLOCK) {
            total = block_sum(0, x.size);
        } else {
            const int64_t blocks = (x.size + BLOCK - 1) / BLOCK;
            Scratch<double> sums(blocks);
            parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
                for (int64_t k = begin; k < end; k++)
                    sums[k] = block_sum(k * BLOCK, k == blocks - 1 ? x.size - k * BLOCK : int64_t(BLOCK));
            });
            for (int64_t k = 0; k < blocks; k++) total += sums[k];
        }
        data_as<T>(out)[0] = T(scale * total);
    });
}

// out = gradient[0] * scale * the slopes along x
template <class Row>
void slopes_of_pairs(const Tensor& gradient, const Tensor& x, const Tensor& y, Tensor& out, double parameter,
                     double scale) {
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const T *a = data_as<T>(x), *b = data_as<T>(y), p = T(parameter);
        T* to = data_as<T>(out);
        const T factor = T(scale * data_as<T>(gradient)[0]);
        parallel_for(x.size, SMALL_WORK, [=](int64_t begin, int64_t end) {
            INDEPENDENT for (int64_t i = begin; i < end; i++) to[i] = factor * Row::slope_of(a[i], b[i], p);
        });
    });
}

}  // namespace

#define LOSS_CPU(name, loss, slope)                                                                                \
    namespace {                                                                                                    \
    struct name##_row {                                                                                            \
        template <class T>                                                                                         \
        static T loss_of(T x, T y, [[maybe_unused]] T p) {                                                         \
            return loss;                                                                                           \
        }                                                                                                          \
        template <class T>                                                                                         \
        static T slope_of([[maybe_unused]] T x, T y, [[maybe_unused]] T p) {                                       \
            return slope;                                                                                          \
        }                                                                                                          \
    };                                                                                                             \
    }                                                                                                              \
    void name##_tensor_cpu(const Tensor& x, const Tensor& y, Tensor& out, double parameter, double scale) {        \
        sum_of_pairs<name##_row>(x, y, out, parameter, scale);                                                     \
    }                                                                                                              \
    void name##_backward_tensor_cpu(const Tensor& gradient, const Tensor& x, const Tensor& y, Tensor& out,         \
                                    double parameter, double scale) {                                              \
        slopes_of_pairs<name##_row>(gradient, x, y, out, parameter, scale);                                        \
    }
LOSSES(LOSS_CPU)

}  // namespace NORCH_ISA
