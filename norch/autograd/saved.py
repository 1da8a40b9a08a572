"""Values that a graph saves, as the hooks of `saved_tensors_hooks` pack them: on a disk, on another device, smaller.

While hooks are on, `record` hands each new node to `pack`, which puts a Packed in the place of every tensor that the
node keeps. The walk calls the rule of such a node within `unpacked`, where the tensors are back.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Callable, Iterator

from .. import operation
from .._C import lib, write_clock
from ..guards import within
from ..operation import mode, wrap

if TYPE_CHECKING:
    from ..forward_declarations import Node, Tensor

_QUIET = ((mode, {"enabled": False, "hooks_of_saved": None}),)  # a hook's own operations are not packed


class Packed:
    """What `pack_hook` made of a tensor, and the hook that makes a tensor of it again.

    The hook may ask `mode.saver` for the class of the node that keeps the tensor; None if a custom operation does.
    Raises RuntimeError if the hook wrote to the tensor.
    """

    def __init__(self, tensor: Tensor, saver: type | None = None) -> None:
        hooks: Any = mode.hooks_of_saved
        mode.saver = saver
        pack, self.unpack = hooks
        self.edge = tensor._edge
        written = lib.written_at(tensor._ptr)
        self.value = within(_QUIET, pack, (tensor,), {})
        if lib.written_at(tensor._ptr) > written:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place, which changes the values of the forward"
            )

    def tensor(self) -> Tensor:
        """The tensor, at the place in the graph of the one that was packed. Raises TypeError if the hook gave none."""
        found = within(_QUIET, self.unpack, (self.value,), {})
        if not isinstance(found, operation.Tensor):
            name = type(found).__name__
            raise TypeError(f"Output of saved tensor unpack_hook expected to be a Tensor but got {name}")
        if found._edge is not self.edge:
            found = wrap(lib.alias_tensor(found._ptr))
            found._edge = self.edge
        return found


def _mapped(value: Any, kind: type, change: Callable[[Any], Any]) -> Any:
    """The value with change(x) for each x of a kind in it, in lists and tuples too; the value itself without any."""
    if isinstance(value, kind):
        return change(value)
    if type(value) in (list, tuple):
        parts = [_mapped(part, kind, change) for part in value]
        if any(part is not other for part, other in zip(parts, value)):
            return type(value)(parts)
    return value


def _replaced(node: Node, kind: type, change: Callable[[Any], Any]) -> dict[str, Any]:
    """The attributes of a node that hold something of a kind, with it changed."""
    changed = {name: _mapped(value, kind, change) for name, value in vars(node).items() if name != "grad"}
    return {name: value for name, value in changed.items() if value is not vars(node)[name]}


def pack(node: Node) -> None:
    """Let the hooks of this thread pack every tensor that the node keeps, except those of which it reads the size."""
    if not node.only_sizes:
        node.packed, node.plain = _replaced(node, operation.Tensor, partial(Packed, saver=type(node))), False
        vars(node).update(node.packed)


@contextmanager
def unpacked(node: Node) -> Iterator[None]:
    """In the block, the node's tensors are back: as the hook makes them, so nobody asks if they changed since."""
    kept = {"stamp": node.stamp, "_output_stamp": node._output_stamp, **(node.packed or {})}
    vars(node).update(_replaced(node, Packed, Packed.tensor), stamp=write_clock.value, _output_stamp=write_clock.value)
    try:
        yield
    finally:
        vars(node).update(kept)
