// The CPU matrix product, out = a @ b, for batches and any strides: a transposed operand costs no copy.
//
// naive_matmul_cpu is the definition. The fast path computes out in strips of TILE_ROWS rows, and a strip in tiles that
// stay in vector registers while k runs. A tile reads a panel of b, which has as many columns as the tile. Small
// products read a and b in place, and pack a panel only if its rows are not whole vectors. Large ones pack blocks of a
// and b first, so that the caches hold them in the order in which tiles read them.

#include <stdlib.h>
#include <string.h>

#include "cpu/backend.h"
#include "host/parallel.h"
#include "cpu/loops/dot_products.h"
#include "cpu/loops/tiles.h"

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
        const T *left = data_as<const T>(a) + a_offset, *right = data_as<const T>(b) + b_offset;
        product(Matrix<const T>{left, a.strides[row], a.strides[column]},
                Matrix<const T>{right, b.strides[row], b.strides[column]},
                Matrix<T>{data_as<T>(out) + out_offset, n, 1}, m, n, k);
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

// ---- The register tile -------------------------------------------------------------------------------------------

// Sizes for elements of type T.
template <class T>
struct Size {
    enum {
        LANES = VECTOR_BYTES / sizeof(T),
        TILE_COLUMNS = LANES * TILE_VECTORS,
        SMALL_DEPTH = 512,      // of k, that is summed in registers: a panel of b stays in the second cache
        DEPTH = 384,            // the same in large products: a strip of a stays in the first cache
        BLOCK_BYTES = 3 << 18,  // of b in large products: the block stays in the second cache
        BLOCK_COLUMNS = BLOCK_BYTES / sizeof(T) / DEPTH,
        A_ROW = DEPTH + LANES,  // of packed rows of a: so uneven that they do not compete for a place in a cache
    };
};

// out[ROWS x VECTORS * LANES] = a[ROWS x k] @ b, or += if it adds; rows of b and out are contiguous. The columns of a may
// be some pieces of k.
// The rows of a are reached from a pointer for every four of them: a pointer for each would need too many registers.
template <class T, int ROWS, int VECTORS>
inline __attribute__((always_inline)) void tile(int64_t k, Pieces pieces, Matrix<const T> a, Matrix<const T> b,
                                                Matrix<T> out, bool adds) {
    using Vector = typename Simd<T>::Vector;
    enum { LANES = Size<T>::LANES, GROUP = 4, GROUPS = (ROWS + GROUP - 1) / GROUP, AHEAD = 32 };
    const T *a_next[GROUPS], *b_next = b.data;
    for (int g = 0; g < GROUPS; g++) a_next[g] = &a(g * GROUP, 0);
    const int64_t ahead = AHEAD * b.row;  // of long rows each is on another page, which the processor does not foresee
    Vector sum[ROWS][VECTORS] = {};
    for (int64_t piece = 0; piece < pieces.count; piece++) {
        for (int64_t p = 0; p < k; p++, b_next += b.row) {
            Vector b_vector[VECTORS];
            UNROLL for (int v = 0; v < VECTORS; v++) __builtin_prefetch(b_next + ahead + v * LANES);
            UNROLL for (int v = 0; v < VECTORS; v++) b_vector[v] = *reinterpret_cast<const Vector*>(b_next + v * LANES);
            UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int v = 0; v < VECTORS; v++) sum[i][v] +=
                a_next[i / GROUP][i % GROUP * a.row] * b_vector[v];
            UNROLL for (int g = 0; g < GROUPS; g++) a_next[g] += a.column;
        }
        UNROLL for (int g = 0; g < GROUPS; g++) a_next[g] += pieces.apart - k * a.column;
    }
    if (adds)
        UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int v = 0; v < VECTORS; v++) sum[i][v] +=
            *reinterpret_cast<const Vector*>(&out(i, v * LANES));
    UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int v = 0; v < VECTORS; v++) *
        reinterpret_cast<Vector*>(&out(i, v * LANES)) = sum[i][v];
}

// The tile at the right edge of out, with fewer columns than a tile.
template <class T, int ROWS, int VECTORS = TILE_VECTORS>
void edge_tile(int64_t columns, int64_t k, Pieces pieces, Matrix<const T> a, Matrix<const T> b, Matrix<T> out,
               bool adds) {
    enum { WIDTH = Size<T>::LANES * VECTORS };
    if constexpr (VECTORS > 1)
        if (columns <= WIDTH - Size<T>::LANES)
            return edge_tile<T, ROWS, VECTORS - 1>(columns, k, pieces, a, b, out, adds);
    if (columns == WIDTH) return tile<T, ROWS, VECTORS>(k, pieces, a, b, out, adds);
    T whole[ROWS * WIDTH];
    tile<T, ROWS, VECTORS>(k, pieces, a, b, Matrix<T>{whole, WIDTH, 1}, false);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < columns; j++)
            out(i, j) = adds ? out(i, j) + whole[i * WIDTH + j] : whole[i * WIDTH + j];
}

// ---- Blocks of b -------------------------------------------------------------------------------------------------

// A block of b, panel by panel. `panels` has room to pack them: all of them if it packs, or else only those that cannot
// be read in place. Without room, all are read in place.
template <class T>
struct Block {
    enum { WIDTH = Size<T>::TILE_COLUMNS };
    Matrix<const T> b;
    int64_t depth, width;
    T* panels;
    bool packs;
    Pieces pieces = {1, 0};  // of the depth, in a

    int64_t columns(int64_t j) const { return smaller(WIDTH, width - j); }
    bool is_packed(int64_t j) const { return panels && (packs || b.column != 1 || columns(j) % Size<T>::LANES != 0); }
    Matrix<const T> panel(int64_t j) const {
        return is_packed(j) ? Matrix<const T>{panels + j * depth, WIDTH, 1} : b.from(0, j);
    }
    void pack(int64_t begin, int64_t end) {
        for (int64_t j = begin; j < end; j += WIDTH)
            if (is_packed(j)) pack_panel(panels + j * depth, b.from(0, j), columns(j));
    }
    // panel[p * WIDTH + j] = from(p, j); the rest up to WIDTH is unused
    void pack_panel(T* panel, Matrix<const T> from, int64_t columns) {
        int64_t p = 0;
        if (from.column == 1 && from.row >= columns) {  // whole rows, while what follows a row lies within the block
            for (; p < depth && (depth - 1 - p) * from.row + columns >= WIDTH; p++)
                memcpy(panel + p * WIDTH, &from(p, 0), WIDTH * sizeof(T));
        }
        if (columns < WIDTH) memset(panel + p * WIDTH, 0, size_t((depth - p) * WIDTH) * sizeof(T));
        if (from.row == 1) return transpose(from.data, from.column, panel, WIDTH, columns, depth);
        for (; p < depth; p++)
            for (int64_t j = 0; j < columns; j++) panel[p * WIDTH + j] = from(p, j);
    }
};

// ---- Strips of out -----------------------------------------------------------------------------------------------

template <class T, int ROWS>
void strip(Matrix<const T> a, const Block<T>& block, Matrix<T> out, bool adds) {
    enum { WIDTH = Size<T>::TILE_COLUMNS };
    int64_t j = 0;
    for (; j + WIDTH <= block.width; j += WIDTH) {
        if (block.packs)  // a large product: these lines of out come from far away while the tile is computed
            UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int v = 0; v < TILE_VECTORS; v++)
                __builtin_prefetch(&out(i, j + v * Size<T>::LANES), 1);
        tile<T, ROWS, TILE_VECTORS>(block.depth, block.pieces, a, block.panel(j), out.from(0, j), adds);
    }
    if (j < block.width)
        edge_tile<T, ROWS>(block.width - j, block.depth, block.pieces, a, block.panel(j), out.from(0, j), adds);
}

// The strip of a number of rows that is known at run time only.
template <class T, int ROWS = TILE_ROWS>
void strip_of(int64_t rows, Matrix<const T> a, const Block<T>& block, Matrix<T> out, bool adds) {
    if (rows == ROWS) return strip<T, ROWS>(a, block, out, adds);
    if constexpr (ROWS > 1) strip_of<T, ROWS - 1>(rows, a, block, out, adds);
}

// The rows of a that a strip needs, packed in the order in which a has them: row after row or column after column.
template <class T>
Matrix<const T> packed(T* panel, Matrix<const T> a, int64_t rows, int64_t depth) {
    if (a.column == 1) {
        for (int64_t i = 0; i < rows; i++) memcpy(panel + i * Size<T>::A_ROW, &a(i, 0), size_t(depth) * sizeof(T));
        return {panel, Size<T>::A_ROW, 1};
    }
    for (int64_t p = 0; p < depth; p++) {
        if (a.row == 1 && rows == TILE_ROWS)
            memcpy(panel + p * TILE_ROWS, &a(0, p), TILE_ROWS * sizeof(T));
        else
            for (int64_t i = 0; i < rows; i++) panel[p * TILE_ROWS + i] = a(i, p);
    }
    return {panel, 1, TILE_ROWS};
}

// ---- The products ------------------------------------------------------------------------------------------------

// out[i] += sum over p of a(i, p) * x[p], for contiguous columns of so few elements that a vector reads into the next ones.
// Returns how many columns that were: not the last ones, beyond which there may be no memory.
template <class T>
int64_t add_short_columns(Matrix<const T> a, const T* x, T* out, int64_t m, int64_t k) {
    enum { LANES = Size<T>::LANES, SUMS = 4 };
    typename Simd<T>::Vector sums[SUMS] = {};
    int64_t p = 0;
    for (; (p + SUMS - 1) * a.column + LANES <= (k - 1) * a.column + m; p += SUMS)
        UNROLL for (int c = 0; c < SUMS; c++) sums[c] += vector_at(&a(0, p + c)) * x[p + c];
    sums[0] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (int64_t i = 0; i < m; i++) out[i] += sums[0][i];
    return p;
}

// out[i] += sum over p of a(i, p) * x[p * step], for an a with contiguous rows or columns.
template <class T>
void vector_product(Matrix<const T> a, const T* x, int64_t step, T* out, int64_t m, int64_t k, bool is_short) {
    enum { DEPTH = 1024, PASS = 8 };
    T buffer[DEPTH];
    for (int64_t start = 0; start < k; start += DEPTH) {
        const int64_t depth = smaller(DEPTH, k - start);
        const Matrix<const T> block = a.from(0, start);
        const T* vector = step == 1 ? x + start : buffer;
        for (int64_t p = 0; p < depth && vector == buffer; p++) buffer[p] = x[(start + p) * step];
        if (a.column == 1 && (a.row != 1 || m == 1)) {
            for (int64_t i = 0; i < m; i++) out[i] += dot(&block(i, 0), vector, depth);
            continue;
        }
        int64_t p = is_short ? add_short_columns(block, vector, out, m, depth) : 0;
        for (; p + PASS <= depth; p += PASS) {  // eight columns of a in a pass over out
            const T *columns = &block(0, p), *factors = vector + p;
            INDEPENDENT for (int64_t i = 0; i < m; i++) {
                T sum = 0;
                UNROLL for (int c = 0; c < PASS; c++) sum += columns[c * a.column + i] * factors[c];
                out[i] += sum;
            }
        }
        for (; p < depth; p++) {
            const T* column = &block(0, p);
            INDEPENDENT for (int64_t i = 0; i < m; i++) out[i] += column[i] * vector[p];
        }
    }
}

// The length of parts of n: at most `most`, all of one length but the last, and a multiple of `unit`.
int64_t part_of(int64_t n, int64_t most, int64_t unit) {
    const int64_t parts = (n + most - 1) / most;
    return (n + parts * unit - 1) / (parts * unit) * unit;
}

// a and b are read in place; a panel of b that must be packed serves all strips.
template <class T>
void small_product(Matrix<const T> a, Matrix<const T> b, Matrix<T> out, int64_t m, int64_t n, int64_t k, bool adds) {
    enum { WIDTH = Size<T>::TILE_COLUMNS, DEPTH = Size<T>::SMALL_DEPTH };
    alignas(64) T panels[WIDTH * DEPTH];
    const int64_t block_depth = part_of(k, DEPTH, 1), block_columns = DEPTH / block_depth * WIDTH;
    for (int64_t p = 0; p < k; p += block_depth, adds = true) {
        const int64_t depth = smaller(block_depth, k - p);
        for (int64_t j = 0; j < n; j += block_columns) {
            Block<T> block = {b.from(p, j), depth, smaller(block_columns, n - j), panels, false};
            block.pack(0, block.width);
            for (int64_t i = 0; i < m; i += TILE_ROWS)
                strip_of<T>(smaller(TILE_ROWS, m - i), a.from(i, p), block, out.from(i, j), adds);
        }
    }
}

// A block of b is packed by all threads together, then each packs the rows of a for its strips.
template <class T>
void large_product(Matrix<const T> a, Matrix<const T> b, Matrix<T> out, int64_t m, int64_t n, int64_t k, bool adds) {
    enum { WIDTH = Size<T>::TILE_COLUMNS };
    const int64_t block_depth = part_of(k, Size<T>::DEPTH, 1),
                  block_columns = part_of(n, Size<T>::BLOCK_COLUMNS, WIDTH);
    Scratch<T> panels(block_depth * block_columns);
    for (int64_t p = 0; p < k; p += block_depth, adds = true) {
        for (int64_t j = 0; j < n; j += block_columns) {
            Block<T> block = {b.from(p, j), smaller(block_depth, k - p), smaller(block_columns, n - j), panels.data,
                              true};
            parallel_for((block.width + WIDTH - 1) / WIDTH, 8, [&](int64_t begin, int64_t end) {
                block.pack(begin * WIDTH, smaller(end * WIDTH, block.width));
            });
            parallel_for((m + TILE_ROWS - 1) / TILE_ROWS, 1, [&](int64_t begin, int64_t end) {
                Scratch<T> panel(TILE_ROWS * Size<T>::A_ROW);
                for (int64_t i = begin * TILE_ROWS; i < smaller(end * TILE_ROWS, m); i += TILE_ROWS) {
                    const int64_t rows = smaller(TILE_ROWS, m - i);
                    strip_of<T>(rows, packed(panel.data, a.from(i, p), rows, block.depth), block, out.from(i, j), adds);
                }
            });
        }
    }
}

// Packing b pays if many rows are multiplied with it; packing a if many columns are, or if its columns are contiguous,
// because each element of a row would be on another page.
template <class T>
bool is_large(Matrix<const T> a, int64_t m, int64_t n, int64_t k) {
    enum { MANY = 128, LARGE_PRODUCT = 64000000 };
    return m * n * k > LARGE_PRODUCT && m >= MANY && (n >= MANY || a.column != 1);
}

}  // namespace

template <class T>
void matrix_product(Matrix<const T> a, Matrix<const T> b, Matrix<T> out, int64_t m, int64_t n, int64_t k, bool adds) {
    if (n == 1 && out.row == 1 && (a.row == 1 || a.column == 1)) {
        if (!adds) memset(out.data, 0, size_t(m) * sizeof(T));
        const bool is_short = m < Size<T>::LANES;
        return parallel_for(m, is_short ? m : 1 + SMALL_PART / k, [&](int64_t begin, int64_t end) {
            vector_product(a.from(begin, 0), b.data, b.row, out.data + begin, end - begin, k, is_short);
        });
    }
    if (m == 1 && (b.row == 1 || b.column == 1))
        return matrix_product(b.transposed(), a.transposed(), out.transposed(), n, m, k, adds);
    enum { WIDTH = Size<T>::TILE_COLUMNS };
    if (are_dots(a, b, m, (n + WIDTH - 1) / WIDTH * WIDTH, n, k))
        return parallel_for(m, 1 + SMALL_PART / (n * k), [&](int64_t begin, int64_t end) {
            dot_products(a.from(begin, 0), b, out.from(begin, 0), end - begin, n, k, adds);
        });
    if (is_large(a, m, n, k)) return large_product(a, b, out, m, n, k, adds);
    if (m >= n) {  // split the longer side between threads
        // Each part packs what it needs of b again, so it shall have some rows to multiply with that.
        const int64_t some = smaller(4 * TILE_ROWS, m / thread_count()), least = 1 + SMALL_PART / (n * k);
        parallel_for(m, some > least ? some : least, [&](int64_t begin, int64_t end) {
            small_product(a.from(begin, 0), b, out.from(begin, 0), end - begin, n, k, adds);
        });
    } else {
        parallel_for((n + WIDTH - 1) / WIDTH, 1 + SMALL_PART / (m * k * WIDTH), [&](int64_t begin, int64_t end) {
            const int64_t first = begin * WIDTH, columns = smaller(end * WIDTH, n) - first;
            small_product(a, b.from(0, first), out.from(0, first), m, columns, k, adds);
        });
    }
}

template void matrix_product(Matrix<const float>, Matrix<const float>, Matrix<float>, int64_t, int64_t, int64_t, bool);
template void matrix_product(Matrix<const double>, Matrix<const double>, Matrix<double>, int64_t, int64_t, int64_t,
                             bool);

template <class T>
void panel_product(Matrix<const T> a, Matrix<const T> panel, Matrix<T> out, int64_t m, int64_t columns, int64_t k,
                   bool adds, Pieces pieces) {
    const Block<T> block = {panel, k, columns, nullptr, false, pieces};
    const int64_t strips = (m + TILE_ROWS - 1) / TILE_ROWS, rows = (m + strips - 1) / strips;
    for (int64_t i = 0; i < m; i += rows) strip_of<T>(smaller(rows, m - i), a.from(i, 0), block, out.from(i, 0), adds);
}

template void panel_product(Matrix<const float>, Matrix<const float>, Matrix<float>, int64_t, int64_t, int64_t, bool,
                            Pieces);
template void panel_product(Matrix<const double>, Matrix<const double>, Matrix<double>, int64_t, int64_t, int64_t, bool,
                            Pieces);

namespace {

const int64_t TINY_PRODUCT = 32;  // multiplications that take less time than to prepare for tiles
const int64_t SHORT_DOT = 1024;   // of two vectors, in one part

template <class T>
void tiny_product(Matrix<const T> a, Matrix<const T> b, Matrix<T> out, int64_t m, int64_t n, int64_t k) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            T sum = 0;
            for (int64_t p = 0; p < k; p++) sum += a(i, p) * b(p, j);
            out(i, j) = sum;
        }
}

// A batch of dot products of few elements: those of many pairs side by side. Returns whether it is one.
template <class T>
bool short_dots(const Tensor& a, const Tensor& b, Tensor& out) {
    enum { FEW = 12, PAIRS = 64 };
    const int row = out.ndim - 2, column = row + 1;
    const int64_t k = a.shape[column], a_step = a.strides[column], b_step = b.strides[row];
    if (row == 0 || out.size == 0 || out.shape[row] * out.shape[column] != 1 || k == 0 || k > FEW) return false;
    Tensor batch[3] = {a, b, out};
    for (Tensor& tensor : batch) tensor.ndim = row, tensor.size = out.size;
    const Layout<3> layout = collapse<3>({&batch[0], &batch[1], &batch[2]});
    const int last = layout.ndim - 1;
    const int64_t n = layout.shape[last], pieces = (n + PAIRS - 1) / PAIRS;
    if (n > 1 && layout.strides[2][last] != 1) return false;
    const int64_t a_next = layout.strides[0][last], b_next = layout.strides[1][last];
    parallel_for(out.size / n * pieces, 1 + SMALL_PART / (smaller(n, PAIRS) * k), [&](int64_t begin, int64_t end) {
        Odometer<3> at(layout, last);
        at.seek(begin / pieces);
        for (int64_t piece = begin % pieces; begin < end; begin++) {
            const int64_t first = piece * PAIRS, count = smaller(PAIRS, n - first);
            const T* x = data_as<const T>(a) + at.offset[0] + first * a_next;
            const T* y = data_as<const T>(b) + at.offset[1] + first * b_next;
            T* to = data_as<T>(out) + at.offset[2] + first;
            T sums[PAIRS] = {};
            const auto add = [&](auto x_next, auto y_next) {
                for (int64_t p = 0; p < k; p++)
                    for (int64_t i = 0; i < count; i++)
                        sums[i] += x[p * a_step + i * x_next] * y[p * b_step + i * y_next];
            };
            if (a_next == 1 && b_next == 1)
                add(std::integral_constant<int64_t, 1>(), std::integral_constant<int64_t, 1>());
            else
                add(a_next, b_next);
            memcpy(to, sums, size_t(count) * sizeof(T));
            if (++piece == pieces) piece = 0, at.next();
        }
    });
    return true;
}

template <class T>
void fast_matmul(const Tensor& a, const Tensor& b, Tensor& out) {
    if (short_dots<T>(a, b, out)) return;
    for_each_product<T>(a, b, out,
                        [](Matrix<const T> a, Matrix<const T> b, Matrix<T> out, int64_t m, int64_t n, int64_t k) {
                            if (m * n == 1 && k <= SHORT_DOT && a.column == 1 && b.row == 1) {
                                out(0, 0) = dot(a.data, b.data, k);
                                return;
                            }
                            if (m * n * k <= TINY_PRODUCT) return tiny_product(a, b, out, m, n, k);
                            matrix_product(a, b, out, m, n, k, false);
                        });
}

}  // namespace

// out = a @ b. The definition serves dtypes that have no tiles.
void matmul_tensor_cpu(const Tensor& a, const Tensor& b, Tensor& out) {
    if (out.dtype == FLOAT32) return fast_matmul<float>(a, b, out);
    if (out.dtype == FLOAT64) return fast_matmul<double>(a, b, out);
    if (out.dtype == INT32) return fast_matmul<int32_t>(a, b, out);
    if (out.dtype == INT64) return fast_matmul<int64_t>(a, b, out);
    INTEGERS_IN_AVX2(out.dtype, matmul, a, b, out);
    naive_matmul_cpu(a, b, out);
}

// out = x @ weight.T + bias: the product is added to rows that hold the bias already.
void linear_tensor_cpu(const Tensor& x, const Tensor& weight, const Tensor* bias, Tensor& out) {
    for_real(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const int64_t m = out.shape[0], n = out.shape[1], k = x.shape[1];
        const Matrix<T> to = {data_as<T>(out), n, 1};
        if (bias) {
            const T* from = data_as<const T>(*bias);
            const int64_t step = bias->strides[0];
            for (int64_t i = 0; i < m; i++)
                for (int64_t j = 0; j < n; j++) to(i, j) = from[j * step];
        } else {
            memset(out.data, 0, size_t(m * n) * sizeof(T));
        }
        if (k == 0) return;
        const Matrix<const T> rows = {data_as<const T>(x), x.strides[0], x.strides[1]};
        const Matrix<const T> columns = {data_as<const T>(weight), weight.strides[1], weight.strides[0]};
        matrix_product(rows, columns, to, m, n, k, true);
    });
}

// The rows of a solution, each less its factors times those before it.
void substitute_tensor_cpu(const Tensor& triangles, Tensor& x, int64_t row, bool upper) {
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const int last = x.ndim - 1;
        const int64_t n = triangles.shape[last], columns = x.shape[last], height = x.shape[last - 1];
        const int64_t step = x.strides[last - 1];
        const T* factors = data_as<const T>(triangles);
        T* rows = data_as<T>(x) + row * step;
        for (int64_t done = 0; done < x.size; done += height * columns, factors += n * n, rows += height * step)
            for (int64_t k = 0; k < n; k++) {
                const int64_t i = upper ? n - 1 - k : k, from = upper ? i + 1 : 0;
                T* target = rows + i * step;
                for (int64_t j = from; j < from + k; j++)
                    INDEPENDENT for (int64_t c = 0; c < columns; c++) target[c] -=
                        factors[i * n + j] * rows[j * step + c];
                for (int64_t c = 0; c < columns; c++) target[c] /= factors[i * n + i];
            }
    });
}

}  // namespace NORCH_ISA
