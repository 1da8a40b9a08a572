// CPU kernels that fill a tensor without operands: numbers at equal distances and random numbers.
//
// The Makefile compiles this file without fused multiply-add, so that the numbers are the same on every machine.

#include "cpu.h"

void ramp_tensor_cpu(Tensor& out, const Ramp& ramp) {
    for_any(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        T* data = static_cast<T*>(out.data);
        const int64_t n = out.size;
        for (int64_t i = 0; i < n; i++) data[i] = ramp_element<T>(ramp, i, n);
    });
}

// ---- Random numbers ---------------------------------------------------------------------------------------------

namespace {

enum { LANES = 64 };  // blocks that are made at a time, in loops that the compiler vectorises

template <class T, class Draw>
void fill(Tensor& out, Stream stream, const Draw& draw) {
    const int per_block = Draw::PER_BLOCK;
    T* data = static_cast<T*>(out.data);
    for (int64_t first = 0; first < out.size; first += LANES * per_block) {
        Block blocks[LANES];
        T values[LANES * per_block];
        const int64_t index = first / per_block;
        for (int lane = 0; lane < LANES; lane++) blocks[lane] = philox(stream, uint64_t(index + lane));
        for (int lane = 0; lane < LANES; lane++) draw.elements(blocks[lane], values + lane * per_block);
        const int64_t left = out.size - first, count = left < LANES * per_block ? left : LANES * per_block;
        for (int64_t i = 0; i < count; i++) data[first + i] = values[i];
    }
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
    for_any(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        fill<T>(out, stream, IntegerDraw<T>{low, range});
    });
}
