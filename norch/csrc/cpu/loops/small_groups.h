// Reductions of short columns that are few: the middle dimension of [8192, 7, 7]. A row of seven fills no vector, so the
// rows of many groups are packed side by side, and their columns are those of one long row.

#pragma once
#include "cpu/loops/chunks.h"
#include "cpu/loops/tiles.h"
#include "host/parallel.h"
#include "ops/layout.h"

inline namespace NORCH_ISA {

enum {
    PACKED = 8192,      // elements that are packed at a time
    NARROW_GROUP = 24,  // columns
    SHORT_GROUP = 64,   // rows
};

struct Groups {
    int64_t columns, width;  // of all and of each
    int64_t place, next;     // of the results of the first in the second operand, and the distance to those of the next
};

// The last dimension of kept are the columns.
inline bool are_small_groups(const Layout<2>& kept, int64_t rows) {
    const int64_t width = kept.shape[kept.ndim - 1];
    return width <= NARROW_GROUP && kept.size > width && rows <= SHORT_GROUP;
}

// Calls call(f, packed, groups) for groups of n rows, `stride` apart, that are packed into n long ones.
inline void for_small_groups(Layout<2> kept, int64_t n, int64_t stride, int64_t item, char* x,
                             void (*call)(const void* f, const char* packed, Groups groups), const void* f) {
    const int across = kept.ndim - 1, over = across - 1;
    for (int d = 0; d < over; d++)
        if (kept.shape[d] > kept.shape[over]) swap_dims(kept, d, over);
    const int64_t width = kept.shape[across], count = kept.shape[over], next = kept.strides[1][over];
    const int64_t most = smaller(COLUMNS / width, PACKED / (n * width)), runs = (count + most - 1) / most;
    parallel_for(kept.size / (width * count) * runs, 1 + SMALL_WORK / PACKED, [&](int64_t begin, int64_t end) {
        alignas(VECTOR_BYTES) char packed[PACKED * sizeof(double)];
        Odometer<2> at(kept, over);
        at.seek(begin / runs);
        for (int64_t k = begin; k < end; k++) {
            const int64_t first = k % runs * most, some = smaller(most, count - first), columns = some * width;
            char* from = x + (at.offset[0] + first * kept.strides[0][over]) * item;
            for (int64_t i = 0; i < n; i++, from += stride * item)
                copy_tile<false>(item, packed + i * columns * item, from, some, width, kept.strides[0][over],
                                 kept.strides[0][across]);
            call(f, packed, Groups{columns, width, at.offset[1] + first * next, next});
            if (first + some == count) at.next();
        }
    });
}
template <class T, class F>
void for_small_groups(const Layout<2>& kept, int64_t n, int64_t stride, const T* x, const F& f) {
    auto call = [](const void* f, const char* packed, Groups groups) {
        const F copy = *static_cast<const F*>(f);
        copy(reinterpret_cast<const T*>(packed), groups);
    };
    for_small_groups(kept, n, stride, sizeof(T), reinterpret_cast<char*>(const_cast<T*>(x)), call, &f);
}

}  // namespace NORCH_ISA
