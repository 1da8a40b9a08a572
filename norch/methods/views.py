"""Views: the same storage under other shapes and strides. They copy nothing, and gradients flow through."""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

import itertools
import math
import operator
from typing import TYPE_CHECKING, Sequence

from .. import _C
from .._C import int64_array, lib
from ..arguments import axis_of, one_size, sizes_of
from ..autograd.derivatives import views as d
from ..autograd.in_place import view
from ..operation import check_tensor
from ..types import Dims, Sizes, dtype

if TYPE_CHECKING:
    from ..forward_declarations import Tensor


class ViewMethods:
    """The methods of Tensor that return views."""

    def view(self: Tensor, *shape: Sizes | dtype) -> Tensor:
        """The same elements in another shape; one size may be -1, and the dtype stays.

        `view(dtype)` reads the same bytes as another dtype: the last size grows or shrinks if its width is another. No
        gradient flows through that. Raises ShapeError for another number of elements, or if it takes a copy.

        >>> norch.arange(4).view(2, -1)
        tensor([[0, 1],
                [2, 3]])
        """
        if len(shape) == 1 and isinstance(shape[0], dtype):
            return view(self.detach(), lib.view_as_dtype(self._ptr, shape[0].number), None)
        sizes = sizes_of(shape, "view")
        return view(self, lib.view_tensor(self._ptr, int64_array(sizes), len(sizes)), d.ReshapeBackward)

    def view_as(self: Tensor, other: Tensor) -> Tensor:
        """A `view` in the shape of another tensor; dtypes and errors as for `view`.

        >>> norch.arange(4).view_as(norch.ones(2, 2))
        tensor([[0, 1],
                [2, 3]])
        """
        return self.view(check_tensor(other, "view_as").shape)

    def reshape(self: Tensor, *shape: Sizes) -> Tensor:
        """The same elements in another shape; one size may be -1, and the dtype stays.

        A view if the strides allow one, else a copy. Raises ShapeError for another number of elements.

        >>> norch.arange(6).reshape(2, -1)
        tensor([[0, 1, 2],
                [3, 4, 5]])
        """
        sizes = sizes_of(shape, "reshape")
        return view(self, lib.reshape_tensor(self._ptr, int64_array(sizes), len(sizes)), d.ReshapeBackward)

    def reshape_as(self: Tensor, other: Tensor) -> Tensor:
        """A `reshape` to the shape of another tensor; dtypes and errors as for `reshape`.

        >>> norch.arange(4).reshape_as(norch.ones(2, 2))
        tensor([[0, 1],
                [2, 3]])
        """
        return self.reshape(check_tensor(other, "reshape_as").shape)

    def ravel(self: Tensor) -> Tensor:
        """All elements in one dimension [n], in row order; the dtype stays. A view if the strides allow one.

        >>> norch.tensor([[1, 2], [3, 4]]).ravel()
        tensor([1, 2, 3, 4])
        """
        return self.reshape(-1)

    def unflatten(self: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
        """One dimension as several, of which one may be -1: [2, 12] as [2, 3, 4]. The dtype stays.

        Raises ShapeError if the sizes do not multiply to that of the dimension, RuntimeError if there are none,
        IndexError for a dim out of range.

        >>> norch.zeros(2, 12).unflatten(1, (3, -1)).shape
        norch.Size([2, 3, 4])
        """
        axis, parts = axis_of(self, dim, "unflatten"), sizes_of((list(sizes),), "unflatten")
        if not parts:
            raise RuntimeError("unflatten: expected at least one size, got none")
        size, known = self.shape[axis], math.prod(part for part in parts if part != -1)
        if parts.count(-1) == 1 and known and size % known == 0:
            parts[parts.index(-1)] = size // known
        if math.prod(parts) != size or min(parts) < 0:
            raise _C.ShapeError(
                f"unflatten: sizes {list(sizes)} do not multiply to {size}, the size of dimension {dim}"
            )
        return self.view([*self.shape[:axis], *parts, *self.shape[axis + 1 :]])

    def flatten(self: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
        """The dimensions from start_dim to end_dim as one: [2, 3, 4] from 1 on gives [2, 12]. The dtype stays.

        Raises RuntimeError if start_dim comes after end_dim, IndexError for a dim out of range.

        >>> norch.zeros(2, 3, 4).flatten(1).shape
        norch.Size([2, 12])
        """
        shape = list(self.shape) or [1]
        start, end = axis_of(self, start_dim, "flatten"), axis_of(self, end_dim, "flatten")
        if start > end:
            raise RuntimeError(f"flatten: start_dim {start_dim} comes after end_dim {end_dim}")
        merged = 1
        for size in shape[start : end + 1]:
            merged *= size
        return self.reshape(shape[:start] + [merged] + shape[end + 1 :])

    def transpose(self: Tensor, dim0: int, dim1: int) -> Tensor:
        """Two dimensions exchanged: [a, b, c] with 0 and 2 gives a view [c, b, a] of the same dtype.

        Raises IndexError for a dim out of range.

        >>> norch.zeros(2, 3, 4).transpose(0, 2).shape
        norch.Size([4, 3, 2])
        """
        (a, b) = sizes_of((dim0, dim1), "transpose")
        return view(self, lib.transpose_tensor(self._ptr, a, b), d.TransposeBackward, a, b)

    def t(self: Tensor) -> Tensor:
        """A matrix [m, n] as a view [n, m] of the same dtype; fewer dimensions stay as they are.

        Raises RuntimeError for more than two dimensions.

        >>> norch.ones(2, 3).t().shape
        norch.Size([3, 2])
        """
        if self.ndim > 2:
            raise RuntimeError(f"t: expected a tensor of at most 2 dimensions, got shape {list(self.shape)}")
        return self.transpose(0, 1) if self.ndim == 2 else self.transpose(0, 0)

    @property
    def T(self: Tensor) -> Tensor:
        """All dimensions in reverse order: [a, b, c] gives a view [c, b, a] of the same dtype.

        >>> norch.tensor([[1, 2], [3, 4]]).T
        tensor([[1, 3],
                [2, 4]])
        """
        return view(self, lib.reverse_tensor(self._ptr), d.ReverseBackward)

    @property
    def mT(self: Tensor) -> Tensor:
        """The last two dimensions exchanged, [..., m, n] to [..., n, m]; a view of the same dtype.

        Raises RuntimeError for fewer than two dimensions.

        >>> norch.ones(5, 2, 3).mT.shape
        norch.Size([5, 3, 2])
        """
        if self.ndim < 2:
            raise RuntimeError(f"mT: expected at least 2 dimensions, got shape {list(self.shape)}")
        return self.transpose(-2, -1)

    def movedim(self: Tensor, source: Sizes, destination: Sizes) -> Tensor:
        """Dimensions moved to other places; the others keep their order: [a, b, c] with 0, 2 gives [b, c, a].

        One, or as many as there are destinations; the dtype stays. Raises IndexError for a dim out of range,
        RuntimeError if there are not as many different places as dimensions.

        >>> norch.zeros(2, 3, 4).movedim(0, 2).shape
        norch.Size([3, 4, 2])
        """
        sources, places = (
            [axis_of(self, axis, "movedim") for axis in sizes_of((axes,), "movedim")] for axes in (source, destination)
        )
        if len(sources) != len(places) or len(set(sources)) < len(sources) or len(set(places)) < len(places):
            given = f"{source} and {destination}"
            raise RuntimeError(f"movedim: expected as many different places as dimensions, got {given}")
        others = iter(axis for axis in range(self.ndim) if axis not in sources)
        order = [sources[places.index(place)] if place in places else next(others) for place in range(self.ndim)]
        return self.permute(order)

    def permute(self: Tensor, *dims: Sizes) -> Tensor:
        """The dimensions in another order: [a, b, c] by 2, 0, 1 gives a view [c, a, b] of the same dtype.

        Raises ShapeError for more or fewer than there are, IndexError for one out of range.

        >>> norch.zeros(2, 3, 4).permute(2, 0, 1).shape
        norch.Size([4, 2, 3])
        """
        axes = sizes_of(dims, "permute")
        return view(self, lib.permute_tensor(self._ptr, int64_array(axes), len(axes)), d.PermuteBackward, axes)

    def expand(self: Tensor, *shape: Sizes) -> Tensor:
        """Dimensions of size 1 repeated to a larger size by a stride of 0, new ones added in front; -1 keeps a size.

        A view of that shape and the same dtype. Raises ShapeError if a size that is not 1 would have to change.

        >>> norch.tensor([[1], [2]]).expand(2, 3)
        tensor([[1, 1, 1],
                [2, 2, 2]])
        """
        sizes = sizes_of(shape, "expand")
        return view(self, lib.expand_tensor(self._ptr, int64_array(sizes), len(sizes)), d.ExpandBackward)

    def expand_as(self: Tensor, other: Tensor) -> Tensor:
        """Expanded to the shape of another tensor; dtypes and errors as for `expand`.

        >>> norch.tensor([[1], [2]]).expand_as(norch.ones(2, 3))
        tensor([[1, 1, 1],
                [2, 2, 2]])
        """
        return self.expand(check_tensor(other, "expand_as").shape)

    def broadcast_to(self: Tensor, *shape: Sizes) -> Tensor:
        """The same as `expand`, to a shape.

        >>> norch.tensor([1, 2]).broadcast_to(2, 2)
        tensor([[1, 2],
                [1, 2]])
        """
        return self.expand(*shape)

    def squeeze(self: Tensor, dim: Dims = None) -> Tensor:
        """Without the dimensions of size 1, or without those of them that `dim` names: [1, 3, 1] to [3].

        A view of the same dtype. Raises IndexError for a dim out of range.

        >>> norch.zeros(1, 3, 1).squeeze().shape, norch.zeros(1, 3, 1).squeeze(0).shape
        (norch.Size([3]), norch.Size([3, 1]))
        """
        axes = [] if dim is None else sizes_of((dim,), "squeeze")
        count = -1 if dim is None else len(axes)
        return view(self, lib.squeeze_tensor(self._ptr, int64_array(axes), count), d.ReshapeBackward)

    def unsqueeze(self: Tensor, dim: int) -> Tensor:
        """With a dimension of size 1 at `dim`: [2, 3] at 1 gives a view [2, 1, 3] of the same dtype.

        Raises IndexError for a dim out of range.

        >>> norch.zeros(2, 3).unsqueeze(1).shape
        norch.Size([2, 1, 3])
        """
        axis = one_size(dim, "unsqueeze")
        return view(self, lib.unsqueeze_tensor(self._ptr, axis), d.ReshapeBackward)

    def select(self: Tensor, dim: int, index: int) -> Tensor:
        """One index of a dimension, which goes away: [2, 3] with dim 1 gives a view [2] of the same dtype.

        Raises IndexError for a dim or an index out of range.

        >>> norch.tensor([[1, 2], [3, 4]]).select(1, 0)
        tensor([1, 3])
        """
        (axis, place) = sizes_of((dim, index), "select")
        return view(self, lib.select_tensor(self._ptr, axis, place), d.SelectBackward, axis, place)

    def narrow(self: Tensor, dim: int, start: int, length: int) -> Tensor:
        """`length` indices of a dimension from `start` on: a view of the same dtype, its shape except for that size.

        Raises IndexError for a dim out of range, or indices that do not lie within it.

        >>> norch.arange(5).narrow(0, 1, 3)
        tensor([1, 2, 3])
        """
        (axis, first, count) = sizes_of((dim, start, length), "narrow")
        return self._slice(axis, first + self.size(axis) if first < 0 else first, count, 1)

    def _slice(self: Tensor, axis: int, start: int, length: int, step: int) -> Tensor:
        ptr = lib.slice_tensor(self._ptr, axis, start, length, step)
        return view(self, ptr, d.SliceBackward, axis, start, length, step)

    def split(self: Tensor, split_size_or_sections: Sizes, dim: int = 0) -> tuple[Tensor, ...]:
        """A tuple of views along a dimension: of one size each (the last may be smaller), or of the sizes in a list.

        All have the shape of x except for that size, and its dtype. Raises ShapeError if sizes do not add up,
        RuntimeError for a size below 1 or a tensor of no dimensions, IndexError for a dim out of range.

        >>> norch.arange(5).split(2)
        (tensor([0, 1]), tensor([2, 3]), tensor([4]))
        """
        axis = axis_of(self, dim, "split")
        if self.ndim == 0:
            raise RuntimeError("split: expected at least one dimension, got a tensor of none")
        total, given = self.shape[axis], split_size_or_sections
        if isinstance(given, (list, tuple)):
            sizes = sizes_of((list(given),), "split")
            if sum(sizes) != total or (sizes and min(sizes) < 0):
                raise _C.ShapeError(f"split: sizes {sizes} do not add up to {total}, the size of dimension {dim}")
        else:
            size = one_size(given, "split")
            if size < 0 or (size == 0 and total > 0):
                raise RuntimeError(f"split: expected a size of at least 1, got {size}")
            sizes = [min(size, total - start) for start in range(0, total, size or 1)] or [0]
        starts = itertools.accumulate(sizes, initial=0)
        return tuple(self.narrow(axis, start, size) for start, size in zip(starts, sizes))

    def chunk(self: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
        """A tuple of at most `chunks` views of one size along a dimension; the last may be smaller.

        All have the shape of x except for that size, and its dtype. Raises RuntimeError for fewer than one, or for a
        tensor of no dimensions, IndexError for a dim out of range.

        >>> norch.arange(5).chunk(2)
        (tensor([0, 1, 2]), tensor([3, 4]))
        """
        count = one_size(chunks, "chunk")
        if count < 1:
            raise RuntimeError(f"chunk: expected at least one chunk, got {chunks}")
        axis = axis_of(self, dim, "chunk")
        if self.ndim == 0:
            raise RuntimeError("chunk: expected at least one dimension, got a tensor of none")
        if self.shape[axis] == 0:
            return self.split([0] * count, axis)
        return self.split(-(-self.shape[axis] // count), axis)

    def unbind(self: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
        """A tuple of the views that `select` gives for each index of a dimension: [3, 2] gives three of shape [2].

        The dtype stays. Raises RuntimeError for a tensor of no dimensions, IndexError for a dim out of range.

        >>> norch.tensor([[1, 2], [3, 4]]).unbind()
        (tensor([1, 2]), tensor([3, 4]))
        """
        axis = axis_of(self, dim, "unbind")
        if self.ndim == 0:
            raise RuntimeError("unbind: expected at least one dimension, got a tensor of none")
        return tuple(self.select(axis, index) for index in range(self.shape[axis]))

    def diagonal(self: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
        """The diagonals of the matrices in two dimensions, as the last one; an offset > 0 lies above the main one.

        [n, m] gives a view [min(n, m)] of the same dtype. Raises RuntimeError for fewer than two dimensions, or one
        dimension twice, IndexError for a dim out of range.

        >>> norch.tensor([[1, 2], [3, 4]]).diagonal()
        tensor([1, 4])
        """
        if self.ndim < 2:
            raise RuntimeError(f"diagonal: expected at least 2 dimensions, got shape {list(self.shape)}")
        rows, columns = axis_of(self, dim1, "diagonal"), axis_of(self, dim2, "diagonal")
        if rows == columns:
            raise RuntimeError(f"diagonal: dimensions {dim1} and {dim2} are the same")
        shape, strides, first = list(self.shape), list(self.stride()), self.storage_offset()
        length = max(0, min(shape[rows] + min(offset, 0), shape[columns] - max(offset, 0)))
        if length:
            first += offset * strides[columns] if offset > 0 else -offset * strides[rows]
        kept = [axis for axis in range(self.ndim) if axis not in (rows, columns)]
        shape = [shape[axis] for axis in kept] + [length]
        strides = [strides[axis] for axis in kept] + [strides[rows] + strides[columns]]
        ptr = lib.as_strided_tensor(self._ptr, int64_array(shape), int64_array(strides), len(shape), first)
        return view(self, ptr, d.DiagonalBackward, offset, rows, columns)

    def as_strided(
        self: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
    ) -> Tensor:
        """A view of the storage by shape, strides and offset in elements; the dtype stays.

        Raises ShapeError if it would reach outside the storage.

        >>> norch.arange(6).as_strided([2, 2], [3, 1])
        tensor([[0, 1],
                [3, 4]])
        """
        shape, strides = sizes_of((list(size),), "as_strided"), sizes_of((list(stride),), "as_strided")
        if len(shape) != len(strides):
            raise _C.ShapeError(f"as_strided: shape {shape} and strides {strides} differ in length")
        offset = self.storage_offset() if storage_offset is None else storage_offset
        ptr = lib.as_strided_tensor(self._ptr, int64_array(shape), int64_array(strides), len(shape), offset)
        return view(self, ptr, d.AsStridedBackward, shape, strides, offset - self.storage_offset())

    swapaxes = swapdims = transpose
    moveaxis = movedim


# ---- The parts of an index: x[3] and x[1:9:2] ------------------------------------------------------------------------


def selected(x: Tensor, at: int, place: int, axis: int) -> Tensor:
    """One index of dimension `at`, which messages call `axis`."""
    size = x._struct.shape[at]
    if not -size <= place < size:
        raise IndexError(f"index {place} is out of range for axis {axis} of size {size}")
    return x.select(at, place)


def sliced(x: Tensor, at: int, part: slice) -> Tensor:
    """A slice of dimension `at`."""
    return x if part == slice(None) else x._slice(at, *_range(part, x.shape[at]))


def _range(part: slice, size: int) -> tuple[int, int, int]:
    """Start, length and step of a slice of a dimension."""
    if part.step is not None and operator.index(part.step) < 1:
        raise ValueError(f"a slice needs a positive step, got {part.step}; flip() reverses a dimension")
    start, stop, step = part.indices(size)
    length = max(0, (stop - start + step - 1) // step)
    return (start if length else 0), length, step
