"""Views: the same storage under other shapes and strides. Nothing is copied; gradients flow through."""

from __future__ import annotations

from typing import Any, Sequence

from . import _C
from ._C import int64_array, lib
from .autograd import functions as f
from .operation import view


def sizes_of(args: Sequence[Any], name: str) -> list[int]:
    """Sizes or axes given one by one, or as one list or tuple."""
    values = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
    try:
        found = [value.__index__() for value in values]
    except (AttributeError, TypeError):
        raise TypeError(f"{name}: expected integers, got {tuple(values)!r}") from None
    for value in found:
        if not -(2**63) <= value < 2**63:
            raise OverflowError(f"{name}: expected integers of 64 bits, got {tuple(found)!r}")
    return found


class Views:
    """The methods of Tensor that return views."""

    _ptr: Any

    def view(self: Any, *shape: Any) -> Any:
        """The same elements in another shape; one size may be -1. Raises ShapeError where only a copy could do that."""
        sizes = sizes_of(shape, "view")
        return view(self, lib.view_tensor(self._ptr, int64_array(sizes), len(sizes)), f.ReshapeBackward)

    def reshape(self: Any, *shape: Any) -> Any:
        """The same elements in another shape; one size may be -1. A view wherever strides allow, else a copy."""
        sizes = sizes_of(shape, "reshape")
        return view(self, lib.reshape_tensor(self._ptr, int64_array(sizes), len(sizes)), f.ReshapeBackward)

    def flatten(self: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
        """The dimensions from start_dim to end_dim as one."""
        shape, rank = list(self.shape) or [1], max(self.ndim, 1)
        for axis in (start_dim, end_dim):
            if not -rank <= axis < rank:
                raise IndexError(f"flatten: axis {axis} is out of range [{-rank}, {rank - 1}] for shape {list(self.shape)}")
        start, end = start_dim % rank, end_dim % rank
        if start > end:
            raise RuntimeError(f"flatten: start_dim {start_dim} comes after end_dim {end_dim}")
        merged = 1
        for size in shape[start : end + 1]:
            merged *= size
        return self.reshape(shape[:start] + [merged] + shape[end + 1 :])

    def transpose(self: Any, dim0: int, dim1: int) -> Any:
        """Two dimensions exchanged."""
        (a, b) = sizes_of((dim0, dim1), "transpose")
        return view(self, lib.transpose_tensor(self._ptr, a, b), f.TransposeBackward, a, b)

    def t(self: Any) -> Any:
        """A matrix transposed; fewer dimensions stay as they are."""
        if self.ndim > 2:
            raise RuntimeError(f"t: expected a tensor of at most 2 dimensions, got shape {list(self.shape)}")
        return self.transpose(0, 1) if self.ndim == 2 else self.transpose(0, 0)

    @property
    def T(self: Any) -> Any:
        """All dimensions in reverse order."""
        return view(self, lib.reverse_tensor(self._ptr), f.ReverseBackward)

    def permute(self: Any, *dims: Any) -> Any:
        """The dimensions in another order."""
        axes = sizes_of(dims, "permute")
        return view(self, lib.permute_tensor(self._ptr, int64_array(axes), len(axes)), f.PermuteBackward, axes)

    def expand(self: Any, *shape: Any) -> Any:
        """Dimensions of size 1 repeated to a larger size by a stride of 0, new ones added in front; -1 keeps a size."""
        sizes = sizes_of(shape, "expand")
        return view(self, lib.expand_tensor(self._ptr, int64_array(sizes), len(sizes)), f.ExpandBackward)

    def expand_as(self: Any, other: Any) -> Any:
        """Expanded to the shape of another tensor."""
        return self.expand(other.shape)

    def squeeze(self: Any, dim: Any = None) -> Any:
        """Without the dimensions of size 1, or without those of them that `dim` names."""
        axes = [] if dim is None else sizes_of(dim if isinstance(dim, (list, tuple)) else (dim,), "squeeze")
        count = -1 if dim is None else len(axes)
        return view(self, lib.squeeze_tensor(self._ptr, int64_array(axes), count), f.ReshapeBackward)

    def unsqueeze(self: Any, dim: int) -> Any:
        """With a dimension of size 1 at `dim`."""
        (axis,) = sizes_of((dim,), "unsqueeze")
        return view(self, lib.unsqueeze_tensor(self._ptr, axis), f.ReshapeBackward)

    def select(self: Any, dim: int, index: int) -> Any:
        """One index of a dimension, which goes away."""
        (axis, place) = sizes_of((dim, index), "select")
        return view(self, lib.select_tensor(self._ptr, axis, place), f.SelectBackward, axis, place)

    def narrow(self: Any, dim: int, start: int, length: int) -> Any:
        """`length` indices of a dimension from `start` on."""
        (axis, first, count) = sizes_of((dim, start, length), "narrow")
        return self._slice(axis, first + self.size(axis) if first < 0 else first, count, 1)

    def _slice(self: Any, axis: int, start: int, length: int, step: int) -> Any:
        ptr = lib.slice_tensor(self._ptr, axis, start, length, step)
        return view(self, ptr, f.SliceBackward, axis, start, length, step)

    def as_strided(self: Any, size: Sequence[int], stride: Sequence[int], storage_offset: Any = None) -> Any:
        """A view of the storage by shape, strides and offset, all in elements. Raises ShapeError if it reached outside."""
        shape, strides = sizes_of((list(size),), "as_strided"), sizes_of((list(stride),), "as_strided")
        if len(shape) != len(strides):
            raise _C.ShapeError(f"as_strided: shape {shape} and strides {strides} differ in length")
        offset = self.storage_offset() if storage_offset is None else storage_offset
        ptr = lib.as_strided_tensor(self._ptr, int64_array(shape), int64_array(strides), len(shape), offset)
        return view(self, ptr, f.AsStridedBackward, shape, strides, offset - self.storage_offset())
