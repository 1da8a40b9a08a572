// Every reduction once, for CPU and CUDA alike. Each has the type of its partial results, the type of its totals, the
// value that an empty reduction gives, and combine() for two partial results or two totals.
//
// repeated() is the total of `count` equal totals, where a tensor repeats.
//
// Partial results are short-lived: floats are added in float over a few dozen elements, then in double.

#pragma once
#include <limits>
#include <type_traits>

#include "ops/vector_math.h"

inline namespace NORCH_ISA {

template <class T>
struct Sum {
    using Total = std::conditional_t<std::is_floating_point_v<T>, double, int64_t>;
    using Partial =
        std::conditional_t<std::is_floating_point_v<T>, T, std::conditional_t<(sizeof(T) < 4), int32_t, int64_t>>;
    using Result = std::conditional_t<std::is_floating_point_v<T>, T, int64_t>;
    HOST_DEVICE static constexpr Total empty() { return 0; }
    HOST_DEVICE static Partial lift(T x) { return x; }
    template <class A>
    HOST_DEVICE static A combine(A a, A b) {
        return a + b;
    }
    HOST_DEVICE static Total repeated(Total total, int64_t count) { return total * Total(count); }
};

template <class T>
struct SumWithoutNans : Sum<T> {
    HOST_DEVICE static T lift(T x) { return x != x ? T(0) : x; }
};
template <class T>
using NanSum = std::conditional_t<std::is_floating_point_v<T>, SumWithoutNans<T>, Sum<T>>;

template <class T>
struct SumSquares : Sum<T> {
    HOST_DEVICE static typename Sum<T>::Partial lift(T x) { return typename Sum<T>::Partial(x) * x; }
};

template <class T>
struct Prod {
    using Total = std::conditional_t<std::is_floating_point_v<T>, double, int64_t>;
    using Partial = Total;
    using Result = std::conditional_t<std::is_floating_point_v<T>, T, int64_t>;
    HOST_DEVICE static constexpr Total empty() { return 1; }
    HOST_DEVICE static Partial lift(T x) { return x; }
    HOST_DEVICE static Total combine(Total a, Total b) { return a * b; }
    HOST_DEVICE static Total repeated(Total total, int64_t count) {  // by squares
        Total power = 1;
        for (; count > 1; count /= 2, total *= total)
            if (count % 2) power *= total;
        return power * total;
    }
};

template <class T, bool LARGEST>
struct Extreme {
    using Total = T;
    using Partial = T;
    using Result = T;
    HOST_DEVICE static constexpr T empty() {
        using Limits = std::numeric_limits<T>;
        if (std::is_floating_point_v<T>) return LARGEST ? -Limits::infinity() : Limits::infinity();
        return LARGEST ? Limits::lowest() : Limits::max();
    }
    HOST_DEVICE static T lift(T x) { return x; }
    HOST_DEVICE static bool beats(T x, T best) { return LARGEST ? x > best : x < best; }
    // Whether x, which comes later, takes the place of best: the first of equals stays, and so does the first NaN.
    HOST_DEVICE static bool replaces(T x, T best) { return beats(x, best) | ((x != x) & (best == best)); }
    HOST_DEVICE static T combine(T a, T b) {
        const T best = beats(b, a) ? b : a;  // a NaN in a stays, as nothing beats it
        return b != b ? b : best;
    }
    HOST_DEVICE static T repeated(T total, int64_t) { return total; }
};
template <class T>
using Max = Extreme<T, true>;
template <class T>
using Min = Extreme<T, false>;

// Whether an element is not 0, as an integer of its width: so many fit into a vector. A byte stays what it is.
template <class T>
struct Truths {
    using Partial = std::conditional_t<sizeof(T) == 8, uint64_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint8_t>>;
    using Total = Partial;
    using Result = bool;
    HOST_DEVICE static Partial lift(T x) {
        if constexpr (sizeof(T) == 1) return Partial(x);
        return x != T(0);
    }
    HOST_DEVICE static Partial repeated(Partial total, int64_t) { return total; }
};

template <class T>
struct Any : Truths<T> {
    HOST_DEVICE static constexpr bool empty() { return false; }
    template <class A>
    HOST_DEVICE static A combine(A a, A b) {
        return A(a | b);
    }
};

template <class T>
struct All : Truths<T> {
    HOST_DEVICE static constexpr bool empty() { return true; }
    template <class A>
    HOST_DEVICE static A combine(A a, A b) {
        if constexpr (sizeof(A) == 1) return a < b ? a : b;
        return A(a & b);
    }
};

}  // namespace NORCH_ISA
