// Graphs: steps on a CUDA device, which it runs as one.
//
// A replay that finds everything as the one before rehearses: it runs the steps one by one, in memory that stays, and
// captures their launches. The next replays launch what was captured. New options and a gradient's new memory make it
// out of date: the steps run one by one, until two replays in a row find the same.
//
// Steps whose arguments change with each replay (random numbers, the count of an optimizer's steps, which is read on
// the host) and those on the CPU run between graphs.

#include <algorithm>

#include "recording/program.h"

enum { LEAST_STEPS = 2 };  // in a graph

// ---- The plan ----------------------------------------------------------------------------------------------------

// The device whose graph a step may be part of, with all that it works on; else the CPU.
static int32_t device_of(const Recording& recording, const Step& step) {
    const int32_t device = step.graph_device();
    for (const StepOperand& operand : step.operands) {
        const int32_t memory = operand.slot < 0 ? -1 : recording.slots[size_t(operand.slot)].memory;
        if (memory >= 0 && recording.memories[size_t(memory)].device != device) return CPU;
    }
    return device;
}

static void find_parts(const Recording& recording, Phase& phase) {
    Graphs& graphs = phase.graphs;
    for (int32_t begin = phase.begin; begin < phase.end;) {
        int32_t end = begin;
        for (; end < phase.end; end++) {
            const int32_t device = device_of(recording, *recording.steps[size_t(end)]);
            if (device == CPU || (graphs.device != CPU && graphs.device != device)) break;
            graphs.device = device;
        }
        if (end - begin >= LEAST_STEPS) graphs.parts.push_back({begin, end, nullptr});
        begin = std::max(end, begin + 1);
    }
}

static bool is_written(const Recording& recording, const Phase& phase, int32_t memory) {
    for (int32_t s = phase.begin; s < phase.end; s++)
        for (const StepOperand& operand : recording.steps[size_t(s)]->operands)
            if (operand.written && operand.slot >= 0 && recording.slots[size_t(operand.slot)].memory == memory)
                return true;
    return false;
}

// Whether an input that is written is more than its stage: others may lie in its storage, or write in its gaps.
static bool is_shared(const Recording& recording, const Memory& input) {
    return input.has_gaps || std::any_of(recording.inputs.begin(), recording.inputs.end(), [&](int32_t other) {
               const Memory& memory = recording.memories[size_t(other)];
               return &memory != &input && memory.storage == input.storage;
           });
}

void find_graphs(Program& program, Phase& phase) {
    const Recording& recording = program.recording;
    Graphs& graphs = phase.graphs;
    find_parts(recording, phase);
    if (graphs.parts.empty()) return;
    const bool is_backward = &phase == &program.backward;
    for (int32_t m = 0; m < int32_t(recording.memories.size()); m++) {
        const Memory& memory = recording.memories[size_t(m)];
        const Place::Kind kind = phase.places[size_t(m)].kind;
        if (phase.first_user[size_t(m)] < 0 || memory.device != graphs.device) continue;
        if (kind == Place::SAVED) graphs.saved_memory = m;
        if (kind != Place::INPUT && kind != Place::FRESH && !(is_backward && kind == Place::GRADIENT)) continue;
        const bool is_new = std::count(phase.fresh.begin(), phase.fresh.end(), m) > 0;
        const bool written = is_written(recording, phase, m);
        if (kind == Place::INPUT && written && is_shared(recording, memory)) return graphs.parts.clear();
        graphs.stages.push_back({m, !is_new, written, nullptr});
    }
}

void Graphs::forget() {
    for (GraphPart& part : parts) {
        free_cuda_graph(part.graph);
        part.graph = nullptr;
    }
    captured = 0;
}

Graphs::~Graphs() {
    forget();
    for (const Stage& stage : stages) drop(stage.storage);
    drop(arena);
}

// ---- The replay --------------------------------------------------------------------------------------------------

// While it lives, the phase works in the stages.
struct Staged {
    struct Given {
        Storage* storage;
        char* base;
    };
    Program& program;
    Phase& phase;
    std::vector<Given> given;

    Staged(Program& program, Phase& phase) : program(program), phase(phase) {
        for (const Stage& stage : phase.graphs.stages) {
            const size_t m = size_t(stage.memory);
            given.push_back({phase.storages[m], phase.bases[m]});
            char* base = static_cast<char*>(stage.storage->data);
            if (stage.in) copy_on_cuda(base, given.back().base, bytes(stage), phase.graphs.device);
            phase.lay(program.recording.slots, stage.memory, stage.storage, base);
        }
    }
    int64_t bytes(const Stage& stage) const { return program.recording.memories[size_t(stage.memory)].nbytes; }
    void copy_out() {
        for (size_t i = 0; i < given.size(); i++) {
            const Stage& stage = phase.graphs.stages[i];
            if (stage.out) copy_on_cuda(given[i].base, stage.storage->data, bytes(stage), phase.graphs.device);
        }
    }
    ~Staged() {
        for (size_t i = 0; i < given.size(); i++)
            phase.lay(program.recording.slots, phase.graphs.stages[i].memory, given[i].storage, given[i].base);
    }
};

struct Entered {
    CudaGraph* graph;
    Entered(CudaGraph* graph, bool capture) : graph(graph) { enter_cuda_graph(graph, capture); }
    ~Entered() { leave_cuda_graph(graph); }
};

// Runs all steps; the graphs get the memory that their kernels work in.
static void rehearse(Program& program, Phase& phase, int32_t& step) {
    phase.graphs.forget();
    for (GraphPart& part : phase.graphs.parts) {
        program.run_steps(phase, step, part.begin);
        part.graph = new_cuda_graph(phase.graphs.device);
        const Entered entered(part.graph, false);
        program.run_steps(phase, step, part.end);
    }
    program.run_steps(phase, step, phase.end);
}

// Whether all parts became graphs. A launch that a capture does not allow is no error of the call.
static bool capture(Program& program, Phase& phase) {
    for (GraphPart& part : phase.graphs.parts) {
        try {
            const Entered entered(part.graph, true);
            int32_t step = part.begin;
            program.run_steps(phase, step, part.end);
        } catch (...) {
            return false;
        }
        if (!cuda_graph_is_made(part.graph)) return false;
    }
    return true;
}

static void keep(Storage*& kept, Storage* storage) {
    if (kept || !storage) return;
    kept = storage;
    storage->references++;
}

static void capture_all(Program& program, Phase& phase, Storage* arena, Storage* saved, int32_t& step) {
    Graphs& graphs = phase.graphs;
    rehearse(program, phase, step);
    if (capture(program, phase)) {
        graphs.captured = program.version;
        keep(graphs.arena, arena);
        keep(program.saved_block, saved);
    } else {
        graphs.forget();
        graphs.parts.clear();
    }
}

static bool make_stages(const Recording& recording, Graphs& graphs) {
    try {
        for (Stage& stage : graphs.stages)
            if (!stage.storage)
                stage.storage = new_storage(recording.memories[size_t(stage.memory)].nbytes, graphs.device);
        return true;
    } catch (...) {  // too little memory for graphs
        graphs.parts.clear();
        return false;
    }
}

bool run_graphs(Program& program, Phase& phase, Storage* arena, int32_t& step) {
    Graphs& graphs = phase.graphs;
    if (graphs.parts.empty()) return false;
    const bool is_seen = graphs.seen == program.version;
    graphs.seen = program.version;
    Storage* saved = graphs.saved_memory < 0 ? nullptr : phase.storages[size_t(graphs.saved_memory)];
    if (!is_seen || (saved && program.saved_block && saved != program.saved_block)) return false;
    if (!make_stages(program.recording, graphs)) return false;
    Staged staged(program, phase);
    if (graphs.captured != program.version) {
        capture_all(program, phase, arena, saved, step);
    } else {
        for (const GraphPart& part : graphs.parts) {
            program.run_steps(phase, step, part.begin);
            launch_cuda_graph(part.graph);
            step = part.end;
        }
        program.run_steps(phase, step, phase.end);
    }
    staged.copy_out();
    return true;
}
