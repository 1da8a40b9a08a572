// CPU convolution of groups of one channel, a depthwise convolution: each channel has filters of its own.
//
// As many images as a vector has elements are computed side by side: they are transposed, so that each vector holds one
// place of all of them, with the padding around the images. Then every tap is one vector for all its outputs.

#include <string.h>

#include "cpu/backend.h"
#include "cpu/convolution.h"
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

// Calls f(vector) for the places begin to end - 1 of `count` images that lie `image` elements apart: what they have
// there; if there are fewer images than a vector has elements, the rest is 0.
template <class T, class F>
void for_each_place(const T* images, int64_t image, int64_t count, int64_t begin, int64_t end, F f) {
    enum { LANES = Lanes<T>::COUNT };
    alignas(VECTOR_BYTES) T tile[LANES * LANES] = {};
    for (int64_t p = begin; p < end; p += LANES) {
        const int64_t places = smaller(LANES, end - p);
        transpose(images + p, image, tile, LANES, count, places);
        for (int64_t k = 0; k < places; k++) f(Lanes<T>::at(tile + k * LANES));
    }
}

// Outputs of an image: some planes, some rows of a plane, or some columns of these.
struct Band {
    int64_t plane, planes, row, rows, column, columns;

    int64_t lines() const { return planes * rows; }
    int64_t outputs() const { return lines() * columns; }
    // The place of a line in an image of outputs.
    int64_t position(const Window& window, int64_t line) const {
        return ((plane + line / rows) * window.y.out + row + line % rows) * window.x.out + column;
    }
};

struct Bands {
    int64_t planes, rows, columns, all_planes, all_rows, all_columns;

    // Bands whose padded images stay in the second cache, and some for each thread if there are few images.
    Bands(const Window& window, int64_t blocks, int64_t lanes)
        : all_planes(window.z.out), all_rows(window.y.out), all_columns(window.x.out) {
        enum { LARGEST = 65536, WIDEST = 1024, SHARED = 8, LOWEST = 4 };
        columns = smaller(all_columns, WIDEST);
        const int64_t fit = LARGEST / (columns * window.x.stride * window.y.stride * window.z.stride * lanes) + 1;
        const int64_t share = (all_planes * all_rows * blocks + SHARED - 1) / SHARED;
        const int64_t most = smaller(fit, share < LOWEST ? int64_t(LOWEST) : share);
        rows = smaller(all_rows, most);
        planes = rows < all_rows ? 1 : smaller(all_planes, (most + all_rows - 1) / all_rows);
    }
    // One band of the whole image.
    explicit Bands(const Window& window) : Bands(window.z.out, window.y.out, window.x.out) {}

    int64_t across() const { return (all_columns + columns - 1) / columns; }
    int64_t of_plane() const { return (all_rows + rows - 1) / rows * across(); }
    int64_t count() const { return (all_planes + planes - 1) / planes * of_plane(); }
    Band at(int64_t i) const {
        const int64_t plane = i / of_plane() * planes, row = i % of_plane() / across() * rows,
                      column = i % across() * columns;
        return {plane,  smaller(planes, all_planes - plane),   row, smaller(rows, all_rows - row),
                column, smaller(columns, all_columns - column)};
    }

private:
    Bands(int64_t planes, int64_t rows, int64_t columns)
        : planes(planes), rows(rows), columns(columns), all_planes(planes), all_rows(rows), all_columns(columns) {}
};

// What one thread needs for the bands of some images.
template <class T>
class SideBySide {
    enum { LANES = Lanes<T>::COUNT, OUTPUTS = 8, TAPS = 9 };  // outputs, taps that are computed at once
    using Vector = typename Lanes<T>::Vector;
    const Window& window;
    int64_t width, height, depth;      // of the padded images
    Scratch<T> padded, filters, sums;  // each of vectors

    static Span inside(int64_t begin, int64_t length, int64_t in) {
        const int64_t first = begin < 0 ? 0 : smaller(begin, in), last = smaller(begin + length, in);
        return {first, last < first ? first : last};
    }

    // to[o] = start + what the taps see at output o times their weights, for COUNT outputs of a row
    template <int COUNT>
    void outputs(const T* from, Vector start, T* to) const {
        const int64_t step = window.x.stride * LANES, across = window.x.dilation * LANES;
        const int64_t down = window.y.dilation * width * LANES, deep = window.z.dilation * height * width * LANES;
        Vector sum[COUNT];
        UNROLL for (int o = 0; o < COUNT; o++) sum[o] = start;
        const T* weight = filters.data;
        for (int64_t k = 0; k < window.z.kernel; k++)
            for (int64_t i = 0; i < window.y.kernel; i++)
                for (int64_t j = 0; j < window.x.kernel; j++, weight += LANES) {
                    const Vector factor = Lanes<T>::at(weight);
                    const T* place = from + k * deep + i * down + j * across;
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
          width(window.x.seen(bands.columns)),
          height(window.y.seen(bands.rows)),
          depth(window.z.seen(bands.planes)),
          padded(depth * height * width * LANES),
          filters(window.taps() * LANES),
          sums(bands.planes * bands.rows * bands.columns * LANES) {}

    void clear() { memset(padded.data, 0, size_t(padded.count) * sizeof(T)); }

    // Brings in what a band sees of `count` images.
    void fill(const T* x, int64_t count, const Band& band) {
        const int64_t front = window.z.input(band.plane, 0), above = window.y.input(band.row, 0);
        const int64_t left = window.x.input(band.column, 0), in = window.x.in;
        const bool whole = band.columns == window.x.out;  // then all rows are one run of places
        const Span planes = inside(front, depth, window.z.in), rows = inside(above, height, window.y.in),
                   columns = whole ? Span{0, in} : inside(left, width, in);
        clear();
        for (int64_t p = planes.begin; p < planes.end; p++)
            for (int64_t r = rows.begin; r < rows.end; r = whole ? rows.end : r + 1) {
                T* to = padded.data + ((p - front) * height + r - above) * width * LANES;
                int64_t column = columns.begin - left;
                const int64_t begin = window.row(p, r) + columns.begin;
                const int64_t end = whole ? window.row(p, rows.end) : window.row(p, r) + columns.end;
                for_each_place(x, window.inputs(), count, begin, end, [&](Vector places) {
                    if ((column >= 0) & (column < width)) Lanes<T>::at(to + column * LANES) = places;
                    if (++column == in - left) column = -left, to += width * LANES;
                });
            }
    }

    // Sets the filter of image k to weight[taps * channel(k)].
    template <class F>
    void set_filters(const T* weight, int64_t count, F channel) {
        const int64_t taps = window.taps();
        memset(filters.data, 0, size_t(filters.count) * sizeof(T));
        for (int64_t k = 0; k < count; k++)
            for (int64_t tap = 0; tap < taps; tap++) filters[tap * LANES + k] = weight[channel(k) * taps + tap];
    }

    // Image k of the outputs goes to out + k * step.
    void correlate(int64_t count, const Band& band, Vector start, T* out, int64_t step) {
        const int64_t n = band.columns;
        for (int64_t o = 0; o < band.lines(); o++) row<OUTPUTS>(n, line(band, o), start, &sums[o * n * LANES]);
        if (n == window.x.out)
            return transpose(sums.data, int64_t(LANES), out + band.position(window, 0), step, band.outputs(), count);
        for (int64_t o = 0; o < band.lines(); o++)
            transpose(&sums[o * n * LANES], int64_t(LANES), out + band.position(window, o), step, n, count);
    }

    // ---- For the gradients

    // Brings in the band of `count` images of outputs that lie `step` elements apart.
    void set_outputs(const T* images, int64_t step, int64_t count, const Band& band) {
        const bool whole = band.columns == window.x.out;  // then all rows are one run
        const int64_t n = whole ? band.outputs() : band.columns;
        T* to = sums.data;
        for (int64_t o = 0; o < (whole ? 1 : band.lines()); o++) {
            const int64_t start = band.position(window, o);
            for_each_place(images, step, count, start, start + n, [&](Vector places) {
                Lanes<T>::at(to) = places;
                to += LANES;
            });
        }
    }

    // totals[tap] += the sum of each output times what the tap sees there.
    void add_products(const Band& band, double* totals) const {
        const int64_t taps = window.taps(), parts = (taps + TAPS - 1) / TAPS, most = (taps + parts - 1) / parts;
        for (int64_t tap = 0; tap < taps; tap += most)
            add_products_of<TAPS>(smaller(most, taps - tap), band, tap, totals + tap * LANES);
    }

    // What each tap sees += its weight times the output.
    void scatter(const Band& band) {
        const int64_t step = window.x.stride * LANES;
        for (int64_t o = 0; o < band.lines(); o++)
            for (int64_t tap = 0; tap < window.taps(); tap++) {
                const Vector factor = Lanes<T>::at(&filters[tap * LANES]);
                const T* from = &sums[o * band.columns * LANES];
                T* to = line(band, o) + offset(tap);
                for (int64_t k = 0; k < band.columns; k++, from += LANES, to += step)
                    Lanes<T>::at(to) += factor * Lanes<T>::at(from);
            }
    }

    // Writes the images, of which some elements may be seen by no window.
    void store(T* x, int64_t count) const {
        const int64_t front = window.z.input(0, 0), above = window.y.input(0, 0), left = window.x.input(0, 0);
        const Span planes = inside(front, depth, window.z.in), rows = inside(above, height, window.y.in),
                   columns = inside(left, width, window.x.in);
        const int64_t seen = (planes.end - planes.begin) * (rows.end - rows.begin) * (columns.end - columns.begin);
        for (int64_t k = 0; k < count && seen < window.inputs(); k++)
            memset(x + k * window.inputs(), 0, size_t(window.inputs()) * sizeof(T));
        for (int64_t p = planes.begin; p < planes.end; p++)
            for (int64_t r = rows.begin; r < rows.end; r++) {
                const int64_t place = ((p - front) * height + r - above) * width + columns.begin - left;
                transpose(padded.data + place * LANES, int64_t(LANES), x + window.row(p, r) + columns.begin,
                          window.inputs(), columns.end - columns.begin, count);
            }
    }

private:
    // What the first tap sees at the first output of a line of a band.
    T* line(const Band& band, int64_t o) const {
        const int64_t row = o / band.rows * window.z.stride * height + o % band.rows * window.y.stride;
        return padded.data + row * width * LANES;
    }
    int64_t offset(int64_t tap) const {
        const int64_t row = tap / window.x.kernel, across = tap % window.x.kernel * window.x.dilation;
        const int64_t deep = row / window.y.kernel * window.z.dilation,
                      down = row % window.y.kernel * window.y.dilation;
        return ((deep * height + down) * width + across) * LANES;
    }

    // COUNT taps from `tap` on. Some rows are summed as T.
    template <int COUNT>
    void add_products_of(int64_t count, const Band& band, int64_t tap, double* totals) const {
        enum { SHORT = 128 };
        if constexpr (COUNT > 1)
            if (count < COUNT) return add_products_of<COUNT - 1>(count, band, tap, totals);
        const int64_t step = window.x.stride * LANES, n = band.columns, some = 1 + SHORT / n;
        for (int64_t row = 0; row < band.lines(); row += some) {
            Vector sum[COUNT] = {};
            for (int64_t o = row; o < smaller(row + some, band.lines()); o++) {
                const T *from = sums.data + o * n * LANES, *seen[COUNT];
                for (int k = 0; k < COUNT; k++) seen[k] = line(band, o) + offset(tap + k);
                for (int64_t i = 0; i < n; i++, from += LANES)
                    UNROLL for (int k = 0; k < COUNT; k++) sum[k] +=
                        Lanes<T>::at(from) * Lanes<T>::at(seen[k] + i * step);
            }
            for (int k = 0; k < COUNT; k++)
                for (int lane = 0; lane < LANES; lane++) totals[k * LANES + lane] += double(sum[k][lane]);
        }
    }
};

}  // namespace

template <class T>
void depthwise(const Sizes& sizes, const Window& window, const T* x, const T* weight, const T* bias, T* out) {
    enum { LANES = Lanes<T>::COUNT };
    const int64_t all = sizes.samples * sizes.groups, blocks = (all + LANES - 1) / LANES;
    const Bands bands(window, blocks, LANES);
    const int64_t work = bands.planes * bands.rows * bands.columns * window.taps() * sizes.outputs * LANES;
    parallel_for(blocks * bands.count(), 1 + SMALL_WORK / work, [&](int64_t begin, int64_t end) {
        SideBySide<T> images(window, bands);
        for (int64_t i = begin; i < end; i++) {
            const int64_t first = i / bands.count() * LANES, count = smaller(LANES, all - first);
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
    enum { LANES = Lanes<T>::COUNT };
    if (!is_strided(window) && sizes.outputs == 1)
        return depthwise_input_unstrided(sizes, window, gradient, weight, out);
    const int64_t all = sizes.samples * sizes.groups, blocks = (all + LANES - 1) / LANES;
    const Bands bands(window);
    const int64_t work = window.outputs() * window.taps() * sizes.outputs * LANES;
    parallel_for(blocks, 1 + SMALL_WORK / work, [&](int64_t begin, int64_t end) {
        SideBySide<T> images(window, bands);
        for (int64_t first = begin * LANES; first < smaller(end * LANES, all); first += LANES) {
            const int64_t count = smaller(LANES, all - first);
            images.clear();
            for (int64_t k = 0; k < sizes.outputs; k++) {
                images.set_filters(weight, count,
                                   [&](int64_t lane) { return (first + lane) % sizes.groups * sizes.outputs + k; });
                images.set_outputs(gradient + (first * sizes.outputs + k) * window.outputs(),
                                   sizes.outputs * window.outputs(), count, bands.at(0));
                images.scatter(bands.at(0));
            }
            images.store(out + first * window.inputs(), count);
        }
    });
}

// The sums over some rows are of type T, those over the bands and samples double.
template <class T>
void depthwise_weight(const Sizes& sizes, const Window& window, const T* gradient, const T* x, T* out) {
    enum { LANES = Lanes<T>::COUNT };
    const int64_t blocks = (sizes.groups + LANES - 1) / LANES, taps = window.taps(), image = window.outputs();
    const Bands bands(window, blocks, LANES);
    parallel_for(blocks, 1 + SMALL_WORK / (sizes.samples * image * taps * LANES), [&](int64_t begin, int64_t end) {
        SideBySide<T> images(window, bands);
        Scratch<double> totals(sizes.outputs * taps * LANES);
        for (int64_t first = begin * LANES; first < smaller(end * LANES, sizes.groups); first += LANES) {
            const int64_t count = smaller(LANES, sizes.groups - first);
            memset(totals.data, 0, size_t(totals.count) * sizeof(double));
            for (int64_t i = 0; i < sizes.samples * bands.count(); i++) {
                const int64_t at = i / bands.count() * sizes.groups + first;
                const Band band = bands.at(i % bands.count());
                images.fill(x + at * window.inputs(), count, band);
                for (int64_t k = 0; k < sizes.outputs; k++) {
                    images.set_outputs(gradient + (at * sizes.outputs + k) * image, sizes.outputs * image, count, band);
                    images.add_products(band, &totals[k * taps * LANES]);
                }
            }
            for (int64_t lane = 0; lane < count; lane++)
                for (int64_t i = 0; i < sizes.outputs * taps; i++)
                    out[(first + lane) * sizes.outputs * taps + i] = T(totals[i * LANES + lane]);
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
