// The CPU kernels: cpu.cpp (elementwise, copy, SGD), reduce.cpp, matmul.cpp.

#pragma once
#include "kernels.h"

#define KERNEL(name, arguments) void name##_tensor_cpu arguments;
KERNELS
#undef KERNEL
