// Operands of elementwise kernels: tensors and numbers of any dtype, as a kernel computes with them.

#pragma once
#include <float.h>
#include <math.h>
#include <string.h>

#include "api.h"
#include "api/storage_order.h"
#include "dispatch.h"

// A number of a wide dtype as a dtype of it stores it.
template <class T>
T as_stored(T value, int32_t dtype) {
    if (dtype == INT8) return T(int8_t(value));
    if (dtype == INT16) return T(int16_t(value));
    if (dtype == FLOAT16) return T(convert<float>(convert<Half>(float(value))));
    if (dtype == BFLOAT16) return T(convert<float>(convert<BFloat16>(float(value))));
    return value;
}

// The largest finite number that may be written, or bound others; arithmetic takes a larger one as infinite.
// With `infinite16` 16 bits do, too: x[i] = 1e9, where and lerp.
inline double largest_number(int32_t dtype, bool infinite16 = false) {
    if (dtype == FLOAT32) return FLT_MAX;
    if (infinite16) return INFINITY;
    return dtype == FLOAT16 ? 65504.0 : dtype == BFLOAT16 ? 0x1.FEp127 : INFINITY;
}

[[noreturn]] inline void refuse_number(const Tensor& number, int32_t dtype, const char* name) {
    const char* message = "{}: the number {} does not fit into {}";
    if (number.dtype == FLOAT64) fail(RUNTIME_ERROR, message, name, number.value.real, dtype_name(dtype));
    fail(RUNTIME_ERROR, message, name, number.value.integer, dtype_name(dtype));
}

// Whether a dtype of integers has a place for a number, where it is stored as `stored`. In uint8 -1 is 255.
inline bool holds(int32_t dtype, const Tensor& number, int64_t stored) {
    const double real = number.value.real;
    if (number.dtype == FLOAT64) return double(stored) == trunc(real) && !(dtype == UINT8 && real < 0);
    const int64_t integer = number.value.integer;
    return number.dtype == BOOL || stored == integer || (dtype == UINT8 && integer < 0 && integer >= -255);
}

inline bool rounds_numbers(Rule rule) { return rule == TEST || rule == REMAINDER || rule == CLAMPED; }

// One operand as a kernel takes it: in the computing dtype, expanded to the result's shape. Most need no conversion.
struct Operand {
    const Tensor* tensor;  // the operand itself, what it was converted to, or the view
    Tensor view;
    Owned copy;

    Operand(const Tensor& given, int32_t dtype, const int64_t* shape, int ndim, const char* name, Rule rule = SAME,
            double largest = INFINITY)
        : tensor(&given) {
        if (!given.is_number && given.dtype != dtype) {
            copy = converted(given, dtype);
            tensor = copy.tensor;
        }
        if (!given.is_number && has_shape(given, shape, ndim)) return;
        view = expanded(*tensor, shape, ndim, name);
        tensor = &view;
        if (given.is_number) place_number(given, dtype, name, rule, largest);
    }
    Operand(const Operand&) = delete;

    void put_in(const StorageOrder& order) {
        if (order.by_rows) return;
        view = order.view(*tensor);
        tensor = &view;
    }

    // A number's value lies inline in the view; strides of 0 make it fit every shape. Beside a narrow dtype it is in
    // the wide one, rounded only if the rule says so: what was stored as 0.1 equals 0.1.
    void place_number(const Tensor& number, int32_t dtype, const char* name, Rule rule, double largest) {
        const double real = number.dtype == FLOAT64 ? number.value.real
                            : number.dtype == INT64 ? double(number.value.integer)
                                                    : 0;
        if (std::isfinite(real) && std::abs(real) > largest) refuse_number(number, dtype, name);
        view.dtype = wide_of(dtype);
        view.data = &view.value;
        for_any(view.dtype, [&](auto type) {
            using T = typename decltype(type)::type;
            T value;
            if (number.dtype == FLOAT64)
                value = convert<T>(number.value.real);
            else if (number.dtype == INT64)
                value = T(number.value.integer);
            else
                value = T(number.value.truth);
            if (rounds_numbers(rule) || !is_real(dtype)) value = as_stored(value, dtype);
            if (!is_real(dtype) && dtype != BOOL && !holds(dtype, number, int64_t(value)))
                refuse_number(number, dtype, name);
            memcpy(&view.value, &value, sizeof value);
        });
    }
};
