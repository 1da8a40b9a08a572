// Chains: elementwise steps that run piece by piece.
//
// Ten operations on ten million floats each read and write main memory. Run on four thousand floats after another, they
// find in the cache what the one before them left there: the same kernels, called on pieces (the idea is numexpr's).

#include <algorithm>

#include "host/parallel.h"
#include "recording/program.h"

enum { PIECE = 4096, LEAST_ELEMENTS = 32768 };  // elements

// Whether a tensor has `elements` contiguous ones, or one that repeats.
static bool repeats(const Tensor& tensor) {
    for (int d = 0; d < tensor.ndim; d++)
        if (tensor.shape[d] != 1 && tensor.strides[d] != 0) return false;
    return true;
}

// How many elements a step computes if it may be part of a chain, else 0.
static int64_t elements_of(const Recording& recording, const Step& step) {
    if (!step.by_element()) return 0;
    int64_t elements = 0;
    for (const StepOperand& operand : step.operands)
        if (operand.written) elements = recording.slots[size_t(operand.slot)].tensor.size;
    if (elements < LEAST_ELEMENTS) return 0;
    for (const StepOperand& operand : step.operands) {
        const Tensor& tensor = recording.slots[size_t(operand.slot)].tensor;
        if (tensor.size != elements || !(is_contiguous(tensor) || (repeats(tensor) && !operand.written))) return 0;
    }
    return elements;
}

// Whether each element depends on the same element only: what the chain writes is seen at one place in memory.
static bool fits(const Recording& recording, int32_t first_slot, int32_t end_slot, const std::vector<char>& written) {
    for (int32_t s = first_slot; s < end_slot; s++) {
        const Slot& slot = recording.slots[size_t(s)];
        if (slot.memory < 0) continue;
        const Memory& memory = recording.memories[size_t(slot.memory)];
        for (int32_t t = first_slot; t < end_slot; t++) {
            const Slot& other = recording.slots[size_t(t)];
            if (!written[size_t(t - first_slot)] || other.memory < 0) continue;
            const Memory& target = recording.memories[size_t(other.memory)];
            if (slot.memory != other.memory) {
                if (memory.kind == Memory::INPUT && target.kind == Memory::INPUT && memory.storage == target.storage)
                    return false;
            } else if (slot.shift != other.shift || slot.tensor.dtype != other.tensor.dtype || repeats(slot.tensor)) {
                return false;
            }
        }
    }
    return true;
}

static Chain chain_from(const Recording& recording, const Phase& phase, int32_t begin) {
    Chain chain = {begin, begin, -1, -1, 0, 0, {}};
    chain.elements = elements_of(recording, *recording.steps[size_t(begin)]);
    std::vector<char> written;
    while (chain.elements && chain.end < phase.end) {
        const Step& step = *recording.steps[size_t(chain.end)];
        if (elements_of(recording, step) != chain.elements) break;
        const int32_t first = chain.first_slot < 0 ? step.operands.front().slot : chain.first_slot;
        std::vector<char> more = written;
        for (const StepOperand& operand : step.operands) more.push_back(operand.written);
        if (step.operands.back().slot + 1 - first != int32_t(more.size())) break;  // slots of a step between them
        if (!fits(recording, first, step.operands.back().slot + 1, more)) break;
        chain.first_slot = first;
        chain.end_slot = step.operands.back().slot + 1;
        written = more;
        chain.end++;
    }
    return chain;
}

void find_chains(Program& program, Phase& phase, const std::vector<Lifetime>& lifetimes) {
    const Recording& recording = program.recording;
    for (int32_t step = phase.begin; step < phase.end;) {
        Chain chain = chain_from(recording, phase, step);
        step = std::max(step + 1, chain.end);
        if (chain.end - chain.begin < 2) continue;
        std::vector<Item> items;
        for (size_t m = 0; m < lifetimes.size(); m++) {
            const Lifetime& lifetime = lifetimes[m];
            Place& place = phase.places[m];
            if (place.kind != Place::ARENA || lifetime.first < chain.begin || lifetime.last >= chain.end) continue;
            place.kind = Place::CHAINED;
            const Slot& any = recording.slots[size_t(phase.users[m].front())];
            items.push_back({lifetime, PIECE * item_size(any.tensor.dtype), &place.offset});
        }
        chain.bytes = arranged(items, chain.begin, chain.end);
        for (int32_t s = chain.first_slot; s < chain.end_slot; s++) {
            const int32_t memory = recording.slots[size_t(s)].memory;
            if (memory >= 0 && phase.places[size_t(memory)].kind == Place::CHAINED)
                chain.between.push_back({s - chain.first_slot, phase.places[size_t(memory)].offset});
        }
        phase.chains.push_back(std::move(chain));
    }
}

// What a thread works with: the chain's slots, each with the elements of one piece.
struct Pieces {
    std::vector<Slot> slots;
    std::vector<int64_t> widths;  // in bytes: from an element to the next
    Scratch<char> scratch;

    Pieces(const Chain& chain, const Recording& recording)
        : slots(recording.slots.begin() + chain.first_slot, recording.slots.begin() + chain.end_slot),
          scratch(chain.bytes) {
        for (Slot& slot : slots) {
            Tensor& tensor = slot.tensor;
            const bool is_one = repeats(tensor);
            if (slot.memory < 0) tensor.data = &tensor.value;
            tensor.ndim = 1;
            tensor.strides[0] = is_one ? 0 : 1;
            widths.push_back(is_one ? 0 : item_size(tensor.dtype));
        }
        for (const auto& [slot, offset] : chain.between) {
            slots[size_t(slot)].tensor.data = scratch.data + offset;
            widths[size_t(slot)] = 0;
        }
    }
    void resize(int64_t length) {
        for (Slot& slot : slots) slot.tensor.shape[0] = slot.tensor.size = length;
    }
    void advance(int64_t length) {
        for (size_t i = 0; i < slots.size(); i++)
            slots[i].tensor.data = static_cast<char*>(slots[i].tensor.data) + length * widths[i];
    }
};

void run_chain(const Chain& chain, Recording& recording) {
    const int64_t pieces = (chain.elements + PIECE - 1) / PIECE;
    parallel_for(pieces, 1 + SMALL_WORK / PIECE, [&](int64_t begin, int64_t end) {
        Pieces mine(chain, recording);
        mine.advance(begin * PIECE);
        for (int64_t piece = begin; piece < end; piece++) {
            const int64_t left = chain.elements - piece * PIECE;
            mine.resize(left < PIECE ? left : int64_t(PIECE));
            for (int32_t step = chain.begin; step < chain.end; step++)
                recording.steps[size_t(step)]->run(mine.slots.data() - chain.first_slot);
            mine.advance(PIECE);
        }
    });
}
