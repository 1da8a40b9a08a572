// CPU kernels of layers and losses: softmax, log softmax, cross-entropy and the losses of pairs, and their gradients.
//
// All work on contiguous rows of n elements (api/layers.cpp sees to that). exp(x - max) of a row cannot overflow, so
// max comes first; the sum of the exponentials follows in vectors, LANES partial sums at a time.

#include <math.h>
#include <string.h>

#include <type_traits>

#include "cpu/backend.h"
#include "host/parallel.h"
#include "cpu/loops/row_sum.h"
#include "cpu/loops/odometer.h"

inline namespace NORCH_ISA {
namespace {

enum { BUFFER = 4096 };  // longest row whose exponentials wait in the cache to be scaled

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
    Range<T> range = {fold<LANES>(low, less), fold<LANES>(high, more)};
    for (; i < n; i++) range = {less(x[i], range.low), more(x[i], range.high)};
    return range;
}
template <class T>
Range<T> row_range(const T* x, int64_t n) {
    return n < SHORT ? row_range<TAIL>(x, n) : row_range<LANES>(x, n);
}

// The sum of e(x - shift); e is exp. With STORE the exponentials go into out, and from there soon to `target`.
template <bool STORE, class T, class Exp>
double row_exp(const T* x, int64_t n, T shift, T* out, T* target, Exp e) {
    auto term = [=](int64_t i) {
        const T y = e(x[i] - shift);
        if (STORE) out[i] = y;
        return y;
    };
    // Filled up with zeros, a short rest goes through the same vectors.
    auto last = [=](int64_t i, int64_t count) {
        T rest[TAIL], sum = 0;
        for (int j = 0; j < TAIL; j++) rest[j] = shift;
        memcpy(rest, x + i, size_t(count) * sizeof(T));
        for_lanes<TAIL>(rest, [=](T v, int) { return e(v - shift); });
        for (int j = 0; j < count; j++) sum += rest[j];
        if (STORE) memcpy(out + i, rest, size_t(count) * sizeof(T));
        return sum;
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

// log(sum(exp(x))) - max(x)
template <class T>
double log_sum_exp(const T* x, int64_t n, Range<T> range) {
    return ::log(row_exp<false, T>(x, n, range, nullptr, nullptr));
}

// Calls f(row) for each row of n elements, in parallel.
template <class F>
void for_each_row(const Tensor& x, int64_t n, F f) {
    if (x.size == 0) return;
    parallel_for(x.size / n, 1 + SMALL_WORK / 4 / n, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; row++) f(row);
    });
}

int64_t row_length(const Tensor& x) { return x.shape[x.ndim - 1]; }

// The exponentials of a row over the sum of them; with a class, minus 1 there; all times scale. (Softmax, and the
// gradient of cross-entropy.)
template <class T>
void scaled_softmax(const T* x, int64_t n, T* out, int64_t label, T scale) {
    T buffer[BUFFER];
    T* exponentials = n <= BUFFER ? buffer : out;
    const T factor = T(scale / row_exp<true>(x, n, row_range(x, n), exponentials, out));
    INDEPENDENT for (int64_t j = 0; j < n; j++) out[j] = exponentials[j] * factor;
    if (label >= 0) out[label] -= scale;
}

}  // namespace

// ---- Softmax -----------------------------------------------------------------------------------------------------

namespace {

enum { COLUMNS = 64, ROWS = 64 };  // columns side by side, and rows of them that are summed in T

// Whether x [outer, inner, n] lies as [outer, n, inner].
bool is_of_columns(const Tensor& x) {
    return x.ndim == 3 && x.shape[1] > 1 && x.strides[1] == 1 && x.strides[2] == x.shape[1];
}

// The softmax of columns, or its logarithm.
template <bool LOG, class T>
void softmax_columns(const T* x, T* out, int64_t outer, int64_t inner, int64_t n) {
    const int64_t blocks = (inner + COLUMNS - 1) / COLUMNS;
    parallel_for(outer * blocks, 1 + SMALL_WORK / 4 / (n * COLUMNS), [=](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; k++) {
            const int64_t first = k % blocks * COLUMNS, width = smaller(COLUMNS, inner - first);
            const T* from = x + k / blocks * n * inner + first;
            T *to = out + k / blocks * n * inner + first, top[COLUMNS], rate[COLUMNS];
            double totals[COLUMNS] = {};
            for (int64_t c = 0; c < width; c++) top[c] = from[c];
            for (int64_t i = 1; i < n; i++)
                for (int64_t c = 0; c < width; c++)
                    top[c] = from[i * inner + c] > top[c] ? from[i * inner + c] : top[c];
            for (int64_t start = 0; start < n; start += ROWS) {
                T part[COLUMNS] = {};
                for (int64_t i = start; i < smaller(start + ROWS, n); i++) {
                    INDEPENDENT for (int64_t c = 0; c < width; c++) {
                        const T y = formula::exp(from[i * inner + c] - top[c]);
                        if (!LOG) to[i * inner + c] = y;
                        part[c] += y;
                    }
                }
                for (int64_t c = 0; c < width; c++) totals[c] += double(part[c]);
            }
            for (int64_t c = 0; c < width; c++) rate[c] = T(LOG ? ::log(totals[c]) : 1 / totals[c]);
            for (int64_t i = 0; i < n; i++)
                INDEPENDENT for (int64_t c = 0; c < width; c++) to[i * inner + c] =
                    LOG ? from[i * inner + c] - top[c] - rate[c] : to[i * inner + c] * rate[c];
        }
    });
}

}  // namespace

// out = exp(x - max) / sum(exp(x - max)) along each row
void softmax_tensor_cpu(const Tensor& x, Tensor& out) {
    const int64_t n = row_length(x);
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* from = data_as<T>(x);
        T* to = data_as<T>(out);
        if (is_of_columns(x)) return softmax_columns<false>(from, to, x.shape[0], x.shape[1], n);
        for_each_row(x, n, [=](int64_t row) { scaled_softmax(from + row * n, n, to + row * n, -1, T(1)); });
    });
}

// out = (gradient - sum(gradient * y)) * y, with y the softmax
void softmax_backward_tensor_cpu(const Tensor& gradient, const Tensor& y, Tensor& out) {
    const int64_t n = row_length(y);
    for_real(y.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        for_each_row(y, n, [&](int64_t row) {
            const T *g = data_as<T>(gradient) + row * n, *p = data_as<T>(y) + row * n;
            T* to = data_as<T>(out) + row * n;
            const T mean = T(row_sum<T>(n, [=](int64_t j) { return g[j] * p[j]; }));
            INDEPENDENT for (int64_t j = 0; j < n; j++) to[j] = (g[j] - mean) * p[j];
        });
    });
}

// out = x - max - log(sum(exp(x - max))) along each row
void log_softmax_tensor_cpu(const Tensor& x, Tensor& out) {
    const int64_t n = row_length(x);
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        if (is_of_columns(x)) return softmax_columns<true>(data_as<T>(x), data_as<T>(out), x.shape[0], x.shape[1], n);
        for_each_row(x, n, [&](int64_t row) {
            const T* from = data_as<T>(x) + row * n;
            T* to = data_as<T>(out) + row * n;
            const Range<T> range = row_range(from, n);
            const T max = range.high, log_sum = T(log_sum_exp(from, n, range));
            INDEPENDENT for (int64_t j = 0; j < n; j++) to[j] = from[j] - max - log_sum;
        });
    });
}

// out = gradient - exp(y) * sum(gradient), with y the log softmax
void log_softmax_backward_tensor_cpu(const Tensor& gradient, const Tensor& y, Tensor& out) {
    const int64_t n = row_length(y);
    for_real(y.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        for_each_row(y, n, [&](int64_t row) {
            const T *g = data_as<T>(gradient) + row * n, *p = data_as<T>(y) + row * n;
            T* to = data_as<T>(out) + row * n;
            const T sum = T(row_sum<T>(n, [=](int64_t j) { return g[j]; }));
            INDEPENDENT for (int64_t j = 0; j < n; j++) to[j] = g[j] - formula::exp(p[j]) * sum;
        });
    });
}

// ---- Cross-entropy -----------------------------------------------------------------------------------------------

// losses[row] = scale * (log(sum(exp(logits))) - logits[label]); 0 for ignored labels, or NaN if all are
// ignored: the mean of nothing
void cross_entropy_tensor_cpu(const Tensor& logits, const Tensor& labels, const Tensor& scales, Tensor& losses,
                              int64_t ignored) {
    const int64_t n = row_length(logits);
    const double scale = *data_as<double>(scales);
    for_real(logits.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        for_each_row(logits, n, [&](int64_t row) {
            const T* x = data_as<T>(logits) + row * n;
            const int64_t label = data_as<int64_t>(labels)[row];
            T loss = T(0 * scale);
            if (label != ignored) {
                const Range<T> range = row_range(x, n);
                loss = T(scale * (log_sum_exp(x, n, range) - (double(x[label]) - double(range.high))));
            }
            data_as<T>(losses)[row] = loss;
        });
    });
}

// out = gradient[row] * scale * (softmax(logits) - 1 at the label); 0 for ignored labels. The gradient has one
// element for each row, or one for all.
void cross_entropy_backward_tensor_cpu(const Tensor& gradient, const Tensor& logits, const Tensor& labels,
                                       const Tensor& scales, Tensor& out, int64_t ignored) {
    const int64_t n = row_length(logits);
    const double scale = *data_as<double>(scales);
    for_real(logits.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        for_each_row(logits, n, [&](int64_t row) {
            T* to = data_as<T>(out) + row * n;
            const int64_t label = data_as<int64_t>(labels)[row];
            if (label == ignored) {
                memset(to, 0, size_t(n) * sizeof(T));
                return;
            }
            const T factor = T(scale * data_as<T>(gradient)[gradient.size == 1 ? 0 : row]);
            scaled_softmax(data_as<T>(logits) + row * n, n, to, label, factor);
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
