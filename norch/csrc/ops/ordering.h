// How elements are compared where they are ordered, for CPU and CUDA alike. NaN is larger than every number.

#pragma once
#include "ops/vector_math.h"

inline namespace NORCH_ISA {

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

}  // namespace NORCH_ISA
