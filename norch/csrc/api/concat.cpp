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
            check_devices(first, t, "stack");
            dtype = promoted(dtype, t.dtype);
        }
        int64_t shape[MAX_DIMS];
        for (int d = 0, from = 0; d <= first.ndim; d++) shape[d] = d == at ? count : first.shape[from++];
        Owned result = new_tensor(shape, first.ndim + 1, dtype, first.device);
        Tensor part = *result;
        drop_axes(part, 1u << at);
        part.size = first.size;
        for (int k = 0; k < count; k++) {
            assign(*tensors[k], part);
            move_on(part, result->strides[at]);
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
            check_devices(first, t, "cat");
            shape[at] += t.shape[at];
            dtype = promoted(dtype, t.dtype);
        }
        Owned result = new_tensor(shape, first.ndim, dtype, first.device);
        Tensor part = *result;
        for (int k = 0; k < count; k++) {
            part.shape[at] = tensors[k]->shape[at];
            part.size = tensors[k]->size;
            assign(*tensors[k], part);
            move_on(part, part.shape[at] * part.strides[at]);
        }
        return result;
    });
}

Tensor* block_diag_tensors(Tensor* const* tensors, int32_t count, int32_t dtype) {
    return build([&] {
        int64_t shape[2] = {};
        const auto rows = [](const Tensor& t) { return t.ndim == 2 ? t.shape[0] : 1; };
        const auto columns = [](const Tensor& t) { return t.ndim ? t.shape[t.ndim - 1] : 1; };
        for (int k = 0; k < count; k++) {
            const Tensor& t = *tensors[k];
            if (t.ndim > 2) fail(SHAPE_ERROR, "block_diag: expected at most 2 dimensions, got shape {}", shape_text(t));
            check_devices(*tensors[0], t, "block_diag");
            shape[0] += rows(t);
            shape[1] += columns(t);
        }
        Owned result = new_tensor(shape, 2, dtype, tensors[0]->device);
        if (result->size == 0) return result;
        fill(*result, 0);
        Tensor part = *result;
        for (int k = 0; k < count; k++) {
            const Tensor& t = *tensors[k];
            part.shape[0] = rows(t), part.shape[1] = columns(t);
            part.size = t.size;
            if (t.size) assign(*reshaped(t, part.shape, 2), part);
            move_on(part, part.shape[0] * part.strides[0] + part.shape[1]);
        }
        return result;
    });
}
