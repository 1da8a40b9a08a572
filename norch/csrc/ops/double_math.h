// exp, exp2, expm1, log, log2, log10, log1p, the hyperbolic functions and their inverses, pow, erf, erfc and the normal
// distribution of doubles, to 2 ULP (tests/tables/test_double_formulas.py).
//
// Like vector_math.h: no branches, so that loops become vectors; denormals, infinities and NaN are right. Series are
// Taylor's, other polynomials interpolate at Chebyshev's nodes. On a GPU the CUDA library's functions serve, except
// those that float formulas call.

#pragma once
#include "ops/vector_math.h"

inline namespace NORCH_ISA {
namespace formula {

const double LN2 = 0.69314718055994530942;
const double LN2_FIRST = 6.93147180369123816490e-01, LN2_REST = 1.90821492927058770002e-10;  // times an exponent: exact

// A double for which a function takes a shorter way, like Ordinary of floats
struct OrdinaryDouble {
    double value;
    HOST_DEVICE OrdinaryDouble(double x) : value(x) {}
    HOST_DEVICE operator double() const { return value; }
};

// p[0] + x (p[1] + x (p[2] + ...)): odd and even powers apart, so that a processor computes two sums at once
template <int N>
HOST_DEVICE double polynomial(const double (&p)[N], double x) {
    const double s = x * x;
    double y = p[N - 1], z = p[N - 2];
#pragma GCC unroll 32
    for (int k = N - 3; k >= 1; k -= 2) {
        y = y * s + p[k];
        z = z * s + p[k - 1];
    }
    return N % 2 ? y * s + (z * x + p[0]) : y * x + z;
}

// x without the last 27 of its 53 bits: the product of two such numbers is exact
HOST_DEVICE double high_part(double x) { return bits_as<double>(bits_as<uint64_t>(x) & 0xFFFFFFFFF8000000); }

// A number as the sum of two
struct DoubleSum {
    double high, low;
};
// `high` is exact: where products are fused with sums, they round one that is not in one place and not in another.
HOST_DEVICE DoubleSum square_of(double x) {
    const double high = high_part(x);
    return {high * high, (x - high) * (x + high)};
}

HOST_DEVICE double between(double x, double low, double high) {  // a NaN passes
    const double z = x > high ? high : x;
    return z < low ? low : z;
}

// ---- Exponentials and logarithms ---------------------------------------------------------------------------------

// 2^n for an integer n from -1022 to 1023: adding leaves n in the lowest bits, shifting drops all others.
HOST_DEVICE double double_power_of_two(double n) {
    return bits_as<double>(bits_as<uint64_t>(n + (ROUNDING_DOUBLE + 1023.0)) << 52);
}

// log(1 + f) - f of f in [sqrt(1/2) - 1, sqrt(2) - 1]: the logarithm is 2 (u + u^3 / 3 + u^5 / 5 + ...) for
// u = f / (2 + f), where 2 u is f - f^2 / 2 + u f^2 / 2.
HOST_DEVICE double log_bend(double f) {
    const double u = f / (2.0 + f), s = u * u, half = 0.5 * (f * f);
    const double p =
        polynomial({2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19}, s);
    return u * (half + p * s) - half;
}
HOST_DEVICE double log_series(double f) { return f + log_bend(f); }  // f, which is exact, comes last

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

// e ln 2 + log(1 + f) + rest
HOST_DEVICE double log_of_parts(WideLogParts parts, double rest) {
    return (parts.f + (log_bend(parts.f) + (parts.e * LN2_REST + rest))) + parts.e * LN2_FIRST;
}

// y for x as a logarithm has it, beside the special values
HOST_DEVICE double logarithm(double x, double y) {
    y = x == 0.0 ? -double(INFINITY) : y;
    y = x < 0.0 ? double(NAN) : y;
    return x < double(INFINITY) ? y : x;
}

// Of any positive number: denormals are scaled by 2^54.
HOST_DEVICE WideLogParts any_log_parts(double x) {
    const bool is_denormal = x < 2.2250738585072014e-308;
    const WideLogParts parts = wide_log_parts(is_denormal ? x * 18014398509481984.0 : x);
    return {parts.e - (is_denormal ? 54.0 : 0.0), parts.f};
}

HOST_DEVICE double log(OrdinaryDouble x) { return log_of_parts(wide_log_parts(x.value), 0.0); }
HOST_DEVICE double log(double x) { return logarithm(x, log_of_parts(any_log_parts(x), 0.0)); }
HOST_DEVICE bool is_positive_normal(double x) { return (x >= 2.2250738585072014e-308) & (x < double(INFINITY)); }

// (e^r - 1 - r) / r^2 of r in [-ln 2 / 2, ln 2 / 2], the best of its degree
HOST_DEVICE double exponential_bend(double r) {
    return polynomial({0.5000000000000011, 0.16666666666666413, 0.04166666666653015, 0.008333333333494432,
                       0.0013888888943633289, 0.00019841269506642341, 2.4801493095713717e-05, 2.7557586316473842e-06,
                       2.7630249482367204e-07, 2.500008008318305e-08},
                      r);
}

// e^(n ln 2 + r + lost) = first (1 + rest) second; 2^n in two factors, as in vector_math.h
struct WideExponential {
    double first, second, rest;
};
HOST_DEVICE WideExponential wide_exponential(double n, double r, double lost) {
    const double half = (n * 0.5 + ROUNDING_DOUBLE) - ROUNDING_DOUBLE;
    return {double_power_of_two(half), double_power_of_two(n - half), (exponential_bend(r) * (r * r) + lost) + r};
}
HOST_DEVICE WideExponential wide_exponential(double x, double lost = 0.0) {  // of x + lost
    const double n = (x * 1.44269504088896340736 + ROUNDING_DOUBLE) - ROUNDING_DOUBLE;
    const double high = x - n * LN2_FIRST, low = n * LN2_REST - lost, r = high - low;
    return wide_exponential(n, r, (high - r) - low);
}

// exp(x), to 1 ULP; from 710 on it is infinite, below -746 it is 0
const double LARGEST_WIDE_EXPONENT = 708.0;  // exp of it and of its negative are normal numbers
HOST_DEVICE double exp(OrdinaryDouble x) {
    const double bias = ROUNDING_DOUBLE + 1023.0, shifted = x.value * 1.44269504088896340736 + bias, n = shifted - bias;
    const double r = (x.value - n * LN2_FIRST) - n * LN2_REST;
    const double power = bits_as<double>(bits_as<uint64_t>(shifted) << 52);
    return power * (exponential_bend(r) * (r * r) + r) + power;
}
HOST_DEVICE double exp(double x) {
    const double z = between(x, -746.0, 710.0), n = (z * 1.44269504088896340736 + ROUNDING_DOUBLE) - ROUNDING_DOUBLE;
    const WideExponential e = wide_exponential(n, (z - n * LN2_FIRST) - n * LN2_REST, 0.0);
    return (e.first * e.rest + e.first) * e.second;
}

#ifdef __CUDA_ARCH__
#define OF_DOUBLE(name) \
    HOST_DEVICE double name(double x) { return ::name(x); }
#define OF_DOUBLES(name) \
    HOST_DEVICE double name(double x, double y) { return ::name(x, y); }
OF_DOUBLE(exp2)
OF_DOUBLE(expm1)
OF_DOUBLE(log1p)
OF_DOUBLE(log2)
OF_DOUBLE(log10)
OF_DOUBLE(sinh)
OF_DOUBLE(cosh)
OF_DOUBLE(tanh)
OF_DOUBLE(asinh)
OF_DOUBLE(acosh)
OF_DOUBLE(atanh)
OF_DOUBLES(pow)
#undef OF_DOUBLE
#undef OF_DOUBLES
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

// (1 - e^-2|x|) / (1 + e^-2|x|), with the sign of x; from 20 on it rounds to 1
HOST_DEVICE double tanh(double x) {
    const double size = ::fabs(x);
    const WideExponential e = wide_exponential(-2.0 * (size > 20.0 ? 20.0 : size));
    const double power = e.first * e.second;
    return ::copysign((power * e.rest + (power - 1.0)) / (power * e.rest + (power + 1.0)), x);
}

// log(1 + x + rest) = log(u) of u = 1 + x rounded, and what u has lost (Knuth)
HOST_DEVICE double log1p_of(double x, double rest) {
    const double u = 1.0 + x, added = u - 1.0, lost = (1.0 - (u - added)) + (x - added);
    return log_of_parts(wide_log_parts(u), (lost + rest) / u);
}
// Ordinary is what lies above -1 and is finite, 0 itself but for its sign.
HOST_DEVICE double log1p(OrdinaryDouble x) { return log1p_of(x.value, 0.0); }
HOST_DEVICE double log1p(double x) {
    double y = log1p(OrdinaryDouble(x));
    y = x == -1.0 ? -double(INFINITY) : y;
    y = x < -1.0 ? double(NAN) : y;
    return (x == 0.0) | !(x < double(INFINITY)) ? x : y;
}

HOST_DEVICE double log2_of_parts(WideLogParts parts) {
    const double bend = log_bend(parts.f);
    const double rest = bend + (parts.f + bend) * 0.44269504088896340736;  // 1 / ln 2 is 1.44...
    return (parts.f + rest) + parts.e;
}
HOST_DEVICE double log2(OrdinaryDouble x) { return log2_of_parts(wide_log_parts(x.value)); }
HOST_DEVICE double log2(double x) { return logarithm(x, log2_of_parts(any_log_parts(x))); }
// e log10(2) + (f + bend) log10(e), as in float: where the factors have a high part of few bits its product is exact
HOST_DEVICE double log10_of_parts(WideLogParts parts) {
    const double two_high = 0.30102999508380890, two_low = 5.801722962879576e-10;
    const double e_high = 0.4342944771051407, e_low = 4.798111141615973e-09;
    const double bend = log_bend(parts.f), high = high_part(parts.f), exponent = parts.e * two_high;
    const double mantissa = high * e_high, sum = exponent + mantissa, lost = (exponent - sum) + mantissa;
    const double rest = bend * (e_high + e_low) + (parts.f * e_low + (parts.f - high) * e_high);
    return sum + (lost + (rest + parts.e * two_low));
}
HOST_DEVICE double log10(OrdinaryDouble x) { return log10_of_parts(wide_log_parts(x.value)); }
HOST_DEVICE double log10(double x) { return logarithm(x, log10_of_parts(any_log_parts(x))); }

// log(z + sqrt(z^2 + 1)) = log1p(z + z^2 / (1 + sqrt(z^2 + 1))); beyond 2^28 it is log(2 z)
HOST_DEVICE double asinh(double x) {
    const double size = ::fabs(x), bounded = size > 268435456.0 ? 268435456.0 : size, s = bounded * bounded;
    const double more = s / (1.0 + ::sqrt(s + 1.0)), t = bounded + more;
    const bool far = size > bounded;
    const double y = log1p_of(far ? size - 1.0 : t, far ? 0.0 : (bounded - t) + more) + (far ? LN2 : 0.0);
    return size < double(INFINITY) ? ::copysign(y, x) : x;
}
// log(x + sqrt(x^2 - 1)), of t = x - 1 for the same reason
HOST_DEVICE double acosh(double x) {
    const double t = x - 1.0, bounded = t > 268435456.0 ? 268435456.0 : t;
    const double root = ::sqrt(bounded * bounded + 2.0 * bounded), sum = bounded + root;
    const bool far = t > bounded;
    const double y = log1p_of(far ? t : sum, far ? 0.0 : (root - sum) + bounded) + (far ? LN2 : 0.0);
    const double below = x < 1.0 ? double(NAN) : y;
    return x < double(INFINITY) ? below : x;
}
// log((1 + z) / (1 - z)) / 2 = log1p(2 z + 2 z^2 / (1 - z)) / 2
HOST_DEVICE double atanh(double x) {
    const double size = ::fabs(x), twice = size + size, more = twice * size / (1.0 - size), t = twice + more;
    const double added = t - twice, lost = (twice - (t - added)) + (more - added), y = 0.5 * log1p_of(t, lost);
    return ::copysign(size < 1.0 ? y : size == 1.0 ? double(INFINITY) : double(NAN), x);
}

// ---- pow ---------------------------------------------------------------------------------------------------------

// log2 of a positive number to 2^-65, `high` of 26 bits: e + 2 / (3 ln 2) u (3 + u^2 + r), u = f / (2 + f), where r =
// 3 u^4 (1/5 + u^2 / 7 + ...). Each product that counts is one of high parts.
HOST_DEVICE DoubleSum precise_log2(double x) {
    const WideLogParts parts = any_log_parts(x);
    const double f = parts.f, divisor = high_part(2.0 + f), inverse = 1.0 / (2.0 + f), u = f * inverse;
    const double u_high = high_part(u), u_low = inverse * ((f - u_high * divisor) - u_high * (f - (divisor - 2.0)));
    const double s = u * u, s_high = u_high * u_high;
    const double series = polynomial(
        {3.0 / 5, 3.0 / 7, 3.0 / 9, 3.0 / 11, 3.0 / 13, 3.0 / 15, 3.0 / 17, 3.0 / 19, 3.0 / 21, 3.0 / 23, 3.0 / 25}, s);
    const double r = s * s * series + u_low * (u_high + u);
    const double factor = high_part(3.0 + s_high + r), factor_low = r - ((factor - 3.0) - s_high);
    const double product = u_high * factor, product_low = u_low * factor + factor_low * u;
    const double log = high_part(product + product_low), log_low = product_low - (log - product);
    const double scaled = 0.9617966860532761 * log,
                 scaled_low = 7.872699542894897e-09 * log + 0.9617966939259756 * log_low;
    const double high = high_part((scaled + scaled_low) + parts.e);
    return {high, scaled_low - ((high - parts.e) - scaled)};
}

// 2^(y log2 |x|); the special values are those of C
HOST_DEVICE double pow(double x, double y) {
    const double size = ::fabs(x), exponent = between(y, -1e25, 1e25), y_high = high_part(exponent);
    const DoubleSum log = precise_log2(size);
    const double rest = (exponent - y_high) * log.high + exponent * log.low, product = y_high * log.high;
    const double z = product + rest, bounded = between(z, -1080.0, 1030.0);
    const double n = (bounded + ROUNDING_DOUBLE) - ROUNDING_DOUBLE;
    const double t = (z == bounded ? product : bounded) - n, t_rest = z == bounded ? rest : 0.0;
    const double t_high = high_part(t + t_rest), first = t_high * 0.6931471675634384;
    const double second = (t_rest - (t_high - t)) * LN2 + t_high * 1.2996506893889889e-08, r = first + second;
    const WideExponential e = wide_exponential(n, r, second - (r - first));
    const double finite = (e.first * e.rest + e.first) * e.second;

    const bool is_extreme = (size == 0.0) | (size == double(INFINITY));
    const double magnitude = is_extreme ? ((y < 0.0) == (size == 0.0) ? double(INFINITY) : 0.0) : finite;
    const double half = 0.5 * y, signed_power = ::trunc(half) != half ? ::copysign(magnitude, x) : magnitude;
    const double root = (x < 0.0) & (x > -double(INFINITY)) ? double(NAN) : magnitude;
    const double power = ::trunc(y) == y ? signed_power : root;
    return (y == 0.0) | (x == 1.0) ? 1.0 : (x != x) | (y != y) ? x + y : power;
}
#endif

// ---- The error function and the normal distribution ---------------------------------------------------------------

// -log(erfc(z)) / z is ERF_SLOPE + z erf_bend(z) for z in [0, 6], to 2^-55 of erf(z): the smaller the tail is, the less
// exact it may be.
const double ERF_SLOPE = 1.1283791670955126;
HOST_DEVICE double erf_bend(double z) {
    return polynomial(
        {0.6366197723675909,      0.10277260330131537,     -0.01912844699309307,    -0.00020919485394343094,
         0.0016962076700313465,   -0.0005901324310543157,  2.5904503251989914e-05,  6.442046210627743e-05,
         -2.9575646160588158e-05, 3.1696355385067883e-06,  3.133010331429056e-06,   -2.037238650706268e-06,
         5.706734331435005e-07,   -1.1734418188008126e-08, -6.572039903619111e-08,  3.45796839253589e-08,
         -1.077176840316922e-08,  2.36014181723145e-09,    -3.7600486750940635e-10, 4.300928331284654e-11,
         -3.3635885796292753e-12, 1.6144569678756563e-13,  -3.591155906415462e-15},
        z);
}
// 1 - e^-(z q); what q and the product lose joins the exponent
HOST_DEVICE double erf(double x) {
    const double size = ::fabs(x), z = size > 6.0 ? 6.0 : size, bend = erf_bend(z);  // erf(6) rounds to 1
    const double q = bend * z + ERF_SLOPE, lost = bend * z + (ERF_SLOPE - q);
    const double z_high = high_part(z), q_high = high_part(q), rest = z_high * (q - q_high) + (z - z_high) * q;
    const WideExponential e = wide_exponential(-z_high * q_high, -(rest + z * lost));
    const double power = e.first * e.second;
    return ::copysign((1.0 - power) - power * e.rest, x);
}

// erfc(z + lost), as of a float: erfc(z) (1 + 9/8 z) e^(z^2) is ERFC_AT_3 + t erfc_bend(t) in t = (z - 3) / (z + 3).
const double ERFC_AT_3 = 0.783130036418581;
HOST_DEVICE double erfc_bend(double t) {
    return polynomial({-0.21901405471390545,    0.08069787267532925,    0.007249679551184915,   -0.03573763189702128,
                       0.02775154693001468,     -0.011503167495614855,  0.0017324219487892876,  0.0008011737186299646,
                       -0.0004188563318401606,  -3.112759695589866e-05, 6.474124075574171e-05,  -7.066102173246666e-07,
                       -1.0376774488808708e-05, 1.3747481744847496e-07, 1.8195955484864574e-06, 9.564145526447958e-08,
                       -3.27258194210972e-07,   -5.53061896246412e-08,  5.1508850610955164e-08, 1.5920752786112866e-08,
                       -4.949397235505541e-09,  -2.1962489304586813e-09},
                      t);
}
HOST_DEVICE double tail_of(double z, double lost) {
    const double high = high_part(z), low = (z - high) + lost;
    const WideExponential e = wide_exponential(-high * high, -low * (high + z));
    const double divisor = z * 1.125 + 1.0, above = z + 3.0, inverse = 1.0 / (above * divisor), share = inverse * above;
    const double t = (z - 3.0) * (inverse * divisor), bend = erfc_bend(t), sum = bend * t + ERFC_AT_3;
    const double quotient = high_part(sum * share), divisor_high = high_part(divisor);
    const double unused = (high * 1.125 - (divisor_high - 1.0)) + low * 1.125;
    const double more =
        ((sum - quotient * divisor_high) - (quotient * unused - (bend * t + (ERFC_AT_3 - sum)))) * share;
    return (((quotient + more) * e.rest + more) + quotient) * e.first * e.second;
}
const double LARGEST_TAIL_OF_DOUBLE = 27.5;  // of which erfc rounds to 0
HOST_DEVICE double erfc(double x) {
    const double size = ::fabs(x), tail = tail_of(size > LARGEST_TAIL_OF_DOUBLE ? LARGEST_TAIL_OF_DOUBLE : size, 0.0);
    return x < 0.0 ? 2.0 - tail : tail;
}

HOST_DEVICE Normal<double> normal(double x) {
    const double size = ::fabs(x), bounded = size > 38.8 ? 38.8 : size;
    const double root = 0.70710678118654752440, root_high = high_part(root), high = high_part(bounded);
    const double product = high * root_high, rest = high * (root - root_high) + (bounded - high) * root;
    const double z = product + rest, lost = ((product - z) + rest) - bounded * 4.833646656726457e-17;
    const double tail = 0.5 * tail_of(z, lost);
    const DoubleSum square = square_of(bounded);
    const WideExponential e = wide_exponential(-0.5 * square.high, -0.5 * square.low);
    const double density = 0.39894228040143267794 * ((e.first * e.rest + e.first) * e.second);
    return {x > 0.0 ? 1.0 - tail : tail, density};
}

}  // namespace formula
}  // namespace NORCH_ISA
