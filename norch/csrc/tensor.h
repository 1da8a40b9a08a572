// Storage, Tensor, dtypes and devices: start here.
//
// A Tensor is a view: shape, strides and an offset over a Storage, which owns the memory and is shared.
// Element (i, j, ...) of a tensor is data[i * strides[0] + j * strides[1] + ...], strides counted in elements.

#pragma once
#include <atomic>
#include <stddef.h>
#include <stdint.h>

#include "core/errors.h"
#include "host/instruction_sets.h"

enum { MAX_DIMS = 8 };

// In the order of promotion: an operation on two dtypes has the larger one, but for two pairs that neither holds
// (promoted).
enum DType : int32_t { BOOL, UINT8, INT8, INT16, INT32, INT64, FLOAT16, BFLOAT16, FLOAT32, FLOAT64, DTYPE_COUNT };

// A device is a number: 0 is the CPU, 1 + i is cuda:i. Each kernel has a slot for each kind of device (dispatch.h).
enum : int32_t { CPU = 0 };
enum DeviceKind { CPU_KIND, CUDA_KIND, DEVICE_KIND_COUNT };
// (inline functions are copied for each instruction set: see host/instruction_sets.h)
inline namespace NORCH_ISA {
inline bool is_real(int32_t dtype) { return dtype >= FLOAT16; }
// Narrow dtypes are stored as what they are and computed in their wide dtype, each result rounded once: they need no
// kernels, only conversions (dispatch.h, cpu/walks.cpp). Other dtypes are their own wide dtype.
inline int32_t wide_of(int32_t dtype) {
    if (dtype == FLOAT16 || dtype == BFLOAT16) return FLOAT32;
    return dtype == INT8 || dtype == INT16 ? int32_t(INT32) : dtype;
}
inline bool is_narrow(int32_t dtype) { return wide_of(dtype) != dtype; }
inline bool is_narrow_real(int32_t dtype) { return is_narrow(dtype) && is_real(dtype); }
inline int32_t promoted(int32_t x, int32_t y) {
    if (x > y) return promoted(y, x);
    if (x == UINT8 && y == INT8) return INT16;
    return x == FLOAT16 && y == BFLOAT16 ? int32_t(FLOAT32) : y;
}
inline DeviceKind kind_of(int32_t device) { return device == CPU ? CPU_KIND : CUDA_KIND; }
}  // namespace NORCH_ISA

using ReleaseFunction = void (*)(void* owner);

// What graphs know of writes in place into a memory.
struct Writes {
    std::atomic<int64_t> references;  // tensors that count for themselves (data_tensor in api.h)
    std::atomic<int64_t> version;     // how often the memory was written
    std::atomic<int64_t> written_at;  // the write clock at the last of them
};

struct Storage {
    std::atomic<int64_t> references;
    std::atomic<int64_t> guests;  // references that are not tensors: storage objects, arrays, capsules
    void* data;
    int64_t nbytes;
    int32_t device;
    Writes writes;
    ReleaseFunction release;  // of memory of another owner: called once, with owner, when the last reference goes
    void* owner;
    bool read_only;
    uint64_t mark;  // of the recording that saw it made (recording/recording.h), and its number there; else 0
};

struct Tensor {  // norch/_C.py mirrors this, field by field
    void* data;  // the first element: storage->data + offset elements
    int64_t strides[MAX_DIMS];
    int64_t shape[MAX_DIMS];
    int32_t ndim;
    int32_t device;
    int64_t size;  // number of elements
    int32_t dtype;
    int32_t is_number;  // a Python number as an operand: it does not widen a tensor's dtype
    int64_t offset;
    Storage* storage;  // null for a number, whose value is inline
    union {
        double real;
        int64_t integer;
        bool truth;
    } value;
    Writes* writes;  // null: those of the storage
};

inline namespace NORCH_ISA {
template <class T>
T* data_as(const Tensor& tensor) {
    return static_cast<T*>(tensor.data);
}
template <class T>
T* data_as(const Tensor* tensor) {  // null stays null
    return tensor ? data_as<T>(*tensor) : nullptr;
}
}  // namespace NORCH_ISA

int64_t item_size(int32_t dtype);  // in bytes
Text shape_text(const Tensor& tensor);

// ---- Memory (core/storage.cpp) -----------------------------------------------------------------------------------

// The one door to memory: every allocation of the library passes here. Throws MEMORY_ERROR.
void* allocate(int64_t nbytes, int32_t device);
void release(void* data, int64_t nbytes, int32_t device) noexcept;
int64_t bytes_in_use(int32_t device);
void fail_later(int64_t countdown);  // for tests: the countdown-th allocation from now fails; 0 disarms

Storage* new_storage(int64_t nbytes, int32_t device);
Storage* new_storage_over(void* data, int64_t nbytes, int32_t device, bool read_only, ReleaseFunction release,
                          void* owner);
// Memory for a struct, which is not counted. Throws MEMORY_ERROR.
void* allocate_struct(int64_t nbytes);
void free_struct(void* memory, int64_t nbytes) noexcept;

Tensor* new_struct();  // an empty Tensor, for the functions below that build one
void drop(Storage* storage) noexcept;
void drop(Writes* writes) noexcept;
void drop(Tensor* tensor) noexcept;

inline namespace NORCH_ISA {

// Scratch memory on the CPU that a kernel needs while it runs.
template <class T>
struct Scratch {
    T* data;
    int64_t count;
    explicit Scratch(int64_t n) : data(static_cast<T*>(allocate(n * int64_t(sizeof(T)), CPU))), count(n) {}
    ~Scratch() { release(data, count * int64_t(sizeof(T)), CPU); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    T& operator[](int64_t i) { return data[i]; }
};

// A Tensor that is dropped when an exception passes.
struct Owned {
    Tensor* tensor;
    explicit Owned(Tensor* t = nullptr) : tensor(t) {}
    ~Owned() { drop(tensor); }
    Owned(Owned&& other) noexcept : tensor(other.give()) {}
    Owned& operator=(Owned&& other) noexcept {
        if (this != &other) {
            drop(tensor);
            tensor = other.give();
        }
        return *this;
    }
    Tensor* give() {
        Tensor* t = tensor;
        tensor = nullptr;
        return t;
    }
    Tensor& operator*() const { return *tensor; }
    Tensor* operator->() const { return tensor; }
};

}  // namespace NORCH_ISA

// ---- Building tensors (tensor.cpp, api/views.cpp) ----------------------------------------------------------------

int64_t count_elements(const int64_t* shape, int ndim);                           // throws on overflow
Owned new_tensor(const int64_t* shape, int ndim, int32_t dtype, int32_t device);  // contiguous, values unset
Owned view_of(const Tensor& tensor, const int64_t* shape, const int64_t* strides, int ndim, int64_t offset);
Tensor expanded(const Tensor& tensor, const int64_t* shape, int ndim,
                const char* operation);                                // stride 0 if it repeats
Owned cast(const Tensor& tensor, int32_t dtype);                       // always a new tensor
Owned contiguous(const Tensor& tensor);                                // a view if it already is
Owned on_device(const Tensor& tensor, int32_t device);                 // always a new tensor
Owned reshaped(const Tensor& tensor, const int64_t* shape, int ndim);  // a view if strides allow
Owned as_rows(const Tensor& tensor, int axis);           // contiguous, with this axis last, of at least one dimension
Owned from_rows(Owned rows, const Tensor& x, int axis);  // the result of a kernel on as_rows(x, axis), in x's shape
Tensor with_axis(const Tensor& tensor);                  // of no dimensions: as one of size 1, which has an axis
bool is_contiguous(const Tensor& tensor);
bool same_shape(const Tensor& x, const Tensor& y);
bool has_shape(const Tensor& x, const int64_t* shape, int ndim);
bool are_alike(const Tensor& x, const Tensor& y);   // in shape, dtype and device
void check_device(int32_t device);                  // throws if there is none
void drop_axes(Tensor& fresh, unsigned axes);       // of size 1, from a result that nobody has seen yet
void assign(const Tensor& source, Tensor& target);  // copy with cast; same shape and device
Owned widened(const Tensor& tensor);                // in its wide dtype, stored in its order
void fill(Tensor& target, double value);
void mark_written(Tensor& tensor);  // the version counter and the write clock

// ---- From a dtype at run time to a type at compile time ----------------------------------------------------------

inline namespace NORCH_ISA {

template <class T>
struct Type {
    using type = T;
};

// Calls f(Type<float>()) for FLOAT32, and so on. The ranges say which dtypes a kernel is built for.
template <class F>
void for_real(int32_t dtype, F f) {
    if (dtype == FLOAT32) return f(Type<float>());
    if (dtype == FLOAT64) return f(Type<double>());
    fail(RUNTIME_ERROR, "no kernel for dtype {}: expected float32 or float64", dtype_name(dtype));
}

template <class F>
void for_whole(int32_t dtype, F f) {
#ifndef NORCH_REALS_ONLY  // then the kernel files have passed integers on: see INTEGERS_IN_AVX2 in cpu/backend.h
    switch (dtype) {
        case BOOL: return f(Type<bool>());
        case UINT8: return f(Type<uint8_t>());
        case INT32: return f(Type<int32_t>());
        case INT64: return f(Type<int64_t>());
    }
#endif
    (void)f;
    fail(RUNTIME_ERROR, "no kernel for dtype {}: expected an integer dtype or bool", dtype_name(dtype));
}

template <class F>
void for_any(int32_t dtype, F f) {
    if (is_real(dtype)) return for_real(dtype, f);
    for_whole(dtype, f);
}

// For conversions, which every copy of the kernels has for all dtypes.
template <class F>
void for_converted(int32_t dtype, F f) {
    switch (dtype) {
        case BOOL: return f(Type<bool>());
        case UINT8: return f(Type<uint8_t>());
        case INT8: return f(Type<int8_t>());
        case INT16: return f(Type<int16_t>());
        case INT32: return f(Type<int32_t>());
        case INT64: return f(Type<int64_t>());
        default: return for_real(dtype, f);
    }
}

// For what moves elements and does not look at them: f gets an unsigned integer of a dtype's size.
template <class F>
void for_bits(int32_t dtype, F f) {
    const int64_t size = item_size(dtype);
    if (size == 1) return f(Type<uint8_t>());
    if (size == 2) return f(Type<uint16_t>());
    if (size == 4) return f(Type<uint32_t>());
    f(Type<uint64_t>());
}

}  // namespace NORCH_ISA
