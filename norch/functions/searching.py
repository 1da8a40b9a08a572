"""Searching: where values fit into sorted edges, whether they are in a set, and indices of flattened tensors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Sequence

from .. import operation
from .._C import lib
from ..arguments import flags, sizes_of
from ..methods.statistics import bins_of
from ..operation import check_tensor, wrap
from ..types import bool_, int32, shown
from .creation import tensor
from .out import Out, into
from .promotion import result_type

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

__all__ = ["bucketize", "isin", "searchsorted", "unravel_index"]


@flags
def searchsorted(
    sorted_sequence: Tensor,
    input: Tensor | float,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
    out: Out = None,
) -> Tensor:
    """The first place, int64, at which each value could be inserted into a sorted last dimension: by halving.

    With `right` (or side="right") behind elements equal to it. The sequence is a vector, or has the leading sizes of
    `input`; `sorter` are the indices that sort it. In the shape of `input`. Raises RuntimeError if these shapes do not
    fit, or if right contradicts side.

    >>> norch.searchsorted(norch.tensor([1, 3, 5]), norch.tensor([0, 3, 9]))
    tensor([0, 1, 3])
    """
    sequence = check_tensor(sorted_sequence, "searchsorted")
    values = _values(input, sequence)
    if side not in (None, "left", "right") or (side == "left" and right):
        raise RuntimeError(f"searchsorted: right={right} and side={shown(side)} contradict each other")
    if sequence.ndim == 0:
        raise RuntimeError("searchsorted: expected a sorted sequence of at least one dimension")
    if sequence.ndim > 1 and sequence.shape[:-1] != values.shape[:-1]:
        shapes = f"{list(sequence.shape)} and {list(values.shape)}"
        raise RuntimeError(f"searchsorted: expected a vector, or shapes that agree but for the last size, got {shapes}")
    if sorter is not None:
        if check_tensor(sorter, "searchsorted: sorter").shape != sequence.shape or sorter.is_floating_point():
            found = f"{sorter.dtype} of shape {list(sorter.shape)}"
            raise RuntimeError(f"searchsorted: expected a sorter of int64 in the shape of the sequence, got {found}")
        sequence = sequence.gather(-1, sorter)
    places = _bins_of(sequence, values, right or side == "right")
    return into(out, places.to(int32) if out_int32 else places, "searchsorted")


@flags
def bucketize(
    input: Tensor | float, boundaries: Tensor, *, out_int32: bool = False, right: bool = False, out: Out = None
) -> Tensor:
    """The bucket, int64, of each value between sorted boundaries [n]: 0 up to the first, n beyond the last.

    A value equal to a boundary belongs below it, with `right` above it. Raises RuntimeError if the boundaries are not a
    vector.

    >>> norch.bucketize(norch.tensor([0, 3, 9]), norch.tensor([1, 3, 5]))
    tensor([0, 1, 3])
    """
    if check_tensor(boundaries, "bucketize").ndim != 1:
        raise RuntimeError(f"bucketize: expected a vector of boundaries, got shape {list(boundaries.shape)}")
    values = _values(input, boundaries)
    places = _bins_of(boundaries, values, right)
    return into(out, places.to(int32) if out_int32 else places, "bucketize")


def _bins_of(sequence: Tensor, values: Tensor, right: bool) -> Tensor:
    if sequence.dtype is not values.dtype:
        kind = result_type(sequence, values)
        sequence, values = sequence.to(kind), values.to(kind)
    return bins_of(sequence, values, right)


def _values(x: Tensor | float, like: Tensor) -> Tensor:
    """x, or a tensor of the number that it is, as precise as the elements that it is compared with."""
    return x if isinstance(x, operation.Tensor) else tensor(x, result_type(like, x), like.device)


@flags
def isin(
    elements: Tensor | float | None = None,
    test_elements: Tensor | float | None = None,
    *,
    assume_unique: bool = False,
    invert: bool = False,
    out: Out = None,
    element: float | None = None,
    test_element: float | None = None,
) -> Tensor:
    """Whether each of `elements` is among `test_elements` (with `invert`, is not), as bool in their shape.

    By sorting and halving; `assume_unique` is accepted. A number may also be given as `element` or `test_element`.
    Raises TypeError if neither is a tensor, or one is missing.

    >>> norch.isin(norch.tensor([1, 2, 3]), norch.tensor([3, 1]))
    tensor([ True, False,  True])
    """
    elements = element if elements is None else elements
    test_elements = test_element if test_elements is None else test_elements
    if elements is None or test_elements is None:
        raise TypeError("isin: expected elements and test_elements")
    if isinstance(elements, operation.Tensor) and type(test_elements) in (int, float):
        return into(out, elements != test_elements if invert else elements == test_elements, "isin")
    tensors = [t for t in (elements, test_elements) if isinstance(t, operation.Tensor)]
    if not tensors:
        raise TypeError("isin: expected a tensor as one of elements and test_elements")
    values, tests = [_values(t, tensors[0]) for t in (elements, test_elements)]
    if values.dtype is not tests.dtype or len(tensors) < 2:
        kind = result_type(elements, test_elements)
        values, tests = values.to(kind), tests.to(kind)
    return into(out, wrap(lib.isin_tensor(values._ptr, tests._ptr, invert)), "isin")


def unravel_index(indices: Tensor, shape: int | Sequence[int]) -> tuple[Tensor, ...]:
    """The coordinates, a tuple of tensors of int64, of indices into a flattened tensor of a shape.

    Raises TypeError for indices that are not integers, ValueError for a negative size or an index out of range.

    >>> norch.unravel_index(norch.tensor([1, 5]), (2, 3))
    (tensor([0, 1]), tensor([1, 2]))
    """
    if check_tensor(indices, "unravel_index").is_floating_point() or indices.dtype is bool_:
        raise TypeError(f"unravel_index: expected indices of an integer dtype, got {indices.dtype}")
    if isinstance(shape, operation.Tensor):
        raise TypeError(f"unravel_index: expected an integer or a tuple of them as shape, got {shown(shape)}")
    sizes = sizes_of((shape,) if isinstance(shape, int) else (tuple(shape),), "unravel_index")
    if any(size < 0 for size in sizes):
        raise ValueError(f"unravel_index: expected sizes that are not negative, got {sizes}")
    total = math.prod(sizes)
    if indices.numel and not (-total <= indices.min().item() and indices.max().item() < total):
        raise ValueError(f"unravel_index: an index is out of range for {total} elements")
    indices = indices.long()
    rest, found = indices % total if indices.numel else indices, []
    for size in reversed(sizes):
        found.append(rest % size if indices.numel else rest)
        rest = rest // size if indices.numel else rest
    return tuple(reversed(found))
