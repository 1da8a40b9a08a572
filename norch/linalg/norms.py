"""Norms, powers and products of matrices and vectors. Most of them need no LAPACK."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Sequence

from .._C import ShapeError
from ..arguments import axes_of, axis_of, flags, one_size, whole
from ..functions.creation import eye
from ..functions.joining import powers_of
from ..functions.out import Out, into
from ..functions.products import chain_matmul
from ..methods.composed import norm_over
from ..operation import check_floating, check_tensor, own
from ..types import HALVES, Dims, DType, promoted, shown
from .lapack import check_matrices
from .spectra import svdvals

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

__all__ = [
    "cross",
    "diagonal",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "multi_dot",
    "norm",
    "vander",
    "vecdot",
    "vector_norm",
]

# ---- Norms ------------------------------------------------------------------------------------------------------


@flags
def vector_norm(
    x: Tensor,
    ord: float = 2,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Out = None,
) -> Tensor:
    """(sum |x|^ord)^(1 / ord) over `dim`, or all elements; also ord = inf, -inf and 0, how many are not 0.

    Shapes as for `sum`; with a wider `dtype` the elements are converted first. Raises RuntimeError if a dtype is not
    floating, or not wider, IndexError for a dim out of range.

    >>> norch.linalg.vector_norm(norch.tensor([3.0, 4.0]))
    tensor(5.)
    """
    axes = axes_of("linalg.vector_norm", dim, None)
    return _vector_norm(check_tensor(x, "linalg.vector_norm"), ord, axes, keepdim, dtype, out)


def _vector_norm(x: Tensor, ord: float, axes: list[int] | None, keepdim: bool, dtype: DType | None, out: Out) -> Tensor:
    check_floating(x, "linalg.vector_norm")
    y = x if dtype is None else _widened("linalg.vector_norm", x, dtype)
    if (ord < 0 or ord == math.inf) and _count(y, axes) == 0:
        raise RuntimeError(f"linalg.vector_norm: no elements have no norm of order {ord}")
    result = _norm(y, float(ord), axes, keepdim)
    return result if out is None else into(out, result, "linalg.vector_norm")


def _norm(x: Tensor, p: float, axes: list[int] | None, keepdim: bool) -> Tensor:
    is_simple = 0 < p < math.inf and x.dtype not in HALVES
    return norm_over(x, p, axes, keepdim) if is_simple else x.norm(p, axes, keepdim)


def _widened(name: str, x: Tensor, dtype: DType) -> Tensor:
    """x in a dtype; RuntimeError for one that cannot hold its elements."""
    y = x.to(dtype=dtype)
    if promoted(x.dtype, y.dtype) is not y.dtype:
        raise RuntimeError(f"{name}: dtype is {y.dtype}, expected a floating one that holds {x.dtype}")
    return y


def _count(x: Tensor, axes: Sequence[int] | None) -> int:
    return x.numel() if axes is None or x.ndim == 0 else math.prod(x.shape[axis] for axis in axes)


@flags
def matrix_norm(
    A: Tensor,
    ord: float | str = "fro",
    dim: tuple[int, int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Out = None,
) -> Tensor:
    """A norm of matrices in two dimensions: "fro", "nuc" (the sum of singular values), inf, -inf, 1, -1, 2 or -2.

    inf and 1 are the largest sum of absolute values in a row and in a column, 2 the largest singular value; negative
    ones the smallest. Shapes as for `sum` over `dim`. Raises RuntimeError for a dtype that is not floating or another
    order, ShapeError for less than two dimensions.

    >>> norch.linalg.matrix_norm(norch.tensor([[3.0, 0.0], [0.0, -4.0]]))
    tensor(5.)
    """
    x = check_floating(check_tensor(A, "linalg.matrix_norm"), "linalg.matrix_norm")
    rank = x.ndim
    if rank < 2:
        raise ShapeError(f"linalg.matrix_norm: expected at least 2 dimensions, got shape {list(x.shape)}")
    if len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: expected two dimensions, got {shown(dim)}")
    x = x if dtype is None else _widened("linalg.matrix_norm", x, dtype)
    rows, columns = rank - 2, rank - 1
    if dim != (-2, -1):
        rows, columns = axis_of(x, dim[0], "linalg.matrix_norm"), axis_of(x, dim[1], "linalg.matrix_norm")
    if rows == columns:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different, got {shown(dim)}")
    if ord == "fro":
        return into(out, _norm(x, 2.0, [rows, columns], keepdim), "linalg.matrix_norm")
    if ord != "nuc" if isinstance(ord, str) else abs(ord) not in (1, 2, math.inf):
        raise RuntimeError(
            f"linalg.matrix_norm: expected 'fro', 'nuc', inf, 1 or 2, or a negative one, got {shown(ord)}"
        )
    if x.numel() == 0 and (isinstance(ord, str) or ord > 0):
        return into(out, x.sum((rows, columns), keepdim), "linalg.matrix_norm")
    if ord == "nuc" or abs(ord) == 2:  # type: ignore[arg-type]
        values = svdvals(x.movedim((rows, columns), (-2, -1)))
        result = values.sum(-1) if ord == "nuc" else values.amax(-1) if ord == 2 else values.amin(-1)
        if keepdim:
            result = result.reshape([1 if d in (rows, columns) else size for d, size in enumerate(x.shape)])
        return into(out, result, "linalg.matrix_norm")
    summed, other = (rows, columns) if abs(ord) == 1 else (columns, rows)  # type: ignore[arg-type]
    sums = x.abs().sum(summed, keepdim=True)
    result = sums.amax(other, keepdim=True) if ord > 0 else sums.amin(other, keepdim=True)  # type: ignore[operator]
    if not keepdim:
        result = result.reshape([size for d, size in enumerate(x.shape) if d not in (rows, columns)])
    return into(out, own(result), "linalg.matrix_norm")


@flags
def norm(
    A: Tensor,
    ord: float | str | None = None,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    out: Out = None,
    dtype: DType | None = None,
) -> Tensor:
    """A norm of vectors, of matrices if `dim` are two or A has two with an `ord`, of all elements if neither is given.

    Orders as for `vector_norm` and `matrix_norm`; 2 without one. Raises RuntimeError if the dtype is not floating, or
    for more than two `dim`.

    >>> norch.linalg.norm(norch.tensor([[3.0, 0.0], [0.0, -4.0]]), 1)
    tensor(4.)
    """
    x = check_tensor(A, "linalg.norm")
    axes = axes_of("linalg.norm", dim, None)
    if axes is not None and len(axes) not in (1, 2):
        raise RuntimeError(f"linalg.norm: expected one dim or two, got {shown(dim)}; vector_norm takes any number")
    if ord is None:
        return _vector_norm(x, 2, axes, keepdim, dtype, out)
    if axes is None and x.ndim not in (1, 2):
        raise RuntimeError(f"linalg.norm: a tensor of {x.ndim} dimensions needs dim with an order, {shown(ord)}")
    if (axes is None and x.ndim == 2) or (axes is not None and len(axes) == 2):
        pair = (-2, -1) if axes is None else (axes[0], axes[1])
        return matrix_norm(x, ord, pair, keepdim, dtype=dtype, out=out)
    if isinstance(ord, str):
        raise RuntimeError(
            f"linalg.norm: order {shown(ord)} is for matrices, got dim {shown(dim)} of shape {list(x.shape)}"
        )
    return vector_norm(x, ord, axes, keepdim, dtype=dtype, out=out)


# ---- Powers -----------------------------------------------------------------------------------------------------


def matrix_power(A: Tensor, n: int, *, out: Out = None) -> Tensor:
    """The n-th power of square matrices [..., m, m]: the unit matrix for 0, powers of the inverse for a negative n.

    Raises ShapeError if A is not square, TypeError if n is no integer, LinAlgError for a negative power of a singular
    matrix.

    >>> norch.linalg.matrix_power(norch.tensor([[1, 1], [0, 1]]), 5)
    tensor([[1, 5],
            [0, 1]])
    """
    x = check_tensor(A, "linalg.matrix_power")
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ShapeError(f"linalg.matrix_power: expected batches of square matrices, got shape {list(x.shape)}")
    if whole(n, "linalg.matrix_power") == 0:
        one = eye(x.shape[-1], dtype=x.dtype, device=x.device)
        return into(out, x.clone().zero_() + one, "linalg.matrix_power")
    if n < 0:
        x, n = x.inverse(), -n
    result = x if n & 1 else None
    while n := n >> 1:  # by squaring
        x = x @ x
        if n & 1:
            result = x if result is None else result @ x
    assert result is not None
    return into(out, result.clone() if result is A else result, "linalg.matrix_power")


def matrix_exp(A: Tensor) -> Tensor:
    """The exponential of square matrices [..., n, n]: the sum of A^k / k!, for k = 0, 1, 2 ...

    Raises ShapeError if A is not square, RuntimeError if the dtype is not floating.

    >>> norch.linalg.matrix_exp(norch.tensor([[0.0, 1.0], [0.0, 0.0]]))
    tensor([[1., 1.],
            [0., 1.]])
    """
    if check_tensor(A, "linalg.matrix_exp").is_floating_point() and A.element_size() == 2:
        return matrix_exp(A.float()).to(A.dtype)
    x = check_matrices("linalg.matrix_exp", A, square=True)
    size = float(matrix_norm(x.detach(), 1).max()) if x.numel() else 0.0
    if not math.isfinite(size):
        return x * math.nan
    halvings = max(0, math.ceil(math.log2(size)) + 1) if size > 0.5 else 0
    y = x * 0.5**halvings
    one = eye(x.shape[-1], dtype=x.dtype, device=x.device)
    result = one + y * (1 / 16)
    for k in range(15, 0, -1):  # Horner's scheme: exp(y) = 1 + y (1 + y/2 (1 + y/3 (...)))
        result = one + (y @ result) * (1 / k)
    for _ in range(halvings):
        result = result @ result
    return result


# ---- Products ---------------------------------------------------------------------------------------------------


def multi_dot(tensors: Sequence[Tensor], *, out: Out = None) -> Tensor:
    """The product of two or more matrices, in the order of the fewest multiplications; first and last may be vectors.

    Raises RuntimeError for less than two, ShapeError if the shapes do not chain.

    >>> norch.linalg.multi_dot([norch.ones(2, 3), norch.ones(3, 4), norch.ones(4)])
    tensor([12., 12.])
    """
    parts = [check_tensor(t, "linalg.multi_dot") for t in tensors]
    if len(parts) < 2:
        raise RuntimeError(f"linalg.multi_dot: expected at least 2 tensors, got {len(parts)}")
    row, column = parts[0].ndim == 1, parts[-1].ndim == 1
    parts[0] = parts[0].unsqueeze(0) if row else parts[0]
    parts[-1] = parts[-1].unsqueeze(-1) if column else parts[-1]
    result = chain_matmul(*parts)
    if row:
        result = result.squeeze(0)
    return into(out, result.squeeze(-1) if column else result, "linalg.multi_dot")


@flags
def cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Out = None) -> Tensor:
    """The cross product of vectors of 3 elements along `dim`; shapes broadcast.

    Raises RuntimeError if the dimension does not have size 3.

    >>> norch.linalg.cross(norch.tensor([1, 0, 0]), norch.tensor([0, 1, 0]))
    tensor([0, 0, 1])
    """
    return into(out, check_tensor(input, "linalg.cross").cross(other, dim=dim), "linalg.cross")


def matmul(input: Tensor, other: Tensor, *, out: Out = None) -> Tensor:
    """The product of matrices or vectors: `norch.matmul`. Raises ShapeError if they do not fit.

    >>> norch.linalg.matmul(norch.ones(2, 3), norch.ones(3))
    tensor([3., 3.])
    """
    return into(out, check_tensor(input, "linalg.matmul").matmul(other), "linalg.matmul")


@flags
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Out = None) -> Tensor:
    """The sums of products of vectors along `dim`; shapes broadcast. Raises ShapeError if they do not fit.

    >>> norch.linalg.vecdot(norch.tensor([[1, 2], [3, 4]]), norch.tensor([1, 10]))
    tensor([21, 43])
    """
    product = check_tensor(x, "linalg.vecdot") * check_tensor(y, "linalg.vecdot")
    return into(out, product.sum(dim, dtype=product.dtype), "linalg.vecdot")


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonals of matrices, a view: as `norch.diagonal`, but of the last two dimensions.

    Raises IndexError for a dim out of range.

    >>> norch.linalg.diagonal(norch.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])
    """
    return check_tensor(A, "linalg.diagonal").diagonal(offset, dim1, dim2)


def vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """The powers 0 ... N - 1 of each element of vectors [..., n]: [..., n, N], with N = n if it is not given.

    Integers become int64. Raises RuntimeError for N below 2.

    >>> norch.linalg.vander(norch.tensor([2, 3]), N=3)
    tensor([[1, 2, 4],
            [1, 3, 9]])
    """
    y = check_tensor(x, "linalg.vander")
    if not y.is_floating_point():
        y = y.long()
    y = y if y.ndim else y.unsqueeze(0)
    count = y.shape[-1] if N is None else one_size(N, "linalg.vander")
    if count < 2:
        raise RuntimeError(f"linalg.vander: N must be greater than 1, got {count}")
    return powers_of(y, count)
