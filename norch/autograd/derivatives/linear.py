"""The linear layer: one call into C each way."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..._C import lib, write_clock
from ...operation import address, edge, mode, record, several, wrap
from ..node import Gradients, Node

if TYPE_CHECKING:
    from ...tensor import Tensor


def linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """x W^T + b for rows x [..., in], weight [out, in], bias [out] or None; RuntimeError for other shapes or dtypes."""
    result = wrap(lib.linear_tensor(x._ptr, weight._ptr, address(bias)))
    edges = x._edge, weight._edge, edge(bias)
    if any(edges) and mode.enabled:
        record(result, LinearBackward(x, weight, bias), edges)
    return result


class LinearBackward(Node):
    """y = x W^T + b: dL/dx = G W, dL/dW = G^T x and dL/db = the sum of G, over the rows of x and G = dL/dy"""

    def backward(self, gradient: Tensor) -> Gradients:
        rows = _rows(gradient)  # [rows, out]
        return [
            gradient @ self.y if self.needs(0) else None,
            rows.T @ _rows(self.x) if self.needs(1) else None,
            rows.sum(0) if self.needs(2) else None,
        ]

    def fused(self, gradient: Tensor) -> Gradients:
        x, weight, _ = self.input
        to_x, to_weight, _ = self.edges
        if not to_x and not to_weight:  # then neither is looked at: they may have got another shape
            return self.backward(gradient)
        if write_clock.value > self.stamp:  # what is read must be what it was
            x, weight = self.x if to_weight else x, self.y if to_x else weight
        return several(lib.linear_backward(gradient._ptr, x._ptr, weight._ptr, self.needed()))


def _rows(x: Tensor) -> Tensor:
    """x as a matrix [rows, x.shape[-1]]; of no elements -1 would not tell how many."""
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1])
