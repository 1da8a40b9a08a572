// Whether a value is in a range, and how a Fault holds one that is not.

#pragma once
#include <string.h>

#include "kernels.h"

inline namespace NORCH_ISA {

HOST_DEVICE bool is_in(const Range& range, double x) {
    return (x >= range.low && x <= range.high) || (range.nan_fits && x != x);
}
HOST_DEVICE int64_t bits_of(double x) {
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

}  // namespace NORCH_ISA
