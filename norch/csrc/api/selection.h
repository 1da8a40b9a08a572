// What a read or a write of a tensor names: element p of a selection of x lies at x.data[p . strides + the offset that
// places[p] names]. x and places are both expanded to the selection's shape: x repeats along the indexed axes, places along
// the others. Integers that are used once are read by the kernels themselves; those of several axes, or that repeat, become
// offsets before.

#pragma once
#include "api.h"

// Both views have the selection's shape.
struct Selection {
    Tensor elements;  // the tensor, with stride 0 along what is indexed
    Tensor places;    // integers, with stride 0 along what is not
    Placing placing;  // what they mean
    Owned memory;     // of places, if it is the selection's own
};

// tensor[indices]: indices[d] selects along axis d, null takes all of it. The index tensors broadcast together; their
// shape takes the place of the indexed axes if those are adjacent, else it comes first. `wraps`: negative ones count
// from the end.
Selection select_by(const Tensor& tensor, const Tensor* const* indices, const int64_t* axes, int32_t count, bool wraps,
                    const char* name);

// What lies where a mask of the first dimensions is true: [count, the other dimensions].
Selection select_true(const Tensor& tensor, const Tensor& mask, const char* name);

// What one index tensor names, by the kinds of api.h. Integers become int64; empty ones may be of any dtype.
Selection select_named(const Tensor& tensor, const Tensor& index, int64_t axis, int32_t kind, const char* name);

// Which elements are not 0, as bytes of 0 and 1. A bool tensor over memory that others wrote may hold other bytes.
Owned truth_of(const Tensor& x);

int64_t count_true(const Tensor& truth);
