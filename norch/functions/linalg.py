"""Functions of linear algebra that are no methods. (norch.linalg has the others.)"""

from __future__ import annotations

from ..arguments import flags
from ..linalg.factorizations import PLU, permutation_of
from ..linalg.lapack import check_matrices
from ..operation import check_tensor
from ..tensor import Tensor
from .creation import eye
from .out import Out, into

__all__ = ["lu_unpack"]


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
    nothing = x.new_empty([0])
    lower, upper = nothing, nothing
    if unpack_data:
        one = eye(x.shape[-2], size, dtype=x.dtype, device=x.device)
        lower, upper = x[..., :size].tril(-1) + one, x[..., :size, :].triu()
    permutation = permutation_of(check_tensor(LU_pivots, "lu_unpack"), x) if unpack_pivots else nothing
    return into(out, PLU(permutation, lower, upper), "lu_unpack")
