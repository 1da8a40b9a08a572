#include "core/errors.h"

#include <new>
#include <stdio.h>
#include <string.h>

#include "kernels.h"

// ---- The last error of each thread -------------------------------------------------------------------------------

static thread_local Error last;

const Error& last_error() { return last; }

void remember_error(const Error& error) noexcept { last = error; }

void remember_error(const std::exception& error) noexcept {
    last.kind = dynamic_cast<const std::bad_alloc*>(&error) ? MEMORY_ERROR : RUNTIME_ERROR;
    snprintf(last.message, sizeof last.message, "%s", error.what());
}

// ---- Messages ----------------------------------------------------------------------------------------------------

Value::Value(int value) : kind(INTEGER), integer(value) {}
Value::Value(unsigned value) : kind(INTEGER), integer(value) {}
Value::Value(long value) : kind(INTEGER), integer(value) {}
Value::Value(unsigned long value) : kind(INTEGER), integer(int64_t(value)) {}
Value::Value(long long value) : kind(INTEGER), integer(value) {}
Value::Value(double value) : kind(REAL_NUMBER), real(value) {}
Value::Value(const char* value) : kind(TEXT), text(value) {}
Value::Value(const Text& value) : kind(TEXT), text(value.chars) {}

// Appends text, and cuts it off if it does not fit.
template <int CAPACITY>
struct Writer {
    char (&chars)[CAPACITY];
    int used = 0;

    template <class... Values>
    void print(const char* format, Values... values) {
        const int length = snprintf(chars + used, size_t(CAPACITY - used), format, values...);
        used = used + length < CAPACITY ? used + length : CAPACITY - 1;
    }
};

void fail_with_values(ErrorKind kind, const char* format, const Value* values) {
    Error error;
    error.kind = kind;
    Writer<sizeof error.message> message{error.message};
    while (const char* place = strstr(format, "{}")) {
        message.print("%.*s", int(place - format), format);
        if (values->kind == Value::INTEGER) message.print("%lld", static_cast<long long>(values->integer));
        if (values->kind == Value::REAL_NUMBER) message.print("%g", values->real);
        if (values->kind == Value::TEXT) message.print("%s", values->text);
        values++;
        format = place + 2;
    }
    message.print("%s", format);
    throw error;
}

Text shape_text(const int64_t* shape, int ndim) {
    Text text;
    Writer<sizeof text.chars> writer{text.chars};
    writer.print("[");
    for (int d = 0; d < ndim; d++) writer.print(d ? ", %lld" : "%lld", static_cast<long long>(shape[d]));
    writer.print("]");
    return text;
}

void fail_with(const Fault& fault, int64_t value) {
    switch (fault.kind) {
        case Fault::INDEX:
        case Fault::PLACE:  // PyTorch's types
            fail(fault.kind == Fault::INDEX ? INDEX_ERROR : RUNTIME_ERROR,
                 "index {} is out of range for axis {} of size {} ({})", value, fault.axis, fault.size,
                 fault.operation);
        case Fault::TARGET:
            fail(INDEX_ERROR, "{}: target {} is out of range, expected 0 to {} or ignore_index {}", fault.operation,
                 value, fault.size - 1, fault.ignored);
        case Fault::OFFSET:
            if (fault.axis == 0) fail(RUNTIME_ERROR, "{}: the first offset is {}, expected 0", fault.operation, value);
            fail(RUNTIME_ERROR, "{}: an offset is {}, expected increasing ones up to {}", fault.operation, value,
                 fault.size);
        case Fault::RANGE: {
            double found;
            memcpy(&found, &value, sizeof found);
            fail(ErrorKind(fault.axis), fault.operation, found);
        }
        default: fail(RUNTIME_ERROR, "{}: integer division or modulo by zero", fault.operation);
    }
}
