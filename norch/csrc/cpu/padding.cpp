// The CPU kernels that put a border around a tensor, row by row, and their gradient.

#include <string.h>

#include "cpu/backend.h"
#include "host/parallel.h"
#include "ops/padding.h"

inline namespace NORCH_ISA {
namespace {

// Walks over the rows of a padded tensor: where each comes from in x, in elements, or -1 in a constant border.
struct Sources {
    const Tensor &x, &out;
    const Padding& padding;
    int64_t index[MAX_DIMS], from[MAX_DIMS];  // from[d]: the source of axes 0 to d
    const int last;

    Sources(const Tensor& x, const Tensor& out, const Padding& padding, int64_t row)
        : x(x), out(out), padding(padding), last(x.ndim - 1) {
        for (int d = last - 1; d >= 0; row /= out.shape[d--]) index[d] = row % out.shape[d];
        update(0);
    }
    void update(int axis) {
        for (int d = axis; d < last; d++) {
            const int64_t i = padded_from(padding.mode, index[d], padding.before[d], x.shape[d]);
            const int64_t outer = d ? from[d - 1] : 0;
            from[d] = i < 0 || outer < 0 ? -1 : outer * x.shape[d] + i;
        }
    }
    void next() {
        int d = last - 1;
        while (d >= 0 && ++index[d] == out.shape[d]) index[d--] = 0;
        update(d < 0 ? 0 : d);
    }
    int64_t source() const { return last == 0 ? 0 : from[last - 1] < 0 ? -1 : from[last - 1] * x.shape[last]; }
};

// Rows are short: a call of memcpy would take longer.
template <class T>
void copy_row(const T* from, T* to, int64_t n) {
    enum { BLOCK = 64 / sizeof(T) };
    int64_t i = 0;
    for (; i + BLOCK <= n; i += BLOCK) memcpy(to + i, from + i, BLOCK * sizeof(T));
    for (; i < n; i++) to[i] = from[i];
}

// The part of a padded row that is a part of a row of x: elements [begin, end) of the padded one.
Span inner_part(int64_t before, int64_t size, int64_t padded) {
    const int64_t begin = before < 0 ? 0 : before, end = before + size < padded ? before + size : padded;
    return {begin, end < begin ? begin : end};
}

}  // namespace

void pad_tensor_cpu(const Tensor& x, Tensor& out, const Padding& padding) {
    const int last = x.ndim - 1;
    const int64_t size = x.shape[last], padded = out.shape[last], before = padding.before[last];
    const Span inner = inner_part(before, size, padded);
    const int64_t left = inner.begin, right = padded - inner.end;
    const bool is_constant = padding.mode == Padding::CONSTANT;
    Scratch<int64_t> borders(left + right);  // what the elements left and right of the inner part are
    for (int64_t k = 0; k < left + right; k++)
        borders[k] = padded_from(padding.mode, k < left ? k : inner.end + k - left, before, size);
    for_bits(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const T *from = data_as<T>(x), value = T(padding.value);
        T* to = data_as<T>(out);
        const int64_t* border = borders.data;
        parallel_for(out.size / padded, 1 + SMALL_WORK / padded, [&](int64_t first, int64_t end) {
            Sources at(x, out, padding, first);
            for (int64_t row = first; row < end; row++, at.next()) {
                const int64_t source = at.source();
                const T* line = from + source;
                T* target = to + row * padded;
                if (source < 0) {
                    for (int64_t o = 0; o < padded; o++) target[o] = value;
                    continue;
                }
                copy_row(line + left - before, target + left, inner.end - left);
                T* const rest = target + inner.end;
                for (int64_t k = 0; k < left; k++) target[k] = is_constant ? value : line[border[k]];
                for (int64_t k = 0; k < right; k++) rest[k] = is_constant ? value : line[border[left + k]];
            }
        });
    });
}

namespace {

// to[i] = or += the elements of a padded row that come from element i
template <class T>
void collect_row(const T* gradient, T* to, bool first, const Padding& padding, int64_t before, int64_t size,
                 int64_t padded) {
    const Span inner = inner_part(before, size, padded);
    const int64_t begin = inner.begin - before, count = inner.end - inner.begin;
    const T* from = gradient + inner.begin;
    if (first) {
        if (count < size) memset(to, 0, size_t(size) * sizeof(T));
        memcpy(to + begin, from, size_t(count) * sizeof(T));
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
    for_real(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* from = data_as<T>(gradient);
        parallel_for(out.size / size, 1 + SMALL_WORK / size, [&](int64_t begin, int64_t end) {
            for (int64_t row = begin; row < end; row++) {
                T* to = data_as<T>(out) + row * size;
                int64_t index[MAX_DIMS], rest = row;
                for (int d = last - 1; d >= 0; rest /= out.shape[d--]) index[d] = rest % out.shape[d];
                bool first = true;
                auto visit = [&](auto&& self, int d, int64_t place) -> void {
                    if (d == last) {
                        collect_row(from + place * padded, to, first, padding, padding.before[d], size, padded);
                        first = false;
                        return;
                    }
                    for_places(padding.mode, index[d], padding.before[d], out.shape[d], gradient.shape[d],
                               [&](int64_t o) { self(self, d + 1, place * gradient.shape[d] + o); });
                };
                visit(visit, 0, 0);
                if (first) memset(to, 0, size_t(size) * sizeof(T));  // it was taken away
            }
        });
    });
}

}  // namespace NORCH_ISA
