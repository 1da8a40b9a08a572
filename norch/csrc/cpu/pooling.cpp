// CPU kernels of pooling: the largest element or the average of what a window sees, image by image.

#include <math.h>
#include <string.h>

#include "cpu/backend.h"
#include "host/parallel.h"
#include "cpu/loops/channel_pools.h"
#include "cpu/loops/row_sum.h"
#include "cpu/loops/odometer.h"
#include "cpu/loops/small_images.h"
#include "ops/reductions.h"
#include "ops/windows.h"

inline namespace NORCH_ISA {
namespace {

// Calls f(i) for each image [y, x] of a tensor [N, C, y, x], in parallel.
template <class F>
void for_each_image(const Tensor& images, int64_t work, F f) {
    parallel_for(images.shape[0] * images.shape[1], 1 + SMALL_WORK / (1 + work), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; i++) f(i);
    });
}

// Calls f(i, room) likewise; each thread has room for so many elements.
template <class T, class F>
void for_each_image(const Tensor& images, int64_t work, int64_t elements, F f) {
    parallel_for(images.shape[0] * images.shape[1], 1 + SMALL_WORK / (1 + work), [&](int64_t begin, int64_t end) {
        Scratch<T> room(elements);
        for (int64_t i = begin; i < end; i++) f(i, room.data);
    });
}

// The taps of an axis that see the image from output o: first to last - 1.
struct Taps {
    int64_t first, last, input;  // what the first of them sees

    Taps(const Axis& axis, int64_t o) {
        const int64_t start = axis.input(o, 0), room = axis.in - start;
        first = start < 0 ? (-start + axis.dilation - 1) / axis.dilation : 0;
        last = (room + axis.dilation - 1) / axis.dilation;
        if (last > axis.kernel) last = axis.kernel;
        input = axis.input(o, first);
    }
};

// f(o, stride * o) for each output of a span; strides of 1 and 2 are known when it is compiled.
template <class F>
inline __attribute__((always_inline)) void for_span(const Span& span, int64_t stride, F f) {
    if (stride == 1)
        INDEPENDENT for (int64_t o = span.begin; o < span.end; o++) f(o, o);
    else if (stride == 2)
        INDEPENDENT for (int64_t o = span.begin; o < span.end; o++) f(o, 2 * o);
    else
        INDEPENDENT for (int64_t o = span.begin; o < span.end; o++) f(o, stride * o);
}

// The taps of a window, for all rows of the result.
struct RowTaps {
    const Window& window;
    Scratch<Span> seen;     // the outputs of a row that see the image through each tap across
    Scratch<Taps> z, y, x;  // of each output

    explicit RowTaps(const Window& window)
        : window(window),
          seen(is_adaptive(window.x) ? 0 : window.x.kernel),
          z(seen.count ? window.z.out : 0),
          y(seen.count ? window.y.out : 0),
          x(seen.count ? window.x.out : 0) {
        for (int64_t j = 0; j < seen.count; j++) seen[j] = window.x.outputs(j);
        for (int64_t o = 0; o < z.count; o++) z[o] = Taps(window.z, o);
        for (int64_t o = 0; o < y.count; o++) y[o] = Taps(window.y, o);
        for (int64_t o = 0; o < x.count; o++) x[o] = Taps(window.x, o);
    }

    // Whether the first tap across sees the image from each output.
    bool begins_inside() const { return seen.count && seen.data[0].begin == 0 && seen.data[0].end == window.x.out; }

    // Calls f(outputs, start, is first) for each tap at a row of the result: output o of these sees element
    // start + o * stride of the image.
    template <class F>
    void for_each(int64_t oz, int64_t oy, F f) const {
        const Taps &planes = z.data[oz], &rows = y.data[oy];
        bool is_first = true;
        for (int64_t k = planes.first; k < planes.last; k++)
            for (int64_t i = rows.first; i < rows.last; i++) {
                const int64_t row = window.row(window.z.input(oz, k), window.y.input(oy, i));
                for (int64_t j = 0; j < seen.count; j++, is_first = false) {
                    const Span outputs = seen.data[j];  // a copy, which the results do not overlap
                    f(outputs, row + window.x.input(0, j), is_first);
                }
            }
    }
};

// Row by row of the result, tap by tap: neighbours are compared at once.
template <bool WANTED, class T>
__attribute__((noinline)) void max_pool_image(const T* x, T* out, int64_t* indices, const Window& window,
                                              const RowTaps& taps) {
    const Axis& axis = window.x;
    const bool begins_inside = taps.begins_inside();
    const Taps* const across = taps.x.data;
    for (int64_t oz = 0; oz < window.z.out; oz++)
        for (int64_t oy = 0; oy < window.y.out; oy++, out += axis.out, indices += WANTED ? axis.out : 0) {
            const int64_t first_row = window.row(taps.z.data[oz].input, taps.y.data[oy].input);
            taps.for_each(oz, oy, [=](const Span& seen, int64_t start, bool is_first) {
                if (is_first && begins_inside)
                    return for_span(seen, axis.stride, [=](int64_t o, int64_t i) {
                        out[o] = x[start + i];
                        if (WANTED) indices[o] = start + i;
                    });
                for (int64_t o = 0; is_first && o < axis.out; o++) {  // some outputs begin in the padding
                    out[o] = Max<T>::empty();
                    if (WANTED) indices[o] = first_row + across[o].input;
                }
                for_span(seen, axis.stride, [=](int64_t o, int64_t i) {
                    const T value = x[start + i];
                    const bool wins = (value > out[o]) | (value != value);
                    out[o] = wins ? value : out[o];
                    if (WANTED) indices[o] = wins ? start + i : indices[o];
                });
            });
        }
}

// What a window sees of a plane, as contiguous runs: one for each row, or a single one if the window is as wide as the
// image.
struct Runs {
    int64_t start, count, length, step;

    Runs(const Span& rows, const Span& columns, int64_t width) {
        const bool is_one = columns.begin == 0 && columns.end == width && rows.end > rows.begin;
        start = rows.begin * width + columns.begin;
        count = is_one ? 1 : rows.end - rows.begin;
        length = (columns.end - columns.begin) * (is_one ? rows.end - rows.begin : 1);
        step = width;
    }
};

// The place of the largest element, the first of several; of NaNs the last.
template <class T>
int64_t place_of_largest(const T* x, int64_t n) {
    const T largest = in_lanes<LANES, TAIL>(
        Max<T>::empty(), 0, n, [=](int64_t i) { return x[i]; }, [](T a, T b) { return Max<T>::combine(a, b); });
    int64_t place = 0;
    if (largest != largest)
        for (place = n - 1; x[place] == x[place];) place--;
    else
        while (x[place] != largest) place++;
    return place;
}

// Windows of any places, one after the other.
template <class T>
void adaptive_max_pool_image(const T* x, T* out, int64_t* indices, const Window& window) {
    for (int64_t oz = 0; oz < window.z.out; oz++) {
        const Span planes = inputs_of(window.z, oz, false);
        for (int64_t oy = 0; oy < window.y.out; oy++) {
            const Span rows = inputs_of(window.y, oy, false);
            for (int64_t ox = 0; ox < window.x.out; ox++) {
                const Span columns = inputs_of(window.x, ox, false);
                int64_t place = window.row(planes.begin, rows.begin) + columns.begin;
                const Runs runs(rows, columns, window.x.in);
                if (planes.end - planes.begin == 1 && runs.count == 1 && runs.length >= TAIL) {
                    place += place_of_largest(x + place, runs.length);
                    *out++ = x[place];
                    *indices++ = place;
                    continue;
                }
                T largest = x[place];
                for (int64_t k = planes.begin; k < planes.end; k++)
                    for (int64_t i = rows.begin; i < rows.end; i++) {
                        const int64_t row = window.row(k, i);
                        for (int64_t at = row + columns.begin; at < row + columns.end; at++) {
                            const bool wins = (x[at] > largest) | (x[at] != x[at]);
                            largest = wins ? x[at] : largest;
                            place = wins ? at : place;
                        }
                    }
                *out++ = largest;
                *indices++ = place;
            }
        }
    }
}

template <class T>
void adaptive_max_pool(const Tensor& x, Tensor& out, Tensor& indices, const Window& window) {
    const int64_t inputs = window.inputs(), outputs = window.outputs();
    for_each_image(x, inputs, [&](int64_t i) {
        adaptive_max_pool_image(data_as<const T>(x) + i * inputs, data_as<T>(out) + i * outputs,
                                data_as<int64_t>(indices) + i * outputs, window);
    });
}

template <bool WANTED, class T>
void max_pool(const Tensor& x, Tensor& out, int64_t* indices, const Window& window) {
    const int64_t inputs = window.inputs(), outputs = window.outputs(), images = x.shape[0] * x.shape[1];
    const T* from = data_as<const T>(x);
    T* to = data_as<T>(out);
    if (SmallImages::suits(window)) {
        const SmallImages small(window, images, Beyond::NEAREST);
        return small.for_each_copy(from, images, [=, &small](int64_t first, int64_t count, const T* copy) {
            small.largest<WANTED>(copy, count, to + first, WANTED ? indices + first : nullptr);
        });
    }
    const RowTaps taps(window);
    for_each_image(x, outputs * window.taps(), [&](int64_t i) {
        max_pool_image<WANTED>(from + i * inputs, to + i * outputs, WANTED ? indices + i * outputs : nullptr, window,
                               taps);
    });
}

}  // namespace

// out[o] = the largest x that window o sees; indices[o] = its place in the image, if indices are wanted. Of several it
// is the first, of NaNs the last.
void max_pool_tensor_cpu(const Tensor& x, Tensor& out, Tensor* indices, const Window& window) {
    INTEGERS_IN_AVX2(x.dtype, max_pool, x, out, indices, window);
    for_any(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        if (window.channels > 1) {
            const ChannelPools pools(window, x.shape[0], false);
            indices ? pools.largest<true>(data_as<const T>(x), data_as<T>(out), data_as<int64_t>(*indices))
                    : pools.largest<false>(data_as<const T>(x), data_as<T>(out), nullptr);
        } else if (is_adaptive(window.x))
            adaptive_max_pool<T>(x, out, *indices, window);
        else
            indices ? max_pool<true, T>(x, out, data_as<int64_t>(*indices), window)
                    : max_pool<false, T>(x, out, nullptr, window);
    });
}

// out[indices[o]] += gradient[o]. The indices may have been in Python's hands: none may reach outside.
void max_pool_backward_tensor_cpu(const Tensor& gradient, const Tensor& indices, Tensor& out, const Window& window) {
    for_real(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        if (window.channels > 1)
            return ChannelPools(window, out.shape[0], false)
                .largest_backward(data_as<const T>(gradient), data_as<const int64_t>(indices), data_as<T>(out));
        const int64_t inputs = window.inputs(), outputs = window.outputs();
        for_each_image(out, inputs, [&](int64_t i) {
            T* to = data_as<T>(out) + i * inputs;
            const T* from = data_as<const T>(gradient) + i * outputs;
            const int64_t* place = data_as<const int64_t>(indices) + i * outputs;
            memset(to, 0, size_t(inputs) * sizeof(T));
            for (int64_t o = 0; o < outputs; o++)
                if (uint64_t(place[o]) < uint64_t(inputs)) to[place[o]] += from[o];
        });
    });
}

namespace {

// Calls f(run, length) for each run of what a window sees of an image.
template <class F>
void for_each_run(const Window& window, const Span& planes, const Seen& rows, const Seen& columns, F f) {
    const Runs runs(rows, columns, window.x.in);
    for (int64_t k = planes.begin; k < planes.end; k++)
        for (int64_t i = 0; i < runs.count; i++) f(window.row(k, 0) + runs.start + i * runs.step, runs.length);
}

// Neighbouring outputs are computed side by side if their windows are narrow, and there are some.
bool is_narrow(const Window& window) {
    enum { SOME = 4 };
    return !is_adaptive(window.x) && window.x.kernel < TAIL && window.x.out >= SOME;
}

// An average over more is made of runs.
bool has_few_taps(const Window& window) {
    return window.taps() <= TAIL || (window.outputs() > 1 && window.x.kernel < TAIL / 2);
}

// Others of a row share the sums of what they see of the rows of the image.
bool sums_rows(const Window& window) { return window.x.out > 1 && window.z.in * window.y.in > 1; }

// What the outputs of a row are divided by: `rows` times the elements that each counts along the axis.
template <class T>
struct Divisors {
    Scratch<T> counts;
    const Averaging& averaging;

    explicit Divisors(const Averaging& averaging) : counts(averaging.window.x.out), averaging(averaging) {
        for (int64_t o = 0; o < averaging.window.x.out; o++)
            counts[o] = T(inputs_of(averaging.window.x, o, averaging.counts_padding).count);
    }
    // out[o] = x[o] divided
    void divide(const T* x, T* out, int64_t oz, int64_t oy) const {
        const int64_t n = averaging.window.x.out;
        const T rows = T(inputs_of(averaging.window.z, oz, averaging.counts_padding).count *
                         inputs_of(averaging.window.y, oy, averaging.counts_padding).count);
        const T divisor = T(averaging.divisor), *each = counts.data;
        if (divisor)
            INDEPENDENT for (int64_t o = 0; o < n; o++) out[o] = x[o] / divisor;
        else
            INDEPENDENT for (int64_t o = 0; o < n; o++) out[o] = x[o] / (rows * each[o]);
    }
};

template <class T>
void average_narrow(const T* x, T* out, const Averaging& averaging, const Divisors<T>& divisors, const RowTaps& taps) {
    const Axis& axis = averaging.window.x;
    for (int64_t oz = 0; oz < averaging.window.z.out; oz++)
        for (int64_t oy = 0; oy < averaging.window.y.out; oy++, out += axis.out) {
            memset(out, 0, size_t(axis.out) * sizeof(T));
            taps.for_each(oz, oy, [=](const Span& seen, int64_t start, bool) {
                for_span(seen, axis.stride, [=](int64_t o, int64_t i) { out[o] += x[start + i]; });
            });
            divisors.divide(out, out, oz, oy);
        }
}

template <class T>
void average_narrow_backward(const T* gradient, T* out, const Averaging& averaging, const Divisors<T>& divisors,
                             const RowTaps& taps, T* shares) {
    const Axis& axis = averaging.window.x;
    for (int64_t oz = 0; oz < averaging.window.z.out; oz++)
        for (int64_t oy = 0; oy < averaging.window.y.out; oy++, gradient += axis.out) {
            divisors.divide(gradient, shares, oz, oy);
            taps.for_each(oz, oy, [=](const Span& seen, int64_t start, bool) {
                for_span(seen, axis.stride, [=](int64_t o, int64_t i) { out[start + i] += shares[o]; });
            });
        }
}

// What the outputs see along each axis: the same for all images.
struct SeenByAxis {
    Scratch<Seen> z, y, x;

    explicit SeenByAxis(const Averaging& averaging)
        : z(averaging.window.z.out), y(averaging.window.y.out), x(averaging.window.x.out) {
        auto set = [&](Scratch<Seen>& seen, const Axis& axis) {
            for (int64_t o = 0; o < axis.out; o++) seen[o] = inputs_of(axis, o, averaging.counts_padding);
        };
        set(z, averaging.window.z), set(y, averaging.window.y), set(x, averaging.window.x);
    }

    // Calls f(planes, rows) for each row of outputs.
    template <class F>
    void for_each_row(F f) const {
        for (int64_t oz = 0; oz < z.count; oz++)
            for (int64_t oy = 0; oy < y.count; oy++) f(z.data[oz], y.data[oy]);
    }
    // Calls f(columns) for each output of a row.
    template <class F>
    void for_each_column(F f) const {
        for (int64_t ox = 0; ox < x.count; ox++) f(x.data[ox]);
    }
    // Calls f(planes, rows, columns) for each output in row order.
    template <class F>
    void for_each_output(F f) const {
        for_each_row([&](const Seen& planes, const Seen& rows) {
            for_each_column([&](const Seen& columns) { f(planes, rows, columns); });
        });
    }
};

// Calls f(row of the image) for each that some planes and rows name.
template <class T, class F>
void for_each_image_row(T* image, const Window& window, const Span& planes, const Span& rows, F f) {
    for (int64_t k = planes.begin; k < planes.end; k++)
        for (int64_t i = rows.begin; i < rows.end; i++) f(image + window.row(k, i));
}

// The outputs of a row: the rows that they see are added up first, in vectors.
template <class T>
void average_rows(const T* x, T* out, const Averaging& averaging, const SeenByAxis& seen, T* sums) {
    const int64_t width = averaging.window.x.in;
    seen.for_each_row([&](const Seen& planes, const Seen& rows) {
        memset(sums, 0, size_t(width) * sizeof(T));
        for_each_image_row(x, averaging.window, planes, rows,
                           [=](const T* row) { INDEPENDENT for (int64_t j = 0; j < width; j++) sums[j] += row[j]; });
        seen.for_each_column([&](const Seen& columns) {
            const T* run = sums + columns.begin;
            const int64_t length = columns.end - columns.begin;
            T sum = 0;
            for (int64_t j = 0; j < length && length < TAIL; j++) sum += run[j];
            if (length >= TAIL) sum = T(row_sum<T>(length, [=](int64_t j) { return run[j]; }));
            *out++ = sum / T(divisor_of(averaging, planes, rows, columns));
        });
    });
}

template <class T>
void average_rows_backward(const T* gradient, T* out, const Averaging& averaging, const SeenByAxis& seen, T* shares) {
    const int64_t width = averaging.window.x.in;
    seen.for_each_row([&](const Seen& planes, const Seen& rows) {
        memset(shares, 0, size_t(width) * sizeof(T));
        seen.for_each_column([&](const Seen& columns) {
            const T share = *gradient++ / T(divisor_of(averaging, planes, rows, columns));
            for (int64_t j = columns.begin; j < columns.end; j++) shares[j] += share;
        });
        for_each_image_row(out, averaging.window, planes, rows,
                           [=](T* row) { INDEPENDENT for (int64_t j = 0; j < width; j++) row[j] += shares[j]; });
    });
}

template <class T>
void average_small(const Tensor& x, Tensor& out, const Averaging& averaging, const SeenByAxis& seen) {
    const SmallImages small(averaging.window, x.shape[0] * x.shape[1], Beyond::ZERO);
    Scratch<T> divisors(small.row);
    int64_t o = 0;
    seen.for_each_output([&](const Seen& planes, const Seen& rows, const Seen& columns) {
        divisors[o++] = T(divisor_of(averaging, planes, rows, columns));
    });
    for (; o < divisors.count; o++) divisors[o] = divisors[o - averaging.window.outputs()];
    T* to = data_as<T>(out);
    small.for_each_copy(data_as<const T>(x), x.shape[0] * x.shape[1], [&](int64_t first, int64_t count, const T* copy) {
        small.averages(copy, count, divisors.data, to + first);
    });
}

}  // namespace

// out[o] = the sum of what window o sees, divided
void avg_pool_tensor_cpu(const Tensor& x, Tensor& out, const Averaging& averaging) {
    const Window& window = averaging.window;
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        if (window.channels > 1)
            return ChannelPools(window, x.shape[0], averaging.counts_padding)
                .averages(data_as<const T>(x), data_as<T>(out), averaging);
        const SeenByAxis seen(averaging);
        if (SmallImages::suits(window) && has_few_taps(window)) return average_small<T>(x, out, averaging, seen);
        const Divisors<T> divisors(averaging);
        const RowTaps taps(window);
        for_each_image<T>(x, window.inputs(), window.x.in, [&](int64_t i, T* room) {
            const T* from = data_as<const T>(x) + i * window.inputs();
            T* to = data_as<T>(out) + i * window.outputs();
            if (is_narrow(window)) return average_narrow(from, to, averaging, divisors, taps);
            if (sums_rows(window)) return average_rows(from, to, averaging, seen, room);
            seen.for_each_output([&](const Seen& planes, const Seen& rows, const Seen& columns) {
                T sum = 0;
                for_each_run(window, planes, rows, columns, [&](int64_t start, int64_t length) {
                    const T* run = from + start;
                    if (length >= TAIL)
                        sum += T(row_sum<T>(length, [=](int64_t j) { return run[j]; }));
                    else
                        for (int64_t j = 0; j < length; j++) sum += run[j];
                });
                *to++ = sum / T(divisor_of(averaging, planes, rows, columns));
            });
        });
    });
}

// Each element that window o sees in out += gradient[o], divided
void avg_pool_backward_tensor_cpu(const Tensor& gradient, Tensor& out, const Averaging& averaging) {
    const Window& window = averaging.window;
    for_real(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        if (window.channels > 1)
            return ChannelPools(window, out.shape[0], averaging.counts_padding)
                .averages_backward(data_as<const T>(gradient), data_as<T>(out), averaging);
        const Divisors<T> divisors(averaging);
        const SeenByAxis seen(averaging);
        const RowTaps taps(window);
        const int64_t row = window.x.in > window.x.out ? window.x.in : window.x.out;
        for_each_image<T>(out, window.inputs(), row, [&](int64_t i, T* room) {
            const T* from = data_as<const T>(gradient) + i * window.outputs();
            T* to = data_as<T>(out) + i * window.inputs();
            memset(to, 0, size_t(window.inputs()) * sizeof(T));
            if (is_narrow(window)) return average_narrow_backward(from, to, averaging, divisors, taps, room);
            if (sums_rows(window)) return average_rows_backward(from, to, averaging, seen, room);
            seen.for_each_output([&](const Seen& planes, const Seen& rows, const Seen& columns) {
                const T share = *from++ / T(divisor_of(averaging, planes, rows, columns));
                for_each_run(window, planes, rows, columns, [=](int64_t start, int64_t length) {
                    for (int64_t j = 0; j < length; j++) to[start + j] += share;
                });
            });
        });
    });
}

}  // namespace NORCH_ISA
