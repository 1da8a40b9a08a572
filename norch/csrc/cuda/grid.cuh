// CUDA kernels of padding, of images read at the points of a grid, and of resampling. A part of cuda.cu.
//
// A thread computes elements of the result and reads what it needs, as in windows.cuh. The gradient of an image at a
// grid is the one that cannot: a thread adds up that of a whole channel, so that it is the same in every run.

#pragma once
#include "cuda/block.cuh"
#include "ops/grid.h"
#include "ops/padding.h"

namespace {

struct Extents {
    int32_t ndim;
    int64_t from[MAX_DIMS] = {}, to[MAX_DIMS] = {};  // the shapes of x and of the padded one
    Extents(const Tensor& x, const Tensor& padded) : ndim(x.ndim) {
        for (int d = 0; d < ndim; d++) from[d] = x.shape[d], to[d] = padded.shape[d];
    }
};

template <class T>
__global__ void pad_kernel(const T* x, T* out, int64_t size, Extents extents, Padding padding) {
    for (int64_t e = first_of_thread(); e < size; e += all_threads()) {
        int64_t rest = e, place = 0, step = 1;
        bool inside = true;
        for (int d = extents.ndim - 1; d >= 0; d--) {
            const int64_t i = padded_from(padding.mode, rest % extents.to[d], padding.before[d], extents.from[d]);
            inside &= i >= 0;
            place += i * step;
            step *= extents.from[d];
            rest /= extents.to[d];
        }
        out[e] = inside ? x[place] : T(padding.value);
    }
}

// The sum of the gradients of the places of an element, along axes from d on; only the last three have several places.
template <class T>
__global__ void pad_backward_kernel(const T* gradient, T* out, int64_t size, Extents extents, Padding padding) {
    for (int64_t e = first_of_thread(); e < size; e += all_threads()) {
        int64_t index[MAX_DIMS], rest = e, outer = 0;
        bool inside = true;
        for (int d = extents.ndim - 1; d >= 0; rest /= extents.from[d--]) index[d] = rest % extents.from[d];
        const int last = extents.ndim - 1;
        for (int d = 0; d < last - 2; d++) {
            const int64_t o = index[d] + padding.before[d];
            inside &= o >= 0 && o < extents.to[d];
            outer = outer * extents.to[d] + o;
        }
        T sum = T(0);
        auto along = [&](int d, auto&& f) {
            if (d < 0) return f(int64_t(0));
            for_places(padding.mode, index[d], padding.before[d], extents.from[d], extents.to[d], f);
        };
        auto length = [&](int d) { return d < 0 ? int64_t(1) : extents.to[d]; };
        if (inside)
            along(last - 2, [&](int64_t z) {
                along(last - 1, [&](int64_t y) {
                    along(last, [&](int64_t x) {
                        sum += gradient[((outer * length(last - 2) + z) * length(last - 1) + y) * length(last) + x];
                    });
                });
            });
        out[e] = sum;
    }
}

// ---- Points of a grid --------------------------------------------------------------------------------------------

// The taps of a point, those of the image's last axis first; f(place in the image, tap along each axis) for all
// combinations.
template <class T>
struct PointTaps {
    AxisTaps<T> of[3];
    int axes, taps;

    __device__ PointTaps(const T* point, const Sampling& how) : axes(how.axes), taps(tap_count<T>(how)) {
        for (int a = 0; a < axes; a++) of[a] = taps_of(point[a], how.size[axes - 1 - a], how);
    }
    template <class F>
    __device__ void each(const Sampling& how, F f) const {
        const int corners = axes == 2 ? taps * taps : taps * taps * taps;
        for (int k = 0; k < corners; k++) {
            const int tap[] = {k % taps, k / taps % taps, k / taps / taps};
            int64_t place = 0;
            for (int a = axes - 1; a >= 0; a--) place = place * how.size[axes - 1 - a] + of[a].index[tap[a]];
            f(place, tap);
        }
    }
    // The product of the weights, with the slope in place of the weight along one axis (-1: none).
    __device__ T weight(const int* tap, int slope) const {
        T product = 1;
        for (int a = 0; a < axes; a++) product *= a == slope ? of[a].slope[tap[a]] : of[a].weight[tap[a]];
        return product;
    }
};

// out[n, c, p] for each element
template <class T>
__global__ void grid_sample_kernel(const T* x, const T* grid, T* out, int64_t size, int64_t channels, int64_t image,
                                   Sampling how) {
    for (int64_t e = first_of_thread(); e < size; e += all_threads()) {
        const int64_t p = e % how.points, plane = e / how.points, n = plane / channels;
        const PointTaps<T> taps(grid + (n * how.points + p) * how.axes, how);
        T sum = T(0);
        taps.each(how, [&](int64_t place, const int* tap) {
            sum += weighed(taps.weight(tap, -1), x[plane * image + place]);
        });
        out[e] = sum;
    }
}

// A thread for each channel of each image.
template <class T>
__global__ void grid_sample_image_kernel(const T* gradient, const T* grid, T* for_x, int64_t planes, int64_t channels,
                                         int64_t image, Sampling how) {
    for (int64_t plane = first_of_thread(); plane < planes; plane += all_threads()) {
        for (int64_t i = 0; i < image; i++) for_x[plane * image + i] = T(0);
        for (int64_t p = 0; p < how.points; p++) {
            const PointTaps<T> taps(grid + (plane / channels * how.points + p) * how.axes, how);
            const T g = gradient[plane * how.points + p];
            taps.each(how, [&](int64_t place, const int* tap) {
                for_x[plane * image + place] += weighed_back(taps.weight(tap, -1), g);
            });
        }
    }
}

// A thread for each point of each image.
template <class T>
__global__ void grid_sample_grid_kernel(const T* gradient, const T* x, const T* grid, T* for_grid, int64_t size,
                                        int64_t channels, int64_t image, Sampling how) {
    for (int64_t e = first_of_thread(); e < size; e += all_threads()) {
        const int64_t p = e % how.points, n = e / how.points;
        const PointTaps<T> taps(grid + e * how.axes, how);
        T sums[3] = {};
        for (int64_t plane = n * channels; plane < (n + 1) * channels; plane++) {
            const T g = gradient[plane * how.points + p];
            taps.each(how, [&](int64_t place, const int* tap) {
                for (int a = 0; a < how.axes; a++) sums[a] += weighed(taps.weight(tap, a), g * x[plane * image + place]);
            });
        }
        for (int a = 0; a < how.axes; a++) for_grid[e * how.axes + a] = sums[a];
    }
}

template <class T>
__global__ void resample_kernel(const T* x, const int32_t* counts, const int32_t* places, const T* weights, T* out,
                                int64_t size, int64_t outputs, int64_t inner, int64_t taps, Fault bounds,
                                Fault* found) {
    for (int64_t e = first_of_thread(); e < size; e += all_threads()) {
        const int64_t o = e / inner % outputs, first = e / inner / outputs * bounds.size * inner + e % inner;
        T sum = T(0);
        for (int64_t t = 0; t < counts[o] && t < taps; t++) {
            const int64_t at = t * outputs + o, place = places[at];
            if (place < 0 || place >= bounds.size) {
                report(found, bounds, place);
                continue;
            }
            const T term = weights[at] * x[first + place * inner];
            sum = t ? sum + term : term;
        }
        out[e] = sum;
    }
}

int64_t image_size(const Sampling& how) {
    return how.size[0] * how.size[1] * (how.axes == 3 ? how.size[2] : 1);
}

}  // namespace

void pad_tensor_cuda(const Tensor& x, Tensor& out, const Padding& padding) {
    cudaStream_t stream = use(out.device);
    for_bits(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        pad_kernel<T><<<blocks_for(out.size), threads_for(out.size), 0, stream>>>(
            data_as<T>(x), data_as<T>(out), out.size, Extents(x, out), padding);
    });
    check_launch("pad");
}

void pad_backward_tensor_cuda(const Tensor& gradient, Tensor& out, const Padding& padding) {
    cudaStream_t stream = use(out.device);
    for_real(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        pad_backward_kernel<T><<<blocks_for(out.size), threads_for(out.size), 0, stream>>>(
            data_as<T>(gradient), data_as<T>(out), out.size, Extents(out, gradient), padding);
    });
    check_launch("pad_backward");
}

void grid_sample_tensor_cuda(const Tensor& x, const Tensor& grid, Tensor& out, const Sampling& how) {
    cudaStream_t stream = use(out.device);
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        grid_sample_kernel<T><<<blocks_for(out.size), threads_for(out.size), 0, stream>>>(
            data_as<T>(x), data_as<T>(grid), data_as<T>(out), out.size, x.shape[1], image_size(how), how);
    });
    check_launch("grid_sample");
}

void grid_sample_backward_tensor_cuda(const Tensor& gradient, const Tensor& x, const Tensor& grid, Tensor* for_x,
                                      Tensor* for_grid, const Sampling& how) {
    cudaStream_t stream = use(x.device);
    const int64_t planes = x.shape[0] * x.shape[1], points = x.shape[0] * how.points;
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        if (for_x)
            grid_sample_image_kernel<T><<<blocks_for(planes), threads_for(planes), 0, stream>>>(
                data_as<T>(gradient), data_as<T>(grid), data_as<T>(for_x), planes, x.shape[1], image_size(how), how);
        if (for_grid)
            grid_sample_grid_kernel<T><<<blocks_for(points), threads_for(points), 0, stream>>>(
                data_as<T>(gradient), data_as<T>(x), data_as<T>(grid), data_as<T>(for_grid), points, x.shape[1],
                image_size(how), how);
    });
    check_launch("grid_sample_backward");
}

void resample_tensor_cuda(const Tensor& x, const Tensor& counts, const Tensor& places, const Tensor& weights,
                          Tensor& out, int axis) {
    cudaStream_t stream = use(out.device);
    const Fault bounds = {Fault::INDEX, axis, "resample", x.shape[axis], 0, 0};
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        resample_kernel<T><<<blocks_for(out.size), threads_for(out.size), 0, stream>>>(
            data_as<T>(x), data_as<int32_t>(counts), data_as<int32_t>(places), data_as<T>(weights), data_as<T>(out),
            out.size, out.shape[axis], out.strides[axis], places.shape[0], bounds, fault_of(out.device));
    });
    check_launch("resample");
}
