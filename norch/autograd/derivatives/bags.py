"""Rows of a table in bags: their sums, means and largest elements, which C computes in one call, and the derivative."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._C import lib
from ...operation import address, edge, mode, recorded, several, wrap
from ...packing import counting
from ..node import Gradients, Node

if TYPE_CHECKING:
    from ...forward_declarations import Tensor

MODES = "sum", "mean", "max"  # of Bagging in csrc/ops/bags.h
_MEAN = 1


def join_bags(
    table: Tensor,
    scales: Tensor | None,
    input: Tensor,
    offsets: Tensor | None,
    settings: tuple[int, int, bool],
    by_frequency: bool,
) -> Tensor:
    """The rows of each bag as one, [bags, size]; the settings are the mode, the integer that is padding or -1, and
    whether the last offset is the end."""
    pointers = table._ptr, input._ptr, address(offsets), address(scales)
    with_rows = table._edge is not None and mode.enabled
    result, rows = several(lib.embedding_bag_tensor(*pointers, *settings, with_rows))
    saved = table if edge(scales) else None, scales, input, offsets, rows
    return recorded(result, EmbeddingBagBackward, (table, scales), saved, settings, by_frequency)


class EmbeddingBagBackward(Node):
    """y_b = the sum or mean of s_i T[r_i]: dL/dT[r] = the sum of s_i G_b for all r_i = r, dL/ds_i = G_b . T[r_i]

    The gradient of a largest element goes to the row that it came from.
    """

    keeps_input = False

    def __init__(
        self, table: Tensor, scales: Tensor | None, saved: Any, settings: tuple[int, int, bool], by_frequency: bool
    ) -> None:
        super().__init__(table, scales)
        self.shape, self.saved, self.settings, self.by_frequency = table.shape, saved, settings, by_frequency

    def backward(self, gradient: Tensor) -> Gradients:
        table, scales, input, offsets, rows = map(self.unchanged, self.saved)
        zeros = gradient.new_zeros(self.shape)
        if rows is not None:
            return [zeros.scatter_add_(0, rows.clamp(min=0), gradient.masked_fill(rows < 0, 0)), None]
        if not gradient.numel:
            return self.fused(gradient)
        joined, padding, _ = self.settings
        bags, index, counted = _listed(input, offsets, padding, len(gradient))
        each = counted.unsqueeze(1)._choose(gradient.index_select(0, bags), 0.0)  # [integers, size]
        if joined == _MEAN:
            each = each / _frequency(bags, counted, len(gradient)).to(gradient.dtype)
        scaled = each if scales is None else each * scales.reshape(-1, 1)
        if self.by_frequency:
            scaled = scaled / _frequency(index, counted, self.shape[0]).to(gradient.dtype)
        to_scales = None
        if self.needs(1):
            to_scales = (each * table.index_select(0, index)).sum(1).reshape(input.shape)
        return [zeros.index_add(0, index, scaled) if self.needs(0) else None, to_scales]

    def fused(self, gradient: Tensor) -> Gradients:
        table, scales, input, offsets, rows = map(self.unchanged, self.saved)
        if rows is not None:
            return self.backward(gradient)
        pointers = gradient._ptr, address(table), input._ptr, address(offsets), address(scales)
        return several(
            lib.embedding_bag_backward(*pointers, self.shape[0], *self.settings, self.by_frequency, self.needed())
        )

    def release(self) -> None:
        super().release()
        self.saved = ()


def _listed(input: Tensor, offsets: Tensor | None, padding: int, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """Of each integer the bag, the row and whether it counts; one that does not has bag and row 0."""
    index = input.reshape(-1).long()
    places = counting(len(index), index.device)
    if offsets is None:
        bags = places.floor_divide(max(input.shape[1], 1))
    else:
        bags = wrap(lib.bins_tensor(offsets.long()._ptr, places._ptr, True)) - 1
    counted = (index != padding).logical_and(bags < count)
    return counted._choose(bags, 0), counted._choose(index, 0), counted


def _frequency(index: Tensor, counted: Tensor, count: int) -> Tensor:
    """How often an integer of `count` occurs, of each that counts, [integers, 1]; at least 1."""
    often = index.new_zeros(count).index_add(0, index, counted.long())
    return often.index_select(0, index).clamp(min=1).unsqueeze(1)
