// What norch does to Python objects in C, because no interrupt comes inside of a C function: the integers that own C
// objects, and the guards of a mode. All of it runs with the interpreter's lock. A failed call of Python's leaves its
// exception there, which ctypes raises.

#include "api.h"

static ObjectFunctions objects;
static void *CHANGES, *ENTERED, *ATTRIBUTES;  // names

void use_python(const PythonFunctions* functions, const ObjectFunctions* of_objects) {
    python = *functions;
    objects = *of_objects;
    CHANGES = of_objects->new_name("_changes");
    ENTERED = of_objects->new_name("_entered");
    ATTRIBUTES = of_objects->new_name("__dict__");
}

// ---- Handles: integers that own what they are the address of --------------------------------------------------------

struct TypeSlot {  // PyType_Slot
    int slot;
    void* function;
};

struct TypeSpec {  // PyType_Spec; sizes of 0 are those of the base
    const char* name;
    int size, item_size;
    unsigned flags;
    TypeSlot* slots;
};

enum { DEALLOC = 52, DEFAULT_FLAGS = 1 << 18 };  // Py_tp_dealloc, Py_TPFLAGS_DEFAULT

// What the interpreter calls when the last reference goes.
template <class T, void (*FREE)(T*)>
static void free_handle(void* handle) {
    FREE(static_cast<T*>(objects.address_in(handle)));
    void* type = objects.type_of(handle);
    objects.free_object(handle);
    python.drop_reference(type);  // of type_of,
    python.drop_reference(type);  // and that of the object
}

template <class T, void (*FREE)(T*)>
static PythonObject* new_handle_type(const char* name, PythonObject* bases) {
    static TypeSlot slots[] = {{DEALLOC, reinterpret_cast<void*>(free_handle<T, FREE>)}, {0, nullptr}};
    const TypeSpec spec = {name, 0, 0, DEFAULT_FLAGS, slots};
    return static_cast<PythonObject*>(objects.new_type(&spec, bases));
}

PythonObject* handle_type(int32_t kind, PythonObject* bases) {
    if (kind == 0) return new_handle_type<Tensor, free_tensor>("norch._C.Handle", bases);
    if (kind == 1) return new_handle_type<Storage, free_storage>("norch._C.StorageHandle", bases);
    return new_handle_type<Tensor*, free_results>("norch._C.ResultsHandle", bases);
}

// ---- Guards: attributes that are changed for a while (norch/guards.py) ----------------------------------------------

struct Reference {
    void* object;
    ~Reference() {
        if (object) python.drop_reference(object);
    }
    operator void*() const { return object; }
};

// Of each (object, {name: value}) of a guard: the dict of the object's attributes, and {name: value} as it is now.
static bool note(void* changes, void* noted) {
    for (ptrdiff_t i = 0; i < objects.size(changes); i++) {
        void *change = objects.tuple_item(changes, i), *target = objects.tuple_item(change, 0), *name, *value;
        Reference attributes{objects.attribute(target, ATTRIBUTES)}, before{objects.new_dict()};
        if (!attributes || !before) return false;
        for (ptrdiff_t place = 0; objects.next_item(objects.tuple_item(change, 1), &place, &name, &value);) {
            void* now = objects.item(attributes, name);
            Reference inherited{now ? nullptr : objects.attribute(target, name)};
            if (!(now || inherited) || objects.set_item(before, name, now ? now : inherited.object) != 0) return false;
        }
        if (objects.append(noted, attributes) != 0 || objects.append(noted, before) != 0) return false;
    }
    return true;
}

static bool restore(void* noted) {
    bool done = true;
    for (ptrdiff_t i = 0; i < objects.length(noted); i += 2)
        done &= objects.update(objects.list_item(noted, i), objects.list_item(noted, i + 1)) == 0;
    return done;
}

PythonObject* enter_guard(PythonObject* guard) {
    Reference changes{objects.attribute(guard, CHANGES)}, entered{objects.attribute(guard, ENTERED)},
        noted{objects.new_list(0)};
    if (!changes || !entered || !noted || !note(changes, noted) || objects.append(entered, noted) != 0) return nullptr;
    for (ptrdiff_t i = 0; i < objects.size(changes); i++)
        if (objects.update(objects.list_item(noted, 2 * i), objects.tuple_item(objects.tuple_item(changes, i), 1)) != 0)
            return nullptr;  // drop_guard restores it
    python.take_reference(guard);
    return guard;
}

// The last entry by this thread, whose modes have a dict of their own; without `changes` of any thread. -1: none.
static ptrdiff_t last_entry(void* entered, void* changes) {
    ptrdiff_t i = objects.length(entered) - 1;
    if (i <= 0 || !changes || objects.size(changes) == 0) return i;
    Reference attributes{objects.attribute(objects.tuple_item(objects.tuple_item(changes, 0), 0), ATTRIBUTES)};
    while (i >= 0 && objects.list_item(objects.list_item(entered, i), 0) != attributes.object) i--;
    return i;
}

int leave_guard(PythonObject* guard, PythonObject*, PythonObject*, PythonObject*) {
    Reference changes{objects.attribute(guard, CHANGES)}, entered{objects.attribute(guard, ENTERED)};
    if (!changes || !entered) return -1;
    const ptrdiff_t last = last_entry(entered, changes);
    if (last < 0) return 0;
    const bool done = restore(objects.list_item(entered, last));
    objects.set_slice(entered, last, last + 1, nullptr);
    return done ? 0 : -1;
}

void drop_guard(PythonObject* guard) {
    Reference entered{objects.attribute(guard, ENTERED)};
    for (ptrdiff_t i = entered ? objects.length(entered) - 1 : -1; i >= 0; i--) restore(objects.list_item(entered, i));
    if (!entered) return objects.clear_error();  // its __init__ failed
    if (objects.length(entered) > 0) objects.set_slice(entered, 0, objects.length(entered), nullptr);
}
