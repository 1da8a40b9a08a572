// Indexing by integer tensors, gather and scatter, sorting and running totals of the C API.
//
// Every read and write through integers is one pair of kernels, index and index_put. Before them the integers become
// offsets in elements: element p of a selection of x lies at x.data[p . strides + offsets[p]]. x and offsets are both
// expanded to the selection's shape: x repeats along the indexed axes, offsets along the others.

#include <initializer_list>
#include <mutex>
#include <set>
#include <string>
#include <string.h>

#include "api.h"
#include "api/checks.h"
#include "dispatch.h"

namespace {

// ---- From integers to offsets ------------------------------------------------------------------------------------

// What is selected from a tensor: both views have the selection's shape.
struct Selection {
    Tensor elements;  // the tensor, with stride 0 along what is indexed
    Tensor places;    // the offsets, with stride 0 along what is not
    Owned offsets;    // whose memory places views
};

void check_index(const Tensor& tensor, const Tensor& index, const char* name) {
    check_devices(tensor, index, name);
    if (index.dtype != INT64)
        fail(INDEX_ERROR, "{}: expected an index of int64, got {}", name, dtype_name(index.dtype));
}

// Adds what index selects along an axis of x to offsets, or sets them to it. `wraps`: negative ones count from the end.
// `kind`: of the fault if one is out of range.
void locate(const Tensor& index, const Tensor& x, int d, int64_t axis, bool wraps, bool first, Tensor& offsets,
            const char* name, int32_t kind) {
    const Fault bounds = {kind, int32_t(axis), name, x.shape[d], 0, 0};
    if (offsets.size) kernels::locate.launch(offsets.device, index, bounds, wraps, x.strides[d], first, offsets);
}

// tensor[indices]: indices[d] selects along axis d, null takes all of it. The index tensors broadcast together; their
// shape takes the place of the indexed axes if those are adjacent, else it comes first.
Selection select_by(const Tensor& tensor, Tensor* const* indices, const int64_t* axes, int32_t count, bool wraps,
                    const char* name) {
    if (count > tensor.ndim)
        fail(INDEX_ERROR, "{}: got {} indices for a tensor of {} dimensions", name, count, tensor.ndim);
    Shape common = {}, shape = {};
    int first = -1, last = -1, indexed = 0;
    for (int d = 0; d < count; d++) {
        if (!indices[d]) continue;
        check_index(tensor, *indices[d], name);
        try {
            broadcast(common, *indices[d], name);
        } catch (Error& error) {
            error.kind = INDEX_ERROR;
            throw;
        }
        first = first < 0 ? d : first;
        last = d;
        indexed++;
    }
    if (indexed == 0) fail(INDEX_ERROR, "{}: expected at least one index tensor", name);
    Selection result = {tensor, {}, new_tensor(common.sizes, common.ndim, INT64, tensor.device)};
    bool unset = true;
    for (int d = first; d <= last; d++) {
        if (!indices[d]) continue;
        const Tensor index = expanded(*indices[d], common.sizes, common.ndim, name);
        locate(index, tensor, d, axes[d], wraps, unset, *result.offsets, name, Fault::INDEX);
        unset = false;
    }

    result.places = *result.offsets;
    if (tensor.ndim - indexed + common.ndim > MAX_DIMS)
        fail(SHAPE_ERROR, "{}: the result would have {} dimensions, at most {} are possible", name,
             tensor.ndim - indexed + common.ndim, MAX_DIMS);
    auto add_axis = [&](int64_t size, int64_t stride, int64_t place_stride) {
        shape.sizes[shape.ndim] = size;
        result.elements.strides[shape.ndim] = stride;
        result.places.strides[shape.ndim++] = place_stride;
    };
    auto add_common = [&] {
        for (int k = 0; k < common.ndim; k++) add_axis(common.sizes[k], 0, result.offsets->strides[k]);
    };
    const bool neighbours = last - first + 1 == indexed;
    if (!neighbours) add_common();
    for (int d = 0; d < tensor.ndim; d++) {
        if (d == first && neighbours) add_common();
        if (d >= count || !indices[d]) add_axis(tensor.shape[d], tensor.strides[d], 0);
    }
    for (Tensor* view : {&result.elements, &result.places}) {
        view->ndim = shape.ndim;
        view->size = count_elements(shape.sizes, shape.ndim);
        memcpy(view->shape, shape.sizes, sizeof(int64_t) * shape.ndim);
    }
    return result;
}

// The elements of a tensor at index along an axis, and at its own position along the others.
Selection select_along(const Tensor& tensor, int64_t axis, const Tensor& index, bool wraps, const char* name) {
    Tensor x = with_axis(tensor), along = with_axis(index);
    const int at = check_axis(axis, x.ndim, name);
    check_index(x, along, name);
    bool fits = x.ndim == along.ndim;
    for (int d = 0; d < x.ndim && fits; d++) fits = d == at || along.shape[d] <= x.shape[d];
    if (!fits && along.size)
        fail(SHAPE_ERROR,
             "{}: index of shape {} must have the dimensions of the tensor of shape {} and be no larger, but along "
             "axis {}",
             name, shape_text(index), shape_text(tensor), at);
    Selection result = {x, {}, new_tensor(along.shape, along.ndim, INT64, x.device)};
    locate(along, x, at, at, wraps, true, *result.offsets, name, Fault::PLACE);
    result.places = *result.offsets;
    result.elements.strides[at] = 0;
    result.elements.ndim = along.ndim;
    result.elements.size = along.size;
    memcpy(result.elements.shape, along.shape, sizeof along.shape);
    return result;
}

// ---- Reading and writing a selection -----------------------------------------------------------------------------

Owned read_at(const Selection& selection) {
    const Tensor& x = selection.elements;
    Owned result = new_tensor(x.shape, x.ndim, x.dtype, x.device);
    if (result->size) kernels::index.launch(x.device, x, selection.places, *result);
    return result;
}

// The values have the target's dtype and broadcast to the selection.
void write_at(Tensor& target, Selection& selection, const Tensor& values, int32_t how, const char* name) {
    Tensor& out = selection.elements;
    Tensor source = expanded(values, out.shape, out.ndim, name);
    Owned copy;
    if (values.storage == target.storage) copy = cast(source, source.dtype), source = *copy;
    if (out.size) kernels::index_put.launch(out.device, source, selection.places, Combining(how), out);
    mark_written(target);
}

void check_values(const Tensor& target, const Tensor& values, const char* name) {
    check_devices(target, values, name);
    check_writable(target, name);
    if (values.dtype != target.dtype)
        fail(RUNTIME_ERROR, "{}: expected values of the tensor's dtype {}, got {}", name, dtype_name(target.dtype),
             dtype_name(values.dtype));
}

}  // namespace

// Combines values with what select(target) selects. Narrow numbers are summed up in their wide dtype.
template <class F>
static void put(Tensor& target, const Tensor& values, int32_t how, const char* name, F select) {
    Owned wide, wide_values;
    if (how != REPLACE && is_narrow(target.dtype)) wide = widened(target), wide_values = widened(values);
    Tensor& out = wide.tensor ? *wide : target;
    Selection selection = select(out);
    write_at(out, selection, wide.tensor ? *wide_values : values, how, name);
    if (!wide.tensor) return;
    assign(*wide, target);
    mark_written(target);
}

Tensor* index_tensor(Tensor* tensor, Tensor* const* indices, const int64_t* axes, int32_t count, int32_t wraps) {
    return build([&] { return read_at(select_by(*tensor, indices, axes, count, wraps, "index")); });
}

int index_put(Tensor* target, Tensor* const* indices, const int64_t* axes, int32_t count, int32_t wraps, Tensor* values,
              int32_t how) {
    return attempt([&] {
        check_values(*target, *values, "index_put_");
        put(*target, *values, how, "index_put_",
            [&](Tensor& out) { return select_by(out, indices, axes, count, wraps, "index_put_"); });
    });
}

Tensor* gather_tensor(Tensor* tensor, int64_t axis, Tensor* index, int32_t wraps) {
    return build([&] {
        Owned result = read_at(select_along(*tensor, axis, *index, wraps, "gather"));
        result->ndim = index->ndim;
        return result;
    });
}

int scatter_into(Tensor* target, int64_t axis, Tensor* index, int32_t wraps, Tensor* source, int32_t how) {
    return attempt([&] {
        const char* name = how == ADD ? "scatter_add_" : "scatter_";
        check_values(*target, *source, name);
        put(*target, *source, how, name, [&](Tensor& out) {
            Selection selection = select_along(out, axis, *index, wraps, name);
            if (!same_shape(*source, *index))
                fail(SHAPE_ERROR, "{}: index of shape {} and source of shape {} are not the same", name,
                     shape_text(*index), shape_text(*source));
            return selection;
        });
    });
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

// ---- Nonzero elements --------------------------------------------------------------------------------------------

Tensor* nonzero_tensor(Tensor* tensor) {
    return build([&] {
        int64_t shape[2] = {0, tensor->ndim};
        if (tensor->size) {
            Owned truth;
            if (tensor->dtype != BOOL) truth = cast(*tensor, BOOL);
            const int64_t ones[MAX_DIMS] = {1, 1, 1, 1, 1, 1, 1, 1};
            Owned count = new_tensor(ones, tensor->ndim, INT64, tensor->device);
            kernels::sum.launch(tensor->device, truth.tensor ? *truth : *tensor, *count);
            refuse_recording("the shape of a result depends on values");
            if (count->device != CPU) count = on_device(*count, CPU);  // the host must know the shape of the result
            shape[0] = *data_as<int64_t>(*count);
        }
        Owned result = new_tensor(shape, 2, INT64, tensor->device);
        if (result->size) kernels::nonzero.launch(tensor->device, *tensor, *result);
        return result;
    });
}
