// How elements are compared where they are ordered, for CPU and CUDA alike. NaN is larger than every number.

#pragma once
#include "ops/vector_math.h"

// Which element of a line: the place-th smallest, counted from 0, or the lower one in the middle. A median is NaN where
// there is one; NANMEDIAN passes over them.
enum OrderStatistic : int32_t { KTH, MEDIAN, NANMEDIAN };

inline namespace NORCH_ISA {

// The place of what is selected in a sorted line of n elements, of which so many are numbers: they come first.
HOST_DEVICE int64_t selected_place(OrderStatistic how, int64_t place, int64_t n, int64_t numbers) {
    if (how == KTH) return place;
    if (how == MEDIAN) return numbers == n ? (n - 1) / 2 : numbers;
    return numbers > 0 ? (numbers - 1) / 2 : 0;
}

// Whether a value belongs behind an edge of sorted edges; `right`: behind an equal one too.
template <class T>
HOST_DEVICE bool is_below(T edge, T value, bool right) {
    return right ? (edge <= value) | (value != value) : (edge < value) | ((value != value) & (edge == edge));
}

// Whether x becomes the extreme of a running extreme: the last of equals does, and every NaN.
template <class T>
HOST_DEVICE bool extends(T x, T extreme, bool largest) {
    return (largest ? x >= extreme : x <= extreme) | (x != x);
}

// log(exp(a) + exp(b))
HOST_DEVICE double log_sum(double a, double b) {
    const double larger = a > b ? a : b, distance = a > b ? a - b : b - a;
    if (a == b && distance != distance) return a;  // both infinite
    return distance == INFINITY ? larger : larger + ::log1p(::exp(-distance));
}

}  // namespace NORCH_ISA
