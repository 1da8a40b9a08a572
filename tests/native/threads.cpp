// Several threads of a program in kernels that split their work between threads: what ThreadSanitizer watches.
//
// `make races` builds and runs it. With the argument `race` two threads write to one tensor, which must be found.

#include <atomic>
#include <initializer_list>
#include <mutex>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

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

// What several Python threads do with one model: they compute with its weights, take and drop views of them and of their
// storage, draw random numbers, make errors, and add their gradients to the shared ones, one at a time.
struct SharedModel {
    Tensor *weight, *bias, *sums[2];
    std::mutex accumulating;

    SharedModel() {
        const int64_t shape[] = {200, 300};
        weight = empty_tensor(shape, 2, FLOAT32, CPU);
        bias = empty_tensor(shape, 1, FLOAT32, CPU);
        sums[0] = empty_tensor(shape, 2, FLOAT32, CPU);
        sums[1] = empty_tensor(shape, 1, FLOAT32, CPU);
        Tensor *one = number_tensor(1.0, 0, FLOAT64), *zero = number_tensor(0.0, 0, FLOAT64);
        for (Tensor* tensor : {weight, bias}) assign_tensor(tensor, one);
        for (Tensor* tensor : sums) assign_tensor(tensor, zero);
        for (Tensor* tensor : {one, zero}) free_tensor(tensor);
    }
    ~SharedModel() {
        for (Tensor* tensor : {weight, bias, sums[0], sums[1]}) free_tensor(tensor);
    }

    void forward_and_backward(int number) {
        const int64_t shape[] = {50, 300}, first[] = {0, 0}, bad[] = {7};
        Tensor* x = empty_tensor(shape, 2, FLOAT32, CPU);
        uint64_t state[] = {1, uint64_t(number)};
        check(uniform_into(x, state, 1.0, 1.0) == 0, "uniform");
        Tensor* y = linear_tensor(x, weight, bias);
        check(get_item(y, first) == 301, "a wrong forward");
        Tensor *row = select_tensor(weight, 0, number % 200), *alias = alias_tensor(weight),
               *data = data_tensor(weight, nullptr);
        Storage* storage = hold_storage(row);
        Tensor* bytes = storage_tensor(storage, FLOAT32);
        check(shares_memory(bytes, alias) && version_of(data) >= 0 && written_at(row) >= 0, "views");
        check(!reshape_tensor(row, bad, 1), "an error was expected");
        Tensor *one = number_tensor(1.0, 0, FLOAT64), *gradient = full_like_tensor(y, one);
        Results* results = linear_backward(gradient, x, weight, 6);
        check(results && !results->tensors[0], "backward");
        {
            std::lock_guard<std::mutex> lock(accumulating);
            for (int i = 0; i < 2; i++) check(add_into(sums[i], sums[i], results->tensors[1 + i]) == 0, "accumulate");
        }
        for (Tensor* tensor : {x, y, row, alias, data, bytes, one, gradient, results->tensors[1], results->tensors[2]})
            free_tensor(tensor);
        free_results(results);
        free_storage(storage);
    }
};

static void share_a_model() {
    SharedModel model;
    const int64_t first[] = {0, 0};
    for (int round = 1; round <= 5; round++) {
        std::vector<std::thread> threads;
        for (int number = 0; number < 4; number++)
            threads.emplace_back([&model, number] {
                for (int i = 0; i < 5; i++) model.forward_and_backward(number);
            });
        for (std::thread& thread : threads) thread.join();
        check(get_item(model.sums[0], first) == 50 * 20 * round, "a gradient was lost");
        SGDEntry entries[] = {{model.weight, model.sums[0], nullptr, 1}, {model.bias, model.sums[1], nullptr, 1}};
        SGDOptions options = {};
        check(sgd_step(2, entries, &options) == 0, "step");
    }
}

// Ranks of norch.distributed, which share a board: here threads, and MPI is a counter of those that came.
static std::atomic<int64_t> arrived;

static int start_counting(uint64_t data, uint64_t ranks, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                          uint64_t request) {
    *reinterpret_cast<int64_t*>(request) = (arrived++ / int64_t(ranks) + 1) * int64_t(ranks);  // complete at this count
    *reinterpret_cast<float*>(data) += 1;
    return 0;
}

static int test_counter(void* request, int* done, void*) {
    *done = arrived >= *static_cast<int64_t*>(request);
    return 0;
}

static void communicate() {
    enum { RANKS = 3, ROWS = 64, CALLS = 500, DONE = 0, UNDER_WAY, DIFFERENT };
    static std::atomic<int64_t> board[ROWS * RANKS];
    auto as_rank = [](uint64_t rank) {
        const int64_t shape[] = {1}, first[] = {0};
        Tensor *x = empty_tensor(shape, 1, FLOAT32, CPU), *zero = number_tensor(0.0, 0, FLOAT64);
        assign_tensor(x, zero);
        // As direct.py packs it: start, eight words, the request's place among them, test, the board, a check.
        uint64_t call[16] = {uint64_t(start_counting), uint64_t(x->data), RANKS};
        const uint64_t rest[] = {7, uint64_t(test_counter), uint64_t(board), ROWS, RANKS, rank, 77};
        for (int i = 0; i < 7; i++) call[9 + i] = rest[i];
        int64_t request;
        for (int64_t number = 1; number <= CALLS; number++)
            check(run_collective(call, number, 1 << 30, &request, x) == DONE, "a collective");
        check(get_item(x, first) == CALLS && version_of(x) > CALLS, "a collective's result");
        if (rank == 0) {
            check(run_collective(call, CALLS + 1, 1, &request, x) == UNDER_WAY, "a collective alone");
            call[14] = 1, call[15] = 78;
            check(run_collective(call, CALLS + 1, 1, &request, x) == DIFFERENT, "another rank's other call");
        }
        for (Tensor* tensor : {x, zero}) free_tensor(tensor);
    };
    std::thread first(as_rank, 1), second(as_rank, 2);
    as_rank(0);
    first.join();
    second.join();
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
    share_a_model();
    communicate();
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
