// Reductions of the C API.

#include <math.h>
#include <string.h>

#include "api.h"
#include "api/checks.h"
#include "dispatch.h"

// Removes the axes of a fresh result.
void drop_axes(Tensor& result, unsigned axes) {
    int ndim = 0;
    for (int d = 0; d < result.ndim; d++) {
        if (axes >> d & 1) continue;
        result.shape[ndim] = result.shape[d];
        result.strides[ndim++] = result.strides[d];
    }
    result.ndim = ndim;
}

static unsigned axis_set(const Tensor& tensor, const int64_t* axes, int count, const char* name) {
    if (count < 0) return (1u << tensor.ndim) - 1;
    unsigned set = 0;
    for (int k = 0; k < count; k++) {
        int axis = check_axis(axes[k], tensor.ndim, name);
        if (set >> axis & 1)
            fail(RUNTIME_ERROR, "{}: axis {} appears twice in {}", name, axis, shape_text(axes, count));
        set |= 1u << axis;
    }
    return set;
}

static int32_t dtype_of(ResultDType result, int32_t dtype) {
    if (result == BOOL_DTYPE) return BOOL;
    return result == WIDE_DTYPE && !is_real(dtype) ? int32_t(INT64) : dtype;
}

static Owned reduce(const UnaryKernel& kernel, ResultDType result_dtype, bool has_empty, const Tensor& x, unsigned axes,
                    bool all, bool keepdim) {
    int64_t shape[MAX_DIMS] = {}, reduced = 1;
    for (int d = 0; d < x.ndim; d++) {
        shape[d] = axes >> d & 1 ? 1 : x.shape[d];
        if (axes >> d & 1) reduced *= x.shape[d];
    }
    Owned result = new_tensor(shape, x.ndim, dtype_of(result_dtype, x.dtype), x.device);
    if (!has_empty && reduced == 0)
        fail(all ? RUNTIME_ERROR : INDEX_ERROR, "{}: no elements along the reduced axes of shape {}", kernel.name,
             shape_text(x));
    if (result->size) kernel.launch(x.device, x, *result);
    if (!keepdim) drop_axes(*result, axes);
    return result;
}

// K(sum, Sum, WIDE_DTYPE, true) becomes sum_tensor, which calls sum_tensor_cpu or sum_tensor_cuda.
#define DEFINE_REDUCTION(name, Op, result, has_empty)                                                      \
    Tensor* name##_tensor(Tensor* tensor, const int64_t* axes, int32_t count, int32_t keepdim) {           \
        return build([&] {                                                                                 \
            const unsigned set = axis_set(*tensor, axes, count, #name);                                    \
            return reduce(kernels::name, result, has_empty, *tensor, set, count < 0, keepdim);                        \
        });                                                                                                \
    }
REDUCTIONS(DEFINE_REDUCTION)

// ---- Reductions in several kernels ---------------------------------------------------------------------------------

// x / count, for a count of what each element of x was reduced from
static Owned divided(const Owned& x, double count) { return taken(div_tensor(x.tensor, real_number(count).tensor)); }

static double elements_of_each(const Tensor& x, const Tensor& reduced) {
    return reduced.size ? double(x.size / reduced.size) : 1;
}

// Floats of 16 bits are widened before the first kernel, and rounded after the last.
static bool are_halves(const Tensor& x) { return is_narrow(x.dtype) && is_real(x.dtype); }
template <class F>
static Owned rounded_once(Tensor* tensor, F compute) {
    if (!are_halves(*tensor)) return compute(tensor);
    const Owned wide = widened(*tensor), result = compute(wide.tensor);
    return cast(*result, tensor->dtype);
}

Tensor* mean_tensor(Tensor* tensor, const int64_t* axes, int32_t count, int32_t keepdim) {
    return build([&] {
        return rounded_once(tensor, [&](Tensor* x) {
            Owned total = taken(sum_tensor(x, axes, count, keepdim));
            return divided(total, elements_of_each(*x, *total));
        });
    });
}

Tensor* trace_tensor(Tensor* tensor) {
    return build([&] {
        const int64_t main[] = {0, 0, 1};
        const Owned diagonal = taken(diagonal_tensor(tensor, main));
        return taken(sum_tensor(diagonal.tensor, nullptr, -1, 0));
    });
}

// The variance, or the deviation, and the mean [..., 1], of which it is.
struct Moments {
    Owned spread, mean;

    Moments(Tensor* tensor, const int64_t* axes, int32_t count, int32_t keepdim, double lost, bool root) {
        if (are_halves(*tensor)) {  // as in rounded_once
            const Owned wide = widened(*tensor);
            const Moments moments(wide.tensor, axes, count, keepdim, lost, root);
            spread = cast(*moments.spread, tensor->dtype);
            mean = cast(*moments.mean, tensor->dtype);
            return;
        }
        mean = taken(mean_tensor(tensor, axes, count, 1));
        const Owned distance = taken(sub_tensor(tensor, mean.tensor));
        const Owned square = taken(elementwise_mul_tensor(distance.tensor, distance.tensor));
        const Owned total = taken(sum_tensor(square.tensor, axes, count, keepdim));
        const double left = elements_of_each(*tensor, *total) - lost;
        spread = divided(total, left > 0 ? left : 0);
        if (root && spread->size) kernels::sqrt.launch(spread->device, *spread, *spread);
    }
};

Tensor* variance_tensor(Tensor* tensor, const int64_t* axes, int32_t count, int32_t keepdim, double lost) {
    return build([&] { return std::move(Moments(tensor, axes, count, keepdim, lost, false).spread); });
}

Tensor* deviation_tensor(Tensor* tensor, const int64_t* axes, int32_t count, int32_t keepdim, double lost) {
    return build([&] { return std::move(Moments(tensor, axes, count, keepdim, lost, true).spread); });
}

Results* moments_tensor(Tensor* tensor, const int64_t* axes, int32_t count, int32_t keepdim, double lost,
                        int32_t root) {
    return build_several<2>([&](Tensor** results) {
        Moments moments(tensor, axes, count, keepdim, lost, root != 0);
        if (!keepdim) drop_axes(*moments.mean, axis_set(*tensor, axes, count, "mean"));
        give_all(results, moments.spread, moments.mean);
    });
}

Tensor* norm_tensor(Tensor* tensor, const int64_t* axes, int32_t count, int32_t keepdim, double p) {
    return build([&] {
        check_real(*tensor, "norm");
        const unsigned set = axis_set(*tensor, axes, count, "norm");
        if (p == 2) {
            Owned norm = reduce(kernels::sum_squares, SAME_DTYPE, true, *tensor, set, count < 0, keepdim);
            if (norm->size) kernels::sqrt.launch(norm->device, *norm, *norm);
            return norm;
        }
        Owned size = taken(abs_tensor(tensor));
        if (isinf(p)) return reduce(kernels::max, SAME_DTYPE, false, *size, set, count < 0, keepdim);
        if (p == 1) return reduce(kernels::sum, SAME_DTYPE, true, *size, set, count < 0, keepdim);
        Owned power = real_number(p), inverse = real_number(1 / p);
        size = taken(pow_tensor(size.tensor, power.tensor));
        size = reduce(kernels::sum, SAME_DTYPE, true, *size, set, count < 0, keepdim);
        return taken(pow_tensor(size.tensor, inverse.tensor));
    });
}

Results* aminmax_tensor(Tensor* tensor, const int64_t* axes, int32_t count, int32_t keepdim) {
    return build_several<2>([&](Tensor** results) {
        const unsigned set = axis_set(*tensor, axes, count, "aminmax");
        Owned least = reduce(kernels::min, SAME_DTYPE, false, *tensor, set, count < 0, keepdim);
        results[1] = reduce(kernels::max, SAME_DTYPE, false, *tensor, set, count < 0, keepdim).give();
        results[0] = least.give();
    });
}

Tensor* logsumexp_tensor(Tensor* tensor, const int64_t* axes, int32_t count, int32_t keepdim) {
    return build([&] {
        Owned zero = taken(number_tensor(0, 0, BOOL)), top = taken(max_tensor(tensor, axes, count, 1));
        Owned is_finite = taken(isfinite_tensor(top.tensor));  // inf - inf would be NaN; exp() handles infinities
        Owned peak = taken(where_tensor(is_finite.tensor, top.tensor, zero.tensor));
        Owned result = taken(sub_tensor(tensor, peak.tensor));
        result = taken(exp_tensor(result.tensor));
        result = taken(sum_tensor(result.tensor, axes, count, 1));
        result = taken(log_tensor(result.tensor));
        result = taken(add_tensor(result.tensor, peak.tensor));
        if (!keepdim) drop_axes(*result, axis_set(*tensor, axes, count, "logsumexp"));
        return result;
    });
}

// ---- Others --------------------------------------------------------------------------------------------------------

Tensor* sum_to_shape(Tensor* tensor, Tensor* like) {
    return build([&] {
        int extra = tensor->ndim - like->ndim;
        unsigned axes = 0;
        for (int d = 0; d < tensor->ndim; d++) {
            int64_t size = d < extra ? -1 : like->shape[d - extra];
            if (d < extra || (size == 1 && tensor->shape[d] != 1))
                axes |= 1u << d;
            else if (size != tensor->shape[d])
                extra = -1;
        }
        if (extra < 0)
            fail(SHAPE_ERROR, "a gradient of shape {} does not fit an input of shape {}", shape_text(*tensor),
                 shape_text(*like));
        if (!axes) return view_of(*tensor, tensor->shape, tensor->strides, tensor->ndim, tensor->offset);
        Owned sums = reduce(kernels::sum, WIDE_DTYPE, true, *tensor, axes, false, true);
        return view_of(*sums, like->shape, sums->strides + extra, like->ndim, 0);
    });
}

using IndexKernel = Kernel<void(const Tensor& x, Tensor& out, int axis)>;

static Owned arg_reduce(const IndexKernel& kernel, const Tensor& tensor, int64_t axis, bool over_all, bool keepdim) {
    Owned flat;
    if (over_all || tensor.ndim == 0) {
        flat = reshaped(tensor, &tensor.size, 1);
        axis = 0;
    }
    const Tensor& x = flat.tensor ? *flat : tensor;
    int at = check_axis(axis, x.ndim, kernel.name);
    int64_t shape[MAX_DIMS] = {};
    for (int d = 0; d < x.ndim; d++) shape[d] = d == at ? 1 : x.shape[d];
    Owned result = new_tensor(shape, x.ndim, INT64, x.device);
    if (x.shape[at] == 0)
        fail(INDEX_ERROR, "{}: no elements along axis {} of shape {}", kernel.name, at, shape_text(x));
    if (result->size) kernel.launch(x.device, x, *result, at);
    if (!keepdim) {
        drop_axes(*result, 1u << at);
    } else if (flat.tensor) {
        result->ndim = tensor.ndim;
        for (int d = 0; d < tensor.ndim; d++) result->shape[d] = result->strides[d] = 1;
    }
    return result;
}

Tensor* argmax_tensor(Tensor* tensor, int64_t axis, int32_t over_all, int32_t keepdim) {
    return build([&] { return arg_reduce(kernels::argmax, *tensor, axis, over_all, keepdim); });
}

Tensor* argmin_tensor(Tensor* tensor, int64_t axis, int32_t over_all, int32_t keepdim) {
    return build([&] { return arg_reduce(kernels::argmin, *tensor, axis, over_all, keepdim); });
}

Results* extreme_tensor(Tensor* tensor, int64_t axis, int32_t keepdim, int32_t largest) {
    return build_several<2>([&](Tensor** results) {
        Owned places = arg_reduce(largest ? kernels::argmax : kernels::argmin, *tensor, axis, false, keepdim);
        const UnaryKernel& kernel = largest ? kernels::max : kernels::min;
        const unsigned set = tensor->ndim ? 1u << check_axis(axis, tensor->ndim, kernel.name) : 0;
        results[0] = reduce(kernel, SAME_DTYPE, false, *tensor, set, false, keepdim).give();
        results[1] = places.give();
    });
}
