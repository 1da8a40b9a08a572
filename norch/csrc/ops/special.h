// Special functions: the gamma, error and Bessel families, zeta, orthogonal polynomials. All are computed in double,
// accurate to a few units in its last place but near zeros of the function, and rounded for a float.
//
// The methods are those of the handbooks (Abramowitz and Stegun; NIST DLMF, dlmf.nist.gov): a convergent series where
// its terms do not cancel, an asymptotic expansion where it is exact to double, an integral or an iteration in between.
// So no table of coefficients has to be trusted.

#pragma once
#include <math.h>
#include <stdint.h>

#include "ops/wide_special.h"

#ifdef __CUDACC__
#define SPECIAL __host__ __device__ __noinline__ inline  // long, so one copy serves every loop
#else
#define SPECIAL inline __attribute__((noinline))
#endif

inline namespace NORCH_ISA {
namespace formula {

const double PI = 3.14159265358979323846, ROOT_PI = 1.77245385090551602730, EPSILON = 1.1102230246251565e-16;

// ---- Gamma -------------------------------------------------------------------------------------------------------

SPECIAL double lgamma(double x) {
#ifdef __CUDA_ARCH__
    return ::lgamma(x);
#else
    int sign;  // lgamma() would write it to a global variable
    return ::lgamma_r(x, &sign);
#endif
}

// The recurrence psi(x) = psi(x + 1) - 1 / x up to where the asymptotic series (DLMF 5.11.2) is exact.
SPECIAL double digamma(double x) {
    if (x == 0.0) return ::copysign(INFINITY, -x);
    if (x < 0.0) {  // reflection, DLMF 5.5.4
        const double whole = ::trunc(x);
        if (x == whole) return NAN;
        return digamma(1.0 - x) - PI / ::tan(PI * (x - whole));
    }
    double below = 0.0;
    for (; x < 12.0; x += 1.0) below -= 1.0 / x;
    const double z = 1.0 / (x * x);
    const double tail =
        z * (1.0 / 12 -
             z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
    return below + ::log(x) - 0.5 / x - tail;
}

// q^-s: where s is whole, as in the derivatives of digamma, by products.
SPECIAL double inverse_power(double q, double s) {
    if (s > 16.0 || s != ::floor(s)) return ::pow(q, -s);
    double product = q;
    for (int k = 1; k < int(s); k++) product *= q;
    return 1.0 / product;
}

// Hurwitz's zeta function, the sum of (q + k)^-s, by Euler and Maclaurin (DLMF 25.11.5).
SPECIAL double zeta(double s, double q) {
    if (s == 1.0) return INFINITY;
    if (!(s > 1.0) || q != q) return NAN;
    if (q == INFINITY) return 0.0;
    if (q <= 0.0) {
        if (q == ::floor(q)) return INFINITY;
        if (s != ::floor(s)) return NAN;  // a power of a negative number
    }
    const double ratios[] = {1.0 / 12,
                             -1.0 / 720,
                             1.0 / 30240,
                             -1.0 / 1209600,
                             1.0 / 47900160,
                             -691.0 / 1307674368000.0,
                             1.0 / 74724249600.0,
                             -3617.0 / 10670622842880000.0};
    double total = 0.0;
    for (; q < 12.0 + s; q += 1.0) {
        const double term = inverse_power(q, s);
        total += term;
        if (q > 0.0 && term <= EPSILON * total) return total;  // both may be 0
    }
    const double power = inverse_power(q, s);
    total += power * (q / (s - 1.0) + 0.5);
    double factor = power * s / q;  // s (s + 1) ... q^(-s - 2j + 1)
    for (int j = 0; j < 8; j++) {
        total += factor * ratios[j];
        factor *= (s + 2 * j + 1) * (s + 2 * j + 2) / (q * q);
    }
    return total;
}

// Below 0 by reflection, DLMF 5.15.6.
SPECIAL double trigamma(double x) {
    if (!(x < 0.0) || x == ::floor(x)) return zeta(2.0, x);
    const double off = x - ::round(x), sine = ::sin(PI * off) / PI;
    return 1.0 / (sine * sine) - zeta(2.0, 1.0 - x);
}

// log(1 + off) - off; its series where the two cancel
SPECIAL double log1p_bend(double off) {
    if (::fabs(off) >= 0.1) return ::log1p(off) - off;
    double power = -off * off, bend = 0.0;
    for (int k = 2; k < 20; k++, power *= -off) bend += power / k;
    return bend;
}

// x^a e^-x / gamma(a + 1). For a large a its parts are huge: Stirling's series leaves what remains of them.
SPECIAL double gamma_density(double a, double x) {
    if (a < 20.0) return ::exp(a * ::log(x) - x - lgamma(a + 1.0));
    const double z = 1.0 / (a * a);
    const double correction = (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z / 1680))) / a;
    return ::exp(a * log1p_bend((x - a) / a) - correction) / ::sqrt(2.0 * PI * a);
}

// The regularized incomplete gamma functions P and Q = 1 - P.
// Of a large a, by the uniform expansion (DLMF 8.12.3 and 4): its first term is exact to double from 1e8 on.
SPECIAL double incomplete_gamma_of_large(double a, double x, bool upper) {
    const double off = (x - a) / a, bend = log1p_bend(off), eta = ::copysign(::sqrt(-2.0 * bend), off);
    const double first = ::fabs(eta) < 1e-4 ? eta * (1.0 / 12 - eta * (2.0 / 135)) - 1.0 / 3 : 1.0 / off - 1.0 / eta;
    const double rest = ::exp(a * bend) / ::sqrt(2.0 * PI * a) * first, z = eta * ::sqrt(0.5 * a);
    return upper ? 0.5 * ::erfc(z) + rest : 0.5 * ::erfc(-z) - rest;
}

// P and Q by a series below, Legendre's continued fraction above (DLMF 8.7.1 and 8.9.2).
SPECIAL double incomplete_gamma(double a, double x, bool upper) {
    if (!(a >= 0.0) || !(x >= 0.0)) return NAN;
    const bool all = a == 0.0 ? x > 0.0 : isinf(x) && !isinf(a),
               none = a != 0.0 && (x == 0.0 || (isinf(a) && !isinf(x)));
    if (all || none) return all == upper ? 0.0 : 1.0;
    if (a == 0.0 || isinf(a)) return NAN;
    if (a > 1e8) return incomplete_gamma_of_large(a, x, upper);  // the others would take its root many terms
    const double density = gamma_density(a, x);
    if (x < a + 1.0) {
        double term = 1.0, total = 1.0;
        for (double n = a + 1.0; term > EPSILON * total; n += 1.0) total += term *= x / n;
        const double p = density * total;
        return upper ? 1.0 - p : p;
    }
    // by Lentz's method
    double b = x + 1.0 - a, c = 1e300, d = 1.0 / b, fraction = d;
    for (double n = 1.0; n < 1e6; n += 1.0) {
        const double step = n * (a - n);
        b += 2.0;
        d = 1.0 / (step * d + b);
        c = b + step / c;
        fraction *= c * d;
        if (::fabs(c * d - 1.0) < 2 * EPSILON) break;
    }
    const double q = density * a * fraction;
    return upper ? q : 1.0 - q;
}
SPECIAL double igamma(double a, double x) { return incomplete_gamma(a, x, false); }
SPECIAL double igammac(double a, double x) { return incomplete_gamma(a, x, true); }

// ---- Error function ----------------------------------------------------------------------------------------------

// exp(x^2) erfc(x), which exists where erfc is 0. The rounding error of x^2 is made good: exp would magnify it.
SPECIAL double erfcx(double x) {
    if (x < 10.0) {
        const double square = x * x, lost = ::fma(x, x, -square);
        const double grown = ::exp(square);
        return isinf(grown) ? grown : grown * (1.0 + lost) * ::erfc(x);
    }
    const double z = 0.5 / (x * x);
    double term = 1.0, total = 1.0;  // DLMF 7.12.1
    for (int k = 1; k < 24 && ::fabs(term) > EPSILON; k += 2) total += term *= -k * z;
    return total / (x * ROOT_PI);
}

// The y >= 0 with erfc(y) = c, for c in (0, 1]: Newton's steps on log(erfc), which is nearly a parabola.
SPECIAL double inverse_erfc(double c) {
    const double w = -::log(c);
    double y = w < 1.0 ? 0.886 * (1.0 - c) : ::sqrt(w > 3.0 ? w - 0.5 * ::log(PI * w) : 0.6 * w);
    for (int k = 0; k < 12; k++) {
        const double scaled = erfcx(y), step = (::log(scaled) - y * y + w) * 0.5 * ROOT_PI * scaled;
        y += step;
        if (::fabs(step) < 1e-12 * y) break;
    }
    return y;
}

SPECIAL double log_ndtr(double x) {
    const double t = x * 0.70710678118654752440;
    return x < -1.0 ? ::log(0.5 * erfcx(-t)) - t * t : ::log1p(-0.5 * ::erfc(t));
}
SPECIAL double ndtri(double p) {
    if (!(p >= 0.0 && p <= 1.0)) return NAN;
    if (p == 0.0 || p == 1.0) return p == 0.0 ? -INFINITY : INFINITY;
    const double root2 = 1.41421356237309504880;
    return p < 0.25 ? -root2 * inverse_erfc(2.0 * p) : root2 * erfinv(2.0 * p - 1.0);
}

// ---- Bessel functions --------------------------------------------------------------------------------------------

// e^-|x| I_order(x), of order 0 or 1: the power series has no signs to cancel, the asymptotic one (DLMF 10.40.1) is
// exact from 20 on.
SPECIAL double scaled_i(int order, double x) {
    const double size = ::fabs(x);
    double total = 1.0, term = 1.0;
    if (size < 20.0) {
        const double z = 0.25 * x * x;
        for (int k = 1; term > EPSILON * total; k++) total += term *= z / (k * double(k + order));
        return ::exp(-size) * total * (order ? 0.5 * x : 1.0);
    }
    if (isinf(size)) return ::copysign(0.0, order ? x : 1.0);
    for (int k = 1; k < 40 && ::fabs(term) > EPSILON; k++) {
        const double odd = 2 * k - 1;
        total += term *= -(4 * order - odd * odd) / (8 * k * size);
    }
    return ::copysign(total / (::sqrt(2.0 * PI) * ::sqrt(size)), order ? x : 1.0);
}
SPECIAL double i0e(double x) { return scaled_i(0, x); }
SPECIAL double i1e(double x) { return scaled_i(1, x); }
SPECIAL double i_of(int order, double x) {  // e^|x| in two factors: the first of them does not overflow
    const double half = ::exp(0.5 * ::fabs(x));
    return isinf(x) ? (order ? x : ::fabs(x)) : half * scaled_i(order, x) * half;
}
SPECIAL double i0(double x) { return i_of(0, x); }
SPECIAL double i1(double x) { return i_of(1, x); }

// e^x K_order(x), of order 0 or 1: DLMF 10.31.1 and 2 below 1, above it the integral of exp(-x (cosh t - 1)) cosh(order t)
// (DLMF 10.32.9), whose trapezoidal sums converge as fast as the integrand decays.
SPECIAL double scaled_k(int order, double x) {
    if (!(x >= 0.0)) return NAN;
    if (x == 0.0) return INFINITY;
    if (isinf(x)) return 0.0;
    if (x < 1.0) {
        const double z = 0.25 * x * x, log_half = ::log(0.5 * x);
        double term = order ? 0.5 * x : 1.0, psi = -0.57721566490153286061, total = 0.0;  // psi(k + 1)
        for (int k = 0; k < 20; k++) {
            const double next = psi + 1.0 / (k + 1);
            total += term * (order ? log_half - 0.5 * (psi + next) : psi - log_half);
            term *= z / ((k + 1) * double(k + 1 + order));
            psi = next;
        }
        return ::exp(x) * (order ? 1.0 / x + total : total);
    }
    const double step = ::fmin(0.25, 0.7 / ::sqrt(x));
    double total = 0.5;
    for (int k = 1; k < 64; k++) {
        const double s = ::sinh(0.5 * k * step), decay = ::exp(-2.0 * (x * s) * s);  // 2 x may be infinite
        total += decay * (order ? ::cosh(k * step) : 1.0);
        if (decay < 1e-19) break;
    }
    return step * total;
}
SPECIAL double scaled_modified_bessel_k0(double x) { return scaled_k(0, x); }
SPECIAL double scaled_modified_bessel_k1(double x) { return scaled_k(1, x); }
SPECIAL double modified_bessel_k0(double x) { return ::exp(-x) * scaled_k(0, x); }
SPECIAL double modified_bessel_k1(double x) { return ::exp(-x) * scaled_k(1, x); }

SPECIAL double bessel_j0(double x) { return ::j0(x); }
SPECIAL double bessel_j1(double x) { return ::j1(x); }
SPECIAL double bessel_y0(double x) { return x < 0.0 ? NAN : ::y0(x); }
SPECIAL double bessel_y1(double x) { return x < 0.0 ? NAN : ::y1(x); }
SPECIAL double spherical_bessel_j0(double x) {
    if (isinf(x)) return 0.0;
    return x == 0.0 ? 1.0 : ::sin(x) / x;
}

// Airy's function: Maclaurin's series around 0 (DLMF 9.4.1), the integral of DLMF 9.5.8 right of it, and left of it the
// asymptotic expansion (DLMF 9.7.9), both exact to double there. Between -9 and -2 the differential equation y'' = x y
// is followed by Taylor steps from the series.
SPECIAL double airy_ai(double x) {
    if (x != x) return x;
    if (isinf(x)) return 0.0;
    const double at_zero = 0.35502805388781723926, slope_at_zero = -0.25881940379280679840;
    if (x > 2.0) {  // e^-zeta / pi times the integral of exp(-sqrt(x) t^2) cos(t^3 / 3)
        const double root = ::sqrt(x), zeta = 2.0 / 3.0 * x * root, step = 0.35 / ::sqrt(root);
        double total = 0.5;
        for (int k = 1; k < 64; k++) {
            const double t = k * step, decay = ::exp(-root * t * t);
            total += decay * ::cos(t * t * t / 3.0);
            if (decay < 1e-19) break;
        }
        return ::exp(-zeta) / PI * step * total;
    }
    if (x < -9.0) {
        const double zeta = 2.0 / 3.0 * -x * ::sqrt(-x);
        double even = 0.0, odd = 0.0, term = 1.0;  // u_k / zeta^k with signs + + - -
        for (int k = 0; k < 16 && ::fabs(term) > EPSILON; k++) {
            ((k & 1) ? odd : even) += (k & 2) ? -term : term;
            term *= (6 * k + 5) * double(6 * k + 3) * (6 * k + 1) / (216.0 * (k + 1) * (2 * k + 1) * zeta);
        }
        return (::cos(zeta - 0.25 * PI) * even + ::sin(zeta - 0.25 * PI) * odd) / (ROOT_PI * ::sqrt(::sqrt(-x)));
    }
    double value = at_zero, slope = slope_at_zero, from = 0.0;
    while (true) {  // Taylor's coefficients at `from`: (n + 1) (n + 2) c[n + 2] = from c[n] + c[n - 1]
        const double h = ::fmin(::fmax(x - from, -1.0), 1.0);
        double before = 0.0, current = value, next = slope, power = h, sum = value + slope * h, rate = slope;
        for (int n = 0; n < 60; n++) {
            const double following = (from * current + before) / ((n + 1) * double(n + 2));
            rate += (n + 2) * following * power;
            power *= h;
            sum += following * power;
            before = current, current = next, next = following;
        }
        from += h;
        if (from == x) return sum;
        value = sum, slope = rate;
    }
}

// ---- Orthogonal polynomials --------------------------------------------------------------------------------------

// Elements side by side, which a loop in blocks (cpu/loops/block_loops.h) hands over together
template <class T, int N>
struct Several {
    T at[N];
};

// p[0] = 1, p[1] = first, p[k + 1] = (a(k) x + b(k)) p[k] - c(k) p[k - 1]; 0 for a negative degree, NaN above the degrees
// that a float32 tells apart: the steps are taken one by one, and nothing could interrupt them. Behind an infinity comes
// NaN, as in PyTorch, because the sign of what overflowed is lost.
template <class T, int N, class First, class Step>
HOST_DEVICE Several<T, N> polynomials(const Several<T, N>& x, const Several<T, N>& degree, First first, Step step) {
    const double highest = 1 << 24;
    double last[N], before[N], current[N];
    int64_t going = 0;
    for (int i = 0; i < N; i++) {
        before[i] = 1.0, current[i] = first(double(x.at[i]));
        last[i] = degree.at[i] <= highest ? double(degree.at[i]) : 0.0;
        going |= int64_t(last[i] >= 2.0);
    }
    for (double k = 1.0; going; k++) {
        going = 0;
        for (int i = 0; i < N; i++) {
            const double next = step(k, double(x.at[i]), current[i], before[i]);
            const bool taken = last[i] >= k + 1.0;
            before[i] = taken ? current[i] : before[i];
            current[i] = taken ? next : current[i];
            going |= int64_t((last[i] >= k + 2.0) & (next == next));
        }
    }
    Several<T, N> results;
    for (int i = 0; i < N; i++) {
        const double least = degree.at[i] > T(-1) ? 1.0 : 0.0, p = degree.at[i] < T(1) ? least : current[i];
        results.at[i] = T(degree.at[i] <= highest ? p : NAN);
    }
    return results;
}

#define POLYNOMIAL(name, first, next)                                                               \
    template <class T, int N>                                                                       \
    SPECIAL Several<T, N> name(const Several<T, N>& x, const Several<T, N>& n) {                    \
        return polynomials(                                                                         \
            x, n, [](double x) { return first; },                                                   \
            [](double k, double x, double p, double q) { return (void)k, next; });                  \
    }                                                                                               \
    template <class T>                                                                              \
    HOST_DEVICE T name(T x, T n) {                                                                  \
        return name(Several<T, 1>{{x}}, Several<T, 1>{{n}}).at[0];                                  \
    }

// Of Chebyshev, the four kinds
POLYNOMIAL(chebyshev_polynomial_t, x, 2.0 * x * p - q)
POLYNOMIAL(chebyshev_polynomial_u, 2.0 * x, 2.0 * x * p - q)
POLYNOMIAL(chebyshev_polynomial_v, 2.0 * x - 1.0, 2.0 * x * p - q)
POLYNOMIAL(chebyshev_polynomial_w, 2.0 * x + 1.0, 2.0 * x * p - q)
POLYNOMIAL(hermite_polynomial_h, 2.0 * x, 2.0 * (x * p - k * q))
POLYNOMIAL(hermite_polynomial_he, x, p* x - k * q)
POLYNOMIAL(laguerre_polynomial_l, 1.0 - x, ((2.0 * k + 1.0 - x) * p - k * q) / (k + 1.0))
POLYNOMIAL(legendre_polynomial_p, x, ((2.0 * k + 1.0) * x * p - k * q) / (k + 1.0))
#undef POLYNOMIAL

// ---- sinc ----------------------------------------------------------------------------------------------------------

// sin(pi x) / (pi x). The angle of what is Ordinary to it is so to sin.
const float LARGEST_TURN = 1e5f;
template <class T> HOST_DEVICE T over_angle(T sine, T angle) { return angle == T(0) ? T(1) : sine / angle; }
HOST_DEVICE double sinc(OrdinaryDouble x) { return over_angle(sin(OrdinaryDouble(x.value * PI)), x.value * PI); }
HOST_DEVICE double sinc(double x) {
    return is_ordinary_angle(x) ? sinc(OrdinaryDouble(x)) : over_angle(::sin(x * PI), x * PI);
}
HOST_DEVICE float sinc(Ordinary x) { return over_angle(sin(Ordinary(x.value * float(PI))), x.value * float(PI)); }
HOST_DEVICE float sinc(float x) {
    return is_within(x, LARGEST_TURN) ? sinc(Ordinary(x)) : over_angle(sin(x * float(PI)), x * float(PI));
}

// ---- The same of a float, but for those of wide_special.h -----------------------------------------------------------------------------------------

#define UNARY_OF_FLOAT(name) \
    SPECIAL float name(float x) { return float(name(double(x))); }
#define BINARY_OF_FLOAT(name) \
    SPECIAL float name(float x, float y) { return float(name(double(x), double(y))); }

#define OSCILLATING(name) \
    SPECIAL float name(float x) { return is_within(x, LARGEST_PHASE) ? name(Ordinary(x)) : float(name(double(x))); }

OSCILLATING(bessel_j0)
OSCILLATING(bessel_j1)
OSCILLATING(bessel_y0)
OSCILLATING(bessel_y1)
OSCILLATING(spherical_bessel_j0)
#undef OSCILLATING
UNARY_OF_FLOAT(log_ndtr)
SPECIAL float airy_ai(float x) {
    return (x >= 0.0f) & (x <= LARGEST_AIRY) ? airy_ai(Ordinary(x)) : float(airy_ai(double(x)));
}
BINARY_OF_FLOAT(zeta)
#undef UNARY_OF_FLOAT
#undef BINARY_OF_FLOAT

HOST_DEVICE float igamma(Ordinary a, Ordinary x) { return incomplete_gamma(a, x, false); }
HOST_DEVICE float igammac(Ordinary a, Ordinary x) { return incomplete_gamma(a, x, true); }
SPECIAL float igamma(float a, float x) {
    return is_ordinary_gamma(a, x) ? igamma(Ordinary(a), Ordinary(x)) : float(igamma(double(a), double(x)));
}
SPECIAL float igammac(float a, float x) {
    return is_ordinary_gamma(a, x) ? igammac(Ordinary(a), Ordinary(x)) : float(igammac(double(a), double(x)));
}

}  // namespace formula
}  // namespace NORCH_ISA
