// CPU selection: the k-th smallest element of a line, and its median.
//
// The range of keys is halved until one is left. A pass over the line only counts how many keys lie in the lower half,
// in vectors and without a jump that depends on the elements. Of few elements each is compared with all others.

#include <string.h>

#include <limits>
#include <type_traits>

#include "cpu/backend.h"
#include "cpu/loops/keys.h"
#include "cpu/loops/odometer.h"
#include "cpu/loops/simd.h"
#include "host/parallel.h"
#include "ops/ordering.h"

inline namespace NORCH_ISA {
namespace {

enum { COUNTED = 1 << 30 };  // keys that a count of 32 bits holds

// How many keys are each compared with all others: few of 8 bytes where SSE2 is all, which does not compare these.
template <class Key>
constexpr int64_t FEW = sizeof(Key) == 8 && VECTOR_BYTES == 16 ? 4 : 16;

template <class Key>
int64_t count_up_to(const Key* keys, int64_t n, Key limit) {
    int64_t total = 0;
    for (int64_t start = 0; start < n; start += COUNTED) {
        const int64_t end = smaller(start + COUNTED, n);
        Key count = 0;
        for (int64_t i = start; i < end; i++) count += keys[i] <= limit;
        total += count;
    }
    return total;
}

template <class Key>
Key largest_up_to(const Key* keys, int64_t n, Key limit) {
    Key largest = std::numeric_limits<Key>::min();
    for (int64_t i = 0; i < n; i++) {
        const Key key = keys[i] <= limit ? keys[i] : std::numeric_limits<Key>::min();
        largest = key > largest ? key : largest;
    }
    return largest;
}

template <class Key>
Key smallest_but(const Key* keys, int64_t n, int64_t place) {
    using Distance = std::make_unsigned_t<Key>;
    Key low = keys[0], high = keys[0];
    for (int64_t i = 0; i < n; i++) low = keys[i] < low ? keys[i] : low, high = keys[i] > high ? keys[i] : high;
    if (place == 0) return low;
    if (place == n - 1) return high;
    while (low < high) {
        const Key middle = Key(Distance(low) + (Distance(high) - Distance(low)) / 2);
        const int64_t count = count_up_to(keys, n, middle);
        if (count == place + 1) return largest_up_to(keys, n, middle);
        const bool below = count > place;
        high = below ? middle : high;
        low = below ? low : Key(middle + 1);
    }
    return low;
}

// The place of one of few keys: each finds how many come before it. There is room for FEW.
template <class Key>
int64_t selected_of_few(Key* keys, int64_t n, int64_t place) {
    enum { BYTES = VECTOR_BYTES < 32 ? VECTOR_BYTES : 32, LANES = BYTES / sizeof(Key) };  // 64 would hold mostly others
    typedef Key Vector __attribute__((vector_size(BYTES)));
    for (int64_t i = n; i % LANES != 0; i++) keys[i] = std::numeric_limits<Key>::max();  // behind all others
    Vector at, found = {};
    for (int k = 0; k < LANES; k++) at[k] = k;
    for (int64_t start = 0; start < n; start += LANES, at += Key(LANES)) {
        Vector own, rank = {};  // true is -1
        memcpy(&own, keys + start, sizeof own);
        for (int64_t j = 0; j < n; j++) rank -= (own > keys[j]) | ((own == keys[j]) & (at > Key(j)));
        found |= (rank == Key(place)) & at;
    }
    Key index = 0;
    for (int k = 0; k < LANES; k++) index |= found[k];
    return index;
}

template <class T, class Key>
int64_t selected(const T* x, int64_t n, OrderStatistic how, int64_t place, Key* keys) {
    INDEPENDENT for (int64_t i = 0; i < n; i++) keys[i] = key_of(x[i]);
    int64_t numbers = n;
    if (std::is_floating_point_v<T> && how != KTH)
        numbers = count_up_to(keys, n, Key(std::numeric_limits<Key>::max() - 1));  // infinity's key is smaller
    place = selected_place(how, place, n, numbers);
    if (n <= FEW<Key>) return selected_of_few(keys, n, place);
    const Key key = smallest_but(keys, n, place);
    int64_t before = place - (key > std::numeric_limits<Key>::min() ? count_up_to(keys, n, Key(key - 1)) : 0), i = 0;
    for (;; i++)
        if (keys[i] == key && before-- == 0) return i;
}

}  // namespace

void order_statistic_tensor_cpu(const Tensor& x, Tensor& values, Tensor& indices, OrderStatistic how, int64_t place) {
    INTEGERS_IN_AVX2(x.dtype, order_statistic, x, values, indices, how, place);
    const int64_t n = x.shape[x.ndim - 1];
    for_any(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* from = data_as<const T>(x);
        T* value = data_as<T>(values);
        int64_t* index = data_as<int64_t>(indices);
        parallel_for(indices.size, 1 + SMALL_WORK / 8 / n, [=](int64_t begin, int64_t end) {
            Scratch<Key<T>> keys(n < FEW<Key<T>> ? FEW<Key<T>> : n);
            for (int64_t line = begin; line < end; line++) {
                const T* start = from + line * n;
                index[line] = selected(start, n, how, place, keys.data);
                value[line] = start[index[line]];
            }
        });
    });
}

}  // namespace NORCH_ISA
