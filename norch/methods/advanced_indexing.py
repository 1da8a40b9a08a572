"""What an index means: integers, slices, arrays of integers and boolean masks, as in `t[1:, rows]`, `t[t > 0]`.

The rules are PyTorch's. Integers, slices, `...` and None first make a view; then the index arrays select from it, one
for each dimension that they stand for. They broadcast together, and their common shape takes their place in the result
if they were neighbours, else the front. (NumPy differs here: it counts integers among the arrays.) A mask of m
dimensions stands for m arrays: the indices of its True elements. True and False add a dimension of size 1 or 0. A
tensor of no dimensions is an integer, one of shape [1] an array of one.

Masks and arrays read a copy. Writing goes through to the tensor; if places repeat, the last value stays.
"""

from __future__ import annotations

import operator
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Sequence, Union

from .. import operation
from .._C import MAX_DIMS, addresses, int64_array, lib
from ..autograd.derivatives.indexing import IndexBackward, IndexPutBackward
from ..given import warn
from ..operation import operand, several, wrap
from ..packing import filled, tensor_of
from ..types import bool_, int64, uint8
from .views import selected, sliced

if TYPE_CHECKING:
    from types import EllipsisType

    from ..forward_declarations import Tensor

    Part = Union[None, EllipsisType, slice, bool, int, Tensor]  # of an index


class Combining(IntEnum):
    """How a written value combines with the element at its place: the enum of csrc/ops/combining.h."""

    REPLACE = 0
    ADD = 1
    MULTIPLY = 2
    LARGEST = 3
    SMALLEST = 4


_AXES = [tuple(range(count)) for count in range(MAX_DIMS + 2)]


class AtIndices:
    """The places of a tensor that index tensors (int64) name; None takes a whole dimension."""

    reads, writes = IndexBackward, IndexPutBackward

    def __init__(self, indices: Sequence[Tensor | None], axes: Sequence[int] | None = None, wraps: bool = True) -> None:
        self.tensors = [index for index in indices if index is not None]
        self._handles = [0 if index is None else index._ptr for index in indices]  # their C tensors live as long
        self._indices = addresses(self._handles)
        self._axes = int64_array(_AXES[len(indices)] if axes is None else axes)  # for messages
        self._wraps = wraps  # whether negative integers count from the end

    def ndim(self, x: Tensor) -> int:
        """The number of dimensions of the selection from x."""
        return x.ndim - len(self.tensors) + max(index.ndim for index in self.tensors)

    def read(self, x: Tensor) -> int:
        """The address of a new C tensor with the elements."""
        return lib.index_tensor(x._ptr, self._indices, self._axes, len(self._handles), self._wraps)

    def write(self, x: Tensor, values: Tensor, how: int) -> int:
        """Write values, which broadcast, or combine them with what is there; return the status."""
        return lib.index_put(x._ptr, self._indices, self._axes, len(self._handles), self._wraps, values._ptr, how)

    def filling(self, x: Tensor, value: float) -> Tensor:
        """A number for all places, in a shape that `write` takes and in the dtype of x."""
        return filled((), value, x.dtype, x.device)


def values_for(x: Tensor, value: object, ndim: int) -> Tensor:
    """The value to assign to a part of x, as a tensor of at most `ndim` dimensions with x's dtype and device."""
    found: Tensor = value if isinstance(value, operation.Tensor) else _made_for(x, value)
    extra = found.ndim - ndim
    if extra > 0 and all(size == 1 for size in found.shape[:extra]):  # as in PyTorch: leading sizes of 1 do not count
        found = found.reshape(found.shape[extra:])
    return found if found.dtype is x.dtype else found.to(x.dtype)


def _made_for(x: Tensor, value: Any) -> Tensor:
    found = operand(value)
    if found is NotImplemented:
        return tensor_of(value, x.dtype, x.device)
    return found.to(x.device) if isinstance(found, operation.Tensor) else filled((), value, x.dtype, x.device)


def parts_of(index: Any) -> tuple[Any, ...]:
    """The parts of an index. As in PyTorch, a list is a tuple if it holds lists, tensors, slices, `...` or None."""
    if isinstance(index, tuple):
        return index
    if isinstance(index, list) and len(index) < 32:
        kinds = (list, tuple, slice, type(None), type(Ellipsis), operation.Tensor)
        if any(isinstance(part, kinds) or hasattr(part, "__array_interface__") and part.ndim for part in index):
            return tuple(index)
    return (index,)


ALL = slice(None)


def locate(x: Tensor, parts: tuple[object, ...]) -> tuple[Tensor, AtIndices | None]:
    """The view of x that the basic parts of an index make, and the places in it that its index arrays name, if any."""
    if _are_arrays(x, parts):
        return x, AtIndices(parts)  # type: ignore[arg-type]
    if len(parts) == 1 and _is_mask(x, parts[0]):
        return x, AtIndices(_true_places(parts[0], x.shape[: parts[0].ndim], 0))  # type: ignore[arg-type, attr-defined]
    view, axis = x, 0  # axis: of x
    indices: list[Tensor | None] = []  # for each dimension of the view, with the axis of x that it is
    axes: list[int] = []
    for part in _written_out(x, [_checked(part, x) for part in parts]):
        at = len(indices)
        found: list[Tensor | None] = [None]
        if part is None:
            view = view.unsqueeze(at)
        elif isinstance(part, bool):
            view, found = view.unsqueeze(at), [_integers(range(int(part)), x.device)]
        elif isinstance(part, slice):
            view, axis = view if part == ALL else sliced(view, at, part), axis + 1
        elif isinstance(part, int):
            view, axis = selected(view, at, part, axis), axis + 1
            continue
        elif part.dtype is bool_ and part.ndim == 0:
            view, found = view.unsqueeze(at), [part.reshape(1).nonzero().select(1, 0)]
        elif part.dtype is bool_:
            found = _true_places(part, view.shape[at : at + part.ndim], axis)
            axis += part.ndim
        else:
            found, axis = [part], axis + 1
        indices += found
        axes += range(axis - len(found), axis)
    return view, None if all(index is None for index in indices) else AtIndices(indices, axes)


def _are_arrays(x: Tensor, parts: tuple[object, ...]) -> bool:
    """Whether an index is made of tensors of int64 with dimensions, on x's device, and of nothing else."""
    own = x._struct
    for part in parts:
        if not isinstance(part, operation.Tensor):
            return False
        array = part._struct
        if array.dtype != int64.number or array.ndim == 0 or array.device != own.device:
            return False
    return 0 < len(parts) <= own.ndim


def _is_mask(x: Tensor, part: object) -> bool:
    """Whether a part is a mask of some of x's first dimensions, on its device."""
    if not isinstance(part, operation.Tensor):
        return False
    own, mask = x._struct, part._struct
    return bool(mask.dtype == bool_.number and 0 < mask.ndim <= own.ndim and mask.device == own.device)


def _written_out(x: Tensor, parts: list[Part]) -> list[Any]:
    """The parts with slices in place of `...`, so that they stand for every dimension of x."""
    used = sum(_dimensions(part) for part in parts)
    if used > x.ndim:
        raise IndexError(f"too many indices: got {used} for a tensor of {x.ndim} dimensions")
    ellipses = [place for place, part in enumerate(parts) if part is Ellipsis]
    if len(ellipses) > 1:
        raise IndexError("an index can have one ellipsis (`...`) only")
    at = ellipses[0] if ellipses else len(parts)
    return parts[:at] + [slice(None)] * (x.ndim - used) + parts[at + 1 :]


def _dimensions(part: Part) -> int:
    """How many dimensions of the indexed tensor a part stands for."""
    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    return part.ndim if isinstance(part, operation.Tensor) and part.dtype is bool_ else 1


def _checked(part: Any, x: Tensor) -> Part:
    """A part as None, `...`, a slice, a bool, an int, or a tensor of int64 or bool on x's device."""
    if part is None or part is Ellipsis or isinstance(part, (slice, bool)):
        return part
    if not isinstance(part, operation.Tensor):
        if getattr(part, "shape", None) == () and str(part.dtype) == "bool":  # NumPy's True
            return bool(part)
        try:
            return operator.index(part)
        except TypeError:
            pass
        if isinstance(part, (str, bytes, dict)) or not hasattr(part, "__len__") or not hasattr(part, "__getitem__"):
            kinds = "integers, slices, `...`, None, masks and arrays of integers"
            error = TypeError if isinstance(part, str) else IndexError
            raise error(f"an index is made of {kinds}; got {part!r} ({type(part).__name__})")
        part = tensor_of(list(part) if isinstance(part, range) else part, None)
        part = part if part.numel else part.to(bool_ if part.dtype is bool_ else int64)
    if part.dtype is uint8:
        warn("indexing with uint8 masks is deprecated: convert them with bool()")
        part = part.bool()
    kind = part.dtype
    if kind.is_floating_point:
        raise IndexError(f"index tensors hold integers or bools, got {kind} of shape {list(part.shape)}")
    if kind is not bool_:
        if part.ndim == 0:
            return operator.index(part)
        part = part if kind is int64 else part.to(int64)
    if lib.device_of(part._ptr) != lib.device_of(x._ptr) and part.device == "cpu":
        return part.to(x.device)
    return part


def _true_places(mask: Tensor, shape: Sequence[int], axis: int) -> list[Tensor | None]:
    """For each dimension of a mask the indices of its True elements."""
    if mask.shape != shape:
        end = axis + mask.ndim - 1
        raise IndexError(f"a mask of shape {list(mask.shape)} does not fit axes {axis} to {end} of shape {list(shape)}")
    places = wrap(lib.nonzero_tensor(mask._ptr))
    return several(lib.split_tensor(places._ptr, 1, None, mask.ndim))


def _integers(values: range, device: str) -> Tensor:
    return tensor_of(list(values), int64, device)
