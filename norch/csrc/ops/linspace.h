// Numbers at equal distances, for arange and linspace: each element by itself, so that no error adds up.

#pragma once
#include "ops/conversion.h"

// start + i * step; with meets_end the second half is end - (size - 1 - i) * step, so that the last element is `end`.
struct Ramp {
    double start, end, step;
    int64_t whole_start, whole_step;  // the same as integers, which a double does not hold
    int32_t is_whole, meets_end;
};

template <class T> HOST_DEVICE T ramp_element(const Ramp& ramp, int64_t i, int64_t size) {
    if (ramp.is_whole) return convert<T>(int64_t(uint64_t(ramp.whole_start) + uint64_t(ramp.whole_step) * uint64_t(i)));
    if (ramp.meets_end && i >= size / 2) return convert<T>(rounded_sum(-double(size - 1 - i), ramp.step, ramp.end));
    return convert<T>(rounded_sum(double(i), ramp.step, ramp.start));
}
