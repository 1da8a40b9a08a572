// From the integers and masks that index a tensor to the places of its elements.

#include <string>
#include <string.h>

#include "api/checks.h"
#include "api/selection.h"
#include "dispatch.h"
#include "ops/dtype_rules.h"

namespace {

const Placing OFFSETS = {{Fault::NONE, 0, "", 0, 0, 0}, 1, false, true, false};

// Whether the elements of a tensor lie apart from each other, as far as a look at the strides tells.
bool lies_apart(const Tensor& x) {
    int64_t reach = 0;  // of the dimensions with smaller strides
    bool seen[MAX_DIMS] = {};
    for (int k = 0; k < x.ndim; k++) {
        int next = -1;
        for (int d = 0; d < x.ndim; d++)
            if (!seen[d] && (next < 0 || x.strides[d] < x.strides[next])) next = d;
        seen[next] = true;
        if (x.shape[next] < 2) continue;
        if (x.strides[next] <= reach) return false;
        reach += x.strides[next] * (x.shape[next] - 1);
    }
    return true;
}

void check_index(const Tensor& tensor, const Tensor& index, const char* name) {
    check_devices(tensor, index, name);
    if (index.dtype != INT64)
        fail(INDEX_ERROR, "{}: expected an index of int64, got {}", name, dtype_name(index.dtype));
}

// Adds what index selects along an axis of x to offsets, or sets them to it.
void locate(const Tensor& index, const Placing& placing, bool first, Tensor& offsets) {
    if (offsets.size)
        kernels::locate.launch(offsets.device, index, placing.bounds, placing.wraps, placing.stride, first, offsets);
}

// The offsets of elements by their number p in row order. With q[d] = p / (the size of a slice of axis d), the index along
// axis d is q[d] - shape[d] q[d - 1]; so the offset is the sum of q[d] (strides[d] - shape[d + 1] strides[d + 1]).
Owned offsets_of(const Tensor& tensor, const Tensor& index, const Fault& bounds) {
    Owned numbers = new_tensor(index.shape, index.ndim, INT64, index.device),
          offsets = new_tensor(index.shape, index.ndim, INT64, index.device);
    locate(index, {bounds, 1, true, true, false}, true, *numbers);
    const int last = tensor.ndim - 1;
    locate(*numbers, {bounds, tensor.strides[last], false, true, false}, true, *offsets);
    for (int d = last; d > 0; d--) {  // numbers becomes q[d - 1]
        const Owned size = taken(number_tensor(0, tensor.shape[d], INT64));
        done(floor_divide_into(numbers.tensor, numbers.tensor, size.tensor));
        const int64_t stride = tensor.strides[d - 1] - tensor.shape[d] * tensor.strides[d];
        locate(*numbers, {bounds, stride, false, true, false}, false, *offsets);
    }
    return offsets;
}

}  // namespace

Selection select_by(const Tensor& tensor, const Tensor* const* indices, const int64_t* axes, int32_t count, bool wraps,
                    const char* name) {
    if (count > tensor.ndim)
        fail(INDEX_ERROR, "{}: got {} indices for a tensor of {} dimensions", name, count, tensor.ndim);
    Shape common = {}, shape = {};
    int first = -1, last = -1, indexed = 0;
    for (int d = 0; d < count; d++) {
        if (!indices[d]) continue;
        check_index(tensor, *indices[d], name);
        if (!tensor.shape[d] && indices[d]->size)
            fail(INDEX_ERROR, "{}: axis {} has no index, its size is 0", name, axes ? axes[d] : d);
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
    if (tensor.ndim - indexed + common.ndim > MAX_DIMS)
        fail(SHAPE_ERROR, "{}: the result would have {} dimensions, at most {} are possible", name,
             tensor.ndim - indexed + common.ndim, MAX_DIMS);

    const auto placing = [&](int d) {
        const Fault bounds = {Fault::INDEX, int32_t(axes ? axes[d] : d), name, tensor.shape[d], 0, 0};
        return Placing{bounds, tensor.strides[d], wraps, lies_apart(tensor), false};
    };
    enum { FEW = 1024 };  // elements, for which it does not matter if their places are looked at again
    int64_t around = 1;   // how often an index is looked at
    for (int d = 0; d < tensor.ndim; d++) around *= d == first ? 1 : tensor.shape[d];
    const bool direct = indexed == 1 && indices[first]->storage != tensor.storage &&
                        (around == 1 || around * indices[first]->size <= FEW);
    Selection result = {tensor, {}, OFFSETS, Owned()};
    if (direct) {
        result.places = *indices[first];
        result.placing = placing(first);
    } else {
        result.memory = new_tensor(common.sizes, common.ndim, INT64, tensor.device);
        bool unset = true;
        for (int d = first; d <= last; d++) {
            if (!indices[d]) continue;
            locate(expanded(*indices[d], common.sizes, common.ndim, name), placing(d), unset, *result.memory);
            unset = false;
            result.placing.bounds.size += tensor.shape[d] * tensor.strides[d];
        }
        result.places = *result.memory;
        result.placing.apart = lies_apart(tensor);
    }

    const Tensor places = result.places;
    auto add_axis = [&](int64_t size, int64_t stride, int64_t place_stride) {
        shape.sizes[shape.ndim] = size;
        result.elements.strides[shape.ndim] = stride;
        result.places.strides[shape.ndim++] = place_stride;
    };
    auto add_common = [&] {
        for (int k = 0; k < common.ndim; k++) add_axis(common.sizes[k], 0, places.strides[k]);
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

Owned truth_of(const Tensor& x) {
    Tensor read = x;
    if (x.dtype == BOOL) read.dtype = UINT8;
    return cast(read, BOOL);
}

int64_t count_true(const Tensor& truth) {
    if (!truth.size) return 0;
    Owned count = new_tensor(ONES, truth.ndim, INT64, truth.device);
    kernels::sum.launch(truth.device, truth, *count);
    refuse_recording("the shape of a result depends on values");
    if (count->device != CPU) count = on_device(*count, CPU);  // the host must know the shape of the result
    return *data_as<int64_t>(*count);
}

Selection select_true(const Tensor& tensor, const Tensor& given, const char* name) {
    check_devices(tensor, given, name);
    if (given.dtype != BOOL) fail(RUNTIME_ERROR, "{}: expected a mask of bool, got {}", name, dtype_name(given.dtype));
    if (given.ndim == 0 || given.ndim > tensor.ndim || !has_shape(given, tensor.shape, given.ndim))
        fail(INDEX_ERROR, "{}: a mask of shape {} does not fit shape {}", name, shape_text(given), shape_text(tensor));
    const Owned truth = truth_of(given);
    const Tensor& mask = *truth;
    const int64_t count = count_true(mask);
    Selection result = {tensor, {}, OFFSETS, new_tensor(&count, 1, INT64, tensor.device)};
    Tensor like = tensor;
    like.ndim = mask.ndim;
    like.size = mask.size;
    like.dtype = mask.dtype;  // its strides are asked for, and nothing is to be widened
    if (count) kernels::nonzero.launch(tensor.device, mask, &like, *result.memory);
    result.places = *result.memory;
    result.placing.apart = lies_apart(tensor);
    const int rest = tensor.ndim - mask.ndim;
    for (Tensor* view : {&result.elements, &result.places}) {
        const bool is_places = view == &result.places;
        view->ndim = 1 + rest;
        view->shape[0] = count;
        view->strides[0] = is_places;
        for (int d = 0; d < rest; d++) {
            view->shape[1 + d] = tensor.shape[mask.ndim + d];
            view->strides[1 + d] = is_places ? 0 : tensor.strides[mask.ndim + d];
        }
        view->size = count_elements(view->shape, view->ndim);
    }
    return result;
}

namespace {

// The elements of a tensor at index along an axis, and at its own position along the others.
Selection select_along(const Tensor& tensor, int64_t axis, const Tensor& index, bool wraps, const char* name) {
    const Tensor x = with_axis(tensor), along = with_axis(index);
    const int at = check_axis(axis, x.ndim, name);
    bool fits = x.ndim == along.ndim;
    for (int d = 0; d < x.ndim && fits; d++) fits = d == at || along.shape[d] <= x.shape[d];
    if (!fits && along.size)
        fail(SHAPE_ERROR,
             "{}: index of shape {} must have the dimensions of the tensor of shape {} and be no larger, but along "
             "axis {}",
             name, shape_text(index), shape_text(tensor), at);
    const Fault bounds = {Fault::PLACE, at, name, x.shape[at], 0, 0};
    Selection result = {x, along, {bounds, x.strides[at], wraps, lies_apart(x), false}, Owned()};
    result.elements.strides[at] = 0;
    result.elements.ndim = along.ndim;
    result.elements.size = along.size;
    memcpy(result.elements.shape, along.shape, sizeof along.shape);
    return result;
}

// Whole slices of a tensor along an axis: those that an index of any shape names, which takes the axis' place.
Selection select_slices(const Tensor& tensor, int64_t axis, const Tensor& index, bool wraps, const char* name) {
    const Tensor x = with_axis(tensor);
    const int at = check_axis(axis, x.ndim, name);
    int64_t others = 1;  // no kernel runs if there are none
    for (int d = 0; d < x.ndim; d++) others *= d == at ? 1 : x.shape[d];
    const int64_t size = x.shape[at];
    if (others == 0 && index.size && size) {
        const std::string text = std::string(name) + ": an index is out of range for axis " + std::to_string(at) +
                                 " of size " + std::to_string(size);
        Tensor places = index;
        done(expect_range(&places, wraps ? double(-size) : 0, double(size - 1), false, INDEX_ERROR, text.c_str()));
    }
    const Tensor* indices[MAX_DIMS] = {};
    indices[at] = &index;
    return select_by(x, indices, nullptr, at + 1, wraps, name);
}

// The elements of a tensor by their number in row order, in the shape of the index.
Selection select_flat(const Tensor& tensor, const Tensor& index, const char* name) {
    const Fault bounds = {Fault::INDEX, 0, name, tensor.size, 0, 0};
    Selection result = {tensor, index, {bounds, 1, true, true, false}, Owned()};
    if (!is_contiguous(tensor) && index.size) {
        result.memory = offsets_of(tensor, index, bounds);
        result.places = *result.memory;
        result.placing = OFFSETS;
        result.placing.apart = lies_apart(tensor);
    }
    for (int64_t& stride : result.elements.strides) stride = 0;
    result.elements.ndim = index.ndim;
    result.elements.size = index.size;
    memcpy(result.elements.shape, index.shape, sizeof index.shape);
    return result;
}

}  // namespace

Selection select_named(const Tensor& tensor, const Tensor& index, int64_t axis, int32_t kind, const char* name) {
    const bool wraps = kind & WRAPS, is_vector = kind & VECTOR;
    kind &= KIND;
    if (is_vector && index.ndim > 1)
        fail(INDEX_ERROR, "{}: expected a vector of indices, got shape {}", name, shape_text(index));
    if (kind == MASK) return select_true(tensor, index, name);
    check_devices(tensor, index, name);
    if (index.dtype != INT64 && index.dtype != INT32 && index.size)
        fail(RUNTIME_ERROR, "{}: expected an index of int64 or int32, got {}", name, dtype_name(index.dtype));
    const bool changes = index.storage == tensor.storage;  // while it is used
    Owned copy = index.dtype != INT64 || changes ? cast(index, INT64) : Owned();
    Tensor places = copy.tensor ? *copy : index;
    if (is_vector) places = with_axis(places);
    Selection result = kind == ELEMENTS ? select_along(tensor, axis, places, wraps, name)
                       : kind == SLICES ? select_slices(tensor, axis, places, wraps, name)
                                        : select_flat(tensor, places, name);
    if (!result.memory.tensor) result.memory = std::move(copy);
    return result;
}
