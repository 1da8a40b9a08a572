// What orders elements in the C API: sorting, selection, places among sorted edges, running values.

#include <string.h>

#include "api.h"
#include "api/checks.h"
#include "dispatch.h"

// ---- Sorting -------------------------------------------------------------------------------------------------------

Results* sort_tensor(Tensor* tensor, int64_t axis, int64_t count, int32_t descending) {
    return build_several<2>([&](Tensor** results) {
        const Tensor x = with_axis(*tensor);
        const int at = check_axis(axis, x.ndim, "sort");
        if (count < 0) count = x.shape[at];
        if (count > x.shape[at]) fail(RUNTIME_ERROR, "topk: k is {}, but axis {} has size {}", count, at, x.shape[at]);
        int64_t shape[MAX_DIMS];
        memcpy(shape, x.shape, sizeof shape);
        shape[at] = count;
        Owned sorted = new_tensor(shape, x.ndim, x.dtype, x.device),
              places = new_tensor(shape, x.ndim, INT64, x.device);
        if (sorted->size) kernels::sort.launch(x.device, x, *sorted, *places, at, descending);
        if (count == 1) sorted->ndim = places->ndim = tensor->ndim;
        give_all(results, sorted, places);
    });
}

// Where kernels choose one element of each line: kernel(rows, values, indices) gets contiguous lines.
template <class F>
static Results* chosen(const char* name, const Tensor& tensor, int64_t axis, int32_t keepdim, F kernel) {
    return build_several<2>([&](Tensor** results) {
        const Tensor x = with_axis(tensor);
        const int at = check_axis(axis, x.ndim, name);
        if (x.shape[at] == 0)
            fail(INDEX_ERROR, "{}: no elements along axis {} of shape {}", name, at, shape_text(tensor));
        int64_t shape[MAX_DIMS];
        memcpy(shape, x.shape, sizeof shape);
        shape[at] = 1;
        Owned values = new_tensor(shape, x.ndim, x.dtype, x.device),
              places = new_tensor(shape, x.ndim, INT64, x.device);
        const Owned rows = as_rows(tensor, at);
        kernel(*rows, *values, *places, tensor.ndim ? x.shape[at] : 1, at);
        if (!keepdim || tensor.ndim == 0) drop_axes(*values, 1u << at), drop_axes(*places, 1u << at);
        give_all(results, values, places);
    });
}

Results* order_statistic_tensor(Tensor* tensor, int64_t axis, int32_t keepdim, int32_t how, int64_t place) {
    static const char* const names[] = {"kthvalue", "median", "nanmedian"};
    return chosen(names[how], *tensor, axis, keepdim, [=](auto& rows, auto& values, auto& places, int64_t n, int at) {
        if (how == KTH && (place < 1 || place > n))
            fail(RUNTIME_ERROR, "kthvalue: k is {}, expected 1 to {}, the size of dimension {}", place, n, at);
        if (values.size)
            kernels::order_statistic.launch(rows.device, rows, values, places, OrderStatistic(how), place - 1);
    });
}

Results* mode_tensor(Tensor* tensor, int64_t axis, int32_t keepdim) {
    return chosen("mode", *tensor, axis, keepdim, [](auto& rows, auto& values, auto& places, int64_t, int) {
        if (values.size) kernels::mode.launch(rows.device, rows, values, places);
    });
}

// ---- Running values --------------------------------------------------------------------------------------------------

Results* running_extreme_tensor(Tensor* tensor, int64_t axis, int32_t largest) {
    return build_several<2>([&](Tensor** results) {
        const Tensor x = with_axis(*tensor);
        const int at = check_axis(axis, x.ndim, largest ? "cummax" : "cummin");
        Owned values = new_tensor(x.shape, x.ndim, x.dtype, x.device),
              places = new_tensor(x.shape, x.ndim, INT64, x.device);
        if (x.size) kernels::running_extreme.launch(x.device, x, *values, *places, at, largest);
        values->ndim = places->ndim = tensor->ndim;
        give_all(results, values, places);
    });
}

Tensor* bins_tensor(Tensor* edges, Tensor* values, int32_t right) {
    return build([&] {
        check_devices(*edges, *values, "searchsorted");
        bool fits =
            edges->dtype == values->dtype && edges->ndim > 0 && (edges->ndim == 1 || edges->ndim == values->ndim);
        for (int d = 0; fits && d < edges->ndim - 1; d++) fits = edges->shape[d] == values->shape[d];
        if (!fits)
            fail(RUNTIME_ERROR, "searchsorted: edges {} of shape {} do not fit values {} of shape {}",
                 dtype_name(edges->dtype), shape_text(*edges), dtype_name(values->dtype), shape_text(*values));
        Owned result = new_tensor(values->shape, values->ndim, INT64, values->device);
        const Owned first = contiguous(*edges), second = contiguous(*values);
        if (result->size) kernels::bins.launch(values->device, *first, *second, right, *result);
        return result;
    });
}

// The kernel runs forwards; in reverse it is given views that run backwards.
using ScanKernel = Kernel<void(const Tensor& x, Tensor& out, int axis)>;

static Owned scan(const ScanKernel& kernel, const Tensor& tensor, int64_t axis, bool reverse) {
    Tensor x = with_axis(tensor);
    const int at = check_axis(axis, x.ndim, kernel.name);
    Owned result = new_tensor(x.shape, tensor.ndim, !is_real(x.dtype) ? int32_t(INT64) : x.dtype, x.device);
    Tensor out = with_axis(*result);
    if (out.size == 0) return result;
    for (Tensor* view : {&x, &out}) {
        if (!reverse) continue;
        view->data = data_as<char>(*view) + (view->shape[at] - 1) * view->strides[at] * item_size(view->dtype);
        view->strides[at] = -view->strides[at];
    }
    kernel.launch(x.device, x, out, at);
    return result;
}

Tensor* cumsum_tensor(Tensor* tensor, int64_t axis, int32_t reverse) {
    return build([&] { return scan(kernels::cumsum, *tensor, axis, reverse); });
}

Tensor* cumprod_tensor(Tensor* tensor, int64_t axis) {
    return build([&] { return scan(kernels::cumprod, *tensor, axis, false); });
}

Tensor* logcumsumexp_tensor(Tensor* tensor, int64_t axis) {
    return build([&] {
        check_real(*tensor, "logcumsumexp");
        return scan(kernels::logcumsumexp, *tensor, axis, false);
    });
}
