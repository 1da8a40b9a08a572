// The choice between the copies of the CPU kernels, made once, when the library is loaded, and the table of kernels.

#include "cuda/backend.h"
#include "dispatch.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <initializer_list>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum ISA {
#define NAME(isa, ...) isa##_isa,
    INSTRUCTION_SETS(NAME)
#undef NAME
        ISA_COUNT
};

static const char* const names[] = {
#define NAME(isa, ...) #isa,
    INSTRUCTION_SETS(NAME)
#undef NAME
};

// Asks for exactly what the Makefile's ISA_FLAGS turn on.
static bool is_supported(int isa) {
#if defined(__x86_64__) && !defined(NORCH_BASELINE_ONLY)
    __builtin_cpu_init();
    unsigned a, b, c = 0, d;  // not every compiler's __builtin_cpu_supports knows f16c
    const bool has_f16c = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
    const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c;
    if (isa == avx2_isa) return has_avx2;
    if (isa == avx512_isa)
        return has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
#endif
    return isa == baseline_isa;
}

struct Choice {
    int isa = baseline_isa;
    char error[256] = "";

    Choice() {
        char supported[64] = "";
        for (int k = 0; k < ISA_COUNT; k++) {
            if (!is_supported(k)) continue;
            isa = k;  // they are listed in order of speed
            snprintf(supported + strlen(supported), sizeof supported - strlen(supported), " %s", names[k]);
        }
        const char* wanted = getenv("NORCH_ISA");
        if (!wanted || !*wanted) return;
        for (int k = 0; k < ISA_COUNT; k++) {
            if (strcmp(wanted, names[k]) || !is_supported(k)) continue;
            isa = k;
            return;
        }
        snprintf(error, sizeof error, "NORCH_ISA=%.64s: this processor and this build of norch support%s", wanted,
                 supported);
    }
};

static const Choice& choice() {
    static const Choice made;
    return made;
}

const char* chosen_instruction_set() { return names[choice().isa]; }
const char* instruction_set_complaint() { return choice().error; }

// ---- The slots of the dispatch -----------------------------------------------------------------------------------

#define KERNEL(name, arguments) void name##_tensor_cpu arguments;
#define DECLARE(isa, ...) \
    namespace isa {       \
    VECTOR_KERNELS        \
    }
INSTRUCTION_SETS(DECLARE)
PLAIN_KERNELS
#undef KERNEL

template <class F>
static F* chosen(std::initializer_list<F*> copies) {
    return copies.begin()[choice().isa];
}

// KERNEL(softmax, (const Tensor& x, Tensor& out)) becomes, on a processor with AVX2,
//     softmax = {"softmax", {avx2::softmax_tensor_cpu, softmax_tensor_cuda}, {NO_NARROW, NO_NARROW}};
namespace kernels {
#define COPY(isa, name) isa::name##_tensor_cpu,
#define VECTOR_KERNEL(name, ...) {#name, {chosen({INSTRUCTION_SETS(COPY, name)}), name##_tensor_cuda}, __VA_ARGS__}
#define PLAIN_KERNEL(name, ...) {#name, {name##_tensor_cpu, name##_tensor_cuda}, __VA_ARGS__}

#define KERNEL(name, arguments) const Kernel<void arguments> name = VECTOR_KERNEL(name, {ALL_NARROW, NO_NARROW}, true);
ELEMENTWISE_KERNELS
#undef KERNEL
#define KERNEL(name, arguments) const Kernel<void arguments> name = VECTOR_KERNEL(name, {ALL_NARROW, ALL_NARROW}, true);
ASSIGN_KERNEL
#undef KERNEL
#define KERNEL(name, arguments) const Kernel<void arguments> name = VECTOR_KERNEL(name, {ALL_NARROW, ALL_NARROW}, false);
MOVING_KERNELS
#undef KERNEL
#define KERNEL(name, arguments) const Kernel<void arguments> name = VECTOR_KERNEL(name, {ALL_NARROW, NO_NARROW}, false);
REDUCTION_KERNELS
ROW_KERNELS
#undef KERNEL
#define KERNEL(name, arguments) const Kernel<void arguments> name = VECTOR_KERNEL(name, {NO_NARROW, NO_NARROW}, false);
OTHER_VECTOR_KERNELS
#undef KERNEL
#define KERNEL(name, arguments) const Kernel<void arguments> name = PLAIN_KERNEL(name, {NO_NARROW, NO_NARROW}, false);
PLAIN_KERNELS
#undef KERNEL
}  // namespace kernels
