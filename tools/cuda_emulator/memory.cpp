// Behind cuda_runtime.h: the functions of CUDA's runtime, and an account of the memory of the devices.
//
// Memory is of exact size, full of NaNs, and nothing that the host may touch: in an AddressSanitizer build it is poisoned
// while no kernel runs. Devices and their memory come from the environment: NORCH_EMULATOR_DEVICES, _MEMORY (bytes).

#include "emulator.h"

#include <stdio.h>
#include <stdlib.h>

#include <map>
#include <string>

#ifdef EMULATOR_ADDRESS
#include <sanitizer/asan_interface.h>
#endif

int emulator::current_device;
bool emulator::in_kernel;

using namespace emulator;

namespace {

enum { GUARD = 64, GUARD_BYTE = 0xa5 };  // behind each allocation, to see stores past its end without a sanitizer
enum { PINNED = -1 };                    // memory of the host that every device sees

struct Allocation {
    size_t bytes;
    int device;
    uint64_t identity;  // no later allocation at this address has it
};

struct Memory {
    std::map<char*, Allocation> blocks;  // by address
    std::map<int, size_t> used;          // by device
};
// Never destroyed: memory may be released until the very end.
Memory& memory() {
    static Memory* const all = new Memory;
    return *all;
}
std::map<std::string, int64_t>& calls() {
    static auto* const all = new std::map<std::string, int64_t>;
    return *all;
}

cudaError_t last_error;

int device_count() { return atoi(setting("NORCH_EMULATOR_DEVICES", "2")); }

// The allocation that a pointer points into, or its end; null for ordinary memory of the host.
const std::pair<char* const, Allocation>* allocation_of(const void* pointer) {
    char* address = static_cast<char*>(const_cast<void*>(pointer));
    auto next = memory().blocks.upper_bound(address);
    if (next == memory().blocks.begin()) return nullptr;
    const auto& found = *--next;
    return address <= found.first + found.second.bytes ? &found : nullptr;
}

bool is_on_device(const void* pointer) {
    const auto* found = allocation_of(pointer);
    return found && found->second.device != PINNED;
}

bool lies_within(const void* pointer, size_t bytes) {
    const auto* found = allocation_of(pointer);
    return found && static_cast<const char*>(pointer) + bytes <= found->first + found->second.bytes;
}

void expose(bool visible) {
#ifdef EMULATOR_ADDRESS
    for (auto& block : memory().blocks) {
        if (block.second.device == PINNED) continue;
        if (visible)
            __asan_unpoison_memory_region(block.first, block.second.bytes);
        else
            __asan_poison_memory_region(block.first, block.second.bytes);
    }
#else
    (void)visible;
#endif
}

size_t guard_bytes() {
#ifdef EMULATOR_ADDRESS
    return 0;  // its own red zones see more
#else
    return GUARD;
#endif
}

void check_guard(const std::pair<char* const, Allocation>& block) {
    for (size_t i = 0; i < guard_bytes(); i++)
        if (static_cast<unsigned char>(block.first[block.second.bytes + i]) != GUARD_BYTE)
            stop("a kernel wrote past the end of an allocation");
}

cudaError_t new_block(void** data, size_t bytes, int device) {
    if (posix_memalign(data, 256, bytes + guard_bytes())) return remember(cudaErrorMemoryAllocation);
    char* block = static_cast<char*>(*data);
    fill(block, 0xff, bytes);
    fill(block + bytes, GUARD_BYTE, guard_bytes());
    static uint64_t identities;
    memory().blocks[block] = {bytes, device, ++identities};
    memory().used[device] += bytes;
    return cudaSuccess;
}

}  // namespace

// ---- What both halves use ---------------------------------------------------------------------------------------

namespace emulator {

const char* setting(const char* name, const char* otherwise) {
    const char* value = getenv(name);
    return value && *value ? value : otherwise;
}

void stop(const char* what, const char* file, int line) {
    fprintf(stderr, "cuda emulator: %s", what);
    if (file) fprintf(stderr, " at %s:%d", file, line);
    fprintf(stderr, " [block (%u, %u, %u), thread (%u, %u, %u)]\n", blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x,
            threadIdx.y, threadIdx.z);
    abort();
}

cudaError_t remember(cudaError_t error) {
    if (error) last_error = error;
    return error;
}

void count_call(const char* name) { calls()[name]++; }

Exposed::Exposed() { expose(true); }
Exposed::~Exposed() { expose(false); }

void check_pointer(const void* pointer) {
    if (!pointer) return;
    const auto* found = allocation_of(pointer);
    if (!found) stop("a kernel was given a pointer to memory of the host");
    if (found->second.device != current_device && found->second.device != PINNED)
        stop("a kernel was given a pointer to memory of another device");
}

uint64_t identity_of(const void* pointer) {
    const auto* found = allocation_of(pointer);
    return found ? found->second.identity : 0;
}

}  // namespace emulator

// For tests: how many allocations the library has not given back, and how often it called a function of the runtime.
// Kernels count as "launch", copies by their direction: "cudaMemcpyDeviceToHost".
#define VISIBLE extern "C" __attribute__((visibility("default")))
VISIBLE int64_t emulator_allocations() { return int64_t(memory().blocks.size()); }
VISIBLE int64_t emulator_calls(const char* name) { return calls()[name]; }

// ---- Devices ----------------------------------------------------------------------------------------------------

cudaError_t cudaGetDeviceCount(int* count) {
    *count = device_count();
    return *count ? cudaSuccess : remember(cudaErrorNoDevice);
}

cudaError_t cudaSetDevice(int device) {
    if (device < 0 || device >= device_count()) return remember(cudaErrorInvalidDevice);
    current_device = device;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    if (device < 0 || device >= device_count()) return remember(cudaErrorInvalidDevice);
    snprintf(properties->name, sizeof properties->name, "CUDA emulator");
    properties->major = 8;
    properties->minor = 0;
    properties->multiProcessorCount = 1;
    properties->warpSize = 32;
    return cudaSuccess;
}

// ---- Memory -----------------------------------------------------------------------------------------------------

static size_t capacity() { return size_t(atoll(setting("NORCH_EMULATOR_MEMORY", "1073741824"))); }

cudaError_t cudaMemGetInfo(size_t* idle, size_t* total) {
    *total = capacity();
    const size_t used = memory().used[current_device];
    *idle = used < *total ? *total - used : 0;
    return cudaSuccess;
}

cudaError_t cudaMalloc(void** data, size_t bytes) {
    count_call("cudaMalloc");
    *data = nullptr;
    if (forbidden_while_captured()) return remember(cudaErrorStreamCaptureUnsupported);
    if (!bytes) return cudaSuccess;
    const size_t limit = capacity();
    const size_t used = memory().used[current_device];
    if (bytes > limit || used > limit - bytes) return remember(cudaErrorMemoryAllocation);
    const cudaError_t error = new_block(data, bytes, current_device);
    expose(false);
    return error;
}

cudaError_t cudaHostAlloc(void** data, size_t bytes, unsigned) { return new_block(data, bytes, PINNED); }

cudaError_t cudaFree(void* data) {
    if (!data) return cudaSuccess;
    count_call("cudaFree");
    if (forbidden_while_captured()) return remember(cudaErrorStreamCaptureUnsupported);
    auto found = memory().blocks.find(static_cast<char*>(data));
    if (found == memory().blocks.end()) return remember(cudaErrorInvalidValue);
    check_guard(*found);
    memory().used[found->second.device] -= found->second.bytes;
#ifdef EMULATOR_ADDRESS
    __asan_unpoison_memory_region(found->first, found->second.bytes);
#endif
    memory().blocks.erase(found);
    free(data);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    static const char* const names[] = {"cudaMemcpyHostToHost", "cudaMemcpyHostToDevice", "cudaMemcpyDeviceToHost",
                                        "cudaMemcpyDeviceToDevice"};
    if (is_captured(stream)) {
        if (kind != cudaMemcpyDeviceToDevice) return forbidden(stream);  // the host's memory may be other memory then
        capture("cudaMemcpyAsync", stream, {uintptr_t(to), uintptr_t(from)},
                [=](cudaStream_t in) { cudaMemcpyAsync(to, from, bytes, kind, in); });
        return cudaSuccess;
    }
    count_call(names[kind]);
    const bool to_device = is_on_device(to), from_device = is_on_device(from);
    const bool should_be_to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool should_be_from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (to_device != should_be_to || from_device != should_be_from) return remember(cudaErrorInvalidMemcpyDirection);
    if ((to_device && !lies_within(to, bytes)) || (from_device && !lies_within(from, bytes)))
        return remember(cudaErrorInvalidValue);
    Exposed device_memory;
    memmove(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes, cudaStream_t) {
    const auto *target = allocation_of(to), *source = allocation_of(from);
    if (!target || !source || target->second.device != to_device || source->second.device != from_device)
        return remember(cudaErrorInvalidDevice);
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, nullptr);
}

cudaError_t cudaMemsetAsync(void* data, int value, size_t bytes, cudaStream_t stream) {
    if (is_captured(stream)) {
        capture("cudaMemsetAsync", stream, {uintptr_t(data)},
                [=](cudaStream_t in) { cudaMemsetAsync(data, value, bytes, in); });
        return cudaSuccess;
    }
    if (!lies_within(data, bytes)) return remember(cudaErrorInvalidValue);
    Exposed device_memory;
    fill(static_cast<char*>(data), value, bytes);
    return cudaSuccess;
}

// ---- Streams and events: numbers, of which the last byte is that of the device in use when they were made --------

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
    static std::map<int, intptr_t> made;  // by device
    *stream = reinterpret_cast<cudaStream_t>(made[current_device]++ << 8 | (current_device + 1));
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
    *event = reinterpret_cast<cudaEvent_t>(intptr_t(current_device + 1));
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    if (is_captured(stream)) return forbidden(stream);  // CUDA orders captures by events, which the emulator does not
    return device_of(event) == device_of(stream) ? cudaSuccess : remember(cudaErrorInvalidResourceHandle);
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    if (is_captured(stream)) return forbidden(stream);
    count_call("cudaStreamSynchronize");
    return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
    count_call("cudaStreamWaitEvent");
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }

// ---- Errors -----------------------------------------------------------------------------------------------------

cudaError_t cudaGetLastError() {
    const cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

const char* cudaGetErrorName(cudaError_t error) {
    switch (error) {
        case cudaSuccess: return "cudaSuccess";
        case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
        case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
        case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
        case cudaErrorInvalidMemcpyDirection: return "cudaErrorInvalidMemcpyDirection";
        case cudaErrorNoDevice: return "cudaErrorNoDevice";
        case cudaErrorInvalidDevice: return "cudaErrorInvalidDevice";
        case cudaErrorInvalidResourceHandle: return "cudaErrorInvalidResourceHandle";
        case cudaErrorIllegalState: return "cudaErrorIllegalState";
        case cudaErrorLaunchOutOfResources: return "cudaErrorLaunchOutOfResources";
        case cudaErrorStreamCaptureUnsupported: return "cudaErrorStreamCaptureUnsupported";
        case cudaErrorStreamCaptureInvalidated: return "cudaErrorStreamCaptureInvalidated";
    }
    return "cudaErrorUnknown";
}

const char* cudaGetErrorString(cudaError_t error) {
    return error == cudaErrorNoDevice ? "no CUDA-capable device is detected" : cudaGetErrorName(error);
}
