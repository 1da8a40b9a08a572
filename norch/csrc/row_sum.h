// Sums over rows of elements that lie side by side, for CPU kernels: in vectors of partial results, then in double.

#pragma once
#include "walk.h"

inline namespace NORCH_ISA {

enum {
    LANES = 64,    // partial results
    TAIL = 16,     // elements at the end of a row are taken by so many
    CHUNK = 4096,  // elements that are summed in T before they go into a double
};

// The sum of term(i) over a row; term may also store what it computes. Where fewer than TAIL elements are left,
// last(i, count) sums them.
template <class T, class F, class G>
double row_sum(int64_t n, F term, G last) {
    double total = 0;
    for (int64_t start = 0; start < n; start += CHUNK) {
        const int64_t end = start + CHUNK < n ? start + CHUNK : n;
        T lanes[LANES] = {};
        int64_t i = start;
        for (; i + LANES <= end; i += LANES) INDEPENDENT for (int j = 0; j < LANES; j++) lanes[j] += term(i + j);
        for (; i + TAIL <= end; i += TAIL) INDEPENDENT for (int j = 0; j < TAIL; j++) lanes[j] += term(i + j);
        for (int half = LANES / 2; half > 0; half /= 2)
            for (int j = 0; j < half; j++) lanes[j] += lanes[j + half];
        total += lanes[0];
        if (i < end) total += last(i, end - i);
    }
    return total;
}

// The same for terms without a function that is worth vectors.
template <class T, class F>
double row_sum(int64_t n, F term) {
    return row_sum<T>(n, term, [=](int64_t i, int64_t count) {
        T sum = 0;
        for (int64_t j = i; j < i + count; j++) sum += term(j);
        return sum;
    });
}

}  // namespace NORCH_ISA
