// CPU kernels behind api/ordering.cpp that order elements: running extremes, places among sorted edges. (host/sorting.cpp
// sorts.)

#include <string.h>

#include <algorithm>
#include <type_traits>

#include "cpu/backend.h"
#include "host/lines.h"
#include "ops/ordering.h"

// ---- Running extremes --------------------------------------------------------------------------------------------

namespace {

enum { BLOCK = 32 };

// Whether an element may be the next extreme after a number. The mask is as wide as an element, which makes vectors.
template <bool LARGEST, class T>
bool any_extends(const T* x, T extreme) {
    using Wide = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
    using Mask = std::conditional_t<sizeof(T) == 1, int8_t, Wide>;
    Mask any = 0;
    for (int j = 0; j < BLOCK; j++) any |= (LARGEST ? x[j] < extreme : x[j] > extreme) ? Mask(0) : Mask(-1);
    return any != 0;
}

// The extreme of a line so far, and its last place.
template <bool LARGEST, class T>
struct Extreme {
    T best;
    int64_t index = 0;
    void take(T x, int64_t i) {
        const bool is_next = extends(x, best, LARGEST);
        best = is_next ? x : best;
        index = is_next ? i : index;
    }
    // The same. Of one line compilers would make jumps, which depend on the elements.
    void take_alone(T x, int64_t i) {
        if (!std::is_integral_v<T>) return take(x, i);
        const bool is_next = extends(x, best, LARGEST);
        best = LARGEST ? std::max(best, x) : std::min(best, x);
        index = std::max(index, is_next ? i : -1);
    }
};

// Along a line whose elements lie side by side, as those of both results: most blocks hold no extreme, but one that
// follows a block with one is likely to.
template <bool LARGEST, class T>
void running_extremes_of_line(const T* source, T* value, int64_t* place, int64_t n) {
    Extreme<LARGEST, T> extreme = {source[0]};
    for (int64_t i = 0; i < n; i += BLOCK) {
        const int64_t end = smaller(i + BLOCK, n);
        if (extreme.index < i - BLOCK && end - i == BLOCK && !any_extends<LARGEST>(source + i, extreme.best)) {
            std::fill_n(value + i, int(BLOCK), extreme.best);
            std::fill_n(place + i, int(BLOCK), extreme.index);
            continue;
        }
        for (int64_t j = i; j < end; j++) {
            extreme.take_alone(source[j], j);
            value[j] = extreme.best;
            place[j] = extreme.index;
        }
    }
}

template <bool LARGEST>
void running_extremes(const Tensor& x, Tensor& values, Tensor& indices, int axis) {
    const int64_t n = x.shape[axis], step = x.strides[axis];
    const int64_t value_step = values.strides[axis], index_step = indices.strides[axis];
    const bool is_row = step == 1 && value_step == 1 && index_step == 1;
    for_any(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        enum { SHORT = std::is_same_v<T, int64_t> ? 256 : 48 };  // rows are taken together
        if (is_row && n > SHORT)
            return for_lines(x, values, indices, axis, [&](LineRuns& runs) {
                while (runs.next())
                    for (int64_t k = 0; k < runs.count; k++)
                        running_extremes_of_line<LARGEST>(data_as<const T>(x) + runs.start[0] + k * runs.step[0],
                                                          data_as<T>(values) + runs.start[1] + k * runs.step[1],
                                                          data_as<int64_t>(indices) + runs.start[2] + k * runs.step[2],
                                                          n);
            });
        const auto walk = [&](auto lines, auto neighbours, const int64_t* start, const int64_t* apart) {
            constexpr int LINES = decltype(lines)::value;
            const auto at = [=](int operand, int k) { return neighbours ? k : k * apart[operand]; };
            const T* source = data_as<const T>(x) + start[0];
            T* value = data_as<T>(values) + start[1];
            int64_t* place = data_as<int64_t>(indices) + start[2];
            Extreme<LARGEST, T> extremes[LINES];
            for (int k = 0; k < LINES; k++) extremes[k] = {source[at(0, k)]};
            for (int64_t i = 0; i < n; i++, source += step, value += value_step, place += index_step) {
                for (int k = 0; k < LINES; k++) {
                    const T next = source[at(0, k)];
                    LINES == 1 ? extremes[k].take_alone(next, i) : extremes[k].take(next, i);
                    value[at(1, k)] = extremes[k].best;
                    place[at(2, k)] = extremes[k].index;
                }
            }
        };
        for_lines_together(x, values, indices, axis, walk);
    });
}

}  // namespace

void running_extreme_tensor_cpu(const Tensor& x, Tensor& values, Tensor& indices, int axis, bool largest) {
    if (largest)
        running_extremes<true>(x, values, indices, axis);
    else
        running_extremes<false>(x, values, indices, axis);
}

// ---- Places among sorted edges -----------------------------------------------------------------------------------

// Several values at a time: a step waits for the one before, but not for those of other values.
void bins_tensor_cpu(const Tensor& edges, const Tensor& values, bool right, Tensor& out) {
    enum { ABREAST = 8 };
    const int64_t n = edges.shape[edges.ndim - 1], line = edges.ndim == 1 ? values.size : values.shape[values.ndim - 1];
    for_any(edges.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* edge = data_as<const T>(edges);
        const T* value = data_as<const T>(values);
        int64_t* place = data_as<int64_t>(out);
        parallel_for(values.size, SMALL_WORK / 8, [=](int64_t begin, int64_t end) {
            for (int64_t i = begin, count; i < end; i += count) {
                const T* first = edge + i / line * n;
                count = smaller(smaller(ABREAST, end - i), line - i % line);
                T x[ABREAST];
                int64_t low[ABREAST] = {};
                bool numbers = true;
                for (int k = 0; k < ABREAST; k++) {
                    x[k] = value[i + smaller(k, count - 1)];
                    numbers &= x[k] == x[k];
                }
                const auto search = [&](auto is_behind) {
                    for (int64_t left = n, half; left > 0; left -= half) {  // by halving, without a jump
                        half = (left + 1) / 2;
                        for (int k = 0; k < ABREAST; k++)
                            low[k] += half & -int64_t(is_behind(first[low[k] + half - 1], x[k]));
                    }
                };
                if (!numbers)
                    search([right](T edge, T value) { return is_below(edge, value, right); });
                else if (right)
                    search([](T edge, T value) { return edge <= value; });
                else
                    search([](T edge, T value) { return edge < value; });
                std::copy_n(low, count, place + i);
            }
        });
    });
}
