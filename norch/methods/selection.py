"""Selecting elements by tensors of indices: gather, scatter, index_select and so on. (Masks are in masking.py.)

Indices are int64 or int32. A name with a trailing underscore writes into the tensor; without, into a copy.
"""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from .. import _C, operation
from .._C import int64_array, lib, number
from ..arguments import axis_of, broadcast_shapes, flags, one_size
from ..autograd.derivatives.indexing import (
    ExtremeBackward,
    GatherBackward,
    IndexFillBackward,
    MultiplyBackward,
    ScatterBackward,
)
from ..autograd.in_place import write
from ..operation import check_tensor, recorded, wrap
from ..types import Operand, bool_, int32, int64
from .advanced_indexing import AtIndices, Combining, locate, values_for

if TYPE_CHECKING:
    from ..autograd.function import Function
    from ..forward_declarations import Tensor


_SCATTERING = {None: Combining.REPLACE, "add": Combining.ADD, "multiply": Combining.MULTIPLY}  # by `reduce`


class AlongAxis:
    """The places of a tensor that an index tensor names along one axis, at its own position along the others."""

    reads, writes = GatherBackward, ScatterBackward

    def __init__(self, axis: int, index: Tensor, wraps: bool = False) -> None:
        self.axis, self.index, self.tensors = axis, index, [index]
        self._wraps = wraps  # whether negative integers count from the end

    def read(self, x: Tensor) -> int:
        """The address of a new C tensor with the elements."""
        return lib.gather_tensor(x._ptr, self.axis, self.index._ptr, self._wraps)

    def write(self, x: Tensor, values: Tensor, how: int) -> int:
        """Write values of the index's shape, or combine them with what is there; return the status."""
        return lib.scatter_into(x._ptr, self.axis, self.index._ptr, self._wraps, values._ptr, how)

    def spread(self, value: Tensor) -> Tensor:
        """One value for all places, in a shape that `write` takes."""
        return value.expand(self.index.shape)

    def filling(self, x: Tensor, value: float) -> Tensor:
        """The same of a number, in the dtype of x."""
        shape, own = self.index.shape, x._struct
        return wrap(lib.full_tensor(int64_array(shape), len(shape), own.dtype, own.device, number(value)._ptr))


class SelectionMethods:
    """The methods of Tensor that read and write through indices."""

    def _read(self: Tensor, place: AlongAxis | AtIndices) -> Tensor:
        return recorded(wrap(place.read(self)), place.reads, (self,), place)

    def _put_(self: Tensor, place: AlongAxis | AtIndices, values: Tensor, how: int = Combining.REPLACE) -> Tensor:
        """Write values to places, or combine them with what is there."""

        def backward(x: Tensor, y: Tensor) -> Function:
            if how in (Combining.REPLACE, Combining.ADD):
                return place.writes(x, y, place, how)
            return (MultiplyBackward if how == Combining.MULTIPLY else ExtremeBackward)(x, y, place, how)

        return write(self, backward, (values,), lambda: place.write(self, values, how))

    # ---- Along one dimension, an index for each element ---------------------------------------------------------

    @flags
    def gather(self: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
        """`out[i][j] = self[i][index[i][j]]` for dim=1: the elements that `index` names along `dim`, in its shape.

        The index has as many dimensions as x and is not larger except along `dim`. The dtype is that of x;
        `sparse_grad` is accepted, and the gradient is dense. Raises RuntimeError for an index out of range or of
        a dtype but int64 or int32, ShapeError for another shape of it, IndexError for a dim out of range.

        >>> norch.tensor([[1, 2], [3, 4]]).gather(1, norch.tensor([[1], [0]]))
        tensor([[2],
                [3]])
        """
        return self._read(AlongAxis(one_size(dim, "gather"), integers(index, "gather")))

    def take_along_dim(self: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
        """As `gather`, but the other dimensions broadcast; without `dim`, from the flattened tensor.

        In the shape of the index and the dtype of x. Raises ShapeError if the two differ in the number of dimensions,
        RuntimeError for an index out of range.

        >>> x = norch.tensor([[5, 1], [2, 8]])
        >>> x.take_along_dim(x.argsort(1), 1)
        tensor([[1, 5],
                [2, 8]])
        """
        places = integers(indices, "take_along_dim")
        if dim is None:
            return self.reshape(-1).take_along_dim(places.reshape(-1), 0)
        if places.ndim != self.ndim:
            raise _C.ShapeError(f"take_along_dim: shapes {list(self.shape)} and {list(places.shape)} differ in length")
        axis = axis_of(self, dim, "take_along_dim")
        own, given = list(self.shape), list(places.shape)
        own[axis] = given[axis]
        if own == given:
            return self._read(AlongAxis(axis, places, wraps=True))
        shape = broadcast_shapes(
            with_size(self.shape, axis, 1), with_size(places.shape, axis, 1), name="take_along_dim"
        )
        source = self.expand(with_size(shape, axis, self.shape[axis]))
        return source._read(AlongAxis(axis, places.expand(with_size(shape, axis, places.shape[axis])), wraps=True))

    def scatter_(
        self: Tensor,
        dim: int,
        index: Tensor,
        src: Tensor | float | None = None,
        *,
        value: float | None = None,
        reduce: str | None = None,
    ) -> Tensor:
        """`self[i][index[i][j]] = src[i][j]` for dim=1; `src` is a tensor no smaller than `index`, or a number.

        Shape and dtype stay; the index has as many dimensions as x, `src` the same dtype. `reduce` is None, "add" or
        "multiply". Raises ShapeError for other shapes, RuntimeError for an index out of range or of a dtype but int64
        or int32.

        >>> norch.zeros(2, 3).scatter_(1, norch.tensor([[2], [0]]), norch.tensor([[5.0], [6.0]]))
        tensor([[0., 0., 5.],
                [6., 0., 0.]])
        """
        if reduce not in _SCATTERING:
            raise RuntimeError(f"scatter_: expected a reduce of None, 'add' or 'multiply', got {reduce!r}")
        place, values = scattered(self, dim, index, value if src is None else src, "scatter_")
        return self._put_(place, values, _SCATTERING[reduce])

    def scatter(
        self: Tensor,
        dim: int,
        index: Tensor,
        src: Tensor | float | None = None,
        *,
        value: float | None = None,
        reduce: str | None = None,
    ) -> Tensor:
        """`scatter_` into a copy.

        >>> norch.zeros(2, 3).scatter(1, norch.tensor([[2], [0]]), norch.tensor([[5.0], [6.0]]))
        tensor([[0., 0., 5.],
                [6., 0., 0.]])
        """
        return self.clone().scatter_(dim, index, src, value=value, reduce=reduce)

    def scatter_add_(self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
        """`self[i][index[i][j]] += src[i][j]` for dim=1; if places repeat, everything is added.

        Shapes, dtypes and errors as for `scatter_`.

        >>> norch.zeros(3).scatter_add_(0, norch.tensor([0, 0, 2]), norch.tensor([1.0, 2.0, 5.0]))
        tensor([3., 0., 5.])
        """
        check_tensor(src, "scatter_add_")
        return self._put_(*scattered(self, dim, index, src, "scatter_add_"), Combining.ADD)

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
        of range, RuntimeError if the index is not int64 or int32, or names several places of a tensor of no dimensions.

        >>> norch.tensor([[1, 2], [3, 4]]).index_select(1, norch.tensor([1, 1]))
        tensor([[2, 2],
                [4, 4]])
        """
        place = slices(self, dim, index, "index_select", wraps=False)
        if self.ndim:
            return self._read(place)
        if index.numel != 1:
            raise RuntimeError(f"index_select: a tensor of no dimensions has one place, got {index.numel} indices")
        return with_axis(self)._read(place).reshape(())

    def index_fill_(self: Tensor, dim: int, index: Tensor, value: Operand) -> Tensor:
        """Set the slices along `dim` that a vector of indices [n] names to one number; shape and dtype stay.

        Raises IndexError for an index or a dim out of range.

        >>> norch.zeros(3).index_fill_(0, norch.tensor([0, 2]), 9)
        tensor([9., 0., 9.])
        """
        place, filling = slices(self, dim, index, "index_fill_"), one_value(self, value, "index_fill_")
        target = with_axis(self)

        def backward(x: Tensor, y: Tensor) -> Function:
            return IndexFillBackward(x, y, place)

        write(target, backward, (filling,), lambda: place.write(target, filling, Combining.REPLACE))
        return self

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
        place, values = (
            slices(self, dim, index, "index_add_", wraps=False),
            sources(self, dim, index, source, "index_add_"),
        )
        with_axis(self)._put_(place, scaled(values, alpha, "index_add_"), Combining.ADD)
        return self

    def index_add(self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1) -> Tensor:
        """`index_add_` into a copy.

        >>> norch.zeros(3).index_add(0, norch.tensor([0, 0, 2]), norch.tensor([1.0, 2.0, 5.0]))
        tensor([3., 0., 5.])
        """
        return self.clone().index_add_(dim, index, source, alpha=alpha)

    # ---- By several index tensors -------------------------------------------------------------------------------

    @flags
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

    @flags
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
        return self.reshape(-1)._read(AtIndices([integers(index, "take")]))


# ---- Arguments --------------------------------------------------------------------------------------------------


def with_axis(x: Tensor) -> Tensor:
    """A tensor of no dimensions as a view of one; others as they are."""
    return x if x.ndim else x.unsqueeze(0)


def integers(index: Tensor, name: str) -> Tensor:
    """An index tensor as int64; one without elements may be of any dtype."""
    kind = check_tensor(index, f"{name}: index").dtype
    if kind is int64:
        return index
    if kind is not int32 and index.numel:
        raise RuntimeError(f"{name}: expected an index of int64 or int32, got {kind}")
    return index.to(int64)


def check_mask(mask: Tensor, name: str) -> None:
    if check_tensor(mask, f"{name}: mask").dtype is not bool_:
        raise RuntimeError(f"{name}: expected a mask of bool, got {mask.dtype}")


def scaled(values: Tensor, alpha: float, name: str) -> Tensor:
    """alpha times values, in their dtype."""
    if isinstance(alpha, float) and not values.is_floating_point():
        raise RuntimeError(f"{name}: for integers alpha must be an integer, got {alpha}")
    return values if alpha == 1 else values * values.new_full((), alpha, type(alpha)).to(values.dtype)


def with_size(shape: Sequence[int], axis: int, size: int) -> list[int]:
    """A shape with another size along one axis."""
    return [size if d == axis else own for d, own in enumerate(shape)]


def one_value(x: Tensor, value: object, name: str) -> Tensor:
    """A number, or a tensor of no dimensions, as a tensor of no dimensions with x's dtype."""
    if isinstance(value, operation.Tensor) and value.ndim > 0:
        raise RuntimeError(f"{name}: expected one value, got a tensor of shape {list(value.shape)}")
    return values_for(x, value, 0)


def slices(x: Tensor, dim: int, index: Tensor, name: str, wraps: bool = True) -> AtIndices:
    """The slices of x along a dimension that a vector of indices names."""
    axis, places = axis_of(x, dim, name), integers(index, name)
    rank = places.ndim
    if rank > 1:
        raise IndexError(f"{name}: expected a vector of indices, got shape {list(places.shape)}")
    return AtIndices([None] * axis + [places if rank else places.reshape(1)], wraps=wraps)


def scattered(x: Tensor, dim: int, index: Tensor, source: Any, name: str) -> tuple[AlongAxis, Tensor]:
    """The places that an index names, and as much of the source as there are places."""
    place = AlongAxis(one_size(dim, name), integers(index, name))
    if not isinstance(source, operation.Tensor):
        return place, place.spread(one_value(x, source, name))
    if source.ndim == index.ndim and source.shape != index.shape:
        for axis, size in enumerate(index.shape):
            if size > source.shape[axis]:
                shapes = f"{list(index.shape)} is larger than the source of shape {list(source.shape)}"
                raise _C.ShapeError(f"{name}: index of shape {shapes}")
            source = source.narrow(axis, 0, size)
    return place, source


def sources(x: Tensor, dim: int, index: Tensor, source: Tensor, name: str) -> Tensor:
    """The source of an operation on slices, which has the shape and dtype of the slices that an index names."""
    axis, expected = axis_of(x, dim, name), list(x.shape) or [1]
    source = with_axis(check_tensor(source, name))
    expected[axis] = index._struct.size
    if list(source.shape) != expected:
        raise _C.ShapeError(f"{name}: source has shape {list(source.shape)}, expected {expected}")
    if source.dtype is not x.dtype:
        raise RuntimeError(f"{name}: expected a source of the tensor's dtype {x.dtype}, got {source.dtype}")
    return source
