// Tensor and Storage structs and their memory: the one place that allocates, and the reference counts.

#include <new>

#include "core/allocator.h"
#include "cuda/backend.h"
#include "recording/recording.h"
#include "tensor.h"

// ---- Allocation --------------------------------------------------------------------------------------------------

enum { MAX_DEVICES = 1 + 16 };

static std::atomic<int64_t> cuda_bytes[MAX_DEVICES];  // in use on each device
static std::atomic<int64_t> countdown_to_failure;     // a test hook: 0 is never

int64_t bytes_in_use(int32_t device) {
    if (device == CPU) return counted(CPU_BYTES);
    return device > 0 && device < MAX_DEVICES ? cuda_bytes[device].load() : 0;
}

void fail_later(int64_t countdown) { countdown_to_failure = countdown; }

static bool fails_now() {
    return countdown_to_failure.load(std::memory_order_relaxed) > 0 && --countdown_to_failure == 0;
}

static void* allocate_cuda(int64_t nbytes, int32_t device) {
    void* data = cuda_allocate(nbytes, device);
    if (data) cuda_bytes[device] += nbytes;
    return data;
}

void* allocate(int64_t nbytes, int32_t device) {
    if (nbytes == 0) return nullptr;
    void* data = nullptr;
    if (!fails_now()) data = device == CPU ? cpu_allocate(nbytes, CPU_BYTES, nbytes) : allocate_cuda(nbytes, device);
    if (!data)
        fail(MEMORY_ERROR, "could not allocate {} bytes on {} ({} are in use by norch)", nbytes, device_text(device),
             bytes_in_use(device));
    return data;
}

void release(void* data, int64_t nbytes, int32_t device) noexcept {
    if (!data) return;
    if (device == CPU) return cpu_release(data, nbytes, CPU_BYTES, nbytes);
    cuda_bytes[device] -= nbytes;
    cuda_release(data, nbytes, device);
}

// Memory for a struct: `amount` is what it adds to a count.
static void* allocate_struct(int64_t nbytes, Count kind, int64_t amount) {
    void* memory = fails_now() ? nullptr : cpu_allocate(nbytes, kind, amount);
    if (!memory) fail(MEMORY_ERROR, "could not allocate {} bytes for a tensor's description", nbytes);
    return memory;
}

void* allocate_struct(int64_t nbytes) { return allocate_struct(nbytes, CPU_BYTES, 0); }
void free_struct(void* memory, int64_t nbytes) noexcept { cpu_release(memory, nbytes, CPU_BYTES, 0); }

// ---- Tensor ------------------------------------------------------------------------------------------------------

Tensor* new_struct() {
    Tensor* tensor =
        new (allocate_struct(sizeof(Tensor), TENSORS, 1)) Tensor;  // its shape stays unset, which is quicker
    tensor->data = nullptr;
    tensor->ndim = tensor->device = tensor->dtype = tensor->is_number = 0;
    tensor->size = tensor->offset = tensor->value.integer = 0;
    tensor->storage = nullptr;
    tensor->writes = nullptr;
    return tensor;
}

void drop(Writes* writes) noexcept {
    if (writes && --writes->references == 0) free_struct(writes, sizeof(Writes));
}

void drop(Tensor* tensor) noexcept {
    if (!tensor) return;
    drop(tensor->storage);
    drop(tensor->writes);
    cpu_release(tensor, sizeof(Tensor), TENSORS, 1);
}

// ---- Storage -----------------------------------------------------------------------------------------------------

// The elements of a small tensor lie behind its Storage, HEADER bytes on, in the same block.
enum { HEADER = 128, MAX_INLINE = 128 };
static_assert(sizeof(Storage) <= HEADER, "elements begin after the struct");

static void* inline_data(Storage* storage) { return reinterpret_cast<char*>(storage) + HEADER; }

static Storage* new_header(int64_t nbytes, int32_t device, int64_t inline_bytes) {
    Storage* storage = new (allocate_struct(HEADER + inline_bytes, CPU_BYTES, inline_bytes)) Storage();
    storage->references.store(1, std::memory_order_relaxed);
    storage->nbytes = nbytes;
    storage->device = device;
    return storage;
}

static void free_header(Storage* storage, int64_t inline_bytes) noexcept {
    cpu_release(storage, HEADER + inline_bytes, CPU_BYTES, inline_bytes);
}

Storage* new_storage(int64_t nbytes, int32_t device) {
    const bool is_inline = device == CPU && nbytes > 0 && nbytes <= MAX_INLINE;
    Storage* storage = new_header(nbytes, device, is_inline ? nbytes : 0);
    if (is_inline) {
        storage->data = inline_data(storage);
    } else {
        try {
            storage->data = allocate(nbytes, device);
        } catch (...) {
            free_header(storage, 0);
            throw;
        }
    }
    if (is_recording()) report_made(storage);
    return storage;
}

// Memory of another owner: not counted as norch's, and given back rather than freed.
Storage* new_storage_over(void* data, int64_t nbytes, int32_t device, bool read_only, ReleaseFunction release,
                          void* owner) {
    Storage* storage = new_header(nbytes, device, 0);
    storage->data = data;
    storage->read_only = read_only;
    storage->release = release;
    storage->owner = owner;
    return storage;
}

void drop(Storage* storage) noexcept {
    // the only reference cannot be taken by another thread meanwhile
    if (!storage || (storage->references.load(std::memory_order_acquire) != 1 && --storage->references > 0)) return;
    if (storage->mark) report_dropped(storage);
    const bool is_inline = storage->data == inline_data(storage);
    if (storage->release)
        storage->release(storage->owner);
    else if (!is_inline)
        release(storage->data, storage->nbytes, storage->device);
    free_header(storage, is_inline ? storage->nbytes : 0);
}
