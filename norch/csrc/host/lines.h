// Lines along an axis, for the CPU kernels of host/.

#pragma once
#include <type_traits>

#include "core/interpreter.h"
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

// Lines along an axis of three tensors, in runs whose lines are equally far apart:
//
//     while (runs.next())
//         for (int64_t k = 0; k < runs.count; k++) line(a + runs.start[0] + k * runs.step[0], ...);
class LineRuns {
    Odometer<3> at;        // over all dimensions but the last
    int64_t passed, left;  // lines: of the last dimension, before the next run; all that follow

public:
    int64_t count, start[3], step[3];  // in elements

    LineRuns(const Layout<3>& layout, int64_t begin, int64_t end)
        : at(layout, layout.ndim - 1), passed(begin % layout.shape[layout.ndim - 1]), left(end - begin), count(0) {
        at.seek(begin / layout.shape[layout.ndim - 1]);
        for (int k = 0; k < 3; k++) step[k] = layout.strides[k][layout.ndim - 1];
    }
    bool next() {
        if (left == 0) return false;
        if (count > 0) at.next();
        count = smaller(left, at.layout.shape[at.dims] - passed);
        for (int k = 0; k < 3; k++) start[k] = at.offset[k] + passed * step[k];
        left -= count;
        passed = 0;
        return true;
    }
};

// Calls f(runs) for parts of the lines along axis of three tensors, which agree but for that axis. Several threads do.
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
            LineRuns runs(layout, begin, end);
            f(runs);
        });
    });
}

// Calls f(lines, neighbours, start, step) for several lines of a run at once, whose number is a constant: a step along
// one line often waits for the step before. Lines are neighbours if one step of an element separates them.
template <class F>
void for_lines_together(const Tensor& a, const Tensor& b, const Tensor& c, int axis, F f) {
    enum { TOGETHER = 4, ABREAST = 16 };
    for_lines(a, b, c, axis, [&](LineRuns& runs) {
        while (runs.next()) {
            const auto run = [&](auto lines, auto neighbours) {
                constexpr int LINES = decltype(lines)::value;
                for (int64_t i = 0; i < runs.count; i += LINES) {
                    const int64_t first = smaller(i, runs.count - LINES);  // some of the last lines are done twice
                    int64_t start[3];
                    for (int k = 0; k < 3; k++) start[k] = runs.start[k] + first * runs.step[k];
                    f(lines, neighbours, start, runs.step);
                }
            };
            const bool neighbours = runs.step[0] == 1 && runs.step[1] == 1 && runs.step[2] == 1;
            if (neighbours && runs.count >= ABREAST)
                run(std::integral_constant<int, ABREAST>(), std::true_type());
            else if (runs.count >= TOGETHER)
                run(std::integral_constant<int, TOGETHER>(), std::false_type());
            else
                run(std::integral_constant<int, 1>(), std::false_type());
        }
    });
}
