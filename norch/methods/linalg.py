"""Linear algebra as methods, under the names that torch has for them outside of torch.linalg."""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from .._C import LinAlgError, lib
from ..arguments import flags, plain_number
from ..functions.creation import eye
from ..linalg import factorizations, norms, solving, spectra
from ..linalg.factorizations import QR, LUFactor, LUFactorEx, reflection
from ..linalg.lapack import check_matrices
from ..linalg.solving import Slogdet, solved, substituted
from ..operation import check_tensor
from ..return_types import printed

if TYPE_CHECKING:
    from ..forward_declarations import Tensor


@printed("svd")
class SvdV(NamedTuple):
    """What the method `svd` returns: V itself, not its transpose."""

    U: Tensor
    S: Tensor
    V: Tensor


@printed("triangular_solve")
class TriangularSolve(NamedTuple):
    """What `triangular_solve` returns."""

    solution: Tensor
    cloned_coefficient: Tensor


@printed("geqrf")
class Geqrf(NamedTuple):
    """What `geqrf` returns."""

    a: Tensor
    tau: Tensor


class LinalgMethods:
    """The methods of Tensor for matrices [..., m, n] of float32 or float64."""

    def inverse(self: Tensor) -> Tensor:
        """The inverses of square matrices: `norch.linalg.inv`, in shapes, dtypes and errors too.

        >>> norch.tensor([[2.0, 0.0], [0.0, 4.0]]).inverse()
        tensor([[0.5000, 0.0000],
                [0.0000, 0.2500]])
        """
        return solving.inv(self)

    def pinverse(self: Tensor, rcond: float = 1e-15) -> Tensor:
        """The pseudo-inverses by singular values above rcond times the largest; otherwise as `norch.linalg.pinv`.

        >>> norch.tensor([[2.0], [0.0]]).pinverse()
        tensor([[0.5000, 0.0000]])
        """
        return spectra.pinv(self, rtol=plain_number(rcond, "pinverse: rcond"))

    def det(self: Tensor) -> Tensor:
        """The determinants of square matrices: `norch.linalg.det`, in shapes, dtypes and errors too.

        >>> norch.tensor([[2.0, 1.0], [4.0, 4.0]]).det()
        tensor(4.)
        """
        return solving.det(self)

    def logdet(self: Tensor) -> Tensor:
        """The logarithm of the determinants: minus infinity for 0, NaN below. Otherwise as `norch.linalg.slogdet`.

        >>> norch.tensor([[2.0, 0.0], [0.0, 0.5]]).logdet()
        tensor(0.)
        """
        sign, logarithm = solving.slogdet(self)
        return (sign < 0)._choose(math.nan, logarithm)

    def slogdet(self: Tensor) -> Slogdet:
        """The pair (sign, logabsdet) of the determinants: `norch.linalg.slogdet`, in shapes, dtypes and errors too.

        >>> norch.tensor([[1.0, 2.0], [3.0, 4.0]]).slogdet().sign
        tensor(-1.)
        """
        return solving.slogdet(self)

    @flags
    def cholesky(self: Tensor, upper: bool = False) -> Tensor:
        """The triangular L with x = L L^T: `norch.linalg.cholesky`, in shapes, dtypes and errors too.

        >>> norch.tensor([[4.0, 2.0], [2.0, 5.0]]).cholesky()
        tensor([[2., 0.],
                [1., 2.]])
        """
        return factorizations.cholesky(self, upper=upper)

    @flags
    def cholesky_solve(self: Tensor, L: Tensor, upper: bool = False) -> Tensor:
        """The X with L L^T X = x, for the Cholesky factor L [..., n, n]; L^T L if it is `upper`.

        x is [..., n, k]; leading sizes broadcast. Raises ShapeError if the shapes do not fit, RuntimeError for two
        dtypes.

        >>> norch.tensor([[4.0], [2.0]]).cholesky_solve(norch.tensor([[2.0, 0.0], [0.0, 1.0]]))
        tensor([[1.],
                [2.]])
        """
        factor, b = solving.triangle_and_sides("cholesky_solve", L, self, True)
        lower = factor.mT if upper else factor  # whose gradient is that of a full matrix, as PyTorch's
        return substituted(lower.mT, substituted(lower, b, False), True)

    @flags
    def cholesky_inverse(self: Tensor, upper: bool = False) -> Tensor:
        """The inverse of L L^T, for the Cholesky factor x = L [..., n, n]; of L^T L if it is upper triangular.

        Raises ShapeError if x is not square, RuntimeError for another dtype than float32 and float64.

        >>> norch.tensor([[2.0, 0.0], [0.0, 1.0]]).cholesky_inverse()
        tensor([[0.2500, 0.0000],
                [0.0000, 1.0000]])
        """
        x = check_matrices("cholesky_inverse", self, square=True)
        if (x.diagonal(0, -2, -1) == 0).any():
            raise LinAlgError("cholesky_inverse: Singular matrix, a number on the diagonal is 0")
        return eye(x.shape[-1], dtype=x.dtype, device=x.device).cholesky_solve(x, upper)

    @flags
    def qr(self: Tensor, some: bool = True) -> QR:
        """The pair (Q, R) with x = Q R: `norch.linalg.qr` in mode "reduced", or "complete" if not `some`.

        Shapes, dtypes and errors are the same.

        >>> norch.tensor([[-3.0], [-4.0]]).qr().R
        tensor([[5.]])
        """
        return factorizations.qr(self, "reduced" if some else "complete")

    @flags
    def svd(self: Tensor, some: bool = True, compute_uv: bool = True) -> SvdV:
        """The triple (U, S, V) with x = U diag(S) V^T: `norch.linalg.svd`, whose full matrices come if not `some`.

        Without `compute_uv` U and V are zeros. Dtypes and errors are the same.

        >>> norch.tensor([[3.0, 0.0], [0.0, -4.0]]).svd().S
        tensor([4., 3.])
        """
        u, s, vh = spectra.svd(self, not some)
        if compute_uv:
            return SvdV(u, s, vh.mT)
        batch, (rows, columns) = list(self.shape[:-2]), self.shape[-2:]
        return SvdV(self.new_zeros([*batch, rows, rows]), s, self.new_zeros([*batch, columns, columns]))

    @flags
    def lu(self: Tensor, pivot: bool = True, get_infos: bool = False) -> LUFactor | LUFactorEx:
        """The pair (LU, pivots) of `norch.linalg.lu_factor`, and its info with `get_infos`.

        Shapes and dtypes are the same. Raises RuntimeError for another dtype than float32 and float64.

        >>> norch.tensor([[2.0, 2.0], [1.0, 2.0]]).lu()[0]
        tensor([[2.0000, 2.0000],
                [0.5000, 1.0000]])
        """
        found = factorizations.lu_factor_ex(self, pivot=pivot)
        return found if get_infos else LUFactor(*found[:2])

    def lu_solve(self: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
        """The X with A X = x, for (LU_data, LU_pivots) of A. Shapes, dtypes and errors as for `norch.linalg.lu_solve`.

        >>> norch.tensor([[5.0], [6.0]]).lu_solve(*norch.tensor([[1.0, 2.0], [2.0, 2.0]]).lu())
        tensor([[1.],
                [2.]])
        """
        return solving.lu_solve(LU_data, LU_pivots, self)

    @flags
    def triangular_solve(
        self: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
    ) -> TriangularSolve:
        """The pair (X, A) with A X = x, or A^T X = x with `transpose`, for triangular matrices A.

        Shapes, dtypes and errors as for `norch.linalg.solve_triangular`.

        >>> norch.tensor([[4.0], [8.0]]).triangular_solve(norch.tensor([[2.0, 1.0], [0.0, 4.0]])).solution
        tensor([[1.],
                [2.]])
        """
        a = check_tensor(A, "triangular_solve").mT if transpose else A
        x = solving.solve_triangular(a, self, upper=upper != transpose, unitriangular=unitriangular)
        return TriangularSolve(x, A.expand([*x.shape[:-2], *A.shape[-2:]]).clone())

    def matrix_power(self: Tensor, n: int) -> Tensor:
        """The n-th power of square matrices: `norch.linalg.matrix_power`, in shapes, dtypes and errors too.

        >>> norch.tensor([[1, 1], [0, 1]]).matrix_power(5)
        tensor([[1, 5],
                [0, 1]])
        """
        return norms.matrix_power(self, n)

    def matrix_exp(self: Tensor) -> Tensor:
        """The exponential of square matrices: `norch.linalg.matrix_exp`, in shapes, dtypes and errors too.

        >>> norch.tensor([[0.0, 1.0], [0.0, 0.0]]).matrix_exp()
        tensor([[1., 1.],
                [0., 1.]])
        """
        return norms.matrix_exp(self)

    def geqrf(self: Tensor) -> Geqrf:
        """LAPACK's form of `qr`: R in the upper triangle [..., m, n], Householder's vectors below it, and tau [..., k].

        Has no gradient. Raises RuntimeError for another dtype than float32 and float64.

        >>> norch.tensor([[-3.0], [-4.0]]).geqrf().a[0]
        tensor([5.])
        """
        return Geqrf(*factorizations.on_host(lib.geqrf_tensor, check_matrices("geqrf", self)))

    def orgqr(self: Tensor, tau: Tensor) -> Tensor:
        """The first columns of Q, for (x, tau) as `geqrf` returns them: `norch.linalg.householder_product`.

        Shapes, dtypes and errors are the same.

        >>> norch.eye(2).orgqr(norch.tensor([2.0]))
        tensor([[-1.,  0.],
                [ 0.,  1.]])
        """
        return factorizations.householder_product(self, tau)

    @flags
    def ormqr(self: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False) -> Tensor:
        """Q other, for the Q of (x, tau) as `geqrf` returns them; other Q if not `left`.

        With `transpose` Q^T is in its place. Q is [..., m, m] for x [..., m, n]. Raises ShapeError if the shapes do
        not fit.

        >>> x = norch.tensor([[-3.0], [-4.0]])
        >>> x.geqrf().a.ormqr(x.geqrf().tau, norch.tensor([[5.0], [0.0]])).round()
        tensor([[-3.],
                [-4.]])
        """
        check_matrices("ormqr", self)
        y = check_matrices("ormqr", other) if left else check_matrices("ormqr", other).mT
        check_tensor(tau, "ormqr")
        fits = tau.dtype is self.dtype and tau.ndim == self.ndim - 1 and tau.shape[:-1] == self.shape[:-2]
        if fits and tau.shape[-1] <= min(self.shape[-2:]) and self._edge is tau._edge is other._edge is None:
            q = factorizations.columns_of(self, tau, self.shape[-2])
            return (q.mT if transpose else q) @ other if left else other @ (q.mT if transpose else q)
        order = range(tau.shape[-1]) if transpose == left else reversed(range(tau.shape[-1]))
        for i in order:
            y = y - reflection(self, tau, i, y)
        return y if left else y.mT

    # ---- What the derivatives of linear algebra ask

    def _solve(self: Tensor, b: Tensor) -> Tensor:
        return solved(self, b)

    def _substitute(self: Tensor, b: Tensor, upper: bool) -> Tensor:
        return substituted(self, b, upper)

    def _svd(self: Tensor) -> spectra.Svd:
        return spectra.svd(self, full_matrices=False)
