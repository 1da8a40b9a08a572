"""Layers and losses that run as one call into C: the derivatives of linear, softmax, cross-entropy and mse.

Each backward has two forms. The formula, in tensor operations, is what a reader wants and what a second derivative
needs (`create_graph=True`); otherwise one C function computes the same in a single pass.
"""

from __future__ import annotations

from typing import Any

from ..._C import lib
from ...operation import address, mode, recorded, several, wrap
from ..function import Function

REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


# ---- Linear -----------------------------------------------------------------------------------------------------


def linear(x: Any, weight: Any, bias: Any) -> Any:
    """x W^T + b for rows x [..., in], weight [out, in], bias [out] or None; RuntimeError for other shapes or dtypes."""
    ptr = lib.linear_tensor(x._ptr, weight._ptr, address(bias))
    return recorded(wrap(ptr), LinearBackward, (x, weight, bias))


class LinearBackward(Function):
    """y = x W^T + b: dL/dx = G W, dL/dW = G^T x and dL/db = the sum of G, over the rows of x and G = dL/dy"""

    def backward(self, gradient: Any) -> list[Any]:
        if mode.enabled:
            return self._formula(gradient)
        # x is read for the gradient of the weight, and the other way round
        x = self.x if self.needs(1) else self.input[0]
        weight = self.y if self.needs(0) else self.input[1]
        return several(lib.linear_backward, 3, gradient._ptr, x._ptr, weight._ptr, self.needed())

    def _formula(self, gradient: Any) -> list[Any]:
        rows = gradient.reshape(-1, gradient.shape[-1])  # [rows, out]
        return [
            gradient @ self.y if self.needs(0) else None,
            rows.T @ self.x.reshape(-1, self.input[0].shape[-1]) if self.needs(1) else None,
            rows.sum(0) if self.needs(2) else None,
        ]


# ---- Softmax ----------------------------------------------------------------------------------------------------


class SoftmaxBackward(Function):
    """y = softmax(x): dL/dx = (G - sum(G y)) y, summed along the dimension"""

    keeps_input, saves_output = False, True

    def __init__(self, x: Any, dim: int) -> None:
        super().__init__(x)
        self.dim = dim

    def backward(self, gradient: Any) -> list[Any]:
        y = self.output
        if mode.enabled:
            return [(gradient - (gradient * y).sum(self.dim, keepdim=True)) * y]
        return [wrap(lib.softmax_backward(gradient._ptr, y._ptr, self.dim))]


class LogSoftmaxBackward(Function):
    """y = log softmax(x): dL/dx = G - exp(y) sum(G), summed along the dimension"""

    keeps_input, saves_output = False, True

    def __init__(self, x: Any, dim: int) -> None:
        super().__init__(x)
        self.dim = dim

    def backward(self, gradient: Any) -> list[Any]:
        y = self.output
        if mode.enabled:
            return [gradient - y.exp() * gradient.sum(self.dim, keepdim=True)]
        return [wrap(lib.log_softmax_backward(gradient._ptr, y._ptr, self.dim))]


# ---- Losses -----------------------------------------------------------------------------------------------------


def mse(predictions: Any, labels: Any, reduction: str) -> Any:
    """The mean or sum of (prediction - label)^2, shape [1]; RuntimeError if the two do not fit each other."""
    ptr = lib.mse_tensor(predictions._ptr, labels._ptr, REDUCTIONS[reduction])
    return recorded(wrap(ptr), MSEBackward, (predictions, labels), reduction)


class MSEBackward(Function):
    """L = mean((x - y)^2): dL/dx = 2 (x - y) / n, dL/dy = -dL/dx; a sum is not divided by n"""

    def __init__(self, predictions: Any, labels: Any, reduction: str) -> None:
        self.input = predictions, labels
        self.reduction = reduction

    def backward(self, gradient: Any) -> list[Any]:
        x, y = self.x, self.y
        if mode.enabled:
            scale = 2.0 / max(int(x.numel), 1) if self.reduction == "mean" else 2.0
            to_predictions = gradient * (scale * (x - y))
        else:
            ptr = lib.mse_backward(gradient._ptr, x._ptr, y._ptr, REDUCTIONS[self.reduction])
            to_predictions = wrap(ptr)
        return [to_predictions, None if self.edges[1] is None else -to_predictions]


def cross_entropy(logits: Any, target: Any, ignore_index: int, reduction: str) -> Any:
    """-log softmax(logits)[target], for class indices; shapes as in nn.functional.cross_entropy."""
    ptr = lib.cross_entropy_tensor(logits._ptr, target._ptr, ignore_index, REDUCTIONS[reduction])
    return recorded(wrap(ptr), CrossEntropyBackward, (logits, target), ignore_index, reduction)


class CrossEntropyBackward(Function):
    """L = -log softmax(x)[target]: dL/dx = softmax(x) - one_hot(target), divided by the count for a mean"""

    def __init__(self, logits: Any, target: Any, ignore_index: int, reduction: str) -> None:
        super().__init__(logits, target)
        self.ignore_index, self.reduction = ignore_index, reduction

    def backward(self, gradient: Any) -> list[Any]:
        logits, target = self.x, self.y
        if mode.enabled:
            return [self._formula(gradient, logits, target), None]
        code = REDUCTIONS[self.reduction]
        ptr = lib.cross_entropy_backward(gradient._ptr, logits._ptr, target._ptr, self.ignore_index, code)
        return [wrap(ptr), None]

    def _formula(self, gradient: Any, logits: Any, target: Any) -> Any:
        dim = min(1, logits.ndim - 1)
        lone = logits.ndim == 1  # its class is a scalar, of shape [1]
        counted = target != self.ignore_index
        index = counted._choose(target, 0).long()
        if not lone:
            index, counted = index.unsqueeze(dim), counted.unsqueeze(dim)
        one_hot = logits.detach().zeros_like().scatter(dim, index, 1.0)
        if self.reduction == "none" and not lone:
            gradient = gradient.unsqueeze(dim)
        if self.reduction == "mean":
            gradient = gradient / counted.sum().to(logits.dtype)
        return counted._choose(gradient * (logits.softmax(dim) - one_hot), 0.0)
