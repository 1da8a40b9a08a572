// CUDA kernels behind api/indexing.cpp: reading and writing at offsets, and nonzero. A part of cuda.cu.

#pragma once
#include "cuda/block.cuh"
#include "cuda/layout.cuh"
#include "cuda/scan.cuh"
#include "cuda/sort.cuh"
#include "ops/range.h"
#include "ops/reduced_dims.h"

namespace {

// ---- From integers to offsets ------------------------------------------------------------------------------------

constexpr int64_t NOWHERE = INT64_MIN;  // the offset of an index that is out of range: nothing is read or written there

__global__ void expect_kernel(const bool* truth, Fault fault, Fault* found) {
    if (!*truth) report(found, fault, 0);
}

template <class T>
__global__ void expect_range_kernel(const T* x, int64_t size, Range range, Fault fault, Fault* found) {
    for (int64_t i = first_of_thread(); i < size; i += all_threads())
        if (!is_in(range, double(x[i]))) report(found, fault, bits_of(double(x[i])));
}

// offsets = stride * index, or += if it is not the first; if it wraps, an index below 0 counts from the end.
__global__ void locate_kernel(const int64_t* index, Fault bounds, bool wraps, int64_t stride, bool first,
                              int64_t* offsets, Fault* found, Strides<2> strides) {
    for (int64_t i = first_of_thread(); i < strides.size; i += all_threads()) {
        const Offsets<2> at = strides.locate(i);
        const int64_t given = index[at.of[0]], place = wraps && given < 0 ? given + bounds.size : given;
        const int64_t before = first ? 0 : offsets[at.of[1]];
        const bool inside = place >= 0 && place < bounds.size;
        if (!inside) report(found, bounds, given);
        offsets[at.of[1]] = inside && before != NOWHERE ? before + place * stride : NOWHERE;
    }
}

// A Placing without padding: the emulator looks for addresses in each word of a captured launch.
struct PlacingWords {
    Fault bounds;
    int64_t stride, wraps;
    explicit PlacingWords(const Placing& placing)
        : bounds(placing.bounds), stride(placing.stride), wraps(placing.wraps) {}
};

// The offset that an integer names, or NOWHERE.
__device__ int64_t offset_of(const PlacingWords& placing, int64_t given, Fault* found) {
    if (placing.bounds.kind == Fault::NONE) return given;
    const int64_t place = placing.wraps && given < 0 ? given + placing.bounds.size : given;
    if (place >= 0 && place < placing.bounds.size) return place * placing.stride;
    report(found, placing.bounds, given);
    return NOWHERE;
}

// ---- index -------------------------------------------------------------------------------------------------------

// out[p] = x.data[p . x.strides + offset of places[p]]
template <class T>
__global__ void index_kernel(const T* __restrict__ x, const int64_t* __restrict__ places, PlacingWords placing,
                             T* __restrict__ out, Fault* found, Strides<3> strides) {
    for (int64_t i = first_of_thread(); i < strides.size; i += all_threads()) {
        const Offsets<3> at = strides.locate(i);
        const int64_t offset = offset_of(placing, places[at.of[1]], found);
        out[at.of[2]] = offset == NOWHERE ? T(0) : x[at.of[0] + offset];
    }
}

// ---- index_put ---------------------------------------------------------------------------------------------------

enum { FEW_PLACES = 64 };  // that a thread may walk over

// out.data[p . out.strides + offset of places[p]] = x[p], or += x[p] and so on: `how` is not a template's, for nvcc
// would compile for minutes. The threads share out the dimensions that are not indexed; each walks over the indexed ones in row order.
// So if places repeat the last one wins, and sums are the same in every run.
template <class T>
__global__ void index_put_kernel(const T* x, const int64_t* places, PlacingWords placing, Combining how, T* out,
                                 Fault* found, Strides<3> kept, Strides<3> indexed) {
    for (int64_t i = first_of_thread(); i < kept.size; i += all_threads()) {
        const Offsets<3> start = kept.locate(i);
        for (int64_t p = 0; p < indexed.size; p++) {
            const Offsets<3> at = indexed.locate(p);
            const int64_t offset = offset_of(placing, places[start.of[1] + at.of[1]], found);
            if (offset == NOWHERE) continue;
            T& element = out[start.of[2] + at.of[2] + offset];
            element = combined(how, element, x[start.of[0] + at.of[0]]);
        }
    }
}

// The same for many places: they are sorted first, so that equal ones are adjacent in row order, and each run of them
// has its own threads. `lines` have different places; along `kept` places repeat.
__global__ void places_kernel(const int64_t* places, PlacingWords placing, Entry<int64_t>* entries, Fault* found,
                              Strides<3> lines, Strides<3> indexed) {
    const int64_t n = indexed.size;
    for (int64_t e = first_of_thread(); e < lines.size * n; e += all_threads())
        entries[e] = {offset_of(placing, places[lines.locate(e / n).of[1] + indexed.locate(e % n).of[1]], found),
                      e % n};
}

template <class T>
__global__ void put_runs_kernel(const T* x, const Entry<int64_t>* entries, Combining how, T* out, Strides<3> lines,
                                Strides<3> indexed, Strides<3> kept) {
    const int64_t n = indexed.size;
    for (int64_t i = first_of_thread(); i < lines.size * n * kept.size; i += all_threads()) {
        const int64_t e = i / kept.size, first = e % n;
        const Entry<int64_t>* line = entries + (e - first);
        const int64_t offset = line[first].value;
        if (offset == NOWHERE || (first > 0 && line[first - 1].value == offset)) continue;  // not the begin of a run
        const Offsets<3> at = lines.locate(e / n), within = kept.locate(i % kept.size);
        T& element = out[at.of[2] + within.of[2] + offset];
        T result = element;
        for (int64_t p = first; p < n && line[p].value == offset; p++) {
            const T value = x[at.of[0] + within.of[0] + indexed.locate(line[p].index).of[0]];
            result = combined(how, result, value);
        }
        element = result;
    }
}

// Those dimensions of three tensors that `chosen` names.
template <class F>
Strides<3> dimensions(const Tensor& x, const Tensor& places, const Tensor& out, F chosen) {
    Tensor parts[3] = {};
    const Tensor* whole[3] = {&x, &places, &out};
    for (int k = 0; k < 3; k++) {
        parts[k].size = 1;
        for (int d = 0; d < out.ndim; d++)
            if (chosen(d)) add_dim(parts[k], out.shape[d], whole[k]->strides[d]);
    }
    return Strides<3>(collapse<3>({&parts[0], &parts[1], &parts[2]}));
}

template <class T>
void put_sorted(const Tensor& x, const Tensor& places, const Placing& placing, Combining how, Tensor& out,
                const Strides<3>& indexed, cudaStream_t stream) {
    const Strides<3> lines =
        dimensions(x, places, out, [&](int d) { return out.strides[d] != 0 && places.strides[d] != 0; });
    const Strides<3> kept =
        dimensions(x, places, out, [&](int d) { return out.strides[d] != 0 && places.strides[d] == 0; });
    const int64_t n = indexed.size, count = lines.size * n;
    DeviceScratch<Entry<int64_t>> first(count, out.device), second(n > PIECE ? count : 0, out.device);
    places_kernel<<<blocks_for(count), THREADS, 0, stream>>>(data_as<int64_t>(places), PlacingWords(placing),
                                                             first.data, fault_of(out.device), lines, indexed);
    check_launch("index_put");
    const Entry<int64_t>* entries = sort_lines(first.data, second.data, lines.size, n, false, stream);
    put_runs_kernel<T><<<blocks_for(count * kept.size), THREADS, 0, stream>>>(data_as<T>(x), entries, how,
                                                                              data_as<T>(out), lines, indexed, kept);
}

// ---- nonzero: counted chunk by chunk, then each chunk knows where to write ---------------------------------------

enum { CHUNK = 4 * THREADS };  // elements that a block looks through

template <class T>
__global__ void count_kernel(const T* x, int64_t* counts, Strides<1> strides) {
    for (int64_t chunk = blockIdx.x; chunk * CHUNK < strides.size; chunk += gridDim.x) {
        int64_t count = 0;
        for (int k = 0; k < CHUNK; k += THREADS) {
            const int64_t i = chunk * CHUNK + k + threadIdx.x;
            count += i < strides.size && x[strides.locate(i).of[0]] != T(0);
        }
        count = count_row(count);
        if (threadIdx.x == 0) counts[chunk] = count;
    }
}

// counts and their running totals say where the rows of a chunk begin.
template <class T>
__global__ void nonzero_kernel(const T* x, const int64_t* counts, const int64_t* totals, int64_t* out,
                               Strides<1> strides, bool as_offsets, Strides<1> like) {
    for (int64_t chunk = blockIdx.x; chunk * CHUNK < strides.size; chunk += gridDim.x) {
        int64_t start = totals[chunk] - counts[chunk];
        for (int k = 0; k < CHUNK; k += THREADS) {
            const int64_t i = chunk * CHUNK + k + threadIdx.x;
            const bool found = i < strides.size && x[strides.locate(i).of[0]] != T(0);
            int all;
            const int upto = scan_block(int(found), all, [](int a, int b) { return a + b; });
            if (found && as_offsets) out[start + upto - 1] = like.locate(i).of[0];
            if (found && !as_offsets) {
                int64_t* row = out + (start + upto - 1) * strides.ndim;
                int64_t rest = i;
                for (int d = strides.ndim - 1; d >= 0; d--) {
                    row[d] = rest % strides.shape[d];
                    rest /= strides.shape[d];
                }
            }
            start += all;
        }
    }
}

// ---- Triangles ---------------------------------------------------------------------------------------------------

template <class T>
__global__ void triangle_kernel(const T* x, int64_t diagonal, bool upper, T* out, int64_t m, int64_t n,
                                Strides<2> strides) {
    for (int64_t i = first_of_thread(); i < strides.size; i += all_threads()) {
        const Offsets<2> at = strides.locate(i);
        const int64_t distance = i % n - i / n % m;
        out[at.of[1]] = (upper ? distance >= diagonal : distance <= diagonal) ? x[at.of[0]] : T(0);
    }
}

}  // namespace

// ---- The launchers -----------------------------------------------------------------------------------------------

void expect_tensor_cuda(const Tensor& truth, const Fault& fault) {
    cudaStream_t stream = use(truth.device);
    expect_kernel<<<1, 1, 0, stream>>>(data_as<bool>(truth), fault, fault_of(truth.device));
    check_launch(fault.operation);
}

void expect_range_tensor_cuda(const Tensor& x, const Range& range, const Fault& fault) {
    cudaStream_t stream = use(x.device);
    const auto check = [&](auto type) {
        using T = typename decltype(type)::type;
        expect_range_kernel<T><<<blocks_for(x.size), threads_for(x.size), 0, stream>>>(
            data_as<const T>(x), x.size, range, fault, fault_of(x.device));
    };
    if (x.dtype == INT64)
        check(Type<int64_t>());
    else
        for_real(x.dtype, check);
    check_launch("expect_range");
}

void locate_tensor_cuda(const Tensor& index, const Fault& bounds, bool wraps, int64_t stride, bool first,
                        Tensor& offsets) {
    cudaStream_t stream = use(offsets.device);
    const Strides<2> strides = elementwise_strides<2>({&index, &offsets});
    locate_kernel<<<blocks_for(offsets.size), threads_for(offsets.size), 0, stream>>>(
        data_as<int64_t>(index), bounds, wraps, stride, first, data_as<int64_t>(offsets), fault_of(offsets.device),
        strides);
    check_launch("index");
}

void index_tensor_cuda(const Tensor& x, const Tensor& places, const Placing& placing, Tensor& out) {
    cudaStream_t stream = use(out.device);
    const Strides<3> strides = elementwise_strides<3>({&x, &places, &out});
    for_bits(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        index_kernel<T><<<blocks_for(out.size), threads_for(out.size), 0, stream>>>(
            data_as<T>(x), data_as<int64_t>(places), PlacingWords(placing), data_as<T>(out), fault_of(out.device),
            strides);
    });
    check_launch("index");
}

void index_put_tensor_cuda(const Tensor& x, const Tensor& places, const Placing& placing, Combining how, Tensor& out) {
    cudaStream_t stream = use(out.device);
    const Strides<3> indexed = dimensions(x, places, out, [&](int d) { return out.strides[d] == 0; });
    const Strides<3> others = dimensions(x, places, out, [&](int d) { return out.strides[d] != 0; });
    const auto put = [&](auto type) {
        using T = typename decltype(type)::type;
        if (indexed.size > FEW_PLACES) return put_sorted<T>(x, places, placing, how, out, indexed, stream);
        index_put_kernel<T><<<blocks_for(others.size), threads_for(others.size), 0, stream>>>(
            data_as<T>(x), data_as<int64_t>(places), PlacingWords(placing), how, data_as<T>(out), fault_of(out.device),
            others, indexed);
    };
    how == REPLACE ? for_bits(x.dtype, put) : for_any(x.dtype, put);
    check_launch("index_put");
}

void triangle_tensor_cuda(const Tensor& x, int64_t diagonal, bool upper, Tensor& out) {
    cudaStream_t stream = use(out.device);
    const Strides<2> strides(collapse<2>({&x, &out}));  // in row order
    for_bits(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        triangle_kernel<T><<<blocks_for(out.size), threads_for(out.size), 0, stream>>>(
            data_as<T>(x), diagonal, upper, data_as<T>(out), x.shape[x.ndim - 2], x.shape[x.ndim - 1], strides);
    });
    check_launch("triangle");
}

// Not collapsed: the dimensions are the result of nonzero.
static Strides<1> all_dimensions(const Tensor& x) {
    Layout<1> layout = {};
    layout.ndim = x.ndim;
    layout.size = x.size;
    for (int d = 0; d < x.ndim; d++) layout.shape[d] = x.shape[d], layout.strides[0][d] = x.strides[d];
    return Strides<1>(layout);
}

void nonzero_tensor_cuda(const Tensor& x, const Tensor* like, Tensor& out) {
    cudaStream_t stream = use(out.device);
    const Strides<1> strides = all_dimensions(x), places = all_dimensions(like ? *like : x);
    const int64_t chunks = divided_up(x.size, CHUNK);
    const int blocks = at_most(chunks, MAX_BLOCKS);
    DeviceScratch<int64_t> counts(chunks, out.device), totals(chunks, out.device);
    Tensor one_line = {};
    one_line.size = 1;
    const Lines lines = {chunks, 1, 1, Strides<3>(collapse<3>({&one_line, &one_line, &one_line}))};
    for_any(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        count_kernel<T><<<blocks, THREADS, 0, stream>>>(data_as<T>(x), counts.data, strides);
        check_launch("nonzero");
        launch_scan<Adding, int64_t>("nonzero", static_cast<const int64_t*>(counts.data), totals.data, lines,
                                     out.device, stream);
        nonzero_kernel<T><<<blocks, THREADS, 0, stream>>>(data_as<T>(x), counts.data, totals.data,
                                                          data_as<int64_t>(out), strides, like != nullptr, places);
    });
    check_launch("nonzero");
}
