// A border around a tensor: where each element of the padded one comes from, on every device.

#pragma once
#include "kernels.h"
#include "ops/vector_math.h"

inline namespace NORCH_ISA {

// Along an axis of `size`: the element at index o of the padded axis; -1 in a constant border.
HOST_DEVICE int64_t padded_from(Padding::Mode mode, int64_t o, int64_t before, int64_t size) {
    const int64_t i = o - before, last = size - 1;
    if (i >= 0 && i <= last) return i;
    if (mode == Padding::CONSTANT) return -1;
    if (mode == Padding::REPLICATE) return i < 0 ? 0 : last;
    if (mode == Padding::CIRCULAR) return i < 0 ? i + size : i - size;
    return i < 0 ? -i : 2 * last - i;
}

// The places of element i along a padded axis of `padded` elements: f(o) for each.
template <class F>
HOST_DEVICE void for_places(Padding::Mode mode, int64_t i, int64_t before, int64_t size, int64_t padded, F f) {
    const int64_t own = before + i, last = size - 1;
    auto if_there = [&](bool wanted, int64_t o) {
        if (wanted && o >= 0 && o < padded) f(o);
    };
    if_there(true, own);
    if (mode == Padding::REPLICATE) {
        for (int64_t o = 0; i == 0 && o < own; o++) if_there(true, o);
        for (int64_t o = own + 1; i == last && o < padded; o++) if_there(true, o);
    } else if (mode == Padding::CIRCULAR) {
        if_there(true, own - size);
        if_there(true, own + size);
    } else if (mode == Padding::REFLECT) {
        if_there(i > 0, before - i);
        if_there(i < last, before + 2 * last - i);
    }
}

}  // namespace NORCH_ISA
