// Images with their padding around them, in which each tap of a window sees a row of outputs at contiguous places.

#pragma once
#include <string.h>

#include "cpu/loops/columns.h"
#include "cpu/loops/simd.h"
#include "cpu/loops/tiles.h"
#include "tensor.h"

inline namespace NORCH_ISA {

// Some channels of a block of images. The elements of a row that lie a stride apart are brought together, one such part
// after the other.
template <class T>
class PaddedImages {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    enum { BEHIND = 64 / sizeof(T) };  // elements behind the last row that can be read
    const Window& window;
    int64_t length, line;                // elements of a part, of a row,
    int64_t plane, per_sample, channel;  // of a plane, a sample, a channel
    Block block = {};
    Scratch<T> image;
    Scratch<int64_t> offsets;  // of each tap
    Scratch<Span> insides;     // what is not padding of each part

    static int64_t spread(const Axis& axis) { return axis.dilation * (axis.kernel - 1); }
    static int64_t part_of(const Axis& x) { return x.out + spread(x) / x.stride; }

    void fill_row(const T* from, T* to) const {
        const Axis& x = window.x;
        for (int64_t part = 0; part < x.stride; part++, to += length) {
            const int64_t start = part - x.before;  // to[k] is from[start + k * stride], if there is one
            const Span& inside = insides.data[part];
            if (x.stride == 1)
                copy_row(from + start + inside.begin, to + inside.begin, inside.end - inside.begin);
            else
                with_stride(x.stride, inside.begin, inside.end, [=](int64_t k, int64_t i) { to[k] = from[start + i]; });
        }
    }

public:
    // Room for blocks of so many samples, or planes or rows of outputs, and so many channels.
    PaddedImages(const Window& window, int64_t samples, int64_t planes, int64_t rows, int64_t channels)
        : window(window),
          length(part_of(window.x)),
          line(window.x.stride * length),
          plane(window.y.seen(rows) * line),
          per_sample(window.z.seen(planes) * plane),
          channel(samples * per_sample),
          image(channels * channel + BEHIND),
          offsets(window.taps()),
          insides(window.x.stride) {
        const Axis &z = window.z, &y = window.y, &x = window.x;
        for (int64_t part = 0; part < x.stride; part++) {
            const int64_t before = x.before - part, room = x.in + before;
            const int64_t begin = before > 0 ? (before + x.stride - 1) / x.stride : 0;
            const int64_t end = room > 0 ? smaller(length, (room + x.stride - 1) / x.stride) : 0;
            insides[part] = {begin, end < begin ? begin : end};
        }
        int64_t* offset = offsets.data;
        for (int64_t k = 0; k < z.kernel; k++)
            for (int64_t i = 0; i < y.kernel; i++)
                for (int64_t j = 0; j < x.kernel; j++) {
                    const int64_t column = j * x.dilation, place = column % x.stride * length + column / x.stride;
                    *offset++ = k * z.dilation * plane + i * y.dilation * line + place;
                }
        memset(image.data, 0, size_t(image.count) * sizeof(T));
    }

    void fill(const Images<const T>& images, int64_t first, int64_t channels, const Block& of) {
        const Axis &z = window.z, &y = window.y;
        block = of;
        const int64_t planes = z.seen(block.planes), rows = y.seen(block.rows);
        for (int64_t c = 0; c < channels; c++)
            for (int64_t s = 0; s < block.samples; s++) {
                const T* from = images.data + (block.sample + s) * images.per_sample + (first + c) * window.inputs();
                for (int64_t p = 0; p < planes; p++) {
                    const int64_t depth = z.input(block.plane, 0) + p, above = y.input(block.row, 0);
                    T* to = image.data + c * channel + s * per_sample + p * plane;
                    for (int64_t r = 0; r < rows; r++, to += line)
                        if (z.holds(depth) & y.holds(above + r))
                            fill_row(from + window.row(depth, above + r), to);
                        else
                            memset(to, 0, size_t(line) * sizeof(T));
                }
            }
    }

    // to[(c, tap) * to_row + p] = what the tap sees in channel c at position first + p of the block, for p < count.
    // Whole vectors are written: up to LANES - 1 elements behind each row are lost.
    void columns(int64_t channels, int64_t first, int64_t count, T* to, int64_t to_row) const {
        const int64_t width = window.x.out, taps = window.taps();
        const int64_t* const offset = offsets.data;
        int64_t x = first % width, row = first / width % block.rows;
        int64_t depth = first / width / block.rows;  // of all samples
        for (int64_t p = 0, n; p < count; p += n, x = 0) {
            n = smaller(width - x, count - p);
            const T* from = image.data + depth / block.planes * per_sample +
                            depth % block.planes * window.z.stride * plane + row * window.y.stride * line + x;
            for (int64_t at = 0; at < n; at += LANES) {
                T* target = to + p + at;
                for (int64_t c = 0; c < channels; c++)
                    for (int64_t tap = 0; tap < taps; tap++, target += to_row)
                        memcpy(target, from + c * channel + at + offset[tap], VECTOR_BYTES);
            }
            if (++row == block.rows) row = 0, depth++;
        }
    }
    enum { SLACK = LANES };  // elements that `columns` needs behind the last row
};

}  // namespace NORCH_ISA
