// CPU kernels that fill a tensor with random numbers (ops/philox.h).
//
// The Makefile compiles this file without fused multiply-add, so that the numbers are the same on every machine.

#include "cpu/backend.h"
#include "host/parallel.h"
#include "cpu/loops/odometer.h"

inline namespace NORCH_ISA {
namespace {

enum { LANES = 64 };  // blocks that are made at a time, in loops that the compiler vectorises

// Element i depends on i alone, so threads and vectors may take them in any order.
template <class T, class Draw>
void fill(Tensor& out, Stream stream, Draw draw) {
    enum { PER_BLOCK = Draw::PER_BLOCK, STEP = LANES * PER_BLOCK };
    T* data = data_as<T>(out);
    const int64_t size = out.size, steps = (size + STEP - 1) / STEP;
    parallel_for(steps, 1 + SMALL_WORK / 8 / STEP, [=](int64_t begin, int64_t end) {
        for (int64_t step = begin; step < end; step++) {
            Block blocks[LANES];
            T values[STEP];
            for (int lane = 0; lane < LANES; lane++) blocks[lane] = philox(stream, uint64_t(step * LANES + lane));
            for (int lane = 0; lane < LANES; lane++) draw.elements(blocks[lane], values + lane * PER_BLOCK);
            memcpy(data + step * STEP, values, size_t(smaller(STEP, size - step * STEP)) * sizeof(T));
        }
    });
}

}  // namespace

void uniform_tensor_cpu(Tensor& out, Stream stream, double low, double high) {
    for_real(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        fill<T>(out, stream, UniformDraw<T>{low, high});
    });
}

void normal_tensor_cpu(Tensor& out, Stream stream, double mean, double std) {
    for_real(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        fill<T>(out, stream, NormalDraw<T>{mean, std});
    });
}

void integers_tensor_cpu(Tensor& out, Stream stream, int64_t low, uint64_t range) {
    INTEGERS_IN_BASELINE(out.dtype, integers, out, stream, low, range);
    for_any(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        fill<T>(out, stream, IntegerDraw<T>{low, range});
    });
}

}  // namespace NORCH_ISA
