// The vectors of the instruction set that a copy of the kernels is compiled for.

#pragma once
#include "host/instruction_sets.h"

#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64 };
#elif defined(__AVX2__)
enum { VECTOR_BYTES = 32 };
#else  // SSE2, NEON
enum { VECTOR_BYTES = 16 };
#endif

// Before a loop of a few steps whose arrays are to become registers.
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
