// CUDA kernels that sort lines: pieces of them in shared memory, then runs of growing width are merged. A part of
// cuda.cu.

#pragma once
#include "cuda/block.cuh"
#include "cuda/layout.cuh"
#include "ops/ordering.h"

namespace {

enum { PIECE = 2 * THREADS };  // entries that a block sorts by itself

template <class T>
struct Entry {
    T value;
    int64_t index;
};

// Whether a comes before b. NaN is larger than every number; equals stay in the order of their indices.
template <class T>
__device__ bool comes_before(const Entry<T>& a, const Entry<T>& b, bool descending) {
    const bool less = (a.value < b.value) | ((b.value != b.value) & (a.value == a.value));
    const bool greater = (a.value > b.value) | ((a.value != a.value) & (b.value == b.value));
    return less | greater ? (descending ? greater : less) : a.index < b.index;
}

// Entry i of a line that consists of sorted runs of a width, two of which are merged: the place where it belongs. That
// is its place in its own run, and as many further as entries of the other run come before it, which a binary search
// counts.
template <class T>
__device__ int64_t merged_place(const Entry<T>* line, int64_t n, int64_t i, int64_t width, bool descending) {
    const int64_t run = i / width, other = (run ^ 1) * width;
    const int64_t first = other < n ? other : n;
    int64_t low = first, high = other + width < n ? other + width : n;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (comes_before(line[middle], line[i], descending))
            low = middle + 1;
        else
            high = middle;
    }
    return (run & ~int64_t(1)) * width + (i - run * width) + (low - first);
}

// Sorts pieces of up to PIECE entries. A piece is a part of one line, or several short lines that are sorted each for
// itself; `whole` is how many entries make up a piece.
template <class T>
__global__ void sort_pieces_kernel(Entry<T>* entries, int64_t lines, int64_t n, int64_t whole, bool descending) {
    __shared__ Entry<T> here[PIECE];
    __shared__ Entry<T> there[PIECE];
    const int64_t per_line = n > whole ? (n + whole - 1) / whole : 1, lines_each = n > whole ? 1 : whole / n;
    const int64_t pieces = n > whole ? lines * per_line : (lines + lines_each - 1) / lines_each;
    for (int64_t piece = blockIdx.x; piece < pieces; piece += gridDim.x) {
        const int64_t start = n > whole ? piece / per_line * n + piece % per_line * whole : piece * whole;
        const int64_t end = n > whole ? (piece / per_line + 1) * n : lines * n;
        const int size = int(start + whole < end ? whole : end - start), line = n > whole ? size : int(n);
        Entry<T>*from = here, *to = there;
        for (int e = threadIdx.x; e < size; e += blockDim.x) from[e] = entries[start + e];
        __syncthreads();
        for (int width = 1; width < line; width *= 2) {
            for (int e = threadIdx.x; e < size; e += blockDim.x) {
                const int i = e % line, begin = e - i;
                to[begin + merged_place(from + begin, line, i, width, descending)] = from[e];
            }
            __syncthreads();
            Entry<T>* filled = to;
            to = from;
            from = filled;
        }
        for (int e = threadIdx.x; e < size; e += blockDim.x) entries[start + e] = from[e];
        __syncthreads();  // before the next piece
    }
}

template <class T>
__global__ void merge_kernel(const Entry<T>* from, Entry<T>* to, int64_t lines, int64_t n, int64_t width,
                             bool descending) {
    for (int64_t e = first_of_thread(); e < lines * n; e += all_threads()) {
        const int64_t i = e % n, begin = e - i;
        to[begin + merged_place(from + begin, n, i, width, descending)] = from[e];
    }
}

// Sorts each of so many lines of n entries. They may end up in either buffer: returns which.
template <class T>
Entry<T>* sort_lines(Entry<T>* entries, Entry<T>* buffer, int64_t lines, int64_t n, bool descending,
                     cudaStream_t stream) {
    const int64_t whole = n >= PIECE ? int64_t(PIECE) : PIECE / n * n, pieces = lines * divided_up(n, whole);
    sort_pieces_kernel<T><<<at_most(pieces, MAX_BLOCKS), THREADS, 0, stream>>>(entries, lines, n, whole, descending);
    check_launch("sort");
    for (int64_t width = PIECE; width < n; width *= 2) {
        merge_kernel<T><<<blocks_for(lines * n), THREADS, 0, stream>>>(entries, buffer, lines, n, width, descending);
        check_launch("sort");
        std::swap(entries, buffer);
    }
    return entries;
}

// ---- Sorting a tensor --------------------------------------------------------------------------------------------

template <class T>
__global__ void entries_kernel(const T* x, Entry<T>* entries, int64_t n, int64_t x_step, Strides<3> lines) {
    for (int64_t e = first_of_thread(); e < lines.size * n; e += all_threads())
        entries[e] = {x[lines.locate(e / n).of[0] + e % n * x_step], e % n};
}

template <class T>
__global__ void sorted_kernel(const Entry<T>* entries, int64_t n, int64_t count, T* values, int64_t value_step,
                              int64_t* indices, int64_t index_step, Strides<3> lines) {
    for (int64_t e = first_of_thread(); e < lines.size * count; e += all_threads()) {
        const int64_t line = e / count, i = e % count;
        const Offsets<3> at = lines.locate(line);
        values[at.of[1] + i * value_step] = entries[line * n + i].value;
        indices[at.of[2] + i * index_step] = entries[line * n + i].index;
    }
}

// Where the lines along axis begin in three tensors, which agree but for that axis.
Strides<3> lines_along(int axis, Tensor a, Tensor b, Tensor c) {
    for (Tensor* tensor : {&a, &b, &c}) {
        tensor->size /= tensor->shape[axis];
        tensor->shape[axis] = 1;
    }
    return Strides<3>(collapse<3>({&a, &b, &c}));
}

}  // namespace

void sort_tensor_cuda(const Tensor& x, Tensor& sorted, Tensor& indices, int axis, bool descending) {
    cudaStream_t stream = use(x.device);
    const Strides<3> lines = lines_along(axis, x, sorted, indices);
    const int64_t n = x.shape[axis], count = sorted.shape[axis];
    for_any(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        DeviceScratch<Entry<T>> first(x.size, x.device), second(n > PIECE ? x.size : 0, x.device);
        entries_kernel<T><<<blocks_for(x.size), threads_for(x.size), 0, stream>>>(data_as<T>(x), first.data, n,
                                                                                  x.strides[axis], lines);
        check_launch("sort");
        const Entry<T>* entries = sort_lines(first.data, second.data, lines.size, n, descending, stream);
        sorted_kernel<T><<<blocks_for(sorted.size), threads_for(sorted.size), 0, stream>>>(
            entries, n, count, data_as<T>(sorted), sorted.strides[axis], data_as<int64_t>(indices),
            indices.strides[axis], lines);
    });
    check_launch("sort");
}

// ---- Choosing from sorted lines --------------------------------------------------------------------------------------

namespace {

// The entry that selected_place names; a thread takes a line.
template <class T>
__global__ void order_statistic_kernel(const Entry<T>* entries, T* values, int64_t* indices, int64_t lines, int64_t n,
                                       OrderStatistic how, int64_t place) {
    for (int64_t line = first_of_thread(); line < lines; line += all_threads()) {
        const Entry<T>* sorted = entries + line * n;
        int64_t numbers = n;
        while (how != KTH && numbers > 0 && sorted[numbers - 1].value != sorted[numbers - 1].value) numbers--;
        const Entry<T> found = sorted[selected_place(how, place, n, numbers)];
        values[line] = found.value;
        indices[line] = found.index;
    }
}

// The last entry of the longest run of equals, the first of several; NaNs are equal.
template <class T>
__global__ void mode_kernel(const Entry<T>* entries, T* values, int64_t* indices, int64_t lines, int64_t n) {
    for (int64_t line = first_of_thread(); line < lines; line += all_threads()) {
        const Entry<T>* sorted = entries + line * n;
        int64_t longest = 0, last = 0, start = 0;
        for (int64_t i = 1; i <= n; i++) {
            const T first = sorted[start].value, next = i < n ? sorted[i].value : first;
            if (i < n && ((next == first) | ((next != next) & (first != first)))) continue;
            if (i - start > longest) longest = i - start, last = i - 1;
            start = i;
        }
        values[line] = sorted[last].value;
        indices[line] = sorted[last].index;
    }
}

// Calls f(entries, type) with the sorted entries of contiguous lines.
template <class F>
void with_sorted_lines(const Tensor& x, cudaStream_t stream, F f) {
    const int64_t n = x.shape[x.ndim - 1], lines = x.size / n;
    for_any(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        DeviceScratch<Entry<T>> first(x.size, x.device), second(n > PIECE ? x.size : 0, x.device);
        entries_kernel<T><<<blocks_for(x.size), threads_for(x.size), 0, stream>>>(data_as<T>(x), first.data, n, 1,
                                                                                  lines_along(x.ndim - 1, x, x, x));
        check_launch("sort");
        f(sort_lines(first.data, second.data, lines, n, false, stream), type);
    });
}

}  // namespace

void order_statistic_tensor_cuda(const Tensor& x, Tensor& values, Tensor& indices, OrderStatistic how, int64_t place) {
    cudaStream_t stream = use(x.device);
    with_sorted_lines(x, stream, [&](auto* entries, auto type) {
        using T = typename decltype(type)::type;
        order_statistic_kernel<T><<<blocks_for(indices.size), threads_for(indices.size), 0, stream>>>(
            entries, data_as<T>(values), data_as<int64_t>(indices), indices.size, x.size / indices.size, how, place);
        check_launch("order_statistic");
    });
}

void mode_tensor_cuda(const Tensor& x, Tensor& values, Tensor& indices) {
    cudaStream_t stream = use(x.device);
    with_sorted_lines(x, stream, [&](auto* entries, auto type) {
        using T = typename decltype(type)::type;
        mode_kernel<T><<<blocks_for(indices.size), threads_for(indices.size), 0, stream>>>(
            entries, data_as<T>(values), data_as<int64_t>(indices), indices.size, x.size / indices.size);
        check_launch("mode");
    });
}
