// CPU normalization: each group of elements to mean 0 and variance 1, and the gradients of that.
//
// A group that is not contiguous (a channel of a batch of images) is summed part by part, or copied into a row first if
// they are short; groups that are columns of a matrix are summed side by side. The variance is that of x - mean: a large
// mean costs no digits.

#include <math.h>
#include <string.h>

#include "cpu/backend.h"
#include "host/parallel.h"
#include "cpu/loops/row_sum.h"
#include "cpu/loops/wide_rows.h"

inline namespace NORCH_ISA {
namespace {

enum { PART = 256 };  // groups whose gradients for weight and bias are summed in T

// The elements of a group: so many parts, each of a length, a step apart.
template <class T>
struct Parts {
    int64_t count, length, step;

    template <class F>
    double sum(F term) const {
        double total = 0;
        for_each_part([&](int64_t start) { total += sum_of_part(start, term); });
        return total;
    }
    template <class F>
    double sum_of_part(int64_t start, F term) const {
        return row_sum<T>(length, [=](int64_t i) { return term(start + i); });
    }
    template <class F>
    void for_each_part(F f) const {
        for (int64_t start = 0; start < count * step; start += step) f(start);
    }
    template <class F>
    void for_each(F f) const {
        for (int64_t start = 0; start < count * step; start += step)
            INDEPENDENT for (int64_t i = 0; i < length; i++) f(start + i);
    }
};

// Calls f(group, first element in each tensor, parts) for every group, in parallel. The first READ tensors hold the
// group's elements; f writes those of the others, which may be null.
template <int READ, class T, int ALL, class F>
void for_each_group(const Normalizing& sizes, T* const (&tensors)[ALL], F f) {
    enum { LONG = 256, ACROSS = 16 };  // elements that are read side by side: no part of a cache line is read in vain
    const int64_t n = sizes.outer * sizes.inner, inner = sizes.inner;
    if (sizes.outer == 1 || inner >= LONG) {
        const Parts<T> parts = {sizes.outer, inner, sizes.groups * inner};
        parallel_for(sizes.groups, 1 + SMALL_WORK / 4 / n, [&](int64_t begin, int64_t end) {
            for (int64_t group = begin; group < end; group++) {
                T* rows[ALL];
                for (int k = 0; k < ALL; k++) rows[k] = tensors[k] ? tensors[k] + group * inner : nullptr;
                f(group, rows, parts);
            }
        });
        return;
    }
    const int64_t most = 1 + (ACROSS - 1) / inner;  // groups at a time
    parallel_for((sizes.groups + most - 1) / most, 1 + SMALL_WORK / 4 / (most * n), [&](int64_t begin, int64_t end) {
        Scratch<T> buffer(ALL * most * n);
        for (int64_t first = begin * most; first < smaller(end * most, sizes.groups); first += most) {
            const int64_t width = smaller(most, sizes.groups - first);
            // Calls move(element in the buffer, element of tensor k) for all of these groups.
            auto walk = [&](int k, auto move) {
                for (int64_t o = 0; o < sizes.outer; o++) {
                    T* from = tensors[k] + (o * sizes.groups + first) * inner;
                    T* to = &buffer[k * most * n + o * inner];
                    if (inner == 1)
                        INDEPENDENT for (int64_t g = 0; g < width; g++) move(to[g * n], from[g]);
                    else
                        for (int64_t g = 0; g < width; g++)
                            INDEPENDENT for (int64_t j = 0; j < inner; j++) move(to[g * n + j], from[g * inner + j]);
                }
            };
            for (int k = 0; k < READ; k++) walk(k, [](T& row, T& element) { row = element; });
            for (int64_t g = 0; g < width; g++) {
                T* rows[ALL];
                for (int k = 0; k < ALL; k++) rows[k] = tensors[k] ? &buffer[(k * most + g) * n] : nullptr;
                f(first + g, rows, Parts<T>{1, n, n});
            }
            for (int k = READ; k < ALL; k++)
                if (tensors[k]) walk(k, [](T& row, T& element) { element = row; });
        }
    });
}

// ---- Groups that are columns: inner is 1 --------------------------------------------------------------------------

enum { COLUMNS = 128 };  // that are worked on side by side

// totals[c] = the sum of term(row, c) over the rows
template <class T, class F>
void column_sums(int64_t rows, int64_t columns, double* totals, F term) {
    enum { ROWS = 64 };  // that are summed in T before they go into a double
    for (int64_t c = 0; c < columns; c++) totals[c] = 0;
    for (int64_t start = 0; start < rows; start += ROWS) {
        T part[COLUMNS] = {};
        for (int64_t row = start; row < smaller(start + ROWS, rows); row++)
            INDEPENDENT for (int64_t c = 0; c < columns; c++) part[c] += term(row, c);
        for (int64_t c = 0; c < columns; c++) totals[c] += double(part[c]);
    }
}

// Calls f(first column, how many) for parts of the columns, in parallel.
template <class F>
void for_each_columns(const Normalizing& sizes, F f) {
    const int64_t parts = (sizes.groups + COLUMNS - 1) / COLUMNS;
    parallel_for(parts, 1 + SMALL_WORK / 4 / (COLUMNS * sizes.outer), [&](int64_t begin, int64_t end) {
        for (int64_t part = begin; part < end; part++)
            f(part * COLUMNS, smaller(COLUMNS, sizes.groups - part * COLUMNS));
    });
}

template <class T>
void normalize_columns(const T* x, const T* weight, const T* bias, T* out, T* mean, T* variance,
                       const Normalizing& sizes) {
    const int64_t rows = sizes.outer, step = sizes.groups;
    for_each_columns(sizes, [&](int64_t first, int64_t count) {
        const T* from = x + first;
        T *to = out + first, *centre = mean + first, scale[COLUMNS], shift[COLUMNS];
        double totals[COLUMNS];
        column_sums<T>(rows, count, totals, [=](int64_t row, int64_t c) { return from[row * step + c]; });
        for (int64_t c = 0; c < count; c++) centre[c] = T(totals[c] / double(rows));
        column_sums<T>(rows, count, totals, [=](int64_t row, int64_t c) {
            const T distance = from[row * step + c] - centre[c];
            return distance * distance;
        });
        for (int64_t c = 0; c < count; c++) {
            variance[first + c] = T(totals[c] / double(rows));
            const T rate = T(1 / ::sqrt(double(variance[first + c]) + sizes.eps));
            scale[c] = weight ? rate * weight[first + c] : rate;
            shift[c] = bias ? bias[first + c] : T(0);
        }
        for (int64_t row = 0; row < rows; row++)
            INDEPENDENT for (int64_t c = 0; c < count; c++) to[row * step + c] =
                (from[row * step + c] - centre[c]) * scale[c] + shift[c];
    });
}

// As backward_by_group
template <class T>
void columns_backward(const T* gradient, const T* x, const T* weight, const T* mean, const T* variance, T* out,
                      T* for_weight, T* for_bias, const Normalizing& sizes) {
    const int64_t rows = sizes.outer, step = sizes.groups;
    for_each_columns(sizes, [&](int64_t first, int64_t count) {
        const T *g = gradient + first, *from = x + first, *centre = mean + first;
        T rate[COLUMNS], factor[COLUMNS], mean_g[COLUMNS], mean_gy[COLUMNS];
        double sums[COLUMNS], sums_y[COLUMNS];
        for (int64_t c = 0; c < count; c++) {
            rate[c] = T(1 / ::sqrt(double(variance[first + c]) + sizes.eps));
            factor[c] = weight ? rate[c] * weight[first + c] : rate[c];
        }
        const T* rates = rate;
        auto y = [=](int64_t row, int64_t c) { return (from[row * step + c] - centre[c]) * rates[c]; };
        column_sums<T>(rows, count, sums, [=](int64_t row, int64_t c) { return g[row * step + c]; });
        column_sums<T>(rows, count, sums_y, [=](int64_t row, int64_t c) { return g[row * step + c] * y(row, c); });
        for (int64_t c = 0; c < count; c++) {
            if (for_bias) for_bias[first + c] = T(sums[c]);
            if (for_weight) for_weight[first + c] = T(sums_y[c]);
            mean_g[c] = T(sums[c] / double(rows)), mean_gy[c] = T(sums_y[c] / double(rows));
        }
        if (!out) return;
        T* to = out + first;
        for (int64_t row = 0; row < rows && sizes.fixed; row++)
            INDEPENDENT for (int64_t c = 0; c < count; c++) to[row * step + c] = factor[c] * g[row * step + c];
        for (int64_t row = 0; row < rows && !sizes.fixed; row++)
            INDEPENDENT for (int64_t c = 0; c < count; c++) to[row * step + c] =
                factor[c] * (g[row * step + c] - mean_g[c] - y(row, c) * mean_gy[c]);
    });
}

// Floats of 16 bits. Groups that lie apart, or have a weight of their own, are one part.
void normalize_widened(const Tensor& x, const Tensor* weight, const Tensor* bias, Tensor& out, Tensor& mean,
                       Tensor& variance, Normalizing sizes) {
    const Owned w = weight ? widened(*weight) : Owned(), b = bias ? widened(*bias) : Owned();
    const bool by_group = sizes.outer == 1 && (sizes.affine == Normalizing::BY_PLACE || !(weight || bias));
    const int64_t parts = by_group ? sizes.groups : 1;
    Tensor rows[] = {x, out, mean, variance};
    for (Tensor& each : rows) {
        each.ndim = 2;
        each.shape[0] = parts, each.shape[1] = each.strides[0] = each.size / parts;
        each.strides[1] = 1;
    }
    in_wide_parts({&rows[0], &rows[1], &rows[2], &rows[3]}, 3, [&](Tensor* part) {
        Normalizing some = sizes;
        if (by_group) some.groups = part[0].shape[0];
        normalize_tensor_cpu(part[0], w.tensor, b.tensor, part[1], part[2], part[3], some);
    });
}

}  // namespace

// out = (x - mean) / sqrt(variance + eps) * weight + bias
void normalize_tensor_cpu(const Tensor& x, const Tensor* weight, const Tensor* bias, Tensor& out, Tensor& mean,
                          Tensor& variance, const Normalizing& sizes) {
    if (is_narrow(x.dtype)) return normalize_widened(x, weight, bias, out, mean, variance, sizes);
    const int64_t n = sizes.outer * sizes.inner;
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const T *w = weight ? data_as<T>(*weight) : nullptr, *b = bias ? data_as<T>(*bias) : nullptr;
        if (sizes.inner == 1 && sizes.outer > 1)
            return normalize_columns(data_as<const T>(x), w, b, data_as<T>(out), data_as<T>(mean), data_as<T>(variance),
                                     sizes);
        T* const tensors[] = {const_cast<T*>(data_as<T>(x)), data_as<T>(out)};
        for_each_group<1>(sizes, tensors, [&](int64_t group, T* const* firsts, const Parts<T>& parts) {
            const T* from = firsts[0];
            T* to = firsts[1];
            const T centre = T(parts.sum([=](int64_t i) { return from[i]; }) / double(n));
            const T spread =
                T(parts.sum([=](int64_t i) { return (from[i] - centre) * (from[i] - centre); }) / double(n));
            data_as<T>(mean)[group] = centre;
            data_as<T>(variance)[group] = spread;
            const T rate = T(1 / ::sqrt(double(spread) + sizes.eps));
            if (sizes.affine == Normalizing::BY_CHANNEL && (w || b)) {
                const int64_t step = sizes.span, first = sizes.first_channel(group);
                if (step == 1 && w && b) {
                    INDEPENDENT for (int64_t j = 0; j < n; j++) to[j] =
                        (from[j] - centre) * (rate * w[first + j]) + b[first + j];
                    return;
                }
                for (int64_t start = 0, k = first; start < n; start += step, k++) {
                    const T scale = w ? rate * w[k] : rate, shift = b ? b[k] : T(0), *x = from + start;
                    T* y = to + start;
                    INDEPENDENT for (int64_t j = 0; j < step; j++) y[j] = (x[j] - centre) * scale + shift;
                }
            } else if (sizes.affine != Normalizing::BY_PLACE || !w) {
                const T scale = w ? rate * w[group] : rate, shift = b ? b[group] : T(0);
                parts.for_each([=](int64_t i) { to[i] = (from[i] - centre) * scale + shift; });
            } else if (b) {
                INDEPENDENT for (int64_t j = 0; j < n; j++) to[j] = (from[j] - centre) * rate * w[j] + b[j];
            } else {
                INDEPENDENT for (int64_t j = 0; j < n; j++) to[j] = (from[j] - centre) * rate * w[j];
            }
        });
    });
}

namespace {

// The gradient of a group, by rows: with g = gradient * weight and y = (x - mean) * rate,
// dx = rate * (g - sum(g) / n - y * sum(g * y) / n).
template <class T>
struct Slope {
    T centre, rate, mean_g, mean_gy;
    Slope(T centre, double variance, double eps) : centre(centre), rate(T(1 / ::sqrt(variance + eps))) {}
    T y(T x) const { return (x - centre) * rate; }
    T of(T g, T x) const { return rate * (g - mean_g - y(x) * mean_gy); }
};

// Weight and bias by group: their gradients are the two sums that dx needs anyway, or, of a fixed mean, g alone. (Parts
// that are far apart may not stay in the cache together: each is read once for all that it tells.)
template <class T>
void backward_by_group(const T* g, const T* x, T factor, T* to, T* for_weight, T* for_bias, const Parts<T>& parts,
                       Slope<T> slope, bool fixed) {
    const double n = double(parts.count * parts.length);
    const T scale = factor * slope.rate;
    double sum = 0, sum_y = 0;
    parts.for_each_part([&](int64_t start) {
        sum += parts.sum_of_part(start, [=](int64_t i) { return g[i]; });
        sum_y += parts.sum_of_part(start, [=](int64_t i) { return g[i] * slope.y(x[i]); });
        if (to && fixed) INDEPENDENT for (int64_t i = start; i < start + parts.length; i++) to[i] = scale * g[i];
    });
    if (for_bias) *for_bias = T(sum);
    if (for_weight) *for_weight = T(sum_y);
    if (!to || fixed) return;
    slope.mean_g = T(sum / n), slope.mean_gy = T(sum_y / n);
    parts.for_each([=](int64_t j) { to[j] = factor * slope.of(g[j], x[j]); });
}

// Weight and bias by place: a group adds to their gradients.
template <class T>
void backward_by_place(const T* g, const T* x, const T* weight, T* to, T* for_weight, T* for_bias, int64_t n,
                       Slope<T> slope) {
    if (for_weight) INDEPENDENT for (int64_t j = 0; j < n; j++) for_weight[j] += g[j] * slope.y(x[j]);
    if (for_bias) INDEPENDENT for (int64_t j = 0; j < n; j++) for_bias[j] += g[j];
    if (!to) return;
    auto weighted = [=](int64_t j) { return g[j] * weight[j]; };
    slope.mean_g = T(row_sum<T>(n, weighted) / double(n));
    slope.mean_gy = T(row_sum<T>(n, [=](int64_t j) { return weighted(j) * slope.y(x[j]); }) / double(n));
    INDEPENDENT for (int64_t j = 0; j < n; j++) to[j] = slope.of(weighted(j), x[j]);
}

// Weight and bias by channel: sums[0] and sums[1] of each channel of the group are what it adds to their gradients.
template <class T>
void backward_by_channel(const T* g, const T* x, const T* weight, T* to, double* sums, int64_t n, int64_t span,
                         Slope<T> slope) {
    double sum = 0, sum_y = 0;
    if (span == 1) {
        sum = row_sum<T>(n, [=](int64_t i) { return weight ? weight[i] * g[i] : g[i]; });
        sum_y = row_sum<T>(n, [=](int64_t i) { return (weight ? weight[i] * g[i] : g[i]) * slope.y(x[i]); });
        for (int64_t i = 0; i < n; i++) sums[2 * i] = g[i], sums[2 * i + 1] = g[i] * slope.y(x[i]);
    }
    for (int64_t start = 0, c = 0; span > 1 && start < n; start += span, c++) {
        const T *part = g + start, *from = x + start;
        sums[2 * c] = row_sum<T>(span, [=](int64_t i) { return part[i]; });
        sums[2 * c + 1] = row_sum<T>(span, [=](int64_t i) { return part[i] * slope.y(from[i]); });
        sum += (weight ? double(weight[c]) : 1) * sums[2 * c];
        sum_y += (weight ? double(weight[c]) : 1) * sums[2 * c + 1];
    }
    if (!to) return;
    slope.mean_g = T(sum / double(n)), slope.mean_gy = T(sum_y / double(n));
    if (span == 1) {
        INDEPENDENT for (int64_t j = 0; j < n; j++) to[j] = slope.of(weight ? weight[j] * g[j] : g[j], x[j]);
        return;
    }
    for (int64_t start = 0, c = 0; start < n; start += span, c++) {
        const T *part = g + start, *from = x + start, factor = weight ? weight[c] : T(1);
        T* out = to + start;
        INDEPENDENT for (int64_t j = 0; j < span; j++) out[j] = slope.of(factor * part[j], from[j]);
    }
}

// The sums of parts of the groups, which do not depend on the number of threads.
template <class T>
void add_parts(const T* parts, int64_t count, int64_t step, int64_t n, Tensor* out) {
    if (!out) return;
    for (int64_t j = 0; j < n; j++) {
        double total = 0;
        for (int64_t k = 0; k < count; k++) total += parts[k * step + j];
        data_as<T>(*out)[j] = T(total);
    }
}

}  // namespace

void normalize_backward_tensor_cpu(const Tensor& gradient, const Tensor& x, const Tensor* weight, const Tensor& mean,
                                   const Tensor& variance, Tensor* for_x, Tensor* for_weight, Tensor* for_bias,
                                   const Normalizing& sizes) {
    const int64_t n = sizes.outer * sizes.inner;
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* w = weight ? data_as<T>(*weight) : nullptr;
        T* dx = for_x ? data_as<T>(*for_x) : nullptr;
        auto slope = [&](int64_t group) {
            return Slope<T>(data_as<T>(mean)[group], double(data_as<T>(variance)[group]), sizes.eps);
        };
        if (sizes.affine == Normalizing::BY_CHANNEL) {
            const int64_t channels = sizes.inner / sizes.span, all = sizes.cycle * channels;
            Scratch<double> sums(2 * sizes.groups * channels);
            parallel_for(sizes.groups, 1 + SMALL_WORK / 4 / n, [&](int64_t begin, int64_t end) {
                for (int64_t group = begin; group < end; group++)
                    backward_by_channel(data_as<const T>(gradient) + group * n, data_as<const T>(x) + group * n,
                                        w ? w + sizes.first_channel(group) : nullptr, dx ? dx + group * n : nullptr,
                                        &sums[2 * group * channels], n, sizes.span, slope(group));
            });
            for (int64_t c = 0; c < all; c++) {
                double total = 0, total_y = 0;
                for (int64_t at = c; at < sizes.groups * channels; at += all)
                    total += sums[2 * at], total_y += sums[2 * at + 1];
                if (for_bias) data_as<T>(*for_bias)[c] = T(total);
                if (for_weight) data_as<T>(*for_weight)[c] = T(total_y);
            }
            return;
        }
        if (sizes.affine == Normalizing::BY_GROUP || !w) {
            T *dw = for_weight ? data_as<T>(*for_weight) : nullptr, *db = for_bias ? data_as<T>(*for_bias) : nullptr;
            if (sizes.inner == 1 && sizes.outer > 1)
                return columns_backward(data_as<const T>(gradient), data_as<const T>(x), w, data_as<const T>(mean),
                                        data_as<const T>(variance), dx, dw, db, sizes);
            T* const tensors[] = {const_cast<T*>(data_as<T>(gradient)), const_cast<T*>(data_as<T>(x)), dx};
            for_each_group<2>(sizes, tensors, [&](int64_t group, T* const* firsts, const Parts<T>& parts) {
                backward_by_group(firsts[0], firsts[1], w ? w[group] : T(1), firsts[2], dw ? dw + group : nullptr,
                                  db ? db + group : nullptr, parts, slope(group), sizes.fixed);
            });
            return;
        }
        const int64_t parts = (sizes.groups + PART - 1) / PART;
        Scratch<T> sums(parts * 2 * n);
        memset(sums.data, 0, size_t(sums.count) * sizeof(T));
        parallel_for(parts, 1 + SMALL_WORK / 4 / (PART * n), [&](int64_t begin, int64_t end) {
            for (int64_t part = begin; part < end; part++) {
                T *dw = for_weight ? &sums[part * 2 * n] : nullptr,
                  *db = for_bias ? &sums[(part * 2 + 1) * n] : nullptr;
                for (int64_t group = part * PART; group < smaller((part + 1) * PART, sizes.groups); group++)
                    backward_by_place(data_as<T>(gradient) + group * n, data_as<T>(x) + group * n, w,
                                      dx ? dx + group * n : nullptr, dw, db, n, slope(group));
            }
        });
        add_parts(sums.data, parts, 2 * n, n, for_weight);
        add_parts(&sums[n], parts, 2 * n, n, for_bias);
    });
}

}  // namespace NORCH_ISA
