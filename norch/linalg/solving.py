"""Equations: inverses, solutions, determinants, least squares, condition numbers."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Callable, NamedTuple, Sequence

from .._C import LinAlgError, ShapeError, lib
from ..arguments import axes_of, broadcast_shapes, flags
from ..autograd.derivatives import linalg as derivatives
from ..autograd.derivatives.by_formula import FormulaBackward
from ..functions.creation import eye
from ..functions.out import Out, into
from ..functions.promotion import finfo
from ..operation import check_tensor, own, recorded, wrap
from ..return_types import printed
from ..types import int64, shown
from .factorizations import _no_failure, lu_factor_ex, on_host, permutation_of
from .lapack import check_matrices, check_real
from .norms import matrix_norm
from .spectra import inverted, svdvals

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

__all__ = [
    "cond",
    "det",
    "inv",
    "inv_ex",
    "lstsq",
    "lu_solve",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "tensorinv",
    "tensorsolve",
]


@printed("linalg_inv_ex")
class InvEx(NamedTuple):
    """What `inv_ex` returns."""

    inverse: Tensor
    info: Tensor


@printed("linalg_solve_ex")
class SolveEx(NamedTuple):
    """What `solve_ex` returns."""

    result: Tensor
    info: Tensor


@printed("linalg_slogdet")
class Slogdet(NamedTuple):
    """What `slogdet` returns."""

    sign: Tensor
    logabsdet: Tensor


@printed("linalg_lstsq")
class Lstsq(NamedTuple):
    """What `lstsq` returns."""

    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


# ---- Inverses ---------------------------------------------------------------------------------------------------


def inv(A: Tensor, *, out: Out = None) -> Tensor:
    """The inverses of square matrices [..., n, n].

    Raises ShapeError if A is not square, RuntimeError for another dtype than float32 and float64, LinAlgError (a
    RuntimeError) if A is singular.

    >>> norch.linalg.inv(norch.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    x = check_matrices("linalg.inv", A, square=True)
    inverse = _eliminated("linalg.inv", x, eye(x.shape[-1], dtype=x.dtype, device=x.device).expand_as(x))
    return into(out, recorded(inverse, derivatives.InverseBackward, (x,)), "linalg.inv")


@flags
def inv_ex(A: Tensor, *, check_errors: bool = False, out: Out = None) -> InvEx:
    """The pair (inverse, info) of `inv`: where a matrix is singular, info is the number of the first pivot that is 0.

    Shapes, dtypes and errors as for `inv`, whose LinAlgError is raised with `check_errors` alone.

    >>> norch.linalg.inv_ex(norch.zeros(2, 2)).info
    tensor(1, dtype=norch.int32)
    """
    x = check_matrices("linalg.inv_ex", A, square=True)
    return into(out, InvEx(*_if_regular(inv, x, check_errors)), "linalg.inv_ex")


def _if_regular(function: Callable[[Tensor], Tensor], x: Tensor, check_errors: bool) -> tuple[Tensor, Tensor]:
    """A function of matrices, of unit matrices for singular ones; and for each the number of its first pivot of 0."""
    try:
        return function(x), _no_failure(x)
    except LinAlgError:
        info = lu_factor_ex(x.detach(), check_errors=check_errors).info
        unit = eye(x.shape[-1], dtype=x.dtype, device=x.device)
        return function((info == 0).unsqueeze(-1).unsqueeze(-1)._choose(x, unit)), info


def cond(A: Tensor, p: float | str | None = None, *, out: Out = None) -> Tensor:
    """The condition number of matrices [..., m, n]: the norm p of A times that of its inverse, [...].

    p is a norm of `matrix_norm`; None, 2 and -2 take singular values of any matrix, others need square ones. Raises
    RuntimeError for another dtype than float32 and float64.

    >>> norch.linalg.cond(norch.tensor([[2.0, 0.0], [0.0, 8.0]]))
    tensor(4.)
    """
    from_norms = p not in (None, 2, -2)
    x = check_matrices("linalg.cond", A, square=from_norms)
    if x.numel() == 0:
        return into(out, x.new_zeros(list(x.shape[:-2])), "linalg.cond")
    if not from_norms:
        s = svdvals(x)
        result = s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
        return into(out, result, "linalg.cond")
    inverse, info = _if_regular(inv, x, False)
    order = p if p is not None else "fro"
    product = matrix_norm(x, order) * matrix_norm(inverse, order)
    return into(out, (info > 0)._choose(math.inf, product), "linalg.cond")


# ---- Solutions --------------------------------------------------------------------------------------------------


@flags
def solve(A: Tensor, B: Tensor, *, left: bool = True, out: Out = None) -> Tensor:
    """The X with A X = B, or X A = B if `left` is False, for square matrices A [..., n, n] and B [..., n, k].

    B may also be vectors: [n], or [..., n] of as many as there are matrices. Leading sizes broadcast. Raises ShapeError
    if the shapes do not fit, RuntimeError for other or two dtypes, LinAlgError (a RuntimeError) if A is singular.

    >>> norch.linalg.solve(norch.tensor([[2.0, 0.0], [0.0, 4.0]]), norch.tensor([2.0, 2.0]))
    tensor([1.0000, 0.5000])
    """
    a, b, vector = _pair("linalg.solve", A, B, left)
    if not left:
        a, b = a.mT, b.mT
    x = solved(a, b)
    return into(out, own(x.squeeze(-1) if vector else x if left else x.mT.contiguous()), "linalg.solve")


def _pair(name: str, A: Tensor, B: Tensor, left: bool) -> tuple[Tensor, Tensor, bool]:
    """A, and B as matrices, of the same leading sizes; whether B was vectors."""
    a, b = check_matrices(name, A, square=True), check_real(name, B)
    if a.dtype is not b.dtype:
        raise RuntimeError(f"{name}: expected one dtype, got {a.dtype} and {b.dtype}")
    if not b.ndim:
        raise ShapeError(f"{name}: expected a vector or matrices, got shape []")
    vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and list(b.shape) == list(a.shape[:-1]))
    if vector and not left:
        raise ShapeError(f"{name}: vectors are solved for from the left, got shape {list(b.shape)}")
    if vector:
        b = b.unsqueeze(-1)
    if b.shape[-2 if left else -1] != a.shape[-1]:
        raise ShapeError(f"{name}: shapes {list(A.shape)} and {list(B.shape)} do not fit")
    return (*_expanded(name, a, b), vector)


def _expanded(name: str, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Matrices with the same leading sizes, to which both broadcast. Raises ShapeError if they do not fit."""
    of_a, of_b = a.shape[:-2], b.shape[:-2]
    if of_a == of_b:
        return a, b
    batch = broadcast_shapes(of_a, of_b, name=name)
    return a.expand([*batch, *a.shape[-2:]]), b.expand([*batch, *b.shape[-2:]])


def solved(a: Tensor, b: Tensor) -> Tensor:
    """a^-1 b of matrices with the same leading sizes."""
    return recorded(_eliminated("linalg.solve", a, b), derivatives.SolveBackward, (a, b))


def _eliminated(name: str, a: Tensor, b: Tensor) -> Tensor:
    """a^-1 b by Gauss's elimination, outside of any graph."""
    x, info = on_host(lib.solve_tensor, a, b)
    if bool(info.any()):
        raise LinAlgError(f"{name}: Singular matrix")
    return x


@flags
def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False, out: Out = None) -> SolveEx:
    """The pair (result, info) of `solve`: where a matrix is singular, info is the number of the first pivot that is 0.

    Shapes, dtypes and errors as for `solve`, whose LinAlgError is raised with `check_errors` alone.

    >>> norch.linalg.solve_ex(norch.eye(2), norch.ones(2)).info
    tensor(0, dtype=norch.int32)
    """
    x = check_matrices("linalg.solve_ex", A, square=True)
    result = SolveEx(*_if_regular(lambda a: solve(a, B, left=left), x, check_errors))
    return into(out, result, "linalg.solve_ex")


@flags
def solve_triangular(
    A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False, out: Out = None
) -> Tensor:
    """The X with A X = B, or X A = B if `left` is False, for triangular matrices A [..., n, n] and B [..., n, k].

    Only the triangle that `upper` names is read; with `unitriangular` not its diagonal, which is taken to be 1. Leading
    sizes broadcast, and a 0 on the diagonal divides. Raises ShapeError if the shapes do not fit, RuntimeError for other
    or two dtypes.

    >>> norch.linalg.solve_triangular(norch.tensor([[2.0, 1.0], [0.0, 4.0]]), norch.tensor([[4.0], [8.0]]), upper=True)
    tensor([[1.],
            [2.]])
    """
    a, b = triangle_and_sides("linalg.solve_triangular", A, B, left)
    offset = 1 if unitriangular else 0
    triangle = a.triu(offset) if upper else a.tril(-offset)
    if unitriangular:
        triangle = triangle + eye(a.shape[-1], dtype=a.dtype, device=a.device)
    x = substituted(triangle, b, upper) if left else own(substituted(triangle.mT, b.mT, not upper).mT)
    return into(out, x, "linalg.solve_triangular")


def triangle_and_sides(name: str, A: Tensor, B: Tensor, left: bool) -> tuple[Tensor, Tensor]:
    """A and B as matrices of the same leading sizes. Raises ShapeError if they do not fit."""
    a, b = check_matrices(name, A, square=True), check_matrices(name, B)
    if a.dtype is not b.dtype or b.shape[-2 if left else -1] != a.shape[-1]:
        given = f"{a.dtype} {list(a.shape)} and {b.dtype} {list(b.shape)}"
        raise ShapeError(f"{name}: expected one dtype and shapes that fit, got {given}")
    return _expanded(name, a, b)


def substituted(a: Tensor, b: Tensor, upper: bool) -> Tensor:
    """a^-1 b of triangles with the same leading sizes, row after row: what is beside a triangle is not read."""
    return recorded(wrap(lib.substitute_tensor(a._ptr, b._ptr, upper)), derivatives.SubstitutionBackward, (a, b), upper)


@flags
def lu_solve(
    LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False, out: Out = None
) -> Tensor:
    """The X with A X = B for the LU and pivots of `lu_factor(A)`; X A = B if not `left`, with A^T if `adjoint`.

    LU is [..., n, n] and B [..., n, k]; leading sizes broadcast. Raises ShapeError if the shapes do not fit,
    RuntimeError for another dtype than float32 and float64.

    >>> LU, pivots = norch.linalg.lu_factor(norch.tensor([[1.0, 2.0], [2.0, 2.0]]))
    >>> norch.linalg.lu_solve(LU, pivots, norch.tensor([[5.0], [6.0]]))
    tensor([[1.],
            [2.]])
    """
    x = check_matrices("linalg.lu_solve", LU, square=True)
    permutation = permutation_of(pivots, x)
    transposed = adjoint if left else not adjoint
    b = B if left else B.mT
    if transposed:  # A^T = U^T L^T P^T
        y = solve_triangular(x.mT, b, upper=False)
        result = permutation @ solve_triangular(x.mT, y, upper=True, unitriangular=True)
    else:
        y = solve_triangular(x, permutation.mT @ b, upper=False, unitriangular=True)
        result = solve_triangular(x, y, upper=True)
    return into(out, result if left else own(result.mT), "linalg.lu_solve")


def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None, out: Out = None) -> Lstsq:
    """The X of the smallest |A X - B|, and among several the smallest X: (solution, residuals, rank, singular_values).

    A is [..., m, n], B [..., m, k] or [..., m], X [..., n, k]. `residuals` are the squares of |A X - B|, of full rank
    and m > n alone; `singular_values` are for the drivers "gelsd" and "gelss", `rank` also for "gelsy" (the default),
    which has no residuals. Raises RuntimeError for another driver or dtype, ShapeError if the shapes do not fit.

    >>> norch.linalg.lstsq(norch.tensor([[1.0], [1.0]]), norch.tensor([[1.0], [4.0]])).solution
    tensor([[2.5000]])
    """
    a, b = check_matrices("linalg.lstsq", A), check_real("linalg.lstsq", B)
    driver = driver or "gelsy"
    if driver not in ("gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError(f"linalg.lstsq: expected driver 'gels', 'gelsy', 'gelsd' or 'gelss', got {shown(driver)}")
    vector = b.ndim == a.ndim - 1
    if vector:
        b = b.unsqueeze(-1)
    if b.ndim < 2 or b.shape[-2] != a.shape[-2] or a.dtype is not b.dtype:
        raise ShapeError(f"linalg.lstsq: {a.dtype} {list(A.shape)} and {b.dtype} {list(B.shape)} do not fit")
    rows, columns = a.shape[-2:]
    rtol = max(rows, columns) * finfo(a.dtype).eps if rcond is None else rcond
    rank, values = a.new_full(a.shape[:-2], min(rows, columns), dtype=int64), a.new_empty([0])
    x = None if driver in ("gelsd", "gelss") else _solved_by_qr(a, b, rtol)
    if x is None:
        inverse, s, large = inverted(a, False, None, rtol)
        x = inverse @ b
        rank = large.sum(-1)
        values = s if driver in ("gelsd", "gelss") else values
    if driver == "gels":
        rank = rank.new_empty([0])
    residuals = x.reshape(-1)[:0]
    if rows > columns and driver != "gelsy" and (driver == "gels" or bool((rank == columns).all())):
        residuals = (a @ x - b).square().sum(-2)
    return into(out, Lstsq(own(x.squeeze(-1)) if vector else x, own(residuals), rank, values), "linalg.lstsq")


def _solved_by_qr(a: Tensor, b: Tensor, rtol: float) -> Tensor | None:
    """The X of `lstsq` if the ranks of all matrices are full by far: cheaper than by singular values."""
    if a.shape[-2] < a.shape[-1] or not a.numel() or not b.numel():
        return None
    x, full = on_host(lib.least_squares_tensor, *_expanded("linalg.lstsq", a, b), settings=(rtol,))
    if not full.all():
        return None
    formula = partial(FormulaBackward, lambda a, b: inverted(a, False, None, rtol)[0] @ b, ())
    return recorded(x, formula, (a, b))


# ---- Determinants -----------------------------------------------------------------------------------------------


def det(A: Tensor, *, out: Out = None) -> Tensor:
    """The determinants [...] of square matrices [..., n, n].

    Raises ShapeError if A is not square, RuntimeError for another dtype than float32 and float64.

    >>> norch.linalg.det(norch.tensor([[2.0, 1.0], [4.0, 4.0]]))
    tensor(4.)
    """
    x = check_matrices("linalg.det", A, square=True)
    return into(out, recorded(on_host(lib.det_tensor, x)[0], derivatives.DetBackward, (x,)), "linalg.det")


def slogdet(A: Tensor, *, out: Out = None) -> Slogdet:
    """The pair (sign, logabsdet) [...]: the sign of a determinant and the logarithm of its absolute value.

    Of a singular matrix 0 and minus infinity. Raises ShapeError if A is not square, RuntimeError for another dtype.

    >>> norch.linalg.slogdet(norch.tensor([[1.0, 2.0], [3.0, 4.0]])).sign
    tensor(-1.)
    """
    x = check_matrices("linalg.slogdet", A, square=True)
    _, sign, logarithm = on_host(lib.det_tensor, x)
    return into(
        out,
        Slogdet(
            recorded(sign, derivatives.DetSignBackward, (x,)), recorded(logarithm, derivatives.LogAbsDetBackward, (x,))
        ),
        "linalg.slogdet",
    )


# ---- Of more dimensions -----------------------------------------------------------------------------------------


def tensorinv(A: Tensor, ind: int = 2, *, out: Out = None) -> Tensor:
    """The inverse of A as a matrix from its last dimensions to its first `ind`: for `tensordot(result, x, ind)`.

    Raises RuntimeError if ind is not positive or the products of the sizes differ, LinAlgError if A is singular.

    >>> norch.linalg.tensorinv(norch.eye(4).reshape(2, 2, 4)).shape
    norch.Size([4, 2, 2])
    """
    first, last = list(check_tensor(A, "linalg.tensorinv").shape[:ind]), list(A.shape[ind:])
    if ind <= 0 or math.prod(first) != math.prod(last):
        raise RuntimeError(f"linalg.tensorinv: shape {list(A.shape)} is no square matrix with ind={ind}")
    return into(out, inv(A.reshape(math.prod(first), math.prod(last))).reshape([*last, *first]), "linalg.tensorinv")


def tensorsolve(A: Tensor, B: Tensor, dims: Sequence[int] | None = None, *, out: Out = None) -> Tensor:
    """The X with `tensordot(A, X, X.ndim)` = B; the dimensions `dims` of A are moved to its end first.

    Raises RuntimeError if A, with as many sizes as B has in front, is no square matrix, LinAlgError if it is singular.

    >>> norch.linalg.tensorsolve(norch.eye(4).reshape(2, 2, 4), norch.ones(2, 2))
    tensor([1., 1., 1., 1.])
    """
    a = check_tensor(A, "linalg.tensorsolve")
    if moved := axes_of("linalg.tensorsolve", dims, None):
        a = a.movedim(tuple(moved), tuple(range(a.ndim - len(moved), a.ndim)))
    shape = list(a.shape[check_tensor(B, "linalg.tensorsolve").ndim :])
    if math.prod(shape) != B.numel():
        raise RuntimeError(f"linalg.tensorsolve: shapes {list(A.shape)} and {list(B.shape)} make no square matrix")
    return into(out, solve(a.reshape(B.numel(), B.numel()), B.reshape(-1)).reshape(shape), "linalg.tensorsolve")
