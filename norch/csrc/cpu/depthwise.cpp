// CPU convolution of groups of one channel, a depthwise convolution: each channel has filters of its own.
//
// As many planes of images as a vector has elements are computed side by side: they are transposed, so that each vector
// holds one place of all of them, with the padding around the images. Then every tap is one vector for all its outputs.

#include <string.h>

#include "cpu/backend.h"
#include "cpu/convolution.h"
#include "cpu/loops/padded_images.h"
#include "cpu/loops/simd.h"
#include "cpu/loops/tiles.h"
#include "host/parallel.h"

inline namespace NORCH_ISA {
namespace {

template <class T>
struct Lanes {
    enum { COUNT = VECTOR_BYTES / sizeof(T) };
    typedef T Vector __attribute__((vector_size(VECTOR_BYTES), may_alias));
    static Vector& at(T* x) { return *reinterpret_cast<Vector*>(x); }
    static const Vector& at(const T* x) { return *reinterpret_cast<const Vector*>(x); }
};

// Calls f(vector) for the places begin to end - 1 of `count` planes that lie `plane` elements apart: what they have
// there; if there are fewer planes than a vector has elements, the rest is 0.
template <class T, class F>
void for_each_place(const T* planes, int64_t plane, int64_t count, int64_t begin, int64_t end, F f) {
    enum { LANES = Lanes<T>::COUNT };
    alignas(VECTOR_BYTES) T tile[LANES * LANES] = {};
    for (int64_t p = begin; p < end; p += LANES) {
        const int64_t places = smaller(LANES, end - p);
        transpose(planes + p, plane, tile, LANES, count, places);
        for (int64_t k = 0; k < places; k++) f(Lanes<T>::at(tile + k * LANES));
    }
}

// A part of a plane of outputs.
struct Band {
    int64_t row, rows, column, columns;
};

struct Bands {
    int64_t rows, columns, all_rows, all_columns;

    // Bands whose padded images stay in the second cache, and some for each thread if there are few planes.
    Bands(const Window& window, int64_t blocks, int64_t lanes) : all_rows(window.y.out), all_columns(window.x.out) {
        enum { LARGEST = 65536, WIDEST = 1024, SHARED = 8, LOWEST = 4 };
        columns = smaller(all_columns, WIDEST);
        const int64_t fit = LARGEST / (columns * window.x.stride * window.y.stride * lanes) + 1;
        const int64_t share = (all_rows * blocks + SHARED - 1) / SHARED;
        rows = smaller(smaller(all_rows, fit), share < LOWEST ? int64_t(LOWEST) : share);
    }
    int64_t across() const { return (all_columns + columns - 1) / columns; }
    int64_t count() const { return (all_rows + rows - 1) / rows * across(); }
    Band at(int64_t i) const {
        const int64_t row = i / across() * rows, column = i % across() * columns;
        return {row, smaller(rows, all_rows - row), column, smaller(columns, all_columns - column)};
    }
};

// What one thread needs for the bands of some planes.
template <class T>
class SideBySide {
    enum { LANES = Lanes<T>::COUNT, OUTPUTS = 8 };  // outputs that are computed at once
    using Vector = typename Lanes<T>::Vector;
    const Window& window;
    int64_t width, height;             // of the padded images
    Scratch<T> padded, filters, sums;  // each of vectors

    static int64_t seen(const Axis& axis, int64_t outputs) {
        return (outputs - 1) * axis.stride + axis.dilation * (axis.kernel - 1) + 1;
    }
    static Span inside(int64_t begin, int64_t length, int64_t in) {
        const int64_t first = begin < 0 ? 0 : smaller(begin, in), last = smaller(begin + length, in);
        return {first, last < first ? first : last};
    }

    // to[o] = start + what the taps see at output o times their weights, for COUNT outputs of a row
    template <int COUNT>
    void outputs(const T* from, Vector start, T* to) const {
        const int64_t step = window.x.stride * LANES, across = window.x.dilation * LANES;
        const int64_t down = window.y.dilation * width * LANES;
        Vector sum[COUNT];
        UNROLL for (int o = 0; o < COUNT; o++) sum[o] = start;
        const T* weight = filters.data;
        for (int64_t i = 0; i < window.y.kernel; i++)
            for (int64_t j = 0; j < window.x.kernel; j++, weight += LANES) {
                const Vector factor = Lanes<T>::at(weight);
                const T* place = from + i * down + j * across;
                UNROLL for (int o = 0; o < COUNT; o++) sum[o] += factor * Lanes<T>::at(place + o * step);
            }
        UNROLL for (int o = 0; o < COUNT; o++) Lanes<T>::at(to + o * LANES) = sum[o];
    }

    // n outputs of a row, COUNT at a time; some of the last are computed twice.
    template <int COUNT>
    void row(int64_t n, const T* from, Vector start, T* to) const {
        if constexpr (COUNT > 1)
            if (n < COUNT) return row<COUNT / 2>(n, from, start, to);
        for (int64_t o = 0; o < n; o += COUNT) {
            const int64_t at = smaller(o, n - COUNT);
            outputs<COUNT>(from + at * window.x.stride * LANES, start, to + at * LANES);
        }
    }

public:
    SideBySide(const Window& window, const Bands& bands)
        : window(window),
          width(seen(window.x, bands.columns)),
          height(seen(window.y, bands.rows)),
          padded(width * height * LANES),
          filters(window.taps() * LANES),
          sums(bands.rows * bands.columns * LANES) {}

    // Brings in what a band sees of `count` planes of images.
    void fill(const T* x, int64_t count, const Band& band) {
        const int64_t above = window.y.input(band.row, 0), left = window.x.input(band.column, 0), in = window.x.in;
        const bool whole = band.columns == window.x.out;  // then all rows are one run of places
        const Span rows = inside(above, height, window.y.in), columns = whole ? Span{0, in} : inside(left, width, in);
        memset(padded.data, 0, size_t(padded.count) * sizeof(T));
        for (int64_t r = rows.begin; r < rows.end; r = whole ? rows.end : r + 1) {
            T* to = padded.data + (r - above) * width * LANES;
            int64_t column = columns.begin - left;
            const int64_t end = whole ? rows.end * in : r * in + columns.end;
            for_each_place(x, window.inputs(), count, r * in + columns.begin, end, [&](Vector places) {
                if ((column >= 0) & (column < width)) Lanes<T>::at(to + column * LANES) = places;
                if (++column == in - left) column = -left, to += width * LANES;
            });
        }
    }

    // Sets the filter of plane k to weight[taps * channel(k)].
    template <class F>
    void set_filters(const T* weight, int64_t count, F channel) {
        const int64_t taps = window.taps();
        memset(filters.data, 0, size_t(filters.count) * sizeof(T));
        for (int64_t k = 0; k < count; k++)
            for (int64_t tap = 0; tap < taps; tap++) filters[tap * LANES + k] = weight[channel(k) * taps + tap];
    }

    // Plane k of the outputs goes to out + k * step.
    void correlate(int64_t count, const Band& band, Vector start, T* out, int64_t step) {
        const int64_t n = band.columns, line = window.y.stride * width * LANES, all = window.x.out;
        for (int64_t o = 0; o < band.rows; o++) row<OUTPUTS>(n, padded.data + o * line, start, &sums[o * n * LANES]);
        out += band.row * all + band.column;
        if (n == all) return transpose(sums.data, int64_t(LANES), out, step, band.rows * n, count);
        for (int64_t o = 0; o < band.rows; o++)
            transpose(&sums[o * n * LANES], int64_t(LANES), out + o * all, step, n, count);
    }
};

}  // namespace

template <class T>
void depthwise(const Sizes& sizes, const Window& window, const T* x, const T* weight, const T* bias, T* out) {
    enum { LANES = Lanes<T>::COUNT };
    const int64_t planes = sizes.samples * sizes.groups, blocks = (planes + LANES - 1) / LANES;
    const Bands bands(window, blocks, LANES);
    const int64_t work = bands.rows * bands.columns * window.taps() * sizes.outputs * LANES;
    parallel_for(blocks * bands.count(), 1 + SMALL_WORK / work, [&](int64_t begin, int64_t end) {
        SideBySide<T> images(window, bands);
        for (int64_t i = begin; i < end; i++) {
            const int64_t first = i / bands.count() * LANES, count = smaller(LANES, planes - first);
            const Band band = bands.at(i % bands.count());
            images.fill(x + first * window.inputs(), count, band);
            for (int64_t k = 0; k < sizes.outputs; k++) {
                auto channel = [&](int64_t lane) { return (first + lane) % sizes.groups * sizes.outputs + k; };
                typename Lanes<T>::Vector start = {};
                for (int64_t lane = 0; bias && lane < count; lane++) start[lane] = bias[channel(lane)];
                images.set_filters(weight, count, channel);
                images.correlate(count, band, start, out + (first * sizes.outputs + k) * window.outputs(),
                                 sizes.outputs * window.outputs());
            }
        }
    });
}

// ---- Gradients -----------------------------------------------------------------------------------------------------

namespace {

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

// Vectors of 64 bytes, whatever the instruction set: several sums at once.
template <class T>
struct Wide {
    enum { COUNT = 64 / sizeof(T) };
    typedef T Vector __attribute__((vector_size(64)));
    struct Unaligned {
        Vector values;
    } __attribute__((packed, may_alias, aligned(sizeof(T))));
    static const Unaligned& at(const T* x) { return *reinterpret_cast<const Unaligned*>(x); }
};

// totals[tap] += the sum of gradient[o] times what the tap sees at o, for TAPS taps. Rows of the gradient have zeros up to
// a whole vector; what lies behind the last output of an image's row may be infinite, and does not count.
template <int TAPS, class T>
void add_products(const PaddedImages<T>& image, const Window& window, const T* gradient, int64_t row_size, int64_t tap,
                  double* totals) {
    using Vector = typename Wide<T>::Vector;
    enum { COUNT = Wide<T>::COUNT };
    const int64_t width = window.x.out, whole = width / COUNT * COUNT;
    Vector place;
    for (int k = 0; k < COUNT; k++) place[k] = T(whole + k);
    const auto counts = place < T(width);
    Vector sums[TAPS] = {};
    for (int64_t row = 0; row < window.y.out; row++, gradient += row_size) {
        const T* seen[TAPS];
        for (int k = 0; k < TAPS; k++) seen[k] = image.seen(tap + k, row);
        for (int64_t o = 0; o < whole; o += COUNT) {
            const Vector g = Wide<T>::at(gradient + o).values;
            for (int k = 0; k < TAPS; k++) sums[k] += g * Wide<T>::at(seen[k] + o).values;
        }
        if (whole == width) continue;
        const Vector g = Wide<T>::at(gradient + whole).values;
        for (int k = 0; k < TAPS; k++) sums[k] += g * (counts ? Wide<T>::at(seen[k] + whole).values : Vector{});
    }
    for (int k = 0; k < TAPS; k++)
        for (int j = 0; j < COUNT; j++) totals[tap + k] += double(sums[k][j]);
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

}  // namespace

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
    const int64_t width = window.x.out, row_size = (width + Wide<T>::COUNT - 1) / Wide<T>::COUNT * Wide<T>::COUNT;
    const Images<const T> images = {x, sizes.groups * window.inputs(), sizes.groups};
    parallel_for(channels, 1 + SMALL_WORK / (sizes.samples * window.outputs() * taps), [&](int64_t begin, int64_t end) {
        PaddedImages<T> image(window, 1, rows, 1);
        Scratch<T> g(rows * row_size);
        Scratch<double> totals(taps);
        memset(g.data, 0, size_t(g.count) * sizeof(T));
        for (int64_t channel = begin; channel < end; channel++) {
            for (int64_t tap = 0; tap < taps; tap++) totals[tap] = 0;
            for (int64_t sample = 0; sample < sizes.samples; sample++) {
                image.fill(images, channel / sizes.outputs, 1, {sample, 1, 0, rows});
                const T* from = gradient + (sample * channels + channel) * window.outputs();
                for (int64_t r = 0; r < rows; r++)
                    memcpy(&g[r * row_size], from + r * width, size_t(width) * sizeof(T));
                int64_t tap = 0;
                for (; tap + 4 <= taps; tap += 4) add_products<4>(image, window, g.data, row_size, tap, totals.data);
                for (; tap < taps; tap++) add_products<1>(image, window, g.data, row_size, tap, totals.data);
            }
            for (int64_t tap = 0; tap < taps; tap++) out[channel * taps + tap] = T(totals[tap]);
        }
    });
}

template void depthwise(const Sizes&, const Window&, const float*, const float*, const float*, float*);
template void depthwise(const Sizes&, const Window&, const double*, const double*, const double*, double*);
template void depthwise_input(const Sizes&, const Window&, const float*, const float*, float*);
template void depthwise_input(const Sizes&, const Window&, const double*, const double*, double*);
template void depthwise_weight(const Sizes&, const Window&, const float*, const float*, float*);
template void depthwise_weight(const Sizes&, const Window&, const double*, const double*, double*);

}  // namespace NORCH_ISA
