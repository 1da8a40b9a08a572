// The functions of Python's C API that norch calls. The interpreter that loads the library hands them over: norch links
// to none.

#pragma once

struct PythonFunctions {
    int (*is_initialized)();
    int (*take_lock)();  // PyGILState_Ensure
    void (*give_lock)(int);
    void (*take_reference)(void* object);
    void (*drop_reference)(void* object);
    int (*is_capsule)(void* capsule, const char* name);
    void* (*capsule_pointer)(void* capsule, const char* name);
    int (*holds_lock)();
    void* (*save_thread)();
    void (*restore_thread)(void* thread_state);
};
extern PythonFunctions python;
struct PythonObject;  // Python's own, which norch knows by address (api/objects.h)

void take_object(void* object);  // one more reference to a Python object
void drop_object(void* object);

// While it lives, other threads of Python may run: this one gives the interpreter's lock back, if it holds it.
struct Unlocked {
    void* thread_state;
    Unlocked();
    ~Unlocked() noexcept(false);  // the interpreter may end this thread here, by unwinding it
    Unlocked(const Unlocked&) = delete;
};
