// Keys: integers in the order of the elements, so that floats are compared as integers are.

#pragma once
#include <limits>
#include <type_traits>

#include "ops/vector_math.h"

inline namespace NORCH_ISA {

template <class T>
using Key = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;

// Equal elements have equal keys, zeros of both signs and all NaNs among them. NaN is larger than every number.
template <class T>
inline Key<T> key_of(T x) {
    using K = Key<T>;
    if constexpr (std::is_floating_point_v<T>) {
        const K largest = std::numeric_limits<K>::max(), bits = formula::bits_as<K>(T(x + T(0)));  // -0 + 0 is 0
        const K key = K(bits ^ (bits >> (8 * sizeof(T) - 1) & largest)), nan = -K(x != x);
        return (key & ~nan) | (largest & nan);  // without a jump
    } else {
        return K(x);
    }
}

}  // namespace NORCH_ISA
