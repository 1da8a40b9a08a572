// The matrix product of the C API.

#include <utility>

#include "api.h"
#include "api/checks.h"
#include "api/storage_order.h"
#include "dispatch.h"

// A vector as a matrix: [k] becomes [1, k] on the left and [k, 1] on the right.
static Tensor as_matrix(const Tensor& tensor, bool left) {
    if (tensor.ndim != 1) return tensor;
    Tensor matrix = tensor;
    matrix.ndim = 2;
    matrix.shape[left ? 1 : 0] = tensor.shape[0], matrix.strides[left ? 1 : 0] = tensor.strides[0];
    matrix.shape[left ? 0 : 1] = 1, matrix.strides[left ? 0 : 1] = 0;
    return matrix;
}

static void check_matmul(const Tensor& x, const Tensor& y) {
    check_devices(x, y, "matmul");
    if (x.dtype != y.dtype || x.dtype == BOOL)
        fail(RUNTIME_ERROR, "matmul: expected two tensors of one numeric dtype, got {} and {}", dtype_name(x.dtype),
             dtype_name(y.dtype));
    if (x.ndim == 0 || y.ndim == 0)
        fail(SHAPE_ERROR, "matmul: both operands need at least one dimension, got shapes {} and {}", shape_text(x),
             shape_text(y));
    int64_t inner = x.shape[x.ndim - 1], rows = y.shape[y.ndim > 1 ? y.ndim - 2 : 0];
    if (inner != rows)
        fail(SHAPE_ERROR, "matmul: shapes {} and {} do not chain ({} != {})", shape_text(x), shape_text(y), inner,
             rows);
}

Tensor* matmul_tensor(Tensor* tensor1, Tensor* tensor2) {
    enum { MANY = 1024, FEW = 12 };  // elements, which are copied sooner than gathered one by one; in a dot product
    return build([&] {
        check_matmul(*tensor1, *tensor2);
        if (tensor1->dtype == UINT8) {  // the last bytes of a product of larger integers
            const Owned x = converted(*tensor1, INT32), y = converted(*tensor2, INT32);
            return converted(*taken(matmul_tensor(x.tensor, y.tensor)), UINT8);
        }
        Tensor a = as_matrix(*tensor1, true), b = as_matrix(*tensor2, false);
        int ndim = a.ndim > b.ndim ? a.ndim : b.ndim, batch = ndim - 2;
        int64_t shape[MAX_DIMS], a_shape[MAX_DIMS], b_shape[MAX_DIMS];
        for (int d = 0; d < batch; d++) {  // the leading axes broadcast
            int da = d - (ndim - a.ndim), db = d - (ndim - b.ndim);
            int64_t size_a = da < 0 ? 1 : a.shape[da], size_b = db < 0 ? 1 : b.shape[db];
            if (size_a != size_b && size_a != 1 && size_b != 1)
                fail(SHAPE_ERROR, "matmul: leading axes of shapes {} and {} cannot be broadcast together ({} != {})",
                     shape_text(*tensor1), shape_text(*tensor2), size_a, size_b);
            shape[d] = a_shape[d] = b_shape[d] = size_a == 1 ? size_b : size_a;
        }
        shape[batch] = a_shape[batch] = a.shape[a.ndim - 2];
        a_shape[batch + 1] = b_shape[batch] = a.shape[a.ndim - 1];
        shape[batch + 1] = b_shape[batch + 1] = b.shape[b.ndim - 1];
        Owned result = new_tensor(shape, ndim, a.dtype, a.device);
        if (batch) a = expanded(a, a_shape, ndim, "matmul"), b = expanded(b, b_shape, ndim, "matmul");
        Owned copies[2];
        if (shape[batch] * shape[batch + 1] == 1 && a.size >= MANY &&
            a.shape[a.ndim - 1] > FEW) {  // dot products, of elements side by side
            if (a.strides[batch + 1] != 1) copies[0] = cast(a, a.dtype), a = *copies[0];
            if (b.strides[batch] != 1) copies[1] = cast(b, b.dtype), b = *copies[1];
        }
        if (result->size) kernels::matmul.launch(a.device, a, b, *result);
        unsigned dropped = (tensor1->ndim == 1 ? 1u << batch : 0) | (tensor2->ndim == 1 ? 1u << (batch + 1) : 0);
        if (dropped) drop_axes(*result, dropped);
        return result;
    });
}

// ---- Products of tensors of given ranks --------------------------------------------------------------------------

static const struct {
    const char *name, *added;  // added to a tensor
    int rank1, rank2;
} PRODUCTS[] = {{"dot", "", 1, 1},        {"mv", "addmv", 2, 1},   {"mm", "addmm", 2, 2},
                {"bmm", "baddbmm", 3, 3}, {"outer", "addr", 1, 1}, {"addbmm", "addbmm", 3, 3}};
enum Product { DOT, MV, MM, BMM, OUTER, SUMMED };  // Product in norch/methods/products.py

static void check_product(const Tensor& x, const Tensor& y, int32_t kind) {
    const auto& how = PRODUCTS[kind];
    if (x.ndim != how.rank1 || y.ndim != how.rank2)
        fail(SHAPE_ERROR, "{}: expected tensors of {} and {} dimensions, got shapes {} and {}", how.name, how.rank1,
             how.rank2, shape_text(x), shape_text(y));
    if (kind == DOT && x.shape[0] != y.shape[0])
        fail(SHAPE_ERROR, "dot: lengths {} and {} are not the same", x.shape[0], y.shape[0]);
    if ((kind == BMM || kind == SUMMED) && x.shape[0] != y.shape[0])
        fail(SHAPE_ERROR, "{}: batches of {} and {} matrices are not the same", how.name, x.shape[0], y.shape[0]);
    if (kind == SUMMED && x.shape[2] != y.shape[1])
        fail(SHAPE_ERROR, "addbmm: shapes {} and {} do not chain", shape_text(x), shape_text(y));
}

static Tensor as_column(const Tensor& vector) {
    Tensor column = vector;
    column.ndim = 2;
    column.shape[1] = column.strides[1] = 1;
    return column;
}

// The sum over a batch of products [m, k] [k, n] is one product, [m, batch k] [batch k, n].
static Owned summed_product(const Tensor& x, const Tensor& y) {
    Tensor by_rows = x;
    std::swap(by_rows.shape[0], by_rows.shape[1]);
    std::swap(by_rows.strides[0], by_rows.strides[1]);
    const int64_t count = x.shape[0] * x.shape[2], wide[] = {x.shape[1], count}, tall[] = {count, y.shape[2]};
    const Owned left = reshaped(by_rows, wide, 2), right = reshaped(y, tall, 2);
    return taken(matmul_tensor(left.tensor, right.tensor));
}

static Owned product(const Tensor& x, const Tensor& y, int32_t kind) {
    check_product(x, y, kind);
    if (kind == SUMMED) return summed_product(x, y);
    Tensor a = kind == OUTER ? as_column(x) : x, b = y;
    return taken(kind == OUTER ? elementwise_mul_tensor(&a, &b) : matmul_tensor(&a, &b));
}

Tensor* product_tensor(Tensor* tensor1, Tensor* tensor2, int32_t kind) {
    return build([&] { return product(*tensor1, *tensor2, kind); });
}

// x as [x0, 1, x1, 1, ...], or y as [1, y0, 1, y1, ...], with dimensions of size 1 in front up to a rank
static Tensor interleaved(const Tensor& x, int rank, int first) {
    Tensor wide = x;
    wide.ndim = 2 * rank;
    for (int d = 0; d < 2 * rank; d++) {
        const int from = d / 2 - (rank - x.ndim);
        const bool is_own = d % 2 == first && from >= 0;
        wide.shape[d] = is_own ? x.shape[from] : 1;
        wide.strides[d] = is_own ? x.strides[from] : 0;
    }
    return wide;
}

Tensor* kron_tensor(Tensor* tensor1, Tensor* tensor2) {
    return build([&] {
        const int rank = tensor1->ndim > tensor2->ndim ? tensor1->ndim : tensor2->ndim;
        if (2 * rank > MAX_DIMS) fail(SHAPE_ERROR, "kron: expected at most {} dimensions, got {}", MAX_DIMS / 2, rank);
        Tensor wide = interleaved(*tensor1, rank, 0), fine = interleaved(*tensor2, rank, 1);
        const Owned product = taken(elementwise_mul_tensor(&wide, &fine));
        int64_t shape[MAX_DIMS];
        for (int d = 0; d < rank; d++) shape[d] = product->shape[2 * d] * product->shape[2 * d + 1];
        return reshaped(*product, shape, rank);
    });
}

static bool is_zero(const Tensor* number) {
    return number && (number->dtype == FLOAT64 ? number->value.real == 0 : number->value.integer == 0);
}

static bool in_place(const Tensor& out, const Tensor& y, const Tensor& z, const Owned& product) {
    const bool is_read = !product.tensor && (y.storage == out.storage || z.storage == out.storage);
    return !is_read && y.dtype == out.dtype && z.dtype == out.dtype;
}

// beta * x + alpha * the product of y and z. What is in x does not count if beta is 0, NaN neither. With `out`, which
// is x then, the sum is written there.
static Owned added_product(const Tensor& x, const Tensor& y, const Tensor& z, Tensor* beta, Tensor* alpha, int32_t kind,
                           Tensor* out) {
    const char* name = PRODUCTS[kind].added;
    check_product(y, z, kind);
    const bool alone = is_zero(beta), is_outer = kind == OUTER, before = is_outer && alpha;
    Tensor left = y, right = z;
    const Owned factor = before ? taken(elementwise_mul_tensor(&left, alpha)) : Owned();  // less than alpha * y z^T
    if (before) left = *factor;
    Owned result = is_outer && !alone ? Owned() : product(left, right, kind);
    if (alpha && !before) done(elementwise_mul_into(result.tensor, result.tensor, alpha));
    const int64_t outer[] = {left.shape[0], is_outer ? right.shape[0] : 0};
    const int64_t* shape = result.tensor ? result->shape : outer;
    const int ndim = result.tensor ? result->ndim : 2;
    if (out && !has_shape(*out, shape, ndim))
        fail(SHAPE_ERROR, "{}_: expected a tensor of shape {}, got {}", name, shape_text(shape, ndim),
             shape_text(*out));
    if (x.ndim > ndim)
        fail(SHAPE_ERROR, "{}: shape {} does not broadcast to {}", name, shape_text(x), shape_text(shape, ndim));
    if (alone) return result;
    const bool into = out && in_place(*out, y, z, result);
    Tensor added = expanded(x, shape, ndim, name);
    if (is_outer) left = as_column(left);
    if (is_outer && beta && is_real(x.dtype)) {
        if (!into) return taken(add_product_to_scaled_tensor(&added, &left, &right, beta));
        done(add_product_to_scaled_into(out, &added, &left, &right, beta));
        return Owned();
    }
    if (into && beta) done(elementwise_mul_into(out, &added, beta));
    Owned scaled = beta && !into ? taken(elementwise_mul_tensor(&added, beta)) : Owned();
    Tensor *sum = scaled.tensor ? scaled.tensor : &added, *target = into ? out : scaled.tensor;
    if (is_outer) {
        if (!target || sum->dtype != promoted(left.dtype, right.dtype))
            return taken(addcmul_tensor(sum, &left, &right));
        done(addcmul_into(target, sum, &left, &right));
    } else if (into) {
        done(add_into(out, sum, result.tensor));
    } else {
        if (sum->dtype != result->dtype) return taken(add_tensor(sum, result.tensor));
        done(add_into(result.tensor, sum, result.tensor));
        return result;
    }
    return into ? Owned() : std::move(scaled);
}

// Numbers of 16 bits are widened before and rounded once, if all are of one dtype.
static Owned rounded_sum(const Tensor& tensor, const Tensor& tensor1, const Tensor& tensor2, Tensor* beta,
                         Tensor* alpha, int32_t kind, Tensor* out) {
    const int32_t dtype = tensor.dtype;
    if (!is_real(dtype) || !is_narrow(dtype) || tensor1.dtype != dtype || tensor2.dtype != dtype)
        return added_product(tensor, tensor1, tensor2, beta, alpha, kind, out);
    const Owned x = widened(tensor), y = widened(tensor1), z = widened(tensor2);
    return cast(*added_product(*x, *y, *z, beta, alpha, kind, nullptr), dtype);
}

Tensor* added_product_tensor(Tensor* tensor, Tensor* tensor1, Tensor* tensor2, Tensor* beta, Tensor* alpha,
                             int32_t kind) {
    return build([&] { return rounded_sum(*tensor, *tensor1, *tensor2, beta, alpha, kind, nullptr); });
}

int added_product_into(Tensor* out, Tensor* tensor1, Tensor* tensor2, Tensor* beta, Tensor* alpha, int32_t kind) {
    return attempt([&] {
        check_writable(*out, PRODUCTS[kind].added);
        const Owned sum = rounded_sum(*out, *tensor1, *tensor2, beta, alpha, kind, out);
        if (sum.tensor && !same_shape(*out, *sum))
            fail(SHAPE_ERROR, "{}_: expected a tensor of shape {}, got {}", PRODUCTS[kind].added, shape_text(*sum),
                 shape_text(*out));
        if (sum.tensor) done(assign_tensor(out, sum.tensor));
    });
}

// Index k of an axis, without the axis
static Tensor selected(const Tensor& x, int axis, int64_t k) {
    Tensor part = x;
    move_on(part, k * x.strides[axis]);
    drop_axes(part, 1u << axis);
    part.size = x.size / x.shape[axis];
    return part;
}

// x[1] y[2] - x[2] y[1] and so on
Tensor* cross_tensor(Tensor* x, Tensor* y, int64_t axis) {
    return build([&] {
        const int at = check_axis(axis, x->ndim, "cross");
        Owned result;
        for (int k = 0; k < 3; k++) {
            const int next = (k + 1) % 3, last = (k + 2) % 3;
            Tensor x1 = selected(*x, at, next), x2 = selected(*x, at, last);
            Tensor y1 = selected(*y, at, next), y2 = selected(*y, at, last);
            const Owned plus = taken(elementwise_mul_tensor(&x1, &y2)), less = taken(elementwise_mul_tensor(&x2, &y1));
            if (k == 0) {
                int64_t shape[MAX_DIMS];
                for (int d = 0, from = 0; d < x->ndim; d++) shape[d] = d == at ? 3 : plus->shape[from++];
                result = new_tensor(shape, x->ndim, plus->dtype, plus->device);
            }
            Tensor part = selected(*result, at, k);
            done(sub_into(&part, plus.tensor, less.tensor));
        }
        return result;
    });
}
