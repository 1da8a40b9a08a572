// CPU kernels that fill a tensor with random numbers (ops/philox.h).
//
// The Makefile compiles this file without fused multiply-add, so that the numbers are the same on every machine.

// Integers are drawn by each copy: philox is work for vectors.
#undef NORCH_REALS_ONLY

#include "cpu/backend.h"
#include "host/parallel.h"
#include "cpu/loops/odometer.h"
#include "cpu/loops/simd.h"
#ifdef __SSE2__
#include <immintrin.h>
#endif

inline namespace NORCH_ISA {
namespace {

// ---- Blocks ------------------------------------------------------------------------------------------------------

#ifdef __SSE2__
typedef uint64_t Vector __attribute__((vector_size(VECTOR_BYTES)));

struct VectorProduct {  // by an instruction that the compiler does not find
    Vector operator()(Vector x, uint32_t y) const {
#if defined(__AVX512F__)
        return Vector(_mm512_mul_epu32(__m512i(x), _mm512_set1_epi64(y)));
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

// ---- Draws -------------------------------------------------------------------------------------------------------

enum { MANY = 64, FEW = 8 };  // blocks that are made at a time, in loops that the compiler vectorises

// Elements from `start` on, of which `left` are wanted: as many as LANES blocks give. Returns how many that are.
template <int LANES, class T, class Draw>
int64_t fill_from(T* data, int64_t start, int64_t left, Stream stream, Draw draw) {
    enum { STEP = LANES * Draw::PER_BLOCK };
    Block blocks[LANES];
    T values[STEP];
    draw_blocks<LANES>(stream, uint64_t(start / Draw::PER_BLOCK), blocks);
    for (int k = 0; k < LANES; k++) draw.elements(blocks[k], values + k * Draw::PER_BLOCK);
    const int64_t count = smaller(STEP, left);
    memcpy(data + start, values, size_t(count) * sizeof(T));
    return count;
}

// Element i depends on i alone, so threads and vectors may take them in any order.
template <class T, class Draw>
void fill(Tensor& out, Stream stream, Draw draw) {
    enum { STEP = MANY * Draw::PER_BLOCK };
    T* data = data_as<T>(out);
    const int64_t size = out.size, steps = (size + STEP - 1) / STEP;
    parallel_for(steps, 1 + SMALL_WORK / 8 / STEP, [=](int64_t begin, int64_t end) {
        const int64_t stop = smaller(end * STEP, size);
        for (int64_t i = begin * STEP; i < stop;)
            i += stop - i >= STEP ? fill_from<MANY>(data, i, stop - i, stream, draw)
                                  : fill_from<FEW>(data, i, stop - i, stream, draw);
    });
}

}  // namespace

void uniform_tensor_cpu(Tensor& out, Stream stream, double low, double high) {
    for_real(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        fill<T>(out, stream, UniformDraw<T>{low, high});
    });
}

void normal_tensor_cpu(Tensor& out, Stream stream, double mean, double std) {
    for_real(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        fill<T>(out, stream, NormalDraw<T>{mean, std});
    });
}

void integers_tensor_cpu(Tensor& out, Stream stream, int64_t low, uint64_t range) {
    for_any(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        if (range > 0 && range <= UINT32_MAX) return fill<T>(out, stream, NearIntegerDraw<T>{low, uint32_t(range)});
        fill<T>(out, stream, IntegerDraw<T>{low, range});
    });
}

void places_tensor_cpu(Tensor& out, Stream stream) {
    int64_t* data = data_as<int64_t>(out);
    const int64_t size = out.size, steps = (size + MANY - 1) / MANY;
    const bool is_near = size <= UINT32_MAX;
    parallel_for(steps, 1 + SMALL_WORK / 8 / MANY, [=](int64_t begin, int64_t end) {
        for (int64_t start = begin * MANY; start < smaller(end * MANY, size); start += MANY) {
            Block blocks[MANY];
            int64_t places[MANY];
            draw_blocks<MANY>(stream, uint64_t(start), blocks);
            if (is_near)
                for (int k = 0; k < MANY; k++) places[k] = below(uint32_t(start + k + 1), blocks[k]);
            else
                for (int k = 0; k < MANY; k++) places[k] = int64_t(below(uint64_t(start + k + 1), blocks[k]));
            memcpy(data + start, places, size_t(smaller(MANY, size - start)) * sizeof(int64_t));
        }
    });
}

}  // namespace NORCH_ISA
