// What one step of each optimizer does to one element of a parameter, on every device: the rules of torch.optim.
//
// A Step is made of the options, on the host. It takes an element of the gradient and changes COUNT others: x[0] is
// that of the parameter, the rest is what the optimizer remembers of it. Factors that are the same for all elements are
// computed in double.

#pragma once
#include <math.h>

#include "kernels.h"

inline namespace NORCH_ISA {

// The gradient that a rule sees: negated to maximize, plus the weight decay, which pulls towards 0.
template <class T>
struct Descent {
    T sign, decay;
    Descent(int32_t maximize, double weight_decay) : sign(T(maximize ? -1 : 1)), decay(T(weight_decay)) {}
    HOST_DEVICE T operator()(T gradient, T parameter) const {
        const T g = sign * gradient;
        return decay != T(0) ? g + decay * parameter : g;
    }
};

// v = g at first, then momentum * v + (1 - dampening) * g
// parameter -= lr * (nesterov: g + momentum * v, else v, or g without momentum)
template <class T, bool MOMENTUM>
struct SGDStep {
    enum { VELOCITY = 1, COUNT = 1 + MOMENTUM };
    using Element = T;
    Descent<T> descent;
    T lr, momentum, fresh;
    bool first, nesterov;

    SGDStep(const SGDOptions& options, bool first)
        : descent(options.maximize, options.weight_decay),
          lr(T(options.lr)),
          momentum(T(options.momentum)),
          fresh(T(1 - options.dampening)),
          first(first),
          nesterov(options.nesterov) {}

    HOST_DEVICE void operator()(T gradient, T (&x)[COUNT]) const {
        T g = descent(gradient, x[0]);
        if constexpr (MOMENTUM) {
            const T v = first ? g : momentum * x[VELOCITY] + fresh * g;
            x[VELOCITY] = v;
            g = nesterov ? g + momentum * v : v;
        }
        x[0] -= lr * g;
    }
};

// mean   = beta1 * mean + (1 - beta1) * g
// square = beta2 * square + (1 - beta2) * g^2
// parameter -= lr * mean' / (sqrt(square') + eps)
//
// mean' = mean / (1 - beta1^step) and square' = square / (1 - beta2^step) make up for the zeros that both began with.
// With amsgrad the largest square so far takes the place of the last. The decoupled weight decay of AdamW leaves g
// alone and takes lr * weight_decay of the parameter. (Kingma and Ba 2015; Reddi and others 2018; Loshchilov and Hutter
// 2019.)
template <class T, bool AMSGRAD>
struct AdamStep {
    enum { MEAN = 1, SQUARE, LARGEST, COUNT = 3 + AMSGRAD };
    using Element = T;
    Descent<T> descent;
    T kept;  // of the parameter, after decoupled decay
    T beta1, fresh1, beta2, fresh2;
    T rate, scale, eps;

    AdamStep(const AdamOptions& options, double step)
        : descent(options.maximize, options.decoupled ? 0 : options.weight_decay),
          kept(T(options.decoupled ? 1 - options.lr * options.weight_decay : 1)),
          beta1(T(options.beta1)),
          fresh1(T(1 - options.beta1)),
          beta2(T(options.beta2)),
          fresh2(T(1 - options.beta2)),
          rate(T(options.lr / (1 - ::pow(options.beta1, step)))),
          scale(T(::sqrt(1 - ::pow(options.beta2, step)))),
          eps(T(options.eps)) {}

    HOST_DEVICE void operator()(T gradient, T (&x)[COUNT]) const {
        const T g = descent(gradient, x[0]);
        const T mean = beta1 * x[MEAN] + fresh1 * g;
        T square = beta2 * x[SQUARE] + fresh2 * (g * g);
        x[MEAN] = mean;
        x[SQUARE] = square;
        if constexpr (AMSGRAD) {
            square = (square > x[LARGEST]) | (square != square) ? square : x[LARGEST];
            x[LARGEST] = square;
        }
        x[0] = kept * x[0] - rate * (mean / (formula::sqrt(square) / scale + eps));
    }
};

// square = alpha * square + (1 - alpha) * g^2
// v = momentum * v + g / (sqrt(square) + eps)
// parameter -= lr * v
//
// Centered, square - mean^2 takes the place of square, with a running mean of g; v is kept only with
// momentum. (Hinton, "Neural networks for machine learning", lecture 6; Graves 2013.)
template <class T, bool CENTERED, bool MOMENTUM>
struct RMSpropStep {
    enum { SQUARE = 1, MEAN = 2, VELOCITY = 2 + CENTERED, COUNT = 2 + CENTERED + MOMENTUM };
    using Element = T;
    Descent<T> descent;
    T lr, alpha, fresh, eps, momentum;

    explicit RMSpropStep(const RMSpropOptions& options)
        : descent(options.maximize, options.weight_decay),
          lr(T(options.lr)),
          alpha(T(options.alpha)),
          fresh(T(1 - options.alpha)),
          eps(T(options.eps)),
          momentum(T(options.momentum)) {}

    HOST_DEVICE void operator()(T gradient, T (&x)[COUNT]) const {
        const T g = descent(gradient, x[0]);
        T square = alpha * x[SQUARE] + fresh * (g * g);
        x[SQUARE] = square;
        if constexpr (CENTERED) {
            const T mean = alpha * x[MEAN] + fresh * g;
            x[MEAN] = mean;
            square -= mean * mean;
        }
        T v = g / (formula::sqrt(square) + eps);
        if constexpr (MOMENTUM) {
            v += momentum * x[VELOCITY];
            x[VELOCITY] = v;
        }
        x[0] -= lr * v;
    }
};

// ---- Which step, on which tensors --------------------------------------------------------------------------------

// Each calls run(step, gradient, changed): `changed` are the tensors of the elements x. A device loops over them there.

template <class F>
void with_sgd(Tensor& parameter, const Tensor& gradient, Tensor* velocity, bool first, const SGDOptions& options,
              F run) {
    for_real(wide_of(parameter.dtype), [&](auto type) {
        using T = typename decltype(type)::type;
        Tensor *plain[] = {&parameter}, *with_momentum[] = {&parameter, velocity};
        if (velocity) return run(SGDStep<T, true>(options, first), gradient, with_momentum);
        run(SGDStep<T, false>(options, first), gradient, plain);
    });
}

// state: exp_avg, exp_avg_sq and, with amsgrad, max_exp_avg_sq
template <class F>
void with_adam(Tensor& parameter, const Tensor& gradient, Tensor* const* state, double step, const AdamOptions& options,
               F run) {
    for_real(wide_of(parameter.dtype), [&](auto type) {
        using T = typename decltype(type)::type;
        Tensor *plain[] = {&parameter, state[0], state[1]}, *amsgrad[] = {&parameter, state[0], state[1], state[2]};
        if (options.amsgrad) return run(AdamStep<T, true>(options, step), gradient, amsgrad);
        run(AdamStep<T, false>(options, step), gradient, plain);
    });
}

// state: square_avg, and grad_avg and momentum_buffer if the options ask for them
template <class F>
void with_rmsprop(Tensor& parameter, const Tensor& gradient, Tensor* const* state, double,
                  const RMSpropOptions& options, F run) {
    for_real(wide_of(parameter.dtype), [&](auto type) {
        using T = typename decltype(type)::type;
        Tensor *plain[] = {&parameter, state[0]}, *centered[] = {&parameter, state[0], state[1]};
        Tensor *momentum[] = {&parameter, state[0], state[2]}, *both[] = {&parameter, state[0], state[1], state[2]};
        if (options.centered && options.momentum > 0) return run(RMSpropStep<T, true, true>(options), gradient, both);
        if (options.centered) return run(RMSpropStep<T, true, false>(options), gradient, centered);
        if (options.momentum > 0) return run(RMSpropStep<T, false, true>(options), gradient, momentum);
        run(RMSpropStep<T, false, false>(options), gradient, plain);
    });
}

}  // namespace NORCH_ISA
