// Scaled dot-product attention in the C API.

#include "api.h"
#include "api/checks.h"
#include "api/storage_order.h"
#include "dispatch.h"
#include "ops/attention.h"

namespace {

// The operands of [..., L, E], [..., S, E], [..., S, V] and perhaps [..., L, S] with the same leading sizes.
struct Operands {
    Shape shape;  // of out, and of the operands up to the last two sizes
    Tensor query, key, value, mask;
    const Tensor* given_mask;

    Operands(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor* m)
        : query(q), key(k), value(v), mask(m ? *m : q), given_mask(m ? &mask : nullptr) {
        check_real(q, NAME);
        check_pair(q, k, NAME);
        check_pair(q, v, NAME);
        const Tensor* const all[] = {&q, &k, &v, m};
        for (const Tensor* x : all)
            if (x && (x->ndim < 2 || x->size == 0))
                fail(SHAPE_ERROR, "attention: expected matrices with elements, got shape {}", shape_text(*x));
        const int64_t rows = q.shape[q.ndim - 2], keys = k.shape[k.ndim - 2];
        if (k.shape[k.ndim - 1] != q.shape[q.ndim - 1] || v.shape[v.ndim - 2] != keys)
            fail(SHAPE_ERROR, "attention: query {}, key {} and value {} do not fit", shape_text(q), shape_text(k),
                 shape_text(v));
        for (const Tensor* x : all) {
            if (!x) continue;
            Tensor leading = *x;
            leading.ndim -= 2;
            broadcast(shape, leading, NAME);
        }
        if (m) check_devices(q, *m, NAME);
        if (m && m->dtype != BOOL && m->dtype != wide_of(q.dtype))
            fail(RUNTIME_ERROR, "attention: mask has dtype {}, expected bool or {}", dtype_name(m->dtype),
                 dtype_name(wide_of(q.dtype)));
        expand(query, rows, q.shape[q.ndim - 1]);
        expand(key, keys, k.shape[k.ndim - 1]);
        expand(value, keys, v.shape[v.ndim - 1]);
        if (m) expand(mask, rows, keys);
    }

    // A new tensor of an operand's shape, as it was expanded. (Sums in the order of heads would take a tenth longer.)
    static Owned like(const Tensor& x) { return new_tensor(x.shape, x.ndim, x.dtype, x.device); }

private:
    static constexpr const char* NAME = "attention";

    void expand(Tensor& x, int64_t rows, int64_t columns) const {
        int64_t sizes[MAX_DIMS];
        for (int d = 0; d < shape.ndim; d++) sizes[d] = shape.sizes[d];
        sizes[shape.ndim] = rows, sizes[shape.ndim + 1] = columns;
        x = expanded(x, sizes, shape.ndim + 2, NAME);
    }
};

}  // namespace

Results* attention_tensor(Tensor* query, Tensor* key, Tensor* value, Tensor* mask, double scale, int32_t causal,
                          double dropout, uint64_t seed, uint64_t draw) {
    return build_several<2>([&](Tensor** results) {
        const Operands x(*query, *key, *value, mask);
        Tensor shape = x.query;
        shape.shape[shape.ndim - 1] = x.value.shape[shape.ndim - 1];
        shape.strides[shape.ndim - 1] = 0;  // columns lie inside of all other dimensions
        Owned out = shape.ndim == 4 ? new_like(shape, shape.dtype, shape.device) : x.like(shape),
              log_sum = new_tensor(shape.shape, shape.ndim - 1, wide_of(query->dtype), query->device);
        kernels::attention.launch(query->device, x.query, x.key, x.value, x.given_mask, *out, *log_sum,
                                  {scale, dropout, {seed, draw}, causal});
        give_all(results, out, log_sum);
    });
}

Results* attention_backward(Tensor* gradient, Tensor* query, Tensor* key, Tensor* value, Tensor* mask, Tensor* out,
                            Tensor* log_sum, double scale, int32_t causal, double dropout, uint64_t seed, uint64_t draw,
                            int32_t needed) {
    return build_several<3>([&](Tensor** results) {
        const Operands x(*query, *key, *value, mask);
        check_pair(*out, *gradient, "attention");
        check_same_shape(*out, *gradient, "attention");
        Owned made[3], sums = contiguous(*log_sum);
        const Tensor* operands[] = {&x.query, &x.key, &x.value};
        for (int k = 0; k < 3; k++)
            if (needed & (1 << k)) made[k] = x.like(*operands[k]);
        kernels::attention_backward.launch(query->device, *gradient, x.query, x.key, x.value, x.given_mask, *out, *sums,
                                           made[0].tensor, made[1].tensor, made[2].tensor,
                                           {scale, dropout, {seed, draw}, causal});
        for (int k = 0; k < 3; k++) results[k] = made[k].give();
    });
}
