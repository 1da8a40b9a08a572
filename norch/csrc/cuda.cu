// The CUDA backend: the kernels of cpu.cpp, in its order, then their launchers.
//
// A kernel runs once for each thread of a grid of blocks; thread i of the whole grid takes element i. A launcher
// chooses the grid and queues the kernel on the device's stream. This is the one file of the library that nvcc
// compiles; its parts are in cuda/.

#include <math.h>

#include <utility>

#include "cuda/block.cuh"
#include "cuda/device.cuh"
#include "cuda/layout.cuh"
#include "ops/dtype_rules.h"

namespace {

// ---- Elementwise kernels -----------------------------------------------------------------------------------------

enum {
    PACKS = 2,  // that a thread processes at once, to keep the memory busy
    SHARE = PACKS * PACK
};

// The K-th operand of a kernel: elements in memory, or a Python number that came by value with the launch.
template <class T, int K>
struct Operand {
    const T* data;
    T number;

    template <int N>
    __device__ T at(const Offsets<N>& offsets) const {
        return data ? data[offsets.of[K]] : number;
    }
    // PACK elements of the last dimension: neighbours, or one that repeats.
    template <int N>
    __device__ Pack<T> pack_at(const Offsets<N>& offsets, const Strides<N>& strides) const {
        if (data && strides.strides[K][strides.ndim - 1])
            return *reinterpret_cast<const Pack<T>*>(data + offsets.of[K]);
        const T same = data ? data[offsets.of[K]] : number;
        return {{same, same, same, same}};
    }
};

template <class R, class F, class... T>
__device__ Pack<R> combine_packs(F formula, const Pack<T>&... packs) {
    Pack<R> result;
#pragma unroll
    for (int k = 0; k < PACK; k++) result.of[k] = formula(packs.of[k]...);
    return result;
}

// out[i] = formula(operands[i]...) for all elements that fall to this thread: packs of neighbours if the layout allows,
// else one by one. Either way several are read before the first is written.
template <class R, int N, class F, class... Operands>
__device__ void write_elements(R* out, const Strides<N>& strides, F formula, Operands... operands) {
    for (int64_t block = blockIdx.x; block * (THREADS * SHARE) < strides.size; block += gridDim.x) {
        const int64_t start = block * (THREADS * SHARE);
        if (strides.packed && start + THREADS * SHARE <= strides.size) {
            Pack<R> results[PACKS];
            int64_t places[PACKS];
#pragma unroll
            for (int p = 0; p < PACKS; p++) {
                const Offsets<N> at = strides.locate(start + (p * THREADS + threadIdx.x) * PACK);
                places[p] = at.of[N - 1];
                results[p] = combine_packs<R>(formula, operands.pack_at(at, strides)...);
            }
#pragma unroll
            for (int p = 0; p < PACKS; p++) *reinterpret_cast<Pack<R>*>(out + places[p]) = results[p];
            continue;
        }
#pragma unroll 1
        for (int64_t first = start + threadIdx.x; first < start + THREADS * SHARE && first < strides.size;
             first += PACK * THREADS) {
            Offsets<N> at[PACK];
            R results[PACK];
#pragma unroll
            for (int k = 0; k < PACK; k++) at[k] = strides.locate(first + k * THREADS);
#pragma unroll
            for (int k = 0; k < PACK; k++)
                if (first + k * THREADS < strides.size) results[k] = formula(operands.at(at[k])...);
#pragma unroll
            for (int k = 0; k < PACK; k++)
                if (first + k * THREADS < strides.size) out[at[k].of[N - 1]] = results[k];
        }
    }
}

// out[i] = formula(x[i])
template <class Row, class T, class R>
__global__ void unary_kernel(const T* x, R* out, Strides<2> strides) {
    write_elements(out, strides, [](T a) { return Row::formula_of(a); }, Operand<T, 0>{x, T()});
}

// out[i] = formula(x[i], y[i])
template <class Row, class T, class R>
__global__ void binary_kernel(const T* x, T x_number, const T* y, T y_number, R* out, Strides<3> strides) {
    write_elements(out, strides, [](T a, T b) { return Row::formula_of(a, b); }, Operand<T, 0>{x, x_number},
                   Operand<T, 1>{y, y_number});
}

// out[i] = formula(c[i], x[i], y[i])
template <class Row, class C, class T>
__global__ void ternary_kernel(const C* c, C c_number, const T* x, T x_number, const T* y, T y_number, T* out,
                               Strides<4> strides) {
    write_elements(out, strides, [](C d, T a, T b) { return Row::formula_of(d, a, b); },
                   Operand<C, 0>{c, c_number}, Operand<T, 1>{x, x_number}, Operand<T, 2>{y, y_number});
}

// out[i] = formula(c[i], x[i], y[i], z)
template <class Row, class T>
__global__ void bounded_kernel(const T* c, T c_number, const T* x, T x_number, const T* y, T y_number, T z, T* out,
                               Strides<4> strides) {
    write_elements(out, strides, [=](T d, T a, T b) { return Row::formula_of(d, a, b, z); },
                   Operand<T, 0>{c, c_number}, Operand<T, 1>{x, x_number}, Operand<T, 2>{y, y_number});
}

// out[i] = x[i], converted
template <class From, class To>
__global__ void assign_kernel(const From* x, From x_number, To* out, Strides<2> strides) {
    write_elements(out, strides, [](From a) { return convert<To>(a); }, Operand<From, 0>{x, x_number});
}

// ---- Their launchers ---------------------------------------------------------------------------------------------

int elementwise_blocks(int64_t size) { return at_most(divided_up(size, THREADS * SHARE), MAX_BLOCKS); }

// A number has no storage: its value is an argument of the launch.
template <class T>
const T* data_of(const Tensor& x) {
    return x.storage ? data_as<const T>(x) : nullptr;
}
template <class T>
T number_of(const Tensor& x) {
    return x.storage ? T() : *data_as<const T>(x);
}

// Whether PACK neighbours in row order are neighbours in memory wherever they begin, or one element that repeats.
template <int N>
bool is_packed(const Strides<N>& strides, const Tensor* const (&operands)[N]) {
    const int last = strides.ndim - 1;
    if (last > 0 && strides.shape[last] % PACK != 0) return false;
    for (int k = 0; k < N; k++) {
        if (strides.strides[k][last] == 0 && k < N - 1) continue;
        const int64_t width = PACK * item_size(operands[k]->dtype);
        if (strides.strides[k][last] != 1 || intptr_t(operands[k]->data) % (width < 16 ? width : 16) != 0) return false;
        for (int d = 0; d < last; d++)
            if (strides.strides[k][d] % PACK != 0) return false;
    }
    return true;
}

// The layout of an elementwise kernel, whose last operand is the one it writes.
template <int N>
Strides<N> packed_strides(const Tensor* const (&operands)[N]) {
    Strides<N> strides = elementwise_strides<N>(operands);
    strides.packed = is_packed(strides, operands);
    return strides;
}

template <class Row, Rule RULE>
void unary(const char* name, const Tensor& x, Tensor& out) {
    cudaStream_t stream = use(out.device);
    const Strides<2> strides = packed_strides<2>({&x, &out});
    for_rule<RULE>(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        using R = Result<RULE, T>;
        unary_kernel<Row, T, R><<<elementwise_blocks(out.size), threads_for(out.size), 0, stream>>>(
            data_as<const T>(x), data_as<R>(out), strides);
    });
    check_launch(name);
}

template <class Row, Rule RULE>
void binary(const char* name, const Tensor& x, const Tensor& y, Tensor& out) {
    cudaStream_t stream = use(out.device);
    const Strides<3> strides = packed_strides<3>({&x, &y, &out});
    for_rule<RULE>(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        using R = Result<RULE, T>;
        binary_kernel<Row, T, R><<<elementwise_blocks(out.size), threads_for(out.size), 0, stream>>>(
            data_of<T>(x), number_of<T>(x), data_of<T>(y), number_of<T>(y), data_as<R>(out), strides);
    });
    check_launch(name);
}

template <class Row, class C, class T>
void ternary(const char* name, const Tensor& c, const Tensor& x, const Tensor& y, Tensor& out) {
    cudaStream_t stream = use(out.device);
    const Strides<4> strides = packed_strides<4>({&c, &x, &y, &out});
    ternary_kernel<Row, C, T><<<elementwise_blocks(out.size), threads_for(out.size), 0, stream>>>(
        data_of<C>(c), number_of<C>(c), data_of<T>(x), number_of<T>(x), data_of<T>(y), number_of<T>(y),
        data_as<T>(out), strides);
    check_launch(name);
}

template <class Row, class T>
void bounded(const char* name, const Tensor& c, const Tensor& x, const Tensor& y, const Tensor& z, Tensor& out) {
    cudaStream_t stream = use(out.device);
    const Strides<4> strides = packed_strides<4>({&c, &x, &y, &out});
    bounded_kernel<Row, T><<<elementwise_blocks(out.size), threads_for(out.size), 0, stream>>>(
        data_of<T>(c), number_of<T>(c), data_of<T>(x), number_of<T>(x), data_of<T>(y), number_of<T>(y),
        number_of<T>(z), data_as<T>(out), strides);
    check_launch(name);
}

}  // namespace

// OP(exp, REAL, formula::exp(x)) becomes
//
//     __global__ void exp_kernel(const float* x, float* out, Strides<2> strides) {
//         int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
//         if (i < strides.size) out[i] = formula::exp(x[i]);
//     }
//     void exp_tensor_cuda(const Tensor& x, Tensor& out) {
//         exp_kernel<<<blocks, THREADS, 0, stream>>>(x.data, out.data, strides);
//     }
#define UNARY_CUDA(name, rule, expression)                                   \
    namespace {                                                              \
    struct name##_row {                                                      \
        template <class T>                                                   \
        static __device__ Result<rule, T> formula_of(T x) {                  \
            return expression;                                               \
        }                                                                    \
    };                                                                       \
    }                                                                        \
    void name##_tensor_cuda(const Tensor& x, Tensor& out) { unary<name##_row, rule>(#name, x, out); }
UNARY_OPS(UNARY_CUDA)
ACTIVATION_OPS(UNARY_CUDA)
SPECIAL_OPS(UNARY_CUDA)

// OP(add, SAME, T(x + y)) becomes
//
//     __global__ void add_kernel(const float* x, const float* y, float* out, Strides<3> strides) {
//         int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
//         if (i < strides.size) out[i] = x[i] + y[i];
//     }
//     void add_tensor_cuda(const Tensor& x, const Tensor& y, Tensor& out)
//
// and likewise sub_tensor_cuda, elementwise_mul_tensor_cuda, div_tensor_cuda and the others.
#define BINARY_CUDA(name, rule, expression)                                  \
    namespace {                                                              \
    struct name##_row {                                                      \
        template <class T>                                                   \
        static __device__ Result<rule, T> formula_of(T x, T y) {             \
            return expression;                                               \
        }                                                                    \
    };                                                                       \
    }                                                                        \
    void name##_tensor_cuda(const Tensor& x, const Tensor& y, Tensor& out) { \
        binary<name##_row, rule>(#name, x, y, out);                          \
    }
BINARY_OPS(BINARY_CUDA)
DERIVATIVE_OPS(BINARY_CUDA)
LOSS_OPS(BINARY_CUDA)
SHAPED_OPS(BINARY_CUDA)
SPECIAL_PAIR_OPS(BINARY_CUDA)

// OP(where, CHOICE, c ? x : y) becomes
//
//     void where_tensor_cuda(const Tensor& c, const Tensor& x, const Tensor& y, Tensor& out)
#define TERNARY_CUDA(name, rule, expression)                                                         \
    namespace {                                                                                      \
    struct name##_row {                                                                              \
        template <class C, class T>                                                                  \
        static __device__ T formula_of(C c, T x, T y) {                                              \
            return expression;                                                                       \
        }                                                                                            \
    };                                                                                               \
    }                                                                                                \
    void name##_tensor_cuda(const Tensor& c, const Tensor& x, const Tensor& y, Tensor& out) {        \
        for_rule<rule>(x.dtype, [&](auto type) {                                                     \
            using T = typename decltype(type)::type;                                                 \
            ternary<name##_row, First<rule, T>, T>(#name, c, x, y, out);                             \
        });                                                                                          \
    }
TERNARY_OPS(TERNARY_CUDA)
SHAPED_DERIVATIVE_OPS(TERNARY_CUDA)

// OP(nan_to_num, REAL, ...) becomes the same with a number z, and mostly a number y:
//
//     void nan_to_num_tensor_cuda(const Tensor& c, const Tensor& x, const Tensor& y, const Tensor& z, Tensor& out)
#define BOUNDED_CUDA(name, rule, expression)                                                         \
    namespace {                                                                                      \
    struct name##_row {                                                                              \
        template <class T>                                                                           \
        static __device__ T formula_of(T c, T x, T y, T z) {                                         \
            return expression;                                                                       \
        }                                                                                            \
    };                                                                                               \
    }                                                                                                \
    void name##_tensor_cuda(const Tensor& c, const Tensor& x, const Tensor& y, const Tensor& z, Tensor& out) { \
        for_rule<rule>(x.dtype, [&](auto type) {                                                     \
            bounded<name##_row, typename decltype(type)::type>(#name, c, x, y, z, out);              \
        });                                                                                          \
    }
BOUNDED_OPS(BOUNDED_CUDA)

// ---- Copies ------------------------------------------------------------------------------------------------------

namespace {

enum { TILE_EDGE = 32, TILE_ROWS = 8 };

// A stack of matrices: x has contiguous columns, out has contiguous rows.
struct Transposed {
    int64_t stack, rows, columns, x_stack, x_column, out_stack, out_row;
};

// out[b, i, j] = x[b, i, j] by way of a tile in shared memory, so that neighbouring threads both read and write
// neighbours. One element more in each of its rows brings those of a column into different banks.
template <class T>
__global__ void transposed_kernel(const T* __restrict__ x, T* __restrict__ out, Transposed shape) {
    __shared__ T tile[TILE_EDGE][TILE_EDGE + 1];
    const int64_t across = (shape.columns + TILE_EDGE - 1) / TILE_EDGE;
    const int64_t top = blockIdx.x / across * TILE_EDGE, left = blockIdx.x % across * TILE_EDGE;
    for (int64_t b = blockIdx.y; b < shape.stack; b += gridDim.y) {
        for (int k = threadIdx.y; k < TILE_EDGE; k += TILE_ROWS) {
            const int64_t i = top + threadIdx.x, j = left + k;
            if (i < shape.rows && j < shape.columns) tile[k][threadIdx.x] = x[b * shape.x_stack + i + j * shape.x_column];
        }
        __syncthreads();
        for (int k = threadIdx.y; k < TILE_EDGE; k += TILE_ROWS) {
            const int64_t i = top + k, j = left + threadIdx.x;
            if (i < shape.rows && j < shape.columns)
                out[b * shape.out_stack + i * shape.out_row + j] = tile[threadIdx.x][k];
        }
        __syncthreads();  // before the next of the stack
    }
}

// Whether a copy transposes: out steps by 1 along its last dimension and x along another, and both are long.
bool is_transposed(const Tensor& x, const Tensor& out, Transposed& shape) {
    if (!x.storage || x.dtype != out.dtype) return false;
    Layout<2> layout = collapse<2>({&x, &out});
    const int last = layout.ndim - 1;
    if (last < 1 || last > 2 || layout.strides[1][last] != 1 || layout.strides[0][last] == 0) return false;
    const int row = layout.strides[0][last - 1] == 1 ? last - 1 : 0;
    if (layout.strides[0][row] != 1 || layout.shape[row] < TILE_EDGE / 2 || layout.shape[last] < TILE_EDGE / 2)
        return false;
    const int stack = last == 2 ? 1 - row : -1;  // the third dimension, if there is one
    shape = {stack < 0 ? 1 : layout.shape[stack], layout.shape[row], layout.shape[last],
             stack < 0 ? 0 : layout.strides[0][stack], layout.strides[0][last],
             stack < 0 ? 0 : layout.strides[1][stack], layout.strides[1][row]};
    return divided_up(shape.rows, TILE_EDGE) * divided_up(shape.columns, TILE_EDGE) <= INT32_MAX;
}

template <class T>
void launch_transposed(const Tensor& x, Tensor& out, const Transposed& shape, cudaStream_t stream) {
    const int64_t tiles = divided_up(shape.rows, TILE_EDGE) * divided_up(shape.columns, TILE_EDGE);
    transposed_kernel<T><<<dim3(unsigned(tiles), at_most(shape.stack, MAX_GRID_Y)), dim3(TILE_EDGE, TILE_ROWS), 0, stream>>>(
        data_as<const T>(x), data_as<T>(out), shape);
    check_launch("assign");
}

}  // namespace

// out[i] = x[i], converted if the dtypes differ. reshape, contiguous and to(dtype) copy with it.
void assign_tensor_cuda(const Tensor& x, Tensor& out) {
    cudaStream_t stream = use(out.device);
    Transposed shape;
    if (is_transposed(x, out, shape)) {  // bits are bits: a kernel for each width
        const int64_t width = item_size(x.dtype);
        return width == 8   ? launch_transposed<uint64_t>(x, out, shape, stream)
               : width == 4 ? launch_transposed<uint32_t>(x, out, shape, stream)
               : width == 2 ? launch_transposed<uint16_t>(x, out, shape, stream)
                            : launch_transposed<uint8_t>(x, out, shape, stream);
    }
    const auto launch = [&](auto from, auto to) {
        using From = typename decltype(from)::type;
        using To = typename decltype(to)::type;
        assign_kernel<From, To><<<elementwise_blocks(out.size), threads_for(out.size), 0, stream>>>(
            data_of<From>(x), number_of<From>(x), data_as<To>(out), packed_strides<2>({&x, &out}));
        check_launch("assign");
    };
    const int32_t wide = wide_of(x.dtype), out_wide = wide_of(out.dtype);
    if (x.dtype == out.dtype) return for_bits(x.dtype, [&](auto type) { launch(type, type); });
    if (wide == out.dtype) return for_narrow(x.dtype, [&](auto narrow, auto type) { launch(narrow, type); });
    if (x.dtype == out_wide) return for_narrow(out.dtype, [&](auto narrow, auto type) { launch(type, narrow); });
    if (wide != x.dtype) return assign_tensor_cuda(*widened(x), out);
    if (out_wide == out.dtype)
        return for_any(x.dtype, [&](auto from) { for_any(out.dtype, [&](auto to) { launch(from, to); }); });
    Owned between = new_tensor(out.shape, out.ndim, out_wide, out.device);  // a number has no device: no cast()
    assign_tensor_cuda(x, *between);
    assign_tensor_cuda(*between, out);
}

// ---- The other kernels -------------------------------------------------------------------------------------------

#include "cuda/fill.cuh"
#include "cuda/indexing.cuh"
#include "cuda/ordering.cuh"
#include "cuda/bags.cuh"
#include "cuda/reductions.cuh"
#include "cuda/matmul.cuh"
#include "cuda/layers.cuh"
#include "cuda/rows.cuh"
#include "cuda/attention.cuh"
#include "cuda/normalization.cuh"
#include "cuda/windows.cuh"
#include "cuda/grid.cuh"
#include "cuda/optim.cuh"
#include "cuda/graphs.cuh"
