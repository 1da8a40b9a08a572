// Python's buffer protocol, both ways: tensors over the memory of a buffer, and Handles as buffers, which NumPy reads.

#include <string.h>

#include "api/checks.h"
#include "api/objects.h"
#include "recording/recording.h"

// ---- Formats: how the module struct calls the elements of a buffer ------------------------------------------------

static const char* const FORMATS[DTYPE_COUNT] = {"?", "B", "b", "h", "i", "l", "e", nullptr, "f", "d"};  // as DType

// -1 for what is no dtype of norch in this machine's byte order.
static int32_t dtype_of_format(const char* format, ptrdiff_t size) {
    if (!format || !*format || format[1]) return -1;
    const bool is_integer = strchr("hilq", *format);
    for (int32_t dtype = 0; dtype < DTYPE_COUNT; dtype++)
        if (FORMATS[dtype] && size == item_size(dtype) &&
            (*FORMATS[dtype] == *format || (is_integer && dtype >= INT16 && dtype <= INT64)))
            return dtype;
    return -1;
}

// ---- From a buffer -------------------------------------------------------------------------------------------------

// Strides of a buffer in elements; false if they are none.
static bool in_elements(const Buffer& buffer, int64_t* shape, int64_t* strides) {
    for (int d = 0; d < buffer.dimensions; d++) {
        shape[d] = buffer.shape[d], strides[d] = buffer.strides[d] / buffer.item_size;
        if (shape[d] > 1 && buffer.strides[d] % buffer.item_size) return false;
    }
    return true;
}

Tensor* buffer_tensor(PythonObject* object) {
    enum { STRIDES_AND_FORMAT = 0x1C };  // PyBUF_RECORDS_RO
    Buffer buffer;
    if (objects.get_buffer(object, &buffer, STRIDES_AND_FORMAT) != 0) {
        objects.clear_error();
        return nullptr;
    }
    Tensor* made = nullptr;
    int64_t shape[MAX_DIMS], strides[MAX_DIMS];
    const int32_t dtype = dtype_of_format(buffer.format, buffer.item_size);
    if (dtype >= 0 && buffer.dimensions <= MAX_DIMS && in_elements(buffer, shape, strides))
        made = external_tensor(buffer.data, shape, strides, buffer.dimensions, dtype, buffer.read_only, object);
    objects.release_buffer(&buffer);
    return made;
}

// ---- A Handle as a buffer ------------------------------------------------------------------------------------------

struct Shown {  // what a buffer needs while it lives, whatever becomes of the tensor
    Storage* storage;
    ptrdiff_t shape[MAX_DIMS], strides[MAX_DIMS];
};

int buffer_of_handle(void* handle, void* target, int flags) {
    enum { WRITABLE = 1 };
    Buffer& buffer = *static_cast<Buffer*>(target);
    Tensor* tensor = static_cast<Tensor*>(held_by(handle));
    buffer.object = nullptr;
    const char* wrong = !tensor || tensor->is_number                       ? "no tensor"
                        : tensor->device != CPU                            ? "a tensor on a GPU"
                        : !FORMATS[tensor->dtype]                          ? "a tensor of bfloat16"
                        : (flags & WRITABLE) && tensor->storage->read_only ? "memory that is read-only"
                                                                           : nullptr;
    if (wrong) {
        objects.set_error(known.no_buffer, "expected a tensor that can be shown as a buffer, got %s", wrong);
        return -1;
    }
    refuse_recording("a value is read");
    Shown* shown = new (std::nothrow) Shown;
    if (!shown) {
        objects.set_error(known.no_memory, "no memory for a buffer");
        return -1;
    }
    const ptrdiff_t width = item_size(tensor->dtype);
    for (int d = 0; d < tensor->ndim; d++)
        shown->shape[d] = tensor->shape[d], shown->strides[d] = tensor->strides[d] * width;
    shown->storage = hold_storage(tensor);
    python.take_reference(handle);
    static char nowhere;
    void* data = tensor->data ? tensor->data : &nowhere;
    buffer = {data,
              handle,
              tensor->size * width,
              width,
              tensor->storage->read_only,
              tensor->ndim,
              const_cast<char*>(FORMATS[tensor->dtype]),
              shown->shape,
              shown->strides,
              nullptr,
              shown};
    return 0;
}

void release_buffer_of_handle(void*, void* target) {
    Shown* shown = static_cast<Shown*>(static_cast<Buffer*>(target)->internal);
    free_storage(shown->storage);
    delete shown;
}
