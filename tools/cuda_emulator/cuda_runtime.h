// A stand-in for NVIDIA's <cuda_runtime.h>, with which a C++ compiler builds and runs a .cu file without a GPU.
//
// Blocks run one after another on one thread of the host; the threads of a block are fibers that take turns at
// __syncthreads(). translate.py rewrites the two things that are not C++: kernel<<<...>>>(...) and __shared__.
// Only what ordinary kernels need is here: no warp intrinsics, no streams that really run beside each other.

#pragma once
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <type_traits>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) alignas(bytes)

// ---- Types ------------------------------------------------------------------------------------------------------

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

enum cudaError_t {  // numbered as in CUDA
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidMemcpyDirection = 21,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorIllegalState = 401,
    cudaErrorLaunchOutOfResources = 701,
    cudaErrorStreamCaptureUnsupported = 900,
    cudaErrorStreamCaptureInvalidated = 901
};
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2, cudaHostAllocMapped = 2, cudaHostAllocPortable = 1 };
struct cudaDeviceProp {
    char name[256];
    int major, minor, multiProcessorCount, warpSize;
};
using cudaStream_t = struct EmulatedStream*;
using cudaEvent_t = struct EmulatedEvent*;
using cudaGraph_t = struct EmulatedGraph*;
using cudaGraphExec_t = struct EmulatedGraphExec*;
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed };

// ---- The runtime's functions ------------------------------------------------------------------------------------

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaMemGetInfo(size_t* idle, size_t* total);
cudaError_t cudaMalloc(void** data, size_t bytes);
cudaError_t cudaHostAlloc(void** data, size_t bytes, unsigned flags);
cudaError_t cudaFree(void* data);
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                                cudaStream_t stream);
cudaError_t cudaMemsetAsync(void* data, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* made, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t made, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t made);
cudaError_t cudaGetLastError();
const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);

// ---- What a kernel sees -----------------------------------------------------------------------------------------

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

inline uint32_t __umulhi(uint32_t x, uint32_t y) { return uint32_t(uint64_t(x) * y >> 32); }

namespace emulator {

void* shared(const void* variable, size_t bytes);  // this block's copy of a __shared__ variable
void* dynamic_shared();                            // this block's extern __shared__ array
void barrier(const char* file, int line);
void check_pointer(const void* pointer);  // what a kernel is given must be memory of its device

struct Configuration {
    const char* kernel;
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
};

// What each thread of a launch calls: a closure of the kernel and its arguments, whose bytes are all that is copied.
struct Work {
    void (*call)(const void* closure);
    const void* closure;
    size_t bytes;
};

// Runs it, or makes it a node of the graph if the stream is captured.
void start(const Configuration& configuration, const Work& work);

// A kernel with its grid, to be called with the kernel's arguments. There are thousands: what does not depend on their
// types is in emulator.cpp.
template <class Kernel>
struct Launch {
    Configuration configuration;
    Kernel kernel;

    template <class... Arguments>
    void operator()(Arguments... arguments) const {
        (check(arguments), ...);
        const auto closure = [=, kernel = kernel] { kernel(arguments...); };
        static_assert(std::is_trivially_copyable<decltype(closure)>::value, "kernel arguments are copied byte by byte");
        const auto call = [](const void* bytes) { (*static_cast<decltype(&closure)>(bytes))(); };
        start(configuration, {call, &closure, sizeof closure});
    }
    template <class T>
    static void check(const T& argument) {
        if constexpr (std::is_pointer<T>::value) check_pointer(argument);
    }
};

template <class Kernel>
Launch<Kernel> launch(const char* name, Kernel kernel, dim3 grid, dim3 block, size_t shared_bytes = 0,
                      cudaStream_t stream = nullptr) {
    return {{name, grid, block, shared_bytes, stream}, kernel};
}

// What atomic functions do, so that ThreadSanitizer knows it for atomic.
template <class T, class F>
T update(T* place, F f) {
    using Word = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    static_assert(sizeof(T) == sizeof(Word), "atomics of 4 and 8 bytes");
    Word* word = reinterpret_cast<Word*>(place);
    Word before = __atomic_load_n(word, __ATOMIC_RELAXED), after;
    T old;
    do {
        memcpy(&old, &before, sizeof old);
        const T value = f(old);
        memcpy(&after, &value, sizeof value);
    } while (!__atomic_compare_exchange_n(word, &before, after, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return old;
}

}  // namespace emulator

#define __syncthreads() emulator::barrier(__FILE__, __LINE__)

template <class T>
T atomicAdd(T* place, T value) {
    return emulator::update(place, [=](T old) { return T(old + value); });
}
template <class T>
T atomicMax(T* place, T value) {
    return emulator::update(place, [=](T old) { return old < value ? value : old; });
}
template <class T>
T atomicMin(T* place, T value) {
    return emulator::update(place, [=](T old) { return value < old ? value : old; });
}
template <class T>
T atomicCAS(T* place, T expected, T value) {
    return emulator::update(place, [=](T old) { return old == expected ? value : old; });
}
