// Random numbers from a counter instead of a state: Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random
// numbers: as easy as 1, 2, 3" (2011), and the distributions made of its words, for CPU and CUDA alike.
//
// Element i of a draw is a function of the seed, the number of the draw and i alone, so it comes out the same on every
// device and in every order. The formulas use nothing but +, -, *, / and sqrt of doubles, which IEEE 754 rounds in one
// way everywhere; a product is never fused with a sum (rounded_sum, and a compiler flag for cpu/random.cpp).

#pragma once
#include <string.h>

#include "ops/conversion.h"

struct Stream {
    uint64_t seed, draw;  // the draw counts the tensors that were filled since the seed was set
};

struct Block {  // 128 random bits
    uint32_t word[4];
};

HOST_DEVICE uint32_t high_half(uint64_t x) { return uint32_t(x >> 32); }
HOST_DEVICE uint64_t joined(uint32_t low, uint32_t high) { return uint64_t(high) << 32 | low; }

template <class Word>
struct Words {
    Word word[4];
};

struct HalfProduct {  // of the lower halves
    HOST_DEVICE uint64_t operator()(uint64_t x, uint32_t y) const { return uint64_t(uint32_t(x)) * y; }
};

// The counter is (index, draw), the key is the seed: each round multiplies two words and mixes the halves of the
// products. The words are the lower halves of integers of 64 bits, or of vectors of them (cpu/random.cpp); the upper halves
// are no matter.
template <class Word, class Product>
HOST_DEVICE Words<Word> philox_words(Stream stream, Word index, Product product) {
    Word c0 = index, c1 = index >> 32, c2 = Word() + stream.draw, c3 = Word() + (stream.draw >> 32);
    uint32_t k0 = uint32_t(stream.seed), k1 = high_half(stream.seed);
    for (int round = 0; round < 10; round++) {
        const Word p0 = product(c0, 0xD2511F53u), p1 = product(c2, 0xCD9E8D57u);
        c0 = (p1 >> 32) ^ c1 ^ uint64_t(k0);
        c1 = p1;
        c2 = (p0 >> 32) ^ c3 ^ uint64_t(k1);
        c3 = p0;
        k0 += 0x9E3779B9u;  // the golden ratio
        k1 += 0xBB67AE85u;  // sqrt(3) - 1
    }
    return {{c0, c1, c2, c3}};
}

HOST_DEVICE Block philox(Stream stream, uint64_t index) {
    const Words<uint64_t> words = philox_words(stream, index, HalfProduct());
    return {{uint32_t(words.word[0]), uint32_t(words.word[1]), uint32_t(words.word[2]), uint32_t(words.word[3])}};
}

// ---- Uniform: a block gives four floats of 24 bits, or two doubles of 53 -----------------------------------------

HOST_DEVICE float unit_float(uint32_t word) { return float(word >> 8) * 0x1p-24f; }     // in [0, 1)
HOST_DEVICE double unit_double(uint64_t bits) { return double(bits >> 11) * 0x1p-53; }  // in [0, 1)

// u of [0, 1) moved to [low, high), which rounding must not leave.
template <class T> HOST_DEVICE T between(T u, double low, double high) {
    const T value = T(rounded_sum(high - low, double(u), low));
    return value < T(high) ? value : T(low);
}

// ---- Normal: Box and Muller's pairs ------------------------------------------------------------------------------

// 2 atanh(s) = 2 (s + s^3/3 + s^5/5 + ...) for small s, up to 0.172
HOST_DEVICE double twice_atanh(double s) {
    const double q = s * s;
    double series = 1.0 / 21;
    series = rounded_sum(series, q, 1.0 / 19);
    series = rounded_sum(series, q, 1.0 / 17);
    series = rounded_sum(series, q, 1.0 / 15);
    series = rounded_sum(series, q, 1.0 / 13);
    series = rounded_sum(series, q, 1.0 / 11);
    series = rounded_sum(series, q, 1.0 / 9);
    series = rounded_sum(series, q, 1.0 / 7);
    series = rounded_sum(series, q, 1.0 / 5);
    series = rounded_sum(series, q, 1.0 / 3);
    series = rounded_sum(series, q, 1.0);
    return 2 * s * series;
}

// The natural logarithm of a positive number, to 2 ULP: x = 2^e m with m in [sqrt(1/2), sqrt(2)), and
// log m = 2 atanh((m - 1) / (m + 1)).
HOST_DEVICE double log_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint64_t shifted = bits + (0x3FF0000000000000u - 0x3FE6A09E667F3BCDu);  // past sqrt(1/2) the exponent steps
    const double e = double(int32_t(shifted >> 52) - 1023);
    bits = (shifted & 0x000FFFFFFFFFFFFFu) + 0x3FE6A09E667F3BCDu;
    double m;
    memcpy(&m, &bits, sizeof m);
    return rounded_sum(e, 0.693147180559945309417, twice_atanh((m - 1) / (m + 1)));
}

struct Point {
    double x, y;
};

// The point of the unit circle after `turn` of a full turn, 0 <= turn < 1: a quarter is chosen, and Taylor's series of
// sin and cos do the rest, at most an eighth of a turn to either side.
HOST_DEVICE Point on_circle(double turn) {
    const int32_t quarter = int32_t(4 * turn + 0.5);
    const double t = (turn - 0.25 * quarter) * 6.28318530717958647693, q = t * t;
    double sine = 1.0 / 355687428096000;  // 17!
    sine = rounded_sum(sine, q, -1.0 / 1307674368000);
    sine = rounded_sum(sine, q, 1.0 / 6227020800);
    sine = rounded_sum(sine, q, -1.0 / 39916800);
    sine = rounded_sum(sine, q, 1.0 / 362880);
    sine = rounded_sum(sine, q, -1.0 / 5040);
    sine = rounded_sum(sine, q, 1.0 / 120);
    sine = rounded_sum(sine, q, -1.0 / 6);
    sine = rounded_sum(sine * q, t, t);
    double cosine = -1.0 / 6402373705728000;  // 18!
    cosine = rounded_sum(cosine, q, 1.0 / 20922789888000);
    cosine = rounded_sum(cosine, q, -1.0 / 87178291200);
    cosine = rounded_sum(cosine, q, 1.0 / 479001600);
    cosine = rounded_sum(cosine, q, -1.0 / 3628800);
    cosine = rounded_sum(cosine, q, 1.0 / 40320);
    cosine = rounded_sum(cosine, q, -1.0 / 720);
    cosine = rounded_sum(cosine, q, 1.0 / 24);
    cosine = rounded_sum(cosine, q, -1.0 / 2);
    cosine = rounded_sum(cosine, q, 1.0);
    const double x = quarter & 1 ? sine : cosine, y = quarter & 1 ? cosine : sine;
    return {((quarter + 1) & 2) ? -x : x, (quarter & 2) ? -y : y};
}

// Two independent standard normal numbers from two uniform ones, of which u is never 0: a point at distance
// sqrt(-2 log u) in a direction that is uniform. u goes down to 2^-33 (float32: up to 6.7 sigma) or 2^-54 (8.6 sigma).
HOST_DEVICE Point normal_pair(double u, double turn) {
    const double radius = sqrt(-2 * log_of(u));
    const Point direction = on_circle(turn);
    return {radius * direction.x, radius * direction.y};
}
HOST_DEVICE Point normal_pair(uint32_t radius_bits, uint32_t turn_bits) {
    return normal_pair((double(radius_bits) + 0.5) * 0x1p-32, double(turn_bits) * 0x1p-32);
}
HOST_DEVICE Point normal_pair(uint64_t radius_bits, uint64_t turn_bits) {
    return normal_pair((double(radius_bits >> 11) + 0.5) * 0x1p-53, double(turn_bits >> 11) * 0x1p-53);
}

// ---- Integers ----------------------------------------------------------------------------------------------------

// The upper half of a product of 128 bits.
HOST_DEVICE uint64_t high_product(uint64_t x, uint64_t y) {
#ifdef __CUDA_ARCH__
    return __umul64hi(x, y);
#else
    return uint64_t((static_cast<unsigned __int128>(x) * y) >> 64);
#endif
}

// Uniform in [0, range), range 0 standing for 2^64: a block taken as a fraction of 128 bits, times the range. No
// integer is likelier than another by more than one part in 2^64.
HOST_DEVICE uint64_t below(uint64_t range, const Block& block) {
    const uint64_t low = joined(block.word[0], block.word[1]), high = joined(block.word[2], block.word[3]);
    if (range == 0) return high;
    const uint64_t carry = high_product(low, range), middle = high * range;
    return high_product(high, range) + (middle + carry < carry);
}

// The same for a range of 32 bits, 1 to 2^32 - 1, word by word: products of 32 bits are vectors' work.
HOST_DEVICE uint32_t below(uint32_t range, const Block& block) {
    uint64_t product = 0;
    for (int k = 0; k < 4; k++) product = (product >> 32) + uint64_t(block.word[k]) * range;
    return high_half(product);
}

// ---- What a block becomes: PER_BLOCK elements --------------------------------------------------------------------
// Device code calls, for each block b, draw.elements(philox(stream, b), values), and writes them from b * PER_BLOCK on.

template <class T> struct UniformDraw;
template <class T> struct NormalDraw;

template <> struct UniformDraw<float> {
    enum { PER_BLOCK = 4 };
    double low, high;
    HOST_DEVICE void elements(const Block& block, float* values) const {
        for (int k = 0; k < 4; k++) values[k] = between(unit_float(block.word[k]), low, high);
    }
};
template <> struct UniformDraw<double> {
    enum { PER_BLOCK = 2 };
    double low, high;
    HOST_DEVICE void elements(const Block& block, double* values) const {
        for (int k = 0; k < 2; k++)
            values[k] = between(unit_double(joined(block.word[2 * k], block.word[2 * k + 1])), low, high);
    }
};

template <> struct NormalDraw<float> {
    enum { PER_BLOCK = 4 };
    double mean, std;
    HOST_DEVICE void elements(const Block& block, float* values) const {
        for (int k = 0; k < 2; k++) {
            const Point pair = normal_pair(block.word[2 * k], block.word[2 * k + 1]);
            values[2 * k] = float(rounded_sum(std, pair.x, mean));
            values[2 * k + 1] = float(rounded_sum(std, pair.y, mean));
        }
    }
};
template <> struct NormalDraw<double> {
    enum { PER_BLOCK = 2 };
    double mean, std;
    HOST_DEVICE void elements(const Block& block, double* values) const {
        const Point pair = normal_pair(joined(block.word[0], block.word[1]), joined(block.word[2], block.word[3]));
        values[0] = rounded_sum(std, pair.x, mean);
        values[1] = rounded_sum(std, pair.y, mean);
    }
};

template <class T> struct IntegerDraw {
    enum { PER_BLOCK = 1 };
    int64_t low;
    uint64_t range;  // 0 is 2^64
    HOST_DEVICE void elements(const Block& block, T* values) const {
        *values = T(int64_t(uint64_t(low) + below(range, block)));
    }
};

template <class T> struct NearIntegerDraw {
    enum { PER_BLOCK = 1 };
    int64_t low;
    uint32_t range;
    HOST_DEVICE void elements(const Block& block, T* values) const {
        *values = T(int64_t(uint64_t(low) + below(range, block)));
    }
};
