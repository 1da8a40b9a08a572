// The largest error, in units of the last place, of each function of one float32 operand, over all 2^32 floats:
//
//     g++ -std=c++17 -O3 -fno-math-errno -fno-trapping-math -fwrapv -DNORCH_ISA=avx2 -mavx2 -mfma -mf16c -Inorch/csrc \
//         -o build/ulps tools/ulps.cpp && build/ulps [--stride N] [name ...]
//
// The truth is the same function of the double, by the C library or by ops/special.h. A result also counts as wrong
// (error "inf") if it is NaN, infinite or 0 where the truth is not, or if its zero has another sign.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/formulas.h"
#include "ops/special.h"

using namespace NORCH_ISA;

static float float_of(uint32_t bits) { return formula::bits_as<float>(bits); }

static double error(float actual, double truth) {
    const float rounded = float(truth);
    if (truth != truth || actual != actual) return (truth != truth) == (actual != actual) ? 0.0 : INFINITY;
    if (isinf(rounded) || isinf(actual)) {  // what rounds to infinity is at least 2^128 (1 - 2^-25)
        if (rounded == actual) return 0.0;
        if (isinf(truth) || signbit(actual) != signbit(truth)) return INFINITY;
        return fabs((isinf(actual) ? copysign(0x1p128, truth) : double(actual)) -
                    copysign(fmin(fabs(truth), 0x1p128), truth)) /
               0x1p104;
    }
    if (rounded == 0.0f && actual == 0.0f) return truth == 0.0 && signbit(actual) != signbit(truth) ? INFINITY : 0.0;
    int exponent;
    frexp(truth, &exponent);
    const double unit = ldexp(1.0, (exponent < -125 ? -125 : exponent) - 24);
    return fabs(double(actual) - truth) / unit;
}

template <class F, class G>
static void check(const char* name, int64_t stride, F function, G truth) {
    enum { BLOCK = 4096 };
    double worst = 0.0;
    float where = 0.0f;
    for (int64_t start = 0; start < (int64_t(1) << 32); start += BLOCK * stride) {
        float x[BLOCK], y[BLOCK];
        for (int i = 0; i < BLOCK; i++) x[i] = float_of(uint32_t(start + i * stride));
        for (int i = 0; i < BLOCK; i++) y[i] = function(x[i]);
        for (int i = 0; i < BLOCK; i++) {
            const double e = error(y[i], truth(double(x[i])));
            if (e > worst) worst = e, where = x[i];
        }
    }
    printf("%-28s %6.3f ULP at %.9g\n", name, worst, double(where));
    fflush(stdout);
}

int main(int count, char** given) {
    int64_t stride = 1;
    if (count > 2 && !strcmp(given[1], "--stride")) stride = atoll(given[2]), given += 2, count -= 2;
    auto wanted = [&](const char* name) {
        for (int k = 1; k < count; k++)
            if (!strcmp(given[k], name)) return true;
        return count == 1;
    };
#define CHECK(name, truth) \
    if (wanted(#name)) check(#name, stride, [](float x) { return formula::name(x); }, [](double x) { return truth; });
#define OF_LIBRARY(name) CHECK(name, ::name(x))
#define OF_SPECIAL(name) CHECK(name, formula::name(x))
    OF_LIBRARY(exp)
    OF_LIBRARY(exp2)
    OF_LIBRARY(expm1) OF_LIBRARY(log) OF_LIBRARY(log2) OF_LIBRARY(log10) OF_LIBRARY(log1p) OF_LIBRARY(sin)
        OF_LIBRARY(cos) OF_LIBRARY(tan) OF_LIBRARY(asin) OF_LIBRARY(acos) OF_LIBRARY(atan) OF_LIBRARY(sinh)
            OF_LIBRARY(cosh) OF_LIBRARY(tanh) OF_LIBRARY(asinh) OF_LIBRARY(acosh) OF_LIBRARY(atanh) OF_LIBRARY(erf)
                OF_LIBRARY(erfc) CHECK(sigmoid, 1.0 / (1.0 + ::exp(-x))) OF_SPECIAL(erfinv) OF_SPECIAL(ndtr)
                    OF_SPECIAL(ndtri) OF_SPECIAL(lgamma) OF_SPECIAL(digamma) OF_SPECIAL(i0) OF_SPECIAL(i0e)
                        OF_SPECIAL(i1) OF_SPECIAL(i1e) OF_SPECIAL(modified_bessel_k0) OF_SPECIAL(modified_bessel_k1)
                            OF_SPECIAL(scaled_modified_bessel_k0) OF_SPECIAL(scaled_modified_bessel_k1)
}
