// Behind cuda_runtime.h: capture of a stream, and graphs.
//
// A captured launch keeps its arguments as they were, and runs when the graph is launched. A GPU then uses the addresses
// as they are, whatever lies there; here a graph ends the process if one of them is in memory that was freed meanwhile,
// even if other memory has the same address now.

#include <stdio.h>

#include <map>
#include <memory>
#include <set>

#include "emulator.h"

using namespace emulator;

namespace {

struct Used {
    const void* pointer;
    uint64_t identity;  // of its allocation when it was captured
};

struct Node {
    const char* name;
    std::vector<Used> used;
    std::function<void(cudaStream_t)> work;
};

}  // namespace

struct EmulatedGraph {
    std::vector<Node> nodes;
    bool invalid = false;
};
struct EmulatedGraphExec {
    std::vector<Node> nodes;
};

namespace {

std::map<cudaStream_t, std::unique_ptr<EmulatedGraph>> captures;
std::set<cudaGraph_t> graphs;
std::set<cudaGraphExec_t> made_graphs;

}  // namespace

namespace emulator {

bool is_captured(cudaStream_t stream) { return !captures.empty() && captures.count(stream); }

void capture(const char* name, cudaStream_t stream, std::vector<uintptr_t> words,
             std::function<void(cudaStream_t)> work) {
    Node node = {name, {}, std::move(work)};
    for (uintptr_t word : words) {
        const void* pointer = reinterpret_cast<const void*>(word);
        if (const uint64_t identity = identity_of(pointer)) node.used.push_back({pointer, identity});
    }
    captures[stream]->nodes.push_back(std::move(node));
}

cudaError_t forbidden(cudaStream_t stream) {
    captures[stream]->invalid = true;
    return remember(cudaErrorStreamCaptureUnsupported);
}

bool forbidden_while_captured() {
    for (auto& capture : captures) capture.second->invalid = true;
    return !captures.empty();
}

}  // namespace emulator

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
    if (!stream) return remember(cudaErrorStreamCaptureUnsupported);
    if (is_captured(stream)) return remember(cudaErrorIllegalState);
    captures[stream] = std::make_unique<EmulatedGraph>();
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    *graph = nullptr;
    if (!is_captured(stream)) return remember(cudaErrorIllegalState);
    auto captured = std::move(captures[stream]);
    captures.erase(stream);
    if (captured->invalid) return remember(cudaErrorStreamCaptureInvalidated);
    *graph = captured.release();
    graphs.insert(*graph);
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* made, cudaGraph_t graph, unsigned long long) {
    count_call("cudaGraphInstantiate");
    if (!graphs.count(graph)) return remember(cudaErrorInvalidValue);
    *made = new EmulatedGraphExec{graph->nodes};
    made_graphs.insert(*made);
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t made, cudaStream_t stream) {
    count_call("cudaGraphLaunch");
    if (!made_graphs.count(made)) return remember(cudaErrorInvalidValue);
    if (is_captured(stream)) return forbidden(stream);  // CUDA would make it a node
    for (const Node& node : made->nodes) {
        for (const Used& used : node.used)
            if (identity_of(used.pointer) != used.identity) {
                fprintf(stderr, "%s: ", node.name);
                stop("a graph uses memory that was freed after its capture");
            }
        node.work(stream);
        if (const cudaError_t error = cudaGetLastError()) return remember(error);
    }
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    if (!graphs.erase(graph)) return remember(cudaErrorInvalidValue);
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t made) {
    if (!made_graphs.erase(made)) return remember(cudaErrorInvalidValue);
    delete made;
    return cudaSuccess;
}

// For tests: how many graphs the library has not given back.
extern "C" __attribute__((visibility("default"))) int64_t emulator_graphs() {
    return int64_t(graphs.size() + made_graphs.size() + captures.size());
}
