// The CPU kernels against plain loops in double, as a program: for processors that run here only in an emulator.
//
// Prints what must be the same everywhere, the random numbers, and "ok"; a line for each mistake, and exits with 1.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <string>
#include <vector>

#include "api.h"

static int mistakes;

static void expect(bool good, const std::string& what) {
    if (good) return;
    printf("wrong: %s\n", what.c_str());
    mistakes++;
}

// A tensor that is freed at the end of its scope.
struct Box {
    Tensor* tensor;
    Box(Tensor* t) : tensor(t) {
        expect(t != nullptr, std::string("an operation failed: ") + (t ? "" : error_message()));
    }
    Box(const std::vector<float>& values, std::vector<int64_t> shape)
        : Box(create_tensor(values.data(), shape.data(), int32_t(shape.size()), FLOAT32, CPU)) {}
    Box(const Box&) = delete;
    ~Box() { free_tensor(tensor); }
    operator Tensor*() const { return tensor; }
    template <class T = float>
    std::vector<T> values() const {
        Box flat(contiguous_tensor(tensor));
        const T* data = static_cast<const T*>(flat.tensor->data);
        return std::vector<T>(data, data + flat.tensor->size);
    }
};

static std::vector<float> numbers(int64_t n, float scale = 3) {
    std::vector<float> x(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; i++) x[size_t(i)] = scale * float(sin(double(i) * 1.7 + 0.3));
    return x;
}

// In units of the last place of a float.
static double ulps(float actual, double expected) {
    if (isnan(expected) || isnan(actual)) return isnan(expected) && isnan(actual) ? 0 : INFINITY;
    if (isinf(float(expected)) || isinf(actual)) return actual == float(expected) ? 0 : INFINITY;
    int exponent;
    frexp(expected, &exponent);
    return fabs(actual - expected) / ldexp(1, expected == 0 ? -149 : (exponent < -125 ? -125 : exponent) - 24);
}

static void compare(const char* what, const std::vector<float>& actual, const std::vector<double>& expected,
                    double bound) {
    expect(actual.size() == expected.size(), std::string(what) + ": size");
    double worst = 0;
    for (size_t i = 0; i < actual.size() && i < expected.size(); i++)
        worst = fmax(worst, fabs(actual[i] - expected[i]) / (1 + fabs(expected[i])));
    expect(worst <= bound, std::string(what) + ": error " + std::to_string(worst));
}

// ---- Functions --------------------------------------------------------------------------------------------------

static double sigmoid(double x) { return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)); }

static void check_functions() {
    std::vector<float> inputs = numbers(5000, 20);
    for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 400009) {
        const uint32_t word = uint32_t(bits);
        float x;
        memcpy(&x, &word, sizeof x);
        inputs.push_back(x);
    }
    const struct {
        const char* name;
        Tensor* (*function)(Tensor*);
        double (*reference)(double);
    } rows[] = {{"exp", exp_tensor, exp},       {"log", log_tensor, log},       {"sin", sin_tensor, sin},
                {"cos", cos_tensor, cos},       {"tanh", tanh_tensor, tanh},    {"sigmoid", sigmoid_tensor, sigmoid},
                {"expm1", expm1_tensor, expm1}, {"log1p", log1p_tensor, log1p}, {"erf", erf_tensor, erf},
                {"erfc", erfc_tensor, erfc},    {"sqrt", sqrt_tensor, sqrt}};
    Box x(inputs, {int64_t(inputs.size())});
    for (const auto& row : rows) {
        const std::vector<float> y = Box(row.function(x)).values();
        double worst = 0;
        for (size_t i = 0; i < y.size(); i++) worst = fmax(worst, ulps(y[i], row.reference(inputs[i])));
        expect(worst <= 2, std::string(row.name) + ": " + std::to_string(worst) + " ULP");
    }
    const std::vector<float> exponents = numbers(int64_t(inputs.size()), 9);
    const std::vector<float> power = Box(pow_tensor(x, Box(exponents, {int64_t(inputs.size())}))).values();
    double worst = 0;
    for (size_t i = 0; i < power.size(); i++) worst = fmax(worst, ulps(power[i], pow(inputs[i], exponents[i])));
    expect(worst <= 2, "pow: " + std::to_string(worst) + " ULP");
}

// ---- Layouts, reductions ----------------------------------------------------------------------------------------

static void check_layouts(int64_t m, int64_t n) {
    const std::vector<float> a = numbers(m * n), b = numbers(m * n, 2), row = numbers(n, 5);
    Box x(a, {m, n}), y(b, {n, m}), r(row, {n}), transposed(transpose_tensor(x, 0, 1));
    std::vector<double> copy, sum, with_row;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            copy.push_back(a[size_t(i * n + j)]);
            sum.push_back(float(a[size_t(i * n + j)] + b[size_t(j * m + i)]));
        }
    for (int64_t i = 0; i < m * n; i++) with_row.push_back(float(a[size_t(i)] + row[size_t(i % n)]));
    compare("transposed copy", transposed.values(), copy, 0);
    compare("transposed + matrix", Box(add_tensor(transposed, y)).values(), sum, 0);
    compare("matrix + row", Box(add_tensor(x, r)).values(), with_row, 0);

    std::vector<double> rows(size_t(m), 0), columns(size_t(n), 0), largest(size_t(m), -INFINITY);
    for (int64_t i = 0; i < m * n; i++) {
        const float square = a[size_t(i)] * a[size_t(i)];  // positive, so that sums do not cancel
        rows[size_t(i / n)] += square;
        columns[size_t(i % n)] += square;
        largest[size_t(i / n)] = fmax(largest[size_t(i / n)], a[size_t(i)]);
    }
    const int64_t first = 0, second = 1;
    Box squares(elementwise_mul_tensor(x, x));
    compare("sum over axis 0", Box(sum_tensor(squares, &first, 1, 0)).values(), columns, 3e-7);
    compare("sum over axis 1", Box(sum_tensor(squares, &second, 1, 0)).values(), rows, 3e-7);
    compare("max over axis 1", Box(max_tensor(x, &second, 1, 0)).values(), largest, 0);
    const std::vector<int64_t> index = Box(argmax_tensor(x, 1, 0, 0)).values<int64_t>();
    for (int64_t i = 0; i < m; i++)
        expect(a[size_t(i * n + index[size_t(i)])] == largest[size_t(i)], "argmax over axis 1");
}

// ---- Products and layers ----------------------------------------------------------------------------------------

static void check_matmul(int64_t m, int64_t n, int64_t k) {
    const std::vector<float> a = numbers(m * k, 1), b = numbers(k * n, 1);
    const double bound = double(k) * 6e-8 + 1e-7;  // each of k additions rounds
    std::vector<double> expected(size_t(m * n), 0);
    for (int64_t i = 0; i < m; i++)
        for (int64_t p = 0; p < k; p++)
            for (int64_t j = 0; j < n; j++)
                expected[size_t(i * n + j)] += double(a[size_t(i * k + p)]) * b[size_t(p * n + j)];
    Box x(a, {m, k}), y(b, {k, n});
    Box x_columns(contiguous_tensor(Box(transpose_tensor(x, 0, 1)))),
        y_columns(contiguous_tensor(Box(transpose_tensor(y, 0, 1))));
    Box x_back(transpose_tensor(x_columns, 0, 1)), y_back(transpose_tensor(y_columns, 0, 1));
    for (Tensor* left : {x.tensor, x_back.tensor})
        for (Tensor* right : {y.tensor, y_back.tensor})
            compare("matmul", Box(matmul_tensor(left, right)).values(), expected, bound);
    const std::vector<float> bias = numbers(n, 4);
    for (int64_t i = 0; i < m * n; i++) expected[size_t(i)] += bias[size_t(i % n)];
    compare("linear", Box(linear_tensor(x, y_columns, Box(bias, {n}))).values(), expected, bound);
}

static void check_softmax(int64_t m, int64_t n, float scale) {
    const std::vector<float> a = numbers(m * n, scale);
    std::vector<double> expected;
    for (int64_t i = 0; i < m; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += exp(double(a[size_t(i * n + j)]));
        for (int64_t j = 0; j < n; j++) expected.push_back(exp(double(a[size_t(i * n + j)])) / sum);
    }
    compare("softmax", Box(softmax_tensor(Box(a, {m, n}), 1)).values(), expected, 1e-6);
}

// ---- The same everywhere ----------------------------------------------------------------------------------------

static uint64_t digest_of(const std::vector<float>& values) {
    uint64_t digest = 14695981039346656037u;
    for (float value : values) {
        uint32_t word;
        memcpy(&word, &value, sizeof word);
        digest = (digest ^ word) * 1099511628211u;
    }
    return digest;
}

static void print_random_numbers() {
    uint64_t state[] = {7, 1};
    for (int kind = 0; kind < 3; kind++) {
        Box x(numbers(10007), {10007});
        if (kind == 0) uniform_into(x, state, -1, 1);
        if (kind == 1) normal_into(x, state, 0, 1);
        if (kind == 2) integers_into(x, state, -50, 1000);
        printf("random numbers %d: %016llx\n", kind, (unsigned long long)digest_of(x.values()));
    }
}

// Numbers of every size, those too large for a dtype among them, as each dtype stores them.
static void print_conversions() {
    std::vector<float> inputs = {NAN,      INFINITY, -INFINITY, 65519, 65520,   0x1p-24f,
                                 0x1p-25f, 255,      -129,      32768, 0x1p31f, 0x1p63f};
    for (int i = 0; i < 5000; i++)
        inputs.push_back(ldexpf(1 + float(i) / 5003, i % 250 - 125) * (i % 3 ? 1.0f : -1.0f));
    Box x(inputs, {int64_t(inputs.size())});
    for (int32_t dtype : {UINT8, INT8, INT16, INT32, INT64, FLOAT16, BFLOAT16})
        printf("as dtype %d: %016llx\n", dtype,
               (unsigned long long)digest_of(Box(cast_tensor(Box(cast_tensor(x, dtype)), FLOAT32)).values()));
}

int main() {
    for (int32_t threads : {1, 3}) {
        set_num_threads(threads);
        check_functions();
        for (int64_t n : {1, 5, 17, 64, 131}) check_layouts(67, n);
        check_layouts(4, 40000);
        check_layouts(40000, 3);
        for (int64_t n : {1, 3, 16, 37}) check_matmul(29, n, 41);
        check_matmul(1, 70, 300);
        check_matmul(70, 1, 300);
        check_matmul(290, 280, 800);  // large enough to be packed
        for (int64_t n : {1, 10, 64, 129, 1000}) check_softmax(37, n, 3);
        check_softmax(5, 300, 200);
        print_random_numbers();
        print_conversions();
    }
    expect(add_tensor(Box(numbers(2), {2}), Box(numbers(3), {3})) == nullptr,
           "shapes that cannot be broadcast are refused");
    expect(live_tensors() == 0 && memory_allocated(CPU) == 0, "nothing leaks");
    if (!mistakes) printf("ok\n");
    return mistakes != 0;
}
