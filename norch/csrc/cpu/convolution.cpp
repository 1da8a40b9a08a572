// CPU convolution: out = weight @ columns, in which column p holds what the window sees at output position p.
//
// unfold brings an image into columns, fold adds columns back into an image. A convolution does this for a block of
// output positions at a time, whose columns stay in the second cache, and leaves the arithmetic to the matrix product:
//
//     out       = weight   @ unfold(x)                  [outputs, depth] @ [depth, positions]
//     d weight += gradient @ unfold(x).T                [outputs, positions] @ [positions, depth]
//     d x      += fold(weight.T @ gradient)             [depth, outputs] @ [outputs, positions]
//
// for each group of channels; depth is the number of channels of a group times the taps of the window. Groups of one
// channel (a depthwise convolution) are computed directly: their products would be too thin for the tiles.

#include <string.h>

#include "cpu/backend.h"
#include "host/parallel.h"
#include "cpu/loops/matrix_product.h"
#include "cpu/loops/odometer.h"
#include "ops/windows.h"

inline namespace NORCH_ISA {
namespace {

enum {
    BLOCK = 65536,           // elements of the columns of a block,
    POSITIONS = 256,         // which has at least so many columns: the weight is read once for each block
    PARTIALS = 16,           // parts into which the samples are split for the gradient of the weight,
    PARTIAL_SIZE = 1 << 20,  // if all of them together have at most so many elements
};

// ---- Columns -----------------------------------------------------------------------------------------------------

// A stretch of output positions: some whole samples, or some output rows of one sample.
struct Block {
    int64_t sample, samples, row, rows;
};

struct Blocks {
    int64_t samples, rows;          // of a block, at most
    int64_t all_samples, all_rows;  // of the tensor
    int64_t per_sample;             // blocks, if a sample has several
    int64_t positions;              // of a block, at most

    Blocks(int64_t all_samples, int64_t depth, const Window& window)
        : all_samples(all_samples), all_rows(window.y.out) {
        const int64_t wanted = BLOCK / depth < POSITIONS ? int64_t(POSITIONS) : BLOCK / depth;
        rows = smaller(all_rows, (wanted + window.x.out - 1) / window.x.out);
        samples = rows < all_rows ? 1 : smaller(all_samples, 1 + (wanted - 1) / window.outputs());
        per_sample = (all_rows + rows - 1) / rows;
        positions = samples * rows * window.x.out;
    }

    int64_t groups() const { return (all_samples + samples - 1) / samples; }  // of samples
    Block at(int64_t group, int64_t part) const {
        return {group * samples, smaller(samples, all_samples - group * samples), part * rows,
                smaller(rows, all_rows - part * rows)};
    }
};

// What every function below works on: images of the channels of one group, [samples, channels, y.in, x.in].
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

// ---- Convolution -------------------------------------------------------------------------------------------------

// The sizes of a convolution, from its tensors [N, channels, ...] and its weight [outputs, channels / groups, ...].
struct Sizes {
    int64_t samples, groups, channels, outputs;  // the last two of a group
    int64_t depth, positions;                    // of a sample

    Sizes(const Tensor& images, const Tensor& weight, const Window& window)
        : samples(images.shape[0]),
          groups(images.shape[1] / weight.shape[1]),
          channels(weight.shape[1]),
          outputs(weight.shape[0] / groups),
          depth(channels * window.taps()),
          positions(window.outputs()) {}

    template <class T>
    Images<T> images(T* data, int64_t group, const Window& window) const {
        const int64_t image = channels * window.inputs();
        return {data + group * image, groups * image, channels};
    }
    // The rows [outputs, positions of the block] of a group in a tensor [N, groups * outputs, positions] at a sample.
    template <class T>
    Matrix<T> rows(T* data, int64_t group, int64_t sample, int64_t position) const {
        return {data + ((sample * groups + group) * outputs) * positions + position, positions, 1};
    }
};

// The rows of a block of the gradient: a view, or a copy if the block has several samples.
template <class T>
Matrix<const T> gathered(const Sizes& sizes, const T* gradient, int64_t group, const Block& block, int64_t position,
                         T* buffer) {
    if (block.samples == 1) return sizes.rows(gradient, group, block.sample, position);
    const int64_t width = block.samples * sizes.positions;
    for (int64_t s = 0; s < block.samples; s++) {
        const Matrix<const T> rows = sizes.rows(gradient, group, block.sample + s, 0);
        for (int64_t o = 0; o < sizes.outputs; o++)
            memcpy(buffer + o * width + s * sizes.positions, &rows(o, 0), size_t(sizes.positions) * sizeof(T));
    }
    return {buffer, width, 1};
}

// out = weight @ columns + bias, for one group of channels and one block
template <class T>
void conv_block(const Sizes& sizes, const Block& block, const Window& window, int64_t group, const T* x,
                const T* weight, const T* bias, T* out, T* columns, T* buffer) {
    const int64_t n = block.samples * block.rows * window.x.out, m = sizes.outputs, depth = sizes.depth;
    unfold_block(sizes.images(x, group, window), window, block, columns);
    const bool direct = block.samples == 1;
    const Matrix<T> to =
        direct ? sizes.rows(out, group, block.sample, block.row * window.x.out) : Matrix<T>{buffer, n, 1};
    for (int64_t o = 0; o < m; o++) {
        const T start = bias ? bias[group * m + o] : T(0);
        for (int64_t p = 0; p < n; p++) to(o, p) = start;
    }
    matrix_product(Matrix<const T>{weight + group * m * depth, depth, 1}, Matrix<const T>{columns, n, 1}, to, m, n,
                   depth, true);
    if (direct) return;
    for (int64_t s = 0; s < block.samples; s++) {
        const Matrix<T> rows = sizes.rows(out, group, block.sample + s, 0);
        for (int64_t o = 0; o < m; o++)
            memcpy(&rows(o, 0), &to(o, s * sizes.positions), size_t(sizes.positions) * sizeof(T));
    }
}

// ---- Depthwise convolution: groups of one channel -----------------------------------------------------------------

bool is_depthwise(const Sizes& sizes) { return sizes.groups > 1 && sizes.channels == 1 && sizes.outputs <= 4; }

// Calls f(tap, elements of a plane of outputs, of its image, first, last) for each row of outputs: outputs first to
// last - 1 of the row see elements of the image, `stride` apart. Bands of rows stay in the first cache.
template <class F>
void for_each_tap(const Window& window, F f) {
    enum { BAND = 2048 };
    const Axis &y = window.y, &x = window.x;
    const int64_t rows = 1 + BAND / x.out;
    for (int64_t band = 0; band < y.out; band += rows)
        for (int64_t i = 0; i < y.kernel; i++)
            for (int64_t j = 0; j < x.kernel; j++) {
                const Span seen = x.outputs(j);
                const int64_t start = x.input(0, j);
                for (int64_t o = band; o < smaller(band + rows, y.out); o++) {
                    const int64_t row = y.input(o, i);
                    if (y.holds(row) && seen.begin < seen.end)
                        f(i * x.kernel + j, o * x.out, row * x.in + start, seen.begin, seen.end);
                }
            }
}

// Calls f(image, plane of outputs, channel of out) for each of them, images of one channel on one thread.
template <class F>
void for_each_plane(const Sizes& sizes, const Window& window, F f) {
    const int64_t work = window.outputs() * window.taps() * sizes.outputs;
    parallel_for(sizes.samples * sizes.groups, 1 + SMALL_WORK / work, [&](int64_t begin, int64_t end) {
        for (int64_t image = begin; image < end; image++)
            for (int64_t k = 0; k < sizes.outputs; k++)
                f(image, image * sizes.outputs + k, image % sizes.groups * sizes.outputs + k);
    });
}

// An image with its padding, so that each tap sees a row of outputs at contiguous places: the elements of a row that lie
// a stride apart are brought together, one such part after the other.
template <class T>
class Phases {
    enum { ROWS = 4, WIDTH = 64 / sizeof(T) };  // outputs that are computed at once
    typedef T Vector __attribute__((vector_size(64)));
    struct Unaligned {
        Vector values;
    } __attribute__((packed, may_alias, aligned(sizeof(T))));

    const Window& window;
    int64_t length, step;  // elements of a part; from one row of outputs to the next
    Scratch<T> image;
    Scratch<int64_t> offsets;  // of each tap

    static int64_t rounded(int64_t n, int64_t to) { return (n + to - 1) / to * to; }
    static int64_t part_of(const Axis& x) { return rounded(x.out, WIDTH) + x.dilation * (x.kernel - 1) / x.stride + 1; }
    static int64_t rows_of(const Axis& y) {
        return (rounded(y.out, ROWS) - 1) * y.stride + y.dilation * (y.kernel - 1) + 1;
    }
    static const Unaligned& at(const T* x) { return *reinterpret_cast<const Unaligned*>(x); }

public:
    explicit Phases(const Window& window)
        : window(window),
          length(part_of(window.x)),
          step(window.y.stride * window.x.stride * length),
          image(rows_of(window.y) * window.x.stride * length),
          offsets(window.taps()) {
        const Axis &y = window.y, &x = window.x;
        for (int64_t i = 0; i < y.kernel; i++)
            for (int64_t j = 0; j < x.kernel; j++) {
                const int64_t column = j * x.dilation;
                offsets[i * x.kernel + j] =
                    (i * y.dilation * x.stride + column % x.stride) * length + column / x.stride;
            }
        memset(image.data, 0, size_t(image.count) * sizeof(T));
    }

    void fill(const T* x) {
        const Axis &down = window.y, &across = window.x;
        const int64_t stride = across.stride, rows = image.count / (stride * length);
        for (int64_t r = 0; r < rows; r++) {
            if (!down.holds(r - down.before)) continue;  // which stays 0
            const T* from = x + (r - down.before) * across.in;
            for (int64_t part = 0; part < stride; part++) {
                T* to = &image[(r * stride + part) * length];
                const int64_t start = part - across.before;  // to[k] is from[start + k * stride], if there is one
                const int64_t first = start < 0 ? (-start + stride - 1) / stride : 0;
                const int64_t last = smaller(length, (across.in - start + stride - 1) / stride);
                if (stride == 1)
                    INDEPENDENT for (int64_t k = first; k < last; k++) to[k] = from[start + k];
                else if (stride == 2)
                    INDEPENDENT for (int64_t k = first; k < last; k++) to[k] = from[start + 2 * k];
                else
                    for (int64_t k = first; k < last; k++) to[k] = from[start + k * stride];
            }
        }
    }

    // out[o] = start + the sum of what the taps see at o times their weights
    void correlate(const T* weight, T start, T* out) const {
        const int64_t width = window.x.out, taps = window.taps();
        for (int64_t oy = 0; oy < window.y.out; oy += ROWS)
            for (int64_t ox = 0; ox < width; ox += WIDTH) {
                const T* from = image.data + oy * step + ox;
                Vector sums[ROWS];
                for (int r = 0; r < ROWS; r++) sums[r] = start - Vector{};
                for (int64_t tap = 0; tap < taps; tap++) {
                    const T* seen = from + offsets.data[tap];
                    const T factor = weight[tap];
                    for (int r = 0; r < ROWS; r++) sums[r] += factor * at(seen + r * step).values;
                }
                for (int r = 0; r < ROWS && oy + r < window.y.out; r++)
                    memcpy(out + (oy + r) * width + ox, &sums[r], size_t(smaller(WIDTH, width - ox)) * sizeof(T));
            }
    }

    static int64_t padded_width(const Window& window) { return rounded(window.x.out, WIDTH); }

    // totals[tap] += the sum of gradient[o] times what the tap sees at o; rows of the gradient have a padded width
    template <int TAPS>
    void add_products(const T* gradient, int64_t tap, double* totals) const {
        const int64_t width = padded_width(window);
        Vector sums[TAPS] = {};
        const T* seen[TAPS];
        for (int k = 0; k < TAPS; k++) seen[k] = image.data + offsets.data[tap + k];
        for (int64_t oy = 0; oy < window.y.out; oy++)
            for (int64_t ox = 0; ox < width; ox += WIDTH) {
                const Vector g = at(gradient + oy * width + ox).values;
                for (int k = 0; k < TAPS; k++) sums[k] += g * at(seen[k] + oy * step + ox).values;
            }
        for (int k = 0; k < TAPS; k++)
            for (int j = 0; j < WIDTH; j++) totals[tap + k] += double(sums[k][j]);
    }
};

template <class T>
void depthwise(const Sizes& sizes, const Window& window, const T* x, const T* weight, const T* bias, T* out) {
    const int64_t work = window.outputs() * window.taps() * sizes.outputs;
    parallel_for(sizes.samples * sizes.groups, 1 + SMALL_WORK / work, [&](int64_t begin, int64_t end) {
        Phases<T> phases(window);
        for (int64_t image = begin; image < end; image++) {
            phases.fill(x + image * window.inputs());
            for (int64_t k = 0; k < sizes.outputs; k++) {
                const int64_t channel = image % sizes.groups * sizes.outputs + k;
                phases.correlate(weight + channel * window.taps(), bias ? bias[channel] : T(0),
                                 out + (image * sizes.outputs + k) * window.outputs());
            }
        }
    });
}

// The window that sees the gradient of a window of stride 1, from the image: its taps are those in reverse.
Window reversed(const Window& window) {
    auto reverse = [](const Axis& axis) {
        return Axis{axis.out, axis.in, axis.kernel, 1, axis.dilation, axis.dilation * (axis.kernel - 1) - axis.before};
    };
    return {reverse(window.y), reverse(window.x)};
}

template <class T>
void depthwise_input_unstrided(const Sizes& sizes, const Window& window, const T* gradient, const T* weight, T* out) {
    const Window back = reversed(window);
    const int64_t taps = window.taps();
    Scratch<T> turned(sizes.groups * taps);
    for (int64_t c = 0; c < sizes.groups; c++)
        for (int64_t tap = 0; tap < taps; tap++) turned[c * taps + tap] = weight[c * taps + taps - 1 - tap];
    Sizes alike = sizes;
    alike.outputs = 1;
    depthwise(alike, back, gradient, turned.data, static_cast<const T*>(nullptr), out);
}

template <class T>
void depthwise_input(const Sizes& sizes, const Window& window, const T* gradient, const T* weight, T* out) {
    if (window.y.stride == 1 && window.x.stride == 1 && sizes.outputs == 1)
        return depthwise_input_unstrided(sizes, window, gradient, weight, out);
    memset(out, 0, size_t(sizes.samples * sizes.groups * window.inputs()) * sizeof(T));
    for_each_plane(sizes, window, [&](int64_t image, int64_t plane, int64_t channel) {
        const T *from = gradient + plane * window.outputs(), *taps = weight + channel * window.taps();
        T* to = out + image * window.inputs();
        for_each_tap(window, [=](int64_t tap, int64_t at, int64_t in, int64_t first, int64_t last) {
            const T factor = taps[tap], *row = from + at;
            T* seen = to + in;
            with_stride(window.x.stride, first, last, [=](int64_t o, int64_t i) { seen[i] += factor * row[o]; });
        });
    });
}

// The sums over a plane go into vectors of partial sums, those over the samples into double.
template <class T>
void depthwise_weight(const Sizes& sizes, const Window& window, const T* gradient, const T* x, T* out) {
    const int64_t channels = sizes.groups * sizes.outputs, taps = window.taps(), rows = window.y.out;
    const int64_t width = window.x.out, padded = Phases<T>::padded_width(window);
    parallel_for(channels, 1 + SMALL_WORK / (sizes.samples * window.outputs() * taps), [&](int64_t begin, int64_t end) {
        Phases<T> phases(window);
        Scratch<T> g(rows * padded);
        Scratch<double> totals(taps);
        memset(g.data, 0, size_t(g.count) * sizeof(T));
        for (int64_t channel = begin; channel < end; channel++) {
            for (int64_t tap = 0; tap < taps; tap++) totals[tap] = 0;
            for (int64_t sample = 0; sample < sizes.samples; sample++) {
                phases.fill(x + (sample * sizes.groups + channel / sizes.outputs) * window.inputs());
                const T* from = gradient + (sample * channels + channel) * window.outputs();
                for (int64_t r = 0; r < rows; r++) memcpy(&g[r * padded], from + r * width, size_t(width) * sizeof(T));
                int64_t tap = 0;
                for (; tap + 4 <= taps; tap += 4) phases.template add_products<4>(g.data, tap, totals.data);
                for (; tap < taps; tap++) phases.template add_products<1>(g.data, tap, totals.data);
            }
            for (int64_t tap = 0; tap < taps; tap++) out[channel * taps + tap] = T(totals[tap]);
        }
    });
}

}  // namespace

// out[n, c * taps + tap, p] = what tap sees in channel c of x[n] at position p
void unfold_tensor_cpu(const Tensor& x, Tensor& out, const Window& window) {
    INTEGERS_IN_BASELINE(x.dtype, unfold, x, out, window);
    for_any(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const int64_t image = window.inputs(), column = window.taps() * window.outputs();
        parallel_for(x.shape[0] * x.shape[1], 1 + SMALL_WORK / column, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; i++)
                unfold_block<T>({data_as<T>(x) + i * image, 0, 1}, window, {0, 1, 0, window.y.out},
                                data_as<T>(out) + i * column);
        });
    });
}

// out[n, c] = the sum of what unfold takes from each place of it
void fold_tensor_cpu(const Tensor& columns, Tensor& out, const Window& window) {
    INTEGERS_IN_BASELINE(out.dtype, fold, columns, out, window);
    for_any(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const int64_t image = window.inputs(), column = window.taps() * window.outputs();
        parallel_for(out.shape[0] * out.shape[1], 1 + SMALL_WORK / column, [&](int64_t begin, int64_t end) {
            memset(data_as<T>(out) + begin * image, 0, size_t((end - begin) * image) * sizeof(T));
            for (int64_t i = begin; i < end; i++)
                fold_block<T>(data_as<T>(columns) + i * column, window, {0, 1, 0, window.y.out},
                              {data_as<T>(out) + i * image, 0, 1});
        });
    });
}

void conv_tensor_cpu(const Tensor& x, const Tensor& weight, const Tensor* bias, Tensor& out, const Window& window) {
    const Sizes sizes(x, weight, window);
    const Blocks blocks(sizes.samples, sizes.depth, window);
    for_real(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        if (is_depthwise(sizes))
            return depthwise(sizes, window, data_as<const T>(x), data_as<const T>(weight),
                             bias ? data_as<const T>(*bias) : nullptr, data_as<T>(out));
        parallel_for(blocks.groups() * blocks.per_sample, 1, [&](int64_t begin, int64_t end) {
            Scratch<T> columns(sizes.depth * blocks.positions), buffer(sizes.outputs * blocks.positions);
            for (int64_t i = begin; i < end; i++)
                for (int64_t group = 0; group < sizes.groups; group++)
                    conv_block(sizes, blocks.at(i / blocks.per_sample, i % blocks.per_sample), window, group,
                               data_as<T>(x), data_as<T>(weight), bias ? data_as<T>(*bias) : nullptr, data_as<T>(out),
                               columns.data, buffer.data);
        });
    });
}

// out = the gradient of x. Samples are split between threads; the blocks of a sample overlap in it.
void conv_input_tensor_cpu(const Tensor& gradient, const Tensor& weight, Tensor& out, const Window& window) {
    const Sizes sizes(out, weight, window);
    const Blocks blocks(sizes.samples, sizes.depth, window);
    for_real(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        if (is_depthwise(sizes))
            return depthwise_input(sizes, window, data_as<const T>(gradient), data_as<const T>(weight),
                                   data_as<T>(out));
        const int64_t m = sizes.depth, k = sizes.outputs;
        memset(out.data, 0, size_t(out.size) * sizeof(T));
        parallel_for(blocks.groups(), 1, [&](int64_t begin, int64_t end) {
            Scratch<T> columns(m * blocks.positions), buffer(k * blocks.positions);
            for (int64_t i = begin * blocks.per_sample; i < end * blocks.per_sample; i++) {
                const Block block = blocks.at(i / blocks.per_sample, i % blocks.per_sample);
                const int64_t n = block.samples * block.rows * window.x.out;
                for (int64_t group = 0; group < sizes.groups; group++) {
                    const Matrix<const T> rows =
                        gathered(sizes, data_as<T>(gradient), group, block, block.row * window.x.out, buffer.data);
                    const Matrix<const T> taps = {data_as<T>(weight) + group * k * m, 1, m};
                    matrix_product(taps, rows, Matrix<T>{columns.data, n, 1}, m, n, k, false);
                    fold_block(columns.data, window, block, sizes.images(data_as<T>(out), group, window));
                }
            }
        });
    });
}

// out = the gradient of the weight: the sums of parts of the samples, which do not depend on the number of threads.
void conv_weight_tensor_cpu(const Tensor& gradient, const Tensor& x, Tensor& out, const Window& window) {
    const Sizes sizes(x, out, window);
    const Blocks blocks(sizes.samples, sizes.depth, window);
    for_real(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        if (is_depthwise(sizes))
            return depthwise_weight(sizes, window, data_as<const T>(gradient), data_as<const T>(x), data_as<T>(out));
        const int64_t m = sizes.outputs, n = sizes.depth, count = blocks.groups() * blocks.per_sample;
        const int64_t parts = smaller(count, PARTIALS * out.size > PARTIAL_SIZE ? 1 : int64_t(PARTIALS));
        Scratch<T> partial(parts * out.size);
        memset(partial.data, 0, size_t(parts * out.size) * sizeof(T));
        parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
            Scratch<T> columns(n * blocks.positions), buffer(m * blocks.positions);
            for (int64_t part = begin; part < end; part++) {
                for (int64_t i = part * count / parts; i < (part + 1) * count / parts; i++) {
                    const Block block = blocks.at(i / blocks.per_sample, i % blocks.per_sample);
                    const int64_t k = block.samples * block.rows * window.x.out;
                    for (int64_t group = 0; group < sizes.groups; group++) {
                        const Matrix<const T> rows =
                            gathered(sizes, data_as<T>(gradient), group, block, block.row * window.x.out, buffer.data);
                        unfold_block(sizes.images(data_as<const T>(x), group, window), window, block, columns.data);
                        const Matrix<T> to = {&partial[part * out.size + group * m * n], n, 1};
                        matrix_product(rows, Matrix<const T>{columns.data, 1, k}, to, m, n, k, true);
                    }
                }
            }
        });
        T* total = data_as<T>(out);
        memcpy(total, partial.data, size_t(out.size) * sizeof(T));
        for (int64_t part = 1; part < parts; part++)
            INDEPENDENT for (int64_t i = 0; i < out.size; i++) total[i] += partial[part * out.size + i];
    });
}

}  // namespace NORCH_ISA
