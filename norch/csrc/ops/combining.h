// How index_put brings a value and the element at its place together, for CPU and CUDA alike.

#pragma once
#include <stdint.h>

#include "ops/vector_math.h"

// In the order of `Combining` in norch/methods/advanced_indexing.py.
enum Combining : int32_t { REPLACE, ADD, MULTIPLY, LARGEST, SMALLEST };

inline namespace NORCH_ISA {

// Of two bools the sum is their or, the product their and. A NaN is both the largest and the smallest.
template <Combining HOW, class T>
HOST_DEVICE T combined(T element, T value) {
    if constexpr (HOW == ADD) return T(element + value);
    if constexpr (HOW == MULTIPLY) return T(element * value);
    if constexpr (HOW == LARGEST) return (value > element) | (value != value) ? value : element;
    if constexpr (HOW == SMALLEST) return (value < element) | (value != value) ? value : element;
    return value;
}

// The same for a kernel that is built once for all ways.
template <class T>
HOST_DEVICE T combined(Combining how, T element, T value) {
    switch (how) {
        case ADD: return combined<ADD>(element, value);
        case MULTIPLY: return combined<MULTIPLY>(element, value);
        case LARGEST: return combined<LARGEST>(element, value);
        case SMALLEST: return combined<SMALLEST>(element, value);
        default: return value;
    }
}

template <Combining HOW>
struct How {
    static constexpr Combining value = HOW;
};

// Calls f(How<ADD>()) for ADD, and so on; not for REPLACE, to which the dtype does not matter.
template <class F>
void for_combining(Combining how, F f) {
    switch (how) {
        case REPLACE: return;
        case ADD: return f(How<ADD>());
        case MULTIPLY: return f(How<MULTIPLY>());
        case LARGEST: return f(How<LARGEST>());
        case SMALLEST: return f(How<SMALLEST>());
    }
}

}  // namespace NORCH_ISA
