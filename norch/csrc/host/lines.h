// Lines along an axis, for the CPU kernels of host/.

#pragma once
#include <type_traits>

#include "cpu/loops/odometer.h"
#include "host/parallel.h"
#include "tensor.h"

// Calls f(), while other threads of Python may run if there is much to do. (parallel_for lets them for several parts.)
template <class F>
void unlocked_if_large(int64_t size, F f) {
    if (size <= SMALL_WORK) return f();
    const Unlocked unlocked;
    f();
}

// Calls f(at, count) for parts of the lines along axis of three tensors, which agree but for that axis: at.offset is
// where a line begins in each of them, and at.next() steps to the next one. Several threads call it.
template <class F>
void for_lines(Tensor a, Tensor b, Tensor c, int axis, F f) {
    const int64_t length = a.shape[axis], size = a.size, least = 1 + SMALL_WORK / length;
    const bool is_row = b.strides[axis] == 1;
    a.size /= length;
    a.shape[axis] = b.shape[axis] = c.shape[axis] = 1;
    const Layout<3> layout = collapse<3>({&a, &b, &c});
    // Lines that are columns are shared in few parts: threads that write to neighbours share their cache lines.
    const int64_t share = is_row ? least : layout.size / thread_count();
    unlocked_if_large(size, [&] {
        parallel_for(layout.size, least > share ? least : share, [&](int64_t begin, int64_t end) {
            Odometer<3> at(layout, layout.ndim);
            at.seek(begin);
            f(at, end - begin);
        });
    });
}

struct LineStart {
    int64_t offset[3];
};

// Calls f(number, starts) for a number of lines at once, 4 or 1 as a constant: a step along one line often waits for
// the step before, and neighbouring lines share cache lines.
template <class F>
void for_lines_together(const Tensor& a, const Tensor& b, const Tensor& c, int axis, F f) {
    enum { TOGETHER = 4 };
    for_lines(a, b, c, axis, [&](Odometer<3>& at, int64_t count) {
        LineStart starts[TOGETHER];
        int found = 0;
        for (; count > 0; count--, at.next()) {
            for (int k = 0; k < 3; k++) starts[found].offset[k] = at.offset[k];
            if (++found < TOGETHER) continue;
            f(std::integral_constant<int, TOGETHER>(), starts);
            found = 0;
        }
        for (int k = 0; k < found; k++) f(std::integral_constant<int, 1>(), starts + k);
    });
}
