// Memory: the one place that allocates, the counters of what is alive, and the reference counts of Storage.

#include <new>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/allocator.h"
#include "api.h"
#include "cuda/backend.h"

// ---- Counters ---------------------------------------------------------------------------------------------------

enum { MAX_DEVICES = 1 + 16 };

static std::atomic<int64_t> device_bytes[MAX_DEVICES];  // alive; those of the CPU are counted by thread
static std::atomic<int64_t> allocations_until_failure;  // a test hook: 0 is never

int64_t memory_allocated(int32_t device) {
    if (device == CPU) return counted(CPU_BYTES);
    return device > 0 && device < MAX_DEVICES ? device_bytes[device].load() : 0;
}
int64_t memory_reserved(int32_t device) { return device == CPU ? cpu_memory_reserved() : memory_allocated(device); }
int64_t live_tensors() { return counted(TENSORS); }
void fail_allocation(int64_t countdown) { allocations_until_failure = countdown; }

static void count_bytes(int32_t device, int64_t change) noexcept {
    if (device == CPU)
        thread_memory().count(CPU_BYTES, change);
    else
        device_bytes[device] += change;
}

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
    count_bytes(device, nbytes);
    return data;
}

void release(void* data, int64_t nbytes, int32_t device) noexcept {
    if (!data) return;
    count_bytes(device, -nbytes);
    if (kind_of(device) == CPU_KIND)
        cpu_release(data, nbytes);
    else
        cuda_release(data, nbytes, device);
}

static void refuse_object(size_t nbytes) {
    fail(MEMORY_ERROR, "could not allocate %zu bytes for a tensor's description", nbytes);
}

void* allocate_object(size_t nbytes) {
    void* memory = hook_fails() ? nullptr : malloc(nbytes);
    if (!memory) refuse_object(nbytes);
    return memory;
}

void free_object(void* object) noexcept { free(object); }

// ---- Tensor and Storage -----------------------------------------------------------------------------------------

// A small block holds a Tensor, or a Storage and, HEADER bytes on, the elements of a small tensor.
enum { HEADER = 128, SMALL_DATA = SMALL_BLOCK - HEADER };
static_assert(sizeof(Tensor) <= SMALL_BLOCK && sizeof(Storage) <= HEADER, "they fit into small blocks");

static void* new_block(ThreadMemory& memory, size_t nbytes) {
    void* block = hook_fails() ? nullptr : memory.take(nbytes);
    if (!block) refuse_object(nbytes);
    return block;
}

Tensor* new_struct() {
    ThreadMemory& memory = thread_memory();
    Tensor* tensor = new (new_block(memory, sizeof(Tensor))) Tensor;  // not its shape: to clear all takes longer
    tensor->data = nullptr;
    tensor->ndim = tensor->device = tensor->dtype = tensor->is_number = 0;
    tensor->size = tensor->offset = tensor->value.integer = 0;
    tensor->storage = nullptr;
    memory.count(TENSORS, 1);
    return tensor;
}

static Storage* new_description(ThreadMemory& memory, int64_t nbytes, int32_t device, int64_t inline_bytes) {
    Storage* storage = new (new_block(memory, size_t(HEADER + inline_bytes))) Storage();
    storage->references.store(1, std::memory_order_relaxed);
    storage->nbytes = nbytes;
    storage->device = device;
    return storage;
}

static void* inline_data(Storage* storage) { return reinterpret_cast<char*>(storage) + HEADER; }

Storage* new_storage(int64_t nbytes, int32_t device) {
    const bool is_small = device == CPU && nbytes > 0 && nbytes <= SMALL_DATA;
    ThreadMemory& memory = thread_memory();
    Storage* storage = new_description(memory, nbytes, device, is_small ? nbytes : 0);
    if (is_small) {
        storage->data = inline_data(storage);
        memory.count(CPU_BYTES, nbytes);
        memory.count(SMALL_BYTES, nbytes);
        return storage;
    }
    try {
        storage->data = allocate(nbytes, device);
    } catch (...) {
        memory.put(storage);
        throw;
    }
    return storage;
}

// Memory of somebody else: not counted as norch's, and given back rather than freed.
Storage* new_storage_over(void* data, int64_t nbytes, int32_t device, bool read_only, ReleaseFunction release,
                          void* owner) {
    Storage* storage = new_description(thread_memory(), nbytes, device, 0);
    storage->data = data;
    storage->read_only = read_only;
    storage->release = release;
    storage->owner = owner;
    return storage;
}

static void drop(Storage* storage, ThreadMemory& memory) noexcept {
    // the only reference cannot be taken by another thread meanwhile
    if (!storage || (storage->references.load(std::memory_order_acquire) != 1 && --storage->references > 0)) return;
    if (storage->release) {
        storage->release(storage->owner);
    } else if (storage->data == inline_data(storage)) {
        memory.count(CPU_BYTES, -storage->nbytes);
        memory.count(SMALL_BYTES, -storage->nbytes);
    } else {
        release(storage->data, storage->nbytes, storage->device);
    }
    memory.put(storage);
}

void drop(Storage* storage) noexcept { drop(storage, thread_memory()); }

void drop(Tensor* tensor) noexcept {
    if (!tensor) return;
    ThreadMemory& memory = thread_memory();
    drop(tensor->storage, memory);
    memory.put(tensor);
    memory.count(TENSORS, -1);
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
