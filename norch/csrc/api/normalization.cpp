// Normalization in the C API: batch, layer and group normalization are one operation on [outer, groups, inner].

#include "api.h"
#include "api/checks.h"
#include "api/storage_order.h"
#include "dispatch.h"

namespace {

// How x falls into groups, after checks.
Normalizing sizes_of(const Tensor& x, int64_t outer, int64_t groups, int32_t affine, double eps) {
    check_real(x, "normalize");
    const bool by_channel = affine == Normalizing::BY_CHANNEL;
    if (outer < 1 || groups < 1 || x.size % outer || x.size / outer % groups ||
        (outer > 1 && affine != Normalizing::BY_GROUP))
        fail(SHAPE_ERROR, "normalize: input of shape {} does not fall into {} x {} groups", shape_text(x), outer,
             groups);
    if (by_channel && (x.ndim < 2 || !x.size || groups % x.shape[0] || x.shape[1] % (groups / x.shape[0])))
        fail(SHAPE_ERROR, "normalize: the channels of shape {} do not fall into {} groups", shape_text(x), groups);
    const int64_t channels = by_channel ? x.shape[0] * x.shape[1] : 1;
    return {outer,
            groups,
            x.size / outer / groups,
            eps,
            Normalizing::Affine(affine),
            by_channel ? groups / x.shape[0] : 1,
            x.size / channels};
}

// How many elements weight and bias have.
int64_t affine_size(const Tensor& x, const Normalizing& sizes) {
    return sizes.affine == Normalizing::BY_CHANNEL ? x.shape[1]
           : sizes.affine == Normalizing::BY_GROUP ? sizes.groups
                                                   : sizes.inner;
}

// Whether the groups are channels that are last in memory: then they are columns, where nothing need be moved.
bool are_columns(const Tensor& x, const Normalizing& sizes) {
    return sizes.affine == Normalizing::BY_GROUP && x.shape[0] == sizes.outer && x.shape[1] == sizes.groups &&
           has_channels_last(x);
}
Normalizing as_columns(Normalizing sizes) {
    sizes.outer *= sizes.inner;
    sizes.inner = 1;
    return sizes;
}

// A weight, bias or statistic as the kernels take it.
Owned checked(const Tensor& given, const Tensor& x, int64_t size, const char* what) {
    check_pair(x, given, "normalize");
    if (given.size != size)
        fail(SHAPE_ERROR, "normalize: {} has shape {}, expected {} elements", what, shape_text(given), size);
    return contiguous(given);
}

}  // namespace

Results* normalize_tensor(Tensor* x, Tensor* weight, Tensor* bias, int64_t outer, int64_t groups, int32_t affine,
                          double eps) {
    return build_several<3>([&](Tensor** results) {
        const Normalizing sizes = sizes_of(*x, outer, groups, affine, eps);
        const int64_t size = affine_size(*x, sizes);
        const bool columns = are_columns(*x, sizes);
        const Tensor view = columns ? with_channels_last(*x) : *x;
        Owned from = contiguous(view), w, b, out = new_tensor(view.shape, view.ndim, x->dtype, x->device);
        if (weight) w = checked(*weight, *x, size, "weight");
        if (bias) b = checked(*bias, *x, size, "bias");
        if (bias && !weight && affine == Normalizing::BY_PLACE)
            fail(VALUE_ERROR, "normalize: a bias for each place comes with a weight");
        Owned mean = new_tensor(&groups, 1, x->dtype, x->device),
              variance = new_tensor(&groups, 1, x->dtype, x->device);
        if (x->size == 0) fail(SHAPE_ERROR, "normalize: input of shape {} has no elements", shape_text(*x));
        kernels::normalize.launch(x->device, *from, w.tensor, b.tensor, *out, *mean, *variance,
                                  columns ? as_columns(sizes) : sizes);
        if (columns) put_channels_first(*out);
        give_all(results, out, mean, variance);
    });
}

Results* normalize_backward(Tensor* gradient, Tensor* x, Tensor* weight, Tensor* mean, Tensor* variance, int64_t outer,
                            int64_t groups, int32_t affine, double eps, int32_t needed) {
    enum { INPUT = 1, WEIGHT = 2, BIAS = 4, FIXED = 8 };
    return build_several<3>([&](Tensor** results) {
        Normalizing sizes = sizes_of(*x, outer, groups, affine, eps);
        sizes.fixed = needed & FIXED && affine == Normalizing::BY_GROUP;
        const int64_t size = affine_size(*x, sizes);
        const bool columns = are_columns(*x, sizes) && same_shape(*gradient, *x);
        const Tensor view = columns ? with_channels_last(*x) : *x,
                     slope = columns ? with_channels_last(*gradient) : *gradient;
        Owned g = checked(slope, view, x->size, "gradient"), from = contiguous(view), w, made[3];
        if (weight) w = checked(*weight, *x, size, "weight");
        Owned centre = checked(*mean, *x, groups, "mean"), spread = checked(*variance, *x, groups, "variance");
        if (needed & INPUT) made[0] = new_tensor(view.shape, view.ndim, x->dtype, x->device);
        for (int k = 1; k < 3; k++)
            if (needed & (WEIGHT | BIAS) & (1 << k))
                made[k] = weight ? new_tensor(weight->shape, weight->ndim, x->dtype, x->device)
                                 : new_tensor(&size, 1, x->dtype, x->device);
        kernels::normalize_backward.launch(x->device, *g, *from, w.tensor, *centre, *spread, made[0].tensor,
                                           made[1].tensor, made[2].tensor, columns ? as_columns(sizes) : sizes);
        if (columns && made[0].tensor) put_channels_first(*made[0]);
        for (int k = 0; k < 3; k++) results[k] = made[k].give();
    });
}

static Owned moved(Tensor* running, Tensor* fresh, double momentum, double factor) {
    if (!running) return Owned();
    const Owned kept = real_number(1 - momentum), share = real_number(momentum * factor);
    const Owned old = taken(elementwise_mul_tensor(running, kept.tensor));
    return taken(scale_and_shift_tensor(fresh, share.tensor, old.tensor));
}

int move_statistics(Tensor* mean, Tensor* fresh_mean, Tensor* variance, Tensor* fresh_variance, double momentum,
                    double factor) {
    return attempt([&] {
        Tensor* const running[] = {mean, variance};
        for (Tensor* each : running)
            if (each) check_writable(*each, "batch_norm");
        const Owned values[] = {moved(mean, fresh_mean, momentum, 1),
                                moved(variance, fresh_variance, momentum, factor)};  // all, before one is written
        for (int k = 0; k < 2; k++) {
            if (!running[k]) continue;
            assign(*values[k], *running[k]);
            mark_written(*running[k]);
        }
    });
}

Tensor* normalize_by_tensor(Tensor* x, Tensor* weight, Tensor* bias, Tensor* mean, Tensor* variance, double eps) {
    return build([&] {
        const Owned distance = real_number(eps), spread = taken(add_tensor(variance, distance.tensor));
        Owned scale = taken(rsqrt_tensor(spread.tensor));
        if (weight) scale = taken(elementwise_mul_tensor(scale.tensor, weight));
        Owned shift = taken(elementwise_mul_tensor(mean, scale.tensor));
        shift = taken(bias ? sub_tensor(bias, shift.tensor) : neg_tensor(shift.tensor));
        const int64_t by_channel[MAX_DIMS] = {1, -1, 1, 1, 1, 1, 1, 1};
        scale = taken(view_tensor(scale.tensor, by_channel, x->ndim));
        shift = taken(view_tensor(shift.tensor, by_channel, x->ndim));
        Owned from = has_channels_last(*x) ? Owned() : contiguous(*x);  // as the result of `normalize`
        return taken(scale_and_shift_tensor(from.tensor ? from.tensor : x, scale.tensor, shift.tensor));
    });
}
