// What norch does to Python objects in C, because no interrupt comes inside of a C function: the Handles that own C
// objects, and the guards of a mode. All of it runs with the interpreter's lock. A failed call of Python's leaves its
// exception there, which ctypes raises.

#include <string.h>

#include <algorithm>

#include "api/objects.h"
#include "recording/program.h"

ObjectFunctions objects;
KnownObjects known;
void* HANDLE;
ptrdiff_t HEADER;
ptrdiff_t SLOTS;
static void *CHANGES, *ENTERED, *ATTRIBUTES, *FILE_NAME;  // names
static void *BASE, *VIEWS, *UNTRACKED, *REFUSES_WRITES, *FORGET;
static void* NOTHING;  // a Handle whose address is 0
static void *TENSOR, *PARAMETER, *VIEW_LIST, *RAISE_ERROR, *NO_ARGUMENTS;
static void* (*make_tensor)(void* type, void* arguments, void* named);

void use_python(const PythonFunctions* functions, const ObjectFunctions* of_objects) {
    python = *functions;
    objects = *of_objects;
    CHANGES = of_objects->new_name("_changes");
    ENTERED = of_objects->new_name("_entered");
    ATTRIBUTES = of_objects->new_name("__dict__");
    FILE_NAME = of_objects->new_name("co_filename");
    BASE = of_objects->new_name("_base");
    VIEWS = of_objects->new_name("_views");
    UNTRACKED = of_objects->new_name("_untracked");
    REFUSES_WRITES = of_objects->new_name("refuses_writes");
    FORGET = of_objects->new_name("forget");
    NO_ARGUMENTS = of_objects->new_tuple(0);
}

void know_objects(void* const* found) {
    memcpy(&known, found, sizeof known);
    for (size_t i = 0; i < sizeof known / sizeof *found; i++) python.take_reference(found[i]);
}

void* call_with(void* function, void* argument) {
    Reference arguments{objects.new_tuple(1)};
    if (!arguments) return nullptr;
    python.take_reference(argument);
    objects.set_tuple_item(arguments, 0, argument);
    return objects.call(function, arguments, nullptr);
}

void refuse_object(void* error, const std::string& before, void* object, const std::string& after) {
    objects.clear_error();  // that of the object
    if (const Reference shown{call_with(known.shown, object)}; shown)
        objects.set_error(error, "%s%U%s", before.c_str(), shown.object, after.c_str());
}

// ---- Handles: objects that own what they hold the address of ---------------------------------------------------------

struct TypeSlot {  // PyType_Slot
    int slot;
    void* function;
};

struct TypeSpec {  // PyType_Spec
    const char* name;
    int size, item_size;
    unsigned flags;
    TypeSlot* slots;
};

enum { GET_BUFFER = 1, RELEASE_BUFFER = 2, AS_BOOL = 9, AS_INDEX = 13, DEALLOC = 52, NEW = 65 };  // Py_bf_getbuffer...
constexpr unsigned DEFAULT_FLAGS = 1 << 18;                                                       // Py_TPFLAGS_DEFAULT

// What the interpreter calls when the last reference goes.
template <class T, void (*FREE)(T*)>
static void free_handle(void* handle) {
    FREE(static_cast<T*>(held_by(handle)));
    void* type = objects.type_of(handle);
    objects.free_object(handle);
    python.drop_reference(type);  // of type_of,
    python.drop_reference(type);  // and that of the object
}

static int is_not_null(void* handle) { return held_by(handle) != nullptr; }
static void* address_as_integer(void* handle) { return objects.new_integer(held_by(handle)); }
static void* handle_of_integer(void* type, void* arguments, void*) {  // as ctypes makes one
    void* integer = objects.tuple_item(arguments, 0);
    void* address = integer ? objects.address_in(integer) : nullptr;
    return objects.error() ? nullptr : new_handle(address, type);
}

static void* handle_types[5];

bool is_handle_type(const void* type) {
    return std::find(std::begin(handle_types), std::end(handle_types), type) != std::end(handle_types);
}

template <class T, void (*FREE)(T*)>
static void* new_handle_type(const char* name, void* bases) {
    constexpr bool is_tensor = std::is_same_v<T, Tensor>;  // which alone has a buffer
    static TypeSlot slots[] = {{DEALLOC, reinterpret_cast<void*>(free_handle<T, FREE>)},
                               {AS_BOOL, reinterpret_cast<void*>(is_not_null)},
                               {AS_INDEX, reinterpret_cast<void*>(address_as_integer)},
                               {NEW, reinterpret_cast<void*>(handle_of_integer)},
                               {is_tensor ? GET_BUFFER : 0, reinterpret_cast<void*>(buffer_of_handle)},
                               {is_tensor ? RELEASE_BUFFER : 0, reinterpret_cast<void*>(release_buffer_of_handle)},
                               {0, nullptr}};
    const TypeSpec spec = {name, int(HEADER + sizeof(void*)), 0, DEFAULT_FLAGS, slots};
    return objects.new_type(&spec, bases);
}

void* new_handle(void* address, void* type) {
    void* handle = objects.new_object(type, 0);
    if (handle) held_by(handle) = address;
    return handle;
}

PythonObject* handle_type(int32_t kind, PythonObject* bases, int64_t header) {
    HEADER = header;
    void* made = kind == 0   ? new_handle_type<Tensor, free_tensor>("norch._C.Handle", bases)
                 : kind == 1 ? new_handle_type<Storage, free_storage>("norch._C.StorageHandle", bases)
                 : kind == 2 ? new_handle_type<Recording, free_recording>("norch._C.RecordingHandle", bases)
                 : kind == 3 ? new_handle_type<Program, free_program>("norch._C.ProgramHandle", bases)
                             : new_handle_type<Saved, free_saved>("norch._C.SavedHandle", bases);
    if (!made) return nullptr;
    handle_types[kind] = made;
    python.take_reference(made);
    if (kind == 0) {
        HANDLE = made;
        NOTHING = new_handle(nullptr);
    }
    return static_cast<PythonObject*>(made);
}

// ---- Several results ------------------------------------------------------------------------------------------------

static int64_t bytes_of(int64_t count) { return sizeof(Results) + count * int64_t(sizeof(Tensor*)); }

void free_results(Results* results) { free_struct(results, bytes_of(results->count)); }

static Results* give_addresses(Tensor** tensors, int count) {
    Results* results = nullptr;
    if (count == 0 || attempt([&] { results = static_cast<Results*>(allocate_struct(bytes_of(count))); }) != 0)
        return nullptr;
    results->count = count;
    std::copy_n(tensors, count, results->tensors);
    return results;
}

Results* give_results(Tensor** tensors, int count) {
    if (!HANDLE) return give_addresses(tensors, count);
    const int state = python.take_lock();
    void* tuple = objects.new_tuple(count);
    for (int i = 0; i < count; i++) {
        void* handle = tuple && tensors[i] ? new_handle(tensors[i]) : nullptr;
        if (handle)
            objects.set_tuple_item(tuple, i, handle);
        else if (tensors[i]) {  // no memory
            drop(tensors[i]);
            if (tuple) python.drop_reference(tuple);
            tuple = nullptr;
        } else if (tuple) {
            python.take_reference(NOTHING);
            objects.set_tuple_item(tuple, i, NOTHING);
        }
    }
    python.give_lock(state);
    return static_cast<Results*>(tuple);
}

// ---- Tensors, as the Python class --------------------------------------------------------------------------------------
//
// The same as `wrap` of norch/operation.py and `wrap_view` of norch/autograd/in_place.py, without Python's frames.

void know_tensors(PythonObject* tensor, PythonObject* view_list, PythonObject* raise_error, int64_t slots) {
    TENSOR = tensor, VIEW_LIST = view_list, RAISE_ERROR = raise_error, SLOTS = slots;
    reinterpret_cast<void*&>(make_tensor) = objects.slot(tensor, NEW);
}
void know_parameters(PythonObject* parameter) { PARAMETER = parameter; }

static bool is_true(void* object, void* name) {
    const Reference found{objects.attribute(object, name)};
    return found.object == known.yes;
}

static void* wrapped(void* handle) {
    if (!address_of(handle)) return objects.error() ? nullptr : objects.call(RAISE_ERROR, NO_ARGUMENTS, nullptr);
    void* tensor = make_tensor(TENSOR, NO_ARGUMENTS, nullptr);
    if (!tensor) return nullptr;
    python.take_reference(handle);
    slots_of(tensor) = {nothing(), handle};
    return tensor;
}

PythonObject* wrap_handle(PythonObject* handle) { return static_cast<PythonObject*>(wrapped(handle)); }

// f(handle) of each in a tuple
template <class F>
static PythonObject* each_of(void* handles, F f) {
    const ptrdiff_t count = objects.size(handles);
    void* made = objects.new_tuple(count);
    for (ptrdiff_t i = 0; made && i < count; i++) {
        void* tensor = f(objects.tuple_item(handles, i));
        if (tensor) {
            objects.set_tuple_item(made, i, tensor);
        } else {
            python.drop_reference(made);
            made = nullptr;
        }
    }
    return static_cast<PythonObject*>(made);
}

PythonObject* wrap_handles(PythonObject* handles) {
    if (objects.size(handles) == 0) return static_cast<PythonObject*>(wrapped(NOTHING));  // an error
    return each_of(handles, [](void* handle) { return address_of(handle) ? wrapped(handle) : nothing(); });
}

// The root of a view of `base`: a leaf is that of its views, even if it is a view itself.
static void* root_of(void* base) {
    const Reference root{objects.attribute(base, BASE)};
    if (!root) return nullptr;
    void* const edge = slots_of(base).edge;
    const bool is_root = root == known.none || (edge != known.none && is_true(edge, REFUSES_WRITES));
    void* found = is_root ? base : root.object;
    python.take_reference(found);
    return found;
}

static bool join(void* view, void* base) {
    enum { OFTEN = 32 };
    const Reference root{root_of(base)};
    if (!root || objects.set_attribute(view, BASE, root) != 0) return false;
    const Reference weak{objects.new_weak(view, nullptr)};
    Reference views{weak ? objects.attribute(root, VIEWS) : nullptr};
    if (views == known.none) {
        python.drop_reference(views);
        views.object = objects.call(VIEW_LIST, NO_ARGUMENTS, nullptr);
        if (!views || objects.set_attribute(root, VIEWS, views) != 0) return false;
    }
    if (!views || objects.append(views, weak) != 0) return false;
    if (objects.length(views) % OFTEN != 0) return true;
    const Reference forget{objects.attribute(views, FORGET)};
    const Reference done{forget ? objects.call(forget, NO_ARGUMENTS, nullptr) : nullptr};
    return done;
}

PythonObject* wrap_view(PythonObject* handle, PythonObject* base, PythonObject* tracked) {
    void* view = wrap_handle(handle);
    if (!view) return nullptr;  // at once: reading an attribute would replace the exception
    const bool is_tracked = tracked == known.yes && !is_true(base, UNTRACKED);
    if ((is_tracked || !objects.set_attribute(view, UNTRACKED, known.yes)) && join(view, base))
        return static_cast<PythonObject*>(view);
    python.drop_reference(view);
    return nullptr;
}

PythonObject* wrap_views(PythonObject* handles, PythonObject* base, PythonObject* tracked) {
    return each_of(handles,
                   [=](void* handle) -> void* { return wrap_view(static_cast<PythonObject*>(handle), base, tracked); });
}

// ---- Guards: attributes that are changed for a while (norch/guards.py) ----------------------------------------------

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

static bool apply(void* changes, void* noted) {
    for (ptrdiff_t i = 0; i < objects.size(changes); i++)
        if (objects.update(objects.list_item(noted, 2 * i), objects.tuple_item(objects.tuple_item(changes, i), 1)) != 0)
            return false;
    return true;
}

// function(*arguments, **named) while the changes hold
PythonObject* call_within(PythonObject* changes, PythonObject* function, PythonObject* arguments, PythonObject* named) {
    Reference noted{objects.new_list(0)};
    if (!noted || !note(changes, noted)) return nullptr;
    void* result = apply(changes, noted) ? objects.call(function, arguments, named) : nullptr;
    void *type, *value, *traceback;
    objects.fetch_error(&type, &value, &traceback);  // of the function, if it raised
    restore(noted);
    objects.restore_error(type, value, traceback);
    return static_cast<PythonObject*>(result);
}

// function(*arguments), between a call of `before` and one of `after`, which comes whatever was raised
PythonObject* call_between(PythonObject* before, PythonObject* after, PythonObject* function, PythonObject* arguments) {
    Reference none_given{objects.new_tuple(0)};
    Reference began{none_given ? objects.call(before, none_given, nullptr) : nullptr};
    if (!began) return nullptr;
    void* result = objects.call(function, arguments, nullptr);
    void *type, *value, *traceback;
    objects.fetch_error(&type, &value, &traceback);
    Reference ended{objects.call(after, none_given, nullptr)};
    objects.restore_error(type, value, traceback);
    return static_cast<PythonObject*>(result);
}

void exchange(void* standing, bool begins) {
    void *type, *error, *traceback, *name, *value;
    objects.fetch_error(&type, &error, &traceback);
    for (ptrdiff_t i = 0; i < objects.size(standing); i++) {
        void* const part = objects.tuple_item(standing, i);
        void *names = objects.tuple_item(part, 0), *there = objects.tuple_item(part, 2);
        for (ptrdiff_t place = 0; objects.next_item(objects.tuple_item(part, 1), &place, &name, &value);) {
            void *now = objects.item(names, name), *before = objects.item(there, name);
            if (!now || begins == (now == value)) continue;  // what somebody put there meanwhile stays
            if (begins && now != before && objects.set_item(there, name, now) != 0) continue;
            objects.set_item(names, name, begins ? value : before);
        }
    }
    objects.restore_error(type, error, traceback);  // and forget a lack of memory
}

PythonObject* enter_guard(PythonObject* guard) {
    Reference changes{objects.attribute(guard, CHANGES)}, entered{objects.attribute(guard, ENTERED)},
        noted{objects.new_list(0)};
    if (!changes || !entered || !noted || !note(changes, noted) || objects.append(entered, noted) != 0) return nullptr;
    if (!apply(changes, noted)) return nullptr;  // drop_guard restores it
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

// ---- The line that runs ---------------------------------------------------------------------------------------------

// In C, too: in a function of Python that a recording called an interrupt would be lost.
Line running_line(const std::string& folder, Codes& codes) {
    const int state = python.take_lock();
    Line line = {};
    void* frame = objects.running_frame();
    if (frame) python.take_reference(frame);
    while (frame) {
        const Reference here{frame}, code{objects.code_of(frame)};
        const auto [known, is_new] = codes.files.try_emplace(code.object, nullptr);
        if (is_new) {
            python.take_reference(code);
            const Reference name{objects.attribute(code, FILE_NAME)};
            const char* text = name ? objects.text_of(name) : nullptr;
            if (text && strncmp(text, folder.c_str(), folder.size())) known->second = text;
        }
        if (known->second) {
            line = {known->second, objects.line_of(frame)};
            break;
        }
        frame = objects.caller_of(frame);
    }
    objects.clear_error();  // of a lack of memory
    python.give_lock(state);
    return line;
}

Codes::~Codes() {
    for (const auto& [code, file] : files) drop_object(code);
}

PythonObject* told(const char* text, const Line& line) {
    if (!text) return nothing();
    const Reference tuple{objects.new_tuple(3)};
    const auto put = [&](ptrdiff_t i, void* part) { return part && !objects.set_tuple_item(tuple, i, part); };
    const bool made = tuple && put(0, objects.new_name(text)) &&
                      put(1, line.file ? objects.new_name(line.file) : nothing()) &&
                      put(2, objects.new_long(line.number));
    if (!made) return nullptr;
    python.take_reference(tuple);
    return static_cast<PythonObject*>(tuple.object);
}

// ---- Arguments and results of programs ------------------------------------------------------------------------------

size_t argument_count(PythonObject* arguments) {
    const ptrdiff_t count = objects.size(arguments);
    if (count < 0) objects.clear_error();  // of what is no tuple, as if it were too long
    return size_t(count);
}
void* argument_at(PythonObject* arguments, size_t i) { return objects.tuple_item(arguments, ptrdiff_t(i)); }

Tensor* tensor_in(void* object) {
    const void* const type = kind_of(object);
    if (type != TENSOR && type != PARAMETER) return nullptr;
    void* const handle = slots_of(object).handle;  // null if its __init__ has not run
    return handle ? static_cast<Tensor*>(address_of(handle)) : nullptr;
}

Tensor* tensor_of_object(void* object, TensorKind* kind) {
    Tensor* const tensor = tensor_in(object);
    void* const edge = tensor ? slots_of(object).edge : nullptr;
    if (!edge) return nullptr;
    *kind = {kind_of(object), edge != known.none};
    return tensor;
}

bool append_tensors(PythonObject* list, std::vector<Owned>& tensors) {
    for (Owned& tensor : tensors) {
        const Reference handle{new_handle(tensor.tensor)};
        if (!handle) return false;
        tensor.give();
        if (objects.append(list, handle) != 0) return false;
    }
    return true;
}

bool append_saved(PythonObject* list, std::unique_ptr<Saved> saved) {
    const Reference handle{new_handle(saved.get(), handle_types[4])};
    if (!handle) return false;
    saved.release();
    return objects.append(list, handle) == 0;
}
