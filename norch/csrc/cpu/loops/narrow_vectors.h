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
inline void store_low_halves(void* out, FloatBits x) {
    store_narrow(out, _mm512_maskz_cvtepi32_epi16(ALL, reinterpret_cast<__m512i>(x)));
}
#else
inline __m128i load_narrow(const void* x) { return _mm_loadu_si128(static_cast<const __m128i*>(x)); }
inline void store_narrow(void* out, __m128i x) { _mm_storeu_si128(static_cast<__m128i*>(out), x); }
inline Floats widened(const Half* x) { return _mm256_cvtph_ps(load_narrow(x)); }
inline void round_to(Half* out, Floats x) { store_narrow(out, _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT)); }
inline FloatBits widened_bits(const void* x) { return FloatBits(_mm256_cvtepu16_epi32(load_narrow(x))); }
inline void store_low_halves(void* out, FloatBits x) {  // which are all there is
    const __m256i all = reinterpret_cast<__m256i>(x), packed = _mm256_packus_epi32(all, all);
    store_narrow(out, _mm256_castsi256_si128(_mm256_permute4x64_epi64(packed, 0x08)));
}
#endif

inline Floats widened(const BFloat16* x) { return Floats(widened_bits(x) << 16); }
inline void round_to(BFloat16* out, Floats x) {
    const FloatBits all = FloatBits(x), rounded = (all + 0x7FFFu + (all >> 16 & 1u)) >> 16;
    store_low_halves(out, x == x ? rounded : (all >> 16 | 0x40u));
}

#endif

// out[i] = x[i], widened; x and out are different memory.
template <class Narrow>
void widen_line(const Narrow* x, float* out, int64_t n) {
#ifdef __AVX2__
    if (n >= FLOATS) {
        auto vector_at = [=](int64_t i) {
            const Floats wide = widened(x + i);
            memcpy(out + i, &wide, sizeof wide);
        };
        for (int64_t i = 0; i + FLOATS <= n; i += FLOATS) vector_at(i);
        return vector_at(n - FLOATS);  // some elements are converted twice
    }
#endif
    for (int64_t i = 0; i < n; i++) out[i] = convert<float>(x[i]);
}

// The same, rounded to 16 bits.
template <class Narrow>
void round_line(const float* x, Narrow* out, int64_t n) {
#ifdef __AVX2__
    if (n >= FLOATS) {
        auto vector_at = [=](int64_t i) {
            Floats wide;
            memcpy(&wide, x + i, sizeof wide);
            round_to(out + i, wide);
        };
        for (int64_t i = 0; i + FLOATS <= n; i += FLOATS) vector_at(i);
        return vector_at(n - FLOATS);
    }
#endif
    for (int64_t i = 0; i < n; i++) out[i] = convert<Narrow>(x[i]);
}

}  // namespace NORCH_ISA
