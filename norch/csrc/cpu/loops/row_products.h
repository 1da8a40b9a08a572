// Convolution of images whose channels lie side by side: a row of places times a tap is a product of matrices, whose
// operands are read where they are.
//
//     out[row, x]                     += image[row + tap, x ... x + kernel - 1] @ weight[tap, 0 ... kernel - 1]
//     d weight[tap, 0 ... kernel - 1] += image[row + tap, x ... x + kernel - 1].T @ gradient[row, x]
//     d image[row + tap, x + j]       += gradient[row, x] @ weight[tap, j].T
//
// for every row of taps that sees the image: what lies in the padding above and below costs nothing. Outputs, and
// channels for the last, are computed in panels of WIDTH, for which the weight is brought into the order of the product.

#pragma once
#include <string.h>

#include "cpu/convolution.h"
#include "cpu/loops/matrix_product.h"
#include "cpu/loops/tiles.h"
#include "host/parallel.h"

inline namespace NORCH_ISA {

inline int64_t parts_of(int64_t n, int64_t size) { return (n + size - 1) / size; }

// How a tensor of groups with n columns each lies in panels [groups, panels, rows, WIDTH]: whole vectors, and 0 behind n.
template <class T>
struct Panels {
    enum { WIDTH = PANEL_COLUMNS<T>, LANES = VECTOR_BYTES / sizeof(T) };
    int64_t groups, n, of_group, size;  // columns and panels of a group, elements of a panel

    Panels(int64_t groups, int64_t n, int64_t rows)
        : groups(groups), n(n), of_group(parts_of(n, WIDTH)), size(rows * WIDTH) {}
    int64_t count() const { return groups * of_group; }
    int64_t columns(int64_t panel) const { return smaller(WIDTH, n - panel % of_group * WIDTH); }
    // The first column of a panel, of all groups.
    int64_t first(int64_t panel) const { return panel / of_group * n + panel % of_group * WIDTH; }
    static int64_t whole(int64_t columns) { return parts_of(columns, LANES) * LANES; }
};

// A weight [groups, outputs, channels, taps] as panels [groups, panels, taps, channels, WIDTH]; and back.
template <class T>
void order_weight(const Sizes& sizes, const Panels<T>& panels, const T* weight, T* ordered) {
    enum { WIDTH = Panels<T>::WIDTH };
    const int64_t taps = sizes.depth / sizes.channels;
    Scratch<T> turned(panels.size);
    memset(turned.data, 0, size_t(turned.count) * sizeof(T));
    for (int64_t i = 0; i < panels.count(); i++, ordered += panels.size) {
        transpose(weight + panels.first(i) * sizes.depth, sizes.depth, turned.data, int64_t(WIDTH), panels.columns(i),
                  sizes.depth);
        for (int64_t j = 0; j < sizes.depth; j++)
            memcpy(ordered + (j % taps * sizes.channels + j / taps) * WIDTH, &turned[j * WIDTH], WIDTH * sizeof(T));
    }
}

template <class T>
void restore_weight(const Sizes& sizes, const Panels<T>& panels, const T* ordered, T* weight) {
    enum { WIDTH = Panels<T>::WIDTH };
    const int64_t taps = sizes.depth / sizes.channels;
    Scratch<T> turned(panels.size);
    for (int64_t i = 0; i < panels.count(); i++, ordered += panels.size) {
        for (int64_t j = 0; j < sizes.depth; j++)
            memcpy(&turned[j * WIDTH], ordered + (j % taps * sizes.channels + j / taps) * WIDTH, WIDTH * sizeof(T));
        transpose(turned.data, int64_t(WIDTH), weight + panels.first(i) * sizes.depth, sizes.depth, sizes.depth,
                  panels.columns(i));
    }
}

// Whether rows of places fill tiles, channels or outputs vectors, and the order of the weight is made for enough places.
template <class T>
bool suits_row_products(const Sizes& sizes, const Window& window, int64_t columns) {
    enum { SHORT = 4, MANY = 256 };
    return columns >= Panels<T>::LANES && window.x.out >= SHORT && sizes.samples * sizes.positions >= MANY;
}

// ---- The result ----------------------------------------------------------------------------------------------------

// What one thread needs for blocks of out = weight @ what the window sees + bias; a block has one sample.
template <class T>
class RowProducts {
    enum { WIDTH = Panels<T>::WIDTH };
    const Sizes& sizes;
    const Window& window;
    const int64_t width, height;  // of the image that a block sees
    Scratch<T> image, sums;       // [depth, height, width, channels], [positions, WIDTH]

    // Whether a place of a block is in the image, and not between what windows see that are smaller than their stride.
    static bool is_seen(const Axis& axis, int64_t start, int64_t i) {
        return axis.holds(start + i) && i % axis.stride <= axis.dilation * (axis.kernel - 1);
    }

    // The taps that see the image at an output.
    static Span taps_in(const Axis& axis, int64_t o) {
        const int64_t start = axis.input(o, 0), step = axis.dilation;
        const int64_t begin = start < 0 ? parts_of(-start, step) : 0, end = axis.in - start;
        return {begin, end < 0 ? 0 : smaller(axis.kernel, parts_of(end, step))};
    }

public:
    RowProducts(const Sizes& sizes, const Window& window, int64_t planes, int64_t rows, int64_t columns)
        : sizes(sizes),
          window(window),
          width(window.x.seen(columns)),
          height(window.y.seen(rows)),
          image(window.z.seen(planes) * height * width * sizes.channels),
          sums(planes * rows * columns * WIDTH) {}

    // x: of the sample and group
    void fill(const T* x, const Block& block) {
        const int64_t front = window.z.input(block.plane, 0), above = window.y.input(block.row, 0);
        const int64_t left = window.x.input(block.column, 0), n = sizes.channels;
        const int64_t begin = left < 0 ? smaller(-left, width) : 0, end = smaller(width, window.x.in - left);
        for (int64_t p = 0; p < window.z.seen(block.planes); p++)
            for (int64_t r = 0; r < window.y.seen(block.rows); r++) {
                if (!is_seen(window.z, front, p) || !is_seen(window.y, above, r)) continue;
                T* row = &image[(p * height + r) * width * n];
                if (begin > 0) memset(row, 0, size_t(begin * n) * sizeof(T));
                if (begin < end)
                    transpose(x + window.row(front + p, above + r) + left + begin, window.inputs(), row + begin * n, n,
                              n, end - begin);
                const int64_t behind = end < begin ? begin : end;
                if (behind < width) memset(row + behind * n, 0, size_t((width - behind) * n) * sizeof(T));
            }
    }

    // panel: of `count` outputs, [taps, channels, WIDTH]; bias: of these or null; out: these outputs of the sample
    void compute(const Block& block, const T* panel, const T* bias, int64_t count, T* out) {
        const int64_t n = block.columns, lines = block.planes * block.rows;
        T start[WIDTH] = {};
        if (bias) memcpy(start, bias, size_t(count) * sizeof(T));
        for (int64_t i = 0; i < lines * n; i++) memcpy(&sums[i * WIDTH], start, sizeof start);
        for (int64_t line = 0; line < lines; line++)
            for (int64_t deep = 0; deep < window.z.kernel; deep++) {
                const int64_t plane = line / block.rows, row = line % block.rows;
                const Span down = taps_in(window.y, block.row + row);
                if (!window.z.holds(window.z.input(block.plane + plane, deep)) || down.begin >= down.end) continue;
                const int64_t z = plane * window.z.stride + deep * window.z.dilation,
                              y = row * window.y.stride + down.begin * window.y.dilation;
                add_rows(&image[(z * height + y) * width * sizes.channels],
                         panel + (deep * window.y.kernel + down.begin) * window.x.kernel * sizes.channels * WIDTH,
                         down.end - down.begin, n, Panels<T>::whole(count), {&sums[line * n * WIDTH], WIDTH, 1});
            }
        transpose(sums.data, int64_t(WIDTH), out + block.position(window), sizes.positions, lines * n, count);
    }

    // gradients: of the outputs of a panel, [positions of the block, WIDTH]; to += what they give the weight,
    // [taps, channels, WIDTH]
    void add_weight(const Block& block, const T* gradients, int64_t columns, T* to) const {
        const Axis &z = window.z, &y = window.y, &x = window.x;
        const int64_t n = sizes.channels, line = y.stride * width * n;
        const bool dense = x.dilation == 1;
        for (int64_t i = 0; i < z.kernel * y.kernel; i++, to += x.kernel * n * WIDTH)
            for (int64_t p = 0; p < block.planes; p++) {
                const int64_t deep = i / y.kernel, down = i % y.kernel;
                const Span all = y.outputs(down);
                const Span rows = {all.begin > block.row ? all.begin - block.row : 0,
                                   smaller(all.end - block.row, block.rows)};
                if (!z.holds(z.input(block.plane + p, deep)) || rows.begin >= rows.end) continue;
                const int64_t row =
                    (p * z.stride + deep * z.dilation) * height + rows.begin * y.stride + down * y.dilation;
                const T* from = gradients + (p * block.rows + rows.begin) * block.columns * WIDTH;
                for (int64_t j = 0; j < (dense ? 1 : x.kernel); j++)
                    panel_product(Matrix<const T>{image.data + (row * width + j * x.dilation) * n, 1, x.stride * n},
                                  Matrix<const T>{from, WIDTH, 1}, Matrix<T>{to + j * n * WIDTH, WIDTH, 1},
                                  dense ? x.kernel * n : n, columns, block.columns, true,
                                  Pieces{rows.end - rows.begin, line});
            }
    }

private:
    // Some rows of taps, which see what lies in the image: neighbours have operands that follow on each other.
    void add_rows(const T* from, const T* panel, int64_t rows, int64_t places, int64_t columns, Matrix<T> to) {
        const Axis& x = window.x;
        const int64_t n = sizes.channels, line = window.y.dilation * width * n;
        const bool dense = x.dilation == 1;
        for (int64_t i = 0; i < (dense ? 1 : rows); i++, from += line, panel += x.kernel * n * WIDTH)
            panel_product(Matrix<const T>{from, x.stride * n, 1}, Matrix<const T>{panel, WIDTH, 1}, to, places, columns,
                          dense ? x.kernel * n : n, true,
                          dense ? Pieces{rows, line} : Pieces{x.kernel, x.dilation * n});
    }
};

// ---- The gradient of the images ------------------------------------------------------------------------------------

// What one thread needs to add products to a panel of channels.
template <class T>
class Scattered {
    const Sizes& sizes;
    const Window& window;
    Scratch<T> image, rows;  // [inputs, WIDTH], [outputs, x.out]

    enum { WIDTH = Panels<T>::WIDTH };

public:
    Scattered(const Sizes& sizes, const Window& window)
        : sizes(sizes), window(window), image(window.inputs() * WIDTH), rows(sizes.outputs * window.x.out) {}

    // gradient: of a sample and group, [outputs, positions]; panels: of `count` channels, [taps, outputs, WIDTH];
    // out: these channels of the sample
    void add(const T* gradient, const T* panels, int64_t count, T* out) {
        const Axis &z = window.z, &y = window.y;
        memset(image.data, 0, size_t(image.count) * sizeof(T));
        for (int64_t p = 0; p < z.out; p++)
            for (int64_t o = 0; o < y.out; o++, gradient += window.x.out) {
                for (int64_t k = 0; k < sizes.outputs; k++)
                    copy_row(gradient + k * sizes.positions, &rows[k * window.x.out], window.x.out);
                for (int64_t i = 0; i < z.kernel * y.kernel; i++) {
                    const int64_t depth = z.input(p, i / y.kernel), row = y.input(o, i % y.kernel);
                    if (z.holds(depth) & y.holds(row))
                        add_row(window.row(depth, row), i * window.x.kernel, panels, count);
                }
            }
        transpose(image.data, int64_t(WIDTH), out, window.inputs(), window.inputs(), count);
    }

private:
    void add_row(int64_t start, int64_t first_tap, const T* panels, int64_t count) {
        const Axis& x = window.x;
        for (int64_t j = 0; j < x.kernel; j++) {
            const Span seen = x.outputs(j);
            if (seen.begin >= seen.end) continue;
            const T* panel = panels + (first_tap + j) * sizes.outputs * WIDTH;
            const Matrix<T> places = {&image[(start + x.input(seen.begin, j)) * WIDTH], x.stride * WIDTH, 1};
            panel_product(Matrix<const T>{&rows[seen.begin], 1, x.out}, Matrix<const T>{panel, WIDTH, 1}, places,
                          seen.end - seen.begin, Panels<T>::whole(count), sizes.outputs, true);
        }
    }
};

}  // namespace NORCH_ISA
