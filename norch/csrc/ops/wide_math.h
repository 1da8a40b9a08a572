// tan, asin, acos, atan, atan2, sinh, cosh, asinh, acosh, atanh, exp2, log2, log10, hypot, fmod, remainder,
// floor_divide, frexp and nextafter of floats. Most are computed in double and rounded once: hardly more than 1/2 ULP
// from the true value; others in float, to 2 ULP (tools/ulps.cpp walks all floats, tests/tables/test_formulas.py some).
//
// Like vector_math.h: no branches, so that loops become vectors; denormals, infinities and NaN are right. Series are
// Taylor's unless said otherwise. On a GPU, where doubles are slow, the CUDA library's functions serve.

#pragma once
#include "ops/double_angles.h"

inline namespace NORCH_ISA {
namespace formula {

HOST_DEVICE float with_sign_of(float sign, double magnitude) {
    return bits_as<float>(magnitude_bits(float(magnitude)) | (bits_as<int32_t>(sign) & INT32_MIN));
}
HOST_DEVICE float size_of(float x) { return bits_as<float>(magnitude_bits(x)); }

// The angle of the point (x, y), both at least 0, in [0, pi / 2]. atan(t) for t in [0, 1] is t p(t^2), p the best of
// its degree by Lawson's weights, with a relative error of 2^-34.
HOST_DEVICE double angle_of(double y, double x) {
    const bool steep = y > x;
    const double shorter = steep ? x : y, longer = steep ? y : x;
    double t = shorter / longer;
    t = shorter == longer ? (longer == 0.0 ? 0.0 : 1.0) : t;  // also of infinities
    const double s = t * t;
    double p = -6.842018457697e-4;
    p = p * s + 4.847375780385e-3;
    p = p * s - 1.6102399122921e-2;
    p = p * s + 3.4195876099371e-2;
    p = p * s - 5.4266433695944e-2;
    p = p * s + 7.2449625153688e-2;
    p = p * s - 8.9799474579448e-2;
    p = p * s + 1.10931704059171e-1;
    p = p * s - 1.42839705834807e-1;
    p = p * s + 1.99999112879872e-1;
    p = p * s - 3.33333315482616e-1;
    p = p * s + 9.9999999994004536e-1;
    const double angle = p * t;
    return steep ? HALF_PI - angle : angle;
}

// ---- Exponentials and logarithms ---------------------------------------------------------------------------------

// x = 2^e (1 + m) with 1 + m in [sqrt(1/2), sqrt(2)), and log(1 + m) = m + bend. Denormals are scaled by 2^23.
struct LogParts {
    float e, m, bend;
};
HOST_DEVICE LogParts log_parts(Ordinary x) {
    const int32_t bits = bits_as<int32_t>(x.value) - SQRT_HALF;
    const float m = bits_as<float>((bits & MANTISSA) + SQRT_HALF) - 1.0f;
    return {float(bits >> 23), m, log_rest(m) - 0.5f * (m * m)};
}
HOST_DEVICE LogParts log_parts(float x) {
    const LogParts parts = log_parts(Ordinary(x < SMALLEST_NORMAL ? x * 8388608.0f : x));
    return {parts.e + (x < SMALLEST_NORMAL ? -23.0f : 0.0f), parts.m, parts.bend};
}

#ifdef __CUDA_ARCH__
#define OF_FLOAT(name) \
    HOST_DEVICE float name(float x) { return ::name##f(x); }
OF_FLOAT(exp2)
OF_FLOAT(log2)
OF_FLOAT(log10)
OF_FLOAT(sinh)
OF_FLOAT(cosh)
OF_FLOAT(asinh)
OF_FLOAT(acosh)
OF_FLOAT(atanh)
OF_FLOAT(tan)
OF_FLOAT(asin)
OF_FLOAT(acos)
OF_FLOAT(atan)
#undef OF_FLOAT
HOST_DEVICE float atan2(float y, float x) { return ::atan2f(y, x); }
HOST_DEVICE float hypot(float x, float y) { return ::hypotf(x, y); }
#else

// 2^x in two factors, as in exp.
HOST_DEVICE float exp2(float x) {
    float z = x > 129.0f ? 129.0f : x;
    z = z < -151.0f ? -151.0f : z;
    const float shifted = z + ROUNDING, n = shifted - ROUNDING;
    const Exponential e = exponential((z - n) * 0.693147182f, shifted);
    const int32_t half = e.n >> 1;
    return (power_of_two(half) * e.rest + power_of_two(half)) * power_of_two(e.n - half);
}

// y for x as a logarithm has it, beside the special values
HOST_DEVICE float logarithm(float x, float y) {
    y = x == 0.0f ? -INFINITY : y;
    y = x < 0.0f ? NAN : y;
    return x < INFINITY ? y : x;
}

HOST_DEVICE float log2_of_parts(LogParts parts) {
    const float rest = parts.bend + (parts.m + parts.bend) * 0.442695041f;  // 1 / ln 2 is 1.44...
    return (parts.m + rest) + parts.e;
}
HOST_DEVICE float log2(Ordinary x) { return log2_of_parts(log_parts(x)); }
HOST_DEVICE float log2(float x) { return logarithm(x, log2_of_parts(log_parts(x))); }
// e log10(2) + (m + bend) log10(e). Where the factors have a high part of few bits its product is exact, and so is what
// the sum of both loses: powers of ten are exact.
HOST_DEVICE float log10_of_parts(LogParts parts) {
    const float two_high = 0.301025391f, two_low = 4.60503900e-6f, e_high = 0.434326172f, e_low = -3.16900434e-5f;
    const float high = high_part(parts.m), exponent = parts.e * two_high;
    const float mantissa = high * e_high, sum = exponent + mantissa, lost = (exponent - sum) + mantissa;
    const float rest = parts.bend * (e_high + e_low) + (parts.m * e_low + (parts.m - high) * e_high);
    return sum + (lost + (rest + parts.e * two_low));
}
HOST_DEVICE float log10(Ordinary x) { return log10_of_parts(log_parts(x)); }
HOST_DEVICE float log10(float x) { return logarithm(x, log10_of_parts(log_parts(x))); }

// (e^x - e^-x) / 2, near 0 by its series; from 90 on it is infinite
HOST_DEVICE float sinh(float x) {
    const double size = size_of(x), z = size > 90.0 ? 90.0 : size, s = z * z;
    const double e = wide_exp2(z * (1.0 / LN2));
    double p = 1.0 / 39916800;
    p = p * s + 1.0 / 362880;
    p = p * s + 1.0 / 5040;
    p = p * s + 1.0 / 120;
    p = p * s + 1.0 / 6;
    return with_sign_of(x, z < 1.0 ? p * (s * z) + z : 0.5 * e - 0.5 / e);
}
HOST_DEVICE float cosh(float x) {
    const double size = size_of(x), e = wide_exp2((size > 90.0 ? 90.0 : size) * (1.0 / LN2));
    return float(0.5 * e + 0.5 / e);
}

// log(x + sqrt(x^2 + 1)); near 0, where the logarithm loses digits, its series
HOST_DEVICE float asinh(float x) {
    const double z = size_of(x), s = z * z;
    const double near = z - z * s * (1.0 / 6 - s * (3.0 / 40 - s * (15.0 / 336))), far = wide_log(z + ::sqrt(s + 1.0));
    const double y = z < 0.015625 ? near : far;
    return with_sign_of(x, z < double(INFINITY) ? y : z);
}
// log(x + sqrt(x^2 - 1))
HOST_DEVICE float acosh(float x) {
    const double z = x, y = wide_log(z + ::sqrt(z * z - 1.0));
    const float below = x < 1.0f ? NAN : float(y);
    return x < INFINITY ? below : x;
}
// log((1 + x) / (1 - x)) / 2; near 0 its series
HOST_DEVICE float atanh(float x) {
    const double z = size_of(x), s = z * z;
    const double near = z + z * s * (1.0 / 3 + s * (1.0 / 5 + s * (1.0 / 7))),
                 far = 0.5 * wide_log((1.0 + z) / (1.0 - z));
    double y = z < 0.015625 ? near : far;
    y = z == 1.0 ? double(INFINITY) : y;
    return with_sign_of(x, z <= 1.0 ? y : double(NAN));
}

// ---- Angles ------------------------------------------------------------------------------------------------------

// x = n pi / 2 + r, n the nearest integer: tan(x) is tan(r), or -1 / tan(r) for an odd n. tan(r) is r + r^3 p(r^2), p the
// best of its degree by Lawson's weights, with a relative error of 2^-29; what r and the sum lose is added last.
HOST_DEVICE float tan(Ordinary angle) {
    const float x = angle.value, shifted = x * 0.636619772f + ROUNDING, n = shifted - ROUNDING;
#ifdef HAS_FUSED
    const float high = fmaf(-n, 1.57079625f, x), second = n * 7.54978942e-8f, sum = high - second;  // as sine_of_turned
    const float small = ((high - sum) - second) - (fmaf(n, 7.54978942e-8f, -second) + n * 5.39030286e-15f);
    const float r = sum + small, lost = (sum - r) + small;
#else
    const double exact = (double(x) - n * (0.5 * PI_HIGH)) - n * (0.5 * PI_LOW);
    const float r = float(exact), lost = float(exact - r);
#endif
    const float s = r * r;
    float p = 4.3793451e-3f;
    p = p * s + 8.3468607e-5f;
    p = p * s + 1.08404718e-2f;
    p = p * s + 2.12804414e-2f;
    p = p * s + 5.40602431e-2f;
    p = p * s + 1.33326605e-1f;
    p = p * s + 3.33333492e-1f;
    const float bend = p * (s * r), y = r + bend, rest = (r - y) + bend + lost * (y * y + 1.0f), turned = -1.0f / y;
    const bool odd = bits_as<uint32_t>(shifted) & 1;
    return x == 0.0f ? x : odd ? turned + rest * (turned * turned) : y + rest;  // -0 too
}
HOST_DEVICE float tan(float x) { return is_within(x, LARGEST_ANGLE) ? tan(Ordinary(x)) : ::tanf(x); }

// Of |x| up to 1/2 asin(|x|), beyond asin(sqrt((1 - |x|) / 2)) = (pi / 2 - asin(|x|)) / 2. asin(t) is t + t^3 p(t^2), p
// the best of its degree by Lawson's weights, with a relative error of 2^-31.
struct Arc {
    float t, bend;
};
HOST_DEVICE Arc half_arc(float size) {
    const float square = size > 0.5f ? 0.5f - 0.5f * size : size * size;
    const float root = ::sqrtf(square), t = size > 0.5f ? root : size;
    float p = 3.746906745e-2f;
    p = p * square + 1.447584327e-2f;
    p = p * square + 3.17965029e-2f;
    p = p * square + 4.451856361e-2f;
    p = p * square + 7.500493276e-2f;
    p = p * square + 1.666666027e-1f;
    return {t, p * (square * t)};
}
// pi / 2 - t - bend; what the first difference loses is added last
HOST_DEVICE float right_angle_less(float t, float bend) {
    const float half_pi = 1.57079637f, half_pi_low = -4.37113883e-8f, y = half_pi - t;
    return y + (((half_pi - y) - t) - (bend - half_pi_low));
}
HOST_DEVICE float asin(float x) {
    const float size = size_of(x);
    const Arc arc = half_arc(size);
    const float y = size > 0.5f ? right_angle_less(arc.t + arc.t, arc.bend + arc.bend) : arc.t + arc.bend;
    return bits_as<float>(magnitude_bits(y) | (bits_as<int32_t>(x) & INT32_MIN));
}
HOST_DEVICE float acos(float x) {
    const Arc arc = half_arc(size_of(x));
    const bool turned = (x >= -0.5f) & (x < 0.0f);
    const float rest = right_angle_less(turned ? -arc.t : arc.t, turned ? -arc.bend : arc.bend);
    const float y = x < -0.5f ? rest + rest : rest;
    return x > 0.5f ? 2.0f * (arc.t + arc.bend) : y;
}

// Of |x| up to 1, or of 1 / |x|, t + t^3 p(t^2), p the best of its degree by Lawson's weights, to 2^-28.
HOST_DEVICE float atan(float x) {
    const float size = size_of(x), t = size > 1.0f ? 1.0f / size : size, s = t * t;
    float p = -1.79361913e-3f;
    p = p * s + 1.09145939e-2f;
    p = p * s - 3.11778244e-2f;
    p = p * s + 5.7957571e-2f;
    p = p * s - 8.40344876e-2f;
    p = p * s + 1.09521851e-1f;
    p = p * s - 1.42642409e-1f;
    p = p * s + 1.99985489e-1f;
    p = p * s - 3.33332986e-1f;
    const float angle = p * (s * t) + t, steep = 1.57079637f - (angle + 4.37113883e-8f);
    return bits_as<float>(bits_as<int32_t>(size > 1.0f ? steep : angle) | (bits_as<int32_t>(x) & INT32_MIN));
}
HOST_DEVICE float atan2(float y, float x) {
    const double angle = angle_of(size_of(y), size_of(x));
    const float turned = float(bits_as<int32_t>(x) < 0 ? 2.0 * HALF_PI - angle : angle);
    return int(x != x) | int(y != y) ? x + y : with_sign_of(y, turned);
}

HOST_DEVICE float hypot(float x, float y) {
    const double a = x, b = y;
    const float length = float(::sqrt(a * a + b * b));
    return (size_of(x) == INFINITY) | (size_of(y) == INFINITY) ? INFINITY : length;
}
#endif

// ---- Remainders --------------------------------------------------------------------------------------------------

// A quotient x / y of up to 2^22 is an Ordinary pair's: its integer part is exact in float, and with it, in double, the
// remainder.
const float LARGEST_QUOTIENT = 4194304.0f;

struct Division {
    double quotient, rest;  // x = quotient y + rest exactly, quotient being x / y rounded to an integer
};
HOST_DEVICE Division divided(float x, float y) {
    const double q = (double(x) / double(y) + ROUNDING_DOUBLE) - ROUNDING_DOUBLE;
    return {q, q == 0.0 ? double(x) : double(x) - q * double(y)};  // also by infinity
}

// The remainder of division rounded towards zero: it has x's sign.
HOST_DEVICE float fmod(Ordinary x, Ordinary y) {
    const double rest = divided(x.value, y.value).rest;
    const double divisor = bits_as<float>(magnitude_bits(y.value) | (bits_as<int32_t>(x.value) & INT32_MIN));
    return with_sign_of(x.value, rest * divisor < 0.0 ? rest + divisor : rest);
}
// That of division rounded towards minus infinity: it has y's sign; 0 has x's.
HOST_DEVICE float remainder(Ordinary x, Ordinary y) {
    const double rest = divided(x.value, y.value).rest, divisor = y.value;
    const double moved = rest * divisor < 0.0 ? rest + divisor : rest;
    return rest == 0.0 ? with_sign_of(x.value, 0.0) : float(moved);
}
HOST_DEVICE float floor_divide(Ordinary x, Ordinary y) {
    const Division division = divided(x.value, y.value);
    const float q = float(division.rest * double(y.value) < 0.0 ? division.quotient - 1.0 : division.quotient);
    return q == 0.0f ? with_sign_of(bits_as<float>(bits_as<int32_t>(x.value) ^ bits_as<int32_t>(y.value)), 0.0) : q;
}

// ---- The parts of a float, and its neighbours ---------------------------------------------------------------------

// x = mantissa 2^exponent with |mantissa| in [0.5, 1). Denormals are scaled by 2^25.
HOST_DEVICE float frexp_mantissa(float x) {
    const float z = size_of(x) < SMALLEST_NORMAL ? x * 33554432.0f : x;
    const int32_t half = bits_as<int32_t>(0.5f);
    const float y = bits_as<float>((bits_as<int32_t>(z) & (INT32_MIN | MANTISSA)) | half);
    return (x == 0.0f) | !(size_of(x) < INFINITY) ? x : y;
}
HOST_DEVICE float frexp_exponent(float x) {
    const bool tiny = size_of(x) < SMALLEST_NORMAL;
    const int32_t bits = magnitude_bits(tiny ? x * 33554432.0f : x);
    const int32_t exponent = (bits >> 23) - 126 - (tiny ? 25 : 0);
    return (x == 0.0f) | !(size_of(x) < INFINITY) ? 0.0f : float(exponent);
}

// The next number after x towards y: the next integer, if numbers of one sign are read as such.
template <class Bits, class T>
HOST_DEVICE T neighbour(T x, T y) {
    const Bits sign = bits_as<Bits>(T(-0.0)), bits = bits_as<Bits>(x), step = (x < y) == (x > T(0)) ? 1 : -1;
    const T next = x == T(0) ? bits_as<T>(Bits(1) | (bits_as<Bits>(y) & sign)) : bits_as<T>(Bits(bits + step));
    return (x != x) | (y != y) ? x + y : x == y ? y : next;
}
HOST_DEVICE float nextafter(float x, float y) { return neighbour<int32_t>(x, y); }
HOST_DEVICE double nextafter(double x, double y) { return neighbour<int64_t>(x, y); }

}  // namespace formula
}  // namespace NORCH_ISA
