// CPU kernels behind api/indexing.cpp that order elements: sorting, running extremes, places among sorted edges.

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

enum { FEW = 256, DIGITS = 256 };  // fewer entries are compared, more are counted by the digits of their keys

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

// The first `count` of n entries, in order; the buffer has room for n.
template <class Entry>
Entry* sort_line(Entry* line, Entry* buffer, int64_t n, int64_t count) {
    if (count < n && count <= 16)
        std::partial_sort(line, line + count, line + n);
    else if (count < n / 4)
        std::nth_element(line, line + count, line + n), std::sort(line, line + count);
    else if (n > FEW)
        return sort_by_digits(line, buffer, n);
    else
        std::sort(line, line + n);
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
            for (int64_t i = 0; i < n; i++) line[i] = Entry::of(Key<T>(key_of(source[i * step]) ^ flipped), i);
            const Entry* sorted = sort_line(line.data, buffer.data, n, count);
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

}  // namespace

void sort_tensor_cpu(const Tensor& x, Tensor& values, Tensor& indices, int axis, bool descending) {
    for_any(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        if (sizeof(T) <= 4 && x.shape[axis] <= int64_t(UINT32_MAX))
            return sort_lines<PackedEntry<Key<T>>, T>(x, values, indices, axis, descending);
        sort_lines<WideEntry<Key<T>>, T>(x, values, indices, axis, descending);
    });
}

// ---- Running extremes --------------------------------------------------------------------------------------------

void running_extreme_tensor_cpu(const Tensor& x, Tensor& values, Tensor& indices, int axis, bool largest) {
    const int64_t n = x.shape[axis], step = x.strides[axis];
    const int64_t value_step = values.strides[axis], index_step = indices.strides[axis];
    for_any(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        for_lines_together(x, values, indices, axis, [&](auto number, const LineStart* starts) {
            constexpr int LINES = decltype(number)::value;
            T best[LINES];
            int64_t index[LINES];
            for (int k = 0; k < LINES; k++) best[k] = data_as<const T>(x)[starts[k].offset[0]], index[k] = 0;
            for (int64_t i = 0; i < n; i++) {
                for (int k = 0; k < LINES; k++) {
                    const T next = data_as<const T>(x)[starts[k].offset[0] + i * step];
                    const bool beats = extends(next, best[k], largest);
                    best[k] = beats ? next : best[k];
                    index[k] = beats ? i : index[k];
                    data_as<T>(values)[starts[k].offset[1] + i * value_step] = best[k];
                    data_as<int64_t>(indices)[starts[k].offset[2] + i * index_step] = index[k];
                }
            }
        });
    });
}

// ---- Places among sorted edges -----------------------------------------------------------------------------------

void bins_tensor_cpu(const Tensor& edges, const Tensor& values, bool right, Tensor& out) {
    const int64_t n = edges.shape[edges.ndim - 1], line = edges.ndim == 1 ? values.size : values.shape[values.ndim - 1];
    for_any(edges.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* edge = data_as<const T>(edges);
        const T* value = data_as<const T>(values);
        int64_t* place = data_as<int64_t>(out);
        parallel_for(values.size, SMALL_WORK / 8, [=](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; i++) {
                const T* first = edge + i / line * n;
                const T x = value[i];
                int64_t low = 0;
                for (int64_t left = n; left > 0;) {  // by halving, without a jump that depends on the elements
                    const int64_t half = left / 2;
                    const bool below = is_below(first[low + half], x, right);
                    low = below ? low + half + 1 : low;
                    left = below ? left - half - 1 : half;
                }
                place[i] = low;
            }
        });
    });
}
