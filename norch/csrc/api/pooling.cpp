// Pooling in the C API: the largest element or the average of what a window sees of images, and the gradients.
//
// Images are [N, C, ...] with one to three axes more: sequences, images and volumes. ops/windows.h has the geometry.

#include <utility>

#include "api.h"
#include "api/checks.h"
#include "api/storage_order.h"
#include "api/windows.h"
#include "dispatch.h"

namespace {

// New images with the first two sizes of another tensor, in the order that the window names.
Owned new_images(const Tensor& like, const Window& window, bool of_outputs, int32_t dtype) {
    const bool channels_last = window.channels > 1;
    int64_t shape[6] = {like.shape[0], channels_last ? 1 : like.shape[1]};
    set_sizes(shape + 2, like.ndim - 2, window, of_outputs);
    shape[like.ndim] = window.channels;
    Owned images = new_tensor(shape, like.ndim + channels_last, dtype, like.device);
    if (channels_last) put_channels_first(*images);
    return images;
}

// Torch's rule: a window that lies in the padding alone has no largest element.
void check_padding(const Axis& axis, const char* name) {
    const int64_t seen = axis.dilation * (axis.kernel - 1) + 1;
    if (axis.before > seen / 2)
        fail(RUNTIME_ERROR, "{}: padding is {}, expected at most half of the window's {} elements", name, axis.before,
             seen);
}

// The taps of a dilated window may step over a small image.
void check_taps(const Axis& axis, const char* name) {
    if (axis.dilation == 1) return;
    for (int64_t o = 0; o < axis.out && axis.input(o, 0) < 0; o++) {
        bool sees = false;
        for (int64_t tap = 0; tap < axis.kernel && !sees; tap++) sees = axis.holds(axis.input(o, tap));
        if (!sees)
            fail(SHAPE_ERROR, "{}: no tap of the window at {} falls on the {} elements of the input", name, o, axis.in);
    }
}

// A pool's window over images of these sizes; one without elements is refused, as it has no largest and no average.
// `given` has five settings for each axis.
Window pool_window(const int64_t* given, const int64_t* sizes, int axes, bool ceil, const char* name) {
    Axis found[3] = {};
    for (int d = 0; d < axes; d++) {
        found[d] = axis_of(given + d, axes, sizes[d], ceil, name);
        check_padding(found[d], name);
        check_taps(found[d], name);
        if (sizes[d] == 0) fail(SHAPE_ERROR, "{}: an image of {} has no elements", name, shape_text(sizes, axes));
    }
    return window_along(found, axes);
}

// Windows that share out images of `in` evenly between `out` results.
Window adaptive_window(const int64_t* in, const int64_t* out, int axes, const char* name) {
    Axis found[3] = {};
    for (int d = 0; d < axes; d++) {
        if (in[d] < 1 || out[d] < 1 || out[d] > INT32_MAX)
            fail(SHAPE_ERROR, "{}: from an image of {} to {}, expected sizes of at least 1", name, shape_text(in, axes),
                 shape_text(out, axes));
        found[d] = {in[d], out[d], 0, 0, 1, 0};
    }
    return window_along(found, axes);
}

// The window whose result has a gradient like this, of images of these sizes; `given` is null if it is adaptive.
Window window_behind(const Tensor& gradient, const int64_t* given, const int64_t* sizes, bool ceil, const char* name) {
    check_real(gradient, name);
    const int axes = axes_of(gradient, name);
    const Window window =
        given ? pool_window(given, sizes, axes, ceil, name) : adaptive_window(sizes, gradient.shape + 2, axes, name);
    int64_t outputs[3];
    set_sizes(outputs, axes, window, true);
    for (int d = 0; d < axes; d++)
        if (gradient.shape[2 + d] != outputs[d])
            fail(SHAPE_ERROR, "{}: gradient has shape {}, expected [N, C, ...] that end in {}", name,
                 shape_text(gradient), shape_text(outputs, axes));
    return window;
}

// Whether a pool leaves the channels of images last in memory. (A single sum of a large image is more exact by rows. Of
// volumes PyTorch keeps the order for max pools alone.)
bool keeps_channels_last(const Tensor& images, const Window& window, bool of_volumes = false) {
    return (images.ndim == 4 || of_volumes) && window.outputs() > 1 && has_channels_last(images);
}

// Sets the window's channels if they are last, and fill vectors: a few are sooner brought into rows and back.
Window in_order_of(const Tensor& images, Window window, bool channels_last) {
    enum { SOME = 8 };
    if (channels_last && images.shape[1] >= SOME) window.channels = images.shape[1];
    return window;
}

// Images as a kernel takes them: contiguous, or with the channels last.
Owned ordered(const Tensor& images, const Window& window) {
    return contiguous(window.channels > 1 ? with_channels_last(images) : images);
}

// What a kernel made, with the channels last if they are to be.
Owned restored(Owned images, bool channels_last) {
    if (!channels_last || has_channels_last(*images)) return images;
    Owned turned = contiguous(with_channels_last(*images));
    put_channels_first(*turned);
    return turned;
}

// ---- The largest element -----------------------------------------------------------------------------------------

void largest_of(const Tensor& x, const Window& given, bool with_places, Tensor** results) {
    const bool channels_last = keeps_channels_last(x, given, !is_adaptive(given.x));
    const Window window = in_order_of(x, given, channels_last);
    Owned largest = new_images(x, window, true, x.dtype), places;
    if (with_places) places = new_images(x, window, true, INT64);
    if (largest->size) kernels::max_pool.launch(x.device, *ordered(x, window), *largest, places.tensor, window);
    largest = restored(std::move(largest), channels_last);
    if (with_places) places = restored(std::move(places), channels_last);
    give_all(results, largest, places);
}

// ---- The average -------------------------------------------------------------------------------------------------

// Runs pool(images, result, how) for a result of the window's outputs, or of its inputs.
template <class F>
Owned averaged(const Tensor& x, Averaging how, bool of_outputs, F pool) {
    const bool channels_last = keeps_channels_last(x, how.window);
    how.window = in_order_of(x, how.window, channels_last);
    Owned out = new_images(x, how.window, of_outputs, x.dtype);
    if (out->size) pool(*ordered(x, how.window), *out, how);
    return restored(std::move(out), channels_last);
}

Owned average(const Tensor& x, const Averaging& how) {
    return averaged(x, how, true, [](const Tensor& images, Tensor& out, const Averaging& how) {
        kernels::avg_pool.launch(out.device, images, out, how);
    });
}

Owned average_backward(const Tensor& gradient, const Averaging& how) {
    return averaged(gradient, how, false, [](const Tensor& shares, Tensor& out, const Averaging& how) {
        kernels::avg_pool_backward.launch(out.device, shares, out, how);
    });
}

}  // namespace

Results* max_pool_tensor(Tensor* x, const int64_t* given, int32_t ceil, int32_t with_places) {
    return build_several<2>([&](Tensor** results) {
        check_number(*x, "max_pool");
        const int axes = axes_of(*x, "max_pool");
        largest_of(*x, pool_window(given, x->shape + 2, axes, ceil, "max_pool"), with_places, results);
    });
}

Results* adaptive_max_pool_tensor(Tensor* x, const int64_t* sizes) {
    const char* const name = "adaptive_max_pool";
    return build_several<2>([&](Tensor** results) {
        check_number(*x, name);
        const int axes = axes_of(*x, name);
        largest_of(*x, adaptive_window(x->shape + 2, sizes, axes, name), true, results);
    });
}

Tensor* max_pool_backward(Tensor* gradient, Tensor* indices, const int64_t* given, int32_t ceil, const int64_t* sizes) {
    const char* const name = "max_pool_backward";
    return build([&] {
        const Window seen = window_behind(*gradient, given, sizes, ceil, name);
        check_devices(*gradient, *indices, name);
        if (indices->dtype != INT64 || !same_shape(*indices, *gradient))
            fail(SHAPE_ERROR, "{}: indices have shape {} and dtype {}, expected {} and int64", name,
                 shape_text(*indices), dtype_name(indices->dtype), shape_text(*gradient));
        const bool channels_last = keeps_channels_last(*indices, seen, true);  // as of the images
        const Window window = in_order_of(*indices, seen, channels_last);
        Owned out = new_images(*gradient, window, false, gradient->dtype);
        if (out->size)
            kernels::max_pool_backward.launch(out->device, *ordered(*gradient, window), *ordered(*indices, window),
                                              *out, window);
        return restored(std::move(out), channels_last);
    });
}

Tensor* avg_pool_tensor(Tensor* x, const int64_t* given, int32_t ceil, int32_t counts_padding, double divisor) {
    return build([&] {
        check_real(*x, "avg_pool");
        const Window window = pool_window(given, x->shape + 2, axes_of(*x, "avg_pool"), ceil, "avg_pool");
        return average(*x, {window, divisor, counts_padding});
    });
}

Tensor* avg_pool_backward(Tensor* gradient, const int64_t* given, int32_t ceil, int32_t counts_padding, double divisor,
                          const int64_t* sizes) {
    return build([&] {
        const Window window = window_behind(*gradient, given, sizes, ceil, "avg_pool_backward");
        return average_backward(*gradient, {window, divisor, counts_padding});
    });
}

Tensor* adaptive_avg_pool_tensor(Tensor* x, const int64_t* sizes) {
    const char* const name = "adaptive_avg_pool";
    return build([&] {
        check_real(*x, name);
        return average(*x, {adaptive_window(x->shape + 2, sizes, axes_of(*x, name), name), 0, 0});
    });
}

Tensor* adaptive_avg_pool_backward(Tensor* gradient, const int64_t* sizes) {
    const char* const name = "adaptive_avg_pool_backward";
    return build(
        [&] { return average_backward(*gradient, {window_behind(*gradient, nullptr, sizes, false, name), 0, 0}); });
}
