// Elements that lie side by side, such as channels that are last in memory, in vectors of fixed sizes.

#pragma once
#include <stdint.h>

#include <type_traits>

inline namespace NORCH_ISA {

// Calls f(first, how many) for vectors of N elements, then for short ones and for single elements. How many they are is
// known when f is compiled.
template <int N, class F>
inline __attribute__((always_inline)) void for_vectors(int64_t begin, int64_t end, F f) {
    enum { FEW = 4 };
    for (; begin + N <= end; begin += N) f(begin, std::integral_constant<int, N>());
    for (; begin + FEW <= end; begin += FEW) f(begin, std::integral_constant<int, FEW>());
    for (; begin < end; begin++) f(begin, std::integral_constant<int, 1>());
}

}  // namespace NORCH_ISA
