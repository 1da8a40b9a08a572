// What slides a window over images, in the C API: unfold and fold, convolution, and their gradients.
//
// Images are [N, C, ...] with one to three axes more: sequences, images and volumes. ops/windows.h has the geometry,
// pooling.cpp the pools.

#include "api.h"
#include "api/checks.h"
#include "api/windows.h"
#include "dispatch.h"

namespace {

// `given` has five settings for each axis.
Window window_of(const int64_t* given, const int64_t* sizes, int axes, const char* name) {
    Axis found[3] = {};
    for (int d = 0; d < axes; d++) found[d] = axis_of(given + d, axes, sizes[d], false, name);
    return window_along(found, axes);
}

// Contiguous images of these channels with the batch of another tensor; their sizes are what the window sees or gives.
Owned new_images(const Tensor& like, int64_t channels, const Window& window, bool of_outputs, int axes) {
    int64_t shape[5] = {like.shape[0], channels};
    set_sizes(shape + 2, axes, window, of_outputs);
    return new_tensor(shape, 2 + axes, like.dtype, like.device);
}

}  // namespace

int axes_of(const Tensor& images, const char* name) {
    if (images.ndim < 3 || images.ndim > 5)
        fail(SHAPE_ERROR, "{}: images have shape {}, expected [N, C, ...] with one to three axes", name,
             shape_text(images));
    return images.ndim - 2;
}

void set_sizes(int64_t* sizes, int axes, const Window& window, bool of_outputs) {
    const Axis* const all[] = {&window.z, &window.y, &window.x};
    for (int d = 0; d < axes; d++) sizes[d] = of_outputs ? all[d + 3 - axes]->out : all[d + 3 - axes]->in;
}

Window window_along(const Axis (&found)[3], int axes) {
    Window window = {{1, 1, 1, 1, 1, 0}, found[axes - 1]};
    if (axes > 1) window.y = found[axes - 2];
    if (axes > 2) window.z = found[0];
    return window;
}

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
        const Window window = window_of(given, x->shape + 2, axes_of(*x, "unfold"), "unfold");
        const int64_t shape[] = {x->shape[0], x->shape[1] * window.taps(), window.outputs()};
        Owned images = contiguous(*x), out = new_tensor(shape, 3, x->dtype, x->device);
        if (out->size) kernels::unfold.launch(x->device, *images, *out, window);
        return out;
    });
}

Tensor* fold_tensor(Tensor* columns, const int64_t* given, const int64_t* sizes, int32_t axes) {
    return build([&] {
        check_number(*columns, "fold");
        const Window window = window_of(given, sizes, axes, "fold");
        if (columns->ndim != 3 || columns->shape[1] % window.taps() || columns->shape[2] != window.outputs())
            fail(SHAPE_ERROR, "fold: input has shape {}, expected [N, C * {}, {}]", shape_text(*columns), window.taps(),
                 window.outputs());
        Owned rows = contiguous(*columns);
        Owned out = new_images(*columns, columns->shape[1] / window.taps(), window, false, axes);
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
    check_real(x, "conv");
    const int axes = axes_of(x, "conv");
    check_pair(x, weight, "conv");
    bool fits = weight.ndim == x.ndim;
    for (int d = 0; fits && d < axes; d++) fits = weight.shape[2 + d] == given[d];
    if (!fits)
        fail(SHAPE_ERROR, "conv: weight has shape {}, expected [out, in / groups, ...] that ends in {}",
             shape_text(weight), shape_text(given, axes));
    if (groups < 1) fail(RUNTIME_ERROR, "conv: groups is {}, expected at least 1", groups);
    if (weight.shape[0] % groups)
        fail(SHAPE_ERROR, "conv: weight has shape {}, expected its {} outputs to fall into {} groups",
             shape_text(weight), weight.shape[0], groups);
    if (x.shape[1] % groups || x.shape[1] / groups != weight.shape[1])
        fail(SHAPE_ERROR, "conv: input has {} channels (shape {}), expected {} for a weight of {} in {} groups",
             x.shape[1], shape_text(x), (weight.shape[1] * groups), shape_text(weight), groups);
    return window_of(given, x.shape + 2, axes, "conv");
}

Tensor* conv_tensor(Tensor* x, Tensor* weight, Tensor* bias, const int64_t* given, int64_t groups) {
    return build([&] {
        const Window window = conv_window(*x, *weight, given, groups);
        if (bias) {
            check_pair(*x, *bias, "conv");
            if (bias->ndim != 1 || bias->shape[0] != weight->shape[0])
                fail(SHAPE_ERROR, "conv: bias has shape {}, expected [{}]", shape_text(*bias), weight->shape[0]);
        }
        Owned out = new_images(*x, weight->shape[0], window, true, x->ndim - 2);
        if (out->size == 0) return out;
        if (weight->size == 0)
            fail(SHAPE_ERROR, "conv: weight has shape {}, expected no size of 0", shape_text(*weight));
        Owned images = contiguous(*x), filters = contiguous(*weight), start;
        if (bias) start = contiguous(*bias);
        kernels::conv.launch(x->device, *images, *filters, start.tensor, *out, window);
        return out;
    });
}

// The sum of a gradient [N, C, ...] for each channel.
static Owned sum_of_channels(const Tensor& gradient) {
    int64_t shape[5] = {1, gradient.shape[1], 1, 1, 1};
    Owned sums = new_tensor(shape, gradient.ndim, gradient.dtype, gradient.device);
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
        const int axes = x->ndim - 2;
        int64_t expected[5] = {x->shape[0], weight->shape[0]};
        set_sizes(expected + 2, axes, window, true);
        if (!has_shape(*gradient, expected, x->ndim))
            fail(SHAPE_ERROR, "conv_backward: gradient has shape {}, expected {}", shape_text(*gradient),
                 shape_text(expected, x->ndim));
        Owned g = contiguous(*gradient), for_input, for_weight, for_bias;
        const bool empty = g->size == 0 || x->size == 0;
        if (needed & INPUT) {
            for_input = new_images(*x, x->shape[1], window, false, axes);
            if (empty)
                fill(*for_input, 0);
            else
                kernels::conv_input.launch(x->device, *g, *contiguous(*weight), *for_input, window);
        }
        if (needed & WEIGHT) {
            for_weight = new_tensor(weight->shape, weight->ndim, weight->dtype, weight->device);
            if (empty)
                fill(*for_weight, 0);
            else
                kernels::conv_weight.launch(x->device, *g, *contiguous(*x), *for_weight, window);
        }
        if (needed & BIAS) for_bias = sum_of_channels(*g);
        give_all(results, for_input, for_weight, for_bias);
    });
}
