// The matrix product of cpu/matmul.cpp, for kernels that are made of products.

#pragma once
#include <stdint.h>

#include "host/instruction_sets.h"

inline namespace NORCH_ISA {

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

}  // namespace NORCH_ISA
