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

// p[0] + x (p[1] + x (p[2] + ...))
template <int N>
HOST_DEVICE double polynomial(const double (&p)[N], double x) {
    double y = p[N - 1];
#pragma GCC unroll 32
    for (int k = N - 2; k >= 0; k--) y = y * x + p[k];
    return y;
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

HOST_DEVICE double log(double x) { return logarithm(x, log_of_parts(any_log_parts(x), 0.0)); }

// e^(n ln 2 + r + lost) = first (1 + rest) second, by Taylor's series; 2^n in two factors, as in vector_math.h
struct WideExponential {
    double first, second, rest;
};
HOST_DEVICE WideExponential wide_exponential(double n, double r, double lost) {
    const double p = polynomial({0.5, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880,
                                 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800},
                                r);
    const double half = (n * 0.5 + ROUNDING_DOUBLE) - ROUNDING_DOUBLE;
    return {double_power_of_two(half), double_power_of_two(n - half), (p * (r * r) + lost) + r};
}
HOST_DEVICE WideExponential wide_exponential(double x, double lost = 0.0) {  // of x + lost
    const double n = (x * 1.44269504088896340736 + ROUNDING_DOUBLE) - ROUNDING_DOUBLE;
    const double high = x - n * LN2_FIRST, low = n * LN2_REST - lost, r = high - low;
    return wide_exponential(n, r, (high - r) - low);
}

// exp(x), to 1 ULP; from 710 on it is infinite, below -746 it is 0
HOST_DEVICE double exp(double x) {
    const WideExponential e = wide_exponential(between(x, -746.0, 710.0));
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

HOST_DEVICE double log2(double x) {
    const WideLogParts parts = any_log_parts(x);
    const double bend = log_bend(parts.f);
    const double rest = bend + (parts.f + bend) * 0.44269504088896340736;  // 1 / ln 2 is 1.44...
    return logarithm(x, (parts.f + rest) + parts.e);
}
// e log10(2) + (f + bend) log10(e), as in float: where the factors have a high part of few bits its product is exact
HOST_DEVICE double log10(double x) {
    const double two_high = 0.30102999508380890, two_low = 5.801722962879576e-10;
    const double e_high = 0.4342944771051407, e_low = 4.798111141615973e-09;
    const WideLogParts parts = any_log_parts(x);
    const double bend = log_bend(parts.f), high = high_part(parts.f), exponent = parts.e * two_high;
    const double mantissa = high * e_high, sum = exponent + mantissa, lost = (exponent - sum) + mantissa;
    const double rest = bend * (e_high + e_low) + (parts.f * e_low + (parts.f - high) * e_high);
    return logarithm(x, sum + (lost + (rest + parts.e * two_low)));
}

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

// erf(x) / x - 1 for |x| up to 3/4, of s = x^2
HOST_DEVICE double erf_bend(double s) {
    return polynomial({0.12837916709551257, -0.37612638903183717, 0.11283791670952596, -0.026866170644428484,
                       0.0052239776154205387, -0.00085483261887597527, 0.00012055289567541707, -1.4924196305569617e-5,
                       1.6430684179741549e-6, -1.5940066854661717e-7, 1.1472499701094692e-8},
                      s);
}

// (1 + 2 z) scaled_erfc(z) = ERFC_AT_3 + t erfc_bend(t) in t = (z - 3) / (z + 3) for z from 3/4 on (Shepherd and
// Laframboise, Math. Comp. 36, 1981), where scaled_erfc(z) is e^(z^2) erfc(z).
const double ERFC_AT_3 = 1.2530080582697297;
HOST_DEVICE double erfc_bend(double t) {
    return polynomial(
        {-0.13562110612458154,    -0.047562294353450717,   0.12964515870281523,    -0.11927366341532131,
         0.068308027341570608,    -0.023770514917597874,   0.0025293918646710966,  0.0018886903273986695,
         -0.00077983280625370175, -0.00010515933383990403, 0.00012510280233718565, 4.9457217210079651e-6,
         -2.011392052218682e-5,   -7.1377616241844922e-7,  3.5021960720032743e-6,  3.0787378873295026e-7,
         -6.4919004585914667e-7,  -6.6856082668256089e-8,  1.074766419178223e-7,   -1.0764084347166486e-8},
        t);
}

// erfc(z) for z in [3/4, 27.5], given z^2. To be PRECISE, what the quotient and the sums lose joins the exponent,
// divided by p, which is about 1 / (1.668 - 0.693 p).
template <bool PRECISE>
HOST_DEVICE double wide_erfc(DoubleSum z, DoubleSum square) {
    const double divisor = 2.0 * z.high + 1.0, inverse = 1.0 / ((z.high + 3.0) * divisor);
    const double t = (z.high - 3.0) * (inverse * divisor), first = ERFC_AT_3;
    const double bend = erfc_bend(t);
    const double p = bend * t + first, y = p * (inverse * (z.high + 3.0));
    double rest = -square.low;
    if (PRECISE) {
        const double p_lost = bend * t + (first - p), lost = (1.0 - (divisor - 2.0 * z.high)) + 2.0 * z.low;
        const double y_high = high_part(y), high = high_part(divisor);
        const double remains = ((p - y_high * high) - y_high * (divisor - high)) - (y - y_high) * divisor;
        rest += (p_lost + (remains - y * lost)) * (1.668 - 0.693 * p);
    }
    const WideExponential e = wide_exponential(-square.high, rest);
    return (y * e.rest + y) * e.first * e.second;
}
template <bool PRECISE>
HOST_DEVICE double tail_of(double size) {
    const double z = between(size, 0.75, 27.5);
    return wide_erfc<PRECISE>({z, 0.0}, square_of(z));
}
HOST_DEVICE double erf(double x) {
    const double size = ::fabs(x), near = erf_bend(x * x) * size + size;
    return ::copysign(size < 0.75 ? near : size == size ? 1.0 - tail_of<false>(size) : size, x);
}
HOST_DEVICE double erfc(double x) {
    const double size = ::fabs(x), tail = tail_of<true>(size);
    const double far = x < 0.0 ? 2.0 - tail : tail;
    return size < 0.75 ? (1.0 - x) - erf_bend(x * x) * x : x == x ? far : x;
}

HOST_DEVICE Normal<double> normal(double x) {
    const double size = ::fabs(x), bounded = size > 39.0 ? 39.0 : size;
    const DoubleSum square = square_of(bounded), half = {0.5 * square.high, 0.5 * square.low};
    const double root = 0.70710678118654752440, root_high = high_part(root), high = high_part(bounded);
    const double product = high * root_high, rest = high * (root - root_high) + (bounded - high) * root;
    const double z = product + rest, z_low = (product - z) + rest;
    const double bend = 0.5 * (erf_bend(z * z) * z + z_low), near = 0.5 + ::copysign(0.5 * z, x);
    const double tail = 0.5 * wide_erfc<true>({z < 0.75 ? 0.75 : z, z_low}, half);
    const WideExponential e = wide_exponential(-half.high, -half.low);
    const double density = 0.39894228040143267794 * ((e.first * e.rest + e.first) * e.second);
    const double far = x < 0.0 ? tail : 1.0 - tail;
    return {z < 0.75 ? near + (x < 0.0 ? -bend : bend) : x == x ? far : x, density};
}

}  // namespace formula
}  // namespace NORCH_ISA
