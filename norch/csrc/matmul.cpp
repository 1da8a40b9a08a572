// The CPU matrix product, out = a @ b, for batches and any strides: a transposed operand costs no copy.
//
// naive_matmul_cpu is the definition. The fast path computes out in tiles of TILE_ROWS x TILE_COLUMNS that stay in
// vector registers while k runs. Large products first pack blocks of a and b into panels, in the order in which the
// tile reads them; small ones read a where it is, and pack b only where its rows are not contiguous.

#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "parallel.h"
#include "product.h"
#include "simd.h"
#include "walk.h"

inline namespace NORCH_ISA {
namespace {

const int64_t SMALL_PART = 300000;  // multiplications that are not worth a second thread

// Calls product(a, b, out, m, n, k) for each matrix product of a batch.
template <class T, class F>
void for_each_product(const Tensor& a, const Tensor& b, Tensor& out, F product) {
    if (out.size == 0) return;
    if (a.size == 0) {  // k = 0: sums of nothing
        memset(out.data, 0, size_t(out.size) * sizeof(T));
        return;
    }
    const int row = out.ndim - 2, column = out.ndim - 1;
    int64_t m = out.shape[row];
    const int64_t n = out.shape[column], k = a.shape[column];
    auto product_at = [&](int64_t a_offset, int64_t b_offset, int64_t out_offset) {
        const T *left = static_cast<const T*>(a.data) + a_offset, *right = static_cast<const T*>(b.data) + b_offset;
        product(Matrix<const T>{left, a.strides[row], a.strides[column]},
                Matrix<const T>{right, b.strides[row], b.strides[column]},
                Matrix<T>{static_cast<T*>(out.data) + out_offset, n, 1}, m, n, k);
    };
    if (row == 0) return product_at(0, 0, 0);
    Tensor batch[3] = {a, b, out};
    for (Tensor& tensor : batch) {
        tensor.ndim -= 2;
        tensor.size = 1;
        for (int d = 0; d < tensor.ndim; d++) tensor.size *= tensor.shape[d];
    }
    Layout<3> layout = collapse<3>({&batch[0], &batch[1], &batch[2]});
    // One b for all, below an a whose matrices follow each other: a single product with more rows.
    const int last = layout.ndim - 1;
    if (layout.strides[1][last] == 0 && layout.strides[0][last] == m * a.strides[row]) {
        m *= layout.shape[last];
        layout.shape[last] = 1;
    }
    const int64_t products = layout.size / (m == out.shape[row] ? 1 : m / out.shape[row]);
    parallel_for(products, 1 + SMALL_PART / (m * n * k), [&](int64_t begin, int64_t end) {
        Odometer<3> at(layout, layout.ndim);
        at.seek(begin);
        for (int64_t i = begin; i < end; i++, at.next()) product_at(at.offset[0], at.offset[1], at.offset[2]);
    });
}

}  // namespace

// out[i, j] = sum over p of a[i, p] * b[p, j], in the order in which b and out are contiguous.
void naive_matmul_cpu(const Tensor& a, const Tensor& b, Tensor& out) {
    for_any(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        auto product = [](Matrix<const T> a, Matrix<const T> b, Matrix<T> out, int64_t m, int64_t n, int64_t k) {
            for (int64_t i = 0; i < m; i++) {
                for (int64_t j = 0; j < n; j++) out(i, j) = T(0);
                for (int64_t p = 0; p < k; p++)
                    for (int64_t j = 0; j < n; j++) out(i, j) = T(out(i, j) + a(i, p) * b(p, j));
            }
        };
        for_each_product<T>(a, b, out, product);
    });
}

namespace {

// ---- The register tile ------------------------------------------------------------------------------------------

#if defined(__AVX512F__)
enum { TILE_ROWS = 12, TILE_VECTORS = 2 };
#elif defined(__AVX2__)
enum { TILE_ROWS = 6, TILE_VECTORS = 2 };
#elif defined(__aarch64__)
enum { TILE_ROWS = 8, TILE_VECTORS = 3 };
#else
enum { TILE_ROWS = 4, TILE_VECTORS = 2 };
#endif

template <class T>
struct Simd;
template <>
struct Simd<float> {
    typedef float Vector __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));
};
template <>
struct Simd<double> {
    typedef double Vector __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));
};

// Sizes for elements of type T. Blocks fit the caches: a panel of b the first, a block of a the second.
template <class T>
struct Size {
    enum {
        LANES = VECTOR_BYTES / sizeof(T),
        TILE_COLUMNS = LANES * TILE_VECTORS,
        DEPTH = 384,                        // of k, that is summed in registers
        BLOCK_ROWS = TILE_ROWS * 16,        // of a, packed at a time
        BLOCK_COLUMNS = TILE_COLUMNS * 64,  // of b
    };
};
const int64_t SMALL_PRODUCT = 20000000;  // multiplications, below which packing a does not pay

// out[ROWS x TILE_COLUMNS] += a[ROWS x k] @ b[k x TILE_COLUMNS]; rows of b and out are contiguous. In packed panels the
// strides are known to the compiler.
template <class T, int ROWS, bool PACKED>
void tile(int64_t k, Matrix<const T> a, const T* b, int64_t b_row, T* out, int64_t out_row) {
    using Vector = typename Simd<T>::Vector;
    const int64_t a_row = PACKED ? 1 : a.row, a_column = PACKED ? int(TILE_ROWS) : a.column;
    if (PACKED) b_row = Size<T>::TILE_COLUMNS;
    const T* a_next = a.data;
    Vector sum[ROWS][TILE_VECTORS] = {};
    for (int64_t p = 0; p < k; p++, a_next += a_column, b += b_row) {
        Vector b_vector[TILE_VECTORS];
        UNROLL for (int v = 0; v < TILE_VECTORS; v++) b_vector[v] =
            *reinterpret_cast<const Vector*>(b + v * Size<T>::LANES);
        UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int v = 0; v < TILE_VECTORS; v++) sum[i][v] +=
            a_next[i * a_row] * b_vector[v];
    }
    UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int v = 0; v < TILE_VECTORS; v++) *
        reinterpret_cast<Vector*>(out + i * out_row + v * Size<T>::LANES) += sum[i][v];
}

// The tile for a number of rows that is known at run time only.
template <class T, bool PACKED, int ROWS = TILE_ROWS>
void tile_of(int64_t rows, int64_t k, Matrix<const T> a, const T* b, int64_t b_row, T* out, int64_t out_row) {
    if (rows == ROWS) return tile<T, ROWS, PACKED>(k, a, b, b_row, out, out_row);
    if constexpr (ROWS > 1) tile_of<T, PACKED, ROWS - 1>(rows, k, a, b, b_row, out, out_row);
}

// The same at the right edge of out, where fewer columns than a tile's are left.
template <class T, bool PACKED>
void tile_at(int64_t rows, int64_t columns, int64_t k, Matrix<const T> a, const T* b, int64_t b_row, Matrix<T> out) {
    enum { WIDTH = Size<T>::TILE_COLUMNS };
    if (columns == WIDTH) return tile_of<T, PACKED>(rows, k, a, b, b_row, out.data, out.row);
    T whole[TILE_ROWS * WIDTH] = {};
    tile_of<T, PACKED>(rows, k, a, b, b_row, whole, WIDTH);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) out(i, j) += whole[i * WIDTH + j];
}

// ---- Packing ----------------------------------------------------------------------------------------------------

// panel[p * WIDTH + i] = source(i, p), for i < n and p < k; up to WIDTH follows what nobody uses.
template <int WIDTH, class T>
void pack(T* panel, Matrix<const T> source, int64_t n, int64_t k) {
    if (source.row == 1 && n == WIDTH) {
        for (int64_t p = 0; p < k; p++) memcpy(panel + p * WIDTH, &source(0, p), WIDTH * sizeof(T));
        return;
    }
    int64_t done = 0;
    if (source.row == 1 && source.column >= n) {  // whole rows, while what follows a row lies within the source
        for (; done < k && (k - 1 - done) * source.column + n >= WIDTH; done++)
            memcpy(panel + done * WIDTH, &source(0, done), WIDTH * sizeof(T));
    }
    enum { LINE = 16 };  // elements of a row of the source that are read together
    for (int64_t start = done; start < k; start += LINE) {
        const int64_t end = start + LINE < k ? start + LINE : k;
        for (int64_t i = 0; i < n; i++)
            for (int64_t p = start; p < end; p++) panel[p * WIDTH + i] = source(i, p);
        for (int64_t i = n; i < WIDTH; i++)
            for (int64_t p = start; p < end; p++) panel[p * WIDTH + i] = T(0);
    }
}

// ---- The products -----------------------------------------------------------------------------------------------

// The sum of x[p] * y[p]. Four sums at a time, as each addition waits for the one before.
template <class T>
T dot(const T* x, const T* y, int64_t n) {
    using Vector = typename Simd<T>::Vector;
    enum { LANES = Size<T>::LANES, SUMS = 4 };
    Vector sums[SUMS] = {};
    int64_t p = 0;
    for (; p + SUMS * LANES <= n; p += SUMS * LANES)
        UNROLL for (int v = 0; v < SUMS; v++) sums[v] +=
            *reinterpret_cast<const Vector*>(x + p + v * LANES) * *reinterpret_cast<const Vector*>(y + p + v * LANES);
    const Vector sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    T total = 0;
    for (int lane = 0; lane < LANES; lane++) total += sum[lane];
    for (; p < n; p++) total += x[p] * y[p];
    return total;
}

// out[i] += sum over p of a(i, p) * x[p * step], where a has contiguous rows or columns.
template <class T>
void vector_product(Matrix<const T> a, const T* x, int64_t step, T* out, int64_t m, int64_t k) {
    enum { DEPTH = 1024, PASS = 8 };
    T buffer[DEPTH];
    for (int64_t start = 0; start < k; start += DEPTH) {
        const int64_t depth = smaller(DEPTH, k - start);
        const Matrix<const T> block = a.from(0, start);
        for (int64_t p = 0; p < depth; p++) buffer[p] = x[(start + p) * step];
        if (a.column == 1) {
            for (int64_t i = 0; i < m; i++) out[i] += dot(&block(i, 0), buffer, depth);
            continue;
        }
        int64_t p = 0;
        for (; p + PASS <= depth; p += PASS) {  // eight columns of a in a pass over out
            const T *columns = &block(0, p), *factors = buffer + p;
            INDEPENDENT for (int64_t i = 0; i < m; i++) {
                T sum = 0;
                UNROLL for (int c = 0; c < PASS; c++) sum += columns[c * a.column + i] * factors[c];
                out[i] += sum;
            }
        }
        for (; p < depth; p++) {
            const T* column = &block(0, p);
            INDEPENDENT for (int64_t i = 0; i < m; i++) out[i] += column[i] * buffer[p];
        }
    }
}

template <class T>
void small_product(Matrix<const T> a, Matrix<const T> b, Matrix<T> out, int64_t m, int64_t n, int64_t k) {
    enum { WIDTH = Size<T>::TILE_COLUMNS, DEPTH = Size<T>::DEPTH };
    alignas(64) T panel[WIDTH * DEPTH];
    for (int64_t p = 0; p < k; p += DEPTH) {
        const int64_t depth = smaller(DEPTH, k - p);
        for (int64_t j = 0; j < n; j += WIDTH) {
            const int64_t columns = smaller(WIDTH, n - j);
            const T* right = b.data + p * b.row + j * b.column;
            int64_t right_row = b.row;
            if (columns < WIDTH || b.column != 1) {
                pack<WIDTH>(panel, b.from(p, j).transposed(), columns, depth);
                right = panel;
                right_row = WIDTH;
            }
            for (int64_t i = 0; i < m; i += TILE_ROWS)
                tile_at<T, false>(smaller(TILE_ROWS, m - i), columns, depth, a.from(i, p), right, right_row,
                                  out.from(i, j));
        }
    }
}

// One panel of b times rows of a, which are packed first.
template <class T>
void row_block(Matrix<const T> a, const T* packed_b, Matrix<T> out, int64_t height, int64_t width, int64_t depth) {
    enum { WIDTH = Size<T>::TILE_COLUMNS };
    Scratch<T> packed_a(Size<T>::BLOCK_ROWS * Size<T>::DEPTH);
    for (int64_t i = 0; i < height; i += TILE_ROWS)
        pack<TILE_ROWS>(&packed_a[i * depth], a.from(i, 0), smaller(TILE_ROWS, height - i), depth);
    for (int64_t j = 0; j < width; j += WIDTH)
        for (int64_t i = 0; i < height; i += TILE_ROWS)
            tile_at<T, true>(smaller(TILE_ROWS, height - i), smaller(WIDTH, width - j), depth,
                             {&packed_a[i * depth], 0, 0}, packed_b + j * depth, 0, out.from(i, j));
}

template <class T>
void large_product(Matrix<const T> a, Matrix<const T> b, Matrix<T> out, int64_t m, int64_t n, int64_t k) {
    enum { WIDTH = Size<T>::TILE_COLUMNS, DEPTH = Size<T>::DEPTH };
    enum { BLOCK_ROWS = Size<T>::BLOCK_ROWS, BLOCK_COLUMNS = Size<T>::BLOCK_COLUMNS };
    Scratch<T> packed_b(BLOCK_COLUMNS * DEPTH);
    // Blocks of a of one height, as many for each thread.
    const int64_t threads = thread_count(), rounds = (m + threads * BLOCK_ROWS - 1) / (threads * BLOCK_ROWS);
    const int64_t tiles = (m + TILE_ROWS - 1) / TILE_ROWS, blocks = smaller(tiles, threads * rounds);
    const int64_t block_rows = (tiles + blocks - 1) / blocks * TILE_ROWS;
    for (int64_t j0 = 0; j0 < n; j0 += BLOCK_COLUMNS) {
        const int64_t width = smaller(BLOCK_COLUMNS, n - j0);
        for (int64_t p = 0; p < k; p += DEPTH) {
            const int64_t depth = smaller(DEPTH, k - p);
            parallel_for((width + WIDTH - 1) / WIDTH, 8, [&](int64_t begin, int64_t end) {
                for (int64_t j = begin * WIDTH; j < smaller(end * WIDTH, width); j += WIDTH)
                    pack<WIDTH>(&packed_b[j * depth], b.from(p, j0 + j).transposed(), smaller(WIDTH, width - j), depth);
            });
            parallel_for((m + block_rows - 1) / block_rows, 1, [&](int64_t begin, int64_t end) {
                for (int64_t i = begin * block_rows; i < smaller(end * block_rows, m); i += block_rows)
                    row_block(a.from(i, p), &packed_b[0], out.from(i, j0), smaller(block_rows, m - i), width, depth);
            });
        }
    }
}

}  // namespace

template <class T>
void add_product(Matrix<const T> a, Matrix<const T> b, Matrix<T> out, int64_t m, int64_t n, int64_t k) {
    if (n == 1 && out.row == 1 && (a.row == 1 || a.column == 1))
        return vector_product(a, b.data, b.row, out.data, m, k);
    if (m == 1 && (b.row == 1 || b.column == 1))
        return vector_product(b.transposed(), a.data, a.column, out.data, n, k);
    if (m * n * k > SMALL_PRODUCT) return large_product(a, b, out, m, n, k);
    if (m >= n) {  // split the longer side between threads
        parallel_for(m, 1 + SMALL_PART / (n * k), [&](int64_t begin, int64_t end) {
            small_product(a.from(begin, 0), b, out.from(begin, 0), end - begin, n, k);
        });
    } else {
        enum { WIDTH = Size<T>::TILE_COLUMNS };
        parallel_for((n + WIDTH - 1) / WIDTH, 1 + SMALL_PART / (m * k * WIDTH), [&](int64_t begin, int64_t end) {
            const int64_t first = begin * WIDTH, columns = smaller(end * WIDTH, n) - first;
            small_product(a, b.from(0, first), out.from(0, first), m, columns, k);
        });
    }
}

template void add_product(Matrix<const float>, Matrix<const float>, Matrix<float>, int64_t, int64_t, int64_t);
template void add_product(Matrix<const double>, Matrix<const double>, Matrix<double>, int64_t, int64_t, int64_t);

namespace {

template <class T>
void fast_matmul(const Tensor& a, const Tensor& b, Tensor& out) {
    for_each_product<T>(a, b, out,
                        [](Matrix<const T> a, Matrix<const T> b, Matrix<T> out, int64_t m, int64_t n, int64_t k) {
                            memset(out.data, 0, size_t(m * n) * sizeof(T));
                            add_product(a, b, out, m, n, k);
                        });
}

}  // namespace

// out = a @ b. Integers take the definition; float and double the tiles.
void matmul_tensor_cpu(const Tensor& a, const Tensor& b, Tensor& out) {
    INTEGERS_IN_BASELINE(out.dtype, matmul, a, b, out);
    if (out.dtype == FLOAT32) return fast_matmul<float>(a, b, out);
    if (out.dtype == FLOAT64) return fast_matmul<double>(a, b, out);
    naive_matmul_cpu(a, b, out);
}

// out = x @ weight.T + bias: the product is added to rows that hold the bias already.
void linear_tensor_cpu(const Tensor& x, const Tensor& weight, const Tensor* bias, Tensor& out) {
    for_real(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const int64_t m = out.shape[0], n = out.shape[1], k = x.shape[1];
        const Matrix<T> to = {static_cast<T*>(out.data), n, 1};
        if (bias) {
            const T* from = static_cast<const T*>(bias->data);
            const int64_t step = bias->strides[0];
            for (int64_t i = 0; i < m; i++)
                for (int64_t j = 0; j < n; j++) to(i, j) = from[j * step];
        } else {
            memset(out.data, 0, size_t(m * n) * sizeof(T));
        }
        if (k == 0) return;
        const Matrix<const T> rows = {static_cast<const T*>(x.data), x.strides[0], x.strides[1]};
        const Matrix<const T> columns = {static_cast<const T*>(weight.data), weight.strides[1], weight.strides[0]};
        add_product(rows, columns, to, m, n, k);
    });
}

}  // namespace NORCH_ISA
