// Optimizers of the C API: one step of all parameters in one call. Everything is checked before anything is changed.

#include <new>

#include "api.h"
#include "api/checks.h"
#include "dispatch.h"

static void check_like(const Tensor& parameter, const Tensor& other, const char* what, const char* name) {
    if (!are_alike(parameter, other))
        fail(RUNTIME_ERROR, "{}: a parameter of shape {}, {} on {} has a {} of shape {}, {} on {}", name,
             shape_text(parameter), dtype_name(parameter.dtype), device_text(parameter.device), what, shape_text(other),
             dtype_name(other.dtype), device_text(other.device));
}

static void check_parameter(const Tensor& parameter, const Tensor& gradient, const char* name) {
    if (!is_real(parameter.dtype))
        fail(RUNTIME_ERROR, "{}: a parameter has dtype {}, expected a floating dtype", name,
             dtype_name(parameter.dtype));
    check_like(parameter, gradient, "gradient", name);
    check_writable(parameter, name);
}

// One float32 on the CPU, which the host reads and writes.
static void check_number(const Tensor& number, const char* what, const char* name) {
    if (number.size != 1 || number.dtype != FLOAT32 || number.device != CPU)
        fail(RUNTIME_ERROR, "{}: {} has shape {}, {} on {}, expected one float32 on the cpu", name, what,
             shape_text(number), dtype_name(number.dtype), device_text(number.device));
    check_writable(number, name);
}

static void check_state(const Tensor& parameter, const Tensor& state, const char* what, const char* name) {
    check_like(parameter, state, what, name);
    check_writable(state, name);
}

// Tensors that are dropped when an exception passes
struct OwnedTensors {
    Scratch<Owned> list;
    explicit OwnedTensors(int64_t count) : list(count) {
        for (int64_t i = 0; i < count; i++) new (&list[i]) Owned();
    }
    ~OwnedTensors() {
        for (int64_t i = 0; i < list.count; i++) list[i].~Owned();
    }
};

// Entries as kernels take them: narrow tensors have become wide copies. All are made before the first kernel runs, so
// that an allocation that fails leaves everything as it was; `finish` rounds the results.
template <class Entry, int TENSORS>
struct WidenedEntries {
    OwnedTensors copies;  // of tensor t of entry k at k * TENSORS + t, null for one that is not narrow
    Scratch<Entry> entries;

    static Tensor** tensors(const Entry& entry) { return reinterpret_cast<Tensor**>(const_cast<Entry*>(&entry)); }

    WidenedEntries(int count, const Entry* given) : copies(int64_t(count) * TENSORS), entries(count) {
        for (int k = 0; k < count; k++) {
            entries[k] = given[k];
            for (int t = 0; t < TENSORS; t++) {
                Tensor*& tensor = tensors(entries[k])[t];
                if (!tensor || !is_narrow(tensor->dtype)) continue;
                Owned& copy = copies.list[k * TENSORS + t] = widened(*tensor);
                tensor = copy.tensor;
            }
        }
    }
    void finish(const Entry* given) {
        enum { GRADIENT = 1 };
        for (int64_t i = 0; i < copies.list.count; i++)
            if (copies.list[i].tensor && i % TENSORS != GRADIENT)
                assign(*copies.list[i], *tensors(given[i / TENSORS])[i % TENSORS]);
    }
};

// Calls step(entry) for each entry, with its narrow tensors widened.
template <int TENSORS, class Entry, class F>
static void for_each_entry(int count, const Entry* entries, F step) {
    bool narrow = false;
    for (int k = 0; k < count; k++) narrow |= is_narrow(entries[k].parameter->dtype);
    if (!narrow) {
        for (int k = 0; k < count; k++)
            if (entries[k].parameter->size) step(entries[k]);
        return;
    }
    WidenedEntries<Entry, TENSORS> wide(count, entries);
    for (int k = 0; k < count; k++)
        if (entries[k].parameter->size) step(wide.entries[k]);
    wide.finish(entries);
}

// ---- SGD ---------------------------------------------------------------------------------------------------------

int sgd_step(int32_t count, const SGDEntry* entries, const SGDOptions* options) {
    return attempt([&] {
        const OptionsOfStep noted(options);
        for (int k = 0; k < count; k++) {
            const SGDEntry& entry = entries[k];
            check_parameter(*entry.parameter, *entry.gradient, "sgd");
            if (entry.velocity) check_state(*entry.parameter, *entry.velocity, "velocity", "sgd");
        }
        for_each_entry<3>(count, entries, [&](const SGDEntry& entry) {
            kernels::sgd.launch(entry.parameter->device, *entry.parameter, *entry.gradient, entry.velocity, entry.first,
                                options[entry.group]);
        });
        for (int k = 0; k < count; k++) {
            mark_written(*entries[k].parameter);
            if (entries[k].velocity) mark_written(*entries[k].velocity);
        }
    });
}

// ---- Optimizers that count their steps ---------------------------------------------------------------------------

static void count_step(Tensor& steps) { ++*data_as<float>(steps); }
static const Kernel<void(Tensor&)> counted = {"count_step", {count_step, count_step}, {ALL_NARROW, ALL_NARROW}};

// Checks all entries, calls take(entry) for each, then counts the steps.
template <class F>
static int each_step(int32_t count, const StepEntry* entries, const void* options, int like,
                     const char* const (&state_names)[3], const char* name, F take) {
    return attempt([&] {
        const OptionsOfStep noted(options);
        for (int k = 0; k < count; k++) {
            const StepEntry& entry = entries[k];
            check_parameter(*entry.parameter, *entry.gradient, name);
            check_number(*entry.step, "step", name);
            for (int i = 0; i < 3; i++) {
                if (entry.state[i] && i < like) check_state(*entry.parameter, *entry.state[i], state_names[i], name);
                if (entry.state[i] && i >= like) check_number(*entry.state[i], state_names[i], name);
            }
        }
        for_each_entry<5>(count, entries, take);
        for (int k = 0; k < count; k++) {
            const StepEntry& entry = entries[k];
            counted.launch(CPU, *entry.step);
            mark_written(*entry.step);
            mark_written(*entry.parameter);
            for (Tensor* state : entry.state)
                if (state) mark_written(*state);
        }
    });
}

// K(adam, AdamOptions, 3, "exp_avg", ...) becomes adam_step.
#define DEFINE_STEP(name, Options, like, ...)                                                                        \
    int name##_step(int32_t count, const StepEntry* entries, const Options* options) {                           \
        return each_step(count, entries, options, like, {__VA_ARGS__}, #name, [&](const StepEntry& entry) {      \
            Tensor& parameter = *entry.parameter;                                                                \
            kernels::name.launch(parameter.device, parameter, *entry.gradient, entry.state, *entry.step,         \
                                 options[entry.group]);                                                          \
        });                                                                                                      \
    }
OPTIMIZERS(DEFINE_STEP)

// ---- Newton-Schulz iterations, for Muon ------------------------------------------------------------------------------

// The nearest bfloat16 numbers, as float32.
static Owned rounded(const Owned& x) { return cast(*cast(*x, BFLOAT16), FLOAT32); }

Tensor* newton_schulz_tensor(Tensor* tensor, double a, double b, double c, int32_t steps) {
    return build([&] {
        if (tensor->ndim != 2) fail(SHAPE_ERROR, "Muon: expected a matrix, got shape {}", shape_text(*tensor));
        const Owned of_x = real_number(a), of_square = real_number(b), of_fourth = real_number(c);
        Owned x = cast(*tensor, FLOAT32);
        for (int step = 0; step < steps; step++) {
            const Owned turned = taken(transpose_tensor(x.tensor, 0, 1));
            const Owned square = rounded(taken(matmul_tensor(x.tensor, turned.tensor)));
            const Owned fourth = taken(matmul_tensor(square.tensor, square.tensor));
            const Owned share = taken(elementwise_mul_tensor(square.tensor, of_square.tensor));
            const Owned factor = rounded(taken(scale_and_shift_tensor(fourth.tensor, of_fourth.tensor, share.tensor)));
            const Owned change = taken(matmul_tensor(factor.tensor, x.tensor));
            x = rounded(taken(scale_and_shift_tensor(x.tensor, of_x.tensor, change.tensor)));
        }
        return x;
    });
}
