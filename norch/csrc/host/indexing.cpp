// CPU kernels behind api/indexing.cpp: reading and writing at offsets, nonzero, running totals.

#include <string.h>

#include <type_traits>

#include "cpu/backend.h"
#include "host/lines.h"
#include "ops/ordering.h"
#include "ops/range.h"

namespace {

// A row of three operands: n elements of each, and the strides between them.
struct Row {
    int64_t n, stride[3];
};

// Calls f(row, offset of the first operand, of the second, of the third) for every row of three tensors of one shape, in
// row order; several threads call it unless `in_order`.
template <class F>
void for_rows(const Tensor& a, const Tensor& b, const Tensor& c, bool in_order, F f) {
    const Layout<3> layout = collapse<3>({&a, &b, &c});
    const int last = layout.ndim - 1;
    const Row row = {layout.shape[last], {layout.strides[0][last], layout.strides[1][last], layout.strides[2][last]}};
    const int64_t rows = layout.size / row.n;
    unlocked_if_large(a.size, [&] {
        parallel_for(rows, in_order ? rows : 1 + SMALL_WORK / row.n, [&](int64_t begin, int64_t end) {
            Odometer<3> at(layout, last);
            at.seek(begin);
            for (int64_t k = begin; k < end; k++, at.next()) f(row, at.offset[0], at.offset[1], at.offset[2]);
        });
    });
}

}  // namespace

void expect_tensor_cpu(const Tensor& truth, const Fault& fault) {
    if (!*data_as<const bool>(truth)) fail_with(fault, 0);
}

void expect_range_tensor_cpu(const Tensor& x, const Range& range, const Fault& fault) {
    const auto check = [&](auto type) {
        const auto* values = data_as<const typename decltype(type)::type>(x);
        for (int64_t i = 0; i < x.size; i++)
            if (!is_in(range, double(values[i]))) fail_with(fault, bits_of(double(values[i])));
    };
    if (x.dtype == INT64) return check(Type<int64_t>());
    for_real(x.dtype, check);
}

// offsets = stride * index, or += if it is not the first; if it wraps, an index below 0 counts from the end.
void locate_tensor_cpu(const Tensor& index, const Fault& bounds, bool wraps, int64_t stride, bool first,
                       Tensor& offsets) {
    const int64_t size = bounds.size, least = wraps ? -size : 0;
    const int64_t* from = data_as<const int64_t>(index);
    int64_t* to = data_as<int64_t>(offsets);
    const Layout<2> layout = collapse<2>({&index, &offsets});
    const int last = layout.ndim - 1;
    const int64_t n = layout.shape[last], step = layout.strides[0][last], out_step = layout.strides[1][last];
    unlocked_if_large(index.size, [&] {
        Odometer<2> at(layout, last);
        do {
            const int64_t* i = from + at.offset[0];
            int64_t* out = to + at.offset[1];
            for (int64_t j = 0; j < n; j++) {
                const int64_t given = i[j * step], place = given < 0 ? given + size : given;
                if (given < least || given >= size) fail_with(bounds, given);
                out[j * out_step] = (first ? 0 : out[j * out_step]) + place * stride;
            }
        } while (at.next());
    });
}

// losses[n] = -weight[label] * log_p[n, label]; a weight of 0 gives 0 even of an infinite log_p
void nll_tensor_cpu(const Tensor& log_p, const Tensor& labels, const Tensor* weight, Tensor& losses, Tensor& classes,
                    Tensor& shares, int64_t ignored) {
    const int64_t n = log_p.shape[1], *label = data_as<const int64_t>(labels);
    int64_t* chosen = data_as<int64_t>(classes);
    for_real(log_p.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const T *x = data_as<const T>(log_p), *w = data_as<const T>(weight);
        T *loss = data_as<T>(losses), *share = data_as<T>(shares);
        for (int64_t row = 0; row < labels.size; row++) {
            const bool counts = label[row] != ignored;
            chosen[row] = counts ? label[row] : 0;
            share[row] = !counts ? T(0) : w ? w[label[row]] : T(1);
            const T score = counts ? x[row * n + label[row]] : T(0);
            loss[row] = (share[row] == 0) & (score == score) ? T(0) : -share[row] * score;
        }
    });
}

// scale = 1 / the number of labels that are not ignored, or 1 unless mean
void label_scale_tensor_cpu(const Tensor& labels, const Fault& bounds, bool mean, Tensor& scale) {
    const int64_t* label = data_as<const int64_t>(labels);
    int64_t counted = 0;
    for (int64_t i = 0; i < labels.size; i++) {
        if (label[i] == bounds.ignored) continue;
        if (label[i] < 0 || label[i] >= bounds.size) fail_with(bounds, label[i]);
        counted++;
    }
    *data_as<double>(scale) = mean ? 1 / double(counted) : 1;
}

// ---- index and index_put -----------------------------------------------------------------------------------------

// out[p] = x.data[p . x.strides + offsets[p]]
void index_tensor_cpu(const Tensor& x, const Tensor& offsets, Tensor& out) {
    for_bits(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* source = data_as<const T>(x);
        const int64_t* places = data_as<const int64_t>(offsets);
        T* target = data_as<T>(out);
        for_rows(x, offsets, out, false, [=](const Row& row, int64_t x_start, int64_t place_start, int64_t out_start) {
            const T* from = source + x_start;
            const int64_t* place = places + place_start;
            T* to = target + out_start;
            const int64_t n = row.n, step = row.stride[0], place_step = row.stride[1], out_step = row.stride[2];
            if (place_step == 0 && step == 1 && out_step == 1) {  // a whole row from one place
                memcpy(to, from + *place, size_t(n) * sizeof(T));
                return;
            }
            for (int64_t j = 0; j < n; j++) to[j * out_step] = from[j * step + place[j * place_step]];
        });
    });
}

namespace {

template <Combining HOW, class T>
void put(const Tensor& x, const Tensor& offsets, Tensor& out) {
    const T* source = data_as<const T>(x);
    const int64_t* places = data_as<const int64_t>(offsets);
    T* target = data_as<T>(out);
    for_rows(x, offsets, out, true, [=](const Row& row, int64_t x_start, int64_t place_start, int64_t out_start) {
        const T* from = source + x_start;
        const int64_t* place = places + place_start;
        T* to = target + out_start;
        if (row.stride[1] == 0 && row.stride[0] == 1 && row.stride[2] == 1) {  // a whole row into one place
            T* line = to + *place;
            INDEPENDENT for (int64_t j = 0; j < row.n; j++) line[j] = combined<HOW>(line[j], from[j]);
            return;
        }
        for (int64_t j = 0; j < row.n; j++) {
            T& element = to[j * row.stride[2] + place[j * row.stride[1]]];
            element = combined<HOW>(element, from[j * row.stride[0]]);
        }
    });
}

}  // namespace

// out.data[p . out.strides + offsets[p]] = x[p], or += x[p] and so on. If offsets repeat, the last one wins.
void index_put_tensor_cpu(const Tensor& x, const Tensor& offsets, Combining how, Tensor& out) {
    if (how == REPLACE)
        return for_bits(x.dtype, [&](auto type) { put<REPLACE, typename decltype(type)::type>(x, offsets, out); });
    for_any(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        for_combining(how, [&](auto chosen) { put<decltype(chosen)::value, T>(x, offsets, out); });
    });
}

// ---- nonzero -----------------------------------------------------------------------------------------------------

// out, [count, rank] and contiguous, gets the index of each element of x that is not zero, in row order.
void nonzero_tensor_cpu(const Tensor& x, Tensor& out) {
    for_any(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* data = data_as<const T>(x);
        const int last = x.ndim - 1;
        int64_t* row = data_as<int64_t>(out);
        int64_t index[MAX_DIMS] = {};
        unlocked_if_large(x.size, [&] {
            for (int64_t lines = x.size / x.shape[last]; lines > 0; lines--) {
                const T* line = data;
                for (int d = 0; d < last; d++) line += index[d] * x.strides[d];
                for (int64_t j = 0; j < x.shape[last]; j++) {
                    if (line[j * x.strides[last]] == T(0)) continue;
                    index[last] = j;
                    for (int d = 0; d <= last; d++) *row++ = index[d];
                }
                for (int d = last - 1; d >= 0 && ++index[d] == x.shape[d]; d--) index[d] = 0;
            }
        });
    });
}

// ---- Running totals ----------------------------------------------------------------------------------------------

namespace {

// out[i] = x[0] combined with x[1] ... x[i] along axis, in double or int64.
template <class T, class F>
void scan_of(const Tensor& x, Tensor& out, int axis, F combine) {
    using Total = std::conditional_t<std::is_floating_point<T>::value, double, int64_t>;
    using Result = std::conditional_t<std::is_floating_point<T>::value, T, int64_t>;
    const int64_t n = x.shape[axis], step = x.strides[axis], out_step = out.strides[axis];
    for_lines_together(x, out, out, axis, [&](auto number, const LineStart* starts) {
        constexpr int LINES = decltype(number)::value;
        const T* source[LINES];
        Result* target[LINES];
        Total total[LINES];
        for (int k = 0; k < LINES; k++) {
            source[k] = data_as<const T>(x) + starts[k].offset[0];
            target[k] = data_as<Result>(out) + starts[k].offset[1];
            total[k] = Total(source[k][0]);
            target[k][0] = Result(total[k]);
        }
        for (int64_t i = 1; i < n; i++) {
            for (int k = 0; k < LINES; k++) {
                total[k] = combine(total[k], Total(source[k][i * step]));
                target[k][i * out_step] = Result(total[k]);
            }
        }
    });
}

template <class F>
void scan(const Tensor& x, Tensor& out, int axis, F combine) {
    for_any(x.dtype, [&](auto type) { scan_of<typename decltype(type)::type>(x, out, axis, combine); });
}

}  // namespace

void cumsum_tensor_cpu(const Tensor& x, Tensor& out, int axis) {
    scan(x, out, axis, [](auto total, auto value) { return total + value; });
}
void cumprod_tensor_cpu(const Tensor& x, Tensor& out, int axis) {
    scan(x, out, axis, [](auto total, auto value) { return total * value; });
}
void logcumsumexp_tensor_cpu(const Tensor& x, Tensor& out, int axis) {
    for_real(x.dtype, [&](auto type) { scan_of<typename decltype(type)::type>(x, out, axis, log_sum); });
}
