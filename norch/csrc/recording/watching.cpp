// What a function looks at, beside guards (norch/recording/guards.py): by identity only.

#include "api/objects.h"

static bool same_items(void* dict, void* copy) {  // in the same order
    void *key, *value, *noted_key, *noted;
    for (ptrdiff_t i = 0, k = 0;;) {
        const int more = objects.next_item(dict, &i, &key, &value);
        if (more != objects.next_item(copy, &k, &noted_key, &noted)) return false;
        if (!more) return true;
        if (key != noted_key || value != noted) return false;
    }
}

static bool same_elements(void* list, void* copy) {
    const ptrdiff_t length = objects.length(list);
    if (length != objects.length(copy)) return false;
    for (ptrdiff_t i = 0; i < length; i++)
        if (objects.list_item(list, i) != objects.list_item(copy, i)) return false;
    return true;
}

// `guards` are five lists: of (dict, key, value) and (object, name, value), one after another; of dicts and lists, each
// with a copy; of settings, which are dicts as well. Then comes what is held in place of a value that is not there.
// Returns the place of the first that differs, five times its number in its list and the number of that; -1 if none.
int64_t first_change(PythonObject* guards) {
    enum { ENTRIES, ATTRIBUTES, DICTS, LISTS, SETTINGS, KINDS };
    void* const absent = objects.tuple_item(guards, KINDS);
    const auto has_attribute = [&](void* object, void* name, void* value) {
        const Reference found{objects.attribute(object, name)};
        if (!found) objects.clear_error();
        return (found ? found.object : absent) == value;
    };
    const auto has_item = [&](void* dict, void* key, void* value) {
        void* found = objects.item(dict, key);
        return (found ? found : absent) == value;
    };
    for (int64_t kind = 0; kind < KINDS; kind++) {
        void* list = objects.tuple_item(guards, kind);
        const ptrdiff_t width = kind <= ATTRIBUTES ? 3 : 2;
        for (ptrdiff_t i = 0; i < objects.length(list); i += width) {
            const auto part = [&](ptrdiff_t k) { return objects.list_item(list, i + k); };
            const bool same = kind == ENTRIES      ? has_item(part(0), part(1), part(2))
                              : kind == ATTRIBUTES ? has_attribute(part(0), part(1), part(2))
                              : kind == LISTS      ? same_elements(part(0), part(1))
                                                   : same_items(part(0), part(1));
            if (!same) return i / width * KINDS + kind;
        }
    }
    return -1;
}
