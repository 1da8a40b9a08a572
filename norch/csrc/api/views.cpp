// Views: new shapes, strides and offsets over the same storage. Nothing here touches an element.

#include <string.h>

#include <algorithm>
#include <vector>

#include "api.h"
#include "api/checks.h"
#include "api/storage_order.h"

// ---- reshape and view --------------------------------------------------------------------------------------------

// Fills in a size of -1 and checks that the number of elements stays.
static void resolve_shape(const Tensor& tensor, const int64_t* asked, int ndim, int64_t* shape, const char* operation) {
    if (ndim < 0 || ndim > MAX_DIMS)
        fail(SHAPE_ERROR, "{}: a tensor has at most {} dimensions, got {}", operation, MAX_DIMS, ndim);
    int unknown = -1;
    int64_t known = 1;
    for (int d = 0; d < ndim; d++) {
        shape[d] = asked[d];
        if (asked[d] == -1 && unknown < 0) {
            unknown = d;
        } else if (asked[d] < 0 || __builtin_mul_overflow(known, asked[d], &known)) {
            fail(SHAPE_ERROR, "{}: invalid shape {} (one size may be -1)", operation, shape_text(asked, ndim));
        }
    }
    if (unknown >= 0 && known != 0 && tensor.size % known == 0) shape[unknown] = tensor.size / known;
    if ((unknown >= 0 && shape[unknown] < 0) || count_elements(shape, ndim) != tensor.size)
        fail(SHAPE_ERROR, "{}: shape {} is invalid for a tensor of {} elements (shape {})", operation,
             shape_text(asked, ndim), tensor.size, shape_text(tensor));
}

// The strides that show the tensor's elements in a new shape without moving them; false if there are none.
// Old axes that one stride can walk ("chunks") must be covered exactly by adjacent new axes.
static bool strides_for(const Tensor& tensor, const int64_t* shape, int ndim, int64_t* strides) {
    if (tensor.size == 0) {
        int64_t stride = 1;
        for (int d = ndim - 1; d >= 0; d--) strides[d] = stride, stride *= shape[d] > 1 ? shape[d] : 1;
        return true;
    }
    int next = ndim - 1;  // the new axis to place, from the last one on
    int64_t chunk_stride = tensor.ndim ? tensor.strides[tensor.ndim - 1] : 1;
    int64_t chunk_size = 1, placed = 1;
    for (int d = tensor.ndim - 1; d >= 0; d--) {
        chunk_size *= tensor.shape[d];
        bool ends = d == 0 || (tensor.shape[d - 1] != 1 && tensor.strides[d - 1] != chunk_size * chunk_stride);
        if (!ends) continue;
        while (next >= 0 && (placed < chunk_size || shape[next] == 1)) {
            strides[next] = placed * chunk_stride;
            placed *= shape[next--];
        }
        if (placed != chunk_size) return false;
        if (d > 0) chunk_stride = tensor.strides[d - 1], chunk_size = placed = 1;
    }
    for (; next >= 0; next--) strides[next] = 1;  // sizes of 1 before everything
    return true;
}

Tensor* view_tensor(Tensor* tensor, const int64_t* asked, int32_t ndim) {
    return build([&] {
        int64_t shape[MAX_DIMS], strides[MAX_DIMS];
        resolve_shape(*tensor, asked, ndim, shape, "view");
        if (!strides_for(*tensor, shape, ndim, strides))
            fail(SHAPE_ERROR,
                 "view: size {} is not compatible with input tensor's size {} and stride {} (at least one "
                 "dimension spans across two contiguous subspaces). Use .reshape(...) instead.",
                 shape_text(shape, ndim), shape_text(*tensor), shape_text(tensor->strides, tensor->ndim));
        return view_of(*tensor, shape, strides, ndim, tensor->offset);
    });
}

Owned reshaped(const Tensor& tensor, const int64_t* asked, int ndim) {
    int64_t shape[MAX_DIMS], strides[MAX_DIMS];
    resolve_shape(tensor, asked, ndim, shape, "reshape");
    if (strides_for(tensor, shape, ndim, strides)) return view_of(tensor, shape, strides, ndim, tensor.offset);
    Owned copy = cast(tensor, tensor.dtype);
    strides_for(*copy, shape, ndim, strides);
    return view_of(*copy, shape, strides, ndim, 0);
}

Tensor with_axis(const Tensor& tensor) {
    Tensor result = tensor;
    if (tensor.ndim == 0) result.ndim = 1, result.shape[0] = 1, result.strides[0] = 1;
    return result;
}

Tensor* reshape_tensor(Tensor* tensor, const int64_t* shape, int32_t ndim) {
    return build([&] { return reshaped(*tensor, shape, ndim); });
}

Tensor* flatten_tensor(Tensor* tensor, int64_t start, int64_t end) {
    return build([&] {
        const int first = check_axis(start, tensor->ndim, "flatten"), last = check_axis(end, tensor->ndim, "flatten");
        if (first > last) fail(RUNTIME_ERROR, "flatten: start_dim {} comes after end_dim {}", start, end);
        int64_t shape[MAX_DIMS + 1], ndim = 0;
        for (int d = 0; d < first; d++) shape[ndim++] = tensor->shape[d];
        shape[ndim++] = 1;
        for (int d = first; d <= last && d < tensor->ndim; d++) shape[ndim - 1] *= tensor->shape[d];
        for (int d = last + 1; d < tensor->ndim; d++) shape[ndim++] = tensor->shape[d];
        return reshaped(*tensor, shape, int(ndim));
    });
}

// ---- Reordering axes ---------------------------------------------------------------------------------------------

void move_on(Tensor& view, int64_t elements) {
    view.offset += elements;
    if (view.data) view.data = data_as<char>(view) + elements * item_size(view.dtype);
}

Tensor* transpose_tensor(Tensor* tensor, int64_t axis1, int64_t axis2) {
    return build([&] {
        int a = check_axis(axis1, tensor->ndim, "transpose"), b = check_axis(axis2, tensor->ndim, "transpose");
        Owned view = view_of(*tensor, tensor->shape, tensor->strides, tensor->ndim, tensor->offset);
        if (tensor->ndim == 0) return view;
        view->shape[a] = tensor->shape[b], view->strides[a] = tensor->strides[b];
        view->shape[b] = tensor->shape[a], view->strides[b] = tensor->strides[a];
        return view;
    });
}

Tensor transposed(const Tensor& matrix) {
    Tensor view = matrix;
    view.shape[0] = matrix.shape[1], view.strides[0] = matrix.strides[1];
    view.shape[1] = matrix.shape[0], view.strides[1] = matrix.strides[0];
    return view;
}

Tensor* reverse_tensor(Tensor* tensor) {
    return build([&] {
        Owned view = view_of(*tensor, tensor->shape, tensor->strides, tensor->ndim, tensor->offset);
        for (int d = 0, last = tensor->ndim - 1; d <= last; d++) {
            view->shape[d] = tensor->shape[last - d];
            view->strides[d] = tensor->strides[last - d];
        }
        return view;
    });
}

Tensor* permute_tensor(Tensor* tensor, const int64_t* axes, int32_t ndim) {
    return build([&] {
        if (ndim != tensor->ndim)
            fail(SHAPE_ERROR, "permute: got {} axes for a tensor of {} dimensions", ndim, tensor->ndim);
        int64_t shape[MAX_DIMS], strides[MAX_DIMS];
        unsigned seen = 0;
        for (int d = 0; d < ndim; d++) {
            int axis = check_axis(axes[d], ndim, "permute");
            if (seen >> axis & 1) fail(SHAPE_ERROR, "permute: axis {} is repeated in {}", axis, shape_text(axes, ndim));
            seen |= 1u << axis;
            shape[d] = tensor->shape[axis], strides[d] = tensor->strides[axis];
        }
        return view_of(*tensor, shape, strides, ndim, tensor->offset);
    });
}

Tensor* diagonal_tensor(Tensor* tensor, const int64_t* place) {
    return build([&] {
        const Tensor& x = *tensor;
        if (x.ndim < 2) fail(INDEX_ERROR, "diagonal: expected at least 2 dimensions, got shape {}", shape_text(x));
        int axes[2];
        for (int k = 0; k < 2; k++) {
            const int64_t axis = place[1 + k];
            if (axis < -x.ndim || axis >= x.ndim)
                fail(INDEX_ERROR, "diagonal: axis {} is out of range [{}, {}] for shape {}", axis, -x.ndim, x.ndim - 1,
                     shape_text(x));
            axes[k] = int(axis < 0 ? axis + x.ndim : axis);
        }
        const int rows = axes[0], columns = axes[1];
        if (rows == columns) fail(RUNTIME_ERROR, "diagonal: dimensions {} and {} are the same", place[1], place[2]);
        const int64_t offset = place[0], from_row = offset < 0 ? offset : 0, from_column = offset < 0 ? 0 : offset;
        int64_t length = x.shape[rows] + from_row, other = x.shape[columns] - from_column;
        length = other < length ? other : length;
        int64_t shape[MAX_DIMS], strides[MAX_DIMS], first = x.offset;
        int ndim = 0;
        for (int d = 0; d < x.ndim; d++)
            if (d != rows && d != columns) shape[ndim] = x.shape[d], strides[ndim++] = x.strides[d];
        shape[ndim] = length > 0 ? length : 0;
        strides[ndim++] = x.strides[rows] + x.strides[columns];
        if (length > 0) first += from_column * x.strides[columns] - from_row * x.strides[rows];
        return view_of(x, shape, strides, ndim, first);
    });
}

// Read from the last index to the first: a stride that is negative for as long as the copy takes.
Tensor* flipped_tensor(Tensor* tensor, const int64_t* axes, int32_t count) {
    return build([&] {
        Tensor reversed = *tensor;
        unsigned seen = 0;
        for (int k = 0; k < count; k++) {
            int axis = check_axis(axes[k], tensor->ndim, "flip");
            if (seen >> axis & 1) fail(RUNTIME_ERROR, "flip: axis {} is repeated in {}", axis, shape_text(axes, count));
            seen |= 1u << axis;
            if (tensor->ndim == 0 || tensor->size == 0) continue;
            reversed.data =
                data_as<char>(reversed) + (tensor->shape[axis] - 1) * tensor->strides[axis] * item_size(tensor->dtype);
            reversed.strides[axis] = -tensor->strides[axis];
        }
        Owned result = new_like(*tensor, tensor->dtype, tensor->device);
        assign(reversed, *result);
        return result;
    });
}

// ---- Axes of size 1 ----------------------------------------------------------------------------------------------

Tensor* squeeze_tensor(Tensor* tensor, const int64_t* axes, int32_t count) {
    return build([&] {
        unsigned chosen = count < 0 ? ~0u : 0;
        for (int k = 0; k < count; k++) chosen |= 1u << check_axis(axes[k], tensor->ndim, "squeeze");
        int64_t shape[MAX_DIMS], strides[MAX_DIMS];
        int ndim = 0;
        for (int d = 0; d < tensor->ndim; d++) {
            if (tensor->shape[d] == 1 && (chosen >> d & 1)) continue;
            shape[ndim] = tensor->shape[d], strides[ndim++] = tensor->strides[d];
        }
        return view_of(*tensor, shape, strides, ndim, tensor->offset);
    });
}

Tensor* unsqueeze_tensor(Tensor* tensor, int64_t axis) {
    return build([&] {
        if (tensor->ndim == MAX_DIMS) fail(SHAPE_ERROR, "unsqueeze: a tensor has at most {} dimensions", MAX_DIMS);
        int at = check_axis(axis, tensor->ndim + 1, "unsqueeze");
        int64_t shape[MAX_DIMS], strides[MAX_DIMS];
        for (int d = 0, from = 0; d <= tensor->ndim; d++) {
            if (d == at) {
                shape[d] = 1;
                strides[d] = from < tensor->ndim ? tensor->shape[from] * tensor->strides[from] : 1;
            } else {
                shape[d] = tensor->shape[from], strides[d] = tensor->strides[from++];
            }
        }
        return view_of(*tensor, shape, strides, tensor->ndim + 1, tensor->offset);
    });
}

// ---- Broadcasting: a stride of 0 repeats -------------------------------------------------------------------------

Tensor expanded(const Tensor& tensor, const int64_t* shape, int ndim, const char* operation) {
    int missing = ndim - tensor.ndim;
    Tensor result = tensor;
    bool fits = missing >= 0;
    for (int d = 0; d < ndim && fits; d++) {
        int64_t size = d < missing ? 1 : tensor.shape[d - missing];
        fits = size == shape[d] || size == 1;
        result.shape[d] = shape[d];
        result.strides[d] = size == 1 && shape[d] != 1 ? 0 : d < missing ? 0 : tensor.strides[d - missing];
    }
    if (!fits)
        fail(SHAPE_ERROR, "{}: shape {} cannot be broadcast to shape {}", operation, shape_text(tensor),
             shape_text(shape, ndim));
    result.ndim = ndim;
    result.size = count_elements(shape, ndim);
    return result;
}

Tensor* expand_tensor(Tensor* tensor, const int64_t* asked, int32_t ndim) {
    return build([&] {
        if (ndim < tensor->ndim || ndim > MAX_DIMS)
            fail(SHAPE_ERROR, "expand: got {} sizes for a tensor of {} dimensions (at most {})", ndim, tensor->ndim,
                 MAX_DIMS);
        int64_t shape[MAX_DIMS];
        for (int d = 0; d < ndim; d++) {
            int own = d - (ndim - tensor->ndim);
            shape[d] = asked[d] == -1 && own >= 0 ? tensor->shape[own] : asked[d];
        }
        Tensor wide = expanded(*tensor, shape, ndim, "expand");
        for (int d = ndim - tensor->ndim - 1; d >= 0; d--)  // as PyTorch shows them
            if (shape[d] == 1) wide.strides[d] = d + 1 < ndim ? shape[d + 1] * wide.strides[d + 1] : 1;
        return view_of(*tensor, wide.shape, wide.strides, ndim, tensor->offset);
    });
}

// ---- Indexing ----------------------------------------------------------------------------------------------------

Tensor* select_tensor(Tensor* tensor, int64_t axis, int64_t index) {
    return build([&] {
        if (tensor->ndim == 0) fail(INDEX_ERROR, "a tensor of 0 dimensions cannot be indexed");
        int at = check_axis(axis, tensor->ndim, "select");
        int64_t size = tensor->shape[at], place = index < 0 ? index + size : index;
        if (place < 0 || place >= size)
            fail(INDEX_ERROR, "index {} is out of range for axis {} of size {} (shape {})", index, at, size,
                 shape_text(*tensor));
        int64_t shape[MAX_DIMS], strides[MAX_DIMS];
        for (int d = 0, to = 0; d < tensor->ndim; d++)
            if (d != at) shape[to] = tensor->shape[d], strides[to++] = tensor->strides[d];
        return view_of(*tensor, shape, strides, tensor->ndim - 1, tensor->offset + place * tensor->strides[at]);
    });
}

// ---- x[parts] ----------------------------------------------------------------------------------------------------

// A bound of a slice as Python takes it: from the end if it is negative, and within the axis.
static int64_t bound(int64_t place, int64_t size) {
    if (place < 0) place = place < -size ? 0 : place + size;
    return place < size ? place : size;
}

Tensor* part_tensor(Tensor* tensor, const int64_t* parts, int32_t count) {
    return build([&] {
        const Tensor& x = *tensor;
        int used = 0, rests = 0;
        for (int k = 0; k < count; k++) {
            used += parts[4 * k] == INTEGER_PART || parts[4 * k] == SLICE_PART;
            rests += parts[4 * k] == REST;
        }
        if (used > x.ndim) fail(INDEX_ERROR, "too many indices: got {} for a tensor of {} dimensions", used, x.ndim);
        if (rests > 1) fail(INDEX_ERROR, "an index can have one ellipsis (`...`) only");
        int64_t shape[MAX_DIMS], strides[MAX_DIMS], offset = x.offset;
        int ndim = 0, from = 0;
        auto put = [&](int64_t size, int64_t stride) {
            if (ndim == MAX_DIMS) fail(SHAPE_ERROR, "a tensor has at most {} dimensions", MAX_DIMS);
            shape[ndim] = size, strides[ndim++] = stride;
        };
        for (int k = 0; k < count; k++) {
            const int64_t kind = parts[4 * k], start = parts[4 * k + 1], stop = parts[4 * k + 2],
                          step = parts[4 * k + 3];
            const int64_t size = from < x.ndim ? x.shape[from] : 1, stride = from < x.ndim ? x.strides[from] : 1;
            if (kind == NEW_AXIS) {
                put(1, size * stride);
            } else if (kind == REST) {
                for (int left = x.ndim - used; left > 0; left--, from++) put(x.shape[from], x.strides[from]);
            } else if (kind == INTEGER_PART) {
                const int64_t place = start < 0 ? start + size : start;
                if (place < 0 || place >= size)
                    fail(INDEX_ERROR, "index {} is out of range for axis {} of size {} (shape {})", start, from, size,
                         shape_text(x));
                offset += place * stride;
                from++;
            } else {
                const int64_t first = bound(start, size), length = bound(stop, size) - first;
                offset += first * stride;
                put(length > 0 ? (length - 1) / step + 1 : 0, stride * step);
                from++;
            }
        }
        for (; from < x.ndim; from++) put(x.shape[from], x.strides[from]);
        return view_of(x, shape, strides, ndim, offset);
    });
}

// How many parts there are, and their sizes: that of the first `longer`, and one less of the others, but the last
struct Parts {
    int64_t count, size, longer;
};

static Parts parts_of(int64_t total, int64_t count, int32_t how, const char* name) {
    const int64_t fewest = how == BY_SIZES || (how == BY_LENGTH && total == 0) ? 0 : 1;
    if (how == BY_INDEX) return {total, 1, total};
    if (count < fewest)
        fail(RUNTIME_ERROR, "{}: expected {}, got {}", name,
             how == BY_LENGTH ? "a size of at least 1" : "at least one part", count);
    if (how == BY_SIZES) return {count, 0, 0};
    if (how == IN_SECTIONS) return {count, total / count + 1, total % count};
    if (total == 0 && how == BY_LENGTH) return {1, 0, 1};
    if (total == 0) return {count, 0, count};
    const int64_t size = how == IN_CHUNKS ? (total - 1) / count + 1 : count, parts = (total - 1) / size + 1;
    return {parts, size, parts};
}

Results* split_tensor(Tensor* tensor, int64_t dim, const int64_t* sizes, int64_t count, int32_t how) {
    enum { MOST = 1 << 26 };  // which take some 40 GB
    std::vector<Tensor*> parts;
    const int failed = attempt([&] {
        const Tensor& x = *tensor;
        const char* name = how == BY_INDEX      ? "unbind"
                           : how == IN_CHUNKS   ? "chunk"
                           : how == IN_SECTIONS ? "tensor_split"
                                                : "split";
        const int axis = check_axis(dim, x.ndim, name);
        if (x.ndim == 0)
            fail(how == BY_INDEX ? INDEX_ERROR : RUNTIME_ERROR,
                 "{}: expected at least one dimension, got a tensor of none", name);
        const int64_t total = x.shape[axis];
        const Parts all = parts_of(total, count, how, name);
        if (all.count > MOST) fail(MEMORY_ERROR, "{}: {} tensors, expected at most {}", name, all.count, int64_t(MOST));
        int64_t shape[MAX_DIMS], strides[MAX_DIMS], start = 0;
        int ndim = 0;
        for (int d = 0; d < x.ndim; d++)
            if (d != axis || how != BY_INDEX) shape[ndim] = x.shape[d], strides[ndim++] = x.strides[d];
        parts.reserve(size_t(all.count));
        for (int64_t k = 0; k < all.count; k++) {
            const int64_t size = sizes ? sizes[k] : std::min(all.size - (k >= all.longer), total - start);
            if (size < 0 || size > total - start)
                fail(SHAPE_ERROR, "split: parts reach beyond {}, the size of axis {}", total, axis);
            if (how != BY_INDEX) shape[axis] = size;
            parts.push_back(view_of(x, shape, strides, ndim, x.offset + start * x.strides[axis]).give());
            start += size;
        }
    });
    if (failed)
        for (Tensor* part : parts) drop(part);
    return give_results(parts.data(), failed ? 0 : int(parts.size()));
}

Tensor* slice_tensor(Tensor* tensor, int64_t axis, int64_t start, int64_t length, int64_t step) {
    return build([&] {
        int at = check_axis(axis, tensor->ndim, "slice");
        int64_t size = tensor->ndim ? tensor->shape[at] : 1;
        if (tensor->ndim == 0 || step < 1 || start < 0 || length < 0 ||
            (length > 0 && (length - 1) > (size - 1 - start) / step))
            fail(INDEX_ERROR, "slice: start {}, length {}, step {} do not lie within axis {} of size {}", start, length,
                 step, at, size);
        int64_t shape[MAX_DIMS], strides[MAX_DIMS];
        memcpy(shape, tensor->shape, sizeof shape), memcpy(strides, tensor->strides, sizeof strides);
        shape[at] = length, strides[at] *= step;
        return view_of(*tensor, shape, strides, tensor->ndim, tensor->offset + start * tensor->strides[at]);
    });
}

Tensor* as_strided_tensor(Tensor* tensor, const int64_t* shape, const int64_t* strides, int32_t ndim, int64_t offset) {
    return build([&] {
        int64_t capacity = tensor->storage->nbytes / item_size(tensor->dtype), last = offset;
        int64_t size = count_elements(shape, ndim);
        if (size == 0 && offset > capacity) offset = capacity;  // nothing is read of it, wherever it lies
        bool fits = offset >= 0 && offset <= capacity;
        for (int d = 0; d < ndim && size > 0 && fits; d++) {
            int64_t reach;
            fits = strides[d] >= 0 && !__builtin_mul_overflow(shape[d] - 1, strides[d], &reach) &&
                   !__builtin_add_overflow(last, reach, &last);
        }
        if (!fits || (size > 0 && last >= capacity))
            fail(SHAPE_ERROR, "as_strided: shape {}, strides {} and offset {} reach outside a storage of {} elements",
                 shape_text(shape, ndim), shape_text(strides, ndim), offset, capacity);
        return view_of(*tensor, shape, strides, ndim, offset);
    });
}

// The last axis holds the bytes of its elements side by side: they become more elements of a smaller dtype, or fewer.
Tensor* view_as_dtype(Tensor* tensor, int32_t dtype) {
    return build([&] {
        const int64_t from = item_size(tensor->dtype), to = item_size(dtype);
        const int last = tensor->ndim - 1;
        if (from != to && (last < 0 || (tensor->shape[last] != 1 && tensor->strides[last] != 1)))
            fail(RUNTIME_ERROR,
                 "view: a dtype of another size needs a last axis of stride 1, got shape {} and strides {}",
                 shape_text(*tensor), shape_text(tensor->strides, tensor->ndim));
        bool divides = true;
        int64_t shape[MAX_DIMS], strides[MAX_DIMS];
        auto rescale = [&](int64_t count) {
            divides &= count * from % to == 0;
            return count * from / to;
        };
        for (int d = 0; d <= last; d++) {
            const bool scaled = d == last && from != to;
            shape[d] = scaled ? rescale(tensor->shape[d]) : tensor->shape[d];
            strides[d] = scaled ? 1 : rescale(tensor->strides[d]);
        }
        const int64_t offset = rescale(tensor->offset);
        if (!divides)
            fail(RUNTIME_ERROR,
                 "view: {} needs sizes, strides and offset that are multiples of {} elements of {}, got shape {} and "
                 "strides {}",
                 dtype_name(dtype), (to / from), dtype_name(tensor->dtype), shape_text(*tensor),
                 shape_text(tensor->strides, tensor->ndim));
        Tensor source = *tensor;
        source.dtype = dtype;
        return view_of(source, shape, strides, tensor->ndim, offset);
    });
}
