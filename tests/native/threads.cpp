// Several threads of a program in kernels that split their work between threads: what ThreadSanitizer watches.
//
// `make races` builds and runs it. With the argument `race` two threads write to one tensor, which must be found.

#include <initializer_list>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "api.h"

static void check(bool holds, const char* what) {
    if (holds) return;
    fprintf(stderr, "threads: %s (%s)\n", what, error_message());
    exit(1);
}

// Operations of every kind that splits its work, and frees of what another thread may be given next.
static void work(int rounds) {
    const int64_t shape[] = {300, 400}, columns[] = {0};
    for (int i = 0; i < rounds; i++) {
        Tensor* one = number_tensor(1.0, 0, FLOAT64);
        Tensor* zeros = empty_tensor(shape, 2, FLOAT32, CPU);
        check(assign_tensor(zeros, one) == 0, "assign");
        Tensor* sum = add_tensor(zeros, one);
        Tensor* turned = transpose_tensor(sum, 0, 1);
        Tensor* product = matmul_tensor(sum, turned);
        Tensor* rows = softmax_tensor(sum, 1);
        Tensor* total = sum_tensor(rows, nullptr, -1, 0);
        Tensor* across = sum_tensor(sum, columns, 1, 0);
        const int64_t first[] = {0, 0};
        check(get_item(product, first) == 1600 && get_item(across, first) == 600, "a wrong result");
        check(get_item(total, first) > 299.9 && get_item(total, first) < 300.1, "a wrong total");
        for (Tensor* tensor : {one, zeros, sum, turned, product, rows, total, across}) free_tensor(tensor);
    }
}

static void planted_race() {
    const int64_t shape[] = {1000};
    Tensor *shared = empty_tensor(shape, 1, FLOAT32, CPU), *one = number_tensor(1.0, 0, FLOAT64);
    auto write = [=] {
        for (int i = 0; i < 100; i++) add_into(shared, shared, one);
    };
    std::thread first(write), second(write);
    first.join();
    second.join();
}

int main(int count, char**) {
    set_num_threads(4);
    if (count > 1) {
        planted_race();
        return 0;
    }
    std::thread threads[] = {std::thread(work, 20), std::thread(work, 20), std::thread(work, 20)};
    work(20);
    for (std::thread& thread : threads) thread.join();
    check(memory_allocated(CPU) == 0 && live_tensors() == 0, "something leaked");

    // A child has no workers of its parent and makes its own.
    const pid_t child = fork();
    if (child == 0) {
        work(2);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    check(status == 0, "a child after fork failed");
    puts("threads: no wrong result");
    return 0;
}
