// How alike, or how far apart, two rows are: the formulas of cosines and distances, on every device.

#pragma once
#include <math.h>

#include "kernels.h"
#include "ops/vector_math.h"

inline namespace NORCH_ISA {

// The sums over a row that the formulas need: of x y, x x and y y, or (DISTANCE) of (x - y + eps)^2 and none.
struct PairSums {
    double xy, xx, yy;
};

HOST_DEVICE double larger_of(double a, double b) { return a < b ? b : a; }

HOST_DEVICE double pair_value(const RowPairs& how, const PairSums& sums) {
    if (how.kind == RowPairs::DISTANCE) return ::sqrt(sums.xy);
    if (how.kind == RowPairs::EMBEDDING) return sums.xy / ::sqrt((sums.xx + how.eps) * (sums.yy + how.eps));
    return sums.xy / (larger_of(::sqrt(sums.xx), how.eps) * larger_of(::sqrt(sums.yy), how.eps));
}

// The gradient of the value along x is other * y + own * x, along y the same with x and y exchanged;
// of a DISTANCE it is other * (x - y + eps), and the negative of that.
struct PairSlope {
    double other, own;
};

HOST_DEVICE PairSlope pair_slope(const RowPairs& how, const PairSums& sums) {
    const double value = pair_value(how, sums);
    if (how.kind == RowPairs::DISTANCE) return {value > 0 ? 1 / value : value == 0 ? 0 : value, 0};
    if (how.kind == RowPairs::EMBEDDING)
        return {1 / ::sqrt((sums.xx + how.eps) * (sums.yy + how.eps)), -value / (sums.xx + how.eps)};
    const double length = ::sqrt(sums.xx), x = larger_of(length, how.eps), y = larger_of(::sqrt(sums.yy), how.eps);
    return {1 / (x * y), length == 0 ? 0 : -value / (x * length)};
}

}  // namespace NORCH_ISA
