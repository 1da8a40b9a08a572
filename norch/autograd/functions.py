"""The derivatives of the basic operations, one class each: the article's `XBackward(x, y).backward(gradient)`.

Each `backward` returns a list with a gradient for each operand, written in tensor operations, so that it can itself be
differentiated. None of them knows of broadcasting: the engine sums a gradient to its operand's shape. A gradient may be
None if its operand needs none (`self.needs(i)` is false). A second method, `fused`, computes the same gradients by one
call into C; the engine takes it unless backward itself is to be differentiated.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Optional, Sequence

from .. import operation
from .._C import lib, number
from ..operation import wrap
from ..packing import counting
from ..types import Size
from .node import Gradients, Node

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

Axes = Optional[Sequence[int]]  # of a reduction; None for all

# ---- Arithmetic -------------------------------------------------------------------------------------------------


class _SumBackward(Node):
    """A sum or difference, whose derivative reads of its operands the sizes alone."""

    broadcasts = only_sizes = True

    def release(self) -> None:
        """Let go of the operands that are not broadcast: nothing is summed to their sizes if the walk comes again."""
        self.freed = True
        x, y = self.input
        if x is None:  # written over in place: y may have been broadcast to it
            return
        if not isinstance(x, operation.Tensor) or not isinstance(y, operation.Tensor) or lib.same_kind(x._ptr, y._ptr):
            self.input = None, None
        elif x.dtype is y.dtype:
            self.input = None if _holds(x.shape, y.shape) else x, None if _holds(y.shape, x.shape) else y


def _holds(shape: Size, other: Size) -> bool:
    """Whether a shape broadcasts to another one without changing that."""
    return len(other) <= len(shape) and all(size in (1, own) for own, size in zip(shape[::-1], other[::-1]))


class AddBackward(_SumBackward):
    """d(x + y)/dx = 1, d(x + y)/dy = 1"""

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient, gradient]


class SubBackward(_SumBackward):
    """d(x - y)/dx = 1, d(x - y)/dy = -1"""

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient, -gradient if self.needs(1) else None]


class ElementwiseMulBackward(Node):
    """d(x y)/dx = y, d(x y)/dy = x"""

    broadcasts = True

    def reads_x(self) -> bool:
        return self.needs(1)

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient * self.y if self.needs(0) else None, gradient * self.x if self.needs(1) else None]


class DivBackward(Node):
    """d(x / y)/dx = 1 / y, d(x / y)/dy = -x / y^2"""

    broadcasts = True

    def reads_x(self) -> bool:
        return self.needs(1)

    def backward(self, gradient: Tensor) -> Gradients:
        return [
            gradient / self.y if self.needs(0) else None,
            -gradient * ((self.x / self.y) / self.y) if self.needs(1) else None,
        ]


class PowBackward(Node):
    """d(x^y)/dx = y x^(y - 1), which is 0 at y = 0; d(x^y)/dy = x^y log x, which is 0 at x = 0, y >= 0"""

    broadcasts = True

    def backward(self, gradient: Tensor) -> Gradients:
        return [
            self._to_base(gradient) if self.needs(0) else None,
            self._to_exponent(gradient) if self.needs(1) else None,
        ]

    def _to_base(self, gradient: Tensor) -> Tensor:
        x, y = self.x, self.y
        if isinstance(y, (int, float)):
            return gradient.zeros_like() if y == 0 else gradient * (y * x ** (y - 1))
        return (y == 0)._choose(0.0, gradient * (y * x ** (y - 1)))

    def _to_exponent(self, gradient: Tensor) -> Tensor:
        x, y = self.x, self.y
        if isinstance(x, (int, float)):
            if x == 0:
                return gradient * (y >= 0)._choose(0.0, y.detach() * math.inf)
            return gradient * (x**y * math.log(x)) if x > 0 else gradient * math.nan
        settled = (x == 0).logical_and(y >= 0)
        return gradient * settled._choose(0.0, x**y * settled._choose(1.0, x).log())


class RemainderBackward(Node):
    """x % y = x - y floor(x / y), whose floor is constant between its steps"""

    broadcasts = True

    def reads_x(self) -> bool:
        return self.needs(1)

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient, -gradient * (self.x // self.y) if self.needs(1) else None]


class NegBackward(Node):
    """d(-x)/dx = -1"""

    keeps_input = False

    def backward(self, gradient: Tensor) -> Gradients:
        return [-gradient]


class AbsBackward(Node):
    """d|x|/dx = sign(x), 0 at 0"""

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient * self.x.sign()]


class _StepBackward(Node):
    """A function of steps: its derivative is 0 wherever there is one."""

    keeps_input = False

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient.zeros_like()]


class SignBackward(_StepBackward):
    """d sign(x)/dx = 0"""


class FloorBackward(_StepBackward):
    """d floor(x)/dx = 0"""


class CeilBackward(_StepBackward):
    """d ceil(x)/dx = 0"""


class RoundBackward(_StepBackward):
    """d round(x)/dx = 0"""


class TruncBackward(_StepBackward):
    """d trunc(x)/dx = 0"""


class FracBackward(Node):
    """d frac(x)/dx = 1"""

    keeps_input = False

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient]


# ---- Functions of one variable ----------------------------------------------------------------------------------


class ExpBackward(Node):
    """d exp(x)/dx = exp(x)"""

    keeps_input, saves_output = False, True

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient * self.output]


class LogBackward(Node):
    """d log(x)/dx = 1 / x"""

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient / self.x]


class SqrtBackward(Node):
    """d sqrt(x)/dx = 1 / (2 sqrt(x))"""

    keeps_input, saves_output = False, True

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient / (2.0 * self.output)]


class SinBackward(Node):
    """d sin(x)/dx = cos(x)"""

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient * self.x.cos()]


class CosBackward(Node):
    """d cos(x)/dx = -sin(x)"""

    def backward(self, gradient: Tensor) -> Gradients:
        return [-gradient * self.x.sin()]


class TanhBackward(Node):
    """d tanh(x)/dx = 1 - tanh(x)^2"""

    keeps_input, saves_output = False, True

    def backward(self, gradient: Tensor) -> Gradients:
        y = self.output
        return [gradient * (1.0 - y * y)]

    def fused(self, gradient: Tensor) -> Gradients:
        return [wrap(lib.tanh_backward_tensor(gradient._ptr, self.result_values()._ptr))]


class SigmoidBackward(Node):
    """d sigmoid(x)/dx = sigmoid(x) (1 - sigmoid(x))"""

    keeps_input, saves_output = False, True

    def backward(self, gradient: Tensor) -> Gradients:
        y = self.output
        return [gradient * (y * (1.0 - y))]

    def fused(self, gradient: Tensor) -> Gradients:
        return [wrap(lib.sigmoid_backward_tensor(gradient._ptr, self.result_values()._ptr))]


class ReluBackward(Node):
    """d relu(x)/dx = 0 where x <= 0, else 1: a NaN lets its gradient through, as in PyTorch"""

    keeps_input, saves_output = False, True

    def backward(self, gradient: Tensor) -> Gradients:
        y = self.output
        return [(y.detach() <= 0)._choose(0.0, gradient)]

    def fused(self, gradient: Tensor) -> Gradients:
        return [wrap(lib.relu_backward_tensor(gradient._ptr, self.result_values()._ptr))]


# ---- Choosing ---------------------------------------------------------------------------------------------------


class _ChoiceBackward(Node):
    """The gradient goes to the operand that was chosen; half to each where they are equal, all where one is NaN."""

    broadcasts = True

    def to_chosen(self, gradient: Tensor, not_x: Tensor, not_y: Tensor) -> Gradients:
        share = (self.x == self.y)._choose(gradient / 2.0, gradient)
        return [
            not_x._choose(0.0, share) if self.needs(0) else None,
            not_y._choose(0.0, share) if self.needs(1) else None,
        ]


class MinimumBackward(_ChoiceBackward):
    """d min(x, y)/dx = 1 where x < y, d min(x, y)/dy = 1 where y < x"""

    def backward(self, gradient: Tensor) -> Gradients:
        return self.to_chosen(gradient, self.x > self.y, self.x < self.y)


class MaximumBackward(_ChoiceBackward):
    """d max(x, y)/dx = 1 where x > y, d max(x, y)/dy = 1 where y > x"""

    def backward(self, gradient: Tensor) -> Gradients:
        return self.to_chosen(gradient, self.x < self.y, self.x > self.y)


class WhereBackward(Node):
    """The gradient goes to x where the condition holds, to y elsewhere."""

    broadcasts = True

    def backward(self, gradient: Tensor) -> Gradients:
        condition, zero = self.x, 0.0
        return [
            None,
            condition._choose(gradient, zero) if self.needs(1) else None,
            condition._choose(zero, gradient) if self.needs(2) else None,
        ]


class ClampBackward(Node):
    """The gradient goes to x where low <= x <= high, to the bound that holds elsewhere."""

    broadcasts = True

    def backward(self, gradient: Tensor) -> Gradients:
        x, low, high = self.x, self.y, self.z
        chosen = [
            (x >= low).logical_and(x <= high) if self.needs(0) else None,
            self._is_low() if self.needs(1) else None,
            (x > high).logical_or(high < low) if self.needs(2) else None,
        ]
        return [None if places is None else places._choose(gradient, 0.0) for places in chosen]

    def fused(self, gradient: Tensor) -> Gradients:
        x, low, high = self.x, self.y, self.z
        if not (isinstance(low, (int, float)) and isinstance(high, (int, float))):
            return self.backward(gradient)
        return [wrap(lib.clamp_backward_tensor(gradient._ptr, x._ptr, number(low)._ptr, number(high)._ptr)), None, None]

    def _is_low(self) -> Tensor:
        is_below = self.x < self.y  # beside a number as the other bound, infinity, there is none
        return is_below if isinstance(self.z, float) else is_below.logical_and(self.y < self.z)


# ---- Reductions -------------------------------------------------------------------------------------------------


class _ReductionBackward(Node):
    """What the derivatives of reductions over axes (all, if None) share."""

    def __init__(self, x: Tensor, axes: Axes, keepdim: bool) -> None:
        super().__init__(x)
        self.shape, self.axes, self.keepdim = x.shape, axes, keepdim

    def whole(self, part: Tensor) -> Tensor:
        """What belongs to the result, with the axes that the reduction took away."""
        return with_axes(part, self.shape, self.axes, self.keepdim)


class SumBackward(_ReductionBackward):
    """Every element counts once: the gradient is repeated over the summed axes."""

    keeps_input = False

    def backward(self, gradient: Tensor) -> Gradients:
        return [self.whole(gradient).expand(self.shape)]


class MeanBackward(_ReductionBackward):
    """Every element counts for its part of the mean."""

    keeps_input = False

    def backward(self, gradient: Tensor) -> Gradients:
        count = math.prod(self.shape) // (gradient.numel or 1)
        return [self.whole(gradient / float(count)).expand(self.shape)]


class _SpreadBackward(_ReductionBackward):
    """What the derivatives of the variance and its root share: n, the number of elements less those `lost`."""

    def __init__(self, x: Tensor, axes: Axes, keepdim: bool, lost: float) -> None:
        super().__init__(x, axes, keepdim)
        self.lost = lost

    def divisor(self, gradient: Tensor) -> float:
        """n, for a gradient in the shape of the result."""
        return float(max(math.prod(self.shape) // (gradient.numel or 1) - self.lost, 0))


class VarianceBackward(_SpreadBackward):
    """v = sum((x - m)^2) / n, with m the mean: dv/dx = 2 (x - m) / n"""

    def backward(self, gradient: Tensor) -> Gradients:
        x = self.x
        return [self.whole(gradient) / self.divisor(gradient) * 2.0 * (x - x.mean(self.axes, keepdim=True))]


class LogSumExpBackward(_ReductionBackward):
    """y = log(sum(exp(x))): dy/dx = exp(x - y), the softmax"""

    saves_output = True

    def backward(self, gradient: Tensor) -> Gradients:
        y = self.whole(self.output)
        return [self.whole(gradient) * (self.x - (y == -math.inf)._choose(0.0, y)).exp()]  # -inf - -inf would be NaN


class ProdBackward(_ReductionBackward):
    """d prod(x)/dx_i is the product of the others: prod / x_i, or what is left beside the only zero."""

    def backward(self, gradient: Tensor) -> Gradients:
        gradient = self.whole(gradient)
        if not self.x.ndim:
            return [gradient]
        return [gradient * (self._others_one_by_one() if (self.x == 0).any() else self._others()[0])]

    def fused(self, gradient: Tensor) -> Gradients:
        gradient = self.whole(gradient)
        others, zeros = self._others()
        if self.axes is None:  # as in PyTorch, where an infinite gradient gives 0 beside two zeros, and NaN along axes
            gradient = (zeros > 1)._choose(0.0, gradient)
        return [gradient * others]

    def _others(self) -> tuple[Tensor, Tensor]:
        """For each element the product of the others along the reduced axes, and how many zeros there are."""
        x, zero = self.x, self.x == 0
        safe = zero._choose(1.0, x)
        product = safe.prod(self.axes, keepdim=True)
        zeros = zero.sum(self.axes, keepdim=True)
        return (zeros == 0)._choose(product / safe, zero.logical_and(zeros == 1)._choose(product, 0.0)), zeros

    def _others_one_by_one(self) -> Tensor:
        """The same as n products of n - 1 factors: the second derivative beside zeros needs the factors themselves."""
        x = self.x
        reduced = [d for d in range(x.ndim) if self.axes is None or d in [a % x.ndim for a in self.axes]]
        order = [d for d in range(x.ndim) if d not in reduced] + reduced
        last = x.permute(order)
        kept = last.shape[: x.ndim - len(reduced)]
        rows = last.reshape([*kept, 1, -1])  # [..., 1, n]
        places = counting(rows.shape[-1], x.device)
        itself = places.unsqueeze(1) == places  # [n, n]
        others = itself._choose(1.0, rows).prod(-1).reshape(last.shape)
        return others.permute([order.index(d) for d in range(x.ndim)])


class ExtremumBackward(_ReductionBackward):
    """The gradient of a maximum or minimum over axes, shared evenly by the elements that attain it."""

    saves_output = True

    def backward(self, gradient: Tensor) -> Gradients:
        x, extremum = self.x.detach(), self.whole(self.output.detach())
        attained = (x == extremum).logical_or(x.isnan().logical_and(extremum.isnan()))
        count = attained.sum(self.axes, keepdim=True).to(gradient.dtype)
        return [attained._choose(self.whole(gradient) / count, 0.0)]


class MaxBackward(ExtremumBackward):
    """d max(x)/dx_i = 1 / (number of maxima) at a maximum, else 0"""


class MinBackward(ExtremumBackward):
    """d min(x)/dx_i = 1 / (number of minima) at a minimum, else 0"""


def with_axes(reduced: Tensor, shape: Sequence[int], axes: Axes, keepdim: bool) -> Tensor:
    """A reduction's result with its axes back, as size 1."""
    if keepdim:
        return reduced
    axes = range(len(shape)) if axes is None else [a % max(len(shape), 1) for a in axes]
    return reduced.reshape([1 if d in axes else size for d, size in enumerate(shape)])


# ---- Matrix product ---------------------------------------------------------------------------------------------


class MatmulBackward(Node):
    """d(X Y)/dX = G Y^T, d(X Y)/dY = X^T G, for each matrix of a batch; vectors are matrices of one row or column."""

    broadcasts = True

    def backward(self, gradient: Tensor) -> Gradients:
        row, column = self.input[0].ndim == 1, self.input[1].ndim == 1
        if row and column:
            return [gradient * self.y if self.needs(0) else None, gradient * self.x if self.needs(1) else None]
        if row:
            gradient = gradient.unsqueeze(-2)
        if column:
            gradient = gradient.unsqueeze(-1)
        return [self._to_left(gradient, row, column), self._to_right(gradient, row, column)]

    def _to_left(self, gradient: Tensor, row: bool, column: bool) -> Tensor | None:
        if not self.needs(0):
            return None
        right = self.y.unsqueeze(-1) if column else self.y
        product = gradient @ right.transpose(-1, -2)
        return product.squeeze(-2) if row else product

    def _to_right(self, gradient: Tensor, row: bool, column: bool) -> Tensor | None:
        if not self.needs(1):
            return None
        left = self.x.unsqueeze(-2) if row else self.x
        product = left.transpose(-1, -2) @ gradient
        return product.squeeze(-1) if column else product
