// QR of matrices on the CPU, by Householder's reflections 1 - tau v v^T, and least squares by it.

#include <cmath>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "api.h"
#include "api/checks.h"
#include "api/matrices.h"
#include "dispatch.h"

// Columns first to last: v below the diagonal, where it is 1, and R on and above it.
template <class T>
static void reflect_panel(T* a, int64_t rows, int64_t n, int64_t first, int64_t last, T* tau) {
    const int64_t height = rows - first, width = last - first;
    std::vector<T> columns(height * width);
    for (int64_t i = 0; i < height; i++)
        for (int64_t k = 0; k < width; k++) columns[k * height + i] = a[(first + i) * n + first + k];
    for (int64_t j = 0; j < width; j++) {
        T* v = columns.data() + j * height + j;
        const T factor = tau[first + j] = reflection_of(v, height - j);
        for (int64_t k = j + 1; k < width && factor != 0; k++) {
            T* x = columns.data() + k * height + j;
            const T sum = factor * (x[0] + dot<T>(v + 1, x + 1, height - j - 1));
            x[0] -= sum;
            for (int64_t i = 1; i < height - j; i++) x[i] -= v[i] * sum;
        }
    }
    for (int64_t i = 0; i < height; i++)
        for (int64_t k = 0; k < width; k++) a[(first + i) * n + first + k] = columns[k * height + i];
}

// target = (1 - V F V^T) target for the reflections of columns first to last, F upper triangular: their product, or, if
// `reversed`, that of the reversed order.
template <class T>
static void reflect(const Tensor& matrix, int64_t first, int64_t last, const T* tau, Tensor& target, bool reversed) {
    const int64_t width = last - first, rows = matrix.shape[0] - first, n = matrix.strides[0];
    const int64_t shape[] = {rows, width}, square[] = {width, width};
    Owned vectors = new_tensor(shape, 2, matrix.dtype, CPU), factors = new_tensor(square, 2, matrix.dtype, CPU);
    const T* a = static_cast<const T*>(matrix.data) + first * n + first;
    T *v = static_cast<T*>(vectors->data), *f = static_cast<T*>(factors->data);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < width; j++) v[i * width + j] = i > j ? a[i * n + j] : T(i == j);
    Tensor across = transposed(*vectors);
    const Owned products = taken(matmul_tensor(&across, vectors.tensor));
    const T* g = static_cast<const T*>(products->data);
    fill(*factors, 0);
    for (int64_t j = 0; j < width; j++) {
        f[j * width + j] = tau[first + j];
        for (int64_t i = 0; i < j; i++) {
            T sum = 0;
            for (int64_t k = i; k < j; k++) sum += f[i * width + k] * g[k * width + j];
            f[i * width + j] = -tau[first + j] * sum;
        }
    }
    Tensor order = reversed ? transposed(*factors) : *factors;
    Owned change = taken(matmul_tensor(&across, &target));
    change = taken(matmul_tensor(&order, change.tensor));
    change = taken(matmul_tensor(vectors.tensor, change.tensor));
    done(sub_into(&target, &target, change.tensor));
}

// Reflects the first columns of matrices on and below their diagonals, and the other columns with them. Gives that and
// the factors tau [..., columns].
static std::pair<Owned, Owned> reflected(const Tensor& x, int64_t size) {
    refuse_recording("a matrix is factored on the host");
    const int batch = x.ndim - 2;
    const int64_t rows = x.shape[batch], columns = x.shape[batch + 1];
    int64_t shape[MAX_DIMS];
    std::copy_n(x.shape, batch, shape);
    shape[batch] = size;
    Owned whole, taus = new_tensor(shape, batch + 1, x.dtype, x.device);
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        whole = for_each_matrix(x, [&](const Tensor& matrix, int64_t k) {
            T* tau = static_cast<T*>(taus->data) + k * size;
            for (int64_t first = 0; first < size; first += PANEL) {
                const int64_t last = std::min(first + PANEL, size);
                reflect_panel(static_cast<T*>(matrix.data), rows, columns, first, last, tau);
                if (last == columns) continue;
                Tensor rest = block(matrix, first, rows - first, last, columns - last);
                reflect(matrix, first, last, tau, rest, true);
            }
        });
    });
    return {std::move(whole), std::move(taus)};
}

Results* geqrf_tensor(Tensor* tensor) {
    return build_several<2>([&](Tensor** results) {
        const int64_t *shape = tensor->shape + tensor->ndim - 2, size = std::min(shape[0], shape[1]);
        auto [whole, taus] = reflected(*tensor, size);
        give_all(results, whole, taus);
    });
}

Tensor* orgqr_tensor(Tensor* tensor, Tensor* taus, int64_t columns) {
    return build([&] {
        refuse_recording("reflections are multiplied on the host");
        const int batch = tensor->ndim - 2;
        const int64_t size = taus->shape[batch], rows = tensor->shape[batch];
        int64_t shape[MAX_DIMS];
        std::copy_n(tensor->shape, batch + 1, shape);
        shape[batch + 1] = columns;
        const Owned vectors = contiguous(*tensor), factors = contiguous(*taus);
        Owned result = new_tensor(shape, tensor->ndim, tensor->dtype, tensor->device);
        fill(*result, 0);
        for_real(tensor->dtype, [&](auto type) {
            using T = typename decltype(type)::type;
            Tensor matrix = *vectors;
            matrix.ndim = 2, matrix.size = rows * tensor->shape[batch + 1];
            matrix.shape[0] = rows, matrix.shape[1] = matrix.strides[0] = tensor->shape[batch + 1],
            matrix.strides[1] = 1;
            result = for_each_matrix(*result, [&](const Tensor& q, int64_t k) {
                for (int64_t i = 0; i < std::min(rows, columns); i++) static_cast<T*>(q.data)[i * columns + i] = 1;
                const T* tau = static_cast<const T*>(factors->data) + k * size;
                for (int64_t last = size; last > 0;) {
                    const int64_t first = (last - 1) / PANEL * PANEL;
                    Tensor rest = block(q, first, rows - first, first, columns - first);
                    reflect(matrix, first, last, tau, rest, false);
                    last = first;
                }
                move_on(matrix, matrix.size);
            });
        });
        return result;
    });
}

// ---- Least squares -------------------------------------------------------------------------------------------------

// Whether rtol times the largest singular value of a triangle r[n] is below the least one, which is at least the
// reciprocal of the Frobenius norm of the inverse. The largest is at most r's norm, and about what the power method
// finds. Rows have `step` elements, those of the inverse `other_step`.
template <class T>
static bool has_full_rank(const T* r, int64_t step, const T* inverse, int64_t other_step, int64_t n, double rtol) {
    double bound = 0, norm = 0;
    std::vector<double> x(n), y(n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++) {
            const double value = r[i * step + j], other = inverse[i * other_step + j];
            bound += other * other, norm += value * value, x[j] += std::abs(value);
        }
    bound = rtol * std::sqrt(bound);
    if (bound * std::sqrt(norm) < 1) return true;
    enum { TURNS = 8 };
    double square = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        const double length = std::sqrt(dot<double>(x.data(), x.data(), n));
        std::fill(y.begin(), y.end(), 0.0);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i; j < n; j++) y[i] += r[i * step + j] * x[j] / length;
        std::fill(x.begin(), x.end(), 0.0);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i; j < n; j++) x[j] += r[i * step + j] * y[i];
        square = std::sqrt(dot<double>(x.data(), x.data(), n));
    }
    return bound * std::sqrt(square) < 0.5;
}

Results* least_squares_tensor(Tensor* a, Tensor* b, double rtol) {
    return build_several<2>([&](Tensor** results) {
        const int batch = a->ndim - 2;
        const int64_t rows = a->shape[batch], n = a->shape[batch + 1], k = b->shape[batch + 1], width = n + k;
        const int64_t count = a->size / (rows * n);
        int64_t shape[MAX_DIMS];
        std::copy_n(a->shape, batch + 1, shape);
        Tensor* parts[] = {a, b};
        const Owned both = taken(cat_tensors(parts, 2, batch + 1));
        const Owned whole = reflected(*both, n).first;  // R and beside it Q^T b, in n rows
        shape[batch] = n, shape[batch + 1] = width;
        Owned sides = new_tensor(shape, a->ndim, a->dtype, CPU), full = new_tensor(shape, batch, BOOL, CPU);
        fill(*sides, 0);
        for_real(a->dtype, [&](auto type) {
            using T = typename decltype(type)::type;
            for (int64_t matrix = 0; matrix < count; matrix++)
                for (int64_t i = 0; i < n; i++) {
                    const T* row = static_cast<const T*>(whole->data) + (matrix * rows + i) * width;
                    T* side = static_cast<T*>(sides->data) + (matrix * n + i) * width;
                    side[i] = 1;
                    std::copy_n(row + n, k, side + n);
                }
            const Owned square = taken(slice_tensor(whole.tensor, batch, 0, n, 1)),
                        triangle = taken(slice_tensor(square.tensor, batch + 1, 0, n, 1)),
                        solved = taken(substitute_tensor(triangle.tensor, sides.tensor, true));
            for (int64_t matrix = 0; matrix < count; matrix++)
                static_cast<bool*>(full->data)[matrix] =
                    has_full_rank(static_cast<const T*>(whole->data) + matrix * rows * width, width,
                                  static_cast<const T*>(solved->data) + matrix * n * width, width, n, rtol);
            sides = taken(slice_tensor(solved.tensor, batch + 1, n, k, 1));
        });
        Owned x = contiguous(*sides);
        give_all(results, x, full);
    });
}
