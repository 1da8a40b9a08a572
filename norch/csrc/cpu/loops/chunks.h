// Chunks of a row, which reductions take in vectors, whatever lies between their elements.

#pragma once
#include "cpu/loops/lanes.h"
#include "cpu/loops/narrow_vectors.h"
#include "ops/reductions.h"

inline namespace NORCH_ISA {
namespace {

enum {
    CHUNK = 512,       // elements of a row that are reduced at a time
    LANE_BYTES = 128,  // of partial results, kept in registers; twice as many of floats and of 64 bits
    TAIL_BYTES = 64,   // the same, for the end of a row
    COLUMNS = 2048,    // results that a block of columns holds
    BLOCK = 65536,     // elements of a full reduction that one thread takes at a time
    FEW = 16,          // elements of a row that is too short to be reduced on its own
};

// Reduces n contiguous elements of a row: lane j takes elements j, j + LANES, ...; of what is left, fewer lanes.
template <class Op, int LANES, class T>
inline __attribute__((always_inline)) typename Op::Total reduce_in_lanes(const T* x, int64_t n) {
    using Partial = typename Op::Partial;
    return typename Op::Total(in_lanes<LANES, TAIL_BYTES / sizeof(Partial)>(
        Partial(Op::empty()), 0, n, [=](int64_t i) { return Op::lift(x[i]); },
        [](Partial a, Partial b) { return Op::combine(a, b); }));
}
// So few that to call a function takes as long. Integers give the same in any order, and g++ finds vectors for them.
template <class Op, class T>
inline __attribute__((always_inline)) typename Op::Total reduce_few(const T* x, int64_t n) {
    using Partial = typename Op::Partial;
    if constexpr (std::is_integral_v<Partial>) {
        Partial total = Partial(Op::empty());
        for (int64_t i = 0; i < n; i++) total = Op::combine(total, Op::lift(x[i]));
        return typename Op::Total(total);
    } else {
        return reduce_in_lanes<Op, TAIL_BYTES / sizeof(Partial)>(x, n);
    }
}
template <class Op, class T>
__attribute__((noinline)) typename Op::Total reduce_chunk(const T* x, int64_t n) {
    using Partial = typename Op::Partial;
    if constexpr (std::is_integral_v<Partial> && !std::is_same_v<Op, Prod<T>>) return reduce_few<Op>(x, n);
    constexpr bool many = sizeof(Partial) == 8 || (std::is_floating_point_v<T> && std::is_floating_point_v<Partial>);
    return reduce_in_lanes<Op, (many ? 2 : 1) * LANE_BYTES / sizeof(Partial)>(x, n);
}

// What a kernel computes with where elements are stored as T.
template <class T>
using Wide = std::conditional_t<is_half<T>, float, T>;

// Of halves, with any step between them
template <class T>
__attribute__((noinline)) void gather(float* buffer, const T* x, int64_t n, int64_t stride) {
    T line[COLUMNS];
    if (stride != 1) copy_line<T, false>(line, const_cast<T*>(x), n, stride);
    widen_line(stride == 1 ? x : line, buffer, n);
}

template <class T>
__attribute__((noinline)) void scatter(const float* results, T* out, int64_t n, int64_t stride) {
    if (stride == 1) return round_line(results, out, n);
    for (int64_t i = 0; i < n; i++) out[i * stride] = convert<T>(results[i]);
}

// The elements of a chunk, copied into the buffer unless they are contiguous and wide.
template <class T>
const Wide<T>* side_by_side(Wide<T>* buffer, const T* x, int64_t n, int64_t stride) {
    if constexpr (!is_half<T>) {
        if (stride == 1) return x;
        copy_line<T, false>(buffer, const_cast<T*>(x), n, stride);  // in place of a call, for short rows
    } else {
        gather(buffer, x, n, stride);
    }
    return buffer;
}

}  // namespace
}  // namespace NORCH_ISA
