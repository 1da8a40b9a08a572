// Where the bags of an embedding lie among the integers that name their rows, for CPU and CUDA alike.

#pragma once
#include "ops/vector_math.h"
#include "tensor.h"

// How the rows of a bag become one.
struct Bagging {
    enum Mode : int64_t { SUM, MEAN, MAX };
    Mode mode;
    int64_t padding;       // the integer that does not count, or -1
    int64_t each;          // integers of a bag, if no tensor says where the bags begin
    int64_t by_frequency;  // backward: whether the gradient of a row is divided by how often it was read
};

inline namespace NORCH_ISA {

// A bag ends where the next one begins.
struct Bags {
    const int64_t* starts;  // of the bags and, if one more is listed, the end of the last; or null
    int64_t listed, each, integers;

    Bags(const Tensor& index, const Tensor* starts, const Bagging& how)
        : starts(data_as<int64_t>(starts)), listed(starts ? starts->size : 0), each(how.each), integers(index.size) {}

    HOST_DEVICE int64_t start(int64_t bag) const {
        return !starts ? bag * each : bag < listed ? starts[bag] : integers;
    }
};

// Whether x becomes the largest element of a bag: the first of equals does, and the first NaN.
template <class T>
HOST_DEVICE bool is_larger(T x, T largest) {
    return (x > largest) | ((x != x) & (largest == largest));
}

}  // namespace NORCH_ISA
