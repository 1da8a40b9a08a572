// Optimizers of the C API: one step of all parameters in one call. Everything is checked before anything is changed.

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

static void check_state(const Tensor& parameter, const Tensor& state, const char* what, const char* name) {
    check_like(parameter, state, what, name);
    check_writable(state, name);
}

// ---- SGD ---------------------------------------------------------------------------------------------------------

int sgd_step(int32_t count, const SGDEntry* entries, const SGDOptions* options) {
    return attempt([&] {
        for (int k = 0; k < count; k++) {
            const SGDEntry& entry = entries[k];
            check_parameter(*entry.parameter, *entry.gradient, "sgd");
            if (entry.velocity) check_state(*entry.parameter, *entry.velocity, "velocity", "sgd");
        }
        for (int k = 0; k < count; k++) {
            const SGDEntry& entry = entries[k];
            Tensor& parameter = *entry.parameter;
            if (parameter.size)
                kernels::sgd.launch(parameter.device, parameter, *entry.gradient, entry.velocity, entry.first,
                                    *options);
            mark_written(parameter);
            if (entry.velocity) mark_written(*entry.velocity);
        }
    });
}

// ---- Optimizers that count their steps ---------------------------------------------------------------------------

// Checks all entries, then counts a step of each and calls take(entry, how many steps that makes).
template <class F>
static int each_step(int32_t count, const StepEntry* entries, const char* const (&state_names)[3], const char* name,
                     F take) {
    return attempt([&] {
        for (int k = 0; k < count; k++) {
            const StepEntry& entry = entries[k];
            const Tensor& step = *entry.step;
            check_parameter(*entry.parameter, *entry.gradient, name);
            if (step.size != 1 || step.dtype != FLOAT32 || step.device != CPU)
                fail(RUNTIME_ERROR, "{}: step has shape {}, {} on {}, expected one float32 on the cpu", name,
                     shape_text(step), dtype_name(step.dtype), device_text(step.device));
            check_writable(step, name);
            for (int i = 0; i < 3; i++)
                if (entry.state[i]) check_state(*entry.parameter, *entry.state[i], state_names[i], name);
        }
        for (int k = 0; k < count; k++) {
            const StepEntry& entry = entries[k];
            const float steps = ++*data_as<float>(*entry.step);
            mark_written(*entry.step);
            if (entry.parameter->size) take(entry, steps);
            mark_written(*entry.parameter);
            for (Tensor* state : entry.state)
                if (state) mark_written(*state);
        }
    });
}

// K(adam, AdamOptions, "exp_avg", ...) becomes adam_step.
#define DEFINE_STEP(name, Options, ...)                                                                          \
    int name##_step(int32_t count, const StepEntry* entries, const Options* options) {                           \
        return each_step(count, entries, {__VA_ARGS__}, #name, [&](const StepEntry& entry, double steps) {       \
            Tensor& parameter = *entry.parameter;                                                                \
            kernels::name.launch(parameter.device, parameter, *entry.gradient, entry.state, steps, *options);    \
        });                                                                                                      \
    }
OPTIMIZERS(DEFINE_STEP)
