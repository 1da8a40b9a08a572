// What the functions of the C API check before they call a kernel. `operation` begins the message.

#pragma once
#include "tensor.h"

extern int32_t default_dtype;  // of Python's floats (set_default_dtype)

void check_real(const Tensor& x, const char* operation);                      // a floating dtype
void check_devices(const Tensor& x, const Tensor& y, const char* operation);  // numbers fit every device
void check_pair(const Tensor& x, const Tensor& y, const char* operation);     // one device and one dtype
void check_same_shape(const Tensor& x, const Tensor& y, const char* operation);
void check_writable(const Tensor& out, const char* operation);  // whether it can be written in place
void check_not_read_only(const Tensor& out, const char* operation);
int check_axis(int64_t axis, int ndim, const char* operation);  // negative axes count from the end

Owned taken(Tensor* made);  // what a function of this API made; throws the error that it left
void done(int status);      // the same of a function that made nothing
Owned real_number(double value);

// Gives several results away, for build_several.
template <class... Made>
void give_all(Tensor** results, Made&... made) {
    ((*results++ = made.give()), ...);
}

Tensor transposed(const Tensor& matrix);
void move_on(Tensor& view, int64_t elements);  // lets a view on the stack begin some elements further on

// The shape of what all elements are reduced to, while it keeps its dimensions.
constexpr int64_t ONES[MAX_DIMS] = {1, 1, 1, 1, 1, 1, 1, 1};

struct Shape {
    int ndim = 0;
    int64_t sizes[MAX_DIMS];
};
void broadcast(Shape& shape, const Tensor& tensor, const char* operation);  // grows the shape by a tensor's
