// Elementwise CPU kernels and copies.
//
// Each row of ops/operations.h becomes one plain loop over contiguous elements, which the compiler vectorises; walk()
// of cpu/walks.cpp runs that loop on operands of any layout. Formulas that are long have loops in blocks.

#include "cpu/backend.h"

#include <type_traits>

#include "host/parallel.h"
#include "ops/dtype_rules.h"
#include "cpu/loops/block_loops.h"
#include "cpu/loops/narrow_loops.h"
#include "cpu/loops/strided_loops.h"

inline namespace NORCH_ISA {
namespace {

// ---- The loops ---------------------------------------------------------------------------------------------------

// What a formula gave, as it is written: that of a test may be 0 or 1 of another type. (As a choice: of conversions of
// bool g++ makes no vectors.)
template <class Out, class Given>
Out written(Given value) {
    if constexpr (std::is_same<Given, Out>::value)
        return value;
    else
        return value ? Out(1) : Out(0);
}

template <class Row, class T, class Out = decltype(Row::formula_of(T()))>
void unary_loop(const Run& run) {
    with_operand<T>(run, 0, [&](auto x) {
        Out* out = reinterpret_cast<Out*>(run.data[1]);
        const int64_t n = run.n;
        INDEPENDENT for (int64_t i = 0; i < n; i++) out[i] = written<Out>(Row::formula_of(x[i]));
    });
}

template <class Row, class T, class Out = decltype(Row::formula_of(T(), T()))>
void binary_loop(const Run& run) {
    with_operand<T>(run, 0, [&](auto x) {
        with_operand<T>(run, 1, [&](auto y) {
            Out* out = reinterpret_cast<Out*>(run.data[2]);
            const int64_t n = run.n;
            INDEPENDENT for (int64_t i = 0; i < n; i++) out[i] = written<Out>(Row::formula_of(x[i], y[i]));
        });
    });
}

template <class Row, class C, class T>
void ternary_loop(const Run& run) {
    with_operand<C>(run, 0, [&](auto c) {
        with_operand<T>(run, 1, [&](auto x) {
            with_operand<T>(run, 2, [&](auto y) {
                T* out = reinterpret_cast<T*>(run.data[3]);
                const int64_t n = run.n;
                INDEPENDENT for (int64_t i = 0; i < n; i++) out[i] = Row::formula_of(c[i], x[i], y[i]);
            });
        });
    });
}

template <class Row, class T>
void bounded_loop(const Run& run) {
    const T z = *reinterpret_cast<const T*>(run.data[3]);
    with_operand<T>(run, 0, [&](auto c) {
        with_operand<T>(run, 1, [&](auto x) {
            with_operand<T>(run, 2, [&](auto y) {
                T* out = reinterpret_cast<T*>(run.data[4]);
                const int64_t n = run.n;
                INDEPENDENT for (int64_t i = 0; i < n; i++) out[i] = Row::formula_of(c[i], x[i], y[i], z);
            });
        });
    });
}

// ---- From a row of ops/operations.h to a kernel ------------------------------------------------------------------

// Bits of int64 are worth vectors: these operations have kernels for every instruction set.
#define IS_FOR_ALL(rule, dtype) (rule == WHOLE && dtype == INT64)

// Calls kernel(x, out); where x repeats along a dimension, for one element of it, which is copied to the others.
void once(const Tensor& x, Tensor& out, void (*kernel)(const Tensor& x, Tensor& out)) {
    enum { FEW = 1024 };  // elements that are computed again sooner than copied
    Tensor single = x, result = out;
    for (int d = 0; d < x.ndim && x.size > FEW; d++)
        if (x.strides[d] == 0) single.shape[d] = result.shape[d] = 1;
    single.size = result.size = count_elements(single.shape, single.ndim);
    if (x.size <= FEW || single.size == x.size) return kernel(x, out);
    kernel(single, result);
    if (single.size == 1) {
        uint64_t value;
        memcpy(&value, out.data, size_t(item_size(out.dtype)));
        Tensor element = out;
        element.data = &value;
        for (int d = 0; d < out.ndim; d++) element.strides[d] = 0;
        return assign_tensor_cpu(element, out);
    }
    for (int d = x.ndim - 1; d >= 0; d--) {  // so that what is copied gets longer
        if (x.strides[d] != 0 || x.shape[d] == 1) continue;
        Tensor first = result, others = result;  // along this dimension
        first.shape[d] = others.shape[d] = out.shape[d] - 1;
        first.size = others.size = result.size * others.shape[d];
        first.strides[d] = 0;
        others.data = data_as<char>(out) + out.strides[d] * item_size(out.dtype);
        assign_tensor_cpu(first, others);
        result.shape[d] = out.shape[d];
        result.size *= out.shape[d];
    }
}

// Whether a row gives int8 and int16 what it would give int32, rounded to them.
template <class Row, Rule RULE>
struct Wraps : std::bool_constant<RULE != REAL && RULE != CLAMPED> {};
#define IN_INT32(name)   \
    struct name##_row;   \
    template <Rule RULE> \
    struct Wraps<name##_row, RULE> : std::false_type {};
IN_INT32(pow)
IN_INT32(gcd)
IN_INT32(lcm)
#undef IN_INT32

// for_rule with the type that a row is computed in: the wide one, but for integers that wrap. The least and the largest
// of bools are those of their bytes.
template <class Row, Rule RULE, class F>
void for_computed(int32_t dtype, F f) {
#ifndef NORCH_REALS_ONLY
    if constexpr (Wraps<Row, RULE>::value) {
        if (dtype == INT8) return f(Type<int8_t>());
        if (dtype == INT16) return f(Type<int16_t>());
    }
#endif
    for_rule<RULE>(wide_of(dtype), [&](auto type) {
        using T = typename decltype(type)::type;
        f(Type<std::conditional_t<RULE == BOUND, AsByte<T>, T>>());
    });
}

// walk() for a row whose formula is short. (Of a number, which is an int32 beside int8 and int16, the low bytes are read.)
template <class Row, Rule RULE, class T, int N>
void walk_briefly(const Tensor* const (&operands)[N], Loop loop) {
    if constexpr (std::is_same<T, int8_t>::value || std::is_same<T, int16_t>::value)
        return walk_as_stored<N>(operands, 1, loop);
    constexpr bool returns_float = std::is_same<T, float>::value && RULE != TEST && RULE != CHOICE;
    if constexpr (returns_float)
        if (walk_narrow<Row>(operands)) return;
    walk<N>(operands, 1, loop);
}

template <class Row, Rule RULE>
void unary(const Tensor& x, Tensor& out) {
    if constexpr (RULE == WHOLE)
        if (x.dtype == INT64) return walk<2>({&x, &out}, 1, unary_loop<Row, int64_t>);
    for_computed<Row, RULE>(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        if constexpr (RULE == TEST)
            if (out.dtype != BOOL) return walk_briefly<Row, RULE, T>({&x, &out}, unary_loop<Row, T, T>);
        if constexpr (RULE == REAL && IsLong<Row>::value)
            walk<2>({&x, &out}, 1, unary_block_loop<Row, T>, nullptr, is_narrow, Blocks<T>::SIZE);
        else
            walk_briefly<Row, RULE, T>({&x, &out}, unary_loop<Row, T>);
    });
}

template <class Row, Rule RULE>
void binary(const Tensor& x, const Tensor& y, Tensor& out) {
    if constexpr (RULE == WHOLE)
        if (x.dtype == INT64) return walk<3>({&x, &y, &out}, 1, binary_loop<Row, int64_t>);
    for_computed<Row, RULE>(is_narrow(y.dtype) ? y.dtype : x.dtype, [&](auto type) {  // one may be a number
        using T = typename decltype(type)::type;
        if constexpr (RULE == TEST)
            if (out.dtype != BOOL) return walk_briefly<Row, RULE, T>({&x, &y, &out}, binary_loop<Row, T, T>);
        if constexpr ((RULE == REAL && IsLong<Row>::value) || OrdinaryPairs<Row, T>::exist ||
                      IsLongPower<Row, T>::value)
            walk<3>({&x, &y, &out}, 1, binary_block_loop<Row, T>, nullptr, is_narrow, Blocks<T>::SIZE);
        else
            walk_briefly<Row, RULE, T>({&x, &y, &out}, binary_loop<Row, T>);
    });
}

}  // namespace

// OP(exp, REAL, formula::exp(x)) becomes
//
//     void exp_tensor_cpu(const Tensor& x, Tensor& out) {
//         for (int64_t i = 0; i < out.size; i++) out.data[i] = formula::exp(x.data[i]);
//     }
#define UNARY_CPU(name, rule, expression)                     \
    namespace {                                               \
    struct name##_row {                                       \
        template <class T>                                    \
        static Result<rule, T> formula_of(T x) {              \
            return expression;                                \
        }                                                     \
    };                                                        \
    }                                                         \
    void name##_tensor_cpu(const Tensor& x, Tensor& out) {     \
        if (!IS_FOR_ALL(rule, x.dtype)) {                     \
            INTEGERS_IN_AVX2(x.dtype, name, x, out);      \
        }                                                     \
        once(x, out, unary<name##_row, rule>);                \
    }
UNARY_OPS(UNARY_CPU)
ACTIVATION_OPS(UNARY_CPU)
SPECIAL_OPS(UNARY_CPU)

// OP(add, SAME, T(x + y)) becomes
//
//     void add_tensor_cpu(const Tensor& x, const Tensor& y, Tensor& out) {
//         for (int64_t i = 0; i < out.size; i++) out.data[i] = x.data[i] + y.data[i];
//     }
//
// and likewise sub_tensor_cpu, elementwise_mul_tensor_cpu, div_tensor_cpu and the others.
#define BINARY_CPU(name, rule, expression)                    \
    namespace {                                               \
    struct name##_row {                                       \
        template <class T>                                    \
        static Result<rule, T> formula_of(T x, T y) {         \
            return expression;                                \
        }                                                     \
    };                                                        \
    }                                                         \
    void name##_tensor_cpu(const Tensor& x, const Tensor& y, Tensor& out) { \
        if (!IS_FOR_ALL(rule, x.dtype)) {                     \
            INTEGERS_IN_AVX2(x.dtype, name, x, y, out);   \
        }                                                     \
        binary<name##_row, rule>(x, y, out);                  \
    }
BINARY_OPS(BINARY_CPU)
DERIVATIVE_OPS(BINARY_CPU)
LOSS_OPS(BINARY_CPU)
SHAPED_OPS(BINARY_CPU)
SPECIAL_PAIR_OPS(BINARY_CPU)

// OP(where, CHOICE, c ? x : y) becomes
//
//     void where_tensor_cpu(const Tensor& c, const Tensor& x, const Tensor& y, Tensor& out) {
//         for (int64_t i = 0; i < out.size; i++) out.data[i] = c.data[i] ? x.data[i] : y.data[i];
//     }
#define TERNARY_CPU(name, rule, expression)                                                     \
    namespace {                                                                                  \
    struct name##_row {                                                                          \
        template <class C, class T>                                                              \
        static T formula_of(C c, T x, T y) {                                                     \
            return expression;                                                                   \
        }                                                                                        \
    };                                                                                           \
    }                                                                                            \
    void name##_tensor_cpu(const Tensor& c, const Tensor& x, const Tensor& y, Tensor& out) {     \
        INTEGERS_IN_AVX2(x.dtype, name, c, x, y, out);                                       \
        for_computed<name##_row, rule>(out.dtype, [&](auto type) {                               \
            using T = typename decltype(type)::type;                                             \
            walk_briefly<name##_row, rule, T>({&c, &x, &y, &out}, ternary_loop<name##_row, First<rule, T>, T>); \
        });                                                                                      \
    }
TERNARY_OPS(TERNARY_CPU)
SHAPED_DERIVATIVE_OPS(TERNARY_CPU)

// OP(nan_to_num, REAL, ...) becomes the same with a number z, and mostly a number y:
//
//     void nan_to_num_tensor_cpu(const Tensor& c, const Tensor& x, const Tensor& y, const Tensor& z, Tensor& out)
#define BOUNDED_CPU(name, rule, expression)                                                         \
    namespace {                                                                                     \
    struct name##_row {                                                                             \
        template <class T>                                                                          \
        static T formula_of(T c, T x, T y, T z) {                                                   \
            return expression;                                                                      \
        }                                                                                           \
    };                                                                                              \
    }                                                                                               \
    void name##_tensor_cpu(const Tensor& c, const Tensor& x, const Tensor& y, const Tensor& z, Tensor& out) { \
        for_rule<rule>(wide_of(x.dtype), [&](auto type) {                                           \
            using T = typename decltype(type)::type;                                                \
            walk_briefly<name##_row, rule, T>({&c, &x, &y, &z, &out}, bounded_loop<name##_row, T>);  \
        });                                                                                         \
    }
BOUNDED_OPS(BOUNDED_CPU)

// ---- Copies ------------------------------------------------------------------------------------------------------

namespace {

// Two tensors as rows, along what lies closest in the second.
Layout<2> rows_of(const Tensor& x, const Tensor& out) {
    Layout<2> layout = collapse<2>({&x, &out});
    const int last = layout.ndim - 1;
    for (int d = 0; d < last; d++)
        if (llabs(layout.strides[1][d]) < llabs(layout.strides[1][last])) swap_dims(layout, d, last);
    return layout;
}

// Few elements, one after the other.
template <class T>
void assign_few(const Layout<2>& layout, const T* x, T* out) {
    const int last = layout.ndim - 1;
    const int64_t n = layout.shape[last], step = layout.strides[0][last], out_step = layout.strides[1][last];
    Odometer<2> at(layout, last);
    do {
        const T *from = x + at.offset[0], value = *from;
        T* to = out + at.offset[1];
        if (step == 0 && out_step == 1)
            for (int64_t j = 0; j < n; j++) to[j] = value;
        else
            for (int64_t j = 0; j < n; j++) to[j * out_step] = from[j * step];
    } while (at.next());
}

// A single long row, read backwards or every other element.
template <class T>
void assign_long_row(const T* x, T* out, int64_t n, int64_t step) {
    const auto copy = [=](auto step) {
        parallel_for(n, SMALL_WORK, [=](int64_t begin, int64_t end) {
            for (int64_t start = begin; start < end; start += PIECE) {
                const T* from = x + start * step;
                T* to = out + start;
                const int64_t count = smaller(PIECE, end - start);
                INDEPENDENT for (int64_t i = 0; i < count; i++) to[i] = from[i * step];
            }
        });
    };
    if (step == 2) return copy(std::integral_constant<int64_t, 2>());
    copy(std::integral_constant<int64_t, -1>());
}

// Rows that are written side by side, or at the step at which they are read.
template <class T>
void assign_short_rows(const Layout<2>& layout, const T* x, T* out) {
    const int last = layout.ndim - 1, before = last > 0 ? last - 1 : 0;
    const int64_t n = layout.shape[last], step = layout.strides[0][last], out_step = layout.strides[1][last];
    const int64_t height = last > 0 ? layout.shape[before] : 1;  // rows that one step separates
    const int64_t down = last > 0 ? layout.strides[0][before] : 0, out_down = last > 0 ? layout.strides[1][before] : 0;
    parallel_for(layout.size / n, 1 + SMALL_WORK / n, [&](int64_t begin, int64_t end) {
        Odometer<2> at(layout, before);
        at.seek(begin / height);
        for (int64_t row = begin % height, count; begin < end; begin += count, row = 0, at.next()) {
            count = smaller(end - begin, height - row);
            const T* from = x + at.offset[0] + row * down;
            T* to = out + at.offset[1] + row * out_down;
            if (step == 1 && out_step == 1) {
                copy_rows(from, down, to, out_down, count, n);
                continue;
            }
            for (int64_t i = 0; i < count; i++, from += down, to += out_down) {
                if (out_step == 1)
                    copy_line<T, false>(to, const_cast<T*>(from), n, step);
                else
                    for (int64_t j = 0; j < n; j++) to[j * step] = from[j * step];
            }
        }
    });
}

// Copies what needs no tile in between: few elements, and rows in the cache that are read side by side, backwards or
// every other element, or at the step at which they are written. False for others.
template <class T>
bool assign_rows(const Tensor& x, Tensor& out) {
    enum { FEW = 1024 };  // elements, for which tiles take longer
    const Layout<2> layout = rows_of(x, out);
    const int last = layout.ndim - 1;
    const int64_t n = layout.shape[last], step = layout.strides[0][last], out_step = layout.strides[1][last];
    const T* from = data_as<const T>(x);
    T* to = data_as<T>(out);
    if (layout.size == 0) return true;
    if (layout.size <= (n < SHORT_ROW ? 8 * FEW : FEW)) return assign_few(layout, from, to), true;
    if (last == 0 && step == out_step && step > 1) {  // each element is a row
        parallel_for(n, SMALL_WORK, [=](int64_t begin, int64_t end) {
            copy_rows(from + begin * step, step, to + begin * step, step, end - begin, 1);
        });
        return true;
    }
    const bool aside = step == 1 && out_step == 1, stepwise = step == out_step && step != 0;
    const bool skips = out_step == 1 && (step == 2 || step == -1), is_long = last == 0 && n > PIECE;
    const bool fits = aside ? !is_long : n >= SHORT_ROW && (skips || stepwise);
    if (!fits || layout.size * int64_t(sizeof(T)) > LARGE) return false;
    if (skips && is_long) return assign_long_row(from, to, n, step), true;
    return assign_short_rows(layout, from, to), true;
}

}  // namespace

// out.data[i] = x.data[i], converted if the dtypes differ. reshape, contiguous and to(dtype) copy with it.
void assign_tensor_cpu(const Tensor& x, Tensor& out) {
    if (x.dtype == out.dtype)
        return for_bits(x.dtype, [&](auto type) {
            using T = typename decltype(type)::type;
            if (!assign_rows<T>(x, out)) walk_as_stored<2>({&x, &out}, 1, assign_loop<T, T>);
        });
    if (wide_of(x.dtype) == out.dtype) return walk_as_stored<2>({&x, &out}, 1, conversions_of(x.dtype).widen);
    if (wide_of(out.dtype) == x.dtype) return walk_as_stored<2>({&x, &out}, 1, conversions_of(out.dtype).narrow);
    if (is_narrow_real(x.dtype) && !is_narrow(out.dtype))
        return for_narrow(x.dtype, [&](auto from, auto) {
            using From = typename decltype(from)::type;
            if constexpr (is_half<From>)
                for_converted(out.dtype, [&](auto to) {
                    walk_as_stored<2>({&x, &out}, 1, assign_loop<From, typename decltype(to)::type>);
                });
        });
    const auto converted_as = [](int32_t dtype) { return is_narrow_real(dtype) ? int32_t(FLOAT32) : dtype; };
    for_converted(converted_as(x.dtype), [&](auto from) {
        for_converted(converted_as(out.dtype), [&](auto to) {
            const Loop loop = assign_loop<AsByte<typename decltype(from)::type>, typename decltype(to)::type>;
            walk<2>({&x, &out}, 1, loop, nullptr, is_narrow_real);
        });
    });
}

}  // namespace NORCH_ISA
