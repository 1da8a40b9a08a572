// From one dtype to another.

#pragma once
#include <stdint.h>

#include "ops/vector_math.h"

inline namespace NORCH_ISA {

// x as a T. If a C++ cast is undefined, x86 decides, as in PyTorch: NaN and numbers out of range become the
// lowest int32 or int64; uint8 is the last byte of the int64.
template <class T, class From> struct Conversion {
    static HOST_DEVICE T of(From x) { return static_cast<T>(x); }
};
template <class Whole, class Real> HOST_DEVICE Whole truncated(Real x, Real lowest) {
    return (x >= lowest) & (x < -lowest) ? static_cast<Whole>(x) : static_cast<Whole>(lowest);
}
template <> struct Conversion<int64_t, float> {
    static HOST_DEVICE int64_t of(float x) { return truncated<int64_t>(x, -0x1p63f); }
};
template <> struct Conversion<int64_t, double> {
    static HOST_DEVICE int64_t of(double x) { return truncated<int64_t>(x, -0x1p63); }
};
template <> struct Conversion<int32_t, float> {
    static HOST_DEVICE int32_t of(float x) { return truncated<int32_t>(x, -0x1p31f); }
};
template <> struct Conversion<int32_t, double> {
    static HOST_DEVICE int32_t of(double x) {  // a double between two integers may lie below the lowest one
        return (x > -0x1p31 - 1) & (x < 0x1p31) ? static_cast<int32_t>(x) : INT32_MIN;
    }
};
template <class Real> struct Conversion<uint8_t, Real> {
    static HOST_DEVICE uint8_t of(Real x) { return static_cast<uint8_t>(Conversion<int64_t, Real>::of(x)); }
};
template <class T, class From> HOST_DEVICE T convert(From x) { return Conversion<T, From>::of(x); }

// a * x + b with both results rounded: never fused, so that every device gives the same number.
HOST_DEVICE double rounded_sum(double a, double x, double b) {
#ifdef __CUDA_ARCH__
    return __dadd_rn(__dmul_rn(a, x), b);
#else
    return a * x + b;
#endif
}
}  // namespace NORCH_ISA
