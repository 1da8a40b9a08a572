// Memory of the CPU, behind allocate() and release() of storage.cpp.

#pragma once
#include <atomic>
#include <stddef.h>
#include <stdint.h>

void* cpu_allocate(int64_t nbytes);  // null where there is not that much
void cpu_release(void* data, int64_t nbytes) noexcept;
int64_t cpu_memory_reserved();  // live bytes, what rounding up to size classes added, and the cache

// A freed block holds the address of the next one.
struct FreeBlock {
    FreeBlock* next;
};

enum Count { CPU_BYTES, SMALL_BYTES, TENSORS, COUNT_KINDS };
enum { SMALL_BLOCK = 256 };

// What a thread has for itself, so that it needs no lock: a list of small blocks, and what it counts.
struct ThreadMemory {
    FreeBlock* blocks;
    int64_t block_count;
    std::atomic<int64_t> counts[COUNT_KINDS];
    ThreadMemory *next, *previous;

    void* take(size_t nbytes) noexcept;  // at most SMALL_BLOCK bytes, aligned to 64; null where there is no memory
    void put(void* block) noexcept;      // of any thread
    void* take_new(size_t nbytes) noexcept;
    void count(Count kind, int64_t change) noexcept;
};
ThreadMemory& thread_memory() noexcept;
int64_t counted(Count kind);  // by all threads together
