// Vectors of 16 bits, widened to floats and rounded to 16 bits as ops/conversion.h does, except for the bits of a NaN.

#pragma once
#include "cpu/loops/tiles.h"
#include "ops/conversion.h"

inline namespace NORCH_ISA {

template <class T>
constexpr bool is_half = std::is_same<T, Half>::value || std::is_same<T, BFloat16>::value;

#ifdef __AVX2__

enum { FLOATS = VECTOR_BYTES / sizeof(float) };  // of a vector
typedef float Floats __attribute__((vector_size(VECTOR_BYTES)));
typedef uint32_t FloatBits __attribute__((vector_size(VECTOR_BYTES)));

#ifdef __AVX512F__
enum { ALL = (1 << FLOATS) - 1 };  // (g++ warns about intrinsics without a mask)
inline __m256i load_narrow(const void* x) { return _mm256_loadu_si256(static_cast<const __m256i*>(x)); }
inline void store_narrow(void* out, __m256i x) { _mm256_storeu_si256(static_cast<__m256i*>(out), x); }
inline Floats widened(const Half* x) { return _mm512_maskz_cvtph_ps(ALL, load_narrow(x)); }
inline void round_to(Half* out, Floats x) {
    store_narrow(out, _mm512_maskz_cvtps_ph(ALL, x, _MM_FROUND_TO_NEAREST_INT));
}
inline FloatBits widened_bits(const void* x) { return FloatBits(_mm512_maskz_cvtepu16_epi32(ALL, load_narrow(x))); }
inline FloatBits upper_halves(FloatBits x, FloatBits y) {
    typedef uint16_t Words __attribute__((vector_size(VECTOR_BYTES)));
    Words odd = {};
    for (int j = 0; j < 2 * FLOATS; j++) odd[j] = uint16_t(2 * j + 1);
    return FloatBits(_mm512_permutex2var_epi16(__m512i(x), __m512i(odd), __m512i(y)));
}
#else
inline __m128i load_narrow(const void* x) { return _mm_loadu_si128(static_cast<const __m128i*>(x)); }
inline void store_narrow(void* out, __m128i x) { _mm_storeu_si128(static_cast<__m128i*>(out), x); }
inline Floats widened(const Half* x) { return _mm256_cvtph_ps(load_narrow(x)); }
inline void round_to(Half* out, Floats x) { store_narrow(out, _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT)); }
inline FloatBits widened_bits(const void* x) { return FloatBits(_mm256_cvtepu16_epi32(load_narrow(x))); }
inline FloatBits upper_halves(FloatBits x, FloatBits y) {
    const __m256i packed = _mm256_packus_epi32(__m256i(x >> 16), __m256i(y >> 16));  // their quarters alternate
    return FloatBits(_mm256_permute4x64_epi64(packed, 0xD8));
}
#endif

inline Floats widened(const BFloat16* x) { return Floats(widened_bits(x) << 16); }

// The bits of floats, of which the upper half is rounded
inline FloatBits rounded_to_upper(Floats x) {
    const FloatBits all = FloatBits(x);
    return x == x ? all + 0x7FFFu + (all >> 16 & 1u) : all | 0x400000u;
}

// Two vectors of neighbours
inline void round_to(Half* out, Floats x, Floats y) {
    round_to(out, x);
    round_to(out + FLOATS, y);
}
inline void round_to(BFloat16* out, Floats x, Floats y) {
    const FloatBits words = upper_halves(rounded_to_upper(x), rounded_to_upper(y));
    memcpy(out, &words, sizeof words);
}

// Two vectors, for a formula that takes each element alone. Those of bfloat16 are the elements of even and of odd places,
// whose bits need not move from one lane to another.
struct FloatsTwice {
    Floats first, second;
};
inline FloatsTwice both_widened(const Half* x) { return {widened(x), widened(x + FLOATS)}; }
inline FloatsTwice both_widened(const BFloat16* x) {
    FloatBits pairs;
    memcpy(&pairs, x, sizeof pairs);
    return {Floats(pairs << 16), Floats(pairs & 0xFFFF0000u)};
}
inline void round_both_to(Half* out, FloatsTwice x) { round_to(out, x.first, x.second); }
inline void round_both_to(BFloat16* out, FloatsTwice x) {
    const FloatBits pairs = rounded_to_upper(x.first) >> 16 | (rounded_to_upper(x.second) & 0xFFFF0000u);
    memcpy(out, &pairs, sizeof pairs);
}

#endif

// out[i] = x[i], widened and converted; x and out are different memory.
template <class Narrow, class To>
void widen_line(const Narrow* x, To* out, int64_t n) {
#ifdef __AVX2__
    if (n >= FLOATS) {
        auto vector_at = [=](int64_t i) {
            const Floats vector = widened(x + i);
            if constexpr (std::is_same<To, float>::value) {
                memcpy(out + i, &vector, sizeof vector);
            } else {
                float wide[FLOATS];
                memcpy(wide, &vector, sizeof wide);
                INDEPENDENT for (int j = 0; j < FLOATS; j++) out[i + j] = convert<To>(wide[j]);
            }
        };
        for (int64_t i = 0; i + FLOATS <= n; i += FLOATS) vector_at(i);
        return vector_at(n - FLOATS);  // some elements are converted twice
    }
#endif
    for (int64_t i = 0; i < n; i++) out[i] = convert<To>(convert<float>(x[i]));
}

// out[i] = x[i], rounded to 16 bits
template <class Narrow>
void round_line(const float* x, Narrow* out, int64_t n) {
#ifdef __AVX2__
    if (n >= 2 * FLOATS) {
        auto vectors_at = [=](int64_t i) {
            Floats wide, next;
            memcpy(&wide, x + i, sizeof wide);
            memcpy(&next, x + i + FLOATS, sizeof next);
            round_to(out + i, wide, next);
        };
        for (int64_t i = 0; i + 2 * FLOATS <= n; i += 2 * FLOATS) vectors_at(i);
        return vectors_at(n - 2 * FLOATS);
    }
#endif
    for (int64_t i = 0; i < n; i++) out[i] = convert<Narrow>(x[i]);
}

}  // namespace NORCH_ISA
