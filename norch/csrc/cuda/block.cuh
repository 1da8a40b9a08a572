// Grids and blocks: how many threads a kernel is launched with, and what the threads of a block find out together.

#pragma once
#include "cuda/device.cuh"

namespace {

enum {
    WARP = 32,             // threads that a GPU runs in step
    THREADS = 256,         // of a block
    MAX_THREADS = 1024,    // of a block that works on one long row
    MAX_BLOCKS = 1 << 20,  // a larger tensor goes round in a loop
    MAX_GRID_Y = 65535,
    ENOUGH_BLOCKS = 1024  // to fill a GPU
};

int64_t divided_up(int64_t size, int64_t share) { return (size + share - 1) / share; }
int at_most(int64_t blocks, int64_t limit) { return int(blocks < limit ? blocks : limit); }

// A thread for each element, or a loop over them.
int blocks_for(int64_t size) { return at_most(divided_up(size, THREADS), MAX_BLOCKS); }

// A small tensor does not need a whole block.
int threads_for(int64_t size) { return size < THREADS ? int(divided_up(size, WARP) * WARP) : int(THREADS); }

// A power of two, so that halves can be combined.
int power_of_two(int64_t least, int limit) {
    int threads = 1;
    while (threads < least && threads < limit) threads *= 2;
    return threads;
}

// The elements of a grid-stride loop that fall to this thread: for (int64_t i = first_of_thread(); i < n; i +=
// all_threads())
__device__ int64_t first_of_thread() { return blockIdx.x * int64_t(blockDim.x) + threadIdx.x; }
__device__ int64_t all_threads() { return gridDim.x * int64_t(blockDim.x); }

// The values of a row of threads (those with one threadIdx.y), combined: every thread gets the result. Every thread of
// the block must call it.
template <class T, class F>
__device__ T combine_row(T mine, F combine) {
    __shared__ T parts[MAX_THREADS];
    T* part = parts + threadIdx.y * blockDim.x + threadIdx.x;
    *part = mine;
    __syncthreads();
#pragma unroll 1
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (int(threadIdx.x) < half) *part = combine(*part, part[half]);
        __syncthreads();
    }
    const T total = parts[threadIdx.y * blockDim.x];
    __syncthreads();  // before the next call writes there
    return total;
}
__device__ double sum_row(double mine) {
    return combine_row(mine, [](double a, double b) { return a + b; });
}
__device__ int64_t count_row(int64_t mine) {
    return combine_row(mine, [](int64_t a, int64_t b) { return a + b; });
}

// The values of the threads of the block up to this one, combined, and those of all. Every thread must call it.
template <class T, class F>
__device__ T scan_block(T mine, T& total, F combine) {
    __shared__ T parts[THREADS];
    parts[threadIdx.x] = mine;
    __syncthreads();
#pragma unroll 1
    for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
        if (threadIdx.x >= distance) mine = combine(parts[threadIdx.x - distance], mine);
        __syncthreads();
        parts[threadIdx.x] = mine;
        __syncthreads();
    }
    total = parts[blockDim.x - 1];
    __syncthreads();  // before the next call writes there
    return mine;
}

}  // namespace
