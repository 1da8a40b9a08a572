"""A compiled function: which of its programs fits a call, and when to record a new one."""

from __future__ import annotations

import os
from typing import Any, Callable
from weakref import WeakSet, ref

from .._C import CPYTHON, int64_array, lib, raise_error
from ..autograd.engine import grad
from ..autograd.function import AccumulateGrad, Function
from ..given import warn
from ..nn.parameter import Parameter
from ..operation import mode, structure, wrap
from ..tensor import Tensor
from .program import MISS, Outcome, Program, ReplayedBackward, rebuilt
from .recorder import Line, Recorder
from .trees import DEEP, LEAF, flatten, replaced
from .watching import Watch

_MOST_SIGNATURES = 8  # with programs of their own
_MOST_RECORDINGS = 8  # of one signature, each after something that the function looks at had changed

Reason = tuple[str, "Line | None"]

_REMEDIES = {
    "a value is read": "; return the tensor and read it after the call",
    "the shape of a result depends on values": "; choose elements with norch.where, which keeps the shape",
}
_CHANGES = "it changes a variable, an attribute or a container that it looks at"


class _Signature:
    """What is known of calls with arguments of one form."""

    ran = False  # once, plainly: an optimizer has its state then
    recordings = 0
    changes = 0  # how many recorded calls in a row changed what they look at
    reason: Reason | None = None  # why calls stay eager
    watch: Watch | None = None  # what the function looked at then

    def __init__(self, form: Any, arguments: list[Any]) -> None:
        self.form = form
        self.is_flat = form == ((tuple, (LEAF,) * len(arguments)), None)  # as a program takes them
        # keeps the objects alive whose identities are part of the key, but no tensors
        self.arguments = [None if isinstance(x, Tensor) else x for x in arguments]
        # the first of two recordings, by which leaves came without a gradient
        self.last: dict[tuple[bool, ...], tuple[Recorder, Outcome, Watch]] = {}
        self.programs: list[Program] = []

    def may_try_again(self) -> bool:
        """Whether something changed since a call could not be replayed: a hook may be gone."""
        return self.watch is not None and self.recordings < 2 * _MOST_RECORDINGS and not self.watch.holds()

    def known(self) -> Watch | None:
        """What an earlier recording found behind the function, if all of it is as it was."""
        for _, _, watch in list(self.last.values()):
            if watch.holds():
                return watch
        for program in self.programs:
            if program.watch.holds():
                return program.watch
        return None


compiled_functions: WeakSet[CompiledFunction] = WeakSet()


class CompiledFunction:
    """A function whose calls replay what an earlier call did. `programs` are those made so far."""

    def __init__(self, function: Callable[..., Any], fullgraph: bool = False) -> None:
        self.function = function
        self.fullgraph = fullgraph
        self.name = getattr(function, "__qualname__", type(function).__name__)
        self.__wrapped__ = function
        self.__doc__ = function.__doc__
        self.__name__ = getattr(function, "__name__", self.name)
        self.reset()
        compiled_functions.add(self)

    def reset(self) -> None:
        """Forget all programs."""
        self._program: Program | None = None  # that replayed last
        self._signatures: dict[Any, _Signature] = {}
        self._warned: set[str] = set()

    @property
    def programs(self) -> list[Program]:
        """The programs, each for arguments of one form."""
        return [program for signature in self._signatures.values() for program in signature.programs]

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """A compiled method: one for each object."""
        if instance is None:
            return self
        bound = CompiledFunction(self.function.__get__(instance, owner), self.fullgraph)
        getattr(instance, "__dict__", {}).setdefault(self.__name__, bound)  # with slots it is a new one each time
        return bound

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        program = self._program
        if program is not None and not kwargs:
            result = program.replay(args)
            if result is not MISS:
                return result
        if mode.recorder is not None or not CPYTHON:  # part of another recording, or no way to record
            return self.function(*args, **kwargs)
        return self._call(args, kwargs)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        leaves: list[Any] = []
        form = _form(args, kwargs, leaves)
        if DEEP in form:
            self._stay_eager(("an argument is a container that holds itself, or is nested too deeply", None))
            return self.function(*args, **kwargs)
        key = (form, mode.enabled, tuple(mode.autocast.items()) if mode.autocast else (), *map(_key, leaves))
        signature = self._signatures.get(key)
        if signature is None:
            if len(self._signatures) >= _MOST_SIGNATURES:
                self._stay_eager(("calls with ever new shapes or Python values; pass tensors of one shape", None))
                return self.function(*args, **kwargs)
            signature = self._signatures[key] = _Signature(form, leaves)
        if signature.programs:
            arguments = tuple(x if isinstance(x, Tensor) else known for x, known in zip(leaves, signature.arguments))
            for program in signature.programs:
                result = program.replay(arguments)
                if result is not MISS:
                    self._program = program if signature.is_flat else None
                    return result
        if signature.reason is not None and signature.may_try_again():
            signature.reason = None
        if signature.reason is not None or mode.anomaly is not None:
            if signature.reason is not None and self.fullgraph:
                self._stay_eager(signature.reason)
            return self.function(*args, **kwargs)
        if not signature.ran:
            result = self.function(*args, **kwargs)
            signature.ran = True
            return result
        return self._record(signature, (args, kwargs), leaves)

    # ---- Recording ----------------------------------------------------------------------------------------------

    def _record(self, signature: _Signature, given: Any, leaves: list[Any]) -> Any:
        """Call the function while it is recorded; the second time, compare, and make a program.

        No lock is held: several threads may record calls of one signature, and each takes what the others left.
        """
        watch = signature.known()
        if watch is None:
            watch = Watch(self.function, [x for x in leaves if not isinstance(x, Tensor)])
        call = _Call(self.function, given, signature, leaves, watch)
        last = signature.last.pop(call.kind, None)
        if last is not None and last[2] is not watch and not last[2].holds():
            last = None  # something changed since: begin anew
        result, reason = call.run(last and last[0])
        signature.recordings += 1
        signature.changes = 0 if watch.holds() else signature.changes + 1
        if reason is None and signature.changes > 1:
            reason = self._make_program(signature, call) or (_CHANGES, None)
        if reason is None and last is not None:
            reason = call.recorder.differs(last[0]) or last[1].differs(call.outcome)
            if reason is None:
                reason = self._make_program(signature, call)
            elif signature.programs:  # the first call after a change may do more than those that follow
                last = reason = None
            if reason is None and last is not None:
                return result
        if reason is None:
            signature.last[call.kind] = call.recorder, call.outcome, watch
            if signature.recordings > 2 * _MOST_RECORDINGS:
                reason = "what the function looks at changes with ever new calls", None
        if reason is not None:
            signature.reason, signature.watch, signature.last = reason, watch, {}
            self._stay_eager(reason)
        return result

    def _make_program(self, signature: _Signature, call: _Call) -> Reason | None:
        try:
            program = Program(self.name, call.recorder, call.outcome, call.watch, call.arguments())
        except RuntimeError:
            refused = call.recorder.refused()
            if refused is None:
                raise
            return refused
        signature.programs = [x for x in signature.programs if x.could_fit()] + [program]
        self._program = program if signature.is_flat else None
        return None

    def _stay_eager(self, reason: Reason) -> None:
        text, line = reason
        message = f"norch.compile: {self.name} cannot be replayed: {text}{_REMEDIES.get(text, '')}" + _place(line)
        if self.fullgraph:
            raise RuntimeError(message)
        if message not in self._warned:
            self._warned.add(message)
            warn(f"{message}. It runs as if it were not compiled")

    def __repr__(self) -> str:
        return f"<compiled {self.name}: {len(self.programs)} programs>"


def _place(line: Line | None) -> str:
    return f" ({os.path.basename(line[0])}, line {line[1]})" if line else ""


def _form(args: Any, kwargs: Any, leaves: list[Any]) -> tuple[Any, Any]:
    """That of arguments, which are appended to `leaves`."""
    return flatten(args, leaves), flatten(kwargs, leaves) if kwargs else None


def _key(value: Any) -> Any:
    """What two arguments have in common that one program serves."""
    if isinstance(value, Tensor):
        x = value._ptr
        requires = value._edge is not None
        return type(value), lib.dtype_of(x), lib.device_of(x), requires, lib.shape_of(x), lib.strides_of(x)
    if isinstance(value, (int, float, complex, str, bytes, bool, type(None))):
        return type(value), value if value == value else str(value)
    return id(value)


class StandIn(AccumulateGrad):
    """The node of a leaf that stands for an argument which is no leaf: it may be written to."""

    refuses_writes = False


class PassOn(Function):
    """The node of a stand-in that became part of a larger graph: it hands its gradient on."""

    is_leaf = False

    def backward(self, gradient: Tensor) -> list[Tensor]:
        return [gradient]


class _Call:
    """One call that is recorded."""

    stand_ins: dict[int, Any] = {}
    stand_in_nodes: dict[int, Any] = {}
    nodes: list[Any] = []  # of the leaves that the function looks at
    before: list[Any] = []  # their gradients
    kind: tuple[bool, ...] = ()  # which of them have none
    entry: list[Any] = []  # those that come with a gradient
    entry_gradients: list[Any] = []
    uses_entry = False

    def __init__(
        self, function: Callable[..., Any], given: Any, signature: _Signature, leaves: list[Any], watch: Watch
    ) -> None:
        self.function, self.signature, self.leaves, self.watch = function, signature, leaves, watch
        self.args, self.kwargs = given
        self.outcome = Outcome()
        self.given = leaves
        for x in leaves:
            if isinstance(x, Tensor) and x._edge is not None:
                self._stand_in()
                break
        if watch.leaves:
            self.nodes = [node for x in watch.leaves if (node := x._edge or x._leaf) is not None]
            self.before = [node.grad for node in self.nodes]
            self.kind = tuple([gradient is None for gradient in self.before])
            if False in self.kind:
                self.entry = [node for node in self.nodes if node.grad is not None]
                self.entry_gradients = [node.grad for node in self.entry]

    def _stand_in(self) -> None:
        """Put stand-ins in place of arguments that require gradients."""
        leaves = self.leaves
        # A leaf stands for an argument that requires gradients: what is behind it is none of the function's business.
        needed = {id(x): x for x in leaves if isinstance(x, Tensor) and x._edge is not None}
        made = {key: x.detach().requires_grad_() if mode.enabled else x for key, x in needed.items()}
        self.stand_ins = {i: made[id(x)] for i, x in enumerate(leaves) if id(x) in made}
        self.stand_in_nodes = {i: x._edge for i, x in self.stand_ins.items()}
        for i, node in self.stand_in_nodes.items():
            x = leaves[i]
            if (
                mode.enabled
                and not x._edge.refuses_writes
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
        inputs = [*[x for x in self.given if isinstance(x, Tensor)], *self.entry_gradients]
        self.recorder = Recorder(inputs, model, watch.optimizers)
        edges = watch.edges()
        if obstacle is not None:
            return self.function(*self.args, **self.kwargs), (obstacle, None)
        version = structure.version
        args, kwargs = self.args, self.kwargs
        if self.stand_ins:
            args, kwargs = replaced((args, kwargs), {id(self.leaves[i]): x for i, x in self.stand_ins.items()})

        def call() -> tuple[Any, Reason | None]:
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

        result, reason = self.recorder.record(call)
        if watch.edges() != edges or structure.version != version:
            reason = self.recorder.refused() or reason or ("it changes what a module or a tensor is", None)
        if self.nodes or self.stand_ins:
            self._note_gradients()
        if self.entry:
            number = len(self.recorder.inputs) - len(self.entry)
            self.uses_entry = any(self.recorder.uses(number + i) for i in range(len(self.entry)))
            self.outcome.entry = self.entry if self.uses_entry else []
        reason = reason or self.recorder.refused()
        if self.stand_ins:
            if any(x._edge is not self.stand_in_nodes[i] for i, x in self.stand_ins.items()):
                reason = reason or ("it writes to an argument that requires gradients; write to a clone of it", None)
            if mode.enabled:
                result = self._connected(result) if reason is None else self._passed_on(result)
        return result, reason

    def _obstacle(self) -> str | None:
        """Why there is nothing to record."""
        for x in self.leaves:
            if isinstance(x, Tensor) and type(x) not in (Tensor, Parameter):
                return f"an argument is a {type(x).__name__}, not a plain Tensor"
        return None if self.watch.is_complete else "it may look at too many objects to compare them"

    def _changed(self, args: Any, kwargs: Any) -> bool:
        """Whether the function changed a container among its arguments."""
        found: list[Any] = []
        return _form(args, kwargs, found) != self.signature.form or any(x is not y for x, y in zip(found, self.given))

    def _note_result(self, result: Any) -> Reason | None:
        """Where each part of the result comes from."""
        outcome, parts = self.outcome, list[Any]()
        outcome.form = flatten(result, parts)
        if outcome.form == DEEP:
            return "it returns a container that holds itself, or is nested too deeply", None
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
            elif self.nodes and _is_among(x, [node.grad for node in self.nodes]):
                return "it returns the .grad of a tensor; return a clone", None
            elif type(x) is not Tensor:
                return f"it returns a {type(x).__name__}, not a plain Tensor", None
            else:
                outcome.sources.append(("new", len(outcome.new)))
                outcome.new.append(x)
                node = x._edge
                alive = node is not None and not node.is_leaf and not node.freed
                if alive:
                    outcome.alive.append(len(outcome.nodes))
                outcome.nodes.append("alive" if alive else "leaf" if node is not None and node.is_leaf else node)
        return None

    def _record_backward(self) -> Reason | None:
        """Record the gradients of the results with respect to arguments and leaves."""
        outcome = self.outcome
        alive = [outcome.new[i] for i in outcome.alive]
        leaves = _leaves_behind(alive)
        if leaves is None:
            return "a hook is called in its backward", None
        numbers = {id(x._edge): i for i, x in self.stand_ins.items()}
        targets = [node.result() for node in leaves]
        outcome.backward_edges = [numbers.get(id(node), node) for node in leaves]
        gradients = [_like(x) for x in alive]
        self.recorder.begin_backward(gradients)
        found = grad(alive, targets, gradients, retain_graph=True, allow_unused=True)
        outcome.backward_results = list(found)
        return None

    def _note_gradients(self) -> None:
        """Which leaves have another gradient than before."""
        for node, before in zip(self.nodes, self.before):
            if node.grad is not before:
                self.outcome.leaves.append((node, node.grad))
                if before is None:
                    self.outcome.without.append(node)
        for i, x in {id(x): (i, x) for i, x in self.stand_ins.items()}.values():
            if x.is_leaf and x.grad is not None:
                self.outcome.input_gradients.append((i, len(self.outcome.new)))
                self.outcome.new.append(x.grad)
                self.outcome.nodes.append(None)

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
                present = [(x, g) for x, g in zip(inner, gradients) if g is not None]
                return grad([x for x, _ in present], targets, [g for _, g in present], allow_unused=True)

            ReplayedBackward(edges, outer, run)
            for i, x in zip(outcome.alive, outer):
                new[i] = x
        self._hand_gradients_over()
        return rebuilt(outcome, new, self.leaves, ())

    def _passed_on(self, result: Any) -> Any:
        """The result as the function left it, with the graphs of the arguments behind the stand-ins."""
        for i, x in self.stand_ins.items():
            node, argument = self.stand_in_nodes[i], self.leaves[i]
            if node.is_leaf:  # not yet, if it is passed twice
                node.__class__, node.edges, node.result = PassOn, (argument._edge,), None
            now: Any = x._edge
            if now is not node:  # it was written to: the argument is what it is now
                argument._edge = now
                if now is not None:
                    now.result = ref(argument)
        self._hand_gradients_over()
        return replaced(result, {id(x): self.leaves[i] for i, x in self.stand_ins.items()})

    def _hand_gradients_over(self) -> None:
        """What a backward in the function left in stand-ins goes to the arguments."""
        for i, k in self.outcome.input_gradients:
            x, gradient = self.leaves[i], self.outcome.new[k]
            x.grad = gradient if x.grad is None else x.grad + gradient


def _is_among(x: Any, values: list[Any]) -> bool:
    for y in values:
        if x is y:
            return True
    return False


def _like(x: Tensor) -> Tensor:
    """A tensor of x's shape, dtype and device, its values not set."""
    struct = x._struct
    shape = x.shape
    return wrap(lib.empty_tensor(int64_array(shape), len(shape), struct.dtype, struct.device) or raise_error())


def _leaves_behind(tensors: list[Tensor]) -> list[Any] | None:
    """The nodes of the leaves that tensors were computed from, in one order; None if a hook is on the way."""
    seen: dict[int, Any] = {}
    waiting = [x._edge for x in tensors]
    while waiting:
        node = waiting.pop()
        if node is not None and id(node) not in seen:
            if node.hooks:
                return None
            seen[id(node)] = node
            waiting += node.edges
    leaves = [node for node in seen.values() if node.is_leaf and node.result() is not None]
    return sorted(leaves, key=lambda node: node.age)


if CPYTHON:
    lib.know_tensors(Tensor, Parameter)  # which arguments C takes as they are
