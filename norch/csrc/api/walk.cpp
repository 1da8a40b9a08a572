// The walk of norch/autograd/engine.py, at nodes that ask for no more than their rule: no hooks, nothing packed, nothing
// forgotten. It works on the walk's own dicts and leaves all other nodes to it. So Python says what a walk does;
// but C takes most of its steps, because Python's frames take longer than small kernels.

#include <initializer_list>
#include <utility>

#include "api/objects.h"
#include "tensor.h"

namespace {

struct Name {
    const char* text;
    void* string = nullptr;  // of Python, from its first use on
};
Name AGE{"age"}, BACKWARD{"backward"}, BROADCASTS{"broadcasts"}, EDGES{"edges"}, FUSED{"fused"}, GRAD{"grad"},
    INPUT{"input"}, KEY{"key"}, PLAIN{"plain"};
Name RELEASE{"release"}, RESULT{"result"}, SHOWN{"shown"}, SIMPLE{"simple"}, SUM_TO{"_sum_to"};
void *HEAP_PUSH, *HEAP_POP, *ADD_PART, *ONE_EACH, *COUNT_REFERENCES, *NODE_RELEASE, *ACQUIRE,
    *RELEASE_LOCK;                                           // functions
void *ACCUMULATE_GRAD, *OUTPUT_BACKWARD, *OUTPUT_GRADIENTS;  // classes

void* get(void* object, Name& name) {
    if (!name.string) name.string = objects.new_name(name.text);
    return name.string ? objects.attribute(object, name.string) : nullptr;
}

bool is(void* object, Name& name, void* constant) {
    const Reference found{get(object, name)};
    return found.object == constant;
}

void* tuple_of(std::initializer_list<void*> items) {
    void* tuple = objects.new_tuple(items.size());
    ptrdiff_t i = 0;
    for (void* item : items) {
        if (!tuple) return nullptr;
        python.take_reference(item);
        objects.set_tuple_item(tuple, i++, item);
    }
    return tuple;
}

// All arguments are held by the caller.
void* call(void* function, std::initializer_list<void*> arguments) {
    return objects.call_with_each(function, arguments.begin(), arguments.size(), nullptr);
}

void* call_method(Name& name, std::initializer_list<void*> object_and_arguments) {
    if (!name.string) name.string = objects.new_name(name.text);
    return name.string
               ? objects.call_method(name.string, object_and_arguments.begin(), object_and_arguments.size(), nullptr)
               : nullptr;
}

struct Sequence {  // a list or tuple
    void* const object;
    const void* const kind = object ? kind_of(object) : nullptr;

    ptrdiff_t count() const {  // -1 of anything else
        return kind == known.list ? objects.length(object) : kind == known.tuple ? objects.size(object) : -1;
    }
    void* operator[](ptrdiff_t i) const {  // borrowed
        return kind == known.list ? objects.list_item(object, i) : objects.tuple_item(object, i);
    }
};

Reference held(void* object) {  // what a list or dict lends, which a function of Python's may let go
    if (object) python.take_reference(object);
    return {object};
}

struct Walk {
    void *waiting, *arrived, *found, *fresh;  // of engine.py
    void *needed, *wanted;                    // sets, or None
    bool creates_graph, frees;
    Reference lone{};  // what alone waits, outside of the heap: each node of a chain does

    bool needs(void* target) const {
        return target != known.none && (needed == known.none || objects.is_in_set(needed, target) == 1);
    }
};

// What to call with a node and its gradient; null for a node that asks for more, and after an error.
void* rule_of(const Walk& walk, void* node, const Sequence& edges) {
    const bool has_forgotten = edges.count() == 0;
    if (has_forgotten || !is(node, PLAIN, known.yes) || objects.item(walk.fresh, node) == known.yes) return nullptr;
    void* const kind = kind_of(node);
    Reference fused{walk.creates_graph || objects.error() ? nullptr : get(kind, FUSED)};
    if (!fused || fused == known.none) return objects.error() ? nullptr : get(kind, BACKWARD);
    return std::exchange(fused.object, nullptr);
}

// Whether somebody asks for the gradient of the node's result; -1 after an error.
int is_asked_for(const Walk& walk, void* node) {
    if (walk.wanted != known.none) return objects.is_in_set(walk.wanted, node);
    const Reference result{call_method(RESULT, {node})};
    return result ? result != known.none : -1;
}

bool push(const Walk& walk, void* node) {
    const Reference age{get(node, AGE)};
    const int64_t number = age ? objects.integer_in(age) : 0;
    const Reference turn{objects.error() ? nullptr : objects.new_long(-number)};
    const Reference entry{turn ? tuple_of({turn, node}) : nullptr};
    const Reference done{entry ? call(HEAP_PUSH, {walk.waiting, entry}) : nullptr};
    return done;
}

bool line_up(Walk& walk, void* node) {
    if (!walk.lone && objects.length(walk.waiting) == 0) {
        python.take_reference(walk.lone.object = node);
        return true;
    }
    const Reference before{std::exchange(walk.lone.object, nullptr)};
    return (!before || push(walk, before)) && push(walk, node);
}

// An output of a node with several, whose own gradient nobody asks for, nor adds parts to.
bool passes_on(const Walk& walk, void* target) {
    return kind_of(target) == OUTPUT_BACKWARD && !objects.item(walk.fresh, target) && is(target, PLAIN, known.yes) &&
           is_asked_for(walk, target) == 0;
}

bool is_leaf(void* node) { return objects.is_instance(node, ACCUMULATE_GRAD) == 1; }

bool arrive(Walk& walk, void* target, void* part);

// What arrives at such an output goes to the node at once, without a turn of the output's own.
bool arrive_behind(Walk& walk, void* output, void* part) {
    const Reference found{get(output, EDGES)}, key{found ? get(output, KEY) : nullptr};
    const Sequence edges{found};
    const Reference node = held(key && edges.count() == 1 ? edges[0] : nullptr);
    if (!node || !walk.needs(node)) return !objects.error();
    Reference gradients = held(objects.item(walk.arrived, node));
    if (!gradients) {
        gradients.object = objects.error() ? nullptr : call(OUTPUT_GRADIENTS, {});
        if (!gradients || !arrive(walk, node, gradients)) return false;
    }
    const Reference before = held(objects.item(gradients, key));
    const Reference sum{before ? objects.add(before, part) : nullptr};
    return !objects.error() && objects.set_item(gradients, key, before ? sum : part) == 0;
}

bool arrive(Walk& walk, void* target, void* part) {
    const Reference before = held(objects.item(walk.arrived, target));
    if (!before) {
        if (passes_on(walk, target)) return arrive_behind(walk, target, part);
        return !objects.error() && objects.set_item(walk.arrived, target, part) == 0 &&
               (is_leaf(target) || line_up(walk, target));
    }
    const Reference sum{objects.add(before, part)};
    if (!sum || objects.set_item(walk.arrived, target, sum) != 0) return false;
    return objects.item(walk.fresh, target) ||
           (!objects.error() && objects.set_item(walk.fresh, target, known.no) == 0);
}

// A part as its operand is, summed where it was broadcast.
void* fitted(void* part, void* operand) {
    const Tensor *x = tensor_in(part), *y = x ? tensor_in(operand) : nullptr;
    if (operand != known.none && !(y && are_alike(*x, *y))) return call_method(SUM_TO, {part, operand});
    python.take_reference(part);
    return part;
}

bool send(Walk& walk, void* node, const Sequence& edges, void* rule, void* gradient, bool broadcasts) {
    const Reference input{broadcasts ? get(node, INPUT) : nullptr};
    const Reference given{objects.error() ? nullptr : call(rule, {node, gradient})};
    const ptrdiff_t count = given ? edges.count() : 0;
    if (count < 0) return objects.set_error(known.wrong_type, "the edges of a node: expected a list or tuple");
    const bool is_one_each = Sequence{given}.count() == count;
    const Reference results{!given || is_one_each ? nullptr : call(ONE_EACH, {node, given, edges.object})};
    if (!given || objects.error()) return false;
    const Sequence parts{results ? results : given}, operands{input};
    for (ptrdiff_t i = 0; i < count; i++) {
        if (i >= edges.count() || i >= parts.count()) break;  // lists that somebody cut short meanwhile
        const Reference target = held(edges[i]), part = held(parts[i]);
        if (part == known.none || !walk.needs(target)) continue;
        if (input && i >= operands.count()) break;  // they were let go
        const Reference operand = held(input ? operands[i] : nullptr), whole{input ? fitted(part, operand) : nullptr};
        if ((input && !whole) || !arrive(walk, target, input ? whole : part)) return false;
    }
    return !objects.error();
}

bool leads_on(const Walk& walk, const Sequence& edges) {
    bool found = walk.needed == known.none;
    for (ptrdiff_t i = 0; !found && i < edges.count(); i++) found = walk.needs(edges[i]);
    return found;
}

// Whether all that a node keeps goes as soon as the walk, which alone holds it, lets it go: nothing has to be released.
bool goes_by_itself(void* node, bool is_simple) {
    const Reference count{call(COUNT_REFERENCES, {node})};
    if (!count || objects.integer_in(count) != 1) return false;
    const Reference release{is_simple ? nullptr : get(kind_of(node), RELEASE)};
    return is_simple || release == NODE_RELEASE;
}

bool pass_on(Walk& walk, void* node, const Sequence& edges, void* rule) {
    Reference gradient{objects.item(walk.arrived, node)};
    if (!gradient) return false;
    python.take_reference(gradient);
    const int asked_for = objects.drop_item(walk.arrived, node) == 0 ? is_asked_for(walk, node) : -1;
    if (asked_for < 0 || (asked_for && objects.set_item(walk.found, node, gradient) != 0)) return false;
    if (!leads_on(walk, edges)) return !objects.error();
    const bool is_simple = is(node, SIMPLE, known.yes), broadcasts = !is_simple && is(node, BROADCASTS, known.yes);
    const Reference shown{is_simple || walk.creates_graph ? nullptr : get(node, SHOWN)};
    const Reference added{
        shown && objects.truth(shown) == 1 ? call(ADD_PART, {node, gradient, walk.arrived, walk.fresh}) : nullptr};
    if (objects.error() || (added != known.yes && !send(walk, node, edges, rule, gradient, broadcasts))) return false;
    if (!walk.frees || goes_by_itself(node, is_simple)) return true;
    const Reference released{objects.error() ? nullptr : call_method(RELEASE, {node})};
    return released;
}

// Puts the gradients of the leaves, which are all that remain, among those that were found, unless one asks for more.
int find_leaves(const Walk& walk) {
    void *leaf, *gradient;
    for (ptrdiff_t place = 0; objects.next_item(walk.arrived, &place, &leaf, &gradient);)
        if (!is(leaf, PLAIN, known.yes) || objects.item(walk.fresh, leaf) == known.yes) return objects.error() ? -1 : 0;
    if (objects.update(walk.found, walk.arrived) != 0) return -1;
    objects.clear(walk.arrived);
    return 1;
}

PythonObject* known_bool(bool value) {
    python.take_reference(value ? known.yes : known.no);
    return static_cast<PythonObject*>(value ? known.yes : known.no);
}

// 1: the gradient is that of the node's tensor now, or of none; 0: that takes more; -1: an error
int accumulated(void* node, void* gradient, void* given) {
    const Reference tensor{call_method(RESULT, {node})};
    if (!tensor) return -1;
    Tensor *x = tensor_in(gradient), *y = tensor_in(tensor);
    if (tensor == known.none || (y && slots_of(tensor).edge != node)) return 1;
    if (!x || !y || fits_as_gradient(x, y) != 1 || !is(node, GRAD, known.none)) return 0;
    const Reference id{objects.new_integer(gradient)};
    const ptrdiff_t before = objects.set_size(given);
    if (!id || objects.add_to_set(given, id) != 0) return -1;
    if (objects.set_size(given) == before) return 0;  // it was there
    return objects.set_attribute(node, GRAD.string, gradient) == 0 ? 1 : -1;
}

// The list of those that take more; null after an error.
void* accumulated_all(void* found, void* given) {
    Reference others{objects.new_list(0)};
    void *node, *gradient;
    for (ptrdiff_t place = 0; others && objects.next_item(found, &place, &node, &gradient);) {
        const int done = accumulated(node, gradient, given);
        if (done == 1) continue;
        const Reference pair{done == 0 && !objects.error() ? tuple_of({node, gradient}) : nullptr};
        if (!pair || objects.append(others, pair) != 0) return nullptr;
    }
    return std::exchange(others.object, nullptr);
}

}  // namespace

void know_walk(PythonObject* objects_in_order) {
    python.take_reference(objects_in_order);  // for good
    ptrdiff_t i = 0;
    for (void** place : {&HEAP_PUSH, &HEAP_POP, &ADD_PART, &ONE_EACH, &COUNT_REFERENCES, &NODE_RELEASE, &ACQUIRE,
                         &RELEASE_LOCK, &ACCUMULATE_GRAD, &OUTPUT_BACKWARD, &OUTPUT_GRADIENTS})
        *place = objects.tuple_item(objects_in_order, i++);
}

PythonObject* walk_plain(PythonObject* waiting, PythonObject* arrived, PythonObject* found, PythonObject* fresh,
                         PythonObject* needed, PythonObject* wanted, int32_t creates_graph, int32_t frees) {
    Walk walk = {waiting, arrived, found, fresh, needed, wanted, bool(creates_graph), bool(frees)};
    while (walk.lone || objects.length(waiting) > 0) {
        void* node = walk.lone ? walk.lone.object : objects.tuple_item(objects.list_item(waiting, 0), 1);
        const Reference found_edges{get(node, EDGES)};
        const Sequence edges{found_edges};
        const Reference rule{found_edges ? rule_of(walk, node, edges) : nullptr};
        if (!rule) return objects.error() || (walk.lone && !push(walk, node)) ? nullptr : known_bool(false);
        const Reference entry{walk.lone ? std::exchange(walk.lone.object, nullptr) : call(HEAP_POP, {waiting})};
        if (!entry || !pass_on(walk, node, edges, rule)) return nullptr;
    }
    const int are_plain = find_leaves(walk);
    return are_plain < 0 ? nullptr : known_bool(are_plain);
}

PythonObject* accumulate_plain(PythonObject* found, PythonObject* given) {
    const Reference acquired{call(ACQUIRE, {})};
    if (!acquired) return nullptr;
    void* others = accumulated_all(found, given);
    void *type, *value, *traceback;
    objects.fetch_error(&type, &value, &traceback);
    const Reference released{call(RELEASE_LOCK, {})};
    objects.restore_error(type, value, traceback);
    return static_cast<PythonObject*>(others);
}

int32_t needed_bits(PythonObject* edges, PythonObject* asked) {
    Walk walk = {};
    walk.needed = asked;
    const Sequence all{edges};
    int32_t bits = 0;
    for (ptrdiff_t i = 0; i < all.count(); i++) bits |= int32_t(walk.needs(all[i])) << i;
    return bits;
}
