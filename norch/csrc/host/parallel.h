// Threads for kernels: parallel_for(n, grain, f) calls f(begin, end) for parts of 0..n, on several threads at once.
//
//     parallel_for(rows, 1 + SMALL_WORK / columns, [&](int64_t begin, int64_t end) {
//         for (int64_t i = begin; i < end; i++) ...
//     });
//
// A part is at least `grain` long, so that small work stays on the calling thread. The parts depend on the number of
// threads: f must compute each index on its own (reductions split their sums at fixed indices).

#pragma once
#include <stdint.h>

#include "host/instruction_sets.h"

enum { SMALL_WORK = 32768 };  // elements of cheap work that are not worth a second thread

int thread_count();  // how many threads a kernel may use
void set_thread_count(int64_t count);

// The same for a function and the f that it is called with. An exception of a part is thrown here.
void run_parts(int64_t n, int64_t grain, void (*body)(const void* f, int64_t begin, int64_t end), const void* f);

inline namespace NORCH_ISA {

// (f is called at one place, so that it is compiled once.)
template <class F>
void parallel_for(int64_t n, int64_t grain, const F& f) {
    auto body = [](const void* f, int64_t begin, int64_t end) {
        const F copy = *static_cast<const F*>(f);  // no store of a kernel changes what it captured
        copy(begin, end);
    };
    run_parts(n, grain, body, &f);
}

}  // namespace NORCH_ISA
