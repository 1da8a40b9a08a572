// Errors: C++ code throws them with fail(), the C API catches them (api.h), Python raises.

#pragma once
#include <exception>
#include <stdint.h>

#include "host/instruction_sets.h"

enum ErrorKind : int32_t {
    VALUE_ERROR = 1,
    TYPE_ERROR,
    INDEX_ERROR,
    RUNTIME_ERROR,
    MEMORY_ERROR,
    SHAPE_ERROR,  // shapes that do not fit each other: a ValueError in the article, a RuntimeError in PyTorch; here both
    LINALG_ERROR  // a matrix is singular, not positive-definite, or an iteration does not converge
};

struct Error : std::exception {
    ErrorKind kind;
    char message[512];
    const char* what() const noexcept override { return message; }
};

// What the last failed call of this thread left behind.
const Error& last_error();
void remember_error(const Error& error) noexcept;
void remember_error(const std::exception& error) noexcept;

// A shape, device or number as text: "[2, 3]", "cuda:0".
struct Text {
    char chars[192];
};
Text shape_text(const int64_t* shape, int ndim);
Text device_text(int32_t device);
const char* dtype_name(int32_t dtype);

// A value in a message. It refers to the text that it is made of.
struct Value {
    enum { INTEGER, REAL_NUMBER, TEXT } kind;
    union {
        int64_t integer;
        double real;
        const char* text;
    };
    Value(int value);  // not inline: see host/instruction_sets.h
    Value(unsigned value);
    Value(long value);
    Value(unsigned long value);
    Value(long long value);
    Value(double value);
    Value(const char* value);
    Value(const Text& value);
};

// Throws an Error. Each {} in the format becomes a value: fail(VALUE_ERROR, "{}: expected {} axes, got {}", name, 2,
// n).
[[noreturn]] void fail_with_values(ErrorKind kind, const char* format, const Value* values);

inline namespace NORCH_ISA {
template <class... Values>
[[noreturn]] void fail(ErrorKind kind, const char* format, const Values&... values) {
    const Value list[] = {values..., 0};
    fail_with_values(kind, format, list);
}
}  // namespace NORCH_ISA
