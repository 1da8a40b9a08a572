// Calls of the system that fail: loaded before the C library (LD_PRELOAD), it counts calls of a kind and lets the n-th
// fail with an error number, or do a part of what it was asked for.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { SHORT = -1, FILES = 1, THREADS = 2 };

static atomic_long seen, countdown;
static atomic_int error_number, kinds, came;

void fault_arm(long n, int number, int which) {
    seen = 0;
    came = 0;
    countdown = n;
    error_number = number;
    kinds = which;
}

long fault_disarm(int* has_come) {
    kinds = 0;
    *has_come = came;
    return seen;
}

// The processes that a program forks are not meant.
static void in_child(void) { kinds = 0; }
__attribute__((constructor)) static void start(void) { pthread_atfork(NULL, NULL, in_child); }

// 0: go on, else the error number, or SHORT
static int fault(int kind, int can_be_short) {
    if (!(kinds & kind) || (error_number == SHORT && !can_be_short)) return 0;
    seen++;
    if (--countdown != 0) return 0;
    came = 1;
    return error_number;
}

#define NEXT(name) ((__typeof__(name)*)dlsym(RTLD_NEXT, #name))

// K(fsync, int, -1, (int file), (file)) fails, or calls the function of that name. (None of them waits, so that no
// signal interrupts them.)
#define K(name, result, failure, parameters, arguments)                      \
    result name parameters {                                                 \
        int number = error_number == EINTR ? 0 : fault(FILES, 0);            \
        if (number) return errno = number, failure;                          \
        return NEXT(name) arguments;                        \
    }
K(fsync, int, -1, (int file), (file))
K(rename, int, -1, (const char* from, const char* to), (from, to))
K(ftruncate64, int, -1, (int file, off64_t size), (file, size))
K(memfd_create, int, -1, (const char* name, unsigned flags), (name, flags))
K(mmap64, void*, MAP_FAILED, (void* at, size_t size, int protection, int flags, int file, off64_t offset),
  (at, size, protection, flags, file, offset))
K(chmod, int, -1, (const char* path, mode_t mode), (path, mode))
K(fchmod, int, -1, (int file, mode_t mode), (file, mode))

// An error of close() is reported, but the file is closed. Pipes and sockets have none.
int close(int file) {
    struct stat status_of;
    int number = fstat(file, &status_of) == 0 && S_ISREG(status_of.st_mode) ? fault(FILES, 0) : 0;
    int status = NEXT(close)(file);
    return number > 0 && number != EINTR ? (errno = number, -1) : status;
}

int open64(const char* path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    int number = fault(FILES, 0);
    if (number) return errno = number, -1;
    return NEXT(open64)(path, flags, mode);
}

ssize_t write(int file, const void* data, size_t size) {
    int number = fault(FILES, 1);
    if (number > 0) return errno = number, -1;
    return NEXT(write)(file, data, number == SHORT && size > 1 ? size / 2 : size);
}

ssize_t read(int file, void* data, size_t size) {
    int number = fault(FILES, 1);
    if (number > 0) return errno = number, -1;
    return NEXT(read)(file, data, number == SHORT && size > 1 ? size / 2 : size);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
    int number = fault(THREADS, 0);
    return number ? number : NEXT(pthread_create)(thread, attributes, start, argument);
}
