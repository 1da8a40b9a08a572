// The columns of images: column p holds what a window sees at output position p, a row for each tap of each channel.

#pragma once
#include "cpu/loops/tiles.h"
#include "ops/windows.h"

inline namespace NORCH_ISA {

// A stretch of output positions: some whole samples, some planes of one sample, some rows of one plane, or a part of a
// row (for row_products.h alone).
struct Block {
    int64_t sample, samples, plane, planes, row, rows, column, columns;

    static Block of_image(const Window& window) { return {0, 1, 0, window.z.out, 0, window.y.out, 0, window.x.out}; }
    // Its first position, in a sample; how many there are.
    int64_t position(const Window& window) const { return (plane * window.y.out + row) * window.x.out + column; }
    int64_t positions() const { return samples * planes * rows * columns; }
};

// Images of the channels of one group, [samples, channels, z.in, y.in, x.in].
template <class T>
struct Images {
    T* data;
    int64_t per_sample;  // elements from one sample to the next
    int64_t channels;
};

// Calls f(image row or null, elements of the columns, first, last) for each row that one row of taps sees of a channel
// at the outputs of a block: outputs first to last - 1 of the row see the image, the others padding.
template <class T, class F>
void for_each_seen_row(const Images<T>& images, const Window& window, const Block& block, int64_t c, int64_t z_tap,
                       int64_t y_tap, int64_t x_tap, int64_t& at, F f) {
    const Axis &z = window.z, &y = window.y, &x = window.x;
    const Span seen = x.outputs(x_tap);
    for (int64_t s = block.sample; s < block.sample + block.samples; s++) {
        T* image = images.data + s * images.per_sample + c * window.inputs() + x.input(0, x_tap);
        for (int64_t p = block.plane; p < block.plane + block.planes; p++)
            for (int64_t o = block.row; o < block.row + block.rows; o++, at += x.out) {
                const int64_t depth = z.input(p, z_tap), row = y.input(o, y_tap);
                const bool sees = z.holds(depth) & y.holds(row) & (seen.begin < seen.end);
                f(sees ? image + window.row(depth, row) : nullptr, at, seen.begin, seen.end);
            }
    }
}

// The same for all taps of all channels, in the order of the rows of the columns.
template <class T, class F>
void for_each_row(const Images<T>& images, const Window& window, const Block& block, F f) {
    int64_t at = 0;
    for (int64_t c = 0; c < images.channels; c++)
        for (int64_t k = 0; k < window.z.kernel; k++)
            for (int64_t i = 0; i < window.y.kernel; i++)
                for (int64_t j = 0; j < window.x.kernel; j++)
                    for_each_seen_row(images, window, block, c, k, i, j, at, f);
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

// columns[(c, tap), p] = the image at channel c under the tap of output position p
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

// The image at channel c under the tap of output position p += columns[(c, tap), p]
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
