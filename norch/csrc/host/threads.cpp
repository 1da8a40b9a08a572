// The pool of threads behind parallel_for.
//
// One parallel region runs at a time: a thread that comes while another has the pool does its work alone. Workers are
// started when first needed, spin for some tenths of a millisecond after their work, then sleep: a processor that sleeps
// wakes late. They are never joined: the process may end at any time. A child after fork has none of its parent's
// threads, so it starts with an empty pool and makes its own.

#include <atomic>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/errors.h"
#include "core/interpreter.h"
#include "host/parallel.h"

enum {
    MAX_THREADS = 256,
    PARTS_PER_THREAD = 16,  // many, because a thread may be held up, or come late
    SPINS = 10000
};

// The parts of one thread that are not yet begun.
struct alignas(64) Share {
    std::atomic<int64_t> next;
    int64_t end;
};
static Share shares[MAX_THREADS];  // of the region that runs

// One parallel region. It lies on the stack of the thread that called run_parts. Each thread has a share of neighbouring
// parts, the same in each region: then it finds in its cache what it wrote in the one before, and shares few lines with
// others. Who has finished helps the next.
struct Region {
    void (*body)(const void*, int64_t, int64_t);
    const void* f;
    int64_t n, parts;
    int threads;  // that may take part: the caller is the first
    std::atomic<bool> failed{false};
    Error error;  // of the first part that failed

    int64_t begin_of(int64_t part) const {
        const int64_t longer = n % parts;
        return part * (n / parts) + (part < longer ? part : longer);
    }

    void share_out() noexcept {
        for (int i = 0; i < threads; i++) {
            shares[i].next.store(parts * i / threads, std::memory_order_relaxed);
            shares[i].end = parts * (i + 1) / threads;
        }
    }

    void work(int thread) noexcept {
        for (int i = 0; i < threads; i++) {
            Share& share = shares[(thread + i) % threads];
            for (int64_t part; (part = share.next.fetch_add(1)) < share.end;) {
                try {
                    body(f, begin_of(part), begin_of(part + 1));
                } catch (const Error& thrown) {
                    if (!failed.exchange(true)) error = thrown;
                }
            }
        }
    }
};

// The mutex is held for moments only: with glibc a thread that finds it locked waits awake.
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
#define POOL_MUTEX PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
#else
#define POOL_MUTEX PTHREAD_MUTEX_INITIALIZER
#endif

struct Pool {
    pthread_mutex_t mutex = POOL_MUTEX;
    pthread_cond_t wake = PTHREAD_COND_INITIALIZER, finished = PTHREAD_COND_INITIALIZER;
    std::atomic<int64_t> regions{0};  // how many there were; written under the mutex
    Region* region = nullptr;         // under the mutex, like the three that follow
    std::atomic<int> working{0};      // workers inside the region
    int workers = 0, sleeping = 0;
    pthread_t threads[MAX_THREADS];     // the workers
    int kept_free = -1;                 // the processor that they keep off
    std::atomic<bool> is_taken{false};  // a thread is in run_parts

    void run(Region& region) noexcept;
    void worker(int index) noexcept;
    void start_workers(int wanted) noexcept;
    void keep_off_callers_processor() noexcept;
};

// Never destroyed: workers outlive main.
alignas(Pool) static char pool_memory[sizeof(Pool)];
static Pool& pool() { return *reinterpret_cast<Pool*>(pool_memory); }
static thread_local bool inside_region;
static std::atomic<int> threads_wanted;

static inline void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

// Spins until done() or for a moment.
template <class F>
static void spin(F done) {
    for (int i = 0; i < SPINS && !done(); i++) relax();
}

// ---- A worker ----------------------------------------------------------------------------------------------------

void Pool::worker(int index) noexcept {
    inside_region = true;  // what a kernel starts inside a part stays on this thread
    int64_t seen = 0;
    for (;;) {
        spin([&] { return regions.load(std::memory_order_relaxed) != seen; });
        pthread_mutex_lock(&mutex);
        sleeping++;
        while (regions == seen) pthread_cond_wait(&wake, &mutex);
        sleeping--;
        seen = regions;
        Region* mine = region && index + 1 < region->threads ? region : nullptr;
        if (mine) working++;
        pthread_mutex_unlock(&mutex);
        if (!mine) continue;
        mine->work(index + 1);
        pthread_mutex_lock(&mutex);
        if (--working == 0) pthread_cond_signal(&finished);
        pthread_mutex_unlock(&mutex);
    }
}

void Pool::start_workers(int wanted) noexcept {
    if (workers >= wanted) return;
    // Signals are for the threads of the program.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    auto main = [](void* index) -> void* {
        pool().worker(int(intptr_t(index)));
        return nullptr;
    };
    for (; workers < wanted; workers++) {
        pthread_t thread;
        if (pthread_create(&thread, nullptr, main, reinterpret_cast<void*>(intptr_t(workers)))) break;  // fewer will do
        pthread_detach(thread);
        threads[workers] = thread;
        kept_free = -1;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// Linux may wake a thread on the processor that wakes it, and leave both there for longer than most regions last. So the
// workers may run wherever their caller may, but not on the processor where it is.
void Pool::keep_off_callers_processor() noexcept {
#ifdef __linux__
    const int processor = sched_getcpu();
    cpu_set_t others;
    if (processor == kept_free || processor < 0 || sched_getaffinity(0, sizeof others, &others)) return;
    CPU_CLR(processor, &others);
    if (CPU_COUNT(&others) == 0) return;
    for (int i = 0; i < workers; i++) pthread_setaffinity_np(threads[i], sizeof others, &others);
    kept_free = processor;
#endif
}

// ---- The thread that has work ------------------------------------------------------------------------------------

void Pool::run(Region& mine) noexcept {
    pthread_mutex_lock(&mutex);
    start_workers(mine.threads - 1);
    keep_off_callers_processor();
    mine.share_out();
    region = &mine;
    regions++;
    if (sleeping > 0) pthread_cond_broadcast(&wake);
    pthread_mutex_unlock(&mutex);

    inside_region = true;
    mine.work(0);
    inside_region = false;

    spin([&] { return working.load(std::memory_order_relaxed) == 0; });
    pthread_mutex_lock(&mutex);
    region = nullptr;  // workers that come late find nothing
    while (working > 0) pthread_cond_wait(&finished, &mutex);
    pthread_mutex_unlock(&mutex);
}

void run_parts(int64_t n, int64_t grain, void (*body)(const void*, int64_t, int64_t), const void* f) {
    if (n <= grain) {
        if (n > 0) body(f, 0, n);
        return;
    }
    const Unlocked unlocked;
    const int64_t threads = thread_count();
    int64_t parts = threads * PARTS_PER_THREAD < n / grain ? threads * PARTS_PER_THREAD : n / grain;
    if (parts > threads) parts -= parts % threads;  // three parts would take two threads two turns
    if (parts <= 1 || threads == 1 || inside_region || pool().is_taken.exchange(true)) return body(f, 0, n);
    Region region;
    region.body = body;
    region.f = f;
    region.n = n;
    region.parts = parts;
    region.threads = int(parts < threads ? parts : threads);
    pool().run(region);
    pool().is_taken = false;
    if (region.failed) throw region.error;
}

// ---- How many ----------------------------------------------------------------------------------------------------

static int clamped(int64_t count) { return int(count < 1 ? 1 : count > MAX_THREADS ? int64_t(MAX_THREADS) : count); }

// NORCH_NUM_THREADS, or the processors that this process may run on.
static int default_threads() {
    if (const char* text = getenv("NORCH_NUM_THREADS")) {
        const long count = strtol(text, nullptr, 10);
        if (count > 0) return clamped(count);
    }
#ifdef __linux__
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return clamped(CPU_COUNT(&allowed));
#endif
    return clamped(sysconf(_SC_NPROCESSORS_ONLN));
}

int thread_count() { return threads_wanted.load(std::memory_order_relaxed); }
void set_thread_count(int64_t count) { threads_wanted = clamped(count); }

static void empty_pool() { new (pool_memory) Pool(); }

static void in_forked_child() {
    empty_pool();
    inside_region = false;
}

__attribute__((constructor)) static void start() {
    empty_pool();
    threads_wanted = default_threads();
    pthread_atfork(nullptr, nullptr, in_forked_child);
}
