// CPU kernels of the optimizers: the steps of ops/optimizer_formulas.h, in loops.

#include "cpu/backend.h"
#include "cpu/loops/simd.h"
#include "cpu/loops/strided_loops.h"
#include "ops/optimizer_formulas.h"

inline namespace NORCH_ISA {
namespace {

// Operand 0 is the gradient, those that follow are what the step changes.
template <class Step>
void step_loop(const Run& run) {
    using T = typename Step::Element;
    const Step step = *static_cast<const Step*>(run.options);
    T* changed[Step::COUNT];
    for (int k = 0; k < Step::COUNT; k++) changed[k] = reinterpret_cast<T*>(run.data[k + 1]);
    const int64_t n = run.n;
    with_operand<T>(run, 0, [=](auto gradient) {
        INDEPENDENT for (int64_t i = 0; i < n; i++) {
            T x[Step::COUNT];
            UNROLL for (int k = 0; k < Step::COUNT; k++) x[k] = changed[k][i];
            step(gradient[i], x);
            UNROLL for (int k = 0; k < Step::COUNT; k++) changed[k][i] = x[k];
        }
    });
}

// Takes a step with every element of tensors of one shape and of any layouts.
struct OnCPU {
    template <class Step>
    void operator()(const Step& step, const Tensor& gradient, Tensor* const (&changed)[Step::COUNT]) const {
        const Tensor* operands[Step::COUNT + 1] = {&gradient};
        for (int k = 0; k < Step::COUNT; k++) operands[k + 1] = changed[k];
        walk<Step::COUNT + 1>(operands, Step::COUNT, step_loop<Step>, &step);
    }
};

}  // namespace

void sgd_tensor_cpu(Tensor& parameter, const Tensor& gradient, Tensor* velocity, bool first,
                    const SGDOptions& options) {
    with_sgd(parameter, gradient, velocity, first, options, OnCPU());
}

// K(adam, AdamOptions, ...) becomes
//
//     void adam_tensor_cpu(Tensor& parameter, const Tensor& gradient, Tensor* const* state, ...) {
//         for (int64_t i = 0; i < parameter.size; i++) AdamStep(gradient.data[i], {parameter.data[i], exp_avg[i], ...});
//     }
#define OPTIMIZER_CPU(name, Options, ...)                                                                       \
    void name##_tensor_cpu(Tensor& parameter, const Tensor& gradient, Tensor* const* state, const Tensor& step,  \
                           const Options& options) {                                                            \
        with_##name(parameter, gradient, state, step, options, OnCPU());                                        \
    }
OPTIMIZERS(OPTIMIZER_CPU)

}  // namespace NORCH_ISA
