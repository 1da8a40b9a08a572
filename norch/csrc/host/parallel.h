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

#include "core/interpreter.h"
#include "host/instruction_sets.h"

enum { SMALL_WORK = 32768 };  // elements of cheap work that are not worth a second thread

int thread_count();  // how many threads a kernel may use
void set_thread_count(int64_t count);

// Calls body(context, part) for every part below parts. An exception of a part is thrown here.
void run_parts(int64_t parts, void (*body)(const void* context, int64_t part), const void* context);

inline namespace NORCH_ISA {

template <class F>
void parallel_for(int64_t n, int64_t grain, const F& f) {
    enum { PARTS_PER_THREAD = 16 };  // many, because a thread may be held up, or come late
    if (n <= grain) {
        if (n > 0) f(int64_t(0), n);
        return;
    }
    const Unlocked unlocked;
    if (thread_count() == 1) {
        f(int64_t(0), n);
        return;
    }
    int64_t parts = int64_t(thread_count()) * PARTS_PER_THREAD;
    if (parts > n / grain) parts = n / grain;
    if (parts > thread_count()) parts -= parts % thread_count();  // three parts would take two threads two turns
    struct Context {
        const F& f;
        int64_t n, parts;
    } const context = {f, n, parts};
    auto body = [](const void* pointer, int64_t part) {
        const Context& context = *static_cast<const Context*>(pointer);
        const int64_t length = context.n / context.parts, longer = context.n % context.parts;
        const int64_t begin = part * length + (part < longer ? part : longer);
        context.f(begin, begin + length + (part < longer));
    };
    run_parts(parts, body, &context);
}

}  // namespace NORCH_ISA
