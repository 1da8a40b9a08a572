// The CPU kernel that fills a tensor with evenly spaced numbers.
//
// The Makefile compiles this file without fused multiply-add, so that the numbers are the same on every machine.

// Integers are filled by each copy: a product of 64 bits is work for vectors.
#undef NORCH_REALS_ONLY

#include "cpu/backend.h"
#include "host/parallel.h"
#include "cpu/loops/odometer.h"

inline namespace NORCH_ISA {
namespace {

// data[j] = element first + j * DIRECTION of a sequence that need not meet its end: a loop without branches
template <int DIRECTION, class T>
void fill_spaced(T* data, Spacing spacing, int64_t first, int64_t count) {
    spacing.meets_end = 0;
    INDEPENDENT for (int64_t j = 0; j < count; j++) data[j] = spaced_element<T>(spacing, first + j * DIRECTION, 0);
}

}  // namespace

void evenly_spaced_tensor_cpu(Tensor& out, const Spacing& spacing) {
    for_any(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        T* data = data_as<T>(out);
        const int64_t n = out.size, half = spacing.meets_end && !spacing.is_whole ? n / 2 : n;
        Spacing from_end = spacing;  // the second half, counted from its end
        from_end.start = spacing.end;
        from_end.step = -spacing.step;
        parallel_for(n, SMALL_WORK, [=](int64_t begin, int64_t end) {
            const int64_t middle = begin > half ? begin : smaller(half, end);
            fill_spaced<1>(data + begin, spacing, begin, middle - begin);
            fill_spaced<-1>(data + middle, from_end, n - 1 - middle, end - middle);
        });
    });
}

}  // namespace NORCH_ISA
