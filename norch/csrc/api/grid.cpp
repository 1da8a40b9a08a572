// Images and volumes read at the points of a grid, and resampled along an axis, in the C API.

#include <string.h>

#include "api.h"
#include "api/checks.h"
#include "api/storage_order.h"
#include "dispatch.h"

// Images [N, C, ...] with 2 or 3 axes, a grid [N, ..., axes].
static Sampling sampling_of(const Tensor& x, const Tensor& grid, int32_t mode, int32_t border, int32_t align) {
    check_real(x, "grid_sample");
    check_pair(x, grid, "grid_sample");
    const int axes = x.ndim - 2;
    if ((axes != 2 && axes != 3) || grid.ndim != x.ndim || grid.shape[x.ndim - 1] != axes ||
        grid.shape[0] != x.shape[0])
        fail(SHAPE_ERROR, "grid_sample: a grid of shape {} does not fit an input of shape {}", shape_text(grid),
             shape_text(x));
    Sampling how = {Sampling::Mode(mode), Sampling::Border(border), align, axes, {}, 1};
    int64_t image = 1;
    for (int d = 0; d < axes; d++) how.size[d] = x.shape[d + 2], how.points *= grid.shape[d + 1], image *= how.size[d];
    if (image > INT32_MAX) fail(SHAPE_ERROR, "grid_sample: an image of shape {} is too large", shape_text(x));
    return how;
}

Tensor* grid_sample_tensor(Tensor* x, Tensor* grid, int32_t mode, int32_t border, int32_t align) {
    return build([&] {
        const Sampling how = sampling_of(*x, *grid, mode, border, align);
        int64_t shape[MAX_DIMS] = {x->shape[0], x->shape[1]};
        memcpy(shape + 2, grid->shape + 1, sizeof(int64_t) * size_t(how.axes));
        Owned out = new_tensor(shape, x->ndim, x->dtype, x->device);
        if (out->size) kernels::grid_sample.launch(x->device, *contiguous(*x), *contiguous(*grid), *out, how);
        return out;
    });
}

Results* grid_sample_backward(Tensor* gradient, Tensor* x, Tensor* grid, int32_t mode, int32_t border, int32_t align,
                              int32_t needed) {
    return build_several<2>([&](Tensor** results) {
        const Sampling how = sampling_of(*x, *grid, mode, border, align);
        check_pair(*gradient, *x, "grid_sample_backward");
        if (gradient->size != x->shape[0] * x->shape[1] * how.points)
            fail(SHAPE_ERROR, "grid_sample_backward: gradient has shape {}, expected that of the result",
                 shape_text(*gradient));
        Owned made[2];
        const Tensor* operands[] = {x, grid};
        for (int k = 0; k < 2; k++)
            if (needed & (1 << k)) {
                made[k] = new_tensor(operands[k]->shape, x->ndim, x->dtype, x->device);
                if (!gradient->size) fill(*made[k], 0);
            }
        if (gradient->size)
            kernels::grid_sample_backward.launch(x->device, *contiguous(*gradient), *contiguous(*x), *contiguous(*grid),
                                                 made[0].tensor, made[1].tensor, how);
        for (int k = 0; k < 2; k++) results[k] = made[k].give();
    });
}

Tensor* resample_tensor(Tensor* x, int64_t axis, Tensor* counts, Tensor* places, Tensor* weights) {
    return build([&] {
        check_real(*x, "resample");
        const int along = check_axis(axis, x->ndim, "resample"), dtype = is_narrow(x->dtype) ? FLOAT32 : x->dtype;
        for (const Tensor* part : {counts, places, weights}) {
            check_devices(*x, *part, "resample");
            const int wanted = part == weights ? dtype : int(INT32);
            if (part->dtype != wanted || part->ndim != (part == counts ? 1 : 2) ||
                part->shape[part->ndim - 1] != counts->size || (part == weights && !same_shape(*weights, *places)))
                fail(SHAPE_ERROR, "resample: counts {}, places {} and weights {} do not belong together",
                     shape_text(*counts), shape_text(*places), shape_text(*weights));
        }
        const bool channels_last = along > 1 && has_channels_last(*x);  // the axis keeps its number
        const Tensor view = channels_last ? with_channels_last(*x) : *x;
        int64_t shape[MAX_DIMS];
        memcpy(shape, view.shape, sizeof shape);
        shape[along] = counts->size;
        Owned out = new_tensor(shape, view.ndim, x->dtype, x->device);
        if (out->size)
            kernels::resample.launch(x->device, *contiguous(view), *contiguous(*counts), *contiguous(*places),
                                     *contiguous(*weights), *out, along);
        if (channels_last) put_channels_first(*out);
        return out;
    });
}
