// CPU kernels of the steps of recurrent layers: what follows the product of h with the weight.

#include "cpu/backend.h"
#include "cpu/loops/odometer.h"
#include "host/parallel.h"

inline namespace NORCH_ISA {

namespace {

// Calls f(row) for each of N rows of H elements, in parallel.
template <class F>
void for_each_state(const Tensor& c, F f) {
    const int64_t n = c.shape[1];
    parallel_for(c.shape[0], 1 + SMALL_WORK / 16 / n, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; row++) f(row);
    });
}

}  // namespace

// i, f, o = sigmoid, g = tanh of the quarters of x + gates; c_new = f c + i g, h = o tanh(c_new)
void lstm_step_tensor_cpu(const Tensor& x, const Tensor& c, Tensor& gates, Tensor& c_new, Tensor& h) {
    const int64_t n = c.shape[1];
    for_real(c.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        for_each_state(c, [&](int64_t row) {
            const T *from = data_as<T>(x) + 4 * n * row, *old = data_as<T>(c) + n * row;
            T *to = data_as<T>(gates) + 4 * n * row, *next = data_as<T>(c_new) + n * row,
              *out = data_as<T>(h) + n * row;
            INDEPENDENT for (int64_t j = 0; j < 2 * n; j++) to[j] = formula::sigmoid(from[j] + to[j]);
            INDEPENDENT for (int64_t j = 2 * n; j < 3 * n; j++) to[j] = formula::tanh(from[j] + to[j]);
            INDEPENDENT for (int64_t j = 3 * n; j < 4 * n; j++) to[j] = formula::sigmoid(from[j] + to[j]);
            INDEPENDENT for (int64_t j = 0; j < n; j++) {
                next[j] = to[n + j] * old[j] + to[j] * to[2 * n + j];
                out[j] = to[3 * n + j] * formula::tanh(next[j]);
            }
        });
    });
}

// With C = to_c + to_h o (1 - tanh(c_new)^2), d holds the gradients C g i (1 - i), C c f (1 - f), C i (1 - g^2) and
// to_h tanh(c_new) o (1 - o), and to_c becomes C f. The h of the step goes into `h`, unless that is null.
void lstm_step_backward_tensor_cpu(const Tensor& to_h, const Tensor* to_out, const Tensor& gates, const Tensor& c,
                                   const Tensor& c_new, Tensor& to_c, Tensor& d, Tensor* h) {
    const int64_t n = c.shape[1];
    for_real(c.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        for_each_state(c, [&](int64_t row) {
            const T *i = data_as<T>(gates) + 4 * n * row, *f = i + n, *g = f + n, *o = g + n;
            const T *old = data_as<T>(c) + n * row, *next = data_as<T>(c_new) + n * row;
            const T *first = data_as<T>(to_h) + n * row, *second = to_out ? data_as<T>(to_out) + n * row : nullptr;
            T *cell = data_as<T>(to_c) + n * row, *to = data_as<T>(d) + 4 * n * row;
            INDEPENDENT for (int64_t j = 0; j < n; j++) {
                const T shown = formula::tanh(next[j]), out = second ? first[j] + second[j] : first[j];
                const T inner = cell[j] + out * o[j] * (1 - shown * shown);
                to[j] = inner * g[j] * i[j] * (1 - i[j]);
                to[n + j] = inner * old[j] * f[j] * (1 - f[j]);
                to[2 * n + j] = inner * i[j] * (1 - g[j] * g[j]);
                to[3 * n + j] = out * shown * o[j] * (1 - o[j]);
                cell[j] = inner * f[j];
            }
            if (T* out = h ? data_as<T>(h) + n * row : nullptr)
                INDEPENDENT for (int64_t j = 0; j < n; j++) out[j] = o[j] * formula::tanh(next[j]);
        });
    });
}

}  // namespace NORCH_ISA
