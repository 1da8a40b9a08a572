// Loops over floats of 16 bits for short formulas: elements are widened and rounded in registers, a vector at a time.

#pragma once
#include <string.h>

#include <utility>

#include "cpu/loops/strided_loops.h"

inline namespace NORCH_ISA {
namespace {

// Rows that change the sign of a number, which is one of its bits.
template <class Row>
struct SignOnly {
    static constexpr bool exists = false;
};
#define SIGN_ONLY(name, of_bits)                                       \
    struct name##_row;                                                 \
    template <>                                                        \
    struct SignOnly<name##_row> {                                      \
        static constexpr bool exists = true;                           \
        static uint16_t of(uint16_t bits) { return uint16_t(of_bits); } \
    };
SIGN_ONLY(neg, bits ^ 0x8000u)
SIGN_ONLY(abs, bits & 0x7FFFu)
#undef SIGN_ONLY

template <class Row>
void sign_loop(const Run& run) {
    with_operand<uint16_t>(run, 0, [&](auto x) {
        uint16_t* out = reinterpret_cast<uint16_t*>(run.data[1]);
        const int64_t n = run.n;
        INDEPENDENT for (int64_t i = 0; i < n; i++) out[i] = SignOnly<Row>::of(x[i]);
    });
}

#ifdef __AVX2__

enum { STEP = 2 * FLOATS };  // elements of a step, in two vectors

// An operand of a loop: elements, or a number that repeats.
template <class Narrow>
struct NarrowOperand {
    const Narrow* data;
    bool is_number;
    FloatsTwice number;

    // A number is narrow or, as run.options tells, wide.
    NarrowOperand(const Run& run, int k) : data(reinterpret_cast<const Narrow*>(run.data[k])), number() {
        const bool is_wide = static_cast<const bool*>(run.options)[k];
        is_number = run.repeats[k] || is_wide;
        if (!is_number) return;
        const float value = is_wide ? *reinterpret_cast<const float*>(data) : convert<float>(*data);
        const FloatBits bits = FloatBits{} + formula::bits_as<uint32_t>(value);  // a sum of floats would lose -0
        number = {Floats(bits), Floats(bits)};
    }
    FloatsTwice at(int64_t i) const { return is_number ? number : both_widened(data + i); }
    // The last elements, which fill no step, go into a block.
    void move_to(Narrow* block, int64_t start, int64_t count) {
        if (is_number) return;
        memset(block, 0, STEP * sizeof(Narrow));
        memcpy(block, data + start, size_t(count) * sizeof(Narrow));
        data = block;
    }
};

// Operands from number NUMBERS on are numbers, if that is known.
template <class Row, class Narrow, int NUMBERS, size_t... K>
void run_in_vectors(const Run& run, std::index_sequence<K...>) {
    enum { OUT = sizeof...(K) };
    Narrow blocks[OUT + 1][STEP];
    NarrowOperand<Narrow> operands[] = {{run, K}...};
    Narrow *const out = reinterpret_cast<Narrow*>(run.data[OUT]), *to = out;
    const int64_t rest = run.n % STEP, whole = run.n - rest;
    for (int64_t n = whole;; n = STEP) {
        for (int64_t start = 0; start < n; start += STEP) {
            const FloatsTwice loaded[] = {(K < NUMBERS ? operands[K].at(start) : operands[K].number)...};
            float x[OUT][STEP], results[STEP];
            memcpy(x, loaded, sizeof x);
            INDEPENDENT for (int i = 0; i < STEP; i++) results[i] = Row::formula_of(x[K][i]...);
            FloatsTwice vectors;
            memcpy(&vectors, results, sizeof vectors);
            round_both_to(to + start, vectors);
        }
        if (to != out || rest == 0) break;
        (operands[K].move_to(blocks[K], whole, rest), ...);
        to = blocks[OUT];
    }
    if (rest) memcpy(out + whole, blocks[OUT], size_t(rest) * sizeof(Narrow));
}
template <class Row, class Narrow, int OUT>
void narrow_loop(const Run& run) {
    const auto all = std::make_index_sequence<OUT>();
    if constexpr (OUT == 3)
        if (run.repeats[1] && run.repeats[2]) return run_in_vectors<Row, Narrow, 1>(run, all);  // bounds
    run_in_vectors<Row, Narrow, OUT>(run, all);
}
#endif

// Runs one of the loops if the result is of 16 bits, and the others are too or are wide numbers; else false.
template <int N>
bool walk_narrow(const Tensor* const (&operands)[N], Loop of_half, Loop of_bfloat16) {
    const int32_t dtype = operands[N - 1]->dtype;
    if (dtype != FLOAT16 && dtype != BFLOAT16) return false;
    bool is_wide[N] = {};
    for (int k = 0; k < N - 1; k++) {
        is_wide[k] = operands[k]->dtype != dtype;
        for (int d = 0; d < operands[k]->ndim && is_wide[k]; d++)
            if (operands[k]->strides[d] != 0 && operands[k]->shape[d] != 1) return false;
    }
    walk_as_stored<N>(operands, 1, dtype == FLOAT16 ? of_half : of_bfloat16, is_wide);
    return true;
}
template <class Row, int N>
bool walk_narrow(const Tensor* const (&operands)[N]) {
#ifdef __AVX2__
    if constexpr (!SignOnly<Row>::exists)
        return walk_narrow(operands, narrow_loop<Row, Half, N - 1>, narrow_loop<Row, BFloat16, N - 1>);
#endif
    if constexpr (SignOnly<Row>::exists) return walk_narrow(operands, sign_loop<Row>, sign_loop<Row>);
    return false;
}

}  // namespace
}  // namespace NORCH_ISA
