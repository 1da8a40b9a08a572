// CPU kernels behind api/ordering.cpp that order elements: sorting, modes, running extremes, places among
// sorted edges.

#include <string.h>

#include <algorithm>
#include <type_traits>

#include "cpu/backend.h"
#include "host/lines.h"
#include "ops/ordering.h"

namespace {

// ---- Keys: unsigned integers in the order of the elements ----------------------------------------------------------

template <class T>
using Key = std::conditional_t<sizeof(T) == 8, uint64_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint8_t>>;

// Equal elements have equal keys, zeros of both signs and all NaNs among them. NaN is larger than every number.
template <class T>
Key<T> key_of(T x) {
    using K = Key<T>;
    const K top = K(K(1) << (8 * sizeof(T) - 1));
    if constexpr (std::is_floating_point<T>::value) {
        const T positive = x + T(0);  // -0 + 0 is 0
        K bits;
        memcpy(&bits, &positive, sizeof bits);
        return x != x ? K(-1) : bits & top ? K(~bits) : K(bits | top);
    } else {
        return std::is_signed<T>::value ? K(K(x) ^ top) : K(x);
    }
}

// A key with the index of its element, which orders equals. Both in one integer, where they fit.
template <class K>
struct WideEntry {
    K key;
    int64_t index;
    static WideEntry of(K key, int64_t index) { return {key, index}; }
    bool operator<(const WideEntry& other) const {
        return key < other.key || (key == other.key && index < other.index);
    }
};
template <class K>
struct PackedEntry {
    uint64_t both;
    static PackedEntry of(K key, int64_t index) { return {uint64_t(key) << 32 | uint64_t(index)}; }
    bool operator<(const PackedEntry& other) const { return both < other.both; }
};
template <class K>
K key_in(const WideEntry<K>& entry) {
    return entry.key;
}
template <class K>
K key_in(const PackedEntry<K>& entry) {
    return K(entry.both >> 32);
}
template <class K>
int64_t index_in(const WideEntry<K>& entry) {
    return entry.index;
}
template <class K>
int64_t index_in(const PackedEntry<K>& entry) {
    return int64_t(uint32_t(entry.both));
}

// ---- Sorting -----------------------------------------------------------------------------------------------------

enum {
    FEW = 256,      // fewer entries are compared, more are counted by the digits of their keys
    DIGITS = 256,   // values of a byte
    FIRST_FEW = 16  // entries that are kept in order by insertion
};

// Sorts by the lowest byte of the keys, then by the next: a stable pass each, which a byte that all share goes without.
template <class Entry>
Entry* sort_by_digits(Entry* from, Entry* to, int64_t n) {
    using K = decltype(key_in(*from));
    int64_t counts[sizeof(K)][DIGITS] = {};
    for (int64_t i = 0; i < n; i++)
        for (size_t byte = 0; byte < sizeof(K); byte++) counts[byte][key_in(from[i]) >> (8 * byte) & 0xFF]++;
    for (size_t byte = 0; byte < sizeof(K); byte++) {
        int64_t* place = counts[byte];
        if (place[key_in(from[0]) >> (8 * byte) & 0xFF] == n) continue;
        int64_t total = 0;
        for (int d = 0; d < DIGITS; d++) {
            const int64_t count = place[d];
            place[d] = total;
            total += count;
        }
        for (int64_t i = 0; i < n; i++) to[place[key_in(from[i]) >> (8 * byte) & 0xFF]++] = from[i];
        std::swap(from, to);
    }
    return from;
}

// n entries in order; the buffer has room for n.
template <class Entry>
Entry* sort_line(Entry* line, Entry* buffer, int64_t n) {
    if (n > FEW) return sort_by_digits(line, buffer, n);
    std::sort(line, line + n);
    return line;
}

// Of a line of which few are wanted: what does not come before `last` is passed over, by comparing elements, BLOCK of them
// at a time; take(i) is called for the others, and may move `last` forwards. DESCENDING: their keys are flipped.
template <bool DESCENDING, class T, class F>
void pick(const T* source, int64_t begin, int64_t n, int64_t step, const T& last, F take) {
    enum { BLOCK = 16 };
    auto passes = [&](int64_t i) {  // NaN is compared by its key
        const T next = source[i * step];
        return DESCENDING ? next <= last : next >= last;
    };
    for (int64_t i = begin; i < n;) {
        const int64_t end = std::min(i + BLOCK, n);
        int all = step == 1 && end - i == BLOCK;
        for (int j = 0; all && j < BLOCK; j++) all &= passes(i + j);
        for (; i < end; i++)
            if (!all && !passes(i)) take(i);
    }
}

// The first `count` of a line, of which there are few, by insertion.
template <bool DESCENDING, class Entry, class T>
const Entry* first_few(const T* source, int64_t n, int64_t step, int64_t count, Entry* line) {
    const Key<T> flipped = DESCENDING ? Key<T>(-1) : Key<T>(0);
    T last = source[0];
    int64_t found = 0;
    auto insert = [&](int64_t i) {
        const Entry entry = Entry::of(Key<T>(key_of(source[i * step]) ^ flipped), i);
        if (found == count && !(entry < line[count - 1])) return;
        const int64_t before = found;
        if (found < count) line[found++] = before > 0 ? std::max(line[before - 1], entry) : entry;
        for (int64_t k = before - 1; k > 0; k--) line[k] = std::min(line[k], std::max(line[k - 1], entry));
        line[0] = std::min(line[0], entry);
        last = source[index_in(line[found - 1]) * step];
    };
    for (int64_t i = 0; i < count; i++) insert(i);
    pick<DESCENDING>(source, count, n, step, last, insert);
    return line;
}

// The same for more of them: twice as many are collected before the second half is dropped.
template <bool DESCENDING, class Entry, class T>
const Entry* first_part(const T* source, int64_t n, int64_t step, int64_t count, Entry* line) {
    const Key<T> flipped = DESCENDING ? Key<T>(-1) : Key<T>(0);
    T last = source[0];
    int64_t found = 0;
    auto append = [&](int64_t i) {
        line[found++] = Entry::of(Key<T>(key_of(source[i * step]) ^ flipped), i);
        if (found < 2 * count) return;
        std::nth_element(line, line + count - 1, line + found);
        found = count;
        last = source[index_in(line[count - 1]) * step];
    };
    for (int64_t i = 0; i < 2 * count; i++) append(i);
    pick<DESCENDING>(source, 2 * count, n, step, last, append);
    std::nth_element(line, line + count - 1, line + found);
    std::sort(line, line + count);
    return line;
}

template <class Entry, class T>
void sort_lines(const Tensor& x, Tensor& values, Tensor& indices, int axis, bool descending) {
    const int64_t n = x.shape[axis], count = values.shape[axis], step = x.strides[axis];
    const int64_t value_step = values.strides[axis], index_step = indices.strides[axis];
    const Key<T> flipped = descending ? Key<T>(-1) : Key<T>(0);
    for_lines(x, values, indices, axis, [&](Odometer<3>& at, int64_t lines) {
        Scratch<Entry> line(n), buffer(n);
        for (; lines > 0; lines--, at.next()) {
            const T* source = data_as<const T>(x) + at.offset[0];
            const Entry* sorted;
            if (count <= FIRST_FEW && count < n) {
                sorted = descending ? first_few<true>(source, n, step, count, line.data)
                                    : first_few<false>(source, n, step, count, line.data);
            } else if (count < n / 4) {
                sorted = descending ? first_part<true>(source, n, step, count, line.data)
                                    : first_part<false>(source, n, step, count, line.data);
            } else {
                for (int64_t i = 0; i < n; i++) line[i] = Entry::of(Key<T>(key_of(source[i * step]) ^ flipped), i);
                sorted = sort_line(line.data, buffer.data, n);
            }
            T* value = data_as<T>(values) + at.offset[1];
            int64_t* place = data_as<int64_t>(indices) + at.offset[2];
            for (int64_t i = 0; i < count; i++) {
                const int64_t index = index_in(sorted[i]);
                value[i * value_step] = source[index * step];
                place[i * index_step] = index;
            }
        }
    });
}

// Calls f(Type<Entry>(), Type<T>()) for lines of n elements.
template <class F>
void for_entries(int32_t dtype, int64_t n, F f) {
    for_any(dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        if constexpr (sizeof(T) <= 4)
            if (n <= int64_t(UINT32_MAX)) return f(Type<PackedEntry<Key<T>>>(), type);
        f(Type<WideEntry<Key<T>>>(), type);
    });
}

}  // namespace

void sort_tensor_cpu(const Tensor& x, Tensor& values, Tensor& indices, int axis, bool descending) {
    for_entries(x.dtype, x.shape[axis], [&](auto entry, auto type) {
        sort_lines<typename decltype(entry)::type, typename decltype(type)::type>(x, values, indices, axis, descending);
    });
}

// The longest run of equals in each sorted line, the first of several.
void mode_tensor_cpu(const Tensor& x, Tensor& values, Tensor& indices) {
    const int64_t n = x.shape[x.ndim - 1];
    for_entries(x.dtype, n, [&](auto entry, auto type) {
        using Entry = typename decltype(entry)::type;
        using T = typename decltype(type)::type;
        parallel_for(indices.size, 1 + SMALL_WORK / 8 / n, [&](int64_t begin, int64_t end) {
            Scratch<Entry> line(n), buffer(n);
            for (int64_t k = begin; k < end; k++) {
                const T* source = data_as<const T>(x) + k * n;
                for (int64_t i = 0; i < n; i++) line[i] = Entry::of(key_of(source[i]), i);
                const Entry* sorted = sort_line(line.data, buffer.data, n);
                int64_t longest = 0, last = 0;
                for (int64_t start = 0, i = 1; i <= n; i++) {
                    if (i < n && key_in(sorted[i]) == key_in(sorted[start])) continue;
                    if (i - start > longest) longest = i - start, last = i - 1;
                    start = i;
                }
                data_as<int64_t>(indices)[k] = index_in(sorted[last]);
                data_as<T>(values)[k] = source[index_in(sorted[last])];
            }
        });
    });
}

// ---- Running extremes --------------------------------------------------------------------------------------------

namespace {

enum { BLOCK = 32 };

template <bool LARGEST, class T>
bool any_extends(const T* x, T extreme) {
    int32_t any = 0;
    for (int j = 0; j < BLOCK; j++) any |= extends(x[j], extreme, LARGEST) ? -1 : 0;
    return any != 0;
}

// Along a line whose elements lie side by side, as those of both results.
template <bool LARGEST, class T>
void running_extremes_of_line(const T* source, T* value, int64_t* place, int64_t n) {
    T best = *source;
    int64_t index = 0;
    for (int64_t i = 0; i < n; i += BLOCK) {  // extremes are seldom: most blocks have none
        const int64_t end = smaller(i + BLOCK, n);
        if (end - i == BLOCK && !any_extends<LARGEST>(source + i, best)) {
            for (int j = 0; j < BLOCK; j++) value[i + j] = best;
            for (int j = 0; j < BLOCK; j++) place[i + j] = index;
            continue;
        }
        for (int64_t j = i; j < end; j++) {
            const bool is_next = extends(source[j], best, LARGEST);
            value[j] = best = is_next ? source[j] : best;
            place[j] = index = is_next ? j : index;
        }
    }
}

template <bool LARGEST>
void running_extremes(const Tensor& x, Tensor& values, Tensor& indices, int axis) {
    const int64_t n = x.shape[axis], step = x.strides[axis];
    const int64_t value_step = values.strides[axis], index_step = indices.strides[axis];
    for_any(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        auto walk = [&](auto number, const LineStart* starts) {
            constexpr int LINES = decltype(number)::value;
            const T* source[LINES];
            T *value[LINES], best[LINES];
            int64_t *place[LINES], index[LINES];
            for (int k = 0; k < LINES; k++) {
                source[k] = data_as<const T>(x) + starts[k].offset[0];
                value[k] = data_as<T>(values) + starts[k].offset[1];
                place[k] = data_as<int64_t>(indices) + starts[k].offset[2];
                best[k] = *source[k], index[k] = 0;
            }
            for (int64_t i = 0; i < n; i++) {
                for (int k = 0; k < LINES; k++) {
                    const T next = source[k][i * step];
                    if (extends(next, best[k], LARGEST)) best[k] = next, index[k] = i;
                    value[k][i * value_step] = best[k];
                    place[k][i * index_step] = index[k];
                }
            }
        };
        if (step != 1 || value_step != 1 || index_step != 1) return for_lines_together(x, values, indices, axis, walk);
        for_lines(x, values, indices, axis, [&](Odometer<3>& at, int64_t count) {
            for (; count > 0; count--, at.next())
                running_extremes_of_line<LARGEST>(data_as<const T>(x) + at.offset[0], data_as<T>(values) + at.offset[1],
                                                  data_as<int64_t>(indices) + at.offset[2], n);
        });
    });
}

}  // namespace

void running_extreme_tensor_cpu(const Tensor& x, Tensor& values, Tensor& indices, int axis, bool largest) {
    if (largest)
        running_extremes<true>(x, values, indices, axis);
    else
        running_extremes<false>(x, values, indices, axis);
}

// ---- Places among sorted edges -----------------------------------------------------------------------------------

// Several values at a time: a step waits for the one before, but not for those of other values.
void bins_tensor_cpu(const Tensor& edges, const Tensor& values, bool right, Tensor& out) {
    enum { ABREAST = 8 };
    const int64_t n = edges.shape[edges.ndim - 1], line = edges.ndim == 1 ? values.size : values.shape[values.ndim - 1];
    for_any(edges.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* edge = data_as<const T>(edges);
        const T* value = data_as<const T>(values);
        int64_t* place = data_as<int64_t>(out);
        parallel_for(values.size, SMALL_WORK / 8, [=](int64_t begin, int64_t end) {
            for (int64_t i = begin, count; i < end; i += count) {
                const T* first = edge + i / line * n;
                count = smaller(smaller(ABREAST, end - i), line - i % line);
                T x[ABREAST];
                int64_t low[ABREAST] = {};
                bool numbers = true;
                for (int k = 0; k < ABREAST; k++) {
                    x[k] = value[i + smaller(k, count - 1)];
                    numbers &= x[k] == x[k];
                }
                const auto search = [&](auto is_behind) {
                    for (int64_t left = n, half; left > 0; left -= half) {  // by halving, without a jump
                        half = (left + 1) / 2;
                        for (int k = 0; k < ABREAST; k++)
                            low[k] += half & -int64_t(is_behind(first[low[k] + half - 1], x[k]));
                    }
                };
                if (!numbers)
                    search([right](T edge, T value) { return is_below(edge, value, right); });
                else if (right)
                    search([](T edge, T value) { return edge <= value; });
                else
                    search([](T edge, T value) { return edge < value; });
                std::copy_n(low, count, place + i);
            }
        });
    });
}
