// Differences, integrals and distances of the C API: several kernels in one call.

#include <string.h>

#include "api.h"
#include "api/checks.h"
#include "dispatch.h"

// `length` elements along an axis, from `start` on: a view that lives as long as x.
static Tensor part_of(const Tensor& x, int axis, int64_t start, int64_t length) {
    Tensor part = x;
    move_on(part, start * x.strides[axis]);
    part.shape[axis] = length;
    part.size = count_elements(part.shape, part.ndim);
    return part;
}

Tensor* diff_tensor(Tensor* tensor, int64_t axis, int64_t times) {
    return build([&] {
        const int at = check_axis(axis, tensor->ndim, "diff");
        const auto subtract = tensor->dtype == BOOL ? ne_tensor : sub_tensor;
        Owned result;
        for (Tensor* x = tensor; times > 0 && x->shape[at] > 0; times--, x = result.tensor) {
            const int64_t left = x->shape[at] - 1;
            Tensor later = part_of(*x, at, 1, left), earlier = part_of(*x, at, 0, left);
            result = taken(subtract(&later, &earlier));
        }
        return result.tensor ? std::move(result) : cast(*tensor, tensor->dtype);
    });
}

Tensor* trapezoid_tensor(Tensor* tensor, int64_t axis, double dx, int32_t runs) {
    return build([&] {
        check_real(*tensor, "trapezoid");
        const int at = check_axis(axis, tensor->ndim, "trapezoid");
        const int64_t size = tensor->shape[at];
        if (size < 2) fail(RUNTIME_ERROR, "trapezoid: expected at least 2 points along axis {}, got {}", at, size);
        Owned result;
        if (runs) {
            Tensor later = part_of(*tensor, at, 1, size - 1), earlier = part_of(*tensor, at, 0, size - 1);
            result = taken(add_tensor(&later, &earlier));
            result = taken(cumsum_tensor(result.tensor, at, 0));
            dx /= 2;
        } else {
            Tensor inside = part_of(*tensor, at, 1, size - 2), first = part_of(*tensor, at, 0, 1),
                   last = part_of(*tensor, at, size - 1, 1);
            drop_axes(first, 1u << at), drop_axes(last, 1u << at);
            Owned ends = taken(add_tensor(&first, &last)), along = taken(sum_tensor(&inside, &axis, 1, 0));
            const Owned half = real_number(0.5);
            result = taken(addcmul_tensor(along.tensor, ends.tensor, half.tensor));
        }
        if (dx != 1) {
            const Owned width = real_number(dx);
            done(elementwise_mul_into(result.tensor, result.tensor, width.tensor));
        }
        return result;
    });
}

Tensor* slopes_tensor(Tensor* tensor, int64_t axis, double step) {
    return build([&] {
        check_real(*tensor, "gradient");
        const int at = check_axis(axis, tensor->ndim, "gradient");
        const int64_t n = tensor->shape[at];
        if (n < 2) fail(RUNTIME_ERROR, "gradient: expected at least 2 elements along dimension {}, got {}", at, n);
        Owned result = new_tensor(tensor->shape, tensor->ndim, tensor->dtype, tensor->device);
        auto fill = [&](int64_t first, int64_t length, int64_t before, int64_t after, double width) {
            Tensor out = part_of(*result, at, first, length), later = part_of(*tensor, at, after, length),
                   earlier = part_of(*tensor, at, before, length);
            if (out.size == 0) return;
            const Owned divisor = real_number(width);
            done(sub_into(&out, &later, &earlier));
            if (width != 1) done(div_into(&out, &out, divisor.tensor));
        };
        fill(1, n - 2, 0, 2, 2 * step);
        fill(0, 1, 0, 1, step);
        fill(n - 1, 1, n - 2, n - 1, step);
        return result;
    });
}

// What brings each slice along an axis whose p-norm is larger than `most` down to it
static Owned renorm_factors(Tensor* tensor, int64_t axis, double p, double most) {
    const int at = check_axis(axis, tensor->ndim, "renorm");
    int64_t others[MAX_DIMS];
    int count = 0;
    for (int d = 0; d < tensor->ndim; d++)
        if (d != at) others[count++] = d;
    Owned norms = taken(norm_tensor(tensor, others, count, 1, p));
    const Owned limit = real_number(most), one = real_number(1), little = real_number(1e-7);
    const Owned large = taken(gt_tensor(norms.tensor, limit.tensor));
    norms = taken(add_tensor(norms.tensor, little.tensor));
    norms = taken(div_tensor(limit.tensor, norms.tensor));
    return taken(where_tensor(large.tensor, norms.tensor, one.tensor));
}

Tensor* renorm_tensor(Tensor* tensor, int64_t axis, double p, double most) {
    return build([&] { return taken(elementwise_mul_tensor(tensor, renorm_factors(tensor, axis, p, most).tensor)); });
}

int renorm_into(Tensor* out, Tensor* tensor, int64_t axis, double p, double most) {
    return attempt([&] { done(elementwise_mul_into(out, tensor, renorm_factors(tensor, axis, p, most).tensor)); });
}

// ---- Distances -------------------------------------------------------------------------------------------------------

// The matrices [b, m, n] of [..., m, n], whose leading sizes broadcast to those of the shape.
static Owned matrices(const Tensor& x, Shape shape) {
    for (int d = 1; d <= 2; d++) shape.sizes[shape.ndim - d] = x.shape[x.ndim - d];
    const Owned whole = contiguous(expanded(x, shape.sizes, shape.ndim, "cdist"));
    int64_t sizes[3] = {1, x.shape[x.ndim - 2], x.shape[x.ndim - 1]};
    for (int d = 0; d < shape.ndim - 2; d++) sizes[0] *= shape.sizes[d];
    return reshaped(*whole, sizes, 3);
}

Tensor* distances_tensor(Tensor* tensor1, Tensor* tensor2, double p) {
    return build([&] {
        const char* name = tensor2 ? "cdist" : "pdist";
        const Tensor &x = *tensor1, &y = tensor2 ? *tensor2 : x;
        check_real(x, name);
        check_pair(x, y, name);
        const int64_t rows = x.ndim < 2 ? 0 : x.shape[x.ndim - 2], n = x.ndim < 2 ? 0 : x.shape[x.ndim - 1];
        if (x.ndim < 2 || y.ndim < 2 || y.shape[y.ndim - 1] != n || (!tensor2 && x.ndim != 2))
            fail(RUNTIME_ERROR, "{}: shapes {} and {} are not rows of one length", name, shape_text(x), shape_text(y));
        Shape shape;
        for (const Tensor* tensor : {&x, &y}) {
            Tensor leading = *tensor;
            leading.shape[leading.ndim - 1] = leading.shape[leading.ndim - 2] = 1;
            broadcast(shape, leading, name);
        }
        const Owned first = matrices(x, shape), second = tensor2 ? matrices(y, shape) : Owned();
        const Tensor& others = tensor2 ? *second : *first;
        shape.sizes[shape.ndim - 2] = rows;
        shape.sizes[shape.ndim - 1] = others.shape[1];
        if (!tensor2) shape.ndim = 1, shape.sizes[0] = rows > 0 ? rows * (rows - 1) / 2 : 0;
        Owned result = new_tensor(shape.sizes, shape.ndim, x.dtype, x.device);
        if (result->size && n == 0)
            fill(*result, 0);
        else if (result->size)
            kernels::distances.launch(x.device, *first, others, *result, p, !tensor2);
        return result;
    });
}
