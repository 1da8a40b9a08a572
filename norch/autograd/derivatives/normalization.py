"""Normalization: batch, layer and group normalization are one operation on [outer, groups, inner]."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

from ..._C import lib
from ...operation import address, computed, recorded, several, wrap
from ...types import Operand
from ..node import Gradients, Node

if TYPE_CHECKING:
    from ...tensor import Tensor

BY_PLACE, BY_GROUP, BY_CHANNEL = 0, 1, 2  # what weight and bias have an element for
FIXED = 8  # among what is needed: mean and variance do not depend on x
Settings = tuple[int, int, int, float]  # outer, groups, one of these, eps


def normalize(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    outer: int,
    groups: int,
    affine: int,
    eps: float,
    told: Callable[[Tensor, Tensor], object] | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """(x - mean) / sqrt(variance + eps) * weight + bias; and mean and variance, [groups], without a graph.

    These are `told` before a graph keeps them, where the second run of a checkpoint may end.

    x is seen as [outer, groups, inner], the means are those of the groups. Weight and bias, or None, have an element
    for each group; for each place of the inner axis (then outer is 1, and a bias needs a weight); or for each channel
    of x [N, C, ...], whose groups are parts of the channels of a sample.
    """
    settings = outer, groups, affine, eps
    result, mean, variance = several(lib.normalize_tensor(x._ptr, address(weight), address(bias), *settings))
    if told is not None:
        told(mean, variance)
    return recorded(result, NormalizeBackward, (x, weight, bias), mean, variance, settings), mean, variance


def scale_and_shift(x: Tensor, scale: Operand, shift: Operand) -> Tensor:
    """x * scale + shift, which broadcast, without a graph."""
    return computed("scale_and_shift", None, x, scale, shift)


def normalize_by(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor, variance: Tensor, eps: float
) -> Tensor:
    """(x - mean) / sqrt(variance + eps) * weight + bias of each channel, by a mean and a variance without a graph."""
    operands = x._ptr, address(weight), address(bias), mean._ptr, variance._ptr
    settings = x.shape[0], x.shape[1], BY_GROUP, eps
    result = wrap(lib.normalize_by_tensor(*operands, eps))
    return recorded(result, NormalizeByBackward, (x, weight, bias), mean, variance, settings)


class _NormalizeBackward(Node):
    """What the derivatives of normalizations share; `release` drops mean and variance, which are no operands."""

    def __init__(
        self,
        x: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        mean: Any,
        variance: Any,
        settings: Settings,
    ) -> None:
        super().__init__(x, weight, bias)
        self.mean, self.variance, self.settings = mean, variance, settings

    def _weight(self) -> Tensor | None:
        return None if self.input[1] is None else self.y

    def release(self) -> None:
        super().release()
        self.mean = self.variance = None


class NormalizeBackward(_NormalizeBackward):
    """z = y w + b, y = (x - m) r, r = 1 / sqrt(v + eps): dL/dx = r (G w - mean(G w) - y mean(G w y)), over each group;
    dL/dw = the sum of G y and dL/db = the sum of G, for each element of w and b"""

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


class NormalizeByBackward(_NormalizeBackward):
    """z = y w + b, y = (x - m) r, r = 1 / sqrt(v + eps), by m and v that are given: dL/dx = G w r; dL/dw is the sum of
    G y and dL/db that of G, for each channel"""

    def __init__(
        self, x: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor, variance: Tensor, settings: Settings
    ) -> None:
        mean, variance = (wrap(lib.clone_tensor(each._ptr)) for each in (mean, variance))  # training changes them
        super().__init__(x, weight, bias, mean, variance, settings)

    def backward(self, gradient: Tensor) -> Gradients:
        others = (0, *range(2, gradient.ndim))
        y = (self.x - self._by_channel(self.mean)) * self._rate() if self.needs(1) else None
        return [
            gradient * self._scale() if self.needs(0) else None,
            None if y is None else (gradient * y).sum(others),
            gradient.sum(others) if self.needs(2) else None,
        ]

    def fused(self, gradient: Tensor) -> Gradients:
        if not self.needs(1) and not self.needs(2):
            return [gradient * self._scale(), None, None]
        operands = gradient._ptr, self.x._ptr, address(self._weight()), address(self.mean), address(self.variance)
        return several(lib.normalize_backward(*operands, *self.settings, self.needed() | FIXED))

    def _scale(self) -> Tensor:
        weight = self._weight()
        return self._rate() if weight is None else self._rate() * self._by_channel(weight)

    def _rate(self) -> Tensor:
        return self._by_channel((self.variance + self.settings[3]).rsqrt())

    def _by_channel(self, x: Tensor) -> Tensor:
        return x.reshape(1, -1, *(1,) * (self.input[0].ndim - 2))
