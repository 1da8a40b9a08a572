"""A border around a tensor, and its derivative."""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

from ...operation import recorded
from ..function import Function, Gradients
from ..mode import no_grad

if TYPE_CHECKING:
    from ...tensor import Tensor


def bordered(x: Tensor, shape: Sequence[int], inner: tuple[slice, ...], value: float) -> Tensor:
    """A tensor of this shape, with x in the slices `inner` and one value everywhere else."""
    with no_grad():
        result = x.new_full(shape, value)
        result[inner] = x
    return recorded(result, BorderedBackward, (x,), inner)


class BorderedBackward(Function):
    """The border is constant: dL/dx = G[inner]"""

    keeps_input = False

    def __init__(self, x: Tensor, inner: tuple[slice, ...]) -> None:
        super().__init__(x)
        self.inner = inner

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient[self.inner]]
