// The CPU kernels: cpu.cpp (elementwise, copy), cpu/matmul.cpp and the other files named in the Makefile's KERNEL_SOURCES,
// compiled for each instruction set; host/indexing.cpp and host/fill.cpp, compiled once.
//
// Inside the first add_tensor_cpu is a function of the copy that is being compiled, avx2::add_tensor_cpu for example.
// For the rest of the library it is the copy that was chosen at load, called in the same way.

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

#ifdef NORCH_REALS_ONLY
namespace baseline {
#define KERNEL(name, arguments) void name##_tensor_cpu arguments;
VECTOR_KERNELS
#undef KERNEL
}  // namespace baseline
// Integers and bool are left to the baseline copy, which is fast enough for them: the library compiles in half the time.
#define INTEGERS_IN_BASELINE(dtype, name, ...) \
    if ((dtype) < FLOAT32) return baseline::name##_tensor_cpu(__VA_ARGS__)
#else
#define INTEGERS_IN_BASELINE(dtype, name, ...)
#endif

#else

#define KERNEL(name, arguments) void name##_tensor_cpu arguments;
PLAIN_KERNELS
#undef KERNEL

template <class Function>
struct ChosenKernel {
    Function* function;
    operator Function*() const { return function; }
};

#define KERNEL(name, arguments) extern const ChosenKernel<void arguments> name##_tensor_cpu;
VECTOR_KERNELS
#undef KERNEL

#endif
