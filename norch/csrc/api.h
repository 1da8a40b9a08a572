// The C API that Python drives through ctypes (norch/_C.py declares the same prototypes in one table).
//
// Functions that build a tensor return it, owned by the caller until free_tensor, or null after an error; functions
// that return int give 0, or -1 after an error. error_kind() and error_message() then tell what went wrong in this
// thread. No function exits, prints or throws. Shapes are arrays of ndim sizes; axes may count from the end.

#pragma once
#include "core/interpreter.h"
#include "kernels.h"
#include "tensor.h"

#define API extern "C" __attribute__((visibility("default")))

// ---- Errors, memory and devices (api/runtime.cpp)
API int32_t error_kind();  // an ErrorKind; 0 if there was no error yet
API const char* error_message();
API int64_t memory_allocated(int32_t device);  // bytes of element data alive on a device
API int64_t memory_reserved(int32_t device);   // bytes taken from the system: with what waits in the cache
API void empty_cache();                        // gives the cached memory back to the system
API void set_cache_limit(int64_t nbytes);      // how much the cache may hold; empties it
API int64_t live_tensors();                    // Tensor structs alive
API void fail_allocation(int64_t countdown);   // for tests: the countdown-th allocation from now fails; 0 disarms
// Ticks at every write in place; nodes of the graph note the time.
extern "C" {
extern __attribute__((visibility("default"))) std::atomic<int64_t> write_clock;
}
API const char* instruction_set();          // "baseline", "avx2" or "avx512": which copy of the CPU kernels runs
API const char* instruction_set_error();    // why NORCH_ISA cannot be followed, or ""
API int32_t device_count();                 // CUDA devices; 0 without a driver, or in a build without CUDA
API int32_t has_cuda();                     // 1 if this build has CUDA kernels
API const char* cuda_name(int32_t device);  // as the driver calls it; null after an error
API int synchronize(int32_t device);        // waits until all work queued on a CUDA device is done
API uint64_t stream_of(int32_t device);     // the CUDA stream that norch's work is queued on; 0 after an error
API int let_stream_wait(int32_t device, uint64_t stream);  // a stream of another library, for norch's work so far
API void empty_device_cache();  // gives memory of CUDA devices that no tensor uses back to the driver
API const char* why_no_cuda();  // how the library was built, or what the driver said
// "neg abs ...": the rows of ops/operations.h with 1, 2 or 3 operands; from 4 on: of the other lists (_C.py)
API const char* list_operations(int32_t arity);
API const char* list_rules(int32_t arity);  // "NUMERIC NUMERIC ...": how those with 1 or 2 treat dtypes

// ---- Creation and copies
API Tensor* create_tensor(const void* data, const int64_t* shape, int32_t ndim, int32_t dtype,
                          int32_t device);                                                    // copies
API Tensor* empty_tensor(const int64_t* shape, int32_t ndim, int32_t dtype, int32_t device);  // values unset
API Tensor* number_tensor(double real, int64_t integer, int32_t dtype);  // a Python number: BOOL, INT64 or FLOAT64
API void free_tensor(Tensor* tensor);
API Tensor** new_results();  // room for 3, which a function fills, until free_results
API void free_results(Tensor** results);
API Tensor* take_result(Tensor** results, int32_t i);    // which is then null there
API Tensor* alias_tensor(Tensor* tensor);                // the same elements under a new handle
API Tensor* data_tensor(Tensor* tensor);                 // the same, whose writes are counted apart
API Tensor* clone_tensor(Tensor* tensor);                // a contiguous copy
API Tensor* contiguous_tensor(Tensor* tensor);           // an alias if it already is
API Tensor* cast_tensor(Tensor* tensor, int32_t dtype);  // a contiguous copy in another dtype
API Tensor* to_device(Tensor* tensor, int32_t device);   // a contiguous copy on another device
API int assign_tensor(Tensor* target, Tensor* source);   // target[...] = source, broadcast and cast
// targets[k][...] = sources[k], each like its target: all of them or, if one does not fit, none
API int assign_all(int32_t count, Tensor* const* targets, Tensor* const* sources);
API int set_default_dtype(int32_t dtype);  // of Python's floats, and of integers that an operation makes floats of
API Tensor* full_like_tensor(Tensor* tensor, Tensor* number);  // one value in another tensor's shape, dtype and device
API double get_item(Tensor* tensor, const int64_t* indices);   // one element; NaN after an error

// ---- Filled: evenly spaced numbers; random numbers by seed and number of the draw (ops/philox.h)
API Tensor* arange_tensor(double start, double step, int64_t size, int32_t dtype, int32_t device);
API Tensor* integer_arange_tensor(int64_t start, int64_t step, int64_t size, int32_t dtype, int32_t device);
API Tensor* linspace_tensor(double start, double end, int64_t size, int32_t dtype, int32_t device);
API int uniform_into(Tensor* out, uint64_t seed, uint64_t draw, double low, double high);  // in [low, high)
API int normal_into(Tensor* out, uint64_t seed, uint64_t draw, double mean, double std);
API int integers_into(Tensor* out, uint64_t seed, uint64_t draw, int64_t low,
                      uint64_t range);  // low, ... low + range - 1
API Tensor* permutation_tensor(int64_t size, uint64_t seed, uint64_t draw, int32_t dtype, int32_t device);
API uint64_t next_draw(uint64_t* state);  // of a generator, {seed, draws}: the number of its next draw
API void philox_block(uint64_t seed, uint64_t draw, uint64_t index, uint32_t* words);  // for tests: four words

// ---- Views: share storage, never copy (reshape_tensor copies if it must)
API Tensor* reshape_tensor(Tensor* tensor, const int64_t* shape, int32_t ndim);  // one size may be -1
API Tensor* view_tensor(Tensor* tensor, const int64_t* shape, int32_t ndim);     // an error instead of a copy
API Tensor* reverse_tensor(Tensor* tensor);  // all axes in reverse order: the article's .T
API Tensor* transpose_tensor(Tensor* tensor, int64_t axis1, int64_t axis2);
API Tensor* permute_tensor(Tensor* tensor, const int64_t* axes, int32_t ndim);
API Tensor* expand_tensor(Tensor* tensor, const int64_t* shape, int32_t ndim);   // -1 keeps a size
API Tensor* squeeze_tensor(Tensor* tensor, const int64_t* axes, int32_t count);  // count -1: every axis of size 1
API Tensor* unsqueeze_tensor(Tensor* tensor, int64_t axis);
API Tensor* select_tensor(Tensor* tensor, int64_t axis, int64_t index);        // drops the axis
API Tensor* at_tensor(Tensor* tensor, const int64_t* indices, int32_t count);  // drops the first `count` axes
API Tensor* slice_tensor(Tensor* tensor, int64_t axis, int64_t start, int64_t length, int64_t step);
API Tensor* flipped_tensor(Tensor* tensor, const int64_t* axes, int32_t count);  // a copy: strides are never negative
API Tensor* view_as_dtype(Tensor* tensor, int32_t dtype);                        // the same bytes read as another dtype
API Tensor* as_strided_tensor(Tensor* tensor, const int64_t* shape, const int64_t* strides, int32_t ndim,
                              int64_t offset);

// ---- Elementwise operations: each row of ops/operations.h gives NAME_tensor, a new result, and NAME_into, which
//      writes it into out. Operands broadcast against each other and are promoted to a common dtype.
#define DECLARE_UNARY(name, rule, formula)      \
    API Tensor* name##_tensor(Tensor* tensor);  \
    API int name##_into(Tensor* out, Tensor* tensor);
UNARY_OPS(DECLARE_UNARY)
ACTIVATION_OPS(DECLARE_UNARY)
SPECIAL_OPS(DECLARE_UNARY)
#undef DECLARE_UNARY

#define DECLARE_BINARY(name, rule, formula)                        \
    API Tensor* name##_tensor(Tensor* tensor1, Tensor* tensor2);   \
    API int name##_into(Tensor* out, Tensor* tensor1, Tensor* tensor2);
BINARY_OPS(DECLARE_BINARY)
DERIVATIVE_OPS(DECLARE_BINARY)
LOSS_OPS(DECLARE_BINARY)
SHAPED_OPS(DECLARE_BINARY)
SPECIAL_PAIR_OPS(DECLARE_BINARY)
#undef DECLARE_BINARY

#define DECLARE_TERNARY(name, rule, formula)                                       \
    API Tensor* name##_tensor(Tensor* tensor1, Tensor* tensor2, Tensor* tensor3);  \
    API int name##_into(Tensor* out, Tensor* tensor1, Tensor* tensor2, Tensor* tensor3);
TERNARY_OPS(DECLARE_TERNARY)
#undef DECLARE_TERNARY

// ---- Reductions over several axes (count -1: over all). A result without axes has shape [1].
#define DECLARE_REDUCTION(name, ...) \
    API Tensor* name##_tensor(Tensor* tensor, const int64_t* axes, int32_t count, int32_t keepdim);
REDUCTIONS(DECLARE_REDUCTION)
#undef DECLARE_REDUCTION
API Tensor* argmax_tensor(Tensor* tensor, int64_t axis, int32_t over_all, int32_t keepdim);
API Tensor* argmin_tensor(Tensor* tensor, int64_t axis, int32_t over_all, int32_t keepdim);
API Tensor* sum_to_shape(Tensor* tensor, Tensor* like);  // undoes broadcasting: sums over what was repeated

// ---- Indexing by int64 tensors; with `wraps`, negative ones count from the end.
//      indices[d] selects along axis d, null takes all of it; messages call the axis axes[d]
API Tensor* index_tensor(Tensor* tensor, Tensor* const* indices, const int64_t* axes, int32_t count, int32_t wraps);
API int index_put(Tensor* target, Tensor* const* indices, const int64_t* axes, int32_t count, int32_t wraps,
                  Tensor* values, int32_t how);  // the values broadcast; `how` is a Combining (ops/combining.h)
API Tensor* gather_tensor(Tensor* tensor, int64_t axis, Tensor* index, int32_t wraps);
API int scatter_into(Tensor* target, int64_t axis, Tensor* index, int32_t wraps, Tensor* source, int32_t how);
API Tensor* nonzero_tensor(Tensor* tensor);  // [count, rank]: the index of each nonzero element
// Two results: the first `count` of the sorted elements along an axis (-1: all), and their indices. Stable.
API int sort_tensor(Tensor* tensor, int64_t axis, int64_t count, int32_t descending, Tensor** results);
API Tensor* cumsum_tensor(Tensor* tensor, int64_t axis, int32_t reverse);  // reverse: from the end on
API Tensor* cumprod_tensor(Tensor* tensor, int64_t axis);

// ---- The rest
API Tensor* matmul_tensor(Tensor* tensor1, Tensor* tensor2);  // batched, broadcasting, 1-D operands: as numpy.matmul
API Tensor* cat_tensors(Tensor* const* tensors, int32_t count, int64_t axis);

// ---- Optimizers: one step of all parameters that have a gradient, in place (api/optim.cpp). `options` has an entry for
//      each group of parameters. Whatever fails, be it a check or an allocation, fails before anything is changed.
struct SGDEntry {
    Tensor *parameter, *gradient, *velocity;  // velocity: null without momentum
    int64_t first;                            // whether this is the velocity's first step
    int64_t group;
};
struct StepEntry {
    Tensor *parameter, *gradient;
    Tensor* state[3];  // adam: exp_avg, exp_avg_sq, max_exp_avg_sq; rmsprop: square_avg, grad_avg, momentum_buffer
    Tensor* step;      // how many steps were taken: a float32 on the CPU, which the call increments
    int64_t group;
};
API int sgd_step(int32_t count, const SGDEntry* entries, const SGDOptions* options);
#define DECLARE_STEP(name, Options, ...) \
    API int name##_step(int32_t count, const StepEntry* entries, const Options* options);
OPTIMIZERS(DECLARE_STEP)
#undef DECLARE_STEP

// ---- Memory shared with Python objects, and with other libraries by DLPack (api/external.cpp)
struct ObjectFunctions {  // more of Python's C API, which api/objects.cpp calls
    void* (*new_name)(const char* text);
    void* (*new_type)(const void* spec, void* bases);  // PyType_FromSpecWithBases
    void* (*type_of)(void* object);
    void (*free_object)(void* object);
    void* (*address_in)(void* integer);
    void* (*attribute)(void* object, void* name);
    void* (*new_dict)();
    int (*next_item)(void* dict, ptrdiff_t* place, void** key, void** value);
    void* (*item)(void* dict, void* key);  // borrowed
    int (*set_item)(void* dict, void* key, void* value);
    int (*update)(void* dict, void* other);
    void* (*new_list)(ptrdiff_t size);
    int (*append)(void* list, void* item);
    ptrdiff_t (*length)(void* list);
    ptrdiff_t (*size)(void* tuple);
    void* (*list_item)(void* list, ptrdiff_t i);    // borrowed
    void* (*tuple_item)(void* tuple, ptrdiff_t i);  // borrowed
    int (*set_slice)(void* list, ptrdiff_t from, ptrdiff_t to, void* items);
    void (*clear_error)();
};
API void use_python(const PythonFunctions* functions, const ObjectFunctions* of_objects);  // once, before all others
// The types that _C.py calls Handle, StorageHandle and ResultsHandle, and the methods of norch/guards.py (api/objects.cpp)
struct PythonObject;
API PythonObject* handle_type(int32_t kind, PythonObject* bases);
API PythonObject* enter_guard(PythonObject* guard);
API int leave_guard(PythonObject* guard, PythonObject* type, PythonObject* exception, PythonObject* traceback);
API void drop_guard(PythonObject* guard);
API Storage* hold_storage(Tensor* tensor);  // one more reference to its storage, given back by free_storage
API void free_storage(Storage* storage);
API Tensor* storage_tensor(Storage* storage, int32_t dtype);  // all its elements, as a vector
API int32_t is_read_only(Tensor* tensor);
API Tensor* external_tensor(void* data, const int64_t* shape, const int64_t* strides, int32_t ndim, int32_t dtype,
                            int32_t read_only,
                            void* owner);  // over the memory of a Python object, which it keeps alive
API void* dlpack_tensor(Tensor* tensor, int32_t versioned, int32_t copied);  // for a capsule named dlpack_name(...)
API Tensor* tensor_of_dlpack(void* managed, int32_t versioned);              // owns `managed` from then on
API const void* dlpack_name(int32_t versioned, int32_t used);
API void* dlpack_destructor();  // of such capsules: a PyCapsule_Destructor
// ---- Layers and losses, each in one call (api/layers.cpp). Reductions: 0 none, 1 mean, 2 sum.
// Along an axis: softmax_tensor and softmax_backward, log_softmax_tensor and log_softmax_backward
#define DECLARE_ROW_OP(name)                               \
    API Tensor* name##_tensor(Tensor* tensor, int64_t axis); \
    API Tensor* name##_backward(Tensor* gradient, Tensor* output, int64_t axis);
ROW_OPS(DECLARE_ROW_OP)
#undef DECLARE_ROW_OP
API Tensor* linear_tensor(Tensor* x, Tensor* weight, Tensor* bias);  // x @ weight.T + bias; bias may be null
// Gradients of x (needed & 1), weight (& 2) and bias (& 4) into results[0], [1] and [2]; null if not needed.
API int linear_backward(Tensor* gradient, Tensor* x, Tensor* weight, int32_t needed, Tensor** results);
// Logits [N, C, ...] or [C], targets [N, ...] of an integer dtype; mean divides by the targets that are not ignored.
API Tensor* cross_entropy_tensor(Tensor* logits, Tensor* targets, int64_t ignore_index, int32_t reduction);
API Tensor* cross_entropy_backward(Tensor* gradient, Tensor* logits, Tensor* targets, int64_t ignore_index,
                                   int32_t reduction);
API Tensor* mse_tensor(Tensor* predictions, Tensor* labels, int32_t reduction);  // mean or sum; shape [1]
API Tensor* mse_backward(Tensor* gradient, Tensor* predictions, Tensor* labels, int32_t reduction);  // for predictions

// ---- Windows over images [N, C, y, x] (api/windows.cpp). A window is ten integers, each for y, then for x: kernel,
//      stride, dilation, padding before, padding after.
API Tensor* unfold_tensor(Tensor* x, const int64_t* window);  // [N, C * taps, outputs]
API Tensor* fold_tensor(Tensor* columns, const int64_t* window, int64_t height, int64_t width);  // the sums of columns
API Tensor* conv_tensor(Tensor* x, Tensor* weight, Tensor* bias, const int64_t* window,
                        int64_t groups);  // bias may be null
// Gradients of x (needed & 1), weight (& 2) and bias (& 4) into results[0], [1] and [2]; null if not needed.
API int conv_backward(Tensor* gradient, Tensor* x, Tensor* weight, const int64_t* window, int64_t groups,
                      int32_t needed, Tensor** results);
// Pools; with `ceil` a last window may begin inside the image and end outside.
API int max_pool_tensor(Tensor* x, const int64_t* window, int32_t ceil, Tensor** results);
API Tensor* max_pool_backward(Tensor* gradient, Tensor* indices, const int64_t* window, int32_t ceil, int64_t height,
                              int64_t width);
// Averages over the window, of `divisor` elements (0: of those it has); adaptive_avg_pool chooses windows for an output
// of y times x.
API Tensor* avg_pool_tensor(Tensor* x, const int64_t* window, int32_t ceil, int32_t counts_padding, double divisor);
API Tensor* avg_pool_backward(Tensor* gradient, const int64_t* window, int32_t ceil, int32_t counts_padding,
                              double divisor, int64_t height, int64_t width);
API Tensor* adaptive_avg_pool_tensor(Tensor* x, int64_t height, int64_t width);
API Tensor* adaptive_avg_pool_backward(Tensor* gradient, int64_t height, int64_t width);

// ---- Normalization (api/normalization.cpp) of x as [outer, groups, inner], with a mean and a variance for each group.
//      Weight and bias may be null. They have an element for each group if by_group, else for each position of inner.
//      results: (x - mean) / sqrt(variance + eps) * weight + bias, mean [groups], variance [groups] (divided by n)
API int normalize_tensor(Tensor* x, Tensor* weight, Tensor* bias, int64_t outer, int64_t groups, int32_t by_group,
                         double eps, Tensor** results);
// Gradients of x (needed & 1), weight (& 2) and bias (& 4) into results[0], [1] and [2]; null if not needed.
API int normalize_backward(Tensor* gradient, Tensor* x, Tensor* weight, Tensor* mean, Tensor* variance, int64_t outer,
                           int64_t groups, int32_t by_group, double eps, int32_t needed, Tensor** results);

// ---- Threads
API int32_t get_num_threads();
API void set_num_threads(int32_t count);

// ---- What autograd asks
API Tensor* unit_gradient(Tensor* tensor);  // 1 in the shape, dtype and device of a tensor that has one element
// What a tensor's .grad can be: -1, not this (another shape, dtype or device); 0, a copy of this; 1, this itself,
// whose memory no other tensor sees.
API int32_t fits_as_gradient(Tensor* gradient, Tensor* tensor);
API int32_t shares_memory(Tensor* x, Tensor* y);          // 1 if they are over one storage
API int32_t same_kind(Tensor* tensor1, Tensor* tensor2);  // 1 if shape, dtype and device are equal
API int64_t written_at(Tensor* tensor);                   // the write clock when it was last written in place
API void mark_as_written(Tensor* tensor);                 // as if it had been written in place
API int64_t version_of(Tensor* tensor);                   // how often that happened

// ---- The boundary: C++ exceptions stop here (but not the unwinding by which Python ends a thread at its exit)
void remember_error(const Error& error) noexcept;
void remember_error(const std::exception& error) noexcept;

template <class F>
Tensor* build(F f) {
    try {
        return f().give();
    } catch (const Error& error) {
        remember_error(error);
    } catch (const std::exception& error) {
        remember_error(error);
    }
    return nullptr;
}

template <class F>
int attempt(F f) {
    try {
        f();
        return 0;
    } catch (const Error& error) {
        remember_error(error);
    } catch (const std::exception& error) {
        remember_error(error);
    }
    return -1;
}
