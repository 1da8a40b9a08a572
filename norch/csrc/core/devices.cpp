// Devices by number, and what Python asks about them.

#include <stdio.h>

#include "api.h"
#include "cuda/backend.h"

Text device_text(int32_t device) {
    Text text;
    if (device == CPU)
        snprintf(text.chars, sizeof text.chars, "cpu");
    else
        snprintf(text.chars, sizeof text.chars, "cuda:%d", device - 1);
    return text;
}

int32_t device_count() { return cuda_device_count(); }
const char* why_no_cuda() { return cuda_unavailable(); }

void check_device(int32_t device) {
    if (device == CPU) return;
    if (cuda_device_count() == 0)
        fail(RUNTIME_ERROR, "{} is not available: {}", device_text(device), cuda_unavailable());
    if (device < 0 || device > cuda_device_count())
        fail(RUNTIME_ERROR, "no device {}: there are {} CUDA devices", device_text(device), cuda_device_count());
}

int32_t has_cuda() { return cuda_is_built(); }

const char* cuda_name(int32_t device) {
    static thread_local char name[256];
    int status = attempt([&] {
        check_device(device);
        cuda_device_name(device, name, sizeof name);
    });
    return status == 0 ? name : nullptr;
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
