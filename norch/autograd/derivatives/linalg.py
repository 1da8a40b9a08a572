"""The derivatives of linear algebra. All matrices may be batches of them.

Where the formulas are from: M. Giles, "Collected matrix derivative results" (2008), for inverses, determinants and
eigenvalues; I. Murray, "Differentiation of the Cholesky decomposition" (2016); J. Townsend, "Differentiating the
singular value decomposition" (2016); S. Walter and L. Lehmann, "Algorithmic differentiation of linear algebra
functions" (2010), for QR; G. Golub and V. Pereyra, "The differentiation of pseudo-inverses" (1973).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

from ..._C import lib, write_clock
from ...operation import mode, record, wrap
from ..node import Gradients, MultiOutput, Node, OutputBackward, OutputGradients

if TYPE_CHECKING:
    from ...forward_declarations import Tensor

# ---- One result -------------------------------------------------------------------------------------------------


class InverseBackward(Node):
    """X = A^-1: dX = -X dA X"""

    keeps_input, saves_output = False, True

    def backward(self, gradient: Tensor) -> Gradients:
        x = self.output.mT
        return [-(x @ gradient @ x)]


class SolveBackward(Node):
    """A X = B: A dX = dB - dA X"""

    saves_output = True

    def backward(self, gradient: Tensor) -> Gradients:
        to_b = self.x.mT._solve(gradient)
        return [-(to_b @ self.output.mT) if self.needs(0) else None, to_b]


class SubstitutionBackward(Node):
    """The same for a triangle A"""

    saves_output = True

    def __init__(self, a: Tensor, b: Tensor, upper: bool) -> None:
        super().__init__(a, b)
        self.upper = upper

    def backward(self, gradient: Tensor) -> Gradients:
        to_b = self.x.mT._substitute(gradient, not self.upper)
        return [-(to_b @ self.output.mT) if self.needs(0) else None, to_b]


class CholeskyBackward(Node):
    """A = L L^T: dL = L phi(L^-1 dA L^-T), where phi takes the lower triangle and half of the diagonal"""

    keeps_input, saves_output = False, True

    def backward(self, gradient: Tensor) -> Gradients:
        lower = self.output
        inner = (lower.mT @ gradient).tril()
        inner = (inner + inner.tril(-1).mT) * 0.5
        left = lower.mT._substitute(inner, True)  # L^-T inner
        return [lower.mT._substitute(left.mT, True).mT]


class LogAbsDetBackward(Node):
    """d log|det A| = trace(A^-1 dA)"""

    def backward(self, gradient: Tensor) -> Gradients:
        return [gradient.unsqueeze(-1).unsqueeze(-1) * self.x.inverse().mT]


class DetSignBackward(Node):
    """The sign of a determinant is constant wherever it has a derivative."""

    keeps_input = False

    def backward(self, gradient: Tensor) -> Gradients:
        return [None]


class DetBackward(Node):
    """d det A = trace(adj(A) dA); the adjugate is det(A) A^-1, or for a singular A of its singular vectors."""

    saves_output = True

    def backward(self, gradient: Tensor) -> Gradients:
        wide = gradient.unsqueeze(-1).unsqueeze(-1)
        if bool((self.output.detach() != 0).all()):
            return [wide * self.output.unsqueeze(-1).unsqueeze(-1) * self.x.inverse().mT]
        u, s, vh = self.x._svd()
        others = _with_diagonal(s.unsqueeze(-2).expand(*s.shape, s.shape[-1]), 1.0).prod(-1)  # of the singular values
        sign = (u.det() * vh.det()).unsqueeze(-1).unsqueeze(-1)
        return [wide * (sign * ((u * others.unsqueeze(-2)) @ vh))]


class PinvBackward(Node):
    """X = A^+: dX = -X dA X + X X^T dA^T (1 - A X) + (1 - X A) dA^T X^T X"""

    saves_output = True

    def backward(self, gradient: Tensor) -> Gradients:
        a, x = self.x, self.output
        g, xt = gradient.mT, x.mT
        first = g - (g @ x) @ a  # dA^T's factors, written from the short side
        second = g - a @ (x @ g)
        return [-(xt @ gradient @ xt) + (xt @ x) @ first + second @ (x @ xt)]


# ---- Several results --------------------------------------------------------------------------------------------


class Factors(MultiOutput):
    """A decomposition of one matrix: `self.factors` are the results, connected to this node if the walk is recorded."""

    def __init__(self, x: Tensor, parts: Sequence[Tensor]) -> None:
        super().__init__((x._edge,))
        self.parts = tuple(wrap(lib.alias_tensor(part._ptr)) for part in parts)
        self.stamp = write_clock.value

    def release(self) -> None:
        super().release()
        self.parts = ()

    @property
    def factors(self) -> list[Tensor]:
        parts = [self.unchanged(part) for part in self.parts]
        if not mode.enabled:
            return parts
        return [
            record(wrap(lib.alias_tensor(part._ptr)), OutputBackward(i), (self,)) if part.is_floating_point() else part
            for i, part in enumerate(parts)
        ]


def factored(x: Tensor, backward: type[Factors], parts: Sequence[Tensor]) -> Sequence[Tensor]:
    """The parts, recorded as the factors of x."""
    if x._edge is not None and mode.enabled:
        backward(x, parts).record_outputs(parts)
    return parts


def _with_diagonal(x: Tensor, value: float) -> Tensor:
    """x with one value on its diagonal."""
    itself = x.new_ones(x.shape[-1]).diag().to(bool)
    return itself._choose(value, x)


class EighBackward(Factors):
    """A = V diag(L) V^T: dL = diag(V^T dA V), dV = V (V^T dA V / E), E[i, j] = L[j] - L[i]"""

    def backward(self, gradients: OutputGradients) -> Gradients:
        values, vectors = self.factors
        inner = None
        if 1 in gradients:
            spread = _with_diagonal(values.unsqueeze(-2) - values.unsqueeze(-1), 1.0)
            product = vectors.mT @ gradients[1]
            inner = (product - product.mT) * 0.5 / spread  # the part that a symmetric A can feel
        if 0 in gradients:
            diagonal = gradients[0].diag_embed()
            inner = diagonal if inner is None else inner + diagonal
        assert inner is not None
        return [vectors @ inner @ vectors.mT]


class EigBackward(Factors):
    """A V = V diag(L), with vectors of length 1 and all numbers real"""

    def backward(self, gradients: OutputGradients) -> Gradients:
        values, vectors = self.factors
        inner = None
        if 1 in gradients:
            product = vectors.mT @ gradients[1]
            change = product - (vectors.mT @ vectors) * product.diagonal(0, -2, -1).unsqueeze(-2)
            spread = _with_diagonal(values.unsqueeze(-2) - values.unsqueeze(-1), 1.0)
            inner = _with_diagonal(change / spread, 0.0)
        if 0 in gradients:
            diagonal = gradients[0].diag_embed()
            inner = diagonal if inner is None else inner + diagonal
        assert inner is not None
        return [vectors.inverse().mT @ inner @ vectors.mT]


class SvdBackward(Factors):
    """A = U diag(S) V^T, of the shorter side's size k, with E[i, j] = S[j]^2 - S[i]^2"""

    def backward(self, gradients: OutputGradients) -> Gradients:
        u, s, vh = self.factors
        squares = s * s
        spread = _with_diagonal(squares.unsqueeze(-2) - squares.unsqueeze(-1), 1.0)
        inner, outside = None, None
        if 1 in gradients:
            inner = gradients[1].diag_embed()
        if 0 in gradients:
            product = u.mT @ gradients[0]
            part = (product - product.mT) / spread * s.unsqueeze(-2)
            inner = part if inner is None else inner + part
            if u.shape[-2] > u.shape[-1]:
                outside = ((gradients[0] - u @ product) / s.unsqueeze(-2)) @ vh
        if 2 in gradients:
            product = vh @ gradients[2].mT
            part = s.unsqueeze(-1) * ((product - product.mT) / spread)
            inner = part if inner is None else inner + part
            if vh.shape[-1] > vh.shape[-2]:
                extra = (u / s.unsqueeze(-2)) @ (gradients[2] - product.mT @ vh)
                outside = extra if outside is None else outside + extra
        assert inner is not None
        result = u @ inner @ vh
        return [result if outside is None else result + outside]


class QrBackward(Factors):
    """A = Q R, of at least as many rows as columns: gA = (gQ + Q sym(triu(gR R^T - Q^T gQ))) R^-T"""

    def backward(self, gradients: OutputGradients) -> Gradients:
        q, r = self.factors
        inner, to_q = None, gradients.get(0)
        if 1 in gradients:
            inner = gradients[1] @ r.mT
        if to_q is not None:
            inner = -(q.mT @ to_q) if inner is None else inner - q.mT @ to_q
        assert inner is not None
        inner = inner.triu()
        moved = q @ (inner + inner.triu(1).mT)
        total = moved if to_q is None else moved + to_q
        return [r._substitute(total.mT, True).mT]  # total R^-T


class LuBackward(Factors):
    """A = L U, square and without pivots: gA = L^-T (tril(L^T gL, -1) + triu(gU U^T)) U^-T"""

    def backward(self, gradients: OutputGradients) -> Gradients:
        lower, upper = self.factors
        inner = None
        if 0 in gradients:
            inner = (lower.mT @ gradients[0]).tril(-1)
        if 1 in gradients:
            part = (gradients[1] @ upper.mT).triu()
            inner = part if inner is None else inner + part
        assert inner is not None
        return [upper._substitute(lower.mT._substitute(inner, True).mT, True).mT]


class NotUniqueBackward(Node):
    """A result that A does not determine has no derivative."""

    keeps_input = False

    def __init__(self, x: Tensor, what: str) -> None:
        super().__init__(x)
        self.what = what

    def backward(self, gradient: Tensor) -> Gradients:
        raise RuntimeError(f"{self.what} is not differentiable: the result is not unique")
