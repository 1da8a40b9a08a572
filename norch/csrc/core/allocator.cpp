// Blocks of memory, aligned to 64 bytes, that wait in a cache when they are freed.
//
// A new block of many pages costs a page fault for each of them when it is first written, which takes longer than
// adding two tensors. So freed blocks wait in lists by size class, eight classes an octave, for the next tensor of
// about that size. The cache is bounded, and goes back to the system before an allocation fails.

#include "core/allocator.h"

#include <atomic>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// Under a sanitizer every block comes from the system, with its exact size: a cache would hide use after free.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { CACHED = 0 };
#else
enum { CACHED = 1 };
#endif

enum { ALIGNMENT = 64, CLASSES_PER_OCTAVE = 8, CLASS_COUNT = 64 * CLASSES_PER_OCTAVE };

// ---- Size classes ------------------------------------------------------------------------------------------------

struct SizeClass {
    int index;
    int64_t bytes;  // of a block of this class
};

// Multiples of 64 up to 1024 (classes 1 to 16), then 9 / 8, 10 / 8, ..., 16 / 8 of each power of two.
static SizeClass size_class(int64_t nbytes) {
    int64_t steps = (nbytes + ALIGNMENT - 1) / ALIGNMENT, step = ALIGNMENT;
    int doublings = 0;
    while (steps > 2 * CLASSES_PER_OCTAVE) {
        steps = (steps + 1) / 2;
        step *= 2;
        doublings++;
    }
    return {doublings * CLASSES_PER_OCTAVE + int(steps), steps * step};
}

static int64_t block_bytes(int index) {
    const int doublings = index <= 2 * CLASSES_PER_OCTAVE ? 0 : (index - CLASSES_PER_OCTAVE - 1) / CLASSES_PER_OCTAVE;
    return int64_t(index - doublings * CLASSES_PER_OCTAVE) * ALIGNMENT << doublings;
}

// ---- The cache ---------------------------------------------------------------------------------------------------

// A freed block holds the address of the next one.
struct FreeBlock {
    FreeBlock* next;
};

// All under the lock
static FreeBlock* free_blocks[CLASS_COUNT];
static int64_t counts[COUNT_KINDS];
static int64_t cached_bytes, cache_limit = -1;  // -1: not asked yet

static std::atomic<int64_t> reserved_bytes;  // taken from the system and not given back

// Held for a few instructions, so waiting threads spin.
static std::atomic<bool> is_locked;

static void lock() {
    for (int tries = 0; is_locked.exchange(true, std::memory_order_acquire); tries++)
        if (tries > 100) sched_yield();
}
static void unlock() { is_locked.store(false, std::memory_order_release); }

struct Locked {
    Locked() { lock(); }
    ~Locked() { unlock(); }
};

// A child must not inherit the lock from a thread that it does not have.
__attribute__((constructor)) static void start() { pthread_atfork(lock, unlock, unlock); }

int64_t counted(Count kind) {
    Locked locked;
    return counts[kind];
}

// Where a block of large pages starts in its first one. Operands that all start a page would meet in the same lines of
// the caches: a softmax of rows of 28 floats takes twice as long then. If a result started a line after its operand, modulo
// a page, each load would wait for the store before (x * 2 takes a quarter longer): later blocks start lines before.
enum { HUGE_PAGE = 2 << 20, STARTS = 16, NEXT_START = 4096 - 2 * ALIGNMENT };

static bool is_huge(int64_t bytes) { return bytes >= 2 * HUGE_PAGE; }

static void to_system(void* data, int64_t bytes) {
    const uintptr_t place = reinterpret_cast<uintptr_t>(data);
    free(reinterpret_cast<void*>(is_huge(bytes) ? place & ~uintptr_t(HUGE_PAGE - 1) : place));
    reserved_bytes -= bytes;
}

int64_t cpu_memory_reserved() { return reserved_bytes; }

void cpu_empty_cache() {
    for (int index = 0; index < CLASS_COUNT; index++) {
        FreeBlock* block = nullptr;
        {
            Locked locked;
            block = free_blocks[index];
            free_blocks[index] = nullptr;
            for (FreeBlock* each = block; each; each = each->next) cached_bytes -= block_bytes(index);
        }
        while (block) {
            FreeBlock* next = block->next;
            to_system(block, block_bytes(index));
            block = next;
        }
    }
}

void cpu_set_cache_limit(int64_t nbytes) {
    {
        Locked locked;
        cache_limit = nbytes;
    }
    cpu_empty_cache();
}

// ---- Allocation --------------------------------------------------------------------------------------------------

// The memory that this process could ever have: the machine's, or less in a container.
static int64_t memory_limit() {
    static const int64_t limit = [] {
        int64_t bytes = int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
        long long group = 0;
        if (FILE* file = fopen("/sys/fs/cgroup/memory.max", "r")) {
            if (fscanf(file, "%lld", &group) == 1 && group > 0 && group < bytes) bytes = group;
            fclose(file);
        }
        return bytes;
    }();
    return limit;
}

static void* from_system(int64_t bytes) {
    enum { MAX_SMALL = 16 << 20 };
    // An overcommitting kernel would promise what is not there and kill the process later.
    if (bytes > MAX_SMALL && bytes > memory_limit() - reserved_bytes) return nullptr;
    // Large blocks in large pages, as NumPy's: fewer faults when they are first written, fewer misses of the TLB after.
    static std::atomic<unsigned> turn;
    const bool huge = is_huge(bytes);
    const int64_t start = huge && CACHED ? turn++ % STARTS * NEXT_START : 0;
    void* data = nullptr;
    if (posix_memalign(&data, huge ? size_t(HUGE_PAGE) : size_t(ALIGNMENT), size_t(start + bytes))) return nullptr;
#ifdef MADV_HUGEPAGE
    if (huge) madvise(data, size_t(start + bytes), MADV_HUGEPAGE);  // if the system refuses, nothing is lost
#endif
    reserved_bytes += bytes;
    return static_cast<char*>(data) + start;
}

static void* new_block(int64_t bytes) {
    if (void* block = from_system(bytes)) return block;
    cpu_empty_cache();  // the system may have more when it gets these back
    return from_system(bytes);
}

void* cpu_allocate(int64_t nbytes, Count kind, int64_t amount) {
    const SizeClass size = size_class(nbytes);
    FreeBlock* block = nullptr;
    {
        Locked locked;
        counts[kind] += amount;
        block = free_blocks[size.index];
        if (block) {
            free_blocks[size.index] = block->next;
            cached_bytes -= size.bytes;
        }
    }
    if (block) return block;
    void* data = new_block(CACHED ? size.bytes : nbytes);
    if (!data) {
        Locked locked;
        counts[kind] -= amount;
    }
    return data;
}

void cpu_release(void* data, int64_t nbytes, Count kind, int64_t amount) noexcept {
    const SizeClass size = size_class(nbytes);
    {
        Locked locked;
        counts[kind] -= amount;
        if (cache_limit < 0) cache_limit = memory_limit() / 4;
        if (CACHED && cached_bytes + size.bytes <= cache_limit) {
            FreeBlock* block = static_cast<FreeBlock*>(data);
            block->next = free_blocks[size.index];
            free_blocks[size.index] = block;
            cached_bytes += size.bytes;
            return;
        }
    }
    to_system(data, CACHED ? size.bytes : nbytes);
}
