// What the factorizations of matrices on the host share (factorizations.cpp, qr.cpp, spectra.cpp).

#pragma once
#include <cmath>

#include <algorithm>
#include <limits>

#include "api.h"
#include "api/checks.h"
#include "dispatch.h"

constexpr int64_t PANEL = 32;  // columns that are eliminated before the rest of the matrix is multiplied

// A part of matrices [..., m, n], as a view on the stack
inline Tensor block(const Tensor& matrices, int64_t row, int64_t rows, int64_t column, int64_t columns) {
    Tensor part = matrices;
    const int at = part.ndim - 2;
    move_on(part, row * part.strides[at] + column * part.strides[at + 1]);
    part.shape[at] = rows, part.shape[at + 1] = columns, part.size = rows * columns;
    for (int d = 0; d < at; d++) part.size *= part.shape[d];
    return part;
}

// A copy of matrices in row order. Calls f(matrix, k) for each, a view of two dimensions.
template <class F>
Owned for_each_matrix(const Tensor& x, F f) {
    const int batch = x.ndim - 2;
    Owned whole = new_tensor(x.shape, x.ndim, x.dtype, x.device);
    if (x.size == 0) return whole;
    assign(x, *whole);
    Tensor matrix = *whole;
    const int64_t rows = x.shape[batch], columns = x.shape[batch + 1], count = x.size / (rows * columns);
    matrix.ndim = 2, matrix.size = rows * columns;
    matrix.shape[0] = rows, matrix.shape[1] = columns, matrix.strides[0] = columns, matrix.strides[1] = 1;
    for (int64_t k = 0; k < count; k++, move_on(matrix, rows * columns)) f(matrix, k);
    return whole;
}

// The sum of x[i] * y[i], in as many sums as a vector has elements.
template <class Sum, class T>
Sum dot(const T* x, const T* y, int64_t n) {
    enum { SUMS = 8 };
    Sum sums[SUMS] = {}, total = 0;
    int64_t i = 0;
    for (; i + SUMS <= n; i += SUMS)
        for (int k = 0; k < SUMS; k++) sums[k] += Sum(x[i + k]) * Sum(y[i + k]);
    for (; i < n; i++) total += Sum(x[i]) * Sum(y[i]);
    for (Sum sum : sums) total += sum;
    return total;
}

// Turns a column x[n] into the reflection that leaves only its first element: v, whose first element is 1, below that.
template <class T>
T reflection_of(T* x, int64_t n) {
    T largest = 0;
    for (int64_t i = 1; i < n; i++)
        if (const T size = std::abs(x[i]); !(size <= largest)) largest = size;
    if (largest == 0) return 0;
    // No square may overflow or be lost.
    using Limits = std::numeric_limits<T>;
    static const T least = std::sqrt(Limits::min()) / Limits::epsilon();
    const T most = std::max(largest, std::abs(x[0]));
    const T up = most < least || most > 1 / least ? 1 / std::max(most, Limits::min()) : 1;
    for (int64_t i = 0; i < n && up != 1; i++) x[i] *= up;
    const T head = x[0], length = T(std::hypot(double(head), std::sqrt(dot<double>(x + 1, x + 1, n - 1)))),
            corner = head > 0 ? -length : length, scale = 1 / (head - corner);
    x[0] = corner / up;
    for (int64_t i = 1; i < n; i++) x[i] *= scale;
    return (corner - head) / corner;
}
