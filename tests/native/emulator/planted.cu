// Kernels with and without bugs, for test_emulator.py: the emulator must find each bug, and nothing in the correct ones.
// Run as a program: `planted NAME` launches one of them and ends with status 0 where nobody noticed anything.

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vector>

enum { N = 256 };

// ---- A sum in shared memory, and four ways to get it wrong ------------------------------------------------------

__global__ void sum_kernel(const float* x, float* out) {
    __shared__ float totals[N];
    totals[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    for (int half = N / 2; half > 0; half /= 2) {
        if (int(threadIdx.x) < half) totals[threadIdx.x] += totals[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) *out = totals[0];
}

__global__ void missing_barrier_kernel(const float* x, float* out) {
    __shared__ float totals[N];
    totals[threadIdx.x] = x[threadIdx.x];
    for (int half = N / 2; half > 0; half /= 2) {
        if (int(threadIdx.x) < half) totals[threadIdx.x] += totals[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) *out = totals[0];
}

__global__ void divergent_barrier_kernel(const float* x, float* out) {
    __shared__ float totals[N];
    totals[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x < N / 2)
        __syncthreads();
    else
        __syncthreads();
    if (threadIdx.x == 0) *out = totals[0] + totals[N - 1];
}

__global__ void early_return_kernel(const float* x, float* out) {
    if (threadIdx.x >= N / 2) return;
    __syncthreads();
    if (threadIdx.x == 0) *out = x[0];
}

__global__ void shared_overflow_kernel(const float* x, float* out) {
    __shared__ float totals[N - 1];
    totals[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) *out = totals[0];
}

// ---- Across blocks ----------------------------------------------------------------------------------------------

__global__ void atomic_sum_kernel(const float* x, float* out) { atomicAdd(out, x[blockIdx.x * blockDim.x + threadIdx.x]); }

__global__ void racing_sum_kernel(const float* x, float* out) { *out += x[blockIdx.x * blockDim.x + threadIdx.x]; }

// A thread of each block writes where the same thread of the next block reads.
__global__ void racing_blocks_kernel(const float* x, float* out) {
    if (threadIdx.x == 0) out[0] = blockIdx.x == 0 ? x[0] : out[0] + x[blockIdx.x];
}

// ---- Memory -----------------------------------------------------------------------------------------------------

__global__ void store_kernel(float* out, int place) { out[place + int(threadIdx.x)] = 1; }

__global__ void unset_kernel(const float* x, float* out) { out[threadIdx.x] = x[threadIdx.x]; }

// ---- Graphs -----------------------------------------------------------------------------------------------------

struct Member {
    int64_t size;
    const float* data;
};
__global__ void member_kernel(Member x, float* out) { out[threadIdx.x] = x.data[threadIdx.x]; }

// ---- The program ------------------------------------------------------------------------------------------------

static void check(cudaError_t error) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "cuda error: %s\n", cudaGetErrorName(error));
    exit(3);
}

static float* new_on_device(int count) {
    void* data;
    check(cudaMalloc(&data, size_t(count) * sizeof(float)));
    return static_cast<float*>(data);
}

// What kernel(x, out) becomes when it is captured; out stays as it is meanwhile.
template <class Launch>
static cudaGraphExec_t captured(const Launch& launch) {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t made;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    launch(stream);
    check(cudaStreamEndCapture(stream, &graph));
    check(cudaGraphInstantiateWithFlags(&made, graph, 0));
    check(cudaGraphDestroy(graph));
    check(cudaStreamDestroy(stream));
    return made;
}

// Launches a graph that reads its memory: correct, but for what the name asks for between its capture and its launch.
static void launch_graph(const char* name, float* x, float* out) {
    const auto asked = [&](const char* other) { return strcmp(name, other) == 0; };
    float* read = new_on_device(N);
    const cudaGraphExec_t made = captured([&](cudaStream_t stream) {
        float* now = read;
        if (asked("memory_in_capture")) new_on_device(1);
        if (asked("wait_in_capture")) check(cudaStreamSynchronize(stream));
        if (asked("host_copy_in_capture"))
            check(cudaMemcpyAsync(now, &now, sizeof now, cudaMemcpyHostToDevice, stream));
        if (asked("capture_of_a_forbidden_call")) cudaStreamSynchronize(stream);
        if (asked("capture_of_default_stream")) check(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeThreadLocal));
        if (asked("graph_reads_freed_member"))
            member_kernel<<<1, 1, 0, stream>>>(Member{N, now}, out);
        else
            unset_kernel<<<1, 1, 0, stream>>>(now, out);
        now = nullptr;  // the launch has a copy
    });
    float result = 0;
    check(cudaMemcpyAsync(&result, out, sizeof result, cudaMemcpyDeviceToHost, nullptr));
    if (result != 0) fprintf(stderr, "a kernel ran when it was captured\n"), exit(5);
    const bool moved = asked("graph_reads_moved_memory");
    if (moved || asked("graph_reads_freed_memory") || asked("graph_reads_freed_member")) check(cudaFree(read));
    if (moved) read = new_on_device(N);  // perhaps at the same address
    if (asked("graph")) check(cudaMemcpyAsync(read, x, N * sizeof(float), cudaMemcpyDeviceToDevice, nullptr));
    if (asked("graph_launched_after_its_end")) check(cudaGraphExecDestroy(made));
    check(cudaGraphLaunch(made, nullptr));
    check(cudaGraphExecDestroy(made));
    check(cudaFree(read));
}

int main(int, char** arguments) {
    const char* name = arguments[1];
    auto asked = [&](const char* other) { return strcmp(name, other) == 0; };
    std::vector<float> ones(N, 1.0f);
    float *x = new_on_device(N), *out = new_on_device(1), result = 0, expected = N;
    check(cudaMemcpyAsync(x, ones.data(), N * sizeof(float), cudaMemcpyHostToDevice, nullptr));
    check(cudaMemsetAsync(out, 0, sizeof(float), nullptr));

    if (asked("sum")) sum_kernel<<<1, N>>>(x, out);
    if (asked("missing_barrier")) missing_barrier_kernel<<<1, N>>>(x, out);
    if (asked("divergent_barrier")) divergent_barrier_kernel<<<1, N>>>(x, out), expected = 2;
    if (asked("early_return")) early_return_kernel<<<1, N>>>(x, out), expected = 1;
    if (asked("shared_overflow")) shared_overflow_kernel<<<1, N>>>(x, out), expected = 1;
    if (asked("atomic_sum")) atomic_sum_kernel<<<4, N / 4>>>(x, out);
    if (asked("racing_sum")) racing_sum_kernel<<<4, N / 4>>>(x, out);
    if (asked("racing_blocks")) racing_blocks_kernel<<<4, N / 4>>>(x, out), expected = 4;
    if (asked("store_past_end")) store_kernel<<<1, 1>>>(out, 1), expected = 0;
    if (asked("store_before_start")) store_kernel<<<1, 1>>>(x, -1), expected = 0;
    if (asked("host_pointer")) unset_kernel<<<1, 1>>>(ones.data(), out), expected = 1;
    if (asked("host_reads_device")) result = x[0], expected = 0;
    if (asked("unset_memory")) {
        float* unset = new_on_device(1);
        unset_kernel<<<1, 1>>>(unset, out), expected = 0;
        check(cudaFree(unset));
    }
    if (asked("block_too_large")) sum_kernel<<<1, 2048>>>(x, out);
    if (asked("empty_grid")) sum_kernel<<<0, N>>>(x, out);
    if (asked("grid_too_high")) sum_kernel<<<dim3(1, 65536), N>>>(x, out);
    check(cudaGetLastError());

    if (asked("copy_too_long")) check(cudaMemcpyAsync(x, ones.data(), (N + 1) * sizeof(float), cudaMemcpyHostToDevice, nullptr));
    if (asked("copy_wrong_way")) check(cudaMemcpyAsync(x, ones.data(), sizeof(float), cudaMemcpyDeviceToHost, nullptr));
    if (asked("free_twice")) {
        check(cudaFree(x));
        check(cudaFree(x));
    }
    if (asked("too_much_memory")) new_on_device(1 << 30);
    if (asked("other_device")) {
        check(cudaSetDevice(1));
        unset_kernel<<<1, 1>>>(x, out);
    }
    if (strstr(name, "graph") || strstr(name, "capture")) launch_graph(name, x, out), expected = 1;
    check(cudaMemcpyAsync(&result, out, sizeof(float), cudaMemcpyDeviceToHost, nullptr));
    check(cudaFree(x));
    check(cudaFree(out));
    if (result == expected) return 0;
    fprintf(stderr, "wrong result: %g, expected %g\n", double(result), double(expected));
    return 4;
}
