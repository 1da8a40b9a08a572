// The C API as builtin functions of CPython. ctypes makes a list of a call's arguments, a structure of each, and another
// of the result, which takes longer than a small kernel; a builtin function finds its arguments in an array
// (METH_FASTCALL). The prototypes stay those of norch/prototypes.py, which ctypes follows elsewhere.

#include <dlfcn.h>

#include <deque>
#include <string>

#include "api/objects.h"

// ---- Arguments ------------------------------------------------------------------------------------------------------

struct Method {  // PyMethodDef
    const char* name;
    void* function;
    int flags;
    const char* text;
};
enum { FASTCALL = 0x80 };  // METH_FASTCALL

// Registers take integers and addresses in their order and floats in theirs, whichever way they are mixed, on x86-64 and
// AArch64 alike; and a function does not see those that it has no parameters for.
constexpr int MOST_WORDS = 8, MOST_REALS = 4, MOST_LISTS = 2;
using Function = uint64_t(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, double,
                          double, double, double);
using RealFunction = double(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, double,
                            double, double, double);

struct Builtin {
    std::string name, kinds;  // a letter for each parameter
    char result;
    void *owner, *function;
    bool gives_lock;
    Method method;
};

struct Arguments {
    uint64_t words[MOST_WORDS];
    double reals[MOST_REALS];
};
using Lists = std::vector<uint64_t>[MOST_LISTS];  // of addresses

// Of what is no Handle.
static bool memory_of(void* given, uint64_t* word) {
    const void* type = kind_of(given);
    if (type == known.integer) {
        *word = reinterpret_cast<uint64_t>(objects.address_in(given));
    } else if (type == known.bytes) {
        *word = reinterpret_cast<uint64_t>(objects.bytes_in(given));
    } else if (objects.is_instance(given, known.array) == 1) {
        Buffer buffer;
        if (objects.get_buffer(given, &buffer, 0) != 0) return false;
        *word = reinterpret_cast<uint64_t>(buffer.data);
        objects.release_buffer(&buffer);
    } else if (!objects.error() && objects.is_instance(given, known.integer) == 1) {
        *word = reinterpret_cast<uint64_t>(objects.address_in(given));
    } else {
        if (!objects.error()) refuse_object(known.wrong_type, "expected an address or an array, got ", given);
        return false;
    }
    return *word || !objects.error();
}

static inline bool address_of(void* given, uint64_t* word) {
    const void* type = kind_of(given);
    if (given != known.none && type != HANDLE && !is_handle_type(type)) return memory_of(given, word);
    *word = given == known.none ? 0 : reinterpret_cast<uint64_t>(held_by(given));
    return true;
}

// The addresses that a list or tuple of Handles holds, which must live as long as the call; or an array of them.
static bool addresses_of(void* given, std::vector<uint64_t>& found, uint64_t* word) {
    const void* type = kind_of(given);
    if (type != known.list && type != known.tuple) return address_of(given, word);
    const bool is_list = type == known.list;
    found.resize(is_list ? objects.length(given) : objects.size(given));
    for (size_t i = 0; i < found.size(); i++)
        if (!address_of(is_list ? objects.list_item(given, i) : objects.tuple_item(given, i), &found[i])) return false;
    *word = reinterpret_cast<uint64_t>(found.data());
    return true;
}

// What a parameter takes, and what it was given instead.
static bool refuse(const Builtin& builtin, const char* expected, void* given) {
    const std::string name = builtin.name.substr(0, builtin.name.rfind('_'));  // without _into or _tensor
    refuse_object(known.wrong_type, name + ": expected " + expected + ", got ", given);
    return false;
}

static bool integer_of(const Builtin& builtin, void* given, char kind, uint64_t* word) {
    const bool is_bool = given == known.yes || given == known.no;  // no size, no index and no axis
    if (kind == 'l' && is_bool) return refuse(builtin, "an integer", given);
    const bool is_unsigned = kind == 'u';
    *word = is_unsigned ? objects.unsigned_in(given) : uint64_t(objects.integer_in(given));
    const bool failed = *word == UINT64_MAX && objects.error();
    if (!failed && (kind != 'i' || int64_t(*word) == int32_t(*word))) return true;
    if (failed && !objects.error_is(known.too_large))
        return objects.error_is(known.wrong_type) && refuse(builtin, "an integer", given);
    const char* type = is_unsigned   ? "an unsigned integer of 64"
                       : kind == 'i' ? "an integer of 32"
                                     : "an integer of 64";
    refuse_object(known.out_of_range, "", given, " does not fit into " + std::string(type) + " bits");
    return false;
}

static bool real_of(const Builtin& builtin, void* given, double* real) {
    TensorKind kind;  // of a tensor, whose gradient a number would lose
    if (tensor_of_object(given, &kind) && kind.requires_grad)
        return refuse(builtin, "a number, without gradients", given);
    *real = objects.real_in(given);
    return *real != -1 || !objects.error() ||
           (objects.error_is(known.wrong_type) && refuse(builtin, "a number", given));
}

static bool read(const Builtin& builtin, void* const* given, Arguments& arguments, std::vector<uint64_t>* list) {
    uint64_t* word = arguments.words;
    double* real = arguments.reals;
    for (const char kind : builtin.kinds) {
        void* const value = *given++;
        if (kind == 'o')
            *word++ = reinterpret_cast<uint64_t>(value);
        else if (kind == 'd'   ? !real_of(builtin, value, real++)
                 : kind == 'p' ? !address_of(value, word++)
                 : kind == 't' ? !addresses_of(value, *list++, word++)
                               : !integer_of(builtin, value, kind, word++))
            return false;
    }
    return true;
}

// ---- Calls ----------------------------------------------------------------------------------------------------------

template <class F>
static auto run(const Builtin& builtin, const Arguments& arguments) {
    const auto& [w, r] = arguments;
    F* function = reinterpret_cast<F*>(builtin.function);
    if (!builtin.gives_lock) return function(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], r[0], r[1], r[2], r[3]);
    const Unlocked others_may_run;
    return function(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], r[0], r[1], r[2], r[3]);
}

static void* owned(const Builtin& builtin, void* made) {
    void* handle = new_handle(made, builtin.owner);
    if (!handle && builtin.owner == HANDLE) free_tensor(static_cast<Tensor*>(made));  // no memory
    return handle;
}

static void* result_of(const Builtin& builtin, uint64_t word) {
    if (builtin.result == 'h' && !word && objects.error()) return nullptr;
    if (builtin.result == 'h') return owned(builtin, reinterpret_cast<void*>(word));
    if (builtin.result == 'o') return reinterpret_cast<void*>(word);
    if (objects.error()) return nullptr;
    if (builtin.result == 'i') return objects.new_long(int32_t(word));
    if (builtin.result == 'l') return objects.new_long(int64_t(word));
    if (builtin.result == 'u') return objects.new_unsigned(word);
    return nothing();
}

static void* call_with(void* self, void* const* given, ptrdiff_t count, std::vector<uint64_t>* lists) {
    const Builtin& builtin = *static_cast<Builtin*>(objects.address_in(self));
    if (count != ptrdiff_t(builtin.kinds.size())) {
        objects.set_error(known.wrong_type, "%s: expected %zu arguments, got %zd", builtin.name.c_str(),
                          builtin.kinds.size(), count);
        return nullptr;
    }
    Arguments arguments;
    if (!read(builtin, given, arguments, lists)) return nullptr;
    if (builtin.result == 'd') {
        const double real = run<RealFunction>(builtin, arguments);
        return objects.error() ? nullptr : objects.new_real(real);
    }
    return result_of(builtin, run<Function>(builtin, arguments));
}

// What the interpreter calls; `self` is the integer that new_builtin gave it. Without lists nothing is left to clean up.
static void* call(void* self, void* const* given, ptrdiff_t count) { return call_with(self, given, count, nullptr); }

static void* call_with_lists(void* self, void* const* given, ptrdiff_t count) {
    Lists lists;
    return call_with(self, given, count, lists);
}

#if defined(__x86_64__) || defined(__aarch64__)
constexpr bool CAN_CALL = true;
#else
constexpr bool CAN_CALL = false;  // other machines may give a float the place of an integer
#endif

PythonObject* new_builtin(void* library, const char* name, const char* kinds, PythonObject* owner, int32_t gives_lock) {
    static std::deque<Builtin> builtins;  // for good, as the library is
    void* function = dlsym(library, name);
    if (!CAN_CALL || !function) return nothing();
    builtins.push_back({name, kinds + 1, kinds[0], owner, function, bool(gives_lock), {}});
    Builtin& made = builtins.back();
    const bool has_lists = made.kinds.find('t') != std::string::npos;
    made.method = {made.name.c_str(), reinterpret_cast<void*>(has_lists ? call_with_lists : call), FASTCALL, nullptr};
    void* self = objects.new_integer(&made);
    void* object = self ? objects.new_function(&made.method, self, nullptr) : nullptr;
    if (self) python.drop_reference(self);
    return static_cast<PythonObject*>(object);
}
