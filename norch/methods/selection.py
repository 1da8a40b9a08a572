"""Selecting elements by tensors of indices: gather, scatter, index_select and so on. (Masks are in masking.py.)

Indices are int64 or int32. A name with a trailing underscore writes into the tensor; without, into a copy.
"""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from .. import _C, operation
from .._C import number
from ..arguments import axis_of, broadcast_shapes, flags, one_size
from ..autograd.derivatives.indexing import IndexFillBackward
from ..autograd.in_place import write
from ..functions.promotion import fitting, promote_types
from ..operation import check_operand, check_tensor, own
from ..types import Operand, bool_, int32, int64, shown
from .advanced_indexing import locate, values_for
from .places import (
    ADD,
    ELEMENTS,
    FLAT,
    SLICES,
    VECTOR,
    WRAPS,
    AtIndices,
    Combining,
    Places,
    is_recorded,
    put,
    put_,
    put_by,
    read,
    read_by,
)

if TYPE_CHECKING:
    from ..autograd.node import Node
    from ..forward_declarations import Tensor


_SCATTERING = {None: Combining.REPLACE, "add": Combining.ADD, "multiply": Combining.MULTIPLY}  # by `reduce`


class SelectionMethods:
    """The methods of Tensor that read and write through indices."""

    _read = read
    _put = put
    _put_ = put_

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
        return read_by(self, check_tensor(index, "gather: index"), one_size(dim, "gather"), ELEMENTS)

    @flags
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
            return read_by(self, places, axis, ELEMENTS | WRAPS)
        shape = broadcast_shapes(
            with_size(self.shape, axis, 1), with_size(places.shape, axis, 1), name="take_along_dim"
        )
        source = self.expand(with_size(shape, axis, self.shape[axis]))
        return read_by(source, places.expand(with_size(shape, axis, places.shape[axis])), axis, ELEMENTS | WRAPS)

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
        return _scattered(self, dim, index, value if src is None else src, reduce, "scatter_", True)

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
        return _scattered(self, dim, index, value if src is None else src, reduce, "scatter", False)

    def scatter_add_(self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
        """`self[i][index[i][j]] += src[i][j]` for dim=1; if places repeat, everything is added.

        Shapes, dtypes and errors as for `scatter_`.

        >>> norch.zeros(3).scatter_add_(0, norch.tensor([0, 0, 2]), norch.tensor([1.0, 2.0, 5.0]))
        tensor([3., 0., 5.])
        """
        return _scattered(self, dim, index, check_tensor(src, "scatter_add_"), "add", "scatter_add_", True)

    def scatter_add(self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
        """`scatter_add_` into a copy.

        >>> norch.zeros(3).scatter_add(0, norch.tensor([0, 0, 2]), norch.tensor([1.0, 2.0, 5.0]))
        tensor([3., 0., 5.])
        """
        return _scattered(self, dim, index, check_tensor(src, "scatter_add"), "add", "scatter_add", False)

    # ---- Along one dimension, whole slices ----------------------------------------------------------------------

    def index_select(self: Tensor, dim: int, index: Tensor) -> Tensor:
        """The slices along `dim` that a vector of indices [n] names, as a copy: `self[:, index]` for dim=1.

        In the shape of x with n in place of that size, and in its dtype. Raises IndexError for an index or a dim out
        of range, RuntimeError if the index is not int64 or int32, or names several places of a tensor of no dimensions.

        >>> norch.tensor([[1, 2], [3, 4]]).index_select(1, norch.tensor([1, 1]))
        tensor([[2, 2],
                [4, 4]])
        """
        places = check_tensor(index, "index_select: index")
        if self.ndim:
            return read_by(self, places, one_size(dim, "index_select"), SLICES | VECTOR)
        axis = axis_of(self, dim, "index_select")
        if index.numel != 1:
            raise RuntimeError(f"index_select: a tensor of no dimensions has one place, got {index.numel} indices")
        return with_axis(self).index_select(axis, index).squeeze(0).clone()

    def index_fill_(self: Tensor, dim: int, index: Tensor, value: Operand) -> Tensor:
        """Set the slices along `dim` that a vector of indices [n] names to one number; shape and dtype stay.

        Raises IndexError for an index or a dim out of range.

        >>> norch.zeros(3).index_fill_(0, norch.tensor([0, 2]), 9)
        tensor([9., 0., 9.])
        """
        place, filling = _filled(self, dim, index, value, "index_fill_")
        target = with_axis(self)

        def backward(x: Tensor, y: Tensor) -> Node:
            return IndexFillBackward(x, y, place)

        write(target, backward, (filling,), place.write, target, filling, Combining.REPLACE)
        return self

    def index_fill(self: Tensor, dim: int, index: Tensor, value: Operand) -> Tensor:
        """`index_fill_` into a copy.

        >>> norch.zeros(3).index_fill(0, norch.tensor([0, 2]), 9)
        tensor([9., 0., 9.])
        """
        place, filling = _filled(self, dim, index, value, "index_fill")
        if is_recorded(self, filling):
            return self.clone().index_fill_(dim, index, value)
        return put(self, place, filling)

    def index_add_(self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1) -> Tensor:
        """Add `alpha` times the slices of `source` to the slices along `dim` that a vector of indices names.

        Shape and dtype stay. Raises ShapeError for a source of another shape than the slices that are added to,
        RuntimeError for one of another dtype, IndexError for an index out of range.

        >>> norch.zeros(3).index_add_(0, norch.tensor([0, 0, 2]), norch.tensor([1.0, 2.0, 5.0]))
        tensor([3., 0., 5.])
        """
        of_slices(self, dim, index, scaled(source, alpha, "index_add_"), ADD, "index_add_", True)
        return self

    def index_add(self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1) -> Tensor:
        """`index_add_` into a copy.

        >>> norch.zeros(3).index_add(0, norch.tensor([0, 0, 2]), norch.tensor([1.0, 2.0, 5.0]))
        tensor([3., 0., 5.])
        """
        return of_slices(self, dim, index, scaled(source, alpha, "index_add"), ADD, "index_add", False)

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
        view, place, fitting = _placed(self, indices, values, "index_put_")
        if place is not None:
            put_(view, place, fitting, accumulate)
        else:  # integers alone: tensors of no dimensions
            (view.add_ if accumulate else view.copy_)(fitting)
        return self

    @flags
    def index_put(self: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: bool = False) -> Tensor:
        """`index_put_` into a copy.

        >>> norch.zeros(2, 2).index_put((norch.tensor([0, 1]), norch.tensor([1, 0])), norch.tensor([5.0, 6.0]))
        tensor([[0., 5.],
                [6., 0.]])
        """
        view, place, fitting = _placed(self, indices, values, "index_put")
        if place is None or view is not self:
            return self.clone().index_put_(indices, values, accumulate)
        return put(self, place, fitting, accumulate)

    def take(self: Tensor, index: Tensor) -> Tensor:
        """The elements that `index` names in the flattened tensor, in the shape of `index` and the dtype of x.

        Raises IndexError for an index out of range, RuntimeError if it is not int64 or int32.

        >>> norch.tensor([[1, 2], [3, 4]]).take(norch.tensor([3, 0]))
        tensor([4, 1])
        """
        return read_by(self, check_tensor(index, "take: index"), 0, FLAT | WRAPS)


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
    return values if alpha == 1 else (values * fitting(alpha, values.dtype, name)).to(values.dtype)


def with_size(shape: Sequence[int], axis: int, size: int) -> list[int]:
    """A shape with another size along one axis."""
    return [size if d == axis else own for d, own in enumerate(shape)]


def one_value(x: Tensor, value: object, name: str) -> Tensor:
    """A number, or a tensor of no dimensions, as a tensor of no dimensions with x's dtype.

    Raises RuntimeError for a value beyond the limits of that dtype.
    """
    if isinstance(value, operation.Tensor):
        if value.ndim > 0:
            raise RuntimeError(f"{name}: expected one value, got a tensor of shape {list(value.shape)}")
        if x.dtype is not bool_ and promote_types(value.dtype, x.dtype) is not x.dtype:
            fitted = fitting(value.item(), x.dtype, name)
            value = value if x.is_floating_point() else fitted
    return values_for(x, value, 0)


def _filled(x: Tensor, dim: int, index: Tensor, value: Any, name: str) -> tuple[Places, Any]:
    """The slices along a dimension that a vector of indices names, and the value for them."""
    places, axis = check_tensor(index, name), axis_of(x, dim, name)
    rank = places.ndim
    if rank > 1:
        raise IndexError(f"{name}: expected a vector of indices, got shape {list(places.shape)}")
    filling: Any
    if isinstance(value, (int, float)):  # `x[i] = value` may write infinities into 16 bits, this may not
        filling = number(value if abs(value) <= 65504 else fitting(value, x.dtype, name))
    else:
        filling = one_value(x, value, name)
    return Places(places if rank else places.reshape(1), axis, SLICES | WRAPS), filling


def _scattered(x: Tensor, dim: int, index: Tensor, source: Any, reduce: str | None, name: str, write: bool) -> Tensor:
    """The places that an index names get as much of the source as there are places, or combine with it."""
    if reduce not in _SCATTERING:
        raise RuntimeError(f"{name}: expected a reduce of None, 'add' or 'multiply', got {shown(reduce)}")
    values = source_of(x, check_tensor(index, name), source, name)
    return put_by(x, index, one_size(dim, name), ELEMENTS, values, _SCATTERING[reduce], write)


def source_of(x: Tensor, index: Tensor, source: Any, name: str) -> Any:
    """What is scattered: a number, or a tensor, of which a graph sees the part that is read."""
    if type(source) in (int, float) and not abs(source) <= 65504:
        source = fitting(source, x.dtype, name)
    values = check_operand(source, name)
    if values._edge is not None and values.shape != index.shape:
        if values.ndim + index.ndim == 1:  # one of them has no dimensions
            return values.narrow(0, 0, 1).squeeze(0) if values.ndim else values.unsqueeze(0)
        if values.ndim == index.ndim:
            for axis, size in enumerate(index.shape):
                values = values.narrow(axis, 0, min(size, values.shape[axis]))
    return values


def of_slices(x: Tensor, dim: int, index: Tensor, source: Tensor, how: int, name: str, in_place: bool) -> Tensor:
    """Whole slices along a dimension, combined with those of a source of their shape."""
    axis = one_size(dim, name)
    check_tensor(source, name)
    if is_recorded(x, source) and not x.ndim:
        written = of_slices(with_axis(x if in_place else x.clone()), axis, index, source, how, name, True)
        return x if in_place else own(written.reshape(()))
    return put_by(x, check_tensor(index, name), axis, SLICES | VECTOR, source, how, in_place)


def _placed(x: Tensor, indices: Any, values: Tensor, name: str) -> tuple[Tensor, Places | AtIndices | None, Tensor]:
    if not isinstance(indices, (list, tuple)) or not indices:
        raise TypeError(f"{name}: expected a tuple of index tensors, got {shown(indices)}")
    view, place = locate(x, tuple([check_tensor(index, name) for index in indices]))
    if place is not None and not is_recorded(view, check_tensor(values, name)):
        return view, place, values  # C checks it
    if check_tensor(values, name).dtype is not x.dtype:
        raise RuntimeError(f"{name}: expected values of the tensor's dtype {x.dtype}, got {values.dtype}")
    return view, place, values_for(x, values, view.ndim if place is None else place.ndim(view))
