// Concatenation in the C API, and its inverse: views of parts.

#include <string.h>

#include "api.h"
#include "api/checks.h"

Tensor* stack_tensors(Tensor* const* tensors, int32_t count, int64_t axis) {
    return build([&] {
        if (count < 1) fail(VALUE_ERROR, "stack: expected at least one tensor, got none");
        const Tensor& first = *tensors[0];
        if (first.ndim == MAX_DIMS) fail(SHAPE_ERROR, "stack: a tensor has at most {} dimensions", MAX_DIMS);
        const int at = check_axis(axis, first.ndim + 1, "stack");
        int32_t dtype = BOOL;
        for (int k = 0; k < count; k++) {
            const Tensor& t = *tensors[k];
            if (!same_shape(t, first))
                fail(SHAPE_ERROR, "stack: shapes {} and {} are not the same", shape_text(first), shape_text(t));
            if (t.device != first.device)
                fail(RUNTIME_ERROR, "stack: expected all tensors on one device, got {} and {}",
                     device_text(first.device), device_text(t.device));
            dtype = promoted(dtype, t.dtype);
        }
        int64_t shape[MAX_DIMS], strides[MAX_DIMS];
        for (int d = 0, from = 0; d <= first.ndim; d++) shape[d] = d == at ? count : first.shape[from++];
        Owned result = new_tensor(shape, first.ndim + 1, dtype, first.device);
        for (int d = 0, from = 0; d < first.ndim; d++, from++) {
            if (from == at) from++;
            strides[d] = result->strides[from];
        }
        for (int k = 0; k < count; k++) {
            Owned part = view_of(*result, first.shape, strides, first.ndim, k * result->strides[at]);
            assign(*tensors[k], *part);
        }
        return result;
    });
}

Tensor* cat_tensors(Tensor* const* tensors, int32_t count, int64_t axis) {
    return build([&] {
        if (count < 1) fail(VALUE_ERROR, "cat: expected at least one tensor, got none");
        const Tensor& first = *tensors[0];
        if (first.ndim == 0) fail(SHAPE_ERROR, "cat: tensors of 0 dimensions cannot be concatenated");
        int at = check_axis(axis, first.ndim, "cat");
        int64_t shape[MAX_DIMS];
        memcpy(shape, first.shape, sizeof shape);
        shape[at] = 0;
        int32_t dtype = BOOL;
        for (int k = 0; k < count; k++) {
            const Tensor& t = *tensors[k];
            bool fits = t.ndim == first.ndim;
            for (int d = 0; d < first.ndim && fits; d++) fits = d == at || t.shape[d] == first.shape[d];
            if (!fits)
                fail(SHAPE_ERROR, "cat: shapes {} and {} differ in more than axis {}", shape_text(first), shape_text(t),
                     at);
            if (t.device != first.device)
                fail(RUNTIME_ERROR, "cat: expected all tensors on one device, got {} and {}", device_text(first.device),
                     device_text(t.device));
            shape[at] += t.shape[at];
            dtype = promoted(dtype, t.dtype);
        }
        Owned result = new_tensor(shape, first.ndim, dtype, first.device);
        int64_t start = 0;
        for (int k = 0; k < count; k++) {
            Owned part =
                view_of(*result, tensors[k]->shape, result->strides, result->ndim, start * result->strides[at]);
            assign(*tensors[k], *part);
            start += tensors[k]->shape[at];
        }
        return result;
    });
}
