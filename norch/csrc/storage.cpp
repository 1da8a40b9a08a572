// Memory: the one place that allocates, the counters of what is alive, and the reference counts of Storage.

#include <new>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "allocator.h"
#include "api.h"
#include "cuda.h"

// ---- Counters ---------------------------------------------------------------------------------------------------

enum { MAX_DEVICES = 1 + 16 };

static std::atomic<int64_t> live_bytes[MAX_DEVICES];
static std::atomic<int64_t> live_tensor_count;
static std::atomic<int64_t> allocations_until_failure;  // a test hook: 0 is never

int64_t memory_allocated(int32_t device) { return device >= 0 && device < MAX_DEVICES ? live_bytes[device].load() : 0; }
int64_t memory_reserved(int32_t device) { return device == CPU ? cpu_memory_reserved() : memory_allocated(device); }
int64_t live_tensors() { return live_tensor_count; }
void fail_allocation(int64_t countdown) { allocations_until_failure = countdown; }

static bool hook_fails() {
    return allocations_until_failure.load(std::memory_order_relaxed) > 0 && --allocations_until_failure == 0;
}

// ---- Allocation -------------------------------------------------------------------------------------------------

void* allocate(int64_t nbytes, int32_t device) {
    if (nbytes == 0) return nullptr;
    void* data = nullptr;
    if (!hook_fails()) data = kind_of(device) == CPU_KIND ? cpu_allocate(nbytes) : cuda_allocate(nbytes, device);
    if (!data)
        fail(MEMORY_ERROR, "could not allocate %lld bytes on %s (%lld are in use by norch)", (long long)nbytes,
             (const char*)device_text(device), (long long)memory_allocated(device));
    live_bytes[device] += nbytes;
    return data;
}

void release(void* data, int64_t nbytes, int32_t device) noexcept {
    if (!data) return;
    live_bytes[device] -= nbytes;
    if (kind_of(device) == CPU_KIND)
        cpu_release(data, nbytes);
    else
        cuda_release(data, nbytes, device);
}

void* allocate_object(size_t nbytes) {
    void* memory = hook_fails() ? nullptr : malloc(nbytes);
    if (!memory) fail(MEMORY_ERROR, "could not allocate %zu bytes for a tensor's description", nbytes);
    return memory;
}

void free_object(void* object) noexcept { free(object); }

Tensor* new_struct() {
    Tensor* tensor = new (allocate_object(sizeof(Tensor))) Tensor();
    live_tensor_count++;
    return tensor;
}

static Storage* new_description(int64_t nbytes, int32_t device) {
    Storage* storage = new (allocate_object(sizeof(Storage))) Storage();
    storage->references = 1;
    storage->nbytes = nbytes;
    storage->device = device;
    return storage;
}

Storage* new_storage(int64_t nbytes, int32_t device) {
    Storage* storage = new_description(nbytes, device);
    try {
        storage->data = allocate(nbytes, device);
    } catch (...) {
        free(storage);
        throw;
    }
    return storage;
}

// Memory of somebody else: not counted as norch's, and given back rather than freed.
Storage* new_storage_over(void* data, int64_t nbytes, int32_t device, bool read_only, ReleaseFunction release,
                          void* owner) {
    Storage* storage = new_description(nbytes, device);
    storage->data = data;
    storage->read_only = read_only;
    storage->release = release;
    storage->owner = owner;
    return storage;
}

void drop(Storage* storage) noexcept {
    if (!storage || --storage->references > 0) return;
    if (storage->release)
        storage->release(storage->owner);
    else
        release(storage->data, storage->nbytes, storage->device);
    free(storage);
}

void drop(Tensor* tensor) noexcept {
    if (!tensor) return;
    drop(tensor->storage);
    free(tensor);
    live_tensor_count--;
}

// ---- Errors -----------------------------------------------------------------------------------------------------

void fail(ErrorKind kind, const char* format, ...) {
    Error error;
    error.kind = kind;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error.message, sizeof error.message, format, arguments);
    va_end(arguments);
    throw error;
}

void fail_with(const Fault& fault, int64_t value) {
    const long long found = value, size = fault.size;
    switch (fault.kind) {
        case Fault::INDEX:
            fail(INDEX_ERROR, "index %lld is out of range for axis %d of size %lld (%s)", found, fault.axis, size,
                 fault.operation);
        case Fault::TARGET:
            fail(INDEX_ERROR, "%s: target %lld is out of range, expected 0 to %lld or ignore_index %lld",
                 fault.operation, found, size - 1, (long long)fault.ignored);
        default: fail(ZERO_DIVISION_ERROR, "%s: integer division or modulo by zero", fault.operation);
    }
}

Text shape_text(const int64_t* shape, int ndim) {
    Text text;
    int used = snprintf(text.chars, sizeof text.chars, "[");
    for (int d = 0; d < ndim && used < int(sizeof text.chars) - 24; d++)
        used += snprintf(text.chars + used, sizeof text.chars - used, d ? ", %lld" : "%lld", (long long)shape[d]);
    snprintf(text.chars + used, sizeof text.chars - used, "]");
    return text;
}

Text shape_text(const Tensor& tensor) { return shape_text(tensor.shape, tensor.ndim); }

Text device_text(int32_t device) {
    Text text;
    if (device == CPU)
        snprintf(text.chars, sizeof text.chars, "cpu");
    else
        snprintf(text.chars, sizeof text.chars, "cuda:%d", device - 1);
    return text;
}

const char* dtype_name(int32_t dtype) {
    static const char* const names[] = {"bool", "uint8", "int32", "int64", "float32", "float64"};
    return dtype >= 0 && dtype < DTYPE_COUNT ? names[dtype] : "unknown";
}

int64_t item_size(int32_t dtype) {
    static const int64_t sizes[] = {1, 1, 4, 8, 4, 8};
    if (dtype < 0 || dtype >= DTYPE_COUNT) fail(TYPE_ERROR, "unknown dtype number %d", dtype);
    return sizes[dtype];
}
