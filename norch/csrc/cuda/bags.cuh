// CUDA kernels behind api/bags.cpp: rows of a table in bags, and the gradients. A part of cuda.cu.

#pragma once
#include "cuda/block.cuh"
#include "cuda/indexing.cuh"
#include "ops/conversion.h"

namespace {

// The integers of a bag; offsets that are wrong are reported, and the bag is empty.
struct Bag {
    int64_t begin, end;
};
__device__ Bag bag_at(const Bags& bags, int64_t bag, Fault* found) {
    const int64_t first = bags.start(bag), last = bags.start(bag + 1), n = bags.integers;
    if (bag == 0 && first != 0) report(found, {Fault::OFFSET, 0, "embedding_bag", n, 0, 0}, first);
    const bool begins = first >= 0 && first <= n, ends = last >= first && last <= n;
    if (!begins || !ends) report(found, {Fault::OFFSET, 1, "embedding_bag", n, 0, 0}, begins ? last : first);
    return begins && ends ? Bag{first, last} : Bag{0, 0};
}

// Whether an integer counts.
__device__ bool is_counted(int64_t row, int64_t rows, int64_t padding, Fault* found) {
    if (uint64_t(row) < uint64_t(rows)) return row != padding;
    report(found, {Fault::INDEX, 0, "embedding_bag", rows, 0, 0}, row);
    return false;
}

// A thread for each element of out.
template <class T, class Wide>
__global__ void embedding_bag_kernel(const T* __restrict__ table, const int64_t* __restrict__ index,
                                     const T* __restrict__ weights, T* __restrict__ out, int64_t* chosen, int64_t rows,
                                     int64_t size, int64_t count, Bags bags, Bagging how, Fault* found) {
    for (int64_t e = first_of_thread(); e < count; e += all_threads()) {
        const int64_t column = e % size;
        const Bag bag = bag_at(bags, e / size, found);
        Wide result = 0;
        int64_t counted = 0, from = -1;
        for (int64_t i = bag.begin; i < bag.end; i++) {
            const int64_t row = index[i];
            if (!is_counted(row, rows, how.padding, found)) continue;
            const Wide x = convert<Wide>(table[row * size + column]);
            if (how.mode != Bagging::MAX)
                result += weights ? convert<Wide>(weights[i]) * x : x;
            else if (counted == 0 || is_larger(x, result))
                result = x, from = row;
            counted++;
        }
        out[e] = convert<T>(how.mode == Bagging::MEAN && counted ? Wide(result / Wide(counted)) : result);
        if (chosen) chosen[e] = from;
    }
}

// ---- Gradients: the integers are sorted, so that those of a row are adjacent, and each run of them has its threads ----

// What an integer brings to the gradient of its row: a share of the gradient of its bag.
template <class T>
struct Share {
    int64_t bag;
    T factor;
};

// A thread for each bag. Integers of no bag have an entry NOWHERE already.
template <class T>
__global__ void shares_kernel(const int64_t* index, const T* weights, Entry<int64_t>* entries, Share<T>* shares,
                              int64_t rows, int64_t count, Bags bags, Bagging how, Fault* found) {
    for (int64_t b = first_of_thread(); b < count; b += all_threads()) {
        const Bag bag = bag_at(bags, b, found);
        int64_t counted = 0;
        for (int64_t i = bag.begin; i < bag.end; i++) counted += is_counted(index[i], rows, how.padding, found);
        const T factor = how.mode == Bagging::MEAN ? 1 / T(counted) : T(1);
        for (int64_t i = bag.begin; i < bag.end; i++) {
            if (is_counted(index[i], rows, how.padding, found)) entries[i].value = index[i];
            shares[i] = {b, weights ? factor * weights[i] : factor};
        }
    }
}

__global__ void no_rows_kernel(Entry<int64_t>* entries, int64_t n) {
    for (int64_t i = first_of_thread(); i < n; i += all_threads()) entries[i] = {NOWHERE, i};
}

// A thread for each column of each entry: the one that begins a run adds it up.
template <class T>
__global__ void add_to_rows_kernel(const T* gradient, const Entry<int64_t>* entries, const Share<T>* shares, T* out,
                                   int64_t n, int64_t size, bool by_frequency) {
    for (int64_t e = first_of_thread(); e < n * size; e += all_threads()) {
        const int64_t first = e / size, column = e % size, row = entries[first].value;
        if (row == NOWHERE || (first > 0 && entries[first - 1].value == row)) continue;
        T sum = 0;
        int64_t i = first;
        for (; i < n && entries[i].value == row; i++) {
            const Share<T> share = shares[entries[i].index];
            sum += share.factor * gradient[share.bag * size + column];
        }
        out[row * size + column] = by_frequency ? sum / T(i - first) : sum;
    }
}

// A block for each bag: the products of its gradient and of the rows.
template <class T>
__global__ void bag_weights_kernel(const T* gradient, const T* table, const int64_t* index, T* out, int64_t rows,
                                   int64_t size, int64_t count, Bags bags, int64_t padding, Fault* found) {
    for (int64_t b = blockIdx.x; b < count; b += gridDim.x) {
        const Bag bag = bag_at(bags, b, found);
        for (int64_t i = bag.begin; i < bag.end; i++) {
            double sum = 0;
            const bool counts = is_counted(index[i], rows, padding, found);
            for (int64_t j = threadIdx.x; counts && j < size; j += blockDim.x)
                sum += double(gradient[b * size + j] * table[index[i] * size + j]);
            const double total = sum_row(sum);
            if (threadIdx.x == 0) out[i] = T(total);
        }
    }
}

}  // namespace

void embedding_bag_tensor_cuda(const Tensor& table, const Tensor& index, const Tensor* starts, const Tensor* weights,
                               Tensor& out, Tensor* chosen, const Bagging& how) {
    cudaStream_t stream = use(out.device);
    const auto launch = [&](auto type, auto wide) {
        using T = typename decltype(type)::type;
        embedding_bag_kernel<T, typename decltype(wide)::type><<<blocks_for(out.size), threads_for(out.size), 0, stream>>>(
            data_as<T>(table), data_as<int64_t>(index), data_as<T>(weights), data_as<T>(out), data_as<int64_t>(chosen),
            table.shape[0], out.shape[1], out.size, Bags(index, starts, how), how, fault_of(out.device));
    };
    if (table.dtype == FLOAT16) launch(Type<Half>(), Type<float>());
    if (table.dtype == BFLOAT16) launch(Type<BFloat16>(), Type<float>());
    if (!is_narrow(table.dtype)) for_real(table.dtype, [&](auto type) { launch(type, type); });
    check_launch("embedding_bag");
}

void embedding_bag_backward_tensor_cuda(const Tensor& gradient, const Tensor* table, const Tensor& index,
                                        const Tensor* starts, const Tensor* weights, Tensor* for_table,
                                        Tensor* for_weights, const Bagging& how) {
    cudaStream_t stream = use(gradient.device);
    const Bags bags(index, starts, how);
    const int64_t count = gradient.shape[0], size = gradient.shape[1], n = index.size;
    Fault* found = fault_of(gradient.device);
    for_real(gradient.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        if (for_weights)
            bag_weights_kernel<T><<<at_most(count, MAX_BLOCKS), power_of_two(size, THREADS), 0, stream>>>(
                data_as<T>(gradient), data_as<T>(table), data_as<int64_t>(index), data_as<T>(for_weights),
                table->shape[0], size, count, bags, how.padding, found);
        check_launch("embedding_bag_backward");
        if (!for_table) return;
        DeviceScratch<Entry<int64_t>> first(n, gradient.device), second(n > PIECE ? n : 0, gradient.device);
        DeviceScratch<Share<T>> shares(n, gradient.device);
        no_rows_kernel<<<blocks_for(n), threads_for(n), 0, stream>>>(first.data, n);
        check_launch("embedding_bag_backward");
        shares_kernel<T><<<blocks_for(count), threads_for(count), 0, stream>>>(
            data_as<int64_t>(index), data_as<T>(weights), first.data, shares.data, for_table->shape[0], count, bags, how,
            found);
        check_launch("embedding_bag_backward");
        const Entry<int64_t>* entries = sort_lines(first.data, second.data, 1, n, false, stream);
        add_to_rows_kernel<T><<<blocks_for(n * size), threads_for(n * size), 0, stream>>>(
            data_as<T>(gradient), entries, shares.data, data_as<T>(for_table), n, size, bool(how.by_frequency));
    });
    check_launch("embedding_bag_backward");
}
