// The C API that Python drives through ctypes (norch/_C.py declares the same prototypes in one table).
//
// Functions that build a tensor return it, owned by the caller until free_tensor, or null after an error; functions
// that return int give 0, or -1 after an error. error_kind() and error_message() then tell what went wrong in this
// thread. No function exits, prints or throws. Shapes are arrays of ndim sizes; axes may count from the end.

#pragma once
#include "kernels.h"
#include "tensor.h"

#define API extern "C" __attribute__((visibility("default")))

// ---- Errors and memory
API int32_t error_kind();             // an ErrorKind; 0 where there was no error yet
API const char* error_message();
API int64_t memory_allocated(int32_t device);  // bytes of element data alive on a device
API int64_t live_tensors();                    // Tensor structs alive
API void fail_allocation(int64_t countdown);   // for tests: the countdown-th allocation from now fails; 0 disarms
extern "C" { extern __attribute__((visibility("default"))) std::atomic<int64_t> write_clock; }  // ticks at every write in place
API int32_t device_count();                    // CUDA devices; 0 where there is no driver or no CUDA in this build
API int32_t has_cuda();                        // 1 where this build holds CUDA kernels
API const char* cuda_name(int32_t device);     // as the driver calls it; null after an error
API int synchronize(int32_t device);           // waits until all work queued on a CUDA device is done
API void empty_cache();                        // gives device memory that no tensor uses back to the driver
API const char* why_no_cuda();                 // how the library was built, or what the driver said
API const char* list_operations(int32_t arity);  // "neg abs ...": the names of ops.h with 1, 2 or 3 operands

// ---- Creation and copies
API Tensor* create_tensor(const void* data, const int64_t* shape, int32_t ndim, int32_t dtype, int32_t device);  // copies
API Tensor* empty_tensor(const int64_t* shape, int32_t ndim, int32_t dtype, int32_t device);  // values unset
API Tensor* number_tensor(double real, int64_t integer, int32_t dtype);  // a Python number: BOOL, INT64 or FLOAT64
API void free_tensor(Tensor* tensor);
API Tensor* alias_tensor(Tensor* tensor);                   // the same elements under a new handle
API Tensor* clone_tensor(Tensor* tensor);                   // a contiguous copy
API Tensor* contiguous_tensor(Tensor* tensor);              // an alias where it already is
API Tensor* cast_tensor(Tensor* tensor, int32_t dtype);     // a contiguous copy in another dtype
API Tensor* to_device(Tensor* tensor, int32_t device);      // a contiguous copy on another device
API int assign_tensor(Tensor* target, Tensor* source);      // target[...] = source, broadcast and cast
API double get_item(Tensor* tensor, const int64_t* indices);  // one element; NaN after an error

// ---- Filled: numbers at equal distances; random numbers by seed and number of the draw (random.h)
API Tensor* arange_tensor(double start, double step, int64_t size, int32_t dtype, int32_t device);
API Tensor* integer_arange_tensor(int64_t start, int64_t step, int64_t size, int32_t dtype, int32_t device);
API Tensor* linspace_tensor(double start, double end, int64_t size, int32_t dtype, int32_t device);
API int uniform_into(Tensor* out, uint64_t seed, uint64_t draw, double low, double high);         // in [low, high)
API int normal_into(Tensor* out, uint64_t seed, uint64_t draw, double mean, double std);
API int integers_into(Tensor* out, uint64_t seed, uint64_t draw, int64_t low, uint64_t range);    // low, ... low + range - 1
API Tensor* permutation_tensor(int64_t size, uint64_t seed, uint64_t draw, int32_t dtype, int32_t device);
API void philox_block(uint64_t seed, uint64_t draw, uint64_t index, uint32_t* words);             // for tests: four words

// ---- Views: share storage, never copy (reshape_tensor copies where strides leave no choice)
API Tensor* reshape_tensor(Tensor* tensor, const int64_t* shape, int32_t ndim);  // one size may be -1
API Tensor* view_tensor(Tensor* tensor, const int64_t* shape, int32_t ndim);     // an error instead of a copy
API Tensor* reverse_tensor(Tensor* tensor);  // all axes in reverse order: the article's .T
API Tensor* transpose_tensor(Tensor* tensor, int64_t axis1, int64_t axis2);
API Tensor* permute_tensor(Tensor* tensor, const int64_t* axes, int32_t ndim);
API Tensor* expand_tensor(Tensor* tensor, const int64_t* shape, int32_t ndim);   // -1 keeps a size
API Tensor* squeeze_tensor(Tensor* tensor, const int64_t* axes, int32_t count);  // count -1: every axis of size 1
API Tensor* unsqueeze_tensor(Tensor* tensor, int64_t axis);
API Tensor* select_tensor(Tensor* tensor, int64_t axis, int64_t index);          // drops the axis
API Tensor* slice_tensor(Tensor* tensor, int64_t axis, int64_t start, int64_t length, int64_t step);
API Tensor* flipped_tensor(Tensor* tensor, const int64_t* axes, int32_t count);  // a copy: strides are never negative
API Tensor* view_as_dtype(Tensor* tensor, int32_t dtype);  // the same bytes read as another dtype
API Tensor* as_strided_tensor(Tensor* tensor, const int64_t* shape, const int64_t* strides, int32_t ndim, int64_t offset);

// ---- Elementwise operations: each row of ops.h gives NAME_tensor, a new result, and NAME_into, which writes its
//      result into out. Operands broadcast against each other and are promoted to a common dtype.
#define DECLARE_UNARY(name, rule, formula)      \
    API Tensor* name##_tensor(Tensor* tensor);  \
    API int name##_into(Tensor* out, Tensor* tensor);
UNARY_OPS(DECLARE_UNARY)
#undef DECLARE_UNARY

#define DECLARE_BINARY(name, rule, formula)                        \
    API Tensor* name##_tensor(Tensor* tensor1, Tensor* tensor2);   \
    API int name##_into(Tensor* out, Tensor* tensor1, Tensor* tensor2);
BINARY_OPS(DECLARE_BINARY)
#undef DECLARE_BINARY

#define DECLARE_TERNARY(name, first, formula)                                      \
    API Tensor* name##_tensor(Tensor* tensor1, Tensor* tensor2, Tensor* tensor3);  \
    API int name##_into(Tensor* out, Tensor* tensor1, Tensor* tensor2, Tensor* tensor3);
TERNARY_OPS(DECLARE_TERNARY)
#undef DECLARE_TERNARY

// ---- Reductions over several axes (count -1: over all). A result without axes has shape [1].
#define DECLARE_REDUCTION(name) API Tensor* name##_tensor(Tensor* tensor, const int64_t* axes, int32_t count, int32_t keepdim);
REDUCTIONS(DECLARE_REDUCTION)
#undef DECLARE_REDUCTION
API Tensor* argmax_tensor(Tensor* tensor, int64_t axis, int32_t over_all, int32_t keepdim);
API Tensor* argmin_tensor(Tensor* tensor, int64_t axis, int32_t over_all, int32_t keepdim);
API Tensor* sum_to_shape(Tensor* tensor, Tensor* like);  // undoes broadcasting: sums over what was repeated

// ---- The rest
API Tensor* matmul_tensor(Tensor* tensor1, Tensor* tensor2);  // batched, broadcasting, 1-D operands: as numpy.matmul
API Tensor* cat_tensors(Tensor* const* tensors, int32_t count, int64_t axis);
API int sgd_step(int32_t count, Tensor* const* parameters, Tensor* const* gradients, Tensor* const* velocities,
                 const uint8_t* first, double lr, double momentum, double dampening, double weight_decay,
                 int32_t nesterov, int32_t maximize);

// ---- What autograd asks
API int32_t owns_memory(Tensor* tensor);  // 1 where no other tensor can see a write to this one
API int32_t shares_memory(Tensor* tensor);  // 1 where some other tensor does
API int32_t same_kind(Tensor* tensor1, Tensor* tensor2);  // 1 where shape, dtype and device are the same
API int64_t written_at(Tensor* tensor);  // the write clock when its storage was last written in place
API void mark_as_written(Tensor* tensor);  // as if its storage had been written in place
API int64_t version_of(Tensor* tensor);  // how often that happened

// ---- The boundary: C++ exceptions stop here
void remember_error(const Error& error) noexcept;
void remember_error(const std::exception& error) noexcept;

template <class F>
Tensor* build(F f) noexcept {
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
int attempt(F f) noexcept {
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
