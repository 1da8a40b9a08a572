"""Writing through indices with a reduction (sum, product, mean, largest, smallest)."""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .._C import lib, number
from ..arguments import flags, one_size
from ..autograd.derivatives.indexing import MaskedScatterBackward
from ..autograd.in_place import after_write
from ..functions.promotion import iinfo
from ..operation import check_tensor, recorded, wrap
from ..types import bool_, dtype, shown
from .places import (
    ADD,
    AVERAGED,
    ELEMENTS,
    FLAT,
    REPLACE,
    SLICES,
    VECTOR,
    WITHOUT_SELF,
    WRAPS,
    AtIndices,
    Combining,
    Places,
    is_recorded,
    put_,
    put_by,
)
from .selection import check_mask, of_slices, source_of, with_axis

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

# How values combine at a place, by PyTorch's names.
_REDUCTIONS = {
    "sum": Combining.ADD,
    "mean": Combining.ADD,
    "prod": Combining.MULTIPLY,
    "amax": Combining.LARGEST,
    "amin": Combining.SMALLEST,
}


_OF_SLICES = {name: how for name, how in _REDUCTIONS.items() if name != "sum"}


class ScatteringMethods:
    """The methods of Tensor that write or combine values at places."""

    # ---- With a reduction ---------------------------------------------------------------------------------------

    @flags
    def scatter_reduce_(
        self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
    ) -> Tensor:
        """Combine what `scatter_` sends to one place: by "sum", "prod", "mean", "amax" or "amin", its old element too.

        Without `include_self` the old elements at these places do not count. Shapes and errors as for `scatter_`;
        raises RuntimeError for another reduction.

        >>> norch.ones(2).scatter_reduce_(0, norch.tensor([0, 0, 1]), norch.tensor([2.0, 3.0, 5.0]), "prod")
        tensor([6., 5.])
        """
        return _scattered(self, dim, index, src, reduce, include_self, "scatter_reduce_", True)

    @flags
    def scatter_reduce(
        self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
    ) -> Tensor:
        """`scatter_reduce_` into a copy.

        >>> norch.zeros(2).scatter_reduce(0, norch.tensor([0, 0, 1]), norch.tensor([2.0, 3.0, -5.0]), "amax")
        tensor([3., 0.])
        """
        return _scattered(self, dim, index, src, reduce, include_self, "scatter_reduce", False)

    @flags
    def index_reduce_(
        self: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
    ) -> Tensor:
        """Combine the slices of `source` that go to one slice along `dim` by "prod", "mean", "amax" or "amin".

        Shapes and errors as for `index_add_`; `include_self` as for `scatter_reduce_`. Raises RuntimeError for another
        reduction.

        >>> norch.ones(2).index_reduce_(0, norch.tensor([0, 0]), norch.tensor([2.0, 3.0]), "prod")
        tensor([6., 1.])
        """
        return _reduced_slices(self, dim, index, source, reduce, include_self, "index_reduce_", True)

    @flags
    def index_reduce(
        self: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
    ) -> Tensor:
        """`index_reduce_` into a copy.

        >>> norch.zeros(2).index_reduce(0, norch.tensor([0, 0]), norch.tensor([2.0, 3.0]), "amax")
        tensor([3., 0.])
        """
        return _reduced_slices(self, dim, index, source, reduce, include_self, "index_reduce", False)

    # ---- Slices and single elements -----------------------------------------------------------------------------

    def index_copy_(self: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
        """Write the slices of `source` to the slices along `dim` that a vector of indices names; the dtype stays.

        Raises ShapeError for a source of another shape than these slices, RuntimeError for one of another dtype,
        IndexError for an index out of range.

        >>> norch.zeros(3).index_copy_(0, norch.tensor([2, 0]), norch.tensor([5.0, 6.0]))
        tensor([6., 0., 5.])
        """
        of_slices(self, dim, index, source, REPLACE, "index_copy_", True)
        return self

    def index_copy(self: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
        """`index_copy_` into a copy.

        >>> norch.zeros(3).index_copy(0, norch.tensor([2, 0]), norch.tensor([5.0, 6.0]))
        tensor([6., 0., 5.])
        """
        return of_slices(self, dim, index, source, REPLACE, "index_copy", False)

    @flags
    def put_(self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
        """Write the elements of `source` to those that `index` names in the flattened tensor, or add them.

        The index and the source have as many elements as each other, in any shapes. Raises IndexError if they do not,
        and for an index out of range, RuntimeError for a source of another dtype.

        >>> norch.zeros(2, 2).put_(norch.tensor([3, 0]), norch.tensor([5.0, 6.0]))
        tensor([[6., 0.],
                [0., 5.]])
        """
        return _put_flat(self, check_tensor(index, "put_"), check_tensor(source, "put_"), accumulate, True)

    @flags
    def put(self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
        """`put_` into a copy.

        >>> norch.zeros(3).put(norch.tensor([0, 0]), norch.tensor([5.0, 6.0]), accumulate=True)
        tensor([11.,  0.,  0.])
        """
        return _put_flat(self, check_tensor(index, "put"), check_tensor(source, "put"), accumulate, False)

    # ---- By masks -----------------------------------------------------------------------------------------------

    def masked_scatter_(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
        """Write the elements of `source`, in row order, where a bool mask, which broadcasts to this shape, is True.

        Raises ShapeError if it does not broadcast, RuntimeError for a mask or a source of another dtype and if the
        source has too few elements.

        >>> norch.zeros(3).masked_scatter_(norch.tensor([True, False, True]), norch.tensor([5.0, 6.0, 7.0]))
        tensor([5., 0., 6.])
        """
        check_mask(mask, "masked_scatter_")
        if check_tensor(source, "masked_scatter_").dtype is not self.dtype:
            raise RuntimeError(f"masked_scatter_: expected a source of {self.dtype}, got {source.dtype}")
        if not is_recorded(self, source):
            return after_write(self, lib.masked_scatter_into(self._ptr, mask._ptr, source._ptr))
        places = with_axis(mask.expand(self.shape)).nonzero(as_tuple=True)
        count = int(places[0].numel)
        if source.numel < count:
            raise RuntimeError(f"masked_scatter_: the mask has {count} True elements, the source {source.numel}")
        put_(with_axis(self), AtIndices(places), source.reshape(-1).narrow(0, 0, count))
        return self

    def masked_scatter(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
        """`masked_scatter_` into a copy, which takes the shape that this tensor and the mask broadcast to.

        >>> norch.zeros(3).masked_scatter(norch.tensor([True, False, True]), norch.tensor([5.0, 6.0]))
        tensor([5., 0., 6.])
        """
        check_mask(mask, "masked_scatter")
        result = wrap(lib.masked_scatter_tensor(self._ptr, mask._ptr, check_tensor(source, "masked_scatter")._ptr))
        if self._edge is None and source._edge is None:  # most often
            return result
        return recorded(result, MaskedScatterBackward, (self.expand(result.shape), source), mask)


# ---- Parts of the methods ---------------------------------------------------------------------------------------


def _reduction(name: str, reduce: str, known: dict[str, Combining]) -> Combining:
    if reduce not in known:
        raise RuntimeError(f"{name}: expected a reduction of {', '.join(known)}, got {shown(reduce)}")
    return known[reduce]


def _scattered(
    x: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self: bool, name: str, in_place: bool
) -> Tensor:
    how, axis = _reduction(name, reduce, _REDUCTIONS), one_size(dim, name)
    values = source_of(x, check_tensor(index, name), src, name)
    return _reduced(x, index, axis, ELEMENTS, values, reduce, how, include_self, in_place)


def _reduced_slices(
    x: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, include_self: bool, name: str, in_place: bool
) -> Tensor:
    how, axis = _reduction(name, reduce, _OF_SLICES), one_size(dim, name)
    values, places = check_tensor(source, name), check_tensor(index, name)
    return _reduced(x, places, axis, SLICES | VECTOR, values, reduce, how, include_self, in_place)


def _reduced(
    x: Tensor,
    index: Tensor,
    axis: int,
    kind: int,
    values: Tensor,
    reduce: str,
    how: Combining,
    include_self: bool,
    in_place: bool,
) -> Tensor:
    """Into x, or a copy: one call of C where nothing is recorded; else what has derivatives, one after another."""
    if not is_recorded(x, values):
        flags = how | (0 if include_self else WITHOUT_SELF) | (AVERAGED if reduce == "mean" else 0)
        if not in_place:
            return put_by(x, index, axis, kind, values, flags, False)
        return after_write(x, lib.scatter_into(x._ptr, index._ptr, axis, kind, values._ptr, flags))
    result = x.clone()  # also in place, so that an error leaves x as it was
    target, place = with_axis(result), Places(index, axis, kind)
    if not include_self:
        put_(target, place, number(_neutral(x.dtype, how)))
    put_(target, place, values, how)
    if reduce == "mean":
        counts = (target.new_ones if include_self else target.new_zeros)(target.shape)
        put_(counts, place, number(1), ADD)
        counts.clamp_(min=1)
        target.div_(counts) if x.is_floating_point() else target.floor_divide_(counts)
    return x.copy_(result) if in_place else result


def _put_flat(x: Tensor, index: Tensor, source: Tensor, accumulate: bool, in_place: bool) -> Tensor:
    if source._edge is not None and source.numel == index.numel:
        source = source.reshape(index.shape)
    return put_by(x, index, 0, FLAT | WRAPS, source, ADD if accumulate else REPLACE, in_place)


def _neutral(kind: dtype, how: Combining) -> float:
    """The value that changes nothing: 0 in a sum, 1 in a product, the smallest there is in a maximum."""
    if how in (Combining.ADD, Combining.MULTIPLY):
        return int(how is Combining.MULTIPLY)
    if kind.is_floating_point:
        return -math.inf if how is Combining.LARGEST else math.inf
    if kind is bool_:
        return how is Combining.SMALLEST
    limits = iinfo(kind)
    return limits.max if how is Combining.SMALLEST else limits.min
