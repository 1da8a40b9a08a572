// CPU convolution: out = weight @ columns, in which column p holds what the window sees at output position p.
//
//     out       = weight   @ unfold(x)                  [outputs, depth] @ [depth, positions]
//     d weight += (unfold(x) @ gradient.T).T            [depth, positions] @ [positions, outputs]
//     d x      += fold(weight.T @ gradient)             [depth, outputs] @ [outputs, positions]
//
// for each group of channels; depth is the number of channels of a group times the taps of the window. The arithmetic is
// left to the matrix product, a block of positions at a time. Where rows of positions fill tiles, and outputs or channels
// fill vectors, no columns are made (loops/row_products.h). Otherwise only so many are made at a time as stay in the
// caches. Without a stride, d x is the convolution of the gradient with the weight in reverse. A window that sees the
// whole image has the images as its columns. Groups of one channel are left to depthwise.cpp: their products would be too
// thin for the tiles.

#include <string.h>

#include "cpu/backend.h"
#include "cpu/convolution.h"
#include "cpu/loops/matrix_product.h"
#include "cpu/loops/padded_images.h"
#include "cpu/loops/row_products.h"
#include "cpu/loops/tiles.h"
#include "host/parallel.h"

inline namespace NORCH_ISA {
namespace {

enum {
    DEPTH = 192,             // rows of the columns that are made at a time: what a tile reads stays in the first cache
    POSITIONS = 256,         // of a block, about: the weight is read once for each block
    FEWEST = 64,             // the same if there are few blocks to share between threads
    SHARED = 16,             // as many blocks as there should be
    IMAGE = 32768,           // elements of the image whose channels are brought side by side
    BLOCK = 65536,           // elements of the padded images, and of the columns if they are made at once
    PARTIALS = 16,           // parts into which the samples are split for the gradient of the weight,
    PARTIAL_SIZE = 1 << 20,  // if all of them together have at most so many elements
    SMALL_PART = 300000,     // multiplications that are not worth a second thread
};

int64_t between(int64_t low, int64_t n, int64_t high) { return n < low ? low : n > high ? high : n; }

struct Blocks {
    int64_t samples, planes, rows, columns;                  // of a block, at most
    int64_t all_samples, all_planes, all_rows, all_columns;  // of the tensor
    int64_t positions;                                       // of a block, at most

    // Blocks of about `wanted` positions, of whole rows unless they are split.
    Blocks(int64_t all_samples, int64_t wanted, const Window& window, bool splits_rows = false)
        : all_samples(all_samples), all_planes(window.z.out), all_rows(window.y.out), all_columns(window.x.out) {
        columns = splits_rows ? parts_of(all_columns, parts_of(all_columns, wanted)) : all_columns;
        rows = smaller(all_rows, columns < all_columns ? 1 : parts_of(wanted, columns));
        planes = smaller(all_planes, rows < all_rows ? 1 : parts_of(wanted, rows * columns));
        const bool is_part = columns < all_columns || rows < all_rows || planes < all_planes;
        samples = smaller(all_samples, is_part ? 1 : parts_of(wanted, window.outputs()));
        positions = samples * planes * rows * columns;
    }

    int64_t groups() const { return parts_of(all_samples, samples); }  // of samples
    int64_t per_row() const { return parts_of(all_columns, columns); }
    int64_t per_plane() const { return parts_of(all_rows, rows) * per_row(); }
    int64_t per_sample() const { return parts_of(all_planes, planes) * per_plane(); }
    int64_t count() const { return groups() * per_sample(); }
    Block at(int64_t i) const {
        const int64_t sample = i / per_sample() * samples, plane = i % per_sample() / per_plane() * planes;
        const int64_t row = i % per_plane() / per_row() * rows, column = i % per_row() * columns;
        return {sample, smaller(samples, all_samples - sample),  //
                plane,  smaller(planes, all_planes - plane),    row, smaller(rows, all_rows - row),
                column, smaller(columns, all_columns - column)};
    }
};

// The channels whose columns are made at a time: their padded images are not larger than a block either.
int64_t channels_at_once(const Sizes& sizes, const Window& window, const Blocks& blocks) {
    const int64_t image = blocks.positions * window.z.stride * window.y.stride * window.x.stride;
    const int64_t most = between(1, smaller(DEPTH / window.taps(), BLOCK / image), sizes.channels);
    return parts_of(sizes.channels, parts_of(sizes.channels, most));
}

template <class T>
Images<T> images_of(const Sizes& sizes, T* data, int64_t group, const Window& window) {
    const int64_t image = sizes.channels * window.inputs();
    return {data + group * image, sizes.groups * image, sizes.channels};
}

// The image of a group in the first sample of a block.
template <class T>
T* image_of(const Sizes& sizes, T* data, int64_t group, const Block& block, const Window& window) {
    return data + (block.sample * sizes.groups + group) * sizes.channels * window.inputs();
}

// The rows [outputs, positions of the block] of a group in a tensor [N, groups * outputs, positions] at a sample.
template <class T>
Matrix<T> rows_of(const Sizes& sizes, T* data, int64_t group, int64_t sample, int64_t position) {
    return {data + ((sample * sizes.groups + group) * sizes.outputs) * sizes.positions + position, sizes.positions, 1};
}

// ---- The result ----------------------------------------------------------------------------------------------------

// What one thread needs for blocks of out = weight @ columns + bias.
template <class T>
class Products {
    enum { WIDTH = PANEL_COLUMNS<T>, ROW = WIDTH + PaddedImages<T>::SLACK };
    const Sizes& sizes;
    const Window& window;
    const int64_t chunk;  // of channels
    PaddedImages<T> padded;
    Scratch<T> panel, buffer;

public:
    Products(const Sizes& sizes, const Window& window, const Blocks& blocks)
        : sizes(sizes),
          window(window),
          chunk(channels_at_once(sizes, window, blocks)),
          padded(window, blocks.samples, blocks.planes, blocks.rows, chunk),
          panel(chunk * window.taps() * ROW),
          buffer(blocks.samples > 1 ? sizes.outputs * blocks.positions : 0) {
        memset(panel.data, 0, size_t(panel.count) * sizeof(T));
    }

    // weight: of the group, [outputs, depth]
    void compute(const Block& block, int64_t group, const T* x, const T* weight, const T* bias, T* out) {
        const int64_t n = block.positions(), m = sizes.outputs;
        const bool direct = block.samples == 1;
        const Matrix<T> to =
            direct ? rows_of(sizes, out, group, block.sample, block.position(window)) : Matrix<T>{buffer.data, n, 1};
        for (int64_t o = 0; bias && o < m; o++)
            for (int64_t p = 0; p < n; p++) to(o, p) = bias[group * m + o];
        for (int64_t c = 0; c < sizes.channels; c += chunk) {
            const int64_t channels = smaller(chunk, sizes.channels - c);
            const Matrix<const T> factors = {weight + c * window.taps(), sizes.depth, 1};
            padded.fill(images_of(sizes, x, group, window), c, channels, block);
            for (int64_t p = 0; p < n; p += WIDTH) {
                const int64_t count = smaller(WIDTH, n - p);
                padded.columns(channels, p, count, panel.data, ROW);
                panel_product(factors, Matrix<const T>{panel.data, ROW, 1}, to.from(0, p), m, count,
                              channels * window.taps(), bias || c > 0);
            }
        }
        for (int64_t s = 0; !direct && s < block.samples; s++) {
            const Matrix<T> rows = rows_of(sizes, out, group, block.sample + s, 0);
            for (int64_t o = 0; o < m; o++)
                memcpy(&rows(o, 0), &to(o, s * sizes.positions), size_t(sizes.positions) * sizeof(T));
        }
    }
};

// A window of one tap that sees every element sees the image itself.
bool is_product(const Window& window) {
    auto is_plain = [](const Axis& axis) { return axis.kernel == 1 && axis.stride == 1 && axis.in == axis.out; };
    return is_plain(window.z) && is_plain(window.y) && is_plain(window.x);
}

// A window that sees the whole image: its only columns are the images.
bool is_whole(const Window& window) {
    auto is_all = [](const Axis& axis) { return axis.kernel == axis.in && axis.out == 1 && axis.before == 0; };
    return is_all(window.z) && is_all(window.y) && is_all(window.x);
}

// The samples of a group as rows, of a tensor [N, groups * n].
template <class T>
Matrix<T> samples_of(const Sizes& sizes, T* data, int64_t group, int64_t n) {
    return {data + group * n, sizes.groups * n, 1};
}

template <class T>
void correlate_whole(const Sizes& sizes, const T* x, const T* weight, const T* bias, T* out) {
    const int64_t m = sizes.outputs, k = sizes.depth;
    for (int64_t i = 0; bias && i < sizes.samples; i++)
        memcpy(out + i * sizes.groups * m, bias, size_t(sizes.groups * m) * sizeof(T));
    for (int64_t group = 0; group < sizes.groups; group++)
        matrix_product(samples_of(sizes, x, group, k), Matrix<const T>{weight + group * m * k, 1, k},
                       samples_of(sizes, out, group, m), sizes.samples, m, k, bias != nullptr);
}

// Blocks of one sample, whose image stays in the second cache.
Blocks row_blocks(const Sizes& sizes, const Window& window) {
    const int64_t fit = IMAGE / (window.x.stride * window.y.stride * sizes.channels);
    const int64_t wanted =
        between(FEWEST, sizes.samples * sizes.positions / SHARED, fit < FEWEST ? int64_t(FEWEST) : fit);
    return {sizes.samples, smaller(sizes.positions, wanted), window, true};
}

template <class T>
void correlate_rows(const Sizes& sizes, const Window& window, const T* x, const T* weight, const T* bias, T* out) {
    const int64_t m = sizes.outputs;
    const Panels<T> panels(sizes.groups, m, sizes.depth);
    Scratch<T> ordered(panels.count() * panels.size);
    order_weight(sizes, panels, weight, ordered.data);
    const Blocks blocks = row_blocks(sizes, window);
    const int64_t work = m * blocks.positions * sizes.depth;
    parallel_for(blocks.count() * sizes.groups, 1 + SMALL_PART / work, [&](int64_t begin, int64_t end) {
        RowProducts<T> products(sizes, window, blocks.planes, blocks.rows, blocks.columns);
        for (int64_t i = begin; i < end; i++) {
            const int64_t group = i % sizes.groups;
            const Block block = blocks.at(i / sizes.groups);
            products.fill(image_of(sizes, x, group, block, window), block);
            for (int64_t p = group * panels.of_group; p < (group + 1) * panels.of_group; p++) {
                const int64_t first = panels.first(p);
                products.compute(block, &ordered[p * panels.size], bias ? bias + first : nullptr, panels.columns(p),
                                 out + (block.sample * sizes.groups * m + first) * sizes.positions);
            }
        }
    });
}

// weight: [groups * outputs, depth]
template <class T>
void correlate(const Sizes& sizes, const Window& window, const T* x, const T* weight, const T* bias, T* out) {
    const int64_t m = sizes.outputs, all = sizes.samples * sizes.positions;
    if (is_whole(window)) return correlate_whole(sizes, x, weight, bias, out);
    if (is_product(window) && sizes.positions >= FEWEST) {
        const int64_t work = m * sizes.positions * sizes.depth;
        parallel_for(sizes.samples * sizes.groups, 1 + SMALL_PART / work, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; i++) {
                const int64_t group = i % sizes.groups;
                const Matrix<T> to = {out + i * m * sizes.positions, sizes.positions, 1};
                for (int64_t o = 0; bias && o < m; o++)
                    for (int64_t p = 0; p < sizes.positions; p++) to(o, p) = bias[group * m + o];
                matrix_product(Matrix<const T>{weight + group * m * sizes.depth, sizes.depth, 1},
                               Matrix<const T>{x + i * sizes.depth * sizes.positions, sizes.positions, 1}, to, m,
                               sizes.positions, sizes.depth, bias != nullptr);
            }
        });
        return;
    }
    if (suits_row_products<T>(sizes, window, m)) return correlate_rows(sizes, window, x, weight, bias, out);
    const Blocks blocks(sizes.samples, between(FEWEST, all / SHARED, POSITIONS), window);
    const int64_t work = m * blocks.positions * sizes.depth;
    parallel_for(blocks.count() * sizes.groups, 1 + SMALL_PART / work, [&](int64_t begin, int64_t end) {
        Products<T> products(sizes, window, blocks);
        for (int64_t i = begin; i < end; i++) {
            const int64_t group = i % sizes.groups;
            products.compute(blocks.at(i / sizes.groups), group, x, weight + group * m * sizes.depth, bias, out);
        }
    });
}

// ---- The gradient of the images ------------------------------------------------------------------------------------

// to[c][o][tap] = weight[o][c][the taps in reverse], in squares that write whole lines of the cache.
template <class T>
void turn(const T* weight, T* to, int64_t outputs, int64_t channels, int64_t taps) {
    enum { SIDE = 64 / sizeof(T) };
    for (int64_t i = 0; i < outputs; i += SIDE)
        for (int64_t j = 0; j < channels; j += SIDE) {
            const int64_t rows = smaller(SIDE, outputs - i), columns = smaller(SIDE, channels - j);
            if (taps == 1) {
                transpose(weight + i * channels + j, channels, to + j * outputs + i, outputs, rows, columns);
                continue;
            }
            for (int64_t c = j; c < j + columns; c++)
                for (int64_t o = i; o < i + rows; o++) {
                    const T* from = weight + (o * channels + c) * taps;
                    T* filter = to + (c * outputs + o) * taps;
                    for (int64_t tap = 0; tap < taps; tap++) filter[tap] = from[taps - 1 - tap];
                }
        }
}

// The convolution of the gradient with the weight in reverse.
template <class T>
void input_unstrided(const Sizes& sizes, const Window& window, const T* gradient, const T* weight, T* out) {
    const int64_t taps = window.taps(), all = sizes.outputs * sizes.channels * taps;  // of a group
    Scratch<T> turned(sizes.groups * all);
    for (int64_t group = 0; group < sizes.groups; group++)
        turn(weight + group * all, &turned[group * all], sizes.outputs, sizes.channels, taps);
    Sizes back = sizes;
    back.channels = sizes.outputs, back.outputs = sizes.channels;
    back.depth = back.channels * taps, back.positions = window.inputs();
    correlate(back, reversed(window), gradient, turned.data, static_cast<const T*>(nullptr), out);
}

template <class T>
void input_whole(const Sizes& sizes, const T* gradient, const T* weight, T* out) {
    const int64_t m = sizes.outputs, k = sizes.depth;
    for (int64_t group = 0; group < sizes.groups; group++)
        matrix_product(samples_of(sizes, gradient, group, m), Matrix<const T>{weight + group * m * k, k, 1},
                       samples_of(sizes, out, group, k), sizes.samples, k, m, false);
}

template <class T>
void input_scattered(const Sizes& sizes, const Window& window, const T* gradient, const T* weight, T* out) {
    const int64_t m = sizes.outputs, taps = window.taps(), images = sizes.channels * window.inputs();
    const Panels<T> panels(sizes.groups, sizes.channels, taps * m);
    Scratch<T> ordered(panels.count() * panels.size);  // [groups, panels, taps, outputs, WIDTH]
    if (sizes.channels % panels.WIDTH) memset(ordered.data, 0, size_t(ordered.count) * sizeof(T));
    for (int64_t p = 0; p < panels.count(); p++)
        for (int64_t o = 0; o < m; o++) {
            const int64_t group = p / panels.of_group, channel = panels.first(p) - group * sizes.channels;
            transpose(weight + ((group * m + o) * sizes.channels + channel) * taps, taps,
                      &ordered[p * panels.size + o * panels.WIDTH], m * panels.WIDTH, panels.columns(p), taps);
        }
    const int64_t work = sizes.positions * panels.size;
    parallel_for(sizes.samples * panels.count(), 1 + SMALL_PART / work, [&](int64_t begin, int64_t end) {
        Scattered<T> scattered(sizes, window);
        for (int64_t i = begin; i < end; i++) {
            const int64_t sample = i / panels.count(), p = i % panels.count(), group = p / panels.of_group;
            scattered.add(gradient + (sample * sizes.groups + group) * m * sizes.positions, &ordered[p * panels.size],
                          panels.columns(p), out + sample * sizes.groups * images + panels.first(p) * window.inputs());
        }
    });
}

// The rows of a block of the gradient: a view, or a copy if the block has several samples.
template <class T>
Matrix<const T> gathered(const Sizes& sizes, const T* gradient, int64_t group, const Block& block, int64_t position,
                         T* buffer) {
    if (block.samples == 1) return rows_of(sizes, gradient, group, block.sample, position);
    const int64_t width = block.samples * sizes.positions;
    for (int64_t s = 0; s < block.samples; s++) {
        const Matrix<const T> rows = rows_of(sizes, gradient, group, block.sample + s, 0);
        for (int64_t o = 0; o < sizes.outputs; o++)
            memcpy(buffer + o * width + s * sizes.positions, &rows(o, 0), size_t(sizes.positions) * sizeof(T));
    }
    return {buffer, width, 1};
}

// Samples are split between threads; the blocks of a sample overlap in it.
template <class T>
void input_strided(const Sizes& sizes, const Window& window, const T* gradient, const T* weight, T* out) {
    const Blocks blocks(sizes.samples, between(POSITIONS, BLOCK / sizes.depth, BLOCK), window);
    const int64_t m = sizes.depth, k = sizes.outputs;
    memset(out, 0, size_t(sizes.samples * sizes.groups * sizes.channels * window.inputs()) * sizeof(T));
    parallel_for(blocks.groups(), 1, [&](int64_t begin, int64_t end) {
        Scratch<T> columns(m * blocks.positions), buffer(k * blocks.positions);
        for (int64_t i = begin * blocks.per_sample(); i < end * blocks.per_sample(); i++) {
            const Block block = blocks.at(i);
            const int64_t n = block.positions();
            for (int64_t group = 0; group < sizes.groups; group++) {
                const Matrix<const T> rows =
                    gathered(sizes, gradient, group, block, block.position(window), buffer.data);
                const Matrix<const T> taps = {weight + group * k * m, 1, m};
                matrix_product(taps, rows, Matrix<T>{columns.data, n, 1}, m, n, k, false);
                fold_block(columns.data, window, block, images_of(sizes, out, group, window));
            }
        }
    });
}

}  // namespace

void conv_tensor_cpu(const Tensor& x, const Tensor& weight, const Tensor* bias, Tensor& out, const Window& window) {
    const Sizes sizes(x, weight, window);
    for_real(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* start = bias ? data_as<const T>(*bias) : nullptr;
        (is_depthwise(sizes) ? depthwise<T> : correlate<T>)(sizes, window, data_as<const T>(x),
                                                            data_as<const T>(weight), start, data_as<T>(out));
    });
}

// out = the gradient of x. With a stride it sees no more than a part of the weight, and adding it up is less work; so it
// is if the result is much larger than the gradient.
void conv_input_tensor_cpu(const Tensor& gradient, const Tensor& weight, Tensor& out, const Window& window) {
    const Sizes sizes(out, weight, window);
    const bool strided = is_strided(window) || window.inputs() > 2 * window.outputs();
    for_real(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const T *given = data_as<const T>(gradient), *filters = data_as<const T>(weight);
        T* images = data_as<T>(out);
        if (is_depthwise(sizes)) return depthwise_input(sizes, window, given, filters, images);
        if (is_whole(window)) return input_whole(sizes, given, filters, images);
        if (!strided) return input_unstrided(sizes, window, given, filters, images);
        (suits_row_products<T>(sizes, window, sizes.channels) ? input_scattered<T> : input_strided<T>)(sizes, window,
                                                                                                       given, filters,
                                                                                                       images);
    });
}

// ---- The gradient of the weight ------------------------------------------------------------------------------------

namespace {

// out[groups][depth][outputs] += unfold(x) @ gradient.T for the blocks begin to end - 1
template <class T>
void add_weight_blocks(const Sizes& sizes, const Window& window, const Blocks& blocks, int64_t begin, int64_t end,
                       const T* gradient, const T* x, T* out) {
    const int64_t m = sizes.outputs, taps = window.taps(), chunk = channels_at_once(sizes, window, blocks);
    const int64_t row = POSITIONS + PaddedImages<T>::SLACK;
    PaddedImages<T> padded(window, blocks.samples, blocks.planes, blocks.rows, chunk);
    Scratch<T> columns(chunk * taps * row), turned(blocks.positions * m);
    for (int64_t i = begin; i < end; i++) {
        const Block block = blocks.at(i);
        const int64_t n = block.planes * block.rows * window.x.out, all = block.samples * n;
        for (int64_t group = 0; group < sizes.groups; group++) {
            for (int64_t s = 0; s < block.samples; s++) {
                const Matrix<const T> rows = rows_of(sizes, gradient, group, block.sample + s, block.position(window));
                transpose(rows.data, rows.row, &turned[s * n * m], m, m, n);
            }
            for (int64_t c = 0; c < sizes.channels; c += chunk) {
                const int64_t channels = smaller(chunk, sizes.channels - c);
                const Matrix<T> to = {out + (group * sizes.depth + c * taps) * m, m, 1};
                padded.fill(images_of(sizes, x, group, window), c, channels, block);
                for (int64_t p = 0; p < all; p += POSITIONS) {
                    const int64_t count = smaller(POSITIONS, all - p);
                    padded.columns(channels, p, count, columns.data, row);
                    matrix_product(Matrix<const T>{columns.data, row, 1}, Matrix<const T>{&turned[p * m], m, 1}, to,
                                   channels * taps, m, count, true);
                }
            }
        }
    }
}

// The same for rows of places: out[groups][panels][taps][channels][WIDTH] += the products with the gradient
template <class T>
void add_weight_rows(const Sizes& sizes, const Window& window, const Blocks& blocks, int64_t begin, int64_t end,
                     const T* gradient, const T* x, const Panels<T>& panels, T* out) {
    enum { WIDTH = Panels<T>::WIDTH };
    RowProducts<T> products(sizes, window, blocks.planes, blocks.rows, blocks.columns);
    Scratch<T> turned(blocks.positions * WIDTH);
    for (int64_t i = begin; i < end; i++) {
        const Block block = blocks.at(i);
        for (int64_t group = 0; group < sizes.groups; group++) {
            products.fill(image_of(sizes, x, group, block, window), block);
            for (int64_t p = group * panels.of_group; p < (group + 1) * panels.of_group; p++) {
                const Matrix<const T> rows = rows_of(sizes, gradient, 0, block.sample, block.position(window));
                transpose(&rows(panels.first(p), 0), rows.row, turned.data, int64_t(WIDTH), panels.columns(p),
                          block.positions());
                products.add_weight(block, turned.data, panels.whole(panels.columns(p)), out + p * panels.size);
            }
        }
    }
}

// Sums of parts of the blocks, which do not depend on the number of threads: add(begin, end, sums) adds those of some
// blocks, use(sums) takes all of them.
template <class T, class F, class G>
void sum_parts(int64_t blocks, int64_t size, F add, G use) {
    const int64_t parts = smaller(blocks, PARTIALS * size > PARTIAL_SIZE ? 1 : int64_t(PARTIALS));
    Scratch<T> partial(parts * size);
    memset(partial.data, 0, size_t(partial.count) * sizeof(T));
    parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
        for (int64_t part = begin; part < end; part++)
            add(part * blocks / parts, (part + 1) * blocks / parts, &partial[part * size]);
    });
    T* total = partial.data;
    for (int64_t part = 1; part < parts; part++)
        INDEPENDENT for (int64_t i = 0; i < size; i++) total[i] += partial[part * size + i];
    use(total);
}

template <class T>
void weight_whole(const Sizes& sizes, const T* gradient, const T* x, T* out) {
    const int64_t m = sizes.outputs, k = sizes.depth;
    for (int64_t group = 0; group < sizes.groups; group++)
        matrix_product(samples_of(sizes, gradient, group, m).transposed(), samples_of(sizes, x, group, k),
                       Matrix<T>{out + group * m * k, k, 1}, m, k, sizes.samples, false);
}

template <class T>
void weight_of_rows(const Sizes& sizes, const Window& window, const T* gradient, const T* x, T* out) {
    const Blocks blocks = row_blocks(sizes, window);
    const Panels<T> panels(sizes.groups, sizes.outputs, sizes.depth);
    sum_parts<T>(
        blocks.count(), panels.count() * panels.size,
        [&](int64_t begin, int64_t end, T* sums) {
            add_weight_rows(sizes, window, blocks, begin, end, gradient, x, panels, sums);
        },
        [&](const T* sums) { restore_weight(sizes, panels, sums, out); });
}

template <class T>
void weight_of_columns(const Sizes& sizes, const Window& window, const T* gradient, const T* x, T* out) {
    const Blocks blocks(sizes.samples, between(POSITIONS, BLOCK / sizes.depth, BLOCK), window);
    const int64_t group = sizes.depth * sizes.outputs;
    sum_parts<T>(
        blocks.count(), sizes.groups * group,
        [&](int64_t begin, int64_t end, T* sums) {
            add_weight_blocks(sizes, window, blocks, begin, end, gradient, x, sums);
        },
        [&](const T* sums) {
            for (int64_t at = 0; at < sizes.groups * group; at += group)
                transpose(sums + at, sizes.outputs, out + at, sizes.depth, sizes.depth, sizes.outputs);
        });
}

}  // namespace

void conv_weight_tensor_cpu(const Tensor& gradient, const Tensor& x, Tensor& out, const Window& window) {
    const Sizes sizes(x, out, window);
    for_real(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const T *given = data_as<const T>(gradient), *images = data_as<const T>(x);
        T* weight = data_as<T>(out);
        if (is_depthwise(sizes)) return depthwise_weight(sizes, window, given, images, weight);
        if (is_whole(window)) return weight_whole(sizes, given, images, weight);
        const bool of_rows = suits_row_products<T>(sizes, window, sizes.outputs);
        (of_rows ? weight_of_rows<T> : weight_of_columns<T>)(sizes, window, given, images, weight);
    });
}

}  // namespace NORCH_ISA
