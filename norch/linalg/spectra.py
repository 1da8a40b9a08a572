"""Eigenvalues and singular values of matrices, with their vectors, and what follows from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

from .. import operation
from .._C import lib
from ..arguments import flags
from ..autograd.derivatives import linalg as derivatives
from ..functions.joining import cat
from ..functions.out import Out, into
from ..functions.promotion import finfo
from ..operation import check_tensor, recorded
from ..return_types import printed
from ..types import int64, shown
from .factorizations import on_host
from .lapack import check_matrices, compute, prefers_lapack

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

__all__ = ["eig", "eigh", "eigvals", "eigvalsh", "matrix_rank", "pinv", "svd", "svdvals"]


@printed("linalg_eigh")
class Eigh(NamedTuple):
    """What `eigh` and `eig` return."""

    eigenvalues: Tensor
    eigenvectors: Tensor


@printed("linalg_svd")
class Svd(NamedTuple):
    """What `svd` returns."""

    U: Tensor
    S: Tensor
    Vh: Tensor


# ---- Eigenvalues ------------------------------------------------------------------------------------------------


def eigh(A: Tensor, UPLO: str = "L", *, out: Out = None) -> Eigh:
    """The pair (eigenvalues, eigenvectors) of symmetric matrices [..., n, n]: [..., n] rising, and columns [..., n, n].

    Only the lower triangle is read, or the upper one with UPLO="U". The gradient of vectors exists if no two values are
    equal. Raises ShapeError if A is not square, RuntimeError for another dtype, ValueError for another UPLO.

    >>> norch.linalg.eigh(norch.tensor([[2.0, 1.0], [1.0, 2.0]])).eigenvalues
    tensor([1., 3.])
    """
    x, triangle = check_matrices("linalg.eigh", A, square=True), _triangle_of(UPLO)
    if prefers_lapack(x):
        parts: Sequence[Tensor] = compute("linalg.eigh", lambda np, a: tuple(np.linalg.eigh(a, triangle)), x)
    else:
        parts = on_host(lib.eigh_tensor, x, settings=(triangle == "U", True))
    return into(out, Eigh(*derivatives.factored(x, derivatives.EighBackward, parts)), "linalg.eigh")


def _triangle_of(name: Any) -> str:
    if not isinstance(name, str):
        raise TypeError(f"linalg.eigh: expected UPLO 'L' or 'U', got {shown(name)}")
    if name.upper() not in ("L", "U"):
        raise ValueError(f"linalg.eigh: expected UPLO 'L' or 'U', got {shown(name)}")
    return name.upper()


def eigvalsh(A: Tensor, UPLO: str = "L", *, out: Out = None) -> Tensor:
    """The eigenvalues alone of symmetric matrices. Shapes, dtypes and errors as for `eigh`.

    >>> norch.linalg.eigvalsh(norch.tensor([[2.0, 1.0], [1.0, 2.0]]))
    tensor([1., 3.])
    """
    x, triangle = check_matrices("linalg.eigh", A, square=True), _triangle_of(UPLO)
    if x.requires_grad:
        return into(out, eigh(x, triangle).eigenvalues, "linalg.eigvalsh")
    if prefers_lapack(x):
        (values,) = compute("linalg.eigh", lambda np, a: np.linalg.eigvalsh(a, triangle), x)
    else:
        values = on_host(lib.eigh_tensor, x, settings=(triangle == "U", False))[0]
    return into(out, values, "linalg.eigvalsh")


def eig(A: Tensor, *, out: Out = None) -> Eigh:
    """The pair (eigenvalues, eigenvectors) of square matrices [..., n, n] whose eigenvalues are real.

    norch has no complex numbers: raises RuntimeError if a value is complex, and for another dtype than float32 and
    float64, ShapeError if A is not square. (PyTorch's results are always complex.)

    >>> norch.linalg.eig(norch.tensor([[2.0, 0.0], [1.0, 3.0]])).eigenvalues
    tensor([3., 2.])
    """
    x = check_matrices("linalg.eig", A, square=True)

    def real(np: Any, a: Any) -> Any:
        found = tuple(np.linalg.eig(a))
        if any(np.iscomplexobj(part) and np.any(part.imag) for part in found):
            raise RuntimeError("linalg.eig: an eigenvalue is complex, and norch has no complex numbers")
        return [part.real for part in found]

    parts = compute("linalg.eig", real, x)
    return into(out, Eigh(*derivatives.factored(x, derivatives.EigBackward, parts)), "linalg.eig")


def eigvals(A: Tensor, *, out: Out = None) -> Tensor:
    """The eigenvalues alone of square matrices, which must be real. Shapes, dtypes and errors as for `eig`.

    >>> norch.linalg.eigvals(norch.tensor([[2.0, 0.0], [1.0, 3.0]]))
    tensor([3., 2.])
    """
    return into(out, eig(A).eigenvalues, "linalg.eigvals")


# ---- Singular values --------------------------------------------------------------------------------------------


@flags
def svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None, out: Out = None) -> Svd:
    """The triple (U, S, Vh) with A = U diag(S) Vh: orthogonal matrices, and singular values [..., k] that fall.

    Of A [..., m, n] and k = min(m, n) U is [m, m] and Vh [n, n]; [m, k] and [k, n] without `full_matrices`. The
    gradient of vectors exists if no two values are equal. (`driver` is for CUDA.) Raises ShapeError for fewer than two
    dimensions, RuntimeError for another dtype than float32 and float64.

    >>> norch.linalg.svd(norch.tensor([[3.0, 0.0], [0.0, -4.0]])).S
    tensor([4., 3.])
    """
    x = check_matrices("linalg.svd", A)
    size = min(x.shape[-2:])
    if prefers_lapack(x):
        parts: Sequence[Tensor] = compute("linalg.svd", lambda np, a: _svd(np, a, full_matrices), x)
    else:
        parts = on_host(lib.svd_tensor, x, settings=(full_matrices, True))
    if x.requires_grad:
        u, s, vh = parts
        thin = [u[..., :size].clone(), s, vh[..., :size, :].clone()]
        first, s, last = derivatives.factored(x, derivatives.SvdBackward, thin)
        u = cat([first, u[..., size:]], -1) if u.shape[-1] > size else first
        vh = cat([last, vh[..., size:, :]], -2) if vh.shape[-2] > size else last
        parts = [u, s, vh]
    return into(out, Svd(*parts), "linalg.svd")


def _svd(np: Any, a: Any, full_matrices: bool) -> Any:
    """NumPy's, which may not end for infinities: they give NaN."""
    if np.isfinite(a).all():  # most often
        return tuple(np.linalg.svd(a, full_matrices))
    if np.isnan(a).any():
        raise np.linalg.LinAlgError("SVD did not converge")
    finite = np.isfinite(a).all((-2, -1), keepdims=True)
    u, s, vh = np.linalg.svd(np.where(finite, a, 0), full_matrices)
    return np.where(finite, u, np.nan), np.where(finite[..., 0], s, np.nan), np.where(finite, vh, np.nan)


def svdvals(A: Tensor, *, driver: str | None = None, out: Out = None) -> Tensor:
    """The singular values alone. Shapes, dtypes and errors as for `svd`.

    >>> norch.linalg.svdvals(norch.tensor([[3.0, 0.0], [0.0, -4.0]]))
    tensor([4., 3.])
    """
    x = check_matrices("linalg.svdvals", A)
    if x.requires_grad:
        return into(out, svd(x, full_matrices=False).S, "linalg.svdvals")

    def values(np: Any, a: Any) -> Any:
        return np.linalg.svd(a, compute_uv=False) if np.isfinite(a).all() else _svd(np, a, False)[1]

    if prefers_lapack(x):
        (found,) = compute("linalg.svdvals", values, x)
    else:
        found = on_host(lib.svd_tensor, x, settings=(False, False))[1]
    return into(out, found, "linalg.svdvals")


# ---- By singular values ------------------------------------------------------------------------------------------


@flags
def pinv(
    A: Tensor,
    rcond: float | Tensor | None = None,
    hermitian: bool = False,
    *,
    atol: float | Tensor | None = None,
    rtol: float | Tensor | None = None,
    out: Out = None,
) -> Tensor:
    """The pseudo-inverses [..., n, m] of matrices [..., m, n], by singular values above max(atol, rtol * the largest).

    `rtol` is max(m, n) times the eps of the dtype unless one of them is given; `rcond` is its older name. Raises
    ShapeError for fewer than two dimensions, RuntimeError for another dtype than float32 and float64.

    >>> norch.linalg.pinv(norch.tensor([[2.0, 0.0], [0.0, 0.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.0000]])
    """
    x = check_matrices("linalg.pinv", A, square=hermitian)
    return into(out, inverted(x, hermitian, atol, rcond if rtol is None else rtol)[0], "linalg.pinv")


def inverted(x: Tensor, hermitian: bool, atol: Any, rtol: Any) -> tuple[Tensor, Tensor, Tensor]:
    """The pseudo-inverses, the singular values, and which of them are large enough."""
    y = x.detach()
    if x.numel() == 0:
        values = y.new_zeros([*x.shape[:-2], min(x.shape[-2:])])
        return x.mT.clone(), values, values > 0
    if hermitian:
        y = y.tril() + y.tril(-1).mT
    u, s, vh = svd(y, full_matrices=False)
    large = s > _cutoff(x, s, atol, rtol).unsqueeze(-1)
    x = x.expand(*large.shape[:-1], *x.shape[-2:])  # to the batches of the bounds
    reciprocals = large._choose(large._choose(s, 1.0).reciprocal(), 0.0)
    inverse = (vh.mT * reciprocals.unsqueeze(-2)) @ u.mT
    return recorded(inverse, derivatives.PinvBackward, (x,)), s, large


def _cutoff(x: Tensor, s: Tensor, atol: Any, rtol: Any) -> Tensor:
    """max(atol, rtol * the largest singular value), one for each matrix."""
    if rtol is None:
        default = max(x.shape[-2:]) * finfo(x.dtype).eps
        if isinstance(atol, operation.Tensor):
            rtol = (atol > 0)._choose(0.0, default)
        else:
            rtol = 0.0 if atol else default
    largest = s.amax(-1) * rtol
    bound = atol if isinstance(atol, operation.Tensor) else largest.new_full((), atol or 0.0)
    return largest.maximum(bound)


@flags
def matrix_rank(
    A: Tensor,
    tol: float | Tensor | None = None,
    hermitian: bool = False,
    *,
    atol: float | Tensor | None = None,
    rtol: float | Tensor | None = None,
    out: Out = None,
) -> Tensor:
    """How many singular values of each matrix [..., m, n] exceed max(atol, rtol * the largest), int64 [...].

    `rtol` is max(m, n) times the eps of the dtype unless one of them is given; `tol` is an older name of atol. Raises
    RuntimeError for another dtype than float32 and float64.

    >>> norch.linalg.matrix_rank(norch.tensor([[1.0, 2.0], [2.0, 4.0]]))
    tensor(1)
    """
    x = check_matrices("linalg.matrix_rank", A, square=hermitian).detach()
    if x.numel() == 0:
        return into(out, x.new_zeros(list(x.shape[:-2]), dtype=int64), "linalg.matrix_rank")
    s = eigvalsh(x).abs() if hermitian else svdvals(x)
    cutoff = s.new_full((), tol) if isinstance(tol, (int, float)) else _cutoff(x, s, atol, rtol) if tol is None else tol
    cutoff = check_tensor(cutoff, "linalg.matrix_rank: tol").clamp(min=0)
    return into(out, (s > cutoff.unsqueeze(-1)).sum(-1), "linalg.matrix_rank")
