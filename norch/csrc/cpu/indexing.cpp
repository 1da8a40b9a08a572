// CPU kernels that read and write where integers say.

#include <string.h>

#include "core/interpreter.h"
#include "cpu/backend.h"
#include "cpu/loops/odometer.h"
#include "cpu/loops/tiles.h"
#include "host/parallel.h"

inline namespace NORCH_ISA {
namespace {

enum {
    PIECE = 8192,      // elements of a row that a thread takes
    SHORT_ROW = 1024,  // bytes
    LONG_ROW = 128,    // elements: it takes longer to write them than to look at their place
    CHECKED = 512,     // places
    FEW = 16,          // elements of a row that is too short to be walked by itself,
    ABREAST = 128,     // and how many such rows are walked together
};

// A row of three operands: n elements of each, from these offsets on, and the strides between them.
struct Row {
    int64_t n, start[3], stride[3];
};

// Calls f(row) for every row, or piece of one, of three tensors of one shape; several threads call it. In order means
// that what has the same place in c, where strides are 0, comes one after another.
template <class F>
void for_rows(const Tensor& a, const Tensor& b, const Tensor& c, bool in_order, F f) {
    const Layout<3> layout = collapse<3>({&a, &b, &c});
    const int last = layout.ndim - 1;
    const auto line = [&](int64_t n, int along) {
        Row row = {n, {}, {}};
        for (int k = 0; k < 3; k++) row.stride[k] = layout.strides[k][along];
        return row;
    };
    const bool keeps_order = !in_order || layout.strides[2][0] != 0 || layout.strides[2][last] != 0;
    if (last == 1 && keeps_order && layout.shape[1] <= FEW && layout.shape[0] > layout.shape[1]) {
        const int64_t rows = layout.shape[0];  // a few of them at a time, column by column
        return parallel_for(rows, in_order ? rows : int64_t(SMALL_WORK), [&](int64_t begin, int64_t end) {
            for (; begin < end; begin += ABREAST)
                for (int64_t j = 0; j < layout.shape[1]; j++) {
                    Row column = line(smaller(ABREAST, end - begin), 0);
                    for (int k = 0; k < 3; k++) column.start[k] = begin * column.stride[k] + j * layout.strides[k][1];
                    f(column);
                }
        });
    }
    const int64_t n = layout.shape[last], in_row = (n + PIECE - 1) / PIECE, pieces = layout.size / n * in_row;
    parallel_for(pieces, in_order ? pieces : 1 + SMALL_WORK / smaller(n, PIECE), [&](int64_t begin, int64_t end) {
        if (in_row == 1 && last == 1) {  // the common case
            for (; begin < end; begin++) {
                Row row = line(n, 1);
                for (int k = 0; k < 3; k++) row.start[k] = begin * layout.strides[k][0];
                f(row);
            }
            return;
        }
        Odometer<3> at(layout, last);
        at.seek(begin / in_row);
        int64_t piece = begin % in_row;
        for (; begin < end; begin++) {
            const int64_t from = piece * PIECE;
            Row row = line(smaller(PIECE, n - from), last);
            for (int k = 0; k < 3; k++) row.start[k] = at.offset[k] + from * row.stride[k];
            f(row);
            if (++piece == in_row) piece = 0, at.next();
        }
    });
}

// ---- Integers ----------------------------------------------------------------------------------------------------

// Fails if one of n integers, `step` apart, is out of bounds.
void check_places(const Placing& placing, const int64_t* given, int64_t step, int64_t n) {
    const uint64_t size = uint64_t(placing.bounds.size), least = placing.wraps ? -size : 0;
    uint64_t outside = 0;  // its sign
    if (step == 1) {
        for (int64_t j = 0; j < n; j++) outside |= (uint64_t(given[j]) - least) | (size - 1 - uint64_t(given[j]));
    } else {
        for (int64_t j = 0; j < n; j++)
            outside |= (uint64_t(given[j * step]) - least) | (size - 1 - uint64_t(given[j * step]));
    }
    if (int64_t(outside) >= 0) return;
    for (int64_t j = 0; j < n; j++) {
        const int64_t place = given[j * step];
        if (place < int64_t(least) || place >= int64_t(size)) fail_with(placing.bounds, place);
    }
}

// Calls f(offset) for the places of a row, one after another; fails at one that is out of bounds. The branch costs
// nothing, and the elements are on their way while the next integers are looked at.
template <class F>
inline __attribute__((always_inline)) void for_offsets(const Placing& placing, const int64_t* given, int64_t step,
                                                       int64_t n, F f) {
    if (placing.bounds.kind == Fault::NONE) {
        for (; n > 0; n--, given += step) f(*given);
        return;
    }
    const int64_t size = placing.bounds.size, stride = placing.stride;
    const auto walk = [&](auto place_of) {
        for (; n > 0; n--, given += step) {
            const int64_t place = place_of(*given);
            if (uint64_t(place) >= uint64_t(size)) fail_with(placing.bounds, *given);
            f(place * stride);
        }
    };
    if (placing.wraps) return walk([=](int64_t place) { return place + ((place >> 63) & size); });
    walk([](int64_t place) { return place; });
}

// The offset of a row that has one place.
int64_t offset_of(const Placing& placing, const int64_t* given) {
    int64_t offset = 0;
    for_offsets(placing, given, 0, 1, [&](int64_t found) { offset = found; });
    return offset;
}

// ---- Reading -----------------------------------------------------------------------------------------------------

// out[j] = x[at(places[j])], several in a step.
template <class T, class F>
void take(const T* x, const int64_t* places, T* out, int64_t n, F at) {
    enum { STEP = 4 };
    int64_t j = 0;
    for (; j + STEP <= n; j += STEP) UNROLL for (int k = 0; k < STEP; k++) out[j + k] = x[at(places[j + k])];
    for (; j < n; j++) out[j] = x[at(places[j])];
}

// The same of places that were checked.
template <class T>
void take(const T* x, const int64_t* places, const Placing& placing, T* out, int64_t n) {
    const int64_t size = placing.bounds.size, stride = placing.stride;
    if (placing.bounds.kind == Fault::NONE || (stride == 1 && !placing.wraps))
        take(x, places, out, n, [](int64_t place) { return place; });
    else
        take(x, places, out, n, [=](int64_t place) { return (place + ((place >> 63) & size)) * stride; });
}

// n elements from as many places, side by side: the places are checked in vectors, a few at a time.
template <class T>
void read_places(const T* x, const int64_t* places, const Placing& placing, T* out, int64_t n) {
    if (placing.bounds.kind == Fault::NONE) return take(x, places, placing, out, n);
    for (int64_t start = 0; start < n; start += CHECKED) {
        const int64_t count = smaller(CHECKED, n - start);
        check_places(placing, places + start, 1, count);
        take(x, places + start, placing, out + start, count);
    }
}

template <class T>
__attribute__((noinline)) void read(const T* x, const int64_t* places, const Placing& placing, T* out, const Row& row) {
    const int64_t step = row.stride[0], out_step = row.stride[2];
    if (row.stride[1] == 0) {  // a whole row from one place
        x += offset_of(placing, places);
        if (step == 1 && out_step == 1) {
            row.n* int64_t(sizeof(T)) <= SHORT_ROW ? copy_row(x, out, row.n)
                                                   : (void)memcpy(out, x, size_t(row.n) * sizeof(T));
        } else {
            for (int64_t j = 0; j < row.n; j++) out[j * out_step] = x[j * step];
        }
        return;
    }
    if (step == 0 && out_step == 1 && row.stride[1] == 1) return read_places(x, places, placing, out, row.n);
    for_offsets(placing, places, row.stride[1], row.n, [&](int64_t offset) {
        *out = x[offset];
        x += step;
        out += out_step;
    });
}

// Whole rows of a table, one after another, as an embedding reads them; returns whether they are such rows.
template <class T>
bool read_table(const Tensor& x, const Tensor& places, const Placing& placing, const Tensor& out) {
    const Layout<3> layout = collapse<3>({&x, &places, &out});
    if (layout.ndim != 2 || layout.strides[0][0] != 0 || layout.strides[0][1] != 1 || layout.strides[1][1] != 0 ||
        layout.strides[2][1] != 1 || layout.shape[1] * int64_t(sizeof(T)) > SHORT_ROW)
        return false;
    const int64_t n = layout.shape[1], step = layout.strides[1][0], out_step = layout.strides[2][0];
    parallel_for(layout.shape[0], 1 + SMALL_WORK / n, [&](int64_t begin, int64_t end) {
        const T* table = data_as<const T>(x);
        T* to = data_as<T>(out) + begin * out_step;
        for_offsets(placing, data_as<const int64_t>(places) + begin * step, step, end - begin, [&](int64_t offset) {
            copy_row(table + offset, to, n);
            to += out_step;
        });
    });
    return true;
}

// Short rows whose elements come from places in a row each, as gather reads them: several are checked at a time. Returns
// whether they are such rows.
template <class T>
bool read_rows(const Tensor& x, const Tensor& places, const Placing& placing, const Tensor& out) {
    const Layout<3> layout = collapse<3>({&x, &places, &out});
    if (layout.ndim != 2 || layout.shape[1] > CHECKED / 4 || layout.strides[0][1] != 0 || layout.strides[1][1] != 1 ||
        layout.strides[2][1] != 1)
        return false;
    const int64_t n = layout.shape[1], down = layout.strides[1][0];
    const bool checks = placing.bounds.kind != Fault::NONE;
    if (checks && down != n) return false;
    parallel_for(layout.shape[0], 1 + SMALL_WORK / n, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin, count; i < end; i += count) {
            count = smaller(CHECKED / n, end - i);
            const T* from = data_as<const T>(x) + i * layout.strides[0][0];
            const int64_t* given = data_as<const int64_t>(places) + i * down;
            T* to = data_as<T>(out) + i * layout.strides[2][0];
            if (checks) check_places(placing, given, 1, count * n);
            for (int64_t k = 0; k < count; k++)
                take(from + k * layout.strides[0][0], given + k * down, placing, to + k * layout.strides[2][0], n);
        }
    });
    return true;
}

// Short rows, of which many have one place, as index_select reads them: a block of those is copied at once. Returns
// whether they are such rows.
template <class T>
bool read_blocks(const Tensor& x, const Tensor& places, const Placing& placing, const Tensor& out) {
    Layout<3> layout = collapse<3>({&x, &places, &out});
    const int last = layout.ndim - 1, down = last - 1;
    if (last == 0 || layout.strides[1][last] != 0) return false;
    if (layout.strides[1][down] != 0 && down > 0) swap_dims(layout, down, down - 1);
    const int64_t rows = layout.shape[down], n = layout.shape[last];
    const int64_t row = layout.strides[0][down], column = layout.strides[0][last], out_row = layout.strides[2][down];
    if (layout.strides[1][down] != 0 || layout.strides[2][last] != 1 || n * int64_t(sizeof(T)) >= SHORT_ROW ||
        (column != 1 && out_row != n && n > FEW))
        return false;
    const int64_t blocks = layout.size / (rows * n), pieces = (rows + ABREAST - 1) / ABREAST;
    parallel_for(blocks * pieces, 1 + SMALL_WORK / (smaller(rows, ABREAST) * n), [&](int64_t begin, int64_t end) {
        Odometer<3> at(layout, down);
        at.seek(begin % blocks);
        for (; begin < end; begin++, at.next()) {
            const int64_t first = begin / blocks * ABREAST, count = smaller(ABREAST, rows - first);
            const int64_t offset = offset_of(placing, data_as<const int64_t>(places) + at.offset[1]);
            T* from = data_as<T>(x) + at.offset[0] + offset + first * row;
            T* to = data_as<T>(out) + at.offset[2] + first * out_row;
            if (column == 1)
                copy_rows(from, row, to, out_row, count, n);
            else if (out_row == n)
                copy_tile<T, false>(to, from, count, n, row, column);
            else
                for (int64_t j = 0; j < n; j++)
                    for (int64_t i = 0; i < count; i++) to[i * out_row + j] = from[i * row + j * column];
        }
    });
    return true;
}

}  // namespace

// out[p] = x.data[p . x.strides + offset of places[p]]
void index_tensor_cpu(const Tensor& x, const Tensor& places, const Placing& placing, Tensor& out) {
    for_bits(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        if (read_table<T>(x, places, placing, out) || read_rows<T>(x, places, placing, out) ||
            read_blocks<T>(x, places, placing, out))
            return;
        for_rows(x, places, out, false, [&](const Row& row) {
            read(data_as<const T>(x) + row.start[0], data_as<const int64_t>(places) + row.start[1], placing,
                 data_as<T>(out) + row.start[2], row);
        });
    });
}

// ---- Writing -----------------------------------------------------------------------------------------------------

namespace {

// The offsets of the whole rows that a thread writes.
struct Share {
    int64_t begin = INT64_MIN, end = INT64_MAX;
};

template <Combining HOW, class T>
__attribute__((noinline)) void write(const T* x, const int64_t* places, const Placing& placing, Share share, T* out,
                                     const Row& row) {
    const int64_t step = row.stride[0], out_step = row.stride[2];
    const bool in_one_place = row.stride[1] == 0;
    const int64_t offset = in_one_place ? offset_of(placing, places) : 0;
    if (in_one_place && (offset < share.begin || offset >= share.end)) return;
    if (in_one_place && out_step == 1 && (step == 0 || step == 1)) {
        T* line = out + offset;
        const T value = *x;
        const int64_t n = row.n;  // a byte that is written might be part of the row
        if (step == 0) {
            INDEPENDENT for (int64_t j = 0; j < n; j++) line[j] = combined<HOW>(line[j], value);
        } else {
            INDEPENDENT for (int64_t j = 0; j < n; j++) line[j] = combined<HOW>(line[j], x[j]);
        }
        return;
    }
    for_offsets(placing, places, row.stride[1], row.n, [&](int64_t at) {
        out[at] = combined<HOW>(out[at], *x);
        x += step;
        out += out_step;
    });
}

// A part of a dimension.
Tensor part_of(const Tensor& x, int d, int64_t begin, int64_t end) {
    Tensor part = x;
    part.data = data_as<char>(x) + begin * x.strides[d] * item_size(x.dtype);
    part.size = x.size / x.shape[d] * (end - begin);
    part.shape[d] = end - begin;
    return part;
}

template <Combining HOW, class T>
void put(const Tensor& x, const Tensor& places, const Placing& placing, Share share, const Tensor& out) {
    for_rows(x, places, out, true, [&](const Row& row) {
        write<HOW>(data_as<const T>(x) + row.start[0], data_as<const int64_t>(places) + row.start[1], placing, share,
                   data_as<T>(out) + row.start[2], row);
    });
}

// Calls f(x, places, share, out) for parts that write to different places, on several threads: of the longest dimension
// that is not indexed. Each goes through the others in row order, so that the last of several values at one place wins.
// Rows that have one place are not parted, but each belongs to a thread: lines would move between the caches of two.
template <class F>
void for_parts(const Tensor& x, const Tensor& places, const Placing& placing, const Tensor& out, F f) {
    int widest = -1;
    for (int d = 0; d < out.ndim; d++)
        if (out.strides[d] != 0 && out.shape[d] > 1 && (widest < 0 || out.shape[d] > out.shape[widest])) widest = d;
    if (out.size <= SMALL_WORK) return f(x, places, Share(), out);
    const Unlocked unlocked;
    const bool in_row = widest >= 0 && widest == out.ndim - 1;
    const bool whole_rows = in_row && places.strides[widest] == 0;
    if (whole_rows && placing.apart && placing.bounds.size && out.shape[widest] >= LONG_ROW) {
        const int64_t size = placing.bounds.size, share = (size + thread_count() - 1) / thread_count();
        return parallel_for(size, share, [&](int64_t begin, int64_t end) {
            f(x, places, {begin * placing.stride, end * placing.stride}, out);
        });
    }
    if (widest < 0 || whole_rows || !placing.apart) return f(x, places, Share(), out);
    const int64_t n = out.shape[widest], share = in_row ? n / thread_count() : 1;
    const int64_t least = 1 + SMALL_WORK / (out.size / n), grain = least > share ? least : share;
    parallel_for(n, grain, [&](int64_t begin, int64_t end) {
        f(part_of(x, widest, begin, end), part_of(places, widest, begin, end), Share(),
          part_of(out, widest, begin, end));
    });
}

}  // namespace

// out.data[p . out.strides + offset of places[p]] = x[p], or += x[p] and so on. If places repeat, the last one wins.
void index_put_tensor_cpu(const Tensor& x, const Tensor& places, const Placing& placing, Combining how, Tensor& out) {
    if (how != REPLACE) {
        INTEGERS_IN_AVX2(x.dtype, index_put, x, places, placing, how, out);
    }
    if (placing.bounds.kind != Fault::NONE && !placing.fresh) {
        for_rows(places, places, places, false, [&](const Row& row) {
            check_places(placing, data_as<const int64_t>(places) + row.start[0], row.stride[0], row.n);
        });
    }
    const auto parts = [&](auto type, auto chosen) {
        using T = typename decltype(type)::type;
        const auto put_part = [&](const Tensor& from, const Tensor& at, Share share, const Tensor& to) {
            put<decltype(chosen)::value, T>(from, at, placing, share, to);
        };
        for_parts(x, places, placing, out, put_part);
    };
    if (how == REPLACE) return for_bits(x.dtype, [&](auto type) { parts(type, How<REPLACE>()); });
    for_any(x.dtype, [&](auto type) { for_combining(how, [&](auto chosen) { parts(type, chosen); }); });
}

// ---- Triangles ---------------------------------------------------------------------------------------------------

namespace {

// Copies or clears rows of n elements.
template <class T>
void copy_or_clear(const T* from, const int64_t (&from_stride)[2], T* to, const int64_t (&to_stride)[2], int64_t rows,
                   int64_t n, bool copies) {
    const bool stays = copies && from == to && from_stride[0] == to_stride[0] && from_stride[1] == to_stride[1];
    if (stays || n <= 0 || rows <= 0) return;
    if (copies && from_stride[1] == 1 && to_stride[1] == 1)
        return copy_rows(from, from_stride[0], to, to_stride[0], rows, n);
    const bool fills = !copies && to_stride[1] == 1;
    if (fills && to_stride[0] == n) n *= rows, rows = 1;
    for (; rows > 0; rows--, from += from_stride[0], to += to_stride[0]) {
        if (fills)
            memset(to, 0, size_t(n) * sizeof(T));
        else if (copies)
            for (int64_t j = 0; j < n; j++) to[j * to_stride[1]] = from[j * from_stride[1]];
        else
            for (int64_t j = 0; j < n; j++) to[j * to_stride[1]] = T(0);
    }
}

}  // namespace

void triangle_tensor_cpu(const Tensor& x, int64_t diagonal, bool upper, Tensor& out) {
    const int last = x.ndim - 1, down = last - 1;
    const int64_t n = x.shape[last], m = x.shape[down];
    const int64_t strides[] = {x.strides[down], x.strides[last]},
                  out_strides[] = {out.strides[down], out.strides[last]};
    Layout<2> layout;  // not collapsed: it counts the matrices
    layout.ndim = x.ndim;
    layout.size = x.size;
    for (int d = 0; d < x.ndim; d++) {
        layout.shape[d] = x.shape[d];
        layout.strides[0][d] = x.strides[d];
        layout.strides[1][d] = out.strides[d];
    }
    // Element j of row i is kept if j - i >= diagonal (upper), or <= diagonal. So each row has an edge; in those before
    // `high` it is the first element, in those from `low` on it is behind the last.
    const int64_t edge = (diagonal < -m ? -m : smaller(diagonal, n)) + !upper;
    const int64_t high = edge >= 0 ? 0 : smaller(-edge, m), low = edge >= n ? 0 : smaller(n - edge, m);
    for_bits(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        parallel_for(x.size / n, 1 + SMALL_WORK / n, [&](int64_t begin, int64_t end) {
            Odometer<2> at(layout, down);
            at.seek(begin / m);
            for (int64_t row = begin % m; begin < end; row = 0, at.next()) {
                const int64_t stop = smaller(m, row + end - begin);
                const auto take = [&](int64_t i, int64_t rows, int64_t j, int64_t columns, bool copies) {
                    copy_or_clear(data_as<const T>(x) + at.offset[0] + i * strides[0] + j * strides[1], strides,
                                  data_as<T>(out) + at.offset[1] + i * out_strides[0] + j * out_strides[1], out_strides,
                                  rows, columns, copies);
                };
                begin += stop - row;
                take(row, smaller(high, stop) - row, 0, n, upper);
                for (int64_t i = row < high ? high : row; i < smaller(low, stop); i++) {
                    take(i, 1, 0, edge + i, !upper);
                    take(i, 1, edge + i, n - edge - i, upper);
                }
                const int64_t rest = row < low ? low : row;
                take(rest, stop - rest, 0, n, !upper);
            }
        });
    });
}

}  // namespace NORCH_ISA
