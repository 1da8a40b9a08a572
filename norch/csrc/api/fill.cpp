// The C API for filling tensors: arange and linspace, a gradient of 1, random numbers, permutations.

#include <float.h>
#include <math.h>
#include <string.h>

#include "api.h"
#include "api/checks.h"
#include "dispatch.h"

// ---- Evenly spaced numbers ---------------------------------------------------------------------------------------

static Owned evenly_spaced(const Spacing& spacing, int64_t size, int32_t dtype, int32_t device) {
    Owned result = new_tensor(&size, 1, dtype, device);
    if (size) kernels::evenly_spaced.launch(device, *result, spacing);
    return result;
}

Tensor* arange_tensor(double start, double step, int64_t size, int32_t dtype, int32_t device) {
    return build([&] { return evenly_spaced({start, 0, step, 0, 0, false, false}, size, dtype, device); });
}

Tensor* integer_arange_tensor(int64_t start, int64_t step, int64_t size, int32_t dtype, int32_t device) {
    return build([&] { return evenly_spaced({0, 0, 0, start, step, true, false}, size, dtype, device); });
}

Tensor* linspace_tensor(double start, double end, int64_t size, int32_t dtype, int32_t device) {
    return build([&] {
        const double step = size > 1 ? (end - start) / double(size - 1) : 0;
        return evenly_spaced({start, end, step, 0, 0, false, size > 1}, size, dtype, device);
    });
}

Tensor* unit_gradient(Tensor* tensor) {
    return build([&] {
        if (tensor->size != 1)
            fail(RUNTIME_ERROR, "a gradient must be given for a tensor of shape {}: it is 1 for one element only",
                 shape_text(*tensor));
        Owned one = new_tensor(tensor->shape, tensor->ndim, tensor->dtype, tensor->device);
        fill(*one, 1);
        return one;
    });
}

// ---- Random numbers ----------------------------------------------------------------------------------------------

uint64_t next_draw(uint64_t* state) {
    const uint64_t draw = __atomic_fetch_add(&state[1], 1, __ATOMIC_RELAXED);
    if (is_recording()) report_draw(state, draw);
    return draw;
}

void philox_block(uint64_t seed, uint64_t draw, uint64_t index, uint32_t* words) {
    const Block block = philox({seed, draw}, index);
    memcpy(words, block.word, sizeof block.word);
}

// Runs fill(tensor) on `out`, or on a contiguous tensor that is then copied into it.
template <class F>
static int filled(Tensor& out, const char* name, F fill) {
    return attempt([&] {
        check_writable(out, name);
        if (out.size == 0) return;
        if (is_contiguous(out)) {
            fill(out);
        } else {
            Owned whole = new_tensor(out.shape, out.ndim, out.dtype, out.device);
            fill(*whole);
            assign(*whole, out);
        }
        mark_written(out);
    });
}

// The next number of a narrow dtype.
template <class Narrow>
static Narrow next(Narrow x, bool up) {
    if ((x.bits & 0x7FFF) == 0) return {uint16_t(up ? 1 : 0x8001)};
    return {uint16_t(x.bits + ((x.bits >> 15) == up ? -1 : 1))};
}

// The bound of floats that, rounded to a dtype, stay below `high`: half way from the last number below it to the next.
template <class Narrow>
static double bound_in(double low, double high) {
    Narrow above = convert<Narrow>(float(high));
    if (convert<float>(above) < high) above = next(above, true);
    const double bound = (double(convert<float>(next(above, false))) + double(convert<float>(above))) / 2;
    return bound < low ? low : bound < high ? bound : high;
}
static double bound_in(int32_t dtype, double low, double high) {
    if (dtype == FLOAT16) return bound_in<Half>(low, high);
    return dtype == BFLOAT16 ? bound_in<BFloat16>(low, high) : high;
}

// The next draw of a generator.
static Stream next_stream(uint64_t* state) {
    const uint64_t draw = next_draw(state);
    return {state[0], draw};
}

static int uniform_of(Tensor& out, Stream stream, double low, double high) {
    return filled(out, "uniform_", [&](Tensor& target) {
        check_real(target, "uniform_");
        if (!(low <= high) || !isfinite(high - low))
            fail(RUNTIME_ERROR, "uniform_: expected finite bounds from <= to, got from {}, to {}", low, high);
        kernels::uniform.launch(target.device, target, stream, low, bound_in(target.dtype, low, high));
    });
}

int uniform_into(Tensor* out, uint64_t* state, double low, double high) {
    return uniform_of(*out, next_stream(state), low, high);
}
int uniform_again(Tensor* out, uint64_t seed, uint64_t draw) { return uniform_of(*out, {seed, draw}, 0, 1); }

int normal_into(Tensor* out, uint64_t* state, double mean, double std) {
    const Stream stream = next_stream(state);
    return filled(*out, "normal_", [&](Tensor& target) {
        check_real(target, "normal_");
        if (!(std >= 0)) fail(RUNTIME_ERROR, "normal_: expected std >= 0, got {}", std);
        kernels::normal.launch(target.device, target, stream, mean, std);
    });
}

int integers_into(Tensor* out, uint64_t* state, int64_t low, uint64_t range) {
    const Stream stream = next_stream(state);
    return filled(*out, "random_",
                  [&](Tensor& target) { kernels::integers.launch(target.device, target, stream, low, range); });
}

// ---- From uniform numbers: other operations on them, in one call

// Uniform numbers in [0, 1) in a tensor of their own.
static Owned uniform_like(const Tensor& x, int32_t dtype, Stream stream) {
    Owned result = new_tensor(x.shape, x.ndim, dtype, x.device);
    kernels::uniform.launch(x.device, *result, stream, 0, bound_in(dtype, 0, 1));
    return result;
}

int bernoulli_into(Tensor* out, Tensor* p, uint64_t* state) {
    const Stream stream = next_stream(state);
    return filled(*out, "bernoulli_", [&](Tensor& target) {
        const Owned uniform = uniform_like(target, p->is_number ? int32_t(FLOAT32) : p->dtype, stream);
        const Owned ones = taken(lt_tensor(uniform.tensor, p));
        done(assign_tensor(&target, ones.tensor));
    });
}

int exponential_into(Tensor* out, uint64_t* state, double rate) {
    const Stream stream = next_stream(state);
    return filled(*out, "exponential_", [&](Tensor& target) {
        const Owned x = uniform_like(target, FLOAT64, stream), scale = real_number(-rate);
        done(neg_into(x.tensor, x.tensor));
        done(log1p_into(x.tensor, x.tensor));
        done(div_into(x.tensor, x.tensor, scale.tensor));
        assign(*x, target);
    });
}

int cauchy_into(Tensor* out, uint64_t* state, double median, double sigma) {
    const Stream stream = next_stream(state);
    return filled(*out, "cauchy_", [&](Tensor& target) {
        const Owned x = uniform_like(target, FLOAT64, stream), half = real_number(0.5),
                    pi = real_number(3.14159265358979324), width = real_number(sigma), center = real_number(median);
        done(sub_into(x.tensor, x.tensor, half.tensor));
        done(elementwise_mul_into(x.tensor, x.tensor, pi.tensor));
        done(tan_into(x.tensor, x.tensor));
        done(scale_and_shift_into(x.tensor, x.tensor, width.tensor, center.tensor));
        assign(*x, target);
    });
}

int log_normal_into(Tensor* out, uint64_t* state, double mean, double std) {
    const int status = normal_into(out, state, mean, std);
    return status ? status : exp_into(out, out);
}

int geometric_into(Tensor* out, uint64_t* state, double p) {
    const Stream stream = next_stream(state);
    return filled(*out, "geometric_", [&](Tensor& target) {
        const Owned x = uniform_like(target, FLOAT64, stream), scale = real_number(log1p(-p)), one = real_number(1);
        done(neg_into(x.tensor, x.tensor));
        done(log1p_into(x.tensor, x.tensor));
        done(div_into(x.tensor, x.tensor, scale.tensor));
        done(ceil_into(x.tensor, x.tensor));
        done(maximum_into(x.tensor, x.tensor, one.tensor));
        assign(*x, target);
    });
}

// ---- New tensors, with the generator's next draw

// A new tensor that fill(tensor) fills, and returns a status.
template <class F>
static Tensor* drawn(const int64_t* shape, int ndim, int32_t dtype, int32_t device, F fill) {
    return build([&] {
        Owned result = new_tensor(shape, ndim, dtype, device);
        done(fill(result.tensor));
        return result;
    });
}

Tensor* bernoulli_tensor(Tensor* p, uint64_t* state) {
    return build([&] {
        if (!is_real(p->dtype))
            fail(RUNTIME_ERROR, "bernoulli: expected probabilities of a floating dtype, got {}", dtype_name(p->dtype));
        done(expect_range(p, 0, 1, false, RUNTIME_ERROR, "bernoulli: expected probabilities from 0 to 1, got others"));
        Owned result = new_tensor(p->shape, p->ndim, p->dtype, p->device);
        done(bernoulli_into(result.tensor, p, state));
        return result;
    });
}

// An operand of `counts`, of the shape of the result
static Owned of_counts(const Tensor& x, const Shape& shape, const char* name) {
    const Owned wide = cast(expanded(x, shape.sizes, shape.ndim, name), FLOAT64);
    return contiguous(*wide);
}

Tensor* counts_tensor(Tensor* means, Tensor* chances, uint64_t* state) {
    return build([&] {
        const char* name = chances ? "binomial" : "poisson";
        check_real(*means, name);
        Shape shape;
        broadcast(shape, *means, name);
        if (chances) {
            check_pair(*means, *chances, name);
            broadcast(shape, *chances, name);
            done(expect_range(means, 0, DBL_MAX, false, RUNTIME_ERROR,
                              "binomial: expected finite counts that are not negative, got others"));
            done(expect_range(chances, 0, 1, false, RUNTIME_ERROR,
                              "binomial: expected probabilities from 0 to 1, got others"));
        } else {
            done(expect_range(means, 0, DBL_MAX, false, RUNTIME_ERROR,
                              "poisson: expected finite means that are not negative, got others"));
        }
        const Owned given = of_counts(*means, shape, name), p = chances ? of_counts(*chances, shape, name) : Owned();
        Owned result = new_tensor(shape.sizes, shape.ndim, FLOAT64, means->device);
        const Stream stream = next_stream(state);
        if (result->size) kernels::counts.launch(means->device, *given, p.tensor, *result, stream);
        return means->dtype == FLOAT64 ? std::move(result) : cast(*result, means->dtype);
    });
}

// Without replacement it is a race: place i arrives after an exponential time of rate weight i, so it comes first with
// the right probability, and the others follow in the order of arrival. Returned are places in [rows, n].
static Owned raced(const Tensor& weights, int64_t count, Stream stream) {
    const Owned rates = uniform_like(weights, FLOAT64, stream), soonest = real_number(-0x1p-54);
    done(neg_into(rates.tensor, rates.tensor));
    done(log1p_into(rates.tensor, rates.tensor));
    done(minimum_into(rates.tensor, rates.tensor, soonest.tensor));
    done(neg_into(rates.tensor, rates.tensor));
    Tensor numerator = weights;
    done(div_into(rates.tensor, &numerator, rates.tensor));
    const int64_t shape[] = {weights.shape[0], count};
    Owned sorted = new_tensor(shape, 2, FLOAT64, weights.device), places = new_tensor(shape, 2, INT64, weights.device);
    kernels::sort.launch(weights.device, *rates, *sorted, *places, 1, true);
    return places;
}

// With it: a uniform number, as part of the total, falls into the interval of a place among the running totals.
static Owned picked(Tensor& weights, int64_t count, Stream stream) {
    const Owned totals = taken(cumsum_tensor(&weights, 1, false)),
                last = taken(slice_tensor(totals.tensor, 1, weights.shape[1] - 1, 1, 1));
    const int64_t shape[] = {weights.shape[0], count};
    const Owned like = new_tensor(shape, 2, FLOAT64, weights.device), points = uniform_like(*like, FLOAT64, stream);
    done(elementwise_mul_into(points.tensor, points.tensor, last.tensor));
    const Owned places = taken(bins_tensor(totals.tensor, points.tensor, true)),
                largest = taken(bins_tensor(totals.tensor, last.tensor, false));
    return taken(minimum_tensor(places.tensor, largest.tensor));
}

Tensor* multinomial_tensor(Tensor* tensor, int64_t count, int32_t replacement, uint64_t* state) {
    return build([&] {
        const Tensor& x = *tensor;
        if ((x.ndim != 1 && x.ndim != 2) || !is_real(x.dtype))
            fail(RUNTIME_ERROR, "multinomial: expected 1 or 2 dimensions of a floating dtype, got {} of shape {}",
                 dtype_name(x.dtype), shape_text(x));
        const int64_t shape[] = {x.ndim == 2 ? x.shape[0] : 1, x.shape[x.ndim - 1]};
        const Owned wide = cast(x, FLOAT64), weights = reshaped(*wide, shape, 2),
                    zero = taken(number_tensor(0, 0, INT64));
        done(expect_range(weights.tensor, 0, DBL_MAX, false, RUNTIME_ERROR,
                          "multinomial: expected finite weights that are not negative"));
        if (count < 1 || !shape[1] || (!replacement && count > shape[1]))
            fail(RUNTIME_ERROR, "multinomial: cannot draw {} indices from weights of shape {}", count, shape_text(x));
        const int64_t drawn[] = {shape[0], count};
        if (!shape[0]) return new_tensor(drawn, 2, INT64, x.device);
        int64_t axis = 1;
        const Owned is_positive = taken(gt_tensor(weights.tensor, zero.tensor)),
                    counts = taken(sum_tensor(is_positive.tensor, &axis, 1, false));
        const std::string message =
            "multinomial: cannot draw " + std::to_string(count) + " of {} indices of positive weight";
        done(expect_range(counts.tensor, replacement ? 1 : double(count), DBL_MAX, false, RUNTIME_ERROR,
                          message.c_str()));
        if (x.device != CPU) done(synchronize(x.device));  // the error comes here, not with a later call
        const Stream stream = next_stream(state);
        Owned places = replacement ? picked(*weights, count, stream) : raced(*weights, count, stream);
        if (x.ndim == 1) drop_axes(*places, 1);
        return places;
    });
}

Tensor* uniform_tensor(const int64_t* shape, int32_t ndim, int32_t dtype, int32_t device, uint64_t* state) {
    return drawn(shape, ndim, dtype, device, [&](Tensor* out) { return uniform_into(out, state, 0, 1); });
}

Tensor* normal_tensor(const int64_t* shape, int32_t ndim, int32_t dtype, int32_t device, uint64_t* state, double mean,
                      double std) {
    return drawn(shape, ndim, dtype, device, [&](Tensor* out) { return normal_into(out, state, mean, std); });
}

Tensor* integers_tensor(const int64_t* shape, int32_t ndim, int32_t dtype, int32_t device, uint64_t* state, int64_t low,
                        uint64_t range) {
    return drawn(shape, ndim, dtype, device, [&](Tensor* out) { return integers_into(out, state, low, range); });
}

// Fisher and Yates' shuffle: place i gets one of the first i + 1 elements. It is sequential, so it runs on the CPU.
static void shuffled(Tensor& out, Stream stream) {
    kernels::places.launch(CPU, out, stream);
    int64_t* values = data_as<int64_t>(out);
    for (int64_t i = 0; i < out.size; i++) {
        const int64_t j = values[i];
        values[i] = values[j];
        values[j] = i;
    }
}
static const Kernel<void(Tensor&, Stream)> permutation = {
    "permutation", {shuffled, shuffled}, {ALL_NARROW, ALL_NARROW}};

Tensor* permutation_tensor(int64_t size, uint64_t* state, int32_t dtype, int32_t device) {
    const Stream stream = next_stream(state);
    return build([&] {
        Owned result = new_tensor(&size, 1, INT64, CPU);
        if (size) permutation.launch(CPU, *result, stream);
        if (dtype != INT64) result = cast(*result, dtype);
        return device == CPU ? std::move(result) : on_device(*result, device);
    });
}
