"""Sorting along a dimension. NaN counts as larger than every number, and equal elements keep their order."""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

from typing import TYPE_CHECKING

from .._C import lib
from ..arguments import one_size
from ..autograd.derivatives.indexing import PickBackward
from ..operation import recorded, several
from .reductions import Picked

if TYPE_CHECKING:
    from ..forward_declarations import Tensor


class SortingMethods:
    """The methods of Tensor that order elements."""

    def sort(self: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = True) -> Picked:
        """The pair (values, indices) of the elements in order along `dim`, in the shape of x; the indices are int64.

        `stable` is accepted as in PyTorch; norch always keeps the order of equal elements. Raises IndexError for a dim
        out of range.

        >>> norch.tensor([3, 1, 2]).sort().values
        tensor([1, 2, 3])
        """
        return _sorted(self, dim, -1, descending)

    def argsort(self: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = True) -> Tensor:
        """The indices, int64 and in the shape of x, that put the elements in order along `dim`.

        Raises IndexError for a dim out of range.

        >>> norch.tensor([3, 1, 2]).argsort()
        tensor([1, 2, 0])
        """
        return _sorted(self.detach(), dim, -1, descending).indices

    def topk(self: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Picked:
        """The pair (values, indices) of the `k` largest, or smallest, elements along `dim`, in order.

        Both have the shape of x with `k` in place of that size; the values have its dtype, the indices are int64.
        Raises RuntimeError if there are fewer than `k`, IndexError for a dim out of range.

        >>> values, indices = norch.tensor([3, 1, 2]).topk(2)
        >>> values, indices
        (tensor([3, 2]), tensor([0, 2]))
        """
        count = one_size(k, "topk")
        if count < 0:
            raise RuntimeError(f"topk: k is {count}, expected at least 0")
        return _sorted(self, dim, count, largest)


def _sorted(x: Tensor, dim: int, count: int, descending: bool) -> Picked:
    axis = one_size(dim, "sort")
    values, indices = several(lib.sort_tensor, 2, x._ptr, axis, count, descending)
    return Picked(recorded(values, PickBackward, (x,), indices, axis, True), indices)
