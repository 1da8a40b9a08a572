// Indexing by tensors of the C API: gather and scatter, masks, nonzero; triangles.
//
// Every read and write through integers is one pair of kernels, index and index_put: element p of a selection of x lies
// at x.data[p . strides + the offset that places[p] names]. x and places are both expanded to the selection's shape: x
// repeats along the indexed axes, places along the others. Integers that are used once are read by these kernels
// themselves; those of several axes, or that repeat, become offsets before.

#include <initializer_list>
#include <mutex>
#include <set>
#include <string>
#include <math.h>
#include <string.h>

#include "api.h"
#include "api/checks.h"
#include "api/storage_order.h"
#include "dispatch.h"

namespace {

// ---- From integers to offsets ------------------------------------------------------------------------------------

// What is selected from a tensor: both views have the selection's shape.
struct Selection {
    Tensor elements;  // the tensor, with stride 0 along what is indexed
    Tensor places;    // integers, with stride 0 along what is not
    Placing placing;  // what they mean
    Owned memory;     // of places, if it is the selection's own
};

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
        if (floor_divide_into(numbers.tensor, numbers.tensor, size.tensor)) throw last_error();
        const int64_t stride = tensor.strides[d - 1] - tensor.shape[d] * tensor.strides[d];
        locate(*numbers, {bounds, stride, false, true, false}, false, *offsets);
    }
    return offsets;
}

// tensor[indices]: indices[d] selects along axis d, null takes all of it. The index tensors broadcast together; their
// shape takes the place of the indexed axes if those are adjacent, else it comes first. `wraps`: negative ones count
// from the end.
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

int64_t count_true(const Tensor& mask) {
    if (!mask.size) return 0;
    const int64_t ones[MAX_DIMS] = {1, 1, 1, 1, 1, 1, 1, 1};
    Owned count = new_tensor(ones, mask.ndim, INT64, mask.device);
    kernels::sum.launch(mask.device, mask, *count);
    refuse_recording("the shape of a result depends on values");
    if (count->device != CPU) count = on_device(*count, CPU);  // the host must know the shape of the result
    return *data_as<int64_t>(*count);
}

// What lies where a mask of the first dimensions is true: [count, the other dimensions].
Selection select_true(const Tensor& tensor, const Tensor& mask, const char* name) {
    check_devices(tensor, mask, name);
    if (mask.dtype != BOOL) fail(RUNTIME_ERROR, "{}: expected a mask of bool, got {}", name, dtype_name(mask.dtype));
    if (mask.ndim == 0 || mask.ndim > tensor.ndim || !has_shape(mask, tensor.shape, mask.ndim))
        fail(INDEX_ERROR, "{}: a mask of shape {} does not fit shape {}", name, shape_text(mask), shape_text(tensor));
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

// What one index tensor names, by the kinds of api.h. Integers become int64; empty ones may be of any dtype.
Selection select(const Tensor& tensor, const Tensor& index, int64_t axis, int32_t kind, const char* name) {
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

// ---- Reading and writing a selection -----------------------------------------------------------------------------

Owned read_at(const Selection& selection) {
    const Tensor& x = selection.elements;
    Owned result = new_tensor(x.shape, x.ndim, x.dtype, x.device);
    if (result->size) kernels::index.launch(x.device, x, selection.places, selection.placing, *result);
    return result;
}

// The values have the target's dtype and broadcast to the selection.
void write_at(Tensor& target, Selection& selection, const Tensor& values, int32_t how, const char* name) {
    Tensor& out = selection.elements;
    Tensor source = values;
    for (; source.ndim > out.ndim && source.shape[0] == 1; source.ndim--) {  // leading sizes of 1 do not count
        memmove(source.shape, source.shape + 1, sizeof source.shape - sizeof(int64_t));
        memmove(source.strides, source.strides + 1, sizeof source.strides - sizeof(int64_t));
    }
    source = expanded(source, out.shape, out.ndim, name);
    Owned copy;
    if (values.storage == target.storage) copy = cast(source, source.dtype), source = *copy;
    if (out.size)
        kernels::index_put.launch(out.device, source, selection.places, selection.placing, Combining(how), out);
    mark_written(target);
}

void check_values(const Tensor& target, const Tensor& values, int32_t how, const char* name) {
    check_devices(target, values, name);
    check_writable(target, name);
    if (!values.is_number && !(how & CONVERTED) && values.dtype != target.dtype)
        fail(RUNTIME_ERROR, "{}: expected values of the tensor's dtype {}, got {}", name, dtype_name(target.dtype),
             dtype_name(values.dtype));
}

// Combines values with what select(target) selects. Narrow numbers are summed up in their wide dtype.
template <class F>
void put(Tensor& target, const Tensor& values, int32_t how, const char* name, F select) {
    Owned wide, wide_values;
    if (how != REPLACE && is_narrow(target.dtype)) wide = widened(target), wide_values = widened(values);
    Tensor& out = wide.tensor ? *wide : target;
    Selection selection = select(out);
    write_at(out, selection, wide.tensor ? *wide_values : values, how, name);
    if (!wide.tensor) return;
    assign(*wide, target);
    mark_written(target);
}

Owned number_like(const Tensor& target, Tensor& number) {
    return taken(full_tensor(nullptr, 0, target.dtype, target.device, &number));
}

// Values of the target's dtype; none if they are of it already.
Owned converted_to(const Tensor& target, Tensor& values) {
    if (values.is_number) return number_like(target, values);
    return values.dtype == target.dtype ? Owned() : cast(values, target.dtype);
}

// The value that changes nothing: 0 in a sum, 1 in a product, the smallest there is in a maximum.
Owned neutral(const Tensor& target, int32_t how) {
    const bool largest = how == LARGEST, extreme = largest || how == SMALLEST;
    if (extreme && is_real(target.dtype))
        return number_like(target, *taken(number_tensor(largest ? -INFINITY : INFINITY, 0, FLOAT64)));
    int64_t value = how == MULTIPLY;
    if (extreme) {
        const int bits = 8 * int(item_size(target.dtype)) - (target.dtype != UINT8);
        const int64_t most = target.dtype == BOOL ? 1 : int64_t((uint64_t(1) << bits) - 1);
        const bool is_signed = target.dtype != BOOL && target.dtype != UINT8;
        value = !largest ? most : is_signed ? -most - 1 : 0;
    }
    return number_like(target, *taken(number_tensor(0, value, INT64)));
}

// The source for what an index names, if that says its shape: as many of its elements as there are places.
Tensor source_of(const Tensor& target, const Tensor& given, const Tensor& index, int64_t axis, int32_t kind,
                 const char* name) {
    Tensor source = given;
    if ((kind & KIND) == ELEMENTS) {
        if (given.ndim != index.ndim)
            fail(SHAPE_ERROR, "{}: index of shape {} and source of shape {} are not the same", name, shape_text(index),
                 shape_text(given));
        for (int d = 0; d < index.ndim; d++)
            if (index.shape[d] > given.shape[d])
                fail(SHAPE_ERROR, "{}: index of shape {} is larger than the source of shape {}", name,
                     shape_text(index), shape_text(given));
        memcpy(source.shape, index.shape, sizeof source.shape);
        source.size = index.size;
    }
    if (kind & VECTOR) {
        source = with_axis(given);
        Tensor expected = with_axis(target);
        expected.shape[check_axis(axis, expected.ndim, name)] = index.size;
        if (!same_shape(source, expected))
            fail(SHAPE_ERROR, "{}: source has shape {}, expected {}", name, shape_text(source), shape_text(expected));
    }
    return source;
}

// The mean of the elements that came together, of which there are sums: the number of values at each place divides it.
void divide(Tensor& target, const Tensor& index, int64_t axis, int32_t kind, bool with_self, const char* name) {
    Owned one = number_like(target, *taken(number_tensor(0, 1, INT64)));
    Owned counts = new_tensor(target.shape, target.ndim, target.dtype, target.device);
    fill(*counts, with_self);
    put(*counts, *one, ADD, name, [&](Tensor& out) { return select(out, index, axis, kind, name); });
    done(maximum_into(counts.tensor, counts.tensor, one.tensor));
    done((is_real(target.dtype) ? div_into : floor_divide_into)(&target, &target, counts.tensor));
}

// fresh: nobody sees the target if this fails.
void scatter(Tensor& target, const Tensor& index, int64_t axis, int32_t kind, Tensor& given, int32_t how, bool fresh,
             const char* name) {
    const int32_t combining = how & ~(WITHOUT_SELF | AVERAGED | CONVERTED);
    check_values(target, given, how, name);
    Owned made = converted_to(target, given);
    if ((kind & KIND) == FLAT && !given.is_number) {
        if (given.size != index.size)
            fail(INDEX_ERROR, "{}: got {} indices for {} elements", name, index.size, given.size);
        made = reshaped(given, index.shape, index.ndim);
    }
    const Tensor source = made.tensor ? *made : source_of(target, given, index, axis, kind, name);
    const auto selected = [&](Tensor& out) {
        Selection selection = select(out, index, axis, kind, name);
        selection.placing.fresh = fresh;
        return selection;
    };
    if (how & WITHOUT_SELF) put(target, *neutral(target, combining), REPLACE, name, selected);
    put(target, source, combining, name, selected);
    if (how & AVERAGED) divide(target, index, axis, kind, !(how & WITHOUT_SELF), name);
}

const char* name_of_read(int32_t kind) {
    if (kind & VECTOR) return "index_select";
    return (kind & KIND) == ELEMENTS ? "gather" : (kind & KIND) == FLAT ? "take" : "index";
}

const char* name_of_write(int32_t kind, int32_t how) {
    if ((kind & KIND) == ELEMENTS) return how == ADD ? "scatter_add_" : how == REPLACE ? "scatter_" : "scatter_reduce_";
    if (kind & VECTOR) return how == ADD ? "index_add_" : how == REPLACE ? "index_copy_" : "index_reduce_";
    return (kind & KIND) == FLAT ? "put_" : "index_put_";
}

void masked_scatter(Tensor& target, const Tensor& mask, const Tensor& source) {
    const char* name = "masked_scatter_";
    check_values(target, source, REPLACE, name);
    const Tensor x = with_axis(target), whole = expanded(mask, x.shape, x.ndim, name);
    Selection selection = select_true(x, whole, name);
    const int64_t count = selection.places.size;
    if (source.size < count)
        fail(RUNTIME_ERROR, "{}: the mask has {} True elements, the source {}", name, count, source.size);
    Owned values = reshaped(source, &source.size, 1);
    values->shape[0] = values->size = count;
    write_at(target, selection, *values, REPLACE, name);
}

}  // namespace

Tensor* index_tensor(Tensor* tensor, Tensor* const* indices, const int64_t* axes, int32_t count, int32_t wraps) {
    return build([&] { return read_at(select_by(*tensor, indices, axes, count, wraps, "index")); });
}

int index_put(Tensor* target, Tensor* const* indices, const int64_t* axes, int32_t count, int32_t wraps, Tensor* values,
              int32_t how) {
    return attempt([&] {
        check_values(*target, *values, how, "index_put_");
        const Owned converted = converted_to(*target, *values);
        put(*target, converted.tensor ? *converted : *values, how & ~CONVERTED, "index_put_",
            [&](Tensor& out) { return select_by(out, indices, axes, count, wraps, "index_put_"); });
    });
}

Tensor* gather_tensor(Tensor* tensor, Tensor* index, int64_t axis, int32_t kind) {
    return build([&] {
        const bool flat = (kind & KIND) == FLAT;
        const Owned rows = flat ? contiguous(*tensor) : Owned();
        Owned result = read_at(select(flat ? *rows : *tensor, *index, axis, kind, name_of_read(kind)));
        if ((kind & KIND) == ELEMENTS) result->ndim = index->ndim;
        return result;
    });
}

int scatter_into(Tensor* target, Tensor* index, int64_t axis, int32_t kind, Tensor* source, int32_t how) {
    return attempt([&] { scatter(*target, *index, axis, kind, *source, how, false, name_of_write(kind, how)); });
}

Tensor* scatter_tensor(Tensor* tensor, Tensor* index, int64_t axis, int32_t kind, Tensor* source, int32_t how) {
    return build([&] {
        const bool keeps_order = (kind & KIND) == FLAT && index->size < tensor->size / 4;  // else rows are quicker
        Owned result = (keeps_order ? converted : cast)(*tensor, tensor->dtype);
        scatter(*result, *index, axis, kind, *source, how, true, name_of_write(kind, how));
        return result;
    });
}

int masked_scatter_into(Tensor* target, Tensor* mask, Tensor* source) {
    return attempt([&] { masked_scatter(*target, *mask, *source); });
}

Tensor* masked_scatter_tensor(Tensor* tensor, Tensor* mask, Tensor* source) {
    return build([&] {
        Shape shape;
        broadcast(shape, *tensor, "masked_scatter");
        broadcast(shape, *mask, "masked_scatter");
        Owned result = cast(expanded(*tensor, shape.sizes, shape.ndim, "masked_scatter"), tensor->dtype);
        masked_scatter(*result, *mask, *source);
        return result;
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
        Owned truth;
        if (tensor->dtype != BOOL && tensor->size) truth = cast(*tensor, BOOL);
        const Tensor& x = truth.tensor ? *truth : *tensor;
        const int64_t shape[2] = {count_true(x), x.ndim};
        Owned result = new_tensor(shape, 2, INT64, x.device);
        if (result->size) kernels::nonzero.launch(x.device, x, nullptr, *result);
        return result;
    });
}

// ---- Triangles of matrices ---------------------------------------------------------------------------------------

static void triangle(const Tensor& x, int64_t diagonal, bool upper, Tensor& out) {
    if (x.ndim < 2)
        fail(RUNTIME_ERROR, "{}: expected at least 2 dimensions, got shape {}", upper ? "triu" : "tril", shape_text(x));
    if (out.size == 0) return;
    const bool by_rows = x.data == out.data || x.strides[x.ndim - 1] == 1;
    if (!by_rows) assign(x, out);  // which knows how to transpose
    kernels::triangle.launch(out.device, by_rows ? x : out, diagonal, upper, out);
}

Tensor* triangle_tensor(Tensor* tensor, int64_t diagonal, int32_t upper) {
    return build([&] {
        Owned result = new_tensor(tensor->shape, tensor->ndim, tensor->dtype, tensor->device);
        triangle(*tensor, diagonal, upper, *result);
        return result;
    });
}

int triangle_into(Tensor* out, Tensor* tensor, int64_t diagonal, int32_t upper) {
    return attempt([&] {
        check_writable(*out, upper ? "triu_" : "tril_");
        check_pair(*out, *tensor, "triangle");
        check_same_shape(*out, *tensor, "triangle");
        triangle(*tensor, diagonal, upper, *out);
        mark_written(*out);
    });
}
