"""A border around a tensor, and its derivative."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Sequence

from ..._C import lib, number
from ...operation import recorded, wrap
from ..function import Function, Gradients

if TYPE_CHECKING:
    from ...forward_declarations import Tensor


def padded(x: Tensor, amounts: Sequence[int], value: float) -> Tensor:
    """x with a value before and after its last dimension, then the one before it...; negative amounts take away."""
    packed = struct.pack(f"{len(amounts)}q", *amounts)
    result = wrap(lib.pad_tensor(x._ptr, packed, len(amounts), number(value)._ptr))
    return recorded(result, PadBackward, (x,), amounts)


class PadBackward(Function):
    """The border is constant: the gradient without it, and 0 where an element was taken away."""

    keeps_input = False

    def __init__(self, x: Tensor, amounts: Sequence[int]) -> None:
        super().__init__(x)
        self.amounts = amounts

    def backward(self, gradient: Tensor) -> Gradients:
        return [padded(gradient, [-amount for amount in self.amounts], 0)]
