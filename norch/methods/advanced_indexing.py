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
from typing import TYPE_CHECKING, Any, Sequence, Union

from .. import operation
from .._C import lib
from ..given import warn
from ..operation import operand, several, wrap
from ..packing import filled, tensor_of
from ..types import bool_, int64, shown, uint8
from .places import MASK, SLICES, WRAPS, AtIndices, Places
from .splitting import BY_INDEX
from .views import selected, sliced

if TYPE_CHECKING:
    from types import EllipsisType

    from ..forward_declarations import Tensor

    Part = Union[None, EllipsisType, slice, bool, int, Tensor]  # of an index


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
    if isinstance(found, operation.Tensor):
        return found.to(x.device)
    return filled((), value, x.dtype, x.device)


def parts_of(index: Any) -> tuple[Any, ...]:
    """The parts of an index. As in PyTorch, a list is a tuple if it holds lists, tensors, slices, `...` or None."""
    if isinstance(index, tuple):
        return index
    if isinstance(index, list) and len(index) < 32:
        kinds = (list, tuple, slice, type(None), type(Ellipsis), operation.Tensor)
        if any(isinstance(part, kinds) or (hasattr(part, "__array_interface__") and part.ndim) for part in index):
            return tuple(index)
    return (index,)


ALL = slice(None)
_INT64 = int64.number


def locate(x: Tensor, parts: tuple[object, ...]) -> tuple[Tensor, Places | AtIndices | None]:
    """The view of x that the basic parts of an index make, and the places in it that its index arrays name, if any."""
    if len(parts) == 1 and isinstance(parts[0], operation.Tensor):
        place = by_tensor(x, parts[0])
        if place is not None:
            return x, place
    found = _of_arrays(x, parts)
    if found is not None:
        return found
    return _one_by_one(x, parts)


def _one_by_one(x: Tensor, parts: tuple[object, ...]) -> tuple[Tensor, Places | AtIndices | None]:
    """The same for any parts: masks, truth values, tensors of no dimensions, integers of other kinds."""
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


def _of_arrays(x: Tensor, parts: tuple[Any, ...]) -> tuple[Tensor, Places | AtIndices] | None:
    """The same for int64 tensors with dimensions, lists, integers, slices, None and `...`; None for others."""
    device, rank = lib.device_of(x._ptr), lib.ndim_of(x._ptr)
    basic: list[Any] = []
    indices: list[Tensor | None] = []  # for each dimension of the view, with the axis of x that it is
    axes: list[int] = []
    axis, arrays, is_cut, is_open = 0, 0, False, False
    for part in parts:
        if part is Ellipsis:
            rest = rank - sum(other is not None for other in parts) + 1
            if is_open or rest < 0:
                return None
            is_open = True
            basic += [ALL] * rest
            indices += [None] * rest
            axes += range(axis, axis + rest)
            axis += rest
            continue
        if type(part) is list:
            part = _checked(part, x)
        if isinstance(part, operation.Tensor):
            ptr = part._ptr
            if lib.dtype_of(ptr) != _INT64 or lib.ndim_of(ptr) == 0 or lib.device_of(ptr) != device:
                return None
            basic.append(ALL)
            indices.append(part)
            axes.append(axis)
            arrays += 1
        elif part is None or type(part) in (slice, int):
            basic.append(part)
            if type(part) is not int:
                indices.append(None)
                axes.append(axis)
            is_cut = is_cut or part != ALL
        else:
            return None
        axis += part is not None
    packed = lib.parts_of_index(tuple(basic)) if is_cut else b""
    if packed is None or arrays == 0 or axis > rank:
        return None
    view = x._part(packed) if is_cut else x
    if arrays == 1:
        at = next(place for place, index in enumerate(indices) if index is not None)
        if at == axes[at]:
            return view, Places(indices[at], at, SLICES | WRAPS)  # type: ignore[arg-type]
    return view, AtIndices(indices, axes if is_cut else None)


def by_tensor(x: Tensor, index: Tensor) -> Places | None:
    """What an index that is one tensor names: int64 with dimensions, or a mask of some of x's; None for others."""
    own, array = x._ptr, index._ptr
    rank, kind = lib.ndim_of(array), lib.dtype_of(array)
    if rank == 0 or lib.ndim_of(own) == 0 or lib.device_of(array) != lib.device_of(own):
        return None
    if kind == _INT64:
        return Places(index, 0, SLICES | WRAPS)
    fits = kind == bool_.number and index.shape == x.shape[:rank]
    return Places(index, 0, MASK) if fits else None


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
            raise error(f"an index is made of {kinds}; got {shown(part)} ({type(part).__name__})")
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
    return [*several(lib.split_tensor(places._ptr, 1, None, 0, BY_INDEX))]


def _integers(values: range, device: str) -> Tensor:
    return tensor_of(list(values), int64, device)
