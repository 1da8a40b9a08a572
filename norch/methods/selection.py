"""Selecting elements by tensors of indices or by masks: gather, scatter, index_select, masked_fill and so on.

Indices are int64 or int32. A name with a trailing underscore writes into the tensor; without, into a copy.
"""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Sequence, overload

from .. import _C, operation
from .._C import lib
from ..arguments import axis_of, broadcast_shapes, one_size
from ..autograd.derivatives.indexing import GatherBackward, MaskedFillBackward, ScatterBackward
from ..autograd.in_place import write
from ..operation import check_tensor, recorded, wrap
from ..packing import counting
from ..types import Operand, bool_, int32, int64
from .advanced_indexing import AtIndices, locate, values_for

if TYPE_CHECKING:
    from ..autograd.function import Function
    from ..forward_declarations import Tensor


class AlongAxis:
    """The places of a tensor that an index tensor names along one axis, at its own position along the others."""

    reads, writes = GatherBackward, ScatterBackward

    def __init__(self, axis: int, index: Tensor, wraps: bool = False) -> None:
        self.axis, self.index, self.tensors = axis, index, [index]
        self._wraps = wraps  # whether negative integers count from the end

    def read(self, x: Tensor) -> int:
        """The address of a new C tensor with the elements."""
        return lib.gather_tensor(x._ptr, self.axis, self.index._ptr, self._wraps)

    def put(self, x: Tensor, values: Tensor, accumulate: bool) -> int:
        """Write values of the index's shape, or add them; return the status."""
        return lib.scatter_into(x._ptr, self.axis, self.index._ptr, self._wraps, values._ptr, accumulate)

    def spread(self, value: Tensor) -> Tensor:
        """One value for all places, in a shape that `put` takes."""
        return value.expand(self.index.shape)


class SelectionMethods:
    """The methods of Tensor that read and write through indices and masks."""

    def _read(self: Tensor, place: AlongAxis | AtIndices) -> Tensor:
        return recorded(wrap(place.read(self)), place.reads, (self,), place)

    def _put_(self: Tensor, place: AlongAxis | AtIndices, values: Tensor, accumulate: bool = False) -> Tensor:
        def backward(x: Tensor, y: Tensor) -> Function:
            return place.writes(x, y, place, accumulate)

        return write(self, backward, (values,), lambda: place.put(self, values, accumulate))

    # ---- Along one dimension, an index for each element ---------------------------------------------------------

    def gather(self: Tensor, dim: int, index: Tensor) -> Tensor:
        """`out[i][j] = self[i][index[i][j]]` for dim=1: the elements that `index` names along `dim`, in its shape.

        The index has as many dimensions as x and is not larger except along `dim`. The dtype is that of x. Raises
        IndexError for an index or a dim out of range, ShapeError for another shape of the index, RuntimeError if it is
        not int64 or int32.

        >>> norch.tensor([[1, 2], [3, 4]]).gather(1, norch.tensor([[1], [0]]))
        tensor([[2],
                [3]])
        """
        return self._read(AlongAxis(one_size(dim, "gather"), _integers(index, "gather")))

    def take_along_dim(self: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
        """As `gather`, but the other dimensions broadcast; without `dim`, from the flattened tensor.

        In the shape of the index and the dtype of x. Raises ShapeError if the two differ in the number of dimensions,
        IndexError for an index out of range.

        >>> x = norch.tensor([[5, 1], [2, 8]])
        >>> x.take_along_dim(x.argsort(1), 1)
        tensor([[1, 5],
                [2, 8]])
        """
        places = _integers(indices, "take_along_dim")
        if dim is None:
            return self.reshape(-1).take_along_dim(places.reshape(-1), 0)
        if places.ndim != self.ndim:
            raise _C.ShapeError(f"take_along_dim: shapes {list(self.shape)} and {list(places.shape)} differ in length")
        axis = axis_of(self, dim, "take_along_dim")
        shape = broadcast_shapes(_with(self.shape, axis, 1), _with(places.shape, axis, 1), name="take_along_dim")
        source = self.expand(_with(shape, axis, self.shape[axis]))
        return source._read(AlongAxis(axis, places.expand(_with(shape, axis, places.shape[axis])), wraps=True))

    def scatter_(
        self: Tensor, dim: int, index: Tensor, src: Tensor | float | None = None, *, value: float | None = None
    ) -> Tensor:
        """`self[i][index[i][j]] = src[i][j]` for dim=1; `src` is a tensor no smaller than `index`, or a number.

        Shape and dtype stay; the index has as many dimensions as x, `src` the same dtype. Raises ShapeError for other
        shapes, IndexError for an index out of range, RuntimeError if it is not int64 or int32.

        >>> norch.zeros(2, 3).scatter_(1, norch.tensor([[2], [0]]), norch.tensor([[5.0], [6.0]]))
        tensor([[0., 0., 5.],
                [6., 0., 0.]])
        """
        return self._put_(*_scattered(self, dim, index, value if src is None else src, "scatter_"))

    def scatter(
        self: Tensor, dim: int, index: Tensor, src: Tensor | float | None = None, *, value: float | None = None
    ) -> Tensor:
        """`scatter_` into a copy.

        >>> norch.zeros(2, 3).scatter(1, norch.tensor([[2], [0]]), norch.tensor([[5.0], [6.0]]))
        tensor([[0., 0., 5.],
                [6., 0., 0.]])
        """
        return self.clone().scatter_(dim, index, src, value=value)

    def scatter_add_(self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
        """`self[i][index[i][j]] += src[i][j]` for dim=1; if places repeat, everything is added.

        Shapes, dtypes and errors as for `scatter_`.

        >>> norch.zeros(3).scatter_add_(0, norch.tensor([0, 0, 2]), norch.tensor([1.0, 2.0, 5.0]))
        tensor([3., 0., 5.])
        """
        check_tensor(src, "scatter_add_")
        return self._put_(*_scattered(self, dim, index, src, "scatter_add_"), accumulate=True)

    def scatter_add(self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
        """`scatter_add_` into a copy.

        >>> norch.zeros(3).scatter_add(0, norch.tensor([0, 0, 2]), norch.tensor([1.0, 2.0, 5.0]))
        tensor([3., 0., 5.])
        """
        return self.clone().scatter_add_(dim, index, src)

    # ---- Along one dimension, whole slices ----------------------------------------------------------------------

    def index_select(self: Tensor, dim: int, index: Tensor) -> Tensor:
        """The slices along `dim` that a vector of indices [n] names, as a copy: `self[:, index]` for dim=1.

        In the shape of x with n in place of that size, and in its dtype. Raises IndexError for an index or a dim out
        of range, RuntimeError if the index is not int64 or int32.

        >>> norch.tensor([[1, 2], [3, 4]]).index_select(1, norch.tensor([1, 1]))
        tensor([[2, 2],
                [4, 4]])
        """
        return self._read(_slices(self, dim, index, "index_select", wraps=False))

    def index_fill_(self: Tensor, dim: int, index: Tensor, value: Operand) -> Tensor:
        """Set the slices along `dim` that a vector of indices [n] names to one number; shape and dtype stay.

        Raises IndexError for an index or a dim out of range.

        >>> norch.zeros(3).index_fill_(0, norch.tensor([0, 2]), 9)
        tensor([9., 0., 9.])
        """
        return self._put_(_slices(self, dim, index, "index_fill_"), _one_value(self, value, "index_fill_"))

    def index_fill(self: Tensor, dim: int, index: Tensor, value: Operand) -> Tensor:
        """`index_fill_` into a copy.

        >>> norch.zeros(3).index_fill(0, norch.tensor([0, 2]), 9)
        tensor([9., 0., 9.])
        """
        return self.clone().index_fill_(dim, index, value)

    def index_add_(self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1) -> Tensor:
        """Add `alpha` times the slices of `source` to the slices along `dim` that a vector of indices names.

        Shape and dtype stay. Raises ShapeError for a source of another shape than the slices that are added to,
        IndexError for an index out of range.

        >>> norch.zeros(3).index_add_(0, norch.tensor([0, 0, 2]), norch.tensor([1.0, 2.0, 5.0]))
        tensor([3., 0., 5.])
        """
        place = _slices(self, dim, index, "index_add_", wraps=False)
        expected = _with(self.shape, axis_of(self, dim, "index_add_"), int(index.numel))
        if list(check_tensor(source, "index_add_").shape) != expected:
            raise _C.ShapeError(f"index_add_: source has shape {list(source.shape)}, expected {expected}")
        return self._put_(place, source if alpha == 1 else source * alpha, accumulate=True)

    def index_add(self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1) -> Tensor:
        """`index_add_` into a copy.

        >>> norch.zeros(3).index_add(0, norch.tensor([0, 0, 2]), norch.tensor([1.0, 2.0, 5.0]))
        tensor([3., 0., 5.])
        """
        return self.clone().index_add_(dim, index, source, alpha=alpha)

    # ---- By several index tensors -------------------------------------------------------------------------------

    def index_put_(self: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: bool = False) -> Tensor:
        """`self[indices] = values`, or += with `accumulate`, which adds every value if places repeat.

        `indices` are tensors of integers or masks; `values` is a tensor of this dtype, and broadcasts to their shape.
        Raises TypeError if `indices` is not a tuple of tensors, RuntimeError for values of another dtype.

        >>> norch.zeros(2, 2).index_put_((norch.tensor([0, 1]), norch.tensor([1, 0])), norch.tensor([5.0, 6.0]))
        tensor([[0., 5.],
                [6., 0.]])
        """
        if not isinstance(indices, (list, tuple)) or not indices:
            raise TypeError(f"index_put_: expected a tuple of index tensors, got {indices!r}")
        view, place = locate(self, tuple(check_tensor(index, "index_put_") for index in indices))
        if check_tensor(values, "index_put_").dtype is not self.dtype:
            raise RuntimeError(f"index_put_: expected values of the tensor's dtype {self.dtype}, got {values.dtype}")
        if place is not None:
            view._put_(place, values_for(self, values, place.ndim(view)), accumulate)
        else:  # integers alone: tensors of no dimensions
            (view.add_ if accumulate else view.copy_)(values_for(self, values, view.ndim))
        return self

    def index_put(self: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: bool = False) -> Tensor:
        """`index_put_` into a copy.

        >>> norch.zeros(2, 2).index_put((norch.tensor([0, 1]), norch.tensor([1, 0])), norch.tensor([5.0, 6.0]))
        tensor([[0., 5.],
                [6., 0.]])
        """
        return self.clone().index_put_(indices, values, accumulate)

    def take(self: Tensor, index: Tensor) -> Tensor:
        """The elements that `index` names in the flattened tensor, in the shape of `index` and the dtype of x.

        Raises IndexError for an index out of range, RuntimeError if it is not int64 or int32.

        >>> norch.tensor([[1, 2], [3, 4]]).take(norch.tensor([3, 0]))
        tensor([4, 1])
        """
        return self.reshape(-1)._read(AtIndices([_integers(index, "take")]))

    # ---- By masks -----------------------------------------------------------------------------------------------

    def masked_fill_(self: Tensor, mask: Tensor, value: Operand) -> Tensor:
        """Set the elements where a bool mask, which broadcasts to this shape, is True to one number; the dtype stays.

        Raises ShapeError if it does not broadcast, RuntimeError for a mask of another dtype.

        >>> norch.tensor([1, 2]).masked_fill_(norch.tensor([True, False]), 9)
        tensor([9, 2])
        """
        _check_mask(mask, "masked_fill_")
        filling = _one_value(self, value, "masked_fill_")

        def backward(x: Tensor, y: Tensor) -> Function:
            return MaskedFillBackward(x, y, mask)

        return write(self, backward, (filling,), lambda: lib.where_into(self._ptr, mask._ptr, filling._ptr, self._ptr))

    def masked_fill(self: Tensor, mask: Tensor, value: Operand) -> Tensor:
        """`masked_fill_` into a copy, which takes the shape that this tensor and the mask broadcast to.

        >>> norch.tensor([1, 2]).masked_fill(norch.tensor([True, False]), 9)
        tensor([9, 2])
        """
        _check_mask(mask, "masked_fill")
        shape = broadcast_shapes(self.shape, mask.shape, name="masked_fill")
        return self.expand(shape).clone().masked_fill_(mask, value)

    def masked_select(self: Tensor, mask: Tensor) -> Tensor:
        """The elements where a bool mask is True, as a vector [n] in row order and of the dtype of x; both broadcast.

        Raises ShapeError if they do not broadcast, RuntimeError for a mask of another dtype.

        >>> x = norch.tensor([1, 2, 3])
        >>> x.masked_select(x > 1)
        tensor([2, 3])
        """
        _check_mask(mask, "masked_select")
        shape = broadcast_shapes(self.shape, mask.shape, name="masked_select")
        return self.expand(shape)[mask.expand(shape)]

    @overload
    def nonzero(self: Tensor, as_tuple: Literal[False] = False) -> Tensor: ...
    @overload
    def nonzero(self: Tensor, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...

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

    # ---- Parts of matrices --------------------------------------------------------------------------------------

    def tril(self: Tensor, diagonal: int = 0) -> Tensor:
        """The lower triangle of matrices [..., m, n]: zeros above the diagonal; the same shape and dtype.

        Raises RuntimeError for fewer than two dimensions.

        >>> norch.ones(2, 2).tril()
        tensor([[1., 0.],
                [1., 1.]])
        """
        return self.clone().tril_(diagonal)

    def tril_(self: Tensor, diagonal: int = 0) -> Tensor:
        """In place: zeros above the diagonal; shape, dtype and errors as for `tril`.

        >>> norch.ones(2, 2).tril_()
        tensor([[1., 0.],
                [1., 1.]])
        """
        rows, columns = _coordinates(self, "tril")
        return self.masked_fill_(columns > rows + diagonal, 0)

    def triu(self: Tensor, diagonal: int = 0) -> Tensor:
        """The upper triangle of matrices [..., m, n]: zeros below the diagonal; the same shape and dtype.

        Raises RuntimeError for fewer than two dimensions.

        >>> norch.ones(2, 2).triu()
        tensor([[1., 1.],
                [0., 1.]])
        """
        return self.clone().triu_(diagonal)

    def triu_(self: Tensor, diagonal: int = 0) -> Tensor:
        """In place: zeros below the diagonal; shape, dtype and errors as for `triu`.

        >>> norch.ones(2, 2).triu_()
        tensor([[1., 1.],
                [0., 1.]])
        """
        rows, columns = _coordinates(self, "triu")
        return self.masked_fill_(columns < rows + diagonal, 0)

    def diag(self: Tensor, diagonal: int = 0) -> Tensor:
        """The diagonal of a matrix as a vector [n], or a matrix [n, n] of zeros with a vector on its diagonal.

        Both are copies of the same dtype. Raises RuntimeError for more than two dimensions.

        >>> norch.tensor([[1, 2], [3, 4]]).diag()
        tensor([1, 4])
        """
        if self.ndim not in (1, 2):
            raise RuntimeError(f"diag: expected a vector or a matrix, got shape {list(self.shape)}")
        down, right = max(-diagonal, 0), max(diagonal, 0)
        if self.ndim == 2:
            length = max(0, min(self.shape[0] - down, self.shape[1] - right))
        else:
            length = self.shape[0]
        places = counting(length, self.device)
        place = AtIndices([places + down, places + right])
        if self.ndim == 2:
            return self._read(place)
        size = length + abs(diagonal)
        return self.new_zeros(size, size)._put_(place, self)


# ---- Arguments --------------------------------------------------------------------------------------------------


def _integers(index: Tensor, name: str) -> Tensor:
    """An index tensor as int64."""
    if check_tensor(index, f"{name}: index").dtype not in (int64, int32):
        raise RuntimeError(f"{name}: expected an index of int64 or int32, got {index.dtype}")
    return index.to(int64)


def _check_mask(mask: Tensor, name: str) -> None:
    if check_tensor(mask, f"{name}: mask").dtype is not bool_:
        raise RuntimeError(f"{name}: expected a mask of bool, got {mask.dtype}")


def _with(shape: Sequence[int], axis: int, size: int) -> list[int]:
    """A shape with another size along one axis."""
    return [size if d == axis else own for d, own in enumerate(shape)]


def _one_value(x: Tensor, value: object, name: str) -> Tensor:
    """A number, or a tensor of one element, as a tensor of no dimensions with x's dtype."""
    if isinstance(value, operation.Tensor) and (value.numel != 1 or value.ndim > 1):
        raise RuntimeError(f"{name}: expected one value, got a tensor of shape {list(value.shape)}")
    return values_for(x, value, 0)


def _slices(x: Tensor, dim: int, index: Tensor, name: str, wraps: bool = True) -> AtIndices:
    """The slices of x along a dimension that a vector of indices names."""
    axis, places = axis_of(x, dim, name), _integers(index, name)
    if places.ndim > 1:
        raise IndexError(f"{name}: expected a vector of indices, got shape {list(places.shape)}")
    return AtIndices([None] * axis + [places.reshape(-1)], wraps=wraps)


def _scattered(x: Tensor, dim: int, index: Tensor, source: Any, name: str) -> tuple[AlongAxis, Tensor]:
    """The places that an index names, and as much of the source as there are places."""
    place = AlongAxis(one_size(dim, name), _integers(index, name))
    if not isinstance(source, operation.Tensor):
        return place, place.spread(_one_value(x, source, name))
    if source.ndim == index.ndim and source.shape != index.shape:
        for axis, size in enumerate(index.shape):
            if size > source.shape[axis]:
                shapes = f"{list(index.shape)} is larger than the source of shape {list(source.shape)}"
                raise _C.ShapeError(f"{name}: index of shape {shapes}")
            source = source.narrow(axis, 0, size)
    return place, source


def _coordinates(x: Tensor, name: str) -> tuple[Tensor, Tensor]:
    """The row [rows, 1] and column [columns] of each element of a matrix."""
    if x.ndim < 2:
        raise RuntimeError(f"{name}: expected at least 2 dimensions, got shape {list(x.shape)}")
    rows, columns = (counting(size, x.device) for size in x.shape[-2:])
    return rows.unsqueeze(1), columns
