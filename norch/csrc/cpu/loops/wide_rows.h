// Kernels of rows on floats of 16 bits: so many rows are widened at a time as stay in the cache.

#pragma once
#include "cpu/backend.h"
#include "cpu/loops/odometer.h"
#include "host/parallel.h"

inline namespace NORCH_ISA {
namespace {

// Calls kernel(parts) for parts of contiguous operands that are not empty, whose first dimension counts the rows: floats,
// of which the last `written` are rounded afterwards.
template <int N, class F>
void in_wide_parts(const Tensor* const (&operands)[N], int written, F kernel) {
    enum { PART = 16384 };  // elements of an operand
    const int64_t rows = operands[0]->shape[0], n = operands[0]->size / rows, together = n < PART ? PART / n : 1;
    const int64_t parts = (rows + together - 1) / together;
    parallel_for(parts, 1 + SMALL_WORK / 4 / (together * n), [&](int64_t begin, int64_t end) {
        Scratch<float> buffer(N * together * n);
        for (int64_t part = begin; part < end; part++) {
            const int64_t first = part * together, count = smaller(together, rows - first);
            Tensor narrow[N], wide[N];
            for (int k = 0; k < N; k++) {
                const int64_t each = operands[k]->size / rows;
                narrow[k] = *operands[k];
                narrow[k].shape[0] = count;
                narrow[k].size = count * each;
                narrow[k].data = data_as<char>(*operands[k]) + first * each * item_size(operands[k]->dtype);
                wide[k] = narrow[k];
                wide[k].dtype = FLOAT32;
                wide[k].data = &buffer[k * together * n];
                if (k < N - written) assign_tensor_cpu(narrow[k], wide[k]);
            }
            kernel(wide);
            for (int k = N - written; k < N; k++) assign_tensor_cpu(wide[k], narrow[k]);
        }
    });
}

}  // namespace
}  // namespace NORCH_ISA
