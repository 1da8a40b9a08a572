// Programs: the replay. (plan.cpp makes them.)

#include "recording/program.h"

#include <algorithm>

#include "api/objects.h"

Saved::~Saved() {
    for (Storage* storage : storages) drop(storage);
    for (Writes* each : writes) drop(each);
}

Program::~Program() {
    for (const Argument& argument : arguments) drop_object(argument.object);
    if (!forward.storages.empty())  // else planning it failed
        for (const Slot& gradient : gradients) drop(forward.storages[size_t(gradient.memory)]);
    drop(saved_block);
}

void free_program(Program* program) { delete program; }

// ---- The replay --------------------------------------------------------------------------------------------------

void Phase::lay(std::vector<Slot>& slots, int32_t memory, Storage* storage, char* base) {
    if (bases[size_t(memory)] == base && storages[size_t(memory)] == storage) return;
    bases[size_t(memory)] = base;
    storages[size_t(memory)] = storage;
    for (int32_t user = first_user[size_t(memory)]; user >= 0; user = next_user[size_t(user)]) {
        Slot& slot = slots[size_t(user)];
        slot.tensor.data = base ? base + slot.shift : nullptr;
        slot.tensor.storage = storage;
    }
}

// Storages that are given back at the end, or when an exception passes
struct OwnedStorages {
    std::vector<Storage*> list;
    Storage* add(int64_t nbytes, int32_t device) {
        list.reserve(list.size() + 1);
        list.push_back(new_storage(nbytes, device));
        return list.back();
    }
    ~OwnedStorages() {
        for (Storage* storage : list) drop(storage);
    }
};

static void count_writes(Phase& phase, const Writing& written) {
    const int64_t now = ++write_clock;
    for (const auto& [memory, count] : written.memories) {
        Writes& writes = phase.writes_of(memory);
        const bool is_new = phase.places[size_t(memory)].kind == Place::GRADIENT;  // in eager each call makes it
        if (is_new) writes.version = 0;
        writes.version += count;
        writes.written_at = now;
    }
    for (const auto& [writes, count] : written.apart) {
        writes->version += count;
        writes->written_at = now;
    }
}

void Program::run_steps(Phase& phase, int32_t& step, int32_t end) {
    for (const Chain& chain : phase.chains) {
        if (chain.begin < step) continue;
        if (chain.end > end) break;
        for (; step < chain.begin; step++) recording.steps[size_t(step)]->run(recording.slots.data());
        run_chain(chain, recording);
        step = chain.end;
    }
    for (; step < end; step++) recording.steps[size_t(step)]->run(recording.slots.data());
}

void Program::run(Phase& phase, Storage* arena, Storage* saved) {
    std::vector<Slot>& slots = recording.slots;
    if ((arena && arena->data != nullptr) || (saved && saved->data != nullptr))
        for (size_t m = 0; m < phase.places.size(); m++) {
            const Place& place = phase.places[m];
            Storage* storage = place.kind == Place::ARENA ? arena : place.kind == Place::SAVED ? saved : nullptr;
            if (storage) phase.lay(slots, int32_t(m), storage, static_cast<char*>(storage->data) + place.offset);
        }
    int32_t step = phase.begin;
    try {
        if (!run_graphs(*this, phase, arena, step)) run_steps(phase, step, phase.end);
    } catch (...) {
        failed_at = step;
        count_writes(phase, written_by(*this, phase, step));
        throw;
    }
    count_writes(phase, phase.written);
}

static Owned result_of(const Phase& phase, const Slot& slot) {
    Owned result(new_struct());
    Storage* storage = phase.storages[size_t(slot.memory)];
    storage->references++;
    *result.tensor = slot.tensor;
    if (Writes* own = phase.writes[size_t(slot.memory)]) result->writes = own;
    if (result->writes) result->writes->references++;
    result->storage = storage;
    result->data = storage->data ? phase.bases[size_t(slot.memory)] + slot.shift : nullptr;
    const int64_t bytes = storage->data ? static_cast<char*>(result->data) - static_cast<char*>(storage->data) : 0;
    result->offset = bytes / item_size(result->dtype);
    return result;
}

// Makes what a phase needs, runs it, and hands its results over.
static void run_phase(Program& program, Phase& phase, Storage* saved, std::vector<Owned>& results) {
    OwnedStorages owned;
    for (int32_t memory : phase.fresh) {
        const Memory& like = program.recording.memories[size_t(memory)];
        Storage* storage = owned.add(like.nbytes, like.device);
        phase.lay(program.recording.slots, memory, storage, static_cast<char*>(storage->data));
    }
    Storage* arena = phase.graphs.arena;
    if (phase.arena_bytes && !arena) arena = owned.add(phase.arena_bytes, program.device);
    for (const Slot& slot : phase.results) results.push_back(result_of(phase, slot));  // before a step changes anything
    program.run(phase, arena, saved);
}

struct Busy {
    Program& program;
    bool entered;
    explicit Busy(Program& program) : program(program), entered(!program.busy.exchange(true)) {}
    ~Busy() {
        if (entered) program.busy = false;
    }
};

static bool fits(const Argument& argument, const Tensor& given) {
    const Tensor& like = argument.like;
    return are_alike(like, given) && !memcmp(like.strides, given.strides, sizeof(int64_t) * size_t(like.ndim));
}

// Whether the inputs share memory with each other, and with what the function looks at, as those of the recording did.
static bool same_sharing(const Program& program, const std::vector<Tensor*>& inputs) {
    const std::vector<Memory>& memories = program.recording.memories;
    for (size_t i = 0; i < inputs.size(); i++) {
        const Memory& recorded = memories[size_t(program.recording.inputs[i])];
        const auto& known = program.recording.known;  // of a view that reaches past the argument, too
        if (known.count(inputs[i]->storage) || known.count(recorded.storage)) return false;
        if (recorded.is_outside && inputs[i]->storage != recorded.storage) return false;
        for (size_t j = 0; j < i; j++) {
            const Memory &x = memories[size_t(program.recording.inputs[i])],
                         &y = memories[size_t(program.recording.inputs[j])];
            const bool shared = inputs[i]->storage == inputs[j]->storage;
            if (shared != (x.storage == y.storage)) return false;
            const char *a = static_cast<char*>(inputs[i]->data), *b = static_cast<char*>(inputs[j]->data);
            if (shared && a - b != x.base - y.base) return false;
        }
    }
    return true;
}

enum Outcome { REPLAYED = 0, FAILED = -1, NOT_APPLICABLE = 1, GRADIENT_IS_SHARED = 2, LOOKED_AT_CHANGED = 3 };

// Lays the arguments of a call, if they are like those of the recording.
static bool lay_arguments(Program& program, PythonObject* arguments, std::vector<Tensor*>& inputs) {
    if (argument_count(arguments) != program.arguments.size()) return false;
    for (size_t i = 0; i < program.arguments.size(); i++) {
        const Argument& argument = program.arguments[i];
        void* object = argument_at(arguments, i);
        if (!argument.is_tensor) {
            if (object != argument.object) return false;
            continue;
        }
        TensorKind kind;
        Tensor* tensor = tensor_of_object(object, &kind);
        if (!tensor || !(kind == argument.kind) || !fits(argument, *tensor)) return false;
        inputs.push_back(tensor);
    }
    if (!same_sharing(program, inputs)) return false;
    for (size_t i = 0; i < inputs.size(); i++) {
        const int32_t memory = program.recording.inputs[i];
        program.forward.lay(program.recording.slots, memory, inputs[i]->storage, static_cast<char*>(inputs[i]->data));
        program.forward.writes[size_t(memory)] = inputs[i]->writes;
    }
    return true;
}

static std::unique_ptr<Saved> saved_of(Program& program, Storage* block) {
    auto saved = std::make_unique<Saved>();
    const size_t count = program.recording.memories.size();
    saved->storages.resize(count);
    saved->bases.resize(count);
    saved->writes.resize(count);
    const auto keep = [&](size_t m, Storage* storage) {
        saved->storages[m] = storage;
        saved->bases[m] = program.forward.bases[m];
        saved->writes[m] = program.forward.writes[m];
        if (saved->writes[m]) saved->writes[m]->references++;
        storage->references++;
    };
    for (int32_t m : program.kept) keep(size_t(m), program.forward.storages[size_t(m)]);
    for (size_t m = 0; m < count; m++)
        if (program.forward.places[m].kind == Place::SAVED) keep(m, block);
    for (const auto& draw : program.recording.draws) saved->streams.push_back(draw->stream);
    saved->stamp = write_clock;
    return saved;
}

int replay_program(Program* program, PythonObject* noted, PythonObject* arguments, PythonObject* results) {
    if (first_change(noted) >= 0) return LOOKED_AT_CHANGED;
    int outcome = FAILED;
    const int status = attempt([&] {
        const Busy busy(*program);
        std::vector<Tensor*> inputs;
        for (int32_t k = 0; k < int32_t(program->gradients.size()); k++)
            if (!gradient_is_free(program, k)) {
                outcome = GRADIENT_IS_SHARED;
                return;
            }
        if (!busy.entered || !lay_arguments(*program, arguments, inputs)) {
            outcome = NOT_APPLICABLE;
            return;
        }
        std::vector<Owned> made;
        OwnedStorages block;
        const bool has_backward = program->backward.end > program->backward.begin || program->backward.results.size();
        Storage* saved = nullptr;
        if (program->saved_block && program->saved_block->references == 1)
            saved = program->saved_block;
        else if (program->saved_bytes)
            saved = block.add(program->saved_bytes, program->device);
        program->failed_at = program->forward.begin;
        try {
            run_phase(*program, program->forward, saved, made);
        } catch (...) {
            append_tensors(results, made);  // gradients of arguments may be among them
            throw;
        }
        if (!append_tensors(results, made)) return;
        if (has_backward && !append_saved(results, saved_of(*program, saved))) return;
        outcome = REPLAYED;
    });
    return status ? FAILED : outcome;
}

int replay_backward(Program* program, Saved* saved, int32_t count, Tensor* const* gradients, PythonObject* results) {
    int outcome = FAILED;
    const int status = attempt([&] {
        const Busy busy(*program);
        if (!busy.entered) fail(RUNTIME_ERROR, "another thread runs this backward");
        for (int32_t m : program->kept) {
            const Memory& memory = program->recording.memories[size_t(m)];
            const Writes* apart = memory.kind == Memory::INPUT ? saved->writes[size_t(m)] : memory.writes;
            if ((apart ? *apart : saved->storages[size_t(m)]->writes).written_at > saved->stamp) {
                outcome = NOT_APPLICABLE;
                return;
            }
        }
        for (size_t i = 0; i < saved->streams.size(); i++) program->recording.draws[i]->stream = saved->streams[i];
        Phase& phase = program->backward;
        std::vector<Slot>& slots = program->recording.slots;
        for (size_t m = 0; m < saved->storages.size(); m++)
            if (saved->storages[m] && phase.places[m].kind != Place::FIXED)
                phase.lay(slots, int32_t(m), saved->storages[m], saved->bases[m]);
        const size_t first = program->recording.inputs.size() - size_t(count);
        for (int i = 0; i < count; i++)
            phase.lay(slots, program->recording.inputs[first + size_t(i)], gradients[i]->storage,
                      static_cast<char*>(gradients[i]->data));
        std::vector<Owned> made;
        run_phase(*program, phase, nullptr, made);
        if (append_tensors(results, made)) outcome = REPLAYED;
    });
    return status ? FAILED : outcome;
}

void free_saved(Saved* saved) { delete saved; }

// ---- What Python sets and asks -----------------------------------------------------------------------------------

int set_program_arguments(Program* program, PythonObject* arguments, int32_t count, Tensor* const* looked_at) {
    return attempt([&] {
        for (int32_t number : program->recording.inputs) {
            Memory& input = program->recording.memories[size_t(number)];
            for (int i = 0; i < count; i++) input.is_outside |= looked_at[i]->storage == input.storage;
        }
        for (size_t i = 0; i < argument_count(arguments); i++) {
            void* object = argument_at(arguments, i);
            Argument argument = {};
            const Tensor* tensor = tensor_of_object(object, &argument.kind);
            argument.is_tensor = tensor != nullptr;
            if (tensor) argument.like = *tensor;
            argument.object = tensor ? nullptr : object;
            if (!tensor) take_object(object);
            program->arguments.push_back(argument);
        }
    });
}

Tensor* program_gradient(Program* program, int32_t number) {
    return build([&] {
        const Slot& gradient = program->gradients[size_t(number)];
        Phase& phase = program->forward;
        const Memory& like = program->recording.memories[size_t(gradient.memory)];
        Storage *storage = new_storage(like.nbytes, like.device), *last = phase.storages[size_t(gradient.memory)];
        phase.lay(program->recording.slots, gradient.memory, storage, static_cast<char*>(storage->data));
        program->version++;
        drop(last);
        return result_of(phase, gradient);
    });
}

int32_t gradient_is_free(Program* program, int32_t number) {
    const Slot& gradient = program->gradients[size_t(number)];
    return program->forward.storages[size_t(gradient.memory)]->references == 2;  // the program's, and its tensor's
}

void set_program_options(Program* program, int32_t call, const char* options) {
    for (auto& step : program->recording.steps) step->refresh(call, options);
    program->version++;
}

void set_program_generator(Program* program, uint64_t* before, uint64_t* state) {
    for (auto& draw : program->recording.draws)
        if (draw->state == before) draw->state = state;
}

int32_t program_written(Program* program, int32_t is_result, int32_t number) {
    const int32_t memory = (is_result ? program->forward.results : program->gradients)[size_t(number)].memory;
    int32_t before = 0, after = 0;
    for (int32_t s = program->forward.begin; s < program->forward.end; s++)
        for (const StepOperand& operand : program->recording.steps[size_t(s)]->operands)
            if (operand.written && program->recording.slots[size_t(operand.slot)].memory == memory)
                (s < program->failed_at ? before : after)++;
    return !before ? 0 : after ? 1 : 2;
}
void release_program(Program* program) { program->busy = false; }

// ---- What can be looked at ---------------------------------------------------------------------------------------

int32_t program_steps(Program* program, int32_t backward) {
    const Phase& phase = backward ? program->backward : program->forward;
    return phase.end - phase.begin;
}
int64_t program_bytes(Program* program, int32_t backward) {
    return backward ? program->backward.arena_bytes : program->forward.arena_bytes + program->saved_bytes;
}

static int32_t number_in(const std::vector<Slot>& slots, int32_t memory) {
    const auto found =
        std::find_if(slots.begin(), slots.end(), [&](const Slot& slot) { return slot.memory == memory; });
    return found == slots.end() ? -1 : int32_t(found - slots.begin());
}

int step_of_program(Program* program, int32_t backward, int32_t number, StepShown* shown) {
    const Phase& phase = backward ? program->backward : program->forward;
    const Step& step = *program->recording.steps[size_t(phase.begin + number)];
    *shown = {step.name(), 0, {}, {}, {}, {}, {}, {}};
    for (const StepOperand& operand : step.operands) {
        if (operand.slot < 0 || shown->operands == MAX_SHOWN) continue;
        const Slot& slot = program->recording.slots[size_t(operand.slot)];
        const Place place = slot.memory < 0 ? Place{} : phase.places[size_t(slot.memory)];
        const int32_t i = shown->operands++;
        shown->memory[i] = slot.memory;
        shown->place[i] = place.kind;
        shown->number[i] = place.kind == Place::INPUT      ? place.number
                           : place.kind == Place::GRADIENT ? number_in(program->gradients, slot.memory)
                                                           : number_in(phase.results, slot.memory);
        shown->offset[i] = place.offset + slot.shift;
        shown->written[i] = operand.written;
        shown->tensor[i] = &slot.tensor;
    }
    return 0;
}
