// Images and volumes read at the points of a grid: which elements a point reads along an axis, on every device.

#pragma once
#include "kernels.h"
#include "ops/formulas.h"

inline namespace NORCH_ISA {

enum { MAX_TAPS = 4 };

// What a point reads along an axis: elements, their weights, and how fast these change with the point's number. What
// lies beyond the image has the weight 0, and index 0; if the point is NaN or infinite, the weight is NaN.
template <class T>
struct AxisTaps {
    int32_t index[MAX_TAPS];
    T weight[MAX_TAPS], slope[MAX_TAPS];
};

// Nothing of what has no weight, also if it is NaN: a point beyond the image reads its first element.
template <class T>
HOST_DEVICE T weighed(T weight, T value) {
    return weight == 0 ? T(0) : weight * value;
}

// What an element of the image gets of the gradient of a point; nothing of a point that is nowhere.
template <class T>
HOST_DEVICE T weighed_back(T weight, T gradient) {
    return weight == weight ? weighed(weight, gradient) : T(0);
}

template <class T>
HOST_DEVICE int tap_count(const Sampling& how) {
    return how.mode == Sampling::NEAREST ? 1 : how.mode == Sampling::BILINEAR ? 2 : 4;
}

// A place moved into [0, size - 1], by reflection at the borders and by clipping; what that does to its slope.
template <class T>
HOST_DEVICE T place_inside(T place, int64_t size, const Sampling& how, T& slope) {
    if (how.border == Sampling::REFLECTION) {
        const T low = how.align ? T(0) : T(-0.5), span = how.align ? T(size - 1) : T(size);
        if (span == 0) {
            slope = place = place * 0;
        } else {
            const T away = place - low, distance = away < 0 ? -away : away;
            const T flips = formula::floor(distance / span), extra = distance - flips * span;
            const bool turned = flips - 2 * formula::floor(flips / 2) != 0;
            place = turned ? span + low - extra : extra + low;
            slope = (away < 0) != turned ? -slope : slope;
        }
    }
    if (!(place > 0)) slope = 0, place = 0;  // also of NaN
    if (!(place < T(size - 1))) slope = 0, place = T(size - 1);
    return place;
}

// Keys' cubic convolution with a = -0.75 at a distance of d >= 0, and its derivative.
template <class T>
HOST_DEVICE T cubic_weight(T d) {
    const T a = T(-0.75);
    return d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}
template <class T>
HOST_DEVICE T cubic_slope(T d) {
    const T a = T(-0.75);
    return d <= 1 ? (3 * (a + 2) * d - 2 * (a + 3)) * d : (3 * a * d - 10 * a) * d + 8 * a;
}

template <class T>
HOST_DEVICE AxisTaps<T> taps_of(T point, int64_t size, const Sampling& how) {
    T slope = how.align ? T(size - 1) / 2 : T(size) / 2;
    T place = how.align ? (point + 1) * slope : ((point + 1) * T(size) - 1) / 2;
    if (how.border != Sampling::ZEROS && how.mode != Sampling::BICUBIC) place = place_inside(place, size, how, slope);
    const T below = how.mode == Sampling::NEAREST ? formula::round(place) : formula::floor(place),
            offset = place - below;
    AxisTaps<T> taps;
    for (int k = 0; k < tap_count<T>(how); k++) {
        T index = below + T(k), ignored = 0;
        if (how.mode == Sampling::NEAREST) {
            taps.weight[k] = 1, taps.slope[k] = 0;
        } else if (how.mode == Sampling::BILINEAR) {
            taps.weight[k] = k ? offset : 1 - offset, taps.slope[k] = k ? slope : -slope;
        } else {
            index -= 1;
            const T away = offset - T(k - 1), distance = away < 0 ? -away : away;
            taps.weight[k] = cubic_weight(distance);
            taps.slope[k] = cubic_slope(distance) * (away < 0 ? -slope : slope);
            if (how.border != Sampling::ZEROS) index = place_inside(index, size, how, ignored);
        }
        const bool seen = (index >= 0) & (index <= T(size - 1));  // NaN is not
        taps.index[k] = seen ? int32_t(index) : 0;
        if (!seen) taps.weight[k] *= 0, taps.slope[k] *= 0;
    }
    return taps;
}

}  // namespace NORCH_ISA
