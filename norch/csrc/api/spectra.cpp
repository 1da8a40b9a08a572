// Eigenvalues of symmetric matrices and singular values of all, with their vectors, on the CPU and in doubles.

#include <cmath>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "api.h"
#include "api/checks.h"
#include "api/matrices.h"
#include "dispatch.h"

constexpr double EPSILON = std::numeric_limits<double>::epsilon();

using Doubles = std::vector<double>;

// Turns a pair of rows: x becomes c x - s y, y becomes s x + c y.
static void rotate(double* x, double* y, int64_t n, double c, double s) {
    for (int64_t k = 0; k < n; k++) {
        const double first = x[k], second = y[k];
        x[k] = c * first - s * second;
        y[k] = s * first + c * second;
    }
}

// Divides by a power of two that brings the largest element between 1 and 2, so that no square overflows or is lost.
// Returns that power: 0 for zeros alone, infinity for what is not finite. Raises for NaN.
static double scale(Doubles& a, const char* operation) {
    double largest = 0;
    for (double x : a) {
        if (std::isnan(x))
            fail(LINALG_ERROR, "{}: the algorithm failed to converge: the matrix contains NaN", operation);
        largest = std::max(largest, std::abs(x));
    }
    if (largest == 0 || std::isinf(largest)) return largest;
    const int exponent = std::ilogb(largest);
    for (double& x : a) x = std::ldexp(x, -exponent);
    return std::ldexp(1.0, exponent);
}

// The order that sorts values
template <class Less>
static std::vector<int64_t> sorted(int64_t n, Less less) {
    std::vector<int64_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), less);
    return order;
}

// ---- Symmetric matrices ----------------------------------------------------------------------------------------------

// A symmetric matrix: Householder's reflections leave three diagonals, and QL steps with implicit shifts leave one (Golub
// and Van Loan, Matrix Computations, 8.3).
struct Symmetric {
    int64_t n;
    Doubles a, vectors;  // [n, n] each; a row of `vectors` is an eigenvector, if they are wanted
    Doubles diagonal, beside;

    Symmetric(int64_t n, bool wanted) : n(n), a(n * n), vectors(wanted ? n * n : 0), diagonal(n), beside(n) {}

    void solve() {
        Doubles taus(n);
        for (int64_t k = 0; k + 2 < n; k++) taus[k] = reflect_both_sides(k);
        for (int64_t k = 0; k < n; k++) {
            diagonal[k] = a[k * n + k];
            beside[k] = k + 1 < n ? a[(k + 1) * n + k] : 0;
        }
        if (!vectors.empty()) multiply_reflections(taus);
        for (int64_t first = 0; first < n; first++) separate(first);
    }

private:
    // Of column k only the element below the diagonal stays. Row k keeps v from its second element on; returns tau.
    double reflect_both_sides(int64_t k) {
        const int64_t size = n - k - 1;
        double* v = a.data() + k * n + k + 1;
        for (int64_t i = 0; i < size; i++) v[i] = a[(k + 1 + i) * n + k];
        const double tau = reflection_of(v, size);
        a[(k + 1) * n + k] = v[0];
        if (tau == 0) return 0;
        v[0] = 1;
        Doubles w(size);
        for (int64_t i = 0; i < size; i++) w[i] = tau * dot<double>(a.data() + (k + 1 + i) * n + k + 1, v, size);
        const double half = tau / 2 * dot<double>(w.data(), v, size);
        for (int64_t i = 0; i < size; i++) w[i] -= half * v[i];
        for (int64_t i = 0; i < size; i++)
            for (int64_t j = 0; j < size; j++) a[(k + 1 + i) * n + k + 1 + j] -= v[i] * w[j] + w[i] * v[j];
        return tau;
    }
    // The rows of `vectors` become the columns of the product of all reflections.
    void multiply_reflections(const Doubles& taus) {
        for (int64_t i = 0; i < n; i++) vectors[i * n + i] = 1;
        for (int64_t k = n - 3; k >= 0; k--) {
            const int64_t size = n - k - 1;
            const double* v = a.data() + k * n + k + 1;
            for (int64_t i = k + 1; i < n && taus[k] != 0; i++) {
                double* row = vectors.data() + i * n + k + 1;
                const double sum = taus[k] * dot<double>(row, v, size);
                for (int64_t j = 0; j < size; j++) row[j] -= sum * v[j];
            }
        }
    }
    // The end of the block that begins at `first`: what is beside its diagonal there is nothing.
    int64_t end_of_block(int64_t first) const {
        int64_t last = first;
        while (last + 1 < n &&
               std::abs(beside[last]) > EPSILON * (std::abs(diagonal[last]) + std::abs(diagonal[last + 1])))
            last++;
        return last;
    }
    void separate(int64_t first) {
        enum { MOST_STEPS = 60 };
        for (int step = 0; step < MOST_STEPS; step++) {
            const int64_t last = end_of_block(first);
            if (last == first) return;
            step_of_block(first, last);
        }
        fail(LINALG_ERROR, "linalg.eigh: the algorithm failed to converge");
    }
    void step_of_block(int64_t first, int64_t last) {
        const double half = (diagonal[first + 1] - diagonal[first]) / (2 * beside[first]);
        const double shift = diagonal[first] - beside[first] / (half + std::copysign(std::hypot(half, 1.0), half));
        double s = 1, c = 1, taken = 0, bulge = diagonal[last] - shift;
        for (int64_t i = last - 1; i >= first; i--) {
            const double f = s * beside[i], b = c * beside[i];
            const double length = beside[i + 1] = std::hypot(f, bulge);
            if (length == 0) {  // the block falls apart here
                diagonal[i + 1] -= taken;
                beside[last] = 0;
                return;
            }
            s = f / length, c = bulge / length;
            const double rest = diagonal[i + 1] - taken, sum = (diagonal[i] - rest) * s + 2 * c * b;
            taken = s * sum;
            diagonal[i + 1] = rest + taken;
            bulge = c * sum - b;
            if (!vectors.empty()) rotate(vectors.data() + i * n, vectors.data() + (i + 1) * n, n, c, s);
        }
        diagonal[first] -= taken;
        beside[first] = bulge;
        beside[last] = 0;
    }
};

// Reads the lower triangle, or the upper one, of a matrix; writes its eigenvalues, rising, and columns of vectors.
template <class T>
static void solve_symmetric(const T* matrix, int64_t n, bool upper, T* values, T* columns) {
    Symmetric steps(n, columns);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++)
            steps.a[i * n + j] = steps.a[j * n + i] = double(upper ? matrix[j * n + i] : matrix[i * n + j]);
    const double up = scale(steps.a, "linalg.eigh");
    if (std::isinf(up) && n > 1) {
        std::fill_n(values, n, std::numeric_limits<T>::quiet_NaN());
        if (columns) std::fill_n(columns, n * n, std::numeric_limits<T>::quiet_NaN());
        return;
    }
    steps.solve();
    const auto order = sorted(n, [&](int64_t i, int64_t j) { return steps.diagonal[i] < steps.diagonal[j]; });
    for (int64_t k = 0; k < n; k++) {
        values[k] = T(steps.diagonal[order[k]] * up);
        for (int64_t i = 0; columns && i < n; i++) columns[i * n + k] = T(steps.vectors[order[k] * n + i]);
    }
}

Results* eigh_tensor(Tensor* tensor, int32_t upper, int32_t vectors) {
    return build_several<2>([&](Tensor** results) {
        refuse_recording("a matrix is factored on the host");
        const Tensor& x = *tensor;
        const int64_t n = x.shape[x.ndim - 1];
        const int64_t none[] = {0};
        Owned values = new_tensor(x.shape, x.ndim - 1, x.dtype, x.device),
              columns =
                  vectors ? new_tensor(x.shape, x.ndim, x.dtype, x.device) : new_tensor(none, 1, x.dtype, x.device);
        const Owned matrices = contiguous(x);
        for_real(x.dtype, [&](auto type) {
            using T = typename decltype(type)::type;
            for (int64_t k = 0; k < (x.size ? x.size / (n * n) : 0); k++)
                solve_symmetric(static_cast<const T*>(matrices->data) + k * n * n, n, upper != 0,
                                static_cast<T*>(values->data) + k * n,
                                vectors ? static_cast<T*>(columns->data) + k * n * n : nullptr);
        });
        give_all(results, values, columns);
    });
}

// ---- All matrices ----------------------------------------------------------------------------------------------------

// Rows that are orthonormal, grown by rows that are orthogonal to them.
static void complete(Doubles& rows, int64_t known, int64_t wanted, int64_t n) {
    for (; known < wanted; known++) {
        // The unit vector that the known rows say least of
        Doubles said(n);
        for (int64_t k = 0; k < known; k++)
            for (int64_t i = 0; i < n; i++) said[i] += rows[k * n + i] * rows[k * n + i];
        double* row = rows.data() + known * n;
        std::fill_n(row, n, 0.0);
        row[std::min_element(said.begin(), said.end()) - said.begin()] = 1;
        for (int again = 0; again < 2; again++)
            for (int64_t k = 0; k < known; k++) {
                const double sum = dot<double>(rows.data() + k * n, row, n);
                for (int64_t i = 0; i < n; i++) row[i] -= sum * rows[k * n + i];
            }
        const double length = std::sqrt(dot<double>(row, row, n));
        for (int64_t i = 0; i < n; i++) row[i] /= length;
    }
}

constexpr double LEAST_LENGTH = 1e-140;  // of a row that has a direction: where the longest is 1, no square is lost

// Turns pairs of the rows x[n, m], and those of y[n, n] alike, until all rows of x are orthogonal: Jacobi's method, from
// one side (Hestenes 1958; Demmel and Veselic 1992 on how accurate it is).
static void make_orthogonal(double* x, double* y, int64_t n, int64_t m) {
    enum { MOST_SWEEPS = 60 };
    for (int sweep = 0; sweep < MOST_SWEEPS; sweep++) {
        bool turned = false;
        for (int64_t p = 0; p < n; p++)
            for (int64_t q = p + 1; q < n; q++) {
                double *first = x + p * m, *second = x + q * m;
                const double product = dot<double>(first, second, m), one = std::sqrt(dot<double>(first, first, m)),
                             other = std::sqrt(dot<double>(second, second, m));
                if (std::min(one, other) < LEAST_LENGTH || std::abs(product) <= 4 * EPSILON * one * other) continue;
                turned = true;
                const double half = (other - one) * (other + one) / (2 * product);
                const double t = std::copysign(1.0, half) / (std::abs(half) + std::hypot(half, 1.0));
                const double c = 1 / std::hypot(t, 1.0), s = c * t;
                rotate(first, second, m, c, s);
                if (y) rotate(y + p * n, y + q * n, n, c, s);
            }
        if (!turned) return;
    }
    fail(LINALG_ERROR, "linalg.svd: the algorithm failed to converge");
}

// Singular values, falling, of rows x[n, m], n <= m; the rows become singular vectors, those of `others` the other ones.
static Doubles singular_values(Doubles& x, Doubles& others, int64_t n, int64_t m) {
    for (int64_t i = 0; i < n && !others.empty(); i++) others[i * n + i] = 1;
    make_orthogonal(x.data(), others.empty() ? nullptr : others.data(), n, m);
    Doubles lengths(n), values(n), sorted_rows(x.size()), sorted_others(others.size());
    for (int64_t k = 0; k < n; k++) lengths[k] = std::sqrt(dot<double>(x.data() + k * m, x.data() + k * m, m));
    const auto order = sorted(n, [&](int64_t i, int64_t j) { return lengths[i] > lengths[j]; });
    int64_t known = 0;
    for (int64_t k = 0; k < n; k++) {
        const int64_t from = order[k];
        values[k] = lengths[from];
        if (lengths[from] > LEAST_LENGTH) known++;
        for (int64_t i = 0; i < m && lengths[from] > LEAST_LENGTH; i++)
            sorted_rows[k * m + i] = x[from * m + i] / lengths[from];
        if (!others.empty()) std::copy_n(others.begin() + from * n, n, sorted_others.begin() + k * n);
    }
    x.swap(sorted_rows), others.swap(sorted_others);
    if (!others.empty()) complete(x, known, n, m);
    return values;
}

// Writes U [m, m] or [m, k], the values [k] and V^T [n, n] or [k, n] of a matrix [m, n], k = min(m, n); the values alone
// without `vectors`.
template <class T>
static void decompose(const T* matrix, int64_t m, int64_t n, bool full, bool vectors, T* u, T* values, T* vh) {
    const bool tall = m >= n;
    const int64_t size = std::min(m, n), length = std::max(m, n), most = full ? length : size;
    Doubles x(size * length), others(vectors ? size * size : 0);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) x[tall ? j * m + i : i * n + j] = double(matrix[i * n + j]);
    const double up = scale(x, "linalg.svd");
    if (std::isinf(up)) {
        const T nan = std::numeric_limits<T>::quiet_NaN();
        std::fill_n(values, size, nan);
        if (vectors) std::fill_n(u, m * (tall ? most : size), nan), std::fill_n(vh, (tall ? size : most) * n, nan);
        return;
    }
    const Doubles found = singular_values(x, others, size, length);
    for (int64_t k = 0; k < size; k++) values[k] = T(found[k] * up);
    if (!vectors) return;
    x.resize(most * length);
    complete(x, size, most, length);
    const Doubles &left = tall ? x : others, &right = tall ? others : x;
    const int64_t columns = tall ? most : size;
    for (int64_t i = 0; i < m; i++)
        for (int64_t k = 0; k < columns; k++) u[i * columns + k] = T(left[k * m + i]);
    std::copy(right.begin(), right.end(), vh);
}

Results* svd_tensor(Tensor* tensor, int32_t full, int32_t vectors) {
    return build_several<3>([&](Tensor** results) {
        refuse_recording("a matrix is factored on the host");
        const Tensor& x = *tensor;
        const int batch = x.ndim - 2;
        const int64_t m = x.shape[batch], n = x.shape[batch + 1], size = std::min(m, n);
        int64_t shape[MAX_DIMS];
        std::copy_n(x.shape, batch, shape);
        const auto made = [&](int64_t rows, int64_t columns) {
            shape[batch] = rows, shape[batch + 1] = columns;
            return new_tensor(shape, x.ndim, x.dtype, x.device);
        };
        Owned u = made(vectors ? m : 0, full ? m : size), vh = made(vectors ? (full ? n : size) : 0, n);
        shape[batch] = size;
        Owned values = new_tensor(shape, batch + 1, x.dtype, x.device);
        const Owned matrices = contiguous(x);
        const int64_t count = x.size ? x.size / (m * n) : count_elements(x.shape, batch);
        for_real(x.dtype, [&](auto type) {
            using T = typename decltype(type)::type;
            const auto part = [](const Owned& whole, int64_t k, int64_t elements) {
                return static_cast<T*>(whole->data) + k * elements;
            };
            for (int64_t k = 0; k < count; k++)
                decompose(part(matrices, k, m * n), m, n, full != 0, vectors != 0,
                          part(u, k, count_elements(u->shape + batch, 2)), part(values, k, size),
                          part(vh, k, count_elements(vh->shape + batch, 2)));
        });
        give_all(results, u, values, vh);
    });
}
