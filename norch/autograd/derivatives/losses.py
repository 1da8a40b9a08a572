"""The losses that C computes in one call, and their derivatives.

A loss for each pair of a prediction and a target is a row of LOSS_OPS in csrc/ops/operations.h, the same summed up one
of LOSSES.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, ClassVar

from ..._C import int64_array, lib, number
from ...operation import address, check, mode, operand, record, recorded, several, wrap
from ..node import Gradients, Node

if TYPE_CHECKING:
    from ...forward_declarations import Tensor
    from ...types import Operand

# ---- A loss for each pair ---------------------------------------------------------------------------------------


def huber(difference: Tensor, delta: float) -> Tensor:
    """d^2 / 2 if |d| <= delta, else delta (|d| - delta / 2); of each element, delta above 0.

    Without a graph it is written over the difference, which has to be the caller's own.
    """
    if difference._edge is None:
        check(lib.huber_into(difference._ptr, difference._ptr, number(float(delta))._ptr))
        return difference
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


class HuberBackward(Node):
    """L = d^2 / 2 within delta, delta (|d| - delta / 2) beyond: dL/dd = d, clamped to -delta and delta"""

    def __init__(self, difference: Tensor, delta: float) -> None:
        super().__init__(difference)
        self.delta = delta

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient * self.x.clamp(-self.delta, self.delta)]


class ShareBackward(Node):
    """L = x y: dL/dx = y, dL/dy = x; where x is 0 and y infinite, L and both derivatives are 0"""

    broadcasts = True

    def backward(self, gradient: Tensor) -> Gradients:
        x, y = self.x, self.y
        return [
            gradient * (x == 0).logical_and(y.isinf())._choose(0.0, y) if self.needs(0) else None,
            gradient * x if self.needs(1) else None,
        ]


class BCEBackward(Node):
    """L = -(y log x + (1 - y) log(1 - x)): dL/dx = (x - y) / (x (1 - x)), dL/dy = log(1 - x) - log x

    The denominator is at least 1e-12, as in PyTorch, and the logarithms are at least -100, as in the loss.
    """

    broadcasts = True

    def backward(self, gradient: Tensor) -> Gradients:
        x, y = self.x, self.y
        return [gradient * _bce_slope(x, y), self._to_y(gradient)]

    def fused(self, gradient: Tensor) -> Gradients:
        return [gradient * _call(lib.bce_slope_tensor, self.x, self.y), self._to_y(gradient)]

    def _to_y(self, gradient: Tensor) -> Tensor | None:
        return gradient * _bce_slope_of_target(self.x) if self.needs(1) else None


def _bce_slope(x: Tensor, y: Tensor) -> Tensor:
    return (x - y) / (x * (1 - x)).clamp(min=1e-12)


def _bce_slope_of_target(x: Tensor) -> Tensor:
    return (1 - x).log().clamp(min=-100) - x.log().clamp(min=-100)


class BCEWithLogitsBackward(Node):
    """L = -(y log s(x) + (1 - y) log s(-x)), with s the sigmoid: dL/dx = (1 - y) s(x) - y s(-x), dL/dy = -x"""

    broadcasts = True

    def backward(self, gradient: Tensor) -> Gradients:
        x, y = self.x, self.y
        return [gradient * _bce_with_logits_slope(x, y), self._to_y(gradient)]

    def fused(self, gradient: Tensor) -> Gradients:
        return [gradient * _call(lib.bce_with_logits_slope_tensor, self.x, self.y), self._to_y(gradient)]

    def _to_y(self, gradient: Tensor) -> Tensor | None:
        return gradient * -self.x if self.needs(1) else None


def _bce_with_logits_slope(x: Tensor, y: Tensor) -> Tensor:
    return (1 - y) * x.sigmoid() - y * (-x).sigmoid()


# ---- Reduced in the same call -----------------------------------------------------------------------------------

REDUCTIONS = {"none": 0, "mean": 1, "sum": 2, "batchmean": 3}


class _SummedLossBackward(Node):
    """L = the mean of l(x, y) over all pairs: dL/dx = dl/dx / n, dL/dy = dl/dy / n; a sum is not divided by n

    A class of it names the functions of a row of LOSSES in csrc/ops/operations.h.
    """

    loss: ClassVar[Callable[..., int]]
    to_predictions: ClassVar[Callable[..., int]]
    of_difference: ClassVar[bool] = False  # whether l is a function of x - y, so that dl/dy = -dl/dx

    def __init__(self, x: Tensor, y: Tensor, parameter: float, reduction: str) -> None:
        super().__init__(x, y)
        self.parameter, self.reduction = parameter, reduction

    def slopes(self, x: Tensor, y: Tensor) -> Gradients:
        """dl/dx and dl/dy of each pair; None if it is 0, or not defined."""
        raise NotImplementedError

    def backward(self, gradient: Tensor) -> Gradients:
        x, y = self.x, self.y
        if self.reduction != "sum":
            gradient = gradient / float(max(x.numel if self.reduction == "mean" else (*x.shape, 1)[0], 1))
        return [None if slope is None else gradient * slope for slope in self.slopes(x, y)]

    def fused(self, gradient: Tensor) -> Gradients:
        to_target = self.edges[1] is not None
        if to_target and not self.of_difference:
            return self.backward(gradient)
        x, y = self.operands()
        code = REDUCTIONS[self.reduction]
        to_x = wrap(self.to_predictions(gradient._ptr, x._ptr, y._ptr, self.parameter, code))
        return [to_x, -to_x if to_target else None]


def _summed(kind: type[_SummedLossBackward]) -> Callable[..., Tensor]:
    """The loss of predictions and targets; RuntimeError if they do not fit each other."""

    def call(x: Tensor, y: Tensor, reduction: str, parameter: float = 0.0) -> Tensor:
        parameter = float(parameter)
        result = wrap(kind.loss(x._ptr, y._ptr, parameter, REDUCTIONS[reduction]))
        edges = x._edge, y._edge
        if any(edges) and mode.enabled:
            record(result, kind(x, y, parameter, reduction), edges)
        return result

    return call


class MSEBackward(_SummedLossBackward):
    """l = (x - y)^2: dl/dx = 2 (x - y)"""

    loss, to_predictions, of_difference = lib.mse_tensor, lib.mse_backward, True

    def slopes(self, x: Tensor, y: Tensor) -> Gradients:
        slope = 2.0 * (x - y)
        return [slope, -slope]


class L1LossBackward(_SummedLossBackward):
    """l = |x - y|: dl/dx = sign(x - y)"""

    loss, to_predictions, of_difference = lib.l1_loss_tensor, lib.l1_loss_backward, True

    def slopes(self, x: Tensor, y: Tensor) -> Gradients:
        slope = (x - y).sign()
        return [slope, -slope]


class HuberLossBackward(_SummedLossBackward):
    """l = d^2 / 2 within delta, delta (|d| - delta / 2) beyond, for d = x - y: dl/dx = d, clamped to [-delta, delta]"""

    loss, to_predictions, of_difference = lib.huber_loss_tensor, lib.huber_loss_backward, True

    def slopes(self, x: Tensor, y: Tensor) -> Gradients:
        slope = (x - y).clamp(-self.parameter, self.parameter)
        return [slope, -slope]


class SmoothL1LossBackward(_SummedLossBackward):
    """l = huber(x - y, beta) / beta: dl/dx = x - y, clamped to [-beta, beta], / beta"""

    loss, to_predictions, of_difference = lib.smooth_l1_loss_tensor, lib.smooth_l1_loss_backward, True

    def slopes(self, x: Tensor, y: Tensor) -> Gradients:
        slope = (x - y).clamp(-self.parameter, self.parameter) / self.parameter
        return [slope, -slope]


class BCELossBackward(_SummedLossBackward):
    """l = -(y log x + (1 - y) log(1 - x)): the slopes of BCEBackward"""

    loss, to_predictions = lib.bce_loss_tensor, lib.bce_loss_backward

    def slopes(self, x: Tensor, y: Tensor) -> Gradients:
        return [_bce_slope(x, y), _bce_slope_of_target(x) if self.needs(1) else None]


class BCEWithLogitsLossBackward(_SummedLossBackward):
    """l = -(y log s(x) + (1 - y) log s(-x)), with s the sigmoid: the slopes of BCEWithLogitsBackward"""

    loss, to_predictions = lib.bce_with_logits_loss_tensor, lib.bce_with_logits_loss_backward

    def slopes(self, x: Tensor, y: Tensor) -> Gradients:
        return [_bce_with_logits_slope(x, y), -x if self.needs(1) else None]


class SoftMarginLossBackward(_SummedLossBackward):
    """l = log(1 + e^(-x y)): dl/dx = -y s(-x y), dl/dy = -x s(-x y), with s the sigmoid"""

    loss, to_predictions = lib.soft_margin_loss_tensor, lib.soft_margin_loss_backward

    def slopes(self, x: Tensor, y: Tensor) -> Gradients:
        wrong = (-y * x).sigmoid()
        return [-y * wrong, -x * wrong]


class MarginLossBackward(_SummedLossBackward):
    """l = max(0, m - x y): dl/dx = -y, dl/dy = -x where the margin m is not exceeded"""

    loss, to_predictions = lib.margin_loss_tensor, lib.margin_loss_backward

    def slopes(self, x: Tensor, y: Tensor) -> Gradients:
        missed = self.parameter - (y * x).detach() >= 0
        return [missed._choose(-y, 0.0), missed._choose(-x, 0.0)]


class HingeEmbeddingLossBackward(_SummedLossBackward):
    """l = x where y = 1, max(0, m - x) where y = -1, both elsewhere: dl/dx = 1, -1 up to the margin m, their sum"""

    loss, to_predictions = lib.hinge_embedding_loss_tensor, lib.hinge_embedding_loss_backward

    def slopes(self, x: Tensor, y: Tensor) -> Gradients:
        near = (y != 1).logical_and(self.parameter - x >= 0)
        return [(y != -1).to(x.dtype) - near.to(x.dtype), None]

    def fused(self, gradient: Tensor) -> Gradients:
        return [super().fused(gradient)[0], None]


class PoissonNLLLossBackward(_SummedLossBackward):
    """l = e^x - y x: dl/dx = e^x - y, dl/dy = -x"""

    loss, to_predictions = lib.poisson_nll_loss_tensor, lib.poisson_nll_loss_backward

    def slopes(self, x: Tensor, y: Tensor) -> Gradients:
        return [x.exp() - y, -x]


class KLDivLossBackward(_SummedLossBackward):
    """l = y (log y - x), for a target y without a graph: dl/dx = -y"""

    loss, to_predictions = lib.kl_div_loss_tensor, lib.kl_div_loss_backward

    def slopes(self, x: Tensor, y: Tensor) -> Gradients:
        return [-y, None]


mse, l1_loss, huber_loss = _summed(MSEBackward), _summed(L1LossBackward), _summed(HuberLossBackward)
smooth_l1_loss, kl_div_loss = _summed(SmoothL1LossBackward), _summed(KLDivLossBackward)
bce_loss, bce_with_logits_loss = _summed(BCELossBackward), _summed(BCEWithLogitsLossBackward)
soft_margin_loss, margin_loss = _summed(SoftMarginLossBackward), _summed(MarginLossBackward)
hinge_embedding_loss, poisson_nll_loss = _summed(HingeEmbeddingLossBackward), _summed(PoissonNLLLossBackward)

# ---- Of classes -------------------------------------------------------------------------------------------------


def cross_entropy(logits: Tensor, target: Tensor, ignore_index: int, reduction: str, smoothing: float) -> Tensor:
    """-log softmax(logits)[target], for class indices; shapes and smoothing as in nn.functional.cross_entropy."""
    ptr = lib.cross_entropy_tensor(logits._ptr, target._ptr, ignore_index, REDUCTIONS[reduction], smoothing)
    return recorded(wrap(ptr), CrossEntropyBackward, (logits, target), ignore_index, reduction, smoothing)


def nll(log_p: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: str) -> Tensor:
    """-weight * log_p[target], for class indices; shapes as in nn.functional.nll_loss. The weights have no graph."""
    code = REDUCTIONS[reduction]
    loss, *kept = several(lib.nll_tensor(log_p._ptr, target._ptr, address(weight), ignore_index, code))
    return recorded(loss, NLLBackward, (log_p,), reduction, kept)


def _some(total: Tensor) -> Tensor:
    """The total weight, or 1 if no sample counts: the mean is NaN then, and its gradient 0."""
    return total + (total == 0)


class NLLBackward(Node):
    """L = -w x[target]: dL/dx = -w at the target, 0 elsewhere, divided by the sum of the weights for a mean"""

    keeps_input = False

    def __init__(self, x: Tensor, reduction: str, kept: list[Tensor]) -> None:
        super().__init__(x)
        self.shape, self.reduction, self.kept = x.shape, reduction, kept

    def backward(self, gradient: Tensor) -> Gradients:
        index, shares, total = self.kept
        slope = -(gradient.reshape(-1, 1) * shares)
        slope = slope / _some(total) if self.reduction == "mean" else slope
        rank = len(self.shape)
        classes = self.shape[min(rank - 1, 1)]
        rows = gradient.new_zeros(index.shape[0], classes).scatter_(1, index, slope)
        if rank <= 2:
            return [rows.reshape(self.shape)]
        return [rows.reshape(self.shape[0], *self.shape[2:], classes).movedim(-1, 1)]

    def fused(self, gradient: Tensor) -> Gradients:
        index, shares, total = self.kept
        divisor = _some(total) if self.reduction == "mean" else None
        shape, ndim = int64_array(self.shape), len(self.shape)
        return [wrap(lib.nll_backward(gradient._ptr, index._ptr, shares._ptr, address(divisor), shape, ndim))]

    def release(self) -> None:
        super().release()
        self.kept = []


class CrossEntropyBackward(Node):
    """L = -log softmax(x)[target]: dL/dx = softmax(x) - one_hot(target), divided by the count for a mean. Smoothing s
    takes (1 - s) one_hot(target) + s / C"""

    def __init__(self, logits: Tensor, target: Tensor, ignore_index: int, reduction: str, smoothing: float) -> None:
        super().__init__(logits, target)
        self.ignore_index, self.reduction, self.smoothing = ignore_index, reduction, smoothing

    def backward(self, gradient: Tensor) -> Gradients:
        logits, target = self.x, self.y
        lone = logits.ndim == 1  # [C], whose target is a scalar
        dim = 0 if lone else 1
        counted = target != self.ignore_index
        index = counted._choose(target, 0).long()
        if not lone:
            index, counted = index.unsqueeze(dim), counted.unsqueeze(dim)
        even = self.smoothing / max(logits.shape[dim], 1)
        goal = logits.new_full(logits.shape, even).scatter(dim, index, 1.0 - self.smoothing + even)
        if self.reduction == "none" and not lone:
            gradient = gradient.unsqueeze(dim)
        if self.reduction == "mean":
            gradient = gradient / _some(counted.sum()).to(logits.dtype)
        return [counted._choose(gradient * (logits.softmax(dim) - goal), 0.0), None]

    def fused(self, gradient: Tensor) -> Gradients:
        code = REDUCTIONS[self.reduction]
        pointers = gradient._ptr, self.x._ptr, self.y._ptr
        return [wrap(lib.cross_entropy_backward(*pointers, self.ignore_index, code, float(self.smoothing))), None]
