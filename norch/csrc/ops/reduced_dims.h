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

// Brings the dimension along which x has the smallest stride, if it is less than `limit`, to the end of kept; false if
// there is none. Those where x repeats do not count, and short ones only if their elements are near and no other is long.
inline bool bring_columns_last(Layout<2>& kept, int64_t limit = 2) {
    enum { LONG = 16 };  // elements that are worth packing
    int columns = -1;
    bool is_long = false;
    for (int d = 0; d < kept.ndim; d++) {
        const int64_t stride = kept.strides[0][d];
        const bool is_as_long = kept.shape[d] >= LONG,
                   fits = is_as_long || (stride <= 2 && kept.shape[d] > 1 && !is_long);
        if (stride <= 0 || stride >= limit || !fits) continue;
        if (columns >= 0 && is_as_long == is_long && stride >= kept.strides[0][columns]) continue;
        columns = d;
        is_long = is_as_long;
    }
    if (columns < 0) return false;
    swap_dims(kept, columns, kept.ndim - 1);
    return true;
}

// Takes the dimensions along which x repeats out of the reduced ones: how often each of its elements counts.
inline int64_t take_repeats(Layout<1>& reduced) {
    if (reduced.size == 0) return 1;
    int64_t count = 1;
    int left = 0;
    for (int d = 0; d < reduced.ndim; d++) {
        if (reduced.strides[0][d] == 0) {
            count *= reduced.shape[d];
            continue;
        }
        reduced.strides[0][left] = reduced.strides[0][d];
        reduced.shape[left++] = reduced.shape[d];
    }
    if (left == 0) reduced.shape[left++] = 1;
    reduced.ndim = left;
    reduced.size /= count;
    return count;
}

}  // namespace NORCH_ISA
