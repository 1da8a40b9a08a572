// Triangles: LU of matrices on the CPU, the permutations that its pivots stand for, and what triangles solve.

#include <math.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "api.h"
#include "api/checks.h"
#include "dispatch.h"

constexpr int64_t PANEL = 32;  // columns that are eliminated before the rest of the matrix is multiplied

// A matrix in row order, and what its elimination finds.
template <class T>
struct Elimination {
    T* data;
    int64_t rows, columns;
    bool swaps;       // whether the largest element of a column becomes its pivot
    int32_t* pivots;  // the row, from 1, that each row was swapped with
    int32_t* info;    // the number, from 1, of the first pivot that is 0

    T* row(int64_t i) const { return data + i * columns; }

    // Gauss's elimination of columns first to last, in all rows: below the diagonal are then the factors.
    void panel(int64_t first, int64_t last) const {
        for (int64_t j = first; j < last; j++) {
            int64_t best = j;
            for (int64_t i = j + 1; swaps && i < rows; i++)
                if (fabs(row(i)[j]) > fabs(row(best)[j])) best = i;
            pivots[j] = int32_t(best + 1);
            if (best != j) std::swap_ranges(row(j), row(j) + columns, row(best));
            const T head = row(j)[j], divisor = head == 0 ? T(1) : head;
            if (head == 0 && !*info) *info = int32_t(j + 1);
            for (int64_t i = j + 1; i < rows; i++) {
                row(i)[j] /= divisor;
                take_away(i, j, j + 1, last);
            }
        }
    }
    // The rows of a panel, to the right of it: those above are taken away.
    void beside(int64_t first, int64_t last) const {
        for (int64_t i = first + 1; i < last; i++)
            for (int64_t j = first; j < i; j++) take_away(i, j, last, columns);
    }

private:
    // Row i less its factor times row j, between two columns
    void take_away(int64_t i, int64_t j, int64_t from, int64_t to) const {
        const T factor = row(i)[j], *other = row(j);
        T* target = row(i);
        for (int64_t k = from; k < to; k++) target[k] -= factor * other[k];
    }
};

// A part of a matrix, as a view on the stack
static Tensor block(const Tensor& matrix, int64_t row, int64_t rows, int64_t column, int64_t columns) {
    Tensor part = matrix;
    move_on(part, row * matrix.strides[0] + column * matrix.strides[1]);
    part.shape[0] = rows, part.shape[1] = columns, part.size = rows * columns;
    return part;
}

template <class T>
static void factor(const Tensor& matrix, const Elimination<T>& steps) {
    const int64_t rows = steps.rows, columns = steps.columns, size = std::min(rows, columns);
    for (int64_t first = 0; first < size; first += PANEL) {
        const int64_t last = std::min(first + PANEL, size), width = last - first;
        steps.panel(first, last);
        if (last == columns) continue;
        steps.beside(first, last);
        if (last == rows) continue;
        Tensor left = block(matrix, last, rows - last, first, width),
               above = block(matrix, first, width, last, columns - last);
        Tensor rest = block(matrix, last, rows - last, last, columns - last);
        const Owned product = taken(matmul_tensor(&left, &above));
        done(sub_into(&rest, &rest, product.tensor));
    }
}

Results* lu_tensor(Tensor* tensor, int32_t swaps) {
    return build_several<3>([&](Tensor** results) {
        refuse_recording("a matrix is factored on the host");
        const Tensor& x = *tensor;
        const int batch = x.ndim - 2;
        const int64_t rows = x.shape[batch], columns = x.shape[batch + 1], size = std::min(rows, columns);
        int64_t shape[MAX_DIMS];
        std::copy_n(x.shape, batch, shape);
        shape[batch] = size;
        Owned whole = new_tensor(x.shape, x.ndim, x.dtype, x.device);
        Owned pivots = new_tensor(shape, batch + 1, INT32, x.device), info = new_tensor(shape, batch, INT32, x.device);
        if (x.size) assign(x, *whole);
        fill(*info, 0);
        for_real(x.dtype, [&](auto type) {
            using T = typename decltype(type)::type;
            Tensor matrix = *whole;
            matrix.ndim = 2, matrix.size = rows * columns;
            matrix.shape[0] = rows, matrix.shape[1] = columns, matrix.strides[0] = columns, matrix.strides[1] = 1;
            for (int64_t k = 0; k < info->size; k++) {
                factor(matrix, Elimination<T>{static_cast<T*>(matrix.data), rows, columns, swaps != 0,
                                              static_cast<int32_t*>(pivots->data) + k * size,
                                              static_cast<int32_t*>(info->data) + k});
                move_on(matrix, rows * columns);
            }
        });
        give_all(results, whole, pivots, info);
    });
}

Tensor* permutation_of_pivots(Tensor* tensor, int64_t rows, int32_t dtype) {
    return build([&] {
        refuse_recording("pivots are read on the host");
        const Owned pivots = contiguous(*tensor);
        const int last = pivots->ndim - 1;
        const int64_t size = pivots->shape[last], count = size ? pivots->size / size : 0;
        if (size > rows) fail(RUNTIME_ERROR, "linalg.lu: expected at most {} pivots, got {}", rows, size);
        int64_t shape[MAX_DIMS];
        std::copy_n(pivots->shape, last, shape);
        shape[last] = shape[last + 1] = rows;
        Owned result = new_tensor(shape, last + 2, dtype, pivots->device);
        fill(*result, 0);
        std::vector<int64_t> order(rows);
        for_real(dtype, [&](auto type) {
            using T = typename decltype(type)::type;
            T* matrix = static_cast<T*>(result->data);
            const int32_t* swaps = static_cast<const int32_t*>(pivots->data);
            for (int64_t k = 0; k < count; k++, matrix += rows * rows, swaps += size) {
                std::iota(order.begin(), order.end(), 0);
                for (int64_t j = 0; j < size; j++) {
                    if (swaps[j] < 1 || swaps[j] > rows)
                        fail(RUNTIME_ERROR, "linalg.lu: expected pivots from 1 to {}, got {}", rows, int64_t(swaps[j]));
                    std::swap(order[j], order[swaps[j] - 1]);
                }
                for (int64_t j = 0; j < rows; j++) matrix[order[j] * rows + j] = 1;
            }
        });
        return result;
    });
}

// ---- Substitution ------------------------------------------------------------------------------------------------

// A panel of rows after the other, from the last on if the triangle is upper: what is known is taken away from it, and
// it is solved for.
Tensor* substitute_tensor(Tensor* triangle, Tensor* sides, int32_t upper) {
    return build([&] {
        Owned x = new_tensor(sides->shape, sides->ndim, sides->dtype, sides->device);
        if (x->size) assign(*sides, *x);
        const int row = x->ndim - 2;
        const int64_t n = x->size ? x->shape[row] : 0;
        for (int64_t k = 0; k < n; k += PANEL) {
            const int64_t width = std::min(PANEL, n - k), i = upper ? n - k - width : k, from = upper ? i + width : 0;
            const Owned line = taken(slice_tensor(triangle, row, i, width, 1));
            if (k) {
                const Owned target = taken(slice_tensor(x.tensor, row, i, width, 1)),
                            known = taken(slice_tensor(x.tensor, row, from, k, 1)),
                            factors = taken(slice_tensor(line.tensor, row + 1, from, k, 1));
                const Owned product = taken(matmul_tensor(factors.tensor, known.tensor));
                done(sub_into(target.tensor, target.tensor, product.tensor));
            }
            const Owned square = taken(slice_tensor(line.tensor, row + 1, i, width, 1)), rows = contiguous(*square);
            kernels::substitute.launch(x->device, *rows, *x, i, upper != 0);
        }
        return x;
    });
}
