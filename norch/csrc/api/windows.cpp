// What slides a window over images, in the C API: unfold and fold, convolution, and their gradients.
//
// Images are [N, C, y, x]; Python brings in what has no batch, or a single axis. ops/windows.h has the geometry, pooling.cpp the
// pools.

#include "api.h"
#include "api/checks.h"
#include "api/windows.h"
#include "dispatch.h"

namespace {

void check_rank(const Tensor& x, const char* name) {
    if (x.ndim != 4) fail(SHAPE_ERROR, "{}: input has shape {}, expected [N, C, height, width]", name, shape_text(x));
}

void check_images(const Tensor& x, const char* name) {
    check_real(x, name);
    check_rank(x, name);
}

Window window_of(const int64_t* given, int64_t height, int64_t width, bool ceil, const char* name) {
    return {axis_of(given, 2, height, ceil, name), axis_of(given + 1, 2, width, ceil, name)};
}

Window window_of(const int64_t* given, const Tensor& x, bool ceil, const char* name) {
    return window_of(given, x.shape[2], x.shape[3], ceil, name);
}

// Contiguous images with the first two sizes of another tensor.
Owned new_images(const Tensor& like, int64_t channels, int64_t height, int64_t width) {
    const int64_t shape[] = {like.shape[0], channels, height, width};
    return new_tensor(shape, 4, like.dtype, like.device);
}

}  // namespace

void check_number(const Tensor& x, const char* name) {
    if (x.dtype == BOOL) fail(RUNTIME_ERROR, "{}: expected a dtype of numbers, got bool", name);
}

Axis axis_of(const int64_t* given, int apart, int64_t in, bool ceil, const char* name) {
    enum { LARGEST = INT32_MAX };  // of any setting: what is computed of them fits 64 bits
    static const char* const names[] = {"kernel size", "stride", "dilation", "padding", "padding"};
    for (int k = 0; k < 5; k++) {
        const int64_t value = given[k * apart], least = k < 3;
        if (value < least || value > LARGEST)
            fail(RUNTIME_ERROR, "{}: {} is {}, expected {} to {}", name, names[k], value, least, LARGEST);
    }
    Axis axis = {in, 0, given[0], given[apart], given[2 * apart], given[3 * apart]};
    const int64_t padded = in + axis.before + given[4 * apart], seen = axis.dilation * (axis.kernel - 1) + 1;
    const int64_t room = padded - seen + (ceil ? axis.stride - 1 : 0);  // with `ceil` a window may reach beyond the end
    if (room < 0 || padded == 0)
        fail(SHAPE_ERROR, "{}: a window of {} elements is larger than the input, which has {} with its padding", name,
             seen, padded);
    axis.out = room / axis.stride + 1;
    if (ceil && (axis.out - 1) * axis.stride >= in + axis.before) axis.out--;  // it would see padding only
    return axis;
}

// ---- Columns -----------------------------------------------------------------------------------------------------

Tensor* unfold_tensor(Tensor* x, const int64_t* given) {
    return build([&] {
        check_rank(*x, "unfold");
        const Window window = window_of(given, *x, false, "unfold");
        const int64_t shape[] = {x->shape[0], x->shape[1] * window.taps(), window.outputs()};
        Owned images = contiguous(*x), out = new_tensor(shape, 3, x->dtype, x->device);
        if (out->size == 0) return out;
        kernels::unfold.launch(x->device, *images, *out, window);
        return out;
    });
}

Tensor* fold_tensor(Tensor* columns, const int64_t* given, int64_t height, int64_t width) {
    return build([&] {
        check_number(*columns, "fold");
        const Window window = window_of(given, height, width, false, "fold");
        if (columns->ndim != 3 || columns->shape[1] % window.taps() || columns->shape[2] != window.outputs())
            fail(SHAPE_ERROR, "fold: input has shape {}, expected [N, C * {}, {}]", shape_text(*columns), window.taps(),
                 window.outputs());
        Owned rows = contiguous(*columns), out = new_images(*columns, columns->shape[1] / window.taps(), height, width);
        if (rows->size == 0)
            fill(*out, 0);
        else
            kernels::fold.launch(out->device, *rows, *out, window);
        return out;
    });
}

// ---- Convolution -------------------------------------------------------------------------------------------------

// The window of a convolution, after checks of what it is given.
static Window conv_window(const Tensor& x, const Tensor& weight, const int64_t* given, int64_t groups) {
    check_images(x, "conv");
    check_pair(x, weight, "conv");
    if (weight.ndim != 4 || weight.shape[2] != given[0] || weight.shape[3] != given[1])
        fail(SHAPE_ERROR, "conv: weight has shape {}, expected [out, in / groups, {}, {}]", shape_text(weight),
             given[0], given[1]);
    if (groups < 1) fail(RUNTIME_ERROR, "conv: groups is {}, expected at least 1", groups);
    if (weight.shape[0] % groups)
        fail(SHAPE_ERROR, "conv: weight has shape {}, expected its {} outputs to fall into {} groups",
             shape_text(weight), weight.shape[0], groups);
    if (x.shape[1] % groups || x.shape[1] / groups != weight.shape[1])
        fail(SHAPE_ERROR, "conv: input has {} channels (shape {}), expected {} for a weight of {} in {} groups",
             x.shape[1], shape_text(x), (weight.shape[1] * groups), shape_text(weight), groups);
    return window_of(given, x, false, "conv");
}

Tensor* conv_tensor(Tensor* x, Tensor* weight, Tensor* bias, const int64_t* given, int64_t groups) {
    return build([&] {
        const Window window = conv_window(*x, *weight, given, groups);
        if (bias) {
            check_pair(*x, *bias, "conv");
            if (bias->ndim != 1 || bias->shape[0] != weight->shape[0])
                fail(SHAPE_ERROR, "conv: bias has shape {}, expected [{}]", shape_text(*bias), weight->shape[0]);
        }
        Owned out = new_images(*x, weight->shape[0], window.y.out, window.x.out);
        if (out->size == 0) return out;
        if (weight->size == 0)
            fail(SHAPE_ERROR, "conv: weight has shape {}, expected no size of 0", shape_text(*weight));
        Owned images = contiguous(*x), filters = contiguous(*weight), start;
        if (bias) start = contiguous(*bias);
        kernels::conv.launch(x->device, *images, *filters, start.tensor, *out, window);
        return out;
    });
}

// The sum of a gradient [N, C, y, x] for each channel.
static Owned sum_of_channels(const Tensor& gradient) {
    const int64_t shape[] = {1, gradient.shape[1], 1, 1};
    Owned sums = new_tensor(shape, 4, gradient.dtype, gradient.device);
    if (sums->size) kernels::sum.launch(gradient.device, gradient, *sums);
    sums->ndim = 1;
    sums->shape[0] = gradient.shape[1], sums->strides[0] = 1;
    return sums;
}

Results* conv_backward(Tensor* gradient, Tensor* x, Tensor* weight, const int64_t* given, int64_t groups,
                       int32_t needed) {
    enum { INPUT = 1, WEIGHT = 2, BIAS = 4 };
    return build_several<3>([&](Tensor** results) {
        const Window window = conv_window(*x, *weight, given, groups);
        check_pair(*gradient, *x, "conv_backward");
        const int64_t expected[] = {x->shape[0], weight->shape[0], window.y.out, window.x.out};
        if (!has_shape(*gradient, expected, 4))
            fail(SHAPE_ERROR, "conv_backward: gradient has shape {}, expected {}", shape_text(*gradient),
                 shape_text(expected, 4));
        Owned g = contiguous(*gradient), for_input, for_weight, for_bias;
        const bool empty = g->size == 0 || x->size == 0;
        if (needed & INPUT) {
            for_input = new_images(*x, x->shape[1], x->shape[2], x->shape[3]);
            if (empty)
                fill(*for_input, 0);
            else
                kernels::conv_input.launch(x->device, *g, *contiguous(*weight), *for_input, window);
        }
        if (needed & WEIGHT) {
            for_weight = new_tensor(weight->shape, 4, weight->dtype, weight->device);
            if (empty)
                fill(*for_weight, 0);
            else
                kernels::conv_weight.launch(x->device, *g, *contiguous(*x), *for_weight, window);
        }
        if (needed & BIAS) for_bias = sum_of_channels(*g);
        give_all(results, for_input, for_weight, for_bias);
    });
}
