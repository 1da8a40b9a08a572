// What Python asks about errors, memory, threads and devices.

#include "api.h"
#include "core/allocator.h"
#include "cuda/backend.h"
#include "host/parallel.h"

int32_t error_kind() { return last_error().kind; }
const char* error_message() { return last_error().message; }

int64_t memory_allocated(int32_t device) { return bytes_in_use(device); }
int64_t memory_reserved(int32_t device) { return device == CPU ? cpu_memory_reserved() : bytes_in_use(device); }
int64_t live_tensors() { return counted(TENSORS); }
void empty_cache() { cpu_empty_cache(); }
void set_cache_limit(int64_t nbytes) { cpu_set_cache_limit(nbytes); }
void fail_allocation(int64_t countdown) { fail_later(countdown); }

int32_t get_num_threads() { return thread_count(); }
void set_num_threads(int32_t count) { set_thread_count(count); }
const char* instruction_set() { return chosen_instruction_set(); }
const char* instruction_set_error() { return instruction_set_complaint(); }

// ---- CUDA devices ------------------------------------------------------------------------------------------------

int32_t has_cuda() { return cuda_is_built(); }
int32_t device_count() { return cuda_device_count(); }
const char* why_no_cuda() { return cuda_unavailable(); }

const char* cuda_name(int32_t device) {
    static thread_local char name[256];
    int status = attempt([&] {
        check_device(device);
        cuda_device_name(device, name, sizeof name);
    });
    return status == 0 ? name : nullptr;
}

int cuda_numbers(int32_t device, int64_t* numbers) {
    return attempt([&] {
        check_device(device);
        cuda_device_numbers(device, numbers);
    });
}

int synchronize(int32_t device) {
    return attempt([&] {
        check_device(device);
        cuda_synchronize(device);
    });
}

uint64_t stream_of(int32_t device) {
    uint64_t stream = 0;
    attempt([&] {
        check_device(device);
        stream = cuda_stream(device);
    });
    return stream;
}

int let_stream_wait(int32_t device, uint64_t stream) {
    return attempt([&] {
        check_device(device);
        cuda_let_stream_wait(device, stream);
    });
}

void empty_device_cache() {
    attempt([] { cuda_empty_cache(); });
}
