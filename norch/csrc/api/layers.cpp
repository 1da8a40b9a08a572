// Layers and losses of the C API, each in one call: softmax, linear, cross-entropy, mean squared error, and gradients.
//
// Kernels along an axis take contiguous rows or columns (about_axis).

#include <math.h>
#include <string.h>

#include "api.h"
#include "api/checks.h"
#include "api/storage_order.h"
#include "dispatch.h"

// ---- Axes --------------------------------------------------------------------------------------------------------

// A view with the axis `from` at the place `to`; the others keep their order.
static Owned with_axis_moved(const Tensor& x, int from, int to) {
    int64_t shape[MAX_DIMS], strides[MAX_DIMS];
    for (int d = 0, source = 0; d < x.ndim; d++) {
        if (source == from) source++;
        const int axis = d == to ? from : source++;
        shape[d] = x.shape[axis], strides[d] = x.strides[axis];
    }
    return view_of(x, shape, strides, x.ndim, x.offset);
}

// x as the kernels take it.
Owned as_rows(const Tensor& x, int axis) {
    if (x.ndim == 0) {
        const int64_t one = 1;
        return view_of(x, &one, &one, 1, x.offset);
    }
    if (axis == x.ndim - 1) return contiguous(x);
    return contiguous(*with_axis_moved(x, axis, x.ndim - 1));
}

Owned from_rows(Owned rows, const Tensor& x, int axis) {
    if (x.ndim == 0) {
        rows->ndim = 0;
        return rows;
    }
    if (axis == x.ndim - 1) return rows;
    return contiguous(*with_axis_moved(*rows, x.ndim - 1, axis));
}

// ---- Operations along an axis ------------------------------------------------------------------------------------

// A contiguous tensor as [outer, n, inner] about an axis.
static Tensor about_axis(const Tensor& x, int axis) {
    Tensor view = x;
    view.ndim = 3;
    view.shape[0] = view.shape[2] = 1;
    view.shape[1] = x.ndim ? x.shape[axis] : 1;
    for (int d = 0; d < x.ndim; d++)
        if (d != axis) view.shape[d < axis ? 0 : 2] *= x.shape[d];
    view.strides[2] = 1, view.strides[1] = view.shape[2], view.strides[0] = view.shape[1] * view.shape[2];
    return view;
}

// Whether the rows of x along an axis lie one after the other, so that nothing is copied to walk along them.
static bool is_row_by_row(const Tensor& x, int axis) {
    return x.ndim > 1 && axis < x.ndim - 1 && is_contiguous(*with_axis_moved(x, axis, x.ndim - 1));
}

// x and the results of a kernel along an axis of it.
struct AlongAxis {
    const Tensor& x;
    const int axis;
    const bool rows;  // moved to the end
    const Owned from;

    AlongAxis(const Tensor& x, int axis)
        : x(x), axis(axis), rows(is_row_by_row(x, axis)), from(rows ? as_rows(x, axis) : contiguous(x)) {}

    Owned result() const { return new_tensor(from->shape, from->ndim, x.dtype, x.device); }
    Tensor of(const Tensor& tensor) const { return about_axis(tensor, rows ? x.ndim - 1 : axis); }
    Owned as_given(Owned result) const { return rows ? from_rows(std::move(result), x, axis) : std::move(result); }
};

static Owned along_axis(const UnaryKernel& kernel, const Tensor& x, int64_t axis) {
    check_real(x, kernel.name);
    const AlongAxis along(x, check_axis(axis, x.ndim, kernel.name));
    Owned out = along.result();
    Tensor result = along.of(*out);
    if (out->size) kernel.launch(x.device, along.of(*along.from), result);
    return along.as_given(std::move(out));
}

static Owned backward_along_axis(const BinaryKernel& kernel, const Tensor& gradient, const Tensor& y, int64_t axis) {
    check_real(y, kernel.name);
    check_pair(gradient, y, kernel.name);
    check_same_shape(gradient, y, kernel.name);
    const int at = check_axis(axis, y.ndim, kernel.name);
    Owned kept = contiguous(gradient), from = contiguous(y);
    Owned out = new_tensor(y.shape, y.ndim, y.dtype, y.device);
    Tensor result = about_axis(*out, at);
    if (out->size) kernel.launch(y.device, about_axis(*kept, at), about_axis(*from, at), result);
    return out;
}

// K(softmax) becomes softmax_tensor and softmax_backward.
#define DEFINE_ROW_OP(name)                                                                              \
    Tensor* name##_tensor(Tensor* tensor, int64_t axis) {                                                \
        return build([&] { return along_axis(kernels::name, *tensor, axis); });                          \
    }                                                                                                    \
    Tensor* name##_backward(Tensor* gradient, Tensor* output, int64_t axis) {                            \
        return build([&] { return backward_along_axis(kernels::name##_backward, *gradient, *output, axis); }); \
    }
ROW_OPS(DEFINE_ROW_OP)

// ---- Linear ------------------------------------------------------------------------------------------------------

// [..., n] as [rows, n]: x itself, or a view or copy that the caller keeps.
static const Tensor& as_matrix(const Tensor& x, Owned& kept) {
    if (x.ndim == 2) return x;
    const int64_t n = x.shape[x.ndim - 1], shape[] = {n ? x.size / n : 0, n};
    kept = reshaped(x, shape, 2);
    return *kept;
}

static void check_linear(const Tensor& x, const Tensor& weight) {
    check_real(x, "linear");
    check_pair(x, weight, "linear");
    if (weight.ndim != 2) fail(SHAPE_ERROR, "linear: weight has shape {}, expected [out, in]", shape_text(weight));
    if (x.ndim == 0 || x.shape[x.ndim - 1] != weight.shape[1])
        fail(SHAPE_ERROR, "linear: input has shape {}, expected [..., {}]", shape_text(x), weight.shape[1]);
}

Tensor* linear_tensor(Tensor* x, Tensor* weight, Tensor* bias) {
    return build([&] {
        check_linear(*x, *weight);
        const int64_t outputs = weight->shape[0];
        if (bias) {
            check_pair(*x, *bias, "linear");
            if (bias->ndim != 1 || bias->shape[0] != outputs)
                fail(SHAPE_ERROR, "linear: bias has shape {}, expected [{}]", shape_text(*bias), outputs);
        }
        int64_t shape[MAX_DIMS];
        memcpy(shape, x->shape, sizeof shape);
        shape[x->ndim - 1] = outputs;
        Owned out = new_tensor(shape, x->ndim, x->dtype, x->device);
        if (out->size == 0) return out;
        Tensor flat = *out;  // [rows, outputs]
        flat.ndim = 2;
        flat.shape[0] = out->size / outputs, flat.strides[0] = outputs;
        flat.shape[1] = outputs, flat.strides[1] = 1;
        Owned kept;
        kernels::linear.launch(x->device, as_matrix(*x, kept), *weight, bias, flat);
        return out;
    });
}

static Owned product(const Tensor& a, const Tensor& b) {
    const int64_t shape[] = {a.shape[0], b.shape[1]};
    Owned out = new_tensor(shape, 2, a.dtype, a.device);
    if (out->size) kernels::matmul.launch(a.device, a, b, *out);
    return out;
}

Results* linear_backward(Tensor* gradient, Tensor* x, Tensor* weight, int32_t needed) {
    enum { INPUT = 1, WEIGHT = 2, BIAS = 4 };
    return build_several<3>([&](Tensor** results) {
        check_linear(*x, *weight);
        check_pair(*gradient, *x, "linear_backward");
        const int64_t outputs = weight->shape[0];
        if (gradient->ndim != x->ndim || memcmp(gradient->shape, x->shape, sizeof(int64_t) * (x->ndim - 1)) ||
            gradient->shape[x->ndim - 1] != outputs)
            fail(SHAPE_ERROR,
                 "linear_backward: gradient has shape {}, which is not that of a result for input {} and weight {}",
                 shape_text(*gradient), shape_text(*x), shape_text(*weight));
        Owned kept, kept_input, for_input, for_weight, for_bias;
        const Tensor& rows = as_matrix(*gradient, kept);
        if (needed & INPUT) {
            for_input = product(rows, *weight);
            if (x->ndim != 2) for_input = reshaped(*for_input, x->shape, x->ndim);
        }
        if (needed & WEIGHT) for_weight = product(transposed(rows), as_matrix(*x, kept_input));
        if (needed & BIAS) {
            const int64_t shape[] = {1, outputs};
            for_bias = new_tensor(shape, 2, gradient->dtype, gradient->device);
            if (outputs) kernels::sum.launch(gradient->device, rows, *for_bias);
            for_bias->ndim = 1;
            for_bias->shape[0] = outputs, for_bias->strides[0] = 1;
        }
        give_all(results, for_input, for_weight, for_bias);
    });
}

// ---- Cross-entropy -----------------------------------------------------------------------------------------------

enum Reduction : int32_t { NO_REDUCTION, MEAN, SUM, BATCH_MEAN };

// What both directions need: the label of each row or column of logits, and how the losses are scaled, a float64.
struct Classification {
    int axis;  // of the classes: 1 in [N, C, ...], 0 in [C]
    Owned labels, scale;

    Classification(const Tensor& x, const Tensor& targets, int64_t ignored, int32_t reduction, const char* name) {
        check_real(x, name);
        if (targets.dtype == BOOL || is_real(targets.dtype))
            fail(RUNTIME_ERROR, "{}: target has dtype {}, expected an integer dtype", name, dtype_name(targets.dtype));
        if (x.device != targets.device) check_pair(x, targets, name);
        if (x.ndim == 0) fail(SHAPE_ERROR, "{}: input has no dimensions, expected [C] or [N, C, ...]", name);
        axis = x.ndim > 1 ? 1 : 0;
        check_target_shape(x, targets, name);
        labels = targets.dtype == INT64 ? contiguous(targets) : cast(targets, INT64);
        const int64_t one = 1;
        scale = new_tensor(&one, 1, FLOAT64, x.device);
        const Fault bounds = {Fault::TARGET, 0, name, x.shape[axis], ignored, 0};
        if (labels->size) kernels::label_scale.launch(x.device, *labels, bounds, reduction == MEAN, *scale);
    }

    void check_target_shape(const Tensor& x, const Tensor& targets, const char* name) const {
        int64_t expected[MAX_DIMS];
        for (int d = 0; d < x.ndim - 1; d++) expected[d] = x.shape[d < axis ? d : d + 1];
        if (x.ndim == 1 && targets.size == 1)
            return;  // a lone sample's class is a scalar, which the article gives shape [1]
        if (!has_shape(targets, expected, x.ndim - 1))
            fail(SHAPE_ERROR, "{}: target has shape {}, expected {} for an input of {}", name, shape_text(targets),
                 shape_text(expected, x.ndim - 1), shape_text(x));
    }
};

Tensor* cross_entropy_tensor(Tensor* logits, Tensor* targets, int64_t ignore_index, int32_t reduction,
                             double smoothing) {
    return build([&] {
        const Classification task(*logits, *targets, ignore_index, reduction, "cross_entropy");
        const AlongAxis x(*logits, task.axis);
        Owned losses = new_tensor(targets->shape, targets->ndim, logits->dtype, logits->device);
        if (losses->size)
            kernels::cross_entropy.launch(logits->device, x.of(*x.from), *task.labels, *task.scale, *losses,
                                          ignore_index, smoothing);
        if (reduction == NO_REDUCTION) return losses;
        Owned total = new_tensor(ONES, targets->ndim, logits->dtype, logits->device);
        kernels::sum.launch(logits->device, *losses, *total);
        total->ndim = 0;
        if (reduction == SUM || losses->size) return total;
        fill(*total, NAN);  // the mean of nothing
        return total;
    });
}

Tensor* cross_entropy_backward(Tensor* gradient, Tensor* logits, Tensor* targets, int64_t ignore_index,
                               int32_t reduction, double smoothing) {
    return build([&] {
        const Classification task(*logits, *targets, ignore_index, reduction, "cross_entropy");
        check_pair(*gradient, *logits, "cross_entropy_backward");
        if (gradient->size != (reduction == NO_REDUCTION ? targets->size : 1))
            fail(SHAPE_ERROR, "cross_entropy_backward: gradient has shape {}, expected that of the loss",
                 shape_text(*gradient));
        const AlongAxis x(*logits, task.axis);
        Owned factors = contiguous(*gradient), out = x.result();
        Tensor slopes = x.of(*out);
        if (out->size)
            kernels::cross_entropy_backward.launch(logits->device, *factors, x.of(*x.from), *task.labels, *task.scale,
                                                   slopes, ignore_index, smoothing);
        return x.as_given(std::move(out));
    });
}

// The negative log-likelihood: the loss; the class of each sample, [N, 1], 0 if it does not count; its weight, [N, 1];
// the sum of the weights.
Results* nll_tensor(Tensor* scores, Tensor* targets, Tensor* weight, int64_t ignore_index, int32_t reduction) {
    return build_several<4>([&](Tensor** results) {
        const Classification task(*scores, *targets, ignore_index, SUM, "nll_loss");
        const int64_t classes = scores->shape[task.axis], ones[] = {task.labels->size, 1};
        if (weight) check_pair(*scores, *weight, "nll_loss");
        if (weight && !has_shape(*weight, &classes, 1))
            fail(SHAPE_ERROR, "nll_loss: weight has shape {}, expected [{}]", shape_text(*weight), classes);
        const AlongAxis log_p(*scores, task.axis);
        Owned index = new_tensor(ones, 2, INT64, scores->device), kept;
        Owned shares = new_tensor(ones, 2, scores->dtype, scores->device);
        Owned loss = new_tensor(ones, 2, scores->dtype, scores->device);
        if (weight) kept = contiguous(*weight);
        if (loss->size)
            kernels::nll.launch(scores->device, log_p.of(*log_p.from), *task.labels, kept.tensor, *loss, *index,
                                *shares, ignore_index);
        Owned total = taken(sum_tensor(shares.tensor, nullptr, -1, false));
        if (reduction == NO_REDUCTION)
            loss = reshaped(*loss, targets->shape, targets->ndim);
        else
            loss = taken(sum_tensor(loss.tensor, nullptr, -1, false));
        if (reduction == MEAN) loss = taken(div_tensor(loss.tensor, total.tensor));
        give_all(results, loss, index, shares, total);
    });
}

Tensor* nll_backward(Tensor* gradient, Tensor* index, Tensor* shares, Tensor* total, const int64_t* shape,
                     int32_t ndim) {
    return build([&] {
        Owned slope = taken(neg_tensor(gradient));
        if (total) slope = taken(div_tensor(slope.tensor, total));
        if (slope->size == index->size) slope = reshaped(*slope, index->shape, 2);
        slope = taken(elementwise_mul_tensor(slope.tensor, shares));
        Owned out = new_tensor(shape, ndim, slope->dtype, slope->device);
        fill(*out, 0);
        if (out->size == 0) return out;
        Tensor scores = about_axis(*out, ndim > 1 ? 1 : 0);
        const int64_t chosen[] = {scores.shape[0], 1, scores.shape[2]};
        const Owned classes = reshaped(*index, chosen, 3), slopes = reshaped(*slope, chosen, 3);
        done(scatter_into(&scores, classes.tensor, 1, ELEMENTS, slopes.tensor, REPLACE));
        return out;
    });
}

// ---- Gated linear units --------------------------------------------------------------------------------------------

static Owned half_of(Tensor* x, int64_t axis, int which) {
    const int64_t size = x->shape[check_axis(axis, x->ndim, "glu")] / 2;
    return taken(slice_tensor(x, axis, which * size, size, 1));
}

Tensor* glu_tensor(Tensor* x, int64_t axis) {
    return build([&] {
        const Owned value = half_of(x, axis, 0), gate = half_of(x, axis, 1);
        return taken(gate_tensor(value.tensor, gate.tensor));
    });
}

Tensor* glu_backward(Tensor* gradient, Tensor* x, int64_t axis) {
    return build([&] {
        const Owned value = half_of(x, axis, 0), gate = half_of(x, axis, 1);
        Owned out = new_tensor(x->shape, x->ndim, x->dtype, x->device);
        const Owned for_value = half_of(out.tensor, axis, 0), for_gate = half_of(out.tensor, axis, 1);
        done(gate_into(for_value.tensor, gradient, gate.tensor));
        done(gate_backward_into(for_gate.tensor, gradient, value.tensor, gate.tensor));
        return out;
    });
}

// ---- Losses of pairs ---------------------------------------------------------------------------------------------

// x with its dimensions in the order of both operands, contiguous: itself, or a copy that the caller keeps.
static Tensor in_order(const StorageOrder& order, const Tensor& x, Owned& kept) {
    const Tensor ordered = order.view(x);
    if (is_contiguous(ordered)) return ordered;
    kept = cast(ordered, x.dtype);
    return *kept;
}

static double scale_of(const Tensor& x, const Tensor& y, int32_t reduction, const char* name) {
    check_real(x, name);
    check_pair(x, y, name);
    check_same_shape(x, y, name);
    if (reduction == SUM) return 1;
    if (reduction == BATCH_MEAN) return 1 / double(x.ndim ? x.shape[0] : 1);
    if (reduction != MEAN)
        fail(VALUE_ERROR, "{}: reduction is {}, expected 1 (mean), 2 (sum) or 3 (the mean of a batch)", name,
             reduction);
    return 1 / double(x.size);
}

template <class Kernel>
static Tensor* loss_of(const Kernel& kernel, const Tensor& predictions, const Tensor& targets, double parameter,
                       int32_t reduction) {
    return build([&] {
        const double scale = scale_of(predictions, targets, reduction, kernel.name);
        const Tensor* const both[] = {&predictions, &targets};
        const StorageOrder order(both);
        Owned kept_x, kept_y;
        const Tensor x = in_order(order, predictions, kept_x), y = in_order(order, targets, kept_y);
        Owned out = new_tensor(nullptr, 0, x.dtype, x.device);
        kernel.launch(x.device, x, y, *out, parameter, scale);
        return out;
    });
}

template <class Kernel>
static Tensor* loss_backward(const Kernel& kernel, const Tensor& gradient, const Tensor& predictions,
                             const Tensor& targets, double parameter, int32_t reduction) {
    return build([&] {
        const double scale = scale_of(predictions, targets, reduction, kernel.name);
        check_pair(gradient, predictions, kernel.name);
        if (gradient.size != 1)
            fail(SHAPE_ERROR, "{}: gradient has shape {}, expected []", kernel.name, shape_text(gradient));
        const Tensor* const both[] = {&predictions, &targets};
        const StorageOrder order(both);
        Owned kept_x, kept_y;
        const Tensor x = in_order(order, predictions, kept_x), y = in_order(order, targets, kept_y);
        Owned out = new_tensor(predictions.shape, x.ndim, x.dtype, x.device);
        order.lay_out(*out);
        Tensor slopes = order.view(*out);
        if (out->size) kernel.launch(x.device, gradient, x, y, slopes, parameter, scale);
        return out;
    });
}

#define DEFINE_LOSS(name, loss, slope)                                                                        \
    Tensor* name##_tensor(Tensor* x, Tensor* y, double parameter, int32_t reduction) {                        \
        return loss_of(kernels::name, *x, *y, parameter, reduction);                                          \
    }                                                                                                         \
    Tensor* name##_backward(Tensor* gradient, Tensor* x, Tensor* y, double parameter, int32_t reduction) {    \
        return loss_backward(kernels::name##_backward, *gradient, *x, *y, parameter, reduction);              \
    }
LOSSES(DEFINE_LOSS)
