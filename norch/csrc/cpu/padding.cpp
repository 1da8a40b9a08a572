// The CPU kernels that put a border around a tensor, row by row, and their gradient.

#include <string.h>

#include "cpu/backend.h"
#include "cpu/loops/odometer.h"
#include "cpu/loops/tiles.h"
#include "host/parallel.h"
#include "ops/padding.h"

inline namespace NORCH_ISA {
namespace {

// Walks over the images, [rows, columns], of a padded tensor: where each comes from in x, or -1 in a constant border.
struct Sources {
    const Tensor &x, &out;
    const Padding& padding;
    int64_t index[MAX_DIMS], from[MAX_DIMS];  // from[d]: the source of axes 0 to d
    const int axes;

    Sources(const Tensor& x, const Tensor& out, const Padding& padding, int64_t image)
        : x(x), out(out), padding(padding), axes(x.ndim - 2) {
        for (int d = axes - 1; d >= 0; image /= out.shape[d--]) index[d] = image % out.shape[d];
        update(0);
    }
    void update(int axis) {
        for (int d = axis; d < axes; d++) {
            const int64_t i = padded_from(padding.mode, index[d], padding.before[d], x.shape[d]);
            const int64_t outer = d ? from[d - 1] : 0;
            from[d] = i < 0 || outer < 0 ? -1 : outer * x.shape[d] + i;
        }
    }
    void next() {
        int d = axes - 1;
        while (d >= 0 && ++index[d] == out.shape[d]) index[d--] = 0;
        update(d < 0 ? 0 : d);
    }
    int64_t image() const { return axes <= 0 ? 0 : from[axes - 1]; }
};

// A function of its own: for all that the compiler knows, bytes that a lambda writes might be what it captured.
template <class T>
void fill_row(T* to, int64_t n, T value) {
    INDEPENDENT for (int64_t i = 0; i < n; i++) to[i] = value;
}

// The rows of an image.
int64_t rows_of(const Tensor& x) { return x.ndim > 1 ? x.shape[x.ndim - 2] : 1; }

// The part of a padded row that is a part of a row of x: elements [begin, end) of the padded one.
Span inner_part(int64_t before, int64_t size, int64_t padded) {
    const int64_t begin = before < 0 ? 0 : before, end = before + size < padded ? before + size : padded;
    return {begin, end < begin ? begin : end};
}

// Rows of n elements, from_row apart, each between `left` and `right` elements of one value.
template <class T>
void frame_rows(const T* from, int64_t from_row, int64_t n, T* to, int64_t left, int64_t right, int64_t rows, T value) {
    enum { BORDER = 64 / sizeof(T), TOGETHER = 16384 / sizeof(T) };
    const int64_t gap = left + right, padded = n + gap;
    if (gap == 0 && from_row == n) n *= rows, rows = 1;
    if (padded < BORDER && rows > 1) {  // thin rows are set together, then all are copied
        for (int64_t count; rows > 0; rows -= count, from += count * from_row, to += count * padded) {
            count = smaller(rows, TOGETHER / padded);
            fill_row(to, count * padded, value);
            copy_rows(from, from_row, to + left, padded, count, n);
        }
        return;
    }
    T values[BORDER];
    for (T& element : values) element = value;
    fill_row(to, left, value);
    to += left;
    for (; rows > 1; rows--, from += from_row, to += padded) {
        copy_row(from, to, n);
        if (gap <= BORDER)
            memcpy(to + n, values, sizeof values);  // the next row overwrites what is too much
        else
            fill_row(to + n, gap, value);
    }
    copy_row(from, to, n);
    fill_row(to + n, right, value);
}

}  // namespace

void pad_tensor_cpu(const Tensor& x, Tensor& out, const Padding& padding) {
    const int last = x.ndim - 1;
    const int64_t size = x.shape[last], padded = out.shape[last], before = padding.before[last];
    const Span inner = inner_part(before, size, padded);
    const int64_t left = inner.begin, right = padded - inner.end, width = inner.end - left;
    const bool is_constant = padding.mode == Padding::CONSTANT;
    const int64_t rows = rows_of(out), own_rows = rows_of(x), above = last ? padding.before[last - 1] : 0;
    const Span inner_rows = last ? inner_part(above, own_rows, rows) : Span{0, 1};
    Scratch<int64_t> borders(is_constant ? 0 : left + right);  // what the elements left and right of the inner part are
    for (int64_t k = 0; k < borders.count; k++)
        borders[k] = padded_from(padding.mode, k < left ? k : inner.end + k - left, before, size);
    Scratch<int64_t> row_sources(is_constant ? 0 : rows);
    for (int64_t r = 0; r < row_sources.count; r++)
        row_sources[r] = last ? padded_from(padding.mode, r, above, own_rows) : 0;
    for_bits(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const T *x_data = data_as<T>(x), value = T(padding.value);
        T* out_data = data_as<T>(out);
        const int64_t *border = borders.data, *row_source = row_sources.data;
        parallel_for(out.size / padded, 1 + SMALL_WORK / padded, [&](int64_t first, int64_t end) {
            Sources at(x, out, padding, first / rows);
            for (int64_t row = first, behind; row < end; row = behind, at.next()) {
                const int64_t image = at.image(), begin = row % rows, stop = smaller(rows, begin + end - row);
                const T* from = x_data + image * own_rows * size + left - before;
                T* const to = out_data + (row - begin) * padded;
                behind = row + stop - begin;
                if (is_constant) {
                    const auto from_on = [=](int64_t low, int64_t r) { return r < low ? low : smaller(r, stop); };
                    const int64_t high = image < 0 || width <= 0 ? stop : from_on(begin, inner_rows.begin);
                    const int64_t low = from_on(high, inner_rows.end);
                    fill_row(to + begin * padded, (high - begin) * padded, value);
                    if (high < low)
                        frame_rows(from + (high - above) * size, size, width, to + high * padded, left, right,
                                   low - high, value);
                    fill_row(to + low * padded, (stop - low) * padded, value);
                    continue;
                }
                for (int64_t r = begin; r < stop; r++) {
                    const T* line = x_data + (image * own_rows + row_source[r]) * size;
                    T *const target = to + r * padded, *const rest = target + inner.end;
                    copy_row(line + left - before, target + left, width);
                    KEPT_TOGETHER for (int64_t k = 0; k < left; k++) target[k] = line[border[k]];
                    KEPT_TOGETHER for (int64_t k = 0; k < right; k++) rest[k] = line[border[left + k]];
                }
            }
        });
    });
}

namespace {

// to[i] = or += the elements of a padded row that come from element i
template <class T>
void collect_row(const T* gradient, T* to, bool first, const Padding& padding, const Span& inner, int64_t before,
                 int64_t size, int64_t padded) {
    const int64_t begin = inner.begin - before, count = inner.end - inner.begin;
    const T* from = gradient + inner.begin;
    if (first) {
        if (count < size) memset(to, 0, size_t(size) * sizeof(T));
        copy_row(from, to + begin, count);
    } else {
        for (int64_t i = 0; i < count; i++) to[begin + i] += from[i];
    }
    if (padding.mode == Padding::CONSTANT) return;
    for (int64_t o = 0; o < inner.begin; o++) to[padded_from(padding.mode, o, before, size)] += gradient[o];
    for (int64_t o = inner.end; o < padded; o++) to[padded_from(padding.mode, o, before, size)] += gradient[o];
}

}  // namespace

void pad_backward_tensor_cpu(const Tensor& gradient, Tensor& out, const Padding& padding) {
    const int last = out.ndim - 1;
    const int64_t size = out.shape[last], padded = gradient.shape[last];
    const int64_t rows = rows_of(out), padded_rows = rows_of(gradient), above = last ? padding.before[last - 1] : 0;
    const Span inner = inner_part(padding.before[last], size, padded);
    for_real(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* from = data_as<T>(gradient);
        parallel_for(out.size / size, 1 + SMALL_WORK / size, [&](int64_t begin, int64_t end) {
            for (int64_t row = begin; row < end;) {
                const int64_t image = row / rows, first = row % rows, count = smaller(rows - first, end - row);
                T* const to = data_as<T>(out) + row * size;
                int64_t index[MAX_DIMS], rest = image;
                for (int d = last - 2; d >= 0; rest /= out.shape[d--]) index[d] = rest % out.shape[d];
                bool fresh = true;  // nothing was collected yet
                auto collect = [&](int64_t place) {
                    for (int64_t r = 0; r < count; r++) {
                        bool untouched = fresh;
                        for_places(padding.mode, first + r, above, rows, padded_rows, [&](int64_t o) {
                            collect_row(from + (place * padded_rows + o) * padded, to + r * size, untouched, padding,
                                        inner, padding.before[last], size, padded);
                            untouched = false;
                        });
                        if (untouched) memset(to + r * size, 0, size_t(size) * sizeof(T));  // it was taken away
                    }
                    fresh = false;
                };
                auto visit = [&](auto&& self, int d, int64_t place) -> void {
                    if (d >= last - 1) return collect(place);
                    for_places(padding.mode, index[d], padding.before[d], out.shape[d], gradient.shape[d],
                               [&](int64_t o) { self(self, d + 1, place * gradient.shape[d] + o); });
                };
                visit(visit, 0, 0);
                if (fresh) memset(to, 0, size_t(count * size) * sizeof(T));
                row += count;
            }
        });
    });
}

}  // namespace NORCH_ISA
