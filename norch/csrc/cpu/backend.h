// The CPU kernels. cpu.cpp (elementwise operations, copies) and cpu/ are compiled once for each instruction set, and
// define, say, avx2::add_tensor_cpu; host/ is compiled once.

#pragma once
#include "host/instruction_sets.h"
#include "kernels.h"

#if IS_KERNEL_COPY

inline namespace NORCH_ISA {
#define KERNEL(name, arguments) void name##_tensor_cpu arguments;
VECTOR_KERNELS
#undef KERNEL
// matmul_tensor_cpu as its definition has it: for integers, and for tests of the fast one.
void naive_matmul_cpu(const Tensor& a, const Tensor& b, Tensor& out);
}  // namespace NORCH_ISA

#if defined(NORCH_REALS_ONLY) && !defined(NORCH_BASELINE_ONLY)
namespace avx2 {
#define KERNEL(name, arguments) void name##_tensor_cpu arguments;
VECTOR_KERNELS
#undef KERNEL
}  // namespace avx2
// The copy for AVX-512 leaves integers and bool to the one for AVX2, which spares time to compile it.
#define INTEGERS_IN_AVX2(dtype, name, ...) \
    if (!is_real(dtype)) return avx2::name##_tensor_cpu(__VA_ARGS__)
#else
#define INTEGERS_IN_AVX2(dtype, name, ...)
#endif

#else

#define KERNEL(name, arguments) void name##_tensor_cpu arguments;
PLAIN_KERNELS
#undef KERNEL

#endif
