// CPU kernels that fill a tensor with random numbers (ops/philox.h).
//
// The Makefile compiles this file without fused multiply-add, so that the numbers are the same on every machine.

// Integers are drawn by each copy: philox is work for vectors.
#undef NORCH_REALS_ONLY

#include "cpu/backend.h"
#include "host/parallel.h"
#include "cpu/loops/draws.h"
#include "cpu/loops/odometer.h"
#include "ops/counts.h"

inline namespace NORCH_ISA {
namespace {

// ---- Draws -------------------------------------------------------------------------------------------------------

enum { MANY = 64, FEW = 8 };  // blocks that are made at a time, in loops that the compiler vectorises

// Elements from `start` on, of which `left` are wanted: as many as LANES blocks give. Returns how many that are.
template <int LANES, class T, class Draw>
int64_t fill_from(T* data, int64_t start, int64_t left, Stream stream, Draw draw) {
    enum { STEP = LANES * Draw::PER_BLOCK };
    Block blocks[LANES];
    T values[STEP];
    draw_blocks<LANES>(stream, uint64_t(start / Draw::PER_BLOCK), blocks);
    for (int k = 0; k < LANES; k++) draw.elements(blocks[k], values + k * Draw::PER_BLOCK);
    const int64_t count = smaller(STEP, left);
    memcpy(data + start, values, size_t(count) * sizeof(T));
    return count;
}

// Element i depends on i alone, so threads and vectors may take them in any order.
template <class T, class Draw>
void fill(Tensor& out, Stream stream, Draw draw) {
    enum { STEP = MANY * Draw::PER_BLOCK };
    T* data = data_as<T>(out);
    const int64_t size = out.size, steps = (size + STEP - 1) / STEP;
    parallel_for(steps, 1 + SMALL_WORK / 8 / STEP, [=](int64_t begin, int64_t end) {
        const int64_t stop = smaller(end * STEP, size);
        for (int64_t i = begin * STEP; i < stop;)
            i += stop - i >= STEP ? fill_from<MANY>(data, i, stop - i, stream, draw)
                                  : fill_from<FEW>(data, i, stop - i, stream, draw);
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
    for_any(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        if (range > 0 && range <= UINT32_MAX) return fill<T>(out, stream, NearIntegerDraw<T>{low, uint32_t(range)});
        fill<T>(out, stream, IntegerDraw<T>{low, range});
    });
}

void places_tensor_cpu(Tensor& out, Stream stream) {
    int64_t* data = data_as<int64_t>(out);
    const int64_t size = out.size, steps = (size + MANY - 1) / MANY;
    const bool is_near = size <= UINT32_MAX;
    parallel_for(steps, 1 + SMALL_WORK / 8 / MANY, [=](int64_t begin, int64_t end) {
        for (int64_t start = begin * MANY; start < smaller(end * MANY, size); start += MANY) {
            Block blocks[MANY];
            int64_t places[MANY];
            draw_blocks<MANY>(stream, uint64_t(start), blocks);
            if (is_near)
                for (int k = 0; k < MANY; k++) places[k] = below(uint32_t(start + k + 1), blocks[k]);
            else
                for (int k = 0; k < MANY; k++) places[k] = int64_t(below(uint64_t(start + k + 1), blocks[k]));
            memcpy(data + start, places, size_t(smaller(MANY, size - start)) * sizeof(int64_t));
        }
    });
}

void counts_tensor_cpu(const Tensor& means, const Tensor* chances, Tensor& out, Stream stream) {
    enum { SOME = 64 };  // elements that are worth a thread
    const double *x = data_as<const double>(means), *p = data_as<const double>(chances);
    double* counts = data_as<double>(out);
    parallel_for(out.size, SOME, [=](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; i++) {
            Uniforms uniform(stream, i);
            counts[i] = p ? binomial_count(x[i], p[i], uniform) : poisson_count(x[i], uniform);
        }
    });
}

}  // namespace NORCH_ISA
