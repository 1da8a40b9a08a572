// A Program: a recording laid out in memory, that replays.
//
// The memory that a call makes and forgets lies in one block, the arena, in which what is not alive at the same time
// shares places. Results lie in storages of their own, new in each call. So do the values that the backward of a
// result reads: a Saved keeps them until it ran. Gradients of leaves are written to the same memory each time, while
// nobody else looks at it.

#pragma once
#include "api/objects.h"
#include "cuda/backend.h"
#include "recording/recording.h"

// Where a program lays a memory
struct Place {
    enum Kind { UNUSED, FIXED, INPUT, ARENA, SAVED, FRESH, GRADIENT, CHAINED } kind;
    int64_t offset;  // ARENA, SAVED: in the block; CHAINED: in that of a thread
    int32_t number;  // INPUT: which
};

// An argument of a call: a tensor like this one, or this very object
struct Argument {
    Tensor like;
    bool is_tensor;
    TensorKind kind;
    void* object;  // with a reference
};

struct Saved {
    std::vector<Storage*> storages;  // by memory: with references; null for one that the backward does not read
    std::vector<char*> bases;
    std::vector<Writes*> writes;  // of an input that counts for itself, with a reference; else null
    std::vector<Stream> streams;  // of the draws: a backward may draw the forward's numbers again
    int64_t stamp;                // the write clock when the forward had run
    ~Saved();
};

// Steps that run one after another on each piece of their elements, so that what lies between them stays in the cache.
struct Chain {
    int32_t begin, end;                                // its steps
    int32_t first_slot, end_slot;                      // their slots
    int64_t elements, bytes;                           // of each tensor; of what a thread needs for one piece
    std::vector<std::pair<int32_t, int64_t>> between;  // slots of memory that only the chain sees, and its offset
    bool reduces = false;  // its last step reduces to one element what a step before it computes
};

struct Lifetime {
    int32_t first = -1, last = -1;  // the steps that use a memory
};

struct Writing {  // how often what was written
    std::vector<std::pair<int32_t, int32_t>> memories;
    std::vector<std::pair<Writes*, int32_t>> apart;  // tensors that count for themselves
};

// Steps that a CUDA device runs as one.
struct GraphPart {
    int32_t begin, end;  // its steps
    CudaGraph* graph;    // null until it is captured
};

// A graph works at the same addresses each time: what a call brings is copied in, what it takes with it is copied out.
struct Stage {
    int32_t memory;
    bool in, out;
    Storage* storage;  // null until the first capture
};

struct Graphs {
    int32_t device = CPU;
    std::vector<GraphPart> parts;  // in their order; the steps between them run one by one
    std::vector<Stage> stages;
    int32_t saved_memory = -1;       // one of the block that the backward reads
    Storage* arena = nullptr;        // that of the captured launches
    int64_t seen = 0, captured = 0;  // the program's version in the last replay, and when the parts were captured
    void forget();
    ~Graphs();
};

struct Phase {
    int32_t begin, end;               // its steps
    std::vector<Chain> chains;        // in their order
    std::vector<Place> places;        // by memory
    std::vector<char*> bases;         // by memory: where it lay last
    std::vector<Storage*> storages;   // by memory: in which storage
    std::vector<Writes*> writes;      // by memory: of an input that counts for itself
    std::vector<int32_t> first_user;  // by memory: a slot over it, or -1
    std::vector<int32_t> next_user;   // by slot: another one over the same memory, or -1
    std::vector<Slot> results;
    std::vector<int32_t> fresh;  // the memories that are made for results
    Writing written;
    int64_t arena_bytes = 0;
    Graphs graphs;

    void lay(std::vector<Slot>& slots, int32_t memory, Storage* storage, char* base);
    Writes& writes_of(int32_t memory) const {
        return writes[size_t(memory)] ? *writes[size_t(memory)] : storages[size_t(memory)]->writes;
    }
};

struct Program {
    Recording& recording;
    Phase forward, backward;
    std::vector<Argument> arguments;
    std::vector<Slot> gradients;  // of leaves
    std::vector<int32_t> kept;    // the memories that the backward reads, but those that are saved in one block
    int64_t saved_bytes = 0;
    int32_t device = -1;     // where the blocks lie
    int32_t failed_at = -1;  // the step that failed in the last replay
    std::atomic<bool> busy{false};
    int64_t version = 1;             // counts what changes launches: new options, other memory of a gradient
    Storage* saved_block = nullptr;  // that of the captured launches

    explicit Program(Recording& recording) : recording(recording) {}
    ~Program();
    void run(Phase& phase, Storage* arena, Storage* saved);
    void run_steps(Phase& phase, int32_t& step, int32_t end);  // from `step`, which it counts up
};

// recording/plan.cpp
Writing written_by(const Program& program, const Phase& phase, int32_t steps);

// recording/chains.cpp
void find_chains(Program& program, Phase& phase, const std::vector<Lifetime>& lifetimes);
void run_chain(const Chain& chain, Recording& recording);

// recording/graphs.cpp
void find_graphs(Program& program, Phase& phase);
bool run_graphs(Program& program, Phase& phase, Storage* arena, int32_t& step);  // false: run the steps instead

// Offsets in one block for what is alive from its first step to its last: the lowest gap that is large enough.
struct Item {
    Lifetime lifetime;
    int64_t nbytes;
    int64_t* offset;
};
int64_t arranged(const std::vector<Item>& items, int32_t begin, int32_t end);
