// CUDA kernels behind api/windows.cpp: unfold and fold, convolution as a matrix product of columns, pooling. A part of
// cuda.cu.
//
// A thread computes one element of the result and reads what it needs: sums need no atomic operations, and are the same
// in every run.

#pragma once
#include "cuda/block.cuh"
#include "cuda/matmul.cuh"
#include "ops/reductions.h"
#include "ops/windows.h"

namespace {

// An element of a tensor [images, z, y, x, channels] by its number in row order.
struct Voxel {
    int64_t image, z, y, x, channels, channel;
    __device__ Voxel(int64_t e, int64_t depth, int64_t height, int64_t width, int64_t channels)
        : channels(channels), channel(e % channels) {
        const int64_t i = e / channels;
        image = i / width / height / depth, z = i / width / height % depth, y = i / width % height, x = i % width;
    }
    static __device__ Voxel of_output(int64_t e, const Window& w) {
        return {e, w.z.out, w.y.out, w.x.out, w.channels};
    }
    static __device__ Voxel of_input(int64_t e, const Window& w) { return {e, w.z.in, w.y.in, w.x.in, w.channels}; }

    // The element of its image and channel at a place.
    __device__ int64_t at(int64_t place, int64_t places) const { return (image * places + place) * channels + channel; }
};

// ---- Columns -----------------------------------------------------------------------------------------------------

// out[image, tap, o] = what the tap sees at output o
template <class T>
__global__ void unfold_kernel(const T* x, T* out, int64_t size, Window window) {
    for (int64_t e = first_of_thread(); e < size; e += all_threads()) {
        const Voxel o = Voxel::of_output(e, window);
        const Voxel tap(o.image, window.z.kernel, window.y.kernel, window.x.kernel, 1);
        const int64_t depth = window.z.input(o.z, tap.z), row = window.y.input(o.y, tap.y),
                      column = window.x.input(o.x, tap.x);
        const bool inside = window.z.holds(depth) & window.y.holds(row) & window.x.holds(column);
        out[e] = inside ? x[tap.image * window.inputs() + window.row(depth, row) + column] : T(0);
    }
}

// out[image, z, y, x] = the sum of the columns whose tap sees it
template <class T>
__global__ void fold_kernel(const T* columns, T* out, int64_t size, Window window) {
    for (int64_t e = first_of_thread(); e < size; e += all_threads()) {
        const Voxel at = Voxel::of_input(e, window);
        const T* taps = columns + at.image * window.taps() * window.outputs();
        T sum = T(0);
        for (int64_t tap = 0; tap < window.taps(); tap++, taps += window.outputs()) {
            const Voxel of(tap, window.z.kernel, window.y.kernel, window.x.kernel, 1);
            const int64_t plane = window.z.output(at.z, of.z), row = window.y.output(at.y, of.y),
                          column = window.x.output(at.x, of.x);
            if (plane >= 0 && row >= 0 && column >= 0) sum += taps[(plane * window.y.out + row) * window.x.out + column];
        }
        out[e] = sum;
    }
}

// ---- Pooling -----------------------------------------------------------------------------------------------------

// The inputs that output o sees along an axis: from begin to end - 1, `step` apart.
struct Steps : Span {
    int64_t step;
    __device__ Steps(const Axis& axis, int64_t o) {
        step = axis.dilation;
        if (is_adaptive(axis)) {
            *static_cast<Span*>(this) = inputs_of(axis, o, false);
            return;
        }
        begin = axis.input(o, 0);
        end = axis.input(o, axis.kernel - 1) + 1;
        if (begin < 0) begin += (-begin + step - 1) / step * step;
        if (end > axis.in) end = axis.in;
    }
};

template <class T>
__global__ void max_pool_kernel(const T* x, T* out, int64_t* indices, int64_t size, Window window) {
    for (int64_t e = first_of_thread(); e < size; e += all_threads()) {
        const Voxel o = Voxel::of_output(e, window);
        const Steps planes(window.z, o.z), rows(window.y, o.y), columns(window.x, o.x);
        const T* image = x + o.at(0, window.inputs());
        T largest = Max<T>::empty();
        int64_t place = -1;
        for (int64_t k = planes.begin; k < planes.end; k += planes.step)
            for (int64_t i = rows.begin; i < rows.end; i += rows.step)
                for (int64_t j = columns.begin; j < columns.end; j += columns.step) {
                    const int64_t at = window.row(k, i) + j;
                    const T value = image[at * window.channels];
                    if (place >= 0 && !((value > largest) | (value != value))) continue;
                    largest = value;
                    place = at;
                }
        out[e] = largest;
        if (indices) indices[e] = place;
    }
}

// out[i] = the sum of the gradients of the windows whose largest element is i
template <class T>
__global__ void max_pool_backward_kernel(const T* gradient, const int64_t* indices, T* out, int64_t size,
                                         Window window) {
    for (int64_t e = first_of_thread(); e < size; e += all_threads()) {
        const Voxel at = Voxel::of_input(e, window);
        const Span planes = outputs_over(window.z, at.z), rows = outputs_over(window.y, at.y),
                   columns = outputs_over(window.x, at.x);
        const int64_t place = window.row(at.z, at.y) + at.x;
        T sum = T(0);
        for (int64_t k = planes.begin; k < planes.end; k++)
            for (int64_t i = rows.begin; i < rows.end; i++)
                for (int64_t j = columns.begin; j < columns.end; j++) {
                    const int64_t o = at.at((k * window.y.out + i) * window.x.out + j, window.outputs());
                    if (indices[o] == place) sum += gradient[o];
                }
        out[e] = sum;
    }
}

template <class T>
__global__ void avg_pool_kernel(const T* x, T* out, int64_t size, Averaging averaging) {
    const Window& window = averaging.window;
    for (int64_t e = first_of_thread(); e < size; e += all_threads()) {
        const Voxel o = Voxel::of_output(e, window);
        const Seen planes = inputs_of(window.z, o.z, averaging.counts_padding);
        const Seen rows = inputs_of(window.y, o.y, averaging.counts_padding);
        const Seen columns = inputs_of(window.x, o.x, averaging.counts_padding);
        const T* image = x + o.at(0, window.inputs());
        T sum = T(0);
        for (int64_t k = planes.begin; k < planes.end; k++)
            for (int64_t i = rows.begin; i < rows.end; i++)
                for (int64_t j = columns.begin; j < columns.end; j++) sum += image[(window.row(k, i) + j) * window.channels];
        out[e] = T(sum / T(divisor_of(averaging, planes, rows, columns)));
    }
}

// out[i] = the sum of the gradients of the windows that see i, each divided as its average was
template <class T>
__global__ void avg_pool_backward_kernel(const T* gradient, T* out, int64_t size, Averaging averaging) {
    const Window& window = averaging.window;
    for (int64_t e = first_of_thread(); e < size; e += all_threads()) {
        const Voxel at = Voxel::of_input(e, window);
        const Span planes = outputs_over(window.z, at.z), rows = outputs_over(window.y, at.y),
                   columns = outputs_over(window.x, at.x);
        T sum = T(0);
        for (int64_t k = planes.begin; k < planes.end; k++) {
            const Seen z = inputs_of(window.z, k, averaging.counts_padding);
            for (int64_t i = rows.begin; i < rows.end; i++) {
                const Seen y = inputs_of(window.y, i, averaging.counts_padding);
                for (int64_t j = columns.begin; j < columns.end; j++) {
                    const Seen x = inputs_of(window.x, j, averaging.counts_padding);
                    const int64_t o = at.at((k * window.y.out + i) * window.x.out + j, window.outputs());
                    sum += T(gradient[o] / T(divisor_of(averaging, z, y, x)));
                }
            }
        }
        out[e] = sum;
    }
}

// ---- Convolution -------------------------------------------------------------------------------------------------

// A tensor over memory of the device, for the launchers of other kernels.
Tensor over(const void* data, const Tensor& like, int ndim, const int64_t (&shape)[4], const int64_t (&strides)[4]) {
    Tensor view = {};
    view.data = const_cast<void*>(data);
    view.ndim = ndim;
    view.device = like.device;
    view.dtype = like.dtype;
    view.size = 1;
    for (int d = 0; d < ndim; d++) {
        view.shape[d] = shape[d];
        view.strides[d] = strides[d];
        view.size *= shape[d];
    }
    return view;
}

// A convolution as products of matrices, for so many samples at a time that their columns fill CHUNK elements.
struct Lowered {
    enum { CHUNK = 1 << 24 };
    int64_t samples, groups, outputs, depth, positions, at_once;

    Lowered(const Tensor& images, const Tensor& weight, const Window& window)
        : samples(images.shape[0]),
          groups(images.shape[1] / weight.shape[1]),
          outputs(weight.shape[0] / groups),
          depth(weight.shape[1] * window.taps()),
          positions(window.outputs()) {
        const int64_t columns = groups * depth * positions, weights = groups * outputs * depth;
        at_once = CHUNK / (columns > weights ? columns : weights);
        at_once = at_once < 1 ? 1 : at_once < samples ? at_once : samples;
    }

    int64_t columns() const { return at_once * groups * depth * positions; }
    int64_t count(int64_t first) const { return samples - first < at_once ? samples - first : at_once; }

    // As matrices [n samples, groups, rows, columns]; the weight is the same for all samples.
    Tensor weight_of(const Tensor& weight, int64_t n) const {
        return over(weight.data, weight, 4, {n, groups, outputs, depth}, {0, outputs * depth, depth, 1});
    }
    Tensor columns_in(const void* data, const Tensor& like, int64_t n) const {
        const int64_t matrix = depth * positions;
        return over(data, like, 4, {n, groups, depth, positions}, {groups * matrix, matrix, positions, 1});
    }
    Tensor rows_of(const Tensor& out, int64_t first, int64_t n) const {
        const int64_t matrix = outputs * positions;
        return over(data_as<char>(out) + first * groups * matrix * item_size(out.dtype), out, 4,
                    {n, groups, outputs, positions}, {groups * matrix, matrix, positions, 1});
    }
};

// Some samples of a contiguous tensor.
Tensor samples_of(const Tensor& images, int64_t first, int64_t n) {
    Tensor part = images;
    const int64_t sample = images.size / images.shape[0];
    part.data = data_as<char>(images) + first * sample * item_size(images.dtype);
    part.shape[0] = n;
    part.size = n * sample;
    return part;
}

Tensor with_last_two_swapped(Tensor matrices) {
    swap(matrices.shape[2], matrices.shape[3]);
    swap(matrices.strides[2], matrices.strides[3]);
    return matrices;
}

// Queues what `launch` launches, with a thread for each element of out.
template <class F>
void for_elements(const char* name, const Tensor& out, F launch) {
    cudaStream_t stream = use(out.device);
    for_any(out.dtype, [&](auto type) { launch(type, blocks_for(out.size), threads_for(out.size), stream); });
    check_launch(name);
}

}  // namespace

void unfold_tensor_cuda(const Tensor& x, Tensor& out, const Window& window) {
    for_elements("unfold", out, [&](auto type, int blocks, int threads, cudaStream_t stream) {
        using T = typename decltype(type)::type;
        unfold_kernel<T><<<blocks, threads, 0, stream>>>(data_as<T>(x), data_as<T>(out), out.size, window);
    });
}

void fold_tensor_cuda(const Tensor& columns, Tensor& out, const Window& window) {
    for_elements("fold", out, [&](auto type, int blocks, int threads, cudaStream_t stream) {
        using T = typename decltype(type)::type;
        fold_kernel<T><<<blocks, threads, 0, stream>>>(data_as<T>(columns), data_as<T>(out), out.size, window);
    });
}

// out = weight @ unfold(x) + bias
void conv_tensor_cuda(const Tensor& x, const Tensor& weight, const Tensor* bias, Tensor& out, const Window& window) {
    const Lowered lowered(x, weight, window);
    DeviceScratch<char> memory(lowered.columns() * item_size(x.dtype), x.device);
    for (int64_t first = 0; first < lowered.samples; first += lowered.at_once) {
        const int64_t n = lowered.count(first);
        Tensor columns = lowered.columns_in(memory.data, x, n), rows = lowered.rows_of(out, first, n);
        unfold_tensor_cuda(samples_of(x, first, n), columns, window);
        matmul_tensor_cuda(lowered.weight_of(weight, n), columns, rows);
    }
    if (!bias) return;
    Tensor start = *bias;  // [1, outputs, 1, ...]
    start.ndim = out.ndim;
    for (int d = 0; d < out.ndim; d++) start.shape[d] = 1;
    start.shape[1] = bias->size, start.strides[1] = 1;
    add_tensor_cuda(out, expanded(start, out.shape, out.ndim, "conv"), out);
}

// out = fold(weight.T @ gradient)
void conv_input_tensor_cuda(const Tensor& gradient, const Tensor& weight, Tensor& out, const Window& window) {
    const Lowered lowered(out, weight, window);
    DeviceScratch<char> memory(lowered.columns() * item_size(out.dtype), out.device);
    for (int64_t first = 0; first < lowered.samples; first += lowered.at_once) {
        const int64_t n = lowered.count(first);
        Tensor columns = lowered.columns_in(memory.data, out, n), images = samples_of(out, first, n);
        matmul_tensor_cuda(with_last_two_swapped(lowered.weight_of(weight, n)), lowered.rows_of(gradient, first, n),
                           columns);
        fold_tensor_cuda(columns, images, window);
    }
}

// out = the sum of gradient @ unfold(x).T over the samples
void conv_weight_tensor_cuda(const Tensor& gradient, const Tensor& x, Tensor& out, const Window& window) {
    const Lowered lowered(x, out, window);
    const int64_t item = item_size(x.dtype), weights = out.size, matrix = lowered.outputs * lowered.depth;
    DeviceScratch<char> memory(lowered.columns() * item, x.device), terms(lowered.at_once * weights * item, x.device),
        part(weights * item, x.device);
    Tensor sum = over(part.data, out, 2, {1, weights}, {weights, 1}),
           total = over(out.data, out, 2, {1, weights}, {weights, 1});
    for (int64_t first = 0; first < lowered.samples; first += lowered.at_once) {
        const int64_t n = lowered.count(first);
        Tensor columns = lowered.columns_in(memory.data, x, n);
        unfold_tensor_cuda(samples_of(x, first, n), columns, window);
        Tensor products = over(terms.data, out, 4, {n, lowered.groups, lowered.outputs, lowered.depth},
                               {weights, matrix, lowered.depth, 1});
        matmul_tensor_cuda(lowered.rows_of(gradient, first, n), with_last_two_swapped(columns), products);
        sum_tensor_cuda(over(terms.data, out, 2, {n, weights}, {weights, 1}), first == 0 ? total : sum);
        if (first) add_tensor_cuda(total, sum, total);
    }
}

void max_pool_tensor_cuda(const Tensor& x, Tensor& out, Tensor* indices, const Window& window) {
    for_elements("max_pool", out, [&](auto type, int blocks, int threads, cudaStream_t stream) {
        using T = typename decltype(type)::type;
        max_pool_kernel<T><<<blocks, threads, 0, stream>>>(
            data_as<T>(x), data_as<T>(out), indices ? data_as<int64_t>(*indices) : nullptr, out.size, window);
    });
}

void max_pool_backward_tensor_cuda(const Tensor& gradient, const Tensor& indices, Tensor& out, const Window& window) {
    for_elements("max_pool_backward", out, [&](auto type, int blocks, int threads, cudaStream_t stream) {
        using T = typename decltype(type)::type;
        max_pool_backward_kernel<T><<<blocks, threads, 0, stream>>>(
            data_as<T>(gradient), data_as<int64_t>(indices), data_as<T>(out), out.size, window);
    });
}

void avg_pool_tensor_cuda(const Tensor& x, Tensor& out, const Averaging& averaging) {
    for_elements("avg_pool", out, [&](auto type, int blocks, int threads, cudaStream_t stream) {
        using T = typename decltype(type)::type;
        avg_pool_kernel<T><<<blocks, threads, 0, stream>>>(data_as<T>(x), data_as<T>(out), out.size, averaging);
    });
}

void avg_pool_backward_tensor_cuda(const Tensor& gradient, Tensor& out, const Averaging& averaging) {
    for_elements("avg_pool_backward", out, [&](auto type, int blocks, int threads, cudaStream_t stream) {
        using T = typename decltype(type)::type;
        avg_pool_backward_kernel<T><<<blocks, threads, 0, stream>>>(data_as<T>(gradient), data_as<T>(out), out.size,
                                                                  averaging);
    });
}
