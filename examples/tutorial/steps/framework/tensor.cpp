// tensor.cpp: tensors in memory, and the kernels that compute with them.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const int64_t MAX_DIMS = 8;

//: step 4
// The memory of the numbers, and how many tensors look at it.
struct Storage {
    float* data;
    int64_t references;
};

//: end
// Numbers, and where they are: element [i, j] is data[i * strides[0] + j * strides[1]].
struct Tensor {
    float* data;
    int64_t strides[MAX_DIMS], shape[MAX_DIMS];
    int64_t ndim, size;  // how many entries of strides and shape count; number of elements
    Storage* storage;  //: step 4
};

//: step 5
// Errors: a function that fails returns nullptr, and leaves here the reason, which Python then asks for.
static thread_local const char* reason = "";

extern "C" const char* last_error() { return reason; }

static Tensor* fail(const char* text) {
    //: gap 5 fail
    //: ? keep the text as the reason
    reason = text;
    //: end
    return nullptr;
}

//: end
// A tensor of this shape in row-major order, still without memory for its numbers.
static Tensor* describe(const int64_t* shape, int64_t ndim) {
    //: step 5
    if (ndim > MAX_DIMS) return fail("at most 8 dimensions are possible");
    int64_t room = INT64_MAX / sizeof(float);
    for (int64_t d = 0; d < ndim; d++) {
        if (shape[d] < 0) return fail("no size can be negative");
        if (shape[d] > 0 && (room /= shape[d]) == 0) return fail("no memory holds so many elements");
    }
    //: end
    Tensor* tensor = new Tensor();
    tensor->ndim = ndim;
    tensor->size = 1;
    //: gap 1 strides
    //: ? go through the dimensions from the last (ndim - 1) to the first (0): copy shape[d] into the tensor,
    //: ? set its strides[d] to the product of the sizes behind d (tensor->size, so far), and multiply size by shape[d]
    for (int64_t d = ndim - 1; d >= 0; d--) {
        tensor->shape[d] = shape[d];
        tensor->strides[d] = tensor->size;
        tensor->size *= shape[d];
    }
    //: end
    return tensor;
}

// A new tensor with a copy of these numbers; without numbers (nullptr) it is full of zeros.
extern "C" Tensor* create_tensor(const float* numbers, const int64_t* shape, int64_t ndim) {
    Tensor* tensor = describe(shape, ndim);
    if (!tensor) return nullptr;  //: step 5
    tensor->data = (float*)calloc(tensor->size + 1, sizeof(float));  // + 1: never 0 bytes
    //: step 5
    if (!tensor->data) {
        delete tensor;
        return fail("out of memory");
    }
    //: end
    tensor->storage = new Storage{tensor->data, 1};  //: step 4
    if (numbers) memcpy(tensor->data, numbers, tensor->size * sizeof(float));
    return tensor;
}

extern "C" void free_tensor(Tensor* tensor) {
    //: gap 1 free
    //: ? give back the numbers with free(...), then the struct with delete
    //: 1-3 | free(tensor->data);
    //: 1-3 | delete tensor;
    //: end
    //: gap 4 free
    //: ? this tensor looks at its storage no longer: count down storage->references; at 0, free the storage's data
    //: ? and delete the storage; delete the tensor in any case
    if (--tensor->storage->references == 0) {
        free(tensor->storage->data);
        delete tensor->storage;
    }
    delete tensor;
    //: end
}

// The element at an index, as a reference: it can be read, and written to.
static float& at(const Tensor* tensor, const int64_t* index) {
    //: gap 1 at
    //: ? add up index[d] * strides[d] over all dimensions d, and return the element of data at that place
    //: | return tensor->data[0];
    int64_t place = 0;
    for (int64_t d = 0; d < tensor->ndim; d++) place += index[d] * tensor->strides[d];
    return tensor->data[place];
    //: end
}

extern "C" float get_item(const Tensor* tensor, const int64_t* index) { return at(tensor, index); }

//: step 4
// Calls work(index) for every index of a shape in row-major order: [0, 0] [0, 1] ... [1, 0] ...
template <typename Work>
static void for_each_index(const Tensor* tensor, Work work) {
    int64_t index[MAX_DIMS] = {};
    for (int64_t i = 0; i < tensor->size; i++) {
        work(index);
        //: gap 4 odometer
        //: ? go to the next index, as an odometer does: add 1 to the last dimension; while a dimension has reached its
        //: ? size, set it to 0 and add 1 to the dimension before it
        int64_t d = tensor->ndim - 1;
        for (; d >= 0 && ++index[d] == tensor->shape[d]; d--) index[d] = 0;
        //: end
    }
}

// Copies the elements of one tensor into another of the same shape.
extern "C" void assign_tensor(const Tensor* to, const Tensor* from) {
    for_each_index(to, [&](const int64_t* index) { at(to, index) = at(from, index); });
}

// Lets `view`, a tensor without memory, look at the memory of `source`.
static Tensor* look_at(Tensor* view, const Tensor* source) {
    view->data = source->data;
    view->storage = source->storage;
    view->storage->references++;
    return view;
}

extern "C" Tensor* transpose_tensor(const Tensor* x, int64_t a, int64_t b) {
    //: step 5
    if (a < 0 || a >= x->ndim || b < 0 || b >= x->ndim) return fail("there is no such dimension");
    //: end
    Tensor* view = look_at(new Tensor(*x), x);
    //: gap 4 transpose
    //: ? exchange dimensions a and b of the view: its shape, and its strides (x still has the old ones)
    view->shape[a] = x->shape[b];
    view->shape[b] = x->shape[a];
    view->strides[a] = x->strides[b];
    view->strides[b] = x->strides[a];
    //: end
    return view;
}

static bool is_contiguous(const Tensor* x) {
    int64_t expected = 1;
    for (int64_t d = x->ndim - 1; d >= 0; d--) {
        if (x->shape[d] != 1 && x->strides[d] != expected) return false;
        expected *= x->shape[d];
    }
    return true;
}

extern "C" Tensor* reshape_tensor(const Tensor* x, const int64_t* shape, int64_t ndim) {
    Tensor* view = describe(shape, ndim);
    //: step 5
    if (!view) return nullptr;
    if (view->size != x->size) {
        delete view;
        return fail("the new shape must have as many elements as the old one");
    }
    //: end
    if (is_contiguous(x)) return look_at(view, x);
    delete view;
    Tensor* copy = create_tensor(nullptr, shape, ndim);  // the memory has another order: only a copy can have the shape
    if (!copy) return nullptr;  //: step 5
    Tensor* rows = look_at(describe(x->shape, x->ndim), copy);
    assign_tensor(rows, x);
    free_tensor(rows);
    return copy;
}

// Repeats dimensions of size 1, and adds dimensions in front, without copying: a stride of 0 stays at one element.
extern "C" Tensor* expand_tensor(const Tensor* x, const int64_t* shape, int64_t ndim) {
    Tensor* view = describe(shape, ndim);
    //: step 5
    if (!view) return nullptr;
    bool fits = x->ndim <= ndim;
    //: gap 5 expand
    //: ? check before anything reads behind the memory: for each dimension d of x, the size must be 1, or equal to the
    //: ? size in the same place of `shape`, counted from the right, which is shape[ndim - x->ndim + d]; if one is not, fits = false
    for (int64_t d = 0; fits && d < x->ndim; d++) fits = x->shape[d] == 1 || x->shape[d] == shape[ndim - x->ndim + d];
    //: end
    if (!fits) {
        delete view;
        return fail("only sizes of 1 can be repeated, and dimensions added in front");
    }
    //: end
    for (int64_t d = 0; d < ndim; d++) {
        const int64_t from = d - (ndim - x->ndim);  // the dimension of x, counted from the right; negative: x has none
        //: gap 4 expand
        //: ? set view->strides[d]: 0 where x has no such dimension or has size 1 there, otherwise the stride of x
        //: | view->strides[d] = from < 0 ? 0 : 1;
        view->strides[d] = from < 0 || x->shape[from] == 1 ? 0 : x->strides[from];
        //: end
    }
    return look_at(view, x);
}

//: end
//: 1-2 | static void add_tensor_cpu(const Tensor* x, const Tensor* y, Tensor* result) {
//: gap 1 add
//: ? for each i below result->size: the sum of the numbers of x and y at i goes into the result's numbers at i
//: 1-2 |     for (int64_t i = 0; i < result->size; i++) result->data[i] = x->data[i] + y->data[i];
//: end
//: 1-2 | }
//: 1-2 |
//: 1-2 | extern "C" Tensor* add_tensor(const Tensor* x, const Tensor* y) {
//: 1-2 |     Tensor* result = create_tensor(nullptr, x->shape, x->ndim);
//: 1-2 |     add_tensor_cpu(x, y, result);
//: 1-2 |     return result;
//: 1-2 | }
//: step 3
// A new tensor with formula(a, b) for each element a of x and b of y, which have the same shape.
template <typename Formula>
static Tensor* elementwise(const Tensor* x, const Tensor* y, Formula formula) {
    //: step 5
    //: gap 5 elementwise
    //: ? return fail("...") if the shapes differ: in ndim, or in the first ndim entries of shape
    //: ? (memcmp(a, b, bytes) gives 0 if two pieces of memory are equal)
    const bool same = x->ndim == y->ndim && memcmp(x->shape, y->shape, x->ndim * sizeof(int64_t)) == 0;
    if (!same) return fail("the shapes must be equal");
    //: end
    //: end
    Tensor* result = create_tensor(nullptr, x->shape, x->ndim);
    if (!result) return nullptr;  //: step 5
    //: gap 3 elementwise
    //: ? as add_tensor_cpu did, but with formula(a, b) in place of a + b
    //: 3 | for (int64_t i = 0; i < result->size; i++) result->data[i] = formula(x->data[i], y->data[i]);
    //: end
    //: gap 4 elementwise
    //: ? views have their elements elsewhere: use for_each_index and at(...), as assign_tensor does
    //: | for (int64_t i = 0; i < result->size; i++) result->data[i] = formula(x->data[i], y->data[i]);
    for_each_index(result, [&](const int64_t* index) { at(result, index) = formula(at(x, index), at(y, index)); });
    //: end
    return result;
}

extern "C" Tensor* add_tensor(const Tensor* x, const Tensor* y) {
    return elementwise(x, y, [](float a, float b) { return a + b; });
}

extern "C" Tensor* sub_tensor(const Tensor* x, const Tensor* y) {
    //: gap 3 formulas
    //: ? the same, with a - b
    //: | return add_tensor(x, y);
    return elementwise(x, y, [](float a, float b) { return a - b; });
    //: end
}

extern "C" Tensor* elementwise_mul_tensor(const Tensor* x, const Tensor* y) {
    return elementwise(x, y, [](float a, float b) { return a * b; });
}

extern "C" Tensor* div_tensor(const Tensor* x, const Tensor* y) {
    return elementwise(x, y, [](float a, float b) { return a / b; });
}

extern "C" Tensor* pow_tensor(const Tensor* x, const Tensor* y) {
    //: gap 3 power
    //: ? the same, with powf(a, b): a to the power of b
    //: | return add_tensor(x, y);
    return elementwise(x, y, [](float a, float b) { return powf(a, b); });
    //: end
}
//: end
//: step 6

extern "C" Tensor* log_tensor(const Tensor* x) {
    return elementwise(x, x, [](float a, float) { return logf(a); });
}

// The elements of x, added up until the result has this shape: the way back from expand_tensor.
extern "C" Tensor* sum_tensor(const Tensor* x, const int64_t* shape, int64_t ndim) {
    Tensor* result = create_tensor(nullptr, shape, ndim);
    if (!result) return nullptr;
    //: gap 6 sum
    //: ? make `wide`, the result expanded to the shape of x (if that is nullptr: free the result, return nullptr);
    //: ? add each element of x to the element of `wide` at the same index; free `wide`
    Tensor* wide = expand_tensor(result, x->shape, x->ndim);
    if (!wide) {
        free_tensor(result);
        return nullptr;
    }
    for_each_index(x, [&](const int64_t* index) { at(wide, index) += at(x, index); });
    free_tensor(wide);
    //: end
    return result;
}

extern "C" Tensor* matmul_tensor(const Tensor* x, const Tensor* y) {
    if (x->ndim != 2 || y->ndim != 2) return fail("matrices have two dimensions");
    if (x->shape[1] != y->shape[0]) return fail("as many columns as rows are needed");
    const int64_t shape[] = {x->shape[0], y->shape[1]};
    Tensor* result = create_tensor(nullptr, shape, 2);
    if (!result) return nullptr;
    for_each_index(result, [&](const int64_t* index) {
        float sum = 0;
        //: gap 6 matmul
        //: ? for each k below x->shape[1], add the product of x at [index[0], k] and y at [k, index[1]] to sum
        for (int64_t k = 0; k < x->shape[1]; k++) {
            const int64_t left[] = {index[0], k}, right[] = {k, index[1]};
            sum += at(x, left) * at(y, right);
        }
        //: end
        at(result, index) = sum;
    });
    return result;
}
//: end
