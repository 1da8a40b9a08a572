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

// The same for the first `count` of them, in vectors with a mask: f is not called for the others.
template <int N, class T, class F>
inline __attribute__((always_inline)) void for_some_lanes(T* lanes, int64_t count, F f) {
    KEPT_TOGETHER for (int j = 0; j < N; j++) lanes[j] = j < int(count) ? f(lanes[j], j) : lanes[j];
}

// Combines N partial results into one, half of them with the other half.
template <int N, class T, class F>
inline __attribute__((always_inline)) T fold(T* lanes, F combine) {
    if constexpr (N > 1) {
        const T* other = lanes + N / 2;
        for_lanes<N / 2>(lanes, [=](T lane, int j) { return combine(lane, other[j]); });
        return fold<N / 2>(lanes, combine);
    }
    return lanes[0];
}

// Combines term(i), term(i + 1), ... in N partial results, as long as N terms are left before `end`, of which there are
// N at first: a loop that surely runs keeps its lanes in registers.
template <int N, class T, class F, class G>
inline __attribute__((always_inline)) T in_lanes(T empty, int64_t& i, int64_t end, F term, G combine) {
    T lanes[N];
    for (int j = 0; j < N; j++) lanes[j] = empty;
    do {
        for_lanes<N>(lanes, [=](T lane, int j) { return combine(lane, term(i + j)); });
        i += N;
    } while (i + N <= end);
    return fold<N>(lanes, combine);
}

// Combines all terms from i to `end`.
template <int N, class T, class F, class G>
inline __attribute__((always_inline)) T all_in_lanes(T empty, int64_t i, int64_t end, F term, G combine) {
    T lanes[N];
    for (int j = 0; j < N; j++) lanes[j] = empty;
    for (; i + N <= end; i += N) for_lanes<N>(lanes, [=](T lane, int j) { return combine(lane, term(i + j)); });
    if (i < end) for_some_lanes<N>(lanes, end - i, [=](T lane, int j) { return combine(lane, term(i + j)); });
    return fold<N>(lanes, combine);
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
