// CPU kernels that read images and volumes at the points of a grid, and the gradients of both.
//
// A block of points first finds the elements that it reads and their weights; then it goes over the channels.

#include <string.h>

#include "cpu/backend.h"
#include "cpu/loops/columns.h"
#include "cpu/loops/for_vectors.h"
#include "cpu/loops/tiles.h"
#include "host/parallel.h"
#include "ops/grid.h"

inline namespace NORCH_ISA {

namespace {

enum { POINTS = 64, LANES = 16, CORNERS = 16 };  // points of a block, of a vector; combinations of the taps of all axes

// Calls f(how) with a mode and a border that are known when it is compiled: then points are read in vectors.
template <int MODE, int BORDER, class F>
inline __attribute__((always_inline)) void as_compiled(Sampling how, F f) {
    how.mode = Sampling::Mode(MODE), how.border = Sampling::Border(BORDER);
    f(how);
}
template <int MODE, class F>
inline __attribute__((always_inline)) void with_border(const Sampling& how, F f) {
    if (how.border == Sampling::ZEROS) return as_compiled<MODE, Sampling::ZEROS>(how, f);
    if (how.border == Sampling::REFLECTION) return as_compiled<MODE, Sampling::REFLECTION>(how, f);
    as_compiled<MODE, Sampling::BORDER>(how, f);
}
template <class F>
inline __attribute__((always_inline)) void with_sampling(const Sampling& how, F f) {
    if (how.mode == Sampling::NEAREST) return with_border<Sampling::NEAREST>(how, f);
    if (how.mode == Sampling::BICUBIC) return with_border<Sampling::BICUBIC>(how, f);
    with_border<Sampling::BILINEAR>(how, f);
}

// What the points of a block read along one axis.
template <class T>
struct AxisBlock {
    int taps;
    int32_t index[MAX_TAPS][POINTS];
    T weight[MAX_TAPS][POINTS], slope[MAX_TAPS][POINTS];

    // An axis that the images do not have: its only element.
    void set_single() {
        taps = 1;
        for (int p = 0; p < POINTS; p++) index[0][p] = 0, weight[0][p] = 1, slope[0][p] = 0;
    }
    // `step` leads from the number of a point to that of the next.
    template <bool SLOPES>
    void read(const T* numbers, int64_t count, int64_t step, int64_t size, const Sampling& given) {
        T points[POINTS];
        with_stride(step, 0, count, [&](int64_t p, int64_t i) { points[p] = numbers[i]; });
        while (count % LANES) points[count++] = 0;
        with_sampling(given, [&](const Sampling& how) __attribute__((always_inline)) {
            const int n = taps = tap_count<T>(how);
            INDEPENDENT for (int64_t p = 0; p < count; p++) {
                const AxisTaps<T> found = taps_of(points[p], size, how);
                for (int k = 0; k < n; k++) {
                    index[k][p] = found.index[k], weight[k][p] = found.weight[k];
                    if (SLOPES) slope[k][p] = found.slope[k];
                }
            }
        });
    }
};

// The elements that the points of a block read, and their weights; images of two axes have a third of size 1.
template <class T>
struct PointBlock {
    int64_t corners = 0;
    int32_t offset[CORNERS][POINTS];
    T weight[CORNERS][POINTS], slope[3][CORNERS][POINTS];  // slope[a]: along the a-th number of a point

    // Points [begin, begin + count) of a grid, whose numbers are x, y (and z).
    PointBlock(const T* grid, int64_t begin, int64_t count, const Sampling& how, bool with_slopes) {
        AxisBlock<T> of[3];
        of[2].set_single();
        for (int a = 0; a < how.axes; a++) {
            const T* numbers = grid + begin * how.axes + a;
            const int64_t size = how.size[how.axes - 1 - a];
            with_slopes ? of[a].template read<true>(numbers, count, how.axes, size, how)
                        : of[a].template read<false>(numbers, count, how.axes, size, how);
        }
        count = (count + LANES - 1) / LANES * LANES;
        const AxisBlock<T>&x = of[0], &y = of[1], &z = of[2];
        const int32_t width = int32_t(how.size[how.axes - 1]), height = int32_t(how.size[how.axes - 2]);
        for (int i = 0; i < z.taps; i++)
            for (int j = 0; j < y.taps; j++)
                for (int k = 0; k < x.taps; k++, corners++) {
                    int32_t* places = offset[corners];
                    T *product = weight[corners], *to_x = slope[0][corners], *to_y = slope[1][corners],
                      *to_z = slope[2][corners];
                    INDEPENDENT for (int64_t p = 0; p < count; p++) {
                        places[p] = (z.index[i][p] * height + y.index[j][p]) * width + x.index[k][p];
                        product[p] = z.weight[i][p] * y.weight[j][p] * x.weight[k][p];
                    }
                    if (!with_slopes) continue;
                    INDEPENDENT for (int64_t p = 0; p < count; p++) {
                        to_x[p] = z.weight[i][p] * y.weight[j][p] * x.slope[k][p];
                        to_y[p] = z.weight[i][p] * y.slope[j][p] * x.weight[k][p];
                        to_z[p] = z.slope[i][p] * y.weight[j][p] * x.weight[k][p];
                    }
                }
    }
};

int64_t image_size(const Sampling& how) { return how.size[0] * how.size[1] * (how.axes == 3 ? how.size[2] : 1); }

// Calls f(sample, first point, count) for the blocks of all samples, in parallel.
template <class F>
void for_each_block(int64_t samples, int64_t channels, const Sampling& how, F f) {
    const int64_t blocks = (how.points + POINTS - 1) / POINTS;
    parallel_for(samples * blocks, 1 + SMALL_WORK / 8 / POINTS / channels, [&](int64_t from, int64_t to) {
        for (int64_t number = from; number < to; number++) {
            const int64_t begin = number % blocks * POINTS;
            f(number / blocks, begin, smaller(POINTS, how.points - begin));
        }
    });
}

// Whether the images are turned around, to [N, ..., C], so that a point reads its channels side by side: if there are
// some, and it is less work than reading each element where it lies.
bool reads_channels(const Tensor& x, const Sampling& how) {
    enum { SOME = 8 };
    int64_t corners = 1;
    for (int a = 0; a < how.axes; a++) corners *= tap_count<float>(how);
    return x.shape[1] >= SOME && image_size(how) <= corners * how.points;
}

// to [N, image, C] = x [N, C, image]
template <class T>
void put_channels_last(const T* x, T* to, int64_t samples, int64_t channels, int64_t image) {
    enum { PART = 256 };  // elements of an image
    const int64_t parts = (image + PART - 1) / PART;
    parallel_for(samples * parts, 1 + SMALL_WORK / PART / channels, [=](int64_t from, int64_t end) {
        for (int64_t number = from; number < end; number++) {
            const int64_t sample = number / parts * channels * image, begin = number % parts * PART;
            transpose(x + sample + begin, image, to + sample + begin * channels, channels, channels,
                      smaller(PART, image - begin));
        }
    });
}

// out [C, points] from a block's first point on, of an image [..., C]
template <class T>
void read_channels(const T* image, const PointBlock<T>& block, int64_t count, int64_t channels, T* out,
                   int64_t points) {
    for_vectors<LANES>(0, channels, [&](int64_t c, auto size) __attribute__((always_inline)) {
        const int lanes = size;
        T values[POINTS][LANES];
        for (int64_t p = 0; p < count; p++) {
            T sums[LANES] = {};
            for (int64_t k = 0; k < block.corners; k++) {
                const T *read = image + block.offset[k][p] * channels + c, weight = block.weight[k][p];
                KEPT_TOGETHER for (int j = 0; j < lanes; j++) sums[j] += weighed(weight, read[j]);
            }
            KEPT_TOGETHER for (int j = 0; j < LANES; j++) values[p][j] = sums[j];
        }
        transpose(values[0], LANES, out + c * points, points, count, lanes);
    });
}

}  // namespace

void grid_sample_tensor_cpu(const Tensor& x, const Tensor& grid, Tensor& out, const Sampling& how) {
    const int64_t samples = x.shape[0], channels = x.shape[1], image = image_size(how);
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const bool turns = reads_channels(x, how);
        Scratch<T> turned(turns ? x.size : 0);
        if (turns) put_channels_last(data_as<const T>(x), turned.data, samples, channels, image);
        for_each_block(samples, channels, how, [&](int64_t n, int64_t begin, int64_t count) {
            const PointBlock<T> block(data_as<T>(grid) + n * how.points * how.axes, begin, count, how, false);
            T* const to = data_as<T>(out) + n * channels * how.points + begin;
            if (turns) return read_channels(turned.data + n * channels * image, block, count, channels, to, how.points);
            for (int64_t c = 0; c < channels; c++) {
                const T* read = data_as<T>(x) + (n * channels + c) * image;
                T sums[POINTS] = {};
                for (int64_t p = 0; p < count; p += LANES)  // of all corners, while they stay in registers
                    for (int64_t k = 0; k < block.corners; k++)
                        KEPT_TOGETHER for (int j = 0; j < LANES; j++) sums[p + j] +=
                            weighed(block.weight[k][p + j], read[block.offset[k][p + j]]);
                memcpy(to + c * how.points, sums, size_t(count) * sizeof(T));
            }
        });
    });
}

void grid_sample_backward_tensor_cpu(const Tensor& gradient, const Tensor& x, const Tensor& grid, Tensor* for_x,
                                     Tensor* for_grid, const Sampling& how) {
    const int64_t channels = x.shape[1], image = image_size(how);
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const bool slopes = for_grid && how.mode != Sampling::NEAREST;  // whose slopes are 0
        if (for_x) memset(for_x->data, 0, size_t(for_x->size) * sizeof(T));
        parallel_for(x.shape[0], 1, [&](int64_t from, int64_t to) {
            for (int64_t n = from; n < to; n++)
                for (int64_t begin = 0; begin < how.points; begin += POINTS) {
                    const int64_t count = how.points - begin < POINTS ? how.points - begin : int64_t(POINTS);
                    const int64_t first = n * how.points * how.axes;
                    const PointBlock<T> block(data_as<T>(grid) + first, begin, count, how, slopes);
                    T sums[3][POINTS] = {};
                    for (int64_t c = n * channels; c < (n + 1) * channels; c++) {
                        const T *read = data_as<T>(x) + c * image, *g = data_as<T>(gradient) + c * how.points + begin;
                        for (int64_t k = 0; k < block.corners; k++) {
                            const int32_t* offset = block.offset[k];
                            T products[POINTS];
                            if (for_x) {
                                T* to_x = data_as<T>(for_x) + c * image;
                                INDEPENDENT for (int64_t p = 0; p < count; p++) products[p] =
                                    weighed_back(block.weight[k][p], g[p]);
                                for (int64_t p = 0; p < count; p++) to_x[offset[p]] += products[p];
                            }
                            if (!slopes) continue;
                            INDEPENDENT for (int64_t p = 0; p < count; p++) products[p] = g[p] * read[offset[p]];
                            for (int a = 0; a < how.axes; a++)
                                INDEPENDENT for (int64_t p = 0; p < count; p++) sums[a][p] +=
                                    weighed(block.slope[a][k][p], products[p]);
                        }
                    }
                    for (int64_t p = 0; for_grid && p < count; p++)
                        for (int a = 0; a < how.axes; a++)
                            data_as<T>(for_grid)[first + (begin + p) * how.axes + a] = sums[a][p];
                }
        });
    });
}

}  // namespace NORCH_ISA
