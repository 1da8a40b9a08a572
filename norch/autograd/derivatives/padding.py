"""A border around a tensor, and its derivative."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Sequence

from ..._C import int64_array, lib, number
from ...operation import recorded, wrap
from ..node import Gradients, Node

if TYPE_CHECKING:
    from ...forward_declarations import Tensor

CONSTANT, REFLECT, REPLICATE, CIRCULAR = range(4)  # Padding::Mode in csrc/ops/padding.h


def padded(x: Tensor, amounts: Sequence[int], value: float = 0, mode: int = CONSTANT) -> Tensor:
    """x with elements before and after its last dimension, then the one before it...; negative amounts take away."""
    packed = struct.pack(f"{len(amounts)}q", *amounts)
    result = wrap(lib.pad_tensor(x._ptr, packed, len(amounts), number(value)._ptr, mode))
    return recorded(result, PadBackward, (x,), amounts, mode)


def collected(x: Tensor, shape: Sequence[int], amounts: Sequence[int], mode: int) -> Tensor:
    """The sums of the elements of x that `padded` would take from each element of a tensor of this shape."""
    packed = struct.pack(f"{len(amounts)}q", *amounts)
    result = wrap(lib.pad_backward(x._ptr, int64_array(shape), packed, len(amounts), mode))
    return recorded(result, CollectBackward, (x,), amounts, mode)


class PadBackward(Node):
    """Each element of the result is one of x, or constant: dL/dx sums the gradients of its places"""

    keeps_input = False

    def __init__(self, x: Tensor, amounts: Sequence[int], mode: int) -> None:
        super().__init__(x)
        self.shape, self.amounts, self.mode = x.shape, amounts, mode

    def backward(self, gradient: Tensor) -> Gradients:
        return [collected(gradient, self.shape, self.amounts, self.mode)]


class CollectBackward(Node):
    """What sums elements spreads the gradient of the sum: padding again"""

    keeps_input = False

    def __init__(self, x: Tensor, amounts: Sequence[int], mode: int) -> None:
        super().__init__(x)
        self.amounts, self.mode = amounts, mode

    def backward(self, gradient: Tensor) -> Gradients:
        return [padded(gradient, self.amounts, 0, self.mode)]
