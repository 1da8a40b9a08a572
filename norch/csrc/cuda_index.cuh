// CUDA kernels behind indexing.cpp: reading and writing at offsets, nonzero, sorting, running totals. A part of cuda.cu.

#pragma once
#include "cuda_device.cuh"
#include "cuda_layout.cuh"

namespace {

// ---- index and index_put ----------------------------------------------------------------------------------------

// offsets = stride * index, or += where it is not the first; an index below 0 counts from size.
__global__ void locate_kernel(const int64_t* index, int64_t size, int64_t stride, bool first, int64_t* offsets,
                              Strides<2> strides) {
    const int64_t step = gridDim.x * int64_t(blockDim.x);
    for (int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; i < strides.size; i += step) {
        const Offsets<2> at = strides.locate(i);
        const int64_t given = index[at.of[0]], place = given < 0 ? given + size : given;
        offsets[at.of[1]] = (first ? 0 : offsets[at.of[1]]) + place * stride;
    }
}

// out[p] = x.data[p . x.strides + offsets[p]]
template <class T>
__global__ void index_kernel(const T* x, const int64_t* offsets, T* out, Strides<3> strides) {
    const int64_t step = gridDim.x * int64_t(blockDim.x);
    for (int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; i < strides.size; i += step) {
        const Offsets<3> at = strides.locate(i);
        out[at.of[2]] = x[at.of[0] + offsets[at.of[1]]];
    }
}

// out.data[p . out.strides + offsets[p]] = x[p], or += x[p]. The threads share out the dimensions that are not indexed;
// each walks over the indexed ones in row order. So the last of equal places wins, and sums are the same in every run.
template <class T>
__global__ void index_put_kernel(const T* x, const int64_t* offsets, T* out, bool accumulate, Strides<3> kept,
                                 Strides<3> indexed) {
    const int64_t step = gridDim.x * int64_t(blockDim.x);
    for (int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; i < kept.size; i += step) {
        const Offsets<3> start = kept.locate(i);
        for (int64_t p = 0; p < indexed.size; p++) {
            const Offsets<3> at = indexed.locate(p);
            T& element = out[start.of[2] + at.of[2] + offsets[start.of[1] + at.of[1]]];
            const T value = x[start.of[0] + at.of[0]];
            element = accumulate ? T(element + value) : value;  // of two bools the sum is their or
        }
    }
}

// ---- nonzero ----------------------------------------------------------------------------------------------------

enum { CHUNK = 256 };  // elements that one thread looks through

template <class T>
__global__ void count_kernel(const T* x, int64_t* counts, Strides<1> strides) {
    const int64_t step = gridDim.x * int64_t(blockDim.x);
    for (int64_t chunk = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; chunk * CHUNK < strides.size; chunk += step) {
        int64_t count = 0;
        for (int64_t i = chunk * CHUNK; i < (chunk + 1) * CHUNK && i < strides.size; i++)
            count += x[strides.locate(i).of[0]] != T(0);
        counts[chunk] = count;
    }
}

// starts[chunk] = the sum of the counts before it
__global__ void starts_kernel(const int64_t* counts, int64_t* starts, int64_t chunks) {
    int64_t total = 0;
    for (int64_t chunk = 0; chunk < chunks; total += counts[chunk++]) starts[chunk] = total;
}

template <class T>
__global__ void nonzero_kernel(const T* x, const int64_t* starts, int64_t* out, Strides<1> strides) {
    const int64_t step = gridDim.x * int64_t(blockDim.x);
    for (int64_t chunk = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; chunk * CHUNK < strides.size; chunk += step) {
        int64_t* row = out + starts[chunk] * strides.ndim;
        for (int64_t i = chunk * CHUNK; i < (chunk + 1) * CHUNK && i < strides.size; i++) {
            if (x[strides.locate(i).of[0]] == T(0)) continue;
            int64_t rest = i;
            for (int d = strides.ndim - 1; d >= 0; d--) {
                row[d] = rest % strides.shape[d];
                rest /= strides.shape[d];
            }
            row += strides.ndim;
        }
    }
}

// ---- Sorting: runs of width 1, 2, 4, ... are merged -------------------------------------------------------------

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

template <class T>
__global__ void entries_kernel(const T* x, Entry<T>* entries, int64_t n, int64_t x_step, Strides<3> lines) {
    const int64_t step = gridDim.x * int64_t(blockDim.x);
    for (int64_t e = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; e < lines.size * n; e += step)
        entries[e] = {x[lines.locate(e / n).of[0] + e % n * x_step], e % n};
}

// An entry's place in the merged run: its place in its own run, and as many further as entries of the other run come
// before it, which a binary search counts.
template <class T>
__global__ void merge_kernel(const Entry<T>* from, Entry<T>* to, int64_t lines, int64_t n, int64_t width,
                             bool descending) {
    const int64_t step = gridDim.x * int64_t(blockDim.x);
    for (int64_t e = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; e < lines * n; e += step) {
        const int64_t i = e % n, run = i / width, other = (run ^ 1) * width;
        const Entry<T>* line = from + (e - i);
        int64_t low = other < n ? other : n, high = other + width < n ? other + width : n;
        const int64_t first = low;
        while (low < high) {
            const int64_t middle = (low + high) / 2;
            if (comes_before(line[middle], from[e], descending))
                low = middle + 1;
            else
                high = middle;
        }
        to[e - i + (run & ~int64_t(1)) * width + (i - run * width) + (low - first)] = from[e];
    }
}

template <class T>
__global__ void sorted_kernel(const Entry<T>* entries, int64_t n, int64_t count, T* values, int64_t value_step,
                              int64_t* indices, int64_t index_step, Strides<3> lines) {
    const int64_t step = gridDim.x * int64_t(blockDim.x);
    for (int64_t e = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; e < lines.size * count; e += step) {
        const int64_t line = e / count, i = e % count;
        const Offsets<3> at = lines.locate(line);
        values[at.of[1] + i * value_step] = entries[line * n + i].value;
        indices[at.of[2] + i * index_step] = entries[line * n + i].index;
    }
}

// ---- Running totals ---------------------------------------------------------------------------------------------

struct Adding {
    template <class T>
    static __device__ T combine(T a, T b) {
        return a + b;
    }
    enum { EMPTY = 0 };
};
struct Multiplying {
    template <class T>
    static __device__ T combine(T a, T b) {
        return a * b;
    }
    enum { EMPTY = 1 };
};

// A block for each line. Its threads take equal stretches: first each finds the total of its own, then, knowing what the
// stretches before it come to, the running totals.
template <class Op, class T, class Total, class R>
__global__ void scan_kernel(const T* x, R* out, int64_t n, int64_t x_step, int64_t out_step, Strides<3> lines) {
    __shared__ Total totals[THREADS];
    const int64_t stretch = (n + blockDim.x - 1) / blockDim.x, begin = threadIdx.x * stretch;
    const int64_t end = begin + stretch < n ? begin + stretch : n;
    for (int64_t line = blockIdx.x; line < lines.size; line += gridDim.x) {
        const Offsets<3> at = lines.locate(line);
        Total total = Total(int(Op::EMPTY));
        for (int64_t i = begin; i < end; i++) total = Op::combine(total, Total(x[at.of[0] + i * x_step]));
        totals[threadIdx.x] = total;
        __syncthreads();
        total = Total(int(Op::EMPTY));
        for (unsigned before = 0; before < threadIdx.x; before++) total = Op::combine(total, totals[before]);
        for (int64_t i = begin; i < end; i++) {
            total = Op::combine(total, Total(x[at.of[0] + i * x_step]));
            out[at.of[1] + i * out_step] = R(total);
        }
        __syncthreads();  // before the next line's totals
    }
}

// ---- The launchers ----------------------------------------------------------------------------------------------

// Where the lines along axis begin in three tensors, which agree but for that axis.
Strides<3> lines_along(int axis, Tensor a, Tensor b, Tensor c) {
    for (Tensor* tensor : {&a, &b, &c}) {
        tensor->size /= tensor->shape[axis];
        tensor->shape[axis] = 1;
    }
    return Strides<3>(collapse<3>({&a, &b, &c}));
}

// The dimensions of three tensors along which out steps, or those along which it does not.
Strides<3> dimensions(const Tensor& x, const Tensor& offsets, const Tensor& out, bool steps) {
    Tensor parts[3] = {};
    const Tensor* whole[3] = {&x, &offsets, &out};
    for (int k = 0; k < 3; k++) {
        parts[k].size = 1;
        for (int d = 0; d < out.ndim; d++)
            if ((out.strides[d] != 0) == steps) add_dim(parts[k], out.shape[d], whole[k]->strides[d]);
    }
    return Strides<3>(collapse<3>({&parts[0], &parts[1], &parts[2]}));
}

template <class Op>
void scan(const char* name, const Tensor& x, Tensor& out, int axis) {
    cudaStream_t stream = use(out.device);
    const Strides<3> lines = lines_along(axis, x, out, out);
    const int64_t n = x.shape[axis];
    for_any(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        using Total = std::conditional_t<std::is_floating_point<T>::value, double, int64_t>;
        using R = std::conditional_t<std::is_floating_point<T>::value, T, int64_t>;
        scan_kernel<Op, T, Total, R><<<row_blocks(lines.size), row_threads(n), 0, stream>>>(
            values<T>(x), values<R>(out), n, x.strides[axis], out.strides[axis], lines);
    });
    check_launch(name);
}

}  // namespace

void locate_tensor_cuda(const Tensor& index, int64_t size, int64_t stride, bool first, Tensor& offsets) {
    const Strides<2> strides = elementwise_strides<2>({&index, &offsets});
    locate_kernel<<<blocks_for(offsets.size), threads_for(offsets.size), 0, use(offsets.device)>>>(
        values<int64_t>(index), size, stride, first, values<int64_t>(offsets), strides);
    check_launch("index");
}

void index_tensor_cuda(const Tensor& x, const Tensor& offsets, Tensor& out) {
    cudaStream_t stream = use(out.device);
    const Strides<3> strides = elementwise_strides<3>({&x, &offsets, &out});
    for_any(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        index_kernel<T><<<blocks_for(out.size), threads_for(out.size), 0, stream>>>(
            values<T>(x), values<int64_t>(offsets), values<T>(out), strides);
    });
    check_launch("index");
}

void index_put_tensor_cuda(const Tensor& x, const Tensor& offsets, bool accumulate, Tensor& out) {
    cudaStream_t stream = use(out.device);
    const Strides<3> kept = dimensions(x, offsets, out, true), indexed = dimensions(x, offsets, out, false);
    for_any(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        index_put_kernel<T><<<blocks_for(kept.size), threads_for(kept.size), 0, stream>>>(
            values<T>(x), values<int64_t>(offsets), values<T>(out), accumulate, kept, indexed);
    });
    check_launch("index_put");
}

void nonzero_tensor_cuda(const Tensor& x, Tensor& out) {
    cudaStream_t stream = use(out.device);
    Layout<1> layout = {};  // not collapsed: the dimensions are the result
    layout.ndim = x.ndim;
    layout.size = x.size;
    for (int d = 0; d < x.ndim; d++) layout.shape[d] = x.shape[d], layout.strides[0][d] = x.strides[d];
    const Strides<1> strides(layout);
    const int64_t chunks = (x.size + CHUNK - 1) / CHUNK;
    DeviceScratch<int64_t> counts(chunks, out.device), starts(chunks, out.device);
    for_any(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        count_kernel<T><<<blocks_for(chunks), threads_for(chunks), 0, stream>>>(values<T>(x), counts.data, strides);
        starts_kernel<<<1, 1, 0, stream>>>(counts.data, starts.data, chunks);
        nonzero_kernel<T><<<blocks_for(chunks), threads_for(chunks), 0, stream>>>(
            values<T>(x), starts.data, values<int64_t>(out), strides);
    });
    check_launch("nonzero");
}

void sort_tensor_cuda(const Tensor& x, Tensor& sorted, Tensor& indices, int axis, bool descending) {
    cudaStream_t stream = use(x.device);
    const Strides<3> lines = lines_along(axis, x, sorted, indices);
    const int64_t n = x.shape[axis], count = sorted.shape[axis];
    for_any(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        DeviceScratch<Entry<T>> first(x.size, x.device), second(x.size, x.device);
        Entry<T> *from = first.data, *to = second.data;
        entries_kernel<T><<<blocks_for(x.size), threads_for(x.size), 0, stream>>>(values<T>(x), from, n,
                                                                                  x.strides[axis], lines);
        for (int64_t width = 1; width < n; width *= 2) {
            merge_kernel<T><<<blocks_for(x.size), threads_for(x.size), 0, stream>>>(from, to, lines.size, n, width,
                                                                                    descending);
            std::swap(from, to);
        }
        sorted_kernel<T><<<blocks_for(sorted.size), threads_for(sorted.size), 0, stream>>>(
            from, n, count, values<T>(sorted), sorted.strides[axis], values<int64_t>(indices), indices.strides[axis],
            lines);
    });
    check_launch("sort");
}

void cumsum_tensor_cuda(const Tensor& x, Tensor& out, int axis) { scan<Adding>("cumsum", x, out, axis); }
void cumprod_tensor_cuda(const Tensor& x, Tensor& out, int axis) { scan<Multiplying>("cumprod", x, out, axis); }
