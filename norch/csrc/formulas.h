// exp, log, sin, cos, tanh, sigmoid and pow of a float, at most 2 ULP from the true value (tests/test_formulas.py).
//
// None of them branches: conditions only select between values, so that g++ turns a loop over them into vectors. (That is
// also why conditions are joined by & and |: && and || would be branches.) The same code runs on the CPU and on CUDA.
// Denormals, infinity and NaN are right. The functions of a double are the C library's.
//
// The method is the usual one: reduce the argument exactly to a small interval, evaluate a polynomial there, and put the
// result together. The polynomials of exp, log, sin, cos and tanh are those of the Cephes library (S. Moshier,
// expf.c, logf.c, sinf.c, tanhf.c; netlib.org/cephes), the splits of ln 2 and of pi / 2 after Cody and Waite.

#pragma once
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "isa.h"

#ifdef __CUDACC__
#define HOST_DEVICE __host__ __device__ inline
#else
#define HOST_DEVICE inline __attribute__((always_inline))
#endif

inline namespace NORCH_ISA {
namespace formula {

// ---- The bits of a number ---------------------------------------------------------------------------------------

template <class To, class From>
HOST_DEVICE To bits_as(From from) {
    static_assert(sizeof(To) == sizeof(From), "one is read as the other");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

// 2^n for a float's normal exponents, -126 to 127.
HOST_DEVICE float power_of_two(int32_t n) { return bits_as<float>(int32_t((n + 127) * (1 << 23))); }

// Adding 1.5 * 2^23 (for a double 1.5 * 2^52) leaves no bits for a fraction: x is rounded to an integer, which then
// stands in the lowest bits of the sum.
const float ROUNDING = 12582912.0f;
const double ROUNDING_DOUBLE = 6755399441055744.0;

// ln 2 and pi / 2 in two parts: the first has so few bits that its product with a small integer is exact.
const float LN2_HIGH = 0.693359375f, LN2_LOW = -2.12194440e-4f;
const double HALF_PI_HIGH = 1.57079632673412561417, HALF_PI_LOW = 6.07710050650619224932e-11;

// ---- exp --------------------------------------------------------------------------------------------------------

// exp(x) = 2^n * exp(r), with n the integer nearest to x / ln 2 and r = x - n ln 2 in [-ln 2 / 2, ln 2 / 2].
// PRECISE also carries what is lost when r is rounded: 0.8 ULP instead of 1.0, for functions that round on.
template <bool PRECISE>
HOST_DEVICE float exponential(float x) {
    float z = x < -104.0f ? -104.0f : x;  // below it exp is 0, above 89 it is infinity; a NaN passes both
    z = z > 89.0f ? 89.0f : z;
    const float shifted = z * 1.44269504f + ROUNDING, n = shifted - ROUNDING;
    const float rest = z - n * LN2_HIGH, r = rest - n * LN2_LOW;
    const float lost = PRECISE ? (rest - r) - n * LN2_LOW : 0.0f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = (PRECISE ? p * r * r + lost : p * r * r) + r + 1.0f;
    // 2^n in two factors, because n reaches from -150 to 128: the second product rounds once, to a denormal or infinity.
    const int32_t exponent = bits_as<int32_t>(shifted) - bits_as<int32_t>(ROUNDING), half = exponent >> 1;
    return p * power_of_two(half) * power_of_two(exponent - half);
}

HOST_DEVICE float exp(float x) { return exponential<false>(x); }

// ---- log --------------------------------------------------------------------------------------------------------

// log(x) = e ln 2 + log(1 + m), where x = 2^e (1 + m) with 1 + m in [sqrt(1/2), sqrt(2)).
HOST_DEVICE float log(float x) {
    const float smallest_normal = 1.17549435e-38f;
    const int32_t sqrt_half = 0x3F3504F3, mantissa = 0x7FFFFF;
    const float z = x < smallest_normal ? x * 8388608.0f : x;  // denormals are scaled by 2^23
    const float scale = x < smallest_normal ? -23.0f : 0.0f;
    const int32_t bits = bits_as<int32_t>(z) - sqrt_half;
    const float e = float(bits >> 23) + scale;
    const float m = bits_as<float>((bits & mantissa) + sqrt_half) - 1.0f, square = m * m;
    float p = 7.0376836292e-2f;
    p = p * m - 1.1514610310e-1f;
    p = p * m + 1.1676998740e-1f;
    p = p * m - 1.2420140846e-1f;
    p = p * m + 1.4249322787e-1f;
    p = p * m - 1.6668057665e-1f;
    p = p * m + 2.0000714765e-1f;
    p = p * m - 2.4999993993e-1f;
    p = p * m + 3.3333331174e-1f;
    float y = p * m * square + e * LN2_LOW - 0.5f * square;
    y = m + y + e * LN2_HIGH;
    y = x == INFINITY ? INFINITY : y;
    y = x == 0.0f ? -INFINITY : y;
    y = x < 0.0f ? NAN : y;
    return x != x ? x : y;
}

// ---- sin and cos ------------------------------------------------------------------------------------------------

// A float of at most LARGEST_MODERATE in magnitude, for which the two parts of pi / 2 reduce exactly enough. Loops that
// know this of a block of their elements (cpu.cpp) take the functions of a Moderate, which need no branch.
const float LARGEST_MODERATE = 1e6f;
struct Moderate {
    float value;
    HOST_DEVICE Moderate(float x) : value(x) {}
    HOST_DEVICE operator float() const { return value; }
};

// sin(x + quarter_turns pi / 2). With n the integer nearest to x / (pi / 2) and r the rest, in [-pi / 4, pi / 4], it is
// sin(r), cos(r), -sin(r) or -cos(r) by the last two bits of n + quarter_turns.
HOST_DEVICE float sine_of_turned(float x, int32_t quarter_turns) {
    const double shifted = double(x) * 0.63661977236758134308 + ROUNDING_DOUBLE, n = shifted - ROUNDING_DOUBLE;
    const float r = float((double(x) - n * HALF_PI_HIGH) - n * HALF_PI_LOW), s = r * r;
    const int32_t quadrant = int32_t(bits_as<int64_t>(shifted)) + quarter_turns;
    float cosine = 2.443315711809948e-5f;
    cosine = cosine * s - 1.388731625493765e-3f;
    cosine = cosine * s + 4.166664568298827e-2f;
    cosine = cosine * s * s - 0.5f * s + 1.0f;
    float sine = -1.9515295891e-4f;
    sine = sine * s + 8.3321608736e-3f;
    sine = sine * s - 1.6666654611e-1f;
    sine = sine * s * r + r;
    const float y = (quadrant & 1) != 0 ? cosine : sine;
    return (quadrant & 2) != 0 ? -y : y;
}

HOST_DEVICE float sin(Moderate x) { return x.value == 0.0f ? x.value : sine_of_turned(x.value, 0); }  // sin(-0) is -0
HOST_DEVICE float cos(Moderate x) { return sine_of_turned(x.value, 1); }
HOST_DEVICE bool is_moderate(float x) { return (x <= LARGEST_MODERATE) & (x >= -LARGEST_MODERATE); }
HOST_DEVICE float sin(float x) { return is_moderate(x) ? sin(Moderate(x)) : ::sinf(x); }
HOST_DEVICE float cos(float x) { return is_moderate(x) ? cos(Moderate(x)) : ::cosf(x); }

// ---- tanh and sigmoid -------------------------------------------------------------------------------------------

// A polynomial near 0, elsewhere 1 - 2 / (exp(2 |x|) + 1) with the sign of x.
HOST_DEVICE float tanh(float x) {
    const float magnitude = x < 0.0f ? -x : x, s = x * x;
    float small = -5.70498872745e-3f;
    small = small * s + 2.06390887954e-2f;
    small = small * s - 5.37397155531e-2f;
    small = small * s + 1.33314422036e-1f;
    small = small * s - 3.33332819422e-1f;
    small = small * s * x + x;
    const float capped = magnitude > 10.0f ? 10.0f : magnitude;  // tanh(10) rounds to 1
    const float large = 1.0f - 2.0f / (exp(2.0f * capped) + 1.0f);
    const float y = magnitude < 0.625f ? small : x < 0.0f ? -large : large;
    return x == 0.0f ? x : y;  // tanh(-0) is -0
}

// 1 / (1 + exp(-x)); for a negative x the equal exp(x) / (1 + exp(x)), which does not overflow.
HOST_DEVICE float sigmoid(float x) {
    const float e = exponential<true>(x < 0.0f ? x : -x);
    const float sum = 1.0f + e, lost = (1.0f - sum) + e;  // what rounding took from the sum
    const float y = (x < 0.0f ? e : 1.0f) / sum;
    return y - y * lost * (x < 0.0f ? 1.0f - y : y);  // of which the last factor is 1 / sum
}

// ---- pow --------------------------------------------------------------------------------------------------------

// |x|^y = 2^(y log2 |x|), in double. With |x| = 2^e m, m in [sqrt(1/2), sqrt(2)), and u = (m - 1) / (m + 1):
// log2(m) = 2 / ln 2 * (u + u^3 / 3 + u^5 / 5 + ...).
HOST_DEVICE double log2_of_magnitude(float x) {
    const int64_t sqrt_half = 0x3FE6A09E00000000, mantissa = 0xFFFFFFFFFFFFF;
    const int64_t bits = bits_as<int64_t>(double(x < 0.0f ? -x : x)) - sqrt_half;
    const double e = double(int32_t(bits >> 52)), m = bits_as<double>((bits & mantissa) + sqrt_half);
    const double u = (m - 1.0) / (m + 1.0), s = u * u, factor = 2.88539008177792681472;
    double p = factor / 13;
    p = p * s + factor / 11;
    p = p * s + factor / 9;
    p = p * s + factor / 7;
    p = p * s + factor / 5;
    p = p * s + factor / 3;
    p = p * s + factor;
    return e + u * p;
}

// 2^x rounded to a float, for x in [-160, 130]: 2^n exp(r ln 2) by Taylor's series, r in [-1/2, 1/2].
HOST_DEVICE float exp2_of(double x) {
    const double shifted = x + ROUNDING_DOUBLE, r = (x - (shifted - ROUNDING_DOUBLE)) * 0.69314718055994530942;
    double p = 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    const int64_t bias = 1023;  // shifting drops all but the integer that stands in the lowest bits
    return float(p * bits_as<double>((bits_as<int64_t>(shifted) + bias) * (int64_t(1) << 52)));
}

// x rounded towards 0. Plain SSE2 has no instruction for that, so it goes through an int32; from 2^23 on there are only
// integers (and infinity, which counts as one).
HOST_DEVICE float truncated(float x) {
#if defined(__SSE2__) && !defined(__SSE4_1__) && !defined(__CUDA_ARCH__)
    const bool is_large = (x >= 8388608.0f) | (x <= -8388608.0f);
    return is_large ? x : float(int32_t(is_large ? 0.0f : x));
#else
    return ::truncf(x);
#endif
}

// The special values are those of C's powf.
HOST_DEVICE float pow(float x, float y) {
    double exponent = log2_of_magnitude(x) * y;
    exponent = exponent < -160.0 ? -160.0 : exponent;
    exponent = exponent > 130.0 ? 130.0 : exponent;
    float z = exp2_of(exponent);
    const float base = x < 0.0f ? -x : x, height = y < 0.0f ? -y : y;
    const float half = y * 0.5f;
    const int32_t half_sign = truncated(half) != half ? INT32_MIN : 0;
    const int32_t odd_sign = truncated(y) == y ? half_sign : 0;  // the sign bit where y is an odd integer
    const bool falls = y < 0.0f;
    z = base == 0.0f ? (falls ? INFINITY : 0.0f) : z;
    z = base == INFINITY ? (falls ? 0.0f : INFINITY) : z;
    z = height == INFINITY ? ((base > 1.0f) != falls ? INFINITY : 0.0f) : z;
    z = (height == INFINITY) & (base == 1.0f) ? 1.0f : z;
    z = bits_as<float>(bits_as<int32_t>(z) ^ (bits_as<int32_t>(x) & odd_sign));  // -0 is negative too
    const float real = truncated(y) == y ? z : NAN;
    z = (x < 0.0f) & (base != INFINITY) ? real : z;
    z = (x != x) | (y != y) ? NAN : z;
    return (y == 0.0f) | (x == 1.0f) ? 1.0f : z;
}

}  // namespace formula
}  // namespace NORCH_ISA
