// Dot products in vectors: of two rows, or of all pairs of a few rows of one matrix and a few columns of another.

#pragma once
#include <string.h>

#include "cpu/loops/lanes.h"
#include "cpu/loops/matrix_product.h"

inline namespace NORCH_ISA {
namespace {

template <class T>
struct Simd {  // wherever its elements lie
    typedef T Vector __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(T)), may_alias));
};
template <class T>
inline const typename Simd<T>::Vector& vector_at(const T* x) {
    return *reinterpret_cast<const typename Simd<T>::Vector*>(x);
}
template <class T>
inline T sum_of(const typename Simd<T>::Vector& vector) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    T lanes[LANES];
    memcpy(lanes, &vector, sizeof lanes);
    return fold<LANES>(lanes, [](T a, T b) { return a + b; });
}

// The sum of x[p] * y[p]. Four sums at a time, as each addition waits for the one before.
template <class T>
T dot(const T* x, const T* y, int64_t n) {
    enum { LANES = VECTOR_BYTES / sizeof(T), SUMS = 4 };
    T lanes[LANES];
    if (n < LANES) {
        for_lanes<LANES>(lanes, [=](T, int j) { return j < int(n) ? x[j] * y[j] : T(0); });
        return fold<LANES>(lanes, [](T a, T b) { return a + b; });
    }
    typename Simd<T>::Vector sums[SUMS] = {};
    int64_t p = 0;
    for (; p + SUMS * LANES <= n; p += SUMS * LANES)
        UNROLL for (int v = 0; v < SUMS; v++) sums[v] += vector_at(x + p + v * LANES) * vector_at(y + p + v * LANES);
    for (; p + LANES <= n; p += LANES) sums[0] += vector_at(x + p) * vector_at(y + p);
    sums[0] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    const int left = int(n - p);
    if (left == 0) return sum_of<T>(sums[0]);
    memcpy(lanes, &sums[0], sizeof lanes);
    for_lanes<LANES>(lanes, [=](T lane, int j) { return lane + (j < left ? x[p + j] * y[p + j] : T(0)); });
    return fold<LANES>(lanes, [](T a, T b) { return a + b; });
}

// ---- Pairs of rows and columns -----------------------------------------------------------------------------------

#ifdef __AVX512F__
enum { DOT_ROWS = 4, DOT_COLUMNS = 4 };  // whose sums are kept in registers
#else
enum { DOT_ROWS = 2, DOT_COLUMNS = 4 };
#endif

// Whether to take all dot products of rows of a with columns of b is sooner done than to pack b, of `packed` columns then,
// and to multiply in tiles. In elements; the sum of a vector takes as long as some ten.
template <class T>
bool are_dots(Matrix<const T> a, Matrix<const T> b, int64_t m, int64_t packed, int64_t n, int64_t k) {
    enum { LANES = VECTOR_BYTES / sizeof(T), PACKING = 8, SUMMING = 10 };
    if (a.column != 1 || b.row != 1 || k < LANES) return false;
    const int64_t dots =
        ((m + DOT_ROWS - 1) / DOT_ROWS * DOT_ROWS) * ((n + DOT_COLUMNS - 1) / DOT_COLUMNS * DOT_COLUMNS);
    return dots * (k + k / 3 + SUMMING * LANES) < (m + PACKING) * packed * k;
}

// out[rows x columns] += a @ b, at most DOT_ROWS x DOT_COLUMNS. What is missing is computed from the last row or column.
template <class T>
void dot_tile(Matrix<const T> a, Matrix<const T> b, Matrix<T> out, int64_t rows, int64_t columns, int64_t k) {
    using Vector = typename Simd<T>::Vector;
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    const T *left[DOT_ROWS], *right[DOT_COLUMNS];
    for (int i = 0; i < DOT_ROWS; i++) left[i] = &a(smaller(i, rows - 1), 0);
    for (int j = 0; j < DOT_COLUMNS; j++) right[j] = &b(0, smaller(j, columns - 1));
    Vector sums[DOT_ROWS][DOT_COLUMNS] = {};
    auto add = [&](int64_t p) __attribute__((always_inline)) {
        Vector y[DOT_COLUMNS];
        UNROLL for (int j = 0; j < DOT_COLUMNS; j++) y[j] = vector_at(right[j] + p);
        UNROLL for (int i = 0; i < DOT_ROWS; i++) {
            const Vector x = vector_at(left[i] + p);
            UNROLL for (int j = 0; j < DOT_COLUMNS; j++) sums[i][j] += x * y[j];
        }
    };
    int64_t p = 0;
    for (; p + LANES <= k; p += LANES) add(p);
    if (p < k) {  // the last elements, before zeros
        T ends[DOT_ROWS + DOT_COLUMNS][LANES] = {};
        auto end_of = [&](const T* line, int at) {
            memcpy(ends[at], line + p, size_t(k - p) * sizeof(T));
            return ends[at];
        };
        for (int i = 0; i < DOT_ROWS; i++) left[i] = end_of(left[i], i);
        for (int j = 0; j < DOT_COLUMNS; j++) right[j] = end_of(right[j], DOT_ROWS + j);
        add(0);
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) out(i, j) += sum_of<T>(sums[i][j]);
}

template <class T>
void dot_products(Matrix<const T> a, Matrix<const T> b, Matrix<T> out, int64_t m, int64_t n, int64_t k, bool adds) {
    enum { DEPTH = 2048 };  // of k, whose rows and columns stay in the first cache
    for (int64_t i = 0; i < m && !adds; i++) memset(&out(i, 0), 0, size_t(n) * sizeof(T));
    for (int64_t p = 0; p < k; p += DEPTH)
        for (int64_t i = 0; i < m; i += DOT_ROWS)
            for (int64_t j = 0; j < n; j += DOT_COLUMNS)
                dot_tile(a.from(i, p), b.from(p, j), out.from(i, j), smaller(DOT_ROWS, m - i),
                         smaller(DOT_COLUMNS, n - j), smaller(DEPTH, k - p));
}

}  // namespace
}  // namespace NORCH_ISA
