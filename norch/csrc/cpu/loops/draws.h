// Blocks of random numbers (ops/philox.h), as many at a time as a vector has lanes.

#pragma once
#include <string.h>

#include "cpu/backend.h"
#include "cpu/loops/simd.h"
#include "ops/philox.h"
#ifdef __SSE2__
#include <immintrin.h>
#endif

inline namespace NORCH_ISA {
namespace {

#ifdef __SSE2__
typedef uint64_t Vector __attribute__((vector_size(VECTOR_BYTES)));

struct VectorProduct {  // by an instruction that the compiler does not find
    Vector operator()(Vector x, uint32_t y) const {
#if defined(__AVX512F__)
        // (Without a mask gcc 12 warns of its own header.)
        return Vector(_mm512_maskz_mul_epu32(__mmask8(-1), __m512i(x), _mm512_set1_epi64(y)));
#elif defined(__AVX2__)
        return Vector(_mm256_mul_epu32(__m256i(x), _mm256_set1_epi64x(y)));
#else
        return Vector(_mm_mul_epu32(__m128i(x), _mm_set1_epi64x(y)));
#endif
    }
};

// The blocks of COUNT indices from `first` on, a multiple of 8.
template <int COUNT>
void draw_blocks(Stream stream, uint64_t first, Block* blocks) {
    enum { SIDE = VECTOR_BYTES / sizeof(uint64_t) };
    Vector index;
    for (int j = 0; j < SIDE; j++) index[j] = first + uint64_t(j);
    for (int k = 0; k < COUNT; k += SIDE, index += uint64_t(SIDE)) {
        const Words<Vector> words = philox_words(stream, index, VectorProduct());
        const Vector lower = uint64_t(UINT32_MAX) + Vector(), low = (words.word[0] & lower) | words.word[1] << 32,
                     high = (words.word[2] & lower) | words.word[3] << 32;
        uint64_t halves[2 * SIDE];
        for (int j = 0; j < SIDE; j++) halves[2 * j] = low[j], halves[2 * j + 1] = high[j];
        memcpy(blocks + k, halves, sizeof halves);
    }
}
#else
template <int COUNT>
void draw_blocks(Stream stream, uint64_t first, Block* blocks) {
    for (int k = 0; k < COUNT; k++) blocks[k] = philox(stream, first + uint64_t(k));
}
#endif

}  // namespace
}  // namespace NORCH_ISA
