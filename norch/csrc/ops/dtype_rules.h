// What the Rule of a row in ops/operations.h means to a kernel: the types it is built for, and the type it returns.

#pragma once
#include <type_traits>

#include "ops/operations.h"
#include "tensor.h"

inline namespace NORCH_ISA {

// What a row of a rule returns. Without it a formula such as (x != 0) | (y != 0) would be an int.
template <Rule RULE, class T>
using Result = std::conditional_t<RULE == TEST, bool, T>;

// The type of the first of three operands.
template <Rule RULE, class T>
using First = std::conditional_t<RULE == CHOICE, bool, T>;

// The type that a kernel may read bool as, of whose loads g++ makes no vectors.
template <class T>
using AsByte = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

// Calls f with the type of a narrow dtype and that of its wide one.
template <class F>
void for_narrow(int32_t dtype, F f) {
    if (dtype == FLOAT16) return f(Type<Half>(), Type<float>());
    if (dtype == BFLOAT16) return f(Type<BFloat16>(), Type<float>());
    if (dtype == INT8) return f(Type<int8_t>(), Type<int32_t>());
    f(Type<int16_t>(), Type<int32_t>());
}

// Calls f with the type of dtype, for those dtypes that a row of this rule is computed in.
template <Rule RULE, class F>
void for_rule(int32_t dtype, F f) {
    if constexpr (RULE == REAL || RULE == CLAMPED)
        for_real(dtype, f);
    else if constexpr (RULE == WHOLE)
        for_whole(dtype, f);
    else if constexpr (RULE == NUMERIC || RULE == DIVISION || RULE == REMAINDER)
        for_any(dtype, [&](auto type) {
            if constexpr (std::is_same<decltype(type), Type<bool>>::value)
                fail(RUNTIME_ERROR, "no kernel for dtype bool: expected a number");
            else
                f(type);
        });
    else
        for_any(dtype, f);
}

}  // namespace NORCH_ISA
