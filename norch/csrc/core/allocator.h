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
enum { SMALL_BLOCK = 256, MOST_BLOCKS = 256 };

// What a thread has for itself, so that it needs no lock: a list of small blocks, and what it counts.
struct ThreadMemory {
    FreeBlock* blocks = nullptr;
    int64_t block_count;
    const bool is_shared;  // by threads that there is no memory for
    std::atomic<int64_t> counts[COUNT_KINDS] = {};
    ThreadMemory *next = nullptr, *previous = nullptr;

    constexpr ThreadMemory(bool keeps_blocks, bool is_shared)
        : block_count(keeps_blocks ? 0 : MOST_BLOCKS), is_shared(is_shared) {}

    // At most SMALL_BLOCK bytes, aligned to 64; null where there is no memory.
    void* take(size_t nbytes) noexcept {
        FreeBlock* block = blocks;
        if (!block) return take_new(nbytes);
        blocks = block->next;
        block_count--;
        return block;
    }
    // A block of any thread.
    void put(void* data) noexcept {
        FreeBlock* block = static_cast<FreeBlock*>(data);
        if (block_count >= MOST_BLOCKS) return give_back(block);
        block->next = blocks;
        blocks = block;
        block_count++;
    }
    void count(Count kind, int64_t change) noexcept {
        if (is_shared)
            counts[kind] += change;
        else  // no other thread writes it
            counts[kind].store(counts[kind].load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
    }

    void* take_new(size_t nbytes) noexcept;
    static void give_back(FreeBlock* block) noexcept;
};
ThreadMemory& thread_memory() noexcept;
int64_t counted(Count kind);  // by all threads together
