// What convolution and pooling share in the C API.

#pragma once
#include "ops/windows.h"
#include "tensor.h"

void check_number(const Tensor& x, const char* name);

// The settings of a window along one axis, after checks: kernel, stride, dilation, padding before and after, which lie
// so far apart.
Axis axis_of(const int64_t* given, int apart, int64_t in, bool ceil, const char* name);

int axes_of(const Tensor& images, const char* name);  // of images [N, C, ...], after a check: one to three

// Sets the sizes of as many axes: of what the window gives, or of what it sees.
void set_sizes(int64_t* sizes, int axes, const Window& window, bool of_outputs);

// The window of some axes, x last.
Window window_along(const Axis (&found)[3], int axes);
