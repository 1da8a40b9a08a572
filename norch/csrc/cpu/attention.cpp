// CPU attention, forward and backward, in blocks of scores that stay in the second cache (ops/attention.h).

#include <math.h>
#include <string.h>

#include "cpu/backend.h"
#include "host/parallel.h"
#include "cpu/loops/draws.h"
#include "cpu/loops/matrix_product.h"
#include "cpu/loops/row_sum.h"
#include "ops/attention.h"
#include "ops/vector_math.h"

inline namespace NORCH_ISA {
namespace {

enum { QUERIES = 64, KEYS = 256 };  // of a block

// Some queries against some keys of matrix `index` of the batch.
struct Block {
    int64_t index, query, queries, key, keys;
};

template <class T>
struct Operand {
    T* data;
    Batch batch;

    explicit Operand(const Tensor& tensor) : data(data_as<T>(tensor)), batch(tensor) {}
    Matrix<T> at(int64_t index, int64_t row) const {
        return Matrix<T>{data + batch.offset(index), batch.row, batch.column}.from(row, 0);
    }
};

template <class T>
T row_max(const T* x, int64_t n) {  // a NaN is passed over: its exponential brings it into the sum
    T most[TAIL];
    for (T& one : most) one = -INFINITY;
    int64_t i = 0;
    for (; i + TAIL <= n; i += TAIL)
        for_lanes<TAIL>(most, [=](T lane, int j) { return x[i + j] > lane ? x[i + j] : lane; });
    T high = fold<TAIL>(most, [](T a, T b) { return a > b ? a : b; });
    for (; i < n; i++) high = x[i] > high ? x[i] : high;
    return high;
}

template <class T>
struct Scores {
    Operand<const T> query, key, value;
    const Tensor* mask;
    const Attending& how;
    int64_t queries, keys, features, value_features;

    Scores(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor* mask, const Attending& how)
        : query(query),
          key(key),
          value(value),
          mask(mask),
          how(how),
          queries(query.shape[query.ndim - 2]),
          keys(key.shape[key.ndim - 2]),
          features(key.shape[key.ndim - 1]),
          value_features(value.shape[value.ndim - 1]) {}

    // How many keys the queries of a block may see at most.
    int64_t seen(int64_t query, int64_t count) const { return how.causal ? smaller(keys, query + count) : keys; }

    // s[r, c] = the masked score of query r and key c of the block
    void block(const Block& at, T* s) const {
        matrix_product(query.at(at.index, at.query), key.at(at.index, at.key).transposed(), Matrix<T>{s, at.keys, 1},
                       at.queries, at.keys, features, false);
        const T scale = T(how.scale);
        INDEPENDENT for (int64_t i = 0; i < at.queries * at.keys; i++) s[i] *= scale;
        if (mask) {
            const Batch batch(*mask);
            const int64_t start = batch.offset(at.index) + at.query * batch.row + at.key * batch.column;
            for (int64_t r = 0; r < at.queries; r++) {
                T* row = s + r * at.keys;
                const int64_t from = start + r * batch.row, step = batch.column;
                if (mask->dtype == BOOL) {
                    const bool* allowed = data_as<const bool>(*mask) + from;
                    for (int64_t c = 0; c < at.keys; c++) row[c] = allowed[c * step] ? row[c] : T(-INFINITY);
                } else {
                    const T* added = data_as<const T>(*mask) + from;
                    for (int64_t c = 0; c < at.keys; c++) row[c] += added[c * step];
                }
            }
        }
        if (how.causal)
            for (int64_t r = 0; r < at.queries; r++)
                for (int64_t c = at.query + r + 1 > at.key ? at.query + r + 1 - at.key : 0; c < at.keys; c++)
                    s[r * at.keys + c] = -INFINITY;
    }

    // weights[r, c] = 0 where dropout drops it, as is_kept says
    void drop(const Block& at, T* weights) const {
        enum { LANES = 8, WORDS = 4, MOST = KEYS / WORDS + LANES };
        ::Block drawn[MOST];  // of random bits
        uint32_t words[MOST * WORDS];
        const float dropout = float(how.dropout);
        for (int64_t r = 0; r < at.queries; r++) {
            const int64_t first = (at.index * queries + at.query + r) * keys + at.key, skipped = first % WORDS;
            for (int64_t k = 0; k * WORDS < skipped + at.keys; k += LANES)
                draw_blocks<LANES>(how.stream, uint64_t(first / WORDS + k), drawn + k);
            memcpy(words, drawn, sizeof words);
            T* row = weights + r * at.keys;
            INDEPENDENT for (int64_t c = 0; c < at.keys; c++) row[c] =
                unit_float(words[skipped + c]) >= dropout ? row[c] : T(0);
        }
    }
};

// The rows of a block of queries in out, whose columns are contiguous, and in log_sum.
template <class T>
void attend(const Scores<T>& scores, int64_t index, int64_t query, int64_t count, T* s, Matrix<T> out, T* log_sum) {
    const int64_t width = scores.value_features, seen = scores.seen(query, count);
    T top[QUERIES];
    double total[QUERIES] = {};
    for (T& one : top) one = -INFINITY;
    for (int64_t key = 0; key < seen; key += KEYS) {
        const Block block = {index, query, count, key, smaller(KEYS, seen - key)};
        scores.block(block, s);
        for (int64_t r = 0; r < count; r++) {
            T* row = s + r * block.keys;
            const T high = row_max(row, block.keys), most = high > top[r] ? high : top[r];
            const T shift = most == T(-INFINITY) ? T(0) : most;  // no key was seen yet: all exponentials are 0
            const T smaller_by = formula::exp(T(top[r] - shift));
            const double sum =
                row_sum<T>(block.keys, [=](int64_t c) { return row[c] = formula::exp(T(row[c] - shift)); });
            total[r] = total[r] * double(smaller_by) + sum;
            top[r] = most;
            T* sums = &out(r, 0);
            if (key && smaller_by != 1) INDEPENDENT for (int64_t c = 0; c < width; c++) sums[c] *= smaller_by;
        }
        if (scores.how.dropout > 0) scores.drop(block, s);
        matrix_product(Matrix<const T>{s, block.keys, 1}, scores.value.at(index, key), out, count, width, block.keys,
                       key > 0);
    }
    for (int64_t r = 0; r < count; r++) {
        const T factor = total[r] == 0 ? T(0) : T(scores.how.kept() / total[r]);
        T* sums = &out(r, 0);
        INDEPENDENT for (int64_t c = 0; c < width; c++) sums[c] *= factor;
        log_sum[r] = total[r] == 0 ? T(INFINITY) : T(double(top[r]) + ::log(total[r]));
    }
}

// The gradients of a matrix of the batch; those that are not null hold zeros, in rows that are contiguous.
template <class T>
struct Gradients {
    const Scores<T>& scores;
    Operand<const T> gradient, out;
    const T* log_sum;
    Matrix<T> for_query, for_key, for_value;

    // With p = exp(s - log_sum) and g = gradient @ value.T: ds = p (g - sum(gradient * out)) scale,
    // d value = p.T @ gradient, d query = ds @ key, d key = ds.T @ query.
    void block(const Block& at, T* p, T* ds, const double* shared) const {
        const int64_t m = at.queries, n = at.keys, e = scores.features, v = scores.value_features;
        const bool drops = scores.how.dropout > 0;
        const Matrix<T> slopes = {ds, n, 1};
        const Matrix<const T> from = gradient.at(at.index, at.query);
        scores.block(at, p);
        for (int64_t r = 0; r < m; r++) {
            T* row = p + r * n;
            const T shift = log_sum[at.query + r];
            INDEPENDENT for (int64_t c = 0; c < n; c++) row[c] = formula::exp(T(row[c] - shift));
        }
        matrix_product(from, scores.value.at(at.index, at.key).transposed(), slopes, m, n, v, false);
        if (drops) scores.drop(at, ds);
        const T scale = T(scores.how.scale), kept = T(scores.how.kept());
        for (int64_t r = 0; r < m; r++) {
            const T *row = p + r * n, mean = T(shared[r]);
            T* slope = ds + r * n;
            INDEPENDENT for (int64_t c = 0; c < n; c++) slope[c] = row[c] * (kept * slope[c] - mean) * scale;
        }
        if (for_value.data) {
            if (drops) scores.drop(at, p);
            if (drops) INDEPENDENT for (int64_t i = 0; i < m * n; i++) p[i] *= kept;
            matrix_product(Matrix<const T>{p, 1, n}, from, for_value.from(at.key, 0), n, v, m, true);
        }
        if (for_query.data)
            matrix_product(Matrix<const T>{ds, n, 1}, scores.key.at(at.index, at.key), for_query.from(at.query, 0), m,
                           e, n, true);
        if (for_key.data)
            matrix_product(Matrix<const T>{ds, 1, n}, scores.query.at(at.index, at.query), for_key.from(at.key, 0), n,
                           e, m, true);
    }

    void run(int64_t index) const {
        Scratch<T> p(QUERIES * KEYS), ds(QUERIES * KEYS);
        for (int64_t query = 0; query < scores.queries; query += QUERIES) {
            const int64_t m = smaller(QUERIES, scores.queries - query), v = scores.value_features;
            const Matrix<const T> from = gradient.at(index, query), result = out.at(index, query);
            double shared[QUERIES];
            for (int64_t r = 0; r < m; r++)
                shared[r] = row_sum<T>(v, [&](int64_t c) { return from(r, c) * result(r, c); });
            const int64_t seen = scores.seen(query, m);
            for (int64_t key = 0; key < seen; key += KEYS)
                block({index, query, m, key, smaller(KEYS, seen - key)}, p.data, ds.data, shared);
        }
    }
};

}  // namespace

void attention_tensor_cpu(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor* mask, Tensor& out,
                          Tensor& log_sum, const Attending& how) {
    for_real(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const Scores<T> scores(query, key, value, mask, how);
        const Operand<T> rows(out);
        const int64_t queries = scores.queries, parts = (queries + QUERIES - 1) / QUERIES;
        const int64_t part_work = smaller(queries, QUERIES) * scores.keys * (scores.features + scores.value_features);
        parallel_for(scores.query.batch.count * parts, 1 + 8 * SMALL_WORK / part_work, [&](int64_t begin, int64_t end) {
            Scratch<T> s(smaller(queries, QUERIES) * smaller(scores.keys, KEYS));
            for (int64_t i = begin; i < end; i++) {
                const int64_t index = i / parts, first = i % parts * QUERIES, row = index * queries + first;
                attend(scores, index, first, smaller(QUERIES, queries - first), s.data, rows.at(index, first),
                       data_as<T>(log_sum) + row);
            }
        });
    });
}

void attention_backward_tensor_cpu(const Tensor& gradient, const Tensor& query, const Tensor& key, const Tensor& value,
                                   const Tensor* mask, const Tensor& out, const Tensor& log_sum, Tensor* for_query,
                                   Tensor* for_key, Tensor* for_value, const Attending& how) {
    for_real(out.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        const Scores<T> scores(query, key, value, mask, how);
        Tensor* const all[] = {for_query, for_key, for_value};
        for (Tensor* made : all)
            if (made) memset(made->data, 0, size_t(made->size) * sizeof(T));
        const int64_t work = scores.queries * scores.keys * (scores.features + scores.value_features);
        parallel_for(scores.query.batch.count, 1 + 4 * SMALL_WORK / work, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; i++) {
                auto matrix = [=](Tensor* made) { return made ? Operand<T>(*made).at(i, 0) : Matrix<T>{}; };
                Gradients<T>{scores,
                             Operand<const T>(gradient),
                             Operand<const T>(out),
                             data_as<const T>(log_sum) + i * scores.queries,
                             matrix(for_query),
                             matrix(for_key),
                             matrix(for_value)}
                    .run(i);
            }
        });
    });
}

}  // namespace NORCH_ISA
