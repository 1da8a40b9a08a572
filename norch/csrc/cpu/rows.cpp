// CPU kernels of losses by a margin between classes, of cosines and distances of rows, and of sequences of labels.

#include <math.h>
#include <string.h>

#include "cpu/backend.h"
#include "cpu/loops/row_sum.h"
#include "host/parallel.h"
#include "ops/row_pairs.h"

inline namespace NORCH_ISA {

// ---- Margins between classes -------------------------------------------------------------------------------------
//
//     losses[n] = the sum of weight[y] max(0, margin - x[y] + x[i])^power / C over the labels y and all other classes i

namespace {

// Calls f(row, how many labels, which classes are none of them: 1 or 0) for each row.
template <class T, class F>
void for_labelled_rows(const Tensor& scores, const Tensor& labels, const Margins& how, F f) {
    const int64_t classes = scores.shape[1], listed = labels.shape[1];
    const Fault fault = {Fault::PLACE, 1, how.until ? "multilabel_margin_loss" : "multi_margin_loss", classes, 0, 0};
    parallel_for(scores.shape[0], 1 + SMALL_WORK / 4 / classes, [&](int64_t begin, int64_t end) {
        Scratch<T> other(classes);
        for (int64_t j = 0; j < classes; j++) other[j] = 1;
        for (int64_t row = begin; row < end; row++) {
            const int64_t* label = data_as<int64_t>(labels) + row * listed;
            int64_t count = 0;
            for (; count < listed && !(how.until && label[count] < 0); count++) {
                if (label[count] < 0 || label[count] >= classes) fail_with(fault, label[count]);
                other[label[count]] = 0;
            }
            f(row, count, label, other.data);
            for (int64_t k = 0; k < count; k++) other[label[k]] = 1;
        }
    });
}

}  // namespace

void class_margin_tensor_cpu(const Tensor& scores, const Tensor& labels, const Tensor* weight, Tensor& losses,
                             const Margins& how) {
    const int64_t n = scores.shape[1];
    for_real(scores.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        for_labelled_rows<T>(
            scores, labels, how, [&](int64_t row, int64_t count, const int64_t* label, const T* other) {
                const T* x = data_as<T>(scores) + row * n;
                double loss = 0;
                for (int64_t k = 0; k < count; k++) {
                    const T wanted = T(how.margin) - x[label[k]];
                    const bool squared = how.power == 2;
                    const double sum = row_sum<T>(n, [=](int64_t i) {
                        const T missed = wanted + x[i];
                        return (missed > 0) & (other[i] > 0) ? squared ? missed * missed : missed : T(0);
                    });
                    loss += weight ? sum * double(data_as<T>(weight)[label[k]]) : sum;
                }
                data_as<T>(losses)[row] = T(loss / double(n));
            });
    });
}

void class_margin_backward_tensor_cpu(const Tensor& gradient, const Tensor& scores, const Tensor& labels,
                                      const Tensor* weight, Tensor& out, const Margins& how, double scale) {
    const int64_t n = scores.shape[1];
    for_real(scores.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        for_labelled_rows<T>(
            scores, labels, how, [&](int64_t row, int64_t count, const int64_t* label, const T* other) {
                const T* x = data_as<T>(scores) + row * n;
                T* to = data_as<T>(out) + row * n;
                memset(to, 0, size_t(n) * sizeof(T));
                const double part = scale * double(data_as<T>(gradient)[gradient.size == 1 ? 0 : row]) / double(n);
                for (int64_t k = 0; k < count; k++) {
                    const T wanted = T(how.margin) - x[label[k]];
                    const T factor = T(weight ? part * double(data_as<T>(weight)[label[k]]) : part);
                    const bool squared = how.power == 2;
                    const double sum = row_sum<T>(n, [=](int64_t i) {
                        const T missed = wanted + x[i];
                        const T slope = (missed > 0) & (other[i] > 0) ? squared ? 2 * missed * factor : factor : T(0);
                        to[i] += slope;
                        return slope;
                    });
                    to[label[k]] -= T(sum);
                }
            });
    });
}

// ---- Pairs of rows -----------------------------------------------------------------------------------------------

namespace {

template <class T>
PairSums sums_of_pair(const T* x, const T* y, int64_t n, const RowPairs& how) {
    if (how.kind == RowPairs::DISTANCE) {
        const T eps = T(how.eps);
        return {row_sum<T>(n,
                           [=](int64_t i) {
                               const T d = x[i] - y[i] + eps;
                               return d * d;
                           }),
                0, 0};
    }
    return {row_sum<T>(n, [=](int64_t i) { return x[i] * y[i]; }),
            row_sum<T>(n, [=](int64_t i) { return x[i] * x[i]; }),
            row_sum<T>(n, [=](int64_t i) { return y[i] * y[i]; })};
}

enum {
    PAIRS = 64,   // rows whose sums are taken together,
    FEW_SUMS = 8  // element by element, where rows have so few
};

struct SumsOfPairs {
    double xy[PAIRS], xx[PAIRS], yy[PAIRS];

    PairSums of(int64_t row) const { return {xy[row], xx[row], yy[row]}; }
};

template <class T>
void sum_pairs(const T* x, const T* y, int64_t rows, int64_t n, const RowPairs& how, SumsOfPairs& sums) {
    if (n > FEW_SUMS) {
        for (int64_t row = 0; row < rows; row++) {
            const PairSums pair = sums_of_pair(x + row * n, y + row * n, n, how);
            sums.xy[row] = pair.xy, sums.xx[row] = pair.xx, sums.yy[row] = pair.yy;
        }
        return;
    }
    const bool apart = how.kind == RowPairs::DISTANCE;
    const T eps = T(how.eps);
    T xy[PAIRS] = {}, xx[PAIRS] = {}, yy[PAIRS] = {};
    for (int64_t i = 0; i < n; i++) INDEPENDENT for (int64_t row = 0; row < rows; row++) {
            const T a = x[row * n + i], b = y[row * n + i], d = a - b + eps;
            xy[row] += apart ? d * d : a * b;
            xx[row] += a * a;
            yy[row] += b * b;
        }
    for (int row = 0; row < PAIRS; row++)
        sums.xy[row] = double(xy[row]), sums.xx[row] = double(xx[row]), sums.yy[row] = double(yy[row]);
}

// Calls f(first row, how many, their sums) for all rows, some at a time; several threads call it.
template <class T, class F>
void for_pairs(const Tensor& x, const Tensor& y, const RowPairs& how, F f) {
    const int64_t n = x.shape[1];
    parallel_for(x.shape[0], 1 + SMALL_WORK / n, [&](int64_t begin, int64_t end) {
        SumsOfPairs sums;
        for (; begin < end; begin += PAIRS) {
            const int64_t rows = begin + PAIRS < end ? int64_t(PAIRS) : end - begin;
            sum_pairs(data_as<T>(x) + begin * n, data_as<T>(y) + begin * n, rows, n, how, sums);
            f(begin, rows, sums);
        }
    });
}

// to = gradient * (slope.other * y + slope.own * x)
template <class T>
void write_slope(const T* x, const T* y, T* to, int64_t n, const PairSlope& slope, double gradient) {
    const T other = T(slope.other * gradient), own = T(slope.own * gradient);
    INDEPENDENT for (int64_t i = 0; i < n; i++) to[i] = other * y[i] + own * x[i];
}

}  // namespace

void row_pairs_tensor_cpu(const Tensor& x, const Tensor& y, Tensor& out, const RowPairs& how) {
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        for_pairs<T>(x, y, how, [&](int64_t first, int64_t rows, const SumsOfPairs& sums) {
            T* to = data_as<T>(out) + first;
            const RowPairs kept = how;
            INDEPENDENT for (int64_t row = 0; row < rows; row++) to[row] = T(pair_value(kept, sums.of(row)));
        });
    });
}

void row_pairs_backward_tensor_cpu(const Tensor& gradient, const Tensor& x, const Tensor& y, Tensor* for_x,
                                   Tensor* for_y, const RowPairs& how) {
    const int64_t n = x.shape[1];
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        for_pairs<T>(x, y, how, [&](int64_t first, int64_t rows, const SumsOfPairs& all) {
            for (int64_t k = 0; k < rows; k++) {
                const int64_t row = first + k;
                const T *a = data_as<T>(x) + row * n, *b = data_as<T>(y) + row * n;
                T* to_x = for_x ? data_as<T>(for_x) + row * n : nullptr;
                T* to_y = for_y ? data_as<T>(for_y) + row * n : nullptr;
                const double g = double(data_as<T>(gradient)[row]);
                const PairSums sums = all.of(k);
                if (how.kind == RowPairs::DISTANCE) {
                    const T factor = T(g * pair_slope(how, sums).other), eps = T(how.eps);
                    for (int64_t i = 0; to_x && i < n; i++) to_x[i] = factor * (a[i] - b[i] + eps);
                    for (int64_t i = 0; to_y && i < n; i++) to_y[i] = -factor * (a[i] - b[i] + eps);
                    continue;
                }
                if (to_x) write_slope(a, b, to_x, n, pair_slope(how, sums), g);
                if (to_y) write_slope(b, a, to_y, n, pair_slope(how, {sums.xy, sums.yy, sums.xx}), g);
            }
        });
    });
}

// ---- Sequences of labels -----------------------------------------------------------------------------------------
//
// Connectionist temporal classification (nn/functional/ctc.py). State 2 s + 1 of L = 2 S + 1 has read label s, state 2 s
// the blank before it. alpha[n][t][2 + state] is the logarithm of the probability of all ways there up to step t; two
// states that are never reached come before the first.

namespace {

// A sequence of the batch, and what its states read and from where they are reached.
template <class T>
struct Sequence {
    const T* log_probs;  // of its first step
    int64_t step;        // from one step to the next
    int64_t steps, states;
    Scratch<int64_t> labels;
    Scratch<T> skips;   // 0 if a way may come from two states before, else -inf; then two that no way comes from
    Scratch<T> scores;  // of what the states read at a step

    Sequence(const Tensor& x, const Tensor& labels_of, const Tensor& lengths, int64_t n, int64_t blank)
        : log_probs(data_as<T>(x) + n * x.shape[2]),
          step(x.shape[1] * x.shape[2]),
          steps(data_as<int64_t>(lengths)[n]),
          states(2 * data_as<int64_t>(lengths)[x.shape[1] + n] + 1),
          labels(states),
          skips(states + 2),
          scores(states) {
        const int64_t* label = data_as<int64_t>(labels_of) + n * labels_of.shape[1];
        for (int64_t s = 0; s < states; s++) labels[s] = s % 2 ? label[s / 2] : blank;
        for (int64_t s = 0; s < states + 2; s++)
            skips[s] = s < states && s % 2 && s > 1 && labels[s] != labels[s - 2] ? T(0) : T(-INFINITY);
    }

    // after[s] = log(e^same[s] + e^next[s] + e^(second[s] + skip[s])) + the score of state s at step t
    void advance(int64_t t, const T* same, const T* next, const T* second, const T* skip, T* after) {
        read(t);
        const T* score = scores.data;
        INDEPENDENT for (int64_t s = 0; s < states; s++) {
            const T a = same[s], b = next[s], c = second[s] + skip[s];
            const T ab = a > b ? a : b, high = ab > c ? ab : c, shift = high > T(-INFINITY) ? high : T(0);
            const T sum = formula::exp(a - shift) + formula::exp(b - shift) + formula::exp(c - shift);
            after[s] = shift + formula::log(sum) + score[s];
        }
    }
    void read(int64_t t) {
        for (int64_t s = 0; s < states; s++) scores[s] = log_probs[t * step + labels[s]];
    }
};

template <class T>
T log_sum(T a, T b) {
    const T high = a > b ? a : b, shift = high > T(-INFINITY) ? high : T(0);
    return shift + formula::log(formula::exp(a - shift) + formula::exp(b - shift));
}

template <class F>
void for_sequences(const Tensor& log_probs, const Tensor& alpha, F f) {
    const int64_t work = 16 * alpha.shape[1] * alpha.shape[2];
    parallel_for(log_probs.shape[1], 1 + SMALL_WORK / (work + 1), [&](int64_t begin, int64_t end) {
        for (int64_t n = begin; n < end; n++) f(n);
    });
}

}  // namespace

void ctc_tensor_cpu(const Tensor& log_probs, const Tensor& labels, const Tensor& lengths, Tensor& alpha, Tensor& losses,
                    int64_t blank) {
    const int64_t width = alpha.shape[2], all = alpha.shape[1] * width;
    for_real(log_probs.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const T never = T(-INFINITY);
        for_sequences(log_probs, alpha, [&](int64_t n) {
            Sequence<T> sequence(log_probs, labels, lengths, n, blank);
            T* ways = data_as<T>(alpha) + n * all + 2;
            for (int64_t t = 0; t < sequence.steps; t++, ways += width) {
                ways[-2] = ways[-1] = never;
                if (t) {
                    const T* before = ways - width;
                    sequence.advance(t, before, before - 1, before - 2, sequence.skips.data, ways);
                    continue;
                }
                sequence.read(0);
                for (int64_t s = 0; s < sequence.states; s++) ways[s] = s < 2 ? sequence.scores[s] : never;
            }
            const T* last = ways - width + sequence.states - 1;  // without a step only the empty target is read
            const T total = sequence.steps ? log_sum(last[0], last[-1]) : sequence.states == 1 ? T(0) : never;
            data_as<T>(losses)[n] = -total;
        });
    });
}

void ctc_backward_tensor_cpu(const Tensor& gradient, const Tensor& log_probs, const Tensor& labels,
                             const Tensor& lengths, const Tensor& alpha, const Tensor& losses, Tensor& out,
                             int64_t blank) {
    const int64_t width = alpha.shape[2], all = alpha.shape[1] * width, classes = log_probs.shape[2];
    for_real(log_probs.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const T never = T(-INFINITY);
        memset(out.data, 0, size_t(out.size) * sizeof(T));
        for_sequences(log_probs, alpha, [&](int64_t n) {
            const T loss = data_as<T>(losses)[n], g = data_as<T>(gradient)[n];
            if (loss == T(INFINITY)) return;
            Sequence<T> sequence(log_probs, labels, lengths, n, blank);
            Scratch<T> buffer(2 * width);
            const int64_t last = sequence.states - 1;
            T *after = buffer.data, *beta = buffer.data + width;  // the ways from a state at step t + 1, and at t
            for (int64_t k = 0; k < 2 * width; k++) buffer[k] = never;
            for (int64_t t = sequence.steps - 1; t >= 0; t--) {
                if (t < sequence.steps - 1) {
                    sequence.advance(t, after, after + 1, after + 2, sequence.skips.data + 2, beta);
                } else {
                    sequence.read(t);
                    for (int64_t s = last > 0 ? last - 1 : 0; s <= last; s++) beta[s] = sequence.scores[s];
                }
                // dL/dlog_probs = p - the share of the ways that read the class now
                const T *p = sequence.log_probs + t * sequence.step,
                        *ways = data_as<T>(alpha) + n * all + t * width + 2;
                T* to = data_as<T>(out) + t * sequence.step + n * classes;
                T* share = sequence.scores.data;
                INDEPENDENT for (int64_t s = 0; s <= last; s++) {
                    const T way = ways[s] + beta[s];
                    share[s] = way > never ? formula::exp(way + loss - share[s]) : way - never;  // NaN stays
                }
                for (int64_t c = 0; c < classes; c++) to[c] = g * formula::exp(p[c]);
                for (int64_t s = 0; s <= last; s++)
                    if (ways[s] + beta[s] != never) to[sequence.labels[s]] -= g * share[s];
                T* const kept = after;
                after = beta, beta = kept;
            }
        });
    });
}

}  // namespace NORCH_ISA
