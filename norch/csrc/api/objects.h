// What norch does with Python objects: the functions of Python's C API that it takes, and Handles.

#pragma once
#include <memory>
#include <string>
#include <vector>

#include "api.h"

struct ObjectFunctions {  // in the order of norch/handles.py
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
    void* (*new_tuple)(ptrdiff_t size);
    int (*set_tuple_item)(void* tuple, ptrdiff_t i, void* item);  // takes over the reference
    void* (*new_integer)(void* address);
    void* (*call)(void* function, void* arguments, void* named);
    void (*fetch_error)(void** type, void** value, void** traceback);
    void (*restore_error)(void* type, void* value, void* traceback);
    void* (*running_frame)();  // borrowed
    void* (*caller_of)(void* frame);
    void* (*code_of)(void* frame);
    int (*line_of)(void* frame);
    const char* (*text_of)(void* string);
    void* (*new_function)(void* method, void* self, void* module);  // PyCFunction_NewEx
    int64_t (*integer_in)(void* integer);
    uint64_t (*unsigned_in)(void* integer);
    double (*real_in)(void* number);
    const char* (*bytes_in)(void* bytes);
    void* (*new_long)(int64_t value);
    void* (*new_unsigned)(uint64_t value);
    void* (*new_real)(double value);
    void* (*error)();  // PyErr_Occurred: borrowed
    int (*error_is)(void* type);
    void* (*set_error)(void* type, const char* format, ...);
    int (*is_instance)(void* object, void* type);
    int (*get_buffer)(void* object, void* buffer, int flags);
    void (*release_buffer)(void* buffer);
    int (*set_list_item)(void* list, ptrdiff_t i, void* item);  // takes over the reference
    int (*unpack_slice)(void* slice, ptrdiff_t* start, ptrdiff_t* stop, ptrdiff_t* step);
    void* (*new_bytes)(const void* data, ptrdiff_t size);
    void* (*new_object)(void* type, ptrdiff_t items);  // PyType_GenericAlloc
    void* (*slot)(void* type, int number);
    int (*set_attribute)(void* object, void* name, void* value);
    void* (*new_weak)(void* object, void* callback);
    int (*drop_item)(void* dict, void* key);
    void (*clear)(void* dict);
    void* (*add)(void* x, void* y);
    int (*truth)(void* object);
    int (*is_in_set)(void* set, void* object);
    int (*add_to_set)(void* set, void* object);
    ptrdiff_t (*set_size)(void* set);
    // With arguments that the caller holds; the first one of a method is its object.
    void* (*call_with_each)(void* function, void* const* arguments, size_t count, void* named);
    void* (*call_method)(void* name, void* const* arguments, size_t count, void* names);
};
extern ObjectFunctions objects;

struct Buffer {  // Py_buffer
    void *data, *object;
    ptrdiff_t bytes, item_size;
    int read_only, dimensions;
    char* format;
    ptrdiff_t *shape, *strides, *suboffsets;
    void* internal;
};

struct KnownObjects {                                                       // in the order of norch/_C.py
    void *integer, *boolean, *real, *bytes, *list, *tuple, *slice, *array;  // types
    void *none, *yes, *no, *ellipsis;
    void *too_large, *wrong_value, *wrong_type, *no_memory, *out_of_range, *no_buffer;  // errors
    void* shown;                                                                        // the function of types.py
};
extern KnownObjects known;

inline PythonObject* nothing() {  // None, as a result
    python.take_reference(known.none);
    return static_cast<PythonObject*>(known.none);
}

inline void* kind_of(void* object) {  // its type, which lives as long as it does
    void* type = objects.type_of(object);
    python.drop_reference(type);
    return type;
}

struct Reference {
    void* object;
    ~Reference() {
        if (object) python.drop_reference(object);
    }
    operator void*() const { return object; }
};

void* call_with(void* function, void* argument);
void refuse_object(void* error, const std::string& before, void* object, const std::string& after = "");

extern void* HANDLE;      // the type of objects that own tensors
extern ptrdiff_t HEADER;  // the bytes of an object before what its type adds

// What a Handle owns: the address is all that follows the header.
inline void*& held_by(void* handle) { return *reinterpret_cast<void**>(static_cast<char*>(handle) + HEADER); }
bool is_handle_type(const void* type);

extern ptrdiff_t SLOTS;  // the bytes of a tensor before the slots of its class

struct TensorSlots {  // __slots__ of norch/tensor.py, which are in the order of their names; null until they are set
    void *edge, *handle;
};
inline TensorSlots& slots_of(void* tensor) {
    return *reinterpret_cast<TensorSlots*>(static_cast<char*>(tensor) + SLOTS);
}

inline void* address_of(void* object) {  // of a Handle, or an integer
    return is_handle_type(kind_of(object)) ? held_by(object) : objects.address_in(object);
}

// What the interpreter calls for the buffer of a Handle (buffers.cpp).
int buffer_of_handle(void* handle, void* buffer, int flags);
void release_buffer_of_handle(void* handle, void* buffer);

// An object of the type, which owns the address from then on; null, and nothing owned, if there is no memory.
void* new_handle(void* address, void* type = HANDLE);

// ---- For recordings and programs, with the interpreter's lock
size_t argument_count(PythonObject* arguments);  // a tuple
void* argument_at(PythonObject* arguments, size_t i);
struct TensorKind {  // what a Python object is, beside its Tensor
    void* type;
    bool requires_grad;
    bool operator==(const TensorKind& other) const {
        return type == other.type && requires_grad == other.requires_grad;
    }
};
Tensor* tensor_in(void* object);  // null if it is not exactly a Tensor or Parameter
Tensor* tensor_of_object(void* object, TensorKind* kind);
// Puts what is `standing`, as call_recorded has it, where functions are, and notes these; or puts these back.
void exchange(void* standing, bool begins);
struct Line;
PythonObject* told(const char* text, const Line& line);  // (text, file, number), or None without a text
bool append_tensors(PythonObject* list, std::vector<Owned>& tensors);
bool append_saved(PythonObject* list, std::unique_ptr<Saved> saved);
