// Copies in another place: roll, pad, and what lies on a diagonal of zeros, each part one copy between two views;
// triangles of matrices.

#include <string.h>

#include <algorithm>

#include "api.h"
#include "api/checks.h"
#include "api/storage_order.h"
#include "dispatch.h"
#include "recording/recording.h"

// `length` indices of an axis, from `start` on.
static Owned part_of(const Tensor& x, int axis, int64_t start, int64_t length) {
    Owned part = view_of(x, x.shape, x.strides, x.ndim, x.offset + (length ? start * x.strides[axis] : 0));
    part->shape[axis] = length;
    part->size = count_elements(part->shape, part->ndim);
    return part;
}

// Copies x into out with the axes from d on shifted by 0 <= shifts[d] < size: each is cut in two.
static void roll(const Tensor& x, Tensor& out, const int64_t* shifts, int d) {
    while (d < x.ndim && shifts[d] == 0) d++;
    if (d == x.ndim) return assign(x, out);
    const int64_t shift = shifts[d], left = x.shape[d] - shift;
    Owned first = part_of(out, d, shift, left), last = part_of(out, d, 0, shift);
    roll(*part_of(x, d, 0, left), *first, shifts, d + 1);
    roll(*part_of(x, d, left, shift), *last, shifts, d + 1);
}

Tensor* roll_tensor(Tensor* tensor, const int64_t* moves, const int64_t* axes, int32_t count) {
    return build([&] {
        const Tensor& x = *tensor;
        if (axes && x.ndim == 0) fail(INDEX_ERROR, "roll: a tensor of 0 dimensions has no axis {}", axes[0]);
        Owned result = new_tensor(x.shape, x.ndim, x.dtype, x.device);
        int64_t shifts[MAX_DIMS] = {};
        for (int k = 0; k < count; k++) {
            const int axis = axes ? check_axis(axes[k], x.ndim, "roll") : 0;
            if (x.size == 0) continue;
            const int64_t size = !axes ? x.size : x.ndim ? x.shape[axis] : 1;
            shifts[axis] = (shifts[axis] + moves[k] % size + size) % size;
        }
        if (x.size == 0) return result;
        if (axes) {
            roll(x, *result, shifts, 0);
        } else {
            const Owned flat = reshaped(x, &x.size, 1);
            Owned out = reshaped(*result, &x.size, 1);
            roll(*flat, *out, shifts, 0);
        }
        return result;
    });
}

Tensor* rearranged_tensor(Tensor* x, const int64_t* split, const int64_t* order, int32_t parts, const int64_t* shape,
                          int32_t rank) {
    return build([&] {
        Owned seen = taken(reshape_tensor(x, split, parts));
        seen = taken(permute_tensor(seen.tensor, order, parts));
        seen = taken(reshape_tensor(seen.tensor, shape, rank));  // one copy, if the order changes
        return seen->storage == x->storage ? cast(*seen, x->dtype) : std::move(seen);
    });
}

// The shape of x with amounts before and after its last axis, then the one before it..., and how it becomes so.
static Shape padded_shape(const Tensor& x, const int64_t* amounts, int32_t count, Padding& padding) {
    if (count % 2 || count > 2 * x.ndim)
        fail(SHAPE_ERROR, "pad: {} amounts for shape {}, expected a pair a dimension", count, shape_text(x));
    Shape shape;
    shape.ndim = x.ndim;
    for (int d = 0; d < x.ndim; d++) shape.sizes[d] = x.shape[d];
    for (int k = 0; k < count / 2; k++) {
        const int d = x.ndim - 1 - k;
        const int64_t before = amounts[2 * k], after = amounts[2 * k + 1];
        int64_t kept = x.shape[d];  // of x
        if (before < 0) kept += before;
        if (after < 0) kept += after;
        if (__builtin_add_overflow(shape.sizes[d], before, &shape.sizes[d]) ||
            __builtin_add_overflow(shape.sizes[d], after, &shape.sizes[d]) || kept < 0)
            fail(SHAPE_ERROR, "pad: {} and {} leave less than nothing of {} along {}", before, after, shape_text(x), d);
        padding.before[d] = before;
    }
    return shape;
}

// Last axes without a border, which is of one number, become a part of the one before: whole rows are copied at once.
static void join_whole_axes(Tensor& x, Tensor& out, Padding& padding) {
    for (int last = x.ndim - 1; last > 0 && padding.before[last] == 0 && x.shape[last] == out.shape[last]; last--) {
        padding.before[last - 1] *= x.shape[last];
        for (Tensor* tensor : {&x, &out}) {
            tensor->shape[last - 1] *= tensor->shape[last];
            tensor->strides[last - 1] = 1;
            tensor->ndim = last;
        }
    }
}

// The bits of a number as an element of a dtype.
static uint64_t bits_in(int32_t dtype, Tensor* number) {
    const RecordingPaused paused;
    uint64_t bits = 0;
    const Owned element = taken(full_tensor(nullptr, 0, dtype, CPU, number));
    memcpy(&bits, element->data, size_t(item_size(dtype)));
    return bits;
}

Tensor* pad_tensor(Tensor* tensor, const int64_t* amounts, int32_t count, Tensor* value, int32_t mode) {
    return build([&] {
        const Tensor& x = *tensor;
        Padding padding = {Padding::Mode(mode), {}, 0};
        const Shape shape = padded_shape(x, amounts, count, padding);
        if (x.ndim == 0) return cast(x, x.dtype);
        if (x.size == 0) return taken(full_tensor(shape.sizes, shape.ndim, x.dtype, x.device, value));
        const bool last = has_channels_last(x) && padding.before[1] == 0 && shape.sizes[1] == x.shape[1];
        Tensor view = last ? with_channels_last(x) : x, padded = view;
        memcpy(padded.shape, shape.sizes, sizeof(int64_t) * shape.ndim);
        if (last) padded.shape[1] = 1;
        Owned result = new_tensor(padded.shape, padded.ndim, x.dtype, x.device);
        const Owned rows = contiguous(view);
        Tensor from = *rows, to = *result;
        if (last) put_channels_first(*result);
        if (result->size == 0) return result;
        if (mode == Padding::CONSTANT) {
            padding.value = bits_in(x.dtype, value);
            join_whole_axes(from, to, padding);
        }
        kernels::pad.launch(x.device, from, to, padding);
        return result;
    });
}

Tensor* pad_backward(Tensor* gradient, const int64_t* sizes, const int64_t* amounts, int32_t count, int32_t mode) {
    return build([&] {
        check_real(*gradient, "pad_backward");
        Owned out = new_tensor(sizes, gradient->ndim, gradient->dtype, gradient->device);
        Padding padding = {Padding::Mode(mode), {}, 0};
        const Shape shape = padded_shape(*out, amounts, count, padding);
        if (!has_shape(*gradient, shape.sizes, shape.ndim))
            fail(SHAPE_ERROR, "pad_backward: gradient has shape {}, expected {}", shape_text(*gradient),
                 shape_text(shape.sizes, shape.ndim));
        if (out->size == 0) return out;
        int64_t from = gradient->offset;
        bool cut = mode == Padding::CONSTANT;  // only from the border
        for (int d = 0; d < shape.ndim; d++) {
            cut &= padding.before[d] >= 0 && out->shape[d] + padding.before[d] <= shape.sizes[d];
            from += padding.before[d] * gradient->strides[d];
        }
        if (cut) {
            assign(*view_of(*gradient, out->shape, gradient->strides, shape.ndim, from), *out);
        } else if (gradient->size == 0) {
            fill(*out, 0);
        } else {
            kernels::pad_backward.launch(out->device, *contiguous(*gradient), *out, padding);
        }
        return out;
    });
}

Tensor* diag_embed_tensor(Tensor* tensor, const int64_t* place) {
    return build([&] {
        const Tensor& x = *tensor;
        const int rank = x.ndim + 1;
        if (x.ndim == 0) fail(RUNTIME_ERROR, "diag_embed: expected at least one dimension, got a tensor of none");
        if (rank > MAX_DIMS) fail(SHAPE_ERROR, "diag_embed: a tensor has at most {} dimensions", MAX_DIMS);
        const int rows = check_axis(place[1], rank, "diag_embed"), columns = check_axis(place[2], rank, "diag_embed");
        int64_t shape[MAX_DIMS], size = place[0] < 0 ? -place[0] : place[0];
        if (size < 0 || __builtin_add_overflow(size, x.shape[x.ndim - 1], &size))
            fail(SHAPE_ERROR, "diag_embed: an offset of {} is too large", place[0]);
        for (int d = 0, from = 0; d < rank; d++) shape[d] = d == rows || d == columns ? size : x.shape[from++];
        Owned result = new_tensor(shape, rank, x.dtype, x.device);
        if (result->size == 0) return result;
        fill(*result, 0);
        Owned diagonal = taken(diagonal_tensor(result.tensor, place));
        if (diagonal->size) assign(x, *diagonal);
        return result;
    });
}

Tensor* eye_tensor(int64_t rows, int64_t columns, int32_t dtype, int32_t device) {
    return build([&] {
        const int64_t shape[] = {rows, columns}, main[] = {0, 0, 1};
        Owned result = new_tensor(shape, 2, dtype, device);
        if (result->size == 0) return result;
        fill(*result, 0);
        Owned diagonal = taken(diagonal_tensor(result.tensor, main));
        fill(*diagonal, 1);
        return result;
    });
}

// x with each index of an axis `count` times in a row, or with the axis as a whole: an axis of stride 0, then merged.
static Owned repeated(const Tensor& x, int axis, int64_t count, bool each) {
    int64_t sizes[MAX_DIMS], shape[4] = {1, 1, 1, 1};
    for (int d = 0; d < x.ndim; d++) {
        sizes[d] = d == axis ? 0 : x.shape[d];
        shape[d < axis ? 0 : 3] *= d == axis ? 1 : x.shape[d];
    }
    if (__builtin_mul_overflow(x.shape[axis], count, &sizes[axis]))
        fail(SHAPE_ERROR, "repeat: {} times {} elements are too many", count, x.shape[axis]);
    Owned result = new_tensor(sizes, x.ndim, x.dtype, x.device);
    if (result->size == 0) return result;
    shape[each ? 1 : 2] = x.shape[axis];
    const Owned parts = reshaped(x, shape, 4);
    shape[each ? 2 : 1] = count;
    Owned out = reshaped(*result, shape, 4);
    enum { COPIES = 4, SHORT = 16, LEAST = 1024 };
    if (each && x.device == CPU && count <= COPIES && shape[3] > 1 && shape[3] <= SHORT && x.size >= LEAST) {
        // Short slices: the loops run along x, once for each copy, rather than along a slice.
        Tensor copies = *out;
        copies.shape[2] = 1;
        copies.size = x.size;
        for (int64_t k = 0; k < count; k++, move_on(copies, copies.strides[2])) assign(*parts, copies);
        return result;
    }
    assign(expanded(*parts, shape, 4, "repeat"), *out);
    return result;
}

Tensor* repeat_tensor(Tensor* tensor, const int64_t* counts, int32_t rank) {
    return build([&] {
        if (rank > MAX_DIMS) fail(SHAPE_ERROR, "a tensor has at most {} dimensions, got {}", MAX_DIMS, rank);
        int64_t shape[MAX_DIMS] = {};
        const int added = rank - tensor->ndim;
        if (added < 0) fail(RUNTIME_ERROR, "repeat: got {} numbers for shape {}", rank, shape_text(*tensor));
        for (int d = 0; d < rank; d++) shape[d] = d < added ? 1 : tensor->shape[d - added];
        Owned result = reshaped(*tensor, shape, rank);
        for (int d = 0; d < rank; d++)
            if (counts[d] != 1) result = repeated(*result, d, counts[d], false);
        return result->storage == tensor->storage ? cast(*result, result->dtype) : std::move(result);
    });
}

Tensor* interleave_tensor(Tensor* tensor, int64_t count, int64_t axis) {
    return build([&] {
        const int at = check_axis(axis, tensor->ndim, "repeat_interleave");
        const int64_t one = 1;
        if (tensor->ndim) return repeated(*tensor, at, count, true);
        return repeated(*reshaped(*tensor, &one, 1), 0, count, true);
    });
}

Tensor* one_hot_tensor(Tensor* tensor, int64_t classes) {
    return build([&] {
        const Tensor& x = *tensor;
        int64_t shape[MAX_DIMS];
        if (x.ndim == MAX_DIMS) fail(SHAPE_ERROR, "one_hot: a tensor has at most {} dimensions", MAX_DIMS);
        for (int d = 0; d < x.ndim; d++) shape[d] = x.shape[d];
        shape[x.ndim] = 1;
        const Owned wide = x.dtype == INT64 ? Owned() : cast(x, INT64);
        const Owned places = reshaped(wide.tensor ? *wide : x, shape, x.ndim + 1);
        const Owned ones = new_tensor(shape, x.ndim + 1, INT64, x.device);
        fill(*ones, 1);
        shape[x.ndim] = classes;
        Owned result = new_tensor(shape, x.ndim + 1, INT64, x.device);
        fill(*result, 0);
        done(scatter_into(result.tensor, places.tensor, -1, ELEMENTS, ones.tensor, REPLACE));
        return result;
    });
}

// ---- Triangles of matrices ---------------------------------------------------------------------------------------

static void triangle(Tensor x, int64_t diagonal, bool upper, Tensor& out) {
    if (x.ndim < 2)
        fail(RUNTIME_ERROR, "{}: expected at least 2 dimensions, got shape {}", upper ? "triu" : "tril", shape_text(x));
    if (out.size == 0) return;
    const int row = x.ndim - 2, column = x.ndim - 1;
    const int64_t m = x.shape[row], n = x.shape[column];
    diagonal = std::clamp(diagonal, -m, n);
    const bool stays = x.data == out.data, turns = stays && llabs(out.strides[column]) > llabs(out.strides[row]);
    if (turns) {  // a triangle of the transposed matrix is sooner cleared
        Tensor turned = out;
        for (Tensor* matrix : {&x, &turned}) {
            std::swap(matrix->shape[row], matrix->shape[column]);
            std::swap(matrix->strides[row], matrix->strides[column]);
        }
        return kernels::triangle.launch(out.device, x, -diagonal, !upper, turned);
    }
    if (!stays && x.strides[column] != 1) {  // assign knows how to transpose: what is not all zeros
        const int64_t top = upper ? 0 : std::max<int64_t>(0, -diagonal), bottom = upper ? std::min(m, n - diagonal) : m;
        const int64_t left = upper ? std::max<int64_t>(0, diagonal) : 0, right = upper ? n : std::min(n, m + diagonal);
        if (top >= bottom || left >= right) return fill(out, 0);
        const auto kept = [&](const Tensor& matrix) {
            return part_of(*part_of(matrix, row, top, bottom - top), column, left, right - left);
        };
        assign(*kept(x), *kept(out));
        x = out;
    }
    kernels::triangle.launch(out.device, x, diagonal, upper, out);
}

Tensor* triangle_tensor(Tensor* tensor, int64_t diagonal, int32_t upper) {
    return build([&] {
        Owned result = new_tensor(tensor->shape, tensor->ndim, tensor->dtype, tensor->device);
        triangle(*tensor, diagonal, upper, *result);
        return result;
    });
}

int triangle_into(Tensor* out, Tensor* tensor, int64_t diagonal, int32_t upper) {
    return attempt([&] {
        check_writable(*out, upper ? "triu_" : "tril_");
        check_pair(*out, *tensor, "triangle");
        check_same_shape(*out, *tensor, "triangle");
        triangle(*tensor, diagonal, upper, *out);
        mark_written(*out);
    });
}

// How many elements of a matrix lie on and below a diagonal: rows that grow, and rows that are full
static int64_t places_below(int64_t rows, int64_t columns, int64_t diagonal) {
    const int64_t first = std::clamp<int64_t>(-diagonal, 0, rows), full = std::clamp(columns - diagonal, first, rows);
    const double growing = double(full - first) * double(first + full + 2 * diagonal + 1) / 2,
                 all = growing + double(rows - full) * double(columns);
    if (all > double(int64_t(1) << 59)) fail(MEMORY_ERROR, "{} elements are too many", all);
    return int64_t(growing) + (rows - full) * columns;
}

Tensor* triangle_places_tensor(int64_t rows, int64_t columns, int64_t diagonal, int32_t upper) {
    return build([&] {
        refuse_recording("the places of a triangle are counted on the host");
        diagonal = std::clamp(diagonal, -rows, columns);
        const int64_t shape[] = {
            2, upper ? places_below(columns, rows, -diagonal) : places_below(rows, columns, diagonal)};
        Owned result = new_tensor(shape, 2, INT64, 0);
        int64_t *row = static_cast<int64_t*>(result->data), *column = row + shape[1];
        for (int64_t i = upper ? 0 : std::max<int64_t>(0, -diagonal);
             row < static_cast<int64_t*>(result->data) + shape[1]; i++) {
            const int64_t first = upper ? std::max<int64_t>(0, i + diagonal) : 0,
                          last = upper ? columns : std::min(columns, i + diagonal + 1);
            for (int64_t j = first; j < last; j++) *row++ = i, *column++ = j;
        }
        return result;
    });
}
