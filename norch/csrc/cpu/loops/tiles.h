// Copies of tiles of a tensor into the cache and back, transposed if necessary, and stores that bypass the cache.

#pragma once
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

#include <type_traits>

#include "cpu/loops/simd.h"
#include "cpu/loops/odometer.h"

inline namespace NORCH_ISA {

// ---- Transposing -------------------------------------------------------------------------------------------------

// Elements are words of their size.
typedef uint16_t Word2 __attribute__((may_alias));
typedef uint32_t Word4 __attribute__((may_alias));
typedef uint64_t Word8 __attribute__((may_alias));

// to(j, i) = from(i, j) for a block of SIDE x SIDE elements; rows are from_row and to_row elements apart.
template <int SIDE, class Word>
void naive_transpose_block(const Word* from, int64_t from_row, Word* to, int64_t to_row) {
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) to[j * to_row + i] = from[i * from_row + j];
}

template <int ITEM, int BYTES = VECTOR_BYTES>  // of an element, of a vector
struct Words {
    using Lane =
        std::conditional_t<ITEM == 1, uint8_t,
                           std::conditional_t<ITEM == 2, uint16_t, std::conditional_t<ITEM == 4, uint32_t, uint64_t>>>;
    typedef Lane Vector __attribute__((vector_size(BYTES), aligned(sizeof(Lane)), may_alias));
};

// One step of a transposition in vectors: in each square of 2 x DISTANCE elements the upper right quarter changes
// places with the lower left one. Steps of distance 1, 2, 4, ... transpose the block.
template <int DISTANCE, class Vector, int SIDE>
inline __attribute__((always_inline)) void swap_quarters(Vector (&row)[SIDE]) {
    Vector upper, lower;  // where each element comes from, counted through both rows
    for (int j = 0; j < SIDE; j++) {
        upper[j] = j & DISTANCE ? SIDE + (j ^ DISTANCE) : j;
        lower[j] = j & DISTANCE ? SIDE + j : j ^ DISTANCE;
    }
    UNROLL for (int i = 0; i < SIDE; i++) {
        if (i & DISTANCE) continue;
        const Vector x = row[i], y = row[i + DISTANCE];
        row[i] = __builtin_shuffle(x, y, upper);
        row[i + DISTANCE] = __builtin_shuffle(x, y, lower);
    }
    if constexpr (DISTANCE * 2 < SIDE) swap_quarters<DISTANCE * 2>(row);
}

// A block of 16 x 16 elements of 2 bytes: in squares of 2 x 2 two of them change places, then pairs as those of 4 bytes.
template <class Word>
void transpose_pairs(const Word* from, int64_t from_row, Word* to, int64_t to_row) {
    enum { PAIRS = 8 };
    typedef uint32_t Vector __attribute__((vector_size(4 * PAIRS), aligned(2), may_alias));
    Vector even[PAIRS], odd[PAIRS];
    UNROLL for (int i = 0; i < PAIRS; i++) {
        const Vector x = *reinterpret_cast<const Vector*>(from + 2 * i * from_row);
        const Vector y = *reinterpret_cast<const Vector*>(from + (2 * i + 1) * from_row);
        even[i] = (x & 0xFFFFu) | (y << 16);
        odd[i] = (x >> 16) | (y & 0xFFFF0000u);
    }
    swap_quarters<1>(even);
    swap_quarters<1>(odd);
    UNROLL for (int i = 0; i < PAIRS; i++) {
        *reinterpret_cast<Vector*>(to + 2 * i * to_row) = even[i];
        *reinterpret_cast<Vector*>(to + (2 * i + 1) * to_row) = odd[i];
    }
}

template <int SIDE, class Word>
void transpose_block(const Word* from, int64_t from_row, Word* to, int64_t to_row) {
#ifndef __clang__  // which has no __builtin_shuffle
    if constexpr (sizeof(Word) == 2 && SIDE == 16 && VECTOR_BYTES >= 32)
        return transpose_pairs(from, from_row, to, to_row);
    if constexpr (SIDE * sizeof(Word) >= 16 && sizeof(Word) > 2) {
        using Vector = typename Words<sizeof(Word), SIDE * sizeof(Word)>::Vector;
        Vector row[SIDE];
        UNROLL for (int i = 0; i < SIDE; i++) row[i] = *reinterpret_cast<const Vector*>(from + i * from_row);
        swap_quarters<1>(row);
        UNROLL for (int i = 0; i < SIDE; i++) * reinterpret_cast<Vector*>(to + i * to_row) = row[i];
        return;
    }
#endif
    naive_transpose_block<SIDE>(from, from_row, to, to_row);
}

// n rows of W elements that follow on each other become W rows, `row` elements apart; or the reverse. (As W is a constant,
// g++ vectorises most of these.)
template <int W, bool REVERSE, class Word>
void split_rows(const Word* from, Word* to, int64_t row, int64_t n) {
    INDEPENDENT for (int64_t i = 0; i < n; i++) {
        UNROLL for (int j = 0; j < W; j++) {
            if (REVERSE)
                to[i * W + j] = from[j * row + i];
            else
                to[j * row + i] = from[i * W + j];
        }
    }
}

// Each of n elements W times
template <int W, class Word>
void repeat_elements(const Word* from, Word* to, int64_t n) {
    INDEPENDENT for (int64_t i = 0; i < n; i++) { UNROLL for (int j = 0; j < W; j++) to[i * W + j] = from[i]; }
}

// An element n times, n >= LANES; vectors overlap at the end.
template <int LANES, class Word>
inline void repeat_element(Word element, Word* to, int64_t n) {
    Word vector[LANES];
    for (Word& lane : vector) lane = element;
    for (int64_t i = 0; i < n; i += LANES) memcpy(to + smaller(i, n - LANES), vector, sizeof vector);
}

// Calls f with a width from 2 to 8 as a constant; false for others.
template <int W = 2, class F>
bool with_width(int64_t width, F f) {
    enum { WIDEST = 8 };
    if (width == W) return f(std::integral_constant<int, W>()), true;
    if constexpr (W < WIDEST) return with_width<W + 1>(width, f);
    return false;
}

// to(j, i) = from(i, j) in blocks of SIDE x SIDE, of which the last ones overlap; in smaller ones if a side is shorter.
template <int SIDE, class Word>
void transpose_blocks(const Word* from, int64_t from_row, Word* to, int64_t to_row, int64_t rows, int64_t columns) {
    if constexpr (SIDE > 1)
        if (rows < SIDE || columns < SIDE)
            return transpose_blocks<SIDE == 4 ? 1 : SIDE / 2>(from, from_row, to, to_row, rows, columns);
    for (int64_t k = 0; k < rows; k += SIDE)
        for (int64_t l = 0; l < columns; l += SIDE) {
            const int64_t i = smaller(k, rows - SIDE), j = smaller(l, columns - SIDE);
            transpose_block<SIDE>(from + i * from_row + j, from_row, to + j * to_row + i, to_row);
        }
}

// to(j, i) = from(i, j) for i < rows and j < columns.
template <class Word>
void transpose(const Word* from, int64_t from_row, Word* to, int64_t to_row, int64_t rows, int64_t columns) {
    if (from_row == columns &&
        with_width(columns, [=](auto width) { split_rows<width, false>(from, to, to_row, rows); }))
        return;
    const auto join = [=](auto width) {
        if (from_row == 0)
            repeat_elements<width>(from, to, columns);
        else
            split_rows<width, true>(from, to, from_row, columns);
    };
    if (to_row == rows && with_width(rows, join)) return;
    enum { LANES = VECTOR_BYTES / sizeof(Word) };
    if (from_row == 0 && rows >= LANES) {  // one number for each row
        for (int64_t i = 0; i < columns; i++) repeat_element<LANES>(from[i], to + i * to_row, rows);
        return;
    }
    transpose_blocks<sizeof(Word) <= 2 ? 16 : VECTOR_BYTES / sizeof(Word)>(from, from_row, to, to_row, rows, columns);
}

// ---- Rows --------------------------------------------------------------------------------------------------------

// Copies a row. (memcpy takes longer for a short one, and on some processors much longer for a copy that lies a few bytes
// behind the row, modulo a page.)
template <class T>
inline void copy_row(const T* from, T* to, int64_t n) {
    enum { BLOCK = 64 / sizeof(T), SMALL = 16 / sizeof(T) };
    if (n < SMALL) {
        for (int64_t i = 0; i < n; i++) to[i] = from[i];
        return;
    }
    if (n < BLOCK) {
        const int64_t last = n - SMALL;
        for (int64_t i = 0; i < last; i += SMALL) memcpy(to + i, from + i, SMALL * sizeof(T));
        memcpy(to + last, from + last, SMALL * sizeof(T));
        return;
    }
    for (int64_t i = 0; i < n; i += BLOCK) {
        const int64_t at = smaller(i, n - BLOCK);  // some elements of the last block are copied twice
        memcpy(to + at, from + at, BLOCK * sizeof(T));
    }
}

// Copies rows of bytes that one or two words of W bytes fill, which may overlap.
template <int W>
void copy_words(const char* from, int64_t from_row, char* to, int64_t to_row, int64_t rows, int64_t bytes) {
    const int64_t last = bytes - W;
    for (int64_t i = 0; i < rows; i++, from += from_row, to += to_row) {
        char first[W], second[W];
        memcpy(first, from, W);
        memcpy(second, from + last, W);
        memcpy(to, first, W);
        memcpy(to + last, second, W);
    }
}

// Copies rows of n elements that lie side by side; the distances between rows are elements, too.
template <class T>
void copy_rows(const T* from, int64_t from_row, T* to, int64_t to_row, int64_t rows, int64_t n) {
    const auto copy = [&](auto words) {
        words(reinterpret_cast<const char*>(from), from_row * int64_t(sizeof(T)), reinterpret_cast<char*>(to),
              to_row * int64_t(sizeof(T)), rows, n * int64_t(sizeof(T)));
    };
    const int64_t bytes = n * int64_t(sizeof(T));
    if (bytes > 64)
        for (int64_t i = 0; i < rows; i++) copy_row(from + i * from_row, to + i * to_row, n);
    else if (bytes >= 32)
        copy(copy_words<32>);
    else if (bytes >= 16)
        copy(copy_words<16>);
    else if (bytes >= 8)
        copy(copy_words<8>);
    else if (bytes >= 4)
        copy(copy_words<4>);
    else if (bytes >= 2)
        copy(copy_words<2>);
    else
        for (int64_t i = 0; i < rows; i++) to[i * to_row] = from[i * from_row];
}

// ---- Tiles -------------------------------------------------------------------------------------------------------

#ifndef __clang__
// to[i] = from[n - 1 - i] in vectors of BYTES; false for rows that fill none. (g++ finds these shuffles for some words.)
template <int BYTES, class Word>
bool reverse_in_vectors(const Word* from, Word* to, int64_t n) {
    enum { LANES = BYTES / sizeof(Word) };
    if (VECTOR_BYTES < 32 || VECTOR_BYTES < BYTES || n < LANES) return false;
    using Lane = typename Words<sizeof(Word)>::Lane;
    typedef Lane Vector __attribute__((vector_size(BYTES), aligned(sizeof(Lane)), may_alias));
    Vector back;
    for (int j = 0; j < LANES; j++) back[j] = Lane(LANES - 1 - j);
    for (int64_t i = 0; i < n; i += LANES) {
        const int64_t at = smaller(i, n - LANES);  // some elements of the last vector are copied twice
        const Vector x = *reinterpret_cast<const Vector*>(from + n - LANES - at);
        *reinterpret_cast<Vector*>(to + at) = __builtin_shuffle(x, back);
    }
    return true;
}
#endif

// to[i] = from[n - 1 - i]
template <class Word>
void reverse_row(const Word* from, Word* to, int64_t n) {
    enum { BLOCK = 16 };
#ifndef __clang__
    if (reverse_in_vectors<64>(from, to, n) || reverse_in_vectors<32>(from, to, n) ||
        reverse_in_vectors<16>(from, to, n))
        return;
#endif
    if (n < BLOCK) {
        for (int64_t i = 0; i < n; i++) to[i] = from[n - 1 - i];
        return;
    }
    for (int64_t i = 0; i < n; i += BLOCK) {
        const int64_t at = smaller(i, n - BLOCK);
        const Word* end = from + n - at;
        Word block[BLOCK];
        for (int j = 0; j < BLOCK; j++) block[j] = end[-1 - j];
        memcpy(to + at, block, sizeof block);
    }
}

enum { STRIDED_PIECE = 8 };  // elements that are copied between equal distances without a loop

// Copies N elements of each row between a tile and a tensor.
template <int N, bool STORE, class Word>
void copy_pieces(Word* tile, Word* tensor, int64_t rows, int64_t tile_row, int64_t row_stride, int64_t stride) {
    for (; rows > 0; rows--, tile += tile_row, tensor += row_stride) {
        Word piece[N];
        UNROLL for (int j = 0; j < N; j++) piece[j] = STORE ? tile[j] : tensor[j * stride];
        UNROLL for (int j = 0; j < N; j++)(STORE ? tensor[j * stride] : tile[j]) = piece[j];
    }
}

// The same of rows that one or two pieces fill, which may overlap.
template <bool STORE, int N = 1, class Word>
void copy_short_rows(Word* tile, Word* tensor, int64_t rows, int64_t columns, int64_t row_stride, int64_t stride) {
    if (N == columns) return copy_pieces<N, STORE>(tile, tensor, rows, columns, row_stride, stride);
    if constexpr (N < STRIDED_PIECE) {
        copy_short_rows<STORE, N + 1>(tile, tensor, rows, columns, row_stride, stride);
    } else {
        const int64_t last = columns - N;
        copy_pieces<N, STORE>(tile, tensor, rows, columns, row_stride, stride);
        copy_pieces<N, STORE>(tile + last, tensor + last * stride, rows, columns, row_stride, stride);
    }
}

// Copies n elements between a line without gaps and one with a stride.
template <class Word, bool STORE>
void copy_line(Word* line, Word* spread, int64_t n, int64_t stride) {
    auto copy = [=](int64_t i, auto step) {
        INDEPENDENT for (; i < n; i++) {
            if (STORE)
                spread[i * step] = line[i];
            else
                line[i] = spread[i * step];
        }
    };
    if (stride == -1) return STORE ? reverse_row(line, spread - (n - 1), n) : reverse_row(spread - (n - 1), line, n);
    if (stride == 2) return copy(0, std::integral_constant<int64_t, 2>());  // which the compiler vectorises
    const int64_t pieces = n / STRIDED_PIECE;
    copy_pieces<STRIDED_PIECE, STORE>(line, spread, pieces, STRIDED_PIECE, STRIDED_PIECE * stride, stride);
    copy(pieces * STRIDED_PIECE, stride);
}

// The same in a function of its own, of which g++ makes better loops for the rows of a tile.
template <class Word, bool STORE>
__attribute__((noinline)) void copy_line_of_tile(Word* line, Word* spread, int64_t n, int64_t stride) {
    copy_line<Word, STORE>(line, spread, n, stride);
}

// Copies between a tile, whose rows are contiguous, and a tensor, along the smaller stride of the tensor.
template <class Word, bool STORE>
void copy_tile(Word* tile, Word* tensor, int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride) {
    if (row_stride == 1 && column_stride != 1) {
        if (STORE) return transpose(tile, columns, tensor, column_stride, rows, columns);
        return transpose(tensor, column_stride, tile, columns, columns, rows);
    }
    if (column_stride == 1) {
        if (STORE) return copy_rows(tile, columns, tensor, row_stride, rows, columns);
        return copy_rows(tensor, row_stride, tile, columns, rows, columns);
    }
    if (rows > 1 && columns <= 2 * STRIDED_PIECE)
        return copy_short_rows<STORE>(tile, tensor, rows, columns, row_stride, column_stride);
    if (rows == 1 || llabs(row_stride) >= llabs(column_stride)) {
        for (int64_t row = 0; row < rows; row++)
            copy_line_of_tile<Word, STORE>(tile + row * columns, tensor + row * row_stride, columns, column_stride);
        return;
    }
    enum { ABREAST = 16 };  // rows, of which parts stay in the first cache
    for (int64_t first = 0; first < rows; first += ABREAST) {
        const int64_t end = smaller(first + ABREAST, rows);
        for (int64_t column = 0; column < columns; column++) {
            for (int64_t row = first; row < end; row++) {
                Word &in_tile = tile[row * columns + column],
                     &in_tensor = tensor[row * row_stride + column * column_stride];
                if (STORE)
                    in_tensor = in_tile;
                else
                    in_tile = in_tensor;
            }
        }
    }
}

// The same for elements of `size` bytes (cpu/walks.cpp)
template <bool STORE>
void copy_tile(int64_t size, char* tile, char* tensor, int64_t rows, int64_t columns, int64_t row_stride,
               int64_t column_stride);

// ---- Past the cache ----------------------------------------------------------------------------------------------

#ifdef __SSE2__
enum { CAN_STREAM = 1 };

inline void stream_vector(char* to, const char* from) {  // `to` is a multiple of VECTOR_BYTES
#if defined(__AVX512F__)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
#elif defined(__AVX2__)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
#else
    _mm_stream_si128(reinterpret_cast<__m128i*>(to), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
#endif
}

// Copies to memory past the cache: a line that is written completely need not be read first. Before other threads read
// it, call streamed().
inline void stream(char* to, const char* from, int64_t n) {
    enum { LINE = 64 };
    const int64_t head = smaller(n, -reinterpret_cast<intptr_t>(to) & (LINE - 1)), whole = (n - head) / LINE * LINE;
    memcpy(to, from, size_t(head));
    to += head, from += head;
    for (int64_t i = 0; i < whole; i += VECTOR_BYTES) stream_vector(to + i, from + i);
    memcpy(to + whole, from + whole, size_t(n - head - whole));
}
inline void streamed() { _mm_sfence(); }
#else
enum { CAN_STREAM = 0 };
inline void stream(char* to, const char* from, int64_t n) { memcpy(to, from, size_t(n)); }
inline void streamed() {}
#endif

}  // namespace NORCH_ISA
