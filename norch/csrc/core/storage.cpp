// Memory: the one place that allocates, the counters of what is alive, and the reference counts of Storage.

#include <new>
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
        fail(MEMORY_ERROR, "could not allocate {} bytes on {} ({} are in use by norch)", nbytes, device_text(device),
             memory_allocated(device));
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
    fail(MEMORY_ERROR, "could not allocate {} bytes for a tensor's description", nbytes);
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
