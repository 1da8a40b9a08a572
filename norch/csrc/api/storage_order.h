// The order in which dimensions lie in memory. The result of an elementwise operation takes that of its operands, as
// PyTorch's does; kernels see all tensors with their dimensions in that order, so that x.T + 1 runs as x + 1 does.

#pragma once
#include "tensor.h"

struct StorageOrder {
    bool by_rows;        // the usual case: the dimensions stay where they are
    int axes[MAX_DIMS];  // unless by_rows: from the largest stride to the smallest

    // Of operands of one shape. The first that does not repeat along two dimensions tells which of them goes first.
    template <size_t N>
    explicit StorageOrder(const Tensor* const (&operands)[N]) : by_rows(true) {
        for (const Tensor* operand : operands) by_rows &= falls(*operand);
        if (!by_rows) sort(operands, N);
    }
    // The strides of a new tensor that is still in row order.
    void lay_out(Tensor& fresh) const;
    // A tensor with its dimensions in this order.
    Tensor view(const Tensor& tensor) const;

private:
    static bool falls(const Tensor& tensor);
    void sort(const Tensor* const* operands, size_t count);
};

Owned new_like(const Tensor& tensor, int32_t dtype, int32_t device);  // of its shape, stored in its order; values unset
Owned converted(const Tensor& tensor, int32_t dtype);                 // always a new tensor, likewise

// Images or volumes [N, C, ...] with the elements of a place side by side, in memory [N, ..., C] (channels_last): seen
// as contiguous [N, 1, ..., C], a kernel goes along the channels. A new tensor of such a shape becomes images again.
bool has_channels_last(const Tensor& images);
Tensor with_channels_last(const Tensor& images);
void put_channels_first(Tensor& fresh);
