"""An axis resampled by a table, and its derivative: the same by the table that leads back."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ..._C import lib
from ...operation import recorded, wrap
from ...types import int32
from ..node import Gradients, Node

if TYPE_CHECKING:
    from ...forward_declarations import Tensor


class Table:
    """What the elements of a resampled axis read of the `size` elements before: places, times weights.

    `places` (int64), `weights` and `seen` (bool) are [taps, outputs], on the CPU: an output has the taps that are seen,
    its first ones; the others have places all the same. `there` and `back` are tables as C takes them.
    """

    def __init__(self, size: int, places: Tensor, weights: Tensor, seen: Tensor, device: str) -> None:
        self.size, self.places, self.weights, self.seen, self.device = size, places, weights, seen, device
        self.there = self._packed(places, weights, seen)

    def _packed(self, places: Tensor, weights: Tensor, seen: Tensor) -> tuple[Any, ...]:
        parts = seen.sum(0).to(int32), places.to(int32), weights
        return tuple(part.to(self.device)._ptr for part in parts)

    @functools.cached_property
    def back(self) -> tuple[Any, ...]:
        """For each of the `size` elements the outputs that read it."""
        outputs, taps = self.seen.T.nonzero().unbind(1)
        inputs = self.places[taps, outputs]
        order = inputs.argsort(stable=True)
        inputs, outputs, weights = inputs[order], outputs[order], self.weights[taps, outputs][order]
        counts = inputs.bincount(minlength=self.size)
        before = counts.cumsum(0) - counts
        rank = inputs.new_ones(len(inputs)).cumsum(0) - 1 - before[inputs]
        shape = int(counts.max()), self.size
        at = rank, inputs
        places, seen = self.places.new_zeros(shape), self.seen.new_zeros(shape)
        places[at], seen[at] = outputs, True
        spread = self.weights.new_zeros(shape)
        spread[at] = weights
        return self._packed(places, spread, seen)


def resampled(x: Tensor, axis: int, table: Table, back: bool = False) -> Tensor:
    """x with the axis that the table leads to; `back`: the sums of what each element before gave to those of x."""
    result = wrap(lib.resample_tensor(x._ptr, axis, *(table.back if back else table.there)))
    return recorded(result, ResampleBackward, (x,), axis, table, back)


class ResampleBackward(Node):
    """Each element of the result is a weighted sum of a few: dL/dx is that of the gradients of what read it"""

    keeps_input = False

    def __init__(self, x: Tensor, axis: int, table: Table, back: bool) -> None:
        super().__init__(x)
        self.axis, self.table, self.was_back = axis, table, back
        _ = table.back  # made now, not while a backward is recorded

    def backward(self, gradient: Tensor) -> Gradients:
        return [resampled(gradient, self.axis, self.table, not self.was_back)]
