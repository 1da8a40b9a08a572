// CPU kernels that bring images into columns and add columns back into images.

#include <string.h>

#include "cpu/backend.h"
#include "cpu/loops/columns.h"
#include "host/parallel.h"

inline namespace NORCH_ISA {

// out[n, c * taps + tap, p] = what tap sees in channel c of x[n] at position p
void unfold_tensor_cpu(const Tensor& x, Tensor& out, const Window& window) {
    INTEGERS_IN_AVX2(x.dtype, unfold, x, out, window);
    for_any(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const int64_t image = window.inputs(), column = window.taps() * window.outputs();
        parallel_for(x.shape[0] * x.shape[1], 1 + SMALL_WORK / column, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; i++)
                unfold_block<T>({data_as<T>(x) + i * image, 0, 1}, window, Block::of_image(window),
                                data_as<T>(out) + i * column);
        });
    });
}

// out[n, c] = the sum of what unfold takes from each place of it
void fold_tensor_cpu(const Tensor& columns, Tensor& out, const Window& window) {
    INTEGERS_IN_AVX2(out.dtype, fold, columns, out, window);
    for_any(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const int64_t image = window.inputs(), column = window.taps() * window.outputs();
        parallel_for(out.shape[0] * out.shape[1], 1 + SMALL_WORK / column, [&](int64_t begin, int64_t end) {
            memset(data_as<T>(out) + begin * image, 0, size_t((end - begin) * image) * sizeof(T));
            for (int64_t i = begin; i < end; i++)
                fold_block<T>(data_as<T>(columns) + i * column, window, Block::of_image(window),
                              {data_as<T>(out) + i * image, 0, 1});
        });
    });
}

}  // namespace NORCH_ISA
