// Linked into the library of a wheel (`make wheel`), so that it loads where libc and libstdc++ are older than here.
//
// The linker writes the newest version of each function into a library: exp@GLIBC_2.29. Each definition below takes the
// place of one such function and calls its first version, which every later libc still has. (The versions differ in how
// they report errors, and in which file a function lies.) tests/thorough/test_wheel.py fails if a function is missing.

#include <pthread.h>
#include <signal.h>

#include <new>

#ifdef __x86_64__
#define FIRST "GLIBC_2.2.5"
#define AFFINITY "GLIBC_2.3.4"  // an earlier one took other arguments
#else
#define FIRST "GLIBC_2.17"
#define AFFINITY FIRST
#endif

#define OLD(TYPE, NAME, PARAMETERS, ARGUMENTS) OLD_OF(FIRST, TYPE, NAME, PARAMETERS, ARGUMENTS)
#define OLD_OF(VERSION, TYPE, NAME, PARAMETERS, ARGUMENTS)                       \
    extern "C" TYPE old_##NAME PARAMETERS;                                       \
    __asm__(".symver old_" #NAME ", " #NAME "@" VERSION);                        \
    extern "C" __attribute__((visibility("hidden"))) TYPE NAME PARAMETERS {      \
        return old_##NAME ARGUMENTS;                                             \
    }

OLD(double, exp, (double x), (x))
OLD(double, exp2, (double x), (x))
OLD(double, log, (double x), (x))
OLD(double, log2, (double x), (x))
OLD(double, pow, (double x, double y), (x, y))
OLD(double, hypot, (double x, double y), (x, y))
OLD(void*, dlsym, (void* library, const char* name), (library, name))
OLD(int, pthread_create, (pthread_t * thread, const pthread_attr_t* how, void* (*run)(void*), void* with),
    (thread, how, run, with))
OLD_OF(AFFINITY, int, pthread_setaffinity_np, (pthread_t thread, size_t size, const cpu_set_t* set), (thread, size, set))
OLD(int, pthread_detach, (pthread_t thread), (thread))
OLD(int, pthread_sigmask, (int how, const sigset_t* given, sigset_t* before), (how, given, before))

// Whether std::shared_ptr may count without atomics (2.32).
extern "C" {
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;
}

namespace std {
// GLIBCXX_3.4.29
__attribute__((visibility("hidden"))) void __throw_bad_array_new_length() { throw bad_array_new_length(); }
}  // namespace std
