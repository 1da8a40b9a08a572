// The columns of images: column p holds what a window sees at output position p, a row for each tap of each channel.

#pragma once
#include "cpu/loops/tiles.h"
#include "ops/windows.h"

inline namespace NORCH_ISA {

// A stretch of output positions: some whole samples, or some output rows of one sample.
struct Block {
    int64_t sample, samples, row, rows;
};

// Images of the channels of one group, [samples, channels, y.in, x.in].
template <class T>
struct Images {
    T* data;
    int64_t per_sample;  // elements from one sample to the next
    int64_t channels;
};

// Calls f(image row or null, elements of the columns, first, last) for each row of each tap of a block: outputs first
// to last - 1 of the row see the image, the others padding.
template <class T, class F>
void for_each_row(const Images<T>& images, const Window& window, const Block& block, F f) {
    const Axis &y = window.y, &x = window.x;
    int64_t at = 0;
    for (int64_t c = 0; c < images.channels; c++) {
        for (int64_t i = 0; i < y.kernel; i++) {
            for (int64_t j = 0; j < x.kernel; j++) {
                const Span seen = x.outputs(j);
                const int64_t start = x.input(0, j);
                for (int64_t s = block.sample; s < block.sample + block.samples; s++) {
                    T* image = images.data + s * images.per_sample + c * window.inputs();
                    for (int64_t o = block.row; o < block.row + block.rows; o++, at += x.out) {
                        const int64_t row = y.input(o, i);
                        f(y.holds(row) && seen.begin < seen.end ? image + row * x.in + start : nullptr, at, seen.begin,
                          seen.end);
                    }
                }
            }
        }
    }
}

// f(o, step * o) for first <= o < last; a step of 1 or 2 is known when it is compiled.
template <class F>
inline __attribute__((always_inline)) void with_stride(int64_t step, int64_t first, int64_t last, F f) {
    if (step == 1)
        INDEPENDENT for (int64_t o = first; o < last; o++) f(o, o);
    else if (step == 2)
        INDEPENDENT for (int64_t o = first; o < last; o++) f(o, 2 * o);
    else
        for (int64_t o = first; o < last; o++) f(o, step * o);
}

// columns[(c, i, j), p] = the image at channel c under tap (i, j) of output position p
template <class T>
void unfold_block(const Images<const T>& images, const Window& window, const Block& block, T* columns) {
    const int64_t width = window.x.out, stride = window.x.stride;
    for_each_row(images, window, block, [=](const T* image, int64_t at, int64_t first, int64_t last) {
        T* to = columns + at;
        if (!image) {
            for (int64_t o = 0; o < width; o++) to[o] = 0;
            return;
        }
        for (int64_t o = 0; o < first; o++) to[o] = 0;
        if (stride == 1)
            copy_row(image + first, to + first, last - first);
        else
            with_stride(stride, first, last, [=](int64_t o, int64_t i) { to[o] = image[i]; });
        for (int64_t o = last; o < width; o++) to[o] = 0;
    });
}

// The image at channel c under tap (i, j) of output position p += columns[(c, i, j), p]
template <class T>
void fold_block(const T* columns, const Window& window, const Block& block, const Images<T>& images) {
    const int64_t stride = window.x.stride;
    for_each_row(images, window, block, [=](T* image, int64_t at, int64_t first, int64_t last) {
        if (!image) return;
        const T* from = columns + at;
        with_stride(stride, first, last, [=](int64_t o, int64_t i) { image[i] += from[o]; });
    });
}

}  // namespace NORCH_ISA
