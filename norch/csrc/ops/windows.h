// A window that slides over images or volumes: the geometry of convolution and pooling, on every device.
//
// Along an axis, output o sees through tap k of the window the input at o * stride - before + k * dilation. What lies
// outside the image is padding.

#pragma once
#include "ops/vector_math.h"

struct Span {
    int64_t begin, end;  // the end is not part of it
};

struct Axis {
    int64_t in, out, kernel, stride, dilation, before;

    HOST_DEVICE int64_t input(int64_t o, int64_t tap) const { return o * stride - before + tap * dilation; }
    HOST_DEVICE bool holds(int64_t i) const { return (i >= 0) & (i < in); }

    // How many inputs lie between the first and the last that so many outputs see.
    HOST_DEVICE int64_t seen(int64_t outputs) const { return (outputs - 1) * stride + dilation * (kernel - 1) + 1; }

    // The output that sees input i through a tap, or -1.
    HOST_DEVICE int64_t output(int64_t i, int64_t tap) const {
        const int64_t start = i + before - tap * dilation;
        return start < 0 || start % stride || start / stride >= out ? -1 : start / stride;
    }

    // The outputs that see the image, not padding, through a tap.
    HOST_DEVICE Span outputs(int64_t tap) const {
        const int64_t left = before - tap * dilation, right = in - 1 + left;
        const int64_t begin = left > 0 ? (left + stride - 1) / stride : 0, end = right < 0 ? 0 : right / stride + 1;
        return {begin < out ? begin : out, end < out ? end : out};
    }
};

// Images have a depth of 1. A pool's channels may be last: then so many lie side by side at each place.
struct Window {
    Axis y, x, z = {1, 1, 1, 1, 1, 0};
    int64_t channels = 1;

    HOST_DEVICE int64_t taps() const { return z.kernel * y.kernel * x.kernel; }
    HOST_DEVICE int64_t inputs() const { return z.in * y.in * x.in; }
    HOST_DEVICE int64_t outputs() const { return z.out * y.out * x.out; }
    HOST_DEVICE int64_t row(int64_t depth, int64_t height) const { return (depth * y.in + height) * x.in; }
};

// ---- Pooling -----------------------------------------------------------------------------------------------------

// A stride of 0 stands for adaptive pooling: output o of `out` sees the inputs from floor(o * in / out) to
// ceil((o + 1) * in / out).
HOST_DEVICE bool is_adaptive(const Axis& axis) { return axis.stride == 0; }

// Averages are taken over windows that are not dilated.
struct Averaging {
    Window window;
    double divisor;          // 0: as many as the window has elements,
    int32_t counts_padding;  // those in the padding among them
};

// The inputs that an output sees along an axis, and how many elements it counts there.
struct Seen : Span {
    int64_t count;
};

HOST_DEVICE Seen inputs_of(const Axis& axis, int64_t o, bool counts_padding) {
    if (is_adaptive(axis)) {
        const int64_t begin = o * axis.in / axis.out, end = ((o + 1) * axis.in + axis.out - 1) / axis.out;
        return {{begin, end}, end - begin};
    }
    int64_t begin = o * axis.stride - axis.before, end = begin + axis.kernel;
    if (end > axis.in + axis.before) end = axis.in + axis.before;
    const int64_t padded = end - begin;
    if (begin < 0) begin = 0;
    if (end > axis.in) end = axis.in;
    if (end < begin) end = begin;
    return {{begin, end}, counts_padding ? padded : end - begin};
}

// The outputs that see input i; if the window is dilated, others among them.
HOST_DEVICE Span outputs_over(const Axis& axis, int64_t i) {
    if (is_adaptive(axis)) return {i * axis.out / axis.in, ((i + 1) * axis.out + axis.in - 1) / axis.in};
    const int64_t start = i + axis.before - axis.dilation * (axis.kernel - 1),
                  end = (i + axis.before) / axis.stride + 1;
    return {start <= 0 ? 0 : (start + axis.stride - 1) / axis.stride, end < axis.out ? end : axis.out};
}

// What the sum over a window is divided by.
HOST_DEVICE double divisor_of(const Averaging& averaging, const Seen& z, const Seen& y, const Seen& x) {
    return averaging.divisor ? averaging.divisor : double(z.count * y.count * x.count);
}
