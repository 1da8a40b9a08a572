// Tensors: creation, and copies between dtypes, layouts and devices.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <algorithm>
#include <utility>

#include "api.h"
#include "api/storage_order.h"
#include "cuda/backend.h"
#include "dispatch.h"

// ---- Dtypes and shapes as text -----------------------------------------------------------------------------------

const char* dtype_name(int32_t dtype) {
    static const char* const names[] = {"bool",  "uint8",   "int8",     "int16",   "int32",
                                        "int64", "float16", "bfloat16", "float32", "float64"};
    return dtype >= 0 && dtype < DTYPE_COUNT ? names[dtype] : "unknown";
}

int64_t item_size(int32_t dtype) {
    static const int64_t sizes[] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8};
    if (dtype < 0 || dtype >= DTYPE_COUNT) fail(TYPE_ERROR, "unknown dtype number {}", dtype);
    return sizes[dtype];
}

Text shape_text(const Tensor& tensor) { return shape_text(tensor.shape, tensor.ndim); }

// ---- Building a tensor -------------------------------------------------------------------------------------------

int64_t count_elements(const int64_t* shape, int ndim) {
    if (ndim < 0 || ndim > MAX_DIMS) fail(SHAPE_ERROR, "a tensor has at most {} dimensions, got {}", MAX_DIMS, ndim);
    int64_t size = 1;
    bool overflow = false, empty = false;
    for (int d = 0; d < ndim; d++) {
        if (shape[d] < 0) fail(SHAPE_ERROR, "sizes cannot be negative: got shape {}", shape_text(shape, ndim));
        empty |= shape[d] == 0;
        overflow |= __builtin_mul_overflow(size, shape[d] > 1 ? shape[d] : 1, &size);  // strides skip a 0, too
    }
    // 16 leaves room for the bytes of the largest dtype
    if (overflow || (!empty && size > INT64_MAX / 16))
        fail(MEMORY_ERROR, "shape {} is too large", shape_text(shape, ndim));
    return empty ? 0 : size;
}

Owned new_tensor(const int64_t* shape, int ndim, int32_t dtype, int32_t device) {
    int64_t size = count_elements(shape, ndim), width = item_size(dtype);
    check_device(device);
    Owned tensor(new_struct());
    tensor->ndim = ndim;
    tensor->device = device;
    tensor->dtype = dtype;
    tensor->size = size;
    int64_t stride = 1;
    for (int d = ndim - 1; d >= 0; d--) {
        tensor->shape[d] = shape[d];
        tensor->strides[d] = stride;
        stride *= shape[d] > 1 ? shape[d] : 1;
    }
    tensor->storage = new_storage(size * width, device);
    tensor->data = tensor->storage->data;
    return tensor;
}

Owned view_of(const Tensor& tensor, const int64_t* shape, const int64_t* strides, int ndim, int64_t offset) {
    int64_t size = count_elements(shape, ndim);
    Owned view(new_struct());
    Tensor& v = *view;
    v.ndim = ndim;
    v.device = tensor.device;
    v.dtype = tensor.dtype;
    v.size = size;
    v.offset = offset;
    for (int d = 0; d < ndim; d++) v.shape[d] = shape[d], v.strides[d] = strides[d];
    v.storage = tensor.storage;
    v.storage->references++;
    v.writes = tensor.writes;
    if (v.writes) v.writes->references++;
    const int64_t first = size ? offset : 0;  // without elements it may lie beyond the memory, where no pointer may be
    v.data = v.storage->data ? static_cast<char*>(v.storage->data) + first * item_size(v.dtype) : nullptr;
    return view;
}

bool is_contiguous(const Tensor& tensor) {
    int64_t stride = 1;
    for (int d = tensor.ndim - 1; d >= 0; d--) {
        if (tensor.shape[d] != 1 && tensor.strides[d] != stride && tensor.size > 0) return false;
        stride *= tensor.shape[d];
    }
    return true;
}

Tensor* create_tensor(const void* data, const int64_t* shape, int32_t ndim, int32_t dtype, int32_t device) {
    return build([&] {
        Owned tensor = new_tensor(shape, ndim, dtype, CPU);
        if (tensor->size) memcpy(tensor->data, data, size_t(tensor->size * item_size(dtype)));
        if (is_recording()) report_constant(*tensor);
        return device == CPU ? std::move(tensor) : on_device(*tensor, device);
    });
}

Tensor* empty_tensor(const int64_t* shape, int32_t ndim, int32_t dtype, int32_t device) {
    return build([&] { return new_tensor(shape, ndim, dtype, device); });
}

Tensor* empty_like_tensor(Tensor* tensor, int32_t dtype, int32_t device) {
    return build([&] { return new_like(*tensor, dtype, device); });
}

Tensor* number_tensor(double real, int64_t integer, int32_t dtype) {
    return build([&] {
        Owned number(new_struct());
        number->is_number = 1;
        number->dtype = dtype;
        number->size = 1;
        number->data = &number->value;
        if (dtype == FLOAT64) number->value.real = real;
        if (dtype == INT64) number->value.integer = integer;
        if (dtype == BOOL) number->value.truth = integer != 0;
        return number;
    });
}

void free_tensor(Tensor* tensor) { drop(tensor); }

// ---- Copies ------------------------------------------------------------------------------------------------------

void assign(const Tensor& source, Tensor& target) {
    if (target.size == 0) return;
    const Tensor* const both[] = {&target, &source};
    const StorageOrder order(both);
    if (order.by_rows) return kernels::assign.launch(target.device, source, target);
    Tensor ordered = order.view(target);
    kernels::assign.launch(target.device, order.view(source), ordered);
}

void fill(Tensor& target, double value) {
    Tensor number = {};
    number.is_number = 1;
    number.dtype = FLOAT64;
    number.size = 1;
    number.value.real = value;
    number.data = &number.value;
    assign(expanded(number, target.shape, target.ndim, "fill"), target);
}

Owned cast(const Tensor& tensor, int32_t dtype) {
    Owned result = new_tensor(tensor.shape, tensor.ndim, dtype, tensor.device);
    assign(tensor, *result);
    return result;
}

Owned new_like(const Tensor& tensor, int32_t dtype, int32_t device) {
    Owned result = new_tensor(tensor.shape, tensor.ndim, dtype, device);
    const Tensor* const one[] = {&tensor};
    StorageOrder(one).lay_out(*result);
    return result;
}

Owned converted(const Tensor& tensor, int32_t dtype) {
    Owned result = new_like(tensor, dtype, tensor.device);
    assign(tensor, *result);
    return result;
}

Owned widened(const Tensor& tensor) { return converted(tensor, wide_of(tensor.dtype)); }

Owned contiguous(const Tensor& tensor) {
    if (is_contiguous(tensor)) return view_of(tensor, tensor.shape, tensor.strides, tensor.ndim, tensor.offset);
    return cast(tensor, tensor.dtype);
}

Tensor* alias_tensor(Tensor* tensor) {
    return build([&] { return view_of(*tensor, tensor->shape, tensor->strides, tensor->ndim, tensor->offset); });
}

static Writes& writes_of(const Tensor& tensor) { return tensor.writes ? *tensor.writes : tensor.storage->writes; }

Tensor* data_tensor(Tensor* tensor, Tensor* counted) {
    return build([&] {
        Owned alias = view_of(*tensor, tensor->shape, tensor->strides, tensor->ndim, tensor->offset);
        Writes* own = new (allocate_struct(sizeof(Writes))) Writes{{1}, {0}, {0}};
        if (counted) {
            const Writes& so_far = writes_of(*counted);
            own->version = so_far.version.load();
            own->written_at = so_far.written_at.load();
        }
        drop(alias->writes);
        alias->writes = own;
        return alias;
    });
}

Tensor* clone_tensor(Tensor* tensor) {
    return build([&] { return converted(*tensor, tensor->dtype); });
}

Tensor* contiguous_tensor(Tensor* tensor) {
    return build([&] { return contiguous(*tensor); });
}

Tensor* cast_tensor(Tensor* tensor, int32_t dtype) {
    return build([&] { return converted(*tensor, dtype); });
}

namespace copies {  // between devices: of any dtype, contiguous
using Copy = Kernel<void(const Tensor& source, Tensor& target)>;
static const Copy to_cpu = {"to_cpu", {cuda_to_cpu, cuda_to_cpu}, {ALL_NARROW, ALL_NARROW}};
static const Copy to_cuda = {"to_cuda", {cpu_to_cuda, cpu_to_cuda}, {ALL_NARROW, ALL_NARROW}};
static const Copy across = {"across", {cuda_to_cuda, cuda_to_cuda}, {ALL_NARROW, ALL_NARROW}};
}  // namespace copies

Owned on_device(const Tensor& tensor, int32_t device) {
    check_device(device);
    if (tensor.device == device) return cast(tensor, tensor.dtype);
    Owned source = contiguous(tensor);
    Owned result = new_tensor(tensor.shape, tensor.ndim, tensor.dtype, device);
    if (tensor.size == 0) return result;
    if (kind_of(device) == CPU_KIND)
        copies::to_cpu.launch(device, *source, *result);
    else if (kind_of(tensor.device) == CPU_KIND)
        copies::to_cuda.launch(device, *source, *result);
    else
        copies::across.launch(device, *source, *result);
    return result;
}

Tensor* to_device(Tensor* tensor, int32_t device) {
    return build([&] { return on_device(*tensor, device); });
}

// ---- Reading and writing -----------------------------------------------------------------------------------------

std::atomic<int64_t> write_clock;

void mark_written(Tensor& tensor) {
    Writes& writes = writes_of(tensor);
    writes.version++;
    int64_t now = ++write_clock, last = writes.written_at;  // of two threads that write the later one counts
    while (last < now && !writes.written_at.compare_exchange_weak(last, now)) {
    }
    if (is_recording()) report_written(tensor);
}

int32_t shares_memory(Tensor* x, Tensor* y) { return x->storage == y->storage; }

bool has_shape(const Tensor& x, const int64_t* shape, int ndim) {
    return x.ndim == ndim && !memcmp(x.shape, shape, sizeof(int64_t) * ndim);
}
bool same_shape(const Tensor& x, const Tensor& y) { return has_shape(x, y.shape, y.ndim); }

bool are_alike(const Tensor& x, const Tensor& y) {
    return x.dtype == y.dtype && x.device == y.device && same_shape(x, y);
}

int32_t same_kind(Tensor* tensor1, Tensor* tensor2) { return are_alike(*tensor1, *tensor2); }

int32_t fits_as_gradient(Tensor* gradient, Tensor* tensor) {
    if (!same_kind(gradient, tensor)) return -1;
    const bool lies_alike = !memcmp(gradient->strides, tensor->strides, sizeof(int64_t) * tensor->ndim);
    return gradient->storage->references == 1 && (lies_alike || is_contiguous(*gradient)) &&
           gradient->size * item_size(gradient->dtype) == gradient->storage->nbytes;
}

int32_t ndim_of(Tensor* tensor) { return tensor->ndim; }
int32_t dtype_of(Tensor* tensor) { return tensor->dtype; }
int32_t device_of(Tensor* tensor) { return tensor->device; }
int64_t count_of(Tensor* tensor) { return tensor->size; }
int64_t offset_of(Tensor* tensor) { return tensor->offset; }
int64_t data_of(Tensor* tensor) { return int64_t(tensor->data); }
int64_t storage_of(Tensor* tensor) { return int64_t(tensor->storage); }
int32_t is_in_row_order(Tensor* tensor) { return is_contiguous(*tensor); }

int64_t written_at(Tensor* tensor) { return writes_of(*tensor).written_at; }
void mark_as_written(Tensor* tensor) { mark_written(*tensor); }
int64_t version_of(Tensor* tensor) { return writes_of(*tensor).version; }

double get_item(Tensor* tensor, const int64_t* indices) {
    double result = NAN;
    refuse_recording("a value is read");
    attempt([&] {
        int64_t offset = 0;
        for (int d = 0; d < tensor->ndim; d++) {
            int64_t size = tensor->shape[d], index = indices[d] < 0 ? indices[d] + size : indices[d];
            if (index < 0 || index >= size)
                fail(INDEX_ERROR, "index {} is out of range for axis {} of size {} (shape {})", indices[d], d, size,
                     shape_text(*tensor));
            offset += index * tensor->strides[d];
        }
        int64_t zero = 0;
        Owned element = view_of(*tensor, &zero, &zero, 0, tensor->offset + offset);
        if (tensor->device != CPU) element = on_device(*element, CPU);
        if (is_narrow(element->dtype)) element = widened(*element);
        for_any(element->dtype,
                [&](auto type) { result = double(*static_cast<typename decltype(type)::type*>(element->data)); });
    });
    return result;
}
