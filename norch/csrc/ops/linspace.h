// Evenly spaced numbers, for arange and linspace. Each is computed from its index, so that rounding errors do not add
// up.

#pragma once
#include "ops/conversion.h"

// start + i * step; with meets_end the second half is end - (size - 1 - i) * step, so that the last element is `end`.
struct Spacing {
    double start, end, step;
    int64_t whole_start, whole_step;  // the same as integers, which a double does not hold
    int32_t is_whole, meets_end;
};

template <class T> HOST_DEVICE T spaced_element(const Spacing& spacing, int64_t i, int64_t size) {
    if (spacing.is_whole)
        return convert<T>(int64_t(uint64_t(spacing.whole_start) + uint64_t(spacing.whole_step) * uint64_t(i)));
    if (spacing.meets_end && i >= size / 2)
        return convert<T>(rounded_sum(-double(size - 1 - i), spacing.step, spacing.end));
    return convert<T>(rounded_sum(double(i), spacing.step, spacing.start));
}
