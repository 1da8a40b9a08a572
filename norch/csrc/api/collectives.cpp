// A collective of norch.distributed in one call: through Python, a small message waits longer for its preparation than
// for the other ranks. norch is linked to no MPI: its functions are called where Python found them (direct.py).

#include <atomic>

#include "api.h"

namespace {

constexpr int MOST_WORDS = 8;
// Registers take MPI's handles whether they are integers or addresses, and a function sees no more than its parameters.
using MPIFunction = int (*)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
using TestFunction = int (*)(void* request, int* done, void* status);

struct Collective {  // as direct.py packs it
    MPIFunction start;
    uint64_t words[MOST_WORDS];
    int64_t place_of_request;  // among the words
    TestFunction test;
    std::atomic<int64_t>* numbers;  // the board's (board.py): a row of the ranks for each of the last collectives
    int64_t rows, ranks, rank, check;
};

enum { DONE, UNDER_WAY, DIFFERENT };

// Whether a rank notes something else under the number that this rank notes, as Board.differing finds.
bool differs(const std::atomic<int64_t>* row, int64_t ranks, int64_t mine) {
    for (int64_t rank = 0; rank < ranks; rank++) {
        const int64_t noted = row[rank];  // read once: that rank may write it now
        if (noted != mine && noted >> 32 == mine >> 32) return true;
    }
    return false;
}

}  // namespace

int32_t run_collective(const void* collective, int64_t number, int32_t polls, void* request, Tensor* written) {
    const Collective& call = *static_cast<const Collective*>(collective);
    const int64_t mine = number << 32 | call.check, ranks = call.numbers ? call.ranks : 0;
    std::atomic<int64_t>* row = call.numbers + number % call.rows * ranks;
    if (ranks) row[call.rank] = mine;
    if (differs(row, ranks, mine)) return DIFFERENT;
    uint64_t w[MOST_WORDS];
    for (int i = 0; i < MOST_WORDS; i++) w[i] = i == call.place_of_request ? uint64_t(request) : call.words[i];
    if (int error = call.start(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7])) return -error;
    alignas(16) char status[256];  // an MPI_Status, of whichever MPI
    for (int done = 0; polls > 0; polls--) {
        if (int error = call.test(request, &done, status)) return -error;
        if (!done) continue;
        if (differs(row, ranks, mine)) return DIFFERENT;
        if (written) mark_written(*written);
        return DONE;
    }
    return UNDER_WAY;
}
