// Elementwise CPU kernels, copies and the SGD step.
//
// Each row of ops.h becomes one plain loop over elements that lie side by side, which the compiler vectorises. walk()
// brings operands of any layout to that loop: straight from memory where they are contiguous or repeated, otherwise
// through small tiles in the cache, so that transposed operands are read a cache line at a time.

#include "cpu.h"

#include <stdlib.h>
#include <string.h>

#include <type_traits>

#include "parallel.h"
#include "rules.h"
#include "walk.h"

inline namespace NORCH_ISA {
namespace {

enum {
    MAX_OPERANDS = 4,
    PIECE = 16384,   // elements of a row that the loop is given at once
    SHORT_ROW = 16,  // rows shorter than this are gathered into tiles
    TILE_ELEMENTS = 1024,
    TILE_COLUMNS = 64,  // of a tile of a transposed operand: 16 rows of 64, read as 64 runs of 16
};

// ---- From layouts to runs of elements ---------------------------------------------------------------------------

// What the loop of a kernel works on: n elements of each operand. The last operands are those it writes.
struct Run {
    char* data[MAX_OPERANDS];
    bool repeats[MAX_OPERANDS];  // a single element stands for all n
    int64_t n;
    const void* options;
};
using Loop = void (*)(const Run& run);

template <int N>
struct Walk {
    Layout<N> layout;
    char* data[N];
    int64_t item[N];  // bytes of an element
    int written;      // how many operands the loop writes
    bool transposed;  // an operand has its stride 1 in the last dimension but one
    Loop loop;
    Run run;
};

// Copies between a tile, whose rows are contiguous, and a tensor, along the smaller stride of the tensor.
template <class Word, bool STORE>
void copy_tile(Word* tile, Word* tensor, int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride) {
    auto copy = [=](int64_t row, int64_t column) {
        Word &in_tile = tile[row * columns + column], &in_tensor = tensor[row * row_stride + column * column_stride];
        if (STORE)
            in_tensor = in_tile;
        else
            in_tile = in_tensor;
    };
    if (llabs(row_stride) < llabs(column_stride)) {
        // Transposed: each column is a cache line or two of its own, better fetched all at once than one by one.
        for (int64_t column = 0; column < columns; column++) {
            __builtin_prefetch(tensor + column * column_stride);
            __builtin_prefetch(tensor + column * column_stride + (rows - 1) * row_stride);
        }
        for (int64_t column = 0; column < columns; column++)
            for (int64_t row = 0; row < rows; row++) copy(row, column);
    } else {
        for (int64_t row = 0; row < rows; row++)
            for (int64_t column = 0; column < columns; column++) copy(row, column);
    }
}

// Elements are copied as words of their size, whatever their dtype.
typedef uint32_t Word4 __attribute__((may_alias));
typedef uint64_t Word8 __attribute__((may_alias));

template <bool STORE>
void copy_tile(int64_t size, char* tile, char* tensor, int64_t rows, int64_t columns, int64_t row_stride,
               int64_t column_stride) {
    auto copy = [&](auto* word) {
        using Word = std::remove_reference_t<decltype(*word)>;
        copy_tile<Word, STORE>(reinterpret_cast<Word*>(tile), reinterpret_cast<Word*>(tensor), rows, columns,
                               row_stride, column_stride);
    };
    if (size == 1) copy(static_cast<uint8_t*>(nullptr));
    if (size == 4) copy(static_cast<Word4*>(nullptr));
    if (size == 8) copy(static_cast<Word8*>(nullptr));
}

// Every operand steps through a row by 0 or 1: the loop runs on the tensors themselves, long rows in pieces.
template <int N>
void walk_rows(const Walk<N>& walk) {
    const int last = walk.layout.ndim - 1;
    const int64_t n = walk.layout.shape[last], rows = walk.layout.size / n;
    const int64_t piece = n < PIECE ? n : int64_t(PIECE), pieces = (n + piece - 1) / piece;
    parallel_for(rows * pieces, 1 + SMALL_WORK / piece, [&](int64_t begin, int64_t end) {
        Run run = walk.run;
        for (int k = 0; k < N; k++) run.repeats[k] = walk.layout.strides[k][last] == 0;
        Odometer<N> at(walk.layout, last);
        at.seek(begin / pieces);
        for (int64_t i = begin; i < end; i++) {
            const int64_t start = i % pieces * piece;
            for (int k = 0; k < N; k++)
                run.data[k] = walk.data[k] + (at.offset[k] + start * walk.layout.strides[k][last]) * walk.item[k];
            run.n = n - start < piece ? n - start : piece;
            walk.loop(run);
            if (start + piece >= n) at.next();
        }
    });
}

// One tile of the last two dimensions: operands that the loop cannot take as they are go through a buffer.
template <int N>
void run_tile(const Walk<N>& walk, char* const (&corner)[N], int64_t rows, int64_t columns) {
    const Layout<N>& layout = walk.layout;
    Run run = walk.run;
    const int last = layout.ndim - 1;
    const bool by_row = columns >= SHORT_ROW;  // else the tile is one run
    alignas(64) char buffer[N][TILE_ELEMENTS * sizeof(double)];
    bool staged[N];
    int64_t row_stride[N];
    for (int k = 0; k < N; k++) {
        const int64_t step = layout.strides[k][last];
        row_stride[k] = last > 0 ? layout.strides[k][last - 1] : 0;
        const bool flat = rows == 1 || (step == 0 ? row_stride[k] == 0 : row_stride[k] == columns);
        staged[k] = (step != 0 && step != 1) || !(by_row || flat);
        run.repeats[k] = step == 0 && !staged[k];
        if (staged[k]) copy_tile<false>(walk.item[k], buffer[k], corner[k], rows, columns, row_stride[k], step);
    }
    run.n = by_row ? columns : rows * columns;
    int64_t step[N];  // bytes to the next row
    for (int k = 0; k < N; k++) {
        run.data[k] = staged[k] ? buffer[k] : corner[k];
        step[k] = (staged[k] ? columns : row_stride[k]) * walk.item[k];
    }
    for (int64_t row = 0; row < (by_row ? rows : 1); row++) {
        walk.loop(run);
        for (int k = 0; k < N; k++) run.data[k] += step[k];
    }
    for (int k = N - walk.written; k < N; k++)
        if (staged[k])
            copy_tile<true>(walk.item[k], buffer[k], corner[k], rows, columns, row_stride[k], layout.strides[k][last]);
}

template <int N>
void walk_tiles(const Walk<N>& walk) {
    const Layout<N>& layout = walk.layout;
    const int last = layout.ndim - 1;
    const int64_t height = last > 0 ? layout.shape[last - 1] : 1, width = layout.shape[last];
    int64_t columns = walk.transposed ? TILE_ELEMENTS / height : int64_t(TILE_ELEMENTS);
    if (columns < TILE_COLUMNS) columns = TILE_COLUMNS;
    if (columns > width) columns = width;
    const int64_t rows = TILE_ELEMENTS / columns, bands = (height + rows - 1) / rows;
    const int64_t matrices = layout.size / (height * width);
    parallel_for(matrices * bands, 1 + SMALL_WORK / (rows * width), [&](int64_t begin, int64_t end) {
        Odometer<N> at(layout, last > 0 ? last - 1 : 0);
        at.seek(begin / bands);
        for (int64_t band = begin; band < end; band++) {
            const int64_t i = band % bands * rows;
            for (int64_t j = 0; j < width; j += columns) {
                char* corner[N];
                for (int k = 0; k < N; k++) {
                    const int64_t down = last > 0 ? i * layout.strides[k][last - 1] : 0;
                    corner[k] = walk.data[k] + (at.offset[k] + down + j * layout.strides[k][last]) * walk.item[k];
                }
                run_tile(walk, corner, height - i < rows ? height - i : rows,
                         width - j < columns ? width - j : columns);
            }
            if (i + rows >= height) at.next();
        }
    });
}

// Runs loop over all elements of the operands, which have one shape; it writes the last `written` of them.
template <int N>
void walk(const Tensor* const (&operands)[N], int written, Loop loop, const void* options = nullptr) {
    Walk<N> walk = {};
    walk.layout = collapse(operands);
    if (walk.layout.size == 0) return;
    for (int k = 0; k < N; k++) {
        walk.data[k] = static_cast<char*>(operands[k]->data);
        walk.item[k] = item_size(operands[k]->dtype);
    }
    walk.written = written;
    walk.loop = loop;
    walk.run.options = options;

    // The output's smallest stride goes last.
    Layout<N>& layout = walk.layout;
    const int last = layout.ndim - 1;
    for (int d = 0; d < last; d++)
        if (llabs(layout.strides[N - 1][d]) < llabs(layout.strides[N - 1][last])) swap_dims(layout, d, last);

    // An operand with another stride there may be transposed: the dimension of its stride 1 completes the tile.
    bool plain = true;
    walk.transposed = false;
    for (int k = 0; k < N; k++) {
        if (layout.strides[k][last] == 0 || layout.strides[k][last] == 1) continue;
        plain = false;
        for (int d = 0; d < last && !walk.transposed; d++) {
            if (layout.strides[k][d] != 1) continue;
            swap_dims(layout, d, last - 1);
            walk.transposed = true;
        }
    }
    if (plain && (last == 0 || layout.shape[last] >= SHORT_ROW)) return walk_rows(walk);
    walk_tiles(walk);
}

// ---- The loops --------------------------------------------------------------------------------------------------

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

// Functions of a float that have a shorter way for ordinary arguments (formulas.h): those for which distance(x), an unsigned
// integer, is at most `farthest`.
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
ORDINARY(cos, formula::magnitude_bits(x), formula::magnitude_bits(formula::LARGEST_ANGLE))
ORDINARY(log, formula::positive_normal_distance(x), formula::positive_normal_distance(formula::LARGEST))
#undef ORDINARY

// A block of ordinary arguments takes the shorter way, any other the whole formula.
template <class Row, class Operand>
void ordinary_loop(Operand x, float* out, int64_t n) {
    enum { BLOCK = 4096 };
    using Test = Ordinaries<Row>;
    for (int64_t start = 0; start < n; start += BLOCK) {
        const int64_t end = start + BLOCK < n ? start + BLOCK : n;
        uint32_t distance = 0;
        for (int64_t i = start; i < end; i++)
            distance = Test::distance(x[i]) > distance ? Test::distance(x[i]) : distance;
        if (distance <= Test::farthest()) {
            INDEPENDENT for (int64_t i = start; i < end; i++) out[i] = Row::formula_of(formula::Ordinary(x[i]));
        } else {
            INDEPENDENT for (int64_t i = start; i < end; i++) out[i] = Row::formula_of(x[i]);
        }
    }
}

template <class Row, class T>
void unary_loop(const Run& run) {
    with_operand<T>(run, 0, [&](auto x) {
        if constexpr (Ordinaries<Row>::exist && std::is_same<T, float>::value)
            return ordinary_loop<Row>(x, reinterpret_cast<float*>(run.data[1]), run.n);
        auto out = reinterpret_cast<decltype(Row::formula_of(T()))*>(run.data[1]);
        const int64_t n = run.n;
        INDEPENDENT for (int64_t i = 0; i < n; i++) out[i] = Row::formula_of(x[i]);
    });
}

template <class Row, class T>
void binary_loop(const Run& run) {
    with_operand<T>(run, 0, [&](auto x) {
        with_operand<T>(run, 1, [&](auto y) {
            auto out = reinterpret_cast<decltype(Row::formula_of(T(), T()))*>(run.data[2]);
            const int64_t n = run.n;
            INDEPENDENT for (int64_t i = 0; i < n; i++) out[i] = Row::formula_of(x[i], y[i]);
        });
    });
}

template <class Row, class First, class T>
void ternary_loop(const Run& run) {
    with_operand<First>(run, 0, [&](auto c) {
        with_operand<T>(run, 1, [&](auto x) {
            with_operand<T>(run, 2, [&](auto y) {
                T* out = reinterpret_cast<T*>(run.data[3]);
                const int64_t n = run.n;
                INDEPENDENT for (int64_t i = 0; i < n; i++) out[i] = Row::formula_of(c[i], x[i], y[i]);
            });
        });
    });
}

// ---- From a row of ops.h to a kernel ----------------------------------------------------------------------------

template <class Row, Rule RULE>
void unary(const Tensor& x, Tensor& out) {
    for_rule<RULE>(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        walk<2>({&x, &out}, 1, unary_loop<Row, T>);
    });
}

template <class Row, Rule RULE>
void binary(const Tensor& x, const Tensor& y, Tensor& out) {
    for_rule<RULE>(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        walk<3>({&x, &y, &out}, 1, binary_loop<Row, T>);
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
        INTEGERS_IN_BASELINE(x.dtype, name, x, out);          \
        unary<name##_row, rule>(x, out);                      \
    }
UNARY_OPS(UNARY_CPU)

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
        INTEGERS_IN_BASELINE(x.dtype, name, x, y, out);       \
        binary<name##_row, rule>(x, y, out);                  \
    }
BINARY_OPS(BINARY_CPU)
DERIVATIVE_OPS(BINARY_CPU)

// OP(where, bool, c ? x : y) becomes
//
//     void where_tensor_cpu(const Tensor& c, const Tensor& x, const Tensor& y, Tensor& out) {
//         for (int64_t i = 0; i < out.size; i++) out.data[i] = c.data[i] ? x.data[i] : y.data[i];
//     }
#define TERNARY_CPU(name, first, expression)                                                     \
    namespace {                                                                                  \
    struct name##_row {                                                                          \
        template <class C, class T>                                                              \
        static T formula_of(C c, T x, T y) {                                                     \
            return expression;                                                                   \
        }                                                                                        \
    };                                                                                           \
    }                                                                                            \
    void name##_tensor_cpu(const Tensor& c, const Tensor& x, const Tensor& y, Tensor& out) {     \
        INTEGERS_IN_BASELINE(x.dtype, name, c, x, y, out);                                       \
        for_any(x.dtype, [&](auto type) {                                                        \
            using T = typename decltype(type)::type;                                             \
            walk<4>({&c, &x, &y, &out}, 1, ternary_loop<name##_row, first, T>);                  \
        });                                                                                      \
    }
TERNARY_OPS(TERNARY_CPU)

// ---- Copies -----------------------------------------------------------------------------------------------------

namespace {

template <class From, class To>
void assign_loop(const Run& run) {
    with_operand<From>(run, 0, [&](auto x) {
        To* out = reinterpret_cast<To*>(run.data[1]);
        const int64_t n = run.n;
        INDEPENDENT for (int64_t i = 0; i < n; i++) out[i] = convert<To>(From(x[i]));
    });
}

}  // namespace

// out.data[i] = x.data[i], converted where the dtypes differ. reshape, contiguous and to(dtype) copy with it.
void assign_tensor_cpu(const Tensor& x, Tensor& out) {
    INTEGERS_IN_BASELINE(x.dtype < out.dtype ? x.dtype : out.dtype, assign, x, out);
    for_any(x.dtype, [&](auto from) {
        for_any(out.dtype, [&](auto to) {
            walk<2>({&x, &out}, 1, assign_loop<typename decltype(from)::type, typename decltype(to)::type>);
        });
    });
}

// ---- Stochastic gradient descent --------------------------------------------------------------------------------

namespace {

struct SGDStep {
    SGDOptions options;
    bool first;
};

// Operands: gradient, velocity (with momentum only), parameter.
template <class T, bool MOMENTUM>
void sgd_loop(const Run& run) {
    const SGDStep& step = *static_cast<const SGDStep*>(run.options);
    const bool first = step.first, nesterov = step.options.nesterov;
    const T sign = step.options.maximize ? T(-1) : T(1), decay = T(step.options.weight_decay), lr = T(step.options.lr);
    const T momentum = T(step.options.momentum), fresh = T(1 - step.options.dampening);
    T* parameter = reinterpret_cast<T*>(run.data[MOMENTUM ? 2 : 1]);
    T* velocity = reinterpret_cast<T*>(run.data[1]);
    const int64_t n = run.n;
    with_operand<T>(run, 0, [=](auto gradient) {
        INDEPENDENT for (int64_t i = 0; i < n; i++) {
            T g = sign * gradient[i];
            if (decay != T(0)) g += decay * parameter[i];
            if (MOMENTUM) {
                const T v = first ? g : momentum * velocity[i] + fresh * g;
                velocity[i] = v;
                g = nesterov ? g + momentum * v : v;
            }
            parameter[i] -= lr * g;
        }
    });
}

}  // namespace

// One step as torch.optim.SGD takes it, for each element:
//     g = gradient (negated to maximize) + weight_decay * parameter
//     v = g at first, then momentum * v + (1 - dampening) * g
//     parameter -= lr * (nesterov: g + momentum * v, else v, or g without momentum)
void sgd_tensor_cpu(Tensor& parameter, const Tensor& gradient, Tensor* velocity, bool first,
                    const SGDOptions& options) {
    const SGDStep step = {options, first};
    for_real(parameter.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        if (velocity) return walk<3>({&gradient, velocity, &parameter}, 2, sgd_loop<T, true>, &step);
        walk<2>({&gradient, &parameter}, 1, sgd_loop<T, false>, &step);
    });
}

}  // namespace NORCH_ISA
