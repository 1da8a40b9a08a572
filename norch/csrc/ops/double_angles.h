// sin, cos, tan, asin, acos, atan, atan2, hypot, fmod, remainder and floor_divide of doubles, like double_math.h.

#pragma once
#include "ops/double_math.h"

inline namespace NORCH_ISA {
namespace formula {

const double HALF_PI = 1.57079632679489661923, HALF_PI_LOW = 6.12323399573676603587e-17;  // what the first lacks

// ---- Angles ------------------------------------------------------------------------------------------------------

// Of r in [-pi / 4, pi / 4] or a little outside, given s = r^2: sin(r) - r is r s times the one, cos(r) - 1 is s times
// the other.
HOST_DEVICE double sine_series(double s) {
    return polynomial(
        {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000}, s);
}
HOST_DEVICE double cosine_series(double s) {
    return polynomial({-0.5, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600, -1.0 / 87178291200,
                       1.0 / 20922789888000},
                      s);
}

struct SineAndCosine {
    double sine, cosine;
};
HOST_DEVICE SineAndCosine sine_and_cosine(double r) {
    const double s = r * r;
    return {sine_series(s) * (s * r) + r, cosine_series(s) * s + 1.0};
}

// x = n pi / 2 + r + lost, for a double of at most a thousand in magnitude: beyond, 2 ULP need more digits of n pi / 2.
// The integer n stands in the last bits of `turns`.
const double LARGEST_WIDE_ANGLE = 1e3;
struct ReducedAngle {
    double r, lost;
    uint64_t turns;
};
HOST_DEVICE ReducedAngle reduced_angle(double x) {
    const double first = 1.57079632673412561417, second = 6.07710050630396597660e-11,
                 third = 2.02226624879595063154e-21;
    const double shifted = x * 0.636619772367581343076 + ROUNDING_DOUBLE, n = shifted - ROUNDING_DOUBLE;
    const double high = x - n * first, middle = n * second, r = high - middle;
    return {r, ((high - r) - middle) - n * third, bits_as<uint64_t>(shifted)};
}

// sin(x) is the sine or cosine of r, by the last two bits of n; cos(x) is the one of n + 1.
HOST_DEVICE double sine_of(double x, uint64_t turns) {
    const ReducedAngle angle = reduced_angle(x);
    const SineAndCosine both = sine_and_cosine(angle.r + angle.lost);
    const uint64_t quarter = angle.turns + turns;
    return bits_as<double>(bits_as<uint64_t>(quarter & 1 ? both.cosine : both.sine) ^ (quarter >> 1 << 63));
}
HOST_DEVICE double sin(OrdinaryDouble x) { return x.value == 0.0 ? x.value : sine_of(x.value, 0); }
HOST_DEVICE double cos(OrdinaryDouble x) { return sine_of(x.value, 1); }

// The quotient of sine and cosine, which for an odd n change places, and what the sums of both have lost
HOST_DEVICE double tan(OrdinaryDouble x) {
    const ReducedAngle angle = reduced_angle(x.value);
    const double r = angle.r, s = r * r;
    const double bend = sine_series(s) * (s * r), fall = cosine_series(s) * s;
    const double sine = r + bend, cosine = 1.0 + fall;
    const double sine_lost = (r - sine) + bend + angle.lost * cosine,
                 cosine_lost = (1.0 - cosine) + fall - angle.lost * sine;
    const bool odd = angle.turns & 1;
    const double above = odd ? -cosine : sine, below = odd ? sine : cosine, quotient = above / below;
    const double lost = (odd ? -cosine_lost : sine_lost) - quotient * (odd ? sine_lost : cosine_lost);
    const double inverse = below * (1.0 + quotient * quotient);   // because sine^2 + cosine^2 = 1
    return x.value == 0.0 ? x.value : quotient + lost * inverse;  // -0 too
}
HOST_DEVICE bool is_ordinary_angle(double x) { return ::fabs(x) <= LARGEST_WIDE_ANGLE; }
HOST_DEVICE double sin(double x) { return is_ordinary_angle(x) ? sin(OrdinaryDouble(x)) : ::sin(x); }
HOST_DEVICE double cos(double x) { return is_ordinary_angle(x) ? cos(OrdinaryDouble(x)) : ::cos(x); }
HOST_DEVICE double tan(double x) { return is_ordinary_angle(x) ? tan(OrdinaryDouble(x)) : ::tan(x); }

#ifdef __CUDA_ARCH__
HOST_DEVICE double asin(double x) { return ::asin(x); }
HOST_DEVICE double acos(double x) { return ::acos(x); }
HOST_DEVICE double atan(double x) { return ::atan(x); }
HOST_DEVICE double atan2(double y, double x) { return ::atan2(y, x); }
HOST_DEVICE double hypot(double x, double y) { return ::hypot(x, y); }
#else
// atan(t) - t for t in [0, 1]: t^3 p(t^2), p interpolates
HOST_DEVICE double atan_bend(double t) {
    const double s = t * t;
    return polynomial({-0.33333333333333333,   0.19999999999999553,  -0.14285714285648404,    0.11111111107234799,
                       -0.090909089695574031,  0.076923053546786548, -0.066666364357776927,   0.058820749563712946,
                       -0.052612657357094544,  0.047520867735766561, -0.043081196553304713,   0.038726402140426325,
                       -0.033750132001619734,  0.027567942297344677, -0.020238706986393516,   0.012756172907694297,
                       -0.0065756833441516986, 0.002622977891906089, -0.00075184725269738215, 0.0001368724853148122,
                       -1.1832505417555693e-5},
                      s) *
           (s * t);
}
// The angle of the point (x, y), both at least 0, in [0, pi / 2]; also of infinities
HOST_DEVICE double wide_angle_of(double y, double x) {
    const bool steep = y > x;
    const double shorter = steep ? x : y, longer = steep ? y : x, ratio = shorter / longer;
    const double t = shorter == longer ? (longer == 0.0 ? 0.0 : 1.0) : ratio, bend = atan_bend(t);
    return steep ? HALF_PI - (t + (bend - HALF_PI_LOW)) : t + bend;
}
HOST_DEVICE double atan(double x) { return ::copysign(wide_angle_of(::fabs(x), 1.0), x); }
HOST_DEVICE double atan2(double y, double x) {
    const double angle = wide_angle_of(::fabs(y), ::fabs(x));
    const double turned = ::copysign(1.0, x) < 0.0 ? 2.0 * HALF_PI - (angle - 2.0 * HALF_PI_LOW) : angle;
    return (x != x) | (y != y) ? x + y : ::copysign(turned, y);
}

// Of |x| up to 1/2 asin(|x|), beyond asin(t) of t = sqrt((1 - |x|) / 2), which is (pi / 2 - asin(|x|)) / 2: in two
// parts. asin(t) is t + t^3 p(t^2), p interpolates.
HOST_DEVICE DoubleSum half_arc(double size) {
    const bool far = size > 0.5;
    const double square = far ? 0.5 - 0.5 * size : size * size, t = far ? ::sqrt(square) : size;
    const double high = far ? high_part(t) : t, low = far & (t > 0.0) ? (square - high * high) / (t + high) : 0.0;
    const double bend =
        polynomial(
            {0.16666666666666668, 0.074999999999984329, 0.04464285714635543, 0.030381944138531247, 0.022372172942149888,
             0.017352392720869973, 0.013971212973552933, 0.011479177415184906, 0.010322814350185779,
             0.0054575067186403583, 0.017400879442694022, -0.014851887071247203, 0.028757851367421565},
            square) *
        (square * t);
    return {high, low + bend};
}
HOST_DEVICE double asin(double x) {
    const double size = ::fabs(x);
    const DoubleSum arc = half_arc(size);
    const double far = (0.5 * HALF_PI - 2.0 * arc.high) - (2.0 * arc.low - HALF_PI_LOW) + 0.5 * HALF_PI;
    return ::copysign(size > 0.5 ? far : arc.high + arc.low, x);
}
HOST_DEVICE double acos(double x) {
    const DoubleSum arc = half_arc(::fabs(x));
    const double half = arc.high + arc.low;
    const double y = x > 0.5 ? 2.0 * half : HALF_PI - (::copysign(half, x) - HALF_PI_LOW);
    return x < -0.5 ? 2.0 * (HALF_PI - (half - HALF_PI_LOW)) : y;
}

// Of huge or tiny legs, scaled by a power of 2
HOST_DEVICE double hypot(double x, double y) {
    const double a = ::fabs(x), b = ::fabs(y), longer = a > b ? a : b;
    const double scale = longer > 1e150 ? 0x1p-600 : longer < 1e-140 ? 0x1p+600 : 1.0;
    const double back = longer > 1e150 ? 0x1p+600 : longer < 1e-140 ? 0x1p-600 : 1.0;
    const double p = a * scale, q = b * scale, length = ::sqrt(p * p + q * q) * back;
    return (a == double(INFINITY)) | (b == double(INFINITY)) ? double(INFINITY) : length;
}
#endif

// ---- Remainders --------------------------------------------------------------------------------------------------

// A quotient x / y of up to 2^22 is an ordinary pair's: x = quotient y + rest exactly, quotient being x / y rounded to
// an integer. The products with both parts of y are exact, and so are the differences.
struct WideDivision {
    double quotient, rest;
};
HOST_DEVICE WideDivision divided(OrdinaryDouble x, OrdinaryDouble y) {
    const double q = (x.value / y.value + ROUNDING_DOUBLE) - ROUNDING_DOUBLE;
    const double high = high_part(y.value), rest = (x.value - q * high) - q * (y.value - high);
    return {q, q == 0.0 ? x.value : rest};  // also by infinity
}
HOST_DEVICE double fmod(OrdinaryDouble x, OrdinaryDouble y) {
    const double rest = divided(x, y).rest, divisor = ::copysign(y.value, x.value);
    const bool beyond = (rest != 0.0) & ((rest < 0.0) != (divisor < 0.0));
    return ::copysign(beyond ? rest + divisor : rest, x.value);
}
HOST_DEVICE double remainder(OrdinaryDouble x, OrdinaryDouble y) {
    const double rest = divided(x, y).rest, moved = (rest < 0.0) != (y.value < 0.0) ? rest + y.value : rest;
    return rest == 0.0 ? ::copysign(0.0, x.value) : moved;
}
HOST_DEVICE double floor_divide(OrdinaryDouble x, OrdinaryDouble y) {
    const WideDivision division = divided(x, y);
    const bool above = (division.rest != 0.0) & ((division.rest < 0.0) != (y.value < 0.0));
    const double q = above ? division.quotient - 1.0 : division.quotient;
    return q == 0.0 ? ::copysign(0.0, x.value) * ::copysign(1.0, y.value) : q;
}

}  // namespace formula
}  // namespace NORCH_ISA
