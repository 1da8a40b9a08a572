// The layout of several tensors of one shape, in as few dimensions as possible: those of size 1 are dropped, and two
// are merged if every operand steps through them as through one. Contiguous tensors of any rank become a single loop.

#pragma once
#include "tensor.h"

inline namespace NORCH_ISA {

template <int N>
struct Layout {
    int ndim;      // at least 1
    int64_t size;  // number of elements
    int64_t shape[MAX_DIMS];
    int64_t strides[N][MAX_DIMS];  // in elements, for each operand; 0 if it is repeated
};

template <int N>
Layout<N> collapse(const Tensor* const (&operands)[N]) {
    const Tensor& first = *operands[0];
    Layout<N> layout;  // what lies past ndim stays unset
    layout.ndim = 0;
    layout.size = first.size;
    for (int d = 0; d < first.ndim; d++) {
        if (first.shape[d] == 1) continue;
        int last = layout.ndim - 1;
        bool merges = last >= 0;
        for (int k = 0; k < N && merges; k++)
            merges = layout.strides[k][last] == operands[k]->strides[d] * first.shape[d];
        int target = merges ? last : layout.ndim++;
        layout.shape[target] = (merges ? layout.shape[target] : 1) * first.shape[d];
        for (int k = 0; k < N; k++) layout.strides[k][target] = operands[k]->strides[d];
    }
    if (layout.ndim == 0) {  // a single element
        layout.ndim = 1;
        layout.shape[0] = 1;
        for (int k = 0; k < N; k++) layout.strides[k][0] = 0;
    }
    return layout;
}

}  // namespace NORCH_ISA
