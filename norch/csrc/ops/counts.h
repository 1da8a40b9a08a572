// Random counts, of the Poisson and the binomial distribution, for CPU and CUDA alike: by waiting times for small means,
// and by W. Hoermann's transformed rejection (1993) for large ones. As in ops/philox.h the arithmetic is portable.

#pragma once
#include <math.h>

#include "ops/philox.h"

constexpr double LARGE_MEAN = 10;  // from which on rejection is used: few draws are refused there

// The numbers uniform in (0, 1) of element i of a draw, as many as it asks for: two from each of its blocks.
class Uniforms {
    enum { NEXT_BLOCK = 40 };  // elements are fewer than 2^40
    Stream stream;
    uint64_t index;
    Block block = {};
    bool has_second = false;

public:
    HOST_DEVICE Uniforms(Stream stream, int64_t i) : stream(stream), index(uint64_t(i)) {}
    HOST_DEVICE double next() {
        if (!has_second) {
            block = philox(stream, index);
            index += uint64_t(1) << NEXT_BLOCK;
        }
        const uint64_t bits = has_second ? joined(block.word[2], block.word[3]) : joined(block.word[0], block.word[1]);
        has_second = !has_second;
        return (double(bits >> 12) + 0.5) * 0x1p-52;
    }
};

// log(1 - p) for 0 <= p <= 1/2
HOST_DEVICE double log_of_rest(double p) { return p < 0.25 ? twice_atanh(-p / (2 - p)) : log_of(1 - p); }

// log(k!) of a whole number: Stirling's series from 20 on
HOST_DEVICE double log_factorial(double k) {
    if (k < 20) {
        double product = 1;
        for (double factor = 2; factor <= k; factor++) product *= factor;
        return log_of(product);
    }
    const double inverse = 1 / k, square = inverse * inverse;
    double series = rounded_sum(square, -1.0 / 1680, 1.0 / 1260);
    series = rounded_sum(series, square, -1.0 / 360);
    series = rounded_sum(series, square, 1.0 / 12);
    return rounded_sum(series, inverse, rounded_sum(k + 0.5, log_of(k), -k) + 0.918938533204672741780);
}

// The whole numbers that a hat over a distribution proposes, until one is accepted: k = (2 a / edge + b) u + center,
// rounded down, for u uniform within (-1/2, 1/2) and `edge` its distance from there. `log_odds(k)` is the logarithm of
// a probability over that of the mode, times a constant; `quick` is how much of the height of the hat always fits.
template <class F>
HOST_DEVICE double accepted(Uniforms& uniform, double a, double b, double center, double scale, double quick,
                            double most, F log_odds) {
    while (true) {
        const double u = uniform.next() - 0.5, v = uniform.next(), edge = 0.5 - fabs(u);
        const double k = floor(rounded_sum(2 * a / edge + b, u, center));
        if (!(k >= 0 && k <= most)) continue;
        if (edge >= 0.07 && v <= quick) return k;
        if (log_of(v * scale / (a / (edge * edge) + b)) <= log_odds(k)) return k;
    }
}

// e^-x for 0 <= x < LARGE_MEAN: the 64th power of what Taylor's series gives for x / 64
HOST_DEVICE double power_of_less(double x) {
    const double t = x * (-1.0 / 64);
    double y = 1.0;
    for (int k = 11; k > 0; k--) y = rounded_sum(t / k, y, 1.0);
    for (int k = 0; k < 6; k++) y *= y;
    return y;
}

HOST_DEVICE double poisson_count(double mean, Uniforms& uniform) {
    if (mean < LARGE_MEAN) {  // how many exponential times, -log(u), of rate 1 fit into the mean: u multiply
        double count = 0;
        const double least = power_of_less(mean);
        for (double product = uniform.next(); product > least; product *= uniform.next()) count++;
        return count;
    }
    const double b = rounded_sum(2.53, sqrt(mean), 0.931), a = rounded_sum(0.02483, b, -0.059), log_mean = log_of(mean);
    return accepted(uniform, a, b, mean + 0.43, 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2), INFINITY,
                    [=](double k) { return rounded_sum(k, log_mean, -mean) - log_factorial(k); });
}

// Of n trials, for a chance of at most 1/2
HOST_DEVICE double rare_successes(double n, double p, Uniforms& uniform) {
    if (p == 0) return 0;
    if (n * p < LARGE_MEAN) {  // how many waits for a success, each of geometrically many trials, fit into the trials
        const double log_failure = log_of_rest(p);
        for (double used = 0, count = 0;; count++) {
            const double wait = ceil(log_of(uniform.next()) / log_failure);
            used += wait < 1 ? 1 : wait;
            if (used > n) return count;
        }
    }
    const double spread = sqrt(n * p * (1 - p)), b = rounded_sum(2.53, spread, 1.15);
    const double a = rounded_sum(0.01, p, rounded_sum(0.0248, b, -0.0873)), mode = floor((n + 1) * p);
    const double of_mode = log_factorial(mode) + log_factorial(n - mode), log_odds = log_of(p) - log_of_rest(p);
    return accepted(uniform, a, b, rounded_sum(n, p, 0.5), (2.83 + 5.1 / b) * spread, 0.92 - 4.2 / b, n, [=](double k) {
        return rounded_sum(k - mode, log_odds, of_mode) - log_factorial(k) - log_factorial(n - k);
    });
}

HOST_DEVICE double binomial_count(double trials, double chance, Uniforms& uniform) {
    const double n = floor(trials);
    return chance > 0.5 ? n - rare_successes(n, 1 - chance, uniform) : rare_successes(n, chance, uniform);
}
