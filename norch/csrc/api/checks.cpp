#include <mutex>
#include <set>
#include <string>

#include "api.h"
#include "api/checks.h"
#include "dispatch.h"

Owned taken(Tensor* made) {
    if (!made) throw last_error();
    return Owned(made);
}

void done(int status) {
    if (status) throw last_error();
}

Owned real_number(double value) { return taken(number_tensor(value, 0, FLOAT64)); }

void check_real(const Tensor& x, const char* name) {
    if (!is_real(x.dtype))
        fail(RUNTIME_ERROR, "{}: expected a floating dtype, got {}; .float() converts it", name, dtype_name(x.dtype));
}

void check_devices(const Tensor& x, const Tensor& y, const char* name) {
    if (!x.is_number && !y.is_number && x.device != y.device)
        fail(RUNTIME_ERROR, "{}: expected all tensors on one device, got {} and {}", name, device_text(x.device),
             device_text(y.device));
}

void check_pair(const Tensor& x, const Tensor& y, const char* name) {
    check_devices(x, y, name);
    if (x.dtype != y.dtype)
        fail(RUNTIME_ERROR, "{}: expected two tensors of one dtype, got {} and {}", name, dtype_name(x.dtype),
             dtype_name(y.dtype));
}

void check_same_shape(const Tensor& x, const Tensor& y, const char* name) {
    if (!same_shape(x, y))
        fail(SHAPE_ERROR, "{}: expected two tensors of one shape, got {} and {}", name, shape_text(x), shape_text(y));
}

void check_not_read_only(const Tensor& out, const char* name) {
    if (out.storage->read_only)
        fail(RUNTIME_ERROR, "{}: the written-to tensor is over memory that is read-only; clone() it first", name);
}

void check_writable(const Tensor& out, const char* name) {
    check_not_read_only(out, name);
    for (int d = 0; d < out.ndim; d++)
        if (out.strides[d] == 0 && out.shape[d] > 1 && out.size > 0)
            fail(RUNTIME_ERROR,
                 "{}: several elements of the written-to tensor share one place in memory (it was expanded); "
                 "clone() it first",
                 name);
}

int check_axis(int64_t axis, int ndim, const char* operation) {
    int64_t rank = ndim > 0 ? ndim : 1;  // a 0-d tensor is addressed as if it had one axis
    if (axis < -rank || axis >= rank)
        fail(INDEX_ERROR, "{}: axis {} is out of range [{}, {}] for a tensor of {} dimensions", operation, axis, -rank,
             rank - 1, ndim);
    return int(axis < 0 ? axis + rank : axis);
}

void broadcast(Shape& shape, const Tensor& tensor, const char* name) {
    Shape before = shape;
    if (tensor.ndim > shape.ndim) {
        int added = tensor.ndim - shape.ndim;
        for (int d = shape.ndim - 1; d >= 0; d--) shape.sizes[d + added] = shape.sizes[d];
        for (int d = 0; d < added; d++) shape.sizes[d] = 1;
        shape.ndim = tensor.ndim;
    }
    for (int d = 0; d < tensor.ndim; d++) {
        int64_t& size = shape.sizes[shape.ndim - tensor.ndim + d];
        if (size == 1)
            size = tensor.shape[d];
        else if (tensor.shape[d] != 1 && tensor.shape[d] != size)
            fail(SHAPE_ERROR, "{}: shapes {} and {} cannot be broadcast together ({} != {})", name,
                 shape_text(before.sizes, before.ndim), shape_text(tensor), size, tensor.shape[d]);
    }
}

// ---- Values in a range -------------------------------------------------------------------------------------------

// Messages of faults, which a device may report long after the call.
static const char* kept_text(const char* text) {
    static std::mutex mutex;
    static std::set<std::string> texts;
    const std::lock_guard<std::mutex> guard(mutex);
    return texts.insert(text).first->c_str();
}

int expect_range(Tensor* x, double low, double high, int32_t nan_fits, int32_t kind, const char* message) {
    return attempt([&] {
        if (!x->size) return;
        Owned wide;
        if (x->dtype != INT64 && !is_real(x->dtype)) wide = cast(*x, INT64);
        const Owned values = contiguous(wide.tensor ? *wide : *x);
        const Fault fault = {Fault::RANGE, kind, kept_text(message), 0, 0, 0};
        kernels::expect_range.launch(values->device, *values, Range{low, high, nan_fits}, fault);
    });
}
