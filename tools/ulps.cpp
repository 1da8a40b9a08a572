// The largest error, in units of the last place, of each function of one float32 operand, over all 2^32 floats:
//
//     g++ -std=c++17 -O3 -fno-math-errno -fno-trapping-math -fwrapv -DNORCH_ISA=avx2 -mavx2 -mfma -mf16c -Inorch/csrc \
//         -o build/ulps tools/ulps.cpp -lmvec && build/ulps [--stride N] [name ...]
//
// The truth is the same function of the double, by the C library or by ops/special.h: of four at once, and exactly where
// the error may be the largest so far. A result also counts as wrong (error "inf") if it is NaN, infinite or 0 where the
// truth is not, or if its zero has another sign. Errors up to 0.5 are those of rounding: they are printed as 0.500.

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

#define LIBRARY_FUNCTIONS(F) \
    F(exp) F(exp2) F(expm1) F(log) F(log2) F(log10) F(log1p) F(sin) F(cos) F(tan) F(asin) F(acos) F(atan) \
    F(sinh) F(cosh) F(tanh) F(asinh) F(acosh) F(atanh) F(erf) F(erfc)
#define SPECIAL_FUNCTIONS(F) \
    F(erfinv) F(ndtr) F(ndtri) F(lgamma) F(digamma) F(trigamma) F(i0) F(i0e) F(i1) F(i1e) F(modified_bessel_k0) \
    F(modified_bessel_k1) F(scaled_modified_bessel_k0) F(scaled_modified_bessel_k1)

// Four values of a function of double at once: the C library's vector functions are within 4 ULP of double.
typedef double Four __attribute__((vector_size(32)));
#define VECTOR_OF(name) extern "C" Four _ZGVdN4v_##name(Four);
LIBRARY_FUNCTIONS(VECTOR_OF)

// Whether the error may be above the worst so far. Without branches, so that a loop over it uses vectors.
static bool may_be_worse(float actual, double truth, double worst) {
    const float rounded = float(truth);
    const bool same = formula::bits_as<uint32_t>(actual) == formula::bits_as<uint32_t>(rounded);
    const bool both_nan = (actual != actual) & (truth != truth);
    const double binade = formula::bits_as<double>(formula::bits_as<uint64_t>(truth) & 0x7ff0000000000000);
    const double unit = fmax(binade * 0x1p-23, 0x1p-149);
    const bool near = (fabs(double(actual) - truth) <= worst * unit) & (actual != 0.0f);
    return !(same | both_nan | near);
}

// `truth` gives the exact value of one double, `four` that of four, a little less exact.
template <class F, class G, class V>
static void check(const char* name, int64_t stride, F function, G truth, V four) {
    enum { BLOCK = 4096 };
    double worst = 0.4999;
    float where = 0.0f;
    for (int64_t start = 0; start < (int64_t(1) << 32); start += BLOCK * stride) {
        float x[BLOCK], y[BLOCK];
        alignas(32) double t[BLOCK];
        unsigned char worse[BLOCK];
        for (int i = 0; i < BLOCK; i++) t[i] = x[i] = float_of(uint32_t(start + i * stride));
        for (int i = 0; i < BLOCK; i++) y[i] = function(x[i]);
        for (int i = 0; i < BLOCK; i += 4) *(Four*)(t + i) = four(*(Four*)(t + i));
        for (int i = 0; i < BLOCK; i++) worse[i] = may_be_worse(y[i], t[i], worst * 0.999999);
        for (int i = 0; i < BLOCK; i++) {
            if (!worse[i]) continue;
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
#define CHECK(name, truth, four) \
    if (wanted(#name)) { \
        auto exact = [](double x) { return truth; }; \
        check(#name, stride, [](float x) { return formula::name(x); }, exact, [](Four x) { return four; }); \
    }
#define OF_LIBRARY(name) CHECK(name, ::name(x), _ZGVdN4v_##name(x))
#define EACH(f) (Four{f(x[0]), f(x[1]), f(x[2]), f(x[3])})
#define OF_SPECIAL(name) CHECK(name, formula::name(x), EACH(formula::name))
    LIBRARY_FUNCTIONS(OF_LIBRARY);
    CHECK(sigmoid, 1.0 / (1.0 + ::exp(-x)), 1.0 / (1.0 + _ZGVdN4v_exp(-x)));
    SPECIAL_FUNCTIONS(OF_SPECIAL);
}
