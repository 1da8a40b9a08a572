// Chains: elementwise steps that run piece by piece.
//
// Ten operations on ten million floats each read and write main memory. Run on four thousand floats after another, they
// find in the cache what the one before them left there: the same kernels, called on pieces (the idea is numexpr's).
//
// A reduction of all elements may end a chain. Then its kernel runs on each block of elements that it would add up on its
// own (cpu/reductions.cpp), and the totals of the blocks are combined in their order: the same bits as eager.

#include <string.h>

#include <algorithm>
#include <optional>

#include "host/parallel.h"
#include "kernels.h"
#include "recording/program.h"

enum { PIECE = 4096, LEAST_ELEMENTS = 32768, BLOCK = 65536 };  // elements; the last is that of cpu/reductions.cpp

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

static bool is_reduction(const Step& step) {
#define NAMED(kernel, ...) || !strcmp(step.name(), #kernel)
    return step.graph_device() == CPU && step.operands.size() == 2 && (false REDUCTIONS(NAMED));
#undef NAMED
}

// Whether a step reduces all of what the chain before it writes.
static bool ends(const Recording& recording, const Chain& chain, const Step& step) {
    if (!is_reduction(step) || step.operands[0].slot != chain.end_slot) return false;
    const Slot &x = recording.slots[size_t(chain.end_slot)], &out = recording.slots[size_t(chain.end_slot) + 1];
    if (x.memory < 0 || x.tensor.size != chain.elements || !is_contiguous(x.tensor) || is_narrow(x.tensor.dtype))
        return false;
    bool is_written = false, overlaps = false;
    for (int32_t s = chain.begin; s < chain.end; s++)
        for (const StepOperand& operand : recording.steps[size_t(s)]->operands) {
            const Slot& slot = recording.slots[size_t(operand.slot)];
            overlaps |= slot.memory == out.memory;
            is_written |= operand.written && slot.memory == x.memory && slot.shift == x.shift &&
                          slot.tensor.dtype == x.tensor.dtype;
        }
    return is_written && !overlaps && out.tensor.size == 1;
}

static Chain chain_from(const Recording& recording, const Phase& phase, int32_t begin) {
    Chain chain = {begin, begin, -1, -1, 0, 0, {}, false};
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
    if (chain.end > begin && chain.end < phase.end && ends(recording, chain, *recording.steps[size_t(chain.end)])) {
        chain.reduces = true;
        chain.end++;
        chain.end_slot += 2;
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
        const int32_t reduced = chain.reduces ? recording.slots[size_t(chain.end_slot) - 2].memory : -1;
        for (size_t m = 0; m < lifetimes.size(); m++) {
            const Lifetime& lifetime = lifetimes[m];
            Place& place = phase.places[m];
            if (place.kind != Place::ARENA || lifetime.first < chain.begin || lifetime.last >= chain.end) continue;
            if (chain.reduces && lifetime.first == chain.end - 1) continue;  // the total
            place.kind = Place::CHAINED;
            const bool is_reduced = int32_t(m) == reduced;  // it waits for the other pieces of its block
            const Lifetime alive = is_reduced ? Lifetime{chain.begin, chain.end - 1} : lifetime;
            const Slot& any = recording.slots[size_t(phase.first_user[m])];
            items.push_back({alive, (is_reduced ? BLOCK : PIECE) * item_size(any.tensor.dtype), &place.offset});
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
    std::vector<char*> bases;
    std::vector<int64_t> widths;  // in bytes: from an element to the next
    std::vector<char> of_block;   // whether the base is the first element of a block
    Scratch<char> scratch;

    Pieces(const Chain& chain, const Recording& recording)
        : slots(recording.slots.begin() + chain.first_slot, recording.slots.begin() + chain.end_slot),
          of_block(slots.size()),
          scratch(chain.bytes) {
        for (Slot& slot : slots) {
            Tensor& tensor = slot.tensor;
            const bool is_one = repeats(tensor);
            bases.push_back(slot.memory < 0 ? reinterpret_cast<char*>(&tensor.value) : static_cast<char*>(tensor.data));
            tensor.ndim = 1;
            tensor.strides[0] = is_one ? 0 : 1;
            widths.push_back(is_one ? 0 : item_size(tensor.dtype));
        }
        const int32_t reduced = chain.reduces ? slots[slots.size() - 2].memory : -1;
        for (const auto& [slot, offset] : chain.between) {
            const size_t s = size_t(slot);
            bases[s] = scratch.data + offset;
            of_block[s] = slots[s].memory == reduced;
            if (!of_block[s]) widths[s] = 0;
        }
    }
    void move_to(int64_t element, int64_t length, int64_t block) {
        for (size_t i = 0; i < slots.size(); i++) {
            slots[i].tensor.data = bases[i] + (element - (of_block[i] ? block : 0)) * widths[i];
            slots[i].tensor.shape[0] = slots[i].tensor.size = length;
        }
    }
};

// The last step of a chain, on parts of what it reduces. Its totals of floats are doubles, which lie one after another.
struct Reduction {
    Step& step;
    Slot x, out;    // as the program has them
    int32_t total;  // the dtype of totals
    int64_t bytes;

    Reduction(const Chain& chain, const Recording& recording)
        : step(*recording.steps[size_t(chain.end) - 1]),
          x(recording.slots[size_t(chain.end_slot) - 2]),
          out(recording.slots[size_t(chain.end_slot) - 1]),
          total(out.tensor.dtype == FLOAT32 && strcmp(step.name(), "max") && strcmp(step.name(), "min")
                    ? int32_t(FLOAT64)
                    : out.tensor.dtype),
          bytes(item_size(total)) {}

    void run(const void* from, int32_t dtype, int64_t n, void* to) const {
        Slot slots[2] = {x, out};
        for (Slot& slot : slots) {
            slot.tensor.ndim = 1;
            slot.tensor.strides[0] = 1;
        }
        slots[0].tensor.data = const_cast<void*>(from);
        slots[0].tensor.dtype = dtype;
        slots[0].tensor.shape[0] = slots[0].tensor.size = n;
        slots[1].tensor.data = to;
        slots[1].tensor.dtype = total;
        slots[1].tensor.shape[0] = 1;
        step.run(slots - step.operands[0].slot);
    }
    void finish(char* totals, int64_t blocks) const {
        for (int64_t k = 1; k < blocks; k++) {
            alignas(8) char pair[16];
            memcpy(pair, totals, size_t(bytes));
            memcpy(pair + bytes, totals + k * bytes, size_t(bytes));
            run(pair, total, 2, totals);
        }
        if (total == FLOAT64 && out.tensor.dtype == FLOAT32)
            *static_cast<float*>(out.tensor.data) = float(*reinterpret_cast<double*>(totals));
        else
            memcpy(out.tensor.data, totals, size_t(bytes));
    }
};

void run_chain(const Chain& chain, Recording& recording) {
    const int64_t block = chain.reduces ? BLOCK : PIECE, blocks = (chain.elements + block - 1) / block;
    const int32_t end = chain.end - chain.reduces;
    std::optional<Reduction> reduction;
    if (chain.reduces) reduction.emplace(chain, recording);
    Scratch<double> totals(chain.reduces ? blocks : 0);
    char* const total = reinterpret_cast<char*>(totals.data);
    parallel_for(blocks, 1 + SMALL_WORK / block, [&](int64_t begin, int64_t stop) {
        Pieces mine(chain, recording);
        for (int64_t k = begin; k < stop; k++) {
            const int64_t first = k * block, last = std::min(first + block, chain.elements);
            for (int64_t at = first; at < last; at += PIECE) {
                mine.move_to(at, std::min(last - at, int64_t(PIECE)), first);
                for (int32_t step = chain.begin; step < end; step++)
                    recording.steps[size_t(step)]->run(mine.slots.data() - chain.first_slot);
            }
            if (!reduction) continue;
            mine.move_to(first, last - first, first);
            const Tensor& x = mine.slots[mine.slots.size() - 2].tensor;
            reduction->run(x.data, x.dtype, x.size, total + k * reduction->bytes);
        }
    });
    if (reduction) reduction->finish(total, blocks);
}
