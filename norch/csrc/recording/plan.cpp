// The plan of a program: what lives how long, and where it lies.

#include <algorithm>
#include <map>

#include "api.h"
#include "recording/program.h"

enum { ALIGNMENT = 64, SMALL_ALIGNMENT = 16 };

static int64_t rounded(int64_t nbytes) {  // what is empty lies somewhere, too
    const int64_t alignment = nbytes < ALIGNMENT ? SMALL_ALIGNMENT : ALIGNMENT;
    return (std::max<int64_t>(nbytes, 1) + alignment - 1) / alignment * alignment;
}

int64_t arranged(const std::vector<Item>& items, int32_t begin, int32_t end) {
    std::vector<const Item*> begins, ends;  // in the order of those steps
    for (const Item& item : items) begins.push_back(&item);
    ends = begins;
    std::stable_sort(begins.begin(), begins.end(),
                     [](const Item* x, const Item* y) { return x->lifetime.first < y->lifetime.first; });
    std::stable_sort(ends.begin(), ends.end(),
                     [](const Item* x, const Item* y) { return x->lifetime.last < y->lifetime.last; });
    std::map<int64_t, int64_t> gaps = {{0, INT64_MAX}};  // offset -> length
    int64_t total = 0;
    auto beginning = begins.begin(), ending = ends.begin();
    for (int32_t step = begin; step < end; step++) {
        for (; beginning != begins.end() && (*beginning)->lifetime.first == step; ++beginning) {
            const Item* item = *beginning;
            const int64_t length = rounded(item->nbytes);
            auto gap = std::find_if(gaps.begin(), gaps.end(), [&](const auto& g) { return g.second >= length; });
            const auto [offset, room] = *gap;
            gaps.erase(gap);
            if (room > length) gaps[offset + length] = room - length;
            *item->offset = offset;
            total = std::max(total, offset + length);
        }
        for (; ending != ends.end() && (*ending)->lifetime.last == step; ++ending) {
            const Item* item = *ending;
            int64_t offset = *item->offset, length = rounded(item->nbytes);
            auto after = gaps.lower_bound(offset);
            if (after != gaps.end() && after->first == offset + length) {
                length += after->second;
                after = gaps.erase(after);
            }
            if (after != gaps.begin() && std::prev(after)->first + std::prev(after)->second == offset)
                std::prev(after)->second += length;
            else
                gaps[offset] = length;
        }
    }
    return total;
}

static std::vector<Lifetime> lifetimes_in(const Recording& recording, Phase& phase) {
    std::vector<Lifetime> lifetimes(recording.memories.size());
    phase.first_user.resize(recording.memories.size(), -1);
    phase.next_user.resize(recording.slots.size(), -1);
    for (int32_t s = phase.begin; s < phase.end; s++)
        for (const StepOperand& operand : recording.steps[size_t(s)]->operands) {
            if (operand.slot < 0) continue;
            const int32_t memory = recording.slots[size_t(operand.slot)].memory;
            if (memory < 0) continue;
            Lifetime& lifetime = lifetimes[size_t(memory)];
            if (lifetime.first < 0) lifetime.first = s;
            lifetime.last = s;
            phase.next_user[size_t(operand.slot)] = phase.first_user[size_t(memory)];
            phase.first_user[size_t(memory)] = operand.slot;
        }
    return lifetimes;
}

static Slot result_slot(Recording& recording, const Tensor& tensor) {
    const int32_t memory = recording.memory_of(tensor);
    Slot slot = {tensor, memory, static_cast<char*>(tensor.data) - recording.memories[size_t(memory)].base};
    const Memory& owner = recording.memories[size_t(memory)];
    if (owner.kind != Memory::EXTERNAL || tensor.writes != owner.writes) slot.tensor.writes = nullptr;
    return slot;
}

// What the first steps of a recording write in a phase that others can see.
Writing written_by(const Program& program, const Phase& phase, int32_t steps) {
    std::map<int32_t, int32_t> counts;
    std::map<Writes*, int32_t> apart;
    if (&phase == &program.forward)
        for (const Slot& gradient : program.gradients) counts[gradient.memory] = 0;  // somebody may have written to it
    for (const Written& written : program.recording.writes) {
        if (written.later != (&phase == &program.backward) || written.steps > steps) continue;
        if (written.writes)
            apart[written.writes]++;
        else
            counts[written.memory]++;
    }
    Writing writing;
    for (const auto& count : counts) {
        const Place::Kind kind = phase.places[size_t(count.first)].kind;
        if (kind != Place::UNUSED && kind != Place::ARENA && kind != Place::CHAINED && kind != Place::SAVED)
            writing.memories.push_back(count);
    }
    writing.apart.assign(apart.begin(), apart.end());
    return writing;
}

// For each memory, whether one of the slots is of it.
static std::vector<bool> memories_of(const Recording& recording, const std::vector<Slot>& slots) {
    std::vector<bool> found(recording.memories.size());
    for (const Slot& slot : slots) found[size_t(slot.memory)] = true;
    return found;
}

// Where each memory lies, by the steps that use it in this phase and in the other one.
static void place(Program& program, Phase& phase, const std::vector<Lifetime>& lifetimes,
                  const std::vector<Lifetime>& others) {
    const std::vector<Memory>& memories = program.recording.memories;
    const bool is_backward = &phase == &program.backward;
    const std::vector<bool> returned = memories_of(program.recording, phase.results),
                            changed = memories_of(program.recording, program.gradients),
                            later = memories_of(program.recording, program.backward.results);
    phase.places.resize(memories.size());
    phase.bases.resize(memories.size());
    phase.storages.resize(memories.size());
    phase.writes.resize(memories.size());
    for (size_t m = 0; m < memories.size(); m++) {
        Place& place = phase.places[m];
        const bool used = lifetimes[m].first >= 0 || returned[m];
        place = {Place::UNUSED, 0, memories[m].input};
        if (memories[m].kind == Memory::EXTERNAL) {
            place.kind = Place::FIXED;
            phase.lay(program.recording.slots, int32_t(m), memories[m].storage, memories[m].base);
        } else if (memories[m].kind == Memory::INPUT) {
            place.kind = Place::INPUT;
        } else if (!is_backward && changed[m]) {
            place.kind = Place::GRADIENT;
        } else if (is_backward && program.forward.places[m].kind != Place::UNUSED &&
                   program.forward.places[m].kind != Place::ARENA) {
            place = program.forward.places[m];  // the forward saved it, or returned it
        } else if (returned[m]) {
            place.kind = Place::FRESH;
            phase.fresh.push_back(int32_t(m));
        } else if (!is_backward && used && (others[m].first >= 0 || later[m])) {
            place = {Place::SAVED, program.saved_bytes, -1};
            program.saved_bytes += rounded(memories[m].nbytes);
        } else if (used) {
            place.kind = Place::ARENA;
        }
    }
    for (size_t m = 0; m < memories.size(); m++) {
        if (phase.places[m].kind != Place::ARENA && phase.places[m].kind != Place::SAVED) continue;
        if (program.device >= 0 && program.device != memories[m].device) {
            program.recording.refusal = "it works on several devices";
            program.recording.refused_at = program.recording.first_use(int32_t(m));
            fail(RUNTIME_ERROR, "{}", program.recording.refusal.c_str());
        }
        program.device = memories[m].device;
    }
    find_chains(program, phase, lifetimes);
    std::vector<Item> items;
    for (size_t m = 0; m < memories.size(); m++)
        if (phase.places[m].kind == Place::ARENA)
            items.push_back({lifetimes[m], memories[m].nbytes, &phase.places[m].offset});
    phase.arena_bytes = arranged(items, phase.begin, phase.end);
}

// Tensors that are still alive, though nothing that the call returns or changes accounts for them.
static void check_nothing_is_kept(Recording& recording, const std::vector<bool>& accounted) {
    for (size_t m = 0; m < recording.memories.size(); m++) {
        const Memory& memory = recording.memories[m];
        if (memory.kind != Memory::INTERNAL || !memory.storage || accounted[m]) continue;
        recording.refusal = "a tensor that is made here outlives the call, other than as a result or a gradient";
        recording.refused_at = recording.first_use(int32_t(m));
        fail(RUNTIME_ERROR, "{}", recording.refusal.c_str());
    }
}

static std::unique_ptr<Program> planned(Recording& recording, const int64_t* counts, Tensor* const* tensors) {
    auto program = std::make_unique<Program>(recording);
    const int32_t steps = int32_t(recording.steps.size());
    const bool has_backward = recording.backward >= 0;
    program->forward.begin = 0;
    program->forward.end = program->backward.begin = has_backward ? recording.backward : steps;
    program->backward.end = steps;
    std::vector<Slot> others, all;
    for (std::vector<Slot>* slots :
         {&program->forward.results, &program->gradients, &program->backward.results, &others})
        for (int64_t left = *counts++; left > 0; left--) {
            slots->push_back(result_slot(recording, **tensors++));
            all.push_back(slots->back());
        }
    if (!has_backward) check_nothing_is_kept(recording, memories_of(recording, all));
    const auto in_forward = lifetimes_in(recording, program->forward);
    const auto in_backward = lifetimes_in(recording, program->backward);
    place(*program, program->forward, in_forward, in_backward);
    if (has_backward) place(*program, program->backward, in_backward, in_forward);
    for (size_t m = 0; m < program->backward.places.size(); m++) {
        const Place::Kind kind = program->backward.places[m].kind;
        const bool is_given = recording.memories[m].input >= int32_t(recording.forward_inputs);
        const bool is_known = program->forward.places[m].kind != Place::UNUSED && !is_given;
        if (in_backward[m].first >= 0 && kind != Place::ARENA && kind != Place::CHAINED && kind != Place::SAVED &&
            is_known)
            program->kept.push_back(int32_t(m));
    }
    for (Slot& slot : recording.slots)
        if (slot.memory < 0) slot.tensor.data = &slot.tensor.value;
    for (Phase* phase : {&program->forward, &program->backward}) {
        if (phase == &program->backward && !has_backward) break;
        phase->written = written_by(*program, *phase, phase->end);
        find_graphs(*program, *phase);
    }
    return program;
}

Program* new_program(Recording* recording, const int64_t* counts, Tensor* const* tensors) {
    Program* program = nullptr;
    attempt([&] { program = planned(*recording, counts, tensors).release(); });
    return program;
}
