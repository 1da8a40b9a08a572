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

// What Adam and its kin share. The decoupled weight decay of AdamW leaves g alone and takes lr * weight_decay of the
// parameter.
//
// mean   = beta1 * mean + (1 - beta1) * g
// square = beta2 * square + (1 - beta2) * g^2
template <class T>
struct Moments {
    Descent<T> descent;
    T kept;  // of the parameter, after decoupled decay
    T beta1, fresh1, beta2, fresh2;

    template <class Options>
    explicit Moments(const Options& options)
        : descent(options.maximize, options.decoupled ? 0 : options.weight_decay),
          kept(T(options.decoupled ? 1 - options.lr * options.weight_decay : 1)),
          beta1(T(options.beta1)),
          fresh1(T(1 - options.beta1)),
          beta2(T(options.beta2)),
          fresh2(T(1 - options.beta2)) {}

    // Moves both towards a gradient; returns g.
    HOST_DEVICE T update(T gradient, T parameter, T& mean, T& square) const {
        const T g = descent(gradient, parameter);
        mean = beta1 * mean + fresh1 * g;
        square = beta2 * square + fresh2 * (g * g);
        return g;
    }
};

// With the mean and square of Moments:
//
// parameter -= lr * mean' / (sqrt(square') + eps)
//
// mean' = mean / (1 - beta1^step) and square' = square / (1 - beta2^step) make up for the zeros that both began with.
// With amsgrad the largest square so far takes the place of the last. (Kingma and Ba 2015; Reddi and others 2018;
// Loshchilov and Hutter 2019.)
template <class T, bool AMSGRAD>
struct AdamStep {
    enum { MEAN = 1, SQUARE, LARGEST, COUNT = 3 + AMSGRAD };
    using Element = T;
    Moments<T> moments;
    T rate, scale, eps;

    AdamStep(const AdamOptions& options, double step)
        : moments(options),
          rate(T(options.lr / (1 - ::pow(options.beta1, step)))),
          scale(T(::sqrt(1 - ::pow(options.beta2, step)))),
          eps(T(options.eps)) {}

    HOST_DEVICE void operator()(T gradient, T (&x)[COUNT]) const {
        moments.update(gradient, x[0], x[MEAN], x[SQUARE]);
        T square = x[SQUARE];
        if constexpr (AMSGRAD) {
            square = (square > x[LARGEST]) | (square != square) ? square : x[LARGEST];
            x[LARGEST] = square;
        }
        x[0] = moments.kept * x[0] - rate * (x[MEAN] / (formula::sqrt(square) / scale + eps));
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

// square = rho * square + (1 - rho) * g^2
// change = sqrt(delta + eps) / sqrt(square + eps) * g
// delta  = rho * delta + (1 - rho) * change^2
// parameter -= lr * change
//
// (Zeiler 2012.)
template <class T>
struct AdadeltaStep {
    enum { SQUARE = 1, DELTA, COUNT };
    using Element = T;
    Descent<T> descent;
    T lr, rho, fresh, eps;

    explicit AdadeltaStep(const AdadeltaOptions& options)
        : descent(options.maximize, options.weight_decay),
          lr(T(options.lr)),
          rho(T(options.rho)),
          fresh(T(1 - options.rho)),
          eps(T(options.eps)) {}

    HOST_DEVICE void operator()(T gradient, T (&x)[COUNT]) const {
        const T g = descent(gradient, x[0]);
        const T square = rho * x[SQUARE] + fresh * (g * g);
        const T change = formula::sqrt(x[DELTA] + eps) / formula::sqrt(square + eps) * g;
        x[SQUARE] = square;
        x[DELTA] = rho * x[DELTA] + fresh * (change * change);
        x[0] -= lr * change;
    }
};

// parameter = (1 - lr * weight_decay) * parameter - min(lr, 1 / sqrt(step)) * g
//
// The end of a step of Adafactor (Shazeer and Stern 2018), whose rule in tensor operations makes g.
template <class T>
struct AdafactorStep {
    enum { COUNT = 1 };
    using Element = T;
    T kept, rate;

    AdafactorStep(const AdafactorOptions& options, double step)
        : kept(T(1 - options.lr * options.weight_decay)), rate(T(::fmin(options.lr, 1 / ::sqrt(step)))) {}

    HOST_DEVICE void operator()(T gradient, T (&x)[COUNT]) const { x[0] = kept * x[0] - rate * gradient; }
};

// sum += g^2
// parameter -= lr / (1 + (step - 1) * lr_decay) * g / (sqrt(sum) + eps)
//
// (Duchi and others 2011.)
template <class T>
struct AdagradStep {
    enum { SUM = 1, COUNT };
    using Element = T;
    Descent<T> descent;
    T rate, eps;

    AdagradStep(const AdagradOptions& options, double step)
        : descent(options.maximize, options.weight_decay),
          rate(T(options.lr / (1 + (step - 1) * options.lr_decay))),
          eps(T(options.eps)) {}

    HOST_DEVICE void operator()(T gradient, T (&x)[COUNT]) const {
        const T g = descent(gradient, x[0]);
        const T sum = x[SUM] + g * g;
        x[SUM] = sum;
        x[0] -= rate * g / (formula::sqrt(sum) + eps);
    }
};

// mean    = beta1 * mean + (1 - beta1) * g
// largest = max(beta2 * largest, |g| + eps)
// parameter -= lr / (1 - beta1^step) * mean / largest
//
// (Kingma and Ba 2015, section 7.)
template <class T>
struct AdamaxStep {
    enum { MEAN = 1, LARGEST, COUNT };
    using Element = T;
    Descent<T> descent;
    T beta1, fresh, beta2, eps, rate;

    AdamaxStep(const AdamaxOptions& options, double step)
        : descent(options.maximize, options.weight_decay),
          beta1(T(options.beta1)),
          fresh(T(1 - options.beta1)),
          beta2(T(options.beta2)),
          eps(T(options.eps)),
          rate(T(options.lr / (1 - ::pow(options.beta1, step)))) {}

    HOST_DEVICE void operator()(T gradient, T (&x)[COUNT]) const {
        const T g = descent(gradient, x[0]);
        const T mean = beta1 * x[MEAN] + fresh * g;
        const T faded = beta2 * x[LARGEST], now = (g < T(0) ? -g : g) + eps;
        const T largest = (now > faded) | (now != now) ? now : faded;
        x[MEAN] = mean;
        x[LARGEST] = largest;
        x[0] -= rate * mean / largest;
    }
};

// parameter = (1 - lambd * eta) * parameter - eta * g
// average  += mu * (parameter - average)
//
// eta and mu, and those of the next step, are the host's: eta = lr / (1 + lambd * lr * step)^alpha and
// mu = 1 / max(1, step - t0). (Polyak and Juditsky 1992.)
template <class T>
struct ASGDStep {
    enum { AVERAGE = 1, COUNT };
    using Element = T;
    Descent<T> descent;
    T kept, eta, mu;

    ASGDStep(const ASGDOptions& options, double eta, double mu)
        : descent(options.maximize, options.weight_decay), kept(T(1 - options.lambd * eta)), eta(T(eta)), mu(T(mu)) {}

    HOST_DEVICE void operator()(T gradient, T (&x)[COUNT]) const {
        const T parameter = kept * x[0] - eta * descent(gradient, x[0]);
        x[0] = parameter;
        x[AVERAGE] = mu == T(1) ? parameter : x[AVERAGE] + mu * (parameter - x[AVERAGE]);
    }
};

// With the mean and square of Moments:
//
// ahead  = (1 - mu) / (1 - M) * g + mu_next / (1 - M * mu_next) * mean
// parameter -= lr * ahead / (sqrt(square / (1 - beta2^step)) + eps)
//
// with mu = beta1 * (1 - 0.5 * 0.96^(step * momentum_decay)), mu_next that of the next step, and M the product of all
// mu so far. (Dozat 2016.)
template <class T>
struct NAdamStep {
    enum { MEAN = 1, SQUARE, COUNT };
    using Element = T;
    Moments<T> moments;
    T rate, ahead, known, eps;

    NAdamStep(const NAdamOptions& options, double step, double mu, double mu_next, double product)
        : moments(options),
          rate(T(options.lr * (1 - mu) / (1 - product))),
          ahead(T(options.lr * mu_next / (1 - product * mu_next))),
          known(T(1 - ::pow(options.beta2, step))),
          eps(T(options.eps)) {}

    HOST_DEVICE void operator()(T gradient, T (&x)[COUNT]) const {
        const T g = moments.update(gradient, x[0], x[MEAN], x[SQUARE]);
        x[0] = moments.kept * x[0] - (rate * g + ahead * x[MEAN]) / (formula::sqrt(x[SQUARE] / known) + eps);
    }
};

// With the mean and square of Moments:
//
// parameter -= lr * mean'                                                    while rho <= 5
// parameter -= lr * r * mean' * sqrt(1 - beta2^step) / (sqrt(square) + eps)  later
//
// with mean' = mean / (1 - beta1^step), rho = limit - 2 step beta2^step / (1 - beta2^step), limit = 2 / (1 - beta2) - 1
// and r = sqrt((rho - 4) (rho - 2) limit / ((limit - 4) (limit - 2) rho)). (Liu and others 2020.)
template <class T>
struct RAdamStep {
    enum { MEAN = 1, SQUARE, COUNT };
    using Element = T;
    Moments<T> moments;
    T rate, eps;
    bool rectified;

    RAdamStep(const RAdamOptions& options, double step) : moments(options), eps(T(options.eps)) {
        const double power = ::pow(options.beta2, step), known = 1 - power, limit = 2 / (1 - options.beta2) - 1;
        const double rho = limit - 2 * step * power / known;
        rectified = rho > 5;
        double factor = options.lr / (1 - ::pow(options.beta1, step));
        if (rectified)
            factor *= ::sqrt((rho - 4) * (rho - 2) * limit / ((limit - 4) * (limit - 2) * rho)) * ::sqrt(known);
        rate = T(factor);
    }

    HOST_DEVICE void operator()(T gradient, T (&x)[COUNT]) const {
        moments.update(gradient, x[0], x[MEAN], x[SQUARE]);
        const T mean = x[MEAN], square = x[SQUARE];
        x[0] = moments.kept * x[0] - (rectified ? rate * mean / (formula::sqrt(square) + eps) : rate * mean);
    }
};

// size *= larger if g has the sign of the last step's g, smaller if it has the other one; then g = 0
// parameter -= size * sign(g)
//
// (Riedmiller and Braun 1993.)
template <class T>
struct RpropStep {
    enum { LAST = 1, SIZE, COUNT };
    using Element = T;
    Descent<T> descent;
    T smaller, larger, smallest, largest;

    explicit RpropStep(const RpropOptions& options)
        : descent(options.maximize, 0),
          smaller(T(options.smaller)),
          larger(T(options.larger)),
          smallest(T(options.smallest)),
          largest(T(options.largest)) {}

    HOST_DEVICE void operator()(T gradient, T (&x)[COUNT]) const {
        T g = descent(gradient, x[0]);
        const T agreement = g * x[LAST];
        T size = x[SIZE] * (agreement > T(0) ? larger : agreement < T(0) ? smaller : T(1));
        size = size < smallest ? smallest : size > largest ? largest : size;
        g = agreement < T(0) ? T(0) : g;
        x[LAST] = g;
        x[SIZE] = size;
        x[0] -= size * (g > T(0) ? T(1) : g < T(0) ? T(-1) : T(0));
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
void with_adam(Tensor& parameter, const Tensor& gradient, Tensor* const* state, const Tensor& steps,
               const AdamOptions& options, F run) {
    const double step = *data_as<float>(steps) + 1;
    for_real(wide_of(parameter.dtype), [&](auto type) {
        using T = typename decltype(type)::type;
        Tensor *plain[] = {&parameter, state[0], state[1]}, *amsgrad[] = {&parameter, state[0], state[1], state[2]};
        if (options.amsgrad) return run(AdamStep<T, true>(options, step), gradient, amsgrad);
        run(AdamStep<T, false>(options, step), gradient, plain);
    });
}

// state: square_avg, and grad_avg and momentum_buffer if the options ask for them
template <class F>
void with_rmsprop(Tensor& parameter, const Tensor& gradient, Tensor* const* state, const Tensor&,
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

// Of a rule whose state is always there: calls run with the Step of these numbers, on the parameter and its state.
template <template <class> class Step, class F, class... Numbers>
void with_state(Tensor& parameter, const Tensor& gradient, Tensor* const* state, F run, const Numbers&... numbers) {
    for_real(wide_of(parameter.dtype), [&](auto type) {
        using Rule = Step<typename decltype(type)::type>;
        Tensor* changed[Rule::COUNT] = {&parameter};
        for (int k = 1; k < Rule::COUNT; k++) changed[k] = state[k - 1];
        run(Rule(numbers...), gradient, changed);
    });
}

template <class F>
void with_adadelta(Tensor& parameter, const Tensor& gradient, Tensor* const* state, const Tensor&,
                   const AdadeltaOptions& options, F run) {
    with_state<AdadeltaStep>(parameter, gradient, state, run, options);
}

template <class F>
void with_adafactor(Tensor& parameter, const Tensor& gradient, Tensor* const* state, const Tensor& steps,
                    const AdafactorOptions& options, F run) {
    with_state<AdafactorStep>(parameter, gradient, state, run, options, *data_as<float>(steps) + 1.0);
}

template <class F>
void with_adagrad(Tensor& parameter, const Tensor& gradient, Tensor* const* state, const Tensor& steps,
                  const AdagradOptions& options, F run) {
    with_state<AdagradStep>(parameter, gradient, state, run, options, *data_as<float>(steps) + 1.0);
}

template <class F>
void with_adamax(Tensor& parameter, const Tensor& gradient, Tensor* const* state, const Tensor& steps,
                 const AdamaxOptions& options, F run) {
    with_state<AdamaxStep>(parameter, gradient, state, run, options, *data_as<float>(steps) + 1.0);
}

// state: ax, eta, mu
template <class F>
void with_asgd(Tensor& parameter, const Tensor& gradient, Tensor* const* state, const Tensor& steps,
               const ASGDOptions& options, F run) {
    float &eta = *data_as<float>(*state[1]), &mu = *data_as<float>(*state[2]);
    with_state<ASGDStep>(parameter, gradient, state, run, options, double(eta), double(mu));
    const double step = *data_as<float>(steps) + 1.0, past = step - options.t0;
    eta = float(options.lr / ::pow(1 + options.lambd * options.lr * step, options.alpha));
    mu = float(1 / (past > 1 ? past : 1));
}

// state: exp_avg, exp_avg_sq, mu_product
template <class F>
void with_nadam(Tensor& parameter, const Tensor& gradient, Tensor* const* state, const Tensor& steps,
                const NAdamOptions& options, F run) {
    const double step = *data_as<float>(steps) + 1.0;
    const auto momentum_at = [&](double count) {
        return options.beta1 * (1 - 0.5 * ::pow(0.96, count * options.momentum_decay));
    };
    float& product = *data_as<float>(*state[2]);
    const float next = product * float(momentum_at(step));
    with_state<NAdamStep>(parameter, gradient, state, run, options, step, momentum_at(step), momentum_at(step + 1),
                          double(next));
    product = next;  // not before the launch, which may fail
}

template <class F>
void with_radam(Tensor& parameter, const Tensor& gradient, Tensor* const* state, const Tensor& steps,
                const RAdamOptions& options, F run) {
    with_state<RAdamStep>(parameter, gradient, state, run, options, *data_as<float>(steps) + 1.0);
}

template <class F>
void with_rprop(Tensor& parameter, const Tensor& gradient, Tensor* const* state, const Tensor&,
                const RpropOptions& options, F run) {
    with_state<RpropStep>(parameter, gradient, state, run, options);
}

}  // namespace NORCH_ISA
