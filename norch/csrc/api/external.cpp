// Memory shared with others: storages over memory of another owner, and tensors given to other libraries by DLPack.
//
// Such a storage holds its owner, a Python object or a DLPack tensor, and gives it back once, when its last reference
// goes: at any time and in any thread. That is why this is C: a callback written in Python could outlive the
// interpreter.

#include "api.h"

// ---- Storages as objects -----------------------------------------------------------------------------------------

Storage* hold_storage(Tensor* tensor) {
    tensor->storage->guests++;
    tensor->storage->references++;
    return tensor->storage;
}

void free_storage(Storage* storage) {
    if (!storage) return;
    storage->guests--;
    drop(storage);
}

Tensor* storage_tensor(Storage* storage, int32_t dtype) {
    return build([&] {
        Owned tensor(new_struct());
        tensor->ndim = 1;
        tensor->device = storage->device;
        tensor->dtype = dtype;
        tensor->size = tensor->shape[0] = storage->nbytes / item_size(dtype);
        tensor->strides[0] = 1;
        tensor->data = storage->data;
        tensor->storage = storage;
        storage->references++;
        return tensor;
    });
}

int32_t is_read_only(Tensor* tensor) { return tensor->storage->read_only; }

// ---- Tensors over foreign memory ---------------------------------------------------------------------------------

// How many elements lie between the first and the last one in memory, both included.
static int64_t count_spanned(const Tensor& tensor) {
    int64_t last = 0, reach;
    bool fits = true;
    for (int d = 0; d < tensor.ndim; d++) {
        if (tensor.strides[d] < 0)
            fail(VALUE_ERROR, "negative strides are not supported: got strides {} for shape {}; copy the array first",
                 shape_text(tensor.strides, tensor.ndim), shape_text(tensor));
        fits = fits && !__builtin_mul_overflow(tensor.shape[d] - 1, tensor.strides[d], &reach) &&
               !__builtin_add_overflow(last, reach, &last);
    }
    if (!fits || last >= INT64_MAX / 16)
        fail(VALUE_ERROR, "shape {} with strides {} is too large", shape_text(tensor),
             shape_text(tensor.strides, tensor.ndim));
    return last + 1;
}

// Strides are in elements; null means contiguous. If this throws, the owner was not touched.
static Owned tensor_over(void* data, const int64_t* shape, const int64_t* strides, int ndim, int32_t dtype,
                         int32_t device, bool read_only, ReleaseFunction release, void* owner) {
    int64_t width = item_size(dtype), stride = 1;
    check_device(device);
    Owned tensor(new_struct());
    tensor->size = count_elements(shape, ndim);
    tensor->ndim = ndim;
    tensor->dtype = dtype;
    tensor->device = device;
    for (int d = ndim - 1; d >= 0; d--) {
        tensor->shape[d] = shape[d];
        // an axis of size 1 or an empty tensor never uses its strides
        tensor->strides[d] = strides && shape[d] > 1 && tensor->size ? strides[d] : stride;
        stride *= shape[d] > 1 ? shape[d] : 1;
    }
    int64_t spanned = tensor->size ? count_spanned(*tensor) : 0;
    if (spanned && uintptr_t(data) % uintptr_t(width))
        fail(VALUE_ERROR, "elements of {} must lie at multiples of {} bytes, which these do not: copy them first",
             dtype_name(dtype), width);
    if (spanned && !data) fail(VALUE_ERROR, "expected memory for shape {}, got a null address", shape_text(*tensor));
    tensor->data = spanned ? data : nullptr;
    tensor->storage = new_storage_over(tensor->data, spanned * width, device, read_only, release, owner);
    return tensor;
}

Tensor* external_tensor(void* data, const int64_t* shape, const int64_t* strides, int32_t ndim, int32_t dtype,
                        int32_t read_only, void* owner) {
    return build([&] {
        Owned tensor = tensor_over(data, shape, strides, ndim, dtype, CPU, read_only != 0, drop_object, owner);
        take_object(owner);
        return tensor;
    });
}

// ---- DLPack: the structs of its specification, versions 0 ("dltensor") and 1 ("dltensor_versioned") --------------

struct DLTensor {
    void* data;
    int32_t device_type, device_id;
    int32_t ndim;
    uint8_t type_code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;  // in elements
    uint64_t byte_offset;
};

struct DLManagedTensor {
    DLTensor tensor;
    void* context;
    void (*deleter)(DLManagedTensor*);
};

struct DLManagedTensorVersioned {
    uint32_t major, minor;
    void* context;
    void (*deleter)(DLManagedTensorVersioned*);
    uint64_t flags;
    DLTensor tensor;
};

enum { DLPACK_CPU = 1, DLPACK_CUDA = 2, DLPACK_CUDA_HOST = 3, DLPACK_CUDA_MANAGED = 13 };
enum { DLPACK_READ_ONLY = 1, DLPACK_COPIED = 2 };

static const struct {
    uint8_t code, bits;
} dlpack_types[DTYPE_COUNT] = {{6, 8},  {1, 8},  {0, 8},  {0, 16}, {0, 32},  // in the order of DType
                               {0, 64}, {2, 16}, {4, 16}, {2, 32}, {2, 64}};

const void* dlpack_name(int32_t versioned, int32_t used) {
    static const char* const names[2][2] = {{"dltensor", "used_dltensor"},
                                            {"dltensor_versioned", "used_dltensor_versioned"}};
    return names[versioned != 0][used != 0];
}

// ---- From norch

template <class Managed>
struct Exported {
    Managed managed;
    int64_t shape[MAX_DIMS], strides[MAX_DIMS];
    Storage* storage;
};

template <class Managed>
static void delete_exported(Managed* managed) {
    Exported<Managed>* exported = static_cast<Exported<Managed>*>(managed->context);
    free_storage(exported->storage);
    free_struct(exported, sizeof *exported);
}

template <class Managed>
static Managed* exported(Tensor& tensor) {
    auto* result = static_cast<Exported<Managed>*>(allocate_struct(sizeof(Exported<Managed>)));
    *result = Exported<Managed>();
    for (int d = 0; d < tensor.ndim; d++) result->shape[d] = tensor.shape[d], result->strides[d] = tensor.strides[d];
    DLTensor& shown = result->managed.tensor;
    shown.data = tensor.data;
    shown.device_type = tensor.device == CPU ? DLPACK_CPU : DLPACK_CUDA;
    shown.device_id = tensor.device == CPU ? 0 : tensor.device - 1;
    shown.ndim = tensor.ndim;
    shown.type_code = dlpack_types[tensor.dtype].code;
    shown.bits = dlpack_types[tensor.dtype].bits;
    shown.lanes = 1;
    shown.shape = result->shape;
    shown.strides = result->strides;
    result->storage = hold_storage(&tensor);
    result->managed.context = result;
    result->managed.deleter = delete_exported<Managed>;
    return &result->managed;
}

void* dlpack_tensor(Tensor* tensor, int32_t versioned, int32_t copied) {
    void* result = nullptr;
    attempt([&] {
        if (!versioned) {
            result = exported<DLManagedTensor>(*tensor);
            return;
        }
        auto* managed = exported<DLManagedTensorVersioned>(*tensor);
        managed->major = 1;
        managed->flags = (tensor->storage->read_only ? DLPACK_READ_ONLY : 0) | (copied ? DLPACK_COPIED : 0);
        result = managed;
    });
    return result;
}

// ---- To norch

template <class Managed>
static void give_back(void* owner) {
    Managed* managed = static_cast<Managed*>(owner);
    if (managed->deleter) managed->deleter(managed);
}

template <class Managed>
static Owned imported(Managed* managed, bool read_only) {
    const DLTensor& given = managed->tensor;
    int32_t dtype = 0, device = CPU;
    while (dtype < DTYPE_COUNT &&
           (dlpack_types[dtype].code != given.type_code || dlpack_types[dtype].bits != given.bits))
        dtype++;
    if (dtype == DTYPE_COUNT || given.lanes != 1)
        fail(TYPE_ERROR, "from_dlpack: no dtype for DLPack's type code {} of {} bits and {} lanes", given.type_code,
             given.bits, given.lanes);
    if (given.device_type == DLPACK_CUDA || given.device_type == DLPACK_CUDA_MANAGED)
        device = 1 + given.device_id;
    else if (given.device_type != DLPACK_CPU && given.device_type != DLPACK_CUDA_HOST)
        fail(RUNTIME_ERROR, "from_dlpack: expected a tensor on a CPU or a CUDA device, got DLPack's device type {}",
             given.device_type);
    return tensor_over(static_cast<char*>(given.data) + given.byte_offset, given.shape, given.strides, given.ndim,
                       dtype, device, read_only, give_back<Managed>, managed);
}

Tensor* tensor_of_dlpack(void* managed, int32_t versioned) {
    return build([&] {
        if (!versioned) return imported(static_cast<DLManagedTensor*>(managed), false);
        auto* tensor = static_cast<DLManagedTensorVersioned*>(managed);
        if (tensor->major != 1)
            fail(RUNTIME_ERROR, "from_dlpack: expected DLPack version 1, got version {}.{}", tensor->major,
                 tensor->minor);
        return imported(tensor, tensor->flags & DLPACK_READ_ONLY);
    });
}

// ---- Capsules

// Whoever consumes a capsule renames it and owns its content; this frees capsules that nobody consumed.
static void destroy_capsule(void* capsule) {
    const char *name = static_cast<const char*>(dlpack_name(0, 0)),
               *versioned = static_cast<const char*>(dlpack_name(1, 0));
    if (python.is_capsule(capsule, name)) give_back<DLManagedTensor>(python.capsule_pointer(capsule, name));
    if (python.is_capsule(capsule, versioned))
        give_back<DLManagedTensorVersioned>(python.capsule_pointer(capsule, versioned));
}

void* dlpack_destructor() { return reinterpret_cast<void*>(destroy_capsule); }
