// The dimensions of a reduction: kept and reduced.

#pragma once
#include <stdlib.h>

#include "cpu/loops/odometer.h"

inline namespace NORCH_ISA {

struct ReducedDims {
    Layout<2> kept;  // strides in x, strides in out
    Layout<1> reduced;
};

inline void add_dim(Tensor& tensor, int64_t length, int64_t stride) {
    tensor.shape[tensor.ndim] = length;
    tensor.strides[tensor.ndim++] = stride;
    tensor.size *= length;
}

inline ReducedDims reduced_dims(const Tensor& x, const Tensor& out) {
    Tensor kept_x = {}, kept_out = {}, reduced = {};
    kept_x.size = kept_out.size = reduced.size = 1;
    for (int d = 0; d < x.ndim; d++) {
        if (out.shape[d] == x.shape[d]) {
            add_dim(kept_x, x.shape[d], x.strides[d]);
            add_dim(kept_out, x.shape[d], out.strides[d]);
        } else {
            add_dim(reduced, x.shape[d], x.strides[d]);
        }
    }
    // Any order gives the same result: the largest stride first walks memory forwards, and merges more dimensions.
    for (int a = 0; a < reduced.ndim; a++) {
        for (int b = a + 1; b < reduced.ndim; b++) {
            if (llabs(reduced.strides[a]) >= llabs(reduced.strides[b])) continue;
            swap(reduced.strides[a], reduced.strides[b]);
            swap(reduced.shape[a], reduced.shape[b]);
        }
    }
    return {collapse<2>({&kept_x, &kept_out}), collapse<1>({&reduced})};
}

// Brings a dimension along which x is contiguous to the end of kept; false if there is none.
inline bool bring_columns_last(Layout<2>& kept) {
    for (int d = 0; d < kept.ndim; d++) {
        if (kept.strides[0][d] != 1 || kept.shape[d] == 1) continue;
        swap_dims(kept, d, kept.ndim - 1);
        return true;
    }
    return false;
}

}  // namespace NORCH_ISA
