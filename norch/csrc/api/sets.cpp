// Elements as sets and counts: equality, membership, the different elements, histograms. Each is composed of kernels
// that every device has; composed in Python, a small call would wait for the interpreter most of its time.

#include <string.h>

#include <algorithm>

#include "api.h"
#include "api/checks.h"
#include "api/selection.h"
#include "dispatch.h"
#include "host/lines.h"

// The only element; a recording cannot replay what depends on it.
template <class T>
static T value_of(const Tensor& x, const char* why) {
    refuse_recording(why);
    const Owned moved = x.device == CPU ? Owned() : on_device(x, CPU);
    return *data_as<T>(moved.tensor ? *moved : x);
}

static Owned number(int64_t value) { return taken(number_tensor(0, value, INT64)); }

// `length` elements of a contiguous vector, from `start` on
static Tensor part_of(const Tensor& vector, int64_t start, int64_t length) {
    Tensor part = vector;
    move_on(part, start);
    part.shape[0] = part.size = length;
    return part;
}

static bool are_equal(Tensor* x, Tensor* y) {
    Owned same = taken(eq_tensor(x, y));
    same = taken(all_tensor(same.tensor, nullptr, -1, 0));
    return value_of<bool>(*same, "a value is read");
}

int32_t equal_tensors(Tensor* x, Tensor* y) {
    // Elements of the first part that is compared, and of others. A part that differs is the last.
    enum { LEAST = 4096, BLOCK = 65536 };
    int32_t result = -1;
    attempt([&] {
        if (!same_shape(*x, *y)) {
            result = 0;
            return;
        }
        if (x->size <= LEAST || x->device != CPU) return void(result = are_equal(x, y));
        const int64_t rows = x->shape[0], most = std::max<int64_t>(1, BLOCK * rows / x->size);
        result = 1;
        for (int64_t i = 0, count = std::max<int64_t>(1, LEAST * rows / x->size); i < rows && result; i += count) {
            if (i > 0) count = std::min(most, rows - i);
            const Owned part = taken(slice_tensor(x, 0, i, count, 1)), other = taken(slice_tensor(y, 0, i, count, 1));
            result = are_equal(part.tensor, other.tensor);
        }
    });
    return result;
}

Tensor* isin_tensor(Tensor* tensor, Tensor* tests, int32_t inverted) {
    return build([&] {
        enum { FEW = 16 };  // tests, with each of which all elements are compared at once
        Owned flat = reshaped(*tests, &tests->size, 1), found;
        if (tests->size == 0) {
            found = new_tensor(tensor->shape, tensor->ndim, BOOL, tensor->device);
            fill(*found, 0);
        } else if (tests->size <= FEW) {
            const int64_t column[] = {tensor->size, 1}, last = 1;
            Owned elements = reshaped(*tensor, column, 2);
            found = taken(eq_tensor(elements.tensor, flat.tensor));
            found = taken(any_tensor(found.tensor, &last, 1, 0));
            found = reshaped(*found, tensor->shape, tensor->ndim);
        } else {
            const Owned order = new_tensor(&tests->size, 1, INT64, tests->device);
            Owned ordered = new_tensor(&tests->size, 1, tests->dtype, tests->device);
            kernels::sort.launch(tests->device, *flat, *ordered, *order, 0, false);
            Owned place = taken(bins_tensor(ordered.tensor, tensor, false));
            const Owned last = number(tests->size - 1);
            place = taken(minimum_tensor(place.tensor, last.tensor));
            found = taken(gather_tensor(ordered.tensor, place.tensor, 0, FLAT));
            found = taken(eq_tensor(found.tensor, tensor));
        }
        return inverted ? taken(logical_not_tensor(found.tensor)) : std::move(found);
    });
}

// ---- The different elements ----------------------------------------------------------------------------------------

// counts[place(i)]++ for i < n; other places are left out. Two tables take turns: a count need not wait for that of an
// equal element before it. (On a GPU adds would race: there the elements are places of a scatter.)
template <class Place>
static void tally_on_cpu(int64_t n, Tensor& counts, Place place) {
    const int64_t length = counts.size;
    Scratch<int64_t> seconds(length <= n / 8 ? length : 0);
    std::fill_n(seconds.data, seconds.count, 0);
    int64_t *const first = data_as<int64_t>(counts), *const second = seconds.count ? seconds.data : first;
    unlocked_if_large(n, [=] {
        const auto add = [=](int64_t* count, uint64_t k) {
            if (k < uint64_t(length)) count[k]++;
        };
        int64_t i = 0;
        for (; i + 4 <= n; i += 4) {
            const uint64_t a = place(i), b = place(i + 1), c = place(i + 2), d = place(i + 3);
            add(first, a), add(second, b), add(first, c), add(second, d);
        }
        for (; i < n; i++) add(first, place(i));
    });
    for (int64_t k = 0; k < seconds.count; k++) first[k] += seconds[k];
}

// Whether each element of a vector differs from the one before; the first does.
static Owned beginnings(const Tensor& ordered) {
    Owned fresh = new_tensor(ordered.shape, 1, BOOL, ordered.device);
    if (ordered.size) fill(*fresh, 1);
    if (ordered.size < 2) return fresh;
    const int64_t rest = ordered.size - 1;
    Tensor changes = part_of(*fresh, 1, rest), now = part_of(ordered, 1, rest), before = part_of(ordered, 0, rest);
    done(ne_into(&changes, &now, &before));
    return fresh;
}

// How many elements each run has, of which these are the places where they start.
static Owned lengths(const Tensor& starts, int64_t end) {
    Owned ends = new_tensor(starts.shape, 1, INT64, starts.device);
    if (starts.size == 0) return ends;
    Tensor last = part_of(*ends, starts.size - 1, 1), others = part_of(*ends, 0, starts.size - 1);
    if (others.size) assign(part_of(starts, 1, others.size), others);
    fill(last, double(end));
    Tensor from = starts;
    return taken(sub_tensor(ends.tensor, &from));
}

// The runs of equals in a contiguous vector of a wide dtype on the CPU: their first elements and, if asked for, the run
// of each element (`order`: where it was before it was sorted, or null) and how many elements each has. They are noted
// from the last to the first, at the end of buffers.
static void find_runs_on_cpu(const Tensor& x, const Tensor* order, Owned& values, Owned* groups, Owned* amounts) {
    refuse_recording("the shape of a result depends on values");
    const int64_t n = x.size;
    if (groups) *groups = new_tensor(&n, 1, INT64, CPU);
    for_any(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* from = data_as<const T>(x);
        const int64_t* place = order ? data_as<const int64_t>(*order) : nullptr;
        int64_t *group = groups ? data_as<int64_t>(**groups) : nullptr, before = 0;  // unused places of the buffers
        const Scratch<T> firsts(n);
        const Scratch<int64_t> starts(amounts ? n + 1 : 0);
        int64_t* start = amounts ? starts.data : nullptr;
        unlocked_if_large(n, [&, first = firsts.data] {
            int64_t k = n - 1;
            for (int64_t i = n - 1; i >= 0; i--) {
                first[k] = from[i];
                if (group) group[place ? place[i] : i] = k;
                if (start) start[k] = i;
                k -= i > 0 && from[i] != from[i - 1];
            }
            if (n > 0) before = k;
            for (int64_t i = 0; group && i < n; i++) group[i] -= before;
        });
        const int64_t count = n - before;
        values = new_tensor(&count, 1, x.dtype, CPU);
        if (count) memcpy(values->data, firsts.data + before, size_t(count) * sizeof(T));
        if (!amounts) return;
        *amounts = new_tensor(&count, 1, INT64, CPU);
        start[n] = n;
        for (int64_t k = 0; k < count; k++) data_as<int64_t>(**amounts)[k] = start[before + k + 1] - start[before + k];
    });
}

// The same for a tensor of bytes that need not be sorted: it is counted how often each value occurs.
static void find_bytes_on_cpu(const Tensor& x, Owned& values, Owned* groups, Owned* amounts) {
    refuse_recording("the shape of a result depends on values");
    const int64_t n = x.size, possible = x.dtype == BOOL ? 2 : 256;
    const uint8_t least = x.dtype == INT8 ? 128 : 0;  // the least value, as a byte
    const Owned bytes = x.dtype == BOOL ? truth_of(x) : contiguous(x);
    const uint8_t* from = data_as<const uint8_t>(*bytes);
    Owned counts = new_tensor(&possible, 1, INT64, CPU);
    int64_t* count = data_as<int64_t>(*counts);
    std::fill_n(count, possible, 0);
    if (x.dtype == BOOL) {
        count[1] = count_true(*bytes);
        count[0] = n - count[1];
    } else {
        tally_on_cpu(n, *counts, [=](int64_t i) { return uint8_t(from[i] ^ least); });
    }
    const int64_t found = possible - std::count(count, count + possible, 0);
    values = new_tensor(&found, 1, x.dtype, CPU);
    int64_t place[256], k = 0;  // of each byte among the values
    for (int64_t b = 0; b < possible; b++) {
        place[b ^ least] = k;
        if (count[b] == 0) continue;
        data_as<uint8_t>(*values)[k] = uint8_t(b ^ least);
        count[k++] = count[b];
    }
    if (groups) {
        *groups = new_tensor(&n, 1, INT64, CPU);
        int64_t* group = data_as<int64_t>(**groups);
        unlocked_if_large(n, [&] {
            for (int64_t i = 0; i < n; i++) group[i] = place[from[i]];
        });
    }
    if (amounts) *amounts = cast(part_of(*counts, 0, found), INT64);
}

Results* unique_tensor(Tensor* tensor, int32_t sorts, int32_t inverse, int32_t counts) {
    return build_several<3>([&](Tensor** results) {
        const bool on_cpu = tensor->device == CPU;
        Owned ordered, order, groups, amounts, values;
        if (on_cpu && sorts && item_size(tensor->dtype) == 1) {
            find_bytes_on_cpu(*tensor, values, inverse ? &groups : nullptr, counts ? &amounts : nullptr);
            if (inverse) groups = reshaped(*groups, tensor->shape, tensor->ndim);
            return give_all(results, values, groups, amounts);
        }
        ordered = contiguous(*reshaped(*tensor, &tensor->size, 1));
        if (on_cpu && is_narrow(tensor->dtype)) ordered = cast(*ordered, wide_of(tensor->dtype));
        if (sorts && tensor->size) {
            order = new_tensor(&tensor->size, 1, INT64, tensor->device);
            Owned sorted = new_tensor(&tensor->size, 1, ordered->dtype, tensor->device);
            kernels::sort.launch(tensor->device, *ordered, *sorted, *order, 0, false);
            ordered = std::move(sorted);
        }
        if (on_cpu) {
            find_runs_on_cpu(*ordered, order.tensor, values, inverse ? &groups : nullptr, counts ? &amounts : nullptr);
            if (is_narrow(tensor->dtype)) values = cast(*values, tensor->dtype);
            if (inverse) groups = reshaped(*groups, tensor->shape, tensor->ndim);
            return give_all(results, values, groups, amounts);
        }
        const Owned fresh = beginnings(*ordered), found = taken(nonzero_tensor(fresh.tensor));
        const Owned starts = reshaped(*found, &found->size, 1);
        values = taken(gather_tensor(ordered.tensor, starts.tensor, 0, FLAT));
        if (inverse) {
            const Owned one = number(1);
            Owned runs = taken(cumsum_tensor(fresh.tensor, 0, false));
            runs = taken(sub_tensor(runs.tensor, one.tensor));
            groups = order.tensor ? new_tensor(&tensor->size, 1, INT64, tensor->device) : std::move(runs);
            if (order.tensor) done(scatter_into(groups.tensor, order.tensor, 0, ELEMENTS, runs.tensor, REPLACE));
            groups = reshaped(*groups, tensor->shape, tensor->ndim);
        }
        if (counts) amounts = lengths(*starts, tensor->size);
        give_all(results, values, groups, amounts);
    });
}

// ---- Counts --------------------------------------------------------------------------------------------------------

// How much of the amounts, or how many if they are null, goes to each of `count` places.
static Owned collected(Tensor& places, Tensor* amounts, int64_t count, int32_t dtype) {
    Owned result = new_tensor(&count, 1, dtype, places.device);
    if (count) fill(*result, 0);
    if (places.size == 0) return result;
    Owned one;
    if (!amounts) {
        one = new_tensor(places.shape, 1, dtype, places.device);
        fill(*one, 1);
    }
    done(scatter_into(result.tensor, &places, 0, ELEMENTS, amounts ? amounts : one.tensor, ADD));
    return result;
}

Tensor* bincount_tensor(Tensor* tensor, Tensor* weights, int64_t count) {
    return build([&] {
        const bool tallies = tensor->device == CPU && !weights;
        const int32_t dtype = tallies ? wide_of(tensor->dtype) : int32_t(INT64);
        Owned places = tensor->dtype == dtype ? contiguous(*tensor) : cast(*tensor, dtype);
        if (places->size) {
            const Owned least = cast(*taken(min_tensor(places.tensor, nullptr, -1, 0)), INT64);
            const Owned most = cast(*taken(max_tensor(places.tensor, nullptr, -1, 0)), INT64);
            const char* why = "the shape of a result depends on values";
            if (value_of<int64_t>(*least, why) < 0)
                fail(RUNTIME_ERROR, "bincount: expected integers that are not negative");
            int64_t needed;
            if (__builtin_add_overflow(value_of<int64_t>(*most, why), 1, &needed))
                fail(MEMORY_ERROR, "bincount: too many counts");
            if (count < needed) count = needed;
        }
        if (!tallies) return collected(*places, weights, count, weights ? weights->dtype : int32_t(INT64));
        Owned result = new_tensor(&count, 1, INT64, CPU);
        if (count) fill(*result, 0);
        for_whole(places->dtype, [&](auto type) {
            const auto* values = data_as<const typename decltype(type)::type>(*places);
            tally_on_cpu(places->size, *result, [=](int64_t i) { return uint64_t(values[i]); });
        });
        return result;
    });
}

// histc of floats: the element at the upper end counts in the last bin.
static Owned histogram_on_cpu(Tensor& x, int64_t bins, double low, double high) {
    Owned counts = new_tensor(&bins, 1, INT64, CPU);
    fill(*counts, 0);
    for_real(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const T *values = data_as<const T>(x), least = T(low), most = T(high), share = T(bins), width = T(high - low);
        tally_on_cpu(x.size, *counts, [=](int64_t i) {
            const T value = values[i];
            if (!(value >= least && value <= most)) return UINT64_MAX;
            return std::min(uint64_t((value - least) * share / width), uint64_t(bins - 1));
        });
    });
    return counts;
}

Tensor* histc_tensor(Tensor* tensor, int64_t bins, double low, double high) {
    return build([&] {
        if (tensor->device == CPU && !is_recording()) {  // a recording has steps of kernels
            const Owned x = is_narrow(tensor->dtype) ? cast(*tensor, FLOAT32) : contiguous(*tensor);
            return cast(*histogram_on_cpu(*x, bins, low, high), tensor->dtype);
        }
        Owned x = reshaped(*tensor, &tensor->size, 1);
        const Owned least = real_number(low), most = real_number(high);
        Owned inside = taken(ge_tensor(x.tensor, least.tensor)), below = taken(le_tensor(x.tensor, most.tensor));
        inside = taken(logical_and_tensor(inside.tensor, below.tensor));
        const Owned share = real_number(double(bins)), width = real_number(high - low);
        Owned places = taken(sub_tensor(x.tensor, least.tensor));
        places = taken(elementwise_mul_tensor(places.tensor, share.tensor));
        places = taken(div_tensor(places.tensor, width.tensor));
        places = cast(*taken(where_tensor(inside.tensor, places.tensor, least.tensor)), INT64);
        const Owned first = number(0), last = number(bins - 1);
        places = taken(clamp_tensor(places.tensor, first.tensor, last.tensor));
        const Owned amounts = cast(*inside, tensor->dtype);
        return collected(*places, amounts.tensor, bins, tensor->dtype);
    });
}
