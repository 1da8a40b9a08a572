// Triangles: LU and Cholesky's of matrices on the CPU, the permutations that pivots stand for, and what triangles solve.

#include <cmath>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "api.h"
#include "api/checks.h"
#include "api/matrices.h"
#include "dispatch.h"

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
        Owned whole, pivots = new_tensor(shape, batch + 1, INT32, x.device),
                     info = new_tensor(shape, batch, INT32, x.device);
        fill(*info, 0);
        for_real(x.dtype, [&](auto type) {
            using T = typename decltype(type)::type;
            whole = for_each_matrix(x, [&](const Tensor& matrix, int64_t k) {
                factor(matrix, Elimination<T>{static_cast<T*>(matrix.data), rows, columns, swaps != 0,
                                              static_cast<int32_t*>(pivots->data) + k * size,
                                              static_cast<int32_t*>(info->data) + k});
            });
        });
        give_all(results, whole, pivots, info);
    });
}

// ---- Equations ---------------------------------------------------------------------------------------------------

// x[n][k] = the solution of L U x = P x, for what `Elimination` made of a matrix.
template <class T>
static void solve_factored(const Elimination<T>& lu, T* x, int64_t k) {
    const int64_t n = lu.rows;
    auto take_away = [=](int64_t i, int64_t j) {
        const T factor = lu.row(i)[j], *other = x + j * k;
        T* target = x + i * k;
        for (int64_t c = 0; c < k; c++) target[c] -= factor * other[c];
    };
    for (int64_t i = 0; i < n; i++)
        if (const int64_t other = lu.pivots[i] - 1; other != i)
            std::swap_ranges(x + i * k, x + (i + 1) * k, x + other * k);
    for (int64_t i = 1; i < n; i++)
        for (int64_t j = 0; j < i; j++) take_away(i, j);
    for (int64_t i = n - 1; i >= 0; i--) {
        for (int64_t j = i + 1; j < n; j++) take_away(i, j);
        for (int64_t c = 0; c < k; c++) x[i * k + c] /= lu.row(i)[i];
    }
}

Results* solve_tensor(Tensor* tensor, Tensor* sides) {
    return build_several<2>([&](Tensor** results) {
        refuse_recording("equations are solved on the host");
        const int batch = tensor->ndim - 2;
        const int64_t n = tensor->shape[batch], k = sides->shape[batch + 1];
        Owned x = new_tensor(sides->shape, sides->ndim, sides->dtype, sides->device);
        Owned info = new_tensor(tensor->shape, batch, INT32, tensor->device);
        if (x->size) assign(*sides, *x);
        fill(*info, 0);
        std::vector<int32_t> pivots(n);
        for_real(tensor->dtype, [&](auto type) {
            using T = typename decltype(type)::type;
            for_each_matrix(*tensor, [&](const Tensor& matrix, int64_t number) {
                const Elimination<T> lu = {static_cast<T*>(matrix.data),
                                           n,
                                           n,
                                           true,
                                           pivots.data(),
                                           static_cast<int32_t*>(info->data) + number};
                factor(matrix, lu);
                if (!*lu.info) solve_factored(lu, static_cast<T*>(x->data) + number * n * k, k);
            });
        });
        give_all(results, x, info);
    });
}

Results* det_tensor(Tensor* tensor) {
    return build_several<3>([&](Tensor** results) {
        refuse_recording("a matrix is factored on the host");
        const int batch = tensor->ndim - 2;
        const int64_t n = tensor->shape[batch];
        auto of_matrices = [&] { return new_tensor(tensor->shape, batch, tensor->dtype, tensor->device); };
        Owned det = of_matrices(), sign = of_matrices(), logarithm = of_matrices();
        for (Tensor* one : {det.tensor, sign.tensor}) fill(*one, 1);  // those of a matrix without elements
        fill(*logarithm, 0);
        std::vector<int32_t> pivots(n);
        for_real(tensor->dtype, [&](auto type) {
            using T = typename decltype(type)::type;
            for_each_matrix(*tensor, [&](const Tensor& matrix, int64_t number) {
                int32_t info = 0;
                const Elimination<T> lu = {static_cast<T*>(matrix.data), n, n, true, pivots.data(), &info};
                // A NaN may stand beside a pivot of 0.
                const bool is_nan = std::any_of(lu.data, lu.data + n * n, [](T x) { return std::isnan(x); });
                factor(matrix, lu);
                double product = 1, turns = 1, sum = 0;
                for (int64_t i = 0; i < n; i++) {
                    const double pivot = lu.row(i)[i];
                    if ((pivots[i] != i + 1) != (pivot < 0)) turns = -turns;
                    product *= std::abs(pivot), sum += std::log(std::abs(pivot));
                }
                if (!std::isnormal(product) && !info) product = std::exp(sum);  // where only a part of it overflows
                static_cast<T*>(det->data)[number] = T(is_nan ? NAN : turns * product);
                static_cast<T*>(sign->data)[number] = T(info ? 0 : turns);
                static_cast<T*>(logarithm->data)[number] = T(is_nan ? NAN : sum);
            });
        });
        give_all(results, det, sign, logarithm);
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

// ---- Cholesky ----------------------------------------------------------------------------------------------------

// Columns first to last of L, from which those before were taken away: row by row, each in double precision. The
// number, from 1, of a pivot that is not positive, or 0.
template <class T>
static int32_t cholesky_panel(T* a, int64_t n, int64_t first, int64_t last) {
    double columns[PANEL][PANEL], roots[PANEL], row[PANEL];  // columns[j][k] is L[k][j]
    for (int64_t i = first; i < n; i++) {
        T* line = a + i * n + first;
        const int64_t own = i - first, width = std::min(own, last - first);
        std::copy_n(line, std::min(own + 1, last - first), row);
        for (int64_t j = 0; j < width; j++) {
            const T factor = line[j] = T(row[j] / roots[j]);
            if (i < last) columns[j][own] = factor;
            for (int64_t k = j + 1; k < std::min(own + 1, last - first); k++) row[k] -= factor * columns[j][k];
        }
        if (i >= last) continue;
        if (!(row[own] > 0)) return int32_t(i + 1);
        roots[own] = line[own] = T(std::sqrt(row[own]));
    }
    return 0;
}

// The lower triangle becomes L, and what is above it 0.
template <class T>
static int32_t factor_positive(const Tensor& matrix) {
    enum { WIDTH = 4 * PANEL };  // columns that are multiplied at once: little more than the triangle
    const int64_t n = matrix.shape[0];
    T* a = static_cast<T*>(matrix.data);
    for (int64_t i = 0; i < n; i++) std::fill(a + i * n + i + 1, a + (i + 1) * n, T(0));
    for (int64_t first = 0; first < n; first += PANEL) {
        const int64_t last = std::min(first + PANEL, n);
        if (const int32_t failed = cholesky_panel(a, n, first, last)) return failed;
        for (int64_t from = last; from < n; from += WIDTH) {
            const int64_t width = std::min<int64_t>(WIDTH, n - from);
            Tensor rest = block(matrix, from, n - from, from, width);
            Tensor rows = block(matrix, from, n - from, first, last - first),
                   columns = transposed(block(matrix, from, width, first, last - first));
            const Owned product = taken(matmul_tensor(&rows, &columns));
            done(sub_into(&rest, &rest, product.tensor));
        }
    }
    for (int64_t i = 0; i < n; i++) std::fill(a + i * n + i + 1, a + (i + 1) * n, T(0));  // what products wrote
    return 0;
}

Results* cholesky_tensor(Tensor* tensor) {
    return build_several<2>([&](Tensor** results) {
        refuse_recording("a matrix is factored on the host");
        Owned lower, info = new_tensor(tensor->shape, tensor->ndim - 2, INT32, tensor->device);
        fill(*info, 0);
        for_real(tensor->dtype, [&](auto type) {
            lower = for_each_matrix(*tensor, [&](const Tensor& matrix, int64_t k) {
                static_cast<int32_t*>(info->data)[k] = factor_positive<typename decltype(type)::type>(matrix);
            });
        });
        give_all(results, lower, info);
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
