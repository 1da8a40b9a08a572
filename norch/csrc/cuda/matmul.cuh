// The CUDA matrix product. A part of cuda.cu.
//
// naive_matmul_kernel is the definition, a thread for each element of the result. matmul_kernel computes a tile of the
// result with each block: the block brings a strip of a and a strip of b into shared memory, and each thread multiplies
// them into a small square of results that it keeps in registers, so that a number read once is used many times. While
// one pair of strips is multiplied, the next is on its way into a second buffer. If a product has few results of many
// terms, the terms are split between several blocks, and a second launch adds up their sums.

#pragma once
#include "cuda/block.cuh"
#include "cuda/layout.cuh"
#include "cuda/reductions.cuh"

namespace {

// A matrix inside a tensor, by its strides: transposed operands differ in nothing else.
template <class T>
struct Matrix {
    T* data;
    int64_t row, column;
};

struct Product {
    int64_t m, n, k;     // a is [m, k], b is [k, n], out is [m, n]
    Strides<2> batches;  // where the matrices of a and b begin, for each of the products
    int64_t bias_step;   // of the bias, if there is one: it is added to each row of the result
    int64_t stretch;     // of the k terms, for each blockIdx.y
};

enum {
    BLOCK_EDGE = 16,      // a block has BLOCK_EDGE x BLOCK_EDGE threads
    SMALL_RESULT = 1024,  // elements and
    SMALL_DEPTH = 64,     // products that a thread each can sum up as well
    GROUP = 8,            // rows of tiles that are computed together, so that they share what is in the cache
    BUSY = 128,           // blocks that keep a GPU busy
    LEAST_STRETCH = 128   // terms
};

// ---- The definition ----------------------------------------------------------------------------------------------

// out[i, j] = bias[j] + sum over p of a[i, p] * b[p, j]
template <class T>
__global__ void naive_matmul_kernel(const T* a, int64_t a_row, int64_t a_column, const T* b, int64_t b_row,
                                    int64_t b_column, const T* bias, T* out, Product product) {
    const int64_t size = product.m * product.n * product.batches.size;
    for (int64_t element = first_of_thread(); element < size; element += all_threads()) {
        const int64_t row = element / product.n, j = element % product.n;
        const int64_t batch = row / product.m, i = row % product.m;
        const Offsets<2> start = product.batches.locate(batch);
        const T *x = a + start.of[0] + i * a_row, *y = b + start.of[1] + j * b_column;
        T sum = T(0);
        for (int64_t p = 0; p < product.k; p++) sum = T(sum + x[p * a_column] * y[p * b_row]);
        out[element] = bias ? T(sum + bias[j * product.bias_step]) : sum;
    }
}

// ---- The tiled product -------------------------------------------------------------------------------------------

// One thread's share of the strips [SIZE, DEPTH] of a matrix: read from global memory into registers while the strip
// before is multiplied, then stored in shared memory. Beyond the edges of the matrix a strip is filled up with zeros.
// WIDTH elements that lie side by side are read at once: along the lines of the strip, or across them.
template <class T, int SIZE, int DEPTH, int WIDTH>
struct Strip {
    enum {
        BLOCK = BLOCK_EDGE * BLOCK_EDGE,
        READS = SIZE * DEPTH / BLOCK / WIDTH,  // of each thread
        LINES_APART = BLOCK / (DEPTH / WIDTH),
        DEPTHS_APART = BLOCK / (SIZE / WIDTH)
    };
    Pack<T, WIDTH> values[READS];
    const T* place;         // of the first of the thread's elements in the next strip
    int64_t apart, onward;  // to the other reads, to the strip after
    int line, depth;        // of that element in the strip
    bool inside[READS];     // whether the matrix has the lines that are read
    bool along;

    __device__ Strip(const Matrix<const T>& matrix, int64_t first, int64_t end, int64_t start, int thread) {
        along = matrix.column == 1;
        line = along ? thread / (DEPTH / WIDTH) : thread % (SIZE / WIDTH) * WIDTH;
        depth = along ? thread % (DEPTH / WIDTH) * WIDTH : thread / (SIZE / WIDTH);
#pragma unroll
        for (int r = 0; r < READS; r++) inside[r] = first + line + (along ? r * LINES_APART : 0) < end;
        place = matrix.data + (first + line) * matrix.row + (start + depth) * matrix.column;
        apart = along ? LINES_APART * matrix.row : DEPTHS_APART * matrix.column;
        onward = DEPTH * matrix.column;
    }

    // The next strip, of which the matrix has so many products.
    __device__ void read(int64_t depths) {
#pragma unroll
        for (int r = 0; r < READS; r++) {
            values[r] = {};
            const int p = along ? depth : depth + r * DEPTHS_APART;
            if (inside[r] && p < depths) values[r] = *reinterpret_cast<const Pack<T, WIDTH>*>(place + r * apart);
        }
        place += onward;
    }

    __device__ void keep(T (&strip)[DEPTH][SIZE + PACK]) const {
#pragma unroll
        for (int r = 0; r < READS; r++) {
            if (along) {
#pragma unroll
                for (int w = 0; w < WIDTH; w++) strip[depth + w][line + r * LINES_APART] = values[r].of[w];
            } else {
                *reinterpret_cast<Pack<T, WIDTH>*>(&strip[depth + r * DEPTHS_APART][line]) = values[r];
            }
        }
    }
};

// The tiles of a result are counted GROUP rows at a time, column by column.
struct Place {
    int row, column;
};
__device__ Place place_of_tile(int tile, int down, int across) {
    const int first = tile / (GROUP * across) * GROUP, within = tile % (GROUP * across);
    const int rows = down - first < GROUP ? down - first : int(GROUP);
    return {first + within % rows, within / rows};
}

// The block computes a tile of EACH * BLOCK_EDGE rows and as many columns, DEPTH products at a time; each thread EACH x
// EACH results. They lie in squares of PACK x PACK, so that threads beside each other read shared memory, and write the
// result, side by side.
template <class T, int EACH, int DEPTH, int WIDTH>
__global__ void __launch_bounds__(BLOCK_EDGE* BLOCK_EDGE, 2)
    matmul_kernel(const T* a, int64_t a_row, int64_t a_column, const T* b, int64_t b_row, int64_t b_column,
                  const T* bias, T* out, Product product) {
    constexpr int TILE = EACH * BLOCK_EDGE;
    __shared__ __align__(16) T a_strips[2][DEPTH][TILE + PACK];
    __shared__ __align__(16) T b_strips[2][DEPTH][TILE + PACK];
    const int thread = threadIdx.y * BLOCK_EDGE + threadIdx.x;
    const int down = int((product.m + TILE - 1) / TILE), across = int((product.n + TILE - 1) / TILE);
    const int batch = blockIdx.x / (down * across);
    const Place tile = place_of_tile(blockIdx.x % (down * across), down, across);
    const int64_t begin = blockIdx.y * product.stretch;
    const int64_t end = begin + product.stretch < product.k ? begin + product.stretch : product.k;
    const Offsets<2> start = product.batches.locate(batch);
    const Matrix<const T> rows = {a + start.of[0], a_row, a_column};     // rows(i, p) = a[i, p]
    const Matrix<const T> columns = {b + start.of[1], b_column, b_row};  // columns(j, p) = b[p, j]
    T sums[EACH][EACH] = {};
    Strip<T, TILE, DEPTH, WIDTH> a_next(rows, tile.row * int64_t(TILE), product.m, begin, thread);
    Strip<T, TILE, DEPTH, WIDTH> b_next(columns, tile.column * int64_t(TILE), product.n, begin, thread);
    a_next.read(end - begin);
    b_next.read(end - begin);
    a_next.keep(a_strips[0]);
    b_next.keep(b_strips[0]);
    __syncthreads();  // the first strips are complete
    int now = 0;
    for (int64_t rest = end - begin; rest > 0; rest -= DEPTH, now ^= 1) {
        if (rest > DEPTH) {
            a_next.read(rest - DEPTH);
            b_next.read(rest - DEPTH);
        }
#pragma unroll
        for (int p = 0; p < DEPTH; p++) {
            Pack<T> x[EACH / PACK], y[EACH / PACK];
#pragma unroll
            for (int e = 0; e < EACH / PACK; e++) {
                x[e] = *reinterpret_cast<const Pack<T>*>(&a_strips[now][p][(e * BLOCK_EDGE + threadIdx.y) * PACK]);
                y[e] = *reinterpret_cast<const Pack<T>*>(&b_strips[now][p][(e * BLOCK_EDGE + threadIdx.x) * PACK]);
            }
#pragma unroll
            for (int i = 0; i < EACH; i++)
#pragma unroll
                for (int j = 0; j < EACH; j++)
                    sums[i][j] += x[i / PACK].of[i % PACK] * y[j / PACK].of[j % PACK];
        }
        if (rest > DEPTH) {
            a_next.keep(a_strips[now ^ 1]);
            b_next.keep(b_strips[now ^ 1]);
        }
        __syncthreads();  // these strips are done with, the next ones complete
    }
    T* result = out + (int64_t(blockIdx.y) * product.batches.size + batch) * product.m * product.n;
    const int64_t top = tile.row * int64_t(TILE) + threadIdx.y * PACK;
    const int64_t left = tile.column * int64_t(TILE) + threadIdx.x * PACK;
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        const int64_t i = top + e / PACK * BLOCK_EDGE * PACK + e % PACK;
#pragma unroll
        for (int f = 0; f < EACH; f++) {
            const int64_t j = left + f / PACK * BLOCK_EDGE * PACK + f % PACK;
            if (i < product.m && j < product.n)
                result[i * product.n + j] = bias ? sums[e][f] + bias[j * product.bias_step] : sums[e][f];
        }
    }
}

// ---- The launchers -----------------------------------------------------------------------------------------------

// The leading dimensions of a and b, which the caller has broadcast to one shape.
Product product_of(const Tensor& a, const Tensor& b, const Tensor* bias) {
    Tensor a_batches = a, b_batches = b;
    a_batches.size = b_batches.size = 1;
    for (int d = 0; d < a.ndim - 2; d++) a_batches.size = b_batches.size *= a.shape[d];
    a_batches.ndim = b_batches.ndim = a.ndim - 2;
    const int64_t k = a.shape[a.ndim - 1];
    return {a.shape[a.ndim - 2],  b.shape[b.ndim - 1], k, Strides<2>(collapse<2>({&a_batches, &b_batches})),
            bias ? bias->strides[0] : 0, k};
}

// Whether a strip of the matrix can be read PACK elements at a time: they lie side by side wherever one begins.
bool reads_packs(const Tensor& x) {
    const int row = x.ndim - 2, column = x.ndim - 1, near = x.strides[column] == 1 ? column : row;
    const int64_t width = PACK * item_size(x.dtype);
    bool fits = x.strides[near] == 1 && x.shape[near] % PACK == 0 && intptr_t(x.data) % (width < 16 ? width : 16) == 0;
    for (int d = 0; d < x.ndim; d++) fits = fits && (d == near || x.strides[d] % PACK == 0);
    return fits;
}

template <class T, int EACH, int DEPTH, int WIDTH>
void launch_tiled(const Tensor& a, const Tensor& b, const T* bias, T* out, Product& product, int64_t stretches,
                  cudaStream_t stream) {
    constexpr int64_t TILE = EACH * BLOCK_EDGE;
    const int64_t tiles = divided_up(product.m, TILE) * divided_up(product.n, TILE) * product.batches.size;
    if (tiles > INT32_MAX) fail(RUNTIME_ERROR, "matmul: a result of {} tiles is too large for CUDA", tiles);
    const dim3 grid = {unsigned(tiles), unsigned(stretches)};
    matmul_kernel<T, EACH, DEPTH, WIDTH><<<grid, dim3(BLOCK_EDGE, BLOCK_EDGE), 0, stream>>>(
        data_as<T>(a), a.strides[a.ndim - 2], a.strides[a.ndim - 1], data_as<T>(b), b.strides[b.ndim - 2],
        b.strides[b.ndim - 1], bias, out, product);
    check_launch("matmul");
}

template <class T, int EACH, int DEPTH>
void launch_tiled(const Tensor& a, const Tensor& b, const T* bias, T* out, Product& product, int64_t stretches,
                  cudaStream_t stream) {
    if (reads_packs(a) && reads_packs(b))
        return launch_tiled<T, EACH, DEPTH, PACK>(a, b, bias, out, product, stretches, stream);
    launch_tiled<T, EACH, DEPTH, 1>(a, b, bias, out, product, stretches, stream);
}

// x = triangle^-1 x: each row less its factors times those before it
template <class T>
__global__ void substitute_kernel(const T* triangles, T* x, int64_t n, int64_t columns, int64_t height, int64_t size,
                                  bool upper) {
    for (int64_t p = first_of_thread(); p < size; p += all_threads()) {
        const T* factors = triangles + p / columns * n * n;
        T* column = x + p / columns * height * columns + p % columns;
        for (int64_t k = 0; k < n; k++) {
            const int64_t i = upper ? n - 1 - k : k, from = upper ? i + 1 : 0;
            T value = column[i * columns];
            for (int64_t j = from; j < from + k; j++) value -= factors[i * n + j] * column[j * columns];
            column[i * columns] = value / factors[i * n + i];
        }
    }
}

template <class T>
void launch_naive(const Tensor& a, const Tensor& b, const Tensor* bias, Tensor& out, const Product& product,
                  cudaStream_t stream) {
    naive_matmul_kernel<T><<<blocks_for(out.size), threads_for(out.size), 0, stream>>>(
        data_as<T>(a), a.strides[a.ndim - 2], a.strides[a.ndim - 1], data_as<T>(b), b.strides[b.ndim - 2],
        b.strides[b.ndim - 1], bias ? data_as<T>(*bias) : nullptr, data_as<T>(out), product);
    check_launch("matmul");
}

// Large tiles reuse more, small ones occupy more of the GPU; for the smallest products a tile would be mostly empty.
template <class T, int LARGE, int DEPTH>
void launch_real(const Tensor& a, const Tensor& b, const Tensor* bias, Tensor& out, Product& product,
                 cudaStream_t stream) {
    constexpr int64_t LARGE_TILE = LARGE * BLOCK_EDGE, TILE = 4 * BLOCK_EDGE;
    if (product.m * product.n <= SMALL_RESULT && product.k <= SMALL_DEPTH)
        return launch_naive<T>(a, b, bias, out, product, stream);
    const T* added = bias ? data_as<T>(*bias) : nullptr;
    if ((product.m / LARGE_TILE) * (product.n / LARGE_TILE) * product.batches.size >= BUSY)
        return launch_tiled<T, LARGE, DEPTH>(a, b, added, data_as<T>(out), product, 1, stream);

    const int64_t tiles = divided_up(product.m, TILE) * divided_up(product.n, TILE) * product.batches.size;
    const int64_t wanted = tiles < BUSY ? divided_up(2 * BUSY, tiles) : 1, useful = product.k / LEAST_STRETCH;
    const int64_t most = wanted < useful ? wanted : useful;
    if (most <= 1) return launch_tiled<T, 4, 16>(a, b, added, data_as<T>(out), product, 1, stream);
    product.stretch = divided_up(divided_up(product.k, most), PACK) * PACK;
    const int64_t stretches = divided_up(product.k, product.stretch);
    DeviceScratch<T> parts(stretches * out.size, out.device);
    launch_tiled<T, 4, 16>(a, b, static_cast<const T*>(nullptr), parts.data, product, stretches, stream);
    launch_reduce<Sum<T>, T, T>(parts.data, data_as<T>(out), side_by_side(out.size), one_dimension(stretches, out.size),
                                block_for(true, out.size, stretches), 1, stream, "matmul");
    if (bias) add_tensor_cuda(out, expanded(*bias, out.shape, out.ndim, "linear"), out);
}

void multiply(const Tensor& a, const Tensor& b, const Tensor* bias, Tensor& out) {
    cudaStream_t stream = use(out.device);
    Product product = product_of(a, b, bias);
    switch (out.dtype) {
        case FLOAT32: return launch_real<float, 8, 8>(a, b, bias, out, product, stream);
        case FLOAT64: return launch_real<double, 4, 16>(a, b, bias, out, product, stream);
        default:
            for_whole(out.dtype, [&](auto type) {
                launch_naive<typename decltype(type)::type>(a, b, bias, out, product, stream);
            });
    }
}

}  // namespace

// out = a @ b, in full precision: tensor cores would round the factors of a float product, so none are used. Integers
// take the definition.
void matmul_tensor_cuda(const Tensor& a, const Tensor& b, Tensor& out) { multiply(a, b, nullptr, out); }

// out = x @ weight.T + bias
void linear_tensor_cuda(const Tensor& x, const Tensor& weight, const Tensor* bias, Tensor& out) {
    Tensor transposed = weight;
    swap(transposed.shape[0], transposed.shape[1]);
    swap(transposed.strides[0], transposed.strides[1]);
    multiply(x, transposed, bias, out);
}

// A thread for each column of the solutions
void substitute_tensor_cuda(const Tensor& triangles, Tensor& x, int64_t row, bool upper) {
    cudaStream_t stream = use(x.device);
    const int last = x.ndim - 1;
    const int64_t height = x.shape[last - 1], size = x.size / height;
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        substitute_kernel<T><<<blocks_for(size), threads_for(size), 0, stream>>>(
            data_as<T>(triangles), data_as<T>(x) + row * x.shape[last], triangles.shape[last], x.shape[last], height,
            size, upper);
        check_launch("solve_triangular");
    });
}

// The product by its definition, for tests of the tiled one.
void naive_matmul_cuda(const Tensor& a, const Tensor& b, Tensor& out) {
    cudaStream_t stream = use(out.device);
    const Product product = product_of(a, b, nullptr);
    for_any(out.dtype, [&](auto type) {
        launch_naive<typename decltype(type)::type>(a, b, nullptr, out, product, stream);
    });
}
