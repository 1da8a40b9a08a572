// Memory of the CPU, behind allocate() and release() of core/storage.cpp.

#pragma once
#include <stdint.h>

// What is in use. Whoever allocates says which count changes, and by how much.
enum Count { CPU_BYTES, TENSORS, COUNT_KINDS };

void* cpu_allocate(int64_t nbytes, Count kind, int64_t amount);  // null if there is not that much
void cpu_release(void* data, int64_t nbytes, Count kind, int64_t amount) noexcept;
int64_t counted(Count kind);
int64_t cpu_memory_reserved();  // taken from the system: what is in use, rounded up to size classes, and the cache
void cpu_empty_cache();
void cpu_set_cache_limit(int64_t nbytes);  // empties it, too
