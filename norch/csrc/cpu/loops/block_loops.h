// Loops over blocks of elements, for formulas that are long: a block whose arguments are all ordinary takes a quicker
// version of the formula, and is computed before any of it is stored.

#pragma once
#include <string.h>

#include <type_traits>

#include "cpu/loops/strided_loops.h"

inline namespace NORCH_ISA {
namespace {

// Functions of a float with a quicker version for ordinary arguments (ops/vector_math.h): those with a distance(x), an
// unsigned integer, of at most `farthest`.
template <class Row>
struct Ordinaries {
    static constexpr bool exist = false;
};
#define ORDINARY(name, distance_of_x, largest)                                           \
    struct name##_row;                                                                   \
    template <>                                                                          \
    struct Ordinaries<name##_row> {                                                      \
        static constexpr bool exist = true;                                              \
        static uint32_t distance(float x) { return uint32_t(distance_of_x); }            \
        static uint32_t farthest() { return uint32_t(largest); }                         \
    };
ORDINARY(exp, formula::magnitude_bits(x), formula::magnitude_bits(formula::LARGEST_EXPONENT))
ORDINARY(sigmoid, formula::magnitude_bits(x), formula::magnitude_bits(formula::LARGEST_EXPONENT))
ORDINARY(sin, formula::magnitude_bits(x), formula::magnitude_bits(formula::LARGEST_ANGLE))
ORDINARY(sinc, formula::magnitude_bits(x), formula::magnitude_bits(formula::LARGEST_TURN))
ORDINARY(cos, formula::magnitude_bits(x), formula::magnitude_bits(formula::LARGEST_ANGLE))
ORDINARY(tan, formula::magnitude_bits(x), formula::magnitude_bits(formula::LARGEST_ANGLE))
ORDINARY(bessel_j0, formula::magnitude_bits(x), formula::magnitude_bits(formula::LARGEST_PHASE))
ORDINARY(bessel_j1, formula::magnitude_bits(x), formula::magnitude_bits(formula::LARGEST_PHASE))
ORDINARY(bessel_y0, formula::magnitude_bits(x), formula::magnitude_bits(formula::LARGEST_PHASE))
ORDINARY(bessel_y1, formula::magnitude_bits(x), formula::magnitude_bits(formula::LARGEST_PHASE))
ORDINARY(spherical_bessel_j0, formula::magnitude_bits(x), formula::magnitude_bits(formula::LARGEST_PHASE))
ORDINARY(airy_ai, formula::bits_as<uint32_t>(x), formula::magnitude_bits(formula::LARGEST_AIRY))
ORDINARY(log, formula::positive_normal_distance(x), formula::positive_normal_distance(formula::LARGEST))
ORDINARY(log2, formula::positive_normal_distance(x), formula::positive_normal_distance(formula::LARGEST))
ORDINARY(log10, formula::positive_normal_distance(x), formula::positive_normal_distance(formula::LARGEST))
ORDINARY(erfc, formula::magnitude_bits(x), formula::magnitude_bits(formula::LARGEST_TAIL))
ORDINARY(erfinv, formula::magnitude_bits(x), formula::magnitude_bits(formula::LARGEST_NEAR_ERF))
#undef ORDINARY

// The same of a double: those that fit(x).
template <class Row>
struct OrdinaryDoubles {
    static constexpr bool exist = false;
};
#define ORDINARY_DOUBLE(name, condition)                                                 \
    struct name##_row;                                                                   \
    template <>                                                                          \
    struct OrdinaryDoubles<name##_row> {                                                 \
        static constexpr bool exist = true;                                              \
        static bool fit(double x) { return condition; }                                  \
    };
ORDINARY_DOUBLE(sin, formula::is_ordinary_angle(x))
ORDINARY_DOUBLE(cos, formula::is_ordinary_angle(x))
ORDINARY_DOUBLE(tan, formula::is_ordinary_angle(x))
ORDINARY_DOUBLE(sinc, formula::is_ordinary_angle(x))
ORDINARY_DOUBLE(exp, ::fabs(x) <= formula::LARGEST_WIDE_EXPONENT)
ORDINARY_DOUBLE(sigmoid, ::fabs(x) <= formula::LARGEST_WIDE_EXPONENT)
ORDINARY_DOUBLE(log, formula::is_positive_normal(x))
ORDINARY_DOUBLE(log2, formula::is_positive_normal(x))
ORDINARY_DOUBLE(log10, formula::is_positive_normal(x))
ORDINARY_DOUBLE(erfinv, ::fabs(x) <= formula::LARGEST_NEAR_ERF_OF_DOUBLE)
#undef ORDINARY_DOUBLE

// The same of two operands: those that fit(x, y).
template <class Row, class T>
struct OrdinaryPairs {
    static constexpr bool exist = false;
};
#define ORDINARY_PAIR(name, T, condition)                                  \
    struct name##_row;                                                     \
    template <>                                                            \
    struct OrdinaryPairs<name##_row, T> {                                  \
        static constexpr bool exist = true;                                \
        static bool fit(T x, T y) { return condition; }                    \
    };
#define SMALL_QUOTIENT(name)                                               \
    ORDINARY_PAIR(name, float, formula::have_small_quotient(x, y))         \
    ORDINARY_PAIR(name, double, formula::have_small_quotient(x, y))
SMALL_QUOTIENT(fmod)
SMALL_QUOTIENT(remainder)
SMALL_QUOTIENT(floor_divide)
ORDINARY_PAIR(igamma, float, formula::is_ordinary_gamma(x, y))
ORDINARY_PAIR(igammac, float, formula::is_ordinary_gamma(x, y))
#undef SMALL_QUOTIENT
#undef ORDINARY_PAIR

// Whether the formula of a row is so long that a loop in blocks pays: all REAL rows except these.
template <class Row>
struct IsLong : std::true_type {};
#define BRIEF(name)     \
    struct name##_row;  \
    template <>         \
    struct IsLong<name##_row> : std::false_type {};
BRIEF(sqrt)
BRIEF(rsqrt)
BRIEF(reciprocal)
BRIEF(cube)
BRIEF(inverse_square)
BRIEF(div)
BRIEF(angle)
BRIEF(relu_backward)
BRIEF(sigmoid_backward)
BRIEF(tanh_backward)
BRIEF(leaky_relu)
BRIEF(hardshrink)
BRIEF(softshrink)
BRIEF(hardsigmoid)
BRIEF(hardsigmoid_backward)
BRIEF(hardswish)
BRIEF(hardswish_backward)
BRIEF(share)
#undef BRIEF

// And of the other rows pow of reals: an exponent that repeats would leave its loop branches that stop vectors.
struct pow_row;
template <class Row, class T>
using IsLongPower = std::bool_constant<std::is_same<Row, pow_row>::value && std::is_floating_point<T>::value>;

// An operand in blocks of SIZE contiguous elements: in place, or a copy if it repeats or is the shorter last block.
template <class T>
struct Blocks {
    enum { SIZE = 256 / sizeof(T) };
    const T* data;
    bool repeats;
    T copy[SIZE];

    Blocks(const Run& run, int k) : data(reinterpret_cast<const T*>(run.data[k])), repeats(run.repeats[k]) {
        if (repeats) fill(*data);
    }
    void fill(T value) {
        for (T& element : copy) element = value;
    }
    // The block at `start` of n elements; the last block is filled up with the last element.
    const T* at(int64_t start, int64_t n) {
        if (repeats) return copy;
        if (n - start >= SIZE) return data + start;
        fill(data[n - 1]);
        memcpy(copy, data + start, size_t(n - start) * sizeof(T));
        return copy;
    }
};

// The loop of a row whose formula is long. compute(start, results) computes a block before any of it is stored: stores
// in between would leave the processor less to compute at once.
template <class T, class F>
void block_loop(const Run& run, int written, F compute) {
    enum { SIZE = Blocks<T>::SIZE };
    T* out = reinterpret_cast<T*>(run.data[written]);
    for (int64_t start = 0; start < run.n; start += SIZE) {
        T results[SIZE];
        compute(start, results);
        if (run.n - start >= SIZE)
            memcpy(out + start, results, sizeof results);
        else
            memcpy(out + start, results, size_t(run.n - start) * sizeof(T));
    }
}

// A block of ordinary arguments takes the quicker version, any other the complete formula.
template <class Row, class T>
void compute_block(const T* x, T* results) {
    enum { SIZE = Blocks<T>::SIZE };
    if constexpr (Ordinaries<Row>::exist && std::is_same<T, float>::value) {
        using Test = Ordinaries<Row>;
        uint32_t distance = 0;
        for (int i = 0; i < SIZE; i++) distance = Test::distance(x[i]) > distance ? Test::distance(x[i]) : distance;
        if (distance <= Test::farthest()) {
            INDEPENDENT for (int i = 0; i < SIZE; i++) results[i] = Row::formula_of(formula::Ordinary(x[i]));
            return;
        }
    }
    if constexpr (OrdinaryDoubles<Row>::exist && std::is_same<T, double>::value) {
        int64_t all = 1;
        for (int i = 0; i < SIZE; i++) all &= int64_t(OrdinaryDoubles<Row>::fit(x[i]));
        if (all) {
            INDEPENDENT for (int i = 0; i < SIZE; i++) results[i] = Row::formula_of(formula::OrdinaryDouble(x[i]));
            return;
        }
    }
    INDEPENDENT for (int i = 0; i < SIZE; i++) results[i] = Row::formula_of(x[i]);
}

template <class Row, class T>
void unary_block_loop(const Run& run) {
    Blocks<T> x(run, 0);
    block_loop<T>(run, 1, [&](int64_t start, T* results) { compute_block<Row>(x.at(start, run.n), results); });
}

// Rows whose formula takes a block at once, because it goes through the same steps for all
template <class Row>
struct TakesBlocks : std::false_type {};
#define TAKES_BLOCKS(name, rule, expression) \
    struct name##_row;                       \
    template <>                              \
    struct TakesBlocks<name##_row> : std::true_type {};
POLYNOMIAL_OPS(TAKES_BLOCKS)
#undef TAKES_BLOCKS

template <class Row, class T>
void binary_block_loop(const Run& run) {
    Blocks<T> x(run, 0), y(run, 1);
    block_loop<T>(run, 2, [&](int64_t start, T* results) {
        const T *a = x.at(start, run.n), *b = y.at(start, run.n);
        if constexpr (TakesBlocks<Row>::value) {
            using Block = formula::Several<T, Blocks<T>::SIZE>;
            Block p, q;
            memcpy(&p, a, sizeof p), memcpy(&q, b, sizeof q);
            p = Row::formula_of(p, q);
            memcpy(results, &p, sizeof p);
            return;
        }
        if constexpr (OrdinaryPairs<Row, T>::exist) {
            using Whole = std::conditional_t<sizeof(T) == sizeof(int64_t), int64_t, int32_t>;
            Whole all = 1;
            for (int i = 0; i < Blocks<T>::SIZE; i++) all &= Whole(OrdinaryPairs<Row, T>::fit(a[i], b[i]));
            if (all) {
                INDEPENDENT for (int i = 0; i < Blocks<T>::SIZE; i++) results[i] =
                    Row::formula_of(formula::ordinary(a[i]), formula::ordinary(b[i]));
                return;
            }
        }
        INDEPENDENT for (int i = 0; i < Blocks<T>::SIZE; i++) results[i] = Row::formula_of(a[i], b[i]);
    });
}

}  // namespace
}  // namespace NORCH_ISA
