// CPU kernels of bags: the rows of a table that the integers of a bag name, summed up, averaged, or the largest elements.

#include <type_traits>

#include "cpu/backend.h"
#include "cpu/loops/row_sum.h"
#include "host/parallel.h"
#include "ops/conversion.h"

inline namespace NORCH_ISA {
namespace {

// The integers of bags, each of which names one of so many rows, or is padding.
struct Reads {
    Bags bags;
    const int64_t* index;
    int64_t rows, padding;

    Reads(const Tensor& index, const Tensor* starts, int64_t rows, const Bagging& how)
        : bags(index, starts, how), index(data_as<int64_t>(index)), rows(rows), padding(how.padding) {}

    // Fails if one of these bags does not lie in the input, or one of their integers names no row.
    void check(int64_t first, int64_t last) const {
        if (first == 0 && bags.start(0) != 0)
            fail_with({Fault::OFFSET, 0, "embedding_bag", bags.integers, 0, 0}, bags.start(0));
        const int64_t begin = bags.start(first);
        int64_t end = begin < 0 ? 0 : begin;
        for (int64_t b = first; b <= last; b++) {
            const int64_t next = bags.start(b);
            if (next < end || next > bags.integers)
                fail_with({Fault::OFFSET, 1, "embedding_bag", bags.integers, 0, 0}, next);
            end = next;
        }
        uint64_t outside = 0;  // its sign
        for (int64_t i = begin; i < end; i++) outside |= uint64_t(index[i]) | (uint64_t(rows - 1) - uint64_t(index[i]));
        for (int64_t i = begin; i < end && int64_t(outside) < 0; i++)
            if (uint64_t(index[i]) >= uint64_t(rows))
                fail_with({Fault::INDEX, 0, "embedding_bag", rows, 0, 0}, index[i]);
    }

    // Calls f(i, row) for each integer of a bag that counts.
    template <class F>
    inline __attribute__((always_inline)) void for_each(int64_t bag, F f) const {
        const int64_t end = bags.start(bag + 1);
        for (int64_t i = bags.start(bag); i < end; i++)
            if (index[i] != padding) f(i, index[i]);
    }
    // An integer that is read soon, by whomever: what it names may be fetched, though it was not checked.
    int64_t later(int64_t i) const { return index[i + 8 < bags.integers ? i + 8 : i]; }
    int64_t count(int64_t bag) const {
        int64_t counted = 0;
        for_each(bag, [&](int64_t, int64_t) { counted++; });
        return counted;
    }
};

// Calls f(width, column) for blocks of columns, as wide as they can be.
template <int WIDTH, class F>
inline __attribute__((always_inline)) void for_columns(int64_t size, F f, int64_t column = 0) {
    for (; column + WIDTH <= size; column += WIDTH) f(std::integral_constant<int, WIDTH>(), column);
    if constexpr (WIDTH > 1)
        if (column < size) for_columns<WIDTH / 2>(size, f, column);
}

template <class T>
using Wide = std::conditional_t<sizeof(T) == 2, float, T>;

// The sum or mean of WIDTH columns of a bag's rows, each times weight(i).
template <int WIDTH, class T, class F>
inline __attribute__((always_inline)) void add_rows(const T* table, int64_t size, const Reads& reads, int64_t bag,
                                                    F weight, bool mean, T* out) {
    Wide<T> lanes[WIDTH] = {};
    int64_t counted = 0;
    reads.for_each(bag, [&](int64_t i, int64_t row) {
        const T* x = table + row * size;
        const uintptr_t next = uintptr_t(table) + uintptr_t(reads.later(i) * size) * sizeof(T);
        for (size_t at = 0; at < WIDTH * sizeof(T); at += 64)
            __builtin_prefetch(reinterpret_cast<const void*>(next + at));
        const Wide<T> factor = weight(i);
        for_lanes<WIDTH>(lanes, [=](Wide<T> lane, int j) { return lane + factor * convert<Wide<T>>(x[j]); });
        counted++;
    });
    const Wide<T> share = mean && counted ? 1 / Wide<T>(counted) : Wide<T>(1);
    for (int j = 0; j < WIDTH; j++) out[j] = convert<T>(Wide<T>(lanes[j] * share));
}

// Their largest elements, and the rows of these; 0 and -1 of no rows.
template <int WIDTH, class T>
void find_largest(const T* table, int64_t size, const Reads& reads, int64_t bag, T* out, int64_t* chosen) {
    Wide<T> lanes[WIDTH] = {};
    int64_t from[WIDTH];
    for (int j = 0; j < WIDTH; j++) from[j] = -1;
    reads.for_each(bag, [&](int64_t, int64_t row) {
        const T* elements = table + row * size;
        for (int j = 0; j < WIDTH; j++) {
            const Wide<T> x = convert<Wide<T>>(elements[j]);
            const bool larger = is_larger(x, lanes[j]) | (from[j] < 0);
            lanes[j] = larger ? x : lanes[j];
            from[j] = larger ? row : from[j];
        }
    });
    for (int j = 0; j < WIDTH; j++) out[j] = convert<T>(lanes[j]);
    for (int j = 0; chosen && j < WIDTH; j++) chosen[j] = from[j];
}

template <class F>
void for_floating(int32_t dtype, F f) {
    if (!is_narrow(dtype)) return for_real(dtype, f);
    dtype == FLOAT16 ? f(Type<Half>()) : f(Type<BFloat16>());
}

// Calls f(bag) for each bag, on several threads.
template <class F>
void for_bags(const Reads& reads, int64_t count, int64_t size, F f) {
    parallel_for(count, 1 + SMALL_WORK / (size * (1 + reads.bags.integers / count)), [&](int64_t begin, int64_t end) {
        reads.check(begin, end);
        for (int64_t bag = begin; bag < end; bag++) f(bag);
    });
}

}  // namespace

void embedding_bag_tensor_cpu(const Tensor& table, const Tensor& index, const Tensor* starts, const Tensor* weights,
                              Tensor& out, Tensor* chosen, const Bagging& how) {
    const int64_t size = out.shape[1];
    const Reads reads(index, starts, table.shape[0], how);
    const bool mean = how.mode == Bagging::MEAN;
    for_floating(table.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const T *x = data_as<T>(table), *scales = data_as<T>(weights);
        const auto add = [&](auto weight) {
            for_bags(reads, out.shape[0], size, [=, &out](int64_t bag) __attribute__((always_inline)) {
                T* to = data_as<T>(out) + bag * size;
                for_columns<64>(size, [=](auto width, int64_t j) {
                    add_rows<decltype(width)::value>(x + j, size, reads, bag, weight, mean, to + j);
                });
            });
        };
        if (how.mode != Bagging::MAX && scales) return add([=](int64_t i) { return convert<Wide<T>>(scales[i]); });
        if (how.mode != Bagging::MAX) return add([](int64_t) { return Wide<T>(1); });
        for_bags(reads, out.shape[0], size, [&](int64_t bag) {
            T* to = data_as<T>(out) + bag * size;
            int64_t* from = chosen ? data_as<int64_t>(chosen) + bag * size : nullptr;
            for_columns<16>(size, [&](auto width, int64_t j) {
                find_largest<decltype(width)::value>(x + j, size, reads, bag, to + j, from ? from + j : nullptr);
            });
        });
    });
}

// ---- Gradients ---------------------------------------------------------------------------------------------------

namespace {

// Adds the gradients of the bags to the rows that they read; one thread does, as lines of the cache would move between
// several.
template <class T>
void add_to_rows(const T* gradient, int64_t count, int64_t size, const Reads& reads, const T* weights, T* out,
                 const Bagging& how) {
    reads.check(0, count);
    Scratch<int32_t> often(how.by_frequency ? reads.rows : 0);
    for (int64_t row = 0; row < often.count; row++) often[row] = 0;
    for (int64_t bag = 0; bag < count && how.by_frequency; bag++)
        reads.for_each(bag, [&](int64_t, int64_t row) { often[row]++; });
    for (int64_t bag = 0; bag < count; bag++, gradient += size) {
        const T share = how.mode == Bagging::MEAN ? 1 / T(reads.count(bag)) : T(1);
        reads.for_each(bag, [&](int64_t i, int64_t row) {
            const T scaled = weights ? share * weights[i] : share;
            const T factor = how.by_frequency ? scaled / T(often[row]) : scaled;
            T* to = out + row * size;
            INDEPENDENT for (int64_t j = 0; j < size; j++) to[j] += factor * gradient[j];
        });
    }
}

}  // namespace

void embedding_bag_backward_tensor_cpu(const Tensor& gradient, const Tensor* table, const Tensor& index,
                                       const Tensor* starts, const Tensor* weights, Tensor* for_table,
                                       Tensor* for_weights, const Bagging& how) {
    const int64_t count = gradient.shape[0], size = gradient.shape[1];
    const Reads reads(index, starts, (for_table ? for_table : table)->shape[0], how);
    for_real(gradient.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const T *from = data_as<T>(gradient), *rows = data_as<T>(table);
        if (for_table) add_to_rows(from, count, size, reads, data_as<T>(weights), data_as<T>(for_table), how);
        if (!for_weights) return;
        for_bags(reads, count, size, [=, &for_weights](int64_t bag) {
            const T* x = from + bag * size;
            reads.for_each(bag, [=](int64_t i, int64_t row) {
                const T* y = rows + row * size;
                data_as<T>(for_weights)[i] = T(row_sum<T>(size, [=](int64_t j) { return x[j] * y[j]; }));
            });
        });
    });
}

}  // namespace NORCH_ISA
