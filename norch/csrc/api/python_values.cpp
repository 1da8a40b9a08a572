// Python's numbers and lists as tensors and back, and the parts of an index: what would take Python longer than the
// kernel that follows. What is not plain is left to norch/packing.py and norch/methods, which know the rest, and errors.
// All of it runs with the interpreter's lock. While a list is read, no code of Python runs.

#include <algorithm>
#include <vector>

#include "api/checks.h"
#include "api/objects.h"
#include "ops/conversion.h"
#include "recording/recording.h"

// ---- Numbers and nested lists to a tensor ---------------------------------------------------------------------------

struct Nested {
    int64_t shape[MAX_DIMS];
    int ndim = 0;
    std::vector<void*> numbers;  // borrowed, in row order
    bool any_float = false, any_integer = false;

    // Whether all of it are numbers, in lists of one length at each depth.
    bool read(void* object, int depth = 0) {
        const void* kind = kind_of(object);
        if (kind == known.real || kind == known.integer || kind == known.boolean) {
            any_float |= kind == known.real;
            any_integer |= kind == known.integer;
            numbers.push_back(object);
            return depth == ndim;
        }
        const bool is_list = kind == known.list;
        if (!is_list && kind != known.tuple) return false;
        const ptrdiff_t length = is_list ? objects.length(object) : objects.size(object);
        if (depth == ndim && numbers.empty() && !closed && ndim < MAX_DIMS) shape[ndim++] = length;
        if (depth >= ndim || shape[depth] != length) return false;
        for (ptrdiff_t i = 0; i < length; i++)
            if (!read(is_list ? objects.list_item(object, i) : objects.tuple_item(object, i), depth + 1)) return false;
        closed = true;
        return true;
    }

private:
    bool closed = false;  // whether a list has ended: the shape is known
};

// The number as a T; false if it is none, which has left an error.
template <class T>
static bool convert(void* number, T* value) {
    if constexpr (std::is_floating_point_v<T>) {
        const double real = objects.real_in(number);
        *value = T(real);
        return real != -1 || !objects.error();
    } else if constexpr (std::is_same_v<T, bool>) {
        *value = number == known.yes;
        return *value || number == known.no;
    } else {
        *value = objects.integer_in(number);
        return *value != -1 || !objects.error();
    }
}

Tensor* tensor_of_values(PythonObject* data, int32_t dtype) {
    Tensor* made = nullptr;
    const int status = attempt([&] {
        Nested nested;
        if (!nested.read(data)) return;
        const bool real = nested.any_float || nested.numbers.empty();
        const int32_t own = real ? default_dtype : nested.any_integer ? INT64 : BOOL, kind = dtype < 0 ? own : dtype;
        if (kind != FLOAT32 && kind != FLOAT64 && (kind != own || real)) return;
        Owned tensor = new_tensor(nested.shape, nested.ndim, kind, CPU);
        const auto fill = [&](auto* values) {
            for (void* number : nested.numbers)
                if (!convert(number, values++)) return false;
            return true;
        };
        const bool filled = kind == FLOAT32   ? fill(data_as<float>(*tensor))
                            : kind == FLOAT64 ? fill(data_as<double>(*tensor))
                            : kind == INT64   ? fill(data_as<int64_t>(*tensor))
                                              : fill(data_as<bool>(*tensor));
        if (!filled) return objects.clear_error();  // an integer beyond the dtype
        if (is_recording()) report_constant(*tensor);
        made = tensor.give();
    });
    if (status != 0) objects.set_error(known.no_memory, "%s", error_message());
    return made;
}

// ---- A tensor to numbers and nested lists ---------------------------------------------------------------------------

static void* number_of(const Tensor& x, int64_t offset) {
    void* truth = nullptr;
    switch (x.dtype) {
        case BOOL: truth = data_as<bool>(x)[offset] ? known.yes : known.no; break;
        case UINT8: return objects.new_long(data_as<uint8_t>(x)[offset]);
        case INT8: return objects.new_long(data_as<int8_t>(x)[offset]);
        case INT16: return objects.new_long(data_as<int16_t>(x)[offset]);
        case INT32: return objects.new_long(data_as<int32_t>(x)[offset]);
        case INT64: return objects.new_long(data_as<int64_t>(x)[offset]);
        case FLOAT16: return objects.new_real(convert<float>(data_as<Half>(x)[offset]));
        case BFLOAT16: return objects.new_real(convert<float>(data_as<BFloat16>(x)[offset]));
        case FLOAT32: return objects.new_real(data_as<float>(x)[offset]);
        default: return objects.new_real(data_as<double>(x)[offset]);
    }
    python.take_reference(truth);
    return truth;
}

static void* values_from(const Tensor& x, int axis, int64_t offset) {
    if (axis == x.ndim) return number_of(x, offset);
    void* list = objects.new_list(x.shape[axis]);
    for (int64_t i = 0; list && i < x.shape[axis]; i++) {
        void* item = values_from(x, axis + 1, offset + i * x.strides[axis]);
        if (!item || objects.set_list_item(list, i, item) != 0) {
            python.drop_reference(list);
            return nullptr;
        }
    }
    return list;
}

PythonObject* values_of(Tensor* tensor, int32_t alone) {
    if (tensor->device != CPU || (alone && tensor->size != 1)) return nothing();
    return static_cast<PythonObject*>(values_from(*tensor, alone ? tensor->ndim : 0, 0));
}

static PythonObject* tuple_of(const int64_t* values, int count) {
    void* tuple = objects.new_tuple(count);
    for (int i = 0; tuple && i < count; i++) {
        void* value = objects.new_long(values[i]);
        if (!value || objects.set_tuple_item(tuple, i, value) != 0) {
            python.drop_reference(tuple);
            return nullptr;
        }
    }
    return static_cast<PythonObject*>(tuple);
}

PythonObject* shape_of(Tensor* tensor) { return tuple_of(tensor->shape, tensor->ndim); }
PythonObject* form_of_tensor(Tensor* tensor) {
    int64_t form[2 + 2 * MAX_DIMS] = {tensor->dtype, tensor->device};
    std::copy_n(tensor->shape, tensor->ndim, form + 2);
    std::copy_n(tensor->strides, tensor->ndim, form + 2 + tensor->ndim);
    return tuple_of(form, 2 + 2 * tensor->ndim);
}
PythonObject* strides_of(Tensor* tensor) { return tuple_of(tensor->strides, tensor->ndim); }

// ---- The parts of an index ------------------------------------------------------------------------------------------

// One part as part_tensor takes it. False, and an error or none, if it is no plain integer, slice, None or `...`.
static bool read_part(void* part, int64_t* packed) {
    std::fill_n(packed, 4, 0);
    if (part == known.none || part == known.ellipsis) {
        packed[0] = part == known.none ? NEW_AXIS : REST;
        return true;
    }
    const void* type = kind_of(part);
    if (type == known.integer) {
        packed[1] = objects.integer_in(part);
        return packed[1] != -1 || !objects.error();
    }
    packed[0] = SLICE_PART;
    return type == known.slice && objects.unpack_slice(part, &packed[1], &packed[2], &packed[3]) == 0 && packed[3] > 0;
}

PythonObject* parts_of_index(PythonObject* index) {
    int64_t packed[4 * 2 * MAX_DIMS];
    const bool several = kind_of(index) == known.tuple;
    const ptrdiff_t count = several ? objects.size(index) : 1;
    bool plain = count <= 2 * MAX_DIMS;
    for (ptrdiff_t i = 0; plain && i < count; i++)
        plain = read_part(several ? objects.tuple_item(index, i) : index, packed + 4 * i);
    if (plain) return static_cast<PythonObject*>(objects.new_bytes(packed, 4 * count * ptrdiff_t(sizeof *packed)));
    const bool is_range = !objects.error() || objects.error_is(known.wrong_value) || objects.error_is(known.too_large);
    if (!is_range) return nullptr;
    objects.clear_error();  // of a step of 0, or an integer beyond 64 bits: the long way says so
    return nothing();
}
