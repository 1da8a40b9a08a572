// exp, expm1, log, log1p, sin, cos, tanh, sigmoid, erf, erfc and pow of a float, at most 2 ULP from the true value
// (tests/tables/test_formulas.py).
//
// They do not branch: conditions only select values, so that the compiler turns a loop over them into vectors. For the
// same reason conditions are joined by & and |, not by && and ||. The same code runs on the CPU and on CUDA. Denormals,
// infinity and NaN are right. double_math.h has those of a double.
//
// The method is the usual one: reduce the argument exactly to a small interval, evaluate a polynomial there, and put
// the result together. The polynomial of log is that of the Cephes library (S. Moshier, logf.c; netlib.org/cephes). The
// others are the best of their degree, by Lawson's weights, with a relative error of at most 2^-26. The splits of ln 2
// and of pi are after Cody and Waite.

#pragma once
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "host/instruction_sets.h"

#ifdef __CUDACC__
#define HOST_DEVICE __host__ __device__ inline
#else
#define HOST_DEVICE inline __attribute__((always_inline))
#endif

#if defined(__FMA__) || defined(__aarch64__) || defined(__CUDA_ARCH__)
#define HAS_FUSED  // products that are added without being rounded
#endif

inline namespace NORCH_ISA {
namespace formula {

// ---- The bits of a number ----------------------------------------------------------------------------------------

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

// ln 2 and pi in two parts: the first has so few bits that its product with a small integer is exact.
const float LN2_HIGH = 0.693359375f, LN2_LOW = -2.12194440e-4f;
const double PI_HIGH = 3.14159265346825122834, PI_LOW = 1.21542010130012384648e-10;

// ---- Ordinary arguments ------------------------------------------------------------------------------------------

// Some functions take a shorter way for a float that is neither NaN nor extreme. A loop that has found a whole block of
// its elements to be ordinary (cpu.cpp) hands them over as Ordinary. Both ways give the same number.
struct Ordinary {
    float value;
    HOST_DEVICE Ordinary(float x) : value(x) {}
    HOST_DEVICE operator float() const { return value; }
};

// |x| as an integer in the same order, in which NaN comes last.
HOST_DEVICE int32_t magnitude_bits(float x) { return bits_as<int32_t>(x) & INT32_MAX; }
HOST_DEVICE bool is_within(float x, float limit) { return magnitude_bits(x) <= magnitude_bits(limit); }

// ---- exp ---------------------------------------------------------------------------------------------------------

// exp(x) = power (1 + rest): power = 2^n with n the integer nearest to x / ln 2, and rest = exp(r) - 1 for r = x - n ln
// 2 in [-ln 2 / 2, ln 2 / 2]. What follows adds them with a single rounding, and loses nothing for x near 0.
struct Exponential {
    int32_t n;
    float rest;
    HOST_DEVICE float power() const { return power_of_two(n); }
};

// exp(r + n ln 2), given n + ROUNDING
HOST_DEVICE Exponential exponential(float r, float shifted) {
    float p = 1.3882498e-3f;
    p = p * r + 8.36664718e-3f;
    p = p * r + 4.16672044e-2f;
    p = p * r + 1.66665420e-1f;
    p = p * r + 4.9999997e-1f;
    return {bits_as<int32_t>(shifted) - bits_as<int32_t>(ROUNDING), p * (r * r) + r};
}

HOST_DEVICE Exponential exponential(float x) {
    const float shifted = x * 1.44269504f + ROUNDING, n = shifted - ROUNDING;
    return exponential((x - n * LN2_HIGH) - n * LN2_LOW, shifted);
}

const float LARGEST_EXPONENT = 87.0f;  // exp of it and of its negative are normal numbers

HOST_DEVICE float exp(Ordinary x) {
    const Exponential e = exponential(x.value);
    return e.power() * e.rest + e.power();
}

// 2^n in two factors, because n reaches from -150 to 128: the second product rounds once, to a denormal or infinity.
HOST_DEVICE float exp(float x) {
    const float z = x > 89.0f ? 89.0f : x;  // of which exp is infinity; a NaN passes
    const Exponential e = exponential(z);
    const int32_t half = e.n >> 1;
    const float y = (power_of_two(half) * e.rest + power_of_two(half)) * power_of_two(e.n - half);
    return x < -104.0f ? 0.0f : y;
}

// ---- log ---------------------------------------------------------------------------------------------------------

const int32_t SQRT_HALF = 0x3F3504F3, MANTISSA = 0x7FFFFF;  // bits of a float

// log(1 + m) is m - m^2 / 2 + m^3 p(m), for 1 + m in [sqrt(1/2), sqrt(2)) or a little outside: the last of these
HOST_DEVICE float log_rest(float m) {
    float p = 7.0376836292e-2f;
    p = p * m - 1.1514610310e-1f;
    p = p * m + 1.1676998740e-1f;
    p = p * m - 1.2420140846e-1f;
    p = p * m + 1.4249322787e-1f;
    p = p * m - 1.6668057665e-1f;
    p = p * m + 2.0000714765e-1f;
    p = p * m - 2.4999993993e-1f;
    p = p * m + 3.3333331174e-1f;
    return p * m * (m * m);
}

// e ln 2 + log(1 + m)
HOST_DEVICE float log_of_parts(float e, float m) {
    return m + (log_rest(m) + e * LN2_LOW - 0.5f * (m * m)) + e * LN2_HIGH;
}

// log(x), where x = 2^e (1 + m) with 1 + m in [sqrt(1/2), sqrt(2)). `bits` are those of x; scale is added to e.
HOST_DEVICE float log_of_bits(int32_t bits, float scale) {
    bits -= SQRT_HALF;
    return log_of_parts(float(bits >> 23) + scale, bits_as<float>((bits & MANTISSA) + SQRT_HALF) - 1.0f);
}

const float SMALLEST_NORMAL = 1.17549435e-38f, LARGEST = 3.40282347e38f;
// 0 for the smallest positive normal number, and larger than for LARGEST if x is not a positive normal number.
HOST_DEVICE uint32_t positive_normal_distance(float x) {
    return bits_as<uint32_t>(x) - bits_as<uint32_t>(SMALLEST_NORMAL);
}

HOST_DEVICE float log(Ordinary x) { return log_of_bits(bits_as<int32_t>(x.value), 0.0f); }

HOST_DEVICE float log(float x) {
    const float z = x < SMALLEST_NORMAL ? x * 8388608.0f : x;  // denormals are scaled by 2^23
    float y = log_of_bits(bits_as<int32_t>(z), x < SMALLEST_NORMAL ? -23.0f : 0.0f);
    y = x == INFINITY ? INFINITY : y;
    y = x == 0.0f ? -INFINITY : y;
    y = x < 0.0f ? NAN : y;
    return x != x ? x : y;
}

// log(1 + x), with 1 + x = 2^e (1 + m): the sum, rounded, tells e, and m = 2^-e x + (2^-e - 1) is exact where it
// matters. (4 2^-e is a normal number for every e.) Ordinary is what lies above -1 and is finite, 0 itself but for its
// sign.
HOST_DEVICE float log1p(Ordinary ordinary) {
    const float x = ordinary.value;
    const int32_t e = (bits_as<int32_t>(1.0f + x) - SQRT_HALF) & ~MANTISSA;  // in place of the exponent
    const float part = bits_as<float>(bits_as<int32_t>(4.0f) - e) * 0.25f - 1.0f;
    return log_of_parts(float(e >> 23), bits_as<float>(bits_as<int32_t>(x) - e) + part);
}

HOST_DEVICE float log1p(float x) {
    float y = log1p(Ordinary(x));
    y = x == INFINITY ? INFINITY : y;
    y = x == -1.0f ? -INFINITY : y;
    y = x < -1.0f ? NAN : y;
    return (x == 0.0f) | (x != x) ? x : y;
}

// ---- sin and cos -------------------------------------------------------------------------------------------------

const float LARGEST_ANGLE = 4e5f;  // in magnitude: beyond it, x / pi rounds so that r leaves its interval by too much

// sin(x + turn pi), turn being 0 or 1/2. With n the integer nearest to x / pi + turn it is sin(r), for an even n, or
// -sin(r) of r = x - (n - turn) pi, which lies in [-pi / 2, pi / 2] or a little outside. sin(r) is r + r p(r^2 -
// 1.5...), which keeps the most digits, and never exceeds 1. At 0, p is so small that it does not change r, except the
// sign of -0.
HOST_DEVICE float sine_of_turned(float x, float turn) {
    const float shifted = (x * 0.318309886f + turn) + ROUNDING, n = (shifted - ROUNDING) - turn;
#ifdef HAS_FUSED
    // Three floats hold 72 bits of pi; the first step is exact, as a fused product is not rounded. Without one,
    // doubles.
    const float r = fmaf(-n, 1.07806059e-14f, fmaf(-n, 1.50995788e-7f, fmaf(-n, 3.14159250f, x)));
#else
    const double r = (double(x) - n * PI_HIGH) - n * PI_LOW;
#endif
    const auto s = r * r - 1.52734709f;
    auto p = s * 2.5877896e-6f - 1.82198506e-4f;
    p = p * s + 7.46186823e-3f;
    p = p * s - 1.42560825e-1f;
    p = p * s - 2.35810086e-1f;
    return bits_as<float>(bits_as<uint32_t>(float(p * r + r)) ^ (bits_as<uint32_t>(shifted) << 31));
}

HOST_DEVICE float sin(Ordinary x) { return x.value == 0.0f ? x.value : sine_of_turned(x.value, 0.0f); }
HOST_DEVICE float cos(Ordinary x) { return sine_of_turned(x.value, 0.5f); }
HOST_DEVICE float sin(float x) { return is_within(x, LARGEST_ANGLE) ? sin(Ordinary(x)) : ::sinf(x); }
HOST_DEVICE float cos(float x) { return is_within(x, LARGEST_ANGLE) ? cos(Ordinary(x)) : ::cosf(x); }

// ---- expm1, tanh and sigmoid -------------------------------------------------------------------------------------

// power (1 + rest) - 1, which near 0 is rest, as exact as x. Below -20 it rounds to -1. 2^n in two factors, as in exp;
// A tiny x is returned unchanged, because half of it may be inexact.
HOST_DEVICE float expm1(float x) {
    float z = x > 89.0f ? 89.0f : x;
    z = z < -20.0f ? -20.0f : z;
    const Exponential e = exponential(z);
    const float half = power_of_two(e.n - 1), y = (half * e.rest + (half - 0.5f)) * 2.0f;
    return is_within(x, 1e-8f) ? x : y;
}

// (1 - exp(-2 |x|)) / (1 + exp(-2 |x|)), with the sign of x. Both sums are rounded once.
HOST_DEVICE float tanh(float x) {
    const float size = bits_as<float>(magnitude_bits(x)), z = size > 10.0f ? 10.0f : size;  // tanh(10) rounds to 1
    const Exponential e = exponential(-z - z);
    const float power = e.power(), y = (power * e.rest + (power - 1.0f)) / (power * e.rest + (power + 1.0f));
    return bits_as<float>(magnitude_bits(y) | (bits_as<int32_t>(x) & INT32_MIN));
}

// 1 / (1 + exp(-x)) = 2^-n / (2^-n + 1 + rest). What the first sum rounds away is added back.
HOST_DEVICE float sigmoid(Ordinary x) {
    const Exponential e = exponential(-x.value);
    const float power = power_of_two(-e.n), sum = power + 1.0f, lost = power - (sum - 1.0f);
    return power / ((e.rest + lost) + sum);
}

// 2^-n in two factors, as in exp.
HOST_DEVICE float sigmoid(float x) {
    float z = x < -104.0f ? -104.0f : x;  // of which it rounds to 0
    z = z > LARGEST_EXPONENT ? LARGEST_EXPONENT : z;
    const Exponential e = exponential(-z);
    const int32_t half = e.n >> 1;
    const float first = power_of_two(-half), second = power_of_two(half - e.n), power = first * second;
    const float sum = power + 1.0f, lost = power - (sum - 1.0f);
    return first / ((e.rest + lost) + sum) * second;
}

// ---- erf and erfc ------------------------------------------------------------------------------------------------

// erf(x) / x - 1 for x in [-3/4, 3/4], of s = x^2
HOST_DEVICE float erf_bend(float s) {
    float p = -6.73758390e-4f;
    p = p * s + 5.11315698e-3f;
    p = p * s - 2.68343352e-2f;
    p = p * s + 1.12833790e-1f;
    p = p * s - 3.76126200e-1f;
    return p * s + 1.28379166e-1f;
}

// erfc(x) / exp(-x^2) for x in [3/4, 10.1]: a polynomial in 1 / (x + 5/4)
HOST_DEVICE float scaled_erfc(float x) {
    const float u = 1.0f / (x + 1.25f);
    float p = 3.67733812f;
    p = p * u - 10.4634695f;
    p = p * u + 11.5077286f;
    p = p * u - 5.13454247f;
    p = p * u + 4.66789529e-2f;
    p = p * u - 8.11240003e-2f;
    p = p * u + 6.10276878e-1f;
    p = p * u + 7.04712272e-1f;
    p = p * u + 5.64200461e-1f;
    return p * u;
}

HOST_DEVICE float erf(float x) {
    const float size = bits_as<float>(magnitude_bits(x)), z = size > 5.0f ? 5.0f : size;  // erf(5) rounds to 1
    const float far = 1.0f - scaled_erfc(z) * exp(Ordinary(-z * z)), y = z < 0.75f ? erf_bend(z * z) * z + z : far;
    return bits_as<float>(bits_as<int32_t>(y) | (bits_as<int32_t>(x) & INT32_MIN));
}

// x without the last 12 of its 24 bits: the product of two such numbers is exact
HOST_DEVICE float high_part(float x) { return bits_as<float>(bits_as<int32_t>(x) & ~0xFFF); }

// erfc(z + lost) = 2^n tail. erfc(z) (1 + 9/8 z) e^(z^2) is first + t p(t), t = (z - 2.9375) / (z + 2.9375), to 2^-29
// (after Shepherd and Laframboise, Math. Comp. 36, 1981). Near 0, with 9/8, it hardly changes with t. What the square of
// z, the exponent, the divisor and the quotient lose comes last.
struct Tail {
    int32_t n;
    float tail;
};
HOST_DEVICE Tail tail_of(float z, float lost) {
    const float high = high_part(z), low = (z - high) + lost, square = high * high;
    const float shifted = ROUNDING - z * z * 1.44269504f, n = shifted - ROUNDING;
    const float most = -square - n * LN2_HIGH, last = n * LN2_LOW + low * (high + z), power = most - last;
    const Exponential e = exponential(power, shifted);

    const float divisor = z * 1.125f + 1.0f, above = z + 2.9375f, inverse = 1.0f / (above * divisor),
                share = inverse * above;
    const float below = z - 2.9375f, turn = inverse * divisor, near = below * turn;
    const float t = near + (below - near * above) * turn, first = 0.785444379f;
    float p = -0.000130338376f;
    p = p * t - 0.000324850087f;
    p = p * t + 0.000975714356f;
    p = p * t + 0.000980691751f;
    p = p * t - 0.0101718716f;
    p = p * t + 0.0269039832f;
    p = p * t - 0.0368966125f;
    p = p * t + 0.0104514016f;
    p = p * t + 0.0781040341f;
    p = p * t - 0.220685929f;
    const float sum = p * t + first, quotient = high_part(sum * share), divisor_high = high_part(divisor);
    const float unused = (high * 1.125f - (divisor_high - 1.0f)) + low * 1.125f;
    const float remains = (sum - quotient * divisor_high) - (quotient * unused - (p * t + (first - sum)));
    const float more = quotient * ((most - power) - last) + remains * share;
    return {e.n, ((quotient + more) * e.rest + more) + quotient};
}
HOST_DEVICE float erfc_of(float x, float lost) {
    const float size = bits_as<float>(magnitude_bits(x)), z = size > 10.1f ? 10.1f : size;  // erfc(10.1) rounds to 0
    const Tail at = tail_of(z, x < 0.0f ? -lost : lost);
    const int32_t half = at.n >> 1;  // 2^n in two factors, as in exp
    const float y = at.tail * power_of_two(half) * power_of_two(at.n - half);
    return x < 0.0f ? 2.0f - y : y;
}
const float LARGEST_TAIL = 9.0f;  // erfc of it is a normal number
HOST_DEVICE float erfc(Ordinary x) {
    const Tail at = tail_of(bits_as<float>(magnitude_bits(x.value)), 0.0f);
    const float y = at.tail * power_of_two(at.n);
    return x.value < 0.0f ? 2.0f - y : y;
}
HOST_DEVICE float erfc(float x) { return erfc_of(x, 0.0f); }

// ---- The normal distribution -------------------------------------------------------------------------------------

template <class T>
struct Normal {
    T below, density;  // P(Z <= x) and its derivative
};

// P(Z <= -z) / exp(-z^2 / 2), for z from 0, is a polynomial in 1 / (z + 3.25): of relative error 2^-27 up to 14.5. The
// exponential is 0 where it would be a denormal number.
HOST_DEVICE Normal<float> normal(float x) {
    const float z = bits_as<float>(magnitude_bits(x)), u = 1.0f / (z + 3.25f), power = -0.5f * x * x;
    const float e = power < -LARGEST_EXPONENT ? 0.0f : exp(Ordinary(power));
    float p = -2641.49414f;
    p = p * u + 4114.60400f;
    p = p * u - 2297.85254f;
    p = p * u + 467.938629f;
    p = p * u - 38.7461091f;
    p = p * u + 25.8184204f;
    p = p * u + 9.56570625f;
    p = p * u + 3.81822419f;
    p = p * u + 1.29669154f;
    p = p * u + 3.98938179e-1f;
    const float tail = p * u * e;
    return {x > 0.0f ? 1.0f - tail : tail, 3.98942280e-1f * e};
}

// ---- pow ---------------------------------------------------------------------------------------------------------

// |x|^y = 2^(y log2 |x|), in double. With |x| = 2^e m, m in [sqrt(1/2), sqrt(2)), and u = (m - 1) / (m + 1):
// log2(m) = 2 / ln 2 * (u + u^3 / 3 + u^5 / 5 + ...).
HOST_DEVICE double log2_of_magnitude(float x) {
    const int64_t sqrt_half = 0x3FE6A09E00000000, mantissa = 0xFFFFFFFFFFFFF;
    const float magnitude = bits_as<float>(magnitude_bits(x));
    const int64_t bits = bits_as<int64_t>(double(magnitude)) - sqrt_half;
    const double e = double(int32_t(bits >> 52)), m = bits_as<double>((bits & mantissa) + sqrt_half);
    const double u = (m - 1.0) / (m + 1.0), s = u * u, factor = 2.88539008177792681472;
    double p = factor / 13;
    p = p * s + factor / 11;
    p = p * s + factor / 9;
    p = p * s + factor / 7;
    p = p * s + factor / 5;
    p = p * s + factor / 3;
    p = p * s + factor;
    double y = e + u * p;
    y = magnitude == 0.0f ? -double(INFINITY) : y;
    return magnitude < INFINITY ? y : double(magnitude);  // infinity or NaN
}

// 2^x for x in [-160, 130]: 2^n exp(r ln 2) by Taylor's series, r in [-1/2, 1/2], with a relative error of 2^-32.
HOST_DEVICE double wide_exp2(double x) {
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
    return p * bits_as<double>((bits_as<int64_t>(shifted) + bias) * (int64_t(1) << 52));
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

// The special values are those of C's powf. Most come of their own accord: y log2 |x| is infinite or NaN.
HOST_DEVICE float pow(float x, float y) {
    double exponent = log2_of_magnitude(x) * y;
    exponent = exponent < -160.0 ? -160.0 : exponent;
    exponent = exponent > 130.0 ? 130.0 : exponent;
    const float magnitude =
        magnitude_bits(x) == bits_as<int32_t>(1.0f) ? 1.0f : float(wide_exp2(exponent));  // 1^infinity is 1
    const float half = y * 0.5f;
    const int32_t sign = bits_as<int32_t>(x) & INT32_MIN;  // the result has it too if y is an odd integer
    const int32_t odd_sign = truncated(half) != half ? sign : 0;
    const float signed_power = bits_as<float>(bits_as<int32_t>(magnitude) ^ odd_sign);
    const float not_whole = (x < 0.0f) & (x > -INFINITY) ? NAN : magnitude;  // a root of a negative number
    const float z = truncated(y) == y ? signed_power : not_whole;
    return (y == 0.0f) | (x == 1.0f) ? 1.0f : z;
}

}  // namespace formula
}  // namespace NORCH_ISA
