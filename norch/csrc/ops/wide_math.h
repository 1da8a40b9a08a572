// tan, asin, acos, atan, atan2, sinh, cosh, asinh, acosh, atanh, exp2, log2, log10, hypot, fmod, remainder,
// floor_divide, frexp and nextafter of floats. Most are computed in double and rounded once: hardly more than 1/2 ULP
// from the true value; others in float, to 2 ULP (tools/ulps.cpp walks all floats, tests/tables/test_formulas.py some).
// And of doubles, to 2 ULP: exp, exp2, expm1, log, log1p, sinh, cosh, sin, cos.
//
// Like vector_math.h: no branches, so that loops become vectors; denormals, infinities and NaN are right. Series are
// Taylor's unless said otherwise. On a GPU, where doubles are slow, the CUDA library's functions serve.

#pragma once
#include "ops/vector_math.h"

inline namespace NORCH_ISA {
namespace formula {

const double HALF_PI = 1.57079632679489661923, LN2 = 0.69314718055994530942;

HOST_DEVICE float with_sign_of(float sign, double magnitude) {
    return bits_as<float>(magnitude_bits(float(magnitude)) | (bits_as<int32_t>(sign) & INT32_MIN));
}
HOST_DEVICE float size_of(float x) { return bits_as<float>(magnitude_bits(x)); }

// ---- Of doubles --------------------------------------------------------------------------------------------------

// 2^n for an integer n from -1022 to 1023: adding leaves n in the lowest bits, shifting drops all others.
HOST_DEVICE double double_power_of_two(double n) {
    return bits_as<double>(bits_as<uint64_t>(n + (ROUNDING_DOUBLE + 1023.0)) << 52);
}

// log(1 + f) of f in [sqrt(1/2) - 1, sqrt(2) - 1]: 2 (u + u^3 / 3 + u^5 / 5 + ...) for u = f / (2 + f), where 2 u is
// f - f^2 / 2 + u f^2 / 2: f, which is exact, comes last.
HOST_DEVICE double log_series(double f) {
    const double u = f / (2.0 + f), s = u * u, half = 0.5 * (f * f);
    double p = 2.0 / 19;
    p = p * s + 2.0 / 17;
    p = p * s + 2.0 / 15;
    p = p * s + 2.0 / 13;
    p = p * s + 2.0 / 11;
    p = p * s + 2.0 / 9;
    p = p * s + 2.0 / 7;
    p = p * s + 2.0 / 5;
    p = p * s + 2.0 / 3;
    return f - (half - u * (half + p * s));
}

// A positive normal number as 2^e (1 + f), with 1 + f in [sqrt(1/2), sqrt(2))
struct WideLogParts {
    double e, f;
};
HOST_DEVICE WideLogParts wide_log_parts(double x) {
    const uint64_t sqrt_half = 0x3FE6A09E00000000, one = 0x3FF0000000000000, mantissa = 0xFFFFFFFFFFFFF;
    const uint64_t above = bits_as<uint64_t>(x) - sqrt_half;
    // 2^52 + e + 1023, by placing the exponent's bits below those of 2^52
    const double e = bits_as<double>(((above + one) >> 52) | 0x4330000000000000) - (4503599627370496.0 + 1023.0);
    return {e, bits_as<double>((above & mantissa) + sqrt_half) - 1.0};
}

// log(x) of a positive normal number, to 2 ULP
HOST_DEVICE double wide_log(double x) {
    const WideLogParts parts = wide_log_parts(x);
    return parts.e * LN2 + log_series(parts.f);
}

// log(x), to 2 ULP
HOST_DEVICE double log(double x) {
    const double smallest_normal = 2.2250738585072014e-308;
    const bool is_denormal = x < smallest_normal;  // then scaled by 2^54
    double y = wide_log(is_denormal ? x * 18014398509481984.0 : x) - (is_denormal ? 54 * LN2 : 0.0);
    y = x == 0.0 ? -double(INFINITY) : y;
    y = x < 0.0 ? double(NAN) : y;
    return (x == double(INFINITY)) | (x != x) ? x : y;
}

// e^(n ln 2 + r + lost) = first (1 + rest) second, by Taylor's series; 2^n in two factors, as in vector_math.h
struct WideExponential {
    double first, second, rest;
};
HOST_DEVICE WideExponential wide_exponential(double n, double r, double lost) {
    double p = 1.0 / 6227020800;
    p = p * r + 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    const double half = (n * 0.5 + ROUNDING_DOUBLE) - ROUNDING_DOUBLE;
    return {double_power_of_two(half), double_power_of_two(n - half), (p * (r * r) + lost) + r};
}
HOST_DEVICE WideExponential wide_exponential(double x) {
    const double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
    const double n = (x * 1.44269504088896340736 + ROUNDING_DOUBLE) - ROUNDING_DOUBLE;
    const double high = x - n * ln2_high, low = n * ln2_low, r = high - low;
    return wide_exponential(n, r, (high - r) - low);
}
HOST_DEVICE double between(double x, double low, double high) {  // a NaN passes
    const double z = x > high ? high : x;
    return z < low ? low : z;
}

// exp(x), to 1 ULP; from 710 on it is infinite, below -746 it is 0
HOST_DEVICE double exp(double x) {
    const WideExponential e = wide_exponential(between(x, -746.0, 710.0));
    return (e.first * e.rest + e.first) * e.second;
}

#ifdef __CUDA_ARCH__
#define OF_DOUBLE(name) \
    HOST_DEVICE double name(double x) { return ::name(x); }
OF_DOUBLE(exp2)
OF_DOUBLE(expm1)
OF_DOUBLE(log1p)
OF_DOUBLE(sinh)
OF_DOUBLE(cosh)
#undef OF_DOUBLE
#else
HOST_DEVICE double exp2(double x) {
    const double z = between(x, -1076.0, 1025.0), n = (z + ROUNDING_DOUBLE) - ROUNDING_DOUBLE;
    const WideExponential e = wide_exponential(n, (z - n) * LN2, 0.0);
    return (e.first * e.rest + e.first) * e.second;
}

// e^x - 1 = 2^n rest + (2^n - 1), to 2 ULP; below -40 it rounds to -1
HOST_DEVICE double less_one(const WideExponential& e) {
    return (e.first * e.rest + (e.first - 1.0 / e.second)) * e.second;
}
HOST_DEVICE double expm1(double x) {
    const double y = less_one(wide_exponential(between(x, -40.0, 710.0)));
    return x == 0.0 ? x : y;  // -0 too
}
// (e^x - e^-x) / 2; from 22 on e^-x is lost
HOST_DEVICE double sinh(double x) {
    const double size = ::fabs(x), z = size > 711.0 ? 711.0 : size;
    const WideExponential e = wide_exponential(z);
    const double t = less_one(e), far = (e.first * e.rest + e.first) * (0.5 * e.second);
    return ::copysign(z > 22.0 ? far : 0.5 * (t + t / (t + 1.0)), x);
}
HOST_DEVICE double cosh(double x) {
    const double size = ::fabs(x);
    const WideExponential e = wide_exponential(size > 711.0 ? 711.0 : size);
    const double half = (e.first * e.rest + e.first) * (0.5 * e.second);
    return half + 0.25 / half;
}

// Near 0 the series of x itself; elsewhere log(u) of u = 1 + x rounded, and what u has lost
HOST_DEVICE double log1p(double x) {
    const bool near = (x > -0.29) & (x < 0.41);
    const double u = 1.0 + x, lost = u > 2.0 ? 1.0 - (u - x) : x - (u - 1.0);
    const WideLogParts parts = wide_log_parts(u);
    double y = log_series(near ? x : parts.f) + (near ? 0.0 : parts.e * LN2 + lost / u);
    y = x == -1.0 ? -double(INFINITY) : y;
    y = x < -1.0 ? double(NAN) : y;
    return (x == 0.0) | !(x < double(INFINITY)) ? x : y;
}
#endif

struct SineAndCosine {
    double sine, cosine;
};

// of r in [-pi / 4, pi / 4] or a little outside
HOST_DEVICE SineAndCosine sine_and_cosine(double r) {
    const double s = r * r;
    double p = -1.0 / 1307674368000;
    p = p * s + 1.0 / 6227020800;
    p = p * s - 1.0 / 39916800;
    p = p * s + 1.0 / 362880;
    p = p * s - 1.0 / 5040;
    p = p * s + 1.0 / 120;
    p = p * s - 1.0 / 6;
    double q = 1.0 / 20922789888000;
    q = q * s - 1.0 / 87178291200;
    q = q * s + 1.0 / 479001600;
    q = q * s - 1.0 / 3628800;
    q = q * s + 1.0 / 40320;
    q = q * s - 1.0 / 720;
    q = q * s + 1.0 / 24;
    q = q * s - 0.5;
    return {p * (s * r) + r, q * s + 1.0};
}

// A double of at most a thousand in magnitude: beyond, more digits of n pi / 2 are needed for 2 ULP. sin(x) is the sine
// or cosine of r = x - n pi / 2, by the last two bits of n; cos(x) is the one of n + 1.
struct WideAngle {
    double value;
    HOST_DEVICE WideAngle(double x) : value(x) {}
    HOST_DEVICE operator double() const { return value; }
};
const double LARGEST_WIDE_ANGLE = 1e3;
HOST_DEVICE double sine_of(WideAngle x, uint64_t turns) {
    const double shifted = x.value * 0.636619772367581343076 + ROUNDING_DOUBLE, n = shifted - ROUNDING_DOUBLE;
    const double first = 1.57079632673412561417, second = 6.07710050630396597660e-11,
                 third = 2.02226624879595063154e-21;
    const SineAndCosine both = sine_and_cosine(((x.value - n * first) - n * second) - n * third);
    const uint64_t quarter = bits_as<uint64_t>(shifted) + turns;
    return bits_as<double>(bits_as<uint64_t>(quarter & 1 ? both.cosine : both.sine) ^ (quarter >> 1 << 63));
}
HOST_DEVICE double sin(WideAngle x) { return x.value == 0.0 ? x.value : sine_of(x, 0); }
HOST_DEVICE double cos(WideAngle x) { return sine_of(x, 1); }
HOST_DEVICE double sin(double x) { return ::fabs(x) <= LARGEST_WIDE_ANGLE ? sin(WideAngle(x)) : ::sin(x); }
HOST_DEVICE double cos(double x) { return ::fabs(x) <= LARGEST_WIDE_ANGLE ? cos(WideAngle(x)) : ::cos(x); }

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
HOST_DEVICE LogParts log_parts(float x) {
    const float z = x < SMALLEST_NORMAL ? x * 8388608.0f : x;
    const int32_t bits = bits_as<int32_t>(z) - SQRT_HALF;
    const float e = float(bits >> 23) + (x < SMALLEST_NORMAL ? -23.0f : 0.0f);
    const float m = bits_as<float>((bits & MANTISSA) + SQRT_HALF) - 1.0f;
    return {e, m, log_rest(m) - 0.5f * (m * m)};
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

HOST_DEVICE float log2(float x) {
    const LogParts parts = log_parts(x);
    const float rest = parts.bend + (parts.m + parts.bend) * 0.442695041f;  // 1 / ln 2 is 1.44...
    return logarithm(x, (parts.m + rest) + parts.e);
}
// e log10(2) + (m + bend) log10(e). Where the factors have a high part of few bits its product is exact, and so is what
// the sum of both loses: powers of ten are exact.
HOST_DEVICE float log10(float x) {
    const LogParts parts = log_parts(x);
    const float two_high = 0.301025391f, two_low = 4.60503900e-6f, e_high = 0.434326172f, e_low = -3.16900434e-5f;
    const float high = bits_as<float>(bits_as<int32_t>(parts.m) & ~0xFFF), exponent = parts.e * two_high;
    const float mantissa = high * e_high, sum = exponent + mantissa, lost = (exponent - sum) + mantissa;
    const float rest = parts.bend * (e_high + e_low) + (parts.m * e_low + (parts.m - high) * e_high);
    return logarithm(x, sum + (lost + (rest + parts.e * two_low)));
}

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
    const double exact = (double(x) - n * (0.5 * PI_HIGH)) - n * (0.5 * PI_LOW);
    const float r = float(exact), lost = float(exact - r);
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
HOST_DEVICE double half_arc(float x) {
    const float size = size_of(x), square = size > 0.5f ? 0.5f - 0.5f * size : size * size;
    const float root = ::sqrtf(square), t = size > 0.5f ? root : size;
    float p = 3.746906745e-2f;
    p = p * square + 1.447584327e-2f;
    p = p * square + 3.17965029e-2f;
    p = p * square + 4.451856361e-2f;
    p = p * square + 7.500493276e-2f;
    p = p * square + 1.666666027e-1f;
    return double(p * (square * t)) + double(t);
}
HOST_DEVICE float asin(float x) {
    const double arc = half_arc(x), size = size_of(x);
    return with_sign_of(x, size > 0.5 ? HALF_PI - 2.0 * arc : arc);
}
HOST_DEVICE float acos(float x) {
    const double arc = half_arc(x), z = x, twice = 2.0 * arc;
    const double y = z > 0.5 ? twice : HALF_PI - with_sign_of(x, arc);
    return float(z < -0.5 ? 2.0 * HALF_PI - twice : y);
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
    return (x != x) | (y != y) ? x + y : with_sign_of(y, turned);
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

// The next float after x towards y: the next integer, if floats of one sign are read as such.
HOST_DEVICE float nextafter(float x, float y) {
    const int32_t bits = bits_as<int32_t>(x), step = (x < y) == (x > 0.0f) ? 1 : -1;
    const float next = x == 0.0f ? bits_as<float>(1 | (bits_as<int32_t>(y) & INT32_MIN)) : bits_as<float>(bits + step);
    return (x != x) | (y != y) ? x + y : x == y ? y : next;
}

}  // namespace formula
}  // namespace NORCH_ISA
