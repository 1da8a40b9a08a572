"""Copies in another order, and repeated tensors: `flip roll repeat tile`. Strides cannot express these."""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import operation
from .._C import int64_array, lib
from ..arguments import axis_of, chosen, one_size, packed, sizes_of
from ..autograd.derivatives.views import FlipBackward, InterleaveBackward, RepeatBackward, RollBackward
from ..operation import mode, own, record, recorded, wrap
from ..types import Dims, Sizes, int32, int64

if TYPE_CHECKING:
    from ..forward_declarations import Tensor


class RearrangingMethods:
    """The methods of Tensor that copy its elements into another order."""

    def flip(self: Tensor, *axes: Sizes, dims: Sizes | None = None) -> Tensor:
        """A copy, of the same shape and dtype, in which the given dimensions run backwards.

        Raises IndexError for a dim out of range, TypeError without any.

        >>> norch.tensor([[1, 2], [3, 4]]).flip(0, 1)
        tensor([[4, 3],
                [2, 1]])
        """
        given = chosen(axes, dims, "flip", "dims")
        if not given:
            raise TypeError("flip: expected dims, got none")
        turned = sizes_of(given, "flip")
        ptr = lib.flipped_tensor(self._ptr, int64_array(turned), len(turned))
        return recorded(wrap(ptr), FlipBackward, (self,), turned)

    def fliplr(self: Tensor) -> Tensor:
        """A copy, of the same shape and dtype, in which the second dimension runs backwards.

        Raises RuntimeError if there is none.

        >>> norch.tensor([[1, 2], [3, 4]]).fliplr()
        tensor([[2, 1],
                [4, 3]])
        """
        if self.ndim < 2:
            raise RuntimeError(f"fliplr: expected at least 2 dimensions, got shape {list(self.shape)}")
        return self.flip(1)

    def flipud(self: Tensor) -> Tensor:
        """A copy, of the same shape and dtype, in which the first dimension runs backwards.

        Raises RuntimeError for a tensor of no dimensions.

        >>> norch.tensor([[1, 2], [3, 4]]).flipud()
        tensor([[3, 4],
                [1, 2]])
        """
        if self.ndim < 1:
            raise RuntimeError("flipud: expected at least one dimension, got a tensor of none")
        return self.flip(0)

    def rot90(self: Tensor, k: int = 1, dims: Sizes = (0, 1)) -> Tensor:
        """A copy turned by k times 90 degrees in the plane of two dimensions, from the first towards the second.

        [a, b] gives [b, a] for odd k; the dtype stays. Raises RuntimeError if `dims` are not two different ones,
        IndexError for a dim out of range.

        >>> norch.tensor([[1, 2], [3, 4]]).rot90()
        tensor([[2, 4],
                [1, 3]])
        """
        turns, axes, rank = one_size(k, "rot90") % 4, sizes_of((dims,), "rot90"), self.ndim
        if len(axes) != 2:
            raise RuntimeError(f"rot90: expected two dims, got {axes}")
        if rank < 2:
            raise RuntimeError(f"rot90: expected at least 2 dimensions, got shape {list(self.shape)}")
        for axis in axes:
            if not -rank <= axis < rank:
                raise IndexError(f"rot90: dim {axis} is out of range for shape {list(self.shape)}")
        first, second = axes[0] % rank, axes[1] % rank
        if first == second:
            raise RuntimeError(f"rot90: expected two different dims, got {axes}")
        if turns in (0, 2):
            return self.flip(axes) if turns else self.clone()
        return own(self.flip(second if turns == 1 else first).transpose(first, second))

    def roll(self: Tensor, shifts: Sizes, dims: Dims = None) -> Tensor:
        """A copy shifted along dimensions; elements that leave at one end enter at the other. Without dims: as if flat.

        Of the same shape and dtype. Raises RuntimeError if there are not as many shifts as dims, IndexError for a dim
        out of range.

        >>> norch.tensor([1, 2, 3]).roll(1)
        tensor([3, 1, 2])
        """
        moves, count = packed((shifts,), "roll")
        axes, named = (None, 0) if dims is None else packed((dims,), "roll")
        if not count:
            raise RuntimeError("roll: expected at least one shift, got none")
        if count != named and (named or count > 1):
            raise RuntimeError(f"roll: expected as many shifts as dims, got {shifts} and {dims}")
        result = wrap(lib.roll_tensor(self._ptr, moves, axes if named else None, count))
        if self._edge and mode.enabled:
            given = sizes_of((shifts,), "roll"), sizes_of((dims,), "roll") if named else None
            record(result, RollBackward(self, *given), (self._edge,))
        return result

    def repeat(self: Tensor, *numbers: Sizes, repeats: Sizes | None = None) -> Tensor:
        """Copies side by side, `repeats` of them along each dimension; repeats beyond those add dimensions in front.

        [a, b] with 2, 3 gives [2a, 3b]; the dtype stays. Raises RuntimeError for fewer numbers than dimensions, or a
        negative one.

        >>> norch.tensor([1, 2]).repeat(2, 2)
        tensor([[1, 2, 1, 2],
                [1, 2, 1, 2]])
        """
        counts = sizes_of(chosen(numbers, repeats, "repeat", "repeats"), "repeat")
        if len(counts) < self.ndim:
            shape = list(self.shape)
            raise RuntimeError(f"repeat: expected a number for each dimension of shape {shape}, got {counts}")
        if counts and min(counts) < 0:
            raise RuntimeError(f"repeat: expected numbers that are not negative, got {counts}")
        ptr = lib.repeat_tensor(self._ptr, int64_array(counts), len(counts))
        return recorded(wrap(ptr), RepeatBackward, (self,), counts)

    def tile(self: Tensor, *numbers: Sizes, dims: Sizes | None = None) -> Tensor:
        """Copies side by side as for `repeat`, but fewer numbers than dimensions stand for the last ones.

        >>> norch.tensor([1, 2]).tile(2)
        tensor([1, 2, 1, 2])
        """
        counts = sizes_of(chosen(numbers, dims, "tile", "dims"), "tile")
        return self.repeat([1] * (self.ndim - len(counts)) + counts)

    def repeat_interleave(
        self: Tensor,
        repeats: int | Tensor | None = None,
        dim: int | None = None,
        *,
        output_size: int | None = None,
        axis: int | None = None,
    ) -> Tensor:
        """A copy in which each element along a dimension comes `repeats` times in a row. Without dim: as if flat.

        [n] gives [repeats * n]; the dtype stays. A tensor `repeats` has a number for each element; `output_size` is
        their sum. Without `repeats` the tensor itself has the numbers, and its indices are repeated.

        Raises RuntimeError for a negative number, another dtype than int32 or int64, or not as many numbers as
        elements; IndexError for a dim out of range.

        >>> norch.tensor([1, 2]).repeat_interleave(2)
        tensor([1, 1, 2, 2])
        >>> norch.tensor([1, 2]).repeat_interleave(norch.tensor([3, 1]))
        tensor([1, 1, 1, 2])
        """
        if repeats is None:
            return places_repeated(self, output_size)
        dim = dim if axis is None else axis
        line = self.reshape(-1) if dim is None else self
        axis = axis_of(line, 0 if dim is None else dim, "repeat_interleave")
        if isinstance(repeats, operation.Tensor) and repeats.numel != 1:
            if repeats.ndim != 1 or repeats.shape[0] != (line.shape[axis] if line.ndim else 1):
                raise RuntimeError(
                    f"repeat_interleave: expected a number for each of {line.shape[axis] if line.ndim else 1} "
                    f"elements, got shape {list(repeats.shape)}"
                )
            return line.index_select(axis, places_repeated(repeats, output_size))
        count = one_size(repeats.item() if isinstance(repeats, operation.Tensor) else repeats, "repeat_interleave")
        if count < 0:
            raise RuntimeError(f"repeat_interleave: expected a number that is not negative, got {repeats}")
        return recorded(wrap(lib.interleave_tensor(line._ptr, count, axis)), InterleaveBackward, (line,), count, axis)


def places_repeated(repeats: Tensor, output_size: int | None = None) -> Tensor:
    """Each index of a vector of numbers, as often as its number says: [2, 0, 1] gives [0, 0, 2]."""
    if repeats.dtype not in (int32, int64):
        raise RuntimeError(f"repeat_interleave: expected numbers of int32 or int64, got {repeats.dtype}")
    if repeats.ndim != 1:
        raise RuntimeError(f"repeat_interleave: expected a vector of numbers, got shape {list(repeats.shape)}")
    if repeats.numel and repeats.min() < 0:
        raise RuntimeError("repeat_interleave: expected numbers that are not negative")
    ends = repeats.long().cumsum(0)
    total = int(ends[-1]) if repeats.numel else 0
    if output_size is not None and output_size != total:
        raise RuntimeError(f"repeat_interleave: output_size is {output_size}, but the numbers add up to {total}")
    # The index of a place is the number of elements that end before it or there.
    ended = ends.new_zeros(total + 1).index_add(0, ends, ends.ones_like())
    return ended.cumsum(0).narrow(0, 0, total)
