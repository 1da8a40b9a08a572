// Memory of the CPU: blocks aligned to 64 bytes, kept in a cache when they are freed.
//
// A fresh block of many pages costs a page fault for each of them when it is first written, which takes longer than adding
// two tensors. So freed blocks wait in lists by size class, eight classes an octave, for the next tensor of about that
// size. The cache is bounded, and given back to the system before an allocation fails. What small tensors are made of waits
// in a list of the thread that freed it.

#include <new>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/allocator.h"
#include "api.h"

// Under a sanitizer every block comes from the system, with its exact size: a cache would hide use after free.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { CACHED = 0 };
#else
enum { CACHED = 1 };
#endif

enum { ALIGNMENT = 64, CLASSES_PER_OCTAVE = 8, CLASS_COUNT = 64 * CLASSES_PER_OCTAVE };

// ---- Size classes -----------------------------------------------------------------------------------------------

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

// ---- The cache --------------------------------------------------------------------------------------------------

static FreeBlock* free_blocks[CLASS_COUNT];
static int64_t cached_bytes, cache_limit = -1;  // under the lock, like the lists; -1: not asked yet
static std::atomic<int64_t> reserved_bytes;     // taken from the system and not given back

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

static FreeBlock* take(int index, int64_t bytes) {
    Locked locked;
    FreeBlock* block = free_blocks[index];
    if (!block) return nullptr;
    free_blocks[index] = block->next;
    cached_bytes -= bytes;
    return block;
}

// False where the cache has no room for the block.
static bool put(void* data, int index, int64_t bytes) {
    Locked locked;
    if (cache_limit < 0) cache_limit = memory_limit() / 4;
    if (cached_bytes + bytes > cache_limit) return false;
    FreeBlock* block = static_cast<FreeBlock*>(data);
    block->next = free_blocks[index];
    free_blocks[index] = block;
    cached_bytes += bytes;
    return true;
}

static void return_slabs();

void empty_cache() {
    return_slabs();
    for (int index = 0; index < int(sizeof free_blocks / sizeof *free_blocks); index++) {
        FreeBlock* block = nullptr;
        {
            Locked locked;
            block = free_blocks[index];
            free_blocks[index] = nullptr;
            for (FreeBlock* each = block; each; each = each->next) cached_bytes -= block_bytes(index);
        }
        while (block) {
            FreeBlock* next = block->next;
            free(block);
            reserved_bytes -= block_bytes(index);
            block = next;
        }
    }
}

void set_cache_limit(int64_t nbytes) {
    {
        Locked locked;
        cache_limit = nbytes;
    }
    empty_cache();
}

// ---- Allocation -------------------------------------------------------------------------------------------------

static void* from_system(int64_t bytes) {
    enum { MAX_SMALL = 16 << 20 };
    // An overcommitting kernel would promise what is not there and kill the process later.
    if (bytes > MAX_SMALL && bytes > memory_limit() - reserved_bytes) return nullptr;
    // Large blocks in large pages, as NumPy's: fewer faults when they are first written, fewer misses of the TLB after.
    enum { HUGE_PAGE = 2 << 20 };
    const bool huge = bytes >= 2 * HUGE_PAGE;
    void* data = nullptr;
    if (posix_memalign(&data, huge ? size_t(HUGE_PAGE) : size_t(ALIGNMENT), size_t(bytes))) return nullptr;
#ifdef MADV_HUGEPAGE
    if (huge) madvise(data, size_t(bytes), MADV_HUGEPAGE);  // a wish: where it is not granted nothing is lost
#endif
    reserved_bytes += bytes;
    return data;
}

void* cpu_allocate(int64_t nbytes) {
    const SizeClass size = size_class(nbytes);
    if (!CACHED) return from_system(nbytes);
    if (void* block = take(size.index, size.bytes)) return block;
    if (void* block = from_system(size.bytes)) return block;
    empty_cache();  // the system may have more when it gets these back
    return from_system(size.bytes);
}

void cpu_release(void* data, int64_t nbytes) noexcept {
    const SizeClass size = size_class(nbytes);
    if (CACHED && put(data, size.index, size.bytes)) return;
    free(data);
    reserved_bytes -= CACHED ? size.bytes : nbytes;
}

int64_t cpu_memory_reserved() { return reserved_bytes + counted(SMALL_BYTES); }

// ---- Small blocks in low memory ---------------------------------------------------------------------------------

// ctypes passes a Python int below 2^31 to C as it is, while any other address costs it a call and an object. So blocks are
// cut from slabs down there as long as the system has room; before the first one above, Python is told to convert.
enum : int64_t { LOW = int64_t(1) << 31, SLAB = 1 << 20, SLAB_BLOCKS = SLAB / SMALL_BLOCK, BLOCKS_AT_ONCE = 64 };
static FreeBlock* spare_blocks;  // under the lock: low ones that threads had too many of
static char *slab, *slab_end;    // under the lock: what is not cut yet
static std::atomic<bool> low_is_full, python_knows;
static std::atomic<Notice*> tell_python;

static int64_t slab_of(const FreeBlock* block) { return reinterpret_cast<int64_t>(block) / SLAB; }
static bool is_low(const FreeBlock* block) { return slab_of(block) < LOW / SLAB; }

// A slab at a multiple of its size, or null.
static char* new_slab() {
#ifdef MAP_32BIT
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT;
    void* memory = low_is_full ? MAP_FAILED : mmap(nullptr, 2 * SLAB, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (memory != MAP_FAILED) {
        char *begin = static_cast<char*>(memory),
             *start = begin + (SLAB - reinterpret_cast<int64_t>(begin) % SLAB) % SLAB;
        if (start > begin) munmap(begin, size_t(start - begin));
        munmap(start + SLAB, size_t(begin + SLAB - start));
        return start;
    }
#endif
    low_is_full = true;
    return nullptr;
}

// Under the lock. Null where there is no more room down there.
static FreeBlock* low_block() {
    if (FreeBlock* block = spare_blocks) {
        spare_blocks = block->next;
        return block;
    }
    if (slab == slab_end && (slab = slab_end = new_slab())) slab_end += SLAB;
    if (!slab) return nullptr;
    slab += SMALL_BLOCK;
    return reinterpret_cast<FreeBlock*>(slab - SMALL_BLOCK);
}

void ThreadMemory::give_back(FreeBlock* block) noexcept {
    if (!CACHED || !is_low(block)) return free(block);
    Locked locked;
    block->next = spare_blocks;
    spare_blocks = block;
}

// Gives the slabs back to the system of which no thread has a block.
static void return_slabs() {
    Locked locked;
    static int64_t spare_in[LOW / SLAB];
    for (int64_t& count : spare_in) count = 0;
    for (FreeBlock* block = spare_blocks; block; block = block->next) spare_in[slab_of(block)]++;
    for (FreeBlock** link = &spare_blocks; *link;)
        if (spare_in[slab_of(*link)] == SLAB_BLOCKS)
            *link = (*link)->next;
        else
            link = &(*link)->next;
    for (int64_t i = 0; i < LOW / SLAB; i++)
        if (spare_in[i] == SLAB_BLOCKS) munmap(reinterpret_cast<void*>(i * SLAB), SLAB);
}

// ---- What a thread has for itself -------------------------------------------------------------------------------

// On the heap, in a list of all, because a child after fork loses the stacks of its parent's other threads, but not what
// they have counted.
static ThreadMemory* threads;                          // under the lock
static std::atomic<int64_t> past_counts[COUNT_KINDS];  // of threads that have ended
static thread_local ThreadMemory* own_memory;
static pthread_key_t thread_end;

// For a thread that there is no memory for: it counts, but keeps no blocks.
static ThreadMemory spare(false, true);

static void end_thread(void* pointer) {
    ThreadMemory* memory = static_cast<ThreadMemory*>(pointer);
    own_memory = nullptr;
    {
        Locked locked;
        for (int kind = 0; kind < COUNT_KINDS; kind++) past_counts[kind] += memory->counts[kind];
        (memory->previous ? memory->previous->next : threads) = memory->next;
        if (memory->next) memory->next->previous = memory->previous;
    }
    while (FreeBlock* block = memory->blocks) {
        memory->blocks = block->next;
        ThreadMemory::give_back(block);
    }
    delete memory;
}

// A child must not inherit the lock from a thread that it does not have.
__attribute__((constructor)) static void start() {
    pthread_atfork(lock, unlock, unlock);
    pthread_key_create(&thread_end, end_thread);
}

__attribute__((noinline)) static ThreadMemory& begin_thread() {
    ThreadMemory* memory = new (std::nothrow) ThreadMemory(CACHED, false);
    if (!memory) return spare;
    Locked locked;
    memory->next = threads;
    if (threads) threads->previous = memory;
    threads = own_memory = memory;
    pthread_setspecific(thread_end, memory);
    return *memory;
}

ThreadMemory& thread_memory() noexcept { return own_memory ? *own_memory : begin_thread(); }

__attribute__((noinline)) void* ThreadMemory::take_new(size_t nbytes) noexcept {
    void* block = nullptr;
    if (CACHED) {
        Locked locked;
        block = low_block();
        while (block && block_count < BLOCKS_AT_ONCE) {
            FreeBlock* another = low_block();
            if (!another) break;
            put(another);
        }
    }
    if (block) return block;
    if (low_is_full && !python_knows && tell_python) {
        tell_python.load()();
        python_knows = true;  // only now: until then other threads tell it, too, before they go on
    }
    return posix_memalign(&block, ALIGNMENT, CACHED ? size_t(SMALL_BLOCK) : nbytes) ? nullptr : block;
}

int32_t keep_addresses_low(Notice* otherwise) {
    ThreadMemory& memory = thread_memory();
    FreeBlock* first = static_cast<FreeBlock*>(memory.take(SMALL_BLOCK));  // it lies where the others will
    const bool low = CACHED && first && is_low(first) && !low_is_full;
    if (first) memory.put(first);
    tell_python = otherwise;
    python_knows = !low;
    return low;
}

int64_t counted(Count kind) {
    Locked locked;
    int64_t sum = past_counts[kind] + spare.counts[kind];
    for (ThreadMemory* memory = threads; memory; memory = memory->next) sum += memory->counts[kind];
    return sum;
}
