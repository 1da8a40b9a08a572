// The CPU kernels: cpu.cpp (elementwise, copy, SGD), cpu_reduce.cpp, matmul.cpp.

#pragma once
#include "kernels.h"

#define KERNEL(name, arguments) void name##_tensor_cpu arguments;
KERNELS
#undef KERNEL

// matmul_tensor_cpu as its definition has it: for integers, and for tests of the fast one.
void naive_matmul_cpu(const Tensor& a, const Tensor& b, Tensor& out);
