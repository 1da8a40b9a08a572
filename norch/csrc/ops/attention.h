// Scaled dot-product attention without a matrix of all scores (Dao and others, "FlashAttention", 2022): what CPU and CUDA
// kernels share.
//
//     s = scale * query @ key.T + mask,  p = exp(s - max(s)) / sum(exp(s - max(s))) along each row,  out = p @ value
//
// Scores are made block by block. A row keeps the maximum m and the sum l = sum(exp(s - m)) of the blocks so far; a
// block with a larger maximum scales down what is there by exp(old m - new m). For the gradients a row remembers only
// log_sum = m + log(l), as p = exp(s - log_sum).

#pragma once
#include "ops/philox.h"
#include "tensor.h"

struct Attending {
    double scale, dropout;  // the share of p that becomes 0; the rest is divided by 1 - dropout
    Stream stream;          // that chooses it
    int32_t causal;         // query i sees keys 0 to i
    HOST_DEVICE double kept() const { return dropout < 1 ? 1 / (1 - dropout) : 0; }
};

// Whether dropout keeps weight `index` of [batch, queries, keys]: element `index` of a draw of uniform floats decides.
HOST_DEVICE bool is_kept(const Attending& how, int64_t index) {
    return unit_float(philox(how.stream, uint64_t(index) / 4).word[index % 4]) >= float(how.dropout);
}

// Where the matrices of a tensor [..., rows, columns] begin, and its last two strides.
struct Batch {
    int32_t ndim = 0;
    int64_t shape[MAX_DIMS] = {}, strides[MAX_DIMS] = {}, count = 0, row = 0, column = 0;

    Batch() = default;
    explicit Batch(const Tensor& tensor)
        : ndim(tensor.ndim - 2), count(1), row(tensor.strides[ndim]), column(tensor.strides[ndim + 1]) {
        for (int d = 0; d < ndim; d++) {
            shape[d] = tensor.shape[d], strides[d] = tensor.strides[d];
            count *= shape[d];
        }
    }
    HOST_DEVICE int64_t offset(int64_t index) const {
        int64_t at = 0;
        for (int d = ndim - 1; d >= 0; d--) {
            at += index % shape[d] * strides[d];
            index /= shape[d];
        }
        return at;
    }
};
