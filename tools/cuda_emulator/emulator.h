// What the parts of the emulator share: emulator.cpp runs kernels, memory.cpp keeps account of memory and of calls,
// graphs.cpp captures both.

#pragma once
#include <functional>
#include <vector>

#include "cuda_runtime.h"

#ifdef EMULATOR_THREAD
extern "C" void AnnotateIgnoreWritesBegin(const char* file, int line);
extern "C" void AnnotateIgnoreWritesEnd(const char* file, int line);
#endif

namespace emulator {

extern int current_device;
extern bool in_kernel;

const char* setting(const char* name, const char* otherwise);  // of the environment
[[noreturn]] void stop(const char* what, const char* file = nullptr, int line = 0);
cudaError_t remember(cudaError_t error);  // for cudaGetLastError
void count_call(const char* name);
uint64_t identity_of(const void* pointer);  // of the allocation that it points into; 0 for other memory

// graphs.cpp: work that a stream which is captured gets does not run, but becomes a node of the graph, with the words of
// its arguments, among which are the addresses that it reads and writes.
bool is_captured(cudaStream_t stream);
void capture(const char* name, cudaStream_t stream, std::vector<uintptr_t> words,
             std::function<void(cudaStream_t stream)> work);

// What a capture does not allow fails, and with it the capture.
bool forbidden_while_captured();             // for calls that belong to no stream
cudaError_t forbidden(cudaStream_t stream);  // which is captured

// Streams and events are numbers (memory.cpp); 0 for the default stream.
template <class Handle>
int device_of(Handle handle) {
    return int(intptr_t(handle) & 0xff);
}

// Filled by a loop of our own: sanitizers watch memset. What is written here is no part of any race.
inline void fill(char* data, int value, size_t bytes) {
    const uint64_t word = 0x0101010101010101u * uint8_t(value);
    for (; bytes >= sizeof word; bytes -= sizeof word, data += sizeof word) *reinterpret_cast<volatile uint64_t*>(data) = word;
    for (volatile char* place = data; bytes > 0; bytes--) *place++ = char(value);
}

// What the emulator's own malloc and free do is no part of any race either.
inline void ignore_writes(bool ignore) {
#ifdef EMULATOR_THREAD
    ignore ? AnnotateIgnoreWritesBegin(__FILE__, __LINE__) : AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
#else
    (void)ignore;
#endif
}

// While one lives, the host may touch memory of the device: a kernel runs or the driver copies.
struct Exposed {
    Exposed();
    ~Exposed();
};

}  // namespace emulator
