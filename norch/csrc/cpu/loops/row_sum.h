// Sums over contiguous rows: in vectors of partial sums, then in double.

#pragma once
#include "cpu/loops/lanes.h"

inline namespace NORCH_ISA {

enum {
    LANES = 64,    // partial results
    TAIL = 16,     // elements at the end of a row are taken by so many
    SHORT = 128,   // a shorter row has TAIL partial results
    CHUNK = 4096,  // elements that are summed in T before they go into a double
};

// The sum of term(i) over a row; term may also store what it computes. If fewer than TAIL elements are left,
// last(i, count) sums them. Before each step ahead(i) may fetch what comes later.
template <class T, int LANES, class F, class G, class H>
double row_sum_in_lanes(int64_t n, F term, G last, H ahead) {
    double total = 0;
    for (int64_t start = 0; start < n; start += CHUNK) {
        const int64_t end = start + CHUNK < n ? start + CHUNK : n;
        T lanes[LANES] = {};
        int64_t i = start;
        for (; i + LANES <= end; i += LANES) {
            ahead(i);
            for_lanes<LANES>(lanes, [=](T lane, int j) { return lane + term(i + j); });
        }
        for (; i + TAIL <= end; i += TAIL) for_lanes<TAIL>(lanes, [=](T lane, int j) { return lane + term(i + j); });
        total += fold<LANES>(lanes, [](T a, T b) { return a + b; });
        if (i < end) total += last(i, end - i);
    }
    return total;
}

template <class T, class F, class G, class H>
double row_sum(int64_t n, F term, G last, H ahead) {
    if (n < TAIL) return last(int64_t(0), n);
    if (n < SHORT) return row_sum_in_lanes<T, TAIL>(n, term, last, ahead);
    return row_sum_in_lanes<T, LANES>(n, term, last, ahead);
}

// The same for cheap terms.
template <class T, class F>
double row_sum(int64_t n, F term) {
    double total = 0;
    for (int64_t i = 0; i < n; i += CHUNK)
        total += in_lanes<LANES, TAIL * sizeof(float) / sizeof(T)>(T(0), i, i + CHUNK < n ? i + CHUNK : n, term,
                                                                   [](T a, T b) { return a + b; });
    return total;
}

}  // namespace NORCH_ISA
