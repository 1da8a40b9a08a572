"""What calls of one form have in common: the key by which they are known, and what was recorded of them."""

from __future__ import annotations

from typing import Any, Optional

from .._C import lib
from ..tensor import Tensor
from .program import Outcome, Program
from .recorder import Line, Recorder
from .trees import LEAF, LEAVES, flatten
from .watching import Watch

MOST_RECORDINGS = 8  # of one signature, each after something that the function looks at had changed
Reason = tuple[str, Optional[Line]]  # why a call cannot be replayed, and the line


class Signature:
    """What is known of calls with arguments of one form."""

    ran = False  # once, plainly: an optimizer has its state then
    recordings = 0
    notes_lines = False  # of all operations: only since two recordings differed, as it takes time
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
        return self.watch is not None and self.recordings < 2 * MOST_RECORDINGS and not self.watch.hold()

    def known(self) -> Watch | None:
        """What an earlier recording found behind the function, if all of it is as it was."""
        for _, _, watch in list(self.last.values()):
            if watch.hold():
                return watch
        for program in self.programs:
            if program.watch.hold():
                return program.watch
        return None


def form_of(args: Any, kwargs: Any, leaves: list[Any]) -> tuple[Any, Any]:
    """That of arguments, which are appended to `leaves`."""
    if not kwargs and LEAVES.issuperset(map(type, args)):  # most often
        leaves += args
        return (tuple, (LEAF,) * len(args)), None
    return flatten(args, leaves), flatten(kwargs, leaves) if kwargs else None


def key_of(value: Any) -> Any:
    """What two arguments have in common that one program serves."""
    if isinstance(value, Tensor):
        return type(value), value._edge is not None, lib.form_of_tensor(value._ptr)
    if isinstance(value, (int, float, complex, str, bytes, bool, type(None))):
        return type(value), value if value and value == value else repr(value)  # 0.0 and -0.0 differ, nan is nan
    return id(value)
