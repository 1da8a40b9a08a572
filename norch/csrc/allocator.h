// Memory of the CPU, behind allocate() and release() of storage.cpp.

#pragma once
#include <stdint.h>

void* cpu_allocate(int64_t nbytes);  // null where there is not that much
void cpu_release(void* data, int64_t nbytes) noexcept;
int64_t cpu_memory_reserved();  // live bytes, what rounding up to size classes added, and the cache
