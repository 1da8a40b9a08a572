// What the kernels of convolution share: convolution.cpp and depthwise.cpp.

#pragma once
#include "cpu/loops/columns.h"
#include "tensor.h"

inline namespace NORCH_ISA {

// The sizes of a convolution, from its tensors [N, channels, ...] and its weight [outputs, channels / groups, ...].
struct Sizes {
    int64_t samples, groups, channels, outputs;  // the last two of a group
    int64_t depth, positions;                    // of a sample

    Sizes(const Tensor& images, const Tensor& weight, const Window& window)
        : samples(images.shape[0]),
          groups(images.shape[1] / weight.shape[1]),
          channels(weight.shape[1]),
          outputs(weight.shape[0] / groups),
          depth(channels * window.taps()),
          positions(window.outputs()) {}
};

// The window that sees the gradient of a window of stride 1, from the image: its taps are those in reverse.
inline Window reversed(const Window& window) {
    auto reverse = [](const Axis& axis) {
        return Axis{axis.out, axis.in, axis.kernel, 1, axis.dilation, axis.dilation * (axis.kernel - 1) - axis.before};
    };
    return {reverse(window.y), reverse(window.x), reverse(window.z)};
}

inline bool is_strided(const Window& window) {
    return window.z.stride > 1 || window.y.stride > 1 || window.x.stride > 1;
}

// ---- Depthwise convolution: groups of one channel ------------------------------------------------------------------

inline bool is_depthwise(const Sizes& sizes) { return sizes.groups > 1 && sizes.channels == 1 && sizes.outputs <= 4; }

template <class T>
void depthwise(const Sizes& sizes, const Window& window, const T* x, const T* weight, const T* bias, T* out);
template <class T>
void depthwise_input(const Sizes& sizes, const Window& window, const T* gradient, const T* weight, T* out);
template <class T>
void depthwise_weight(const Sizes& sizes, const Window& window, const T* gradient, const T* x, T* out);

}  // namespace NORCH_ISA
