// Operations of the C API: dtypes are promoted, shapes broadcast, a result is made, and the device's kernel called.

#include <initializer_list>
#include <math.h>

#include "api.h"
#include "api/checks.h"
#include "api/operands.h"
#include "api/storage_order.h"
#include "dispatch.h"

// ---- Promotion ---------------------------------------------------------------------------------------------------

// What Python's floats, and integers that a REAL operation turns into floats, become.
int32_t default_dtype = FLOAT32;
int set_default_dtype(int32_t dtype) {
    return attempt([&] {
        if (!is_real(dtype)) fail(TYPE_ERROR, "expected a floating dtype as default, got {}", dtype_name(dtype));
        default_dtype = dtype;
    });
}

// PyTorch's rule: tensors with dimensions decide; 0-d tensors and then Python numbers only raise the category (bool,
// integer, float), never the width within it.
static int32_t combine(int32_t higher, int32_t lower) {
    if (higher < 0 || lower < 0) return higher < 0 ? lower : higher;
    if (is_real(higher)) return higher;
    return (higher == BOOL || is_real(lower)) && lower > higher ? lower : higher;
}

template <size_t N>
static int32_t promote(const Tensor* const (&operands)[N]) {
    int32_t with_axes = -1, zero_d = -1, number = -1;
    for (const Tensor* t : operands) {
        int32_t& group = t->is_number ? number : t->ndim == 0 ? zero_d : with_axes;
        int32_t dtype = t->is_number && t->dtype == FLOAT64 ? default_dtype : t->dtype;
        group = group < 0 ? dtype : promoted(group, dtype);
    }
    return combine(combine(with_axes, zero_d), number);
}

int32_t promoted_dtype(Tensor* tensor1, Tensor* tensor2) { return promote<2>({tensor1, tensor2}); }

static bool divides(Rule rule) { return rule == DIVISION || rule == REMAINDER; }

static int32_t computing_dtype(int32_t dtype, Rule rule, const char* name) {
    if ((rule == REAL || rule == CLAMPED) && !is_real(dtype)) return default_dtype;
    if ((rule == NUMERIC || divides(rule)) && dtype == BOOL)
        fail(RUNTIME_ERROR,
             "{}: not defined for bool tensors; convert with .int() or .float(), or use a logical operation", name);
    if (rule == WHOLE && is_real(dtype))
        fail(RUNTIME_ERROR, "{}: expected an integer or bool tensor, got {}", name, dtype_name(dtype));
    return dtype;
}

static const Tensor& first_tensor(const Tensor& x) { return x; }
template <class... Rest>
static const Tensor& first_tensor(const Tensor& x, const Rest&... rest) {
    return x.is_number ? first_tensor(rest...) : x;
}

// ---- Elementwise: a new result, or one written into out ----------------------------------------------------------

static bool same_view(const Tensor& x, const Tensor& y) {
    return x.data == y.data && x.dtype == y.dtype && same_shape(x, y) &&
           !memcmp(x.strides, y.strides, sizeof(int64_t) * x.ndim);
}

// Two storages may share memory of another owner.
static bool overlap(const Storage& x, const Storage& y) {
    const char *a = static_cast<char*>(x.data), *b = static_cast<char*>(y.data);
    return a < b + y.nbytes && b < a + x.nbytes;
}

// An operand that overlaps out in another layout would be overwritten while it is read: take a copy of it.
static void separate(Operand& operand, const Tensor& out) {
    const Tensor& view = *operand.tensor;
    if (view.is_number || !overlap(*view.storage, *out.storage) || same_view(view, out)) return;
    operand.copy = converted(view, view.dtype);
    operand.tensor = operand.copy.tensor;
}

// `like` is an operand, which tells the device.
static void check_result(const Tensor& out, const Tensor& like, const Shape& shape, int32_t dtype, const char* name) {
    check_devices(out, like, name);
    if (!has_shape(out, shape.sizes, shape.ndim))
        fail(SHAPE_ERROR, "{}: output with shape {} does not match the broadcast shape {}", name, shape_text(out),
             shape_text(shape.sizes, shape.ndim));
    if ((is_real(dtype) && !is_real(out.dtype)) || (dtype != BOOL && out.dtype == BOOL))
        fail(RUNTIME_ERROR, "{}: result type {} cannot be cast to the output type {}", name, dtype_name(dtype),
             dtype_name(out.dtype));
    check_writable(out, name);
}

// A test returns bool; written into a tensor of the dtype that it compares, a kernel of the CPU writes 0 and 1 there.
static int32_t returned_dtype(Rule rule, int32_t dtype, int32_t device, const Tensor* out) {
    const bool in_place = out && out->dtype == dtype && kind_of(device) == CPU_KIND;
    return rule == TEST && !in_place ? int32_t(BOOL) : dtype;
}

// Runs compute(result) for a new result, or for out if it is not null: then for a result of dtype, which is out itself
// if that is its dtype. The result of a launch and its operands have their dimensions in the order of storage.
template <int N, class F>
static Owned computed(Operand* const (&operands)[N], const Shape& shape, int32_t dtype, int32_t device, Tensor* out,
                      F compute) {
    const Tensor* tensors[N];
    for (int k = 0; k < N; k++) {
        if (out) separate(*operands[k], *out);
        tensors[k] = operands[k]->tensor;
    }
    const Tensor* const target[] = {out};
    const StorageOrder order = out ? StorageOrder(target) : StorageOrder(tensors);
    for (Operand* operand : operands) operand->put_in(order);

    Owned result;
    if (!out || out->dtype != dtype) {
        result = new_tensor(shape.sizes, shape.ndim, dtype, device);
        order.lay_out(*result);
    }
    Tensor& written = result.tensor ? *result : *out;
    if (written.size && order.by_rows) {
        compute(written);
    } else if (written.size) {
        Tensor view = order.view(written);
        compute(view);
    }
    if (!out) return result;
    if (result.tensor) assign(*result, *out);
    mark_written(*out);
    return Owned();
}

static Owned unary(const UnaryKernel& kernel, Rule rule, const Tensor& x, Tensor* out) {
    const char* name = kernel.name;
    int32_t dtype = computing_dtype(x.dtype, rule, name);
    Operand operand(x, dtype, x.shape, x.ndim, name);
    int32_t result_dtype = returned_dtype(rule, dtype, x.device, out);
    Shape shape;
    broadcast(shape, x, name);
    if (out) check_result(*out, x, shape, result_dtype, name);
    return computed<1>({&operand}, shape, result_dtype, x.device, out,
                       [&](Tensor& result) { kernel.launch(x.device, *operand.tensor, result); });
}

// Integers have no infinity: dividing by zero is refused.
static void refuse_zero_divisor(const Tensor& divisor, const char* name) {
    const Fault fault = {Fault::DIVISION, 0, name, 0, 0, 0};
    if (divisor.is_number) {
        if (divisor.dtype == BOOL ? !divisor.value.truth : divisor.value.integer == 0) fail_with(fault, 0);
        return;
    }
    if (divisor.size == 0) return;
    Owned verdict = new_tensor(ONES, divisor.ndim, BOOL, divisor.device);
    kernels::all.launch(divisor.device, divisor, *verdict);
    kernels::expect.launch(divisor.device, *verdict, fault);
}

// A negative power of integers is a fraction. (Powers given as tensors are not read: see formulas.h.)
static void refuse_negative_power(const Tensor& power) {
    if (power.is_number && power.dtype == INT64 && power.value.integer < 0)
        fail(RUNTIME_ERROR,
             "pow: integers to the negative integer power {} are fractions; convert them to a float dtype",
             power.value.integer);
}

// Floats to the power of some numbers, and powers of 2, take fewer steps, as in PyTorch. False if this is none of them.
static bool launch_power(int32_t device, const Tensor& base, const Tensor& x, const Tensor& power,
                         const Tensor& converted, Tensor& result) {
    if (base.is_number && base.dtype != BOOL && is_real(converted.dtype) &&
        (base.dtype == INT64 ? double(base.value.integer) : base.value.real) == 2) {
        kernels::exp2.launch(device, converted, result);
        return true;
    }
    if (!power.is_number || power.dtype == BOOL || !is_real(x.dtype)) return false;
    const double number = power.dtype == INT64 ? double(power.value.integer) : power.value.real;
    if (number == 2)
        kernels::elementwise_mul.launch(device, x, x, result);
    else if (number == 3)
        kernels::cube.launch(device, x, result);
    else if (number == -2)
        kernels::inverse_square.launch(device, x, result);
    else if (number == -1)
        kernels::reciprocal.launch(device, x, result);
    else if (number == 0.5)
        kernels::sqrt.launch(device, x, result);
    else if (number == -0.5)
        kernels::rsqrt.launch(device, x, result);
    else if (number != 1)
        return false;
    else if (!same_view(x, result))
        assign(x, result);
    return true;
}

// PyTorch's rule: beside 16 bits a second factor, or a divisor, without dimensions keeps its digits. Others are rounded.
static bool keeps_digits(const BinaryKernel& kernel, const Tensor& y, int32_t dtype) {
    return y.ndim == 0 && is_real(dtype) &&
           (&kernel == &kernels::elementwise_mul || &kernel == &kernels::div || &kernel == &kernels::div_trunc ||
            &kernel == &kernels::floor_divide);
}

static Owned binary(const BinaryKernel& kernel, Rule rule, const Tensor& x, const Tensor& y, Tensor* out) {
    const char* name = kernel.name;
    check_devices(x, y, name);
    const bool alike =
        !x.is_number && !y.is_number && are_alike(x, y);  // the usual case: nothing to promote or to broadcast
    int32_t dtype = computing_dtype(alike ? x.dtype : promote<2>({&x, &y}), rule, name);
    int32_t device = first_tensor(x, y).device;
    int32_t result_dtype = returned_dtype(rule, dtype, device, out);
    Shape shape;
    broadcast(shape, x, name);
    if (!alike) broadcast(shape, y, name);
    const double largest = rule == BOUND ? largest_number(dtype) : INFINITY;
    Operand a(x, dtype, shape.sizes, shape.ndim, name, rule, largest);
    const bool wide = y.dtype != dtype && keeps_digits(kernel, y, dtype);
    Operand b(y, wide ? wide_of(dtype) : dtype, shape.sizes, shape.ndim, name, rule, largest);
    if (divides(rule) && !is_real(dtype) && first_tensor(x, y).size) refuse_zero_divisor(y, name);
    if (&kernel == &kernels::pow && !is_real(dtype)) refuse_negative_power(y);
    if (out) check_result(*out, first_tensor(x, y), shape, result_dtype, name);
    return computed<2>({&a, &b}, shape, result_dtype, device, out, [&](Tensor& result) {
        if (&kernel == &kernels::pow && launch_power(device, x, *a.tensor, y, *b.tensor, result)) return;
        kernel.launch(device, *a.tensor, *b.tensor, result);
    });
}

// Only a weight that is a number, or has no dimensions, may have another dtype.
static void check_lerp(const Tensor& start, const Tensor& end, const Tensor& weight) {
    if (!is_real(start.dtype))
        fail(RUNTIME_ERROR, "lerp: expected a floating dtype, got {}; .float() converts it", dtype_name(start.dtype));
    for (const Tensor* other : {&end, &weight})
        if (other->dtype != start.dtype && !(other == &weight && (weight.is_number || weight.ndim == 0)))
            fail(RUNTIME_ERROR, "lerp: expected tensors of one dtype, got {} and {}", dtype_name(start.dtype),
                 dtype_name(other->dtype));
}

static Owned ternary(const TernaryKernel& kernel, Rule rule, const Tensor& c, const Tensor& x, const Tensor& y,
                     Tensor* out) {
    const char* name = kernel.name;
    const bool condition = rule == CHOICE;
    check_devices(c, x, name);
    check_devices(c, y, name);
    check_devices(x, y, name);
    if (condition && c.dtype != BOOL && c.dtype != UINT8)  // uint8: the masks of old programs
        fail(RUNTIME_ERROR, "{}: expected a bool condition, got {}", name, dtype_name(c.dtype));
    int32_t dtype = condition ? promote<2>({&x, &y}) : promote<3>({&c, &x, &y});
    if (&kernel == &kernels::addcdiv && !is_real(x.dtype) && !is_real(y.dtype))
        fail(RUNTIME_ERROR, "addcdiv: integers are not divided here; convert them, or use div(rounding_mode='trunc')");
    if (&kernel == &kernels::lerp) check_lerp(c, x, y);
    int32_t device = first_tensor(c, x, y).device;
    Shape shape;
    for (const Tensor* t : {&c, &x, &y}) broadcast(shape, *t, name);
    const double largest = largest_number(dtype, condition || &kernel == &kernels::lerp);
    Operand first(c, condition ? int32_t(BOOL) : dtype, shape.sizes, shape.ndim, name, SAME, largest);
    Operand a(x, dtype, shape.sizes, shape.ndim, name, SAME, largest);
    Operand b(y, dtype, shape.sizes, shape.ndim, name, SAME, largest);
    if (out) check_result(*out, first_tensor(c, x, y), shape, dtype, name);
    return computed<3>({&first, &a, &b}, shape, dtype, device, out,
                       [&](Tensor& result) { kernel.launch(device, *first.tensor, *a.tensor, *b.tensor, result); });
}

static Owned bounded(const BoundedKernel& kernel, Rule rule, const Tensor& c, const Tensor& x, const Tensor& y,
                     const Tensor& z, Tensor* out) {
    const char* name = kernel.name;
    if (!z.is_number) fail(TYPE_ERROR, "{}: expected a number, got a tensor", name);
    check_devices(c, x, name);
    check_devices(c, y, name);
    const int32_t dtype = computing_dtype(promote<4>({&c, &x, &y, &z}), rule, name);
    const int32_t device = first_tensor(c, x).device;
    Shape shape;
    for (const Tensor* t : {&c, &x, &y}) broadcast(shape, *t, name);
    Operand first(c, dtype, shape.sizes, shape.ndim, name), second(x, dtype, shape.sizes, shape.ndim, name);
    Operand low(y, dtype, shape.sizes, shape.ndim, name, rule);
    Operand high(z, dtype, shape.sizes, shape.ndim, name, rule);
    if (out) check_result(*out, first_tensor(c, x), shape, dtype, name);
    return computed<4>({&first, &second, &low, &high}, shape, dtype, device, out, [&](Tensor& result) {
        kernel.launch(device, *first.tensor, *second.tensor, *low.tensor, *high.tensor, result);
    });
}

// A row OP(add, SAME, ...) becomes
//
//     Tensor* add_tensor(Tensor* tensor1, Tensor* tensor2) { ... add_tensor_cpu(...) or add_tensor_cuda(...) ... }
//     int add_into(Tensor* out, Tensor* tensor1, Tensor* tensor2)
#define DEFINE_UNARY(name, rule, formula)                                             \
    Tensor* name##_tensor(Tensor* tensor) {                                           \
        return build([&] { return unary(kernels::name, rule, *tensor, nullptr); });   \
    }                                                                                 \
    int name##_into(Tensor* out, Tensor* tensor) {                                    \
        return attempt([&] { unary(kernels::name, rule, *tensor, out); });            \
    }
UNARY_OPS(DEFINE_UNARY)
ACTIVATION_OPS(DEFINE_UNARY)
SPECIAL_OPS(DEFINE_UNARY)

#define DEFINE_BINARY(name, rule, formula)                                                        \
    Tensor* name##_tensor(Tensor* tensor1, Tensor* tensor2) {                                     \
        return build([&] { return binary(kernels::name, rule, *tensor1, *tensor2, nullptr); });   \
    }                                                                                             \
    int name##_into(Tensor* out, Tensor* tensor1, Tensor* tensor2) {                              \
        return attempt([&] { binary(kernels::name, rule, *tensor1, *tensor2, out); });            \
    }
BINARY_OPS(DEFINE_BINARY)
DERIVATIVE_OPS(DEFINE_BINARY)
LOSS_OPS(DEFINE_BINARY)
SHAPED_OPS(DEFINE_BINARY)
SPECIAL_PAIR_OPS(DEFINE_BINARY)

// clamp takes null for a bound that is not given.
static Owned ternary(const TernaryKernel& kernel, Rule rule, const Tensor& c, const Tensor* x, const Tensor* y,
                     Tensor* out) {
    if (!x) return binary(kernels::minimum, BOUND, c, *y, out);
    if (!y) return binary(kernels::maximum, BOUND, c, *x, out);
    return ternary(kernel, rule, c, *x, *y, out);
}

#define DEFINE_TERNARY(name, rule, formula)                                                                 \
    Tensor* name##_tensor(Tensor* tensor1, Tensor* tensor2, Tensor* tensor3) {                              \
        return build([&] { return ternary(kernels::name, rule, *tensor1, tensor2, tensor3, nullptr); });    \
    }                                                                                                       \
    int name##_into(Tensor* out, Tensor* tensor1, Tensor* tensor2, Tensor* tensor3) {                       \
        return attempt([&] { ternary(kernels::name, rule, *tensor1, tensor2, tensor3, out); });             \
    }
TERNARY_OPS(DEFINE_TERNARY)
SHAPED_DERIVATIVE_OPS(DEFINE_TERNARY)

#define DEFINE_BOUNDED(name, rule, formula)                                                                        \
    Tensor* name##_tensor(Tensor* tensor1, Tensor* tensor2, Tensor* tensor3, Tensor* number) {                     \
        return build([&] { return bounded(kernels::name, rule, *tensor1, *tensor2, *tensor3, *number, nullptr); });  \
    }                                                                                                              \
    int name##_into(Tensor* out, Tensor* tensor1, Tensor* tensor2, Tensor* tensor3, Tensor* number) {             \
        return attempt([&] { bounded(kernels::name, rule, *tensor1, *tensor2, *tensor3, *number, out); });          \
    }
BOUNDED_OPS(DEFINE_BOUNDED)

const char* list_operations(int32_t arity) {
#define NAME(name, rule, formula) #name " "
    if (arity == 1) return UNARY_OPS(NAME);
    if (arity == 2) return BINARY_OPS(NAME);
    if (arity == 3) return TERNARY_OPS(NAME);
    if (arity == 4) return DERIVATIVE_OPS(NAME);
    if (arity == 5) return LOSS_OPS(NAME);
    if (arity == 6) return ACTIVATION_OPS(NAME);
    if (arity == 7) return SHAPED_OPS(NAME);
    if (arity == 8) return SPECIAL_OPS(NAME);
    if (arity == 9) return SPECIAL_PAIR_OPS(NAME);
    if (arity == 10) return SHAPED_DERIVATIVE_OPS(NAME);
    if (arity == 11) return BOUNDED_OPS(NAME);
#undef NAME
#define NAME(name, ...) #name " "
    if (arity == 12) return REDUCTIONS(NAME);
    if (arity == 13) return ROW_OPS(NAME);
    return LOSSES(NAME);
#undef NAME
}

const char* list_rules(int32_t arity) {
#define RULE(name, rule, formula) #rule " "
    return arity == 1 ? UNARY_OPS(RULE) : arity == 2 ? BINARY_OPS(RULE) : SPECIAL_OPS(RULE);
#undef RULE
}

static Owned filled(Owned result, const Tensor* given) {
    if (!given) {
        fill(*result, 0);
        return result;
    }
    const Tensor& number = *given;
    check_devices(*result, number, "full");
    const int32_t dtype = number.is_number ? result->dtype : number.dtype;
    Operand value(number, dtype, result->shape, result->ndim, "full", SAME, largest_number(dtype));
    assign(*value.tensor, *result);
    return result;
}

Tensor* full_tensor(const int64_t* shape, int32_t ndim, int32_t dtype, int32_t device, Tensor* number) {
    return build([&] { return filled(new_tensor(shape, ndim, dtype, device), number); });
}

Tensor* full_like_tensor(Tensor* tensor, Tensor* number) {
    return build([&] { return filled(new_like(*tensor, tensor->dtype, tensor->device), number); });
}

int assign_all(int32_t count, Tensor* const* targets, Tensor* const* sources) {
    return attempt([&] {
        for (int k = 0; k < count; k++) {
            if (!are_alike(*targets[k], *sources[k]))
                fail(RUNTIME_ERROR, "a new value has shape {}, {} on {}, its tensor {}, {} on {}",
                     shape_text(*sources[k]), dtype_name(sources[k]->dtype), device_text(sources[k]->device),
                     shape_text(*targets[k]), dtype_name(targets[k]->dtype), device_text(targets[k]->device));
            check_writable(*targets[k], "copy_");
        }
        for (int k = 0; k < count; k++) {
            assign(*sources[k], *targets[k]);
            mark_written(*targets[k]);
        }
    });
}

// The tensor without its expansions: each place once. Kernels write to strides other than 0 alone.
static Tensor unexpanded(Tensor tensor) {
    for (int d = 0; d < tensor.ndim; d++) {
        if (tensor.strides[d] != 0 || tensor.shape[d] <= 1) continue;
        tensor.size /= tensor.shape[d];
        tensor.shape[d] = 1;
    }
    return tensor;
}

int32_t write_result(Tensor* out, Tensor* result) { return are_alike(*out, *result) ? assign_tensor(out, result) : 1; }

int assign_tensor(Tensor* target, Tensor* source) {
    return attempt([&] {
        Owned moved;
        Tensor zero = {};
        if (!source) {
            zero.is_number = 1;
            zero.dtype = INT64;
            zero.size = 1;
            zero.data = &zero.value;
            source = &zero;
        }
        if (!source->is_number && source->device != target->device) {
            moved = taken(to_device(source, target->device));
            source = moved.tensor;
        }
        if (source->size != 1)
            check_writable(*target, "copy_");
        else
            check_not_read_only(*target, "copy_");
        Tensor places = source->size == 1 ? unexpanded(*target) : *target;
        // a number has no storage to convert: take it in the target's dtype
        const int32_t dtype = source->is_number ? target->dtype : source->dtype;
        Operand value(*source, dtype, places.shape, places.ndim, "copy_", SAME, largest_number(dtype, true));
        separate(value, places);
        assign(*value.tensor, places);
        mark_written(*target);
    });
}
