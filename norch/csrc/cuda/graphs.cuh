// CUDA graphs: launches that are captured once and run as one (recording/graphs.cpp). A part of cuda.cu.

#pragma once
#include "cuda/device.cuh"

CudaGraph* new_cuda_graph(int32_t number) { return new CudaGraph{number, {}, nullptr, nullptr}; }

// The capture has a stream of its own, so that what other threads launch meanwhile is no part of it.
void enter_cuda_graph(CudaGraph* graph, bool capture) {
    use(graph->device);
    if (capture) {
        check(cudaStreamCreateWithFlags(&graph->stream, cudaStreamNonBlocking), "cudaStreamCreate");
        const cudaError_t error = cudaStreamBeginCapture(graph->stream, cudaStreamCaptureModeThreadLocal);
        if (error != cudaSuccess) {
            cudaStreamDestroy(graph->stream);
            graph->stream = nullptr;
            check(error, "cudaStreamBeginCapture");
        }
    }
    entered = graph;
}

// Errors of the capture are errors of a launch that it forbids: the launch is not part of a graph then.
void leave_cuda_graph(CudaGraph* graph) {
    entered = nullptr;
    if (!graph->stream) return;
    cudaGraph_t captured = nullptr;
    if (cudaStreamEndCapture(graph->stream, &captured) == cudaSuccess) {
        cudaGraphInstantiateWithFlags(&graph->made, captured, 0);
        cudaGraphDestroy(captured);
    }
    cudaStreamDestroy(graph->stream);
    graph->stream = nullptr;
    cudaGetLastError();
}

bool cuda_graph_is_made(const CudaGraph* graph) { return graph->made != nullptr; }

void launch_cuda_graph(CudaGraph* graph) { check(cudaGraphLaunch(graph->made, use(graph->device)), "cudaGraphLaunch"); }

// A graph that still runs is destroyed when it has run; who gets its memory next comes after it in the stream.
void free_cuda_graph(CudaGraph* graph) noexcept {
    if (!graph) return;
    if (graph->made) cudaGraphExecDestroy(graph->made);
    for (auto& [size, blocks] : graph->idle)
        for (void* data : blocks) cuda_release(data, size, graph->device);
    delete graph;
}

void copy_on_cuda(void* to, const void* from, int64_t nbytes, int32_t device) {
    if (nbytes) check(cudaMemcpyAsync(to, from, size_t(nbytes), cudaMemcpyDeviceToDevice, use(device)), "copy");
}
