// Losses by a margin between classes, cosines and distances of rows, and losses of sequences of labels, in the C API.

#include "api.h"
#include "api/checks.h"
#include "dispatch.h"

// ---- Margins between classes -------------------------------------------------------------------------------------

namespace {

enum Reduction : int32_t { NO_REDUCTION, MEAN, SUM };

// What both directions need: scores [N, C], labels [N, S] of int64, a weight [C] or none.
struct MarginTask {
    Owned scores, labels, weight;
    Margins how;

    MarginTask(const Tensor& x, const Tensor& targets, const Tensor* weights, double margin, int32_t power) {
        const bool until = power == 0;
        const char* name = until ? "multilabel_margin_loss" : "multi_margin_loss";
        check_real(x, name);
        check_devices(x, targets, name);
        const int64_t classes = x.ndim ? x.shape[x.ndim - 1] : 1, rows = classes ? x.size / classes : 0;
        if (x.ndim > 2 || !classes || targets.size != (until ? x.size : rows))
            fail(SHAPE_ERROR, "{}: expected scores [N, C] and a target for them, got shapes {} and {}", name,
                 shape_text(x), shape_text(targets));
        const int64_t shape[] = {rows, classes}, listed[] = {rows, until ? classes : 1};
        scores = contiguous(*reshaped(x, shape, 2));
        labels = targets.dtype == INT64 ? contiguous(targets) : cast(targets, INT64);
        labels = reshaped(*labels, listed, 2);
        if (weights) {
            check_pair(x, *weights, name);
            if (!has_shape(*weights, &classes, 1))
                fail(SHAPE_ERROR, "{}: weight has shape {}, expected [{}]", name, shape_text(*weights), classes);
            weight = contiguous(*weights);
        }
        how = {margin, until ? 1 : power, until};
    }
};

}  // namespace

Tensor* class_margin_tensor(Tensor* scores, Tensor* targets, Tensor* weight, double margin, int32_t power,
                            int32_t reduction) {
    return build([&] {
        const MarginTask task(*scores, *targets, weight, margin, power);
        const int64_t rows = task.scores->shape[0];
        const int ndim = power == 0 ? scores->ndim == 2 : targets->ndim;
        Owned losses = new_tensor(&rows, ndim, scores->dtype, scores->device);
        if (rows)
            kernels::class_margin.launch(scores->device, *task.scores, *task.labels, task.weight.tensor, *losses,
                                         task.how);
        if (reduction == NO_REDUCTION) return losses;
        return taken(reduction == MEAN ? mean_tensor(losses.tensor, nullptr, -1, false)
                                       : sum_tensor(losses.tensor, nullptr, -1, false));
    });
}

Tensor* class_margin_backward(Tensor* gradient, Tensor* scores, Tensor* targets, Tensor* weight, double margin,
                              int32_t power, int32_t reduction) {
    return build([&] {
        const MarginTask task(*scores, *targets, weight, margin, power);
        const int64_t rows = task.scores->shape[0];
        check_pair(*gradient, *scores, "class_margin_backward");
        if (gradient->size != (reduction == NO_REDUCTION ? rows : 1))
            fail(SHAPE_ERROR, "class_margin_backward: gradient has shape {}, expected that of the loss",
                 shape_text(*gradient));
        Owned factors = contiguous(*gradient);
        Owned out = new_tensor(scores->shape, scores->ndim, scores->dtype, scores->device);
        Tensor flat = *out;
        flat.ndim = 2;
        for (int d = 0; d < 2; d++) flat.shape[d] = task.scores->shape[d], flat.strides[d] = task.scores->strides[d];
        if (rows)
            kernels::class_margin_backward.launch(scores->device, *factors, *task.scores, *task.labels,
                                                  task.weight.tensor, flat, task.how,
                                                  reduction == MEAN ? 1 / double(rows) : 1);
        return out;
    });
}

// ---- Pairs of rows -----------------------------------------------------------------------------------------------

namespace {

// x and y of one shape, as [rows, n] along an axis.
struct PairTask {
    int axis;
    int64_t rows, shape[MAX_DIMS];  // that of x and y with the axis last
    Owned x, y;

    PairTask(const Tensor& a, const Tensor& b, int64_t along, const char* name) {
        check_real(a, name);
        check_pair(a, b, name);
        check_same_shape(a, b, name);
        if (a.ndim == 0 || a.size == 0)
            fail(SHAPE_ERROR, "{}: expected rows of at least one element, got shape {}", name, shape_text(a));
        axis = check_axis(along, a.ndim, name);
        const int64_t n = a.shape[axis], flat[] = {a.size / n, n};
        rows = flat[0];
        for (int d = 0; d < a.ndim - 1; d++) shape[d] = a.shape[d < axis ? d : d + 1];
        shape[a.ndim - 1] = n;
        x = reshaped(*as_rows(a, axis), flat, 2), y = reshaped(*as_rows(b, axis), flat, 2);
    }
};

}  // namespace

Tensor* row_pairs_tensor(Tensor* x, Tensor* y, int32_t kind, double eps, int64_t axis) {
    return build([&] {
        const PairTask task(*x, *y, axis, "cosine_similarity");
        Owned out = new_tensor(task.shape, x->ndim - 1, x->dtype, x->device);
        kernels::row_pairs.launch(x->device, *task.x, *task.y, *out, RowPairs{RowPairs::Kind(kind), eps});
        return out;
    });
}

Results* row_pairs_backward(Tensor* gradient, Tensor* x, Tensor* y, int32_t kind, double eps, int64_t axis,
                            int32_t needed) {
    return build_several<2>([&](Tensor** results) {
        const PairTask task(*x, *y, axis, "row_pairs_backward");
        check_pair(*gradient, *x, "row_pairs_backward");
        if (gradient->size != task.rows)
            fail(SHAPE_ERROR, "row_pairs_backward: gradient has shape {}, expected {} elements", shape_text(*gradient),
                 task.rows);
        Owned g = contiguous(*gradient), made[2];
        for (int k = 0; k < 2; k++)
            if (needed & (1 << k)) made[k] = new_tensor(task.shape, x->ndim, x->dtype, x->device);
        kernels::row_pairs_backward.launch(x->device, *g, *task.x, *task.y, made[0].tensor, made[1].tensor,
                                           RowPairs{RowPairs::Kind(kind), eps});
        for (int k = 0; k < 2; k++)
            results[k] = made[k].tensor ? from_rows(std::move(made[k]), *x, task.axis).give() : nullptr;
    });
}

// ---- Sequences of labels -----------------------------------------------------------------------------------------

// The losses [N], and alpha, which the backward wants.
Results* ctc_tensor(Tensor* log_probs, Tensor* labels, Tensor* lengths, int64_t blank) {
    return build_several<2>([&](Tensor** results) {
        const Tensor& x = *log_probs;
        check_real(x, "ctc_loss");
        if (x.ndim != 3 || labels->ndim != 2 || labels->shape[0] != x.shape[1] || lengths->size != 2 * x.shape[1] ||
            labels->dtype != INT64 || lengths->dtype != INT64)
            fail(SHAPE_ERROR, "ctc_loss: expected [T, N, C] and int64 labels [N, S] and lengths [2, N], got {}, {}, {}",
                 shape_text(x), shape_text(*labels), shape_text(*lengths));
        const int64_t samples = x.shape[1], states[] = {samples, x.shape[0], 2 * labels->shape[1] + 3};
        Owned losses = new_tensor(&samples, 1, x.dtype, x.device), alpha = new_tensor(states, 3, x.dtype, x.device);
        if (samples)
            kernels::ctc.launch(x.device, *contiguous(x), *contiguous(*labels), *contiguous(*lengths), *alpha, *losses,
                                blank);
        give_all(results, losses, alpha);
    });
}

Tensor* ctc_backward(Tensor* gradient, Tensor* log_probs, Tensor* labels, Tensor* lengths, Tensor* alpha,
                     Tensor* losses, int64_t blank) {
    return build([&] {
        const Tensor& x = *log_probs;
        check_pair(*gradient, x, "ctc_backward");
        check_same_shape(*gradient, *losses, "ctc_backward");
        Owned out = new_tensor(x.shape, x.ndim, x.dtype, x.device);
        if (out->size)
            kernels::ctc_backward.launch(x.device, *contiguous(*gradient), *contiguous(x), *contiguous(*labels),
                                         *contiguous(*lengths), *alpha, *losses, *out, blank);
        return out;
    });
}
