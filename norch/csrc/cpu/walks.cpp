// walk() of cpu/loops/strided_loops.h: runs a loop over contiguous elements on operands of any layout.
//
// Operands that are contiguous or repeated are used in place. Others go through tiles in the cache, so that transposed
// operands are read a cache line at a time. Results larger than the cache are written past it.

#include <stdlib.h>

#include <utility>

#include "cpu/backend.h"
#include "cpu/loops/strided_loops.h"
#include "cpu/loops/tiles.h"
#include "host/parallel.h"

inline namespace NORCH_ISA {

template <bool STORE>
void copy_tile(int64_t size, char* tile, char* tensor, int64_t rows, int64_t columns, int64_t row_stride,
               int64_t column_stride) {
    auto copy = [&](auto* word) {
        using Word = std::remove_reference_t<decltype(*word)>;
        copy_tile<Word, STORE>(reinterpret_cast<Word*>(tile), reinterpret_cast<Word*>(tensor), rows, columns,
                               row_stride, column_stride);
    };
    if (size == 1) copy(static_cast<uint8_t*>(nullptr));
    if (size == 2) copy(static_cast<Word2*>(nullptr));
    if (size == 4) copy(static_cast<Word4*>(nullptr));
    if (size == 8) copy(static_cast<Word8*>(nullptr));
}

template void copy_tile<false>(int64_t, char*, char*, int64_t, int64_t, int64_t, int64_t);
template void copy_tile<true>(int64_t, char*, char*, int64_t, int64_t, int64_t, int64_t);

namespace {

enum {
    TILE_BYTES = 16384,  // of each operand
    TILE_COLUMNS = 64,   // of a tile of a transposed operand: 64 x 64 floats
    FAR = 1 << 20,       // bytes of an operand that comes from beyond the second cache
    FAR_TILE = 4,        // times as large: 32 x 512 floats, as the long rows of the others come in time there
    FAR_COLUMNS = 512,
    LINE = 64,           // bytes of the cache
    SMALL_TILE = 256,    // elements
    SHORT_REPEATS = 96,  // bytes of a row beside a number that repeats: shorter ones are gathered
    BAND_BYTES = 8192,   // of rows that are one run
    PART_BYTES = 1024,   // of a result that is streamed
};

// ---- Walks -------------------------------------------------------------------------------------------------------

template <int N>
struct Walk {
    Layout<N> layout;
    char* data[N];
    int64_t item[N];  // bytes of an element
    int64_t largest_item;
    int64_t tile_size;  // elements of a tile
    int written;        // how many operands the loop writes
    bool transposed;    // an operand has its stride 1 in the last dimension but one
    bool streams;       // the last operand, which alone is written, goes past the cache
    bool gathers;       // rows are too short for the loop to run on each of them
    Loop loop;
    Run run;
};

// A run whose result is made in the cache, part after part, and streamed from there.
template <int N>
void run_streamed(const Walk<N>& walk, Run run) {
    alignas(64) char buffer[PART_BYTES];
    const int64_t item = walk.item[N - 1];
    char* out = run.data[N - 1];
    int64_t left = run.n;
    for (run.data[N - 1] = buffer; left > 0; left -= run.n) {
        run.n = smaller(left, PART_BYTES / item);
        walk.loop(run);
        stream(out, buffer, run.n * item);
        out += run.n * item;
        for (int k = 0; k < N - 1; k++) run.data[k] += run.repeats[k] ? 0 : run.n * walk.item[k];
    }
}

// Every operand steps through a row by 0 or 1: the loop runs on the tensors themselves, row after row.
template <int N>
void walk_short_rows(const Walk<N>& walk) {
    const Layout<N>& layout = walk.layout;
    const int last = layout.ndim - 1, across = last - 1;
    const int64_t n = layout.shape[last], rows = layout.shape[across];  // that one step separates
    parallel_for(layout.size / n, 1 + SMALL_WORK / n, [&](int64_t begin, int64_t end) {
        Run run = walk.run;
        int64_t down[N];
        for (int k = 0; k < N; k++) {
            run.repeats[k] = layout.strides[k][last] == 0;
            down[k] = layout.strides[k][across] * walk.item[k];
        }
        run.n = n;
        Odometer<N> at(layout, across);
        at.seek(begin / rows);
        for (int64_t row = begin % rows; begin < end; row = 0, at.next()) {
            for (int k = 0; k < N; k++) run.data[k] = walk.data[k] + at.offset[k] * walk.item[k] + row * down[k];
            for (const int64_t stop = smaller(end, begin + rows - row); begin < stop; begin++) {
                walk.loop(run);
                for (int k = 0; k < N; k++) run.data[k] += down[k];
            }
        }
    });
}

// The same of rows that are long, in pieces, or whose results go past the cache.
template <int N>
void walk_rows(const Walk<N>& walk) {
    const int last = walk.layout.ndim - 1;
    const int64_t n = walk.layout.shape[last], rows = walk.layout.size / n;
    if (last > 0 && n <= PIECE && !walk.streams) return walk_short_rows(walk);
    const int64_t piece = smaller(n, PIECE), pieces = (n + piece - 1) / piece;
    parallel_for(rows * pieces, 1 + SMALL_WORK / piece, [&](int64_t begin, int64_t end) {
        Run run = walk.run;
        for (int k = 0; k < N; k++) run.repeats[k] = walk.layout.strides[k][last] == 0;
        Odometer<N> at(walk.layout, last);
        at.seek(begin / pieces);
        int64_t start = begin % pieces * piece;
        for (int64_t i = begin; i < end; i++) {
            for (int k = 0; k < N; k++)
                run.data[k] = walk.data[k] + (at.offset[k] + start * walk.layout.strides[k][last]) * walk.item[k];
            run.n = smaller(piece, n - start);
            if (walk.streams)
                run_streamed(walk, run);
            else
                walk.loop(run);
            start += piece;
            if (start >= n) start = 0, at.next();
        }
        if (walk.streams) streamed();
    });
}

// How many rows are one run if a row that repeats is written as often into a buffer; 0 where rows do not follow on each
// other, none repeats, or they are long.
template <int N>
int64_t rows_of_band(const Walk<N>& walk) {
    const int last = walk.layout.ndim - 1;
    const int64_t n = walk.layout.shape[last], rows = BAND_BYTES / (n * walk.largest_item);
    bool any = false;
    if (last == 0 || walk.streams || rows < 4) return 0;
    for (int k = 0; k < N; k++) {
        const int64_t step = walk.layout.strides[k][last], down = walk.layout.strides[k][last - 1];
        const bool repeats = step == 1 && down == 0 && k < N - walk.written;
        if (!repeats && down != step * n) return 0;
        any |= repeats;
    }
    return any ? smaller(rows, walk.layout.shape[last - 1]) : 0;
}

// The same as walk_rows for short rows, `together` of them in a run: a call of the loop, and the elements that do not
// fill its vectors, cost as much as such a row.
template <int N>
void walk_bands(const Walk<N>& walk, int64_t together) {
    const Layout<N>& layout = walk.layout;
    const int last = layout.ndim - 1;
    const int64_t n = layout.shape[last], height = layout.shape[last - 1], bands = (height + together - 1) / together;
    parallel_for(layout.size / (n * height) * bands, 1 + SMALL_WORK / (together * n), [&](int64_t begin, int64_t end) {
        alignas(64) char buffer[N][BAND_BYTES];
        Run run = walk.run;
        Odometer<N> at(layout, last - 1);
        at.seek(begin / bands);
        for (int64_t i = begin; i < end; i++) {
            const int64_t row = i % bands * together;
            for (int k = 0; k < N; k++) {
                const int64_t down = layout.strides[k][last - 1], bytes = n * walk.item[k];
                char* const first = walk.data[k] + (at.offset[k] + row * down) * walk.item[k];
                run.repeats[k] = layout.strides[k][last] == 0;
                run.data[k] = down == 0 && !run.repeats[k] ? buffer[k] : first;
                if (run.data[k] == first || (i > begin && row > 0)) continue;
                memcpy(buffer[k], first, size_t(bytes));
                for (int64_t done = bytes, all = together * bytes; done < all; done *= 2)
                    memcpy(buffer[k] + done, buffer[k], size_t(smaller(done, all - done)));
            }
            run.n = smaller(together, height - row) * n;
            walk.loop(run);
            if (row + together >= height) at.next();
        }
    });
}

// One tile of the last two dimensions: operands that are neither contiguous nor repeated go through a buffer.
template <int N>
void run_tile(const Walk<N>& walk, char* const (&corner)[N], int64_t rows, int64_t columns) {
    const Layout<N>& layout = walk.layout;
    Run run = walk.run;
    const int last = layout.ndim - 1;
    const bool by_row = columns >= SHORT_ROW && !walk.gathers;  // else the tile is one run
    const bool streams = walk.streams && by_row && layout.strides[N - 1][last] == 1;
    alignas(64) char buffer[N][TILE_BYTES * FAR_TILE];
    bool staged[N];
    int64_t row_stride[N];
    for (int k = 0; k < N; k++) {
        const int64_t step = layout.strides[k][last];
        row_stride[k] = last > 0 ? layout.strides[k][last - 1] : 0;
        const bool flat = rows == 1 || (step == 0 ? row_stride[k] == 0 : row_stride[k] == columns);
        staged[k] = (step != 0 && step != 1) || !(by_row || flat);
        run.repeats[k] = step == 0 && !staged[k];
        const bool is_read = k < N - walk.written || run.options;  // a loop with options updates
        if (staged[k] && is_read)
            copy_tile<false>(walk.item[k], buffer[k], corner[k], rows, columns, row_stride[k], step);
    }
    run.n = by_row ? columns : rows * columns;
    int64_t step[N];  // bytes to the next row
    for (int k = 0; k < N; k++) {
        const bool in_buffer = staged[k] || (streams && k == N - 1);
        run.data[k] = in_buffer ? buffer[k] : corner[k];
        step[k] = (in_buffer ? columns : row_stride[k]) * walk.item[k];
    }
    for (int64_t row = 0; row < (by_row ? rows : 1); row++) {
        walk.loop(run);
        for (int k = 0; k < N; k++) run.data[k] += step[k];
    }
    const int64_t row_bytes = columns * walk.item[N - 1];
    for (int64_t row = 0; streams && row < rows; row++)
        stream(corner[N - 1] + row * row_stride[N - 1] * walk.item[N - 1], buffer[N - 1] + row * row_bytes, row_bytes);
    for (int k = N - walk.written; k < N; k++)
        if (staged[k])
            copy_tile<true>(walk.item[k], buffer[k], corner[k], rows, columns, row_stride[k], layout.strides[k][last]);
}

// The same where the last two dimensions are a small tile: many of them are one run.
template <int N>
void walk_small_tiles(const Walk<N>& walk) {
    const Layout<N>& layout = walk.layout;
    const int last = layout.ndim - 1;
    const int64_t rows = layout.shape[last - 1], columns = layout.shape[last], area = rows * columns;
    const int64_t tiles = layout.size / area, together = walk.tile_size / area,
                  runs = (tiles + together - 1) / together;
    bool flat[N], one[N];  // an operand without gaps, or of one element
    for (int k = 0; k < N; k++) {
        int64_t stride = 1;
        flat[k] = one[k] = true;
        for (int d = last; d >= 0; stride *= layout.shape[d--]) {
            flat[k] &= layout.strides[k][d] == stride;
            one[k] &= layout.strides[k][d] == 0;
        }
    }
    parallel_for(runs, 1 + SMALL_WORK / walk.tile_size, [&](int64_t begin, int64_t end) {
        alignas(64) char buffer[N][TILE_BYTES];
        Run run = walk.run;
        for (int64_t i = begin; i < end; i++) {
            const int64_t first = i * together, count = smaller(together, tiles - first);
            const auto move = [&](auto store, int k) {
                Odometer<N> at(layout, last - 1);
                at.seek(first);
                for (int64_t tile = 0; tile < count; tile++, at.next())
                    copy_tile<store>(walk.item[k], buffer[k] + tile * area * walk.item[k],
                                     walk.data[k] + at.offset[k] * walk.item[k], rows, columns,
                                     layout.strides[k][last - 1], layout.strides[k][last]);
            };
            for (int k = 0; k < N; k++) {
                run.repeats[k] = one[k];
                run.data[k] = one[k] ? walk.data[k] : flat[k] ? walk.data[k] + first * area * walk.item[k] : buffer[k];
                if (run.data[k] == buffer[k] && (k < N - walk.written || run.options)) move(std::false_type(), k);
            }
            run.n = count * area;
            walk.loop(run);
            for (int k = N - walk.written; k < N; k++)
                if (!flat[k]) move(std::true_type(), k);
        }
    });
}

template <int N>
void walk_tiles(const Walk<N>& walk) {
    const Layout<N>& layout = walk.layout;
    const int last = layout.ndim - 1;
    const int64_t height = last > 0 ? layout.shape[last - 1] : 1, width = layout.shape[last];
    const bool far = walk.transposed && layout.size * walk.largest_item > FAR;
    // What has a step is read along it, and stays in the first cache beside its tile.
    const int64_t size = far ? walk.tile_size * FAR_TILE : walk.transposed ? walk.tile_size : walk.tile_size / 4;
    int64_t columns = walk.transposed ? size / height : size;
    if (columns < (far ? FAR_COLUMNS : TILE_COLUMNS)) columns = far ? FAR_COLUMNS : TILE_COLUMNS;
    if (columns > width) columns = width;
    const int64_t rows = size / columns, bands = (height + rows - 1) / rows;
    const int64_t across = (width + columns - 1) / columns, matrices = layout.size / (height * width);
    parallel_for(matrices * bands * across, 1 + SMALL_WORK / (rows * columns), [&](int64_t begin, int64_t end) {
        Odometer<N> at(layout, last > 0 ? last - 1 : 0);
        at.seek(begin / (bands * across));
        for (int64_t tile = begin; tile < end; tile++) {
            const int64_t i = tile / across % bands * rows, j = tile % across * columns;
            char* corner[N];
            for (int k = 0; k < N; k++) {
                const int64_t down = last > 0 ? i * layout.strides[k][last - 1] : 0;
                corner[k] = walk.data[k] + (at.offset[k] + down + j * layout.strides[k][last]) * walk.item[k];
            }
            run_tile(walk, corner, smaller(rows, height - i), smaller(columns, width - j));
            if (i + rows >= height && j + columns >= width) at.next();
        }
        if (walk.streams) streamed();
    });
}

// Whether the operands are one run: each is contiguous, or, unless it is written, a single element repeated.
template <int N>
bool is_one_run(const Tensor* const (&operands)[N], int written, Run& run) {
    const Tensor& out = *operands[N - 1];
    for (int k = 0; k < N; k++) {
        bool repeats = k < N - written, steps = true;
        int64_t stride = 1;
        for (int d = out.ndim - 1; d >= 0; d--) {
            if (out.shape[d] == 1) continue;
            steps &= operands[k]->strides[d] == stride;
            repeats &= operands[k]->strides[d] == 0;
            stride *= out.shape[d];
        }
        if (!steps && !repeats) return false;
        run.data[k] = static_cast<char*>(operands[k]->data);
        run.repeats[k] = !steps;
    }
    run.n = out.size;
    return true;
}

// The dimension along which the elements of an operand share lines of the cache, if they do not along the last one: that
// of the smallest stride, but a short one only if there is no other. The last one if there is none.
template <int N>
int shared_lines(const Layout<N>& layout, const int64_t* strides, int64_t item) {
    enum { SHORT = 4 };
    const int last = layout.ndim - 1;
    int along = last;
    for (int d = 0; d < last; d++) {
        const int64_t step = llabs(strides[d]);
        if (step == 0 || step * item >= LINE || step >= llabs(strides[last])) continue;
        const bool is_short = layout.shape[d] < SHORT, was_short = layout.shape[along] < SHORT;
        if (along == last || (is_short == was_short ? step < llabs(strides[along]) : was_short)) along = d;
    }
    return along;
}

}  // namespace

template <int N>
void walk_as_stored(const Tensor* const (&operands)[N], int written, Loop loop, const void* options, bool updates,
                    int64_t block) {
    Run whole;
    whole.options = options;
    if (operands[N - 1]->size <= PIECE && is_one_run(operands, written, whole)) return loop(whole);

    Walk<N> walk = {};
    walk.layout = collapse(operands);
    if (walk.layout.size == 0) return;
    walk.largest_item = 1;
    bool in_place = written > 1 || updates;
    for (int k = 0; k < N; k++) {
        walk.data[k] = static_cast<char*>(operands[k]->data);
        walk.item[k] = item_size(operands[k]->dtype);
        if (walk.item[k] > walk.largest_item) walk.largest_item = walk.item[k];
        if (k < N - 1) in_place |= operands[k]->data == operands[N - 1]->data;
    }
    walk.tile_size = TILE_BYTES / walk.largest_item;
    walk.written = written;
    walk.streams = CAN_STREAM && !in_place && walk.layout.size * walk.item[N - 1] > LARGE;
    walk.loop = loop;
    walk.run.options = options;

    // The output's smallest stride goes last.
    Layout<N>& layout = walk.layout;
    const int last = layout.ndim - 1;
    for (int d = 0; d < last; d++)
        if (llabs(layout.strides[N - 1][d]) < llabs(layout.strides[N - 1][last])) swap_dims(layout, d, last);
    if (layout.strides[N - 1][last] != 1) walk.streams = false;

    // An operand with another stride there may be transposed: the dimension along which its elements share lines of the
    // cache completes the tile.
    bool plain = true, repeats = false;  // a number for each row
    const int64_t row = layout.shape[last];
    const bool is_few = last > 1 && row < SHORT_ROW && layout.size <= walk.tile_size;  // all are one run
    walk.transposed = false;
    for (int k = 0; k < N; k++) {
        repeats |= last > 0 && layout.strides[k][last] == 0 && layout.strides[k][last - 1] != 0;
        if (layout.strides[k][last] == 0 || layout.strides[k][last] == 1) continue;
        plain = false;
        const int along = walk.transposed || is_few ? last : shared_lines(layout, layout.strides[k], walk.item[k]);
        if (along == last) continue;
        swap_dims(layout, along, last - 1);
        walk.transposed = true;
    }
    if (const int64_t together = plain ? rows_of_band(walk) : 0) return walk_bands(walk, together);
    const int64_t few = repeats ? SHORT_REPEATS / walk.largest_item : int64_t(SHORT_ROW);
    walk.gathers = plain && last > 0 && (row < few || (row < 4 * block && row % block != 0));
    if (plain && !walk.gathers) return walk_rows(walk);
    const bool is_small = last > 1 && row < SHORT_ROW && row * layout.shape[last - 1] <= SMALL_TILE;
    if (is_few || is_small) return walk_small_tiles(walk);
    walk_tiles(walk);
}

// ---- Narrow dtypes (tensor.h) ------------------------------------------------------------------------------------

Conversions conversions_of(int32_t dtype) {
    Conversions found = {nullptr, nullptr};
    if (is_narrow(dtype))
        for_narrow(dtype, [&](auto narrow, auto wide) {
            using Narrow = typename decltype(narrow)::type;
            using Wide = typename decltype(wide)::type;
            found = {assign_loop<Narrow, Wide>, assign_loop<Wide, Narrow>};
        });
    return found;
}

namespace {

struct Widening {
    Conversions conversions[MAX_OPERANDS];  // null for operands that are not narrow
    int64_t item[MAX_OPERANDS];
    int count, written;
    Loop loop;
    const void* options;
};

// Runs a loop for the wide dtype on narrow operands: blocks of them are converted in the cache.
void widening_loop(const Run& run) {
    enum { BLOCK = 512 };
    alignas(64) char buffer[MAX_OPERANDS][BLOCK * sizeof(int32_t)];
    const Widening& widening = *static_cast<const Widening*>(run.options);
    const int first_written = widening.count - widening.written;
    Run block = run;
    block.options = widening.options;
    for (int64_t start = 0; start < run.n; start += BLOCK) {
        block.n = smaller(BLOCK, run.n - start);
        Run moved[MAX_OPERANDS] = {};  // from memory into the buffer
        for (int k = 0; k < widening.count; k++) {
            moved[k].data[0] = run.data[k] + (run.repeats[k] ? 0 : start * widening.item[k]);
            moved[k].data[1] = buffer[k];
            moved[k].n = run.repeats[k] ? 1 : block.n;
            const bool is_read = k < first_written || widening.options;
            if (is_read && widening.conversions[k].widen) widening.conversions[k].widen(moved[k]);
            block.data[k] = moved[k].data[widening.conversions[k].widen ? 1 : 0];
        }
        widening.loop(block);
        for (int k = first_written; k < widening.count; k++) {
            if (!widening.conversions[k].narrow) continue;
            std::swap(moved[k].data[0], moved[k].data[1]);
            widening.conversions[k].narrow(moved[k]);
        }
    }
}

}  // namespace

template <int N>
void walk(const Tensor* const (&operands)[N], int written, Loop loop, const void* options, bool (*widens)(int32_t),
          int64_t block) {
    bool any = false;
    for (const Tensor* operand : operands) any |= widens(operand->dtype);
    if (!any) return walk_as_stored<N>(operands, written, loop, options, options != nullptr, block);
    Widening widening = {{}, {}, N, written, loop, options};
    for (int k = 0; k < N; k++) {
        if (widens(operands[k]->dtype)) widening.conversions[k] = conversions_of(operands[k]->dtype);
        widening.item[k] = item_size(operands[k]->dtype);
    }
    walk_as_stored<N>(operands, written, widening_loop, &widening, options != nullptr);
}

#define WALKS(N)                                                                                          \
    template void walk_as_stored(const Tensor* const (&)[N], int, Loop, const void*, bool, int64_t);      \
    template void walk(const Tensor* const (&)[N], int, Loop, const void*, bool (*)(int32_t), int64_t);
WALKS(2)
WALKS(3)
WALKS(4)
WALKS(5)

}  // namespace NORCH_ISA
