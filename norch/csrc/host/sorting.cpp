// CPU kernels that sort lines: all of them, their first elements, the most frequent one.

#include <string.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "cpu/backend.h"
#include "cpu/loops/keys.h"
#include "host/lines.h"
#include "ops/ordering.h"

namespace {

// ---- Entries: keys with the index of their element -----------------------------------------------------------------

// An unsigned key with the index of its element, which orders equals. Both in one integer, where they fit.
struct WideEntry {
    uint64_t key;
    int64_t index;
    static WideEntry of(uint64_t key, int64_t index) { return {key, index}; }
    bool operator<(const WideEntry& other) const {
        return key < other.key || (key == other.key && index < other.index);
    }
};
struct PackedEntry {
    uint64_t both;
    static PackedEntry of(uint64_t key, int64_t index) { return {key << 32 | uint64_t(index)}; }
    bool operator<(const PackedEntry& other) const { return both < other.both; }
};
uint64_t key_in(const WideEntry& entry) { return entry.key; }
uint32_t key_in(const PackedEntry& entry) { return uint32_t(entry.both >> 32); }
int64_t index_in(const WideEntry& entry) { return entry.index; }
int64_t index_in(const PackedEntry& entry) { return int64_t(uint32_t(entry.both)); }

// ---- Sorting -----------------------------------------------------------------------------------------------------

enum {
    RANKED = 64,     // elements, at most, of which each is compared with all others
    COUNTED = 1024,  // keys, of which it is counted how often each occurs
    DIGITS = 256,    // values of a byte
    BY_DIGITS = 64,  // elements for each byte of a key, from which on to count its values pays
    FEW = 16,        // elements that are kept in order by insertion
    PAIRED = 8       // elements of which so few are compared sooner one by one than in vectors
};

// Elements of which the first `count` are wanted, in order. The functions below call write(rank, index, key) for each of
// them.
template <class T>
struct KeyLine {
    const T* data;
    int64_t n, step, count;
    bool descending;
    const T& operator[](int64_t i) const { return data[i * step]; }
    Key<T> key(int64_t i) const { return Key<T>(key_of(data[i * step]) ^ -Key<T>(descending)); }
};

// Whether a line, which is not short, is in order or in reverse; then it is written.
template <class T, class F>
bool write_if_ordered(const KeyLine<T>& line, F write) {
    enum { FIRST = 5, BLOCK = 16 };  // elements that are compared without a jump
    bool rises = false, falls = false;
    for (int i = 1; i < FIRST; i++) {  // these tell nearly always
        rises |= line[i] > line[i - 1];
        falls |= line[i] < line[i - 1];
    }
    if (rises && falls) return false;
    rises = falls = true;
    for (int64_t i = 1; i < line.n && (rises || falls);) {
        Key<T> less = 0, more = 0;
        for (const int64_t end = std::min(i + BLOCK, line.n); i < end; i++) {
            less |= line.key(i) < line.key(i - 1);
            more |= line.key(i) > line.key(i - 1);
        }
        rises &= !less;
        falls &= !more;
    }
    for (int64_t i = 0; rises && i < line.count; i++) write(i, i, line.key(i));
    for (int64_t done = 0, last = line.n - 1; falls && !rises && done < line.count;) {  // equals stay as they are
        int64_t first = last;
        while (first > 0 && line.key(first - 1) == line.key(last)) first--;
        for (int64_t i = first; i <= last && done < line.count; i++) write(done++, i, line.key(i));
        last = first - 1;
    }
    return rises || falls;
}

// Few elements: each finds how many come before it, in vectors and without a jump that depends on them. K holds how far
// their keys are from `middle`.
template <class K, class T, class F>
void rank(const KeyLine<T>& line, Key<T> middle, F write) {
    enum { BYTES = 16, LANES = BYTES / sizeof(K) };
    typedef K Vector __attribute__((vector_size(BYTES)));
    K keys[RANKED];
    int8_t order[RANKED];
    const int64_t n = line.n;
    for (int64_t i = 0; i < n; i++) keys[i] = K(line.key(i) - middle);
    for (int64_t i = n; i % LANES != 0; i++) keys[i] = std::numeric_limits<K>::max();  // behind all others
    Vector place = {};
    for (int k = 0; k < LANES; k++) place[k] = k;
    for (int64_t start = 0; start < n; start += LANES, place += K(LANES)) {
        const int64_t end = start + LANES;
        Vector own, rank = {};  // true is -1
        memcpy(&own, keys + start, sizeof own);
        for (int64_t j = 0; j < start; j++) rank -= own >= keys[j];
        for (int64_t j = start; j < end; j++) rank -= (own > keys[j]) | ((own == keys[j]) & (place > K(j)));
        for (int64_t j = end; j < n; j++) rank -= own > keys[j];
        for (int k = 0; k < LANES; k++) order[rank[k]] = int8_t(start + k);
    }
    for (int64_t i = 0; i < line.count; i++) write(i, order[i], Key<T>(keys[order[i]] + middle));
}

// Still fewer: each pair tells which of the two comes later.
template <class T, class F>
void rank_pairs(const KeyLine<T>& line, F write) {
    Key<T> keys[PAIRED];
    int rank[PAIRED] = {}, order[PAIRED];
    for (int i = 0; i < line.n; i++) {
        keys[i] = line.key(i);
        for (int j = 0; j < i; j++) {
            const bool stays = keys[j] <= keys[i];
            rank[i] += stays;
            rank[j] += !stays;
        }
    }
    for (int i = 0; i < line.n; i++) order[rank[i]] = i;
    for (int i = 0; i < line.count; i++) write(i, order[i], keys[order[i]]);
}

// Keys from a small range: how many there are of each tells where they go.
template <class T, class F>
void count(const KeyLine<T>& line, Key<T> least, int64_t range, F write) {
    int64_t places[COUNTED], total = 0;
    std::fill_n(places, range + 1, 0);
    for (int64_t i = 0; i < line.n; i++) places[line.key(i) - least]++;
    for (int64_t k = 0; k <= range; k++) total += std::exchange(places[k], total);
    for (int64_t i = 0; i < line.n; i++)
        if (const int64_t place = places[line.key(i) - least]++; place < line.count) write(place, i, line.key(i));
}

// Sorts by the lowest byte of the keys, then by the next: a stable pass each, which a byte that all share goes without.
template <class Entry>
Entry* sort_by_digits(Entry* from, Entry* to, int64_t n) {
    using K = decltype(key_in(*from));
    int64_t counts[sizeof(K)][DIGITS] = {};
    for (int64_t i = 0; i < n; i++)
        for (size_t byte = 0; byte < sizeof(K); byte++) counts[byte][key_in(from[i]) >> (8 * byte) & 0xFF]++;
    for (size_t byte = 0; byte < sizeof(K); byte++) {
        int64_t *place = counts[byte], total = 0;
        if (place[key_in(from[0]) >> (8 * byte) & 0xFF] == n) continue;
        for (int d = 0; d < DIGITS; d++) total += std::exchange(place[d], total);
        for (int64_t i = 0; i < n; i++) to[place[key_in(from[i]) >> (8 * byte) & 0xFF]++] = from[i];
        std::swap(from, to);
    }
    return from;
}

template <class Entry, class T>
Entry entry_of(const KeyLine<T>& line, int64_t i, Key<T> least) {
    return Entry::of(std::make_unsigned_t<Key<T>>(line.key(i)) - std::make_unsigned_t<Key<T>>(least), i);
}

// All elements; there is room for two entries of each.
template <class Entry, class T, class F>
void sort(const KeyLine<T>& line, Key<T> least, void* room, F write) {
    Entry* entries = static_cast<Entry*>(room);
    for (int64_t i = 0; i < line.n; i++) entries[i] = entry_of<Entry>(line, i, least);
    const Entry* sorted = entries;
    if (line.n < int64_t(BY_DIGITS * sizeof(key_in(*entries))))
        std::sort(entries, entries + line.n);
    else
        sorted = sort_by_digits(entries, entries + line.n, line.n);
    for (int64_t i = 0; i < line.count; i++) write(i, index_in(sorted[i]), Key<T>(key_in(sorted[i])));
}

// ---- Few of many -------------------------------------------------------------------------------------------------

// What does not come before the last of those found is passed over, by comparing elements, BLOCK of them at a time; take(i)
// is called for the others, and may move `last` forwards.
template <bool DESCENDING, class T, class F>
void pick(const KeyLine<T>& line, int64_t begin, const T& last, F take) {
    enum { BLOCK = 16 };
    auto passes = [&](int64_t i) {  // NaN is compared by its key
        const T next = line[i];
        return DESCENDING ? next <= last : next >= last;
    };
    for (int64_t i = begin; i < line.n;) {
        const int64_t end = std::min(i + BLOCK, line.n);
        int all = line.step == 1 && end - i == BLOCK;
        for (int j = 0; all && j < BLOCK; j++) all &= passes(i + j);
        for (; i < end; i++)
            if (!all && !passes(i)) take(i);
    }
}
template <class T, class F>
void pick(const KeyLine<T>& line, int64_t begin, const T& last, F take) {
    if (line.descending) return pick<true>(line, begin, last, take);
    pick<false>(line, begin, last, take);
}

// The first elements, of which there are few, by insertion; later ones go behind their equals.
template <class T, class F>
void insert_few(const KeyLine<T>& line, F write) {
    Key<T> keys[FEW] = {};
    int64_t places[FEW] = {};
    KeyLine<T> head = line;
    head.n = line.count;
    rank<Key<T>>(head, 0, [&](int64_t rank, int64_t index, Key<T> key) { keys[rank] = key, places[rank] = index; });
    const int64_t end = line.count - 1;
    T last = line[places[end]];
    pick(line, line.count, last, [&](int64_t i) {
        const Key<T> key = line.key(i);
        if (key >= keys[end]) return;
        for (int64_t k = end; k >= 0; k--) {
            const bool precedes = key < keys[k], further = k > 0 && key < keys[k - 1];
            keys[k] = further ? keys[k - 1] : precedes ? key : keys[k];
            places[k] = further ? places[k - 1] : precedes ? i : places[k];
        }
        last = line[places[end]];
    });
    for (int64_t k = 0; k <= end; k++) write(k, places[k], keys[k]);
}

// The same for more of them: twice as many are collected before the second half is dropped.
template <class Entry, class T, class F>
void collect(const KeyLine<T>& line, void* room, F write) {
    Entry *entries = static_cast<Entry*>(room), *last_entry = entries + line.count - 1;
    T last = line[0];
    int64_t found = 0;
    auto append = [&](int64_t i) {
        entries[found++] = entry_of<Entry>(line, i, std::numeric_limits<Key<T>>::min());
        if (found < 2 * line.count) return;
        std::nth_element(entries, last_entry, entries + found);
        found = line.count;
        last = line[index_in(*last_entry)];
    };
    for (int64_t i = 0; i < 2 * line.count; i++) append(i);
    pick(line, 2 * line.count, last, append);
    std::nth_element(entries, last_entry, entries + found);
    std::sort(entries, entries + line.count);
    for (int64_t i = 0; i < line.count; i++) write(i, index_in(entries[i]), Key<T>(key_in(entries[i])));
}

// ---- The choice --------------------------------------------------------------------------------------------------

template <class T>
bool fits_packed(int64_t n) {
    return sizeof(T) <= 4 && n <= int64_t(UINT32_MAX);
}
// How many elements are compared with all others: few of 8 bytes, as not every processor compares these in vectors.
template <class T>
constexpr int64_t ranked() {
    return sizeof(T) == 8 ? RANKED / 8 : RANKED;
}
// How many are compared sooner one by one.
template <class T>
constexpr int64_t paired() {
    return sizeof(T) == 8 ? PAIRED : PAIRED - 2;
}
// Bytes that `order` needs for lines of n elements.
template <class T>
int64_t room_for(int64_t n) {
    return n <= ranked<T>() ? 0 : 2 * n * int64_t(fits_packed<T>(n) ? sizeof(PackedEntry) : sizeof(WideEntry));
}

template <class T, class F>
void order(const KeyLine<T>& line, void* room, F write) {
    if (line.n <= paired<T>()) return rank_pairs(line, write);
    if (line.n > FEW && write_if_ordered(line, write)) return;
    bool is_packed = fits_packed<T>(line.n);
    if (line.n > FEW && line.count < line.n) {
        if (line.count <= FEW) return insert_few(line, write);
        if (line.count < line.n / 4)
            return is_packed ? collect<PackedEntry>(line, room, write) : collect<WideEntry>(line, room, write);
    }
    Key<T> least = std::numeric_limits<Key<T>>::min();
    const bool has_range = std::is_integral<T>::value && line.n > std::min<int64_t>(FEW, ranked<T>());
    if (has_range) {
        Key<T> most = least = line.key(0);
        for (int64_t i = 1; i < line.n; i++) {
            const Key<T> key = line.key(i);
            least = std::min(least, key);
            most = std::max(most, key);
        }
        const uint64_t range = uint64_t(int64_t(most)) - uint64_t(int64_t(least));
        if (range < COUNTED && int64_t(range) < 4 * line.n) return count(line, least, int64_t(range), write);
        is_packed = range <= UINT32_MAX && line.n <= int64_t(UINT32_MAX);
    }
    if (line.n <= RANKED && is_packed && has_range)
        return rank<int32_t>(line, Key<T>(least + (int64_t(1) << 31)), write);
    if (line.n <= ranked<T>()) return rank<Key<T>>(line, 0, write);
    if (is_packed) return sort<PackedEntry>(line, least, room, write);
    sort<WideEntry>(line, least, room, write);
}

}  // namespace

void sort_tensor_cpu(const Tensor& x, Tensor& values, Tensor& indices, int axis, bool descending) {
    const int64_t n = x.shape[axis], count = values.shape[axis], step = x.strides[axis];
    const int64_t value_step = values.strides[axis], index_step = indices.strides[axis];
    for_any(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        for_lines(x, values, indices, axis, [&](LineRuns& runs) {
            Scratch<char> room(room_for<T>(n));
            while (runs.next()) {
                for (int64_t k = 0; k < runs.count; k++) {
                    const T* source = data_as<const T>(x) + runs.start[0] + k * runs.step[0];
                    T* value = data_as<T>(values) + runs.start[1] + k * runs.step[1];
                    int64_t* place = data_as<int64_t>(indices) + runs.start[2] + k * runs.step[2];
                    const auto write = [=](int64_t rank, int64_t index, Key<T>) {
                        value[rank * value_step] = source[index * step];
                        place[rank * index_step] = index;
                    };
                    order(KeyLine<T>{source, n, step, count, descending}, room.data, write);
                }
            }
        });
    });
}

// The longest run of equals in each sorted line, the first of several.
void mode_tensor_cpu(const Tensor& x, Tensor& values, Tensor& indices) {
    const int64_t n = x.shape[x.ndim - 1];
    for_any(x.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        parallel_for(indices.size, 1 + SMALL_WORK / 8 / n, [&](int64_t begin, int64_t end) {
            Scratch<char> room(room_for<T>(n));
            Scratch<int64_t> places(n);
            Scratch<Key<T>> keys(n);
            for (int64_t k = begin; k < end; k++) {
                const T* source = data_as<const T>(x) + k * n;
                order(KeyLine<T>{source, n, 1, n, false}, room.data, [&](int64_t rank, int64_t index, Key<T> key) {
                    places[rank] = index;
                    keys[rank] = key;
                });
                int64_t longest = 0, last = 0;
                for (int64_t start = 0, i = 1; i <= n; i++) {
                    if (i < n && keys[i] == keys[start]) continue;
                    if (i - start > longest) longest = i - start, last = i - 1;
                    start = i;
                }
                data_as<int64_t>(indices)[k] = places[last];
                data_as<T>(values)[k] = source[places[last]];
            }
        });
    });
}
