// Pooling of small images: the outputs of several rows, or of several images, fill a vector together.
//
// A table tells where in a copy of the images each tap lies for each output. The copy begins with a zero, for padding.

#pragma once
#include <string.h>

#include "cpu/loops/odometer.h"
#include "host/parallel.h"
#include "ops/windows.h"
#include "tensor.h"

inline namespace NORCH_ISA {

enum class Beyond { ZERO, NEAREST };  // what a tap sees beyond the image: 0, or what the nearest tap inside sees

struct SmallImages {
    enum {
        LANES = 16,     // outputs of a vector
        SOME = 64,      // outputs of the images that are taken at a time, at least
        WIDE = 24,      // outputs of a row that fills vectors alone
        LARGEST = 8192  // elements of an image, and places of the table for it
    };
    const int64_t images, inputs, outputs, taps;  // images at a time; elements of each
    const int64_t row;                            // of the table: the outputs of all of them, in whole vectors
    Scratch<int32_t> table;                       // a row for each tap, and one with the places before the images

    // The input that an output sees through a tap of an axis, or -1.
    static int64_t seen(const Axis& axis, int64_t o, int64_t tap, Beyond beyond) {
        int64_t i = axis.input(o, tap);
        if (beyond == Beyond::ZERO) return axis.holds(i) ? i : -1;
        while (i < 0) i += axis.dilation;
        while (i >= axis.in) i -= axis.dilation;
        return i;
    }

    // The places of a tap for the outputs of the first image, and then for those behind it.
    void set_row(int32_t* places, const Window& window, int64_t k, int64_t i, int64_t j, Beyond beyond) const {
        int32_t* to = places;
        for (int64_t oz = 0; oz < window.z.out; oz++)
            for (int64_t oy = 0; oy < window.y.out; oy++) {
                const int64_t z = seen(window.z, oz, k, beyond), y = seen(window.y, oy, i, beyond);
                for (int64_t ox = 0; ox < window.x.out; ox++) {
                    const int64_t x = seen(window.x, ox, j, beyond);
                    *to++ = (z | y | x) < 0 ? 0 : int32_t(1 + window.row(z, y) + x);
                }
            }
        for (; to < places + images * outputs; to++) *to = to[-outputs] ? int32_t(to[-outputs] + inputs) : 0;
        memset(to, 0, size_t(places + row - to) * sizeof(int32_t));
    }

    static bool suits(const Window& window) {
        return !is_adaptive(window.x) && window.x.out < WIDE && window.inputs() <= LARGEST &&
               window.outputs() * window.taps() <= LARGEST;
    }

    SmallImages(const Window& window, int64_t count, Beyond beyond)
        : images(smaller(count, 1 + (SOME - 1) / window.outputs())),
          inputs(window.inputs()),
          outputs(window.outputs()),
          taps(window.taps()),
          row((images * outputs + LANES - 1) / LANES * LANES),
          table((taps + 1) * row) {
        int32_t* places = table.data;
        for (int64_t k = 0; k < window.z.kernel; k++)
            for (int64_t i = 0; i < window.y.kernel; i++)
                for (int64_t j = 0; j < window.x.kernel; j++, places += row) set_row(places, window, k, i, j, beyond);
        for (int64_t o = 0; o < row; o++) places[o] = int32_t(1 + o / outputs * inputs);
    }

    // Calls f(first output, outputs, copy) for all images, some at a time, in parallel.
    template <class T, class F>
    void for_each_copy(const T* x, int64_t all, F f) const {
        parallel_for(all, 1 + SMALL_WORK / (outputs * taps), [&](int64_t begin, int64_t end) {
            Scratch<T> copy(1 + images * inputs);
            memset(copy.data, 0, size_t(copy.count) * sizeof(T));
            for (int64_t i = begin; i < end; i += images) {
                const int64_t count = smaller(images, end - i);
                memcpy(copy.data + 1, x + i * inputs, size_t(count * inputs) * sizeof(T));
                f(i * outputs, count * outputs, copy.data);
            }
        });
    }

    // out[o] = the largest x that output o sees; indices[o] = its place in its image, if they are wanted
    template <bool WANTED, class T>
    void largest(const T* x, int64_t count, T* out, int64_t* indices) const {
        const int32_t* const before = table.data + taps * row;
        for (int64_t start = 0; start < count; start += LANES) {
            const int32_t* at = table.data + start;
            T most[LANES];
            int32_t place[LANES];
            KEPT_TOGETHER for (int j = 0; j < LANES; j++) most[j] = x[at[j]], place[j] = at[j];
            for (int64_t tap = 1; tap < taps; tap++) {
                at += row;
                KEPT_TOGETHER for (int j = 0; j < LANES; j++) {
                    const T value = x[at[j]];
                    const bool wins = (value > most[j]) | (value != value);
                    most[j] = wins ? value : most[j];
                    if (WANTED) place[j] = wins ? at[j] : place[j];
                }
            }
            store(most, start, count, out);
            if (!WANTED) continue;
            KEPT_TOGETHER for (int j = 0; j < LANES; j++) place[j] -= before[start + j];
            store(place, start, count, indices);
        }
    }

    // out[o] = the sum of what output o sees, divided. (In a function of its own g++ has registers left for the sums.)
    template <class T>
    __attribute__((noinline)) void averages(const T* x, int64_t count, const T* divisors, T* out) const {
        for (int64_t start = 0; start < count; start += LANES) {
            const int32_t* at = table.data + start;
            T sum[LANES] = {};
            for (int64_t tap = 0; tap < taps; tap++, at += row)
                KEPT_TOGETHER for (int j = 0; j < LANES; j++) sum[j] += x[at[j]];
            KEPT_TOGETHER for (int j = 0; j < LANES; j++) sum[j] /= divisors[start + j];
            store(sum, start, count, out);
        }
    }

    // out[start + j] = lanes[j], as far as `count`
    template <class T, class To>
    static void store(const T (&lanes)[LANES], int64_t start, int64_t count, To* out) {
        if (start + LANES <= count)
            KEPT_TOGETHER for (int j = 0; j < LANES; j++) out[start + j] = lanes[j];
        else
            for (int j = 0; start + j < count; j++) out[start + j] = lanes[j];
    }
};

}  // namespace NORCH_ISA
