// CPU distances: p-norms of the differences of rows, each row of one matrix with each of another.
//
// Rows of y are transposed into the cache, so that a vector holds an element of each of them; then each row of x meets
// all of them at once.

#include <math.h>
#include <string.h>

#include "cpu/backend.h"
#include "cpu/loops/lanes.h"
#include "cpu/loops/tiles.h"
#include "host/parallel.h"
#include "ops/formulas.h"

inline namespace NORCH_ISA {
namespace {

enum {
    GROUP = 128,  // rows of x, at most, for which rows of y are transposed once
    FEWEST = 16,  // and at least
    SUMMED = 64,  // terms that are summed in T before they go into a double
    BLOCK = 64,   // rows of y that are transposed together
    FEW = 48,     // rows of y that go in blocks of SMALL_BLOCK
    SMALL_BLOCK = 16
};

template <class T>
HOST_DEVICE T size_of_difference(T a, T b) {
    return a < b ? b - a : a - b;
}

// What the terms of a norm are, in lane j, how they are combined, and what is made of them.
struct Sums {
    template <class T>
    static T combine(T total, T next) {
        return total + next;
    }
};
template <class T>
struct ZeroNorm : Sums {  // how many differ
    explicit ZeroNorm(double) {}
    T term(T a, T b, int) const { return a - b != a - b ? a - b : T(a != b); }  // NaN stays
    template <class A>
    T finish(A total) const {
        return T(total);
    }
};
template <class T>
struct OneNorm : Sums {
    explicit OneNorm(double) {}
    T term(T a, T b, int) const { return size_of_difference(a, b); }
    template <class A>
    T finish(A total) const {
        return T(total);
    }
};
template <class T>
struct TwoNorm : Sums {
    explicit TwoNorm(double) {}
    T term(T a, T b, int) const { return (a - b) * (a - b); }
    template <class A>
    T finish(A total) const {
        return T(::sqrt(total));
    }
};
template <class T>
struct AnyNorm : Sums {
    T p[BLOCK], inverse;  // of each lane: branches on one that is the same for all would stop vectors
    explicit AnyNorm(double given) : inverse(T(1 / given)) {
        for (T& lane : p) lane = T(given);
    }
    T term(T a, T b, int j) const { return formula::pow(size_of_difference(a, b), p[j]); }
    template <class A>
    T finish(A total) const {
        return formula::pow(T(total), inverse);
    }
};
template <class T>
struct LargestNorm {
    explicit LargestNorm(double) {}
    T term(T a, T b, int) const { return size_of_difference(a, b); }
    template <class A>
    T finish(A largest) const {
        return T(largest);
    }
    template <class A>
    static A combine(A largest, A next) {
        return (next > largest) | (next != next) ? next : largest;
    }
};

// The distances of one row to WIDTH others, of which y has an element each, `pitch` elements after the one before.
template <int WIDTH, class Norm, class T>
__attribute__((noinline)) void distances_to(const Norm& norm, const T* x, const T* y, int64_t pitch, int64_t n,
                                            T* out) {
    double totals[WIDTH] = {};
    for (int64_t start = 0; start < n; start += SUMMED) {
        T part[WIDTH] = {};
        for (int64_t m = start; m < smaller(start + SUMMED, n); m++) {
            const T a = x[m];
            const T* row = y + m * pitch;
            for_lanes<WIDTH>(part, [=](T total, int j) { return Norm::combine(total, norm.term(a, row[j], j)); });
        }
        if (n <= SUMMED) return for_lanes<WIDTH>(out, [=](T, int j) { return norm.finish(part[j]); });
        for_lanes<WIDTH>(totals, [=](double total, int j) { return Norm::combine(total, double(part[j])); });
    }
    for_lanes<WIDTH>(out, [=](T, int j) { return norm.finish(totals[j]); });
}

// out[i, j]; or for pairs, where j > i, rows of out that grow shorter
template <int WIDTH, class Norm, class T>
void distances(const T* x, const T* y, T* out, int64_t batches, int64_t rows, int64_t others, int64_t n, double p,
               bool pairs) {
    const Norm norm(p);
    const int64_t blocks = (others + WIDTH - 1) / WIDTH, parts = 2 * int64_t(thread_count());
    int64_t group = GROUP;
    while (thread_count() > 1 && group > FEWEST && batches * blocks * ((rows + group - 1) / group) < parts) group /= 2;
    const int64_t groups = (rows + group - 1) / group, work = 1 + smaller(rows, group) * WIDTH * n / 4;
    parallel_for(batches * blocks * groups, 1 + SMALL_WORK / work, [=](int64_t begin, int64_t end) {
        Scratch<T> columns(n * WIDTH + WIDTH);
        for (int64_t k = begin; k < end; k++) {
            const int64_t top = k % groups * group, first = k / groups % blocks * WIDTH, batch = k / groups / blocks;
            const int64_t width = smaller(WIDTH, others - first), bottom = smaller(top + group, rows);
            if (pairs && top >= first + width - 1) continue;
            copy_tile<false>(sizeof(T), reinterpret_cast<char*>(columns.data),
                             const_cast<char*>(reinterpret_cast<const char*>(y + (batch * others + first) * n)), n,
                             width, 1, n);
            memset(&columns[n * width], 0, WIDTH * sizeof(T));  // the last row is read up to WIDTH
            for (int64_t i = top; i < (pairs ? smaller(bottom, first + width - 1) : bottom); i++) {
                T found[WIDTH];
                distances_to<WIDTH>(norm, x + (batch * rows + i) * n, columns.data, width, n, found);
                T* results = pairs ? out + i * (2 * rows - i - 1) / 2 - i - 1 : out + (batch * rows + i) * others;
                for (int64_t j = pairs && i >= first ? i + 1 - first : 0; j < width; j++) results[first + j] = found[j];
            }
        }
    });
}

}  // namespace

void distances_tensor_cpu(const Tensor& x, const Tensor& y, Tensor& out, double p, bool pairs) {
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        auto run = [&](auto norm) {
            const auto run_in = y.shape[1] > (pairs ? 4 * FEW : int(FEW)) ? distances<BLOCK, decltype(norm), T>
                                                                          : distances<SMALL_BLOCK, decltype(norm), T>;
            run_in(data_as<const T>(x), data_as<const T>(y), data_as<T>(out), x.shape[0], x.shape[1], y.shape[1],
                   x.shape[2], p, pairs);
        };
        if (p == 0) return run(ZeroNorm<T>(p));
        if (p == 1) return run(OneNorm<T>(p));
        if (p == 2) return run(TwoNorm<T>(p));
        if (isinf(p)) return run(LargestNorm<T>(p));
        run(AnyNorm<T>(p));
    });
}

}  // namespace NORCH_ISA
