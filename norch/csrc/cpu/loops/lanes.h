// Partial results in the lanes of vectors.

#pragma once
#include "cpu/loops/odometer.h"

inline namespace NORCH_ISA {

// lanes[j] = f(lanes[j], j) for N partial results, in vectors. (g++ would unroll a short loop instead.)
template <int N, class T, class F>
inline __attribute__((always_inline)) void for_lanes(T* lanes, F f) {
    if constexpr (N <= 16) {
        KEPT_TOGETHER for (int j = 0; j < N; j++) lanes[j] = f(lanes[j], j);
    } else {
        INDEPENDENT for (int j = 0; j < N; j++) lanes[j] = f(lanes[j], j);
    }
}

// Combines N partial results into the first TO of them, half of them with the other half.
template <int N, int TO, class T, class F>
inline __attribute__((always_inline)) void fold_to(T* lanes, F combine) {
    if constexpr (N > TO) {
        const T* other = lanes + N / 2;
        for_lanes<N / 2>(lanes, [=](T lane, int j) { return combine(lane, other[j]); });
        fold_to<N / 2, TO>(lanes, combine);
    }
}
template <int N, class T, class F>
inline __attribute__((always_inline)) T fold(T* lanes, F combine) {
    fold_to<N, 1>(lanes, combine);
    return lanes[0];
}

// Combines term(i) for i from `start` to `end`: in N partial results as long as N terms are left, then in TAIL. If the last
// terms fill no TAIL, some before them are read again, and count as `empty`; fewer than TAIL in all are read with a mask.
// (A loop that surely runs keeps its lanes in registers. What is stored with a mask is late for whoever reads it.)
template <int N, int TAIL, class T, class F, class G>
inline __attribute__((always_inline)) T in_lanes(T empty, int64_t start, int64_t end, F term, G combine) {
    int64_t i = start;
    if (end - start <= 4) {  // sooner one by one
        T total = empty;
        for (; i < end; i++) total = combine(total, term(i));
        return total;
    }
    T rest[TAIL];
    if (end - start < TAIL) {
        for_lanes<TAIL>(rest, [=](T, int j) { return j < int(end - i) ? term(i + j) : empty; });
        return fold<TAIL>(rest, combine);
    }
    for (int j = 0; j < TAIL; j++) rest[j] = empty;
    if (N > TAIL && i + N <= end) {
        T lanes[N];
        for (int j = 0; j < N; j++) lanes[j] = empty;
        do {
            for_lanes<N>(lanes, [=](T lane, int j) { return combine(lane, term(i + j)); });
            i += N;
        } while (i + N <= end);
        fold_to<N, TAIL>(lanes, combine);
        for (int j = 0; j < TAIL; j++) rest[j] = lanes[j];
    }
    for (; i + TAIL <= end; i += TAIL) for_lanes<TAIL>(rest, [=](T lane, int j) { return combine(lane, term(i + j)); });
    const int again = int(i + TAIL - end);
    if (i < end)
        for_lanes<TAIL>(rest, [=](T lane, int j) { return combine(lane, j < again ? empty : term(i + j - again)); });
    return fold<TAIL>(rest, combine);
}

// Calls f(i), which stores what it computes, for all i < n: N of them in vectors, and the last ones with a mask.
template <int N, class F>
inline __attribute__((always_inline)) void in_vectors(int64_t n, F f) {
    int64_t i = 0;
    for (; i + N <= n; i += N) KEPT_TOGETHER for (int j = 0; j < N; j++) f(i + j);
    const int rest = int(n - i);
    if (rest > 0) KEPT_TOGETHER for (int j = 0; j < N; j++) if (j < rest) f(i + j);
}

}  // namespace NORCH_ISA
