// Behind cuda_runtime.h: fibers for the threads of a block, and the blocks of a kernel one after another.
//
// What a GPU would let pass ends the process here with a message: see stop(). The order of threads comes from the
// environment: NORCH_EMULATOR_ORDER is forward, reverse or a seed. Compiled without -fsanitize itself, but with
// EMULATOR_ADDRESS or EMULATOR_THREAD in a build that is sanitized: each CUDA thread is then one of ThreadSanitizer's.

#include "emulator.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#ifdef EMULATOR_ADDRESS
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef EMULATOR_THREAD
#include <sanitizer/tsan_interface.h>
#endif

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

using namespace emulator;

namespace {

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
    Work work;
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
        running.work.call(running.work.closure);
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

// NORCH_EMULATOR_KERNELS is a file that gets a line for each kernel that runs, so that none is left out of a check.
static void note_kernel(const char* name) {
    static auto* const known = new std::set<std::string>;
    const char* path = setting("NORCH_EMULATOR_KERNELS", "");
    if (!*path || !known->insert(name).second) return;
    if (FILE* file = fopen(path, "a")) {
        fprintf(file, "%s\n", name);
        fclose(file);
    }
}

static int64_t launches_until_failure;

static void run(const Configuration& configuration, const Work& work) {
    const auto [kernel, grid, block, shared_bytes, stream] = configuration;
    const uint64_t threads = uint64_t(block.x) * block.y * block.z, blocks = uint64_t(grid.x) * grid.y * grid.z;
    if (threads == 0 || blocks == 0 || threads > 1024 || block.z > 64 || grid.x > INT32_MAX || grid.y > 65535 ||
        grid.z > 65535 || shared_bytes > 48 << 10) {
        remember(cudaErrorInvalidConfiguration);
        return;
    }
    if (launches_until_failure > 0 && --launches_until_failure == 0) {
        remember(cudaErrorLaunchOutOfResources);
        return;
    }
    if (in_kernel) stop("a kernel was launched by a kernel");
    if (stream && device_of(stream) != current_device + 1) {
        remember(cudaErrorInvalidResourceHandle);
        return;
    }
    count_call("launch");
    note_kernel(kernel);
    const int order = thread_order();
    std::mt19937 random(static_cast<unsigned>(order));
    gridDim = grid;
    blockDim = block;
    running.work = work;
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

void start(const Configuration& configuration, const Work& work) {
    if (!is_captured(configuration.stream)) return run(configuration, work);
    std::vector<uintptr_t> words((work.bytes + sizeof(uintptr_t) - 1) / sizeof(uintptr_t));
    memcpy(words.data(), work.closure, work.bytes);
    capture(configuration.kernel, configuration.stream, words, [=](cudaStream_t stream) {
        Configuration other = configuration;
        other.stream = stream;
        run(other, {work.call, words.data(), work.bytes});
    });
}

}  // namespace emulator

// For tests: the countdown-th launch from now fails; 0 disarms.
extern "C" __attribute__((visibility("default"))) void emulator_fail_launch(int64_t countdown) {
    emulator::launches_until_failure = countdown;
}
