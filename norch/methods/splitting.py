"""A tensor split into parts along a dimension. The parts are views."""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from .. import _C, operation
from .._C import addresses, lib, raise_error
from ..arguments import axis_of, flags, one_size, sizes_in, sizes_of
from ..autograd.derivatives.joining import BY_INDEX, BY_LENGTH, BY_SIZES, IN_CHUNKS, IN_SECTIONS, with_split
from ..autograd.in_place import wrap_views
from ..operation import mode
from ..types import Sizes, int64

if TYPE_CHECKING:
    from ..forward_declarations import Tensor


class SplittingMethods:
    """The methods of Tensor that return several parts of it."""

    def split(
        self: Tensor, split_size: Sizes | None = None, dim: int = 0, *, split_size_or_sections: Sizes | None = None
    ) -> tuple[Tensor, ...]:
        """A tuple of views along a dimension: of one size each (the last may be smaller), or of the sizes in a list.

        All have the shape of x except for that size, and its dtype. Raises ShapeError if sizes do not add up,
        RuntimeError for a size below 1 or a tensor of no dimensions, IndexError for a dim out of range.

        >>> norch.arange(5).split(2)
        (tensor([0, 1]), tensor([2, 3]), tensor([4]))
        """
        given = split_size_or_sections if split_size is None else split_size
        if isinstance(given, (list, tuple)):
            return _parts_of_sizes(self, dim, given, "split")
        return _parts(self, dim, one_size(given, "split"), BY_LENGTH, "split")

    @flags
    def chunk(self: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
        """A tuple of at most `chunks` views of one size along a dimension; the last may be smaller.

        All have the shape of x except for that size, and its dtype. Raises RuntimeError for fewer than one, or for a
        tensor of no dimensions, IndexError for a dim out of range.

        >>> norch.arange(5).chunk(2)
        (tensor([0, 1, 2]), tensor([3, 4]))
        """
        return _parts(self, dim, one_size(chunks, "chunk"), IN_CHUNKS, "chunk")

    def unbind(self: Tensor, dim: int = 0, *, axis: int | None = None) -> tuple[Tensor, ...]:
        """A tuple of the views that `select` gives for each index of a dimension: [3, 2] gives three of shape [2].

        The dtype stays. Raises IndexError for a dim out of range, or a tensor of no dimensions.

        >>> norch.tensor([[1, 2], [3, 4]]).unbind()
        (tensor([1, 2]), tensor([3, 4]))
        """
        return _parts(self, dim if axis is None else axis, 0, BY_INDEX, "unbind")

    def split_with_sizes(self: Tensor, split_sizes: Sizes, dim: int = 0) -> tuple[Tensor, ...]:
        """The same as `split` with a list of sizes. Raises RuntimeError for a tensor without dimensions, too.

        >>> norch.arange(5).split_with_sizes([2, 3])
        (tensor([0, 1]), tensor([2, 3, 4]))
        """
        if not self.ndim:
            sizes_of((split_sizes,), "split_with_sizes")
            raise RuntimeError("split_with_sizes: expected at least one dimension, got a tensor of none")
        return _parts_of_sizes(self, dim, split_sizes, "split_with_sizes")

    @flags
    def tensor_split(
        self: Tensor,
        indices_or_sections: Sizes | Tensor | None = None,
        dim: int = 0,
        *,
        indices: Sizes | None = None,
        sections: int | None = None,
    ) -> tuple[Tensor, ...]:
        """A tuple of that many views along a dimension, of sizes that differ by at most 1, or views between indices.

        The dtype stays, and the shape except for that size. The indices are those of a slice: (2, 3) gives `:2`,
        `2:3` and `3:`. Raises RuntimeError for fewer than one part, or a tensor of no dimensions, IndexError for a dim
        out of range.

        >>> norch.arange(5).tensor_split(2)
        (tensor([0, 1, 2]), tensor([3, 4]))
        >>> norch.arange(5).tensor_split([1, 4])
        (tensor([0]), tensor([1, 2, 3]), tensor([4]))
        """
        given = indices_or_sections
        if given is None:
            given = sections if indices is None else indices
        if isinstance(given, operation.Tensor):
            if given.dtype is not int64 or given.ndim > 1:
                raise RuntimeError(
                    "tensor_split: expected a scalar or a vector of int64, got "
                    f"shape {list(given.shape)} of {given.dtype}"
                )
            given = given.tolist()
        if not isinstance(given, (list, tuple)):
            return _parts(self, dim, one_size(given, "tensor_split"), IN_SECTIONS, "tensor_split")
        if not self.ndim:
            raise RuntimeError("tensor_split: expected at least one dimension, got a tensor of none")
        inner, axis = sizes_in(given, "tensor_split"), axis_of(self, dim, "tensor_split")
        total = self.shape[axis]
        bounds = [0, *(slice(bound).indices(total)[1] for bound in inner), total]
        sizes = [end - start for start, end in zip(bounds, bounds[1:])]
        if min(sizes) >= 0:
            return _parts(self, axis, len(sizes), BY_SIZES, "tensor_split", addresses(sizes))
        return tuple(self.narrow(axis, start, max(size, 0)) for start, size in zip(bounds, sizes))

    def hsplit(self: Tensor, indices_or_sections: Sizes) -> tuple[Tensor, ...]:
        """Parts along the second dimension, or the only one: equal ones, or those between indices, as `tensor_split`.

        Dtype and other sizes of the shape stay. Raises RuntimeError if the size is not a multiple of their number,
        or for no dimensions.

        >>> norch.arange(4).hsplit(2)
        (tensor([0, 1]), tensor([2, 3]))
        """
        return self._equal_parts(indices_or_sections, 0 if self.ndim == 1 else 1, 1, "hsplit")

    def vsplit(self: Tensor, indices_or_sections: Sizes) -> tuple[Tensor, ...]:
        """Parts along the first of at least two dimensions; otherwise as `hsplit`.

        >>> norch.ones(4, 2).vsplit(2)[0].shape
        norch.Size([2, 2])
        """
        return self._equal_parts(indices_or_sections, 0, 2, "vsplit")

    def dsplit(self: Tensor, indices_or_sections: Sizes) -> tuple[Tensor, ...]:
        """Parts along the third of at least three dimensions; otherwise as `hsplit`.

        >>> norch.ones(1, 2, 4).dsplit(2)[0].shape
        norch.Size([1, 2, 2])
        """
        return self._equal_parts(indices_or_sections, 2, 3, "dsplit")

    def _equal_parts(self: Tensor, given: Sizes, axis: int, rank: int, name: str) -> tuple[Tensor, ...]:
        if self.ndim < rank:
            raise RuntimeError(f"{name}: expected at least {rank} dimensions, got shape {list(self.shape)}")
        if isinstance(given, (list, tuple)):
            return self.tensor_split(given, axis)
        count = one_size(given, name)
        if count < 1 or self.shape[axis] % count:
            raise RuntimeError(
                f"{name}: dimension {axis} of shape {list(self.shape)} does not have {count} equal parts"
            )
        return _parts(self, axis, count, IN_CHUNKS, name)

    unsafe_split = split
    unsafe_chunk = chunk
    unsafe_split_with_sizes = split_with_sizes


def _parts_of_sizes(x: Tensor, dim: int, given: Any, name: str) -> tuple[Tensor, ...]:
    """Views of these sizes, which must add up to that of a dimension."""
    axis = axis_of(x, dim, name)
    try:
        sizes, packed, given_total = _given_sizes(*given)
    except TypeError:  # not Python's own integers
        sizes = sizes_of((given,), name)
        packed, given_total = None, sum(sizes)
    if x.ndim and (given_total != x.shape[axis] or min(sizes, default=0) < 0):
        raise _C.ShapeError(f"split: sizes {sizes} do not add up to {x.shape[axis]}, the size of dimension {axis}")
    return _parts(x, axis, len(sizes), BY_SIZES, name, packed or addresses(sizes))


@functools.lru_cache(256, typed=True)  # True is not 1
def _given_sizes(*sizes: int) -> tuple[list[int], Any, int]:
    """Sizes, the same as C takes them, and their sum. Raises TypeError for others than Python's own small integers."""
    if any(type(size) is not int or not 0 <= size < 2**62 for size in sizes):
        raise TypeError
    return list(sizes), addresses(sizes), sum(sizes)


def _parts(x: Tensor, dim: int, count: int, how: int, name: str, sizes: Any = None) -> tuple[Tensor, ...]:
    """Views of the parts of a dimension, as C splits it."""
    axis = dim if type(dim) is int else axis_of(x, dim, name)
    handles = lib.split_tensor(x._ptr, axis, sizes, count, how)
    if not handles:  # an error, or no parts
        is_empty = how in (BY_SIZES, BY_INDEX) and x.ndim and not x.shape[axis_of(x, axis, name)]
        return () if is_empty else raise_error()
    parts = wrap_views(handles, x, mode.enabled)
    return parts if x._edge is None else with_split(x, axis, parts)
