"""Normalization: batch, layer and group normalization are one operation on [outer, groups, inner]."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._C import lib
from ...operation import address, recorded, several
from ..function import Function, Gradients

if TYPE_CHECKING:
    from ...tensor import Tensor

Settings = tuple[int, int, bool, float]  # outer, groups, by_group, eps


def normalize(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, outer: int, groups: int, by_group: bool, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """(x - mean) / sqrt(variance + eps) * weight + bias; and mean and variance, [groups], without a graph.

    x is seen as [outer, groups, inner], the means are those of the groups. Weight and bias, or None, have an element
    for each group if `by_group`, else for each place of the inner axis; then outer is 1, and a bias needs a weight.
    """
    settings = outer, groups, by_group, eps
    result, mean, variance = several(lib.normalize_tensor(x._ptr, address(weight), address(bias), *settings))
    return recorded(result, NormalizeBackward, (x, weight, bias), mean, variance, settings), mean, variance


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
        outer, groups, by_group, eps = self.settings
        rows, g = x.reshape(outer, groups, -1), gradient.reshape(outer, groups, -1)
        over_group = (0, 2)
        centred = rows - rows.mean(over_group, keepdim=True)
        rate = ((centred * centred).mean(over_group, keepdim=True) + eps).rsqrt()
        y = centred * rate
        weighted = g if weight is None else g * weight.reshape([1, groups, 1] if by_group else [1, 1, -1])
        shared = weighted.mean(over_group, keepdim=True) + y * (weighted * y).mean(over_group, keepdim=True)
        over_others = over_group if by_group else (0, 1)
        return [
            (rate * (weighted - shared)).reshape(x.shape) if self.needs(0) else None,
            (g * y).sum(over_others).reshape(self.input[1].shape) if self.needs(1) else None,
            g.sum(over_others).reshape(self.input[2].shape) if self.needs(2) else None,
        ]

    def fused(self, gradient: Tensor) -> Gradients:
        operands = gradient._ptr, self.x._ptr, address(self._weight()), address(self.mean), address(self.variance)
        return several(lib.normalize_backward(*operands, *self.settings, self.needed()))

    def _weight(self) -> Tensor | None:
        return None if self.input[1] is None else self.y

    def release(self) -> None:
        super().release()
        self.mean = self.variance = None
