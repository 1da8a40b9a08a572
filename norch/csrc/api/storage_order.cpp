#include "api/storage_order.h"

// Whether strides get smaller from the first dimension to the last.
bool StorageOrder::falls(const Tensor& tensor) {
    int64_t smallest = INT64_MAX;
    for (int d = 0; d < tensor.ndim; d++) {
        if (tensor.strides[d] == 0 || tensor.shape[d] == 1) continue;
        if (tensor.strides[d] >= smallest) return false;
        smallest = tensor.strides[d];
    }
    return true;
}

// Whether dimension a must lie inside of b (1), outside (-1), or may lie either way (0).
static int compare(const Tensor* const* operands, size_t count, int a, int b) {
    for (size_t k = 0; k < count; k++) {
        const int64_t x = operands[k]->strides[a], y = operands[k]->strides[b];
        if (x == 0 || y == 0) continue;
        if (x != y) return x < y ? 1 : -1;
        if (operands[k]->shape[a] < operands[k]->shape[b]) return 1;
    }
    return 0;
}

// An insertion, from the last dimension to the first, as comparisons that may go either way are not transitive.
void StorageOrder::sort(const Tensor* const* operands, size_t count) {
    const int ndim = operands[0]->ndim;
    for (int d = 0; d < ndim; d++) axes[d] = d;
    for (int i = ndim - 2; i >= 0; i--) {
        for (int j = i, k = i + 1; k < ndim; k++) {
            const int order = compare(operands, count, axes[j], axes[k]);
            if (order < 0) break;
            if (order == 0) continue;
            const int moved = axes[j];
            axes[j] = axes[k];
            axes[k] = moved;
            j = k;
        }
    }
    by_rows = true;
    for (int d = 0; d < ndim; d++) by_rows &= axes[d] == d;
}

void StorageOrder::lay_out(Tensor& fresh) const {
    if (by_rows) return;
    int64_t stride = 1;
    for (int k = fresh.ndim - 1; k >= 0; k--) {
        fresh.strides[axes[k]] = stride;
        stride *= fresh.shape[axes[k]] > 1 ? fresh.shape[axes[k]] : 1;
    }
}

Tensor StorageOrder::view(const Tensor& tensor) const {
    Tensor view = tensor;
    for (int d = 0; d < tensor.ndim && !by_rows; d++) {
        view.shape[d] = tensor.shape[axes[d]];
        view.strides[d] = tensor.strides[axes[d]];
    }
    return view;
}

bool has_channels_last(const Tensor& images) {
    return (images.ndim == 4 || images.ndim == 5) && !is_contiguous(images) &&
           is_contiguous(with_channels_last(images));
}

Tensor with_channels_last(const Tensor& images) {
    Tensor view = images;
    view.ndim = images.ndim + 1;
    view.shape[images.ndim] = images.shape[1], view.strides[images.ndim] = images.strides[1];
    view.shape[1] = 1;
    return view;
}

void put_channels_first(Tensor& fresh) {
    fresh.ndim--;
    fresh.shape[1] = fresh.shape[fresh.ndim], fresh.strides[1] = fresh.strides[fresh.ndim];
}
