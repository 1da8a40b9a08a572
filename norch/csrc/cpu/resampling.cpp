// The CPU kernel that resamples an axis: each element of the result is a sum of a few along the axis, times weights.
//
// It adds rows, in vectors. Lines along the last axis are turned around for this, in groups that fit into the cache;
// a few lines, and long ones, are summed as they lie.

#include <string.h>

#include "cpu/backend.h"
#include "cpu/loops/for_vectors.h"
#include "cpu/loops/tiles.h"
#include "host/parallel.h"

inline namespace NORCH_ISA {
namespace {

enum {
    LINE = 1024,         // outputs of a line that a thread takes at a time
    BLOCK = 64,          // of them, that are summed together
    LANES = 16,          // elements of a short row that are summed together
    SHORT = 64,          // a row of fewer elements is short, and of fewer LANES too short for it
    SCRATCH = 256 << 10  // bytes of lines that are turned around together
};

template <class T>
struct Table {
    const int32_t *counts, *places;  // [outputs], [taps, outputs]
    const T* weights;
    int64_t taps, size, outputs;

    Table(const Tensor& counts, const Tensor& places, const Tensor& weights, int axis, int64_t size)
        : counts(data_as<int32_t>(counts)),
          places(data_as<int32_t>(places)),
          weights(data_as<T>(weights)),
          taps(places.shape[0]),
          size(size),
          outputs(places.shape[1]) {
        check(this->counts, counts.size, taps, axis);
        check(this->places, places.size, size - 1, axis);
    }
    // Fails unless all numbers are from 0 to the last.
    static void check(const int32_t* numbers, int64_t count, int64_t last, int axis) {
        uint32_t largest = 0;
        for (int64_t k = 0; k < count; k++)  // one below 0 is large
            largest = largest < uint32_t(numbers[k]) ? uint32_t(numbers[k]) : largest;
        if (count && int64_t(largest) > last)
            fail_with({Fault::INDEX, axis, "resample", last + 1, 0, 0}, int32_t(largest));
    }
};

// ---- Rows --------------------------------------------------------------------------------------------------------

// out = or += the sum of COUNT rows times weights
template <int COUNT, class T>
inline __attribute__((always_inline)) void add_rows(const T* const* rows, const T* weights, bool fresh,
                                                    T* __restrict__ out, int64_t n) {
    const auto sum = [&](int64_t i, T first) {
        T total = first;
        for (int k = 1; k < COUNT; k++) total += weights[k] * rows[k][i];
        return total;
    };
    if (fresh)
        KEPT_TOGETHER for (int64_t i = 0; i < n; i++) out[i] = sum(i, weights[0] * rows[0][i]);
    else
        KEPT_TOGETHER for (int64_t i = 0; i < n; i++) out[i] = sum(i, out[i] + weights[0] * rows[0][i]);
}

// The first n elements of an output's row; rows of x are `step` apart.
template <class T>
inline __attribute__((always_inline)) void sum_rows(const T* x, const Table<T>& table, int64_t o, T* out, int64_t n,
                                                    int64_t step) {
    const int64_t count = table.counts[o];
    if (!count) memset(out, 0, size_t(n) * sizeof(T));
    for (int64_t t = 0; t < count;) {
        const int64_t together = count - t >= 4 ? 4 : count - t >= 2 ? 2 : 1;
        const T* rows[4];
        T weights[4];
        for (int64_t k = 0; k < together; k++) {
            const int64_t at = (t + k) * table.outputs + o;
            rows[k] = x + table.places[at] * step, weights[k] = table.weights[at];
        }
        if (together == 4)
            add_rows<4>(rows, weights, !t, out, n);
        else if (together == 2)
            add_rows<2>(rows, weights, !t, out, n);
        else
            add_rows<1>(rows, weights, !t, out, n);
        t += together;
    }
}

// Outputs [begin, end) of short rows, such as channels: a vector of each after the other.
template <class T>
void sum_short_rows(const T* x, const Table<T>& table, int64_t begin, int64_t end, T* out, int64_t n) {
    for_vectors<LANES>(0, n, [&](int64_t first, auto lanes) __attribute__((always_inline)) {
        for (int64_t o = begin; o < end; o++) sum_rows(x + first, table, o, out + o * n + first, lanes, n);
    });
}

// ---- The last axis -----------------------------------------------------------------------------------------------

// Outputs [begin, end) of a line
template <class T>
void sum_line(const T* x, const Table<T>& table, int64_t begin, int64_t end, T* out) {
    for (int64_t start = begin; start < end; start += BLOCK) {
        const int64_t n = smaller(end - start, BLOCK);
        const int32_t* counts = table.counts + start;
        T sums[BLOCK] = {};
        for (int64_t t = 0; t < table.taps; t++) {
            const int32_t* places = table.places + t * table.outputs + start;
            const T* weights = table.weights + t * table.outputs + start;
            INDEPENDENT for (int64_t o = 0; o < n; o++) {
                const T term = weights[o] * x[places[o]];
                sums[o] = t >= counts[o] ? sums[o] : t ? sums[o] + term : term;
            }
        }
        memcpy(out + start, sums, size_t(n) * sizeof(T));
    }
}

// All outputs of some lines: turned around, their elements are rows.
template <class T>
void sum_lines(const T* x, const Table<T>& table, int64_t lines, T* out, T* scratch) {
    T *rows = scratch, *sums = scratch + table.size * lines;
    char* const read = reinterpret_cast<char*>(const_cast<T*>(x));
    copy_tile<false>(sizeof(T), reinterpret_cast<char*>(rows), read, table.size, lines, 1, table.size);
    for (int64_t o = 0; o < table.outputs; o++) sum_rows(rows, table, o, sums + o * lines, lines, lines);
    copy_tile<true>(sizeof(T), reinterpret_cast<char*>(sums), reinterpret_cast<char*>(out), table.outputs, lines, 1,
                    table.outputs);
}

}  // namespace

void resample_tensor_cpu(const Tensor& x, const Tensor& counts, const Tensor& places, const Tensor& weights,
                         Tensor& out, int axis) {
    const int64_t size = x.shape[axis], outputs = out.shape[axis], inner = out.strides[axis];
    const int64_t outer = out.size / (outputs * inner);
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const Table<T> table(counts, places, weights, axis, size);
        const T* from = data_as<T>(x);
        T* to = data_as<T>(out);
        const int64_t room = SCRATCH / int64_t(sizeof(T)) / (size + outputs), side = VECTOR_BYTES / sizeof(T);
        if (inner == 1 && room >= side && outer >= side) {
            const int64_t lines = smaller(room - room % side, BLOCK), groups = (outer + lines - 1) / lines;
            parallel_for(groups, 1 + SMALL_WORK / 2 / (lines * outputs), [&](int64_t first, int64_t last) {
                Scratch<T> scratch((size + outputs) * lines);
                for (int64_t k = first * lines; k < smaller(last * lines, outer); k += lines)
                    sum_lines(from + k * size, table, smaller(lines, outer - k), to + k * outputs, scratch.data);
            });
        } else if (inner == 1) {
            const int64_t parts = (outputs + LINE - 1) / LINE, part = smaller(outputs, LINE);
            parallel_for(outer * parts, 1 + SMALL_WORK / 4 / part, [&](int64_t first, int64_t last) {
                for (int64_t k = first; k < last; k++) {
                    const int64_t line = k / parts, begin = k % parts * LINE;
                    sum_line(from + line * size, table, begin, smaller(begin + LINE, outputs), to + line * outputs);
                }
            });
        } else {
            parallel_for(outer * outputs, 1 + SMALL_WORK / 2 / inner, [&](int64_t first, int64_t last) {
                for (int64_t row = first, end; row < last; row = end) {
                    const int64_t part = row / outputs, start = part * outputs;
                    end = smaller(last, start + outputs);
                    const T* read = from + part * size * inner;
                    T* write = to + start * inner;
                    if (inner >= LANES && inner < SHORT)
                        sum_short_rows(read, table, row - start, end - start, write, inner);
                    else
                        for (int64_t o = row - start; o < end - start; o++)
                            sum_rows(read, table, o, write + o * inner, inner, inner);
                }
            });
        }
    });
}

}  // namespace NORCH_ISA
