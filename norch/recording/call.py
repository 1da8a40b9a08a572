"""One call of a compiled function that is recorded, and what it left behind."""

from __future__ import annotations

from itertools import compress, repeat
from operator import attrgetter, is_not, not_
from typing import Any, Callable, Iterable
from weakref import ref

from .._C import int64_array, lib, raise_error
from ..autograd.engine import grad, reached
from ..autograd.in_place import join
from ..autograd.node import AccumulateGrad
from ..guards import Guard
from ..nn.parameter import Parameter
from ..operation import mode, structure, wrap
from ..tensor import Tensor
from .program import Outcome, ReplayedBackward, gradient_of, rebuilt
from .recorder import Recorder, add_gradient, pass_on
from .signature import Reason, Signature, form_of
from .trees import DEEP, LEAF, containers_in, flatten, replaced
from .watching import OF_TENSORS, Watch

_made_of = attrgetter("_edge", "_ptr")


class StandIn(AccumulateGrad):
    """The node of a leaf that stands for an argument which is no leaf: it may be written to."""

    refuses_writes = False


class Call:
    """One call that is recorded."""

    def __init__(
        self, function: Callable[..., Any], given: Any, signature: Signature, leaves: list[Any], watch: Watch
    ) -> None:
        self.function, self.signature, self.leaves, self.watch = function, signature, leaves, watch
        self.args, self.kwargs = given
        self.outcome = Outcome()
        self.given = leaves
        self.stand_ins: dict[int, Any] = {}
        self.stand_in_nodes: dict[int, Any] = {}
        self.uses_entry = False
        for x in leaves:
            if isinstance(x, Tensor) and x._edge is not None and mode.enabled:
                self._stand_in()
                break
        # of the leaves that the function looks at; their gradients; which of them come with one, and these
        self.nodes = [node for x in watch.leaves if (node := x._edge or x._leaf) is not None]
        self.before = list(map(gradient_of, self.nodes))
        self.kind = tuple(map(is_not, self.before, repeat(None)))
        self.entry, self.entry_gradients = list(compress(self.nodes, self.kind)), list(compress(self.before, self.kind))

    def _stand_in(self) -> None:
        """Put stand-ins in place of arguments that require gradients."""
        leaves = self.leaves
        # A leaf stands for an argument that requires gradients: what is behind it is none of the function's business.
        needed = {id(x): x for x in leaves if isinstance(x, Tensor) and x._edge is not None}
        made = {key: _standing_for(x) for key, x in needed.items()}
        self.stand_ins = {i: made[id(x)] for i, x in enumerate(leaves) if id(x) in made}
        self.stand_in_nodes = {i: x._edge for i, x in self.stand_ins.items()}
        for i, node in self.stand_in_nodes.items():
            x = leaves[i]
            if (
                not x._edge.refuses_writes
                and x._base is None
                and not any(view() is not None for view in x._views or ())
            ):
                node.__class__ = StandIn  # (views would have to follow a write, and do not know the stand-in)
        self.given = [self.stand_ins.get(i, x) for i, x in enumerate(leaves)]

    def arguments(self) -> tuple[Any, ...]:
        """As the program gets them."""
        return (*self.given, *(self.entry_gradients if self.uses_entry else ()))

    def run(self, model: Recorder | None) -> tuple[Any, Reason | None]:
        """The result, and why it cannot be replayed; it is compared with an earlier recording."""
        watch, obstacle = self.watch, self._obstacle()
        if obstacle is not None:
            return self.function(*self.args, **self.kwargs), obstacle
        given = [x for x in self.given if isinstance(x, Tensor)]
        inputs = [*given, *self.entry_gradients]
        self.recorder = Recorder(inputs, model, watch.optimizers, self.signature.notes_lines)
        self.recorder.asked = dict(zip(map(id, self.given), self.leaves))
        version, enabled = structure.version, mode.enabled
        tensors = [*watch.tensors, *[x for x in given if x._edge is None]]
        before = list(map(_made_of, tensors))
        try:
            result, reason = self.recorder.record(self._called)
        except BaseException:  # what the function did before is done
            self._passed_on(None)
            raise
        self.recorder.asked = {}
        changed = structure.version != version and not watch.is_made_as_before()
        if changed or list(map(_made_of, tensors)) != before:
            reason = self.recorder.refused() or reason or ("it changes what a module or a tensor is", None)
        if mode.enabled != enabled:
            reason = reason or ("it leaves another grad mode behind", None)
        if self.nodes or self.stand_ins:
            reason = self._note_gradients() or reason
        if self.entry:
            self.uses_entry = self.recorder.uses_inputs(len(self.recorder.inputs) - len(self.entry))
            self.outcome.entry = self.entry if self.uses_entry else []
        reason = reason or self.recorder.refused()
        if self.stand_ins:
            if any(x._edge is not self.stand_in_nodes[i] or self._has_moved(i) for i, x in self.stand_ins.items()):
                reason = reason or ("it writes to an argument that requires gradients; write to a clone of it", None)
            result = self._connected(result) if reason is None else self._passed_on(result)
        return result, reason

    def _called(self) -> tuple[Any, Reason | None]:
        """The function's result for arguments or what stands for them, and why it cannot be replayed."""
        args, kwargs = self.args, self.kwargs
        if self.stand_ins:
            args, kwargs = replaced((args, kwargs), {id(self.leaves[i]): x for i, x in self.stand_ins.items()})
        try:
            result = self.function(*args, **kwargs)
            changes = not self.signature.is_flat and self._changed(args, kwargs)
        finally:
            if self.stand_ins:
                replaced((args, kwargs), {id(x): self.leaves[i] for i, x in self.stand_ins.items()})
        reason = self._note_result(result)
        if reason is None and self.outcome.alive:
            reason = self._record_backward()
        return result, ("it changes a container that is an argument", None) if changes else reason

    def _has_moved(self, i: int) -> bool:
        """Whether a stand-in lies elsewhere than its argument, after `x.data = y` or `x.t_()`."""
        return _place_of(self.stand_ins[i]) != _place_of(self.leaves[i])

    def _obstacle(self) -> Reason | None:
        """Why there is nothing to record."""
        for x in self.leaves:
            if isinstance(x, Tensor) and type(x) not in (Tensor, Parameter):
                return f"an argument is a {type(x).__name__}, not a plain Tensor", None
            if isinstance(x, Tensor) and not OF_TENSORS.issuperset(vars(x)):
                return "a tensor that is an argument has attributes; pass them as arguments", None
        return self.watch.obstacle

    def _changed(self, args: Any, kwargs: Any) -> bool:
        """Whether the function changed a container among its arguments."""
        found: list[Any] = []
        return form_of(args, kwargs, found) != self.signature.form or any(x is not y for x, y in zip(found, self.given))

    def _note_result(self, result: Any) -> Reason | None:
        """Where each part of the result comes from."""
        outcome = self.outcome
        parts: list[Any] = []
        outcome.form = flatten(result, parts)
        if outcome.form == DEEP:
            return "it returns a container that holds itself, or is nested too deeply", None
        if outcome.form != LEAF:
            given = containers_in((self.args, self.kwargs))
            if any(container in given or self.watch.knows(container) for container in containers_in(result)):
                return "it returns a container that is an argument, or that it looks at; return a copy", None
        for x in parts:
            if not isinstance(x, Tensor):
                if not isinstance(x, (int, float, complex, str, bytes, bool, type(None))):
                    return f"it returns a {type(x).__name__}, which is no tensor, number or text", None
                outcome.sources.append(("value", x))
                continue
            if _is_among(x, self.given):
                outcome.sources.append(("input", next(i for i, y in enumerate(self.given) if y is x)))
            elif _is_among(x, self.watch.tensors):
                outcome.sources.append(("value", x))
            elif self.nodes and _is_among(x, map(gradient_of, self.nodes)):
                return "it returns the .grad of a tensor; return a clone", None
            elif type(x) is not Tensor:
                return f"it returns a {type(x).__name__}, not a plain Tensor", None
            elif _is_among(x, outcome.new):
                outcome.sources.append(("new", next(i for i, y in enumerate(outcome.new) if y is x)))
            else:
                outcome.sources.append(("new", len(outcome.new)))
                outcome.new.append(x)
                node = x._edge
                if x.is_leaf and gradient_of(x) is not None:
                    return "it returns a leaf that it made, with a gradient", None
                alive = node is not None and not node.is_leaf and (not node.freed or _goes_on(node))
                if alive:
                    outcome.alive.append(len(outcome.nodes))
                outcome.nodes.append("alive" if alive else "leaf" if node is not None and node.is_leaf else node)
        self._note_views()
        return None

    def _note_views(self) -> None:
        """Which results are views of what others can see: they follow a write to it, and it follows one to them."""
        outcome, seen = self.outcome, len(self.outcome.new)
        made = [(k, x._base, x._untracked) for k, x in enumerate(outcome.new) if x._base is not None]
        for k, base, untracked in made:
            source = self._source_of(base)
            if source is None and sum(base is y for _, y, _ in made) > 1:  # the results see each other only
                source = "new", len(outcome.new)
                outcome.new.append(base)
                outcome.nodes.append(base._edge if base._edge is not None and base._edge.freed else None)
            if source is not None:
                is_hidden = source[0] == "new" and source[1] >= seen
                outcome.views.append((k, source, untracked or (is_hidden and outcome.nodes[k] == "alive")))

    def _source_of(self, base: Tensor) -> tuple[str, Any] | None:
        """Where the base of a result comes from, if not from inside of the function alone."""
        for i, x in enumerate(self.given):
            if isinstance(x, Tensor) and (x is base or x._base is base):
                return "input", i
        for i, x in enumerate(self.outcome.new):
            if x is base:
                return "new", i
        return ("value", base) if _is_among(base, self.watch.tensors) else None

    def _record_backward(self) -> Reason | None:
        """Record the gradients of the results with respect to arguments and leaves."""
        outcome = self.outcome
        alive = [outcome.new[i] for i in outcome.alive]
        leaves = _leaves_behind(alive)
        if isinstance(leaves, str):
            return leaves, None
        if any(x._edge in leaves for x in outcome.new):
            return "it returns a leaf that it made, and what depends on it", None
        numbers = {id(x._edge): i for i, x in self.stand_ins.items()}
        targets = [node.result() for node in leaves]
        outcome.backward_edges = [numbers.get(id(node), node) for node in leaves]
        gradients = [_like(x) for x in alive]
        self.recorder.begin_backward(gradients)
        try:
            with Guard((mode, {"rehearses": True})):
                found = grad(alive, targets, gradients, retain_graph=True, allow_unused=True)
        except MemoryError:
            raise
        except Exception as error:  # which the function does not raise
            return f"its backward raises {type(error).__name__}: {error}", None
        outcome.backward_results = list(found)
        places = {id(node): i for i, node in enumerate(leaves)}
        outcome.reached = [{places[id(node)] for node in _leaves_behind([x]) or ()} for x in alive]
        return None

    def _note_gradients(self) -> Reason | None:
        """Which leaves have another gradient than before; why a replay cannot leave them."""
        outcome = self.outcome
        for node, before in zip(self.nodes, self.before):
            gradient = node.grad
            if gradient is None and before is not None:
                outcome.cleared.append(node)
            elif gradient is not before:
                outcome.changed.append(node)
                outcome.gradients.append(gradient)
        if outcome.cleared or outcome.changed or self.recorder.steps:  # it may ask which leaves have a gradient
            outcome.present = self.entry
            outcome.without = list(compress(self.nodes, map(not_, self.kind)))
        for i, x in {id(x): (i, x) for i, x in self.stand_ins.items()}.values() if self.stand_ins else ():
            if x.is_leaf and x.grad is not None:
                outcome.input_gradients.append((i, len(outcome.new)))
                outcome.new.append(x.grad)
                outcome.nodes.append(None)
        left = [*outcome.gradients, *[outcome.new[k] for _, k in outcome.input_gradients]]
        if any(x is not None and x._edge is not None for x in left):
            return "it leaves gradients with a graph", None
        return None

    def _connected(self, result: Any) -> Any:
        """The result with the graph of the arguments, for which the recording had stand-ins."""
        outcome = self.outcome
        new = list(outcome.new)
        if outcome.alive:
            inner = [new[i] for i in outcome.alive]
            outer = [x.detach() for x in inner]
            targets = [self.stand_ins[e] if isinstance(e, int) else e.result() for e in outcome.backward_edges]
            edges = [self.leaves[e]._edge if isinstance(e, int) else e for e in outcome.backward_edges]

            def run(gradients: list[Any]) -> Any:
                kept = [g is not None for g in gradients]
                present = list(compress(inner, kept)), targets, list(compress(gradients, kept))
                return grad(*present, retain_graph=True, allow_unused=True)  # release() lets go of it

            ReplayedBackward(edges, outer, run)
            for i, x in zip(outcome.alive, outer):
                new[i] = x
        for i, k in outcome.input_gradients:
            add_gradient(self.leaves[i], new[k])
        return rebuilt(outcome, new, self.leaves, ())

    def _passed_on(self, result: Any) -> Any:
        """The result as the function left it, with the graphs of the arguments behind the stand-ins."""
        for i, x in self.stand_ins.items():
            node, argument = self.stand_in_nodes[i], self.leaves[i]
            pass_on(node, argument)
            if self._has_moved(i):
                argument.data = x.detach()
            now: Any = x._edge
            if now is not node:  # it was written to: the argument is what it is now
                argument._edge = now
                if now is not None:
                    now.result = ref(argument)
            for reference in x._views or ():
                if (view := reference()) is not None:
                    join(view, argument)
        return replaced(result, {id(x): self.leaves[i] for i, x in self.stand_ins.items()})


def _standing_for(x: Tensor) -> Tensor:
    """A leaf in place of an argument that requires gradients."""
    stand_in = x.detach().requires_grad_()
    stand_in.__class__ = type(x)
    return stand_in


def _place_of(x: Tensor) -> tuple[Any, ...]:
    return x.data_ptr(), tuple(x.shape), x.stride(), x.dtype


def _is_among(x: Any, values: Iterable[Any]) -> bool:
    return id(x) in map(id, values)


def _like(x: Tensor) -> Tensor:
    """A tensor of x's shape, dtype and device, its values not set."""
    struct = x._struct
    shape = x.shape
    return wrap(lib.empty_tensor(int64_array(shape), len(shape), struct.dtype, struct.device) or raise_error())


def _goes_on(node: Any) -> bool:
    """Whether a backward may go through a freed node once more: nothing behind it has forgotten anything."""
    return not any(behind.freed and not behind.edges for behind in reached([(node, None)]))


def _leaves_behind(tensors: list[Tensor]) -> list[Any] | str:
    """The nodes of the leaves that tensors were computed from, in one order; or why there is no backward to record."""
    nodes = reached([(x._edge, None) for x in tensors])
    for node in nodes:
        if node.hooks or node.around or node.calls_hook:  # recording a backward would call it once more
            return "a hook is called in its backward"
        if node.freed and not node.edges:
            return "its backward goes through a graph that was freed"
    return [node for node in nodes if node.is_leaf and node.result() is not None]
