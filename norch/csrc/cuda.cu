// The CUDA backend: the kernels of cpu.cpp, in its order, then their launchers.
//
// A kernel runs once for each thread of a grid of blocks; thread i of the whole grid takes element i. A launcher chooses
// the grid and queues the kernel on the device's stream. This is the one file of the library that nvcc compiles; its
// parts are cuda_device.cuh (memory and copies), cuda_layout.cuh, cuda_fill.cuh, cuda_matmul.cuh, cuda_nn.cuh (layers and
// losses), cuda_norm.cuh, cuda_windows.cuh (convolution and pooling), cuda_reduce.cuh and cuda_index.cuh.

#include <math.h>

#include <utility>

#include "cuda_device.cuh"
#include "cuda_layout.cuh"
#include "rules.h"

namespace {

enum {
    WARP = 32,            // threads that a GPU runs in step
    THREADS = 256,        // of a block, at most
    IN_FLIGHT = 4,        // elements that a thread has under way at once, to keep the memory busy
    MAX_BLOCKS = 1 << 20  // a larger tensor goes round in a loop
};

int blocks_for(int64_t size) {
    const int64_t blocks = (size + THREADS * IN_FLIGHT - 1) / (THREADS * IN_FLIGHT);
    return int(blocks < MAX_BLOCKS ? blocks : int64_t(MAX_BLOCKS));
}

// A small tensor does not need a whole block.
int threads_for(int64_t size) { return size < THREADS ? int(size + WARP - 1) / WARP * WARP : int(THREADS); }

// ---- Elementwise kernels ----------------------------------------------------------------------------------------

// An operand's element, or the Python number that came by value with the launch.
template <class T>
__device__ T element(const T* data, T number, int64_t offset) {
    return data ? data[offset] : number;
}

// out[i] = value_at(i) for all elements that fall to this thread. Along the fast path IN_FLIGHT of them are read before
// the first is written.
template <class R, int N, class F>
__device__ void write_elements(R* out, const Strides<N>& strides, F value_at) {
    for (int64_t block = blockIdx.x; block * (THREADS * IN_FLIGHT) < strides.size; block += gridDim.x) {
        const int64_t first = block * (THREADS * IN_FLIGHT) + threadIdx.x, rest = strides.size - first;
        if (strides.simple() && rest > (IN_FLIGHT - 1) * THREADS) {
            R values[IN_FLIGHT];
#pragma unroll
            for (int k = 0; k < IN_FLIGHT; k++) values[k] = value_at(strides.step_to(first + k * THREADS));
#pragma unroll
            for (int k = 0; k < IN_FLIGHT; k++) out[strides.step_to(first + k * THREADS).of[N - 1]] = values[k];
            continue;
        }
#pragma unroll 1
        for (int k = 0; k < IN_FLIGHT && k * THREADS < rest; k++) {
            const Offsets<N> offsets = strides.locate(first + k * THREADS);
            out[offsets.of[N - 1]] = value_at(offsets);
        }
    }
}

// out[i] = formula(x[i])
template <class Row, class T, class R>
__global__ void unary_kernel(const T* x, R* out, Strides<2> strides) {
    write_elements(out, strides, [=](const Offsets<2>& i) { return Row::formula_of(x[i.of[0]]); });
}

// out[i] = formula(x[i], y[i])
template <class Row, class T, class R>
__global__ void binary_kernel(const T* x, T x_number, const T* y, T y_number, R* out, Strides<3> strides) {
    write_elements(out, strides, [=](const Offsets<3>& i) {
        return Row::formula_of(element(x, x_number, i.of[0]), element(y, y_number, i.of[1]));
    });
}

// out[i] = formula(c[i], x[i], y[i])
template <class Row, class First, class T>
__global__ void ternary_kernel(const First* c, First c_number, const T* x, T x_number, const T* y, T y_number, T* out,
                               Strides<4> strides) {
    write_elements(out, strides, [=](const Offsets<4>& i) {
        return Row::formula_of(element(c, c_number, i.of[0]), element(x, x_number, i.of[1]),
                               element(y, y_number, i.of[2]));
    });
}

// out[i] = x[i], converted
template <class From, class To>
__global__ void assign_kernel(const From* x, From x_number, To* out, Strides<2> strides) {
    write_elements(out, strides,
                   [=](const Offsets<2>& i) { return convert<To>(element(x, x_number, i.of[0])); });
}

// ---- Their launchers --------------------------------------------------------------------------------------------

// A number has no storage: its value lies on the host and travels with the launch.
template <class T>
const T* data_of(const Tensor& x) {
    return x.storage ? static_cast<const T*>(x.data) : nullptr;
}
template <class T>
T number_of(const Tensor& x) {
    return x.storage ? T() : *static_cast<const T*>(x.data);
}

template <class Row, Rule RULE>
void unary(const char* name, const Tensor& x, Tensor& out) {
    cudaStream_t stream = use(out.device);
    const Strides<2> strides = elementwise_strides<2>({&x, &out});
    for_rule<RULE>(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        using R = Result<RULE, T>;
        unary_kernel<Row, T, R><<<blocks_for(out.size), threads_for(out.size), 0, stream>>>(
            static_cast<const T*>(x.data), static_cast<R*>(out.data), strides);
    });
    check_launch(name);
}

template <class Row, Rule RULE>
void binary(const char* name, const Tensor& x, const Tensor& y, Tensor& out) {
    cudaStream_t stream = use(out.device);
    const Strides<3> strides = elementwise_strides<3>({&x, &y, &out});
    for_rule<RULE>(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        using R = Result<RULE, T>;
        binary_kernel<Row, T, R><<<blocks_for(out.size), threads_for(out.size), 0, stream>>>(
            data_of<T>(x), number_of<T>(x), data_of<T>(y), number_of<T>(y), static_cast<R*>(out.data), strides);
    });
    check_launch(name);
}

template <class Row, class First, class T>
void ternary(const char* name, const Tensor& c, const Tensor& x, const Tensor& y, Tensor& out) {
    cudaStream_t stream = use(out.device);
    const Strides<4> strides = elementwise_strides<4>({&c, &x, &y, &out});
    ternary_kernel<Row, First, T><<<blocks_for(out.size), threads_for(out.size), 0, stream>>>(
        data_of<First>(c), number_of<First>(c), data_of<T>(x), number_of<T>(x), data_of<T>(y), number_of<T>(y),
        static_cast<T*>(out.data), strides);
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

// OP(where, bool, c ? x : y) becomes
//
//     void where_tensor_cuda(const Tensor& c, const Tensor& x, const Tensor& y, Tensor& out)
#define TERNARY_CUDA(name, first, expression)                                                        \
    namespace {                                                                                      \
    struct name##_row {                                                                              \
        template <class C, class T>                                                                  \
        static __device__ T formula_of(C c, T x, T y) {                                              \
            return expression;                                                                       \
        }                                                                                            \
    };                                                                                               \
    }                                                                                                \
    void name##_tensor_cuda(const Tensor& c, const Tensor& x, const Tensor& y, Tensor& out) {        \
        for_any(x.dtype, [&](auto type) {                                                            \
            using T = typename decltype(type)::type;                                                 \
            ternary<name##_row, first, T>(#name, c, x, y, out);                                      \
        });                                                                                          \
    }
TERNARY_OPS(TERNARY_CUDA)

// ---- Copies -----------------------------------------------------------------------------------------------------

// out[i] = x[i], converted where the dtypes differ. reshape, contiguous and to(dtype) copy with it.
void assign_tensor_cuda(const Tensor& x, Tensor& out) {
    cudaStream_t stream = use(out.device);
    const Strides<2> strides = elementwise_strides<2>({&x, &out});
    for_any(x.dtype, [&](auto from) {
        for_any(out.dtype, [&](auto to) {
            using From = typename decltype(from)::type;
            using To = typename decltype(to)::type;
            assign_kernel<From, To><<<blocks_for(out.size), threads_for(out.size), 0, stream>>>(
                data_of<From>(x), number_of<From>(x), static_cast<To*>(out.data), strides);
        });
    });
    check_launch("assign");
}

// ---- Stochastic gradient descent --------------------------------------------------------------------------------

namespace {

template <class T>
__global__ void sgd_kernel(const T* gradient, T* velocity, T* parameter, bool first, SGDOptions options,
                           Strides<3> strides) {
    const T lr = T(options.lr), decay = T(options.weight_decay);
    const T momentum = T(options.momentum), fresh = T(1 - options.dampening);
#pragma unroll 1
    for (int64_t i = blockIdx.x * int64_t(THREADS) + threadIdx.x; i < strides.size; i += gridDim.x * int64_t(THREADS)) {
        const Offsets<3> at = strides.locate(i);
        T& weight = parameter[at.of[2]];
        T g = options.maximize ? -gradient[at.of[0]] : gradient[at.of[0]];
        if (decay != T(0)) g += decay * weight;
        if (velocity) {
            T& v = velocity[at.of[1]];
            v = first ? g : momentum * v + fresh * g;
            g = options.nesterov ? g + momentum * v : v;
        }
        weight -= lr * g;
    }
}

}  // namespace

// One step as torch.optim.SGD takes it, for each element:
//     g = gradient (negated to maximize) + weight_decay * parameter
//     v = g at first, then momentum * v + (1 - dampening) * g
//     parameter -= lr * (nesterov: g + momentum * v, else v, or g without momentum)
void sgd_tensor_cuda(Tensor& parameter, const Tensor& gradient, Tensor* velocity, bool first,
                     const SGDOptions& options) {
    cudaStream_t stream = use(parameter.device);
    const Strides<3> strides = elementwise_strides<3>({&gradient, velocity ? velocity : &parameter, &parameter});
    for_real(parameter.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        sgd_kernel<T><<<blocks_for(parameter.size), threads_for(parameter.size), 0, stream>>>(
            static_cast<const T*>(gradient.data), velocity ? static_cast<T*>(velocity->data) : nullptr,
            static_cast<T*>(parameter.data), first, options, strides);
    });
    check_launch("sgd");
}

// ---- The other kernels ------------------------------------------------------------------------------------------

#include "cuda_fill.cuh"
#include "cuda_matmul.cuh"
#include "cuda_nn.cuh"
#include "cuda_norm.cuh"
#include "cuda_windows.cuh"
#include "cuda_reduce.cuh"
#include "cuda_index.cuh"
