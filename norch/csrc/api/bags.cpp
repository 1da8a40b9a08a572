// Bags of an embedding, and their gradients, in the C API.

#include "api.h"
#include "api/checks.h"
#include "dispatch.h"

namespace {

// What both directions need: int64 integers in a row and, of an input [n], offsets; the weights of the integers or none.
struct BagTask {
    Owned index, starts, weights;
    int64_t bags;
    Bagging how;

    BagTask(const Tensor& table, const Tensor& input, const Tensor* offsets, const Tensor* scales, int32_t mode,
            int64_t padding, int32_t ended)
        : index(integers(table, input)), how{Bagging::Mode(mode), padding, 0, 0} {
        if (input.ndim == 2 && offsets)
            fail(VALUE_ERROR, "embedding_bag: an input of two dimensions has a bag in each row, expected no offsets");
        if (input.ndim != 2 && (input.ndim != 1 || !offsets || offsets->ndim != 1))
            fail(VALUE_ERROR, "embedding_bag: input is {} and offsets {}, expected [bags, n], or [n] and [bags]",
                 shape_text(input), offsets ? shape_text(*offsets).chars : "None");
        if (offsets && ended && !offsets->size)
            fail(VALUE_ERROR, "embedding_bag: include_last_offset expects at least one offset");
        if (offsets) starts = integers(table, *offsets);
        bags = offsets ? offsets->size - (ended != 0) : input.shape[0];
        how.each = offsets ? 0 : input.shape[1];
        if (scales) {
            check_pair(table, *scales, "embedding_bag");
            weights = contiguous(*scales);
        }
    }

    static Owned integers(const Tensor& table, const Tensor& x) {
        check_devices(table, x, "embedding_bag");
        return x.dtype == INT64 ? contiguous(x) : cast(x, INT64);
    }
};

}  // namespace

Results* embedding_bag_tensor(Tensor* table, Tensor* input, Tensor* offsets, Tensor* weights, int32_t mode,
                              int64_t padding, int32_t ended, int32_t with_rows) {
    return build_several<2>([&](Tensor** results) {
        check_real(*table, "embedding_bag");
        const BagTask task(*table, *input, offsets, weights, mode, padding, ended);
        const int64_t shape[] = {task.bags, table->shape[1]};
        Owned out = new_tensor(shape, 2, table->dtype, table->device), rows;
        if (mode == Bagging::MAX && with_rows) rows = new_tensor(shape, 2, INT64, table->device);
        if (out->size)
            kernels::embedding_bag.launch(table->device, *contiguous(*table), *task.index, task.starts.tensor,
                                          task.weights.tensor, *out, rows.tensor, task.how);
        give_all(results, out, rows);
    });
}

Results* embedding_bag_backward(Tensor* gradient, Tensor* table, Tensor* input, Tensor* offsets, Tensor* weights,
                                int64_t rows, int32_t mode, int64_t padding, int32_t ended, int32_t by_frequency,
                                int32_t needed) {
    return build_several<2>([&](Tensor** results) {
        BagTask task(*gradient, *input, offsets, weights, mode, padding, ended);
        task.how.by_frequency = by_frequency;
        const int64_t shape[] = {rows, gradient->shape[1]};
        Owned made[2], source = needed & 2 ? contiguous(*table) : Owned();
        if (needed & 1) made[0] = new_tensor(shape, 2, gradient->dtype, gradient->device);
        if (needed & 2) made[1] = new_tensor(input->shape, input->ndim, gradient->dtype, gradient->device);
        for (Owned& each : made)
            if (each.tensor) fill(*each, 0);
        if (gradient->size && input->size)
            kernels::embedding_bag_backward.launch(gradient->device, *contiguous(*gradient), source.tensor, *task.index,
                                                   task.starts.tensor, task.weights.tensor, made[0].tensor,
                                                   made[1].tensor, task.how);
        give_all(results, made[0], made[1]);
    });
}
