// CPU selection: the k-th smallest element of a line, and its median.
//
// The range of keys is halved until one is left. A pass over the line only counts how many keys lie in the lower half,
// in vectors and without a jump that depends on the elements.

#include <string.h>

#include <limits>
#include <type_traits>

#include "cpu/backend.h"
#include "cpu/loops/keys.h"
#include "cpu/loops/odometer.h"
#include "host/parallel.h"
#include "ops/ordering.h"

inline namespace NORCH_ISA {
namespace {

enum { COUNTED = 1 << 30 };  // keys that a count of 32 bits holds

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
    for (int64_t i = 0; i < n; i++) largest = (keys[i] <= limit) & (keys[i] > largest) ? keys[i] : largest;
    return largest;
}

template <class Key>
Key smallest_but(const Key* keys, int64_t n, int64_t place) {
    using Distance = std::make_unsigned_t<Key>;
    Key low = keys[0], high = keys[0];
    for (int64_t i = 0; i < n; i++) low = keys[i] < low ? keys[i] : low, high = keys[i] > high ? keys[i] : high;
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

template <class T, class Key>
int64_t selected(const T* x, int64_t n, OrderStatistic how, int64_t place, Key* keys) {
    INDEPENDENT for (int64_t i = 0; i < n; i++) keys[i] = key_of(x[i]);
    int64_t numbers = n;
    if (std::is_floating_point_v<T> && how != KTH)
        numbers = count_up_to(keys, n, Key(std::numeric_limits<Key>::max() - 1));  // infinity's key is smaller
    place = selected_place(how, place, n, numbers);
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
            Scratch<Key<T>> keys(n);
            for (int64_t line = begin; line < end; line++) {
                const T* start = from + line * n;
                index[line] = selected(start, n, how, place, keys.data);
                value[line] = start[index[line]];
            }
        });
    });
}

}  // namespace NORCH_ISA
