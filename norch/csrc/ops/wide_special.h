// Special functions of a float without branches, so that loops become vectors (special.h has those of a double): erfinv, in
// float, and in double ndtr, ndtri, lgamma, digamma, the incomplete gamma functions and the modified Bessel functions of
// order 0 and 1.
//
// The polynomials are the best of their degree by Lawson's weights, with relative errors from 2^-27 to 2^-37.

#pragma once
#include "ops/wide_math.h"

inline namespace NORCH_ISA {
namespace formula {

// ---- Error function ----------------------------------------------------------------------------------------------

// erfinv(x), given 1 - x^2: x times a polynomial in w = -log(1 - x^2), or from 5 on in sqrt(w), for w up to 104.
HOST_DEVICE double inverse_erf(double x, double rest) {
    const double w = -wide_log(rest), v = ::sqrt(w > 0.0 ? w : 0.0);
    const double near =
        polynomial({0.88622692046493, 0.23201381220485, 0.011548694339496, -0.0023343905074857, -0.00012737639430224,
                    4.4500827464373e-5, 4.0060254293852e-6, -1.9811130832744e-6, 2.21538859415e-7, -8.814039909669e-9},
                   w);
    const double middle =
        polynomial({-1.9245720198818, 9.3045577395185, -13.114006928974, 10.82346189107, -5.4281137496938,
                    1.7551108717584, -0.37012871425272, 0.049415155247149, -0.0038053575973411, 0.00012912554728259},
                   v);
    const double far = polynomial({0.14923186995025, 0.58422139413125, 0.23541390775855, -0.078448149789278,
                                   0.017484210387842, -0.0027135912051901, 0.00029542858684807, -2.2182936670131e-5,
                                   1.0959855466886e-6, -3.2100302928822e-8, 4.2254670651963e-10},
                                  v);
    return x * (w < 5.0 ? near : v < 4.0 ? middle : far);
}

// The same in float, of t = w - 1 or sqrt(w) - 3: 1 - x^2 of a float is at least 2^-24. The last sum's error is added.
HOST_DEVICE float minus_log_rest(float size) {
    const float rest = 1.0f - size;
    const LogParts log = log_parts(Ordinary(rest + rest * size));
    return -(log.m + (log.bend + log.e * LN2_LOW) + (log.e * LN2_HIGH + 1.0f));
}
HOST_DEVICE float erfinv_of(float size, float first, float bend) {
    const float sum = first + bend;
    return sum * size + ((first - sum) + bend) * size;
}
HOST_DEVICE float erfinv_near(float t) {
    float p = -8.79165629e-9f;
    p = p * t + 1.4191545e-7f;
    p = p * t - 5.24684197e-7f;
    p = p * t - 4.40170197e-6f;
    p = p * t + 3.82292383e-5f;
    p = p * t + 1.00281359e-4f;
    p = p * t - 2.37644324e-3f;
    p = p * t + 4.25064284e-3f;
    p = p * t + 2.47832894e-1f;
    return p * t;
}
const float LARGEST_NEAR_ERF = 0.996f;  // of which w is below 5
HOST_DEVICE float erfinv(Ordinary x) {
    const float size = size_of(x.value), y = erfinv_of(size, 1.12737441f, erfinv_near(minus_log_rest(size)));
    return bits_as<float>(magnitude_bits(y) | (bits_as<int32_t>(x.value) & INT32_MIN));
}
HOST_DEVICE float erfinv(float x) {
    const float size = size_of(x), t = minus_log_rest(size), w = t + 1.0f;
    const float v = ::sqrtf(w > 0.0f ? w : 0.0f) - 3.0f;
    float far = 1.15870665e-4f;
    far = far * v - 3.09867522e-4f;
    far = far * v - 5.68491305e-5f;
    far = far * v + 1.48540933e-3f;
    far = far * v - 3.59744322e-3f;
    far = far * v + 5.68686612e-3f;
    far = far * v - 7.63727073e-3f;
    far = far * v + 9.44529846e-3f;
    far = far * v + 1.00167501f;
    const bool is_near = w < 5.0f;
    const float y = erfinv_of(size, is_near ? 1.12737441f : 2.83297682f, is_near ? erfinv_near(t) : far * v);
    return with_sign_of(x, size < 1.0f ? y : size == 1.0f ? INFINITY : NAN);
}

// Of a double the same polynomial in w - 1.5 of more terms; from where w is 5 on, a step of Halley's on erfc.
#ifdef __CUDA_ARCH__
HOST_DEVICE double erfinv(double x) { return ::erfinv(x); }
#else
const double LARGEST_NEAR_ERF_OF_DOUBLE = 0.996;
HOST_DEVICE double erfinv(OrdinaryDouble x) {
    const double size = ::fabs(x.value), rest = 1.0 - size;
    const double t = -log(OrdinaryDouble(rest + rest * size)) - 1.5, first = 1.2520638405834421;
    const double bend =
        polynomial({0.2503624453424527,      0.0008797647126619795,  -0.0020923279303845846, 0.00017766931513872998,
                    2.3288167926913587e-05,  -5.372773978152827e-06, -6.50754281977059e-08,  1.1770358616471207e-07,
                    -7.232325257217602e-09,  -2.019743447604101e-09, 3.02739740635054e-10,   2.2780429550060302e-11,
                    -8.328385534797334e-12,  8.851480667706361e-14,  1.8076831495629764e-13, -1.5950591548361255e-14,
                    -2.7150750388191368e-15, 6.381039950334453e-16,  -3.504833937386956e-17, -1.8587031770162838e-18,
                    2.0993851306268176e-19},
                   t) *
        t;
    const double sum = first + bend;
    return ::copysign(sum * size + ((first - sum) + bend) * size, x.value);
}
HOST_DEVICE double erfinv(double x) {
    const double size = ::fabs(x), rest = 1.0 - size, y = inverse_erf(size, rest + rest * size);
    const double step = (rest - erfc(y)) * (0.88622692545275801365 * exp(y * y)), root = y - (step - y * (step * step));
    const double far = ::copysign(size < 1.0 ? root : size == 1.0 ? double(INFINITY) : double(NAN), x);
    return size <= LARGEST_NEAR_ERF_OF_DOUBLE ? erfinv(OrdinaryDouble(x)) : far;
}
#endif

// e^(x^2) erfc(x), which exists where erfc is 0
HOST_DEVICE float erfcx(float x) {
    const double size = size_of(x), bounded = size > 9.5 ? 9.5 : size, z = size > 1e60 ? 1e60 : size;
    const double t = (z - 3.0) / (z + 3.0), far = (erfc_bend(t) * t + ERFC_AT_3) / (1.0 + 1.125 * z);
    const double y = x < 0.0f ? 2.0 * wide_exp2(bounded * bounded * (1.0 / LN2)) - far : far;
    return x == x ? float(y) : x;
}

HOST_DEVICE double ndtr(double x) { return normal(x).below; }
HOST_DEVICE float ndtr(float x) {
    const double exact = -0.70710678118654752440 * double(x);
    const float z = float(exact);
    return 0.5f * erfc_of(z, size_of(x) < 100.0f ? float(exact - z) : 0.0f);
}
HOST_DEVICE float ndtri(float p) {
    const double q = p, y = 1.41421356237309504880 * inverse_erf(q + q - 1.0, 4.0 * q * (1.0 - q));
    const float inside = (p > 0.0f) & (p < 1.0f) ? float(y) : NAN;
    return p == 0.0f ? -INFINITY : p == 1.0f ? INFINITY : inside;
}

// ---- Gamma -------------------------------------------------------------------------------------------------------

// sin(pi x) and cos(pi x) but for a common sign; from 2^23 on a float is an integer
HOST_DEVICE SineAndCosine of_half_turns(double x) {
    const double z = (x < 8388608.0) & (x > -8388608.0) ? x : 0.0;
    const double f = z - ((z + ROUNDING_DOUBLE) - ROUNDING_DOUBLE), size = f < 0.0 ? -f : f;
    const SineAndCosine at = sine_and_cosine((size > 0.25 ? 0.5 - size : size) * (2.0 * HALF_PI));
    const double sine = size > 0.25 ? at.cosine : at.sine;
    return {f < 0.0 ? -sine : sine, size > 0.25 ? at.sine : at.cosine};
}

// Up to 8 the recurrence gamma(x + 1) = x gamma(x) leads to Stirling's series (DLMF 5.11.1), below 0 the reflection
// (DLMF 5.5.3). Around its zeros 1 and 2 it is (x - 1) (x - 2) times a polynomial.
HOST_DEVICE float lgamma(float x) {
    const double a = size_of(x);
    const bool shifts = a < 8.0;
    const double z = shifts ? a + 8.0 : a, r = 1.0 / z;
    const double product =
        shifts ? a * (a + 1.0) * (a + 2.0) * (a + 3.0) * ((a + 4.0) * (a + 5.0) * (a + 6.0) * (a + 7.0)) : 1.0;
    const double series = polynomial(
        {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360, 1.0 / 156, -3617.0 / 122400},
        r * r);
    const double stirling = (z - 0.5) * wide_log(z) - z + 0.91893853320467274178 + series * r;
    const double sine = of_half_turns(a).sine, size = (sine < 0.0 ? -sine : sine) * a;
    const bool reflects = x < 0.0f;
    const double rest = wide_log(reflects ? product * (2.0 * HALF_PI) / size : product);
    double y = reflects ? rest - stirling : stirling - rest;
    const double between =
        (a - 1.0) * (a - 2.0) *
        polynomial(
            {0.46580963721134, -0.13157900008, 0.052579450745535, -0.024194016145935, 0.01199126413477,
             -0.0062212194153651, 0.0033238331734802, -0.0017725443229483, 0.00096716551562174, -0.00066293298764165,
             0.000399168908083, -1.7989031531998e-5, -1.3484209171641e-5, -0.0001745845214548, 0.00010972861982949},
            a - 1.625);
    y = (x > 0.75f) & (x < 2.5f) ? between : y;
    const float z_or_pole = (x <= 0.0f) & (size == 0.0) ? INFINITY : float(y + 0.0);  // -0 + 0 is 0
    return x == x ? (a < double(INFINITY) ? z_or_pole : INFINITY) : x;
}

// The derivative of the above: the recurrence, the asymptotic series (DLMF 5.11.2), the reflection (DLMF 5.5.4).
HOST_DEVICE float digamma(float x) {
    const double given = x, a = given <= 0.0 ? 1.0 - given : given;
    double product = a, slope = 1.0;  // of a (a + 1) ... (a + 7)
#pragma GCC unroll 8
    for (int k = 1; k < 8; k++) {
        slope = slope * (a + double(k)) + product;
        product *= a + double(k);
    }
    const double z = a < 8.0 ? a + 8.0 : a, r = 1.0 / z, s = r * r;
    const double series =
        polynomial({1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12}, s);
    const double far = wide_log(z) - 0.5 * r - series * s, above = a < 8.0 ? far - slope / product : far;
    const SineAndCosine at = of_half_turns(given);
    const float y = float(given <= 0.0 ? above - 2.0 * HALF_PI * (at.cosine / at.sine) : above);
    const float pole = x == 0.0f ? with_sign_of(-x, double(INFINITY)) : (at.sine == 0.0) & (x < 0.0f) ? NAN : y;
    return x < INFINITY ? pole : x;
}

// The derivative of that, by the derivatives of the same formulas; at the poles it is infinite.
HOST_DEVICE float trigamma(float x) {
    const double given = x, a = given <= 0.0 ? 1.0 - given : given;
    double product = a, slope = 1.0, bend = 0.0;  // of a (a + 1) ... (a + 7)
#pragma GCC unroll 8
    for (int k = 1; k < 8; k++) {
        bend = bend * (a + double(k)) + 2.0 * slope;
        slope = slope * (a + double(k)) + product;
        product *= a + double(k);
    }
    const double z = a < 8.0 ? a + 8.0 : a, r = 1.0 / z, s = r * r;
    const double series =
        polynomial({1.0, 1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730, 7.0 / 6}, s);
    const double inverse = 1.0 / product, ratio = slope * inverse;  // the sum of 1 / (a + k)
    const double far = series * r + 0.5 * s, above = a < 8.0 ? far + (ratio * ratio - bend * inverse) : far;
    const double sine = of_half_turns(given).sine * (1.0 / (2.0 * HALF_PI));
    return float(given <= 0.0 ? 1.0 / (sine * sine) - above : above);
}

// The incomplete gamma functions P(a, x) and Q = 1 - P of ordinary arguments (those of a double: special.h).
const float LARGEST_SHAPE = 32.0f, SMALLEST_SHAPE = 0.0009765625f, LARGEST_LIMIT = 128.0f;

HOST_DEVICE bool is_ordinary_gamma(float a, float x) {
    return (a >= SMALLEST_SHAPE) & (a <= LARGEST_SHAPE) & (x > 0.0f) & (x <= LARGEST_LIMIT);
}

// e^x to 2^-50, for x in [-150, 0]; less is taken as -150
HOST_DEVICE double wide_exp(double x) {
    const double turns = (x > -150.0 ? x : -150.0) * (1.0 / LN2), shifted = turns + ROUNDING_DOUBLE;
    const double r = (turns - (shifted - ROUNDING_DOUBLE)) * LN2;
    const double p = polynomial({1.0, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320,
                                 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600},
                                r);
    return p * bits_as<double>((bits_as<int64_t>(shifted) + 1023) * (int64_t(1) << 52));
}

// Up to a + 3 a series for P, beyond it Legendre's continued fraction for Q (DLMF 8.7.1 and 8.9.2), of as many terms as
// a float needs at a = 32. Both are quotients of two polynomials, computed from the last term to the first.
HOST_DEVICE float incomplete_gamma(Ordinary shape, Ordinary limit, bool upper) {
    const double a = shape.value, x = limit.value;
    double top = 1.0, bottom = 1.0;  // 1 + x / (a + 1) (1 + x / (a + 2) (...))
#pragma GCC unroll 64
    for (int k = 48; k > 0; k--) {
        bottom *= a + double(k);
        top = top * x + bottom;
    }
    double whole = x - a + 33.0, part = 1.0;  // x - a + 1 + 1 (a - 1) / (x - a + 3 + 2 (a - 2) / (...))
#pragma GCC unroll 64
    for (int k = 16; k > 0; k--) {
        const double next = (x - a + double(2 * k - 1)) * whole + double(k) * (a - double(k)) * part;
        part = whole;
        whole = next;
    }
    // x^a e^-x / gamma(a + 1): Stirling's series for gamma(a + 9), as in lgamma
    const double z = a + 9.0, r = 1.0 / z;
    const double product =
        (a + 1.0) * (a + 2.0) * (a + 3.0) * (a + 4.0) * ((a + 5.0) * (a + 6.0) * (a + 7.0) * (a + 8.0));
    const double series = polynomial(
        {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360, 1.0 / 156, -3617.0 / 122400},
        r * r);
    const double stirling = (z - 0.5) * wide_log(z) - z + 0.91893853320467274178 + series * r;
    const double density = product * wide_exp(a * wide_log(x) - x - stirling);
    const bool below = x < a + 3.0;
    const double found = density * (below ? top : a * part) / (below ? bottom : whole);
    return float(below == upper ? 1.0 - found : found);
}

// ---- Bessel functions --------------------------------------------------------------------------------------------

// J0(x) and J1(x) / x up to 8, and what Y has beside 2 / pi (log(x) J(x) - 1 / x), of x^2 / 32 - 1
HOST_DEVICE double j0_near(double t) {
    return polynomial({0.045829664859813754, 0.9303012472958572, -0.6484692830871821, -0.8080888076696872,
                       1.0383794611436883, -0.507468045847101, 0.14598884856785535, -0.028472718610877044,
                       0.00405807898810883, -0.0004435459224433769, 3.8473200057927604e-05, -2.717749207626176e-06,
                       1.595584886623164e-07, -7.91533375368561e-09, 3.3794624520643e-10, -1.2430166156640003e-11},
                      t);
}
HOST_DEVICE double j1_near(double t) {
    return polynomial({-0.05814382795599107, 0.08105866038589758, 0.15151665143806634, -0.2595948652859166,
                       0.15858376432721896, -0.05474581821299503, 0.012456814392259903, -0.0020290394938667204,
                       0.0002494945813696478, -2.4045750380319615e-05, 1.8684525891685077e-06, -1.1966856617233235e-07,
                       6.431200760749394e-09, -2.9580307437711144e-10, 1.1655948480687432e-11},
                      t);
}
HOST_DEVICE double y0_near(double t) {
    return polynomial({-0.38225065445942497, -0.8284358903604587, 1.6470964788745432, 0.14412632369302453,
                       -1.077547733821527, 0.6721770783431702, -0.21895747096229637, 0.046367047681363883,
                       -0.007025741054992014, 0.000806158605989114, -7.279542368640505e-05, 5.321318774428052e-06,
                       -3.218450385303195e-07, 1.6390898995460987e-08, -7.165821502826742e-10, 2.6920542955933077e-11},
                      t);
}
HOST_DEVICE double y1_near(double t) {
    return polynomial({0.07075985882118005, -0.24337743079193114, 0.02336757172099348, 0.23507209206669755,
                       -0.19639839859930203, 0.07854786922242538, -0.01962875683311711, 0.0034224907399185273,
                       -0.00044381734344201836, 4.4674330127252e-05, -3.6010000225850992e-06, 2.3804930317310604e-07,
                       -1.3153147370992129e-08, 6.169694909376002e-10, -2.4995314348224963e-11, 8.758166378734063e-13},
                      t);
}
// P and Q x / 8 of the expansions beyond (DLMF 10.17.3 and 4), of (8 / x)^2
HOST_DEVICE double p0_far(double t) {
    return polynomial({1.0, -0.0010986328124932216, 2.738088336416646e-05, -2.1839132224663715e-06,
                       3.619758767812361e-07, -1.020564570797483e-07, 4.2546291790572966e-08, -2.220099170349574e-08,
                       1.1738404575384732e-08, -5.095567444423025e-09, 1.4750393967466458e-09, -2.0391504603291065e-10},
                      t);
}
HOST_DEVICE double p1_far(double t) {
    return polynomial({1.0, 0.0018310546874928113, -3.5203992971025806e-05, 2.5809891297171923e-06,
                       -4.102441117732622e-07, 1.1281774072269541e-07, -4.6292540376970764e-08, 2.3923017346240325e-08,
                       -1.2580302532198723e-08, 5.444932988370198e-09, -1.5735706702738963e-09, 2.1732281186744534e-10},
                      t);
}
HOST_DEVICE double q0_far(double t) {
    return polynomial({-0.015624999999999976, 0.0001430511474538575, -6.9307858402402855e-06, 8.238379757156372e-07,
                       -1.8158032712012744e-07, 6.375387204287001e-08, -3.142366876079038e-08, 1.8400068951657234e-08,
                       -1.0435629789967938e-08, 4.716861679104599e-09, -1.3980983130749886e-09, 1.9611107072011976e-10},
                      t);
}
HOST_DEVICE double q1_far(double t) {
    return polynomial({0.04687499999999997, -0.0002002716064378206, 8.47096052798641e-06, -9.50582922063157e-07,
                       2.0294684457276046e-07, -6.984201010520019e-08, 3.39793578734192e-08, -1.9739382005297028e-08,
                       1.1145494643485827e-08, -5.0254196725244136e-09, 1.487484957986028e-09, -2.0847373494450512e-10},
                      t);
}

// J(x), or the SECOND kind Y(x), for x from 0 to LARGEST_PHASE. As close to a zero as a float can be it has a float's
// digits: nothing of these sums cancels much.
const float LARGEST_PHASE = 1e3f;
template <int ORDER, bool SECOND>
HOST_DEVICE double bessel(double x) {
    const double t = x * x * (1.0 / 32) - 1.0, first = ORDER ? x * j1_near(t) : j0_near(t);
    const double rest = ORDER ? x * y1_near(t) : y0_near(t), over_pi = 0.63661977236758134308;
    const double near = SECOND ? over_pi * (wide_log(x) * first - (ORDER ? 1.0 / x : 0.0)) + rest : first;
    const double z = x < 8.0 ? 8.0 : x, u = 8.0 / z, v = u * u;
    const double p = ORDER ? p1_far(v) : p0_far(v), q = u * (ORDER ? q1_far(v) : q0_far(v));
    const double sine = sine_of(z, 0), cosine = sine_of(z, 1), sum = sine + cosine, difference = sine - cosine;
    const double along = ORDER ? difference : sum, across = ORDER ? -sum : difference;  // of the phase, times sqrt(2)
    const double far = (SECOND ? p * across + q * along : p * along - q * across) * ::sqrt(0.5 * over_pi / z);
    return x < 8.0 ? near : far;
}
HOST_DEVICE float bessel_j0(Ordinary x) { return float(bessel<0, false>(size_of(x.value))); }
HOST_DEVICE float bessel_j1(Ordinary x) {
    return float(with_sign_of(x.value, 1.0) * bessel<1, false>(size_of(x.value)));
}
HOST_DEVICE float second_kind(float x, double y) { return x < 0.0f ? NAN : x == 0.0f ? -INFINITY : float(y); }
HOST_DEVICE float bessel_y0(Ordinary x) { return second_kind(x.value, bessel<0, true>(size_of(x.value))); }
HOST_DEVICE float bessel_y1(Ordinary x) { return second_kind(x.value, bessel<1, true>(size_of(x.value))); }
HOST_DEVICE float spherical_bessel_j0(Ordinary x) {
    return x.value == 0.0f ? 1.0f : float(sine_of(x.value, 0) / double(x.value));
}

// Airy's function from 0 to where it rounds to 0: e^-(2/3 z^3) times a polynomial in (z - 2) / (z + 2), with x = z^2.
const float LARGEST_AIRY = 28.0f;
HOST_DEVICE float airy_ai(Ordinary x) {
    const double z = ::sqrt(double(x.value)), t = (z - 2.0) / (z + 2.0);
    const double y = polynomial({0.19709480260736, -0.18397291196903, 0.051955080305059, -0.00625090364422,
                                 -0.054349580098972, 0.053986685283617, -0.025727408745322, -0.026257073610725,
                                 0.041476800002956, -0.020923330949675, -0.031757054114354, 0.042436306307313,
                                 0.026232319360379, -0.035826953312524, -0.035544429081636, -0.0088393409541171},
                                t);
    return float(y * wide_exp2(z * z * z * (-2.0 / 3.0 / LN2)));
}

// ---- Modified Bessel functions -----------------------------------------------------------------------------------

// I0(x) and I1(x) / x up to 8, of the square
HOST_DEVICE double i0_near(double s) {
    return polynomial({0.99999999999163, 0.25000000006692, 0.015624999919575, 0.00043402781281656, 6.7816766100623e-6,
                       6.7817721353769e-8, 4.7088666455797e-10, 2.4057241974529e-12, 9.2995965520071e-15,
                       3.060580288777e-17, 5.3466194270126e-20, 2.6818613514539e-22},
                      s);
}
HOST_DEVICE double i1_near(double s) {
    return polynomial({0.50000000003297, 0.062499999816794, 0.002604166829839, 5.4253418361713e-5, 6.7817710724513e-7,
                       5.6506143247171e-9, 3.3682414640163e-11, 1.4870809519953e-13, 5.5258250478205e-16,
                       1.052467449977e-18, 5.9684704168408e-21},
                      s);
}
// sqrt(x) e^-x I(x) beyond, of 1 / x
HOST_DEVICE double i0_far(double u) {
    return polynomial({0.39894228035681, 0.049867825384394, 0.028043673142104, 0.029680742401968, 0.029940514206823,
                       0.33934127202992, -1.916239016816, 8.5470968245647},
                      u);
}
HOST_DEVICE double i1_far(double u) {
    return polynomial({0.39894228049486, -0.14960341604541, -0.046741699915036, -0.041489766731679, -0.039555617166869,
                       -0.40457284787092, 2.2130816737772, -9.7552538432469},
                      u);
}

// I(x), or e^-x I(x), for x >= 0; no exponential overflows a double.
template <int ORDER, bool SCALED>
HOST_DEVICE double bessel_i(double x) {
    const double z = x > 95.0 && !SCALED ? 95.0 : x, square = x * x, u = 1.0 / z;
    const double near = ORDER ? x * i1_near(square) : i0_near(square);
    const double far = (ORDER ? i1_far(u) : i0_far(u)) * ::sqrt(u);
    const double bounded = SCALED ? (x > 8.0 ? 8.0 : x) : z,
                 power = wide_exp2(bounded * (SCALED ? -1.0 / LN2 : 1.0 / LN2));
    return x < 8.0 ? (SCALED ? near * power : near) : (SCALED ? far : far * power);
}
HOST_DEVICE float i0(float x) { return float(bessel_i<0, false>(size_of(x))); }
HOST_DEVICE float i1(float x) { return with_sign_of(x, bessel_i<1, false>(size_of(x))); }
HOST_DEVICE float i0e(float x) { return float(bessel_i<0, true>(size_of(x))); }
HOST_DEVICE float i1e(float x) { return with_sign_of(x, bessel_i<1, true>(size_of(x))); }

// K(x), or e^x K(x). Up to 2 DLMF 10.31.1 and 2: a polynomial in x^2 beside the logarithm; beyond, one in 1 / x.
template <int ORDER, bool SCALED>
HOST_DEVICE float bessel_k(float given) {
    const double x = given, z = x > 120.0 ? 120.0 : x, s = x * x, u = 1.0 / x, log_half = wide_log(0.5 * x);
    const double near0 = polynomial({-0.57721566481928, 0.10569608295977, 0.01441850741141, 0.00054518743443369,
                                     1.0215515176623e-5, 1.1522635871706e-7, 9.5890208151621e-10},
                                    s) -
                         log_half * i0_near(s);
    const double near1 =
        x * (polynomial({0.038607832427403, -0.042049020812227, -0.0028371122420272, -7.4930183793896e-5,
                         -1.0893443862928e-6, -1.0076990778745e-8, -7.071128630244e-11},
                        s) +
             log_half * i1_near(s)) +
        u;
    const double far0 = polynomial(
        {1.2533141372807, -0.15666425156918, 0.088122136791552, -0.091734255871531, 0.1392285793084, -0.26666485638805,
         0.55284676799704, -1.0551076345205, 1.6122815883597, -1.7485996672449, 1.1651986806094, -0.35414564865063},
        u);
    const double far1 = polynomial(
        {1.2533141374643, 0.4699927423945, -0.14686779569189, 0.12834218145308, -0.17754822582802, 0.31170493268642,
         -0.56785853284932, 0.88917364790098, -1.0210974774001, 0.7288228613397, -0.23764348486396},
        u);
    const double near = ORDER ? near1 : near0, far = (ORDER ? far1 : far0) * ::sqrt(u);
    const double power = wide_exp2(SCALED ? (x < 2.0 ? x : 2.0) * (1.0 / LN2) : z * (-1.0 / LN2));
    const double y = x < 2.0 ? (SCALED ? near * power : near) : (SCALED ? far : far * power);
    const float inside = given > 0.0f ? float(y) : NAN;
    return given == 0.0f ? INFINITY : given == INFINITY ? 0.0f : inside;
}
HOST_DEVICE float modified_bessel_k0(float x) { return bessel_k<0, false>(x); }
HOST_DEVICE float modified_bessel_k1(float x) { return bessel_k<1, false>(x); }
HOST_DEVICE float scaled_modified_bessel_k0(float x) { return bessel_k<0, true>(x); }
HOST_DEVICE float scaled_modified_bessel_k1(float x) { return bessel_k<1, true>(x); }

}  // namespace formula
}  // namespace NORCH_ISA
