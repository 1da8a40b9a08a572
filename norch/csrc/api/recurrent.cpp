// All steps of an LSTM in one call of the C API, and their gradients. Sizes: T steps, N sequences, H features.

#include "api.h"
#include "api/checks.h"
#include "dispatch.h"

namespace {

// A view of [rows, columns] of a contiguous tensor, from an element on.
Tensor matrix_of(const Tensor& x, int64_t first, int64_t rows, int64_t columns) {
    Tensor part = x;
    part.ndim = 2;
    part.shape[0] = rows, part.strides[0] = columns;
    part.shape[1] = columns, part.strides[1] = 1;
    part.size = rows * columns;
    move_on(part, first);
    return part;
}

struct Steps {
    int64_t steps, samples, features;
    bool reverse;

    // Of gates [T, N, 4 H], a state of two [N, H] and a weight [4 H, H].
    Steps(const Tensor& gates, const Tensor& h, const Tensor& c, const Tensor& weight, bool reverse)
        : reverse(reverse) {
        check_real(gates, "lstm");
        for (const Tensor* other : {&h, &c, &weight}) check_pair(gates, *other, "lstm");
        if (gates.ndim != 3 || weight.ndim != 2 || gates.size == 0)
            fail(SHAPE_ERROR, "lstm: got gates {} and a weight {}", shape_text(gates), shape_text(weight));
        steps = gates.shape[0], samples = gates.shape[1], features = weight.shape[1];
        const int64_t state[] = {samples, features};
        if (gates.shape[2] != 4 * features || weight.shape[0] != 4 * features || !has_shape(h, state, 2) ||
            !has_shape(c, state, 2))
            fail(SHAPE_ERROR, "lstm: gates {} do not fit states {} and {}, and a weight {}", shape_text(gates),
                 shape_text(h), shape_text(c), shape_text(weight));
    }
    // The place in time of a step, in a tensor [T, N, columns].
    Tensor at(const Tensor& x, int64_t step) const {
        const int64_t columns = x.shape[2], time = reverse ? steps - 1 - step : step;
        return matrix_of(x, time * samples * columns, samples, columns);
    }
    Owned all(const Tensor& like, int64_t columns) const {
        const int64_t shape[] = {steps, samples, columns};
        return new_tensor(shape, 3, like.dtype, like.device);
    }
    Owned state(const Tensor& like) const {
        const int64_t shape[] = {samples, features};
        return new_tensor(shape, 2, like.dtype, like.device);
    }
};

}  // namespace

Results* lstm_tensor(Tensor* gates, Tensor* h, Tensor* c, Tensor* weight, Tensor* bias, int32_t reverse, int32_t keep) {
    return build_several<5>([&](Tensor** results) {
        const Steps task(*gates, *h, *c, *weight, reverse);
        const int32_t device = gates->device;
        const Owned x = contiguous(*gates), first_h = contiguous(*h), first_c = contiguous(*c);
        Owned outputs = task.all(*x, task.features), last_h = task.state(*x), last_c = task.state(*x), kept, cells;
        const int64_t one_step[] = {1, task.samples, 4 * task.features};
        kept = keep ? task.all(*x, 4 * task.features) : new_tensor(one_step, 3, x->dtype, device);
        if (keep) cells = task.all(*x, task.features);
        Tensor state = *first_h, cell = *first_c;
        for (int64_t step = 0; step < task.steps; step++) {
            Tensor now = keep ? task.at(*kept, step) : matrix_of(*kept, 0, task.samples, 4 * task.features);
            Tensor next = keep ? task.at(*cells, step) : *last_c, out = task.at(*outputs, step);
            kernels::linear.launch(device, state, *weight, bias, now);
            kernels::lstm_step.launch(device, task.at(*x, step), cell, now, next, out);
            state = out, cell = next;
        }
        assign(state, *last_h);
        if (keep) assign(cell, *last_c);
        give_all(results, outputs, last_h, last_c);
        if (keep) give_all(results + 3, kept, cells);
    });
}

Results* lstm_backward(Tensor* to_outputs, Tensor* to_h, Tensor* to_c, Tensor* gates, Tensor* cells, Tensor* h,
                       Tensor* c, Tensor* weight, int32_t reverse, int32_t needed) {
    enum { STATE = 2, WEIGHT = 8, BIAS = 16 };
    return build_several<5>([&](Tensor** results) {
        const Steps task(*gates, *h, *c, *weight, reverse);
        const int32_t device = gates->device;
        const int64_t rows = task.steps * task.samples, columns = 4 * task.features, one_row[] = {1, columns};
        const Owned first_c = contiguous(*c);
        Owned outside, for_h = task.state(*gates), for_c = task.state(*gates), d = task.all(*gates, columns);
        if (to_outputs) outside = contiguous(*to_outputs);
        for (auto [given, state] : {std::pair(to_h, &for_h), std::pair(to_c, &for_c)})
            given ? assign(*given, **state) : fill(**state, 0);
        Owned before = needed & WEIGHT ? task.all(*gates, task.features) : Owned();  // h before each step
        if (before.tensor) {
            Tensor first = task.at(*before, 0);
            assign(*h, first);
        }
        for (int64_t step = task.steps - 1; step >= 0; step--) {
            Tensor slope = task.at(*d, step), out, shown;
            if (outside.tensor) out = task.at(*outside, step);
            const bool shows = before.tensor && step + 1 < task.steps;
            if (shows) shown = task.at(*before, step + 1);
            kernels::lstm_step_backward.launch(device, *for_h, outside.tensor ? &out : nullptr, task.at(*gates, step),
                                               step ? task.at(*cells, step - 1) : *first_c, task.at(*cells, step),
                                               *for_c, slope, shows ? &shown : nullptr);
            if (step || needed & STATE) kernels::matmul.launch(device, slope, *weight, *for_h);
        }
        const Tensor slopes = matrix_of(*d, 0, rows, columns);
        if (needed & WEIGHT) {
            Owned for_weight = new_tensor(weight->shape, 2, weight->dtype, device);
            kernels::matmul.launch(device, transposed(slopes), matrix_of(*before, 0, rows, task.features), *for_weight);
            results[3] = for_weight.give();
        }
        if (needed & BIAS) {
            Owned for_bias = new_tensor(one_row, 2, weight->dtype, device);
            kernels::sum.launch(device, slopes, *for_bias);
            for_bias->ndim = 1;
            for_bias->shape[0] = columns, for_bias->strides[0] = 1;
            results[4] = for_bias.give();
        }
        give_all(results, d, for_h, for_c);
    });
}
