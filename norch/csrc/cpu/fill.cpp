// The CPU kernel that fills a tensor with evenly spaced numbers.
//
// The Makefile compiles this file without fused multiply-add, so that the numbers are the same on every machine.

// Integers are filled by each copy: a product of 64 bits is work for vectors.
#undef NORCH_REALS_ONLY

#include "cpu/backend.h"
#include "host/parallel.h"
#include "cpu/loops/odometer.h"

inline namespace NORCH_ISA {

void evenly_spaced_tensor_cpu(Tensor& out, const Spacing& spacing) {
    for_any(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        T* data = data_as<T>(out);
        const int64_t n = out.size;
        parallel_for(n, SMALL_WORK, [=](int64_t begin, int64_t end) {
            const Spacing own = spacing;  // which no store changes
            INDEPENDENT for (int64_t i = begin; i < end; i++) data[i] = spaced_element<T>(own, i, n);
        });
    });
}

}  // namespace NORCH_ISA
