// The CUDA matrix product. A part of cuda.cu.
//
// naive_matmul_kernel is the definition, a thread for each element of the result. matmul_kernel computes a tile of the
// result with each block: the block brings a strip of a and a strip of b into shared memory, and each thread multiplies
// them into a small square of results that it keeps in registers, so that a number read once is used many times.

#pragma once
#include "cuda_device.cuh"
#include "cuda_layout.cuh"

namespace {

// A matrix inside a tensor, by its strides: transposed operands differ in nothing else.
template <class T>
struct Matrix {
    T* data;
    int64_t row, column;
    __device__ T& operator()(int64_t i, int64_t j) const { return data[i * row + j * column]; }
};

struct Product {
    int64_t m, n, k;     // a is [m, k], b is [k, n], out is [m, n]
    Strides<2> batches;  // where the matrices of a and b begin, for each of the products
};

enum {
    BLOCK_EDGE = 16,      // a block has BLOCK_EDGE x BLOCK_EDGE threads
    SMALL_RESULT = 1024,  // elements and
    SMALL_DEPTH = 64      // products that a thread each can sum up as well
};

// ---- The definition ---------------------------------------------------------------------------------------------

// out[i, j] = sum over p of a[i, p] * b[p, j]
template <class T>
__global__ void naive_matmul_kernel(const T* a, int64_t a_row, int64_t a_column, const T* b, int64_t b_row,
                                    int64_t b_column, T* out, Product product) {
    const int64_t step = gridDim.x * int64_t(blockDim.x), size = product.m * product.n * product.batches.size;
    for (int64_t element = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; element < size; element += step) {
        const int64_t row = element / product.n, j = element % product.n;
        const int64_t batch = row / product.m, i = row % product.m;
        const Offsets<2> start = product.batches.locate(batch);
        const T *x = a + start.of[0] + i * a_row, *y = b + start.of[1] + j * b_column;
        T sum = T(0);
        for (int64_t p = 0; p < product.k; p++) sum = T(sum + x[p * a_column] * y[p * b_row]);
        out[element] = sum;
    }
}

// ---- The tiled product ------------------------------------------------------------------------------------------

// One thread's share of a strip [SIZE, DEPTH] of a matrix: read from global memory into registers while the strip
// before it is multiplied, then stored in shared memory. Beyond the edges of the matrix it is filled up with zeros.
template <class T, int SIZE, int DEPTH>
struct Strip {
    enum { THREADS = BLOCK_EDGE * BLOCK_EDGE, SHARE = SIZE * DEPTH / THREADS };
    T values[SHARE];

    // Neighbouring threads read along the dimension in which the matrix is contiguous.
    static __device__ int line_of(int place, bool along) { return along ? place / DEPTH : place % SIZE; }
    static __device__ int depth_of(int place, bool along) { return along ? place % DEPTH : place / SIZE; }

    __device__ void read(const Matrix<const T>& matrix, int64_t line, int64_t lines, int64_t depth, int64_t depths,
                         int thread, bool along) {
#pragma unroll
        for (int s = 0; s < SHARE; s++) {
            const int place = thread + s * THREADS;
            const int64_t i = line + line_of(place, along), p = depth + depth_of(place, along);
            values[s] = i < lines && p < depths ? matrix(i, p) : T(0);
        }
    }

    __device__ void keep(T (&strip)[DEPTH][SIZE + 4], int thread, bool along) const {
#pragma unroll
        for (int s = 0; s < SHARE; s++) {
            const int place = thread + s * THREADS;
            strip[depth_of(place, along)][line_of(place, along)] = values[s];
        }
    }
};

// The block computes a tile of EACH * BLOCK_EDGE rows and as many columns, DEPTH products at a time; each thread
// EACH x EACH results. They lie in squares of 4 x 4, so that threads beside each other read shared memory side by side.
template <class T, int EACH, int DEPTH>
__global__ void __launch_bounds__(BLOCK_EDGE* BLOCK_EDGE)
    matmul_kernel(const T* a, int64_t a_row, int64_t a_column, const T* b, int64_t b_row, int64_t b_column, T* out,
                  Product product) {
    constexpr int TILE = EACH * BLOCK_EDGE, SQUARE = 4;
    __shared__ __align__(16) T a_strip[DEPTH][TILE + 4];
    __shared__ __align__(16) T b_strip[DEPTH][TILE + 4];
    const int thread = threadIdx.y * BLOCK_EDGE + threadIdx.x;
    const int64_t tiles_across = (product.n + TILE - 1) / TILE;
    const int64_t top = blockIdx.x / tiles_across * TILE, left = blockIdx.x % tiles_across * TILE;
    const bool a_along = a_column == 1, b_along = b_row == 1;

    for (int64_t batch = blockIdx.y; batch < product.batches.size; batch += gridDim.y) {
        const Offsets<2> start = product.batches.locate(batch);
        const Matrix<const T> rows = {a + start.of[0], a_row, a_column};        // rows(i, p) = a[i, p]
        const Matrix<const T> columns = {b + start.of[1], b_column, b_row};     // columns(j, p) = b[p, j]
        T sums[EACH][EACH] = {};
        Strip<T, TILE, DEPTH> next_a, next_b;
        next_a.read(rows, top, product.m, 0, product.k, thread, a_along);
        next_b.read(columns, left, product.n, 0, product.k, thread, b_along);
        for (int64_t depth = 0; depth < product.k; depth += DEPTH) {
            next_a.keep(a_strip, thread, a_along);
            next_b.keep(b_strip, thread, b_along);
            __syncthreads();  // the strips are complete
            if (depth + DEPTH < product.k) {
                next_a.read(rows, top, product.m, depth + DEPTH, product.k, thread, a_along);
                next_b.read(columns, left, product.n, depth + DEPTH, product.k, thread, b_along);
            }
#pragma unroll
            for (int p = 0; p < DEPTH; p++) {
                T x[EACH], y[EACH];
#pragma unroll
                for (int e = 0; e < EACH; e++) {
                    const int within = e / SQUARE * SQUARE * BLOCK_EDGE + e % SQUARE;
                    x[e] = a_strip[p][within + threadIdx.y * SQUARE];
                    y[e] = b_strip[p][within + threadIdx.x * SQUARE];
                }
#pragma unroll
                for (int i = 0; i < EACH; i++)
#pragma unroll
                    for (int j = 0; j < EACH; j++) sums[i][j] += x[i] * y[j];
            }
            __syncthreads();  // nobody reads the strips any more
        }
        T* result = out + batch * product.m * product.n;
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            const int64_t i = top + e / SQUARE * SQUARE * BLOCK_EDGE + threadIdx.y * SQUARE + e % SQUARE;
#pragma unroll
            for (int f = 0; f < EACH; f++) {
                const int64_t j = left + f / SQUARE * SQUARE * BLOCK_EDGE + threadIdx.x * SQUARE + f % SQUARE;
                if (i < product.m && j < product.n) result[i * product.n + j] = sums[e][f];
            }
        }
    }
}

// ---- The launchers ----------------------------------------------------------------------------------------------

// The leading dimensions of a and b, which the caller has broadcast to one shape.
Product product_of(const Tensor& a, const Tensor& b) {
    Tensor a_batches = a, b_batches = b;
    a_batches.size = b_batches.size = 1;
    for (int d = 0; d < a.ndim - 2; d++) a_batches.size = b_batches.size *= a.shape[d];
    a_batches.ndim = b_batches.ndim = a.ndim - 2;
    return {a.shape[a.ndim - 2], b.shape[b.ndim - 1], a.shape[a.ndim - 1],
            Strides<2>(collapse<2>({&a_batches, &b_batches}))};
}

template <class T, int EACH, int DEPTH>
void launch_tiled(const Tensor& a, const Tensor& b, Tensor& out, const Product& product, cudaStream_t stream) {
    constexpr int64_t TILE = EACH * BLOCK_EDGE, MAX_GRID_Y = 65535;
    const int64_t tiles = (product.m + TILE - 1) / TILE * ((product.n + TILE - 1) / TILE);
    if (tiles > INT32_MAX) fail(RUNTIME_ERROR, "matmul: a result of %lld tiles is too large for CUDA", (long long)tiles);
    const int64_t batches = product.batches.size < MAX_GRID_Y ? product.batches.size : MAX_GRID_Y;
    matmul_kernel<T, EACH, DEPTH>
        <<<dim3(unsigned(tiles), unsigned(batches)), dim3(BLOCK_EDGE, BLOCK_EDGE), 0, stream>>>(
            static_cast<const T*>(a.data), a.strides[a.ndim - 2], a.strides[a.ndim - 1], static_cast<const T*>(b.data),
            b.strides[b.ndim - 2], b.strides[b.ndim - 1], static_cast<T*>(out.data), product);
}

template <class T>
void launch_naive(const Tensor& a, const Tensor& b, Tensor& out, const Product& product, cudaStream_t stream) {
    naive_matmul_kernel<T><<<blocks_for(out.size), threads_for(out.size), 0, stream>>>(
        static_cast<const T*>(a.data), a.strides[a.ndim - 2], a.strides[a.ndim - 1], static_cast<const T*>(b.data),
        b.strides[b.ndim - 2], b.strides[b.ndim - 1], static_cast<T*>(out.data), product);
}

// Large tiles reuse more, small ones occupy more of the GPU; for the smallest products a tile would be mostly empty.
template <class T, int LARGE>
void launch_real(const Tensor& a, const Tensor& b, Tensor& out, const Product& product, cudaStream_t stream) {
    if (product.m * product.n <= SMALL_RESULT && product.k <= SMALL_DEPTH)
        return launch_naive<T>(a, b, out, product, stream);
    const int64_t large = LARGE * BLOCK_EDGE, tiles = (product.m / large) * (product.n / large) * product.batches.size;
    if (tiles >= 64) return launch_tiled<T, LARGE, 16>(a, b, out, product, stream);
    launch_tiled<T, 4, 16>(a, b, out, product, stream);
}

}  // namespace

// out = a @ b, in full precision: tensor cores would round the factors of a float product. Integers take the definition.
void matmul_tensor_cuda(const Tensor& a, const Tensor& b, Tensor& out) {
    cudaStream_t stream = use(out.device);
    const Product product = product_of(a, b);
    switch (out.dtype) {
        case FLOAT32: launch_real<float, 8>(a, b, out, product, stream); break;
        case FLOAT64: launch_real<double, 4>(a, b, out, product, stream); break;
        default:
            for_whole(out.dtype, [&](auto type) {
                launch_naive<typename decltype(type)::type>(a, b, out, product, stream);
            });
    }
    check_launch("matmul");
}

// The same by the definition, for tests of the tiled product.
void naive_matmul_cuda(const Tensor& a, const Tensor& b, Tensor& out) {
    cudaStream_t stream = use(out.device);
    const Product product = product_of(a, b);
    for_any(out.dtype, [&](auto type) {
        launch_naive<typename decltype(type)::type>(a, b, out, product, stream);
    });
    check_launch("matmul");
}
