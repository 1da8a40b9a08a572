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

    // Gauss's elimination of columns first to last, in all rows: below the diagonal are then the factors. Meanwhile the
    // columns stand one after the other.
    void panel(int64_t first, int64_t last) const {
        const int64_t height = rows - first, width = last - first;
        const Scratch<T> copy(width * height);
        auto column = [&](int64_t j) { return copy.data + j * height; };
        for (int64_t i = 0; i < height; i++)
            for (int64_t j = 0; j < width; j++) column(j)[i] = row(first + i)[first + j];
        for (int64_t j = 0; j < width; j++) {
            T* own = column(j);
            int64_t best = j;
            for (int64_t i = j + 1; swaps && i < height; i++)
                if (fabs(own[i]) > fabs(own[best])) best = i;
            pivots[first + j] = int32_t(first + best + 1);
            if (best != j) std::swap_ranges(row(first + j), row(first + j) + columns, row(first + best));
            for (int64_t k = 0; best != j && k < width; k++) std::swap(column(k)[j], column(k)[best]);
            const T head = own[j], divisor = head == 0 ? T(1) : head;
            if (head == 0 && !*info) *info = int32_t(first + j + 1);
            for (int64_t i = j + 1; i < height; i++) own[i] /= divisor;
            for (int64_t k = j + 1; k < width; k++) {
                T *target = column(k), factor = target[j];
                for (int64_t i = j + 1; i < height; i++) target[i] -= factor * own[i];
            }
        }
        for (int64_t i = 0; i < height; i++)
            for (int64_t j = 0; j < width; j++) row(first + i)[first + j] = column(j)[i];
    }
};

// x -= a @ b
static void take_product(Tensor x, Tensor a, Tensor b) {
    const Owned product = taken(matmul_tensor(&a, &b));
    done(sub_into(&x, &x, product.tensor));
}

// x = triangle^-1 x in some rows, by halves: one is solved for and taken away from the other. The diagonal of a `unit`
// triangle is not read.
static void substitute(const Tensor& triangle, Tensor& x, int64_t row, int64_t rows, bool upper, bool unit) {
    const int64_t half = rows / 2, columns = x.shape[x.ndim - 1];
    if (rows > PANEL) {
        const int64_t first = upper ? row + half : row, second = upper ? row : row + half,
                      height = upper ? rows - half : half, rest = rows - height;
        substitute(triangle, x, first, height, upper, unit);
        take_product(block(x, second, rest, 0, columns), block(triangle, second, rest, first, height),
                     block(x, first, height, 0, columns));
        return substitute(triangle, x, second, rest, upper, unit);
    }
    const Tensor part = block(triangle, row, rows, row, rows);
    const Owned square = unit ? new_tensor(part.shape, part.ndim, part.dtype, part.device) : contiguous(part);
    if (unit) {
        assign(part, *square);
        Tensor diagonal = block(*square, 0, rows, 0, 1);
        diagonal.strides[part.ndim - 2] = rows + 1;
        fill(diagonal, 1);
    }
    kernels::substitute.launch(x.device, *square, x, row, upper);
}

// Columns first to last are eliminated by halves: what the left one found is taken away from the right one at once.
template <class T>
static void factor(const Tensor& matrix, const Elimination<T>& steps, int64_t first, int64_t last) {
    enum { NARROW = 8 };
    if (last - first <= NARROW) return steps.panel(first, last);
    const int64_t middle = (first + last) / 2, left = middle - first, right = last - middle;
    factor(matrix, steps, first, middle);
    Tensor above = block(matrix, first, left, middle, right);
    substitute(block(matrix, first, left, first, left), above, 0, left, false, true);
    take_product(block(matrix, middle, steps.rows - middle, middle, right),
                 block(matrix, middle, steps.rows - middle, first, left), above);
    factor(matrix, steps, middle, last);
}

template <class T>
static void factor(const Tensor& matrix, const Elimination<T>& steps) {
    const int64_t columns = steps.columns, size = std::min(steps.rows, columns);
    factor(matrix, steps, 0, size);
    if (size == columns) return;
    Tensor beside = block(matrix, 0, size, size, columns - size);
    substitute(matrix, beside, 0, size, false, true);
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

// x = the solution of L U x = P x, for what `Elimination` made of a matrix.
template <class T>
static void solve_factored(const Tensor& matrix, const Elimination<T>& lu, Tensor& x) {
    T* data = static_cast<T*>(x.data);
    const int64_t columns = x.shape[1];
    for (int64_t i = 0; i < lu.rows; i++)
        if (const int64_t other = lu.pivots[i] - 1; other != i)
            std::swap_ranges(data + i * columns, data + (i + 1) * columns, data + other * columns);
    substitute(matrix, x, 0, lu.rows, false, true);
    substitute(matrix, x, 0, lu.rows, true, false);
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
                Tensor part = *x;
                part.ndim = 2, part.size = n * k;
                part.shape[0] = n, part.shape[1] = part.strides[0] = k, part.strides[1] = 1;
                move_on(part, number * n * k);
                if (!*lu.info && k) solve_factored(matrix, lu, part);
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
        const int64_t size = pivots->shape[last];
        if (size > rows) fail(RUNTIME_ERROR, "linalg.lu: expected at most {} pivots, got {}", rows, size);
        int64_t shape[MAX_DIMS];
        std::copy_n(pivots->shape, last, shape);
        shape[last] = shape[last + 1] = rows;
        Owned result = new_tensor(shape, last + 2, dtype, pivots->device);
        fill(*result, 0);
        const int64_t count = rows ? result->size / (rows * rows) : 0;  // of matrices without columns, too
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

// Columns first to last by halves, as in `factor`.
template <class T>
static int32_t factor_positive(const Tensor& matrix, int64_t first, int64_t last) {
    enum { WIDTH = 4 * PANEL };  // columns that are multiplied at once: little more than the triangle
    const int64_t n = matrix.shape[0], middle = (first + last) / 2, left = middle - first;
    if (last - first <= PANEL) return cholesky_panel(static_cast<T*>(matrix.data), n, first, last);
    if (const int32_t failed = factor_positive<T>(matrix, first, middle)) return failed;
    for (int64_t from = middle; from < last; from += WIDTH) {
        const int64_t width = std::min<int64_t>(WIDTH, last - from);
        take_product(block(matrix, from, n - from, from, width), block(matrix, from, n - from, first, left),
                     transposed(block(matrix, from, width, first, left)));
    }
    return factor_positive<T>(matrix, middle, last);
}

// The lower triangle becomes L, and what is above it 0.
template <class T>
static int32_t factor_positive(const Tensor& matrix) {
    const int64_t n = matrix.shape[0];
    T* a = static_cast<T*>(matrix.data);
    auto clear = [=] {
        for (int64_t i = 0; i < n; i++) std::fill(a + i * n + i + 1, a + (i + 1) * n, T(0));
    };
    clear();
    const int32_t failed = factor_positive<T>(matrix, 0, n);
    clear();  // what products wrote
    return failed;
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

Tensor* substitute_tensor(Tensor* triangle, Tensor* sides, int32_t upper) {
    return build([&] {
        Owned x = new_tensor(sides->shape, sides->ndim, sides->dtype, sides->device);
        if (x->size == 0) return x;
        assign(*sides, *x);
        substitute(*triangle, *x, 0, x->shape[x->ndim - 2], upper != 0, false);
        return x;
    });
}
