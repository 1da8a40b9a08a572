"""The losses that C computes in one call, and their derivatives.

A loss for each pair of a prediction and a target is a row of LOSS_OPS in csrc/ops/operations.h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable

from ..._C import lib
from ...operation import address, mode, operand, record, recorded, several, wrap
from ..function import Function, Gradients

if TYPE_CHECKING:
    from ...tensor import Tensor
    from ...types import Operand

# ---- A loss for each pair ---------------------------------------------------------------------------------------


def huber(difference: Tensor, delta: float) -> Tensor:
    """d^2 / 2 if |d| <= delta, else delta (|d| - delta / 2); of each element, delta above 0."""
    return recorded(_call(lib.huber_tensor, difference, float(delta)), HuberBackward, (difference,), delta)


def share(x: Tensor, y: Tensor) -> Tensor:
    """x y of each pair, broadcast; a share x of 0 gives 0 even of an infinite y."""
    return recorded(_call(lib.share_tensor, x, y), ShareBackward, (x, y))


def bce(x: Tensor, y: Tensor) -> Tensor:
    """-(y log(x) + (1 - y) log(1 - x)) of each pair, with no logarithm below -100."""
    return recorded(_call(lib.bce_tensor, x, y), BCEBackward, (x, y))


def bce_with_logits(x: Tensor, y: Operand) -> Tensor:
    """-(y log sigmoid(x) + (1 - y) log sigmoid(-x)) of each pair; y may be a number."""
    return recorded(_call(lib.bce_with_logits_tensor, x, y), BCEWithLogitsBackward, (x, y))


def _call(function: Callable[..., int], x: Tensor, y: Operand) -> Tensor:
    return wrap(function(x._ptr, operand(y)._ptr))


class HuberBackward(Function):
    """L = d^2 / 2 within delta, delta (|d| - delta / 2) beyond: dL/dd = d, clamped to -delta and delta"""

    def __init__(self, difference: Tensor, delta: float) -> None:
        super().__init__(difference)
        self.delta = delta

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient * self.x.clamp(-self.delta, self.delta)]


class ShareBackward(Function):
    """L = x y: dL/dx = y, dL/dy = x; where x is 0 and y infinite, L and both derivatives are 0"""

    broadcasts = True

    def backward(self, gradient: Tensor) -> Gradients:
        x, y = self.x, self.y
        return [
            gradient * (x == 0).logical_and(y.isinf())._choose(0.0, y) if self.needs(0) else None,
            gradient * x if self.needs(1) else None,
        ]


class BCEBackward(Function):
    """L = -(y log x + (1 - y) log(1 - x)): dL/dx = (x - y) / (x (1 - x)), dL/dy = log(1 - x) - log x

    The denominator is at least 1e-12, as in PyTorch, and the logarithms are at least -100, as in the loss.
    """

    broadcasts = True

    def backward(self, gradient: Tensor) -> Gradients:
        x, y = self.x, self.y
        return [gradient * ((x - y) / (x * (1 - x)).clamp(min=1e-12)), self._to_y(gradient)]

    def fused(self, gradient: Tensor) -> Gradients:
        return [gradient * _call(lib.bce_slope_tensor, self.x, self.y), self._to_y(gradient)]

    def _to_y(self, gradient: Tensor) -> Tensor | None:
        x = self.x
        return gradient * ((1 - x).log().clamp(min=-100) - x.log().clamp(min=-100)) if self.needs(1) else None


class BCEWithLogitsBackward(Function):
    """L = -(y log s(x) + (1 - y) log s(-x)), with s the sigmoid: dL/dx = (1 - y) s(x) - y s(-x), dL/dy = -x"""

    broadcasts = True

    def backward(self, gradient: Tensor) -> Gradients:
        x, y = self.x, self.y
        return [gradient * ((1 - y) * x.sigmoid() - y * (-x).sigmoid()), self._to_y(gradient)]

    def fused(self, gradient: Tensor) -> Gradients:
        return [gradient * _call(lib.bce_with_logits_slope_tensor, self.x, self.y), self._to_y(gradient)]

    def _to_y(self, gradient: Tensor) -> Tensor | None:
        return gradient * -self.x if self.needs(1) else None


# ---- Reduced in the same call -----------------------------------------------------------------------------------

REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def mse(predictions: Tensor, labels: Tensor, reduction: str) -> Tensor:
    """The mean or sum of (prediction - label)^2, shape [1]; RuntimeError if the two do not fit each other."""
    result = wrap(lib.mse_tensor(predictions._ptr, labels._ptr, REDUCTIONS[reduction]))
    edges = predictions._edge, labels._edge
    if any(edges) and mode.enabled:
        record(result, MSEBackward(predictions, labels, reduction), edges)
    return result


class MSEBackward(Function):
    """L = mean((x - y)^2): dL/dx = 2 (x - y) / n, dL/dy = -dL/dx; a sum is not divided by n"""

    def __init__(self, predictions: Tensor, labels: Tensor, reduction: str) -> None:
        super().__init__(predictions, labels)
        self.reduction = reduction

    def backward(self, gradient: Tensor) -> Gradients:
        scale = 2.0 / max(int(self.x.numel), 1) if self.reduction == "mean" else 2.0
        return self._both(gradient * (scale * (self.x - self.y)))

    def fused(self, gradient: Tensor) -> Gradients:
        code = REDUCTIONS[self.reduction]
        return self._both(wrap(lib.mse_backward(gradient._ptr, self.x._ptr, self.y._ptr, code)))

    def _both(self, to_x: Tensor) -> Gradients:
        return [to_x, None if self.edges[1] is None else -to_x]


def cross_entropy(logits: Tensor, target: Tensor, ignore_index: int, reduction: str) -> Tensor:
    """-log softmax(logits)[target], for class indices; shapes as in nn.functional.cross_entropy."""
    ptr = lib.cross_entropy_tensor(logits._ptr, target._ptr, ignore_index, REDUCTIONS[reduction])
    return recorded(wrap(ptr), CrossEntropyBackward, (logits, target), ignore_index, reduction)


def nll(log_p: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: str) -> Tensor:
    """-weight * log_p[target], for class indices; shapes as in nn.functional.nll_loss. The weights have no graph."""
    code = REDUCTIONS[reduction]
    loss, *kept = several(lib.nll_tensor(log_p._ptr, target._ptr, address(weight), ignore_index, code))
    return recorded(loss, NLLBackward, (log_p,), reduction, kept)


class NLLBackward(Function):
    """L = -w x[target]: dL/dx = -w at the target, 0 elsewhere, divided by the sum of the weights for a mean"""

    keeps_input = False

    def __init__(self, x: Tensor, reduction: str, kept: list[Tensor]) -> None:
        super().__init__(x)
        self.shape, self.reduction, self.kept = x.shape, reduction, kept

    def backward(self, gradient: Tensor) -> Gradients:
        index, shares, total = self.kept
        slope = -(gradient.reshape(-1, 1) * shares)
        slope = slope / total if self.reduction == "mean" else slope
        rank = len(self.shape)
        classes = self.shape[min(rank - 1, 1)]
        rows = gradient.new_zeros(index.shape[0], classes).scatter_(1, index, slope)
        if rank <= 2:
            return [rows.reshape(self.shape)]
        return [rows.reshape(self.shape[0], *self.shape[2:], classes).movedim(-1, 1)]

    def release(self) -> None:
        super().release()
        self.kept = []


class CrossEntropyBackward(Function):
    """L = -log softmax(x)[target]: dL/dx = softmax(x) - one_hot(target), divided by the count for a mean"""

    def __init__(self, logits: Tensor, target: Tensor, ignore_index: int, reduction: str) -> None:
        super().__init__(logits, target)
        self.ignore_index, self.reduction = ignore_index, reduction

    def backward(self, gradient: Tensor) -> Gradients:
        logits, target = self.x, self.y
        lone = logits.ndim == 1  # [C], whose target is a scalar
        dim = 0 if lone else 1
        counted = target != self.ignore_index
        index = counted._choose(target, 0).long()
        if not lone:
            index, counted = index.unsqueeze(dim), counted.unsqueeze(dim)
        one_hot = logits.detach().zeros_like().scatter(dim, index, 1.0)
        if self.reduction == "none" and not lone:
            gradient = gradient.unsqueeze(dim)
        if self.reduction == "mean":
            gradient = gradient / counted.sum().to(logits.dtype)
        return [counted._choose(gradient * (logits.softmax(dim) - one_hot), 0.0), None]

    def fused(self, gradient: Tensor) -> Gradients:
        code = REDUCTIONS[self.reduction]
        ptr = lib.cross_entropy_backward(gradient._ptr, self.x._ptr, self.y._ptr, self.ignore_index, code)
        return [wrap(ptr), None]
