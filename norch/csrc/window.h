// A window that slides over images: the geometry of convolution and pooling, the same on every device.
//
// Along an axis, output o sees through tap k of the window the input at o * stride - before + k * dilation. What lies
// outside the image is padding.

#pragma once
#include "ops.h"

struct Axis {
    int64_t in, out, kernel, stride, dilation, before;

    HOST_DEVICE int64_t input(int64_t o, int64_t tap) const { return o * stride - before + tap * dilation; }
    HOST_DEVICE bool holds(int64_t i) const { return (i >= 0) & (i < in); }

    // The output that sees input i through a tap; -1 where none does.
    HOST_DEVICE int64_t output(int64_t i, int64_t tap) const {
        const int64_t start = i + before - tap * dilation;
        return start < 0 || start % stride || start / stride >= out ? -1 : start / stride;
    }
};

struct Window {
    Axis y, x;

    HOST_DEVICE int64_t taps() const { return y.kernel * x.kernel; }
    HOST_DEVICE int64_t inputs() const { return y.in * x.in; }
    HOST_DEVICE int64_t outputs() const { return y.out * x.out; }
};

// ---- Averages ---------------------------------------------------------------------------------------------------

// A stride of 0 stands for adaptive pooling: output o of `out` sees the inputs from floor(o * in / out) to
// ceil((o + 1) * in / out). Windows are not dilated.
struct Averaging {
    Window window;
    double divisor;          // 0: as many as the window has elements,
    int32_t counts_padding;  // those in the padding among them
};

struct Span {
    int64_t begin, end, count;  // the inputs that an output sees along an axis, and how many elements it counts there
};

HOST_DEVICE Span span_of(const Axis& axis, int64_t o, bool counts_padding) {
    if (axis.stride == 0) {
        const int64_t begin = o * axis.in / axis.out, end = ((o + 1) * axis.in + axis.out - 1) / axis.out;
        return {begin, end, end - begin};
    }
    int64_t begin = o * axis.stride - axis.before, end = begin + axis.kernel;
    if (end > axis.in + axis.before) end = axis.in + axis.before;
    const int64_t padded = end - begin;
    if (begin < 0) begin = 0;
    if (end > axis.in) end = axis.in;
    if (end < begin) end = begin;
    return {begin, end, counts_padding ? padded : end - begin};
}

// The first and the last of the outputs that see input i; none where the first is larger.
HOST_DEVICE Span outputs_over(const Axis& axis, int64_t i) {
    int64_t first, last;
    if (axis.stride == 0) {
        first = i * axis.out / axis.in;
        last = ((i + 1) * axis.out + axis.in - 1) / axis.in - 1;
    } else {
        const int64_t start = i + axis.before - axis.kernel + 1;
        first = start <= 0 ? 0 : (start + axis.stride - 1) / axis.stride;
        last = (i + axis.before) / axis.stride;
        if (last >= axis.out) last = axis.out - 1;
    }
    return {first, last, last - first + 1};
}

// What the sum over two spans is divided by.
HOST_DEVICE double divisor_of(const Averaging& averaging, const Span& y, const Span& x) {
    return averaging.divisor ? averaging.divisor : double(y.count * x.count);
}
