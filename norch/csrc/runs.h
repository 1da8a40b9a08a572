// From operands of any layout to plain loops over elements that lie side by side: walk() runs such a loop straight from
// memory where the operands are contiguous or repeated, otherwise through small tiles in the cache, so that transposed
// operands are read a cache line at a time.

#pragma once
#include <stdlib.h>
#include <string.h>

#include <type_traits>

#include "parallel.h"
#include "tensor.h"
#include "walk.h"

inline namespace NORCH_ISA {
namespace {

enum {
    MAX_OPERANDS = 5,
    PIECE = 16384,   // elements of a row that the loop is given at once
    SHORT_ROW = 16,  // rows shorter than this are gathered into tiles
    TILE_ELEMENTS = 1024,
    TILE_COLUMNS = 64,  // of a tile of a transposed operand: 16 rows of 64, read as 64 runs of 16
};

// ---- From layouts to runs of elements ---------------------------------------------------------------------------

// What the loop of a kernel works on: n elements of each operand. The last operands are those it writes.
struct Run {
    char* data[MAX_OPERANDS];
    bool repeats[MAX_OPERANDS];  // a single element stands for all n
    int64_t n;
    const void* options;
};
using Loop = void (*)(const Run& run);

template <int N>
struct Walk {
    Layout<N> layout;
    char* data[N];
    int64_t item[N];  // bytes of an element
    int written;      // how many operands the loop writes
    bool transposed;  // an operand has its stride 1 in the last dimension but one
    Loop loop;
    Run run;
};

// Copies between a tile, whose rows are contiguous, and a tensor, along the smaller stride of the tensor.
template <class Word, bool STORE>
void copy_tile(Word* tile, Word* tensor, int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride) {
    auto copy = [=](int64_t row, int64_t column) {
        Word &in_tile = tile[row * columns + column], &in_tensor = tensor[row * row_stride + column * column_stride];
        if (STORE)
            in_tensor = in_tile;
        else
            in_tile = in_tensor;
    };
    if (llabs(row_stride) < llabs(column_stride)) {
        // Transposed: each column is a cache line or two of its own, better fetched all at once than one by one.
        for (int64_t column = 0; column < columns; column++) {
            __builtin_prefetch(tensor + column * column_stride);
            __builtin_prefetch(tensor + column * column_stride + (rows - 1) * row_stride);
        }
        for (int64_t column = 0; column < columns; column++)
            for (int64_t row = 0; row < rows; row++) copy(row, column);
    } else {
        for (int64_t row = 0; row < rows; row++)
            for (int64_t column = 0; column < columns; column++) copy(row, column);
    }
}

// Elements are copied as words of their size, whatever their dtype.
typedef uint32_t Word4 __attribute__((may_alias));
typedef uint64_t Word8 __attribute__((may_alias));

template <bool STORE>
void copy_tile(int64_t size, char* tile, char* tensor, int64_t rows, int64_t columns, int64_t row_stride,
               int64_t column_stride) {
    auto copy = [&](auto* word) {
        using Word = std::remove_reference_t<decltype(*word)>;
        copy_tile<Word, STORE>(reinterpret_cast<Word*>(tile), reinterpret_cast<Word*>(tensor), rows, columns,
                               row_stride, column_stride);
    };
    if (size == 1) copy(static_cast<uint8_t*>(nullptr));
    if (size == 4) copy(static_cast<Word4*>(nullptr));
    if (size == 8) copy(static_cast<Word8*>(nullptr));
}

// Every operand steps through a row by 0 or 1: the loop runs on the tensors themselves, long rows in pieces.
template <int N>
void walk_rows(const Walk<N>& walk) {
    const int last = walk.layout.ndim - 1;
    const int64_t n = walk.layout.shape[last], rows = walk.layout.size / n;
    const int64_t piece = n < PIECE ? n : int64_t(PIECE), pieces = (n + piece - 1) / piece;
    parallel_for(rows * pieces, 1 + SMALL_WORK / piece, [&](int64_t begin, int64_t end) {
        Run run = walk.run;
        for (int k = 0; k < N; k++) run.repeats[k] = walk.layout.strides[k][last] == 0;
        Odometer<N> at(walk.layout, last);
        at.seek(begin / pieces);
        for (int64_t i = begin; i < end; i++) {
            const int64_t start = i % pieces * piece;
            for (int k = 0; k < N; k++)
                run.data[k] = walk.data[k] + (at.offset[k] + start * walk.layout.strides[k][last]) * walk.item[k];
            run.n = n - start < piece ? n - start : piece;
            walk.loop(run);
            if (start + piece >= n) at.next();
        }
    });
}

// One tile of the last two dimensions: operands that the loop cannot take as they are go through a buffer.
template <int N>
void run_tile(const Walk<N>& walk, char* const (&corner)[N], int64_t rows, int64_t columns) {
    const Layout<N>& layout = walk.layout;
    Run run = walk.run;
    const int last = layout.ndim - 1;
    const bool by_row = columns >= SHORT_ROW;  // else the tile is one run
    alignas(64) char buffer[N][TILE_ELEMENTS * sizeof(double)];
    bool staged[N];
    int64_t row_stride[N];
    for (int k = 0; k < N; k++) {
        const int64_t step = layout.strides[k][last];
        row_stride[k] = last > 0 ? layout.strides[k][last - 1] : 0;
        const bool flat = rows == 1 || (step == 0 ? row_stride[k] == 0 : row_stride[k] == columns);
        staged[k] = (step != 0 && step != 1) || !(by_row || flat);
        run.repeats[k] = step == 0 && !staged[k];
        if (staged[k]) copy_tile<false>(walk.item[k], buffer[k], corner[k], rows, columns, row_stride[k], step);
    }
    run.n = by_row ? columns : rows * columns;
    int64_t step[N];  // bytes to the next row
    for (int k = 0; k < N; k++) {
        run.data[k] = staged[k] ? buffer[k] : corner[k];
        step[k] = (staged[k] ? columns : row_stride[k]) * walk.item[k];
    }
    for (int64_t row = 0; row < (by_row ? rows : 1); row++) {
        walk.loop(run);
        for (int k = 0; k < N; k++) run.data[k] += step[k];
    }
    for (int k = N - walk.written; k < N; k++)
        if (staged[k])
            copy_tile<true>(walk.item[k], buffer[k], corner[k], rows, columns, row_stride[k], layout.strides[k][last]);
}

template <int N>
void walk_tiles(const Walk<N>& walk) {
    const Layout<N>& layout = walk.layout;
    const int last = layout.ndim - 1;
    const int64_t height = last > 0 ? layout.shape[last - 1] : 1, width = layout.shape[last];
    int64_t columns = walk.transposed ? TILE_ELEMENTS / height : int64_t(TILE_ELEMENTS);
    if (columns < TILE_COLUMNS) columns = TILE_COLUMNS;
    if (columns > width) columns = width;
    const int64_t rows = TILE_ELEMENTS / columns, bands = (height + rows - 1) / rows;
    const int64_t matrices = layout.size / (height * width);
    parallel_for(matrices * bands, 1 + SMALL_WORK / (rows * width), [&](int64_t begin, int64_t end) {
        Odometer<N> at(layout, last > 0 ? last - 1 : 0);
        at.seek(begin / bands);
        for (int64_t band = begin; band < end; band++) {
            const int64_t i = band % bands * rows;
            for (int64_t j = 0; j < width; j += columns) {
                char* corner[N];
                for (int k = 0; k < N; k++) {
                    const int64_t down = last > 0 ? i * layout.strides[k][last - 1] : 0;
                    corner[k] = walk.data[k] + (at.offset[k] + down + j * layout.strides[k][last]) * walk.item[k];
                }
                run_tile(walk, corner, height - i < rows ? height - i : rows,
                         width - j < columns ? width - j : columns);
            }
            if (i + rows >= height) at.next();
        }
    });
}

// Runs loop over all elements of the operands, which have one shape; it writes the last `written` of them.
template <int N>
void walk(const Tensor* const (&operands)[N], int written, Loop loop, const void* options = nullptr) {
    Walk<N> walk = {};
    walk.layout = collapse(operands);
    if (walk.layout.size == 0) return;
    for (int k = 0; k < N; k++) {
        walk.data[k] = static_cast<char*>(operands[k]->data);
        walk.item[k] = item_size(operands[k]->dtype);
    }
    walk.written = written;
    walk.loop = loop;
    walk.run.options = options;

    // The output's smallest stride goes last.
    Layout<N>& layout = walk.layout;
    const int last = layout.ndim - 1;
    for (int d = 0; d < last; d++)
        if (llabs(layout.strides[N - 1][d]) < llabs(layout.strides[N - 1][last])) swap_dims(layout, d, last);

    // An operand with another stride there may be transposed: the dimension of its stride 1 completes the tile.
    bool plain = true;
    walk.transposed = false;
    for (int k = 0; k < N; k++) {
        if (layout.strides[k][last] == 0 || layout.strides[k][last] == 1) continue;
        plain = false;
        for (int d = 0; d < last && !walk.transposed; d++) {
            if (layout.strides[k][d] != 1) continue;
            swap_dims(layout, d, last - 1);
            walk.transposed = true;
        }
    }
    if (plain && (last == 0 || layout.shape[last] >= SHORT_ROW)) return walk_rows(walk);
    walk_tiles(walk);
}

// ---- Operands of a loop -----------------------------------------------------------------------------------------

// An operand inside a loop. Both kinds read x[i]; the compiler sees which of them needs no load.
template <class T>
struct SideBySide {
    const T* data;
    T operator[](int64_t i) const { return data[i]; }
};
template <>
struct SideBySide<bool> {  // as bytes: g++ vectorises no loop that loads a bool
    const bool* data;
    bool operator[](int64_t i) const { return reinterpret_cast<const uint8_t*>(data)[i] != 0; }
};
template <class T>
struct Repeated {
    T value;
    T operator[](int64_t) const { return value; }
};

template <class T, class F>
void with_operand(const Run& run, int k, F f) {
    const T* data = reinterpret_cast<const T*>(run.data[k]);
    if (run.repeats[k]) return f(Repeated<T>{*data});
    f(SideBySide<T>{data});
}

}  // namespace
}  // namespace NORCH_ISA
