"""Functions of linear algebra that are no methods. (norch.linalg has the others.)"""

from __future__ import annotations

from ..arguments import flags
from ..linalg import qr as _qr
from ..linalg import svd as _svd
from ..linalg.factorizations import PLU, permutation_of
from ..linalg.lapack import check_matrices
from ..operation import check_tensor
from ..tensor import Tensor
from .creation import eye
from .out import Out, into
from .random import randn

__all__ = ["lu_unpack", "pca_lowrank", "svd_lowrank"]


@flags
def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True, *, out: Out = None
) -> PLU:
    """The triple (P, L, U) with A = P L U, of the pair that `norch.linalg.lu_factor(A)` returns.

    What is not to be unpacked is empty. Shapes as for `norch.linalg.lu`. Raises RuntimeError for another dtype than
    float32 and float64.

    >>> norch.lu_unpack(*norch.linalg.lu_factor(norch.tensor([[1.0, 2.0], [2.0, 2.0]]))).U
    tensor([[2., 2.],
            [0., 1.]])
    """
    x = check_matrices("lu_unpack", LU_data)
    size = min(x.shape[-2:])
    permutation, lower, upper = (x.new_empty([0]) for _ in range(3))
    if unpack_data:
        one = eye(x.shape[-2], size, dtype=x.dtype, device=x.device)
        lower, upper = x[..., :size].tril(-1) + one, x[..., :size, :].triu()
    if unpack_pivots:
        permutation = permutation_of(check_tensor(LU_pivots, "lu_unpack"), x)
    return into(out, PLU(permutation, lower, upper), "lu_unpack")


def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """The q largest singular values of A - M about, by random products (Halko and others 2009): (U, S, V).

    A is [..., m, n]: U is [..., m, q], S [..., q] and V [..., n, q], with A - M = U diag(S) V^T about. Each of `niter`
    rounds makes them more exact. In the dtype of A. Raises RuntimeError if that is not float32 or float64, ShapeError
    for no matrix, ValueError for a q beyond both sizes.

    >>> A = norch.tensor([[3.0, 0.0], [0.0, 4.0], [0.0, 0.0]])
    >>> norch.svd_lowrank(A, q=2)[1].round(decimals=3)
    tensor([4., 3.])
    """
    rank, rounds = 6 if q is None else q, 2 if niter is None else niter
    x = check_matrices("svd_lowrank", A)
    x = x if M is None else x - M
    if not 0 <= rank <= max(x.shape[-2:]):
        raise ValueError(f"svd_lowrank: q is {rank}, expected at most the larger size of {list(x.shape)}")
    wide = x.shape[-2] < x.shape[-1]
    x = x.mT if wide else x
    basis = _qr(x @ randn(x.shape[-1], rank, dtype=x.dtype, device=x.device)).Q
    for _ in range(rounds):
        basis = _qr(x @ _qr(x.mT @ basis).Q).Q
    U, S, Vh = _svd(basis.mT @ x, full_matrices=False)
    U, V = basis @ U, Vh.mT
    return (V, S, U) if wide else (U, S, V)


@flags
def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """Principal components of the rows of A [..., m, n], by `svd_lowrank`: (U, S, V) of A less its mean row.

    `A @ V[:, :k]` are the first k components, and `S**2 / (m - 1)` the variances along them. q is at most the smaller
    size, by default at most 6. In the dtype of A. Raises RuntimeError if that is not float32 or float64, ValueError for
    another q or a negative niter.

    >>> line = norch.arange(4.0).unsqueeze(1) * norch.tensor([3.0, 4.0])
    >>> U, S, V = norch.pca_lowrank(line, q=1)
    >>> V.abs()
    tensor([[0.6000],
            [0.8000]])
    """
    x = check_matrices("pca_lowrank", A)
    most = min(x.shape[-2:])
    rank = min(6, most) if q is None else q
    if not 0 <= rank <= most or niter < 0:
        raise ValueError(f"pca_lowrank: expected q in [0, {most}] and niter >= 0, got {rank} and {niter}")
    return svd_lowrank(x - x.mean(-2, keepdim=True) if center else x, rank, niter)
