// Devices, streams, errors and memory, for every launcher of cuda.cu.
//
// Each device has one stream. Work is queued on it and memory is reused in its order, so the host waits only when
// a value is read (cuda_to_cpu), and a block that is released while a kernel still uses it may be reused at once.
// What a kernel finds wrong, such as an index out of range, is raised when the host waits next.

#pragma once
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#include <map>
#include <mutex>
#include <vector>

#include "cuda/backend.h"

namespace {

// ---- Errors ------------------------------------------------------------------------------------------------------

void check(cudaError_t error, const char* operation) {
    if (error == cudaSuccess) return;
    cudaGetLastError();  // the next call must not report it again
    fail(error == cudaErrorMemoryAllocation ? MEMORY_ERROR : RUNTIME_ERROR, "{}: the CUDA driver reports: {} ({})", operation,
         cudaGetErrorString(error), cudaGetErrorName(error));
}

// After every launch: a kernel that could not start says so here, one that fails while it runs at the next copy.
void check_launch(const char* operation) { check(cudaGetLastError(), operation); }

// ---- Devices -----------------------------------------------------------------------------------------------------

enum { MAX_CUDA_DEVICES = 16 };

struct Installed {
    int count = 0;
    char reason[320] = "";  // why there is none
};

// Asked once: any error, and a missing driver is one, means that there are no devices.
const Installed& installed() {
    static const Installed found = [] {
        Installed devices;
        int count = 0;
        cudaError_t error = cudaGetDeviceCount(&count);
        if (error == cudaSuccess && count > 0) {
            devices.count = count < MAX_CUDA_DEVICES ? count : int(MAX_CUDA_DEVICES);
            return devices;
        }
        cudaGetLastError();
        snprintf(devices.reason, sizeof devices.reason,
                 "norch was built with CUDA, but the driver reports: %s (%s); check the NVIDIA driver with nvidia-smi, or "
                 "stay on device \"cpu\"",
                 error == cudaSuccess ? "no CUDA-capable device" : cudaGetErrorString(error), cudaGetErrorName(error));
        return devices;
    }();
    return found;
}

// Idle blocks of memory by size. cudaMalloc would wait for the whole device; a block from here costs nothing.
struct Device {
    std::mutex mutex;
    cudaStream_t stream = nullptr;
    Fault* fault = nullptr;  // what the first kernel found wrong, in memory of the host that the device sees
    std::map<int64_t, std::vector<void*>> idle;
};

// Never destroyed: tensors may outlive everything else when the process ends.
Device& device_at(int32_t number) {
    static Device* const devices = new Device[MAX_CUDA_DEVICES];
    return devices[number - 1];
}

}  // namespace

// Launches that run as one. Its kernels work in blocks of its own, as it writes to the same addresses each time.
struct CudaGraph {
    int32_t device;
    std::map<int64_t, std::vector<void*>> idle;
    cudaStream_t stream = nullptr;  // while it is captured
    cudaGraphExec_t made = nullptr;
};

namespace {

thread_local CudaGraph* entered;  // what this thread launches belongs to it

// Makes a device the one that launches go to; returns its stream.
cudaStream_t use(int32_t number) {
    check(cudaSetDevice(number - 1), "cudaSetDevice");
    if (entered && entered->stream) return entered->stream;
    Device& device = device_at(number);
    std::lock_guard<std::mutex> lock(device.mutex);
    if (device.stream) return device.stream;
    if (!device.fault) {
        void* memory;
        check(cudaHostAlloc(&memory, sizeof(Fault), cudaHostAllocMapped), "cudaHostAlloc");
        device.fault = new (memory) Fault();
    }
    check(cudaStreamCreateWithFlags(&device.stream, cudaStreamNonBlocking), "cudaStreamCreate");
    return device.stream;
}

// ---- Faults that kernels find ------------------------------------------------------------------------------------

// For a kernel that may call report(); the device is in use.
Fault* fault_of(int32_t number) { return device_at(number).fault; }

// Notes a fault for the host; of several, one.
__device__ void report(Fault* place, const Fault& fault, int64_t value) {
    if (atomicCAS(&place->kind, int32_t(Fault::NONE), fault.kind) != Fault::NONE) return;
    place->axis = fault.axis;
    place->operation = fault.operation;
    place->size = fault.size;
    place->ignored = fault.ignored;
    place->value = value;
}

// Waits for all work queued on a device, and fails with what a kernel found wrong.
void wait_for(int32_t number, const char* operation) {
    check(cudaStreamSynchronize(use(number)), operation);
    volatile int32_t& kind = device_at(number).fault->kind;
    if (kind == Fault::NONE) return;
    const Fault found = *device_at(number).fault;
    kind = Fault::NONE;
    fail_with(found, found.value);
}

// ---- Memory ------------------------------------------------------------------------------------------------------

// With NORCH_CUDA_CACHE=0 every tensor has its own memory of exact size, for tools that check bounds.
bool cache_enabled() {
    static const bool enabled = [] {
        const char* setting = getenv("NORCH_CUDA_CACHE");
        return !setting || setting[0] != '0';
    }();
    return enabled;
}

// Sizes are rounded up to eighths of a power of two, so that blocks fit again and at most an eighth is wasted.
int64_t block_size(int64_t nbytes) {
    if (!cache_enabled()) return nbytes;
    int64_t step = 512;
    while (step * 16 <= nbytes) step *= 2;
    return (nbytes + step - 1) / step * step;
}

void* last_of(std::map<int64_t, std::vector<void*>>& idle, int64_t size) {
    auto found = idle.find(size);
    if (found == idle.end() || found->second.empty()) return nullptr;
    void* data = found->second.back();
    found->second.pop_back();
    return data;
}

void* take_idle(Device& device, int64_t size) {
    std::lock_guard<std::mutex> lock(device.mutex);
    return last_of(device.idle, size);
}

// Gives idle blocks back to the driver. cudaFree waits for kernels that still use them.
void free_idle(Device& device) {
    std::lock_guard<std::mutex> lock(device.mutex);
    for (auto& blocks : device.idle)
        for (void* data : blocks.second) cudaFree(data);
    device.idle.clear();
}

// Memory of the device that a launcher needs for the kernels it queues.
template <class T>
struct DeviceScratch {
    T* data;
    int64_t nbytes;
    int32_t device;
    DeviceScratch(int64_t count, int32_t device)
        : data(static_cast<T*>(allocate(count * int64_t(sizeof(T)), device))),
          nbytes(count * int64_t(sizeof(T))),
          device(device) {}
    ~DeviceScratch() { release(data, nbytes, device); }
    DeviceScratch(const DeviceScratch&) = delete;
    DeviceScratch& operator=(const DeviceScratch&) = delete;
};

size_t bytes_of(const Tensor& tensor) { return size_t(tensor.size * item_size(tensor.dtype)); }

// An event that is destroyed when an exception passes: what one stream waits for and another one reaches.
struct Event {
    cudaEvent_t event = nullptr;
    Event() { check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate"); }
    ~Event() { cudaEventDestroy(event); }
    Event(const Event&) = delete;
};

}  // namespace

bool cuda_is_built() { return true; }
int cuda_device_count() { return installed().count; }
const char* cuda_unavailable() { return installed().reason; }

void cuda_device_name(int32_t number, char* name, int64_t capacity) {
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, number - 1), "cudaGetDeviceProperties");
    snprintf(name, size_t(capacity), "%s", properties.name);
}

void cuda_device_numbers(int32_t number, int64_t* numbers) {
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, number - 1), "cudaGetDeviceProperties");
    size_t idle = 0, total = 0;
    use(number);
    check(cudaMemGetInfo(&idle, &total), "cudaMemGetInfo");
    const int64_t found[] = {properties.major, properties.minor, properties.multiProcessorCount, properties.warpSize,
                             int64_t(total),   int64_t(idle)};
    std::copy(std::begin(found), std::end(found), numbers);
}

void cuda_synchronize(int32_t number) { wait_for(number, "synchronize"); }

uint64_t cuda_stream(int32_t number) { return uint64_t(intptr_t(use(number))); }

// 1 and 2 are CUDA's numbers for its two default streams.
void cuda_let_stream_wait(int32_t number, uint64_t stream) {
    cudaStream_t from = use(number);
    Event computed;
    check(cudaEventRecord(computed.event, from), "dlpack");
    check(cudaStreamWaitEvent(reinterpret_cast<cudaStream_t>(intptr_t(stream)), computed.event, 0), "dlpack");
}

void cuda_empty_cache() {
    for (int32_t number = 1; number <= cuda_device_count(); number++) {
        use(number);
        free_idle(device_at(number));
    }
}

void* cuda_allocate(int64_t nbytes, int32_t number) {
    use(number);
    Device& device = device_at(number);
    const int64_t size = block_size(nbytes);
    if (entered)
        if (void* data = last_of(entered->idle, size)) return data;
    if (entered && entered->stream) fail(RUNTIME_ERROR, "a graph needs other memory than its rehearsal");
    void* data = take_idle(device, size);
    if (data) return data;
    cudaError_t error = cudaMalloc(&data, size_t(size));
    if (error == cudaErrorMemoryAllocation) {  // what lies idle may be enough
        cudaGetLastError();
        free_idle(device);
        error = cudaMalloc(&data, size_t(size));
    }
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        return nullptr;
    }
    check(error, "cudaMalloc");
    return data;
}

void cuda_release(void* data, int64_t nbytes, int32_t number) noexcept {
    Device& device = device_at(number);
    if (entered) {
        try {
            entered->idle[block_size(nbytes)].push_back(data);
            return;
        } catch (...) {
        }
    }
    if (cache_enabled()) {
        try {
            std::lock_guard<std::mutex> lock(device.mutex);
            device.idle[block_size(nbytes)].push_back(data);
            return;
        } catch (...) {
        }  // no memory to remember the block: let it go
    }
    cudaSetDevice(number - 1);
    cudaFree(data);
}

// The driver takes a copy of ordinary host memory before it returns: the source may change at once.
void cpu_to_cuda(const Tensor& source, Tensor& target) {
    cudaStream_t stream = use(target.device);
    check(cudaMemcpyAsync(target.data, source.data, bytes_of(source), cudaMemcpyHostToDevice, stream), "cpu_to_cuda");
}

// The one place where the host waits for the device.
void cuda_to_cpu(const Tensor& source, Tensor& target) {
    cudaStream_t stream = use(source.device);
    check(cudaMemcpyAsync(target.data, source.data, bytes_of(source), cudaMemcpyDeviceToHost, stream), "cuda_to_cpu");
    wait_for(source.device, "cuda_to_cpu");
}

// The copy waits until the source is computed; the source's stream waits for the copy, as its memory may be reused.
void cuda_to_cuda(const Tensor& source, Tensor& target) {
    cudaStream_t from = use(source.device);
    Event computed;
    check(cudaEventRecord(computed.event, from), "cuda_to_cuda");
    cudaStream_t to = use(target.device);
    Event copied;  // an event belongs to the device that is in use when it is made
    check(cudaStreamWaitEvent(to, computed.event, 0), "cuda_to_cuda");
    check(cudaMemcpyPeerAsync(target.data, target.device - 1, source.data, source.device - 1, bytes_of(source), to),
          "cuda_to_cuda");
    check(cudaEventRecord(copied.event, to), "cuda_to_cuda");
    check(cudaStreamWaitEvent(from, copied.event, 0), "cuda_to_cuda");
}
