// The kernels that every device provides. KERNELS(K) lists them as K(name, arguments); cpu.h and cuda.h declare the
// list with their suffix, cuda_stub.cpp defines it for a build without CUDA, tensor.cpp makes a table of each.
//
// Contracts, kept by tensor.cpp and trusted by kernels:
//   elementwise  every operand was expanded to out's shape (stride 0 where it repeats) and has the dtype of the
//                computation; out has the dtype that the row's rule names, and may be one of the operands
//   reductions   out has x's rank, with size 1 along each reduced axis, and is contiguous
//   matmul       a [..., m, k], b [..., k, n] and out [..., m, n] have the same leading sizes (strides may be 0); out is
//                contiguous

#pragma once
#include "ops.h"
#include "ramp.h"
#include "random.h"
#include "tensor.h"

struct SGDOptions {
    double lr, momentum, dampening, weight_decay;
    int32_t nesterov, maximize;
};

#define UNARY_KERNEL(name, rule, formula) KERNEL(name, (const Tensor& x, Tensor& out))
#define BINARY_KERNEL(name, rule, formula) KERNEL(name, (const Tensor& x, const Tensor& y, Tensor& out))
#define TERNARY_KERNEL(name, first, formula) KERNEL(name, (const Tensor& c, const Tensor& x, const Tensor& y, Tensor& out))

#define REDUCTIONS(K)                                                                               \
    K(sum)  /* floats: error of a few ULP at any length; integers and bool into int64 */            \
    K(prod) /* integers and bool into int64 */                                                      \
    K(max)  /* NaN wins */                                                                          \
    K(min)                                                                                          \
    K(any)  /* into bool */                                                                         \
    K(all)
#define REDUCE_KERNEL(name) KERNEL(name, (const Tensor& x, Tensor& out))

// KERNELS expands KERNEL, which the including file defines just before.
#define KERNELS                                                                                     \
    UNARY_OPS(UNARY_KERNEL)                                                                         \
    BINARY_OPS(BINARY_KERNEL)                                                                       \
    TERNARY_OPS(TERNARY_KERNEL)                                                                     \
    REDUCTIONS(REDUCE_KERNEL)                                                                       \
    /* out is int64: the index along axis of the first largest (smallest) element; the first NaN wins */ \
    KERNEL(argmax, (const Tensor& x, Tensor& out, int axis))                                        \
    KERNEL(argmin, (const Tensor& x, Tensor& out, int axis))                                        \
    /* out = x, between any two dtypes and layouts of one shape */                                  \
    KERNEL(assign, (const Tensor& x, Tensor& out))                                                  \
    KERNEL(matmul, (const Tensor& a, const Tensor& b, Tensor& out))                                 \
    /* fill a contiguous out, which is not empty: ramp.h and random.h say with what */              \
    KERNEL(ramp, (Tensor& out, const Ramp& ramp))                                                   \
    KERNEL(uniform, (Tensor& out, Stream stream, double low, double high)) /* [low, high) */        \
    KERNEL(normal, (Tensor& out, Stream stream, double mean, double std))                           \
    KERNEL(integers, (Tensor& out, Stream stream, int64_t low, uint64_t range)) /* range 0: 2^64 */ \
    /* one step of SGD in place; velocity is null without momentum; first: it is not filled yet */  \
    KERNEL(sgd, (Tensor& parameter, const Tensor& gradient, Tensor* velocity, bool first, const SGDOptions& options))
