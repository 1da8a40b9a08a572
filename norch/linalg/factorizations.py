"""Matrices as products of triangles and orthogonal matrices: Cholesky, QR, LU."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

from .._C import LinAlgError, ShapeError, lib
from ..arguments import flags
from ..autograd.derivatives import linalg as derivatives
from ..autograd.derivatives.by_formula import FormulaBackward
from ..functions.creation import eye
from ..functions.joining import cat
from ..functions.out import Out, into
from ..operation import check_tensor, own, recorded, several, wrap
from ..return_types import printed
from ..types import int32, shown
from .lapack import check_matrices, check_real

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

__all__ = [
    "cholesky",
    "cholesky_ex",
    "householder_product",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "qr",
]


@printed("linalg_qr")
class QR(NamedTuple):
    """What `qr` returns."""

    Q: Tensor
    R: Tensor


@printed("linalg_lu")
class PLU(NamedTuple):
    """What `lu` returns."""

    P: Tensor
    L: Tensor
    U: Tensor


@printed("linalg_lu_factor")
class LUFactor(NamedTuple):
    """What `lu_factor` returns."""

    LU: Tensor
    pivots: Tensor


@printed("linalg_lu_factor_ex")
class LUFactorEx(NamedTuple):
    """What `lu_factor_ex` returns."""

    LU: Tensor
    pivots: Tensor
    info: Tensor


@printed("linalg_cholesky_ex")
class CholeskyEx(NamedTuple):
    """What `cholesky_ex` returns."""

    L: Tensor
    info: Tensor


# ---- Cholesky ---------------------------------------------------------------------------------------------------


@flags
def cholesky(A: Tensor, *, upper: bool = False, out: Out = None) -> Tensor:
    """The lower triangular L with A = L L^T, for symmetric positive-definite matrices [..., n, n]; L^T with `upper`.

    Only the lower triangle of A is read. Raises ShapeError if A is not square, RuntimeError for another dtype than
    float32 and float64, LinAlgError (a RuntimeError) if A is not positive-definite.

    >>> norch.linalg.cholesky(norch.tensor([[4.0, 2.0], [2.0, 5.0]]))
    tensor([[2., 0.],
            [1., 2.]])
    """
    return into(out, _cholesky("linalg.cholesky", A, upper, True)[0], "linalg.cholesky")


@flags
def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False, out: Out = None) -> CholeskyEx:
    """The pair (L, info) of `cholesky`: where a matrix is not positive-definite, info is the order of the minor.

    There L has the rows before that order, and the row of it up to the diagonal, as methods of trust regions read them.

    Shapes, dtypes and errors as for `cholesky`, whose LinAlgError is raised with `check_errors` alone.

    >>> norch.linalg.cholesky_ex(norch.tensor([[4.0, 0.0], [0.0, -1.0]])).info
    tensor(2, dtype=norch.int32)
    """
    return into(out, CholeskyEx(*_cholesky("linalg.cholesky_ex", A, upper, check_errors)), "linalg.cholesky_ex")


def _cholesky(name: str, A: Tensor, upper: bool, check_errors: bool) -> tuple[Tensor, Tensor]:
    """L, or L^T, and info. What has no L keeps the rows found before it failed, without a gradient."""
    x = check_matrices(name, A, square=True)
    x = x.mT if upper else x
    lower, info = on_host(lib.cholesky_tensor, x)
    if bool(info.any()):
        if check_errors:
            raise LinAlgError(f"{name}: Matrix is not positive definite: the leading part of order {int(info.max())}")
        fine = (info == 0).unsqueeze(-1).unsqueeze(-1)
        x = fine._choose(x, eye(x.shape[-1], dtype=x.dtype, device=x.device))
        whole, _ = on_host(lib.cholesky_tensor, x)
        result = fine._choose(recorded(whole, derivatives.CholeskyBackward, (x,)), lower)
    else:
        result = recorded(lower, derivatives.CholeskyBackward, (x,))
    return own(result.mT) if upper else result, info


def _no_failure(x: Tensor) -> Tensor:
    return x.new_zeros(list(x.shape[:-2]), dtype=int32)


# ---- QR ---------------------------------------------------------------------------------------------------------


def qr(A: Tensor, mode: str = "reduced", *, out: Out = None) -> QR:
    """The pair (Q, R) with A = Q R, Q of orthonormal columns, R upper triangular: of [..., m, n] and k = min(m, n)

    Q is [m, k] and R [k, n] in mode "reduced", [m, m] and [m, n] if "complete"; if "r", Q is empty. Raises ShapeError
    for fewer than two dimensions, RuntimeError for another mode or dtype, and in backward where the result is not
    unique: complete and taller than wide, or "r".

    >>> norch.linalg.qr(norch.tensor([[-3.0], [-4.0]])).R
    tensor([[5.]])
    """
    x = check_matrices("linalg.qr", A)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(f"linalg.qr: expected mode 'reduced', 'complete' or 'r', got {shown(mode)}")
    rows, columns = x.shape[-2:]
    if mode == "reduced" and rows < columns:  # the left square has all of Q
        q, r = qr(x[..., :rows])
        return into(out, QR(q, cat([r, q.mT @ x[..., rows:]], -1)), "linalg.qr")
    if mode == "complete" and rows <= columns:
        return qr(x, out=out)
    whole, tau = on_host(lib.geqrf_tensor, x)
    size = rows if mode == "complete" else min(rows, columns)
    r = (whole if size == rows else whole[..., :size, :]).triu()
    if mode == "r":
        result = [x.new_empty([0]), recorded(r, derivatives.NotUniqueBackward, (x,), "linalg.qr in mode 'r'")]
        return into(out, QR(*result), "linalg.qr")
    parts = [columns_of(whole, tau, size), r]
    if mode == "complete":
        why = "linalg.qr in mode 'complete' of a matrix with more rows than columns"
        return into(out, QR(*(recorded(p, derivatives.NotUniqueBackward, (x,), why) for p in parts)), "linalg.qr")
    return into(out, QR(*derivatives.factored(x, derivatives.QrBackward, parts)), "linalg.qr")


def columns_of(x: Tensor, tau: Tensor, columns: int) -> Tensor:
    """The first columns of the product of reflections, outside of any graph."""
    if not x.is_cuda:
        return wrap(lib.orgqr_tensor(x._ptr, tau._ptr, columns))
    return columns_of(x.detach().to("cpu"), tau.detach().to("cpu"), columns).to(x.device)


def householder_product(A: Tensor, tau: Tensor, *, out: Out = None) -> Tensor:
    """The first n columns [..., m, n] of the product of reflections 1 - tau[i] v[i] v[i]^T, i = 0 ... k - 1.

    v[i] is column i of A [..., m, n] below the diagonal, 1 on it and 0 above; tau is [..., k]. Raises ShapeError if the
    shapes do not fit, RuntimeError for another dtype than float32 and float64.

    >>> norch.linalg.householder_product(norch.eye(2), norch.tensor([2.0]))
    tensor([[-1.,  0.],
            [ 0.,  1.]])
    """
    x = check_matrices("linalg.householder_product", A)
    rows, columns = x.shape[-2:]
    if check_real("linalg.householder_product", tau).shape[-1] > columns or rows < columns:
        raise ShapeError(
            f"linalg.householder_product: expected m >= n >= k, got shapes {list(x.shape)} and {list(tau.shape)}"
        )
    if tau.shape[:-1] != x.shape[:-2] or tau.dtype is not x.dtype:
        return into(out, _reflected(x, tau), "linalg.householder_product")
    result = columns_of(x, tau, columns)
    return into(out, recorded(result, partial(FormulaBackward, _reflected, ()), (x, tau)), "linalg.householder_product")


def _reflected(x: Tensor, tau: Tensor) -> Tensor:
    """The same in tensor operations."""
    rows, columns = x.shape[-2:]
    result = eye(rows, columns, dtype=x.dtype, device=x.device).expand(*x.shape)
    result = result if tau.shape[-1] else result + x * 0
    for i in reversed(range(tau.shape[-1])):
        result = result - reflection(x, tau, i, result)
    return result


def reflection(x: Tensor, tau: Tensor, i: int, y: Tensor) -> Tensor:
    """tau[i] v[i] v[i]^T y: what Householder's reflection i subtracts from y."""
    v = x[..., i : i + 1].tril(-1 - i) + eye(x.shape[-2], dtype=x.dtype, device=x.device)[:, i : i + 1]
    return tau[..., i : i + 1].unsqueeze(-1) * (v @ (v.mT @ y))


# ---- LU ---------------------------------------------------------------------------------------------------------


@flags
def lu(A: Tensor, *, pivot: bool = True, out: Out = None) -> PLU:
    """The triple (P, L, U) with A = P L U: a permutation [..., m, m], L with ones on its diagonal, U upper triangular.

    Of A [..., m, n] and k = min(m, n) L is [m, k] and U [k, n]. Without `pivot` rows stay in place and P is empty.
    Raises RuntimeError for another dtype than float32 and float64.

    >>> norch.linalg.lu(norch.tensor([[1.0, 2.0], [2.0, 2.0]])).U
    tensor([[2., 2.],
            [0., 1.]])
    """
    x = check_matrices("linalg.lu", A)
    lower, upper, pivots, _ = _factored(x, pivot)
    permutation = permutation_of(pivots, x) if pivot else x.new_empty([0])
    return into(out, PLU(permutation, lower, upper), "linalg.lu")


@flags
def lu_factor(A: Tensor, *, pivot: bool = True, out: Out = None) -> LUFactor:
    """The pair (LU, pivots): L and U of `lu` in one matrix [..., m, n], and which row each was swapped with, from 1.

    Shapes and errors as for `lu`; raises LinAlgError if a pivot is 0. The pivots [..., k] are int32.

    >>> norch.linalg.lu_factor(norch.tensor([[1.0, 2.0], [2.0, 2.0]])).LU
    tensor([[2.0000, 2.0000],
            [0.5000, 1.0000]])
    """
    return into(out, LUFactor(*lu_factor_ex(A, pivot=pivot, check_errors=True)[:2]), "linalg.lu_factor")


@flags
def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False, out: Out = None) -> LUFactorEx:
    """The triple (LU, pivots, info) of `lu_factor`: info is the number, from 1, of the first pivot that is 0.

    Shapes and errors as for `lu`; a pivot of 0 raises LinAlgError with `check_errors`.

    >>> norch.linalg.lu_factor_ex(norch.zeros(2, 2)).info
    tensor(1, dtype=norch.int32)
    """
    x = check_matrices("linalg.lu_factor", A)
    if x.requires_grad:
        lower, upper, pivots, info = _factored(x, pivot)
        whole = _joined(lower.tril(-1), upper.triu())
    else:
        whole, pivots, info = on_host(lib.lu_tensor, x, settings=(pivot,))
    if check_errors and bool((info > 0).any()):
        raise LinAlgError(f"linalg.lu_factor: pivot {int(info.max())} is 0, the matrix is singular")
    return into(out, LUFactorEx(whole, pivots, info), "linalg.lu_factor")


def _joined(below: Tensor, above: Tensor) -> Tensor:
    """What is below the diagonal [..., m, k] and above it [..., k, n] in one matrix [..., m, n]."""
    rows, columns = below.shape[-2], above.shape[-1]
    if rows > columns:
        above = cat([above, above.new_zeros([*above.shape[:-2], rows - columns, columns])], -2)
    elif rows < columns:
        below = cat([below, below.new_zeros([*below.shape[:-2], rows, columns - rows])], -1)
    return below + above


def on_host(function: Any, *matrices: Tensor, settings: Sequence[float] = ()) -> Sequence[Tensor]:
    """The results of a C function for matrices on the CPU, outside of any graph, on their device."""
    if not matrices[0].is_cuda:
        return several(function(*[x._ptr for x in matrices], *settings))
    on_cpu = [x.detach().to("cpu") for x in matrices]
    return [part.to(matrices[0].device) for part in several(function(*[x._ptr for x in on_cpu], *settings))]


def _factored(x: Tensor, pivot: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """L, U, pivots and info. In a graph, the square of the first rows and columns is factored, the rest solved for."""
    whole, pivots, info = on_host(lib.lu_tensor, x, settings=(pivot,))
    rows, columns = x.shape[-2:]
    size = min(rows, columns)
    one = eye(rows, size, dtype=x.dtype, device=x.device)
    lower, upper = whole[..., :size].tril(-1) + one, whole[..., :size, :].triu()
    if not x.requires_grad:
        return lower, upper, pivots, info
    lower, upper = own(lower[..., :size, :]), own(upper[..., :size])
    y = permutation_of(pivots, x).mT @ x if pivot else x
    lower, upper = derivatives.factored(y[..., :size, :size], derivatives.LuBackward, [lower, upper])
    if columns > size:
        rest = recorded(whole[..., size:], derivatives.SubstitutionBackward, (lower, y[..., size:]), False)
        return lower, cat([upper, rest], -1), pivots, info
    if rows > size:
        known = whole[..., size:, :].mT
        rest = recorded(known, derivatives.SubstitutionBackward, (upper.mT, y[..., size:, :].mT), False)
        return cat([lower, rest.mT], -2), upper, pivots, info
    return lower, upper, pivots, info


def permutation_of(pivots: Tensor, like: Tensor) -> Tensor:
    """The matrix P of the swaps that pivots tell: A = P L U. Raises RuntimeError if these are no pivots of `like`."""
    rows = like.shape[-2]
    if check_tensor(pivots, "linalg.lu").dtype is not int32 or pivots.shape[:-1] != like.shape[:-2] or not pivots.ndim:
        given = f"{pivots.dtype} of shape {list(pivots.shape)}"
        raise RuntimeError(f"linalg.lu: expected pivots of int32 for matrices of shape {list(like.shape)}, got {given}")
    permutation = wrap(lib.permutation_of_pivots(pivots.to("cpu")._ptr, rows, like.dtype.number))
    return permutation.to(like.device)
