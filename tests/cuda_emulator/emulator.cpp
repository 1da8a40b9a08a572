// Behind cuda_runtime.h: fibers for the threads of a block, and a bookkeeping of device memory.
//
// What a GPU would let pass ends the process here, with a message: see stop(). Thread order, number of devices and their
// memory come from the environment: NORCH_EMULATOR_ORDER (forward, reverse or a seed), _DEVICES, _MEMORY (bytes).
// Compiled without -fsanitize itself, but with EMULATOR_ADDRESS or EMULATOR_THREAD in a build that is sanitized:
// memory of the device is then poisoned while no kernel runs, and each CUDA thread is one of ThreadSanitizer's.

#include "cuda_runtime.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <vector>

#ifdef EMULATOR_ADDRESS
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef EMULATOR_THREAD
#include <sanitizer/tsan_interface.h>
extern "C" void AnnotateIgnoreWritesBegin(const char* file, int line);
extern "C" void AnnotateIgnoreWritesEnd(const char* file, int line);
#endif

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace {

const char* setting(const char* name, const char* otherwise) {
    const char* value = getenv(name);
    return value && *value ? value : otherwise;
}

[[noreturn]] void stop(const char* what, const char* file = nullptr, int line = 0) {
    fprintf(stderr, "cuda emulator: %s", what);
    if (file) fprintf(stderr, " at %s:%d", file, line);
    fprintf(stderr, " [block (%u, %u, %u), thread (%u, %u, %u)]\n", blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x,
            threadIdx.y, threadIdx.z);
    abort();
}

// ---- Memory -----------------------------------------------------------------------------------------------------

enum { GUARD = 64, GUARD_BYTE = 0xa5 };  // behind each allocation, to see stores past its end without a sanitizer

struct Allocation {
    size_t bytes;
    int device;
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

int current_device;
bool in_kernel;
cudaError_t last_error;

cudaError_t remember(cudaError_t error) {
    if (error) last_error = error;
    return error;
}

int device_count() { return atoi(setting("NORCH_EMULATOR_DEVICES", "2")); }

// The allocation that a pointer points into, or its end; null for memory of the host.
const std::pair<char* const, Allocation>* allocation_of(const void* pointer) {
    char* address = static_cast<char*>(const_cast<void*>(pointer));
    auto next = memory().blocks.upper_bound(address);
    if (next == memory().blocks.begin()) return nullptr;
    const auto& found = *--next;
    return address <= found.first + found.second.bytes ? &found : nullptr;
}

bool lies_within(const void* pointer, size_t bytes) {
    const auto* found = allocation_of(pointer);
    return found && static_cast<const char*>(pointer) + bytes <= found->first + found->second.bytes;
}

// The host must not touch memory of the device: only while a kernel runs or the driver copies is it there.
void expose(bool visible) {
#ifdef EMULATOR_ADDRESS
    for (auto& block : memory().blocks) {
        if (visible)
            __asan_unpoison_memory_region(block.first, block.second.bytes);
        else
            __asan_poison_memory_region(block.first, block.second.bytes);
    }
#else
    (void)visible;
#endif
}

struct Exposed {
    Exposed() { expose(true); }
    ~Exposed() { expose(false); }
};

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

// Filled with NaNs by a loop of our own: sanitizers watch memset. What is written here is no part of any race.
void fill(char* data, int value, size_t bytes) {
    for (volatile char* place = data; bytes > 0; bytes--) *place++ = char(value);
}

void ignore_writes(bool ignore) {
#ifdef EMULATOR_THREAD
    ignore ? AnnotateIgnoreWritesBegin(__FILE__, __LINE__) : AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
#else
    (void)ignore;
#endif
}

// ---- Shared memory: anew for each block, of exact size, full of NaNs --------------------------------------------

struct SharedVariable {
    const void* key;
    char* data;
};
std::vector<SharedVariable> shared_variables;
char* dynamic_variable;

char* new_shared(size_t bytes) {
    void* data = nullptr;
    ignore_writes(true);
    if (posix_memalign(&data, 64, bytes ? bytes : 1)) abort();
    ignore_writes(false);
    fill(static_cast<char*>(data), 0xff, bytes);
    return static_cast<char*>(data);
}

void free_shared() {
    ignore_writes(true);
    for (SharedVariable& variable : shared_variables) free(variable.data);
    free(dynamic_variable);
    ignore_writes(false);
    shared_variables.clear();
    dynamic_variable = nullptr;
}

// ---- Fibers -----------------------------------------------------------------------------------------------------

constexpr size_t STACK = 256 << 10, GUARD_PAGE = 4096;

// Runs one CUDA thread after another, until one of them waits at a barrier.
struct Fiber {
    ucontext_t start;
    jmp_buf place;
    char* stack;
    bool started = false, busy = false, waiting = false;
    unsigned thread = 0;
    const char* file = nullptr;  // of the barrier
    int line = 0;
    void* fake_stack = nullptr;        // AddressSanitizer's
    void* sanitizer_thread = nullptr;  // ThreadSanitizer's
};

struct Block {
    const std::function<void()>* body;
    unsigned threads, next, done, waiting;
    uint64_t number;
    std::vector<unsigned> order;
};

Block running;
// One set for even blocks and one for odd ones: to ThreadSanitizer, two blocks on one fiber would be in order.
std::vector<std::unique_ptr<Fiber>> fiber_sets[2];
Fiber* current;
jmp_buf scheduler;
[[maybe_unused]] const void* scheduler_stack;
[[maybe_unused]] size_t scheduler_stack_size;
[[maybe_unused]] void* scheduler_thread;
[[maybe_unused]] char launched, finished, barrier_reached;  // what ThreadSanitizer orders accesses by

void become(unsigned thread) {
    threadIdx = {thread % blockDim.x, thread / blockDim.x % blockDim.y, thread / (blockDim.x * blockDim.y)};
}

void to_scheduler(Fiber* fiber) {
#ifdef EMULATOR_ADDRESS
    __sanitizer_start_switch_fiber(&fiber->fake_stack, scheduler_stack, scheduler_stack_size);
#endif
#ifdef EMULATOR_THREAD
    __tsan_switch_to_fiber(scheduler_thread, __tsan_switch_to_fiber_no_sync);
#endif
    if (!_setjmp(fiber->place)) _longjmp(scheduler, 1);
#ifdef EMULATOR_ADDRESS
    __sanitizer_finish_switch_fiber(fiber->fake_stack, &scheduler_stack, &scheduler_stack_size);
#endif
}

void fiber_main() {
#ifdef EMULATOR_ADDRESS
    __sanitizer_finish_switch_fiber(nullptr, &scheduler_stack, &scheduler_stack_size);
#endif
    for (;;) {
        Fiber* fiber = current;
        fiber->busy = true;
#ifdef EMULATOR_THREAD
        __tsan_acquire(&launched);
#endif
        (*running.body)();
        fiber->busy = false;
        running.done++;
#ifdef EMULATOR_THREAD
        __tsan_release(&finished);  // one sanitizer thread for each CUDA thread
        to_scheduler(fiber);
#else
        if (running.next == running.threads) {
            to_scheduler(fiber);
        } else {  // the next CUDA thread runs right here
            fiber->thread = running.order[running.next++];
            become(fiber->thread);
        }
#endif
    }
}

void resume(Fiber* fiber) {
    current = fiber;
    become(fiber->thread);
#ifdef EMULATOR_THREAD
    if (!fiber->sanitizer_thread) fiber->sanitizer_thread = __tsan_create_fiber(0);
    __tsan_switch_to_fiber(fiber->sanitizer_thread, __tsan_switch_to_fiber_no_sync);
#endif
#ifdef EMULATOR_ADDRESS
    void* fake_stack;
    __sanitizer_start_switch_fiber(&fake_stack, fiber->stack, STACK);
#endif
    if (!_setjmp(scheduler)) {
        if (fiber->started) _longjmp(fiber->place, 1);
        fiber->started = true;
        setcontext(&fiber->start);
    }
#ifdef EMULATOR_ADDRESS
    const void* stack;
    size_t size;
    __sanitizer_finish_switch_fiber(fake_stack, &stack, &size);
#endif
}

std::vector<std::unique_ptr<Fiber>>& fibers_of_block() {
#ifdef EMULATOR_THREAD
    return fiber_sets[running.number % 2];
#else
    return fiber_sets[0];
#endif
}

Fiber* fiber_at(size_t index) {
    auto& fibers = fibers_of_block();
    if (index == fibers.size()) {
        auto fiber = std::make_unique<Fiber>();
        void* stack = mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (stack == MAP_FAILED) abort();
        mprotect(stack, GUARD_PAGE, PROT_NONE);
        fiber->stack = static_cast<char*>(stack);
        getcontext(&fiber->start);
        fiber->start.uc_stack.ss_sp = stack;
        fiber->start.uc_stack.ss_size = STACK;
        fiber->start.uc_link = nullptr;
        makecontext(&fiber->start, fiber_main, 0);
        fibers.push_back(std::move(fiber));
    }
    return fibers[index].get();
}

// ---- Blocks -----------------------------------------------------------------------------------------------------

// All threads that have not returned wait: at the same barrier, or the kernel is wrong.
void open_barrier(size_t used) {
    const Fiber* first = nullptr;
    for (size_t i = 0; i < used; i++) {
        Fiber* fiber = fiber_at(i);
        if (!fiber->busy) continue;
        if (!first) first = fiber;
        become(fiber->thread);
        if (fiber->line != first->line || fiber->file != first->file)
            stop("threads of one block wait at different __syncthreads()", fiber->file, fiber->line);
        if (running.done > 0)
            stop("a thread waits at __syncthreads() after others of its block have returned", fiber->file, fiber->line);
        fiber->waiting = false;
    }
    running.waiting = 0;
}

void run_block() {
    running.next = running.done = running.waiting = 0;
    size_t used = 0;
    while (running.next < running.threads) {
        Fiber* fiber = fiber_at(used);
        fiber->thread = running.order[running.next++];
        resume(fiber);
#ifdef EMULATOR_THREAD
        used++;
#else
        if (fiber->busy) used++;
#endif
    }
    while (running.done < running.threads) {
        open_barrier(used);
        for (size_t i = 0; i < used; i++)
            if (fiber_at(i)->busy) resume(fiber_at(i));
    }
}

enum : int { FORWARD = 0, REVERSE = -1 };  // or the seed of a shuffle

int thread_order() {
    const char* order = setting("NORCH_EMULATOR_ORDER", "forward");
    return !strcmp(order, "forward") ? int(FORWARD) : !strcmp(order, "reverse") ? int(REVERSE) : atoi(order);
}

}  // namespace

namespace emulator {

void barrier(const char* file, int line) {
    Fiber* fiber = current;
    fiber->file = file;
    fiber->line = line;
    fiber->waiting = true;
    running.waiting++;
#ifdef EMULATOR_THREAD
    __tsan_release(&barrier_reached);
#endif
    to_scheduler(fiber);
#ifdef EMULATOR_THREAD
    __tsan_acquire(&barrier_reached);
#endif
}

void* shared(const void* variable, size_t bytes) {
    for (SharedVariable& known : shared_variables)
        if (known.key == variable) return known.data;
    shared_variables.push_back({variable, new_shared(bytes)});
    return shared_variables.back().data;
}

void* dynamic_shared() { return dynamic_variable; }

void check_pointer(const void* pointer) {
    if (!pointer) return;
    const auto* found = allocation_of(pointer);
    if (!found) stop("a kernel was given a pointer to memory of the host");
    if (found->second.device != current_device) stop("a kernel was given a pointer to memory of another device");
}

void run(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream, const std::function<void()>& thread) {
    const uint64_t threads = uint64_t(block.x) * block.y * block.z, blocks = uint64_t(grid.x) * grid.y * grid.z;
    if (threads == 0 || blocks == 0 || threads > 1024 || block.z > 64 || grid.x > INT32_MAX || grid.y > 65535 ||
        grid.z > 65535 || shared_bytes > 48 << 10) {
        remember(cudaErrorInvalidConfiguration);
        return;
    }
    if (in_kernel) stop("a kernel was launched by a kernel");
    if (stream && intptr_t(stream) != current_device + 1) {
        remember(cudaErrorInvalidResourceHandle);
        return;
    }
    const int order = thread_order();
    std::mt19937 random(static_cast<unsigned>(order));
    gridDim = grid;
    blockDim = block;
    running.body = &thread;
    running.threads = unsigned(threads);
    running.order.resize(threads);
    for (unsigned i = 0; i < threads; i++) running.order[i] = order == REVERSE ? unsigned(threads) - 1 - i : i;
    in_kernel = true;
    Exposed device_memory;
#ifdef EMULATOR_THREAD
    scheduler_thread = __tsan_get_current_fiber();
    __tsan_release(&launched);
#endif
    for (uint64_t k = 0; k < blocks; k++) {
        running.number = order == REVERSE ? blocks - 1 - k : k;
        const uint64_t row = running.number / grid.x;
        blockIdx = {unsigned(running.number % grid.x), unsigned(row % grid.y), unsigned(row / grid.y)};
        if (order > 0) std::shuffle(running.order.begin(), running.order.end(), random);
        dynamic_variable = shared_bytes ? new_shared(shared_bytes) : nullptr;
        run_block();
        free_shared();
    }
#ifdef EMULATOR_THREAD
    __tsan_acquire(&finished);
#endif
    in_kernel = false;
}

}  // namespace emulator

// For tests: how many allocations the library has not given back.
extern "C" __attribute__((visibility("default"))) int64_t emulator_allocations() {
    return int64_t(memory().blocks.size());
}

// ---- The runtime's functions ------------------------------------------------------------------------------------

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
    return cudaSuccess;
}

cudaError_t cudaMalloc(void** data, size_t bytes) {
    *data = nullptr;
    if (!bytes) return cudaSuccess;
    size_t& used = memory().used[current_device];
    const size_t limit = size_t(atoll(setting("NORCH_EMULATOR_MEMORY", "1073741824")));
    if (bytes > limit || used > limit - bytes) return remember(cudaErrorMemoryAllocation);
    if (posix_memalign(data, 256, bytes + guard_bytes())) return remember(cudaErrorMemoryAllocation);
    char* block = static_cast<char*>(*data);
    fill(block, 0xff, bytes);
    fill(block + bytes, GUARD_BYTE, guard_bytes());
    memory().blocks[block] = {bytes, current_device};
    used += bytes;
    expose(false);
    return cudaSuccess;
}

cudaError_t cudaFree(void* data) {
    if (!data) return cudaSuccess;
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

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
    const bool to_device = allocation_of(to), from_device = allocation_of(from);
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

cudaError_t cudaMemsetAsync(void* data, int value, size_t bytes, cudaStream_t) {
    if (!lies_within(data, bytes)) return remember(cudaErrorInvalidValue);
    Exposed device_memory;
    fill(static_cast<char*>(data), value, bytes);
    return cudaSuccess;
}

// A stream, and an event, is the number of the device that was in use when it was made.
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
    *stream = reinterpret_cast<cudaStream_t>(intptr_t(current_device + 1));
    return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
    *event = reinterpret_cast<cudaEvent_t>(intptr_t(current_device + 1));
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return intptr_t(event) == intptr_t(stream) ? cudaSuccess : remember(cudaErrorInvalidResourceHandle);
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }

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
    }
    return "cudaErrorUnknown";
}

const char* cudaGetErrorString(cudaError_t error) {
    return error == cudaErrorNoDevice ? "no CUDA-capable device is detected" : cudaGetErrorName(error);
}
