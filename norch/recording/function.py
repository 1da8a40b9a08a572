"""A compiled function: which of its programs fits a call, and when to record a new one."""

from __future__ import annotations

import os
import sys
from typing import Any, Callable
from weakref import WeakSet

from .._C import CPYTHON, lib
from ..given import warn
from ..nn.parameter import Parameter
from ..operation import mode
from ..tensor import Tensor
from .call import Call
from .program import MISS, Program
from .recorder import Line
from .signature import MOST_RECORDINGS, Reason, Signature, form_of, key_of
from .trees import DEEP
from .watching import Watch

_MOST_SIGNATURES = 8  # with programs of their own

_REMEDIES = {
    "a value is read": "; return the tensor and read it after the call",
    "the shape of a result depends on values": "; choose elements with norch.where, which keeps the shape",
    "the elements of an array are copied": "; pass a tensor",
    "a scheduler takes its step": "; let it do so after the call",
    "LBFGS takes its step": " and decides by values; compile the model instead",
    "GradScaler looks for infinite gradients": "; unscale and step after the call",
    "a hook is registered": "; register it before",
    "a hook is called in its backward": "; call backward in the function",
    "the state of a random generator is set": "; set it before the call",
    "the state of a random generator is read": "; read it before the call",
    "the number of threads is read": "; read it before the call",
    "files are looked at": "; look at them before the call",
    "the graph, the gradient or the memory of an argument is looked at": "; pass what it tells as an argument",
    "ranks communicate": "; let them do so after the call",
    "it works on several devices": "; compile a function for each device",
    "a tensor that is made here outlives the call, other than as a result or a gradient": "; return it",
}
_CHANGES = "it changes a variable, an attribute or a container that it looks at"


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
        self.__qualname__, self.__module__ = self.name, getattr(function, "__module__", None) or __name__
        self.reset()
        compiled_functions.add(self)

    def reset(self) -> None:
        """Forget all programs."""
        self._program: Program | None = None  # that replayed last
        self._signatures: dict[Any, Signature] = {}
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
        form = form_of(args, kwargs, leaves)
        if DEEP in form:
            self._stay_eager(("an argument is a container that holds itself, or is nested too deeply", None))
            return self.function(*args, **kwargs)
        key = (form, mode.enabled, tuple(mode.autocast.items()) if mode.autocast else (), *map(key_of, leaves))
        signature = self._signatures.get(key)
        if signature is None:
            if len(self._signatures) >= _MOST_SIGNATURES:
                self._stay_eager(("calls with ever new shapes or Python values; pass tensors of one shape", None))
                return self.function(*args, **kwargs)
            signature = self._signatures[key] = Signature(form, leaves)
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

    def _record(self, signature: Signature, given: Any, leaves: list[Any]) -> Any:
        """Call the function while it is recorded; the second time, compare, and make a program.

        No lock is held: several threads may record calls of one signature, and each takes what the others left.
        """
        watch = signature.known()
        if watch is None:
            watch = Watch(self.function, [x for x in leaves if not isinstance(x, Tensor)])
        call = Call(self.function, given, signature, leaves, watch)
        last = signature.last.pop(call.kind, None)
        if last is not None and last[2] is not watch and not last[2].hold():
            last = None  # something changed since: begin anew
        result, refused = call.run(last and last[0])
        signature.recordings += 1
        signature.changes = 0 if watch.hold() else signature.changes + 1
        reason = refused
        if reason is None and signature.changes > 1:
            reason = self._make_program(signature, call) or (_CHANGES, None)
        elif reason is None and last is not None:
            reason = call.recorder.differs(last[0]) or last[1].differs(call.outcome)
            if reason is None:
                reason = self._make_program(signature, call)
                if reason is None:
                    return result
            elif signature.programs:  # the first call after a change may do more than those that follow
                reason = None
        if reason is not refused and not signature.notes_lines:  # once more, to tell the line
            signature.notes_lines, signature.last = True, {}
            return result
        if reason is None:
            signature.last[call.kind] = call.recorder, call.outcome, watch
            if signature.recordings > 2 * MOST_RECORDINGS:
                reason = "what the function looks at changes with ever new calls", None
        if reason is not None:
            signature.reason, signature.watch, signature.last = reason, watch, {}
            self._stay_eager(reason)
        return result

    def _make_program(self, signature: Signature, call: Call) -> Reason | None:
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

    def __reduce__(self) -> Any:
        """For copies and pickles: the name of a global one, the method of an object; else one without programs."""
        found: Any = sys.modules.get(self.__module__)
        for name in self.__qualname__.split("."):
            found = getattr(found, name, None)
        if found is self:
            return self.__qualname__
        owner = getattr(self.function, "__self__", None)
        if getattr(owner, "__dict__", {}).get(self.__name__) is self:
            return getattr, (owner, self.__name__)
        return CompiledFunction, (self.function, self.fullgraph)

    def __repr__(self) -> str:
        return f"<compiled {self.name}: {len(self.programs)} programs>"


def _place(line: Line | None) -> str:
    return f" ({os.path.basename(line[0])}, line {line[1]})" if line else ""


if CPYTHON:
    lib.know_parameters(Parameter)
