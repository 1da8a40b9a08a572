// Every elementwise operation once: its name, its rule for dtypes and its formula, for CPU and CUDA alike.
//
// A row such as  OP(add, SAME, T(x + y))  becomes, by the macros in tensor.cpp, cpu.cpp and cuda.cu,
//
//     Tensor* add_tensor(Tensor* tensor1, Tensor* tensor2)          // the C API: checks, shapes, device
//     void add_tensor_cpu(const Tensor& x, const Tensor& y, Tensor& out) {
//         for (int64_t i = 0; i < out.size; i++) out.data[i] = x.data[i] + y.data[i];
//     }
//     void add_tensor_cuda(const Tensor& x, const Tensor& y, Tensor& out)
//
// In a formula T is the dtype of the computation; x, y (and c) are the elements.

#pragma once
#include <math.h>
#include <stdint.h>

#include "ops/vector_math.h"

// How a row treats dtypes, after its operands were promoted to a common one:
enum Rule {
    SAME,      // computed in and returned as that dtype
    NUMERIC,   // the same, and bool is refused
    DIVISION,  // the same as NUMERIC, and an integer divisor of 0 is refused
    REAL,      // integers and bool become float32 first
    TEST,      // computed in that dtype, returns bool
    WHOLE,     // integers and bool only
    CHOICE     // the first operand is a bool condition; SAME for the others
};

#define UNARY_OPS(OP)                                     \
    OP(neg, NUMERIC, T(-x))                               \
    OP(abs, NUMERIC, x < T(0) ? T(-x) : T(x + T(0)))      \
    OP(sign, SAME, T((x > T(0)) - (x < T(0))))            \
    OP(relu, NUMERIC, x < T(0) ? T(0) : x)                \
    OP(floor, NUMERIC, formula::floor(x))                 \
    OP(ceil, NUMERIC, formula::ceil(x))                   \
    OP(round, NUMERIC, formula::round(x))                 \
    OP(trunc, NUMERIC, formula::trunc(x))                 \
    OP(exp, REAL, formula::exp(x))                        \
    OP(log, REAL, formula::log(x))                        \
    OP(sqrt, REAL, formula::sqrt(x))                      \
    OP(sin, REAL, formula::sin(x))                        \
    OP(cos, REAL, formula::cos(x))                        \
    OP(tanh, REAL, formula::tanh(x))                      \
    OP(tan, REAL, formula::tan(x))                        \
    OP(asin, REAL, formula::asin(x))                      \
    OP(acos, REAL, formula::acos(x))                      \
    OP(atan, REAL, formula::atan(x))                      \
    OP(sinh, REAL, formula::sinh(x))                      \
    OP(cosh, REAL, formula::cosh(x))                      \
    OP(exp2, REAL, formula::exp2(x))                      \
    OP(expm1, REAL, formula::expm1(x))                    \
    OP(log1p, REAL, formula::log1p(x))                    \
    OP(log2, REAL, formula::log2(x))                      \
    OP(log10, REAL, formula::log10(x))                    \
    OP(rsqrt, REAL, T(1) / formula::sqrt(x))              \
    OP(reciprocal, REAL, T(1) / x)                        \
    OP(erf, REAL, formula::erf(x))                        \
    OP(erfc, REAL, formula::erfc(x))                      \
    OP(sigmoid, REAL, formula::sigmoid(x))                \
    OP(isnan, TEST, x != x)                               \
    OP(isinf, TEST, (x == x) & (formula::minus(x, x) != T(0))) \
    OP(isfinite, TEST, formula::minus(x, x) == T(0))      \
    OP(logical_not, TEST, x == T(0))                      \
    OP(bitwise_not, WHOLE, formula::flip(x))

#define BINARY_OPS(OP)                                    \
    OP(add, SAME, T(x + y))                               \
    OP(sub, NUMERIC, T(x - y))                            \
    OP(elementwise_mul, SAME, T(x * y))                   \
    OP(div, REAL, x / y)                                  \
    OP(pow, NUMERIC, formula::pow(x, y))                  \
    OP(floor_divide, DIVISION, formula::floor_divide(x, y)) \
    OP(remainder, DIVISION, formula::remainder(x, y))      \
    OP(fmod, DIVISION, formula::fmod(x, y))                \
    OP(atan2, REAL, formula::atan2(x, y))                 \
    OP(hypot, REAL, formula::hypot(x, y))                 \
    OP(minimum, SAME, (x < y) | (x != x) ? x : y)         \
    OP(maximum, SAME, (x > y) | (x != x) ? x : y)         \
    OP(eq, TEST, x == y)                                  \
    OP(ne, TEST, x != y)                                  \
    OP(lt, TEST, x < y)                                   \
    OP(le, TEST, x <= y)                                  \
    OP(gt, TEST, x > y)                                   \
    OP(ge, TEST, x >= y)                                  \
    OP(logical_and, TEST, (x != T(0)) & (y != T(0)))      \
    OP(logical_or, TEST, (x != T(0)) | (y != T(0)))       \
    OP(logical_xor, TEST, (x != T(0)) != (y != T(0)))     \
    OP(bitwise_and, WHOLE, T(x & y))                      \
    OP(bitwise_or, WHOLE, T(x | y))                       \
    OP(bitwise_xor, WHOLE, T(x ^ y))

// Activation functions of norch.nn that are no methods of Tensor: norch/autograd/derivatives/activations.py calls them.
#define ACTIVATION_OPS(OP)                                \
    OP(gelu, REAL, x * formula::normal(x).below)          \
    OP(gelu_tanh, REAL, formula::gelu_tanh(x))            \
    OP(silu, REAL, x * formula::sigmoid(x))

// Those that have a parameter, y: the function of x, and its slope.
#define SHAPED_OPS(OP)                                                        \
    OP(leaky_relu, REAL, x > T(0) ? x : y * x)                                \
    OP(leaky_relu_slope, REAL, x > T(0) ? T(1) : y)                           \
    OP(elu, REAL, x > T(0) ? x : y * formula::expm1(x))                       \
    OP(elu_slope, REAL, x > T(0) ? T(1) : y * formula::exp(x))                \
    OP(softplus, REAL, x > y ? x : formula::softplus(x))                      \
    OP(softplus_slope, REAL, x > y ? T(1) : formula::sigmoid(x))

// The chain rule through a unary operation in one pass: x is the gradient, y the result of the forward, or of an activation
// its operand. They are called by the Backward classes only; what they compute in tensor operations stands there too, for
// second derivatives.
#define DERIVATIVE_OPS(OP)                                \
    OP(relu_backward, REAL, y <= T(0) ? T(0) : x)         \
    OP(sigmoid_backward, REAL, x * (y * (T(1) - y)))      \
    OP(tanh_backward, REAL, x * (T(1) - y * y))           \
    OP(gelu_backward, REAL, x * formula::gelu_slope(y))   \
    OP(gelu_tanh_backward, REAL, x * formula::gelu_tanh_slope(y)) \
    OP(silu_backward, REAL, x * formula::silu_slope(y))

// What an element adds to a loss, and the slope of that along x: norch/autograd/derivatives/losses.py calls them. Of huber, x is the
// difference of prediction and target and y the delta; of bce, x is the prediction and y the target; of share, x is a
// probability or weight and y a logarithm: a share of 0 is 0 even of infinity.
#define LOSS_OPS(OP)                                                    \
    OP(share, REAL, (x == T(0)) & (y == y) ? T(0) : x * y)              \
    OP(huber, REAL, formula::huber(x, y))                               \
    OP(bce, REAL, formula::bce(x, y))                                   \
    OP(bce_slope, REAL, formula::bce_slope(x, y))                       \
    OP(bce_with_logits, REAL, formula::bce_with_logits(x, y))           \
    OP(bce_with_logits_slope, REAL, formula::bce_with_logits_slope(x, y))

#define TERNARY_OPS(OP)                                   \
    OP(where, CHOICE, c ? x : y)                          \
    OP(clamp, SAME, formula::clamp(c, x, y))

// The scalar functions behind the formulas, for each type that a kernel is built for.
inline namespace NORCH_ISA {
namespace formula {

// Those of a float are in formulas.h.
HOST_DEVICE double exp(double x) { return ::exp(x); }
HOST_DEVICE double log(double x) { return ::log(x); }
HOST_DEVICE double sin(double x) { return ::sin(x); }
HOST_DEVICE double cos(double x) { return ::cos(x); }
HOST_DEVICE double tanh(double x) { return ::tanh(x); }
HOST_DEVICE double expm1(double x) { return ::expm1(x); }
HOST_DEVICE double log1p(double x) { return ::log1p(x); }
HOST_DEVICE double erf(double x) { return ::erf(x); }
HOST_DEVICE double erfc(double x) { return ::erfc(x); }
HOST_DEVICE double pow(double x, double y) { return ::pow(x, y); }
HOST_DEVICE double sigmoid(double x) {
    const double e = ::exp(x < 0.0 ? x : -x);
    return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

#define REAL_FUNCTION(name)                                     \
    HOST_DEVICE float name(float x) { return ::name##f(x); }    \
    HOST_DEVICE double name(double x) { return ::name(x); }

REAL_FUNCTION(sqrt)
REAL_FUNCTION(tan)
REAL_FUNCTION(asin)
REAL_FUNCTION(acos)
REAL_FUNCTION(atan)
REAL_FUNCTION(sinh)
REAL_FUNCTION(cosh)
REAL_FUNCTION(exp2)
REAL_FUNCTION(log2)
REAL_FUNCTION(log10)
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

HOST_DEVICE float atan2(float x, float y) { return ::atan2f(x, y); }
HOST_DEVICE double atan2(double x, double y) { return ::atan2(x, y); }
HOST_DEVICE float hypot(float x, float y) { return ::hypotf(x, y); }
HOST_DEVICE double hypot(double x, double y) { return ::hypot(x, y); }

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

// Division and remainder round towards minus infinity, as Python's // and % do: the remainder has y's sign. What traps
// has a value here: the smallest integer by -1, and zero, which is refused, on a GPU after the fact.
template <class T> HOST_DEVICE bool traps(T y) { return (y == T(0)) | ((T(-1) < T(0)) & (y == T(-1))); }
template <class T> HOST_DEVICE T remainder(T x, T y) {
    if (traps(y)) return T(0);
    T r = T(x % y);
    return (r != T(0)) & ((r < T(0)) != (y < T(0))) ? T(r + y) : r;
}
template <class T> HOST_DEVICE T floor_divide(T x, T y) {
    if (traps(y)) return T(T(0) - x);
    T q = T(x / y);
    return (T(q * y) != x) & ((x < T(0)) != (y < T(0))) ? T(q - T(1)) : q;
}

template <class T> HOST_DEVICE T real_remainder(T x, T y) {
    T r = T(fmod(x, y));
    return (r != T(0)) & ((r < T(0)) != (y < T(0))) ? r + y : r;
}
// floor(x / y) itself would be one too large where x / y rounds up to an integer.
template <class T> HOST_DEVICE T real_floor_divide(T x, T y) {
    if (y == T(0)) return x / y;
    T r = T(fmod(x, y));
    T q = (x - r) / y;
    if ((r != T(0)) & ((r < T(0)) != (y < T(0)))) q -= T(1);
    if (q == T(0)) return T(copysign(T(0), x / y));
    T whole = floor(q);
    return q - whole > T(0.5) ? whole + T(1) : whole;
}
HOST_DEVICE float remainder(float x, float y) { return real_remainder(x, y); }
HOST_DEVICE double remainder(double x, double y) { return real_remainder(x, y); }
HOST_DEVICE float floor_divide(float x, float y) { return real_floor_divide(x, y); }
HOST_DEVICE double floor_divide(double x, double y) { return real_floor_divide(x, y); }

// The remainder of division rounded towards zero: it has x's sign.
HOST_DEVICE float fmod(float x, float y) { return ::fmodf(x, y); }
HOST_DEVICE double fmod(double x, double y) { return ::fmod(x, y); }
template <class T> HOST_DEVICE T fmod(T x, T y) {
    if (traps(y)) return T(0);
    return T(x % y);
}

template <class T> HOST_DEVICE T clamp(T x, T low, T high) {
    T raised = (x < low) | (low != low) ? low : x;
    return (raised > high) | (high != high) ? high : raised;
}

// A float that is known to be neither NaN nor extreme takes the shorter way of formulas.h.
HOST_DEVICE Ordinary ordinary(float x) { return Ordinary(x); }
HOST_DEVICE double ordinary(double x) { return x; }

// log(1 + e^-|x|), where no exponential can overflow; any number for a NaN
template <class T> HOST_DEVICE T log_1_plus_exp(T x) { return log1p(ordinary(exp(x < T(0) ? x : -x))); }

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
    const T slope = s * (T(1) - s);  // 0 at the far ends, where the square may be infinite
    const T bend = x * slope * (T(1.59576912160573071176) + T(3 * 0.07135481627260025) * square);
    return slope == T(0) ? s : s + bend;
}

// log(1 + e^x)
template <class T> HOST_DEVICE T softplus(T x) { return (x < T(0) ? T(0) : x) + log_1_plus_exp(x); }

// ---- Losses

template <class T> HOST_DEVICE T huber(T x, T delta) {
    const T size = x < T(0) ? -x : x;
    return size <= delta ? T(0.5) * x * x : delta * (size - T(0.5) * delta);
}

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
// sigmoid(x) - y, written (1 - y) sigmoid(x) - y sigmoid(-x), which loses no digits where the prediction is right
template <class T> HOST_DEVICE T bce_with_logits_slope(T x, T y) {
    const T e = exp(x < T(0) ? x : -x), large = T(1) / (T(1) + e), small = e * large;
    return (T(1) - y) * (x < T(0) ? small : large) - y * (x < T(0) ? large : small);
}

}  // namespace formula

// ---- From one dtype to another ----------------------------------------------------------------------------------

// x as a T. What a C++ cast leaves undefined is what x86 makes of it, as in PyTorch: NaN and numbers out of range become
// the lowest int32 or int64; uint8 is the last byte of the int64.
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

// a * x + b with both results rounded: never fused, where every device must give the same number.
HOST_DEVICE double rounded_sum(double a, double x, double b) {
#ifdef __CUDA_ARCH__
    return __dadd_rn(__dmul_rn(a, x), b);
#else
    return a * x + b;
#endif
}
}  // namespace NORCH_ISA
