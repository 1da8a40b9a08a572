// One library for several instruction sets: the CPU kernels are compiled once for each, with NORCH_ISA as its name, and
// host/instruction_sets.cpp chooses one of the copies when the library is loaded.
//
// Everything that such a copy compiles, inline functions and templates of headers included, stands in a namespace that
// has the copy's name. Otherwise the linker would keep one of several equal inline functions, perhaps the one compiled
// for AVX-512, and a machine without it would stop at an illegal instruction.

#pragma once

const char* chosen_instruction_set();
const char* instruction_set_complaint();  // why NORCH_ISA cannot be followed, or ""

#if defined(__x86_64__) && !defined(NORCH_BASELINE_ONLY)
#define INSTRUCTION_SETS(ISA, ...) ISA(baseline, __VA_ARGS__) ISA(avx2, __VA_ARGS__) ISA(avx512, __VA_ARGS__)
#else
#define INSTRUCTION_SETS(ISA, ...) ISA(baseline, __VA_ARGS__)
#endif

#ifdef NORCH_ISA
#define IS_KERNEL_COPY 1
#else
#define IS_KERNEL_COPY 0
#define NORCH_ISA portable
#endif
