// The scalar functions behind the formulas of operations.h, for each type that a kernel is built for. vector_math.h
// and wide_math.h have those of a float that are worth vectors.

#pragma once
#include <math.h>
#include <stdint.h>

#include "ops/wide_math.h"

inline namespace NORCH_ISA {
namespace formula {

HOST_DEVICE double sigmoid(OrdinaryDouble x) {
    const double e = exp(OrdinaryDouble(x.value < 0.0 ? x.value : -x.value));
    return (x.value < 0.0 ? e : 1.0) / (1.0 + e);
}
HOST_DEVICE double sigmoid(double x) {
    const double e = exp(x < 0.0 ? x : -x);
    return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

HOST_DEVICE float copysign(float x, float y) { return ::copysignf(x, y); }
HOST_DEVICE double copysign(double x, double y) { return ::copysign(x, y); }

#define REAL_FUNCTION(name)                                     \
    HOST_DEVICE float name(float x) { return ::name##f(x); }    \
    HOST_DEVICE double name(double x) { return ::name(x); }

REAL_FUNCTION(sqrt)
REAL_FUNCTION(floor)
REAL_FUNCTION(ceil)
REAL_FUNCTION(trunc)
REAL_FUNCTION(rint)
#undef REAL_FUNCTION

HOST_DEVICE float round(float x) { return rint(x); }  // halves go to the even neighbour, as in PyTorch
HOST_DEVICE double round(double x) { return rint(x); }

template <class T> HOST_DEVICE T floor(T x) { return x; }  // integers are their own floor
template <class T> HOST_DEVICE T ceil(T x) { return x; }
template <class T> HOST_DEVICE T round(T x) { return x; }
template <class T> HOST_DEVICE T trunc(T x) { return x; }

template <class T> HOST_DEVICE T minus(T x, T y) { return T(x - y); }

template <class T> HOST_DEVICE T flip(T x) { return T(~x); }
HOST_DEVICE bool flip(bool x) { return !x; }

template <class T> HOST_DEVICE bool is_negative(T x) { return x < T(0); }
HOST_DEVICE bool is_negative(float x) { return copysign(1.0f, x) < 0.0f; }  // of zeros and NaN too
HOST_DEVICE bool is_negative(double x) { return copysign(1.0, x) < 0.0; }

// x = mantissa 2^exponent with |mantissa| in [0.5, 1)
HOST_DEVICE double frexp_mantissa(double x) {
    int exponent;
    return ::frexp(x, &exponent);
}
HOST_DEVICE double frexp_exponent(double x) {
    int exponent = 0;
    ::frexp(x, &exponent);
    return x - x == 0.0 ? exponent : 0;  // the C library says nothing of infinity and NaN
}

// The common divisors of integers, by Euclid; of the smallest integer as the wrapped value that it has.
template <class T> HOST_DEVICE T gcd(T x, T y) {
    while (y != T(0)) {
        const T rest = (T(-1) < T(0)) & (y == T(-1)) ? T(0) : T(x % y);
        x = y;
        y = rest;
    }
    return x < T(0) ? T(-x) : x;
}
template <class T> HOST_DEVICE T lcm(T x, T y) {
    const T divisor = gcd(x, y);
    const T multiple = divisor == T(0) ? T(0) : T(x / divisor * y);
    return multiple < T(0) ? T(-multiple) : multiple;
}
HOST_DEVICE bool gcd(bool x, bool y) { return x | y; }
HOST_DEVICE bool lcm(bool x, bool y) { return x & y; }

// C says nothing of shifts by a negative number or by all bits: nothing remains but the sign. Processors have no vectors
// of shifts of 8 and 16 bits, each by another number: these take a bit of the number after the other.
template <class T> HOST_DEVICE bool beyond(T y) { return (y < T(0)) | (y >= T(8 * sizeof(T))); }
template <bool LEFT, int BIT = 1, class T> HOST_DEVICE T shifted(T x, T y) {
    if constexpr (sizeof(T) > 2) {
        return LEFT ? T(uint64_t(x) << y) : T(x >> y);
    } else if constexpr (BIT < 8 * sizeof(T)) {
        const T once = LEFT ? T(x * (1 << BIT)) : T(x >> BIT);
        return shifted<LEFT, 2 * BIT>(y & BIT ? once : x, y);
    } else {
        return x;
    }
}
template <class T> HOST_DEVICE T left_shift(T x, T y) { return beyond(y) ? T(0) : shifted<true>(x, y); }
template <class T> HOST_DEVICE T right_shift(T x, T y) {
    const T sign = T(-1) < T(0) ? T(x >> (8 * sizeof(T) - 1)) : T(0);
    return beyond(y) ? sign : shifted<false>(x, y);
}
HOST_DEVICE bool left_shift(bool x, bool y) { return x & !y; }
HOST_DEVICE bool right_shift(bool x, bool y) { return x & !y; }

// Integer powers by squaring; overflow wraps. A negative exponent leaves 1, -1 or 0, as 1 / x ** -y truncates.
template <class T> HOST_DEVICE T pow(T x, T y) {
    if (y < T(0)) {
        if (x == T(1)) return T(1);
        if (x == T(-1)) return (y & T(1)) ? x : T(1);
        return T(0);
    }
    T result = T(1);
    for (; y > T(0); y = T(y >> 1)) {
        if (y & T(1)) result = T(result * x);
        x = T(x * x);
    }
    return result;
}

// x / y of integers without its fraction. There are vectors of quotients of floats alone; of up to 16 bits they are exact
// in float, of 32 in double.
template <class T> HOST_DEVICE T quotient(T x, T y) {
#ifndef __CUDA_ARCH__
    if constexpr (sizeof(T) <= 2) return T(int32_t(float(x) / float(y)));
    if constexpr (sizeof(T) == 4) return T(int32_t(double(x) / double(y)));
#endif
    return T(x / y);
}
// A processor traps on the smallest integer by -1 and on zero: both have a value here. (Zero is refused elsewhere.)
template <class T> HOST_DEVICE bool traps(T y) { return (y == T(0)) | ((T(-1) < T(0)) & (y == T(-1))); }
template <class T> HOST_DEVICE T div_trunc(T x, T y) {
    const T whole = quotient(x, traps(y) ? T(1) : y);
    return traps(y) ? T(T(0) - x) : whole;
}
template <class T> HOST_DEVICE T fmod(T x, T y) {
    const T divisor = traps(y) ? T(1) : y;
    return T(x - quotient(x, divisor) * divisor);
}
// Division and remainder round towards minus infinity, as Python's // and % do: the remainder has y's sign.
template <class T> HOST_DEVICE bool rounds_up(T rest, T y) { return (rest != T(0)) & ((rest < T(0)) != (y < T(0))); }
template <class T> HOST_DEVICE T remainder(T x, T y) {
    const T rest = fmod(x, y);
    return T(rest + (y & T(-T(rounds_up(rest, y)))));
}
template <class T> HOST_DEVICE T floor_divide(T x, T y) {
    const T divisor = traps(y) ? T(1) : y, whole = quotient(x, divisor), rest = T(x - whole * divisor);
    return traps(y) ? T(T(0) - x) : T(whole - T(rounds_up(rest, divisor)));
}
HOST_DEVICE float div_trunc(float x, float y) { return trunc(x / y); }
HOST_DEVICE double div_trunc(double x, double y) { return trunc(x / y); }

// Of floating numbers: floor(x / y) itself would be one too large if x / y rounds up to an integer.
template <class T> HOST_DEVICE T real_remainder(T y, T r) {
    return (r != T(0)) & ((r < T(0)) != (y < T(0))) ? r + y : r;
}
template <class T> HOST_DEVICE T real_floor_divide(T x, T y, T r) {
    if (y == T(0)) return x / y;
    T q = (x - r) / y;
    if ((r != T(0)) & ((r < T(0)) != (y < T(0)))) q -= T(1);
    if (q == T(0)) return T(copysign(T(0), x / y));
    T whole = floor(q);
    return q - whole > T(0.5) ? whole + T(1) : whole;
}
HOST_DEVICE bool have_small_quotient(float x, float y) { return is_within(x / y, LARGEST_QUOTIENT); }
HOST_DEVICE bool have_small_quotient(double x, double y) { return ::fabs(x / y) <= LARGEST_QUOTIENT; }
HOST_DEVICE double fmod(double x, double y) {
    return have_small_quotient(x, y) ? fmod(OrdinaryDouble(x), OrdinaryDouble(y)) : ::fmod(x, y);
}
HOST_DEVICE double remainder(double x, double y) {
    return have_small_quotient(x, y) ? remainder(OrdinaryDouble(x), OrdinaryDouble(y))
                                     : real_remainder(y, ::fmod(x, y));
}
HOST_DEVICE double floor_divide(double x, double y) {
    return have_small_quotient(x, y) ? floor_divide(OrdinaryDouble(x), OrdinaryDouble(y))
                                     : real_floor_divide(x, y, ::fmod(x, y));
}
HOST_DEVICE float fmod(float x, float y) {
    return have_small_quotient(x, y) ? fmod(Ordinary(x), Ordinary(y)) : ::fmodf(x, y);
}
HOST_DEVICE float remainder(float x, float y) {
    return have_small_quotient(x, y) ? remainder(Ordinary(x), Ordinary(y)) : real_remainder(y, ::fmodf(x, y));
}
HOST_DEVICE float floor_divide(float x, float y) {
    return have_small_quotient(x, y) ? floor_divide(Ordinary(x), Ordinary(y)) : real_floor_divide(x, y, ::fmodf(x, y));
}
// A NaN of any operand remains.
template <class T> HOST_DEVICE T clamp(T x, T low, T high) {
    const bool is_nan = (low != low) | (high != high);
    const T raised = x < low ? low : x, bounded = raised > high ? high : raised;
    return is_nan ? T(low + high) : bounded;
}

// One choice after the other: in vectors those inside of others take twice as long.
template <class T> HOST_DEVICE T nan_to_num(T x, T nan, T above, T below) {
    const T lowered = x == T(INFINITY) ? above : x, finite = x == T(-INFINITY) ? below : lowered;
    return x != x ? nan : finite;
}

// From the nearer end, so that a weight of 1 gives `end` exactly.
template <class T> HOST_DEVICE T lerp(T start, T end, T weight) {
    return (weight > T(-0.5)) & (weight < T(0.5)) ? start + (end - start) * weight
                                                  : end + (end - start) * (weight - T(1));
}

// A float that is known to be neither NaN nor extreme takes the shorter way of formulas.h.
HOST_DEVICE Ordinary ordinary(float x) { return Ordinary(x); }
HOST_DEVICE OrdinaryDouble ordinary(double x) { return OrdinaryDouble(x); }

// log(1 + e^-|x|), in which no exponential overflows; undefined for NaN
template <class T> HOST_DEVICE T log_1_plus_exp(T x) { return log1p(ordinary(exp(x < T(0) ? x : -x))); }

// log(e^x + e^y), and the same to base 2; of equal infinities that infinity
template <class T> HOST_DEVICE T logaddexp(T x, T y) {
    const T difference = x - y, larger = difference > T(0) ? x : y;
    const T sum = larger + log1p(ordinary(exp(difference > T(0) ? -difference : difference)));
    const T any = difference == difference ? sum : difference;
    return x == y ? x + (difference == T(0) ? T(0.69314718055994530942) : T(0)) : any;
}
template <class T> HOST_DEVICE T logaddexp2(T x, T y) {
    const T difference = x - y, larger = difference > T(0) ? x : y;
    const T power = exp2(difference > T(0) ? -difference : difference);
    const T sum = larger + log1p(ordinary(power)) * T(1.4426950408889634074);
    const T any = difference == difference ? sum : difference;
    return x == y ? x + (difference == T(0) ? T(1) : T(0)) : any;
}

// ---- Activations

template <class T> HOST_DEVICE T silu_slope(T x) {
    const T s = sigmoid(x);
    return s * (T(1) + x * (T(1) - s));
}

template <class T> HOST_DEVICE T gelu_slope(T x) {
    const Normal<T> at = normal(x);
    return at.below + x * at.density;
}

// x sigmoid(2 u) with u = sqrt(2 / pi) (x + 0.044715 x^3)
template <class T> HOST_DEVICE T gelu_tanh(T x) {
    return x * sigmoid(x * (T(1.59576912160573071176) + T(0.07135481627260025) * x * x));
}
template <class T> HOST_DEVICE T gelu_tanh_slope(T x) {
    const T square = x * x, s = sigmoid(x * (T(1.59576912160573071176) + T(0.07135481627260025) * square));
    const T slope = s * (T(1) - s);  // 0 if the square is infinite
    const T bend = x * slope * (T(1.59576912160573071176) + T(3 * 0.07135481627260025) * square);
    return slope == T(0) ? s : s + bend;
}

// x tanh(log(1 + e^x)) = x n / (n + 2) with n = e^x (e^x + 2); from 20 on it is x
template <class T> HOST_DEVICE T mish(T x) {
    const T e = exp(x > T(20) ? T(20) : x), n = e * (e + T(2));
    return x > T(20) ? x : x * (n / (n + T(2)));
}
template <class T> HOST_DEVICE T mish_slope(T x) {
    const T e = exp(x > T(20) ? T(20) : x), n = e * (e + T(2)), rest = T(2) / (n + T(2));  // 1 - tanh
    const T t = n / (n + T(2)), slope = t + x * (e / (T(1) + e)) * (rest * (T(1) + t));
    return x > T(20) ? T(1) : slope;
}

// scale * x, or scale * alpha * (e^x - 1) below 0 (Klambauer et al., "Self-Normalizing Neural Networks", 2017)
template <class T> HOST_DEVICE T selu(T x) {
    return x > T(0) ? T(1.0507009873554805) * x : T(1.0507009873554805 * 1.6732632423543772) * expm1(x);
}
template <class T> HOST_DEVICE T selu_slope(T x) {
    return x > T(0) ? T(1.0507009873554805) : T(1.0507009873554805 * 1.6732632423543772) * exp(x);
}

// log(1 + e^x)
template <class T> HOST_DEVICE T softplus(T x) { return (x < T(0) ? T(0) : x) + log_1_plus_exp(x); }

// ---- Losses

template <class T> HOST_DEVICE T huber(T x, T delta) {
    const T size = x < T(0) ? -x : x;
    return size <= delta ? T(0.5) * x * x : delta * (size - T(0.5) * delta);
}

template <class T> HOST_DEVICE T huber_slope(T x, T delta) { return x < -delta ? -delta : x > delta ? delta : x; }
template <class T> HOST_DEVICE T distance(T x, T y) { return x < y ? y - x : x - y; }

// What is missing to a margin: nothing below 0.
template <class T> HOST_DEVICE T missing(T x) { return x < T(0) ? T(0) : x; }
// A distance x where y is 1, what it misses to the margin where y is -1, both elsewhere
template <class T> HOST_DEVICE T hinge(T x, T y, T margin) {
    return (y != T(1) ? missing(margin - x) : T(0)) + (y != T(-1) ? x : T(0));
}
template <class T> HOST_DEVICE T hinge_slope(T x, T y, T margin) {
    return ((y != T(1)) & (margin - x >= T(0)) ? T(-1) : T(0)) + (y != T(-1) ? T(1) : T(0));
}

// y (log(y) - x) for a logarithm x; a probability y of 0 costs nothing.
template <class T> HOST_DEVICE T divergence(T x, T y) { return (y == T(0)) & (x == x) ? T(0) : y * (log(y) - x); }

// No logarithm is below -100, so that a certain prediction that is wrong costs 100, not infinity.
template <class T> HOST_DEVICE T bce(T x, T y) {
    const T yes = log(x), no = log1p(-x);
    return -(y * (yes < T(-100) ? T(-100) : yes) + (T(1) - y) * (no < T(-100) ? T(-100) : no));
}
template <class T> HOST_DEVICE T bce_slope(T x, T y) {
    const T spread = x * (T(1) - x);
    return (x - y) / (spread < T(1e-12) ? T(1e-12) : spread);
}

// (1 - y) log(1 + e^x) + y log(1 + e^-x)
template <class T> HOST_DEVICE T bce_with_logits(T x, T y) {
    const T rest = log_1_plus_exp(x);
    return (T(1) - y) * ((x < T(0) ? T(0) : x) + rest) + y * ((x < T(0) ? -x : T(0)) + rest);
}
// sigmoid(x) - y, written (1 - y) sigmoid(x) - y sigmoid(-x), which loses no digits if the prediction is right
template <class T> HOST_DEVICE T bce_with_logits_slope(T x, T y) {
    const T e = exp(x < T(0) ? x : -x), large = T(1) / (T(1) + e), small = e * large;
    return (T(1) - y) * (x < T(0) ? small : large) - y * (x < T(0) ? large : small);
}

}  // namespace formula

}  // namespace NORCH_ISA
