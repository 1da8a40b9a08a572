// What a recording notes of storages, launches, random numbers and writes.

#include "recording/recording.h"

#include <algorithm>

#include "api/objects.h"

std::atomic<int32_t> recording_threads;
static std::atomic<uint64_t> serials;
static thread_local Recording* current;
static thread_local bool in_launch;

enum {
    NUMBER_BITS = 24,  // of a Storage's mark: the number of the memory in the recording
    USUAL_STEPS = 32   // for which there is room from the start
};

Recording* current_recording() { return in_launch ? nullptr : current; }

RecordingPaused::RecordingPaused() : recording(current_recording()) {
    if (recording) in_launch = true;
}
RecordingPaused::~RecordingPaused() {
    if (recording) in_launch = false;
}

OptionsOfStep::OptionsOfStep(const void* options) : recording(is_recording() ? current_recording() : nullptr) {
    if (recording) recording->options = static_cast<const char*>(options);
}
OptionsOfStep::~OptionsOfStep() {
    if (!recording) return;
    recording->options = nullptr;
    recording->option_calls++;
}

// ---- Notes -------------------------------------------------------------------------------------------------------

// Its bytes from the first to the last element.
static int64_t span_of(const Tensor& tensor) {
    int64_t last = 0;
    for (int d = 0; d < tensor.ndim; d++) last += (tensor.shape[d] - 1) * tensor.strides[d];
    return tensor.size ? (last + 1) * item_size(tensor.dtype) : 0;
}

int32_t Recording::memory_of(const Tensor& tensor) {
    Storage* storage = tensor.storage;
    if (storage->mark >> NUMBER_BITS == serial) return int32_t(storage->mark & ((1 << NUMBER_BITS) - 1));
    for (int32_t number : inputs) {  // several inputs may lie in one storage
        const Memory& input = memories[size_t(number)];
        const char* data = static_cast<const char*>(tensor.data);
        if (input.storage == storage && data >= input.base && data + span_of(tensor) <= input.base + input.nbytes)
            return number;
    }
    auto [place, is_new] = known.try_emplace(storage, int32_t(memories.size()));
    if (is_new) {
        storage->references++;
        memories.push_back({Memory::EXTERNAL, storage, static_cast<char*>(storage->data), storage->nbytes,
                            storage->device, -1, tensor.writes});
        if (tensor.writes) tensor.writes->references++;
    }
    return place->second;
}

int32_t Recording::slot_of(const Tensor& tensor, Step& step, bool written) {
    Slot slot = {tensor, -1, 0};
    slot.tensor.writes = nullptr;
    if (!tensor.storage) {
        slot.tensor.value.integer = 0;
        memcpy(&slot.tensor.value, tensor.data, size_t(item_size(tensor.dtype)));
        slot.tensor.is_number = 1;
    } else {
        slot.memory = memory_of(tensor);
        slot.shift = static_cast<char*>(tensor.data) - memories[size_t(slot.memory)].base;
    }
    slots.push_back(slot);
    step.operands.push_back({int32_t(slots.size()) - 1, written});
    return int32_t(slots.size()) - 1;
}

void Recording::add(std::unique_ptr<Step> step) {
    steps.push_back(std::move(step));
    if (model && !difference)
        compare_step();
    else if (notes_lines)
        steps.back()->line = where();
}

void Recording::add_input(const Tensor& tensor) {
    inputs.push_back(int32_t(memories.size()));
    tensor.storage->references++;
    tensor.storage->mark = 0;  // even if this thread made it while it recorded
    memories.push_back({Memory::INPUT, tensor.storage, static_cast<char*>(tensor.data), span_of(tensor), tensor.device,
                        int32_t(inputs.size()) - 1, tensor.writes});
    memories.back().has_gaps = memories.back().nbytes != tensor.size * item_size(tensor.dtype);
}

Draw* Recording::draw_of(Stream stream) {
    for (auto draw = draws.rbegin(); draw != draws.rend(); ++draw)
        if ((*draw)->stream.seed == stream.seed && (*draw)->stream.draw == stream.draw) return draw->get();
    return nullptr;
}

void Recording::refuse(const char* why) {
    if (!refusal.empty()) return;
    refusal = why;
    refused_at = where();
}

Line Recording::where() { return running_line(own_folder, *codes); }

Line Recording::first_use(int32_t memory) const {
    for (const auto& step : steps)
        for (const StepOperand& operand : step->operands)
            if (operand.slot >= 0 && slots[size_t(operand.slot)].memory == memory) return step->line;
    return {};
}

void Recording::drop_inputs() {
    while (dropped_inputs < inputs.size()) drop(memories[size_t(inputs[dropped_inputs++])].storage);
}

Recording::~Recording() {
    drop_inputs();
    for (const Memory& memory : memories)
        if (memory.kind == Memory::EXTERNAL) {
            drop(memory.storage);
            drop(memory.writes);
        }
    for (const Written& written : writes) drop(written.writes);
}

// ---- Reports -----------------------------------------------------------------------------------------------------

void report_made(Storage* storage) {
    Recording* recording = current_recording();
    if (!recording) return;
    storage->mark = recording->serial << NUMBER_BITS | recording->memories.size();
    recording->memories.push_back(
        {Memory::INTERNAL, storage, static_cast<char*>(storage->data), storage->nbytes, storage->device, -1});
    if (recording->memories.size() >> NUMBER_BITS) recording->refuse("the function makes too many tensors");
}

void report_dropped(Storage* storage) noexcept {
    if (!current || storage->mark >> NUMBER_BITS != current->serial) return;
    current->memories[storage->mark & ((1 << NUMBER_BITS) - 1)].storage = nullptr;
}

void report_written(const Tensor& tensor) {
    Recording* recording = current_recording();
    if (!recording) return;
    const int32_t number = recording->memory_of(tensor);
    const Memory& memory = recording->memories[size_t(number)];
    Writes* apart = memory.kind == Memory::INPUT && tensor.writes == memory.writes ? nullptr : tensor.writes;
    if (apart) apart->references++;
    recording->writes.push_back({number, apart, recording->backward >= 0, int32_t(recording->steps.size())});
}

// A Step that fills memory with what the host put there.
struct ConstantStep final : Step {
    KeptTensor<true> target;
    std::string bytes;
    ConstantStep(const Tensor& tensor, Recording& recording)
        : Step(1),
          target(&tensor, recording, *this),
          bytes(static_cast<const char*>(tensor.data), size_t(tensor.size * item_size(tensor.dtype))) {}
    const char* name() const override { return "constant"; }
    void run(Slot* slots) override { memcpy(target.get(slots)->data, bytes.data(), bytes.size()); }
    bool same(const Step& step) const override {
        const auto* other = dynamic_cast<const ConstantStep*>(&step);
        return other && bytes == other->bytes;
    }
};

void report_constant(const Tensor& tensor) {
    if (Recording* recording = current_recording()) recording->add(std::make_unique<ConstantStep>(tensor, *recording));
}

// A Step that takes the number of the next draw, for the launches after it.
struct DrawStep final : Step {
    Draw* draw;
    explicit DrawStep(Draw* draw) : Step(0), draw(draw) {}
    const char* name() const override { return "draw"; }
    void run(Slot*) override { draw->stream = {draw->state[0], next_draw(draw->state)}; }
    bool same(const Step& step) const override {
        const auto* other = dynamic_cast<const DrawStep*>(&step);
        return other && draw->state == other->draw->state;
    }
};

void report_draw(uint64_t* state, uint64_t draw) {
    Recording* recording = current_recording();
    if (!recording) return;
    recording->draws.push_back(std::make_unique<Draw>(Draw{state, {state[0], draw}}));
    recording->add(std::make_unique<DrawStep>(recording->draws.back().get()));
}

void refuse_recording(const char* why) {
    if (!is_recording()) return;
    if (Recording* recording = current_recording()) recording->refuse(why);
}

// ---- The C API ---------------------------------------------------------------------------------------------------

Recording* new_recording(int32_t count, Tensor* const* inputs, const char* own_folder, Recording* model,
                         int32_t notes_lines) {
    Recording* recording = nullptr;
    attempt([&] {
        auto made = std::make_unique<Recording>();
        made->serial = ++serials;
        made->own_folder = own_folder;
        made->model = model;
        made->notes_lines = notes_lines;
        made->codes = model ? model->codes : std::make_shared<Codes>();
        made->steps.reserve(model ? model->steps.size() : size_t(USUAL_STEPS));
        made->slots.reserve(model ? model->slots.size() : size_t(USUAL_STEPS) * 3);
        made->memories.reserve(model ? model->memories.size() : size_t(USUAL_STEPS) * 2);
        for (int i = 0; i < count; i++) made->add_input(*inputs[i]);
        made->forward_inputs = size_t(count);
        recording = made.release();
    });
    return recording;
}

// While it lives, this thread records.
struct Recorded {
    Recording* outer;
    PythonObject* standing;
    Recorded(Recording* recording, PythonObject* standing) : outer(current), standing(standing) {
        current = recording;
        if (recording_threads++ == 0) exchange(standing, true);
    }
    ~Recorded() {
        current->drop_inputs();  // programs do not hold them
        current = outer;
        if (--recording_threads == 0) exchange(standing, false);
    }
};

PythonObject* call_recorded(Recording* recording, PythonObject* changes, PythonObject* standing, PythonObject* function,
                            PythonObject* arguments, PythonObject* named) {
    const Recorded now(recording, standing);
    return call_within(changes, function, arguments, named);
}

int add_recording_inputs(Recording* recording, int32_t count, Tensor* const* inputs) {
    return attempt([&] {
        for (int i = 0; i < count; i++) {  // zeros, as a custom backward may add them to what others see
            const RecordingPaused paused;
            fill(*inputs[i], 0);
        }
        recording->backward = int32_t(recording->steps.size());
        for (int i = 0; i < count; i++) recording->add_input(*inputs[i]);
    });
}

void free_recording(Recording* recording) { delete recording; }

void refuse_this_recording(const char* why) { refuse_recording(why); }

PythonObject* recording_refusal(Recording* recording) {
    return told(recording->refusal.empty() ? nullptr : recording->refusal.c_str(), recording->refused_at);
}

int32_t recording_uses(Recording* recording, int32_t first) {
    const auto uses = [&](const auto& slot) {
        const int32_t input = slot.memory < 0 ? -1 : recording->memories[size_t(slot.memory)].input;
        return input >= first && size_t(input) < recording->forward_inputs;  // those after are of a backward
    };
    const auto& slots = recording->slots;
    const auto& writes = recording->writes;  // those of no elements are in no step, but counted
    return std::any_of(slots.begin(), slots.end(), uses) || std::any_of(writes.begin(), writes.end(), uses);
}

// ---- Two recordings of one function ------------------------------------------------------------------------------

static bool same_memory(const Memory& x, const Memory& y) {
    if (x.kind != y.kind || x.device != y.device || x.input != y.input) return false;
    if (x.kind == Memory::EXTERNAL) return x.storage == y.storage;
    return x.nbytes == y.nbytes;
}

static bool same_slot(const Slot& x, const Slot& y) {
    const Tensor &a = x.tensor, &b = y.tensor;
    return x.memory == y.memory && x.shift == y.shift && are_alike(a, b) &&
           !memcmp(a.strides, b.strides, sizeof(int64_t) * size_t(a.ndim)) &&
           (x.memory >= 0 || a.value.integer == b.value.integer);
}

// What a step does otherwise; null if nothing.
static const char* difference_in(const Recording& x, const Recording& y, size_t step) {
    const Step &a = *x.steps[step], &b = *y.steps[step];
    if (strcmp(a.name(), b.name())) return "another operation runs";
    if (a.operands.size() != b.operands.size()) return "an operation has other operands";
    for (size_t i = 0; i < a.operands.size(); i++) {
        const int32_t s = a.operands[i].slot, t = b.operands[i].slot;
        if ((s < 0) != (t < 0)) return "an operation has other operands";
        if (s < 0) continue;
        const Slot &u = x.slots[size_t(s)], &v = y.slots[size_t(t)];
        if (u.memory >= 0 && v.memory >= 0 && !same_memory(x.memories[size_t(u.memory)], y.memories[size_t(v.memory)]))
            return "a tensor from outside of the function is another one";
        if (u.memory < 0 && v.memory < 0 && u.tensor.value.integer != v.tensor.value.integer)
            return "a Python number is another one (pass a tensor instead)";
        if (!same_slot(u, v)) return "a tensor has another shape or place in memory";
    }
    return a.same(b) ? nullptr : "an option or a constant of an operation is another one";
}

void Recording::compare_step() {
    const size_t last = steps.size() - 1;
    difference = last < model->steps.size() ? difference_in(*model, *this, last) : "more operations run";
    steps[last]->line = difference ? differs_at = where() : model->steps[last]->line;
}

PythonObject* recording_difference(Recording* recording) {
    const Recording& model = *recording->model;
    if (recording->difference) return told(recording->difference, recording->differs_at);
    if (recording->steps.size() < model.steps.size())
        return told("fewer operations run", model.steps[recording->steps.size()]->line);
    const bool same = recording->backward == model.backward && recording->inputs.size() == model.inputs.size();
    return told(same ? nullptr : "the result has another graph", {});
}
