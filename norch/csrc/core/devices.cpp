// Devices by number: 0 is the CPU, 1 + i is cuda:i.

#include <stdio.h>

#include "cuda/backend.h"
#include "tensor.h"

Text device_text(int32_t device) {
    Text text;
    snprintf(text.chars, sizeof text.chars, device == CPU ? "cpu" : "cuda:%d", device - 1);
    return text;
}

void check_device(int32_t device) {
    if (device == CPU) return;
    if (cuda_device_count() == 0)
        fail(RUNTIME_ERROR, "{} is not available: {}", device_text(device), cuda_unavailable());
    if (device < 0 || device > cuda_device_count())
        fail(RUNTIME_ERROR, "no device {}: there are {} CUDA devices", device_text(device), cuda_device_count());
}
