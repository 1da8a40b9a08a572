// The dispatch: kernels::softmax.launch(device, x, out) runs softmax_tensor_cpu or softmax_tensor_cuda.
//
// There is a Kernel for each row of kernels.h. host/instruction_sets.cpp fills its slots when the library is loaded.

#pragma once
#include "kernels.h"

template <class Signature>
struct Kernel;

template <class... Arguments>
struct Kernel<void(Arguments...)> {
    const char* name;
    void (*slots[DEVICE_KIND_COUNT])(Arguments...);

    // Every kernel that the library runs starts here. What is to see all launches, to record or to time them, goes
    // here.
    void launch(int32_t device, Arguments... arguments) const { slots[kind_of(device)](arguments...); }
};

namespace kernels {
#define KERNEL(name, arguments) extern const Kernel<void arguments> name;
KERNELS
#undef KERNEL
}  // namespace kernels

// The signatures that many kernels share
using UnaryKernel = Kernel<void(const Tensor& x, Tensor& out)>;
using BinaryKernel = Kernel<void(const Tensor& x, const Tensor& y, Tensor& out)>;
using TernaryKernel = Kernel<void(const Tensor& c, const Tensor& x, const Tensor& y, Tensor& out)>;
