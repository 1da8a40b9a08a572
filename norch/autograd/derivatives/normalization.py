"""Normalization: batch, layer and group normalization are one operation on [outer, groups, inner]."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._C import lib
from ...operation import address, computed, recorded, several
from ...types import Operand
from ..function import Function, Gradients

if TYPE_CHECKING:
    from ...tensor import Tensor

BY_PLACE, BY_GROUP, BY_CHANNEL = 0, 1, 2  # what weight and bias have an element for
Settings = tuple[int, int, int, float]  # outer, groups, one of these, eps


def normalize(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, outer: int, groups: int, affine: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """(x - mean) / sqrt(variance + eps) * weight + bias; and mean and variance, [groups], without a graph.

    x is seen as [outer, groups, inner], the means are those of the groups. Weight and bias, or None, have an element
    for each group; for each place of the inner axis (then outer is 1, and a bias needs a weight); or for each channel
    of x [N, C, ...], whose groups are parts of the channels of a sample.
    """
    settings = outer, groups, affine, eps
    result, mean, variance = several(lib.normalize_tensor(x._ptr, address(weight), address(bias), *settings))
    return recorded(result, NormalizeBackward, (x, weight, bias), mean, variance, settings), mean, variance


def scale_and_shift(x: Tensor, scale: Operand, shift: Operand) -> Tensor:
    """x * scale + shift, which broadcast."""
    return computed("scale_and_shift", ScaleAndShiftBackward, x, scale, shift)


class ScaleAndShiftBackward(Function):
    """y = x s + t: dy/dx = s, dy/ds = x, dy/dt = 1"""

    broadcasts = True

    def backward(self, gradient: Tensor) -> Gradients:
        return [
            gradient * self.y if self.needs(0) else None,
            gradient * self.x if self.needs(1) else None,
            gradient if self.needs(2) else None,
        ]

    def fused(self, gradient: Tensor) -> Gradients:
        x, scale, shift = self.input
        needed, by_channel = self.needed() & 0b110, (1, *x.shape[1:2], *(1,) * (x.ndim - 2))
        shapes = [getattr(operand, "shape", None) for operand in (scale, shift)]
        fits = x.ndim > 1 and shapes == [by_channel] * 2 and gradient.dtype == x.dtype and gradient.numel
        if not needed or not fits:
            return self.backward(gradient)
        # dL/ds and dL/dt are the gradients of weight and bias of a normalization by a mean of 0 and a variance of 1
        samples, channels = x.shape[:2]
        mean, variance = x.new_zeros(channels), x.new_ones(channels)
        operands = gradient._ptr, self.x._ptr, None, mean._ptr, variance._ptr
        sums = several(lib.normalize_backward(*operands, samples, channels, BY_GROUP, 0.0, needed))
        return [
            gradient * self.y if self.needs(0) else None,
            *(total if total is None else total.reshape(by_channel) for total in sums[1:]),
        ]


class NormalizeBackward(Function):
    """z = y w + b, y = (x - m) r, r = 1 / sqrt(v + eps): dL/dx = r (G w - mean(G w) - y mean(G w y)), over each group;
    dL/dw = the sum of G y and dL/db = the sum of G, for each element of w and b"""

    def __init__(
        self,
        x: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        mean: Tensor | None,
        variance: Tensor | None,
        settings: Settings,
    ) -> None:
        super().__init__(x, weight, bias)
        self.mean, self.variance, self.settings = mean, variance, settings

    def backward(self, gradient: Tensor) -> Gradients:
        x, weight = self.x, self._weight()
        outer, groups, affine, eps = self.settings
        rows, g = x.reshape(outer, groups, -1), gradient.reshape(outer, groups, -1)
        over_group = (0, 2)
        centred = rows - rows.mean(over_group, keepdim=True)
        rate = ((centred * centred).mean(over_group, keepdim=True) + eps).rsqrt()
        y = centred * rate
        # weight and bias are one dimension of this shape, and constant along the others
        seen = (*x.shape[:2], -1) if affine == BY_CHANNEL else (outer, groups, -1)
        along, others = ([1, 1, -1], (0, 1)) if affine == BY_PLACE else ([1, -1, 1], (0, 2))
        weighted = g if weight is None else (g.reshape(seen) * weight.reshape(along)).reshape(g.shape)
        shared = weighted.mean(over_group, keepdim=True) + y * (weighted * y).mean(over_group, keepdim=True)
        return [
            (rate * (weighted - shared)).reshape(x.shape) if self.needs(0) else None,
            (g * y).reshape(seen).sum(others).reshape(self.input[1].shape) if self.needs(1) else None,
            g.reshape(seen).sum(others).reshape(self.input[2].shape) if self.needs(2) else None,
        ]

    def fused(self, gradient: Tensor) -> Gradients:
        operands = gradient._ptr, self.x._ptr, address(self._weight()), address(self.mean), address(self.variance)
        return several(lib.normalize_backward(*operands, *self.settings, self.needed()))

    def _weight(self) -> Tensor | None:
        return None if self.input[1] is None else self.y

    def release(self) -> None:
        super().release()
        self.mean = self.variance = None
