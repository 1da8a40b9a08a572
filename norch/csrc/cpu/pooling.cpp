// CPU kernels of pooling: the largest element or the average of what a window sees, image by image.

#include <math.h>
#include <string.h>

#include "cpu/backend.h"
#include "host/parallel.h"
#include "cpu/loops/row_sum.h"
#include "cpu/loops/odometer.h"
#include "ops/reductions.h"
#include "ops/windows.h"

inline namespace NORCH_ISA {
namespace {

// Calls f(i) for each image [y, x] of a tensor [N, C, y, x], in parallel.
template <class F>
void for_each_image(const Tensor& images, int64_t work, F f) {
    parallel_for(images.shape[0] * images.shape[1], 1 + SMALL_WORK / (1 + work), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; i++) f(i);
    });
}

// The taps of an axis that see the image from output o: first to last - 1.
struct Taps {
    int64_t first, last, input;  // what the first of them sees

    Taps(const Axis& axis, int64_t o) {
        const int64_t start = axis.input(o, 0), room = axis.in - start;
        first = start < 0 ? (-start + axis.dilation - 1) / axis.dilation : 0;
        last = (room + axis.dilation - 1) / axis.dilation;
        if (last > axis.kernel) last = axis.kernel;
        input = axis.input(o, first);
    }
};

// Row by row of the result, tap by tap: neighbours are compared at once.
template <class T>
void max_pool_image(const T* x, T* out, int64_t* indices, const Window& window, const Taps* across) {
    const Axis& axis = window.x;
    for (int64_t oy = 0; oy < window.y.out; oy++, out += axis.out, indices += axis.out) {
        const Taps rows(window.y, oy);
        for (int64_t o = 0; o < axis.out; o++) {
            out[o] = Max<T>::empty();
            indices[o] = rows.input * axis.in + across[o].input;
        }
        for (int64_t i = rows.first; i < rows.last; i++) {
            for (int64_t j = 0; j < axis.kernel; j++) {
                const int64_t start = window.y.input(oy, i) * axis.in + axis.input(0, j);
                const Span seen = axis.outputs(j);
                auto compare = [=](int64_t stride) {
                    INDEPENDENT for (int64_t o = seen.begin; o < seen.end; o++) {
                        const int64_t at = start + o * stride;
                        const T value = x[at];
                        const bool wins = (value > out[o]) | (value != value);
                        out[o] = wins ? value : out[o];
                        indices[o] = wins ? at : indices[o];
                    }
                };
                // strides that the compiler knows are read in vectors
                axis.stride == 1 ? compare(1) : axis.stride == 2 ? compare(2) : compare(axis.stride);
            }
        }
    }
}

}  // namespace

// out[o] = the largest x that window o sees, indices[o] = its place in the image; of several the first, of NaNs the
// last
void max_pool_tensor_cpu(const Tensor& x, Tensor& out, Tensor& indices, const Window& window) {
    INTEGERS_IN_BASELINE(x.dtype, max_pool, x, out, indices, window);
    for_any(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const int64_t inputs = window.inputs(), outputs = window.outputs();
        Scratch<Taps> columns(window.x.out);  // the same for all rows
        for (int64_t o = 0; o < window.x.out; o++) columns[o] = Taps(window.x, o);
        for_each_image(x, outputs * window.taps(), [&](int64_t i) {
            max_pool_image(data_as<const T>(x) + i * inputs, data_as<T>(out) + i * outputs,
                           data_as<int64_t>(indices) + i * outputs, window, columns.data);
        });
    });
}

// out[indices[o]] += gradient[o]. The indices may have been in Python's hands: none may reach outside.
void max_pool_backward_tensor_cpu(const Tensor& gradient, const Tensor& indices, Tensor& out, const Window& window) {
    for_real(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const int64_t inputs = window.inputs(), outputs = window.outputs();
        for_each_image(out, inputs, [&](int64_t i) {
            T* to = data_as<T>(out) + i * inputs;
            const T* from = data_as<const T>(gradient) + i * outputs;
            const int64_t* place = data_as<const int64_t>(indices) + i * outputs;
            memset(to, 0, size_t(inputs) * sizeof(T));
            for (int64_t o = 0; o < outputs; o++)
                if (uint64_t(place[o]) < uint64_t(inputs)) to[place[o]] += from[o];
        });
    });
}

namespace {

// What a window sees of an image, as contiguous runs: one for each row, or a single one if the window is as wide as the
// image.
struct Runs {
    int64_t start, count, length, step;

    Runs(const Seen& rows, const Seen& columns, int64_t width) {
        const bool is_one = columns.begin == 0 && columns.end == width && rows.end > rows.begin;
        start = rows.begin * width + columns.begin;
        count = is_one ? 1 : rows.end - rows.begin;
        length = (columns.end - columns.begin) * (is_one ? rows.end - rows.begin : 1);
        step = width;
    }
};

}  // namespace

// out[o] = the sum of what window o sees, divided
void avg_pool_tensor_cpu(const Tensor& x, Tensor& out, const Averaging& averaging) {
    const Window& window = averaging.window;
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        for_each_image(x, window.inputs(), [&](int64_t i) {
            const T* from = data_as<const T>(x) + i * window.inputs();
            T* to = data_as<T>(out) + i * window.outputs();
            for (int64_t oy = 0; oy < window.y.out; oy++) {
                const Seen rows = inputs_of(window.y, oy, averaging.counts_padding);
                for (int64_t ox = 0; ox < window.x.out; ox++) {
                    const Seen columns = inputs_of(window.x, ox, averaging.counts_padding);
                    const Runs runs(rows, columns, window.x.in);
                    T sum = 0;
                    for (int64_t k = 0; k < runs.count; k++) {
                        const T* run = from + runs.start + k * runs.step;
                        if (runs.length >= TAIL)
                            sum += T(row_sum<T>(runs.length, [=](int64_t j) { return run[j]; }));
                        else
                            for (int64_t j = 0; j < runs.length; j++) sum += run[j];
                    }
                    *to++ = T(sum / T(divisor_of(averaging, rows, columns)));
                }
            }
        });
    });
}

// Each element that window o sees in out += gradient[o], divided
void avg_pool_backward_tensor_cpu(const Tensor& gradient, Tensor& out, const Averaging& averaging) {
    const Window& window = averaging.window;
    for_real(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        for_each_image(out, window.inputs(), [&](int64_t i) {
            const T* from = data_as<const T>(gradient) + i * window.outputs();
            T* to = data_as<T>(out) + i * window.inputs();
            memset(to, 0, size_t(window.inputs()) * sizeof(T));
            for (int64_t oy = 0; oy < window.y.out; oy++) {
                const Seen rows = inputs_of(window.y, oy, averaging.counts_padding);
                for (int64_t ox = 0; ox < window.x.out; ox++) {
                    const Seen columns = inputs_of(window.x, ox, averaging.counts_padding);
                    const T share = T(*from++ / T(divisor_of(averaging, rows, columns)));
                    const Runs runs(rows, columns, window.x.in);
                    for (int64_t k = 0; k < runs.count; k++) {
                        T* run = to + runs.start + k * runs.step;
                        for (int64_t j = 0; j < runs.length; j++) run[j] += share;
                    }
                }
            }
        });
    });
}

}  // namespace NORCH_ISA
