// An odometer over the outer dimensions of a Layout: CPU kernels put it around their inner loops.
//
//     Odometer<2> at(layout, layout.ndim - 1);
//     do row(x + at.offset[0], out + at.offset[1]); while (at.next());

#pragma once
#include "ops/layout.h"

// Before a loop whose iterations are independent: an output is one of the operands or overlaps none.
#ifdef __clang__
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define KEPT_TOGETHER INDEPENDENT
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#define KEPT_TOGETHER _Pragma("GCC ivdep") _Pragma("GCC unroll 1")
#endif

inline namespace NORCH_ISA {

template <int N>
struct Odometer {
    const Layout<N>& layout;
    int dims;           // it turns over the first `dims` dimensions, the last of them fastest
    int64_t offset[N];  // of the current position, in elements, for each operand
    int64_t index[MAX_DIMS];

    Odometer(const Layout<N>& layout, int dims) : layout(layout), dims(dims), offset(), index() {}

    // Goes to a position, counted from 0, as if by so many calls of next. (Once a part: not worth inlining.)
    __attribute__((noinline)) void seek(int64_t position) {
        if (layout.size == 0) return;  // nowhere to go
        for (int d = dims - 1; d >= 0; d--) {
            const int64_t turned = position % layout.shape[d] - index[d];
            index[d] += turned;
            for (int k = 0; k < N; k++) offset[k] += layout.strides[k][d] * turned;
            position /= layout.shape[d];
        }
    }

    // Steps to the next position; false after the last one.
    bool next() {
        for (int d = dims - 1; d >= 0; d--) {
            const int64_t last = layout.shape[d] - 1;
            if (index[d] < last) {
                index[d]++;
                for (int k = 0; k < N; k++) offset[k] += layout.strides[k][d];
                return true;
            }
            index[d] = 0;
            for (int k = 0; k < N; k++) offset[k] -= layout.strides[k][d] * last;
        }
        return false;
    }
};

inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

inline void swap(int64_t& x, int64_t& y) {
    const int64_t kept = x;
    x = y;
    y = kept;
}

// Dimensions may be visited in any order: kernels move the one for their inner loop to the end.
template <int N>
void swap_dims(Layout<N>& layout, int a, int b) {
    swap(layout.shape[a], layout.shape[b]);
    for (int k = 0; k < N; k++) swap(layout.strides[k][a], layout.strides[k][b]);
}

}  // namespace NORCH_ISA
