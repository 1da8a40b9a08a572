"""Elements by masks, and parts of matrices: masked_fill, nonzero, tril and so on.

A name with a trailing underscore writes into the tensor; without, into a copy.
"""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from .._C import int64_array, lib, number
from ..arguments import broadcast_shapes, flags, one_size, whole
from ..autograd.derivatives.indexing import MaskedFillBackward, TriangleBackward
from ..autograd.in_place import after_write, write
from ..functions.promotion import fitting
from ..operation import recorded, wrap
from ..types import Operand, bool_
from .places import MASK, is_recorded, read_by
from .selection import check_mask, one_value

if TYPE_CHECKING:
    from ..autograd.node import Node
    from ..forward_declarations import Tensor


class MaskingMethods:
    """The methods of Tensor that read and write through masks, and those of triangles and diagonals."""

    # ---- By masks -----------------------------------------------------------------------------------------------

    def masked_fill_(self: Tensor, mask: Tensor, value: Operand) -> Tensor:
        """Set the elements where a bool mask, which broadcasts to this shape, is True to one number; the dtype stays.

        Raises ShapeError if it does not broadcast, RuntimeError for a mask of another dtype.

        >>> norch.tensor([1, 2]).masked_fill_(norch.tensor([True, False]), 9)
        tensor([9, 2])
        """
        check_mask(mask, "masked_fill_")
        filling = _filling(self, value, "masked_fill_")
        if not is_recorded(self, filling):
            return after_write(self, lib.where_into(self._ptr, mask._ptr, filling._ptr, self._ptr))

        def backward(x: Tensor, y: Tensor) -> Node:
            return MaskedFillBackward(x, y, mask)

        return write(self, backward, (filling,), lib.where_into, self._ptr, mask._ptr, filling._ptr, self._ptr)

    def masked_fill(self: Tensor, mask: Tensor, value: Operand) -> Tensor:
        """`masked_fill_` into a copy, which takes the shape that this tensor and the mask broadcast to.

        >>> norch.tensor([1, 2]).masked_fill(norch.tensor([True, False]), 9)
        tensor([9, 2])
        """
        check_mask(mask, "masked_fill")
        x = self
        if mask.shape != self.shape:
            x = self.expand(broadcast_shapes(self.shape, mask.shape, name="masked_fill"))
        filling = _filling(x, value, "masked_fill")
        result = wrap(lib.where_tensor(mask._ptr, filling._ptr, x._ptr))
        if not lib.is_in_row_order(result._ptr):  # as in PyTorch, whose programs view the masked scores
            result = result.contiguous()
        return recorded(result, MaskedFillBackward, (x, filling), mask)

    def masked_select(self: Tensor, mask: Tensor) -> Tensor:
        """The elements where a bool mask is True, as a vector [n] in row order and of the dtype of x; both broadcast.

        Raises ShapeError if they do not broadcast, RuntimeError for a mask of another dtype.

        >>> x = norch.tensor([1, 2, 3])
        >>> x.masked_select(x > 1)
        tensor([2, 3])
        """
        check_mask(mask, "masked_select")
        if mask.shape == self.shape and self.ndim:
            return read_by(self, mask, 0, MASK)
        shape = broadcast_shapes(self.shape, mask.shape, name="masked_select") or [1]
        return read_by(self.expand(shape), mask.expand(shape), 0, MASK)

    @overload
    def nonzero(self: Tensor, as_tuple: Literal[False] = False) -> Tensor: ...
    @overload
    def nonzero(self: Tensor, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...

    @flags
    def nonzero(self: Tensor, as_tuple: bool = False) -> Tensor | tuple[Tensor, ...]:
        """The index of each element that is not zero, in row order: int64 [count, ndim].

        With `as_tuple` a vector for each dimension, with which a tensor can be indexed.

        >>> norch.tensor([[0, 2], [3, 0]]).nonzero()
        tensor([[0, 1],
                [1, 0]])
        """
        source = self.reshape(1) if as_tuple and self.ndim == 0 else self
        places = wrap(lib.nonzero_tensor(source._ptr))
        return tuple(places.select(1, d) for d in range(source.ndim)) if as_tuple else places

    def nonzero_static(self: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
        """The first `size` rows of `nonzero`, and rows of `fill_value` after them: int64 [size, ndim].

        Raises RuntimeError for a negative size.

        >>> norch.tensor([0, 2, 3]).nonzero_static(size=3)
        tensor([[ 1],
                [ 2],
                [-1]])
        """
        if one_size(size, "nonzero_static") < 0:
            raise RuntimeError(f"nonzero_static: expected a size that is not negative, got {size}")
        found = self.nonzero()
        result = found.new_full((size, self.ndim), fill_value)
        count = min(size, found.shape[0])
        result.narrow(0, 0, count).copy_(found.narrow(0, 0, count))
        return result

    def argwhere(self: Tensor) -> Tensor:
        """The index of each element that is not zero, in row order: int64 [count, ndim]; the same as `nonzero`.

        >>> norch.tensor([0, 2, 3]).argwhere()
        tensor([[1],
                [2]])
        """
        return self.nonzero()

    # ---- Parts of matrices --------------------------------------------------------------------------------------

    def tril(self: Tensor, diagonal: int = 0) -> Tensor:
        """The lower triangle of matrices [..., m, n]: zeros above the diagonal; the same shape and dtype.

        Raises RuntimeError for fewer than two dimensions.

        >>> norch.ones(2, 2).tril()
        tensor([[1., 0.],
                [1., 1.]])
        """
        return _triangle(self, whole(diagonal, "tril"), False)

    def tril_(self: Tensor, diagonal: int = 0) -> Tensor:
        """In place: zeros above the diagonal; shape, dtype and errors as for `tril`.

        >>> norch.ones(2, 2).tril_()
        tensor([[1., 0.],
                [1., 1.]])
        """
        return _triangle_(self, whole(diagonal, "tril_"), False)

    def triu(self: Tensor, diagonal: int = 0) -> Tensor:
        """The upper triangle of matrices [..., m, n]: zeros below the diagonal; the same shape and dtype.

        Raises RuntimeError for fewer than two dimensions.

        >>> norch.ones(2, 2).triu()
        tensor([[1., 1.],
                [0., 1.]])
        """
        return _triangle(self, whole(diagonal, "triu"), True)

    def triu_(self: Tensor, diagonal: int = 0) -> Tensor:
        """In place: zeros below the diagonal; shape, dtype and errors as for `triu`.

        >>> norch.ones(2, 2).triu_()
        tensor([[1., 1.],
                [0., 1.]])
        """
        return _triangle_(self, whole(diagonal, "triu_"), True)

    def diag(self: Tensor, diagonal: int = 0) -> Tensor:
        """The diagonal of a matrix as a vector [n], or a matrix [n, n] of zeros with a vector on its diagonal.

        Both are copies of the same dtype. Raises RuntimeError for more than two dimensions.

        >>> norch.tensor([[1, 2], [3, 4]]).diag()
        tensor([1, 4])
        """
        rank = self.ndim
        if rank not in (1, 2):
            raise RuntimeError(f"diag: expected a vector or a matrix, got shape {list(self.shape)}")
        if rank == 1:
            return self._diag_embed(diagonal, 0, 1)
        if self._edge is not None:
            return self.diagonal(diagonal).clone()
        view = lib.diagonal_tensor(self._ptr, int64_array((whole(diagonal, "diag"), 0, 1)))
        return wrap(view and lib.clone_tensor(view))


def _filling(x: Tensor, value: Operand, name: str) -> Any:
    """What masked_fill writes: a number as it is if x's dtype can be that of the result, else as a tensor."""
    if isinstance(value, (int, float)) and x.is_floating_point():
        return number(value if abs(value) <= 65504 else fitting(value, x.dtype, name))
    if type(value) is (bool if x.dtype is bool_ else int) and 0 <= value <= 127:  # which every other dtype holds
        return number(value)
    return one_value(x, value, name)


def _triangle(x: Tensor, diagonal: int, upper: bool) -> Tensor:
    result: Tensor = wrap(lib.triangle_tensor(x._ptr, diagonal, upper))
    return result if x._edge is None else recorded(result, TriangleBackward, (x,), diagonal, upper)


def _triangle_(x: Tensor, diagonal: int, upper: bool) -> Tensor:
    def backward(x: Tensor) -> Node:
        return TriangleBackward(x, diagonal, upper)

    return write(x, backward, (), lib.triangle_into, x._ptr, x._ptr, diagonal, upper)
