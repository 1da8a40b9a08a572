// Reductions, the matrix product, concatenation and optimizer steps of the C API.

#include <string.h>

#include "api.h"
#include "cpu/backend.h"
#include "cuda/backend.h"

#define KERNEL_TABLE(name) {name##_tensor_cpu, name##_tensor_cuda}

// ---- Reductions -------------------------------------------------------------------------------------------------

using ReduceKernel = void (*)(const Tensor&, Tensor&);

// Removes the axes of a fresh result; without any left it is the article's scalar, shape [1].
static void drop_axes(Tensor& result, unsigned axes) {
    int ndim = 0;
    for (int d = 0; d < result.ndim; d++) {
        if (axes >> d & 1) continue;
        result.shape[ndim] = result.shape[d];
        result.strides[ndim++] = result.strides[d];
    }
    if (ndim == 0) result.shape[ndim] = result.strides[ndim] = 1, ndim = 1;
    result.ndim = ndim;
}

static unsigned axis_set(const Tensor& tensor, const int64_t* axes, int count, const char* name) {
    if (count < 0) return (1u << tensor.ndim) - 1;
    unsigned set = 0;
    for (int k = 0; k < count; k++) {
        int axis = check_axis(axes[k], tensor.ndim, name);
        if (set >> axis & 1)
            fail(RUNTIME_ERROR, "%s: axis %d appears twice in %s", name, axis, (const char*)shape_text(axes, count));
        set |= 1u << axis;
    }
    return set;
}

static Owned reduce(const ReduceKernel (&kernels)[DEVICE_KIND_COUNT], const Tensor& x, unsigned axes, int32_t dtype,
                    bool keepdim, bool needs_elements, const char* name) {
    int64_t shape[MAX_DIMS] = {}, reduced = 1;
    for (int d = 0; d < x.ndim; d++) {
        shape[d] = axes >> d & 1 ? 1 : x.shape[d];
        if (axes >> d & 1) reduced *= x.shape[d];
    }
    Owned result = new_tensor(shape, x.ndim, dtype, x.device);
    if (needs_elements && reduced == 0 && result->size)
        fail(RUNTIME_ERROR, "%s: no elements along the reduced axes of shape %s", name, (const char*)shape_text(x));
    if (result->size) kernels[kind_of(x.device)](x, *result);
    if (!keepdim) drop_axes(*result, axes);
    return result;
}

// What a reduction returns for a dtype, and whether it needs at least one element.
static int32_t wide_dtype(int32_t dtype) { return dtype < FLOAT32 ? int32_t(INT64) : dtype; }
static int32_t same_dtype(int32_t dtype) { return dtype; }
static int32_t bool_dtype(int32_t) { return BOOL; }
#define REDUCTION_RULE(name) name##_rule
static const struct {
    int32_t (*dtype)(int32_t);
    bool needs_elements;
} sum_rule = {wide_dtype, false}, prod_rule = {wide_dtype, false}, max_rule = {same_dtype, true},
  min_rule = {same_dtype, true}, any_rule = {bool_dtype, false}, all_rule = {bool_dtype, false};

#define DEFINE_REDUCTION(name)                                                                                  \
    Tensor* name##_tensor(Tensor* tensor, const int64_t* axes, int32_t count, int32_t keepdim) {                \
        static const ReduceKernel kernels[DEVICE_KIND_COUNT] = KERNEL_TABLE(name);                              \
        return build([&] {                                                                                      \
            return reduce(kernels, *tensor, axis_set(*tensor, axes, count, #name), name##_rule.dtype(tensor->dtype), \
                          keepdim, name##_rule.needs_elements, #name);                                          \
        });                                                                                                     \
    }
REDUCTIONS(DEFINE_REDUCTION)

Tensor* sum_to_shape(Tensor* tensor, Tensor* like) {
    return build([&] {
        static const ReduceKernel kernels[DEVICE_KIND_COUNT] = KERNEL_TABLE(sum);
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
            fail(SHAPE_ERROR, "a gradient of shape %s does not fit an input of shape %s",
                 (const char*)shape_text(*tensor), (const char*)shape_text(*like));
        if (!axes) return view_of(*tensor, tensor->shape, tensor->strides, tensor->ndim, tensor->offset);
        Owned sums = reduce(kernels, *tensor, axes, wide_dtype(tensor->dtype), true, false, "sum");
        return view_of(*sums, like->shape, sums->strides + extra, like->ndim, 0);
    });
}

using ArgKernel = void (*)(const Tensor&, Tensor&, int);

static Owned arg_reduce(const ArgKernel (&kernels)[DEVICE_KIND_COUNT], const Tensor& tensor, int64_t axis,
                        bool over_all, bool keepdim, const char* name) {
    Owned flat;
    if (over_all || tensor.ndim == 0) {
        flat = reshaped(tensor, &tensor.size, 1);
        axis = 0;
    }
    const Tensor& x = flat.tensor ? *flat : tensor;
    int at = check_axis(axis, x.ndim, name);
    int64_t shape[MAX_DIMS] = {};
    for (int d = 0; d < x.ndim; d++) shape[d] = d == at ? 1 : x.shape[d];
    Owned result = new_tensor(shape, x.ndim, INT64, x.device);
    if (result->size && x.shape[at] == 0)
        fail(INDEX_ERROR, "%s: no elements along axis %d of shape %s", name, at, (const char*)shape_text(x));
    if (result->size) kernels[kind_of(x.device)](x, *result, at);
    if (!keepdim) {
        drop_axes(*result, 1u << at);
    } else if (flat.tensor) {
        result->ndim = tensor.ndim;
        for (int d = 0; d < tensor.ndim; d++) result->shape[d] = result->strides[d] = 1;
    }
    return result;
}

Tensor* argmax_tensor(Tensor* tensor, int64_t axis, int32_t over_all, int32_t keepdim) {
    static const ArgKernel kernels[DEVICE_KIND_COUNT] = KERNEL_TABLE(argmax);
    return build([&] { return arg_reduce(kernels, *tensor, axis, over_all, keepdim, "argmax"); });
}

Tensor* argmin_tensor(Tensor* tensor, int64_t axis, int32_t over_all, int32_t keepdim) {
    static const ArgKernel kernels[DEVICE_KIND_COUNT] = KERNEL_TABLE(argmin);
    return build([&] { return arg_reduce(kernels, *tensor, axis, over_all, keepdim, "argmin"); });
}

// ---- Matrix product ---------------------------------------------------------------------------------------------

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
    if (x.device != y.device)
        fail(RUNTIME_ERROR, "matmul: expected all tensors on one device, got %s and %s",
             (const char*)device_text(x.device), (const char*)device_text(y.device));
    if (x.dtype != y.dtype || x.dtype == BOOL)
        fail(RUNTIME_ERROR, "matmul: expected two tensors of one numeric dtype, got %s and %s", dtype_name(x.dtype),
             dtype_name(y.dtype));
    if (x.ndim == 0 || y.ndim == 0)
        fail(SHAPE_ERROR, "matmul: both operands need at least one dimension, got shapes %s and %s",
             (const char*)shape_text(x), (const char*)shape_text(y));
    int64_t inner = x.shape[x.ndim - 1], rows = y.shape[y.ndim > 1 ? y.ndim - 2 : 0];
    if (inner != rows)
        fail(SHAPE_ERROR, "matmul: shapes %s and %s do not chain (%lld != %lld)", (const char*)shape_text(x),
             (const char*)shape_text(y), (long long)inner, (long long)rows);
}

Tensor* matmul_tensor(Tensor* tensor1, Tensor* tensor2) {
    using MatmulKernel = void (*)(const Tensor&, const Tensor&, Tensor&);
    static const MatmulKernel kernels[DEVICE_KIND_COUNT] = KERNEL_TABLE(matmul);
    return build([&] {
        check_matmul(*tensor1, *tensor2);
        Tensor a = as_matrix(*tensor1, true), b = as_matrix(*tensor2, false);
        int ndim = a.ndim > b.ndim ? a.ndim : b.ndim, batch = ndim - 2;
        int64_t shape[MAX_DIMS], a_shape[MAX_DIMS], b_shape[MAX_DIMS];
        for (int d = 0; d < batch; d++) {  // the leading axes broadcast
            int da = d - (ndim - a.ndim), db = d - (ndim - b.ndim);
            int64_t size_a = da < 0 ? 1 : a.shape[da], size_b = db < 0 ? 1 : b.shape[db];
            if (size_a != size_b && size_a != 1 && size_b != 1)
                fail(SHAPE_ERROR,
                     "matmul: leading axes of shapes %s and %s cannot be broadcast together (%lld != %lld)",
                     (const char*)shape_text(*tensor1), (const char*)shape_text(*tensor2), (long long)size_a,
                     (long long)size_b);
            shape[d] = a_shape[d] = b_shape[d] = size_a == 1 ? size_b : size_a;
        }
        shape[batch] = a_shape[batch] = a.shape[a.ndim - 2];
        a_shape[batch + 1] = b_shape[batch] = a.shape[a.ndim - 1];
        shape[batch + 1] = b_shape[batch + 1] = b.shape[b.ndim - 1];
        Owned result = new_tensor(shape, ndim, a.dtype, a.device);
        if (batch) a = expanded(a, a_shape, ndim, "matmul"), b = expanded(b, b_shape, ndim, "matmul");
        if (result->size) kernels[kind_of(a.device)](a, b, *result);
        unsigned dropped = (tensor1->ndim == 1 ? 1u << batch : 0) | (tensor2->ndim == 1 ? 1u << (batch + 1) : 0);
        if (dropped) drop_axes(*result, dropped);
        return result;
    });
}

// ---- Concatenation ----------------------------------------------------------------------------------------------

Tensor* cat_tensors(Tensor* const* tensors, int32_t count, int64_t axis) {
    return build([&] {
        if (count < 1) fail(VALUE_ERROR, "cat: expected at least one tensor, got none");
        const Tensor& first = *tensors[0];
        if (first.ndim == 0) fail(SHAPE_ERROR, "cat: tensors of 0 dimensions cannot be concatenated");
        int at = check_axis(axis, first.ndim, "cat");
        int64_t shape[MAX_DIMS];
        memcpy(shape, first.shape, sizeof shape);
        shape[at] = 0;
        int32_t dtype = BOOL;
        for (int k = 0; k < count; k++) {
            const Tensor& t = *tensors[k];
            bool fits = t.ndim == first.ndim;
            for (int d = 0; d < first.ndim && fits; d++) fits = d == at || t.shape[d] == first.shape[d];
            if (!fits)
                fail(SHAPE_ERROR, "cat: shapes %s and %s differ in more than axis %d", (const char*)shape_text(first),
                     (const char*)shape_text(t), at);
            if (t.device != first.device)
                fail(RUNTIME_ERROR, "cat: expected all tensors on one device, got %s and %s",
                     (const char*)device_text(first.device), (const char*)device_text(t.device));
            shape[at] += t.shape[at];
            dtype = dtype > t.dtype ? dtype : t.dtype;
        }
        Owned result = new_tensor(shape, first.ndim, dtype, first.device);
        int64_t start = 0;
        for (int k = 0; k < count; k++) {
            Owned part =
                view_of(*result, tensors[k]->shape, result->strides, result->ndim, start * result->strides[at]);
            assign(*tensors[k], *part);
            start += tensors[k]->shape[at];
        }
        return result;
    });
}
