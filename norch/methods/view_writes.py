"""Copies of a tensor in which the part that a view shows is another tensor: views, written to out of place."""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Callable, Sequence

from .._C import ShapeError, lib
from ..arguments import axis_of, flags, one_size, packed, sizes_of
from ..autograd.derivatives.views import DiagEmbedBackward, ReplacedBackward, TraceBackward
from ..autograd.mode import no_grad
from ..operation import check_tensor, own, recorded, wrap
from ..types import contiguous_format
from .views import sliced

if TYPE_CHECKING:
    from ..forward_declarations import Tensor


class ViewWriteMethods:
    """The methods of Tensor that replace a part of it in a copy, or sum or place a part of it."""

    def diagonal_scatter(self: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
        """A copy whose diagonals, as `diagonal` shows them, are `src`; of the same shape and dtype.

        Raises ShapeError if `src` does not have their shape; other errors as for `diagonal`.

        >>> norch.zeros(2, 2).diagonal_scatter(norch.tensor([1.0, 2.0]))
        tensor([[1., 0.],
                [0., 2.]])
        """
        return _replaced(self, src, lambda x: x.diagonal(offset, dim1, dim2), "diagonal_scatter")

    @flags
    def select_scatter(self: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
        """A copy in which one index of a dimension is `src`; of the same shape and dtype.

        Raises ShapeError if `src` does not have the shape of `select(dim, index)`; IndexError for one out of range.

        >>> norch.zeros(2, 2).select_scatter(norch.tensor([1.0, 2.0]), 0, 1)
        tensor([[0., 0.],
                [1., 2.]])
        """
        return _replaced(self, src, lambda x: x.select(dim, index), "select_scatter")

    @flags
    def slice_scatter(
        self: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
    ) -> Tensor:
        """A copy in which the slice start:end:step of a dimension is `src`; of the same shape and dtype.

        Raises ShapeError if `src` does not have the shape of the slice, IndexError for a dim out of range.

        >>> norch.zeros(4).slice_scatter(norch.ones(2), 0, 1, 3)
        tensor([0., 1., 1., 0.])
        """
        axis, step = axis_of(self, dim, "slice_scatter"), one_size(step, "slice_scatter: step")
        return _replaced(self, src, lambda x: sliced(x, axis, slice(start, end, step)), "slice_scatter")

    def as_strided_scatter(
        self: Tensor, src: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
    ) -> Tensor:
        """A copy in which the elements that `as_strided` shows are `src`; of the same shape and dtype.

        Raises ShapeError if `src` does not have that shape; other errors as for `as_strided`.

        >>> norch.zeros(4).as_strided_scatter(norch.ones(2), [2], [2])
        tensor([1., 0., 1., 0.])
        """
        form = self.shape, self.stride(), lib.offset_of(self._ptr)
        reach = form[2] + 1 + sum((size - 1) * step for size, step in zip(form[0], form[1]))
        if 0 in form[0] or 0 in form[1]:
            return _with_part(
                self.clone(), src, lambda x: x.as_strided(size, stride, storage_offset), "as_strided_scatter"
            )
        memory = self._placed([reach], lambda memory: memory.as_strided(*form))  # a copy at the same place of memory
        offset = form[2] if storage_offset is None else storage_offset
        memory = _with_part(memory, src, lambda x: x.as_strided(size, stride, offset), "as_strided_scatter")
        return own(memory.as_strided(*form))

    @flags
    def narrow_copy(self: Tensor, dim: int, start: int, length: int) -> Tensor:
        """A copy of `length` indices of a dimension from `start` on; dtypes as for `narrow`.

        Raises RuntimeError for a dim or a length that is too large, IndexError for another dim or start out of range.

        >>> norch.arange(5).narrow_copy(0, 1, 3)
        tensor([1, 2, 3])
        """
        if dim >= self.ndim:
            raise RuntimeError(f"narrow_copy: dim {dim} is out of range for shape {list(self.shape)}")
        return self.narrow(dim, start, length).clone(memory_format=contiguous_format)

    @flags
    def fill_diagonal_(self: Tensor, fill_value: float, wrap: bool = False) -> Tensor:
        """In place: one number on the diagonal [0, 0, ...], [1, 1, ...]; shape and dtype stay.

        With `wrap` the diagonal of a tall matrix begins again below. Raises RuntimeError for fewer than two dimensions,
        or for more, of several sizes.

        >>> norch.zeros(2, 2).fill_diagonal_(5)
        tensor([[5., 0.],
                [0., 5.]])
        """
        if self.ndim < 2 or (self.ndim > 2 and len(set(self.shape)) > 1):
            raise RuntimeError(f"fill_diagonal_: expected a matrix, or several equal sizes, got {list(self.shape)}")
        if self.ndim == 2:
            self.diagonal().fill_(fill_value)
        else:
            step, start = sum(self.stride()), lib.offset_of(self._ptr)
            self.as_strided((min(self.shape),), (step,), start).fill_(fill_value)
        rows, columns = self.shape[:2]
        if wrap and self.ndim == 2 and rows > columns + 1:
            self[columns + 1 :].fill_diagonal_(fill_value, wrap=True)
        return self

    # ---- Parts placed among zeros, and sums of parts

    def diag_embed(self: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
        """Zeros with the vectors along the last dimension on the diagonals of matrices in dim1 and dim2.

        [..., n] gives [..., m, m] with m = n + |offset|, of the same dtype. Raises RuntimeError if the dims are the
        same, IndexError for one out of range.

        >>> norch.tensor([1, 2]).diag_embed()
        tensor([[1, 0],
                [0, 2]])
        """
        rank = self.ndim + 1
        for axis in sizes_of((dim1, dim2), "diag_embed"):
            if not -rank <= axis < rank:
                raise IndexError(f"diag_embed: dim {axis} is out of range [{-rank}, {rank - 1}]")
        rows, columns = dim1 % rank, dim2 % rank
        if rows == columns:
            raise RuntimeError(f"diag_embed: dimensions {dim1} and {dim2} are the same")
        if self.ndim == 0:
            raise RuntimeError("diag_embed: expected at least one dimension, got a tensor of none")
        return self._diag_embed(offset, rows, columns)

    def _diag_embed(self: Tensor, *place: int) -> Tensor:
        """The same, for an offset and dimensions that are checked."""
        ptr = lib.diag_embed_tensor(self._ptr, packed(place, "diag_embed")[0])
        return recorded(wrap(ptr), DiagEmbedBackward, (self,), *place)

    def diagflat(self: Tensor, offset: int = 0) -> Tensor:
        """A matrix [n, n] of zeros with all n elements, in row order, on a diagonal; of the same dtype.

        >>> norch.tensor([1, 2]).diagflat(1)
        tensor([[0, 1, 0],
                [0, 0, 2],
                [0, 0, 0]])
        """
        return self.reshape(-1).diag_embed(offset)

    def trace(self: Tensor) -> Tensor:
        """The sum of the diagonal of a matrix [n, m]; integers give int64.

        Raises RuntimeError for anything but a matrix.

        >>> norch.tensor([[1, 2], [3, 4]]).trace()
        tensor(5)
        """
        if self.ndim != 2:
            raise RuntimeError(f"trace: expected a matrix, got shape {list(self.shape)}")
        return recorded(wrap(lib.trace_tensor(self._ptr)), TraceBackward, (self,))

    def sum_to_size(self: Tensor, *size: int | Sequence[int]) -> Tensor:
        """The sum to a shape that broadcasts to this one: over leading dimensions, and those that have size 1 there.

        Of the dtype of `sum`. Raises ShapeError for a shape that does not broadcast to this one.

        >>> norch.ones(2, 3).sum_to_size(1, 3)
        tensor([[2., 2., 2.]])
        """
        shape = sizes_of(size, "sum_to_size")
        found = _axes_between(self.shape, *shape)
        if found is None:
            raise ShapeError(f"sum_to_size: shape {shape} does not broadcast to {list(self.shape)}")
        if not shape:
            return self.sum()
        leading, kept = found
        if leading and kept:
            return self.sum((*leading, *kept), keepdim=True).reshape(shape)
        return self.sum(leading) if leading else self.sum(kept, keepdim=True) if kept else self


@functools.lru_cache(256)
def _axes_between(shape: tuple[int, ...], *smaller: int) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The axes that a smaller shape lacks, and those of size 1 there alone; None if it does not broadcast."""
    extra = len(shape) - len(smaller)
    if extra < 0 or any(new not in (1, old) for new, old in zip(smaller, shape[extra:])):
        return None
    kept = tuple(axis for axis, size in enumerate(smaller, extra) if size == 1 and shape[axis] != 1)
    return tuple(range(extra)), kept


def _replaced(x: Tensor, src: Tensor, view: Callable[[Tensor], Tensor], name: str) -> Tensor:
    """A copy of x in which what `view` shows is `src`: one node, as nobody saw the copy before."""
    with no_grad():
        copy = _with_part(x.clone(), src, view, name)
    return recorded(copy, ReplacedBackward, (x, src), view)


def _with_part(copy: Tensor, src: Tensor, view: Callable[[Tensor], Tensor], name: str) -> Tensor:
    part = view(copy)
    if check_tensor(src, name).shape != part.shape:
        raise ShapeError(f"{name}: expected src of shape {list(part.shape)}, got {list(src.shape)}")
    part.copy_(src)
    return copy
