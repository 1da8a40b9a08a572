// Where the elements of N operands lie: a Layout as kernels take it, by value. No stride array is ever allocated on a
// device, and one kernel serves every layout.

#pragma once
#include "cpu/loops/odometer.h"

namespace {

// Division by a number that is known at launch: a multiplication and a shift cost a GPU far less than n / divisor.
// Right for n below 2^31 (Granlund and Montgomery, "Division by invariant integers using multiplication").
struct Divider {
    uint32_t factor, shift;

    Divider() = default;
    explicit Divider(uint32_t divisor) : factor(1), shift(0) {
        if (divisor == 0) return;  // an empty dimension, which nobody divides by
        while ((uint64_t(1) << shift) < divisor) shift++;
        factor = uint32_t((uint64_t(1) << 32) * ((uint64_t(1) << shift) - divisor) / divisor + 1);
    }
    __device__ uint32_t divide(uint32_t n) const { return (__umulhi(n, factor) + n) >> shift; }
};

enum { PACK = 4 };  // elements that one instruction reads or writes

// Elements side by side, with the largest alignment that hardware reads at once, 16 bytes.
template <class T, int N = PACK>
struct alignas(N * sizeof(T) < 16 ? N * sizeof(T) : 16) Pack {
    T of[N];
};

// The offsets of one element in each of N operands.
template <int N>
struct Offsets {
    int64_t of[N];
};

template <int N>
struct Strides {
    int64_t size;                  // number of elements
    int32_t ndim;                  // at least 1
    int16_t narrow;                // 32 bits can count the elements
    int16_t packed = false;        // elementwise kernels may take neighbours together (packed_strides)
    // What lies past ndim is set too: the emulator takes every word of a launch that is an address for one.
    int64_t shape[MAX_DIMS] = {};
    int64_t strides[N][MAX_DIMS] = {};  // in elements, for each operand; 0 if it is repeated
    Divider dividers[MAX_DIMS] = {};

    explicit Strides(const Layout<N>& layout) : size(layout.size), ndim(layout.ndim), narrow(size <= INT32_MAX) {
        for (int d = 0; d < ndim; d++) {
            shape[d] = layout.shape[d];
            for (int k = 0; k < N; k++) strides[k][d] = layout.strides[k][d];
            if (narrow) dividers[d] = Divider(uint32_t(shape[d]));
        }
    }

    // Whether one step along a single dimension leads from each element to the next. Contiguous operands of any shape
    // have been collapsed to that.
    __device__ bool simple() const { return ndim == 1; }
    __device__ Offsets<N> step_to(int64_t i) const {
        Offsets<N> offsets;
        for (int k = 0; k < N; k++) offsets.of[k] = i * strides[k][0];
        return offsets;
    }

    // Element i of any layout, counted in row order.
    __device__ Offsets<N> locate(int64_t i) const {
        Offsets<N> offsets = {};
#pragma unroll 1
        for (int d = ndim - 1; d > 0; d--) {
            const int64_t outer = narrow ? dividers[d].divide(uint32_t(i)) : i / shape[d];
            const int64_t index = i - outer * shape[d];
            for (int k = 0; k < N; k++) offsets.of[k] += index * strides[k][d];
            i = outer;
        }
        for (int k = 0; k < N; k++) offsets.of[k] += i * strides[k][0];
        return offsets;
    }
};

// The strides of an elementwise kernel, whose last operand is the one it writes: its smallest stride goes last, so that
// neighbouring threads write neighbouring elements.
template <int N>
Strides<N> elementwise_strides(const Tensor* const (&operands)[N]) {
    Layout<N> layout = collapse(operands);
    const int last = layout.ndim - 1;
    for (int d = 0; d < last; d++)
        if (llabs(layout.strides[N - 1][d]) < llabs(layout.strides[N - 1][last])) swap_dims(layout, d, last);
    return Strides<N>(layout);
}

}  // namespace
