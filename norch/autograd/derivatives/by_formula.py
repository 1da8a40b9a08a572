"""Operations that C computes in one call, with their gradients in another, and a formula in tensor operations besides.

The formula says what is computed: backward goes through its graph if it is to be differentiated itself.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Callable, Sequence

from ..._C import lib
from ...arguments import plain_number
from ...operation import address, mode, recorded, several, wrap
from ..engine import grad
from ..mode import enable_grad
from ..node import Gradients, Node
from .losses import REDUCTIONS

if TYPE_CHECKING:
    from ...forward_declarations import Tensor

Formula = Callable[..., "Tensor"]  # of the operands and the settings


class FormulaBackward(Node):
    """The gradients of formula(*operands, *settings): by the graph of the formula, or in one call as `fused` says"""

    def __init__(self, formula: Formula, settings: Sequence[Any], *operands: Any) -> None:
        super().__init__(*operands)
        self.formula, self.settings = formula, settings

    def backward(self, gradient: Tensor) -> Gradients:
        differentiable = mode.enabled
        with enable_grad():
            # a view of each, so that one operand given twice gets a gradient for each place
            operands = [x.view(x.shape) if target else x for x, target in zip(self.operands(), self.edges)]
            wanted = [x for x, target in zip(operands, self.edges) if target]
            result = self.formula(*operands, *self.settings)
        found = iter(grad(result, wanted, gradient, create_graph=differentiable, allow_unused=True))
        return [next(found) if target else None for target in self.edges]


# ---- Margins between classes ----------------------------------------------------------------------------------------


def class_margin(
    formula: Formula, scores: Tensor, target: Tensor, weight: Tensor | None, margin: float, power: int, reduction: str
) -> Tensor:
    """The loss of scores [N, C] or [C]; power 1 or 2 with a class for each, or 0 with lists of classes."""
    pointers = scores._ptr, target._ptr, address(weight)
    result = wrap(lib.class_margin_tensor(*pointers, float(margin), power, REDUCTIONS[reduction]))
    node = partial(ClassMarginBackward, formula, (margin, power, reduction))
    return recorded(result, node, (scores, target, weight))


class ClassMarginBackward(FormulaBackward):
    """L = the sum of w[y] max(0, m - x[y] + x[i])^p / C: dL/dx[i] = w[y] p max(0, ...)^(p - 1) / C, and dL/dx[y] takes
    these away"""

    def fused(self, gradient: Tensor) -> Gradients:
        margin, power, reduction = self.settings
        pointers = gradient._ptr, *(address(x) for x in self.operands())
        ptr = lib.class_margin_backward(*pointers, float(margin), power, REDUCTIONS[reduction])
        return [wrap(ptr), None, None]


# ---- Pairs of rows --------------------------------------------------------------------------------------------------

COSINE, EMBEDDING, DISTANCE = range(3)  # RowPairs in csrc/ops/row_pairs.h


def row_pairs(formula: Formula, kind: int, x: Tensor, y: Tensor, eps: float, *dim: int) -> Tensor:
    """A cosine or distance of the rows of x and y, which have one shape, along the last dimension or another."""
    result = wrap(lib.row_pairs_tensor(x._ptr, y._ptr, kind, plain_number(eps, "eps"), *dim or (-1,)))
    return recorded(result, partial(RowPairsBackward, formula, (eps, *dim), kind), (x, y))


class RowPairsBackward(FormulaBackward):
    """Of c = x.y / (|x| |y|): dc/dx = y / (|x| |y|) - c x / |x|^2; of d = |x - y + eps|: dd/dx = (x - y + eps) / d"""

    def __init__(self, formula: Formula, settings: Sequence[Any], kind: int, *operands: Tensor) -> None:
        super().__init__(formula, settings, *operands)
        self.kind = kind

    def fused(self, gradient: Tensor) -> Gradients:
        pointers = gradient._ptr, self.x._ptr, self.y._ptr
        eps, dim = (*self.settings, -1)[:2]
        return several(lib.row_pairs_backward(*pointers, self.kind, float(eps), dim, self.needed()))


# ---- Points of a grid -----------------------------------------------------------------------------------------------


def grid_sample(formula: Formula, x: Tensor, grid: Tensor, mode: int, border: int, align: bool) -> Tensor:
    """Images read at the points of a grid; mode and border are those of Sampling in csrc/ops/grid.h."""
    result = wrap(lib.grid_sample_tensor(x._ptr, grid._ptr, mode, border, align))
    return recorded(result, partial(GridSampleBackward, formula, (mode, border, align)), (x, grid))


class GridSampleBackward(FormulaBackward):
    """z = the sum of w_k(grid) x_k over what a point reads: dL/dx_k = G w_k, dL/dgrid = G dw_k/dgrid x_k"""

    def fused(self, gradient: Tensor) -> Gradients:
        pointers = gradient._ptr, self.x._ptr, self.y._ptr
        return several(lib.grid_sample_backward(*pointers, *self.settings, self.needed()))


# ---- Sequences of labels --------------------------------------------------------------------------------------------


def ctc(formula: Formula, log_probs: Tensor, labels: Tensor, lengths: Tensor, blank: int) -> Tensor:
    """The loss of each sequence, [N]: infinite, with the gradient 0, if no way reads the labels."""
    losses, alpha = several(lib.ctc_tensor(log_probs._ptr, labels._ptr, lengths._ptr, blank))
    kept = alpha, wrap(lib.alias_tensor(losses._ptr))
    return recorded(losses, partial(CTCBackward, formula, (blank,), kept), (log_probs, labels, lengths))


class CTCBackward(FormulaBackward):
    """L = -log of the probability of all ways: dL/dlog_probs = p - the share of the ways that read a class then"""

    def __init__(self, formula: Formula, settings: Sequence[Any], kept: Sequence[Tensor], *operands: Tensor) -> None:
        super().__init__(formula, settings, *operands)
        self.kept = kept

    def fused(self, gradient: Tensor) -> Gradients:
        tensors = *self.operands(), *(self.unchanged(x) for x in self.kept)
        ptr = lib.ctc_backward(gradient._ptr, *(x._ptr for x in tensors), *self.settings)
        return [wrap(ptr), None, None]

    def release(self) -> None:
        super().release()
        self.kept = ()
