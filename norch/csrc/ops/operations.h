// Every elementwise operation once, for all devices: its name, its rule for dtypes and its formula.
//
// A row such as  OP(add, SAME, T(x + y))  becomes, by the macros in api/elementwise.cpp, cpu.cpp and cuda.cu,
//
//     Tensor* add_tensor(Tensor* tensor1, Tensor* tensor2)          // the C API: checks, shapes, device
//     void add_tensor_cpu(const Tensor& x, const Tensor& y, Tensor& out) {
//         for (int64_t i = 0; i < out.size; i++) out.data[i] = x.data[i] + y.data[i];
//     }
//     void add_tensor_cuda(const Tensor& x, const Tensor& y, Tensor& out)
//
// In a formula T is the dtype of the computation; x, y (and c) are the elements.

#pragma once
#include "ops/conversion.h"
#include "ops/formulas.h"
#include "ops/special.h"

// How a row treats dtypes, after its operands were promoted to a common one:
enum Rule {
    SAME,       // computed in and returned as that dtype
    BOUND,      // the same, and a number that float32 cannot hold is refused beside it
    NUMERIC,    // the same as SAME, and bool is refused
    DIVISION,   // the same as NUMERIC, and an integer divisor of 0 is refused
    REMAINDER,  // the same as DIVISION, and a number is rounded to that dtype: 0.1 % 0.1 is 0
    REAL,       // integers and bool become float32 first
    CLAMPED,    // the same as REAL, and a number is rounded to that dtype, as it is compared
    TEST,       // computed in that dtype, returns bool
    WHOLE,      // integers and bool only
    CHOICE      // the first operand is a bool condition; SAME for the others
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
    OP(frac, NUMERIC, T(x - formula::trunc(x)))           \
    OP(exp, REAL, formula::exp(x))                        \
    OP(log, REAL, formula::log(x))                        \
    OP(sqrt, REAL, formula::sqrt(x))                      \
    OP(sin, REAL, formula::sin(x))                        \
    OP(cos, REAL, formula::cos(x))                        \
    OP(tanh, REAL, formula::tanh(x))                      \
    OP(tan, REAL, formula::tan(x))                        \
    OP(asinh, REAL, formula::asinh(x))                    \
    OP(acosh, REAL, formula::acosh(x))                    \
    OP(atanh, REAL, formula::atanh(x))                    \
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
    OP(erfinv, REAL, formula::erfinv(x))                  \
    OP(lgamma, REAL, formula::lgamma(x))                  \
    OP(digamma, REAL, formula::digamma(x))                \
    OP(i0, REAL, formula::i0(x))                          \
    OP(sigmoid, REAL, formula::sigmoid(x))                \
    OP(isnan, TEST, x != x)                               \
    OP(isinf, TEST, (x == x) & (formula::minus(x, x) != T(0))) \
    OP(isfinite, TEST, formula::minus(x, x) == T(0))      \
    OP(signbit, TEST, formula::is_negative(x))            \
    OP(logical_not, TEST, x == T(0))                      \
    OP(bitwise_not, WHOLE, formula::flip(x))

#define BINARY_OPS(OP)                                    \
    OP(add, SAME, T(x + y))                               \
    OP(sub, NUMERIC, T(x - y))                            \
    OP(elementwise_mul, SAME, T(x * y))                   \
    OP(div, REAL, x / y)                                  \
    OP(pow, NUMERIC, formula::pow(x, y))                  \
    OP(floor_divide, DIVISION, formula::floor_divide(x, y)) \
    OP(remainder, REMAINDER, formula::remainder(x, y))    \
    OP(fmod, REMAINDER, formula::fmod(x, y))              \
    OP(atan2, REAL, formula::atan2(x, y))                 \
    OP(hypot, REAL, formula::hypot(x, y))                 \
    OP(minimum, BOUND, (x < y) | (x != x) ? x : y)        \
    OP(maximum, BOUND, (x > y) | (x != x) ? x : y)        \
    OP(fmin, SAME, (x < y) | (y != y) ? x : y)            \
    OP(fmax, SAME, (x > y) | (y != y) ? x : y)            \
    OP(copysign, REAL, formula::copysign(x, y))           \
    OP(nextafter, REAL, formula::nextafter(x, y))         \
    OP(heaviside, SAME, x == T(0) ? y : T(x > T(0)))      \
    OP(logaddexp, REAL, formula::logaddexp(x, y))         \
    OP(logaddexp2, REAL, formula::logaddexp2(x, y))       \
    OP(xlogy, REAL, (x == T(0)) & (y == y) ? T(0) : x * formula::log(y)) \
    OP(igamma, REAL, formula::igamma(x, y))               \
    OP(igammac, REAL, formula::igammac(x, y))             \
    OP(gcd, WHOLE, formula::gcd(x, y))                    \
    OP(lcm, WHOLE, formula::lcm(x, y))                    \
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
    OP(bitwise_xor, WHOLE, T(x ^ y))                      \
    OP(bitwise_left_shift, WHOLE, formula::left_shift(x, y)) \
    OP(bitwise_right_shift, WHOLE, formula::right_shift(x, y))

// Functions of norch.special and others with options. frexp's parts belong to norch.frexp, trigamma to polygamma, cube
// and inverse_square to pow.
#define SPECIAL_OPS(OP)                                                              \
    OP(cube, REAL, x * x * x)                                                        \
    OP(inverse_square, REAL, T(1) / (x * x))                                         \
    OP(sinc, REAL, formula::sinc(x))                                                 \
    OP(logit, REAL, formula::log(x) - formula::log1p(-x))                            \
    OP(angle, REAL, x != x ? x : x < T(0) ? T(formula::PI) : T(0))                          \
    OP(entr, REAL, x < T(0) ? T(-INFINITY) : x == T(0) ? T(0) : T(0) - x * formula::log(x)) \
    OP(erfcx, REAL, formula::erfcx(x))                                               \
    OP(trigamma, REAL, formula::trigamma(x))                                         \
    OP(ndtr, REAL, formula::ndtr(x))                                                 \
    OP(log_ndtr, REAL, formula::log_ndtr(x))                                         \
    OP(ndtri, REAL, formula::ndtri(x))                                               \
    OP(i0e, REAL, formula::i0e(x))                                                   \
    OP(i1, REAL, formula::i1(x))                                                     \
    OP(i1e, REAL, formula::i1e(x))                                                   \
    OP(bessel_j0, REAL, formula::bessel_j0(x))                                       \
    OP(bessel_j1, REAL, formula::bessel_j1(x))                                       \
    OP(bessel_y0, REAL, formula::bessel_y0(x))                                       \
    OP(bessel_y1, REAL, formula::bessel_y1(x))                                       \
    OP(modified_bessel_k0, REAL, formula::modified_bessel_k0(x))                     \
    OP(modified_bessel_k1, REAL, formula::modified_bessel_k1(x))                     \
    OP(scaled_modified_bessel_k0, REAL, formula::scaled_modified_bessel_k0(x))       \
    OP(scaled_modified_bessel_k1, REAL, formula::scaled_modified_bessel_k1(x))       \
    OP(spherical_bessel_j0, REAL, formula::spherical_bessel_j0(x))                   \
    OP(airy_ai, REAL, formula::airy_ai(x))                                           \
    OP(frexp_mantissa, REAL, formula::frexp_mantissa(x))                             \
    OP(frexp_exponent, REAL, formula::frexp_exponent(x))

#define POLYNOMIAL_OPS(OP)                                                           \
    OP(chebyshev_polynomial_t, REAL, formula::chebyshev_polynomial_t(x, y))          \
    OP(chebyshev_polynomial_u, REAL, formula::chebyshev_polynomial_u(x, y))          \
    OP(chebyshev_polynomial_v, REAL, formula::chebyshev_polynomial_v(x, y))          \
    OP(chebyshev_polynomial_w, REAL, formula::chebyshev_polynomial_w(x, y))          \
    OP(hermite_polynomial_h, REAL, formula::hermite_polynomial_h(x, y))              \
    OP(hermite_polynomial_he, REAL, formula::hermite_polynomial_he(x, y))            \
    OP(laguerre_polynomial_l, REAL, formula::laguerre_polynomial_l(x, y))            \
    OP(legendre_polynomial_p, REAL, formula::legendre_polynomial_p(x, y))

#define SPECIAL_PAIR_OPS(OP)                                                         \
    OP(zeta, REAL, formula::zeta(x, y))                                              \
    OP(div_trunc, DIVISION, formula::div_trunc(x, y))                                \
    OP(round_scaled, REAL, formula::round(x * y) / y)                                \
    OP(xlog1py, REAL, (x == T(0)) & (y == y) ? T(0) : x * formula::log1p(y))         \
    POLYNOMIAL_OPS(OP)

// Activation functions of norch.nn that are not methods of Tensor: norch/autograd/derivatives/activations.py calls
// them.
#define ACTIVATION_OPS(OP)                                \
    OP(gelu, REAL, x * formula::normal(x).below)          \
    OP(gelu_tanh, REAL, formula::gelu_tanh(x))            \
    OP(silu, REAL, x * formula::sigmoid(x))               \
    OP(mish, REAL, formula::mish(x))                      \
    OP(selu, REAL, formula::selu(x))                      \
    OP(logsigmoid, REAL, (x > T(0) ? T(0) : x) - formula::log_1_plus_exp(x)) \
    OP(hardsigmoid, REAL, formula::clamp(x + T(3), T(0), T(6)) / T(6)) \
    OP(hardswish, REAL, x * formula::clamp(x + T(3), T(0), T(6)) / T(6))

// Activation functions of x with a parameter y, and slopes of some of them
#define SHAPED_OPS(OP)                                                        \
    OP(leaky_relu, REAL, x > T(0) ? x : y * x)                                \
    OP(elu, REAL, x > T(0) ? x : y * formula::expm1(x))                       \
    OP(elu_slope, REAL, x > T(0) ? T(1) : y * formula::exp(x))                \
    OP(softplus, REAL, x > y ? x : formula::softplus(x))                      \
    OP(softplus_slope, REAL, x > y ? T(1) : formula::sigmoid(x))              \
    OP(hardshrink, REAL, (x >= -y) & (x <= y) ? T(0) : x)                     \
    OP(softshrink, REAL, (x >= -y) & (x <= y) ? x * T(0) : x > T(0) ? x - y : x + y) \
    OP(gate, REAL, x * formula::sigmoid(y)) /* of GLU */

// The chain rule through a unary operation in one pass: x is the gradient, y the result of the forward (for activation
// functions its operand). Only Backward classes call them, and for second derivatives use tensor operations instead.
#define DERIVATIVE_OPS(OP)                                \
    OP(relu_backward, REAL, y <= T(0) ? T(0) : x)         \
    OP(sigmoid_backward, REAL, x * (y * (T(1) - y)))      \
    OP(tanh_backward, REAL, x * (T(1) - y * y))           \
    OP(gelu_backward, REAL, x * formula::gelu_slope(y))   \
    OP(gelu_tanh_backward, REAL, x * formula::gelu_tanh_slope(y)) \
    OP(silu_backward, REAL, x * formula::silu_slope(y))   \
    OP(mish_backward, REAL, x * formula::mish_slope(y))   \
    OP(selu_backward, REAL, x * formula::selu_slope(y))   \
    OP(logsigmoid_backward, REAL, x * formula::sigmoid(-y)) \
    OP(hardsigmoid_backward, REAL, (y > T(-3)) & (y < T(3)) ? x / T(6) : T(0)) \
    OP(hardswish_backward, REAL, y <= T(-3) ? T(0) : y >= T(3) ? x : x * (y / T(3) + T(0.5)))

// The same through an operation with a parameter: c is the gradient, x the operand, y the parameter.
#define SHAPED_DERIVATIVE_OPS(OP)                                             \
    OP(leaky_relu_backward, REAL, x > T(0) ? c : y * c)                       \
    OP(shrink_backward, REAL, (x >= -y) & (x <= y) ? T(0) : c)                \
    OP(floor_backward, REAL, x <= y ? T(0) : c) /* of max(x, y) */            \
    OP(gate_backward, REAL, c * x * (formula::sigmoid(y) * (T(1) - formula::sigmoid(y)))) /* along y */

// Operations of c, x and y with a number z. c is a gradient, or what NaN becomes; y is a number but in the last three.
#define BOUNDED_OPS(OP)                                                       \
    OP(nan_to_num, REAL, formula::nan_to_num(x, c, y, z))                        \
    OP(clamp_backward, CLAMPED, (x >= y) & (x <= z) ? c : T(0))                  \
    OP(hardtanh_backward, REAL, (x <= y) | (x >= z) ? T(0) : c)                  \
    OP(add_scaled_product, REAL, c + z * x * y)                                  \
    OP(add_scaled_quotient, REAL, c + z * x / y)                                 \
    OP(add_product_to_scaled, REAL, z * c + x * y)

// What an element adds to a loss, and the slope of that along x: norch/autograd/derivatives/losses.py calls them.
//   huber  x is the difference of prediction and target, y the delta
//   bce    x is the prediction, y the target
//   share  x is a probability or weight, y a logarithm; 0 times infinity is 0
#define LOSS_OPS(OP)                                                    \
    OP(share, REAL, (x == T(0)) & (y == y) ? T(0) : x * y)              \
    OP(huber, REAL, formula::huber(x, y))                               \
    OP(bce, REAL, formula::bce(x, y))                                   \
    OP(bce_slope, REAL, formula::bce_slope(x, y))                       \
    OP(bce_with_logits, REAL, formula::bce_with_logits(x, y))           \
    OP(bce_with_logits_slope, REAL, formula::bce_with_logits_slope(x, y))

// Losses of predictions x and targets y, with a parameter p: what a pair adds, and the slope of that along x. A kernel
// adds them up in one pass, another makes the gradient: OP(l1_loss, ...) becomes, by the macros in kernels.h,
//
//     void l1_loss_tensor_cpu(const Tensor& x, const Tensor& y, Tensor& out, double parameter, double scale) {
//         for (int64_t i = 0; i < x.size; i++) out.data[0] += scale * |x.data[i] - y.data[i]|;
//     }
//     void l1_loss_backward_tensor_cpu(const Tensor& gradient, const Tensor& x, const Tensor& y, Tensor& out, ...) {
//         for (int64_t i = 0; i < x.size; i++) out.data[i] = gradient.data[0] * scale * sign(x.data[i] - y.data[i]);
//     }
#define LOSSES(OP)                                                                                            \
    OP(mse, (x - y) * (x - y), T(2) * (x - y))                                                                \
    OP(l1_loss, formula::distance(x, y), T((x > y) - (x < y)))                                                \
    OP(smooth_l1_loss, formula::huber(x - y, p) / p, formula::huber_slope(x - y, p) / p)                      \
    OP(huber_loss, formula::huber(x - y, p), formula::huber_slope(x - y, p))                                  \
    OP(bce_loss, formula::bce(x, y), formula::bce_slope(x, y))                                                \
    OP(bce_with_logits_loss, formula::bce_with_logits(x, y), formula::bce_with_logits_slope(x, y))            \
    OP(soft_margin_loss, formula::softplus(-y * x), -y * formula::sigmoid(-y * x))                            \
    OP(margin_loss, formula::missing(p - y * x), p - y * x >= T(0) ? -y : T(0))                               \
    OP(hinge_embedding_loss, formula::hinge(x, y, p), formula::hinge_slope(x, y, p))                          \
    OP(poisson_nll_loss, formula::exp(x) - y * x, formula::exp(x) - y)                                        \
    OP(kl_div_loss, formula::divergence(x, y), -y)

#define TERNARY_OPS(OP)                                   \
    OP(where, CHOICE, c ? x : y)                          \
    OP(clamp, SAME, formula::clamp(c, x, y))              \
    OP(addcmul, SAME, T(c + x * y))                       \
    OP(addcdiv, REAL, c + x / y)                          \
    OP(lerp, REAL, formula::lerp(c, x, y))                \
    OP(threshold, NUMERIC, c <= x ? y : c)                \
    OP(scale_and_shift, NUMERIC, T(c * x + y))
