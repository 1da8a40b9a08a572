// The matrix product of cpu/matmul.cpp, for kernels that are made of products.

#pragma once
#include <stdint.h>

#include "cpu/loops/simd.h"

inline namespace NORCH_ISA {

// The rows and vectors of out that are computed at once, in registers.
#if defined(__AVX512F__)
enum { TILE_ROWS = 12, TILE_VECTORS = 2 };
#elif defined(__AVX2__)
enum { TILE_ROWS = 6, TILE_VECTORS = 2 };
#elif defined(__aarch64__)
enum { TILE_ROWS = 8, TILE_VECTORS = 3 };
#else
enum { TILE_ROWS = 4, TILE_VECTORS = 2 };
#endif

// Element (i, j) is data[i * row + j * column].
template <class T>
struct Matrix {
    T* data;
    int64_t row, column;
    T& operator()(int64_t i, int64_t j) const { return data[i * row + j * column]; }
    Matrix from(int64_t i, int64_t j) const { return {&(*this)(i, j), row, column}; }
    Matrix transposed() const { return {data, column, row}; }
};

// out = a @ b, or out += a @ b if `adds`, for a [m, k], b [k, n] and an out [m, n] whose rows are contiguous; no size
// is 0. T is float or double.
template <class T>
void matrix_product(Matrix<const T> a, Matrix<const T> b, Matrix<T> out, int64_t m, int64_t n, int64_t k, bool adds);

// Parts of the columns of a that do not follow on each other: the first columns of two are `apart` elements apart.
struct Pieces {
    int64_t count, apart;
};

// The same for a b [k, columns] of at most PANEL_COLUMNS columns, whose rows may be read up to that width. With pieces, a
// has so many of k columns, and b as many rows.
template <class T>
constexpr int64_t PANEL_COLUMNS = VECTOR_BYTES / sizeof(T) * TILE_VECTORS;

template <class T>
void panel_product(Matrix<const T> a, Matrix<const T> panel, Matrix<T> out, int64_t m, int64_t columns, int64_t k,
                   bool adds, Pieces pieces = {1, 0});

}  // namespace NORCH_ISA
