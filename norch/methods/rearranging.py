"""Copies in another order, and repeated tensors: `flip roll repeat tile`. Strides cannot express these."""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .._C import int64_array, lib
from ..arguments import axis_of, one_size, sizes_of
from ..autograd.derivatives.joining import cat
from ..autograd.derivatives.views import FlipBackward
from ..operation import recorded, wrap
from ..types import Dims, Sizes

if TYPE_CHECKING:
    from ..forward_declarations import Tensor


class RearrangingMethods:
    """The methods of Tensor that copy its elements into another order."""

    def flip(self: Tensor, *dims: Sizes) -> Tensor:
        """A copy, of the same shape and dtype, in which the given dimensions run backwards.

        Raises IndexError for a dim out of range.

        >>> norch.tensor([[1, 2], [3, 4]]).flip(0, 1)
        tensor([[4, 3],
                [2, 1]])
        """
        axes = sizes_of(dims, "flip")
        ptr = lib.flipped_tensor(self._ptr, int64_array(axes), len(axes))
        return recorded(wrap(ptr), FlipBackward, (self,), axes)

    def fliplr(self: Tensor) -> Tensor:
        """A copy, of the same shape and dtype, in which the second dimension runs backwards.

        Raises IndexError if there is none.

        >>> norch.tensor([[1, 2], [3, 4]]).fliplr()
        tensor([[2, 1],
                [4, 3]])
        """
        return self.flip(1)

    def flipud(self: Tensor) -> Tensor:
        """A copy, of the same shape and dtype, in which the first dimension runs backwards.

        >>> norch.tensor([[1, 2], [3, 4]]).flipud()
        tensor([[3, 4],
                [1, 2]])
        """
        return self.flip(0)

    def roll(self: Tensor, shifts: Sizes, dims: Dims = None) -> Tensor:
        """A copy shifted along dimensions; elements that leave at one end enter at the other. Without dims: as if flat.

        Of the same shape and dtype. Raises RuntimeError if there are not as many shifts as dims, IndexError for a dim
        out of range.

        >>> norch.tensor([1, 2, 3]).roll(1)
        tensor([3, 1, 2])
        """
        if dims is None:
            return self.reshape(-1).roll(shifts, 0).reshape(self.shape)
        moves, axes = (sizes_of((given,), "roll") for given in (shifts, dims))
        if len(moves) != len(axes):
            raise RuntimeError(f"roll: expected as many shifts as dims, got {shifts} and {dims}")
        result = self
        for move, axis in zip(moves, axes):
            result = _rolled(result, move, axis_of(self, axis, "roll"))
        return self.clone() if result is self else result

    def repeat(self: Tensor, *repeats: Sizes) -> Tensor:
        """Copies side by side, `repeats` of them along each dimension; repeats beyond those add dimensions in front.

        [a, b] with 2, 3 gives [2a, 3b]; the dtype stays. Raises RuntimeError for fewer numbers than dimensions, or a
        negative one.

        >>> norch.tensor([1, 2]).repeat(2, 2)
        tensor([[1, 2, 1, 2],
                [1, 2, 1, 2]])
        """
        counts = sizes_of(repeats, "repeat")
        if len(counts) < self.ndim:
            shape = list(self.shape)
            raise RuntimeError(f"repeat: expected a number for each dimension of shape {shape}, got {counts}")
        if counts and min(counts) < 0:
            raise RuntimeError(f"repeat: expected numbers that are not negative, got {counts}")
        result = self.reshape([1] * (len(counts) - self.ndim) + list(self.shape))
        for axis, count in enumerate(counts):
            if count != 1:
                result = _repeated(result, count, axis, each=False)
        return self.clone() if not any(count != 1 for count in counts) and len(counts) == self.ndim else result

    def tile(self: Tensor, *dims: Sizes) -> Tensor:
        """Copies side by side as for `repeat`, but fewer numbers than dimensions stand for the last ones.

        >>> norch.tensor([1, 2]).tile(2)
        tensor([1, 2, 1, 2])
        """
        counts = sizes_of(dims, "tile")
        return self.repeat([1] * (self.ndim - len(counts)) + counts)

    def repeat_interleave(self: Tensor, repeats: int, dim: int | None = None) -> Tensor:
        """A copy in which each element along a dimension comes `repeats` times in a row. Without dim: as if flat.

        [n] gives [repeats * n]; the dtype stays. Raises RuntimeError for a negative number, IndexError for a dim out of
        range.

        >>> norch.tensor([1, 2]).repeat_interleave(2)
        tensor([1, 1, 2, 2])
        """
        count = one_size(repeats, "repeat_interleave")
        if count < 0:
            raise RuntimeError(f"repeat_interleave: expected a number that is not negative, got {repeats}")
        if dim is None:
            return _repeated(self.reshape(-1), count, 0, each=True)
        return _repeated(self, count, axis_of(self, dim, "repeat_interleave"), each=True)


def _rolled(x: Tensor, shift: int, axis: int) -> Tensor:
    size = x.shape[axis] if x.ndim else 1
    if size == 0 or shift % size == 0:
        return x
    cut = size - shift % size
    return cat([x.narrow(axis, cut, size - cut), x.narrow(axis, 0, cut)], axis)


def _repeated(x: Tensor, count: int, axis: int, each: bool) -> Tensor:
    """x repeated along an axis as a whole, or each of its elements, by an axis of stride 0 that is then merged."""
    shape = list(x.shape) or [1]
    before, size, after = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
    wide = x.reshape(before, size, 1, after) if each else x.reshape(before, 1, size, after)
    wide = wide.expand([before, size, count, after] if each else [before, count, size, after])
    return wide.reshape(shape[:axis] + [size * count] + shape[axis + 1 :]).contiguous()
