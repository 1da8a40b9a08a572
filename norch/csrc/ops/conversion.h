// From one dtype to another.

#pragma once
#include <stdint.h>

#include "ops/vector_math.h"

inline namespace NORCH_ISA {

// x as a T. If a C++ cast is undefined, x86 decides, as in PyTorch: NaN and numbers out of range become the
// lowest int32 or int64; uint8 is the last byte of the int64, int8 and int16 are the last ones of the int32.
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
template <class Real> struct Conversion<int8_t, Real> {
    static HOST_DEVICE int8_t of(Real x) { return static_cast<int8_t>(Conversion<int32_t, Real>::of(x)); }
};
template <class Real> struct Conversion<int16_t, Real> {
    static HOST_DEVICE int16_t of(Real x) { return static_cast<int16_t>(Conversion<int32_t, Real>::of(x)); }
};

// Numbers of 16 bits, stored but never computed with: a float is made of them, and rounded to the nearest of them (half
// way to the even one). The conversions select instead of branching, so that loops over them become vectors.
struct Half {  // IEEE: 1 bit of sign, 5 of exponent, 10 of mantissa
    uint16_t bits;
};
struct BFloat16 {  // the upper half of a float
    uint16_t bits;
};
template <> struct Conversion<float, Half> {
    static HOST_DEVICE float of(Half x) {
        using formula::bits_as;
        const uint32_t size = x.bits & 0x7FFFu, sign = uint32_t(x.bits & 0x8000u) << 16;
        const uint32_t bias = size < 0x7C00u ? 0x38000000u : 0x70000000u;  // infinity and NaN have the largest exponent
        const uint32_t normal = (size << 13) + bias;
        // denormals count in 2^-24, the last place of numbers from 0.5 on
        const uint32_t denormal = bits_as<uint32_t>(bits_as<float>(0x3F000000u + size) - 0.5f);
        return bits_as<float>((size < 0x400u ? denormal : normal) | sign);
    }
};
template <> struct Conversion<Half, float> {
    static HOST_DEVICE Half of(float x) {
        using formula::bits_as;
        const uint32_t all = bits_as<uint32_t>(x), size = all & 0x7FFFFFFFu;
        const uint32_t rebiased = size - 0x38000000u;
        const uint32_t rounded = (rebiased + 0xFFFu + (rebiased >> 13 & 1u)) >> 13;
        const uint32_t normal = rounded < 0x7C00u ? rounded : 0x7C00u;
        const uint32_t denormal = bits_as<uint32_t>(bits_as<float>(size) + 0.5f) - 0x3F000000u;
        const uint32_t number = size < 0x38800000u ? denormal : normal;
        return {uint16_t((size > 0x7F800000u ? 0x7E00u : number) | (all >> 16 & 0x8000u))};
    }
};
template <> struct Conversion<float, BFloat16> {
    static HOST_DEVICE float of(BFloat16 x) { return formula::bits_as<float>(uint32_t(x.bits) << 16); }
};
template <> struct Conversion<BFloat16, float> {
    static HOST_DEVICE BFloat16 of(float x) {
        const uint32_t all = formula::bits_as<uint32_t>(x), rounded = (all + 0x7FFFu + (all >> 16 & 1u)) >> 16;
        return {uint16_t((all & 0x7FFFFFFFu) > 0x7F800000u ? (all >> 16 | 0x40u) : rounded)};
    }
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
