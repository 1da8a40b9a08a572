"""A program: what replays in place of a function, while everything that the function looked at is as it was."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import partial
from itertools import chain
from operator import attrgetter, is_, itemgetter
from typing import Any, Callable, Sequence
from weakref import WeakSet

from .._C import int64_array, lib, raise_error
from ..autograd.in_place import join
from ..autograd.node import MultiOutput
from ..display.graph.formats import lines
from ..display.graph.reading import Node
from ..functions.creation import zeros
from ..operation import mode, record, wrap
from ..optim.groups import Group, numbers_in, tensors_in
from ..tensor import Tensor
from .display import header, nodes_of
from .guards import address_of, all_same
from .recorder import Recorder, add_gradient
from .trees import LEAF, unflatten
from .watching import Watch

_GRADIENT_IS_SHARED, _LOOKED_AT_CHANGED = 2, 3  # what replay_program returns
MISS: Any = object()  # what a replay returns that does not fit the call
getrefcount = getattr(sys, "getrefcount", id)  # PyPy records nothing, and counts no references
_ALONE = next(map(getrefcount, [object()]))  # the references to an element of a list, while this looks at it
gradient_of = attrgetter("grad")
_modes = itemgetter("enabled", "autocast", "recorder", "anomaly")  # of a thread

_CHANGED = (
    "the backward of a compiled function needs a value that was modified by an in-place operation after the call; "
    "clone() the tensor before changing it"
)


class ReplayedBackward(MultiOutput):
    """The node of a compiled call: its results are the outputs, its backward another replay."""

    def __init__(self, edges: Sequence[Any], outputs: Sequence[Tensor], run: Callable[[list[Any]], Sequence[Any]]):
        super().__init__(edges)
        self.run, self.outputs = run, len(outputs)
        if self.outputs == 1:  # it needs no node of its own
            record(outputs[0], self, edges)
        else:
            self.record_outputs(outputs)

    def backward(self, gradients: Any) -> Sequence[Any]:
        if mode.enabled:
            raise RuntimeError("a compiled function cannot be differentiated twice: call the function itself for that")
        return self.run([gradients] if self.outputs == 1 else [gradients.get(i) for i in range(self.outputs)])

    def release(self) -> None:
        super().release()
        self.run = None  # type: ignore[assignment]


class Outcome:
    """What a recorded call left behind: its result, flat, and what it did to gradients."""

    form: Any = None  # of the result
    present: Sequence[Any] = ()  # the leaves that came with one, and those that came without
    without: Sequence[Any] = ()
    entry: Sequence[Any] = ()  # the leaves whose gradients before the call are read
    backward_edges: Sequence[Any] = ()  # where the gradients of its backward go: edges, or numbers of inputs
    backward_results: Sequence[Tensor | None] = ()
    reached: Sequence[set[int]] = ()  # of each result with a backward: which of these edges it leads to

    def __init__(self) -> None:
        self.sources: list[Any] = []  # of each leaf of it: ("new", i), ("input", i), ("gradient", i), ("value", x)
        self.new: list[Tensor] = []  # the tensors that the call made and returns
        self.nodes: list[Any] = []  # of each of them: its node, a freed one; None; "leaf"; or "alive"
        self.alive: list[int] = []  # which of them have a backward yet to come
        self.cleared: list[Any] = []  # the nodes of the leaves that lose their gradient
        self.changed: list[Any] = []  # and of those that get one, and which
        self.gradients: list[Any] = []
        self.views: list[tuple[int, tuple[str, Any], bool]] = []  # which are views, of what, and whether no graph knows
        self.input_gradients: list[tuple[int, int]] = []  # of an argument, by the number of a new tensor

    def differs(self, other: Outcome) -> tuple[str, None] | None:
        """Why another call of the same function left something else behind."""
        if self.form != other.form or not all_same(self._parts(), other._parts()):
            return "it returns another Python value, or in another form", None
        if self.alive != other.alive:
            return "its result has another graph", None
        if self.cleared != other.cleared or self.changed != other.changed:
            return "other leaves get a gradient", None
        return None

    def _parts(self) -> list[Any]:
        """Where the parts of the result come from, and which are views, flat."""
        parts = [x for source in self.sources for x in source]
        for k, source, is_untracked in self.views:
            parts += (k, *source, is_untracked)
        return parts


class Program:
    """What replays in place of a function. `print` shows its operations in their order, `norch.draw_graph` draws them.

    A line names an operation and what it reads, the shape and bytes of what it writes, and where that lies: in the
    arena, which is the block that a call works in; among what is saved for a backward; in a result, a gradient, or a
    tensor that was there before. `bytes` is the size of the arena with what is saved.

    >>> @norch.compile
    ... def scaled(x):
    ...     return norch.exp(x * 0.5).sum()
    >>> for _ in range(4):
    ...     y = scaled(norch.ones(2, 3))
    >>> print(scaled.programs[0])
    program of scaled: 3 operations, 64 bytes to work in
    input 0 = input               [2, 3]   24 bytes
    %1      = mul(input 0, 0.5)   [2, 3]   24 bytes   arena +0
    %2      = exp(%1)             [2, 3]   24 bytes   arena +32
    %3      = sum(%2)             [1, 1]   4 bytes    result 0
    """

    def __init__(
        self, name: str, recorder: Recorder, outcome: Outcome, watch: Watch, arguments: tuple[Any, ...]
    ) -> None:
        self.name, self.recorder, self.outcome, self.watch = name, recorder, outcome, watch
        self.modes = mode.enabled, dict(mode.autocast), None, None
        self.backward_slots = [i for i, x in enumerate(outcome.backward_results) if x is not None]
        later = [x for x in outcome.backward_results if x is not None]
        others = [x._edge.grad for x in outcome.new if x._edge is not None and x._edge.grad is not None]
        kinds = outcome.new, outcome.gradients, later, others
        counts, tensors = int64_array(tuple(map(len, kinds))), list(map(address_of, chain(*kinds)))
        self.handle = lib.new_program(recorder.handle, counts, tensors) or raise_error()
        looked_at = watch.addresses()
        if lib.set_program_arguments(self.handle, arguments, len(looked_at), looked_at):
            raise_error()
        self.cleared, self.changed = outcome.cleared, outcome.changed
        self.gradients = [wrap(lib.program_gradient(self.handle, k)) for k in range(len(self.changed))]
        changed = set(self.changed)
        self.present = [node for node in outcome.present if node not in changed]
        self.usual = [_ALONE + 1] * len(self.changed)  # the references to a gradient that is a leaf's
        # of each optimizer that takes its step; and the optimizers that have a tensor among them
        self.settings = [[recorder.settings_of(group) for group in x.param_groups] for x in recorder.steps]
        self.with_tensors = [k for k, x in enumerate(recorder.steps) if any(map(tensors_in, x.param_groups))]
        self.guards = *watch.guards[:4], self._guarded_settings(), watch.guards[5]
        self.entry = outcome.entry
        is_alone = outcome.form == LEAF and outcome.sources == [("new", 0)] and not outcome.views
        self.single = is_alone and len(outcome.nodes) == 1 and outcome.nodes[0] not in ("alive", "leaf")
        self.kinds = [_kind_of(outcome.new[i]) for i in outcome.alive] if outcome.alive else []
        kind, number = outcome.sources[0] if outcome.form == LEAF else ("", 0)
        self.from_input = number if kind == "input" and not outcome.new else None  # the whole result is an argument
        outcome.new, outcome.backward_results, outcome.gradients = [], (), []
        _programs.add(self)
        recorder.inputs = [None] * len(recorder.inputs)  # type: ignore[list-item]  # they are the caller's
        self.are_tensors = [isinstance(x, Tensor) for x in arguments]
        self.asks_nothing = not (
            self.with_tensors or recorder.generators or self.entry or self.present or outcome.without
        )

    # ---- Replay -------------------------------------------------------------------------------------------------

    def replay(self, arguments: tuple[Any, ...]) -> Any:
        """The function's result for flat arguments; MISS if they, or what it looks at, are not as they were."""
        if _modes(vars(mode)) != self.modes or not (self.asks_nothing or self._ready()):
            return MISS
        if self.watch.reads and not self.watch.hold():
            return MISS
        keeps_gradients = not self.changed or self._keeps_gradients()
        if not keeps_gradients and any(node.grad is None for node in self.outcome.present):
            return MISS
        if self.entry:
            arguments = (*arguments, *[node.grad for node in self.entry])
        results: list[Any] = []
        while status := lib.replay_program(self.handle, self.guards, arguments, results):
            if status < 0:
                self._fail(results, arguments)
            if not self._follows(status):
                return MISS
            keeps_gradients = keeps_gradients and status != _GRADIENT_IS_SHARED
        if not keeps_gradients:
            for node, gradient in zip(self.changed, self.gradients):
                node.grad = gradient
        for node in self.cleared:
            node.grad = None
        if self.single:
            result = wrap(results[0])
            result._edge = self.outcome.nodes[0]
            return result
        if self.from_input is not None:
            return arguments[self.from_input]
        return self._outputs(results, arguments)

    def _ready(self) -> bool:
        """Let options and generators be those of the moment; whether the program fits them, and the gradients."""
        for k in self.with_tensors:
            groups = list(map(numbers_in, self.recorder.steps[k].param_groups))
            if groups != self.settings[k] and not (self.watch.hold() and self._take_settings(k, groups)):
                return False
        if self.recorder.generators:
            for address, (generator, state) in list(self.recorder.generators.items()):
                if generator._state is not state:
                    self._take_generator(address, generator)
        for node in self.outcome.without:
            if node.grad is not None:
                return False
        return all(node.grad is not None for node in self.present)

    def _keeps_gradients(self) -> bool:
        """Whether each leaf has the gradient of the last replay, and nobody else; else such a gradient is renewed."""
        gradients = self.gradients
        are_theirs = not self.entry and all(map(is_, map(gradient_of, self.changed), gradients))
        if are_theirs and list(map(getrefcount, gradients)) == self.usual:
            return True
        for k, (node, count) in enumerate(zip(self.changed, list(map(getrefcount, gradients)))):
            if self.entry or count != _ALONE + (node.grad is gradients[k]):
                self._renew(k)
        return False

    def _follows(self, status: int) -> bool:
        """Whether the program fits what C found changed."""
        if status == _GRADIENT_IS_SHARED:  # somebody keeps a view of it
            for k in range(len(self.gradients)):
                if not lib.gradient_is_free(self.handle, k):
                    self._renew(k)
        elif status != _LOOKED_AT_CHANGED or not self.watch.hold():
            return False
        else:
            for k, optimizer in enumerate(self.recorder.steps):
                if k not in self.with_tensors and not self._take_settings(k, optimizer.param_groups):
                    return False
        return True

    def could_fit(self) -> bool:
        """Whether a later call may find everything as this program needs it."""
        return self.watch.hold()

    def _outputs(self, results: list[Any], arguments: tuple[Any, ...]) -> Any:
        outcome = self.outcome
        new = [wrap(handle) for handle in results[: len(outcome.nodes)]]
        for x, node in zip(new, outcome.nodes):
            if node == "leaf":
                x.requires_grad_()
            elif node != "alive":
                x._edge = node
        if outcome.alive:
            saved = results[-1]
            edges = [arguments[e]._edge if isinstance(e, int) else e for e in outcome.backward_edges]
            ReplayedBackward(edges, [new[i] for i in outcome.alive], partial(self._replay_backward, saved))
        for i, k in outcome.input_gradients:
            add_gradient(arguments[i], new[k])
        return rebuilt(outcome, new, arguments, self.gradients)

    def _replay_backward(self, saved: Any, gradients: list[Any]) -> Sequence[Any]:
        """The gradients of the arguments and leaves, from those of the results of a call that saved something."""
        results: list[Any] = []
        given = [
            zeros(shape, dtype=dtype, device=device) if gradient is None else wrap(lib.contiguous_tensor(gradient._ptr))
            for gradient, (shape, dtype, device) in zip(gradients, self.kinds)
        ]
        status = lib.replay_backward(self.handle, saved, len(given), [x._ptr for x in given], results)
        if status > 0:
            raise RuntimeError(_CHANGED)
        if status < 0:
            raise_error()
        used = {k for found, x in zip(self.outcome.reached, gradients) if x is not None for k in found}
        parts: list[Any] = [None] * len(self.outcome.backward_edges)
        for i, handle in zip(self.backward_slots, results):
            if i in used:  # else a zero, where eager code leaves nothing
                parts[i] = wrap(handle)
        return parts

    def _fail(self, results: list[Any], arguments: tuple[Any, ...]) -> None:
        """Raise the error of a kernel. Gradients that are complete are there, those that are half written are gone."""
        try:
            raise_error()
        finally:
            for k, node in enumerate(self.changed):
                if written := lib.program_written(self.handle, 0, k):
                    node.grad = self.gradients[k] if written == 2 else None
            for i, k in self.outcome.input_gradients:
                if k < len(results) and lib.program_written(self.handle, 1, k) == 2:
                    add_gradient(arguments[i], wrap(results[k]))

    # ---- What may change between replays ------------------------------------------------------------------------

    def _guarded_settings(self) -> list[Group]:
        """Each group of optimizers with its settings as C has them."""
        guarded: list[Group] = []
        for k, optimizer in enumerate(self.recorder.steps):
            if k not in self.with_tensors:
                for group, settings in zip(optimizer.param_groups, self.settings[k]):
                    guarded += group, settings
        return guarded

    def _take_settings(self, k: int, groups: list[Group]) -> bool:
        """Let the steps of an optimizer have its new settings; whether only numbers changed, and none became 0."""
        optimizer, settings = self.recorder.steps[k], self.settings[k]
        if [group.keys() for group in groups] != [group.keys() for group in settings]:
            return False
        for group, old in zip(groups, settings):
            for name, x in group.items():
                y, is_live = old[name], optimizer.live is None or name in optimizer.live
                if x is not y and not (is_live and _is_number(x) and _is_number(y) and _zeros(x) == _zeros(y)):
                    return False
        if groups != settings:
            lib.set_program_options(self.handle, k, b"".join(map(optimizer.options, groups)))
        self.settings[k] = list(map(dict, groups))
        self.guards[4][:] = self._guarded_settings()
        return True

    def _take_generator(self, address: int, generator: Any) -> None:
        """Draw from where the generator is now: it was seeded anew."""
        state = generator._state
        lib.set_program_generator(self.handle, address, ctypes.addressof(state))
        del self.recorder.generators[address]
        self.recorder.generators[ctypes.addressof(state)] = (generator, state)

    def _renew(self, k: int) -> None:
        """Somebody keeps a gradient of an earlier call: it stays theirs."""
        self.gradients[k] = wrap(lib.program_gradient(self.handle, k))

    # ---- Looking at it ------------------------------------------------------------------------------------------

    @property
    def bytes(self) -> int:
        """The size of the blocks that a call works in: what it makes and forgets, and what it saves for a backward."""
        return int(lib.program_bytes(self.handle, 0) + lib.program_bytes(self.handle, 1))

    def graph_nodes(self) -> list[Node]:
        """What `norch.draw_graph` draws."""
        return nodes_of(self)

    def __repr__(self) -> str:
        return f"<{header(self)}>"

    def __str__(self) -> str:
        return "\n".join([header(self), *lines(nodes_of(self))])


_programs: WeakSet[Program] = WeakSet()


def _after_fork() -> None:
    """Whoever replayed a program when this process was forked is not here."""
    for program in _programs:
        lib.release_program(program.handle)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _kind_of(x: Tensor) -> tuple[Any, ...]:
    return tuple(x.shape), x.dtype, x.device


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) or (type(value) is tuple and all(type(x) in (int, float) for x in value))


def _zeros(value: Any) -> Any:
    return [x == 0 for x in value] if type(value) is tuple else value == 0


def rebuilt(outcome: Outcome, new: Sequence[Any], arguments: Sequence[Any], gradients: Sequence[Any]) -> Any:
    """The result of a call out of its parts."""
    from_where = {"new": lambda i: new[i], "input": lambda i: arguments[i], "gradient": lambda i: gradients[i]}
    for i, (kind, x), is_untracked in outcome.views:
        new[i]._untracked = is_untracked
        join(new[i], x if kind == "value" else from_where[kind](x))
    leaves = (x if kind == "value" else from_where[kind](x) for kind, x in outcome.sources)
    return unflatten(outcome.form, leaves)
