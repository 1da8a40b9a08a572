#include "core/interpreter.h"

PythonFunctions python;

void take_object(void* object) {
    int state = python.take_lock();
    python.take_reference(object);
    python.give_lock(state);
}

void drop_object(void* object) {
    if (!python.is_initialized()) return;  // the interpreter has ended, and its objects with it
    int state = python.take_lock();
    python.drop_reference(object);
    python.give_lock(state);
}

Unlocked::Unlocked() : thread_state(nullptr) {
    if (python.holds_lock && python.is_initialized() && python.holds_lock()) thread_state = python.save_thread();
}

Unlocked::~Unlocked() noexcept(false) {
    if (thread_state) python.restore_thread(thread_state);
}
