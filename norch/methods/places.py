"""What index tensors name in a tensor, and how elements are read and written there: one call into C for each."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, Sequence

from .._C import MAX_DIMS, int64_array, lib
from ..autograd.derivatives.indexing import (
    ExtremeBackward,
    GatherBackward,
    IndexBackward,
    IndexPutBackward,
    MultiplyBackward,
    ScatterBackward,
)
from ..autograd.in_place import write
from ..operation import mode, record, recorded, wrap

if TYPE_CHECKING:
    from ..autograd.node import Node
    from ..forward_declarations import Tensor


class Combining(IntEnum):
    """How a written value combines with the element at its place: the enum of csrc/ops/combining.h."""

    REPLACE = 0
    ADD = 1
    MULTIPLY = 2
    LARGEST = 3
    SMALLEST = 4


REPLACE, ADD = 0, 1
WITHOUT_SELF, AVERAGED, CONVERTED = 8, 16, 32  # beside it: flags of csrc/api.h

# What one index names: the enum Naming of csrc/api.h, and its flags.
ELEMENTS, SLICES, FLAT, MASK = 0, 1, 2, 3
WRAPS, VECTOR = 8, 16  # negative integers count from the end; VECTOR: the index is one, and the source fits exactly
_KIND = 7

_AXES = [int64_array(range(count)) for count in range(MAX_DIMS + 2)]


class Places:
    """The places of a tensor that one index names, along an axis or by their number, or a mask."""

    def __init__(self, index: Tensor, axis: int, kind: int) -> None:
        self.index, self.axis, self.kind = index, axis, kind

    @property
    def reads(self) -> Any:
        """The node of a read."""
        return GatherBackward if self.kind & _KIND == ELEMENTS else IndexBackward

    @property
    def writes(self) -> Any:
        """The node of a write."""
        return ScatterBackward if self.kind & _KIND == ELEMENTS else IndexPutBackward

    @property
    def tensors(self) -> tuple[Tensor]:
        return (self.index,)

    def ndim(self, x: Tensor) -> int:
        """The number of dimensions of the selection from x."""
        return x.ndim + 1 - self.index.ndim if self.kind == MASK else x.ndim - 1 + self.index.ndim

    def kept(self) -> Places:
        """The same for a graph. A mask may change after it was used, as it may where it stands for its indices."""
        return Places(self.index.clone(), self.axis, self.kind) if self.kind == MASK else self

    def read(self, x: Tensor) -> int:
        """The address of a new C tensor with the elements."""
        return lib.gather_tensor(x._ptr, self.index._ptr, self.axis, self.kind)

    def write(self, x: Tensor, values: Any, how: int) -> int:
        """Write values, a tensor or a number, or combine them with what is there; return the status."""
        return lib.scatter_into(x._ptr, self.index._ptr, self.axis, self.kind, values._ptr, how)

    def written(self, x: Tensor, values: Any, how: int) -> int:
        """The same into a copy of x: its address."""
        return lib.scatter_tensor(x._ptr, self.index._ptr, self.axis, self.kind, values._ptr, how)


class AtIndices:
    """The places of a tensor that several index tensors (int64) name; None takes a whole dimension."""

    reads, writes = IndexBackward, IndexPutBackward

    def __init__(self, indices: Sequence[Tensor | None], axes: Sequence[int] | None = None) -> None:
        self._all = indices
        self._indices = [index if index is None else index._ptr for index in indices]
        self._axes = _AXES[len(indices)] if axes is None else int64_array(axes)  # for messages

    @property
    def tensors(self) -> list[Tensor]:
        return [index for index in self._all if index is not None]

    def ndim(self, x: Tensor) -> int:
        """The number of dimensions of the selection from x."""
        return x.ndim - len(self.tensors) + max(index.ndim for index in self.tensors)

    def kept(self) -> AtIndices:
        return self

    def read(self, x: Tensor) -> int:
        """The address of a new C tensor with the elements."""
        return lib.index_tensor(x._ptr, self._indices, self._axes, len(self._indices), True)

    def write(self, x: Tensor, values: Any, how: int) -> int:
        """Write values, which broadcast, or combine them with what is there; return the status."""
        return lib.index_put(x._ptr, self._indices, self._axes, len(self._indices), True, values._ptr, how)

    def written(self, x: Tensor, values: Any, how: int) -> int:
        """The same into a copy of x: its address."""
        copy = lib.clone_tensor(x._ptr)
        failed = not copy or lib.index_put(copy, self._indices, self._axes, len(self._indices), True, values._ptr, how)
        return 0 if failed else copy


def read(x: Tensor, place: Places | AtIndices) -> Tensor:
    """The elements of x at places."""
    result: Tensor = wrap(place.read(x))
    if x._edge is None or not mode.enabled:
        return result
    return recorded(result, place.reads, (x,), place.kept())


def read_by(x: Tensor, index: Tensor, axis: int, kind: int) -> Tensor:
    """The elements of x that one index names."""
    if x._edge is not None and mode.enabled:
        return read(x, Places(index, axis, kind))
    return wrap(lib.gather_tensor(x._ptr, index._ptr, axis, kind))


def put(x: Tensor, place: Places | AtIndices, values: Any, how: int = REPLACE) -> Tensor:
    """A copy of x with values, a tensor or a number, written to places or combined with what is there."""
    result: Tensor = wrap(place.written(x, values, how))
    if not mode.enabled or x._edge is values._edge is None:
        return result
    place = place.kept()
    node = _node(place, how)(x, values, place, how)
    if not node.keeps_x():
        node.input = (None, values)
    return record(result, node, (x._edge, values._edge))


def put_(x: Tensor, place: Places | AtIndices, values: Any, how: int = REPLACE) -> Tensor:
    """The same in place."""

    def backward(x: Tensor, y: Tensor) -> Node:
        kept = place.kept()
        return _node(kept, how)(x, y, kept, how)

    return write(x, backward, (values,), place.write, x, values, how)


def put_by(x: Tensor, index: Tensor, axis: int, kind: int, values: Any, how: int, in_place: bool) -> Tensor:
    """Write values where one index names, into x or a copy of it."""
    if in_place or is_recorded(x, values):
        return (put_ if in_place else put)(x, Places(index, axis, kind), values, how)
    return wrap(lib.scatter_tensor(x._ptr, index._ptr, axis, kind, values._ptr, how))


def is_recorded(x: Tensor, *values: Any) -> bool:
    """Whether a write of values into x, or into a copy of it, is recorded."""
    for operand in (x, x._base, *values):
        if operand is not None and operand._edge is not None:
            return mode.enabled
    return False


def _node(place: Places | AtIndices, how: int) -> Any:
    if how in (REPLACE, ADD):
        return place.writes
    return MultiplyBackward if how == Combining.MULTIPLY else ExtremeBackward
