"""Views: the same storage under other shapes and strides. They copy nothing, and gradients flow through."""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

import functools
import math
import operator
from typing import TYPE_CHECKING, Any, Sequence, overload

from .. import _C, operation
from .._C import int64_array, lib, raise_error
from ..arguments import axis_of, chosen, one_size, packed, packed_list, sizes_of, whole
from ..autograd.derivatives import views as d
from ..autograd.in_place import view, view_or_copy, wrap_view
from ..operation import check_tensor, mode
from ..types import Dims, DType, Sizes, bool_, check_dtype, shown
from ..types import dtype as _dtype

if TYPE_CHECKING:
    from ..forward_declarations import Tensor


class ViewMethods:
    """The methods of Tensor that return views."""

    def view(self: Tensor, *shape: Sizes | DType, size: Sizes | None = None, dtype: DType | None = None) -> Tensor:
        """The same elements in another shape; one size may be -1, and the dtype stays.

        `view(dtype)` reads the same bytes as another dtype: the last size grows or shrinks if its width is another. No
        gradient flows through that. Raises ShapeError for another number of elements, or if it takes a copy.

        >>> norch.arange(4).view(2, -1)
        tensor([[0, 1],
                [2, 3]])
        """
        if dtype is not None or (len(shape) == 1 and isinstance(shape[0], _dtype)):
            kind = check_dtype(dtype or shape[0])
            base = self if self._edge is None else self.detach()
            return view(base, lib.view_as_dtype(self._ptr, kind.number), None)
        array, rank = packed(shape if size is None else chosen(shape, size, "view", "size"), "view")
        return view(self, lib.view_tensor(self._ptr, array, rank), d.ReshapeBackward)

    def view_as(self: Tensor, other: Tensor) -> Tensor:
        """A `view` in the shape of another tensor; dtypes and errors as for `view`.

        >>> norch.arange(4).view_as(norch.ones(2, 2))
        tensor([[0, 1],
                [2, 3]])
        """
        shape = check_tensor(other, "view_as").shape
        return view(self, lib.view_tensor(self._ptr, int64_array(shape), len(shape)), d.ReshapeBackward)

    def reshape(self: Tensor, *sizes: Sizes, shape: Sizes | None = None) -> Tensor:
        """The same elements in another shape; one size may be -1, and the dtype stays.

        A view if the strides allow one, else a copy. Raises ShapeError for another number of elements.

        >>> norch.arange(6).reshape(2, -1)
        tensor([[0, 1, 2],
                [3, 4, 5]])
        """
        array, rank = packed(sizes if shape is None else chosen(sizes, shape, "reshape", "shape"), "reshape")
        return view_or_copy(self, lib.reshape_tensor(self._ptr, array, rank), d.ReshapeBackward)

    def reshape_as(self: Tensor, other: Tensor) -> Tensor:
        """A `reshape` to the shape of another tensor; dtypes and errors as for `reshape`.

        >>> norch.arange(4).reshape_as(norch.ones(2, 2))
        tensor([[0, 1],
                [2, 3]])
        """
        return self.reshape(check_tensor(other, "reshape_as").shape)

    def ravel(self: Tensor) -> Tensor:
        """All elements in one dimension [n], in row order without gaps; the dtype stays. A view if they lie so.

        >>> norch.tensor([[1, 2], [3, 4]]).ravel()
        tensor([1, 2, 3, 4])
        """
        if lib.is_in_row_order(self._ptr):
            return view(self, lib.flatten_tensor(self._ptr, 0, -1), d.ReshapeBackward)
        rows = lib.contiguous_tensor(self._ptr) or raise_error()
        return view_or_copy(self, lib.flatten_tensor(rows, 0, -1), d.ReshapeBackward)

    def unflatten(self: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
        """One dimension as several, of which one may be -1: [2, 12] as [2, 3, 4]. The dtype stays.

        Raises ShapeError if the sizes do not multiply to that of the dimension, RuntimeError if there are none, or
        no dimensions, IndexError for a dim out of range.

        >>> norch.zeros(2, 12).unflatten(1, (3, -1)).shape
        norch.Size([2, 3, 4])
        """
        axis, given, shape = axis_of(self, dim, "unflatten"), tuple(sizes), self.shape
        if given and shape and 0 not in shape:
            in_full = list(shape)
            in_full[axis : axis + 1] = given
            try:
                array, rank = packed(in_full, "unflatten")
            except TypeError:
                array, rank = packed((given,), "unflatten")  # names no more than was given
            ptr = lib.view_tensor(self._ptr, array, rank)
            if ptr:
                return view(self, ptr, d.ReshapeBackward)
        parts = sizes_of((given,), "unflatten")
        if not self.ndim:
            raise RuntimeError("unflatten: a tensor of no dimensions has none to split")
        if not parts:
            raise RuntimeError("unflatten: expected at least one size, got none")
        size = shape[axis]
        if -1 in parts and parts.count(-1) == 1:
            known = -math.prod(parts)
            if known and size % known == 0:
                parts[parts.index(-1)] = size // known
        if math.prod(parts) != size or min(parts) < 0:
            raise _C.ShapeError(
                f"unflatten: sizes {list(given)} do not multiply to {size}, the size of dimension {dim}"
            )
        all_sizes = packed((*shape[:axis], *parts, *shape[axis + 1 :]), "unflatten")
        return view(self, lib.view_tensor(self._ptr, *all_sizes), d.ReshapeBackward)

    def flatten(self: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
        """The dimensions from start_dim to end_dim as one: [2, 3, 4] from 1 on gives [2, 12]. The dtype stays.

        Raises RuntimeError if start_dim comes after end_dim, IndexError for a dim out of range.

        >>> norch.zeros(2, 3, 4).flatten(1).shape
        norch.Size([2, 12])
        """
        ptr, rank = lib.flatten_tensor(self._ptr, start_dim, end_dim), lib.ndim_of(self._ptr)
        if ptr and rank and (end_dim - start_dim) % rank == 0:  # a single dimension
            return self
        return view_or_copy(self, ptr, d.ReshapeBackward)

    def transpose(self: Tensor, dim0: int, dim1: int) -> Tensor:
        """Two dimensions exchanged: [a, b, c] with 0 and 2 gives a view [c, b, a] of the same dtype.

        Raises IndexError for a dim out of range.

        >>> norch.zeros(2, 3, 4).transpose(0, 2).shape
        norch.Size([4, 3, 2])
        """
        return view(self, lib.transpose_tensor(self._ptr, dim0, dim1), d.TransposeBackward, dim0, dim1)

    def t(self: Tensor) -> Tensor:
        """A matrix [m, n] as a view [n, m] of the same dtype; fewer dimensions stay as they are.

        Raises RuntimeError for more than two dimensions.

        >>> norch.ones(2, 3).t().shape
        norch.Size([3, 2])
        """
        return self.transpose(0, second_axis(self))

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
        ptr = lib.transpose_tensor(self._ptr, -2, -1)
        if ptr or self.ndim > 1:  # or there was no memory
            return view(self, ptr, d.TransposeBackward, -2, -1)
        if self.ndim == 1:
            raise RuntimeError(f"mT: expected at least 2 dimensions, got shape {list(self.shape)}")
        return self

    @property
    def mH(self: Tensor) -> Tensor:
        """The same as `mT`, for the dtypes that norch has.

        >>> norch.ones(5, 2, 3).mH.shape
        norch.Size([5, 3, 2])
        """
        return self.mT

    @property
    def H(self: Tensor) -> Tensor:
        """A matrix [m, n] as a view [n, m], as `t`. Raises RuntimeError for anything but a matrix or a scalar.

        >>> norch.ones(2, 3).H.shape
        norch.Size([3, 2])
        """
        if self.ndim not in (0, 2):
            raise RuntimeError(f"H: expected a matrix, got shape {list(self.shape)}")
        return self.mT

    def adjoint(self: Tensor) -> Tensor:
        """The same as `mT`, for the dtypes that norch has. Raises RuntimeError for fewer than two dimensions.

        >>> norch.ones(5, 2, 3).adjoint().shape
        norch.Size([5, 3, 2])
        """
        return self.mT

    def swapaxes(self: Tensor, axis0: int, axis1: int) -> Tensor:
        """The same as `transpose`.

        >>> norch.zeros(2, 3, 4).swapaxes(0, 2).shape
        norch.Size([4, 3, 2])
        """
        return self.transpose(axis0, axis1)

    def movedim(self: Tensor, source: Sizes, destination: Sizes) -> Tensor:
        """Dimensions moved to other places; the others keep their order: [a, b, c] with 0, 2 gives [b, c, a].

        One, or as many as there are destinations; the dtype stays. Raises IndexError for a dim out of range,
        RuntimeError if there are not as many different places as dimensions.

        >>> norch.zeros(2, 3, 4).movedim(0, 2).shape
        norch.Size([3, 4, 2])
        """
        several = isinstance(source, (list, tuple))
        if several != isinstance(destination, (list, tuple)):
            raise TypeError(
                f"movedim: expected two integers, or a list of each, got {shown(source)} and {shown(destination)}"
            )
        sources, places = (list(source), list(destination)) if several else ([source], [destination])  # type: ignore
        try:
            order = _moved(self.ndim, len(sources), *sources, *places)
        except (LookupError, TypeError):  # not Python's own integers, or out of range
            axes = [axis_of(self, axis, "movedim") for axis in (*sources, *places)]
            order = _moved(self.ndim, len(sources), *axes)
        if order is None:
            given = f"{source} and {destination}"
            raise RuntimeError(f"movedim: expected as many different places as dimensions, got {given}")
        return view(self, lib.permute_tensor(self._ptr, *order), d.PermuteBackward, *order)

    def permute(self: Tensor, *axes: Sizes, dims: Sizes | None = None) -> Tensor:
        """The dimensions in another order: [a, b, c] by 2, 0, 1 gives a view [c, a, b] of the same dtype.

        Raises ShapeError for more or fewer than there are, IndexError for one out of range.

        >>> norch.zeros(2, 3, 4).permute(2, 0, 1).shape
        norch.Size([4, 2, 3])
        """
        order, rank = packed(axes if dims is None else chosen(axes, dims, "permute", "dims"), "permute")
        return view(self, lib.permute_tensor(self._ptr, order, rank), d.PermuteBackward, order, rank)

    def expand(self: Tensor, *shape: Sizes, size: Sizes | None = None) -> Tensor:
        """Dimensions of size 1 repeated to a larger size by a stride of 0, new ones added in front; -1 keeps a size.

        A view of that shape and the same dtype. Raises ShapeError if a size that is not 1 would have to change.

        >>> norch.tensor([[1], [2]]).expand(2, 3)
        tensor([[1, 1, 1],
                [2, 2, 2]])
        """
        array, rank = packed(shape if size is None else chosen(shape, size, "expand", "size"), "expand")
        return view(self, lib.expand_tensor(self._ptr, array, rank), d.ExpandBackward)

    def expand_as(self: Tensor, other: Tensor) -> Tensor:
        """Expanded to the shape of another tensor; dtypes and errors as for `expand`.

        >>> norch.tensor([[1], [2]]).expand_as(norch.ones(2, 3))
        tensor([[1, 1, 1],
                [2, 2, 2]])
        """
        shape = check_tensor(other, "expand_as").shape
        return view(self, lib.expand_tensor(self._ptr, int64_array(shape), len(shape)), d.ExpandBackward)

    def broadcast_to(self: Tensor, *shape: Sizes, size: Sizes | None = None) -> Tensor:
        """The same as `expand`, to a shape.

        >>> norch.tensor([1, 2]).broadcast_to(2, 2)
        tensor([[1, 2],
                [1, 2]])
        """
        return self.expand(*shape, size=size)

    def squeeze(self: Tensor, dim: Dims = None, *, axis: Dims = None) -> Tensor:
        """Without the dimensions of size 1, or without those of them that `dim` names: [1, 3, 1] to [3].

        A view of the same dtype. Raises IndexError for a dim out of range.

        >>> norch.zeros(1, 3, 1).squeeze().shape, norch.zeros(1, 3, 1).squeeze(0).shape
        (norch.Size([3]), norch.Size([3, 1]))
        """
        dim = dim if axis is None else axis
        axes, count = (b"", -1) if dim is None else packed((dim,), "squeeze")
        return view(self, lib.squeeze_tensor(self._ptr, axes, count), d.ReshapeBackward)

    @overload
    def unsqueeze(self: Tensor, dim: int) -> Tensor: ...
    @overload
    def unsqueeze(self: Tensor, *, axis: int) -> Tensor: ...

    def unsqueeze(self: Tensor, dim: int | None = None, *, axis: int | None = None) -> Tensor:
        """With a dimension of size 1 at `dim`: [2, 3] at 1 gives a view [2, 1, 3] of the same dtype.

        Raises IndexError for a dim out of range.

        >>> norch.zeros(2, 3).unsqueeze(1).shape
        norch.Size([2, 1, 3])
        """
        dim = dim if axis is None else axis
        if dim is None:
            raise TypeError("unsqueeze() missing the argument dim")
        return view(self, lib.unsqueeze_tensor(self._ptr, dim), d.ReshapeBackward)

    def select(self: Tensor, dim: int, index: int) -> Tensor:
        """One index of a dimension, which goes away: [2, 3] with dim 1 gives a view [2] of the same dtype.

        Raises IndexError for a dim or an index out of range.

        >>> norch.tensor([[1, 2], [3, 4]]).select(1, 0)
        tensor([1, 3])
        """
        return view(self, lib.select_tensor(self._ptr, dim, index), d.SelectBackward, dim, index)

    def _part(self: Tensor, parts: bytes) -> Tensor:
        """x[parts], a view: integers, slices, None and `...` as `parts_of_index` of csrc/api.h gives them."""
        return view(self, lib.part_tensor(self._ptr, parts, len(parts) // 32), d.PartBackward, parts)

    def narrow(self: Tensor, dim: int, start: int | Tensor, length: int) -> Tensor:
        """`length` indices of a dimension from `start` on: a view of the same dtype, its shape except for that size.

        Raises IndexError for a dim or a start out of range, RuntimeError for a length that reaches beyond.

        >>> norch.arange(5).narrow(0, 1, 3)
        tensor([1, 2, 3])
        """
        if isinstance(start, operation.Tensor) and (start.ndim > 0 or start.dtype is bool_):
            given = f"shape {list(start.shape)} of {start.dtype}"
            raise RuntimeError(f"narrow: expected a start that is a number or an integer scalar, got {given}")
        axis, first, count = dim, one_size(start, "narrow"), one_size(length, "narrow")
        if not (shape := self.shape):
            raise RuntimeError("narrow: expected at least one dimension, got a tensor of none")
        size = shape[axis_of(self, axis, "narrow")]
        if not -size <= first <= size:
            raise IndexError(f"narrow: start {first} is out of range [{-size}, {size}] for dimension {dim}")
        first += size if first < 0 else 0
        if count < 0 or first + count > size:
            raise RuntimeError(f"narrow: start {first} and length {count} reach beyond {size}, the size of {dim}")
        return self._slice(axis, first, count, 1)

    def _slice(self: Tensor, axis: int, start: int, length: int, step: int) -> Tensor:
        ptr = lib.slice_tensor(self._ptr, axis, start, length, step)
        return view(self, ptr, d.SliceBackward, axis, start, length, step)

    def diagonal(self: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
        """The diagonals of the matrices in two dimensions, as the last one; an offset > 0 lies above the main one.

        [n, m] gives a view [min(n, m)] of the same dtype. Raises RuntimeError for fewer than two dimensions, or one
        dimension twice, IndexError for a dim out of range.

        >>> norch.tensor([[1, 2], [3, 4]]).diagonal()
        tensor([1, 4])
        """
        place, _ = packed((offset, dim1, dim2), "diagonal")
        return view(self, lib.diagonal_tensor(self._ptr, place), d.DiagonalBackward, offset, dim1, dim2)

    def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
        """Windows along a dimension: [n] gives a view [windows, size], one every `step` elements; the dtype stays.

        The windows take the place of the dimension, their elements are the last one. Raises IndexError for a dim out of
        range, RuntimeError for a size that is too large, or a step below 1.

        >>> norch.arange(5).unfold(0, 3, 2)
        tensor([[0, 1, 2],
                [2, 3, 4]])
        """
        shape, axis = self.shape, axis_of(self, dimension, "unfold")
        length, hop = one_size(size, "unfold"), one_size(step, "unfold")
        total = shape[axis] if shape else 1
        if not 0 <= length <= total:
            raise RuntimeError(f"unfold: expected a size up to {total}, that of dimension {dimension}, got {size}")
        if hop < 1:
            raise RuntimeError(f"unfold: expected a step of at least 1, got {step}")
        place = _windows(shape, lib.strides_of(self._ptr), axis, length, hop)
        ptr = lib.as_strided_tensor(self._ptr, *place, lib.offset_of(self._ptr))
        return view(self, ptr, d.UnfoldBackward, axis, length, hop)

    def as_strided(
        self: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
    ) -> Tensor:
        """A view of the storage by shape, strides and offset in elements; the dtype stays.

        Raises ShapeError if it would reach outside the storage.

        >>> norch.arange(6).as_strided([2, 2], [3, 1])
        tensor([[0, 1],
                [3, 4]])
        """
        if self._edge is None:
            return wrap_view(_strided(self, size, stride, storage_offset), self, mode.enabled)
        return view(self, *strided_view(self, size, stride, storage_offset))

    swapdims = transpose
    moveaxis = movedim


def second_axis(x: Tensor) -> int:
    """The dimension that `t` exchanges with the first. Raises RuntimeError for more than two dimensions."""
    rank = lib.ndim_of(x._ptr)
    if rank > 2:
        raise RuntimeError(f"t: expected a tensor of at most 2 dimensions, got shape {list(x.shape)}")
    return 1 if rank == 2 else 0


def strided_view(x: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None) -> tuple[Any, ...]:
    """The view of `as_strided`, the class of its derivative, and what that is made of."""
    own = lib.offset_of(x._ptr)
    ptr = _strided(x, size, stride, storage_offset)
    offset = own if storage_offset is None else storage_offset
    return ptr, d.AsStridedBackward, tuple(size), tuple(stride), offset - own


def _strided(x: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None) -> Any:
    shape, rank = packed_list(size, "as_strided: size")
    strides, count = packed_list(stride, "as_strided: stride")
    if rank != count:
        raise _C.ShapeError(f"as_strided: shape {list(size)} and strides {list(stride)} differ in length")
    offset = lib.offset_of(x._ptr) if storage_offset is None else whole(storage_offset, "as_strided")
    return lib.as_strided_tensor(x._ptr, shape, strides, rank, offset)


@functools.lru_cache(256)
def _windows(
    shape: tuple[int, ...], strides: tuple[int, ...], axis: int, length: int, hop: int
) -> tuple[bytes, bytes, int]:
    """The shape and the strides of windows along a dimension, or of one over a scalar, as C takes them."""
    if not shape:
        return int64_array((length,)), int64_array((1,)), 1
    count = (shape[axis] - length) // hop + 1
    sizes = (*shape[:axis], count, *shape[axis + 1 :], length)
    steps = (*strides[:axis], strides[axis] * hop, *strides[axis + 1 :], strides[axis])
    return int64_array(sizes), int64_array(steps), len(sizes)


@functools.lru_cache(256, typed=True)  # True is not 1
def _moved(rank: int, count: int, *axes: int) -> tuple[bytes, int] | None:
    """The order of the dimensions, as C takes it, when the first `count` axes have moved to the places after them.

    None if two are the same, or there are more or fewer places. Raises LookupError for others than Python's own
    integers in range.
    """
    known = rank or 1
    if not all(type(axis) is int and -known <= axis < known for axis in axes):
        raise LookupError
    sources, places = ([axis % known for axis in part] for part in (axes[:count], axes[count:]))
    if not len(set(sources)) == len(set(places)) == count == len(places):
        return None
    order = [axis for axis in range(known) if axis not in sources]
    for place, axis in sorted(zip(places, sources)):
        order.insert(place, axis)
    return int64_array(order[:rank]), rank


# ---- The parts of an index: x[3] and x[1:9:2] ------------------------------------------------------------------------


def selected(x: Tensor, at: int, place: int, axis: int) -> Tensor:
    """One index of dimension `at`, which messages call `axis`."""
    size = x.shape[at]
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
