// What walk() needs to run a loop over contiguous elements on operands of any layout.

#pragma once
#include <type_traits>

#include "cpu/loops/narrow_vectors.h"
#include "cpu/loops/tiles.h"
#include "ops/dtype_rules.h"

inline namespace NORCH_ISA {

enum {
    MAX_OPERANDS = 5,
    PIECE = 16384,     // elements of a row that a thread takes at once
    SHORT_ROW = 32,    // rows shorter than this are gathered into tiles
    LARGE = 32 << 20,  // bytes of a result that would not stay in the cache
};

// What the loop of a kernel works on: n elements of each operand. The last operands are those it writes.
struct Run {
    char* data[MAX_OPERANDS];
    bool repeats[MAX_OPERANDS];  // a single element stands for all n
    int64_t n;
    const void* options;
};
using Loop = void (*)(const Run& run);

// ---- Operands of a loop ------------------------------------------------------------------------------------------

// An operand inside a loop. Both kinds read x[i]; the compiler sees which of them needs no load.
template <class T>
struct SideBySide {
    const T* data;
    T operator[](int64_t i) const { return data[i]; }
};
template <>
struct SideBySide<bool> {  // as bytes: g++ vectorises no loop that loads a bool
    const bool* data;
    bool operator[](int64_t i) const { return reinterpret_cast<const uint8_t*>(data)[i] != 0; }
};
template <class T>
struct Repeated {
    T value;
    T operator[](int64_t) const { return value; }
};

template <class T, class F>
void with_operand(const Run& run, int k, F f) {
    const T* data = reinterpret_cast<const T*>(run.data[k]);
    if (run.repeats[k]) return f(Repeated<T>{*data});
    f(SideBySide<T>{data});
}

// ---- Walks (cpu/walks.cpp) ---------------------------------------------------------------------------------------

// Runs loop over all elements of the operands, which have one shape; it writes the last `written` of them, and reads
// them before if it `updates`. It computes `block` elements at once, so that part of one takes as long.
template <int N>
void walk_as_stored(const Tensor* const (&operands)[N], int written, Loop loop, const void* options = nullptr,
                    bool updates = false, int64_t block = 1);
// The same for a loop that takes the wide dtypes of operands that it `widens`. A loop with options updates.
template <int N>
void walk(const Tensor* const (&operands)[N], int written, Loop loop, const void* options = nullptr,
          bool (*widens)(int32_t dtype) = is_narrow, int64_t block = 1);

// ---- Narrow dtypes (tensor.h) ------------------------------------------------------------------------------------

template <class From, class To>
void assign_loop(const Run& run) {
    const From* from = reinterpret_cast<const From*>(run.data[0]);
    To* to = reinterpret_cast<To*>(run.data[1]);
    if constexpr (std::is_same<From, To>::value)
        if (!run.repeats[0]) return copy_row(from, to, run.n);
    if constexpr (is_half<From> && !is_half<To>)
        if (!run.repeats[0]) return widen_line(from, to, run.n);
    if constexpr (is_half<To> && std::is_same<From, float>::value)
        if (!run.repeats[0]) return round_line(from, to, run.n);
    using Read = std::conditional_t<is_half<From>, float, From>;
    with_operand<From>(run, 0, [&](auto x) {
        const int64_t n = run.n;
        INDEPENDENT for (int64_t i = 0; i < n; i++) to[i] = convert<To>(convert<Read>(From(x[i])));
    });
}

struct Conversions {
    Loop widen, narrow;
};
Conversions conversions_of(int32_t dtype);  // null unless it is narrow

}  // namespace NORCH_ISA
