// Indexing by tensors of the C API: reads and writes of a selection (api/selection.h), each by one kernel, index or
// index_put; the places of nonzero elements.

#include <math.h>
#include <string.h>

#include "api.h"
#include "api/checks.h"
#include "api/selection.h"
#include "api/storage_order.h"
#include "dispatch.h"

namespace {

// The order in which x lies in memory, after what is indexed, if it has long runs of elements there that one place selects;
// else row order.
StorageOrder order_to_read(const Tensor& x, const Tensor& places) {
    enum { LONG_RUN = 128 };  // bytes
    Tensor spread = x;
    for (int d = 0; d < x.ndim; d++)
        if (places.strides[d] != 0) spread.strides[d] = INT64_MAX;
    StorageOrder order({&spread});
    if (order.by_rows) return order;
    int64_t run = 1;
    for (int k = x.ndim - 1; k >= 0 && spread.strides[order.axes[k]] == run; k--) run *= x.shape[order.axes[k]];
    order.by_rows = x.strides[x.ndim - 1] == 1 || run * item_size(x.dtype) < LONG_RUN;
    return order;
}

Owned read_at(const Selection& selection) {
    const Tensor& x = selection.elements;
    Owned result = new_tensor(x.shape, x.ndim, x.dtype, x.device);
    if (result->size == 0) return result;
    const StorageOrder order = order_to_read(x, selection.places);
    order.lay_out(*result);
    Tensor out = order.view(*result);
    kernels::index.launch(x.device, order.view(x), order.view(selection.places), selection.placing, out);
    return order.by_rows ? std::move(result) : cast(*result, x.dtype);  // which knows how to transpose
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
    if (target.dtype == FLOAT16 || target.dtype == BFLOAT16)  // x[mask] = 1e9 is infinite
        return cast(*taken(full_tensor(nullptr, 0, FLOAT64, target.device, &number)), target.dtype);
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
        source = with_axis(given);
        const Tensor places = with_axis(index);
        if (index.size && source.ndim != places.ndim)
            fail(SHAPE_ERROR, "{}: index of shape {} and source of shape {} are not the same", name, shape_text(index),
                 shape_text(given));
        for (int d = 0; index.size && d < places.ndim; d++)  // an empty index names nothing, whatever its shape
            if (places.shape[d] > source.shape[d])
                fail(SHAPE_ERROR, "{}: index of shape {} is larger than the source of shape {}", name,
                     shape_text(index), shape_text(given));
        memcpy(source.shape, index.shape, sizeof source.shape);
        source.ndim = index.ndim;
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
    put(*counts, *one, ADD, name, [&](Tensor& out) { return select_named(out, index, axis, kind, name); });
    done(maximum_into(counts.tensor, counts.tensor, one.tensor));
    done((is_real(target.dtype) ? div_into : floor_divide_into)(&target, &target, counts.tensor));
}

// fresh: nobody sees the target if this fails.
void scatter(Tensor& target, const Tensor& index, int64_t axis, int32_t kind, Tensor& given, int32_t how, bool fresh,
             const char* name) {
    const int32_t combining = how & ~(WITHOUT_SELF | AVERAGED | CONVERTED);
    check_values(target, given, how, name);
    if ((how & AVERAGED) && target.dtype == BOOL)
        fail(RUNTIME_ERROR, "{}: a mean is not defined for bool tensors; convert with .int() or .float()", name);
    Owned made = converted_to(target, given);
    if ((kind & KIND) == FLAT && !given.is_number) {
        if (given.size != index.size)
            fail(INDEX_ERROR, "{}: got {} indices for {} elements", name, index.size, given.size);
        made = reshaped(given, index.shape, index.ndim);
    }
    const Tensor source = made.tensor ? *made : source_of(target, given, index, axis, kind, name);
    const auto selected = [&](Tensor& out) {
        Selection selection = select_named(out, index, axis, kind, name);
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
        Owned result = read_at(select_named(flat ? *rows : *tensor, *index, axis, kind, name_of_read(kind)));
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

// ---- Nonzero elements --------------------------------------------------------------------------------------------

Tensor* nonzero_tensor(Tensor* tensor) {
    return build([&] {
        const Owned truth = truth_of(*tensor);
        const Tensor& x = *truth;
        const int64_t shape[2] = {count_true(x), x.ndim};
        Owned result = new_tensor(shape, 2, INT64, x.device);
        if (result->size) kernels::nonzero.launch(x.device, x, nullptr, *result);
        return result;
    });
}
