// Recording, for norch.compile: while a thread records, every launch of a kernel leaves a Step, which can run again.
//
// A Step keeps its arguments: numbers and options by value, tensors as Slots. A Slot is a copy of the Tensor whose
// memory is known by number, so that a program can lay it anywhere (recording/program.h). A Memory is a storage that
// the recording met: one that was made meanwhile, one of an input, or one of elsewhere, such as a parameter.
//
// dispatch.h makes the Steps of launches. What touches elements without a launch reports it here.

#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <string.h>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "ops/philox.h"
#include "tensor.h"

struct Recording;
struct Step;

extern std::atomic<int32_t> recording_threads;  // how many threads record; most of the time none
Recording* current_recording();                 // this thread's, or null; null, too, inside of a launch

struct Line {          // of a Python program
    const char* file;  // null: unknown
    int32_t number;
};
struct Codes {  // of Python, that ran: with references, which keep the names of their files
    std::unordered_map<void*, const char*> files;  // null: one whose lines are not the user's
    ~Codes();
};
// The line that this thread runs now, the innermost outside of a folder; none has number 0.
Line running_line(const std::string& folder, Codes& codes);

struct Slot {
    Tensor tensor;
    int32_t memory;  // -1: a number, whose value is inline
    int64_t shift;   // in bytes: from the memory's base to the first element
};

struct Memory {
    enum Kind { INTERNAL, EXTERNAL, INPUT } kind;
    Storage* storage;  // EXTERNAL: with a reference. INTERNAL: null after its end
    char* base;        // INPUT: the first element of the tensor, else the storage's data
    int64_t nbytes;
    int32_t device;
    int32_t input;             // INPUT: its number
    Writes* writes = nullptr;  // of the tensor, if it counts for itself; EXTERNAL: with a reference
    bool has_gaps = false;     // INPUT: some of its bytes are no element's
    bool is_outside = false;   // INPUT: it lies in the memory of a tensor that the function looks at
};

// Where random numbers come from: the number of a draw is taken anew in each replay.
struct Draw {
    uint64_t* state;  // of the generator: {seed, draws}
    Stream stream;
};

struct Written {
    int32_t memory;
    Writes* writes;  // of a tensor that counts for itself and is no input, with a reference; else null
    bool later;      // in the backward of a result
    int32_t steps;   // that had run before
};

struct Recording {
    uint64_t serial;
    std::string own_folder;            // whose lines are not the user's
    std::shared_ptr<Codes> codes;      // of the lines
    bool notes_lines;                  // of all steps
    const Recording* model = nullptr;  // an earlier one, with which this is compared as it goes on
    const char* difference = nullptr;  // the first, and where
    Line differs_at = {};
    std::vector<std::unique_ptr<Step>> steps;
    std::vector<Slot> slots;
    std::vector<Memory> memories;
    std::vector<std::unique_ptr<Draw>> draws;
    std::vector<Written> writes;
    std::unordered_map<const Storage*, int32_t> known;  // of those that are not INTERNAL
    std::vector<int32_t> inputs;                        // the memory of each input
    std::string refusal;                                // why this cannot be replayed
    Line refused_at = {};
    const char* options = nullptr;  // those of the optimizer that takes its step, and which step of the recording it is
    int32_t option_calls = 0;
    int32_t backward = -1;      // the first step that belongs to the backward of a result
    size_t forward_inputs = 0;  // the inputs before those of that backward
    size_t dropped_inputs = 0;  // those that it does not hold any more

    ~Recording();
    int32_t memory_of(const Tensor& tensor);
    int32_t slot_of(const Tensor& tensor, Step& step, bool written);
    void add(std::unique_ptr<Step> step);
    void add_input(const Tensor& tensor);
    Draw* draw_of(Stream stream);
    void refuse(const char* why);
    void drop_inputs();
    Line where();                          // in the user's program this thread is
    Line first_use(int32_t memory) const;  // of a memory: where it was made, for one that was made meanwhile
    void compare_step();                   // the last one
};

// ---- Reports, for whatever does not go through a launch. Each returns at once where nothing is recorded. ----------

void report_made(Storage* storage);
void report_dropped(Storage* storage) noexcept;
void report_written(const Tensor& tensor);
void report_constant(const Tensor& tensor);  // it was just filled by the host
void report_draw(uint64_t* state, uint64_t draw);
void refuse_recording(const char* why);  // values reach the host

inline bool is_recording() { return recording_threads.load(std::memory_order_relaxed) != 0; }

// While it lives, this thread does not record: what runs now is part of a launch.
struct RecordingPaused {
    Recording* recording;
    RecordingPaused();
    ~RecordingPaused();
};

// While it lives, the options that a step of an optimizer was given lie at `options`.
struct OptionsOfStep {
    Recording* recording;
    explicit OptionsOfStep(const void* options);
    ~OptionsOfStep();
};

// ---- Steps -------------------------------------------------------------------------------------------------------

struct StepOperand {
    int32_t slot;  // -1: null
    bool written;
};

struct Step {
    Line line = {};
    std::vector<StepOperand> operands;  // its tensors
    explicit Step(size_t most_operands) { operands.reserve(most_operands); }
    virtual ~Step() = default;
    virtual const char* name() const = 0;
    virtual void run(Slot* slots) = 0;
    virtual bool same(const Step& other) const = 0;       // but for the tensors
    virtual bool by_element() const { return false; }     // whether it computes each element on its own, on the CPU
    virtual int32_t graph_device() const { return CPU; }  // where its launch is the same in each replay, if on CUDA
    virtual void refresh(int32_t call, const char* options) { (void)call, (void)options; }
};

// An argument of a launch as a Step keeps it.
template <class T>
struct Kept {
    T value;
    Kept(T value, Recording&, Step&) : value(value) {}
    T get(Slot*) { return value; }
    bool same(const Kept& other) const { return !memcmp(&value, &other.value, sizeof value); }
    bool varies() const { return false; }  // with each replay
    void refresh(int32_t, const char*) {}
};

// Options that hold the numbers of a draw, such as those of dropout, take those of the replay.
template <class T, class = void>
struct Drawn {
    Drawn(T&, Recording&) {}
    void renew(T&) {}
    bool varies() const { return false; }
    bool same(const Drawn&) const { return true; }
};
template <class T>
struct Drawn<T, std::void_t<decltype(T::stream)>> {
    Draw* draw;
    Drawn(T& value, Recording& recording) : draw(recording.draw_of(value.stream)) {
        if (draw) value.stream = {};
    }
    void renew(T& value) {
        if (draw) value.stream = draw->stream;
    }
    bool varies() const { return draw; }
    bool same(const Drawn& other) const { return draw ? other.draw && draw->state == other.draw->state : !other.draw; }
};

template <class T>
struct Kept<const T&> {  // options: those of an optimizer may change between replays
    T value;
    Drawn<T> drawn;
    int32_t call = -1;
    int64_t group = 0;
    Kept(const T& given, Recording& recording, Step&) : value(given), drawn(value, recording) {
        __builtin_clear_padding(&value);
        if (!recording.options) return;
        call = recording.option_calls;
        group = &given - reinterpret_cast<const T*>(recording.options);
    }
    const T& get(Slot*) {
        drawn.renew(value);
        return value;
    }
    bool same(const Kept& other) const {
        if (call >= 0) return call == other.call && group == other.group;
        return other.call < 0 && drawn.same(other.drawn) && !memcmp(&value, &other.value, sizeof value);
    }
    bool varies() const { return drawn.varies(); }
    void refresh(int32_t number, const char* options) {
        if (number == call) value = reinterpret_cast<const T*>(options)[group];
    }
};

template <>
struct Kept<Stream> {
    Stream value;
    Draw* draw;
    Kept(Stream value, Recording& recording, Step&) : value(value), draw(recording.draw_of(value)) {}
    Stream get(Slot*) { return draw ? draw->stream : value; }
    bool same(const Kept& other) const {
        if (draw) return other.draw && draw->state == other.draw->state;
        return !other.draw && !memcmp(&value, &other.value, sizeof value);
    }
    bool varies() const { return draw; }
    void refresh(int32_t, const char*) {}
};

template <bool WRITTEN>
struct KeptTensor {
    int32_t slot;
    KeptTensor(const Tensor* tensor, Recording& recording, Step& step)
        : slot(tensor ? recording.slot_of(*tensor, step, WRITTEN) : -1) {
        if (!tensor) step.operands.push_back({-1, false});
    }
    Tensor* get(Slot* slots) { return slot < 0 ? nullptr : &slots[slot].tensor; }
    bool same(const KeptTensor& other) const { return (slot < 0) == (other.slot < 0); }
    bool varies() const { return false; }
    void refresh(int32_t, const char*) {}
};
template <>
struct Kept<Tensor*> : KeptTensor<true> {
    using KeptTensor<true>::KeptTensor;
};
template <>
struct Kept<const Tensor*> : KeptTensor<false> {
    using KeptTensor<false>::KeptTensor;
};
template <>
struct Kept<Tensor&> : KeptTensor<true> {
    Kept(Tensor& tensor, Recording& recording, Step& step) : KeptTensor<true>(&tensor, recording, step) {}
    Tensor& get(Slot* slots) { return slots[slot].tensor; }
};
template <>
struct Kept<const Tensor&> : KeptTensor<false> {
    Kept(const Tensor& tensor, Recording& recording, Step& step) : KeptTensor<false>(&tensor, recording, step) {}
    const Tensor& get(Slot* slots) { return slots[slot].tensor; }
};
template <>
struct Kept<Tensor* const*> {  // the state of an optimizer
    KeptTensor<true> states[3];
    Tensor* tensors[3];
    Kept(Tensor* const* state, Recording& recording, Step& step)
        : states{{state[0], recording, step}, {state[1], recording, step}, {state[2], recording, step}} {}
    Tensor* const* get(Slot* slots) {
        for (int k = 0; k < 3; k++) tensors[k] = states[k].get(slots);
        return tensors;
    }
    bool same(const Kept& other) const {
        return states[0].same(other.states[0]) && states[1].same(other.states[1]) && states[2].same(other.states[2]);
    }
    bool varies() const { return false; }
    void refresh(int32_t, const char*) {}
};

// A launch of a kernel. (dispatch.h makes them.)
template <class Kernel, class... Arguments>
struct LaunchStep final : Step {
    const Kernel& kernel;
    int32_t device;
    std::tuple<Kept<Arguments>...> kept;

    LaunchStep(const Kernel& kernel, int32_t device, Recording& recording, Arguments... arguments)
        : Step(sizeof...(arguments)),
          kernel(kernel),
          device(device),
          kept{Kept<Arguments>(arguments, recording, *this)...} {}

    const char* name() const override { return kernel.name; }
    void run(Slot* slots) override {
        std::apply([&](auto&... each) { kernel.run(device, each.get(slots)...); }, kept);
    }
    bool by_element() const override {
        const bool only_tensors =
            ((std::is_same_v<Arguments, Tensor&> || std::is_same_v<Arguments, const Tensor&>) && ...);
        return kernel.by_element && device == CPU && only_tensors;
    }
    bool same(const Step& step) const override {
        const auto* other = dynamic_cast<const LaunchStep*>(&step);
        return other && &kernel == &other->kernel && device == other->device && same_arguments(*other);
    }
    int32_t graph_device() const override {
        return std::apply([](const auto&... each) { return (each.varies() || ...); }, kept) ? int32_t(CPU) : device;
    }
    void refresh(int32_t call, const char* options) override {
        std::apply([&](auto&... each) { (each.refresh(call, options), ...); }, kept);
    }

private:
    template <size_t... I>
    bool same_each(const LaunchStep& other, std::index_sequence<I...>) const {
        return (std::get<I>(kept).same(std::get<I>(other.kept)) && ...);
    }
    bool same_arguments(const LaunchStep& other) const {
        return same_each(other, std::index_sequence_for<Arguments...>());
    }
};
