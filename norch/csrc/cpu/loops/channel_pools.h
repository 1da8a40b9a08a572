// Pooling of images with their channels last: those of a place lie side by side, and fill vectors.

#pragma once
#include <string.h>

#include "cpu/loops/for_vectors.h"
#include "cpu/loops/odometer.h"
#include "host/parallel.h"
#include "ops/windows.h"
#include "tensor.h"

inline namespace NORCH_ISA {

class ChannelPools {
    enum {
        LANES = 16,  // channels of a vector
        PART = 64    // channels of an image that are worth a thread
    };
    // The inputs that an output sees along an axis, `step` apart.
    struct Strip : Seen {
        int64_t step;
    };
    struct View {  // what an output sees
        const Strip &z, &y, &x;
    };
    const Window& window;
    const int64_t images, channels, inputs, outputs;
    Scratch<Strip> z, y, x;

    static Strip strip_of(const Axis& axis, int64_t o, bool counts_padding) {
        if (is_adaptive(axis) || axis.dilation == 1) return {inputs_of(axis, o, counts_padding), 1};
        const int64_t step = axis.dilation, end = smaller(axis.input(o, axis.kernel - 1) + 1, axis.in);
        int64_t begin = axis.input(o, 0);
        while (begin < 0) begin += step;
        return {{{begin, end}, 0}, step};
    }

    // Calls f(place) for each place of an image that an output sees, in row order.
    template <class F>
    void for_each_place(const View& seen, F f) const {
        const Strip z = seen.z, y = seen.y, x = seen.x;  // copies, which no result overlaps
        for (int64_t k = z.begin; k < z.end; k += z.step)
            for (int64_t i = y.begin; i < y.end; i += y.step) {
                const int64_t row = window.row(k, i);
                for (int64_t j = x.begin; j < x.end; j += x.step) f(row + j);
            }
    }

    // Calls f(o, what it sees) for the outputs of a row.
    template <class F>
    void for_row(int64_t row, F f) const {
        const Strip &planes = z.data[row / y.count], &rows = y.data[row % y.count];
        for (int64_t o = 0; o < x.count; o++) f(row * x.count + o, View{planes, rows, x.data[o]});
    }

    // Calls f(image, o, what it sees) for all outputs, in parallel.
    template <class F>
    void for_each_output(F f) const {
        const int64_t rows = z.count * y.count, work = x.count * window.taps() * channels;
        parallel_for(images * rows, 1 + SMALL_WORK / (1 + work), [&](int64_t begin, int64_t end) {
            for (int64_t row = begin; row < end; row++)
                for_row(row % rows, [&](int64_t o, const View& seen) { f(row / rows, o, seen); });
        });
    }

    // Calls f(image, first channel, end) for parts of the channels of all images, zeros so far, in parallel: outputs may
    // overlap in an image.
    template <class T, class F>
    void for_each_part(T* out, F f) const {
        const int64_t parts = channels < 2 * PART ? 1 : channels / PART, all = inputs * channels;
        parallel_for(images * parts, 1 + SMALL_WORK * parts / all, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; i++) {
                const int64_t image = i / parts, first = i % parts * channels / parts;
                const int64_t last = (i % parts + 1) * channels / parts, run = parts == 1 ? all : last - first;
                for (int64_t at = first; at < all; at += parts == 1 ? all : channels)
                    memset(out + image * all + at, 0, size_t(run) * sizeof(T));
                f(image, first, last);
            }
        });
    }

    template <class T>
    static bool wins(T value, T most) {
        return (value > most) | (value != value);
    }

public:
    ChannelPools(const Window& window, int64_t images, bool counts_padding)
        : window(window),
          images(images),
          channels(window.channels),
          inputs(window.inputs()),
          outputs(window.outputs()),
          z(window.z.out),
          y(window.y.out),
          x(window.x.out) {
        auto set = [=](Scratch<Strip>& strips, const Axis& axis) {
            for (int64_t o = 0; o < axis.out; o++) strips[o] = strip_of(axis, o, counts_padding);
        };
        set(z, window.z), set(y, window.y), set(x, window.x);
    }

    template <bool WANTED, class T>
    void largest(const T* x, T* out, int64_t* indices) const {
        for_each_output([=](int64_t image, int64_t o, const View& seen) {
            const T* const from = x + image * inputs * channels;
            const int64_t to = (image * outputs + o) * channels;
            const int64_t first = window.row(seen.z.begin, seen.y.begin) + seen.x.begin;
            for_vectors<LANES>(0, channels, [&](int64_t c, auto size) __attribute__((always_inline)) {
                const int n = size;
                T most[LANES];
                int64_t place[LANES];
                const T* row = from + first * channels + c;
                KEPT_TOGETHER for (int j = 0; j < n; j++) most[j] = row[j], place[j] = first;
                for_each_place(seen, [&](int64_t at) __attribute__((always_inline)) {
                    const T* row = from + at * channels + c;
                    KEPT_TOGETHER for (int j = 0; j < n; j++) {
                        const T value = row[j];
                        const bool more = wins(value, most[j]);
                        most[j] = more ? value : most[j];
                        if (WANTED) place[j] = more ? at : place[j];
                    }
                });
                KEPT_TOGETHER for (int j = 0; j < n; j++) out[to + c + j] = most[j];
                if (WANTED) KEPT_TOGETHER for (int j = 0; j < n; j++) indices[to + c + j] = place[j];
            });
        });
    }

    template <class T>
    void largest_backward(const T* gradient, const int64_t* indices, T* out) const {
        for_each_part(out, [=](int64_t image, int64_t first, int64_t end) {
            T* const to = out + image * inputs * channels;
            for (int64_t o = image * outputs; o < (image + 1) * outputs; o++)
                for (int64_t c = first; c < end; c++) {
                    const int64_t place = indices[o * channels + c];
                    if (uint64_t(place) < uint64_t(inputs)) to[place * channels + c] += gradient[o * channels + c];
                }
        });
    }

    template <class T>
    void averages(const T* x, T* out, const Averaging& averaging) const {
        for_each_output([=](int64_t image, int64_t o, const View& seen) {
            const T* const from = x + image * inputs * channels;
            T* const to = out + (image * outputs + o) * channels;
            const T divisor = T(divisor_of(averaging, seen.z, seen.y, seen.x));
            for_vectors<LANES>(0, channels, [&](int64_t c, auto size) __attribute__((always_inline)) {
                const int n = size;
                T sum[LANES] = {};
                for_each_place(seen, [&](int64_t at) __attribute__((always_inline)) {
                    const T* row = from + at * channels + c;
                    KEPT_TOGETHER for (int j = 0; j < n; j++) sum[j] += row[j];
                });
                KEPT_TOGETHER for (int j = 0; j < n; j++) to[c + j] = sum[j] / divisor;
            });
        });
    }

    template <class T>
    void averages_backward(const T* gradient, T* out, const Averaging& averaging) const {
        for_each_part(out, [=](int64_t image, int64_t first, int64_t end) {
            T* const to = out + image * inputs * channels;
            const T* const from = gradient + image * outputs * channels;
            for (int64_t row = 0; row < z.count * y.count; row++)
                for_row(row, [=](int64_t o, const View& seen) {
                    const T divisor = T(divisor_of(averaging, seen.z, seen.y, seen.x));
                    for_vectors<LANES>(first, end, [&](int64_t c, auto size) __attribute__((always_inline)) {
                        const int n = size;
                        T share[LANES];
                        const T* whole = from + o * channels + c;
                        KEPT_TOGETHER for (int j = 0; j < n; j++) share[j] = whole[j] / divisor;
                        for_each_place(seen, [&](int64_t at) __attribute__((always_inline)) {
                            T* row = to + at * channels + c;
                            KEPT_TOGETHER for (int j = 0; j < n; j++) row[j] += share[j];
                        });
                    });
                });
        });
    }
};

}  // namespace NORCH_ISA
